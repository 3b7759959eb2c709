"""Values and gradients against JAX and PyTorch in float64: random programs, written once and run by each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import count

pytestmark = pytest.mark.float64

INSTALL = "{} is not installed: pip install 'xtensor-mlir[test-peers]'"
SMALL = {"a": 2, "b": 3, "c": 4}
# Whole vectors and what is left over, more than one thread.
LARGE = {"a": 9, "b": 33, "c": 131}


class Named:
    """An array of a peer with names for its axes: the little of this package's meaning that the programs use."""

    def __init__(self, peer: Peer, value: Any, dims: tuple[str, ...]) -> None:
        self.peer, self.value, self.dims = peer, value, dims
        self.sizes = dict(zip(dims, value.shape, strict=True))

    def with_dims(self, dims: tuple[str, ...]) -> Any:
        """The bare value over a superset of the dims, missing ones of size 1."""
        order = [self.dims.index(d) for d in dims if d in self.dims]
        shape = [self.sizes.get(d, 1) for d in dims]
        return self.peer.reshape(self.peer.transpose(self.value, order), shape)


class Peer:
    """One library's spelling of the operations."""

    def __init__(self, name: str) -> None:
        self.name = name
        if name == "jax":
            reason = INSTALL.format("JAX")
            self.lib = pytest.importorskip("jax.numpy", reason=reason)
            self.jax = pytest.importorskip("jax", reason=reason)
            self.jax.config.update("jax_enable_x64", True)
            self.erf = pytest.importorskip("jax.scipy.special", reason=reason).erf
            self.sigmoid, self.softplus = self.jax.nn.sigmoid, self.jax.nn.softplus
        else:
            self.lib = pytest.importorskip("torch", reason=INSTALL.format("PyTorch"))
            self.lib.set_num_threads(1)
            self.erf, self.sigmoid = self.lib.erf, self.lib.sigmoid
            self.softplus = lambda x: self.lib.logaddexp(x, self.lib.zeros_like(x))

    def array(self, x: np.ndarray) -> Any:
        return self.lib.asarray(x)

    def transpose(self, x: Any, order: list[int]) -> Any:
        return self.lib.transpose(x, order) if self.name == "jax" else x.permute(order)

    def reshape(self, x: Any, shape: list[int]) -> Any:
        return x.reshape(shape)

    def reduce(self, kind: str, x: Any, axis: int) -> Any:
        if kind in ("max", "min"):
            return getattr(self.lib, "a" + kind)(x, axis)
        if kind == "logsumexp":
            return self.jax.nn.logsumexp(x, axis) if self.name == "jax" else self.lib.logsumexp(x, axis)
        if kind == "var":
            return x.var(axis) if self.name == "jax" else x.var(axis, correction=0)
        return getattr(self.lib, kind)(x, axis)

    def softmax(self, x: Any, axis: int) -> Any:
        return self.jax.nn.softmax(x, axis) if self.name == "jax" else self.lib.softmax(x, axis)

    def flip(self, x: Any, axis: int) -> Any:
        return self.lib.flip(x, [axis])

    def roll(self, x: Any, shift: int, axis: int) -> Any:
        return self.lib.roll(x, shift, axis)

    def take(self, x: Any, index: list[int], axis: int) -> Any:
        index = self.lib.asarray(np.asarray(index))
        return self.lib.take(x, index, axis) if self.name == "jax" else self.lib.index_select(x, axis, index)

    def gradients(self, f: Callable[..., Any], inputs: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
        if self.name == "jax":
            both = self.jax.jit(self.jax.value_and_grad(f, tuple(range(len(inputs)))))
            value, found = both(*map(self.array, inputs))
            return float(value), [np.asarray(g) for g in found]
        leaves = [self.lib.tensor(x, requires_grad=True) for x in inputs]
        value = f(*leaves)
        found = self.lib.autograd.grad(value, leaves, allow_unused=True)
        return value.item(), [np.zeros(x.shape) if g is None else g.numpy() for g, x in zip(found, inputs, strict=True)]


# -- programs: instructions on a growing list of arrays -----------------------

# Bounded functions with bounded derivatives, so that no program of them blows up.
UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Peer, Any], Any]]] = {
    "tanh": (xt.tanh, lambda p, x: p.lib.tanh(x)),
    "sin": (xt.sin, lambda p, x: p.lib.sin(x)),
    "cos": (xt.cos, lambda p, x: p.lib.cos(x)),
    "erf": (xt.erf, lambda p, x: p.erf(x)),
    "sigmoid": (xt.sigmoid, lambda p, x: p.sigmoid(x)),
    "softplus": (xt.softplus, lambda p, x: p.softplus(x)),
    "atan": (xt.atan, lambda p, x: p.lib.arctan(x)),
    "asinh": (xt.asinh, lambda p, x: p.lib.arcsinh(x)),
    "abs": (xt.abs, lambda p, x: p.lib.abs(x)),
    "exp of -x*x": (lambda x: xt.exp(-x * x), lambda p, x: p.lib.exp(-x * x)),
    "sqrt of 1+x*x": (lambda x: xt.sqrt(1 + x * x), lambda p, x: p.lib.sqrt(1 + x * x)),
    "log1p of x*x": (lambda x: xt.log1p(x * x), lambda p, x: p.lib.log1p(x * x)),
}
BINARY: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Peer, Any, Any], Any]]] = {
    "add": (xt.add, lambda p, x, y: x + y),
    "subtract": (xt.subtract, lambda p, x, y: x - y),
    "multiply": (xt.multiply, lambda p, x, y: x * y),
    "maximum": (xt.maximum, lambda p, x, y: p.lib.maximum(x, y)),
    "minimum": (xt.minimum, lambda p, x, y: p.lib.minimum(x, y)),
    "divide": (lambda x, y: x / (2 + y * y), lambda p, x, y: x / (2 + y * y)),
    "atan2": (lambda x, y: xt.atan2(x, 2 + y * y), lambda p, x, y: p.lib.arctan2(x, 2 + y * y)),
    "where": (lambda x, y: xt.where(x > y, x, 2 * y), lambda p, x, y: p.lib.where(x > y, x, 2 * y)),
    "logaddexp": (xt.logaddexp, lambda p, x, y: p.lib.logaddexp(x, y)),
}
REDUCTIONS = ("sum", "mean", "max", "min", "prod", "var", "logsumexp")
MOVES = ("flip", "roll", "take", "softmax", "transpose", "slice")

Instruction = tuple[Any, ...]


def run_ours(program: list[Instruction], inputs: list[Any]) -> Any:
    values = list(inputs)
    for name, *rest in program:
        if name in UNARY:
            y = UNARY[name][0](values[rest[0]])
        elif name in BINARY:
            y = BINARY[name][0](values[rest[0]], values[rest[1]])
        elif name == "dot":
            x, other = values[rest[0]], values[rest[1]]
            y = xt.dot(x, other, dim=rest[2]) / math.prod((x.sizes | other.sizes)[d] for d in rest[2])
        else:
            x, dim = values[rest[0]], rest[1]
            if name in REDUCTIONS:
                y = getattr(xt, name)(x, dim)
            elif name == "softmax":
                y = xt.nn.softmax(x, dim)
            elif name == "roll":
                y = xt.roll(x, {dim: 1})
            elif name == "transpose":
                y = xt.transpose(x, dim, ...)
            elif name == "take":
                y = xt.take(x, rest[2], dim=dim)
            elif name == "slice":
                y = xt.concat([x.isel({dim: slice(1, None)}), x.isel({dim: slice(0, 1)})], dim=dim)
            else:
                y = xt.flip(x, dim)
        values.append(y)
    return xt.sum(xt.tanh(values[-1]) + sum(xt.sum(xt.sin(v)) for v in values[len(inputs) :]))


def run_peer(peer: Peer, program: list[Instruction], inputs: list[Named]) -> Any:
    values = list(inputs)
    for name, *rest in program:
        x = values[rest[0]]
        if name in UNARY:
            y = Named(peer, UNARY[name][1](peer, x.value), x.dims)
        elif name in BINARY or name == "dot":
            other = values[rest[1]]
            dims = tuple(dict.fromkeys(x.dims + other.dims))
            left, right = x.with_dims(dims), other.with_dims(dims)
            if name == "dot":
                product = left * right
                for d in rest[2]:
                    product = peer.reduce("mean", product, dims.index(d))
                    dims = tuple(e for e in dims if e != d)
                y = Named(peer, product, dims)
            else:
                y = Named(peer, BINARY[name][1](peer, left, right), dims)
        else:
            dim = rest[1]
            axis = x.dims.index(dim)
            if name in REDUCTIONS:
                y = Named(peer, peer.reduce(name, x.value, axis), tuple(d for d in x.dims if d != dim))
            elif name == "softmax":
                y = Named(peer, peer.softmax(x.value, axis), x.dims)
            elif name == "roll":
                y = Named(peer, peer.roll(x.value, 1, axis), x.dims)
            elif name == "slice":
                y = Named(peer, peer.roll(x.value, -1, axis), x.dims)
            elif name == "transpose":
                dims = (dim, *(d for d in x.dims if d != dim))
                y = Named(peer, x.with_dims(dims), dims)
            elif name == "take":
                y = Named(peer, peer.take(x.value, rest[2], axis), x.dims)
            else:
                y = Named(peer, peer.flip(x.value, axis), x.dims)
        values.append(y)
    lib = peer.lib
    rest_ = sum(lib.sum(lib.sin(v.value)) for v in values[len(inputs) :])
    return lib.sum(lib.tanh(values[-1].value) + rest_)


@st.composite
def programs(draw: Callable[..., Any]) -> tuple[dict[str, int], list[tuple[str, ...]], list[Instruction], int]:
    sizes = draw(st.sampled_from([SMALL, LARGE]))
    names = list(sizes)
    # Sums and products of many would leave the range in which programs stay tame.
    reductions = REDUCTIONS if sizes is SMALL else tuple(r for r in REDUCTIONS if r not in ("sum", "prod"))
    some_dims = st.sets(st.sampled_from(names), min_size=1).flatmap(lambda s: st.permutations(sorted(s))).map(tuple)
    inputs = draw(st.lists(some_dims, min_size=1, max_size=3))
    dims = list(inputs)
    program: list[Instruction] = []
    for _ in range(draw(st.integers(1, 6))):
        i = draw(st.integers(0, len(dims) - 1))
        kinds = ["unary", "binary", "dot"] + ["reduce", "move"] * bool(dims[i])
        kind = draw(st.sampled_from(kinds))
        if kind == "unary":
            program.append((draw(st.sampled_from(sorted(UNARY))), i))
            dims.append(dims[i])
        elif kind in ("binary", "dot"):
            j = draw(st.integers(0, len(dims) - 1))
            union = tuple(dict.fromkeys(dims[i] + dims[j]))
            if kind == "binary":
                program.append((draw(st.sampled_from(sorted(BINARY))), i, j))
            else:
                over = tuple(d for d in union if draw(st.booleans()))
                program.append(("dot", i, j, over))
                union = tuple(d for d in union if d not in over)
            dims.append(union)
        else:
            dim = draw(st.sampled_from(dims[i]))
            if kind == "reduce":
                program.append((draw(st.sampled_from(reductions)), i, dim))
                dims.append(tuple(d for d in dims[i] if d != dim))
                continue
            name = draw(st.sampled_from(MOVES))
            size = sizes[dim]
            extra = [draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))] if name == "take" else []
            program.append((name, i, dim, *extra))
            dims.append((dim, *(d for d in dims[i] if d != dim)) if name == "transpose" else dims[i])
    return sizes, inputs, program, draw(st.integers(0, 2**32 - 1))


def compare(
    peer: Peer, sizes: dict[str, int], inputs: list[tuple[str, ...]], program: list[Instruction], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.uniform(-1.5, 1.5, [sizes[d] for d in dims]) for dims in inputs]

    def theirs(*xs: Any) -> Any:
        return run_peer(peer, program, [Named(peer, x, d) for x, d in zip(xs, inputs, strict=True)])

    want, want_gradients = peer.gradients(theirs, arrays)
    ours = [xt.array(x, d) for x, d in zip(arrays, inputs, strict=True)]
    both = xt.value_and_grad(lambda *xs: run_ours(program, list(xs)), wrt=tuple(range(len(ours))))
    value, found = both(*ours)
    scale = max(1.0, *(float(np.max(np.abs(g))) for g in want_gradients))
    np.testing.assert_allclose(value.item(), want, rtol=1e-11, atol=1e-11)
    for g, w, dims in zip(found, want_gradients, inputs, strict=True):
        assert g.dims == dims
        np.testing.assert_allclose(g.values, w, rtol=1e-9, atol=1e-11 * scale)


@pytest.fixture(scope="module", params=["jax", "torch"])
def peer(request: pytest.FixtureRequest) -> Peer:
    return Peer(request.param)


@settings(max_examples=count(14, 40), derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs(peer: Peer, drawn: Any) -> None:
    compare(peer, *drawn)


# -- networks, as each library's own functions have them ----------------------


def network_cases() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]:
    """Name -> ours, JAX's, PyTorch's (given the module), and the dims of the arguments."""

    def attention_jax(jax: Any, q: Any, k: Any, v: Any) -> Any:
        scores = jax.numpy.einsum("bqf,bkf->bqk", q, k) / q.shape[-1] ** 0.5
        return jax.numpy.einsum("bqk,bkv->bqv", jax.nn.softmax(scores), v)

    def layer_norm_jax(jax: Any, x: Any, w: Any, b: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w + b

    def entropy_jax(jax: Any, x: Any) -> Any:
        return -jax.nn.log_softmax(x)[jax.numpy.arange(2), jax.numpy.asarray([2, 0])]

    nc = (("n", 2), ("c", 3))
    labels = xt.array([2, 0], "n")
    return {
        "gelu": (xt.gelu, lambda j, x: j.nn.gelu(x, approximate=False), lambda t, x: t.nn.functional.gelu(x), (nc,)),
        "silu": (xt.silu, lambda j, x: j.nn.silu(x), lambda t, x: t.nn.functional.silu(x), (nc,)),
        "log_sigmoid": (
            xt.log_sigmoid,
            lambda j, x: j.nn.log_sigmoid(x),
            lambda t, x: t.nn.functional.logsigmoid(x),
            (nc,),
        ),
        "log_softmax": (
            lambda x: xt.nn.log_softmax(x, "c"),
            lambda j, x: j.nn.log_softmax(x),
            lambda t, x: t.log_softmax(x, 1),
            (nc,),
        ),
        "std": (lambda x: xt.std(x, "c"), lambda j, x: x.std(1), lambda t, x: x.std(1, correction=0), (nc,)),
        "norm": (
            lambda x: xt.norm(x, "c"),
            lambda j, x: j.numpy.linalg.norm(x, axis=1),
            lambda t, x: t.linalg.norm(x, dim=1),
            (nc,),
        ),
        "attention": (
            lambda q, k, v: xt.nn.attention(q, k, v, dims=("q", "k", "f")),
            attention_jax,
            lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v),
            ((("b", 2), ("q", 3), ("f", 4)), (("b", 2), ("k", 5), ("f", 4)), (("b", 2), ("k", 5), ("v", 2))),
        ),
        "layer_norm": (
            lambda x, w, b: xt.nn.layer_norm(x, "c", weight=w, bias=b),
            layer_norm_jax,
            lambda t, x, w, b: t.nn.functional.layer_norm(x, (3,), w, b),
            (nc, (("c", 3),), (("c", 3),)),
        ),
        "cross_entropy": (
            lambda x: xt.nn.cross_entropy(x, labels, dim="c"),
            entropy_jax,
            lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([2, 0]), reduction="none"),
            (nc,),
        ),
    }


@pytest.mark.parametrize("name", list(network_cases()))
def test_networks(peer: Peer, name: str) -> None:
    ours, of_jax, of_torch, shapes = network_cases()[name]
    rng = np.random.default_rng(len(name))
    arrays = [rng.uniform(-2, 2, [n for _, n in dims]) for dims in shapes]
    module, theirs = (peer.jax, of_jax) if peer.name == "jax" else (peer.lib, of_torch)
    inputs = [xt.array(x, tuple(d for d, _ in dims)) for x, dims in zip(arrays, shapes, strict=True)]
    value = xt.jit(ours)(*inputs)
    weights = rng.uniform(-1, 1, value.shape)
    w = xt.array(weights, value.dims)
    want, want_gradients = peer.gradients(lambda *xs: (theirs(module, *xs) * peer.array(weights)).sum(), arrays)
    got, found = xt.value_and_grad(lambda *xs: xt.sum(ours(*xs) * w), wrt=tuple(range(len(inputs))))(*inputs)
    np.testing.assert_allclose(got.item(), want, rtol=1e-12, atol=1e-12)
    for g, expected in zip(found, want_gradients, strict=True):
        np.testing.assert_allclose(g.values, expected, rtol=1e-10, atol=1e-12)
