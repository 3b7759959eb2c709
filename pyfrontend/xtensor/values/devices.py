"""Devices: the list of them, and the meaning of their names.

A `_native.Device` is never the CPU; None is the CPU.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _native
from ..base.dims import suggestion
from ..base.errors import ArgumentTypeError, DeviceError

BACKENDS = ("vulkan", "metal", "cuda")


@dataclass(frozen=True)
class Device:
    """A place where programs run.

    `features` lists what it can do besides float32, int32 and bool; the CPU can do everything.

    Example:
    >>> xt.devices()[0].name, isinstance(xt.devices()[0], xt.Device)
    ('cpu', True)
    """

    name: str
    description: str
    driver: str = ""
    features: tuple[str, ...] = ()
    memory_bytes: int = 0

    def __str__(self) -> str:
        return self.name


def devices() -> tuple[Device, ...]:
    """Returns the devices that programs can run on here, the CPU first.

    The name of one, ``xt.devices()[1].name``, is what `x.to` and ``device=`` take.

    Example:
    >>> xt.devices()[0].name
    'cpu'
    """
    return (Device("cpu", processor()), *(_public(d) for b in BACKENDS for d in of_backend(b)))


def _public(d: _native.Device) -> Device:
    return Device(d.name, d.description, d.driver, d.features, d.memory_bytes)


def processor() -> str:
    """What the CPU calls itself."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def of_backend(backend: str) -> list[_native.Device]:
    """The devices of a backend that can be opened."""
    found = []
    for i in range(_native.device_count(backend)):
        try:
            found.append(_native.open_device(backend, i))
        except DeviceError:
            continue
    return found


def _there() -> str:
    names = [repr(d.name) for d in devices()]
    return f"{'devices here are' if len(names) > 1 else 'the only device here is'} {', '.join(names)}"


def parts(name: Any, otherwise: str = "") -> tuple[str, int]:
    """Backend and index that a name means. `otherwise`: what else could be written."""
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f'a device is a name such as "cpu" or "vulkan", or one of xt.devices(), not {name!r:.60}'
        )
    backend, colon, number = name.partition(":")
    known = backend in BACKENDS or name in ("cpu", "cpu:0")
    if not known or (colon and not number.isdecimal()):
        near = suggestion(name.lower(), ("cpu", *BACKENDS)) if len(name) < 20 else ""
        if backend.lower() in ("gpu", "xpu", "tpu"):
            near = "; GPUs are named by what drives them: 'vulkan', 'cuda', 'metal'"
        raise DeviceError(f"there is no device {name!r:.60}; {_there()}{near}{otherwise}")
    return backend, int(number or -1)


def named(name: str) -> _native.Device | None:
    """What a name means: a Device, or None for the CPU. Without a number: the best, or what $XTENSOR_DEVICE says."""
    backend, index = parts(str(name) if isinstance(name, Device) else name)
    if backend == "cpu":
        return None
    count = _native.device_count(backend)
    if not count:
        reason = _native.device_error()
        instead = "The" if 'device="cpu"' in str(reason) else 'Programs run with device="cpu"; the'
        raise DeviceError(
            f"there is no {backend} device here: {reason}. {instead} command `xtensor devices` says what each kind of "
            "device needs"
        )
    if index >= count:
        raise DeviceError(f"there is no device {name!r}; {_there()}")
    return _native.open_device(backend, index)


def like(x: Any) -> str | None:
    """Where an array that is used together with `x` is made: on the device of `x`; None if `x` is not an array."""
    return x.device if isinstance(x, _native.Array) else None
