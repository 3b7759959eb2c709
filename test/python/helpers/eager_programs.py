"""Counts the programs that calls of public functions compile."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

import pytest
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
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "xtensor"]
    for f in itertools.chain.from_iterable(vars(module).values() for module in ours):
        if isinstance(f, dispatch.Op):  # also those that public functions call
            f.clear()
