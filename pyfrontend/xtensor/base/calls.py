"""Errors for calls that do not fit a function's parameters.

They translate the parameter names of NumPy and JAX into what to write here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from .dims import closest, describe
from .errors import ArgumentTypeError, Error

P = ParamSpec("P")
R = TypeVar("R")


def misfit(name: str, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Error | None:
    """The error about arguments that `fn` has no parameters for; None if it has."""
    signature = inspect.signature(fn)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return ArgumentTypeError(f"xt.{name}: {error}. {_instead(name, signature, args, kwargs)}")
    return None


def _instead(name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    known = signature.parameters
    dims = next((x.dims for x in args if hasattr(x, "dims")), ())
    some = repr(dims[0]) if dims else '"time"'
    if "dim" in known and ("axis" in kwargs or "axes" in kwargs):
        return _by_name(dims, kwargs.get("axis", kwargs.get("axes")), some)
    if "dim" in known and "dims" in kwargs:
        return f"Write dim={kwargs['dims']!r}"
    if "dims" in known and "dim" in kwargs and "dim" not in known:
        count = str(known["dims"].annotation).count("str")
        if count > 1:
            return f"Write dims=(..), a tuple of {count} names"
        return f"Write dims={kwargs['dim']!r}"
    if "keepdims" in kwargs or "keepdim" in kwargs:
        return 'It is not needed: results go together by name, as in x - x.mean("time")'
    if name.startswith(("rolling.", "coarsen.")) and "dim" not in known and ("dim" in kwargs or len(args) > 1):
        return f"Its dims are given before: x.{name.partition('.')[0]}(time=3){name[7:]}()"
    if name.startswith("rolling.") and "skipna" in kwargs:
        return (
            f"A window leaves NaN out where min_periods= elements are left: rolling(time=3, min_periods=1){name[7:]}()"
        )
    if name == "where" and "drop" in kwargs:
        return "Sizes do not depend on values: x.isel(time=mask) drops, outside of a traced function"
    if name == "where" and len(args) == 1:
        return "It chooses: xt.where(condition, x, y). Positions are NumPy's: np.nonzero(condition.values)"
    if "carry" in known and "init" in kwargs:
        return "Write carry= for init="
    if name.startswith("linalg.triangular_solve") and {"upper", "trans"} & {*kwargs}:
        return 'Write lower=False for an upper triangle, dims=(col, row) for the transpose: dims=("col", "row")'
    if "wrt" in known and "argnums" in kwargs:
        return f"Write wrt={kwargs['argnums']!r}"
    if found := _of_this_function(name, known, args, kwargs):
        return found
    names = tuple(x for x in args if isinstance(x, str))
    if "dim" in known and len(names) > 1:
        return f"Several dims go in one tuple: dim={names!r}"
    if name in ("zeros", "ones") and any(isinstance(x, int) for x in args):
        return f"Sizes have names: write xt.{name}(row=3, col=4)"
    for word in kwargs:
        if word not in known and (close := closest(word, [*known], 0.8)):
            return f"Write {close}= for {word}="
    shown = ", ".join(str(p.replace(annotation=p.empty)) for p in known.values() if p.name != "self")
    return f"Its parameters are ({shown})"


def _of_this_function(
    name: str, known: Mapping[str, inspect.Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str | None:
    """What to write where it depends on what is called; None if there is nothing to say."""
    if "out" in kwargs:
        return f"Arrays do not change: write x = xt.{name}(..)"
    if "dtype" in kwargs:
        return 'Cast before or after: x.astype("f4")'
    if "skipna" in known and "where" in kwargs:
        return f"Write xt.{name}(x.where(mask), skipna=True)"
    if name == "concat" and len(args) > 1:
        return 'The arrays are one list: xt.concat([x, y], dim="time")'
    if name == "where" and len(args) == 4:  # a method's
        return "Write xt.where(condition, x, y), or x.where(condition, other)"
    if name == "clip" and {"a_min", "a_max", "lo", "hi", "lower", "upper"} & {*kwargs}:
        return "Write min= and max="
    if name == "interp" and "xp" in known and kwargs:
        return "By label, write the method: x.interp(lat=[12.5, 17.5])"
    if name == "rename" and len(names := [x for x in args if isinstance(x, str)]) == 2:
        return f'Write x.rename({names[0]}="{names[1]}")'
    if name in ("roll", "shift", "pad", "tile") and any(isinstance(x, int) for x in args):
        return f"Amounts are given by dim: xt.{name}(x, time=1)"
    if name == "scan" and "dim" not in kwargs:
        return 'Write dim="time": the dim of xs that it goes along, which the ys get'
    if name == "vectorize" and len(args) == 1:
        return 'Instances differ in a dim, which is named: xt.vectorize(f, "batch")'
    if [*known] == ["x", "y"] and len(args) > 2:
        return f"It takes two: xt.{name}(xt.{name}(x, y), z)"
    return None


def _by_name(dims: Sequence[str], axis: Any, some: str) -> str:
    """What to write for axis=, of an array with these dims."""
    if axis is None:
        return "Dims have names, not numbers: leave axis= out, which means all of them"
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(isinstance(i, int) and -len(dims) <= i < len(dims) for i in axes):
        return f"Dims have names, not numbers: write dim={some}"
    names = tuple(dims[i] for i in axes)
    return f"Dims have names, not numbers: write dim={names if isinstance(axis, (tuple, list)) else names[0]!r}"


def call_with(
    op: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    roles: Sequence[str] = (),
    what: str = "",
) -> Any:
    """`fn(*args, **kwargs)`, a function that a user handed to `op`, with an `Error` where it takes other arguments.
    `roles`: what the arguments are, as in ("carry", "x"); `what`: what `op` calls the function."""
    kwargs = kwargs or {}
    try:
        return fn(*args, **kwargs)
    except Error:
        raise
    except TypeError:
        takes = _parameters_that_differ(fn, args, kwargs)
        if takes is None:
            raise
    name = getattr(fn, "__name__", type(fn).__name__)
    given = list(roles) if len(roles) == len(args) else [shown(x) for x in args]
    given += [f"{k}={shown(x)}" for k, x in kwargs.items()]
    gets = f"{len(given)} argument{'s' * (len(given) > 1)}, ({', '.join(given)})," if given else "no argument"
    raise ArgumentTypeError(f"xt.{op}: {what or name} gets {gets} and takes {takes}")


def _parameters_that_differ(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The parameters of `fn`; None if the arguments are for them."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        shown = ", ".join(str(p.replace(annotation=p.empty)) for p in signature.parameters.values())
        return f"({shown})" if shown else "none"
    return None


def with_article(name: str) -> str:
    """ "a float", "an Array", "an ndarray"."""
    return f"{'an' if name[:1] in 'aeioAEIO' or name.startswith('nd') else 'a'} {name}"


def shown(x: Any) -> str:
    """A value as errors show it: an array by its dtype and dims, a tuple by its length."""
    if hasattr(x, "dims") and hasattr(x, "dtype"):
        return f"{x.dtype} {describe(x.dims, x.shape)}"
    if isinstance(x, (tuple, list)):
        return f"{with_article(type(x).__name__)} of {len(x)}"
    if isinstance(x, int) and not isinstance(x, bool):
        return f"{int_text(x):.40}"
    return f"{x!r:.40}" if x is None or isinstance(x, (bool, float, complex, str)) else type(x).__name__


def int_text(x: int) -> str:
    """An int as errors show it. Python itself writes none of some thousand digits."""
    return str(x) if x.bit_length() <= 1024 else f"of {x.bit_length()} bits"


def checked(fn: Callable[P, R], trim: bool = True, name: str | None = None) -> Callable[P, R]:
    """`fn`, with an `Error` for calls that it has no parameters for, and its name and arrays in what it raises.
    `trim`: without the frames inside of it. `name`: what errors call it, by default what it is called."""
    shown = name or fn.__name__

    @functools.wraps(fn)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except Error as error:
            error.of(shown, (*args, *kwargs.values()))
            if trim:
                error.with_traceback(None)
            raise error from None
        except TypeError:
            wrong = misfit(shown, fn, args, kwargs)
            if wrong is None:
                raise
        raise wrong

    return call


def check_methods(cls: type, name: str) -> None:
    """Makes the public methods of `cls` `checked`; errors call them `name`.method."""
    for method in dir(cls):
        fn = getattr(cls, method)
        if inspect.isfunction(fn) and not method.startswith("_"):
            setattr(cls, method, checked(fn, name=f"{name}.{method}"))
