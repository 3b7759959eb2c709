"""How far functions of floats are from the truth, in units in the last place, over arguments of every size.

The truth is NumPy's long double for f8 and float64 for f4. Where NumPy lacks the function, it is mpmath's for f8 and
SciPy's for f4: SciPy's erfc of f8 is 500 units off. Results too small for a normal f4 may be 0: some polynomials flush
them.
"""

from __future__ import annotations

import functools
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
import xtensor as xt
from functions import FUNCTIONS, OF_TWO

# Where f4 functions were worst among all arguments, or many of them.
HARD = [1.8628029, 2.2818666e08, 5.924791, 88.72249, 0.6168563, 1.0072848, -0.46935877]
WIDER = {"f4": np.float64, "f8": np.longdouble}


def bound_of(name: str, dtype: str) -> float:
    f = FUNCTIONS[name]
    bounds = f.cpu if f.avx2 is None or xt._native.has_processor("x86-64-v4") else f.avx2
    return bounds[dtype == "f8"]


def arguments(dtype: str, seed: int = 0) -> np.ndarray:
    """Every exponent and sign alike, and more of where functions turn: around 0 and 1, below overflow of exp."""
    rng = np.random.default_rng(seed)
    n = 30_000
    bits = rng.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), n, dtype=dtype.replace("f", "u")).view(dtype)
    edge = 89 if dtype == "f4" else 710
    parts = [
        rng.standard_normal(n) * 10.0 ** rng.uniform(-10, 3, n),
        rng.uniform(-edge, edge, n),
        rng.uniform(-1, 1, n),
        1 + rng.standard_normal(n) * 10.0 ** rng.uniform(-8, -1, n),
        np.array([0.0, -0.0, *HARD]),
    ]
    with np.errstate(all="ignore"):
        x = np.concatenate([bits, *(p.astype(dtype) for p in parts)])
    return x[~np.isnan(x)]


@functools.cache
def exactly(name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Arguments, and what a function is there: in more digits than `dtype` has."""
    f, x = FUNCTIONS[name], arguments(dtype)
    if f.precise is None:
        with np.errstate(all="ignore"):
            return x, f.exact(x.astype(WIDER[dtype]))
    if dtype == "f4":
        return f.inside(x), f.exact(f.inside(x).astype("f8"))
    x = f.inside(x[:: f.stride])
    with mpmath.workdps(30):
        return x, np.array([np.longdouble(str(f.precise(mpmath.mpf(float(v))))) for v in x])


def check(name: str, got: np.ndarray, exact: np.ndarray, bound: float, *operands: np.ndarray) -> None:
    """`got` rounds `exact` within `bound`; what is no normal number is right, too, but may be 0 in f4."""
    dtype = got.dtype
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
    normal = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(dtype).smallest_normal)
    size = np.abs(rounded)
    if name in FUNCTIONS and (amplitude := FUNCTIONS[name].amplitude):
        size = np.maximum(size, amplitude(operands[0])).astype(dtype)
    unit = np.spacing(size[normal]).astype(exact.dtype)
    ulp = np.abs(got[normal] - exact[normal]) / unit
    worst = int(np.argmax(ulp))
    at = ", ".join(repr(x[normal][worst]) for x in operands)
    assert ulp[worst] <= bound, f"{name}({at}) is off by {ulp[worst]:.2f} ulp"
    # The largest finite number and infinity are neighbours.
    special = ~np.isfinite(rounded) & ~(np.isinf(rounded) & (np.abs(got) == np.finfo(dtype).max))
    np.testing.assert_array_equal(got[special], rounded[special])
    small = np.isfinite(rounded) & ~normal
    steps = np.abs(got[small] - exact[small]) / np.finfo(dtype).smallest_subnormal
    right = steps <= np.maximum(bound, 1)
    if dtype == np.float32:
        right |= got[small] == 0
    assert right.all(), f"{name}: {got[small][~right][:3]} for {rounded[small][~right][:3]}"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_in_ulp(name: str, dtype: str) -> None:
    x, exact = exactly(name, dtype)
    got = getattr(xt, name)(xt.array(x, dims="i")).values
    check(name, got, exact, bound_of(name, dtype), x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_in_ulp(name: str, dtype: str) -> None:
    f = OF_TWO[name]
    x, y = arguments(dtype), arguments(dtype, seed=1)
    count = min(x.size, y.size)
    x, y = x[:count], np.random.default_rng(2).permutation(y)[:count]
    if name == "pow":
        x = np.abs(x)
    with np.errstate(all="ignore"):
        exact = f.exact(x.astype(WIDER[dtype]), y.astype(WIDER[dtype]))
    got = getattr(xt, name)(xt.array(x, dims="i"), xt.array(y, dims="i")).values
    check(name, got, exact, f.cpu[dtype == "f8"], x, y)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_value_does_not_depend_on_its_place(name: str, dtype: str) -> None:
    """Vectors, their ends, strided reads and lone elements take the same way."""
    f = getattr(xt, name)
    x = np.random.default_rng(0).uniform(-2, 2, 37).astype(dtype)
    together = f(xt.array(x, dims="i")).values
    np.testing.assert_array_equal([f(xt.array(v)).values for v in x], together)
    square = xt.array(np.tile(x, (3, 1)), dims=("j", "i"))
    np.testing.assert_array_equal(f(square).values, np.tile(together, (3, 1)))
    backwards = xt.jit(lambda a: f(a.isel(i=slice(None, None, -2))))(square)
    np.testing.assert_array_equal(backwards.values[1], together[::-2])


@pytest.mark.parametrize("name", ["expm1", "log1p", "sinh", "tanh"])
def test_float64_near_zero(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(20_000) * 10.0 ** rng.uniform(-300, 0, 20_000)
    x = x[(x > -1) & (np.abs(x) >= np.finfo("f8").tiny)]
    want = getattr(np, name)(x)
    got = getattr(xt, name)(xt.array(x, dims="i")).values
    bound = 3 if name == "expm1" and not xt._native.has_processor("x86-64-v4") else 2  # `want` is rounded, too
    assert np.max(np.abs(got - want) / np.spacing(np.abs(want))) <= bound


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_logarithms_of_subnormal_float32(name: str) -> None:
    x = np.array([1e-45, 1e-40, 3e-39, 1.1754942e-38, 1.1754944e-38, 0.0, -1e-40], "f4")
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype("f8")).astype("f4")
    np.testing.assert_allclose(getattr(xt, name)(xt.array(x, dims="i")).values, want, rtol=3e-7)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str, dtype: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e30], dtype)
    with np.errstate(all="ignore"):
        want = FUNCTIONS[name].exact(x.astype("f8")).astype(dtype)
    got = getattr(xt, name)(xt.array(x, dims="i")).values
    eps = np.finfo(dtype).eps
    # What oscillates is as accurate as its amplitude, which is below 1 from 1 on.
    np.testing.assert_allclose(got, want, rtol=4 * eps, atol=4 * eps if FUNCTIONS[name].amplitude else 0)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))
    assert not FUNCTIONS[name].odd or np.signbit(got[1])


def _exact(name: str, v: float) -> mpmath.mpf:
    x = mpmath.mpf(v)
    if name == "gelu":
        return x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    if name == "softplus":
        return mpmath.log1p(mpmath.exp(x))
    if name == "log_sigmoid":
        return -mpmath.log1p(mpmath.exp(-x))
    return (x if name == "silu" else 1) / (1 + mpmath.exp(-x))


# dtype -> (digits, least normal exponent, arguments from, to, bound of the functions in ulp)
COMPOSED = {
    "float16": (11, -14, -16, 11, 0.51),
    "bfloat16": (8, -126, -87, 87, 0.51),
    "float32": (24, -126, -104, 88, 4),
    "float64": (53, -1022, -745, 709, 5),
}


@pytest.mark.cpu_only("devices have functions of other accuracy")
@pytest.mark.parametrize("dtype", COMPOSED)
@pytest.mark.parametrize("name", ["sigmoid", "softplus", "log_sigmoid", "silu", "gelu"])
def test_composed_functions_in_ulp(name: str, dtype: str) -> None:
    """Several ops: in 16 bits rounded once; silu and gelu keep their digits in the left tail."""
    digits, least, low, high, bound = COMPOSED[dtype]
    rng = np.random.default_rng(0)
    spread = np.exp(rng.uniform(-20, np.log(-low), 100))
    x = np.concatenate([rng.uniform(low, high, 100), rng.uniform(-5, 5, 100), rng.uniform(-39, 0, 100), -spread])
    a = xt.array(np.clip(x, low, high), dims="i").astype(dtype)
    got = getattr(xt, name)(a).astype("f8").values
    with mpmath.workdps(40):
        for v, y in zip(a.astype("f8").values, got, strict=True):
            want = _exact(name, float(v))
            if want == 0:
                assert y == 0
                continue
            exponent = max(int(mpmath.floor(mpmath.log(abs(want), 2))), least)
            if abs(want) < mpmath.mpf(2) ** least and y == 0 and name not in ("silu", "gelu"):
                continue  # exp of float32 is 0 where it is no normal number
            ulp = abs(mpmath.mpf(float(y)) - want) / mpmath.mpf(2) ** (exponent - digits + 1)
            # x times exp or erfc, of which the least number is one unit.
            steps = abs(float(v)) * 2.0 ** (least - exponent) if name in ("silu", "gelu") and bound > 1 else 0
            assert ulp <= max(bound, steps), f"{name}({v!r}) is off by {float(ulp):.2f} ulp"


@pytest.mark.cpu_only("processors are targets of the CPU")
@pytest.mark.parametrize("level", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_the_normal_distribution_on_each_processor(level: str) -> None:
    """Those without FMA go through erfc. ndtr changes its form at -3.3, and gelu at 15."""
    if not xt._native.has_processor(level):
        pytest.skip(f"the processor is not {level}")
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.uniform(-13, 16, 20_000), rng.uniform(-3.5, -3.1, 5_000), -np.exp(rng.uniform(-20, 2, 5_000))]
    )
    x = x.astype("f4")
    wide = np.abs(x.astype("f8"))
    tail = np.exp(-wide * wide / 2) * scipy.special.erfcx(wide / np.sqrt(2)) / 2
    exact = np.where(x < 0, tail, 1 - tail)
    both = xt.export(
        lambda x: (xt.ndtr(x), xt.gelu(x)), (xt.spec(i=x.size, dtype="f4"),), c=False, targets=f"cpu:{level}"
    )
    for got, want in zip(xt.load(both)(xt.array(x, dims="i")), (exact, x * exact), strict=True):
        assert np.max(np.abs(got.values - want) / np.spacing(np.abs(want).astype("f4")).astype("f8")) <= 4


LEVELS = pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])


@pytest.mark.cpu_only("processors are targets of the CPU")
@LEVELS
@pytest.mark.parametrize("name", ["erf", "gelu"])
def test_functions_of_every_bfloat16(name: str, level: str) -> None:
    """16 digits of erf and ndtr are enough for 8, up to where the tail of gelu is below all numbers."""
    if not xt._native.has_processor(level):
        pytest.skip(f"the processor is not {level}")
    words = np.arange(1 << 16, dtype="u4") << 16
    x = words.view("f4")
    x = x[np.isfinite(x)]
    spec = xt.spec(i=x.size, dtype="bfloat16")
    function = xt.load(xt.export(getattr(xt, name), (spec,), c=False, targets=f"cpu:{level}"))
    got = function(xt.array(x, dims="i").astype("bfloat16")).astype("f8").values
    wide = x.astype("f8")
    normal = np.where(wide < 0, np.exp(scipy.special.log_ndtr(wide)), scipy.special.ndtr(wide))
    want = scipy.special.erf(wide) if name == "erf" else wide * normal
    exponent = np.floor(np.log2(np.maximum(np.abs(want), 2.0**-126)))
    assert np.max(np.abs(got - want) / 2.0 ** (exponent - 7)) <= 0.51
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wide))
    ends = function(xt.array(np.resize([np.inf, -np.inf, np.nan], x.size).astype("f4"), dims="i").astype("bfloat16"))
    limits = {"erf": [1, -1, np.nan], "gelu": [np.inf, 0, np.nan]}[name]
    np.testing.assert_array_equal(ends.astype("f4").values[:3], np.array(limits, "f4"))


def test_a_product_with_ndtr_keeps_its_limits() -> None:
    """gelu has a shorter form of it, of finite numbers alone."""
    x = xt.array(np.array([np.inf, -np.inf, np.nan, 1.0], "f4"), dims="i")
    got = xt.jit(lambda x: x * xt.ndtr(x))(x).values
    np.testing.assert_allclose(got, np.array([np.inf, np.nan, np.nan, 0.8413447], "f4"), rtol=1e-6)


def test_a_product_with_ndtr_between_infinite_bounds_keeps_its_limits() -> None:
    """Only finite bounds make all numbers finite, and the shorter form right."""

    def product(x: Any, least: Any, most: Any) -> Any:
        below = xt.where(x > most, most, x)
        inside = xt.where(below < least, least, below)
        return inside * xt.ndtr(inside)

    x = xt.array(np.array([np.inf, -20.0, np.nan, 1.0], "f4"), dims="i")
    least, most = (xt.array(np.full(4, bound, "f4"), dims="i") for bound in (-15, np.inf))
    want = np.array([np.inf, 0, np.nan, 0.8413447], "f4")
    for got in (xt.jit(product)(x, least, most), xt.jit(lambda x: product(x, -15.0, np.inf))(x)):
        np.testing.assert_allclose(got.values, want, rtol=1e-6)


@pytest.mark.cpu_only("processors are targets of the CPU")
@LEVELS
def test_exp_of_float32_on_each_processor(level: str) -> None:
    """Its power of two ends at 2^127, and at 0."""
    if not xt._native.has_processor(level):
        pytest.skip(f"the processor is not {level}")
    ends = [np.linspace(88, 89, 20_001), np.linspace(-89, -86, 20_001), [np.inf, -np.inf, 3e38, -3e38]]
    x = np.concatenate([np.asarray(part, "f4") for part in (arguments("f4"), *ends)])
    exp = xt.load(xt.export(xt.exp, (xt.spec(i=x.size, dtype="f4"),), c=False, targets=f"cpu:{level}"))
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype("f8"))
    check("exp", exp(xt.array(x, dims="i")).values, exact, 2, x)


@pytest.mark.cpu_only("processors are targets of the CPU")
@LEVELS
def test_erfinv_of_float64_on_each_processor(level: str) -> None:
    """Its logarithm is of 1 - x^2 alone, and vectors without AVX-512 convert its exponent otherwise."""
    if not xt._native.has_processor(level):
        pytest.skip(f"the processor is not {level}")
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-1, 1, 400), rng.choice([-1, 1], 200) * (1 - 10.0 ** rng.uniform(-16, -1, 200))])
    x = np.concatenate([x, 10.0 ** rng.uniform(-320, -1, 200), [np.sqrt(0.5), 0.0, -0.0]])
    edges = np.array([1, -1, 1 + 2**-52, -2, np.inf, -np.inf, np.nan])
    spec = xt.spec(i=x.size + edges.size, dtype="f8")
    erfinv = xt.load(xt.export(xt.erfinv, (spec,), c=False, targets=f"cpu:{level}"))
    got = erfinv(xt.array(np.concatenate([x, edges]), dims="i")).values
    with mpmath.workdps(30):
        exact = np.array([np.longdouble(str(mpmath.erfinv(mpmath.mpf(float(v))))) for v in x])
    check("erfinv", got[: x.size], exact, 4, x)
    np.testing.assert_array_equal(got[x.size :], [np.inf, -np.inf, *[np.nan] * 5])


def test_softmax_and_its_like_are_rounded_once_in_16_bits() -> None:
    x = np.random.default_rng(0).normal(size=(20, 50)).astype("f2") * 4
    a, wide = xt.array(x, dims=("i", "j")), x.astype("f8")
    exact = {
        "softmax": (xt.nn.softmax(a, "j"), scipy.special.softmax(wide, 1)),
        "log_softmax": (xt.nn.log_softmax(a, "j"), scipy.special.log_softmax(wide, 1)),
        "logsumexp": (xt.logsumexp(a, "j"), scipy.special.logsumexp(wide, 1)),
        "cross_entropy": (
            xt.nn.cross_entropy(a, xt.zeros(i=20, dtype="i4"), "j"),
            -scipy.special.log_softmax(wide, 1)[:, 0],
        ),
        "logaddexp": (xt.logaddexp(a, a.isel(j=0)), np.logaddexp(wide, wide[:, :1])),
        "hypot": (xt.hypot(a, a.isel(j=0)), np.hypot(wide, wide[:, :1])),
        "deg2rad": (xt.deg2rad(a), np.deg2rad(wide)),
    }
    for name, (got, want) in exact.items():
        assert got.dtype == np.float16
        unit = np.spacing(np.abs(want.astype("f2"))).astype("f8")
        assert np.max(np.abs(got.values - want) / unit) <= 0.51, name
