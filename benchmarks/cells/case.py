"""A case of sweep.py: one op on arrays of one size, order of dims and dtype.

A case has a function for each peer, of its module and its arrays. The dims of ours are a, b, c in the order in which
the arrays store them.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
    positive: bool = False  # between 0 and 1

    @property
    def count(self) -> int:
        return math.prod(self.sizes)

    def make(self, rng: np.random.Generator) -> np.ndarray:
        if self.dtype == "bool":
            return rng.random(self.sizes) < 0.5
        if self.dtype in ("i4", "i8", "i1", "u1"):
            return rng.integers(0, self.below, self.sizes).astype(self.dtype)
        value = rng.uniform(0.01, 0.99, self.sizes) if self.positive else rng.standard_normal(self.sizes)
        if self.spd:
            value = value @ value.swapaxes(-1, -2) + self.sizes[-1] * np.eye(self.sizes[-1])
        return value.astype("f8" if self.dtype == "f8" else "f4")


@dataclass(frozen=True)
class Run:
    """A call, the bytes of its arrays, and of ours its flops."""

    call: Callable[[], Any]
    bytes: int
    flops: int = 0


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
        run, arrays, flops = _bind(peer, lambda *xs: function(module, *xs), values, self.args)
        result = run()
        results = result if isinstance(result, (tuple, list)) else (result,)
        return Run(run, sum(int(x.nbytes) for x in (*arrays, *results) if hasattr(x, "nbytes")), flops)


def _bind(peer: str, function: Function, values: list[np.ndarray], args: tuple[Arg, ...]) -> Any:
    """A call of the peer, its arrays, and its flops."""
    narrow = [arg.dtype == "bf16" for arg in args]
    if peer == "ours":
        import ml_dtypes
        import xtensor as xt

        cast = [v.astype(ml_dtypes.bfloat16) if n else v for v, n in zip(values, narrow, strict=True)]
        arrays = [xt.array(v, dims=tuple(arg.dims[: v.ndim])) for v, arg in zip(cast, args, strict=True)]
        compiled = xt.jit(function)
        return (lambda: compiled(*arrays)), arrays, compiled.cost(*arrays)["flops"]
    if peer == "jax":
        import jax
        import ml_dtypes

        cast = [v.astype(ml_dtypes.bfloat16) if n else v for v, n in zip(values, narrow, strict=True)]
        arrays = [jax.device_put(v) for v in cast]
        compiled = jax.jit(function)
        return (lambda: jax.block_until_ready(compiled(*arrays))), arrays, 0
    if peer == "torch":
        import torch

        tensors = [torch.from_numpy(v) for v in values]
        arrays = [t.bfloat16() if n else t for t, n in zip(tensors, narrow, strict=True)]
        return (lambda: function(*arrays)), arrays, 0
    return (lambda: function(*values)), values, 0


def _sizes(arg: Arg) -> str:
    return "[" + ",".join(map(str, arg.sizes)) + "]" + arg.dtype


def case(name: str, args: Arg | tuple[Arg, ...], **functions: Function) -> Case:
    """A case of functions by peer; `same` is that of JAX, PyTorch and NumPy, `numpylike` that of JAX and NumPy."""
    args = args if isinstance(args, tuple) else (args,)
    same = functions.pop("same", None)
    alike = functions.pop("numpylike", same)
    found = {"jax": alike, "numpy": alike, "torch": same} | functions
    key = f"{name} {_sizes(args[0])}"
    return Case(key, args, {peer: f for peer, f in found.items() if f is not None})


def first_middle_last(count: int, short: int) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Sizes of `count` elements in which the dim of an op is long or short, and its place."""
    yield "first", (count // short, short), 0
    yield "first of wide", (short, count // short), 0
    yield "last", (short, count // short), 1
    yield "last of narrow", (count // short, short), 1
    yield "middle", (short, count // short // 64, 64), 1
