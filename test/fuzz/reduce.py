"""Makes a failing case small: statements go, inputs take their place, sizes shrink, for as long as it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from modes import Case, without
from named import Named, RefusedError, UnknownError
from program import Block, Program, Statement, Values, pruned, run

Fails = Callable[[Case], bool]


def reduced(c: Case, fails: Fails, most: int = 400) -> Case:
    """The smallest case found with `most` trials. `fails` says whether one still fails, in a process of its own."""
    trials = 0
    progress = True
    while progress and trials < most:
        progress = False
        for smaller in candidates(c):
            trials += 1
            if trials > most:
                break
            if fails(smaller):
                c, progress = smaller, True
                break
    return c


def candidates(c: Case) -> Iterator[Case]:
    for make in (_fewer_results, _replaced, _inlined, _without_inner, _fewer_others, _smaller):
        yield from make(c)


def _fewer_results(c: Case) -> Iterator[Case]:
    p = c.program
    if len(p.results) > 1:
        for r in p.results:
            yield without(c, pruned(replace(p, results=(r,))))
        for r in p.results:
            yield without(c, pruned(replace(p, results=tuple(x for x in p.results if x != r))))


def _values(p: Program, inputs: Values) -> Values | None:
    values = dict(inputs)
    try:
        with np.errstate(all="ignore"):
            run(p.statements, values)
    except (RefusedError, UnknownError):
        return None
    return values


def _replaced(c: Case) -> Iterator[Case]:
    """A statement's results become inputs, of the values that they had."""
    p = c.program
    values = _values(p, p.inputs)
    if values is None:
        return
    everywhere = [_values(p, {**p.inputs, **o}) for o in c.others] if c.mode in ("open", "bundle") else []
    for at in reversed(range(len(p.statements))):
        s = p.statements[at]
        if set(s.outs) & set(p.results):
            continue
        inputs = {**p.inputs, **{o: values[o] for o in s.outs}}
        made = pruned(replace(p, inputs=inputs, statements=p.statements[:at] + p.statements[at + 1 :]))
        others = tuple(
            {n: v[n] for n in made.inputs} for v in everywhere if v is not None and all(n in v for n in made.inputs)
        )
        if c.mode in ("open", "bundle"):
            yield replace(c, program=made, others=others)
        elif c.mode in ("gradient", "second"):
            rng = np.random.default_rng(1)
            along = {
                n: Named(
                    a.dims, a.dtype, rng.standard_normal(a.value.shape).astype(np.longdouble), np.zeros(a.value.shape)
                )
                for n, a in made.inputs.items()
                if a.dtype == "float64"
            }
            yield replace(c, program=made, others=(along,))
        elif c.mode == "vectorize":
            # Instances are those of the input itself: a batched one needs its own values.
            if not any(n in made.inputs for n in c.batched):
                continue
            yield without(c, made)
        else:
            yield without(c, made)


def _inlined(c: Case) -> Iterator[Case]:
    """A result is what one of its operands was."""
    p = c.program
    for at in reversed(range(len(p.statements))):
        s = p.statements[at]
        for o in s.outs:
            if o in p.results:
                for a in s.args:
                    if a not in p.inputs:
                        results = tuple(a if r == o else r for r in p.results)
                        yield without(c, pruned(replace(p, results=tuple(dict.fromkeys(results)))))


def _without_inner(c: Case) -> Iterator[Case]:
    """A statement of a block goes; what reads it reads its operand."""
    p = c.program
    for at, s in enumerate(p.statements):
        for b, block in enumerate(s.blocks):
            for smaller in _smaller_blocks(block):
                blocks = (*s.blocks[:b], smaller, *s.blocks[b + 1 :])
                statements = (*p.statements[:at], replace(s, blocks=blocks), *p.statements[at + 1 :])
                made = replace(p, statements=statements)
                if _types(made, p):
                    yield without(c, pruned(made))


def _smaller_blocks(block: Block) -> Iterator[Block]:
    for i, s in enumerate(block.statements):
        for a in s.args:
            names = dict.fromkeys(s.outs, a)
            rest = tuple(_renamed(t, names) for t in block.statements[i + 1 :])
            results = tuple(names.get(r, r) for r in block.results)
            yield Block(block.parameters, block.statements[:i] + rest, results)
        for b, inner in enumerate(s.blocks):
            for smaller in _smaller_blocks(inner):
                changed = replace(s, blocks=(*s.blocks[:b], smaller, *s.blocks[b + 1 :]))
                yield replace(block, statements=(*block.statements[:i], changed, *block.statements[i + 1 :]))


def _renamed(s: Statement, names: dict[str, str]) -> Statement:
    blocks = tuple(
        Block(b.parameters, tuple(_renamed(t, names) for t in b.statements), tuple(names.get(r, r) for r in b.results))
        for b in s.blocks
    )
    return replace(s, args=tuple(names.get(a, a) for a in s.args), blocks=blocks)


def _types(made: Program, p: Program) -> bool:
    """Whether the results have the types that they had, so that nothing else became wrong."""
    try:
        with np.errstate(all="ignore"):
            return [a.type for a in made.evaluate()] == [a.type for a in p.evaluate()]
    except Exception:  # operands that do not go together
        return False


def _fewer_others(c: Case) -> Iterator[Case]:
    if c.mode in ("open", "bundle"):
        for i in range(len(c.others)):
            yield replace(c, others=c.others[:i] + c.others[i + 1 :])
            yield replace(c, program=replace(c.program, inputs=c.others[i]), others=())


def _smaller(c: Case) -> Iterator[Case]:
    """A dim is half as long, or one shorter, in all inputs."""
    p = c.program
    if c.mode in ("open", "bundle", "vectorize", "gradient", "second"):
        return
    sizes = {d: n for a in p.inputs.values() for d, n in a.sizes.items()}
    for d, n in sizes.items():
        for shorter in dict.fromkeys((n // 2, n - 1)):
            if shorter < 0 or shorter == n:
                continue
            inputs = {
                k: Named(
                    a.dims,
                    a.dtype,
                    a.value[tuple(slice(0, shorter) if e == d else slice(None) for e in a.dims)],
                    a.error[tuple(slice(0, shorter) if e == d else slice(None) for e in a.dims)],
                )
                for k, a in p.inputs.items()
            }
            made = replace(p, inputs=inputs)
            try:
                with np.errstate(all="ignore"):
                    made.evaluate()
            except Exception:  # sizes that the program does not fit
                continue
            yield without(c, made)
