"""grad and value_and_grad: the gradient of a loss without dims with respect to named or numbered arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..base import dtypes, tree
from ..base.calls import call_with, shown
from ..base.dims import describe, ordered, suggestion
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError
from ..call.arguments import Static, name_of, needs_function, signature_of
from ..trace.lift import as_tracer
from ..trace.program import result_leaves
from ..trace.tracer import Tracer
from .derivative import Pullback, float_leaves, full_like
from .jit import Jitted, transformed

Wrt: TypeAlias = "int | str | Sequence[int | str]"


def grad(f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False) -> Jitted[..., Any]:
    """Returns a function that computes the gradient of `f` with respect to the arguments `wrt`.

    f: returns a loss, a float array without dims.
    wrt: a position, a parameter's name, or a tuple of these; for a tuple the result is a tuple. An argument may be
    a pytree. Its gradient has the same structure, and each array has the dims and dtype of the argument's array.
    has_aux: `f` returns (loss, aux), and the result is (gradient, aux).

    It is compiled once per types of arguments, as by `jit`. Arrays that `f` reads from outside, also in lists and
    attributes, are fixed at the first call.

    Raises:
        DimensionError: the loss has dims, once the result is called.
        DTypeError: an argument of `wrt` does not hold floats, once the result is called.

    Example:
    >>> xt.grad(lambda w: xt.sum(w * w))(xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2) float64>
    [2. 4.]
    """
    return _transform(f, wrt, has_aux, "grad")


def value_and_grad(f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False) -> Jitted[..., Any]:
    """Returns a function that computes the loss and its gradient: (loss, gradient).

    Arguments are those of `grad`. With `has_aux` the result is ((loss, aux), gradient).

    Raises:
        DimensionError: the loss has dims, once the result is called.
        DTypeError: an argument of `wrt` does not hold floats, once the result is called.

    Example:
    >>> value, gradient = xt.value_and_grad(lambda w: xt.sum(w * w))(xt.array([1.0, 2.0], "i"))
    >>> value.item(), gradient.values
    (5.0, array([2., 4.]))
    """
    return _transform(f, wrt, has_aux, "value_and_grad")


def _transform(f: Callable[..., Any], wrt: Wrt, has_aux: bool, kind: str) -> Jitted[..., Any]:
    needs_function(kind, f)
    chosen = Arguments(f, wrt, kind)

    @functools.wraps(f)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        loss, aux, gradient = _run(f, chosen, has_aux, kind, args, kwargs)
        if kind == "grad":
            return (gradient, aux) if has_aux else gradient
        return ((loss, aux), gradient) if has_aux else (loss, gradient)

    derivative.__name__ = f"{kind}({name_of(f)})"
    return transformed(derivative, f, _transform, wrt, has_aux, kind)


class Arguments:
    """The arguments to differentiate by, wherever a call puts them."""

    def __init__(self, f: Callable[..., Any], wrt: Wrt, kind: str) -> None:
        self.kind = kind
        self.fn = f
        self.single = isinstance(wrt, (int, str, np.integer))
        wrt = int(wrt) if isinstance(wrt, np.integer) else wrt
        if not isinstance(wrt, (int, str, list, tuple)):
            if hasattr(wrt, "dims"):
                raise ArgumentTypeError(
                    f"xt.{kind}: wrt= is a position or a parameter's name, not {shown(wrt)}. {kind} returns a "
                    f"function: write xt.{kind}(f)(x)"
                )
            raise ArgumentTypeError(
                f"xt.{kind}: wrt= is a position, a parameter's name, or a tuple of these, not {ordered(wrt)!r:.60}"
            )
        self.which: list[int | str] = [wrt] if isinstance(wrt, (int, str)) else list(wrt)
        signature = signature_of(f)
        positional = []
        if signature is not None:
            kinds = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
            positional = [p.name for p in signature.parameters.values() if p.kind.name in kinds]
        self.positional = positional
        for which in self.which:
            if not isinstance(which, (int, str)) or isinstance(which, bool):
                raise ArgumentTypeError(f"xt.{kind}: wrt= takes positions and names, got {which!r}")
        if len(set(self.which)) != len(self.which):
            raise ArgumentError(f"xt.{kind}: wrt={wrt!r} names an argument twice")

    def find(self, which: int | str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | str:
        """The place in this call: a position, or the name of a keyword."""
        if isinstance(which, int):
            place = which + len(args) if which < 0 else which
            if 0 <= place < len(args):
                return place
            if 0 <= which < len(self.positional) and self.positional[which] in kwargs:
                return self.positional[which]
        else:
            if which in kwargs:
                return which
            if which in self.positional and self.positional.index(which) < len(args):
                return self.positional.index(which)
        known = [self.label(i) for i in range(len(args))] + [repr(k) for k in kwargs]
        there = f"the arguments {', '.join(known)}" if known else "none"
        if not args and self.positional:
            there += f"; {name_of(self.fn)} takes ({', '.join(self.positional)})"
        if isinstance(which, str):
            there += suggestion(which, [k.strip("'") for k in known])
        raise ArgumentError(
            f"xt.{self.kind}: there is no argument {which!r} in this call of {name_of(self.fn)}, which has {there}"
        )

    def label(self, place: int | str) -> str:
        if isinstance(place, int) and place < len(self.positional):
            return repr(self.positional[place])
        return repr(place) if isinstance(place, str) else str(place)


class Split:
    """The arguments of one call, and the arrays among them to differentiate by."""

    def __init__(self, chosen: Arguments, args: tuple[Any, ...], kwargs: dict[str, Any], floats_only: bool) -> None:
        self.single = chosen.single
        self.args, self.kwargs = args, kwargs
        self.places = [chosen.find(w, args, kwargs) for w in chosen.which]
        if len(set(self.places)) != len(self.places):
            raise ArgumentError(f"xt.{chosen.kind}: wrt={tuple(chosen.which)!r} names an argument twice")
        self.primals: list[Tracer] = []
        self.trees: list[tuple[tree.TreeDef, list[Any]]] = []  # of each argument, its leaves: None where one moves
        for place in self.places:
            subtree = args[place] if isinstance(place, int) else kwargs[place]
            fixed: list[Any]
            if floats_only:
                leaves, structure = tree.flatten(subtree)
                arrays = [as_tracer(x) for x in leaves]
                fixed = [None if dtypes.is_inexact(x.dtype) else x for x in arrays]
            else:
                arrays, structure = float_leaves(subtree, chosen.label(place), chosen.kind)
                fixed = [None] * len(arrays)
            self.primals += [x for x, kept in zip(arrays, fixed, strict=True) if kept is None]
            self.trees.append((structure, fixed))

    def joined(self, tracers: Sequence[Tracer]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with `tracers` for the primals."""
        args, kwargs, left = list(self.args), dict(self.kwargs), iter(tracers)
        for place, (structure, fixed) in zip(self.places, self.trees, strict=True):
            subtree = structure.unflatten([next(left) if x is None else x for x in fixed])
            if isinstance(place, int):
                args[place] = subtree
            else:
                kwargs[place] = subtree
        return tuple(args), kwargs

    def restored(self, found: Sequence[Any]) -> Any:
        """One value per primal in the structure of the arguments; None for what has no derivative."""
        left = iter(found)
        trees = [
            None if s.kind is Static else s.unflatten([next(left) if x is None else None for x in fixed])
            for s, fixed in self.trees
        ]
        return trees[0] if self.single else tuple(trees)


def _run(
    f: Callable[..., Any],
    chosen: Arguments,
    has_aux: bool,
    kind: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any, Any]:
    split = Split(chosen, args, kwargs, floats_only=False)
    aux_structure: list[tree.TreeDef] = []

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new_args, new_kwargs = split.joined(tracers)
        result = call_with(kind, f, new_args, new_kwargs)
        aux: list[Tracer] = []
        if has_aux:
            result, extra = with_aux(result, f, kind)
            aux, structure = result_leaves(extra, name_of(f))
            aux_structure.append(structure)
        return [loss_of(result, f, kind), *aux]

    pullback = Pullback(body, split.primals)
    loss, *aux = pullback.results
    cotangents = [
        full_like(loss, 1.0),
        *(full_like(a, 0.0) for a in aux if dtypes.is_inexact(a.dtype)),
    ]
    gradient = split.restored(pullback(cotangents))
    return loss, aux_structure[0].unflatten(aux) if has_aux else None, gradient


def with_aux(result: Any, f: Callable[..., Any], kind: str) -> tuple[Any, Any]:
    """What `f` returned, as result and aux."""
    if not isinstance(result, tuple) or len(result) != 2:
        what = "result" if kind in ("jacobian", "hessian") else "loss"
        raise ArgumentTypeError(f"xt.{kind}(has_aux=True): {name_of(f)} must return ({what}, aux), got {shown(result)}")
    return result


def loss_of(result: Any, f: Callable[..., Any], kind: str) -> Tracer:
    leaves, _ = tree.flatten(result)
    if len(leaves) != 1 or result is not leaves[0]:
        hint = "; has_aux=True is for (loss, aux)" if isinstance(result, tuple) else ""
        raise ArgumentTypeError(
            f"xt.{kind} needs a loss, one array without dims; {name_of(f)} returned {shown(result)}{hint}"
        )
    (loss,), _ = result_leaves(result, name_of(f))
    if loss.dims:
        names = ", ".join(map(repr, loss.dims))
        raise DimensionError(
            f"xt.{kind} needs a loss without dims; {name_of(f)} returned {loss.dtype.name} "
            f"{describe(loss.dims, loss.shape)}, with {names} left. Write .sum() or .mean() at its end"
        )
    if not dtypes.is_float(loss.dtype):
        instead = ". Write z.real, or xt.abs(z)" if dtypes.is_complex(loss.dtype) else ""
        raise DTypeError(f"xt.{kind} needs a float loss; {name_of(f)} returned {loss.dtype.name}{instead}")
    return loss
