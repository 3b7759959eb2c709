"""What ops of StableHLO say of themselves, read by the bindings of jaxlib."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir


def short_name(op: Any) -> str:
    """add of stablehlo.add."""
    name: str = op.name
    return name.partition(".")[2]


def shape_of(value: Any) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape) if isinstance(value.type, ir.RankedTensorType) else []


def integers(op: Any, name: str, default: Sequence[int] = ()) -> list[int]:
    return list(op.attributes[name]) if name in op.attributes else list(default)


def blocks_of(op: Any) -> list[Any]:
    return [region.blocks[0] for region in op.regions]


def complex_constant(op: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """The numbers of a constant, by its text: the bindings do not give complex ones. One number stands for all."""
    text = str(op).partition("dense<")[2].rpartition("> : ")[0]
    if text.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(text.strip('"')[2:]), dtype)
    part = np.dtype(f"f{np.dtype(dtype).itemsize // 2}")

    def number(word: str) -> Any:
        bits = word.strip()
        if not bits.startswith("0x"):
            return part.type(bits)
        return np.frombuffer(int(bits, 16).to_bytes(part.itemsize, "little"), part)[0]

    pairs = re.findall(r"\(([^,()]+),([^,()]+)\)", text)
    return np.array([complex(number(a), number(b)) for a, b in pairs], dtype)


def line_of(op: Any) -> str | None:
    """FILE:LINE of the user's program where the text has places."""
    found = re.search(r'"([^"]+)":(\d+)', str(op.location))
    return f"{found[1]}:{found[2]}" if found else None


def reshape_groups(given: Sequence[int], made: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The axes of `given` and those of `made` that hold the same elements, in groups as small as can be. Axes of size
    1 are in no group. Sizes are not 0."""
    xs, ys = ([i for i, n in enumerate(shape) if n != 1] for shape in (given, made))
    groups, i, j = [], 0, 0
    while i < len(xs):
        left, right = [xs[i]], [ys[j]]
        a, b = given[xs[i]], made[ys[j]]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a *= given[xs[i]]
                left.append(xs[i])
                i += 1
            else:
                b *= made[ys[j]]
                right.append(ys[j])
                j += 1
        groups.append((left, right))
    return groups


def combination(block: Any, number: int = 0, count: int = 1) -> str | None:
    """The op that a region combines operand `number` of `count` by: "add", or "second" where it keeps the second one.
    None: another region."""
    *ops, last = [view.operation for view in block.operations]
    given = [block.arguments[number], block.arguments[number + count]]
    value = last.operands[number]
    if value == given[1]:
        return "second"
    if len(ops) != count:
        return None
    op = ops[number]
    if len(op.results) != 1 or op.results[0] != value or len(op.operands) != 2:
        return None
    return short_name(op) if {*op.operands} == {*given} else None


_CHOICE = ["compare", "compare", "and", "or", "select", "select"]
_EXTREMUM = (["compare", "compare", "or", *_CHOICE], ["compare", *_CHOICE])  # with NaN, and of integers without it


def extremum(block: Any) -> str | None:
    """argmax or argmin, where a region chooses a value and its position as JAX's does."""
    *ops, last = [view.operation for view in block.operations]
    if [short_name(op) for op in ops] not in _EXTREMUM:
        return None
    first, a, b = ops[0], block.arguments[0], block.arguments[2]
    if list(first.operands) != [a, b] or [*last.operands] != [ops[-2].results[0], ops[-1].results[0]]:
        return None
    return {"GT": "argmax", "LT": "argmin"}.get(direction(first))


def direction(op: Any) -> str:
    """EQ, NE, LT .. of a comparison."""
    found = re.search(r"comparison_direction<?\s*(\w+)", str(op.attributes["comparison_direction"]))
    assert found is not None
    return found[1]


def ascends(block: Any, key: int = 0) -> bool | None:
    """Whether a region sorts operand `key`, and nothing else, in ascending order. None: another order."""
    ops = {view.operation.results[0]: view.operation for view in list(block.operations)[:-1]}
    last = list(block.operations)[-1].operation
    found = ops.get(last.operands[0])
    if found is None or short_name(found) != "compare":
        return None

    def source(value: Any) -> Any:
        """What JAX compares after it made zeros and NaN equal to each other."""
        while value in ops and short_name(ops[value]) == "select":
            value = ops[value].operands[2]
        return value

    given = [source(v) for v in found.operands]
    if given != [block.arguments[2 * key], block.arguments[2 * key + 1]]:
        return None
    return {"LT": True, "GT": False}.get(direction(found))
