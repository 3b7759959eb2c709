"""Math functions of the vector library at every number of lanes: beside wider and narrower elements, over gathers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from functions import FUNCTIONS

TOLERANCE = {"f4": 2e-6, "f2": 4e-3, "bf16": 4e-2}
SIZE = 21  # whole vectors and a rest

X = np.linspace(0.05, 0.95, SIZE)
POSITIONS = np.arange(SIZE)[::-1].copy()

BESIDE: dict[str, tuple[Any, Callable[..., Any]]] = {
    "cast from i8": (POSITIONS, lambda f, x, k, t: f((k.astype("f8") * 0.04 + 0.1).astype(t))),
    "cast to f8": (X, lambda f, x, y, t: f(x).astype("f8") * y),
    "cast from f8": (X, lambda f, x, y, t: f(y.astype(t))),
    "beside i8": (POSITIONS, lambda f, x, k, t: f(x).astype("f8") * k),
    "gather": (POSITIONS, lambda f, x, k, t: f(x.isel(i=k))),
    "gather beside f8": (POSITIONS, lambda f, x, k, t: f(x.isel(i=k)).astype("f8") * k.astype("f8")),
}


@pytest.mark.sampled(22)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lanes(name: str, dtype: str) -> None:
    """All in one program gives what each gives alone in f8, as far as the dtype can tell."""
    # acosh begins at 1. y0 is 0 at 0.894, near which its error is one of its amplitude (passes/CPU/README.md).
    add = 1.0 if name in ("acosh", "y0") else 0.0

    def fn(x: Any) -> Any:
        return getattr(xt, name)(x + add)

    x = xt.array(X, "i").astype(dtype)
    exact = x.astype("f8")
    operands = {case: xt.array(other, "i") for case, (other, _) in BESIDE.items()}

    @xt.jit
    def run(x: Any, operands: dict[str, Any]) -> dict[str, Any]:
        return {case: BESIDE[case][1](fn, x, other, dtype) for case, other in operands.items()}

    for case, y in run(x, operands).items():
        want = BESIDE[case][1](fn, exact, operands[case], "f8").values
        got = y.astype("f8").values
        np.testing.assert_allclose(got, want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=case)


@pytest.mark.parametrize("name", ["atan2", "pow"])
def test_two_operands(name: str) -> None:
    fn = xt.atan2 if name == "atan2" else (lambda x, y: x**y)
    x, k = xt.array(X.astype("f4"), "i"), xt.array(POSITIONS, "i")
    got = xt.jit(lambda x, k: fn(x.isel(i=k), x).astype("f8") * k)(x, k)
    want = (np.arctan2 if name == "atan2" else np.power)(X[POSITIONS], X) * POSITIONS
    np.testing.assert_allclose(got.values, want, rtol=1e-5, atol=1e-6)


def test_a_gradient_through_a_gather() -> None:
    x = xt.array([0.1, 0.2, 0.3], "i").astype("f4")
    g = xt.grad(lambda x: xt.sin(x.isel(i=xt.array([0, 1, 1], "p"))).sum())(x)
    np.testing.assert_allclose(g.values, [np.cos(0.1), 2 * np.cos(0.2), 0], rtol=1e-6)


@pytest.mark.cpu_only("machine code of the CPU")
@pytest.mark.parametrize("size", [10_000, None])
def test_vectors_beside_calls_are_kept_in_aligned_frames(size: int | None) -> None:
    """Functions of the vector library clobber all vectors and push the frame pointer: nothing waits for it but the end
    of the function."""
    f = xt.jit(lambda x: xt.sin(x) * xt.exp(x), dynamic_dims=() if size else "i")
    text = f.trace(xt.spec(i=size)).lower().as_text("asm")
    if "_ZGV" not in text:
        pytest.skip("this machine has no vector library")
    (body,) = [part for part in text.split(".Lfunc_end") if "_ZGV" in part]
    kept = re.findall(r"(vmov\w+)\s+(?:%[xyz]mm\d+, )?\d*\(%rsp\)", body)
    assert kept
    assert not [name for name in kept if name.startswith("vmovu")]
    assert re.search(r"andq\s+\$-\d+, %rsp", body)
    assert not re.search(r"\(%rbp,|, %rbp,|\(%\w+,%rbp|addq\s+\S+ %rbp", body)
