"""Signals along named dims: `xt.signal`."""

from typing import TYPE_CHECKING

from .core.absent import module_lookup
from .ops.convolution import convolve

__all__ = ["convolve"]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # else any attribute would pass
    __getattr__ = module_lookup(__name__)
