"""Random numbers in random programs: bits, uniform and normal numbers, integers and orders of Threefry-2x32, whose
cipher is written here a second time (Salmon et al., 2011). They are equal on every path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import named
import numpy as np
import scipy.special
from maker import Maker, makes
from named import INTS, Named
from operations import op

_SPLIT, _FOLD = 0x80000000, 0x40000000
_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
KINDS = {
    "bits": ("uint32", "u4"), "bits64": ("uint64", "u8"), "uniform32": ("float32", "f4"),
    "uniform": ("float64", "f8"), "normal32": ("float32", "f4"), "normal": ("float64", "f8"),
    "randint": ("int64", "i8"), "bernoulli": ("bool", "?"), "split": ("uint64", "u8"),
}  # fmt: skip


def _cipher(key: np.ndarray, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both words of the counter (high, low), enciphered with 64-bit keys."""
    word = np.uint64(0xFFFFFFFF)
    first, second = key >> np.uint64(32), key & word
    keys = (first, second, first ^ second ^ np.uint64(0x1BD11BDA))
    x, y = (high + keys[0]) & word, (low + keys[1]) & word
    for i in range(20):
        x, by = (x + y) & word, np.uint64(_ROTATIONS[i % 8])
        y = (((y << by) | (y >> (np.uint64(32) - by))) & word) ^ x
        if i % 4 == 3:
            n = i // 4 + 1
            x, y = (x + keys[n % 3]) & word, (y + keys[(n + 1) % 3] + np.uint64(n)) & word
    return x, y


def _positions(sizes: Mapping[str, int]) -> np.ndarray:
    """The number of each element in the dims sorted by name, with the axes in the order of `sizes`."""
    names = sorted(sizes)
    number = np.arange(int(np.prod([sizes[d] for d in names], dtype="int64")), dtype="uint64")
    return number.reshape([sizes[d] for d in names]).transpose([names.index(d) for d in sizes])


def _keys(seed: int, of: Named | None, folds: bool) -> tuple[np.ndarray, tuple[str, ...]]:
    if of is None:
        return np.asarray(seed, "uint64"), ()
    data = of.known().value.astype("int64" if of.dtype[0] == "i" else "uint64").astype("uint64")
    if not folds:
        return data, of.dims
    high = ((data >> np.uint64(32)) & np.uint64(~(_SPLIT | _FOLD) % 2**32)) | np.uint64(_FOLD)
    x, y = _cipher(np.asarray(seed, "uint64"), high, data & np.uint64(0xFFFFFFFF))
    return (x << np.uint64(32)) | y, of.dims


def _numbers(kind: str, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | float]:
    """Numbers of two words, and a bound on their errors."""
    if kind == "bits":
        return x ^ y, 0.0
    if kind in ("bits64", "split"):
        return (x << np.uint64(32)) | y, 0.0
    if kind == "randint":  # from -3 to 13
        return (
            ((x * np.uint64(17) + ((y * np.uint64(17)) >> np.uint64(32))) >> np.uint64(32)).astype("int64") - 3
        ), 0.0
    if kind == "uniform32":
        return (x >> np.uint64(8)).astype(np.longdouble) * np.longdouble(2.0**-24), 0.0
    if kind in ("uniform", "bernoulli"):
        whole = (x >> np.uint64(5)).astype(np.longdouble) * 2**26 + (y >> np.uint64(6)).astype(np.longdouble)
        unit = whole * np.longdouble(2.0**-53)
        return (unit < 0.3, 0.0) if kind == "bernoulli" else (unit, 0.0)
    half = (x >> np.uint64(1)).astype(np.longdouble)
    half = (half + 0.5) * np.longdouble(2.0**-32)
    if kind == "normal":
        half = ((x >> np.uint64(1)).astype(np.longdouble) * 2**32 + y.astype(np.longdouble) + 0.5) / 2**64
    size = -scipy.special.ndtri(half.astype("float64"))
    value = np.where(x & np.uint64(1), -size, size)
    return value, 64 * (2.0**-24 if kind == "normal32" else 2.0**-53) * np.maximum(np.abs(value), 1)


def _key_text(seed: int, of: str, folds: bool) -> str:
    if not of:
        return f"xt.random.key({seed})"
    return f"xt.random.fold_in(xt.random.key({seed}), {of})" if folds else f"xt.random.key({of})"


def _draw_text(x: str, of: str = "", *, kind: str, seed: int, folds: bool) -> str:
    sizes = f"{{d: n for d, n in {x}.sizes.items() if d not in {of}.dims}}" if of else f"{x}.sizes"
    key, dtype = _key_text(seed, of, folds), KINDS[kind][1]
    if kind == "split":
        return f"xt.random.split({key}, {sizes}).words"
    if kind == "bernoulli":
        return f"xt.random.uniform({key}, {sizes}, dtype='f8') < 0.3"
    name = kind.rstrip("0123456789")
    before = "-3, 14, " if kind == "randint" else ""
    return f"xt.random.{name}({key}, {before}{sizes}, dtype={dtype!r})"


@op("draw", _draw_text)
def _draw(x: Named, of: Named | None = None, *, kind: str, seed: int, folds: bool) -> Named:
    keys, key_dims = _keys(seed, of, folds)
    sizes = {d: n for d, n in x.sizes.items() if d not in key_dims}
    at = _positions(sizes)
    keys = keys.reshape(keys.shape + (1,) * len(sizes))
    high = np.asarray(_SPLIT if kind == "split" else 0, "uint64")
    value, error = _numbers(kind, *_cipher(keys, high, at))
    shape = (*(of.value.shape if of is not None else ()), *sizes.values())
    value = np.broadcast_to(value, shape)
    dtype = KINDS[kind][0]
    value = value.astype(np.longdouble) if named.is_float(dtype) else value.astype(dtype)
    return Named((*key_dims, *sizes), dtype, value, np.broadcast_to(np.asarray(error, "float64"), shape))


@makes(4)
def _make_draw(g: Maker) -> Any:
    x = g.pick()
    kinds = [k for k, (dtype, _) in KINDS.items() if dtype in g.kind.dtypes]
    kinds = [k for k in kinds if k != "bernoulli" or "float64" in g.kind.dtypes]
    if x is None or not kinds:
        return None
    of = g.pick(lambda a: a.dtype in INTS) if g.rng.random() < 0.4 else None
    params = {"kind": g.rng.choice(kinds), "seed": g.rng.randrange(2**63), "folds": g.rng.random() < 0.6}
    return g.add("draw", [x, of] if of else [x], params)


@op("shuffle", lambda x, dim, seed: f"xt.random.permutation(xt.random.key({seed}), {x}, dim={dim!r})")
def _shuffle(x: Named, dim: str, seed: int) -> Named:
    first, second = _cipher(np.asarray(seed, "uint64"), np.asarray(0, "uint64"), _positions({dim: x.sizes[dim]}))
    order, axis = np.argsort((first << np.uint64(32)) | second, kind="stable"), x.axis(dim)
    return named.moved(lambda v: v.take(order, axis), x, x.dims)


@makes(1)
def _make_shuffle(g: Maker) -> Any:
    found = g.pick_with_dim()
    return g.add("shuffle", [found[0]], {"dim": found[1], "seed": g.rng.randrange(2**63)}) if found else None
