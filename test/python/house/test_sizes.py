"""Lengths of functions and files, as scripts/check_sizes.py holds them."""

from __future__ import annotations

import importlib.util

import pytest
from places import ROOT

_SPEC = importlib.util.spec_from_file_location("check_sizes", ROOT / "scripts" / "check_sizes.py")
assert _SPEC is not None and _SPEC.loader is not None
check_sizes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_sizes)

pytestmark = pytest.mark.cpu_only("source files do not depend on a device")


def test_a_long_function_of_python_is_told() -> None:
    lines = ["class A:", "    @property", "    def f(self):", *["        pass"] * 98]
    assert check_sizes.problems("a.py", "\n".join(lines)) == []
    (found,) = check_sizes.problems("a.py", "\n".join([*lines, "        pass"]))
    assert found == "a.py:2: f has 101 lines; a function has at most 100"


@pytest.mark.parametrize(
    ("head", "end", "first"),
    [
        (["void f(int a) {"], "}", "f"),
        (["template <typename T>", "Wide<T> A::f(int a,", "             int b) {"], "}", "A::f"),
        (["A::A(int a)", "    : a(a), b(a) {"], "}", "A::A"),
        (["class A {", "  // What it does.", "  int f() const {"], "  }", "f"),
    ],
)
def test_a_long_function_of_c_is_told(head: list[str], end: str, first: str) -> None:
    body = ["    if (x) {", "      g();", "    }"] * 40
    (found,) = check_sizes.problems("a.cpp", "\n".join(["", *head, *body, end, ""]))
    assert f": {first} has " in found


def test_blocks_that_are_not_functions_may_be_long() -> None:
    lines = ["struct A {", *["  int f() {", "    return g([&] {", "      h();", "    });", "  }"] * 30, "};"]
    assert check_sizes.problems("a.h", "\n".join(lines)) == []
    condition = ["int f() {", "  if (auto x = g();", "      x && h(x)) {", "    h();", "  }", "}"]
    assert check_sizes.problems("a.c", "\n".join(condition * 30)) == []


def test_a_long_file_is_told() -> None:
    assert check_sizes.problems("a.td", "\n" * 650) == []
    (found,) = check_sizes.problems("a.td", "\n" * 651)
    assert found == "a.td: 651 lines; a file has at most 650"
