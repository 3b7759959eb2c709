"""Debugging aids: the IR of every phase of every program as numbered files, and a check for writes to shared memory."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.calls import check_made
from ..base.errors import ArgumentError, trimmed
from ..base.files import path_of, write_file
from ..values.shared import Watch, watches
from ..values.targets import CPU, Target
from .options import phases_of
from .phases import phase_text

if TYPE_CHECKING:
    from ..trace.program import Program

__all__ = ["check_shared", "dump_phases"]


def __dir__() -> list[str]:
    return sorted(__all__)


_directory: str | None = os.environ.get("XTENSOR_DUMP") or None
_count = 0
_SUFFIXES = {"llvm": "ll", "asm": "s", "msl": "metal", "ptx": "ptx"}


class dump_phases:  # noqa: N801 (used like a function)
    """Writes the IR of every phase of every program that is compiled from now on to `directory`.

    Each program gets a folder. None stops it. As a context manager it holds for its block. The environment variable
    XTENSOR_DUMP does the same for a process.

    Example:
    >>> with xt.debug.dump_phases("phases"):
    ...     y = xt.jit(lambda x: x * x)(xt.ones(i=2))
    >>> import glob
    >>> sorted(glob.glob("phases/*/*"))[0]
    'phases/...-lambda/00-traced.mlir'
    """

    def __init__(self, directory: str | os.PathLike[str] | None) -> None:
        global _directory
        self._before = _directory
        folder = None if directory is None else path_of(directory, "xt.debug.dump_phases")
        if folder is not None and not folder.is_dir() and os.path.lexists(folder):
            raise ArgumentError(f"xt.debug.dump_phases: {folder} is a file, and a folder is needed")
        _directory = None if folder is None else str(folder)

    def __enter__(self) -> dump_phases:
        return self

    def __exit__(self, *exc: object) -> None:
        global _directory
        _directory = self._before


class check_shared:  # noqa: N801 (used like a function)
    """Watches arrays that are made from now on over memory of NumPy, DLPack or xarray.

    When called, and at the end of its block, it raises ArgumentError if such memory was written to since; the
    message names the line that made the array. It keeps the arrays alive until the end of the block, or as long as
    itself.

    Raises:
        ArgumentError: shared memory was written to.

    Example:
    >>> memory = np.zeros(2)
    >>> check = xt.debug.check_shared()
    >>> x = xt.array(memory, dims="i")
    >>> memory[0] = 1.0
    >>> check()
    Traceback (most recent call last):
    ...
    xtensor.ArgumentError: ...
    """

    def __init__(self) -> None:
        self._watch = Watch()
        watches.append(self._watch)

    @trimmed
    def __call__(self) -> None:
        self._watch.check()

    def __enter__(self) -> check_shared:
        return self

    @trimmed
    def __exit__(self, kind: object, *exc: object) -> None:
        self._end()
        if kind is None:
            self._watch.check()

    def _end(self) -> None:
        if getattr(self, "_watch", None) in watches:
            watches.remove(self._watch)

    __del__ = _end


def dump(program: Program, target: Target = CPU) -> Path | None:
    """Writes the phases of `program` if that was asked for; returns the folder."""
    global _count
    if _directory is None:
        return None
    _count += 1
    name = re.sub(r"\W+", "_", program.name).strip("_") or "f"
    folder = Path(_directory) / f"{_count:04d}-{name}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for i, phase in enumerate(phases_of(target.backend)):
            suffix = _SUFFIXES.get(phase, "mlir")
            write_file(folder / f"{i:02d}-{phase}.{suffix}", phase_text(program, phase, target=target).encode())
    except OSError as error:
        raise ArgumentError(
            f"phases cannot be dumped to {folder}: {error.strerror}. Set XTENSOR_DUMP, or give "
            "xt.debug.dump_phases, a folder that can be written to"
        ) from None
    return folder


check_made(dump_phases, "debug.dump_phases")
check_made(check_shared, "debug.check_shared")
