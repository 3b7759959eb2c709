"""What happens if processes do different things: an error that says which, in place of waiting for ever."""

from __future__ import annotations

from pathlib import Path

import xtensor as xt
from mpi4py import MPI
from mpirun import mpirun

START = """
import sys, time
import xtensor as xt

mesh = xt.Mesh(data=2, timeout=0.5)
rank = mesh.position["data"]
x = x3 = xt.ones(b=3)


def jit(f, mesh=mesh):
    return xt.jit(f, mesh=mesh, split={"b": "data"})


def attempt(call):
    try:
        call()
    except xt.Error as error:
        print(f"{rank} {type(error).__name__}: {error}", flush=True)


def total(x):
    return x.sum()


def largest(x):
    return x.max()


f, g = jit(total), jit(largest)
assert f(x).item() == 6 and g(x).item() == 1
"""


def run(folder: Path, program: str, ends: bool = True) -> str:
    path = folder / "program.py"
    path.write_text(START + program)
    return mpirun(2, str(path), ends=ends)


def test_calls_that_differ_are_an_error_in_all_processes(tmp_path: Path) -> None:
    program = """
attempt(lambda: (g if rank else f)(x))  # compiled before
attempt(lambda: f(xt.ones(b=3 + rank)))
attempt(lambda: xt.local(xt.ones(b=1), mesh, {"b": "data"}))
attempt(lambda: f(x) if rank else xt.gather(x, mesh, {"b": "data"}))
attempt(lambda: jit(lambda x: xt.while_loop(lambda s: s.sum() < 50, lambda s: s + 1 + rank, x))(x))
attempt(lambda: jit(lambda x: x.sum() + x3.sum())(x))
attempt(lambda: jit(lambda x: {"y": (x, xt.zeros(b=5))})(x))
attempt(lambda: xt.Mesh(data=2) if rank else xt.Mesh(model=2))
attempt(lambda: xt.Mesh(data=2) if rank else f(x))
twin = xt.Mesh(data=2)
attempt(lambda: jit(total, twin)(x) if rank else f(x))  # one program, of two meshes
free = xt.Mesh(data=2, check=False)
attempt(lambda: jit(total if rank else largest, free)(x))
y = f(x)
if rank:
    jit(xt.exp)(x)  # nothing is sent
assert f(x).item() == y.item() == 6
mesh.comm.Barrier()
if rank == 1:
    raise ValueError("the end")
f(x)
"""
    text = run(tmp_path, program, ends=False)
    place = f"{tmp_path / 'program.py'}:"
    line = 1 + START.splitlines().index("def total(x):")
    total = f"calls total ({place}{line}) of float64 (b: "
    other = f"process 1 of the mesh calls largest ({place}{line + 4}) of float64 (b: 3), and process 0 {total}"
    for rank in "01":
        error = f"{rank} ArgumentError: "
        assert f"{error}{other}3). All processes call the same function" in text
        assert f"{error}process 1 of the mesh {total}4), and process 0 {total}3)" in text
        assert text.count("give xt.jit its whole size: sizes={'b': n}") == 2  # once for each process
        assert f"process 1 of the mesh {total}3), and process 0 calls xt.gather of float64 (b: 3)" in text
        assert f"{error}process 1 of the mesh calls xt.Mesh(data=2), and process 0 calls xt.Mesh(model=2)." in text
        assert f"{error}process 1 of the mesh calls xt.Mesh(data=2), and process 0 {total}3)" in text
        assert f"{error}the processes of the mesh call <lambda>" in text
        assert f"{error}the processes of the mesh call total ({place}{line}) of float64 (b: 3), but not" in text
        assert f"{error}process 1 of the mesh {total}3), and process 0 calls largest" in text
    split = "is split along 'data' of xt.Mesh(data=2), and its size cannot be divided by 2 processes. Rename it"
    assert f"0 SizeError: <lambda>: an array that it reads from outside: dim 'b' of (b: 3) {split}" in text
    assert f"0 SizeError: <lambda>: result['y'][1]: dim 'b' of (b: 5) {split}" in text
    assert "dim 'b' of (b: 1) cannot be split over 2 processes" in text
    assert "process 1 ended by ValueError, so all processes end" in text


def test_a_process_that_ended_is_named_and_so_is_one_that_waits(tmp_path: Path) -> None:
    program = """
if rank == 1:
    time.sleep(1)
    sys.exit(3)
attempt(lambda: f(x))
attempt(lambda: f(x))  # does not wait for it again
f(x)
"""
    text = run(tmp_path, program, ends=False)
    assert "xtensor: process 0 of 2 has waited 1 s for the others to call total (" in text
    told = "process 1 of the mesh has ended, by the end of its program or sys.exit, and here is a call of total ("
    assert text.count(f"0 ArgumentError: {told}") == 2 and text.count(f"xtensor.ArgumentError: {told}") == 1


def test_meshes_of_some_processes(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("""
import numpy as np
import xtensor as xt
from mpi4py import MPI

rank = MPI.COMM_WORLD.Get_rank()
half = rank // 2
mesh = xt.Mesh(data=2, comm=MPI.COMM_WORLD.Split(half, rank))
split = {"b": "data"}
assert mesh.position["data"] == rank % 2


def f(x):
    return (x * xt.arange(6, dim="b")).sum() + half, xt.random.normal(xt.random.key(0), b=6) + x


for calls in range(1 + half):  # the other half need not do the same
    x = xt.arange(6.0, dim="b") + half
    total, draws = xt.jit(f, mesh=mesh, split=split)(xt.local(x, mesh, split))
    assert total.item() == f(x)[0].item(), (rank, total.item())
    assert np.array_equal(xt.gather(draws, mesh, split).values, f(x)[1].values)
print("ok", flush=True)
""")
    text = mpirun(4, str(path))
    assert text.count("ok") == 4, text


def test_communicators_go_with_their_mesh() -> None:
    one = MPI.COMM_SELF.Dup()  # MPICH has 2,048 communicators, and a mesh has two
    for _ in range(1100):
        assert xt.Mesh(data=1, comm=one).position == {"data": 0}
    one.Free()


OLDER = """
from xtensor.values import mpi


class Older:
    def __init__(self, library):
        self.library = library

    def __getattr__(self, name):
        if name == "MPI_Allreduce_init":
            raise AttributeError(name)
        return getattr(self.library, name)


newer = mpi._shared_library
mpi._shared_library = lambda: Older(newer())
"""


def test_calls_are_compared_by_a_library_older_than_mpi_4(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(OLDER + START + "f(x)\nattempt(lambda: (g if rank else f)(x))\nprint(f(x).item())\n")
    text = mpirun(2, str(path))
    assert text.count("6.0") == 2, text
    assert all(f"{i} ArgumentError: process 1 of the mesh calls largest (" in text for i in (0, 1)), text


def test_a_program_keeps_its_communicators() -> None:
    def made() -> xt.Jitted[[xt.Array], xt.Array]:
        return xt.jit(lambda x: x - x.mean("b"), mesh=xt.Mesh(data=1), split={"b": "data"})

    x = xt.arange(4.0, dim="b")
    compiled = made().lower(x).compile()
    assert compiled(x).values.tolist() == [-1.5, -0.5, 0.5, 1.5]
