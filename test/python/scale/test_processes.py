"""Programs of several processes, which mpirun starts, against the same programs in one."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import derivatives_program
import deterministic_program
import distributed_program
import labelled_program
import pytest
import stencil_bytes
import step_bytes
import tiers
import uneven_program
import xtensor as xt
from mpirun import mpirun

PROGRAM = Path(distributed_program.__file__)


@pytest.mark.parametrize("count", (2, 4))
def test_parts_give_what_whole_arrays_do(count: int) -> None:
    lines = mpirun(count, str(PROGRAM)).splitlines()
    found = dict(line.rsplit(": ", 1) for line in lines if line.endswith(": ok"))
    assert {line for line in lines if not line.endswith(": ok")} == set()
    assert set(found) == set(distributed_program.CASES)


@pytest.mark.parametrize("count", (2, 4))
def test_derivatives_of_functions_with_a_mesh_are_those_of_whole_arrays(count: int) -> None:
    lines = mpirun(count, derivatives_program.__file__).splitlines()
    assert [line for line in lines if not line.endswith(": ok")] == []
    assert len(lines) == 2 * len(derivatives_program.CASES) + 2


@pytest.mark.parametrize("count", (2, 3, 4))
def test_parts_of_different_sizes_give_what_whole_arrays_do(count: int) -> None:
    programs = tiers.count(len(uneven_program.STEPS) + 20, 400)
    lines = mpirun(count, uneven_program.__file__, str(programs), str(count)).splitlines()
    assert [line for line in lines if not line.endswith(": ok")] == []
    assert len(lines) == programs


def test_deterministic_programs_have_the_same_bits_for_any_number_of_processes() -> None:
    one, *others = (mpirun(n, deterministic_program.__file__).splitlines() for n in (1, 2, 4, 8))
    found = dict(line.rsplit(": ", 1) for line in one)
    assert set(found) == {*distributed_program.CASES, *(f"large: {name}" for name in deterministic_program.LARGE)}
    assert [line for line in one if not re.fullmatch(".*: [0-9a-f]{16}", line)] == []
    for lines in others:
        assert set(lines) - set(one) == set()
        assert len(lines) >= len(deterministic_program.LARGE)


def test_a_stencil_sends_the_borders_of_parts_and_no_more() -> None:
    found = [line.split() for line in mpirun(4, stencil_bytes.__file__).splitlines()]
    assert [line[:2] for line in found] == [[s, p] for s in ("bands", "grid") for p in ("step", "gradient")]
    for split, program, sent, least in found:
        assert sent == least, (split, program)


@pytest.mark.parametrize("count", (2, 4))
def test_programs_send_the_least_possible(count: int) -> None:
    found = [line.split() for line in mpirun(count, step_bytes.__file__).splitlines()]
    assert [line[0] for line in found] == ["mlp", "block", "training", "rename", "sort", "fft", "cholesky"]
    for model, sent, least in found:
        assert sent == least, model


def test_messages_travel_while_the_program_computes() -> None:
    def loss(w: Any, x: Any) -> Any:
        for v in w:
            x = xt.tanh(xt.dot(x, v, dim="i").rename(j="i"))
        return (x * x).mean()

    w, x = [xt.ones(i=130, j=130), xt.ones(i=130, j=130), xt.ones(i=130, j=3)], xt.ones(b=8, i=130)
    step = xt.jit(xt.value_and_grad(loss), mesh=xt.Mesh(data=1), split={"b": "data"})
    lowered = step.lower(w, x)
    # The loss and the gradient of the small weights in one message; those of the others by themselves.
    sums = re.findall(r"all_reduce sum ([^:]*) across", lowered.as_text("distributed"))
    assert [len(operands.split(",")) for operands in sums] == [2, 1, 1]
    calls = re.findall(r'library "(xt_\w*(?:reduce|wait))"', lowered.as_text("buffers"))
    assert calls == ["xt_start_all_reduce"] * 3 + ["xt_wait"] * 3


def test_a_mesh_of_one_process_is_this_one() -> None:
    mesh = xt.Mesh(data=1)
    f = xt.jit(lambda x: x - x.mean("b"), mesh=mesh, split={"b": "data"})
    x = xt.arange(4.0, dim="b")
    assert f(x).values.tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert "all_reduce" in f.lower(x).as_text("distributed")
    assert mesh.position == {"data": 0}
    assert xt.jit(lambda x: x - x.mean("b")).lower(x).as_text("distributed").count("all_reduce") == 0


@pytest.mark.parametrize("count", (2, 3))
def test_labels_are_split_and_joined(count: int, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LABELS)
    assert mpirun(count, str(path)).splitlines() == ["ok"] * count


@pytest.mark.parametrize("count", (2, 3))
def test_results_have_the_labels_that_those_of_one_process_have(count: int) -> None:
    lines = mpirun(count, labelled_program.__file__).splitlines()
    assert [line for line in lines if not line.endswith(": ok")] == []
    assert len(lines) == count * (len(labelled_program.CASES) + len(labelled_program.UNEVEN) + 2)


LABELS = """
import numpy as np
import xarray as xr
import xtensor as xt
from mpi4py import MPI

mesh = xt.Mesh(data=MPI.COMM_WORLD.Get_size(), model=1)
days = np.arange("2026-01-01", "2026-01-08", dtype="M8[D]").astype("M8[ns]")
coords = {"b": days, "i": [1.5, 2.5], "name": ("b", list("abcdefg")), "both": (("i", "b"), np.arange(14).reshape(2, 7))}
x = xr.DataArray(np.arange(14.0).reshape(7, 2), coords, ("b", "i"), "heat", {"units": "K"})
split = {"b": "data"}
part = xt.local(x, mesh, split)
assert part.sizes["b"] < 7 and part.coords["b"].size == part.sizes["b"]
whole = xt.gather(part, mesh, split)
assert whole.to_xarray().identical(x), whole
print("ok")
"""


SIZES = """
import numpy as np
import xtensor as xt

mesh = xt.Mesh(data=2)
split = {"b": "data"}
f = xt.jit(lambda x: x / x.sizes["b"], mesh=mesh, split=split, sizes={"b": 7})
assert np.array_equal(xt.gather(f(xt.local(xt.ones(b=7), mesh, split)), mesh, split).values, np.ones(7) / 7)
assert np.array_equal(xt.gather(f(xt.local(xt.ones(b=10), mesh, split)), mesh, split).values, np.ones(10) / 10)
for whole in (6, 8):  # one of the processes has as many as of 7
    try:
        f(xt.local(xt.ones(b=whole), mesh, split))
        print("taken for one of 7")
    except xt.SizeError as error:
        print(error)
x = xt.array(np.arange(24.0).reshape(8, 3), ("b", "i"))


def centred(x):
    return x - x.mean("b")


def squares(x):
    return (x * x).sum()


for g, dim in ((centred, "i"), (squares, "b"), (xt.grad(squares), "b")):
    y = xt.vectorize(xt.jit(g, mesh=mesh, split=split), dim)(xt.local(x, mesh, split))
    np.testing.assert_allclose(xt.gather(y, mesh, split).values, xt.vectorize(g, dim)(x).values)
"""


def test_sizes_that_two_processes_read_differently_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(SIZES)
    text = mpirun(2, str(path))
    assert text.count("taken for one of 7") == 2
    for part, whole in ((4, 8), (3, 6)):
        assert text.count(f"sizes={{'b': 7}}: this process has {part} positions of dim 'b', so the whole of an") == 1
        assert text.count(f"has {whole}. Another process would take such a part for one of 7. Rename the dim") == 1


def test_transforms_keep_the_mesh() -> None:
    f = xt.jit(lambda x: (x * x).sum(), mesh=xt.Mesh(data=1), split={"b": "data"})
    x = xt.arange(4.0, dim="b")
    assert "all_reduce" in f.lower(x).as_text("distributed")
    g = xt.jit(lambda x: xt.grad(f)(x) + f(x), mesh=f.layout.mesh, split={"b": "data"})
    assert g(x).values.tolist() == [14, 16, 18, 20]
    value, gradient = xt.value_and_grad(f)(x)
    assert value.item() == 14 and gradient.values.tolist() == [0, 2, 4, 6]
    h = xt.jit(lambda x: (x * x).sum(), mesh=xt.Mesh(data=1), split={"b": "data"}, deterministic=4)
    assert "halo" in xt.value_and_grad(h).lower(x).as_text("distributed")


def step(mesh: xt.Mesh) -> xt.Jitted[..., Any]:
    return xt.jit(lambda x: (x * x).sum(), mesh=mesh, split={"b": "data"})


MESH_ERRORS = {
    "processes": (lambda m: xt.Mesh(data=3), xt.SizeError, "3 processes, and the communicator has 1.*mpirun -n 3"),
    "a tuple": (lambda m: xt.Mesh(("data", 2)), xt.ArgumentTypeError, "a dict.* is needed. Write xt.Mesh.data=2"),
    "a check": (
        lambda m: xt.Mesh(check=2),
        xt.ArgumentTypeError,
        "write True or False, or .arguments.. For a dim: xt.Mesh",
    ),
    "a timeout": (lambda m: xt.Mesh(data=1, timeout=0), xt.ArgumentTypeError, "seconds are needed, more than 0"),
    "a size": (lambda m: xt.Mesh(data=0), xt.ArgumentTypeError, "a number of processes is needed"),
    "alone": (lambda m: xt.jit(abs, mesh=m), xt.ArgumentTypeError, "one needs the other"),
    "another mesh dim": (lambda m: xt.jit(abs, mesh=m, split={"b": "dta"}), xt.DimensionError, "has no dim 'dta'"),
    "no mesh": (lambda m: xt.jit(abs, mesh=4, split={}), xt.ArgumentTypeError, "mesh= takes an xt.Mesh, got 4"),
    "deterministic alone": (
        lambda m: xt.jit(abs, deterministic=True),
        xt.ArgumentTypeError,
        "is for programs of several processes, with mesh= and split=",
    ),
    "no blocks": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, deterministic=0),
        xt.ArgumentTypeError,
        "deterministic=0.: write True, or the number of blocks",
    ),
    "size and blocks": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, deterministic=True)(xt.ones(b=12)),
        xt.SizeError,
        "dim 'b' of .*cannot be divided by 8 blocks. Rename it to a dim that is not split, or write deterministic=",
    ),
    "a size of no split dim": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, sizes={"c": 3}),
        xt.DimensionError,
        "sizes={'c': 3}: the dim is not split; those of split= are 'b'",
    ),
    "a size that is none": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, sizes={"b": 2.5}),
        xt.ArgumentTypeError,
        "sizes={'b': 2.5}: the size of the whole is needed, an int",
    ),
    "sizes that are no dict": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, sizes=3),
        xt.ArgumentTypeError,
        "sizes= takes a dict",
    ),
    "sizes alone": (lambda m: xt.jit(abs, sizes={"b": 3}), xt.ArgumentTypeError, "is for programs of several"),
    "sizes and blocks": (
        lambda m: xt.jit(abs, mesh=m, split={"b": "data"}, sizes={"b": 3}, deterministic=True),
        xt.ArgumentTypeError,
        "blocks have one size",
    ),
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
    "a misspelt dim": (
        lambda m: xt.jit(lambda x: x + 1, mesh=m, split={"sampel": "data"})(xt.ones(sample=2)),
        xt.DimensionError,
        "no array has dim 'sampel'; the arguments' dims are 'sample'",
    ),
    "export": (lambda m: xt.export(step(m), (xt.ones(b=2),)), xt.UnsupportedError, "a bundle is the program of one"),
    "module": (lambda m: xt.to_stablehlo(step(m), xt.ones(b=2)), xt.UnsupportedError, "a module is the program of one"),
    "vjp in another": (
        lambda m: xt.jit(lambda x: xt.vjp(step(m), x)[0])(xt.ones(b=2)),
        xt.UnsupportedError,
        "called in a program without",
    ),
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
