"""Arrays in files: what is saved comes back, and other programs read it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

pytestmark = pytest.mark.cpu_only("files hold values of the host")


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any


def test_pytrees_as_safetensors(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    path = tmp_path / "model.safetensors"
    small = xt.array([1.5, 2.0], dims="k", dtype="bfloat16")
    tree = {
        "layers": [Layer(xt.array([[1.0, 2.0]], dims=("row", "col"), dtype="f4"), 0.5), Pair(xt.array(3), None)],
        "flags": (xt.array([True, False], dims="t"), xt.zeros(a=0, b=2)),
        "strided": xt.array(np.arange(6.0).reshape(2, 3), dims=("x", "y")).transpose("y", "x"),
    }
    xt.save(tree, path)
    theirs = numpy.load_file(path)
    np.testing.assert_array_equal(theirs["layers.0.w"], [[1.0, 2.0]])
    np.testing.assert_array_equal(theirs["strided"], np.arange(6.0).reshape(2, 3).T)
    back = xt.load_arrays(path)
    assert back["layers"][0].b.item() == 0.5 and back["layers"][1].right is None
    for old, new in zip(xt.tree.leaves(tree), xt.tree.leaves(back), strict=True):
        old = xt.as_array(old)
        assert (old.dims, old.dtype) == (new.dims, new.dtype)
        np.testing.assert_array_equal(new.values, old.values)
    xt.save(small, path)
    assert xt.load_arrays(path).dtype == xt.bfloat16 and xt.load_arrays(path).values.tolist() == [1.5, 2.0]


def test_files_of_other_programs(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    path = tmp_path / "theirs.safetensors"
    numpy.save_file({"w": np.ones((2, 3), "f4"), "b": np.zeros(2)}, path)
    found = xt.load_arrays(path, dims={"w": ("out", "in")})
    assert found["w"].dims == ("out", "in") and found["b"].dims == ("dim_0",)
    with pytest.raises(xt.ArgumentError, match="'w' has 2 axes, not 1"):
        xt.load_arrays(path, dims={"w": "out"})


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_named_arrays_by_xarray(tmp_path: Path, suffix: str) -> None:
    if suffix == ".zarr":
        pytest.importorskip("zarr", reason="zarr is not installed")
    ds = xr.Dataset(
        {"heat": (("time", "x"), np.arange(6.0).reshape(3, 2), {"units": "K"}), "rain": ("time", [1.0, 0.0, 4.0])},
        coords={"time": xr.date_range("2020-01-01", periods=3), "x": [0.5, 1.5]},
    )
    path = tmp_path / f"weather{suffix}"
    for _ in range(2):  # once over what is there
        xt.save(ds, path)
    found = xt.load_arrays(path)
    for name in ("heat", "rain"):
        xr.testing.assert_identical(found[name].to_xarray(), ds[name])
    xt.save({"heat": found["heat"], "twice": 2.0 * found["heat"]}, path)
    np.testing.assert_array_equal(xr.open_dataset(path, engine=None if suffix == ".nc" else "zarr").twice, 2 * ds.heat)


@pytest.mark.parametrize("suffix", [".safetensors", ".nc", ".zarr"])
def test_links_are_followed(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("zarr" if suffix == ".zarr" else "safetensors", reason="what writes the file is not installed")
    place, link = tmp_path / f"there{suffix}", tmp_path / f"link{suffix}"
    xt.save({"a": xt.ones(i=2)}, place)
    link.symlink_to(place)
    xt.save({"a": xt.zeros(i=3)}, link)
    assert link.is_symlink()
    np.testing.assert_array_equal(xt.load_arrays(place)["a"].values, np.zeros(3))


def test_errors_say_what_to_write(tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    with pytest.raises(xt.ArgumentError, match=r"suffix of 'x.npz' is not .safetensors, .nc"):
        xt.save({}, tmp_path / "x.npz")
    with pytest.raises(xt.ArgumentTypeError, match=r"the leaf \['a'\] is not an array but 'text'"):
        xt.save({"a": "text"}, tmp_path / "x.safetensors")
    with pytest.raises(xt.ArgumentTypeError, match="NumPy array, whose axes have no names"):
        xt.save({"a": np.ones(3)}, tmp_path / "x.safetensors")
    with pytest.raises(xt.ArgumentTypeError, match="holds a mapping of names"):
        xt.save([xt.ones(a=2)], tmp_path / "x.nc")
    with pytest.raises(xt.DTypeError, match=r"'a' is float16, which .nc does not hold"):
        xt.save({"a": xt.ones(t=2, dtype="f2")}, tmp_path / "x.nc")
    with pytest.raises(xt.ArgumentError, match="No such file"):
        xt.load_arrays(tmp_path / "none.safetensors")
    with pytest.raises(xt.ArgumentError, match=r"none\.nc"):
        xt.load_arrays(tmp_path / "none.nc")
    path = tmp_path / "cut.safetensors"
    xt.save({"a": xt.ones(t=20)}, path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(xt.ArgumentError, match="is damaged"):
        xt.load_arrays(path)
    xt.save({"a": xt.ones(t=20)}, path)
    path.write_bytes(path.read_bytes().replace(b'\\"t\\"', b'\\"t\\ '))
    with pytest.raises(xt.ArgumentError, match="is damaged"):
        xt.load_arrays(path)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_arrays(tmp_path: Path, dtype: str) -> None:
    pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    z = xt.array(np.array([[1 + 2j, -3j, np.nan]], dtype).T, dims=("a", "b"))
    tree = {"z": z, "number": 2j, "none": xt.zeros(a=0, dtype=dtype), "__metadata__": z}
    xt.save(tree, tmp_path / "z.safetensors")
    back = xt.load_arrays(tmp_path / "z.safetensors")
    for name, x in tree.items():
        assert (back[name].dims, back[name].dtype) == (xt.as_array(x).dims, xt.as_array(x).dtype)
        np.testing.assert_array_equal(back[name].values, xt.as_array(x).values)
    pytest.importorskip("netCDF4", reason="netCDF4 is not installed")
    with pytest.raises(xt.DTypeError, match=r"'z' is complex\d+, which \.nc does not hold\. Write x\.real and x\.imag"):
        xt.save({"z": z}, tmp_path / "z.nc")


def test_names_with_a_slash_are_no_groups(tmp_path: Path) -> None:
    pytest.importorskip("zarr", reason="zarr is not installed")
    with pytest.raises(xt.ArgumentError, match="'a/b' has a slash"):
        xt.save({"a/b": xt.ones(i=2)}, tmp_path / "x.zarr")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Of every kind, as Python's own error, also where the folder is missing."""
    for name in ("x.safetensors", "x.nc", "x.zarr"):
        with pytest.raises(FileNotFoundError, match="No such file or directory"):
            xt.load_arrays(tmp_path / name)
        with pytest.raises(xt.MissingFileError, match="No such file or directory"):
            xt.save({"x": xt.ones(i=2)}, tmp_path / "missing" / name)


def test_training_goes_on_from_a_saved_state(tmp_path: Path) -> None:
    pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    optimizer, slope = xt.optim.adam(0.1), {"w": xt.array([1.0, -2.0], "i")}
    p, state = optimizer.update({"w": xt.ones(i=2)}, slope, optimizer.init({"w": xt.ones(i=2)}))
    xt.save({"p": p, "state": state}, tmp_path / "s.safetensors")
    back = xt.load_arrays(tmp_path / "s.safetensors")
    found, after = optimizer.update(back["p"], slope, back["state"])
    want, _ = optimizer.update(p, slope, state)
    np.testing.assert_array_equal(found["w"].values, want["w"].values)
    assert after.count.item() == 2
