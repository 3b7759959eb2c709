"""Programs that are profiled: what their kernels are made of. `xt.profile` has the times.

Under `xt.profile` a program is compiled for itself, with calls of the runtime around each kernel
(passes/KernelCalls.h).
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..base.errors import CompileError
from ..ir.context import compiler, diagnosed
from ..values import options
from .cost import bytes_of, fixed_module
from .origins import Origins

if TYPE_CHECKING:
    from ..mlir import ir
    from ..trace.program import Program
    from ..values.targets import Target

_RUNS = 64  # of one program and of different sizes, of which the work is found out
_KERNELS = 1 << 20  # numbers of a program (kKernelsOfProgram of passes/KernelCalls.h)
_numbers = itertools.count(1)
_programs: dict[int, Profiled] = {}  # of the process: the spans of a program may be read after it is gone


@dataclass(frozen=True)
class Kernel:
    """What runs at once: fused loops, a matrix product, a routine of a library, a launch on a device.

    kind: "loops", "product", "launch", or the name of a routine; "program" for the whole of it. flops and bytes of one
    run, None if they depend on sizes that only a call knows (`Profiled.work`); the flops of "program" are those of no
    other kernel, its bytes those of all arguments and results. ops: the functions that it is made of.
    lines: (file, line) of the user's program. is_derivative: whether a derivative's rule made it. reads, writes:
    numbers of the memory that it shares with other kernels; those of arguments and results are -1, -2, .. in the order
    of the entry point.
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
    """A program and its kernels; the first one is the program. types: those of its arguments, as texts.

    open_dims: those whose sizes each run tells, in the order of the arguments. module: the traced program, if there
    are any. known: what `work` has found out.
    """

    name: str
    device: str
    types: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    open_dims: tuple[str, ...] = ()
    module: ir.Module | None = field(default=None, repr=False, compare=False)
    known: dict[tuple[int, ...], list[tuple[float | None, float]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def work(self, sizes: tuple[int, ...]) -> list[tuple[float | None, float]] | None:
        """The flops and bytes of each kernel in a run of these open sizes. None if too many such runs were asked for:
        each of them lowers the program again."""
        found = self.known.get(sizes)
        if found is not None or self.module is None or len(sizes) != len(self.open_dims) or len(self.known) >= _RUNS:
            return found
        named = dict(zip(self.open_dims, sizes, strict=True))
        _, inputs, outputs = fixed_module(self.module, named)
        with diagnosed(CompileError):
            told = json.loads(compiler().kernels(self.module, named))
        whole = (told[0]["flops"], float(sum(map(bytes_of, (*inputs, *outputs)))))
        found = self.known[sizes] = [whole, *((k["flops"], k["bytes"]) for k in told[1:])]
        return found


def number() -> int:
    """That of the next program; 0 if programs are not profiled here."""
    return next(_numbers) if options.current().profile else 0


def add(number: int, program: Program, target: Target, told: str) -> None:
    """told: what the compiler says of the kernels."""
    origins = Origins(program)
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
        kernels[0] = Kernel("program", kernels[0].flops, moved, (), lines, False)
    open_dims: tuple[str, ...] = ()
    if is_open and target.backend == "cpu":
        open_dims = tuple(d for s in program.given for d, n in s.sizes.items() if n is None)
    _programs[number] = Profiled(
        program.name, target.name, types_of(program), tuple(kernels), open_dims, program.module if open_dims else None
    )


def types_of(program: Program) -> tuple[str, ...]:
    """The types of a program's arguments, as texts that two programs of one function differ in."""
    return tuple(map(repr, program.all_inputs))


def program_of(number: int) -> int:
    """The number of a kernel's program."""
    return number // _KERNELS


def place_of(number: int) -> int:
    """The place of a kernel among those of its program."""
    return number % _KERNELS


def kernels_of(number: int) -> list[tuple[int, Kernel]]:
    """All kernels of the program of this kernel, with their numbers."""
    first = program_of(number) * _KERNELS
    program = _programs.get(program_of(number))
    return [(first + i, kernel) for i, kernel in enumerate(program.kernels)] if program else []


def kernel_of(number: int) -> tuple[Profiled, Kernel] | None:
    """What the runtime means by the number of a kernel."""
    program = _programs.get(program_of(number))
    place = place_of(number)
    return (program, program.kernels[place]) if program and place < len(program.kernels) else None
