"""Malformed and odd IR never crashes the tools: the programs of the IR tests, changed at random, go through the passes
of their own tests and through the whole pipeline; and, changed or not, through every other pass and into every phase.
xtensor-opt gives a result or diagnostics and exit code 1.

XTENSOR_FUZZ=N makes N times as many programs, from other seeds.
"""

from __future__ import annotations

import functools
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from places import ROOT, tool
from tiers import count

TIMES = int(os.environ.get("XTENSOR_FUZZ", "1"))
PER_FILE = count(4, 12)
PER_PASS = count(40, 200)
FILES = sorted(p for room in ("dialects", "passes") for p in (ROOT / "test" / room).rglob("*.mlir"))
TOGETHER = 8  # files of one folder share a process for each way to run the tool

ELEMENTS = ["f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "ui8", "ui64"]
SIZES = ["0", "1", "2", "3", "7", "?"]
ELEMENTWISE = ["add", "mul", "div", "maximum", "pow", "sub", "atan2", "and", "mod", "exp", "log", "abs", "not", "isnan"]
REDUCTIONS = ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"]


def _choose(pattern: str, new: list[str]) -> Callable[[str, random.Random], str]:
    """Replaces one match of the pattern's last group by one of `new`."""
    found = re.compile(pattern)

    def change(text: str, rng: random.Random) -> str:
        places = list(found.finditer(text))
        if not places:
            return text
        m = rng.choice(places)
        return text[: m.start(m.lastindex or 0)] + rng.choice(new) + text[m.end(m.lastindex or 0) :]

    return change


def _rename(text: str, rng: random.Random) -> str:
    """One name of a dim, in one place, becomes another."""
    names = re.findall(r"(?:<|, |\[)([a-z]\w*)(?=[:,\]])", text)
    return _choose(r"(?:<|, |\[)([a-z]\w*)(?=[:,\]])", [*names, "zz"])(text, rng) if names else text


def _line(text: str, rng: random.Random) -> str:
    """One line goes, comes twice, or changes places with the next."""
    lines = text.split("\n")
    i = rng.randrange(len(lines))
    how = rng.randrange(3)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(i, lines[i])
    else:
        lines[i : i + 2] = reversed(lines[i : i + 2])
    return "\n".join(lines)


def _everywhere(text: str, rng: random.Random) -> str:
    """A dim has another size, or elements another type, in the whole program: odd, and mostly valid."""
    dims = sorted(set(re.findall(r"[<,] ?(\w+): (?:\d+|\?)(?=, )", text)))
    if dims and rng.random() < 0.7:
        dim, size = rng.choice(dims), rng.choice(SIZES)
        return re.sub(rf"(?<=[<, ]){dim}: (\d+|\?)(?=, )", f"{dim}: {size}", text)
    old = rng.choice(sorted(set(re.findall(r"[, <]((?:f|i|ui|bf)\d+)>", text))) or ["f32"])
    return re.sub(rf"(?<=[, <]){old}>", f"{rng.choice(ELEMENTS)}>", text)


def _operand(text: str, rng: random.Random) -> str:
    values = re.findall(r"%\w+", text)
    return _choose(r"(%\w+)(?! ?=|:)", values)(text, rng) if values else text


# -2**63 is MLIR's mark of a dynamic position: vector.insert reads it as one (docs/upstream.md).
CHANGES = [
    _choose(r"[\w\"~] ?: (\d+|\?)(?=, )", SIZES),
    _choose(r"[\w\"~] ?: (\d+|\?)(?=, )", SIZES),
    _choose(r", ((?:f|i|ui|bf)\d+)>", ELEMENTS),
    _choose(r"<((?:f|i|ui|bf)\d+)>", ELEMENTS),
    _choose(r"\[(-?\d+)[,\]]", ["-1", "0", "1", "2", "5", "9223372036854775807", "-9223372036854775807"]),
    _choose(r" (-?\d+)[, \]]", ["-1", "0", "1", "3", "9223372036854775807"]),
    _choose(r"xtensor\.([a-z_0-9]+) %", ELEMENTWISE),
    _choose(r"(?:reduce|cumulative) ([a-z]+) ", REDUCTIONS),
    _choose(r"(?:gather|scatter \w+) (raise|clip|drop) ", ["raise", "clip", "drop"]),
    _choose(r"tensor<(?:\d+x)*(\d+|\?)x", SIZES),
    _choose(r"memref<(?:\d+x)*(\d+|\?)x", SIZES),
    _rename,
    _rename,
    _line,
    _operand,
    *[_everywhere] * 12,
]


def changed(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = rng.choice(CHANGES)(text, rng)
    return text


def options_of(text: str) -> list[list[str]]:
    """How the test itself runs the tool, and all phases, from the one that the program is in."""
    found = []
    for line in re.findall(r"RUN: *(?:not )?xtensor-opt (.*)", text):
        words = [w for w in line.split("|")[0].split("2>")[0].split() if w.startswith("--") and "=%" not in w]
        words = [
            w for w in words if not w.startswith(("--verify-diag", "--split", "--dump", "--help", "--xtensor-print"))
        ]
        if not re.search(r"['\"(]", " ".join(words)):
            found.append(words)
    if "xtensor." in text and "linalg.generic" not in text:
        found.append(["--compile-to=llvm"])
    return [list(w) for w in dict.fromkeys(map(tuple, found))]


@functools.cache
def programs_of(path: Path) -> list[str]:
    pieces = [p for p in re.split(r"^// -----.*$", path.read_text(), flags=re.M) if "func" in p or "module" in p]
    return [re.sub(r"^//.*$", "", p, flags=re.M).strip() for p in pieces]


def with_main(program: str) -> str:
    return re.sub(r"func\.func (private )?@\w+", "func.func @main", program, count=1)


def parts() -> Iterator[tuple[str, list[Path]]]:
    """A name, and files of one folder."""
    for folder in sorted({path.parent for path in FILES}):
        files = [path for path in FILES if path.parent == folder]
        for at in range(0, len(files), TOGETHER):
            yield f"{folder.relative_to(ROOT / 'test')} {files[at].stem}", files[at : at + TOGETHER]


def batches(files: list[Path]) -> dict[tuple[str, ...], list[str]]:
    """The changed programs of these files, for each list of options."""
    found: dict[tuple[str, ...], list[str]] = {}
    for path in files:
        text, pieces = path.read_text(), programs_of(path)
        for options in options_of(text) if pieces else ():
            rng = random.Random(f"{path.name} {options} {TIMES}")
            if any(o.startswith("--compile-to") for o in options):
                pieces = [with_main(p) for p in pieces]
            programs = found.setdefault(tuple(options), [])
            programs += [changed(rng.choice(pieces), rng) for _ in range(PER_FILE * TIMES)]
    return found


def run(options: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tool("xtensor-opt"), "--split-input-file", *options], input=text, capture_output=True, text=True, timeout=120
    )


def crashes(options: Sequence[str], programs: list[str]) -> str | None:
    """The first of the programs that ends the tool in any other way than with 0 or 1."""
    try:
        done = run(options, "\n// -----\n".join(programs))
        if done.returncode in (0, 1) and "LLVM ERROR" not in done.stderr:
            return None
        why = f"exit code {done.returncode}\n{done.stderr[-1500:]}"
    except subprocess.TimeoutExpired:
        why = "no end"
    if len(programs) == 1:
        return f"xtensor-opt {' '.join(options)}\n{programs[0]}\n{why}"
    half = len(programs) // 2
    return crashes(options, programs[:half]) or crashes(options, programs[half:])


@pytest.mark.sampled(22)
@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in parts()])
def test_changed_programs(files: list[Path]) -> None:
    for options, programs in batches(files).items():
        found = crashes(options, programs)
        assert found is None, found


# -- passes and phases that a program was not written for ------------------------------------------------------------

PHASES = {
    "cpu": "simplified differentiated distributed linalg grouped scheduled buffers cpu llvm",
    "vulkan": "buffers gpu spirv llvm",
    "metal": "gpu spirv msl",
    "cuda": "gpu nvvm ptx",
}
PASSES = sorted(
    name
    for table in (ROOT / "passes").rglob("Passes.td")
    for name in re.findall(r'Pass<"(xtensor-[\w-]+)"', table.read_text())
    if "-print" not in name
)
FOREIGN = [
    *(f"--{name}" for name in (*PASSES, "xtensor-make-entry")),
    *(f"--xtensor-to-{phase}" for phase in ("gpu", "spirv", "msl", "ptx")),
    *(f"--xtensor-compile=from={phase} target={t}" for t, phases in PHASES.items() for phase in phases.split()),
]


@pytest.mark.parametrize("option", FOREIGN)
def test_programs_of_other_passes(option: str) -> None:
    rng = random.Random(f"{option} {TIMES}")
    pieces = [p for path in FILES for p in programs_of(path)]
    programs = [rng.choice(pieces) for _ in range(PER_PASS * TIMES)]
    programs = [with_main(p) if rng.random() < 0.5 else p for p in programs]
    programs = [changed(p, rng) if rng.random() < 0.5 else p for p in programs]
    found = crashes([option], programs)
    assert found is None, found
