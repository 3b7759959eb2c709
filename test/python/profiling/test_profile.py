"""`xt.profile`: kernels by lines, work as `f.cost` has it, events that nest, and nothing outside of the block."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from chosen_device import NAME, needs_device, on_the_cpu  # noqa: F401 (a fixture)
from xtensor import _native
from xtensor.explorer.memory import in_flops, in_units
from xtensor.profiling.spans import covered, none

WORK = ("kernel", "routine", "launch")
X = xt.array(np.random.default_rng(0).random((1003, 37)), ("sample", "inp")).to("cpu")
W = xt.array(np.random.default_rng(1).random((37, 19)), ("inp", "out")).to("cpu")
RANDOM = np.random.default_rng(2)
CELLS = xt.array(RANDOM.integers(0, 50, 1003), "sample").to("cpu")
IMAGE = xt.array(RANDOM.random((2, 33, 35, 7)), ("n", "h", "w", "channel")).to("cpu")
KERNEL = xt.array(RANDOM.random((3, 3, 7, 9)), ("kh", "kw", "channel", "out")).to("cpu")
ACROSS = {"h": "kh", "w": "kw"}
MATRIX = xt.array(np.cov(RANDOM.random((30, 99))) + np.eye(30), ("i", "j")).to("cpu")
RIGHT = xt.array(RANDOM.random((30, 7)), ("i", "column")).to("cpu")
PROGRAM = """\
import xtensor as xt


@xt.jit
def f(x, w):
    h = xt.tanh(x @ w)
    s = xt.nn.softmax(h, "out")
    return xt.sum(s * h), xt.sort(h, "out")
"""


def profiled(f: Callable[..., Any], *args: Any, times: int = 1) -> tuple[xt.profile, Any]:
    with xt.profile() as p:
        for _ in range(times):
            result = f(*args)
    return p, result


def work(p: xt.profile, name: str, field: str) -> float:
    return sum(getattr(row, field) or 0.0 for row in p.rows if row.kind in WORK and row.program == name)


def seconds_of(p: xt.profile, name: str) -> float:
    (found,) = (row.seconds for row in p.rows if row.name.startswith(name))
    return found


def test_kernels_are_named_by_functions_and_lines(tmp_path: Path):
    path = tmp_path / "model.py"
    path.write_text(PROGRAM)
    found: dict[str, Any] = {"__name__": "model"}
    exec(compile(PROGRAM, str(path), "exec"), found)
    p, result = profiled(found["f"], X, W, times=3)
    rows = {row.name: row for row in p.rows if row.program == "f"}
    product = next(row for name, row in rows.items() if name.startswith("dot"))
    assert product.where == "model.py:6" and product.calls == 3 and product.kind == "routine"
    assert next(row for row in rows.values() if row.kind == "program").where == "model.py:6-8"
    softmax = next(row for name, row in rows.items() if "tanh" in name)
    assert softmax.where.startswith("model.py:6-7") and softmax.kind == "kernel"
    sort = next(row for name, row in rows.items() if "sort" in name)
    assert sort.where == "model.py:8" and sort.kind == "routine"
    assert rows["f"].calls == 3 and rows["f"].kind == "program"
    np.testing.assert_allclose(result[1].values, np.sort(np.tanh(X.values @ W.values), 1), rtol=1e-12)


def uneven(x):
    return xt.sum(xt.exp(x) * x / (x + 2.0), "inp")


def rows_of_softmax(x):
    return xt.nn.softmax(x, "inp")


def layer(x, w):
    return xt.sum(xt.square(xt.tanh(x @ w)))


def steps(x):
    return xt.scan(lambda c, r: (0.5 * c + r * c, c * c), xt.zeros(inp=37), x, dim="sample")


def factor(x):
    a = xt.dot(x, x.rename(inp="other"), dim="sample") + 10.0 * xt.eye(inp=37, other=37)
    return xt.linalg.cholesky(a, dims=("inp", "other"))


def attention(q, k):
    k = 0.5 * k.rename(sample="key")
    return xt.nn.attention(q, k, k.rename(inp="value"), ("sample", "key", "inp"))


def convolved(x, k):
    return xt.sum(xt.square(xt.nn.conv(x, k, ACROSS, dim="channel", padding="same")))


def numbers(x):
    return xt.scan(lambda c, v: (xt.tanh(c * v) + 1.0, c * c), 0.5, x, dim="sample")


PROGRAMS = {
    "uneven": (uneven, (X,)),
    "softmax": (rows_of_softmax, (X,)),
    "layer": (layer, (X, W)),
    "gradient": (xt.grad(layer, wrt=1), (X, W)),
    "scan": (steps, (X,)),
    "factor": (factor, (X,)),
    "attention": (attention, (X, X)),
    "gradient of attention": (xt.grad(lambda q, k: xt.sum(xt.square(attention(q, k))), wrt=(0, 1)), (X, X)),
    "convolution": (xt.grad(convolved, wrt=(0, 1)), (IMAGE, KERNEL)),
    "strided convolution": (lambda x, k: xt.nn.conv(x, k, ACROSS, dim="channel", stride=2), (IMAGE, KERNEL)),
    "transposed convolution": (lambda x, k: xt.nn.conv_transpose(x, k, ACROSS, dim="channel"), (IMAGE, KERNEL)),
    "pooling": (xt.grad(lambda x: xt.sum(xt.square(xt.nn.max_pool(x, {"h": 2, "w": 2})))), (IMAGE,)),
    "windows": (xt.grad(lambda x: xt.sum(xt.square(x.rolling(sample=7, min_periods=1).mean()))), (X,)),
    "largest of windows": (lambda x: x.rolling(sample=7).max(), (X,)),
    "sums at positions": (lambda x, i: xt.zeros(cell=50, inp=37).at(cell=i).add(x), (X, CELLS)),
    "values at positions": (lambda x, i: xt.zeros(cell=50, inp=37).at(cell=i).set(x), (X, CELLS)),
    "gradient of a maximum": (
        xt.grad(lambda x, i: xt.sum(xt.square(xt.zeros(cell=50, inp=37).at(cell=i).max(x)))),
        (X, CELLS),
    ),
    "reads at positions": (xt.grad(lambda x, i: xt.sum(xt.square(x.isel(sample=i)))), (X, CELLS)),
    "groups": (lambda x, i: xt.segment_mean(x, i, 50, "sample"), (X, CELLS)),
    "histogram": (lambda x: xt.histogram(x, bins=20, range=(0, 1)), (X,)),
    "factors": (xt.grad(lambda a: xt.linalg.slogdet(a, dims=("i", "j"))[1]), (MATRIX,)),
    "solutions": (xt.grad(lambda a, b: xt.sum(xt.linalg.solve(a, b, dims=("i", "j"))), wrt=(0, 1)), (MATRIX, RIGHT)),
    "eigenvalues": (xt.grad(lambda a: xt.sum(xt.square(xt.linalg.eigh(a, dims=("i", "j"))[0]))), (MATRIX,)),
    "singular values": (lambda a: xt.linalg.svd(a, dims=("i", "j")), (MATRIX,)),
    "orthogonal factor": (lambda a: xt.linalg.qr(a, dims=("i", "j")), (MATRIX,)),
    "three diagonals": (
        lambda x: xt.linalg.tridiagonal_solve(*[x.isel(inp=i) + 3.0 * (i == 1) for i in range(4)], dim="sample"),
        (X,),
    ),
    "Fourier": (xt.grad(lambda x: xt.sum(xt.square(abs(xt.fft.fft(x, dim=("sample", "inp")))))), (X,)),
    "real Fourier": (lambda x: abs(xt.fft.rfft(x, dim="sample")), (X,)),
    "cosines": (lambda x: xt.fft.dct(x, dim="sample"), (X,)),
    "long convolution": (lambda x: xt.signal.convolve(x, xt.ones(lag=300), dims=("sample", "lag")), (X,)),
    "elementwise": (lambda x: xt.exp(x) + 2.0 * x, (X,)),
    "computed again": (lambda x: xt.nn.layer_norm(x, dim="inp"), (X,)),
    "partial sums": (lambda x: xt.var(x, "sample"), (X,)),
    "numbers in a loop": (numbers, (X.isel(inp=0),)),
    "gradient of numbers in a loop": (xt.grad(lambda x: numbers(x)[0]), (X.isel(inp=0),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_work_is_what_cost_says(name: str):
    """Flops of the kernels that ran, each as often as it ran, are those of the whole program."""
    f, args = PROGRAMS[name]
    f = xt.jit(f)
    cost = f.cost(*args)
    p, _ = profiled(f, *args, times=2)
    row = next(row for row in p.rows if row.kind == "program")
    assert row.bytes == 2 * cost["bytes"]
    assert work(p, row.program, "flops") == pytest.approx(2 * cost["flops"], rel=0.01)
    assert work(p, row.program, "bytes") >= 0.99 * row.bytes


def test_arithmetic_between_kernels_is_the_programs():
    """How many steps a loop over numbers takes is not known, so it counts as one, as for `f.cost`."""
    f = xt.jit(lambda x, n: xt.fori_loop(0, n, lambda i, s: s * 1.5 + 1.0, x) + xt.sum(xt.exp(X)))
    cost = f.cost(1.0, 9)
    p, _ = profiled(f, 1.0, 9, times=3)
    (row,) = (row for row in p.rows if row.kind == "program")
    assert 0 <= row.flops - work(p, row.program, "flops") <= 3 * 3
    assert row.flops == pytest.approx(3 * cost["flops"], abs=3)
    many = xt.jit(lambda x, n: xt.fori_loop(0, n, lambda i, s: s * 1.5 - i, x))
    p, _ = profiled(many, 1.0, 100_000)
    loop = next(row for row in p.rows if row.kind == "kernel")  # that of most time
    line = many.__wrapped__.__code__.co_firstlineno
    assert loop.where == f"test_profile.py:{line}" and loop.flops == many.cost(1.0, 9)["flops"]
    assert loop.seconds > 0.9 * next(row.seconds for row in p.rows if row.kind == "program")
    assert not any("flops" in e["args"] for e in p.trace()["traceEvents"] if e.get("cat") == "program")


@pytest.mark.parametrize("name", ["uneven", "softmax", "elementwise"])
def test_a_program_of_one_kernel_moves_what_cost_says(name: str):
    f, args = PROGRAMS[name]
    f = xt.jit(f)
    p, _ = profiled(f, *args)
    kernels = [row for row in p.rows if row.kind in WORK and row.program != "profile"]
    assert len(kernels) == 1
    assert kernels[0].bytes == pytest.approx(f.cost(*args)["bytes"], rel=0.01)


def test_the_file_has_events_that_nest(tmp_path: Path):
    path = tmp_path / "trace.json"
    f = xt.jit(layer)
    with xt.profile(path):
        f(X, W)
    trace = json.loads(path.read_text())
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    outer = next(e for e in events if e["cat"] == "program")
    inner = [e for e in events if e["cat"] in ("product", "loops")]
    assert inner
    for e in inner:
        assert e["tid"] == outer["tid"] and e["dur"] >= 0
        assert outer["ts"] <= e["ts"] and e["ts"] + e["dur"] <= outer["ts"] + outer["dur"] + 1e-3
        assert e["args"]["program"] == "layer" and e["args"]["flops"] >= 0 and e["args"]["lines"]
    names = {e["tid"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert names == {e["tid"] for e in events}


def test_programs_outside_of_the_block_do_not_change():
    f = xt.jit(uneven)
    expected = f(X).values
    assert "xt_profile" not in f.as_text("llvm", X)
    p, result = profiled(f, X)
    np.testing.assert_array_equal(result.values, expected)
    rows = list(p.rows)
    f(X)
    assert _native.profile_take() == ([b""], 0)
    assert p.rows == rows
    f(X)
    assert len(f.compilations) == 2


def test_blocks_nest_and_survive_errors():
    f = xt.jit(uneven)
    with pytest.raises(RuntimeError, match="mine"), xt.profile() as outer:
        f(X)
        with xt.profile() as inner:
            f(X)
        raise RuntimeError("mine")
    calls = [next(row.calls for row in p.rows if row.kind == "program") for p in (outer, inner)]
    assert calls == [2, 1]
    assert _native.profile_take() == ([b""], 0)


def test_derivatives_are_marked():
    p, _ = profiled(xt.jit(xt.grad(layer, wrt=1)), X, W)
    assert any(row.name.startswith("derivative of") for row in p.rows)


def test_calls_outside_of_jit_are_programs():
    p, _ = profiled(lambda x: xt.exp(x) + 1.0, X)
    assert {"exp", "add"} <= {row.program for row in p.rows}
    p, _ = profiled(lambda x: xt.cummax(xt.prod(x, "inp"), "sample"), X)
    assert {"cummax", "prod"} <= {row.name for row in p.rows if row.kind in WORK}  # not "a reduction"


def test_programs_in_callbacks_of_others_count_once():
    g = xt.jit(uneven)
    f = xt.jit(lambda x: xt.callback(g, x, result=xt.spec(sample=len(X.values))) * 2.0)
    f(X)
    profiled(f, X)
    with xt.profile() as p:
        f(X)
        time.sleep(0.03)
    programs = {row.program: row.seconds for row in p.rows if row.kind == "program"}
    outer = programs["<lambda>"]
    assert 0 < programs["uneven"] < outer
    outside = seconds_of(p, "outside of programs")
    assert outside >= 0.03 and outside + outer == pytest.approx(p.seconds)
    called = next(row.seconds for row in p.rows if row.kind == "routine" and row.program == "<lambda>")
    assert called > programs["uneven"]
    rest = sum(row.seconds for row in p.rows if row.kind == "kernel" and row.program == "<lambda>")
    assert seconds_of(p, "between the kernels") == pytest.approx(outer - called - rest)


def test_spans_that_overlap_are_covered_once():
    def seconds(*spans: tuple[int, int]) -> float:
        values = np.zeros(len(spans), none().values.dtype)
        values["begin"], values["end"] = zip(*spans, strict=True) if spans else ((), ())
        return covered(values) * 1e9

    assert seconds() == 0
    assert seconds((5, 8)) == pytest.approx(3)
    assert seconds((5, 8), (0, 2)) == pytest.approx(5)
    assert seconds((2, 3), (0, 10), (4, 12), (12, 13), (20, 21)) == pytest.approx(14)


def test_more_events_than_there_is_room_for():
    """A thread keeps about a million. The table counts the others, and the program's own is always there."""
    steps = 540_000

    def f(x):
        return xt.scan(lambda c, v: (xt.tanh(c * v) + xt.sum(c) * 1e-9, None), xt.ones(i=1500), x, dim="t")[0]

    f, x = xt.jit(f), xt.ones(t=steps)
    with xt.profile():
        f(xt.ones(t=3)), f(x)
    with xt.profile() as p:
        f(x)
    events = p.trace()["traceEvents"]
    (program,) = (e for e in events if e.get("cat") == "program")
    (row,) = (r for r in p.rows if r.kind == "program")
    assert row.calls == 1 and row.seconds == pytest.approx(program["dur"] / 1e6)
    runs = sum(e["ph"] == "X" and e["cat"] == "loops" for e in events)
    dropped = sum(r.calls for r in p.rows if r.kind == "kernel") - runs
    assert dropped > 0 and p.trace()["otherData"]["dropped"] == dropped
    assert sorted(r.calls for r in p.rows if r.kind == "kernel")[-2:] == [steps, steps]
    told = f"{dropped:,} events found no room: only the table counts them"
    assert str(p).split("\n")[0].endswith(told) and [e["name"] for e in events if e["ph"] == "i"] == [told]
    assert work(p, "f", "flops") == pytest.approx(f.cost(x)["flops"], rel=0.01)
    kernels = sum(r.seconds for r in p.rows if r.kind == "kernel")
    assert kernels < row.seconds and seconds_of(p, "between the kernels") == pytest.approx(row.seconds - kernels)


NAMES = {
    "concat": (lambda x: xt.concat([xt.cumsum(x, "inp"), x], "inp"), {"concat", "concat, cumsum"}),
    "transpose": (lambda x: x.transpose("inp", "sample"), {"transpose"}),
    "slice": (lambda x: x.isel(inp=slice(1, 9)), {"isel"}),
    "flip": (lambda x: xt.flip(x, "inp"), {"flip"}),
    "broadcast": (lambda x: xt.expand_dims(x, copy=3), {"expand_dims"}),
    "constant": (lambda x: xt.full(2.0, i=1000), {"full"}),
    "update": (lambda x: x.at(inp=[3, 3, 5]).add(1.0), {"x.at(..).add"}),
    "comparison": (lambda x: x > 0.5, {"greater"}),
    "logic": (lambda x: (x > 0.5) & (x < 0.7), {"bitwise_and, greater, less"}),
    "conversion": (lambda x: x.astype("f4"), {"astype"}),
    "rows": (lambda x: x.isel(sample=slice(1, 9)), {"isel"}),
    "stack": (lambda x: x.stack(both=("sample", "inp")), {"stack"}),
    "zeros": (lambda x: xt.zeros(i=1000), {"zeros"}),
    "arange": (lambda x: xt.arange(1000, dim="i"), {"arange"}),
    "eye": (lambda x: xt.eye(100), {"eye"}),
    "number": (lambda x: x + 1, {"add"}),
    "sort": (lambda x: xt.sort(x, "inp"), {"sort"}),
    "roll": (lambda x: xt.roll(x, sample=1), {"roll"}),
    "one element": (lambda x: x.at(sample=3).set(0.0), {"x.at(..).set"}),
    "random": (lambda x: xt.random.normal(xt.random.key(0), i=1000), {"random.normal"}),
    "softmax": (lambda x: xt.nn.softmax(x, "inp"), {"nn.softmax"}),
    "derivative": (xt.grad(lambda x: xt.sum(xt.nn.softmax(x, "inp") * x)), {"derivative of nn.softmax, multiply"}),
    "function in a function": (lambda x: xt.jit(lambda y: xt.nn.softmax(y, "inp"))(x), {"nn.softmax"}),
    "result that is an argument": (lambda x: x, {"copy"}),
}


@pytest.mark.parametrize("name", NAMES)
def test_kernels_that_move_values_have_names(name: str):
    f, expected = NAMES[name]
    p, _ = profiled(xt.jit(f), X)
    kernels = [row for row in p.rows if row.kind in WORK]
    assert kernels and {row.name for row in kernels} <= expected
    line = inspect.unwrap(f).__code__.co_firstlineno
    if name != "result that is an argument":
        assert {row.where for row in kernels} == {f"test_profile.py:{line}"}
    traced = [e for e in p.trace()["traceEvents"] if e.get("cat") == "loops"]
    assert {e["name"] for e in traced} <= expected
    assert {name for t in xt.jit(f).memory(X).temporaries for name in t.ops} <= set(", ".join(expected).split(", "))


def test_kernels_of_open_sizes_eager_calls_and_pullbacks_have_names() -> None:
    def names(f: Any, *args: Any) -> set[str]:
        p, _ = profiled(f, *args)
        return {row.name for row in p.rows if row.kind in WORK}

    opened = xt.jit(lambda x: xt.exp(x) * x.sizes["sample"], dynamic_dims=("sample",))
    assert names(opened, X) == {"exp, multiply"}
    assert names(lambda x: xt.nn.softmax(x, "inp"), X) == {"nn.softmax"}
    pulled = names(lambda x: xt.vjp(lambda y: xt.nn.softmax(y, "inp"), x)[1](x), X)
    assert pulled == {"nn.softmax", "derivative of nn.softmax"}


OPEN = {
    name: PROGRAMS[name]
    for name in (
        "uneven", "softmax", "layer", "gradient", "scan", "factor", "attention", "gradient of attention",
        "sums at positions", "elementwise", "computed again", "partial sums", "solutions", "values at positions",
        "three diagonals", "groups", "histogram", "numbers in a loop", "gradient of numbers in a loop",
    )
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_work_of_open_sizes_is_what_cost_says(name: str):
    """Each run counts by its own sizes."""
    f, args = OPEN[name]
    dims = ["sample" if "sample" in args[0].dims else "column"]
    opened, fixed = xt.jit(f, dynamic_dims=dims), xt.jit(f)
    fewer = [x.isel({d: slice(0, 17) for d in dims if d in x.dims}) for x in args]
    costs = [opened.cost(*some) for some in (args, fewer)]
    with xt.profile():
        opened(*args)
    with xt.profile() as p:
        opened(*args), opened(*fewer), opened(*args)
    row = next(row for row in p.rows if row.kind == "program")
    assert row.bytes == 2 * costs[0]["bytes"] + costs[1]["bytes"]
    assert row.bytes == 2 * fixed.cost(*args)["bytes"] + fixed.cost(*fewer)["bytes"]
    flops = 2 * costs[0]["flops"] + costs[1]["flops"]
    assert row.flops == pytest.approx(flops, rel=0.01)
    assert work(p, row.program, "flops") == pytest.approx(flops, rel=0.01)
    if not any(word in name for word in ("positions", "groups", "histogram")):  # updates work otherwise with open sizes
        assert costs[0]["flops"] == pytest.approx(fixed.cost(*args)["flops"], rel=0.1)
    assert opened.cost(*[xt.spec(**x.sizes, dtype=x.dtype) for x in args]) == costs[0]
    events = [
        e["args"] for e in p.trace()["traceEvents"] if e.get("cat") in ("loops", "product") or "lines" in e["args"]
    ]
    assert sum(e.get("flops", 0) for e in events) == pytest.approx(flops, rel=0.01)


def test_the_memory_of_open_sizes_is_that_of_the_call():
    f, g = xt.jit(steps, dynamic_dims="sample"), xt.jit(steps)
    assert str(f.memory(X)) == str(g.memory(X)) == str(f.memory(xt.spec(sample=1003, inp=37)))
    for ask in (f.memory, f.cost):
        with pytest.raises(xt.UnsupportedError, match=r"the size of 'sample' is not given. Give arrays, or sizes"):
            ask(xt.spec(sample=None, inp=37))


def test_more_sizes_than_the_work_is_found_out_of():
    f = xt.jit(uneven, dynamic_dims=("sample",))
    with xt.profile() as p:
        for n in range(1, 100):
            f(X.isel(sample=slice(0, n)))
    row = next(row for row in p.rows if row.kind == "kernel")
    assert row.calls == 99 and row.bytes is None and row.flops is None and row.share is None
    assert " ? " in p.table()


def test_programs_within_programs():
    """Bodies of loops tell each of their runs; functions of `xt.jit` that are called in others are parts of them."""

    @xt.jit
    def inner(x):
        return xt.sum(xt.sort(xt.exp(x), "inp"), "inp")

    def step(s):
        return 2.0 * s + xt.sum(inner(s * X) * 0.0)

    f = xt.jit(lambda x: (inner(x), xt.while_loop(lambda s: s < 100.0, step, xt.sum(x) * 0.0 + 1.0)))
    p, (_, s) = profiled(f, X)
    assert s.item() == 128.0
    rows = [row for row in p.rows if row.kind == "routine" and "sort" in row.name]
    assert {row.program for row in p.rows if row.program} == {"<lambda>"}
    assert sum(row.calls for row in rows) == 8


def test_errors_of_programs_end_their_kernels():
    f = xt.jit(lambda x, i: xt.sum(xt.exp(x).isel(sample=i)))
    with xt.profile() as p:
        with pytest.raises(xt.IndexError):
            f(X, 5000)
        f(X, 5)
    program = next(row for row in p.rows if row.kind == "program")
    assert 1 <= program.calls <= 2
    events = [e for e in p.trace()["traceEvents"] if e["ph"] == "X"]
    assert all(e["ts"] >= 0 and e["ts"] + e["dur"] <= 1e6 * p.seconds for e in events)


def test_nothing_ran(tmp_path: Path):
    path = tmp_path / "trace.json"
    with xt.profile(path) as p:
        pass
    assert {row.kind for row in p.rows} == {"other"} and "limits of" not in str(p)
    assert {e["ph"] for e in json.loads(path.read_text())["traceEvents"]} == {"M"}


def test_bundles_are_not_profiled():
    f = xt.jit(uneven)
    with xt.profile() as p:
        bundle = xt.export(f, (X,))
    assert not any(row.program == "uneven" for row in p.rows)
    with xt.profile() as p:
        np.testing.assert_array_equal(xt.load(bundle)(X).values, f(X).values)
    assert [row.calls for row in p.rows if row.kind == "program"] == [1]


def test_table():
    p, _ = profiled(xt.jit(layer), X, W)
    text = str(p)
    assert text == p.table()
    head, names, *lines = text.split("\n")
    assert "GB/s" in head
    assert " ".join(names.split()) == "time ms % calls each us bytes flops GB/s Gflop/s limit % threads what where"
    row = next(row for row in p.rows if row.kind == "program")
    cost = xt.jit(layer).cost(X, W)
    assert row.flops == pytest.approx(cost["flops"], rel=0.01)
    assert f"{in_units(cost['bytes'])}  {in_flops(row.flops)} " in next(line for line in lines if " layer " in line)
    assert any("dot" in line and "test_profile.py:" in line for line in lines)
    assert sum(row.seconds for row in p.rows if row.kind in ("program", "other", "transfer")) >= p.seconds
    markup = p._repr_html_()
    assert markup.count("<tr>") == len(p.rows) + 1 and "<lambda>" not in markup


def test_errors(tmp_path: Path):
    p = xt.profile()
    with pytest.raises(xt.ArgumentError, match="after the block"):
        p.table()
    with pytest.raises(xt.ArgumentError, match=r"rows can be read after [^\n]*\n  at \S*test_profile.py:\d+$") as told:
        _ = p.rows
    assert not any(Path(frame.path).name == "profile.py" for frame in told.traceback)
    with p:
        pass
    with pytest.raises(xt.ArgumentError, match="recorded a block already"), p:
        pass
    with pytest.raises(xt.ArgumentError, match="no folder"), xt.profile(tmp_path / "no" / "trace.json"):
        pass
    with pytest.raises(xt.ArgumentError, match="is a folder"), xt.profile(tmp_path):
        pytest.fail("told before the block runs")
    for path in (3, "a\0b"):
        with pytest.raises(xt.ArgumentTypeError, match="profile: the path of a file is needed"):
            xt.profile(path)
    with pytest.raises(xt.ArgumentError, match="no block"):
        p.__exit__()
    assert not xt.profile()._entered


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no folder of the kernel")
def test_a_file_that_cannot_be_written_hides_no_error():
    path = "/proc/trace.json"  # nobody may make files there
    with pytest.raises(xt.ArgumentError, match="json cannot be written"), xt.profile(path):
        pass
    with pytest.raises(KeyError, match="mine") as raised, xt.profile(path):
        raise KeyError("mine")
    assert "trace.json cannot be written" in raised.value.__notes__[0]


@needs_device
def test_launches_and_transfers_of_a_device():
    f = xt.jit(layer)
    with xt.profile() as p:
        x, w = X.astype("f4").to(NAME), W.astype("f4").to(NAME)
        for _ in range(2):
            result = f(x, w)
        value = result.item()
    assert value == pytest.approx(np.square(np.tanh(X.values @ W.values)).sum(), rel=1e-4)
    launches = [row for row in p.rows if row.kind == "launch" and row.program == "layer"]
    assert launches and all(row.calls == 2 and row.device == NAME and row.seconds > 0 for row in launches)
    flops = sum(row.flops or 0.0 for row in launches)
    assert flops == pytest.approx(2 * f.cost(x, w)["flops"], rel=0.01)
    copies = [row for row in p.rows if row.kind == "transfer"]
    assert {"copy to a device", "copy from a device"} <= {row.name for row in copies}
    assert next(row for row in copies if row.name == "copy to a device").bytes >= 4 * (X.size + W.size)


def two_of_a_step(x):
    return xt.scan(lambda c, r: (xt.tanh(c * r), xt.sum(c)), xt.zeros(inp=256, dtype="f4"), x, dim="sample")


@needs_device
@pytest.mark.parametrize("name", ["long loop", "gradient", "computed again"])
def test_work_on_a_device_is_what_cost_says(name: str):
    """Some devices take a long loop in parts, each a launch."""
    f, args = PROGRAMS.get(name, (two_of_a_step, (xt.ones(sample=512, inp=256),)))
    f = xt.jit(f)
    args = [x.astype("f4").to(NAME) for x in args]
    p, _ = profiled(f, *args)
    row = next(row for row in p.rows if row.kind == "program")
    cost = f.cost(*args)
    assert row.bytes == cost["bytes"]
    assert work(p, row.program, "flops") == pytest.approx(cost["flops"], rel=0.01)


@needs_device
def test_what_the_driver_compiles_is_no_time_of_kernels():
    """The first run of a kernel in this process is told apart from the others."""
    f = xt.jit(lambda x: xt.sum(xt.tanh(x) * 3.0, "inp"))
    x = X.astype("f4").to(NAME)
    p, _ = profiled(f, x, times=9)
    kernels = [row for row in p.rows if row.kind == "launch" and row.program == "<lambda>"]
    events = [e for e in p.trace()["traceEvents"] if e.get("cat") == "launch" and e["args"]["program"] == "<lambda>"]
    prepared = sum(row.prepared for row in kernels)
    shown = sum(row.seconds for row in p.rows if row.name.startswith("first runs of kernels"))
    assert shown == pytest.approx(prepared)
    assert sum(row.seconds for row in kernels) + prepared == pytest.approx(sum(e["dur"] for e in events) / 1e6)
    runs = sorted((e["ts"], e["dur"] / 1e6) for e in events if e["name"] == kernels[0].name)
    (_, first), *others = runs
    rest = [seconds for _, seconds in others]
    assert kernels[0].seconds == pytest.approx(sum(rest) + min(first, np.median(rest)), abs=1e-6)
    again, _ = profiled(f, x)
    assert not any(row.prepared or row.is_first for row in again.rows)
    once, _ = profiled(xt.jit(lambda x: xt.sum(xt.tanh(x) * 5.0, "inp")), x)
    assert any("driver compiles" in row.help for row in once.rows if row.kind == "launch")
