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
ORDER = xt.array([5, 0, 3, 2, 11, 2, 7, 7, 8, 9, 1, 0], "b")
MONTHS = np.arange("2026-01", "2030-01", dtype="M8[M]").astype("M8[ns]")
YEARS = xr.DataArray(
    RNG.normal(size=(48, 3)), {"b": MONTHS, "i": [1.5, 2.5, 3.5], "trend": ("b", np.arange(48.0))}, ("b", "i"), "t2m"
)
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
    "positions of a dim that is not split": (lambda x, i: x.isel(i=i), (HEAT, xt.array([2, 0, 1, 1], "i"))),
    "positions along the split dim": (lambda x, i: x.isel(b=i), (HEAT, ORDER)),
    "positions along both": (lambda x, i: x.isel(i=i % 3), (HEAT, ORDER)),
    "positions of an array outside": (lambda x: x.isel(b=ORDER), (HEAT,)),
    "pieces by position": (lambda x, i: xt.concat([x.isel(b=i), x], "b"), (HEAT, ORDER)),
    "a dim that is not split": (lambda w, x: w * x.sum("b"), (WEIGHT, xt.array(HEAT.values, ("b", "i")))),
}
# Programs as people write them for climate data; "b" is the time.
CASES |= {
    "anomalies": (lambda x: x.groupby("b.month") - x.groupby("b.month").mean(), (YEARS,)),
    "anomalies of seasons, relative": (lambda x: x.groupby("b.season") / x.groupby("b.season").std(), (YEARS,)),
    "anomalies of each day": (lambda x: x.groupby("b.dayofyear") - x.groupby("b.dayofyear").mean(), (HEAT,)),
    "means of months": (lambda x: x.groupby("b.month").mean(), (YEARS,)),
    "medians of months": (lambda x: x.groupby("b.month").median(), (YEARS,)),
    "sums of years": (lambda x: x.groupby("b.year").sum(), (YEARS,)),
    "each month by itself": (lambda x: x.groupby("b.month").map(lambda m: m - m.max("b")), (YEARS,)),
    "resample": (lambda x: (x.resample(b="2MS").mean(), x.resample(b="4MS").max()), (YEARS,)),
    "rolling": (lambda x: (x.rolling(b=3).mean(), x.rolling(b=5, center=True, min_periods=1).max()), (YEARS,)),
    "coarsen": (lambda x: x.coarsen(b=2).mean(), (YEARS,)),
    "weighted mean": (lambda x, w: (x.weighted(w).mean("i"), x.weighted(w).mean()), (YEARS, WEIGHT)),
    "running sums": (lambda x: x.cumsum("b"), (YEARS,)),
    "quantiles": (lambda x: (x.quantile(0.9, "b"), x.quantile([0.1, 0.5], "b"), x.rank("b")), (YEARS,)),
    "where": (lambda x: (x.where(x > 0), x.where(x > 0, -1.0).clip(-0.5, 0.5)), (YEARS,)),
    "gaps": (lambda x: x.where(x > -1).fillna(x.where(x > -1).mean("b", skipna=True)), (YEARS,)),
    "interp": (lambda x: x.interp(i=[1.6, 2.2]), (YEARS,)),
    "interp to dates": (lambda x: x.interp(b=YEARS.b.values[:24] + np.timedelta64(5, "D")), (YEARS,)),
    "a year": (lambda x: x.sel(b=slice("2027-01", "2027-12")), (YEARS,)),
    "shift": (lambda x: (x.shift(b=1), x - x.shift(b=-2)), (YEARS,)),
    "every second": (lambda x: x.isel(b=slice(None, None, 2)), (YEARS,)),
    "backwards in time": (lambda x: x.sortby("b", ascending=False), (YEARS,)),
    "correlation": (lambda x: (xt.corr(x, x.mean("i"), "b"), xt.cov(x, x.mean("i"), "b")), (YEARS,)),
}
UNEVEN: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "parts of different sizes": (lambda x: x - x.mean("b"), (SEVEN,)),
    "positions of different sizes": (lambda x, i: x.isel(b=i), (SEVEN, xt.array([6, 0, 3, 2, 1, 2, 5], "b"))),
}


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
