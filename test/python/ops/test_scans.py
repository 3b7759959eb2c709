"""Running combinations against PyTorch (values and gradients), xarray and NumPy (values), and the numbers of the rules.

Finite differences in both modes and to second order run over every case of derivative_cases.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import examples, named, ours, same
from hypothesis import given
from hypothesis import strategies as st

DIMS = ("a", "b", "c")
SHAPE = (5, 33, 18)
OPS = ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
FORMS = list(itertools.product((False, True), repeat=2))
IDENTITY = {"cumsum": 0.0, "cumprod": 1.0, "cummax": -np.inf, "cummin": np.inf, "cumlogsumexp": -np.inf}


def inputs(name: str, contents: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(len(name) + len(contents))
    x = rng.normal(size=shape)
    if contents == "ties":
        x = np.round(2 * x) / 2
    if contents == "nan":
        x = np.where(rng.random(shape) < 0.05, np.nan, x)
    if contents == "zeros":
        x = np.where(rng.random(shape) < 0.1, 0.0, x)
    if name == "cumprod":  # products of many stay in range
        x = np.where((x == 0) | np.isnan(x), x, np.sign(x) * (0.9 + 0.2 * np.abs(x) / (1 + np.abs(x))))
    return x.astype(dtype)


def torch_scan(name: str, x: Any, axis: int, reverse: bool, exclusive: bool) -> Any:
    import torch

    fn: Callable[..., Any] = {
        "cumsum": torch.cumsum,
        "cumprod": torch.cumprod,
        "cummax": lambda v, d: torch.cummax(v, d).values,
        "cummin": lambda v, d: torch.cummin(v, d).values,
        "cumlogsumexp": torch.logcumsumexp,
    }[name]
    if reverse:
        x = x.flip(axis)
    y = fn(x, axis)
    if exclusive and x.shape[axis]:
        first = torch.full_like(x.narrow(axis, 0, 1), IDENTITY[name])
        y = torch.cat([first, y.narrow(axis, 0, x.shape[axis] - 1)], axis)
    return y.flip(axis) if reverse else y


def check_against_torch(
    name: str, v: np.ndarray, dims: tuple[str, ...], dim: str, reverse: bool, exclusive: bool
) -> None:
    torch = pytest.importorskip("torch")
    weights = np.random.default_rng(1).normal(size=v.shape).astype(v.dtype)
    leaf = torch.from_numpy(v.copy()).requires_grad_()
    expected = torch_scan(name, leaf, dims.index(dim), reverse, exclusive)
    (gradient,) = torch.autograd.grad(expected, leaf, torch.from_numpy(weights), allow_unused=True)
    y, back = xt.vjp(lambda x: getattr(xt, name)(x, dim, reverse=reverse, exclusive=exclusive), xt.array(v, dims))
    (ours,) = back(xt.array(weights, dims))
    rtol = 2e-4 if v.dtype == np.float32 else 1e-11
    assert y.dtype == ours.dtype == v.dtype
    np.testing.assert_allclose(y.values, expected.detach().numpy(), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours.values, gradient.numpy(), rtol=rtol, atol=10 * rtol)


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("reverse", "exclusive"), FORMS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("contents", ["distinct", "ties", "zeros"])
@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients_are_pytorchs(name: str, contents: str, dim: str, reverse: bool, exclusive: bool) -> None:
    check_against_torch(name, inputs(name, contents, SHAPE, "f8"), DIMS, dim, reverse, exclusive)


@pytest.mark.parametrize(("reverse", "exclusive"), FORMS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ["cumsum", "cummax", "cummin"])
def test_nan_stays_as_in_pytorch(name: str, dim: str, reverse: bool, exclusive: bool) -> None:
    check_against_torch(name, inputs(name, "nan", SHAPE, "f8"), DIMS, dim, reverse, exclusive)


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("reverse", "exclusive"), FORMS)
@pytest.mark.parametrize("shape", [(0,), (1,), (2,), (7, 0), (0, 3), (1, 3), (16, 2), (17, 64), (100, 1)])
@pytest.mark.parametrize("name", OPS)
def test_sizes_that_vectors_do_not_divide(name: str, shape: tuple[int, ...], reverse: bool, exclusive: bool) -> None:
    v = inputs(name, "ties", shape, "f4")
    for dim in DIMS[: len(shape)]:
        if v.size:
            check_against_torch(name, v, DIMS[: len(shape)], dim, reverse, exclusive)
        else:
            y = getattr(xt, name)(xt.array(v, DIMS[: len(shape)]), dim, reverse=reverse, exclusive=exclusive)
            assert y.shape == shape


@pytest.mark.parametrize("name", OPS)
def test_larger_than_one_thread(name: str) -> None:
    v = inputs(name, "distinct", (300, 700), "f4")
    for dim in ("a", "b"):
        check_against_torch(name, v, ("a", "b"), dim, False, False)


# ---- numbers ---------------------------------------------------------------------------------------------------------

X, W = [3.0, 3, 1, 5, 5], [1.0, 10, 100, 1000, 10000]
NUMBERS = {
    ("cummax", False, False): [1, 110, 0, 1000, 10000],
    ("cummax", False, True): [10, 1100, 0, 10000, 0],
    ("cummax", True, False): [0, 0, 0, 1111, 10000],
    ("cummax", True, True): [0, 0, 0, 111, 1000],
    ("cummin", False, False): [1, 10, 11100, 0, 0],
    ("cummin", False, True): [10, 100, 11000, 0, 0],
    ("cummin", True, False): [0, 0, 111, 1000, 10000],
    ("cummin", True, True): [0, 0, 11, 100, 1000],
}


@pytest.mark.parametrize(("form", "expected"), NUMBERS.items())
def test_ties_go_to_the_latest_in_scan_order(form: tuple[str, bool, bool], expected: list[float]) -> None:
    name, reverse, exclusive = form
    x = xt.array(X, "t")
    _, back = xt.vjp(lambda x: getattr(xt, name)(x, "t", reverse=reverse, exclusive=exclusive), x)
    (gradient,) = back(xt.array(W, "t"))
    np.testing.assert_array_equal(gradient.values, np.array(expected, float))
    # Forward mode has the same Jacobian, row by row.
    for i in range(5):
        direction = xt.array(np.eye(5)[i], "t")
        _, t = xt.jvp(lambda x: getattr(xt, name)(x, "t", reverse=reverse, exclusive=exclusive), (x,), (direction,))
        assert np.dot(t.values, W) == expected[i]


def test_cumprod_is_exact_at_zeros() -> None:
    def gradient(v: list[float], **form: bool) -> list[float]:
        return xt.grad(lambda x: xt.sum(xt.cumprod(x, "t", **form)))(xt.array(v, "t")).values.tolist()

    assert gradient([2.0, 0, 2, 2, 3]) == [1, 38, 0, 0, 0]
    assert gradient([2.0, 0, 2, 0, 3]) == [1, 6, 0, 0, 0]
    assert gradient([2.0, 1, 2, 2, 3], exclusive=True) == [8, 14, 6, 4, 0]


def test_cumprod_is_exact_at_zeros_to_second_order() -> None:
    x, v = np.array([2.0, 0, 2, 0, 3]), np.array([1.0, -1, 2, 0.5, 1])
    gradient = xt.grad(lambda x: xt.sum(xt.cumprod(x, "t")))
    _, got = xt.jvp(gradient, (xt.array(x, "t"),), (xt.array(v, "t"),))

    def exact(x: np.ndarray) -> np.ndarray:  # a polynomial: differences of it along integers are exact enough
        return np.array([sum(np.prod(np.delete(x[: t + 1], i)) for t in range(i, 5)) for i in range(5)])

    np.testing.assert_allclose(got.values, (exact(x + 1e-4 * v) - exact(x - 1e-4 * v)) / 2e-4, atol=1e-5)


def test_cumlogsumexp_never_overflows() -> None:
    x = xt.array([-np.inf, -np.inf, 1000.0, 1000.0, -1000.0, -np.inf], "t")
    y = xt.cumlogsumexp(x, "t")
    np.testing.assert_allclose(y.values, [-np.inf, -np.inf, 1000, *[1000 + np.log(2)] * 3])
    gradient = xt.grad(lambda x: xt.sum(xt.cumlogsumexp(x, "t").isel(t=slice(2, None))))(x)
    np.testing.assert_allclose(gradient.values, [0, 0, 2.5, 1.5, 0, 0], atol=1e-12)
    nothing = xt.array([-np.inf, -np.inf], "t")
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(xt.cumlogsumexp(x, "t")))(nothing).values, [1, 0])
    for v in ([np.inf, 1.0, np.nan], [1.0, np.nan, 5], [3.0, np.inf, 1]):
        with np.errstate(invalid="ignore"):
            expected = np.logaddexp.accumulate(np.array(v))
        np.testing.assert_array_equal(xt.cumlogsumexp(xt.array(v, "t"), "t").values, expected)


@pytest.mark.parametrize(("reverse", "exclusive"), FORMS)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("v", [[-np.inf], [-np.inf, 1.0, 2.0], [-np.inf, -np.inf, 1.0], [np.inf, 1.0], [1.0, -np.inf]])
def test_the_log_sum_of_one_element_is_that_element(
    v: list[float], dynamic: bool, reverse: bool, exclusive: bool
) -> None:
    """Its derivative is 1 at infinities, too, and the second is 0."""
    ordered = v[::-1] if reverse else v
    x = xt.array(ordered, "t")

    def first(x: Any) -> Any:
        y = xt.cumlogsumexp(x, "t", reverse=reverse, exclusive=exclusive)
        number = xt.arange(x.sizes["t"], dim="t")
        at = x.sizes["t"] - 1 - exclusive if reverse else int(exclusive)
        return xt.where(number == at, y, 0.0).sum()

    def run(f: Any) -> Any:
        return xt.jit(f, dynamic_dims=("t",))(x).values if dynamic else f(x).values

    expected = np.zeros(len(v))
    if len(v) > exclusive:
        expected[-1 if reverse else 0] = 1
    np.testing.assert_array_equal(run(xt.grad(first)), expected)
    np.testing.assert_array_equal(xt.hessian(first)(x).values, np.zeros((len(v), len(v))))
    np.testing.assert_array_equal(xt.jvp(first, (x,), (xt.ones_like(x),))[1].values, expected.sum())


def test_an_infinite_past_is_forgotten() -> None:
    """The owner that follows cuts off what came before, cotangents that overflow included."""
    x, w = xt.array([1.0, 2.0, 3.0], "t"), xt.array([np.inf, 1.0, 1.0], "t")
    _, back = xt.vjp(lambda x: xt.cummax(x, "t"), x)
    np.testing.assert_array_equal(back(w)[0].values, [np.inf, 1, 1])


# ---- values ----------------------------------------------------------------------------------------------------------


@examples(60)
@given(x=named(("?", "i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8"), least=1), data=st.data())
def test_sums_and_products_are_xarrays(x: xr.DataArray, data: Any) -> None:
    dim = data.draw(st.sampled_from([None, ..., *x.dims, list(x.dims)]))
    for name in ("cumsum", "cumprod"):
        if name == "cumprod" and x.dtype.kind == "f":
            x = x.clip(-1, 1)
        axes = x.dims if dim is None or dim is ... else [dim] if isinstance(dim, str) else dim
        want = x
        for d in axes:
            want = getattr(want, name)(d)
        if not axes:
            continue
        got = getattr(ours(x), name)(dim)
        same(got, xr.DataArray(want.values, dims=want.dims), rtol=2e-5 if x.dtype == "f4" else None)


@examples(60)
@given(x=named(("?", "i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "f8"), least=1), data=st.data())
def test_extrema_are_numpys(x: xr.DataArray, data: Any) -> None:
    dim = data.draw(st.sampled_from(x.dims))
    axis = x.dims.index(dim)
    for name, fn in (("cummax", np.maximum), ("cummin", np.minimum)):
        want = fn.accumulate(x.values, axis)
        assert want.dtype == x.dtype
        same(getattr(ours(x), name)(dim), xr.DataArray(want, dims=x.dims), rtol=0)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u4", "u8"])
def test_integers_start_from_their_limits(dtype: str) -> None:
    x = xt.array(np.array([3, 1, 2], dtype), "t")
    info = np.iinfo(dtype)
    assert xt.cummax(x, "t", exclusive=True).values.tolist() == [info.min, 3, 3]
    assert xt.cummin(x, "t", exclusive=True).values.tolist() == [info.max, 3, 1]
    assert xt.cumsum(x, "t", exclusive=True, reverse=True).values.tolist() == [3, 2, 0]
    assert xt.cumprod(x, "t", exclusive=True).values.tolist() == [1, 3, 3]


def test_bools_count_and_stay() -> None:
    x = xt.array([False, True, False], "t")
    assert xt.cumsum(x, "t").values.tolist() == [0, 1, 1]
    assert xt.cumsum(x, "t").dtype == np.int64
    assert xt.cummax(x, "t").values.tolist() == [False, True, True]
    assert xt.cummin(x, "t", exclusive=True).values.tolist() == [True, False, False]


@pytest.mark.parametrize("dtype", [np.float16, xt.bfloat16])
def test_half_precision_adds_up_in_single(dtype: Any) -> None:
    x = xt.full({"t": 4096}, 1.0, dtype=dtype)
    y = xt.cumsum(x, "t")
    assert y.dtype == dtype
    assert float(y.values[-1]) == 4096


def test_nan_is_skipped_on_request() -> None:
    x = xr.DataArray([1.0, np.nan, 2.0], dims="t")
    same(xt.cumsum(x, "t", skipna=True), x.cumsum("t", skipna=True))
    same(xt.cumprod(x, "t", skipna=True), x.cumprod("t", skipna=True))
    same(xt.cumsum(x, "t"), x.cumsum("t", skipna=False))


def test_a_dataarray_comes_out_as_from_xarray() -> None:
    x = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("a", "t"), coords={"a": [5, 6], "t": [1, 2, 3]}, name="n")
    got, want = xt.cumsum(x, "t"), x.cumsum("t")
    assert isinstance(got, xr.DataArray)
    xr.testing.assert_equal(got, want)
    assert got.name == want.name


def test_several_dims_one_after_another() -> None:
    x = xt.array(np.arange(6.0).reshape(2, 3), ("a", "b"))
    both = np.cumsum(np.cumsum(x.values, 0), 1)
    for dim in (None, ..., ("a", "b"), ["b", "a"]):
        np.testing.assert_array_equal(x.cumsum(dim).values, both)
    np.testing.assert_array_equal(x.cumsum(()).values, x.values)


@pytest.mark.parametrize("name", OPS)
def test_dynamic_dims(name: str) -> None:
    def f(x: Any) -> Any:
        y = getattr(xt, name)(x, "t", reverse=True)
        return y + getattr(xt, name)(xt.sin(x), "b")

    run = xt.jit(f, dynamic_dims=("t", "b"))
    slope = xt.jit(xt.grad(lambda x: xt.sum(xt.sin(f(x)))), dynamic_dims=("t", "b"))
    for shape in ((3, 5), (40, 2), (1, 1), (17, 130), (0, 4)):
        x = xt.array(inputs(name, "distinct", shape, "f8"), ("t", "b"))
        # Devices add in another order where sizes are not known: what cancels differs in the last bits.
        atol = 0 if x.device == "cpu" else 1e-14
        np.testing.assert_allclose(run(x).values, f(x).values, rtol=1e-12, atol=atol)
        expected = xt.grad(lambda x: xt.sum(xt.sin(f(x))))(x)
        np.testing.assert_allclose(slope(x).values, expected.values, rtol=1e-11, atol=1e-12)


def test_fused_with_what_surrounds_it() -> None:
    """Producers, consumers, two scans in one direction and two in both, over rows that share a loop."""
    v = np.random.default_rng(0).normal(size=(64, 100))
    x = xt.array(v, ("a", "b"))

    def f(x: Any) -> Any:
        up, down = xt.cumsum(xt.sin(x), "b"), xt.cumsum(x, "b", reverse=True)
        return (up * 2 + xt.cummax(up, "b")) - down / (1 + xt.sum(down * down, "b"))

    up, down = np.cumsum(np.sin(v), 1), np.cumsum(v[:, ::-1], 1)[:, ::-1]
    expected = up * 2 + np.maximum.accumulate(up, 1) - down / (1 + np.sum(down * down, 1, keepdims=True))
    np.testing.assert_allclose(xt.jit(f)(x).values, expected, rtol=1e-10)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 2, 9, 10, 16, 17, 18, 33, 40])
def test_what_reads_a_running_value(size: int, dtype: str) -> None:
    """In one loop with it, to the last lane of the last vector: signs, choices, rows and columns."""
    values = np.random.default_rng(size).integers(-9, 9, (2, size)).astype(dtype)
    readers: dict[str, Callable[[Any, Any], Any]] = {
        "negative": lambda y, _: -y,
        "either": lambda y, x: xt.where(x > 1, y, -y),
        "product": lambda y, x: y * x + xt.sum(x, "t"),
        "turned": lambda y, x: (y * x).transpose("t", "r"),
    }
    for reverse, exclusive in FORMS:
        flipped = values[:, ::-1] if reverse else values
        sums = np.cumsum(flipped, 1) - (flipped if exclusive else 0)
        y = sums[:, ::-1] if reverse else sums
        want = {
            "negative": -y,
            "either": np.where(values > 1, y, -y),
            "product": y * values + values.sum(1, keepdims=True),
            "turned": y * values,
        }
        for x in (xt.array(values, ("r", "t")), xt.array(values.T.copy(), ("t", "r"))):
            for name, read in readers.items():
                f = lambda x, r=read: r(xt.cumsum(x, "t", reverse=reverse, exclusive=exclusive), x)  # noqa: B023, E731
                np.testing.assert_array_equal(xt.jit(f)(x).transpose("r", "t").values, want[name], err_msg=name)
            row = x.isel(r=0)
            one = xt.jit(lambda x: readers["either"](xt.cumsum(x, reverse=reverse, exclusive=exclusive), x))  # noqa: B023
            np.testing.assert_array_equal(one(row).values, want["either"][0])


def test_methods_are_the_functions() -> None:
    x = xt.array([[1.0, 2], [3, 4]], ("a", "b"))
    for name in OPS:
        for reverse, exclusive in FORMS:
            method = getattr(x, name)("a", reverse=reverse, exclusive=exclusive)
            np.testing.assert_array_equal(
                method.values, getattr(xt, name)(x, "a", reverse=reverse, exclusive=exclusive).values
            )


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPS)
def test_an_unknown_dim_lists_those_there_are(name: str) -> None:
    with pytest.raises(xt.DimensionError, match=rf"{name}.*'z'.*\('a', 'b'\)|{name}.*'z'.*a.*b"):
        getattr(xt, name)(xt.ones(a=2, b=3), "z")


def test_gradients_of_integers_are_refused() -> None:
    with pytest.raises(xt.Error, match="int64"):
        xt.grad(lambda x: xt.sum(xt.cumsum(x, "t")))(xt.array([1, 2, 3], "t"))
