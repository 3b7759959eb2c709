"""Run by `mpirun -n N python distributed_program.py`: programs on parts of arrays against the same on whole arrays.

Prints one line per case from process 0: its name, and "ok" or what differs. Each process checks all results.
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import xtensor as xt
from mpi4py import MPI

RNG = np.random.default_rng(0)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, str]]] = {}
DATA = {"b": "data"}


def array(dtype: str = "float64", **sizes: int) -> Any:
    values = RNG.normal(size=tuple(sizes.values()))
    if np.dtype(dtype).kind in "iu":
        values = RNG.integers(0, 7, tuple(sizes.values()))
    if dtype == "bool":
        values = values > 0
    return xt.array(values.astype(dtype), tuple(sizes))


def case(name: str, f: Callable[..., Any], *args: Any, split: dict[str, str] = DATA) -> None:
    CASES[name] = f, args, split


def squares(f: Callable[..., Any]) -> Callable[..., Any]:
    return xt.value_and_grad(lambda x: (f(x) ** 2).sum())


def squares_of_first(f: Callable[..., Any]) -> Callable[..., Any]:
    return xt.value_and_grad(lambda x, *more: (f(x, *more) ** 2).sum())


GRID = {"b": "data", "i": "model"}
X, W, V = array(b=8, i=6), array(i=6, h=12), array(h=12, o=4)
T = array(b=8, o=4)


def loss(params: Any, x: Any, t: Any) -> Any:
    w, v = params
    hidden = xt.tanh(xt.dot(x, w, dim="i"))
    return xt.mean((xt.dot(hidden, v, dim="h") - t) ** 2)


case("MLP, samples split", xt.value_and_grad(loss), (W, V), X, T)
case("MLP, hidden split", xt.value_and_grad(loss), (W, V), X, T, split={"h": "data"})
case("MLP, both split", xt.value_and_grad(loss), (W, V), X, T, split={"b": "data", "h": "model"})
case("jvp", lambda w, x: xt.jvp(lambda w: loss((w, V), x, T), (w,), (xt.cos(w),)), W, X, split={"h": "data"})
case("hvp", lambda w, x: xt.hvp(lambda w: loss((w, V), x, T), (w,), (xt.cos(w),)), W, X)
for kind in ("sum", "mean", "prod", "max", "min", "var", "std"):
    case(kind, lambda x, kind=kind: getattr(xt, kind)(x, "b"), X)
    case(f"{kind} of all", lambda x, kind=kind: getattr(xt, kind)(x), X, split={"b": "data", "i": "model"})
for dtype in ("int8", "uint16", "int32", "uint64", "float16", "float32", "bool"):
    case(f"sum of {dtype}", lambda x: x.sum("b"), array(dtype, b=8, i=3))
    case(f"max of {dtype}", lambda x: x.max("b"), array(dtype, b=8, i=3))
case("sum of bfloat16", lambda x: x.sum("b"), X.astype("bfloat16"))
case("complex", lambda x, y: xt.dot(x + 1j * y, y - 2j * x, dim="b"), X, array(b=8, i=6))
BIG = xt.array([6e4] * 4 + [-6e4] * 4, "b").astype("float16")
case("contraction of float16", lambda x: xt.dot(x, xt.ones(b=8, dtype="f2"), dim="b"), BIG)
case("scatter of float16", lambda x: xt.zeros(row=2, dtype="f2").at(row=xt.zeros(b=8, dtype="i8")).add(x), BIG)
ZEROS = xt.array([0.0, -0.0] * 4, "b")
case("max of zeros", lambda x: (1 / x.max("b"), 1 / x.min("b")), ZEROS)
case("scatter to -0.0", lambda x, i: 1 / xt.full(-0.0, row=7, i=6).at(row=i).add(0 * x), X, array("int64", b=8))
NAN = X.at(b=5, i=2).set(np.nan)
case("max of NaN", lambda x: (x.max("b"), x.min("b"), x.argmax("b"), x.argmin()), NAN)
case("any and all", lambda x: ((x > 1.5).any("b"), (x < 1).all("b")), X)
case("argmax", lambda x: (x.argmax("b"), x.argmin("i")), X)
case("argmax of equal", lambda x: (x.argmax("b"), x.argmin("b"), xt.round(x).argmax()), array("int8", b=16, i=5))
for dtype in ("bool", "uint64", "float16", "float32"):
    case(f"argmax of {dtype}", lambda x: (x.argmax("b"), x.argmin("b")), array(dtype, b=8, i=3))
case("argmax of a grid", lambda x: (x.argmax("b"), x.argmin("i")), NAN, split={"b": "data", "i": "model"})
case("argmax of NaN", lambda x: (x.argmax("b"), x.argmin("b")), xt.array([1, 2, np.nan, 3, np.nan, 4, 5, 6], "b"))
case("argmax of zeros", lambda x: (x.argmax("b"), x.argmin("b")), ZEROS)
case("softmax", lambda x: xt.nn.softmax(x, "b"), X)
case("logsumexp", xt.grad(lambda x: xt.logsumexp(x, "b").sum()), X)
for kind in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    for how in ({}, {"reverse": True}, {"exclusive": True}, {"reverse": True, "exclusive": True}):
        scan = functools.partial(getattr(xt, kind), dim="b", **how)
        case(" ".join([kind, *how]), lambda x, scan=scan: (scan(x), scan(xt.round(2 * x))), NAN)
    case(f"gradient of {kind}", squares(lambda x, kind=kind: getattr(xt, kind)(x, "b")), X)
for dtype in ("int8", "uint64", "float16", "float32", "bool"):
    case(f"cumsum of {dtype}", lambda x: (xt.cumsum(x, "b"), xt.cumsum(x)), array(dtype, b=8, i=3))
case("cummax of integers", lambda x: (x.cummax("b"), xt.cummin(x, "b", exclusive=True)), array("uint16", b=8, i=3))
# Of -0.0 and 0.0, cummax and cummin may take either (docs/semantics.md): which one depends on vectors, and so on parts.
case(
    "cumsum of zeros",
    lambda x: (1 / x.cumsum("b"), x.cummax("b"), x.cummin("b")),
    xt.array([-0.0] * 4 + [0.0, -0.0] * 2, "b"),
)
case("cumsum of a grid", lambda x: xt.cumsum(x), X, split={"b": "data", "i": "model"})
case("cumsum of an infinity", lambda x: x.cumsum("b"), xt.array([1, np.inf, 2, -np.inf, 3, 4, 5, 6.0], "b"))
for how in ({}, {"reverse": True}, {"exclusive": True}, {"reverse": True, "exclusive": True}):
    for kind in ("cumprod", "cummax", "cummin", "cumlogsumexp"):
        scan = functools.partial(getattr(xt, kind), dim="b", **how)
        f = squares(lambda x, scan=scan: xt.tanh(scan(x)))
        case(
            " ".join(["gradient of", kind, "twice", *how]), lambda x, f=f: xt.grad(lambda x: (f(x)[1] ** 2).sum())(x), X
        )
        case(" ".join(["gradient of", kind, "of NaN", *how]), f, NAN)
        case(" ".join(["gradient of", kind, "of ties", *how]), f, xt.round(X))
case("cumlogsumexp far apart", lambda x: xt.cumlogsumexp(500 * x, "b"), X)
case("cumlogsumexp of float16", lambda x: xt.cumlogsumexp(x, "b"), X.astype("f2"))
case("gradient of cumprod, small", squares(lambda x: xt.cumprod(1e-200 * x, "b")), NAN)
case("cumsum of shifts", squares(lambda x: xt.cumsum(x, "b").diff("b")), X)
case("sort", lambda x: (xt.sort(x, "b"), xt.argsort(x, "b")), X)
case(
    "sort along rows",
    lambda x: (xt.sort(x, "b"), xt.argsort(x, "b", descending=True), xt.sort(x, "i")),
    array(b=8, i=8),
)
case("sort of a grid", squares(lambda x: xt.sort(x, "b")), array(b=8, i=8, k=4), split=GRID)
case("median", lambda x: xt.median(x, "b"), X)
case("arange", lambda x: x + xt.arange(8, dim="b") * xt.arange(6, dim="i"), X)
case("rename", lambda x: xt.dot(x, x.rename(b="c"), dim="i"), X)
case("rename both ways", squares(lambda x: xt.sin(x.rename(i="b", b="i")) * x), array(b=8, i=8))
case("rename to a split dim, and away", lambda x: x.rename(i="b", b="k") * 2, array(b=4, i=8, j=3))
case("rename beside", squares(lambda x: x.rename(i="b", b="k", j="i")), array(b=4, i=8, j=12), split=GRID)
case("rename to a split dim", lambda x: x.rename(i="b", b="i"), array(b=4, i=8))
case(
    "between dims of the mesh", lambda x: x.rename(b="h", h="b") * 2, array(b=4, h=8), split={"b": "data", "h": "model"}
)
case("alike", lambda x, y: x + y.rename(c="b"), X, array(c=8), split={"b": "data", "c": "data"})
case("concat", lambda x: xt.concat([x, x * 2], dim="b"), X)
case("slice", lambda x: (x.isel(b=slice(1, 7, 3)).sum("b"), x.isel(b=3)), X)
case("roll", xt.value_and_grad(lambda x: (x * xt.roll(x, {"b": 1})).sum()), X)
case("shift", lambda x: xt.pad(x, b=(1, 0)).isel(b=slice(0, 8)) - x, X)
case("flip", lambda x: xt.flip(x, "b"), X)
Y = array(b=16, i=6)


def heat(x: Any) -> Any:
    """Two steps, in which no array of the inside can be divided by the processes."""
    for _ in range(2):
        inner = x.isel(b=slice(1, -1))
        x = xt.pad(inner + 0.1 * xt.sin(x.isel(b=slice(2, None)) - 2 * inner + x.isel(b=slice(-2))), b=(1, 1))
    return x


def laplace(x: Any) -> Any:
    """Of both dims, with values of the corners."""
    x = xt.pad(x, b=(1, 1), i=(1, 1), constant_values=0.5)
    return x.isel(b=slice(2, None), i=slice(2, None)) * x.isel(b=slice(-2), i=slice(-2)) - x.isel(
        b=slice(1, -1), i=slice(1, -1)
    )


NEAR: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "roll back": (lambda x: xt.roll(x, b=-3), DATA),
    "roll far": (lambda x: xt.roll(x, b=7) * xt.roll(x, b=-1), DATA),
    "shifts": (lambda x: x.shift(b=1, fill_value=3) + x.shift(b=-2, fill_value=0), DATA),
    "differences": (lambda x: xt.pad(x.diff("b"), b=(1, 0), constant_values=1), DATA),
    "edges": (lambda x: xt.pad(x, b=(1, 2), mode="edge").isel(b=slice(3, None)), DATA),
    "every second": (lambda x: x.isel(b=slice(1, None, 2)), DATA),
    "backwards": (lambda x: x.isel(b=slice(None, None, -1)), DATA),
    "centred means": (lambda x: x.rolling(b=3, center=True, min_periods=1).mean(), DATA),
    "maxima": (lambda x: x.rolling(b=5).max().fillna(0), DATA),
    "heat": (heat, DATA),
    "heat of a grid": (heat, GRID),
    "laplace": (laplace, DATA),
    "laplace of a grid": (laplace, GRID),
    "convolution": (lambda x: xt.nn.conv(x, xt.array([1.0, -2.0, 3.0], "tap"), {"b": "tap"}, padding="same"), DATA),
    "convolution by steps": (
        lambda x: xt.nn.conv(x, xt.array([1.0, -2.0, 3.0], "tap"), {"b": "tap"}, padding=(1, 0), stride=2),
        DATA,
    ),
    "concat": (lambda x: xt.concat([x.isel(b=slice(3)), xt.cos(x), x.isel(b=slice(13))], "b"), DATA),
}
for name, (f, where) in NEAR.items():
    case(f"near: {name}", squares(f), Y, split=where)
    case(f"near, parts: {name}", f, Y, split=where)
case("near: integers", lambda x: xt.roll(x, b=1) // xt.pad(x, b=(1, 0)).isel(b=slice(16)), array("int32", b=16, i=3))
case("near: bools", lambda x: xt.roll(x, b=1) & xt.pad(x, b=(0, 1)).isel(b=slice(1, None)), array("bool", b=16))
case("near: float16", lambda x: xt.roll(x, b=-1) + x.rolling(b=2).sum(), array("float16", b=16, i=3))
case("near: in a loop", lambda x: xt.fori_loop(0, 3, lambda _, s: xt.sin(xt.roll(s, b=1)) + s, x), Y)
case(
    "near: in a scan",
    xt.grad(
        lambda x: xt.scan(lambda c, s: (c * s.shift(b=1, fill_value=0.5), None), xt.ones(b=16), x, dim="i")[0].sum()
    ),
    Y,
)


def beside(x: Any, y: Any, w: Any, i: Any) -> Any:
    """Messages of each kind that travel while the next matrix product is computed."""
    near, moved, summed = xt.pad(y, b=(1, 0)).isel(b=slice(0, 16)), x.rename(b="i", i="b"), x.sum("b")
    hidden = xt.tanh(xt.dot(x, w, dim="i"))
    found = x.isel(b=i)
    hidden = xt.tanh(xt.dot(hidden, w.rename(i="h", h="i"), dim="h"))
    return near * 2, moved - 1, summed / 3, found + hidden.sum(), hidden


case("messages beside products", beside, array(b=8, i=8), array(b=16, i=3), array(i=8, h=8), array("int64", k=5))
case(
    "messages beside products, gradients",
    xt.value_and_grad(lambda *a: sum((y**2).sum() for y in beside(*a)), wrt=(0, 1, 2)),
    array(b=8, i=8),
    array(b=16, i=3),
    array(i=8, h=8),
    array("int64", k=5),
)
case("near, and all", lambda x: (xt.roll(x, b=1), xt.sort(x, "b")), Y)
case("near: hvp", lambda x: xt.hvp(lambda x: (xt.roll(x, b=1) ** 2 * xt.sin(x)).sum(), (x,), (xt.cos(x),)), Y)
case("rolling", lambda x: x.rolling(b=3).mean(), X)
case("stack", lambda x: x.stack(z=("b", "i")).sum("z"), X)
case("stack of a split dim", lambda x: x.stack(z=("b", "i")), X, split={"z": "data"})
case("unstack", lambda x: x.unstack(z={"b": 4, "c": 3}), array(z=12, k=2), split={"b": "data"})
INDEX = array("int64", b=8)
case("gather", xt.value_and_grad(lambda t, i: (t.isel(row=i) ** 2).sum()), array(row=7, o=4), INDEX)
case("gather of a split dim", xt.value_and_grad(lambda t, i: (t.isel(b=i) ** 2).sum()), X, array("int64", k=5))
case(  # zeros beyond the ends of a halo are no indices
    "near: gather",
    lambda i, t: xt.pad(t.isel(row=i.isel(b=slice(0, 6)) - 100), b=(2, 0)),
    array("int64", b=8) % 3 + 100,
    array(row=3),
)
case("near: -0.0", lambda x: 1 / xt.pad(x, b=(1, 0), constant_values=-0.0).isel(b=slice(0, 8)), array(b=8))
case("gather, and a split dim", lambda t, i: t.isel(b=i), array(b=8, i=8), array("int64", b=8, i=8))
case("gather by rows", squares_of_first(lambda t, i: t.isel(b=i)), array(b=8, i=8), array("int64", b=8))
case("gather elsewhere", lambda t, i: t.isel(b=i), array(b=8, i=8), array("int64", k=4, i=8))
case("gather within", lambda t, i: t.isel(b=i), X, INDEX)
case("scatter", lambda x, i: xt.zeros(row=7, i=6).at(row=i).add(x), X, INDEX)
case("scatter max", lambda x, i: xt.full(0.5, row=7, i=6).at(row=i).max(x), X, INDEX)
case("scatter set", lambda x, i: xt.zeros(row=8, i=6).at(row=i).set(x), X, xt.arange(8, dim="b"))
case(
    "scatter multiply at pairs",
    xt.value_and_grad(lambda x, v, i: (x.at(row=i, col=i).multiply(v) ** 2).sum(), wrt=(0, 1)),
    array(row=7, col=7), array(b=8), INDEX,
)  # fmt: skip
case("scatter to a split dim", lambda x, i: xt.ones(b=8).at(b=i).add(x), array(k=5), array("int64", k=5))
case("segments", lambda x, i: xt.segment_sum(x, i, 7, into="row"), X, INDEX)
case("scan beside", lambda x: xt.scan(lambda c, s: (c + s, c * s), xt.zeros(b=8), x, dim="i"), X)
case("scan along", xt.grad(lambda x: xt.scan(lambda c, s: (c * 0.5 + s, c), xt.zeros(i=6), x, dim="b")[0].sum()), X)
case("scan, a carry along", lambda x: xt.scan(lambda c, s: (c + s.sum(), None), xt.zeros(b=8), x, dim="b")[0], X)
case(
    "scan, captured",
    xt.grad(lambda x: xt.scan(lambda c, s: (c * 0.5 + xt.sin(s.sum() * x).sum(), c), 0.0, x, dim="b")[0]), X,
)  # fmt: skip
case("while", lambda x: xt.while_loop(lambda s: s.sum() < 50, lambda s: s + xt.abs(x) + 0.1, xt.zeros(b=8, i=6)), X)
case("cond", lambda x: xt.cond(x.sum() > 0, lambda: x.mean("b"), lambda: x.max("b")), X)
case("vectorize", lambda x, w: xt.vectorize(xt.grad(lambda x: xt.sin(xt.dot(x, w, dim="i")).sum()), "b")(x), X, W)
case("random", lambda x: xt.random.normal(xt.random.key(3), b=8, i=6) + x, X)
A = array(b=8, r=3, c=3)
M = array(b=4, r=8, c=8)
for name, f in {
    "inverse": lambda a: xt.linalg.inv(a, dims=("r", "c")),
    "cholesky": lambda a: xt.linalg.cholesky(a + a.rename(c="r", r="c") + 9 * xt.eye(r=8, c=8), dims=("r", "c")),
    "qr": lambda a: xt.linalg.qr(a, dims=("r", "c"))[1] ** 2,
}.items():
    case(f"rows of matrices: {name}", squares(f), M, split={"r": "data"})
    case(f"columns of matrices: {name}", f, M, split={"c": "data", "b": "model"})
case("rows of systems", lambda a, y: xt.linalg.solve(a, y, dims=("r", "c")), M, array(r=8, k=4), split={"r": "data"})
Z = array(b=8, i=12, k=3)
BOTH = ("b", "i")
for name, f in {
    "fft": lambda x: xt.fft.fft(x + 0j, "b"),
    "rfft": lambda x: xt.fft.rfft(x, "b").rename(b="f"),
    "irfft": lambda x: xt.fft.irfft(xt.fft.rfft(x, "b"), "b"),
    "fft of both": lambda x: xt.fft.fft(x + 0j, BOTH) / 2,
    "ifft of both": lambda x: xt.fft.ifft(x + 0j, BOTH),
    "rfft of both": lambda x: xt.fft.rfft(x, BOTH).rename(i="f"),
    "rfft of both, the split one last": lambda x: xt.fft.rfft(x, BOTH[::-1]).rename(b="f"),
    "irfft of both": lambda x: xt.fft.irfft(xt.fft.rfft(x, BOTH), BOTH),
    "irfft of both, the split one last": lambda x: xt.fft.irfft(xt.fft.rfft(x, BOTH[::-1]), BOTH[::-1]),
}.items():
    case(name, f, Z)
    case(f"{name}, of a grid", f, Z, split=GRID)
case("gradient of fft", squares(lambda x: xt.fft.irfft(xt.fft.rfft(x, BOTH) * xt.fft.rfft(x * x, BOTH), BOTH)), Z)
case("solve", lambda a, y: xt.linalg.solve(a, y, dims=("r", "c")), A, array(b=8, r=3))
case("matrix of split dims", lambda a: xt.linalg.inv(a, dims=("r", "c")), array(r=4, c=4), split={"r": "data"})
case("captured", lambda x: x * X + xt.dot(x, W, dim="i").sum(), X)
case("constant", lambda x: x * xt.array(np.arange(8.0), "b"), X)


def different(got: Any, want: Any, mesh: Any, split: dict[str, str]) -> str:
    pairs = zip(xt.tree.leaves(xt.gather(got, mesh, split)), xt.tree.leaves(want), strict=True)
    for i, (g, w) in enumerate(pairs):
        if g.dims != w.dims or g.dtype != w.dtype or g.shape != w.shape:
            return f"result {i} is {g.dtype} {g.sizes}, not {w.dtype} {w.sizes}"
        g, w = (v.astype("float32") if v.dtype == "bfloat16" else v for v in (g, w))
        if w.dtype.kind in "fc":
            tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-10, 16: 1e-10}[w.dtype.itemsize]
            same = np.allclose(g.values, w.values, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            same = np.array_equal(g.values, w.values)
        if not same:
            return f"result {i}: {g.values.ravel()[:4]}, not {w.values.ravel()[:4]}"
    return ""


def check(
    f: Callable[..., Any], args: tuple[Any, ...], mesh: Any, split: dict[str, str], sizes: dict[str, int] | None = None
) -> str:
    want = xt.jit(f)(*args)
    got = xt.jit(f, mesh=mesh, split=split, sizes=sizes)(*xt.local(args, mesh, split))
    return different(got, want, mesh, split)


def tell(comm: Any, name: str, check: Callable[[], str], *, whole: bool) -> None:
    """Prints from process 0 what `check` finds wrong in each process. `whole`: errors with their tracebacks."""
    try:
        found = check()
    except Exception as error:
        found = traceback.format_exc() if whole else f"{type(error).__name__}: {error}"
    told = comm.gather(found)
    if told is not None:
        wrong = [f"process {i}: {t}" for i, t in enumerate(told) if t]
        print(f"{name}: {'; '.join(wrong) or 'ok'}", flush=True)


def main() -> None:
    comm = MPI.COMM_WORLD
    size = comm.Get_size()
    flat, grid = xt.Mesh(data=size), xt.Mesh(data=max(1, size // 2), model=min(2, size))
    only = sys.argv[1:]
    for name, (f, args, split) in CASES.items():
        if only and name not in only:
            continue
        mesh = grid if "model" in split.values() else flat
        tell(comm, name, functools.partial(check, f, args, mesh, split), whole=bool(only))


if __name__ == "__main__":
    main()
