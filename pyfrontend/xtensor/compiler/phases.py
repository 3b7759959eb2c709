"""A program as text after any phase of its compilation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.errors import CompileError
from ..ir.context import compiler, diagnosed
from ..values.targets import CPU, Target, target_named
from . import supports
from .options import check_phase

if TYPE_CHECKING:
    from ..trace.program import Program


def phase_text(program: Program, phase: str, locations: bool = False, target: Target = CPU) -> str:
    """The program as it is after `phase` on its way to `target`."""
    backend = check_phase(phase, target.backend)
    if backend != target.backend:
        target = target_named(backend)
    supports.check(target, program, whose=True)
    with diagnosed(CompileError):
        if phase == "traced":
            return str(program.module.operation.get_asm(enable_debug_info=locations, use_local_scope=locations))
        return str(compiler().as_text(program.module, phase, locations, target.profile))
