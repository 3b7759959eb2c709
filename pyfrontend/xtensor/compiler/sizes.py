"""The dynamic sizes of a traced program in terms of the sizes of its inputs, and the checks that a call makes.

Inside a function, one name is one size. If an op gives an array a dynamic dim whose name exists already (by a
rename or a merge), every call compares the two sizes before anything runs. Every call also checks that a dim that
is reduced to its largest value is not empty. compiler/Sizes.cpp derives these checks, and manifests of bundles hold
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..base.errors import SizeError
from ..ir.context import compiler

if TYPE_CHECKING:
    from ..trace.program import Program

# A size: a number, the name of an open one, or a list of both that are multiplied.
Size = int | str | list[int | str]


class Sizes:
    """The sizes of a program's results; `equalities` are pairs that must agree, or sizes that must not be 0, with what
    raises otherwise."""

    def __init__(self, program: Program) -> None:
        self.results: list[list[Size]] = [list(o.shape) for o in program.outputs]  # type: ignore[arg-type]
        self.equalities: list[tuple[list[int | str], list[int | str] | None, Any]] = []
        if not any(s.is_dynamic for s in (*program.all_inputs, *program.outputs)):
            return
        found = json.loads(compiler().sizes(program.module))
        self.results = [r["sizes"][: o.ndim] for r, o in zip(found["results"], program.outputs, strict=True)]
        for e in found["equal"]:
            left, right = e["sizes"]
            self.equalities.append(equality(left, right, e["dim"], e["op"], e["location"]))
        for e in found["nonempty"]:
            self.equalities.append(nonempty(e["size"], e["message"], e["location"]))


def equality(
    left: Size, right: Size, dim: str, op: str, where: str, owners: Mapping[str, tuple[str, str]] | None = None,
    function: str = "",
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Two sizes that a call must agree on, as _native.Executable takes them. `owners`: the argument and its dim that an
    open size is read from, for callers of an exported function, which know only its arguments."""
    first, second = ((owners or {}).get(s) if isinstance(s, str) else None for s in (left, right))

    def refuse(there: int, new: int) -> None:
        if is_square(dim):
            raise not_square(dim, there, new, "", where or None)
        if first and second and owners:
            # The later argument is wrong: so are all sizes told.
            found = [(list(owners.values()).index(owner), owner, n) for owner, n in ((first, there), (second, new))]
            (_, (argument, own), is_), (_, (whose, other), wanted) = sorted(found, reverse=True)
            raise SizeError(
                f"{function}: argument {argument}: dim {own!r} has size {is_}; it must be {wanted}, the size of dim "
                f"{other!r} of argument {whose}"
            )
        raise SizeError(
            f"{op + ': ' if op else ''}dim {dim!r} has size {there}, and a dim of size {new} is given this name; equal "
            "names have equal sizes, dynamic dims too. Use another name",
            where or None,
        )

    return _factors(left), _factors(right), refuse


def is_square(dim: str) -> bool:
    """Whether it stands for both dims of a matrix that must be square."""
    return dim.startswith("~square~ ")


def not_square(dim: str, rows: int, columns: int, op: str, where: str | None) -> SizeError:
    row, col = dim.split("~ ")[1:]
    return SizeError(
        f"{f'xt.{op}: ' if op else ''}the matrix must be square: dims {row!r} and {col!r} have sizes "
        f"{rows} and {columns}. Use lstsq, pinv, qr or svd for matrices that are not",
        where,
    )


def nonempty(size: Size, message: str, where: str) -> tuple[Any, Any, Any]:
    """A size that must not be 0, as _native.Executable takes it."""

    def refuse(size: int, _: int) -> None:
        raise SizeError(message, where or None)

    return _factors(size), None, refuse


def _factors(size: Size) -> list[int | str]:
    return size if isinstance(size, list) else [size]
