"""The levels of x86-64 that a test generates code for."""

from __future__ import annotations

from typing import Any

import pytest
import xtensor as xt


def at_level(name: str) -> Any:
    """A parameter of a test, which is skipped where the processor lacks the level."""
    lacking = pytest.mark.skipif(not xt._native.has_processor(name), reason=f"the processor is not {name}")
    return pytest.param(name, marks=lacking)
