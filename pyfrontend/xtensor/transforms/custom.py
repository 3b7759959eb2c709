"""custom_derivative: a function whose derivatives the user defines, for one mode or both."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..base import dtypes, tree
from ..base.calls import call_with, check_made, checked, in_words, shown
from ..base.dims import describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, Error, users_frames
from ..base.lacking import lacks
from ..call.arguments import name_of, signature_of
from ..ir import context as c
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.program import result_leaves
from ..trace.regions import Regions, discarding
from ..trace.scope import tracing
from ..trace.tracer import Tracer, spec
from ..values.spec import Spec
from .derivative import conform, order
from .pickling import Pickled

Rule = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Callable[..., Any])


class _Inside(threading.local):
    """How many rules of one function are being traced, one inside of the other."""

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *exc: object) -> None:
        self.depth -= 1


def _method(fn: M) -> M:
    return checked(fn, name=f"custom_derivative.{fn.__name__}")  # type: ignore[return-value]


class custom_derivative(Pickled):  # noqa: N801 (used like a function)
    """Makes a function whose derivatives are given by rules of your own.

    `g = xt.custom_derivative(f)`, or as a decorator; then give at least one of

        g.defpushforward(rule)        rule(primals, tangents) -> y, dy
        g.defpullback(fwd, bwd)       fwd(*args) -> y, residuals;  bwd(residuals, ct) -> one cotangent per argument

    primals and tangents are tuples with one entry per argument of `f`, positional ones first. dy must be linear in
    the tangents. If one rule is given, the other mode uses its transpose. A pullback rule that is not linear in the
    cotangent, for instance one that clips it, works in reverse mode alone.

    Integers and Python values do not have tangents: rules get None for them and return None. A tangent or cotangent
    has the dims of its array and aligns with it by name, or it is a number; None is zero.

    Arguments and results are pytrees. An array that `f` captures must not be differentiated with respect to: pass
    it as an argument.

    Raises:
        ArgumentError: it is differentiated, and has no rule.

    Example:
    >>> clipped = xt.custom_derivative(lambda x: xt.clip(x, 0.0, 1.0))
    >>> @clipped.defpushforward
    ... def rule(primals, tangents):
    ...     return clipped(*primals), tangents[0]
    >>> xt.grad(clipped)(3.0).item()
    1.0
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise ArgumentTypeError(f"xt.custom_derivative needs a function, got {in_words(f)}")
        functools.update_wrapper(self, f)
        self.fn = f
        self.name = name_of(f)
        self.pushforward: Rule | None = None
        self.forward: Rule | None = None
        self.backward: Rule | None = None
        self.inside = _Inside()

    @_method
    def defpushforward(self, rule: F) -> F:
        """Sets the forward rule, rule(primals, tangents) -> y, dy, and returns it, as a decorator does."""
        _check_rules(rule)
        self.pushforward = rule
        return rule

    @_method
    def defpullback(self, fwd: Rule, bwd: Rule) -> None:
        """Sets the reverse rule: fwd(*args) -> y, residuals; bwd(residuals, ct) -> a tuple, one entry per argument."""
        _check_rules(fwd, bwd)
        self.forward, self.backward = fwd, bwd

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            instead = {"defvjp": "defpullback(fwd, bwd)", "defjvp": "defpushforward(rule)"}
            instead["defjvps"] = instead["defjvp"]
            raise lacks(self, name, f"write f.{instead[name]}" if name in instead else None)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<custom_derivative of {self.name}>"

    def _made(self) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
        return self.fn, _with_rules, (self.pushforward, self.forward, self.backward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.pushforward is None and self.forward is None:
                raise ArgumentError(
                    f"xt.custom_derivative({self.name}) has no rule yet: call defpushforward or defpullback first"
                )
            # A rule that calls its own function needs a rule for each order of derivative, and no more.
            if not tracing() or self.inside.depth >= max(order(), 2):
                return call_with("custom_derivative", self.fn, args, kwargs)
            return _Call(self, self._positional(args, kwargs)).run()
        except Error as error:
            raise error.with_traceback(users_frames(error.__traceback__)) from None

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of the parameters, defaults included: rules know positions only."""
        signature = signature_of(self.fn)
        if signature is None:
            if kwargs:
                raise ArgumentTypeError(f"{self.name} has no signature: pass its arguments by position")
            return args
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return call_with("custom_derivative", self.fn, args, kwargs)  # which says what is wrong
        bound.apply_defaults()
        if bound.kwargs:
            raise ArgumentTypeError(
                f"xt.custom_derivative: {self.name} has keyword-only parameters ({', '.join(bound.kwargs)}), which "
                "rules cannot be given. Make them positional"
            )
        return bound.args


def _with_rules(
    f: Callable[..., Any], pushforward: Rule | None, forward: Rule | None, backward: Rule | None
) -> custom_derivative:
    made = custom_derivative(f)
    made.pushforward, made.forward, made.backward = pushforward, forward, backward
    return made


def _check_rules(*rules: Any) -> None:
    for rule in rules:
        if not callable(rule):
            raise ArgumentTypeError(f"xt.custom_derivative: a rule is a function, got {in_words(rule)}")


class _Call:
    """One call while tracing. Arrays become arguments of the op, everything else stays in the structure."""

    def __init__(self, of: custom_derivative, args: tuple[Any, ...]) -> None:
        self.of = of
        self.leaves, self.structure = tree.flatten(args)
        self.places = [i for i, x in enumerate(self.leaves) if _is_array(x)]
        self.arrays = [as_tracer(self.leaves[i]) for i in self.places]
        self.specs = [spec(x) for x in self.arrays]
        self.floats = [i for i, x in enumerate(self.arrays) if dtypes.is_inexact(x.dtype)]

    def filled(self, arrays: Sequence[Any], others: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """The arguments with these arrays; other leaves as they are, or None."""
        leaves = list(self.leaves) if others is None else list(others)
        for i, x in zip(self.places, arrays, strict=True):
            leaves[i] = x
        args: tuple[Any, ...] = self.structure.unflatten(leaves)
        return args

    @discarding
    def run(self) -> Any:
        regions = Regions(4)
        found, self.result = regions.trace(
            0,
            self.specs,
            lambda a: result_leaves(call_with("custom_derivative", self.of.fn, self.filled(a)), self.of.name),
            self.arrays,
        )
        self.results = [spec(y) for y in found]
        self.moved = [i for i, s in enumerate(self.results) if dtypes.is_inexact(s.dtype)]
        yields: list[Sequence[Tracer]] = [found, (), (), ()]
        with self.of.inside:
            self.rules(regions, yields)
        types = [c.array_type(s) for s in self.results]
        values = regions.finish("custom_derivative", types, self.arrays, {}, yields)
        return self.result.unflatten(
            [Tracer(v, weak=s.weak, spec=s) for v, s in zip(values, self.results, strict=True)]
        )

    # -- the rules' regions --------------------------------------------------------------------------------------------

    def rules(self, regions: Regions, yields: list[Sequence[Tracer]]) -> None:
        tangents = [_strong(self.specs[i]) for i in self.floats]
        if self.of.pushforward is not None:
            both = [*self.arrays, *(self.arrays[i] for i in self.floats)]
            yields[1] = regions.trace(1, [*self.specs, *tangents], self.push, both)
        if self.of.forward is not None:
            yields[2] = regions.trace(2, self.specs, self.keep, self.arrays)
            kept = [spec(x) for x in yields[2][len(self.results) :]]
            cotangents = [_strong(self.results[i]) for i in self.moved]
            yields[3] = regions.trace(3, [*kept, *cotangents], self.pull)

    def push(self, arguments: list[Tracer]) -> list[Tracer]:
        arrays = arguments[: len(self.arrays)]
        tangents: list[Any] = [None] * len(self.arrays)
        for i, t in zip(self.floats, arguments[len(self.arrays) :], strict=True):
            tangents[i] = t
        what = f"the pushforward rule of {self.of.name}"
        rule = self.of.pushforward
        assert rule is not None
        both = self.filled(arrays), self.filled(tangents, [None] * len(self.leaves))
        moved = {self.places[i] for i in self.floats}
        still = [f"tangents{path}" for i, path in enumerate(tree.paths(both[0])) if i not in moved]
        given = _call_rule(rule, both, ("primals", "tangents"), what, still)
        y, dy = _pair(given, what, "(y, dy)")
        ys = self.fit(y, what)
        return [*ys, *self.tangents(dy, ys, what)]

    def keep(self, arrays: list[Tracer]) -> list[Tracer]:
        what = f"the forward rule of {self.of.name}"
        rule = self.of.forward
        assert rule is not None
        y, residuals = _pair(
            call_with("custom_derivative", rule, self.filled(arrays), what=what), what, "(y, residuals)"
        )
        leaves, self.kept = tree.flatten(residuals)
        self.kept_leaves = leaves
        self.kept_places = [i for i, x in enumerate(leaves) if _is_array(x)]
        return [*self.fit(y, what), *(as_tracer(leaves[i]) for i in self.kept_places)]

    def pull(self, arguments: list[Tracer]) -> list[Tracer]:
        what = f"the backward rule of {self.of.name}"
        leaves = list(self.kept_leaves)
        for i, x in zip(self.kept_places, arguments, strict=False):
            leaves[i] = x
        cotangents: list[Any] = [None] * len(self.results)
        for i, ct in zip(self.moved, arguments[len(self.kept_places) :], strict=True):
            cotangents[i] = ct
        rule = self.of.backward
        assert rule is not None
        both = self.kept.unflatten(leaves), self.result.unflatten(cotangents)
        places = tree.paths(self.result.unflatten([0] * len(cotangents)))
        still = [f"ct{path}" for path, ct in zip(places, cotangents, strict=True) if ct is None]
        given = _call_rule(rule, both, ("residuals", "ct"), what, still)
        count = len(self.structure.children)
        if not isinstance(given, tuple) or len(given) != count:
            got = f"{len(given)}" if isinstance(given, tuple) else shown(given)
            raise ArgumentError(f"{what} must return a tuple of {count}, one cotangent per argument, got {got}")
        found: list[Any] = []
        for entry, child in zip(given, self.structure.children, strict=True):
            found += [None] * child.size if entry is None else tree.leaves_at(child, entry)
        return [
            _conform(found[self.places[i]], self.arrays[i], f"{what}: the cotangent of array {i}") for i in self.floats
        ]

    # -- what they return ----------------------------------------------------------------------------------------------

    def fit(self, y: Any, what: str) -> list[Tracer]:
        """Results of a rule as those of the function."""
        leaves, structure = result_leaves(y, what)
        if structure != self.result:
            raise ArgumentError(f"{what} returns {structure} and {self.of.name} itself {self.result}")
        out = []
        for x, s in zip(leaves, self.results, strict=True):
            if x.spec.sizes != s.sizes or not (x.dtype == s.dtype or x.weak or s.weak):
                raise (DTypeError if x.spec.sizes == s.sizes else DimensionError)(
                    f"{what} returns {x.dtype.name} {describe(x.dims, x.shape)} where {self.of.name} itself returns "
                    f"{s.dtype.name} {describe(s.dims, s.shape)}"
                )
            x = x if x.dtype == s.dtype else build.cast(x, s.dtype)
            out.append(build.broadcast(x, s.dims))
        return out

    def tangents(self, dy: Any, ys: Sequence[Tracer], what: str) -> list[Tracer]:
        try:
            leaves = tree.leaves_at(self.result, dy)
        except ArgumentError:
            raise ArgumentError(f"{what} returns a dy of another structure than y, {self.result}") from None
        return [_conform(leaves[i], ys[i], f"{what}: dy") for i in self.moved]


def _call_rule(rule: Rule, args: tuple[Any, Any], roles: tuple[str, str], what: str, still: list[str]) -> Any:
    """What the rule gives. `still`: which tangents or cotangents are None."""
    try:
        return call_with("custom_derivative", rule, args, roles=roles, what=what)
    except (AttributeError, TypeError) as error:  # Python's, or that of an operator of arrays
        if not still or ("got None" if isinstance(error, Error) else "NoneType") not in str(error):
            raise
        told = str(error).split(". ")[0]
        raise ArgumentTypeError(
            f"{what} computes with None ({told}). {', '.join(still[:4])}{', ..' if len(still) > 4 else ''} "
            f"{'is' if len(still) == 1 else 'are'} None, because integers and Python values have no derivative: leave "
            "the term out"
        ) from None


def _is_array(x: Any) -> bool:
    """Whether `x` is an array. Python numbers are not: a rule may branch on them."""
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes, type)):
        return hasattr(x, "dtype")
    return hasattr(x, "dims") or hasattr(x, "dtype") or isinstance(x, Tracer)


def _conform(t: Any, like: Tracer, what: str) -> Tracer:
    """What a rule gives for an array. A number of its own is broadcast, one that it computes is missing the dims."""
    if isinstance(t, Tracer) and t.known is None and not t.dims and like.dims:
        raise DimensionError(
            f"{what} is one number that is computed, and its array has the dims {describe(like.dims, like.shape)}. "
            "If it was summed, sum over fewer dims; write .broadcast_like(..) on it if one number belongs everywhere"
        )
    return conform(0.0 if t is None else t, like, what)


def _strong(s: Spec) -> Spec:
    return Spec._of(s.dims, s.shape, s.dtype)


def _pair(given: Any, what: str, form: str) -> tuple[Any, Any]:
    if not isinstance(given, tuple) or len(given) != 2:
        raise ArgumentTypeError(f"{what} must return {form}, got {shown(given)}")
    return given


check_made(custom_derivative, "custom_derivative")
