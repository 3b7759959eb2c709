"""Bits selected by a constant, merged under a mask: LLVM's vpternlog is wrong there (docs/upstream.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

SIZE = 77  # full vectors and a rest

INTEGERS: dict[str, Callable[..., Any]] = {
    "first chosen": lambda w, c, p, x, m, r: w(c, p, (p & m) | (x & r)),
    "last chosen": lambda w, c, p, x, m, r: w(c, x, (p & m) | (x & r)),
    "first left": lambda w, c, p, x, m, r: w(c, (p & m) | (x & r), p),
    "last left": lambda w, c, p, x, m, r: w(c, (p & m) | (x & r), x),
    "twice": lambda w, c, p, x, m, r: w(p > x, p, w(c, (p & m) | (x & r), x)),
    "both": lambda w, c, p, x, m, r: w(c, p, (p & m) | (x & r)) ^ w(c, x, (p & m) | (x & r)),
    "no leaf": lambda w, c, p, x, m, r: w(c, p + x, (p & m) | (x & r)),
}


@pytest.mark.parametrize("mask", [1, 15, 0x55])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers(dtype: str, mask: int) -> None:
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    p, x = (rng.integers(info.min, info.max, SIZE, dtype=dtype) for _ in range(2))
    c, rest = rng.random(SIZE) < 0.5, ~mask if info.min else info.max - mask

    for name, f in INTEGERS.items():  # each alone: a mask that is shared stays in a register, which is right
        program = xt.jit(lambda c, p, x, f=f: f(xt.where, c, p, x, mask, rest))
        mine = program(*(xt.array(a, ("i",)) for a in (c, p, x)))
        np.testing.assert_array_equal(np.asarray(mine), f(np.where, c, p, x, mask, rest), err_msg=name)


class Numpy:
    where, copysign, trunc, asinh = (staticmethod(f) for f in (np.where, np.copysign, np.trunc, np.arcsinh))


SIGNS: dict[str, Callable[..., Any]] = {
    "infinite": lambda n, p, x: n.where(abs(x) == np.inf, x, n.copysign(p, x)),
    "zero": lambda n, p, x: n.where(abs(x) == 0, x, n.copysign(p, x)),
    "negative": lambda n, p, x: n.where(x == 7, x, n.copysign(n.where(x < 0, p, 2 * p), x)),
    "other": lambda n, p, x: n.where(abs(x) == np.inf, p, n.copysign(p, x)),
    "truncated": lambda n, p, x: n.where(abs(x) == 0, x, n.trunc(x)),
    "inverse": lambda n, p, x: n.where(x == 0, x, n.asinh(x)),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_signs(dtype: str) -> None:
    rng = np.random.default_rng(4)
    p, x = (rng.normal(size=SIZE).astype(dtype) for _ in range(2))
    x[:4] = [0, -0.0, np.inf, -np.inf]

    for name, f in SIGNS.items():
        program = xt.jit(lambda p, x, f=f: f(xt, p, x))
        mine, true = np.asarray(program(*(xt.array(a, ("i",)) for a in (p, x)))), f(Numpy, p, x)
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(true), err_msg=name)
        np.testing.assert_allclose(mine, true, rtol=4 * np.finfo(dtype).eps, err_msg=name)
