"""xt.nn and the derivatives of compositions: values against SciPy, JAX and PyTorch, gradients without NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import examples, finished, ours, same, several
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

INF = np.inf


def rows(seed: int = 0, shape: tuple[int, int] = (4, 6)) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape) * 3


# ---- values -----------------------------------------------------------------


@examples(20)
@given(several(1, ("f4", "f8"), least=1), st.data())
def test_softmax_over_one_or_several_dims(xs, data) -> None:
    (x,) = xs
    dims = data.draw(st.lists(st.sampled_from(x.dims), min_size=1, unique=True))
    axes = tuple(x.dims.index(d) for d in dims)
    if x.size:
        want = special.softmax(x.values, axis=axes)
        logs = special.log_softmax(x.values, axis=axes)
    else:
        want = logs = x.values
    dim = dims[0] if len(dims) == 1 else dims
    tolerance = 1e-5 if x.dtype == "f4" else 1e-12
    same(xt.nn.softmax(ours(x), dim), x.copy(data=want), rtol=tolerance)
    same(xt.nn.log_softmax(ours(x), dim=dim), x.copy(data=logs), rtol=tolerance)


def test_softmax_far_out() -> None:
    v = np.array([[1000.0, 0], [-1000, 0], [1000, 1000], [-INF, 0]])
    x = xt.array(v, dims=("a", "b"))
    same(xt.nn.softmax(x, "b"), xr.DataArray(special.softmax(v, 1), dims=("a", "b")))
    same(xt.nn.log_softmax(x, "b"), xr.DataArray(special.log_softmax(v, 1), dims=("a", "b")))


def test_layer_norm() -> None:
    v = rows()
    w, b = np.linspace(1, 2, 6), np.linspace(-1, 1, 6)
    x = xt.array(v, dims=("a", "b"))
    want = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5)
    same(xt.nn.layer_norm(x, dim="b"), xr.DataArray(want, dims=("a", "b")))
    got = xt.nn.layer_norm(x, dim="b", weight=xt.array(w, dims="b"), bias=xt.array(b, dims="b"))
    same(got, xr.DataArray(want * w + b, dims=("a", "b")))
    both = (v - v.mean()) / np.sqrt(v.var() + 0.1)
    same(xt.nn.layer_norm(x, dim=("a", "b"), eps=0.1), xr.DataArray(both, dims=("a", "b")))


def heads() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return random.normal(size=(2, 5, 4)), random.normal(size=(2, 7, 4)), random.normal(size=(2, 7, 3))


def attend(q, k, v, mask=None):
    arrays = (xt.array(a, dims=d) for a, d in ((q, ("h", "q", "f")), (k, ("h", "k", "f")), (v, ("h", "k", "o"))))
    return xt.nn.attention(*arrays, dims=("q", "k", "f"), mask=mask)


def test_attention() -> None:
    q, k, v = heads()
    weights = special.softmax(np.einsum("hqf,hkf->hqk", q, k) / 2, axis=-1)
    same(attend(q, k, v), xr.DataArray(weights @ v, dims=("h", "q", "o")))


def test_attention_with_a_mask() -> None:
    q, k, v = heads()
    mask = np.tril(np.ones((5, 7), bool), 1)
    mask[2] = False
    scores = np.where(mask, np.einsum("hqf,hkf->hqk", q, k) / 2, -INF)
    with np.errstate(all="ignore"):
        weights = np.nan_to_num(special.softmax(scores, axis=-1))
    got = attend(q, k, v, xt.array(mask, dims=("q", "k")))
    same(got, xr.DataArray(weights @ v, dims=("h", "q", "o")))
    with pytest.raises(TypeError, match="bool"):
        attend(q, k, v, xt.array(mask.astype("f8"), dims=("q", "k")))


def test_a_mask_with_a_name_that_nothing_else_has() -> None:
    q, k = xt.ones(q=3, f=4), xt.ones(k=3, f=4)
    causal = xt.arange(3, dim="q") >= xt.arange(3, dim="key")
    with pytest.raises(xt.DimensionError, match=r"the mask has dim 'key', .*lacks the dim 'k'.*mask.rename\(key='k'\)"):
        xt.nn.attention(q, k, k, ("q", "k", "f"), mask=causal)
    several = causal.rename(key="k") | (xt.arange(2, dim="way") > 0)
    assert set(xt.nn.attention(q, k, k, ("q", "k", "f"), mask=several).dims) == {"q", "f", "way"}


def test_attention_keeps_the_feature_name() -> None:
    x = xt.array(rows(), dims=("t", "f"))
    assert xt.nn.attention(x, x.rename(t="s"), x.rename(t="s"), dims=("t", "s", "f")).dims == ("t", "f")
    with pytest.raises(ValueError, match="'s'"):
        xt.nn.attention(x, x, x, dims=("t", "s", "f"))
    with pytest.raises(ValueError, match="query, key, feature"):
        xt.nn.attention(x, x, x, dims=("t", "f"))


def test_cross_entropy() -> None:
    v = rows()
    labels = np.array([0, 5, 3, 2])
    x = xt.array(v, dims=("n", "class"))
    logs = special.log_softmax(v, 1)
    want = xr.DataArray(-logs[np.arange(4), labels], dims="n")
    same(xt.nn.cross_entropy(x, xt.array(labels, dims="n"), dim="class"), want)
    same(xt.nn.cross_entropy(x.T, xt.array(labels.astype("u1") % 6, dims="n"), dim="class").transpose("n"),
         xr.DataArray(-logs[np.arange(4), labels.astype("u1") % 6], dims="n"))  # fmt: skip
    soft = special.softmax(rows(1), 1)
    same(
        xt.nn.cross_entropy(x, xt.array(soft, dims=("n", "class")), dim="class"),
        xr.DataArray(-(soft * logs).sum(1), dims="n"),
    )


def test_cross_entropy_at_impossible_classes() -> None:
    x = xt.array([[0.0, -INF]], dims=("n", "c"))
    assert xt.nn.cross_entropy(x, xt.array([[1.0, 0.0]], dims=("n", "c")), dim="c").values.tolist() == [0]
    assert xt.nn.cross_entropy(x, xt.array([1], dims="n"), dim="c").values.tolist() == [INF]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
@pytest.mark.parametrize("label", [-1, -3, -100, 3])
def test_labels_do_not_count_from_the_end(label: int, dtype: str) -> None:
    """A data set writes -1 for no label."""
    x = xt.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], dims=("n", "class"))
    labels = xt.array(np.array([2, label], dtype), dims="n")
    says = f"cross_entropy: index {label} is out of range for size 3 of dim 'class'.*from 0 to size - 1"

    def loss(x: xt.Array, labels: xt.Array) -> xt.Array:
        return xt.sum(xt.nn.cross_entropy(x, labels, dim="class"))

    fixed, open_ = xt.spec(n=2, **{"class": 3}), xt.spec(n=None, **{"class": None})
    kinds = [loss, xt.jit(loss), xt.jit(loss, dynamic_dims="class"), xt.value_and_grad(loss)]
    for f in kinds:
        with pytest.raises(xt.IndexError, match=says):
            finished(f(x, labels))
    for s in (fixed, open_):
        g = xt.load(xt.export(loss, args=(s, xt.spec(n=s.shape[0], dtype=dtype))))
        with pytest.raises(xt.IndexError, match=says):
            g(x.to("cpu"), labels.to("cpu"))
    with xt.option(index="clip"):
        nearest = np.array([2, 2 if label > 0 else 0], dtype)
        same(loss(x, labels), loss(x, xt.array(nearest, dims="n")).to_xarray())


def test_cross_entropy_errors() -> None:
    x = xt.array(rows(), dims=("n", "class"))
    with pytest.raises(IndexError, match="'class'"):
        finished(xt.nn.cross_entropy(x, xt.array([0, 1, 6, 0], dims="n"), dim="class"))
    with pytest.raises(ValueError, match="lack dim 'class'"):
        xt.nn.cross_entropy(x, xt.array([0, 1, 2, 3, 4, 5], dims="class"), dim="class")
    with pytest.raises(ValueError, match="no dim 'class'"):
        xt.nn.cross_entropy(x, xt.array([0.5, 0.5, 0, 0], dims="n"), dim="class")
    with pytest.raises(TypeError):
        xt.nn.cross_entropy(x, xt.array([True] * 4, dims="n"), dim="class")


# ---- derivatives ------------------------------------------------------------


def gradient(f, v, dims="a") -> np.ndarray:
    return np.asarray(xt.grad(lambda x: f(x).sum())(xt.array(np.asarray(v, float), dims=dims)).values)


def second(f, v) -> np.ndarray:
    inner = xt.grad(lambda x: f(x).sum())
    return np.asarray(xt.grad(lambda x: inner(x).sum())(xt.array(np.asarray(v, float), dims="a")).values)


POINTS = [-800.0, -30.0, -1.0, 0.0, 0.5, 30.0, 800.0]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "bfloat16"])
@pytest.mark.parametrize("f", [xt.relu, xt.leaky_relu, xt.elu, xt.selu, xt.silu, xt.gelu])
def test_units_keep_the_sign_of_zero(f: Any, dtype: str) -> None:
    for n in (1, 5, 33):
        x = xt.array(np.resize([-0.0, 0.0], n), "i").astype(dtype)
        want = f is not xt.relu and np.signbit(x.astype("f8").values)
        for y in (f(x), xt.jit(f)(x)):
            np.testing.assert_array_equal(np.signbit(y.astype("f8").values), want)


def test_functions_with_a_bend_at_the_edges() -> None:
    x = xt.array([-np.inf, np.inf, np.nan, -1e-20, -800.0, 3.0], "i")
    np.testing.assert_array_equal(xt.leaky_relu(x, 0.5).values, [-np.inf, np.inf, np.nan, -5e-21, -400.0, 3.0])
    np.testing.assert_array_equal(xt.elu(x, 2.0).values, [-2.0, np.inf, np.nan, -2e-20, -2.0, 3.0])
    lowest = -1.0507009873554805 * 1.6732632423543772
    np.testing.assert_allclose(xt.selu(x).values[[0, 1, 4]], [lowest, np.inf, lowest], rtol=1e-15)
    slopes = gradient(lambda x: xt.leaky_relu(x, 0.5), np.array([-np.inf, -1.0, 0.0, 1.0, np.inf]))
    assert slopes.tolist() == [0.5, 0.5, 0.5, 1.0, 1.0]
    assert gradient(lambda x: xt.elu(x, 2.0), np.array([-np.inf, 0.0, 1.0, np.inf])).tolist() == [0.0, 2.0, 1.0, 1.0]
    for f in (xt.leaky_relu, xt.elu, xt.selu):
        assert [f(xt.ones(i=2, dtype=d)).dtype.name for d in ("f2", "f4", "i8", "i1")] == [
            "float16", "float32", "float64", "float16",
        ]  # fmt: skip
        with pytest.raises(xt.ArgumentTypeError, match=rf"^xt.{f.__name__}: expected an array"):
            f("a")
    with pytest.raises(xt.ArgumentTypeError, match=r"^xt.leaky_relu: slope is a number"):
        xt.leaky_relu(x, "steep")


def test_smooth_functions_have_exact_slopes_in_both_tails() -> None:
    x = np.array(POINTS)
    s, t = special.expit(x), special.expit(-x)
    np.testing.assert_allclose(gradient(xt.sigmoid, x), s * t, rtol=1e-13)
    np.testing.assert_allclose(gradient(xt.softplus, x), s, rtol=1e-13)
    np.testing.assert_allclose(gradient(xt.log_sigmoid, x), t, rtol=1e-13)
    np.testing.assert_allclose(gradient(xt.silu, x), s + x * s * t, rtol=1e-13)
    normal = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(gradient(xt.gelu, x), special.ndtr(x) + x * normal, rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(gradient(xt.relu, x), [0, 0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("f", [xt.silu, xt.gelu])
def test_silu_and_gelu_have_their_limits_at_infinity(f: Callable[[xt.Array], xt.Array], dtype: str) -> None:
    x = xt.array(np.array([-np.inf, np.inf], dtype), dims="a")
    ones = xt.ones_like(x)
    np.testing.assert_array_equal(f(x).values, [0, np.inf])
    slope = xt.grad(lambda x: f(x).sum())
    np.testing.assert_array_equal(slope(x).values, [0, 1])
    np.testing.assert_array_equal(xt.jvp(f, [x], [ones])[1].values, [0, 1])
    np.testing.assert_array_equal(xt.grad(lambda x: slope(x).sum())(x).values, [0, 0])


def test_smooth_functions_have_exact_second_derivatives_at_0() -> None:
    x = np.array([-2.0, 0.0, 0.5])
    s, t = special.expit(x), special.expit(-x)
    np.testing.assert_allclose(second(xt.softplus, x), s * t, rtol=1e-12)
    np.testing.assert_allclose(second(xt.sigmoid, x), s * t * (t - s), rtol=1e-12, atol=1e-16)
    two = xt.array(np.zeros(3), dims="a")
    np.testing.assert_allclose(second(lambda x: xt.logaddexp(x, two), [0.0, 1.0, -1.0])[0], 0.25, rtol=1e-12)


def test_logaddexp_slopes() -> None:
    y = xt.array([0.0, 3.0, -INF, -INF, 1.0], dims="a")
    got = gradient(lambda x: xt.logaddexp(x, y), [0.0, -800.0, -INF, 2.0, -INF])
    np.testing.assert_allclose(got, [0.5, 0, 0.5, 1, 0])


def test_std_of_a_constant_and_norm_of_zero_have_slope_0() -> None:
    np.testing.assert_array_equal(gradient(xt.std, [2.0, 2, 2]), [0, 0, 0])
    for order in (2, 1, 3):
        np.testing.assert_array_equal(gradient(lambda x: xt.norm(x, ord=order), [0.0, 0]), [0, 0])  # noqa: B023
    np.testing.assert_array_equal(gradient(lambda x: xt.hypot(x, x), [0.0]), [0])
    np.testing.assert_allclose(gradient(xt.norm, [3.0, 4]), [0.6, 0.8])
    np.testing.assert_allclose(gradient(lambda x: xt.hypot(x, 4.0), [3.0]), [0.6])


def test_ties_share_evenly() -> None:
    np.testing.assert_allclose(gradient(xt.max, [1.0, 3, 3]), [0, 0.5, 0.5])
    np.testing.assert_allclose(gradient(lambda x: xt.clip(x, 0.0, 1.0), [-1.0, 0, 0.5, 1, 2]), [0, 0.5, 1, 0.5, 0])
    np.testing.assert_allclose(gradient(lambda x: xt.maximum(x, 0.0), [-1.0, 0, 2]), [0, 0.5, 1])
    np.testing.assert_allclose(gradient(abs, [-1.0, 0, 2]), [-1, 0, 1])


def test_logsumexp_slopes_are_the_softmax_and_never_nan() -> None:
    v = np.array([[0.0, 1000, -1000], [-INF, 0, 0], [-INF, -INF, -INF]])
    got = gradient(lambda x: xt.logsumexp(x, "b"), v, ("a", "b"))
    np.testing.assert_allclose(got, [[0, 1, 0], [0, 0.5, 0.5], [0, 0, 0]])


def test_softmax_of_masked_rows() -> None:
    w = xt.array([1.0, 2.0, 4.0], dims="b")
    got = gradient(lambda x: xt.nn.softmax(x, "b") * w, np.array([[0.0, -INF, 0.0]]), ("a", "b"))
    np.testing.assert_allclose(got, [[-0.75, 0, 0.75]])


def test_attention_that_sees_nothing_has_slope_0() -> None:
    q, k, v = heads()
    mask = np.ones((5, 7), bool)
    mask[0] = False

    def loss(q, k, v):
        return xt.nn.attention(q, k, v, dims=("q", "k", "f"), mask=xt.array(mask, dims=("q", "k"))).sum()

    arrays = [xt.array(a, dims=d) for a, d in ((q, ("h", "q", "f")), (k, ("h", "k", "f")), (v, ("h", "k", "o")))]
    gq, gk, gv = xt.grad(loss, wrt=(0, 1, 2))(*arrays)
    for g in (gq, gk, gv):
        assert np.isfinite(g.values).all()
    assert (gq.isel(q=0).values == 0).all()


# ---- peers ------------------------------------------------------------------


def compare(f, peer, *arrays: tuple[np.ndarray, tuple[str, ...]], rtol: float = 1e-9) -> None:
    """Values and gradients of sum(f * weights) against a peer's (value, gradients)."""
    y = f(*(xt.array(v, dims=d) for v, d in arrays))
    weights = np.random.default_rng(5).normal(size=y.shape)
    want, gradients = peer(weights, *(v for v, _ in arrays))
    np.testing.assert_allclose(y.values, want, rtol=rtol, atol=rtol)
    w = xt.array(weights, dims=y.dims)
    got = xt.grad(lambda *xs: (f(*xs) * w).sum(), wrt=tuple(range(len(arrays))))(
        *(xt.array(v, dims=d) for v, d in arrays)
    )
    for mine, theirs in zip(got, gradients, strict=True):
        np.testing.assert_allclose(mine.values, theirs, rtol=rtol, atol=rtol)


def test_against_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra test-peers)")
    jax.config.update("jax_enable_x64", True)

    def peer(f):
        def run(weights, *xs):
            loss = lambda *xs: (f(*xs) * weights).sum()  # noqa: E731
            return f(*xs), jax.grad(loss, argnums=tuple(range(len(xs))))(*xs)

        return jax.jit(run)  # eager JAX compiles each of its ops

    v = rows(2)
    x = (v, ("a", "b"))
    nn = jax.nn
    compare(lambda x: xt.nn.softmax(x, "b"), peer(lambda x: nn.softmax(x, axis=1)), x)
    compare(lambda x: xt.nn.log_softmax(x, "b"), peer(lambda x: nn.log_softmax(x, axis=1)), x)
    compare(lambda x: xt.logsumexp(x, "a"), peer(lambda x: nn.logsumexp(x, axis=0)), x)
    compare(lambda x: xt.nn.layer_norm(x, "b"), peer(lambda x: nn.standardize(x, axis=1, epsilon=1e-5)), x, rtol=1e-7)
    compare(xt.gelu, peer(lambda x: nn.gelu(x, approximate=False)), x)
    compare(xt.silu, peer(nn.silu), x)
    compare(xt.softplus, peer(nn.softplus), x)
    compare(xt.log_sigmoid, peer(nn.log_sigmoid), x)
    compare(xt.selu, peer(nn.selu), x)
    for parameter in (0.01, 1.7):
        compare(lambda x, a=parameter: xt.leaky_relu(x, a), peer(lambda x, a=parameter: nn.leaky_relu(x, a)), x)
        compare(lambda x, a=parameter: xt.elu(x, a), peer(lambda x, a=parameter: nn.elu(x, a)), x)
    compare(lambda x: xt.std(x, "b"), peer(lambda x: x.std(axis=1)), x)
    q, k, w = heads()

    def attention(q, k, v):
        return nn.softmax(jax.numpy.einsum("hqf,hkf->hqk", q, k) / 2) @ v

    compare(lambda q, k, v: xt.nn.attention(q, k, v, dims=("q", "k", "f")), peer(attention),
            (q, ("h", "q", "f")), (k, ("h", "k", "f")), (w, ("h", "k", "o")))  # fmt: skip


def test_against_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra test-peers)")
    functional = torch.nn.functional

    def peer(f):
        def run(weights, *xs):
            leaves = [torch.tensor(x, requires_grad=True) for x in xs]
            y = f(*leaves)
            (y * torch.tensor(weights)).sum().backward()
            return y.detach().numpy(), [x.grad.numpy() for x in leaves]

        return run

    labels = np.array([0, 5, 1, 2])
    compare(
        lambda x: xt.nn.cross_entropy(x, xt.array(labels, dims="a"), dim="b"),
        peer(lambda x: functional.cross_entropy(x, torch.tensor(labels), reduction="none")),
        (rows(2), ("a", "b")),
    )
    compare(
        lambda x, w, b: xt.nn.layer_norm(x, "b", w, b),
        peer(lambda x, w, b: functional.layer_norm(x, (6,), w, b)),
        (rows(2), ("a", "b")), (np.linspace(1, 2, 6), ("b",)), (np.linspace(0, 1, 6), ("b",)), rtol=1e-7,
    )  # fmt: skip
    q, k, v = heads()
    compare(
        lambda q, k, v: xt.nn.attention(q, k, v, dims=("q", "k", "f")),
        peer(functional.scaled_dot_product_attention),
        (q, ("h", "q", "f")), (k, ("h", "k", "f")), (v, ("h", "k", "o")),
    )  # fmt: skip
