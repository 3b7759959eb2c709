"""The bases of the classes of arrays.

Named is the base of arrays with values and of traced arrays; Labelled is that of arrays with values only.
surface/attach.py adds operators and methods once the functions that they call are defined.
"""

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
