"""The exceptions: subclasses of `Error`, each of which is also the builtin exception that users expect.

A message says which op failed, with which operands, what was expected and what to write instead. `Error` adds the
line of the user's program.
"""

from __future__ import annotations

import builtins
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

from .. import _native

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AttributeError",
    "BundleError",
    "CompileError",
    "DTypeError",
    "DeviceError",
    "DimensionError",
    "Error",
    "GradientError",
    "IndexError",
    "IndexError_",
    "MissingBundleError",
    "MissingFileError",
    "NonFiniteError",
    "SizeError",
    "TracerError",
    "UnsupportedError",
]

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MARK = "\n  at "
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # in the text of an object, where it says nothing to a user


# How the dialect's own messages begin.
_DIALECT_OP = re.compile(r"^[a-z_]+: ")
# How ours begin: the function, and perhaps which of its arrays the message is about. Then the arrays that they list.
_NAMED = re.compile(r"xt\.([\w.]*)((?: \(\w+\))?: )")
_LISTED = re.compile(r" \(operands: (?:[^()]|\([^()]*\))*\)")


def _arrays(arguments: Iterable[Any], depth: int = 8) -> Iterator[Any]:
    """The arrays among the arguments. A list may contain itself."""
    for x in arguments:
        if isinstance(x, (list, tuple, dict)) and depth:
            yield from _arrays(x.values() if isinstance(x, dict) else x, depth - 1)
        elif isinstance(getattr(x, "dims", None), tuple) and hasattr(x, "dtype"):
            yield x


def operands_among(arguments: Iterable[Any]) -> str:
    """`float32 (a: 2, b: 3)` for each array among the arguments."""
    return ", ".join(map(_operand, _arrays(arguments)))


def _operand(x: Any) -> str:
    sizes = (f"{d}: {n if isinstance(n, int) else '?'}" for d, n in zip(x.dims, x.shape, strict=True))
    return f"{getattr(x.dtype, 'name', x.dtype)} ({', '.join(sizes)})"  # a variable of PyTensor has a string


def _is_among(name: str, arguments: Iterable[Any], depth: int = 8) -> bool:
    """Whether the user passed the function of this name."""
    for x in arguments:
        if isinstance(x, (list, tuple)) and depth and _is_among(name, x, depth - 1):
            return True
        if callable(x) and getattr(x, "__name__", None) == name.rpartition(".")[2]:
            return True
    return False


# Packages that call this one on the user's behalf, and what runs a module of this package (python -m).
_BETWEEN = frozenset(
    {"cloudpickle", "copy", "functools", "jax", "matplotlib", "multiprocessing", "numpy", "pandas", "pickle"}
    | {"pytensor", "runpy", "scipy", "seaborn", "sklearn", "statsmodels", "string", "torch", "xarray"}
)
_COMMAND = os.path.join(_PACKAGE, "cli", "__init__.py")  # what calls its `main` is no line of the user's


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of this package."""
    return in_package(frame.f_code.co_filename)


def in_package(file: str) -> bool:
    """Whether a file, or FILE:LINE, is one of this package."""
    return file.startswith(_PACKAGE)


def user_frame() -> FrameType | None:
    """The innermost frame that runs code from outside of this package, and of the libraries in _BETWEEN."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (is_ours(frame) or str(frame.f_globals.get("__name__")).partition(".")[0] in _BETWEEN):
        if frame.f_code.co_name == "main" and frame.f_code.co_filename == _COMMAND:
            return None
        frame = frame.f_back
    return frame


def asked_by() -> str:
    """The package of the innermost frame that does not run code of this one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).partition(".")[0] if frame else ""


def user_line() -> str | None:
    """FILE:LINE of that frame."""
    frame = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else None


class Error(Exception):
    """Base of every exception raised on purpose. `where` is FILE:LINE; by default the caller's."""

    of_value = False  # whether a traced array was asked for its value
    asked: CodeType | None = None  # the user's function whose line it is; None: the message names the right function

    def __init__(self, message: str, where: str | None = None) -> None:
        if where is None and _MARK not in message and (frame := user_frame()):
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            self.asked = frame.f_code
        message = _ADDRESS.sub("", message)
        super().__init__(f"{message}{_MARK}{where}" if where else message)

    def __reduce__(self) -> Any:
        kept = {k: v for k, v in self.__dict__.items() if k != "asked"}
        return _again, (type(self), str(self.args[0]), *self._more()), kept or None

    def _more(self) -> tuple[Any, ...]:
        """Further arguments of the class."""
        return ("",)

    @property
    def parts(self) -> tuple[str, str | None]:
        """The message, and FILE:LINE."""
        text, _, where = str(self.args[0]).partition(_MARK)
        return text, where or None

    def say(self, text: str, where: str | None) -> None:
        """Gives the error another message."""
        self.args = (f"{text}{_MARK}{where}" if where else text,)

    def of(self, op: str, arguments: Iterable[Any]) -> None:
        """Names the public function that failed, and its arrays, unless the message does. A function that another one
        of ours called is not what the user knows: the message gets the name and the arrays of the user's call."""
        arguments = list(arguments)
        text, mark, where = str(self.args[0]).partition(_MARK)
        operands = operands_among(arguments)
        named = _NAMED.match(text)
        if named is not None and named[1] != op and self.asked is not None and not _is_among(named[1], arguments):
            frame = user_frame()
            if frame is not None and frame.f_code is self.asked:
                text = f"xt.{op}{named[2]}{text[named.end() :]}"
                if operands:
                    text = _LISTED.sub(lambda _: f" (operands: {operands})", text, count=1)
        room, dot, name = op.rpartition(".")
        if dot and text.startswith(f"xt.{name}:"):
            text = text.replace("xt.", f"xt.{room}.", 1)
        if text.startswith(("xt.", "xarray: ")):
            self.args = (text + mark + where,)
            return
        frame = user_frame()
        if frame is not None and where == f"{frame.f_code.co_filename}:{frame.f_lineno}":
            self.asked = frame.f_code  # the dialect's message has a line, and no frame
        text = f"xt.{op}: {_DIALECT_OP.sub('', text)}"
        if operands and "operands: " not in text:
            text += f" (operands: {operands})"
        self.args = (text + mark + where,)


def _again(kind: type[Error], message: str, *more: Any) -> Error:
    """The error in another process, with the line that it had."""
    return kind(message, *more)


def users_frames(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package: of functions that a user handed to it, theirs stay."""
    frames = []
    while traceback is not None:
        if not is_ours(traceback.tb_frame):
            frames.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for one in reversed(frames):
        kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept


def users_line_in(traceback: TracebackType | None) -> str | None:
    """FILE:LINE of the innermost frame of a traceback that does not run code of this package."""
    last = users_frames(traceback)
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return f"{last.tb_frame.f_code.co_filename}:{last.tb_lineno}" if last else None


def trimmed(fn: Callable[P, R]) -> Callable[P, R]:
    """`fn`, a method, without the frames of this package inside of it in the tracebacks of errors."""

    @functools.wraps(fn)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except Error as error:
            raise error.with_traceback(users_frames(error.__traceback__)) from None

    return call


class DimensionError(Error, ValueError):
    """Unknown, repeated or conflicting dims, a loss that has dims left, an array without names."""


class SizeError(DimensionError):
    """Sizes that do not fit together."""

    # A dim, and advice that pairs by position. If two arrays have labels along the dim, it would pair wrong labels.
    by_position: tuple[str, str] | None = None

    def of(self, op: str, arguments: Iterable[Any]) -> None:
        arguments = list(arguments)
        super().of(op, arguments)
        if self.by_position is None:
            return
        dim, advice = self.by_position
        if sum(dim in getattr(x, "coords", ()) for x in _arrays(arguments)) > 1:
            self.args = (str(self.args[0]).replace(advice, pair_by_label(dim)),)


def pair_by_label(dim: str) -> str:
    """What to write for two arrays whose labels along a dim differ."""
    return (
        f"Both have labels along {dim!r}. Pair elements by label, before the call: a, b = xarray.align(a, b, "
        'join="inner"), of DataArrays (x.to_xarray())'
    )


class DTypeError(Error, TypeError):
    """A dtype that the operation is not defined for."""


class IndexError_(Error, builtins.IndexError):  # noqa: N801, N818 (shown and exported as IndexError)
    """A position outside of its dim."""


class ArgumentError(Error, ValueError):
    """An argument of the right type with a value that cannot be used."""


class ArgumentTypeError(Error, TypeError):
    """An argument of a type that cannot be used."""


class UnsupportedError(Error, NotImplementedError):
    """Something that is known and not there yet, or not on this machine."""


class DeviceError(Error, RuntimeError):
    """A device that is not there, that lacks something, that failed, or that is not the other arrays'."""


class MemoryError_(Error, builtins.MemoryError):  # noqa: N801, N818 (shown and exported as MemoryError)
    """No memory for an array, or for the temporaries of a program."""


class DeviceMemoryError(DeviceError, MemoryError_):
    """No memory on a device, or an array that is larger than it takes."""


class GradientError(Error, ValueError):
    """A derivative that a rule of the user's does not give: it is not linear, or says nothing of a captured array."""


class NonFiniteError(Error, FloatingPointError):
    """Under ``xt.option(nan="raise")``: a NaN or an infinity that an op made of finite operands, or a NaN of infinities
    that the program has as constants."""

    def of(self, op: str, arguments: Iterable[Any]) -> None:
        """Its message names the op that made it, and not the function that was called."""


class TracerError(Error, RuntimeError):
    """A traced array was used where it means nothing: after its trace has ended, or in another thread."""


class AttributeError_(Error, builtins.AttributeError):  # noqa: N801, N818 (shown and exported as AttributeError)
    """An attribute, a method or a function that is not there."""

    def __init__(self, message: str, name: str, obj: object, where: str | None = None) -> None:
        super().__init__(message, where)
        self.name, self.obj = name, obj

    def _more(self) -> tuple[Any, ...]:
        return self.name, None, ""  # what lacks it may be a traced array, which stays in its process


class CompileError(Error, RuntimeError):
    """The compiler refused a program that tracing let through."""


class BundleError(Error, ValueError):
    """A bundle that is damaged, that a newer version made, or that has nothing for this machine."""


class MissingFileError(ArgumentError, FileNotFoundError):
    """A file, or the folder of one, that does not exist."""

    __str__ = Error.__str__  # and not an OSError's, of errno and filename alone


class MissingBundleError(BundleError, FileNotFoundError):
    """The path of a bundle where there is no file."""

    __str__ = Error.__str__


_MISSING: dict[type[Error], type[Error]] = {ArgumentError: MissingFileError, BundleError: MissingBundleError}


def file_error(kind: type[ArgumentError | BundleError], message: str, problem: OSError) -> Error:
    """`kind`, or the subclass of it that is a FileNotFoundError."""
    if not isinstance(problem, FileNotFoundError):
        return kind(message)
    error: Any = _MISSING[kind](message)
    error.errno, error.filename = problem.errno, problem.filename
    found: Error = error
    return found


class LabelError(Error, KeyError):
    """A label that a coordinate does not have, or a dim without labels where they are needed."""

    __str__ = Error.__str__


class FunctionNameError(Error, KeyError, AttributeError):
    """A function that a bundle does not have."""

    __str__ = Error.__str__


def counts_from_start(op: str) -> bool:
    """Whether a negative position of `op` is outside: it reads one a size lower (nn.py)."""
    return op.endswith(("cross_entropy", "bincount"))


def which_positions(op: str) -> str:
    """What `op` takes as a position, and how it takes others."""
    if op.endswith("bincount"):
        return 'Numbers are counted from 0 to length - 1; mode="clip" or "drop" takes others'
    if counts_from_start(op):
        return "Labels count the classes: they go from 0 to size - 1"
    reads = not op.startswith("at.") or op == "at.get"
    call = '.get(mode="clip" or "fill")' if reads else f'.{op[3:]}(v, mode="clip" or "drop")'
    return f"Positions go from -size to size - 1; x.at(..){call} takes others"


AttributeError = AttributeError_
IndexError = IndexError_
MemoryError = MemoryError_
AttributeError_.__name__ = AttributeError_.__qualname__ = "AttributeError"
IndexError_.__name__ = IndexError_.__qualname__ = "IndexError"
MemoryError_.__name__ = MemoryError_.__qualname__ = "MemoryError"
for _cls in (Error, *Error.__subclasses__(), SizeError, DeviceMemoryError, *_MISSING.values()):
    _cls.__module__ = "xtensor"

_native.set_trimmed(_PACKAGE, Error)
_native.set_errors(DeviceError, MemoryError_, DeviceMemoryError)
