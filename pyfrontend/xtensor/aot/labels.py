"""Which coordinates a loaded function keeps, as its manifest says.

The exporter follows them through the traced program (labels/xarray.py). The compiled program and its IR do not hold
all of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.dtypes import as_dtype
from ..base.errors import Error, LabelError
from ..labels.xarray import Followed, Labels, Meeting, digest
from ..values.spec import Spec
from .schema import RefusedError, brief, items, mapping, number, one_of, optional, record, refuse, row, text

_MOST = 1 << 24  # positions of a coordinate, and how far they are shifted
_MANY = 1 << 12
_DEEPEST = 16
_PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


def _origin(depth: int) -> Any:
    return row(number(0, _MANY), text(1024), items(lambda x, w: _step(x, w, depth), most=_MANY))


def _positions(value: Any, where: str) -> Any:
    """The number of an argument, or what they are."""
    return (items(number(-_MOST, _MOST), most=_MOST) if isinstance(value, list) else number(0, _MANY))(value, where)


_BOUND = number(-_MOST, _MOST)
_STEPS = {
    "slice": row(one_of(["slice"]), _BOUND, optional(number(0, _MOST)), _BOUND),
    "pad": row(one_of(["pad"]), number(0, _MOST), number(0, _MOST), one_of(_PAD_MODES)),
    "drop": row(one_of(["drop"]), items(text(1024), most=_MANY), number(-1, 1)),
    "only": row(one_of(["only"])),
    "coarsen": row(one_of(["coarsen"]), number(1, _MOST), one_of(["exact", "trim"]), one_of(["left", "right"])),
    "stack": row(one_of(["stack"]), items(row(text(1024), number(0, _MOST)), most=64, least=1), text(1024)),
    "windows": row(one_of(["windows"]), number(0, _MOST)),
    "take": row(one_of(["take"]), optional(_positions), optional(text(1024, least=1))),
}


def _step(value: Any, where: str, depth: int) -> Any:
    kind = value[0] if isinstance(value, list) and value else None
    if kind == "concat" and depth < _DEEPEST:
        return row(one_of(["concat"]), items(_origin(depth + 1), most=_MANY, least=1))(value, where)
    if not isinstance(kind, str) or kind not in _STEPS:
        raise refuse(value, where, "a step of a coordinate")
    return _STEPS[kind](value, where)


_ORIGINS = items(_origin(0), most=_MANY)
_WHERE = mapping(text(1024), lambda value, where: frozenset(_ORIGINS(value, where)), most=_MANY)


def _operand(dtype: str, dims: tuple[str, ...], sizes: tuple[int | None, ...], origins: Any) -> Any:
    if len(dims) != len(sizes):
        raise RefusedError("labels are of an operand that has dims without sizes")
    try:
        return Spec._of(dims, sizes, as_dtype(dtype)), origins
    except (Error, TypeError) as error:
        raise RefusedError(f"labels are of an operand that is not an array: {brief(str(error))}") from None


_OPERAND = record(
    _operand,
    {
        "dtype": text(20, r"\w+"),
        "dims": items(text(1024), most=64),
        "sizes": items(optional(number(0, 2**59)), most=64),
        "origins": _WHERE,
    },
)
_MEETING = record(Meeting, {"op": text(1024), "line": optional(text(8192)), "operands": items(_OPERAND, most=_MANY)})
_CONSULTED = items(row(number(0, _MANY), mapping(text(1024), text(64, "[0-9a-f]{64}"), most=_MANY)), most=_MANY)
followed = record(
    Followed,
    {"results": items(_WHERE, most=1 << 16), "meetings": items(_MEETING, most=_MANY)},
    {"consulted": lambda value, where: dict(_CONSULTED(value, where))},
)


def to_json(found: Followed, results: Sequence[Spec]) -> dict[str, Any]:
    """What `followed` reads."""
    meetings = [
        {
            "op": m.op,
            "line": m.line and Path(m.line).name,
            "operands": [
                {
                    "dtype": s.dtype.name,
                    "dims": list(s.dims),
                    "sizes": list(s.shape),
                    "origins": _origins(where, s.dims),
                }
                for s, where in m.operands
            ],
        }
        for m in found.meetings
    ]
    wheres = [_origins(where, s.dims) for where, s in zip(found.results, results, strict=True)]
    consulted = [[i, dict(coords)] for i, coords in sorted(found.consulted.items())]
    return {"results": wheres, "meetings": meetings} | ({"consulted": consulted} if consulted else {})


def check_labels(function: Any, i: int, labels: Labels, followed: Followed) -> None:
    """The positions that the code reads were worked out from the labels that argument `i` had at the export. An array
    without labels counts as one with these."""
    for name, exported in followed.consulted[i].items() if labels.coords else ():
        variable = labels.coords.get(name)
        if variable is None or digest(variable) != exported:
            there = "has no labels" if variable is None else "has other labels"
            raise LabelError(
                f"{function.name}: argument {function.arguments[i].name} {there} along {name!r} than the array with "
                "which the function was exported, and the function reads by label. Export it for these labels, or work "
                "out positions outside of it, and pass them as an argument"
            )


def _origins(where: Mapping[str, Any], dims: Sequence[str]) -> dict[str, Any]:
    kept = {d: froms for d, froms in where.items() if froms and _is_place(d, dims)}
    return {d: _within_limits([_listed(o) for o in sorted(froms, key=repr)]) for d, froms in kept.items()}


def _is_place(name: str, dims: Sequence[str]) -> bool:
    return name in dims or name.startswith("~")


def _within_limits(origins: list[Any]) -> list[Any]:
    """What a manifest may not say is lost."""
    try:
        _ORIGINS(origins, "")
    except RefusedError:
        return []
    return origins


def _listed(x: Any) -> Any:
    return [_listed(y) for y in x] if isinstance(x, tuple) else x


def fits(found: Followed, inputs: int, results: Sequence[tuple[str, ...]]) -> bool:
    """Whether it speaks of the arrays that there are, and the dims that results have."""

    def at(origin: Any) -> bool:
        i, _, steps = origin
        taken = all(not isinstance(s[1], int) or s[1] < inputs for s in steps if s[0] == "take")
        return i < inputs and taken and all(at(o) for s in steps if s[0] == "concat" for o in s[1])

    wheres = [(where, s.dims) for m in found.meetings for s, where in m.operands]
    wheres += zip(found.results, results, strict=False)
    return len(found.results) == len(results) and all(
        _is_place(d, dims) and all(map(at, froms)) for where, dims in wheres for d, froms in where.items()
    )
