"""What several of these tests need, and where they run.

XTENSOR_TEST_DEVICE=vulkan makes new arrays on that device, so that every program of every test runs there; tests of
what is the CPU's alone are marked `cpu_only(reason)`. With XTENSOR_VALIDATE=1 the session fails if the validation
layers complained about anything.

XTENSOR_TEST_DEVICE=metal runs kernels for Metal on the CPU where this is no Mac (metal_shim.py). Metal has no float64:
tests that need it say so and are skipped.

What the default tier leaves to the full matrix is in tiers.py.
"""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from typing import Any

import hypothesis

# Before the runtime is loaded: what is never written is NaN, and writes outside of results are errors.
os.environ.setdefault("XTENSOR_DEBUG_MEMORY", "1")
# IR that no pass may make is an error at once, whether or not its code happens to be right.
os.environ.setdefault("XTENSOR_VERIFY", "1")

import _pytest.runner
import metal_shim
import pytest
import tiers
import xtensor as xt
from places import DEVICE, tool
from workers import pytest_xdist_make_scheduler  # noqa: F401 (pytest calls it)
from xtensor.compiler import supports
from xtensor.values.targets import Target

MESSAGES = pytest.StashKey[int]()
LEFT_OUT = pytest.StashKey[Counter[str]]()

# pytest adds PYTEST_CURRENT_TEST to the environment and removes it, around each phase of a test. Threads of a driver
# may read the environment meanwhile (lavapipe's compiler of kernels calls getenv), and before glibc 2.41 a variable
# that is added may free the memory that they read.
_pytest.runner._update_current_test_var = lambda item, when: None


def pytest_configure(config: pytest.Config) -> None:
    for marker in tiers.MARKERS:
        config.addinivalue_line("markers", marker)
    config.addinivalue_line("markers", "cpu_only(reason): a test of what only the CPU has or does")
    config.addinivalue_line("markers", "float64: of float64 throughout, which costs time where no device has it")
    if DEVICE == "metal" and sys.platform != "darwin":
        os.environ.setdefault("XTENSOR_METAL_LIBRARY", str(metal_shim.built()))
    if DEVICE != "cpu":
        xt.option(device=DEVICE)
        xt._native.set_waiting(True)  # tests expect errors about indices at the call
        _leave_out_what_it_lacks()


def pytest_report_header() -> str:
    return f"programs run on: {next(str(d) for d in xt.devices() if d.name == DEVICE)}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[LEFT_OUT] = tiers.select(items)
    # A full collection looks at what the libraries of all tests brought with them, in every test that asks for one.
    gc.collect()
    gc.freeze()
    for item in items if DEVICE != "cpu" else ():
        mark = item.get_closest_marker("cpu_only")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"the CPU's alone: {mark.args[0]}"))
        if DEVICE == "metal" and item.get_closest_marker("float64"):
            item.add_marker(pytest.mark.skip(reason="metal has no float64"))


def _leave_out_what_it_lacks() -> None:
    """A random example of a dtype that the device refuses is none."""
    refuse = supports._refuse

    def leave_out(target: Target, dtype: str, what: str, how: str, where: str | None = None) -> None:
        try:
            refuse(target, dtype, what, how, where)
        except xt.DeviceError:
            if hypothesis.currently_in_test_context():
                hypothesis.reject()
            raise

    supports._refuse = leave_out


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """A program that the device refuses for a dtype, before it runs, says nothing about it; nor does a test that
    expected another error of it (an AssertionError, which quotes the one that came)."""
    try:
        return (yield)
    except (xt.DeviceError, AssertionError) as error:
        lacks = re.search(rf"the device \\?'{DEVICE}\\?'.* has no (float64)", str(error))
        if lacks is None:
            raise
        pytest.skip(f"{DEVICE} has no {lacks[1]}")
    except hypothesis.errors.Unsatisfiable:
        if DEVICE == "cpu":
            raise
        pytest.skip(f"{DEVICE} has none of the dtypes of the examples")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist cannot fail the session: the process that started it adds up the messages. Each worker
    collects all tests, and leaves out the same ones."""
    sent = getattr(node, "workeroutput", {})
    node.config.stash[MESSAGES] = node.config.stash.get(MESSAGES, 0) + sent.get("validation messages", 0)
    node.config.stash[LEFT_OUT] = Counter(sent.get("left out", {})) | node.config.stash.get(LEFT_OUT, Counter())


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    skipped = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    if skipped:
        terminalreporter.write_line("skipped: " + ", ".join(f"{n} {reason}" for reason, n in skipped.most_common()))
    left = config.stash.get(LEFT_OUT, Counter())
    if left:
        terminalreporter.write_line(tiers.line(left))


def _reason(report: Any) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Whatever the validation layers said is a failure."""
    from xtensor.values.devices import BACKENDS, of_backend

    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = dict(session.config.stash.get(LEFT_OUT, Counter()))
    if os.environ.get("XTENSOR_VALIDATE") != "1":
        return
    messages = sum(device.messages for backend in BACKENDS for device in of_backend(backend))
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["validation messages"] = messages
        return
    messages += session.config.stash.get(MESSAGES, 0)
    if messages:
        print(f"\n{messages} messages of the validation layers: see above, or run with -s")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def xtensor_opt() -> Callable[[str, str], str]:
    """Runs xtensor-opt with options, separated by blanks, on a text; gives what it prints."""
    found = tool("xtensor-opt")

    def run(options: str, text: str) -> str:
        done = subprocess.run([found, *options.split()], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def metal() -> Iterator[str]:
    """Metal's name, where its runtime is Apple's or stands in for it."""
    metal_shim.text_or_reason(lambda x: x + 1, xt.spec(a=2, dtype="f4"))
    if sys.platform == "darwin":
        yield "metal"
        return
    before = os.environ.get("XTENSOR_METAL_LIBRARY")
    os.environ["XTENSOR_METAL_LIBRARY"] = str(metal_shim.built())
    yield "metal"
    if before is None:
        del os.environ["XTENSOR_METAL_LIBRARY"]
