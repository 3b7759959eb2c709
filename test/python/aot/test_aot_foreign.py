"""Bundles of strangers: xt.load(native=False) compiles their programs and loads none of their code. What programs may
be, and what becomes of those that never end, take all memory or are nested deep."""

from __future__ import annotations

import hashlib
import io
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import xtensor as xt
from changed_bundle import changed
from xtensor import _native
from xtensor.aot import foreign
from xtensor.ir.context import compiler, context, mlir

F = "!xtensor.array<i: 3, f32>"

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")


@pytest.fixture(scope="module")
def data() -> bytes:
    w = xt.array(np.arange(1, 4, dtype="f4"), "i")
    return xt.export(lambda x: x * w, args=(xt.spec(i=3, dtype="f4"),), name="model", c=False).data


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "SECONDS", 20)


def bytecode(text: str) -> bytes:
    out = io.BytesIO()
    mlir().Module.parse(text, context()).operation.write_bytecode(out)
    return out.getvalue()


def main(body: str, attributes: str = "") -> str:
    return f"func.func @main(%x: {F}, %w: {F}) -> {F} {attributes} {{\n{body}\n}}"


def with_program(data: bytes, text: str) -> bytes:
    return changed(data, **{"module0.mlirbc": bytecode(text)})


# -- what runs --------------------------------------------------------------------------------------------------------


def test_the_program_runs_and_the_code_is_not_loaded(data: bytes) -> None:
    (kernel,) = [name for name in _native.read_zip(data) if name.endswith(".so")]
    bad = changed(data, **{kernel: b"\x7fELF of somebody else"})
    with pytest.raises(xt.BundleError, match="cannot be loaded"):
        xt.load(bad)
    g = xt.load(bad, native=False)
    x = xt.array(np.array([1, 2, 3], "f4"), "i")
    assert g(x).values.tolist() == [1, 4, 9]
    assert g.target == "cpu"
    assert xt.grad(lambda x: xt.sum(g(x) * g(x)))(x).values.tolist() == [2, 16, 54]
    assert xt.jit(g)(x).values.tolist() == [1, 4, 9]
    again = pickle.loads(pickle.dumps(g))
    assert again(x).values.tolist() == [1, 4, 9]
    assert not again._core.native
    with pytest.raises(xt.SizeError, match="dim 'i' has size 2; it must be 3"):
        g(xt.ones(i=2, dtype="f4"))
    with pytest.raises(xt.DeviceError, match="no device 'cpu:x86-64'"):
        xt.load(data, native=False, target="cpu:x86-64")


def test_open_sizes_numbers_and_several_functions() -> None:
    args = (xt.spec(i=None, dtype="f4"), 2)
    functions = {"times": (lambda x, s=2: x * s, args), "last": (lambda x, s=0: x.isel(i=s), args)}
    g = xt.load(xt.export(functions, name="model", targets="cpu:riscv64-linux-gnu"), native=False)
    for n in (2, 5):
        x = xt.arange(n, dim="i").astype("f4")
        assert g.times(x, 3).values.tolist() == [3.0 * i for i in range(n)]
        assert float(g.last(x, n - 1)) == n - 1
        with pytest.raises(xt.IndexError, match=f"index {n} is out of range for size {n} of dim 'i'"):
            g.last(x, n)


def test_transforms_of_such_a_function() -> None:
    x = np.arange(6, dtype="f4").reshape(2, 3)
    g = xt.load(xt.export(lambda x: (x * x).sum(), (xt.spec(i=3, dtype="f4"),)), native=False)
    one, both = xt.array(x[1], dims="i"), xt.array(x, dims=("batch", "i"))
    assert float(xt.jit(lambda x: g(x) + 1)(one)) == (x[1] ** 2).sum() + 1
    np.testing.assert_array_equal(xt.grad(g)(one).values, 2 * x[1])
    np.testing.assert_array_equal(xt.vectorize(g, "batch")(both).values, (x**2).sum(1))


def test_a_bundle_that_is_expected(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"
    path.write_bytes(data)
    right = f"sha256:{hashlib.sha256(data).hexdigest()}"
    for source in (path, data, xt.Bundle(data, "m")):
        assert xt.load(source, expect=right)(xt.ones(i=3, dtype="f4")).values.tolist() == [1, 2, 3]
        with pytest.raises(xt.BundleError, match=rf"it has {right}, and not sha256:0000"):
            xt.load(source, expect="sha256:" + "0" * 64)
    path.write_bytes(b"no bundle")
    with pytest.raises(xt.BundleError):
        xt.load(path, expect=right)
    for wrong in (right[7:], right[:-1], right.upper(), 3, ""):
        with pytest.raises(xt.ArgumentError, match='"sha256:" and 64 digits'):
            xt.load(data, expect=wrong)  # type: ignore[arg-type]


# -- what a program may be --------------------------------------------------------------------------------------------

RETURN = f"return %x : {F}"
REFUSED = {
    "nothing": ("", "more, or less, than a function @main"),
    "two functions": (main(RETURN).replace("@main", "@other") + main(RETURN), "more, or less, than a function @main"),
    "a declaration": (f"func.func private @main({F}, {F}) -> {F}", "is not one block"),
    "another dialect": (main(f"%0 = arith.constant 1 : i32\n{RETURN}"), "arith"),
    "code": (main(f'llvm.inline_asm "int3", "" : () -> ()\n{RETURN}'), "llvm"),
    "a type of another dialect": ("func.func @main(%x: !llvm.ptr) -> !llvm.ptr { return %x : !llvm.ptr }", "llvm"),
    "a global": ("llvm.mlir.global_ctors ctors = [], priorities = [], data = []\n" + main(RETURN), "llvm"),
    "memory": ("func.func @main(%x: memref<3xf32>) -> memref<3xf32> { return %x : memref<3xf32> }", "is not an array"),
    "a routine": (
        main('%y = xtensor.library "xt_sort" outs(%x : TYPE) -> TYPE\nreturn %y : TYPE'.replace("TYPE", F))
        .replace(F, "tensor<3xf32>"), "is not an array",
    ),
    "Python": (
        main(f'xtensor.callback ordered "x" number 0 (%x) : ({F}) -> ()\n{RETURN}'), "not an op that a trace makes",
    ),
    "other processes": (
        main(f"%y = xtensor.all_reduce sum %x across data communicator 0 : {F}\nreturn %y : {F}"),
        "not an op that a trace makes",
    ),
    "a call": (main(f"func.call @main(%x, %w) : ({F}, {F}) -> {F}\n{RETURN}"), "is not an op that a trace makes"),
    "what passes work out": (
        main(f"%y = xtensor.exp %x {{xtensor.stand_in}} : {F}\n{RETURN}"), "has the attribute.*xtensor.stand_in",
    ),
    "of a module": (f"module attributes {{xtensor.target = \"vulkan\"}} {{ {main(RETURN)} }}", "module has attributes"),
    "of a function": (main(RETURN, "attributes {xtensor.inputs = 9}"), "has the attribute.*xtensor.inputs"),
    "of an argument": (
        main(RETURN).replace(f"%w: {F}", f"%w: {F} {{bufferization.writable = true}}"), "writable|says more",
    ),
    "values elsewhere": (
        main(f"%c = xtensor.constant dense_resource<r> : tensor<3xf32> as {F}\nreturn %c : {F}")
        + '\n{-# dialect_resources: {builtin: {r: "0x04000000000000000000000000000000"}} #-}', "kept outside",
    ),
    "a name that steers a terminal": (
        main(f'%y = xtensor.rename %x [i] to ["\\1B[2J"] : {F}\n{RETURN}'), "cannot be printed",
    ),
    "a place that steers a terminal": (main(f'%y = xtensor.exp %x : {F} loc("\\1B[2J":1:1)\n{RETURN}'), "printed"),
    "many dims": (
        main(f'%z = xtensor.broadcast %x : ({F}) -> !xtensor.array<{"".join(f"d{i}: 1, " for i in range(64))}i: 3, f32>'
             f"\n{RETURN}"), "up to 64 dims",
    ),
    "depth": (main("xtensor.checkpoint {\n" * 70 + "xtensor.yield\n}\n" * 70 + RETURN), "more than 64 regions"),
    "an index out of range": (
        main(f"%y = xtensor.slice %x [i] offsets [2] sizes [2] strides [1] : {F}\n{RETURN}"), "slice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_programs_that_no_trace_makes(name: str) -> None:
    text, message = REFUSED[name]
    assert not compiler().why_not_foreign(main(RETURN).encode())
    why = compiler().why_not_foreign(text.encode())
    assert why
    assert re.search(message, why), why


def test_a_bundle_with_such_a_program_is_refused(data: bytes) -> None:
    bad = with_program(data, main(f'llvm.inline_asm "int3", "" : () -> ()\n{RETURN}'))
    with pytest.raises(xt.BundleError, match=r"the program of .* cannot be compiled with native=False: .*llvm"):
        xt.load(bad, native=False)
    bad = with_program(data, main(RETURN).replace(F, F.replace("i: 3", "i: 4")))
    with pytest.raises(xt.BundleError, match="the IR is not that of the function in the manifest"):
        xt.load(bad, native=False)


# -- limits -----------------------------------------------------------------------------------------------------------


def doubling(times: int) -> str:
    """Linear maps, each of which applies the one before it twice."""
    s, maps = "!xtensor.array<i: 3, f32>", "!xtensor.linear<(!xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32>>"
    lines = [f"%y, %m0 = xtensor.pullback at(%x) wrt [0] {{\n^bb0(%a: {s}):\n%e = xtensor.sin %a : {s}"]
    lines.append(f"xtensor.yield %e : {s}\n}} : ({s}) -> ({s}, {maps})")
    for i in range(times):
        lines.append(f"%m{i + 1} = xtensor.linear {{\n^bb0(%t: {s}):")
        lines.append(f"%u = xtensor.apply %m{i}(%t) : {maps}, ({s}) -> {s}")
        lines.append(f"%v = xtensor.apply %m{i}(%u) : {maps}, ({s}) -> {s}")
        lines.append(f"xtensor.yield %v : {s}\n}} : {maps}")
    lines.append(f"%r = xtensor.apply %m{times}(%x) : {maps}, ({s}) -> {s}\nreturn %r : {s}")
    return main("\n".join(lines))


def test_a_program_that_doubles_without_end(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([0.5, 1, 2], "f4")
    g = xt.load(with_program(data, doubling(2)), native=False)
    np.testing.assert_allclose(g(xt.array(x, "i")).values, x * np.cos(x) ** 4, rtol=1e-5)
    monkeypatch.setattr(foreign, "SECONDS", 1)
    monkeypatch.setattr(foreign, "BYTES", 1 << 30)
    with pytest.raises(xt.BundleError, match=r"1 s of the processor and 1 GiB of memory"):
        xt.load(with_program(data, doubling(60)), native=False)


def test_a_program_that_is_nested_deep(data: bytes) -> None:
    text = main("xtensor.checkpoint {\n" * 400 + "xtensor.yield\n}\n" * 400 + RETURN)
    with pytest.raises(xt.BundleError, match=r"lies in more than 64 regions"):
        xt.load(with_program(data, text), native=False)


OPEN, SIZE = "!xtensor.array<j: ?, i64>", "!xtensor.array<i64>"
TWO_SIZES = main(f"""
%a = xtensor.constant dense<3> : tensor<i64> as {SIZE}
%b = xtensor.constant dense<100000000> : tensor<i64> as {SIZE}
%few = xtensor.iota size %a : {SIZE} : {OPEN}
%sums = xtensor.cumulative sum %few along j : {OPEN}
%many = xtensor.iota size %b : {SIZE} : {OPEN}
%both = xtensor.add %many, %sums : {OPEN}, {OPEN}
%s = xtensor.reduce max %both over [j] : {OPEN}
%f = xtensor.cast %s to f32 : {SIZE}
%y = xtensor.add %x, %f : {F}, !xtensor.array<f32>
return %y : {F}""")


def test_one_name_cannot_be_two_sizes(data: bytes) -> None:
    """Dims that only the inside has: equal names are equal sizes, and nothing compares these."""
    with pytest.raises(xt.UnsupportedError, match="a size is computed from values"):
        xt.load(with_program(data, TWO_SIZES), native=False)


def test_sizes_beyond_memory(data: bytes) -> None:
    large = "!xtensor.array<i: 3, k: 1152921504606846976, f32>"
    text = main(
        f"%b = xtensor.broadcast %x : ({F}) -> {large}\n%s = xtensor.cumulative sum %b along k : {large}\n"
        f"%y = xtensor.reduce max %s over [k] : {large}\nreturn %y : {F}"
    )
    with pytest.raises(xt.SizeError, match="larger than the address space"):
        xt.load(with_program(data, text), native=False)
    g = xt.load(with_program(data, text.replace("1152921504606846976", "1125899906842624")), native=False)
    with pytest.raises(xt.MemoryError, match="no memory for"):
        g(xt.ones(i=3, dtype="f4"))
