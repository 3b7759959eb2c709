"""The `xtensor` command: shows the IR of a function, what is installed, and the devices that programs can run on."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import platform
import re
import shutil
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, _native
from ..aot.bundle import Bundle
from ..aot.export import export
from ..aot.inspect import as_json, lines
from ..base.calls import counted
from ..base.errors import ArgumentError, Error, user_line
from ..call.arrays import array
from ..call.compilations import Compilation, is_internal, listeners
from ..compiler import cache
from ..ir.context import compiler, context, mlir
from ..transforms.jit import jit
from ..values.devices import BACKENDS, of_backend, processor
from ..values.options import option
from ..values.spec import Spec
from .functions import UserError, check_count, example_args_of, load, parse_spec, users_code, without_line
from .show import add_to

# The method that a command calls, which its user does not know.
_METHOD = re.compile(r"^xt\.(Bundle|Explorer|Lowered|profile)\.\w+: ")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="xtensor", description=__doc__)
    parser.add_argument("--version", action="version", version=f"xtensor {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    add_to(commands)
    _add_compile(commands)
    explain = commands.add_parser("explain", help="run a program, and say what was compiled and why again")
    explain.add_argument("--quiet", action="store_true", help="only the table at the end, without each compilation")
    explain.add_argument("program", metavar="PROGRAM.py")
    rest = explain.add_argument("arguments", metavar="ARG", nargs=argparse.REMAINDER, help="arguments of the program")
    rest.required = False  # Python 3.11 would name it, too, where the program is missing
    explain.set_defaults(run=_explain)
    doctor = commands.add_parser("doctor", help="what is installed, which targets work, what is missing")
    doctor.set_defaults(run=_doctor)
    devices = commands.add_parser("devices", help="what programs can run on here")
    devices.set_defaults(run=_devices)
    options = parser.parse_args(argv)
    try:
        status: int = options.run(options)
    except Error as error:
        print(f"xtensor {options.command}: {_METHOD.sub('', str(error))}", file=sys.stderr)
        return 1
    except UserError as error:
        print(f"xtensor {options.command}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader (head, less) has seen enough; closing stdout again must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


# -- compile, inspect -------------------------------------------------------------------------------------------------

_COMPILE = """\
Compiles functions of files into a bundle, which xt.load and programs in C call. What they are traced at is found as
`xtensor show` finds it: --arg for each argument, `example_args` in the file, annotations and defaults. Of several
functions, FILE.py:predict,loss or one after another, --arg says which is meant: --arg "loss:batch=64,pixel=784:f4".
"""


def _add_compile(commands: Any) -> None:
    compile_ = commands.add_parser("compile", help="compile functions ahead of time", description=_COMPILE)
    compile_.add_argument("functions", metavar="FILE.py:FUNCTION[,FUNCTION..]", nargs="+")
    compile_.add_argument("-o", "--output", required=True, metavar="MODEL.xtb", help="the bundle")
    compile_.add_argument(
        "--arg", action="append", metavar="[FUNCTION:]SPEC", help="an argument's dims, sizes (?: open) and dtype"
    )
    compile_.add_argument(
        "--target", action="append", metavar="TARGET",
        help="cpu (default), cpu:x86-64-v3, cpu:aarch64-linux-gnu, vulkan, metal, cuda, ..",
    )  # fmt: skip
    compile_.add_argument("--blas", default="openblas", help="of the C library: openblas, blas or scipy-openblas")
    compile_.add_argument("--no-blas", action="store_true", help="matrix products are part of the code")
    compile_.add_argument("--no-c", action="store_true", help="no libraries and header for C")
    compile_.set_defaults(run=_compile)
    inspect_ = commands.add_parser("inspect", help="what a bundle holds; checks it")
    inspect_.add_argument("bundle", metavar="MODEL.xtb")
    inspect_.add_argument("--json", action="store_true", help="print manifest.json as it is")
    inspect_.add_argument("--extract", metavar="FOLDER", help="write the members there, for compilers and linkers")
    inspect_.set_defaults(run=_inspect)


def _compile(options: argparse.Namespace) -> int:
    functions = _functions(options.functions)
    args = _args_of(options.arg or (), list(functions))
    found = {}
    for name, (function, module) in functions.items():
        found[name] = args[name] or example_args_of(name, function, module)
        check_count(function, found[name])
    several = {name: (f, found[name]) for name, (f, _) in functions.items()}
    name, (only, _) = next(iter(functions.items()))
    with users_code(), without_line(user_line()):
        bundle = export(
            several if len(several) > 1 else only,
            args=() if len(several) > 1 else found[name],
            targets=options.target or ("cpu",),
            path=options.output,
            blas=None if options.no_blas else options.blas,
            c=not options.no_c,
        )
    print(f"{options.output}: {bundle!r}")
    return 0


def _functions(words: Sequence[str]) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Functions by name, each with what is in its file; a file runs once."""
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}
    files: dict[str, dict[str, Any]] = {}
    for word in words:
        path, _, names = word.rpartition(":")
        for name in names.split(","):
            if name in found:
                raise ArgumentError(f"two functions are called {name}", where="")
            found[name] = load(f"{path}:{name}" if path else word, files.get(path))
            files[path] = found[name][1]
    return found


def _args_of(words: Sequence[str], functions: Sequence[str]) -> dict[str, list[Spec]]:
    """What --arg says of each function: "FUNCTION:" in front tells which, where there are several."""
    found: dict[str, list[Spec]] = {name: [] for name in functions}
    for word in words:
        name, colon, spec = word.partition(":")
        if colon and name in found:
            found[name].append(parse_spec(spec))
        elif "=" in spec and "=" not in name:
            raise ArgumentError(f"--arg {word!r}: there is no function {name!r}; there is {', '.join(functions)}", "")
        elif len(functions) == 1:
            found[functions[0]].append(parse_spec(word))
        else:
            raise ArgumentError(
                f"--arg {word!r}: which function is meant? Write --arg '{functions[0]}:{word}' "
                f"(there are {', '.join(functions)})",
                where="",
            )
    return found


def _inspect(options: argparse.Namespace) -> int:
    path = Path(options.bundle)
    with _one_line():
        bundle = Bundle.read(path)
        text = "\n".join(lines(bundle._file))
        text = as_json(bundle) if options.json else text
        if options.extract:
            bundle.extract(options.extract)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text)
    return 0


@contextmanager
def _one_line() -> Iterator[None]:
    """Errors are about a file, not about a line of Python."""
    try:
        yield
    except Error as error:
        raise type(error)(str(error).splitlines()[0], where="") from None


# -- explain ----------------------------------------------------------------------------------------------------------


def _explain(options: argparse.Namespace) -> int:
    """Runs the program as Python does; its exit status."""
    path = Path(options.program)
    if not path.is_file():
        file, colon, _ = options.program.rpartition(":")
        instead = f". It runs a whole program: xtensor explain {file}" if colon and Path(file).is_file() else ""
        what = f"{path} is a folder" if path.is_dir() else f"there is no file {path}"
        raise ArgumentError(f"{what}{instead}", where="")
    met: list[Compilation] = []

    def meet(made: Compilation) -> None:
        if not is_internal(made):
            met.append(made)

    listeners.append(meet)
    if not options.quiet:
        option(log="compile")
    argv, folder, outer = sys.argv, str(path.resolve().parent), sys.modules["__main__"]
    sys.argv = [str(path), *options.arguments]
    sys.path.insert(0, folder)
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__file__ = str(path)
    try:
        status = _ended(lambda: exec(_code_of(path), module.__dict__))
        status = _ended(_wait_for_threads) or status
    finally:
        sys.argv, sys.modules["__main__"] = argv, outer
        sys.path.remove(folder)
        listeners.remove(meet)
        sys.stdout.flush()
        print("\n".join(_summary(met)))
    return status


def _code_of(path: Path) -> types.CodeType:
    return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)


def _ended(run: Callable[[], None]) -> int:
    """Runs the user's code; its exit status. What it raises is told as Python tells it."""
    try:
        run()
    except SystemExit as leaves:
        if leaves.code is None or isinstance(leaves.code, int):
            return leaves.code or 0
        print(leaves.code, file=sys.stderr)
        return 1
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next
        sys.stdout.flush()
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        return 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _wait_for_threads() -> None:
    """As Python does at its end: threads may compile, too."""
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()


def _summary(met: Sequence[Compilation]) -> Iterator[str]:
    """A table: each function with its compilations and seconds, the slowest first, and its reasons below."""
    if not met:
        yield "nothing was compiled"
        return
    by_function: dict[tuple[str, str], list[Compilation]] = {}
    for c in met:
        by_function.setdefault((c.function, c.defined or ""), []).append(c)
    found = sorted(by_function.items(), key=lambda item: -sum(c.total for c in item[1]))
    rows = [("function", "compiled", "cached", "seconds", "defined at")]
    for (name, line), mine in found:
        made = sum(c.source == "compiled" for c in mine)
        rows.append((name, str(made), str(len(mine) - made), f"{sum(c.total for c in mine):.3f}", line))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    reasons = [dict.fromkeys(r for c in mine for r in c.reasons) for _, mine in found]
    for row, why in zip(rows, [{}, *reasons], strict=True):
        name, *numbers, line = row
        counts = [n.rjust(w) for n, w in zip(numbers, widths[1:], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *counts, line]).rstrip()
        yield from (f"    again: {r}" for r in [*why][:_MOST_REASONS])
        if (more := len(why) - _MOST_REASONS) > 0:
            yield f"    and {counted(more, 'more reason')}"
    yield f"{counted(len(met), 'program')}, {sum(c.total for c in met):.3f} s to make them"


_MOST_REASONS = 5


# -- doctor -----------------------------------------------------------------------------------------------------------


def _doctor(options: argparse.Namespace) -> int:
    good = True
    for name, check in _CHECKS:
        try:
            found = check()
            print(f"  ok       {name:<22} {found}")
        except _MissingError as missing:
            print(f"  missing  {name:<22} {missing}")
        except Exception as error:
            good = False
            print(f"  BROKEN   {name:<22} {type(error).__name__}: {error}")
    return 0 if good else 1


class _MissingError(Exception):
    """Not there, and not needed; the text says what it is for and how to get it."""


def _python() -> str:
    return f"{platform.python_version()} at {sys.executable}"


def _package(name: str, purpose: str) -> Callable[[], str]:
    def check() -> str:
        try:
            module = importlib.import_module(name)
        except ImportError:
            raise _MissingError(f"{purpose}: pip install {name}") from None
        return f"{module.__version__}"

    return check


def _runtime() -> str:
    text = f"{_native.num_threads()} threads, matrix products by {_native.blas_name()}"
    if _native.lapack_name() is None:
        text += "; no LAPACK, so no xt.linalg: build with OpenBLAS (pip install scipy-openblas32)"
    return text


def _bindings() -> str:
    context()
    return f"loaded from {Path(mlir().__file__).parent}"


def _cpu() -> str:
    x = array(np.arange(4, dtype="f4"), "i")
    y = jit(lambda x: x * x + 1.0)(x)
    if y.values.tolist() != [1.0, 2.0, 5.0, 10.0]:
        raise RuntimeError(f"compiled code gave {y.values.tolist()} for [1, 2, 5, 10]")
    caches = ", ".join(f"L{i} {n // 1024} KiB" for i, n in enumerate(compiler().host_caches(), 1))
    return f"compiles and runs ({platform.machine()}, {os.cpu_count()} cores, caches of a core: {caches})"


def _target(name: str) -> Callable[[], str]:
    def check() -> str:
        if not _native.device_count(name):
            raise _MissingError(f"programs run on the CPU; for {name} devices: {_native.device_error()}")
        found = []
        for d in of_backend(name):
            y = jit(lambda x: x * x + 1.0, device=d.name)(array([0.0, 1.0, 2.0, 3.0], "i", dtype="f4"))
            if y.values.tolist() != [1.0, 2.0, 5.0, 10.0]:
                raise RuntimeError(f"compiled code gave {y.values.tolist()} for [0, 1, 2, 3] on {d.name}")
            found.append(f"{d.description}, {d.driver}")
        return f"compiles and runs ({'; '.join(found)})"

    return check


def _cache() -> str:
    found = cache.directory()
    if found is None:
        raise _MissingError("compiled objects are kept in memory only: unset XTENSOR_CACHE_DIR, or name a folder")
    Path(found).mkdir(parents=True, exist_ok=True)
    sizes = []
    for path in Path(found).rglob("*.o"):
        with suppress(FileNotFoundError):  # another process made room
            sizes.append(path.stat().st_size)
    return f"{found}: {len(sizes)} objects, {sum(sizes) / 1e6:.1f} MB"


def _opt() -> str:
    found = shutil.which("xtensor-opt") or shutil.which("xtensor-opt", path=str(Path(sys.executable).parent))
    if not found:
        raise _MissingError("runs passes on text; built by `make setup`, found on PATH")
    return found


_CHECKS: list[tuple[str, Callable[[], str]]] = [
    ("Python", _python),
    ("NumPy", _package("numpy", "arrays")),
    ("runtime", _runtime),
    ("MLIR bindings", _bindings),
    ("target cpu", _cpu),
    ("target vulkan", _target("vulkan")),
    ("target metal", _target("metal")),
    ("target cuda", _target("cuda")),
    ("cache", _cache),
    ("xarray", _package("xarray", "DataArrays in and out")),
    ("xtensor-opt", _opt),
]


def _devices(options: argparse.Namespace) -> int:
    rows = [("device", "name", "driver", "what it has"), ("cpu", processor(), "", f"{_native.num_threads()} threads")]
    notes = []
    for backend in BACKENDS:
        there = of_backend(backend)
        for d in there:
            rows.append((d.name, d.description, d.driver, f"{d.memory_bytes / 2**30:.1f} GiB: {', '.join(d.features)}"))
        if not there:
            notes.append(f"{backend:<8}  not here: {_native.device_error()}")
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print("  ".join([*(x.ljust(n) for x, n in zip(row, widths, strict=False)), row[3]]))
    print(*notes, sep="\n")
    return 0
