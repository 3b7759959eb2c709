"""`xt.option(nan="raise")`: results that are not finite, of arguments that are, are errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..base import tree
from ..base.errors import Error, NonFiniteError
from ..compiler import nonfinite
from ..values.kinds import kind_of

if TYPE_CHECKING:
    from ..trace.program import Program


def check(result: Any, arrays: Sequence[Any], program: Callable[[], Program]) -> None:
    """Raises NonFiniteError where an op made a NaN or an infinity of finite operands. `arrays`: the arguments of the
    call; `program`: traces it again, which happens only where a result is not finite."""
    bad = [i for i, x in enumerate(_arrays(result)) if not nonfinite.is_finite(x)]
    if not bad:
        return
    traced = program()
    given = [*arrays, *traced.captured]
    try:
        error = nonfinite.search(traced, given)
    except Error as why:
        error = NonFiniteError(f"result {bad[0]} of {traced.name} is not finite. The op was not found: {why.parts[0]}")
    if error is None and all(map(nonfinite.is_finite, given)) and nonfinite.has_nan([*_arrays(result)][bad[0]]):
        error = NonFiniteError(
            f"result {bad[0]} of {traced.name} has a NaN, and arguments are finite. A second run, op by op on the CPU, "
            "does not have it: sums in another order, or the functions of the device, make the difference"
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
