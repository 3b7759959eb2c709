"""Arrays in files: what is saved comes back, and other programs read it."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
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
    with pytest.raises(xt.ArgumentTypeError, match=r"the leaf \['a'\] is not an array but the string 'text'"):
        xt.save({"a": "text"}, tmp_path / "x.safetensors")
    with pytest.raises(xt.ArgumentTypeError, match="NumPy array, whose axes have no names"):
        xt.save({"a": np.ones(3)}, tmp_path / "x.safetensors")
    with pytest.raises(xt.ArgumentTypeError, match="holds arrays by name, not a list"):
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


def labelled(values: Any, labels: Any, **coords: Any) -> xt.Array:
    return xt.as_array(xr.DataArray(values, dims="x", coords={"x": labels, **coords}))


X = xt.ones(x=3)

# What does not go into one file as it is, and what to write instead.
APART: dict[str, tuple[dict[str, Any], str]] = {
    "labels that differ": (
        {"v": labelled([1.0, 2.0, 3.0], [10, 20, 30]), "w": labelled([1.0, 2.0, 3.0], [20, 30, 40])},
        "the labels of dim 'x' differ between 'v' and 'w'. Write one file for each",
    ),
    "sizes that differ": (
        {"v": labelled([1, 2, 3], [10, 20, 30]), "w": labelled([2, 3], [20, 30])},
        "dim 'x' has size 3 in 'v' and 2 in 'w'",
    ),
    "sizes without labels": ({"v": X, "w": xt.ones(x=2)}, "dim 'x' has size 3 in 'v' and 2 in 'w'"),
    "coordinates that differ": (
        {"v": labelled([1.0, 2.0], [1, 2], run=1), "w": labelled([1.0, 2.0], [1, 2], run=2)},
        "the coordinates 'run' differ between 'v' and 'w'. Leave them out of one, with x.drop_vars(..)",
    ),
    "one position of a dim": (
        {"v": labelled([1.0, 2.0], [1, 2]), "w": labelled([1.0, 2.0], [1, 2]).isel(x=0)},
        "the coordinates 'x' differ between 'v' and 'w'",
    ),
    "the name of its own dim": (
        {"time": xt.ones(time=2, x=3)},
        "the array 'time' has the name of a dim, whose labels it would become. Give it another name",
    ),
    "the name of another's dim": ({"x": xt.ones(y=3), "y2": X}, "the array 'x' has the name of a dim"),
    "the name of a coordinate": (
        {"run": X, "v": labelled([1.0, 2.0, 3.0], [1, 2, 3], run=1)},
        "the array 'run' has the name of a coordinate of 'v', which it would become",
    ),
}


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
@pytest.mark.parametrize("name", APART)
def test_nothing_is_aligned_or_lost_in_a_file(tmp_path: Path, name: str, suffix: str) -> None:
    arrays, wanted = APART[name]
    path = tmp_path / f"x{suffix}"
    with pytest.raises(xt.DimensionError, match=re.escape(f"do not go into one {suffix} file: {wanted}")):
        xt.save(arrays, path)
    assert not path.exists()
    xt.save(arrays, tmp_path / "x.safetensors")  # as the message says
    for name, x in xt.load_arrays(tmp_path / "x.safetensors").items():
        np.testing.assert_array_equal(x.values, arrays[name].values)


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_equal_labels_go_into_one_file(tmp_path: Path, suffix: str) -> None:
    """Of other dtypes, with NaN among them, in an array that has none."""
    labels = [1.0, np.nan, 3.0]
    arrays = {"v": labelled([1, 2, 3], labels), "w": labelled([1.0, 2.0, 3.0], labels), "u": X.astype("f4")}
    xt.save(arrays, tmp_path / f"x{suffix}")
    for name, x in xt.load_arrays(tmp_path / f"x{suffix}").items():
        assert x.dtype == arrays[name].dtype
        np.testing.assert_array_equal(x.values, arrays[name].values)
        np.testing.assert_array_equal(x.coords["x"], labels)


@pytest.mark.parametrize("suffix", [".nc", ".zarr", ".safetensors"])
def test_some_arrays_of_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    xt.save({"a": X, "b": 2.0 * X, "c": xt.array([1, 2], "y")}, path)
    found = xt.load_arrays(path, names=["c", "a"])
    assert [*found] == ["c", "a"] and found["c"].dtype == "int64"
    np.testing.assert_array_equal(xt.load_arrays(path, names="b")["b"].values, [2.0, 2.0, 2.0])
    with pytest.raises(xt.LabelError, match=r"has no array 'A'; it has 'a', 'b', 'c'"):
        xt.load_arrays(path, names=["A"])
    with pytest.raises(xt.ArgumentTypeError, match="names= are strings"):
        xt.load_arrays(path, names=[1])  # type: ignore[list-item]


def test_some_leaves_of_a_pytree(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    xt.save({"layers": [{"w": X}, {"w": xt.array([1j, 2.0], "y")}], "n": 3}, path)
    found = xt.load_arrays(path, names=["layers.1.w", "n"])
    assert found["n"].item() == 3 and found["layers.1.w"].values.tolist() == [1j, 2.0]


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_dates_and_strings_in_a_file(tmp_path: Path, suffix: str) -> None:
    days = np.array(["2020-01-01", "2020-01-02"], "M8[ns]")
    ds = xr.Dataset({"name": ("x", ["a", "b"]), "w": ("x", [1.0, 2.0]), "day": ("x", days)}, coords={"x": [1, 2]})
    path = tmp_path / f"x{suffix}"
    if suffix == ".nc":
        ds.to_netcdf(path)
    else:
        ds.to_zarr(path, zarr_format=2)
    with pytest.raises(xt.DTypeError, match=r"'name' of .*holds strings.*\['name'\] reads it. Write names=\['w'\] to"):
        xt.load_arrays(path, names=["name", "w"])
    with pytest.raises(xt.DTypeError, match=r"'(name|day)' of .*, and arrays hold bools and numbers"):
        xt.load_arrays(path)
    with pytest.raises(xt.DTypeError, match=r"'day' of .*holds datetime64\[ns\]"):
        xt.load_arrays(path, names=["w", "day"])
    xr.testing.assert_identical(xt.load_arrays(path, names=["w"])["w"].to_xarray(), ds.w)
    np.testing.assert_array_equal(xt.load_arrays(path, names=["x"])["x"].values, [1, 2])  # a coordinate


def test_what_is_not_a_file_of_arrays(tmp_path: Path) -> None:
    def told(name: str, data: bytes | None) -> str:
        path = tmp_path / name
        if data is None:
            path.mkdir()
        else:
            path.write_bytes(data)
        with pytest.raises(xt.ArgumentError) as caught:
            xt.load_arrays(path)
        return caught.value.parts[0].partition(str(path))[2]

    assert told("a.nc", b"hello" * 100) == " is not a netCDF file, which begins with CDF or HDF"
    assert told("b.nc", b"CDF\x05" + b"hello" * 100).startswith(" cannot be read: ")
    assert told("c.nc", b"\x89HDF\r\n\x1a\n" + b"hello" * 100).startswith(" cannot be read: ")
    assert told("d.nc", None).startswith(" cannot be read: ")
    assert told("e.zarr", None) == told("f.zarr", b"hello") == " is not a Zarr store"
    with pytest.raises(xt.ArgumentError, match=r"Write xt.load\(path\) for a bundle"):
        xt.load_arrays(tmp_path / "model.xtb")


@pytest.mark.parametrize("suffix", [".nc", ".zarr", ".safetensors"])
def test_arrays_are_not_a_bundle(tmp_path: Path, suffix: str) -> None:
    xt.save({"a": X}, tmp_path / f"x{suffix}")
    with pytest.raises(xt.BundleError, match=r"is not a bundle. Write xt.load_arrays\(path\)"):
        xt.load(tmp_path / f"x{suffix}")
    with pytest.raises(xt.MissingBundleError):
        xt.load(tmp_path / f"none{suffix}")


# What save cannot write, without the texts of arrays.
REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a dict of dicts": (lambda p: xt.save({"a": {"b": X}}, p), "'a' is a dict, and .nc holds one array for each name"),
    "None": (lambda p: xt.save({"a": None}, p), "'a' is None, and .nc holds one array for each name"),
    "a list": (lambda p: xt.save([X, X], p), "holds arrays by name, not a list. Write"),
    "a tuple": (lambda p: xt.save((X, X), p), "holds arrays by name, not a tuple. Write"),
    "an array": (lambda p: xt.save(X, p), "holds arrays by name, not an array, float64 (x: 3). Write"),
    "a number for a name": (lambda p: xt.save({1: X}, p), 'names are strings, not 1. Write {"1": ..}'),
    "the path first": (lambda p: xt.save(str(p), {"a": X}), "comes second, not a dict. Write xt.save(arrays, path)"),  # type: ignore[arg-type]
    "NumPy": (lambda p: xt.save({"v": np.ones(3)}, p), 'axes have no names. Write xt.array(a, dims=("x",))'),
    "NumPy of two axes": (lambda p: xt.save({"v": np.ones((3, 2))}, p), 'Write xt.array(a, dims=("x", "y"))'),
    "a MultiIndex": (
        lambda p: xt.save({"v": labelled([1.0], [1]).expand_dims(t=2).stack(z=("t", "x"))}, p),
        "dim 'z' has a MultiIndex, which .nc does not hold. Write x.unstack(\"z\")",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_save_refuses(tmp_path: Path, name: str) -> None:
    call, wanted = REFUSED[name]
    with pytest.raises(xt.Error, match=re.escape(wanted)):
        call(tmp_path / "x.nc")


def test_zarr_does_not_warn(tmp_path: Path) -> None:
    pytest.importorskip("zarr", reason="zarr is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xt.save({"a": X}, tmp_path / "x.zarr")
        xt.load_arrays(tmp_path / "x.zarr")
        X.to_xarray().to_dataset(name="a").to_zarr(tmp_path / "y.zarr", consolidated=False)
        np.testing.assert_array_equal(xt.load_arrays(tmp_path / "y.zarr")["a"].values, X.values)


WITH_SCIPY_ALONE = """
import sys
sys.modules["netCDF4"] = sys.modules["h5netcdf"] = None
import numpy as np, xtensor as xt
path = sys.argv[1]
for dtype in ("i1", "i2", "i4", "f4", "f8", "?"):
    xt.save({"a": xt.array([0, 1], "x", dtype=dtype)}, path)
    back = xt.load_arrays(path)["a"]
    assert (back.dtype, back.values.tolist()) == (np.dtype(dtype), [0, 1]), (dtype, back)
for dtype in ("i8", "u8", "u4", "u2", "u1"):
    try:
        xt.save({"a": xt.array([0, 1], "x", dtype=dtype)}, path)
    except xt.DTypeError as error:
        assert "writes netCDF 3, without this dtype. Run pip install netCDF4, or write" in str(error), error
    else:
        raise AssertionError(dtype)
"""


def test_integers_that_scipy_does_not_write(tmp_path: Path) -> None:
    """It would write them as others, which then come back."""
    pytest.importorskip("scipy", reason="SciPy is not installed")
    subprocess.run([sys.executable, "-c", WITH_SCIPY_ALONE, str(tmp_path / "x.nc")], check=True, timeout=120)
