"""What devices make of compiled programs goes when the programs go: on Vulkan, and on what stands in for NVIDIA's
driver and for Metal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import HELPERS
from xtensor import _native

pytestmark = pytest.mark.cpu_only("the tests name their devices")

HERE = Path(__file__).resolve().parent
HEAD = """
import gc, os, sys, threading, numpy as np, xtensor as xt
from xtensor.values.devices import named
backend = sys.argv[1]
device = named(backend)
def held():
    gc.collect()
    device.trim()  # waits, and looks what is done with
    return device.counters["kernels_held"]
x = xt.array(np.arange(5000, dtype="f4") % 7, dims="a").to(backend)
def made(k): return xt.jit(lambda x: xt.cumsum(x * k + 1, "a"))
def expected(k): return np.cumsum(x.values * np.float32(k) + 1)
"""


@pytest.fixture(scope="module", params=["vulkan", "cuda", "metal"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """Its name, and the environment in which it is there."""
    if request.param == "vulkan":
        if not _native.device_count("vulkan"):
            pytest.skip("there is no Vulkan driver")
        return "vulkan", {}
    if request.param == "metal":
        import metal_shim

        if sys.platform == "darwin" or metal_shim.compiler() is None:
            pytest.skip("no clang++ to run kernels on the CPU with")
        return "metal", {"XTENSOR_METAL_LIBRARY": str(metal_shim.built())}
    clang = shutil.which("clang-22") or shutil.which("clang")
    if clang is None:
        pytest.skip("no clang to build cuda_driver.c with")
    driver = str(tmp_path_factory.mktemp("cuda") / "libcuda.so.1")
    sources = [str(HELPERS / name) for name in ("cuda_driver.c", "ptx.c", "ptx_run.c")]
    flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([clang, *flags, "-o", driver, *sources, "-lm", "-lpthread"], check=True)
    return "cuda", {"XTENSOR_CUDA_LIBRARY": driver}


def run(backend: tuple[str, dict[str, str]], code: str, *arguments: object) -> None:
    name, environment = backend
    left = {k: v for k, v in os.environ.items() if k not in ("XTENSOR_TEST_DEVICE", "XTENSOR_DEVICE")}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code, name, *map(str, arguments)],
        env={**left, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "SPIRV-Cross" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr


def test_kernels_go_with_their_programs(backend: tuple[str, dict[str, str]]) -> None:
    run(
        backend,
        """
for k in range(30):
    f = made(k)
    y = f(x)
    if k % 3: f(x)  # what is on record goes, too
    if k % 5 == 0: np.testing.assert_array_equal(y.values, expected(k))
    del f  # while it may be running
assert device.counters["kernels"] >= 30
del y
assert held() == 0, held()
if backend == "cuda":
    import ctypes
    driver = ctypes.CDLL(os.environ["XTENSOR_CUDA_LIBRARY"])
    driver.count_of.restype = ctypes.c_long
    assert [driver.count_of(i) for i in (3, 4)] == [0, 0]  # graphs, modules
""",
    )


def test_nobody_has_to_wait_or_look(backend: tuple[str, dict[str, str]]) -> None:
    run(
        backend,
        """
most = 0
for k in range(40):
    made(k)(x).values
    gc.collect()  # functions are cycles
    most = max(most, device.counters["kernels_held"])
assert most <= 6, most  # of two programs
""",
    )


def test_results_outlive_programs_and_a_program_another_function(backend: tuple[str, dict[str, str]]) -> None:
    run(
        backend,
        """
f, g = made(3), made(3)  # one program
y, z = f(x), g(x)
kept = held()
del f
assert held() == kept
np.testing.assert_array_equal(g(x).values, expected(3))
del g
assert held() == 0
np.testing.assert_array_equal(y.values, expected(3))
np.testing.assert_array_equal(made(3)(x).values, expected(3))  # made again
assert (xt.jit(lambda x: xt.array(np.ones(3, "f4"), "b") + x.sum())(x).values > 1).all()
""",
    )


def test_threads_that_call_while_others_let_go(backend: tuple[str, dict[str, str]]) -> None:
    run(
        backend,
        """
wrong = []
def work(first):
    for k in range(first, first + 12):
        if not np.array_equal(made(k)(x).values, expected(k)): wrong.append(k)
threads = [threading.Thread(target=work, args=(10 * i,)) for i in range(3)]  # some share their programs
for t in threads: t.start()
for t in threads: t.join()
assert not wrong, wrong
assert held() == 0, held()
""",
    )


def test_bundles_go_too(backend: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    run(
        backend,
        """
path = sys.argv[2]
xt.export(lambda x: xt.cumsum(x * 3 + 1, "a"), args=(xt.spec(a=5000, dtype="f4"),), targets=device.profile, path=path)
kept = held()
want = expected(3)
for turn in range(4):
    g = xt.load(path)
    y = g(x)
    assert device.counters["kernels_held"] > kept
    del g
    np.testing.assert_array_equal(y.values, want)
del y
assert held() == kept, held()
mapped = open("/proc/self/maps").read()
assert "memfd:xtensor" not in mapped  # nor their code
""",
        tmp_path / "m.xtb",
    )


def test_a_process_that_forked_lets_go_of_nothing(backend: tuple[str, dict[str, str]]) -> None:
    run(
        backend,
        """
f = made(2)
y = f(x)
if os.fork() == 0:
    del f
    gc.collect()
    sys.exit(0)
assert os.wait()[1] == 0
np.testing.assert_array_equal(f(x).values, expected(2))
""",
    )
