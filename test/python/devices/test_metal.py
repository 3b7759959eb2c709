"""Kernels in Metal's language and the runtime for Metal, on any machine: the texts are compiled as C++ and run on the
CPU (test/metal), with the same host code, memory and queue as on a Mac. Apple's side of the runtime is compiled against
declarations."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import device_abi
import metal_shim
import numpy as np
import pytest
import xtensor as xt
from xtensor import _native
from xtensor.values import devices

pytestmark = [
    pytest.mark.cpu_only("these tests say where they run"),
    pytest.mark.skipif(
        sys.platform != "darwin" and metal_shim.compiler() is None, reason="no clang++ to run kernels on the CPU with"
    ),
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 88.0, -104.0, 6e4, 1e-8]


def floats(*shape: int, dtype: str = "f4", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def special(dtype: str = "f4") -> np.ndarray:
    return np.concatenate([np.array(SPECIAL), np.linspace(-9, 9, 200)]).astype("f4").astype(dtype)


def integers(*shape: int, dtype: str = "i4") -> np.ndarray:
    return np.random.default_rng(1).integers(-9, 9, shape).astype(dtype)


def counted(x: Any, n: Any) -> Any:
    return xt.while_loop(lambda s: s[1] < n, lambda s: (s[0] * 0.5 + 1.0, s[1] + 1), (x, 0))[0]


Case = tuple[Callable[..., Any], list[tuple[np.ndarray, str]]]
A, AB, IJ = floats(300), floats(40, 50), floats(128, 200)
PROGRAMS: dict[str, Case] = {
    "a chain": (lambda x: xt.tanh(x) * x - 1.5, [(A, "a")]),
    "large, a thread per point": (lambda x: xt.sqrt(xt.abs(x)) + 2.0, [(floats(50000), "a")]),
    "dims in another order": (lambda x, y: x + y, [(AB, "ab"), (floats(50, 40), "ba")]),
    "small reductions": (lambda x: (x.sum("a"), x.max("b"), x.min(), x.prod("a")), [(AB, "ab")]),
    "a large sum": (lambda x: x.sum(), [(floats(100000), "a")]),
    "a sum per row": (lambda x: x.sum("b"), [(floats(64, 3000), "ab")]),
    "softmax": (lambda x: xt.exp(x) / xt.exp(x).sum("b"), [(floats(300, 100), "ab")]),
    "argmax": (lambda x: x.argmax("b"), [(AB, "ab")]),
    "a product of matrices": (lambda x, y: xt.dot(x, y, dim="j"), [(IJ, "ij"), (floats(200, 130), "jk")]),
    "a small product": (lambda x, y: xt.dot(x, y, dim="j"), [(IJ[:3], "ij"), (IJ[0], "j")]),
    "cumsum": (lambda x: x.cumsum("b"), [(AB, "ab")]),
    "cummax from the end": (lambda x: xt.cummax(x, "b", reverse=True), [(AB, "ab")]),
    "a gather": (lambda x, i: x.isel(a=i), [(A, "a"), (integers(70), "k")]),
    "a gather by int64": (lambda x, i: x.isel(a=i), [(A, "a"), (integers(70, dtype="i8"), "k")]),
    "a scatter": (lambda x, i: x.at(a=i).add(1.0), [(A, "a"), (integers(70), "k")]),
    "sums by position": (
        lambda x, i, v: (x.at(a=i).add(v), *((x * 9).astype(d).at(a=i).subtract(2) for d in ("i4", "i1"))),
        [(A, "a"), (integers(3000), "k"), (floats(3000), "k")],
    ),
    "extrema and products by position": (
        lambda x, i, v: (x.at(a=i).max(v), x.at(a=i).min(v), x.at(a=i).multiply(1 + v * 0.01), i.at(k=i).max(i * i)),
        [(A, "a"), (integers(3000), "k"), (floats(3000), "k")],
    ),
    "a slice and a pad": (lambda x: x.isel(a=slice(3, 30, 2)), [(A, "a")]),
    "a loop of the kernel": (lambda x: counted(x, 7), [(A, "a")]),
    "a loop of the host": (lambda x: counted(x, 4), [(floats(20000), "a")]),
    "a branch": (lambda x: xt.cond(x.sum() > 0, xt.exp, lambda v: v * 2, x), [(A, "a")]),
    "a scan": (lambda x: xt.scan(lambda c, e: (c * 0.5 + e, c), np.float32(0), x, dim="a"), [(A, "a")]),
    "a gradient": (lambda x: xt.grad(lambda v: (xt.sin(v) * v).sum())(x), [(A, "a")]),
    "a sort, by way of the host": (lambda x: xt.sort(x, "a") * 2, [(A, "a")]),
    "a factorisation, by way of the host": (
        lambda x: xt.linalg.cholesky(xt.dot(x, x.rename(i="k"), dim="j"), ("i", "k")) * 1.0,
        [(floats(8, 40), "ij")],
    ),
    "float16": (lambda x: xt.exp(x) * x + 0.25, [(special("f2"), "a")]),
    "bfloat16": (lambda x: x.astype(xt.bfloat16) * 1.25 + x, [(A, "a")]),
    "8 bits": (lambda x, y: (x + y, x // 3, x > y), [(integers(40, dtype="i1"), "a"), (integers(40, dtype="i1"), "a")]),
    "unsigned": (lambda x: (x // 3, x % 5, x >> 1), [(integers(40).astype("u4"), "a")]),
    "int64": (lambda x: (x * 3000000000, x // 7, x.sum()), [(integers(400, dtype="i8"), "a")]),
    "bools": (lambda x: ((x > 0) & (x < 1), (x > 0).any(), (x > -9).all()), [(A, "a")]),
    "casts": (lambda x: (x.astype("i4"), x.astype("i8"), x.astype("u1"), x.astype("bool")), [(A * 100, "a")]),
    "special values": (
        lambda x: (xt.exp(x), xt.log(x), xt.sin(x), xt.maximum(x, -x), x * -0.0, xt.floor(x), xt.where(x > 0, x, -x)),
        [(special(), "a")],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_what_the_cpu_gives(metal: str, name: str) -> None:
    f, given = PROGRAMS[name]
    arrays = [xt.array(v, tuple(dims)) for v, dims in given]
    want = xt.jit(f, device="cpu")(*arrays)
    got = xt.jit(f, device=metal)(*arrays)
    for w, g in zip(xt.tree.leaves(want), xt.tree.leaves(got), strict=True):
        assert (g.device, g.dtype, g.dims, g.shape) == (metal, w.dtype, w.dims, w.shape)
        x, y = w.values, g.values
        if x.dtype.kind in "iub":
            np.testing.assert_array_equal(y, x)
        else:
            half = x.dtype.itemsize == 2
            tolerance = {"rtol": 1e-2, "atol": 1e-2} if half else {"rtol": 1e-5, "atol": 1e-5}
            np.testing.assert_allclose(y.astype("f4"), x.astype("f4"), **tolerance)


def test_the_sign_of_zero_is_kept(metal: str) -> None:
    x = xt.array(np.array([0.0, -0.0, 1.0, -1.0], "f4"), "a")
    for f in (lambda x: x * -1.0, lambda x: x * 0.0, lambda x: x + -0.0, lambda x: -x, lambda x: (x - x) * -1.0):
        want, got = (xt.jit(f, device=d)(x).values for d in ("cpu", metal))
        assert np.signbit(got).tolist() == np.signbit(want).tolist()


def test_arithmetic_is_as_on_vulkan_to_the_bit(metal: str) -> None:
    if not _native.device_count("vulkan"):
        pytest.skip(f"no Vulkan device to compare with: {_native.device_error()}")
    x = xt.array(special(), "a")
    names = ["exp", "log", "sin", "tan", "tanh", "erf", "log1p", "expm1", "atan", "cbrt", "sqrt"]
    f = lambda x: [getattr(xt, n)(x) for n in names]  # noqa: E731
    for n, want, got in zip(names, *(xt.jit(f, device=d)(x) for d in ("vulkan", metal)), strict=True):
        np.testing.assert_array_equal(got.values, want.values, err_msg=n)


# -- the text ---------------------------------------------------------------------------------------------------------


def test_the_text() -> None:
    specs = xt.spec(a=None, dtype="f4"), xt.spec(k=30000, dtype="i4")
    text = metal_shim.text_or_reason(lambda x, i: x.isel(a=i) * 2, *specs)
    assert "#include <metal_stdlib>" in text
    assert "#pragma METAL fp math_mode(safe)" in text
    assert "#pragma METAL fp contract(off)" in text
    assert "#pragma STDC FP_CONTRACT OFF" in text
    assert "fma(" not in text
    assert re.search(r"constant \w+& kernel\d_numbers \[\[buffer\((\d)\)\]\]", text)


def test_float64_is_refused_before_anything_runs(metal: str) -> None:
    x = xt.array([1.0, 2.0], "a")
    with pytest.raises(xt.DeviceError, match=r'has no float64.*x.astype\("f4"\)'):
        xt.jit(lambda x: x + 1, device=metal)(x)
    with pytest.raises(xt.DeviceError, match="inside of the program, of the op 'cast', is float64"):
        xt.jit(lambda x: (x.astype("f8") + 1).astype("f4"), device=metal)(x.astype("f4"))
    with pytest.raises(xt.DeviceError, match="inside of the program, of the op 'constant', is float64"):
        xt.jit(lambda x: x + xt.arange(2.0, dim="a").astype("f4"), device=metal)(x.astype("f4"))


def test_without_spirv_cross_it_says_what_to_install() -> None:
    code = (
        "import xtensor as xt\n"
        "try: xt.jit(lambda x: x + 1).lower(xt.spec(a=2, dtype='f4'), device='metal').as_text('msl')\n"
        "except xt.CompileError as e: print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "XTENSOR_SPIRV_CROSS_LIBRARY": "/nowhere.so", "XTENSOR_CACHE_DIR": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Debian: libspirv-cross-c-shared" in done.stdout


# -- the runtime ------------------------------------------------------------------------------------------------------


def test_without_metal_it_says_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform == "darwin":
        pytest.skip("there is a Metal here")
    monkeypatch.delenv("XTENSOR_METAL_LIBRARY", raising=False)
    with pytest.raises(xt.DeviceError, match="Metal exists on macOS only"):
        xt.array([1.0], "a").to("metal")


def test_work_is_done_in_order_and_nobody_waits(metal: str) -> None:
    device = devices.named(metal)
    f = xt.jit(lambda x: x * 1.5 + 1.0, device=metal)
    want = x = np.arange(30000, dtype="f4")
    y = f(xt.array(x, "a"))
    waits = device.counters["waits"]
    for _ in range(20):
        y = f(y)
    assert device.counters["waits"] == waits
    for _ in range(21):
        want = (want * np.float32(1.5) + np.float32(1)).astype("f4")
    np.testing.assert_allclose(y.values, want, rtol=1e-6)


def test_memory_is_used_again_in_order(metal: str) -> None:
    """Arrays are written while earlier work still reads what lay in their memory."""
    f = xt.jit(lambda x: xt.exp(xt.sin(x)).sum(), device=metal)
    found = []
    for k in range(30):
        found.append(f(xt.array(np.full(4000, k, "f4"), "a", device=metal)))
    for k, y in enumerate(found):
        np.testing.assert_allclose(y.item(), 4000 * np.exp(np.sin(k)), rtol=1e-4)


def test_index_errors_are_told(metal: str) -> None:
    f = xt.jit(lambda x, i: x.isel(a=i), device=metal)
    x = xt.array(floats(5), "a")
    results = [f(x, xt.array(np.array([0, k]), "k")) for k in range(9)]
    for k, y in enumerate(results):
        if k < 5:
            assert y.values[1] == x.values[k]
        else:
            with pytest.raises(xt.IndexError, match=f"index {k} is out of range for size 5 of dim 'a'"):
                y.values  # noqa: B018


def test_memory_goes_back(metal: str) -> None:
    device = devices.named(metal)
    x = xt.array(floats(1 << 20), "a", device=metal)
    held = device.counters["driver_bytes"]
    del x
    device.trim()
    assert device.counters["driver_bytes"] <= held - (4 << 20)


HEAD = """#include <metal_stdlib>
using namespace metal;
struct Floats { float v[1]; };
struct Numbers { uint count; float value; uint times; };
kernel void main0(device Floats& in [[buffer(0)]], device Floats& out [[buffer(1)]],
                  constant Numbers& n [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                  uint3 t [[thread_position_in_threadgroup]])
{
    uint i = group.x * 64u + t.x;
    threadgroup float s[64];
"""
ADD = (
    HEAD
    + "    if (i < n.count) { float x = in.v[i]; for (uint k = 0; k < n.times; ++k) x += n.value; out.v[i] = x; }\n}\n"
)
# Each thread takes what another one brought.
TURN = (
    HEAD
    + """    s[t.x] = in.v[i];
    BARRIER
    out.v[i] = s[63u - t.x];
}
"""
)
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def written(text: str) -> device_abi.Kernel:
    return device_abi.kernel(code=text.encode(), name=b"main0")


@pytest.fixture
def bare(metal: str) -> device_abi.Device:
    """The runtime without the compiler."""
    return device_abi.Device(-1, metal)


def test_kernels_wait_for_each_other_in_a_call(bare: device_abi.Device) -> None:
    n = 1000
    add = written(ADD)
    x, y = bare.array(np.arange(n, dtype="f4")), bare.alloc(4 * n)
    records, status = bare.begin(device_abi.program(), [x, y])
    assert records
    assert status.code == 0
    scratch = bare.lib.xt_call_arena(8 * n)
    bare.add(add, x, scratch, n, 1.0, 2000)
    bare.lib.xt_call_copy(scratch + 4 * n, scratch, 4 * n)
    bare.add(add, scratch + 4 * n, y, n, 2.0)
    seen = ctypes.cast(bare.lib.xt_call_map(y + 4 * 7, 4, 1), ctypes.POINTER(ctypes.c_float))
    assert seen[0] == 7 + 2000 + 2
    bare.lib.xt_call_unmap(y + 4 * 7, 4, 1, ctypes.addressof(seen.contents))
    bare.add(add, y, y, n, -2.0)
    bare.end()
    assert status.code == 0
    assert (bare.read(y, n) == np.arange(n) + 2000).all()


def test_memory_that_is_free_is_not_written_early(bare: device_abi.Device) -> None:
    n = 1000
    add = written(ADD)
    x, y = bare.array(np.zeros(n, "f4")), bare.alloc(4 * n)
    bare.begin(device_abi.program(), [x, y])
    bare.add(add, x, y, n, 1.0, 20000)
    bare.end()
    bare.free(x, 4 * n)
    again = bare.array(np.full(n, 5, "f4"))  # the same memory
    assert again == x
    assert (bare.read(y, n) == 20000).all()
    assert (bare.read(again, n) == 5).all()


def test_a_text_that_does_not_compile_says_why(bare: device_abi.Device) -> None:
    x = bare.array(np.zeros(8, "f4"))
    _, status = bare.begin(device_abi.program(), [x, x])
    bare.launch(written(ADD.replace("out.v[i] = x", "nowhere = x")), [x, x], [8, 0, 1], (1, 1, 1))
    assert status.code == 3
    assert "kernel main0" in device_abi.error()
    assert "nowhere" in device_abi.error()
    bare.end()
    _, status = bare.begin(device_abi.program(), [x, x])
    bare.launch(written(ADD), [x, 1 << 40], [8, 0, 1], (1, 1, 1))
    assert status.code == 3
    assert "is not memory of this device" in device_abi.error()
    bare.end()


def test_barriers_are_seen(bare: device_abi.Device) -> None:
    """The fibres do wait, and what works without a barrier by the order of threads alone does not work here."""
    values = np.arange(64, dtype="f4")
    x, y = bare.array(values), bare.alloc(256)
    for text, right in ((TURN.replace("BARRIER", BARRIER), True), (TURN.replace("BARRIER", ""), False)):
        bare.begin(device_abi.program(), [x, y])
        bare.launch(written(text), [x, y], [64, 0, 0], (1, 1, 1))
        bare.end()
        assert (bare.read(y, 64) == values[::-1]).all() == right


def test_a_barrier_that_some_do_not_meet_is_an_error(metal: str) -> None:
    if sys.platform == "darwin":
        pytest.skip("nobody notices there")
    bare = device_abi.Device(-1, metal)
    x = bare.array(np.zeros(64, "f4"))
    _, status = bare.begin(device_abi.program(), [x, x])
    bare.launch(written(TURN.replace("BARRIER", f"if (t.x < 32u) {BARRIER}")), [x, x], [64, 0, 0], (1, 1, 1))
    bare.end()
    assert status.code == 0
    with pytest.raises(OSError, match="has a barrier that some threads do not meet"):
        bare.read(x, 64)
    with pytest.raises(OSError, match="the device was lost"):
        bare.alloc(4)
    assert device_abi.Device(-1, metal).handle != bare.handle


def test_apples_side_compiles_against_declarations() -> None:
    clang = metal_shim.compiler()
    assert clang
    options = ["-fsyntax-only", "-x", "objective-c++", "-std=c++17", "-fobjc-arc", "-fobjc-runtime=macosx-13.0"]
    options += ["-Wall", "-Wextra", "-Werror", f"-I{metal_shim.SOURCES / 'stubs'}", f"-I{metal_shim.ROOT / 'runtime'}"]
    source = metal_shim.ROOT / "runtime" / "Metal" / "Apple.mm"
    done = subprocess.run([clang, *options, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
