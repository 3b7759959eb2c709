"""Devices: arrays on them, where programs run, what is told where something is not there.

What needs a device runs on the first one that is not the CPU (XTENSOR_TEST_DEVICE names another); where there is none,
these tests say so.
"""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from chosen_device import NAME, host, needs_device, on_the_cpu  # noqa: F401 (used by every test)
from xtensor import _native
from xtensor.cli import main
from xtensor.values import devices

# -- arrays -----------------------------------------------------------------------------------------------------------


@needs_device
@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "bfloat16"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_there_and_back(dtype, shape):
    x = xt.array(host(*shape), dims=tuple("abc"[: len(shape)])).astype(dtype)
    there = x.to(NAME)
    assert (there.device, there.dims, there.shape, there.dtype) == (NAME, x.dims, x.shape, x.dtype)
    assert there.to(NAME) is there
    back = there.to("cpu")
    assert back.device == "cpu"
    assert back.to("cpu") is back
    np.testing.assert_array_equal(back.values, x.values)


@needs_device
def test_every_way_to_read():
    x = xt.array(host(2, 3), ("a", "b"), device=NAME)
    want = host(2, 3)
    assert x.values.tolist() == want.tolist()
    assert not x.values.flags.writeable
    assert x.to_numpy().tolist() == want.tolist()
    assert np.asarray(x).tolist() == want.tolist()
    assert np.asarray(x, "f8").tolist() == want.tolist()
    assert np.array(x, copy=True).flags.writeable
    assert memoryview(x).tolist() == want.tolist()
    assert bytes(x) == want.tobytes()
    assert x.to_xarray().values.tolist() == want.tolist()
    assert 4.0 in x
    assert [row.values.tolist() for row in x] == want.tolist()
    assert all(row.device == NAME for row in x)
    assert repr(x) == f"<xtensor.Array (a: 2, b: 3) float32 on {NAME}>\n[[0. 1. 2.]\n [3. 4. 5.]]"
    assert f"on {NAME}" in x._repr_html_()
    one = xt.array(3, device=NAME)
    assert (one.item(), int(one), float(one), complex(one), bool(one), range(5)[one]) == (3, 3, 3.0, 3 + 0j, True, 3)
    assert f"{one}" == "3"


@needs_device
def test_numpy_gets_no_view_of_a_device():
    x = xt.array(host(2), "a", device=NAME)
    with pytest.raises(ValueError, match=f"the array is on {NAME}: NumPy needs a copy"):
        x.__array__(copy=False)


@needs_device
def test_dlpack_copies_to_the_cpu_when_asked():
    x = xt.array(host(2, 2), ("a", "b"), device=NAME)
    assert x.__dlpack_device__()[0] != 1
    assert np.from_dlpack(x, device="cpu").tolist() == [[0, 1], [2, 3]]
    with pytest.raises(BufferError, match=r'x.to\("cpu"\), or ask for device="cpu"'):
        np.from_dlpack(x)
    with pytest.raises(BufferError, match="copy=False"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match=NAME):
        x.__dlpack__(dl_device=x.__dlpack_device__())
    with pytest.raises(BufferError, match="it cannot go"):
        x.to("cpu").__dlpack__(dl_device=x.__dlpack_device__())


@needs_device
def test_copies_and_pickles():
    x = xt.array(host(3), "a", device=NAME)
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
    again = pickle.loads(pickle.dumps(x))
    assert again.device == "cpu"
    with xt.option(device=NAME):
        again = pickle.loads(pickle.dumps(x))
    assert again.device == NAME
    assert again.values.tolist() == [0, 1, 2]


@needs_device
def test_labels_go_along():
    da = xr.DataArray(host(2), dims="t", coords={"t": [10, 20]}, name="v", attrs={"unit": "K"})
    x = xt.as_array(da).to(NAME)
    assert x.device == NAME
    xr.testing.assert_identical(x.to_xarray(), da)
    xr.testing.assert_identical(x.to("cpu").to_xarray(), da)


@needs_device
def test_views_share_what_is_on_the_device():
    x = xt.array(host(2, 3), ("a", "b"), device=NAME)
    view = x._view(_native.ArrayType("float32", ("c",), (6,)))
    assert view._pointer == x._pointer
    assert view.device == NAME
    del x
    gc.collect()
    assert view.values.tolist() == list(range(6))


@needs_device
def test_memory_is_used_again():
    device = devices.named(NAME)
    x = xt.array(host(1000), "a", device=NAME)
    before = device.counters["driver_bytes"]
    for _ in range(50):
        x = xt.array(x.values + 1, "a", device=NAME)
    assert x.values[0] == 50
    assert device.counters["driver_bytes"] == before


@needs_device
def test_an_array_that_is_too_large():
    device = devices.named(NAME)
    n = device.max_buffer_bytes // 4 + 1024
    with pytest.raises(MemoryError, match=f"{4 * n} bytes on {NAME}: .*limit of [0-9]+. Take fewer elements"):
        _native.empty(_native.ArrayType("float32", ("a",), (n,)), device)


@needs_device
def test_a_temporary_that_is_too_large():
    device = devices.named(NAME)
    limit = device.max_buffer_bytes
    if 5 * limit > 2 * device.memory_bytes:
        pytest.skip(f"{NAME} has too little memory for arrays of the largest size")
    x = xt.zeros(a=limit // 8 + 1024, dtype="i4").to(NAME)
    f = xt.jit(lambda x: xt.cumsum(xt.cumsum(x.astype("i8"), "a"), "a").sum())
    with pytest.raises(xt.DeviceMemoryError, match=f"temporaries on {NAME}: .* limit (is|of) {limit}.* fewer elements"):
        f(x).item()
    assert x.isel(a=-1).item() == 0


@needs_device
def test_parts_lie_inside():
    x = xt.array(host(4), "a", device=NAME)
    two = _native.ArrayType("float32", ("a",), (2,))
    assert x._part(two, 8).values.tolist() == [2, 3]
    with pytest.raises(ValueError, match="does not lie in"):
        x._part(two, 12)


# -- names ------------------------------------------------------------------------------------------------------------


def test_names():
    assert xt.devices()[0].name == "cpu"
    x = xt.array(1.0)
    with pytest.raises(xt.DeviceError, match=r"there is no device 'abacus'.*'cpu'"):
        x.to("abacus")
    with pytest.raises(xt.DeviceError, match="there is no device 'vulkan:x'"):
        x.to("vulkan:x")
    with pytest.raises(xt.ArgumentTypeError, match='a name such as "cpu"'):
        x.to(3)
    with pytest.raises(xt.DeviceError, match="no device 'abacus'"):
        xt.option(device="abacus")
    with pytest.raises(xt.DeviceError, match="no device 'abacus'"):
        xt.jit(lambda x: x, device="abacus")
    with pytest.raises(xt.DeviceError, match="no device 'abacus'"):
        xt.array([1.0], "a", device="abacus")


@needs_device
def test_numbers_of_devices():
    backend = NAME.partition(":")[0]
    x = xt.array(1.0).to(f"{backend}:0")
    assert x.to(x.device) is x
    with pytest.raises(xt.DeviceError, match=f"there is no device '{backend}:99'; devices here are 'cpu', "):
        x.to(f"{backend}:99")


def test_a_backend_without_devices_says_so():
    missing = next(b for b in devices.BACKENDS if not _native.device_count(b))
    with pytest.raises(xt.DeviceError, match=rf'there is no {missing} device here: .*device="cpu".*xtensor devices'):
        xt.array(1.0).to(missing)


def test_commands(capsys):
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["device", "name", "driver", "what", "it", "has"]
    assert lines[1].startswith("cpu")
    for backend in devices.BACKENDS:
        assert any(line.startswith(backend) for line in lines)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for backend in devices.BACKENDS:
        assert f"target {backend}" in out


# -- where programs run -----------------------------------------------------------------------------------------------


@needs_device
def test_programs_run_where_their_arrays_are():
    x = xt.array(host(4), "a", device=NAME)
    for y in (x + 1.0, xt.exp(x), xt.jit(lambda x: x * 2)(x), x.sum(), x.isel(a=1), x[1:3], x.at(a=0).set(9.0)):
        assert y.device == NAME
    assert (x + 1.0).values.tolist() == [1, 2, 3, 4]
    assert x[1:3].values.tolist() == [1, 2]
    assert x.isel(a=-1).item() == 3
    assert (xt.array(host(4), "a") + 1.0).device == "cpu"


@needs_device
def test_numbers_numpy_and_scalars_are_moved():
    x = xt.array(host(2), "a", device=NAME)
    for other in (2.0, np.float32(2), np.array(2, "f4"), xt.array(np.float32(2)), xr.DataArray(host(2), dims="a")):
        y = xt.as_array(x + other)
        assert y.to("cpu").values[0] in (0, 2)
    assert (x * xt.array(np.float32(2))).device == NAME
    f = xt.jit(lambda x, s: x * s)
    for s in (2.0, 3.0, 3.0, 2.0):
        assert f(x, s).values.tolist() == [0, s]
    assert f(x, xt.array(np.float32(2))).device == NAME


@needs_device
def test_arrays_of_two_devices_are_an_error():
    x, y = xt.array(host(2), "a", device=NAME), xt.array(host(2), "a")
    with pytest.raises(
        xt.DeviceError, match=rf"xt.add: operand 0 is on '{NAME}' and operand 1 on 'cpu'.*x.to\('{NAME}'"
    ):
        x + y
    f = xt.jit(lambda p, x: p["w"] * x)
    with pytest.raises(
        xt.DeviceError, match=rf"argument \[0\]\['w'\] of .* is on 'cpu' and argument \[1\].* on '{NAME}'"
    ):
        f({"w": y}, x)
    with pytest.raises(xt.DeviceError, match=NAME):
        xt.vjp(lambda x, y: x * y, x, y)


@needs_device
def test_jit_of_a_device_moves_its_arguments():
    f = xt.jit(lambda x, s: (x * s, {"sum": x.sum()}), device=NAME)
    x = xt.array(host(3), "a")
    for given in (x, x.to(NAME), xr.DataArray(host(3), dims="a")):
        y, more = f(given, 2.0)
        assert np.asarray(y).tolist() == [0, 2, 4]
        assert float(more["sum"]) == 3
    y, more = f(x, 2.0)
    assert (y.device, more["sum"].device) == (NAME, NAME)
    back = xt.jit(lambda x: x + 1, device="cpu")(x.to(NAME))
    assert back.device == "cpu"


@needs_device
def test_arrays_from_outside_go_where_the_function_runs():
    x, w = xt.array(host(2), "a"), xt.array(host(2), "a")
    f = xt.jit(lambda x: x * w)
    assert f(x.to(NAME)).device == NAME
    assert f(x.to(NAME)).values.tolist() == [0, 1]
    assert f(x).device == "cpu"
    there = w.to(NAME)
    assert xt.jit(lambda: there * 2)().device == NAME
    assert xt.jit(lambda x: x * there)(x).device == "cpu"
    assert xt.jit(lambda x: x + xt.array(host(2), "a"))(there).values.tolist() == [0, 2]


@needs_device
def test_option_makes_new_arrays_there():
    with xt.option(device=NAME):
        assert xt.array(host(2), "a").device == NAME
        assert xt.zeros(a=2).device == NAME
        assert xt.arange(3, dim="a").device == NAME
        assert xt.add(1.0, 2.0).device == NAME
        assert xt.jit(lambda s: s * 2)(3.0).device == NAME
        assert xt.array(host(2), "a", device="cpu").device == "cpu"
        assert (xt.array(host(2), "a", device="cpu") + 1.0).device == "cpu"
        assert xt.from_dlpack(host(2), "a").device == NAME
    assert xt.add(1.0, 2.0).device == "cpu"
    assert xt.array(host(2), "a").device == "cpu"


@needs_device
def test_the_option_is_of_the_block_and_of_the_thread():
    seen = []
    with xt.option(device=NAME):
        other = threading.Thread(target=lambda: seen.append(xt.array(1.0).device))
        other.start()
        other.join()
    assert seen == [xt.array(1.0).device] or seen == [os.environ.get("XTENSOR_TEST_DEVICE")]


@needs_device
def test_traced_arrays_say_where_they_will_be():
    seen = []
    f = xt.jit(lambda x: seen.append(x.device) or x.to(x.device))
    f(xt.array(1.0))
    f(xt.array(1.0, device=NAME))
    assert seen == ["cpu", NAME]
    with pytest.raises(xt.DeviceError, match="runs on one device"):
        xt.jit(lambda x: x.to(NAME))(xt.array(1.0))


@needs_device
def test_positions_and_masks():
    x = xt.array(host(5), "a", device=NAME)
    assert x.isel(a=[3, 0]).values.tolist() == [3, 0]
    assert x.isel(a=np.array([1, 1])).values.tolist() == [1, 1]
    assert x.isel(a=xt.array([4, 2], "b", device=NAME)).values.tolist() == [4, 2]
    assert x[x > 2.5].values.tolist() == [3, 4]
    assert x.at(a=[0, 1]).add(10.0).values.tolist() == [10, 11, 2, 3, 4]
    with pytest.raises(xt.DeviceError, match="are on one device"):
        x.isel(a=xt.array([4, 2], "b"))


@needs_device
def test_transforms_stay_on_the_device():
    x = xt.array(host(3) + 1, "a", device=NAME)
    want = host(3) + 1

    def loss(x):
        return (x * x * x).sum()

    for got in (xt.grad(loss)(x), xt.vjp(loss, x)[1](1.0)[0], xt.jit(xt.grad(loss))(x)):
        assert got.device == NAME
        np.testing.assert_allclose(got.values, 3 * want**2, rtol=1e-5)
    value, gradient = xt.value_and_grad(loss)(x)
    assert (value.device, gradient.device) == (NAME, NAME)
    y, push = xt.linearize(loss, x)
    t = push(xt.ones_like(x))
    assert (y.device, t.device) == (NAME, NAME)
    np.testing.assert_allclose(t.item(), (3 * want**2).sum(), rtol=1e-5)
    y, t = xt.jvp(loss, (x,), (xt.ones_like(x),))
    assert t.device == NAME
    assert xt.hvp(loss, (x,), (xt.ones_like(x),)).device == NAME
    per = xt.vectorize(lambda x: x * 2, "a")(x)
    assert per.device == NAME
    carry, ys = xt.scan(lambda c, v: (c + v, c * v), xt.array(np.float32(0), device=NAME), x, dim="a")
    assert (carry.device, ys.device) == (NAME, NAME)
    assert carry.item() == want.sum()


@needs_device
def test_dynamic_dims():
    f = xt.jit(lambda x: x * 2, dynamic_dims="a")
    for n in (3, 5, 3):
        y = f(xt.array(host(n), "a", device=NAME))
        assert y.device == NAME
        assert y.values.tolist() == [2 * i for i in range(n)]


@needs_device
def test_ints_that_do_not_fit_are_refused_as_on_the_cpu():
    x = xt.array([1, 2], "a", dtype="u1", device=NAME)
    f = xt.jit(lambda x, n: x + n)
    assert f(x, 3).values.tolist() == [4, 5]
    assert f(x, 4).values.tolist() == [5, 6]
    with pytest.raises(xt.ArgumentError, match="300 does not fit uint8"):
        f(x, 300)
