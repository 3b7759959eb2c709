"""The types that a user's checker sees: user_program.py is checked by `make lint`, and does what it says."""

from __future__ import annotations

import user_program


def test_the_program_that_lint_checks_runs() -> None:
    assert user_program.main() > 0
