"""Bundles with kernels for devices: loaded in Python, and run by a program that knows nothing but libvulkan."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import COMPILER, HELPERS, ROOT
from xtensor import _native

pytestmark = pytest.mark.cpu_only("the tests name their devices")

rng = np.random.default_rng(0)
w = xt.array(rng.normal(size=(64, 10)).astype("f4"), ("pixel", "digit"))

vulkan = pytest.mark.skipif(not _native.device_count("vulkan"), reason="there is no Vulkan driver")


def classify(image: Any) -> Any:
    """Probabilities: image(sample, pixel) -> (sample, digit)"""
    return xt.nn.softmax(xt.tanh(xt.dot(image, w, dim="pixel")), dim="digit")


def picture(samples: int) -> Any:
    return xt.array(rng.normal(size=(samples, 64)).astype("f4"), ("sample", "pixel"))


FIXED = (xt.spec(sample=300, pixel=64, dtype="f4"),)
OPEN = (xt.spec(sample=None, pixel=64, dtype="f4"),)


@vulkan
@pytest.mark.parametrize("specs", [FIXED, OPEN], ids=["fixed", "open"])
def test_arrays_decide_where_a_loaded_function_runs(specs: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"
    xt.export(classify, args=specs, targets=("cpu", "vulkan"), path=path)
    g, x = xt.load(path), picture(300)
    on_cpu, on_device = g(x), g(x.to("vulkan"))
    assert (on_cpu.device, on_device.device) == ("cpu", "vulkan")
    np.testing.assert_array_equal(on_device.values, xt.jit(classify)(x.to("vulkan")).values)
    np.testing.assert_allclose(on_device.values, on_cpu.values, rtol=1e-5)
    for _ in range(3):  # found by C++ by now
        np.testing.assert_array_equal(g(x.to("vulkan")).values, on_device.values)


@vulkan
def test_a_bundle_for_a_device_alone(tmp_path: Path) -> None:
    bundle = xt.export(classify, args=FIXED, targets="vulkan")
    g = xt.load(bundle)
    assert g.target == "vulkan"
    x = picture(300)
    for _ in range(2):
        with pytest.raises(
            xt.DeviceError, match=r"on 'cpu', and .* has no code for this machine's CPU. Move it to 'vulkan' by x\.to"
        ):
            g(x)
        assert g(x.to("vulkan")).device == "vulkan"
    found = xt.load(bundle, target="vulkan")(x)  # asked for: moved there, as by jit(device=)
    assert found.device == "vulkan"
    np.testing.assert_allclose(found.values, classify(x).values, rtol=1e-5)
    gradient = xt.grad(lambda x: xt.sum(xt.square(g(x))))(x.to("vulkan"))
    np.testing.assert_allclose(
        gradient.values, xt.grad(lambda x: xt.sum(xt.square(classify(x))))(x).values, rtol=1e-4, atol=1e-6
    )


@vulkan
def test_a_bundle_for_cpus_says_so_where_arrays_are_on_a_device(tmp_path: Path) -> None:
    g = xt.load(xt.export(classify, args=FIXED))
    with pytest.raises(xt.DeviceError, match=r"has nothing for target 'vulkan'; it has cpu(.|\n)*Move it to 'cpu'"):
        g(picture(300).to("vulkan"))


@vulkan
def test_devices_that_lack_something() -> None:
    bundle = xt.export(classify, args=FIXED, targets="vulkan,i64,subgroup=1,workgroup_bytes=999999999,max_threads=64")
    with pytest.raises(xt.DeviceError, match=r"needs workgroup_bytes=999999999, which the device 'vulkan'"):
        xt.load(bundle)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("vulkan,telepathy", r"says 'telepathy', which is not a property of devices: .*f64"),
        ("vulkan,max_threads=many", "says 'max_threads=many'"),
        ("cuda,sm=0", "says 'sm=0'"),
        ("metal,=3", "says '=3'"),
        ("vulkan:first", "there is no device 'vulkan:first'"),
        ("cuda:sm90", r"no device 'cuda:sm90'; .*for code that runs elsewhere, a profile such as 'cuda,sm=90'"),
        ("gpu", r"no bundle can be made for target 'gpu': the targets are cpu \(.*, vulkan, metal and cuda"),
    ],
)
def test_words_that_say_nothing_of_a_device(target: str, message: str) -> None:
    with pytest.raises(xt.Error, match=message):
        xt.export(classify, args=FIXED, targets=["cpu", target])


def test_dtypes_that_a_device_lacks() -> None:
    for f, dtype in ((lambda x: x * 2.0, "f8"), (lambda x: xt.sum(x.astype("f8")).astype("f4"), "f4")):
        with pytest.raises(xt.DeviceError, match=r"xt\.export: .* is float64.*, and the device 'metal' has no float64"):
            xt.export(f, args=(xt.spec(i=3, dtype=dtype),), targets="metal")


@vulkan
def test_an_index_out_of_range_on_a_device(tmp_path: Path) -> None:
    specs = (xt.spec(row=4, dtype="f4"), xt.spec(k=2, dtype="i4"))
    g = xt.load(xt.export(lambda x, i: x.isel(row=i), args=specs, targets="vulkan"), target="vulkan")
    x = xt.array(np.arange(4, dtype="f4"), "row")
    assert g(x, xt.array(np.array([3, -4], "i4"), "k")).values.tolist() == [3, 0]
    with pytest.raises(IndexError, match=r"index 9 is out of range for size 4 of dim 'row'"):
        _ = g(x, xt.array(np.array([0, 9], "i4"), "k")).values


def launches(bundle: xt.Bundle, backend: str, folder: Path) -> dict[str, Any]:
    bundle.extract(folder)
    return json.loads((folder / backend / "launches0.json").read_text())


_PROFILES = {
    "vulkan": "vulkan,i64,subgroup=1,workgroup_bytes=16384,max_threads=256",
    "metal": "metal,i64,subgroup=1,workgroup_bytes=16384,max_threads=256",
    "cuda": "cuda,f64,i64,subgroup=32,workgroup_bytes=16384,max_threads=256,sm=80",
}


@pytest.mark.parametrize("backend", _PROFILES)
def test_launches_of_devices_that_are_not_here(backend: str, tmp_path: Path) -> None:
    try:
        bundle = xt.export(classify, args=FIXED, targets=_PROFILES[backend])
    except xt.CompileError as error:
        if "SPIRV-Cross" not in str(error):
            raise
        pytest.skip(str(error).splitlines()[0])
    table = launches(bundle, backend, tmp_path)
    assert table["profile"] == _PROFILES[backend]
    assert [(a["name"], a["bytes"]) for a in table["arguments"]] == [("image", 300 * 64 * 4)]
    assert [a["bytes"] for a in table["weights"]] == [64 * 10 * 4]
    assert [a["bytes"] for a in table["results"]] == [300 * 10 * 4]
    memory = {
        "argument": table["arguments"],
        "weight": table["weights"],
        "result": table["results"],
        "constant": table["constants"],
        "temporaries": [{"bytes": table["temporaries"]}],
        "reports": [{"bytes": table["reports"]}],
    }
    assert table["steps"]
    for step in table["steps"]:
        kernel = table["kernels"][step["kernel"]]
        assert len(step["buffers"]) == kernel["buffers"]
        assert len(step["numbers"]) == kernel["numbers"]
        assert all(0 < n < 2**31 for n in (*step["groups"], *kernel["threads"]))
        for place in step["buffers"]:
            assert (
                0
                <= place["offset"]
                <= place["offset"] + place["bytes"]
                <= memory[place["of"]][place["number"]]["bytes"]
            )
            assert place["offset"] % 256 == 0
    marks = {"vulkan": b"\x03\x02\x23\x07", "metal": b"kernel void", "cuda": b".visible .entry"}
    for kernel in table["kernels"]:
        assert marks[backend] in (tmp_path / kernel["file"]).read_bytes()


_RUN = """
import sys, numpy as np, xtensor as xt
g = xt.load(sys.argv[1], target=sys.argv[2])
x = np.fromfile(sys.argv[3], "f4").reshape(300, 64)
y = g(xt.array(x, ("sample", "pixel")))
assert y.device == sys.argv[2], y.device
y.values.tofile(sys.argv[4])
"""


@pytest.mark.parametrize("backend", ["metal", "cuda"])
def test_drivers_for_tests_run_bundles(backend: str, tmp_path: Path) -> None:
    """Kernels' texts from a bundle, by what stands in for Metal and for NVIDIA's driver."""
    if backend == "metal":
        import metal_shim

        if sys.platform == "darwin" or metal_shim.compiler() is None:
            pytest.skip("no clang++ to run kernels on the CPU with")
        variable, driver = "XTENSOR_METAL_LIBRARY", str(metal_shim.built())
    else:
        clang = shutil.which("clang-22") or shutil.which("clang")
        if clang is None:
            pytest.skip("no clang to build cuda_driver.c with")
        variable, driver = "XTENSOR_CUDA_LIBRARY", str(tmp_path / "libcuda.so.1")
        sources = [HELPERS / name for name in ("cuda_driver.c", "ptx.c", "ptx_run.c")]
        subprocess.run(
            [clang, "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o", driver, *sources, "-lm", "-lpthread"],
            check=True,
        )
    try:
        bundle = xt.export(classify, args=FIXED, targets=_PROFILES[backend], path=tmp_path / "m.xtb")
    except xt.CompileError as error:
        if "SPIRV-Cross" not in str(error):
            raise
        pytest.skip(str(error).splitlines()[0])
    assert bundle.manifest.targets[0].code[0].launches
    x = picture(300)
    (tmp_path / "x").write_bytes(x.values.tobytes())
    done = subprocess.run(
        [sys.executable, "-c", _RUN, tmp_path / "m.xtb", backend, tmp_path / "x", tmp_path / "y"],
        env={**os.environ, variable: driver},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = np.fromfile(tmp_path / "y", "f4").reshape(300, 10)
    np.testing.assert_allclose(found, classify(x).values, rtol=1e-5)


def test_programs_without_a_list_say_why(tmp_path: Path) -> None:
    def target(f: Any, *specs: Any) -> Any:
        return xt.export(f, args=specs, targets=_PROFILES["vulkan"]).manifest.targets[0].code[0]

    def step(h: Any, v: Any) -> Any:
        h = xt.tanh(xt.dot(h, w, dim="h").rename({"g": "h"}) + v)
        return h, h

    def walk(x: Any) -> Any:
        return xt.scan(step, x.isel(t=0), x, dim="t")

    w = xt.ones(h=512, g=512, dtype="f4")
    walked = target(walk, xt.spec(t=None, h=512, dtype="f4"))
    assert walked.launches is None
    assert walked.why == "which kernels it launches depends on sizes that are open"
    sorted_ = target(lambda x: xt.sort(x, dim="i"), xt.spec(i=8, dtype="f4"))
    assert sorted_.launches is None
    assert sorted_.why == "the CPU reads values or computes in its midst"


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """examples/aot_vulkan, built."""
    if not shutil.which("cmake") or not COMPILER:
        pytest.skip("there is no CMake or C compiler")
    folder = tmp_path_factory.mktemp("launch")
    source = ROOT / "examples" / "aot_vulkan"
    for command in (["cmake", "-S", source, "-B", folder], ["cmake", "--build", folder]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "launch"


def attend(x: Any) -> Any:
    """Several kernels, temporaries and two results."""
    y = xt.nn.softmax(xt.dot(x, x.rename({"i": "k"}), dim="j"), dim="k")
    return xt.dot(y, x.rename({"i": "k"}), dim="k"), xt.cumsum(xt.sum(y, dim="i"), dim="k")


def spread(x: Any) -> Any:
    """A divisor that is passed as a float, and an array in another order."""
    return xt.mean(x, dim="i"), xt.cumsum(x, dim="j").transpose("j", "i")


def ran(launch: Path, model: Path, folder: Path, sizes: list[str], x: Any, results: int) -> list[Path]:
    """The files with the results of examples/aot_vulkan."""
    (folder / "x.bin").write_bytes(np.ascontiguousarray(x.values).tobytes())
    files = [folder / f"{i}.bin" for i in range(results)]
    command = [launch, model, "vulkan/launches0.json", *sizes, folder / "x.bin", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return files


@pytest.mark.sampled(2)
@vulkan
@pytest.mark.parametrize(
    ("f", "specs"),
    [
        (classify, FIXED),
        (classify, OPEN),
        (attend, (xt.spec(i=200, j=150, dtype="f4"),)),
        (attend, (xt.spec(i=None, j=150, dtype="f4"),)),
        (attend, (xt.spec(i=None, j=None, dtype="f4"),)),
        (spread, (xt.spec(i=None, j=None, dtype="f4"),)),
    ],
)
def test_a_program_of_libvulkan_alone(launch: Path, tmp_path: Path, f: Any, specs: Any) -> None:
    (spec,) = specs
    bundle = xt.export(f, args=specs, targets="vulkan")
    model = bundle.extract(tmp_path / "model")
    g = xt.load(bundle)
    for size in (1, 33, 300) if None in spec.shape else (0,):
        shape = [size + k if n is None else n for k, n in enumerate(spec.shape)]
        x = xt.array(rng.normal(size=shape).astype("f4"), spec.dims)
        expected = g(x.to("vulkan"))
        expected = expected if isinstance(expected, tuple) else (expected,)
        sizes = [f"{d}={n}" for d, n, fixed in zip(spec.dims, shape, spec.shape, strict=True) if fixed is None]
        files = ran(launch, model, tmp_path, sizes, x, len(expected))
        for file, y in zip(files, expected, strict=True):
            np.testing.assert_array_equal(np.frombuffer(file.read_bytes(), "f4").reshape(y.shape), y.values)


@vulkan
def test_the_program_asks_for_open_sizes(launch: Path, tmp_path: Path) -> None:
    model = xt.export(classify, args=OPEN, targets="vulkan").extract(tmp_path / "model")
    for words in ([], ["x.bin", "y.bin"], ["sample=two", "x.bin", "y.bin"], ["samples=2", "x.bin", "y.bin"]):
        command = [launch, model, "vulkan/launches0.json", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "as DIM=SIZE" in done.stderr


@vulkan
def test_the_program_tells_of_an_index_out_of_range(launch: Path, tmp_path: Path) -> None:
    specs = (xt.spec(row=4, dtype="f4"), xt.spec(k=2, dtype="i4"))
    model = xt.export(lambda x, i: x.isel(row=i), args=specs, targets="vulkan").extract(tmp_path / "model")
    (tmp_path / "x.bin").write_bytes(np.arange(4, dtype="f4").tobytes())
    (tmp_path / "i.bin").write_bytes(np.array([1, 9], "i4").tobytes())
    files = [tmp_path / n for n in ("x.bin", "i.bin", "y.bin")]
    done = subprocess.run([launch, model, "vulkan/launches0.json", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "index 9 is out of range for size 4" in done.stderr
    assert not files[2].exists()
