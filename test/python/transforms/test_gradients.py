"""Derivatives where the numbers are a decision: ties, singular points, branches not taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import xtensor as xt

NAN, INF = math.nan, math.inf


def a(*values: float) -> xt.Array:
    return xt.array(np.asarray(values, np.float64), "a")


def gradient(f: Callable[..., Any], *args: Any, weights: Sequence[float] | None = None) -> np.ndarray:
    """The gradient by the first argument of sum(w * f), w = 1 by default; forward mode must agree with it."""

    def loss(*given: Any) -> Any:
        y = f(*given)
        return xt.sum(y if weights is None else y * xt.array(np.asarray(weights, np.float64), y.dims))

    g = np.asarray(xt.grad(loss)(*args).values)
    first = args[0]
    for place in np.ndindex(first.shape):
        unit = np.zeros(first.shape)
        unit[place] = 1
        along = [xt.array(unit, first.dims), *[None] * (len(args) - 1)]
        _, moved = xt.jvp(loss, args, tuple(along))
        np.testing.assert_allclose(moved.item(), g[place], rtol=1e-14, atol=1e-300, err_msg="forward mode")
    return g


def hessian(f: Callable[[Any], Any], x: xt.Array) -> np.ndarray:
    """The second derivatives of a scalar function of an array with dim a, by each order of modes; they must agree."""
    rows = []
    for unit in np.eye(x.shape[0]):
        v = xt.array(unit, x.dims)
        forward = xt.jvp(xt.grad(f), (x,), (v,))[1].values
        reverse = xt.grad(lambda y, v=v: xt.sum(xt.grad(f)(y) * v))(x).values
        mixed = xt.grad(lambda y, v=v: xt.jvp(f, (y,), (v,))[1])(x).values
        np.testing.assert_allclose(reverse, forward, rtol=1e-13, atol=1e-13, err_msg="reverse over reverse")
        np.testing.assert_allclose(mixed, forward, rtol=1e-13, atol=1e-13, err_msg="reverse over forward")
        rows.append(forward)
    return np.stack(rows)


# -- ties ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "want"),
    [
        (xt.max, (3, 5, 5, 1), (0, 0.5, 0.5, 0)),
        (xt.max, (2, 2, 2, 2), (0.25, 0.25, 0.25, 0.25)),
        (xt.max, (-INF, -INF), (0.5, 0.5)),
        (xt.max, (INF, 1, INF), (0.5, 0, 0.5)),
        (xt.min, (3, 1, 5, 1), (0, 0.5, 0, 0.5)),
        (xt.min, (0.0, -0.0), (0.5, 0.5)),
        (lambda x: xt.norm(x, ord=INF), (3, -3, 1), (0.5, -0.5, 0)),
        (lambda x: xt.clip(x, -1, 2), (-1, 0, 2, 3, -4), (0.5, 1, 0.5, 0, 0)),
        (lambda x: xt.clip(x, min=0), (-1, 0, 1), (0, 0.5, 1)),
        (lambda x: xt.clip(x, max=0), (-1, 0, 1), (1, 0.5, 0)),
        (lambda x: xt.maximum(x, 1.0), (0, 1, 2), (0, 0.5, 1)),
        (lambda x: xt.minimum(x, 1.0), (0, 1, 2), (1, 0.5, 0)),
        (lambda x: xt.maximum(x, x), (3, -1), (1, 1)),
        (lambda x: xt.relu(x), (-1, 0, 2), (0, 0, 1)),
    ],
)
def test_ties_split_evenly(f: Callable[..., Any], x: tuple[float, ...], want: tuple[float, ...]) -> None:
    np.testing.assert_array_equal(gradient(f, a(*x)), want)


def test_max_over_two_dims_splits_among_all_ties() -> None:
    x = xt.array([[1.0, 4.0], [4.0, 4.0]], ("a", "b"))
    np.testing.assert_allclose(gradient(xt.max, x), [[0, 1 / 3], [1 / 3, 1 / 3]], rtol=1e-15)
    rows = gradient(lambda x: xt.max(x, "b"), x, weights=[10, 1000])
    np.testing.assert_array_equal(rows, [[0, 10], [500, 500]])


def test_maximum_shares_between_its_operands() -> None:
    x, y = a(1, 2, 3), a(2, 2, 2)
    weights = xt.array([1.0, 10.0, 100.0], "a")
    gx, gy = xt.grad(lambda x, y: xt.sum(weights * xt.maximum(x, y)), wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(gx.values, [0, 5, 100])
    np.testing.assert_array_equal(gy.values, [1, 5, 0])
    gx, gy = xt.grad(lambda x, y: xt.sum(weights * xt.minimum(x, y)), wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(gx.values, [1, 5, 0])
    np.testing.assert_array_equal(gy.values, [0, 5, 100])


def test_second_derivative_through_ties() -> None:
    # The shares are constants: of max(x)**2 the second derivative is twice their outer product.
    got = hessian(lambda x: xt.max(x) ** 2, a(1, 3, 3))
    np.testing.assert_array_equal(got, [[0, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]])


# -- products with zeros ------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "want"),
    [
        ((2, 3, 4), (12, 8, 6)),
        ((2, 0, 4), (0, 8, 0)),
        ((0, 3, 0), (0, 0, 0)),
        ((0, 0, 0), (0, 0, 0)),
        ((0,), (1,)),
        ((-2, 0, 3, 5), (0, -30, 0, 0)),
    ],
)
def test_prod_is_exact_with_zeros(x: tuple[float, ...], want: tuple[float, ...]) -> None:
    np.testing.assert_array_equal(gradient(xt.prod, a(*x)), want)


def test_prod_is_exact_with_zeros_to_second_order() -> None:
    for x in ((2.0, 3.0, 4.0), (2.0, 0.0, 4.0), (0.0, 3.0, 0.0), (0.0, 0.0, 0.0)):
        others = [[math.prod(v for k, v in enumerate(x) if k not in (i, j)) for j in range(3)] for i in range(3)]
        want = np.where(np.eye(3), 0, others)
        np.testing.assert_array_equal(hessian(xt.prod, a(*x)), want)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 9, 64, 256, 300, 1024])
@pytest.mark.parametrize("zeros", [(), (1,), (1, 7)])
def test_prod_of_many_with_zeros(size: int, zeros: tuple[int, ...]) -> None:
    x = 2.0 ** np.random.default_rng(0).integers(-1, 2, size)  # whose products are exact
    x[[k for k in zeros if k < size]] = 0
    want = [np.prod(np.delete(x, k)) for k in range(size)]
    np.testing.assert_array_equal(gradient(xt.prod, a(*x)), want)
    matrix = xt.array(np.stack([x, x[::-1]]), ("r", "i"))
    rows = xt.grad(lambda m: xt.sum(xt.prod(m, "i")))(matrix)
    np.testing.assert_array_equal(rows.values[0], want)
    columns = xt.grad(lambda m: xt.sum(xt.prod(m, "i")))(matrix.transpose("i", "r"))
    np.testing.assert_array_equal(columns.transpose("r", "i").values, rows.values)
    np.testing.assert_array_equal(xt.jvp(lambda x: xt.prod(x), (a(*x),), (a(*np.ones(size)),))[1].values, np.sum(want))


@pytest.mark.parametrize("order", ["ir", "ri"])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
def test_prod_of_few_with_zeros_to_second_order(size: int, order: str) -> None:
    x = 2.0 ** np.random.default_rng(1).integers(-1, 2, (size, 3))  # whose products are exact
    x[0, 1] = x[0, 2] = x[1, 2] = 0
    tangent = np.arange(1.0, 1 + x.size).reshape(x.shape)
    want = np.zeros_like(x)
    for i in range(size):
        for j in set(range(size)) - {i}:
            want[i] += np.prod(np.delete(x, [i, j], axis=0), axis=0) * tangent[j]
    primal, t = (xt.array(v, ("i", "r")).transpose(*order) for v in (x, tangent))
    got = xt.hvp(lambda x: xt.sum(xt.prod(x, "i")), (primal,), (t,))
    np.testing.assert_array_equal(got.transpose("i", "r").values, want)


@pytest.mark.parametrize("size", [64, 300, 1024, 4096])
def test_prod_of_computed_rows(size: int) -> None:
    """What is multiplied is computed, and so is what becomes of the gradient: against PyTorch's."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(size)
    values = 1 + 0.01 * rng.standard_normal((3, size))
    values[1, 5] = values[2, 7] = values[2, size - 1] = 0.0
    weights = rng.standard_normal((3, size))

    def ours(x: xt.Array, w: xt.Array) -> xt.Array:
        return xt.sum(xt.tanh(xt.prod(x * xt.cos(x * w), "i"))) + xt.sum(xt.cos(x * w) * w)

    x, w = (torch.tensor(v, requires_grad=True) for v in (values, weights))
    (torch.tanh((x * torch.cos(x * w)).prod(1)).sum() + (torch.cos(x * w) * w).sum()).backward()
    both = xt.array(values, ("r", "i")), xt.array(weights, ("r", "i"))
    for run in (xt.grad(ours, wrt=(0, 1)), xt.jit(xt.grad(ours, wrt=(0, 1)))):
        for got, want in zip(run(*both), (x.grad, w.grad), strict=True):
            np.testing.assert_allclose(got.values, want.numpy(), rtol=1e-11, atol=1e-12)
    turned = xt.grad(lambda x: ours(x.transpose("r", "i"), both[1]))(both[0].transpose("i", "r"))
    np.testing.assert_allclose(turned.transpose("r", "i").values, x.grad.numpy(), rtol=1e-11, atol=1e-12)


def test_prod_of_long_columns_with_zeros() -> None:
    x = 2.0 ** np.random.default_rng(0).integers(-1, 2, (512, 128))  # whose products are exact
    x[7, :40] = x[300, 20:60] = 0
    want = np.array([np.prod(np.delete(x, k, axis=0), axis=0) for k in range(512)])
    got = xt.grad(lambda x: xt.sum(xt.prod(x, "i")))(xt.array(x, ("i", "r")))
    np.testing.assert_array_equal(got.values, want)


def test_prod_over_several_dims_with_zeros() -> None:
    x = xt.array([[2.0, 0.0], [3.0, 5.0]], ("a", "b"))
    np.testing.assert_array_equal(gradient(xt.prod, x), [[0, 30], [0, 0]])
    np.testing.assert_array_equal(gradient(lambda x: xt.prod(x, "b"), x, weights=[1, 10]), [[0, 2], [50, 30]])


# -- extrema of so many that they are found in parts -----------------------------


@pytest.mark.parametrize("has_nan", [False, True], ids=["numbers", "NaN and infinities"])
@pytest.mark.parametrize(
    ("sizes", "dims"),
    [
        ((1 << 16,), (0,)),
        ((512, 256), (0,)),
        ((512, 256), (1,)),
        ((512, 256), (0, 1)),
        ((4, 512, 256), (1,)),
        ((4, 512, 256), (0, 2)),
        ((300, 7, 130), (0,)),
        ((300, 7, 130), (0, 1)),
    ],
)
def test_ties_in_all_parts_share_evenly(sizes: tuple[int, ...], dims: tuple[int, ...], has_nan: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 30, sizes).astype("f8")
    if has_nan:
        x.flat[:: x.size // 7] = np.nan
        x.flat[1 :: x.size // 9], x.flat[2 :: x.size // 9] = np.inf, -np.inf  # beside NaN no owners
    names = "abc"[: len(sizes)]
    over = tuple(names[d] for d in dims)
    for f, least in ((xt.max, np.max), (xt.min, np.min)):
        y = least(x, axis=dims, keepdims=True)
        own = (x == y) | np.isnan(x)
        w = rng.standard_normal(y.shape)
        want = w * own / own.sum(dims, keepdims=True)
        weights = xt.array(w.squeeze(dims), tuple(n for n in names if n not in over))
        loss = lambda x, f=f, w=weights: xt.sum(f(x * 1.0, over) * w)  # noqa: E731
        value, got = xt.value_and_grad(loss)(xt.array(x, tuple(names)))
        np.testing.assert_allclose(got.values, want, rtol=1e-14)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(float(value), np.sum(y * w), rtol=1e-12)


# -- singular points ----------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "want"),
    [
        (xt.abs, (-2, 0, -0.0, 3), (-1, 0, 0, 1)),
        (xt.sign, (-2, 0, 3), (0, 0, 0)),
        (xt.norm, (0, 0, 0), (0, 0, 0)),
        (xt.norm, (3, 0, 4), (0.6, 0, 0.8)),
        (lambda x: xt.norm(x, ord=1), (0, -2), (0, -1)),
        (lambda x: xt.norm(x, ord=3), (0, 0), (0, 0)),
        (lambda x: xt.norm(x, ord=0.5), (0, 0), (0, 0)),
        (lambda x: xt.norm(x, ord=INF), (0, 0), (0, 0)),
        (xt.std, (5, 5, 5), (0, 0, 0)),
        (lambda x: xt.std(x, ddof=1), (2, 2), (0, 0)),
        (xt.var, (5, 5, 5), (0, 0, 0)),
        (lambda x: xt.hypot(x, 0.0), (0, 2), (0, 1)),
        (lambda x: x**2, (0, 3), (0, 6)),
        (lambda x: xt.pow(x, 2.0), (0, 3), (0, 6)),
        (lambda x: xt.pow(x, 1.0), (0, 3), (1, 1)),
        (lambda x: xt.pow(x, 0.0), (0, 3), (0, 0)),
        (lambda x: xt.pow(0.0, x), (1, 2), (0, 0)),
        (xt.sigmoid, (0, -1000, 1000), (0.25, 0, 0)),
        (xt.softplus, (0, -1000, 1000), (0.5, 0, 1)),
        (xt.log_sigmoid, (0, -1000, 1000), (0.5, 1, 0)),
        (lambda x: xt.logaddexp(x, x), (0, -INF, 700), (1, 1, 1)),
        (xt.logsumexp, (-INF, -INF), (0, 0)),
        (xt.logsumexp, (-INF, 0, 0), (0, 0.5, 0.5)),
        (lambda x: xt.sum(x, skipna=True), (1, NAN, 2), (1, 0, 1)),
        (lambda x: xt.max(x, skipna=True), (1, NAN, 2), (0, 0, 1)),
        (lambda x: xt.mean(x, skipna=True), (1, NAN, 2), (0.5, 0, 0.5)),
        (xt.nan_to_num, (1, NAN, INF), (1, 0, 0)),
    ],
)
def test_singular_points(f: Callable[..., Any], x: tuple[float, ...], want: tuple[float, ...]) -> None:
    np.testing.assert_allclose(gradient(f, a(*x)), want, rtol=1e-15, atol=0)


def test_smooth_functions_stay_smooth_at_zero() -> None:
    for f, second in ((xt.sigmoid, 0.0), (xt.softplus, 0.25), (xt.log_sigmoid, -0.25), (xt.silu, 0.5)):
        np.testing.assert_allclose(hessian(lambda x, f=f: xt.sum(f(x)), a(0.0)), [[second]], atol=1e-16)
    got = hessian(lambda x: xt.sum(xt.gelu(x)), a(0.0))
    np.testing.assert_allclose(got, [[2 / math.sqrt(2 * math.pi)]], rtol=1e-14)


def test_std_of_rows_one_of_which_is_constant() -> None:
    x = xt.array([[1.0, 1.0], [1.0, 3.0]], ("a", "b"))
    np.testing.assert_array_equal(gradient(lambda x: xt.std(x, "b"), x), [[0, 0], [-0.5, 0.5]])
    second = xt.jvp(xt.grad(lambda x: xt.sum(xt.std(x, "b"))), (x,), (xt.ones_like(x),))[1]
    assert np.isfinite(second.values).all()


# -- the branch not taken -----------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "first", "second"),
    [
        (lambda x: xt.where(x > 0, xt.log(x), 2 * x), (0, -1, 4), (2, 2, 0.25), (0, 0, -0.0625)),
        (lambda x: xt.where(x > 0, xt.sqrt(x), 0.0), (0, -1, 4), (0, 0, 0.25), (0, 0, -0.03125)),
        (lambda x: xt.where(x == 0, x, 1 / x), (0, 2), (1, -0.25), (0, 0.25)),
        (lambda x: xt.where(x == 0, 0.0, x / x), (0, 2), (0, 0), (0, 0)),
        (lambda x: xt.where(x < 10, x * x, xt.exp(x * x)), (-1000, 2), (-2000, 4), (2, 2)),
        (lambda x: xt.where(x > 10, x, xt.exp(x) * xt.exp(x)), (1000, 0), (1, 2), (0, 4)),
        (lambda x: xt.where(x > 0, xt.sqrt(xt.sqrt(x)) * xt.log(x), x), (0, 1), (1, 1), (0, -0.5)),
        (lambda x: xt.where(x < 1, xt.acos(x), x), (2, 0), (1, -1), (0, 0)),
        (lambda x: xt.where(xt.isnan(x), 0.0, x * x), (NAN, 3), (0, 6), (0, 2)),
        (lambda x: xt.where(x > 0, xt.pow(x, 0.5), 0.0), (0, 4), (0, 0.25), (0, -0.03125)),
        (lambda x: xt.select([x > 1, x < -1], [xt.log(x), -x], x), (0, 2, -2), (1, 0.5, -1), (0, -0.25, 0)),
    ],
)
def test_branch_not_taken_contributes_nothing(
    f: Callable[..., Any], x: tuple[float, ...], first: tuple[float, ...], second: tuple[float, ...]
) -> None:
    np.testing.assert_allclose(gradient(f, a(*x)), first, rtol=1e-14, atol=1e-15)
    got = hessian(lambda x: xt.sum(f(x)), a(*x))
    np.testing.assert_allclose(got, np.diag(second), rtol=1e-13, atol=1e-15)


def test_branch_not_taken_through_a_reduction_and_a_broadcast() -> None:
    x = xt.array([[0.0, 1.0], [4.0, 9.0]], ("a", "b"))

    def f(x: Any) -> Any:
        roots = xt.sum(xt.sqrt(x), "b")
        return xt.where(xt.min(x, "b") > 0, roots, 0.0)

    np.testing.assert_allclose(gradient(f, x), [[0, 0], [0.25, 1 / 6]], rtol=1e-15)


def test_branch_not_taken_with_nan_in_it() -> None:
    x = a(-1.0, 4.0)
    y = a(NAN, 2.0)
    got = xt.grad(lambda x, y: xt.sum(xt.where(x > 0, xt.sqrt(x) * y, -x)), wrt=(0, 1))(x, y)
    np.testing.assert_array_equal(got[0].values, [-1, 0.5])
    np.testing.assert_array_equal(got[1].values, [0, 2])


def test_what_no_condition_chooses_contributes_nothing() -> None:
    """Zeros of several conditions, out of sums, beside what is read by position, and in a loop."""
    x, roots = a(0.0, 0.25, 4.0), lambda x: xt.sqrt(x)

    def two(x: Any) -> Any:
        return xt.where(x > 0, roots(x), 0.0) + xt.where(x > 1, 2 * roots(x), 0.0)

    def read(x: Any) -> Any:
        r = roots(x)
        return xt.where(x > 0, r, 0.0) + xt.where(x > 1, r.isel(a=xt.array([1, 1, 2], "a")), 0.0)

    def cast(x: Any) -> Any:
        return xt.where(x > 0, -(1 - roots(x).astype("f4")), 0.0)

    def loop(x: Any) -> Any:
        return xt.scan(lambda c, e: (xt.where(e > 0, c + xt.sqrt(e), c), None), xt.array(0.0), x, dim="a")[0]

    np.testing.assert_allclose(gradient(two, x), [0, 1, 0.75], rtol=1e-15)
    np.testing.assert_allclose(gradient(read, x), [0, 1, 0.5], rtol=1e-15)
    np.testing.assert_allclose(gradient(cast, x), [0, 1, 0.25], rtol=1e-7)
    np.testing.assert_allclose(gradient(loop, x), [0, 1, 0.25], rtol=1e-15)

    rows, w = xt.array([[1.0, 2.0], [0.0, 0.0]], ("row", "a")), xt.array([[1.0, 2.0], [3.0, 5.0]], ("a", "b"))

    def products(rows: Any) -> Any:
        sums = xt.sum(xt.dot(xt.log(rows), w, dim="a"), "b")
        return xt.where(xt.min(rows, "a") > 0, sums, 0.0)

    np.testing.assert_allclose(gradient(products, rows), [[3, 4], [0, 0]], rtol=1e-15)
    third = lambda x: xt.grad(lambda x: xt.sum(xt.grad(lambda x: xt.sum(two(x)))(x)))  # noqa: E731
    np.testing.assert_allclose(gradient(lambda x: third(x)(x), x), [0, 12, 9 / 256], rtol=1e-13)


def test_masked_attention_ignores_what_is_masked() -> None:
    q, k = a(1.0, 2.0).rename(a="f").expand_dims({"q": 1}), xt.array([[0.5, 1.0], [1e4, 1e4]], ("k", "f"))
    v = xt.array([[1.0], [2.0]], ("k", "v"))
    mask = xt.array([[True, False]], ("q", "k"))

    def loss(q: Any, k: Any, v: Any) -> Any:
        return xt.sum(xt.nn.attention(q, k, v, dims=("q", "k", "f"), mask=mask))

    value, (gq, gk, gv) = xt.value_and_grad(loss, wrt=(0, 1, 2))(q, k, v)
    assert value.item() == 1
    np.testing.assert_array_equal(gq.values, [[0, 0]])
    np.testing.assert_array_equal(gk.values, [[0, 0], [0, 0]])
    np.testing.assert_array_equal(gv.values, [[1], [0]])


# -- NaN and infinities in the input ------------------------------------------


def test_nan_reaches_the_value_of_extrema() -> None:
    for f in (xt.max, xt.min):
        assert math.isnan(f(a(1, NAN, 2)).item())
    assert np.isnan(xt.maximum(a(1, NAN), a(NAN, 0)).values).all()
    assert np.isnan(xt.clip(a(NAN), 0, 1).values).all()


def test_gather_with_duplicates_adds_up() -> None:
    x = a(1, 2, 3)
    i = xt.array([2, 0, 2, -1], "i")
    np.testing.assert_array_equal(gradient(lambda x: x.isel(a=i), x, weights=[1, 10, 100, 1000]), [10, 0, 1101])


def test_outer_and_pointwise_gathers_add_up() -> None:
    x = xt.array(np.zeros((2, 3)), ("a", "b"))
    i, j = xt.array([0, 0], "i"), xt.array([1, -1, 1], "j")
    got = gradient(lambda x: x.isel(a=i, b=j), x, weights=[[1, 2, 4], [8, 16, 32]])
    np.testing.assert_array_equal(got, [[0, 45, 18], [0, 0, 0]])
    p = xt.array([0, 1, 0], "i")
    got = gradient(lambda x: x.isel(a=p, b=xt.array([1, 2, 1], "i")), x, weights=[1, 2, 4])
    np.testing.assert_array_equal(got, [[0, 5, 0], [0, 0, 2]])


def test_empty_arrays() -> None:
    x = xt.array(np.zeros((0, 2)), ("a", "b"))
    for f in (xt.sum, xt.prod, lambda x: xt.sum(xt.exp(x)), lambda x: xt.dot(x, x)):
        g = xt.grad(f)(x)
        assert (g.dims, g.shape) == (("a", "b"), (0, 2))
    y = xt.array(np.ones(2), "b")
    np.testing.assert_array_equal(xt.grad(lambda y: xt.sum(x * y))(y).values, [0, 0])
