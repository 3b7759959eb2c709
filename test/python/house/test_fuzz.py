"""Random programs against NumPy, some hundred in every session (test/fuzz); a wrong one is found, and made small."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import xtensor as xt
from places import DEVICE, ROOT
from tiers import count

FUZZ = ROOT / "test" / "fuzz"
COUNT = count(80, 200) if DEVICE == "cpu" else count(20, 40)


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FUZZ))
    monkeypatch.setenv("XTENSOR_CACHE_DIR", os.environ.get("XTENSOR_CACHE_DIR", ""))  # which run.py sets
    yield


def test_random_programs_agree_with_numpy() -> None:
    command = [sys.executable, str(FUZZ / "run.py"), "--seeds", f"0:{COUNT}", "--device", DEVICE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{COUNT} programs on {DEVICE}" in done.stdout


@pytest.mark.cpu_only("finds what was made wrong, in the modes of the CPU")
@pytest.mark.parametrize("mode", ["jit", "open", "gradient", "vectorize"])
def test_a_wrong_op_is_found_and_made_small(mode: str, fuzz: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import modes
    from program import pasted
    from reduce import reduced
    from run import verdict

    flip = xt.flip
    monkeypatch.setattr(xt, "flip", lambda x, dim: xt.roll(flip(x, dim), {dim: 1}))
    for seed in range(3000):
        case = modes.case(seed, "cpu", mode)
        kind = verdict(case)[0] if "xt.flip" in case.program.text() else "done"
        if kind.startswith("wrong"):
            break
    small = reduced(case, lambda c: verdict(c)[0] == kind)
    assert len(small.program) <= 2 <= len(case.program) + 1
    batch = small.others[0] if mode == "vectorize" else None
    text = pasted(small.program, small.how, batch)
    assert "xt.flip" in text
    scope: dict[str, Any] = {}
    exec(text, scope)  # it can be pasted as it is
    assert "got" in scope


class Falls:
    """Ends the process that reads it."""

    def __reduce__(self) -> Any:
        return os.abort, ()


@pytest.mark.cpu_only("a process that crashes")
def test_a_crash_costs_one_program(fuzz: None) -> None:
    import modes
    from run import Server

    server = Server("cpu")
    good = modes.case(0, "cpu", "jit")
    assert server(good) == "done"
    assert server(Falls()) == "crash"
    assert server(good) == "done"
    assert server.process is not None
    server.process.end()


@pytest.mark.cpu_only("arithmetic of NumPy")
def test_bounds_hold_what_lower_precision_gives(fuzz: None) -> None:
    """The bounds of the reference hold for NumPy itself, op by op in the dtype of the program."""
    import named
    import numpy as np
    import operations

    rng = np.random.default_rng(0)
    for dtype in ("float16", "float32"):
        x, y = (rng.standard_normal((3, 5)).astype(dtype) for _ in range(2))
        a, b = (named.exact(v, ("i", "j"), dtype) for v in (x, y))
        for fn in ("sin", "exp", "tanh", "square", "abs"):
            want = operations._unary(operations._binary(a, b, "*"), fn)
            got = getattr(np, fn)(x * y)
            assert (np.abs(got.astype("f8") - want.value) <= want.error).all()
        total = operations._reduce(operations._binary(a, b, "+"), "sum", "j")
        assert (np.abs((x + y).sum(1).astype("f8") - total.value) <= total.error).all()
        assert total.error.max() < 0.1
