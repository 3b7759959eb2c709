"""grad, value_and_grad, vjp and jvp: values, names, structure, and any order of each other."""

import numpy as np
import pytest
import xtensor as xt
from xtensor.testing import check_gradients

rng = np.random.default_rng(0)
x = xt.array(rng.normal(size=(3, 4)), dims=("a", "b"))
w = xt.array(rng.normal(size=4), dims="b")
ints = xt.array(np.arange(4), dims="b")


def loss(w, x):
    return xt.tanh(xt.dot(x, w, dim="b")).sum()


def loss_gradient():
    h = np.tanh(x.values @ w.values)
    return ((1 - h**2)[:, None] * x.values).sum(0), (1 - h**2)[:, None] * w.values


def test_grad_by_position_name_and_tuple():
    gw, gx = loss_gradient()
    np.testing.assert_allclose(xt.grad(loss)(w, x).values, gw, rtol=1e-12)
    np.testing.assert_allclose(xt.grad(loss, wrt=1)(w, x).values, gx, rtol=1e-12)
    np.testing.assert_allclose(xt.grad(loss, wrt=-1)(w, x).values, gx, rtol=1e-12)
    np.testing.assert_allclose(xt.grad(loss, wrt="x")(w, x).values, gx, rtol=1e-12)
    np.testing.assert_allclose(xt.grad(loss, wrt="x")(w, x=x).values, gx, rtol=1e-12)
    np.testing.assert_allclose(xt.grad(loss, wrt=1)(w, x=x).values, gx, rtol=1e-12)
    both = xt.grad(loss, wrt=("x", 0))(w, x)
    assert isinstance(both, tuple)
    np.testing.assert_allclose(both[0].values, gx, rtol=1e-12)
    np.testing.assert_allclose(both[1].values, gw, rtol=1e-12)


def test_value_and_grad_runs_the_function_once():
    value, g = xt.value_and_grad(loss)(w, x)
    np.testing.assert_allclose(value.item(), np.tanh(x.values @ w.values).sum())
    np.testing.assert_allclose(g.values, loss_gradient()[0])
    assert xt.value_and_grad(loss).trace(w, x).as_text().count("xtensor.tanh") == 1


def test_a_gradient_has_its_arguments_dims_and_dtype():
    a, b = xt.array([2.0, 5.0], "a"), xt.array([3.0, 4.0, 6.0], "b")
    ga, gb = xt.grad(lambda a, b: (a * b).sum(), wrt=(0, 1))(a, b)
    assert (ga.dims, ga.values.tolist()) == (("a",), [13, 13])
    assert (gb.dims, gb.values.tolist()) == (("b",), [7, 7, 7])
    g = xt.grad(lambda v: (v.transpose("b", "a") * 2.0).astype("f8").sum())(x.astype("f4"))
    assert (g.dims, g.dtype) == (("a", "b"), np.float32)


def test_pytrees_have_gradients_of_their_structure():
    params = {"w": w, "layers": [x, (x * 2.0,)], "none": None}

    def f(p):
        return (p["w"] * p["layers"][0]).sum() + p["layers"][1][0].sum()

    g = xt.grad(f)(params)
    assert list(g) == ["w", "layers", "none"]
    assert g["none"] is None
    np.testing.assert_allclose(g["w"].values, x.values.sum(0))
    np.testing.assert_allclose(g["layers"][0].values, np.broadcast_to(w.values, (3, 4)))
    np.testing.assert_allclose(g["layers"][1][0].values, np.ones((3, 4)))


def test_has_aux():
    def f(w):
        h = w * w
        return h.sum(), {"h": h, "n": ints, "one": 1}

    g, aux = xt.grad(f, has_aux=True)(w)
    np.testing.assert_allclose(g.values, 2 * w.values)
    np.testing.assert_allclose(aux["h"].values, w.values**2)
    np.testing.assert_array_equal(aux["n"].values, ints.values)
    (value, aux), g = xt.value_and_grad(f, has_aux=True)(w)
    np.testing.assert_allclose(value.item(), (w.values**2).sum())
    np.testing.assert_allclose(g.values, 2 * w.values)
    assert aux["one"].item() == 1


def test_grad_of_a_python_float():
    assert xt.grad(lambda v: v * v * v)(2.0).item() == 12.0


def test_an_unused_argument_has_gradient_zero():
    np.testing.assert_array_equal(xt.grad(lambda a, b: a.sum(), wrt=1)(x, w).values, np.zeros(4))


def test_grads_nest_and_mix_with_jit():
    def cube(v):
        return v * v * v

    second = xt.grad(xt.grad(cube))
    assert second(2.0).item() == 12.0
    assert xt.jit(xt.grad(xt.jit(xt.grad(cube))))(2.0).item() == 12.0
    assert xt.grad(second)(2.0).item() == 6.0


def test_the_gradient_compiles_once():
    traces = []

    def f(w):
        traces.append(1)
        return (w * w).sum()

    g = xt.grad(f)
    for _ in range(3):
        g(w)
    assert len(traces) == 1


def test_captured_arrays_are_constants_to_a_derivative():
    np.testing.assert_allclose(xt.grad(lambda w: (w * x).sum())(w).values, x.values.sum(0))


def test_stop_gradient():
    g = xt.grad(lambda w: (w * xt.stop_gradient(w)).sum())(w)
    np.testing.assert_allclose(g.values, w.values)


def test_vjp_can_be_called_many_times():
    y, back = xt.vjp(lambda w, x: xt.tanh(w * x), w, x)
    np.testing.assert_allclose(
        y.values,
        np.tanh(w.values * x.values).reshape(y.shape) if y.dims == ("a", "b") else np.tanh(w.values * x.values).T,
    )
    for scale in (1.0, 2.0):
        ct = xt.array(np.full((3, 4), scale), ("a", "b"))
        gw, gx = back(ct)
        d = scale * (1 - np.tanh(w.values * x.values) ** 2)
        np.testing.assert_allclose(gw.values, (d * x.values).sum(0))
        np.testing.assert_allclose(gx.values, d * w.values)
        assert (gw.dims, gx.dims) == (("b",), ("a", "b"))


def test_vjp_gives_none_for_integers_and_keeps_structure():
    y, back = xt.vjp(lambda p, i: {"s": p["w"] * i, "i": i + 1}, {"w": w}, ints)
    np.testing.assert_array_equal(y["i"].values, ints.values + 1)
    gp, gi = back({"s": xt.ones_like(w), "i": None})
    np.testing.assert_allclose(gp["w"].values, ints.values)
    assert gi is None


def test_cotangents_align_by_name():
    _, back = xt.vjp(lambda x: x * 2.0, x)
    ct = xt.array(rng.normal(size=(4, 3)), dims=("b", "a"))
    (g,) = back(ct)
    assert g.dims == ("a", "b")
    np.testing.assert_allclose(g.values, 2 * ct.values.T)
    np.testing.assert_allclose(back(1.0)[0].values, np.full((3, 4), 2.0))
    with pytest.raises(xt.DimensionError, match="lacks dim 'a'"):
        back(w)
    np.testing.assert_allclose(back(w.broadcast_like(x))[0].values, 2 * np.broadcast_to(w.values, (3, 4)))
    with pytest.raises(xt.DimensionError, match="'c'"):
        back(xt.array([1.0], "c"))
    with pytest.raises(xt.ArgumentError, match="must be one array, got"):
        back((1.0, 2.0))


def test_jvp():
    t = xt.array(rng.normal(size=4), "b")
    y, dy = xt.jvp(lambda w: xt.tanh(w), (w,), (t,))
    np.testing.assert_allclose(y.values, np.tanh(w.values))
    np.testing.assert_allclose(dy.values, (1 - np.tanh(w.values) ** 2) * t.values)


def test_jvp_aligns_tangents_and_skips_integers():
    t = xt.array(rng.normal(size=(4, 3)), dims=("b", "a"))
    (y, i), (dy, di) = xt.jvp(lambda x, i: (x * i, i), (x, ints), (t, None))
    np.testing.assert_allclose(dy.values, t.values.T * ints.values)
    assert di is None
    np.testing.assert_array_equal(i.values, ints.values)
    assert y.dims == ("a", "b")


def test_jvp_of_grad_is_a_hessian_product():
    def f(v):
        return (v * v * v).sum()

    t = xt.ones_like(w)
    g, hv = xt.jvp(xt.grad(f), (w,), (t,))
    np.testing.assert_allclose(g.values, 3 * w.values**2)
    np.testing.assert_allclose(hv.values, 6 * w.values)


def test_transforms_inside_jit():
    @xt.jit
    def f(w, x):
        y, back = xt.vjp(loss, w, x)
        g1, g2 = back(2.0)
        _, dy = xt.jvp(loss, (w, x), (g1, g2))
        return y, g1, dy, xt.grad(loss)(w, x)

    y, g1, dy, g = f(w, x)
    gw, gx = loss_gradient()
    np.testing.assert_allclose(g1.values, 2 * gw)
    np.testing.assert_allclose(g.values, gw)
    np.testing.assert_allclose(dy.item(), 2 * (gw**2).sum() + 2 * (gx**2).sum())
    np.testing.assert_allclose(y.item(), np.tanh(x.values @ w.values).sum())


def test_dynamic_dims_differentiate():
    traces = []

    def f(w, x):
        traces.append(1)
        return loss(w, x)

    g = xt.jit(xt.grad(f), dynamic_dims="a")
    for n in (1, 3, 7):
        v = rng.normal(size=(n, 4))
        h = np.tanh(v @ w.values)
        got = g(w, xt.array(v, ("a", "b")))
        np.testing.assert_allclose(got.values, ((1 - h**2)[:, None] * v).sum(0), rtol=1e-10)
    assert len(traces) == 1


@pytest.mark.parametrize(
    "f",
    [
        loss,
        lambda w, x: xt.exp(w * x).mean("a"),
        lambda w, x: (xt.sin(w) * x.max("a"), xt.log(xt.abs(x) + 1.0).sum("b")),
    ],
)
def test_checked_against_finite_differences_to_second_order(f):
    check_gradients(f, (w, x), order=2)


def test_the_check_notices_a_wrong_derivative():
    def wrong(v):
        return v * xt.stop_gradient(v)  # half of the derivative is missing

    with pytest.raises(AssertionError, match="mode"):
        check_gradients(wrong, (w,))


def test_against_jax():
    jax = pytest.importorskip("jax", reason="JAX is compared with where it is installed")
    jnp = jax.numpy
    jax.config.update("jax_enable_x64", True)

    def theirs(w, x):
        return jnp.tanh(x @ w).sum()

    got = xt.value_and_grad(loss, wrt=(0, 1))(w, x)
    want = jax.value_and_grad(theirs, argnums=(0, 1))(w.values, x.values)
    np.testing.assert_allclose(got[0].item(), want[0])
    for ours, other in zip(got[1], want[1], strict=True):
        np.testing.assert_allclose(ours.values, other, rtol=1e-10)


def test_a_kept_pullback_runs_the_function_once():
    from xtensor.call.arguments import Call
    from xtensor.transforms.split import Split

    def f(w, x):
        return xt.tanh(w * x)

    found = Split(f, Call((w, x), {}, f))
    assert found.residuals == [0, -1, -2]  # the result itself, and both arguments


def test_vjp_with_nothing_to_differentiate():
    y, back = xt.vjp(lambda i: i + 1, ints)
    np.testing.assert_array_equal(y.values, ints.values + 1)
    assert back(None) == (None,)


def test_vjp_of_captured_repeated_and_passed_through():
    (a, b, c), back = xt.vjp(lambda w: (w * x, w, w), w)
    (g,) = back((1.0, 2.0, w))
    np.testing.assert_allclose(g.values, x.values.sum(0) + 2.0 + w.values)
    np.testing.assert_allclose(b.values, w.values)
    np.testing.assert_allclose(c.values, w.values)
    assert set(a.dims) == {"a", "b"}
