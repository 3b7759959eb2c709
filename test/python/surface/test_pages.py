"""The Python of the Markdown pages runs, and scripts/run_pages.py notices where it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

RUNNER = ROOT / "scripts" / "run_pages.py"


def run_pages(*pages: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(RUNNER), *map(str, pages)], capture_output=True, text=True, cwd=ROOT)


@pytest.mark.full("make site runs the pages")
def test_the_pages_of_this_repository() -> None:
    pages = [p for p in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")) if "```python" in p.read_text()]
    assert pages
    done = run_pages(*pages)
    assert done.returncode == 0, done.stderr


def test_the_list_of_functions_is_what_there_is() -> None:
    listed = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "list_functions.py")], capture_output=True, text=True, cwd=ROOT
    )
    assert listed.returncode == 0, listed.stderr
    page = ROOT / "docs" / "functions.md"
    assert listed.stdout == page.read_text(), "run scripts/list_functions.py docs/functions.md"


def test_the_tables_of_accuracy_are_those_that_tests_check() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "list_bounds.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("x = 1\nassert x == 2\n", ":4: AssertionError"),
        ("x = 1\n```\n\n```python\nassert x == 1\n", None),
        ("int('a')  # ValueError: invalid literal ... 'a'\n", None),
        ("int('a')\n# ValueError: invalid literal\n# for int() with base 10: 'a'\nx = 1\n", None),
        ("int('a')\n# ValueError: valid literal\n", None),
        ("int('a')\n# ValueError: something else\n", ":3: promised ValueError: something else"),
        ("int('a')\n# TypeError: invalid literal\n", "but got ValueError: invalid literal"),
        ("int('1')\n# ValueError: invalid literal\n", "promised ValueError, and nothing was raised"),
    ],
)
def test_what_a_page_promises(program: str, complaint: str | None, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Text\n```python\n{program}```\n")
    done = run_pages(page)
    assert (done.returncode == 0) == (complaint is None), done.stderr
    assert (complaint or "") in done.stderr
