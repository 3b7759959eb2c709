"""Labels of compiled programs: those that the same functions give one by one, and worked out once."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from xtensor.labels import relabel


def field(name: Any = "w", scale: float = 1.0, **attrs: Any) -> xr.DataArray:
    return xr.DataArray(
        scale * np.arange(12.0).reshape(4, 3),
        dims=("time", "x"),
        coords={
            "time": [1, 2, 3, 5],
            "hour": ("time", [6, 7, 8, 9]),
            "x": ["a", "b", "c"],
            "lat": (("time", "x"), np.arange(12.0).reshape(4, 3)),
            "run": 3,
        },
        name=name,
        attrs={"units": "m", **attrs},
    )


A, B = field(), field("v", 2.0, long_name="speed").drop_vars("hour").assign_coords(run=4, height=2.0)
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda a, b: a * 2.0 + 1.0,
    "two": lambda a, b: a * 2.0 + b,
    "one of two": lambda a, b: b - 1.0,
    "another of two": lambda a, b: (a, b, a + a),
    "itself without a coordinate": lambda a, b: a - a.drop_vars("time"),
    "itself without any": lambda a, b: a.drop_vars(["time", "hour", "x", "lat", "run"]) * a,
    "without a scalar": lambda a, b: a.drop_vars("run") + 1.0,
    "without a scalar, then another's": lambda a, b: a.drop_vars("run") + b,
    "a mean": lambda a, b: a.mean("time"),
    "anomalies": lambda a, b: a - a.mean("time"),
    "a point": lambda a, b: a - a.isel(time=0),
    "a point without its label": lambda a, b: a.isel(time=1) - a.isel(time=0).drop_vars("time"),
    "two points": lambda a, b: a.isel(time=1) + a.isel(time=0),
    "differences": lambda a, b: a.diff("time") / 2.0,
    "parts whose labels are gone": lambda a, b: a.isel(time=slice(1, None)) - a.isel(time=slice(3)).drop_vars("time"),
    "neighbours": lambda a, b: a + a.roll(time=1),
    "shifted": lambda a, b: a.shift(time=1) - a,
    "renamed": lambda a, b: a.rename(time="t") * a.isel(time=0),
    "an outer product": lambda a, b: a * a.rename(time="t"),
    "transposed": lambda a, b: a.transpose("x", "time") + a,
    "contracted": lambda a, b: xt.dot(a, b, dim="x"),
    "like another": lambda a, b: xt.broadcast_like(b.isel(time=0), a),
    "chosen": lambda a, b: xt.where(a > 3.0, a, b),
    "zeros": lambda a, b: xt.zeros_like(b) + 1.0,
    "stacked": lambda a, b: a.sum("x").expand_dims(k=2),
    "in a row": lambda a, b: xt.concat([a, a * 2.0], dim="time"),
    "backwards": lambda a, b: a.isel(time=slice(None, None, -1)),
    "positions": lambda a, b: a.isel(time=[3, 0, 0]) ** 2,
    "a gradient": lambda a, b: xt.grad(lambda u, v: (u * u * v).sum())(a, b),
    "updated": lambda a, b: xt.as_array(a).at(time=0).set(0.0),
    "a loop": lambda a, b: xt.scan(lambda c, e: (c + e, c), a.isel(time=0).drop_vars("time") * 0.0, a, dim="time"),
}


def labelled(x: Any) -> Any:
    """All results as DataArrays."""
    return [y.to_xarray() if isinstance(y, xt.Array) else y for y in xt.tree.leaves(x)]


@pytest.mark.parametrize("kind", ["dataarrays", "arrays"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_labels_are_the_same_eagerly_and_under_jit(name: str, kind: str) -> None:
    f, g = FUNCTIONS[name], xt.jit(FUNCTIONS[name])
    a, b = (xt.as_array(A), xt.as_array(B)) if kind == "arrays" else (A, B)
    want = labelled(f(xt.as_array(A), xt.as_array(B)))
    for _ in range(3):
        got = g(a, b)
        assert all(type(x) is type(a) for x in xt.tree.leaves(got))
        for x, y in zip(labelled(got), want, strict=True):
            xr.testing.assert_allclose(x, y)
            assert (x.name, x.attrs, x.coords.keys()) == (y.name, y.attrs, y.coords.keys())


# -- worked out once --------------------------------------------------------------------------------------------------


class Count:
    """Counts how often coordinates are worked out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from xtensor.labels import relabel

        self.calls, before = 0, relabel.coordinates

        def counted(*args: Any) -> Any:
            self.calls += 1
            return before(*args)

        monkeypatch.setattr(relabel, "coordinates", counted)


def line(*labels: float) -> xr.DataArray:
    return xr.DataArray(np.arange(float(len(labels))), dims="t", coords={"t": list(labels), "run": 3}, name="w")


@pytest.mark.parametrize("wrap", [lambda x: x, xt.as_array], ids=["dataarrays", "arrays"])
def test_equal_labels_are_worked_out_once(wrap: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    f, count = xt.jit(lambda a: (a.isel(t=slice(1, None)), a.sum("t"))), Count(monkeypatch)
    for _ in range(3):
        part, _ = f(wrap(line(1.0, 2.0, 4.0)))
        assert part.coords["t"].values.tolist() == [2.0, 4.0]
    assert count.calls == 2  # of two results
    assert f(wrap(line(1.0, 2.0, 5.0)))[0].coords["t"].values.tolist() == [2.0, 5.0]
    assert count.calls == 4


def test_a_result_that_is_labelled_as_its_argument_has_its_very_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    f, count = xt.jit(lambda a, b: a * 0.5 + b), Count(monkeypatch)
    x = y = xt.as_array(line(1.0, 2.0, 4.0))
    for _ in range(4):
        x = f(x, y)
    assert x.meta is y.meta and count.calls == 1


def test_calls_with_known_labels_do_not_reach_python(monkeypatch: pytest.MonkeyPatch) -> None:
    f, a, b = xt.jit(lambda x, k=2.0: {"y": x * k, "s": x.sum("t")}), line(1.0, 2.0), line(3.0, 4.0)
    xs = [xt.as_array(a), xt.as_array(b)]
    want = [{k: y.to_xarray() for k, y in f(x, k=3.0).items()} for x in xs]
    monkeypatch.setattr(type(f._compiler), "call", None)  # what a call falls back to
    for x, y in [*zip(xs, want, strict=True)] * 2:
        for k, got in f(x, k=3.0).items():
            xr.testing.assert_identical(got.to_xarray(), y[k])
    with pytest.raises(TypeError):
        f(xt.as_array(line(5.0, 6.0)), k=3.0)


def test_labels_that_change_in_place_are_seen() -> None:
    x = A.copy(deep=True)
    f = xt.jit(lambda a: (a * 2.0, a.mean("time"), a.isel(time=slice(2))))
    for step in range(3):
        x["hour"][0] = 10 + step
        x["run"] = ((), 20 + step)
        x.coords["lat"][0, 0] = 30 + step
        x.coords["time"].attrs["axis"] = str(step)
        x.attrs["units"] = f"{step} m"
        want = x * 2.0, x.mean("time"), x.isel(time=slice(2))
        for got, y in zip(f(x), want, strict=True):
            xr.testing.assert_identical(got, y)


def test_what_is_done_to_a_result_changes_no_other() -> None:
    x = line(1.0, 2.0, 4.0)
    f = xt.jit(lambda a: (a + 1.0, a.isel(t=slice(2)), a.sum()))
    for _ in range(3):
        whole, part, total = f(x)
        for got, want in ((whole, x + 1.0), (part, x.isel(t=slice(2))), (total, x.sum())):
            xr.testing.assert_identical(got, want)
        del whole.coords["t"], part.coords["t"], total.coords["run"]
        part.coords["run"][()] = 9
        part.attrs["units"] = whole.attrs["units"] = "m"


def test_an_array_keeps_the_labels_that_it_was_made_with() -> None:
    x = A.copy(deep=True)
    a = xt.as_array(x)
    x["hour"][0] = 99
    assert a.coords["hour"].values.tolist() == [6, 7, 8, 9]


def test_attributes_are_kept_as_xarray_is_set_at_each_call() -> None:
    f, a = xt.jit(lambda a: a + 1.0), xt.as_array(A)
    for x in (a, A):
        for keep in (True, False, True):
            with xr.set_options(keep_attrs=keep):
                for _ in range(2):
                    assert labelled(f(x))[0].attrs == ({"units": "m"} if keep else {})


def test_labels_of_what_a_function_reads_from_outside_go_to_arrays_without() -> None:
    weight = xt.as_array(line(1.0, 2.0, 4.0))
    plain = xt.ones(t=3)
    f = xt.jit(lambda a: a * weight)
    for _ in range(2):
        xr.testing.assert_identical(f(plain).to_xarray(), (plain * weight).to_xarray())


def test_dynamic_sizes_are_labelled_at_each_size() -> None:
    f = xt.jit(lambda a: a * 2.0, dynamic_dims="t")
    for labels in ([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0]):
        for _ in range(2):
            xr.testing.assert_identical(f(xt.as_array(line(*labels))).to_xarray(), line(*labels) * 2.0)
            xr.testing.assert_identical(f(line(*labels)), line(*labels) * 2.0)


# -- attributes that xarray has, too ----------------------------------------------------------------------------------


def test_dims_that_become_one_are_labelled_at_each_size() -> None:
    for n in range(2, 8):
        x = xr.DataArray(np.ones((n, 2)), dims=("a", "b"), coords={"a": np.arange(n)})
        want = x.stack(z=("a", "b"))
        for got in (xt.stack(x, z=("a", "b")), xt.stack(xt.as_array(x), z=("a", "b")).to_xarray()):
            np.testing.assert_array_equal(got.coords["a"], want.coords["a"])
            assert got.indexes["z"].equals(want.indexes["z"])


def test_arrays_have_the_attributes_of_dataarrays() -> None:
    x = xt.as_array(A)
    assert (x.name, x.attrs, x.coords.keys(), list(x.indexes)) == ("w", {"units": "m"}, A.coords.keys(), ["time", "x"])
    np.testing.assert_array_equal(x.data, A.data)
    plain = xt.ones(t=2)
    assert (plain.name, plain.attrs, list(plain.indexes)) == (None, {}, [])
    stacked = A.drop_vars("lat").stack(k=("time", "x"))
    assert xt.as_array(stacked).indexes["k"].equals(stacked.indexes["k"])


ATTRIBUTES = r'the attributes of an array do not change. Write x = xt.as_array\(x.to_xarray\(\).assign_attrs\(units="K"'
COORDINATES = r"the coordinates of an array do not change. Write x = x\."
CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "attrs[..] =": (lambda x: x.attrs.__setitem__("units", "km"), ATTRIBUTES),
    "attrs.update": (lambda x: x.attrs.update(units="km"), ATTRIBUTES),
    "del attrs[..]": (lambda x: x.attrs.__delitem__("units"), ATTRIBUTES),
    "coords[..] =": (lambda x: x.coords.__setitem__("x", [1, 2]), rf"{COORDINATES}assign_coords\(x=labels\)"),
    "coords.update": (lambda x: x.coords.update(x=[1, 2]), rf"{COORDINATES}assign_coords\(time=labels\)"),
    "del coords[..]": (lambda x: x.coords.__delitem__("x"), rf"{COORDINATES}drop_vars\('x'\)"),
    "x[name] =": (lambda x: x.__setitem__("a b", 1), r"Write x = x.assign_coords\({'a b': labels}\)"),
    "name =": (lambda x: setattr(x, "name", "heat"), r'\'name\' cannot be set. Write .*rename\("heat"\)'),
    "dims =": (lambda x: setattr(x, "dims", ("a", "b")), r'\'dims\' cannot be set. Write x = x.rename\(old="new"\)'),
    "values =": (lambda x: setattr(x, "values", 1), r"Write x = xt.array\(values, dims=x.dims\)"),
    "time =": (lambda x: setattr(x, "time", 1), r"Write x = x.assign_coords\(time=labels\)"),
    "own =": (lambda x: setattr(x, "own", 1), r"'own' cannot be set. Write x = f\(x\)"),
    "del dims": (lambda x: delattr(x, "dims"), r"'dims' cannot be deleted. Write y = f\(x\)"),
    "del time": (lambda x: delattr(x, "time"), r"'time' cannot be deleted. Write x = x.drop_vars\('time'\)"),
}  # fmt: skip


@pytest.mark.parametrize("how", CHANGES)
def test_labels_do_not_change(how: str) -> None:
    change, message = CHANGES[how]
    x = xt.as_array(A)
    with pytest.raises((xt.ArgumentTypeError, AttributeError), match=message):
        change(x)
    xr.testing.assert_identical(x.to_xarray(), A)


TRACED_CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    **{how: CHANGES[how] for how in ("x[name] =", "dims =", "time =", "own =", "del dims", "del time")},
    "name =": (lambda x: setattr(x, "name", "heat"), r'Write y = y.rename\("heat"\), of the DataArray that the call'),
    "attrs =": (lambda x: setattr(x, "attrs", {}), r'Write y = y.assign_attrs\(units="K"\), of the DataArray that'),
    "values =": (lambda x: setattr(x, "values", 1), r"Write x = x.at\(time=0\).set\(value\), or xt.where"),
    "data +=": (lambda x: setattr(x, "data", 1), r"Write x = x.at\(time=0\).set\(value\), or xt.where"),
    "device =": (lambda x: setattr(x, "device", "vulkan"), r"Write f\(x.to\(\"vulkan\"\)\), before the call"),
    "what only xtensor sets": (lambda x: setattr(x, "weak", True), r"'weak' cannot be set. Write x = f\(x\)"),
}  # fmt: skip


@pytest.mark.parametrize("how", TRACED_CHANGES)
def test_traced_arrays_do_not_change(how: str) -> None:
    change, message = TRACED_CHANGES[how]
    with pytest.raises((xt.ArgumentTypeError, xt.AttributeError), match=message) as caught:
        xt.jit(lambda x: (change(x), x)[1])(A)
    assert "test_labels.py" in str(caught.value)


def test_copies_of_labels_change() -> None:
    x = xt.as_array(A)
    for attrs in (dict(x.attrs), x.attrs.copy(), copy.deepcopy(x.attrs), pickle.loads(pickle.dumps(x.attrs))):
        attrs["units"] = "km"
    for coords in (copy.deepcopy(x.coords), pickle.loads(pickle.dumps(x.coords)), x.to_xarray().coords):
        coords["month"] = ("x", np.arange(x.sizes["x"]))
    xr.testing.assert_identical(xr.DataArray(x.values, x.coords, x.dims, x.name, x.attrs), A)


@pytest.mark.parametrize("name", ["name", "attrs", "indexes", "data"])
def test_a_traced_array_says_that_it_has_no_labels(name: str) -> None:
    with pytest.raises(xt.AttributeError, match=r"it has no (labels|values)"):
        xt.jit(lambda a: getattr(a, name))(A)


@pytest.mark.parametrize("make", [lambda a: xr.DataArray(a, dims=("p", "q")), lambda a: xr.Variable(("p", "q"), a)])
def test_a_dataarray_of_an_array_holds_its_values_in_numpy(make: Callable[[Any], Any]) -> None:
    x = xt.array(np.ones((2, 3), "f4"), ("x", "y"))
    made = make(x)
    assert type(made.data) is np.ndarray and made.dims == ("p", "q")
    assert (made + 1.0).sum().item() == 12.0
    assert type(xr.DataArray(x).data) is np.ndarray and xr.DataArray(x).dims == x.dims


def test_numpy_functions_say_what_to_write() -> None:
    x = xt.array(np.ones((2, 3), "f4"), ("x", "y"))
    with pytest.raises(xt.ArgumentTypeError, match=r"np.mean of a named array: write xt.mean\(x\)"):
        xt.jit(lambda x: np.mean(x))(x)
    with pytest.raises(xt.ArgumentTypeError, match=r"np.std of a named array: write xt.std\(x\)"):
        xt.jit(lambda x: np.std(x, axis=0))(x)


def test_dir_shows_what_is_public() -> None:
    seen: list[Any] = [xt.as_array(A)]
    xt.jit(lambda a: seen.append(a) or a)(A)
    for x in seen:
        assert {"mean", "isel", "dims", "drop_vars"} <= set(dir(x))
        assert not [n for n in dir(x) if n.startswith("_") or n in ("meta", "type", "variable", "weak", "scope")]
    assert {"name", "attrs", "indexes", "data", "coords", "values"} <= set(dir(seen[0]))
    assert dir(xt.debug) == ["backward", "breakpoint", "callback", "check_shared", "dump_phases", "print"]


def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """An xarray without what is private to it."""
    monkeypatch.setattr(relabel, "_is_known", lambda cls: False)


@pytest.mark.parametrize("public", [False, True])
def test_a_result_has_the_coordinates_of_an_argument_and_dicts_of_its_own(
    public: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if public:
        hidden(monkeypatch)
    coords = {"t": [1, 2, 3], "letter": ("t", ["a", "b", "c"]), "one": 1.5}
    x = xr.DataArray(np.arange(3, dtype="f4"), dims="t", coords=coords, name="w", attrs={"unit": "m"})
    x.encoding = {"scale_factor": 2}
    before = x.copy(deep=True)
    f = xt.jit(lambda x: x * 2 + 1)
    for _ in range(3):
        y = f(x)
        xr.testing.assert_identical(y, x * 2 + 1)
        assert y.name == "w"
        assert y.encoding == {}
        assert y.indexes["t"].equals(x.indexes["t"])
        y.coords["other"] = ("t", [7, 8, 9])
        y.attrs["unit"] = "s"
        y.name = "v"
        xr.testing.assert_identical(
            y.sel(t=2).drop_vars("other"), (x * 2 + 1).sel(t=2).assign_attrs(unit="s").rename("v")
        )
    xr.testing.assert_identical(x, before)


# -- calls with DataArrays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamic", [(), "time"])
def test_coordinates_that_differ_are_told_of_at_every_call(dynamic: Any) -> None:
    f = xt.jit(lambda a, b: a + b, dynamic_dims=dynamic)
    a, b = field(), field().assign_coords(time=[1, 2, 3, 9])
    for _ in range(2):
        xr.testing.assert_identical(f(a, a), a + a)
        with pytest.raises(xt.DimensionError, match="coordinates of dim 'time' differ"):
            f(a, b)


def test_a_dataarray_that_has_no_memory_of_numpy_goes_in() -> None:
    class Lazy(xr.backends.BackendArray):  # type: ignore[misc, unused-ignore]
        shape, dtype, reads = (3,), np.dtype("f8"), 0

        def __getitem__(self, key: Any) -> Any:
            Lazy.reads += 1
            return np.arange(3.0)

    def lazy() -> xr.DataArray:
        from xarray.core.indexing import LazilyIndexedArray

        return xr.DataArray(xr.Variable("t", LazilyIndexedArray(Lazy())), coords={"t": [1, 2, 3]})  # type: ignore[no-untyped-call]

    f = xt.jit(lambda a: a + 1.0)
    f(xr.DataArray(np.zeros(3), dims="t", coords={"t": [1, 2, 3]}))
    for reads in (1, 2):
        assert f(lazy()).values.tolist() == [1.0, 2.0, 3.0]
        assert Lazy.reads == reads


def test_a_dataarray_without_labels_of_a_subclass_comes_out_as_one() -> None:
    class Mine(xr.DataArray):
        __slots__ = ()

    f, x = xt.jit(lambda a: a + 1.0), Mine(np.zeros(3), dims="t")
    for _ in range(2):
        assert type(f(x)) is Mine
        xr.testing.assert_identical(f(x), x + 1.0)


def test_the_memory_of_a_dataarray_is_read_at_each_call() -> None:
    f, x = xt.jit(lambda a: a * 2.0), field()
    for step in range(3):
        x[0, 0] = step
        assert f(x)[0, 0] == 2.0 * step
    with xt.option(copy=True):
        xr.testing.assert_identical(f(x), x * 2.0)


@pytest.mark.cpu_only("DataArrays are moved to a device by Python")
def test_calls_with_dataarrays_of_known_types_do_not_reach_python(monkeypatch: pytest.MonkeyPatch) -> None:
    f = xt.jit(lambda x, y, k=2.0: {"sum": x["a"] * k + y, "mean": x["a"].mean("time")})
    x, y = {"a": field()}, xt.as_array(field())
    f(x, y, k=3.0)
    monkeypatch.setattr(type(f._compiler), "call", None)  # what a call falls back to
    for a in (field(), field("v", 3.0), field().assign_coords(time=[2, 4, 6, 8]).isel(x=slice(3))):
        got = f({"a": a}, y if a.time[0] == 1 else xt.as_array(a), k=4.0)
        other = field() if a.time[0] == 1 else a
        xr.testing.assert_identical(got["sum"], a * 4.0 + other)
        xr.testing.assert_identical(got["mean"], a.mean("time"))
    with pytest.raises(TypeError):
        f({"a": field().astype("f4")}, y, k=4.0)


@pytest.mark.cpu_only("DataArrays are moved to a device by Python")
def test_public_functions_of_known_types_do_not_reach_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for n in (4, 3, 2):  # the third size opens the program to all
        xt.softplus(field()[:n])
    monkeypatch.setattr(type(xt.softplus.slow_path), "eager", None)  # type: ignore[attr-defined]
    for n in (4, 3, 2, 4):
        x = field()[:n]
        xr.testing.assert_allclose(xt.softplus(x), np.logaddexp(0.0, x))


def test_a_call_keeps_neither_its_dataarrays_nor_its_results() -> None:
    f = xt.jit(lambda a, b: {"sum": a + b, "mean": a.mean("time")})
    gone = []
    for _ in range(3):
        x = field()
        found = f(x, x)
        gone += [weakref.ref(x), *map(weakref.ref, found.values())]
        with pytest.raises(xt.DimensionError, match="differ"):
            f(x, x.assign_coords(time=[0, 1, 2, 3]))
    del x, found
    gc.collect()
    assert not [r for r in gone if r() is not None]


def test_a_dataarray_and_a_number_share_a_program() -> None:
    f = xt.jit(lambda a, k: a * k)
    for k in (2.0, 3.0, 4, True):
        xr.testing.assert_identical(f(A, k), A * k)
        xr.testing.assert_identical(f(k, A), k * A)
    assert f._compiler.function().size == 6  # of two orders, each with a float, an int and a bool


def test_a_tree_of_datasets_is_not_an_array() -> None:
    with pytest.raises(xt.ArgumentTypeError, match="expected an array, a DataArray or a number, got an xarray"):
        xt.jit(lambda x: x)(xr.DataTree())
