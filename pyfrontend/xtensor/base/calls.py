"""Errors for calls that do not fit a function's parameters.

They translate the parameter names of NumPy and JAX into what to write here.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .dims import brief, by_name, closest, describe, suggestion
from .errors import ArgumentTypeError, AttributeError_, Error, asked_by, users_frames, users_line_in
from .named import Named

P = ParamSpec("P")
R = TypeVar("R")


def misfit(name: str, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Error | None:
    """The error about arguments that `fn` has no parameters for, or that are not what its annotations say; None if
    they fit."""
    signature = inspect.signature(fn)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        wrong = ArgumentTypeError(f"xt.{name}: {error}. {_instead(name, signature, args, kwargs)}")
        wrong.asked = None  # the parameters are those of `fn`, whatever it was given to
        return wrong
    for parameter, value in bound.arguments.items():
        if signature.parameters[parameter].kind in _VARIADIC:
            continue
        wanted = _other_kind(str(signature.parameters[parameter].annotation), value)
        if wanted:
            return ArgumentTypeError(f"xt.{name}: {parameter} is {wanted}, not {in_words(value)}")
    return None


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.number, np.bool_)) or (hasattr(x, "dtype") and hasattr(x, "dims"))


def _is_int(x: Any) -> bool:
    """Sizes of a trace count, too: they are ints whose value is not known yet."""
    if hasattr(x, "tracer") or (hasattr(x, "dims") and hasattr(x, "dtype")):
        return True
    try:
        operator.index(x)
    except TypeError:
        return False
    return True


def is_flag(x: Any) -> bool:
    """Whether `x` says yes or no. A word such as "no" does not: it is true in Python."""
    return isinstance(x, (bool, np.bool_)) or (isinstance(x, int) and x in (0, 1))


def _are_names(x: Any) -> bool:
    return isinstance(x, (tuple, list)) and all(isinstance(d, str) for d in x)


# What annotations of parameters mean: in words, and whether a value is of the kind.
_NAMES = 'a tuple of names of dims, such as ("row", "col")'
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "None": ("None", lambda x: x is None),
    "bool": ("True or False", is_flag),
    "int": ("an int", _is_int),
    "float": ("a number", _is_number),
    "str": ("a string", lambda x: isinstance(x, str)),
    "Pair": (_NAMES, _are_names),
    "tuple[str, str]": (_NAMES, _are_names),
    "dict[str, int]": ("a dict from dims to ints", lambda x: isinstance(x, Mapping)),
    "Callable[..., Any]": ("a function", callable),
    "Callable[[Any], Any]": ("a function", callable),
}


def _other_kind(annotation: str, value: Any) -> str | None:
    """What an annotation asks for, if `value` is not that; None if it is, or if the annotation says nothing here."""
    kinds = [_KINDS.get(part.strip()) for part in annotation.split("|")]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds) or any(fits(value) for _, fits in known):
        return None
    return " or ".join(words for words, _ in known).replace("True or False or", "True, False or")


_FLAGS = ("bool", "bool | None")


class Flags:
    """The parameters of a function that are True or False, or None."""

    __slots__ = ("kinds", "places")

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.kinds = {k: str(kind) for k, kind in getattr(fn, "__annotations__", {}).items() if str(kind) in _FLAGS}
        self.kinds.pop("return", None)
        code = fn.__code__ if self.kinds else None
        positional = code.co_varnames[: code.co_argcount] if code else ()
        self.places = [(i, k) for i, k in enumerate(positional) if k in self.kinds]

    def check(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        for k, kind in self.kinds.items():
            if k in kwargs:
                self._check(name, k, kind, kwargs[k])
        for i, k in self.places:
            if i < len(args):
                self._check(name, k, self.kinds[k], args[i])

    @staticmethod
    def _check(name: str, parameter: str, kind: str, value: Any) -> None:
        if value is not True and value is not False and (wanted := _other_kind(kind, value)):
            raise ArgumentTypeError(f"xt.{name}: {parameter} is {wanted}, not {in_words(value)}")


def in_words(x: Any) -> str:
    """A value as errors show it: by its text where that is short and says what it is, else by its class."""
    if isinstance(x, str):
        return f"the string {shown(x)}"
    if x is None or isinstance(x, (bool, int, float, complex)):
        return shown(x)
    if isinstance(x, type):
        return shown(x)
    if inspect.isroutine(x):
        return f"the function {getattr(x, '__name__', '')}".rstrip()
    if hasattr(x, "dims") and hasattr(x, "dtype"):
        return f"an array, {shown(x)}"
    if isinstance(x, (tuple, list, dict)):
        text = _inside(x)
        return text if len(text) <= 60 else f"{with_article(type(x).__name__)} of {len(x)}"
    module = type(x).__module__
    own = module in ("builtins", "__main__") or module.startswith("xtensor")
    name = type(x).__qualname__ if own else f"{module}.{type(x).__qualname__}"
    return with_article(name)


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# What NumPy, SciPy, xarray, optax and PyTorch call a parameter -> what it is called here.
_RENAMED = {
    "num": "n", "lr": "rate", "learning_rate": "rate", "step_size": "rate", "beta1": "b1", "beta2": "b2",
    "epsilon": "eps", "maxiter": "max_steps", "max_iter": "max_steps", "maxsteps": "max_steps", "tol": "tolerance",
    "gtol": "tolerance", "tolerance_grad": "tolerance", "history_size": "memory", "memory_size": "memory",
    "maxcor": "memory", "max_norm": "limit", "max_grad_norm": "limit", "decay_steps": "steps", "total_steps": "steps",
    "T_max": "steps", "warmup_steps": "steps", "init_value": "peak", "eta_min": "final", "decay_rate": "factor",
    "interpolation": "method", "correction": "ddof", "fill_value": "value", "num_classes": "n",
    "x0": "parameters", "fun": "f",
}  # fmt: skip
GRAD = "write xt.grad(f)(x): xt.grad differentiates a function with respect to its arguments"
GRAD_SENTENCE = f"W{GRAD[1:]}"
# Parameters of xarray's methods and of PyTorch's functions -> what to write.
_OF_OTHERS = {
    "keep_attrs": "Write xr.set_options(keep_attrs=True), which xtensor reads, too",
    "requires_grad": GRAD_SENTENCE,
    "min_count": 'Write y.where(x.notnull().sum("time") >= 2) of the result y',
    "copy": "It is not needed: arrays do not change",
    "transpose_coords": "It is not needed: the coordinates keep their dims",
    "errors": "Names that are not there are an error: pass those that are, [c for c in names if c in x.coords]",
}


def _inside(x: Any) -> str:
    """A container on one line, with arrays by their dtypes and dims."""
    if type(x) is dict:
        return "{" + ", ".join(f"{k!r}: {_inside(v)}" for k, v in x.items()) + "}"
    if type(x) is list:
        return "[" + ", ".join(map(_inside, x)) + "]"
    if type(x) is tuple:
        return "(" + ", ".join(map(_inside, x)) + ("," if len(x) == 1 else "") + ")"
    return shown(x) if hasattr(x, "dims") and hasattr(x, "dtype") else " ".join(repr(x).split())


def _instead(name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    known = signature.parameters
    dims = next((x.dims for x in args if hasattr(x, "dims")), ())
    some = repr(dims[0]) if dims else '"time"'
    if "dim" in known and ("axis" in kwargs or "axes" in kwargs):
        return by_name(dims, kwargs.get("axis", kwargs.get("axes")))
    if "dim" in known and "dims" in kwargs:
        return f"Write dim={kwargs['dims']!r}"
    if "dims" in known and "dim" in kwargs and "dim" not in known:
        count = str(known["dims"].annotation).count("str")
        if count > 1:
            return f"Write dims=(..), a tuple of {count} names"
        return f"Write dims={kwargs['dim']!r}"
    if found := _by_position(name, known, args, kwargs):
        return found
    if (lacking := _lacking(signature, args, kwargs)) and (found := _for_missing(name, lacking, known, some)):
        return found
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
        return "It chooses: xt.where(condition, x, y). The positions where it holds are xt.nonzero(condition)"
    if name == "where" and len(args) == 2 and "y" in known:
        return "Write what stands elsewhere, xt.where(condition, x, 0.0); NaN stands there in x.where(condition)"
    if "carry" in known and "init" in kwargs:
        return "Write carry= for init="
    if name.startswith("linalg.triangular_solve") and {"upper", "trans"} & {*kwargs}:
        return 'Write lower=False for an upper triangle, dims=(col, row) for the transpose: dims=("col", "row")'
    if "wrt" in known and "argnums" in kwargs:
        return f"Write wrt={kwargs['argnums']!r}"
    if found := _of_this_function(name, known, args, kwargs):
        return found
    for word in kwargs:
        if word not in known and word in _OF_OTHERS:
            return _OF_OTHERS[word]
        if word not in known and (ours := _RENAMED.get(word)) in known:
            return f"Write {ours}= for {word}="
    names = tuple(x for x in args if isinstance(x, str))
    if "dim" in known and len(names) > 1:
        return f"Several dims go in one tuple: dim={names!r}"
    if name in ("zeros", "ones") and any(isinstance(x, int) for x in args):
        return f"Sizes have names: write xt.{name}(row=3, col=4)"
    if name.startswith("random.") and [*known][len(args) :][:1] == ["sizes"] and "dim" in known and "dim" not in kwargs:
        return f"Write xt.{name}({', '.join([*known][: len(args)])}, dim=..), of the name of a dim"
    if name.startswith("random.") and "sizes" in known and len(args) > 1 and not kwargs.keys() - known.keys():
        before = ", ".join([*known][: [*known].index("sizes")])
        return f"Sizes have names: write xt.{name}({before}, row=3, col=4)"
    for word in kwargs:
        if word not in known and (close := closest(word, [*known], 0.8)):
            return f"Write {close}= for {word}="
    shown = [str(p.replace(annotation=p.empty)) for p in known.values() if p.name != "self"]
    kinds = [p.kind for p in known.values() if p.name != "self"]
    if first := kinds.count(inspect.Parameter.POSITIONAL_ONLY):
        shown.insert(first, "/")
        kinds.insert(first, inspect.Parameter.POSITIONAL_ONLY)
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    return f"Its parameters are ({', '.join(shown)})"


def _lacking(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The first parameter that a call leaves out; None if it gives all that are needed, or what the function lacks."""
    try:
        bound = signature.bind_partial(*args, **kwargs)
    except TypeError:
        return None
    needed = (n for n, p in signature.parameters.items() if p.default is p.empty and p.kind not in _VARIADIC)
    return next((n for n in needed if n not in bound.arguments), None)


def _positional(known: Mapping[str, inspect.Parameter]) -> list[str]:
    """The parameters that a call gives by position alone."""
    return [n for n, p in known.items() if p.kind is p.POSITIONAL_ONLY]


def _by_position(
    name: str, known: Mapping[str, inspect.Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str | None:
    """What to write where a call gives by name what has no name for it."""
    names = _positional(known)
    given = {n if n in known else _RENAMED.get(n, n): value for n, value in kwargs.items()}
    wrong = [n for n in names if n in given]
    if not wrong:
        return None
    values = dict(zip(names, args, strict=False)) | given
    until = names.index(wrong[-1]) + 1
    texts = [shown(values[n]) if isinstance(values.get(n), (str, int, float)) else n for n in names[:until]]
    return f"Give {' and '.join(wrong)} by position: {_call(name, texts)}"


def _call(name: str, arguments: Sequence[str]) -> str:
    """A call of a function, or of a method, whose first parameter is `self`."""
    if arguments[:1] == ["self"]:
        return f"x.{name.rpartition('.')[2]}({', '.join(arguments[1:])})"
    return f"xt.{name}({', '.join(arguments)})"


def _for_missing(name: str, parameter: str, known: Mapping[str, inspect.Parameter], dim: str) -> str | None:
    """What to write for a parameter that a call leaves out; None: the list of parameters says it."""
    before = _positional(known)
    if parameter == "dim" and parameter in before:
        return f"Write {_call(name, [*before[: before.index(parameter)], dim])}"
    if parameter == "key" and name.startswith("random."):
        return f"Write key = xt.random.key(0), and xt.{name}(key, ..)"
    if parameter == "result" and name in ("callback", "from_jax"):
        return f"Write xt.{name}({'f, x' if name == 'callback' else 'f, args=x'}, result=x), of an array or xt.spec(..)"
    if parameter == "args" and name in ("from_jax", "to_jax", "to_torch"):
        more = ", result=xt.spec(time=3)" if name == "from_jax" else ""
        return f"Types are given by name: write xt.{name}(f, args=xt.spec(time=3){more})"
    if parameter == "dim" and name not in ("scan", "map") and not name.startswith("random."):
        return f"Write dim={dim}" if dim.startswith("'") else f"Write dim={dim}, of the name of a dim"
    return None


def _of_this_function(
    name: str, known: Mapping[str, inspect.Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str | None:
    """What to write where it depends on what is called; None if there is nothing to say."""
    if "out" in kwargs:
        return f"Arrays do not change: write x = xt.{name}(..)"
    if name == "array" and {"coords", "name", "attrs"} & {*kwargs}:
        return "Labels come with xt.as_array(dataarray), or by x.assign_coords(time=labels)"
    if "dtype" in kwargs:
        return 'Cast before or after: x.astype("f4")'
    if "skipna" in known and "where" in kwargs:
        return f"Write xt.{name}(x.where(mask), skipna=True)"
    if name == "astype" and "copy" in kwargs and asked_by() == "xarray":
        return "A DataArray reads the array that indexes it: write xt.as_array(x).isel(time=i) with the DataArray x"
    if name == "squeeze" and "drop" in kwargs:
        return 'Write x.squeeze("lev").drop_vars("lev")'
    if name == "Array.item":
        return "Take an element first: x.isel(time=0).item()"
    if name == "option" and len(args) > 1:
        return "Options are keywords: write xt.option(strict=True)"
    if name == "optim.adam" and "weight_decay" in kwargs:
        return "Write xt.optim.adamw(.., weight_decay=..)"
    if name.startswith("optim.") and "rate" in known and {"params", "parameters"} & {*kwargs}:
        return "Parameters go into the calls: state = optimizer.init(parameters), then optimizer.update(..)"
    if name == "linalg.cholesky" and {"upper", "lower"} & {*kwargs}:
        return 'The factor is lower. Write xt.conj(l).rename(row="col", col="row") for the upper one'
    if name.startswith("linalg.eigh") and {"UPLO", "lower"} & {*kwargs}:
        return "It takes (A + A^H) / 2 of the matrix A, so leave it out"
    if name == "linalg.norm" and {"axis", "dim"} & {*kwargs}:
        return 'Of vectors along a dim, write xt.norm(x, "time"); of matrices, dims=("row", "col")'
    if name in ("optim.adam", "optim.adamw") and "betas" in kwargs:
        return "Write b1= and b2="
    if "ddof" in known and "unbiased" in kwargs:
        return f"Write ddof={int(bool(kwargs['unbiased']))} for unbiased={kwargs['unbiased']}"
    if name in ("idxmax", "idxmin") and "fill_value" in kwargs:
        return "The labels of the result are those of the dim; x.to_xarray() has the method with fill_value="
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
    except AttributeError as error:
        if (wrong := _of_list(error, (*args, *kwargs.values()))) is None:
            raise
        raise wrong.with_traceback(error.__traceback__) from None
    except TypeError:
        wrong = _of_others(op, fn, args, kwargs, roles, what)
        if wrong is None:
            raise
    raise wrong


def check_takes(op: str, fn: Callable[..., Any], args: Sequence[Any]) -> None:
    """Raises the error of `call_with` for a function that is called later, where it takes other arguments."""
    wrong = _of_others(op, fn, args, {}, (), "")
    if wrong is not None:
        raise wrong


def _of_others(
    op: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    roles: Sequence[str],
    what: str,
) -> ArgumentTypeError | None:
    """The error about a function that takes other arguments; None if it takes them."""
    takes = _parameters_that_differ(fn, args, kwargs)
    if takes is None:
        return None
    name = getattr(fn, "__name__", type(fn).__name__)
    given = list(roles) if len(roles) == len(args) else [shown(x) for x in args]
    given += [f"{k}={shown(x)}" for k, x in kwargs.items()]
    gets = f"{len(given)} argument{'s' * (len(given) > 1)}, ({', '.join(given)})," if given else "no argument"
    return ArgumentTypeError(f"xt.{op}: {what or name} gets {gets} and takes {takes}{_unknown_keyword(fn, kwargs)}")


def _of_list(error: AttributeError, args: Sequence[Any]) -> Error | None:
    """The error about `x.sum()` where a list is passed as x, which is a list of arrays; None for any other."""
    x, name = error.obj, error.name
    if not isinstance(x, (list, tuple)) or not hasattr(Named, name or "") or not _is_inside(x, args):
        return None
    kind = with_article(type(x).__name__)
    if x and all(getattr(item, "dims", None) == () for item in x):
        instead = 'In place of a list of numbers, pass an array: xt.array([1.0, 2.0], dims="i")'
    else:
        instead = f'Write [y.{name}(..) for y in x], or make one array of them: xt.concat(x, "new")'
    return AttributeError_(
        f"{kind} has no attribute {name!r}: the argument is {kind} of {len(x)}, and each item is an array of its own. "
        f"{instead}", name or "", None, users_line_in(error.__traceback__),
    )  # fmt: skip


def _is_inside(x: Any, args: Iterable[Any]) -> bool:
    """Whether `x` is one of the arguments, or in one of them."""
    for y in args:
        if y is x or (isinstance(y, (list, tuple)) and _is_inside(x, y)):
            return True
        if isinstance(y, Mapping) and _is_inside(x, y.values()):
            return True
    return False


def _unknown_keyword(fn: Callable[..., Any], kwargs: Mapping[str, Any]) -> str:
    """That the function has no parameter of a name that it is given."""
    known = inspect.signature(fn).parameters
    if any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return ""
    for word in kwargs:
        if word not in known:
            return f". There is no parameter {word!r}{suggestion(word, known)}"
    return ""


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
    """ "a float", "an Array", "an ndarray", "an xarray.DataTree"."""
    return f"{'an' if name[:1] in 'aeioxAEIOX' or name.startswith('nd') else 'a'} {name}"


def shown(x: Any) -> str:
    """A value as errors show it: an array by its dtype and dims, a tuple by its length."""
    if isinstance(x, type):
        return brief(x)
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


def counted(n: int, noun: str, plural: str = "") -> str:
    """ "1 array", "2 arrays"."""
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def checked(fn: Callable[P, R], trim: bool = True, name: str | Callable[..., str] | None = None) -> Callable[P, R]:
    """`fn`, with an `Error` for calls that it has no parameters for, and its name and arrays in what it raises.
    `trim`: without our frames inside of it. `name`: what errors call it, by default what it is called; or a function
    that says so of the first argument."""

    def called(args: Sequence[Any]) -> str:
        return name(*args[:1]) if callable(name) else name or fn.__name__

    flags = Flags(fn)

    @functools.wraps(fn)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if flags.kinds:
                flags.check(called(args), args, kwargs)
            return fn(*args, **kwargs)
        except Error as error:
            error.of(called(args), (*args, *kwargs.values()))
            if trim:
                error.with_traceback(users_frames(error.__traceback__))
            raise error from None
        except (TypeError, ValueError, AttributeError):
            wrong = misfit(called(args), fn, args, kwargs)
            if wrong is None:
                raise
        raise wrong

    call.is_checked = True  # type: ignore[attr-defined]
    return call


def check_made(cls: Any, name: str) -> None:
    """Makes calls of `cls` `checked`; errors call it `name`."""
    cls.__init__ = checked(cls.__init__, name=name)


def check_methods(cls: type, name: str | Callable[[Any], str]) -> None:
    """Makes the public methods of `cls` `checked`; errors call them `name`.method. `name` may be a function that says
    so of an instance."""
    for method in dir(cls):
        fn = getattr(cls, method)
        if inspect.isfunction(fn) and not method.startswith("_") and not hasattr(fn, "is_checked"):
            setattr(cls, method, checked(fn, name=_name_of(name, method) if callable(name) else f"{name}.{method}"))


def _name_of(name: Callable[[Any], str], method: str) -> Callable[..., str]:
    return lambda instance: f"{name(instance)}.{method}"
