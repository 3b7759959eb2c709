"""Fourier transforms along named dims: `xt.fft`."""

from .ops.cosines import dct, dst, idct, idst
from .ops.fourier import fft, hfft, ifft, ihfft, irfft, rfft
from .ops.frequencies import fftfreq, fftshift, ifftshift, rfftfreq

__all__ = [
    "dct", "dst", "fft", "fftfreq", "fftshift", "hfft", "idct", "idst", "ifft", "ifftshift", "ihfft", "irfft", "rfft",
    "rfftfreq",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
