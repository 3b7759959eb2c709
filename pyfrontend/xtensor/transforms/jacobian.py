"""jacobian, hessian, hvp: derivatives with more dims than a gradient.

A Jacobian applies a derivative to a basis, in one vectorized step. The basis has dims whose names users cannot
write; the result is renamed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.calls import call_with
from ..base.dims import describe
from ..base.errors import ArgumentError, DTypeError
from ..call.arguments import name_of, needs_function
from ..trace import build
from ..trace.program import result_leaves
from ..trace.scope import current
from ..trace.tracer import Tracer
from .derivative import ByFunction, Pullback, complex_matrix, full_like, held_by, pushforward
from .grad import Arguments, Split, Wrt, loss_of, with_aux
from .jit import Jitted, marked, options_of, transformed
from .jvp import jvp
from .vectorize import vectorized


def jacobian(
    f: Callable[..., Any], wrt: Wrt = 0, mode: str = "reverse", has_aux: bool = False, holomorphic: bool = False
) -> Jitted[..., Any]:
    """Returns a function that computes all partial derivatives of the results of `f` with respect to `wrt`.

    `wrt` is a position, a parameter's name, or a tuple of these. For each array of the result, there is an entry per
    argument in `wrt`, with the structure of those arguments. Its dims are those of the result, then those of the
    argument. A name that occurs twice is primed: a result (i) and an argument (i) give (i, i').
    mode: "reverse" uses one pullback per element of the result, "forward" one tangent per element of the arguments; all
    run at once. has_aux: `f` returns (result, aux), and the result is (jacobian, aux).
    Of a complex result by a real argument, the entry is complex. Of a real result by a complex z = x + iy, it is
    d/dx + i d/dy, as a gradient. Of a complex result by a complex argument, it is df/dz, if `holomorphic=True` says
    that there is one: nothing checks it.

    Raises:
        DTypeError: an argument of `wrt` does not hold floats, once the result is called.
        ArgumentError: `mode` is another word.

    Example:
    >>> xt.jacobian(lambda x: x * x)(xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2, i': 2) float64>
    [[2. 0.]
     [0. 4.]]
    """
    if mode not in ("reverse", "forward"):
        raise ArgumentError(f"xt.jacobian: mode is 'reverse' or 'forward', got {mode!r}")
    return _transform(f, wrt, mode, has_aux, "jacobian", bool(holomorphic))


def _transform(
    f: Callable[..., Any], wrt: Wrt, mode: str, has_aux: bool, kind: str, holomorphic: bool = False
) -> Jitted[..., Any]:
    needs_function(kind, f)
    chosen = Arguments(f, wrt, kind)
    run = _reverse if mode == "reverse" else _forward

    @functools.wraps(f)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        found, aux = run(f, chosen, _Results(f, has_aux, kind, holomorphic), args, kwargs)
        return (found, aux) if has_aux else found

    derivative.__name__ = f"{kind}({name_of(f)})"
    return transformed(derivative, f, _transform, wrt, mode, has_aux, kind, holomorphic)


def hessian(f: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False) -> Jitted[..., Any]:
    """Returns a function that computes all second derivatives of `f` with respect to the arguments `wrt`.

    It uses forward mode over reverse mode. For a loss without dims and an argument (i), the result has dims (i,
    i').
    has_aux: as for `jacobian`.

    Raises:
        DTypeError: an argument of `wrt` does not hold floats, once the result is called.

    Example:
    >>> xt.hessian(lambda w: xt.sum(w**3))(xt.array([1.0, 2.0], "i"))
    <xtensor.Array (i: 2, i': 2) float64>
    [[ 6.  0.]
     [ 0. 12.]]
    """
    return _transform(_transform(f, wrt, "reverse", has_aux, "hessian"), wrt, "forward", has_aux, "hessian")


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Returns the product of the Hessian of the loss `f` at `primals` with `tangents`, without making the Hessian.

    `f` returns a float array without dims. For one primal the product has its structure and dims. For several it is a
    tuple with one entry per primal (None for integers). Tangents are as for `jvp`.

    Raises:
        DimensionError: the loss has dims.
        ArgumentError: there is not one tangent per primal.

    Example:
    >>> xt.hvp(lambda w: xt.sum(w**3), (xt.array([1.0, 2.0], "i"),), (xt.array([1.0, 0.0], "i"),))
    <xtensor.Array (i: 2) float64>
    [6. 0.]
    """
    needs_function("hvp", f)
    given = marked(f, primals) if isinstance(primals, (tuple, list)) else primals
    _, product = jvp(_gradient(f), given, tangents)
    return product[0] if len(product) == 1 else product


def _make_gradient(f: Callable[..., Any]) -> Jitted[..., Any]:
    held = held_by(f)

    def gradient(*args: Any) -> tuple[Any, ...]:
        return _all_gradients(held(), marked(held(), args))

    gradient.__name__ = f"grad({name_of(f)})"
    return Jitted(gradient, **options_of(f, static=False), by_tracing=True)


_gradient = ByFunction(_make_gradient)


def _all_gradients(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    chosen = Arguments(f, tuple(range(len(args))), "hvp")
    split = Split(chosen, args, {}, floats_only=True)

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new_args, _ = split.joined(tracers)
        return [loss_of(call_with("hvp", f, new_args), f, "hvp")]

    pullback = Pullback(body, split.primals)
    found: tuple[Any, ...] = split.restored(pullback([full_like(pullback.results[0], 1.0)]))
    return found


# -- a basis ----------------------------------------------------------------------------------------------------------


def _basis(x: Tracer) -> tuple[tuple[str, ...], Tracer]:
    """Names as many as `x` has dims, and one-hot arrays: 1 where the position along each name is that of the dim."""
    root = current().root
    names = tuple(root.fresh_dim(d) for d in x.dims)
    basis = build.constant(np.ones((), x.dtype))
    for name, d in zip(names, x.dims, strict=True):
        size = x.sizes[d]
        renamed = build.rename(x, {d: name})  # whose coordinates the basis has
        row = build.labelled(build.iota(name, size), renamed)
        same = build.compare("eq", row, build.iota(d, size))
        basis = build.binary("mul", basis, build.cast(same, x.dtype))
    return names, build.broadcast(basis, (*names, *x.dims), None)


def _turned(x: Tracer) -> Tracer:
    """i x"""
    return build.binary("mul", build.constant(1j, (), x.dtype), x)


def _over_basis(x: Tracer, apply: Callable[[Tracer], list[Tracer]]) -> tuple[tuple[str, ...], list[Tracer]]:
    """`apply` of every one-hot array like `x`: results with a name for each dim of `x` first."""
    names, basis = _basis(x)
    if not names:
        return names, apply(basis)
    return names, vectorized(lambda instance: apply(instance[0]), names, [basis])


def _named(x: Tracer, basis: Sequence[str], of: Sequence[str], out: Sequence[str], own: Sequence[str]) -> Tracer:
    """`x` with the dims `out` of the result and then, primed, those of the argument, `own`. So far it has the dims
    `basis` instead of those of `of`, which is one of the two."""
    names = dict(zip(basis, of, strict=True))
    order = (*basis, *own) if of is out else (*out, *basis)
    wanted = (*out, *_primed(out, own))
    assert tuple(names.get(d, d) for d in order) == (*out, *own)
    return build.rename(build.broadcast(x, order), dict(zip(order, wanted, strict=True)))


def _primed(out: Sequence[str], own: Sequence[str]) -> list[str]:
    """The dims `own` with as many primes as make them differ from `out` and from each other."""
    names: list[str] = []
    for i, d in enumerate(own):
        taken = {*out, *names, *own[i + 1 :]}
        while d in taken:
            d += "'"
        names.append(d)
    return names


# -- the two modes ----------------------------------------------------------------------------------------------------


def _floats(values: Sequence[Tracer], paths: Sequence[str], f: Callable[..., Any], kind: str) -> None:
    for y, path in zip(values, paths, strict=True):
        if not dtypes.is_inexact(y.dtype):
            raise DTypeError(
                f"xt.{kind}: result{path} of {name_of(f)} is {y.dtype.name} {describe(y.dims, y.shape)}, which has no "
                f"derivative. Return it as aux: {kind}(f, has_aux=True) with f returning (result, aux)"
            )


class _Results:
    """What `f` returned while it was traced."""

    def __init__(self, f: Callable[..., Any], has_aux: bool, kind: str, holomorphic: bool) -> None:
        self.f = f
        self.kind = kind
        self.holomorphic = holomorphic
        self.has_aux = has_aux
        self.structure: Any = None
        self.aux: Any = None

    def leaves(self, result: Any) -> list[Tracer]:
        """Results, then aux."""
        result, extra = with_aux(result, self.f, self.kind) if self.has_aux else (result, None)
        values, self.structure = result_leaves(result, name_of(self.f))
        _floats(values, tree.paths(result), self.f, self.kind)
        more, self.aux = result_leaves(extra, name_of(self.f))
        return [*values, *more]

    def check(self, values: Sequence[Tracer], primals: Sequence[Tracer]) -> None:
        """Refuses the derivative of a complex number by another, unless it is one number."""
        complex_primals = [x for x in primals if dtypes.is_complex(x.dtype)]
        for y in values:
            if dtypes.is_complex(y.dtype) and complex_primals and not self.holomorphic:
                raise complex_matrix(self.kind, f"a result of {name_of(self.f)}", y, complex_primals[0])

    def split(self, values: list[Tracer]) -> tuple[list[Tracer], Any]:
        count = self.structure.size
        return values[:count], self.aux.unflatten(values[count:])


def _reverse(f: Callable[..., Any], chosen: Arguments, results: _Results, args: Any, kwargs: Any) -> tuple[Any, Any]:
    split = Split(chosen, args, kwargs, floats_only=False)

    def body(tracers: list[Tracer]) -> list[Tracer]:
        new_args, new_kwargs = split.joined(tracers)
        return results.leaves(call_with(chosen.kind, f, new_args, new_kwargs))

    pullback = Pullback(body, split.primals)
    values, aux = results.split(pullback.results)
    results.check(values, split.primals)
    moving = [y for y in pullback.results if dtypes.is_inexact(y.dtype)]
    rows = []
    for k, y in enumerate(values):

        def pulled(ct: Tracer, k: int = k) -> list[Tracer]:
            return pullback([ct if i == k else full_like(other, 0.0) for i, other in enumerate(moving)])

        def apply(ct: Tracer, y: Tracer = y, pulled: Any = pulled) -> list[Tracer]:
            found: list[Tracer] = pulled(ct)
            if not dtypes.is_complex(y.dtype):
                return found
            turned = pulled(_turned(ct)) if any(not dtypes.is_complex(g.dtype) for g in found) else found
            # Of a holomorphic function the pullback of 1 is the conjugate of the derivative.
            return [
                build.conj(g) if dtypes.is_complex(g.dtype) else build.complex_array(g, i)
                for g, i in zip(found, turned, strict=True)
            ]

        names, found = _over_basis(y, apply)
        out = y.dims
        blocks = [_named(g, names, out, out, x.dims) for g, x in zip(found, split.primals, strict=True)]
        rows.append(split.restored(blocks))
    return results.structure.unflatten(rows), aux


def _forward(f: Callable[..., Any], chosen: Arguments, results: _Results, args: Any, kwargs: Any) -> tuple[Any, Any]:
    split = Split(chosen, args, kwargs, floats_only=False)
    columns: list[list[Tracer]] = []
    for j, x in enumerate(split.primals):

        def body(tracers: list[Tracer], j: int = j) -> list[Tracer]:
            new = list(split.primals)
            new[j] = tracers[0]
            new_args, new_kwargs = split.joined(new)
            return results.leaves(call_with(chosen.kind, f, new_args, new_kwargs))

        def apply(tangent: Tracer, x: Tracer = x, body: Any = body) -> list[Tracer]:
            values, found = (v[: results.structure.size] for v in pushforward(body, [x], [tangent]))
            results.check(values, [x])
            if not dtypes.is_complex(x.dtype) or all(dtypes.is_complex(dy.dtype) for dy in found):
                return list(found)
            turned = pushforward(body, [x], [_turned(tangent)])[1]
            return [
                dy if dtypes.is_complex(dy.dtype) else build.complex_array(dy, turned[k]) for k, dy in enumerate(found)
            ]

        names, found = _over_basis(x, apply)
        columns.append([_named(dy, names, x.dims, dy.dims[len(names) :], x.dims) for dy in found])
    values = results.leaves(f(*args, **kwargs)) if results.has_aux or not columns else []
    aux = results.split(values)[1] if values else None
    rows = [split.restored([column[k] for column in columns]) for k in range(results.structure.size)]
    return results.structure.unflatten(rows), aux
