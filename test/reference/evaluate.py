"""A slow evaluator of the xtensor dialect: what each op means, on NumPy arrays, one op at a time.

It reads a module through MLIR's own bindings and runs one of its functions. Derivative ops are not
known here: they are expanded first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import matrices
import ml_dtypes
import mpmath
import numpy as np
from functions import FUNCTIONS
from scipy import special
from xtensor.mlir import ir
from xtensor.mlir.dialects import xtensor as xtd

DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
}  # fmt: skip


@dataclass
class Named:
    """An array whose axes have names."""

    dims: tuple[str, ...]
    data: np.ndarray

    def __post_init__(self) -> None:
        assert len(self.dims) == np.ndim(self.data), (self.dims, np.shape(self.data))

    def size(self, dim: str) -> int:
        return self.data.shape[self.dims.index(dim)]

    def over(self, dims: Sequence[str]) -> np.ndarray:
        """In the order of `dims`, with an axis of length 1 for each one missing."""
        assert set(self.dims) <= set(dims), (self.dims, dims)
        data = self.data.transpose([self.dims.index(d) for d in dims if d in self.dims])
        return data.reshape([self.size(d) if d in self.dims else 1 for d in dims])


def union(arrays: Sequence[Named]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(d for a in arrays for d in a.dims))


def as_type(value: np.ndarray, result: ir.Value) -> np.ndarray:
    """With the element type that the result has."""
    return np.asarray(value).astype(DTYPES[str(xtd.ArrayType(result.type).element_type)])


# ---- elementwise -------------------------------------------------------------


def scale(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(b == 0, np.zeros_like(b), a * b)


def floor_div(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind in "iu":
        return np.where(b == 0, 0, a // np.where(b == 0, 1, b))
    return np.floor(a / b)


def mod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind in "iu":
        return np.where(b == 0, 0, a % np.where(b == 0, 1, b))
    return np.mod(a, b)


def polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """SciPy adds term by term below 0, which is exact for small numbers."""
    return special.polygamma(n.astype(int), x)


def by_order(function: Callable[..., mpmath.mpf], count: int = 1) -> Callable[..., np.ndarray]:
    """The derivative by the first `count` parameters, whose orders come first."""

    def run(*operands: float) -> float:
        orders, at = operands[:count], [mpmath.mpf(v) for v in operands[count:]]
        with mpmath.workdps(50):
            by = tuple(map(int, orders)) + (0,) * (len(at) - count)
            return float(mpmath.diff(function, tuple(at), by, h=mpmath.mpf(10) ** -12))

    return np.vectorize(run, otypes=["f8"])


def beta_density(a: mpmath.mpf, b: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


def gamma_density(a: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    return x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)


def shift(left: bool) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        width = a.dtype.itemsize * 8
        outside = (b < 0) | (b >= width)
        amount = np.where(outside, 0, b).astype(a.dtype)
        if left:
            return np.where(outside, 0, a << amount)
        return np.where(outside, np.where(a < 0, -1, 0), a >> amount)

    return run


ELEMENTWISE: dict[str, Callable[..., np.ndarray]] = {
    **{name: f.exact for name, f in FUNCTIONS.items()},
    "abs": np.abs, "ceil": np.ceil, "floor": np.floor, "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan,
    "neg": np.negative, "not": np.invert, "round": np.rint, "sign": np.sign, "stop_gradient": lambda x: x,
    "trunc": np.trunc,
    "add": np.add, "and": np.bitwise_and, "atan2": np.arctan2, "copysign": np.copysign, "div": np.divide,
    "betainc": special.betainc, "beta_density_by": by_order(beta_density, 2),
    "betainc_by": by_order(lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True), 2),
    "gammainc": special.gammainc, "gammaincc": special.gammaincc, "gamma_density_by_a": by_order(gamma_density),
    "gammainc_by_a": by_order(lambda a, x: mpmath.gammainc(a, 0, x, regularized=True)),
    "floor_div": floor_div, "maximum": np.maximum, "minimum": np.minimum, "mod": mod, "mul": np.multiply,
    "or": np.bitwise_or, "polygamma": polygamma, "pow": np.power, "scale": scale, "shl": shift(True),
    "shr": shift(False), "sub": np.subtract, "barrier": lambda x: x, "xor": np.bitwise_xor, "select": np.where,
}  # fmt: skip
REGIONS = {
    "switch": "switch", "while": "while_", "scan": "scan", "checkpoint": "checkpoint",
    "custom_derivative": "custom_derivative",
}  # fmt: skip
MATRICES = {
    "cholesky", "cholesky_tangent", "eigh", "lu", "lu_tangent", "pinv", "qr", "solve", "svd", "triangular_contract",
    "triangular_solve",
}  # fmt: skip
COMPARE = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]


def names(attribute: ir.Attribute) -> list[str]:
    return [ir.StringAttr(a).value for a in ir.ArrayAttr(attribute)]


def name(attribute: ir.Attribute) -> str:
    return ir.StringAttr(attribute).value


def kind(op: ir.Operation, attribute: str) -> int:
    return ir.IntegerAttr(op.attributes[attribute]).value


def amounts(attribute: ir.Attribute) -> list[int]:
    return list(ir.DenseI64ArrayAttr(attribute))


class Evaluator:
    def __init__(self, module: ir.Module) -> None:
        self.module = module  # its ops do not keep it alive
        self.functions = {name(f.attributes["sym_name"]): f for f in module.body.operations}

    def call(self, function: str, *args: np.ndarray) -> list[np.ndarray]:
        """Runs a function; arrays are given and returned in the order of its types' dims."""
        (block,) = self.functions[function].regions[0].blocks
        env: dict[ir.Value, Named] = {}
        for parameter, value in zip(block.arguments, args, strict=True):
            dims = tuple(n for n, _ in xtd.ArrayType(parameter.type).dims)
            env[parameter] = Named(dims, np.asarray(value))
        with np.errstate(all="ignore"):
            return [a.data for a in self.block(block, env)]

    def block(self, block: ir.Block, env: dict[ir.Value, Named]) -> list[Named]:
        for view in block.operations:
            op = view.operation
            operands = [env[v] for v in op.operands]
            short = op.name.removeprefix("xtensor.")
            if op.name in ("func.return", "xtensor.yield"):
                return operands
            if short in REGIONS:
                for result, value in zip(op.results, getattr(self, REGIONS[short])(op, env), strict=True):
                    expected = [n for n, _ in xtd.ArrayType(result.type).dims]
                    assert list(value.dims) == expected, (op.name, value.dims, expected)
                    env[result] = value
                continue
            if short in ELEMENTWISE:
                out = self.elementwise(ELEMENTWISE[short], op, operands)
            elif short in MATRICES:
                run = matrices.factors if len(operands) == 1 else matrices.solutions
                found = [Named(tuple(d), v) for d, v in run(op, short, *operands)]
                out = [Named(self.order(r), v.over(self.order(r))) for r, v in zip(op.results, found, strict=True)]
            else:
                out = getattr(self, short)(op, *operands)
            for result, one in zip(op.results, out if isinstance(out, list) else [out], strict=True):
                expected = [n for n, _ in xtd.ArrayType(result.type).dims]
                assert list(one.dims) == expected, (op.name, one.dims, expected)
                env[result] = Named(one.dims, as_type(one.data, result))
        raise AssertionError("a block without terminator")

    @staticmethod
    def order(result: ir.Value) -> tuple[str, ...]:
        return tuple(n for n, _ in xtd.ArrayType(result.type).dims)

    @staticmethod
    def elementwise(fn: Callable[..., np.ndarray], op: ir.Operation, operands: list[Named]) -> Named:
        dims = union(operands)
        values = [a.over(dims) for a in operands]
        shape = np.broadcast_shapes(*[v.shape for v in values])
        return Named(dims, np.broadcast_to(fn(*values), shape))

    def compare(self, op: ir.Operation, lhs: Named, rhs: Named) -> Named:
        return self.elementwise(COMPARE[kind(op, "predicate")], op, [lhs, rhs])

    def cast(self, op: ir.Operation, x: Named) -> Named:
        return Named(x.dims, as_type(x.data != 0 if str(op.attributes["to"]) == "i1" else x.data, op.result))

    # ---- regions: these capture from above, so they run in the values around them ----

    def region(self, op: ir.Operation, i: int, env: dict[ir.Value, Named], args: Sequence[Named] = ()) -> list[Named]:
        (block,) = op.regions[i].blocks
        return self.block(block, env | dict(zip(block.arguments, args, strict=True)))

    def switch(self, op: ir.Operation, env: dict[ir.Value, Named]) -> list[Named]:
        chosen = int(env[op.operands[0]].data)
        return self.region(op, min(max(chosen, 0), len(op.regions) - 1), env)

    def checkpoint(self, op: ir.Operation, env: dict[ir.Value, Named]) -> list[Named]:
        return self.region(op, 0, env)

    def custom_derivative(self, op: ir.Operation, env: dict[ir.Value, Named]) -> list[Named]:
        return self.region(op, 0, env, [env[v] for v in op.operands])

    def while_(self, op: ir.Operation, env: dict[ir.Value, Named]) -> list[Named]:
        carries = [env[v] for v in op.operands]
        most = kind(op, "max_steps") if "max_steps" in op.attributes else None
        steps = 0
        while (most is None or steps < most) and self.region(op, 0, env, carries)[0].data:
            carries = self.region(op, 1, env, carries)
            steps += 1
        return carries

    def scan(self, op: ir.Operation, env: dict[ir.Value, Named]) -> list[Named]:
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands = [env[v] for v in op.operands]
        carries, over = operands[: sizes[0]], operands[sizes[0] : sizes[0] + sizes[1]]
        dim = name(op.attributes["dim"])
        steps = over[0].size(dim) if over else int(operands[-1].data) if sizes[2] else kind(op, "length")
        stacks: list[list[Named]] = [[] for _ in op.results][len(carries) :]
        reverse = "reverse" in op.attributes
        for i in reversed(range(steps)) if reverse else range(steps):
            slices = [
                Named(tuple(d for d in x.dims if d != dim), np.take(x.data, i, axis=x.dims.index(dim))) for x in over
            ]
            results = self.region(op, 0, env, [*carries, *slices])
            carries = results[: len(carries)]
            for stack, value in zip(stacks, results[len(carries) :], strict=True):
                stack.append(value)
        out = list(carries)
        for stack, result in zip(stacks, list(op.results)[len(carries) :], strict=True):
            type_ = xtd.ArrayType(result.type)
            if stack:
                data = np.stack([v.data for v in (stack[::-1] if reverse else stack)])
            else:
                data = np.zeros([s or 0 for _, s in type_.dims], DTYPES[str(type_.element_type)])
            out.append(Named(tuple(n for n, _ in type_.dims), data))
        return out

    # ---- constants -----------------------------------------------------------

    def constant(self, op: ir.Operation) -> Named:
        value = op.attributes["value"]
        type_ = xtd.ArrayType(op.result.type)
        dtype, shape = DTYPES[str(type_.element_type)], [s for _, s in type_.dims]
        if value.is_splat:
            splat = value.get_splat_value()
            data = np.full(shape, ir.FloatAttr(splat).value if dtype in FLOATS else ir.IntegerAttr(splat).value, dtype)
        else:
            data = np.array(list(value), dtype).reshape(shape)
        return Named(tuple(n for n, _ in type_.dims), data)

    def iota(self, op: ir.Operation, size: Named | None = None) -> Named:
        ((dim, known),) = xtd.ArrayType(op.result.type).dims
        return Named((dim,), np.arange(known if size is None else int(size.data)))

    def size(self, op: ir.Operation, x: Named) -> Named:
        return Named((), np.asarray(x.size(name(op.attributes["dim"]))))

    # ---- reductions ----------------------------------------------------------

    def reduce(self, op: ir.Operation, x: Named) -> Named:
        fn = [np.sum, np.prod, np.max, np.min, np.any, np.all, np.argmax, np.argmin][kind(op, "kind")]
        dims = names(op.attributes["dims"])
        axes = tuple(x.dims.index(d) for d in dims)
        kept = tuple(d for d in x.dims if d not in dims)
        if fn in (np.argmax, np.argmin):
            return Named(kept, fn(x.data, axis=axes[0]))
        return Named(kept, fn(x.data, axis=axes))

    def contract(self, op: ir.Operation, *inputs: Named) -> Named:
        dims = union(inputs)
        letters = {d: i for i, d in enumerate(dims)}
        out = [n for n, _ in xtd.ArrayType(op.result.type).dims]
        assert set(out) == set(dims) - set(names(op.attributes["over"]))
        wide = np.float32 if inputs[0].data.dtype.itemsize == 2 and inputs[0].data.dtype.kind not in "iu" else None
        flat = [v for a in inputs for v in (a.data.astype(wide or a.data.dtype), [letters[d] for d in a.dims])]
        return Named(tuple(out), np.einsum(*flat, [letters[d] for d in out]))

    # ---- scans ---------------------------------------------------------------

    @staticmethod
    def steps(op: ir.Operation, x: np.ndarray, axis: int) -> np.ndarray:
        """With the scanned axis first, the first step first; its own inverse but for the axis."""
        return np.flip(np.moveaxis(x, axis, 0), 0) if "reverse" in op.attributes else np.moveaxis(x, axis, 0)

    def cumulative(self, op: ir.Operation, x: Named) -> Named:
        fn = [np.add, np.multiply, np.maximum, np.minimum][kind(op, "kind")]
        axis = x.dims.index(name(op.attributes["dim"]))
        data = self.steps(op, x.data, axis)
        limits = np.iinfo(x.data.dtype) if x.data.dtype.kind in "iu" else None
        identity = [0, 1, limits.min if limits else -np.inf, limits.max if limits else np.inf][kind(op, "kind")]
        running = np.full(data.shape[1:], identity, data.dtype)
        out = np.empty_like(data)
        for t in range(len(data)):
            after = fn(running, data[t])
            out[t] = running if "exclusive" in op.attributes else after
            running = after
        if "reverse" in op.attributes:
            out = np.flip(out, 0)
        return Named(x.dims, np.moveaxis(out, 0, axis))

    def recurrence(self, op: ir.Operation, decay: Named, x: Named) -> Named:
        dims = union([decay, x])
        axis = dims.index(name(op.attributes["dim"]))
        both = np.broadcast_arrays(decay.over(dims), x.over(dims))
        a, b = (self.steps(op, v, axis) for v in both)
        running = np.zeros(b.shape[1:], b.dtype)
        out = np.empty_like(b)
        late = "late" in op.attributes
        for t in range(len(b)):
            after = scale(running + b[t], a[t]) if late else scale(running, a[t]) + b[t]
            out[t] = running + b[t] if late else running if "exclusive" in op.attributes else after
            running = after
        if "reverse" in op.attributes:
            out = np.flip(out, 0)
        return Named(dims, np.moveaxis(out, 0, axis))

    # ---- windows -------------------------------------------------------------

    def window(self, op: ir.Operation, x: Named) -> Named:
        size, stride, dilation = (ir.IntegerAttr(op.attributes[a]).value for a in ("size", "stride", "dilation"))
        axis = x.dims.index(name(op.attributes["dim"]))
        count = dict(xtd.ArrayType(op.result.type).dims)[x.dims[axis]]
        at = np.arange(count)[:, None] * stride + np.arange(size) * dilation
        data = np.take(x.data, at.reshape(-1), axis)
        data = data.reshape(*data.shape[:axis], count, size, *data.shape[axis + 1 :])
        return Named((*x.dims, name(op.attributes["into"])), np.moveaxis(data, axis + 1, -1))

    def overlap_add(self, op: ir.Operation, x: Named) -> Named:
        length, stride, dilation = (ir.IntegerAttr(op.attributes[a]).value for a in ("length", "stride", "dilation"))
        dim, place = name(op.attributes["dim"]), name(op.attributes["from"])
        kept = [d for d in x.dims if d != place]
        axis = kept.index(dim)
        data = x.over([*kept, place])
        shape = list(data.shape[:-1])
        shape[axis] = length
        out = np.zeros(shape, data.dtype)
        for w in range(data.shape[-1]):
            index: list[slice | int] = [slice(None)] * len(kept)
            first = w * dilation
            index[axis] = slice(first, first + data.shape[axis] * stride, stride)
            out[tuple(index)] += data[..., w]
        return Named(tuple(kept), out)

    # ---- shape ---------------------------------------------------------------

    def rename(self, op: ir.Operation, x: Named) -> Named:
        to = dict(zip(names(op.attributes["from"]), names(op.attributes["to"]), strict=True))
        return Named(tuple(to.get(d, d) for d in x.dims), x.data)

    def broadcast(self, op: ir.Operation, x: Named, *sizes: Named) -> Named:
        dims = xtd.ArrayType(op.result.type).dims
        given = iter(sizes)
        shape = [x.size(n) if n in x.dims else int(next(given).data) if s is None else s for n, s in dims]
        order = tuple(n for n, _ in dims)
        return Named(order, np.broadcast_to(x.over(order), shape))

    def sized(self, op: ir.Operation, x: Named, *sizes: Named) -> Named:
        return x

    def squeeze(self, op: ir.Operation, x: Named) -> Named:
        dims = names(op.attributes["dims"])
        data = x.data.squeeze(tuple(x.dims.index(d) for d in dims))
        return Named(tuple(d for d in x.dims if d not in dims), data)

    def slice(self, op: ir.Operation, x: Named) -> Named:
        index = [slice(None)] * x.data.ndim
        lists = [amounts(op.attributes[a]) for a in ("offsets", "sizes", "strides")]
        for dim, offset, size, stride in zip(names(op.attributes["dims"]), *lists, strict=True):
            index[x.dims.index(dim)] = slice(offset, offset + size * stride, stride) if size else slice(0, 0)
        return Named(x.dims, x.data[tuple(index)])

    def pad(self, op: ir.Operation, x: Named, value: Named) -> Named:
        shape, index = list(x.data.shape), [slice(None)] * x.data.ndim
        lists = [amounts(op.attributes[a]) for a in ("low", "high", "interior")]
        for dim, low, high, interior in zip(names(op.attributes["dims"]), *lists, strict=True):
            axis = x.dims.index(dim)
            stretched = shape[axis] + max(shape[axis] - 1, 0) * interior
            index[axis] = slice(low, low + stretched, interior + 1)
            shape[axis] = low + stretched + high
        out = np.full(shape, value.data, x.data.dtype)
        out[tuple(index)] = x.data
        return Named(x.dims, out)

    def concat(self, op: ir.Operation, *inputs: Named) -> Named:
        dims = inputs[0].dims
        return Named(dims, np.concatenate([a.over(dims) for a in inputs], dims.index(name(op.attributes["dim"]))))

    def merge(self, op: ir.Operation, x: Named) -> Named:
        dims = names(op.attributes["dims"])
        kept = [d for d in x.dims if d not in dims]
        data = x.over([*kept, *dims])
        shape = [*data.shape[: len(kept)], int(np.prod(data.shape[len(kept) :]))]
        return Named((*kept, name(op.attributes["into"])), data.reshape(shape))

    def split(self, op: ir.Operation, x: Named) -> Named:
        dim = name(op.attributes["dim"])
        kept = [d for d in x.dims if d != dim]
        data = x.over([*kept, dim])
        shape = [*data.shape[:-1], *amounts(op.attributes["sizes"])]
        return Named((*kept, *names(op.attributes["into"])), data.reshape(shape))

    def reverse(self, op: ir.Operation, x: Named) -> Named:
        return Named(x.dims, np.flip(x.data, [x.dims.index(d) for d in names(op.attributes["dims"])]))

    def fourier(self, op: ir.Operation, x: Named) -> Named:
        kind, pair = ir.IntegerAttr(op.attributes["kind"]).value, name(op.attributes["pair"])
        scale = ir.FloatAttr(op.attributes["scale"]).value if "scale" in op.attributes else 1.0
        kept = [d for d in x.dims if d != pair]
        data = x.over([*kept, pair]) if pair in x.dims else x.over(kept)
        z = data[..., 0] + 1j * data[..., 1] if pair in x.dims else data
        axes = [kept.index(d) for d in names(op.attributes["dims"])]
        if kind == xtd.FourierKind.hermitian:
            sizes = [*(z.shape[a] for a in axes[:-1]), ir.IntegerAttr(op.attributes["size"]).value]
            return Named(tuple(kept), scale * np.fft.irfftn(z, sizes, axes, norm="forward"))
        transforms = {xtd.FourierKind.forward: np.fft.fftn, xtd.FourierKind.real: np.fft.rfftn}
        y = transforms[kind](z, axes=axes) if kind in transforms else np.fft.ifftn(z, axes=axes, norm="forward")
        return Named((*kept, pair), scale * np.stack([y.real, y.imag], -1))

    # ---- index ---------------------------------------------------------------

    @staticmethod
    def positions(
        source: Named, indices: Sequence[Named], along: list[str], mode: int
    ) -> tuple[tuple[str, ...], list[np.ndarray], np.ndarray]:
        """The view's dims, where its elements are in `source`, and which of them are inside."""
        kept = [d for d in source.dims if d not in along]
        fresh = [d for d in union(indices) if d not in kept]
        dims: list[str] = []
        for d in source.dims:
            if d in kept:
                dims.append(d)
            elif fresh:
                dims += fresh
                fresh = []
        sizes = {d: source.size(d) for d in kept} | {d: i.size(d) for i in indices for d in i.dims if d not in kept}
        shape = [sizes[d] for d in dims]
        inside = np.ones(shape, bool)
        where = []
        for d in source.dims:
            if d in kept:
                at = Named((d,), np.arange(source.size(d))).over(dims)
            else:
                at = indices[along.index(d)].over(dims).astype(np.int64)
                n = source.size(d)
                outside = (at < -n) | (at >= n)
                if mode == 0 and outside.any():
                    raise IndexError(f"index {at[outside].flat[0]} is out of range for dim {d!r} of size {n}")
                at = np.clip(np.where(at < 0, at + n, at), 0, n - 1)
                inside = inside & ~outside if mode == 2 else inside
            where.append(np.broadcast_to(at, shape))
        return tuple(dims), where, np.broadcast_to(inside, shape)

    def gather(self, op: ir.Operation, source: Named, *indices: Named) -> Named:
        dims, where, inside = self.positions(source, indices, names(op.attributes["along"]), kind(op, "mode"))
        if any(source.size(d) == 0 for d in names(op.attributes["along"])):
            return Named(dims, np.zeros(inside.shape, source.data.dtype))
        return Named(dims, source.data[tuple(where)])

    def in_order(
        self, op: ir.Operation, target: Named, indices: Sequence[Named]
    ) -> tuple[tuple[str, ...], list[tuple[tuple[int, ...], tuple[int, ...]]]]:
        """The view's dims, and where each element of it lies there and in the target, in index order: by the
        indices' dims in the order of their names."""
        along = names(op.attributes["along"])
        dims, where, inside = self.positions(target, indices, along, kind(op, "mode"))
        own = sorted(d for d in union(indices) if d not in target.dims or d in along)
        order = [dims.index(d) for d in (*own, *(d for d in dims if d not in own))]
        shape = [inside.shape[k] for k in order]
        steps = []
        for at in np.ndindex(*shape):
            place = tuple(at[order.index(k)] for k in range(len(dims)))
            if inside[place]:
                steps.append((place, tuple(int(w[place]) for w in where)))
        return dims, steps

    def scatter(self, op: ir.Operation, target: Named, *others: Named) -> Named:
        *indices, updates = others
        dims, steps = self.in_order(op, target, indices)
        combine = [np.add, lambda old, new: new, np.multiply, np.maximum, np.minimum][kind(op, "kind")]
        half = target.data.dtype.itemsize == 2 and target.data.dtype.kind not in "iu"
        out = np.array(target.data, np.float32 if half and kind(op, "kind") in (0, 2) else None)
        values = np.broadcast_to(updates.over(dims), self.view_shape(dims, target, indices, op))
        for place, at in steps:
            out[at] = combine(out[at], values[place].astype(out.dtype))
        return Named(target.dims, out)

    @staticmethod
    def view_shape(dims: Sequence[str], target: Named, indices: Sequence[Named], op: ir.Operation) -> list[int]:
        along = names(op.attributes["along"])
        sizes = {d: i.size(d) for i in indices for d in i.dims}
        return [sizes[d] if d in sizes and (d not in target.dims or d in along) else target.size(d) for d in dims]

    def accumulate(self, op: ir.Operation, start: Named, terms: Named, factors: Named, *indices: Named) -> Named:
        dims, steps = self.in_order(op, start, indices)
        shape = self.view_shape(dims, start, indices, op)
        term, factor = (np.broadcast_to(a.over(dims), shape) for a in (terms, factors))
        state, found = np.array(start.data), np.zeros(shape, start.data.dtype)
        for place, at in reversed(steps) if "reverse" in op.attributes else steps:
            found[place] = state[at]
            state[at] = factor[place] * state[at] + term[place]
        return Named(start.dims, state) if kind(op, "kind") == 0 else Named(dims, found)

    # ---- sort ----------------------------------------------------------------

    def argsort(self, op: ir.Operation, x: Named) -> Named:
        axis = x.dims.index(name(op.attributes["dim"]))
        rows = np.moveaxis(x.data, axis, -1)
        out = np.empty(rows.shape, np.int64)
        for at in np.ndindex(rows.shape[:-1]):
            row = list(rows[at])
            order = [i for i, v in enumerate(row) if v == v]
            order.sort(key=lambda i: row[i], reverse="descending" in op.attributes)
            out[at] = order + [i for i, v in enumerate(row) if v != v]
        return Named(x.dims, np.moveaxis(out, -1, axis))


FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
