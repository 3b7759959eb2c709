"""xarray and DLPack: in wherever arrays go, out where they went in, without copies."""

import numpy as np
import pytest
import xarray as xr
import xtensor as xt


def temperature():
    return xr.DataArray(
        np.arange(6.0).reshape(2, 3),
        dims=("time", "place"),
        coords={"time": [10, 20], "place": ["x", "y", "z"], "height": ("place", [1.0, 2.0, 3.0]), "run": 7},
        name="temperature",
        attrs={"units": "K"},
    )


def later(v):
    return v.isel(time=[0]).assign_coords(time=[30])


@pytest.mark.cpu_only("memory is shared with xarray")
def test_as_array_shares_memory_and_to_xarray_gives_it_all_back():
    da = temperature()
    x = xt.as_array(da)
    assert np.shares_memory(x.values, da.values)
    assert x.dims == ("time", "place")
    xr.testing.assert_identical(x.to_xarray(), da)


@pytest.mark.cpu_only("memory is shared with xarray")
def test_an_array_without_labels_becomes_a_bare_dataarray():
    x = xt.array([1.0, 2.0], "t")
    xr.testing.assert_identical(x.to_xarray(), xr.DataArray([1.0, 2.0], dims="t"))
    assert np.shares_memory(x.to_xarray().values, x.values)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda v: xt.negative(v), lambda v: -v),
        (lambda v: xt.add(v, 1.0), lambda v: v + 1.0),
        (lambda v: xt.multiply(v, v), lambda v: v * v),
        (lambda v: xt.sum(v, dim="time"), lambda v: v.sum("time")),
        (lambda v: xt.mean(v), lambda v: v.mean()),
        (lambda v: xt.transpose(v, "place", "time"), lambda v: v.transpose("place", "time")),
        (lambda v: xt.isel(v, place=slice(1, 3)), lambda v: v.isel(place=slice(1, 3))),
        (lambda v: xt.isel(v, place=slice(None, None, 2)), lambda v: v.isel(place=slice(None, None, 2))),
        (lambda v: xt.isel(v, place=slice(None, None, -1)), lambda v: v.isel(place=slice(None, None, -1))),
        (lambda v: xt.isel(v, time=1), lambda v: v.isel(time=1)),
        (lambda v: xt.isel(v, time=-1, place=slice(0, 2)), lambda v: v.isel(time=-1, place=slice(0, 2))),
        (lambda v: xt.rename(v, place="site"), lambda v: v.rename(place="site")),
        (lambda v: xt.diff(v, "place"), lambda v: v.diff("place")),
        (lambda v: xt.diff(v, "place", 2), lambda v: v.diff("place", 2)),
        (lambda v: xt.diff(v, "place", label="lower"), lambda v: v.diff("place", label="lower")),
        (lambda v: xt.shift(v, place=1), lambda v: v.shift(place=1)),
        (lambda v: xt.roll(v, place=-1, time=1), lambda v: v.roll(place=-1, time=1)),
        (lambda v: xt.pad(v, time=(1, 2), constant_values=0.5), lambda v: v.pad(time=(1, 2), constant_values=0.5)),
        (lambda v: xt.pad(v, time=1, mode="edge"), lambda v: v.pad(time=1, mode="edge")),
        (lambda v: xt.zeros_like(v), xr.zeros_like),
        (lambda v: xt.full_like(v, 2.0), lambda v: xr.full_like(v, 2.0)),
        (lambda v: xt.concat([v, later(v)], dim="time"), lambda v: xr.concat([v, later(v)], dim="time")),
        (lambda v: xt.concat([v, v], dim="new"), lambda v: xr.concat([v, v], dim="new")),
        (
            lambda v: xt.concat([v.isel(place=slice(2)), v.isel(place=[2])], dim="place"),
            lambda v: xr.concat([v.isel(place=slice(2)), v.isel(place=[2])], dim="place"),
        ),
        (xt.jit(lambda v: xt.roll(v, place=1) * 2.0), lambda v: v.roll(place=1) * 2.0),
    ],
)
def test_operations_keep_what_xarray_keeps(ours, theirs):
    got, want = ours(temperature()), theirs(temperature())
    assert isinstance(got, xr.DataArray)
    xr.testing.assert_identical(got, want)


def test_swapped_dims_are_labelled_by_the_coordinate_of_that_name():
    v = wide()
    xr.testing.assert_identical(xt.swap_dims(v, place="height"), v.swap_dims(place="height"))
    xr.testing.assert_identical(xt.swap_dims(v, place="site"), v.swap_dims(place="site"))


@pytest.mark.parametrize("wrap", [lambda f: f, xt.jit])
def test_labels_of_a_dim_go_before_a_position_that_was_picked_of_it(wrap):
    v = wide()
    f = wrap(lambda v: v - v.isel(time=0))
    xr.testing.assert_equal(f(v), v - v.isel(time=0))
    g = wrap(xt.broadcast_like)
    got, want = g(v.isel(time=0), v), v.isel(time=0).broadcast_like(v)
    assert got.dims == want.dims
    xr.testing.assert_equal(got["time"], want["time"])


@pytest.mark.parametrize("f", [lambda v: v * 2.0, lambda v: v.isel(both=[4, 0, 1]) - 1.0, lambda v: v.sum("both")])
def test_labels_of_several_levels_stay(f):
    v = wide().isel(place=slice(3)).stack(both=("time", "place"))
    want = f(v)
    for got in (xt.jit(f)(v), f(xt.as_array(v)).to_xarray()):
        xr.testing.assert_equal(got, want)
        assert {d: type(i) for d, i in got.indexes.items()} == {d: type(i) for d, i in want.indexes.items()}


def wide():
    n = 40
    return xr.DataArray(
        np.arange(2.0 * n).reshape(2, n),
        dims=("time", "place"),
        coords={"time": [10, 20], "place": np.arange(n) * 1.5, "height": ("place", np.arange(n) ** 2.0), "run": 7},
        name="wide",
    )


SCATTERED = [i * i % 37 for i in range(30)]  # in no pieces of equal steps
PLACES = xt.array(SCATTERED, "place")
SITES = xt.array([5, 3, -1], "site")
READS = {
    "a list": lambda v: xt.isel(v, place=[3, 1, -1]),
    "many": lambda v: xt.isel(v, place=SCATTERED),
    "taken": lambda v: xt.take(v, SCATTERED, dim="place"),
    "a captured array": lambda v: xt.take(v, PLACES, dim="place"),
    "another dim": lambda v: xt.isel(v, place=("site", [5, 3, -1])),
    "another dim, many": lambda v: xt.isel(v, place=("site", SCATTERED)),
    "a captured array of another dim": lambda v: xt.take(v, SITES, dim="place"),
    "a mask": lambda v: xt.isel(v, place=[i % 3 == 1 for i in range(40)]),
    "point by point": lambda v: xt.isel(v, place=SITES, time=xt.array([1, 0, 1], "site")),
    "twice": lambda v: xt.isel(xt.isel(v, place=SCATTERED), place=[7, 7, 2]),
    "one place": lambda v: xt.isel(v, place=xt.array(4, ())),
    "rolled": lambda v: xt.roll(v, place=3),
    "padded": lambda v: xt.pad(v, place=(1, 2)),
    "in a row": lambda v: xt.concat([v.isel(place=slice(2)), v.isel(place=[9, 2])], dim="place"),
    "differences": lambda v: xt.diff(v, "place"),
    "swapped dims": lambda v: xt.swap_dims(v, place="height"),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", READS)
def test_coordinates_are_the_same_eagerly_under_jit_and_loaded(name):
    f, v = READS[name], wide()
    want = f(v)
    assert isinstance(want, xr.DataArray)
    assert "run" in want.coords
    assert any(c in want.coords for c in ("place", "height"))
    loaded = xt.load(xt.export(f, args=(xt.spec(time=2, place=40, dtype="f8"),), c=False))
    for g in (xt.jit(f), loaded, xt.jit(loaded), lambda v: f(xt.as_array(v)).to_xarray()):
        for _ in range(2):
            xr.testing.assert_equal(g(v), want)


def test_positions_that_are_arguments_have_their_labels():
    def f(v, i):
        return xt.take(v, i, dim="place")

    def both(v, i):
        return f(v, i), xt.isel(v, time=0).sum()

    specs = xt.spec(time=2, place=40, dtype="f8"), xt.spec(place=3, dtype="i8")
    targets = tuple(dict.fromkeys(("cpu", PLACES.device)))
    g = xt.load(xt.export(both, args=specs, c=False, targets=targets))
    for places in ([3, 1, -1], [0, 0, 7]):
        i = xt.array(places, "place")
        for h in (xt.jit(both), g):
            y, total = h(wide(), i)
            xr.testing.assert_equal(y, f(wide(), i))
            assert total.coords["time"].item() == 10


def test_names_and_attributes_that_differ_are_dropped():
    a = temperature()
    b = temperature().rename("other").assign_attrs(units="C", source="model")
    got, want = xt.add(a, b), a + b
    xr.testing.assert_identical(got, want)


def test_coordinates_that_differ_are_an_error():
    a = temperature()
    b = temperature().assign_coords(time=[20, 30])
    with pytest.raises(xt.DimensionError, match=r"xarray\.align"):
        xt.add(a, b)


def test_jit_takes_dataarrays_and_gives_them():
    f = xt.jit(lambda v, s: {"scaled": v * s, "last": v.isel(time=slice(1, 2)), "total": v.sum()})
    da = temperature()
    for _ in range(2):
        out = f(da, 2.0)
        np.testing.assert_array_equal(out["scaled"].values, da.values * 2)
        assert out["scaled"].coords["time"].values.tolist() == [10, 20]
        assert out["last"].coords["time"].values.tolist() == [20]
        assert out["total"].coords["run"].item() == 7
        assert set(out["total"].coords) == {"run"}
    plain = f(xt.array(da.values, da.dims), 2.0)
    assert isinstance(plain["scaled"], xt.Array)


def test_joined_to_something_without_labels_a_dim_has_none():
    v = temperature()
    out = xt.jit(lambda v, w: xt.concat([v, w], "time"))(v, v.drop_vars("time"))
    assert "time" not in out.coords
    assert "place" in out.coords


def test_coordinates_that_differ_are_an_error_inside_of_jit():
    def neighbours(v):
        return v.isel(place=slice(1, 3)) - v.isel(place=slice(0, 2))

    what = r"^xt\.subtract: the coordinates of dim 'place' differ .*operands: float64 \(time: 2, place: 2\), float64"
    for f in (
        xt.jit(neighbours),
        xt.jit(neighbours, dynamic_dims="time"),
        xt.grad(lambda v: (neighbours(v) ** 2).sum()),
    ):
        for _ in range(2):
            with pytest.raises(xt.DimensionError, match=what.replace("time: 2", "time: .")) as e:
                f(temperature())
            assert f"{__file__}:" in str(e.value)
    out = xt.jit(neighbours)(temperature().drop_vars("place"))
    assert set(out.coords) == {"time", "run"}
    a, b = temperature(), temperature().assign_coords(time=[20, 30])
    for f, name in ((lambda a, b: a * b, "multiply"), (lambda a, b: xt.where(a > 0, b, 0.0), "where")):
        with pytest.raises(xt.DimensionError, match=rf"^xt\.{name}: the coordinates of dim 'time' differ .*time: 2"):
            xt.jit(f)(a, b)
    # Values that meet as one op's own business, and in reductions, do not.
    total = xt.jit(lambda a, b: a.diff("time") + xt.sum(a * 2.0, "time") * xt.sum(b, "time"))(a, b)
    xr.testing.assert_allclose(total, a.diff("time") + (a * 2.0).sum("time") * b.sum("time"))


def test_gradients_of_dataarrays_are_dataarrays():
    da = temperature()
    g = xt.grad(lambda v: (v * v).sum())(da)
    assert isinstance(g, xr.DataArray)
    np.testing.assert_allclose(g.values, 2 * da.values)
    xr.testing.assert_equal(g.coords.to_dataset(), da.coords.to_dataset())


def test_labels_travel_on_arrays():
    x = xt.as_array(temperature())
    y = (x * 2.0).isel(time=slice(1, 2)).to_xarray()
    assert y.coords["time"].values.tolist() == [20]


def test_captured_dataarrays():
    da = temperature()
    f = xt.jit(lambda v: v * da)
    out = f(xt.array(np.full((2, 3), 2.0), ("time", "place")))
    np.testing.assert_array_equal(out.values, da.values * 2)


@pytest.mark.cpu_only("memory is shared by DLPack")
def test_dlpack_both_ways_without_copies():
    values = np.arange(4.0)
    x = xt.from_dlpack(values, dims="i")
    assert np.shares_memory(x.values, values)
    assert np.shares_memory(np.from_dlpack(x), values)
    with pytest.raises(xt.ArgumentTypeError):
        xt.from_dlpack([1.0], dims="i")


def test_bfloat16_of_torch():
    torch = pytest.importorskip("torch")
    t = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    assert xt.array(t, "i").dtype == xt.bfloat16
    assert xt.array(t, "i").astype("f4").values.tolist() == [1.5, -2.0]


@pytest.mark.cpu_only("memory is shared by DLPack")
def test_torch_both_ways():
    torch = pytest.importorskip("torch", reason="PyTorch is compared with where it is installed")
    t = torch.arange(4.0)
    x = xt.array(t, dims="i")
    assert x.values.ctypes.data == t.data_ptr()
    back = torch.from_dlpack(x)
    assert back.data_ptr() == t.data_ptr()


def test_numpy_asks_for_dtypes_and_copies():
    x = xt.array([1.5, 2.5], "i")
    assert np.asarray(x, dtype="f4").dtype == np.float32
    assert not np.shares_memory(np.array(x, copy=True), x.values)


def test_a_gradient_is_labelled_as_its_own_argument():
    x = xr.DataArray(np.arange(3.0), dims="x", coords={"x": [10, 20, 30]}, name="rain", attrs={"units": "mm"})
    by_plain = xt.grad(lambda a, x: xt.sum(a) * xt.sum(x))
    found = by_plain(xt.ones(k=2), x)
    assert isinstance(found, xt.Array)
    assert xt.as_array(found).to_xarray().name is None
    value, (da, dx) = xt.value_and_grad(lambda a, x: xt.sum(a) * xt.sum(x), wrt=(0, 1))(xt.ones(k=2), x)
    assert isinstance(da, xt.Array)
    assert isinstance(value, xr.DataArray)
    xr.testing.assert_identical(dx.drop_attrs(), xr.full_like(x, 2.0).drop_attrs())
    other = x.rename("wind").rename(x="y").drop_vars("y")
    dx, dy = xt.jit(xt.grad(lambda x, y: xt.sum(x * x) * xt.sum(y), wrt=(0, 1)))(x, other)
    assert (dx.name, dy.name) == ("rain", "wind")
    assert "x" in dx.coords and not dy.coords


def test_a_dataarray_left_of_a_traced_array_says_what_to_write():
    k = xr.DataArray(np.arange(3.0), dims="x")
    u = xt.ones(x=3)
    for f in (lambda u: k * u, lambda u: k - u, lambda u: k < u, lambda u: xr.where(k > 1, k, u)):
        with pytest.raises(
            xt.Error, match=r"^xarray: .*float64 \(x: 3\).*Write the array first.*xt.as_array\(k\)"
        ) as e:
            xt.jit(f)(u)
        assert f"{__file__}:" in str(e.value)
    with pytest.raises(xt.Error, match=r"^xarray: .*float64 \(x: 3\)"):
        xt.scan(lambda c, v: (k * c, v), u, xt.ones(t=2), dim="t")
    for f in (lambda u: u * k, lambda u: xt.as_array(k) * u):
        np.testing.assert_array_equal(xt.jit(f)(u).values, k.values)


def test_a_dataarray_at_a_traced_position_says_what_to_write():
    k = xr.DataArray(np.arange(3.0), dims="x")
    for f in (lambda i: k.isel(x=i), lambda i: k[i], lambda i: xr.Dataset({"k": k}).isel(x=i)):
        with pytest.raises(xt.Error, match=r"A DataArray reads the array that indexes it: write xt.as_array\(x\).isel"):
            xt.jit(f)(xt.array(2))
    assert float(xt.jit(lambda i: xt.as_array(k).isel(x=i))(xt.array(2))) == 2.0


def test_as_array_of_a_traced_array_is_itself():
    found = xt.jit(lambda a: xt.as_array(a) + 1)(xt.ones(t=3))
    np.testing.assert_array_equal(found.values, [2, 2, 2])
    sized = xt.jit(lambda a: a * xt.as_array(a.sizes["t"]), dynamic_dims="t")
    np.testing.assert_array_equal(sized(xt.ones(t=3)).values, [3, 3, 3])
    with pytest.raises(xt.Error, match=r"is an array already\. Write xt\.as_array"):
        xt.jit(lambda a: xt.array(a, dtype="f4"))(xt.ones(t=3))


def test_coordinates_that_differ_are_an_error_of_a_loaded_function():
    def neighbours(v):
        return v.isel(place=slice(1, 3)) - v.isel(place=slice(0, 2))

    g = xt.load(xt.export(neighbours, args=(xt.spec(time=None, place=3, dtype="f8"),), c=False))
    for f in (g, xt.jit(g), xt.grad(lambda v: (g(v) ** 2).sum())):
        for _ in range(2):
            with pytest.raises(xt.DimensionError, match=r"^xt\.subtract: the coordinates of dim 'place' differ") as e:
                f(temperature())
            assert "test_interop.py:" in str(e.value)
    assert set(g(temperature().drop_vars("place")).coords) == {"time", "run"}
