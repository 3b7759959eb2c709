"""The command line: show, doctor, devices, and its errors."""

import os
import subprocess
import sys
import textwrap

import pytest
import xtensor as xt
from xtensor.cli import main, parse_spec

PROGRAM = """
import numpy as np
import xtensor as xt

def plain(x, y):
    return xt.tanh(x * y)

def annotated(x: xt.spec(i=3, dtype="f4"), s=2.0):
    return (x * s).sum()

class Model:
    def loss(x: xt.spec(i=3)):
        return x.sum()

gradient = xt.grad(annotated)

@xt.jit
def compiled(x):
    return x

def raises(x):
    return {}["mine"]
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    return path


def show(capsys, *args):
    status = main(["show", *map(str, args)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_show_takes_specs(program, capsys):
    status, out, _ = show(capsys, f"{program}:plain", "--phase", "traced", "--arg", "i=4:f4", "--arg", "i=4,j=?:f4")
    assert status == 0
    assert "i: 4, j: ?, f32" in out
    assert "xtensor.tanh" in out


@pytest.mark.float64
def test_show_takes_annotations_and_defaults(program, capsys):
    status, out, _ = show(capsys, f"{program}:annotated", "--phase", "traced", "--locations")
    assert status == 0
    assert "i: 3, f32" in out
    assert "program.py" in out


@pytest.mark.float64
def test_show_of_methods_and_transformed_functions(program, capsys):
    assert show(capsys, f"{program}:Model.loss", "--phase", "traced")[0] == 0
    status, out, _ = show(capsys, f"{program}:gradient", "--phase", "traced")
    assert status == 0
    assert "xtensor.pullback" in out


@pytest.mark.float64
def test_show_takes_example_args(program, capsys):
    with program.open("a") as f:
        f.write("example_args = {'plain': (xt.spec(k=5, dtype='f4'), 1.0)}\n")
    status, out, _ = show(capsys, f"{program}:plain", "--phase", "traced")
    assert status == 0
    assert "k: 5" in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["{}:plain"], ["'x'", "--arg", "example_args"]),
        (["{}:missing"], ["missing", "plain"]),
        (["{}"], ["FILE.py:FUNCTION"]),
        (["nowhere.py:f"], ["nowhere.py"]),
        (["{}:annotated", "--phase", "nope"], ["nope", "linalg"]),
        (["{}:plain", "--arg", "i:4"], ["i:4"]),
        (["{}:plain", "--arg", "i=3", "--arg", "i=4"], ["'i'", "program.py:6"]),
        (["{}:plain", "--arg", "i=-3"], ["-3 is not a size of 'i'", "? for a dynamic size"]),
        (["{}:plain", "--arg", "i=3,i=4"], ["'i=3,i=4'", "'i' is named twice"]),
        (["{}:plain", "--arg", "i=3:f33"], ["--arg 'i=3:f33'", "float32"]),
        (["{}:plain", *["--arg", ":f4"] * 3], ["3 arguments", "plain(x, y)"]),
        (["{}:missing"], ["annotated, compiled, gradient, plain, raises"]),
        (["{}:raises", "--arg", ":f4"], ["program.py", "in raises", "KeyError: 'mine'"]),
    ],
)
def test_errors_are_one_message_and_exit_1(program, capsys, args, words):
    status, out, err = show(capsys, *[a.format(program) for a in args])
    assert status == 1
    assert out == ""
    assert "Traceback" not in err
    assert __file__ not in err
    assert "xtensor/cli" not in err
    for word in words:
        assert word in err


def test_example_args_of_a_wrong_kind(program, capsys):
    with program.open("a") as f:
        f.write("example_args = 3\n")
    status, _, err = show(capsys, f"{program}:plain")
    assert status == 1
    assert "example_args of plain are a tuple" in err


def test_phases_that_cannot_be_dumped_are_told(program):
    path = program.with_name("run.py")
    path.write_text("import xtensor as xt\nxt.exp(xt.ones(i=2))\n")
    run = [sys.executable, str(path)]
    out = subprocess.run(run, env={**os.environ, "XTENSOR_DUMP": "/proc/nope"}, capture_output=True, text=True)
    assert out.returncode == 1
    assert "xtensor.ArgumentError: xt.exp: phases cannot be dumped to /proc/nope" in out.stderr
    assert "debug.py" not in out.stderr


def test_specs_are_read():
    assert repr(parse_spec("batch=64, time=?:f4")) == "Spec(batch: 64, time: ?, float32)"
    assert repr(parse_spec(":i8")) == "Spec(int64)"


def test_doctor_and_devices(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "target cpu" in out
    assert "BROKEN" not in out
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("cpu ")


def test_it_is_a_command():
    out = subprocess.run([sys.executable, "-m", "xtensor.cli", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout.startswith("xtensor ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(x): return x\ndef g(:\n", ['broken.py", line 2', "def g(:", "SyntaxError: invalid syntax"]),
        ("def f(x):\n  return x\n a = 3\n", ['broken.py", line 3', "IndentationError: unindent"]),
        ("def f(x): return x\n\0", ["broken.py is not a program", "null bytes"]),
        ("import broken_part\n", ['broken.py", line 1', 'broken_part.py", line 1', "SyntaxError"]),
    ],
)
@pytest.mark.parametrize("command", ["show", "compile"])
def test_a_file_that_python_cannot_read_is_told_by_its_own_lines(tmp_path, monkeypatch, capsys, text, says, command):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "broken_part.py").write_text("x = (\n")
    path = tmp_path / "broken.py"
    path.write_text(text)
    rest = ["-o", str(tmp_path / "b.xtb")] if command == "compile" else []
    assert main([command, f"{path}:f", "--arg", "a=3", *rest]) == 1
    told = capsys.readouterr().err
    assert all(word in told for word in says), told
    assert "xtensor/cli" not in told
    assert "<frozen" not in told


@pytest.mark.parametrize(
    ("arg", "says"),
    [
        ("i=99999999999999999999:f4", "the size of 'i' is above 2**63 - 1"),
        ("plian:i=3", "there is no function 'plian'; there is plain"),
    ],
)
def test_an_argument_that_cannot_be_is_told_by_its_own_words(program, tmp_path, capsys, arg, says):
    assert main(["compile", f"{program}:plain", "-o", str(tmp_path / "b.xtb"), "--arg", arg, "--arg", "i=3"]) == 1
    assert f"xtensor compile: --arg {arg!r}: {says}" in capsys.readouterr().err


def test_help_lists_the_devices(capsys):
    with pytest.raises(SystemExit):
        main(["compile", "--help"])
    out = capsys.readouterr().out
    assert all(name in out for name in ("vulkan", "metal", "cuda"))


def test_one_argument_is_one(program, capsys):
    _, _, err = show(capsys, f"{program}:plain", "--arg", "i=3")
    assert "1 argument is given to plain(x, y)" in err


def test_a_size_is_too_large_or_no_size():
    with pytest.raises(xt.ArgumentError, match=r"the size of 't' is above 2\*\*63 - 1: 1000000000000000000000"):
        xt.spec(t=10**21)
    with pytest.raises(xt.ArgumentError, match="the size of 't' is a non-negative int or None, got -1"):
        xt.spec(t=-1)
