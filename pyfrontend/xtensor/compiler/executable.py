"""Compiles and loads a traced program: the connection between Python and the C++ compiler."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..base.dims import describe, describe_array
from ..base.errors import CompileError, IndexError_, SizeError, counts_from_start, user_line, which_positions
from ..ir.context import compiler, diagnosed, mlir, spec_of
from ..ir.location import named
from ..trace.build import FAILING
from ..values.spec import Spec
from ..values.targets import CPU, Target
from . import carried, debug, profiled, supports
from .options import CompileOptions
from .sizes import Sizes, is_square, not_square

if TYPE_CHECKING:
    from ..trace.program import Program


def native_type(spec: Spec) -> Any:
    """What _native calls this type: an ArrayType, or (dtype, dims, sizes) when some sizes are dynamic."""
    if spec.is_dynamic:
        return spec.dtype.name, spec.dims, spec.shape
    sizes = [n for n in spec.shape if n is not None]
    try:
        return _native.ArrayType(spec.dtype.name, spec.dims, sizes, spec.weak)
    except ValueError as error:
        raise SizeError(f"{describe_array(spec)}: {error}") from None


def load(program: Program, target: Target = CPU, unwrap: bool = False, inline: bool = False) -> Any:
    """Compiles `program`, or finds it compiled on disk: an _native.Executable.

    unwrap: its call returns the one array instead of a tuple. inline: what fails is told at the line of the call, not
    at the one that was traced."""
    supports.check(target, program, whose=not inline)
    debug.dump(program, target)
    options = CompileOptions(target.profile, profiled.number())
    # Before the compiler meets sizes that nothing can have.
    inputs = [native_type(s) for s in program.given]
    fixed = [None if o.is_dynamic else native_type(o) for o in program.results]
    with diagnosed(CompileError):
        compiled = compiler().compile(program.module, options.as_dict())
        program.seconds.update(compiled.seconds)
        program.key = "" if options.profile else compiled.key
        kept = "carried" if carried.is_received(compiled.key) else "disk"
        program.source = (kept if compiled.from_cache else "compiled") if compiled.seconds else "memory"
        if options.profile:
            profiled.add(options.profile, program, target, compiled.kernels)
        sizes = Sizes(program)
        outputs = [
            known or (o.dtype.name, o.dims, n)
            for o, known, n in zip(program.outputs, fixed, sizes.results, strict=True)
        ]
    return _native.Executable(
        compiled.entry,
        inputs,
        outputs,
        _sites(program, compiled.sites, inline),
        (compiled, program.layout, program.called),  # the layout keeps communicators
        unwrap,
        release_gil=compiled.is_long or None,
        equal=sizes.equalities,
        device=target.device,
        name=program.name,
        donated=program.donated,
        reused=compiled.reused,
        together=program.together,
    )


def is_same(program: Program, key: str, target: Target = CPU) -> bool:
    """Whether a program that is traced again is the one whose code has this key, as far as that is known."""
    return not key or key == code_of_program(program, target).key


def code_of_program(program: Program, target: Target = CPU) -> Any:
    """What has the address of a program's code as `entry`, and tells whether it may take long: `is_long`. The code
    stays as long as this does. A program that was loaded is not compiled again."""
    with diagnosed(CompileError):
        return compiler().compile(program.module, CompileOptions(target.profile).as_dict())


# Where a call may fail: dim, FILE:LINE (None: where it is called), the operands of the op there, its public function,
# and whether positions have no sign.
Site = tuple[str, str | None, str, str, bool]


def _raise_index_error(site: Any, index: int, size: int) -> None:
    dim, where, operands, op, unsigned = site if isinstance(site, tuple) else ("", None, "", "", False)
    if unsigned:
        index %= 2**64
    if is_square(dim):
        raise not_square(dim, index, size, op, str(where) if where else None)
    if counts_from_start(op) and index < 0:
        index += size
    text = f"{f'xt.{op}: ' if op else ''}index {index} is out of range for size {size} of dim {dim!r}"
    if operands:
        text += f" (operands: {operands})"
    text += f". {which_positions(op)}"
    raise IndexError_(text, str(where) if where else None)


def _raise_size_error(number: int, dtype: str, dims: Sequence[str], sizes: Sequence[Sequence[int]]) -> None:
    shape = describe(dims, [math.prod(factors) for factors in sizes])
    raise SizeError(f"result {number}, {dtype} {shape}, is larger than the address space")


def _at_call(sites: tuple[Site, ...]) -> tuple[Site, ...]:
    """The sites of a call whose failure is told later, when its line is gone."""
    if all(where for _, where, *_ in sites):
        return sites
    here = user_line()
    return tuple((dim, where or here, operands, op, sign) for dim, where, operands, op, sign in sites)


def operands_of(program: Program) -> dict[str, str]:
    """For each op that may fail when it runs, by its name, the operands as errors tell them: those that the public
    function was given, or else those of the op."""
    operands = dict(program.operands)

    def visit(o: Any) -> Any:
        name = named(o) if o.name.removeprefix("xtensor.") in FAILING else ""
        if name and name not in operands:
            arrays = (spec_of(x.type) for x in o.operands)
            operands[name] = ", ".join(f"{s.dtype.name} {describe(s.dims, s.shape)}" for s in arrays)
        return mlir().WalkResult.ADVANCE

    program.module.operation.walk(visit)
    return operands


def sites_with(operands: Mapping[str, str], sites: Iterable[tuple[str, str | None, str]]) -> list[Site]:
    """Sites as the compiler tells them, with the operands of the ops there."""
    found = ((dim, where, op.removesuffix("u"), op.endswith("u")) for dim, where, op in sites)
    return [(dim, where, operands.get(op, ""), op.partition("#")[0], sign) for dim, where, op, sign in found]


def _sites(program: Program, sites: Sequence[tuple[str, str, str]], inline: bool) -> list[Site]:
    if not sites:
        return []
    return sites_with(operands_of(program), [(dim, None if inline else where, op) for dim, where, op in sites])


_native.set_index_error(_raise_index_error)
_native.set_size_error(_raise_size_error)
_native.set_at_call(_at_call)
