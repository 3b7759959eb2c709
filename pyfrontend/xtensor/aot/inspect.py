"""The output of `xtensor inspect` for a bundle."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .. import _native
from ..compiler.sizes import is_square
from .bundle import Bundle
from .manifest import Exported, File, size_text
from .schema import printable


def lines(file: File) -> Iterator[str]:
    """Yields the manifest as text, once every byte of the bundle is checked. Nothing in it can control a terminal."""
    file.check()
    return map(printable, _lines(file))


def _lines(file: File) -> Iterator[str]:
    m = file.manifest
    yield f"{m.name}: schema {m.schema}, made by {m.compiler}, {file.size} bytes"
    for f in m.functions:
        yield ""
        yield from _of_function(f)
    yield ""
    for t in m.targets:
        here = "runs here" if _native.has_processor(t.processor) else "for other machines"
        yield f"target {t.profile or t.target} ({t.triple})" + ("" if t.is_device else f": {here}")
        for f, c in zip(m.functions, t.code, strict=True):
            if t.is_device:
                yield f"  {f.name}: " + (f"launches in {c.launches}" if c.launches else f"for xt.load alone: {c.why}")
    if m.header:
        yield f"for C: {m.header}, matrix products by {m.blas or 'the library itself'}"
    yield ""
    for name, (size, digest) in m.members.items():
        yield f"  {size:>9}  {digest}  {name}"


def _of_function(f: Exported) -> Iterator[str]:
    doc = f.doc.strip().splitlines()
    yield f"{f.name}" + (f": {doc[0]}" if doc else "")
    for kind, parameters in (("argument", f.arguments), ("weight", f.weights), ("result", f.results)):
        for p in parameters:
            yield f"  {kind:<9} {p.name}: {p}, row-major"
    if f.open:
        yield f"  open      {', '.join(f.open)}: one size each across all arguments"
    equal = []
    for left, right, dim, *_ in f.equal:
        what = "{1} and {2}: a square matrix" if is_square(dim) else "{0}: {1} and {2}"
        equal.append("  equal     " + what.format(dim, size_text(left), size_text(right)))
    yield from dict.fromkeys(equal)  # several operations may ask for the same
    for size, message, _ in f.nonempty:
        yield f"  not 0     {size_text(size)}: {message}"
    if f.symbol:
        yield f"  in C      {f.symbol}"


def as_json(bundle: Bundle) -> str:
    """Returns manifest.json unchanged, except for characters that a terminal must not get."""
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in bundle.manifest_text)
