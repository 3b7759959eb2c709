"""What goes wrong on a Vulkan device, and what is left then: bad kernels, drivers that fail, no driver at all, files
that are damaged, processes that end."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from device_abi import (
    ADD,
    Device,
    N,
    Status,
    assemble,
    bits,
    error,
    kernel,
    library,
    missing,
    program,
    run_python,
    values,
    watched,
)
from places import HELPERS, ROOT
from tiers import FULL


@pytest.fixture
def device() -> Iterator[Device]:
    yield from watched()


HERE = Path(__file__).resolve().parent
FILES = [HERE / "test_device_runtime.py", *([Path(__file__)] if FULL else [])]


class TestFailures:
    def failing(self, device: Device, made: object, groups: tuple[int, int, int] = (1, 1, 1), shift: int = 0) -> str:
        a = device.array(values())
        _, status = device.begin(program(), [a, a])
        device.launch(made, [a, a + shift], [N, bits(1), 1], groups)
        assert status.code == 3
        said = error()
        device.add(kernel(), a, a, N)  # the rest of the call does nothing
        assert library().xt_call_arena(1000) is None
        host = library().xt_call_map(a, 16, 1)
        assert ctypes.string_at(host, 16) == bytes(16)
        library().xt_call_unmap(a, 16, 1, host)
        device.end()
        assert (device.read(a, N) == values()).all()
        _, status = device.begin(program(), [a, a])
        device.add(kernel(), a, a, N)
        device.end()
        assert status.code == 0
        assert (device.read(a, N) == values() + 1).all()
        device.free(a, 4 * N)
        assert device.info.name.decode() in said
        return said

    def test_code_of_an_impossible_size(self, device: Device) -> None:
        assert "(17 bytes) is not SPIR-V" in self.failing(device, kernel(code=assemble(ADD)[:17]))

    def test_code_that_is_none(self, device: Device) -> None:
        assert "(400 bytes) is not SPIR-V" in self.failing(device, kernel(code=bytes(400)))

    def test_code_of_a_version_to_come(self, device: Device) -> None:
        code = bytearray(assemble(ADD))
        code[5] = 9
        assert "SPIR-V 1.9, the device takes 1." in self.failing(device, kernel(code=bytes(code)))

    def test_too_many_buffers(self, device: Device) -> None:
        made = kernel()
        made.buffers = 1000
        assert f"1000 buffers, the limit is {device.info.max_kernel_buffers}" in self.failing(device, made)

    def test_too_many_numbers(self, device: Device) -> None:
        made = kernel()
        made.numbers = 1000
        assert f"1000 numbers, the limit is {device.info.max_kernel_numbers}" in self.failing(device, made)

    def test_too_many_threads(self, device: Device) -> None:
        made = kernel()
        made.threads[0] = 1 << 20
        assert "1048576 threads in dimension 0, the limit is" in self.failing(device, made)

    def test_too_many_workgroups(self, device: Device) -> None:
        limit = device.info.max_groups[2]
        said = self.failing(device, kernel(), (1, 1, limit + 1))
        assert f"{limit + 1} workgroups in dimension 2, the limit is {limit}" in said

    def test_a_buffer_that_begins_where_none_may(self, device: Device) -> None:
        assert "which is not a multiple of" in self.failing(device, kernel(), shift=4)

    def test_temporaries_over_the_limit(self, device: Device) -> None:
        limit = device.info.max_buffer_bytes
        lib, sizes = library(), (ctypes.c_int64 * 2)(limit + 8, 4)
        if 2 * limit > device.info.memory_bytes:
            pytest.skip(f"{device.info.name.decode()} has no more memory than a buffer may have")
        _, status = device.begin(program(0, 0), [])
        scratch = lib.xt_call_arena(limit + 8)
        assert scratch, error()
        lib.xt_call_extents(sizes)
        device.launch(kernel(), [scratch, scratch], [1, 0, 0], (1, 1, 1))
        assert (status.code, status.size) == (2, limit + 8)
        assert f"has {limit + 8} bytes, the limit is {limit}" in error()
        device.end()
        device.trim()

    def test_idle_memory_is_bounded(self) -> None:
        said = run_python(
            """
d = Device(); add = kernel(); run = program(); size = 4 << 20
kept = d.array(VALUES)
for turn in range(3):
    taken = [d.alloc(size) for _ in range(6)]
    for a in taken:
        recording, status = d.begin(run, [kept, a])
        if recording: d.add(add, kept, a, N); d.end()
        assert status.code == 0
    d.synchronize()
    for a in taken: d.free(a, size)
    assert 8 << 20 < library().xt_device_cached_bytes(d.handle) <= 12 << 20
assert (d.read(kept, N) == VALUES).all()
print(d.messages)
""",
            XTENSOR_CACHE_BYTES=str(12 << 20),
        )
        assert said == "0"

    def test_an_extent_beyond_its_array(self, device: Device) -> None:
        a = device.array(values())
        _, status = device.begin(program(), [a, a])
        sizes = (ctypes.c_int64 * 2)(4 * N, 1 << 20)
        library().xt_call_extents(sizes)
        device.launch(kernel(), [a, a], [1, 0, 0], (1, 1, 1))
        assert status.code == 3
        assert "reach beyond their array" in error()
        device.end()
        device.free(a, 4 * N)

    def test_a_buffer_of_the_cpu(self, device: Device) -> None:
        host = np.zeros(4, np.float32)
        _, status = device.begin(program(0, 0), [])
        device.launch(kernel(), [host.ctypes.data] * 2, [4, 0, 0], (1, 1, 1))
        assert status.code == 3
        assert "not memory of this device" in error()
        device.end()

    def test_no_memory_for_temporaries(self, device: Device) -> None:
        _, status = device.begin(program(0, 0), [])
        assert library().xt_call_arena(1 << 50) is None
        assert (status.code, status.size) == (2, 1 << 50)
        assert f"no memory for {1 << 50} bytes at once; the limit is" in error()
        device.end()

    def test_a_call_without_a_device(self) -> None:
        lib, status, run = library(), Status(), program(0, 0)
        lib.xt_device_use(None)
        assert lib.xt_call_begin(ctypes.byref(run), None, None, ctypes.byref(status)) == 1
        assert status.code == 3
        assert "none was chosen" in error()

    def test_calls_do_not_nest(self, device: Device) -> None:
        a = device.array(values())
        _, outer = device.begin(program(), [a, a])
        recording, inner = device.begin(program(), [a, a])
        assert not recording
        assert inner.code == 3
        assert "during one of test, on one thread. What a program on this device calls (xt.callback)" in error()
        device.add(kernel(), a, a, N)
        device.end()
        assert outer.code == 0
        assert (device.read(a, N) == values() + 1).all()
        device.free(a, 4 * N)

    def test_arrays_are_not_copied_in_the_midst_of_a_call(self, device: Device) -> None:
        a = device.array(values())
        device.begin(program(), [a, a])
        device.add(kernel(), a, a, N)
        with pytest.raises(OSError, match="between calls"):
            device.copy(a, a + 400, 400)
        device.end()
        device.free(a, 4 * N)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Vulkan that fails when it is told to."""
    why = missing()
    if why:
        pytest.skip(why)
    compiler = shutil.which("clang-22") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler to build vulkan_faults.c with")
    built = str(tmp_path_factory.mktemp("faults") / "libfaults.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, str(HELPERS / "vulkan_faults.c"), "-ldl"], check=True)
    return built


FAULTS = """
d = Device()
faults = ctypes.CDLL(os.environ["XTENSOR_VULKAN_LIBRARY"])
faults.fault_set.argtypes = [ctypes.c_int, ctypes.c_long]
def attempt(f, *args):
    try: return f(*args)
    except OSError as e: print(e)
"""


class TestDriverFailures:
    def test_a_lost_device(self, faults: str) -> None:
        said = run_python(
            FAULTS
            + """
a = d.array(VALUES); add = kernel(); run = program(reports=True)
d.begin(run, [a, a]); d.add(add, a, a, N); d.end()
ticket = library().xt_call_ticket()
faults.fault_set(0, 0)
recording, status = d.begin(program(), [a, a]); d.add(add, a, a, N); d.end()
assert recording and status.code == 3, status.code
assert "lost the device" in error(), error()
recording, status = d.begin(run, [a, a])
assert not recording and status.code == 3
assert "lost the device" in error(), error()
attempt(d.read, a, N); attempt(d.write, a, VALUES); attempt(d.copy, a, a + 400, 4)
attempt(d.synchronize); attempt(d.alloc, 4)
assert library().xt_ticket_wait(ticket, ctypes.byref(Status())) == 1
library().xt_ticket_release(ticket)
d.free(a, 4 * N); d.trim()
faults.fault_set(0, -1)
other = Device()
assert other.handle != d.handle
b = other.array(VALUES)
for i in range(2):
    recording, status = other.begin(run, [b, b])
    assert recording == (i == 0) and status.code == 0, error()
    if recording: other.add(add, b, b, N); other.end()
assert (other.read(b, N) == VALUES + 2).all()
print(other.messages)
""",
            XTENSOR_VULKAN_LIBRARY=faults,
        )
        assert said.count("lost the device; its arrays are gone") == 5
        assert said.endswith("\n0")

    def test_a_driver_without_memory(self, faults: str) -> None:
        said = run_python(
            FAULTS
            + """
a = d.array(VALUES)
faults.fault_set(1, 0)
attempt(d.alloc, 64 << 20)
_, status = d.begin(program(), [a, a]); assert library().xt_call_arena(64 << 20) is None; d.end()
assert (status.code, status.size) == (2, 64 << 20)
faults.fault_set(1, -1)
d.free(d.alloc(64 << 20), 64 << 20)
assert (d.read(a, N) == VALUES).all()
print(d.messages)
""",
            XTENSOR_VULKAN_LIBRARY=faults,
        )
        assert "no memory for 67108864 bytes" in said
        assert said.endswith("\n0")

    def test_a_device_that_does_not_answer(self, faults: str) -> None:
        said = run_python(
            FAULTS
            + """
a = d.array(VALUES)
run, add = program(), kernel()
for steps in 1, 300_000:  # the first call of a process waits
    d.begin(run, [a, a]); d.add(add, a, a, N, 0, steps); d.end()
faults.fault_set(2, 0)
attempt(d.read, a, N)
faults.fault_set(2, -1)
assert (d.read(a, N) == VALUES).all()
print(d.messages)
""",
            XTENSOR_VULKAN_LIBRARY=faults,
            XTENSOR_DEVICE_TIMEOUT="1.5",
        )
        assert "no answer within 1.5 seconds (XTENSOR_DEVICE_TIMEOUT)" in said
        assert said.endswith("\n0")

    @pytest.mark.parametrize("slow", [False, True])
    def test_the_process_ends_before_the_driver_does(self, faults: str, slow: bool) -> None:
        """Whenever the driver registered what it takes apart, and however long the work takes."""
        run_python(
            f"""
import xtensor as xt
x = xt.array(VALUES, dims="a").to("vulkan")
f = xt.jit(lambda x: xt.fori_loop(0, 20000, lambda i, y: xt.sin(y) + x, x))
g = xt.jit(lambda x: x + 1)
g(x).values
faults = ctypes.CDLL(os.environ["XTENSOR_VULKAN_LIBRARY"])
assert faults.take_apart_at_exit() == 0
if {slow}: faults.fault_set(3, ctypes.c_long(0))
y = [f(x) for _ in range(3)]
""",
            XTENSOR_VULKAN_LIBRARY=faults,
        )


class TestNoVulkan:
    CODE = "print(library().xt_device_count(b'vulkan'), error())\ntry: Device()\nexcept OSError as e: print(e)"

    def test_without_a_loader(self) -> None:
        said = run_python(self.CODE, XTENSOR_VULKAN_LIBRARY="/nowhere/libvulkan.so")
        assert said.count("the loader /nowhere/libvulkan.so was not found") == 2
        assert said.startswith("0 ")
        assert 'device="cpu"' in said

    def test_with_a_library_that_is_none(self) -> None:
        said = run_python(self.CODE, XTENSOR_VULKAN_LIBRARY="libm.so.6")
        assert said.count("libm.so.6 is not a Vulkan loader") == 2

    @pytest.mark.full("the runtime is compiled once more")
    def test_built_without_headers(self, tmp_path: Path) -> None:
        compiler = shutil.which("clang++-22") or shutil.which("c++")
        if not compiler:
            pytest.skip("no C++ compiler to build the runtime with")
        runtime = ROOT / "runtime"
        # CUDA and Metal need no headers, but memory of the CPU for what is mapped: nothing is, here.
        memory = tmp_path / "memory.cpp"
        memory.write_text(
            'extern "C" { void *xt_alloc(unsigned long) { return 0; } void xt_free(void *, unsigned long) {} }'
        )
        others = [path for backend in ("Cuda", "Metal") for path in sorted((runtime / backend).glob("*.cpp"))]
        shared = [
            runtime / f"{name}.cpp" for name in ("DebugMemory", "Device", "Profile", "RecordingDevice", "Reports")
        ]
        sources = [str(path) for path in (*shared, runtime / "Vulkan" / "Stub.cpp", *others, memory)]
        built = str(tmp_path / "libstub.so")
        subprocess.run([compiler, "-std=c++17", "-shared", "-fPIC", "-o", built, *sources, "-lpthread"], check=True)
        stub = ctypes.CDLL(built)
        stub.xt_device_error.restype = ctypes.c_char_p
        assert stub.xt_device_count(b"vulkan") == 0
        assert stub.xt_device_open(b"vulkan", 0) == 0
        assert b"this build of xtensor has no Vulkan" in stub.xt_device_error()
        assert b'device="cpu"' in stub.xt_device_error()

    @pytest.mark.parametrize("validate", ["0", "1"])
    def test_without_a_driver(self, validate: str) -> None:
        nowhere = {"VK_ICD_FILENAMES": "/nowhere", "VK_DRIVER_FILES": "/nowhere"}
        said = run_python(self.CODE, XTENSOR_VALIDATE=validate, **nowhere)
        assert said.startswith("0 no Vulkan driver starts")
        assert said.count("$VK_DRIVER_FILES says where they are") == 2

    def test_with_a_broken_list_of_drivers(self, tmp_path: Path) -> None:
        (tmp_path / "bad.json").write_text("{ broken")
        said = run_python(self.CODE, VK_ICD_FILENAMES=str(tmp_path / "bad.json"), VK_DRIVER_FILES="")
        assert said.startswith("0 no Vulkan driver starts")
        assert said.count("$VK_ICD_FILENAMES says where they are") == 2

    def test_a_number_that_the_environment_asks_for(self) -> None:
        said = run_python(
            "import xtensor as xt\ntry: xt.ones(i=3).to('vulkan')\nexcept xt.DeviceError as e: print(e)",
            XTENSOR_DEVICE="77",
        )
        assert "device 'vulkan' (number 77 by $XTENSOR_DEVICE) cannot be used: there is no vulkan device 77" in said


class TestPipelinesOnDisk:
    CODE = """
d = Device(); a = d.array(VALUES)
_, status = d.begin(program(), [a, a]); d.add(kernel(), a, a, N); d.end()
assert status.code == 0 and (d.read(a, N) == VALUES + 1).all()
print(d.counters.kernels, d.counters.cached_kernels, d.messages)
"""

    def test_another_process_finds_them(self, tmp_path: Path) -> None:
        folder = str(tmp_path / "a" / "b")
        assert run_python(self.CODE, XTENSOR_CACHE_DIR=folder) == "1 0 0"
        files = list((tmp_path / "a" / "b" / "pipelines").iterdir())
        assert [file.suffix for file in files] == [".bin"]
        assert run_python(self.CODE, XTENSOR_CACHE_DIR=folder) == "1 1 0"

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("damage", ["cut", "flip", "empty", "longer", "other"])
    def test_damaged_files_are_written_anew(self, tmp_path: Path, damage: str) -> None:
        folder = str(tmp_path)
        run_python(self.CODE, XTENSOR_CACHE_DIR=folder)
        (file,) = (tmp_path / "pipelines").iterdir()
        whole = file.read_bytes()
        flipped = bytearray(whole)
        flipped[-1] ^= 1
        file.write_bytes(
            {
                "cut": whole[:-3],
                "flip": bytes(flipped),
                "empty": b"",
                "longer": whole + b"x",
                "other": b"x" * len(whole),
            }[damage]
        )
        assert run_python(self.CODE, XTENSOR_CACHE_DIR=folder) == "1 0 0"
        assert file.read_bytes() == whole
        assert run_python(self.CODE, XTENSOR_CACHE_DIR=folder) == "1 1 0"

    @pytest.mark.parametrize("what", ["a pipe", "a link to a device", "a folder"])
    def test_what_is_no_file_is_not_read(self, tmp_path: Path, what: str) -> None:
        folder = str(tmp_path)
        run_python(self.CODE, XTENSOR_CACHE_DIR=folder)
        (file,) = (tmp_path / "pipelines").iterdir()
        file.unlink()
        if what == "a pipe":
            os.mkfifo(file)
        elif what == "a folder":
            file.mkdir()
        else:
            file.symlink_to("/dev/zero")
        assert run_python(self.CODE, XTENSOR_CACHE_DIR=folder) == "1 0 0"

    def test_what_was_used_longest_ago_goes(self, tmp_path: Path) -> None:
        folder = tmp_path / "pipelines"
        folder.mkdir()
        for i in range(4):
            old = folder / f"{i}.bin"
            old.write_bytes(bytes(900_000))
            os.utime(old, (i + 1, i + 1))
        assert run_python(self.CODE, XTENSOR_CACHE_DIR=str(tmp_path), XTENSOR_CACHE_MB="2") == "1 0 0"
        left = sorted(file.name for file in folder.iterdir())
        assert left[:2] == ["2.bin", "3.bin"]
        assert len(left) == 3

    def test_nowhere(self, tmp_path: Path) -> None:
        assert run_python(self.CODE, XTENSOR_CACHE_DIR="", HOME=str(tmp_path)) == "1 0 0"
        assert not list(tmp_path.rglob("*.bin"))

    def test_a_folder_that_cannot_be_written(self) -> None:
        assert run_python(self.CODE, XTENSOR_CACHE_DIR="/proc/nothing") == "1 0 0"


class TestProcess:
    def test_a_forked_process_is_told(self) -> None:
        said = run_python("""
d = Device(); a = d.array(VALUES)
d.begin(program(reports=True), [a, a]); d.add(kernel(), a, a, N); d.end()
ticket = library().xt_call_ticket()
if os.fork() == 0:
    for f in (lambda: d.read(a, N), lambda: d.alloc(4), Device):
        try: f()
        except OSError as e: print(e)
    d.free(a, 4 * N); d.trim(); library().xt_ticket_release(ticket)
    sys.exit(0)
assert os.wait()[1] == 0
assert (d.read(a, N) == VALUES + 1).all()
print(d.messages)
""")
        assert said.count("was forked from one that had opened a device") == 3
        assert said.endswith("\n0")

    def test_the_process_ends_while_work_is_under_way(self) -> None:
        for _ in range(3):
            run_python("""
d = Device(); a = d.array(VALUES); add = kernel()
for i in range(20):
    d.begin(program(), [a, a]); d.add(add, a, a, N, 0, 10_000); d.end()
""")

    def test_the_process_ends_under_a_thread_that_calls(self) -> None:
        run_python("""
import threading, time
d = Device(); a = d.array(VALUES); add = kernel(); run = program()
def work():
    while True:
        recording, _ = d.begin(run, [a, a])
        if recording: d.add(add, a, a, N); d.end()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""")


@pytest.mark.skipif("XTENSOR_DEVICE_STAGING" in os.environ, reason="this is the run that it asks for")
def test_all_of_it_where_the_cpu_sees_no_memory_of_the_device() -> None:
    """As on a card: addresses that the CPU cannot follow, and copies through staging buffers."""
    why = missing()
    if why:
        pytest.skip(why)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *map(str, FILES)],
        env={**os.environ, "XTENSOR_DEVICE_STAGING": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
