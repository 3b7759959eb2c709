"""xt.jit(donate=): calls that take arguments over. NumPy says what the results are; `_pointer` where they lie."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
import xtensor as xt

pytestmark = pytest.mark.cpu_only("devices do not reuse memory: test_device_features.py")

A = np.arange(12.0, dtype="f4").reshape(3, 4)
G = np.linspace(-1, 1, 12, dtype="f4").reshape(3, 4)


def own(values: Any = A, dims: Any = ("i", "j")) -> Any:
    """An array whose memory is its own, not NumPy's."""
    return xt.array(values, dims=dims, copy=True) * 1


def step(p: Any, g: Any) -> Any:
    return p - 0.5 * g


def update(x: Any, v: Any) -> Any:
    return x.at(i=1).add(v)


def softmax(x: Any, _: Any) -> Any:
    return xt.nn.softmax(x, dim="j")


def loop(x: Any, g: Any) -> Any:
    return xt.fori_loop(0, 3, lambda _, c: c * g + 1, x)


def scanned(x: Any, xs: Any) -> Any:
    return xt.scan(lambda c, v: (c + v, c.sum()), x, xs, dim="t")


def indexed(x: Any, k: Any) -> Any:
    return x.at(i=k).add(1.0)


E = np.exp(A - A.max(1, keepdims=True))
CASES: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "step": (step, own(G), A - np.float32(0.5) * G),
    "update": (update, own(G[0], "j"), A + np.array([[0], [1], [0]], "f4") * G[0]),
    "inner update": (lambda x, v: x.at(j=2).set(v), own(G[:, 0], "i"), np.where(np.arange(4) == 2, G[:, :1], A)),
    "update by index": (indexed, xt.array([2, 2, 0], "n"), A + np.array([[1], [0], [2]], "f4")),
    "softmax": (softmax, 0, E / E.sum(1, keepdims=True)),
    "loop": (loop, own(G), ((A * G + 1) * G + 1) * G + 1),
    "returned": (lambda x, _: x, 0, A),
}


@pytest.mark.parametrize("case", CASES)
def test_results_lie_where_the_argument_did(case: str) -> None:
    f, other, want = CASES[case]
    x = own()
    place = x._pointer
    got = xt.jit(f, donate=0)(x, other)
    np.testing.assert_allclose(got.values, want, rtol=1e-6)
    assert got._pointer == place


def test_scan_works_in_the_memory_of_its_carry() -> None:
    x, xs = own(), own(np.ones((5, 3, 4), "f4"), ("t", "i", "j"))
    place = x._pointer
    last, sums = xt.jit(scanned, donate="x")(x, xs)
    assert last._pointer == place
    np.testing.assert_array_equal(last.values, A + 5)
    np.testing.assert_array_equal(sums.values, [A.sum() + 12 * t for t in range(5)])


def test_what_is_read_later_is_not_overwritten() -> None:
    x = own()
    place = x._pointer
    y, total, turned = xt.jit(lambda x: (x * 2, x.sum("i"), x.isel(j=slice(None, None, -1))), donate=0)(x)
    assert place not in (y._pointer, total._pointer)
    for got, want in ((y, A * 2), (total, A.sum(0)), (turned, A[:, ::-1])):
        np.testing.assert_array_equal(got.values, want)
    shifted = xt.jit(lambda x: x + x.roll(i=1), donate=0)(own())
    np.testing.assert_array_equal(shifted.values, A + np.roll(A, 1, 0))


def test_trees_names_and_static_arguments() -> None:
    def train(state: Any, grads: Any, *, how: str, rate: float) -> Any:
        assert how == "plain"
        return {k: p - rate * grads[k] for k, p in state.items()}, grads["w"].sum()

    f = xt.jit(train, donate="state", static="how")
    state = {"w": own(), "b": own(A[0], "j")}
    grads = {"w": own(G), "b": own(G[0], "j")}
    places = {k: p._pointer for k, p in state.items()}
    for rate in (0.5, 0.25):
        state, _ = f(state, grads, how="plain", rate=rate)
    assert {k: p._pointer for k, p in state.items()} == places
    np.testing.assert_array_equal(state["w"].values, A - np.float32(0.75) * G)
    np.testing.assert_array_equal(grads["w"].values, G)
    keyword = own()
    moved = xt.jit(step, donate="g")(g=keyword, p=own())
    np.testing.assert_array_equal(moved.values, A - np.float32(0.5) * A)
    with pytest.raises(xt.ArgumentError, match="was given to step"):
        keyword.values  # noqa: B018


@pytest.mark.parametrize("share", ["values", "dlpack", "buffer", "view", "numpy's"])
def test_shared_memory_is_copied(share: str) -> None:
    f = xt.jit(step, donate=0)
    x = xt.array(source := A.copy(), dims=("i", "j")) if share == "numpy's" else own()
    seen = {
        "values": lambda: x.values,
        "dlpack": lambda: np.from_dlpack(x),
        "buffer": lambda: memoryview(x),
        "view": lambda: x.isel(i=slice(1, None)),
        "numpy's": lambda: source,
    }[share]()
    place = x._pointer
    got = f(x, own(G))
    assert got._pointer != place
    np.testing.assert_array_equal(got.values, A - np.float32(0.5) * G)
    np.testing.assert_array_equal(np.asarray(seen), A[1:] if share == "view" else A)
    with pytest.raises(xt.ArgumentError, match="took its memory"):
        x + 1
    del seen
    y = own()
    place, values = y._pointer, y.values
    del values  # nothing shares it any more
    assert f(y, own(G))._pointer == place


def test_a_view_that_alone_is_left() -> None:
    x = own()._with_meta(None)  # nobody else has the array that owns the memory
    place = x._pointer
    assert xt.jit(lambda x: x + 1, donate=0)(x)._pointer == place


def test_one_array_in_two_places() -> None:
    f, x = xt.jit(step, donate=0), own()
    np.testing.assert_array_equal(f(x, x).values, A / 2)
    both, x = xt.jit(lambda t: (t["a"] + 1, t["b"] * 2), donate=0), own()
    a, b = both({"a": x, "b": x})
    np.testing.assert_array_equal(a.values, A + 1)
    np.testing.assert_array_equal(b.values, A * 2)
    x = own()
    np.testing.assert_array_equal(f(x, x.isel(i=slice(0, 3))).values, A / 2)


def test_captured_arrays_keep_their_values() -> None:
    x = own()
    reads = xt.jit(lambda y: x + y)
    np.testing.assert_array_equal(reads(1.0).values, A + 1)
    np.testing.assert_array_equal(xt.jit(step, donate=0)(x, x).values, A / 2)
    np.testing.assert_array_equal(reads(2.0).values, A + 2)


def test_numbers_and_dataarrays_are_not_taken() -> None:
    f = xt.jit(lambda x, y: (x + 1, y * 2), donate=(0, 1))
    array = xr.DataArray(A.copy(), dims=("i", "j"), coords={"i": [1, 2, 3]})
    for _ in range(2):
        a, b = f(array, 2.0)
        np.testing.assert_array_equal(a.values, A + 1)
        assert a.coords["i"].values.tolist() == [1, 2, 3] and float(b) == 4.0
    np.testing.assert_array_equal(array.values, A)
    labelled = xt.as_array(array) * 1
    out = f(labelled, 1.0)[0]
    assert out.to_xarray().coords["i"].values.tolist() == [1, 2, 3]


def test_uses_of_a_donated_array() -> None:
    x = own()
    f = xt.jit(step, donate="p")
    y = f(x, own(G))
    uses: dict[str, Callable[[], Any]] = {
        "op": lambda: xt.exp(x),
        "method": lambda: x.sum("i"),
        "operator": lambda: x + 1,
        "values": lambda: x.values,
        "numpy": lambda: np.asarray(x),
        "dlpack": lambda: np.from_dlpack(x),
        "dlpack copy": lambda: x.__dlpack__(copy=True),
        "buffer": lambda: memoryview(x),
        "xarray": lambda: x.to_xarray(),
        "rename": lambda: x.rename(i="k"),
        "iteration": lambda: list(x),
        "pickle": lambda: pickle.dumps(x),
        "again": lambda: f(x, own(G)),
        "second argument": lambda: f(own(), x),
        "captured": lambda: xt.jit(lambda y: x + y)(1.0),
        "stages": lambda: f.lower(y, y).compile()(x, y),
        "loop": lambda: xt.fori_loop(0, 2, lambda _, c: c + 1, x),
        "gradient": lambda: xt.grad(lambda x: x.sum())(x),
    }
    for name, use in uses.items():
        with pytest.raises(xt.ArgumentError) as error:
            use()
        text = str(error.value)
        assert "float32 (i: 3, j: 4), was given to step at " in text, name
        assert __file__.rpartition("/")[2] in text.split("which took its memory")[0], name
        assert "xt.array(x, copy=True)" in text, name
    assert x.dims == ("i", "j") and x.sizes == {"i": 3, "j": 4} and x.dtype == "f4"
    assert "(i: 3, j: 4) float32, whose memory step took at" in repr(x)
    assert "whose memory step took" in x._repr_html_()
    np.testing.assert_array_equal(y.values, A - np.float32(0.5) * G)


def test_a_call_that_fails_has_taken_its_arguments() -> None:
    x = own()
    with pytest.raises(IndexError):
        xt.jit(indexed, donate=0)(x, xt.array([7], "n"))
    with pytest.raises(xt.ArgumentError, match="was given to indexed"):
        x.values  # noqa: B018
    y = own()
    with pytest.raises(xt.DimensionError):  # it did not run
        xt.jit(lambda x: x.sum("k"), donate=0)(y)
    np.testing.assert_array_equal(y.values, A)


def test_open_sizes() -> None:
    f = xt.jit(step, donate=0, dynamic_dims="i")
    for n in (3, 5, 1, 3):
        x, g = own(np.ones((n, 4), "f4")), own(np.ones((n, 4), "f4"))
        place = x._pointer
        y = f(x, g)
        assert y._pointer == place and y.sizes == {"i": n, "j": 4}
        np.testing.assert_array_equal(y.values, np.full((n, 4), 0.5, "f4"))
    empty = f(own(np.ones((0, 4), "f4")), own(np.ones((0, 4), "f4")))
    assert empty.sizes == {"i": 0, "j": 4}


def test_other_transforms_do_not_donate() -> None:
    loss = xt.jit(lambda p: xt.sum(p * p), donate=0)
    p = own()
    np.testing.assert_array_equal(xt.grad(loss)(p).values, 2 * A)
    np.testing.assert_array_equal(xt.jit(lambda p: loss(p) + xt.sum(p))(p).values, (A * A).sum() + A.sum())
    np.testing.assert_array_equal(p.values, A)
    train = xt.jit(lambda p, x: p - 0.1 * xt.grad(lambda p: xt.sum(xt.square(p * x)))(p), donate="p")
    place, x = p._pointer, own(G)
    got = train(p, x)
    np.testing.assert_allclose(got.values, A - np.float32(0.1) * 2 * A * G * G, rtol=1e-6)
    assert got._pointer == place


def test_stages_and_bundles(tmp_path: Any) -> None:
    f = xt.jit(step, donate=0)
    assert f.cost(own(), own(G))["reused"] == A.nbytes
    assert "reused" not in xt.jit(step).cost(own(), own(G))
    assert "xtensor.reused = 0" in f.as_text("buffers", own(), own(G))
    compiled, x = f.lower(own(), own(G)).compile(), own()
    place = x._pointer
    assert compiled(x, own(G))._pointer == place
    loaded = xt.load(xt.export(f, args=(own(), own(G))))
    x = own()
    for _ in range(2):
        np.testing.assert_array_equal(loaded(x, own(G)).values, A - np.float32(0.5) * G)
    again = pickle.loads(pickle.dumps(xt.jit(np_step, donate=0)))
    place = x._pointer
    assert again(x, own(G))._pointer == place


def np_step(p: Any, g: Any) -> Any:
    return p - g


def test_a_call_in_another_thread_reads_on() -> None:
    big = own(np.ones((400, 400), "f4"))
    reads, takes = xt.jit(lambda x: xt.fori_loop(0, 400, lambda _, c: xt.tanh(c) + x, x)), xt.jit(step, donate=0)
    takes(own(np.ones((400, 400), "f4")), big)
    want = reads(big).values.copy()
    got: list[Any] = []
    started = threading.Event()

    def read() -> None:
        started.set()
        got.append(reads(big))

    thread = threading.Thread(target=read)
    thread.start()
    started.wait()
    moved = takes(big, own(np.full((400, 400), 3.0, "f4")))
    thread.join()
    assert (moved.values == -0.5).all()
    if got:  # else the call came after the other one
        np.testing.assert_array_equal(got[0].values, want)


PEAK = """
import sys
import xtensor as xt
def peak():  # KiB; not ru_maxrss, which a parent process hands on
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
fs = [xt.jit(f, donate=sys.argv[1:]) for f in (lambda x, v: x.at(i=3).add(v), lambda x, v: x * 0.5 + v)]
for f in fs:
    f(xt.zeros(i=4, j=4, dtype="f4"), 1.0)
x = xt.jit(lambda: xt.full(0.5, i=4096, j=4096, dtype="f4"))()
before = peak()
for n in range(2):
    for f in fs:
        x = f(x, float(n))
print(peak() - before, x.sum().item())
"""


def test_peak_memory() -> None:
    """An update and a step of a 64 MiB array: with donate there is one of it, else two."""

    def grown(*names: str) -> tuple[float, float]:
        command = [sys.executable, "-c", PEAK, *names]
        kib, total = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return int(kib) / 65536, float(total)

    (plain, want), (donated, got) = grown(), grown("x")
    assert got == want
    assert donated < 0.25 and plain > 0.75


def test_wrong_names() -> None:
    with pytest.raises(xt.ArgumentError, match=r"xt.jit\(donate='q'\): step has no parameter 'q'"):
        xt.jit(step, donate="q")
    with pytest.raises(xt.ArgumentTypeError, match="donate= takes names or positions"):
        xt.jit(step, donate=1.5)
