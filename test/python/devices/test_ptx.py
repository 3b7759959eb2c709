"""Kernels for NVIDIA's GPUs: what the compiler writes is taken by ptxas, NVIDIA's assembler, which needs no GPU.

ptxas comes with the PyPI package nvidia-cuda-nvcc-cu12 (scripts/requirements-peers.txt).
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from functions import FUNCTIONS

CHIPS = (80, 90)


def _ptxas() -> str | None:
    try:
        found = importlib.util.find_spec("nvidia.cuda_nvcc")
    except ModuleNotFoundError:
        found = None
    for folder in found.submodule_search_locations or () if found else ():
        if (path := Path(folder) / "bin" / "ptxas").exists():
            return str(path)
    return shutil.which("ptxas")


PTXAS = _ptxas()
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="no ptxas: pip install nvidia-cuda-nvcc-cu12==12.9.86")


def profile(chip: int) -> str:
    return (
        "cuda,f64,i64,f16,i16,i8,s16,s8,atomic_f32,atomic_f64,atomic_i64,subgroup=32,workgroup_bytes=49152,"
        f"max_threads=1024,sm={chip}"
    )


def kernels(f: Callable[..., Any], specs: tuple[Any, ...], chip: int = 80) -> list[str]:
    """One text per kernel."""
    text = xt.jit(f).lower(*specs, device=profile(chip)).as_text("ptx")
    return [".version" + part for part in text.split(".version")[1:]]


def spec(dtype: str = "f4", **sizes: int | None) -> xt.Spec:
    return xt.spec(dtype=dtype, **sizes)


# name -> function, arguments. Large ones are a launch each, small ones are done by one workgroup, rows by one each.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(name: str, f: Callable[..., Any], *specs: Any) -> None:
    assert name not in PROGRAMS
    PROGRAMS[name] = (f, specs)


LARGE, SMALL = {"a": 300, "b": 200}, {"a": 6, "b": 5}
REALS = ("f2", "bfloat16", "f4", "f8")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")

for dtype in (*REALS, *INTEGERS):
    for size, sizes in (("large", LARGE), ("small", SMALL)):
        x = spec(dtype, **sizes)
        program(f"arithmetic {dtype} {size}", lambda x, y: x * y + x - y, x, x)
    x = spec(dtype, **LARGE)
    program(f"compare {dtype}", lambda x, y: xt.where((x < y) | (x == 1), xt.maximum(x, y), xt.minimum(x, y)), x, x)
    program(f"reductions {dtype}", lambda x: (x.sum("b"), x.max("b"), x.min("a"), x.prod()), x)
    program(f"divide {dtype}", lambda x, y: (x / y, x // y, x % y), x, x)
    program(f"cast {dtype}", lambda x: tuple(x.astype(t) for t in (*REALS, *INTEGERS, "bool")), x)
    program(f"argmax {dtype}", lambda x: (x.argmax("b"), x.argmin("a")), x)
    program(f"cumsum {dtype}", lambda x: xt.cumsum(x, "b"), x)
    program(f"long scans {dtype}", lambda x: (xt.cumsum(x, "b"), xt.cumprod(x, "b", reverse=True), xt.cummax(x, "b")),
            spec(dtype, a=3, b=20000))  # fmt: skip
for dtype in INTEGERS:
    x = spec(dtype, **LARGE)
    program(f"bits {dtype}", lambda x, y: ((x & y) | ~x) ^ (x << 1) ^ (y >> 1), x, x)
for dtype in REALS:
    x = spec(dtype, **LARGE)
    program(f"softmax {dtype}", lambda x: xt.nn.softmax(x, "b"), x)
    program(f"layer_norm {dtype}", lambda x: xt.nn.layer_norm(x, "b"), x)
    program(f"matmul {dtype}", lambda x, y: x @ y, x, spec(dtype, b=200, c=100))
    program(f"dense {dtype}", lambda x, w, b: xt.maximum(x @ w + b, 0), spec(dtype, a=512, b=256),
            spec(dtype, c=512, b=256), spec(dtype, c=512))  # fmt: skip
    program(f"rounding {dtype}", lambda x: (xt.floor(x), xt.ceil(x), xt.round(x), xt.trunc(x), abs(x), xt.sign(x)), x)
    program(f"variance {dtype}", lambda x: (x.mean("b"), x.var("a"), x.std()), x)

NAMES = """reciprocal sigmoid silu gelu softplus square isnan isfinite signbit"""
for dtype in ("f2", "f4", "f8"):
    for name in (*FUNCTIONS, *NAMES.split()):
        program(f"{name} {dtype}", getattr(xt, name), spec(dtype, **LARGE))
    for name in ("atan2", "pow", "hypot", "copysign", "logaddexp", "nextafter", "remainder"):
        if (name, dtype) != ("nextafter", "f2"):
            program(f"{name} {dtype}", getattr(xt, name), spec(dtype, **LARGE), spec(dtype, **LARGE))

program("bool", lambda x, y: (x & y, x | ~y, x.any("a"), x.all("b"), x.sum()), *[spec("bool", **LARGE)] * 2)
program("broadcast", lambda x, y: x + y, spec(a=300), spec(b=200))
program("transpose", lambda x: x.transpose("b", "a") + 1, spec(**LARGE))
program("slices", lambda x: x.isel(a=slice(None, None, -2), b=slice(1, 100)) * 2, spec(**LARGE))
program("concat", lambda x, y: xt.concat([x, y, x], "a"), spec(**LARGE), spec(**LARGE))
program("pad", lambda x: xt.pad(x, a=(1, 2)), spec(**LARGE))
program("roll", lambda x: xt.roll(x, a=3), spec(**LARGE))
program("gather", lambda x, i: x.isel(a=i), spec(**LARGE), spec("i8", k=1000))
program("gather small indices", lambda x, i: xt.take(x, i, dim="b"), spec("f8", **SMALL), spec("i4", k=4))
program("scatter", lambda x, i: xt.grad(lambda x: xt.sin(x.isel(a=i)).sum())(x), spec(**LARGE), spec("i8", k=1000))
for kind in ("add", "multiply", "max", "min"):
    for dtype in ("f4", "f8", "i4", "u8", "i1"):
        program(f"scatter {kind} {dtype}", lambda x, i, v, kind=kind: getattr(x.at(a=i), kind)(v),
                spec(dtype, a=300), spec("i4", k=1000), spec(dtype, k=1000))  # fmt: skip
program("scatter rows", lambda x, i, v: x.at(a=i).max(v, mode="drop"), spec(a=300, b=20), spec("i8", k=100),
        spec(k=100, b=20))  # fmt: skip
program("sort", lambda x: xt.sort(x, "b"), spec(**LARGE))
program("scan", lambda x: xt.scan(lambda c, e: (c * 0.5 + e, xt.tanh(c)), xt.zeros(b=200, dtype="f4"), x, dim="a"),
        spec(**LARGE))  # fmt: skip
program("scan small", lambda x: xt.scan(lambda c, e: (c * 0.5 + e, c), xt.zeros(b=5, dtype="f4"), x, dim="a"),
        spec(**SMALL))  # fmt: skip
program("cond", lambda p, x: xt.cond(p, lambda a: a * 2, xt.exp, x), spec("bool"), spec(**LARGE))
program("cond small", lambda p, x: xt.cond(p, lambda a: a * 2, xt.exp, x), spec("bool"), spec(**SMALL))
program("switch", lambda i, x: xt.switch(i, [xt.sin, xt.cos, xt.exp], x), spec("i4"), spec(**SMALL))
program("while", lambda x: xt.while_loop(lambda c: c.sum() < 100, lambda c: c * 1.5 + 1, x), spec(**SMALL))
program("while large", lambda x: xt.while_loop(lambda c: c.sum() < 100, lambda c: c * 1.5 + 1, x), spec(**LARGE))
program("fori_loop", lambda x: xt.fori_loop(0, 10, lambda i, c: xt.sin(c) + i, x), spec(**SMALL))
program("dynamic sizes", lambda x: xt.nn.softmax(x, "b"), spec(a=None, b=None))
program("rolling", lambda x: x.rolling(a=5).mean(), spec(**LARGE))
program(
    "conv",
    lambda x, w: xt.nn.conv(x, w, {"h": "kh", "w": "kw"}, dim="c"),
    spec(c=3, h=20, w=20),
    spec(o=4, c=3, kh=3, kw=3),
)
program("gradient", lambda x, w: xt.grad(lambda w: xt.nn.softmax(xt.tanh(x @ w), "c").sum())(w),
        spec(**LARGE), spec(b=200, c=10))  # fmt: skip
program("attention", lambda q, k, v: xt.nn.attention(q, k, v, ("s", "t", "d")),
        spec(s=32, d=16), spec(t=64, d=16), spec(t=64, d=16))  # fmt: skip
program("random normal", lambda w: xt.random.normal(xt.random.Key(w), LARGE, dtype="f4"), spec("u8"))
program("random gamma", lambda w, a: xt.random.gamma(xt.random.Key(w), a, n=50), spec("u8"), spec(a=30))
program("cholesky between kernels", lambda x: xt.linalg.cholesky(xt.tanh(x) + x, ("a", "b")), spec(a=50, b=50))


def assembled(text: str, chip: int, folder: Path) -> str | None:
    """What ptxas says against a text, or None."""
    source = folder / "kernel.ptx"
    source.write_text(text)
    assert PTXAS is not None
    done = subprocess.run(
        [PTXAS, f"-arch=sm_{chip}", "--warning-as-error", "-O1", "-o", str(folder / "kernel.cubin"), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.sampled(48)
@needs_ptxas
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_is_taken(name: str, tmp_path: Path) -> None:
    f, specs = PROGRAMS[name]
    for chip in CHIPS:
        texts = kernels(f, specs, chip)
        assert texts
        for text in texts:
            assert f".target sm_{chip}" in text
            assert ".extern" not in text
            assert assembled(text, chip, tmp_path) is None, text


@pytest.mark.parametrize(
    "name", ["arithmetic f2 large", "arithmetic f4 large", "arithmetic f8 large", "sin f4", "pow f8"]
)
def test_nothing_is_fused(name: str) -> None:
    """ptxas makes x * y + z one operation where the rounding of x * y is not asked for."""
    for text in kernels(*PROGRAMS[name]):
        assert re.search(r"\b(add|sub|mul)\.rn\.f(16|32|64)\b", text)
        assert not re.search(r"\b(add|sub|mul)\.f(16|32|64)\b|\bfma\.|\.ftz|\.approx", text), text


def test_parameters_are_those_of_the_runtime() -> None:
    """Buffers in order as 64-bit addresses, then numbers of 32 bits; workgroups have as many threads as they say."""
    (text,) = kernels(lambda x: x * 2 + 1, (spec(a=None, b=None),))
    head = text[text.index(".entry") : text.index("{")]
    kinds = re.findall(r"\.param \.(u\d+)", head)
    assert kinds == ["u64"] * kinds.count("u64") + ["u32"] * kinds.count("u32")
    assert kinds.count("u64") == 2
    assert kinds.count("u32") >= 1
    assert ".reqntid 256, 1, 1" in head


def test_both_phases_are_there_to_look_at() -> None:
    lowered = xt.jit(xt.exp).lower(spec(**LARGE), device="cuda")
    assert "llvm.func @kernel0" in lowered.as_text("nvvm")
    assert "nvvm.kernel" in lowered.as_text("nvvm")
    assert ".visible .entry kernel0(" in lowered.as_text("ptx")
    assert ".target sm_80" in lowered.as_text("ptx")
    assert "xt_call_launch" in lowered.as_text("llvm")


def test_chips() -> None:
    """Code for the newest chip that LLVM knows runs on later ones."""
    assert ".target sm_86" in kernels(xt.exp, (spec(a=9),), 87)[0]
    assert ".target sm_120" in kernels(xt.exp, (spec(a=9),), 999)[0]
    with pytest.raises(xt.Error, match=r"compute capability 6\.1: the oldest is 7\.0"):
        kernels(xt.exp, (spec(a=9),), 61)
