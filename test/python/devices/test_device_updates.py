"""Updates by position on a Vulkan device: side by side by atomic operations where the order does not matter or nobody
asked for it, in the order of the indices otherwise; the same numbers as on the CPU either way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native

HERE = any(d.name == "vulkan" for d in xt.devices())
pytestmark = pytest.mark.skipif(not HERE, reason=f"no Vulkan driver is here: {_native.device_error()}")

KINDS = ("set", "add", "subtract", "multiply", "max", "min")
DTYPES = ("f4", "f8", "f2", "bfloat16", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
PLACES, UPDATES = 37, 3000
RNG = np.random.default_rng(0)
POSITIONS = xt.array(RNG.integers(-PLACES, PLACES, UPDATES), dims="k")


def whole(dtype: str, *shape: int, seed: int = 0) -> Any:
    """Numbers whose sums and products are exact in any order, in every dtype."""
    rng = np.random.default_rng(seed)
    return rng.integers(0 if dtype[0] == "u" else -1, 2, shape)


def update(kind: str, **options: Any) -> Any:
    return lambda x, i, v: getattr(x.at(a=i), kind)(v, **options)


def same(f: Any, *args: Any) -> None:
    want, got = xt.jit(f)(*args), xt.jit(f, device="vulkan")(*args)
    assert got.device == "vulkan"
    np.testing.assert_array_equal(plain(got), plain(want))


def is_half(x: Any) -> bool:
    return x.dtype.itemsize == 2 and "float" in x.dtype.name


def plain(x: Any) -> Any:
    return x.astype("f4").values if is_half(x) else x.values


def spirv(f: Any, *args: Any, device: str = "vulkan,f64,i64,atomic_f32,atomic_i64") -> str:
    return xt.jit(f).lower(*args, device=device).as_text("spirv")


@pytest.mark.sampled(24)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_at_few_places(kind: str, dtype: str) -> None:
    x = xt.array(whole(dtype, PLACES), dims="a").astype(dtype)
    v = xt.array(whole(dtype, UPDATES, seed=1), dims="k").astype(dtype)
    same(update(kind), x, POSITIONS, v)


@pytest.mark.parametrize("kind", KINDS)
def test_rows(kind: str) -> None:
    x, v = (
        xt.array(whole("f4", 5, PLACES), dims=tuple("ba")),
        xt.array(whole("f4", UPDATES, 5, seed=1), dims=tuple("kb")),
    )
    same(update(kind), x, POSITIONS, v)
    same(update(kind), x, POSITIONS, 1)
    same(update(kind, mode="drop"), x, POSITIONS * 2, v)
    same(update(kind, mode="clip"), x, POSITIONS * 2, v)
    same(lambda x, i, v: update(kind)(x * 2, i, v) + 1, x, POSITIONS, v)  # a temporary


@pytest.mark.parametrize("kind", KINDS)
def test_dims_that_index_and_target_share(kind: str) -> None:
    i = xt.array(RNG.integers(0, PLACES, (40, 50)), dims=tuple("bk"))
    x, v = (
        xt.array(whole("i4", 40, PLACES, 3), dims=tuple("bac")),
        xt.array(whole("i4", 40, 50, 3, seed=1), dims=tuple("bkc")),
    )
    same(update(kind), x, i, v)
    two = xt.array(RNG.integers(0, 3, (40, 50)), dims=tuple("bk"))
    same(lambda x, i, j: getattr(x.at(a=i, c=j), kind)(2), x, i, two)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_that_only_the_call_knows(kind: str) -> None:
    f = xt.jit(update(kind), dynamic_dims=("a", "b", "k"), device="vulkan")
    for places, wide, updates in ((PLACES, 3, UPDATES), (5, 1, 300), (2, 70, 1)):
        x, v = whole("f4", places, wide), whole("f4", updates, wide, seed=1)
        i = RNG.integers(0, places, updates)
        args = xt.array(x, tuple("ab")), xt.array(i, "k"), xt.array(v, tuple("kb"))
        np.testing.assert_array_equal(f(*args).values, xt.jit(update(kind))(*args).values)


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_nan_infinities_and_zeros(kind: str, dtype: str) -> None:
    values = np.tile(np.array([1, np.nan, -np.inf, np.inf, 0.0, -0.0, -2, 5], dtype), 300)
    places = np.tile(np.array([0, 1, 2, 3, 4, 4, 5, 5]), 300)
    for start in (0.0, -0.0, np.nan):
        x = xt.array(np.full(7, start, dtype), dims="a")
        args = x, xt.array(places, "k"), xt.array(values, "k")
        same(update(kind), *args)
        zeros = np.signbit(xt.jit(update(kind), device="vulkan")(*args).values[4])
        if not np.isnan(start):
            assert zeros == (kind == "min")


def test_gradients() -> None:
    x, v = RNG.normal(size=(PLACES, 4)).astype("f4"), RNG.normal(size=(UPDATES, 4)).astype("f4")
    args = xt.array(x, tuple("ac")), xt.array(v, tuple("kc"))
    for kind in KINDS:
        f = xt.grad(lambda x, v, kind=kind: (update(kind)(x, POSITIONS.to(x.device), v) ** 2).sum(), wrt=(0, 1))
        if kind == "multiply":
            args = args[0], args[1] * 0.01 + 1
        want, got = xt.jit(f)(*args), xt.jit(f, device="vulkan")(*args)
        for w, g in zip(want, got, strict=True):
            np.testing.assert_allclose(g.values, w.values, rtol=1e-3, atol=1e-4 * float(np.abs(w.values).max()))


def test_in_a_loop_of_the_program() -> None:
    v = xt.array(whole("f4", 6, UPDATES), dims=tuple("tk"))
    x = xt.array(whole("f4", PLACES), dims="a")
    same(lambda x, i, v: xt.scan(lambda c, e: (update("add")(c, i, e), c.sum()), x, v, dim="t")[0], x, POSITIONS, v)


# -- which kernels are made -------------------------------------------------------------------------------------------

SPECS = xt.spec(a=PLACES, dtype="f4"), xt.spec(k=UPDATES, dtype="i4"), xt.spec(k=UPDATES, dtype="f4")


def test_what_a_device_has_changes_kernels() -> None:
    add = update("add")
    assert "EXT.AtomicFAdd" in spirv(add, *SPECS)
    without = spirv(add, *SPECS, device="vulkan")  # a device that is here, or what most of them have
    assert ("EXT.AtomicFAdd" in without) or ("AtomicCompareExchange" in without)
    without = spirv(add, *SPECS, device="vulkan,i64")
    assert "EXT.AtomicFAdd" not in without
    assert "AtomicFloat32AddEXT" not in without
    assert "AtomicCompareExchange" in without


@pytest.mark.parametrize(
    ("kind", "dtype", "word"),
    [
        ("add", "i4", "AtomicIAdd"),
        ("max", "i4", "AtomicSMax"),
        ("min", "u4", "AtomicUMin"),
        ("multiply", "i4", "AtomicCompareExchange"),
        ("max", "f4", "AtomicCompareExchange"),
        ("add", "u1", "AtomicIAdd"),
        ("add", "i8", "AtomicIAdd"),
        ("multiply", "f8", "AtomicCompareExchange"),
    ],
)
def test_the_order_of_most_updates_does_not_matter(kind: str, dtype: str, word: str) -> None:
    specs = xt.spec(a=PLACES, dtype=dtype), SPECS[1], xt.spec(k=UPDATES, dtype=dtype)
    assert word in spirv(update(kind), *specs)
    # 64 bits need a feature of their own.
    assert (word in spirv(update(kind), *specs, device="vulkan,f64,i64")) == (dtype[1] == "4" or dtype == "u1")


def test_floats_in_the_order_of_the_indices() -> None:
    ours = "vulkan,f64,i64,atomic_f32,atomic_i64"
    for kind in ("add", "subtract", "multiply", "divide"):
        with xt.option(deterministic=True):
            text = spirv(update(kind), *SPECS, device=f"{ours},in_order")
            assert not re.search(r"spirv\.(EXT\.)?Atomic", text)
    assert "AtomicCompareExchange" in spirv(update("max"), *SPECS, device=f"{ours},in_order")
    assert "EXT.AtomicFAdd" in spirv(update("add"), *SPECS, device=ours)


def test_the_option_is_part_of_what_is_compiled() -> None:
    """The same function, called with the option and without, is the same on the CPU, bit for bit, with it."""
    x, v = (xt.array(RNG.normal(size=n).astype("f4"), d) for n, d in ((PLACES, "a"), (UPDATES, "k")))
    there = x.to("vulkan"), POSITIONS.to("vulkan"), v.to("vulkan")
    f = xt.jit(update("add"))
    want = f(x, POSITIONS, v).values
    for _ in range(2):
        np.testing.assert_allclose(f(*there).values, want, rtol=2e-4, atol=2e-4)
        with xt.option(deterministic=True):
            np.testing.assert_array_equal(f(*there).values, want)
            np.testing.assert_array_equal(there[0].at(a=there[1]).add(there[2]).values, want)
            _, pull = xt.vjp(lambda z: z.isel(a=POSITIONS.to("vulkan")), there[0])
            back = np.zeros(PLACES, "f4")
            for place, value in zip(POSITIONS.values, v.values, strict=True):
                back[place] += value
            np.testing.assert_array_equal(pull(there[2])[0].values, back)


@pytest.mark.parametrize("value", ["yes", None, 2])
def test_the_option_takes_a_bool(value: object) -> None:
    with pytest.raises(xt.ArgumentError, match=re.escape(f"xt.option: deterministic= is False or True, got {value!r}")):
        xt.option(deterministic=value)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("without", ["atomic_f32", "atomic_i64", "i64", "s8,s16,i8,i16,atomic_i64", "f64,i64,f16"])
def test_devices_that_lack_something(without: str) -> None:
    """As this file's programs, on a device that has less than the one that is here; nothing is said by the layers."""
    code = f"""
import numpy as np, xtensor as xt
from test_device_updates import *
without = {without.split(",")!r}
for dtype in DTYPES:
    if (dtype == "f8" and "f64" in without) or (dtype == "f2" and "f16" in without): continue
    for kind in KINDS:
        x = xt.array(whole(dtype, PLACES), dims="a").astype(dtype)
        v = xt.array(whole(dtype, UPDATES, seed=1), dims="k").astype(dtype)
        same(update(kind), x, POSITIONS, v)
print("good", end="")
"""
    env = {**os.environ, "XTENSOR_DEVICE_WITHOUT": without, "XTENSOR_VALIDATE": "1"}
    env["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), *sys.path, env.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "good", done.stdout + done.stderr
    assert "VUID" not in done.stderr, done.stderr


def test_the_cost_of_numbers_that_are_exchanged_as_words() -> None:
    x, v = xt.zeros(row=96, col=96), xt.ones(row=96, col=96)
    places = xt.array(np.arange(96)[::-1], "row")
    add = xt.jit(lambda x, v, i: x.at(row=i).add(v))
    costs = [add.cost(x, v, places, device=device) for device in ("vulkan", "cpu")]
    assert costs[0]["launches"] == 2
    assert costs[0]["flops"] == costs[1]["flops"] >= 96 * 96
