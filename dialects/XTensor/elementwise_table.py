"""Writes XTensorElementwise.inc, what the passes read of elementwise ops, from TableGen's records as JSON.

elementwise_table.py XTensorOps.json XTensorElementwise.inc

A pass defines one macro of `MACROS` and includes the file: the macro is called once per op that has the fields.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MACROS = (
    "XTENSOR_ELEMENTWISE_OP",  # (Op)
    "XTENSOR_MATH_FUNCTION",  # (Op, Math)
    "XTENSOR_VECTOR_FUNCTION",  # (Math, "name")
    "XTENSOR_WRITTEN_FUNCTION",  # (emit, Real x, Real y ..), one per operand
    "XTENSOR_KERNEL_FUNCTION",  # (Math, number of operands, emit, isShort)
    "XTENSOR_ELEMENTARY_FUNCTION",  # (Op, "name", number of operands, emit, isShort): no math op
    "XTENSOR_PARTIAL_RULE",  # (Op, {D(partial) for each operand}, D(factor) if there is one)
)


def calls(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(macro, arguments) of one op."""
    op = record["!name"].partition("_")[2]
    yield "XTENSOR_ELEMENTWISE_OP", op
    math, kernel = record.get("math"), record.get("kernel")
    if math:
        yield "XTENSOR_MATH_FUNCTION", f"{op}, {math}"
    if record.get("vector"):
        yield "XTENSOR_VECTOR_FUNCTION", f'{math}, "{record["vector"]}"'
    if kernel:
        count = len(record["arguments"]["args"])
        written = f"{count}, {kernel}, {str(bool(record['isShort'])).lower()}"
        yield "XTENSOR_WRITTEN_FUNCTION", ", ".join([kernel, *(f"Real x{i}" for i in range(count))])
        if math:
            yield "XTENSOR_KERNEL_FUNCTION", f"{math}, {written}"
        else:
            yield "XTENSOR_ELEMENTARY_FUNCTION", f'{op}, "{record["opName"]}", {written}'
    if partials := record.get("partials"):
        formulas = ", ".join(f"D({formula})" for formula in partials)
        factor = [f"D({record['factor']})"] if record.get("factor") else []
        yield "XTENSOR_PARTIAL_RULE", ", ".join([op, f"{{{formulas}}}", *factor])


def table(records: dict[str, Any]) -> str:
    found: dict[str, list[str]] = {macro: [] for macro in MACROS}
    for name in sorted(records["!instanceof"]["XTensor_InferredOp"]):
        record = records[name]
        if any(trait["def"] == "XTensor_Elementwise" for trait in record["traits"]):
            for macro, arguments in calls(record):
                found[macro].append(f"{macro}({arguments})")
    parts = ["\n".join([f"#ifdef {macro}", *lines, f"#undef {macro}", "#endif\n"]) for macro, lines in found.items()]
    return "// Written by elementwise_table.py.\n" + "".join(parts)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(table(json.loads(Path(sys.argv[1]).read_text())))
