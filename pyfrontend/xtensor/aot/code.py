"""The part of a bundle that runs here: its target, the code of a function, and its weights."""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np

from .. import _native
from ..base.dims import suggestion
from ..base.dtypes import as_dtype
from ..base.errors import BundleError, DeviceError
from ..values import devices
from .manifest import AGAIN, Exported, File, Parameter, Target
from .schema import printable

# Processors that run what those before them run.
_LEVELS = {name: i for i, name in enumerate(("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"))}


def listed(file: File) -> str:
    """The targets of a bundle, in errors about others."""
    return ", ".join(t.target for t in file.manifest.targets)


def chosen(file: File, wanted: str | None) -> Target:
    targets = file.manifest.targets
    there = listed(file)
    if wanted is not None and wanted.partition(":")[0] in devices.BACKENDS:
        for t in targets:
            if t.is_device and t.target == wanted.partition(":")[0]:
                return t
        raise BundleError(
            f"{file.where} has nothing for target {wanted!r}; it has {there}. Export it for {wanted!r}, too"
        )
    if wanted is not None and wanted != "cpu":
        wanted = wanted.removesuffix("-linux-gnu")
        found = [t for t in targets if t.target == wanted]
        if not found:
            near = suggestion(wanted, [t.target for t in targets] + ["cpu", *devices.BACKENDS])
            raise BundleError(f"{file.where} has nothing for target {wanted!r}; it has {there}{near}")
        if not _native.has_processor(found[0].processor):
            raise BundleError(f"{file.where}: code for {wanted!r} does not run on this machine")
        return found[0]
    fitting = [t for t in targets if not t.is_device and _native.has_processor(t.processor)]
    if fitting:
        return max(fitting, key=lambda t: _LEVELS.get(t.processor, 0))  # of equals the first
    for t in targets if wanted is None else ():
        if t.is_device and t.target in devices.BACKENDS and _native.device_count(t.target):
            return t
    raise BundleError(
        f"{file.where} has nothing that runs on this machine; it has {there}. "
        f"Export it for 'cpu:{platform.machine()}', too"
    )


def check_profile(where: str, target: Target, device: _native.Device) -> None:
    """Whether a device has what code was compiled for."""
    assert target.profile is not None
    has = set(device.profile.split(","))
    numbers = dict(part.split("=", 1) for part in has if "=" in part)
    for part in target.profile.split(","):
        name, _, value = part.partition("=")
        if part in has or part in ("subgroup=1", "in_order"):
            continue
        there = numbers.get(name, "")
        at_least = name in ("workgroup_bytes", "max_threads", "sm") and value.isdecimal() and there.isdecimal()
        if at_least and int(there) >= int(value):
            continue
        raise DeviceError(
            f"{where}: its code for {target.target!r} needs {part}, which the device {device.name!r} "
            f"({device.description}) does not have. Export it here, or for a smaller profile"
        )


class Opened:
    """A bundle that functions are loaded from. Weights that several of them have are in memory once."""

    def __init__(self, file: File) -> None:
        self.file = file
        self._weights: dict[Any, Any] = {}  # by hash and type

    def code(self, f: Exported, target: Target) -> Any:
        """The code of a function, loaded, once it is seen to be that of what the manifest says."""
        file, code = self.file, target.code[self.file.manifest.functions.index(f)]
        try:
            found = _native.Code(file.member(code.kernel), code.entry, code.signature)
        except (OSError, ValueError) as error:
            why = printable(str(error))
            raise BundleError(f"{file.where}: the code for {target.target} cannot be loaded: {why}") from None
        said = f"{target.profile or target.target} {f.signature}"
        known, _, contents = found.signature.rpartition(" ")
        if known != said:
            raise BundleError(f"{file.where}: the manifest says {said}, and the code {printable(known)}. {AGAIN}")
        if contents != file.manifest.contents(f):
            raise BundleError(
                f"{file.where}: the code for {target.target} was compiled from another program, or for other weights "
                f"or arguments in Python, than this bundle holds. Nothing of it is used. {AGAIN}"
            )
        return found

    def weight(self, p: Parameter) -> Any:
        """The array that a function has inside."""
        key = p.sha256, p.dtype, p.dims, p.shape
        if key not in self._weights:
            self._weights[key] = self._read(p)
        return self._weights[key]

    def _read(self, p: Parameter) -> Any:
        assert p.member is not None
        dtype, shape = as_dtype(p.dtype), [n for n in p.shape if n is not None]
        data = self.file.part(p.member, p.offset, dtype.itemsize * math.prod(shape), p.sha256)
        values = np.frombuffer(data, dtype).reshape(shape)
        # Bytes that were read from a file are not shared, and they are aligned.
        return _native.from_buffer(values if self.file.is_open else values.copy(), p.dims)
