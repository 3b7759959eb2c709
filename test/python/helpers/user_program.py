"""A program as a user writes it. `make lint` checks it with mypy --strict; test_typing.py runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import numpy as np
import xtensor as xt


def model(w: xt.Array, b: xt.Array, x: xt.Array) -> xt.Array:
    """x(sample, feature)  w(feature, unit)  b(unit) -> (sample, unit)"""
    return xt.tanh(x @ w + b)


def loss(w: xt.Array, b: xt.Array, x: xt.Array, y: xt.Array) -> xt.Array:
    hidden = assert_type(model(w, b, x), xt.Array)
    near = xt.less(xt.abs(hidden), 0.9) & xt.isfinite(hidden)
    penalty = xt.where(near, 0.0, xt.maximum(hidden, 0.0))
    return xt.mean(xt.square(hidden.sum(dim="unit") - y)) + penalty.mean()


def main() -> float:
    """How far twenty steps take the loss down."""
    rng = np.random.default_rng(0)
    x = xt.array(rng.normal(size=(20, 4)), dims=("sample", "feature"))
    y = xt.array(rng.normal(size=20), dims="sample")
    w, b = xt.zeros(feature=4, unit=3), xt.zeros(unit=3)
    step = xt.jit(xt.value_and_grad(loss, wrt=(0, 1)))
    compiled = xt.jit(loss)
    before = assert_type(compiled(w, b, x, y), xt.Array).item()
    for _ in range(20):
        _, (dw, db) = step(w, b, x, y)
        w, b = w - 0.1 * dw, b - 0.1 * db
    assert_type(xt.hypot(x, -x), xt.Array)
    assert_type(xt.bitwise_and(x > 0, x < 1), xt.Array)
    assert_type(x == y, xt.Array)
    assert_type(1 / x, xt.Array)
    assert_type(xt.floor(xt.max(x)), xt.Array)
    with xt.option(outer="forbid"):
        few = assert_type((x / 2).astype("f4").isel(sample=slice(None, 3)), xt.Array)
    assert few.sizes["sample"] == 3
    return before - compiled(w, b, x, y).item()


if TYPE_CHECKING:  # a name that is not there is told before anything runs
    _ = xt.softmx  # type: ignore[attr-defined]
    _ = xt.nn.softmx  # type: ignore[attr-defined]

if __name__ == "__main__":
    print(f"the loss fell by {main():.3f}")
