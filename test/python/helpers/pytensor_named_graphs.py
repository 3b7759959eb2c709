"""Random graphs of `pytensor.xtensor`, PyTensor's named arrays, with gradients: every op of the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytensor.xtensor as px
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.xtensor import linalg, math, signal
from pytensor_graphs import STEPS, order

SIZES = {"i": 3, "j": 4, "k": 2}
DIMS = {"a": ("i", "j"), "b": ("j", "k"), "v": ("i",), "s": (), "n": ("i", "j")}  # no gradient goes to n
Op = Callable[[Any, Any, Any], Any]
OPS: dict[str, Op] = {}


def same(x: Any) -> Any:
    return x


def unit(x: Any) -> Any:
    return 0.1 + 0.8 * math.sigmoid(x)


def above(x: Any) -> Any:
    return 0.3 + math.softplus(x)


def table(x: Any) -> Any:
    """With the dims "i" and "j", in one of two orders."""
    extra = [d for d in x.type.dims if d not in ("i", "j")]
    x = x.mean(extra) if extra else x
    return (x + const(("i", "j")[:: 1 if len(x.type.dims) < 2 else -1])) * 1.0


def const(dims: tuple[str, ...]) -> Any:
    shape = [SIZES[d] for d in dims]
    values = np.linspace(-0.9, 1.1, int(np.prod(shape)))
    return px.as_xtensor(np.cos(7 * values).reshape(shape), dims=dims)


def square(x: Any) -> Any:
    """With the dims "i" and "i2", positive definite."""
    x = math.tanh(table(x))
    eye = px.as_xtensor(np.diag([1.0, 2.0, 3.0]), dims=("i", "i2"))
    return px.dot(x, x.rename(i="i2"), dim="j") + eye


def op(name: str, f: Callable[..., Any], *of: Callable[[Any], Any], smooth: bool = True) -> None:
    """f takes one value, or another beside it, or three. An op without a gradient takes the input `n`."""

    def run(x: Any, y: Any, n: Any) -> Any:
        if not smooth:
            return f(*(make(z) for make, z in zip(of, (n, math.sin(3 * n), 1 - n), strict=False))) * math.cos(x)
        return f(*(make(z) for make, z in zip(of, (x, y, math.sin(y)), strict=False)))

    OPS[name] = run


def number(y: Any) -> Any:
    """Booleans, integers and complex numbers as real numbers."""
    if y.type.dtype.startswith("complex"):
        return math.real(y) + 0.5 * math.imag(y)
    return y if y.type.dtype == "float64" else math.cast(y, "float64") * 0.7


# ---- functions of numbers --------------------------------------------------------------------------------------------

for _n in (
    "abs", "arctan", "arcsinh", "cos", "deg2rad", "rad2deg", "erf", "identity", "negative", "sigmoid", "sin",
    "softplus", "square", "tanh", "sign",
):  # fmt: skip
    op(_n, getattr(math, _n), same)
for _n in ("exp", "exp2", "expm1", "cosh", "sinh", "tan", "erfc", "erfcx"):
    op(_n, lambda x, n=_n: getattr(math, n)(math.tanh(x)), same)
for _n in ("arccos", "arcsin", "arctanh", "erfinv", "erfcinv"):
    op(_n, getattr(math, _n), unit)
for _n in (
    "gamma", "gammaln", "log", "log10", "log1p", "log2", "psi", "reciprocal", "sqrt", "tri_gamma", "j0", "i0", "i1",
):  # fmt: skip
    op(_n, getattr(math, _n), above, smooth=_n not in ("i0", "i1"))
op("arccosh", lambda x: math.arccosh(1 + x), above)
op("log1mexp", lambda x: math.log1mexp(-x), above)
for _n in ("ceil", "floor", "trunc", "round", "isnan", "isinf", "j1", "angle"):
    op(_n, lambda x, n=_n: number(getattr(math, n)(3 * x)), same, smooth=False)
op("logical_not", lambda x: number(math.logical_not(x > 0.2)), same, smooth=False)
for _n in ("bitwise_not", "bitwise_invert", "invert"):
    op(_n, lambda x, n=_n: number(getattr(math, n)(math.cast(9 * x, "int64"))), same, smooth=False)
op("real, imag, conj, complex", lambda x, y: number(math.conj(math.complex(x, y)) * math.complex(y, x)), same, same,
   smooth=False)  # fmt: skip
op("cast", lambda x: x + math.cast(math.cast(5 * x, "int16"), "float64"), same)
for _n in ("add", "arctan2", "maximum", "minimum", "multiply", "second", "subtract"):
    op(_n, getattr(math, _n), same, same)
op("true_divide", math.true_divide, same, above)
op("mod", math.mod, same, above)
op("floor_divide", lambda x, y: number(math.floor_divide(x, y)), same, above, smooth=False)
op("power", math.power, above, math.tanh)
for _n in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"):
    op(_n, lambda x, y, n=_n: number(getattr(math, n)(math.round(x), math.round(y))), same, same, smooth=False)
for _n in ("logical_and", "logical_or", "logical_xor"):
    op(_n, lambda x, y, n=_n: number(getattr(math, n)(x > 0, y > 0.1)), same, same, smooth=False)
for _n in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    op(_n, lambda x, y, n=_n: number(getattr(math, n)(math.cast(9 * x, "int32"), math.cast(7 * y, "int32"))), same,
       same, smooth=False)  # fmt: skip
op("where", lambda x, y: math.where(x > y, x, 2 * y), same, same)
op("clip", lambda x, y: math.clip(x, -y, y), same, above)
op("betainc", lambda x: math.betainc(2.5, 1.5, x), unit)
op("betaincinv", math.betaincinv, above, above, unit, smooth=False)
op("gammainc", math.gammainc, above, above)
op("gammaincc", math.gammaincc, above, above)
op("gammaincinv", math.gammaincinv, above, unit, smooth=False)
op("gammainccinv", math.gammainccinv, above, unit, smooth=False)
op("gammal", lambda x: math.gammal(1.5, x), above, smooth=False)
op("gammau", lambda x: math.gammau(1.5, x), above, smooth=False)
op("hyp2f1", lambda x: math.hyp2f1(0.5, 1.5, 2.5, x), unit)
op("iv", lambda x: math.iv(0.3, x), above)
op("ive", lambda x: math.ive(1.5, x), above)
op("jv", lambda x: math.jv(1.5, x), above)
op("kve", lambda x: math.kve(0.5, x), above)
op("owens_t", lambda x, y: math.owens_t(x, y), same, same, smooth=False)
op("polygamma", lambda x: math.polygamma(1, x), above)
op("operators", lambda x, y: abs(-x) + x**2 - 1 / (2 + y**2) + (y // 1) * 0 + x % 3, same, same)

# ---- reductions, shapes, products ------------------------------------------------------------------------------------

for _n in ("sum", "mean", "max", "min", "prod", "var", "std"):
    op(f"{_n} of a dim", lambda x, n=_n: getattr(x, n)("j"), table, smooth=_n != "min")
    op(f"{_n} of all", lambda x, n=_n: getattr(x, n)(), table, smooth=_n != "min")
    op(f"{_n} of two dims", lambda x, n=_n: getattr(x, n)(("j", "i")), table, smooth=_n != "min")
op("ddof", lambda x: x.var("i", ddof=1) + x.std("j", ddof=1), table)
op("all", lambda x: number((x > -0.5).all("i")), table, smooth=False)
op("any", lambda x: number((x > 0.5).any("j")), table, smooth=False)
op("cumsum", lambda x: x.cumsum("i") - x.cumsum(), table)
op("cumprod", lambda x: math.tanh(x).cumprod("j") + math.tanh(x).cumprod(("i", "j")), table)
op("diff", lambda x: x.diff("j").rename(j="j3") + x.diff("i", n=2).mean(), table)
op("softmax", lambda x: math.softmax(x, "i") + math.softmax(x), table)
op("logsumexp", lambda x: math.logsumexp(x, "j") + math.logsumexp(x), table)
op("stack", lambda x: x.stack({"z": ("j", "i")}), table)
op("unstack", lambda x: math.sin(x.stack({"z": ("i", "j")})).unstack({"z": {"j": 4, "i": 3}}), table)
op("transpose", lambda x: math.sin(x.transpose("j", "i")) + x.transpose(..., "i"), table)
op("T", lambda x: x.T * 2, table)
op("concat", lambda x: px.concat([x, math.sin(x.isel(i=[0]))], dim="i").rename(i="i4"), table)
op("concat of others", lambda x: px.concat([x, x.mean("j")], dim="i").rename(i="i6"), table)
op("squeeze", lambda x: x.expand_dims("new").squeeze("new") + x.isel(j=[1]).squeeze("j"), table)
op("expand_dims", lambda x: x.expand_dims(new=2).sum("new") + x.expand_dims("one", axis=-1).mean("one"), table)
op("broadcast", lambda x: px.broadcast(x, const(("k",)))[0] * const(("k",)), table)
op("broadcast, excluded", lambda x: px.broadcast(x.isel(i=0), const(("i", "k")), exclude="i")[0].mean("k"), table)
op("broadcast_like", lambda x: x.isel(j=1).broadcast_like(x) - x, table)
op("full_like", lambda x: px.full_like(x, 2.0) * x + px.ones_like(x) + px.zeros_like(x), same)
op("rename", lambda x: x.rename(i="r") * const(("k",)), table)
op("where method", lambda x: x.where(x > 0, 0.5), same)
op("clip method", lambda x: x.clip(-0.5, 0.7), same)
op("dot", lambda x: px.dot(x, const(("j", "k"))), table)
op("dot of all", lambda x, y: px.dot(x, y, dim=...), table, table)
op("dot of a dim", lambda x, y: x.dot(y, dim="i"), table, table)
op("matmul", lambda x: x @ const(("j",)) + const(("i",)) @ x, table)
op("cholesky", lambda x: linalg.cholesky(x, dims=("i", "i2")), square)
op("upper cholesky", lambda x: linalg.cholesky(x, lower=False, dims=("i2", "i")), square)
op("solve", lambda x: linalg.solve(x, const(("i",)), dims=("i", "i2")), square)
op("solve of many", lambda x: linalg.solve(x, const(("i", "k")) * x.isel(i2=0), dims=("i2", "i", "k")), square)
op("solve positive", lambda x: linalg.solve(x, x.isel(i2=1), dims=("i", "i2"), assume_a="pos"), square)
for _n in ("full", "valid", "same"):
    op(f"convolve1d {_n}", lambda x, m=_n: signal.convolve1d(x, const(("k",)), mode=m, dims=("j", "k")).rename(j="jc"),
       table)  # fmt: skip

# ---- reads and updates by index --------------------------------------------------------------------------------------

COLUMNS = np.array([3, 0, 0])
op("isel of a number", lambda x: x.isel(i=1) + x.isel(j=-1), table)
op("isel of a slice", lambda x: x.isel(i=slice(None, None, -1)).isel(j=slice(1, None, 2)).rename(j="j2"), table)
op("isel of an array", lambda x: x.isel(j=COLUMNS).rename(j="j3"), table)
op("array of another dim", lambda x: x.isel(j=px.as_xtensor(COLUMNS, dims=("p",))), table)
op("points", lambda x: x.isel(i=px.as_xtensor([0, 2, 2], dims=("p",)), j=px.as_xtensor(COLUMNS, dims=("p",))), table)
op("array of two dims", lambda x: x.isel(j=px.as_xtensor(COLUMNS[:, None] % [1, 4], dims=("p", "k"))), table)
op("both apart", lambda x: x.isel(i=("p", [2, 0]), j=("q", [1, 1, 3])), table)
op("index of its own dim", lambda x: x.isel(j=px.as_xtensor([1, 0, 3], dims=("i",))), table)
op("mask", lambda x: x.isel(j=np.array([True, False, True, True])).rename(j="j3"), table)
op("brackets", lambda x: x.transpose("i", "j")[1:, 0].rename(i="i2") + x.transpose("i", "j")[..., 2].mean(), table)
op("dict in brackets", lambda x: x[{"j": 2}], table)
op("head, tail, thin", lambda x: x.head(j=2).sum("j") + x.tail(j=2).mean("j") + x.thin(j=3).sum("j"), table)
op("index that is computed", lambda x: x.isel(j=math.cast(x.isel(i=0, j=0) > 0, "int64")), table)
op("set number", lambda x: x.isel(i=1).set(x.isel(i=0)), table)
op("set slice", lambda x: x.isel(j=slice(1, 3)).set(0.5), table)
op("set array", lambda x: x.isel(j=[2, 0]).set(math.sin(x.isel(j=[1, 1]))), table)
op("set points", lambda x: x.isel(i=("p", [0, 2]), j=("p", [1, 3])).set(x.isel(i=0, j=0)), table)
op("set of another order", lambda x: x.isel(j=[3, 1]).set(const(("k", "i")).rename(k="j") * 0.3), table)
op("inc number", lambda x: x.isel(j=-1).inc(x.isel(j=0)), table)
op("inc slice", lambda x: x.isel(i=slice(None, None, 2)).inc(math.cos(x.isel(i=slice(0, 2)))), table)
op("inc duplicates", lambda x: x.isel(j=[1, 1, 0]).inc(x.isel(j=[0, 2, 3])), table)
op("inc points", lambda x: x.isel(i=("p", [0, 2, 0]), j=("p", [1, 3, 1])).inc(2.0), table)


# ---- graphs ----------------------------------------------------------------------------------------------------------


def values_of(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=[SIZES[d] for d in dims]) for dims in DIMS.values()]


def named_graph(seed: int) -> tuple[list[Any], list[Any]]:
    """Inputs and results: a value, its gradients, and the last array."""
    rng = np.random.default_rng([seed, 2])
    is_open = bool(rng.integers(2))  # whether the types leave the sizes open
    inputs = [px.xtensor(n, dims=dims, shape=[None if is_open else SIZES[d] for d in dims]) for n, dims in DIMS.items()]
    have, n = inputs[:-1], inputs[-1]
    for name in order(list(OPS), seed):
        x, y = have[rng.integers(max(len(have) - 3, 0), len(have))], have[rng.integers(len(have))]
        found = OPS[name](x, y, n)
        extra = [d for d in found.type.dims if d not in SIZES or len(found.type.dims) > 2]
        if extra:
            weights = [1 + 0.5 * px.as_xtensor(pt.arange(found.sizes[d]), dims=(d,)) for d in extra]
            for w in weights:
                found = px.dot(found, w)
        have.append(math.arcsinh(found))
    y = math.sin(have[-1]).sum() + sum(math.tanh(y).mean() for y in have[-STEPS:-1])
    y = y + sum(0.1 * x.sum() for x in inputs)  # gradients of all are connected
    lowered = rewrite_graph(y.values, include=("lower_xtensor",))  # ops of named arrays have no gradients
    gradients = pytensor.grad(lowered, inputs[:-1])
    return inputs, [y.values, have[-1].values, *(g.values if hasattr(g.type, "dims") else g for g in gradients)]
