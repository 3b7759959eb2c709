"""Checks for tests of code that is differentiated or vectorized."""

from .gradients import check_gradients
from .vectorized import check_vectorized

__all__ = ["check_gradients", "check_vectorized"]


def __dir__() -> list[str]:
    return sorted(__all__)
