"""The page of `f.explore`: its data tells where each line comes from, and no text of the user's leaves its place."""

from __future__ import annotations

import importlib
import json
import linecache
import os
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor.cli import main
from xtensor.explorer.source import spans

PROGRAM = '''\
import xtensor as xt


def loss(w, x):
    h = x @ w  # </script><script>window.evil = 1</script><!-- <img src=x onerror="window.evil = 2">
    t = xt.tanh(h)
    e = xt.exp(t - xt.max(t, "out"))
    return xt.sum(e * t)


def gradient(w, x):
    """Of `loss`,
    by its first argument."""
    return xt.grad(loss)(w, x)


example_args = (xt.spec(feature=32, out=16, dtype="f4"), xt.spec(batch=64, feature=32, dtype="f4"))
'''


@pytest.fixture
def program(tmp_path: Path) -> Any:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    found: dict[str, Any] = {"__name__": "program"}
    exec(compile(PROGRAM, str(path), "exec"), found)
    return found


def explored(program: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    f = xt.jit(program["gradient"])
    return f.lower(*program["example_args"], **options), f.explore(*program["example_args"], **options).data


def lines_with(data: dict[str, Any], phase: str, words: str) -> list[tuple[set[str], list[str]]]:
    """The user's lines, and the marks, of each line of a phase that has `words`."""
    (found,) = [p for p in data["phases"] if p["name"] == phase]
    at = []
    for text, origin in zip(found["lines"], found["origins"], strict=True):
        if words in text:
            assert origin >= 0, text
            made = data["origins"][origin]
            at.append(({data["files"][f]["lines"][line - 1].strip() for f, line in made["at"]}, made["marks"]))
    assert at, f"no line of {phase} has {words}"
    return at


def starts(at: list[tuple[set[str], list[str]]], *begins: str) -> bool:
    return all(len(lines) == 1 and next(iter(lines)).startswith(begins) for lines, _ in at)


@pytest.mark.parametrize("device", ["cpu", "metal"])
def test_every_phase_is_there_as_as_text_gives_it(program: Any, device: str) -> None:
    lowered, data = explored(program, device=device)
    names = [p["name"] for p in data["phases"]]
    assert ("msl" in names) == (device == "metal")
    for phase in data["phases"]:
        assert len(phase["lines"]) == len(phase["origins"])
        if phase["name"] != "asm":
            assert "\n".join(phase["lines"]) == lowered.as_text(phase["name"]).rstrip("\n")


def test_the_assembly_has_the_instructions_of_as_text(program: Any) -> None:
    lowered, data = explored(program)

    def code(lines: list[str]) -> list[str]:
        return [line for line in lines if line.startswith("\t") and not line.startswith("\t.")]

    assert code(data["phases"][-1]["lines"]) == code(lowered.as_text("asm").split("\n"))


@pytest.mark.cpu_only("its product is a call of a library")
def test_an_op_is_at_the_line_that_made_it(program: Any) -> None:
    _, data = explored(program)
    assert [f["name"] for f in data["files"]] == ["program.py"]  # and not this one, which calls
    assert starts(lines_with(data, "traced", "xtensor.contract"), "h = x @ w")
    assert starts(lines_with(data, "traced", "xtensor.exp"), "e = xt.exp(")
    assert starts(lines_with(data, "grouped", "math.tanh"), "t = xt.tanh(")
    assert starts(lines_with(data, "llvm", "llvm.call @xt_gemm"), "h = x @ w")
    assert starts(lines_with(data, "asm", "xt_gemm_f32@PLT"), "h = x @ w")


def test_ops_of_the_derivative_are_marked(program: Any) -> None:
    _, data = explored(program)
    (primal, (_, transposed)) = lines_with(data, "differentiated", "xtensor.contract")
    assert primal[1] == []
    assert transposed == ["cotangent", "tangent of contract"]
    assert (["t = xt.tanh(h)"], ["residual of tanh"]) in [
        (sorted(lines), marks) for lines, marks in lines_with(data, "differentiated", "xtensor.mul")
    ]
    assert starts(lines_with(data, "differentiated", "xtensor.contract"), "h = x @ w")


class Scripts(HTMLParser):
    """The text of each script, and all tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1] += data


def test_text_of_the_user_stays_data(program: Any) -> None:
    page = xt.jit(program["gradient"]).explore(*program["example_args"])
    found = Scripts(page.html)
    assert len(found.scripts) == 2
    assert "img" not in found.tags
    assert json.loads(found.scripts[0].strip()) == page.data
    assert Scripts(page._repr_html_()).tags == ["iframe"]


def test_a_parameter_path_is_the_functions_own(tmp_path: Path) -> None:
    f = xt.jit(lambda path: path + 1.0)
    assert f.explore(path=xt.spec(i=3)).data["inputs"] == f.explore(xt.spec(i=3)).data["inputs"]
    xt.jit(lambda x: x + 1.0).explore(xt.spec(i=3), path=tmp_path / "f.html")
    assert (tmp_path / "f.html").read_text().startswith("<!doctype html>")
    with pytest.raises(xt.ArgumentError, match="cannot be written"):
        xt.jit(lambda x: x + 1.0).explore(xt.spec(i=3), path=tmp_path / "no" / "f.html")


def profiled_gradient(program: Any) -> tuple[Any, list[Any], Any]:
    """The function, its arguments, and the profile of three calls."""
    f, draw = xt.jit(program["gradient"]), np.random.default_rng(0).standard_normal
    arguments = [xt.array(draw(s.shape).astype("f4"), s.dims) for s in program["example_args"]]
    with xt.profile() as p:
        for _ in range(3):
            f(*arguments)
    return f, arguments, p


@pytest.mark.cpu_only("its kernels are those of the CPU")
def test_groups_have_what_a_profile_measured(program: Any) -> None:
    f, arguments, p = profiled_gradient(program)
    groups = f.explore(*arguments, profile=p).data["groups"]
    nodes, (whole,) = groups["nodes"], [row for row in p.rows if row.kind == "program"]
    assert groups["calls"] == 3
    assert groups["seconds"] == pytest.approx(whole.seconds / 3)
    assert sum(node["seconds"] for node in nodes) <= groups["seconds"]
    assert sum(node["flops"] for node in nodes) == pytest.approx(f.cost(*arguments)["flops"], rel=0.01)
    # h = x @ w comes first, all else needs it, and its transpose writes the result.
    assert [nodes[i]["kind"] for i in (0, -1)] == ["product", "product"]
    assert nodes[0]["bytes"] == 4 * (64 * 32 + 32 * 16 + 64 * 16)
    (line,) = [i for i, text in enumerate(PROGRAM.split("\n"), 1) if "h = x @ w" in text]
    assert nodes[0]["at"] == [[0, line]]
    weight, x = map(repr, program["example_args"])
    assert sorted(groups["ends"][0]["reads"]) == sorted([weight, x])
    assert groups["ends"][-1]["writes"] == [weight]
    edges = {(a, b) for a, b in groups["edges"]}
    assert all(a < b for a, b in edges)
    assert {b for _, b in edges} == {*range(1, len(nodes))}
    assert [node["is_derivative"] for node in (nodes[0], nodes[-1])] == [False, True]


@pytest.mark.cpu_only("its kernels are those of the CPU")
def test_groups_of_a_loop_read_the_step_before() -> None:
    def step(c: Any, r: Any) -> Any:
        return xt.cumsum(xt.tanh(c + r), "i"), None

    f = xt.jit(lambda x: xt.scan(step, x.isel(t=0), x, dim="t")[0])
    x = xt.array(np.ones((5, 3000), "f4"), ("t", "i"))
    with xt.profile() as p:
        f(x)
    groups = f.explore(x, profile=p).data["groups"]
    looped = [i for i, node in enumerate(groups["nodes"]) if node["runs"] == 5]
    assert looped
    assert any(a >= b and {a, b} <= {*looped} for a, b in groups["edges"])


def test_memory_is_the_plan_of_the_arena(program: Any) -> None:
    f = xt.jit(program["gradient"])
    memory, plan = f.explore(*program["example_args"]).data["memory"], f.memory(*program["example_args"])
    assert (memory["arena"], memory["steps"]) == (plan.arena, len(plan.steps))
    where = [(t["bytes"], t["offset"], t["begin"], t["end"]) for t in memory["temporaries"]]
    assert sorted(where) == sorted((t.bytes, t.offset, t.begin, t.end) for t in plan.temporaries)
    assert where == sorted(where, key=lambda t: (t[2], t[1]))
    assert any(t["at"] and "tanh" in t["text"] for t in memory["temporaries"])
    assert "memory" not in xt.jit(lambda x: x + 1.0).explore(xt.spec(i=3)).data
    assert "memory" not in xt.jit(lambda x: xt.sort(x, "j")).explore(xt.spec(i=None, j=3)).data
    f = xt.jit(lambda x: xt.sort(xt.exp(x), "i") * 2.0, dynamic_dims="i")
    assert f.explore(xt.spec(i=300)).data["memory"]["arena"] == f.memory(xt.spec(i=300)).arena > 0


def test_a_profile_without_the_call_is_refused(program: Any) -> None:
    f, arguments, p = profiled_gradient(program)
    for other in (p, xt.profile()):
        with pytest.raises(xt.ArgumentError, match=r"no call of <lambda>|can be read after the block"):
            xt.jit(lambda x: x + 1).explore(arguments[0], profile=other)
    with pytest.raises(xt.ArgumentError, match=r"no call of gradient\(.*same dims, sizes and dtypes"):
        f.explore(arguments[0], xt.spec(batch=65, feature=32, dtype="f4"), profile=p)
    for wrong in ({"profile": "trace.json"}, {"path": 3}):
        with pytest.raises(xt.ArgumentTypeError, match=r"is not a profile\. Write|path of a file is needed, got 3"):
            f.explore(*arguments, **wrong)
    assert "groups" not in f.explore(*arguments).data
    own = xt.jit(lambda profile: profile + 1.0)
    assert own.explore(profile=xt.spec(i=3)).data["inputs"] == own.explore(xt.spec(i=3)).data["inputs"]


def test_a_cell_of_a_notebook_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = "def f(x):\n    return xt.exp(x)\n"
    monkeypatch.setitem(linecache.cache, "<cell 1>", (len(cell), None, cell.splitlines(keepends=True), "<cell 1>"))
    found: dict[str, Any] = {"xt": xt}
    exec(compile(cell, "<cell 1>", "exec"), found)
    data = xt.jit(found["f"]).explore(xt.spec(i=4)).data
    assert data["files"][0]["name"] == "<cell 1>"
    assert lines_with(data, "traced", "xtensor.exp") == [({"return xt.exp(x)"}, [])]


def test_a_program_without_a_text() -> None:
    """Typed into Python, or read from a pipe: the lines have numbers, and the page says that this is all."""
    found: dict[str, Any] = {"xt": xt}
    exec(compile("\n\ndef f(x):\n    return xt.exp(x)\n", "<stdin>", "exec"), found)
    data = xt.jit(found["f"]).explore(xt.spec(i=4)).data
    (file,) = data["files"]
    assert (file["name"], file["lines"]) == ("<stdin>", [""] * 4) and "text is not known" in file["note"]
    assert [[0, 4]] in [origin["at"] for origin in data["origins"]]


def test_colours_of_python() -> None:
    lines = ['x = """a', 'b""" + 1  # c', "return f'{x}'", "?? %time"]
    first, second, third, command = spans(lines)
    assert first == [4, 8, "s"]
    assert second == [0, 4, "s", 7, 8, "n", 10, 13, "c"]
    assert third[:3] == [0, 6, "k"]
    assert all(kind == "s" for kind in third[5::3])
    assert command == []


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)

    def explore(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "xtensor.cli", "explore", "program.py:gradient", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert explore().stdout == "gradient.html\n"
    data = json.loads(Scripts((tmp_path / "gradient.html").read_text()).scripts[0])
    assert [f["name"] for f in data["files"]] == ["program.py"]
    assert "".join(f"{line}\n" for line in data["files"][0]["lines"]) == PROGRAM
    wrong = explore("-o", "no/page.html")
    assert (wrong.returncode, wrong.stderr) == (
        1, "xtensor explore: no/page.html cannot be written: there is no folder no\n",
    )  # fmt: skip


def test_the_command_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    named = "\nfirst = xt.jit(lambda x, i: xt.sum(xt.exp(x.isel(k=i))), donate=0)\n"
    named += "opened = xt.jit(lambda x: xt.sum(xt.tanh(x) * x), dynamic_dims=('t',))\n"
    named += "example_args = {'opened': (xt.spec(t=900),), 'gradient': example_args}\n"
    named += "example_args |= {'first': (xt.spec(k=900), xt.spec(p=7, dtype='i8'))}\n"
    (tmp_path / "program.py").write_text(PROGRAM + named)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def groups(*words: str) -> Any:
        assert main(["explore", *words, "-o", "page.html"]) == 0
        capsys.readouterr()
        return json.loads(Scripts((tmp_path / "page.html").read_text()).scripts[0]).get("groups")

    assert groups("program.py:gradient") is None
    found = groups("program.py:gradient", "--profile")
    assert any("dot" in node["name"] for node in found["nodes"])
    assert all(node["seconds"] > 0 and node["runs"] == 1 for node in found["nodes"])
    assert groups("program.py:first", "--profile")["nodes"]
    for words in ((), ("--arg", "t=900:f8")):  # of any size, and called with this one
        nodes = groups("program.py:opened", "--profile", *words)["nodes"]
        assert nodes and all(node["seconds"] > 0 for node in nodes)
    for wrong in (["first", "--arg", "k=?", "--arg", ":i8"], ["opened", "--arg", "t=?:f8"]):
        assert main(["explore", f"program.py:{wrong[0]}", "--profile", *wrong[1:]]) == 1
        assert "--profile: calls need sizes" in capsys.readouterr().err
    assert main(["explore", "program.py:first", "--profile", "--device", "cuda,sm=80"]) == 1
    assert "xtensor explore: --profile: " in capsys.readouterr().err


def test_a_file_that_was_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text is the one that was traced, where it is known."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "edited_program.py"
    before = "import xtensor as xt\n\n\n@xt.jit\ndef f(x):\n    return xt.exp(x)\n"
    after = "import xtensor as xt\n\n# a new line\n\n\n@xt.jit\ndef f(x):\n    return xt.sin(x) + 1\n"
    now = time.time_ns()

    def write(text: str, seconds: int) -> None:
        path.write_text(text)
        os.utime(path, ns=(now, now + seconds * 10**9))

    def shown(f: Any, x: Any) -> tuple[str, str]:
        (file,) = f.explore(x).data["files"]
        return "\n".join([*file["lines"], ""]), file.get("note", "")

    write(before, 1)
    module = importlib.import_module("edited_program")
    old = module.f
    write(after, 2)  # before anything was traced: what it was is not known
    assert shown(old, 1.0) == (after, "the file has changed since it was loaded, so lines may be wrong")
    module = importlib.reload(module)
    assert shown(module.f, 1.0) == (after, "")
    write(before, 3)
    traced = after, "as it was when it was traced; the file has changed"
    assert shown(module.f, 1.0) == shown(module.f, xt.ones(t=2)) == traced
    path.unlink()
    assert shown(module.f, 1.0) == traced
