"""`xt.profile` where several threads run programs: whose events a block has, and that none counts twice."""

from __future__ import annotations

import contextvars
import threading
import time

import numpy as np
import xtensor as xt
from chosen_device import on_the_cpu  # noqa: F401 (a fixture)
from xtensor import _native
from xtensor.profiling.spans import SHARE

X = xt.array(np.random.default_rng(0).random((1003, 37)), ("sample", "inp")).to("cpu")


def uneven(x):
    return xt.sum(xt.exp(x) * x / (x + 2.0), "inp")


def test_shares_of_threads():
    before = _native.num_threads()
    _native.set_num_threads(2)
    try:
        x = xt.ones(row=512, column=4096)
        f = xt.jit(lambda x: xt.nn.softmax(xt.exp(x), "column"))
        with xt.profile() as p:
            for _ in range(20):
                f(x)
    finally:
        _native.set_num_threads(0 if before < 1 else before)
    shares = [e for e in p.trace()["traceEvents"] if e.get("cat") == "share"]
    spans = p._spans.values[p._spans.values["kind"] == SHARE]
    for thread in np.unique(spans["thread"]):
        mine = np.sort(spans[spans["thread"] == thread], order="begin")
        assert (mine["begin"][1:] >= mine["end"][:-1]).all(), "parts of one thread overlap"
    loops = [e for e in p.trace()["traceEvents"] if e.get("cat") == "loops"]
    assert len(shares) >= 2
    for e in shares:
        assert any(k["ts"] <= e["ts"] and e["ts"] + e["dur"] <= k["ts"] + k["dur"] + 1e-3 for k in loops)


def test_programs_of_several_threads_count_once():
    f = xt.jit(lambda x: xt.callback(lambda x: (time.sleep(0.02), x)[1], x, result=x) * 2.0)
    x = xt.ones(i=3)
    with xt.profile():
        f(x)
    with xt.profile() as p:
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(f, x))
        thread.start()
        f(x)
        thread.join()
        time.sleep(0.01)
    assert sum(row.calls for row in p.rows if row.kind == "program" and row.program == "<lambda>") == 2
    (outside,) = (row.seconds for row in p.rows if row.name.startswith("outside of programs"))
    assert 0.01 <= outside <= p.seconds - 0.02


def test_other_threads_are_not_profiled():
    f = xt.jit(uneven)
    with xt.profile() as p:
        thread = threading.Thread(target=f, args=(X,))
        thread.start()
        thread.join()
    assert not any(row.kind == "program" for row in p.rows)


def test_threads_in_the_context_of_the_block():
    f = xt.jit(uneven)
    with xt.profile() as p:
        threads = [threading.Thread(target=contextvars.copy_context().run, args=(f, X)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert next(row.calls for row in p.rows if row.kind == "program") == 3
    events = p.trace()["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {names[e["tid"]][:15] for e in events if e.get("cat") == "program"} == {"Python, thread "}


def test_a_block_for_each_of_several_threads():
    f, found = xt.jit(uneven), {}

    def work(i):
        with xt.profile() as p:
            for _ in range(5):
                f(X)
        found[i] = p

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for p in found.values():
        assert 5 <= next(row.calls for row in p.rows if row.kind == "program") <= 15
    assert _native.profile_take() == ([b""], 0)
