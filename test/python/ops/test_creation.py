"""Arrays from sizes and numbers, concrete and traced, against NumPy."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DTYPES, same
from xtensor.ops import creation


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


@pytest.mark.cpu_only("arrays of devices are made by their programs")
def test_small_arrays_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("it took the slow path")

    monkeypatch.setattr(creation, "_filled", slow)
    monkeypatch.setattr(creation, "from_values", slow)
    for sizes in ({}, {"a": 3}, {"a": 0, "b": 2}, {"a": 4, "b": 5, "c": 1}):
        for dtype in (None, "f4", np.int8, "bool", "c8", "bfloat16", float):
            wanted = "float64" if dtype is None else np.dtype(dtype)
            for value, x in ((0, xt.zeros(sizes, dtype=dtype)), (1, xt.ones(**sizes, dtype=dtype))):
                assert (x.sizes, x.dtype) == (sizes, wanted)
                np.testing.assert_array_equal(x.values, np.full(tuple(sizes.values()), value, wanted))
        for value in (2.5, -0.0, np.inf, np.nan, 1e300, 7, -(2**63)):
            x = xt.full(sizes, value)
            want = np.full(tuple(sizes.values()), value)
            np.testing.assert_array_equal(x.values, want)
            np.testing.assert_array_equal(np.signbit(x.values), np.signbit(want))
            assert (x.sizes, x.dtype) == (sizes, want.dtype)


@pytest.mark.cpu_only("arrays of devices are made by their programs")
def test_short_ranges_are_those_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("it took the slow path")

    monkeypatch.setattr(creation, "from_values", slow)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        start, stop = (float(v) for v in rng.normal(size=2) * 10.0 ** rng.integers(-12, 12, 2))
        if rng.random() < 0.3:
            start, stop = int(rng.integers(-100, 100)), int(rng.integers(100, 200))
        n = int(rng.integers(2, 70))
        endpoint = bool(rng.integers(2))
        got = xt.linspace(start, stop, n, dim="t", endpoint=endpoint)
        assert (got.dims, got.dtype) == (("t",), "float64")
        np.testing.assert_array_equal(got.values, np.linspace(start, stop, n, endpoint=endpoint))
        step = (stop - start) / n if rng.random() < 0.7 else int(rng.integers(1, 9)) * (-1) ** int(stop < start)
        if abs(stop - start) / abs(step) < 4000:
            want = np.arange(start, stop, step)
            got = xt.arange(start, stop, step, dim="t")
            assert (got.dims, got.dtype) == (("t",), want.dtype)
            np.testing.assert_array_equal(got.values, want)


def test_other_small_arrays_take_the_slow_path() -> None:
    for wrong in (-1, True, 1.5, 2**63, "3", None):
        with pytest.raises(xt.Error, match=r"xt\.zeros: "):
            xt.zeros(a=wrong)
    assert xt.zeros(a=np.int64(2)).sizes == {"a": 2}
    for name in ("", "a~", 3):
        with pytest.raises(xt.Error, match="name"):
            xt.ones({name: 2})
    with pytest.raises(xt.Error, match="not as both"):
        xt.zeros({"a": 2}, b=3)
    with pytest.raises(xt.Error, match="dtype"):
        xt.zeros(a=2, dtype="f3")
    assert xt.zeros(é=2).dims == ("é",)
    kinds = {True: "bool", 2**63: "uint64", 3: "int64", np.float32(4): "float32", 2j: "complex128"}
    for value, dtype in kinds.items():
        assert xt.full(value, a=2).dtype == dtype
    with xt.option(default_float="f4"):
        made = xt.zeros(a=2), xt.full(0.5, a=2), xt.arange(0.5, 2.5), xt.linspace(0, 1, 3)
        assert {x.dtype for x in made} == {np.dtype("f4")}
    np.testing.assert_array_equal(xt.jit(lambda: xt.zeros(a=2) + xt.arange(2, dim="a"))().values, [0, 1])
    assert (xt.arange(True + 1).values == [0, 1]).all()
    for wrong in (True, np.nan, np.inf, "a"):
        with pytest.raises(xt.Error, match=r"xt\.arange: "):
            xt.arange(wrong)
    with pytest.raises(xt.Error, match="step is 0"):
        xt.arange(0, 2, 0)
    with pytest.raises(xt.Error, match="name"):
        xt.arange(3, dim="")
    with pytest.raises(xt.Error, match="name"):
        xt.linspace(0, 1, 3, dim="a~")


@pytest.mark.parametrize(
    "ends",
    [
        (0, 1000, 1), (1000, 0, -3), (0.5, 100, 0.1), (0, 10.0, 0.1), (np.float32(0), np.float32(9), np.float32(0.1)),
        (np.int16(3), np.int16(200), np.int16(2)), (0, 40.5, 1), (1e16, 1e16 + 100, 1), (5, 0, 1),
        (0, np.int64(100), 0.25),
    ],
)  # fmt: skip
def test_a_traced_arange_is_numpys(ends: tuple[float, float, float]) -> None:
    got, want = xt.jit(lambda: xt.arange(*ends, dim="t"))(), np.arange(*ends)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got.values, want, rtol=np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0)


def test_a_traced_arange_makes_no_list() -> None:
    tracemalloc.start()
    xt.jit(lambda: xt.sum(xt.arange(2**40, dim="t"))).lower()  # 8 TB of numbers
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
