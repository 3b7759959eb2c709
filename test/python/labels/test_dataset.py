"""Datasets of xarray as pytrees: arguments, results, gradients, scans, batches and bundles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

pytestmark = pytest.mark.cpu_only("values are compared in float64")

DS = xr.Dataset(
    {
        "heat": (("time", "x"), np.arange(6.0).reshape(3, 2), {"units": "K"}),
        "rain": ("time", np.array([1.0, 0.0, 4.0])),
    },
    coords={"time": [10, 20, 30], "x": [0.5, 1.5], "run": 3},
    attrs={"title": "two", "list": [1, 2]},
)


def test_arguments_and_results() -> None:
    twice = xt.jit(lambda ds: ds.map(lambda v: 2.0 * v))
    xr.testing.assert_identical(twice(DS), DS.map(lambda v: 2.0 * v))

    @xt.jit
    def more(ds: Any) -> Any:
        return ds.assign(sum=ds.heat.sum("x") + ds["rain"]), ds.sizes["time"]

    made, size = more(DS)
    xr.testing.assert_identical(made, DS.assign(sum=DS.heat.sum("x") + DS["rain"]))
    assert size == 3
    xr.testing.assert_identical(xt.jit(lambda ds: ds)(DS), DS)
    picked = xt.jit(lambda ds: ds.map(lambda v: v.sel(time=20)))(DS)
    xr.testing.assert_identical(picked, DS.sel(time=20))


def test_gradients_have_the_structure_of_the_dataset() -> None:
    def loss(ds: Any) -> Any:
        return (ds.heat**2).sum() + (ds.rain * ds.heat.sum("x")).sum()

    value, gradient = xt.value_and_grad(loss)(DS)
    assert isinstance(gradient, xr.Dataset) and value.item() == pytest.approx(loss(DS).item())
    np.testing.assert_allclose(gradient.heat, 2 * DS.heat + DS.rain)
    np.testing.assert_allclose(gradient.rain, DS.heat.sum("x"))
    xr.testing.assert_equal(gradient.coords.to_dataset(), DS.coords.to_dataset())
    moved = xt.tree.map(lambda p, g: p - 0.1 * g, DS, gradient)
    np.testing.assert_allclose(moved.rain, DS.rain - 0.1 * DS.heat.sum("x"))
    y, dy = xt.jvp(loss, (DS,), (DS,))
    assert dy.item() == pytest.approx(2 * y.item())
    with pytest.raises(xt.DTypeError, match=r"\['rain'\] is int64"):
        xt.grad(lambda ds: ds.heat.sum())(DS.assign(rain=DS.rain.astype("i8")))


def test_scans_and_batches() -> None:
    total, running = xt.scan(
        lambda c, ds: (c.assign(rain=c.rain + ds.rain), ds.heat * 2.0), DS.isel(time=0, drop=True), DS, dim="time"
    )
    assert isinstance(total, xr.Dataset) and total.rain.item() == 6.0
    np.testing.assert_array_equal(running, 2 * DS.heat)
    batched = xt.vectorize(lambda ds: ds.map(lambda v: v.sum() + v), "time")(DS)
    np.testing.assert_array_equal(batched.rain, 2 * DS.rain)


def test_bundles(tmp_path: Path) -> None:
    f = xt.jit(lambda ds: ds.assign(sum=ds.heat.sum("x") + ds.rain))
    assert xt.export(f, args=(DS,), path=tmp_path / "by_dataset.xtb", name="f") is not None
    loaded = xt.load(tmp_path / "by_dataset.xtb")
    xr.testing.assert_equal(loaded(DS), f(DS))


def test_a_dataset_is_not_one_array() -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"a Dataset holds several arrays.*xt.tree.map\(f, dataset\)"):
        xt.mean(DS)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="a Dataset has heat, rain, assign and map"):
        xt.jit(lambda ds: ds.mean("time"))(DS)
    assert xt.tree.paths(DS) == ["['heat']", "['rain']"]
    assert xt.tree.structure(DS) == xt.tree.structure(DS.copy()) != xt.tree.structure(DS.assign_attrs(title="three"))


def test_a_variable_that_is_not_there_names_those_that_are() -> None:
    data = xr.Dataset({"temperature": ("t", [1.0, 2.0]), "rain": ("t", [0.0, 1.0])})
    with pytest.raises(xt.LabelError, match=r"no variable 'rian'; it has 'temperature', 'rain'; did you mean 'rain'\?"):
        xt.jit(lambda ds: ds["rian"].mean())(data)
    with pytest.raises(KeyError, match="no variable 7"):
        xt.jit(lambda ds: ds[7].mean())(data)
    assert xt.jit(lambda ds: ds.get("snow", ds["rain"]).sum() + ("rain" in ds))(data).item() == 2


def test_what_a_dataset_inside_of_a_function_does_not_have() -> None:
    ds = xr.Dataset({"heat": ("time", np.ones(3)), "rain": ("time", np.ones(3))}, {"time": np.arange(3)})
    for f, match in [
        (lambda d: d * 2, r"ds\.map\(lambda x: 2 \* x\)"),
        (lambda d: 1 - d, "has no arithmetic"),
        (lambda d: d[["heat"]], "are read one by one"),
    ]:
        with pytest.raises(xt.ArgumentTypeError, match=match):
            xt.jit(f)(ds)
    for name, match in [("time", r"ds\['heat'\]\.sizes"), ("haet", "did you mean 'heat'"), ("sel", r"x\.sel\(\.\.\)")]:
        with pytest.raises(AttributeError, match=match):
            xt.jit(lambda d, name=name: getattr(d, name))(ds)


CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "ds[name] =": (lambda d: d.__setitem__("rain", d.heat), r"Write ds = ds.assign\(rain=value\)"),
    "ds[two words] =": (lambda d: d.__setitem__("a b", d.heat), r"Write ds = ds.assign\({'a b': value}\)"),
    "ds.name =": (lambda d: setattr(d, "heat", 1.0), r"Write ds = ds.assign\(heat=value\)"),
    "del ds[name]": (lambda d: d.__delitem__("heat"), r"for k, x in ds.items\(\) if k != 'heat'}"),
    "del ds.name": (lambda d: delattr(d, "heat"), r"for k, x in ds.items\(\) if k != 'heat'}"),
}  # fmt: skip


@pytest.mark.parametrize("how", CHANGES)
def test_a_traced_dataset_does_not_change(how: str) -> None:
    change, message = CHANGES[how]
    with pytest.raises(xt.ArgumentTypeError, match=message):
        xt.jit(lambda d: (change(d), d)[1])(xr.Dataset({"heat": ("x", [1.0, 2.0])}))


def test_a_traced_dataset_is_not_an_array() -> None:
    with pytest.raises(xt.ArgumentTypeError, match=r"xt\.sin: a Dataset holds several arrays.*ds\.map\(f\)"):
        xt.jit(lambda d: xt.sin(d))(xr.Dataset({"heat": ("x", [1.0, 2.0])}))


def test_variables_that_do_not_go_together() -> None:
    """xarray would fill with NaN, or make a coordinate of a variable."""

    def told(f: Any, ds: xr.Dataset) -> str:
        with pytest.raises(xt.DimensionError) as caught:
            xt.jit(f)(ds)
        text, where = caught.value.parts
        assert where is not None and "test_dataset.py" in where
        return text

    bare = xr.Dataset({"h": ("x", [1.0, 2.0, 4.0])})
    labelled = bare.assign_coords(x=[1, 2, 3])
    for ds in (bare, labelled):
        assert "dim 'x' has size 3 in 'h' and 2 in 'd'. Return a dict" in told(lambda d: d.assign(d=d.h.diff("x")), ds)
        assert "the array 'x' has the name of a dim" in told(lambda d: d.assign(x=d.h * 2), ds)
    assert "the labels of dim 'x' differ between 'h' and 'd'" in told(lambda d: d.assign(d=xt.flip(d.h)), labelled)
    run = labelled.assign_coords(run=3)
    assert "the array 'run' has the name of a coordinate of 'h'" in told(lambda d: d.assign(run=d.h), run)
    with pytest.raises(xt.SizeError, match="dim 'x' has size 3 in 'h' and 2 in 'g'"):
        xt.tree.map(lambda x: x.diff("x") if float(x[0]) > 1 else x, bare.assign(g=2 * bare.h))
    found = xt.jit(lambda d: {"h": d.h, "d": d.h.diff("x")})(labelled)  # as the message says
    xr.testing.assert_identical(found["d"], labelled.h.diff("x"))


def test_one_position_beside_the_whole_dim() -> None:
    """Its label is left out, as by xarray."""
    ds = xr.Dataset({"h": ("x", [1.0, 2.0, 4.0])}, coords={"x": [1, 2, 3], "run": 3})
    found = xt.jit(lambda d: d.assign(first=d.h.isel(x=0)))(ds)
    xr.testing.assert_identical(found, ds.assign(first=ds.h.isel(x=0)))
