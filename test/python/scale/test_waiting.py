"""What happens if processes would wait for each other for ever, or one of them dies: an error in each of the others."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from mpirun import mpirun

START = """
import os, sys, threading, time
import numpy as np
import xtensor as xt
from mpi4py import MPI

mesh = xt.Mesh(data=MPI.COMM_WORLD.Get_size(), timeout=0.5, check=CHECK)
rank = mesh.position["data"]
first = rank == 0
x = xt.ones(b=6)


def jit(f):
    return xt.jit(f, mesh=mesh, split={"b": "data"})


def number(value):
    return xt.array(np.float64(value), ())


def branch(x, flag):
    return xt.cond(
        flag > 0,
        lambda: (x * flag).sum("b"),
        lambda: 2.0,
    )


def branches(x, flag):
    return xt.cond(
        flag > 0,
        lambda: (x * flag).sum("b"),
        lambda: (x / (2 + flag)).sum("b"),
    )


def rounds(x, n):
    return xt.while_loop(
        lambda s: s[0] < n,
        lambda s: (s[0] + 1, xt.cos(s[1] * x).sum("b")),
        (0, 0.0),
    )


def attempt(call):
    try:
        call()
        print(f"{rank} no error", flush=True)
    except xt.Error as error:
        print(f"{rank} {type(error).__name__}: {error}", flush=True)
"""


def line_of(text: str) -> int:
    return 1 + next(i for i, line in enumerate(START.splitlines()) if text in line)


def run(folder: Path, program: str, count: int = 2, ends: bool = True, check: object = True) -> str:
    path = folder / "program.py"
    path.write_text(START.replace("CHECK", repr(check)) + program)
    return mpirun(count, str(path), ends=ends)


STUCK = "ArgumentError: the processes of the mesh wait for each other, and would for ever: "


@pytest.mark.parametrize("count", (2, 3))
@pytest.mark.parametrize("name", ("branch", "rounds"))
def test_a_condition_that_differs_by_process_does_not_wait_for_ever(name: str, count: int, tmp_path: Path) -> None:
    program = f"""
f, plain = jit({name}), jit(lambda x: x.sum())
f(x, number(1))
plain(x)
value = number(int(not first)) if {name == "branch"} else number(3 + first)


def both():
    f(x, value)
    plain(x)


attempt(both)
attempt(lambda: plain(x))  # does not wait again
"""
    text = run(tmp_path, program, count, ends=False)
    where = line_of("lambda: (x * flag)" if name == "branch" else "xt.cos(s[1]")
    for rank in range(count):
        found = re.findall(rf"^{rank} {STUCK}.*", text, re.MULTILINE)
        assert len(found) == 2, text
        assert f"in all_reduce sum ({tmp_path}/program.py:{where}) of a call of {name} (" in found[0]
        assert "to call <lambda> (" in found[0]
        assert "must be equal in all processes: xt.Mesh(.., check='arguments')" in found[0]
        assert all(f"process {i} (data={i}; pid " in found[0] for i in range(count))


@pytest.mark.parametrize("name", ("branch", "rounds"))
def test_without_checks_it_does_not_wait_for_ever_either(name: str, tmp_path: Path) -> None:
    program = f"""
f = jit({name})
f(x, number(1))
attempt(lambda: f(x, number(rank) if {name == "branch"} else number(3 + rank)))
"""
    text = run(tmp_path, program, ends=False, check=False)
    assert re.search(rf"^0 no error$.*^1 {STUCK}.*process 0 \(.*\) waits to end", text, re.MULTILINE | re.DOTALL), text


def test_branches_that_send_alike_are_told_at_the_next_call_and_at_the_end(tmp_path: Path) -> None:
    program = """
f = jit(branches)
f(x, number(rank))
"""
    there, other = (line_of(text) for text in ("lambda: (x * flag)", "lambda: (x / (2"))
    there += 8  # that of `branches`
    told = "the processes of the mesh have run different collective ops in the last call, of branches ("
    one = f"process 1 has run 1 collective op in it, the last all_reduce sum ({tmp_path}/program.py:{there})"
    zero = f"process 0 has run 1 collective op in it, the last all_reduce sum ({tmp_path}/program.py:{other})"
    text = run(tmp_path, program, ends=False)
    assert text.count(f"xtensor: {told}") >= 1
    assert one in text and zero in text
    text = run(tmp_path, program + "attempt(lambda: f(x, number(1)))\n", ends=False)
    for rank in "01":
        assert f"{rank} ArgumentError: {told}" in text


def test_numbers_and_arrays_that_differ_by_process_are_told(tmp_path: Path) -> None:
    program = """
v = xt.arange(3.0, dim="k") + rank
held = xt.arange(12.0, dim="b") + rank
attempt(lambda: jit(branch)(x, rank))
attempt(lambda: jit(branch)(x, 0.5 + rank))
attempt(lambda: jit(lambda x: (x * held).sum())(x))
scaled = jit(lambda x, v: (x * v).sum())
attempt(lambda: scaled(x, v - rank))
attempt(lambda: scaled(x, v))
"""
    text = run(tmp_path, program, check="arguments")
    for rank in "01":
        error = f"{rank} ArgumentError: process 1 of the mesh calls "
        for one, zero in (("1", "0"), ("1.5", "0.5")):
            assert re.search(rf"{error}branch \(.* with flag = {one}, and process 0 .* with flag = {zero}\. Num", text)
        assert re.search(
            rf"{error}<lambda> \(.*which reads float64 \(b: 12\) #\w{{12}} from outside, and process 0", text
        )
        assert re.search(
            rf"{error}<lambda> \(.* with v = #\w{{8}}, and process 0 calls .* with v = #\w{{8}}\. Num", text
        )
        assert text.count(f"{rank} no error") == 1
    text = run(tmp_path, program)  # arrays are not compared at each call
    assert text.count("with flag = ") == 8 and "with v = " not in text and text.count("no error") == 4


def test_a_process_that_is_late_is_named(tmp_path: Path) -> None:
    program = """
f = jit(lambda x: x.sum())
f(x)
if rank == 1:
    time.sleep(3)
f(x)
print("ok", flush=True)
"""
    text = run(tmp_path, program, 3)
    assert text.count("ok") == 3
    assert re.search(r"xtensor: process 0 of 3 has waited 1 s for the others to call <lambda> \(", text)
    assert re.search(r"not waiting with the others: process 1 \(data=1; pid \d+ on \S+\)\. All were there \d s", text)


ENDS = {
    "os._exit(0)": "has ended without a word, with exit code 0|has died",
    "os._exit(3)": "has ended without a word, with exit code 3|has died",
    "os.kill(os.getpid(), 9)": r"was killed by signal 9 \(Killed\)|has died",
    "os.kill(os.getpid(), 11)": r"was killed by signal 11 \(Segmentation fault\)|has died",
}


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the death of a process is seen on Linux")
def test_a_process_that_dies_is_named(how: str, tmp_path: Path) -> None:
    program = f"""
os.dup2(os.open("{tmp_path}/" + str(rank), os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)  # mpirun drops what is late
f = jit(lambda x: x.sum())
f(x)
if rank == 1:
    {how}
f(x)
"""
    path = tmp_path / "program.py"
    path.write_text(START.replace("CHECK", "True") + program)
    line = rf"xtensor: process 1 \(data=1; pid \d+ on \S+\) ({ENDS[how]}), so all processes end"
    texts = []
    for _ in range(5):  # on a busy machine, mpirun may end the other before it has told
        mpirun(2, str(path), ends=False, cleans=False)
        texts.append((tmp_path / "0").read_text())
        if re.search(line, texts[-1]):
            return
    raise AssertionError(texts)


def test_threads_that_share_a_mesh_are_an_error(tmp_path: Path) -> None:
    program = """
def slow(x):
    return xt.fori_loop(0, 1000, lambda _, s: xt.cos(s) + s.mean("b"), x)


f, g = jit(slow), jit(lambda x: x.sum())
big = xt.ones(b=200_000)
f(big), g(x)
other = threading.Thread(target=lambda: f(big))
other.start()
time.sleep(0.05)
attempt(lambda: g(x))
other.join()
attempt(lambda: g(x))
"""
    text = run(tmp_path, program)
    for rank in "01":
        assert re.search(
            rf"{rank} ArgumentError: <lambda> \(.*: another thread calls slow \(.* with the same mesh", text
        )
        assert text.count(f"{rank} no error") == 1
