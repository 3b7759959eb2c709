"""Derivatives of solutions of equations, by the implicit function theorem. The solver is not differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import tree as trees
from .base.calls import call_with, shown
from .base.errors import ArgumentTypeError, DimensionError, DTypeError
from .call.arguments import name_of
from .linalg import solve as solve_linear
from .ops import rename, transpose
from .ops.arguments import fail
from .transforms.custom import custom_derivative
from .transforms.jacobian import jacobian
from .transforms.jvp import jvp
from .tree import ravel

_DIM = "unknown"  # the unknowns in a row


def implicit(residual: Callable[..., Any], solve: Callable[..., Any]) -> custom_derivative:
    """Returns `solve` with the derivatives of the solution y = solve(*args) of residual(y, *args) = 0.

    residual: takes the solution and the arguments of `solve`; it returns a pytree with the structure and the dims of
    the solution. A fixed point y = f(y, *args) has the residual f(y, *args) - y.
    solve: any function that finds the solution, a pytree of floats. Its own steps are not differentiated: it may be a
    while loop without a bound.

    By the implicit function theorem, dy = -(dr/dy)^-1 (dr/dargs) dargs. Both modes and all orders follow from this.
    Each derivative solves a dense linear system with as many unknowns as the solution has elements. If instances are
    independent, write it for one of them, and `xt.vectorize` it. For hundreds of unknowns or more, the derivative of
    the loop, or a rule of `xt.custom_derivative` that runs the same solver, takes less time. An array that both
    functions read from outside counts as a constant: pass it as an argument.

    Raises:
        DimensionError: the residual has other dims than the solution.

    Example:
    >>> def heron(a):
    ...     return xt.while_loop(lambda y: abs(y * y - a) > 1e-12 * a, lambda y: 0.5 * (y + a / y), a)
    >>> root = xt.implicit(lambda y, a: y * y - a, heron)
    >>> round(xt.grad(root)(4.0).item(), 6)
    0.25
    """
    for what, f in (("residual", residual), ("solve", solve)):
        if not callable(f):
            raise ArgumentTypeError(f"xt.implicit: {what} is a function, not {shown(f)}")

    @functools.wraps(solve)
    def solution(*args: Any) -> Any:
        y = call_with("implicit", solve, args)
        for x, path in zip(trees.leaves(y), trees.paths(y), strict=True):
            if not isinstance(x, float) and np.dtype(getattr(x, "dtype", type(x))).kind not in "fV":
                raise fail(
                    DTypeError, "implicit", f"{name_of(solve)} returned{f' at {path}' if path else ''} {shown(x)}",
                    instead="A solution consists of floats: return counts of steps and the like from another function",
                )  # fmt: skip
        return y

    found = custom_derivative(solution)

    @found.defpushforward
    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        y = found(*primals)
        unknowns, unravel = ravel(y, _DIM)

        def at(v: Any) -> Any:
            return _in_a_row(call_with("implicit", residual, (unravel(v), *primals)), y)

        leaves, structure = trees.flatten(primals)
        moves = trees.leaves_at(structure, tangents)
        moving = [i for i, t in enumerate(moves) if t is not None]

        def by_arguments(*given: Any) -> Any:
            new = list(leaves)
            for i, x in zip(moving, given, strict=True):
                new[i] = x
            return _in_a_row(residual(y, *structure.unflatten(new)), y)

        _, change = jvp(by_arguments, tuple(leaves[i] for i in moving), tuple(moves[i] for i in moving))
        slope = jacobian(at)(unknowns)
        return y, unravel(-_solved(slope, change))

    return found


def _solved(slope: Any, change: Any) -> Any:
    """slope^-1 change, along the unknowns."""
    row, col = _DIM, f"{_DIM}'"
    if slope.sizes[row] == 1:
        return change / slope.isel({col: 0})
    return rename(solve_linear(slope, change, dims=(row, col)), {col: row})


def _in_a_row(r: Any, y: Any) -> Any:
    """The residual as a vector, its leaves in the order of the dims of the solution."""
    shape = trees.structure(y)
    if trees.structure(r) != shape:
        raise fail(
            DimensionError, "implicit", f"the residual is {trees.structure(r)} and the solution {shape}",
            instead="The residual has one element for each element of the solution",
        )  # fmt: skip
    aligned = []
    for a, b in zip(trees.leaves(r), trees.leaves(y), strict=True):
        dims = tuple(getattr(b, "dims", ()))
        if {*getattr(a, "dims", ())} != {*dims}:
            raise fail(
                DimensionError, "implicit", f"the residual has the dims {getattr(a, 'dims', ())}, the solution {dims}",
                instead="The residual has one element for each element of the solution",
            )  # fmt: skip
        aligned.append(transpose(a, *dims) if dims else a)
    return ravel(shape.unflatten(aligned), _DIM)[0]
