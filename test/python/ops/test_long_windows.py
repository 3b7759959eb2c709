"""Windows that are reduced in parts: every length, along every dim, against NumPy's windows and PyTorch's gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from xtensor.trace import build
from xtensor.trace.lift import as_tracer

SIZES = {"a": 3, "t": 150, "b": 5}
DTYPES = ("f4", "f8", "f2", "i4", "i8", "u1")


def _values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape).astype(dtype) if dtype[0] == "f" else rng.integers(-99, 99, shape).astype(dtype)


def _reduced(kind: str, x: np.ndarray, dims: tuple[str, ...], size: int, stride: int = 1, dilation: int = 1) -> Any:
    def windows(x: xt.Array) -> xt.Array:
        return build.reduce(kind, build.window(as_tracer(x), "t", "w", size, stride, dilation), ("w",))

    return xt.jit(windows)(xt.array(x, dims)).values


@examples(80)
@given(st.data())
def test_windows_of_any_length_stride_and_dilation(data: Any) -> None:
    dims = tuple(data.draw(st.permutations(list(SIZES))))
    dtype, kind = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from(("sum", "prod", "max", "min")))
    dilation, stride = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    size = data.draw(st.integers(12, (SIZES["t"] - 1) // dilation))
    x = _values(tuple(SIZES[d] for d in dims), dtype)
    x = np.exp(x / 50).astype(dtype) if kind == "prod" and dtype[0] == "f" else x
    axis, reach = dims.index("t"), (size - 1) * dilation + 1
    whole = sliding_window_view(x, reach, axis=axis)[..., ::dilation]
    whole = whole[(slice(None),) * axis + (slice(None, None, stride),)]
    exact = whole.astype("f8") if dtype[0] == "f" else whole
    want = getattr(np, kind)(exact, -1, **({} if dtype[0] == "f" or kind in ("max", "min") else {"dtype": dtype}))
    got = _reduced(kind, x, dims, size, stride, dilation)
    assert got.dtype == x.dtype
    if dtype[0] != "f" or kind in ("max", "min"):
        np.testing.assert_array_equal(got, want.astype(dtype))
        return
    # Each element is rounded in a few sums of a dozen elements at most, and the result once.
    scale = np.abs(exact).sum(-1).max() if kind == "sum" else np.abs(want).max() * size
    np.testing.assert_allclose(
        got.astype("f8"),
        want,
        rtol=np.finfo(dtype).eps,
        atol=30 * np.finfo("f4" if dtype == "f2" else dtype).eps * scale,
    )


@pytest.mark.parametrize("kind", ["sum", "mean", "var", "std", "max", "min"])
@pytest.mark.parametrize("least", [None, 1, 20])
@pytest.mark.parametrize("size", [13, 31, 64, 97, 145])
@pytest.mark.sampled(24)
def test_nothing_leaks_out_of_a_window(kind: str, least: int | None, size: int) -> None:
    x = _values((3, 150, 2), "f8") + 5
    x[0, 40, 0], x[1, 80, 0], x[2, 3, 1] = np.nan, np.inf, -np.inf
    got = getattr(xt.array(x, ("a", "t", "b")).rolling(t=size, min_periods=least), kind)().values
    padded = np.pad(x, ((0, 0), (size - 1, 0), (0, 0)), constant_values=np.nan)
    windows = sliding_window_view(padded, size, axis=1)
    with np.errstate(invalid="ignore"):
        if least is None:
            want = getattr(np, kind)(windows, axis=-1)
        else:
            there = ~np.isnan(windows)
            empty = {"max": -np.inf, "min": np.inf}.get(kind, 0.0)
            filled, number = np.where(there, windows, empty), there.sum(-1)
            if kind in ("sum", "max", "min"):
                want = getattr(np, kind)(filled, axis=-1)
            else:
                mean = filled.sum(-1) / np.maximum(number, 1)
                around = np.where(there, windows - mean[..., None], 0.0)
                variance = (around**2).sum(-1) / np.maximum(number, 1)
                want = {"mean": mean, "var": variance, "std": np.sqrt(variance)}[kind]
            want = np.where(number >= least, want, np.nan)
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def test_float32_keeps_its_digits() -> None:
    x = (_values((40_000,), "f4") + 1000).astype("f4")
    windows = sliding_window_view(x.astype("f8"), 1000)
    r = xt.array(x, "t").rolling(t=1000)
    np.testing.assert_allclose(r.mean().values[999:], windows.mean(-1), rtol=3e-7)
    np.testing.assert_allclose(r.var().values[999:], windows.var(-1), rtol=1e-6)


@pytest.mark.parametrize("trend", [0, 30])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("size", [2, 5, 12, 30, 365])
@pytest.mark.parametrize("compiled", [False, True])  # at once, a program for all lengths may serve short arrays
def test_a_variance_far_from_zero_keeps_its_digits(trend: float, missing: bool, size: int, compiled: bool) -> None:
    x = (_values((2, 1500), "f4") + 1e5 + trend * np.arange(1500)).astype("f4")
    x[:, 700:703] = np.nan
    x = x if missing else x[:, 703:]
    deviations = sliding_window_view(x.astype("f8") - 1e5, size, 1)

    def var(x: xt.Array) -> xt.Array:
        return x.rolling(t=size, min_periods=2 if missing else None).var()

    got = (xt.jit(var) if compiled else var)(xt.array(x, ("a", "t"))).values[:, size - 1 :]
    enough = np.isfinite(deviations).sum(-1) >= 2
    assert (np.isfinite(got) == enough).all()
    want = np.nanvar(deviations[enough], -1)
    np.testing.assert_allclose(got[enough], want, rtol=2e-6, atol=1e-12 * want.max())


def test_a_variance_of_two_dims_far_from_zero_keeps_its_digits() -> None:
    x = (_values((60, 70), "f4") + 1e5).astype("f4")
    want = sliding_window_view(x.astype("f8") - 1e5, (7, 20)).var((-1, -2))
    for least in (None, 3):
        got = xt.jit(lambda x, least=least: x.rolling(a=7, t=20, min_periods=least).var())(xt.array(x, ("a", "t")))
        np.testing.assert_allclose(got.values[6:, 19:], want, rtol=2e-6)


def test_blocks_far_from_zero_keep_their_digits() -> None:
    x = (_values((4000,), "f4") + 1e5).astype("f4")
    want = (x.astype("f8") - 1e5).reshape(-1, 50).var(-1)
    np.testing.assert_allclose(xt.array(x, "t").coarsen(t=50).var().values, want, rtol=2e-6)


@pytest.mark.parametrize("least", [None, 3])
@pytest.mark.parametrize("size", [5, 100])
def test_the_gradient_of_a_variance_far_from_zero_keeps_its_digits(least: int | None, size: int) -> None:
    x = (_values((400,), "f4") + 1e5).astype("f4")
    weights = _values((400 - size + 1,), "f4", seed=1)

    def loss(x: xt.Array) -> xt.Array:
        y = x.rolling(t=size, min_periods=least).var().isel(t=slice(size - 1, None))
        return xt.sum(y * xt.array(weights, "t"))

    windows = sliding_window_view(x.astype("f8") - 1e5, size)
    want = np.zeros(400)
    for i, around in enumerate((windows - windows.mean(-1, keepdims=True)) * weights[:, None] * 2 / size):
        want[i : i + size] += around
    np.testing.assert_allclose(xt.grad(loss)(xt.array(x, "t")).values, want, atol=3e-6 * np.abs(want).max())


def test_the_deviation_of_equal_elements_is_0() -> None:
    for value in (7.0, 0.1, 1e5 / 3):
        for size in (3, 11, 64):
            x = xt.full(value, t=400, dtype="f4")
            assert (xt.jit(lambda x, n=size: x.rolling(t=n).std())(x).values[size - 1 :] == 0).all()
            assert (xt.jit(lambda x, n=size: x.rolling(t=n, min_periods=2).std())(x).values[1:] == 0).all()


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "var", "std"])
@pytest.mark.parametrize("least", [None, 3])
def test_gradients_of_long_windows_are_pytorchs(kind: str, least: int | None) -> None:
    torch = pytest.importorskip("torch")
    x, size = np.round(_values((2, 90), "f8") * 4), 31  # with ties
    weights = _values((2, 90), "f8", seed=1)

    def loss(x: xt.Array) -> xt.Array:
        y = getattr(x.rolling(t=size, min_periods=least), kind)().isel(t=slice(size - 1, None))
        return xt.sum(y * xt.array(weights, ("a", "t")).isel(t=slice(size - 1, None)))

    got = xt.grad(loss)(xt.array(x, ("a", "t"))).values
    t = torch.tensor(x, requires_grad=True)
    windows = t.unfold(1, size, 1)
    reduced = {
        "max": lambda w: w.amax(-1),
        "min": lambda w: w.amin(-1),
        "var": lambda w: w.var(-1, correction=0),
        "std": lambda w: w.std(-1, correction=0),
    }
    y = reduced.get(kind, lambda w: getattr(torch, kind)(w, -1))(windows)
    (y * torch.tensor(weights[:, size - 1 :])).sum().backward()
    np.testing.assert_allclose(got, t.grad.numpy(), rtol=1e-10, atol=1e-12)


def test_pooling_with_large_windows() -> None:
    torch = pytest.importorskip("torch")
    x = _values((2, 3, 64, 48), "f4")
    array = xt.array(x, ("n", "c", "h", "w"))
    for size, stride in ((9, 1), (13, 1), (16, 2), (20, 4)):
        got = xt.nn.max_pool(array, {"h": size, "w": size}, stride=stride).values
        np.testing.assert_array_equal(got, torch.nn.functional.max_pool2d(torch.tensor(x), size, stride).numpy())
        got = xt.nn.avg_pool(array, {"h": size, "w": size}, stride=stride).values
        want = torch.nn.functional.avg_pool2d(torch.tensor(x).double(), size, stride).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
