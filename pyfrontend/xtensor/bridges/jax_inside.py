"""Functions of JAX as functions of named arrays: calls of Python, whose derivatives JAX computes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ..base import dtypes, tree
from ..base.calls import shown
from ..base.dims import describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, SizeError
from ..call.arguments import name_of, signature_of
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.scope import current, tracing
from ..transforms.callback import callback
from ..transforms.custom import custom_derivative
from ..transforms.derivative import order
from ..values.spec import Spec

_Flat: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]  # of lists of JAX's arrays


class FromJax:
    """`f` as a function of named arrays, whose dims are those of `args`, axis by axis."""

    def __init__(self, f: Callable[..., Any], args: Any, result: Any) -> None:
        self.f = f
        self.__name__ = name_of(f)
        args = args if isinstance(args, tuple) else (args,)
        types, self.structure = tree.flatten(args)
        results, self.result = tree.flatten(result)
        for what, found in (("args", types), ("result", results)):
            for t in found:
                if not hasattr(t, "dims"):
                    raise ArgumentTypeError(
                        f"xt.from_jax({what}=): a type for each array is needed, as xt.spec(i=3), not {shown(t)}"
                    )
        self.types = list(map(_open, types))
        self.flat = _Function(self._values, self.__name__, [t.dims for t in types], list(map(_open, results)))

    def __repr__(self) -> str:
        return f"<{self.__name__} of JAX>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = self._positional(args, kwargs) if kwargs else args
        try:
            leaves = tree.leaves_at(self.structure, args)
        except ArgumentError:
            raise ArgumentError(
                f"xt.from_jax: {self.__name__} was given {tree.structure(args)}, and args= says {self.structure}"
            ) from None
        for i, (x, dims, s) in enumerate(zip(leaves, self.flat.dims, self.types, strict=True)):
            if {*getattr(x, "dims", ())} != {*dims}:
                given, instead = shown(x), f"Write xt.array(x, dims={tuple(dims)})"
                if hasattr(x, "dims"):
                    given, instead = describe(x.dims, x.shape), "Rename its dims"
                raise DimensionError(
                    f"xt.from_jax: array {i} among the arguments of {self.__name__} is {given}, and args= gives it the "
                    f"dims ({', '.join(dims)}). {instead}"
                )
            if any(n is not None and isinstance(x.sizes[d], int) and x.sizes[d] != n for d, n in s.sizes.items()):
                raise SizeError(
                    f"xt.from_jax: array {i} among the arguments of {self.__name__} is {describe(x.dims, x.shape)}, "
                    f"and args= says {describe(s.dims, s.shape)}. A size of None in args= takes every size"
                )
        return self.result.unflatten(self.flat(leaves))

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments by position, as args= has them."""
        signature = signature_of(self.f)
        try:
            bound = signature.bind(*args, **kwargs) if signature else None
        except TypeError as error:
            raise ArgumentTypeError(f"xt.from_jax: {self.__name__}: {error}") from None
        if bound is None or bound.kwargs:
            names = ", ".join(bound.kwargs if bound else kwargs)
            raise ArgumentTypeError(
                f"xt.from_jax: {self.__name__} was given {names} by keyword, and args= has arguments by position"
            )
        return bound.args

    def _values(self, arrays: Sequence[Any]) -> Sequence[Any]:
        y = self.f(*self.structure.unflatten(arrays))
        try:
            return tree.leaves_at(self.result, y)
        except ArgumentError:
            raise ArgumentError(
                f"xt.from_jax: {self.__name__} returned {tree.structure(y)}, and result= says {self.result}"
            ) from None


def _open(t: Any) -> Spec:
    return Spec._of(t.dims, [n if isinstance(n, int) else None for n in t.shape], t.dtype)


class _Function:
    """A function of a list of JAX's arrays as one of named arrays with `dims`; `results` are its types. `level`: of how
    many derivatives. converts: the results get the dtypes of `results`; JAX has no float64 without jax_enable_x64."""

    def __init__(
        self,
        f: _Flat,
        name: str,
        dims: Sequence[tuple[str, ...]],
        results: Sequence[Spec],
        level: int = 0,
        converts: bool = False,
    ) -> None:
        self.f, self.__name__, self.dims, self.results, self.level = f, name, list(dims), list(results), level

        def run(*arrays: Any) -> list[np.ndarray[Any, Any]]:
            """With concrete arrays. Axes come in the order of the declared dims."""
            given = [_axes(x, dims) for x, dims in zip(arrays, self.dims, strict=True)]
            found = [np.asarray(y) for y in self.f(given)]
            return [y.astype(s.dtype) for y, s in zip(found, self.results, strict=True)] if converts else found

        run.__name__ = name
        self.run = run

    def __call__(self, leaves: Sequence[Any]) -> list[Any]:
        # A rule is such a function itself: there are as many levels as derivatives that are being taken.
        kinds = [*(x.dtype for x in leaves if hasattr(x, "dtype")), *(s.dtype for s in self.results)]
        if not tracing() or self.level >= order() or any(map(dtypes.is_complex, kinds)):
            return self._call(*leaves)
        ruled = custom_derivative(self._call)
        ruled.defpushforward(self._push)
        ruled.defpullback(lambda *primals: (self._again(primals), primals), self._pull)
        found: list[Any] = ruled(*leaves)
        return found

    def _call(self, *leaves: Any) -> list[Any]:
        found: list[Any] = callback(self.run, *leaves, result=self.results)
        return found

    def _again(self, primals: Sequence[Any]) -> list[Any]:
        """The same in a rule, which may be differentiated itself."""
        return _Function(self.f, self.__name__, self.dims, self.results, self.level + 1)(primals)

    def _push(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        """By the Jacobian: a call on tangents could not be transposed."""
        moving = [i for i, t in enumerate(tangents) if t is not None]
        results = self._moving_results()

        def jacobian(arrays: Sequence[Any]) -> list[Any]:
            primals = arrays[: len(self.dims)]
            moved = [primals[i] for i in moving]
            found = jax.jacobian(self._of(primals, moving, results), tuple(range(len(moving))))(*moved)
            return [block for row in found for block in row]

        # Names for the dims of the arrays, which stand beside those of the results.
        fresh = current().root.fresh_dim
        names = {i: {d: fresh(d.partition("~")[0]) for d in self.dims[i]} for i in moving}
        types = [
            Spec._of(
                (*self.results[r].dims, *names[i].values()),
                (*self.results[r].shape, *[None] * len(names[i])),
                self.results[r].dtype,
            )
            for r in results
            for i in moving
        ]
        dims = [*self.dims, *(tuple(names[i].values()) for i in moving)]
        made = _Function(jacobian, self.__name__, dims, types, self.level + 1, converts=True)
        blocks = iter(made([*primals, *(_renamed(primals[i], names[i]) for i in moving)]))
        found = {}
        for r in results:
            dtype = self.results[r].dtype
            moved = [_renamed(build.meet(as_tracer(tangents[i]), dtype), names[i]) for i in moving]
            terms = [_product(next(blocks), t, names[i]) for i, t in zip(moving, moved, strict=True)]
            found[r] = functools.reduce(lambda a, b: build.binary("add", a, b), terms)
        return self._again(primals), [found.get(i) for i in range(len(self.results))]

    def _pull(self, primals: tuple[Any, ...], cts: list[Any]) -> tuple[Any, ...]:
        moving = [i for i, x in enumerate(primals) if dtypes.is_float(x.dtype)]
        results = self._moving_results()

        def pull(arrays: Sequence[Any]) -> list[Any]:
            primals, cts = arrays[: len(self.dims)], arrays[len(self.dims) :]
            found, back = jax.vjp(self._of(primals, moving, results), *[primals[i] for i in moving])
            return list(back([ct.astype(y.dtype) for y, ct in zip(found, cts, strict=True)]))

        dims = [*self.dims, *(self.results[i].dims for i in results)]
        types = [Spec._of(self.dims[i], [None] * len(self.dims[i]), primals[i].dtype) for i in moving]
        made = _Function(pull, self.__name__, dims, types, self.level + 1, converts=True)
        found = dict(zip(moving, made([*primals, *(cts[i] for i in results)]), strict=True))
        return tuple(found.get(i) for i in range(len(primals)))

    def _moving_results(self) -> list[int]:
        return [i for i, s in enumerate(self.results) if dtypes.is_float(s.dtype)]

    def _of(self, primals: Sequence[Any], moving: Sequence[int], results: Sequence[int]) -> Callable[..., list[Any]]:
        """The function of the arrays that move, with the results that have derivatives."""

        def f(*moved: Any) -> list[Any]:
            arrays = list(primals)
            for i, x in zip(moving, moved, strict=True):
                arrays[i] = x
            found = self.f(arrays)
            return [found[i] for i in results]

        return f


def _renamed(x: Any, names: dict[str, str]) -> Any:
    return build.rename(as_tracer(x), names) if names else as_tracer(x)


def _product(block: Any, tangent: Any, names: dict[str, str]) -> Any:
    """The sum over the dims of the tangent."""
    return build.contract((block, tangent), tuple(names.values()))


def _axes(x: Any, dims: tuple[str, ...]) -> Any:
    values = np.asarray(getattr(x, "values", x))
    if hasattr(x, "dims"):
        values = values.transpose([x.dims.index(d) for d in dims])
    return jnp.asarray(values)
