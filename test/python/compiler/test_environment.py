"""Environment variables: every one of ours that takes a number or a switch refuses what is none."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import xtensor as xt
from places import ROOT
from xtensor.base import environment

NONSENSE = {
    "XTENSOR_NUM_THREADS": ("abc", "0", "-1", "2.5", "", "٣", "1 "),
    "XTENSOR_CACHE_BYTES": ("abc", "-1", "1e9", "", "4G", "9" * 40),
    "XTENSOR_CPU_WITHOUT": ("abc", "amx avx512bf16", ",", "amx=1"),
    "XTENSOR_DEVICE": ("abc", "-1", "vulkan", "vulkan:1", "0x1", "9" * 40),
    "XTENSOR_DEVICE_MEMORY": ("abc", "-1", "1.5", "", "1GB"),
    "XTENSOR_DEVICE_TIMEOUT": ("x", "-1", "0", "0.0", "", "nan", "inf", "1e3", ".", "1.2.3"),
    "XTENSOR_DEVICE_STAGING": ("yes", "2"),
    "XTENSOR_DEVICE_WITHOUT": ("abc", "i64,abc", "i64 i16", ",", "subgroup=1"),
    "XTENSOR_DEBUG_MEMORY": ("yes", "2"),
    "XTENSOR_WAIT": ("yes", "2", "true"),
    "XTENSOR_VALIDATE": ("yes", "2", "on"),
    "XTENSOR_VERIFY": ("yes", "2"),
}
SENSE = {
    "XTENSOR_NUM_THREADS": ("1", "08", "64"),
    "XTENSOR_CACHE_BYTES": ("0", "1000000"),
    "XTENSOR_CPU_WITHOUT": ("", "amx", "avx512bf16,amx"),
    "XTENSOR_DEVICE": ("", "0", "12"),
    "XTENSOR_DEVICE_MEMORY": ("0", "65536"),
    "XTENSOR_DEVICE_TIMEOUT": ("1", "0.5", ".25", "10.", "0.001"),
    "XTENSOR_DEVICE_STAGING": ("", "0", "1"),
    "XTENSOR_DEVICE_WITHOUT": ("", "i64", "i64,i16,s8", "atomic_f32", "shuffle,subgroup", "specials32", "unit_m"),
    "XTENSOR_DEBUG_MEMORY": ("", "0", "1"),
    "XTENSOR_WAIT": ("", "0", "1"),
    "XTENSOR_VALIDATE": ("", "0", "1"),
    "XTENSOR_VERIFY": ("", "0", "1"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in NONSENSE[name]:
        monkeypatch.setenv(name, value)
        with pytest.raises(
            xt.ArgumentError, match=rf"the environment variable {name} is .*, not {value!r:.80}".replace("\\", ".")
        ):
            environment.check()
    for value in SENSE[name]:
        monkeypatch.setenv(name, value)
        environment.check()


def test_importing_refuses_them() -> None:
    env = os.environ | {"XTENSOR_DEVICE_MEMORY": "abc"}
    done = subprocess.run(
        [sys.executable, "-c", "import xtensor"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"xtensor.*ArgumentError: the environment variable XTENSOR_DEVICE_MEMORY is a number of bytes, such as "
        r"1000000000, not 'abc': change or unset it", last
    )  # fmt: skip


def test_the_table_has_every_variable_that_is_read() -> None:
    sources = [*ROOT.glob("runtime/**/*.cpp"), *ROOT.glob("pyfrontend/**/*.cpp"), *ROOT.glob("pyfrontend/**/*.py")]
    sources += [*ROOT.glob("passes/**/*.cpp"), *ROOT.glob("compiler/*.cpp")]
    read = {
        name for file in sources for name in re.findall(r'(?:getenv\(|environ\.get\()"(XTENSOR_\w+)"', file.read_text())
    }
    assert {"XTENSOR_DEVICE", "XTENSOR_DUMP", "XTENSOR_NUM_THREADS"} < read
    table = set(re.findall(r"^\| `(XTENSOR_\w+)` \|", (ROOT / "docs" / "environment.md").read_text(), re.MULTILINE))
    assert read - table == set()
    assert set(environment._TAKES) <= table


THREADS = """
import os, sys
if sys.argv[1] == "numpy first":
    import numpy
import xtensor as xt
import ctypes, numpy as np
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
left = getenv(b"OPENBLAS_NUM_THREADS")
assert left == os.environb.get(b"OPENBLAS_NUM_THREADS"), left
def number(part, suffix):
    library = next(l.split()[-1] for l in open("/proc/self/maps") if part in l and "openblas" in l)
    return getattr(ctypes.CDLL(library), "scipy_openblas_get_num_threads" + suffix)()
print(number("scipy_openblas32", ""), number("numpy.libs", "64_"))
"""


@pytest.mark.parametrize("order", ["numpy first", "numpy after"])
@pytest.mark.parametrize("asked", [None, "1"])
def test_openblas_of_numpy_has_the_threads_that_the_user_wants(order: str, asked: str | None) -> None:
    """Ours starts with one, so that the import does not wait for threads that spin."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "OMP_", "MKL_"))}
    env |= {"OPENBLAS_NUM_THREADS": asked} if asked else {}
    done = subprocess.run([sys.executable, "-c", THREADS, order], env=env, capture_output=True, text=True, check=True)
    ours, of_numpy = map(int, done.stdout.split())
    assert ours == 1
    assert of_numpy == (int(asked) if asked else min(os.cpu_count() or 1, 64))
