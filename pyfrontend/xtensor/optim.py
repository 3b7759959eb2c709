"""Optimizers as plain functions on pytrees: sgd, momentum, adam, adamw, schedules, clipping by norm, and lbfgs.

    optimizer = xt.optim.adam(1e-3)
    state = optimizer.init(parameters)
    parameters, state = optimizer.update(parameters, gradients, state)

Nothing is changed in place. `update` may be called in `xt.jit`, in a scan, and be differentiated.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import tree
from .base.calls import call_with, in_words, with_article
from .base.dtypes import is_float, is_inexact
from .base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, SizeError, trimmed
from .base.lacking import lacks
from .base.refusals import not_an_array
from .call.arrays import array
from .call.dispatch import op
from .ops import clip, concat, cos, dot, exp, imag, isel, maximum, minimum, real, sqrt, where, zeros_like
from .ops import complex as pair
from .ops import max as largest
from .ops.arguments import fail
from .trace import build
from .trace.lift import as_tracer
from .transforms.control import while_loop
from .transforms.grad import loss_of, value_and_grad

__all__ = [
    "Minimum", "Optimizer", "State", "adam", "adamw", "clip_by_norm", "cosine", "exponential", "global_norm", "lbfgs",
    "momentum", "sgd", "warmup",
]  # fmt: skip

Rate = Any  # a number, an array without dims, or a schedule: a function from the count of steps to one


class State(NamedTuple):
    """What an optimizer keeps between steps: the number of steps, and running means with the dims of the parameters.

    Example:
    >>> xt.optim.adam().init(xt.zeros(i=2)).first.sizes
    {'i': 2}
    """

    count: Any
    first: Any = None
    second: Any = None


# What optimizers of PyTorch and optax have -> what to write.
_ELSEWHERE = {
    "step": "write parameters, state = optimizer.update(parameters, gradients, state)",
    "zero_grad": "it is not needed: xt.grad returns new gradients at each call",
    "apply_updates": "it is not needed: optimizer.update returns the new parameters",
    **dict.fromkeys(("state_dict", "load_state_dict"), "the state is a pytree: write xt.save(state, path)"),
    **dict.fromkeys(("param_groups", "add_param_group"), "write an optimizer for each group of parameters"),
}


@dataclass(frozen=True)
class Optimizer:
    """Two functions: `init(parameters) -> state`, and `update(parameters, gradients, state) -> parameters, state`.

    Example:
    >>> step = xt.optim.adam(0.1)
    >>> isinstance(step, xt.optim.Optimizer)
    True
    """

    init: Callable[[Any], State]
    update: Callable[[Any, Any, State], tuple[Any, State]]

    if not TYPE_CHECKING:  # else any attribute would pass

        def __getattr__(self, name: str) -> Any:
            raise lacks(self, name, _ELSEWHERE.get(name))


def _check(name: str, **numbers: Any) -> None:
    """That these are numbers, or arrays without dims; a `rate` may be a schedule."""
    for what, x in numbers.items():
        if isinstance(x, (int, float, np.generic)) or (hasattr(x, "dtype") and not getattr(x, "shape", ())):
            continue
        if what not in ("rate", "then"):
            raise fail(ArgumentTypeError, f"optim.{name}", f"{what} is a number, not {in_words(x)}")
        if not callable(x):
            problem = f"{what} is a number or a schedule, not {in_words(x)}"
            instead = "A schedule is a function of the step"
            if hasattr(x, "dims") or isinstance(x, (dict, list, tuple)):
                instead = f"Parameters go into the calls: state = xt.optim.{name}(0.1).init(parameters)"
            raise fail(ArgumentTypeError, f"optim.{name}", problem, instead=instead)


def _rate(rate: Rate, count: Any) -> Any:
    return rate(count) if callable(rate) else rate


def _like(number: Any, x: Any) -> Any:
    """A number that does not widen what it meets."""
    return number.astype(x.dtype) if hasattr(number, "astype") and hasattr(x, "dtype") else number


def _by_parts(f: Callable[..., Any], *xs: Any) -> Any:
    """`f` of numbers; of the real and the imaginary parts of complex ones by themselves, as PyTorch does."""
    if not any(np.dtype(getattr(x, "dtype", type(x))).kind == "c" for x in xs):
        return f(*xs)
    return pair(f(*map(real, xs)), f(*map(imag, xs)))


@op(name="optim")
def _labelled(y: Any, like: Any, /) -> Any:
    """`y` with the labels of `like`, and none of the data that its values come from."""
    return build.labelled(build.rename(as_tracer(y), {}), as_tracer(like))


def _optimizer(means: int, update: Callable[[Any, Any, State], tuple[Any, State]]) -> Optimizer:
    """An optimizer that keeps so many running means, and whose updates are told what they are given."""
    return Optimizer(_told("Optimizer.init", _start, means), _told("Optimizer.update", _updated, update))


class _Told(functools.partial[Any]):
    """A function that users get, whose errors about missing arguments say what it is and how it is called."""

    name: str
    parameters: tuple[str, ...]

    @trimmed
    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if keywords or len(args) != len(self.parameters):
            try:
                inspect.signature(self.func).bind(*self.args, *args, **keywords)
            except TypeError as error:
                call = self.name.partition(".")[2] or "schedule"
                instead = f"Write {call}({', '.join(self.parameters)})"
                raise fail(ArgumentTypeError, f"optim.{self.name}", str(error), instead=instead) from None
        return super().__call__(*args, **keywords)


def _told(name: str, function: Callable[..., Any], *first: Any) -> _Told:
    made = _Told(function, *first)
    made.name, made.parameters = name, (*inspect.signature(function).parameters,)[len(first) :]
    return made


def _check_floats(op: str, parameters: Any) -> None:
    for path, x in zip(tree.paths(parameters), tree.leaves(parameters), strict=True):
        dtype = np.dtype(getattr(x, "dtype", type(x)))
        if not is_inexact(dtype):
            write = f"{x!r}.0" if type(x) is int else '.astype("f8") on it'
            problem = f"parameters{path} is {dtype}, and a step makes floats"
            if isinstance(x, (str, bytes)):
                problem, write = f"parameters{path} is {in_words(x)}, and a step makes floats", "arrays of floats"
            raise fail(DTypeError, op, problem, *([x] if hasattr(x, "dims") else []), instead=f"Write {write}")


def _updated(update: Callable[..., Any], parameters: Any, gradients: Any, state: Any) -> tuple[Any, State]:
    op, order = "optim.Optimizer.update", "Write update(parameters, gradients, state)"
    if getattr(type(state), "_fields", None) == State._fields:
        state = State(*state)  # xt.load_arrays gives a class with the same fields
    if not isinstance(state, State):
        problem = f"the state is what init(parameters) returned, not {with_article(type(state).__name__)}"
        raise fail(ArgumentTypeError, op, problem, instead=order)
    if tree.structure(parameters) != tree.structure(gradients):
        problem = f"the gradients {tree.structure(gradients)} are not those of {tree.structure(parameters)}"
        raise fail(ArgumentError, op, problem, instead=order)
    _check_floats(op, parameters)
    leaves, structure = tree.flatten(gradients)
    places = tree.paths(parameters)
    fitted = [_fitted(op, *leaf) for leaf in zip(places, tree.leaves(parameters), leaves, strict=True)]
    found: tuple[Any, State] = update(parameters, tree.unflatten(structure, fitted), state)
    return found


def _fitted(op: str, path: str, parameter: Any, gradient: Any) -> Any:
    """The gradient in the dtype of its parameter, which must have all of its dims."""
    more = [d for d in getattr(gradient, "dims", ()) if d not in getattr(parameter, "dims", ())]
    if more:
        raise fail(
            DimensionError,
            op,
            f"the gradient of parameters{path} has dim {more[0]!r}, which the parameter lacks",
            *(x for x in (parameter, gradient) if hasattr(x, "dims")),
            instead=f"Reduce it: .mean({more[0]!r}) is the gradient of a mean",
        )
    sizes, wanted = getattr(gradient, "sizes", {}), getattr(parameter, "sizes", {})
    for dim, size in sizes.items():
        if isinstance(size, int) and isinstance(wanted[dim], int) and size != wanted[dim]:
            raise fail(
                SizeError, op, f"the gradient of parameters{path} has {dim!r} of size {size}, the parameter "
                f"{wanted[dim]}", parameter, gradient, instead="Take the gradient with respect to these parameters",
            )  # fmt: skip
    wide, narrow = (np.dtype(getattr(x, "dtype", "f8")) for x in (gradient, parameter))
    casts = hasattr(gradient, "astype") and hasattr(parameter, "dtype") and wide != narrow
    return gradient.astype(narrow) if casts and wide.kind == narrow.kind else gradient


def _moved(parameters: Any, steps: Any, rate: Any) -> Any:
    return tree.map(lambda p, s: p - _like(rate, p) * s, parameters, steps)


def sgd(rate: Rate, *, momentum: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0) -> Optimizer:
    """Returns gradient descent, p - rate * g, optionally with momentum, as torch.optim.SGD.

    rate: a number, or a schedule such as `cosine`. momentum: the factor by which each step keeps the last step.
    weight_decay: adds weight_decay * p to the gradient.

    Raises:
        ArgumentTypeError: `rate` is neither a number nor a schedule.
        ArgumentError: `nesterov` is given without `momentum`.

    Example:
    >>> step = xt.optim.sgd(0.1)
    >>> w, state = step.update(2.0, 1.0, step.init(2.0))
    >>> w
    1.9
    """
    _check("sgd", rate=rate, momentum=momentum, weight_decay=weight_decay)
    if nesterov and not momentum:
        raise ArgumentError("xt.optim.sgd: nesterov=True needs momentum=, such as 0.9")
    means = 1 if momentum else 0
    return _optimizer(means, functools.partial(_sgd, rate, momentum, nesterov, weight_decay))


def _start(means: int, parameters: Any) -> State:
    """The state of an optimizer that keeps so many running means."""
    _check_floats("optim.Optimizer.init", parameters)
    return State(array(0), *(tree.map(zeros_like, parameters) for _ in range(means)))


def _sgd(
    rate: Rate, momentum: float, nesterov: bool, weight_decay: float, parameters: Any, gradients: Any, state: State
) -> tuple[Any, State]:
    steps, kept = gradients, state.first
    if weight_decay:
        steps = tree.map(lambda p, g: g + _like(weight_decay, p) * p, parameters, steps)
    if momentum:
        kept = tree.map(lambda g, m: _like(momentum, m) * m + g, steps, kept)
        steps = tree.map(lambda g, m: g + _like(momentum, m) * m, steps, kept) if nesterov else kept
    return _moved(parameters, steps, _rate(rate, state.count)), State(state.count + 1, kept)


def momentum(rate: Rate, decay: float = 0.9, *, nesterov: bool = False) -> Optimizer:
    """Returns gradient descent that keeps `decay` of the last step: `sgd` with momentum.

    Sources: Polyak (1964); with `nesterov`, Nesterov (1983).

    Raises:
        ArgumentTypeError: `rate` is neither a number nor a schedule.

    Example:
    >>> step = xt.optim.momentum(0.1)
    >>> w, state = 2.0, step.init(2.0)
    >>> w, state = step.update(w, 1.0, state)
    >>> w, state = step.update(w, 1.0, state)
    >>> round(float(w), 6)
    1.71
    """
    _check("momentum", rate=rate, decay=decay)
    return sgd(rate, momentum=decay, nesterov=nesterov)


def adam(rate: Rate = 1e-3, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Optimizer:
    """Returns Adam (Kingma and Ba, 2015): divides the mean of gradients by the root of the mean of their squares.

    rate: a number, or a schedule such as `cosine`. b1, b2: the factors by which both means keep their last value. eps
    is added to the root.

    Raises:
        ArgumentTypeError: `rate` is neither a number nor a schedule.

    Example:
    >>> step = xt.optim.adam(0.1)
    >>> w = xt.array([1.0, 2.0], "i")
    >>> w, state = step.update(w, 2.0 * w, step.init(w))
    >>> w.values.round(6)
    array([0.9, 1.9])
    """
    _check("adam", rate=rate, b1=b1, b2=b2, eps=eps)
    return adamw(rate, b1, b2, eps, weight_decay=0.0)


def adamw(
    rate: Rate = 1e-3, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, *, weight_decay: float = 1e-2
) -> Optimizer:
    """Returns Adam with weight decay apart from the gradient, by rate * weight_decay * p (Loshchilov, 2019).

    Raises:
        ArgumentTypeError: `rate` is neither a number nor a schedule.

    Example:
    >>> step = xt.optim.adamw(0.1, weight_decay=0.5)
    >>> w = xt.array([1.0, 2.0], "i")
    >>> w, state = step.update(w, 0.0 * w, step.init(w))
    >>> w.values
    array([0.95, 1.9 ])
    """
    _check("adamw", rate=rate, b1=b1, b2=b2, eps=eps, weight_decay=weight_decay)
    return _optimizer(2, functools.partial(_adamw, rate, b1, b2, eps, weight_decay))


def _adamw(
    rate: Rate, b1: float, b2: float, eps: float, weight_decay: float, parameters: Any, gradients: Any, state: State
) -> tuple[Any, State]:
    count = state.count + 1
    now = _rate(rate, state.count)

    def mean(b: Any, m: Any, x: Any) -> Any:
        return _like(b, m) * m + _like(1 - b, m) * x

    first = tree.map(functools.partial(mean, b1), state.first, gradients)
    second = tree.map(lambda v, g: mean(b2, v, _by_parts(lambda g: g * g, g)), state.second, gradients)
    less1, less2 = 1.0 - b1 ** (1.0 * count), 1.0 - b2 ** (1.0 * count)

    def moved(p: Any, m: Any, v: Any) -> Any:
        step = (m / _like(less1, m)) / (sqrt(v / _like(less2, v)) + _like(eps, v))
        return p - _like(now, p) * (step + _like(weight_decay, p) * p if weight_decay else step)

    parameters = tree.map(lambda *leaf: _by_parts(moved, *leaf), parameters, first, second)
    return parameters, State(count, first, second)


# -- norms ------------------------------------------------------------------------------------------------------------


def global_norm(gradients: Any) -> Any:
    """Returns the root of the sum of the squares of all leaves, of complex ones those of their absolute values.

    The squares of 16-bit floats are added up in float32, in which the result is.

    Raises:
        ArgumentTypeError: a leaf is not an array or a number.

    Example:
    >>> xt.optim.global_norm({"w": xt.array([3.0, 0.0], "i"), "b": 4.0}).item()
    5.0
    """
    squares = [_square(x) for x in tree.leaves(gradients)]
    total = sum(squares[1:], squares[0]) if squares else 0.0
    return sqrt(total)


def _square(x: Any) -> Any:
    if not (isinstance(x, (int, float, complex)) or (hasattr(x, "dtype") and hasattr(x, "dims"))):
        raise not_an_array(x)
    dtype = np.dtype(getattr(x, "dtype", type(x)))
    if dtype.kind == "c":
        return _square(real(x)) + _square(imag(x))
    x = x.astype("f4") if is_float(dtype) and dtype.itemsize == 2 else x
    return (x * x).sum() if hasattr(x, "dims") else x * x


def clip_by_norm(gradients: Any, limit: float) -> Any:
    """Returns the gradients, scaled so that their `global_norm` is at most `limit`.

    Source: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013).

    Raises:
        ArgumentTypeError: `limit` is not a number.

    Example:
    >>> xt.optim.clip_by_norm({"w": xt.array([6.0, 8.0], "i")}, 5.0)["w"].values
    array([3., 4.])
    """
    _check("clip_by_norm", limit=limit)
    norm = global_norm(gradients)
    factor = _labelled(where(norm > limit, limit / where(norm > limit, norm, 1.0), 1.0), 1.0)  # of no leaf
    return tree.map(lambda x: x * _like(factor, x), gradients)


# -- schedules --------------------------------------------------------------------------------------------------------


def _part(count: Any, steps: int) -> Any:
    """How much of `steps` is over, from 0 to 1."""
    if steps < 1:
        raise ArgumentError(f"xt.optim: a schedule takes one step or more, not {steps}")
    return clip(1.0 * count / steps, 0.0, 1.0)


def cosine(peak: float, steps: int, final: float = 0.0) -> Callable[[Any], Any]:
    """Returns a schedule that falls from `peak` to `final` over `steps` steps, along half a cosine.

    Source: Loshchilov and Hutter, "SGDR" (2017).

    Raises:
        ArgumentTypeError: an argument is not a number.

    Example:
    >>> rate = xt.optim.cosine(1.0, 100)
    >>> float(rate(0)), float(rate(50)), float(rate(100))
    (1.0, 0.5, 0.0)
    """
    _check("cosine", peak=peak, steps=steps, final=final)
    return _told("cosine", _cosine, peak, steps, final)


def _cosine(peak: float, steps: int, final: float, count: Any) -> Any:
    return final + (peak - final) * 0.5 * (1.0 + cos(math.pi * _part(count, steps)))


def exponential(start: float, factor: float, steps: int = 1) -> Callable[[Any], Any]:
    """Returns a schedule that begins with `start`, and is multiplied by `factor` > 0 over each `steps` steps.

    Raises:
        ArgumentError: `factor` is not above 0, or `steps` is below 1.

    Example:
    >>> rate = xt.optim.exponential(1.0, 0.5, steps=10)
    >>> float(rate(0)), float(rate(10)), float(rate(20))
    (1.0, 0.5, 0.25)
    """
    _check("exponential", start=start, factor=factor, steps=steps)
    if not factor > 0 or steps < 1:
        raise ArgumentError(f"xt.optim.exponential: factor is above 0 and steps 1 or more, not {factor} and {steps}")
    return _told("exponential", _exponential, start, factor, steps)


def _exponential(start: float, factor: float, steps: int, count: Any) -> Any:
    return start * exp(math.log(factor) * (1.0 * count / steps))


def warmup(steps: int, then: Rate) -> Callable[[Any], Any]:
    """Returns a schedule that rises from 0 to the start of `then` over `steps` steps, and continues as `then`.

    Raises:
        ArgumentTypeError: `then` is neither a number nor a schedule.

    Example:
    >>> rate = xt.optim.warmup(10, xt.optim.cosine(1.0, 100))
    >>> float(rate(0)), float(rate(5)), float(rate(10))
    (0.0, 0.5, 1.0)
    """
    _check("warmup", steps=steps, then=then)
    return _told("warmup", _warmup, steps, then)


def _warmup(steps: int, then: Rate, count: Any) -> Any:
    after = _rate(then, maximum(count - steps, 0))
    return where(count < steps, _rate(then, 0 * count) * _part(count, steps), after)


# -- minima -----------------------------------------------------------------------------------------------------------


class Minimum(NamedTuple):
    """What `lbfgs` found: the parameters, the value, the gradient, the number of steps, and whether it converged.

    Example:
    >>> xt.optim.lbfgs(lambda x: ((x - 3.0) ** 2).sum(), xt.zeros(i=2)).converged.item()
    True
    """

    parameters: Any
    value: Any
    gradient: Any
    steps: Any
    converged: Any


class _Search(NamedTuple):
    """The state of lbfgs: the place, and the last moves and changes of the gradient, newest last."""

    x: Any
    value: Any
    gradient: Any
    moves: Any
    changes: Any
    steps: Any
    stuck: Any


def lbfgs(
    f: Callable[[Any], Any], parameters: Any, *, max_steps: int = 100, tolerance: float = 1e-6, memory: int = 10
) -> Minimum:
    """Returns a minimum of `f(parameters)`, a number, by L-BFGS (Nocedal, 1980) with a search for the Wolfe conditions.

    parameters: a pytree of float arrays where the search starts. The search ends if the largest absolute value of the
    gradient is at most `tolerance`, after `max_steps`, or if no step makes `f` smaller. memory: the number of steps
    that give the curvature. The minimum and the gradient have the labels of `parameters`, which `f` sees, too. The
    whole search is one compiled loop. To differentiate a minimum, see `xt.implicit`.

    Raises:
        ArgumentError: `max_steps` is negative, or `memory` is below 1.
        ArgumentTypeError: `parameters` hold no array.
        DimensionError: `f` returns an array with dims.

    Example:
    >>> found = xt.optim.lbfgs(lambda x: ((x - 3.0) ** 2).sum(), xt.zeros(i=2))
    >>> found.parameters.values.round(4)
    array([3., 3.])
    """
    if not callable(f):
        raise fail(
            ArgumentTypeError, "optim.lbfgs", f"a function comes first, not {in_words(f)}",
            instead="Write xt.optim.lbfgs(f, parameters)",
        )  # fmt: skip
    _check("lbfgs", tolerance=tolerance, memory=memory)
    if memory < 1:
        raise fail(ArgumentError, "optim.lbfgs", f"memory is 1 or more, not {memory}")
    if not tree.leaves(parameters):
        raise fail(ArgumentTypeError, "optim.lbfgs", f"parameters hold no array: {in_words(parameters)}")
    x, unravel = tree.ravel(parameters)
    if np.dtype(x.dtype).kind != "f":
        one = parameters if isinstance(parameters, int) else 0
        instead = f"Write {float(one)}" if x.size == 1 else 'Cast them: x.astype("f8")'
        raise fail(ArgumentTypeError, "optim.lbfgs", f"parameters are floats, not {x.dtype}", instead=instead)

    def unraveled(x: Any) -> Any:
        return tree.map(_labelled, unravel(x), parameters)

    def loss(x: Any) -> Any:
        return loss_of(call_with("optim.lbfgs", f, [unraveled(x)], roles=("parameters",)), f, "optim.lbfgs")

    at = value_and_grad(loss)

    def body(s: _Search) -> _Search:
        direction = -_times_inverse(s.gradient, s.moves, s.changes, memory)
        slope = dot(direction, s.gradient)
        downhill = slope < 0
        direction = where(downhill, direction, -s.gradient)
        slope = where(downhill, slope, -dot(s.gradient, s.gradient))
        value, gradient, move = _line(at, s, direction, slope)
        better = value < s.value
        change = gradient - s.gradient
        curved = better & (dot(move, change) > 1e-10 * dot(change, change))

        def kept(history: Any, new: Any) -> Any:
            last = isel(history, step=slice(1, None))
            return where(curved, concat([last, new.expand_dims("step")], "step"), history)

        return _Search(
            where(better, s.x + move, s.x), where(better, value, s.value), where(better, gradient, s.gradient),
            kept(s.moves, move), kept(s.changes, change), s.steps + 1, ~better,
        )  # fmt: skip

    def keep_on(s: _Search) -> Any:
        return (largest(abs(s.gradient)) > tolerance) & ~s.stuck

    value, gradient = at(x)
    none = x.expand_dims(step=memory) * 0.0
    start = _Search(x, value, gradient, none, none, array(0), array(False))
    found = while_loop(keep_on, body, start, max_steps=max_steps)
    done = largest(abs(found.gradient)) <= tolerance
    return Minimum(unraveled(found.x), found.value, unraveled(found.gradient), found.steps, _labelled(done, False))


def _times_inverse(gradient: Any, moves: Any, changes: Any, memory: int) -> Any:
    """The inverse of the curvature, as the last steps show it, times the gradient: the two loops of L-BFGS."""
    q, weights = gradient, []
    for i in reversed(range(memory)):
        s, y = isel(moves, step=i), isel(changes, step=i)
        product = dot(s, y)
        there = product > 0
        rho = where(there, 1.0 / where(there, product, 1.0), 0.0)
        weight = rho * dot(s, q)
        q = q - weight * y
        weights.append((s, y, rho, weight))
    s, y, _, _ = weights[0]
    size, squares = dot(s, y), dot(y, y)
    first = minimum(1.0, 1.0 / sqrt(maximum(dot(gradient, gradient), 1e-30)))
    q = q * where(squares > 0, size / where(squares > 0, squares, 1.0), first)
    for s, y, rho, weight in reversed(weights):
        q = q + s * (weight - rho * dot(y, q))
    return q


def _line(at: Callable[[Any], Any], s: _Search, direction: Any, slope: Any) -> tuple[Any, Any, Any]:
    """A step along the direction that makes the value and the slope smaller (Lewis and Overton, 2013): the value and
    the gradient there, and the step."""

    def tried(t: Any) -> Any:
        value, gradient = at(s.x + t * direction)
        falls = value <= s.value + 1e-4 * t * slope
        flatter = dot(gradient, direction) >= 0.9 * slope
        return value, gradient, falls, flatter

    def body(carry: Any) -> Any:
        low, high, t, _, _, falls, _ = carry
        low, high = where(falls, t, low), where(falls, high, t)
        t = where(high < math.inf, 0.5 * (low + high), 2.0 * t)
        value, gradient, falls, flatter = tried(t)
        return low, high, t, value, gradient, falls, flatter

    one = s.value * 0.0 + 1.0
    value, gradient, falls, flatter = tried(one)
    start = (0.0 * one, math.inf * one, one, value, gradient, falls, flatter)
    _, _, t, value, gradient, _, _ = while_loop(lambda c: ~(c[5] & c[6]), body, start, max_steps=40)
    return value, gradient, t * direction
