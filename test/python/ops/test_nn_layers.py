"""Normalisations, transposed convolutions and attention in blocks, against PyTorch: one table for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.signal
import xtensor as xt
from composites import Composites, Row, spread
from xtensor.nn import attending

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'xtensor-mlir[test-peers]'")
F = torch.nn.functional

X = spread(n=2, c=4, h=5)
IMAGE = spread(n=2, c=3, h=4, w=5)
WEIGHT, BIAS = spread(c=4, low=0.5, high=1.5), spread(c=4, seed=1)
MEAN, VAR = spread(c=4, seed=2), spread(c=4, seed=3, low=0.5, high=2.0)
KERNEL, KERNEL2 = spread(c=4, o=3, k=3), spread(c=3, o=2, kh=2, kw=3)
Q, K, V = spread(b=2, q=6, f=4), spread(b=2, k=6, f=4, seed=1), spread(b=2, k=6, o=3, seed=2)
NAMES = ("q", "k", "f")


def peer(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of PyTorch's on NumPy arrays."""
    return lambda *xs: f(*(torch.from_numpy(x.copy()) for x in xs)).numpy()


def deconv(dims: Any, **how: Any) -> Callable[..., Any]:
    return lambda x, w: xt.nn.conv_transpose(x, w, dims, dim="c", **how)


def masked(causal: bool, window: tuple[int, int] | None) -> Callable[..., Any]:
    def mask(n: int, m: int) -> Any:
        ahead = torch.arange(m)[None] - torch.arange(n)[:, None]
        low, high = window or (10**6, 10**6)
        return (ahead <= (0 if causal else high)) & (ahead >= -low)

    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask(q.shape[-2], k.shape[-2]))


TABLE: dict[str, Row] = {
    "batch_norm": Row(
        lambda x, w, b: xt.nn.batch_norm(x, ("n", "h"), w, b),
        peer(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)),
        (X, WEIGHT, BIAS),
        ("n", "c", "h"),
        open=("n", "h"),
    ),
    "batch_norm of given": Row(
        lambda x, m, v: xt.nn.batch_norm(x, ("n", "h"), mean=m, var=v, eps=0.1),
        peer(lambda x, m, v: F.batch_norm(x, m, v, eps=0.1)),
        (X, MEAN, VAR),
        ("n", "c", "h"),
    ),
    "group_norm": Row(
        lambda x, w, b: xt.nn.group_norm(x, 2, "c", "h", w, b),
        peer(lambda x, w, b: F.group_norm(x, 2, w, b)),
        (X, WEIGHT, BIAS),
        ("n", "c", "h"),
        open=("n",),
    ),
    "rms_norm": Row(
        lambda x, w: xt.nn.rms_norm(x, "h", w, eps=1e-3),
        peer(lambda x, w: F.rms_norm(x, (5,), w, eps=1e-3)),
        (X, spread(h=5, seed=4)),
        ("n", "c", "h"),
        open=("n", "h"),
    ),
    "conv_transpose": Row(
        deconv({"h": "k"}), peer(F.conv_transpose1d), (X, KERNEL), ("n", "h", "o"), open=("n",), alone=True
    ),
    "conv_transpose by steps": Row(
        deconv({"h": "k"}, stride=2, padding=1, output_padding=1),
        peer(lambda x, w: F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1)),
        (X, KERNEL),
    ),
    "conv_transpose of images": Row(
        deconv({"h": "kh", "w": "kw"}, stride={"h": 2}, dilation={"w": 2}, padding={"w": 1}),
        peer(lambda x, w: F.conv_transpose2d(x, w, stride=(2, 1), dilation=(1, 2), padding=(0, 1))),
        (IMAGE, KERNEL2),
    ),
    "attention": Row(
        lambda q, k, v: xt.nn.attention(q, k, v, NAMES),
        peer(F.scaled_dot_product_attention),
        (Q, K, V),
        ("b", "q", "o"),
        open=("b", "q", "k"),
    ),
    "attention causal": Row(
        lambda q, k, v: xt.nn.attention(q, k, v, NAMES, causal=True),
        peer(masked(True, None)),
        (Q, K, V),
        ("b", "q", "o"),
        open=("q", "k"),
    ),
    "attention in windows": Row(
        lambda q, k, v: xt.nn.attention(q, k, v, NAMES, window=(2, 1)), peer(masked(False, (2, 1))), (Q, K, V)
    ),
    "attention causal in windows": Row(
        lambda q, k, v: xt.nn.attention(q, k, v, NAMES, causal=True, window=1), peer(masked(True, (1, 0))), (Q, K, V)
    ),
}
for row in list(TABLE):
    if row.startswith("conv_transpose"):  # PyTorch has the channels before the dims of space
        old = TABLE[row]
        order = {1: (0, 2, 1), 2: (0, 2, 3, 1)}[old.args[0].ndim - 2]
        TABLE[row] = Row(
            old.ours, lambda x, w, old=old, order=order: old.want(x, w).transpose(order), old.args, old.dims, old.open
        )


class TestComposites(Composites):
    table = TABLE


# -- attention in blocks ----------------------------------------------------------------------------------------------

WAYS: dict[str, dict[str, Any]] = {
    "all": {},
    "causal": {"causal": True},
    "window": {"window": (3, 5)},
    "causal window": {"causal": True, "window": (4, 0)},
    "nothing in reach": {"window": 0},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mask", [(), ("k",), ("q", "k"), ("b", "q")])
@pytest.mark.sampled(9)
def test_blocks_give_what_all_at_once_give(way: str, mask: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that blocks do not divide; fewer keys than queries; rows of the mask that let nothing through."""
    rng = np.random.default_rng(0)
    sizes = {"b": 2, "q": 23, "k": 19, "f": 4, "o": 3}
    q, k, v = (
        xt.array(rng.normal(size=[sizes[d] for d in dims]), dims)
        for dims in (("b", "q", "f"), ("b", "k", "f"), ("k", "o"))
    )
    allowed = None
    if mask:
        allowed = xt.array(rng.random([sizes[d] for d in mask]) > 0.4, mask)

    def f(q: Any, k: Any, v: Any) -> Any:
        return xt.nn.attention(q, k, v, NAMES, mask=allowed, **WAYS[way])

    def loss(*args: Any) -> Any:
        return xt.sum(xt.sin(f(*args)))

    whole, slopes = f(q, k, v), xt.grad(loss, wrt=(0, 1, 2))(q, k, v)
    monkeypatch.setattr(attending, "AT_ONCE", 100)
    blocks, others = xt.jit(lambda *a: f(*a))(q, k, v), xt.grad(lambda *a: loss(*a), wrt=(0, 1, 2))(q, k, v)
    assert blocks.dims == whole.dims
    np.testing.assert_allclose(blocks.values, whole.values, rtol=1e-12, atol=1e-12)
    for got, want in zip(others, slopes, strict=True):
        np.testing.assert_allclose(got.values, want.values, rtol=1e-9, atol=1e-12)


@pytest.mark.float64
def test_blocks_have_derivatives_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(q: Any, k: Any, v: Any) -> Any:
        return xt.nn.attention(q, k, v, NAMES, mask=xt.arange(6, dim="k") > 1)

    whole = f(Q, K, V)
    monkeypatch.setattr(attending, "AT_ONCE", 24)
    xt.testing.check_gradients(lambda *a: f(*a), (Q, K, V), order=2)
    each = xt.vectorize(lambda q, k, v: f(q, k, v), "b")(Q, K, V)
    np.testing.assert_allclose(each.values, whole.values, rtol=1e-12)


@pytest.mark.cpu_only("a device refuses a kernel with rows of a mask of 8,192 keys: its estimate of workgroup memory")
@pytest.mark.parametrize("way", ["all", "causal", "causal window"])
def test_large_attention_keeps_no_weights(way: str) -> None:
    """Nothing is run: the memory of a program is known when it is compiled."""
    n, how = 8192, {**WAYS[way], **({"window": (256, 0)} if way == "causal window" else {})}
    args = [xt.spec({"h": 4, d: n, "f": 64}, dtype="f4") for d in ("q", "k", "k")]

    def f(q: Any, k: Any, v: Any) -> Any:
        return xt.nn.attention(q, k, v, NAMES, **how)

    weights = 4 * n * n * 4
    value = xt.jit(f).cost(*args)["arena"]
    gradient = xt.jit(xt.grad(lambda *a: xt.sum(xt.square(f(*a))), wrt=(0, 1, 2))).cost(*args)["arena"]
    assert value < weights / 20
    assert gradient < weights / 8


# -- scaled losses ----------------------------------------------------------------------------------------------------


@pytest.mark.cpu_only("float16 of the CPU")
def test_scaled_losses_keep_small_gradients() -> None:
    """A part of 2e-9 on the way rounds to 0 in float16, and not if the loss is 1024 times as large."""
    w = xt.array(np.array([1.0, 2.0], "f4"), "i")

    def loss(w: Any, c: Any) -> Any:
        return (w.astype("f2") * c * xt.array(np.float16(1e-4))).astype("f4").sum() * 1e-4

    c = xt.array(np.array([0.02, 0.03], "f2"), "i")
    plain = xt.grad(loss)(w, c)
    assert (plain.values == 0).any()
    scaled = xt.nn.scaled_value_and_grad(loss)
    value, gradient, finite = scaled(2.0**16, w, c)
    assert bool(finite) and gradient.dtype == "f4"
    np.testing.assert_allclose(gradient.values, [2e-10, 3e-10], rtol=2e-2)
    np.testing.assert_allclose(value.values, loss(w, c).values)
    assert not bool(scaled(1e38, w, c)[2])
    both = xt.nn.scaled_value_and_grad(lambda w, c: (loss(w, c), w.max()), wrt="w", has_aux=True)
    (_, largest), gradient, finite = both(xt.array(np.float32(2.0**16)), w, c)
    assert (float(largest), bool(finite)) == (2.0, True)
    np.testing.assert_allclose(gradient.values, [2e-10, 3e-10], rtol=2e-2)


# -- other properties and errors --------------------------------------------------------------------------------------


def test_conv_transpose_of_arrays_without_channels() -> None:
    """The sum over both windows has operands that only give the kernel's sizes."""
    rng = np.random.default_rng(0)
    x, k = rng.standard_normal((4, 5)).astype("f4"), rng.standard_normal((2, 3)).astype("f4")
    got = xt.nn.conv_transpose(xt.array(x, ("h", "w")), xt.array(k, ("kh", "kw")), {"h": "kh", "w": "kw"})
    assert got.dims == ("h", "w")
    np.testing.assert_allclose(got.values, scipy.signal.convolve2d(x, k), rtol=1e-5, atol=1e-6)


def test_conv_transpose_is_the_transpose_of_conv() -> None:
    how: dict[str, Any] = {"stride": 2, "padding": (2, 1), "dilation": 2}
    y = spread(n=2, h=11, o=3, seed=9)

    def conv(y: Any) -> Any:
        return xt.nn.conv(y, KERNEL, {"h": "k"}, dim="o", **how)

    value, back = xt.vjp(conv, y)
    x = spread(*value.dims, **dict(value.sizes))
    got = xt.nn.conv_transpose(x, KERNEL, {"h": "k"}, dim="c", **how)
    want = back(x)[0].transpose(*got.dims).values
    np.testing.assert_allclose(got.values, want[:, : got.sizes["h"]], rtol=1e-12, atol=1e-12)


def test_sixteen_bits_round_once() -> None:
    x = X.astype("f2")
    for f in (
        lambda v: xt.nn.rms_norm(v, "h"),
        lambda v: xt.nn.group_norm(v, 2, "c", "h"),
        lambda v: xt.nn.batch_norm(v, "n"),
    ):
        got = f(x)
        assert got.dtype == "f2"
        np.testing.assert_allclose(got.values.astype("f4"), f(x.astype("f4")).values, rtol=1e-3, atol=1e-3)


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "groups": (lambda: xt.nn.group_norm(X, 3, "c"), xt.SizeError, "3 groups do not divide dim 'c' of size 4"),
    "one moment": (lambda: xt.nn.batch_norm(X, "n", mean=MEAN), xt.ArgumentError, "give both mean= and var="),
    "no dim": (lambda: xt.nn.rms_norm(X, ()), xt.DimensionError, "no dim is given"),
    "window": (lambda: xt.nn.attention(Q, K, V, NAMES, window=(1, 2, 3)), xt.ArgumentTypeError, r"\(before, after\)"),
    "negative window": (lambda: xt.nn.attention(Q, K, V, NAMES, window=-1), xt.ArgumentError, "0 or more"),
    "cut off": (lambda: xt.nn.conv_transpose(X, KERNEL, {"h": "k"}, "c", padding=9), xt.SizeError, "cuts off more"),
    "kernel": (lambda: xt.nn.conv_transpose(X, KERNEL, "h"), xt.ArgumentTypeError, "dims is a dict"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_arguments(name: str) -> None:
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.float64
def test_scaled_losses_of_complex_weights() -> None:
    z = xt.array([1j, 2.0], dims="i")
    value, gradient, finite = xt.nn.scaled_value_and_grad(lambda z: (abs(z) ** 2).sum())(8.0, z)
    assert value == 5.0 and bool(finite)
    np.testing.assert_allclose(gradient.values, 2 * z.values)


@pytest.mark.parametrize("mask", [None, True])
def test_attention_to_no_keys_is_0(mask: Any) -> None:
    q, k, v = xt.ones(query=3, f=2), xt.ones(key=0, f=2), xt.ones(key=0, g=4)
    allowed = None if mask is None else xt.ones(key=0, dtype="?")
    y = xt.nn.attention(q, k, v, ("query", "key", "f"), allowed)
    assert y.sizes == {"query": 3, "g": 4} and not y.values.any()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_scores_of_16_bit_floats_are_not_rounded(dtype: str, masked: bool) -> None:
    """Before they are divided by 8, these are beyond the range of float16."""
    q, k = xt.full(33.0, q=2, f=64), xt.full(33.0, k=3, f=64)
    same = xt.nn.attention(q.astype(dtype), k.astype(dtype), xt.ones(k=3, o=2).astype(dtype), NAMES)
    assert (same.astype("f8").values == 1).all()
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype("f4") for s in ((50, 64), (300, 64), (300, 8))]
    mask = np.arange(300) < 200
    ours = [xt.array(a, d).astype(dtype) for a, d in zip(arrays, (("q", "f"), ("k", "f"), ("k", "o")), strict=True)]
    found = xt.nn.attention(*ours, NAMES, xt.array(mask, "k") if masked else None).astype("f8").values
    theirs = [torch.from_numpy(a)[None, None].to(getattr(torch, dtype)) for a in arrays]
    allowed = torch.from_numpy(np.broadcast_to(mask, (50, 300)).copy()) if masked else None
    exact = F.scaled_dot_product_attention(*(t.double() for t in theirs), attn_mask=allowed)[0, 0].numpy()
    reference = F.scaled_dot_product_attention(*theirs, attn_mask=allowed)[0, 0].double().numpy()
    assert abs(found - exact).max() < 2 * abs(reference - exact).max()
