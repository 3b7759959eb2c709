"""The one MLIR context of the process, the diagnostics it emits, and types in both spellings."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base import dtypes
from ..base.errors import (
    ArgumentError,
    CompileError,
    DimensionError,
    DTypeError,
    Error,
    GradientError,
    IndexError_,
    MemoryError_,
    SizeError,
    UnsupportedError,
)
from ..values.spec import Spec

if TYPE_CHECKING:
    from ..mlir import ir

# Threads share the context, which is not safe to use from two at once. The interpreter's own lock sees to that: the
# bindings hold it through every call, and none calls back. A lock of ours, held while a user's function is traced,
# would be held while that function waits for another thread, or while another thread forks.
_creation = threading.Lock()

# The exceptions of the codes that the compiler's errors carry (dialects/XTensor/Fault.h).
_FAULTS: dict[str, type[Error]] = {
    "argument": ArgumentError,
    "dimension": DimensionError,
    "dtype": DTypeError,
    "index": IndexError_,
    "memory": MemoryError_,
    "rule": GradientError,
    "size": SizeError,
    "unsupported": UnsupportedError,
}

# What a user writes for an op of the dialect, where the op is not called as its function is.
_WRITTEN = {
    "accumulate": "a recurrence",
    "cast": "x.astype",
    "compare": "a comparison",
    "concat": "xt.concat, or x.at(..).set,",
    "contract": "xt.dot",
    "cumulative": "a cumulative op",
    "div": "xt.divide",
    "gather": "x.isel",
    "mul": "xt.multiply",
    "neg": "xt.negative",
    "pad": "x.pad",
    "pullback": "a derivative in reverse mode, as of xt.grad",
    "pushforward": "a derivative in forward mode, as of xt.jvp",
    "reduce": "a reduction",
    "rename": "x.rename",
    "scatter": "x.at(..)",
    "select": "xt.where",
    "slice": "x.isel",
    "sub": "xt.subtract",
    "switch": "xt.cond",
    "while": "xt.while_loop",
    "yield": "the function",
}


_NEEDED = re.compile(r"needed by this xtensor\.(\w+)$")
_VECTORIZED = "vectorized over it here"
_CALL_ON_TANGENT = "'xtensor.callback' op depends on a tangent"
_CALLS_IN_RULES = (
    "In a rule, xt.debug.print and xt.callback take primals in both modes, cotangents in reverse mode only, and no "
    "tangents. To print cotangents, write xt.debug.backward around the call of the function"
)


@functools.cache
def mlir() -> Any:
    """The bindings' `ir` module. Importing it waits for the compiler's libraries, so the package does it last."""
    from ..mlir import ir
    from ..mlir.dialects import xtensor  # noqa: F401 (the bindings look for it when they meet one of its types)

    return ir


@functools.cache
def compiler() -> Any:
    """The extension that holds the compiler."""
    mlir()
    from ..mlir._mlir_libs import _xtensor

    return _xtensor


@functools.cache
def context() -> ir.Context:
    with _creation:  # two threads may come here before the cache has an answer
        return _context()


@functools.cache
def _context() -> ir.Context:
    ctx = compiler().take_warm_context()
    if ctx is None:
        ctx = mlir().Context()
        ctx.enable_multithreading(False)
        compiler().load_dialects(ctx)
    compiler().keep_diagnostics(ctx)
    return ctx


def file_line(location: ir.Location) -> str:
    """FILE:LINE of the innermost place that a location holds; empty where it holds none."""
    line: str = compiler().line_of(location)
    return line


class Message(NamedTuple):
    """An error of the compiler: `fault` is a key of `_FAULTS` or empty, a note is (text, FILE:LINE)."""

    text: str
    line: str
    fault: str = ""
    notes: Sequence[tuple[str, str]] = ()

    def error(self, fallback: type[Error]) -> Error:
        text, line = _named(self.text, lambda op: f"{op}: "), self.line
        for note, place in self.notes:
            note = _NEEDED.sub(lambda found: f"needed by {written(found[1])}", note)
            if note == _VECTORIZED:
                text = f"xt.vectorize: {_named(self.text, _written)}{place and f'. The call is at {place}'}"
            elif self.fault != "rule":
                text += f"\n  note: {note}"
            elif place:  # why a user's rule is wrong, at the line of the rule
                text, line = f"{text}: {_named(note, _written)}", place
                if note.startswith(_CALL_ON_TANGENT):
                    text += f". {_CALLS_IN_RULES}"
                break
        return _FAULTS.get(self.fault, fallback)(text, line or None)


def _named(text: str, spelled: Callable[[str], str]) -> str:
    """A message of an op of the dialect, which MLIR begins with its name, with the name as `spelled` writes it."""
    start, end = "'xtensor.", "' op "
    if not text.startswith(start) or end not in text:
        return text
    op, _, rest = text.removeprefix(start).partition(end)
    return f"{spelled(op)}{rest}"


def written(op: str) -> str:
    """What a user writes for an op of the dialect."""
    return _WRITTEN.get(op, f"xt.{op}")


def _written(op: str) -> str:
    return written(op) + " "


def error_from(
    exc: BaseException, fallback: type[Error] = CompileError, messages: Sequence[Message] | None = None
) -> Error:
    """The `Error` for what MLIR has just refused, of the kind that its code tells."""
    messages = list(_take_messages() if messages is None else messages)
    messages += [Message(d.message, file_line(d.location)) for d in getattr(exc, "error_diagnostics", None) or ()]
    if not messages and isinstance(exc, mlir().MLIRError):
        return CompileError(
            f"{str(exc).strip()}, and no pass says why. This is a bug in xtensor, not in the program. "
            "xt.jit(f).lower(..).as_text(phase) shows the program after each phase that works"
        )
    if not messages:
        return fallback(f"{type(exc).__name__}: {exc}")
    return messages[0].error(fallback)


class diagnosed:  # noqa: N801 (used like a function)
    """Turns what MLIR refuses inside into an `Error`."""

    def __init__(self, fallback: type[Error] = CompileError) -> None:
        self.fallback = fallback

    def __enter__(self) -> None:
        compiler().take_diagnostics()

    def __exit__(self, kind: object, exc: BaseException | None, traceback: object) -> None:
        if not isinstance(exc, Exception) or isinstance(exc, Error):
            return
        messages = _take_messages()
        if messages or isinstance(exc, mlir().MLIRError):
            raise error_from(exc, self.fallback, messages) from None


def refused(
    name: str, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute], where: ir.Location
) -> Error:
    """The `Error` for an op that could not be built."""
    compiler().take_diagnostics()
    compiler().refuse(name, operands, attributes, where)
    return error_from(mlir().MLIRError("the op cannot be built", []))


def verify(module: ir.Module) -> None:
    """An `Error` of the innermost `diagnosed` where the module is not valid."""
    if not compiler().verify(module):
        raise mlir().MLIRError("the module is not valid", [])


def run_passes(module: ir.Module, pipeline: str) -> None:
    """Runs passes over a module. An `Error` of the innermost `diagnosed` where one of them fails."""
    if not compiler().run_passes(module, pipeline):
        raise mlir().MLIRError(f"{pipeline} failed", [])


def _take_messages() -> list[Message]:
    return [Message(*m) for m in compiler().take_diagnostics()]


# -- types ------------------------------------------------------------------------------------------------------------

_specs: dict[Any, Spec] = {}

# The dim of size 2, real part and imaginary part, that makes an array of floats one of complex numbers. It is the last
# one, as it is in memory. No user can spell it.
PAIR = "complex~"


@functools.lru_cache(maxsize=4096)
def array_type(spec: Spec) -> ir.Type:
    """!xtensor.array<...> of a Spec; whether it is weak is no part of the type."""
    dims, shape = (*spec.dims, PAIR), (*spec.shape, 2)
    if not dtypes.is_complex(spec.dtype):
        dims, shape = spec.dims, spec.shape
    made: ir.Type = compiler().array_type(dims, shape, element_type(dtypes.real_of(spec.dtype)))
    return made


def spec_of(type_: ir.Type) -> Spec:
    """Dims, sizes and dtype of an array type."""
    spec = _specs.get(type_)
    if spec is None:
        parts = compiler().array_parts(type_)
        if parts is None:
            raise CompileError(f"{type_} is not an array type")
        dims, shape, element = parts
        dtype = dtypes.from_mlir(element)
        if PAIR in dims and dtypes.is_float(dtype):  # else what tells the parts apart
            at = list(dims).index(PAIR)
            dims, shape = (*dims[:at], *dims[at + 1 :]), (*shape[:at], *shape[at + 1 :])
            dtype = dtypes.complex_of(dtype)
        spec = _specs[type_] = Spec._of(dims, shape, dtype)
    return spec


def is_array(type_: ir.Type) -> bool:
    """Whether it is an array type of the dialect."""
    return compiler().array_parts(type_) is not None


def has_open_sizes(module: ir.Module) -> bool:
    """Whether a value in it is an array of a size that is not known."""
    found: list[ir.Type] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        arguments = (a for region in op.regions for block in region.blocks for a in block.arguments)
        types = [v.type for v in (*op.results, *arguments)]
        found.extend(t for t in types if is_array(t) and None in spec_of(t).shape)
        walk = mlir().WalkResult
        return walk.INTERRUPT if found else walk.ADVANCE

    module.operation.walk(look)
    return bool(found)


@functools.lru_cache(maxsize=4096)
def names_attribute(names: tuple[str, ...]) -> ir.Attribute:
    ir, ctx = mlir(), context()
    return ir.ArrayAttr.get([ir.StringAttr.get(n, context=ctx) for n in names], context=ctx)


@functools.lru_cache(maxsize=4096)
def string_attribute(text: str) -> ir.Attribute:
    return mlir().StringAttr.get(text, context=context())


@functools.cache
def unit_attribute() -> ir.Attribute:
    return mlir().UnitAttr.get(context=context())


@functools.lru_cache(maxsize=4096)
def integer_attribute(value: int) -> ir.Attribute:
    ir, ctx = mlir(), context()
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context=ctx), value)


@functools.lru_cache(maxsize=4096)
def integers_attribute(values: tuple[int, ...]) -> ir.Attribute:
    return mlir().DenseI64ArrayAttr.get(list(values), context=context())


@functools.lru_cache(maxsize=256)
def enum_attribute(name: str, spelling: str) -> ir.Attribute:
    """A case of an enum of the dialect, as `("ReduceKind", "sum")`."""
    ir, ctx = mlir(), context()
    value = compiler().enum_case(name, spelling)
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context=ctx), value)


@functools.lru_cache(maxsize=64)
def element_type(dtype: dtypes.DType) -> ir.Type:
    # Not parsed: for the class of what it finds, the parser imports the bindings of a whole dialect.
    ir, ctx, name = mlir(), context(), dtypes.to_mlir(dtype)
    if dtypes.is_float(dtype):
        return getattr(ir, f"{name.upper()}Type").get(context=ctx)
    sign, width = name.split("i")
    get = ir.IntegerType.get_unsigned if sign else ir.IntegerType.get_signless
    return get(int(width), context=ctx)


@functools.cache
def first_of_pair() -> ir.Type:
    """The type of what tells real parts from imaginary ones: bools along PAIR."""
    made: ir.Type = compiler().array_type((PAIR,), (2,), element_type(dtypes.BOOL))
    return made


def mark_distributed(
    main: ir.Operation,
    mesh: Mapping[str, tuple[int, ...]],
    split: Mapping[str, str],
    whole: Sequence[int],
    blocks: int | None,
) -> None:
    """Says on a function how several processes run it. `mesh`: processes and communicator of each dim, and
    the position of this one if parts differ in size; `whole`: the
    arguments that every process has as a whole; `blocks`: those of each split dim, for equal bits."""
    ir = mlir()
    with context():
        main.attributes["xtensor.mesh"] = ir.DictAttr.get(
            {d: ir.DenseI64ArrayAttr.get(list(numbers)) for d, numbers in mesh.items()}
        )
        main.attributes["xtensor.split"] = ir.DictAttr.get({d: ir.StringAttr.get(a) for d, a in split.items()})
        main.attributes["xtensor.whole"] = ir.DenseI64ArrayAttr.get(list(whole))
        if blocks is not None:
            main.attributes["xtensor.blocks"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), blocks)
