"""Random bits from keys and counters: Threefry-2x32 with 20 rounds, and the positions that are its counters.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A key is two words of 32
bits. A counter is two words, too. The low one and most of the high one are the position of an element in the dims
sorted by name: neither the stored order of dims nor the device changes a number. The highest bits say what the words
are for, so keys made from a key have nothing in common with numbers drawn with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..ops import promotion as p
from ..trace import build
from ..trace.tracer import Tracer

U4, U8 = np.dtype("u4"), np.dtype("u8")

ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = 0x1BD11BDA
ROUNDS = 20

# The two highest bits of a counter.
SPLIT, FOLD, STREAM = 0x80000000, 0x40000000, 0xC0000000
# The next six: the number of the draw, where an element needs more than two words.
DRAW = 24


class Stream(NamedTuple):
    """The two words of a key, the high one first, or of an array of keys."""

    high: Tracer
    low: Tracer

    @property
    def dims(self) -> tuple[str, ...]:
        return self.high.dims


def word(value: int) -> Tracer:
    return p.constant(value, U4)


def add(x: Tracer, y: Tracer) -> Tracer:
    return build.binary("add", x, y)


def xor(x: Tracer, y: Tracer) -> Tracer:
    return build.binary("xor", x, y)


def shift_right(x: Tracer, count: int) -> Tracer:
    return build.binary("shr", x, p.constant(count, x.dtype))


def shift_left(x: Tracer, count: int) -> Tracer:
    return build.binary("shl", x, p.constant(count, x.dtype))


def threefry(key: Stream, high: Tracer, low: Tracer) -> Stream:
    """The counter (high, low) enciphered with the key: the union of the dims."""
    keys = (key.high, key.low, xor(xor(key.high, key.low), word(PARITY)))
    x, y = add(high, keys[0]), add(low, keys[1])
    for i in range(ROUNDS):
        x = add(x, y)
        count = ROTATIONS[i % 8]
        y = xor(build.binary("or", shift_left(y, count), shift_right(y, 32 - count)), x)
        if i % 4 == 3:
            n = i // 4 + 1
            x, y = add(x, keys[n % 3]), add(y, add(keys[(n + 1) % 3], word(n)))
    return Stream(x, y)


def stream_of(words: Tracer) -> Stream:
    """The halves of keys as users hold them, one uint64 each."""
    return Stream(build.cast(shift_right(words, 32), U4), build.cast(words, U4))


def joined(x: Stream) -> Tracer:
    """The two words as one uint64."""
    return build.binary("or", shift_left(build.cast(x.high, U8), 32), build.cast(x.low, U8))


def substream(key: Stream, number: int, count: Tracer | None = None) -> Stream:
    """The key of a part of a draw: of `number`, or of step `count` (uint32) of a loop."""
    return threefry(key, word(STREAM | number), word(0) if count is None else count)


def position(sizes: Mapping[str, Any]) -> Stream:
    """The position of each element in the dims sorted by name, the last one fastest, as two words. A size is an int or
    a traced one."""
    total = 1
    for n in sizes.values():
        total = total * n if isinstance(n, int) and total <= 2**32 else 2**33
    kind = U4 if total <= 2**32 else U8
    found, stride = p.constant(0, kind), p.constant(1, kind)
    dims = sorted(sizes, reverse=True)
    for i, d in enumerate(dims):
        n = sizes[d]
        place = build.cast(build.iota(d, n), kind) if isinstance(n, Tracer) else build.iota(d, n, kind)
        if i:  # the stride behind the last dim is not needed: it may be 2**32, which does not fit
            inner = sizes[dims[i - 1]]
            size = p.constant(inner, kind) if isinstance(inner, int) else build.cast(inner, kind)
            stride = build.binary("mul", stride, size)
            place = build.binary("add", found, build.binary("mul", place, stride))
        found = place
    if kind == U4:
        return Stream(word(0), found)
    return Stream(build.cast(shift_right(found, 32), U4), build.cast(found, U4))


def words(key: Stream, sizes: Mapping[str, Any], number: int = 0) -> Stream:
    """Two words for each element of an array with `sizes`, from each of the keys: draw `number` of them."""
    at = position(sizes)
    return threefry(key, add(at.high, word(number << DRAW)) if number else at.high, at.low)


# -- numbers from words -----------------------------------------------------------------------------------------------


class Draw(NamedTuple):
    """Random bits for one number of each element: one word, or two for float64."""

    first: Tracer
    second: Tracer | None


DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24}


def draws(key: Stream, sizes: Mapping[str, Any], count: int, dtype: np.dtype) -> list[Draw]:
    """Bits for `count` numbers of a float dtype for each element."""
    if dtype == p.F8:
        return [Draw(*words(key, sizes, i)) for i in range(count)]
    pairs = [words(key, sizes, i) for i in range((count + 1) // 2)]
    return [Draw(w, None) for pair in pairs for w in pair][:count]


def _scaled(x: Tracer, exponent: int) -> Tracer:
    return build.binary("mul", x, p.constant(2.0**exponent, x.dtype))


def _plus(x: Tracer, value: float) -> Tracer:
    return build.binary("add", x, p.constant(value, x.dtype))


def unit(draw: Draw, dtype: np.dtype) -> Tracer:
    """Multiples of the dtype's spacing below 1, from 0 on, each with the same probability."""
    if draw.second is None:
        digits = DIGITS[dtype.name]
        x = build.cast(shift_right(draw.first, 32 - digits), p.accumulator(dtype))
        return p.cast(_scaled(x, -digits), dtype)
    high, low = build.cast(shift_right(draw.first, 5), p.F8), build.cast(shift_right(draw.second, 6), p.F8)
    return _scaled(build.binary("add", _scaled(high, 26), low), -53)


def positive(draw: Draw, dtype: np.dtype) -> Tracer:
    """Above 0, 1 included: all bits are used, so that numbers near 0 have all their digits."""
    if draw.second is None:
        return _scaled(_plus(build.cast(draw.first, dtype), 0.5), -32)
    whole = build.binary("add", _scaled(build.cast(draw.first, dtype), 32), build.cast(draw.second, dtype))
    return _scaled(_plus(whole, 0.5), -64)


def tail(draw: Draw, dtype: np.dtype) -> tuple[Tracer, Tracer]:
    """A probability above 0, 1/2 included, and whether it is that of the lower tail: for distributions that are
    symmetric, whose far tails then have all their digits."""
    half = positive(Draw(shift_right(draw.first, 1), draw.second), dtype)
    lower = build.compare("ne", build.binary("and", draw.first, word(1)), word(0))
    return half, lower
