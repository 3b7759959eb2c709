"""Arithmetic of complex arrays, by ops on their real and imaginary parts.

The dialect has no complex numbers. A complex array is an array of floats with one more dim, `PAIR`, last and of size 2.
So derivatives, batches, loops and devices see real arrays alone, and the memory is that of NumPy. An op that is linear
over the reals, such as a sum or a slice, takes the pairs as they are. Every other op takes the parts apart, and makes
pairs of the result's parts. What is made of parts keeps them (`Tracer.parts`): pairs that nothing reads are dropped.

The derivative of a real loss by the pairs is dL/dx + i dL/dy, and a cotangent is the transpose under Re(conj(a) b).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..base import dtypes
from ..base.errors import DTypeError
from ..ir import context as c
from ..values.spec import Spec
from . import emit as raw
from .regions import Regions, discarding
from .scope import local
from .tracer import Tracer

if TYPE_CHECKING:
    from ..mlir import ir

_NO_ORDER = "complex numbers have no order. Take a real number of each: xt.abs(z), z.real or z.imag"
_NO_OP = "is defined for real numbers alone. Take a real number of each: xt.abs(z), z.real or z.imag"


def refuse(instead: str = "") -> NoReturn:
    """The error of a function that has no complex values; the caller's name and operands are added to it."""
    raise DTypeError(instead or _NO_OP)


# -- pairs and parts --------------------------------------------------------------------------------------------------


def _pairwise(values: Sequence[float], dtype: dtypes.DType) -> Tracer:
    """Two numbers along the dim of the pairs."""
    of = dtypes.complex_of(dtype)
    return raw.constant(np.asarray(values, dtype).view(of)[0], dtype=of)


def pack(re: Tracer, im: Tracer | None) -> Tracer:
    """The complex array of two real ones of one dtype; None: the imaginary part is 0 everywhere."""
    of = dtypes.complex_of(re.dtype)
    dims = (*re.dims, *(d for d in (im.dims if im is not None else ()) if d not in re.dims))
    sizes = {**(im.spec.sizes if im is not None else {}), **re.spec.sizes}
    if im is not None:  # what is done to a whole is done to each part, which so has all dims
        whole_sizes = {**im.sizes, **re.sizes}
        re, im = (v if len(v.dims) == len(dims) else raw.broadcast(v, dims, whole_sizes) for v in (re, im))
    spec = Spec._of(dims, [sizes[d] for d in dims], of)
    whole = c.array_type(spec)
    zero = raw.constant(np.zeros((), re.dtype)) if im is None else im
    first = raw.emit("constant", (), {"value": _first()}, [c.first_of_pair()]).result
    made = raw.emit("select", (Tracer(first, spec=spec), re, zero)).result
    if made.type != whole:
        made = raw.emit("broadcast", (Tracer(made, spec=spec),), None, [whole]).result
    return Tracer(made, spec=spec, parts=(re, im))


def _first() -> ir.Attribute:
    return raw.elements(np.asarray([True, False]))


def parts(z: Tracer) -> tuple[Tracer, Tracer | None]:
    """The real and the imaginary part; None in place of one that is 0 everywhere."""
    return z.parts or (part(z, 0), part(z, 1))


def part(z: Tracer, which: int) -> Tracer:
    """The real part for 0, the imaginary one for 1."""
    if z.parts is not None:
        found = z.parts[which]
        return zeros_like(z.parts[0]) if found is None else found
    spec = Spec._of(z.dims, z.spec.shape, dtypes.real_of(z.dtype))
    numbers = {"offsets": (which,), "sizes": (1,), "strides": (1,)}
    at = {name: c.integers_attribute(n) for name, n in numbers.items()}
    names = {"dims": c.names_attribute((c.PAIR,))}
    one = raw.emit("slice", (z,), {**names, **at}).result
    return Tracer(raw.emit("squeeze", (Tracer(one, spec=spec),), names).result, spec=spec)


def zeros_like(x: Tracer) -> Tracer:
    return raw.broadcast(raw.constant(np.zeros((), x.dtype)), x.dims, x.sizes)


def _is_real(z: Tracer) -> bool:
    """Whether the imaginary part is known to be 0."""
    return z.parts is not None and z.parts[1] is None


def _is_apart(z: Tracer) -> bool:
    """Whether the parts are there, and need not be read from the pairs."""
    return z.parts is not None and z.parts[1] is not None


def each(z: Tracer, op: Callable[[Tracer], Tracer]) -> Tracer:
    """`op`, which is linear over the reals and keeps the dim of pairs, of a complex array."""
    if z.parts is None:
        return op(z)
    re, im = z.parts
    return pack(op(re), None if im is None else op(im))


def together(zs: Sequence[Tracer], op: Callable[[Sequence[Tracer]], Tracer]) -> Tracer:
    """The same of several."""
    if not any(_is_apart(x) for x in zs):
        return op(zs)
    return pack(op([part(x, 0) for x in zs]), op([part(x, 1) for x in zs]))


def cast(x: Tracer, dtype: dtypes.DType) -> Tracer:
    """From or to a complex dtype."""
    if not dtypes.is_complex(dtype):
        refuse(f"a cast to {dtype.name} would drop the imaginary part. Write z.real, xt.abs(z), or z != 0 for bools")
    real = dtypes.real_of(dtype)
    if not dtypes.is_complex(x.dtype):
        return pack(x if x.dtype == real else raw.cast(x, real), None)
    return each(x, lambda v: raw.cast(v, real))


def constant(value: np.ndarray, dims: Sequence[str]) -> Tracer:
    """A complex array known now."""
    imag = value.imag
    if not imag.any() and not np.signbit(imag).any():
        return pack(raw.constant(value.real, dims), None)
    made = raw.constant(value, dims)
    return made if dims else made.made_of(raw.constant(value.real), raw.constant(value.imag))


# -- arithmetic -------------------------------------------------------------------------------------------------------


def add(x: Tracer, y: Tracer) -> Tracer:
    return raw.binary("add", x, y)


def sub(x: Tracer, y: Tracer) -> Tracer:
    return raw.binary("sub", x, y)


def mul(x: Tracer, y: Tracer) -> Tracer:
    return raw.binary("mul", x, y)


def div(x: Tracer, y: Tracer) -> Tracer:
    return raw.binary("div", x, y)


def neg(x: Tracer) -> Tracer:
    return raw.unary("neg", x)


def real_number(value: float, like: Tracer) -> Tracer:
    return raw.constant(np.asarray(value, like.dtype))


def binary(op: str, x: Tracer, y: Tracer) -> Tracer:
    """add, sub, mul, div or pow of two complex arrays of one dtype."""
    if op in ("add", "sub"):
        return _sum(op, x, y)
    if op == "mul":
        return _product(x, y)
    if op == "div":
        return _quotient(x, y)
    refuse(_NO_ORDER if op in ("maximum", "minimum") else "")


def _sum(op: str, x: Tracer, y: Tracer) -> Tracer:
    if not _is_apart(x) and not _is_apart(y) and not (_is_real(x) and _is_real(y)):
        return raw.binary(op, x, y)
    (a, b), (p, q) = parts(x), parts(y)
    if q is None:
        im = b
    elif b is None:
        im = q if op == "add" else neg(q)
    else:
        im = raw.binary(op, b, q)
    return pack(raw.binary(op, a, p), im)


def _scaled(op: str, z: Tracer, by: Tracer) -> Tracer:
    """A complex array times or by a real one."""
    return each(z, lambda v: raw.binary(op, v, by))


def _product(x: Tracer, y: Tracer) -> Tracer:
    if _is_real(y):
        return _scaled("mul", x, part(y, 0))
    if _is_real(x):
        return _scaled("mul", y, part(x, 0))
    return pack(*product(part(x, 0), part(x, 1), part(y, 0), part(y, 1)))


def product(a: Tracer, b: Tracer, p: Tracer, q: Tracer) -> tuple[Tracer, Tracer]:
    """(a + ib) (p + iq)"""
    return sub(mul(a, p), mul(b, q)), add(mul(a, q), mul(b, p))


def _quotient(x: Tracer, y: Tracer) -> Tracer:
    """x / y, whose derivative is (dx - (x / y) dy) / y."""
    if _is_real(y):
        return _scaled("div", x, part(y, 0))
    (a, b), p, q = parts(x), part(y, 0), part(y, 1)
    b = zeros_like(a) if b is None else b

    def derivative(v: Sequence[Tracer], t: Sequence[Tracer]) -> tuple[Tracer, Tracer]:
        a, b, p, q = v
        da, db, dp, dq = t
        moved = product(*divided(a, b, p, q), dp, dq)
        # A quotient is not linear in its tangents to the compiler where it is scaled: a product is.
        inverse = divided(real_number(1, p), real_number(0, p), p, q)
        return product(sub(da, moved[0]), sub(db, moved[1]), *inverse)

    return pack(*ruled([a, b, p, q], lambda v: divided(*v), derivative))


def divided(a: Tracer, b: Tracer, p: Tracer, q: Tracer) -> tuple[Tracer, Tracer]:
    """(a + ib) / (p + iq), scaled by the larger part of the divisor so that squares do not overflow. As in NumPy, a
    divisor of 0 divides both parts by 0. A finite number by an infinite one is 0."""
    scale = raw.binary("maximum", raw.unary("abs", p), raw.unary("abs", q))
    zero, infinite = raw.compare("eq", scale, real_number(0, p)), raw.unary("isinf", scale)
    safe = raw.select(zero, real_number(1, p), scale)

    def unit(v: Tracer) -> Tracer:
        ends = raw.select(raw.unary("isinf", v), real_number(1, v), real_number(0, v))
        return raw.select(infinite, raw.binary("copysign", ends, v), div(v, safe))

    p, q = raw.select(zero, real_number(1, p), unit(p)), unit(q)
    size = add(mul(p, p), mul(q, q))
    re, im = add(mul(a, p), mul(b, q)), sub(mul(b, p), mul(a, q))
    return div(div(re, size), scale), div(div(im, size), scale)


def compare(predicate: str, x: Tracer, y: Tracer) -> Tracer:
    """eq or ne: of both parts."""
    if predicate not in ("eq", "ne"):
        refuse(_NO_ORDER)
    found = [raw.compare(predicate, part(x, i), part(y, i)) for i in (0, 1)]
    return raw.binary("and" if predicate == "eq" else "or", *found)


def select(condition: Tracer, x: Tracer, y: Tracer) -> Tracer:
    return together((x, y), lambda v: raw.select(condition, *v))


def conj(z: Tracer) -> Tracer:
    if z.parts is None:
        return raw.binary("mul", z, _pairwise((1, -1), dtypes.real_of(z.dtype)))
    re, im = z.parts
    return pack(re, None if im is None else neg(im))


# The dim of the pairs of one factor in a contraction, over which it sums.
_SUMMED = f"{c.PAIR}summed"


def contract(x: Tracer, y: Tracer, over: Sequence[str], order: Sequence[str] | None) -> Tracer:
    """The product of two complex arrays summed over the dims `over`: one real contraction, with the four products of
    parts. Three would do, but their rounding errors are not bounded by the parts of the result."""
    order = None if order is None else (*order, c.PAIR)
    if _is_real(y):
        return raw.contract((x, part(y, 0)), over, order)
    if _is_real(x):
        return raw.contract((part(x, 0), y), over, order)
    if over and set(x.dims) == set(y.dims):  # sums of products, which need no matrices: one pass for each part
        re, im = product(part(x, 0), part(x, 1), part(y, 0), part(y, 1))
        kept = order or (*(d for d in x.dims if d not in over), c.PAIR)
        return pack(*(raw.broadcast(raw.reduce("sum", v, over), kept[:-1]) for v in (re, im)))
    # x y is Re(x) y + Im(x) i y: the parts of the one, and of the other both terms. The latter is the smaller one.
    if _size(x) < _size(y):
        return raw.contract((_terms(x), _summed(y)), (*over, _SUMMED), order)
    return raw.contract((_summed(x), _terms(y)), (*over, _SUMMED), order)


def _size(x: Tracer) -> float:
    return math.prod(math.inf if n is None else n for n in x.spec.shape)


def _summed(x: Tracer) -> Tracer:
    names = {"from": c.names_attribute((c.PAIR,)), "to": c.names_attribute((_SUMMED,))}
    return raw.one("rename", (x,), names)


def _terms(y: Tracer) -> Tracer:
    """y and i y along the dim that is summed."""
    turned = pack(neg(part(y, 1)), part(y, 0))
    return raw.select(raw.constant(np.asarray([True, False]), (_SUMMED,)), y, turned)


def modulus(x: Tracer, y: Tracer) -> Tracer:
    """sqrt(x**2 + y**2) without overflow, with derivative 0 at 0 and that of |x| and |y| where these are infinite."""
    one, nought, inf = (real_number(v, x) for v in (1, 0, np.inf))
    largest = raw.stop_gradient(raw.binary("maximum", raw.unary("abs", x), raw.unary("abs", y)))
    usable = raw.binary("and", raw.compare("gt", largest, nought), raw.compare("lt", largest, inf))
    scale = raw.select(usable, largest, one)
    a, b = div(x, scale), div(y, scale)
    total = add(mul(a, a), mul(b, b))
    root = raw.select(raw.compare("eq", total, nought), nought, raw.unary("sqrt", total))
    endless = [raw.unary("isinf", v) for v in (x, y)]
    infinite = [raw.select(e, raw.unary("abs", v), nought) for e, v in zip(endless, (x, y), strict=True)]
    return raw.select(raw.binary("or", *endless), add(*infinite), mul(scale, root))


# -- rules ------------------------------------------------------------------------------------------------------------

Values = Callable[[Sequence[Tracer]], Sequence[Tracer]]


@discarding
def ruled(
    xs: Sequence[Tracer], function: Values, derivative: Callable[[Sequence[Tracer], Sequence[Tracer]], Sequence[Tracer]]
) -> list[Tracer]:
    """`function(xs)`, real arrays, whose derivative is `derivative(xs, tangents)`, linear in the tangents. For formulas
    whose own derivative is not finite where that of the function is."""
    regions = Regions(4)
    specs = [x.spec for x in xs]
    ys = regions.trace(0, specs, lambda v: list(function(v)))
    shapes = [y.spec for y in ys]

    def both(v: list[Tracer]) -> list[Tracer]:
        at, tangents = v[: len(xs)], v[len(xs) :]
        before, local.is_rule = local.is_rule, True
        try:
            moved = [raw.broadcast(t, s.dims) for t, s in zip(derivative(at, tangents), shapes, strict=True)]
        finally:
            local.is_rule = before
        return [*function(at), *moved]

    pushed = regions.trace(1, [*specs, *specs], both)
    types = [c.array_type(s) for s in shapes]
    values = regions.finish("custom_derivative", types, xs, {}, [ys, pushed, (), ()])
    return [Tracer(v, spec=s) for v, s in zip(values, shapes, strict=True)]
