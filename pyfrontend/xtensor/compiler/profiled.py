"""Programs that are profiled: what their kernels are made of. `xt.profile` has the times.

Under `xt.profile` a program is compiled for itself, with calls of the runtime around each kernel
(passes/KernelCalls.h).
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..values import options
from .cost import bytes_of
from .origins import Origins

if TYPE_CHECKING:
    from ..trace.program import Program
    from ..values.targets import Target

_KERNELS = 1 << 20  # numbers of a program (kKernelsOfProgram of passes/KernelCalls.h)
_numbers = itertools.count(1)
_programs: dict[int, Profiled] = {}  # of the process: the spans of a program may be read after it is gone


@dataclass(frozen=True)
class Kernel:
    """What runs at once: fused loops, a matrix product, a routine of a library, a launch on a device.

    kind: "loops", "product", "launch", or the name of a routine; "program" for the whole of it. flops and bytes of one
    run, None if they depend on sizes that only a call knows. ops: the functions that it is made of. lines: (file, line)
    of the user's program. is_derivative: whether a derivative's rule made it. reads, writes: numbers of the memory that
    it shares with other kernels; those of arguments and results are -1, -2, .. in the order of the entry point.
    """

    kind: str
    flops: float | None
    bytes: float | None
    ops: tuple[str, ...]
    lines: tuple[tuple[str, int], ...]
    is_derivative: bool
    reads: tuple[int, ...] = field(default=(), compare=False)
    writes: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Profiled:
    """A program and its kernels; the first one is the program. types: those of its arguments, as texts."""

    name: str
    device: str
    types: tuple[str, ...]
    kernels: tuple[Kernel, ...]


def number() -> int:
    """That of the next program; 0 if programs are not profiled here."""
    return next(_numbers) if options.current().profile else 0


def add(number: int, program: Program, target: Target, told: str) -> None:
    """told: what the compiler says of the kernels."""
    origins = Origins(program.module)
    specs = (*program.all_inputs, *program.outputs)
    is_open = any(s.is_dynamic for s in specs)
    kernels = []
    for kernel in json.loads(told or "[]"):
        where = kernel["loc"]
        flops, moved = (None, None) if is_open else (kernel["flops"], kernel["bytes"])
        names, lines, is_derivative = origins.names(where), origins.lines(where), origins.is_derivative(where)
        memory = (tuple(kernel[side]) for side in ("reads", "writes"))
        kernels.append(Kernel(kernel["kind"], flops, moved, names, lines, is_derivative, *memory))
    if kernels:
        # The compiler has the line of the call that the program was traced for, and others call it, too.
        lines = tuple(sorted({line for kernel in kernels[1:] if kernel.ops for line in kernel.lines}))
        moved = None if is_open else sum(map(bytes_of, specs))
        kernels[0] = Kernel("program", None, moved, (), lines, False)
    _programs[number] = Profiled(program.name, target.name, types_of(program), tuple(kernels))


def types_of(program: Program) -> tuple[str, ...]:
    """The types of a program's arguments, as texts that two programs of one function differ in."""
    return tuple(map(repr, program.all_inputs))


def kernels_of(number: int) -> list[tuple[int, Kernel]]:
    """All kernels of the program of this kernel, with their numbers."""
    first = number // _KERNELS * _KERNELS
    program = _programs.get(number // _KERNELS)
    return [(first + i, kernel) for i, kernel in enumerate(program.kernels)] if program else []


def kernel_of(number: int) -> tuple[Profiled, Kernel] | None:
    """What the runtime means by the number of a kernel."""
    program = _programs.get(number // _KERNELS)
    place = number % _KERNELS
    return (program, program.kernels[place]) if program and place < len(program.kernels) else None
