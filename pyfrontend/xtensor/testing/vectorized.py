"""check_vectorized: compares a vectorized function and its derivatives with the stack of single instances."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import dtypes, tree
from ..base.calls import in_words
from ..base.dims import as_names
from ..base.errors import ArgumentError, ArgumentTypeError
from ..call.arrays import array, as_array
from ..transforms.grad import grad
from ..transforms.jit import jit
from ..transforms.jvp import jvp
from ..transforms.vectorize import vectorize
from ..transforms.vjp import vjp
from ..values.array import Array
from ..values.devices import like

_TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 3e-2, "bfloat16": 0.2}
_CHECKS = ("value", "jvp", "vjp", "grad", "grad of vectorize")


def check_vectorized(
    f: Callable[..., Any],
    args: Sequence[Any],
    dims: str | Sequence[str],
    *,
    checks: Sequence[str] = _CHECKS,
    rtol: float | None = None,
    atol: float | None = None,
    seed: int = 0,
) -> None:
    """Raises AssertionError if `vectorize(f, dims)(*args)` is not the stack of `f` at each instance.

    args: a tuple, one entry per argument. Each array has some of `dims`, or none of them.
    checks: which comparisons to make: "value"; "jvp" and "vjp", vectorize of these, with tangents and cotangents
    that differ between instances; "grad", vectorize of grad of a weighted sum of the results; "grad of vectorize",
    grad of a weighted sum of vectorize(f), where the gradient of a shared argument is the sum over instances.
    Derivatives are compared if there are float arguments and float results.

    Raises:
        AssertionError: the function gives other values for instances.
        ArgumentError: no argument has one of `dims`, or `checks` names another comparison.

    Example:
    >>> xt.testing.check_vectorized(lambda x: xt.sin(x), (xt.array([1.0, 2.0], "run"),), "run")
    """
    if not callable(f):
        raise ArgumentTypeError(f"xt.testing.check_vectorized needs a function, got {in_words(f)}")
    if not isinstance(args, (tuple, list)):
        raise ArgumentTypeError(
            f"xt.testing.check_vectorized: args is a tuple, one entry per argument of f, not {in_words(args)}. "
            "Write xt.testing.check_vectorized(f, (x,), dims)"
        )
    for check in checks:
        if check not in _CHECKS:
            raise ArgumentError(
                f"xt.testing.check_vectorized: checks are {', '.join(map(repr, _CHECKS))}; got {check!r}"
            )
    names = as_names(dims)
    primals = tree.map(lambda x: array(x) if isinstance(x, (int, float, complex)) else as_array(x), tuple(args))
    leaves, structure = tree.flatten(primals)
    checker = _Checker(f, names, leaves, structure, rtol, atol, np.random.default_rng(seed))
    compiled = jit(f)
    slices = checker.each(lambda *a: compiled(*a), leaves)
    if "value" in checks:
        checker.compare("vectorize(f)", vectorize(f, names)(*primals), slices)
    results = tree.leaves(slices[0]) if slices else []
    moves = any(dtypes.is_inexact(x.dtype) for x in leaves) and any(dtypes.is_inexact(y.dtype) for y in results)
    if not moves:
        return
    for check in checks:
        if check != "value":
            getattr(checker, check.replace(" ", "_"))(slices)


class _Checker:
    def __init__(
        self,
        f: Callable[..., Any],
        names: tuple[str, ...],
        leaves: list[Array],
        structure: tree.TreeDef,
        rtol: float | None,
        atol: float | None,
        rng: np.random.Generator,
    ) -> None:
        self.f = f
        self.names = names
        self.leaves = leaves
        self.structure = structure
        self.rtol, self.atol = rtol, atol
        self.rng = rng
        sizes = {d: n for x in leaves for d, n in zip(x.dims, x.shape, strict=True)}
        missing = [d for d in names if d not in sizes]
        if missing:
            raise ArgumentError(f"check_vectorized: no argument has dim {missing[0]!r}")
        self.shape = tuple(sizes[d] for d in names)

    # -- instances ----------------------------------------------------------------------------------------------------

    def instance(self, x: Any, at: tuple[int, ...]) -> Any:
        """The part of an array, given with batch dims or without them, that one instance sees."""
        if x is None:
            return None
        where = dict(zip(self.names, at, strict=True))
        index = tuple(where.get(d, slice(None)) for d in x.dims)
        return array(
            np.array(np.asarray(x.values)[index], order="C"), tuple(d for d in x.dims if d not in where), device=like(x)
        )

    def positions(self) -> list[tuple[int, ...]]:
        return list(itertools.product(*map(range, self.shape)))

    def each(self, g: Callable[..., Any], leaves: Sequence[Any], *more: Sequence[Any]) -> list[Any]:
        """`g` of the arguments of each instance, then of those of `more`."""
        found = []
        for at in self.positions():
            args = self.structure.unflatten([self.instance(x, at) for x in leaves])
            rest = [[self.instance(x, at) for x in values] for values in more]
            found.append(g(*args, *rest))
        return found

    # -- numbers ------------------------------------------------------------------------------------------------------

    def compare(self, what: str, got: Any, slices: list[Any], batched: bool = True) -> None:
        """`got` is the stack of `slices`; or, where not `batched`, has the dims of one of them."""
        if not slices:
            for y in tree.leaves(got):
                assert y.dims[: len(self.names)] == self.names, f"{what}: dims {y.dims}, expected {self.names} first"
            return
        all_leaves = [tree.leaves(s) for s in slices]
        for k, y in enumerate(tree.leaves(got)):
            first = all_leaves[0][k]
            assert y.dims == (*self.names, *first.dims), f"{what}: dims {y.dims}, those of an instance {first.dims}"
            assert y.dtype == first.dtype, f"{what}: dtype {y.dtype}, that of an instance {first.dtype}"
            want = np.stack([np.asarray(s[k].values) for s in all_leaves]).reshape(self.shape + first.shape)
            self.close(what, y, want)

    def close(self, what: str, got: Any, want: Any) -> None:
        values = np.asarray(got.values)
        if not dtypes.is_inexact(got.dtype):
            np.testing.assert_array_equal(values, want, err_msg=what)
            return
        kind = np.complex128 if got.dtype.kind == "c" else np.float64
        tolerance = _TOLERANCE[np.zeros(0, got.dtype).real.dtype.name]
        rtol = tolerance if self.rtol is None else self.rtol
        wide = np.asarray(want, kind)
        finite = np.abs(wide[np.isfinite(wide)])
        atol = rtol * max(1.0, float(finite.max(initial=0.0))) if self.atol is None else self.atol
        np.testing.assert_allclose(values.astype(kind), wide, rtol, atol, err_msg=what)

    def random(self, x: Any, dims: tuple[str, ...], shape: tuple[int, ...]) -> Any:
        if not dtypes.is_inexact(x.dtype):
            return None
        values = self.rng.standard_normal(shape)
        if x.dtype.kind == "c":
            values = values + 1j * self.rng.standard_normal(shape)
        return array(values.astype(x.dtype), dims, device=like(x))

    def cotangents(self, slices: list[Any]) -> list[Any]:
        """One per result, of each instance's own."""
        first = tree.leaves(slices[0])
        return [self.random(y, (*self.names, *y.dims), self.shape + y.shape) for y in first]

    # -- derivatives --------------------------------------------------------------------------------------------------

    def jvp(self, slices: list[Any]) -> None:
        tangents = [self.random(x, x.dims, x.shape) for x in self.leaves]

        def along(*args: Any) -> Any:
            *primals, moved = args
            return jvp(self.f, tuple(primals), self.structure.unflatten(moved))[1]

        got = vectorize(along, self.names)(*self.structure.unflatten(self.leaves), tangents)
        self.compare("vectorize(jvp(f))", got, self.each(along, self.leaves, tangents))

    def vjp(self, slices: list[Any]) -> None:
        structure = tree.structure(slices[0])

        def back(*args: Any) -> Any:
            *primals, cts = args
            return vjp(self.f, *primals)[1](structure.unflatten(cts))

        cts = self.cotangents(slices)
        got = vectorize(back, self.names)(*self.structure.unflatten(self.leaves), cts)
        self.compare("vectorize(vjp(f))", got, self.each(back, self.leaves, cts))

    def _loss(self, floats: list[Any], weights: list[Any], fixed: list[Any], f: Callable[..., Any]) -> Any:
        """The weighted sum of the float results of `f`, of which the real part counts."""
        left = iter(floats)
        args = self.structure.unflatten([next(left) if x is None else x for x in fixed])
        total: Any = 0.0
        for y, w in zip(tree.leaves(f(*args)), weights, strict=True):
            if w is not None:
                total = total + (y * w).real.astype("float64").sum()
        return total

    def _parted(self, leaves: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The float arguments, and all with None for these."""
        fixed = [None if dtypes.is_inexact(x.dtype) else x for x in leaves]
        return [x for x, kept in zip(leaves, fixed, strict=True) if kept is None], fixed

    def grad(self, slices: list[Any]) -> None:
        floats, fixed = self._parted(self.leaves)
        weights = [self.random(y, y.dims, y.shape) for y in tree.leaves(slices[0])]
        gradient = grad(lambda x, rest: self._loss(x, weights, rest, self.f))
        got = vectorize(gradient, self.names)(floats, fixed)
        each = [
            gradient([self.instance(x, at) for x in floats], [self.instance(x, at) for x in fixed])
            for at in self.positions()
        ]
        self.compare("vectorize(grad(f))", got, each)

    def grad_of_vectorize(self, slices: list[Any]) -> None:
        floats, fixed = self._parted(self.leaves)
        weights = self.cotangents(slices)
        got = grad(lambda x, rest: self._loss(x, weights, rest, vectorize(self.f, self.names)))(floats, fixed)
        sums = [np.zeros(x.shape, np.result_type(x.dtype.char if x.dtype.kind == "c" else "f8", "f8")) for x in floats]
        single = grad(lambda x, rest, w: self._loss(x, w, rest, self.f))
        for at in self.positions():
            parts = [[self.instance(x, at) for x in values] for values in (floats, fixed, weights)]
            where = dict(zip(self.names, at, strict=True))
            for x, total, g in zip(floats, sums, single(*parts), strict=True):
                total[tuple(where.get(d, slice(None)) for d in x.dims)] += np.asarray(g.values, total.dtype)
        for x, g, want in zip(floats, got, sums, strict=True):
            assert g.dims == x.dims, f"grad(vectorize(f)): dims {g.dims}, those of the argument {x.dims}"
            self.close("grad(vectorize(f))", g, want)
