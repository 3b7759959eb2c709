"""`xt.option(nan="raise")`: results that are not finite, of arguments that are, are errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..base import tree
from ..base.errors import Error, NonFiniteError
from ..compiler import nonfinite
from ..ir import location
from ..values.kinds import kind_of

if TYPE_CHECKING:
    from ..trace.program import Program


def check(result: Any, arrays: Sequence[Any], program: Callable[[], Program] | None) -> None:
    """Raises NonFiniteError where an op made a NaN or an infinity of finite operands. `arrays`: the arguments of the
    call; `program`: traces it again, which happens only where a result is not finite. None: it cannot run again."""
    bad = [i for i, x in enumerate(_arrays(result)) if not nonfinite.is_finite(x)]
    if not bad:
        return
    if program is None:
        if all(map(nonfinite.is_finite, arrays)):
            raise NonFiniteError(
                f"result {bad[0]} is not finite in this process, and its arguments are. Call the function without "
                "mesh= and split= on smaller arrays to find the op"
            )
        return
    with location.naming():
        traced = program()
    given = [*arrays, *traced.captured]
    if nonfinite.has_effects(traced):
        if all(map(nonfinite.is_finite, given)):
            raise NonFiniteError(
                f"result {bad[0]} of {traced.name} is not finite. The op was not found: a second run would call the "
                "function of xt.callback(ordered=True) again. Leave ordered= out to find the op"
            )
        return
    error, is_there = None, True
    try:
        error, is_there = nonfinite.search(traced, given)
    except Error as failure:
        why = failure.parts[0]
        if "step~" in why:  # a dim of the derivative of a loop (passes/Autodiff/ControlRulesWhile.cpp)
            why = "it may be in a while loop without max_steps=, whose derivative has as many values as steps"
        error = NonFiniteError(f"result {bad[0]} of {traced.name} is not finite. The op was not found: {why}")
    if not is_there and all(map(nonfinite.is_finite, given)):
        error = NonFiniteError(
            f"result {bad[0]} of {traced.name} is not finite, and arguments are. A second run, which keeps every "
            "value, is finite on the CPU: sums in another order, or the functions of the device, make the difference"
        )
    if error is not None:
        raise error


def _arrays(result: Any) -> list[Any]:
    """The arrays in a result, DataArrays among them."""
    found = []
    for leaf in tree.leaves(result):
        kind = kind_of(leaf)
        if kind is not None:
            found.append(leaf if isinstance(leaf, _native.Array) else kind.values(leaf))
    return found
