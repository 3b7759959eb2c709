"""What a wheel must do on a machine that has nothing else: scripts/test_wheel.sh runs this there."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
import xtensor as xt

checks = []


def check(function):
    checks.append(function)
    return function


@check
def programs_run_and_are_differentiated():
    x = np.random.default_rng(0).normal(size=(30, 4))
    a = xt.array(x, dims=("sample", "feature"))
    w = xt.array([0.1, -0.2, 0.3, 0.4], dims="feature")
    gradient = xt.jit(xt.grad(lambda w: xt.sum(xt.tanh(a @ w))))(w)
    np.testing.assert_allclose(gradient.values, x.T @ (1 - np.tanh(x @ w.values) ** 2), rtol=1e-12)


@check
def dataarrays_keep_their_labels():
    weather = xr.DataArray([1.0, 2.0, 6.0], dims="time", coords={"time": [1, 2, 4]})
    xr.testing.assert_allclose(xt.exp(weather), np.exp(weather))


@check
def openblas_lapack_and_fft_are_inside():
    x = np.random.default_rng(1).normal(size=(40, 40)) + 9 * np.eye(40)
    named = xt.array(x, dims=("row", "column"))
    right = xt.array(np.arange(40.0), dims="row")
    np.testing.assert_allclose(
        xt.linalg.solve(named, right, dims=("row", "column")).values, np.linalg.solve(x, right.values)
    )
    np.testing.assert_allclose(xt.fft.rfft(right, dim="row").values, np.fft.rfft(right.values), atol=1e-10)


@check
def errors_say_what_mlir_refuses():
    try:
        xt.add(xt.ones(time=4), xt.ones(time=5))
    except xt.SizeError as error:
        assert "dim 'time' has size 4 here and 5 there" in str(error), error
    else:
        raise AssertionError("arrays of different sizes were added")


class Vector(ctypes.Structure):
    """An array with one dim, as a bundle's header declares it."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int64))


@check
def a_bundle_has_a_library_for_c():
    def twice(x):
        return 2 * xt.exp(x)

    x = np.array([0, 1, 2], "f4")
    other = "aarch64" if platform.machine() == "x86_64" else "x86_64"
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "model.xtb", Path(folder) / "out"
        xt.export(twice, args=(xt.spec(n=3, dtype="f4"),), path=path, targets=("cpu", f"cpu:{other}-linux-gnu"))
        np.testing.assert_allclose(np.asarray(xt.load(path)(xt.array(x, dims="n"))), 2 * np.exp(x), rtol=1e-6)
        subprocess.run(["xtensor", "inspect", path, "--extract", out], check=True, stdout=subprocess.DEVNULL)
        libraries = sorted(out.rglob("libmodel.so"))
        assert len(libraries) == 2, [str(p) for p in out.rglob("*")]
        (own,) = (p for p in libraries if p.parent.name.startswith(platform.machine().replace("_", "-")))
        (header,) = out.rglob("model.h")
        symbol = re.findall(r'XT_SYMBOL\("(model_twice__\w+)"\)', header.read_text())[0]
        result = np.zeros(3, "f4")
        code = ctypes.CDLL(str(own))[symbol](
            ctypes.byref(Vector(x.ctypes.data, 3)), ctypes.byref(Vector(result.ctypes.data, 3)), None
        )
        assert code == 0, code
        np.testing.assert_allclose(result, 2 * np.exp(x), rtol=1e-6)


@check
def programs_for_text_run():
    text = "func.func @main(%x: !xtensor.array<a: 2, f32>) -> !xtensor.array<a: 2, f32> {\n"
    text += "  %0 = xtensor.exp %x : <a: 2, f32>\n  return %0 : !xtensor.array<a: 2, f32>\n}\n"
    done = subprocess.run(
        ["xtensor-opt", "--compile-to=linalg", "-"], input=text, capture_output=True, text=True, check=True
    )
    assert "math.exp" in done.stdout, done.stdout
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["xtensor-compile", "-", "-o", f"{folder}/m.xtb"], input=text, text=True, check=True)
        loaded = xt.load(f"{folder}/m.xtb")
        np.testing.assert_allclose(np.asarray(loaded(xt.array(np.zeros(2, "f4"), dims="a"))), 1)
        program, small, test = (Path(folder, name) for name in ("p.mlir", "small.mlir", "test.sh"))
        program.write_text(text)
        test.write_text('#!/bin/sh\ngrep -q xtensor.array "$1" && exit 1\nexit 0\n')
        test.chmod(0o755)
        subprocess.run(["xtensor-reduce", program, f"--reduction-tree=test={test}", "-o", small], check=True)
        assert "xtensor.exp" not in small.read_text(), small.read_text()
    start = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
    stop = {"jsonrpc": "2.0", "id": 1, "method": "shutdown"}
    sent = map(json.dumps, (start, stop, {"jsonrpc": "2.0", "method": "exit"}))
    words = "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in sent)
    done = subprocess.run(["xtensor-lsp-server"], input=words, capture_output=True, text=True, check=True)
    assert "hoverProvider" in done.stdout


@check
def kernels_are_written_for_devices_that_are_not_here():
    for device, phase, word in (("cuda", "ptx", ".entry"), ("metal", "msl", "kernel void")):
        lowered = xt.jit(lambda x: xt.exp(x) + 1).lower(xt.spec(n=1000, dtype="f4"), device=device)
        assert word in lowered.as_text(phase), lowered.as_text(phase)


@check
def devices_of_this_machine_compute():
    found = [d for d in xt.devices() if "vulkan" in str(d)]
    for device in found:
        x = xt.array(np.arange(5, dtype="f4"), dims="n", device=device)
        np.testing.assert_allclose(np.asarray(xt.exp(x)), np.exp(np.arange(5)), rtol=1e-5)
    return f"{len(found)} of Vulkan"


def main() -> None:
    for function in checks:
        said = function()
        print(f"  ok  {function.__name__}{f': {said}' if said else ''}", flush=True)


if __name__ == "__main__":
    assert not os.environ.get("LD_LIBRARY_PATH")
    print(xt.__file__)
    main()
