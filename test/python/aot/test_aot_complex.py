"""Bundles of complex functions: loaded in Python, and called from C with the header's types."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import COMPILER

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")
A = (np.arange(6).reshape(2, 3) + 1j * np.arange(6)[::-1].reshape(2, 3)).astype("c8")

MAIN = r"""
#include "waves.h"
#include <complex.h>
#include <stdio.h>
int main(void) {
  float _Complex z[2] = {1 + 2 * I, 3 - I};
  float _Complex y[2];
  float size[2];
  waves_turned_z in = {z, 2};
  waves_turned_result0 out = {y, 2};
  waves_turned_result1 lengths = {size, 2};
  if (waves_turned(&in, &out, &lengths, 0))
    return 1;
  const float *p = (const float *)y;
  printf("%g %g %g %g %g\n", p[0], p[1], p[2], p[3], size[0] * size[0]);
  return 0;
}
"""


def turned(z: Any) -> Any:
    return z * 1j, abs(z)


def test_loaded(tmp_path: Path) -> None:
    def f(z: Any, k: Any, offset: Any) -> Any:
        return xt.exp(z) * k * weights + offset

    weights = xt.array(A[0], "s")
    path = tmp_path / "f.xtb"
    xt.export(f, args=(xt.spec(t=None, s=3, dtype="c8"), 2j, xt.array(1j)), path=path)
    g = xt.load(path)
    for _ in range(2):  # the second call is C++'s, where it can be
        got = g(xt.array(A, dims=("t", "s")), 3j, 2.0)
        assert got.dtype == "c16"
        np.testing.assert_allclose(got.values, np.exp(A) * 3j * A[0] + 2, rtol=1e-5)
    inlined = xt.grad(lambda z: abs(g(z, 1j, 0j)).sum())(xt.array(A, dims=("t", "s")))
    np.testing.assert_allclose(inlined.values, np.exp(A.real) * abs(A[0]) + 0j, rtol=1e-5, atol=1e-4)
    with pytest.raises(xt.Error, match="complex"):
        g(xt.ones(t=2, s=3), 3j, 1j)


@pytest.mark.skipif(not COMPILER, reason="no C compiler is here")
def test_from_c(tmp_path: Path) -> None:
    bundle = xt.export(turned, args=(xt.spec(t=None, dtype="c8"),), name="waves")
    bundle.extract(tmp_path)
    shared = tmp_path / str(bundle.manifest.targets[0].shared)
    (tmp_path / "main.c").write_text(MAIN)
    command = [
        COMPILER,
        "-std=c99",
        "main.c",
        str(shared),
        "-I",
        str(tmp_path),
        "-o",
        "main",
        f"-Wl,-rpath,{shared.parent}",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True).stdout
    assert said == "-2 1 1 3 5\n"
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", str(tmp_path), "-include", "waves.h"]
    for language in ("c", "c++"):
        subprocess.run([COMPILER, "-x", language, *strict, "/dev/null"], cwd=tmp_path, check=True)
