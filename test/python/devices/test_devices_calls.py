"""Calls on devices: indices out of range, threads, waits, callbacks, and errors that name what is elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import xtensor as xt
from chosen_device import NAME, host, needs_device, on_the_cpu  # noqa: F401 (used by every test)
from places import frames_of_the_package
from xtensor import _native
from xtensor.values import devices

# -- reports of indices -----------------------------------------------------------------------------------------------


@needs_device
def test_an_index_out_of_range_is_told_when_a_value_is_read():
    x = xt.array(host(3), "a", device=NAME)
    bad = xt.array([0, 7], "b", device=NAME)
    gather = xt.jit(lambda x, i: x.isel(a=i))
    on_cpu = xt.jit(lambda x, i: x.isel(a=i))
    with pytest.raises(xt.IndexError) as want:
        on_cpu(x.to("cpu"), bad.to("cpu"))
    y = gather(x, bad)  # does not wait, so does not know
    later = (y * 2.0 + x.sum()).sum()
    for read in (
        lambda: y.values,
        lambda: later.item(),
        lambda: y.to("cpu"),
        lambda: repr(y),
        lambda: next(iter(y)).item(),
    ):
        with pytest.raises(xt.IndexError, match="index 7 is out of range for size 3 of dim 'a'") as got:
            read()
        assert str(got.value).split("\n")[0] == str(want.value).split("\n")[0]
    good = gather(x, xt.array([0, 2], "b", device=NAME))
    assert good.values.tolist() == [0, 2]
    assert (x + 1.0).values.tolist() == [1, 2, 3]


@needs_device
def test_calls_that_check_indices_may_wait():
    x = xt.array(host(3), "a", device=NAME)
    gather = xt.jit(lambda x, i: x.isel(a=i))
    gather(x, xt.array([0, 1], "b", device=NAME))
    _native.set_waiting(True)
    with pytest.raises(xt.IndexError, match="index 7"):
        gather(x, xt.array([0, 7], "b", device=NAME))


@needs_device
def test_long_chains_keep_the_first_report():
    x = xt.array(host(3), "a", device=NAME)
    step = xt.jit(lambda x, i: x.at(a=i).add(1.0) * 1.0 + x.isel(a=i) * 0.0)
    y = x
    for n in range(200):
        y = step(y, n % 3 if n != 20 else 5)
    with pytest.raises(xt.IndexError, match="index 5"):
        y.item() if y.size == 1 else y.values
    y = x
    for n in range(200):
        y = step(y, n % 3)
    np.testing.assert_allclose(y.values.sum(), x.values.sum() + 200)


# -- calls ------------------------------------------------------------------------------------------------------------


@needs_device
def test_calls_in_threads():
    f = xt.jit(lambda x, s: (x * s).sum())
    x = xt.array(host(100), "a", device=NAME)
    f(x, 1.0)
    found = {}

    def work(k):
        found[k] = [f(x, float(k)).item() for _ in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == {k: [4950.0 * k] * 20 for k in range(4)}


@needs_device
def test_calls_do_not_wait():
    device = devices.named(NAME)
    f = xt.jit(lambda x: x * 1.5 + 1.0)
    x = xt.array(host(1000), "a", device=NAME)
    f(x).values  # noqa: B018
    waits = device.counters["waits"]
    y = x
    for _ in range(5):
        y = f(y)
    assert device.counters["waits"] == waits
    assert y.values.shape == (1000,)


@needs_device
def test_a_function_of_c_runs_one_signature_per_device():
    f = xt.jit(lambda x: x + 1.0)
    x = xt.array(host(2), "a")
    f(x)
    f(x.to(NAME))
    assert f.size == 2
    assert f(x).device == "cpu"
    assert f(x.to(NAME)).device == NAME
    assert f.size == 2


@needs_device
def test_the_process_ends_before_its_kernels_are_compiled():
    """Drivers compile on threads of their own, and take the compiler apart at the exit."""
    code = (
        f"import numpy as np, xtensor as xt; x = xt.array(np.ones((300, 300), 'f4'), ('a', 'b'), device={NAME!r});"
        "y = xt.exp(x) @ x.rename(a='c')"
    )
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "XTENSOR_CACHE_DIR": ""}, timeout=300)
        assert done.returncode == 0


@needs_device
def test_what_is_made_of_a_function_runs_where_it_was_asked_to():
    f = xt.jit(lambda x: (x * x).sum(), device=NAME)
    x = xt.array(host(3), "a")
    assert xt.grad(f)(x).device == NAME
    value, gradient = xt.value_and_grad(f)(x)
    assert value.device == gradient.device == NAME
    assert xt.jacobian(f)(x).device == xt.hessian(f)(x).device == NAME
    assert [y.device for y in xt.jvp(f, (x,), (x,))] == [NAME, NAME]
    assert xt.vectorize(xt.jit(lambda x: x + 1, device=NAME), "a")(x).device == NAME
    np.testing.assert_array_equal(xt.grad(f)(x).values, 2 * host(3))
    there = xt.grad(xt.jit(lambda x: (x * x).sum(), device="cpu"))(x.to(NAME))
    assert there.device == "cpu"


@needs_device
def test_updates_name_what_is_elsewhere():
    x = xt.array(host(3), "t", device=NAME)
    index = xt.array([0, 2], "t")
    what = rf"^xt\.at\.add: the array is on '{NAME}' and the index of 't' on 'cpu' \(operands: .*x\.to\("
    with pytest.raises(xt.DeviceError, match=what):
        x.at(t=index).add(1.0)
    with pytest.raises(xt.DeviceError, match=r"^xt\.at\.set: .* and the value on 'cpu'"):
        x.at(t=[0, 1]).set(xt.array(host(2), "t"))


def test_names_of_devices():
    x = xt.zeros(a=2)
    assert x.to("cpu:0").to(xt.devices()[0]).device == "cpu"
    with pytest.raises(xt.DeviceError, match=r"no device 'Vulkan'.*did you mean 'vulkan'"):
        x.to("Vulkan")
    with pytest.raises(xt.DeviceError) as caught:
        x.to("v" * 100000)
    assert len(str(caught.value)) < 1000
    with pytest.raises(xt.DeviceError) as caught:
        xt.option(device="foo")
    assert len(frames_of_the_package(caught.value)) <= 1


@needs_device
def test_vectorize_is_checked_where_the_arrays_are():
    x = xt.array(host(5, 3), ("i", "b"), device=NAME)
    xt.testing.check_vectorized(lambda a: xt.sum(xt.tanh(a)), (x,), "b")


def test_dtypes_that_a_device_lacks_are_told_by_their_place():
    f = xt.jit(lambda a, b: a + b)
    given = xt.spec(time=4, dtype="f4"), xt.spec(time=4)
    what = r"argument 1 of <lambda> is float64 \(time: 4\), and the device 'metal' has no float64"
    with pytest.raises(xt.DeviceError, match=what):
        f.lower(*given, device="metal").as_text("msl")
    with pytest.raises(xt.DeviceError, match=r"result 0 of <lambda> is float64 \(time: 4\)"):
        xt.jit(lambda a: a.astype("f8")).lower(given[0], device="metal").as_text("msl")
    # Python floats are none of them.
    lowered = xt.jit(lambda a, b: a - b * a).lower(given[0], 0.1, device="metal")
    assert lowered.inputs[1].dtype == np.float32
    assert "f64" not in lowered.as_text("gpu")


@needs_device
def test_tracebacks_of_what_devices_find_hold_the_users_frames():
    x = xt.array(host(3), "t", device=NAME)
    i = xt.array([7], "t", device=NAME)
    lowered = xt.jit(lambda a: a + 1.0).lower(xt.spec(time=4), device="metal")
    programs = {
        "values": lambda: x[{"t": i}].values,
        "float": lambda: float(x[{"t": i}].sum()),
        "item": lambda: x[{"t": i}].sum().item(),
        "to": lambda: x.to("cuda:99"),
        "text": lambda: lowered.as_text("msl"),
    }
    for name, program in programs.items():
        with pytest.raises(xt.Error) as caught:
            program()
        assert len(frames_of_the_package(caught.value)) <= 1, name


@needs_device
def test_callbacks_get_arrays_on_the_cpu_and_their_results_are_on_the_device():
    """Compiled or not."""
    x, seen = xt.array(host(3, 4), dims=("a", "b")).to(NAME), []

    def f(v):
        return xt.callback(lambda v: seen.append(v.device) or v.values * 2, v, result=v)

    for jit, call in ((True, xt.jit(f)), (True, f), (False, xt.jit(f))):
        with xt.option(jit=jit):
            y = call(x)
        assert y.device == NAME
        np.testing.assert_array_equal(y.values, 2 * x.values)
    assert seen == ["cpu"] * 3


@needs_device
def test_a_read_does_not_hold_the_interpreter_that_a_callback_waits_for():
    """A program in a callback has the device's lock, and a copy on the device waits for it."""
    x = xt.array(host(3, 4), dims=("a", "b")).to(NAME)
    began = threading.Event()

    def slow(v):
        began.set()
        time.sleep(0.2)  # without the interpreter's lock
        return v

    f = xt.jit(lambda v: xt.callback(slow, v, result=v) + 1)
    thread = threading.Thread(target=lambda: f(x).values)
    thread.start()
    assert began.wait(60)
    row = x.isel(a=1)
    thread.join(60)
    assert not thread.is_alive()
    np.testing.assert_array_equal(row.values, x.values[1])
