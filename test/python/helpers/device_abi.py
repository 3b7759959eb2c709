"""runtime/Device.h for tests that drive it without the compiler: the structs, the functions and a few kernels."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from ctypes import c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

import numpy as np
import ptx_kernels
import pytest
from runtime_abi import runtime

N = 1000
# Which devices; test_cuda_runtime.py asks for "cuda".
BACKEND = os.environ.get("XTENSOR_TEST_BACKEND", "vulkan")


class Info(ctypes.Structure):
    _fields_ = (
        ("backend", c_char_p),
        ("name", c_char_p),
        ("driver", c_char_p),
        ("features", c_uint32),
        ("subgroup_size", c_int32),
        ("max_buffer_bytes", c_int64),
        ("workgroup_bytes", c_int64),
        ("max_workgroup_threads", c_int64),
        ("memory_bytes", c_int64),
        ("max_groups", c_int64 * 3),
        ("max_group_size", c_int32 * 3),
        ("max_kernel_buffers", c_int32),
        ("max_kernel_numbers", c_int32),
        ("architecture", c_int32),
        ("unit", c_int32 * 3),
        ("vendor", c_char_p),
    )


class Counters(ctypes.Structure):
    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "submissions",
            "records",
            "replays",
            "waits",
            "kernels",
            "cached_kernels",
            "barriers",
            "driver_bytes",
            "kernels_held",
        )
    )


class Kernel(ctypes.Structure):
    _fields_ = (
        ("code", c_void_p),
        ("code_bytes", c_int64),
        ("name", c_char_p),
        ("buffers", c_int32),
        ("numbers", c_int32),
        ("threads", c_int32 * 3),
        ("padding", c_int32),
        ("writes", c_int64),
        ("handle", c_void_p),
    )


class Program(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("inputs", c_int32),
        ("outputs", c_int32),
        ("sizes", c_int32),
        ("reports", c_int32),
        ("replayable", c_int32),
        ("padding", c_int32),
        ("handle", c_void_p),
    )


class Status(ctypes.Structure):
    _fields_ = (("code", c_int32), ("site", c_int32), ("index", c_int64), ("size", c_int64))


# name: result, arguments
FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "xt_device_count": (c_int32, [c_char_p]),
    "xt_device_open": (c_void_p, [c_char_p, c_int32]),
    "xt_device_get_info": (ctypes.POINTER(Info), [c_void_p]),
    "xt_device_error": (c_char_p, []),
    "xt_device_messages": (c_int64, [c_void_p]),
    "xt_device_get_counters": (Counters, [c_void_p]),
    "xt_device_alloc": (c_void_p, [c_void_p, c_size_t]),
    "xt_device_free": (None, [c_void_p, c_void_p, c_size_t]),
    "xt_device_cached_bytes": (c_size_t, [c_void_p]),
    "xt_device_trim": (None, [c_void_p]),
    "xt_device_write": (c_int32, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "xt_device_read": (c_int32, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "xt_device_copy": (c_int32, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "xt_device_synchronize": (c_int32, [c_void_p]),
    "xt_call_begin": (c_int32, [c_void_p] * 4),
    "xt_call_launch": (None, [c_void_p, c_int64, c_int64, c_int64, c_void_p, c_void_p]),
    "xt_call_extents": (None, [c_void_p]),
    "xt_call_copy": (None, [c_void_p, c_void_p, c_int64]),
    "xt_call_arena": (c_void_p, [c_int64]),
    "xt_call_report": (c_void_p, []),
    "xt_call_map": (c_void_p, [c_void_p, c_int64, c_int32]),
    "xt_call_unmap": (None, [c_void_p, c_int64, c_int32, c_void_p]),
    "xt_call_constant": (c_void_p, [c_void_p, c_int64]),
    "xt_call_end": (None, []),
    "xt_device_use": (None, [c_void_p]),
    "xt_call_ticket": (c_void_p, []),
    "xt_ticket_retain": (None, [c_void_p]),
    "xt_ticket_release": (None, [c_void_p]),
    "xt_ticket_wait": (c_int32, [c_void_p, c_void_p]),
    "xt_program_forget": (None, [c_void_p]),
    "xt_kernel_forget": (None, [c_void_p]),
}


@functools.cache
def library() -> ctypes.CDLL:
    found = runtime()
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


def error() -> str:
    return library().xt_device_error().decode()


def missing() -> str | None:
    """Why no test can use a device, or None. Validation layers are asked for where they are there."""
    if BACKEND == "cuda":
        return None if library().xt_device_count(BACKEND.encode()) else error()
    layers = Path("/usr/share/vulkan/explicit_layer.d")
    if (layers / "VkLayer_khronos_validation.json").exists():
        os.environ.setdefault("XTENSOR_VALIDATE", "1")
    if library().xt_device_count(b"vulkan") == 0:
        return error()
    return None if shutil.which("spirv-as") else "spirv-as is not there (Debian: spirv-tools)"


HEAD = """
           OpCapability Shader
           OpMemoryModel Logical GLSL450
           OpEntryPoint GLCompute %main "main" %gid
           OpExecutionMode %main LocalSize 64 1 1
           OpDecorate %gid BuiltIn GlobalInvocationId
           OpDecorate %array ArrayStride 4
           OpMemberDecorate %block 0 Offset 0
           OpDecorate %block Block
           OpMemberDecorate %numbers 0 Offset 0
           OpMemberDecorate %numbers 1 Offset 4
           OpMemberDecorate %numbers 2 Offset 8
           OpDecorate %numbers Block
           OpDecorate %in DescriptorSet 0
           OpDecorate %in Binding 0
           OpDecorate %out DescriptorSet 0
           OpDecorate %out Binding 1
   %void = OpTypeVoid
 %action = OpTypeFunction %void
      %u = OpTypeInt 32 0
      %f = OpTypeFloat 32
   %bool = OpTypeBool
     %u3 = OpTypeVector %u 3
  %to_u3 = OpTypePointer Input %u3
   %to_u = OpTypePointer Input %u
    %gid = OpVariable %to_u3 Input
  %array = OpTypeRuntimeArray %ELEMENT
  %block = OpTypeStruct %array
%to_block = OpTypePointer StorageBuffer %block
     %in = OpVariable %to_block StorageBuffer
    %out = OpVariable %to_block StorageBuffer
%to_item = OpTypePointer StorageBuffer %ELEMENT
%numbers = OpTypeStruct %u %u %u
%to_numbers = OpTypePointer PushConstant %numbers
%to_number = OpTypePointer PushConstant %u
   %push = OpVariable %to_numbers PushConstant
     %u0 = OpConstant %u 0
     %u1 = OpConstant %u 1
     %u2 = OpConstant %u 2
     %u3c = OpConstant %u 3
     %u4 = OpConstant %u 4
   %main = OpFunction %void None %action
  %entry = OpLabel
     %ip = OpAccessChain %to_u %gid %u0
      %i = OpLoad %u %ip
    %np0 = OpAccessChain %to_number %push %u0
     %n0 = OpLoad %u %np0
    %np1 = OpAccessChain %to_number %push %u1
     %n1 = OpLoad %u %np1
    %np2 = OpAccessChain %to_number %push %u2
     %n2 = OpLoad %u %np2
%inside = OpULessThan %bool %i %n0
           OpSelectionMerge %exit None
           OpBranchConditional %inside %body %exit
   %body = OpLabel
%source = OpAccessChain %to_item %in %u0 %i
      %x = OpLoad %ELEMENT %source
"""
TAIL = """
           OpBranch %exit
   %exit = OpLabel
           OpReturn
           OpFunctionEnd
"""
# out[i] = in[i] + c, n2 times; numbers: how many elements, the bits of c, n2.
ADD = (
    HEAD.replace("%ELEMENT", "%f")
    + """
      %c = OpBitcast %f %n1
           OpBranch %loop
   %loop = OpLabel
   %step = OpPhi %u %u0 %body %next %again
    %sum = OpPhi %f %x %body %more %again
   %goes = OpULessThan %bool %step %n2
           OpLoopMerge %done %again None
           OpBranchConditional %goes %again %done
  %again = OpLabel
   %more = OpFAdd %f %sum %c
   %next = OpIAdd %u %step %u1
           OpBranch %loop
   %done = OpLabel
 %target = OpAccessChain %to_item %out %u0 %i
           OpStore %target %sum
"""
    + TAIL
)
# Reports site n2, index in[i] and size n1 where in[i] >= n1, as unsigned numbers.
CHECK = (
    HEAD.replace("%ELEMENT", "%u")
    + """
    %bad = OpUGreaterThanEqual %bool %x %n1
           OpSelectionMerge %fine None
           OpBranchConditional %bad %tell %fine
   %tell = OpLabel
   %site = OpIAdd %u %n2 %u1
     %w0 = OpAccessChain %to_item %out %u0 %u0
           OpStore %w0 %site
     %w1 = OpAccessChain %to_item %out %u0 %u1
           OpStore %w1 %x
     %w2 = OpAccessChain %to_item %out %u0 %u2
           OpStore %w2 %u0
     %w3 = OpAccessChain %to_item %out %u0 %u3c
           OpStore %w3 %n1
     %w4 = OpAccessChain %to_item %out %u0 %u4
           OpStore %w4 %u0
           OpBranch %fine
   %fine = OpLabel
"""
    + TAIL
)


@functools.cache
def assemble(text: str) -> bytes:
    if BACKEND == "cuda":
        return {ADD: ptx_kernels.ADD, CHECK: ptx_kernels.CHECK}[text].encode()
    done = subprocess.run(
        ["spirv-as", "--target-env", "spv1.3", "-o", "-", "-"], input=text.encode(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def kernel(text: str = ADD, *, code: bytes | None = None, name: bytes = b"main") -> Kernel:
    code = assemble(text) if code is None else code
    kept = ctypes.create_string_buffer(code, len(code))
    made = Kernel(ctypes.cast(kept, c_void_p), len(code), name, 2, 3, (64, 1, 1), 0, 0b10, None)
    made.kept = kept  # the struct holds but its address
    return made


def program(
    inputs: int = 1, outputs: int = 1, *, sizes: int = 0, reports: bool = False, replay: bool = True
) -> Program:
    return Program(b"test", inputs, outputs, sizes, reports, replay, 0, None)


def bits(value: float) -> int:
    return int(np.float32(value).view(np.int32))


class Device:
    """A device of Device.h; failures are raised as OSError with xt_device_error's words."""

    def __init__(self, index: int = -1, backend: str = BACKEND) -> None:
        self.lib = library()
        self.handle = self.lib.xt_device_open(backend.encode(), index)
        if not self.handle:
            raise OSError(error())
        self.programs: list[Program] = []  # the runtime holds but their addresses
        self.info: Info = self.lib.xt_device_get_info(self.handle).contents

    @property
    def counters(self) -> Counters:
        return self.lib.xt_device_get_counters(self.handle)

    @property
    def messages(self) -> int:
        return self.lib.xt_device_messages(self.handle)

    def alloc(self, size: int) -> int:
        found = self.lib.xt_device_alloc(self.handle, size)
        if not found:
            raise OSError(error())
        return found

    def free(self, address: int, size: int) -> None:
        self.lib.xt_device_free(self.handle, address, size)

    def trim(self) -> None:
        self.lib.xt_device_trim(self.handle)

    def write(self, address: int, values: np.ndarray) -> None:
        if self.lib.xt_device_write(self.handle, address, values.ctypes.data, values.nbytes):
            raise OSError(error())

    def array(self, values: np.ndarray) -> int:
        address = self.alloc(values.nbytes)
        self.write(address, values)
        return address

    def read(self, address: int, count: int, dtype: type = np.float32) -> np.ndarray:
        values = np.zeros(count, dtype)
        if self.lib.xt_device_read(self.handle, values.ctypes.data, address, values.nbytes):
            raise OSError(error())
        return values

    def copy(self, to: int, source: int, size: int) -> None:
        if self.lib.xt_device_copy(self.handle, to, source, size):
            raise OSError(error())

    def synchronize(self) -> None:
        if self.lib.xt_device_synchronize(self.handle):
            raise OSError(error())

    def begin(self, made: Program, buffers: Sequence[int], sizes: Sequence[int] = ()) -> tuple[bool, Status]:
        """Whether there is anything to record, and the call's status."""
        self.lib.xt_device_use(self.handle)
        self.programs.append(made)
        status = Status()
        given = (c_void_p * len(buffers))(*buffers)
        numbers = (c_int64 * len(sizes))(*sizes)
        done = self.lib.xt_call_begin(ctypes.byref(made), given, numbers, ctypes.byref(status))
        return done == 0, status

    def launch(
        self, made: Kernel, buffers: Sequence[int], numbers: Sequence[int], groups: tuple[int, int, int]
    ) -> None:
        given = (c_void_p * len(buffers))(*buffers)
        self.lib.xt_call_launch(ctypes.byref(made), *groups, given, (c_int32 * len(numbers))(*numbers))

    def add(self, made: Kernel, source: int, to: int, count: int, value: float = 1, times: int = 1) -> None:
        """In a call: to = source + value, `times` times."""
        self.launch(made, [source, to], [count, bits(value), times], ((count + 63) // 64, 1, 1))

    def end(self) -> None:
        self.lib.xt_call_end()


def watched() -> Iterator[Device]:
    """For a fixture: the device, on which a test must leave no message of the validation layers."""
    why = missing()
    if why:
        pytest.skip(why)
    device = Device()
    before = device.messages
    yield device
    assert device.messages == before, "the validation layers complained: see stderr"


def run_python(code: str, **environment: str) -> str:
    """What a fresh process prints, which has device_abi's names and N."""
    why = missing()
    if why:
        pytest.skip(why)
    head = "import sys, os, ctypes, numpy as np\nfrom device_abi import *\n"
    head += f"N = {N}\nVALUES = np.arange(N, dtype=np.float32)\n"
    path = os.pathsep.join([str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation" not in done.stderr, done.stderr
    return done.stdout.strip()


def values(seed: int = 0, count: int = N) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)
