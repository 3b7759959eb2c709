"""jit: what is traced, how often, and that any shape of arguments and results goes through."""

import copy
import os
import pickle
import signal
import sys
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import xtensor as xt
from against import WEAK_FLOAT

x = xt.array(np.arange(12, dtype="f4").reshape(3, 4), dims=("a", "b"))
y = xt.array(np.arange(4, dtype="f4"), dims="b")
Pair = namedtuple("Pair", "first second")


@dataclass
class Model:
    w: object
    bias: object
    name: str = "linear"


class Counted:
    """A function that counts its traces."""

    def __init__(self, fn):
        self.fn = fn
        self.traces = 0
        self.jit = xt.jit(self)

    def __call__(self, *args, **kwargs):
        self.traces += 1
        return self.fn(*args, **kwargs)


def test_the_result_is_what_the_function_gives():
    f = xt.jit(lambda x, y: x * y + 1.0)
    for _ in range(3):
        np.testing.assert_allclose(f(x, y).values, x.values * y.values + 1)
        assert f(x, y).dims == ("a", "b")


def test_one_trace_per_dims_sizes_and_dtype():
    f = Counted(lambda x: x + 1)
    for _ in range(3):
        f.jit(x)
        f.jit(y)
    assert f.traces == 2
    f.jit(x.astype("f8"))
    assert f.traces == 3
    f.jit(xt.array(x.values, dims=("b", "a")))
    assert f.traces == 4


def test_python_numbers_are_arguments_and_compile_once():
    f = Counted(lambda x, s: x * s)
    for s in (2.0, 3.0, -1.5):
        out = f.jit(x, s)
        assert out.dtype == np.float32  # a Python float is weak
        np.testing.assert_allclose(out.values, x.values * s)
    assert f.traces == 1
    f.jit(x, 2)
    assert f.traces == 2
    np.testing.assert_allclose(f.jit(x, np.float64(2.0)).values, x.values * 2.0)
    assert f.jit(x, np.float64(2.0)).dtype == np.float64  # a NumPy float is not
    assert f.traces == 3


def test_keywords_and_defaults():
    f = Counted(lambda x, scale=2.0, *, shift=1.0: x * scale + shift)
    np.testing.assert_allclose(f.jit(x).values, x.values * 2 + 1)
    np.testing.assert_allclose(f.jit(x, shift=0.5).values, x.values * 2 + 0.5)
    np.testing.assert_allclose(f.jit(x, shift=0.25, scale=y).values, x.values * y.values + 0.25)


def test_static_arguments_by_name_and_position():
    calls = []

    def power(x, n, mode="up"):
        calls.append((n, mode))
        assert isinstance(n, int)
        for _ in range(n - 1):
            x = x * x if mode == "up" else x
        return x

    for f in (xt.jit(power, static=("n", "mode")), xt.jit(power, static=(1, 2))):
        calls.clear()
        np.testing.assert_allclose(f(y, 2).values, y.values**2)
        np.testing.assert_allclose(f(y, n=2).values, y.values**2)
        np.testing.assert_allclose(f(y, 2, mode="down").values, y.values)
        np.testing.assert_allclose(f(y, 2).values, y.values**2)
        assert calls == [(2, "up"), (2, "up"), (2, "down")]


@dataclass(frozen=True)
class Factor:
    value: object


@pytest.mark.parametrize(
    "wrap", [lambda v: v, lambda v: (v,), lambda v: ("k", (v, 2)), Factor, lambda v: Factor((v,)),
             lambda v: frozenset([v])]
)  # fmt: skip
def test_static_values_are_told_apart_where_they_are_equal(wrap):
    def unwrap(k):
        while not isinstance(k, (int, float, np.number)):
            k = k.value if isinstance(k, Factor) else k[-1][0] if len(k) == 2 else next(iter(k))
        return k

    counted = Counted(lambda x, k: x * unwrap(k))
    f = xt.jit(counted, static="k")
    ints = xt.array([1, 2], dims="a")
    for _ in range(2):
        assert f(ints, k=wrap(1)).dtype == np.dtype("i8")
        assert f(ints, k=wrap(1.0)).dtype == WEAK_FLOAT
        assert not np.signbit(f(ints, k=wrap(0.0)).values).any()
        assert np.signbit(f(ints, k=wrap(-0.0)).values).all()
        assert f(ints, k=wrap(np.float32(1))).dtype == np.dtype("f8")
    assert counted.traces == 5


def test_static_values_that_are_equal_but_of_other_types_differ():
    f = xt.jit(lambda x, n: x if isinstance(n, bool) else x + n, static="n")
    assert f(y, 1).values[0] == 1
    assert f(y, True).values[0] == 0


def test_strings_and_dtypes_need_no_declaration():
    f = xt.jit(lambda x, how, to: (x.sum() if how == "sum" else x.max()).astype(to))
    assert f(y, "sum", np.dtype("f8")).dtype == np.float64
    assert f(y, "sum", "f4").item() == 6
    assert f(y, "max", "f4").item() == 3


def test_decorator_with_and_without_arguments():
    @xt.jit
    def plain(x):
        """Twice."""
        return x * 2

    @xt.jit(static="n")
    def with_arguments(x, n):
        return x * n

    assert plain.__name__ == "plain"
    assert plain.__doc__ == "Twice."
    assert plain(y).values[1] == 2
    assert with_arguments(y, 3).values[1] == 3
    assert "plain" in repr(plain)


def scaled(x, n):
    return x * n


@xt.jit
def decorated(x):
    return x * 2


def test_jitted_functions_are_copied_and_sent_to_other_processes():
    f = xt.jit(scaled, static="n")
    for again in (copy.deepcopy({"layer": f})["layer"], pickle.loads(pickle.dumps(f))):
        assert again(y, 3).values.tolist() == [0, 3, 6, 9]
    assert copy.deepcopy(decorated) is decorated
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_methods_can_be_jitted():
    class Scaler:
        def __init__(self, s):
            self.s = s

        @partial(xt.jit, static=0)
        def apply(self, x):
            return x * self.s

    assert Scaler(2.0).apply(y).values[1] == 2
    assert Scaler(3.0).apply(y).values[1] == 3


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_any_number_of_arguments_and_results(count):
    f = xt.jit(lambda *xs: tuple(v + 1 for v in xs))
    out = f(*[y] * count)
    assert isinstance(out, tuple)
    assert len(out) == count
    for v in out:
        np.testing.assert_allclose(v.values, y.values + 1)


def test_no_results():
    assert xt.jit(lambda x: None)(x) is None
    assert xt.jit(dict)() == {}


def test_pytrees_in_and_out():
    @xt.jit
    def f(params, pair):
        h = params["w"] * pair.first + params["b"][0]
        return {"out": h, "pair": Pair(h.sum(), None), "list": [pair.second, (h,)]}

    params = {"w": x, "b": [y]}
    for _ in range(2):
        out = f(params, Pair(y, 2.0))
        want = x.values * y.values + y.values
        np.testing.assert_allclose(out["out"].values, want)
        np.testing.assert_allclose(out["pair"].first.values, want.sum())
        assert out["pair"].second is None
        assert out["list"][0].item() == 2.0
        assert list(out) == ["out", "pair", "list"]


def test_dataclasses_are_pytrees():
    step = xt.jit(lambda m: Model(m.w * 2, m.bias, m.name))
    out = xt.jit(lambda m: m.w * m.bias)(Model(x, y))
    np.testing.assert_allclose(out.values, x.values * y.values)
    with pytest.raises(xt.ArgumentTypeError, match="returned"):
        step(Model(x, y))  # a string cannot come out


def test_results_may_be_arguments_constants_and_repeated():
    f = xt.jit(lambda x, y: (x, y, y, 3.0, xt.array(2)))
    for _ in range(2):
        a, b, c, three, two = f(x, y)
        np.testing.assert_array_equal(a.values, x.values)
        np.testing.assert_array_equal(b.values, y.values)
        np.testing.assert_array_equal(c.values, y.values)
        assert three.item() == 3.0
        assert two.item() == 2


@pytest.mark.cpu_only("memory is shared with NumPy, which changes it")
def test_captured_arrays_are_read_at_each_call():
    data = np.ones(4, "f4")
    scale = xt.array(data, "b")
    f = xt.jit(lambda x: x * scale)
    np.testing.assert_allclose(f(y).values, y.values)
    data[:] = 2
    np.testing.assert_allclose(f(y).values, y.values * 2)
    assert "dense" not in f.trace(y).as_text()


def test_one_array_twice():
    f = xt.jit(lambda a, b: a * b)
    np.testing.assert_allclose(f(y, y).values, y.values**2)


def test_jit_inside_jit_and_of_jit():
    inner = xt.jit(lambda x: x * 2)
    outer = xt.jit(lambda x: inner(x) + inner(y))
    np.testing.assert_allclose(outer(y).values, y.values * 4)
    np.testing.assert_allclose(xt.jit(outer)(y).values, y.values * 4)


def test_a_compiled_function_called_inside_a_trace_is_traced():
    inner = xt.jit(lambda x: x * 2)
    inner(y)
    text = xt.jit(lambda x: x + inner(y)).trace(y).as_text()
    assert "xtensor.mul" in text


@pytest.mark.parametrize("n", [0, 1, 5, 64])
def test_dynamic_dims_compile_once_for_every_size(n):
    f = dynamic.jit
    v = xt.array(np.arange(n * 4, dtype="f4").reshape(n, 4), dims=("batch", "b"))
    np.testing.assert_allclose(f(v, y).values, np.tanh(v.values * y.values).sum(1), rtol=1e-5)
    assert dynamic.traces == 1


dynamic = Counted(lambda v, y: xt.tanh(v * y).sum("b"))
dynamic.jit = xt.jit(dynamic, dynamic_dims=("batch",))


def test_dynamic_sizes_are_no_numbers():
    def f(v):
        assert v.sizes["b"] == 4
        return v * int(v.sizes["batch"])

    v = xt.array(np.ones((3, 4)), dims=("batch", "b"))
    with pytest.raises(xt.ArgumentTypeError, match="dynamic_dims"):
        xt.jit(f, dynamic_dims="batch")(v)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_dynamic_sizes_in_arithmetic(dtype):
    def f(v):
        n = v.sizes["batch"]
        return v.sum() / n, v * n, (n + 1) // 2, -n % 5, v.sum() / v.size, n > 2

    static, dynamic = xt.jit(f), xt.jit(f, dynamic_dims="batch")
    for n in (1, 3):
        v = xt.array(np.arange(4 * n).reshape(n, 4), dims=("batch", "b"), dtype=dtype)
        for got, want in zip(dynamic(v), static(v), strict=True):
            np.testing.assert_array_equal(got.values, want.values)
        for got, want in zip(dynamic(v)[:2], static(v)[:2], strict=True):
            assert got.dtype == want.dtype


def test_dynamic_dims_of_one_name_have_one_size():
    f = xt.jit(lambda p, q: p + q, dynamic_dims="i")
    a, b = xt.array([1.0], "i"), xt.array([1.0, 2.0], "i")
    f(a, a)
    with pytest.raises(xt.SizeError, match="'i'"):
        f(a, b)


def test_options_are_part_of_what_is_compiled_for():
    a, b = xt.array([1.0, 2.0], "a"), xt.array([1.0, 2.0, 3.0], "b")
    f = xt.jit(lambda a, b: a * b)
    assert f(a, b).dims == ("a", "b")
    with xt.option(outer="forbid"), pytest.raises(xt.DimensionError):
        f(a, b)
    with xt.option(outer="forbid"), pytest.raises(xt.DimensionError):
        a * b
    assert f(a, b).dims == ("a", "b")


def test_eager_calls_compile_once_per_types():
    from xtensor import ops

    before = ops.add.size
    a = xt.array(np.ones(7, "f4"), "eager_only_here")
    for _ in range(3):
        a + a
    assert ops.add.size == before + 1


def test_threads_trace_and_call():
    f = xt.jit(lambda x, n: x * n, static="n")
    wrong = []

    def work(k):
        for n in range(4):
            got = f(y, n + 4 * (k % 3)).values
            if not np.array_equal(got, y.values * (n + 4 * (k % 3))):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_traced_function_may_wait_for_a_thread_that_compiles():
    def f(x):
        with ThreadPoolExecutor(1) as pool:
            return x * pool.submit(lambda: (xt.ones(waited=5) + 1).sum().item()).result(timeout=60)

    assert xt.jit(f)(xt.ones(a=3)).values.tolist() == [10, 10, 10]


def test_threads_that_trace_in_turns_get_their_own_programs_and_errors():
    def work(k):
        def program(x):
            for i in range(20):
                x = xt.sin(x) + k * i
            return x

        def broken(x):
            for _ in range(20):
                x = xt.sin(x)
            return x + xt.ones({f"own{k}": 2}).rename({f"own{k}": "a"})

        x = xt.array(np.linspace(0, 1, 3 + k), "a")
        want = x.values
        for i in range(20):
            want = np.sin(want) + k * i
        np.testing.assert_allclose(xt.jit(program)(x).values, want)
        with pytest.raises(xt.SizeError, match=f"size {3 + k} here and 2 there"):
            xt.jit(broken)(x)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, k) for k in range(12)]:
                done.result()
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.cpu_only("a device's state is refused in a child")
def test_a_child_compiles_while_the_parent_traces_in_another_thread():
    started, go = threading.Event(), threading.Event()

    def f(x):
        started.set()
        go.wait(60)
        return x * 2

    thread = threading.Thread(target=lambda: xt.jit(f)(xt.ones(a=3)))
    thread.start()
    started.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if (xt.ones(child=7) * 3).sum().item() == 21 else 1)
    _, status = os.waitpid(child, 0)
    go.set()
    thread.join()
    assert status == 0


def test_numpy_scalars_and_rank_0_arrays():
    f = xt.jit(lambda a, b: a + b)
    assert f(np.float32(1), np.array(2, "f4")).item() == 3
    assert f(np.float32(1), np.array(2, "f4")).dtype == np.float32


def test_a_tracer_knows_what_it_is():
    def f(x):
        assert x.dims == ("a", "b")
        assert x.sizes == {"a": 3, "b": 4}
        assert x.shape == (3, 4)
        assert (x.ndim, x.size, x.dtype) == (2, 12, np.float32)
        assert len(x) == 3
        assert "float32 (a: 3, b: 4)" in repr(x)
        return [row.sum() for row in x]

    assert [v.item() for v in xt.jit(f)(x)] == x.values.sum(1).tolist()


def test_no_memory_for_temporaries_is_a_memory_error() -> None:
    f = xt.jit(lambda m: xt.max(xt.dot(xt.exp(m), xt.exp(m).rename(b="c"), dim="a")))
    with pytest.raises(MemoryError, match="temporaries"):
        f(xt.ones(a=1, b=2**24, dtype="f4"))  # the product has 2**50 bytes
    assert f(xt.zeros(a=1, b=3)).item() == 1
