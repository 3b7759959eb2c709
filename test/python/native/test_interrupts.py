"""Calls that take long leave the interpreter to other threads, and end where the user asks."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar

import numpy as np
import pytest
import xarray as xr
import xtensor as xt
from xtensor import _native as native
from xtensor.labels import relabel

pytestmark = pytest.mark.cpu_only("a device's loops are not asked whether to end")

LOOPS = {
    "while": "lambda x: xt.while_loop(lambda s: s > -1.0, lambda s: s * 1.0000001, x)",
    "while of arrays": "lambda x: xt.while_loop(lambda s: s.sum() > -1.0, lambda s: s * 2.0, x + xt.zeros(a=100))",
    "fori_loop": "lambda x: xt.fori_loop(0, 10**12, lambda i, c: c * 1.0000001 + i, x)",
    "fori_loop to a traced bound": "lambda x: xt.fori_loop(0, (x * 1e18).astype('i8'), lambda i, c: c + 1.0, x)",
    "scan of arrays": "lambda x: xt.scan(lambda c, _: (c * 0.5, None), x + xt.zeros(a=9), dim='t', length=10**12)[0]",
    "long steps": "lambda x: xt.scan(lambda c, _: (xt.sin(c), None), x + xt.zeros(a=10**5), dim='t', length=10**12)[0]",
    "a loop in a loop": """lambda x: xt.fori_loop(
        0, 10**9, lambda i, c: xt.fori_loop(0, 1000, lambda j, d: d * 0.5 + j, c), x)""",
    "a loop in a gradient": """xt.grad(
        lambda x: xt.while_loop(lambda s: s > -1.0, lambda s: s * 1.0000001, 1.0) * x)""",
    "a batch of loops": """lambda x: xt.vectorize(
        lambda v: xt.while_loop(lambda s: s > -1.0, lambda s: s * 1.0000001, v), "b")(x + xt.zeros(b=3)).sum()""",
}


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", LOOPS)
def test_another_thread_ends_a_loop_that_would_not(name: str) -> None:
    # The thread that sends the signal has to run while the loop does.
    printed = run(f"""
        import os, signal, threading, time
        import xtensor as xt

        def send():
            time.sleep(0.3)
            sum(range(100_000))
            os.kill(os.getpid(), signal.SIGINT)

        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
        f = xt.jit({LOOPS[name]})
        g = xt.jit(lambda x: x + 1.0)
        f.lower(1.0).compile()
        for _ in range(2):
            try:
                threading.Thread(target=send).start()
                f(1.0)
            except KeyboardInterrupt:
                print("ended", g(1.0).item())
        """)
    assert printed == "ended 2.0\n" * 2


def test_a_handler_may_call_compiled_code_and_let_the_loop_go_on() -> None:
    printed = run("""
        import signal
        import xtensor as xt

        seen = []
        inner = xt.jit(lambda x: xt.while_loop(lambda s: s < 1e6, lambda s: s + 1.0, x))

        def handler(number, frame):
            seen.append(inner(0.0).item())
            if len(seen) == 3:
                raise ZeroDivisionError

        signal.signal(signal.SIGALRM, handler)
        f = xt.jit(lambda x: xt.while_loop(lambda s: s > -1.0, lambda s: s * 1.0000001, x))
        f.lower(1.0).compile(), inner(0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        try:
            f(1.0)
        except ZeroDivisionError:
            signal.setitimer(signal.ITIMER_REAL, 0)
            print(seen)
        """)
    assert printed == "[1000000.0, 1000000.0, 1000000.0]\n"


@pytest.mark.parametrize("static", ["", ", 'known'"])
def test_what_a_handler_raises_ends_a_public_function(static: str) -> None:
    # A ValueError of the function itself would let Python make the call again.
    printed = run(f"""
        from __future__ import annotations
        import signal
        import xtensor as xt
        from xtensor.call.dispatch import op
        from xtensor.ops.types import Array, ArrayLike

        @op
        def count(end: ArrayLike, static: str = "") -> Array:
            return xt.while_loop(lambda s: s.max() < end.max(), lambda s: s + 1, xt.zeros_like(end))

        seen = []

        def handler(number, frame):
            seen.append(number)
            raise ValueError("enough")

        signal.signal(signal.SIGALRM, handler)
        for n in range(2, 7):  # from the third size on, one program serves all
            count(xt.zeros(a=n, dtype="i8"){static})
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.2, 2.0)
            try:
                count(xt.full(2**60, a=9){static})
            except ValueError as error:
                signal.setitimer(signal.ITIMER_REAL, 0)
                print(error, len(seen))
        """)
    assert printed == "enough 1\nenough 2\n"


def test_what_a_handler_raises_while_attributes_are_read_is_no_other_spelling() -> None:
    @dataclasses.dataclass
    class Slow:
        x: xt.Array
        interrupt: ClassVar[bool] = False

        def __getattribute__(self, name: str) -> Any:
            if name == "x" and Slow.interrupt:
                Slow.interrupt = False  # once, as a signal
                raise KeyboardInterrupt
            return object.__getattribute__(self, name)

    f, given = xt.jit(lambda s: s.x + 1.0), Slow(xt.zeros(a=2))
    f(given), f(given)
    Slow.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        f(given)
    assert f(given).values.tolist() == [1.0, 1.0]


def test_an_interrupt_while_labels_are_looked_up_is_not_lost() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    x = xt.as_array(xr.DataArray(np.ones((2, 3)), dims=("a", "b"), coords={"b": [1, 2, 3]}, attrs={"units": "m"}))
    for _ in range(3):
        x.sum("a")
    native.set_label_option(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            x.sum("a")
    finally:
        native.set_label_option(relabel._keep_attrs)
    assert x.sum("a").values.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("reverse", [False, True])
def test_blocks_of_a_loop_are_its_steps(reverse: bool) -> None:
    steps = 1_500_001
    last, sums = xt.jit(lambda x: xt.scan(lambda c, e: (c * 3 + e, c), xt.array(1), x, dim="t", reverse=reverse))(
        xt.arange(steps, dim="t")
    )
    wanted, c = np.empty(steps, "i8"), 1
    for i in reversed(range(steps)) if reverse else range(steps):
        wanted[i] = c
        c = (c * 3 + i + 2**63) % 2**64 - 2**63
    assert last.item() == c
    np.testing.assert_array_equal(sums.values, wanted)


@pytest.mark.parametrize("steps", [0, 1, 4095, 4096, 4097, 3_000_001])
def test_a_while_loop_takes_its_steps(steps: int) -> None:
    f = xt.jit(lambda n: xt.while_loop(lambda s: s["i"] < n, lambda s: {"i": s["i"] + 1, "c": s["c"] + s["i"]},
                                       {"i": 0, "c": 0}))  # fmt: skip
    out = f(steps)
    assert (out["i"].item(), out["c"].item()) == (steps, steps * (steps - 1) // 2)


def test_an_index_out_of_range_ends_a_loop_that_would_not_end() -> None:
    x = xt.arange(3, dim="t")
    f = xt.jit(lambda i: xt.while_loop(lambda s: s["i"] > 0, lambda s: {"i": s["i"] + 1, "v": x.isel(t=s["i"])},
                                       {"i": i, "v": 0}))  # fmt: skip
    with pytest.raises(xt.IndexError, match="index 3 is out of range for size 3 of dim 't'"):
        f(1)


def test_a_bundle_has_loops_that_ask_nobody(tmp_path: Path) -> None:
    def f(n: xt.Array) -> xt.Array:
        return xt.while_loop(lambda s: s < n, lambda s: s * 2, 1)

    xt.export(f, args=(xt.spec(dtype="i8"),), c=False).save(tmp_path / "f.zip")
    assert xt.load(tmp_path / "f.zip")(xt.array(1_000)).item() == 1024
