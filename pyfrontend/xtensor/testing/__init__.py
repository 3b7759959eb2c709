"""Checks for tests of code that is differentiated or vectorized."""

from ..call.dispatch import plain
from .gradients import check_gradients as _check_gradients
from .vectorized import check_vectorized as _check_vectorized

__all__ = ["check_gradients", "check_vectorized"]

check_gradients = plain(_check_gradients, "testing.check_gradients")
check_vectorized = plain(_check_vectorized, "testing.check_vectorized")


def __dir__() -> list[str]:
    return sorted(__all__)
