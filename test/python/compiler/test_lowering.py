"""Every op of the dialect executed, against NumPy on the raw data: what the lowering to linalg means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import xtensor as xt
from functions import FUNCTIONS
from xtensor.base.dtypes import bfloat16
from xtensor.trace import build

NAN, INF = np.nan, np.inf
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 7.0, 1e-3, -3.75, 40.0, NAN, INF, -INF])
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def run(fn: Callable[..., Any], *arrays: tuple[Any, str], dynamic: str = "") -> Any:
    """`fn` of tracers, compiled; arrays as (values, "one letter per dim")."""
    named = [xt.array(np.asarray(a), dims=tuple(dims)) for a, dims in arrays]
    result = xt.jit(fn, dynamic_dims=tuple(dynamic))(*named)
    if isinstance(result, tuple):
        return tuple(np.asarray(r.values) for r in result)
    return np.asarray(result.values)


def same(got: Any, expected: Any, rtol: float = 2e-6) -> None:
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected)
    else:
        tolerance = {2: 1e-3, 4: rtol, 8: rtol * 2**-29}[expected.dtype.itemsize]  # as many units in the last place
        wide = np.float64 if expected.dtype.itemsize == 8 else np.float32
        np.testing.assert_allclose(got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance / 10)


def bits(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """Equal to the sign of zero, NaN for NaN."""
    np.testing.assert_array_equal(got, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


# -- element by element -----------------------------------------------------------------------------------------------

ROUNDING: dict[str, Callable[[Any], Any]] = {"ceil": np.ceil, "floor": np.floor, "round": np.rint, "trunc": np.trunc}
FLOATS: dict[str, Callable[[Any], Any]] = {name: f.exact for name, f in FUNCTIONS.items()} | ROUNDING


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", FLOATS)
def test_float_functions(name: str, dtype: str) -> None:
    x = np.concatenate([SPECIAL, np.linspace(-4, 4, 21)]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = FLOATS[name](x.astype("float64")).astype(dtype)
    same(run(lambda x: build.unary(name, x), (x, "i")), expected, rtol=4e-6 if name in ("tan", "sinh") else 2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sign_and_tests_at_special_values(dtype: str) -> None:
    x = SPECIAL.astype(dtype)
    for op in ("sign", "abs", "isnan", "isinf", "isfinite"):
        got, expected = run(lambda x, op=op: build.unary(op, x), (x, "i")), getattr(np, op)(x)
        if op == "sign":
            expected = expected + np.zeros((), dtype)  # NumPy's sign of -0.0 is 0.0
        bits(got, expected) if expected.dtype != bool else same(got, expected)
    bits(run(lambda x: build.unary("neg", x), (x, "i")), -x)


def pairs(dtype: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pairs of the values where arithmetic on `dtype` is hard."""
    if np.dtype(dtype).kind == "f":
        values = SPECIAL.astype(dtype)
    else:
        info = np.iinfo(dtype)
        values = np.unique(np.clip([info.min, info.max, 0, 1, -1, 2, -2, 3, -3, 7, -7, 100], info.min, info.max))
        values = values.astype(dtype)
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_arithmetic(dtype: str) -> None:
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        for op, fn in [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("mod", np.mod),
                       ("floor_div", np.floor_divide), ("maximum", np.maximum), ("minimum", np.minimum)]:  # fmt: skip
            got = run(lambda x, y, op=op: build.binary(op, x, y), (x, "i"), (y, "i"))
            np.testing.assert_array_equal(got, fn(x, y), err_msg=op)
        for predicate in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
            short = predicate[0] + ("t" if predicate in ("less", "greater") else predicate.split("_")[-1][0])
            short = {"eq": "eq", "ee": "eq", "ne": "ne"}.get(short, short)
            got = run(lambda x, y, p=short: build.compare(p, x, y), (x, "i"), (y, "i"))
            same(got, getattr(np, predicate)(x, y))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_functions(dtype: str) -> None:
    x, y = pairs(dtype)
    width = np.dtype(dtype).itemsize * 8
    with np.errstate(all="ignore"):
        for op, fn in [("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)]:
            same(run(lambda x, y, op=op: build.binary(op, x, y), (x, "i"), (y, "i")), fn(x, y))
        counts = np.abs(y) % (2 * width)
        counts[counts < 0] = 0
        for op, fn in [("shl", np.left_shift), ("shr", np.right_shift)]:
            got = run(lambda x, y, op=op: build.binary(op, x, y), (x, "i"), (counts, "i"))
            np.testing.assert_array_equal(got, fn(x, counts), err_msg=op)
        for op in ("abs", "sign", "negative", "invert"):
            short = {"negative": "neg", "invert": "not"}.get(op, op)
            same(run(lambda x, op=short: build.unary(op, x), (x, "i")), getattr(np, op)(x))
        powers = (np.abs(y) % 9).astype(dtype)
        powers[np.asarray(powers, "int64") < 0] = 0
        same(run(lambda x, y: build.binary("pow", x, y), (x, "i"), (powers, "i")), np.power(x, powers))
        cube = np.array(3, dtype)
        same(run(lambda x: build.binary("pow", x, build.constant(cube)), (x, "i")), np.power(x, cube))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_binary_functions(dtype: str) -> None:
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        for op, fn in [("div", np.divide), ("pow", np.power), ("atan2", np.arctan2), ("copysign", np.copysign)]:
            same(run(lambda x, y, op=op: build.binary(op, x, y), (x, "i"), (y, "i")), fn(x, y))
        scaled = run(lambda x, y: build.binary("scale", x, y), (x, "i"), (y, "i"))
        bits(scaled, np.where(y == 0, np.zeros((), dtype), x * y))
        for p in (0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5):
            power = np.array(p, dtype)
            same(run(lambda x, power=power: build.binary("pow", x, build.constant(power)), (x, "i")), x**power)


def test_casts_are_numpys_where_the_value_fits_and_never_undefined() -> None:
    values = np.array([0, 1, -1, 2.5, -2.5, 100, 127])
    names = [*INTEGERS, "bool", "float16", "float32", "float64", bfloat16]
    with np.errstate(all="ignore"):
        for before in map(np.dtype, names):
            x = np.clip(values, 0, None).astype(before) if before.kind == "u" else values.astype(before)
            for after in map(np.dtype, names):
                given = np.clip(x.astype("float64"), 0, None).astype(before) if after.kind == "u" else x
                got = run(lambda x, to=after: build.cast(x, to), (given, "i"))
                np.testing.assert_array_equal(got, given.astype(after), err_msg=f"{before} -> {after}")
    wild = np.array([NAN, INF, -INF, 1e30, -1e30])
    low, high = np.iinfo("int32").min, np.iinfo("int32").max
    same(run(lambda x: build.cast(x, np.dtype("int32")), (wild, "i")), np.int32([0, high, low, high, low]))


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("dtype", ["float16", bfloat16, "float32", "float64"])
def test_casts_to_integers_saturate_exactly(dtype: Any, to: str) -> None:
    low, high = np.iinfo(to).min, np.iinfo(to).max
    powers = [2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
    with np.errstate(all="ignore"):
        edges = np.array([NAN, INF, -INF, 3e30, -3e30, -0.75, 255.5, *powers, *(-v for v in powers)]).astype(dtype)
    below = np.nextafter(edges, np.array(0, dtype))
    x = np.concatenate([edges, below, np.zeros(50, dtype)])  # longer than a vector
    want = [0 if np.isnan(v) else max(low, min(high, int(v) if np.isfinite(v) else high if v > 0 else low))
            for v in x.astype("float64")]  # fmt: skip
    got = run(lambda x: build.cast(x, np.dtype(to)), (x, "i"))
    assert [int(v) for v in got] == want


def test_select_and_bools() -> None:
    c, x, y = np.array([True, False, True]), np.float32([[1, 2, 3], [4, 5, NAN]]), np.float32([7, 8])
    got = run(lambda c, x, y: build.select(c, x, y), (c, "j"), (x, "ij"), (y, "i"))
    bits(got, np.where(c, x, y[:, None]).T)  # dims in order of first appearance: j, i
    d = ~c
    for op, fn in [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)]:
        same(run(lambda x, y, op=op: build.binary(op, x, y), (c, "j"), (d, "j")), fn(c, d))
    same(run(lambda x: build.unary("not", x), (c, "j")), ~c)
    same(run(lambda c, d: build.select(c, c, d), (c, "j"), (d, "j")), np.where(c, c, d))


# -- reductions and contractions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "float16"])
@pytest.mark.parametrize("dims", ["i", "k", "ik", "ijk", "j"])
def test_reductions(dtype: str, dims: str) -> None:
    x = (np.random.default_rng(1).integers(0, 9, (3, 4, 5)) + 1).astype(dtype)
    axes = tuple("ijk".index(d) for d in dims)
    for kind in ("sum", "prod", "max", "min"):
        expected = getattr(np, kind)(x, axis=axes, **({"dtype": dtype} if kind in ("sum", "prod") else {}))
        if dtype == "float16":
            expected = getattr(np, kind)(x.astype("float32"), axis=axes).astype(dtype)
        same(run(lambda x, kind=kind: build.reduce(kind, x, dims), (x, "ijk")), np.asarray(expected))
    if len(dims) == 1:
        for kind in ("argmax", "argmin"):
            same(run(lambda x, kind=kind: build.reduce(kind, x, dims), (x, "ijk")), getattr(np, kind)(x, axes[0]))
    m = x > 5
    for kind in ("any", "all"):
        same(run(lambda m, kind=kind: build.reduce(kind, m, dims), (m, "ijk")), getattr(np, kind)(m, axis=axes))


def test_nan_wins_and_the_first_position_counts() -> None:
    x = np.float32([[1, NAN, 3, NAN], [2, 5, 5, 1], [-INF, -INF, -INF, -INF], [INF, 1, INF, 0]])
    for kind in ("max", "min", "argmax", "argmin"):
        got = run(lambda x, kind=kind: build.reduce(kind, x, "j"), (x, "ij"))
        np.testing.assert_array_equal(got, getattr(np, kind)(x, axis=1))


def test_reductions_over_nothing() -> None:
    x = np.zeros((2, 0), "float32")
    same(run(lambda x: build.reduce("sum", x, "j"), (x, "ij")), np.float32([0, 0]))
    same(run(lambda x: build.reduce("prod", x, "j"), (x, "ij")), np.float32([1, 1]))
    same(run(lambda x: build.reduce("any", x, "j"), (x > 0, "ij")), np.array([False, False]))
    same(run(lambda x: build.reduce("all", x, "j"), (x > 0, "ij")), np.array([True, True]))


def test_half_precision_sums_in_single() -> None:
    x = np.ones(5000, "float16")
    assert run(lambda x: build.reduce("sum", x, "i"), (x, "i")) == 5000
    ones = np.ones((2, 3000), bfloat16)
    got = run(lambda x, y: build.contract((x, y), "k"), (ones, "ik"), (ones, "jk"))
    np.testing.assert_array_equal(got.astype("float32"), np.full((2, 2), np.float32(3000).astype(bfloat16), "float32"))


@pytest.mark.parametrize("view", ["slice", "reverse", "broadcast", "iota", "constant"])
def test_reducing_a_view(view: str) -> None:
    x = np.arange(24, dtype="float64").reshape(4, 6)

    def of(x: Any) -> Any:
        return {
            "slice": lambda: build.slice(x, {"j": (1, 2, 3), "i": (0, 2, 2)}),
            "reverse": lambda: build.reverse(x, "j"),
            "broadcast": lambda: build.broadcast(build.reduce("max", x, "i"), "ij", {"i": 3}),
            "iota": lambda: build.cast(build.iota("j", 6), np.dtype("float64")),
            "constant": lambda: build.broadcast(build.constant(2.5), "ij", {"i": 3, "j": 7}),
        }[view]()

    value = run(of, (x, "ij"))
    axis = value.ndim - 1
    for kind in ("sum", "prod", "max", "argmax"):
        expected = getattr(np, kind)(value, axis=axis)
        got = run(lambda x, kind=kind: build.reduce(kind, of(x), "j"), (x, "ij"))
        same(got, np.asarray(expected))


SIZES = dict(zip("abijklm", (2, 3, 4, 5, 6, 1, 7), strict=True))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", bfloat16])
@pytest.mark.parametrize(
    "spec",
    [
        "ik,kj->ij",
        "ki,kj->ij",
        "ik,jk->ij",
        "ik,kj->ji",
        "ki,jk->ji",
        "aik,akj->aij",
        "iak,kaj->aij",
        "iak,kaj->iaj",
        "iabk,jabk->abij",
        "aibk,kbaj->abij",
        "ik,kj->kij",
        "ikm,mkj->ij",
        "imk,kmj->ji",
        "iakb,kbj->ija",
        "i,i->",
        "i,j->ij",
        "ik,k->i",
        "ai,ai->a",
        "ia,ja->ija",
        "ibj,kb->jki",
        "ik->i",
        "ik,kj,jm->im",
        "ik,kj,j,->i",
        "i,i,i->",
        "ik,ik,kj->j",
        "li,lj->ij",
        "ijk,jm->mik",
        "abk,kij->iabj",
        "ka,kb,a->ab",
    ],
)
def test_contractions(spec: str, dtype: Any) -> None:
    inputs, result = spec.split("->")
    operands = inputs.split(",")
    rng = np.random.default_rng(0)
    xs = [np.asarray(rng.integers(-3, 4, [SIZES[d] for d in dims])).astype(dtype) for dims in operands]
    over = sorted(set(inputs) - set(result) - {","})
    expected = np.einsum(spec, *(x.astype("float64") for x in xs))
    got = run(lambda *xs: build.contract(xs, over, tuple(result)), *((x, d) for x, d in zip(xs, operands, strict=True)))
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got.astype("float64"), expected.astype(dtype).astype("float64"))


def test_contracting_views() -> None:
    x, y = np.arange(24.0).reshape(4, 6), np.arange(30.0).reshape(6, 5)
    got = run(
        lambda x, y: build.contract(
            (build.slice(x, {"k": (1, 3, 2)}), build.reverse(build.slice(y, {"k": (3, 3, 1)}), "k")), "k"
        ),
        (x, "ik"),
        (y, "kj"),
    )
    same(got, x[:, 1::2] @ y[3:][::-1])
    got = run(
        lambda x, y: build.contract((build.broadcast(build.reduce("sum", x, "i"), "ik", {"i": 3}), y), "k"),
        (x, "ik"),
        (y, "kj"),
    )
    same(got, np.tile(x.sum(0), (3, 1)) @ y)


# -- shape ------------------------------------------------------------------------------------------------------------


def test_views_are_numpys() -> None:
    x = np.arange(24, dtype="int32").reshape(2, 3, 4)
    cases: list[tuple[Callable[[Any], Any], Any]] = [
        (lambda x: build.broadcast(x, "kij"), x.transpose(2, 0, 1)),
        (lambda x: build.broadcast(x, "iajk", {"a": 2}), np.repeat(x[:, None], 2, 1)),
        (lambda x: build.rename(x, {"i": "k", "k": "i"}), x),
        (lambda x: build.slice(x, {"k": (1, 2, 2), "j": (2, 1, 1)}), x[:, 2:3, 1::2]),
        (lambda x: build.squeeze(build.slice(x, {"j": (2, 1, 1)}), "j"), x[:, 2]),
        (lambda x: build.reverse(x, "ik"), x[::-1, :, ::-1]),
        (lambda x: build.reverse(build.slice(x, {"k": (1, 2, 2)}), "k"), x[:, :, 3::-2]),
        (lambda x: build.merge(x, "jk", "z"), x.reshape(2, 12)),
        (lambda x: build.merge(x, "ij", "z"), x.reshape(6, 4).T),
        (lambda x: build.merge(x, "ki", "z"), x.transpose(1, 2, 0).reshape(3, 8)),
        (lambda x: build.merge(x, "j", "z"), x.transpose(0, 2, 1)),
        (lambda x: build.merge(build.reverse(x, "j"), "ijk", "z"), x[:, ::-1].reshape(24)),
        (lambda x: build.split(x, "k", {"a": 2, "b": 2}), x.reshape(2, 3, 2, 2)),
        (lambda x: build.split(x, "i", {"a": 2, "b": 1}), x.transpose(1, 2, 0).reshape(3, 4, 2, 1)),
        (lambda x: build.split(build.slice(x, {"k": (0, 4, 1)}), "k", {"a": 4}), x),
        (lambda x: build.concat((x, build.slice(x, {"j": (0, 1, 1)})), "j"), np.concatenate([x, x[:, :1]], 1)),
        (lambda x: build.concat((x, build.broadcast(x, "kji")), "i"), np.concatenate([x, x], 0)),
        (lambda x: build.binary("add", x, build.iota("k", 4, np.dtype("int32"))), x + np.arange(4, dtype="int32")),
        (lambda x: build.reverse(build.iota("k", 4), "k"), np.arange(4)[::-1]),
        (lambda x: build.size(x, "j"), np.asarray(3)),
        (lambda x: build.constant(np.arange(20), "i"), np.arange(20)),
        (lambda x: build.constant(np.array([True, False]), "i"), np.array([True, False])),
        (lambda x: build.constant(np.array([1, 2**32 - 1], "uint32"), "i"), np.array([1, 2**32 - 1], "uint32")),
    ]
    for i, (fn, expected) in enumerate(cases):
        got = run(fn, (x, "ijk"))
        np.testing.assert_array_equal(got, expected, err_msg=f"case {i}")
        assert got.dtype == expected.dtype, i


def test_pad() -> None:
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    got = run(lambda x: build.pad(x, build.constant(np.float32(9)), {"j": (1, 2, 1), "i": (0, 1, 0)}), (x, "ij"))
    expected = np.full((3, 8), 9, "float32")
    expected[:2, 1:6:2] = x
    same(got, expected)
    same(run(lambda x, v: build.pad(x, v, {"i": (1, 0, 0)}), (x, "ij"), (np.float32(7), "")),
         np.concatenate([np.full((1, 3), 7, "float32"), x]))  # fmt: skip


def test_dynamic_sizes() -> None:
    def of(x: Any, y: Any) -> Any:
        n = build.cast(build.size(x, "n"), np.dtype("float64"))
        z = build.binary("div", build.contract((x, y), "i"), n)
        r = build.reverse(x, "n")
        flat = build.merge(build.binary("add", r, build.broadcast(y, "jin", {"n": build.size(x, "n")})), "nj", "m")
        return z, build.reduce("argmax", x, "n"), flat, build.iota("n", build.size(x, "n"))

    for n in (5, 1, 3):
        x, y = np.random.default_rng(n).normal(size=(n, 4)), np.random.default_rng(9).normal(size=(4, 3))
        z, best, flat, positions = run(of, (x, "ni"), (y, "ij"), dynamic="n")
        same(z, x @ y / n)
        same(best, np.argmax(x, 0))
        same(flat, (x[::-1][:, :, None] + y).transpose(1, 0, 2).reshape(4, n * 3))
        same(positions, np.arange(n))


# -- by position ------------------------------------------------------------------------------------------------------

X = np.arange(60, dtype="float32").reshape(5, 4, 3)


def test_gather() -> None:
    p, q = np.array([0, -1, 3, 1]), np.array([[2, -4], [1, 0]], "int32")
    same(run(lambda x, p: build.gather("raise", x, {"i": p}), (X, "ijk"), (p, "p")), X[p])
    same(run(lambda x, p: build.gather("raise", x, {"i": p}), (X, "ijk"), (p, "j")), X[p, np.arange(4)])
    outer = run(lambda x, p, q: build.gather("raise", x, {"i": p, "j": q}), (X, "ijk"), (p, "p"), (q, "qr"))
    same(outer, X[p[:, None, None], q[None]])
    wild = np.array([9, -9, 2], "int16")
    same(run(lambda x, p: build.gather("clip", x, {"k": p}), (X, "ijk"), (wild, "p")), X[:, :, [2, 0, 2]])
    unsigned = np.array([0, 4], "uint8")
    same(run(lambda x, p: build.gather("raise", x, {"i": p}), (X, "ijk"), (unsigned, "p")), X[unsigned])
    got = run(lambda x: build.gather("raise", build.reverse(x, "i"), {"i": build.iota("p", 3)}), (X, "ijk"))
    same(got, X[::-1][:3])


@pytest.mark.parametrize("bad", [5, -6, 2**62, -(2**62)])
def test_an_index_outside_is_reported_with_dim_and_size(bad: int) -> None:
    p = np.array([0, bad, 1])
    with pytest.raises(xt.IndexError, match=rf"{bad}\b.*5.*'i'"):
        run(lambda x, p: build.gather("raise", x, {"i": p}), (X, "ijk"), (p, "p"))
    with pytest.raises(xt.IndexError, match=r"test_lowering\.py"):
        run(
            lambda x, p: build.scatter("add", "raise", x, {"i": p}, build.constant(np.float32(1))), (X, "ijk"), (p, "p")
        )


def test_reading_from_an_empty_dim() -> None:
    for n, indices in ((0, []), (3, [2])):
        x, p = np.ones((n, 2), "float32"), np.array(indices, "int64")
        got = run(lambda x, p: build.gather("raise", x, {"n": p}), (x, "ni"), (p, "p"), dynamic="n")
        same(got, x[p])
    with pytest.raises(xt.IndexError):
        run(lambda x, p: build.gather("raise", x, {"n": p}), (np.ones((0, 2)), "ni"), (np.array([0]), "p"), dynamic="n")


def added(x: Any, at: tuple[Any, ...], updates: Any) -> np.ndarray[Any, Any]:
    result = np.array(x)
    np.add.at(result, at, updates)
    return result


@pytest.mark.parametrize("dtype", ["float32", "int16", "float16"])
def test_scatter(dtype: str) -> None:
    x = X.astype(dtype)
    p = np.array([0, -1, 3, 0])
    rows = np.arange(48).reshape(4, 4, 3).astype(dtype)
    one = np.array(1, dtype)
    same(run(lambda x, p, u: build.scatter("add", "raise", x, {"i": p}, u), (x, "ijk"), (p, "p"), (rows, "pjk")),
         added(x, (p,), rows))  # fmt: skip
    same(run(lambda x, p: build.scatter("add", "raise", x, {"i": p}, build.constant(one)), (x, "ijk"), (p, "p")),
         added(x, (p,), one))  # fmt: skip
    columns = np.arange(12).reshape(3, 4).astype(dtype)
    same(run(lambda x, p, u: build.scatter("add", "clip", x, {"j": p}, u), (x, "ijk"), (p, "p"), (columns, "kp")),
         added(x, (slice(None), p), columns.T[None]))  # fmt: skip
    same(run(lambda x, p, u: build.scatter("add", "raise", x, {"i": p}, u), (x, "ijk"), (p, "j"), (columns, "kj")),
         added(x, (p, np.arange(4)), columns.T))  # fmt: skip
    q = np.array([7, 2, -1, -9])
    kept = np.isin(q, (2, -1))
    same(run(lambda x, p, u: build.scatter("add", "drop", x, {"i": p}, u), (x, "ijk"), (q, "p"), (rows, "pjk")),
         added(x, (q[kept],), rows[kept]))  # fmt: skip


def test_scatter_of_numbers_into_zeros() -> None:
    labels, values = np.random.default_rng(0).integers(0, 6, 200), np.random.default_rng(1).normal(size=200)

    def of(p: Any, v: Any) -> Any:
        zeros = build.broadcast(build.constant(0.0), "g", {"g": 6})
        return build.scatter("add", "raise", zeros, {"g": p}, v)

    same(run(of, (labels, "n"), (values, "n")), np.bincount(labels, values, 6))
    x, p, q = np.zeros((3, 4)), np.array([0, 2, 0]), np.array([1, -1, 1])
    got = run(lambda x, p, q: build.scatter("add", "raise", x, {"i": p, "j": q}, build.constant(1.0)),
              (x, "ij"), (p, "n"), (q, "n"))  # fmt: skip
    same(got, added(x, (p, q), 1.0))


def test_strided_reads_in_parallel_loops_at_sizes_that_are_no_multiples_of_vectors() -> None:
    rng = np.random.default_rng(0)
    x, q, y = rng.standard_normal((101, 2)), rng.standard_normal(101), rng.standard_normal((101, 101))

    def f(x: Any, q: Any, y: Any) -> Any:
        return xt.sum(q * x.isel(a=0)) * xt.exp(y) * x.isel(a=1)

    got = xt.jit(f)(xt.array(x, ("p", "a")), xt.array(q, "p"), xt.array(y, ("r", "p")))
    np.testing.assert_allclose(got.transpose("r", "p").values, np.sum(q * x[:, 0]) * np.exp(y) * x[:, 1], rtol=1e-12)


@pytest.mark.parametrize("n", [25, 33, 50, 101])
def test_second_derivatives_of_functions_of_columns(n: int) -> None:
    points = np.random.default_rng(n).standard_normal((n, 3))

    def f(p: Any) -> Any:
        return xt.logsumexp(p.isel(xyz=0) * p.isel(xyz=1) - p.isel(xyz=2))

    x, y, z = points.T
    weights = scipy.special.softmax(x * y - z)
    rows = np.stack([y, x, -np.ones(n)], 1)  # the derivative of the exponent
    expected = np.einsum("a,ai,b,bj->aibj", -weights, rows, weights, rows)
    each = np.arange(n)
    expected[each, :, each, :] += np.einsum("a,ai,aj->aij", weights, rows, rows)
    expected[each, 0, each, 1] += weights
    expected[each, 1, each, 0] += weights
    got = xt.hessian(f)(xt.array(points, ("atom", "xyz")))
    np.testing.assert_allclose(got.values, expected, rtol=1e-10, atol=1e-14)
