"""Loops, branches and instances of arrays with values, one after another in Python, for `xt.option(jit=False)`.

The bodies are called as they are, so that `print` and pdb see values. Types are those of the compiled loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _native
from ..base import tree
from ..base.calls import call_with, shown
from ..base.dims import batched
from ..base.errors import ArgumentError
from ..base.refusals import not_an_array, unnamed
from ..call.arguments import is_choice
from ..call.arrays import as_array
from ..labels.xarray import Labels, is_dataarray, labels_of, without_labels
from ..trace import control
from ..trace.control import name_of
from ..trace.program import result_leaves
from ..trace.tracer import spec
from ..values import options
from ..values.kinds import kind_of
from ..values.spec import Spec

# A loop without a step, or no instance: what its body would give is not known without a trace of it.
UNKNOWN = object()


# -- arguments and results --------------------------------------------------------------------------------------------


def lift(x: Any) -> Any:
    """A leaf as an array; a number stays weak."""
    if kind_of(x) is None:
        raise unnamed(x) if isinstance(x, np.ndarray) else not_an_array(x)
    return as_array(x)


def lifted(x: Any) -> Any:
    """A pytree with arrays in place of DataArrays and numbers, which stay weak; what cannot be an array stays."""
    return tree.map(lambda leaf: leaf if is_choice(leaf) else lift(leaf), x)


def has_dataarrays(x: Any) -> bool:
    return any(map(is_dataarray, tree.leaves(x)))


def results_of(found: Any, name: str, as_dataarrays: bool) -> Any:
    """What a function returned, as a program returns it."""
    leaves, structure = result_leaves(found, name, lift)
    return structure.unflatten([x.to_xarray() if as_dataarrays else x for x in leaves])


def fit(x: Any, to: Spec) -> Any:
    """An array with the dtype and the order of dims of `to`, weak where that is."""
    if x.dtype != to.dtype:
        x = x.astype(to.dtype)
    if x.dims != to.dims:
        x = x.transpose(*to.dims)
    if x.weak != to.weak:
        x = x._view(_native.ArrayType(x.type.dtype, x.dims, x.shape, to.weak))
    return x


class _Carry(control.Carry):
    """Its arrays have the labels that no step changes: a label that does is none of the whole loop's."""

    lift: Any = staticmethod(lift)
    fit_one = staticmethod(fit)
    changed: list[set[str]] | None = None  # of each array: the coordinates that a step changed
    renamed: frozenset[int] = frozenset()

    def steady(self, before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
        """The carry after a step, without such labels. What has no label goes with any, as zeros to add to do."""
        self.changed = self.changed or [set() for _ in after]
        found = []
        for i, (x, changed) in enumerate(zip(after, self.changed, strict=True)):
            was, now = labels_of(before[i]), labels_of(x)
            if was and now:
                names = {*was.coords, *now.coords}
                changed |= {k for k in names if not _is_same(was.coords.get(k), now.coords.get(k))}
                self.renamed |= {i} if was.name != now.name else frozenset()
            x = _without(x, changed)
            found.append(x._with_meta(replace(labels_of(x), name=None)) if now and i in self.renamed else x)
        return found


@contextmanager
def _step(op: str, fn: Callable[..., Any], i: int) -> Iterator[None]:
    """Errors say in which step they are raised."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in step {i} of xt.{op}({name_of(fn)})")
        raise


def _where(given: Any) -> options.option:
    """The block in which new arrays are made where the arrays of a call are, as in a program."""
    there = [x for x in tree.leaves(lifted(given)) if isinstance(x, _native.Array) and not spec(x).weak]
    return options.option(**({"device": there[0].device} if there else {}))


# -- branches ---------------------------------------------------------------------------------------------------------


# Only the branch that is taken runs, once. So its numbers keep their dtypes, and its dims their order, where a program
# may take those of another branch.


def cond(predicate: Any, yes: Callable[..., Any], no: Callable[..., Any], args: Sequence[Any]) -> Any:
    """`yes(*args)` where the predicate holds, else `no(*args)`."""
    holds = bool(control.scalar_of("cond", "the predicate", predicate, "bool", lift))
    return _taken("cond", yes if holds else no, args)


def switch(index: Any, branches: Sequence[Callable[..., Any]], args: Sequence[Any]) -> Any:
    """`branches[index](*args)`, the index clamped into range."""
    i = int(control.scalar_of("switch", "the index", index, "integer", lift))
    return _taken("switch", branches[min(max(i, 0), len(branches) - 1)], args)


def _taken(op: str, branch: Callable[..., Any], args: Sequence[Any]) -> Any:
    given = lifted(tuple(args))
    with _where(given):
        found = call_with(op, branch, given)
    return results_of(found, name_of(branch), has_dataarrays(tuple(args)))


# -- loops ------------------------------------------------------------------------------------------------------------


def while_loop(
    keep_on: Callable[[Any], Any], body: Callable[[Any], Any], init: Any, max_steps: int | None, op: str = "while_loop"
) -> Any:
    """`body` over and over, from `init`, while `keep_on(carry)` holds and at most `max_steps` times."""
    carry = _Carry(op, init)
    leaves, i = carry.init, 0
    before, settled = leaves, True

    def step(given: Sequence[Any]) -> list[Any]:
        found = carry.leaves_of(call_with(op, body, [carry.unflatten(given)], roles=("carry",)), body)
        if max_steps is None and found and all(x is y for x, y in zip(found, given, strict=True)):
            raise control.never_ends(op, body)
        return found

    while max_steps is None or i < max_steps:
        with _where(init), _step(op, keep_on, i):
            if not bool(carry.decide(keep_on, leaves)):
                break
        with _where(init), _step(op, body, i):
            before, (leaves, settled) = leaves, _settled(carry, leaves, step, body)
        i += 1
    while not settled:
        with _where(init), _step(op, body, i - 1):
            leaves, settled = _settled(carry, carry.fit(before), step, body)
    if not i and any(x.weak for x in leaves):
        return UNKNOWN
    return _results(carry.unflatten(leaves), init)


def _settled(
    carry: _Carry, given: Sequence[Any], step: Callable[[Sequence[Any]], list[Any]], fn: Callable[..., Any]
) -> tuple[list[Any], bool]:
    """The carry after a step, and whether its types are those of all further steps. Numbers of Python take the dtype
    that the step gives them, as in a compiled loop. Where they move along the carry, that takes several steps: of a
    loop with fewer, the last one is computed again."""
    found = step(given)
    settled = carry.settle(found, fn)
    return carry.steady(given, carry.fit(found)), settled


def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    dim: str,
    reverse: bool,
    length: Any,
    op: str = "scan",
) -> Any:
    """`carry, y = f(carry, x)` at each position of `dim` in `xs`: the last carry, and the ys with `dim` first."""
    carry = _Carry(op, init)
    over, structure = control.scanned(op, xs, dim, lift)
    count = int(control.steps_of(op, over, tree.paths(xs), dim, length))
    if not count:
        return UNKNOWN
    inner = [_without_labels_of(x, dim) for x in over]
    cut = {k for x in over for k, v in labels_of(x).coords.items() if _is_cut(k, v, (dim,))}
    leaves, stacked = carry.init, []
    first: tree.TreeDef | None = None
    order = range(count - 1, -1, -1) if reverse else range(count)
    for i in order:
        x = structure.unflatten([x.isel({dim: i}) for x in inner])
        with _where((init, xs)), _step(op, f, i):
            found, ys, shape = carry.step(f, carry.unflatten(leaves), x, dim)
            settled = carry.settle(found, f)
            while not settled and i == order[-1]:  # from a carry of the types of the loop, as in `_settled`
                found, ys, shape = carry.step(f, carry.unflatten(carry.fit(leaves)), x, dim)
                settled = carry.settle(found, f)
        first = shape if first is None else first
        if shape != first:
            raise ArgumentError(
                f"xt.{op}: {name_of(f)} returns other structures of y in other steps, {first} and {shape}; they differ "
                f"{tree.difference(first, shape)}"
            )
        leaves = [_without(x, cut) for x in carry.steady(leaves, carry.fit(found))]  # it has no place for all parts
        stacked.append(ys)
    if reverse:
        stacked.reverse()
    ys = [_stack(op, f, each, {dim: count}, over) for each in zip(*stacked, strict=True)]
    return _results((carry.unflatten(leaves), shape.unflatten(ys)), (init, xs))


def _without_labels_of(x: Any, *dims: str) -> Any:
    """An array without the coordinates along `dims` alone: its elements have none of them."""
    coordinates = labels_of(x).coords
    return _without(x, {k for k, v in coordinates.items() if {*dims} & {*v.dims} and not _is_cut(k, v, dims)})


def _without(x: Any, names: Collection[str]) -> Any:
    """An array without some coordinates."""
    return without_labels(x, [*names]) if {*names} & {*labels_of(x).coords} else x


def _is_same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same coordinate."""
    return a is b or (a is not None and b is not None and bool(a.equals(b)))


def _is_cut(name: str, coordinate: Any, dims: Collection[str]) -> bool:
    """Whether each element along `dims` has a part of a coordinate."""
    along = {*coordinate.dims}
    return bool(along & {*dims}) and not along <= {*dims} and name not in along


def _labels_of_all(ys: Sequence[Any], sizes: dict[str, int], over: Sequence[Any]) -> Labels:
    """The labels of the ys of all steps in one array. A coordinate that differs between them has no place in it, if
    it is not made of the parts of one of what is scanned."""
    outer = [(k, v) for x in over for k, v in labels_of(x).coords.items() if {*v.dims} & {*sizes}]
    whole = {k: v for k, v in outer if {*v.dims} <= {*sizes}}
    cut = {k: v for k, v in outer if _is_cut(k, v, sizes)}
    every = [labels_of(y) for y in ys]
    labels = [x for x in every if x] or every  # what has no label goes with any, as the number that a carry starts with
    found: dict[str, Any] = {}
    for name, first in labels[0].coords.items():
        each = [x.coords.get(name) for x in labels]
        if name in sizes or name in whole or any(v is None or v.dims != first.dims for v in each):
            continue
        if name in cut:
            found[name] = _joined([v for v in each if v is not None], sizes, cut[name].dims)
        elif all(_is_same(first, v) for v in each):
            found[name] = first
    met = {name for x in labels for name in x.coords} - {*sizes}
    kept = {k: v for k, v in whole.items() if k not in met}
    own = labels[0].name if all(x.name == labels[0].name for x in labels) else None
    return Labels({**kept, **found}, own, labels[-1].attrs)


def _joined(parts: Sequence[Any], sizes: dict[str, int], was: Sequence[Any]) -> Any:
    """The parts of a coordinate as one again. The dims have the order of `was`, where they have other names, too."""
    import xarray

    values = np.stack([v.values for v in parts]).reshape(*sizes.values(), *parts[0].shape)
    values = values[tuple(slice(None) if d in was else 0 for d in sizes)]
    along, left = [d for d in sizes if d in was], list(parts[0].dims)
    order = [d if d in sizes else left.pop(0) for d in was if d in sizes or left] + left
    return xarray.Variable([*along, *parts[0].dims], values, parts[0].attrs).transpose(*order)


def _stack(op: str, fn: Callable[..., Any], ys: Sequence[Any], sizes: dict[str, int], over: Sequence[Any]) -> Any:
    """The ys of all steps, with the dims of `sizes` first and the coordinates that what is scanned has along them.
    Steps that take other branches may give numbers of other dtypes: the type is what all can have."""
    like = spec(ys[0])
    for y in ys[1:]:
        joined = control.join(like, spec(y))
        if joined is None:
            raise control.steps_differ(op, fn, like, spec(y))
        like = joined
    where = Spec._of(like.dims, like.shape, like.dtype)
    fitted = [fit(y, where) for y in ys]
    values = np.stack([y.values for y in fitted]).reshape(*sizes.values(), *like.shape)
    made = _native.from_buffer(values, (*sizes, *like.dims))
    made = _native.to_device(made, fitted[0]._device)
    found = _labels_of_all(ys, sizes, over)
    return made._with_meta(found) if found else made


def fori_loop(lo: Any, hi: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """`carry = body(i, carry)` for i from `lo` up to `hi`."""
    first, last = (
        x if isinstance(x, int) else int(control.scalar_of("fori_loop", what, x, "integer", lift))
        for what, x in (("lo", lo), ("hi", hi))
    )
    carry = _Carry("fori_loop", init)
    before = leaves = carry.init
    settled = True
    for i in range(first, last):

        def step(given: Sequence[Any], i: int = i) -> list[Any]:
            inside = carry.unflatten(given)
            found = call_with("fori_loop", body, [as_array(i), inside], roles=("i", "carry"))
            if found is None and inside is not None:
                raise control.no_carry("fori_loop", body, shown(inside))
            return carry.leaves_of(found, body)

        with _where(init), _step("fori_loop", body, i):
            before, (leaves, settled) = leaves, _settled(carry, leaves, step, body)
    while not settled:
        with _where(init), _step("fori_loop", body, last - 1):
            leaves, settled = _settled(carry, carry.fit(before), step, body)
    if first >= last and any(x.weak for x in leaves):
        return UNKNOWN
    return _results(carry.unflatten(leaves), init)


def map_each(f: Callable[[Any], Any], xs: Any, dim: str) -> Any:
    """`f(x)` at each position of `dim`, with `dim` first."""

    def step(_: None, x: Any) -> tuple[None, Any]:
        return None, call_with("map", f, [x], roles=("x",))

    step.__name__ = name_of(f)
    found = scan(step, None, xs, dim, False, None, "map")
    return found if found is UNKNOWN else found[1]


# -- instances --------------------------------------------------------------------------------------------------------


def vectorize(
    f: Callable[..., Any],
    sizes: dict[str, int],
    leaves: Sequence[Any],
    structure: tree.TreeDef,
    check: Callable[[Any], Any],
) -> tuple[list[Any], tree.TreeDef] | None:
    """`f` of each instance along the dims of `sizes`, with these first: its results, and their structure. None if
    nothing is an instance. leaves, structure: of the arguments and keywords. check: is called with each result."""
    inner = [x if is_choice(x) else _without_labels_of(x, *sizes) for x in leaves]
    stacked: list[Sequence[Any]] = []
    first: tree.TreeDef | None = None
    names, instance = batched.names, batched.instance
    for position in np.ndindex(*sizes.values()):
        at = dict(zip(sizes, position, strict=True))
        one = [x if is_choice(x) else x.isel({d: i for d, i in at.items() if d in x.dims}) for x in inner]
        args, kwargs = structure.unflatten(one)
        batched.names, batched.instance = (*names, *sizes), {**instance, **at}
        try:
            with _where(one):
                found, shape = result_leaves(call_with("vectorize", f, args, kwargs), name_of(f), lift)
        except Exception as error:
            error.add_note(f"in instance {', '.join(f'{d}={i}' for d, i in at.items())} of xt.vectorize({name_of(f)})")
            raise
        finally:
            batched.names, batched.instance = names, instance
        first = shape if first is None else first
        if shape != first:
            raise ArgumentError(
                f"xt.vectorize: {name_of(f)} returns other structures for other instances, {first} and {shape}; they "
                f"differ {tree.difference(first, shape)}"
            )
        stacked.append([check(x) for x in found])
    if first is None:
        return None
    over = [x for x in leaves if not is_choice(x)]
    return [_stack("vectorize", f, each, sizes, over) for each in zip(*stacked, strict=True)], first


def _results(found: Any, given: Any) -> Any:
    if not has_dataarrays(given):
        return found
    return tree.map(lambda x: x.to_xarray() if kind_of(x) is not None else x, found)
