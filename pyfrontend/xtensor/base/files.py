"""Writes files at paths that users give. An existing device, pipe or link stays what it is."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

from .calls import in_words
from .errors import ArgumentError, ArgumentTypeError, file_error


def path_of(path: Any, what: str) -> Path:
    if not isinstance(path, (str, os.PathLike)) or "\0" in str(path):
        raise ArgumentTypeError(f"{what}: the path of a file is needed, got {in_words(path)}")
    return Path(path)


def check_place(path: Path, what: str) -> None:
    """Raises what can be told before there is anything to write. what: how the message begins."""
    problem = f"{what}{path} cannot be written"
    if not path.absolute().parent.is_dir():
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        raise file_error(ArgumentError, f"{problem}: there is no folder {path.parent}", missing)
    if path.is_dir():
        raise ArgumentError(f"{problem}: it is a folder")


def write_file(path: Path, data: bytes | memoryview, *, follow: bool = True) -> None:
    """Writes all of a file, or nothing. Raises OSError.

    A file is written beside the old one and takes its place, with the mode and, where that may be, the owner of the
    old one. A link is followed; a pipe or a character device is written to; a folder, a socket or a disk is refused.
    With `follow=False` a new file takes the place of everything but a folder.
    """
    try:
        there = os.stat(path, follow_symlinks=follow)
    except FileNotFoundError:
        there = None
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not follow:
        _replace(path, data, None)
    elif there is None or stat.S_ISREG(there.st_mode):
        if there is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        _replace(Path(os.path.realpath(path)), data, there)
    elif stat.S_ISFIFO(there.st_mode) or stat.S_ISCHR(there.st_mode):
        with open(os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC), "wb", buffering=0) as file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
    else:
        raise OSError(errno.EINVAL, "it is a socket or a disk, not a file")


def _replace(target: Path, data: bytes | memoryview, there: os.stat_result | None) -> None:
    beside = target.parent / f".{target.name[:100]}.{os.getpid()}.tmp"
    try:
        beside.unlink(missing_ok=True)
        with beside.open("xb") as file:
            file.write(data)
            if there is not None:
                _keep(file.fileno(), there)
        beside.replace(target)
    finally:
        if beside.parent.is_dir():
            beside.unlink(missing_ok=True)


def _keep(descriptor: int, there: os.stat_result) -> None:
    """The owner, where we may give files away, then the mode, which that changes."""
    now, mode = os.fstat(descriptor), stat.S_IMODE(there.st_mode)
    if (now.st_uid, now.st_gid) != (there.st_uid, there.st_gid):
        try:
            os.fchown(descriptor, there.st_uid, there.st_gid)
        except PermissionError:
            mode &= 0o777  # what a program of that owner may do is not ours to give
    os.fchmod(descriptor, mode)
