"""Functions element by element, and operators, against NumPy, SciPy and xarray."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from against import DTYPES, FLOATS, NUMBERS, WEAK_FLOAT, examples, named, ours, same, several, values
from functions import FUNCTIONS
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

EDGES = np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 2.5, -2.5, 3.5, 1e-6, 30, -30, 700, np.inf, -np.inf, np.nan])
UNARY = {
    **{name: f.exact for name, f in FUNCTIONS.items() if isinstance(f.exact, np.ufunc) and f.precise is None},
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.round,
    "abs": np.abs, "square": np.square, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "signbit": np.signbit, "logical_not": np.logical_not, "nan_to_num": np.nan_to_num, "real": np.real,
    "imag": np.imag, "conj": np.conj, "reciprocal": np.reciprocal,
}  # fmt: skip
NO_BOOL = {"negative": np.negative, "positive": np.positive, "sign": np.sign}
BINARY = {
    "add": np.add, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_xor": np.logical_xor, "hypot": np.hypot, "logaddexp": np.logaddexp,
    "atan2": np.arctan2, "copysign": np.copysign,
}  # fmt: skip
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def edges(dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return EDGES.astype(dtype) if dtype in ("f2", "f4", "f8") else values((9,), dtype)


def check(name: str, want: np.ndarray, got: xt.Array, ulp: np.ndarray | None = None) -> None:
    """Within a few units in the last place (test_accuracy.py has the bounds), and zeros of the same sign."""
    same(got, xr.DataArray(want, dims="a"), rtol=np.inf)
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got.values, want)
        return
    finite = np.isfinite(want)
    bound = {2: 1, 4: 6, 8: 4}[want.dtype.itemsize] if ulp is None else ulp[finite]
    np.testing.assert_array_equal(got.values[~finite], want[~finite])
    smallest = np.finfo(want.dtype).smallest_normal
    w, g = want[finite].astype("f8"), got.values[finite].astype("f8")
    # Below the smallest normal number f4 polynomials give 0.
    unit = np.spacing(np.abs(want[finite])).astype("f8")
    flushed = (np.abs(w) < smallest) & (g == 0) & (want.dtype.itemsize == 4)
    off = np.where(flushed, 0, np.abs(g - w) / unit)
    worst = int(np.argmax(off - bound)) if off.size else 0
    assert np.all(off <= bound), f"{name}: {g[worst]!r} is off by {off[worst]:.1f} ulp"
    np.testing.assert_array_equal(np.signbit(g[g == 0]), np.signbit(w[g == 0]))


@quiet
@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_as_in_numpy(name: str, dtype: str) -> None:
    v = edges(dtype)
    if name == "reciprocal" and np.dtype(dtype).kind != "f":
        v = v[v != 0]  # NumPy's integer reciprocal of 0 differs from machine to machine
    if dtype == "f2" and name in ("tan", "sin", "cos"):
        v = v[np.abs(v) < 100]
    check(name, UNARY[name](v), getattr(xt, name)(xt.array(v, dims="a")))


@quiet
@pytest.mark.parametrize("name", NO_BOOL)
def test_numbers_only(name: str) -> None:
    for dtype in NUMBERS:
        v = edges(dtype)
        check(name, NO_BOOL[name](v), getattr(xt, name)(xt.array(v, dims="a")))
    with pytest.raises(TypeError, match=name):
        getattr(xt, name)(xt.array([True], dims="a"))


@quiet
@pytest.mark.parametrize("dtype", FLOATS)
def test_special_functions_as_in_scipy(dtype: str) -> None:
    v = EDGES.astype(dtype)
    x = xt.array(v, dims="a")
    with np.errstate(all="ignore"):
        check("sigmoid", special.expit(v), xt.sigmoid(x))
        check("log_sigmoid", special.log_expit(v), xt.log_sigmoid(x))
        check("softplus", np.logaddexp(v, 0), xt.softplus(x))
        check("rsqrt", (1 / np.sqrt(v)).astype(dtype), xt.rsqrt(x))
        check("relu", np.maximum(v, 0), xt.relu(x))
        finite = v[np.isfinite(v)]
        y = xt.array(finite, dims="a")
        check("silu", finite * special.expit(finite), xt.silu(y))
        # SciPy's left tail is off by x * x; mpmath's is in test_accuracy.py.
        far = np.maximum(6, finite.astype("f8") ** 2)
        check("gelu", (finite * special.ndtr(finite)).astype(dtype), xt.gelu(y), ulp=far)


def test_tails_keep_their_digits() -> None:
    x = xt.array([-40.0, -20.0, 20.0, 40.0], dims="a")
    np.testing.assert_allclose(xt.sigmoid(x).values, special.expit([-40.0, -20, 20, 40]), rtol=1e-14)
    np.testing.assert_allclose(xt.log_sigmoid(x).values, special.log_expit([-40.0, -20, 20, 40]), rtol=1e-14)
    np.testing.assert_allclose(xt.softplus(x).values, np.logaddexp([-40.0, -20, 20, 40], 0), rtol=1e-14)
    np.testing.assert_allclose(xt.gelu(xt.array([-10.0], dims="a")).values, [-10 * special.ndtr(-10)], rtol=1e-12)


@quiet
@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_align_by_name(name: str) -> None:
    @examples(12)
    @given(several(2, DTYPES))
    def check_pair(pair: tuple[xr.DataArray, xr.DataArray]) -> None:
        x, y = pair
        with np.errstate(all="ignore"):
            want = xr.apply_ufunc(BINARY[name], x, y)
        # A float result of tiny size is as good as its operands.
        same(getattr(xt, name)(ours(x), ours(y)), want)

    check_pair()


@quiet
@pytest.mark.parametrize("sign", ["floordiv", "mod"])
def test_floor_division_rounds_down(sign: str) -> None:
    @examples(15)
    @given(several(2, NUMBERS))
    def check_pair(pair: tuple[xr.DataArray, xr.DataArray]) -> None:
        x, y = pair
        f = getattr(operator, sign)
        with np.errstate(all="ignore"):
            same(f(ours(x), ours(y)), f(x, y))

    check_pair()
    x, y = xt.array([7, -7, 7, -7, 5], dims="a"), xt.array([3, 3, -3, -3, 0], dims="a")
    q, r = divmod(x, y)
    assert q.values.tolist() == [2, -3, -3, 2, 0]
    assert r.values.tolist() == [1, 2, -2, -1, 0]


@pytest.mark.parametrize("sign", ["and_", "or_", "xor"])
def test_bits(sign: str) -> None:
    @examples(8)
    @given(several(2, ("?", "i1", "u1", "i4", "u4", "i8")))
    def check_pair(pair: tuple[xr.DataArray, xr.DataArray]) -> None:
        x, y = pair
        f = getattr(operator, sign)
        same(f(ours(x), ours(y)), f(x, y))

    check_pair()
    with pytest.raises(TypeError, match="integers or bools"):
        getattr(operator, sign)(xt.array([1.5], dims="a"), 1)


def test_shifts_and_complement() -> None:
    v = np.array([-5, 0, 1, 77], "i4")
    x = xt.array(v, dims="a")
    assert (x << 3).values.tolist() == (v << 3).tolist()
    assert (x >> 1).values.tolist() == (v >> 1).tolist()
    assert (1 << xt.array([0, 5], dims="a")).values.tolist() == [1, 32]
    assert (~x).values.tolist() == (~v).tolist()
    assert (~xt.array([True, False], dims="a")).values.tolist() == [False, True]


@quiet
@pytest.mark.parametrize("exponent", [-1, -0.5, 0.5, 0, 1, 2, 3, 4, 5, 2.5, -2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_of_floats(exponent: float, dtype: str) -> None:
    v = EDGES.astype(dtype)
    check("pow", v**exponent, xt.array(v, dims="a") ** exponent)


def test_powers_of_integers() -> None:
    v = np.array([0, 1, -2, 3, 7], "i4")
    x = xt.array(v, dims="a")
    for exponent in (0, 1, 2, 3, 4, 5):
        same(x**exponent, xr.DataArray(v**exponent, dims="a"))
    root = xr.DataArray(np.abs(v) ** 0.5, dims="a").where(xr.DataArray(v >= 0, dims="a"))
    same(x**0.5, root.astype(WEAK_FLOAT))
    same(2 ** x.astype("u1"), xr.DataArray(2 ** v.astype("u1"), dims="a"))


@pytest.mark.parametrize("exponent", [-1, -2, -3])
def test_integers_refuse_negative_powers_that_are_known(exponent: int) -> None:
    for f in (lambda x: x**exponent, lambda x: xt.pow(x, exponent)):
        for x in (xt.array(np.array([1, 2], dtype), dims="a") for dtype in ("i4", "u1", "?")):
            for way in (f, xt.jit(f)):
                with pytest.raises(ValueError, match=f"negative integer power {exponent}"):
                    way(x)
        for dtype in ("f2", "f4"):
            v = np.array([-2, 0.5, 3], dtype)
            for way in (f, xt.jit(f)):
                np.testing.assert_allclose(way(xt.array(v, dims="a")).values, v.astype("f4") ** exponent, rtol=1e-3)


def test_integers_to_negative_powers_give_the_integer_part() -> None:
    x = xt.array([2, 1, -1, -1, 0, -5, 3], dims="a")
    y = xt.array([-2, -3, -3, -4, -1, -1, 2], dims="a")
    for dtype in ("i1", "i4", "i8"):
        assert (x.astype(dtype) ** y.astype(dtype)).values.tolist() == [0, 1, -1, 1, 0, 0, 9]


@pytest.mark.parametrize("scalar", [True, 3, 2.5])
@pytest.mark.parametrize("dtype", [*DTYPES])
def test_python_scalars_are_weak(scalar: float, dtype: str) -> None:
    v = values((4,), dtype)
    x, peer = xt.array(v, dims="a"), xr.DataArray(v, dims="a")

    def agree(got: xt.Array, want: xr.DataArray) -> None:
        decided = x.dtype.kind == "f" or want.dtype != np.float64
        same(got, want if decided else want.astype(WEAK_FLOAT))

    agree(x + scalar, peer + scalar)
    agree(scalar * x, scalar * peer)
    agree(x / scalar, peer / scalar)
    agree(x >= scalar, peer >= scalar)
    agree(xt.maximum(x, scalar), xr.apply_ufunc(np.maximum, peer, scalar))
    if dtype != "?" or scalar is not True:
        agree(scalar - x, scalar - peer)


def test_numpy_scalars_are_not_weak() -> None:
    x = xt.array(np.ones(2, "f4"), dims="a")
    assert (x * np.float64(2)).dtype == np.dtype("f8")
    assert (np.float64(2) * x).dtype == np.dtype("f8")
    assert (x * np.float32(2)).dtype == np.dtype("f4")
    assert (x * 2.0).dtype == np.dtype("f4")


def test_integers_out_of_range_compare_rightly() -> None:
    x = xt.array(np.array([0, 255], "u1"), dims="a")
    assert (x < 300).values.tolist() == [True, True]
    assert (x >= -1).values.tolist() == [True, True]
    assert (x == 256).values.tolist() == [False, False]


@pytest.mark.parametrize("other", [-1, 0, 5, 2**63, 2**64 - 1, 2**64, -(2**70)])
@pytest.mark.parametrize("dtype", ["u8", "i8"])
def test_comparisons_with_any_python_int(dtype: str, other: int) -> None:
    v = np.array([5, 0, np.iinfo(dtype).max], dtype)
    x = xt.array(v, dims="a")
    for sign in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        want = [sign(int(e), other) for e in v]
        mirrored = [sign(other, int(e)) for e in v]
        assert sign(x, other).values.tolist() == want
        assert sign(other, x).values.tolist() == mirrored
        assert xt.jit(lambda x, sign=sign: sign(x, other))(x).values.tolist() == want
        if -(2**63) <= other < 2**63:
            assert xt.jit(lambda x, n, sign=sign: sign(n, x))(x, other).values.tolist() == mirrored


@pytest.mark.parametrize("signed", ["i1", "i2", "i4", "i8"])
def test_signed_and_unsigned_arrays_compare_by_value(signed: str) -> None:
    least, most = np.iinfo(signed).min, np.iinfo(signed).max
    v = np.array([least, -1, 0, 1, most - 1, most], signed)
    w = np.array([0, 1, 2**53, most - 1, most, 2**63, 2**64 - 2**63 - 1, 2**64 - 1], "u8")
    x, y = xt.array(v, dims="a"), xt.array(w, dims="b")
    for sign in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for f in (sign, xt.jit(sign)):
            np.testing.assert_array_equal(f(x, y).values, sign(v[:, None], w))
            np.testing.assert_array_equal(f(y, x).values, sign(w[:, None], v))
            assert f(xt.array(np.uint64(2**53)), xt.array(np.int64(2**53 + 1))).item() == sign(2**53, 2**53 + 1)


SMALL = xt.array(np.array([1, 200], "u1"), dims="a")


@pytest.mark.parametrize(
    "program",
    [
        lambda u, n: u + n,
        lambda u, n: n - u,
        lambda u, n: u * n,
        lambda u, n: u // n,
        lambda u, n: u % n,
        lambda u, n: u & n,
        xt.minimum,
        lambda u, n: xt.clip(u, n, 255),
        lambda u, n: xt.where(u > 1, n, u),
        lambda u, n: xt.full_like(u, n),
    ],
)
@pytest.mark.parametrize("n", [300, -5, 2**63])
def test_ints_that_do_not_fit_are_refused(program: Callable[..., xt.Array], n: int) -> None:
    message = rf"{n} does not fit uint8 \(0 to 255\)"
    compiled = xt.jit(program)
    assert compiled(SMALL, 7).dtype == SMALL.dtype
    for call in (program, lambda u, n: xt.jit(lambda u: program(u, n))(u)):
        with pytest.raises(xt.ArgumentError, match=message):
            call(SMALL, n)
    with pytest.raises(xt.ArgumentError, match=message if n < 2**63 else "64 bits"):
        compiled(SMALL, n)
    assert compiled(SMALL, 7).dtype == SMALL.dtype


def test_true_division_is_in_floats_before_an_int_must_fit() -> None:
    np.testing.assert_array_equal((SMALL / 300).values, np.array([1, 200], "u1") / 300)
    np.testing.assert_array_equal((3_000_000_000 / SMALL.astype("i4")).values, 3e9 / np.array([1, 200]))
    np.testing.assert_array_equal(xt.jit(lambda u, n: n / u)(SMALL, -300).values, -300 / np.array([1, 200]))


def test_floats_of_small_integers_mix_as_in_numpy() -> None:
    kinds = ["?", "i1", "u1", "i2", "u2", "i4", "f2", "f4"]
    for a, b in itertools.product(kinds, kinds):
        x, y = np.ones(2, a), np.ones(2, b)
        got = xt.hypot(xt.array(x, dims="a"), xt.array(y, dims="a"))
        assert got.dtype == np.hypot(x, y).dtype, (a, b)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_reciprocals_of_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    v = np.array([info.min, info.min + 1, 1, 2, info.max - 1, info.max], dtype)
    want = np.where(np.abs(v.astype(object)) == 1, v, 0)
    assert xt.reciprocal(xt.array(v, dims="a")).values.tolist() == want.tolist()


@examples(25)
@given(several(3, DTYPES))
def test_where(xs: tuple[xr.DataArray, ...]) -> None:
    c, x, y = xs
    if x.dtype == bool and y.dtype == bool:
        x = x.astype("f4")
    same(xt.where(ours(c), ours(x), ours(y)), xr.where(c.astype(bool), x, y))
    want = x.where(c.astype(bool), y)
    order = tuple(dict.fromkeys(x.dims + c.dims + y.dims))
    got = ours(x).where(ours(c) != 0, ours(y))
    assert got.dims == order
    same(got, want.transpose(*order))


@examples(10)
@given(several(2, NUMBERS))
def test_where_without_other_gives_nan(xs: tuple[xr.DataArray, ...]) -> None:
    c, x = xs
    same(ours(x).where(ours(c) > 0), x.where(c > 0))


def test_where_of_bools_needs_an_other() -> None:
    with pytest.raises(TypeError, match="NaN"):
        xt.array([True], dims="a").where(xt.array([True], dims="a"))


@examples(15)
@given(several(3, NUMBERS))
def test_clip(xs: tuple[xr.DataArray, ...]) -> None:
    x, lo, hi = xs
    want = np.minimum(np.maximum(x, lo), hi)
    same(xt.clip(ours(x), ours(lo), ours(hi)), want)
    same(ours(x).clip(max=1), x.clip(max=1))
    same(xt.clip(ours(x), min=0), x.clip(min=0))


def test_select_takes_the_first_that_holds() -> None:
    v = np.arange(6)
    x = xt.array(v, dims="a")
    want = np.select([v < 2, v < 4], [v * 10, v * 100], -1)
    assert xt.select([x < 2, x < 4], [x * 10, x * 100], -1).values.tolist() == want.tolist()
    with pytest.raises(ValueError, match="choices"):
        xt.select([x < 2], [x, x])


def test_nan_to_num_with_values() -> None:
    v = np.array([np.nan, np.inf, -np.inf, 2.0], "f4")
    got = xt.nan_to_num(xt.array(v, dims="a"), nan=1.0, posinf=7.0, neginf=-7.0)
    same(got, xr.DataArray(np.nan_to_num(v, nan=1.0, posinf=7.0, neginf=-7.0), dims="a"))


@pytest.mark.parametrize("decimals", [-1, 0, 1, 3])
def test_round_to_decimals(decimals: int) -> None:
    v = np.array([0.5, 1.5, -2.5, 12.345, 55.0, 1234.5678])
    same(xt.round(xt.array(v, dims="a"), decimals), xr.DataArray(np.round(v, decimals), dims="a"))
    w = np.array([15, 25, -7, 144])
    same(xt.array(w, dims="a").round(decimals), xr.DataArray(np.round(w, decimals), dims="a"))


@quiet
@pytest.mark.parametrize("dtype", FLOATS)
def test_nextafter(dtype: str) -> None:
    info = np.finfo(dtype)
    v = np.array(
        [0, -0.0, 1, -1, 1.5, 2, info.tiny, -info.tiny, info.smallest_subnormal, info.tiny * 2, info.tiny / 2,
         info.max, -info.max, np.inf, -np.inf, np.nan, 3e-30, 1e20, info.tiny * 2**24, info.tiny * 1.5], dtype
    )  # fmt: skip
    x, y = np.meshgrid(v, np.array([-np.inf, 0, 1, 2, np.inf, np.nan], dtype))
    got = xt.nextafter(xt.array(x, dims=("i", "j")), xt.array(y, dims=("i", "j")))
    same(got, xr.DataArray(np.nextafter(x, y), dims=("i", "j")), rtol=0, atol=0)


@quiet
@pytest.mark.parametrize("towards", [-np.inf, -0.0, 0.0, 1, 3, np.inf, np.nan])
def test_nextafter_of_every_half(towards: float) -> None:
    v = np.arange(2**16, dtype="u2").view("f2")
    v = v[v != 0] if towards == 0 else v  # at equal zeros NumPy's f2 gives x, C gives y
    got = xt.nextafter(xt.array(v, dims="i"), xt.array(np.array(towards, "f2"))).values
    want = np.nextafter(v, np.array(towards, "f2"))
    number = ~np.isnan(want)
    assert np.isnan(got[~number]).all()
    np.testing.assert_array_equal(got[number].view("u2"), want[number].view("u2"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["atan2", "hypot", "copysign", "logaddexp", "nextafter"])
def test_floats_of_two_arrays_are_those_of_numpys_loops(name: str) -> None:
    peer = getattr(np, {"atan2": "arctan2"}.get(name, name))
    for a in DTYPES:
        for b in (*DTYPES, True, 3, 2.5):
            x = np.ones(2, a)
            y = np.ones(2, b) if isinstance(b, str) else b
            got = getattr(xt, name)(xt.array(x, dims="i"), xt.array(y, dims="i") if isinstance(b, str) else y)
            assert got.dtype == peer(x, y).dtype, (a, b)


def test_hypot_and_logaddexp_at_the_edges() -> None:
    x, y = np.meshgrid(EDGES, EDGES)
    a, b = xt.array(x, dims=("i", "j")), xt.array(y, dims=("i", "j"))
    with np.errstate(all="ignore"):
        same(xt.hypot(a, b), xr.DataArray(np.hypot(x, y), dims=("i", "j")), rtol=1e-15)
        same(xt.logaddexp(a, b), xr.DataArray(np.logaddexp(x, y), dims=("i", "j")), rtol=1e-14)
    assert xt.hypot(1e300, 1e300).item() == pytest.approx(2**0.5 * 1e300)


@pytest.mark.parametrize("dtype", ("f4", "f8"))
def test_powers_and_logarithms_at_the_edges_of_their_domains(dtype: str) -> None:
    """In vectors where one lane or all of them are outside."""
    tiny = float(np.nextafter(np.zeros((), dtype), np.ones((), dtype)))
    large = 2.0**24 if dtype == "f4" else 2.0**53  # from here on, all numbers are even
    sizes = [0.0, tiny, 1e-30, 0.5, 1, 2, 2.5, 3, 7, 1e30, large - 1, large, large + 2, np.inf]
    values = np.array([*sizes, *(-x for x in sizes), np.nan], dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    alone = np.full(50, 1.5, dtype)
    alone[7] = -2
    for bases, exponents in ((x, y), (alone, np.full(50, 3, dtype)), (alone, np.full(50, 0.5, dtype))):
        with np.errstate(all="ignore"):
            want = np.power(bases, exponents)
        got = (xt.array(bases, "i") ** xt.array(exponents, "i")).values
        np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "f4" else 1e-14)
        np.testing.assert_array_equal(np.signbit(got)[~np.isnan(want)], np.signbit(want)[~np.isnan(want)])
    for name in ("log", "log2", "log10", "log1p"):
        for numbers in (x, alone):
            with np.errstate(all="ignore"):
                want = getattr(np, name)(numbers)
            np.testing.assert_allclose(
                getattr(xt, name)(xt.array(numbers, "i")).values, want, rtol=2e-6 if dtype == "f4" else 1e-14
            )


def test_isclose() -> None:
    v, w = np.array([1, 1, np.inf, np.nan, 0]), np.array([1 + 1e-9, 1.1, np.inf, np.nan, 1e-9])
    x, y = xt.array(v, dims="a"), xt.array(w, dims="a")
    assert xt.isclose(x, y).values.tolist() == np.isclose(v, w).tolist()
    assert xt.isclose(x, y, equal_nan=True).values.tolist() == np.isclose(v, w, equal_nan=True).tolist()


@examples(10)
@given(named(DTYPES), st.sampled_from(["f4", "f8", "i4", "u1", "?", "f2"]))
def test_astype(x: xr.DataArray, dtype: str) -> None:
    if np.dtype(dtype).kind == "u":
        x = abs(x) if x.dtype != bool else x
    same(ours(x).astype(dtype), x.astype(dtype))


def test_names_with_different_sizes_are_an_error_that_says_both() -> None:
    x, y = xt.array(np.ones(3), dims="a"), xt.array(np.ones(1), dims="a")
    with pytest.raises(ValueError, match=r"'a' has size 3 here and 1 there") as error:
        x + y
    assert "test_elementwise.py" in str(error.value)


def test_unnamed_numpy_is_an_error_that_says_how_to_name_it() -> None:
    x = xt.array(np.ones(3), dims="a")
    for f in (lambda: x + np.ones(3), lambda: np.ones(3) + x, lambda: xt.exp(np.ones(3))):
        with pytest.raises(ValueError, match=r"xt\.array"):
            f()


def test_accidental_outer_products_can_be_forbidden() -> None:
    x, y = xt.array(np.ones(3), dims="a"), xt.array(np.ones(2), dims="b")
    assert (x + y).dims == ("a", "b")
    with xt.option(outer="forbid"):
        with pytest.raises(ValueError, match="outer"):
            x + y
        with pytest.raises(xt.DimensionError, match=r"^xt.concat: an outer product over \['a'\] and \['b'\]"):
            xt.concat([x.expand_dims(t=1), y.expand_dims(t=1)], "t")
        assert xt.concat([x, x.expand_dims(t=1)], "t").dims == ("a", "t")
        with pytest.raises(xt.DimensionError, match=r"^xt.random.beta: an outer product"):
            xt.random.beta(xt.random.key(0), x, y)
        assert (x + xt.array(np.ones((3, 2)), dims=("a", "b"))).dims == ("a", "b")
    assert (x + y).dims == ("a", "b")


def test_bool_minus_bool_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"x \^ y"):
        xt.array([True], dims="a") - xt.array([True], dims="a")


def test_dataarrays_mix_with_ours_on_either_side() -> None:
    peer = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("a", "b"), coords={"b": [1, 2, 3]})
    x = xt.array(np.ones(3), dims="b")
    xr.testing.assert_identical(peer + x, peer + 1)
    xr.testing.assert_identical(x + peer, (peer + 1).transpose("b", "a"))
    xr.testing.assert_identical(xt.multiply(peer, peer), peer * peer)


@quiet
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("tan", "reciprocal")])
def test_whole_vectors_and_what_is_left_over(name: str, dtype: str) -> None:
    v = (np.random.default_rng(0).normal(size=1003) * 3).astype(dtype)
    with np.errstate(all="ignore"):
        check(name, UNARY[name](v), getattr(xt, name)(xt.array(v, dims="a")))


@pytest.mark.parametrize("dtype", FLOATS)
def test_mixed_orders_of_larger_arrays(dtype: str) -> None:
    random = np.random.default_rng(1)
    x = xr.DataArray(random.normal(size=(33, 67)).astype(dtype), dims=("a", "b"))
    y = xr.DataArray(random.normal(size=(67, 5, 33)).astype(dtype), dims=("b", "c", "a"))
    same(ours(x) * ours(y) + ours(y).transpose("c", "a", "b"), x * y + y)
    same(xt.where(ours(x) > 0, ours(y), ours(x)), xr.where(x > 0, y, x))
