"""Sentences of the pages, as scripts/check_prose.py bounds them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from places import ROOT

_SPEC = importlib.util.spec_from_file_location("check_prose", ROOT / "scripts" / "check_prose.py")
assert _SPEC is not None and _SPEC.loader is not None
check_prose = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_prose)

pytestmark = pytest.mark.cpu_only("pages do not depend on a device")

LONG = " ".join(["word"] * 26)


def problems(text: str) -> list[str]:
    return [problem.removeprefix("page.md:") for problem in check_prose.problems("page.md", text)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"Short.\n\n{LONG[:70]}\n{LONG[70:]}", 3),  # over two lines
        (f"* {LONG[:70]}\n  {LONG[70:]}", 1),
        (f"# title\n\n| a |\n|---|\n| short | {LONG} |", 5),
        (f"Short. {LONG[:60]}\n{LONG[60:]}. Short", 1),
    ],
)
def test_a_long_sentence_is_told_with_the_line_where_its_paragraph_begins(text: str, line: int) -> None:
    (found,) = problems(text)
    assert found.startswith(f"{line}: 26 words, 25 at most")


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{LONG}\n```",
        f"Text:\n\n    {LONG}",
        f"{LONG[:50]}:\n\n* {LONG[50:110]}\n* {LONG[110:]}",  # items are sentences of their own
        f"{LONG[:70]};\n{LONG[70:]}",
        f"These are\n`{LONG[:80]}`.",
        "Ops: " + ",\n".join(["`add`"] * 30) + " and `sub`.",
        f"# {LONG[:90]}",
    ],
)
def test_code_lists_and_titles_are_not_long_sentences(text: str) -> None:
    assert problems(text) == []


def test_descriptions_of_tablegen_are_read(tmp_path: Path) -> None:
    file = tmp_path / "Ops.td"
    text = f"Short.\n\n    {LONG[:80]}\n    {LONG[80:]}"
    file.write_text(f"// {LONG}\ndef Op {{\n  let description = [{{\n    {text}\n  }}];\n}}\n")
    (found,) = check_prose.problems("page.md", check_prose.markdown(str(file)))
    assert found.startswith("page.md:6: 26 words")


def test_wide_prose_is_told_and_wide_tables_are_not() -> None:
    wide = "x" * 101
    assert problems(f"short\n{wide}") == ["2: 101 columns, 100 at most"]
    assert problems(f"| {wide} |\n\n```\n{wide}\n```\n[a link]({wide})") == []
