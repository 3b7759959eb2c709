"""Checks for tests of code that is differentiated or vectorized."""

import sys
from typing import TYPE_CHECKING

from ..call.dispatch import plain
from ..surface.hints import module_lookup
from .gradients import check_gradients as _check_gradients
from .vectorized import check_vectorized as _check_vectorized

__all__ = ["check_gradients", "check_vectorized"]

check_gradients = plain(_check_gradients, "testing.check_gradients")
check_vectorized = plain(_check_vectorized, "testing.check_vectorized")


if not TYPE_CHECKING:  # else any attribute would pass
    __getattr__ = module_lookup(sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
