"""Fourier transforms of PyTensor, on named arrays. Its ops for real arrays have an axis of size 2 for the real and the
imaginary part."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from ... import fft, ops
from ...base.errors import ArgumentError
from .graph import Run, fixed, implements
from .values import axis, full, kept


def _sizes(given: Any, count: int, node: Apply) -> list[int]:
    """The size of each axis that is transformed."""
    sizes = [int(n) for n in np.atleast_1d(fixed(given, "the shape", node))]
    if len(sizes) != count:
        raise ArgumentError(
            f"{node.op}, by which {node.outputs[0]} is computed, transforms the {count} axes of {node.inputs[0]} after "
            f"the first, and has sizes for {len(sizes)}: {sizes}"
        )
    return sizes


@implements("RFFTOp", known=lambda node: node.inputs[1:])
def rfft(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type
    along = [axis(i) for i in range(1, type_.ndim)]
    pair = axis(type_.ndim)

    def run(x: Any, sizes: Any) -> Any:
        wanted = dict(zip(along, _sizes(sizes, len(along), node), strict=True))
        z = fft.rfft(full(x, type_, {*kept(type_), *range(1, type_.ndim)}), along, n=wanted)
        return ops.concat([ops.expand_dims(part, {pair: 1}) for part in (ops.real(z), ops.imag(z))], pair)

    return run


@implements("IRFFTOp", known=lambda node: node.inputs[1:])
def irfft(op: Any, node: Apply) -> Run:
    """The sum, without the factor 1 / n."""
    type_ = node.inputs[0].type
    along = [axis(i) for i in range(1, type_.ndim - 1)]
    pair = axis(type_.ndim - 1)

    def run(x: Any, sizes: Any) -> Any:
        wanted = dict(zip(along, _sizes(sizes, len(along), node), strict=True))
        x = full(x, type_, {*kept(type_), *range(1, type_.ndim)})
        z = ops.complex(ops.isel(x, {pair: 0}), ops.isel(x, {pair: 1}))
        return fft.irfft(z, along, n=wanted, norm="forward")

    return run


@implements("Fourier", known=lambda node: node.inputs[1:])
def transform(op: Any, node: Apply) -> Run:
    type_ = node.inputs[0].type

    def run(x: Any, size: Any, along: Any) -> Any:
        i, n = int(fixed(along, "the axis", node)), int(fixed(size, "the size", node))
        return fft.fft(full(x, type_, {*kept(type_), i}), axis(i), n=n)

    return run
