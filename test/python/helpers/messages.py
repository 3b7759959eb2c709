"""Calls that must fail, by what they are, and the check of what is raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

# The call, the error, and a pattern that its message contains.
Wrong = tuple[Callable[[], Any], type[Exception], str]


def check_message(wrong: Wrong) -> None:
    call, kind, message = wrong
    with pytest.raises(kind, match=f"(?s){message}"):
        call()
