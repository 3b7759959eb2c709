"""Named: what arrays with values and traced ones have in common. Its operators and methods come when the functions that
they call are there (surface/attach.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..surface.methods import ArrayMethods as Named  # type checkers see the methods
else:

    class Named:
        __slots__ = ()


__all__ = ["Named"]
