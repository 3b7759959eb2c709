"""The cases of sweep.py, by family: one op each, on arrays of one size, order of dims and dtype.

A case has a function for each peer, of its module and its arrays. The dims of ours are a, b, c in the order in which
the arrays store them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

PEERS = {"ours": "xtensor", "jax": "jax.numpy", "torch": "torch", "numpy": "numpy"}
DTYPES = {"f4": "float32", "f8": "float64", "bf16": "bfloat16", "i4": "int32", "i1": "int8", "u1": "uint8"}
DTYPES |= {"bool": "bool", "i8": "int64"}

Function = Callable[..., Any]


@dataclass(frozen=True)
class Arg:
    """An array of a case: sizes, dtype, the dims of ours, and the bound below which integers lie."""

    sizes: tuple[int, ...]
    dtype: str = "f4"
    dims: str = "abcd"
    below: int = 100
    spd: bool = False

    def make(self, rng: np.random.Generator) -> np.ndarray:
        if self.dtype == "bool":
            return rng.random(self.sizes) < 0.5
        if self.dtype in ("i4", "i8", "i1", "u1"):
            return rng.integers(0, self.below, self.sizes).astype(self.dtype)
        value = rng.standard_normal(self.sizes)
        if self.spd:
            value = value @ value.swapaxes(-1, -2) + self.sizes[-1] * np.eye(self.sizes[-1])
        return value.astype("f8" if self.dtype == "f8" else "f4")


@dataclass(frozen=True)
class Run:
    call: Callable[[], Any]
    bytes: int


@dataclass(frozen=True)
class Case:
    key: str
    args: tuple[Arg, ...]
    functions: dict[str, Function] = field(hash=False)

    def prepare(self, peer: str) -> Run | None:
        """A call of the peer after its first call; None if the peer does not have the op."""
        function = self.functions.get(peer)
        if function is None or (peer == "numpy" and any(arg.dtype == "bf16" for arg in self.args)):
            return None
        rng = np.random.default_rng(0)
        values = [arg.make(rng) for arg in self.args]
        module = importlib.import_module(PEERS[peer])
        run, arrays = _bind(peer, lambda *xs: function(module, *xs), values, self.args)
        result = run()
        results = result if isinstance(result, (tuple, list)) else (result,)
        return Run(run, sum(int(x.nbytes) for x in (*arrays, *results) if hasattr(x, "nbytes")))


def _bind(peer: str, function: Function, values: list[np.ndarray], args: tuple[Arg, ...]) -> Any:
    narrow = [arg.dtype == "bf16" for arg in args]
    if peer == "ours":
        import ml_dtypes
        import xtensor as xt

        cast = [v.astype(ml_dtypes.bfloat16) if n else v for v, n in zip(values, narrow, strict=True)]
        arrays = [xt.array(v, dims=tuple(arg.dims[: v.ndim])) for v, arg in zip(cast, args, strict=True)]
        compiled = xt.jit(function)
        return (lambda: compiled(*arrays)), arrays
    if peer == "jax":
        import jax
        import ml_dtypes

        cast = [v.astype(ml_dtypes.bfloat16) if n else v for v, n in zip(values, narrow, strict=True)]
        arrays = [jax.device_put(v) for v in cast]
        compiled = jax.jit(function)
        return (lambda: jax.block_until_ready(compiled(*arrays))), arrays
    if peer == "torch":
        import torch

        tensors = [torch.from_numpy(v) for v in values]
        arrays = [t.bfloat16() if n else t for t, n in zip(tensors, narrow, strict=True)]
        return (lambda: function(*arrays)), arrays
    return (lambda: function(*values)), values


def _sizes(arg: Arg) -> str:
    return "[" + ",".join(map(str, arg.sizes)) + "]" + arg.dtype


def _case(name: str, args: Arg | tuple[Arg, ...], **functions: Function) -> Case:
    """A case of functions by peer; `same` is that of JAX, PyTorch and NumPy, `numpylike` that of JAX and NumPy."""
    args = args if isinstance(args, tuple) else (args,)
    same = functions.pop("same", None)
    alike = functions.pop("numpylike", same)
    found = {"jax": alike, "numpy": alike, "torch": same} | functions
    key = f"{name} {_sizes(args[0])}"
    return Case(key, args, {peer: f for peer, f in found.items() if f is not None})


def _first_middle_last(count: int, short: int) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Sizes of `count` elements in which the dim of an op is long or short, and its place."""
    yield "first", (count // short, short), 0
    yield "first of wide", (short, count // short), 0
    yield "last", (short, count // short), 1
    yield "last of narrow", (count // short, short), 1
    yield "middle", (short, count // short // 64, 64), 1


def moves() -> Iterator[Case]:
    """Ops that move elements."""
    for dtype in ("f4", "bf16", "u1", "f8"):
        for place, sizes, axis in _first_middle_last(1 << 20, 64):
            dim = "abc"[axis]
            x = Arg(sizes, dtype)
            yield _case(
                f"repeat {place}",
                x,
                ours=lambda xt, x, dim=dim: xt.repeat(x, 2, dim=dim),
                numpylike=lambda m, x, axis=axis: m.repeat(x, 2, axis=axis),
                torch=lambda m, x, axis=axis: m.repeat_interleave(x, 2, dim=axis),
            )
            yield _case(
                f"flip {place}",
                x,
                ours=lambda xt, x, dim=dim: xt.flip(x, dim=dim),
                numpylike=lambda m, x, axis=axis: m.flip(x, axis=axis).copy(),
                torch=lambda m, x, axis=axis: m.flip(x, (axis,)),
            )
            yield _case(
                f"roll {place}",
                x,
                ours=lambda xt, x, dim=dim: xt.roll(x, {dim: 5}),
                numpylike=lambda m, x, axis=axis: m.roll(x, 5, axis=axis),
                torch=lambda m, x, axis=axis: m.roll(x, 5, axis),
            )
            for step in (2, 3):
                yield _case(
                    f"slice step {step} {place}",
                    x,
                    ours=lambda xt, x, dim=dim, step=step: x.isel({dim: slice(None, None, step)}),
                    numpylike=lambda m, x, axis=axis, step=step: x[
                        (slice(None),) * axis + (slice(None, None, step),)
                    ].copy(),
                    torch=lambda m, x, axis=axis, step=step: x[
                        (slice(None),) * axis + (slice(None, None, step),)
                    ].clone(memory_format=m.contiguous_format),
                )
            yield _case(
                f"concat {place}",
                (x, x),
                ours=lambda xt, x, y, dim=dim: xt.concat([x, y], dim=dim),
                numpylike=lambda m, x, y, axis=axis: m.concatenate([x, y], axis=axis),
                torch=lambda m, x, y, axis=axis: m.cat([x, y], axis),
            )
        for sizes in ((1_000_000, 3), (3, 1_000_000), (1024, 1024), (4096, 4096)):
            yield _case(
                "transpose",
                Arg(sizes, dtype),
                ours=lambda xt, x: xt.transpose(x, "b", "a"),
                numpylike=lambda m, x: m.swapaxes(x, 0, 1).copy(),
                torch=lambda m, x: x.T.contiguous(),
            )
        for sizes in ((1 << 20,), (1024, 1024), (1 << 24,)):
            x = Arg(sizes, dtype)
            for count in (2, 3):
                yield _case(
                    f"stack last of {count}",
                    (x,) * count,
                    ours=lambda xt, *xs: xt.transpose(xt.concat(xs, dim="s"), ..., "s"),
                    numpylike=lambda m, *xs: m.stack(xs, axis=-1),
                    torch=lambda m, *xs: m.stack(xs, -1),
                )
                yield _case(
                    f"stack first of {count}",
                    (x,) * count,
                    ours=lambda xt, *xs: xt.transpose(xt.concat(xs, dim="s"), "s", ...),
                    numpylike=lambda m, *xs: m.stack(xs),
                    torch=lambda m, *xs: m.stack(xs),
                )
            for step in (2, 3):
                yield _case(
                    f"slice step {step} flat",
                    x,
                    ours=lambda xt, x, step=step: x.isel({x.dims[-1]: slice(None, None, step)}),
                    numpylike=lambda m, x, step=step: x[..., ::step].copy(),
                    torch=lambda m, x, step=step: x[..., ::step].clone(memory_format=m.contiguous_format),
                )


def casts() -> Iterator[Case]:
    names = ("f4", "f8", "bf16", "i4", "i1", "u1", "bool")
    for source in names:
        for target in names:
            if source != target:
                to = DTYPES[target]
                yield _case(
                    f"cast to {target}",
                    Arg((1 << 20,), source, below=2),
                    ours=lambda xt, x, to=to: x.astype(to),
                    jax=lambda m, x, to=to: x.astype(to),
                    torch=lambda m, x, to=to: x.to(getattr(m, to)),
                    **({} if target == "bf16" else {"numpy": lambda m, x, to=to: x.astype(to)}),
                )


def elementwise() -> Iterator[Case]:
    unary = ["exp", "log", "tanh", "sin", "sqrt", "abs", "square", "sigmoid", "floor", "round", "sign", "exp2", "log1p"]
    unary += ["expm1", "isnan", "reciprocal"]
    for dtype in ("f4", "f8", "bf16"):
        for size in (1 << 14, 1 << 20):
            x = Arg((size,), dtype)
            for name in unary:
                function = lambda m, x, name=name: getattr(m, name)(x)  # noqa: E731
                ours = {"sigmoid": lambda xt, x: xt.sigmoid(x)}.get(name, function)
                if name == "sigmoid":
                    yield _case(name, x, ours=ours, jax=lambda m, x: _jax_nn().sigmoid(x), torch=function)
                else:
                    yield _case(name, x, ours=ours, same=function)
            yield _case(
                "gelu",
                x,
                ours=lambda xt, x: xt.gelu(x),
                jax=lambda m, x: _jax_nn().gelu(x, approximate=False),
                torch=lambda m, x: m.nn.functional.gelu(x),
            )
    for dtype in ("f4", "f8", "bf16", "i4", "i1", "u1"):
        for size in (1 << 14, 1 << 20):
            args = (Arg((size,), dtype), Arg((size,), dtype))
            for name in ("add", "multiply", "maximum", "remainder", "floor_divide", "divide", "power"):
                if name == "power" and dtype[0] in "iu":
                    continue
                # The divisors of integers are not 0.
                one = 1 if dtype[0] in "iu" and name in ("remainder", "floor_divide") else 0
                function = lambda m, x, y, name=name, one=one: getattr(m, name)(x, y + one if one else y)  # noqa: E731
                if name == "power":
                    pow = lambda m, x, y: m.pow(x, y)  # noqa: E731
                    yield _case(name, args, ours=pow, jax=function, torch=pow)
                else:
                    yield _case(name, args, ours=function, same=function)


def _jax_nn() -> Any:
    import jax

    return jax.nn


def reductions() -> Iterator[Case]:
    for dtype in ("f4", "f8", "bf16", "i4", "u1"):
        for count, short in ((1 << 20, 64), (1 << 20, 4), (3_000_000, 3), (1 << 24, 64)):
            for place, sizes, axis in _first_middle_last(count, short):
                if place == "middle" and short < 64:
                    continue
                x, dim = Arg(sizes, dtype), "abc"[axis]
                names = ["max", "sum", "argmax"] + (["mean", "var"] if dtype[0] in "fb" else [])
                if count > 1 << 22:
                    names = ["max", "sum"]
                for name in names:
                    torch = {"max": "amax"}.get(name, name)
                    extra = {"correction": 0} if name == "var" else {}
                    yield _case(
                        f"{name} {place}",
                        x,
                        ours=lambda xt, x, name=name, dim=dim: getattr(xt, name)(x, dim=dim),
                        numpylike=lambda m, x, name=name, axis=axis: getattr(m, name)(x, axis=axis),
                        torch=lambda m, x, name=torch, axis=axis, extra=extra: getattr(m, name)(x, axis, **extra),
                    )
        for size in (10_000, 1 << 20):
            for name in ("sum", "max", "argmax"):
                torch = {"max": "amax"}.get(name, name)
                yield _case(
                    f"{name} all",
                    Arg((size,), dtype),
                    ours=lambda xt, x, name=name: getattr(xt, name)(x),
                    numpylike=lambda m, x, name=name: getattr(m, name)(x),
                    torch=lambda m, x, name=torch: getattr(m, name)(x),
                )
            for outer in ((0, 2),):
                yield _case(
                    "sum first and last",
                    Arg((64, size // 64 // 16, 16), dtype),
                    ours=lambda xt, x: xt.sum(x, dim=("a", "c")),
                    numpylike=lambda m, x, outer=outer: m.sum(x, axis=outer),
                    torch=lambda m, x, outer=outer: m.sum(x, outer),
                )
    for dtype in ("f4", "bf16"):
        for sizes, axis in (((1024, 1024), 1), ((1024, 1024), 0)):
            dim = "ab"[axis]
            yield _case(
                f"logsumexp {dim}",
                Arg(sizes, dtype),
                ours=lambda xt, x, dim=dim: xt.logsumexp(x, dim=dim),
                jax=lambda m, x, axis=axis: _jax_nn().logsumexp(x, axis=axis),
                torch=lambda m, x, axis=axis: m.logsumexp(x, axis),
            )
            yield _case(
                f"softmax {dim}",
                Arg(sizes, dtype),
                ours=lambda xt, x, dim=dim: xt.nn.softmax(x, dim=dim),
                jax=lambda m, x, axis=axis: _jax_nn().softmax(x, axis=axis),
                torch=lambda m, x, axis=axis: m.softmax(x, axis),
            )
    for sizes, axis in (((1024, 1024), 1), ((1024, 1024), 0), ((350_000, 3), 1), ((1 << 20,), 0)):
        yield _case(
            f"cumsum {'ab'[axis]}",
            Arg(sizes),
            ours=lambda xt, x, dim="ab"[axis]: xt.cumsum(x, dim=dim),
            numpylike=lambda m, x, axis=axis: m.cumsum(x, axis=axis),
            torch=lambda m, x, axis=axis: m.cumsum(x, axis),
        )


def _jax_set(kind: str) -> Function:
    return lambda m, x, i, v: getattr(x.at[:, i], kind)(v)


def _rows_set(kind: str) -> Function:
    return lambda m, x, i, v: getattr(x.at[i], kind)(v)


def positions() -> Iterator[Case]:
    """Reads and updates by position: along rows, columns, and of single elements."""
    torch_kind = {"add": "sum", "max": "amax"}
    for rows, columns, count in ((1000, 1000, 1000), (100_000, 16, 16), (64, 16_384, 10_000)):
        for dtype in ("f4", "bf16"):
            x = Arg((rows, columns), dtype)
            i = Arg((count,), "i4", "k", below=columns)
            v = Arg((rows, count), dtype, "ak")
            for kind in ("add", "set", "max"):
                yield _case(
                    f"{kind} at columns {count} of",
                    (x, i, v),
                    ours=lambda xt, x, i, v, kind=kind: getattr(x.at(b=i), kind)(v),
                    jax=_jax_set(kind),
                    torch=_torch_columns(kind, torch_kind),
                    numpy=_numpy_columns(kind),
                )
            yield _case(
                f"gather columns {count} of",
                (x, i),
                ours=lambda xt, x, i: xt.take(x, i, dim="b"),
                jax=lambda m, x, i: m.take(x, i, axis=1, mode="clip"),
                torch=lambda m, x, i: m.index_select(x, 1, i),
                numpy=lambda m, x, i: m.take(x, i, axis=1),
            )
            yield _case(
                f"gradient of gather of columns {count} of",
                (x, i, v),
                ours=lambda xt, x, i, v: xt.grad(lambda x: xt.sum(xt.take(x, i, dim="b") * v))(x),
                jax=_jax_gather_gradient,
                torch=lambda m, x, i, v: m.zeros_like(x).index_add(1, i, v),
            )
            i = Arg((count,), "i4", "k", below=rows)
            v = Arg((count, columns), dtype, "kb")
            for kind in ("add", "set", "max"):
                yield _case(
                    f"{kind} at rows {count} of",
                    (x, i, v),
                    ours=lambda xt, x, i, v, kind=kind: getattr(x.at(a=i), kind)(v),
                    jax=_rows_set(kind),
                    torch=_torch_rows(kind, torch_kind),
                )
    for size, count in ((1000, 1 << 20), (1 << 20, 1 << 20)):
        x, i, v = Arg((size,)), Arg((count,), "i4", "k", below=size), Arg((count,), "f4", "k")
        for kind in ("add", "set", "max"):
            yield _case(
                f"{kind} at {count} elements of",
                (x, i, v),
                ours=lambda xt, x, i, v, kind=kind: getattr(x.at(a=i), kind)(v),
                jax=_rows_set(kind),
                torch=_torch_rows(kind, torch_kind),
            )
    for size in (100, 10_000):
        yield _case(
            "searchsorted of 1,000 in",
            (Arg((size,)), Arg((1000,), "f4", "k")),
            ours=lambda xt, x, v: xt.searchsorted(xt.sort(x, dim="a"), v, dim="a"),
            same=lambda m, x, v: m.searchsorted(m.sort(x)[0] if m.__name__ == "torch" else m.sort(x), v),
        )


def _jax_gather_gradient(m: Any, x: Any, i: Any, v: Any) -> Any:
    import jax

    return jax.grad(lambda x: m.sum(m.take(x, i, axis=1, mode="clip") * v))(x)


def _torch_columns(kind: str, names: dict[str, str]) -> Function:
    if kind == "add":
        return lambda m, x, i, v: x.index_add(1, i, v)
    if kind == "set":
        return lambda m, x, i, v: x.index_copy(1, i.long(), v)
    return lambda m, x, i, v: x.index_reduce(1, i, v, names[kind])


def _torch_rows(kind: str, names: dict[str, str]) -> Function:
    if kind == "add":
        return lambda m, x, i, v: x.index_add(0, i, v)
    if kind == "set":
        return lambda m, x, i, v: x.index_copy(0, i.long(), v)
    return lambda m, x, i, v: x.index_reduce(0, i, v, names[kind])


def _numpy_columns(kind: str) -> Function:
    def call(m: Any, x: Any, i: Any, v: Any) -> Any:
        y = x.copy()
        if kind == "set":
            y[:, i] = v
        else:
            {"add": m.add, "max": m.maximum}[kind].at(y, (slice(None), i), v)
        return y

    return call


def sorting() -> Iterator[Case]:
    for sizes, k in (((1000, 1000), 10), ((1 << 20,), 10), ((10_000, 100), 10), ((100, 10_000), 100)):
        for dtype in ("f4", "bf16"):
            yield _case(
                f"top {k}",
                Arg(sizes, dtype),
                ours=lambda xt, x, k=k: xt.top_k(x, k, dim=x.dims[-1]),
                jax=lambda m, x, k=k: _jax_lax().top_k(x, k),
                torch=lambda m, x, k=k: m.topk(x, k),
            )
    for sizes, axis in (((1000, 1000), 1), ((1000, 1000), 0), ((1 << 20,), 0), ((100_000, 8), 1)):
        dim = "ab"[axis]
        yield _case(
            f"sort {dim}",
            Arg(sizes),
            ours=lambda xt, x, dim=dim: xt.sort(x, dim=dim),
            numpylike=lambda m, x, axis=axis: m.sort(x, axis=axis),
            torch=lambda m, x, axis=axis: m.sort(x, axis)[0],
        )
        yield _case(
            f"median {dim}",
            Arg(sizes),
            ours=lambda xt, x, dim=dim: xt.median(x, dim=dim),
            numpylike=lambda m, x, axis=axis: m.median(x, axis=axis),
            torch=lambda m, x, axis=axis: m.quantile(x, 0.5, axis) if x.numel() < 1 << 20 else m.median(x, axis)[0],
        )


def _jax_lax() -> Any:
    import jax

    return jax.lax


def matrices() -> Iterator[Case]:
    for count, n in ((100_000, 2), (100_000, 3), (10_000, 8), (1000, 32)):
        for dtype in ("f4", "f8"):
            a = Arg((count, n, n), dtype, "nij", spd=True)
            for name in ("slogdet", "inv", "cholesky", "det"):
                yield _case(
                    name,
                    a,
                    ours=lambda xt, a, name=name: getattr(xt.linalg, name)(a, dims=("i", "j")),
                    same=lambda m, a, name=name: getattr(m.linalg, name)(a),
                )
            yield _case(
                "solve",
                (a, Arg((count, n), dtype, "ni")),
                ours=lambda xt, a, b: xt.linalg.solve(a, b, dims=("i", "j")),
                jax=lambda m, a, b: m.linalg.solve(a, b[..., None]),
                torch=lambda m, a, b: m.linalg.solve(a, b[..., None]),
                numpy=lambda m, a, b: m.linalg.solve(a, b[..., None]),
            )
            yield _case(
                "eigh",
                a,
                ours=lambda xt, a: xt.linalg.eigh(a, dims=("i", "j")),
                same=lambda m, a: tuple(m.linalg.eigh(a)),
            )
            yield _case(
                "qr",
                a,
                ours=lambda xt, a: xt.linalg.qr(a, dims=("i", "j")),
                same=lambda m, a: tuple(m.linalg.qr(a)),
            )


@dataclass(frozen=True)
class Convolution:
    """Sizes of a convolution in `rank` dims, which is depthwise if `out` is 0; and whether channels are stored last."""

    n: int
    channels: int
    out: int
    size: int
    kernel: int
    stride: int = 1
    rank: int = 2
    dilation: int = 1
    groups: int = 1
    last: bool = False

    @property
    def padding(self) -> int:
        return self.kernel // 2 * self.dilation

    @property
    def after(self) -> int:
        return (self.size + 2 * self.padding - (self.kernel - 1) * self.dilation - 1) // self.stride + 1

    @property
    def places(self) -> str:
        return "dhw"[3 - self.rank :]

    @property
    def taps(self) -> str:
        return "zyx"[3 - self.rank :]

    def order(self, channel: str) -> str:
        """The dims of an array of images."""
        channels = "g" + channel if self.groups > 1 else channel
        return "n" + (self.places + channels if self.last else channels + self.places)

    def kernel_order(self) -> str:
        outputs = ("go" if self.groups > 1 else "o") if self.out else ""
        return outputs + (self.taps + "c" if self.last else "c" + self.taps)

    def arg(self, order: str, size: int = 0) -> Arg:
        sizes = {"n": self.n, "g": self.groups, "c": self.channels // self.groups, "o": self.out // self.groups}
        sizes |= dict.fromkeys("dhw", size) | dict.fromkeys("zyx", self.kernel)
        return Arg(tuple(sizes[d] for d in order), dims=order)

    def ours(self, xt: Any, x: Any, k: Any) -> Any:
        ways = {"padding": self.padding, "stride": self.stride, "dilation": self.dilation}
        slides = dict(zip(self.places, self.taps, strict=True))
        y = xt.nn.conv(x, k, dims=slides, dim="c" if self.out else (), **ways)
        return xt.transpose(y, *self.order("o" if self.out else "c"))

    def torchs_image(self, x: Any) -> Any:
        """As PyTorch names the axes; the memory stays as it is."""
        if self.last:
            x = x.flatten(-2, -1) if self.groups > 1 else x
            return x.movedim(-1, 1)
        return x.flatten(1, 2) if self.groups > 1 else x

    def torchs_kernel(self, k: Any) -> Any:
        k = k.flatten(0, 1) if self.groups > 1 else k
        if self.last:
            k = k.movedim(-1, -1 - self.rank)
        return k if self.out else k[:, None]

    @property
    def torchs_groups(self) -> int:
        return self.groups if self.out else self.channels

    def forward(self, m: Any, x: Any, k: Any) -> Any:
        function = getattr(m.nn.functional, f"conv{self.rank}d")
        ways = {"padding": self.padding, "stride": self.stride, "dilation": self.dilation}
        return function(self.torchs_image(x), self.torchs_kernel(k), groups=self.torchs_groups, **ways)

    def backward(self, m: Any, x: Any, k: Any, g: Any, which: int) -> Any:
        arrays = self.torchs_image(g), self.torchs_image(x), self.torchs_kernel(k)
        steps = [[way] * self.rank for way in (self.stride, self.padding, self.dilation)]
        ways = (*steps, False, [0] * self.rank, self.torchs_groups)
        return m.ops.aten.convolution_backward(*arrays, None, *ways, [which == 0, which == 1, False])[which]

    def name(self) -> str:
        kind = "x".join([str(self.kernel)] * self.rank) + f" by {self.stride} "
        kind += f"dilated by {self.dilation} " if self.dilation > 1 else ""
        kind += f"in {self.groups} groups " if self.groups > 1 else ""
        return kind + (f"to {self.out}" if self.out else "depthwise") + " " + self.order("c")


def conv() -> Iterator[Case]:
    """Convolutions of images and their gradients, channels first (NCHW) and last (NHWC)."""
    for shape in (
        Convolution(4, 32, 32, 32, 3),
        Convolution(4, 32, 64, 64, 3, stride=2),
        Convolution(2, 32, 32, 28, 5),
        Convolution(4, 3, 32, 64, 3),
        Convolution(2, 128, 128, 14, 3),
        Convolution(4, 64, 64, 28, 1),
        Convolution(2, 64, 0, 32, 7),  # depthwise
        Convolution(4, 32, 32, 32, 3, dilation=2),
        Convolution(4, 64, 64, 28, 3, groups=4),
        Convolution(8, 32, 32, 512, 5, rank=1),
        Convolution(1, 16, 16, 16, 3, rank=3),
    ):
        for last in (False, True):
            yield from _convolutions(replace(shape, last=last))


def _convolutions(shape: Convolution) -> Iterator[Case]:
    x, k = shape.arg(shape.order("c"), shape.size), shape.arg(shape.kernel_order())
    g = shape.arg(shape.order("o" if shape.out else "c"), shape.after)
    ours, kind = shape.ours, shape.name()
    yield _case(f"conv {kind}", (x, k), ours=ours, torch=shape.forward)
    for which, name in enumerate(("image", "kernel")):
        yield _case(
            f"conv gradient of the {name} {kind}",
            (x, k, g),
            ours=lambda xt, x, k, g, which=which: (
                xt.vjp(lambda x: ours(xt, x, k), x)[1](g) if which == 0 else xt.vjp(lambda k: ours(xt, x, k), k)[1](g)
            ),
            torch=lambda m, x, k, g, which=which: shape.backward(m, x, k, g, which),
        )


FAMILIES: dict[str, list[Case]] = {
    make.__name__: list(make()) for make in (moves, casts, elementwise, reductions, positions, sorting, matrices, conv)
}
