"""Checks that a device supports what a program needs, before anything is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.dims import describe_array
from ..base.dtypes import DType, is_complex, real_of
from ..base.errors import DeviceError
from ..ir.context import file_line, is_array, spec_of
from ..values.targets import NEEDS, Target

if TYPE_CHECKING:
    from ..trace.program import Program


def check(target: Target, program: Program, whose: bool = False) -> None:
    """Raises DeviceError if a device does not support what a program needs, before anything is compiled.

    `whose` names the function, and the message names the op in it. Without `whose`, the program is one op, which
    the caller names.
    """
    lacking = [dtype for dtype in NEEDS if target.lacks(dtype)]
    if not lacking:
        return
    given = [f"argument {i} of {program.name}" if whose else "an operand" for i in range(len(program.inputs))]
    given += [f"an array that {program.name} reads from outside" for _ in program.captured]
    for place, spec in zip(given, program.all_inputs, strict=True):
        if real_of(spec.dtype).name in lacking:
            how = f'Write x.astype("{_narrow(spec.dtype)}") on the CPU, before it is moved'
            _refuse(target, real_of(spec.dtype).name, f"{place} is {describe_array(spec)}", how)
    how = 'Write x.astype("f4") of what it is computed from'
    for i, spec in enumerate(program.outputs):
        if real_of(spec.dtype).name in lacking:
            place = f"result {i} of {program.name}" if whose else "the result"
            _refuse(target, real_of(spec.dtype).name, f"{place} is {describe_array(spec)}", how)
    for dtype, (op, line) in _dtypes_inside(program).items():
        if dtype in lacking:
            _refuse(target, dtype, f"a value inside of the program, of the op '{op}', is {dtype}", how, line)


def _narrow(dtype: DType) -> str:
    return "c8" if is_complex(dtype) else "f4"


def _refuse(target: Target, dtype: str, what: str, how: str, where: str | None = None) -> None:
    shown = f"{target.name!r} ({target.device.description})" if target.device else repr(target.name)
    raise DeviceError(f'{what}, and the device {shown} has no {dtype}. {how}, or run it with device="cpu"', where)


def _dtypes_inside(program: Program) -> dict[str, tuple[str, str | None]]:
    """The dtypes of all values that are computed: the first op that gives one, and its FILE:LINE."""
    found: dict[str, tuple[str, str | None]] = {}

    def visit(operation: Any) -> None:
        for region in operation.regions:
            for block in region.blocks:
                for view in block.operations:
                    op = view.operation
                    for result in op.results:
                        if not is_array(result.type) or _is_folded(op):
                            continue
                        dtype = real_of(spec_of(result.type).dtype).name
                        if dtype not in found:
                            found[dtype] = op.name.removeprefix("xtensor."), file_line(op.location) or None
                    visit(op)

    visit(program.module.operation)
    return found


def _is_folded(op: Any) -> bool:
    """Whether it is a number of the program that is never there as it is written: each of its uses is a cast."""
    if op.name != "xtensor.constant" or spec_of(op.results[0].type).dims:
        return False
    return all(use.owner.name == "xtensor.cast" for use in op.results[0].uses)
