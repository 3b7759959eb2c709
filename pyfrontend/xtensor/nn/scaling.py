"""Scaled losses: gradients of 16-bit floats that would round to 0 are computed larger, and scaled back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..base import tree
from ..ops import promotion as p
from ..ops.elementwise import isfinite
from ..ops.operators import divide, multiply
from ..ops.reductions import all as every
from ..trace import build
from ..trace.lift import as_tracer
from ..transforms.grad import value_and_grad
from ..transforms.jit import Jitted

__all__ = ["scaled_value_and_grad"]


def scaled_value_and_grad(f: Callable[..., Any], wrt: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function of a scale and the arguments of `f` that returns the loss, its gradient, and a bool.

    g(scale, *args) differentiates scale * f(*args), so that small elements of 16-bit gradients do not round to 0. It
    then divides the gradient by the scale. The bool tells whether all elements of the gradient are finite. If they are
    not, skip the step and reduce the scale; after many good steps, double it. `wrt` and `has_aux` are those of
    `xt.value_and_grad`. Source: Micikevicius et al., "Mixed precision training" (2018).

    Raises:
        DimensionError: the loss has dims, once the result is called.

    Example:
    >>> step = xt.nn.scaled_value_and_grad(lambda w: xt.sum(w * w))
    >>> value, gradient, finite = step(1024.0, xt.array([1.0, 2.0], "i"))
    >>> value.item(), gradient.values, finite.item()
    (5.0, array([2., 4.]), True)
    """

    @functools.wraps(f)
    def scaled(scale: Any, *args: Any, **kwargs: Any) -> Any:
        @functools.wraps(f)
        def larger(*args: Any, **kwargs: Any) -> Any:
            found = f(*args, **kwargs)
            loss, aux = found if has_aux else (found, None)
            factor = p.cast(as_tracer(scale), as_tracer(loss).dtype)
            return multiply(loss, factor), (loss, aux)

        (_, (loss, aux)), gradient = value_and_grad(larger, wrt, has_aux=True)(*args, **kwargs)
        gradient = tree.map(lambda g: _smaller(g, scale), gradient)
        leaves = [g for g in tree.leaves(gradient) if p.is_inexact(g.dtype)]
        finite = functools.reduce(
            lambda a, b: build.binary("and", a, b), (as_tracer(every(isfinite(g))) for g in leaves), as_tracer(True)
        )
        return (loss, aux) if has_aux else loss, gradient, finite

    return Jitted(scaled, by_tracing=True)


def _smaller(gradient: Any, scale: Any) -> Any:
    """Divided in f4 at least."""
    if not p.is_inexact(gradient.dtype):
        return gradient
    wide = p.accumulator(gradient.dtype)
    return p.cast(as_tracer(divide(p.cast(gradient, wide), p.cast(as_tracer(scale), wide))), gradient.dtype)
