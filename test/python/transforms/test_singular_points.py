"""Derivatives where arguments are infinite, zero or NaN: both modes give the same Jacobian, entry for entry.

A Jacobian applies a derivative to one-hot arrays, and 0 times infinity is NaN (as in JAX). So an entry may be NaN in
forward mode because of an infinite one in its row, and in reverse mode because of one in its column. Nothing else may
differ but at a NaN: what belongs to it is NaN or, where it was put in by a select, 0.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from cases import Case
from derivative_cases import PUBLIC

SPECIAL = {"inf": np.inf, "-inf": -np.inf, "zero": 0.0, "nan": np.nan}


def leaves(tree: Any) -> list[np.ndarray]:
    return [np.asarray(x.values, np.float64) for x in xt.tree.leaves(tree)]


def spoiled(case: Case, value: float) -> list[xt.Array]:
    """The arguments of a case, some entries of each replaced."""
    rng = np.random.default_rng(zlib.crc32(f"{case.name} {value}".encode()))
    found = []
    for x in case.primals():
        v = np.array(x.values)
        flat = v.reshape(-1)
        if flat.size:
            flat[rng.choice(flat.size, max(1, flat.size // 3), replace=False)] = value
        found.append(xt.array(v, x.dims))
    return found


def compare(forward: np.ndarray, reverse: np.ndarray, value: np.ndarray, what: str) -> None:
    """Jacobians of all elements of the results, (elements of the arguments) each."""
    infinite = [~np.isfinite(j) for j in (forward, reverse)]
    by_row = infinite[1].sum(1, keepdims=True) > infinite[1]
    by_column = infinite[0].sum(0, keepdims=True) > infinite[0]
    by_row |= np.isnan(value)[:, None]
    excused = (np.isnan(forward) & ~np.isnan(reverse) & by_row) | (np.isnan(reverse) & ~np.isnan(forward) & by_column)
    forward, reverse = np.where(excused, 0.0, forward), np.where(excused, 0.0, reverse)
    scale = np.max(np.abs(reverse), initial=1.0, where=np.isfinite(reverse))
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9 * scale, err_msg=what)


@pytest.mark.sampled(96)
@pytest.mark.parametrize("case", PUBLIC, ids=[c.name for c in PUBLIC])
def test_both_modes_agree(case: Case) -> None:
    wrt = tuple(range(len(case.args)))

    def both(*x: Any) -> Any:
        return case.f(*x), *(xt.jacobian(case.f, wrt=wrt, mode=mode)(*x) for mode in ("forward", "reverse"))

    run = xt.jit(both)
    for what, value in SPECIAL.items():
        x = spoiled(case, value)
        values, forward, reverse = run(*x)
        blocks = iter(zip(leaves(forward), leaves(reverse), strict=True))
        y = leaves(values)
        rows = [[next(blocks) for _ in x] for _ in y]
        whole = [
            np.block(
                [
                    [b[side].reshape(v.size, a.size) for b, a in zip(row, x, strict=True)]
                    for row, v in zip(rows, y, strict=True)
                ]
            )
            for side in (0, 1)
        ]
        compare(*whole, np.concatenate([v.reshape(-1) for v in y]), what)
