"""Functions of arrays in chunks: each chunk is a task of Dask, and a tree of tasks combines the results.

The function is compiled once, here. Tasks carry it as a bundle, so workers only load its code.
"""

from __future__ import annotations

import itertools
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from ..aot.export import export
from ..aot.load import load
from ..base import dtypes, tree
from ..base.calls import call_with, with_article
from ..base.dims import describe
from ..base.errors import ArgumentTypeError, DimensionError, DTypeError, Error, SizeError
from ..base.latest import Latest
from ..call.arguments import Static, is_choice, name_of
from ..call.opened import MOST
from ..labels.xarray import is_dataarray
from ..ops.promotion import sum_dtype
from ..trace.program import result_leaves
from ..trace.tracer import Tracer
from ..values import options
from ..values.array import Array, from_values
from ..values.kinds import kind_in
from ..values.spec import Spec

# How many results one task combines.
_TOGETHER = 8

_SUMS: dict[str, Callable[[Any, Any], Any]] = {"sum": np.add, "mean": np.add, "max": np.maximum, "min": np.minimum}
REDUCTIONS = tuple(_SUMS)


def function(f: Callable[..., Any], reduce: str) -> Callable[..., Any]:
    """What `xt.blocks` returns."""
    known = Latest(MOST)

    def call(*args: Any, **keywords: Any) -> Any:
        split = _Split(f, args, keywords)
        programs, shape = known(split.key(), lambda: (split.compiled(), split.shape))
        return _lazily(split, reduce, programs, shape)

    call.__name__ = call.__qualname__ = name_of(f)
    call.__doc__ = f.__doc__
    return call


def _lazily(split: _Split, reduce: str, programs: Mapping[tuple[int, ...], Any], shape: Any) -> Any:
    token = uuid.uuid4().hex  # of this call: what it read may change until the next one
    graph: dict[Any, Any] = {(f"program-{token}", s): _Block(g, split.dims_of) for s, g in programs.items()}
    whole: list[Any] = []
    for i, x in enumerate(split.whole):
        whole.append(None if x is None else f"argument-{token}-{i}")
        if x is not None:
            graph[whole[-1]] = x
    keys: list[Any] = []
    for number, (sizes, places) in enumerate(split.each()):
        pieces = [x if x is not None else split.piece(i, places) for i, x in enumerate(whole)]
        weight = math.prod(sizes) / split.total if reduce == "mean" and split.total else None
        program = f"program-{token}", sizes if sizes in programs else ()
        keys.append((f"{split.name}-{token}", number))
        graph[keys[-1]] = (_one, program, reduce, weight, *pieces)
    for level in itertools.count():
        if len(keys) == 1:
            break
        groups = [keys[i : i + _TOGETHER] for i in range(0, len(keys), _TOGETHER)]
        keys = [(f"{reduce}-{token}-{level}", i) for i in range(len(groups))]
        graph.update({k: (_combined, reduce, g) for k, g in zip(keys, groups, strict=True)})
    name = f"blocks-{token}"
    graph[name] = _finished, _Shape(shape), keys[0]
    given = [x for x in split.lazy if x is not None]
    return Delayed(name, HighLevelGraph.from_collections(name, graph, dependencies=given))  # type: ignore[no-untyped-call]


class _Split:
    """The arguments of a call: which stay whole, and which consist of pieces, one for each chunk."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.f, self.name = f, name_of(f)
        self.what = f"xt.blocks({self.name})"
        given, self.structure = tree.flatten((args, keywords))
        paths = tree.paths(args) + tree.paths(keywords)
        self.chunks: dict[str, tuple[int, ...]] = {}  # of the dims that have several
        for x, path in zip(given, paths, strict=True):
            self._meet(x, path)
        if not any(is_dataarray(x) and x.chunks for x in given):
            raise ArgumentTypeError(
                f"{self.what}: no argument is in chunks. Write {self.name}(..) itself, or x.chunk(time=1000)"
            )
        self.total = math.prod(sum(sizes) for sizes in self.chunks.values())
        self.fixed: list[Any] = []  # what is not an array, else None
        self.arrays: list[Any] = []
        for x, path in zip(given, paths, strict=True):
            kind = kind_in(x, True)
            self.fixed.append(None if kind else x)
            if kind is None and not is_choice(x):
                instead = ". Write xt.array(x, dims=..)" if isinstance(x, np.ndarray) else ""
                raise ArgumentTypeError(
                    f"{self.what}: argument {path} is {with_article(type(x).__name__)}. Arguments are arrays with "
                    f"named dims, numbers, and pytrees of them{instead}"
                )
            if kind is not None:
                self.arrays.append(x if is_dataarray(x) else kind.array(x))
                self._check(self.arrays[-1], path)
        self.dims_of = [tuple(map(str, x.dims)) for x in self.arrays]
        self.lazy = [self._lazy(x) for x in self.arrays]
        self.whole = [
            None if lazy is not None or self._parts(x) else from_values(np.asarray(x.values), x.dims)
            for x, lazy in zip(self.arrays, self.lazy, strict=True)
        ]
        self.shape: tree.TreeDef | None = None  # of the result

    def _meet(self, x: Any, path: str) -> None:
        """Takes note of the chunks of `x`."""
        if isinstance(x, Tracer):
            raise ArgumentTypeError(
                f"{self.what}: argument {path} is traced, and Dask computes chunks later. Write xt.blocks around it: "
                f"xt.blocks(xt.value_and_grad({self.name})), and call it outside of xt.jit"
            )
        if not is_dataarray(x) and hasattr(x, "__dask_graph__") and hasattr(x, "chunks"):
            raise ArgumentTypeError(
                f"{self.what}: argument {path} is a dask.array, whose dims have no names. "
                "Write xr.DataArray(x, dims=..)"
            )
        for dim, sizes in zip(x.dims, x.chunks, strict=True) if is_dataarray(x) and x.chunks else ():
            known = self.chunks.setdefault(str(dim), sizes) if len(sizes) > 1 else sizes
            if sum(known) != sum(sizes):
                raise SizeError(
                    f"{self.what}: argument {path} has size {sum(sizes)} along {dim!r}, and an argument before "
                    f"has {sum(known)}. Slice the larger one, .isel({dim}=slice({min(sum(sizes), sum(known))}))"
                )
            if known != sizes:
                raise SizeError(
                    f"{self.what}: argument {path} has chunks of other sizes along {dim!r} than "
                    f"the arguments before. Write {_rechunk(str(dim), self.chunks[str(dim)])}"
                )

    def _check(self, x: Any, path: str) -> None:
        try:
            dtypes.as_dtype(x.dtype)
        except DTypeError:
            raise DTypeError(
                f"{self.what}: argument {path} is {x.dtype}. Arrays hold bools, ints, floats and complex numbers: "
                'leave it out, or convert it, as in (x - x[0]) / np.timedelta64(1, "D") for dates'
            ) from None
        for d in self._parts(x):
            if x.sizes[d] != sum(self.chunks[d]):
                raise SizeError(
                    f"{self.what}: argument {path} has size {x.sizes[d]} along {d!r}, and the arrays in "
                    f"chunks have {sum(self.chunks[d])}"
                )

    def _parts(self, x: Any) -> list[str]:
        return [d for d in map(str, x.dims) if d in self.chunks]

    def each(self) -> list[tuple[tuple[int, ...], dict[str, tuple[int, slice]]]]:
        """For each chunk its sizes along the dims that are split, and its number and place along each. Chunks without
        elements are left out, because a mean or maximum of theirs would not be defined; if all are such, one stays."""
        along = []
        for sizes in self.chunks.values():
            ends = list(itertools.accumulate(sizes))
            along.append([(i, slice(end - n, end)) for i, (n, end) in enumerate(zip(sizes, ends, strict=True))])
        found = []
        for places in itertools.product(*along):
            sizes = tuple([s.stop - s.start for _, s in places])
            found.append((sizes, dict(zip(self.chunks, places, strict=True))))
        return [chunk for chunk in found if 0 not in chunk[0]] or found[:1]

    def piece(self, number: int, places: Mapping[str, tuple[int, slice]]) -> Any:
        x, lazy = self.arrays[number], self.lazy[number]
        if lazy is None:
            part = x.isel({d: places[d][1] for d in self._parts(x)})
            return part.values if is_dataarray(x) else part
        return lazy.name, *[places[d][0] if d in places else 0 for d in map(str, x.dims)]

    def _lazy(self, x: Any) -> Any:
        """The values of an array in chunks, in the chunks of this call; None for one in memory."""
        if not is_dataarray(x) or not x.chunks:
            return None
        return x.chunk({d: self.chunks.get(str(d), -1) for d in x.dims}).data

    def key(self) -> Any:
        """All that the programs depend on."""
        kinds = [
            (d, tuple([0 if n in self.chunks else x.sizes[n] for n in d]), x.dtype, getattr(x, "weak", False))
            for x, d in zip(self.arrays, self.dims_of, strict=True)
        ]
        sizes = [(d, tuple(dict.fromkeys(c))) for d, c in self.chunks.items()]
        fixed = [None if x is None else Static(x) for x in self.fixed]
        return options.current(), self.structure, tuple(fixed), tuple(kinds), tuple(sizes)

    def compiled(self) -> dict[tuple[int, ...], Any]:
        """The function of a chunk, by the sizes of chunks; under (): one for all of them."""
        met = list(dict.fromkeys(sizes for sizes, _ in self.each()))
        if len(met) == 1:
            return {met[0]: self._at(dict(zip(self.chunks, met[0], strict=True)))}
        varying = {d: None if len(set(sizes)) > 1 else sizes[0] for d, sizes in self.chunks.items()}
        try:
            return {(): self._at(varying)}
        except Error:  # it needs to know its sizes; other errors come again
            return {sizes: self._at(dict(zip(self.chunks, sizes, strict=True))) for sizes in met}

    def _at(self, sizes: Mapping[str, int | None]) -> Any:
        specs = [Spec._of(d, [sizes.get(n, x.sizes[n]) for n in d], x.dtype, getattr(x, "weak", False))
                 for x, d in zip(self.arrays, self.dims_of, strict=True)]  # fmt: skip

        def block(*arrays: Any) -> list[Any]:
            rest = iter(arrays)
            args, keywords = self.structure.unflatten([next(rest) if x is None else x for x in self.fixed])
            results, self.shape = result_leaves(call_with("blocks", self.f, args, keywords), self.name)
            for r in results:
                for d in r.dims:
                    if d in self.chunks:
                        raise DimensionError(
                            f"{self.what}: the result {describe(r.dims, r.shape)} has dim {d!r}, along "
                            f"which the arguments are in chunks. Reduce it in {self.name}, or use xr.map_blocks"
                        )
            return results

        return load(export(block, specs, c=False))


def _rechunk(dim: str, sizes: tuple[int, ...]) -> str:
    """What gives an array these chunks."""
    if len(set(sizes[:-1])) == 1 and sizes[-1] <= sizes[0]:
        return f"x.chunk({dim}={sizes[0]}) for both"
    return "x, y = xr.unify_chunks(x, y)"


# ---- tasks -----------------------------------------------------------------------------------------------------------


class _Block:
    """The function of one chunk. `dims`: of its arguments."""

    def __init__(self, program: Any, dims: Sequence[tuple[str, ...]]) -> None:
        self.program, self.dims = program, dims

    def __call__(self, *pieces: Any) -> Any:
        given = zip(pieces, self.dims, strict=True)
        return self.program(*[x if isinstance(x, Array) else from_values(np.asarray(x), d) for x, d in given])


class _Shape:
    """The structure of a result. Dask looks into tuples, and leaves this alone."""

    def __init__(self, shape: tree.TreeDef) -> None:
        self.shape = shape


def _one(block: _Block, reduce: str, weight: float | None, *pieces: Any) -> list[Any]:
    """The results for one chunk."""
    found: list[Any] = block(*pieces)
    if reduce == "sum":
        return [_counted(y, sum_dtype(y.dtype)) for y in found]
    return found if weight is None else [from_values(_weighted(y.values, weight), y.dims) for y in found]


def _counted(y: Any, dtype: np.dtype[Any]) -> Any:
    """With the dtype of a sum: that of bools is a number."""
    return y if y.dtype == dtype else from_values(y.values.astype(dtype), y.dims)


def _weighted(values: np.ndarray[Any, Any], weight: float) -> Any:
    if values.dtype.kind in "biu":
        return values * weight
    return (values * values.dtype.type(weight)).astype(values.dtype, copy=False)


def _combined(reduce: str, results: Sequence[list[Any]]) -> list[Any]:
    combine = _SUMS[reduce]

    def of(*parts: Any) -> Any:
        total = parts[0].values
        for p in parts[1:]:
            total = combine(total, p.values)
        return from_values(np.asarray(total), parts[0].dims)

    return [of(*parts) for parts in zip(*results, strict=True)]


def _finished(shape: _Shape, results: list[Any]) -> Any:
    return shape.shape.unflatten(results)
