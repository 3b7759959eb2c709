"""libxtensor_runtime.so through its C ABI: the thread pool, matrix products and memory."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from ctypes import c_int64, c_size_t, c_void_p
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from places import COMPILER
from runtime_abi import path_of_runtime, runtime

BODY = ctypes.CFUNCTYPE(None, c_void_p, c_int64, c_int64)
TASK = ctypes.CFUNCTYPE(None, c_void_p, c_int64)


@pytest.fixture(scope="module")
def rt() -> ctypes.CDLL:
    library = runtime()
    library.xt_parallel_for.argtypes = [BODY, c_void_p, c_int64, c_int64]
    library.xt_parallel_for.restype = None
    library.xt_run_tasks.argtypes, library.xt_run_tasks.restype = [TASK, c_void_p, c_int64], None
    library.xt_alloc.argtypes, library.xt_alloc.restype = [c_size_t], c_void_p
    library.xt_free.argtypes, library.xt_free.restype = [c_void_p, c_size_t], None
    library.xt_arena_acquire.argtypes, library.xt_arena_acquire.restype = [c_int64], c_void_p
    library.xt_arena_release.argtypes, library.xt_arena_release.restype = [c_void_p], None
    library.xt_cached_bytes.restype = c_size_t
    library.xt_blas_name.restype = ctypes.c_char_p
    return library


@pytest.fixture
def threads(rt: ctypes.CDLL) -> Iterator[ctypes.CDLL]:
    yield rt
    rt.xt_set_num_threads(0)


def chunks_of(rt: ctypes.CDLL, n: int, grain: int) -> list[tuple[int, int]]:
    seen: list[tuple[int, int]] = []
    rt.xt_parallel_for(BODY(lambda _, begin, end: seen.append((begin, end))), None, n, grain)
    return sorted(seen)


def run_python(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


class TestParallelFor:
    @pytest.mark.parametrize("count", [1, 2, 3, 8, 33])
    @pytest.mark.parametrize(
        ("n", "grain"),
        [(0, 1), (1, 1), (7, 1), (7, 3), (100, 1), (1000, 7), (5, 100), (64, 0), (-3, 1)],
    )
    def test_chunks_cover_the_range_once(self, threads: ctypes.CDLL, count: int, n: int, grain: int) -> None:
        threads.xt_set_num_threads(count)
        for _ in range(20):
            chunks = chunks_of(threads, n, grain)
            assert [i for b, e in chunks for i in range(b, e)] == list(range(max(n, 0)))
            if n >= grain > 0:
                assert all(e - b >= grain for b, e in chunks)

    def test_small_loops_stay_in_one_piece(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(4)
        assert chunks_of(threads, 100, 100) == [(0, 100)]
        assert chunks_of(threads, 199, 100) == [(0, 199)]

    def test_several_threads_take_part(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(2)
        meeting = threading.Barrier(2)
        who: set[int] = set()

        def body(_: object, begin: int, end: int) -> None:
            # The first two chunks wait for each other, which one thread alone could not do.
            if begin < 200:
                meeting.wait(60)
            who.add(threading.get_ident())

        threads.xt_parallel_for(BODY(body), None, 800, 1)  # 8 chunks of 100
        assert len(who) == 2

    @pytest.mark.parametrize("count", [2, 3])
    def test_each_thread_begins_at_a_place_of_its_own(self, threads: ctypes.CDLL, count: int) -> None:
        """So a thread finds in its cache what it wrote in the loop before."""
        threads.xt_set_num_threads(count)
        meeting = threading.Barrier(count)
        caller = threading.get_ident()
        first: dict[int, int] = {}

        def body(_: object, begin: int, end: int) -> None:
            if threading.get_ident() not in first:
                first[threading.get_ident()] = begin
                meeting.wait(60)

        threads.xt_parallel_for(BODY(body), None, 400 * count, 1)  # chunks of 100
        assert first[caller] == 0
        assert sorted(first.values()) == [400 * i for i in range(count)]

    @pytest.mark.parametrize("count", [1, 2, 5])
    def test_tasks_run_once_each(self, threads: ctypes.CDLL, count: int) -> None:
        threads.xt_set_num_threads(count)
        for n in (0, 1, 2, 7, 63, 64, 65, 129, 5000, 12289):
            seen: list[int] = []
            threads.xt_run_tasks(TASK(lambda _, task, seen=seen: seen.append(task)), None, n)
            assert sorted(seen) == list(range(n))

    def test_two_tasks_run_at_once(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(2)
        meeting = threading.Barrier(2)
        time.sleep(0.01)  # the workers sleep by now
        threads.xt_run_tasks(TASK(lambda *_: meeting.wait(60) and None), None, 2)

    def test_a_caller_sleeps_while_a_worker_makes_no_progress(self, threads: ctypes.CDLL) -> None:
        """A worker that waits looks like one whose core another process has: it gets the caller's core."""
        threads.xt_set_num_threads(2)
        meeting = threading.Barrier(2)
        caller = threading.get_ident()
        cores: list[set[int]] = []

        def wait_for(seconds: float) -> TASK:
            def task(*_: object) -> None:
                meeting.wait(60)
                if threading.get_ident() != caller:
                    time.sleep(seconds)
                    cores.append(os.sched_getaffinity(0))

            return TASK(task)

        used = time.thread_time()
        threads.xt_run_tasks(wait_for(0.5), None, 2)
        assert time.thread_time() - used < 0.25
        assert len(cores[0]) == 1
        # Then it is off this core again, if there is another one. On a busy machine, this takes some loops.
        others = max(len(os.sched_getaffinity(0)) - 1, 1)
        for _ in range(100):
            threads.xt_run_tasks(wait_for(0), None, 2)
            if len(cores[-1]) == others:
                return
        assert len(cores[-1]) == others

    def test_workers_stay_on_the_cores_that_others_chose(self, threads: ctypes.CDLL) -> None:
        """As by taskset --all-tasks, which changes all threads of a process."""
        allowed = os.sched_getaffinity(0)
        threads.xt_set_num_threads(2)
        meeting = threading.Barrier(2)
        caller = threading.get_ident()
        found: list[set[int]] = []
        ids: list[int] = []

        def task(*_: object) -> None:
            meeting.wait(60)
            if threading.get_ident() != caller:
                ids.append(threading.get_native_id())
                found.append(os.sched_getaffinity(0))

        threads.xt_run_tasks(TASK(task), None, 2)
        chosen = {max(allowed - found[0], default=max(allowed))}  # not where the pool has put it
        try:
            os.sched_setaffinity(ids[0], chosen)
            for core in allowed:
                os.sched_setaffinity(0, {core})
                time.sleep(0.005)  # workers sleep, and are placed when they wake
                threads.xt_run_tasks(TASK(task), None, 2)
                assert found[-1] == chosen
        finally:
            os.sched_setaffinity(0, allowed)
            os.sched_setaffinity(ids[0], allowed)

    def test_nested_loops_run_inline(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(3)
        inner: list[tuple[int, int]] = []
        body = BODY(lambda _, begin, end: inner.append((begin, end)))
        outer = BODY(lambda _, begin, end: threads.xt_parallel_for(body, None, 1000, 1))
        threads.xt_parallel_for(outer, None, 1000, 1)
        assert inner and set(inner) == {(0, 1000)}

    def test_callers_in_many_threads(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(2)
        totals: list[int] = []

        def caller() -> None:
            for _ in range(50):
                total: list[int] = []
                threads.xt_parallel_for(BODY(lambda _, b, e, t=total: t.append(e - b)), None, 500, 1)
                totals.append(sum(total))

        callers = [threading.Thread(target=caller) for _ in range(6)]
        for c in callers:
            c.start()
        for c in callers:
            c.join()
        assert totals == [500] * 300

    def test_the_number_of_threads_changes_at_any_time(self, threads: ctypes.CDLL) -> None:
        for count in [1, 5, 2, 16, 1, 3, 0]:
            threads.xt_set_num_threads(count)
            assert threads.xt_num_threads() == (count or len(os.sched_getaffinity(0)))
            assert sum(e - b for b, e in chunks_of(threads, 640, 1)) == 640

    def test_a_forked_child_has_its_own_pool(self, threads: ctypes.CDLL) -> None:
        # In a process of its own: other libraries' threads in this one do not survive a fork.
        assert (
            run_python(
                "import ctypes, os, re\n"
                f"rt = ctypes.CDLL({path_of_runtime()!r})\n"
                "BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)\n"
                "i8 = ctypes.c_int64\n"
                "rt.xt_parallel_for.argtypes = [BODY, ctypes.c_void_p, i8, i8]\n"
                "def total():\n"
                "    seen = []\n"
                "    rt.xt_parallel_for(BODY(lambda _, b, e: seen.append(e - b)), None, 1000, 1)\n"
                "    return sum(seen)\n"
                "rt.xt_set_num_threads(4)\n"
                "assert total() == 1000\n"
                "for _ in range(5):\n"
                "    child = os.fork()\n"
                "    if child == 0:\n"
                "        os._exit(0 if total() == 1000 and rt.xt_num_threads() == 4 else 1)\n"
                "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
                "    assert total() == 1000\n"
                "print('fine')"
            )
            == "fine"
        )

    @pytest.mark.parametrize(("value", "expected"), [("3", 3), ("nonsense", None), ("0", None), ("-1", None)])
    def test_the_environment_sets_the_number(self, rt: ctypes.CDLL, value: str, expected: int | None) -> None:
        code = f"import ctypes; print(ctypes.CDLL({path_of_runtime()!r}).xt_num_threads())"
        assert int(run_python(code, XTENSOR_NUM_THREADS=value)) == (expected or len(os.sched_getaffinity(0)))

    def test_affinity_limits_the_number(self, rt: ctypes.CDLL) -> None:
        code = (
            "import ctypes, os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]);"
            f"print(ctypes.CDLL({path_of_runtime()!r}).xt_num_threads())"
        )
        environment = {k: v for k, v in os.environ.items() if k != "XTENSOR_NUM_THREADS"}
        out = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert out.stdout.strip() == "1"


def multiply(
    rt: ctypes.CDLL,
    dtype: str,
    m: int,
    n: int,
    k: int,
    trans: tuple[int, int] = (0, 0),
    accumulate: int = 0,
    pad: int = 0,
) -> None:
    """Checks one product against NumPy; `pad` unused columns must stay as they are."""
    rng = np.random.default_rng(m * 10007 + n * 101 + k)
    a = rng.normal(size=(k, m + pad) if trans[0] else (m, k + pad)).astype(dtype)
    b = rng.normal(size=(n, k + pad) if trans[1] else (k, n + pad)).astype(dtype)
    c = np.full((m, n + pad), 2.5 if accumulate else np.nan, dtype)
    before = c.copy()
    left = a[:, : m if trans[0] else k]
    right = b[:, : k if trans[1] else n]
    expected = (left.T if trans[0] else left).astype("f8") @ (right.T if trans[1] else right).astype("f8")
    f = rt.xt_gemm_f32 if dtype == "f4" else rt.xt_gemm_f64
    f(
        *trans,
        m,
        n,
        k,
        a.ctypes.data,
        a.shape[1],
        b.ctypes.data,
        b.shape[1],
        c.ctypes.data,
        c.shape[1],
        accumulate,
    )
    tolerance = (1e-6 if dtype == "f4" else 1e-14) * (k + 8) ** 0.5 * 8
    np.testing.assert_allclose(c[:, :n], expected + 2.5 * accumulate, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(c[:, n:], before[:, n:])


SMALL = [(1, 1, 1), (1, 7, 5), (7, 1, 5), (1, 1, 9), (5, 7, 1), (3, 4, 5), (17, 33, 65), (2, 64, 3)]
EMPTY = [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 5, 0), (5, 1, 0), (1, 1, 0)]
LARGE = [
    (256, 256, 256),
    (1000, 3, 700),
    (3, 1000, 700),
    (10, 10, 60_000),
    (1, 2000, 1500),
    (2000, 1, 1500),
    (129, 257, 200),
]


class TestGemm:
    @pytest.mark.sampled(16)
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("trans", list(itertools.product((0, 1), repeat=2)))
    @pytest.mark.parametrize("size", SMALL + EMPTY, ids=str)
    def test_small(self, rt: ctypes.CDLL, dtype: str, trans: tuple[int, int], size: tuple[int, int, int]) -> None:
        for accumulate, pad in itertools.product((0, 1), (0, 3)):
            multiply(rt, dtype, *size, trans, accumulate, pad)

    @pytest.mark.sampled(8)
    @pytest.mark.parametrize("count", [1, 2, 5])
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("size", LARGE, ids=str)
    def test_large(self, threads: ctypes.CDLL, dtype: str, size: tuple[int, int, int], count: int) -> None:
        threads.xt_set_num_threads(count)
        for trans, accumulate in itertools.product(itertools.product((0, 1), repeat=2), (0, 1)):
            multiply(threads, dtype, *size, trans, accumulate, 2)

    def test_the_same_bits_every_time(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(2)
        rng = np.random.default_rng(0)
        for m, n, k in [(300, 200, 400), (10, 10, 60_000)]:
            a, b = rng.normal(size=(m, k)).astype("f4"), rng.normal(size=(k, n)).astype("f4")
            results = []
            for _ in range(10):
                c = np.empty((m, n), "f4")
                threads.xt_gemm_f32(0, 0, m, n, k, a.ctypes.data, k, b.ctypes.data, n, c.ctypes.data, n, 0)
                results.append(c.tobytes())
            assert len(set(results)) == 1

    def test_inside_a_loop_and_from_many_threads(self, threads: ctypes.CDLL) -> None:
        threads.xt_set_num_threads(2)
        errors: list[BaseException] = []

        def body(_: object, begin: int, end: int) -> None:
            try:
                for i in range(begin, end):
                    multiply(threads, "f4", 150 + i, 140, 130)
            except BaseException as error:
                errors.append(error)

        threads.xt_parallel_for(BODY(body), None, 16, 1)
        callers = [threading.Thread(target=body, args=(None, 10 * i, 10 * i + 5)) for i in range(4)]
        for c in callers:
            c.start()
        for c in callers:
            c.join()
        assert not errors

    def test_in_a_forked_child(self, rt: ctypes.CDLL) -> None:
        assert (
            run_python(
                "import ctypes, os\n"
                f"rt = ctypes.CDLL({path_of_runtime()!r})\n"
                "rt.xt_set_num_threads(2)\n"
                "n = 300\n"
                "a, c = (ctypes.c_float * (n * n))(*[1] * (n * n)), (ctypes.c_float * (n * n))()\n"
                "i8 = ctypes.c_int64\n"
                "def product():\n"
                "    s = [i8(n)] * 3\n"
                "    rt.xt_gemm_f32(i8(0), i8(0), *s, a, i8(n), a, i8(n), c, i8(n), i8(0))\n"
                "    return set(c) == {n}\n"
                "assert product()\n"
                "child = os.fork()\n"
                "if child == 0:\n"
                "    os._exit(0 if product() else 1)\n"
                "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
                "print('fine')"
            )
            == "fine"
        )

    def test_leading_dimension_of_a_single_row_may_be_anything(self, rt: ctypes.CDLL) -> None:
        a, b, c = np.ones((1, 3), "f4"), np.ones((3, 2), "f4"), np.zeros((1, 2), "f4")
        for ld in (0, 1, 2**40):
            rt.xt_gemm_f32(0, 0, 1, 2, 3, a.ctypes.data, ld, b.ctypes.data, 2, c.ctypes.data, ld, 0)
            assert c.tolist() == [[3, 3]]

    def test_the_library_has_a_name(self, rt: ctypes.CDLL) -> None:
        assert rt.xt_blas_name()


SIZES = [
    0,
    1,
    63,
    64,
    65,
    80,
    81,
    128,
    129,
    4095,
    4097,
    65536,
    65537,
    1 << 20,
    (4 << 20) - 1,
    4 << 20,
    (4 << 20) + 1,
    9_999_999,
]


class TestMemory:
    @pytest.mark.parametrize("size", SIZES)
    def test_blocks_are_aligned_writable_and_apart(self, rt: ctypes.CDLL, size: int) -> None:
        blocks = [rt.xt_alloc(size) for _ in range(5)]
        for i, p in enumerate(blocks):
            assert p % (2 << 20 if size >= 4 << 20 else 64) == 0
            ctypes.memset(p, i, size)
        for i, p in enumerate(blocks):
            assert ctypes.string_at(p, size) == bytes([i]) * size
            rt.xt_free(p, size)

    @pytest.mark.parametrize("size", [1, 1000, 70_000, 5 << 20])
    def test_a_freed_block_is_used_again(self, rt: ctypes.CDLL, size: int) -> None:
        p = rt.xt_alloc(size)
        rt.xt_free(p, size)
        q = rt.xt_alloc(size)
        rt.xt_free(q, size)
        assert p == q

    def test_trim_gives_back(self, rt: ctypes.CDLL) -> None:
        for size in (100, 70_000, 5 << 20):
            rt.xt_free(rt.xt_alloc(size), size)
        assert rt.xt_cached_bytes() >= 5 << 20
        rt.xt_trim()
        assert rt.xt_cached_bytes() == 0

    def test_what_is_kept_is_bounded(self, rt: ctypes.CDLL) -> None:
        code = (
            "import ctypes\n"
            f"rt = ctypes.CDLL({path_of_runtime()!r})\n"
            "rt.xt_alloc.argtypes, rt.xt_alloc.restype = [ctypes.c_size_t], ctypes.c_void_p\n"
            "rt.xt_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t]\n"
            "rt.xt_cached_bytes.restype = ctypes.c_size_t\n"
            "most = 0\n"
            "for size in [1 << 20, 5 << 20, 40 << 20, 3 << 20, 70_000, 8 << 20]:\n"
            "    blocks = [rt.xt_alloc(size) for _ in range(12)]\n"
            "    for p in blocks: rt.xt_free(p, size)\n"
            "    most = max(most, rt.xt_cached_bytes())\n"
            "again = rt.xt_alloc(8 << 20) in blocks\n"
            "print(most, again)"
        )
        most, again = run_python(code, XTENSOR_CACHE_BYTES=str(30 << 20)).split()
        assert 20 << 20 < int(most) <= 30 << 20
        assert again == "True"  # the latest size won over the earlier ones

    @pytest.mark.skipif(
        os.environ.get("XTENSOR_DEBUG_MEMORY") == "1",
        reason="guards make blocks larger: test_debug_memory.py runs this without them",
    )
    def test_a_larger_block_takes_the_pages_of_idle_ones(self, rt: ctypes.CDLL) -> None:
        rt.xt_trim()
        sizes = [8 << 20, 8 << 20, 4 << 20]
        small = [rt.xt_alloc(size) for size in sizes]
        for p, size in zip(small, sizes, strict=True):
            ctypes.memset(p, 7, size)
        for p, size in zip(small, sizes, strict=True):
            rt.xt_free(p, size)
        # Just freed: whoever freed them may want them in a moment.
        other = rt.xt_alloc(24 << 20)
        assert rt.xt_cached_bytes() == 20 << 20
        time.sleep(0.2)
        large = rt.xt_alloc(24 << 20)
        assert rt.xt_cached_bytes() == 0
        assert ctypes.string_at(large, 20 << 20).count(7) >= (20 << 20) - 3 * 64  # a freed block's first bytes link it
        assert ctypes.string_at(large + (20 << 20), 4 << 20) == bytes(4 << 20)
        ctypes.memset(large, 1, 24 << 20)
        ctypes.memset(other, 2, 24 << 20)
        rt.xt_free(large, 24 << 20)
        time.sleep(0.2)
        # A block that was put together goes on, too, as pages or as memory of the system's.
        larger = rt.xt_alloc(64 << 20)
        assert rt.xt_cached_bytes() == 0
        ctypes.memset(larger, 3, 64 << 20)
        assert ctypes.string_at(other, 24 << 20) == b"\2" * (24 << 20)
        assert ctypes.string_at(larger, 64 << 20) == b"\3" * (64 << 20)
        rt.xt_free(larger, 64 << 20)
        rt.xt_free(other, 24 << 20)
        rt.xt_trim()

    def test_no_memory_is_null(self, rt: ctypes.CDLL) -> None:
        assert rt.xt_alloc(1 << 55) is None and rt.xt_alloc((1 << 64) - 1) is None
        rt.xt_free(None, 10)

    def test_blocks_may_be_freed_in_another_thread(self, rt: ctypes.CDLL) -> None:
        def work(blocks: list[int]) -> None:
            for p in blocks:
                rt.xt_free(p, 500)

        for _ in range(20):
            blocks = [rt.xt_alloc(500) for _ in range(100)]
            assert len(set(blocks)) == 100
            t = threading.Thread(target=work, args=(blocks,))
            t.start()
            t.join()

    @pytest.mark.parametrize("size", [0, 1, 100_000, 6 << 20])
    def test_arenas(self, rt: ctypes.CDLL, size: int) -> None:
        p, q = rt.xt_arena_acquire(size), rt.xt_arena_acquire(size)
        assert p != q and p % 64 == q % 64 == 0
        ctypes.memset(p, 1, size), ctypes.memset(q, 2, size)
        assert ctypes.string_at(p, size) == b"\1" * size
        rt.xt_arena_release(p), rt.xt_arena_release(q)
        assert rt.xt_arena_acquire(size) in (p, q)
        rt.xt_arena_release(None)


class TestHalfPrecision:
    """Double to half precision in one rounding, as NumPy and ml_dtypes have it."""

    @pytest.mark.parametrize(
        ("function", "dtype"), [("xt_half_bits", np.float16), ("xt_bfloat16_bits", ml_dtypes.bfloat16)]
    )
    def test_rounds_to_nearest_even(self, rt: ctypes.CDLL, function: str, dtype: type) -> None:
        convert = getattr(rt, function)
        convert.argtypes, convert.restype = [ctypes.c_double], ctypes.c_uint16
        rng = np.random.default_rng(0)
        values = np.concatenate(
            [
                rng.standard_normal(2000) * 10.0 ** rng.uniform(-45, 42, 2000),
                np.nextafter(65520.0, [0.0, 65520.0, np.inf]),
                [0.0, -0.0, np.inf, -np.inf, 2.0**-25, np.nextafter(2.0**-25, 1), 1e-300],
            ]
        )
        with np.errstate(over="ignore"):
            want = values.astype(dtype).view(np.uint16)
        assert [convert(v) for v in values] == want.tolist()


# Large blocks come slowly to every thread but the main one, as on a machine that is busy.
SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
  void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
  int block = bytes >= 4 << 20 && bytes < 16 << 20 && file < 0 && (protection & PROT_WRITE);
  if (block && syscall(SYS_gettid) != getpid())
    usleep(1500000);
  return real(at, bytes, protection, flags, file, offset);
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD replaces the system's mmap")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="the sanitizer's mmap comes first")
def test_a_fork_waits_for_the_warm_up_before_it_takes_locks(tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(SLOW)
    library = tmp_path / "slow.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, tmp_path / "slow.c", "-ldl"], check=True)
    code = """
import os, signal, time
import xtensor as xt
xt._native.trim()
time.sleep(1)  # the warm-up waits for its blocks
signal.alarm(60)
child = os.fork()
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run_python(code, LD_PRELOAD=str(library)) == "0"
