"""How derivatives are asked for: arguments, structures, dims, dtypes and errors; derivatives of derivatives."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import finished
from xtensor.transforms import split


def a(*values: float, dtype: Any = np.float64) -> xt.Array:
    return xt.array(np.asarray(values, dtype), "a")


X = a(2.0, 5.0)
Y = xt.array([3.0, 4.0, 6.0], "b")

# -- names --------------------------------------------------------------------


def test_what_was_broadcast_over_is_summed() -> None:
    gx, gy = xt.grad(lambda x, y: xt.sum(x * y), wrt=(0, 1))(X, Y)
    assert (gx.dims, gy.dims) == (("a",), ("b",))
    np.testing.assert_array_equal(gx.values, [13, 13])
    np.testing.assert_array_equal(gy.values, [7, 7, 7])


@pytest.mark.parametrize("dims", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
def test_a_gradient_has_its_arguments_dims_in_their_order(dims: tuple[str, ...]) -> None:
    values = np.arange(24.0).reshape(2, 3, 4) / 10
    x = xt.array(values, ("a", "b", "c")).transpose(*dims)
    w = xt.array(np.arange(12.0).reshape(4, 3), ("c", "b"))
    g = xt.grad(lambda x: xt.sum(xt.dot(w, x, dim="b") * xt.sin(x.transpose("c", "b", "a"))))(x)
    assert g.dims == dims and g.sizes == x.sizes
    want = xt.grad(lambda x: xt.sum(xt.dot(w, x, dim="b") * xt.sin(x)))(xt.array(values, ("a", "b", "c")))
    np.testing.assert_allclose(g.transpose("a", "b", "c").values, want.values, rtol=1e-14)


def test_cotangents_and_tangents_align_by_name() -> None:
    x = xt.array(np.arange(6.0).reshape(2, 3), ("a", "b"))
    ct = xt.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ("b", "a"))
    (g,) = xt.vjp(lambda x: 2 * x, x)[1](ct)
    np.testing.assert_array_equal(g.values, 2 * ct.values.T)
    assert g.dims == ("a", "b")
    with pytest.raises(xt.DimensionError, match="lacks dim 'b'"):
        xt.vjp(lambda x: 2 * x, x)[1](xt.array([1.0, 10.0], "a"))
    _, moved = xt.jvp(lambda x: 2 * x, (x,), (ct,))
    np.testing.assert_array_equal(moved.values, 2 * ct.values.T)


def test_loss_with_dims_left() -> None:
    with pytest.raises(xt.DimensionError, match=r"'a'.*'b'") as error:
        xt.grad(lambda x, y: x * y)(X, Y)
    assert isinstance(error.value, ValueError) and __file__ in str(error.value)
    with pytest.raises(xt.DimensionError, match="'b'"):
        xt.value_and_grad(lambda x, y: xt.dot(x, y, dim="a"))(X, Y)


def test_cotangent_of_other_dims() -> None:
    _, back = xt.vjp(lambda x: 2 * x, X)
    with pytest.raises(xt.DimensionError, match="'b'"):
        back(Y)
    with pytest.raises(xt.DimensionError, match="'a'"):
        back(a(1.0, 2.0, 3.0))
    with pytest.raises(xt.DimensionError, match="'b'"):
        xt.jvp(lambda x: 2 * x, (X,), (Y,))


def test_cotangent_of_fixed_size_where_the_dim_is_dynamic() -> None:
    fixed = a(1.0, 2.0)
    with pytest.raises(xt.SizeError, match=r"cotangent.*size 2 along 'a'.*dynamic"):
        xt.jit(lambda x: xt.vjp(lambda x: 2 * x, x)[1](fixed), dynamic_dims=("a",))(X)
    doubled = xt.jit(lambda x, ct: xt.vjp(lambda x: 2 * x, x)[1](ct), dynamic_dims=("a",))(X, fixed)
    np.testing.assert_array_equal(doubled[0].values, [2, 4])


# -- dtypes -------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
def test_integer_arguments_cannot_be_asked_for(dtype: str) -> None:
    n = xt.array(np.ones(2, dtype), "a")
    with pytest.raises(xt.DTypeError, match=rf"'steps'.*{dtype}") as error:
        xt.grad(lambda x, steps: xt.sum(x * steps), wrt="steps")(X, n)
    assert isinstance(error.value, TypeError) and __file__ in str(error.value)
    with pytest.raises(xt.DTypeError, match=dtype):
        xt.grad(lambda p: xt.sum(p["x"] * p["n"]))({"x": X, "n": n})
    with pytest.raises(xt.DTypeError, match=dtype):
        xt.jvp(lambda x, n: x * n, (X, n), (X, X))


def test_integer_arguments_beside() -> None:
    n = xt.array([2, 3], "a")
    np.testing.assert_array_equal(xt.grad(lambda x, n: xt.sum(x * n))(X, n).values, [2, 3])
    _, back = xt.vjp(lambda x, n: x * n, X, n)
    gx, gn = back(a(1.0, 10.0))
    np.testing.assert_array_equal(gx.values, [2, 30])
    assert gn is None
    _, moved = xt.jvp(lambda x, n: (x * n, n + 1), (X, n), (a(1.0, 1.0), None))
    np.testing.assert_array_equal(moved[0].values, [2, 3])
    assert moved[1] is None


def test_an_index_out_of_range_is_found_where_only_the_gradient_is_used() -> None:
    def read(x: Any, i: Any) -> Any:
        return xt.sum(x.isel(a=i))

    i = xt.array([1, 7], "i")
    for f in (xt.grad(read), xt.jit(xt.grad(read)), xt.grad(lambda x, i: xt.jvp(lambda x: read(x, i), (x,), (x,))[1])):
        with pytest.raises(xt.IndexError, match=r"7.*size 2.*'a'"):
            finished(f(X, i))
    with pytest.raises(xt.IndexError, match=r"5.*size 2.*'a'"):
        finished(xt.grad(lambda x, label: xt.nn.cross_entropy(x, label, dim="a"))(X, xt.array(5, ())))
    second = xt.jvp(xt.grad(read), (X, xt.array([1, -2], "i")), (X, None))[1]
    np.testing.assert_array_equal(second.values, [0, 0])


def test_integer_loss() -> None:
    with pytest.raises(xt.DTypeError, match="int64"):
        xt.grad(lambda x: xt.argmax(x))(X)


def test_no_gradient_through_integers_and_bools() -> None:
    def f(x: Any) -> Any:
        i = xt.floor(x).astype("int64") - 2
        return xt.sum(x.isel(a=xt.argmax(x, "a")) ** 2 + (x > 3).astype("float64") * 7) + xt.sum(i)

    np.testing.assert_array_equal(xt.grad(f)(X).values, [0, 20])
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(x.astype("int32").astype("float64")))(X).values, [0, 0])
    index = xt.grad(lambda x: xt.sum(x.isel(a=(x - 2).astype("int64").rename(a="i") // 3)))(X)
    np.testing.assert_array_equal(index.values, [1, 1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_gradient_has_its_arguments_dtype(dtype: str) -> None:
    x = X.astype(dtype)
    value, g = xt.value_and_grad(lambda x: xt.sum(x * x + xt.exp2(x)))(x)
    assert value.dtype == g.dtype == x.dtype
    want = 2 * X.values + math.log(2) * 2**X.values
    bits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}[dtype]
    np.testing.assert_allclose(g.values.astype("float64"), want, rtol=4 * 2.0**-bits)
    y, moved = xt.jvp(xt.sin, (x,), (xt.ones_like(x),))
    assert y.dtype == moved.dtype == x.dtype


def test_mixed_dtypes_keep_each_arguments_own() -> None:
    x, y = X.astype("float32"), a(3.0, 4.0)
    gx, gy = xt.grad(lambda x, y: xt.sum(x * y), wrt=(0, 1))(x, y)
    assert (gx.dtype, gy.dtype) == (np.float32, np.float64)
    np.testing.assert_array_equal(gx.values, [3, 4])
    np.testing.assert_array_equal(gy.values, [2, 5])


def test_reductions_of_narrow_floats_with_ties_and_zeros() -> None:
    for dtype in ("float16", "bfloat16", "float32"):
        x = a(2, 0, 2).astype(dtype)
        np.testing.assert_array_equal(xt.grad(xt.max)(x).astype("float64").values, [0.5, 0, 0.5])
        np.testing.assert_array_equal(xt.grad(xt.prod)(x).astype("float64").values, [0, 4, 0])
        np.testing.assert_array_equal(xt.grad(xt.std)(xt.zeros_like(x)).astype("float64").values, [0, 0, 0])


# -- which arguments, which structure -----------------------------------------


def f(x: Any, y: Any = 2.0, *, scale: Any = 1.0) -> Any:
    return xt.sum(x * x) * xt.sum(y) * scale


def test_wrt_by_position_name_and_tuple() -> None:
    y, s = a(1.0, 2.0), a(4.0).squeeze("a")
    square, twice = 29.0, np.array([4.0, 10.0])
    np.testing.assert_array_equal(xt.grad(f)(X, y).values, 3 * twice)
    np.testing.assert_array_equal(xt.grad(f, wrt=1)(X, y).values, [square, square])
    np.testing.assert_array_equal(xt.grad(f, wrt="y")(X, y=y).values, [square, square])
    np.testing.assert_array_equal(xt.grad(f, wrt="scale")(X, y, scale=s).values, 3 * square)
    got = xt.grad(f, wrt=("scale", 0))(X, y, scale=s)
    assert isinstance(got, tuple) and len(got) == 2
    np.testing.assert_array_equal(got[0].values, 3 * square)
    np.testing.assert_array_equal(got[1].values, 12 * twice)
    assert len(xt.grad(f, wrt=(0,))(X, y)) == 1
    assert xt.grad(f, wrt="y")(X, 2.0).item() == square
    with pytest.raises(xt.ArgumentError, match="'z'"):
        xt.grad(f, wrt="z")(X, y)
    with pytest.raises(xt.ArgumentError, match="twice"):
        xt.grad(f, wrt=(0, 0))(X, y)


Layer = namedtuple("Layer", "w b")


def test_an_argument_by_two_spellings_is_named_twice() -> None:
    x = xt.array([1.0, 2.0], dims="i")
    for wrt in ((0, "a"), ("b", -1), (-2, 0)):
        for transform in (xt.grad, xt.value_and_grad, xt.jacobian, xt.hessian):
            with pytest.raises(xt.ArgumentError, match="names an argument twice"):
                transform(lambda a, b: xt.sum(a * b), wrt=wrt)(x, x)


def test_pytrees() -> None:
    params = {"layers": [Layer(X, a(1.0).squeeze("a")), Layer(a(0.5, 0.5), a(3.0).squeeze("a"))], "none": None}

    def loss(p: Any, x: Any) -> Any:
        for w, b in p["layers"]:
            x = x * w + b
        return xt.sum(x)

    value, g = xt.value_and_grad(loss)(params, a(1.0, 1.0))
    assert value.item() == 0.5 * (3 + 6) + 6
    assert isinstance(g["layers"][0], Layer) and g["none"] is None
    np.testing.assert_array_equal(g["layers"][0].w.values, [0.5, 0.5])
    assert g["layers"][0].b.item() == 1.0
    np.testing.assert_array_equal(g["layers"][1].w.values, [3, 6])
    assert g["layers"][1].b.item() == 2.0

    _, back = xt.vjp(lambda p: {"s": xt.sum(p[0]), "p": p[0] * p[1]}, [X, a(1.0, 3.0)])
    ((g0, g1),) = back({"s": 1.0, "p": a(1.0, 10.0)})
    np.testing.assert_array_equal(g0.values, [2, 31])
    np.testing.assert_array_equal(g1.values, [2, 50])


def test_has_aux() -> None:
    def loss(x: Any) -> Any:
        return xt.sum(x * x), {"twice": 2 * x, "count": xt.argmax(x)}

    (value, aux), g = xt.value_and_grad(loss, has_aux=True)(X)
    assert value.item() == 29 and aux["count"].item() == 1
    np.testing.assert_array_equal(aux["twice"].values, [4, 10])
    np.testing.assert_array_equal(g.values, [4, 10])
    g, aux = xt.grad(loss, has_aux=True)(X)
    np.testing.assert_array_equal(g.values, [4, 10])
    with pytest.raises(xt.ArgumentTypeError, match="has_aux"):
        xt.grad(loss)(X)


def test_an_argument_that_does_not_matter() -> None:
    gx, gy = xt.grad(lambda x, y: xt.sum(x), wrt=(0, 1))(X, Y)
    np.testing.assert_array_equal(gx.values, [1, 1])
    np.testing.assert_array_equal(gy.values, [0, 0, 0])
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(xt.zeros(a=2, dtype="f8")))(X).values, [0, 0])
    _, moved = xt.jvp(lambda x: Y, (X,), (X,))
    np.testing.assert_array_equal(moved.values, [0, 0, 0])


def test_stop_gradient() -> None:
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(x * xt.stop_gradient(x)))(X).values, X.values)
    _, moved = xt.jvp(lambda x: xt.stop_gradient(x) * 3, (X,), (X,))
    np.testing.assert_array_equal(moved.values, [0, 0])


def test_captured_arrays_are_constants() -> None:
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(x * X))(X).values, X.values)
    outer = xt.grad(lambda x: xt.sum(xt.grad(lambda y: xt.sum(x * x * y))(X)))(X)
    np.testing.assert_array_equal(outer.values, 2 * X.values)


def test_a_result_that_is_an_argument() -> None:
    _, back = xt.vjp(lambda x, y: (x, y, x), X, Y)
    gx, gy = back((a(1.0, 2.0), Y, a(10.0, 20.0)))
    np.testing.assert_array_equal(gx.values, [11, 22])
    np.testing.assert_array_equal(gy.values, Y.values)


# -- transforms of transforms -------------------------------------------------


def test_grad_of_grad_of_grad() -> None:
    x = xt.array(0.7, ())
    d = xt.sin
    for order in range(1, 6):
        d = xt.grad(d)
        assert d(x).item() == pytest.approx(math.sin(0.7 + order * math.pi / 2), rel=1e-14), order


def test_derivatives_of_a_power_by_forward_mode_nested() -> None:
    d = lambda x: x**4  # noqa: E731
    want = [4 * 8.0, 12 * 4.0, 24 * 2.0, 24.0, 0.0]
    for expected in want:
        d = lambda x, f=d: xt.jvp(f, (x,), (1.0,))[1]  # noqa: E731
        assert xt.jit(d)(xt.array(2.0, ())).item() == expected


def test_modes_nest_in_any_order() -> None:
    x, v = a(0.3, -0.4, 0.5), a(1.0, 2.0, -1.0)

    def f(x: Any) -> Any:
        return xt.sum(xt.sin(x) * xt.roll(x, {"a": 1}))

    s, c, r, left = np.sin(x.values), np.cos(x.values), np.roll(x.values, 1), np.roll(v.values, 1)
    want = -s * r * v.values + c * left + np.roll(c * v.values, -1)
    np.testing.assert_allclose(xt.jvp(xt.grad(f), (x,), (v,))[1].values, want, rtol=1e-14)
    np.testing.assert_allclose(xt.grad(lambda x: xt.jvp(f, (x,), (v,))[1])(x).values, want, rtol=1e-14)
    np.testing.assert_allclose(xt.vjp(xt.grad(f), x)[1](v)[0].values, want, rtol=1e-14)
    np.testing.assert_allclose(xt.jit(lambda x, v: xt.vjp(xt.grad(f), x)[1](v))(x, v)[0].values, want, rtol=1e-14)


def test_derivatives_do_not_mix_their_perturbations() -> None:
    # d/dx (x * d/dy (x + y)) is 1, not 2.
    one = xt.array(1.0, ())
    assert xt.grad(lambda x: x * xt.grad(lambda y: x + y)(x))(one).item() == 1
    assert xt.jvp(lambda x: x * xt.jvp(lambda y: x + y, (x,), (1.0,))[1], (one,), (one,))[1].item() == 1
    assert xt.grad(lambda x: x * xt.jvp(lambda y: x * y, (x,), (1.0,))[1])(one).item() == 2


def test_a_pullback_is_used_more_than_once_and_inside_jit() -> None:
    @xt.jit
    def rows(x: Any) -> Any:
        y, back = xt.vjp(lambda x: x * x, x)
        return y, back(a(1.0, 0.0))[0], back(a(0.0, 1.0))[0]

    y, first, second = rows(X)
    np.testing.assert_array_equal(y.values, [4, 25])
    np.testing.assert_array_equal(first.values, [4, 0])
    np.testing.assert_array_equal(second.values, [0, 10])
    _, back = xt.vjp(lambda x: x * x, X)
    np.testing.assert_array_equal(back(a(1.0, 0.0))[0].values, [4, 0])
    np.testing.assert_array_equal(back(a(0.0, 1.0))[0].values, [0, 10])


def test_jit_inside_of_grad() -> None:
    inside = xt.jit(lambda x: x * x)
    np.testing.assert_array_equal(xt.grad(lambda x: xt.sum(inside(x) * x))(X).values, 3 * X.values**2)


def test_dynamic_dims() -> None:
    step = xt.jit(xt.grad(lambda w, x: xt.mean(xt.nn.softmax(x * w, "t") * x)), dynamic_dims=("n",))
    w = xt.array([0.5, -0.25, 1.0], "t")
    for n in (1, 3, 2, 3):
        x = xt.array(np.arange(3.0 * n).reshape(n, 3) / 7, ("n", "t"))
        got = step(w, x)
        want = xt.grad(lambda w, x: xt.mean(xt.nn.softmax(x * w, "t") * x))(w, x)
        assert got.dims == ("t",)
        np.testing.assert_allclose(got.values, want.values, rtol=1e-13)


def test_check_gradients_passes_and_fails() -> None:
    xt.testing.check_gradients(lambda x, y: xt.sin(x) * y, (X, Y), order=2)
    with pytest.raises(AssertionError, match="mode"):
        xt.testing.check_gradients(lambda x: x * xt.stop_gradient(x), (X,))


@pytest.mark.parametrize("transform", [xt.vjp, xt.linearize])
def test_the_programs_of_the_latest_sizes_stay(transform: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "MOST", 2)
    met: list[int] = []

    def f(x: Any) -> Any:
        met.append(x.sizes["i"])
        return x * x

    for n in (2, 3, 2, 4, 2, 3):  # 4 evicts 3, which was asked for before 2
        y, _ = transform(f, xt.ones(i=n))
        assert y.sizes == {"i": n}
    assert met == [2, 3, 4, 3]
