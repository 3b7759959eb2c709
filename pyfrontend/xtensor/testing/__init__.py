"""For tests of code that is differentiated."""

from .gradients import check_gradients

__all__ = ["check_gradients"]
