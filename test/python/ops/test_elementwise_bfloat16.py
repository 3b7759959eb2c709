"""bfloat16: rounded as by bits, moved unchanged, compared, and mixed with other dtypes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xtensor as xt


@pytest.mark.parametrize("to", ["i1", "u2", "i2", "i4", "f2", "bfloat16", "f4"])
def test_masks_of_16_bits(to: str) -> None:
    """Comparisons of bfloat16 become integers of as many bits (docs/upstream.md)."""
    values = np.arange(-33.0, 34.0).astype("f4")
    values[::7] = np.nan
    x = xt.array(values, dims="i").astype("bfloat16")
    y = xt.array(np.full(67, 1, to if to != "bfloat16" else "f4"), dims="i").astype(to)
    wide = lambda array: np.asarray(array.astype("f8").values)  # noqa: E731
    for f in (lambda x, y: (x < 3).astype(to), lambda x, y: y * (x < 3)):
        np.testing.assert_array_equal(wide(xt.jit(f)(x, y)), values < 3)
    floored = xt.jit(lambda x, y: xt.minimum(x >= 3, y))(x, y)
    np.testing.assert_array_equal(wide(floored), values >= 3)


CPUINFO = Path("/proc/cpuinfo")


HAS_AVX512_BF16 = CPUINFO.exists() and "avx512_bf16" in CPUINFO.read_text().split()


@pytest.mark.cpu_only("NaN of devices has other bits")
def test_bfloat16_is_rounded_by_bits() -> None:
    """To nearest or else even, subnormal numbers too. By AVX512-BF16, NaN keeps its sign and upper bits."""
    upper = np.arange(1 << 16, dtype="u4") << 16
    bits = np.concatenate([upper | lower for lower in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)])
    bits = np.random.default_rng(0).permutation(bits)  # vectors with and without subnormal numbers
    bits = np.concatenate([bits, np.sort(bits)[:-7]])
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    nan = bits >> 16 | 0x40 if HAS_AVX512_BF16 else 0x7FC0
    want = np.where(is_nan, nan, (bits.astype("u8") + 0x7FFF + (bits >> 16 & 1)) >> 16)
    got = xt.jit(lambda x: x.astype("bfloat16"))(xt.array(bits.view("f4"), dims="i")).values
    np.testing.assert_array_equal(got.view("u2"), want.astype("u2"))


@pytest.mark.cpu_only("the instruction is one of x86-64")
@pytest.mark.skipif(not HAS_AVX512_BF16, reason="the processor has no AVX512-BF16")
def test_bfloat16_is_rounded_by_the_instruction() -> None:
    x = xt.zeros(i=1000, dtype="bfloat16")
    assert "vcvtneps2bf16" in xt.jit(lambda x: x + x).lower(x).as_text("asm")


@pytest.mark.parametrize("dynamic", [(), ("i", "j")])
def test_bfloat16_keeps_its_bits(dynamic: tuple[str, ...]) -> None:
    """Numbers that are only moved, subnormal ones among them (docs/upstream.md)."""
    bits = np.arange(1 << 16, dtype="u2")
    bits = bits[(bits & 0x7FFF) <= 0x7F80]  # not NaN
    x = np.stack([bits, np.random.default_rng(0).permutation(bits)], 1).view(xt.zeros(dtype="bfloat16").dtype)
    order = np.argsort(x.astype("f4"), axis=1, kind="stable")
    array = xt.array(x, ("i", "j"))
    sort = xt.jit(lambda x: xt.sort(x, dim="j"), dynamic_dims=dynamic)
    np.testing.assert_array_equal(sort(array).values.view("u2"), np.take_along_axis(x.view("u2"), order, 1))
    select = xt.jit(lambda x: xt.where(xt.isfinite(x), x, xt.roll(x, i=1)), dynamic_dims=dynamic)
    finite = np.isfinite(x.astype("f4"))
    want = np.where(finite, x.view("u2"), np.roll(x.view("u2"), 1, 0))
    np.testing.assert_array_equal(select(array).values.view("u2"), want)


def test_bfloat16() -> None:
    x = xt.array([1.0, 2.5], dims="a").astype("bfloat16")
    assert (x + 1.5).dtype == x.dtype
    assert (x + xt.array([1.0], dims="b").astype("f4")).dtype == np.dtype("f4")
    assert xt.exp(x).dtype == x.dtype
    assert (x * 2).astype("f4").values.tolist() == [2.0, 5.0]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_bfloat16_is_rounded_to(dtype: str) -> None:
    """Subnormal numbers, too, which AVX-512's instruction for it takes for 0."""
    upper = np.arange(2**16, dtype="u4") << 16
    bits = np.concatenate([upper | low for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)])
    exact = bits.view("f4")
    want = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    x = xt.array(exact.astype(dtype), dims="i")
    got = (x.astype("bfloat16").astype("f4").values.view("u4") >> 16)[~np.isnan(exact)]
    np.testing.assert_array_equal(got, want[~np.isnan(exact)])
    assert np.isnan(x.astype("bfloat16").astype("f4").values[np.isnan(exact)]).all()
    if dtype == "f4":
        tiny = np.float32(2.0**-130)
        half = xt.array(tiny).astype("bfloat16")
        assert (float(half), float(half + half), float(half * 0.5)) == (tiny, 2 * tiny, tiny / 2)
