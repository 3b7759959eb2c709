"""custom_derivative in both modes and orders, and linearize: numbers, structures, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt
from against import WEAK_FLOAT

X = xt.array([0.3, -0.7, 1.1], "a")
V = xt.array([1.0, 2.0, -1.0], "a")


def check(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-12)


def halved(flavour: str) -> xt.custom_derivative:
    """sin with half its derivative, so that it shows whose derivative is used."""
    g = xt.custom_derivative(xt.sin)
    if flavour != "pullback":
        g.defpushforward(lambda primals, tangents: (xt.sin(primals[0]), 0.5 * xt.cos(primals[0]) * tangents[0]))
    if flavour != "pushforward":
        g.defpullback(lambda x: (xt.sin(x), x), lambda x, ct: (0.5 * xt.cos(x) * ct,))
    return g


FLAVOURS = pytest.mark.parametrize("flavour", ["pushforward", "pullback", "both"])


@FLAVOURS
def test_both_modes_and_second_order(flavour: str) -> None:
    g = halved(flavour)
    x, v = X.values, V.values
    check(g(X), np.sin(x))
    check(xt.grad(lambda x: g(x).sum())(X), 0.5 * np.cos(x))
    y, dy = xt.jvp(g, (X,), (V,))
    check(y, np.sin(x))
    check(dy, 0.5 * np.cos(x) * v)
    gradient = xt.grad(lambda x: g(x).sum())
    check(xt.jvp(gradient, (X,), (V,))[1], -0.5 * np.sin(x) * v)
    check(xt.grad(lambda x: (gradient(x) * V).sum())(X), -0.5 * np.sin(x) * v)
    check(xt.grad(lambda x: (xt.jvp(g, (x,), (V,))[1]).sum())(X), -0.5 * np.sin(x) * v)
    y, push = xt.linearize(g, X)
    check(push(V), dy)
    y, back = xt.vjp(g, X)
    check(back(V)[0], 0.5 * np.cos(x) * v)


@FLAVOURS
def test_in_loops_branches_and_checkpoints(flavour: str) -> None:
    g = halved(flavour)

    def f(x: Any) -> Any:
        c = xt.scan(lambda c, e: (g(c) * e, c), x.sum(), x, dim="a")[0]
        c = xt.cond(c > 5.0, lambda: c, lambda: g(c))
        return xt.checkpoint(g)(c)

    def by_hand(x: np.ndarray) -> np.ndarray:
        dc, c = np.ones(3), x.sum()
        for i, e in enumerate(x):
            s, ds = np.sin(c), 0.5 * np.cos(c) * dc
            dc = ds * e
            dc[i] += s
            c = s * e
        for _ in range(2):
            c, dc = np.sin(c), 0.5 * np.cos(c) * dc
        return dc

    check(xt.grad(f)(X), by_hand(X.values))
    check(xt.jvp(f, (X,), (V,))[1], by_hand(X.values) @ V.values)


def test_a_rule_that_calls_its_own_function() -> None:
    g = xt.custom_derivative(lambda x: xt.exp(x))

    @g.defpushforward
    def rule(primals: Any, tangents: Any) -> Any:
        y = g(primals[0])
        return y, y * tangents[0]

    third = xt.grad(xt.grad(xt.grad(g)))
    got = third(0.5)
    assert got.dtype == WEAK_FLOAT
    np.testing.assert_allclose(got.values, np.exp(0.5), rtol=1e-12 if np.float64 == WEAK_FLOAT else 1e-6)


def test_a_pullback_that_clips_serves_reverse_mode() -> None:
    g = xt.custom_derivative(lambda x: x)
    g.defpullback(lambda x: (x, None), lambda _, ct: (xt.clip(ct, -1.0, 1.0),))
    loss = lambda x: (g(x) * xt.array([10.0, 0.5, -3.0], "a")).sum()  # noqa: E731
    check(xt.grad(loss)(X), [1.0, 0.5, -1.0])
    _, back = xt.vjp(lambda x: g(x) * 1.0, X)
    check(back(xt.array([4.0, -0.25, -4.0], "a"))[0], [1.0, -0.25, -1.0])
    second = xt.grad(lambda x: (xt.grad(lambda x: (g(x) ** 2).sum())(x)).sum())
    check(second(X), [2.0, 0.0, 0.0])  # 2x is clipped at the last two, then the gradients of that again
    with pytest.raises(xt.Error, match="not linear in the cotangents"):
        xt.jvp(g, (X,), (V,))


def test_straight_through() -> None:
    g = xt.custom_derivative(xt.round)
    g.defpushforward(lambda primals, tangents: (xt.round(primals[0]), tangents[0]))
    check(xt.grad(lambda x: (g(x) * V).sum())(X), V.values)


def test_structures_python_values_and_integers() -> None:
    @xt.custom_derivative
    def f(tree: Any, n: Any, mode: str = "sin", power: int = 1) -> Any:
        return {"y": getattr(xt, mode)(tree["x"]) ** power * tree["w"], "n": n}

    @f.defpushforward
    def rule(primals: Any, tangents: Any) -> Any:
        tree, n, mode, power = primals
        dtree, dn, dmode, dpower = tangents
        assert mode == "sin"
        assert (dn, dmode, dpower) == (None, None, None)
        x, w = tree["x"], tree["w"]
        d = power * xt.sin(x) ** (power - 1) * xt.cos(x) * w * dtree["x"] + xt.sin(x) ** power * dtree["w"]
        return {"y": xt.sin(x) ** power * w, "n": n}, {"y": 7.0 * d, "n": None}

    n = xt.array([1, 2], "k")
    w = xt.array(2.0, ())
    assert f({"x": X, "w": w}, n)["n"].dtype == np.int64
    gx, gw = xt.grad(lambda x, w: f({"x": x, "w": w}, n, power=3)["y"].sum(), wrt=(0, 1))(X, w)
    check(gx, 7 * 3 * np.sin(X.values) ** 2 * np.cos(X.values) * 2)
    check(gw, 7 * (np.sin(X.values) ** 3).sum())

    f.defpullback(
        lambda tree, n, mode, power: (f.fn(tree, n, mode, power), (tree, power)),
        lambda kept, ct: ({"x": 5.0 * ct["y"], "w": None}, None, None, None),
    )
    gx, gw = xt.grad(lambda x, w: f({"x": x, "w": w}, n, power=3)["y"].sum(), wrt=(0, 1))(X, w)
    check(gx, [5.0, 5, 5])
    check(gw, 0.0)


def test_cotangents_align_by_name() -> None:
    x = xt.array(np.arange(6.0).reshape(2, 3), ("a", "b"))
    g = xt.custom_derivative(lambda x, w: x * w)
    g.defpullback(lambda x, w: (x * w, (x, w)), lambda kept, ct: (2.0, (ct * kept[0]).transpose("b", "a").sum("b")))
    gx, gw = xt.grad(lambda x, w: g(x, w).sum(), wrt=(0, 1))(x, xt.array([1.0, 2.0], "a"))
    assert gx.dims == ("a", "b")
    check(gx, np.full((2, 3), 2.0))
    check(gw, x.values.sum(1))


def test_dynamic_sizes() -> None:
    g = halved("pullback")
    f = xt.jit(lambda x: xt.grad(lambda x: (g(x) * g(x)).sum())(x), dynamic_dims="a")
    for n in (0, 1, 5):
        x = np.linspace(-1, 1, n)
        check(f(xt.array(x, "a")), np.sin(x) * np.cos(x))


def test_methods() -> None:
    class Model:
        k = 3.0

        @xt.custom_derivative
        def f(self, x: Any) -> Any:
            return x * self.k

        f.defpushforward(lambda primals, tangents: (primals[1] * primals[0].k, 10.0 * tangents[1]))

    check(xt.grad(lambda x: Model().f(x).sum())(X), [10.0, 10, 10])


def test_errors() -> None:
    g = xt.custom_derivative(lambda x: x * 2.0)
    with pytest.raises(xt.Error, match="no rule yet"):
        xt.grad(lambda x: g(x).sum())(X)
    g.defpushforward(lambda primals, tangents: primals[0] * 2.0)
    with pytest.raises(xt.Error, match=r"must return \(y, dy\)"):
        xt.jvp(g, (X,), (V,))
    g.defpushforward(lambda primals, tangents: (primals[0].sum(), tangents[0]))
    with pytest.raises(xt.Error, match="itself returns float64"):
        xt.jvp(g, (X,), (V,))
    g.defpushforward(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * tangents[0]))
    with pytest.raises(xt.Error, match="not linear in the tangents"):
        xt.jvp(g, (X,), (V,))
    h = xt.custom_derivative(lambda x: x * 2.0)
    h.defpullback(lambda x: (x * 2.0, None), lambda _, ct: ct)
    with pytest.raises(xt.Error, match="a tuple of 1"):
        xt.grad(lambda x: h(x).sum())(X)
    h.defpullback(lambda x: (x * 2.0, None), lambda _, ct: (ct.expand_dims("z"),))
    with pytest.raises(xt.Error, match="has dim 'z'"):
        xt.grad(lambda x: h(x).sum())(X)

    def captures(x: Any) -> Any:
        k = xt.custom_derivative(lambda y: y * x)
        k.defpushforward(lambda primals, tangents: (primals[0] * x, tangents[0] * x))
        return k(xt.sin(x)).sum()

    with pytest.raises(xt.Error, match="make the array an argument"):
        xt.grad(captures)(X)
    with pytest.raises(xt.Error, match="keyword-only"):
        k = xt.custom_derivative(lambda x, *, n: x * n)
        k.defpushforward(lambda primals, tangents: primals)
        xt.jit(lambda x: k(x, n=2.0))(X)
    with pytest.raises(xt.Error, match="needs a function"):
        xt.custom_derivative(3)  # type: ignore[arg-type]


# ---- stop_gradient -----------------------------------------------------------


def test_stop_gradient_in_loops_and_of_second_order() -> None:
    f = lambda x: xt.scan(lambda c, e: (c * xt.stop_gradient(e) + e, None), 0.0 * x.sum(), x, dim="a")[0]  # noqa: E731
    _, b, c = X.values
    check(xt.grad(f)(X), [b * c, c, 1.0])
    g = xt.grad(lambda x: (xt.stop_gradient(x) * x * x).sum())
    check(xt.grad(lambda x: g(x).sum())(X), 2 * X.values)


def test_rules_that_compute_with_what_has_no_tangent() -> None:
    n = xt.array([1, 2, 3], "a")

    @xt.custom_derivative
    def f(x: Any, n: Any, power: int = 2) -> Any:
        return {"y": x * n**power, "n": n}

    f.defpushforward(lambda primals, tangents: (f.fn(*primals), {"y": tangents[0] + primals[0] * tangents[1], "n": 0}))
    words = r"pushforward rule of f computes with None.*tangents\[1\], tangents\[2\] are None.*leave the term out"
    with pytest.raises(xt.ArgumentTypeError, match=words):
        xt.grad(lambda x: f(x, n)["y"].sum())(X)
    f.defpushforward(lambda primals, tangents: (f.fn(*primals), {"y": tangents[1].sum(), "n": None}))
    with pytest.raises(xt.ArgumentTypeError, match=words):
        xt.jvp(lambda x: f(x, n), (X,), (V,))
    f.pushforward = None
    f.defpullback(lambda *args: (f.fn(*args), None), lambda _, ct: (ct["y"] + ct["n"], None, None))
    with pytest.raises(xt.ArgumentTypeError, match=r"backward rule of f computes with None.*ct\['n'\] is None"):
        xt.grad(lambda x: f(x, n)["y"].sum())(X)
    f.defpullback(lambda *args: (f.fn(*args), None), lambda _, ct: (ct["y"] + [], None, None))
    with pytest.raises(TypeError) as error:  # a mistake of another kind stays what it is
        xt.grad(lambda x: f(x, n)["y"].sum())(X)
    assert "computes with None" not in str(error.value)


# ---- linearize ---------------------------------------------------------------


def test_linearize_keeps_the_run() -> None:
    calls = []

    def f(x: Any, n: Any) -> Any:
        calls.append(1)
        return {"y": xt.sin(x) * n, "n": n}

    y, push = xt.linearize(f, X, xt.array(2, ()))
    check(y["y"], 2 * np.sin(X.values))
    for v in (V, xt.array([0.0, 1.0, 0.0], "a"), 1.0):
        dy = push(v, None)
        check(dy["y"], 2 * np.cos(X.values) * np.asarray(getattr(v, "values", v)))
        assert dy["n"] is None
    assert len(calls) == 1
    check(push(None, None)["y"], np.zeros(3))


def test_linearize_inside_of_a_trace_and_to_second_order() -> None:
    def f(x: Any) -> Any:
        _, push = xt.linearize(xt.sin, x)
        return push(V) * push(V)

    c = np.cos(X.values)
    check(xt.jit(f)(X), (c * V.values) ** 2)
    check(xt.grad(lambda x: f(x).sum())(X), -2 * c * np.sin(X.values) * V.values**2)


def test_linearize_of_loops() -> None:
    f = lambda x: xt.while_loop(lambda s: s.sum() < 20.0, lambda s: s * s + 1.0, x)  # noqa: E731
    _, push = xt.linearize(f, X)
    check(push(V), xt.jvp(f, (X,), (V,))[1].values)
    g = lambda x: xt.scan(lambda c, e: (xt.sin(c * e), c), 1.0, x, dim="a")  # noqa: E731
    _, push = xt.linearize(g, X)
    for got, want in zip(push(V), xt.jvp(g, (X,), (V,))[1], strict=True):
        check(got, want.values)


def test_linearize_of_xarray() -> None:
    import xarray as xr

    x = xr.DataArray([0.1, 0.2], dims="a", coords={"a": [10, 20]})
    y, push = xt.linearize(lambda x: x * x, x)
    xr.testing.assert_allclose(push(xr.ones_like(x)), 2 * x)
    assert isinstance(y, xr.DataArray)


def test_linearize_errors() -> None:
    _, push = xt.linearize(lambda x, n: x * n, X, xt.array(2, ()))
    with pytest.raises(xt.Error, match=r"2 primals and 1 tangent\b"):
        push(V)
    with pytest.raises(xt.Error, match="has no tangent: give None"):
        push(V, 1.0)
    with pytest.raises(xt.Error, match="has dim 'z'"):
        push(xt.array([1.0], "z"), None)


# -- tangents and cotangents that lack a dim --------------------------------------------------------------------------

M = xt.ones(time=4, space=3)


def pulled() -> Any:
    f = xt.custom_derivative(lambda x: x * x)
    f.defpullback(lambda x: (x * x, x), lambda x, ct: ((2 * x * ct).sum("time"),))
    return xt.grad(lambda x: f(x).sum())(M)


def pushed() -> Any:
    f = xt.custom_derivative(lambda x: x * x)
    f.defpushforward(lambda primals, tangents: (primals[0] ** 2, (primals[0] * tangents[0]).sum("time")))
    return xt.jvp(f, (M,), (M,))


@pytest.mark.parametrize(
    "program",
    [
        pulled,
        pushed,
        lambda: xt.linearize(lambda x: x * x, M)[1](xt.ones(space=3)),
        lambda: xt.jit(lambda x, t: xt.linearize(lambda x: x * x, x)[1](t))(M, xt.ones(space=3)),
        lambda: xt.jvp(lambda x: x * x, (M,), (xt.ones(space=3),)),
        lambda: xt.vjp(lambda x: x * x, M)[1](xt.ones(space=3)),
    ],
)
def test_what_lacks_a_dim_is_refused(program: Any) -> None:
    with pytest.raises(xt.DimensionError, match=r"lacks dim 'time' of its array \(time: 4, space: 3\).*broadcast_like"):
        program()


def test_numbers_and_none_are_for_all_of_an_array() -> None:
    f = xt.custom_derivative(lambda x, y: x * y)
    f.defpullback(lambda x, y: (x * y, y), lambda y, ct: (3.0, None))
    gradients = xt.grad(lambda x, y: f(x, y).sum(), wrt=(0, 1))(M, M)
    assert gradients[0].sizes == M.sizes and (gradients[0].values == 3).all() and (gradients[1].values == 0).all()
    assert (xt.linearize(lambda x: x * x, M)[1](1.0).values == 2).all()
    assert (xt.linearize(lambda x: x * x, M)[1](None).values == 0).all()


def test_a_number_that_a_rule_computes_is_not_broadcast() -> None:
    x = xt.array([1.0, 2.0], "a")

    @xt.custom_derivative
    def f(x: Any) -> Any:
        return xt.sin(x)

    f.defpushforward(lambda primals, tangents: (xt.sin(primals[0]), tangents[0].sum()))
    with pytest.raises(xt.DimensionError, match=r"rule of f: dy is one number .*\(a: 2\)\. .*sum over fewer dims"):
        xt.jvp(f, (x,), (x,))

    g = xt.custom_derivative(lambda x: xt.sin(x))
    g.defpullback(lambda x: (xt.sin(x), None), lambda _, ct: (ct.sum(),))
    with pytest.raises(xt.DimensionError, match=r"the cotangent of array 0 is one number .*sum over fewer dims"):
        xt.grad(lambda x: g(x).sum())(x)

    f.defpushforward(lambda primals, tangents: (xt.sin(primals[0]), 0.0))
    assert xt.jvp(f, (x,), (x,))[1].values.tolist() == [0.0, 0.0]
