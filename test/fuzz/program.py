"""A random program as data: inputs, statements, results. It is printed for xtensor and evaluated in NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import named
import numpy as np
from named import Named

Values = dict[str, Named]


@dataclass(frozen=True)
class Block:
    """A function inside of a program. It also reads what is around it."""

    parameters: tuple[str, ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    outs: tuple[str, ...]
    op: str
    args: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()


class Operation(Protocol):
    """What an op is: the ops are in operations.py and control.py."""

    def text(self, s: Statement) -> str: ...
    def meaning(self, s: Statement, args: list[Named], values: Values) -> tuple[Named, ...]: ...


OPERATIONS: dict[str, Operation] = {}


@dataclass(frozen=True)
class Program:
    inputs: dict[str, Named]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    open: frozenset[str] = frozenset()  # dims whose sizes the program does not know

    def evaluate(self, inputs: Values | None = None) -> list[Named]:
        values = dict(self.inputs if inputs is None else inputs)
        run(self.statements, values)
        return [values[r] for r in self.results]

    def text(self, name: str = "f") -> str:
        lines = [f"def {name}({', '.join(self.inputs)}):", *body(self.statements, f"({', '.join(self.results)},)")]
        return "\n".join(lines)

    def __len__(self) -> int:
        return sum(1 for _ in every(self.statements))


def every(statements: Iterable[Statement]) -> Iterable[Statement]:
    for s in statements:
        yield s
        for b in s.blocks:
            yield from every(b.statements)


def run(statements: Iterable[Statement], values: Values) -> None:
    """Adds what the statements give to `values`."""
    for s in statements:
        results = OPERATIONS[s.op].meaning(s, [values[a] for a in s.args], values)
        values.update(zip(s.outs, results, strict=True))


def call(block: Block, arguments: Sequence[Named], values: Values) -> list[Named]:
    inner = {**values, **dict(zip(block.parameters, arguments, strict=True))}
    try:
        run(block.statements, inner)
    except named.EmptyError:  # gives the identity where it may not run, and nobody says of which sum
        raise named.UnknownError from None
    return [inner[r] for r in block.results]


def functions(s: Statement) -> list[str]:
    """Names of the functions that a statement with blocks calls."""
    return [f"{s.outs[0]}_{i}" for i in range(len(s.blocks))]


def body(statements: Iterable[Statement], result: str) -> list[str]:
    lines = []
    for s in statements:
        for name, block in zip(functions(s), s.blocks, strict=True):
            lines.append(f"def {name}({', '.join(block.parameters)}):")
            results = block.results
            lines += body(block.statements, f"({', '.join(results)})" if len(results) > 1 else results[0])
        lines.append(f"{', '.join(s.outs)} = {OPERATIONS[s.op].text(s)}")
    return ["    " + line for line in [*lines, f"return {result}"]]


def reads(s: Statement) -> set[str]:
    """Names from around a statement that it needs."""
    found = set(s.args)
    for b in s.blocks:
        found |= free(b)
    return found


def free(block: Block) -> set[str]:
    bound, found = set(block.parameters), set()
    for s in block.statements:
        found |= reads(s) - bound
        bound |= set(s.outs)
    return found | (set(block.results) - bound)


def _needed(statements: Sequence[Statement], results: Sequence[str]) -> tuple[tuple[Statement, ...], set[str]]:
    """The statements that the results need, and all that is read."""
    needed, kept = set(results), []
    for s in reversed(statements):
        if needed & set(s.outs):
            blocks = tuple(replace(b, statements=_needed(b.statements, b.results)[0]) for b in s.blocks)
            s = replace(s, blocks=blocks)
            kept.append(s)
            needed |= reads(s)
    return tuple(reversed(kept)), needed


def pruned(p: Program) -> Program:
    """Without what no result needs."""
    kept, needed = _needed(p.statements, p.results)
    inputs = {k: v for k, v in p.inputs.items() if k in needed}
    if not inputs:  # a function of nothing is another thing
        inputs = dict(list(p.inputs.items())[:1])
    return replace(p, inputs=inputs, statements=kept)


def literal(a: Named) -> str:
    """An input, to paste."""
    values = named.stored(a.value, a.dtype)
    if a.dtype == "bfloat16":
        return f'xt.array(np.array({values.astype("f4").tolist()}, "f4"), {a.dims!r}).astype("bfloat16")'
    shaped = f".reshape({values.shape})" if values.size == 0 else ""
    text = repr(values.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    return f'xt.array(np.array({text}, "{a.dtype}"){shaped}, {a.dims!r})'


def pasted(p: Program, how: str, others: Values | None = None) -> str:
    """A program that anybody can run, with what NumPy gives below it. others: what is passed instead of some inputs."""
    lines = ["import numpy as np", "import xtensor as xt", "", "", p.text(), "", ""]
    lines += [f"{name} = {literal(a)}" for name, a in {**p.inputs, **(others or {})}.items()]
    lines.append(f"got = {how.format(arguments=', '.join(p.inputs))}")
    try:
        for r, want in zip(p.results, p.evaluate(), strict=True):
            text = np.array2string(np.asarray(want.value), threshold=60).replace("\n", "\n#     ")
            lines.append(f"# {r}: {want.dtype} {want.sizes} = {text}")
    except (named.RefusedError, named.UnknownError) as error:
        lines.append(f"# {type(error).__name__}: {error}")
    return "\n".join(lines)
