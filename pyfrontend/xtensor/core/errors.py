"""The exceptions: one family under `Error`, each also the builtin that people expect. A message says which op
failed, at which operands, what was expected and what to write instead; the user's own line is added here."""

from __future__ import annotations

import builtins
import os
import sys
from types import FrameType

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "CompileError",
    "DTypeError",
    "DimensionError",
    "Error",
    "IndexError",
    "IndexError_",
    "SizeError",
    "UnsupportedError",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MARK = "\n  at "


def user_frame() -> FrameType | None:
    """The innermost frame that runs code from outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


class Error(Exception):
    """Base of every exception raised on purpose. `where` is FILE:LINE; by default the caller's."""

    def __init__(self, message: str, where: str | None = None) -> None:
        if where is None and _MARK not in message:
            frame = user_frame()
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else None
        super().__init__(f"{message}{_MARK}{where}" if where else message)


class DimensionError(Error, ValueError):
    """Unknown, repeated or conflicting dims, a loss that has dims left, an array without names."""


class SizeError(DimensionError):
    """Sizes that do not fit together."""


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


class CompileError(Error, RuntimeError):
    """The compiler refused a program that tracing let through."""


IndexError = IndexError_
IndexError_.__name__ = IndexError_.__qualname__ = "IndexError"
for _cls in (Error, *Error.__subclasses__(), SizeError):
    _cls.__module__ = "xtensor"
