"""Signals along named dims: `xt.signal`."""

from .ops.convolution import convolve

__all__ = ["convolve"]


def __dir__() -> list[str]:
    return sorted(__all__)
