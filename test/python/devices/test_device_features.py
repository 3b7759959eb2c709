"""Devices that lack features: a driver that has everything is opened without some ($XTENSOR_DEVICE_WITHOUT), and gives
what the CPU gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native
from xtensor.base import tree
from xtensor.values import devices

WITHOUT = os.environ.get("XTENSOR_DEVICE_WITHOUT", "")
MORE = ("i64", "i16", "s16,s8", "i8,s16,i64", "shuffle", "specials32")
AGAIN = pytest.mark.full("a device that lacks one thing, where another run lacks most")
LACKING = ("f64,i64,i16,i8,s16,s8", "subgroup", *(pytest.param(without, marks=AGAIN) for without in MORE))

pytestmark = pytest.mark.skipif(not _native.device_count("vulkan"), reason=f"no Vulkan: {_native.device_error()}")


@pytest.mark.skipif(WITHOUT != "", reason="this is the run that it asks for")
@pytest.mark.parametrize("without", LACKING)
def test_all_of_it_without(without: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(Path(__file__).resolve())],
        env={**os.environ, "XTENSOR_DEVICE_WITHOUT": without},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_profile_says_what_is_left() -> None:
    words = devices.named("vulkan").profile.split(",")
    assert not set(WITHOUT.split(",")) & set(words)
    assert ("subgroup=1" in words) == ("subgroup" in WITHOUT)
    assert "shuffle" not in words or "subgroup" not in WITHOUT


@pytest.mark.parametrize("dtype", ["f4", "i4", "bool"])
def test_what_threads_of_a_subgroup_do_together(dtype: str) -> None:
    x = xt.array((numbers("i4", 300 * 70, 8) % 5).reshape(300, 70).astype(dtype), dims=("a", "b"))
    same(lambda x: (x.sum(), x.sum("a"), x.max("b"), xt.argmax(x, "b"), xt.cumsum(x, "b"), xt.cumsum(x, "a")), x)


def numbers(dtype: str, count: int, seed: int) -> np.ndarray:
    """Of all sizes, both signs where there are two, and the limits."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, count, dtype=np.uint64) >> rng.integers(0, 64, count, dtype=np.uint64)
    values = bits.astype(dtype)
    least, most = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
    if least:
        values[::3] = -values[::3]
    values[:3] = [least, most, 0]
    return values


def same(f: Callable[..., Any], *args: xt.Array, tolerance: float = 0.0) -> None:
    here, there = (tree.flatten(xt.jit(f, device=d)(*args))[0] for d in ("cpu", "vulkan"))
    for a, b in zip(here, there, strict=True):
        assert a.dtype == b.dtype
        assert a.dims == b.dims
        if tolerance:
            np.testing.assert_allclose(
                b.values.astype("f8"), a.values.astype("f8"), rtol=tolerance, atol=tolerance, equal_nan=True
            )
        else:
            np.testing.assert_array_equal(b.values, a.values)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "sums": lambda x, y: (x + y, x - y, -x, abs(x)),
    "products": lambda x, y: (x * y, x**3, x @ y),
    "quotients": lambda x, y: (x // y, x % y),
    "bits": lambda x, y: (x & y, x | y, x ^ y, ~x),
    "shifts": lambda x, y: (x << (y & 3), x >> (y & 7), x << 0, x >> 7),
    "order": lambda x, y: (x < y, x >= y, x == y, xt.maximum(x, y), xt.minimum(x, y), xt.where(x > y, x, y)),
    "reductions": lambda x, y: (x.sum(), x.prod(), x.max(), x.min(), x.argmax("n"), (x > y).any()),
    "scans": lambda x, y: (x.cumsum("n"), xt.cummax(x, dim="n")),
    "sorting": lambda x, y: (xt.sort(x, dim="n"), xt.argsort(x, dim="n"), xt.top_k(x, 5, dim="n")),
    "casts": lambda x, y: [x.astype(d) for d in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "bool")],
    "floats": lambda x, y: (x.astype("f4"), x.astype("bfloat16").astype("f4")),
}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "i8", "u8"])
def test_integers(dtype: str, name: str) -> None:
    x, y = numbers(dtype, 301, 0), numbers(dtype, 301, 1)
    y[y == 0] = 3
    same(ARITHMETIC[name], xt.array(x, dims="n"), xt.array(y, dims="n"))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "bool"])
def test_rows_that_share_words(dtype: str) -> None:
    x = xt.array((numbers("i8", 65 * 301, 2) % 100).astype(dtype).reshape(65, 301), dims=("r", "c"))
    same(lambda x: (x.transpose("c", "r"), x.isel(c=slice(None, None, -2)), x.any("c"), x.argmax("c")), x)
    same(lambda x: (x.sum("c"), x.sum("r"), xt.where(x, 1, 2)), x)
    same(lambda x: (x.at(c=3).set(x.isel(c=4)), xt.concat([x, x], dim="r")), x)


def test_floats_to_integers() -> None:
    rng = np.random.default_rng(3)
    x = (rng.normal(size=400) * 10.0 ** rng.integers(-3, 24, 400)).astype("f4")
    x[:4] = [np.nan, np.inf, -np.inf, -0.0]
    same(lambda x: [x.astype(d) for d in ("i1", "u1", "i2", "u2", "i8", "u8", "bool")], xt.array(x, dims="n"))


@pytest.mark.parametrize("dtype", ["bfloat16", "f2"])
def test_short_floats(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x = xt.array(rng.normal(size=(9, 513)).astype("f4"), dims=("r", "c")).astype(dtype)
    same(lambda x: (x + x, x * 0.0, xt.isnan(x / 0.0), x.astype("f4"), x.max("c"), (x * 9).astype("i2")), x)
    same(lambda x: (xt.nn.softmax(x, dim="c"), x.sum("r"), xt.exp(x)), x, tolerance=2e-2)
    same(xt.grad(lambda x: (xt.tanh(x) ** 2).astype("f4").sum()), x, tolerance=2e-2)
    same(lambda x: x @ x.rename(r="q"), x, tolerance=0.3)


X = np.random.default_rng(5).normal(size=(5, 70)).astype("f4")
K = np.array([4, 0, -2], "i4")
PROGRAMS: dict[str, Callable[..., Any]] = {
    "gather": lambda x, k: x.isel(a=k),
    "add": lambda x, k: x.at(a=k).add(1.0),
    "set": lambda x, k: x.at(a=k).set(2.0),
    "max": lambda x, k: x.at(a=k).max(0.5),
    "multiply": lambda x, k: x.at(a=k).multiply(0.5),
    "drop": lambda x, k: x.at(a=k * 9).set(2.0, mode="drop"),
    "gradient of a gather": xt.grad(lambda x, k: (x.isel(a=k) ** 2).sum()),
    "gradient of cummax": xt.grad(lambda x, k: (xt.cummax(x, dim="b") ** 2).sum()),
    "cross entropy": lambda x, k: xt.nn.cross_entropy(x.isel(a=[0, 1, 2]).rename(a="k"), abs(k), dim="b"),
    "sort": lambda x, k: xt.sort(x, dim="b"),
    "median": lambda x, k: (xt.median(x, dim="b"), xt.quantile(x, 0.3, dim="b")),
    "one_hot": lambda x, k: xt.one_hot(abs(k), 5, dim="c", dtype="f4"),
    "cond": lambda x, k: xt.cond(x.sum() > 0, lambda x: x, lambda x: -x, x),
    "fori_loop": lambda x, k: xt.fori_loop(0, 5, lambda i, c: c + i, x),
    "hessian": lambda x, k: xt.hessian(lambda r: xt.sum(r**3))(x.isel(a=0)),
    "count": lambda x, k: xt.count_nonzero(x > 0, dim="b"),
    "inverse": lambda x, k: xt.grad(
        lambda x: xt.linalg.inv(x @ x.rename(a="c") + 9 * xt.eye(5, dims=("a", "c"), dtype="f4"), dims=("a", "c")).sum()
    )(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    same(PROGRAMS[name], xt.array(X, dims=("a", "b")), xt.array(K, dims="k"), tolerance=2e-5)


# What meets a Python float: it is no float64 where the program makes it float32.
NUMBERS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda y: (y + 1.5, 2.0 * y, y**0.5, y > 1.5, 0.1 - y, y / 1e-3, y * 1e300),
    "choices": lambda y: (xt.where(y > 1, y, 0.0), xt.clip(y, 0.0, 1.0), xt.maximum(y, 0.0), y.fillna(0.0)),
    "made": lambda y: (xt.full_like(y, 2.0), y.mean() + 0.1),
    "updates": lambda y: (y.at(i=0).add(0.1), y.at(i=[0, 2]).set(0.1)),
    "cotangent": lambda y: xt.vjp(lambda y: (y**2).sum(), y)[1](1.0),
    "linearized": lambda y: xt.linearize(lambda y, a: a * y, y, 0.1)[0],
    "scan": lambda y: xt.scan(lambda c, e: (c + e, c * 0.1), 0.0, y, dim="i"),
    "while": lambda y: xt.while_loop(lambda c: c < 9, lambda c: c + y.sum(), 0.0),
    "cond": lambda y: xt.cond(y.sum() > 0, lambda: y.sum(), lambda: 0.0),
    "jit": lambda y: xt.jit(lambda p, rate: p - rate * p)(y, 0.1),
    "jit of a gradient": lambda y: xt.jit(lambda p, a: p - a * xt.grad(lambda p, a: (a * p).sum())(p, a))(y, 0.1),
    "jit of loops": lambda y: xt.jit(lambda p, a: xt.fori_loop(0, 3, lambda i, p: p - a * p, p))(y, 0.1),
    "gradient": lambda y: xt.grad(lambda p, a: (a * p).sum())(y, 0.1),
    "vectorize": lambda y: xt.vectorize(lambda p, a: a * p, "i")(y, 0.1),
    "dynamic": lambda y: xt.jit(lambda p, a: a * p, dynamic_dims="i")(y, 0.1),
    "named": lambda y: xt.jit(lambda p, a: {"q": p["q"] * a})({"q": y}, a=0.1),
    "half": lambda y: y.astype("bfloat16") * 0.1,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_python_floats(name: str) -> None:
    y = xt.array(np.array([1.0, 2.0, np.nan, -3.0], "f4"), dims="i")
    for value in (y, y + 1):  # the second time, compiled programs are found by their arguments
        here, there = (tree.flatten(NUMBERS[name](value.to(d)))[0] for d in ("cpu", "vulkan"))
        for a, b in zip(here, there, strict=True):
            assert b.device == "vulkan"
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b.values.astype("f4"), a.values.astype("f4"), rtol=1e-6)


def test_other_python_floats_are_found_by_their_values() -> None:
    y = xt.array(np.array([1.0, 2.0], "f4"), dims="i").to("vulkan")
    f = xt.jit(lambda p, a: a * p)
    assert [f(y, a).values.tolist() for a in (0.5, 0.5, 2.0, -1e300)] == [[0.5, 1], [0.5, 1], [2, 4], [-np.inf] * 2]
    assert f(y, 3).values.tolist() == [3, 6]
    g = xt.jit(lambda a: a * y)  # where it runs is what it reads from outside
    assert [g(a).dtype.name for a in (0.5, 0.25)] == ["float32"] * 2
    assert xt.vjp(lambda a: (a * y).sum(), 0.5)[0].values == 1.5
    compiled = f.lower(y, 0.5).compile()
    assert [compiled(y, a).values.tolist() for a in (0.5, 2.0)] == [[0.5, 1], [2, 4]]


@pytest.mark.skipif("f64" not in WITHOUT, reason="of devices without float64")
def test_what_is_float64_by_right_stays_refused() -> None:
    y = xt.array([1.0, 2.0], dims="i")
    with pytest.raises(xt.DeviceError, match=r"^xt\.add: an operand is float64 \(i: 2\), and .* on the CPU, before"):
        y.to("vulkan") + 1.5
    y = y.astype("f4").to("vulkan")
    # Python numbers among themselves are not: they give way, and are float32 there.
    np.testing.assert_allclose(xt.jit(lambda p, a, b: a * b * p)(y, 0.1, 0.2).values, [0.02, 0.04], 1e-6)
    np.testing.assert_allclose(
        xt.jit(lambda p, a, b: (a * b).astype(p.dtype) * p)(y, 0.1, 0.2).values, [0.02, 0.04], 1e-6
    )
    with pytest.raises(xt.DeviceError, match=r"an operand is float64 \(\)"):
        y * np.float64(0.1)
    with pytest.raises(xt.DeviceError, match=r"^xt\.mean: the result is float64 \(\), .* int64 \(i: 2\)"):
        xt.array([1, 2], "i").to("vulkan").mean()
    with xt.option(device="vulkan"):
        assert xt.add(1.0, 2.0).dtype == np.float32


def test_an_index_out_of_range() -> None:
    x = xt.array(X, dims=("a", "b")).to("vulkan")
    for wrong in (5, -6, 2**31 - 1):
        k = xt.array(np.array([0, wrong], "i4"), dims="k").to("vulkan")
        with pytest.raises(xt.IndexError, match=f"index {wrong} is out of range for size 5 of dim 'a'"):
            print(xt.jit(lambda x, k: x.isel(a=k))(x, k).values)


def test_donated_arguments() -> None:
    f = xt.jit(lambda p, g: p - 2 * g, donate="p")
    p, g = (xt.array(np.arange(6.0, dtype="f4"), "i").to("vulkan") for _ in range(2))
    for _ in range(2):
        old, p = p, f(p, g)
        with pytest.raises(xt.ArgumentError, match="took its memory"):
            old + 1
        with pytest.raises(xt.ArgumentError, match="took its memory"):
            old.to("cpu")
    np.testing.assert_array_equal(p.values, -3 * np.arange(6.0, dtype="f4"))
    here = xt.array(np.ones(6, "f4"), "i", device="cpu")
    there = xt.jit(lambda p, g: p - 2 * g, donate="p", device="vulkan")
    np.testing.assert_array_equal(there(here, g).values, 1 - 2 * np.arange(6.0, dtype="f4"))
    assert (here.values == 1).all()  # a copy was moved


def test_helpers_of_groups_and_counts_are_made_where_the_array_is() -> None:
    x = xt.array(np.array([1.0, 2.0, 4.0], "f4"), "i")
    codes = xt.array([1, 0, 1], "i")

    def results(x: Any, codes: Any) -> list[Any]:
        g = x.groupby(codes, num_groups=2)
        return [g.first(), g.last(), g - g.mean(), xt.histogram(x, np.array([0.0, 1.5, 5.0], "f4"))[0]]

    for here, there in zip(results(x, codes), results(x.to("vulkan"), codes.to("vulkan")), strict=True):
        assert there.device == "vulkan"
        np.testing.assert_array_equal(there.values, here.values)
