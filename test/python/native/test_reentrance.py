"""Calls in the midst of others: signal handlers, other threads, programs that are all in use."""

from __future__ import annotations

import enum
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from xtensor.call import dispatch, opened
from xtensor.trace import scope


class Level(enum.IntEnum):
    HIGH = 3


class Metres(float):
    pass


@pytest.mark.parametrize("number", [Level.HIGH, Metres(2.5)])
def test_numbers_of_classes_of_their_own(number: Any) -> None:
    x = xt.array(np.arange(3.0), dims="t")
    for _ in range(3):
        np.testing.assert_array_equal((x + number).values, np.arange(3.0) + number)
        np.testing.assert_array_equal(xt.multiply(x, number).values, np.arange(3.0) * number)


def test_a_handler_that_captures_an_array_while_another_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's arguments keep the order of the arrays that they stand for."""
    mine, others = (xt.array(np.arange(3.0) + n, dims="t") for n in (100, 1000))
    old, armed = scope.location.of_user, [1]

    def of_user(*args: Any, **kwargs: Any) -> Any:
        if armed and sys._getframe(1).f_code.co_name == "capture":
            armed.pop()
            signal.raise_signal(signal.SIGUSR1)
        return old(*args, **kwargs)

    before = signal.signal(signal.SIGUSR1, lambda *_: xt.negative(others))
    try:
        monkeypatch.setattr(scope.location, "of_user", of_user)
        f = xt.jit(lambda x: x + mine)
        for _ in range(2):
            np.testing.assert_array_equal(f(xt.zeros(t=3)).values, mine.values)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not armed


def test_an_exception_that_is_not_the_programs_passes_through_an_open_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an alarm: the call is not tried again for its sizes."""
    old = dispatch._Eager.compile

    def compile_(self: Any, found: Any, device: Any, varying: Any = frozenset()) -> Any:
        if varying:
            raise TimeoutError
        return old(self, found, device, varying)

    monkeypatch.setattr(dispatch._Eager, "compile", compile_)
    with pytest.raises(TimeoutError):
        for n in range(3, 13):
            xt.signal.convolve(xt.ones(late=n), xt.ones(lag=2), dims=("late", "lag"), mode="same")
            xt.deg2rad(xt.ones(late=n))


def test_a_program_is_for_the_options_that_it_was_traced_under() -> None:
    x, i = xt.array(np.arange(5.0), dims="t"), xt.array(7)
    traced, changed = threading.Event(), threading.Event()

    def other() -> None:
        traced.wait()
        xt.option(index="clip")
        changed.set()

    @xt.jit
    def f(x: Any, i: Any) -> Any:
        y = x[{"t": i}]
        if not changed.is_set():
            traced.set()
            changed.wait()
        return y

    thread = threading.Thread(target=other)
    thread.start()
    try:
        with pytest.raises(xt.IndexError):
            f(x, i).values  # noqa: B018 (a device tells when it is read)
        assert [f(x, i).item() for _ in range(2)] == [4.0, 4.0]
    finally:
        thread.join()
        xt.option(index="raise")


def test_a_new_program_is_not_the_one_that_goes() -> None:
    programs = opened.Programs(most=2)
    for n in range(6):
        programs.add(n, lambda _: False, SimpleNamespace(used=False, retire=None, executable=None))  # type: ignore[arg-type]
        assert n in programs.entries
        assert len(programs.entries) <= 2
        for entry in programs.entries.values():
            entry.used = True


SUB_INTERPRETER = """
import sys
import _xxsubinterpreters as interpreters
if sys.argv[1] == "after":
    import xtensor as xt
try:
    interpreters.run_string(interpreters.create(), "import xtensor")
except interpreters.RunFailedError as error:
    print(error)
import xtensor as xt
print(float(xt.sum(xt.array([1.0, 2.0], dims="a"))))
"""


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="later versions have another module for sub-interpreters")
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_sub_interpreter_is_refused(order: str) -> None:
    """And the main one is not harmed, whether or not it has imported the package before."""
    done = subprocess.run([sys.executable, "-c", SUB_INTERPRETER, order], capture_output=True, text=True, check=False)
    said, value = done.stdout.splitlines()
    assert (
        said == "<class 'ImportError'>: xtensor works in the main interpreter of a process, and this is a "
        "sub-interpreter: import it there, or start a process (multiprocessing)"
    )
    assert value == "3.0"
    assert done.stderr == ""
