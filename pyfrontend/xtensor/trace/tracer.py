"""Tracer: an array inside a function that is being traced. It has dims, sizes and a dtype, but not values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.dims import describe
from ..base.errors import ArgumentTypeError, DeviceError, trimmed
from ..base.named import Named
from ..ir.context import spec_of
from ..values.devices import named
from ..values.spec import Spec
from .scope import Scope, check_alive, current, local

if TYPE_CHECKING:
    from ..mlir import ir
    from ..values.array import Array as _Base  # type checkers see one kind of array
else:
    _Base = Named


def fixed(dim: str) -> str:
    """How a dim is given a size that is known while tracing."""
    declared = local.scope.root.declared.get(dim, dim) if local.scope else dim
    which = repr(declared) if declared == dim else f"{declared!r}, whose size {dim!r} has,"
    return (
        f"Leave {which} out of dynamic_dims= to compile once per size; in an export, give it one: "
        f"xt.spec({declared}=SIZE) in place of None"
    )


class DynamicSize:
    """The size of a dynamic dim: a number when the program runs, none while it is traced. In arithmetic it is a traced
    int64 that gives way to the dtype of what it meets, as a Python int does."""

    __slots__ = ("dim", "tracer")

    def __init__(self, tracer: Tracer, dim: str) -> None:
        self.tracer = tracer
        self.dim = dim

    def _refuse(self, *_: object) -> NoReturn:
        raise ArgumentTypeError(
            f"the size of dim {self.dim!r} is dynamic: it is not known while tracing, so it cannot be used as a number "
            f"here. {fixed(self.dim)}"
        )

    __int__ = __index__ = __float__ = __bool__ = _refuse

    def __eq__(self, other: object) -> bool:
        # Within one function, equal names are equal sizes.
        if isinstance(other, DynamicSize):
            return self.dim == other.dim or self._refuse()
        if isinstance(other, int):
            self._refuse()
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dim)

    def __repr__(self) -> str:
        return "?"


class Tracer(_Base):
    """An array whose values come when the traced function runs. `weak`: it is a Python scalar or computed from these
    alone, and its dtype gives way to that of what it meets; `known` is that scalar where it is part of the program,
    `bounds` the least and the greatest value of an int that changes, where they are. `parts`: the real and the
    imaginary part that a complex array was made of here; None in place of an imaginary part that is 0 everywhere."""

    __slots__ = ("__weakref__", "bounds", "known", "parts", "scope", "spec", "value", "weak")

    value: ir.Value
    scope: Scope
    spec: Spec
    weak: bool
    known: Any
    bounds: tuple[int, int] | None
    parts: tuple[Tracer, Tracer | None] | None

    def __init__(
        self,
        value: ir.Value,
        weak: bool = False,
        scope: Scope | None = None,
        spec: Spec | None = None,
        known: Any = None,
        bounds: tuple[int, int] | None = None,
        parts: tuple[Tracer, Tracer | None] | None = None,
    ) -> None:
        # By the descriptors of the slots: `x.name = value` is an error (surface/frozen.py).
        _set_value(self, value)
        _set_weak(self, weak)
        _set_known(self, known)
        _set_bounds(self, bounds)
        _set_parts(self, parts)
        _set_scope(self, current() if scope is None else scope)
        _set_spec(self, spec_of(value.type) if spec is None else spec)

    def made_of(self, re: Tracer, im: Tracer | None) -> Tracer:
        """This complex array, just made, of which its parts are known."""
        _set_parts(self, (re, im))
        return self

    @property
    def dims(self) -> tuple[str, ...]:
        return self.spec.dims

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        return len(self.spec.dims)

    @property
    def shape(self) -> tuple[Any, ...]:
        spec = self.spec
        if not spec.is_dynamic:
            return spec.shape
        return tuple(DynamicSize(self, d) if n is None else n for d, n in zip(spec.dims, spec.shape, strict=True))

    @property
    def sizes(self) -> dict[str, Any]:
        return dict(zip(self.spec.dims, self.shape, strict=True))

    @property
    def size(self) -> Any:
        total: Any = 1
        for n in self.shape:
            total = total * n
        return total

    @property
    def device(self) -> str:
        return self.scope.root.device

    def to(self, device: str) -> Tracer:
        found = named(device)
        if (found.name if found else "cpu") != self.device:
            raise DeviceError(
                f"a traced function runs on one device, here {self.device!r}, and {self!r} cannot be moved to "
                f"{device!r} inside of it. Move what the function is given, or what it returns"
            )
        return self

    def __repr__(self) -> str:
        return f"<traced {self.spec.dtype.name} {describe(self.spec.dims, self.spec.shape)}>"

    def _no_value(self, what: str, instead: str) -> NoReturn:
        check_alive(self)
        if self._is_constant():
            instead = "No argument has a part in it: compute it before the call, or by NumPy from the x.values of it"
        error = ArgumentTypeError(f"{what}: {self!r} has no values while it is traced. {instead}")
        error.of_value = True
        raise error

    def _is_constant(self) -> bool:
        """Whether it is computed from arrays with values alone, which the function reads from outside."""
        outside = {tracer.value for tracer in self.scope.root.captured.values()}
        left, seen = [self.value], set()
        while left:
            value = left.pop()
            if value in outside or value in seen:
                continue
            seen.add(value)
            if not hasattr(value.owner, "operands") or len(value.owner.regions):
                return False  # an argument, or a loop
            left += value.owner.operands
        return bool(outside)

    @trimmed
    def __bool__(self) -> bool:
        self._no_value(
            "if, while, assert, and, or, not need a bool",
            "Write xt.where(condition, a, b), xt.cond or xt.while_loop, & for and, | for or, ~ for not, xt.maximum "
            "for max(), xt.debug.callback(check, x) for assert; or make what decides a static argument",
        )

    @trimmed
    def __int__(self) -> int:
        self._no_value("int() needs a number", 'Write x.astype("i8") for a cast, or make it a static argument')

    @trimmed
    def __index__(self) -> int:
        self._no_value(
            "a Python int is needed here",
            'Make the argument static: xt.jit(f, static="n"), and xt.grad(xt.jit(f, static="n")); '
            "for range(n), write xt.fori_loop(0, n, body, carry)",
        )

    @trimmed
    def __float__(self) -> float:
        self._no_value(
            "float() needs a number",
            'Write xt.sqrt for math.sqrt and its like, x.astype("f8") for a cast, or make it a static argument',
        )

    @trimmed
    def __complex__(self) -> complex:
        self._no_value("complex() needs a number", 'Write x.astype("c16") for a cast, or make it a static argument')

    @trimmed
    def __format__(self, spec: str) -> str:
        if spec:
            self._no_value(
                f"the format {spec!r} is for numbers",
                f'Write xt.debug.print("{{:{spec}}}", x), which prints when the program runs; without a format, dtype '
                "and dims are shown",
            )
        return repr(self)

    @trimmed
    def item(self) -> Any:
        self._no_value("item() reads a value", "Return the array, and read what the call gives")

    @trimmed
    def __len__(self) -> int:
        if not self.dims:
            raise ArgumentTypeError("len() of an array without dims. Write x.ndim or x.size")
        return int(self.shape[0])

    @trimmed
    def __iter__(self) -> Iterator[Any]:
        if not self.dims:
            raise ArgumentTypeError(f"iteration over {self!r}, which has no dims")
        check_alive(self)
        n = len(self)
        first = self.dims[0]
        return iter([self.isel({first: i}) for i in range(n)])

    @property
    @trimmed
    def values(self) -> NoReturn:
        self._no_value(
            "values reads the array",
            "Return the array from the function, or use xt functions on it",
        )

    @trimmed
    def to_numpy(self) -> NoReturn:
        self._no_value(
            "to_numpy() reads the array",
            "Return the array from the function, or use xt functions on it",
        )

    @trimmed
    def to_xarray(self) -> NoReturn:
        self._no_value(
            "to_xarray() reads the array",
            "Return the array from the function and convert what the call gives",
        )

    @property
    @trimmed
    def variable(self) -> NoReturn:
        self._no_value(
            "xarray: a DataArray reads the array that it meets on its right",
            "Write the array first, as in u * k, or xt.as_array(k) * u with the DataArray k; xt.where for xarray.where",
        )

    @trimmed
    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        self._no_value("NumPy was asked to read an array", "Use the xt function of the same name")

    @trimmed
    def __dlpack__(self, **wanted: object) -> NoReturn:
        self._no_value(
            "DLPack was asked to read an array", "Use xt functions on it, or xt.callback for another library"
        )

    @trimmed
    def __dlpack_device__(self) -> NoReturn:
        self.__dlpack__()

    @property
    def __jax_array__(self) -> NoReturn:  # JAX asks whether there is one, and refuses it
        self._no_value("JAX was asked to read an array", "Use the xt function of the same name, xt.tanh for jnp.tanh")

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: object) -> Tracer:
        return self

    @trimmed
    def __reduce__(self) -> NoReturn:
        self._no_value("pickling reads the array", "Return the array from the function")

    @trimmed
    def __hash__(self) -> int:  # type: ignore[override]
        self._no_value(
            "a dict or a set looks for an array by its hash",
            "Put arrays in a list or a tuple. To look a value up, make the number a static argument, or choose by "
            "xt.switch(i, branches) or table.isel(n=i)",
        )


_set_value, _set_weak, _set_known, _set_bounds, _set_parts, _set_scope, _set_spec = (
    vars(Tracer)[name].__set__ for name in ("value", "weak", "known", "bounds", "parts", "scope", "spec")
)


def spec(x: Any) -> Spec:
    """The type of a tracer, or of an array with values, with whether it is weak."""
    if not isinstance(x, Tracer):
        return Spec._of(x.dims, x.shape, x.dtype, x.weak)
    s = x.spec
    return s if s.weak == x.weak else Spec._of(s.dims, s.shape, s.dtype, x.weak)


def as_weak(x: Tracer, weak: bool) -> Tracer:
    """The same value with a dtype that gives way, or one that does not."""
    if x.weak == weak:
        return x
    return Tracer(x.value, weak, x.scope, Spec._of(x.spec.dims, x.spec.shape, x.dtype, weak), parts=x.parts)
