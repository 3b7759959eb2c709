"""Keys of random numbers: `key`, `split`, `fold_in`. A key is a value; nothing is hidden and nothing changes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from ..base.calls import check_methods, shown
from ..base.dims import brief, describe
from ..base.errors import ArgumentError, ArgumentTypeError, DimensionError, DTypeError, Error
from ..base.refusals import NoArithmetic
from ..call.arrays import as_array
from ..call.dispatch import op, plain, tracing
from ..ops import promotion as p
from ..ops.arguments import extend, fail, integer
from ..ops.creation import sizes_of, traced_sizes
from ..ops.indexing import isel, read
from ..ops.shape import rename, transpose
from ..ops.types import Array, ArrayLike
from ..trace import build
from ..trace.lift import as_tracer
from ..trace.tracer import Tracer
from ..values.array import from_values
from . import threefry as t

P = ParamSpec("P")
R = TypeVar("R")


# Parameters of other libraries' distributions, which would silently be dims.
_FOREIGN = {"loc", "scale", "size", "shape"}


def public(fn: Callable[P, R]) -> Callable[P, R]:
    """A function of xt.random. Keywords of most are dims, so parameters are positional."""
    code = fn.__code__
    positional = [*code.co_varnames[: code.co_posonlyargcount]]
    if "sizes" not in positional:
        return plain(fn, f"random.{fn.__name__}")
    reserved = _FOREIGN | {*positional}
    last = positional.index("sizes")

    @functools.wraps(fn)
    def without_parameters(*args: P.args, **kwargs: P.kwargs) -> R:
        if not reserved.isdisjoint(kwargs):
            _refuse_parameters(fn.__name__, positional, len(args), kwargs)
        for i, x in enumerate(args):
            if type(x) is tuple or (i >= last and x is not None and not isinstance(x, Mapping)):
                raise _unnamed_sizes(fn.__name__, positional, args[i:] if i == last else x)
        return fn(*args, **kwargs)

    return plain(without_parameters, f"random.{fn.__name__}")


def _unnamed_sizes(name: str, positional: list[str], given: Any) -> Error:
    """The error about sizes without names: a shape, or several numbers."""
    if type(given) is tuple and given and all(isinstance(k, Key) for k in given):
        return fail(
            ArgumentTypeError, f"random.{name}", f"takes one key, not a tuple of {len(given)}",
            instead="Write key, part = xt.random.split(key); keys = xt.random.split(key, sample=2) is an array of keys",
        )  # fmt: skip
    one = given[0] if type(given) is tuple and len(given) == 1 else given
    shown = one if isinstance(one, str) else brief(one)
    return fail(
        ArgumentTypeError, f"random.{name}", f"sizes have names, and {shown} has none",
        instead=f"Write xt.random.{name}({', '.join(positional[:-1])}, row=3, col=4)",
    )  # fmt: skip


def _refuse_parameters(name: str, positional: list[str], given: int, kwargs: Mapping[str, Any]) -> None:
    takes = ", ".join(positional[:-1] if positional[-1:] == ["sizes"] else positional)
    for keyword, value in kwargs.items():
        if keyword in positional[given:]:
            raise fail(
                ArgumentTypeError, f"random.{name}", f"takes {keyword!r} by position, because keywords are dims",
                instead=f"Write xt.random.{name}({takes}, time=3)",
            )  # fmt: skip
        if keyword in ("size", "shape") and isinstance(value, (tuple, list)):
            raise _unnamed_sizes(name, positional, f"{keyword}={value}")
        if keyword in {"size", "shape"} - {*positional}:
            raise fail(
                ArgumentTypeError, f"random.{name}", f"{keyword}={shown(value)} would be a dim: keywords are dims",
                instead=f"Write the size by the name of its dim, as in xt.random.{name}({takes}, sample=3); "
                f'a dim called {keyword!r} is written {{"{keyword}": 3}}',
            )  # fmt: skip
        if keyword in _FOREIGN - {*positional}:
            raise fail(
                ArgumentTypeError, f"random.{name}", f"{keyword}={shown(value)} would be a dim: keywords are dims",
                instead=f'A dim of this name is written {{"{keyword}": 3}}; parameters are ({takes}), by position',
            )  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Key(NoArithmetic):
    """A key of random numbers, or an array of keys over named dims.

    `key`, `split` and `fold_in` make keys. A key is a pytree: functions take and return it, `vectorize`, `scan` and
    `map` go over an array of keys. It has no arithmetic. `words` holds its 64 bits, a uint64 for each key.

    Example:
    >>> keys = xt.random.split(xt.random.key(0), sample=3)
    >>> isinstance(keys, xt.random.Key), xt.random.normal(keys, time=2).sizes
    (True, {'sample': 3, 'time': 2})
    """

    words: Any

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dims of an array of keys; a single key has none."""
        return tuple(self.words.dims)

    @property
    def sizes(self) -> dict[str, Any]:
        """The size of each dim."""
        return dict(self.words.sizes)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes in the order of `dims`."""
        return tuple(self.words.shape)

    def isel(self, indexers: Mapping[str, Any] | None = None, /, **keywords: Any) -> Key:
        """Returns the keys at positions along dims, as x.isel of an array."""
        return Key(isel(self.words, indexers, **keywords))

    def rename(self, names: Mapping[str, str] | None = None, /, **keywords: str) -> Key:
        """Returns the same keys with new names for some dims."""
        return Key(rename(self.words, names, **keywords))

    def transpose(self, *dims: Any) -> Key:
        """Returns the same keys with their dims in another order."""
        return Key(transpose(self.words, *dims))

    def to(self, device: str) -> Key:
        """Returns the same keys on a device."""
        return Key(self.words.to(device))

    def __getitem__(self, index: Any) -> Key:
        return Key(self.words[index])

    def __len__(self) -> int:
        if not self.dims:
            raise ArgumentTypeError(
                "a single key has no length. xt.random.split(key, 2) and split(key, sample=2) make several"
            )
        return len(self.words)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Key]:
        if not self.dims:
            raise ArgumentTypeError("a single key is not several keys. Write a, b = xt.random.split(key, 2)")
        return (Key(w) for w in self.words)

    def _refuse(self) -> NoReturn:
        raise ArgumentTypeError(
            "a key is not a number, and has no arithmetic. Write xt.random.fold_in(key, i) for the key of number i, "
            "or xt.random.normal(key, time=3) to draw numbers"
        )

    __xor__ = __rxor__ = NoArithmetic._operator

    def __repr__(self) -> str:
        if not hasattr(self.words, "dims"):
            return f"Key({self.words!r})"  # a part of the text of a pytree
        if isinstance(self.words, Tracer):
            return f"<traced key {describe(self.dims, self.words.spec.shape)}>"
        if self.dims:
            return f"<xtensor.random.Key {describe(self.dims, self.shape)}>"
        return f"<xtensor.random.Key {int(self.words.values):#018x}>"


def words_of(name: str, key: Any) -> Any:
    """The words of a key that a user gives to `name`, of xt.random unless it has a dot."""
    name = name if "." in name else f"random.{name}"
    if isinstance(key, Key):
        found = getattr(key.words, "dtype", type(key.words).__name__)
        if found != t.U8:
            raise fail(
                DTypeError, name, f"the words of a key are uint64, not {found}",
                instead="Write key = xt.random.key(seed)",
            )  # fmt: skip
        return key.words
    raise fail(
        ArgumentTypeError, name, f"the first argument is a key, not {brief(key)}",
        instead="Write key = xt.random.key(0), and key, part = xt.random.split(key) for more",
    )  # fmt: skip


@public
def key(seed: ArrayLike, /) -> Key:
    """Returns a key made from a seed, an int of 64 bits; from an integer array, an array of keys with its dims.

    Equal seeds give equal keys.

    Raises:
        DTypeError: an array of seeds does not hold integers.
        ArgumentTypeError: `seed` is not an integer.

    Example:
    >>> xt.random.uniform(xt.random.key(0), time=3)
    <xtensor.Array (time: 3) float64>
    [0.41845711 0.21629546 0.96532146]
    """
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, (bool, np.bool_)):
        number = int(seed)
        if not -(2**63) <= number < 2**64:
            raise fail(ArgumentError, "random.key", "the seed is an int of 64 bits", instead="Write seed % 2**64")
        bits = np.asarray(number % 2**64, t.U8)
        if not tracing():
            return Key(from_values(bits))
        return Key(build.constant(bits))
    if isinstance(seed, Key):
        raise fail(
            ArgumentTypeError, "random.key", "it is a key already", instead="Write xt.random.split(key) for new keys"
        )
    return Key(_seeded(seed))


@op(name="random.key", decide=())
def _seeded(seed: ArrayLike, /) -> Array:
    return build.cast(_whole("key", as_tracer(seed), "a seed"), t.U8)


def _whole(name: str, x: Tracer, what: str) -> Tracer:
    if not p.is_integer(x.dtype):
        raise fail(
            DTypeError, f"random.{name}", f"{what} is an integer, not {x.dtype}", x,
            instead='Write 0, or x.astype("i8")',
        )  # fmt: skip
    return x


@public
def split(key: Key, n: int | Mapping[str, int] | None = None, /, **sizes: int) -> Any:
    """Returns new keys: split(key, n) a tuple of n, by default 2; split(key, sample=10) an array of keys along sample.

    The new keys are independent of each other, of numbers drawn with `key`, and of `fold_in`. Do not use a key after
    it was split: split(key, 2) and split(key, 3) begin with the same keys. An array of keys goes to `vectorize`, `scan`
    or `map`, or to a function that draws, which then draws with each of them.

    Raises:
        ArgumentTypeError: `key` is not a key.

    Example:
    >>> first, second = xt.random.split(xt.random.key(0))
    >>> xt.random.split(first, sample=3).dims
    ('sample',)
    """
    words = words_of("split", key)
    if isinstance(n, Mapping) or sizes:
        found = sizes_of("random.split", n, sizes)  # type: ignore[arg-type]
        return Key(_split(words, found))
    advice = "Of an array of keys, write xt.random.split(key, row=2, col=3)" if isinstance(n, tuple) else ""
    count = 2 if n is None else integer("random.split", n, "the number of keys", least=0, instead=advice)
    if not count:
        return ()
    every = _split(words, {"key~": count})
    return tuple(Key(read("random.split", every, {"key~": i})) for i in range(count))


@op(name="random.split", decide=(), sizes=("sizes",))
def _split(words: ArrayLike, sizes: dict[str, Any], /) -> Array:
    w = as_tracer(words)
    new = traced_sizes(sizes)
    for d in new:
        if d in w.dims:
            raise has_dim("split", d, w)
    order = (*w.dims, *new)
    at = t.position(new)
    found = t.joined(t.threefry(t.stream_of(w), t.add(at.high, t.word(t.SPLIT)), at.low))
    return extend(found, new, order)


def has_dim(name: str, dim: str, words: Tracer) -> Error:
    """The error about a size for a dim that the keys have."""
    return fail(
        DimensionError, f"random.{name}", f"the keys have the dim {dim!r}: each of them draws its own numbers", words,
        instead=f"Leave {dim}= out, or rename it: key.rename({dim}=...)",
    )  # fmt: skip


@public
def fold_in(key: Key, data: ArrayLike, /) -> Key:
    """Returns a key made from `key` and an integer, such as a step number; from an integer array, an array of keys.

    Different integers give independent keys. They lie between `-2**61` and `2**61`: others are taken modulo `2**62`.

    Raises:
        DTypeError: `data` does not hold integers.
        ArgumentTypeError: `key` is not a key.

    Example:
    >>> xt.random.normal(xt.random.fold_in(xt.random.key(0), 7), time=2)
    <xtensor.Array (time: 2) float64>
    [0.60112886 0.35920782]
    """
    return Key(_fold_in(words_of("fold_in", key), as_array(data) if isinstance(data, np.integer) else data))


@op(name="random.fold_in", decide=(), joins=True)
def _fold_in(words: ArrayLike, data: ArrayLike, /) -> Array:
    w, x = as_tracer(words), _whole("fold_in", as_tracer(data), "data")
    x = build.cast(x, t.U8)
    high = build.binary("and", build.cast(t.shift_right(x, 32), t.U4), t.word(~(t.SPLIT | t.FOLD) % 2**32))
    high = build.binary("or", high, t.word(t.FOLD))
    found = t.joined(t.threefry(t.stream_of(w), high, build.cast(x, t.U4)))
    sizes = {d: n for y in (w, x) for d, n in traced_sizes(y.sizes).items()}
    return extend(found, sizes, tuple(sizes))


check_methods(Key, "random.Key")
