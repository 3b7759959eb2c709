"""`f.memory`: temporaries lie in the arena that `f.cost` counts, and those of one time do not overlap."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array(np.random.default_rng(0).random((1003, 37)), ("sample", "inp"))
W = xt.array(np.random.default_rng(1).random((37, 37)), ("inp", "out"))


def layers(x, w):
    h = xt.tanh(x @ w).rename(out="inp")
    h = xt.tanh(h @ w).rename(out="inp")
    return xt.sum(xt.sort(h, "inp") * x)


def simulate(w, rain, wrap=lambda f: f):
    def step(level, rain):
        for _ in range(8):
            level = xt.tanh(level * w + rain)
        return level, None

    return xt.sum(xt.scan(wrap(step), xt.zeros(station=50), rain, dim="time")[0])


@pytest.mark.parametrize("f", [layers, xt.grad(layers, wrt=1)], ids=["layers", "gradient"])
def test_the_plan_is_one_of_the_arena(f):
    f = xt.jit(f)
    memory, cost = f.memory(X, W), f.cost(X, W)
    assert memory.arguments + memory.results == cost["bytes"]
    assert memory.arena + memory.inner == cost["arena"]
    assert memory.peak == cost["bytes"] + cost["arena"]
    assert memory.temporaries
    assert max(t.offset + t.bytes for t in memory.temporaries) == memory.arena
    for a, b in itertools.combinations(memory.temporaries, 2):
        if a.begin < b.end and b.begin < a.end:  # alive together in the middle of both
            assert a.offset + a.bytes <= b.offset or b.offset + b.bytes <= a.offset
    for t in memory.temporaries:
        assert 0 <= t.begin <= t.end < len(memory.steps)
        assert t.bytes >= np.prod(t.shape)
        assert all(file == __file__ for file, _ in t.lines)


def test_the_arena_of_open_sizes_is_that_of_the_call():
    """Sizes of several open dims are multiplied as floats too, in case the product is too large."""
    pairs = xt.jit(lambda x: xt.sort(xt.sort(xt.exp(x) + x.rename(t="u"), "u"), "t"), dynamic_dims="t")
    for size in (37, 1000):
        x = xt.spec(t=size)
        assert pairs.cost(x)["arena"] == pairs.memory(x).arena > 0


OPEN: dict[str, Any] = {
    "layers": lambda x: xt.sum(xt.square(xt.tanh(xt.exp(x - xt.mean(x, "t")) - xt.mean(x, "i"))), "t"),
    "gradient": xt.grad(lambda x: xt.sum(xt.tanh(xt.sort(x, "t") * xt.exp(x)))),
    "scan": lambda x: xt.sort(xt.scan(lambda c, r: (xt.tanh(c * r), c), xt.ones(i=32), x, dim="t")[1], "t"),
    "of two sizes": lambda x: xt.cumsum(xt.sort(x, "t"), dim="t") * xt.sort(xt.mean(x, "i"), "t") + xt.std(x, "i"),
}


@pytest.mark.cpu_only("kernels of devices have other temporaries")
@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("size", [0, 1, 10, 1000, 4097])
def test_memory_of_open_sizes_is_of_the_program_that_runs(name: str, size: int):
    f, x = xt.jit(OPEN[name], dynamic_dims="t"), xt.spec(t=size, i=32)
    memory = f.memory(x)
    assert memory.arena == f.cost(x)["arena"]
    found = memory.temporaries
    assert max((t.offset + t.bytes for t in found), default=0) == memory.arena
    assert all(t.bytes >= 8 * np.prod(t.shape) for t in found if t.dtype == "f64")


def test_temporaries_have_lines_and_functions():
    memory = xt.jit(layers).memory(X, W)
    largest = max(memory.temporaries, key=lambda t: t.bytes)
    assert largest.bytes >= 8 * X.size and largest.lines
    assert any("dot" in step.ops for step in memory.steps)
    text = str(memory)
    assert text.startswith("memory of layers: ") and "test_memory.py:" in text and "###" in text
    markup = memory._repr_html_()
    assert markup.count("<rect") == len(memory.temporaries) and "<svg" in markup


def test_what_is_recomputed_is_not_kept():
    w, rain = xt.ones(station=50), xt.ones(time=200, station=50)
    stored = xt.jit(xt.grad(simulate)).memory(w, rain)
    recomputed = xt.jit(xt.grad(lambda w, rain: simulate(w, rain, xt.checkpoint))).memory(w, rain)
    assert recomputed.peak < stored.peak / 2


@pytest.mark.cpu_only("devices do not reuse memory: test_device_features.py")
def test_donated_memory_is_not_needed_twice():
    f = xt.jit(lambda p, g: p - 0.1 * g, donate=0)
    memory = f.memory(X, X)
    assert memory.reused == memory.results == 8 * X.size
    assert memory.peak == memory.arguments


def test_nothing_to_draw():
    memory = xt.jit(lambda x: x + 1.0).memory(X)
    assert memory.temporaries == () and memory.arena == 0 and "<svg" not in memory._repr_html_()
    assert str(memory).count("\n") == 0


def test_open_sizes_are_refused():
    f = xt.jit(lambda x: xt.sort(x, "sample"), dynamic_dims="sample")
    open_spec = xt.spec(**{**X.sizes, "sample": None})
    for of in (f, f.lower(open_spec), f.lower(open_spec).compile()):
        for what in ("memory", "cost"):
            args = (open_spec,) if of is f else ()
            why = rf"the {what} of <lambda> depends on .* dims \(sample\), and the size of 'sample' is not given"
            with pytest.raises(xt.UnsupportedError, match=why):
                getattr(of, what)(*args)


@pytest.mark.parametrize("what", ["lower", "memory", "cost", "explore"])
def test_sizes_that_no_call_has_are_refused(what: str):
    f = xt.jit(lambda x, y: x * y, dynamic_dims="sample")
    sized = [xt.spec(sample=n) for n in (3, 4)]
    for args in (sized, [xt.ones(sample=3), sized[1]], [xt.ones(sample=n) for n in (3, 4)]):
        with pytest.raises(xt.SizeError, match=r"dim 'sample' has size 3 in \(sample: 3\) and 4 in \(sample: 4\)"):
            getattr(f, what)(*args)
    getattr(f, what)(xt.spec(sample=None), sized[0])  # a size that is not given goes with any


def test_one_temporary_is_called_one():
    memory = xt.jit(lambda x: xt.sort(x, "sample") * xt.sum(xt.sort(x, "sample"))).memory(X)
    memory.temporaries = memory.temporaries[:1]
    assert "\n1 temporary has " in str(memory)


MEASURED = """
import ctypes, re, sys
import numpy as np
import xtensor as xt
from pathlib import Path

def layers(x, w):
    h = xt.tanh(x @ w).rename(out="inp")
    h = xt.tanh(h @ w).rename(out="inp")
    return xt.sum(xt.sort(h, "inp") * x)

def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

x, w = xt.zeros(sample=40000, inp=100) + 0.5, xt.ones(inp=100, out=100) * 0.01
f = xt.jit(layers)
f(x.isel(sample=slice(0, 50)) + 0.0, w)
f.lower(x, w).compile()
plan = f.memory(x, w)
ctypes.CDLL(None).malloc_trim(0)  # else the call takes pages that the compiler freed, and counts them as its own
Path("/proc/self/clear_refs").write_text("5")  # the highest use begins anew
before = kilobytes("VmRSS")
f(x, w)
print(1024 * (kilobytes("VmHWM") - before), plan.peak - plan.arguments)
"""


@pytest.mark.cpu_only("the kernel counts the memory of a process")
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="no Linux, or one that does not count this")
def test_a_call_takes_the_memory_that_is_told():
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True)
    measured, told = map(int, done.stdout.split())
    assert told > 60e6
    assert measured == pytest.approx(told, abs=12e6)  # and what compiles


@pytest.mark.parametrize("f", [lambda x: x @ x.rename(t="u"), lambda x: xt.sum(x), lambda x: xt.cumsum(x, "t")])
def test_empty_arrays_of_open_size_cost_nothing(f: Any) -> None:
    assert xt.jit(f, dynamic_dims="t").cost(xt.spec(t=0, i=32))["flops"] == 0
