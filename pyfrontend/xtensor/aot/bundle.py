"""Bundle: functions compiled for one or more targets, as bytes and as a file."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from ..base.calls import check_methods, checked
from ..base.dtypes import as_dtype
from ..base.errors import ArgumentError, file_error
from ..base.files import path_of, write_file
from ..values.spec import Spec
from .manifest import File, Manifest, opened


class Bundle:
    """Functions that were compiled for one or more targets. `xt.load` calls them; `save` writes them to a file.

    Example:
    >>> bundle = xt.export(lambda x: 2.0 * x, (xt.spec(i=None),), c=False)
    >>> isinstance(bundle, xt.Bundle), xt.load(bundle)(xt.array([1.0, 2.0], "i")).values
    (True, array([2., 4.]))
    """

    def __init__(self, data: bytes, where: str) -> None:
        self._file = File(data, where)
        self.data = data

    @classmethod
    def read(cls, path: Path) -> Bundle:
        """Returns the bundle in a file."""
        descriptor = opened(path_of(path, "xt.Bundle.read"))
        with open(descriptor, "rb") as file:
            return cls(file.read(), str(path))

    @property
    def manifest(self) -> Manifest:
        return self._file.manifest

    @property
    def manifest_text(self) -> str:
        begin, end = self._file.places["manifest.json"]
        return self.data[begin:end].decode()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file completely, or not at all. It follows a link, and writes to a pipe or a device."""
        target = path_of(path, "save")
        try:
            write_file(target, self.data)
        except OSError as error:
            raise file_error(ArgumentError, f"{target} cannot be written: {error.strerror}", error) from None
        return target

    def extract(self, folder: str | os.PathLike[str]) -> Path:
        """Writes the members to files below `folder`, for compilers and linkers.

        Links inside of `folder` cannot lead outside.
        """
        out = path_of(folder, "extract")
        members: dict[str, bytes | memoryview] = {"manifest.json": self.manifest_text.encode()}
        members |= {name: self._file.member(name) for name in self.manifest.members}
        for name, data in members.items():
            path = out / name
            try:
                for parent in reversed(path.relative_to(out).parents[:-1]):
                    if (out / parent).is_symlink():
                        raise OSError(errno.ELOOP, f"{out / parent} is a link to somewhere else")
                path.parent.mkdir(parents=True, exist_ok=True)
                write_file(path, data, follow=False)
            except OSError as error:
                raise file_error(ArgumentError, f"{path} cannot be written: {error.strerror}", error) from None
        return out

    def __repr__(self) -> str:
        targets = ", ".join(t.target for t in self.manifest.targets)
        functions = ", ".join(map(str, self.manifest.functions))
        return f"<bundle of {functions}, for {targets}: {len(self.data)} bytes>"


def spec_of(parameter: Any, weak: bool = False) -> Spec:
    """The Spec of a manifest's array."""
    return Spec._of(parameter.dims, parameter.shape, as_dtype(parameter.dtype), weak)


check_methods(Bundle, "Bundle")
_read: Any = vars(Bundle)["read"].__func__
Bundle.read = classmethod(checked(_read, name="Bundle.read"))  # type: ignore[assignment]
