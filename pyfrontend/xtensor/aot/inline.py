"""Puts a loaded function into a trace: the IR that its bundle holds becomes part of the traced program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dims import describe
from ..base.errors import ArgumentTypeError, BundleError, CompileError, DimensionError, Error, SizeError
from ..ir.context import compiler, context, diagnosed, mlir, spec_of, verify
from ..labels.origins import consult, labels_of_traced, where_of
from ..trace import build
from ..trace.inline import inline
from ..trace.lift import as_tracer
from ..trace.program import Program
from ..trace.scope import NONEMPTY
from ..trace.tracer import Tracer
from .fitting import as_number, beyond, casts, wrong_dtype
from .labels import check_labels
from .schema import printable

if TYPE_CHECKING:
    from ..mlir import ir
    from .core import Core


def program_of(core: Core) -> Program:
    """The program of a bundle, parsed at first need."""
    found: Program | None = getattr(core, "_program", None)
    if found is None:
        found = core._program = _parse(core)  # type: ignore[attr-defined]
    return found


def _parse(core: Core) -> Program:
    data = bytes(core.file.member(core.function.module))
    f = core.function
    if not core.native:
        _refuse(core, data)
    try:
        with diagnosed(CompileError):
            module = mlir().Module.parse(data, context())
            block = _main(module).regions[0].blocks[0]
            inputs = [spec_of(a.type) for a in block.arguments]
            outputs = [spec_of(v.type) for v in list(block.operations)[-1].operation.operands]
    except Error as error:
        raise BundleError(
            f"{core.file.where}: the program of {f.name}, which {core.file.manifest.compiler} wrote, cannot be read by "
            f"this version: {str(error).splitlines()[0]}. Export it again"
        ) from None
    said = [(p.dtype, p.dims, p.shape) for p in (*f.arguments, *f.weights, *f.results)]
    if said != [(s.dtype.name, s.dims, s.shape) for s in (*inputs, *outputs)]:
        raise BundleError(f"{core.file.where}: the IR is not that of the function in the manifest")
    return Program(
        module,
        core.specs,
        tuple(outputs),
        tuple(core.weights),
        core.result,
        f.name,
        None if core.places is None else tuple(core.places),
        tuple(core.ranges),
    )


def _refuse(core: Core, program: bytes) -> None:
    """Raises BundleError for what is not a program that a trace could have made."""
    why = compiler().why_not_foreign(program)
    if why:
        raise BundleError(
            f"{core.file.where}: the program of {core.function.name} cannot be compiled with native=False: "
            f"{printable(why)}"
        )


def _main(module: ir.Module) -> ir.Operation:
    """The one function of a program."""
    found: list[ir.Operation] = [op.operation for op in module.body.operations]
    name = found[0].attributes["sym_name"] if len(found) == 1 and "sym_name" in found[0].attributes else None
    if name is None or found[0].name != "func.func" or getattr(name, "value", None) != "main":
        raise CompileError("it is more, or less, than a function @main")
    main = found[0]
    if not len(main.regions[0].blocks):
        raise CompileError("its function @main is a declaration")
    if NONEMPTY in main.attributes:
        try:
            for entry in main.attributes[NONEMPTY]:
                for key in ("dim", "message", "where"):
                    if type(entry[key].value) is not str:
                        raise TypeError(key)
        except (TypeError, KeyError, AttributeError, ValueError):
            raise CompileError(f"attribute {NONEMPTY} of @main is not a list of {{dim, message, where}}") from None
    return main


def inlined(core: Core, leaves: Sequence[Any]) -> Any:
    """The results at tracers (and arrays), as tracers."""
    tracers = [_conformed(core, i, x) for i, x in enumerate(leaves)]
    for i, names in core.followed.consulted.items():
        x = as_tracer(leaves[i])
        where = where_of(x)
        check_labels(core.function, i, labels_of_traced(x, where), core.followed)
        consult(x, core.specs[i].dims if names else (), where)
    sizes = _sizes(core, tracers)
    program = program_of(core)
    if sizes:
        program = _fixed(core, program, sizes)
    inputs = [*tracers, *(as_tracer(w) for w in core.weights)]
    results = inline(program, inputs)
    if core.function.python.labels is not None:
        build.followed(results, inputs, core.function.python.labels)
    return core.result.unflatten(program.leaves(results))


def _fixed(core: Core, program: Program, sizes: dict[str, int]) -> Program:
    """The program with open sizes as they are in this trace."""
    with diagnosed(SizeError):
        ir = mlir()
        copy = ir.Module.parse(str(program.main.get_asm(enable_debug_info=True)), context())
        compiler().fix_sizes(copy, sizes)
        verify(copy)
        block = copy.body.operations[0].operation.regions[0].blocks[0]
        outputs = tuple(spec_of(v.type) for v in list(block.operations)[-1].operation.operands)
    return Program(copy, program.inputs, outputs, program.captured, program.tree, program.name, program.places)


def _conformed(core: Core, i: int, given: Any) -> Tracer:
    """An argument with the dims in the order of the exported one. Numbers are those that a call outside takes."""
    spec = core.specs[i]
    what = f"{core.function.name}: argument {core.function.arguments[i].name}"
    is_number = isinstance(given, (bool, int, float, complex)) and not isinstance(given, np.generic) and not spec.ndim
    if is_number:
        number = as_number(given, spec, what)
        for r in core.ranges:
            if r.argument == i:
                r.check(given, False)
        return as_tracer(given) if spec.weak else build.constant(number)
    x = as_tracer(given)
    if set(x.dims) != set(spec.dims) or len(x.dims) != len(spec.dims):
        raise DimensionError(
            f"{what} has dims {describe(x.dims, x.shape)}; {describe(spec.dims, spec.shape)} is needed"
            f"{beyond(spec.dims, x.dims)}"
        )
    if x.dtype != spec.dtype and (spec.weak or not x.weak or spec.ndim or not casts(x.dtype, spec)):
        raise wrong_dtype(what, x.dtype, spec)
    for r in core.ranges:
        if r.argument == i:
            if not x.weak:
                raise ArgumentTypeError(
                    f"{what} is an array; inside of another function a Python int is needed, as calls check that it "
                    f"fits {r.dtype.name}"
                )
            build.meet(x, r.dtype)
    x = build.meet(x, spec.dtype)
    if tuple(x.dims) != spec.dims:
        x = x.transpose(*spec.dims)
    return x


def _sizes(core: Core, tracers: Sequence[Tracer]) -> dict[str, int]:
    """Open sizes that this trace knows, each one and the same across the arguments."""
    known: dict[str, int | None] = {}
    for spec, p, x in zip(core.specs, core.function.arguments, tracers, strict=True):
        for d, n, m in zip(spec.dims, spec.shape, x.spec.shape, strict=True):
            wanted = known.setdefault(d, m) if n is None else n
            if m != wanted:
                raise SizeError(
                    f"{core.function.name}: argument {p.name}: dim {d!r} has size {m or 'any'}; it must be "
                    f"{wanted or 'any'}"
                )
    return {d: n for d, n in known.items() if n is not None}
