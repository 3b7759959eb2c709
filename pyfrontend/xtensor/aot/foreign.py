"""Bundles of people that nobody trusts (docs/security.md): their programs are checked, tried in another process, which
may take so much time and memory, and then compiled here. None of their code is loaded."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native
from ..core import devices, errors, targets
from ..core.errors import BundleError, Error, UnsupportedError
from .manifest import File, Target
from .schema import printable

if TYPE_CHECKING:
    from .load import _Core

# What the process may take that compiles a bundle first: seconds of the processor, and bytes beside what it has
# before it reads anything. Its stack is half of what a thread has here.
SECONDS = 60
BYTES = 4 << 30
_STACK = 4 << 20
_MAIN = "import sys; sys.path[:] = {path!r}; from xtensor.aot.foreign import main; main()"


def place(wanted: str | None) -> tuple[Target, _native.Device | None]:
    """Where the programs of a bundle run, whatever it was exported for."""
    device = devices.named(wanted or "cpu")
    return Target("cpu" if device is None else device.backend, "", ()), device


def refused(core: _Core, program: bytes) -> None:
    """Raises BundleError for what is not a program that a trace could have made."""
    from ..trace.context import compiler

    why = compiler().why_not_foreign(program)
    if why:
        raise BundleError(
            f"{core.file.where}: the program of {core.function.name} is not one that is compiled without trust: "
            f"{printable(why)}"
        )


def compiled(core: _Core, device: _native.Device | None) -> Any:
    """The executable for a device: the program's, as xt.jit makes it."""
    from ..compiler.executable import load
    from .inline import program_of

    program = program_of(core)
    # Where arguments have open sizes, the compiler sees to what follows from them; it looks at no others.
    fixed = not any(s.is_dynamic for s in program.all_inputs)
    if fixed and re.search(r": \?, ", str(program.module)):
        raise UnsupportedError(
            f"{core.file.where}: the program of {core.function.name} has open sizes that no argument has: a size is "
            "computed from values"
        )
    return load(program, targets.target_of(device))


def try_out(file: File, target: str | None, function: str | None) -> None:
    """Reads and compiles the programs of a bundle in another process. What it comes to is thrown away: that it comes
    to an end within the limits is what is asked."""
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
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise BundleError(f"{file.where}: its programs cannot be compiled within {limits}")
    if done.returncode:
        raise BundleError(
            f"{file.where}: its programs are more than the compiler takes with {limits}: a process that tried them "
            f"ended with {_ending(done.returncode)}"
        )
    kind, text = json.loads(done.stdout)
    if kind:
        raise getattr(errors, kind)(text)


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def main() -> None:
    """In the process that tries: the kind and the text of an error, or two empty texts."""
    from ..trace.context import compiler
    from .load import _loaded

    seconds, most, target, function, where = sys.argv[1:]
    data = sys.stdin.buffer.read()
    found = ["", ""]

    def run() -> None:
        try:
            _loaded(File(data, where), target or None, function or None, native=False, tried=True)
        except Error as error:
            found[:] = [next(c.__name__ for c in type(error).__mro__ if hasattr(errors, c.__name__)), error.parts[0]]

    compiler()
    _limit(int(seconds), int(most))
    threading.stack_size(_STACK)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    print(json.dumps(found), flush=True)
    os._exit(0)


def _limit(seconds: int, most: int) -> None:
    import resource  # where there is none, there are no such processes

    there = 0
    if sys.platform == "linux":
        there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: there + most}
    for what, limit in limits.items():
        _, hard = resource.getrlimit(what)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(what, (least, least))
