"""callback: a Python function as a part of a compiled one."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.calls import check_takes, in_words, shown
from ..base.dims import batched, describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError, UnsupportedError
from ..base.ranges import fits
from ..call.arguments import name_of, needs_function
from ..labels.relabel import with_labels_of
from ..labels.xarray import is_dataarray
from ..trace import callbacks
from ..trace.lift import as_tracer
from ..trace.scope import tracing
from ..trace.tracer import DynamicSize, Tracer, spec
from ..values.array import Array, from_values
from ..values.kinds import kind_of
from ..values.options import option
from ..values.spec import Spec
from .custom import custom_derivative
from .derivative import order


class _Rules(threading.local):
    """How many rules are being traced, one inside of the other."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *exc: object) -> None:
        self.depth -= 1


_rules = _Rules()


def _inside(rule: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(rule)
    def counted(*args: Any) -> Any:
        with _rules:
            return rule(*args)

    return counted


def callback(
    f: Callable[..., Any],
    *args: Any,
    result: Any,
    ordered: bool = False,
    together: bool = False,
    derivative: Any = None,
) -> Any:
    """Returns `f(*args)`, which Python computes while compiled code waits: y = xt.callback(f, x, result=xt.spec(i=3)).

    f: gets the arguments, with concrete arrays on the CPU in place of traced ones, and may use any library.
    result: a pytree of types (`xt.spec`), or of arrays whose types the results have. `f` returns arrays of these dims
    in any order, NumPy arrays with these axes, or numbers. A size of None is that of the dim in the arguments.
    ordered: `f` has effects. Then each call is made where the program has it, in order. Else calls whose results are
    not used may be left out, and equal calls may be made once.
    together: in xt.vectorize, one call gets arrays of all instances, with more dims. Its results have these dims, too.
    Without it there is a call for each instance.
    derivative: a rule as for `xt.custom_derivative`: a function (primals, tangents) -> (y, dy), or a pair (fwd, bwd).
    Without it, a derivative through the call is an error.

    An exception in `f` is that of the call of the program. A bundle cannot have such a call.

    Raises:
        DimensionError: `f` returns other dims than `result`.
        SizeError: `f` returns other sizes.
        DTypeError: `f` returns another dtype.
        ArgumentTypeError: `f` does not take the arguments, or returns no array of numbers.
        GradientError: a derivative is taken without `derivative`.

    Example:
    >>> f = xt.jit(lambda x: xt.callback(lambda x: np.sort(x.values), x, result=x) + 1.0)
    >>> f(xt.array([3.0, 1.0, 2.0], "i")).values
    array([2., 3., 4.])
    """
    needs_function("callback", f)
    check_takes("callback", f, args)
    leaves, structure = tree.flatten(result)
    types = [_type_of(x, path) for x, path in zip(leaves, tree.paths(result), strict=True)]
    if ordered and together:
        raise ArgumentError(
            "xt.callback: ordered=True makes one call after the other, together=True one for all instances. Give one "
            "of them"
        )
    if not tracing():
        # Op by op, an instance is alone: all instances are one.
        batch = tuple(batched.instance) if together else ()
        return _eager(f, args, structure, types, batch)

    def primal(*args: Any) -> Any:
        return _traced(f, args, structure, types, ordered, together)

    # A rule may make the call itself: it needs a rule for each order of derivative, and no more.
    if derivative is None or _rules.depth >= max(order(), 1):
        return primal(*args)
    primal.__name__ = name_of(f)
    ruled = custom_derivative(primal)
    if isinstance(derivative, tuple) and len(derivative) == 2:
        ruled.defpullback(*map(_inside, derivative))
    elif callable(derivative):
        ruled.defpushforward(_inside(derivative))
    else:
        raise ArgumentTypeError(
            "xt.callback(derivative=): write a function (primals, tangents) -> (y, dy), or a pair (fwd, bwd), not "
            f"{shown(derivative)}"
        )
    return ruled(*args)


def _type_of(x: Any, path: str) -> Spec:
    if isinstance(x, Spec):
        return Spec._of(x.dims, x.shape, x.dtype)
    if isinstance(x, Tracer):
        return Spec._of(x.spec.dims, x.spec.shape, x.dtype)
    kind = kind_of(x)
    if kind is None:
        raise ArgumentTypeError(
            f'xt.callback(result=): a type for each result is needed, as xt.spec(i=3, dtype="f4"), got {shown(x)}'
            f"{f' at {path}' if path else ''}"
        )
    array = kind.array(x)
    return Spec._of(array.dims, array.shape, array.dtype)


def _sized(types: Sequence[Spec], given: Sequence[Spec]) -> list[Spec]:
    """The types with sizes from the arguments in place of None."""
    sizes: dict[str, int | None] = {}
    for s in given:
        for d, n in s.sizes.items():
            sizes[d] = n if n is not None else sizes.get(d)
    found = []
    for s in types:
        for d, n in s.sizes.items():
            if n is None and d not in sizes:
                raise SizeError(
                    f"xt.callback(result=): the size of dim {d!r} is None, and no argument has the dim. Give it a size"
                )
        found.append(Spec._of(s.dims, [sizes[d] if n is None else n for d, n in s.sizes.items()], s.dtype))
    return found


def _eager(
    f: Callable[..., Any], args: tuple[Any, ...], structure: tree.TreeDef, types: Sequence[Spec], batch: tuple[str, ...]
) -> Any:
    """batch: dims of size 1 that `f` sees besides, and its results have."""
    leaves, shape = tree.flatten(args)
    arrays, given = [], []
    for i, x in enumerate(leaves):
        kind = kind_of(x)
        if kind is not None and kind.named:
            array = kind.array(x)
            arrays.append(array)
            given.append(x if is_dataarray(x) else array)
            seen = array.to("cpu")
            leaves[i] = seen.expand_dims(dict.fromkeys(batch, 1)) if batch else seen
    specs = _sized(types, [Spec._of(a.dims, a.shape, a.dtype) for a in arrays])
    call = _Call(f, shape, leaves, (), structure, types)
    of_call = [Spec._of((*batch, *s.dims), ([1] * len(batch) + [*s.shape]), s.dtype) for s in specs]
    values = call.results(f(*shape.unflatten(leaves)), of_call)
    where = next((a.device for a in arrays if not a.weak), None)
    with option(device=where) if where else nullcontext():
        # Copies, as compiled code takes them: `f` may return the same memory each time.
        made = [from_values(v.reshape(s.shape), s.dims, copy=True) for v, s in zip(values, specs, strict=True)]
    return structure.unflatten(with_labels_of(given, made, "callback"))


def _traced(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    structure: tree.TreeDef,
    types: Sequence[Spec],
    ordered: bool,
    together: bool,
) -> Any:
    if callbacks.exporting():
        raise UnsupportedError(
            f"xt.callback({name_of(f)}): a bundle has no Python to call. Write the function with xt, or leave the call "
            "out of what is exported"
        )
    leaves, shape = tree.flatten(args)
    places = [i for i, x in enumerate(leaves) if _is_operand(x)]
    arrays = [as_tracer(leaves[i]) for i in places]
    for i in places:
        leaves[i] = None
    call = _Call(f, shape, leaves, places, structure, types)
    specs = _sized(types, [spec(x) for x in arrays])
    trees = map(callbacks.meanings, (shape, structure))
    key = (_Call, callbacks.which(f), *trees, *types, *places, *map(callbacks.meaning, leaves))
    # Without results, only an effect is left.
    found = callbacks.call(
        name_of(f), call, key, arrays, specs, ordered=ordered or not specs, together=together and bool(specs)
    )
    return structure.unflatten(found)


def _is_operand(x: Any) -> bool:
    """Python numbers and what NumPy has without dims are values of the program."""
    if isinstance(x, (Tracer, DynamicSize)):
        return True
    kind = kind_of(x)
    return kind is not None and kind.named


class _Call:
    """A function with what its calls have in common."""

    def __init__(
        self,
        f: Callable[..., Any],
        shape: tree.TreeDef,
        leaves: Sequence[Any],
        places: Sequence[int],
        structure: tree.TreeDef,
        types: Sequence[Spec],
    ) -> None:
        self.f, self.shape, self.leaves, self.places = f, shape, leaves, places
        self.structure, self.types = structure, types
        paths = tree.paths(structure.unflatten(range(structure.size)))
        self.told = [f"xt.callback: {name_of(f)} returned{f' at {p}' if p else ''}" for p in paths]

    def __call__(
        self, where: Mapping[str, int], arrays: Sequence[Array], specs: Sequence[Spec]
    ) -> list[np.ndarray[Any, Any]]:
        leaves = list(self.leaves)
        for i, x in zip(self.places, arrays, strict=True):
            leaves[i] = x
        return self.results(self.f(*self.shape.unflatten(leaves)), specs)

    def results(self, y: Any, specs: Sequence[Spec]) -> list[np.ndarray[Any, Any]]:
        """What the function returned, with the dims of `specs`: those of its types, and those of instances."""
        try:
            leaves = tree.leaves_at(self.structure, y)
        except ArgumentError:
            one = self.structure.size == 1 and all(isinstance(x, (bool, int, float, complex)) for x in tree.leaves(y))
            raise ArgumentError(
                f"xt.callback: {name_of(self.f)} returned {tree.structure(y)}, and result= says {self.structure}"
                f"{'. Return an array of the numbers: np.array(..)' if one else ''}"
            ) from None
        return [_fitted(*found) for found in zip(leaves, specs, self.types, self.told, strict=True)]


def _fitted(x: Any, wanted: Spec, declared: Spec, what: str) -> np.ndarray[Any, Any]:
    """The values of `x`, with the axes of `wanted`."""
    kind = kind_of(x)
    weak = isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)
    if kind is not None:
        array = kind.array(x)
        values, dims = array.values, array.dims
    else:
        values = _numbers(x, declared, what)
        dims = wanted.dims if values.ndim == len(wanted.dims) else declared.dims
        if values.ndim != len(dims):
            axes = f" of shape {values.shape}" if values.ndim else ""
            raise DimensionError(f"{what} {shown(x)}{axes}, and result= says {_described(declared)}")
    if dims == wanted.dims and values.shape == wanted.shape and values.dtype == wanted.dtype:
        return values
    extra = [d for d in wanted.dims if d not in declared.dims]
    have = dict(zip(dims, values.shape, strict=True))
    needed = {d: n for d, n in wanted.sizes.items() if d in have or d not in extra}
    differs = f"{values.dtype.name} {describe(dims, values.shape)}, and result= says {_described(wanted)}"
    if {*have} != {*needed}:
        raise DimensionError(f"{what} {differs}")
    if any(needed[d] != n for d, n in have.items()):
        raise SizeError(f"{what} {differs}")
    if values.dtype != wanted.dtype and not (weak and _takes(wanted.dtype, x)):
        if weak:
            raise DTypeError(
                f"{what} the number {shown(x)}, and result= says {_described(wanted)}, which does not hold it. Declare "
                f"dtype={values.dtype.name!r}, or return a number that fits"
            )
        raise DTypeError(
            f"{what} {differs}. Return .astype({wanted.dtype.name!r}), or declare dtype={values.dtype.name!r}"
        )
    values = values.astype(wanted.dtype, copy=False).transpose([dims.index(d) for d in wanted.dims if d in have])
    index: Any = tuple(slice(None) if d in have else np.newaxis for d in wanted.dims)
    shape: Any = wanted.shape
    return np.broadcast_to(values[index], shape)


def _numbers(x: Any, declared: Spec, what: str) -> np.ndarray[Any, Any]:
    """What is neither an array of ours nor a Python number, as an array of numbers."""
    values = None if isinstance(x, (Spec, str)) else np.asarray(x)
    if values is None or values.dtype.kind not in "biufcV":
        words = f"an ndarray of {x.dtype}" if isinstance(x, np.ndarray) else in_words(x)
        words = f"{x!r}, which has no values" if isinstance(x, Spec) else words
        raise ArgumentTypeError(f"{what} {words}, and result= says {_described(declared)}. Return an array of numbers")
    return values


def _takes(dtype: dtypes.DType, x: complex) -> bool:
    """Whether a Python number keeps its kind and value."""
    if isinstance(x, int):
        return dtypes.is_inexact(dtype) or isinstance(x, bool) or (dtypes.is_integer(dtype) and fits(x, dtype))
    return dtypes.is_complex(dtype) or (isinstance(x, float) and dtypes.is_float(dtype))


def _described(s: Spec) -> str:
    return f"{dtypes.as_dtype(s.dtype).name} {describe(s.dims, s.shape)}"
