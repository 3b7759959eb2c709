"""The stages of a jitted function: Traced -> Lowered -> Compiled. All can be printed; the last can be called."""

from __future__ import annotations

import itertools
from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import _native
from ..base.calls import check_methods
from ..base.dims import describe_array
from ..base.errors import ArgumentTypeError, DeviceError, DimensionError, DTypeError, Error, SizeError, trimmed
from ..base.lacking import lacks
from ..call.compilations import History, code_of, key_of
from ..call.entry import moved
from ..compiler import cost
from ..compiler.executable import load
from ..compiler.memory import plan_of
from ..compiler.phases import phase_text
from ..explorer.memory import Memory
from ..trace.program import Program
from ..values import options
from ..values.kinds import ARRAY, NUMBER, kind_of, scalar_array
from ..values.spec import Spec
from ..values.targets import Target

if TYPE_CHECKING:
    from ..call.arguments import Call


_AGAIN = 'write xt.option(log="compile"), or look at f.compilations'
# What JAX and Numba have for a look inside -> what to write.
_ELSEWHERE = {
    "cost_analysis": "write f.cost(x)", "memory_analysis": "write f.memory(x)", "compile": "write f.lower(x).compile()",
    "eval_shape": "write f.trace(x).outputs", "out_info": "write f.trace(x).outputs", "explain": _AGAIN,
    "jaxpr": 'write f.as_text("traced", x)', "inspect_llvm": 'write f.as_text("llvm", x)',
    "inspect_asm": 'write f.as_text("asm", x)', "compiler_ir": 'write f.as_text("linalg", x)',
    "profile": "write with xt.profile() as p: f(x)",
}  # fmt: skip


def instead_of(name: str) -> str | None:
    """What to write for an attribute that compiled functions and their stages lack."""
    return _ELSEWHERE.get(name)


class Traced:
    """The program as it was traced, before any phase."""

    def __init__(self, program: Program, call: Call, target: Target, compiled: MutableSequence[str]) -> None:
        """compiled: the function's list of what was compiled of it in this way, by keys."""
        self.program = program
        self.call = call
        self.target = target
        self._compiled = compiled

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            raise lacks(self, name, instead_of(name))

    @property
    def inputs(self) -> tuple[Spec, ...]:
        """The types of the arrays that the program takes."""
        return self.program.inputs

    @property
    def outputs(self) -> tuple[Spec, ...]:
        """The types of the arrays that the program returns."""
        return self.program.outputs

    @trimmed
    def as_text(self, *, locations: bool = False) -> str:
        """Returns the program as text. locations: each op has its lines, as ``loc(..)``."""
        return phase_text(self.program, "traced", locations)

    def lower(self) -> Lowered:
        """Returns the next stage, which shows every phase."""
        return Lowered(self.program, self.call, self.target, self._compiled)

    @trimmed
    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            f"a {type(self).__name__} cannot be pickled: it holds a program of this process. Pickle the jitted "
            "function, whose compiled code goes with it, or write xt.export"
        )

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(repr, s)) for s in (self.inputs, self.outputs))
        return f"<{type(self).__name__} {self.program.name}: ({ins}) -> ({outs})>"


class Lowered(Traced):
    """A program that can be shown after any phase, and compiled."""

    @trimmed
    def as_text(self, phase: str = "linalg", *, locations: bool = False) -> str:
        """Returns the program after `phase` as text. locations: each op has its lines, as ``loc(..)``.

        The phases are traced, simplified, differentiated, distributed, linalg, grouped, scheduled, buffers, cpu, llvm
        and asm.
        For a device, gpu and the device's own code (spirv, msl, ptx) take the place of cpu.
        """
        return phase_text(self.program, phase, locations, self.target)

    @trimmed
    def compile(self) -> Compiled:
        """Returns the machine code. Raises DeviceError if the program is for a device that is not here."""
        if not self.target.here:
            raise DeviceError(
                f"there is no {self.target.name!r} here to run {self.program.name} on; only its text can be shown: "
                'f.lower(..).as_text("gpu"). Lower it without device= to run it on the CPU'
            )
        return Compiled(self.program, self.call, self.target, self._compiled)

    @trimmed
    def cost(self) -> dict[str, Any]:
        """Returns flops, bytes (of arguments and results) and arena bytes of one call.

        For a device it also gives launches, and in on_host the routines that run on the CPU: {"cholesky": 1}.
        """
        return cost.cost(self.program, self.target, self.call.shapes)

    @trimmed
    def memory(self) -> Memory:
        """Returns what one call needs of memory, and where each temporary lies."""
        return Memory(plan_of(self.program, self.target, self.call.shapes))


class Compiled(Lowered):
    """Machine code of one program. Call it by position, with arrays of the types that it was compiled for."""

    def __init__(self, program: Program, call: Call, target: Target, compiled: MutableSequence[str]) -> None:
        super().__init__(program, call, target, compiled)
        self.executable = load(program, target)
        compiled.append(program.key)
        specs = program.inputs if len(program.inputs) == call.structure.size else ()
        where = options.current().of_programs, target.name, call.structure, specs, bool(call.labelled)
        History(program.name, (code_of(call.fn),)).add(program, key_of(call.fn, *where), ())
        self.captured = [_native.to_device(a, target.device) for a in program.captured]
        # One array out and nothing to add to what comes in: the call can be left to C altogether.
        leaf = object()
        plain = (
            not self.captured
            and not program.ranges
            and len(program.outputs) == 1
            and program.tree.unflatten([leaf]) is leaf
        )
        self._direct = load(program, target, unwrap=True) if plain else None

    def compile(self) -> Compiled:
        """Returns itself: it is compiled."""
        return self

    def _misfit(self, given: Sequence[Any]) -> Error | None:
        """What distinguishes the arguments from those that this was compiled for."""
        wanted = self.inputs
        if len(given) != len(wanted):
            takes = f"takes {len(wanted)} array{'s' * (len(wanted) != 1)}"
            return ArgumentTypeError(f"compiled {self.program.name} {takes}, got {len(given)}")
        for i, (x, spec) in enumerate(zip(given, wanted, strict=True)):
            if not hasattr(x, "dims"):
                continue
            if isinstance(x, _native.Array) and x.device != self.target.name:
                return DeviceError(
                    f"argument {i} of compiled {self.program.name} is on {x.device!r}, and it was compiled for "
                    f"{self.target.name!r}. Move it by x.to({self.target.name!r}), or call the jitted function, which "
                    "runs where its arguments are"
                )
            kind: type[Error] = SizeError
            if tuple(x.dims) != spec.dims:
                kind = DimensionError
            elif x.dtype != spec.dtype:
                kind = DTypeError
            elif all(n in (None, m) for n, m in zip(spec.shape, x.shape, strict=True)):
                continue
            return kind(
                f"argument {i} of compiled {self.program.name} is {describe_array(x)}, and it was compiled for "
                f"{describe_array(spec)}. Call the jitted function, which compiles for what it gets"
            )
        return None

    def _moved(self, x: Any, spec: Spec) -> Any:
        """An argument where the code runs, if it is an array without labels. C++ reads NumPy's on the CPU."""
        if isinstance(x, np.ndarray):
            if self.target.device is None or x.ndim != spec.ndim:
                return x
            return _native.to_device(_native.from_buffer(x, spec.dims), self.target.device)
        kind = kind_of(x)
        if kind is NUMBER or isinstance(x, np.float64):  # which is a Python float, too
            x = moved([scalar_array(x)], [spec], None)[0]
        elif kind is None or (kind is not ARRAY and kind.labelled(x)):
            return x
        else:
            x = kind.array(x)
        return x if self.target.device is None else _native.to_device(x, self.target.device)

    def __call__(self, *arrays: Any) -> Any:
        if self._direct is not None:
            try:
                return self._direct(*arrays)
            except TypeError:
                pass  # an argument that C does not take: told or converted below
        # More arguments than there are inputs are told below.
        wanted = itertools.chain(self.inputs, itertools.repeat(Spec._of((), (), np.dtype("float64"))))
        given = [self._moved(x, s) for x, s in zip(arrays, wanted)]  # noqa: B905 (`wanted` has no end)
        for r in self.program.ranges:
            if r.argument < len(given):
                r.check(int(given[r.argument]), False)
        try:
            results = self.executable.run([*given, *self.captured])
        except TypeError as error:
            raise self._misfit(given) or ArgumentTypeError(str(error)) from None
        return self.program.tree.unflatten(self.program.leaves(results))


check_methods(Traced, "Traced")
check_methods(Lowered, "Lowered")
check_methods(Compiled, "Compiled")
