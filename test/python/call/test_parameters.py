"""Parameters of public functions that take arrays: what their annotations mean, not how they are written."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import pytest
import xtensor as xt
from xtensor.call.dispatch import op
from xtensor.call.parameters import Parameters, Takes
from xtensor.ops.types import ArrayLike

Operand = ArrayLike
Operands = Sequence[Operand]


class NotArrayLike:
    """Takes no arrays, whatever it is called."""


def several(x: Operand, ys: Operands, /, *zs: ArrayLike | None, n: int, other: NotArrayLike, **more: str) -> Any:
    """A function with parameters of every kind."""


def test_annotations_say_what_takes_arrays() -> None:
    found = Parameters(several)
    assert found.by_name == {"x": Takes.ONE, "ys": Takes.SEVERAL, "n": Takes.NONE, "other": Takes.NONE}
    given = found.given((1, [2], 3, 4), {"n": 5, "unit": "m"})
    assert [(name, takes) for name, takes, _ in given] == [
        ("x", Takes.ONE),
        ("ys", Takes.SEVERAL),
        ("", Takes.ONE),
        ("", Takes.ONE),
        ("n", Takes.NONE),
        ("unit", Takes.NONE),
    ]
    assert [x for _, _, x in given] == [1, [2], 3, 4, 5, "m"]


def test_an_operand_of_another_name_is_an_array() -> None:
    @op
    def product(x: Operand, factors: Operands) -> Any:
        return x * factors[0]

    for x in (2.0, 3.0):
        assert float(product(x, [4.0])) == 4.0 * x  # type: ignore[arg-type]
    with pytest.raises(xt.Error, match="list"):
        product([1.0], [2.0])  # type: ignore[arg-type]


def test_parameters_of_public_functions_are_those_that_python_sees() -> None:
    rooms = (xt, xt.linalg, xt.nn, xt.signal)
    slow = {id(f.slow_path): f.slow_path for room in rooms for f in vars(room).values() if hasattr(f, "slow_path")}
    functions = [s.fn for s in slow.values() if hasattr(s, "parameters")]
    assert len(functions) > 100
    for fn in functions:
        seen = inspect.signature(fn).parameters.values()
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        found = Parameters(fn)
        assert [*found.by_name] == [p.name for p in seen if p.kind not in kinds]
        assert [n for n, _ in found.positional] == [p.name for p in seen if p.kind < p.VAR_POSITIONAL]
