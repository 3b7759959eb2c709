"""Build the documentation site into build/site/html: Markdown pages with what their programs show, and the reference.

Pages stay where they are in the repository, and look right there, too. For Sphinx they are copied, each block of Python
followed by its output. The reference is made from docstrings, and from the descriptions of ops and passes in TableGen.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import list_functions
import reference as sections
import run_pages
import xtensor as xt
from xtensor.surface import hints

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
SOURCE = SITE / "source"
LINES = 40  # of a block's output
PICTURE = re.compile(r"!\[([^]]+)\]\((pictures/[^)]+)\)")  # the text that describes it, and its file
NAMED_BY_FILE = re.compile(r"\[(?:\w+/)*\w+\.md\]\(((?:[./\w]+/)?\w+\.md)(#[\w-]+)?\)")
TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- end of tabs -->$", re.M | re.S)
TAB = re.compile(r"^\*\*([^*\n]+)\*\*\n", re.M)
DEFINED = re.compile(r"^def XTensor_(\w+)", re.M)

# The navigation: the pages of each section, in the order in which a reader needs them.
SECTIONS = {
    "Start": [
        "README", "docs/install", "docs/tour", "docs/gallery", "docs/from_numpy", "docs/xarray", "docs/from_jax",
        "docs/from_torch", "docs/from_pytensor", "docs/missing", "docs/glossary", "CHANGELOG",
    ],
    "User guide": [
        "docs/semantics", "docs/jit", "docs/control_flow", "docs/gradients", "docs/vectorize", "docs/updates",
        "docs/windows", "docs/scans", "docs/samples", "docs/linalg", "docs/random", "docs/complex", "docs/fft",
        "docs/nn", "docs/optim", "docs/devices", "docs/aot", "docs/security", "docs/debugging",
        "docs/profiling", "docs/speed", "docs/explorer", "docs/editors", "docs/errors", "docs/environment",
    ],
    "Neighbours": ["docs/jax", "docs/stablehlo", "docs/torch", "docs/pytensor", "docs/dask", "docs/scale"],
    "How it works": [
        "docs/how_it_works", "docs/layout", "docs/pipeline", "docs/autodiff", "CONTRIBUTING", "docs/decisions", "docs/upstream",
    ],
}  # fmt: skip
# What the page of a section says above its list.
PROSE = {
    "Start": """These pages are for your first day with xtensor. [Install](docs/install.md) puts the package on your
machine. [Ten minutes to xtensor](docs/tour.md) goes from a record of temperatures to a forecast in a file, and
[the gallery](docs/gallery.md) has complete programs. If you know NumPy, xarray, JAX, PyTorch or PyTensor, the page
for this library says what to write here, and what differs.""",
    "User guide": """Each page describes one part of the package, with programs that you can copy. Read
[Semantics](docs/semantics.md) first: it says how dims match, which dtypes results have, and what happens to NaN.
[Compiled functions](docs/jit.md) and [gradients](docs/gradients.md) come next. The other pages do not depend on
each other. If a program is wrong or slow, begin with [debugging](docs/debugging.md) or
[profiling](docs/profiling.md).""",
    "Neighbours": """xtensor works inside of other libraries, and calls them. These pages show how functions of named
arrays become functions of JAX, PyTorch, PyTensor and Dask, and how several processes run one program.""",
    "How it works": """A Python function becomes a program of the dialect `xtensor`. In this dialect, arrays have named
dims. A pass differentiates the program. Further passes give the dims an order, fuse loops, choose chunks and place
results in memory, until LLVM makes machine code of it. [How it works, by example](docs/how_it_works.md) shows a program
after each step, and compares gradients with those of other libraries. [The phases](docs/pipeline.md) says how to print a
program after each phase. [Layout](docs/layout.md) says in which folder each step is. The README of a folder in
`passes/` describes the passes of one phase. To change the compiler, read [Contributing](CONTRIBUTING.md).""",
}
OF_A_WHEEL = """
A wheel does not contain this program. Clone the repository, or copy the code of this page into a file. Then install
the extras `[demo,xarray]`: see [Install](../docs/install.md#a-wheel).
"""
SHORT = {"transformer"}  # programs that run for longer than a few seconds
IN_SHORT = """
This page was made with `GALLERY_SHORT=1`: the program trains for fewer steps. The picture is that of the whole program.
"""
TIMES = re.compile(r"^\| (\w+\.py) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| [\d.]+ \|$", re.M)  # the table of speeds
SPEED = """Time on one core for {step}: {ours} here, and {jax} in JAX. [Speed beside
JAX](../docs/gallery.md#speed-beside-jax) says how this was measured."""
IN_EXAMPLES = "Examples use `xtensor` as `xt`, `numpy` as `np` and `xarray` as `xr`."
OF_REFERENCE = """Each entry says what a function takes and returns, which errors it raises, and has an example.
Errors that all functions have in common are named here alone:

* `xt.ArgumentTypeError`: an argument has another type than the entry says, or is unknown.
* `xt.SizeError`: a dim has one size in one array, and another in a second one.
* `xt.DimensionError`: two arrays have other labels along a dim ([xarray](../docs/xarray.md)).
* `xt.TracerError`: a traced array is used after its trace has ended.
* `xt.DeviceError`, `xt.MemoryError`: arrays are on different devices, or do not fit into memory.
* `xt.NonFiniteError`: an op made a NaN, under `xt.option(nan="raise")`.

[Errors](errors.md) has a program for each class. [Kinds of errors](../docs/errors.md) says what helps."""
OF_ARRAYS = """
A method that is called as a function, such as `x.sum` and `xt.sum`, has a link to the function. Traced arrays, which functions get inside of `xt.jit` and `xt.grad`, have
the same attributes and methods, except those for values, labels and memory.
"""
OF_OBJECTS = """
Functions and methods of arrays make these objects, as the examples show. Except for `xt.bfloat16`, the names are those
of their classes, and are not in `xt`. What makes an object may raise an error, too: `xt.jit`, `xt.rolling`,
`xt.coarsen`, `xt.groupby` and `xt.weighted` say which. The classes that programs call, such as `xt.Mesh`, are among the functions.
"""
OF_NAMES = """# Names in other libraries

NumPy, xarray, JAX, PyTorch and SciPy have these names, and `xt` does not. The error for such a name says what this list
says. The pages for readers from [NumPy](../docs/from_numpy.md), [xarray](../docs/xarray.md),
[JAX](../docs/from_jax.md) and [PyTorch](../docs/from_torch.md) compare whole programs.
"""
OF_ERRORS = """
Each error is an `xt.Error`, and the builtin exception that Python has for the case. Its message names the function,
the operands, the line of your program, and what to write instead: see [kinds of errors](../docs/errors.md).
"""
DEEPER = "How it works"  # and all pages that no section names


def with_outputs(page: Path) -> str:
    """The text of a page, with what each block of Python shows below it. A link that is the name of a file is the title
    of its page."""
    text = NAMED_BY_FILE.sub(functools.partial(titled, page), page.read_text())
    if run_pages.lacking(page) or not run_pages.BLOCK.search(text):
        return text
    return with_shown(text, outputs(page))


def with_shown(text: str, outputs: list[str]) -> str:
    """The text, with the output of each block below it. If the page has this output already, it must be the same."""
    for block, shown in reversed(list(zip(run_pages.BLOCK.finditer(text), outputs, strict=True))):
        lines = shown.rstrip().splitlines()
        own = run_pages.OWN_OUTPUT.match(text, block.end())
        if own and lines:
            if own[1].rstrip().splitlines() != lines:
                sys.exit(f"a block shows something else than the text below it:\n{block[0]}\n{shown}")
            first = text.rindex("```", 0, own.start(1))
            text = f"{text[:first]}````{{div}} output\n{text[first : own.end()]}\n````{text[own.end() :]}"
        elif lines:
            kept = lines[:LINES] + ["..."] * (len(lines) > LINES)
            output = "\n".join(["", "", "````{div} output", "```text", *kept, "```", "````"])
            text = text[: block.end()] + output + text[block.end() :]
    return text


def with_tabs(text: str) -> str:
    """The parts of a page between two comments become tabs. In the repository, their titles are bold lines."""

    def tabs(found: re.Match[str]) -> str:
        _, *parts = TAB.split(found[1])
        items = [f":::::{{tab-item}} {title}\n{body}\n:::::" for title, body in zip(parts[::2], parts[1::2], strict=True)]
        return "\n".join(["::::::{tab-set}", *items, "::::::"])

    return TABS.sub(tabs, text)


def outputs(page: Path, *folder: Path, **environment: str) -> list[str]:
    """What each block of Python shows. The folder keeps the files that the page writes."""
    record = SITE / f"{page.relative_to(ROOT).as_posix().replace('/', '-')}.json"
    alone = [sys.executable, "-P", run_pages.__file__, "--one", page, record, *folder]
    # Progress bars go to stderr.
    done = subprocess.run(alone, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{page} fails:\n{done.stderr}")
    return list(json.loads(record.read_text()))


def titled(page: Path, link: re.Match[str]) -> str:
    """A link that is the name of a file, with a title: Sphinx takes that of the page, or that of the section."""
    path, anchor = link[1], link[2]
    if not anchor:
        return f"[]({path})"
    wanted = anchor.removeprefix("#")
    sections = re.findall(r"^#+ (.*)", (page.parent / path).read_text(), re.M)
    title = next(t for t in sections if re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") == wanted)
    return f"[{title}]({path}{anchor})"


def program_page(program: Path, text: str, drawn: str, speed: str) -> str:
    """A program of the gallery as a page: its cells of text as text, its cells of code as blocks with what they print,
    and the picture that it draws. `text` describes the picture, and `drawn` is the picture of the whole program."""
    parts = []
    for cell in re.split(r"^# %%", program.read_text(), flags=re.M)[1:]:
        kind, _, body = cell.partition("\n")
        is_text = kind.strip() == "[markdown]"
        parts.append(re.sub(r"^# ?", "", body, flags=re.M) if is_text else f"```python\n{body.strip()}\n```\n")
    page = SITE / "programs" / f"{program.stem}.md"
    folder = page.with_suffix("")
    folder.mkdir(parents=True)
    page.write_text("\n".join(parts))
    is_short = program.stem in SHORT
    shown = outputs(page, folder, MPLBACKEND="Agg", **{"GALLERY_SHORT": "1"} if is_short else {})
    if not is_short:
        drawn = f"{program.stem}.png"
        shutil.copy(folder / "out" / drawn, SOURCE / "examples" / drawn)
    result = with_shown(page.read_text(), shown)
    parts = ["---\norphan: true\n---", result, f"![{text}]({drawn})", IN_SHORT * is_short, speed, OF_A_WHEEL]
    return "\n\n".join(parts)  # docs/gallery.md has links to these pages


def reference(title: str, entries: list[str], before: str = "") -> str:
    """A page of the reference."""
    return f"# {title}\n\n````{{py:currentmodule}} xt\n````\n\n{IN_EXAMPLES}\n{before}\n" + "".join(entries)


def names_of_others() -> str:
    """The page by which a search for the name that another library has finds what to write."""
    by_advice: dict[str, list[str]] = {}
    for name, advice in hints.other_names().items():
        by_advice.setdefault(advice, []).append(f"`{name}`")
    lines = []
    for text, names in by_advice.items():
        plain = re.sub(r"([][*_<>`])", r"\\\1", text)  # advice has code without marks
        lines.append(f"* {', '.join(names)}: {plain}.\n")
    return f"{OF_NAMES}\n{''.join(lines)}"


def tables() -> dict[str, str]:
    """The pages that TableGen makes of the dialect and of each room of passes."""
    llvm = Path(subprocess.check_output(["llvm-config-22", "--prefix"], text=True).strip())
    command = [llvm / "bin/mlir-tblgen", "-I", llvm / "include", "-I", ROOT / "dialects"]
    ops = ["-gen-dialect-doc", "-dialect=xtensor", ROOT / "dialects/XTensor/XTensorOps.td"]
    made = {"dialect": by_family(subprocess.check_output([*command, *ops], text=True))}
    for table in sorted((ROOT / "passes").glob("*/Passes.td")):
        text = subprocess.check_output([*command, "-gen-pass-doc", table], text=True)
        made[f"passes-{table.parent.name}"] = f"# Passes: {table.parent.name}\n\n" + re.sub(
            r"^##", "#", text, flags=re.M
        )
    return made


def by_family(text: str) -> str:
    """The page of the dialect, with its ops below their families: the files that declare them."""
    families = {file: file.read_text() for file in sorted((ROOT / "dialects" / "XTensor").glob("?*Ops.td"))}
    family_of = {op: file for file, source in families.items() for op in DEFINED.findall(source)}
    before, _, rest = text.replace("[TOC]\n\n", "").partition("## Operations\n")
    ops, mark, after = rest.partition("## Types\n")
    found: dict[Path, list[str]] = {file: [] for file in families}
    for op in re.split(r"^(?=### )", ops, flags=re.M)[1:]:
        found[family_of[op.split("::xtensor::")[1].split(")")[0]]].append(op)
    parts = [before]
    for file, described in found.items():
        if described:
            lines = itertools.takewhile(lambda line: line.startswith("//"), families[file].splitlines())
            about = " ".join(line.removeprefix("//").strip() for line in lines).strip()
            parts.append(f"## {file.stem.removesuffix('Ops')} ops\n\n{about}\n\n{''.join(described)}")
    return "".join([*parts, mark, after])


def file_of(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def toctree(pages: list[str], *options: str) -> str:
    return "\n".join(["", "```{toctree}", *options, "", *pages, "```", ""])


def write(name: str, text: str) -> None:
    path = SOURCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_gallery(gallery: str) -> None:
    """The pages of the programs to which the page of the gallery has links."""
    (SOURCE / "examples").mkdir()
    pictures = {Path(file).stem: (text, f"../docs/{file}") for text, file in re.findall(PICTURE, gallery)}
    speeds = {
        name: SPEED.format(step=step, ours=ours, jax=jax) for name, step, ours, jax in re.findall(TIMES, gallery)
    }
    programs = [ROOT / name for name in sorted(set(re.findall(r"\]\(\.\./(examples/\w+\.py)\)", gallery)))]
    with ThreadPoolExecutor() as pool:
        made = [pool.submit(program_page, p, *pictures[p.stem], speeds.get(p.name, "")) for p in programs]
        for program, page in zip(programs, made, strict=True):
            write(f"examples/{program.stem}.md", page.result())


def main() -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    tracked = subprocess.check_output(["git", "ls-files", "*.md"], text=True, cwd=ROOT).split()
    pages = [p for p in tracked if p != "docs/site/index.md"]
    with ThreadPoolExecutor() as pool:
        texts = dict(zip(pages, pool.map(with_outputs, [ROOT / p for p in pages]), strict=True))
    write_gallery(texts["docs/gallery.md"])
    texts["docs/gallery.md"] = texts["docs/gallery.md"].replace(".py)", ".md)")
    for page, text in texts.items():
        write(page, with_tabs(text))
    shutil.copytree(ROOT / "docs" / "pictures", SOURCE / "docs" / "pictures")

    families = list_functions.families()
    for title, names in families.items():
        entries = [sections.function(name) for name in names if name != "Array"]
        write(f"reference/{file_of(title)}.md", reference(title, entries))
    generated = tables()
    for name, text in generated.items():
        write(f"reference/{name}.md", text)
    inside = toctree([*generated], ":maxdepth: 1")
    write("reference/array.md", reference("Arrays", [sections.of_class("Array", xt.Array)], OF_ARRAYS))
    objects = [sections.of_class(name, cls) for name, cls in sections.classes().items()]
    write("reference/objects.md", reference("Objects that functions return", [*objects, sections.bfloat16()], OF_OBJECTS))
    errors = [sections.of_class(name, cls, "exception") for name, cls in sections.errors().items()]
    write("reference/errors.md", reference("Errors", errors, OF_ERRORS))
    things = toctree(["array", "objects", "errors"], ":maxdepth: 1")
    write("reference/other-names.md", names_of_others())
    every = toctree([*map(file_of, families), "../docs/functions", "other-names"], ":maxdepth: 1")
    parts = [f"# Reference\n\n{OF_REFERENCE}\n", f"## Classes and errors\n{things}", f"## Functions\n{every}"]
    write("reference/index.md", "\n".join([*parts, f"## The dialect and its passes\n{inside}"]))

    index = with_outputs(ROOT / "docs" / "site" / "index.md")
    named = {"docs/functions", *(p for section in SECTIONS.values() for p in section)}
    rest = [p.removesuffix(".md") for p in pages if p.removesuffix(".md") not in named]
    for title, entries in SECTIONS.items():
        of_section = [p for p in entries + rest * (title == DEEPER) if f"{p}.md" in pages]
        write(f"{file_of(title)}.md", f"# {title}\n\n{PROSE[title]}\n" + toctree(of_section))
    write("index.md", index + toctree([*map(file_of, SECTIONS), "reference/index"], ":hidden:"))
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-c", "docs/site"]
    subprocess.run([*sphinx, str(SOURCE), str(SITE / "html")], check=True, cwd=ROOT)
    print(f"the site: {(SITE / 'html' / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
