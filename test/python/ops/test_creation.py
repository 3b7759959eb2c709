"""Arrays from sizes and numbers, concrete and traced, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DTYPES, same


def both(f):
    """What `f` gives at once, and in a compiled function."""
    return f(), xt.jit(f)()


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_ones_full(dtype: str) -> None:
    for got in both(lambda: xt.zeros(time=3, space=4, dtype=dtype)):
        same(got, xr.DataArray(np.zeros((3, 4), dtype), dims=("time", "space")))
    for got in both(lambda: xt.ones({"time": 3}, dtype=dtype)):
        same(got, xr.DataArray(np.ones(3, dtype), dims="time"))
    for got in both(lambda: xt.full({"a": 2}, 1, dtype=dtype)):
        same(got, xr.DataArray(np.full(2, 1, dtype), dims="a"))


def test_defaults_are_numpys() -> None:
    assert xt.zeros(a=2).dtype == np.dtype("f8")
    assert xt.ones().shape == ()
    for got in both(lambda: xt.full({"a": 2}, 7.0)):
        same(got, xr.DataArray(np.full(2, 7.0), dims="a"))
    for got in both(lambda: xt.full({"a": 2}, 7)):
        same(got, xr.DataArray(np.full(2, 7), dims="a"))
    for got in both(lambda: xt.full({"a": 2}, True)):
        same(got, xr.DataArray(np.full(2, True), dims="a"))
    same(xt.full(2.5, a=3), xr.DataArray(np.full(3, 2.5), dims="a"))


def test_any_name_works_as_a_dim() -> None:
    assert xt.zeros(k=3, d=2, x=1).dims == ("k", "d", "x")
    assert xt.zeros({"dtype": 3}).dims == ("dtype",)
    assert xt.ones(sizes=2, n=1).dims == ("sizes", "n")


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
def test_like(name: str) -> None:
    x = xr.DataArray(np.arange(6, dtype="f4").reshape(2, 3), dims=("b", "a"))
    f = getattr(xt, name)
    same(f(xt.array(x.values, dims=x.dims)), getattr(xr, name)(x))
    same(f(xt.array(x.values, dims=x.dims), dtype="i4"), getattr(xr, name)(x, dtype="i4"))
    same(xt.jit(f)(xt.array(x.values, dims=x.dims)), getattr(xr, name)(x))


def test_full_like() -> None:
    x = xt.zeros(a=2, dtype="f4")
    same(xt.full_like(x, 7), xr.DataArray(np.full(2, 7, "f4"), dims="a"))
    same(xt.full_like(x, 7.5, dtype="f8"), xr.DataArray(np.full(2, 7.5), dims="a"))
    same(xt.full_like(x, xt.array(3.0, dims=())), xr.DataArray(np.full(2, 3, "f4"), dims="a"))
    with pytest.raises(ValueError, match="has dims"):
        xt.full_like(x, xt.ones(a=2))


@pytest.mark.parametrize(
    "bounds",
    [(5,), (0,), (2, 7), (2, 7, 2), (7, 2, -2), (3, 3), (0.5, 3.0), (0, 1, 0.1), (30,), (0.0, 40.0, 0.7), (100, 0, -3)],
)
def test_arange(bounds: tuple[float, ...]) -> None:
    want = xr.DataArray(np.arange(*bounds), dims="i")
    for got in both(lambda: xt.arange(*bounds)):
        same(got, want)
    for got in both(lambda: xt.arange(*bounds, dim="time", dtype="f4")):
        same(got, want.rename(i="time").astype("f4"))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_linspace(n: int) -> None:
    for got in both(lambda: xt.linspace(-1, 3.5, n)):
        same(got, xr.DataArray(np.linspace(-1, 3.5, n), dims="i"))
    for got in both(lambda: xt.linspace(0, 1, n, dim="t", endpoint=False, dtype="f4")):
        same(got, xr.DataArray(np.linspace(0, 1, n, endpoint=False, dtype="f4"), dims="t"))


def test_linspace_between_arrays() -> None:
    lo, hi = xt.array([0.0, 1.0], dims="a"), xt.array(5.0, dims=())
    want = np.linspace([0.0, 1.0], 5.0, 6)
    same(xt.linspace(lo, hi, 6, dim="t"), xr.DataArray(want, dims=("t", "a")))


def test_eye() -> None:
    for got in both(lambda: xt.eye(3)):
        same(got, xr.DataArray(np.eye(3), dims=("row", "col")))
    for got in both(lambda: xt.eye(2, 3, dims=("i", "j"), dtype="i4")):
        same(got, xr.DataArray(np.eye(2, 3, dtype="i4"), dims=("i", "j")))
    with pytest.raises(ValueError, match="two dims"):
        xt.eye(3, dims="ab")


def test_errors() -> None:
    with pytest.raises(ValueError, match="negative"):
        xt.zeros(a=-1)
    with pytest.raises(TypeError, match="size"):
        xt.zeros(a=1.5)
    with pytest.raises(ValueError, match="step is 0"):
        xt.arange(0, 5, 0)
    with pytest.raises(ValueError, match="both"):
        xt.zeros({"a": 1}, b=2)
    with pytest.raises(TypeError, match="sizes have names, and 3 has none"):
        xt.zeros(3)
    with pytest.raises(TypeError):
        xt.zeros(a=2, dtype="M8[s]")


@pytest.mark.parametrize(
    "make",
    [
        lambda: xt.zeros(a=2**45),
        lambda: xt.arange(2**45),
        lambda: xt.linspace(0, 1, 2**45),
        lambda: xt.eye(2**23, 2**22),
    ],
)
def test_no_memory_is_told_as_by_every_op(make) -> None:
    with pytest.raises(xt.MemoryError, match=r"xt\.\w+: no memory for 256. TiB") as told:
        make()
    assert "test_creation.py" in str(told.value)


def test_a_name_is_text() -> None:
    with pytest.raises(xt.DimensionError, match="half of a character"):
        xt.array(np.ones(2), dims="a\ud800")
