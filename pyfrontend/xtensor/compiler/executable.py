"""A traced program compiled and loaded: the way from Python to the C++ compiler and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..core.dims import describe, describe_array
from ..core.errors import CompileError, IndexError_, SizeError, UnsupportedError
from ..core.spec import Spec
from ..trace.context import diagnosed, file_line, lock, mlir, spec_of
from . import debug
from .options import CompileOptions, check_phase

if TYPE_CHECKING:
    from ..mlir import ir
    from ..trace.program import Program


def _compiler() -> Any:
    mlir()
    from ..mlir._mlir_libs import _xtensor

    return _xtensor


def native_type(spec: Spec) -> Any:
    """What _native calls this type: an ArrayType, or (dtype, dims, sizes) when some sizes are dynamic."""
    if spec.is_dynamic:
        return spec.dtype.name, spec.dims, spec.shape
    sizes = [n for n in spec.shape if n is not None]
    try:
        return _native.ArrayType(spec.dtype.name, spec.dims, sizes)
    except ValueError as error:
        raise SizeError(f"{describe_array(spec)}: {error}") from None


def load(program: Program, options: CompileOptions | None = None, unwrap: bool = False) -> Any:
    """Compiles `program`, or finds it compiled on disk: an _native.Executable.

    unwrap: its call returns the one array instead of a tuple."""
    debug.dump(program)
    options = options or CompileOptions()
    with lock, diagnosed(CompileError):
        compiled = _compiler().compile(program.module, options.as_dict())
        outputs = output_types(program)
    return _native.Executable(
        compiled.entry,
        [native_type(s) for s in program.all_inputs],
        outputs,
        _sites(program, compiled.sites),
        compiled,
        unwrap,
    )


def phase_text(program: Program, phase: str, locations: bool = False) -> str:
    """The program as it is after `phase`."""
    check_phase(phase)
    with lock, diagnosed(CompileError):
        if phase == "traced":
            return str(program.module.operation.get_asm(enable_debug_info=locations, pretty_debug_info=locations))
        return str(_compiler().as_text(program.module, phase, locations))


# -- sizes of results -------------------------------------------------------------------------------------------------


def output_types(program: Program) -> list[Any]:
    known = {d for s in program.all_inputs for d, n in zip(s.dims, s.shape, strict=True) if n is None}
    if all(not s.is_dynamic for s in program.outputs):
        return [native_type(s) for s in program.outputs]
    returned = list(program.main.regions[0].blocks[0].operations)[-1].operation.operands
    types: list[Any] = []
    for spec, value in zip(program.outputs, returned, strict=True):
        sizes: list[Any] = []
        for d, n in zip(spec.dims, spec.shape, strict=True):
            if n is None and d not in known:
                sizes.append(_size(value, d, known))
            else:
                sizes.append(n)
        types.append((spec.dtype.name, spec.dims, sizes))
    return types


def _size(value: ir.Value, dim: str, known: set[str]) -> list[int | str]:
    """A dynamic size as a product of ints and of dims of the inputs; equal names are equal sizes."""
    spec = spec_of(value.type)
    n = spec.sizes[dim]
    if n is not None:
        return [n]
    if dim in known:
        return [dim]
    owner: Any = value.owner
    name = getattr(owner, "name", "")
    operands = list(owner.operands) if name else []
    attributes = owner.attributes if name else {}
    if name == "xtensor.rename":
        back = {b.value: a.value for a, b in zip(attributes["from"], attributes["to"], strict=True)}
        return _size(operands[0], back.get(dim, dim), known)
    if name == "xtensor.merge" and attributes["into"].value == dim:
        return [part for d in attributes["dims"] for part in _size(operands[0], d.value, known)]
    if name == "xtensor.iota" and operands:
        return _size_value(operands[0], known)
    if name == "xtensor.broadcast" and dim not in spec_of(operands[0].type).dims:
        have = spec_of(operands[0].type).dims
        new = [d for d, n in zip(spec.dims, spec.shape, strict=True) if d not in have and n is None]
        return _size_value(operands[1 + new.index(dim)], known)
    if name == "xtensor.scan" and attributes["dim"].value == dim and attributes["operandSegmentSizes"][2]:
        return _size_value(operands[-1], known)
    for operand in operands:
        if str(operand.type).startswith("!xtensor.array") and dim in spec_of(operand.type).dims:
            return _size(operand, dim, known)
    if name and len(owner.regions):
        place = next(i for i, result in enumerate(owner.results) if result == value)
        body = owner.regions[len(owner.regions) - 1].blocks[0]
        return _size(list(body.operations)[-1].operation.operands[place], dim, known)
    raise UnsupportedError(f"the size of the result's dim {dim!r} does not follow from the arguments' dynamic dims")


def _size_value(value: ir.Value, known: set[str]) -> list[int | str]:
    owner: Any = value.owner
    if owner.name == "xtensor.size":
        return _size(owner.operands[0], owner.attributes["dim"].value, known)
    raise UnsupportedError("a result's size is computed from values; sizes follow from the arguments' dims only")


def _raise_index_error(site: Any, index: int, size: int) -> None:
    dim, where, operands, op = site if isinstance(site, tuple) else ("", None, "", "")
    text = f"{f'xt.{op}: ' if op else ''}index {index} is out of range for size {size} of dim {dim!r}"
    if operands:
        text += f" (operands: {operands})"
    text += '. Positions go from -size to size - 1; x.at(..).get(mode="clip" or "fill") takes others'
    raise IndexError_(text, str(where) if where else None)


def _sites(program: Program, sites: Sequence[tuple[str, str]]) -> list[tuple[str, str, str, str]]:
    """Where an index may be out of range: dim, FILE:LINE, the operands of the op there, and its public function."""
    operands: dict[str, str] = {}

    def visit(operation: Any) -> None:
        for region in operation.regions:
            for block in region.blocks:
                for view in block.operations:
                    o = view.operation
                    if o.name in ("xtensor.gather", "xtensor.scatter"):
                        arrays = (spec_of(x.type) for x in o.operands)
                        shown = ", ".join(f"{s.dtype.name} {describe(s.dims, s.shape)}" for s in arrays)
                        operands.setdefault(file_line(str(o.location)), shown)
                    visit(o)

    if sites:
        visit(program.module.operation)
    return [(dim, where, operands.get(where, ""), program.ops.get(where, "")) for dim, where in sites]


_native.set_index_error(_raise_index_error)
