"""The debug mode of memory: what no program wrote is NaN, and a write outside of a result is an error."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xtensor as xt
from places import COMPILER, ROOT
from xtensor._native import ArrayType, Executable

pytestmark = pytest.mark.cpu_only("code in C, called on the memory of the CPU")

SOURCE = r"""
#include <stdint.h>
typedef struct { int32_t code, site; int64_t index, size; } status;
void *xt_arena_acquire(int64_t bytes);
void xt_arena_release(void *p);
void xt_begin_call(status *s);
void nothing(void **b, const int64_t *n, status *s) {}
void one_behind(void **b, const int64_t *n, status *s) { for (int i = 0; i < 4; ++i) ((float *)b[1])[i] = 0; }
void one_before(void **b, const int64_t *n, status *s) { ((int8_t *)b[0])[-1] = 0; }
void behind_temporaries(void **b, const int64_t *n, status *s) {
  xt_begin_call(s);
  char *p = xt_arena_acquire(100);
  p[100] = 1;
  xt_arena_release(p);
}
"""
TYPES = ("bool", "int8", "uint16", "int64", "float16", "bfloat16", "float32", "float64")


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    folder = tmp_path_factory.mktemp("code")
    (folder / "code.c").write_text(SOURCE)
    maps = Path("/proc/self/maps").read_text().split()
    runtime = next(path for path in maps if "libxtensor_runtime" in path)
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "code.c", runtime, "-o", "code.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "code.so"))
    names = ("nothing", "one_behind", "one_before", "behind_temporaries")
    return {n: ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0 for n in names}


def test_what_is_not_written_is_conspicuous(code: dict[str, int]) -> None:
    types = [ArrayType(t, ("a",), (5,)) for t in TYPES]
    for y in Executable(code["nothing"], [], types).run([]):
        assert (y.values.view("u1") == 0xFF).all()
        assert "float" not in y.dtype.name or np.isnan(y.values.astype("f8")).all()


def test_a_write_outside_of_a_result_names_program_and_result(code: dict[str, int]) -> None:
    results = [ArrayType("int8", ("a",), (3,)), ArrayType("float32", ("a",), (3,))]
    with pytest.raises(RuntimeError, match=r"loss wrote outside of result 1, .*float32.*: byte 12 of 12 bytes"):
        Executable(code["one_behind"], [], results, name="loss").run([])
    with pytest.raises(RuntimeError, match=r"compiled code wrote outside of result 0, .*int8.*: byte -1 of 3 bytes"):
        Executable(code["one_before"], [], results[:1], unwrap=True).run([])


def test_a_write_outside_of_temporaries_is_an_error(code: dict[str, int]) -> None:
    with pytest.raises(RuntimeError, match=r"outside of its temporaries: byte 100 of 100 bytes"):
        Executable(code["behind_temporaries"], [], []).run([])


def _run(source: str, mode: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"XTENSOR_DEBUG_MEMORY": mode}
    return subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("size", [1, 7, 64, 1000, 1 << 20])
def test_a_damaged_array_ends_the_process_when_it_is_freed(size: int) -> None:
    source = (
        "import ctypes, xtensor\n"
        "from xtensor._native import ArrayType, empty\n"
        f"x = empty(ArrayType('int8', ('a',), ({size},)))\n"
        f"ctypes.memset(x._pointer + {size}, 0, 1)\n"
        "del x\n"
    )
    done = _run(source, "1")
    assert done.returncode < 0
    assert f"byte {size} of a block of {size} bytes was written" in done.stderr


def test_it_is_off_unless_asked_for() -> None:
    source = "import xtensor as xt; from xtensor._native import ArrayType, empty\n"
    source += "p = {empty(ArrayType('int8', ('a',), (4 << 20,)))._pointer % (2 << 20) for _ in range(3)}; print(p)"
    for mode in ("", "0"):
        assert _run(source, mode).stdout == "{0}\n"  # whole blocks of 2 MB pages


def test_the_runtime_without_it() -> None:
    """Where blocks lie, and what is kept of them: by the tests of memory, which see no guards then."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test/python/native/test_runtime.py", "-k", "TestMemory"],
        env=os.environ | {"XTENSOR_DEBUG_MEMORY": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout, done.stdout


@pytest.mark.parametrize("size", [0, 1, 3, 65, 100_001, (4 << 20) + 1])
def test_programs_of_ours_keep_to_their_results(size: int) -> None:
    x = np.arange(size, dtype="f4")
    f = xt.jit(lambda x: (x.astype("i1"), x > 3, xt.cumsum(x), x[::-1].astype("f2")), dynamic_dims="i")
    small, above, total, back = f(xt.array(x, "i"))
    np.testing.assert_array_equal(above.values, x > 3)
    np.testing.assert_allclose(total.values, np.cumsum(x.astype("f8")), rtol=1e-3)
    assert small.shape == back.shape == (size,)
