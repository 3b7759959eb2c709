"""`xt.option(nan="raise")`: results that are not finite, of arguments that are, are errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..base import tree
from ..base.errors import Error, NonFiniteError
from ..compiler import nonfinite
from ..compiler.executable import is_same
from ..ir import location
from ..trace import callbacks
from ..values.kinds import kind_of
from .compilations import changes, outside

if TYPE_CHECKING:
    from ..trace.program import Program
    from ..values.targets import Target
    from .entry import Entry


def check(
    result: Any,
    arrays: Sequence[Any],
    program: Callable[[], tuple[Program, Target]] | None,
    entry: Entry | None = None,
    fn: Any = None,
) -> None:
    """Raises NonFiniteError where an op made a NaN or an infinity of finite operands. `arrays`: the arguments of the
    call; `program`: traces it again, which happens only where a result is not finite. None: it cannot run again.
    entry, fn: what ran, and the user's function, which may give another program when it is traced again."""
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
    with location.naming(), callbacks.as_before(entry.called if entry is not None else ()):
        traced, target = program()
    is_equal = entry is None or is_same(traced, entry.key, target)
    given = [*arrays, *(entry.captured if entry is not None and is_equal else traced.captured)]
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
    if not is_equal and (error is not None or all(map(nonfinite.is_finite, arrays))):
        assert entry is not None
        error = _of_another_program(traced.name, bad[0], changes(entry.outside, outside(fn)), error)
    elif not is_there and all(map(nonfinite.is_finite, given)):
        error = NonFiniteError(
            f"result {bad[0]} of {traced.name} is not finite, and arguments are. A second run, which keeps every "
            f"value, is finite on the CPU: {_difference(traced)}"
        )
    if error is not None:
        raise error


def _difference(traced: Program) -> str:
    """Why a second run may have other values."""
    if nonfinite.has_calls(traced):
        return (
            "a function of xt.callback returned other values, or sums in another order make the difference. With "
            "ordered=True the function is not called again"
        )
    return "sums in another order, or the functions of the device, make the difference"


def _of_another_program(name: str, result: int, changed: Sequence[str], found: Error | None) -> NonFiniteError:
    """The error where the function, traced again, gives another program than the one that ran. found: what is wrong
    with that one."""
    text = (
        f"result {result} of {name} is not finite. The op was not found for certain: the function was traced again to "
        "find it, and gave another program. So it depends on something beside its arguments. "
    )
    text += f"{'; '.join(changed)}. " if changed else "xtensor does not know on what. "
    text += "Pass it as an argument"
    if found is not None:
        text += "\nin the other program, " + found.parts[0]
    return NonFiniteError(text, found.parts[1] if found is not None else None)


def _arrays(result: Any) -> list[Any]:
    """The arrays in a result, DataArrays among them."""
    found = []
    for leaf in tree.leaves(result):
        kind = kind_of(leaf)
        if kind is not None:
            found.append(leaf if isinstance(leaf, _native.Array) else kind.values(leaf))
    return found
