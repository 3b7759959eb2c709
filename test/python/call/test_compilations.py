"""What is told of compilations: `f.compilations`, `xt.option(log="compile")`, `xtensor explain`."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt


def reasons(f: Any) -> tuple[str, ...]:
    return f.compilations[-1].reasons


def test_first_compilation_says_what_and_for_what() -> None:
    f = xt.jit(lambda x, n: x * n)
    line = f"{__file__}:{sys._getframe().f_lineno + 1}"
    f(xt.zeros(time=3, dtype="f4"), 2.0)
    (made,) = f.compilations
    assert made.arguments == ("x: float32 (time: 3)", "n: Python float")
    assert made.called == line and made.device == xt.zeros(a=1).device and made.reasons == ()
    assert made.defined is not None and made.defined.startswith(__file__)
    assert "trace" in made.seconds and made.total == sum(made.seconds.values())
    assert made.source in ("compiled", "disk", "memory")
    assert "x: float32 (time: 3)" in repr(made)


def test_each_phase_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XTENSOR_CACHE_DIR", str(tmp_path))

    def body(x: Any) -> Any:
        return xt.sin(x) * 0.123456 + 7.25

    f, again = xt.jit(body), xt.jit(body)
    f(xt.zeros(odd=13))
    (made,) = f.compilations
    assert made.source == "compiled"
    assert [*made.seconds][:2] == ["trace", "simplified"] and [*made.seconds][-3:] == ["llvm", "asm", "link"]
    again(xt.zeros(odd=13))
    assert again.compilations[0].source == "memory"


def test_calls_that_hit_add_nothing() -> None:
    f = xt.jit(lambda x: x + 1)
    for _ in range(3):
        with xt.option(log="compile"):
            f(xt.zeros(a=3))
    assert len(f.compilations) == 1


def test_sizes_name_the_option_that_helps() -> None:
    f = xt.jit(lambda x, y: (x * y).sum())
    f(xt.zeros(time=365), xt.zeros(time=365))
    f(xt.zeros(time=366), xt.zeros(time=366))
    assert reasons(f) == ('arguments x, y: dim time was 365, now 366; dynamic_dims=("time",) would keep one program',)
    g = xt.jit(f.__wrapped__, dynamic_dims=("time",))
    g(xt.zeros(time=365), xt.zeros(time=365))
    g(xt.zeros(time=366), xt.zeros(time=366))
    assert len(g.compilations) == 1


CHANGES = {
    "dtype": (xt.zeros(a=2, dtype="f4"), xt.zeros(a=2), "argument x: dtype was float32, now float64"),
    "dims": (xt.zeros(a=2), xt.zeros(b=2), "argument x: dims were (a), now (b)"),
    "order": (xt.zeros(a=2, b=3), xt.zeros(b=3, a=2), "argument x: the order of dims was (a, b), now (b, a)"),
    "weak": (2.0, xt.array(2.0, ()), "argument x: was a Python float, now an array of float64"),
    "number": (2.0, 2, "argument x: was a Python float, now a Python int"),
    "text": ("a", "b", "argument x was 'a', now 'b'"),
    "structure": ([1.0], {"k": 1.0}, "the structure of the arguments changed: now with x['k'] and without x[0]"),
    "container": ([1.0], (1.0,), "argument x was a list, now a tuple"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_reasons(name: str) -> None:
    first, second, reason = CHANGES[name]
    f = xt.jit(lambda x: xt.zeros(k=2))
    f(first)
    f(second)
    assert reasons(f) == (reason,)


def test_weak_array_in_place_of_a_python_number() -> None:
    one = "; an array from the start, as xt.array(1.0) is, would keep one program"
    f = xt.jit(lambda s: s * 0.5 + 1)
    s: Any = 1.0
    for _ in range(3):
        s = f(s)
    assert [c.arguments for c in f.compilations] == [("s: Python float",), ("s: weak float64 ()",)]
    assert reasons(f) == (f"argument s: was a Python float, now a weak array of float64{one}",)
    s = xt.array(1.0)
    for _ in range(3):
        s = f(s)
    assert len(f.compilations) == 3
    assert reasons(f) == ("argument s: was a weak array of float64, now an array of float64",)
    f(2)
    assert reasons(f) == ("argument s: was an array of float64, now a Python int",)
    g = xt.jit(lambda s: s + 1)
    g(xt.as_array(2))
    g(2)
    assert reasons(g) == (f"argument s: was a weak array of int64, now a Python int{one}",)


def test_nearest_earlier_program_is_compared() -> None:
    f = xt.jit(lambda x: x + 1)
    f(xt.zeros(a=2, dtype="f4"))
    f(xt.zeros(a=3, dtype="f8"))
    f(xt.zeros(a=4, dtype="f4"))
    assert len(reasons(f)) == 1 and "dim a was 2, now 4" in reasons(f)[0]


T3, T4, U = xt.zeros(t=3), xt.zeros(t=4), xt.zeros(u=2)
STRUCTURES: dict[str, list[Any]] = {
    "dict, list": [{"a": T3}, [1.0], {"a": T4}],
    "array, tuple": [T3, (1.0,), T4],
    "None": [T3, None, T4, None],
    "pairs": [(T3, None), (T3, T3), (T4, None)],
    "all of a pair": [(T3, None), (T3, T3), (T4, None), (T4, T4)],
    "list, tuple": [[T3, T3, U], (T4, T4, U), [T4, T4, U]],
    "keys": [{"a": T3}, {"a": T3, "b": T3}, {"a": T4}],
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_nearest_program_has_the_same_structure(name: str) -> None:
    f = xt.jit(lambda x: xt.zeros(k=2))
    for x in STRUCTURES[name]:
        f(x)
    (reason,) = reasons(f)
    assert reason.endswith(': dim t was 3, now 4; dynamic_dims=("t",) would keep one program')


def test_program_with_other_arguments_is_compared_by_all_that_differs() -> None:
    f = xt.jit(lambda x, y=1.0: x * y)
    f(xt.zeros(t=2))
    f(xt.zeros(t=2), 2.0)
    f(xt.zeros(t=3))
    assert reasons(f) == ('argument x: dim t was 2, now 3; dynamic_dims=("t",) would keep one program',)
    f(xt.zeros(t=2, dtype="f4"), y=2.0)
    assert reasons(f) == (
        "argument y is given by keyword now, and was given by position",
        "argument x: dtype was float64, now float32",
    )
    g = xt.jit(lambda x, *more: x)
    g(xt.zeros(t=2))
    g(xt.zeros(t=3), 1.0)
    assert reasons(g) == ("argument 1 is given now, and was left out", "argument x: dim t was 2, now 3")


def test_static_arguments_and_options() -> None:
    f = xt.jit(lambda x, n: x * n, static="n")
    f(xt.zeros(a=2), 3)
    f(xt.zeros(a=2), 4)
    assert reasons(f) == ("argument n was 3, now 4; as an argument that is not static it would not compile again",)
    with xt.option(skipna=True):
        f(xt.zeros(a=2), 4)
    assert reasons(f) == ("option skipna was False, now True",)
    with xt.profile():
        f(xt.zeros(a=2), 4)
    clock = "it ran outside of blocks of xt.profile, now in a block of xt.profile, whose programs call a clock"
    assert reasons(f) == (clock,)


def test_another_spelling_of_the_same_arguments() -> None:
    """Each spelling has a program of its own, and none of them made room for another."""
    f = xt.jit(lambda x, n=2: x * n, static="n")
    x = xt.zeros(a=2)
    told = []
    for args, kwargs in (((x,), {}), ((x, 2), {}), ((x,), {"n": 2}), ((), {"x": x, "n": 2}), ((), {"n": 2, "x": x})):
        f(*args, **kwargs)
        told += reasons(f)
    assert told == [
        "argument n is given now, and was left out",
        "argument n is given by keyword now, and was given by position",
        "argument x is given by keyword now, and was given by position",
        "the arguments are in another order",
    ]


def test_static_numbers() -> None:
    """Of one type: as an array the argument would not compile again. Of another: it would."""
    f = xt.jit(lambda x, n: x * n, static="n")
    helps = "; as an argument that is not static it would not compile again"
    told = []
    for n in (-1, -2, 3.0, 4.0, True):  # the hashes of -1 and -2 are equal
        f(xt.zeros(a=2), n)
        told += reasons(f)
    assert told == [
        f"argument n was -1, now -2{helps}",
        "argument n was -2, now 3.0",
        f"argument n was 3.0, now 4.0{helps}",
        "argument n was 4.0, now True",
    ]


def test_ops_tell_how_their_arguments_are_spelled() -> None:
    calls = 'xt.sum(x, "j"), xt.sum(x, dim="j"), xt.roll(x, j=-1), xt.roll(x, j=-2)'
    text = f"import xtensor as xt\nx = xt.zeros(i=3, j=2)\nwith xt.option(log='compile'):\n    {calls}\n"
    # In a process of its own: reasons compare a call with the most similar one, which may be another test's.
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert [line for line in ran.stderr.splitlines() if line.startswith("  again")] == [
        "  again  argument dim is given by keyword now, and was given by position",
        "  again  argument shifts was {'j': -1}, now {'j': -2}",
    ]


def test_labels_that_the_function_reads() -> None:
    xr = pytest.importorskip("xarray")
    f = xt.jit(lambda x: x.sel(t=1))
    for start in (0, 1):
        f(xr.DataArray(np.arange(3.0), dims="t", coords={"t": np.arange(3) + start}))
    assert reasons(f) == ("the arguments have other labels, and the function reads these",)


def test_function_that_is_made_again() -> None:
    for k in (2.0, 3.0):
        f = xt.jit(lambda x, more=1.0: x * k * more)  # noqa: B023 (what the test is about)
        f(xt.zeros(a=2))
    assert reasons(f) == (
        "it is another function object from the same line: make it once, outside of the loop that calls it",
        "k, which it reads from outside, was 2.0, now 3.0: give it as an argument",
    )


def test_gradients_loops_and_ops_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    with xt.option(log="compile"):
        xt.grad(lambda w: xt.sum(w * w))(xt.zeros(w=7))
        xt.scan(lambda c, x: (c + x, c), 0.0, xt.zeros(told=7), dim="told")
        _, back = xt.vjp(lambda v: xt.sum(v * v), xt.zeros(v=7))
        back(1.0)
        xt.hypot(xt.zeros(op=7), 2.0)
    told = capfd.readouterr().err
    for name in ("grad(<lambda>)", "scan(<lambda>)", "<lambda>.back", "hypot"):
        assert f": {name} on " in told
    xt.grad(lambda w: xt.sum(w * w * w))(xt.zeros(w=7))
    assert capfd.readouterr().err == ""


def test_logger_gets_what_is_told(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    f = xt.jit(lambda x: x - 1)
    with caplog.at_level(logging.INFO, "xtensor"), xt.option(log="compile"):
        f(xt.zeros(a=2))
        f(xt.zeros(a=3))
    assert len(caplog.records) == 2 and "dim a was 2, now 3" in caplog.records[1].getMessage()
    assert capfd.readouterr().err == ""


def test_log_is_an_option_of_a_block_and_of_the_process(capfd: pytest.CaptureFixture[str]) -> None:
    def told() -> bool:
        xt.jit(lambda x: x * 3)(xt.zeros(a=2))
        return bool(capfd.readouterr().err)

    try:
        xt.option(log="compile")
        assert told()
        with xt.option(log=None):
            assert not told()
        with xt.option(skipna=True):
            assert told()
    finally:
        xt.option(log=None)
    assert not told()
    with pytest.raises(xt.ArgumentError, match=r"xt\.option: log= is None or 'compile', got 'all'"):
        xt.option(log="all")


PROGRAM = """\
import sys
import xtensor as xt

@xt.jit
def loss(x):
    return (x * x).sum()

for n in (5, 6):
    loss(xt.zeros(time=n))
print("argument", sys.argv[1])
sys.exit(3)
"""


def test_explain(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "xtensor.cli", "explain", "--quiet", str(program), "--flag"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=os.environ.copy(), check=False)
    assert done.returncode == 3, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "argument --flag" and lines[1].split()[0] == "function"
    row = next(line for line in lines if line.startswith("loss"))
    assert row.endswith(f"{program}:4")
    assert sum(map(int, row.split()[1:3])) == 2
    assert '    again: argument x: dim time was 5, now 6; dynamic_dims=("time",) would keep one program' in lines
    assert "programs" in lines[-1] and done.stderr == ""


@pytest.mark.parametrize(
    ("program", "message"),
    [("none.py", "there is no file none.py"), (".", ". is a folder"),
     ("train.py:step", "there is no file train.py:step. It runs a whole program: xtensor explain train.py")],
)  # fmt: skip
def test_explain_needs_a_program(tmp_path: Path, program: str, message: str) -> None:
    (tmp_path / "train.py").write_text("")
    command = [sys.executable, "-m", "xtensor.cli", "explain", program]
    out = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (out.returncode, out.stderr) == (1, f"xtensor explain: {message}\n")


def test_explain_asks_for_the_program_alone() -> None:
    out = subprocess.run([sys.executable, "-m", "xtensor.cli", "explain"], capture_output=True, text=True)
    assert out.returncode == 2 and out.stderr.endswith("the following arguments are required: PROGRAM.py\n")


def test_explain_tells_of_no_function_of_the_package(tmp_path: Path) -> None:
    """The table of a profile compiles what it measures the limits of the machine by."""
    program = tmp_path / "program.py"
    body = "f = xt.jit(lambda x: xt.sum(x))\nwith xt.profile() as p:\n    f(xt.zeros(t=3))\nprint(p.rows[0])\n"
    program.write_text(f"import xtensor as xt\n{body}")
    command = [sys.executable, "-m", "xtensor.cli", "explain", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "with_corner" not in done.stdout + done.stderr and "limits.py" not in done.stdout
    row, total = done.stdout.splitlines()[-2:]
    assert row.split()[0] == "<lambda>" and total.startswith("1 program, ")
    program.write_text("import xtensor as xt\nxt.vjp(lambda x: xt.sum(x), xt.ones(t=3))[1](1.0)\n")
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "pyfrontend" not in done.stderr and "xtensor/transforms" not in done.stderr
    assert done.stderr.count("xtensor: ") == int(done.stdout.splitlines()[-1].split()[0])


def test_explain_counts_reasons(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    calls = "".join(f"f(xt.ones(t={n}))\n" for n in range(1, 8))
    program.write_text(f"import xtensor as xt\nf = xt.jit(lambda x: xt.sum(x))\n{calls}")
    command = [sys.executable, "-m", "xtensor.cli", "explain", "--quiet", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.splitlines()[-2:][0] == "    and 1 more reason" and "\n7 programs, " in done.stdout


def test_threads_that_compile_the_same_function() -> None:
    """A thread compares its key with those that others add meanwhile."""
    f = xt.jit(lambda x: x.sum())
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda _: [f(xt.ones(i=n)).item() for n in range(1, 20)], range(6)))
    assert found == [list(range(1, 20))] * 6
    assert {c.arguments for c in f.compilations} == {(f"x: float64 (i: {n})",) for n in range(1, 20)}


RAISES = """\
import threading
import xtensor as xt

def late():
    ended.wait(0.5)
    xt.jit(lambda x: x + 1)(xt.zeros(late=3))
    {thread}

ended = threading.Event()
threading.Thread(target=late).start()
try:
    1 / 0
except ZeroDivisionError as error:
    raise {error} from error
"""


@pytest.mark.parametrize(("error", "status"), [("ValueError('outer')", 1), ("KeyboardInterrupt", 130)])
def test_explain_hides_nothing_that_is_raised(tmp_path: Path, error: str, status: int) -> None:
    """The chain of exceptions, and those of threads, which may compile after the end of the program's file."""
    program = tmp_path / "program.py"
    program.write_text(RAISES.format(error=error, thread="raise KeyError('of a thread')"))
    command = [sys.executable, "-m", "xtensor.cli", "explain", "--quiet", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=os.environ.copy(), check=False)
    assert done.returncode == status, done.stderr
    for text in ("ZeroDivisionError: division", "direct cause", f'{program}", line 14', "KeyError: 'of a thread'"):
        assert text in done.stderr
    assert "xtensor/cli" not in done.stderr
    assert done.stdout.startswith("function") and "1 program, " in done.stdout


def test_threads_that_compile_one_program_at_the_same_time() -> None:
    both = threading.Barrier(2)

    def body(x: Any) -> Any:
        both.wait(60)
        return x * 5.125

    f = xt.jit(body)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(f, [xt.ones(t=3)] * 2))
    told = sorted(made.reasons for made in f.compilations)  # either thread may end first
    assert told == [(), ("another thread compiled a program for these types at the same time",)]
