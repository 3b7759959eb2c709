"""Random graphs of PyTensor's tensors, with gradients: what the modes of PyTensor are compared on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.signal import convolve1d, convolve2d

la = pt.linalg
STEPS = 6
SHAPES = {"a": (3, 4), "b": (3, 4), "v": (4,), "s": ()}
Op = Callable[[np.random.Generator, Any, Callable[[Any], Any]], Any]


# ---- the operand that an op takes ------------------------------------------------------------------------------------


def vector(x: Any) -> Any:
    """4 to 7 elements."""
    return pt.concatenate([x.ravel()[:7], np.linspace(-0.9, 1.3, 4)])[:7] if x.type.shape != (4,) else x


def matrix(x: Any) -> Any:
    """At least 3 x 3."""
    if x.ndim == 2 and None not in x.type.shape and min(x.type.shape) > 2:
        return x
    flat = x.ravel()
    return pt.concatenate([flat, pt.sin(flat), np.linspace(-0.8, 1.2, 12)])[:12].reshape((3, 4))


def square(x: Any) -> Any:
    m = pt.tanh(matrix(x))
    return pt.dot(m, m.T * 0.3) * np.linspace(0.5, 1, 3)[0] + pt.diag(pt.sin(pt.arange(m.shape[0]) + 4.0))


def positive(x: Any) -> Any:
    m = pt.tanh(matrix(x))
    return pt.dot(m, m.T) + pt.diag(1.0 + pt.arange(m.shape[0]))


def unit(x: Any) -> Any:
    return 0.1 + 0.8 * pt.sigmoid(x)


def above(x: Any) -> Any:
    return 0.3 + pt.softplus(x)


# ---- ops -------------------------------------------------------------------------------------------------------------

OPS: dict[str, Op] = {}


def op(name: str, f: Callable[..., Any], *of: Callable[[Any], Any]) -> None:
    """f takes one value, or a second one that broadcasts with it; of: what makes the operands of any value."""

    def run(rng: np.random.Generator, x: Any, partner: Callable[[Any], Any]) -> Any:
        given = [x] if len(of) < 2 else [x, partner(x)]
        return f(*(make(y) for make, y in zip(of, given, strict=True)))

    OPS[name] = run


def any_value(x: Any) -> Any:
    return x


for _n in ("sin", "cos", "tanh", "sigmoid", "softplus", "abs", "neg", "sqr", "erf", "arctan", "arcsinh", "sign"):
    op(_n, getattr(pt, _n), any_value)
for _n in ("exp", "exp2", "expm1", "sinh", "cosh", "erfc", "erfcx", "tan"):
    op(_n, lambda x, n=_n: getattr(pt, n)(pt.tanh(x)), any_value)
for _n in ("arcsin", "arccos", "arctanh", "erfinv", "erfcinv"):
    op(_n, getattr(pt, _n), unit)
for _n in ("log", "log2", "log10", "log1p", "sqrt", "reciprocal", "gammaln", "psi", "tri_gamma", "gamma", "j0"):
    op(_n, getattr(pt, _n), above)
op("log1mexp", lambda x: pt.log1mexp(-x), above)
op("arccosh", lambda x: pt.arccosh(1 + x), above)
for _n in ("add", "sub", "mul", "maximum", "minimum", "arctan2", "logaddexp"):
    op(_n, getattr(pt, _n), any_value, any_value)
op("true_div", pt.true_div, any_value, above)
op("pow", pt.power, above, pt.tanh)
op("mod", pt.mod, any_value, above)
op("switch", lambda x, y: pt.switch(x > y, x * y, 2 * y), any_value, any_value)
op("clip", lambda x, y: pt.clip(x, -0.7, y + 0.5), any_value, above)
op("where both", lambda x, y: pt.where(pt.and_(x > 0, y < 1), x, pt.sqr(y)), any_value, any_value)
op("gammainc", pt.gammainc, above, above)
op("betainc", lambda x: pt.betainc(2.5, 1.5, x), unit)  # the others have gradients of 9 digits
op("kve", lambda x: pt.kve(0.5, x), above)
op("jv", lambda x: pt.jv(1.5, x), above)
op("xlogx", lambda x: pt.xlogx.xlogx(x), above)
op("second", lambda x, y: pt.second(x, y) + x, any_value, any_value)
op("cast", lambda x: pt.cast(pt.cast(4 * x, "int32"), "float64") + x, any_value)
op("ints", lambda x: x + (pt.cast(4 * x, "int8") // 2) + (pt.cast(3 * x, "int64") & 3), any_value)
for _n in ("sum", "mean", "max", "min", "var", "std", "prod", "logsumexp", "median", "ptp"):
    op(f"{_n} of rows", lambda x, n=_n: getattr(pt, n)(x, axis=-1), matrix)
    op(f"{_n} of all", lambda x, n=_n: getattr(pt, n)(x, axis=None), matrix)
op("sum of columns kept", lambda x: x - x.sum(axis=0, keepdims=True), matrix)
op("all and any", lambda x: pt.switch(pt.all(x > -9, axis=0) & pt.any(x > 0, axis=0), x, 2 * x), matrix)
op("argmax", lambda x: pt.take_along_axis(x, pt.argmax(x, axis=1, keepdims=True), axis=1), matrix)
op("argmin", lambda x: x * pt.argmin(x, axis=0), matrix)
op("cumsum", lambda x: pt.cumsum(x, axis=0), matrix)
op("cumprod", lambda x: pt.cumprod(pt.tanh(x) + 1.5, axis=1), matrix)
op("softmax", lambda x: pt.special.softmax(x, axis=0), matrix)
op("log_softmax", lambda x: pt.special.log_softmax(x, axis=1), matrix)
op("diff", lambda x: pt.diff(x, axis=1), matrix)
op("sort", lambda x: pt.sort(x, axis=-1), matrix)
op("sort of all", lambda x: pt.sort(x, axis=None), matrix)
op("argsort", lambda x: x[pt.argsort(x)], vector)
op("searchsorted", lambda x: x * pt.searchsorted(pt.sort(x), x), vector)
# shapes and joins
op("transpose", lambda x: x.T, matrix)
op("dimshuffle", lambda x: x.dimshuffle(1, "x", 0), matrix)
op("reshape", lambda x: x[:2].reshape((-1, 2, x.shape[1] // 2 * 0 + 1))[:, 0], matrix)
op("ravel", lambda x: x.ravel(), matrix)
op("flip", lambda x: pt.flip(x, axis=1), matrix)
op("roll", lambda x: pt.roll(x, 1, axis=0), matrix)
op("tile", lambda x: pt.tile(x, (2, 1)), matrix)
op("repeat", lambda x: pt.repeat(x, 2, axis=1), matrix)
op("repeat by counts", lambda x: pt.repeat(x[:3], np.array([1, 0, 2]), axis=0), vector)
op("concatenate", lambda x: pt.concatenate([x, pt.sin(x), x[:1]], axis=0), matrix)
op("stack", lambda x, y: pt.stack([x, x * y], axis=-1), any_value, any_value)
op("split", lambda x: pt.split(x, [1, 2], n_splits=2, axis=1)[1] * x[:, :1], lambda x: matrix(x)[:, :3])
op("split in one", lambda x: sum(p.sum() for p in pt.split(x, [2, x.shape[0] - 2], n_splits=2)), vector)
op("broadcast_to", lambda x: pt.broadcast_to(x, (3, x.shape[0])), vector)
op("expand and squeeze", lambda x: pt.squeeze(pt.expand_dims(x, 1), 1) * 2, matrix)
op("moveaxis", lambda x: pt.moveaxis(pt.stack([x, x * 2]), 0, 2), matrix)
op("swapaxes", lambda x: pt.swapaxes(pt.stack([x, x + 1]), 0, 1), matrix)
for _n in ("constant", "edge", "linear_ramp", "wrap", "reflect", "symmetric", "mean", "maximum"):
    op(f"pad {_n}", lambda x, mode=_n: pt.pad(x, 1, mode=mode), matrix)
op("tril", pt.tril, matrix)
op("triu", lambda x: pt.triu(x, k=1), matrix)
op("diag of vector", lambda x: pt.diag(x[:4], k=1), vector)
op("diagonal", lambda x: pt.diagonal(x, offset=-1), matrix)
op("trace", pt.trace, square)
op("fill_diagonal", lambda x: pt.fill_diagonal(x, 2.5), matrix)
op("fill_diagonal_offset", lambda x: pt.fill_diagonal_offset(x, 0.5, 1), matrix)
op("alloc", lambda x: pt.alloc(x, 2, x.shape[0]), vector)
op("full_like", lambda x: pt.full_like(x, 0.5) * x + pt.zeros_like(x) + pt.ones_like(x), any_value)
op("linspace", lambda x: x * pt.linspace(0, 1, x.shape[0]), vector)
op(
    "take_along_axis",
    lambda x: pt.take_along_axis(x, np.array([[0, 1, 0], [1, 0, 0]]), axis=0),
    lambda x: matrix(x)[:, :3],
)
op("choose", lambda x: x[:3] * pt.choose(np.array([1, 0, 1]), np.array([[2.0, 3, 4], [5, 6, 7]])), vector)
# reads and updates by index
op("int and slice", lambda x: x[1, ::-1], matrix)
op("steps", lambda x: x[::2, 1:], matrix)
op("array", lambda x: x[[1, 0, 1]], matrix)
op("arrays", lambda x: x[[0, 1, 1], [2, 0, 1]], matrix)
op("array and slice", lambda x: x[1:, [2, 0]], matrix)
op("arrays apart", lambda x: pt.stack([x, x + 1])[[0, 1], :, [1, 0]], matrix)
op("2-d array", lambda x: x[np.array([[0, 1], [1, 1]])], matrix)
op("mask", lambda x: x[:3][np.array([True, False, True])], vector)
op("mask by elements", lambda x: pt.set_subtensor(x[x > 0.3], 0.1), matrix)
op("mask of what is kept", lambda x: pt.sum(x[x > pt.mean(x)]), matrix)
op("place by elements", lambda x: x[pt.argmax(x[:, 0])], matrix)
op("take", lambda x: pt.take(x, np.array([[0, 2], [1, 1]]), axis=1), matrix)
op("set row", lambda x: pt.set_subtensor(x[0], x[1] * 2), matrix)
op("inc slice", lambda x: pt.inc_subtensor(x[:, 1:], pt.sin(x[:, :-1])), matrix)
op("set reversed", lambda x: pt.set_subtensor(x[::-2], 0.5), vector)
op("set array", lambda x: pt.set_subtensor(x[[1, 0]], pt.sqr(x[:2])), matrix)
op("inc duplicates", lambda x: pt.inc_subtensor(x[[1, 1, 0]], pt.stack([x[0], x[1], x[0]])), matrix)
op("inc points", lambda x: pt.inc_subtensor(x[[0, 1, 0], [1, 2, 1]], x[0, 0]), matrix)
op("inc columns", lambda x: x[:, [0, 0, 2]].inc(x[:, :1]), matrix)
op("set columns", lambda x: x[:, [2, 0]].set(1.5), matrix)
# products
op("dot", lambda x: x @ x.T, matrix)
op("matrix and vector", lambda x: x @ x[0], matrix)
op("vectors", lambda x: x @ pt.cos(x), vector)
op("outer", lambda x: pt.outer(x[:4], x), vector)
op("tensordot", lambda x: pt.tensordot(pt.stack([x, x * 2]), x, axes=[[1, 2], [0, 1]]), matrix)
op("batched", lambda x: pt.matmul(pt.stack([x, pt.sin(x)]), x.T), matrix)
op("einsum", lambda x: pt.einsum("ij,kj->ik", x, x), matrix)
op("vecdot", lambda x: pt.vecdot(x, pt.sin(x)), matrix)
op("matvec", lambda x: pt.matvec(pt.stack([x, x + 1]), x[0]), matrix)
op("kron", lambda x: la.kron(x[:2, :2], x[:1, :2]), matrix)
# linear algebra
op("cholesky", la.cholesky, positive)
op("upper cholesky", lambda x: la.cholesky(x, lower=False), positive)
op("solve", lambda x: la.solve(x, x[0]), positive)
op("solve matrix", lambda x: la.solve(x, x[:, :2]), square)
op("solve positive", lambda x: la.solve(x, x[:, 0], assume_a="pos"), positive)
op("cho_solve", lambda x: la.cho_solve((la.cholesky(x), True), x[:, :2]), positive)
op("solve_triangular", lambda x: la.solve_triangular(pt.tril(x) + 2 * pt.eye(x.shape[0]), x[0], lower=True), square)
op("solves that share a matrix", lambda x: la.solve(x, x[0]) + la.solve(x.T, pt.sin(x[1])), square)
op("inv", la.inv, square)
op("det", la.det, square)
op("slogdet", lambda x: la.slogdet(x)[1], square)
op("logdet by cholesky", lambda x: pt.log(pt.diag(la.cholesky(x))).sum(), positive)
op("eigenvalues", lambda x: la.eigh(x)[0], positive)
op("eigenvectors", lambda x: pt.sqr(la.eigh(x)[1]), positive)
op("singular values", lambda x: la.svd(x[:, :3], compute_uv=False), positive)
op("qr", lambda x: pt.abs(la.qr(x)[1]), positive)
op("lu", lambda x: la.lu(x)[2], square)
op("lu_solve", lambda x: la.lu_solve(la.lu_factor(x), x[0], b_ndim=1), square)
op("expm", la.expm, lambda x: 0.3 * square(x))
op("pinv", la.pinv, positive)
op("matrix_power", lambda x: la.matrix_power(x, 3), square)
op("block_diag", lambda x: la.block_diag(x, x[:1]), lambda x: matrix(x)[:2, :2])
op("batch of cholesky", lambda x: la.cholesky(pt.stack([x, 2 * x])), positive)
op("sylvester", lambda x: la.solve_sylvester(x, x, pt.sin(x)), positive)
op("lyapunov", lambda x: la.solve_discrete_lyapunov(x / 20, x), positive)
# signals, scans, functions over batches
for _n in ("full", "valid", "same"):
    op(f"convolve1d {_n}", lambda x, mode=_n: convolve1d(x, pt.sin(x[:2]), mode=mode), vector)
op("convolve2d", lambda x: convolve2d(x, pt.cos(x[:2, :2]), mode="full"), matrix)
op("interp", lambda x: pt.interp(pt.tanh(x), np.linspace(-1, 1, 5), np.array([0.3, 1, -1, 2, 0])), vector)
op("vectorize", lambda x: pt.vectorize(lambda r: r / (1 + pt.sqr(r).sum()), "(n)->(n)")(x), matrix)


def scanned(f: Callable[..., Any], **options: Any) -> Any:
    # Without C, a loop of the mode None fuses sums with what is summed, and sum(x * x) is wrong.
    mode = "FAST_COMPILE" if pytensor.config.mode == "FAST_COMPILE" else None
    return pytensor.scan(f, **options, mode=mode, return_updates=False)


op("scan", lambda x: scanned(lambda r, c: pt.tanh(c + r), sequences=x, outputs_info=pt.zeros_like(x[0])), matrix)
op("last of scan", lambda x: scanned(lambda r, c: 0.5 * c + r, sequences=x, outputs_info=x[0])[-1], matrix)
op("map", lambda x: scanned(lambda r: pt.sqr(r).sum(), sequences=x), matrix)
op(
    "scan backwards",
    lambda x: scanned(lambda r, c: c * r, sequences=pt.tanh(x), outputs_info=pt.ones(()), go_backwards=True),
    vector,
)
op(
    "scan of two taps",
    lambda x: scanned(lambda d, c: pt.sin(d + c), outputs_info={"initial": x[:2], "taps": [-2, -1]}, n_steps=4),
    vector,
)
op("scan of windows", lambda x: scanned(lambda p, q: p * q, sequences={"input": x, "taps": [0, 1]}), vector)
op(
    "scan with a matrix",
    lambda x: scanned(lambda c, m: pt.tanh(m @ c), outputs_info=x[0], non_sequences=0.3 * x, n_steps=3),
    square,
)
op(
    "scan of a pair",
    lambda x: sum(scanned(lambda r, c: (c + r, c * r), sequences=x, outputs_info=[pt.ones(()), None])),
    vector,
)


# ---- graphs ----------------------------------------------------------------------------------------------------------


def order(names: Sequence[str], seed: int) -> list[str]:
    """The ops of graph `seed`. Graphs in a row take the ops in turn, in another order each time."""
    count, at = len(names), seed * STEPS
    return [names[np.random.default_rng(k // count).permutation(count)[k % count]] for k in range(at, at + STEPS)]


def values_of(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in SHAPES.values()]


def tensor_graph(seed: int) -> tuple[list[Any], list[Any]]:
    """Inputs and results: a value, and its gradients."""
    rng = np.random.default_rng([seed, 1])
    is_open = bool(rng.integers(2))  # whether the types leave the sizes open
    inputs = [pt.tensor(n, shape=(None,) * len(s) if is_open else s, dtype="float64") for n, s in SHAPES.items()]
    have = list(inputs)
    for name in order(list(OPS), seed):
        x = have[rng.integers(max(len(have) - 3, 0), len(have))]

        def partner(x: Any) -> Any:
            y = have[rng.integers(len(have))]
            return pt.sin(x) if rng.integers(2) else pt.mean(y)

        y = OPS[name](rng, x, partner)
        while y.ndim > 2:
            y = y.mean(axis=0) + y[-1]
        have.append(pt.arcsinh(y))
    y = pt.sin(have[-1]).sum() + sum(pt.tanh(y).mean() for y in have[-STEPS:-1])
    return inputs, [y, have[-1], *pytensor.grad(y, inputs, disconnected_inputs="ignore")]
