"""The cases of sweep.py, by family."""

from __future__ import annotations

from cells.case import Case
from cells.convolutions import conv
from cells.elementwise import elementwise, sizes
from cells.functions import fourier, random, special, statistics
from cells.gradients import gradients
from cells.matrices import matrices
from cells.moves import casts, moves
from cells.positions import positions, sorting
from cells.reductions import reductions
from cells.stencils import stencils
from cells.views import views
from cells.windows import products, scans, windows

_MAKERS = (moves, casts, views, elementwise, sizes, special, random, reductions, scans, windows, statistics, positions)
_MAKERS += (sorting, fourier, products, matrices, conv, gradients, stencils)

FAMILIES: dict[str, list[Case]] = {make.__name__: list(make()) for make in _MAKERS}
