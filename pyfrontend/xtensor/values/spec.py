"""Spec: an array without values (dims, sizes, dtype); what tracing sees of an argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.dims import as_names, describe
from ..base.dtypes import BY_NAME, DType, DTypeLike, as_dtype
from ..base.errors import ArgumentError, ArgumentTypeError
from .options import current


class Spec:
    """The dims, sizes and dtype of an array without values.

    A size of None is known only when the program runs. `weak`: it stands for a Python number, whose dtype gives
    way.

    Example:
    >>> xt.spec(batch=None, pixel=784, dtype="f4").sizes
    {'batch': None, 'pixel': 784}
    """

    __slots__ = ("_hash", "dims", "dtype", "is_dynamic", "shape", "weak")

    def __init__(self, dims: Sequence[str], shape: Sequence[int | None], dtype: DType, weak: bool = False) -> None:
        self.dims = tuple(dims)
        self.shape = tuple(shape)
        self.dtype = dtype
        self.weak = weak
        self.is_dynamic = None in self.shape
        self._hash = hash((self.dims, self.shape, dtype, weak))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Spec)
            and self.dims == other.dims
            and self.shape == other.shape
            and self.dtype == other.dtype
            and self.weak == other.weak
        )

    def __reduce__(self) -> Any:
        return Spec, (self.dims, self.shape, self.dtype, self.weak)

    @property
    def sizes(self) -> dict[str, int | None]:
        return dict(zip(self.dims, self.shape, strict=True))

    @property
    def ndim(self) -> int:
        return len(self.dims)

    def __repr__(self) -> str:
        return f"Spec{describe(self.dims, self.shape)[:-1]}{', ' if self.dims else ''}{self.dtype.name})"


def spec_of_type(type_: Any) -> Spec:
    """Spec of an _native.ArrayType."""
    return Spec(type_.dims, type_.shape, BY_NAME[type_.dtype], type_.weak)


def spec(sizes: dict[str, int | None] | None = None, /, *, dtype: DTypeLike = None, **kw: int | None) -> Spec:
    """Returns dims, sizes and dtype without values, for which a function can be lowered or exported.

    A size of None is a dynamic dim. The dtype is f8 by default, as for `zeros`.

    Raises:
        DTypeError: `dtype` is not a dtype of arrays.
        ArgumentError: a size is neither an int from 0 on nor None.

    Example:
    >>> xt.spec(batch=None, pixel=784, dtype="f4")
    Spec(batch: ?, pixel: 784, float32)
    """
    if sizes is not None and not isinstance(sizes, Mapping):
        raise ArgumentTypeError(f"xt.spec: sizes are a dict from dims, not {sizes!r}. Write xt.spec(batch=64)")
    both = {**(sizes or {}), **kw}
    for name, size in both.items():
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        if size is not None and not (whole and 0 <= size < 2**63):
            what = "is above 2**63 - 1:" if whole and size > 0 else "is a non-negative int or None, got"
            raise ArgumentError(f"xt.spec: the size of {name!r} {what} {size!r}")
    wanted = current().default_float if dtype is None else as_dtype(dtype)
    return Spec(as_names(both), [None if n is None else int(n) for n in both.values()], wanted)
