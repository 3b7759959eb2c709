"""Counts the programs that calls of public functions compile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import xtensor as xt
from xtensor.call import dispatch
from xtensor.call.opened import Families, Programs


def compiled(run: Callable[[], object]) -> int:
    """How many programs were compiled meanwhile."""
    before = set(dispatch._programs.entries)
    run()
    return len(set(dispatch._programs.entries) - before)


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Public functions have no programs, until the test ends."""
    monkeypatch.setattr(dispatch, "_programs", Programs())
    monkeypatch.setattr(dispatch, "_families", Families())
    for f in vars(xt).values():
        if isinstance(f, dispatch.Op):
            f.clear()
