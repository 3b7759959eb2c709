"""Ops of StableHLO that combine elements: reductions, windows, sorts, convolutions, matrices, Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ...base import dtypes
from ...ops.sorting import top_k
from ...trace import build
from ...trace.lift import as_tracer
from ...trace.tracer import Tracer
from .parts import ascends, blocks_of, combination, extremum, integers, shape_of
from .read_elementwise import padded
from .values import Reader, RefusedError, axes, dtype_of, filled, given, in_axes

_BODY = "its region is another function than add, multiply, maximum, minimum, and, or"
_KINDS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "or": "any", "and": "all"}
_OPS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def kind_of(op: Any, x: Tracer, number: int = 0, count: int = 1) -> str:
    """sum, prod, max, min, any or all."""
    found = _KINDS.get(combination(blocks_of(op)[0], number, count) or "")
    if dtypes.is_bool(x.dtype):
        found = {"max": "any", "sum": "any", "min": "all", "prod": "all"}.get(found or "", found)
    elif found in ("any", "all"):
        found = None
    if found is None:
        raise RefusedError(_BODY)
    return found


def _neutral(kind: str, value: Any) -> bool:
    """Whether a reduction that starts with this operand starts with nothing."""
    source: Any = value
    while not isinstance(source.owner, ir.Block) and source.owner.name in ("stablehlo.broadcast_in_dim",):
        source = source.owner.operands[0]
    if isinstance(source.owner, ir.Block) or source.owner.name != "stablehlo.constant":
        return False
    attribute, dtype = source.owner.attributes["value"], dtype_of(source)
    number = attribute.get_splat_value().value
    if kind in ("sum", "any"):
        return bool(number == 0)
    if kind in ("prod", "all"):
        return bool(number == 1)
    if dtypes.is_float(dtype):
        return bool(number == (-math.inf if kind == "max" else math.inf))
    limits = np.iinfo(dtype)
    return bool(number == (limits.min if kind == "max" else limits.max))


def _started(kind: str, y: Tracer, start: Tracer, operand: Any) -> Tracer:
    return y if _neutral(kind, operand) else build.binary(_OPS[kind], y, start)


def _reduce(reader: Reader, op: Any, known: Any, *operands: Tracer) -> list[Tracer]:
    count = len(operands) // 2
    xs, starts = operands[:count], operands[count:]
    at = integers(op, "dimensions")
    over = [xs[0].dims[i] for i in at]
    kept = [d for d in xs[0].dims if d not in over]
    found = extremum(blocks_of(op)[0]) if count == 2 and len(at) == 1 else None
    if found is not None and _is_iota(op.operands[1], at[0]):
        dtype = dtype_of(op.results[1])
        best = build.reduce(found.removeprefix("arg"), xs[0], over)
        where = build.cast(build.reduce(found, xs[0], over), dtype)
        return [in_axes(best, kept), in_axes(where, kept)]
    made = []
    for i, (x, start) in enumerate(zip(xs, starts, strict=True)):
        kind = kind_of(op, x, i, count)
        if 0 in shape_of(op.operands[i]) and kind in ("max", "min"):
            made.append(filled(start, shape_of(op.results[i])))
            continue
        y = in_axes(build.reduce(kind, x, over) if over else x, kept)
        made.append(_started(kind, y, start, op.operands[count + i]))
    return made


def _is_iota(value: Any, axis: int) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "stablehlo.broadcast_in_dim":
        at = integers(owner, "broadcast_dimensions")
        return axis in at and _is_iota(owner.operands[0], at.index(axis))
    return bool(owner.name == "stablehlo.iota" and int(owner.attributes["iota_dimension"]) == axis)


def _reduce_window(reader: Reader, op: Any, known: Any, x: Tracer, start: Tracer, *others: Tracer) -> Tracer:
    if others:
        raise RefusedError("windows of several arrays are not served")
    kind, rank = kind_of(op, x), len(x.dims)
    sizes, ones = integers(op, "window_dimensions"), [1] * rank
    strides, dilations = integers(op, "window_strides", ones), integers(op, "window_dilations", ones)
    inside = [n - 1 for n in integers(op, "base_dilations", ones)]
    pads = padding_of(op, rank)
    shape = shape_of(op.operands[0])
    running = [i for i in range(rank) if sizes[i] != 1]
    if len(running) == 1 and not any(inside) and strides == ones and _neutral(kind, op.operands[1]):
        i, n = running[0], shape[running[0]]
        runs = sizes[i] == n and dilations[i] == 1 and sorted(pads[i]) == [0, n - 1]
        if runs and not dtypes.is_bool(x.dtype):
            return build.cumulative(kind, x, x.dims[i], reverse=pads[i][1] > 0)
    x = padded(x, start, [(low, high, n) for (low, high), n in zip(pads, inside, strict=True)])
    dims = x.dims
    over = []
    for i, d in enumerate(dims):
        if sizes[i] != 1 or strides[i] != 1:
            over.append(f"window~{i}")
            x = build.window(x, d, over[-1], sizes[i], strides[i], dilations[i])
    y = in_axes(build.reduce(kind, x, over), dims) if over else x
    return _started(kind, y, start, op.operands[1])


def padding_of(op: Any, rank: int) -> list[tuple[int, int]]:
    if "padding" not in op.attributes:
        return [(0, 0)] * rank
    numbers = np.array(ir.DenseIntElementsAttr(op.attributes["padding"])).reshape(-1, 2)
    return [(int(low), int(high)) for low, high in numbers]


def _sort(reader: Reader, op: Any, known: Any, *xs: Tracer) -> list[Tracer]:
    order = ascends(blocks_of(op)[0])
    if order is None or (not order and dtypes.is_float(xs[0].dtype)):
        raise RefusedError(
            "only sorts by the first array are served, in ascending order or, of integers, in descending order"
        )
    dim = xs[0].dims[int(op.attributes["dimension"])]
    at = build.argsort(xs[0], dim, descending=not order)
    return [in_axes(build.gather("clip", x, {dim: at}), x.dims) for x in xs]


def _top_k(op: Any, x: Tracer) -> list[Tracer]:
    values, at = map(as_tracer, top_k(x, int(op.attributes["k"]), dim=x.dims[-1]))
    return [in_axes(values, x.dims), build.cast(in_axes(at, x.dims), dtype_of(op.results[1]))]


# -- convolutions


def _convolution(op: Any, x: Tracer, w: Tracer) -> Tracer:
    n = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    spatial, count = list(n.input_spatial_dimensions), len(n.input_spatial_dimensions)
    ones = [1] * count
    strides, dilations = integers(op, "window_strides", ones), integers(op, "rhs_dilation", ones)
    inside = [k - 1 for k in integers(op, "lhs_dilation", ones)]
    reversal = op.attributes["window_reversal"] if "window_reversal" in op.attributes else [False] * count
    groups = int(op.attributes["feature_group_count"])
    batches = int(op.attributes["batch_group_count"])
    dtype = dtype_of(op.results[0])
    names = [""] * len(x.dims)
    names[n.input_batch_dimension], names[n.input_feature_dimension] = "batch~", "in~"
    for i, a in enumerate(spatial):
        names[a] = f"space~{i}"
    amounts = [(0, 0, 0)] * len(names)
    for a, (low, high), more in zip(spatial, padding_of(op, count), inside, strict=True):
        amounts[a] = (low, high, more)
    x = given(padded(build.cast(x, dtype), build.constant(np.zeros((), dtype)), amounts), names)
    kernel = [""] * len(w.dims)
    kernel[n.kernel_output_feature_dimension], kernel[n.kernel_input_feature_dimension] = "out~", "in~"
    for i, a in enumerate(n.kernel_spatial_dimensions):
        kernel[a] = f"inside~{i}"
    w = given(build.cast(w, dtype), kernel)
    flips = [f"inside~{i}" for i, flip in enumerate(reversal) if flip]
    w = build.reverse(w, flips) if flips else w
    sizes: Any = w.spec.sizes
    for i in range(count):
        x = build.window(x, f"space~{i}", f"inside~{i}", sizes[f"inside~{i}"], strides[i], dilations[i])
    out, group = ["out~"], max(groups, batches)
    if group > 1:
        split = "in~" if groups > 1 else "batch~"
        have: Any = x.spec.sizes
        x = build.split(x, split, {"group~": group, f"{split}part": have[split] // group})
        x = build.rename(x, {f"{split}part": split})
        w = build.split(w, "out~", {"group~": group, "out~part": sizes["out~"] // group})
        out = ["group~", "out~part"]
    y = build.contract((x, w), ["in~", *(f"inside~{i}" for i in range(count))])
    y = build.merge(y, out, "out~") if group > 1 else y
    order = [""] * len(names)
    order[n.output_batch_dimension], order[n.output_feature_dimension] = "batch~", "out~"
    for i, a in enumerate(n.output_spatial_dimensions):
        order[a] = f"space~{i}"
    return in_axes(y, order)


# -- matrices and transforms


def _fft(op: Any, x: Tracer) -> Tracer:
    kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">")
    lengths = integers(op, "fft_length")
    dims = x.dims[len(x.dims) - len(lengths) :]
    scale = 1.0 / math.prod(lengths) if kind in ("IFFT", "IRFFT") else 1.0
    name = {"FFT": "forward", "IFFT": "backward", "RFFT": "real", "IRFFT": "hermitian"}[kind]
    return in_axes(build.fourier(name, x, dims, scale, lengths[-1] if kind == "IRFFT" else None), x.dims)


def cholesky_of(x: Tracer) -> Tracer:
    _matrix_dtype(x)
    return in_axes(build.factor("cholesky", x, x.dims[-2:])[0], x.dims)


def _matrix_dtype(x: Tracer) -> None:
    if x.dtype.name not in ("float32", "float64"):
        raise RefusedError("matrices have the dtype float32 or float64 here")


def _cholesky(op: Any, x: Tracer) -> Tracer:
    lower = "lower" in op.attributes and bool(op.attributes["lower"].value)
    factor = cholesky_of(x)
    return factor if lower else in_axes(factor, (*x.dims[:-2], x.dims[-1], x.dims[-2]))


def solved(a: Tracer, b: Tracer, *, left: bool, lower: bool, unit: bool, transposed: bool) -> Tracer:
    """x with op(a) x = b, or x op(a) = b."""
    _matrix_dtype(a)
    batch = axes(len(a.dims) - 2)
    if not left:  # op(a)^T x^T = b^T
        transposed = not transposed
    a = given(a, (*batch, "row~", "col~"))
    names = (*batch, "side~", "other~") if left else (*batch, "other~", "side~")
    row, col = ("col~", "row~") if transposed else ("row~", "col~")
    b = build.rename(given(b, names), {"side~": row})
    y = build.triangular_solve(a, b, (row, col), lower == transposed, unit)
    return in_axes(build.rename(y, {col: "side~"}), names)


def _triangular_solve(op: Any, a: Tracer, b: Tracer) -> Tracer:
    flags = {k: bool(op.attributes[k].value) for k in ("left_side", "lower", "unit_diagonal")}
    kind = str(op.attributes["transpose_a"])
    if dtypes.is_complex(a.dtype):
        raise RefusedError("triangular systems of complex numbers are not served")
    return solved(
        a,
        b,
        left=flags["left_side"],
        lower=flags["lower"],
        unit=flags["unit_diagonal"],
        transposed="NO_TRANSPOSE" not in kind,
    )


def _custom_call(op: Any, *xs: Tracer) -> Sequence[Tracer]:
    """What JAX calls on a CPU for matrices; and marks of shardings, which say nothing of values."""
    target = op.attributes["call_target_name"].value
    if target in ("Sharding", "annotate_device_placement"):
        return xs
    config: Any = op.attributes.get("mhlo.backend_config", {})

    def letter(name: str) -> str:
        return chr(config[name].value)

    if target in ("lapack_spotrf_ffi", "lapack_dpotrf_ffi") and letter("uplo") == "L":
        shape, dtype = shape_of(op.results[1]), dtype_of(op.results[1])
        return cholesky_of(xs[0]), filled(build.constant(np.zeros((), dtype)), shape)
    if target in ("lapack_strsm_ffi", "lapack_dtrsm_ffi"):
        given_ = {"left": letter("side") == "L", "lower": letter("uplo") == "L", "unit": letter("diag") == "U"}
        return [solved(xs[0], xs[1], **given_, transposed=letter("trans_x") != "N")]
    raise RefusedError("it calls a library")


RULES: dict[str, Callable[..., Any]] = {
    "cholesky": _cholesky,
    "convolution": _convolution,
    "custom_call": _custom_call,
    "fft": _fft,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "sort": _sort,
    "top_k": _top_k,
    "triangular_solve": _triangular_solve,
}
