"""xt.option: a plain call is for the process, a block for what runs inside of it."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

x, y = xt.array([1.0, 2.0, 3.0], dims="a"), xt.array([1.0, 2.0], dims="b")


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    yield
    xt.option(outer="allow", index="raise", skipna=False)


def is_forbidden() -> bool:
    try:
        x * y
    except xt.DimensionError:
        return True
    return False


def elsewhere(f: Callable[[], Any]) -> Any:
    """`f()` in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(f()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.float64
def test_another_thread_does_not_see_a_block() -> None:
    for _ in range(2):  # the second time everything is compiled
        with xt.option(outer="forbid"):
            assert is_forbidden()
            assert not elsewhere(is_forbidden)
            assert is_forbidden()
        assert not is_forbidden()


def test_another_thread_sees_a_plain_call() -> None:
    xt.option(outer="forbid")
    assert is_forbidden()
    assert elsewhere(is_forbidden)
    xt.option(outer="allow")
    assert not is_forbidden()
    assert not elsewhere(is_forbidden)


def test_a_call_that_is_kept_holds_here_at_once() -> None:
    kept = xt.option(outer="forbid")
    assert is_forbidden()
    del kept
    assert elsewhere(is_forbidden)


def test_blocks_nest_and_end_with_an_exception() -> None:
    with xt.option(outer="forbid"):
        with contextlib.suppress(KeyError), xt.option(outer="allow", index="clip"):
            assert not is_forbidden()
            raise KeyError
        assert is_forbidden()
    assert not is_forbidden()
    with pytest.raises(xt.ArgumentError):
        xt.option(outer="forbid", index="perhaps")
    with pytest.raises(TypeError):
        xt.option("forbid")
    assert not is_forbidden()


def test_one_block_object_serves_several_times() -> None:
    strict = xt.option(outer="forbid")
    for _ in range(2):
        with strict, strict:
            assert is_forbidden()
        assert not is_forbidden()


def test_a_copied_context_keeps_the_options_of_its_block() -> None:
    with xt.option(outer="forbid"):
        inside = contextvars.copy_context()
    assert inside.run(is_forbidden)
    assert not is_forbidden()


def test_compiled_code_of_one_option_never_runs_under_another() -> None:
    f = xt.jit(lambda v, i: v.isel(a=i))
    i = xt.array([0, 7], dims="p")
    for _ in range(2):
        with xt.option(index="clip"):
            assert f(x, i).values.tolist() == [1, 3]
        with pytest.raises(IndexError):
            f(x, i)


def test_clip_holds_for_plain_ints_too() -> None:
    labelled = xr.DataArray([1.0, 2.0, 3.0], dims="a", coords={"a": [10, 20, 30]})
    with xt.option(index="clip"):
        assert x.isel(a=9).item() == 3
        assert x[-9].item() == 1
        assert x[{"a": 3}].item() == 3
        assert xt.jit(lambda v: v.isel(a=9))(x).item() == 3
        assert xt.isel(labelled, a=9).item() == 3
        with pytest.raises(IndexError):
            xt.zeros(a=0).isel(a=0)
    with pytest.raises(IndexError):
        x.isel(a=9)


def test_calls_in_a_block_find_compiled_code() -> None:
    traces: list[int] = []
    f = xt.jit(lambda v: (traces.append(1), v * 2.0)[1])
    np.testing.assert_array_equal(f(x).values, [2, 4, 6])
    with xt.option(outer="forbid"):
        for _ in range(3):
            f(x)
    f(x)
    assert len(traces) == 2


# -- the dtype of new floats ------------------------------------------------------------------------------------------

MADE: dict[str, Callable[[], Any]] = {
    "zeros": lambda: xt.zeros(a=2),
    "ones": lambda: xt.ones(a=2),
    "eye": lambda: xt.eye(2),
    "one_hot": lambda: xt.one_hot(xt.arange(3, dim="a"), 3),
    "full": lambda: xt.full(0.5, a=2),
    "linspace": lambda: xt.linspace(0, 1, 3, dim="a"),
    "a long linspace": lambda: xt.linspace(0, 1, 40, dim="a"),
    "arange": lambda: xt.arange(0, 1, 0.5, dim="a"),
    "integers and a number": lambda: xt.arange(3, dim="a") * 0.5,
}


@pytest.mark.float64
@pytest.mark.parametrize("name", MADE)
def test_one_default_for_new_floats(name: str) -> None:
    f = xt.jit(lambda: MADE[name]())
    for _ in range(2):  # the second time, everything is compiled
        assert MADE[name]().dtype == f().dtype == np.float64
        with xt.option(default_float="f4"):
            assert MADE[name]().dtype == f().dtype == np.float32
            np.testing.assert_allclose(MADE[name]().values, f().values, 1e-6)


@pytest.mark.float64
def test_the_default_is_of_python_numbers_alone() -> None:
    with xt.option(default_float="f4"):
        assert xt.array([0.5, 1.0], "a").dtype == xt.array(0.5).dtype == np.float32
        assert xt.array([1, 2], "a").dtype == xt.full(1, a=2).dtype == np.int64
        assert xt.array(np.ones(2), "a").dtype == xt.full(np.float64(1), a=2).dtype == np.float64
        assert xt.spec(a=2).dtype == np.float32 and xt.spec(a=2, dtype="f8").dtype == np.float64
        assert xt.zeros(a=2, dtype="f8").dtype == xt.zeros_like(xt.array(np.ones(2), "a")).dtype == np.float64
    with xt.option(default_float="bfloat16"):
        assert xt.zeros(a=2).dtype.name == "bfloat16"
    with pytest.raises(xt.ArgumentError, match="default_float= is a dtype of floats"):
        xt.option(default_float="i4")


INTEGERS: dict[str, Callable[[Any], Any]] = {
    "divide": lambda i: i / (i + 1),
    "divide by an int": lambda i: i / 2,
    "exp": xt.exp,
    "mean": xt.mean,
    "std": lambda i: xt.std(i, "a"),
    "quantile": lambda i: xt.quantile(i, 0.25),
    "average": lambda i: xt.average(i, "a"),
    "segment_mean": lambda i: xt.segment_mean(i, xt.array([0, 1, 0, 1], "a"), 2, dim="a"),
    "where": lambda i: i.where(i > 1),
    "softmax": lambda i: xt.nn.softmax(i, "a"),
    "inv": lambda i: xt.linalg.inv(i + xt.eye(a=4, b=4, dtype="i8") * 9, dims=("a", "b")),
}


@pytest.mark.float64
@pytest.mark.parametrize("name", INTEGERS)
def test_integers_become_floats_no_wider_than_the_default(name: str) -> None:
    i = xt.array(np.arange(16).reshape(4, 4), ("a", "b"))
    f, g = INTEGERS[name], xt.jit(INTEGERS[name])
    for _ in range(2):  # the second time, everything is compiled
        expected = f(i)
        assert expected.dtype == g(i).dtype == np.float64
        with xt.option(default_float="f4"):
            assert f(i).dtype == g(i).dtype == np.float32
            np.testing.assert_allclose(f(i).values, expected.values, 1e-5)
            assert f(i.astype("f8")).dtype == np.float64


def test_small_integers_keep_their_floats() -> None:
    with xt.option(default_float="f4"):
        assert xt.exp(xt.ones(a=2, dtype="i1")).dtype == np.float16
        assert xt.exp(xt.ones(a=2, dtype="i2")).dtype == np.float32


def test_advice_keeps_the_dtype() -> None:
    with pytest.raises(AttributeError, match=r"xt.zeros\(bin=10, dtype=x.dtype\).at\(bin=index\).add\(x\)"):
        xt.index_add  # type: ignore[attr-defined] # noqa: B018
    x = xt.array(np.array([1, 2], "f4"), "a")
    assert xt.zeros(bin=3, dtype=x.dtype).at(bin=xt.array([0, 2], "a")).add(x).dtype == np.float32


# -- strict -----------------------------------------------------------------------------------------------------------

K = xt.array(np.array([[1, 2], [3, 4], [5, 6]], "f4"), ("o", "s"))


def squares(k: Any) -> Any:
    return xt.dot(k, k, dim="o")


@pytest.mark.parametrize("call", [squares, lambda k: xt.jit(squares)(k), lambda k: xt.dot(k, k, dim=())])
def test_strict_refuses_an_array_that_meets_itself_and_keeps_a_dim(call: Callable[[Any], Any]) -> None:
    for _ in range(2):  # the second time, the others are compiled
        assert call(K).dims in (("s",), ("o", "s"))
        with xt.option(strict=True):
            with pytest.raises(
                xt.DimensionError, match=r"one array with one dim .*squares along .*, and not products of pairs"
            ):
                call(K)
            other = K + 0.0
            assert xt.dot(K, other, dim="o").dims == ("s",)  # an array of its own
            with pytest.raises(xt.DimensionError, match="squares"):
                xt.dot(other, other, dim="o")


def test_strict_changes_no_result() -> None:
    other = K + 1.0
    for _ in range(2):
        with xt.option(strict=True):
            for f in (xt.add, xt.multiply, xt.matmul):
                same, different = f(K, K), f(K, other)
                with xt.option(strict=False):
                    np.testing.assert_array_equal(same.values, f(K, K).values)
                    np.testing.assert_array_equal(different.values, f(K, other).values)


def test_what_strict_advises_works() -> None:
    with xt.option(strict=True):
        with pytest.raises(xt.DimensionError) as error:
            squares(K)
        assert "Write xt.dot(x, x.rename(s='s2'), dim='o') for pairs, and xt.square(x).sum('o')" in str(error.value)
        v = np.asarray(K.values)
        np.testing.assert_array_equal(xt.dot(K, K.rename(s="s2"), dim="o").values, v.T @ v)
        np.testing.assert_array_equal(xt.square(K).sum("o").values, (v * v).sum(0))
        assert float(K @ K) == (v * v).sum()  # no dim is left


def test_a_square_matrix_by_itself_is_not_its_square() -> None:
    """`P @ P` is a number. What outer="forbid" refuses is said to be meant by a dim."""
    square = xt.array(np.arange(9.0).reshape(3, 3), ("row", "col"))
    calls: list[Callable[[Any], Any]] = [
        lambda p: p @ p,
        xt.jit(lambda p: p @ p),
        xt.jit(lambda p: p @ p.T),
        lambda p: xt.matmul(p, p),
    ]
    for call in calls:
        assert float(call(square)) == 204.0
        for options in ({"outer": "forbid"}, {"strict": True}):
            with (
                xt.option(**options),
                pytest.raises(xt.DimensionError, match=r"xt.linalg.matmul\(x, x, dims=\('row', 'col'\)\)"),
            ):
                call(square)
    with xt.option(outer="forbid"):
        assert float(xt.dot(square, square, dim=...)) == 204.0
        assert float(square @ (square + 0.0)) == 204.0
        row = square.isel(row=1)
        assert float(row @ row) == 50.0


def test_strict_knows_a_dataarray_that_meets_itself() -> None:
    labelled = xr.DataArray(np.ones((3, 2), "f4"), dims=("o", "s"))
    with xt.option(strict=True), pytest.raises(xt.DimensionError, match="squares"):
        squares(labelled)


WIDE: dict[str, Callable[[Any, Any], Any]] = {
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "atan2": xt.atan2,
    "where": lambda x, y: xt.where(x > 0, x, y),
    "concat": lambda x, y: xt.concat([x, y.astype("f8")], "o"),
    "dot": lambda x, y: x @ y,
}


@pytest.mark.float64
@pytest.mark.parametrize("dtype", ["f8", "i8"])
@pytest.mark.parametrize("name", WIDE)
def test_strict_refuses_float64_that_comes_from_float32(name: str, dtype: str) -> None:
    y = xt.ones(o=3, s=2, dtype=dtype)
    assert WIDE[name](K, y).dtype == np.float64
    with xt.option(strict=True):
        for f in (WIDE[name], xt.jit(WIDE[name])):
            with pytest.raises(xt.DTypeError, match=r"float32 and (float|int)64 give float64.* Write .astype"):
                f(K, y)
        assert xt.greater(K, y).dtype == bool
        assert xt.isclose(K, y).dtype == bool
        assert (K * 2.0 + xt.exp(1.0)).dtype == np.float32  # Python numbers give way


def test_strict_forbids_outer_products_unless_asked() -> None:
    with xt.option(strict=True):
        assert is_forbidden()
        with xt.option(outer="allow"):
            assert not is_forbidden()
    with xt.option(strict=True, outer="allow"):
        assert not is_forbidden()


# -- skipna -----------------------------------------------------------------------------------------------------------

HOLES = xr.DataArray(
    np.array([[1.0, np.nan, 3.0, -2.0], [np.nan, np.nan, 5.0, 4.0], [2.0, 7.0, 0.5, np.nan]], "f4"), dims=("a", "t")
)
SKIPPING = (
    "sum", "prod", "mean", "var", "std", "max", "min", "median", "argmax", "argmin", "cumsum", "cumprod",
)  # fmt: skip


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", SKIPPING)
def test_under_skipna_what_is_nan_is_left_out_as_in_xarray(name: str, compiled: bool) -> None:
    def f(v: Any) -> Any:
        return getattr(v, name)("t")

    call = xt.jit(f) if compiled else f
    x = xt.as_array(HOLES)
    for _ in range(2):
        with xt.option(skipna=True):
            np.testing.assert_allclose(call(x).values, f(HOLES).values, rtol=1e-6)
            assert call(xt.array([1, 2], "t")).values.tolist() == f(xr.DataArray([1, 2], dims="t")).values.tolist()
        np.testing.assert_array_equal(call(x).values, getattr(HOLES, name)("t", skipna=False).values)
    with xt.option(skipna=True):
        told = getattr(x, name)("t", skipna=False)
    np.testing.assert_array_equal(told.values, getattr(HOLES, name)("t", skipna=False).values)


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "std", "var", "prod"])
def test_under_skipna_blocks_and_quantiles_leave_nan_out(kind: str) -> None:
    with xt.option(skipna=True):
        got = getattr(xt.as_array(HOLES).coarsen(t=2), kind)()
        np.testing.assert_allclose(got.values, getattr(HOLES.coarsen(t=2), kind)().values, rtol=1e-6)
        got = xt.as_array(HOLES).quantile(0.3, "t")
    np.testing.assert_allclose(got.values, HOLES.quantile(0.3, "t").values, rtol=1e-6)


def test_under_skipna_functions_without_it_mean_the_same() -> None:
    x = xt.as_array(HOLES)
    functions = (xt.nn.softmax, xt.nn.layer_norm, xt.norm, xt.logsumexp, xt.cummax)
    for f in functions:
        want = f(x, dim="t").values
        with xt.option(skipna=True):
            np.testing.assert_array_equal(f(x, dim="t").values, want)


@pytest.mark.float64
def test_strict_finds_updates_that_are_float64() -> None:
    i, v = xt.array([0, 1, 1], dims="p"), xt.ones(p=3, dtype="f4")
    with xt.option(strict=True):
        for name in ("add", "set", "max"):
            with pytest.raises(xt.DTypeError, match="float32 and float64 give float64"):
                getattr(xt.zeros(bin=3).at(bin=i), name)(v)
        assert xt.zeros(bin=3, dtype="f4").at(bin=i).add(v).values.tolist() == [1, 2, 0]
        assert xt.zeros(bin=3).at(bin=i).add(1.0).values.tolist() == [1, 2, 0]
