"""Parameters that are True or False: the word "no", which is true in Python, is refused by every public function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array([[2.0, 1.0], [1.0, 3.0]], ("row", "col"))
GIVEN: dict[str, Any] = {
    "ArrayLike": X, "Mapping[str, Any]": {"row": 0}, "int": 2, "str": "row", "Any": 0.5, "float": 0.5,
    "Key": xt.random.key(0), "Callable[..., Any]": lambda x: x, "Pair": ("row", "col"),
}  # fmt: skip
ROOMS = (xt, xt.linalg, xt.nn, xt.random, xt.fft, xt.signal, xt.optim, xt.tree)


def flags_of(f: Callable[..., Any]) -> list[str]:
    kinds = ("bool", "bool | None", "bool | Mapping[str, bool]")
    return [k for k, p in inspect.signature(f).parameters.items() if str(p.annotation) in kinds]


def functions() -> Iterator[Any]:
    for room in ROOMS:
        for name in getattr(room, "__all__", dir(room)):
            f = getattr(room, name)
            if callable(f) and not isinstance(f, (type, ModuleType)) and (flags := flags_of(f)):
                yield from (pytest.param(f, flag, id=f"{room.__name__}.{name}-{flag}") for flag in flags)


def call(f: Callable[..., Any], flag: str, value: Any) -> Any:
    needed = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    return f(*(GIVEN.get(str(p.annotation), X) for p in needed), **{flag: value})


@pytest.mark.parametrize(("f", "flag"), list(functions()))
def test_a_word_is_refused(f: Callable[..., Any], flag: str) -> None:
    for word in ("no", "yes", 2, 0.5):
        with pytest.raises(xt.ArgumentTypeError, match=rf"{flag} is True(,| or) False.*, not "):
            call(f, flag, word)


METHODS = {
    "mean": lambda flag: X.mean("row", skipna=flag),
    "cumsum": lambda flag: X.cumsum("row", reverse=flag),
    "rolling": lambda flag: X.rolling(row=2, center=flag),
    "rolling by dim": lambda flag: X.rolling(row=2, center={"row": flag}),
    "coarsen": lambda flag: X.coarsen(row=2).mean(skipna=flag),
    "group": lambda flag: X.groupby(xt.array([0, 1], "row"), num_groups=2).mean(skipna=flag),
    "sortby": lambda flag: X.sortby(X.isel(col=0), ascending=flag),
    "rank": lambda flag: X.rank("row", pct=flag),
    "traced": lambda flag: xt.jit(lambda x: xt.sort(x, "row", descending=flag))(X),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_word_is_refused_by_methods(name: str) -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"is True(,| or) False.*, not the string 'no'"):
        METHODS[name]("no")
    for flag in (True, False, np.True_, 1, 0):
        METHODS[name](flag)
