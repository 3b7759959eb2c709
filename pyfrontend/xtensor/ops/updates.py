"""Functional updates by position: x.at(row=i).set(v), add, subtract, multiply, divide, max, min, and get.

Positions are those that reading takes. Slices and known ints update a part in place, masks become a select, and
everything else becomes one scatter. `v` aligns by name: its dims are among those of the selected elements.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import _native
from ..base.calls import check_methods, checked
from ..base.dims import describe, describe_array
from ..base.errors import ArgumentError, ArgumentTypeError, DeviceError, DimensionError, Error
from ..base.lacking import lacks, methods_of
from ..call.arrays import array, as_array
from ..call.dispatch import op, tracing
from ..call.opened import Follows, FollowsInOrder, apart, renamed
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import local
from ..trace.tracer import Tracer
from ..values import targets
from ..values.devices import like
from ..values.options import current
from . import promotion as p
from .arguments import (
    by_dim,
    fail,
    reorder,
    size_of,
)
from .indexing import MODES as READ_MODES
from .indexing import as_arguments, keyed, read
from .positions import check_inside, parts_of, read_index
from .scatters import Update
from .shape import present
from .types import Array, ArrayLike

MODES = ("raise", "clip", "drop")


class At:
    """Selects elements to update, or to read with a mode: x.at(row=i) or x.at[{"row": i}] gives a `Selection`."""

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            own = hasattr(Selection, name) and not name.startswith("_")
            raise lacks(self, name, f"say where first, x.at(time=0).{name}(..)" if own else "write x.at(time=0).set(v)")

    def __call__(self, indexers: Mapping[str, Any] | None = None, /, **keywords: Any) -> Selection:
        """Selects the elements at positions by dim."""
        if isinstance(keywords.get("mode"), str) and "mode" not in self._x.dims:
            raise fail(
                ArgumentError, "at", f"mode={keywords['mode']!r} is not a position",
                instead=f'It goes into the call that follows: x.at(..).add(v, mode={keywords["mode"]!r})',
            )  # fmt: skip
        return Selection(self._x, by_dim("at", indexers, keywords, "indexers"))

    def __getitem__(self, key: Any) -> Selection:
        return Selection(self._x, keyed(self._x, key))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise ArgumentTypeError(f"arrays do not change. Write {assignment(self._x, key)}")


class Selection:
    """Elements of an array, selected by x.at. Each update returns a new array with the dims and dtype of `x`.

    Updates of one position accumulate. Of several `set`s, the last in index order stays: row-major over the dims of
    the index arrays, in the order of their names. `mode` says what an update out of range does: "raise" an
    IndexError, "clip" to the nearest position, or "drop" the update.
    """

    __slots__ = ("_indexers", "_x")

    def __init__(self, x: Any, indexers: dict[str, Any]) -> None:
        self._x, self._indexers = x, indexers

    def __repr__(self) -> str:
        array = f"{self._x.dtype} {describe(self._x.dims, self._x.shape)}"
        return f"<x.at({', '.join(self._indexers)}) of {array}; {methods_of(self)}>"

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            elsewhere = {"apply": None, "mul": "multiply", "sub": "subtract", "div": "divide", "power": None}
            ours = elsewhere.get(name)
            hint = f"write x.at(..).{ours}(v)" if ours else methods_of(self)
            raise lacks(self, name, None if name.startswith("_") else hint)

    @property
    def _shown(self) -> str:
        return ", ".join(f"{dim}=.." for dim in self._indexers)

    def _not_an_array(self, method: str) -> NoReturn:
        raise ArgumentTypeError(
            f"x.at({self._shown}) is a place to update, not an array. Write x.at({self._shown}).{method}(v) for x with "
            f"that there, or x.isel({self._shown}) for the elements"
        )

    def __getitem__(self, key: object) -> NoReturn:
        raise ArgumentTypeError(
            f"x.at({self._shown}) has its positions. Write all of them in one call, x.at(time=0, space=1).set(v), or "
            f"x.isel({self._shown}) for the elements"
        )

    def __add__(self, other: object) -> NoReturn:
        self._not_an_array("add")

    def __sub__(self, other: object) -> NoReturn:
        self._not_an_array("subtract")

    def __mul__(self, other: object) -> NoReturn:
        self._not_an_array("multiply")

    def __truediv__(self, other: object) -> NoReturn:
        self._not_an_array("divide")

    def __radd__(self, other: object) -> NoReturn:
        self._not_an_array("add")

    def __rmul__(self, other: object) -> NoReturn:
        self._not_an_array("multiply")

    def _operator(self, method: str) -> NoReturn:
        raise ArgumentTypeError(f"arrays do not change. Write x = x.at({self._shown}).{method}(value)")

    def __iadd__(self, other: object) -> NoReturn:
        self._operator("add")

    def __isub__(self, other: object) -> NoReturn:
        self._operator("subtract")

    def __imul__(self, other: object) -> NoReturn:
        self._operator("multiply")

    def __itruediv__(self, other: object) -> NoReturn:
        self._operator("divide")

    def get(self, mode: str | None = None, fill_value: Any = None) -> Array:
        """Returns the elements.

        `mode` says what a position out of range gives: "raise" an IndexError, "clip" to the nearest position, or
        "fill" with `fill_value` (by default NaN).
        """
        if mode is not None and mode not in READ_MODES:
            raise fail(ArgumentError, "at.get", f"mode is one of {READ_MODES}, not {mode!r}")
        if fill_value is not None and mode != "fill":
            raise fail(ArgumentError, "at.get", 'fill_value goes with mode="fill"')
        if getattr(fill_value, "dims", ()):
            raise fail(DimensionError, "at.get", f"fill_value is one number, not {describe_array(fill_value)}", self._x)
        return read("at.get", self._x, self._indexers, mode=mode, fill_value=fill_value)

    def set(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with `v` in place of the elements; of several for one position, the last stays."""
        return _start("set", self._x, self._indexers, v, mode)

    def add(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with `v` added to the elements."""
        return _start("add", self._x, self._indexers, v, mode)

    def subtract(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with `v` subtracted from the elements."""
        return _start("subtract", self._x, self._indexers, v, mode)

    def multiply(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with the elements multiplied by `v`."""
        return _start("multiply", self._x, self._indexers, v, mode)

    def divide(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with the elements divided by `v`, or by the product of all `v` of one position.

        Raises DTypeError for integers.
        """
        return _start("divide", self._x, self._indexers, v, mode)

    def max(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with the larger of the element and `v`; NaN wins."""
        return _start("max", self._x, self._indexers, v, mode)

    def min(self, v: ArrayLike, mode: str | None = None) -> Array:
        """Returns the array with the smaller of the element and `v`; NaN wins."""
        return _start("min", self._x, self._indexers, v, mode)


At.__call__ = checked(At.__call__, name="at")  # type: ignore[method-assign]
check_methods(Selection, "at")


# ---- what the user wrote ------------------------------------------------------


def _start(kind: str, x: Any, indexers: Mapping[str, Any], v: Any, mode: str | None) -> Any:
    name = f"at.{kind}"
    if mode is not None and mode not in MODES:
        raise fail(ArgumentError, name, f"mode is one of {MODES}, not {mode!r}")
    if tracing() or isinstance(x, Tracer):
        indexers = _planned(name, x, v, indexers)
    try:
        return _update(x, v, indexers, kind, mode)
    except Error as error:  # before it is traced, only `_update` is known
        error.args = (str(error.args[0]).replace("xt.update:", f"xt.{name}:", 1),)
        raise


def _planned(name: str, x: Any, v: Any, indexers: Mapping[str, Any]) -> dict[str, Any]:
    """What the indexers mean: ints, slices, positions, arrays and masks."""
    there = present(name, x, indexers, "raise")
    if not tracing():
        _on_one_device(name, x, v, {d: indexers[d] for d in there})
    own = {d: _read_mask(name, x, d, indexers[d]) for d in there}
    v_dims = tuple(getattr(v, "dims", ()))
    alone = all(own[d] is not None or isinstance(indexers[d], (int, np.integer, slice)) for d in there)
    plan: dict[str, Any] = {}
    for d in there:
        mask = own[d] if alone and d not in v_dims else None
        plan[d] = read_index(name, x, d, indexers[d]) if mask is None else mask
    return plan


def _prepared(x: Any, v: Any, indexers: Mapping[str, Any], kind: str, mode: str | None, /) -> Any:
    """The arguments of `_update`."""
    plan = as_arguments(f"at.{kind}", x, _planned(f"at.{kind}", x, v, indexers), mode)
    return (x, v, plan, kind, mode), {}


def _read_mask(name: str, x: Any, dim: str, index: Any) -> Any:
    """A mask of one dim as an array; None for anything else."""
    if isinstance(index, Tracer):
        if index.dtype != p.BOOL:
            return None
        if index.dims != (dim,):
            raise fail(
                DimensionError, name, f"a mask over {index.dims} cannot index dim {dim!r}",
                instead=f"A mask has one dim, named {dim!r}; xt.where(mask, v, x) takes any",
            )  # fmt: skip
        return index
    named = isinstance(index, tuple) and len(index) == 2 and isinstance(index[0], (str, tuple))
    if isinstance(index, (int, np.integer, slice, str)) or index is None or named:
        return None
    values = index.values if hasattr(index, "dims") else np.asarray(index)
    if np.asarray(values).dtype != p.BOOL or np.ndim(values) != 1 or tuple(getattr(index, "dims", (dim,))) != (dim,):
        return None
    if x.sizes[dim] != len(values):
        return None  # read_index says so
    if hasattr(index, "dims"):  # its coordinates come along
        return as_array(index).to(like(x) or "cpu")
    return array(np.asarray(values), dims=(dim,), device=like(x))


def assignment(x: Any, key: Any) -> str:
    """What to write instead of x[key] = value."""
    if np.dtype(getattr(key, "dtype", "i8")) == p.BOOL and np.ndim(getattr(key, "shape", ())) and len(key.shape) != 1:
        return "x = xt.where(mask, value, x)"
    try:
        indexers = keyed(x, key)
    except (Error, TypeError):
        indexers = {x.dims[0]: ...} if x.dims else {}
    if not indexers:
        return "x = x.at[...].set(value)"
    spelled = {d: _spelled(i) for d, i in indexers.items()}
    if all(d.isidentifier() for d in spelled):
        return f"x = x.at({', '.join(f'{d}={i}' for d, i in spelled.items())}).set(value)"
    return f"x = x.at[{{{', '.join(f'{d!r}: {i}' for d, i in spelled.items())}}}].set(value)"


def _spelled(index: Any) -> str:
    if isinstance(index, slice):
        parts = [index.start, index.stop, index.step]
        return f"slice({', '.join(map(repr, parts[: 2 if index.step is None else 3]))})"
    if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
        return str(int(index))
    if isinstance(index, list) and len(index) < 9:
        return repr(index)
    return "index"


def _on_one_device(name: str, x: Any, v: Any, indexers: Mapping[str, Any]) -> None:
    """Refuses arrays of two devices by what they are for."""
    roles = {"the array": x, "the value": v, **{f"the index of {d!r}": i for d, i in indexers.items()}}
    concrete = {role: a for role, a in roles.items() if isinstance(a, _native.Array)}
    try:
        targets.where(list(concrete.values()), (), list(concrete).__getitem__)
    except DeviceError as error:
        error.of(name, ())
        raise


# ---- the update ---------------------------------------------------------------


def _update_plan(x: Any, v: Any, plan: Mapping[str, Any], kind: str, mode: str | None, /) -> Any:
    """Of slices: what says where they lie is an argument. Of index arrays: their one dim is called otherwise."""
    if not isinstance(x, _native.Array) or not plan or not x.size:
        return None
    if all(isinstance(i, _native.Array) and i.dtype != p.BOOL for i in plan.values()):
        return _named_plan(x, v, plan, kind, mode or current().index)
    if not all(isinstance(i, slice) for i in plan.values()):
        return None
    sizes = v.sizes if isinstance(v, _native.Array) else {}
    if sizes.keys().isdisjoint(plan) and all(type(b) is int or b is None for i in plan.values() for b in _bounds(i)):
        # A step is a text, which is no amount.
        steps = {d: None if i.step in (None, 1) else str(operator.index(i.step)) for d, i in plan.items()}
        if "0" in steps.values():
            return None
        return FollowsInOrder((x, v, {d: slice(*_bounds(i), steps[d]) for d, i in plan.items()}, kind, mode))
    found = {d: parts_of(i, x.sizes[d]) for d, i in plan.items()}
    if not all(n and sizes.get(d, n) == n for d, ((_, n, _), _) in found.items()):
        return None
    # The least and the largest position, and the step, below 0 where the slice runs backwards.
    amounts = {d: [low, low + (n - 1) * step, -step if back else step] for d, ((low, n, step), back) in found.items()}
    own = {d: apart(d) for d in amounts if d in sizes}
    return x, renamed(v, own) if own else v, amounts, kind, None


def _named_plan(x: Any, v: Any, plan: Mapping[str, Any], kind: str, mode: str) -> Any:
    new = {d for i in plan.values() for d in i.dims}
    if len(new) != 1 or not new <= set(plan):  # the order of several is that of their names
        return None
    if mode == "raise" and x.device != "cpu":  # where no program for all sizes may raise
        for d, i in plan.items():
            check_inside(f"at.{kind}", x, i.values, d)
        mode = "drop"
    (d,) = new
    own = {d: apart(d)}
    if isinstance(v, _native.Array) and d in v.dims:
        v = renamed(v, own)
    indices = {k: renamed(i, own) if i.dims else i for k, i in plan.items()}
    return Follows((x, v, indices, kind, mode))


def _bounds(i: slice) -> tuple[Any, Any]:
    return i.start, i.stop


def _hit(x: Tracer, d: str, i: slice) -> Tracer:
    """Which elements along a dim are of a slice, whose bounds are amounts."""
    step = int(i.step or 1)
    size, zero, one = p.cast(size_of(x, d), p.I8), p.zero(p.I8), p.constant(1, p.I8)
    none = zero if step > 0 else build.unary("neg", one)
    last = size if step > 0 else build.binary("sub", size, one)

    def bound(value: Any, default: Tracer) -> Tracer:
        if value is None:
            return default
        b = p.amount(value, p.I8)
        b = build.select(build.compare("lt", b, zero), build.binary("add", b, size), b)
        return build.binary("minimum", build.binary("maximum", b, none), last)

    first, end = bound(i.start, none if step > 0 else last), bound(i.stop, last if step > 0 else none)
    at = build.iota(d, size_of(x, d), p.I8)
    before, after = ("ge", "lt") if step > 0 else ("le", "gt")
    hit = build.binary("and", build.compare(before, at, first), build.compare(after, at, end))
    if abs(step) == 1:
        return hit
    gone = build.binary("mod", build.binary("sub", at, first), p.constant(step, p.I8))
    return build.binary("and", hit, build.compare("eq", gone, zero))


def _update_wide(x: ArrayLike, v: ArrayLike, amounts: dict[str, Any], kind: str, mode: str | None, /) -> Array:
    x = as_tracer(x)
    if any(isinstance(a, Tracer) for a in amounts.values()):
        return Update(x, kind, mode or current().index, amounts).apply(v)
    update, v = Update(x, kind, "drop", {}), as_tracer(v)
    hits, places = [], {}
    for d, part in amounts.items():
        if isinstance(part, slice):
            hits.append(_hit(x, d, part))
            continue
        low, high, step = (p.amount(a, p.I8) for a in part)
        at = build.iota(d, size_of(x, d), p.I8)
        first = build.select(build.compare("lt", step, p.zero(p.I8)), high, low)
        found = build.binary("sub", at, first)
        hits.append(build.compare("eq", build.binary("mod", found, step), p.zero(p.I8)))
        hits += build.compare("ge", at, low), build.compare("le", at, high)
        places[apart(d)] = build.binary("floor_div", found, step)
    if any(d in v.dims for d in places):
        v = build.gather("clip", v, {d: at for d, at in places.items() if d in v.dims})
    y = update.combined(x, update.value(v))
    return reorder(build.select(functools.reduce(functools.partial(build.binary, "and"), hits), y, x), x.dims)


@op(static=_prepared, wide=(_update_plan, _update_wide))
def _update(x: ArrayLike, v: ArrayLike, plan: Mapping[str, Any], kind: str, mode: str | None, /) -> Array:
    if local.op == "update":
        local.op = f"at.{kind}"
    return Update(as_tracer(x), kind, mode or current().index, plan).apply(v)
