"""Spec: an array without values (dims, sizes, dtype); what tracing sees of an argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.calls import check_made
from ..base.dims import as_names, brief, describe, ordered
from ..base.dtypes import BY_NAME, DType, DTypeLike, as_dtype
from ..base.errors import ArgumentError, ArgumentTypeError, SizeError
from .options import current


class Spec:
    """The dims, sizes and dtype of an array without values.

    `xt.spec` makes one, too. A size of None is known only when the program runs. `weak`: it stands for a Python
    number, whose dtype gives way.

    Raises:
        DimensionError: a name occurs twice, or cannot be a dim's name.
        SizeError: the shape has more or fewer sizes than there are dims.
        DTypeError: `dtype` is not a dtype of arrays.
        ArgumentError: a size is neither an int from 0 on nor None.

    Example:
    >>> xt.Spec(("batch", "pixel"), (None, 784), "f4")
    Spec(batch: ?, pixel: 784, float32)
    >>> xt.spec(batch=None, pixel=784, dtype="f4").sizes
    {'batch': None, 'pixel': 784}
    """

    __slots__ = ("_hash", "dims", "dtype", "is_dynamic", "shape", "weak")

    dims: tuple[str, ...]
    shape: tuple[int | None, ...]
    dtype: DType
    weak: bool
    is_dynamic: bool
    _hash: int

    def __init__(
        self, dims: Sequence[str] | str, shape: Sequence[int | None], dtype: DTypeLike, weak: bool = False
    ) -> None:
        names = as_names(dims)
        if not isinstance(ordered(shape), Iterable) or isinstance(shape, (str, Mapping)):
            raise ArgumentTypeError(
                f"xt.Spec: the shape has a size for each of {describe(names)}, and is not {brief(shape)}. "
                'Write xt.Spec(("batch", "pixel"), (64, 784), "f4"), or xt.spec(batch=64, pixel=784, dtype="f4")'
            )
        shape = tuple(shape)
        if len(shape) != len(names):
            raise SizeError(
                f"xt.Spec: the dims are {describe(names)}, and the sizes {shape}. Give one size for each dim"
            )
        self._set(names, tuple(map(_size, names, shape)), _dtype(dtype), bool(weak))

    def _set(self, dims: tuple[str, ...], shape: tuple[int | None, ...], dtype: DType, weak: bool) -> None:
        self.dims, self.shape, self.dtype, self.weak = dims, shape, dtype, weak
        self.is_dynamic = None in shape
        self._hash = hash((dims, shape, dtype, weak))

    @classmethod
    def _of(cls, dims: Iterable[str], shape: Iterable[int | None], dtype: DType, weak: bool = False) -> Spec:
        """One that needs no checks. Its dims may have names that users cannot write."""
        self = cls.__new__(cls)
        self._set(tuple(dims), tuple(shape), dtype, weak)
        return self

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
        return Spec._of, (self.dims, self.shape, self.dtype, self.weak)

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
    return Spec._of(type_.dims, type_.shape, BY_NAME[type_.dtype], type_.weak)


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
    return Spec._of(as_names(both), map(_size, both, both.values()), _dtype(dtype))


def _size(name: str, size: Any) -> int | None:
    """The size of a dim, checked; None if it is dynamic."""
    if size is None:
        return None
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not (whole and 0 <= size < 2**63):
        what = "is above 2**63 - 1:" if whole and size > 0 else "is a non-negative int or None, got"
        raise ArgumentError(f"the size of {name!r} {what} {size!r}")
    return int(size)


def _dtype(dtype: DTypeLike) -> DType:
    return current().default_float if dtype is None else as_dtype(dtype)


check_made(Spec, "Spec")
