"""The environment variables that set numbers and switches.

A value without a meaning is refused when xtensor is imported, before compiled code could read it differently.
docs/environment.md has the table for users.
"""

from __future__ import annotations

import os
import re

from .errors import ArgumentError

_BYTES = (r"[0-9]{1,18}", "a number of bytes, such as 1000000000")
_SWITCH = ("[01]?", "0 or 1")
# name -> what its value matches, and in words. Folders and libraries are whatever can be opened.
_TAKES = {
    "XTENSOR_NUM_THREADS": ("0*[1-9][0-9]{0,8}", "a number of threads, 1 or more"),
    "XTENSOR_CACHES": (
        "[1-9][0-9]{3,9},[1-9][0-9]{3,9}",
        "the bytes of the two levels of a core's data caches, such as 32768,524288",
    ),
    "XTENSOR_CACHE_BYTES": _BYTES,
    "XTENSOR_CPU_WITHOUT": ("((amx|avx512bf16)(,|$))*", "a list of features of a processor, such as amx,avx512bf16"),
    "XTENSOR_DEVICE": ("([0-9]{1,9})?", "the number of a device, as `xtensor devices` counts them from 0"),
    "XTENSOR_DEVICE_MEMORY": _BYTES,
    "XTENSOR_DEVICE_TIMEOUT": (
        r"(?=[0-9.]*[1-9])[0-9]{1,9}(\.[0-9]*)?|\.[0-9]*[1-9][0-9]*",
        "a number of seconds above 0, such as 2.5",
    ),
    "XTENSOR_DEVICE_STAGING": _SWITCH,
    "XTENSOR_DEVICE_WITHOUT": (
        "((f64|i64|f16|i16|i8|s16|s8|atomic_(f32|f64|i64)|shuffle|subgroup|unit_m|(specials|subnormals)(16|32|64))"
        "(,|$))*",
        "a list of features of a profile, such as i64,shuffle",
    ),
    "XTENSOR_DEBUG_MEMORY": _SWITCH,
    "XTENSOR_WAIT": _SWITCH,
    "XTENSOR_VALIDATE": _SWITCH,
    "XTENSOR_VERIFY": _SWITCH,
}


def check() -> None:
    """Raises for the first variable of ours whose value means nothing."""
    for name, (pattern, what) in _TAKES.items():
        value = os.environ.get(name)
        if value is not None and not re.fullmatch(pattern, value, re.ASCII):
            raise ArgumentError(f"the environment variable {name} is {what}, not {value!r:.80}: change or unset it", "")


def threads_advice(option: str) -> str:
    """What to write instead of an option of this name: the threads of a process are no option."""
    if "thread" not in option:
        return ""
    return ". Set the threads of the process in its environment: XTENSOR_NUM_THREADS=2 python program.py"
