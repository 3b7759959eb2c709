"""Code compiled ahead of time beside the same function under jit: what loading costs, what a call costs in Python and
in C, whether kernels are as fast, and how large a bundle is.

    python benchmarks/aot.py [calls]

Times are the least of many alternating rounds: other programs only ever add to them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xtensor as xt

_C = r"""
#include "tiny.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The kernel itself, as the library calls it. */
void tiny_add__entry(void **buffers, const int64_t *sizes, void *call);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void) {
  enum { N = 200000, ROUNDS = 30 };
  float x[8] = {1}, y[8] = {2}, z[8];
  xt_context context;
  memset(&context, 0, sizeof context);
  tiny_add_x a = {x, 8};
  tiny_add_y b = {y, 8};
  tiny_add_result c = {z, 8};
  void *buffers[] = {x, y, z};
  int64_t sizes[] = {8, 8};
  struct { int32_t status[6]; void *services, *state; } call = {{0}, 0, 0};
  double whole = 1e30, kernel = 1e30;
  for (int r = 0; r < ROUNDS; ++r) {
    double start = now();
    for (int i = 0; i < N; ++i)
      if (tiny_add(&a, &b, &c, &context))
        return 1;
    double middle = now();
    for (int i = 0; i < N; ++i)
      tiny_add__entry(buffers, sizes, &call);
    double end = now();
    if ((middle - start) / N < whole)
      whole = (middle - start) / N;
    if ((end - middle) / N < kernel)
      kernel = (end - middle) / N;
  }
  printf("%f %f\n", whole, kernel);
  return 0;
}
"""


def best(functions: dict[str, Callable[[], Any]], rounds: int = 40, at_least: float = 0.004) -> dict[str, float]:
    """Seconds per call of each, alternating."""
    counts = {}
    for name, f in functions.items():
        f()
        count, spent = 1, 0.0
        while spent < at_least:
            count *= 2
            start = time.perf_counter()
            for _ in range(count):
                f()
            spent = time.perf_counter() - start
        counts[name] = count
    found = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, f in functions.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                f()
            found[name] = min(found[name], (time.perf_counter() - start) / counts[name])
    return found


def classify(image: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    hidden = xt.tanh(xt.dot(image, w1, dim="pixel") + b1)
    return xt.dot(hidden, w2, dim="hidden") + b2


def softmax(x: Any) -> Any:
    return xt.nn.softmax(x, dim="j")


def wave(x: Any) -> Any:
    return xt.sin(x) * xt.exp(-xt.square(x))


def product(x: Any, y: Any) -> Any:
    return xt.dot(x, y, dim="j")


def total(x: Any) -> Any:
    return xt.sum(xt.square(x), dim="j")


rng = np.random.default_rng(0)


def normal(dtype: str = "f4", **sizes: int) -> Any:
    return xt.array(rng.normal(size=tuple(sizes.values())).astype(dtype), tuple(sizes))


def kernels() -> None:
    print("kernels: bundle beside jit")
    weights = normal(pixel=64, hidden=64), normal(hidden=64), normal(hidden=64, digit=10), normal(digit=10)
    for f, args in (
        (classify, (normal(sample=256, pixel=64), *weights)),
        (softmax, (normal(i=500, j=1000),)),
        (wave, (normal("f8", i=200_000),)),
        (product, (normal(i=256, j=256), normal(j=256, k=256))),
        (total, (normal(i=1000, j=1000),)),
    ):
        g, h = xt.load(xt.export(f, args=args, c=False)), xt.jit(f)
        times = best({"jit": lambda h=h, args=args: h(*args), "bundle": lambda g=g, args=args: g(*args)})
        jit, bundle = times["jit"] * 1e6, times["bundle"] * 1e6
        print(f"  {f.__name__:<10} jit {jit:9.2f} us   bundle {bundle:9.2f} us   {bundle / jit:.3f}")


def spellings() -> dict[str, Callable[[], Any]]:
    """Calls of functions of 8 elements, in the ways that a call may be spelled."""

    def add(x: Any, y: Any) -> Any:
        return x + y

    def layer(p: Any, x: Any) -> Any:
        return x * p["scale"] + p["rest"][0]

    def power(x: Any, n: Any) -> Any:
        return x + n

    x, y, bytes_ = normal(i=8), normal(i=8), xt.array(np.arange(8, dtype="u1"), "i")
    spec, p = xt.spec(i=None, dtype="f4"), {"scale": x, "rest": [y]}
    made = {
        "fixed": (xt.export(add, args=(x, y), c=False), (x, y), {}),
        "open": (xt.export(add, args=(spec, spec), c=False), (x, y), {}),
        "keyword": (xt.export(add, args=(x, y), c=False), (x,), {"y": y}),
        "dict": (xt.export(layer, args=(p, x), c=False), (p, x), {}),
        "open dict": (xt.export(layer, args=({"scale": spec, "rest": [spec]}, spec), c=False), (p, x), {}),
        "ranged int": (xt.export(power, args=(bytes_, 3), c=False), (bytes_, 3), {}),
        "open and a number": (xt.export(power, args=(spec, 3.0), c=False), (x, 3.0), {}),
    }
    functions = {name: (xt.load(bundle), args, kwargs) for name, (bundle, args, kwargs) in made.items()}
    functions["jit"] = xt.jit(add), (x, y), {}
    functions["jit keyword"] = xt.jit(add), (x,), {"y": y}
    functions["jit dict"] = xt.jit(layer), (p, x), {}
    return {
        name: lambda g=g, args=args, kwargs=kwargs: g(*args, **kwargs) for name, (g, args, kwargs) in functions.items()
    }


def calls(folder: Path) -> None:
    def add(x: Any, y: Any) -> Any:
        return x + y

    print("a call from Python, 8 elements:")
    for name, seconds in best(spellings()).items():
        print(f"  {name:<20} {seconds * 1e9:6.0f} ns")
    spec = xt.spec(i=None, dtype="f4")
    bundle = xt.export(add, args=(spec, spec), name="tiny")
    compiler = shutil.which("cc")
    if not compiler:
        print("a call from C: there is no C compiler")
        return
    out = bundle.extract(folder)
    (folder / "main.c").write_text(_C)
    archive = out / str(bundle.manifest.targets[0].archive)
    subprocess.run([compiler, "-O2", f"-I{out}", folder / "main.c", archive, "-lm", "-o", folder / "main"], check=True)
    whole, kernel = map(float, subprocess.run([folder / "main"], capture_output=True, check=True).stdout.split())
    print(f"a call from C, 8 elements, open size: {whole:.1f} ns, of which the kernel {kernel:.1f} ns")


_LOAD = """
import sys, time, numpy as np, xtensor as xt
x = xt.array(np.ones((4, 64), "f4"), ("sample", "pixel"))
shapes = ((64, 64), ("pixel", "hidden")), (64, "hidden"), ((64, 10), ("hidden", "digit")), (10, "digit")
rest = [xt.array(np.ones(s, "f4"), d) for s, d in shapes] if "passed" in sys.argv else []
time.sleep(0.3)  # the compiler loads beside the import
start = time.perf_counter()
g = xt.load(sys.argv[1])
middle = time.perf_counter()
g(x, *rest)
print(middle - start, time.perf_counter() - middle)
"""


def loading(folder: Path) -> None:
    sizes = [{"sample": None, "pixel": 64}, {"pixel": 64, "hidden": 64}, {"hidden": 64}]
    sizes += [{"hidden": 64, "digit": 10}, {"digit": 10}]
    path = folder / "digits.xtb"
    start = time.perf_counter()
    xt.export(classify, args=[xt.spec(s, dtype="f4") for s in sizes], path=path)
    print(
        f"digits: {path.stat().st_size} bytes without weights, exported in {(time.perf_counter() - start) * 1e3:.0f} ms"
    )
    loaded(path, "passed")
    weights = normal("f4", pixel=64, hidden=15_000), normal("f4", hidden=15_000)
    weights += normal("f4", hidden=15_000, digit=36), normal("f4", digit=36)
    path = folder / "baked.xtb"
    xt.export(lambda image: classify(image, *weights), args=(xt.spec(sizes[0], dtype="f4"),), path=path)
    print(f"{sum(w.values.nbytes for w in weights) / 1e6:.1f} MB of weights baked in: {path.stat().st_size} bytes")
    loaded(path)


def loaded(path: Path, *options: str) -> None:
    runs = [
        subprocess.run([sys.executable, "-c", _LOAD, path, *options], capture_output=True, check=True).stdout.split()
        for _ in range(10)
    ]
    load, first = (min(float(r[i]) for r in runs) * 1e3 for i in (0, 1))
    print(f"  a new process: load {load:.2f} ms, first call {first:.2f} ms")


def main() -> None:
    if sys.argv[1:] == ["calls"]:
        with tempfile.TemporaryDirectory() as folder:
            calls(Path(folder))
        return
    with tempfile.TemporaryDirectory() as folder:
        loading(Path(folder))
        calls(Path(folder) / "c")
    kernels()


if __name__ == "__main__":
    main()
