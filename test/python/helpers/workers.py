"""How files of tests are given to workers where a test crashes one: pytest-xdist would run that test again in the next
worker, until it replaces workers no more and the session ends without the tests that are left."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneCrashPerTest(LoadFileScheduling):
        def remove_node(self, node: Any) -> str | None:
            """The test that a worker ran as it crashed has failed, and the rest of its file goes to another one."""
            files = self.assigned_work[node].values()
            crashed = next(((tests, test) for tests in files for test, done in tests.items() if not done), None)
            if crashed is None:
                return super().remove_node(node)
            tests, test = crashed
            tests[test] = True
            super().remove_node(node)
            return test

        def _reschedule(self, node: Any) -> None:
            """A worker runs a test when it knows which one follows, or that none does."""
            super()._reschedule(node)
            while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

    return OneCrashPerTest(config, log)
