"""xt.option: a plain call is for the process, a block for what runs inside of it."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

x, y = xt.array([1.0, 2.0, 3.0], dims="a"), xt.array([1.0, 2.0], dims="b")


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    yield
    xt.option(outer="allow", index="raise")


def is_forbidden() -> bool:
    try:
        x * y
    except xt.DimensionError:
        return True
    return False


def elsewhere(f: Callable[[], Any]) -> Any:
    """`f()` in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(f()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.float64
def test_another_thread_does_not_see_a_block() -> None:
    for _ in range(2):  # the second time everything is compiled
        with xt.option(outer="forbid"):
            assert is_forbidden()
            assert not elsewhere(is_forbidden)
            assert is_forbidden()
        assert not is_forbidden()


def test_another_thread_sees_a_plain_call() -> None:
    xt.option(outer="forbid")
    assert is_forbidden()
    assert elsewhere(is_forbidden)
    xt.option(outer="allow")
    assert not is_forbidden()
    assert not elsewhere(is_forbidden)


def test_a_call_that_is_kept_holds_here_at_once() -> None:
    kept = xt.option(outer="forbid")
    assert is_forbidden()
    del kept
    assert elsewhere(is_forbidden)


def test_blocks_nest_and_end_with_an_exception() -> None:
    with xt.option(outer="forbid"):
        with contextlib.suppress(KeyError), xt.option(outer="allow", index="clip"):
            assert not is_forbidden()
            raise KeyError
        assert is_forbidden()
    assert not is_forbidden()
    with pytest.raises(xt.ArgumentError):
        xt.option(outer="forbid", index="perhaps")
    with pytest.raises(TypeError):
        xt.option("forbid")
    assert not is_forbidden()


def test_one_block_object_serves_several_times() -> None:
    strict = xt.option(outer="forbid")
    for _ in range(2):
        with strict, strict:
            assert is_forbidden()
        assert not is_forbidden()


def test_a_copied_context_keeps_the_options_of_its_block() -> None:
    with xt.option(outer="forbid"):
        inside = contextvars.copy_context()
    assert inside.run(is_forbidden)
    assert not is_forbidden()


def test_compiled_code_of_one_option_never_runs_under_another() -> None:
    f = xt.jit(lambda v, i: v.isel(a=i))
    i = xt.array([0, 7], dims="p")
    for _ in range(2):
        with xt.option(index="clip"):
            assert f(x, i).values.tolist() == [1, 3]
        with pytest.raises(IndexError):
            f(x, i)


def test_clip_holds_for_plain_ints_too() -> None:
    labelled = xr.DataArray([1.0, 2.0, 3.0], dims="a", coords={"a": [10, 20, 30]})
    with xt.option(index="clip"):
        assert x.isel(a=9).item() == 3
        assert x[-9].item() == 1
        assert x[{"a": 3}].item() == 3
        assert xt.jit(lambda v: v.isel(a=9))(x).item() == 3
        assert xt.isel(labelled, a=9).item() == 3
        with pytest.raises(IndexError):
            xt.zeros(a=0).isel(a=0)
    with pytest.raises(IndexError):
        x.isel(a=9)


def test_calls_in_a_block_find_compiled_code() -> None:
    traces: list[int] = []
    f = xt.jit(lambda v: (traces.append(1), v * 2.0)[1])
    np.testing.assert_array_equal(f(x).values, [2, 4, 6])
    with xt.option(outer="forbid"):
        for _ in range(3):
            f(x)
    f(x)
    assert len(traces) == 2


# -- the dtype of new floats ------------------------------------------------------------------------------------------

MADE: dict[str, Callable[[], Any]] = {
    "zeros": lambda: xt.zeros(a=2),
    "ones": lambda: xt.ones(a=2),
    "eye": lambda: xt.eye(2),
    "one_hot": lambda: xt.one_hot(xt.arange(3, dim="a"), 3),
    "full": lambda: xt.full(0.5, a=2),
    "linspace": lambda: xt.linspace(0, 1, 3, dim="a"),
    "a long linspace": lambda: xt.linspace(0, 1, 40, dim="a"),
    "arange": lambda: xt.arange(0, 1, 0.5, dim="a"),
    "integers and a number": lambda: xt.arange(3, dim="a") * 0.5,
}


@pytest.mark.float64
@pytest.mark.parametrize("name", MADE)
def test_one_default_for_new_floats(name: str) -> None:
    f = xt.jit(lambda: MADE[name]())
    for _ in range(2):  # the second time, everything is compiled
        assert MADE[name]().dtype == f().dtype == np.float64
        with xt.option(default_float="f4"):
            assert MADE[name]().dtype == f().dtype == np.float32
            np.testing.assert_allclose(MADE[name]().values, f().values, 1e-6)


@pytest.mark.float64
def test_the_default_is_of_python_numbers_alone() -> None:
    with xt.option(default_float="f4"):
        assert xt.array([0.5, 1.0], "a").dtype == xt.array(0.5).dtype == np.float32
        assert xt.array([1, 2], "a").dtype == xt.full(1, a=2).dtype == np.int64
        assert xt.array(np.ones(2), "a").dtype == xt.full(np.float64(1), a=2).dtype == np.float64
        assert xt.zeros(a=2, dtype="f8").dtype == xt.zeros_like(xt.array(np.ones(2), "a")).dtype == np.float64
    with xt.option(default_float="bfloat16"):
        assert xt.zeros(a=2).dtype.name == "bfloat16"
    with pytest.raises(xt.ArgumentError, match="default_float= is a dtype of floats"):
        xt.option(default_float="i4")


def test_advice_keeps_the_dtype() -> None:
    with pytest.raises(AttributeError, match=r"xt.zeros\(bin=10, dtype=x.dtype\).at\(bin=index\).add\(x\)"):
        xt.bincount  # type: ignore[attr-defined] # noqa: B018
    x = xt.array(np.array([1, 2], "f4"), "a")
    assert xt.zeros(bin=3, dtype=x.dtype).at(bin=xt.array([0, 2], "a")).add(x).dtype == np.float32
