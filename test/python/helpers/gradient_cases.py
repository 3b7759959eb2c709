"""Functions of the package whose derivatives are checked: every op of the dialect that has one, and what is composed of
them. They are a part of the one list of cases in derivative_cases.py.

Arguments are float64 with distinct values away from kinks and ties, which have tests of their own (test_gradients.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import xtensor as xt
from cases import Arg, Case
from functions import FUNCTIONS as ELEMENTWISE
from xtensor.ops import promotion as p
from xtensor.trace import build

# Dims of cases that may be of any size when the function is compiled, a letter each: every family of rules.
DYNAMIC = {
    "sin": "ab",
    "multiply": "abc",
    "pow": "ac",
    "maximum": "abc",
    "where": "abc",
    "sum one dim": "abc",
    "prod two dims": "abc",
    "max all dims": "ab",
    "std two dims": "abc",
    "logsumexp one dim": "ab",
    "contract 3 repeated": "abc",
    "dot three": "abcd",
    "transpose": "abc",
    "broadcast_like": "ab",
    "expand_dims": "a",
    "stack": "b",
    "unstack": "b",
    "concat": "a",
    "concat broadcasts": "b",
    "flip": "ab",
    "slice backwards": "b",
    "head tail thin": "b",
    "shift": "b",
    "gather outer": "ab",
    "gather pointwise": "ab",
    "scatter": "ab",
    "softmax": "nc",
    "layer_norm": "nc",
    "attention": "qkfv",
    "cross_entropy soft": "nc",
    "mlp": "niho",
}

FUNCTIONS: list[Case] = []


def case(name: str, f: Callable[..., Any], *args: Arg | dict[str, int], step: float = 1e-3) -> None:
    spread = tuple(a if isinstance(a, Arg) else Arg(a) for a in args)
    FUNCTIONS.append(Case(name, f, spread, step, tuple(DYNAMIC.get(name, ""))))


A = {"a": 4}
AB = {"a": 2, "b": 3}
BC = {"b": 3, "c": 2}
POSITIVE = Arg(AB, 0.3, 2.4)
I8 = np.dtype("i8")


def positions(values: Any, *dims: str) -> xt.Array:
    return xt.array(np.asarray(values, I8), dims)


# -- one array, element by element --------------------------------------------

for name, function in ELEMENTWISE.items():
    case(name, getattr(xt, name), Arg(AB, *function.between))
for name in ("ceil", "floor", "round", "trunc", "sign"):
    case(name, getattr(xt, name), Arg(AB, -1.8, 1.75))
for name in (
    "abs",
    "negative",
    "positive",
    "square",
    "deg2rad",
    "rad2deg",
    "sigmoid",
    "softplus",
    "log_sigmoid",
    "relu",
    "silu",
    "gelu",
    "leaky_relu",
    "elu",
    "selu",
):
    case(name, getattr(xt, name), Arg(AB, -1.55, 1.9))
case("reciprocal", xt.reciprocal, POSITIVE)
for name in ("entr", "logit"):
    case(name, getattr(xt, name), Arg(AB, 0.25, 0.75))
case("sinc", xt.sinc, Arg(AB, -1.55, 1.9))
for order in (0, 1, 2, 3):
    case(f"polygamma {order}", lambda x, order=order: xt.polygamma(order, x), Arg(AB, 1.2, 3.0))
for order in (1, 2):
    case(f"polygamma {order} of negative", lambda x, n=order: xt.polygamma(n, x), Arg(AB, -1.8, -1.2))
for name in ("gammainc", "gammaincc"):
    case(name, getattr(xt, name), Arg(AB, 0.6, 4.0), Arg(BC, 0.5, 5.0))
case("gammainc of large", xt.gammainc, Arg(AB, 17.0, 21.0), Arg(BC, 16.0, 22.0))
for order in (0, 1, 2):
    case(
        f"gammainc_by_a {order}",
        lambda a, x, n=float(order): build.function("gammainc_by_a", p.constant(n, a.dtype), a, x),
        Arg(AB, 1.2, 4.0),
        Arg(BC, 0.5, 5.0),
    )
    case(
        f"gamma_density_by_a {order}",
        lambda a, x, n=float(order): build.function("gamma_density_by_a", p.constant(n, a.dtype), a, x),
        Arg(AB, 1.2, 4.0),
        Arg(BC, 0.5, 5.0),
    )
case("betainc", xt.betainc, Arg(AB, 0.6, 4.0), Arg(BC, 0.7, 3.0), Arg(AB, 0.2, 0.8))
for orders in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)):
    # betainc_by of orders 0 is betainc, which has an op of its own.
    for name in ("betainc_by", "beta_density_by")[orders == (0.0, 0.0) :]:
        case(
            f"{name} {orders}",
            lambda a, b, x, name=name, orders=orders: build.function(
                name, *(p.constant(n, a.dtype) for n in orders), a, b, x
            ),
            Arg(AB, 1.2, 4.0),
            Arg(BC, 1.3, 3.0),
            Arg(AB, 0.2, 0.8),
        )
for name in ("log_ndtr", "ndtri"):
    case(name, getattr(xt, name), Arg(AB, 0.2, 0.8))
for name in ("beta", "betaln"):
    case(name, getattr(xt, name), Arg(AB, 0.8, 12.0), Arg(BC, 0.9, 14.0))
case("zeta", xt.zeta, Arg(AB, 1.5, 6.0), Arg(BC, 0.5, 9.0))
case("zeta of Riemann", xt.zeta, Arg(AB, -2.7, 0.6))
for name in ("kl_div", "xlogy", "xlog1py"):
    case(name, getattr(xt, name), POSITIVE, Arg(BC, 0.5, 2.2))
case("gammaincinv", xt.gammaincinv, Arg(AB, 0.6, 4.0), Arg(BC, 0.2, 0.8))
case("gammainccinv", xt.gammainccinv, Arg(AB, 0.6, 4.0), Arg(BC, 0.2, 0.8))
case("betaincinv", xt.betaincinv, Arg(AB, 0.6, 4.0), Arg(BC, 0.7, 3.0), Arg(AB, 0.2, 0.8))
case("owens_t", xt.owens_t, Arg(AB, -2.0, 2.0), Arg(BC, -0.9, 0.9))
case("owens_t of steep", xt.owens_t, Arg(AB, 0.2, 2.0), Arg(BC, 1.1, 4.0))
case("nan_to_num", xt.nan_to_num, AB)
case("scalar", lambda x: xt.sin(x) * x, Arg({}, 0.4, 0.9))
case("one element", lambda x: xt.exp(x), {"a": 1})

# -- two and three arrays -----------------------------------------------------

for name in ("add", "subtract", "multiply"):
    case(name, getattr(xt, name), AB, BC)
case("divide", xt.divide, AB, Arg(BC, 0.5, 2.2))
case("remainder", xt.remainder, Arg(AB, -3.6, 3.3), Arg(BC, 0.7, 1.3))
case("floor_divide", xt.floor_divide, Arg(AB, -3.6, 3.3), Arg(BC, 0.7, 1.3))
case("pow", xt.pow, POSITIVE, BC)
case("pow of negative", lambda x: xt.pow(x, 5.0), AB)
for exponent in (-1, -0.5, 0.5, 2, 3, 4, 2.5):
    case(f"pow {exponent}", lambda x, e=exponent: x**e, POSITIVE)
case("maximum", xt.maximum, AB, Arg(BC, -1.41, 1.33))
case("minimum", xt.minimum, AB, Arg(BC, -1.41, 1.33))
case("atan2", xt.atan2, AB, Arg(BC, -1.3, 1.2))
case("copysign", xt.copysign, AB, Arg(BC, -1.3, 1.2))
case("scale", lambda x, y: build.binary("scale", x, y), AB, Arg(BC, 0.5, 1.5))
case("hypot", xt.hypot, AB, Arg(BC, -1.3, 1.2))
case("logaddexp", xt.logaddexp, AB, BC)
case("clip", lambda x: xt.clip(x, -0.7, 0.9), Arg({"a": 3, "b": 3}, -1.5, 1.6))
case("clip by arrays", xt.clip, Arg({"a": 3, "b": 3}), Arg({"b": 3}, -0.9, -0.5), Arg({"a": 3}, 0.5, 0.8))
case("where", lambda x, y: xt.where(x > 0, x * y, xt.sin(y)), AB, BC)
case("select", lambda x, y: xt.select([x > 0.5, x < -0.5], [x * x, y], x * y), AB, {"b": 3})
case("mask", lambda x: x.where(x > 0, 2.0), AB)
case("same operand", lambda x: x * x / (1.5 + x * x), AB)
case("outer by names", lambda x, y: x * y, {"a": 2}, {"b": 3})
case("scalar and array", lambda x, y: x * y + x, {}, AB)

# -- casts --------------------------------------------------------------------

for dtype in ("float32", "float16", "bfloat16"):
    case(
        f"cast {dtype}",
        lambda x, t=dtype: x.astype(t).astype("float64") * 3.0,
        Arg(AB, -1.5, 1.5, grid=0.125),
        step=0.25,
    )

# -- reductions ---------------------------------------------------------------

ABC = {"a": 2, "b": 3, "c": 2}
for kind in ("sum", "prod", "max", "min", "mean", "var", "std", "norm", "logsumexp"):
    reduction = getattr(xt, kind)
    case(f"{kind} one dim", lambda x, f=reduction: f(x, "b"), ABC)
    case(f"{kind} two dims", lambda x, f=reduction: f(x, ("c", "a")), ABC)
    case(f"{kind} all dims", lambda x, f=reduction: f(x), AB)
for order in (1, 3, math.inf, -math.inf, 0.5):
    case(f"norm {order}", lambda x, o=order: xt.norm(x, "b", ord=o), AB)
case("var ddof", lambda x: xt.var(x, "b", ddof=1), AB)
case("std ddof", lambda x: xt.std(x, "b", ddof=1), AB)
case("prod of many", lambda x: xt.prod(x, "b"), {"a": 2, "b": 11})
case("prod of many in all dims", lambda x: xt.prod(x), {"a": 3, "b": 9})
case("prod of one", lambda x: xt.prod(x, "b"), {"a": 3, "b": 1})
case("sum skipna", lambda x: xt.sum(x, "b", skipna=True), AB)
case("mean skipna", lambda x: xt.mean(x, "b", skipna=True), AB)
case("count", lambda x: x * xt.count_nonzero(x, "b"), AB)

# -- contractions -------------------------------------------------------------

case("dot", lambda x, y: xt.dot(x, y, dim="b"), AB, BC)
case("dot batched", lambda x, y: xt.dot(x, y, dim="k"), {"n": 2, "a": 2, "k": 3}, {"k": 3, "n": 2, "c": 2})
case("dot of itself", lambda x: xt.dot(x, x), AB)
case("matmul", lambda x, y: x @ y, AB, BC)
case("dot three", lambda x, y, z: xt.dot(x, y, z, dim=("b", "c")), AB, BC, {"c": 2, "d": 2})
case("dot sums alone", lambda x, y: xt.dot(x, y, dim=("a", "b")), AB, BC)
case("outer product", lambda x, y: xt.dot(x, y, dim=()), {"a": 2}, {"b": 3})
case("contract 1", lambda x: build.contract([x], ("a",), ("c", "b")), ABC)
case("contract order", lambda x, y: build.contract([x, y], ("b",), ("c", "a")), AB, BC)
case("contract 3", lambda x, y, z: build.contract([x, y, z], ("b",), ("c", "a")), AB, BC, {"a": 2, "b": 3})
case("contract 3 repeated", lambda x, y: build.contract([x, y, x], ("b",), ("a", "c")), AB, BC)
case("contract all repeated", lambda x: build.contract([x, x, x], ("a", "b"), ()), AB)
case("contract square renamed", lambda x: build.contract([x, build.rename(x, {"a": "c"})], ("b",), None), AB)
case("gram matrix", lambda x: xt.dot(x, x.rename(a="c"), dim="b"), AB)

# -- dims ---------------------------------------------------------------------

case("rename", lambda x: x.rename(a="z") * 2.0, AB)
case("rename swapped", lambda x: xt.sin(x) * x.rename(a="b", b="a"), {"a": 3, "b": 3})
case("transpose", lambda x: xt.exp(x.transpose("c", "a", "b")), ABC)
case("transpose squared", lambda x, y: x.transpose("b", "a") * y, AB, {"b": 3, "a": 2})
case("broadcast_like", lambda x, y: xt.broadcast_like(x * x, y), {"b": 3}, AB)
case("expand_dims", lambda x: (x * x).expand_dims({"z": 2}), A)
case("squeeze", lambda x: xt.sin(x.squeeze("b")), {"a": 3, "b": 1, "c": 2})
case("stack", lambda x: xt.exp(x.stack(z=("c", "a"))), ABC)
case("unstack", lambda x: xt.exp(x.unstack(z={"p": 2, "q": 3})), {"z": 6, "b": 2})
case("concat", lambda x, y: xt.concat([x * x, y, x], dim="b"), AB, {"a": 2, "b": 2})
case("concat broadcasts", lambda x, y: xt.concat([x, y * y], dim="a"), AB, {"b": 3})
case("concat new dim", lambda x, y: xt.concat([x, y * x], dim="z"), AB, AB)
case("split", lambda x: (lambda p: p[0] * p[1])(xt.split(x, 2, dim="a")), {"a": 4, "b": 2})
case("flip", lambda x: x * xt.flip(x, dim=("a", "b")), AB)

# -- positions ----------------------------------------------------------------

LONG = {"a": 7, "b": 2}
case("slice", lambda x: xt.sin(x.isel(a=slice(1, 5))), LONG)
case("slice step", lambda x: xt.sin(x.isel(a=slice(1, None, 3), b=slice(0, 1))), LONG)
case("slice backwards", lambda x: xt.sin(x.isel(a=slice(5, 0, -2))), LONG)
case("slice empty", lambda x: x.isel(a=slice(3, 3)).sum() + xt.sin(x).sum(), LONG)
case("isel int", lambda x: xt.sin(x.isel(a=-2)), LONG)
case("head tail thin", lambda x: x.head(a=3) * x.tail(a=3) * x.thin(a=3), LONG)
case("diff", lambda x: xt.sin(xt.diff(x, "a", n=2)), LONG)
case("pad interior", lambda x, v: xt.exp(build.pad(x, v, {"a": (1, 2, 2), "b": (0, 1, 0)})), AB, {})
case("pad value", lambda x, v: xt.exp(xt.pad(x, {"a": (1, 2)}, constant_values=v)), AB, {})
for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
    case(f"pad {mode}", lambda x, m=mode: xt.sin(xt.pad(x, {"a": (1, 2), "b": 1}, mode=m)), {"a": 4, "b": 2})
case("roll", lambda x: x * xt.roll(x, {"a": 2, "b": -1}), LONG)
case("shift", lambda x: x * xt.shift(x, {"a": 2}, fill_value=0.5), LONG)
case("shift back", lambda x: x * xt.shift(x, {"a": -1}, fill_value=0.0), LONG)
case("tile", lambda x: xt.sin(xt.tile(x, {"a": 3})), AB)
case("repeat", lambda x: xt.sin(xt.repeat(x, 2, dim="b")), AB)
case("repeat counts", lambda x: xt.sin(xt.repeat(x, [2, 0, 3], dim="b")), AB)
case("gather outer", lambda x: xt.sin(x.isel(a=positions([0, 2, -1, 2], "i"), b=positions([1, 0], "j"))), LONG)
case("gather pointwise", lambda x: xt.sin(x.isel(a=positions([6, 1, 1], "p"), b=positions([0, -1, 1], "p"))), LONG)
case("gather along kept", lambda x: xt.sin(x.isel(a=positions([3, -3], "b"))), LONG)
case("gather scalar", lambda x: xt.sin(x.isel(a=positions(4))), LONG)
case("gather two dims", lambda x: x.isel(a=positions([[0, 6, 0], [3, 3, -7]], "i", "j")) ** 2, LONG)
case(
    "gather same name",
    lambda x: xt.sin(build.gather("raise", x, {"a": build.constant(np.array([1, 1, 0]), ("a",))})),
    LONG,
)
case(
    "gather clip", lambda x: xt.sin(build.gather("clip", x, {"a": build.constant(np.array([9, -9, 2]), ("i",))})), LONG
)
case("at get fill", lambda x: xt.sin(x.at(a=positions([2, 9, 2], "i")).get(mode="fill", fill_value=0.5)), LONG)
case("take", lambda x: xt.sin(xt.take(x, positions([5, 5, 0], "i"), dim="a")), LONG)
case("take_along", lambda x: xt.sin(xt.take_along(x, positions([[6, 0], [6, 1], [2, 2]], "a", "b"), dim="a")), LONG)
case("argmax then isel", lambda x: xt.sin(x.isel(a=xt.argmax(x, "a"))), LONG)
case(
    "scatter",
    lambda x, u: xt.sin(build.scatter("add", "drop", x, {"a": build.constant(np.array([1, 4, 1, 9]), ("i",))}, u)),
    LONG,
    {"i": 4},
)
case(
    "scatter outer",
    lambda x, u: xt.sin(
        build.scatter(
            "add",
            "raise",
            x,
            {"a": build.constant(np.array([1, -1, 1]), ("i",)), "b": build.constant(np.array([0, 0]), ("j",))},
            u,
        )
    ),
    LONG,
    {"j": 2, "i": 3},
)

# -- scans and windows --------------------------------------------------------

ABC = {"a": 3, "b": 4, "c": 2}
for scan in (xt.cumsum, xt.cumprod, xt.cummax, xt.cummin, xt.cumlogsumexp):
    name = scan.__name__
    case(f"{name} last", lambda x, f=scan: f(x, "b"), AB)
    case(f"{name} first", lambda x, f=scan: f(x, "a"), ABC)
    case(f"{name} reverse", lambda x, f=scan: f(x, "b", reverse=True), ABC)
    case(f"{name} exclusive", lambda x, f=scan: f(x, "a", exclusive=True).isel(a=slice(1, None)), ABC)
    case(f"{name} all", lambda x, f=scan: f(x), AB)
case("cumprod with zeros", lambda x: xt.cumprod(x * xt.array([1.0, 0.0, 1.0, 0.0], "a"), "a"), A)
case("recurrence", lambda a, x: build.recurrence(a, x, "b"), POSITIVE, {"b": 3, "c": 2})
case("window", lambda x: build.window(x, "a", "w", 3, 2), {"a": 7})
case("overlap_add", lambda x: build.overlap_add(x, "a", "w", 8, 2), {"a": 3, "w": 3})
for kind in ("sum", "mean", "max", "min", "prod", "var", "std"):
    case(f"rolling {kind}", lambda x, k=kind: getattr(x.rolling(a=3), k)().isel(a=slice(2, None)), {"a": 6, "b": 2})
    case(f"coarsen {kind}", lambda x, k=kind: getattr(x.coarsen(a=3), k)(), {"b": 2, "a": 6})
for kind in ("sum", "max", "var", "std"):
    case(
        f"rolling {kind}, long",
        lambda x, k=kind: getattr(x.rolling(a=14), k)().isel(a=slice(13, None)),
        {"a": 30},
    )
case("rolling var min_periods", lambda x: x.rolling(a=14, min_periods=2).var().isel(a=slice(1, None)), {"a": 30})
case("rolling min_periods", lambda x: x.rolling(a=3, min_periods=1, center=True).mean(), {"a": 5, "b": 2})
case(
    "conv",
    lambda x, w: xt.nn.conv(x, w, dims={"h": "kh", "w": "kw"}, dim="i", padding=1, stride={"h": 2}, dilation={"w": 2}),
    {"i": 2, "h": 4, "w": 5},
    {"o": 2, "i": 2, "kh": 2, "kw": 2},
)
case("conv grouped", lambda x, w: xt.nn.conv(x, w, dims={"t": "k"}), {"c": 2, "t": 5}, {"c": 2, "k": 3})
case("max_pool", lambda x: xt.nn.max_pool(x, {"h": 2, "w": 3}, 1), {"h": 4, "w": 5})
case("avg_pool", lambda x: xt.nn.avg_pool(x, {"h": 2}, padding=1), {"h": 4, "w": 2})
case("fft", lambda x: (xt.fft.fft(x, "t").imag, xt.fft.ifft(xt.complex(x, 2 * x), norm="ortho").real), {"b": 2, "t": 5})
case("rfft", lambda x: abs(xt.fft.rfft(x, "t") + 3) ** 2 + abs(xt.fft.ihfft(x, "t")) ** 2, {"b": 2, "t": 4})
case(
    "irfft",
    lambda x: (xt.fft.irfft(xt.complex(x, x * x), "t"), xt.fft.hfft(xt.complex(x, x * x), ("b", "t"), n={"t": 5})),
    {"b": 2, "t": 3},
)
case("dct", lambda x: [xt.fft.dct(x, "t", type=i) + xt.fft.idst(x, "t", type=i) for i in (1, 2, 3, 4)], {"t": 5})
case("convolve", lambda x, k: xt.signal.convolve(x, k, dims=("t", "k")), {"b": 2, "t": 5}, {"k": 3})
case("convolve same", lambda x, k: xt.signal.convolve(x, k, dims=("t", "k"), mode="same"), {"t": 3}, {"k": 4, "b": 2})

# -- updates: duplicates among the positions, v broadcast and not, every kind --------------------

ROWS = xt.array([1, 4, 1, -3], "i")
PAIRS = {"a": positions([0, 6, 0], "p"), "b": positions([1, 0, 1], "p")}
V = {"i": 4, "b": 2}

for kind in ("set", "add", "subtract", "multiply", "divide", "max", "min"):

    def update(at, kind=kind, **mode):
        return lambda x, v: xt.sin(getattr(x.at(at), kind)(v, **mode))

    lo = 0.4 if kind == "divide" else -1.6
    case(f"at {kind} rows", update({"a": ROWS}), LONG, Arg(V, lo))
    case(f"at {kind} number", update({"a": ROWS}), LONG, Arg({}, lo))
    case(f"at {kind} pairs", update(PAIRS), LONG, Arg({"p": 3}, lo))
    case(f"at {kind} outer", update({"a": positions([1, -1, 1], "i"), "b": positions([0, 0], "j")}), LONG,
         Arg({"j": 2, "i": 3}, lo))  # fmt: skip
    case(f"at {kind} along", update({"a": positions([3, -3], "b")}), LONG, Arg({"b": 2}, lo))
    case(f"at {kind} drop", update({"a": positions([3, 9, 3, -8], "i")}, mode="drop"), LONG, Arg({"i": 4}, lo))
    case(f"at {kind} clip", update({"a": positions([3, 9, 6, -8], "i")}, mode="clip"), LONG, Arg(V, lo))
    case(f"at {kind} slices", update({"a": slice(1, 6), "b": 0}), LONG, Arg({"a": 5}, lo))
    case(f"at {kind} steps", update({"a": slice(None, 0, -2)}), LONG, Arg({"a": 3, "b": 2}, lo))
    case(f"at {kind} slice and rows", update({"a": ROWS, "b": slice(1, 2)}), LONG, Arg({"i": 4, "b": 1}, lo))
    case(f"at {kind} mask", update({"a": [True, False, True, True, False, False, True]}), LONG, Arg({"b": 2}, lo))

# -- in order -----------------------------------------------------------------

case("sort", lambda x: xt.sin(xt.sort(x, "a")), LONG)
case("sort descending", lambda x: xt.sin(xt.sort(x, "b", descending=True)), LONG)
case("top_k", lambda x: xt.sin(xt.top_k(x, 3, "a")[0]), LONG)
case("median", lambda x: xt.sin(xt.median(x, "a")) + xt.sin(xt.median(x)), LONG)
case("quantile", lambda x: xt.sin(xt.quantile(x, [0.2, 0.7], "a")), LONG)
case("quantile skipna", lambda x: xt.sin(xt.quantile(x, 0.3, "a", skipna=True)), LONG)

# -- control flow -------------------------------------------------------------


def rnn(x: Any, w: Any, u: Any, h: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        z = xt.tanh(xt.dot(x, w, dim="i") + xt.dot(h, u, dim="h").rename(k="h"))
        return z, z.sum("h")

    return xt.scan(step, h, x, dim="t")


def blocks(x: Any, w: Any) -> Any:
    @xt.checkpoint
    def block(c: Any, x: Any) -> Any:
        return xt.scan(lambda c, x: (xt.sin(c * x + w.sum()), c * x), c, x, dim="t")

    return xt.scan(block, w.sum() * 0.5, x, dim="o")


def newton(a: Any) -> Any:
    return xt.while_loop(lambda s: abs(s * s - a) > 1e-3, lambda s: 0.5 * (s + a / s), a + 1.0, max_steps=8)


@xt.custom_derivative
def scaled_exp(x: Any, w: Any) -> Any:
    return xt.exp(x) * w


@scaled_exp.defpushforward
def _(primals: Any, tangents: Any) -> Any:
    (x, w), (dx, dw) = primals, tangents
    e = xt.exp(x)
    return e * w, e * w * dx + e * dw


@xt.custom_derivative
def scaled_sin(x: Any, w: Any) -> Any:
    return xt.sin(x) * w


scaled_sin.defpullback(
    lambda x, w: (xt.sin(x) * w, {"x": x, "w": w}),
    lambda kept, ct: (xt.cos(kept["x"]) * kept["w"] * ct, (xt.sin(kept["x"]) * ct).sum("b")),
)

WEIGHTS = (Arg({"i": 2, "h": 3}, -0.6, 0.7), Arg({"h": 3, "k": 3}, -0.6, 0.7), {"h": 3})
case("scan", rnn, {"t": 4, "i": 2}, *WEIGHTS)
case("scan of batches", rnn, {"t": 3, "n": 2, "i": 2}, *WEIGHTS[:2], {"n": 2, "h": 3})
case("scan reverse", lambda x, c: xt.scan(lambda c, x: (xt.sin(c * x), c), c, x, dim="b", reverse=True), AB, {"a": 2})
case("scan of nothing", lambda c: xt.scan(lambda c, _: (xt.cos(c), c * c), c, None, dim="t", length=3)[1], A)
case("scan over all of x", lambda x, c: xt.scan(lambda c, e: (xt.sin((x * c).sum() + e), c), c, x, dim="a"), A, {})
case("map", lambda x: xt.map(lambda e: xt.exp(e).sum(), x, dim="a"), AB)
case("fori_loop", lambda x, c: xt.fori_loop(0, 3, lambda i, c: xt.sin(c * x.isel(a=i)), c), A, {})
case("cond", lambda x, y: xt.cond(x.sum() > 100.0, lambda: x * y, lambda: xt.sin(x) + y * y), AB, {"b": 3})
case("switch", lambda x, y: xt.switch(1, [lambda: y, lambda: y * xt.exp(x.sum()), lambda: y * y]), AB, {"b": 3})
case(
    "switch in scan",
    lambda x, c: xt.scan(lambda c, e: (xt.cond(e > 0, lambda: c * e, lambda: xt.sin(c)), c), c, x, dim="a")[0],
    A,
    {},
)
case("while", newton, Arg({}, 2.0, 2.5))
case("checkpoint", lambda x, y: xt.checkpoint(lambda x: (xt.sin(x) * y, xt.exp(x)))(x), AB, {"b": 3})
case("checkpoint in blocks", blocks, {"o": 2, "t": 3}, {"w": 2})
case("custom pushforward", lambda x, w: scaled_exp(xt.sin(x), w), AB, {"b": 3})
case("custom pullback", lambda x, w: scaled_sin(x * x, w), AB, {"a": 2})
case("custom in scan", lambda x, c: xt.scan(lambda c, e: (scaled_exp(c, e), c), c, x, dim="a"), Arg(A, 0.2, 0.6), {})

# -- networks -----------------------------------------------------------------

ROWS = {"n": 2, "c": 3}
case("softmax", lambda x: xt.nn.softmax(x, "c"), ROWS)
case("softmax two dims", lambda x: xt.nn.softmax(x, ("n", "c")), ROWS)
case("log_softmax", lambda x: xt.nn.log_softmax(x, "c"), ROWS)
case("layer_norm", lambda x, w, b: xt.nn.layer_norm(x, "c", weight=w, bias=b), ROWS, {"c": 3}, {"c": 3})
case(
    "attention",
    lambda q, k, v: xt.nn.attention(q, k, v, dims=("q", "k", "f")),
    {"q": 2, "f": 2},
    {"k": 3, "f": 2},
    {"k": 3, "v": 2},
)
case(
    "attention masked",
    lambda q, k, v: xt.nn.attention(
        q, k, v, dims=("q", "k", "f"), mask=xt.array([[True, False, True], [False, False, False]], ("q", "k"))
    ),
    {"q": 2, "f": 2},
    {"k": 3, "f": 2},
    {"k": 3, "v": 2},
)
case("cross_entropy", lambda x: xt.nn.cross_entropy(x, positions([2, 0], "n"), dim="c"), ROWS)
case("cross_entropy soft", lambda x, t: xt.nn.cross_entropy(x, t, dim="c"), ROWS, Arg({"c": 3, "n": 2}, 0.1, 0.9))
case("mlp", lambda x, w, u: xt.tanh(xt.tanh(x @ w) @ u), {"n": 2, "i": 3}, {"i": 3, "h": 2}, {"h": 2, "o": 2})
case("fan out", lambda x: (lambda y: y * y.sum("b") + xt.exp(y))(xt.sin(x)), AB)
case("several results", lambda x, y: (x * y, {"s": xt.sin(x).sum("a")}), AB, {"b": 3})
case("unused argument", lambda x, y: xt.sin(x), AB, {"c": 2})

# -- matrices -----------------------------------------------------------------

SQUARE = {"n": 2, "row": 3, "col": 3}


def dominant(a: Any) -> Any:
    """`a` plus 6 on the diagonal: positive definite in its symmetric part, and no two pivots close."""
    return a + 6.0 * xt.eye(a.sizes["row"], a.sizes["col"])


for name in ("cholesky", "inv", "det", "diagonal", "trace", "pinv"):
    case(name, lambda a, n=name: getattr(xt.linalg, n)(dominant(a)), SQUARE)
case("solve", lambda a, b: xt.linalg.solve(dominant(a), b), SQUARE, {"k": 2, "row": 3})
case(
    "solve transposed",
    lambda a, b: xt.linalg.solve(dominant(a), b, dims=("col", "row")),
    {"row": 3, "n": 2, "col": 3},
    {"col": 3, "n": 2},
)
for lower in (True, False):
    for unit in (True, False):
        case(
            f"triangular_solve lower={lower} unit={unit}",
            lambda a, b, o={"lower": lower, "unit": unit}: xt.linalg.triangular_solve(dominant(a), b, **o),
            SQUARE,
            {"row": 3, "n": 2},
        )
case("slogdet", lambda a: xt.linalg.slogdet(dominant(a))[1], SQUARE)
TALL, WIDE = {"row": 3, "col": 2}, {"n": 2, "col": 3, "row": 2}
for sizes in (TALL, WIDE, {"row": 3, "col": 3}):
    what = "tall" if sizes is TALL else "wide" if sizes is WIDE else "square"
    case(f"qr {what}", lambda a: xt.linalg.qr(dominant(a)), sizes)
    case(f"lu {what}", lambda a: xt.linalg.lu(dominant(a))[1:], sizes)
    case(f"pinv {what}", lambda a: xt.linalg.pinv(dominant(a)), sizes)
    case(f"singular values {what}", lambda a: xt.linalg.svd(a)[1], sizes)
    case(f"singular vectors {what}", lambda a: tuple(v * v for v in xt.linalg.svd(a)[::2]), sizes)
    case(f"lstsq {what}", lambda a, b: xt.linalg.lstsq(dominant(a), b), sizes, {"row": sizes["row"]})
case("eigenvalues", lambda a: xt.linalg.eigh(a)[0], SQUARE)
case("eigenvectors", lambda a: xt.linalg.eigh(a)[1] ** 2, {"row": 3, "col": 3})
for order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
    case(f"matrix norm {order}", lambda a, o=order: xt.linalg.norm(a, o), TALL)
for power in (0, 1, 3, -2):
    case(f"matrix_power {power}", lambda a, n=power: xt.linalg.matrix_power(dominant(a), n), {"row": 2, "col": 2})
case(
    "cholesky likelihood",
    lambda a, b: (lambda l: (xt.linalg.triangular_solve(l, b) ** 2).sum() + xt.log(xt.linalg.diagonal(l)).sum())(  # noqa: E741
        xt.linalg.cholesky(dominant(a))
    ),
    {"row": 3, "col": 3},
    {"row": 3},
)
