"""Memory that arrays share with NumPy, DLPack and xarray: copies on demand, and writes that are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

MAKERS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "NumPy": lambda a: xt.array(a, dims="t"),
    "DLPack": lambda a: xt.from_dlpack(a, "t"),
    "torch": lambda a: xt.array(pytest.importorskip("torch").from_numpy(a), dims="t"),
    "xarray": lambda a: xt.as_array(xr.DataArray(a, dims="t", coords={"t": [1, 2, 3]})),
    "array of xarray": lambda a: xt.array(xr.DataArray(a, dims="t")),
}


@pytest.mark.cpu_only("memory is shared with NumPy")
@pytest.mark.parametrize("name", MAKERS)
def test_memory_is_shared_unless_the_option_copies(name: str) -> None:
    a = np.zeros(3)
    with xt.option(copy=True):
        copied = MAKERS[name](a)
    shared = MAKERS[name](a)
    a[0] = 7.0
    assert shared.values[0] == 7.0 and copied.values[0] == 0.0
    assert copied.dims == ("t",) and copied.coords.keys() == shared.coords.keys()


@pytest.mark.cpu_only("memory is shared with NumPy")
def test_copy_holds_for_what_has_names() -> None:
    a = np.zeros(3)
    named = xr.DataArray(a, dims="t", name="weight")
    copied, again = xt.array(named, copy=True), xt.array(xt.array(a, dims="t"), copy=True)
    with xt.option(copy=True):
        shared = xt.array(a, dims="t", copy=False)
    a[0] = 7.0
    assert copied.values[0] == again.values[0] == 0.0 and shared.values[0] == 7.0
    assert copied.to_xarray().name == "weight"


@pytest.mark.cpu_only("memory is shared with NumPy")
@pytest.mark.parametrize("name", MAKERS)
def test_memory_that_is_written_to_is_found(name: str) -> None:
    a = np.zeros(3)
    check = xt.debug.check_shared()
    made = MAKERS[name](a)
    check()
    a[0] = 1.0
    line = MAKERS[name].__code__.co_firstlineno
    with pytest.raises(
        xt.ArgumentError, match=rf"float64 \(t: 3\), which was made at \S*test_shared_memory.py:{line}, was"
    ) as called:
        check()
    with pytest.raises(xt.ArgumentError, match=r"xt.option\(copy=True\)") as left, xt.debug.check_shared():
        made = MAKERS[name](a)
        a[1] = 2.0
    for told in (called, left):
        assert {frame.path.name for frame in told.traceback} == {"test_shared_memory.py", "errors.py"}
    assert made.shape == (3,)


@pytest.mark.cpu_only("memory is shared with NumPy")
def test_an_older_check_may_end_while_an_array_is_noted() -> None:
    """As where the garbage collector ends it."""
    older, newer = xt.debug.check_shared(), xt.debug.check_shared()

    class Ending(list[Any]):
        def append(self, _: Any) -> None:
            older._end()

    older._watch.arrays = Ending()
    a = np.zeros(3)
    made = xt.array(a, dims="t")
    a[0] = 1.0
    with pytest.raises(xt.ArgumentError, match="was written to"):
        newer()
    assert made.shape == (3,)


def test_what_is_no_shared_memory_is_not_watched() -> None:
    a = np.zeros((3, 2), "f4")
    with xt.debug.check_shared() as check:
        made = [xt.array(a, ("t", "s"), copy=True), xt.array(a.T, ("s", "t")), xt.array(a, ("t", "s"), dtype="i4")]
        a[:] = 1.0
        check()
    assert not any(x.values.any() for x in made)


@pytest.mark.cpu_only("memory is shared with NumPy")
def test_memory_that_a_call_took_over_is_not_watched() -> None:
    twice = xt.jit(lambda x: x * 2.0, donate=0)
    a = np.ones(4)
    with xt.debug.check_shared():
        x = xt.array(np.ones(4), "t")
        x = twice(x)
        assert x.values.tolist() == [2.0] * 4
    with pytest.raises(xt.ArgumentError, match="was written to afterwards"), xt.debug.check_shared():
        taken, kept = xt.array(np.ones(4), "t"), xt.array(a, "t")
        twice(taken)
        a[0] = 5.0
    assert kept.values[0] == 5.0
