"""Signals along named dims: `xt.signal`."""

from .ops.convolution import convolve

__all__ = ["convolve"]
