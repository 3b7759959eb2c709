"""Control flow on arrays and pytrees of them: cond, switch, while_loop, fori_loop, scan, map.

Inside a traced function they become ops with regions. On concrete arrays the whole loop is compiled, once per
functions and types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.calls import call_with, in_words
from ..base.dims import check_name
from ..base.errors import ArgumentError, ArgumentTypeError, Error, users_frames
from ..call.arguments import name_of
from ..call.compilations import code_of
from ..ops.arguments import integer
from ..ops.types import ArrayLike
from ..trace import control
from ..trace.scope import tracing
from ..trace.tracer import DynamicSize
from ..values import options
from . import stepwise
from .derivative import ByFunction, held_by
from .jit import Jitted

__all__ = ["cond", "fori_loop", "map", "scan", "switch", "while_loop"]


def cond(predicate: ArrayLike, yes: Callable[..., Any], no: Callable[..., Any], *args: Any) -> Any:
    """Returns `yes(*args)` if `predicate` is true, else `no(*args)`; only one of the two runs.

    predicate: a bool without dims. Both functions return the same structure, with arrays of the same dims, sizes and
    dtypes. A Python number takes the dtype of its counterpart. To choose element by element, use xt.where.

    Raises:
        DTypeError: `predicate` is not a bool.
        DimensionError: `predicate` has dims.
        ArgumentError: both functions return other structures.

    Example:
    >>> xt.cond(True, lambda x: x + 1.0, lambda x: x - 1.0, xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [2. 3.]
    """
    _check_functions("cond", yes, no)
    if tracing():
        return control.cond(predicate, yes, no, args)
    if not options.current().jit:
        return stepwise.cond(predicate, yes, no, args)
    return _eager("cond", (yes, no), (predicate, args))


def switch(index: ArrayLike, branches: Sequence[Callable[..., Any]], *args: Any) -> Any:
    """Returns `branches[index](*args)`; only that branch runs. An index out of range is clamped.

    index: an integer without dims. The branches return the same structure, as for `cond`.

    Raises:
        DTypeError: `index` is not an integer.
        DimensionError: `index` has dims.
        ArgumentError: there are no branches, or they return other structures.

    Example:
    >>> xt.switch(1, [lambda x: x, lambda x: 10.0 * x], xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [10. 20.]
    """
    if not isinstance(branches, (list, tuple)):
        raise ArgumentTypeError(
            f"xt.switch: the branches are a list of functions, got {in_words(branches)}. "
            "Write xt.switch(index, [f, g], *args)"
        )
    branches = tuple(branches)
    _check_functions("switch", *branches)
    if tracing():
        return control.switch(index, branches, args)
    if not branches:
        raise ArgumentError("xt.switch: the list of branches is empty. Give at least one function")
    if not options.current().jit:
        return stepwise.switch(index, branches, args)
    return _eager("switch", branches, (index, args))


def while_loop(
    keep_on: Callable[[Any], Any], body: Callable[[Any], Any], init: Any, max_steps: int | None = None
) -> Any:
    """Repeats `carry = body(carry)`, starting with `init`, while `keep_on(carry)` is true; returns the last carry.

    init: a pytree of arrays. `body` keeps their dims, sizes and dtypes. `keep_on` returns a bool without dims.
    max_steps: the loop stops after that many steps. Reverse mode reserves memory for them, and takes them once. Without
    it, reverse mode takes the steps of the loop twice: to count them, and to keep the carries.

    Raises:
        ArgumentError: the carry changes its structure, or `max_steps` is negative.
        DimensionError: the carry changes its dims.
        DTypeError: the carry changes its dtype.

    Example:
    >>> xt.while_loop(lambda x: x < 100, lambda x: 2 * x, 3).item()
    192
    """
    _check_functions("while_loop", keep_on, body)
    if max_steps is not None:
        max_steps = integer("while_loop", max_steps, "max_steps", least=0)
    if tracing():
        return control.while_loop(keep_on, body, init, max_steps)
    if not options.current().jit:
        found = stepwise.while_loop(keep_on, body, init, max_steps)
        if found is not stepwise.UNKNOWN:
            return found
    return _eager("while_loop", (keep_on, body), (init,), max_steps=max_steps)


def fori_loop(lo: ArrayLike, hi: ArrayLike, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """Runs `carry = body(i, carry)` for i = lo, lo + 1, .. below `hi`, starting with `init`; returns the last carry.

    With Python ints as bounds it is a scan, and with traced bounds a while loop. Both have derivatives in both modes,
    as `scan` and `while_loop` have them. i takes the dtype of what it meets, as a Python int does. Bounds that are ints
    must fit that dtype. Traced bounds are not checked, and i wraps.

    Raises:
        DTypeError: a bound is not an integer, or the carry changes its dtype.
        DimensionError: the carry changes its dims.

    Example:
    >>> xt.fori_loop(0, 3, lambda i, x: 2.0 * x, xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [ 8. 16.]
    """
    _check_functions("fori_loop", body)
    lo, hi = _bound(lo), _bound(hi)
    if tracing():
        return control.fori_loop(lo, hi, body, init)
    if not options.current().jit:
        found = stepwise.fori_loop(lo, hi, body, init)
        if found is not stepwise.UNKNOWN:
            return found
    if isinstance(lo, int) and isinstance(hi, int):
        return _eager("fori_loop", (body,), (init,), bounds=(lo, hi))
    return _eager("fori_loop", (body,), (init, lo, hi), bounds=None)


def scan(
    f: Callable[[Any, Any], Any],
    carry: Any,
    xs: Any = None,
    *,
    dim: str,
    reverse: bool = False,
    length: int | None = None,
) -> tuple[Any, Any]:
    """Runs `carry, y = f(carry, x)` at each position of `dim`; returns the last carry, and the ys with `dim` first.

    xs: a pytree of arrays that all have `dim`, with one size. `f` gets their elements, which do not have it. With
    xs=None, `f` gets None, `length` times.
    carry: a pytree of arrays. `f` keeps their dims, sizes and dtypes.
    reverse: starts at the last position. Each y stands at the position of its x. The loop is compiled as a loop, so its
    length does not change the compile time.

    Raises:
        DimensionError: an array of `xs` lacks `dim`, or the carry changes its dims.
        SizeError: `dim` has two sizes.
        ArgumentError: `xs` and `length` are left out.
        DTypeError: the carry changes its dtype.

    Example:
    >>> total, totals = xt.scan(lambda c, x: (c + x, c + x), 0.0, xt.array([1.0, 2.0, 4.0], "time"), dim="time")
    >>> total.item(), totals.values
    (7.0, array([1., 3., 7.]))
    """
    _check_functions("scan", f)
    check_name(dim)
    if length is not None and not isinstance(length, DynamicSize):
        length = integer("scan", length, "length", least=0)
    if tracing():
        return control.scan(f, carry, xs, dim, bool(reverse), length)
    if not options.current().jit:
        found = stepwise.scan(f, carry, xs, dim, bool(reverse), length)
        if found is not stepwise.UNKNOWN:
            return found
    return _eager("scan", (f,), (carry, xs), dim=dim, reverse=bool(reverse), length=length)


def map(f: Callable[[Any], Any], xs: Any, dim: str) -> Any:
    """Returns `f(x)` at each position of `dim`, computed one after another, with `dim` first.

    xs: a pytree of arrays that all have `dim`. xt.vectorize computes all positions at once instead.

    Raises:
        DimensionError: an array of `xs` does not have `dim`.
        SizeError: `dim` has two sizes.

    Example:
    >>> xt.map(lambda x: xt.sum(x), xt.array([[1.0, 5.0], [7.0, 2.0]], ("run", "time")), dim="run")
    <xtensor.Array (run: 2) float64>
    [6. 9.]
    """
    _check_functions("map", f)
    check_name(dim)
    if tracing():
        return _map(f, xs, dim)
    if not options.current().jit:
        found = stepwise.map_each(f, xs, dim)
        if found is not stepwise.UNKNOWN:
            return found
    return _eager("map", (f,), (xs,), dim=dim)


def _map(f: Callable[[Any], Any], xs: Any, dim: str) -> Any:
    def step(_: None, x: Any) -> tuple[None, Any]:
        return None, call_with("map", f, [x], roles=("x",))

    control.stands_for(step, f, (None, 0))
    return control.scan(step, None, xs, dim, False, None, "map")[1]


def _check_functions(op: str, *functions: Any) -> None:
    for f in functions:
        if not callable(f):
            hint = {
                "cond": ". Write lambda: value",
                "switch": ". Write lambda: value",
                "while_loop": ". Write xt.while_loop(condition, body, start)",
                "fori_loop": ". Write xt.fori_loop(0, n, body, start)",
                "scan": '. Write xt.scan(f, start, xs, dim="time")',
                "map": '. Write xt.map(f, xs, dim="time")',
            }.get(op, "")
            raise ArgumentTypeError(f"xt.{op} needs functions, got {in_words(f)}{hint}")


def _bound(n: Any) -> Any:
    """A bound of fori_loop: an int where it is one, else an array."""
    is_int = isinstance(n, (int, np.integer)) or (isinstance(n, np.ndarray) and n.ndim == 0 and n.dtype.kind in "iu")
    return integer("fori_loop", n, "a bound") if is_int else n


# -- on concrete arrays -----------------------------------------------------------------------------------------------


def _inline(op: str, f: Sequence[Any], args: tuple[Any, ...], static: dict[str, Any]) -> Any:
    if op == "cond":
        return control.cond(args[0], f[0], f[1], args[1])
    if op == "switch":
        return control.switch(args[0], f, args[1])
    if op == "while_loop":
        return control.while_loop(f[0], f[1], args[0], static["max_steps"])
    if op == "fori_loop":
        lo, hi = static["bounds"] or args[1:]
        return control.fori_loop(lo, hi, f[0], args[0])
    if op == "scan":
        return control.scan(f[0], args[0], args[1], static["dim"], static["reverse"], static["length"])
    return _map(f[0], args[0], static["dim"])


class _Compiled:
    """What is compiled for a function and those that come after it, for as long as it lives."""

    def __init__(self, _: Callable[..., Any]) -> None:
        self.next = ByFunction(_Compiled)
        self.by_op: dict[Any, Jitted[..., Any]] = {}


_first = ByFunction(_Compiled)


def _eager(op: str, functions: Sequence[Callable[..., Any]], args: tuple[Any, ...], **static: Any) -> Any:
    try:
        return _program(op, functions, static)(*args)
    except Error as error:
        raise error.with_traceback(users_frames(error.__traceback__)) from None


def _program(op: str, functions: Sequence[Callable[..., Any]], static: dict[str, Any]) -> Jitted[..., Any]:
    node = _first(functions[0])
    for f in functions[1:]:
        node = node.next(f)
    key = (op, *static.values())
    found: Jitted[..., Any] | None = node.by_op.get(key)
    if found is None:
        found = node.by_op[key] = _compiled(op, functions, static)
    return found


def _compiled(op: str, functions: Sequence[Callable[..., Any]], static: dict[str, Any]) -> Jitted[..., Any]:
    # The cache that holds this is keyed by the functions weakly; holding them here would keep all forever.
    held = [held_by(f) for f in functions]

    def run(*args: Any) -> Any:
        return _inline(op, [h() for h in held], args, static)

    run.__name__ = f"{op}({', '.join(name_of(f) for f in functions)})"
    made: Jitted[..., Any] = Jitted(run, by_tracing=True)
    made._compiler.history.about = tuple(code for f in functions if (code := code_of(f)) is not None)
    return made
