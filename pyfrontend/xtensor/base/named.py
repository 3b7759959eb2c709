"""The bases of arrays. Named: what arrays with values and traced ones have in common; Labelled: what arrays with values
have besides. Their operators and methods come when the functions that they call are there (surface/attach.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..surface.methods import ArrayMethods as Named  # type checkers see the methods
    from ..surface.methods import LabelMethods as Labelled
else:

    class Named:
        __slots__ = ()

    class Labelled(Named):
        __slots__ = ()


__all__ = ["Labelled", "Named"]
