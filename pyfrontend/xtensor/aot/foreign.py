"""Bundles from authors that are not trusted (docs/security.md).

Their programs are checked, compiled in another process within limits of time and memory, and then compiled here.
Their machine code is not loaded.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import _native
from ..base import errors
from ..base.errors import BundleError, UnsupportedError
from ..compiler.executable import load
from ..ir.context import has_open_sizes
from ..values import devices, targets
from .inline import program_of
from .manifest import File, Target

if TYPE_CHECKING:
    from .core import Core

# What the process may take that compiles a bundle first: seconds of the processor, and bytes beside what it has
# before it reads anything.
SECONDS = 60
BYTES = 4 << 30
_MAIN = "import sys; sys.path[:] = {path!r}; from xtensor.aot.trial import main; main()"


def place(wanted: str | None) -> tuple[Target, _native.Device | None]:
    """Where the programs of a bundle run, whatever it was exported for."""
    device = devices.named(wanted or "cpu")
    return Target("cpu" if device is None else device.backend, "", ()), device


def compiled(core: Core, device: _native.Device | None) -> Any:
    """The executable for a device: the program's, as xt.jit makes it."""
    program = program_of(core)
    # Where arguments have open sizes, the compiler sees to what follows from them; it looks at no others.
    fixed = not any(s.is_dynamic for s in program.all_inputs)
    if fixed and has_open_sizes(program.module):
        raise UnsupportedError(
            f"{core.file.where}: the program of {core.function.name} has open sizes that no argument has: a size is "
            "computed from values"
        )
    return load(program, targets.target_of(device))


def try_out(file: File, target: str | None, function: str | None) -> None:
    """Reads and compiles the programs of a bundle in another process. What it comes to is thrown away: that it comes
    to an end within the limits is what is asked."""
    import signal
    import subprocess

    if not sys.executable:
        raise BundleError(
            f"{file.where}: xt.load(native=False) needs a Python to try it in, and sys.executable is empty"
        )
    words = [sys.executable, "-c", _MAIN.format(path=sys.path), str(SECONDS), str(BYTES)]
    words += [target or "", function or "", file.where]
    environment = {**os.environ, "XTENSOR_CACHE_DIR": "", "XTENSOR_DUMP": ""}
    limits = f"{SECONDS} s of the processor and {BYTES >> 30} GiB of memory"
    try:
        done = subprocess.run(
            words, input=file.all(), capture_output=True, env=environment, timeout=10 * SECONDS, check=False
        )
    except OSError as error:
        raise BundleError(f"{file.where}: no process can be started to try it in: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise BundleError(f"{file.where}: its programs cannot be compiled within {limits}") from None
    code = done.returncode
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        raise BundleError(f"{file.where}: its programs cannot be compiled within {limits}")
    if code:
        raise BundleError(
            f"{file.where}: its programs cannot be compiled within {limits}: the process that tried to compile them "
            f"ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"
        )
    kind, text = json.loads(done.stdout)
    if kind:
        raise getattr(errors, kind)(text)
