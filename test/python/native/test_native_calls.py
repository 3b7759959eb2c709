"""xtensor._native: calls of functions that are compiled here from a few lines of C."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from places import COMPILER
from xtensor import _native as native
from xtensor._native import ArrayType, Executable, Function

SOURCE = r"""
#include <stdint.h>
#include <unistd.h>
typedef struct { int32_t code, site; int64_t index, size; } status;
void twice(void **b, const int64_t *n, status *s) {
  float *x = b[0], *y = b[1];
  for (int i = 0; i < 4; ++i) y[i] = 2 * x[i];
}
void twice_any(void **b, const int64_t *n, status *s) {
  float *x = b[0], *y = b[1];
  for (int64_t i = 0; i < n[0]; ++i) y[i] = 2 * x[i];
}
void outer(void **b, const int64_t *n, status *s) {   /* x{i}, y{j} -> {i, j} flat, and x + 1 */
  float *x = b[0], *y = b[1], *z = b[2], *w = b[3];
  for (int64_t i = 0; i < n[0]; ++i) w[i] = x[i] + 1;
  for (int64_t i = 0; i < n[0] * n[1]; ++i) z[i] = x[i / n[1]] * y[i % n[1]];
}
void scale(void **b, const int64_t *n, status *s) {   /* x{4}, factor{} */
  float *x = b[0], *f = b[1], *y = b[2];
  for (int i = 0; i < 4; ++i) y[i] = *f * x[i];
}
void nothing(void **b, const int64_t *n, status *s) { *(double *)b[0] = 7; }
void out_of_range(void **b, const int64_t *n, status *s) {
  s->code = 1; s->site = 1; s->index = -9; s->size = 4;
}
void fails(void **b, const int64_t *n, status *s) { s->code = 42; }
void meets(void **b, const int64_t *n, status *s) { /* says "here", waits for an answer */
  volatile float *x = b[0];
  x[1] = 1;
  for (int i = 0; i < x[2] && x[0] == 0; ++i) usleep(1000);
  *(float *)b[1] = x[0];
}
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    folder = tmp_path_factory.mktemp("code")
    (folder / "code.c").write_text(SOURCE)
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "code.c", "-o", "code.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "code.so"))
    names = ["twice", "twice_any", "outer", "scale", "nothing", "out_of_range", "fails", "meets"]
    return {n: ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0 for n in names}


F4 = ArrayType("float32", ("a",), (4,))
F0 = ArrayType("float32", (), ())
ANY = ("float32", ("a",), (None,))


def array(values: object, dims: tuple[str, ...] = ("a",), dtype: str = "float32") -> native.Array:
    return native.from_buffer(np.asarray(values, dtype), dims)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


# AddressSanitizer holds back what is freed (256 MB of it) to find late uses.
HELD_BACK = (512 << 20) if "libclang_rt.asan" in Path("/proc/self/maps").read_text() else 0


class TestExecutable:
    def test_static(self, code: dict[str, int]) -> None:
        e = Executable(code["twice"], [F4], [F4])
        (y,) = e(array([1, 2, 3, 4]))
        assert np.asarray(y).tolist() == [2, 4, 6, 8] and y._pointer % 64 == 0
        assert isinstance(y, native.Array)
        assert np.asarray(e.run([np.float32([1, 2, 3, 4])])[0]).tolist() == [2, 4, 6, 8]
        bare = Executable(code["twice"], [F4], [F4], unwrap=True)
        assert np.asarray(bare(np.float32([1, 2, 3, 4]))).tolist() == [2, 4, 6, 8]

    def test_no_inputs_and_no_outputs(self, code: dict[str, int]) -> None:
        assert Executable(code["nothing"], [], [ArrayType("float64", (), ())]).run([])[0].item() == 7
        assert Executable(code["twice_any"], [("float32", ("a",), (None,))], []).run([np.zeros(0, "f4")]) == ()

    @pytest.mark.parametrize("n", [0, 1, 5, 1000, 100_000])
    def test_dynamic_size(self, code: dict[str, int], n: int) -> None:
        e = Executable(code["twice_any"], [ANY], [ANY], unwrap=True)
        assert e.dynamic_dims == ("a",)
        x = np.arange(n, dtype="f4")
        for _ in range(3):
            for argument in (x, native.from_buffer(x, ("a",))):
                y = e(argument)
                assert y.type is ArrayType("float32", ("a",), (n,))
                np.testing.assert_array_equal(np.asarray(y), 2 * x)

    def test_result_sizes_are_products(self, code: dict[str, int]) -> None:
        e = Executable(
            code["outer"],
            [("float32", ("i",), (None,)), ("float32", ("j",), (None,))],
            [("float32", ("one", "ij"), (1, ["i", "j"])), ("float32", ("k",), ("i",))],
        )
        assert e.dynamic_dims == ("i", "j")
        for n, m in [(2, 3), (3, 2), (0, 4), *((k, k + 1) for k in range(20)), (2, 3)]:
            z, w = e(np.arange(n, dtype="f4"), np.arange(m, dtype="f4"))
            assert z.shape == (1, n * m) and w.shape == (n,) and w.dims == ("k",)
            np.testing.assert_array_equal(np.asarray(z)[0], np.outer(np.arange(n), np.arange(m)).ravel())

    def test_equal_names_are_equal_sizes(self, code: dict[str, int]) -> None:
        e = Executable(code["outer"], [ANY, ANY], [ANY, ANY])
        with pytest.raises(TypeError, match=r"argument 1 is .*4.*equal dims"):
            e(np.zeros(3, "f4"), np.zeros(4, "f4"))

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ((), "0 arguments .* 1 inputs"),
            ((np.zeros(4, "f4"),) * 2, "2 arguments"),
            (
                (np.zeros(5, "f4"),),
                r"argument 0 is a NumPy array \(float32, sizes \(5,\)\).*float32 \{a: 4\}",
            ),
            ((np.zeros(4),), "float64"),
            ((np.zeros(8, "f4")[::2],), "not row-major"),
            ((np.zeros(4, ">f4"),), ">f4"),
            ((np.zeros((4, 1), "f4"),), r"\(4, 1\)"),
            ((array([1, 2, 3, 4], ("b",)),), r"'b'"),
            (([1, 2, 3, 4],), "a list"),
            ((None,), "NoneType"),
        ],
    )
    def test_arguments_that_do_not_fit(self, code: dict[str, int], arguments: tuple, text: str) -> None:
        e = Executable(code["twice"], [F4], [F4])
        with pytest.raises(TypeError, match=text):
            e(*arguments)
        with pytest.raises(TypeError, match=text):
            e.run(arguments)

    def test_keywords_are_refused(self, code: dict[str, int]) -> None:
        with pytest.raises(TypeError, match="by position"):
            Executable(code["twice"], [F4], [F4])(x=array([1, 2, 3, 4]))

    @pytest.mark.parametrize(
        ("inputs", "outputs", "error", "text"),
        [
            ([1], [], TypeError, "ArrayType or a tuple"),
            ([("float32", ("a",), (1, 2))], [], ValueError, "1 dims"),
            ([("float32", ("a",), (["a"],))], [], TypeError, "list"),
            ([("float32", ("a",), ("b",))], [], TypeError, "int or None"),
            ([("float32", ("a",), (-2,))], [], ValueError, "not a size"),
            ([], [("float32", ("a",), (None,))], ValueError, "no input has a dynamic dim 'a'"),
            ([ANY], [("float32", ("a",), (["b"],))], ValueError, "'b'"),
            (1, [], TypeError, "sequences"),
        ],
    )
    def test_wrong_signatures(
        self, code: dict[str, int], inputs: list, outputs: list, error: type[Exception], text: str
    ) -> None:
        with pytest.raises(error, match=text):
            Executable(code["twice"], inputs, outputs)

    def test_wrong_entries(self) -> None:
        with pytest.raises(ValueError, match="address"):
            Executable(0, [], [])
        with pytest.raises(TypeError):
            Executable("main", [], [])  # type: ignore[arg-type]

    def test_an_index_out_of_range_raises(self, code: dict[str, int]) -> None:
        class MyError(IndexError):
            pass

        def fail(site: object, index: int, size: int) -> None:
            raise MyError(site, index, size)

        e = Executable(code["out_of_range"], [F4], [F4], sites=["first", "second"])
        before = native.set_index_error(fail)
        try:
            with pytest.raises(MyError) as caught:
                e(array([1, 2, 3, 4]))
            assert caught.value.args == ("second", -9, 4)
            assert native.set_index_error(lambda *a: None) is fail
            with pytest.raises(IndexError, match=r"-9 .* size 4"):
                e(array([1, 2, 3, 4]))
            native.set_index_error(None)
            with pytest.raises(IndexError, match="second"):
                e(array([1, 2, 3, 4]))
        finally:
            native.set_index_error(before)
        with pytest.raises(RuntimeError, match="42"):
            Executable(code["fails"], [], [F4]).run([])

    @pytest.mark.parametrize(
        ("size", "release", "free"),
        [(1 << 16, None, True), (3, None, False), (3, True, True), (1 << 16, False, False)],
    )
    def test_the_gil_is_released_where_work_is_long(
        self, code: dict[str, int], size: int, release: bool | None, free: bool
    ) -> None:
        x = np.zeros(size, "f4")
        x[2] = 20_000 if free else 100  # milliseconds to wait for the other thread

        def answer() -> None:
            while x[1] == 0:
                threading.Event().wait(0.001)
            x[0] = 1

        other = threading.Thread(target=answer)
        other.start()
        e = Executable(
            code["meets"],
            [ArrayType("float32", ("a",), (size,))],
            [F0],
            unwrap=True,
            release_gil=release,
        )
        assert e(x).item() == (1 if free else 0)
        other.join()

    def test_calls_do_not_leak(self, code: dict[str, int]) -> None:
        x = np.ones(4, "f4")
        a = native.from_buffer(x, ("a",))
        e = Executable(code["twice_any"], [ANY], [ANY], keepalive=x)
        e(x)  # from here on the result's type is known
        gc.collect()  # what other tests left
        counts = [sys.getrefcount(o) for o in (x, a, F4, e)]
        for _ in range(1000):
            e(x), e(a), e.run([x])
            with pytest.raises(TypeError):
                e(None)
        assert [sys.getrefcount(o) for o in (x, a, F4, e)] == counts
        before = resident_bytes()
        for _ in range(200_000):
            e(a)
        for n in range(2000):
            e(np.ones(n, "f4"))
        assert resident_bytes() - before < (16 << 20) + HELD_BACK
        with_code = sys.getrefcount(x)
        del e
        gc.collect()
        assert sys.getrefcount(x) == with_code - 1

    def test_results_live_on_their_own(self, code: dict[str, int]) -> None:
        e = Executable(code["twice"], [F4], [F4], unwrap=True)
        kept = [e(np.float32([i, 0, 0, 1])) for i in range(10_000)]
        assert [np.asarray(k)[0] for k in kept[::1000]] == [2 * i for i in range(0, 10_000, 1000)]

    def test_several_threads(self, code: dict[str, int]) -> None:
        e = Executable(code["twice_any"], [ANY], [ANY], unwrap=True)
        wrong: list[int] = []

        def work(seed: int) -> None:
            for i in range(300):
                x = np.full(1 + (seed * 997 + i * 131) % 40_000, i, "f4")
                y = np.asarray(e(x))
                if y.shape != x.shape or not (y == 2 * i).all():
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong

    def test_after_fork(self, code: dict[str, int]) -> None:
        e = Executable(code["twice"], [F4], [F4], unwrap=True)
        kept = e(np.ones(4, "f4"))
        child = os.fork()
        if child == 0:
            ok = np.asarray(e(kept)).tolist() == [4.0] * 4
            os._exit(0 if ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class TestFunction:
    @staticmethod
    def slow(*args: object, **kwargs: object) -> tuple:
        return ("slow", args, kwargs)

    def test_a_known_signature_runs_and_others_go_to_python(self, code: dict[str, int]) -> None:
        f = Function(self.slow)
        x = array([1, 2, 3, 4])
        assert f(x) == ("slow", (x,), {}) and f.size == 0
        f.add([F4], Executable(code["twice"], [F4], [F4]), unwrap=True)
        assert f.size == 1 and np.asarray(f(x)).tolist() == [2, 4, 6, 8]
        others = [
            array([1, 2, 3]),
            array([1, 2, 3, 4], ("b",)),
            array([1, 2, 3, 4], dtype="int32"),
            1.0,
            None,
        ]
        for other in [*others, np.zeros(4, "f4")]:
            assert f(other)[1][0] is other
        assert f() == ("slow", (), {}) and f(x, x)[0] == "slow"
        assert f(x, n=1) == ("slow", (x,), {"n": 1}) and f(x=x)[2] == {"x": x}
        assert f(x._with_meta("meta"))[0] == "slow"
        f.clear()
        assert f.size == 0 and f(x)[0] == "slow"

    def test_results(self, code: dict[str, int]) -> None:
        x, f = array([1, 2, 3, 4]), Function(self.slow)
        e = Executable(code["twice"], [F4], [F4])
        f.add([F4], e)
        assert isinstance(f(x), tuple) and len(f(x)) == 1
        f.add([F4], e, result_wrapper=lambda r: {"y": r[0]})
        assert np.asarray(f(x)["y"]).tolist() == [2, 4, 6, 8]
        f.add([F4], e, unwrap=True, result_wrapper=lambda r: [r])
        assert np.asarray(f(x)[0]).tolist() == [2, 4, 6, 8]
        f.add([F4], e, result_wrapper=lambda r: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            f(x)

    def test_many_signatures_in_turn(self, code: dict[str, int]) -> None:
        f = Function(self.slow)
        arrays = [array([i, 0, 0, 1], (f"d{i}",)) for i in range(20)]
        for a in arrays:
            f.add([a.type], Executable(code["twice"], [a.type], [a.type], unwrap=True), unwrap=True)
        for _ in range(3):
            for i, a in enumerate(arrays):
                y = f(a)
                assert y.type is a.type and np.asarray(y)[0] == 2 * i

    def test_one_entry_for_every_size(self, code: dict[str, int]) -> None:
        f = Function(self.slow)
        f.add(None, Executable(code["twice_any"], [ANY], [ANY]), unwrap=True)
        for n in (0, 3, 7, 3):
            assert f(array(np.ones(n))).shape == (n,)
        assert f(np.ones(3, "f4"))[0] == "slow" and f(array([1], ("b",)))[0] == "slow"

    def test_a_dynamic_executable_under_fixed_types(self, code: dict[str, int]) -> None:
        f = Function(self.slow)
        f.add([F4], Executable(code["twice_any"], [ANY], [ANY]), unwrap=True)
        assert np.asarray(f(array([1, 2, 3, 4]))).tolist() == [2, 4, 6, 8]
        assert f(array([1, 2]))[0] == "slow"

    def test_python_numbers(self, code: dict[str, int]) -> None:
        f, x = Function(self.slow), array([1, 2, 3, 4])
        f.add([F4, float], Executable(code["scale"], [F4, F0], [F4]), unwrap=True)
        assert np.asarray(f(x, 3.0)).tolist() == [3, 6, 9, 12]
        assert f(x, 3)[0] == "slow" and f(x, True)[0] == "slow" and f(x, x)[0] == "slow"

    def test_integers_that_do_not_fit_go_to_python(self, code: dict[str, int]) -> None:
        f, x = Function(self.slow), array([1, 2, 3, 4])
        i1 = ArrayType("int8", (), ())
        f.add([F4, int], Executable(code["scale"], [F4, i1], [F4]), unwrap=True)
        assert f(x, 300)[0] == "slow" and f(x, 2**100)[0] == "slow"

    def test_integers_outside_of_a_range_go_to_python(self, code: dict[str, int]) -> None:
        f, i8 = Function(self.slow), ArrayType("int64", (), ())
        executable = Executable(code["nothing"], [i8], [i8])
        f.add([int], executable, unwrap=True, ranges=[(0, -2, 5)])
        assert f(-3)[0] == "slow" and f(6)[0] == "slow" and f(2**63)[0] == "slow"
        assert isinstance(f(-2), native.Array) and isinstance(f(5), native.Array)
        for ranges, error in [([(1, 0, 1)], ValueError), ([3], TypeError), (3, TypeError), ([("a", 0, 1)], TypeError)]:
            with pytest.raises(error):
                f.add([int], executable, unwrap=True, ranges=ranges)

    def test_captured_arrays_are_passed_last(self, code: dict[str, int]) -> None:
        f, x, factor = Function(self.slow), array([1, 2, 3, 4]), native.from_scalar(5, "float32")
        e = Executable(code["scale"], [F4, F0], [F4])
        count = sys.getrefcount(factor)
        f.add([F4], e, unwrap=True, captured=[factor])
        assert np.asarray(f(x)).tolist() == [5, 10, 15, 20]
        f.clear()
        assert sys.getrefcount(factor) == count
        f.add(None, e, unwrap=True, captured=[factor])
        assert np.asarray(f(x)).tolist() == [5, 10, 15, 20]

    @pytest.mark.parametrize(
        ("types", "options", "error", "text"),
        [
            ([], {}, ValueError, "0 types and 0 captured .* 1 inputs"),
            ([F0], {}, ValueError, "does not fit input 0"),
            ([float], {}, ValueError, "does not fit input 0"),
            ([str], {}, TypeError, "in_types"),
            (1, {}, TypeError, "sequence"),
            ([F4], {"captured": [1]}, TypeError, "Arrays only"),
            ([F4], {"captured": 1}, TypeError, "iterable"),
        ],
    )
    def test_wrong_signatures(
        self, code: dict[str, int], types: list, options: dict, error: type[Exception], text: str
    ) -> None:
        f = Function(self.slow)
        with pytest.raises(error, match=text):
            f.add(types, Executable(code["twice"], [F4], [F4]), **options)
        with pytest.raises(TypeError):
            f.add([F4], "executable")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="exactly one"):
            f.add([], Executable(code["nothing"], [], []), unwrap=True)
        assert f.size == 0

    def test_while_tracing_everything_goes_to_python(self, code: dict[str, int]) -> None:
        f, x = Function(self.slow), array([1, 2, 3, 4])
        f.add([F4], Executable(code["twice"], [F4], [F4]), unwrap=True)
        native.enter_trace()
        try:
            assert native.trace_depth() == 1 and f(x)[0] == "slow"
            elsewhere: list[object] = []
            t = threading.Thread(target=lambda: elsewhere.append(f(x)))
            t.start()
            t.join()
            assert isinstance(elsewhere[0], native.Array)
        finally:
            native.exit_trace()
        assert isinstance(f(x), native.Array)
        if native.trace_depth() == 0:
            with pytest.raises(RuntimeError, match="enter_trace"):
                native.exit_trace()

    def test_attributes_and_subclasses(self, code: dict[str, int]) -> None:
        class Compiled(Function):
            def __init__(self, slow_path: object, name: str) -> None:
                self.__name__ = name

            def lower(self) -> str:
                return "text of " + self.__name__

        f, x = Compiled(self.slow, "g"), array([1, 2, 3, 4])
        assert f.lower() == "text of g" and f(x)[0] == "slow" and f(x, k=1)[2] == {"k": 1}
        f.add([F4], Executable(code["twice"], [F4], [F4]), unwrap=True)
        assert np.asarray(f(x)).tolist() == [2, 4, 6, 8]
        g = Function(self.slow)
        g.__wrapped__ = self.slow  # type: ignore[attr-defined]
        assert g.__wrapped__ is self.slow and g.slow_path is self.slow  # type: ignore[attr-defined]
        assert weakref.ref(g)() is g
        for wrong in ((), (1,)):
            with pytest.raises(TypeError, match="slow_path"):
                Function(*wrong)

    def test_a_function_in_a_cycle_is_collected(self, code: dict[str, int]) -> None:
        f = Function(self.slow)
        e = Executable(code["twice"], [F4], [F4], keepalive=[f])
        f.me = f  # type: ignore[attr-defined]
        f.add([F4], e, result_wrapper=partial(print, f))
        gone = weakref.ref(f)
        del f, e
        gc.collect()
        assert gone() is None

    def test_clearing_while_it_runs(self, code: dict[str, int]) -> None:
        f, x = Function(self.slow), array([1, 2, 3, 4])

        def wrapper(result: tuple) -> tuple:
            f.clear()
            gc.collect()
            return result

        f.add([F4], Executable(code["twice"], [F4], [F4]), result_wrapper=wrapper)
        assert np.asarray(f(x)[0]).tolist() == [2, 4, 6, 8] and f(x)[0] == "slow"

    def test_errors_of_the_slow_path_pass_through(self) -> None:
        def fail(*args: object) -> None:
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            Function(fail)(array([1]))


def test_an_executable_in_a_cycle_with_what_refuses_its_sizes_goes(code: dict[str, int]) -> None:
    class Refuse:
        executable: Executable

        def __call__(self, left: int, right: int) -> None:
            raise ValueError(f"{left} is not {right}")

    refuse = Refuse()
    refuse.executable = Executable(code["twice_any"], [ANY], [("float32", ("a",), ("a",))], equal=[("a", 3, refuse)])
    with pytest.raises(ValueError, match="4 is not 3"):
        refuse.executable(array([1, 2, 3, 4]))
    gone = weakref.ref(refuse)
    del refuse
    gc.collect()
    assert gone() is None
