"""Where arrays are made, where a program runs, and what it is compiled for.

Programs run where their arrays are: `where` says it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _native
from ..base.dims import describe_array
from ..base.errors import DeviceError
from .devices import BACKENDS, named, parts
from .options import current
from .spec import Spec

# What code is generated for where no such device is at hand: what most of them have.
_NUMBERS = "workgroup_bytes=32768,max_threads=1024"
_PROFILES = {
    "vulkan": f"vulkan,f64,i64,f16,i16,i8,s16,s8,atomic_f32,atomic_i64,shuffle,subgroup=32,{_NUMBERS}",
    "metal": f"metal,apple,i64,f16,i16,i8,s16,s8,subgroup=1,{_NUMBERS}",
    "cuda": "cuda,nvidia,f64,i64,f16,i16,i8,s16,s8,atomic_f32,atomic_f64,atomic_i64,shuffle,subgroup=32,"
    f"{_NUMBERS},sm=80",
}
# The words of a profile: features of a device, its vendor (`any` is for the compiler's tables), and numbers from 1 on.
_WORDS = frozenset(_native.profile_features + _native.profile_makers) - {"any"}
# dtype -> the part of a profile that says that it is there. Integers are made of words where they are not there: the
# numbers are the same.
NEEDS = {"float64": "f64", "float16": "f16"}


_F4, _F8 = np.dtype("float32"), np.dtype("float64")
_NARROW = {_F8: _F4, np.dtype("complex128"): np.dtype("complex64")}


def placed(made: Any, device: str | None) -> Any:
    """A new array where it was asked for, else on the device of `xt.option`."""
    where = current().device if device is None else named(device)
    return made if where is None else _native.to_device(made, where)


# -- where a program runs ---------------------------------------------------------------------------------------------


def where(arrays: Sequence[Any], free: Collection[int], argument: Callable[[int], str]) -> _native.Device | None:
    """Where a program of these arguments runs: where they are. Numbers, NumPy arrays (`free`) and arrays without dims
    on the CPU go where the others are; without others, to the device of `xt.option`. `argument` describes one."""
    first, found, small = -1, None, False
    for i, a in enumerate(arrays):
        if a is None or i in free:
            continue
        device = a._device
        if device is None and not a.ndim:
            small = True
        elif first < 0:
            first, found = i, device
        elif device is not found:
            raise _two(arrays, first, i, argument)
    if first < 0 and not small:
        return current().device
    return found


def _two(arrays: Sequence[Any], i: int, j: int, argument: Callable[[int], str]) -> DeviceError:
    a, b = arrays[i], arrays[j]
    to = next(x.device for x in (a, b) if x.device != "cpu")
    return DeviceError(
        f"{argument(i)} is on {a.device!r} and {argument(j)} on {b.device!r} (operands: {describe_array(a)}, "
        f"{describe_array(b)}). Arrays of one operation are on one device: move one by x.to({to!r})"
    )


def of_captured(arrays: Iterable[Any]) -> _native.Device | None:
    """Where a program without arguments runs: where the arrays that it reads from outside are."""
    found = {a._device for a in arrays if a._device is not None}
    if len(found) > 1:
        names = " and ".join(sorted(repr(d.name) for d in found))
        raise DeviceError(f"the function reads arrays on {names}: move them to one device by x.to(..)")
    if found:
        return found.pop()
    return current().device


# -- what a program is compiled for -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """What code is generated for. `profile`: "cpu", or what the compiler is told about a device. `device`: where the
    code can run; None: the CPU, or a device that is not at hand (`here`)."""

    name: str = "cpu"
    profile: str = "cpu"
    device: _native.Device | None = None

    @property
    def here(self) -> bool:
        return self.device is not None or self.profile == "cpu"

    @property
    def backend(self) -> str:
        return self.profile.partition(",")[0]

    def arriving(self, specs: Sequence[Spec]) -> tuple[Spec, ...]:
        """The arguments of a program as they arrive here: a Python float as `weak_float`, a complex one as two."""
        if self.weak_float == _F8:
            return tuple(specs)
        return tuple(Spec._of(s.dims, s.shape, _NARROW.get(s.dtype, s.dtype), True) if s.weak else s for s in specs)

    @property
    def weak_float(self) -> np.dtype[Any]:
        """The dtype of Python floats among themselves: float32 where there is no float64."""
        return _F4 if self.lacks("float64") else _F8

    def lacks(self, dtype: str) -> bool:
        return self.profile != "cpu" and NEEDS[dtype] not in self.profile.split(",")


CPU = Target()


@functools.cache
def _target(name: str, profile: str, device: _native.Device | None, deterministic: bool) -> Target:
    return Target(name, profile + ",in_order" if deterministic else profile, device)


def target_of(device: _native.Device | None) -> Target:
    return CPU if device is None else _target(device.name, device.profile, device, current().deterministic)


def target_named(name: str) -> Target:
    """What to generate code for: a device that is here, a kind of device that is not, or a profile as text."""
    if isinstance(name, str) and "," in name and name.partition(",")[0] in BACKENDS:
        _check_words(name)
        return Target(name.partition(",")[0], name)
    backend, _ = parts(name, " or, for code that runs elsewhere, a profile such as 'cuda,sm=90'")
    if name == backend and name != "cpu" and not _native.device_count(backend):
        return _target(name, _PROFILES[name], None, current().deterministic)
    return target_of(named(name))


def _check_words(profile: str) -> None:
    for word in profile.split(",")[1:]:
        number = re.fullmatch(r"(\w+)=[1-9][0-9]{0,8}", word)
        if number[1] not in _native.profile_numbers if number else word not in _WORDS:
            known = ", ".join([*sorted(_WORDS), *(f"{n}=NUMBER" for n in _native.profile_numbers)])
            raise DeviceError(f"the profile {profile!r} says {word!r}, which is not a property of devices: {known}")
        if word.startswith("sm=") and int(word[3:]) < 70:
            old = f"{word[3:-1] or 0}.{word[-1]}"
            raise DeviceError(
                f"the profile {profile!r} says {word!r}: no code for NVIDIA GPUs of compute capability {old}: the "
                "oldest is 7.0, sm=70"
            )
