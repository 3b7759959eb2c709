"""The one MLIR context of the process, the diagnostics it emits, and types in both spellings."""

from __future__ import annotations

import functools
import re
import threading
from typing import TYPE_CHECKING, Any

from ..base import dtypes
from ..base.errors import (
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

# What the autodiff passes say about a custom_derivative.
_BROKEN_RULE = re.compile(
    r"not linear in the (co)?tangents|results depend on its tangents|custom_derivative captures an array"
)

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
    "reduce": "a reduction",
    "scatter": "x.at(..)",
    "select": "xt.where",
    "sub": "xt.subtract",
    "switch": "xt.cond",
    "while": "xt.while_loop",
    "yield": "the function",
}


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


def file_line(location: str) -> str:
    found = re.search(r'"((?:[^"\\]|\\.)+)":(\d+)', location)
    return f"{found[1]}:{found[2]}" if found else ""


def error_from(
    exc: BaseException, fallback: type[Error] = CompileError, messages: list[tuple[str, str]] | None = None
) -> Error:
    """The `Error` for what MLIR has just refused, of the kind that its message tells."""
    messages = _take_messages() if messages is None else messages
    for d in getattr(exc, "error_diagnostics", None) or ():
        messages.append(_with_reason(d))
    if not messages and isinstance(exc, mlir().MLIRError):
        return CompileError(
            f"{str(exc).strip()}, and no pass says why: that is a fault of xtensor, not of the program. "
            "xt.jit(f).lower(..).as_text(phase) shows how far the program comes"
        )
    if not messages:
        return fallback(f"{type(exc).__name__}: {exc}")
    text, where = messages[0]
    text = re.sub(r"^'xtensor\.(\w+)' op ", r"\1: ", text)
    return _kind(text, fallback)(text, where or None)


def _with_reason(diagnostic: Any) -> tuple[str, str]:
    """Message and FILE:LINE; those of the first note where it says why, at a line of the user's."""
    text, where = diagnostic.message, file_line(str(diagnostic.location))
    for note in diagnostic.notes:
        line = file_line(str(note.location))
        why = re.sub(r"^'xtensor\.(\w+)' op ", lambda m: f"{_WRITTEN.get(m[1], f'xt.{m[1]}')} ", note.message)
        if line and _BROKEN_RULE.search(text):
            return f"{text}: {why}", line
    return text, where


def _kind(text: str, fallback: type[Error]) -> type[Error]:
    if _BROKEN_RULE.search(text):
        return GradientError
    if re.search(r"which only the call knows|does not follow from|a size is computed from values", text):
        return UnsupportedError
    if text.startswith("no memory for"):
        return MemoryError_
    if "larger than the address space" in text:
        return SizeError
    if "element type" in text or re.search(r"must be (?:variadic of )?array of", text):
        return DTypeError
    if "no reverse derivative" in text:
        return UnsupportedError
    if "there is nothing to read" in text or "out of range" in text:
        return IndexError_
    if re.search(r"has sizes|sizes? ", text):
        return SizeError
    return DimensionError if "dim" in text else fallback


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


def _take_messages() -> list[tuple[str, str]]:
    return [(text, file_line(where)) for text, where in compiler().take_diagnostics()]


# -- types ------------------------------------------------------------------------------------------------------------

_TYPE = re.compile(r"^!xtensor\.array<(.*)>$", re.DOTALL)
_DIM = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([\w$.]+))\s*:\s*(\?|\d+)\s*,')
_specs: dict[Any, Spec] = {}


@functools.lru_cache(maxsize=4096)
def array_type(spec: Spec) -> ir.Type:
    """!xtensor.array<...> of a Spec; whether it is weak is no part of the type."""
    dims = "".join(f"{_quote(d)}: {'?' if n is None else n}, " for d, n in zip(spec.dims, spec.shape, strict=True))
    return mlir().Type.parse(f"!xtensor.array<{dims}{dtypes.to_mlir(spec.dtype)}>", context())


def _quote(name: str) -> str:
    plain = "".join(c if (c.isalnum() and c.isascii()) or c in "_~ '.-" else _escape(c) for c in name)
    return f'"{plain}"'


def _escape(char: str) -> str:
    return "".join(f"\\{b:02X}" for b in char.encode())


def _unquote(name: str) -> str:
    if "\\" not in name:
        return name
    raw = re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), name.encode())
    return raw.replace(rb"\"", b'"').replace(rb"\\", b"\\").decode()


def spec_of(type_: ir.Type) -> Spec:
    """Dims, sizes and dtype of an array type."""
    spec = _specs.get(type_)
    if spec is None:
        found = _TYPE.match(str(type_))
        if found is None:
            raise CompileError(f"{type_} is no array type")
        body, dims, shape, end = found[1], [], [], 0
        while dim := _DIM.match(body, end):
            dims.append(_unquote(dim[1]) if dim[2] is None else dim[2])
            shape.append(None if dim[3] == "?" else int(dim[3]))
            end = dim.end()
        spec = _specs[type_] = Spec(dims, shape, dtypes.from_mlir(body[end:].strip()))
    return spec


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
def enum_attribute(value: int) -> ir.Attribute:
    ir, ctx = mlir(), context()
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
