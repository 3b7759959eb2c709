"""What notebooks show of arrays, jitted functions and bundles: HTML in which every text is escaped.

An array is shown as xarray shows a DataArray, by xarray itself where it is installed.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..aot.bundle import Bundle
from ..aot.load import Loaded, LoadedFunctions
from ..aot.manifest import Exported
from ..call.arguments import signature_of
from ..call.compilations import KEPT, code_of
from ..transforms.jit import Jitted
from ..values.array import Array

_MOST_ROWS = 50  # of a table
_LEFT = "text-align:left;vertical-align:top"


def _text(x: Any) -> str:
    return html.escape(str(x))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML; the first rows of a long one."""
    found = list(rows)
    cells = "".join(f"<th style='{_LEFT}'>{_text(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='{_LEFT}'>{cell}</td>" for cell in row) + "</tr>" for row in found[:_MOST_ROWS]
    )
    more = f"<div>and {len(found) - _MOST_ROWS} more</div>" if len(found) > _MOST_ROWS else ""
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{more}"


def _section(title: str, inside: str, is_open: bool = False) -> str:
    """What can be folded. `inside` is HTML."""
    return f"<details{' open' * is_open}><summary>{_text(title)}</summary>{inside}</details>"


def _titled(kind: str, name: str, inside: str) -> str:
    return f"<div><div><b>{_text(kind)}</b> {_text(name)}</div>{inside}</div>"


# -- arrays -----------------------------------------------------------------------------------------------------------


def array_html(x: Array) -> str:
    """Dims, coordinates, attributes and values of an array."""
    if x._donation is not None:
        return html.escape(repr(x))
    try:
        import xarray  # noqa: F401 (whether it is installed)

        shown: Any = x.to_xarray()
        inside = shown._repr_html_()
    except (ImportError, TypeError, ValueError):  # not installed, or a dtype or a name that it does not show
        inside = _own_array(x)
    inside = inside.replace("<div class='xr-obj-type'>xarray.DataArray</div>", "")
    return _titled("xtensor.Array", x._header(), inside.replace("&lt;xarray.DataArray", "&lt;xtensor.Array", 1))


def _own_array(x: Array) -> str:
    parts = [_section("Values", f"<pre style='margin:0'>{_text(x._values())}</pre>", is_open=True)]
    labels: Any = x.meta
    coords = {} if labels is None else labels.coords
    attrs = {} if labels is None else labels.attrs
    if coords:
        rows = [
            (_text(k), _text(f"({', '.join(map(str, v.dims))})"), _text(v.dtype), _short(v)) for k, v in coords.items()
        ]
        parts.append(_section(f"Coordinates ({len(rows)})", _table(("name", "dims", "dtype", "values"), rows), True))
    if attrs:
        values_of = [(_text(k), _text(v)) for k, v in attrs.items()]
        parts.append(_section(f"Attributes ({len(attrs)})", _table(("name", "value"), values_of)))
    return "".join(parts)


def _short(variable: Any) -> str:
    values = np.array2string(np.asarray(variable.values), threshold=8, edgeitems=3)
    return f"<pre style='margin:0'>{_text(values)}</pre>"


# -- functions --------------------------------------------------------------------------------------------------------


def _place(line: str | None) -> str:
    """FILE:LINE, as a link to the file where it is there."""
    if not line:
        return ""
    path = Path(line.rpartition(":")[0])
    if not path.is_file():
        return _text(line)
    return f"<a href='{html.escape(path.resolve().as_uri(), quote=True)}'>{_text(line)}</a>"


def jitted_html(f: Jitted[..., Any]) -> str:
    """Signature, place, options and compilations of a jitted function, and what to write to see more."""
    signature = signature_of(f.__wrapped__)
    code = code_of(f.__wrapped__)
    rows = [("defined at", _place(f"{code.co_filename}:{code.co_firstlineno}"))] if code else []
    given = {k: v for k, v in f._options.items() if v not in ((), None)}
    rows += [(_text(f"{k}="), f"<code>{_text(repr(v))}</code>") for k, v in given.items()]
    doc = inspect.cleandoc(f.__doc__) if isinstance(f.__doc__, str) else ""
    inside = f"<div>{_text(doc.splitlines()[0])}</div>" if doc else ""
    inside += _table(("", ""), rows) if rows else ""
    made = f.compilations
    compiled = [
        (
            "<br>".join(map(_text, c.arguments)),
            _text(c.device),
            _text(f"{c.total:.3f} s, {c.source}"),
            _place(c.called),
            "<br>".join(map(_text, c.reasons)),
        )
        for c in made
    ]
    head = ("for", "device", "made in", "called at", "again, because")
    count = f"the last {len(made)}" if len(made) == KEPT else len(made)
    inside += _section(f"Compilations ({count})", _table(head, compiled) if made else "none so far", bool(made))
    calls = (".explore(..)", ".lower(..).as_text(phase)", ".cost(..)", ".compilations")
    inside += _section("More", "<br>".join(f"<code>{_text(f.__name__ + call)}</code>" for call in calls))
    return _titled("xt.jit", f"{f.__name__}{signature or '(..)'}", inside)


# -- bundles ----------------------------------------------------------------------------------------------------------


def _interface(f: Exported) -> str:
    rows = [
        (kind, f"<code>{_text(p.name)}</code>", f"<code>{_text(p)}</code>")
        for kind, parameters in (("argument", f.arguments), ("weight", f.weights), ("result", f.results))
        for p in parameters
    ]
    doc = f"<div>{_text(f.doc.strip().splitlines()[0])}</div>" if f.doc.strip() else ""
    c = f"<div>in C: <code>{_text(f.symbol)}</code></div>" if f.symbol else ""
    return _section(str(f), doc + _table(("", "name", "type"), rows) + c)


def bundle_html(b: Bundle) -> str:
    """Functions with their arguments and results, targets and members of a bundle."""
    m = b.manifest
    inside = _section(f"Functions ({len(m.functions)})", "".join(map(_interface, m.functions)), True)
    targets = [(_text(t.target), _text(t.triple), _text(t.profile or "")) for t in m.targets]
    inside += _section(f"Targets ({len(targets)})", _table(("target", "triple", "profile"), targets), True)
    members = [(_text(name), f"{size}", _text(digest)) for name, (size, digest) in m.members.items()]
    inside += _section(f"Contents ({len(members)})", _table(("member", "bytes", "SHA-256"), members))
    return _titled("xtensor bundle", f"{m.name}: {len(b.data)} bytes, made by {m.compiler}", inside)


def loaded_html(f: Loaded) -> str:
    """The interface of a loaded function."""
    return _titled("loaded function", f.__name__, _interface(f._core.function))


def loaded_functions_html(fs: LoadedFunctions) -> str:
    """The interfaces of all functions of a loaded bundle."""
    return _titled("loaded functions", str(len(fs)), "".join(_interface(f._core.function) for f in fs.values()))


SHOWN = {
    Array: array_html,
    Bundle: bundle_html,
    Jitted: jitted_html,
    Loaded: loaded_html,
    LoadedFunctions: loaded_functions_html,
}
