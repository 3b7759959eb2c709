"""Products of float16 by units that multiply matrices (VK_KHR_cooperative_matrix), against NumPy in float64. Mesa
26.2's lavapipe has them; where no device has, programs are compiled for profiles and not run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor import _native
from xtensor.values import devices

HERE = bool(_native.device_count("vulkan"))
HAS = HERE and ",unit_m=" in devices.named("vulkan").profile
needs_units = pytest.mark.skipif(
    not HAS, reason="the Vulkan device has no units for matrices of float16 (VK_KHR_cooperative_matrix)"
)
# Of 16 x 16 x 16 as most GPUs have them, and of others.
COMMON = "vulkan,f64,i64,f16,i16,i8,s16,s8,shuffle,workgroup_bytes=49152,max_threads=1024"
RNG = np.random.default_rng(3)
# Factors are exact in float32, and so are their products: what is left is the sum, and one rounding to float16.
SUM, ROUNDING = 2e-6, 2**-11


def array(**sizes: int) -> Any:
    return xt.array(RNG.standard_normal(tuple(sizes.values())).astype("f2"), dims=tuple(sizes))


def wide(x: Any) -> Any:
    return x.values.astype("f8")


def by_units(f: Callable[..., Any], *args: Any) -> Any:
    """What the device gives, if it has its units do it."""
    compiled = xt.jit(f, device="vulkan")
    assert "CooperativeMatrixMulAdd" in compiled.lower(*args).as_text("spirv")
    return compiled(*args)


def close(got: Any, want: Any, size: Any, rounded: Any = None) -> None:
    """`size`: the sum of the magnitudes of what is added; `rounded`: what is rounded to float16, if not the result."""
    error = np.abs(got.astype("f8") - want)
    limit = SUM * (1 + size) + ROUNDING * np.abs(want if rounded is None else rounded)
    assert np.all(error <= limit), np.max(error / limit)


PRODUCTS: dict[str, tuple[dict[str, int], dict[str, int], str]] = {
    "whole tiles": ({"i": 128, "k": 128}, {"k": 128, "j": 128}, "ik,kj->ij"),
    "parts of tiles": ({"i": 70, "k": 37}, {"k": 37, "j": 93}, "ik,kj->ij"),
    "the left one across": ({"k": 48, "i": 72}, {"k": 48, "j": 64}, "ki,kj->ij"),
    "the right one across": ({"i": 72, "k": 44}, {"j": 68, "k": 44}, "ik,jk->ij"),
    "both across": ({"k": 101, "i": 33}, {"j": 67, "k": 101}, "ki,jk->ij"),
    "batches": ({"n": 3, "i": 40, "k": 24}, {"n": 3, "k": 24, "j": 50}, "nik,nkj->nij"),
    "batches inside": ({"i": 40, "n": 4, "k": 24}, {"k": 24, "n": 4, "j": 36}, "ink,knj->nij"),
    "several dims": ({"p": 2, "m": 3, "i": 20, "k": 30}, {"k": 30, "q": 5, "j": 10}, "pmik,kqj->pmiqj"),
    "a long sum": ({"i": 32, "k": 3000}, {"k": 3000, "j": 32}, "ik,kj->ij"),
    "many tiles": ({"i": 300, "k": 16}, {"k": 16, "j": 290}, "ik,kj->ij"),
}


@needs_units
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    left, right, spec = PRODUCTS[name]
    a, b = array(**left), array(**right)
    out = spec.partition("->")[2]
    got = by_units(lambda a, b: xt.dot(a, b, dim="k").transpose(*out), a, b)
    size = np.einsum(spec, abs(wide(a)), abs(wide(b)))
    close(got.values, np.einsum(spec, wide(a), wide(b)), size)


@needs_units
def test_results_of_half_precision_are_rounded_once() -> None:
    a, b = array(i=64, k=96), array(k=96, j=64)
    got = by_units(lambda a, b: a @ b, a, b)
    assert got.dtype == "f2"
    # float32 sums differ in the last bits, and by them in few of their roundings.
    exact = (wide(a) @ wide(b)).astype("f2")
    assert np.mean(got.values != exact) < 0.01
    # What float16 could not have summed: 2048 ones and then ones.
    ones = by_units(lambda a, b: a @ b, xt.ones(i=64, k=4100, dtype="f2"), xt.ones(k=4100, j=64, dtype="f2"))
    assert np.all(ones.values == 4100)


@needs_units
def test_what_follows_a_product_is_part_of_its_kernel() -> None:
    a, b, bias, other = array(i=70, k=48), array(k=48, j=84), array(j=84).astype("f4"), array(i=70, j=84)

    def layer(a: Any, b: Any, bias: Any, other: Any) -> Any:
        return xt.maximum((a @ b).astype("f4") + bias, 0.0) * other

    got = by_units(layer, a, b, bias, other)
    sums = wide(a) @ wide(b)
    exact = np.maximum(sums + wide(bias), 0) * wide(other)
    size = (abs(wide(a)) @ abs(wide(b)) + abs(wide(bias))) * abs(wide(other))
    close(got.values, exact, size, rounded=sums * wide(other))
    assert xt.jit(layer, device="vulkan").cost(a, b, bias, other)["launches"] == 1


@needs_units
def test_gradients() -> None:
    a, b, w = array(i=70, k=40), array(k=40, j=52), array(i=70, j=52)
    da, db = by_units(xt.grad(lambda a, b, w: ((a @ b).astype("f4") * w).sum(), wrt=("a", "b")), a, b, w)
    close(da.transpose("i", "k").values, wide(w) @ wide(b).T, abs(wide(w)) @ abs(wide(b)).T)
    close(db.transpose("k", "j").values, wide(a).T @ wide(w), abs(wide(a)).T @ abs(wide(w)))


@needs_units
def test_infinities_stay_in_their_rows() -> None:
    a, b = array(i=70, k=37), array(k=37, j=93)
    left = a.values.copy()
    left[5, 3], left[69, 36] = np.inf, np.nan
    got = by_units(lambda a, b: a @ b, xt.array(left, dims=("i", "k")), b).values
    assert np.all(np.isinf(got[5]))
    assert np.all(np.isnan(got[69]))
    rest = [i for i in range(70) if i not in (5, 69)]
    close(got[rest], left[rest].astype("f8") @ wide(b), abs(wide(a)[rest]) @ abs(wide(b)))


@needs_units
def test_sizes_that_the_call_brings() -> None:
    f = xt.jit(lambda a, b: a @ b, device="vulkan", dynamic_dims=("i", "k", "j"))
    for i, k, j in ((64, 64, 64), (70, 37, 93), (1, 5, 3), (40, 0, 40)):
        a, b = array(i=i, k=k), array(k=k, j=j)
        close(f(a, b).values, wide(a) @ wide(b), abs(wide(a)) @ abs(wide(b)))


@needs_units
def test_a_device_that_is_taken_not_to_have_them() -> None:
    program = """
import xtensor as xt
from xtensor.values import devices
assert "unit" not in devices.named("vulkan").profile
a, b = (xt.ones(**sizes, dtype="f2").to("vulkan") for sizes in ({"i": 64, "k": 64}, {"k": 64, "j": 64}))
f = xt.jit(lambda a, b: a @ b)
assert "CooperativeMatrix" not in f.lower(a, b).as_text("spirv")
assert (f(a, b).values == 64).all()
"""
    env = {**os.environ, "XTENSOR_DEVICE_WITHOUT": "unit_m"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_units
def test_products_of_float32_are_not_rounded() -> None:
    a, b = (xt.array(RNG.standard_normal((64, 64)).astype("f4"), dims=d) for d in (("i", "k"), ("k", "j")))
    f = xt.jit(lambda a, b: a @ b, device="vulkan")
    assert "CooperativeMatrix" not in f.lower(a, b).as_text("spirv")
    close(f(a, b).values, wide(a) @ wide(b), abs(wide(a)) @ abs(wide(b)), rounded=0)


@pytest.mark.parametrize(
    ("words", "units"),
    [
        ("subgroup=32,unit_m=16,unit_n=16,unit_k=16", True),
        ("amd,subgroup=64,unit_m=16,unit_n=16,unit_k=16", True),
        ("nvidia,subgroup=32,unit_m=16,unit_n=8,unit_k=16", True),
        ("intel,subgroup=16,unit_m=8,unit_n=16,unit_k=16", True),
        ("software,subgroup=8,unit_m=8,unit_n=8,unit_k=8", True),
        ("software,subgroup=16,unit_m=8,unit_n=8,unit_k=8", True),
        ("subgroup=32", False),
        # Threads could not share what these give.
        ("subgroup=32,unit_m=4,unit_n=4,unit_k=4", False),
        ("subgroup=1,unit_m=16,unit_n=16,unit_k=16", False),
    ],
)
def test_profiles(words: str, units: bool) -> None:
    f = xt.jit(lambda a, b: a @ b)
    sizes = xt.spec(i=300, k=128, dtype="f2"), xt.spec(k=128, j=300, dtype="f2")
    text = f.lower(*sizes, device=f"{COMMON},{words}").as_text("spirv")
    found = set(re.findall(r"coopmatrix<(\w+), Subgroup, (\w+)>", text))
    if not units:
        assert not found
        return
    m, n, k = re.findall(r"unit_.=(\d+)", words)
    assert found == {(f"{m}x{k}xf16", "MatrixA"), (f"{k}x{n}xf16", "MatrixB"), (f"{m}x{n}xf32", "MatrixAcc")}
    # Threads multiply factors of other types.
    for dtype in ("bfloat16", "f4"):
        sizes = xt.spec(i=300, k=128, dtype=dtype), xt.spec(k=128, j=300, dtype=dtype)
        assert "coopmatrix" not in f.lower(*sizes, device=f"{COMMON},{words}").as_text("spirv")
