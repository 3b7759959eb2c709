"""Devices as programs are compiled for them: dtypes they lack, profiles, stages and their texts, what a call costs.

What needs a device runs on the first one that is not the CPU (chosen_device.py); where there is none, tests say so.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import xtensor as xt
from chosen_device import NAME, host, needs_device, on_the_cpu  # noqa: F401 (used by every test)
from xtensor.compiler import supports
from xtensor.values import devices, targets

SMALL = "vulkan,subgroup=1,workgroup_bytes=16384,max_threads=128"


@pytest.mark.parametrize(
    ("dtype", "instead"),
    [
        ("f8", r'x.astype\("f4"\)'),
        ("f2", r'x.astype\("f4"\)'),
    ],
)
def test_a_dtype_that_a_device_lacks(dtype, instead):
    target = targets.target_named(SMALL)
    program = xt.jit(lambda x: x + x).trace(xt.spec(a=2, dtype=dtype)).program
    name = np.dtype(dtype).name
    with pytest.raises(
        xt.DeviceError, match=rf"is {name} \(a: 2\), and the device 'vulkan' has no {name}.*{instead}.*cpu"
    ):
        supports.check(target, program)
    inside = xt.jit(lambda x: x.astype(dtype).sum().astype("f4")).trace(xt.spec(a=2, dtype="i2")).program
    with pytest.raises(xt.DeviceError, match=f"inside of the program, of the op 'cast', is {name}"):
        supports.check(target, inside)
    supports.check(target, xt.jit(lambda x: x + x).trace(xt.spec(a=2, dtype="f4")).program)


@needs_device
def test_profiles_name_what_a_device_has():
    parts = devices.named(NAME).profile.split(",")
    assert parts[0] == NAME.partition(":")[0]
    order = ["nvidia", "amd", "intel", "apple", "software", "f64", "i64", "f16", "i16", "i8", "s16", "s8"]
    order += ["atomic_f32", "atomic_f64", "atomic_i64"]
    order += [f"{what}{bits}" for what in ("specials", "subnormals") for bits in (16, 32, 64)]
    order += ["shuffle"]
    flags = [p for p in parts[1:] if "=" not in p]
    assert flags == [f for f in order if f in flags]
    numbers = [p.partition("=")[0] for p in parts if "=" in p]
    units = ["unit_m", "unit_n", "unit_k"] if "unit_m" in numbers else []
    assert numbers == ["subgroup", "workgroup_bytes", "max_threads", *(["sm"] if parts[0] == "cuda" else []), *units]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "bool", "bfloat16"])
@pytest.mark.parametrize("has", ["subgroup=8", "f64", "f16,i64", "s16", "s8", "i16,s8", "i8,i16", "s8,s16", "i64,i8"])
def test_integers_need_no_features(has, dtype):
    """They are made of words of 32 bits where the device has none of theirs."""
    f = xt.jit(lambda x: (x + x, x.any(), x.sum(), xt.argsort(x, dim="a"), x.isel(a=[0, 0])))
    text = f.lower(xt.spec(a=99, dtype=dtype), device=f"vulkan,{has}").as_text("spirv")
    capabilities = text[text.index("#spirv.vce<") :].split("]")[0]
    for word, capability in {"i64": "Int64", "i16": "Int16", "i8": "Int8", "s8": "StorageBuffer8"}.items():
        assert word in has.split(",") or capability not in capabilities


@pytest.mark.parametrize("word", ["sm=abc", "subgroup=0", "max_threads=-1", "workgroup_bytes=", "subgroup=1.5"])
def test_a_number_of_a_profile_that_is_none(word):
    with pytest.raises(xt.DeviceError, match=f"says '{word}', which is not a property of devices"):
        xt.jit(lambda x: x).lower(xt.spec(a=2, dtype="f8"), device=f"cuda,{word}").as_text("traced")


MEETING = {
    "sums": lambda x: x.sum("j"),
    "positions": lambda x: x.argmax("i"),
    "softmax": lambda x: xt.nn.softmax(x, "j"),
    "running sums": lambda x: xt.cumsum(x, dim="i"),
    "products": lambda x: xt.dot(x, x.rename(i="k"), dim="j"),
    "many dtypes": lambda x: sum(x.astype(t).max("j").astype("f4") for t in ("f4", "i4", "i8", "u1", "i2")),
}


@pytest.mark.parametrize("name", MEETING)
@pytest.mark.parametrize(
    "device", ["vulkan,i64,i16,i8,s16,s8,shuffle,subgroup=32", "cuda,i64,i16,i8,s16,s8,sm=80", "metal,i64"]
)
def test_kernels_keep_to_the_memory_and_threads_of_a_workgroup(name, device):
    """Those of real devices have 16 KiB or more."""
    phase = {"cuda": "ptx", "metal": "msl"}.get(device.partition(",")[0], "spirv")
    shared = 0
    for number, threads in ((1, 1), (1, 1024), (63, 64), (500, 1024), (1024, 256), (2047, 1024), (4096, 64)):
        profile = f"{device},workgroup_bytes={number},max_threads={threads}"
        program = xt.jit(MEETING[name]).lower(xt.spec(i=300, j=200, dtype="f4"), device=profile)
        assert program.as_text(phase)
        for kernel in program.as_text("gpu").split("gpu.func")[1:]:
            head = kernel.partition("\n")[0]
            used = re.findall(r"memref<(\d+)x[a-z]+(\d+), #gpu.address_space<workgroup>>", head)
            assert sum(int(n) * max(int(bits) // 8, 4) for n, bits in used) <= number
            assert int(re.search(r"known_block_size = array<i32: (\d+)", head)[1]) <= threads
            shared += len(used)
    assert shared or name == "products"


def test_a_gpu_that_is_too_old():
    with pytest.raises(xt.DeviceError, match=r"says 'sm=10': no code for .* 1.0: .* 7.0, sm=70"):
        xt.jit(lambda x: x).lower(xt.spec(a=2, dtype="f4"), device="cuda,sm=10").as_text("ptx")


@needs_device
def test_a_cotangent_that_is_elsewhere():
    x = xt.array(np.ones((2, 3), "f4"), dims=("a", "b"))
    _, back = xt.vjp(lambda x: x * 2, x.to(NAME))
    with pytest.raises(xt.DeviceError, match=f"vjp: the cotangent is on 'cpu' and the array .* on '{NAME}'.*to"):
        back(x)
    _, push = xt.linearize(lambda x: x * 2, x.to(NAME))
    with pytest.raises(xt.DeviceError, match="linearize: the tangent is on 'cpu' and the "):
        push(x)


def test_texts_of_devices_that_are_not_here():
    f = xt.jit(lambda x: x * 2)
    x = xt.spec(a=64, dtype="f4")
    for device in ("vulkan", SMALL):
        lowered = f.lower(x, device=device)
        assert "gpu.func" in lowered.as_text("gpu")
        assert "spirv" in lowered.as_text("spirv")
    assert "gpu.func" in f.lower(x).as_text("gpu")
    with pytest.raises(xt.DeviceError, match="there is no 'metal' here to run"):
        if "metal" in [d.name for d in xt.devices()]:
            raise xt.DeviceError("there is no 'metal' here to run: it is, this test is about machines without")
        f.lower(x, device="metal").compile()
    with pytest.raises(xt.ArgumentError, match="there is no phase 'ptx' for 'vulkan'"):
        f.lower(x, device="vulkan").as_text("ptx")
    with pytest.raises(xt.ArgumentError, match=r"there is no phase 'gpx'.*gpu, spirv"):
        f.lower(x).as_text("gpx")


def test_cost_tells_of_launches_and_of_what_runs_on_the_cpu():
    a = xt.spec(row=8, col=8, dtype="f4")
    plain = xt.jit(lambda a: xt.linalg.cholesky(a)).lower(a, device="cpu").cost()
    assert set(plain) == {"flops", "bytes", "arena"}
    cost = xt.jit(lambda a: xt.linalg.cholesky(a)).lower(a, device="vulkan").cost()
    assert cost["on_host"] == {"cholesky": 1}
    assert {name: cost[name] for name in ("flops", "bytes")} == {name: plain[name] for name in ("flops", "bytes")}
    large = xt.spec(t=5, i=40000, dtype="f4")
    steps = xt.jit(lambda x: xt.scan(lambda c, r: (xt.exp(c) * r, c.sum()), x.isel(t=0), x, dim="t"))
    cost = steps.lower(large, device="vulkan").cost()
    assert cost["on_host"] == {}
    assert cost["launches"] >= 10  # five steps, of a product and a sum
    products = lambda a: xt.dot(xt.dot(a, a.rename(row="col", col="k")), a.rename(row="k", col="m"))  # noqa: E731
    cost = xt.jit(products).lower(a, device="vulkan").cost()
    assert cost["arena"] >= 4 * 8 * 8


def test_a_parameter_called_device_is_the_functions_own():
    f = xt.jit(lambda x, device: x * device)
    assert f.lower(xt.spec(a=2, dtype="f4"), device=2.0).outputs[0].dims == ("a",)


@needs_device
def test_compiled_for_a_device():
    x = xt.array(host(3), "a")
    compiled = xt.jit(lambda x: x * 2).lower(x, device=NAME).compile()
    for given in (x, x.to(NAME), host(3)):
        y = compiled(given)
        assert y.device == NAME
        assert y.values.tolist() == [0, 2, 4]
    on_cpu = xt.jit(lambda x: x * 2).lower(x).compile()
    with pytest.raises(xt.DeviceError, match=rf"argument 0 .* is on '{NAME}', and it was compiled for 'cpu'"):
        on_cpu(x.to(NAME))
