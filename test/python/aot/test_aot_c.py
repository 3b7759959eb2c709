"""Libraries for C: built, linked and run, with the bits of Python; what is wrong is told, and nothing is touched."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from c_library import CODES, Context, Library, typed
from places import COMPILER, CPP_COMPILER, ROOT

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")


def affine(x: Any, w: Any, b: Any) -> Any:
    """x(i, j) w(j, k) + b(k)"""
    return xt.dot(x, w, dim="j") + b


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    specs = (xt.spec(i=None, j=5), xt.spec(j=5, k=None), xt.spec(k=None))
    bundle = xt.export(affine, args=specs, name="model", blas=None)
    return Library(bundle, tmp_path_factory.mktemp("c"))


def test_a_right_call(library: Library) -> None:
    rng = np.random.default_rng(0)
    x, w, b, y = rng.normal(size=(7, 5)), rng.normal(size=(5, 3)), rng.normal(size=3), np.zeros((7, 3))
    assert library(typed(x, 7, 5), typed(w, 5, 3), typed(b, 3), typed(y, 7, 3)) == (0, "done")
    np.testing.assert_allclose(y, x @ w + b, rtol=1e-14)


def test_what_is_wrong_is_told_and_nothing_is_touched(library: Library) -> None:
    x, w, b, y = np.ones((7, 5)), np.ones((5, 3)), np.ones(3), np.full((7, 3), -1.0)
    a = {"x": typed(x, 7, 5), "w": typed(w, 5, 3), "b": typed(b, 3), "y": typed(y, 7, 3)}
    odd = np.zeros(8 * 8, "u1")[1:].ctypes.data
    wrong: list[tuple[str, Any, str, str]] = [
        ("x", None, "NULL", "argument x is null"),
        ("y", None, "NULL", "result result is null"),
        ("w", typed(None, 5, 3), "NULL", "argument w has no data: its pointer is null"),
        ("x", typed(x, 7, 6), "SIZE", "argument x: dim j has size 6, not 5"),
        ("x", typed(x, -7, 5), "SIZE", "argument x: dim i has size -7, which is negative"),
        ("x", typed(x, 2**62, 5), "SIZE", "argument x: dim i has size 4611686018427387904, which no memory can hold"),
        ("x", typed(x, 2**59, 5), "SIZE", "argument x: dim i has size 576460752303423488, which no memory can hold"),
        ("b", typed(b, 4), "SIZE", "argument b: dim k has size 4, not 3 as that of argument w"),
        ("y", typed(y, 6, 3), "SIZE", "result result: dim i has size 6, not 7 as that of argument x"),
        ("b", typed(odd, 3), "ALIGNMENT", "argument b is not aligned to 8 bytes"),
        ("y", typed(x, 7, 3), "OVERLAP", "result result shares memory with argument x"),
    ]
    for name, given, code, message in wrong:
        found = library(*(a | {name: given}).values())
        assert found == (CODES[code], f"model_affine: {message}"), name
        assert (y == -1).all()
        assert (x == 1).all()
    assert library(*a.values())[0] == 0


def test_without_a_context_the_code_is_all_that_is_told(library: Library) -> None:
    assert library.function(None, None, None, None, None) == CODES["NULL"]
    assert library.say(None, CODES["NULL"]) == b"an array is null"
    assert library.say(None, 99) == b"no code of this library"


def test_arrays_that_say_what_they_are(library: Library) -> None:
    x, w, b, y = np.ones((2, 5)), np.ones((5, 3)), np.ones(3), np.full((2, 3), -1.0)
    f8 = 12
    right = [(x, f8, ["i", "j"]), (w, f8, ["j", "k"]), (b, f8, ["k"]), (y, f8, ["i", "k"])]
    wrong = [
        (0, (x.astype("f4"), 11, ["i", "j"]), "DTYPE", "argument x has elements of float32, not float64"),
        (0, (x, 77, ["i", "j"]), "DTYPE", "argument x has elements of no known type, not float64"),
        (1, (w, f8, ["k", "j"]), "DIM", "argument w: dim j is called k"),
        (2, (w, f8, ["j", "k"]), "COUNT", "argument b has 2 dims, not 1"),
        (2, (np.ones(4), f8, ["k"]), "SIZE", "argument b: dim k has size 4, not 3 as that of argument w"),
    ]
    for i, given, code, message in wrong:
        found = library.call_any(*right[:i], given, *right[i + 1 :])
        assert found == (CODES[code], f"model_affine: {message}")
        assert (y == -1).all()
    assert library.call_any(*right[:3]) == (
        CODES["COUNT"],
        "model_affine: 4 arrays are needed, results included; 3 are given",
    )
    function, context = library.library.model_affine_any, library.context
    assert function(None, 5, ctypes.byref(context)) == CODES["NULL"]
    told = "model_affine: the pointer to the arrays is null; 4 arrays are needed, results included"
    assert context.message == told.encode()
    assert library.call_any(*right) == (0, "done")
    assert (y == 6).all()


def test_memory_and_threads_are_the_callers(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        y = xt.cumsum(xt.exp(x), dim="j")
        return xt.sum(y / xt.sum(y, dim="j"), dim="i")

    library = Library(xt.export(f, args=(xt.spec(i=300, j=700),), name="one", blas=None), tmp_path)
    x, y = np.random.default_rng(0).normal(size=(300, 700)), np.zeros(700)
    arrays = typed(x, 300, 700), typed(y, 700)
    assert library(*arrays) == (0, "done")
    plain = y.copy()
    np.testing.assert_allclose(plain, f(xt.array(x, ("i", "j"))).values, rtol=1e-12)

    blocks: dict[int, Any] = {}
    loops: list[tuple[int, int]] = []

    def allocate(_: Any, size: int) -> int:
        block = ctypes.create_string_buffer(size)
        blocks[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def release(_: Any, memory: int, size: int) -> None:
        assert len(blocks.pop(memory)) == size

    def loop(_: Any, body: Any, ctx: Any, n: int, grain: int) -> None:
        loops.append((n, grain))
        for i in reversed(range(n)):
            body(ctx, i, i + 1)

    c = library.context
    c.allocate, c.release, c.parallel_for = Context.ALLOCATE(allocate), Context.RELEASE(release), Context.LOOP(loop)
    y[:] = 0
    assert library(*arrays) == (0, "done")
    assert loops
    assert not blocks, "what was allocated was released"
    np.testing.assert_allclose(y, plain, rtol=1e-12)

    # Without memory a call ends; its own workspace is taken first.
    c.allocate = Context.ALLOCATE(lambda _, size: None)
    code, message = library(*arrays)
    if code:  # else the code needs no temporaries
        assert code == CODES["NO_MEMORY"]
        assert "bytes of temporaries" in message
        needed = library.workspace()
        space = np.zeros(needed + 64, "u1")
        c.workspace = -(-space.ctypes.data // 64) * 64
        c.workspace_bytes = needed
        c.parallel_for = Context.LOOP()
        assert library(*arrays) == (0, "done")
        np.testing.assert_array_equal(y, plain)


@pytest.mark.parametrize("sizes", [(64, 64, 64), (1, 300, 200), (300, 1, 200), (100, 70, 0)])
def test_products_of_a_blas_are_pythons(tmp_path: Path, sizes: tuple[int, int, int]) -> None:
    """The library that this process has loaded already. It may sum in another order than our own routines do."""
    pytest.importorskip("scipy_openblas32")
    i, k, j = sizes
    specs = (xt.spec(i=i, j=j, dtype="f4"), xt.spec(j=j, k=k, dtype="f4"))
    bundle = xt.export(lambda x, w: xt.dot(x, w, dim="j"), args=specs, name="product", blas="scipy-openblas")
    if i * j * k < 4096:
        assert bundle.manifest.blas is None  # loops are as fast
    library = Library(bundle, tmp_path)
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(i, j)).astype("f4"), rng.normal(size=(j, k)).astype("f4")
    y = np.full((i, k), np.nan, "f4")
    assert library(typed(x, i, j), typed(w, j, k), typed(y, i, k)) == (0, "done")
    found = xt.load(bundle)(xt.array(x, ("i", "j")), xt.array(w, ("j", "k"))).values
    bound = (j + 1) * np.finfo("f4").eps * (abs(x) @ abs(w))
    for product in (y, found):
        assert (abs(product - x.astype("f8") @ w) <= bound).all()


def test_threads_of_the_small_runtime(tmp_path: Path) -> None:
    package = Path(xt.__file__).parent
    assert "void xt_threads(" in (package / "xtensor_threads.h").read_text()
    threads = ctypes.CDLL(str(package / "libxtensor_threads.so"))
    library = Library(xt.export(lambda x: xt.exp(x) * x, args=(xt.spec(i=1000, j=1000),), name="one"), tmp_path)
    x, y = np.random.default_rng(0).normal(size=(1000, 1000)), np.zeros((1000, 1000))
    assert library(typed(x, 1000, 1000), typed(y, 1000, 1000))[0] == 0
    alone = y.copy()
    y[:] = 0
    library.context.parallel_for = ctypes.cast(threads.xt_threads, Context.LOOP)
    assert library(typed(x, 1000, 1000), typed(y, 1000, 1000))[0] == 0
    np.testing.assert_array_equal(y, alone)


def test_an_index_out_of_range(tmp_path: Path) -> None:
    specs = (xt.spec(row=4), xt.spec(k=2, dtype="i8"))
    library = Library(xt.export(lambda x, i: x.isel(row=i), args=specs, name="one"), tmp_path)
    x, i, y = np.arange(4.0), np.array([0, 9]), np.zeros(2)
    code, message = library(typed(x, 4), typed(i, 2), typed(y, 2))
    assert code == CODES["INDEX"]
    assert "index 9 is out of range for size 4 of dim row at " in message
    assert "test_aot_c.py" in message


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_out_of_range(tmp_path: Path, label: int) -> None:
    specs = (xt.spec(n=2, k=3), xt.spec(n=2, dtype="i8"))
    loss = xt.export(lambda x, i: xt.nn.cross_entropy(x, i, dim="k"), args=specs, name="one")
    library = Library(loss, tmp_path)
    x, i, y = np.ones((2, 3)), np.array([0, label]), np.zeros(2)
    code, message = library(typed(x, 2, 3), typed(i, 2), typed(y, 2))
    assert code == CODES["INDEX"]
    assert f"index {label} is out of range for size 3 of dim k at " in message


def test_calls_at_once(library: Library) -> None:
    """No state is shared: each thread has its own result."""
    import concurrent.futures

    def one(n: int) -> bool:
        x, w, b, y = np.full((50, 5), n + 0.0), np.ones((5, 40)), np.zeros(40), np.zeros((50, 40))
        for _ in range(200):
            y[:] = 0
            code = library.function(
                *(ctypes.byref(a) for a in (typed(x, 50, 5), typed(w, 5, 40), typed(b, 40), typed(y, 50, 40))), None
            )
            if code or not (y == 5 * n).all():
                return False
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(8)))


def test_libraries_have_no_state(library: Library, tmp_path: Path) -> None:
    """Nothing in them can be written: no .data, no .bss."""
    specs = (xt.spec(i=None, j=5), xt.spec(j=5, k=None), xt.spec(k=None))
    bundle = xt.export(affine, args=specs, name="model", blas=None)
    out = bundle.extract(tmp_path)
    done = subprocess.run(
        ["size", "-A", str(out / str(bundle.manifest.targets[0].archive))], capture_output=True, text=True, check=True
    )
    sizes = {w[0]: int(w[1]) for line in done.stdout.splitlines() if len(w := line.split()) == 3 and w[1].isdigit()}
    assert sizes, done.stdout
    for name, n in sizes.items():
        assert n == 0 or not name.startswith((".bss", ".tbss", ".tdata")), name
        # What has addresses in it is written by the loader, and then never again.
        assert n == 0 or not name.startswith(".data") or name.startswith(".data.rel.ro"), name


@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_are_right_in_c_and_in_cpp(tmp_path: Path, language: str) -> None:
    if not COMPILER:
        pytest.skip("there is no C compiler")

    def awkward(image: Any, int: Any, **more: Any) -> Any:
        """A comment's end: */ in it."""
        return {"a*/b": image + int, "two": (image * int).rename({"class": "data"})}

    specs = {"image": xt.spec({"class": 2, "two words": 3}, dtype="bool"), "int": xt.spec({"class": 2}, dtype="i2")}
    out = xt.export(awkward, kwargs=specs, name="one").extract(tmp_path)
    source = tmp_path / "main.c"
    source.write_text('#include "one.h"\n#include "one.h"\nint main(void) { return one_message(0, 0) == 0; }\n')
    compiler = COMPILER if language == "c" else CPP_COMPILER
    done = subprocess.run(
        [compiler, "-x", language, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{out}", source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 1, 1), (7, 17, 5), (64, 64, 64), (33, 130, 300), (6, 16, 1000), (0, 3, 2)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("turned", [False, True])
def test_matrix_products_of_its_own(tmp_path: Path, m: int, n: int, k: int, dtype: str, turned: bool) -> None:
    """Exact: small integers."""
    names = [("k", "m"), ("n", "k")] if turned else [("m", "k"), ("k", "n")]
    sizes = {"m": m, "n": n, "k": k}
    specs = [xt.spec({d: sizes[d] for d in dims}, dtype=dtype) for dims in names]
    g = xt.load(xt.export(lambda a, b: xt.dot(a, b, dim="k"), args=specs, name="one", blas=None, c=False))
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, [sizes[d] for d in dims]).astype(dtype) for dims in names)
    expected = (a.T if turned else a) @ (b.T if turned else b)
    np.testing.assert_array_equal(g(xt.array(a, names[0]), xt.array(b, names[1])).values, expected)


_HALVES = r"""
#include "one.h"
#include <stdio.h>
int main(void) {
  uint16_t x[N], y[N], z[N];
  double d[N];
  if (fread(x, 2, N, stdin) != N || fread(d, 8, N, stdin) != N)
    return 1;
  one_f_x a = {x, N};
  one_f_d b = {d, N};
  one_f_result0 c = {y, N};
  one_f_result1 e = {z, N};
  if (one_f(&a, &b, &c, &e, 0))
    return 2;
  fwrite(y, 2, N, stdout);
  fwrite(z, 2, N, stdout);
  return 0;
}
"""


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "riscv64"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_on_processors_without_it(tmp_path: Path, machine: str, dtype: str) -> None:
    """Every bit pattern there is, and doubles around every one of them."""
    compiler, emulator = f"{machine}-linux-gnu-gcc", f"qemu-{machine}"
    if machine == "x86_64":
        compiler, emulator = COMPILER, ""
    for tool in filter(None, (compiler, emulator)):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (scripts/setup.sh has it with XTENSOR_PEERS=1)")
    kind = np.dtype(dtype) if dtype == "float16" else xt.bfloat16
    n = 65536
    x = np.arange(n, dtype="u2")
    with np.errstate(all="ignore"):
        d = x.view(kind).astype("f8") * (1 + np.random.default_rng(0).uniform(-1, 1, n) * 2.0**-9)

    def f(x: Any, d: Any) -> Any:
        return x + x, d.astype(dtype)

    specs = (xt.spec(i=n, dtype=dtype), xt.spec(i=n))
    bundle = xt.export(f, args=specs, name="one", targets=f"cpu:{machine.replace('_', '-')}")
    out = bundle.extract(tmp_path)
    source = tmp_path / "main.c"
    source.write_text(_HALVES)
    archive = out / str(bundle.manifest.targets[0].archive)
    subprocess.run([compiler, f"-DN={n}", f"-I{out}", source, archive, "-lm", "-o", tmp_path / "main"], check=True)
    run = [emulator, "-L", f"/usr/{machine}-linux-gnu"] if emulator else []
    done = subprocess.run([*run, tmp_path / "main"], input=x.tobytes() + d.tobytes(), capture_output=True, check=False)
    assert done.returncode == 0
    found = np.frombuffer(done.stdout, "u2").view(kind).reshape(2, n).astype("f8")
    with np.errstate(all="ignore"):
        expected = [(x.view(kind).astype("f8") * 2).astype(kind), d.astype(kind)]
        if dtype == "bfloat16":  # ml_dtypes rounds doubles twice
            expected[1] = xt.array(d, "i").astype(dtype).values
    np.testing.assert_array_equal(found, np.stack(expected).astype("f8"))


# -- examples/aot_c ---------------------------------------------------------------------------------------------------

_MACHINES = {
    "native": ("", "", ""),
    "aarch64": ("aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64"),
    "riscv64": ("riscv64", "riscv64-linux-gnu-gcc", "qemu-riscv64"),
}


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    pytest.importorskip("tqdm")
    folder = tmp_path_factory.mktemp("digits")
    targets = ("cpu", "cpu:aarch64-linux-gnu", "cpu:riscv64-linux-gnu")
    script = ROOT / "examples" / "aot_c" / "export.py"
    done = subprocess.run(
        [sys.executable, script, "digits.xtb", "pictures", *targets],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("machine", _MACHINES)
@pytest.mark.parametrize("shared", [False, True])
def test_a_program_in_c_classifies_pictures(digits: Path, tmp_path: Path, machine: str, shared: bool) -> None:
    processor, compiler, emulator = _MACHINES[machine]
    for tool in filter(None, ("cmake", compiler, emulator)):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (scripts/setup.sh has it with XTENSOR_PEERS=1)")
    options = [f"-DBUNDLE={digits / 'digits.xtb'}", f"-DPROCESSOR={processor}", f"-DSHARED={'ON' if shared else 'OFF'}"]
    options.append(f"-DCMAKE_C_COMPILER={compiler or COMPILER}")
    source = ROOT / "examples" / "aot_c"
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "CFLAGS")}
    for command in (["cmake", "-S", source, "-B", tmp_path, *options], ["cmake", "--build", tmp_path]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
    pictures = sorted((digits / "pictures").glob("*.pgm"))
    run = [emulator, "-L", f"/usr/{processor}-linux-gnu"] if emulator else []
    done = subprocess.run(
        [*run, tmp_path / "classify", *pictures], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    found = np.array([[float.fromhex(w) for w in line.split()[2:]] for line in done.stdout.splitlines()], "f4")

    pixels = np.stack([np.frombuffer(p.read_bytes()[-64:], "u1") for p in pictures]) / np.float32(16)
    g = xt.load(digits / "digits.xtb")
    expected = g(xt.array(pixels, ("sample", "pixel"))).values
    if machine == "native":
        np.testing.assert_array_equal(found, expected)  # to the last bit
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert [int(line.split()[1]) for line in done.stdout.splitlines()] == expected.argmax(1).tolist()


def test_the_program_refuses_what_is_no_picture(digits: Path, tmp_path: Path) -> None:
    if not COMPILER:
        pytest.skip("there is no C compiler")
    model = tmp_path / "model"
    bundle = xt.Bundle((digits / "digits.xtb").read_bytes(), "digits")
    bundle.extract(model)
    archive = model / str(bundle.manifest.targets[0].archive)
    program = tmp_path / "classify"
    source = ROOT / "examples" / "aot_c" / "main.c"
    subprocess.run(
        [COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{model}", source, archive, "-lm", "-o", program],
        check=True,
    )
    bad = tmp_path / "bad.pgm"
    for text in (b"", b"P5\n9 9\n16\n", b"P5\n8 8\n16\n123", b"P2 8 8 1 2"):
        bad.write_bytes(text)
        done = subprocess.run([program, bad], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "is no PGM picture" in done.stderr
