"""checkpoint: a function whose reverse derivative stores its arguments and recomputes the rest."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from ..base.calls import call_with, in_words
from ..base.errors import ArgumentTypeError, Error, users_frames
from ..call.dispatch import plain
from ..ir import context as c
from ..trace.control import name_of
from ..trace.program import result_leaves
from ..trace.regions import Regions, discarding
from ..trace.scope import tracing
from ..trace.tracer import Tracer, spec
from .pickling import Pickled

P = ParamSpec("P")
R = TypeVar("R")


@plain
def checkpoint(f: Callable[P, R]) -> Callable[P, R]:
    """Returns `f` so that a gradient stores only its arguments, and recomputes the rest in the backward pass.

    Values and derivatives are those of `f`; only memory and time differ. It works as a decorator. Arguments and
    results are pytrees; Python values stay Python values. In the body of a scan over blocks of steps, memory grows
    with the square root of the number of steps. Source: Chen et al., "Training deep nets with sublinear memory cost"
    (2016).

    Raises:
        ArgumentTypeError: `f` is not a function.

    Example:
    >>> f = xt.checkpoint(lambda x: xt.sum(xt.sin(xt.sin(x))))
    >>> xt.grad(f)(xt.zeros(i=2))
    <xtensor.Array (i: 2) float64>
    [1. 1.]
    """
    if not callable(f):
        raise ArgumentTypeError(f"xt.checkpoint needs a function, got {in_words(f)}")

    return _Checkpointed(f)


class _Checkpointed(Pickled, Generic[P, R]):
    """What `checkpoint` gives."""

    __name__: str
    __qualname__: str

    def __init__(self, f: Callable[P, R]) -> None:
        functools.update_wrapper(self, f)
        if not hasattr(self, "__name__"):
            self.__name__ = name_of(f)
        self._fn = f

    def __repr__(self) -> str:
        return f"<checkpoint of {self.__name__}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _made(self) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
        return self._fn, checkpoint, ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        f = self._fn
        if not tracing():
            try:
                found: R = call_with("checkpoint", f, args, kwargs)  # nothing is kept for a derivative here
            except Error as error:
                raise error.with_traceback(users_frames(error.__traceback__)) from None
            return found
        return self._traced(args, kwargs)

    @discarding
    def _traced(self, args: Any, kwargs: Any) -> R:
        regions = Regions(1, always=True)
        leaves, structure = regions.trace(
            0, (), lambda _: result_leaves(call_with("checkpoint", self._fn, args, kwargs), name_of(self._fn))
        )
        specs = [spec(x) for x in leaves]
        values = regions.finish("checkpoint", [c.array_type(s) for s in specs], (), {}, [leaves])
        results: R = structure.unflatten([Tracer(v, weak=s.weak, spec=s) for v, s in zip(values, specs, strict=True)])
        return results
