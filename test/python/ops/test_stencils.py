"""Shifted reads of arrays, which share one copy with a margin, or are cut into parts: against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xtensor as xt

DIMS = ("z", "y", "x")


def draw(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.standard_normal(sizes)


def shapes(rng: np.random.Generator) -> tuple[int, ...]:
    """Above and below the size from which margins are made; odd sizes."""
    rank = int(rng.integers(1, 4))
    least = {1: 4000, 2: 60, 3: 14}[rank]
    return tuple(int(n) for n in rng.integers(least, least + least // 4 + 3, rank))


def rolls(rng: np.random.Generator, rank: int) -> list[list[tuple[int, int]]]:
    """Terms of a stencil: each rolls along some axes, one after the other."""
    terms = []
    for _ in range(int(rng.integers(2, 7))):
        axes = rng.permutation(rank)[: int(rng.integers(1, rank + 1))]
        terms.append([(int(a), int(rng.choice([-3, -2, -1, 0, 1, 2, 3, 40]))) for a in axes])
    return terms


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_sums_of_rolls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    value = draw(rng, *shapes(rng))
    terms, weights = rolls(rng, value.ndim), rng.standard_normal(7)

    def stencil(m: Any, x: Any) -> Any:
        total: Any = 0
        for w, moves in zip(weights, terms, strict=False):
            y = x
            for axis, shift in moves:
                y = xt.roll(y, {DIMS[axis]: shift}) if m is xt else m.roll(y, shift, axis)
            total = total + w * (y * y if w > 0 else y)
        return total

    x = xt.array(value, DIMS[: value.ndim])
    np.testing.assert_allclose(xt.jit(lambda x: stencil(xt, x))(x).values, stencil(np, value), atol=1e-12)
    cotangent = draw(rng, *value.shape)
    c = xt.array(cotangent, x.dims)
    gradient = xt.jit(xt.grad(lambda x: xt.sum(c * stencil(xt, x))))(x)
    tangent = draw(rng, *value.shape)
    along = xt.jvp(lambda x: stencil(xt, x), (x,), (xt.array(tangent, x.dims),))[1].values
    np.testing.assert_allclose((gradient.values * tangent).sum(), (cotangent * along).sum(), rtol=1e-9)
    step = 1e-6
    difference = (stencil(np, value + step * tangent) - stencil(np, value - step * tangent)) / (2 * step)
    np.testing.assert_allclose(along, difference, atol=1e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(24))
def test_sums_of_slices_of_a_pad(seed: int) -> None:
    """Forward, and the gradient, whose terms are pads of one array."""
    rng = np.random.default_rng(100 + seed)
    value = draw(rng, *shapes(rng))
    low, high = rng.integers(0, 4, value.ndim), rng.integers(0, 4, value.ndim)
    fill = float(rng.choice([0.0, 1.5]))
    weights = rng.standard_normal(int(rng.integers(1, 6))).tolist()
    if seed % 2:
        weights = [weights[0]] * len(weights)  # one cotangent for all slices
    # The parts that are added are as large as the smallest array with its margin, less 3 on each axis.
    sizes = [int(n + a + b - 3) for n, a, b in zip(value.shape, low, high, strict=True)]
    offsets = [[int(rng.integers(0, 4)) for _ in sizes] for _ in weights]
    dims = DIMS[: value.ndim]

    def stencil(m: Any, x: Any) -> Any:
        if m is xt:
            widths = {d: (int(a), int(b)) for d, a, b in zip(dims, low, high, strict=True)}
            wide = xt.pad(x, widths, constant_values=fill)
        else:
            wide = np.pad(x, list(zip(low, high, strict=True)), constant_values=fill)
        total: Any = 0
        for w, at in zip(weights, offsets, strict=True):
            index = tuple(slice(o, o + n) for o, n in zip(at, sizes, strict=True))
            total = total + w * (wide.isel(dict(zip(dims, index, strict=True))) if m is xt else wide[index])
        return total

    x = xt.array(value, dims)
    np.testing.assert_allclose(xt.jit(lambda x: stencil(xt, x))(x).values, stencil(np, value), atol=1e-12)
    cotangent, tangent = draw(rng, *sizes), draw(rng, *value.shape)
    gradient = xt.jit(xt.grad(lambda x: xt.sum(xt.array(cotangent, dims) * stencil(xt, x))))(x)
    linear = stencil(np, tangent) - stencil(np, np.zeros_like(tangent))
    np.testing.assert_allclose((gradient.values * tangent).sum(), (cotangent * linear).sum(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "bool", "c8"])
def test_kinds_of_elements(dtype: str) -> None:
    value = np.random.default_rng(0).integers(0, 2, (70, 65)).astype(dtype)
    x = xt.array(value, ("y", "x"))

    def ends(x: Any) -> Any:
        return [
            xt.roll(x, y=1),
            xt.roll(x, y=-2),
            xt.roll(x, x=3),
            xt.roll(xt.roll(x, y=1), x=-1),
            xt.pad(x, {"y": 2, "x": 1}),
        ]

    wanted = [
        np.roll(value, 1, 0), np.roll(value, -2, 0), np.roll(value, 3, 1), np.roll(value, (1, -1), (0, 1)),
        np.pad(value, ((2, 2), (1, 1))),
    ]  # fmt: skip
    for found, want in zip(xt.jit(ends)(x), wanted, strict=True):
        np.testing.assert_array_equal(found.values, want)
        assert found.dtype == want.dtype


def test_margins_of_large_pads_hold_the_value() -> None:
    """Each side by itself, on one and on several axes, with NaN around."""
    value = np.random.default_rng(1).standard_normal((130, 129))
    for low, high in [((1, 0), (0, 0)), ((0, 0), (0, 3)), ((2, 1), (1, 5)), ((0, 7), (7, 0))]:
        x = xt.array(value, ("y", "x"))
        widths = {"y": (low[0], high[0]), "x": (low[1], high[1])}
        found = xt.jit(lambda x, widths=widths: xt.pad(x, widths, constant_values=np.nan))(x)
        want = np.pad(value, ((low[0], high[0]), (low[1], high[1])), constant_values=np.nan)
        np.testing.assert_array_equal(found.values, want)


def shifted(m: Any, x: Any, axis: int, amount: int, edge: str) -> Any:
    """Zeros come in at the edge, or what goes out at the other one."""
    if edge == "periodic":
        return xt.roll(x, {DIMS[axis]: amount}) if m is xt else np.roll(x, amount, axis)
    if m is xt:
        return xt.shift(x, {DIMS[axis]: amount}, fill_value=0.0)
    y = np.zeros_like(x)
    n = x.shape[axis]
    amount = min(max(amount, -n), n)
    to, of = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    to[axis], of[axis] = slice(max(amount, 0), n + min(amount, 0)), slice(max(-amount, 0), n - max(amount, 0))
    y[tuple(to)] = x[tuple(of)]
    return y


# Of `s`, an array shifted along an axis that may be any of its axes, and of arrays that are not shifted.
FUNCTIONS = {
    "difference": lambda m, s, u, w: u - s(u, 0, 1),
    "laplacian": lambda m, s, u, w: sum((s(u, a, k) for a in range(3) for k in (-1, 1)), -6.0 * u),
    "order 4": lambda m, s, u, w: sum(
        (1.3 * (s(u, a, 1) + s(u, a, -1)) - 0.08 * (s(u, a, 2) + s(u, a, -2)) for a in range(3)), -7.3 * u
    ),
    "order 8": lambda m, s, u, w: sum(
        ((-0.4) ** k * (s(u, a, k) + s(u, a, -k)) for a in range(3) for k in range(1, 5)), -0.5 * u
    ),
    "coefficients": lambda m, s, u, w: 2 * u - w + w * w * (s(u, 0, 1) + s(u, 0, -1) - 2 * u),
    "flux": lambda m, s, u, w: s(w * (u - s(u, 0, 1)), 0, -1) - w * (u - s(u, 0, 1)),
    "corners": lambda m, s, u, w: s(s(u, 0, 1), 1, 1) - s(s(u, 0, -1), 1, 1) * w,
    "function": lambda m, s, u, w: m.cos(s(u, 0, 1) - 0.5 * s(u, 1, -2)) * m.exp(-w),
    "choice": lambda m, s, u, w: m.where(w > 0, w * (u - s(u, 0, 1)), w * (s(u, 0, -1) - u)),
    "apart": lambda m, s, u, w: s(u, 0, 20) + 2 * s(w, 0, -20) - s(u, 1, 3),
    "negative": lambda m, s, u, w: -(0.5 * s(u, 0, 1)) - -s(w, 0, 2),
    "three differences": lambda m, s, u, w: differences(s, differences(s, differences(s, u))),
    "seven differences": lambda m, s, u, w: repeated(lambda x: differences(s, x), 7, u),
    "there and back": lambda m, s, u, w: repeated(lambda x: s(x * w, 0, 1) - s(x, 1, -1), 3, u),
    "coefficients of fluxes": lambda m, s, u, w: differences(s, w * differences(s, u)),
    "divergence": lambda m, s, u, w: sum((w * (u - s(u, a, 1))) - s(w * (u - s(u, a, 1)), a, -1) for a in range(3)),
    "flux of products": lambda m, s, u, w: differences(s, differences(s, u) * (s(u, 0, -2) + 0.5 * w)),
    "functions of fluxes": lambda m, s, u, w: differences(s, m.exp(0.1 * differences(s, u)) / (2 + m.cos(w))),
    "read twice": lambda m, s, u, w: squares(differences(s, u)) + s(squares(differences(s, w)), 1, 1),
}


def differences(s: Any, x: Any) -> Any:
    return x - s(x, 0, 1)


def squares(x: Any) -> Any:
    return x * x


def repeated(f: Any, times: int, x: Any) -> Any:
    for _ in range(times):
        x = f(x)
    return x


@pytest.mark.parametrize("sizes", [(5003,), (71, 65), (19, 17, 23), (4, 5, 3), (33,)], ids=str)
@pytest.mark.parametrize("edge", ["zeros", "periodic"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_shifts(name: str, edge: str, sizes: tuple[int, ...]) -> None:
    """The value, and both derivatives, near the edges, too."""
    rng = np.random.default_rng(len(name))
    dims = DIMS[: len(sizes)]
    u, w, du, c = (draw(rng, *sizes) for _ in range(4))

    def run(m: Any, u: Any, w: Any) -> Any:
        return FUNCTIONS[name](m, lambda x, axis, k: shifted(m, x, axis % len(sizes), k, edge), u, w)

    arrays = [xt.array(x, dims) for x in (u, w, du, c)]
    found = xt.jit(lambda u, w: run(xt, u, w))(*arrays[:2]).values
    np.testing.assert_allclose(found, run(np, u, w), atol=1e-12)
    step = 1e-6
    want = (run(np, u + step * du, w) - run(np, u - step * du, w)) / (2 * step)
    along = xt.jit(lambda u, w, du: xt.jvp(lambda u: run(xt, u, w), (u,), (du,))[1])(*arrays[:3]).values
    np.testing.assert_allclose(along, want, atol=1e-6)
    gradient = xt.jit(lambda u, w, c: xt.grad(lambda u: xt.sum(c * run(xt, u, w)))(u))(*arrays[:2], arrays[3]).values
    np.testing.assert_allclose((gradient * du).sum(), (along * c).sum(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sizes", [(0,), (1,), (2,), (5,), (1, 4), (3, 0), (3, 1, 2)], ids=str)
@pytest.mark.parametrize("edge", ["zeros", "periodic"])
def test_fluxes_of_small_arrays(edge: str, sizes: tuple[int, ...]) -> None:
    """Shifted by up to more than their size; infinities and NaN stay where they are."""
    rng = np.random.default_rng(3)
    dims = DIMS[: len(sizes)]
    k = draw(rng, *sizes)
    if k.size:
        k.flat[-1] = np.inf
    for special in (1.0, np.inf, np.nan):
        value = draw(rng, *sizes)
        if value.size:
            value.flat[0] *= special
        for axis in range(len(sizes)):
            for amount in (-5, -2, -1, 0, 1, 2, 5):

                def flux(m: Any, x: Any, k: Any, axis: int = axis, amount: int = amount) -> Any:
                    f = k * (x - shifted(m, x, axis, amount, edge))
                    return f - shifted(m, f * k, axis, amount, edge)

                found = xt.jit(lambda x, k, flux=flux: flux(xt, x, k))(xt.array(value, dims), xt.array(k, dims))
                with np.errstate(invalid="ignore"):
                    np.testing.assert_allclose(found.values, flux(np, value, k), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [(3, 4), (1, 1, 5), (2, 3, 1, 2), (900, 5000)], ids=str)
def test_functions_of_concatenations(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    parts, w = [draw(rng, n, 3) for n in sizes], draw(rng, sum(sizes), 3)
    arrays, w_array = [xt.array(x, ("i", "j")) for x in parts], xt.array(w, ("i", "j"))

    def run(m: Any, parts: Any, w: Any) -> Any:
        both = xt.concat(parts, "i") if m is xt else np.concatenate(parts)
        return m.exp(both * w) - 2 * w

    found = xt.jit(lambda parts, w: run(xt, parts, w))(arrays, w_array).values
    np.testing.assert_allclose(found, run(np, parts, w), rtol=1e-12, atol=1e-12)
    gradient = xt.jit(xt.grad(lambda parts, w: xt.sum(run(xt, parts, w))))(arrays, w_array)
    whole = np.concatenate(parts)
    wanted = np.split(np.exp(whole * w) * w, np.cumsum(sizes)[:-1])
    for a, b in zip(gradient, wanted, strict=True):
        np.testing.assert_allclose(a.values, b, rtol=1e-12)


@pytest.mark.parametrize("size", [7, 5000])
def test_zeros_at_the_edge_are_multiplied(size: int) -> None:
    """An infinite factor makes them NaN, as in NumPy."""
    value = np.random.default_rng(0).standard_normal(size)
    x, factor = xt.array(value, "x"), xt.array(np.inf)
    found = xt.jit(lambda x, f: f * xt.shift(x, x=1, fill_value=0.0) - x)(x, factor).values
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, np.inf * np.concatenate([[0.0], value[:-1]]) - value)


def test_zeros_of_pads_keep_their_sign() -> None:
    """An element added to such a zero may keep its own. The rest is as in NumPy: 0 - 0 is 0, and -2 * 0 is -0."""
    one = xt.array([1.0, 1.0, 1.0], "a")
    programs = {
        "difference of differences": lambda x: xt.pad(xt.diff(x, "a"), a=(0, 1)) - xt.pad(xt.diff(x, "a"), a=(1, 0)),
        "negative factor": lambda x: -2.0 * xt.pad(x, a=(1, 1)) * xt.pad(x, a=(2, 0)),
        "negated": lambda x: -(xt.pad(x, a=(1, 2)) + xt.pad(x, a=(2, 1))),
        "between": lambda x: xt.pad(x, a=(3, 0)) - xt.pad(x, a=(0, 3)),
    }
    for name, f in programs.items():
        np.testing.assert_array_equal((1 / xt.jit(f)(one)).values, (1 / f(one)).values, err_msg=name)
