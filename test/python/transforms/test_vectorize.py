"""vectorize: per instance, by name. It always equals the stack of what single instances give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from vectorized_cases import CASES, VectorizedCase
from xtensor.testing import check_vectorized

RNG = np.random.default_rng(11)


def named(dtype: Any = np.float64, **sizes: int) -> xt.Array:
    return xt.array(RNG.standard_normal(tuple(sizes.values())).astype(dtype), tuple(sizes))


X = xt.array([2.0, 5.0], "a")
Y = xt.array([3.0, 4.0, 6.0], "b")


# -- what it means ------------------------------------------------------------


def test_two_gradients_under_batches() -> None:
    def f(x: Any, y: Any) -> Any:
        return xt.sum(x * y)

    gx, gy = xt.grad(f, wrt=(0, 1))(X, Y)
    np.testing.assert_array_equal(gx.values, [13, 13])
    np.testing.assert_array_equal(gy.values, [7, 7, 7])
    gx, gy = xt.vectorize(xt.grad(f, wrt=(0, 1)), ("a", "b"))(X, Y)
    assert gx.dims == gy.dims == ("a", "b")
    np.testing.assert_array_equal(gx.values, [[3, 4, 6], [3, 4, 6]])
    np.testing.assert_array_equal(gy.values, [[2, 2, 2], [5, 5, 5]])


@pytest.mark.sampled(48)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_equals_the_stack_of_instances(case: VectorizedCase) -> None:
    check_vectorized(case.f, case.args, case.dims)


def test_dim_none_is_all_dims_of_one_instance() -> None:
    x = named(v=3, i=4, j=2)
    got = xt.vectorize(lambda x: x.sum(), "v")(x)
    assert got.dims == ("v",)
    np.testing.assert_allclose(got.values, x.values.sum((1, 2)))
    got = xt.vectorize(lambda x: x.transpose(), "v")(x)
    assert got.dims == ("v", "j", "i")


def test_an_instance_does_not_see_the_name() -> None:
    seen: list[tuple[str, ...]] = []

    def f(x: Any, y: Any) -> Any:
        seen.append((x.dims, y.dims, x.sizes["i"]))
        return x

    xt.vectorize(f, ("v", "w"))(named(w=2, i=3, v=4), named(v=4))
    assert seen == [(("i",), (), 3)]


def test_names_come_first_in_the_order_given() -> None:
    x = named(i=3, v=2, w=4)
    got = xt.vectorize(lambda x: 2 * x, ("w", "v"))(x)
    assert got.dims == ("w", "v", "i")
    np.testing.assert_array_equal(got.values, 2 * x.values.transpose(2, 1, 0))


def test_every_result_has_all_the_names() -> None:
    one, shared, a_only = xt.vectorize(lambda x, y: (1.0, xt.exp(W), x), ("a", "b"))(X, Y)
    assert (one.dims, shared.dims, a_only.dims) == (("a", "b"), ("a", "b", "i"), ("a", "b"))
    np.testing.assert_array_equal(a_only.values, [[2] * 3, [5] * 3])


W = named(i=3)


def test_one_name_is_a_string() -> None:
    assert xt.vectorize(lambda x: x, "a")(X).dims == ("a",)
    assert xt.vectorize(lambda x: x, dims=("a",))(X).dims == ("a",)


# -- arguments and results ----------------------------------------------------


class Layer(NamedTuple):
    w: Any
    b: Any


def test_pytrees_in_and_out() -> None:
    params = {"first": Layer(named(i=3, o=2), named(o=2)), "second": [named(v=4, o=2), 3.0]}

    def f(params: Any, x: Any, *, scale: Any) -> Any:
        h = xt.tanh(xt.dot(x, params["first"].w, dim="i") + params["first"].b) * params["second"][0]
        return {"h": h * scale, "more": (h.sum(), None)}

    x = named(v=4, i=3)
    got = xt.vectorize(f, "v")(params, x, scale=2.0)
    assert got["h"].dims == ("v", "o") and got["more"][0].dims == ("v",) and got["more"][1] is None
    p = params["first"]
    want = 2 * np.tanh(x.values @ p.w.values + p.b.values) * params["second"][0].values
    np.testing.assert_allclose(got["h"].values, want)


def test_no_results() -> None:
    assert xt.vectorize(lambda x: None, "a")(X) is None
    assert xt.vectorize(lambda x: (), "a")(X) == ()
    assert xt.jit(xt.vectorize(lambda x: {}, "a"))(X) == {}


def test_many_results() -> None:
    got = xt.vectorize(lambda x: tuple(x * i for i in range(20)), "a")(X)
    assert len(got) == 20 and all(g.dims == ("a",) for g in got)
    np.testing.assert_array_equal(got[19].values, 19 * X.values)


def test_integers_and_bools() -> None:
    i = xt.array(np.arange(12).reshape(4, 3), ("v", "i"))
    count, odd, where = xt.vectorize(lambda i: (i.sum(), i % 2 == 1, i.argmax()), "v")(i)
    assert (count.dtype, odd.dtype, where.dtype) == (np.int64, np.bool_, np.int64)
    np.testing.assert_array_equal(count.values, i.values.sum(1))
    np.testing.assert_array_equal(odd.values, i.values % 2 == 1)
    np.testing.assert_array_equal(where.values, [2] * 4)


def test_an_integer_argument_of_a_gradient() -> None:
    x, i = named(v=4, i=3), xt.array([0, 2, 2, 1], "v")
    g = xt.vectorize(xt.grad(lambda x, i: x.isel(i=i) ** 2), "v")(x, i)
    want = np.zeros((4, 3))
    want[range(4), i.values] = 2 * x.values[range(4), i.values]
    np.testing.assert_allclose(g.values, want)


def test_numbers_are_shared_and_weak() -> None:
    x = named("f4", v=3)
    got = xt.vectorize(lambda x, k: x * k, "v")(x, 2.5)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.values, 2.5 * x.values)


def test_static_arguments_pass_through() -> None:
    x = named(v=3, i=2)
    got = xt.vectorize(lambda x, dim: x.sum(dim), "v")(x, "i")
    np.testing.assert_allclose(got.values, x.values.sum(1))
    np.testing.assert_allclose(xt.jit(lambda x: xt.vectorize(lambda x, d: x.sum(d), "v")(x, "i"))(x).values, got.values)


def test_captured_arrays_are_shared() -> None:
    def outer(x: Any, w: Any) -> Any:
        return xt.vectorize(lambda x: xt.dot(x, w * W, dim="i"), "v")(x)

    x, w = named(v=4, i=3), named(i=3)
    want = x.values @ (w.values * W.values)
    np.testing.assert_allclose(outer(x, w).values, want)
    np.testing.assert_allclose(xt.jit(outer)(x, w).values, want)
    g = xt.grad(lambda w: outer(x, w).sum())(w)
    np.testing.assert_allclose(g.values, x.values.sum(0) * W.values)


@pytest.mark.parametrize("size", [0, 1])
def test_sizes_zero_and_one(size: int) -> None:
    x = named(v=size, i=3)
    f = lambda x: (xt.tanh(x).sum(), x.max(), x.isel(i=slice(0, 2)))  # noqa: E731
    got = xt.vectorize(f, "v")(x)
    assert [g.shape for g in got] == [(size,), (size,), (size, 2)]
    assert xt.vectorize(xt.grad(lambda x: f(x)[0]), "v")(x).shape == (size, 3)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "bfloat16"])
def test_dtypes(dtype: str) -> None:
    x = named(v=3, i=4).astype(dtype)
    check_vectorized(lambda x, w: xt.tanh(xt.dot(x, w, dim="i")), (x, named(i=4, o=2).astype(dtype)), "v")


def test_dataarrays_in_and_out() -> None:
    x = xr.DataArray(
        np.arange(6.0).reshape(2, 3), dims=("city", "day"), coords={"city": ["Bern", "Genf"], "day": [1, 2, 3]}
    )
    got = xt.vectorize(lambda x: x - x.mean(), "city")(x)
    xr.testing.assert_allclose(got, x - x.mean("day"))
    assert list(got.coords) == ["city", "day"]
    got = xt.vectorize(lambda x: x.sum(), "city")(x)
    assert isinstance(got, xr.DataArray) and list(got.city.values) == ["Bern", "Genf"]


def test_calls_of_one_type_compile_once() -> None:
    traced: list[Any] = []
    f = xt.vectorize(lambda x: (traced.append(x), x * 2)[1], "v")
    for _ in range(3):
        f(named(v=3, i=2))
    assert len(traced) == 1
    f(named(v=4, i=2))
    assert len(traced) == 2


def test_a_dynamic_batch() -> None:
    def f(x: Any, w: Any, i: Any) -> Any:
        h = xt.concat([xt.dot(x, w, dim="i"), W.rename(i="o")], "o")
        return h.isel(o=i), h.sum()

    g = xt.jit(xt.vectorize(f, "v"), dynamic_dims=("v",))
    w = named(i=3, o=2)
    for n in (1, 4):
        x, i = named(v=n, i=3), xt.array(np.arange(n) % 5, "v")
        got, want = g(x, w, i), xt.vectorize(f, "v")(x, w, i)
        for a, b in zip(got, want, strict=True):
            assert a.dims == b.dims
            np.testing.assert_allclose(a.values, b.values)


def test_a_dynamic_dim_inside() -> None:
    g = xt.jit(xt.vectorize(xt.grad(lambda x, y: xt.tanh(x * y).mean()), "v"), dynamic_dims=("t",))
    for n in (2, 5):
        x, y = named(v=3, t=n), named(t=n)
        want = (1 - np.tanh(x.values * y.values) ** 2) * y.values / n
        np.testing.assert_allclose(g(x, y).values, want)


# -- nesting ------------------------------------------------------------------


def test_vectorize_inside_vectorize() -> None:
    f = xt.vectorize(lambda x: xt.vectorize(lambda y: x.sum() * y, "b")(Y), "a")
    x = named(a=2, i=3)
    np.testing.assert_allclose(f(x).values, np.outer(x.values.sum(1), Y.values))
    twice = xt.vectorize(xt.vectorize(lambda x, y: x * y, "b"), "a")(X, Y)
    assert twice.dims == ("a", "b")
    np.testing.assert_array_equal(twice.values, np.outer(X.values, Y.values))


def test_vectorize_of_a_pullback_from_outside() -> None:
    x, cts = named(i=3), named(v=4, i=3)

    @xt.jit
    def jacobian_rows(x: Any, cts: Any) -> Any:
        _, back = xt.vjp(lambda x: xt.sin(x) * x.sum(), x)
        return xt.vectorize(back, "v")(cts)[0]

    s = x.values.sum()
    want = cts.values * np.cos(x.values) * s + (cts.values * np.sin(x.values)).sum(1, keepdims=True)
    np.testing.assert_allclose(jacobian_rows(x, cts).values, want)


def test_grad_sums_over_a_batch_that_was_vectorized() -> None:
    x, w = named(v=4, i=3), named(i=3)
    g = xt.grad(lambda w: xt.vectorize(lambda x: xt.tanh(xt.dot(x, w)), "v")(x).sum())(w)
    want = ((1 - np.tanh(x.values @ w.values) ** 2)[:, None] * x.values).sum(0)
    np.testing.assert_allclose(g.values, want)


def test_second_order_per_instance() -> None:
    x = named(v=4)
    f: Callable[..., Any] = lambda x: xt.sin(x) * x  # noqa: E731
    got = xt.vectorize(xt.grad(xt.grad(f)), "v")(x)
    np.testing.assert_allclose(got.values, 2 * np.cos(x.values) - x.values * np.sin(x.values))
    outer = xt.grad(lambda x: xt.vectorize(xt.grad(f), "v")(x).sum())(x)
    np.testing.assert_allclose(outer.values, got.values)


def test_an_inner_loop_that_no_instance_differs_in() -> None:
    def f(v: xt.Array) -> xt.Array:
        def inner(i: Any) -> Any:
            return xt.fori_loop(0, 2, lambda j, d: d + i + j, 0)

        return xt.fori_loop(0, 3, lambda i, c: c * v + inner(i), 1.0)

    x = xt.array([1.0, 2.0], "b")
    np.testing.assert_allclose(xt.vectorize(f, "b")(x).values, [f(1.0).item(), f(2.0).item()])


def test_a_hessian_of_a_scan_of_a_scan() -> None:
    def f(x: xt.Array) -> xt.Array:
        def inner(c: Any) -> Any:
            return xt.scan(lambda d, s: (xt.sin(d) * s, None), c, xt.array([2.0, 3.0], "s"), dim="s")[0]

        total = xt.scan(lambda c, s: (inner(c) * s + c, None), x, xt.array([0.5, 0.25], "t"), dim="t")[0]
        return xt.sum(total)

    def by_hand(x: float) -> float:
        for s in (0.5, 0.25):
            inner = x
            for t in (2.0, 3.0):
                inner = np.sin(inner) * t
            x = inner * s + x
        return x

    at, h = np.array([0.3, -0.4]), 1e-4
    want = [(by_hand(v + h) - 2 * by_hand(v) + by_hand(v - h)) / h**2 for v in at]
    np.testing.assert_allclose(xt.hessian(f)(xt.array(at, "i")).values, np.diag(want), atol=1e-5)


def test_methods_can_be_vectorized() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = W

        def __call__(self, x: Any) -> Any:
            return xt.dot(x, self.w)

        def double(self, x: Any) -> Any:
            return 2 * self(x)

    model, x = Model(), named(v=4, i=3)
    np.testing.assert_allclose(xt.vectorize(model, "v")(x).values, x.values @ W.values)
    np.testing.assert_allclose(xt.vectorize(model.double, "v")(x).values, 2 * x.values @ W.values)


# -- names do not get in each other's way --------------------------------------


def test_a_derivative_inside_keeps_names_apart() -> None:
    """What a loss sums over inside is not what is batched outside."""
    x = named(v=3, i=4)
    g = xt.vectorize(xt.grad(lambda x: xt.logsumexp(x)), "v")(x)
    e = np.exp(x.values)
    np.testing.assert_allclose(g.values, e / e.sum(1, keepdims=True))


def test_renaming_inside_to_other_names() -> None:
    x = named(v=3, i=2, j=2)
    got = xt.vectorize(lambda x: x + x.rename(i="j", j="i"), "v")(x)
    np.testing.assert_allclose(got.values, x.values + x.values.swapaxes(1, 2))


# -- errors -------------------------------------------------------------------


def line_of(function: Callable[..., Any]) -> str:
    return f"{__file__}:{function.__code__.co_firstlineno + 1}"


def test_no_argument_has_the_dim() -> None:
    with pytest.raises(xt.DimensionError, match=r"no argument of .* has dim 'c'.*\(a: 2\), \(b: 3\)"):
        xt.vectorize(lambda x, y: x * y, ("a", "c"))(X, Y)
    with pytest.raises(xt.DimensionError, match=r"no argument of .* has dim 'a'"):
        xt.vectorize(lambda: W, "a")()


def test_a_dim_that_is_batched_and_made_inside() -> None:
    def f(x: Any) -> Any:
        return (x * xt.arange(3, dim="a")).sum()

    with pytest.raises(xt.DimensionError, match=r"(?s)constant.*\"a\".*batched.*rename") as error:
        xt.vectorize(f, "a")(X)
    assert line_of(f) in str(error.value)


def test_a_dim_that_is_batched_and_comes_from_outside() -> None:
    def f(y: Any) -> Any:
        return (X * y).sum()

    with pytest.raises(xt.DimensionError, match=r"(?s)mul.*from outside.*\"a\".*as an argument") as error:
        xt.vectorize(f, "a")(X)
    assert line_of(f) in str(error.value)


def test_a_dim_that_is_batched_and_returned() -> None:
    with pytest.raises(xt.DimensionError, match=r"'a' is batched.*argument"):
        xt.vectorize(lambda x: X, "a")(X)


def test_a_rename_into_a_batched_dim() -> None:
    def f(x: Any) -> Any:
        return x.rename(i="v").sum()

    with pytest.raises(xt.DimensionError, match=r"(?s)rename.*\"v\".*batched") as error:
        xt.vectorize(f, "v")(named(v=3, i=2))
    assert line_of(f) in str(error.value)


def test_two_sizes_of_one_dim() -> None:
    with pytest.raises(xt.SizeError, match=r"'a' has sizes 2 and 3"):
        xt.vectorize(lambda x, y: x * y, "a")(X, named(a=3))


def test_bad_dims() -> None:
    with pytest.raises(xt.ArgumentError, match="no dim was named"):
        xt.vectorize(lambda x: x, ())
    with pytest.raises(xt.DimensionError, match="twice"):
        xt.vectorize(lambda x: x, ("a", "a"))
    with pytest.raises(xt.ArgumentTypeError, match="needs a function"):
        xt.vectorize(3, "a")  # type: ignore[arg-type]
    with pytest.raises(xt.DimensionError, match="cannot be a dim's name"):
        xt.vectorize(lambda x: x, "a~b0")


def test_grad_inside_wants_a_scalar_of_one_instance() -> None:
    with pytest.raises(xt.DimensionError, match=r"grad needs a loss without dims.*'i'") as error:
        xt.vectorize(xt.grad(lambda x: 2 * x), "v")(named(v=3, i=2))
    assert "'v'" not in str(error.value)


def test_an_index_out_of_range_in_one_instance() -> None:
    f = xt.vectorize(lambda x, i: x.isel(i=i), "v")
    x = named(v=3, i=2)
    assert f(x, xt.array([0, 1, -1], "v")).shape == (3,)
    with pytest.raises(IndexError, match="'i'"):
        f(x, xt.array([0, 2, 1], "v"))


def test_functions_of_complex_numbers_are_checked() -> None:
    z = xt.array(np.array([[1 + 2j, 0.5, -1j], [0.3, 2j, 1 - 1j]]), ("b", "t"))
    for f in (lambda x: x * 1j, lambda x: xt.fft.fft(x, "t"), lambda x: xt.abs(xt.exp(x))):
        xt.testing.check_vectorized(f, (z,), "b")
    xt.testing.check_vectorized(lambda x: xt.exp(1j * x), (z.real,), "b")


def test_the_advice_for_a_captured_array_with_the_batched_dim_works() -> None:
    x, b = xt.ones(run=3, time=4), xt.array([1.0, 2.0, 3.0], "run")
    for call, op in (
        (lambda x: x + b.sum(), "a reduction"),
        (lambda x: x + b.rename(run="other"), "x.rename"),
        (lambda x: x + b.isel(run=0), "x.isel"),
    ):
        with pytest.raises(
            xt.DimensionError,
            match=rf'^xt.vectorize: {op} takes an array \(run: 3\) from outside that has dim "run".*or rename its dim '
            r"before, outside of the function. The call is at .*test_vectorize.py:\d+",
        ):
            xt.vectorize(call, "run")(x)
    assert xt.vectorize(lambda x, b: x + b, "run")(x, b).dims == ("run", "time")
    other = b.rename(run="other")
    assert xt.vectorize(lambda x: x + other.sum(), "run")(x).values.tolist() == [[7.0] * 4] * 3
