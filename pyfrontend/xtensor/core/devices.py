"""Devices: what their names mean, which there are, and where a program runs.

A `_native.Device` is one that is not the CPU; None is the CPU. Programs run where their arrays are: `where` says it.
"""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from .dims import describe_array, suggestion
from .errors import ArgumentTypeError, DeviceError
from .spec import Spec

if TYPE_CHECKING:
    from ..trace.program import Program

BACKENDS = ("vulkan", "metal", "cuda")

# What code is generated for where no such device is at hand: what most of them have.
_NUMBERS = "workgroup_bytes=32768,max_threads=1024"
_PROFILES = {
    "vulkan": f"vulkan,f64,i64,f16,i16,i8,s16,s8,atomic_f32,atomic_i64,shuffle,subgroup=32,{_NUMBERS}",
    "metal": f"metal,apple,i64,f16,i16,i8,s16,s8,subgroup=1,{_NUMBERS}",
    "cuda": "cuda,nvidia,f64,i64,f16,i16,i8,s16,s8,atomic_f32,atomic_f64,atomic_i64,shuffle,subgroup=32,"
    f"{_NUMBERS},sm=80",
}
# All that a profile may say: what a device has, who made it (`any` is for the compiler's tables), and numbers of 1 or
# more.
_WORDS = frozenset(_native.profile_features + _native.profile_makers) - {"any"}
# dtype -> the part of a profile that says that it is there. Integers are made of words where they are not there: the
# numbers are the same.
_NEEDS = {"float64": "f64", "float16": "f16"}


_F4, _F8 = np.dtype("float32"), np.dtype("float64")


@dataclass(frozen=True)
class Device:
    """One place where programs run. `features`: what it can do besides float32, int32 and bool; the CPU does all."""

    name: str
    description: str
    driver: str = ""
    features: tuple[str, ...] = ()
    memory_bytes: int = 0

    def __str__(self) -> str:
        return self.name


def devices() -> tuple[Device, ...]:
    """What programs can run on here, the CPU first: ``xt.devices()[1].name`` is for `x.to` and ``device=``."""
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


def _parts(name: Any, otherwise: str = "") -> tuple[str, int]:
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
    backend, index = _parts(str(name) if isinstance(name, Device) else name)
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
    """Where what goes together with `x` is made: where it is; None for what is no array."""
    return x.device if isinstance(x, _native.Array) else None


def placed(made: Any, device: str | None) -> Any:
    """A new array where it was asked for, else on the device of `xt.option`."""
    from .options import current

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
        from .options import current

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
    from .options import current

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
        """The arguments of a program as they arrive here: a Python float as `weak_float`."""
        dtype = self.weak_float
        if dtype == _F8:
            return tuple(specs)
        return tuple(Spec(s.dims, s.shape, dtype, True) if s.weak and s.dtype == _F8 else s for s in specs)

    @property
    def weak_float(self) -> np.dtype[Any]:
        """The dtype of Python floats among themselves: float32 where there is no float64."""
        return _F4 if self._lacks("float64") else _F8

    def _lacks(self, dtype: str) -> bool:
        return self.profile != "cpu" and _NEEDS[dtype] not in self.profile.split(",")

    def check(self, program: Program, whose: bool = False) -> None:
        """Refuses what a device does not have, before anything is compiled. `whose`: what is wrong is told by its place
        in the function; else the function is one op, which who calls this names."""
        lacking = [dtype for dtype in _NEEDS if self._lacks(dtype)]
        if not lacking:
            return
        given = [f"argument {i} of {program.name}" if whose else "an operand" for i in range(len(program.inputs))]
        given += [f"an array that {program.name} reads from outside" for _ in program.captured]
        for place, spec in zip(given, program.all_inputs, strict=True):
            if spec.dtype.name in lacking:
                how = 'Write x.astype("f4") on the CPU, before it is moved'
                self._refuse(spec.dtype.name, f"{place} is {describe_array(spec)}", how)
        how = 'Write x.astype("f4") of what it is computed from'
        for i, spec in enumerate(program.outputs):
            if spec.dtype.name in lacking:
                place = f"result {i} of {program.name}" if whose else "the result"
                self._refuse(spec.dtype.name, f"{place} is {describe_array(spec)}", how)
        for dtype, (op, line) in _dtypes_inside(program).items():
            if dtype in lacking:
                self._refuse(dtype, f"a value inside of the program, of the op '{op}', is {dtype}", how, line)

    def _refuse(self, dtype: str, what: str, how: str, where: str | None = None) -> None:
        shown = f"{self.name!r} ({self.device.description})" if self.device else repr(self.name)
        raise DeviceError(f'{what}, and the device {shown} has no {dtype}. {how}, or run it with device="cpu"', where)


def _dtypes_inside(program: Program) -> dict[str, tuple[str, str | None]]:
    """The dtypes of all values that are computed: the first op that gives one, and its FILE:LINE."""
    from ..trace.context import file_line, spec_of

    found: dict[str, tuple[str, str | None]] = {}

    def visit(operation: Any) -> None:
        for region in operation.regions:
            for block in region.blocks:
                for view in block.operations:
                    op = view.operation
                    for result in op.results:
                        if not str(result.type).startswith("!xtensor.array") or _is_folded(op):
                            continue
                        dtype = spec_of(result.type).dtype.name
                        if dtype not in found:
                            found[dtype] = op.name.removeprefix("xtensor."), file_line(str(op.location)) or None
                    visit(op)

    visit(program.module.operation)
    return found


def _is_folded(op: Any) -> bool:
    """Whether it is a number of the program that is never there as it is written: each of its uses is a cast."""
    from ..trace.context import spec_of

    if op.name != "xtensor.constant" or spec_of(op.results[0].type).dims:
        return False
    return all(use.owner.name == "xtensor.cast" for use in op.results[0].uses)


CPU = Target()


@functools.cache
def _target(name: str, profile: str, device: _native.Device | None, deterministic: bool) -> Target:
    return Target(name, profile + ",in_order" if deterministic else profile, device)


def target_of(device: _native.Device | None) -> Target:
    from .options import current

    return CPU if device is None else _target(device.name, device.profile, device, current().deterministic)


def target_named(name: str) -> Target:
    """What to generate code for: a device that is here, a kind of device that is not, or a profile as text."""
    if isinstance(name, str) and "," in name and name.partition(",")[0] in BACKENDS:
        _check_words(name)
        return Target(name.partition(",")[0], name)
    backend, _ = _parts(name, " or, for code that runs elsewhere, a profile such as 'cuda,sm=90'")
    if name == backend and name != "cpu" and not _native.device_count(backend):
        from .options import current

        return _target(name, _PROFILES[name], None, current().deterministic)
    return target_of(named(name))


def _check_words(profile: str) -> None:
    for word in profile.split(",")[1:]:
        number = re.fullmatch(r"(\w+)=[1-9][0-9]{0,8}", word)
        if number[1] not in _native.profile_numbers if number else word not in _WORDS:
            known = ", ".join([*sorted(_WORDS), *(f"{n}=NUMBER" for n in _native.profile_numbers)])
            raise DeviceError(f"the profile {profile!r} says {word!r}, which is nothing that a device has: {known}")
        if word.startswith("sm=") and int(word[3:]) < 70:
            old = f"{word[3:-1] or 0}.{word[-1]}"
            raise DeviceError(
                f"the profile {profile!r} says {word!r}: no code for NVIDIA GPUs of compute capability {old}: the "
                "oldest is 7.0, sm=70"
            )
