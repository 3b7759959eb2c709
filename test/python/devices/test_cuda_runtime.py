"""runtime/Cuda against cuda_driver.c, a driver for tests that runs PTX on the CPU: no GPU is needed.

With a GPU, XTENSOR_TEST_DEVICE=cuda runs the whole suite there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from places import HELPERS
from tiers import count

HERE = Path(__file__).resolve().parent
Run = Callable[..., str]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("clang-22") or shutil.which("clang")
    if not compiler:
        pytest.skip("no clang to build cuda_driver.c with")
    built = str(tmp_path_factory.mktemp("cuda") / "libcuda.so.1")
    sources = [str(HELPERS / name) for name in ("cuda_driver.c", "ptx.c", "ptx_run.c")]
    # Sums and products are what they say.
    flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", built, *sources, "-lm", "-lpthread"], check=True)
    return built


def environment(driver: str, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(HERE), str(HELPERS), os.environ.get("PYTHONPATH", "")])
    left = {k: v for k, v in os.environ.items() if k not in ("XTENSOR_TEST_DEVICE", "XTENSOR_DEVICE")}
    return {**left, "PYTHONPATH": path, "XTENSOR_CUDA_LIBRARY": driver, "XTENSOR_TEST_BACKEND": "cuda", **more}


def finished(driver: str, *arguments: object, timeout: int = 600, **more: str) -> str:
    """What a fresh Python prints that has a CUDA device, and ends well."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment(driver, **more),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def run(driver: str) -> Run:
    """Runs code in a fresh process that has a CUDA device; gives what it prints."""
    head = """
import ctypes, os, numpy as np
from device_abi import *
VALUES = np.arange(N, dtype=np.float32)
cuda = ctypes.CDLL(os.environ["XTENSOR_CUDA_LIBRARY"])
LAUNCHES, GRAPHS, GRAPH_LAUNCHES, GRAPHS_ALIVE, MODULES_ALIVE = range(5)
LOSE_ON_LAUNCH, NO_MEMORY, NO_ANSWER, NO_GRAPH, OLD_DRIVER = range(5)
cuda.fault_set.argtypes = [ctypes.c_int, ctypes.c_long]
count = cuda.count_of
def attempt(f, *args):
    try: return f(*args)
    except OSError as e: print(e)
"""

    def started(code: str, library: str = driver, **more: str) -> str:
        first = head if library == driver else "from device_abi import *\n"
        return finished(library, "-c", first + code, timeout=300, **more).strip()

    return started


@pytest.mark.full("an interpreter of PTX runs what runs on Vulkan")
def test_everything_that_vulkan_does(driver: str) -> None:
    """Memory, calls, replays, reports and threads, as test_device_runtime.py says it of Vulkan."""
    said = finished(driver, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(HERE / "test_device_runtime.py"))
    assert "3 skipped" in said


class TestGraphs:
    CODE = """
d = Device(); add = kernel(); run = program()
a, b = d.array(VALUES), d.alloc(4 * N)
def call(times):
    recording, status = d.begin(run, [a, b])
    if recording:
        for i in range(times): d.add(add, a if i == 0 else b, b, N)
        d.end()
    assert status.code == 0, error()
"""

    def test_a_call_that_is_made_again_is_one_graph(self, run: Run) -> None:
        said = run(
            self.CODE
            + """
for turn in range(5):
    before = count(LAUNCHES), count(GRAPHS), count(GRAPH_LAUNCHES)
    submissions = d.counters.submissions
    call(4)
    print(*(count(i) - b for i, b in zip(range(3), before)), d.counters.submissions - submissions)
assert (d.read(b, N) == VALUES + 4).all()
library().xt_program_forget(ctypes.byref(run)); library().xt_kernel_forget(ctypes.byref(add))
print(count(GRAPHS_ALIVE), count(MODULES_ALIVE))
"""
        )
        # Sent one by one; then recorded (launches that are not run) and sent; then sent.
        assert said.splitlines() == ["4 0 0 1", "4 1 1 1", "0 0 1 1", "0 0 1 1", "0 0 1 1", "0 0"]

    def test_one_kernel_needs_no_graph(self, run: Run) -> None:
        said = run(
            self.CODE + "for turn in range(4): call(1)\nprint(count(LAUNCHES), count(GRAPHS), d.counters.replays)"
        )
        assert said == "4 0 3"

    def test_a_graph_that_cannot_be_made(self, run: Run) -> None:
        said = run(
            self.CODE
            + """
call(4); cuda.fault_set(NO_GRAPH, 0)
recording, status = d.begin(run, [a, b])
assert not recording and status.code == 3
print(error())
cuda.fault_set(NO_GRAPH, -1)
call(4)
assert (d.read(b, N) == VALUES + 4).all()
"""
        )
        assert said == "PTX on the CPU: making a graph failed: CUDA_ERROR_OUT_OF_MEMORY (as the test wants it)"


class TestFailures:
    def test_a_lost_device(self, run: Run) -> None:
        said = run("""
d = Device(); a = d.array(VALUES); add = kernel(); run = program(reports=True)
d.begin(run, [a, a]); d.add(add, a, a, N); d.end()
ticket = library().xt_call_ticket()
cuda.fault_set(LOSE_ON_LAUNCH, 0)
recording, status = d.begin(program(), [a, a]); d.add(add, a, a, N); d.end()
assert recording and status.code == 3
print(error())
attempt(d.read, a, N); attempt(d.write, a, VALUES); attempt(d.copy, a, a + 400, 4); attempt(d.alloc, 4)
attempt(d.synchronize)
assert library().xt_ticket_wait(ticket, ctypes.byref(Status())) == 1
library().xt_ticket_release(ticket)
d.free(a, 4 * N); d.trim()
attempt(Device)
""")
        lost = "PTX on the CPU: the driver lost the device (CUDA_ERROR_ILLEGAL_ADDRESS); its arrays are gone"
        assert said.count(lost) == 7

    def test_a_kernel_that_writes_where_nothing_is(self, run: Run) -> None:
        said = run("""
d = Device(); a = d.array(VALUES)
d.begin(program(), [a, a]); d.add(kernel(), a, a, 1 << 24); d.end()
attempt(d.read, a, N)
""")
        assert "lost the device (CUDA_ERROR_ILLEGAL_ADDRESS)" in said

    def test_no_memory(self, run: Run) -> None:
        said = run("""
d = Device(); a = d.array(VALUES)
cuda.fault_set(NO_MEMORY, 0)
attempt(d.alloc, 64 << 20)
_, status = d.begin(program(), [a, a]); assert library().xt_call_arena(64 << 20) is None; d.end()
assert (status.code, status.size) == (2, 64 << 20)
cuda.fault_set(NO_MEMORY, -1)
d.free(d.alloc(64 << 20), 64 << 20)
assert (d.read(a, N) == VALUES).all()
""")
        assert said.startswith("PTX on the CPU: no memory for 67108864 bytes; it has")

    def test_no_answer(self, run: Run) -> None:
        said = run(
            """
d = Device(); a = d.array(VALUES)
d.begin(program(), [a, a]); d.add(kernel(), a, a, N); d.end()
cuda.fault_set(NO_ANSWER, 0)
attempt(d.read, a, N)
cuda.fault_set(NO_ANSWER, -1)
assert (d.read(a, N) == VALUES + 1).all()
""",
            XTENSOR_DEVICE_TIMEOUT="0.3",
        )
        assert said == "PTX on the CPU: no answer within 0.3 seconds (XTENSOR_DEVICE_TIMEOUT)"

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ("kernel(code=bytes(400))", "the code of kernel main (400 bytes) is not PTX"),
            ("kernel(code=b'')", "(0 bytes) is not PTX"),
            ("kernel(code=b'.version 7.0')", "(12 bytes) is not PTX"),
            ("kernel(code=b'.version 7.0\\nwhat\\0')", "CUDA_ERROR_INVALID_PTX"),
            ("kernel(code=b'.version 7.0\\nwhat\\0')", "(not understood: what)"),
            ("kernel(name=b'other')", "making kernel other failed: CUDA_ERROR_NOT_FOUND"),
            ("changed('buffers', 65)", "has 65 buffers, the limit is 64"),
            ("changed('numbers', 897)", "has 897 numbers, the limit is 896"),
            ("changed('threads', (ctypes.c_int32 * 3)(2048, 1, 1))", "2048 threads in dimension 0, the limit is 1024"),
            ("changed('threads', (ctypes.c_int32 * 3)(64, 64, 1))", "workgroups of 4096 threads, the limit is 1024"),
            (
                "changed('threads', (ctypes.c_int32 * 3)(32, 1, 1))",
                "starting a kernel failed: CUDA_ERROR_INVALID_VALUE",
            ),
        ],
    )
    def test_a_kernel_that_cannot_run(self, run: Run, change: str, words: str) -> None:
        said = run(f"""
def changed(name, value):
    made = kernel(); setattr(made, name, value); return made
d = Device(); a = d.array(VALUES)
_, status = d.begin(program(), [a, a])
d.launch({change}, [a, a], [N, bits(1), 1], (16, 1, 1)); d.end()
assert status.code == 3
print(error())
_, status = d.begin(program(), [a, a]); d.add(kernel(), a, a, N); d.end()
assert status.code == 0 and (d.read(a, N) == VALUES + 1).all()
""")
        assert said.startswith("PTX on the CPU: ")
        assert words in said

    def test_a_launch_that_is_refused(self, run: Run) -> None:
        said = run("""
d = Device(); a = d.array(VALUES)
def refused(launch):
    _, status = d.begin(program(), [a, a]); launch(); d.end()
    assert status.code == 3
    print(error())
refused(lambda: d.launch(kernel(), [a, a], [N, bits(1), 1], (1, 1, 65536)))
refused(lambda: d.launch(kernel(), [a, a + 4], [N, bits(1), 1], (1, 1, 1)))
refused(lambda: d.launch(kernel(), [a, 16], [N, bits(1), 1], (1, 1, 1)))
refused(lambda: library().xt_call_copy(a, a + 4, 8))
sizes = (ctypes.c_int64 * 2)(4 * N, 1 << 20)
def long():
    library().xt_call_extents(sizes); d.add(kernel(), a, a, N)
refused(long)
assert (d.read(a, N) == VALUES).all()
d.begin(program(), [a, a]); d.add(kernel(), a, a, N)
attempt(d.read, a, N); attempt(d.copy, a, a + 400, 400)
d.end()
assert (d.read(a, N) == VALUES + 1).all()
""")
        words = ["65536 workgroups in dimension 2, the limit is 65535", "which is not a multiple of 16",
                 "not memory of this device", "overlaps itself", "reach beyond their array",
                 "between calls", "between calls"]  # fmt: skip
        assert all(word in line for word, line in zip(words, said.splitlines(), strict=True)), said

    def test_a_driver_older_than_the_code(self, run: Run) -> None:
        said = run("""
d = Device(); a = d.array(VALUES)
cuda.fault_set(OLD_DRIVER, 0)
_, status = d.begin(program(), [a, a]); d.add(kernel(), a, a, N); d.end()
print(status.code, error())
""")
        assert "its driver (CUDA 12.9) is older than the code, which is for compute capability 8.0" in said

    def test_a_gpu_that_is_too_old(self, run: Run) -> None:
        said = run("cuda.set_capability(61)\nattempt(Device)")
        assert said == "PTX on the CPU has compute capability 6.1; code is made for 7.0 and newer"


class TestNoDriver:
    CODE = "print(library().xt_device_count(b'cuda'), error())"

    def test_nothing_to_load(self, run: Run) -> None:
        said = run(self.CODE, library="/nowhere/libcuda.so.1")
        assert said.startswith("0 the driver of NVIDIA GPUs cannot be loaded: /nowhere/libcuda.so.1")

    def test_another_library(self, run: Run) -> None:
        assert run(self.CODE, library="libm.so.6").startswith("0 libm.so.6 has no cuInit: a driver for CUDA 11.4")

    def test_no_gpu(self, run: Run) -> None:
        said = run(self.CODE, CUDA_VISIBLE_DEVICES="")
        assert said.startswith("0 the driver of NVIDIA GPUs is here, but no GPU that it may use")


PROGRAMS = """
import sys, numpy as np, xtensor as xt
from xtensor.base import tree
from test_ptx import PROGRAMS
rng = np.random.default_rng(0)
def given(s, like):
    shape = [n or 7 for n in s.shape]
    name = s.dtype.name
    if name == "bool": v = rng.integers(0, 2, shape).astype(bool)
    elif like.startswith(("gather", "scatter", "switch")) and "int" in name: v = rng.integers(0, 3, shape)
    elif "int" in name: v = rng.integers(1, 50, shape)
    else: v = rng.uniform(0.05, 0.95, shape)
    return xt.array(v, dims=s.dims).astype(name)
wanted = sys.argv[1:] or list(PROGRAMS)
for name in wanted:
    f, specs = PROGRAMS[name]
    args = [given(s, name) for s in specs]
    want = tree.leaves(xt.jit(f)(*args))
    there = xt.jit(f)
    for turn in range(3):
        got = tree.leaves(there(*(a.to("cuda") for a in args)))
        for g, w in zip(got, want, strict=True):
            assert g.device == "cuda"
            kind = w.dtype.name
            a, b = (np.asarray(x.to("cpu").astype("f8") if "float" in kind else x) for x in (g, w))
            if a.dtype.kind == "f":
                tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5}.get(kind, 1e-12)
                scale = np.nanmax(np.abs(b), initial=1e-3, where=np.isfinite(b))
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, err_msg=name)
            else:
                np.testing.assert_array_equal(a, b, err_msg=name)
    print("good", name, flush=True)
"""

SOME = """softmax f4,softmax bfloat16,layer_norm f8,layer_norm f2,reductions f4,reductions i8,reductions u1,cumsum f4,\
cumsum i4,argmax f4,bits u2,divide i2,divide u8,cast f4,cast i8,cast f8,cast bfloat16,sin f4,exp f8,pow f4,erf f2,bool,\
transpose,slices,concat,pad,roll,gather,gather small indices,scatter,sort,scan small,cond,cond small,switch,while,\
fori_loop,dynamic sizes,rolling,attention,cholesky between kernels,matmul f2,matmul f4,gradient,\
scatter add f4,scatter add f8,scatter max f4,scatter max u8,scatter min i4,scatter min f8,scatter multiply i1,\
scatter rows"""


def test_programs_give_what_they_give_on_the_cpu(driver: str) -> None:
    """Compiled to PTX and run by the interpreter, three times each: once recorded, then replayed."""
    names = SOME.split(",")[:: count(3, 1)]
    said = finished(driver, "-c", PROGRAMS, *names)
    assert said.count("good") == len(names)


def test_indices_out_of_range_are_told(driver: str) -> None:
    code = """
import numpy as np, xtensor as xt
f = xt.jit(lambda x, i: x.isel(a=i) * 2)
x = xt.array(np.arange(40000, dtype="f4"), dims="a").to("cuda")
good, bad = (xt.array(np.array(i), dims="k").to("cuda") for i in ([0, -1, 39999], [0, 40000, 3]))
for turn in range(3):
    assert f(x, good).values.tolist() == [0, 79998, 79998]
    y = f(x, bad) + 1
    try: y.values
    except xt.IndexError as e: print(e)
"""
    said = finished(driver, "-c", code, timeout=100)
    assert said.count("index 40000") == 3


def test_counts_of_shifts_of_all_sizes(driver: str) -> None:
    """shl.b64 and shr.b64 read 32 bits of a count: no guard against larger ones may be lost on the way to them."""
    code = """
import numpy as np, xtensor as xt
counts = [0, 1, 31, 32, 63, 64, 65, 2**31 - 1, 2**32 - 1, 2**32, 2**32 + 3, 2**33 + 63, -1, -2**63, 2**63 - 1]
pairs = np.array([(x, n) for x in (5, -7, 2**62 + 1, -2**63) for n in counts])
for dtype in ("i8", "u8", "i4", "u4"):
    x, n = (xt.array(column.astype(dtype), dims="a") for column in pairs.T)
    bits = 8 * x.dtype.itemsize
    places = [int(v) for v in n.values]
    kept = [0 <= v < bits for v in places]
    left = [int(v) << c if k else 0 for v, c, k in zip(x.values, places, kept)]
    right = [int(v) >> (c if k else bits) for v, c, k in zip(x.values, places, kept)]
    for f, want in ((lambda x, n: x << n, left), (lambda x, n: x >> n, right)):
        want = np.array([v % 2**bits for v in want], np.uint64).astype(f"u{bits // 8}").astype(dtype)
        for there in ("cpu", "cuda"):
            np.testing.assert_array_equal(xt.jit(f)(x.to(there), n.to(there)).values, want, f"{dtype} {there}")
print("good")
"""
    assert finished(driver, "-c", code, timeout=100).strip() == "good"


def test_scans_down_columns_of_open_length(driver: str) -> None:
    """Their loops say what ptxas shall do with them (.pragma)."""
    code = """
import numpy as np, xtensor as xt
rng = np.random.default_rng(0)
for dtype in ("f4", "i8"):
    x = xt.array(rng.integers(-9, 9, (5000, 3)).astype(dtype), dims=("a", "b"))
    f = xt.jit(lambda x: xt.cumsum(x, "a"), dynamic_dims="a")
    assert ".pragma" in f.lower(x, device="cuda").as_text("ptx")
    np.testing.assert_array_equal(f(x.to("cuda")).values, np.cumsum(x.values, axis=0))
print("good")
"""
    assert finished(driver, "-c", code, timeout=100).strip() == "good"


REVERSED = "import ctypes, os; ctypes.CDLL(os.environ['XTENSOR_CUDA_LIBRARY']).run_reversed(1)\n"


def test_threads_in_any_order(driver: str) -> None:
    """A barrier that is missing between threads shows when the last one goes first."""
    code = REVERSED + PROGRAMS
    some = [
        "softmax f4",
        "reductions f4",
        "cumsum i4",
        "argmax f4",
        "scan small",
        "while",
        "sort",
        "gradient",
        "matmul f4",
    ]
    said = finished(driver, "-c", code, *some)
    assert said.count("good") == len(some)


MATRIX_UNITS = """
import sys
import numpy as np, xtensor as xt
rng = np.random.default_rng(5)
dtype = sys.argv[1]
wide = lambda x: x.astype("f8").values
def integers(**sizes):  # whose sums are exact in both kinds of half precision
    return xt.array(rng.integers(-1, 2, tuple(sizes.values())), dims=tuple(sizes)).astype(dtype)
def numbers(**sizes):
    return xt.array(rng.standard_normal(tuple(sizes.values())), dims=tuple(sizes)).astype(dtype)
def run(f, *args, **options):
    text = xt.jit(f, **options).lower(*args, device="cuda").as_text("ptx")
    kind = {"float16": "f16", "bfloat16": "bf16"}[dtype]
    assert f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32" in text, text
    return xt.jit(f, **options)(*(a.to("cuda") for a in args))
def exact(got, want):
    assert got.dtype.name == dtype, got.dtype
    np.testing.assert_array_equal(wide(got), want)
for left, right, spec in [
    (dict(i=64, k=64), dict(k=64, j=128), "ik,kj->ij"),  # whole tiles
    (dict(k=64, i=128), dict(j=64, k=64), "ki,jk->ij"),  # both across
    (dict(k=48, i=72), dict(k=48, j=40), "ki,kj->ij"),   # 16 bytes at once, parts of tiles
    (dict(i=70, k=37), dict(k=37, j=93), "ik,kj->ij"),   # nothing that lies on multiples
    (dict(k=38, i=33), dict(j=67, k=38), "ki,jk->ij"),
    (dict(n=3, i=40, k=20), dict(n=3, k=20, j=50), "nik,nkj->nij"),
    (dict(p=2, n=3, i=20, k=30), dict(k=30, q=5, j=10), "pnik,kqj->pniqj"),
]:
    a, b = integers(**left), integers(**right)
    batch = set(left) & set(right) - {"k"}
    f = lambda a, b: xt.dot(a, b, dim="k") if batch else a @ b
    exact(run(f, a, b), np.einsum(spec, wide(a), wide(b)))
a, b = integers(i=70, k=45), integers(k=45, j=93)
exact(run(lambda a, b: a @ b, a, b, dynamic_dims=("i", "j", "k")), wide(a) @ wide(b))
a, b, bias, rest = integers(i=80, k=45), integers(k=45, j=96), integers(j=96), integers(i=80, j=96)
sums = wide(a) @ wide(b)
exact(run(lambda a, b, v, r: xt.maximum(a @ b + v, 0) + r, a, b, bias, rest),
      np.maximum(sums + wide(bias), 0) + wide(rest))
y, z = run(lambda a, b, v: (a @ b, a @ b * v), a, b, bias)
exact(y, sums)
exact(z, sums * wide(bias))
deep = [integers(k=3000, i=32) * 0.0625, integers(k=3000, j=32)]  # several workgroups per tile
got, want = run(lambda a, b: a @ b, *deep), wide(deep[0]).T @ wide(deep[1])
np.testing.assert_allclose(wide(got), want, rtol={"float16": 1e-3, "bfloat16": 8e-3}[dtype])
a, b = numbers(i=96, k=200), numbers(k=200, j=64)  # one rounding, of the sum
got, want = run(lambda a, b: a @ b, a, b), wide(a) @ wide(b)
unit = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8}[dtype]
assert (abs(wide(got) - want) <= unit * abs(want) * 1.01 + 1e-4).all()
print("good")
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "order", ["", "import ctypes, os; ctypes.CDLL(os.environ['XTENSOR_CUDA_LIBRARY']).run_reversed(1)"]
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_units_that_multiply_matrices(driver: str, dtype: str, order: str) -> None:
    """mma.sync and ldmatrix, with the layouts of the PTX ISA, against NumPy: sums of small integers are exact."""
    said = finished(driver, "-c", order + MATRIX_UNITS, dtype)
    assert said.strip() == "good"


RANDOM = """
import numpy as np
import xtensor as xt

def draw(key):
    r = xt.random
    return r.bits(key, a=7, b=9), r.uniform(key, a=7, b=9, dtype="f4"), r.normal(key, a=7, dtype="f4")

key = xt.random.split(xt.random.key(5), sample=3)
there = xt.jit(draw, device="cuda")(key)
for x, y in zip(there, draw(key)):
    assert x.device == "cuda" and y.device == "cpu"
    np.testing.assert_allclose(x.values, y.values, rtol=1e-6 if x.dims[-1] == "a" else 0)
print("good")
"""


def test_random_numbers_are_those_of_the_cpu(driver: str) -> None:
    assert finished(driver, "-c", RANDOM).strip() == "good"
