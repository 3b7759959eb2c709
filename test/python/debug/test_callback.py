"""xt.callback: Python in the midst of compiled code."""

from __future__ import annotations

import gc
import math
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor.testing import check_gradients

X = xt.array([3.0, 1.0, 2.0], "i", dtype="f4")
I1 = xt.spec(dtype="i1")
X_TYPE = xt.spec(i=3, dtype="f4")
B = xt.array([[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]], ("b", "i"), dtype="f4")


class Sorted:
    """NumPy's sort, and the dims of what it was given."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    def __call__(self, x: Any) -> Any:
        self.seen.append(x.dims)
        return xt.array(np.sort(x.values, axis=x.dims.index("i")), x.dims)


def both(f: Callable[..., Any]) -> list[Callable[..., Any]]:
    return [f, xt.jit(f)]


def test_it_computes_a_part_of_a_program() -> None:
    for f in both(lambda x: xt.callback(Sorted(), x * 2, result=x) + 1):
        np.testing.assert_array_equal(f(X).values, [3.0, 5.0, 7.0])


def test_memory_that_is_returned_may_change() -> None:
    memory = np.zeros(())

    def add(x: Any) -> Any:
        memory[...] += x.values
        return memory

    def f(x: Any) -> Any:
        return xt.scan(lambda c, x: (c, xt.callback(add, x, result=x, ordered=True)), 0.0, x, dim="t")[1]

    for jit in (True, False):
        memory[...] = 0.0
        with xt.option(jit=jit):
            np.testing.assert_array_equal(xt.jit(f)(xt.array([1.0, 2.0, 3.0], "t")).values, [1.0, 3.0, 6.0])


def test_results_have_the_labels_of_the_arguments() -> None:
    """Of all that have the dim, as results of ops do. In compiled code or not, Arrays or DataArrays."""
    xr = pytest.importorskip("xarray")
    coords = {"b": [5, 6], "i": ["p", "q", "r"], "run": 4, "area": (("b", "i"), B.values)}
    x = xr.DataArray(B.values, dims=("b", "i"), coords=coords, name="heat", attrs={"units": "K"})
    other = xr.DataArray(X.values, dims="i", coords={"i": ["p", "q", "r"]}, name="cold")
    for f in (
        lambda x, y: xt.callback(lambda x, y: x.values, x, y, result=x),
        lambda x, y: xt.callback(lambda x: (x.values.sum(0), 1.0), x, result=(y, xt.spec())),
        lambda x, y: xt.callback(lambda x: np.ones(7), x, result=xt.spec(k=7)),
        lambda x, y: xt.vectorize(lambda x: xt.callback(lambda x: x.values, x, result=x), "b")(x),
    ):
        for given in ((x, other), (xt.as_array(x), xt.as_array(other))):
            with xt.option(jit=False):
                stepped = xt.jit(f)(*given)
            for a, b, c in zip(*map(xt.tree.leaves, (f(*given), stepped, xt.jit(f)(*given))), strict=True):
                assert type(a) is type(b) is type(c) is type(given[0])
                if type(c) is xt.Array:
                    a, b, c = a.to_xarray(), b.to_xarray(), c.to_xarray()
                xr.testing.assert_identical(a, c)
                xr.testing.assert_identical(b, c)


def test_a_function_lives_as_long_as_the_code_that_calls_it() -> None:
    def used() -> tuple[Any, Any]:
        f = Sorted()

        def square(x: Any) -> Any:
            y = xt.callback(f, x, result=x, derivative=lambda p, t: (xt.callback(f, p[0], result=p[0]), t[0] * p[0]))
            return xt.sum(y * y)

        xt.jit(square)(X)
        xt.vectorize(square, dims="b")(B)
        _, back = xt.vjp(square, X)
        return weakref.ref(f), back

    f, back = used()
    gc.collect()
    assert f() is not None
    np.testing.assert_array_equal(back(1.0)[0].values, 2 * np.sort(X.values) * X.values)
    del back
    gc.collect()
    assert f() is None


def test_equal_numbers_of_other_meaning_are_other_arguments() -> None:
    def signs(k: Any, x: Any) -> Any:
        return np.copysign(x.values, k)

    for k in (0.0, -0.0):
        for f in both(lambda x, k=k: xt.callback(signs, k, x, result=x)):
            np.testing.assert_array_equal(f(X).values, np.copysign(X.values, k))


def test_arguments_and_results_are_pytrees_of_any_dtype() -> None:
    z = xt.array(np.array([1 + 2j, 3.0], "c8"), "i")

    def host(p: Any, n: int) -> Any:
        assert type(n) is int
        assert p["none"] is None
        values = p["z"].values
        half = xt.array(values.real.copy(), "i", device="cpu").astype("bfloat16")
        return {"z": values * np.complex64(1j), "any": bool(values.real.max() > 2), "n": n, "half": half}

    types = {"z": z, "any": xt.spec(dtype="bool"), "n": xt.spec(dtype="u1"), "half": xt.spec(i=2, dtype="bfloat16")}
    for f in both(lambda z: xt.callback(host, {"z": z, "none": None}, 7, result=types)):
        found = f(z)
        np.testing.assert_array_equal(found["z"].values, [1j - 2, 3j])
        assert (found["any"].item(), found["n"].item(), found["n"].dtype) == (True, 7, np.dtype("uint8"))
        np.testing.assert_array_equal(found["half"].astype("f4").values, [1.0, 3.0])


def test_one_call_for_each_instance_or_one_for_all() -> None:
    for together, seen in ((False, [("i",)] * 2), (True, [("b", "i")])):
        host = Sorted()
        f = xt.vectorize(lambda x, h=host, t=together: xt.callback(h, x, result=x, together=t), dims="b")
        np.testing.assert_array_equal(xt.jit(f)(B).values, np.sort(B.values))
        assert host.seen == seen


def test_pure_calls_that_nothing_reads_are_left_out_and_ordered_ones_are_not() -> None:
    host, effect = Sorted(), Sorted()

    def f(x: Any) -> Any:
        xt.callback(host, x, result=x)
        xt.callback(effect, x, result=x, ordered=True)
        y = xt.callback(host, x, result=x) + xt.callback(host, x, result=x)
        xt.callback(lambda x: [effect(x), None][1], x * 2, result=None)
        return y

    np.testing.assert_array_equal(xt.jit(f)(X).values, [2.0, 4.0, 6.0])
    assert (len(host.seen), len(effect.seen)) == (1, 2)


def test_open_sizes() -> None:
    f = xt.jit(lambda x: xt.callback(Sorted(), x, result=xt.spec(i=None, dtype="f4")), dynamic_dims=("i",))
    for n in (3, 1, 0, 5):
        x = xt.array(np.arange(n, dtype="f4")[::-1].copy(), "i")
        np.testing.assert_array_equal(f(x).values, range(n))


def test_inside_of_loops_and_branches() -> None:
    def double(x: Any) -> Any:
        return x.values * 2

    def f(x: Any) -> Any:
        y = xt.scan(lambda c, e: (xt.callback(double, c, result=c) + e, None), x.sum() * 0, x, dim="i")[0]
        y = xt.while_loop(lambda c: xt.callback(lambda c: c.item() < 100, c, result=xt.spec(dtype="bool")),
                          lambda c: xt.callback(double, c, result=c), y)  # fmt: skip
        return xt.cond(y > 0, lambda: xt.callback(double, y, result=y), lambda: y)

    for g in both(f):
        assert g(X).item() == 2 * 128  # (3 * 4 + 1 * 2 + 2) * 2**3


def test_a_derivative_of_its_own() -> None:
    def erf(x: Any) -> Any:
        def rule(primals: Any, tangents: Any) -> Any:
            (x,), (dx,) = primals, tangents
            return erf(x), 2 / math.sqrt(math.pi) * xt.exp(-x * x) * dx

        return xt.callback(lambda x: np.vectorize(math.erf)(x.values), x, result=x, derivative=rule)

    def square(x: Any) -> Any:
        back = (lambda x: (square(x), x), lambda x, ct: (2 * x * ct,))
        return xt.callback(lambda x: x.values**2, x, result=x, derivative=back)

    x = xt.array([0.3, -0.7], "i", device="cpu")
    check_gradients(lambda x: xt.sum(erf(x) * x), (x,), order=2)
    check_gradients(lambda x: xt.sum(square(x) * x), (x,), order=2)
    np.testing.assert_allclose(xt.vectorize(xt.grad(erf), dims="i")(x).values, xt.grad(lambda x: xt.sum(xt.erf(x)))(x))


def test_without_a_derivative_there_is_an_error_that_says_so() -> None:
    f = xt.jit(lambda x: xt.sum(xt.callback(Sorted(), x, result=x)))
    for g in (xt.grad(f), lambda x: xt.jvp(f, (x,), (x,))):
        with pytest.raises(
            xt.GradientError, match=r"xt.callback\(Sorted\) has no derivative. Give it one, derivative="
        ):
            g(X)
    stopped = xt.grad(lambda x: xt.sum(x * xt.callback(Sorted(), xt.stop_gradient(x), result=x)))
    np.testing.assert_array_equal(stopped(X).values, [1.0, 2.0, 3.0])


def test_an_exception_is_that_of_the_call_and_ends_the_program() -> None:
    seen = []

    def fails(x: Any) -> Any:
        seen.append(x.item())
        if x.item() >= 3:
            raise KeyError("three")
        return x

    def count(c: Any, _: Any) -> Any:
        return xt.callback(fails, c, result=c, ordered=True) + 1, None

    f = xt.jit(lambda x: xt.scan(count, x, dim="t", length=1000)[0])
    for _ in range(2):
        seen.clear()
        with pytest.raises(KeyError, match="three"):
            f(xt.array(0.0, dtype="f4"))
        assert seen == [0.0, 1.0, 2.0, 3.0]
    forever = xt.jit(lambda x: xt.while_loop(lambda c: c >= 0, lambda c: count(c, None)[0], x))
    with pytest.raises(KeyError, match="three"):
        forever(xt.array(0.0, dtype="f4"))


@pytest.mark.cpu_only("a call on a device cannot begin another one there")
def test_it_may_run_compiled_code_itself() -> None:
    inner = xt.jit(lambda x: xt.sum(xt.callback(Sorted(), x, result=x) * x))

    def host(x: Any) -> Any:
        return inner(x) + xt.dot(x, x)

    f = xt.jit(lambda x: xt.callback(host, x, result=xt.spec(dtype="f4")) + xt.sum(xt.sin(x)) * 0)
    assert f(X).item() == 3 * 3 + 1 * 1 + 2 * 2 + float(np.dot(np.sort(X.values), X.values))


def test_threads_call_at_once() -> None:
    f = xt.jit(lambda x: xt.callback(Sorted(), x, result=x))
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(f(X).values for _ in range(20))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 80
    assert all(list(y) == [1.0, 2.0, 3.0] for y in found)


def test_a_bundle_has_no_python() -> None:
    with pytest.raises(xt.UnsupportedError, match=r"xt.callback\(Sorted\): a bundle has no Python to call"):
        xt.export(lambda x: xt.callback(Sorted(), x, result=x), (X,))


WRONG: dict[str, tuple[Callable[[Any], Any], Any, type[Exception], str]] = {
    "size": (lambda x: np.zeros(4, "f4"), X, xt.SizeError, r"returned float32 \(i: 4\), and result= says .*\(i: 3\)"),
    "dtype": (lambda x: x.values.astype("f8"), X, xt.DTypeError, r"Return .astype\('float32'\), or declare"),
    "dims": (lambda x: xt.array([1.0, 2.0, 3.0], "j", dtype="f4"), X, xt.DimensionError, r"returned float32 \(j: 3\)"),
    "rank": (lambda x: np.zeros((3, 1), "f4"), X, xt.DimensionError, r"of shape \(3, 1\), and result= says"),
    "text": (lambda x: "three", X, xt.ArgumentTypeError, r"returned the string 'three', and result= says float32"),
    "numbers": (lambda x: [3.0, 1.0], X, xt.ArgumentError, r"returned \[\*, \*\], .*Return an array of the numbers"),
    "too large": (lambda x: 3000, I1, xt.DTypeError, r"the number 3000, and result= says int8 \(\), which does not"),
    "fraction": (lambda x: 0.5, I1, xt.DTypeError, r"returned the number 0.5, .*Declare dtype='float64'"),
    "nothing": (lambda x: None, X, xt.ArgumentTypeError, r"returned None, .*Return an array of numbers"),
    "type": (lambda x: X_TYPE, X, xt.ArgumentTypeError, r"returned Spec\(i: 3, float32\), which has no values"),
    "objects": (lambda x: np.array([None] * 3), X, xt.ArgumentTypeError, r"returned an ndarray of object, and result="),
    "structure": (lambda x: (x, x), X, xt.ArgumentError, r"returned \(\*, \*\), and result= says \*"),
}


@pytest.mark.parametrize("name", WRONG)
def test_results_must_be_what_was_declared(name: str) -> None:
    host, result, kind, message = WRONG[name]
    for f in both(lambda x: xt.callback(host, x, result=result)):
        with pytest.raises(kind, match=message):
            f(X)


def test_wrong_requests_are_errors() -> None:
    with pytest.raises(xt.SizeError, match="the size of dim 'k' is None, and no argument has the dim"):
        xt.jit(lambda x: xt.callback(Sorted(), x, result=xt.spec(k=None)))(X)
    with pytest.raises(xt.ArgumentTypeError, match=r"result=\): a type for each result is needed"):
        xt.callback(Sorted(), X, result="f4")
    with pytest.raises(xt.ArgumentTypeError, match=r"got the class Spec"):
        xt.callback(Sorted(), X, result=xt.Spec)
    with pytest.raises(xt.ArgumentTypeError, match=r"callback: <lambda> gets 1 argument, .* and takes none"):
        xt.jit(lambda x: xt.callback(lambda: 3, x, result=x)).lower(X)
    with pytest.raises(xt.ArgumentTypeError, match=r"debug.callback: <lambda> gets 1 argument, .* and takes none"):
        xt.jit(lambda x: xt.debug.callback(lambda: 3, x) or x).lower(X)
    with pytest.raises(xt.ArgumentError, match="ordered=True makes one call after the other"):
        xt.callback(Sorted(), X, result=X, ordered=True, together=True)
    with pytest.raises(xt.ArgumentTypeError, match=r"callback\(derivative=\): write a function"):
        xt.jit(lambda x: xt.callback(Sorted(), x, result=x, derivative=3))(X)


def test_for_its_effect_alone() -> None:
    seen: list[float] = []

    def f(x: xt.Array) -> xt.Array:
        def step(i: xt.Array, y: xt.Array) -> xt.Array:
            xt.debug.callback(lambda y: seen.append(y.item()), y)
            return y * 2.0

        return xt.fori_loop(0, 3, step, x)

    x = xt.array(3.0)
    assert xt.jit(f)(x).item() == 24 and seen == [3, 6, 12]
    seen.clear()
    assert xt.jit(xt.grad(f))(x).item() == 8 and seen == [3, 6, 12]
    seen.clear()
    assert f(x).item() == 24 and seen == [3, 6, 12]
    seen.clear()
    xt.jit(xt.vectorize(f, "n"))(xt.array([1.0, 5.0], "n"))
    assert sorted(seen) == [1, 2, 4, 5, 10, 20]
    with pytest.raises(xt.ArgumentTypeError, match=r"xt.debug.callback needs a function"):
        xt.debug.callback(seen, x)
    with pytest.raises(xt.ArgumentTypeError, match=r"xt.debug.callback: got an unexpected keyword argument 'k'"):
        xt.debug.callback(seen.append, x, k=x)  # type: ignore[call-arg]


def test_the_traceback_of_an_exception_has_the_users_frames_alone() -> None:
    def bad(x: Any) -> Any:
        raise ValueError("mine")

    for f in (
        xt.jit(lambda x: xt.callback(bad, x, result=x)),
        xt.jit(lambda x: [xt.debug.callback(bad, x), x * 2.0][1]),
    ):
        for _ in range(3):  # the first call is Python's, later ones are C++'s
            with pytest.raises(ValueError, match="mine") as told:
                f(1.0)
            assert [Path(str(entry.path)).name for entry in told.traceback] == [Path(__file__).name] * 2


@pytest.mark.cpu_only("the bundle is for this processor")
def test_a_bundle_refuses_calls_for_an_effect_by_their_name() -> None:
    def f(x: Any) -> Any:
        xt.debug.callback(print, x)
        return x

    with pytest.raises(xt.UnsupportedError, match=r"xt.debug.callback\(print\): a bundle has no Python to call"):
        xt.export(f, (xt.spec(i=3),))
