"""Other libraries with an LLVM of their own in one process with xtensor: imported before it, and after it.

    neighbours.py FOLDER torch jax numba llvmlite

FOLDER holds the xtensor that is tried. Each order is a process, which lets the neighbour compile, runs smoke.py's
checks, and lets the neighbour compile again.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path


def compile_with(name: str) -> None:
    """The neighbour compiles and runs something."""
    module = importlib.import_module(name)
    if name == "jax":
        assert abs(float(module.jit(lambda x: module.numpy.sin(x) * 2)(1.0)) - 1.6829) < 1e-3
    elif name == "torch":
        x = module.ones(3, requires_grad=True)
        module.tanh(x).sum().backward()
        assert abs(float(x.grad[0]) - 0.41997) < 1e-4
    elif name == "numba":
        assert module.njit(lambda n: 3 * n + 1)(7) == 22
    elif name == "llvmlite":
        binding = importlib.import_module("llvmlite.binding")
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        text = "define i32 @seven() { ret i32 7 }"
        machine = binding.Target.from_default_triple().create_target_machine()
        assert b"seven" in machine.emit_object(binding.parse_assembly(text))


def beside(folder: str, order: str, name: str) -> None:
    # An editable xtensor of the same environment is found by a finder of its own, before all folders.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in getattr(finder, "__module__", "")]
    sys.path.insert(0, folder)
    if order == "before":
        compile_with(name)
    smoke = importlib.import_module("smoke")
    assert Path(smoke.xt.__file__).is_relative_to(folder), f"{smoke.xt.__file__} is not the one of {folder}"
    print(f"{smoke.xt.__file__}, {name} imported {order} it")
    smoke.main()
    compile_with(name)


if __name__ == "__main__":
    if sys.argv[2] in ("before", "after"):
        beside(*sys.argv[1:])
        sys.exit(0)
    folder, *names = sys.argv[1:]
    for name in names:
        if importlib.util.find_spec(name) is None:
            print(f"  left out: {name} is not installed")
            continue
        for order in ("before", "after"):
            subprocess.run([sys.executable, __file__, folder, order, name], check=True)
