"""Other libraries with an LLVM of their own in one process with xtensor: imported before it, after it, and at once.

    neighbours.py FOLDER torch jax numba llvmlite

FOLDER holds the xtensor that is tried. Each of these is a process of its own:

- A neighbour compiles, xtensor runs smoke.py's checks, and both compile again; the same with xtensor first.
- A neighbour compiles, then xtensor, then another neighbour, in both orders. All compile once more.
- Every library is imported in its own thread, all at one time, and all compile there side by side.
- The same with the system's LLVM, if there is one. Its symbols are global, and so are those of all libraries.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

ROUNDS = 3
SHARED = ("numpy", "pandas", "xarray", "ml_dtypes")


def has_compiler() -> bool:
    """For torch.compile, which makes C++."""
    return shutil.which(os.environ.get("CXX", "g++")) is not None


def compile_with(name: str) -> None:
    """The neighbour compiles something, which was not compiled before, and runs it."""
    module = importlib.import_module(name)
    if name == "jax":
        assert abs(float(module.jit(lambda x: module.numpy.sin(x) * 2)(1.0)) - 1.6829) < 1e-3
    elif name == "torch":
        x = module.ones(3, requires_grad=True)
        module.tanh(x).sum().backward()
        assert abs(float(x.grad[0]) - 0.41997) < 1e-4
        if has_compiler():
            done = module.compile(lambda x: module.sin(x) * 2 + 1)(module.ones(3))
            assert abs(float(done[0]) - 2.6829) < 1e-3
    elif name == "numba":
        assert module.njit(lambda n: 3 * n + 1)(7) == 22
    elif name == "llvmlite":
        binding = importlib.import_module("llvmlite.binding")
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        text = "define i32 @seven() { ret i32 7 }"
        machine = binding.Target.from_default_triple().create_target_machine()
        assert b"seven" in machine.emit_object(binding.parse_assembly(text))
        with binding.create_mcjit_compiler(binding.parse_assembly(text), machine) as engine:
            engine.finalize_object()
            assert ctypes.CFUNCTYPE(ctypes.c_int32)(engine.get_function_address("seven"))() == 7


def compile_with_xtensor(folder: str) -> None:
    """A program and its gradient, LAPACK, and an error whose message comes from MLIR."""
    smoke = importlib.import_module("smoke")
    assert Path(smoke.xt.__file__).is_relative_to(folder), f"{smoke.xt.__file__} is not the one of {folder}"
    smoke.programs_run_and_are_differentiated()
    smoke.openblas_lapack_and_fft_are_inside()
    smoke.errors_say_what_mlir_refuses()


def compile_any(folder: str, name: str) -> None:
    if name == "xtensor":
        compile_with_xtensor(folder)
    else:
        compile_with(name)


def in_turn(folder: str, *names: str) -> None:
    """Each compiles when it is imported, and once more after all are there."""
    for name in (*names, *names):
        compile_any(folder, name)


def beside(folder: str, *names: str) -> None:
    """As in_turn, and xtensor runs all checks."""
    for name in names:
        if name == "xtensor":
            compile_with_xtensor(folder)
            importlib.import_module("smoke").main()
        else:
            compile_with(name)
    in_turn(folder, *names)


def at_once(folder: str, *names: str) -> None:
    """A thread for each, which imports it when all threads are there.

    What all of them import is there before: two threads that import NumPy at once may each find a half of it. Python
    breaks the ring of their locks that way, and NumPy's modules import each other.
    """
    for name in SHARED:
        importlib.import_module(name)
    barrier, failed = threading.Barrier(len(names)), []

    def work(name: str) -> None:
        try:
            barrier.wait()
            for _ in range(ROUNDS):
                compile_any(folder, name)
        except BaseException as error:
            failed.append(name)
            raise error

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, f"in their threads, these failed: {', '.join(failed)}"


def with_global_symbols(folder: str, *names: str) -> None:
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
    for library in system_llvm():
        ctypes.CDLL(library, os.RTLD_NOW | os.RTLD_GLOBAL)
    in_turn(folder, *names)


def system_llvm() -> list[str]:
    return sorted(str(p) for p in Path("/usr/lib").glob("*-linux-gnu/libLLVM*.so*") if not p.is_symlink())


WAYS: dict[str, Callable[..., None]] = {f.__name__: f for f in (beside, in_turn, at_once, with_global_symbols)}


def main(folder: str, *names: str) -> None:
    there = [name for name in names if importlib.util.find_spec(name)]
    for name in set(names) - set(there):
        print(f"  left out: {name} is not installed")
    tried = [("beside", *order) for name in there for order in ((name, "xtensor"), ("xtensor", name))]
    tried += [("in_turn", one, "xtensor", other) for one, other in itertools.permutations(there, 2)]
    tried += [("at_once", "xtensor", *there), *(("at_once", "xtensor", name) for name in there)]
    tried += [("with_global_symbols", *order) for name in there for order in ((name, "xtensor"), ("xtensor", name))]
    if "torch" in there and not has_compiler():
        print("  torch.compile is left out: there is no g++, and CXX names no compiler")
    for way, *order in tried:
        print(f"  {way}: {', '.join(order)}", flush=True)
        subprocess.run([sys.executable, __file__, way, folder, *order], check=True)


if __name__ == "__main__":
    if sys.argv[1] in WAYS:
        # An editable xtensor of the same environment is found by a finder of its own, before all folders.
        sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in getattr(finder, "__module__", "")]
        sys.path.insert(0, sys.argv[2])
        WAYS[sys.argv[1]](*sys.argv[2:])
    else:
        main(*sys.argv[1:])
