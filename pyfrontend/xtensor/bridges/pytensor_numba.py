"""Calls of compiled functions in Numba's code, in which PyTensor's default mode runs its graphs.

Short programs of known sizes are called at their address. Numba's object mode calls the others by Python: those that
may take long, that have open sizes or that call Python; and short ones that fail, so that errors are told as
everywhere.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.link.numba.dispatch import basic

from ..compiler.executable import code_of_program
from ..trace.program import Program
from ..values.spec import Spec

# As kReleaseGilBytes in native/Executable.cpp: with more bytes, a call lets other threads run.
_SHORT = 64 << 10
_ALIGNMENT = 64  # of results, as runtime.h wants it


def call_of(code: Callable[[Sequence[Any]], list[Any]], program: Program, outputs: Sequence[Any]) -> Any:
    """A function of Numba's arrays. `code`: the call of `program` by Python; outputs: the types of its results."""
    kinds = [basic.get_numba_type(t) for t in outputs]
    single = len(kinds) == 1
    signature = kinds[0] if single else basic.numba.types.Tuple(kinds)

    def run(arrays: Any) -> Any:
        found = code(arrays)
        return found[0] if single else tuple(found)

    @basic.numba_njit
    def by_python(*arrays):  # type: ignore[no-untyped-def]
        with basic.numba.objmode(found=signature):
            found = run(arrays)
        return found  # noqa: RET504 (Numba's contexts end before)

    compiled = code_of_program(program)
    arrays = (*program.all_inputs, *program.outputs)
    is_open = any(s.is_dynamic for s in arrays)
    if is_open or compiled.is_long or program.called or program.places is not None or not outputs:
        return by_python
    if sum(map(_nbytes, arrays)) > _SHORT:
        return by_python
    names = {
        "np": np, "by_python": by_python, "aligned": _aligned,
        "entry": ctypes.CFUNCTYPE(None, *[ctypes.c_ssize_t] * 3)(compiled.entry),
        **{f"t{i}": np.dtype(s.dtype) for i, s in enumerate(program.outputs)},
    }  # fmt: skip
    exec(_text(program), names)
    call = names["call"]
    call.kept = code, compiled  # the memory of what it reads from outside, and of the code
    return basic.numba_njit(call)


@basic.numba_njit
def _aligned(nbytes):  # type: ignore[no-untyped-def]
    room = np.empty(nbytes + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    return room[start : start + nbytes]


def _nbytes(s: Spec) -> int:
    return math.prod(n or 0 for n in s.shape) * s.dtype.itemsize


def _text(program: Program) -> str:
    """The source of the call: checks of the arguments, new results, the call, and a look at its status."""
    inputs = [f"x{i}" for i in range(len(program.inputs))]
    results = [f"y{i}" for i in range(len(program.outputs))]
    misfits = [
        f"not {x}.flags.c_contiguous or {x}.shape != {s.shape}" for x, s in zip(inputs, program.inputs, strict=True)
    ]
    by_python = f"return by_python({', '.join(inputs)})"
    pointers = [f"{x}.ctypes.data" for x in inputs] + [str(x._pointer) for x in program.captured]
    pointers += [f"{y}.ctypes.data" for y in results]
    lines = [
        f"def call({', '.join(inputs)}):",
        f"if {' or '.join(misfits) or False}:",
        f"    {by_python}",
        *[f"{y} = aligned({_nbytes(s)})" for y, s in zip(results, program.outputs, strict=True)],
        f"buffers = np.array([{', '.join(pointers)}], np.int64)",
        "status = np.zeros(8, np.int64)",
        "entry(buffers.ctypes.data, 0, status.ctypes.data)",
        # Numba lets go of an array after its last use.
        f"status[7] = {' + '.join(f'{x}.size' for x in (*inputs, *results, 'buffers'))}",
        "if status[0] & 0xFFFFFFFF:",
        f"    {by_python}",
        f"return {', '.join(f'{y}.view(t{i}).reshape({program.outputs[i].shape})' for i, y in enumerate(results))}",
    ]
    return "\n    ".join(lines)
