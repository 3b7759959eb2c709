"""Programs of several processes, which mpirun starts, against the same programs in one."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import distributed_program
import pytest
import xtensor as xt

PROGRAM = Path(distributed_program.__file__)


def mpirun(count: int, *arguments: str, ends: bool = True) -> str:
    """What the processes print."""
    launcher = shutil.which("mpirun", path=str(Path(sys.executable).parent)) or shutil.which("mpirun")
    assert launcher is not None, "mpirun comes with the package mpich (scripts/requirements.txt)"
    done = subprocess.run(
        [launcher, "-n", str(count), sys.executable, *arguments], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode == 0) == ends, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("count", (2, 4))
def test_parts_give_what_whole_arrays_do(count: int) -> None:
    lines = mpirun(count, str(PROGRAM)).splitlines()
    found = dict(line.rsplit(": ", 1) for line in lines if line.endswith(": ok"))
    assert {line for line in lines if not line.endswith(": ok")} == set()
    assert set(found) == set(distributed_program.CASES)


def test_a_mesh_of_one_process_is_this_one() -> None:
    mesh = xt.Mesh(data=1)
    f = xt.jit(lambda x: x - x.mean("b"), mesh=mesh, split={"b": "data"})
    x = xt.arange(4.0, dim="b")
    assert f(x).values.tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert "all_reduce" in f.lower(x).as_text("distributed")
    assert mesh.position == {"data": 0}
    assert xt.jit(lambda x: x - x.mean("b")).lower(x).as_text("distributed").count("all_reduce") == 0


def test_transforms_keep_the_mesh() -> None:
    f = xt.jit(lambda x: (x * x).sum(), mesh=xt.Mesh(data=1), split={"b": "data"})
    x = xt.arange(4.0, dim="b")
    assert "all_reduce" in f.lower(x).as_text("distributed")
    g = xt.jit(lambda x: xt.grad(f)(x) + f(x), mesh=f.layout.mesh, split={"b": "data"})
    assert g(x).values.tolist() == [14, 16, 18, 20]
    value, gradient = xt.value_and_grad(f)(x)
    assert value.item() == 14 and gradient.values.tolist() == [0, 2, 4, 6]


def step(mesh: xt.Mesh) -> xt.Jitted[..., Any]:
    return xt.jit(lambda x: (x * x).sum(), mesh=mesh, split={"b": "data"})


MESH_ERRORS = {
    "processes": (lambda m: xt.Mesh(data=3), xt.SizeError, "3 processes, and the communicator has 1.*mpirun -n 3"),
    "a size": (lambda m: xt.Mesh(data=0), xt.ArgumentTypeError, "a number of processes is needed"),
    "alone": (lambda m: xt.jit(abs, mesh=m), xt.ArgumentTypeError, "one needs the other"),
    "another mesh dim": (lambda m: xt.jit(abs, mesh=m, split={"b": "dta"}), xt.DimensionError, "has no dim 'dta'"),
    "no mesh": (lambda m: xt.jit(abs, mesh=4, split={}), xt.ArgumentTypeError, "mesh= takes an xt.Mesh, got int"),
    "no dict": (lambda m: xt.jit(abs, mesh=m, split="b"), xt.ArgumentTypeError, "split= takes a dict"),
    "open": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, dynamic_dims="b"),
        xt.DimensionError,
        "'b' is in dynamic_dims",
    ),
    "device": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, device="vulkan"),
        xt.UnsupportedError,
        "run on the CPU",
    ),
    "labels": (
        lambda m: xt.jit(lambda x: x + 1, mesh=m, split={"b": "data"})(xt.arange(2.0, dim="b").assign_coords(b=[3, 4])),
        xt.UnsupportedError,
        "argument 0 has labels",
    ),
    "a misspelt dim": (
        lambda m: xt.jit(lambda x: x + 1, mesh=m, split={"sampel": "data"})(xt.ones(sample=2)),
        xt.DimensionError,
        "no array has dim 'sampel'; the arguments' dims are 'sample'",
    ),
    "gather of labels": (
        lambda m: xt.gather(xt.arange(2.0, dim="b").assign_coords(b=[3, 4]), m, {"b": "data"}),
        xt.UnsupportedError,
        "labels of parts are not joined",
    ),
    "export": (lambda m: xt.export(step(m), (xt.ones(b=2),)), xt.UnsupportedError, "a bundle is the program of one"),
    "vjp": (lambda m: xt.vjp(step(m), xt.ones(b=2)), xt.UnsupportedError, "called in a program without"),
    "in another": (
        lambda m: xt.jit(lambda x: step(m)(x), mesh=m, split={"c": "data"})(xt.ones(b=2, c=2)),
        xt.UnsupportedError,
        "called in a program without",
    ),
    "pickle": (lambda m: pickle.dumps(m), xt.ArgumentTypeError, "cannot be pickled"),
    "two of one": (
        lambda m: xt.jit(lambda x, y: x * y, mesh=m, split={"b": "data", "c": "data"})(xt.ones(b=2), xt.ones(c=2)),
        xt.DimensionError,
        r'dims "b" and "c" of one array \(b: 2, c: 2\) are both split along "data" of the mesh',
    ),
}


@pytest.mark.parametrize("name", MESH_ERRORS)
def test_errors(name: str) -> None:
    call, kind, text = MESH_ERRORS[name]
    mesh = xt.Mesh(data=1)
    with pytest.raises(kind, match=text):
        call(mesh)


def test_errors_of_several_processes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, xtensor as xt\n"
        "mesh = xt.Mesh(data=2)\n"
        "rank = mesh.position['data']\n"
        "f = xt.jit(lambda x: x.sum(), mesh=mesh, split={'b': 'data'})\n"
        "for call in (lambda: f(xt.ones(b=3 + rank)), lambda: xt.local(xt.ones(b=5), mesh, {'b': 'data'})):\n"
        "    try:\n"
        "        call()\n"
        "    except xt.Error as error:\n"
        "        print(f'{rank} {type(error).__name__}: {error}', flush=True)\n"
        "mesh.comm.Barrier()\n"
        "if rank == 1:\n"
        "    raise ValueError('the end')\n"
        "f(xt.ones(b=3))\n"
    )
    text = mpirun(2, str(program), ends=False)
    assert "0 ArgumentError" in text and "process 1 of the mesh compiles another program than process 0" in text
    assert "1 ArgumentError" in text and "(b: 4)" in text
    assert "dim 'b' of (b: 5) cannot be split over 2 processes" in text
    assert "process 1 ended by ValueError, so all processes end" in text
