"""The page itself: its data, and the HTML around it.

The page loads nothing, and runs no script but ours. The user's text is data in it, never HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..base.calls import check_methods, shown
from ..base.errors import ArgumentError, ArgumentTypeError, CompileError, file_error
from ..base.files import check_place, path_of, write_file
from ..compiler import supports
from ..compiler.profiled import types_of
from ..ir.context import compiler, diagnosed
from ..ir.location import absolute
from .groups import Measured, groups_of
from .memory import memory_of
from .source import files_of

if TYPE_CHECKING:
    from ..compiler.profiled import Kernel
    from ..trace.program import Program
    from ..values.targets import Target

_HERE = Path(__file__).parent

_HTML = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'; \
script-src '{script_hash}'; base-uri 'none'; form-action 'none'">
<title>xtensor explorer</title>
<style>{style}</style>
</head>
<body>
<header>
<h1 id="title"></h1>
<span id="about"></span>
<label>Compare with <select id="compare"></select></label>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search source and phase">
<span id="found" role="status"></span>
<button id="theme" type="button">Dark</button>
</header>
<div id="tabs" role="tablist" aria-label="Phases"></div>
<main>
<section id="source" class="pane" role="listbox" tabindex="0" aria-label="Your Python"></section>
<section id="phase" class="pane" role="listbox" tabindex="0" aria-label="The program after the phase"></section>
<section id="groups" class="pane" role="listbox" tabindex="0" aria-label="Kernels as measured" hidden></section>
<section id="memory" class="pane" role="listbox" tabindex="0" aria-label="Temporaries in memory" hidden></section>
</main>
<footer id="status" role="status"></footer>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def measured(profile: Any, program: Program, target: Target) -> Sequence[tuple[Kernel, Measured]]:
    """The kernels of a program in `profile`, which is an `xt.profile` or None."""
    if profile is None:
        return ()
    if not callable(getattr(profile, "kernels", None)):
        raise ArgumentTypeError(
            f"explore: profile={shown(profile)} is not a profile. Write `with xt.profile() as p: f(x)`, "
            "then f.explore(x, profile=p)"
        )
    found: Sequence[tuple[Kernel, Measured]] = profile.kernels(program.name, target.name, types_of(program))
    return found


def writable(path: Any) -> Path:
    """Where a page is to be written, once it is made."""
    place = path_of(path, "explore")
    check_place(place, "")
    return place


def explored(
    program: Program,
    target: Target,
    code: CodeType | None = None,
    measured: Sequence[tuple[Kernel, Measured]] = (),
    shapes: Sequence[Sequence[int | None]] = (),
) -> dict[str, Any]:
    """What the page shows. measured: the kernels of a profile, which become "groups" (explorer/groups.py).
    "memory" has the temporaries of a call with arguments of `shapes`, if there are any (explorer/memory.py).

    code: that of the function, whose file stands first. The place that `f.explore` was called at is left out: module
    and function have it as their location.

    Each of "files" has its lines, and a "note" if it has changed since it was traced, or cannot be read. Each of
    "origins" has "at", a list of (number of the file, line), and "marks", what made the op of these lines:
    ["cotangent", "tangent of exp"]. Each of "phases" has its lines, and the number of the origin of each, or -1.
    """
    supports.check(target, program, whose=True)
    with diagnosed(CompileError):
        found = json.loads(compiler().every_phase(program.module, target.profile))
    of_module = found["phases"][0]["lines"][0]
    call = found["origins"][of_module]["at"] if of_module >= 0 else []
    for origin in found["origins"]:
        origin["at"] = [place for place in origin["at"] if place not in call]
    groups = groups_of(program, measured) if measured else None
    memory = memory_of(program, target, shapes)
    boxes: list[dict[str, Any]] = [*(groups["nodes"] if groups else ()), *(memory["temporaries"] if memory else ())]
    kernels = [(path, line) for box in boxes for path, line in box["at"]]
    of_lines = [(path, line) for origin in found["origins"] for path, line, _ in origin["at"]]
    first = [(absolute(code.co_filename), code.co_firstlineno)] if code else []
    files = files_of([*first, *of_lines, *kernels], code)
    numbers = {path: i for i, path in enumerate(files)}
    origins = []
    for origin in found["origins"]:
        at = {(numbers[path], line): None for path, line, _ in origin["at"] if path in numbers}
        origins.append({"at": [list(place) for place in at], "marks": origin["marks"]})
    for box in boxes:
        box["at"] = [[numbers[path], line] for path, line in box["at"] if path in numbers]
    phases = []
    for phase in found["phases"]:
        lines, of = phase["text"].split("\n"), phase["lines"]
        while lines and not lines[-1]:
            lines.pop()
        phases.append({"name": phase["name"], "lines": lines, "origins": of[: len(lines)]})
    return {
        "name": program.name,
        "target": target.name,
        "inputs": [repr(s) for s in program.inputs],
        "outputs": [repr(s) for s in program.outputs],
        "files": list(files.values()),
        "origins": origins,
        "phases": phases,
        **({"groups": groups} if groups else {}),
        **({"memory": memory} if memory else {}),
    }


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def html_of(data: dict[str, Any]) -> str:
    """The page. No `<` of the data is left in it, so that no text can end the element that holds it."""
    style, script = ((_HERE / name).read_text("utf-8") for name in ("page.css", "page.js"))
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    return _HTML.format(style=style, script=script, data=text, style_hash=_hash(style), script_hash=_hash(script))


class Explorer:
    """A page that shows a program after each phase. Made by `f.explore(x)`; a notebook shows it.

    Example:
    >>> page = xt.jit(lambda x: xt.sum(x * x)).explore(xt.spec(i=4))
    >>> page.data["phases"][0]["name"]
    'traced'
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def html(self) -> str:
        return html_of(self.data)

    def write(self, path: str | Path) -> Path:
        """Writes the page to `path`; returns it."""
        file = writable(path)
        try:
            write_file(file, self.html.encode())
        except OSError as error:
            raise file_error(ArgumentError, f"{path} cannot be written: {error.strerror}", error) from None
        return file

    def __repr__(self) -> str:
        lines = sum(len(phase["lines"]) for phase in self.data["phases"])
        return f"<Explorer of {self.data['name']}: {len(self.data['phases'])} phases, {lines} lines; write(path)>"

    def _repr_html_(self) -> str:
        import html

        inside = html.escape(self.html, quote=True)
        return (
            f'<iframe sandbox="allow-scripts" title="xtensor explorer" srcdoc="{inside}" '
            'style="width:100%;height:640px;border:1px solid #8888"></iframe>'
        )


check_methods(Explorer, "Explorer")
