"""Registers the dialect with every context. Dialects load when they are met, not up front."""

from ._xtensor import register_dialects

disable_load_all_available_dialects = True
disable_multithreading = True

__all__ = ["register_dialects"]
