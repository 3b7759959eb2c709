"""`xt.from_stablehlo`: all rules together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import read, read_combined, read_control, read_elementwise, read_positions


def function(given: Any, dims: Sequence[Any] | None) -> Any:
    rules = read_elementwise.RULES | read_combined.RULES | read_positions.RULES | read_control.RULES
    return read.function(given, dims, rules)
