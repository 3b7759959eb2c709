"""xt.MemoryError of a compiled function: what the memory is for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("a device refuses such sizes before it asks for memory")

N = 10**7
X, Y = xt.zeros(a=N), xt.zeros(b=N)
COUNT = 8 * N * N
ARRAY = f"float64 (a: {N}, b: {N})"


def message(f: Callable[..., Any], *args: Any) -> str:
    line = sys._getframe().f_lineno + 2
    with pytest.raises(xt.MemoryError) as told:
        f(*args)
    text, _, where = str(told.value).rpartition("\n  at ")
    assert where == f"{__file__}:{line}" and "del x" in text
    assert all(entry.path == told.traceback[0].path for entry in told.traceback)
    return text


def product(x: Any, y: Any) -> Any:
    z = x * y
    return xt.sum(x), z + 1.0


@pytest.mark.parametrize("options", [{}, {"dynamic_dims": ("a", "b")}], ids=str)
def test_result_op_and_line(options: Any) -> None:
    f = xt.jit(product, **options)
    wanted = (
        f"xt.jit(product): no memory for an array of {COUNT} bytes. ",
        f"\n  for result 1, {ARRAY}, of xt.add at {__file__}:{product.__code__.co_firstlineno + 2}",
    )

    def check() -> None:
        text = message(f, X, Y)
        assert text.startswith(wanted[0]) and text.endswith(wanted[1])

    for _ in range(3):  # the first call is Python's, later ones are C++'s
        check()
    assert f(xt.ones(a=2), xt.ones(b=2))[1].shape == (2, 2)
    check()


def test_temporaries_with_their_ops_and_lines() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * y
        return xt.sum(xt.sort(z, "a")[{"a": 0}])

    text = message(xt.jit(f), X, Y)
    first = f.__code__.co_firstlineno
    assert f"\n  {COUNT} bytes of temporaries for f64[{N}, {N}] of xt.multiply at {__file__}:{first + 1}\n" in text
    assert f"at {__file__}:{first + 2}" in text and text.startswith("xt.jit(f): no memory for ")


@pytest.mark.parametrize("options", [{}, {"dynamic_dims": ("a", "b")}], ids=str)
def test_temporaries_are_those_of_the_program_that_runs(options: Any) -> None:
    """A program that is compiled for these sizes alone sums in parts, and an open one does not."""

    def sums(x: Any, y: Any) -> Any:
        z = xt.sort(x * y, "a")
        return xt.sum(xt.sort(xt.sum(z * 2.0, "b"), "a")) * xt.sum(xt.sort(xt.sum(xt.exp(z), "a"), "b"))

    f = xt.jit(sums, **options)
    text, memory = message(f, X, Y), f.memory(X, Y)
    assert f"no memory for {memory.arena} bytes of temporaries" in text
    largest = sorted((t.bytes for t in memory.temporaries), reverse=True)[:3]
    assert [int(n) for n in re.findall(r"\n  (\d+) bytes of temporaries for", text)] == largest


def test_gradients_and_calls_of_single_functions() -> None:
    text = message(xt.grad(lambda x: xt.sum(xt.sort(x * Y, "a")[{"a": 0}])), X)
    assert text.startswith("xt.jit(grad(<lambda>)): no memory for ") and "xt.multiply at " in text
    xt.multiply(xt.ones(a=2), xt.ones(b=2))
    for _ in range(2):
        text = message(xt.multiply, X, Y)
        assert text.startswith(f"xt.multiply: no memory for an array of {COUNT} bytes.")
        assert text.endswith(f"(operands: float64 (a: {N}), float64 (b: {N}))")
