"""What a call from C is refused for, and what it brings: sizes as under jit, workspace, sorting, many threads."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from c_library import CODES, Context, Library, typed
from places import COMPILER

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")


def _message(call: Any) -> str:
    """What is said, with the file's name alone: a bundle does not hold the folder."""
    with pytest.raises(xt.SizeError) as caught:
        call()
    return str(caught.value).replace(f"{Path(__file__).parent}/", "")


# -- sizes: one derivation for jit, loaded functions and C -----------------------------------------------------------


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_nothing_has_no_largest_value(tmp_path: Path, name: str) -> None:
    def f(x: Any) -> Any:
        return getattr(xt, name)(x, dim="i")

    bundle = xt.export(f, args=(xt.spec(i=None, j=3),), name="one")
    g, x = xt.load(bundle), xt.zeros(i=0, j=3)
    said = _message(lambda: xt.jit(f, dynamic_dims="i")(x))
    assert f"xt.{name}: dim 'i' has size 0, and the {name} of no elements is not defined" in said
    assert "test_aot_calls.py" in said
    assert _message(lambda: g(x)) == said
    assert _message(lambda: xt.jit(lambda x: g(x) + 0, dynamic_dims="i")(x)) == said
    assert said.splitlines()[0] in _message(lambda: xt.jit(g)(x))

    library = Library(bundle, tmp_path)
    y = np.full(3, 7, g(xt.ones(i=1, j=3)).dtype)
    code, message = library(typed(None, 0, 3), typed(y, 3))
    assert code == CODES["SIZE"]
    assert message.startswith(f"one_f: dim i has size 0 (argument x: dim i): xt.{name}: dim 'i' has size 0")
    assert (y == 7).all()
    assert library(typed(np.zeros((2, 3)), 2, 3), typed(y, 3))[0] == 0


def test_where_a_condition_sees_to_it_nothing_is_asked() -> None:
    def f(x: Any) -> Any:
        return xt.cond(xt.sum(x) > 0.0, lambda x: xt.max(x, dim="i"), lambda x: xt.sum(x), x)

    g = xt.load(xt.export(f, args=(xt.spec(i=None),), name="one"))
    assert float(g(xt.zeros(i=0))) == float(xt.jit(f, dynamic_dims="i")(xt.zeros(i=0))) == 0.0


def test_products_of_sizes_that_must_agree(tmp_path: Path) -> None:
    def f(x: Any, y: Any) -> Any:
        return x.stack(k=("i", "j")) + y

    bundle = xt.export(f, args=(xt.spec(i=None, j=None), xt.spec(k=None)), name="one")
    g, x, y = xt.load(bundle), xt.ones(i=2, j=3), xt.ones(k=5)
    said = _message(lambda: xt.jit(f, dynamic_dims=("i", "j", "k"))(x, y))
    assert "dim 'k' has size 5, and a dim of size 6 is given this name" in said
    assert _message(lambda: g(x, y)) == said

    library, out = Library(bundle, tmp_path), np.zeros(5)
    arrays = typed(np.ones((2, 3)), 2, 3), typed(np.ones(5), 5), typed(out, 5)
    where = "(argument y: dim k) and also 6 (argument x: dim i, argument x: dim j)"
    assert library(*arrays) == (CODES["SIZE"], f"one_f: dim k has size 5 {where}; equal names have equal sizes")
    assert not out.any()


def test_a_manifest_cannot_leave_out_what_must_not_be_empty() -> None:
    bundle = xt.export(lambda x: xt.max(x, dim="i"), args=(xt.spec(i=None),), name="one")
    assert " where ?i > 0" in bundle.manifest.functions[0].signature


# -- workspace -------------------------------------------------------------------------------------------------------


def _busy(x: Any, w: Any) -> Any:
    y = xt.cumsum(xt.exp(x), dim="i")
    return xt.sum(xt.dot(y / xt.sum(y, dim="i"), w, dim="j"), dim="k") + xt.cumsum(y, dim="j")


def _aligned(count: int) -> tuple[np.ndarray, int]:
    memory = np.zeros(count + 64, "u1")
    return memory, -(-memory.ctypes.data // 64) * 64


@pytest.mark.parametrize("open_", [False, True])
def test_the_workspace_is_as_large_as_the_library_says(tmp_path: Path, open_: bool) -> None:
    i, j, k = 30, 40, 50
    sizes = dict.fromkeys("ijk") if open_ else {"i": i, "j": j, "k": k}
    specs = (xt.spec(i=sizes["i"], j=sizes["j"]), xt.spec(j=sizes["j"], k=sizes["k"]))
    bundle = xt.export(_busy, args=specs, name="one", blas=None)
    library = Library(bundle, tmp_path)
    rng = np.random.default_rng(0)
    x, w, y = rng.normal(size=(i, j)), rng.normal(size=(j, k)), np.zeros((i, j))
    arrays = typed(x, i, j), typed(w, j, k), typed(y, i, j)
    assert library(*arrays) == (0, "done")
    expected = y.copy()
    given = [ctypes.c_int64(n) for n in (i, j, k)] if open_ else []
    needed = library.workspace(*given)
    assert needed > 0
    assert needed % 64 == 0
    if open_:
        assert library.workspace(*(ctypes.c_int64(2 * n.value) for n in given)) > needed
        assert library.workspace(ctypes.c_int64(-1), *given[1:]) == -1
        assert library.workspace(*(ctypes.c_int64(2**40) for _ in given)) == -1

    c = library.context
    c.allocate = Context.ALLOCATE(lambda _, size: None)  # nothing else is there
    memory, c.workspace = _aligned(needed)
    for missing, wanted in ((0, 0), (64, CODES["NO_MEMORY"])):
        c.workspace_bytes = needed - missing
        y[:] = 0
        assert library(*arrays)[0] == wanted
        np.testing.assert_array_equal(y, expected if not missing else 0 * expected)
    assert memory.any()


def test_a_workspace_that_is_none(tmp_path: Path) -> None:
    library = Library(xt.export(_busy, args=(xt.spec(i=8, j=8), xt.spec(j=8, k=8)), name="one"), tmp_path)
    x, w, y = np.ones((8, 8)), np.ones((8, 8)), np.full((8, 8), -1.0)
    arrays = typed(x, 8, 8), typed(w, 8, 8), typed(y, 8, 8)
    c = library.context
    _memory, start = _aligned(library.workspace() + 4096)
    wrong = [
        (0, 4096, "NULL", "the workspace is null, and has bytes"),
        (start + 8, 4096, "ALIGNMENT", "the workspace is not aligned to 64 bytes"),
        (x.ctypes.data // 64 * 64, 128, "OVERLAP", "argument x shares memory with the workspace"),
        (y.ctypes.data // 64 * 64, 128, "OVERLAP", "result result shares memory with the workspace"),
    ]
    for c.workspace, c.workspace_bytes, code, message in wrong:
        assert library(*arrays) == (CODES[code], f"one_busy: {message}")
        assert (y == -1).all()
    _inner, start = _aligned(4096)
    inside = Context.from_address(start + 64)  # a context within its own workspace
    inside.workspace, inside.workspace_bytes = start, 4096
    assert library.function(*map(ctypes.byref, arrays), ctypes.byref(inside)) == CODES["OVERLAP"]
    assert inside.message == b"one_busy: the workspace shares memory with the context"
    assert (y == -1).all()
    c.workspace, c.workspace_bytes = start, 0
    y_in_context = typed(ctypes.addressof(c) // 8 * 8, 8, 8)
    assert library(*arrays[:2], y_in_context) == (
        CODES["OVERLAP"],
        "one_busy: result result shares memory with the context",
    )
    assert library(*arrays) == (0, "done")


def test_arrays_without_elements_share_no_memory(tmp_path: Path) -> None:
    library = Library(xt.export(lambda x: (x + 1, xt.sum(x)), args=(xt.spec(i=None),), name="one"), tmp_path)
    x, total = np.ones(4), np.full(1, -1.0)
    assert library(typed(x.ctypes.data + 8, 0), typed(x.ctypes.data + 16, 0), typed(total))[0] == 0
    assert total == 0


def test_a_message_that_is_too_long_ends_in_dots(tmp_path: Path) -> None:
    dim = "größe" * 60
    library = Library(xt.export(lambda x, y: x + y, args=(xt.spec({dim: None}),) * 2, name="one"), tmp_path)
    x = np.ones(3)
    code, message = library(typed(x, 3), typed(x, 2), typed(np.ones(3), 3))
    assert code == CODES["SIZE"]
    assert message.startswith("one_lambda: argument y: dim größe")
    assert message.endswith("..")
    assert 250 < len(message.encode()) < 256


# -- sorting ---------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["f2", "bfloat16", "f4", "f8", "i1", "i4", "u8", "u2", "bool"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_pythons(tmp_path: Path, dtype: str, descending: bool) -> None:
    def f(x: Any) -> Any:
        return xt.argsort(x, dim="i", descending=descending), xt.sort(x, dim="j", descending=descending)

    library = Library(xt.export(f, args=(xt.spec(i=None, j=None, dtype=dtype),), name="one"), tmp_path)
    kind = xt.zeros(a=1, dtype=dtype).dtype
    rng = np.random.default_rng(0)
    for i, j in ((0, 3), (1, 1), (5, 40), (33, 17), (3000, 2)):
        x = rng.integers(0, 256, (i, j, kind.itemsize), dtype="u1").view(kind).reshape(i, j)
        if dtype == "bool":
            x = rng.integers(0, 2, (i, j)).astype("bool")
        if dtype.startswith(("f", "b")) and dtype != "bool":
            with np.errstate(invalid="ignore"):
                x[np.isnan(x) | (rng.random((i, j)) < 0.1)] = np.nan
            x[rng.random((i, j)) < 0.1] = 0
            x[rng.random((i, j)) < 0.1] = -0.0
        positions, values = np.zeros((i, j), "i8"), np.zeros((i, j), kind)
        assert library(typed(x, i, j), typed(positions, i, j), typed(values, i, j)) == (0, "done")
        expected = f(xt.array(x, ("i", "j")))
        np.testing.assert_array_equal(positions, expected[0].values)
        np.testing.assert_array_equal(values.view("u1"), np.ascontiguousarray(expected[1].values).view("u1"))
    library.context.allocate = Context.ALLOCATE(lambda _, size: None)
    assert library(typed(x, i, j), typed(positions, i, j), typed(values, i, j))[0] == CODES["NO_MEMORY"]


def test_the_first_of_a_row_are_pythons(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return xt.top_k(x, 3, dim="i")

    library = Library(xt.export(f, args=(xt.spec(i=200, j=4, dtype="f4"),), name="one"), tmp_path)
    x = np.random.default_rng(1).integers(0, 50, (200, 4)).astype("f4")
    expected = [r.values for r in f(xt.array(x, ("i", "j")))]
    found = [np.zeros(r.shape, r.dtype) for r in expected]
    assert library(typed(x, 200, 4), *(typed(r, *r.shape) for r in found)) == (0, "done")
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)


# -- threads ---------------------------------------------------------------------------------------------------------

_THREADS = r"""
#include "one.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { I = 24, J = 32, K = 40, THREADS = 8, TIMES = 60 };
static double x[I * J], w[J * K], expected[I * J];
static int failed;
static const char null[] = "one_busy: argument x has no data: its pointer is null";

static int call(const double *from, double *to, xt_context *context) {
  one_busy_x a = {from, I, J};
  one_busy_w b = {w, J, K};
  one_busy_result c = {to, I, J};
  return one_busy(&a, &b, &c, context);
}

/* The parts of a loop on threads of their own. */
typedef struct {
  void (*body)(void *, int64_t, int64_t);
  void *ctx;
  int64_t begin, end;
} Part;
static void *part(void *p) {
  Part *q = p;
  q->body(q->ctx, q->begin, q->end);
  return 0;
}
static void loop(void *state, void (*body)(void *, int64_t, int64_t), void *ctx, int64_t n, int64_t grain) {
  (void)state, (void)grain;
  Part halves[2] = {{body, ctx, 0, n / 2}, {body, ctx, n / 2, n}};
  pthread_t other;
  if (pthread_create(&other, 0, part, &halves[0]))
    abort();
  part(&halves[1]);
  pthread_join(other, 0);
}

static void *many(void *number) {
  xt_context context;
  memset(&context, 0, sizeof context);
  context.workspace_bytes = (size_t)one_busy_workspace();
  context.workspace = aligned_alloc(64, context.workspace_bytes);
  if ((size_t)number % 2)
    context.parallel_for = loop;
  double y[I * J];
  for (int i = 0; i < TIMES; ++i) {
    memset(y, 0, sizeof y);
    if (call(x, y, &context) || memcmp(y, expected, sizeof y))
      __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
    if (call(0, y, &context) != XT_NULL || strcmp(one_message(&context, XT_NULL), null))
      __atomic_store_n(&failed, 2, __ATOMIC_RELAXED);
  }
  free(context.workspace);
  return 0;
}

int main(void) {
  for (int i = 0; i < I * J; ++i)
    x[i] = (i * 37 % 101) / 50.0 - 1;
  for (int i = 0; i < J * K; ++i)
    w[i] = (i * 53 % 97) / 40.0 - 1;
  if (call(x, expected, 0))
    return 3;
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], 0, many, (void *)i))
      return 4;
  for (size_t i = 0; i < THREADS; ++i)
    pthread_join(threads[i], 0);
  return failed;
}
"""


@pytest.mark.parametrize("sanitizer", ["", "-fsanitize=thread", "-fsanitize=address,undefined"])
def test_many_threads_have_the_same_bits(tmp_path: Path, sanitizer: str) -> None:
    """Each with its own workspace, some with loops on further threads; what sanitizers see of the library is what it
    calls and is called by."""
    if not COMPILER:
        pytest.skip("there is no C compiler")
    specs = (xt.spec(i=24, j=32), xt.spec(j=32, k=40))
    bundle = xt.export(_busy, args=specs, name="one", blas=None)
    out = bundle.extract(tmp_path)
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(_THREADS)
    archive = out / str(bundle.manifest.targets[0].archive)
    flags = [f for f in (sanitizer, "-O1", "-Wall", "-Wextra", "-pthread", f"-I{out}") if f]
    built = subprocess.run(
        [COMPILER, *flags, source, archive, "-lm", "-o", program], capture_output=True, text=True, check=False
    )
    if built.returncode and sanitizer:
        pytest.skip(f"no {sanitizer} here: {built.stderr[-200:]}")
    assert built.returncode == 0, built.stderr
    command = ["setarch", "-R", program] if "thread" in sanitizer else [program]
    # A sanitizer that this process runs under is not the program's.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


# -- numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_fit_the_types_that_they_meet(tmp_path: Path) -> None:
    def f(x: Any, n: Any) -> Any:
        return x + n

    bundle = xt.export(f, args=(xt.spec(i=3, dtype="i1"), 2), name="one")
    g, library = xt.load(bundle), Library(bundle, tmp_path)
    x, y = np.arange(3, dtype="i1"), np.full(3, -1, "i1")
    with pytest.raises(xt.ArgumentError, match=r"300 does not fit int8 \(-128 to 127\)"):
        g(xt.array(x, "i"), 300)
    code, message = library(typed(x, 3), typed(np.array(300)), typed(y, 3))
    assert code == CODES["RANGE"]
    assert message.startswith("one_f: argument n is 300, which does not fit int8 (-128 to 127) at ")
    assert (y == -1).all()
    assert library(typed(x, 3), typed(np.array(-100)), typed(y, 3)) == (0, "done")
    assert (y == x - 100).all()


def test_a_bundle_for_devices_alone_has_no_header() -> None:
    args = (xt.spec(i=4, dtype="f4"),)
    m = xt.export(lambda x: x + 1, args=args, name="one", targets="vulkan").manifest
    assert m.header is None
    assert m.functions[0].symbol is None
    assert not [name for name in m.members if name.endswith((".h", ".a"))]
    assert xt.export(lambda x: x + 1, args=args, name="one", targets=("vulkan", "cpu")).manifest.header == "one.h"
