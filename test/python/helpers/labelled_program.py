"""Run by `mpirun -n N python labelled_program.py`: programs on parts of labelled arrays against the same on whole ones.

Prints a line for each case and process: its name, and "ok" or what differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
import xtensor as xt
from mpi4py import MPI

COUNT = MPI.COMM_WORLD.Get_size()
RNG = np.random.default_rng(0)
DAYS = np.arange("2026-01-01", "2026-01-13", dtype="M8[D]").astype("M8[ns]")
COORDS = {"b": DAYS, "i": [1.5, 2.5, 3.5], "name": ("b", list("abcdefghijkl")), "both": (("i", "b"), np.eye(3, 12))}
HEAT = xr.DataArray(RNG.normal(size=(12, 3)), COORDS, ("b", "i"), "heat", {"units": "K"})
WEIGHT = xr.DataArray(RNG.normal(size=3), {"i": [1.5, 2.5, 3.5]}, ("i",), "weight")
SEVEN = HEAT.isel(b=slice(7))
SPLIT = {"b": "data"}

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "elementwise": (lambda x: xt.sin(x), (HEAT,)),
    "sum": (lambda x: (x.sum("b"), x.sum("i"), x - x.mean("b")), (HEAT,)),
    "two arrays": (lambda x, w: (x * w, xt.dot(x, w, dim="i")), (HEAT, WEIGHT)),
    "one has no labels": (lambda x, w: x * w, (HEAT, xt.array(WEIGHT.values, "i"))),
    "slices": (lambda x: (x.isel(b=slice(6)), xt.flip(x, "b"), x.isel(b=3)), (HEAT,)),
    "rename": (lambda x: x.rename(i="k"), (HEAT,)),
    "gradient": (xt.value_and_grad(lambda x: (x * x).sum()), (HEAT,)),
    "by label": (lambda x: (x.sel(i=2.5), x.sel(b=np.datetime64("2026-01-05", "ns"))), (HEAT,)),
    "arrays of xtensor": (lambda x: x + 1, (xt.as_array(HEAT),)),
    "made inside": (lambda x: (x + 1).assign_coords(b=np.arange(12)), (xt.array(HEAT.values, ("b", "i")),)),
    "a dim that is not split": (lambda w, x: w * x.sum("b"), (WEIGHT, xt.array(HEAT.values, ("b", "i")))),
}
UNEVEN: dict[str, tuple[Any, tuple[Any, ...]]] = {"parts of different sizes": (lambda x: x - x.mean("b"), (SEVEN,))}


def differs(f: Any, args: tuple[Any, ...], mesh: xt.Mesh, sizes: Any = None) -> str:
    g = xt.jit(f, mesh=mesh, split=SPLIT, sizes=sizes)
    mine = tuple(part(x, mesh) for x in args)
    want = xt.tree.leaves(xt.jit(f)(*args))
    for again in range(3):  # by the labels that it has kept
        got = xt.tree.leaves(g(*mine))
        for x, y in zip(got, want, strict=True):
            if type(x) is not type(y):
                return f"call {again}: {type(x).__name__}, not {type(y).__name__}"
            there = labelled(x, mesh)
            whole = labelled(y, None)
            try:
                xr.testing.assert_allclose(there, whole, rtol=1e-12)
            except AssertionError as error:
                return f"call {again}: {error}".replace("\n", " | ")
            if there.name != whole.name or there.attrs != whole.attrs:
                return f"call {again}: {there.name} {there.attrs}, not {whole.name} {whole.attrs}"
    return "ok"


def part(x: Any, mesh: xt.Mesh) -> Any:
    mine = xt.local(x, mesh, SPLIT)
    return mine.to_xarray() if isinstance(x, xr.DataArray) else mine


def labelled(x: Any, mesh: Any) -> Any:
    whole = xt.as_array(x) if mesh is None else xt.gather(x, mesh, SPLIT)
    made = whole.to_xarray()
    return made.transpose(*sorted(made.dims)) if made.dims else made


def refused(mesh: xt.Mesh) -> str:
    """One process has another label: all say so, as one process does of the whole."""
    other = HEAT.assign_coords(b=DAYS + np.timedelta64(1, "D"))
    add = xt.jit(lambda x, y: x + y, mesh=mesh, split=SPLIT)
    x, y = part(HEAT, mesh), part(HEAT, mesh)
    if mesh.position["data"] == COUNT - 1:
        y = part(other, mesh)
    try:
        add(x, y)
    except ValueError as error:
        return "ok" if "'b'" in str(error) and "differ" in str(error) else str(error)
    return "no error"


def one_alone(mesh: xt.Mesh) -> str:
    """Only one process has labels, or others along a dim that is not split."""
    f = xt.jit(lambda x: x + x.sum("b"), mesh=mesh, split=SPLIT)
    bare = xt.array(part(HEAT, mesh).values, ("b", "i"))
    found = []
    for x in (bare, part(HEAT.assign_coords(i=[1, 2, 3]), mesh)):
        try:
            f(part(HEAT, mesh) if mesh.position["data"] else x)
        except xt.ArgumentError as error:
            found.append("with labels of argument 0" in str(error))
    return "ok" if found == [True, True] or COUNT == 1 else f"{found}"


def main() -> None:
    mesh = xt.Mesh(data=COUNT)
    for name, (f, args) in CASES.items():
        print(f"{name}: {differs(f, args, mesh)}", flush=True)
    for name, (f, args) in UNEVEN.items():
        print(f"{name}: {differs(f, args, mesh, {'b': 7})}", flush=True)
    print(f"refused: {refused(mesh)}", flush=True)
    print(f"one alone: {one_alone(mesh)}", flush=True)


if __name__ == "__main__":
    main()
