"""One update as ops of the program: parts of dims in place, masks as a select, everything else as one scatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.errors import DimensionError, DTypeError, SizeError
from ..trace import build
from ..trace.control import scan
from ..trace.lift import as_tracer
from ..trace.scope import local
from ..trace.tracer import Tracer
from . import promotion as p
from .arguments import (
    extend,
    fail,
    is_scalar,
    is_static,
    reorder,
    size_of,
    sizes_differ,
    static_size,
    union_sizes,
)
from .indexing import met
from .positions import Positions, add_sizes, at_number, check_inside, check_some, out_of_range, parts_of
from .shape import join

# Method -> op on two arrays, kind of scatter.
_KINDS = {
    "set": ("", "set"),
    "add": ("add", "add"),
    "subtract": ("sub", "add"),
    "multiply": ("mul", "mul"),
    "divide": ("div", "mul"),
    "max": ("maximum", "max"),
    "min": ("minimum", "min"),
}


class Update:
    """One update: parts of dims first (slices, ints), then what a scatter or masks say inside of them."""

    def __init__(self, x: Tracer, kind: str, mode: str, plan: Mapping[str, Any]) -> None:
        self.x, self.kind, self.mode = x, kind, mode
        self.name = f"at.{kind}"
        self.ints: dict[str, int] = {}
        self.parts: dict[str, tuple[int, int, int]] = {}
        self.backwards: list[str] = []
        self.arrays: dict[str, Any] = {}
        self.masks: dict[str, Tracer] = {}
        self.nothing = False
        self.target = x  # what is left of it when the parts are taken
        for dim, index in plan.items():
            self.add(dim, index)
        if self.arrays:
            self.arrays |= {d: at_number(i) for d, i in self.ints.items()}
        else:
            self.parts |= {d: (i, 1, 1) for d, i in self.ints.items()}

    def add(self, dim: str, index: Any) -> None:
        if isinstance(index, int):
            self.add_int(dim, index)
        elif isinstance(index, slice):
            self.add_slice(dim, index)
        elif isinstance(index, Positions):
            self.arrays[dim] = index
        else:
            array = as_tracer(index)
            (self.masks if array.dtype == p.BOOL else self.arrays)[dim] = array

    def add_slice(self, dim: str, index: slice) -> None:
        if index in (slice(None), slice(None, None, 1)):
            return
        if index == slice(None, None, -1):
            self.backwards.append(dim)
            return
        self.parts[dim], backwards = parts_of(index, static_size(self.name, self.x, dim))
        self.nothing |= self.parts[dim][1] == 0
        if backwards:
            self.backwards.append(dim)

    def add_int(self, dim: str, index: int) -> None:
        if not is_static(self.x, dim):
            self.arrays[dim] = at_number(index)
            return
        size = int(self.x.sizes[dim])
        if -size <= index < size:
            self.ints[dim] = index % size
        elif self.mode == "raise" or (self.mode == "clip" and size == 0):
            raise out_of_range(self.name, self.x, index, dim)
        elif self.mode == "drop":
            self.nothing = True
            self.ints[dim] = 0
        else:
            self.ints[dim] = 0 if index < 0 else size - 1

    def view(self) -> dict[str, Any]:
        """The sizes of the selected elements' dims."""
        sizes: dict[str, Any] = {}
        for dim, size in self.x.sizes.items():
            if dim in self.ints or dim in self.arrays or dim in self.masks:
                continue
            sizes[dim] = self.parts[dim][1] if dim in self.parts else size
        add_sizes(self.name, self.x, sizes, self.arrays)
        return sizes

    def value(self, v: Any) -> Tracer:
        """`v` in the dtype of `x`, its dims among the view's."""
        dtype = self.x.dtype
        v = v if is_scalar(v) else as_tracer(v)
        if _kind(v) > _kind(self.x):
            weak = is_scalar(v) or v.weak
            what = ("a bool", "an int", "a float", "a complex number")[_kind(v)] if weak else f"{v.dtype}"
            raise fail(
                DTypeError, self.name, f"{what} does not fit into {dtype}", self.x,
                instead=f"Write x.astype(...) before, or v.astype({str(dtype)!r})",
            )  # fmt: skip
        if self.kind == "divide" and not p.is_inexact(dtype):
            raise fail(
                DTypeError, self.name, f"the quotient of {dtype} arrays is not {dtype}", self.x,
                instead="Write x.astype(float).at(...).divide(v)",
            )  # fmt: skip
        if dtype == p.BOOL and self.kind not in ("set", "max", "min"):
            raise fail(DTypeError, self.name, "is not defined for bool", self.x, instead="Use set, max or min")
        p.check_width((self.x, v), dtype)
        v = p.cast(v, dtype)
        view = self.view()
        for d, size in v.sizes.items():
            if d not in view:
                raise fail(
                    DimensionError, self.name,
                    f"v has dim {d!r}, which the selected elements lack; their dims are {tuple(view)}", self.x, v,
                    instead="Sum or index v over it first, or rename it",
                )  # fmt: skip
            if isinstance(size, int) and isinstance(view[d], int) and size != view[d]:
                problem = f"v has {d!r} of size {size}, the selected elements {view[d]}"
                if view[d] == self.x.sizes.get(d):
                    raise sizes_differ(self.name, problem, d, self.x, v, of="v")
                raise fail(
                    SizeError, self.name, problem, self.x, v,
                    instead=f"Slice the larger one, .isel({d}=slice({min(size, view[d])})), or rename the dim of v",
                )  # fmt: skip
        return v

    def apply(self, v: Any) -> Tracer:
        v = self.value(v)
        if self.nothing:
            return self.x
        backwards = tuple(d for d in self.backwards if d in v.dims)
        if backwards:
            v = build.reverse(v, backwards)
        there = self.replaced(v)
        y = reorder(self.placed(self.x, list(self.parts), v), self.x.dims)
        if y.value != self.x.value:
            met(self.name, y, self.target, {**self.arrays, **self.masks}, v, there)
        return build.labelled(y, self.x)

    def replaced(self, v: Tracer) -> list[tuple[str, Tracer]]:
        """For each dim of `v` whose positions have its name, the elements that `v` takes the place of: their labels
        have to be its own. Positions that only a compiled function knows, or that may be left out, have none."""
        own = {d: i for d, i in self.arrays.items() if d in v.dims and i.dims == (d,) and is_static(self.x, d)}
        if self.mode != "raise":
            return []
        return [
            (d, build.gather("raise", self.x, {d: i.traced() if isinstance(i, Positions) else i}))
            for d, i in own.items()
            if self.x.sizes[d] and (isinstance(i, Positions) or local.labelled)
        ]

    def placed(self, x: Tracer, dims: list[str], v: Tracer) -> Tracer:
        """`x` with its part along `dims` updated."""
        if not dims:
            return self.updated(x, v)
        dim, *rest = dims
        start, length, step = self.parts[dim]
        size = int(x.sizes[dim])
        if length == size:
            return self.placed(x, rest, v)
        new = reorder(self.placed(build.slice(x, {dim: (start, length, step)}), rest, v), x.dims)
        end = start + (length - 1) * step + 1
        if step == 1 or length == 1:
            before = [build.slice(x, {dim: (0, start, 1)})] if start else []
            after = [build.slice(x, {dim: (end, size - end, 1)})] if end < size else []
            return join([*before, new, *after], dim)
        spread = {dim: (start, size - end, step - 1)}
        hits = extend(p.constant(True, p.BOOL), {dim: length}, (dim,))
        hit = build.pad(hits, p.constant(False, p.BOOL), spread)
        return build.select(hit, build.pad(new, p.zero(x.dtype), spread), x)

    def updated(self, x: Tracer, v: Tracer) -> Tracer:
        self.target = x
        y = self.scattered(x, v) if self.arrays else self.combined(x, v)
        if self.masks:
            masks = list(self.masks.values())
            hit = masks[0]
            for mask in masks[1:]:
                hit = build.binary("and", hit, mask)
            y = build.select(hit, y, x)
        return y

    def combined(self, x: Tracer, v: Tracer) -> Tracer:
        """Of all elements of `x`."""
        if self.kind == "set":
            y = extend(v, {d: size_of(x, d) for d in x.dims}, x.dims)
            # A value of its own: it has the coordinates of `x`, also where it is all of `v`.
            return build.rename(y, {}) if y.value == v.value else y
        if x.dtype == p.BOOL:
            return build.binary("or" if self.kind == "max" else "and", x, v)
        return build.binary(_KINDS[self.kind][0], x, v)

    def scattered(self, x: Tracer, v: Tracer) -> Tracer:
        indices: dict[str, Tracer] = {}
        for dim, index in self.arrays.items():
            if not is_static(x, dim):
                if self.mode == "clip":
                    check_some(x, dim, index)
            elif not self.check(x, dim, index):
                return x
            indices[dim] = index.traced() if isinstance(index, Positions) else index
        kind = _KINDS[self.kind][1]
        if self.kind == "subtract":
            v = build.unary("neg", v)
        scatter = _complex_products if kind == "mul" and p.is_complex(x.dtype) else build.scatter
        if self.kind != "divide":
            return scatter(kind, self.mode, x, indices, v)
        ones = extend(p.constant(1, x.dtype), {d: size_of(x, d) for d in x.dims}, x.dims)
        return build.binary("div", x, scatter(kind, self.mode, ones, indices, v))

    def check(self, x: Tracer, dim: str, index: Any) -> bool:
        """Whether there is anything to update, as far as is known; raises for what is known to be wrong."""
        size = int(x.sizes[dim])
        if size == 0:
            # Where a size is only known at the call, the call may have no positions.
            if self.mode == "drop" or any(isinstance(n, int) and n == 0 for n in index.sizes.values()):
                return False
            if all(isinstance(n, int) for n in index.sizes.values()):
                known = isinstance(index, Positions)
                raise out_of_range(self.name, self.x, int(index.values.flat[0]) if known else 0, dim)
            return True
        if isinstance(index, Positions) and self.mode == "raise":
            check_inside(self.name, self.x, index.values, dim)
        return True


def _kind(x: Any) -> int:
    """bool < integers < floats < complex numbers."""
    if is_scalar(x):
        return 0 if isinstance(x, bool) else 1 if isinstance(x, int) else 2 if isinstance(x, float) else 3
    return 0 if x.dtype == p.BOOL else 1 if p.is_integer(x.dtype) else 3 if p.is_complex(x.dtype) else 2


def _complex_products(kind: str, mode: str, x: Tracer, indices: Mapping[str, Tracer], v: Tracer) -> Tracer:
    """The scatter of products of complex numbers: one position after another, as `prod` takes them. A dim that the
    indices share with the elements is no loop: no two of its positions meet."""
    whole = union_sizes(kind, [*indices.values(), v])
    over = [d for i in indices.values() for d in i.dims if d in indices or d not in x.dims]
    over = list(dict.fromkeys(over))
    names = list(indices)
    spread = [extend(y, whole, tuple(dict.fromkeys((*over, *y.dims)))) for y in (*indices.values(), v)]

    def each(x: Tracer, dims: list[str], rest: list[Tracer]) -> Tracer:
        if dims:
            step = lambda y, now: (each(y, dims[1:], now), ())  # noqa: E731
            found: Tracer = scan(step, x, rest, dims[0], False, None, local.op)[0]
            return found
        at = dict(zip(names, rest, strict=False))
        new = build.binary("mul", build.gather("clip", x, at), rest[-1])
        return reorder(build.scatter("set", mode, x, at, new), x.dims)

    return each(x, over, spread)
