"""check_gradients: compares derivatives of any order, in both modes, with finite differences in a random direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.calls import in_words
from ..base.errors import ArgumentError, ArgumentTypeError
from ..call.arrays import array, as_array
from ..ops.arguments import integer
from ..transforms.jit import jit
from ..transforms.jvp import jvp
from ..transforms.vjp import vjp
from ..values.array import Array

_STEP = {"float64": 1e-5, "float32": 1e-2, "float16": 0.1, "bfloat16": 0.1}
_TOLERANCE = {"float64": 1e-6, "float32": 3e-2, "float16": 0.2, "bfloat16": 0.3}


def check_gradients(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    *,
    modes: Sequence[str] = ("forward", "reverse"),
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> None:
    """Raises AssertionError if a derivative of `f` at `args` differs from central differences.

    args: a tuple, one entry per argument. The difference is taken along a random direction, from `seed`.
    order: also checks derivatives of derivatives, up to this order, in every combination of `modes`. Use float64
    arguments, away from ties: differences of float32 show little more than the sign. Integer arguments stay as they
    are. A complex argument moves along its real and its imaginary direction.

    Raises:
        AssertionError: a derivative differs from the differences.
        ArgumentError: no argument is a float array, `f` is not finite near them, or `order` or `modes` is another one.

    Example:
    >>> xt.testing.check_gradients(lambda x: xt.sum(xt.sin(x)), (xt.array([1.0, 2.0], "i"),), order=2)
    """
    if not callable(f):
        raise ArgumentTypeError(f"xt.testing.check_gradients needs a function, got {in_words(f)}")
    if integer("testing.check_gradients", order, "order", least=1) > 8:
        raise ArgumentError(
            f"xt.testing.check_gradients: order is 8 or less, got {order}: each further order at least doubles the work"
        )
    if isinstance(modes, str) or not modes:
        raise ArgumentError(f"xt.testing.check_gradients: modes are a tuple of 'forward' and 'reverse', got {modes!r}")
    for mode in modes:
        if mode not in ("forward", "reverse"):
            raise ArgumentError(f"xt.testing.check_gradients: modes are 'forward' and 'reverse', got {mode!r}")
    if not isinstance(args, (tuple, list)):
        raise ArgumentTypeError(
            f"xt.testing.check_gradients: args is a tuple, one entry per argument of f, not {in_words(args)}. "
            "Write xt.testing.check_gradients(f, (x,))"
        )
    primals = tree.map(lambda x: array(x) if isinstance(x, (int, float, complex)) else as_array(x), tuple(args))
    floats = [dtypes.real_of(x.dtype).name for x in tree.leaves(primals) if dtypes.is_inexact(x.dtype)]
    if not floats:
        raise ArgumentError("xt.testing.check_gradients: no argument is a float array")
    worst = max(floats, key=lambda name: _STEP[name])
    step = _STEP[worst] if step is None else step
    rtol = _TOLERANCE[worst] if rtol is None else rtol
    atol = rtol if atol is None else atol
    _check(f, primals, order, tuple(modes), step, rtol, atol, np.random.default_rng(seed), "")


def _check(
    f: Callable[..., Any],
    primals: tuple[Any, ...],
    order: int,
    modes: tuple[str, ...],
    step: float,
    rtol: float,
    atol: float,
    rng: np.random.Generator,
    path: str,
) -> None:
    compiled = jit(f)
    direction = tree.map(lambda x: _random(x, rng), primals)
    result = compiled(*primals)
    cotangent = tree.map(lambda y: _random(y, rng), result)
    expected = _difference(compiled, primals, direction, step)
    if not all(np.isfinite(e).all() for e in expected):
        raise ArgumentError(
            f"xt.testing.check_gradients: f is not finite near the arguments{path}, so there is nothing to compare "
            'with. Choose others; xt.option(nan="raise") names the op that makes a NaN'
        )
    if "forward" in modes:
        _, tangent = jvp(f, primals, direction)
        moved = [_wide(t) for t in tree.leaves(tangent)]
        for got, want in zip(moved, expected, strict=True):
            np.testing.assert_allclose(got, want, rtol, atol * _scale(want), err_msg=f"forward mode{path}")
    if "reverse" in modes:
        _, back = vjp(f, *primals)
        gradient = back(cotangent)
        product = _inner(gradient, direction)
        cts = [_wide(t) for t in tree.leaves(cotangent)]
        wanted = sum(float(np.sum(c * e)) for c, e in zip(cts, expected, strict=True))
        scale = sum(float(np.sum(np.abs(c * e))) for c, e in zip(cts, expected, strict=True))
        np.testing.assert_allclose(product, wanted, rtol, atol * max(1.0, scale), err_msg=f"reverse mode{path}")
    if order > 1:
        rest = (order - 1, modes, step, rtol * 10, atol * 10, rng)
        if "forward" in modes:
            _check(lambda *a: jvp(f, a, direction)[1], primals, *rest, f"{path} of forward mode")
        if "reverse" in modes:
            _check(lambda *a: vjp(f, *a)[1](cotangent), primals, *rest, f"{path} of reverse mode")


def _random(x: Array, rng: np.random.Generator) -> Array | None:
    if not dtypes.is_inexact(x.dtype):
        return None
    values = rng.standard_normal(x.shape)
    if dtypes.is_complex(x.dtype):
        values = values + 1j * rng.standard_normal(x.shape)
    return array(np.asarray(values, x.dtype), x.dims, device=x.device)


def _wide(x: Any) -> np.ndarray[Any, Any]:
    """The values in float64; of complex numbers the real and the imaginary parts, along one more axis."""
    values = np.asarray(x)
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag], -1)
    return values.astype(np.float64)


def _difference(f: Callable[..., Any], primals: Any, direction: Any, step: float) -> list[np.ndarray[Any, Any]]:
    leaves, structure = tree.flatten(primals)
    moves = tree.leaves_at(structure, direction)

    def at(t: float) -> list[Any]:
        moved = [
            x
            if v is None
            else array((x.values + np.asarray(t, x.dtype) * v.values).astype(x.dtype), x.dims, device=x.device)
            for x, v in zip(leaves, moves, strict=True)
        ]
        return tree.leaves(f(*structure.unflatten(moved)))

    return [
        (_wide(hi) - _wide(lo)) / (2 * step)
        for hi, lo in zip(at(step), at(-step), strict=True)
        if dtypes.is_inexact(hi.dtype)
    ]


def _inner(a: Any, b: Any) -> float:
    pairs = zip(tree.leaves(a), tree.leaves(b), strict=True)
    return sum(float(np.sum(_wide(x) * _wide(y))) for x, y in pairs)


def _scale(x: np.ndarray[Any, Any]) -> float:
    return max(1.0, float(np.max(np.abs(x), initial=0.0)))
