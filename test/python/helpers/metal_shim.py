"""Metal without a Mac: test/metal, a library that answers for Metal and runs kernels on the CPU, built when it is first
asked for. The runtime loads it where XTENSOR_METAL_LIBRARY says."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from places import ROOT

SOURCES = ROOT / "test" / "metal"


def compiler() -> str | None:
    """Clang 16 or newer: it has address spaces in C++ and _Float16."""
    return next((found for name in ("clang++-22", "clang++") if (found := shutil.which(name))), None)


@functools.cache
def built() -> Path:
    """The library. Kernels that it compiles are kept beside it."""
    clang = compiler()
    if clang is None:
        raise RuntimeError("no clang++ to compile kernels for the CPU with (Debian: clang-22)")
    files = [*sorted(SOURCES.glob("*.[ch]*")), *sorted((ROOT / "runtime" / "Metal").glob("Api.h"))]
    command = [clang, "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
    command += [f"-I{ROOT / 'runtime' / 'Metal'}", f"-I{ROOT / 'runtime'}"]
    # A kernel takes 30 ms to compile, and as long again to link with the usual linker.
    linker = next((found for name in ("ld.lld-22", "ld.lld") if (found := shutil.which(name))), None)
    compile_kernels = f"{clang} --ld-path={linker}" if linker else clang
    command += [f'-DMETAL_SHIM_HEADERS="{SOURCES / "include"}"', f'-DMETAL_SHIM_COMPILER="{compile_kernels}"']
    key = hashlib.sha256("\0".join([*command, *(f.read_text() for f in files)]).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"xtensor-metal-shim-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"metal-{key}.so"
    if not library.exists():
        own = library.with_suffix(f".{os.getpid()}.so")
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        subprocess.run([*command, *map(str, SOURCES.glob("*.cpp")), "-o", str(own)], check=True, env=environment)
        own.rename(library)
    os.environ.setdefault("XTENSOR_METAL_SHIM_CACHE", str(folder))
    return library


def text_or_reason(f: Any, *specs: Any) -> str:
    """The kernels of a program; skips where SPIRV-Cross is missing."""
    try:
        return xt.jit(f).lower(*specs, device="metal").as_text("msl")
    except xt.CompileError as error:
        if "SPIRV-Cross" not in str(error):
            raise
        pytest.skip(str(error).splitlines()[0])
