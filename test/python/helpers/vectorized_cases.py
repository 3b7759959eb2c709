"""Functions of one instance that are vectorized and compared with the stack of instances, values and derivatives: every
family of ops, with arguments that differ between instances, are shared, or have different batch names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xtensor as xt
from xtensor.trace import build


@dataclass(frozen=True)
class VectorizedCase:
    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    dims: tuple[str, ...] | str = "v"


CASES: list[VectorizedCase] = []
RNG = np.random.default_rng(5)


def case(name: str, f: Callable[..., Any], *args: Any, dims: tuple[str, ...] | str = "v") -> None:
    CASES.append(VectorizedCase(name, f, args, dims))


def real(lo: float = -1.5, hi: float = 1.5, **sizes: int) -> xt.Array:
    """Different values in [lo, hi]."""
    n = int(np.prod(list(sizes.values())))
    values = np.linspace(lo, hi, n) if n > 1 else np.full(n, 0.4 * lo + 0.6 * hi)
    return xt.array(RNG.permutation(values).reshape(tuple(sizes.values())), tuple(sizes))


def positions(n: int, **sizes: int) -> xt.Array:
    return xt.array(RNG.integers(-n, n, tuple(sizes.values())), tuple(sizes))


def added(x: Any, i: Any, u: Any) -> Any:
    return x.at(i=i).add(u)


# -- elementwise ----------------------------------------------------------------------------------

case("unary", lambda x: [xt.exp(x), xt.tanh(x), xt.sin(x) / 2, xt.abs(x), -x, xt.floor(x)], real(v=3, i=4))
case("positive", lambda x: (xt.log(x), xt.sqrt(x), x**1.5, xt.log1p(x)), real(0.2, 3, v=3, i=4))
case("shared second", lambda x, w: x * w + x / (3 + w), real(v=3, i=4), real(i=4))
case("shared first", lambda w, x: w - x * w, real(i=4), real(v=3, i=4))
case("shared with more dims", lambda w, x: w - x, real(j=2, i=4), real(v=3, i=4))
case("different names", lambda x, y: x * y - xt.sin(y), real(a=2, i=3), real(b=4, i=3), dims=("a", "b"))
case("names in another order", lambda x, y: x * y, real(i=3, b=4, a=2), real(b=4), dims=("a", "b"))
case("select", lambda x, y: xt.where(x > y, x * y, xt.exp(y)), real(v=3, i=4), real(i=4))
case("select by shared", lambda x, y: xt.where(x > 0, y, 2 * x), real(i=4), real(v=3, i=4))
case("a safe branch", lambda x: xt.where(x > 0, xt.sqrt(x), 0.0), real(v=3, i=4))
case("compare and count", lambda x, y: ((x > y).sum(), xt.isnan(x).any()), real(v=3, i=4), real(i=4))
case("integers", lambda i, x: (i // 3, i % 3, i << 1, ~i, x * i), positions(9, v=3, i=2), real(i=2))
case("maximum", lambda x, y: xt.maximum(x, y) - xt.minimum(2 * x, y), real(v=3, i=4), real(i=4))
case("casts", lambda x: (x.astype("f4") * 2, x.astype("i8")), real(-3, 3, v=3, i=4))

# -- reductions, contractions ---------------------------------------------------------------------

case("sums", lambda x: (x.sum("i"), x.mean(), xt.std(x), xt.var(x, dim="j")), real(v=3, i=4, j=2))
case("extremes", lambda x: (x.max("i"), x.min(), x.argmax("i"), xt.argmin(x, dim="j")), real(v=3, i=4, j=2))
case("prod", lambda x: x.prod("i"), real(v=3, i=4))
case("logsumexp", lambda x: xt.logsumexp(x, dim="i"), real(v=3, i=4, j=2))
case("softmax", lambda x: xt.nn.softmax(x, dim="i"), real(v=3, i=4))
case("dot with shared", lambda x, w: xt.dot(x, w, dim="i"), real(v=3, i=4), real(i=4, o=2))
case("dot of shared", lambda w, x: xt.dot(w, x, dim="i"), real(o=2, i=4), real(v=3, i=4, j=3))
case("dot of both", lambda x, y: xt.dot(x, y, dim="i"), real(i=4, v=3, o=2), real(v=3, i=4, p=2))
case("dot of names", lambda x, y: xt.dot(x, y, dim="i"), real(a=2, i=4), real(b=3, i=4, o=2), dims=("a", "b"))
case("three factors", lambda x, y, z: xt.dot(x, y, z, dim=("i", "j")), real(v=3, i=4), real(i=4, j=2), real(v=3, j=2))
case("norm", lambda x: xt.norm(x, dim="i"), real(v=3, i=4))

# -- shape ----------------------------------------------------------------------------------------

case("transpose", lambda x: x.transpose("j", "i") * 2, real(v=3, i=4, j=2))
case("swapped names", lambda x: x.rename(i="j", j="i") + x, real(v=3, i=2, j=2))
case("expand and squeeze", lambda x: (x.expand_dims("k"), x.isel(i=[1]).squeeze("i")), real(v=3, i=4))
case("broadcast", lambda x, y: xt.broadcast(x, y), real(v=3, i=4), real(j=2))
case("stack and unstack", lambda x: x.stack(z=("i", "j")).unstack(z={"p": 2, "q": 4}), real(v=3, i=4, j=2))
case("pad", lambda x: xt.pad(x, {"i": (1, 2)}), real(v=3, i=4))
case("pad with its own", lambda x, c: xt.pad(x, {"i": (1, 2)}, constant_values=c), real(v=3, i=4), real(v=3))
case("pad shared with its own", lambda x, c: xt.pad(x, {"i": (1, 0)}, constant_values=c), real(i=4), real(v=3))
case("concat with shared", lambda x, y: xt.concat([y, x, y], "i"), real(v=3, i=4), real(i=2))
case("concat along new", lambda x, y: xt.concat([y, x], "new"), real(v=3, i=4), real(i=4))
case(
    "roll, flip, shift", lambda x: (xt.roll(x, {"i": 1}), xt.flip(x, "i"), x.shift(i=1, fill_value=0.0)), real(v=3, i=4)
)
case("tile and repeat", lambda x: (xt.tile(x, {"i": 2}), xt.repeat(x, 2, dim="i")), real(v=3, i=4))

# -- index ----------------------------------------------------------------------------------------

case("slice", lambda x: x.isel(i=slice(1, 4, 2)), real(v=3, i=4))
case("int", lambda x: x.isel(i=2), real(v=3, i=4, j=2))
case("a shared index", lambda x, i: x.isel(i=i), real(v=3, i=4), positions(4, p=3))
case("its own index", lambda x, i: x.isel(i=i), real(i=4, j=2), positions(4, v=3, p=3))
case("its own index of its own", lambda x, i: x.isel(i=i), real(v=3, i=4, j=2), positions(4, v=3, p=3))
case("a scalar index of its own", lambda x, i: x.isel(i=i), real(v=3, i=4), positions(4, v=3))
case("pointwise", lambda x, i, j: x.isel(i=i, j=j), real(v=3, i=4, j=2), positions(4, v=3, p=3), positions(2, p=3))
case("outer", lambda x, i, j: x.isel(i=i, j=j), real(v=3, i=4, j=2), positions(4, v=3, p=3), positions(2, q=2))
case("pointwise with a kept dim", lambda x, i: x.isel(i=i), real(v=3, j=3, i=4), positions(4, v=3, j=3))
case("index by other names", lambda x, i: x.isel(i=i), real(a=2, i=4), positions(4, b=3, p=2), dims=("a", "b"))
case("take", lambda x, i: xt.take(x, i, dim="i"), real(v=3, i=4), positions(4, v=3, p=2))
case("one hot", lambda i, w: xt.one_hot(i, 4, dim="c") * w, xt.array([0, 3, 1], "v"), real(c=4))
case("add at its own", added, real(v=3, i=4), positions(4, v=3, p=5), real(v=3, p=5))
case("add to shared", added, real(i=4), positions(4, v=3, p=5), real(p=5))
case("add of its own to shared", added, real(i=4), positions(4, p=5), real(v=3, p=5))

# -- updates, sorting -----------------------------------------------------------------------------

OWN = positions(4, v=3, p=5)  # with duplicates
for name in ("set", "add", "subtract", "multiply", "divide", "max", "min"):

    def update(x: Any, i: Any, u: Any, n: str = name) -> Any:
        return getattr(x.at(i=i), n)(u)

    case(f"{name} at its own", update, real(v=3, i=4), OWN, real(0.5, 2, v=3, p=5))
    case(f"{name} into shared", update, real(i=4), OWN, real(0.5, 2, p=5))
    case(f"{name} of its own at shared", update, real(v=3, i=4), positions(4, p=5), real(0.5, 2, v=3, p=5))
case("set and drop", lambda x, i, u: x.at(i=i).set(u, mode="drop"), real(i=4), xt.array([0, 9, 3], "v"), real(v=3))
case(
    "update outer",
    lambda x, i, j, u: x.at(i=i, j=j).add(u),
    real(v=3, i=4, j=2),
    positions(4, v=3, p=2),
    positions(2, q=3),
    real(p=2, q=3),
)
case(
    "sort",
    lambda x: (xt.sort(x, dim="i"), xt.argsort(x, dim="i"), xt.sort(x, dim="i", descending=True)),
    real(v=3, i=5, j=2),
)
case("top_k", lambda x: xt.top_k(x, 2, dim="i"), real(v=3, i=5))
case("median and quantile", lambda x: (xt.median(x, dim="i"), xt.quantile(x, [0.25, 0.8], dim="i")), real(v=3, i=5))
case("take_along", lambda x, i: xt.take_along(x, i, dim="i"), real(v=3, i=4, j=2), positions(4, v=3, i=3, j=2))
case("take_along of shared", lambda x, i: xt.take_along(x, i, dim="i"), real(i=4), positions(4, v=3, i=3))
case("searchsorted", lambda s, x: xt.searchsorted(xt.sort(s, dim="i"), x), real(v=3, i=5), real(v=3, q=4))
case("rank", lambda x: xt.rank(x, dim="i"), real(v=3, i=5))

# -- linear algebra -------------------------------------------------------------------------------


def matrices(rows: int = 3, cols: int = 3, **batch: int) -> xt.Array:
    """Far from singular, with singular values far apart."""
    shape = (*batch.values(), rows, cols)
    values = RNG.standard_normal(shape) * 0.4 + np.eye(rows, cols) * np.arange(2, 2 + cols)
    return xt.array(values, (*batch, "row", "col"))


def positive(**batch: int) -> xt.Array:
    a = matrices(**batch).values
    return xt.array(a @ a.swapaxes(-1, -2) + np.eye(3), (*batch, "row", "col"))


def spectrum(a: Any) -> Any:
    """What does not depend on signs."""
    w, v = xt.linalg.eigh(a)
    return w, v * v


def singular(a: Any) -> Any:
    u, s, vh = xt.linalg.svd(a)
    return s, u * u, vh * vh


def guarded_cholesky(a: Any, p: Any) -> Any:
    """The branch not taken has no factor."""
    return xt.cond(p > 0, lambda a: xt.linalg.cholesky(a), lambda a: a * 2, a * p)


case("cholesky", xt.linalg.cholesky, positive(v=3))
case("cholesky over names", lambda a, s: xt.linalg.cholesky(a * s), positive(a=2), real(0.5, 2, b=3), dims=("a", "b"))
case("cholesky of shared", lambda a, w: xt.linalg.cholesky(a) * w, positive(), real(v=3, row=3, col=3))
case("qr", lambda a: xt.linalg.qr(a), matrices(v=3))
case("qr of tall", lambda a: xt.linalg.qr(a), matrices(4, 2, v=3))
case("qr of wide", lambda a: xt.linalg.qr(a), matrices(2, 4, v=3))
case("triangular_solve", lambda a, b: xt.linalg.triangular_solve(a, b), matrices(v=3), real(v=3, row=3, k=2))
case(
    "triangular_solve with shared",
    lambda a, b: xt.linalg.triangular_solve(a, b, lower=False),
    matrices(),
    real(v=3, row=3),
)
case("solve", lambda a, b: xt.linalg.solve(a, b), matrices(v=3), real(v=3, row=3, k=2))
case("solve of shared", lambda a, b: xt.linalg.solve(a, b), matrices(v=3), real(row=3))
case("solve over names", lambda a, b: xt.linalg.solve(a, b), matrices(a=2), real(b=3, row=3), dims=("a", "b"))
case("inv", xt.linalg.inv, matrices(v=3))
case("det", xt.linalg.det, matrices(v=3))
case("slogdet", lambda a: xt.linalg.slogdet(a), matrices(v=3))
case("eigh", spectrum, positive(v=3))
case("svd", singular, matrices(v=3))
case("svd of tall", singular, matrices(4, 2, v=3))
case("lu", lambda a: xt.linalg.lu(a), matrices(v=3))
case("pinv", lambda a: xt.linalg.pinv(a), matrices(4, 2, v=3))
case("norm and trace", lambda a: (xt.linalg.norm(a), xt.linalg.trace(a)), matrices(v=3))
case("cond around cholesky", guarded_cholesky, positive(v=4), xt.array([1.0, -1.0, 2.0, -0.5], "v"))
case(
    "scan of solve",
    lambda a, b: xt.scan(lambda c, e: (xt.linalg.solve(a, c + e).rename(col="row"), c), b, b * xt.ones(t=3), dim="t")[
        0
    ],
    matrices(v=3),
    real(row=3),
)

# -- checkpoint, custom derivatives ---------------------------------------------------------------


def own_rule() -> Any:
    """x w, with twice its derivative by x."""
    f = xt.custom_derivative(lambda x, w: x * w)
    f.defpullback(lambda x, w: (x * w, (x, w)), lambda kept, ct: (2 * ct * kept[1], xt.sum(ct * kept[0])))
    f.defpushforward(
        lambda primals, tangents: (primals[0] * primals[1], 2 * tangents[0] * primals[1] + primals[0] * tangents[1])
    )
    return f


PRODUCT = own_rule()
case("checkpoint", lambda x, w: xt.checkpoint(lambda x: xt.sin(x * w) * x)(x), real(v=3, i=4), real(i=4))
case("checkpoint of shared", lambda x, w: x + xt.checkpoint(lambda w: xt.exp(w).sum())(w), real(v=3, i=4), real(i=4))
case("custom derivative", lambda x, w: PRODUCT(x, w), real(v=3, i=4), real(v=3))
case("custom derivative with shared", lambda x, w: PRODUCT(x, w), real(v=3, i=4), xt.array(1.5))
case("custom derivative of shared", lambda x, w: PRODUCT(x, w), real(i=4), real(v=3))
case("stop_gradient", lambda x: xt.stop_gradient(x) * x, real(v=3, i=4))

# -- scans, windows -------------------------------------------------------------------------------

for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    scan = getattr(xt, name)
    case(name, lambda x, f=scan: (f(x, dim="t"), f(x, dim="t", reverse=True)), real(v=3, t=5))
    case(
        f"{name} exclusive",
        lambda x, w, f=scan: f(x * w, dim="t", exclusive=True).isel(t=slice(1, None)),
        real(t=5, v=3),
        real(t=5),
    )
case("diff", lambda x: x.diff("t", n=2), real(v=3, t=5))
case("windows", lambda x, k: xt.dot(build.window(x, "t", "w", 2), k, dim="w"), real(v=3, t=6), real(v=3, w=2))
case(
    "windows of shared",
    lambda x, k: xt.dot(build.window(xt.sin(x), "t", "w", 3), k, dim="w"),
    real(t=6),
    real(v=3, w=3),
)
case("rolling", lambda x, w: (x * w).rolling("t", 3).mean().isel(t=slice(2, None)), real(v=3, t=6), real(t=6))
case("coarsen", lambda x: (x.coarsen(t=2).max(), x.coarsen(t=3).sum()), real(v=3, t=6))
case("max_pool", lambda x: xt.nn.max_pool(x, {"t": 2}), real(v=3, t=6, c=2))
case("conv", lambda x, w: xt.nn.conv(x, w, dims={"t": "k"}, dim="c"), real(v=3, t=6, c=2), real(c=2, k=3, o=2))
case(
    "conv of its own", lambda x, w: xt.nn.conv(x, w, dims={"t": "k"}, dim="c"), real(v=3, t=6, c=2), real(v=3, c=2, k=3)
)
case("fft", lambda x: (xt.fft.fft(x).real, xt.fft.rfft(x).imag, xt.fft.dct(x)), real(v=3, t=6))
case("convolve", lambda x, k: xt.signal.convolve(x, k, dims=("t", "k")), real(t=6), real(v=3, k=3))

# -- control flow ---------------------------------------------------------------------------------

SPAN = xt.array([-1.2, -0.3, 0.4, 1.1], "v")
LIMITS = xt.array([3, 0, 5, 1], "v")


def guarded_log(x: Any) -> Any:
    """The branch not taken would give NaN."""
    return xt.cond(x > 0, lambda x: xt.log(x) * x, lambda x: x * x, x)


def halved(x: Any, below: Any) -> Any:
    return xt.while_loop(lambda c: xt.max(xt.abs(c)) > below, lambda c: c * 0.6 - 0.01, x, max_steps=12)


def looked_up(x: Any, i: Any) -> Any:
    """The branch not taken would read out of range."""
    return xt.cond(i < 4, lambda x, i: x.isel(i=i) * 2, lambda x, i: x.sum(), x, i)


def steps_of_its_own(x: Any, n: Any) -> Any:
    step = lambda c: (c[0] + 1, xt.sin(c[1]) + 0.1 * c[1])  # noqa: E731
    return xt.while_loop(lambda c: c[0] < n, step, (0, x), max_steps=6)[1]


def table_walk(x: Any, table: Any, n: Any) -> Any:
    """Reads at its counter, which is out of range once an instance is done."""
    step = lambda c: (c[0] + 1, c[1] * table.isel(i=c[0]))  # noqa: E731
    return xt.while_loop(lambda c: c[0] < n, step, (0, x), max_steps=5)[1]


def recurrence(x: Any, w: Any) -> Any:
    return xt.scan(lambda c, e: (xt.tanh(c * w + e), c * e), xt.zeros(h=2), x, dim="t")


case("cond per instance", lambda x: xt.cond(x > 0, lambda x: xt.sin(x), lambda x: x**2, x), SPAN)
case("cond for all", lambda x, p: xt.cond(p, lambda x: xt.sin(x), lambda x: x**2, x), SPAN, xt.array(True))
case("cond with a branch that is undefined", guarded_log, SPAN)
case(
    "cond by names",
    lambda p, x: xt.cond(p > 0, lambda x: xt.exp(x), lambda x: -x, x),
    real(a=3),
    real(b=2, i=3),
    dims=("a", "b"),
)
case(
    "cond by both names",
    lambda p, x: xt.cond(p > x, lambda x: xt.exp(x), lambda x: -x, x),
    real(a=3),
    real(b=2),
    dims=("a", "b"),
)
case(
    "cond with a contraction",
    lambda x, w: xt.cond(xt.sum(x) > 0, lambda x: xt.dot(x, w, dim="i"), lambda x: x.sum() * w.sum("i"), x),
    real(v=4, i=3),
    real(i=3, o=2),
)
case(
    "cond that all take",
    lambda x: xt.cond(xt.sum(x) > -99, lambda x: xt.dot(x, x), lambda x: x.sum(), x),
    real(v=4, i=3),
)
case(
    "cond that none takes",
    lambda x: xt.cond(xt.sum(x) > 99, lambda x: xt.dot(x, x), lambda x: x.sum(), x),
    real(v=4, i=3),
)
case("cond that reads by index", looked_up, real(v=4, i=4), xt.array([3, 9, 0, 7], "v"))
case("cond with a shared result", lambda x, w: xt.cond(x > 0, lambda: w, lambda: 2 * w), SPAN, real(i=3))
case(
    "cond inside of cond", lambda x: xt.cond(x > 0, lambda x: guarded_log(x - 0.5), lambda x: guarded_log(-x), x), SPAN
)
case(
    "switch",
    lambda x, i: xt.switch(i, [lambda x: xt.sin(x), lambda x: x * x, lambda x: xt.dot(x, x) * x], x),
    real(v=5, i=2),
    xt.array([0, 1, 2, -3, 7], "v"),
)
case("while per instance", steps_of_its_own, SPAN, LIMITS)
case("while for all", steps_of_its_own, SPAN, xt.array(3))
case("while until small", halved, real(v=4, i=3), xt.array(0.3))
case("while with a limit of its own", halved, real(v=4, i=3), xt.array([0.2, 0.9, 5.0, 0.1], "v"))
case("while over names", steps_of_its_own, real(a=3), xt.array([2, 4], "b"), dims=("a", "b"))
case("while that reads by index", table_walk, SPAN, real(i=5), LIMITS)
case("scan", recurrence, real(v=3, t=4, h=2), real(h=2))
case("scan with a shared sequence", recurrence, real(t=4), real(v=3, h=2))
case("scan with nothing of its own", lambda x, w: x * recurrence(w, w.sum())[0], real(v=3), real(t=4))
case("scan backwards", lambda x: xt.scan(lambda c, e: (c * 0.5 + e, c), 0.0, x, dim="t", reverse=True), real(v=3, t=4))
case(
    "scan whose carry becomes batched late",
    lambda x: xt.scan(lambda c, _: ((c[1], c[2], x * c[2]), c[0]), (1.0, 2.0, 3.0), None, dim="t", length=5),
    SPAN,
)
case("scan of cond", lambda x: xt.scan(lambda c, e: (guarded_log(c + e), c), 0.3, x, dim="t"), real(v=3, t=4))
case("map", lambda x, w: xt.map(lambda e: xt.dot(e, w, dim="i"), x, "t"), real(v=3, t=4, i=2), real(i=2))
