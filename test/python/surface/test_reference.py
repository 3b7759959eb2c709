"""Each public function has the sections of the reference: parameters, what it returns, errors, an example. Each error
that a docstring names is raised by a program of raises.txt."""

from __future__ import annotations

import functools
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import raising
import xtensor as xt
from places import HELPERS, ROOT

pytestmark = pytest.mark.cpu_only("docstrings are the same on every device")

# They take all that they can be given, or nothing.
WITHOUT_ERRORS = {
    "debug.backward", "debug.breakpoint", "debug.dump_phases", "devices", "tree.flatten", "tree.leaves", "tree.paths",
    "tree.structure",
}  # fmt: skip


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The parts of each docstring, as the site shows them."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import list_functions
    import reference

    names = [name for names in list_functions.families().values() for name in names]
    yield {name: reference.parsed(functools.reduce(getattr, name.split("."), xt), name) for name in names}


def test_each_public_name_has_all_sections(entries: dict[str, Any]) -> None:
    lacking = []
    for name, entry in entries.items():
        lacking += [f"{name}: what is {p}?" for p, (_, text) in entry.parameters.items() if not text]
        if not entry.prose or not entry.example:
            lacking.append(f"{name}: prose or example")
        if inspect.isclass(functools.reduce(getattr, name.split("."), xt)):
            continue
        if not entry.returns:
            lacking.append(f"{name}: what does it return?")
        if not entry.raises and name not in WITHOUT_ERRORS:
            lacking.append(f"{name}: Raises:")
    assert lacking == []
    assert len(entries) > 380


def test_parameters_of_members_are_described(entries: dict[str, Any]) -> None:
    import reference

    lacking = []
    for name, cls in reference.all_classes().items():
        for member, thing in reference.members_of(cls).items():
            found = reference.member_entry(name, member, thing) if reference.is_method(thing) else None
            known = found.parameters.items() if found else ()
            lacking += [f"{name}.{member}: what is {p}?" for p, (_, text) in known if not text and p != "cls"]
    assert lacking == []


def test_methods_say_what_they_return_and_which_errors_they_raise(entries: dict[str, Any]) -> None:
    import reference

    told = reference.member_errors()
    lacking, unknown = [], []
    for name, cls in reference.all_classes().items():
        methods = {m: thing for m, thing in reference.members_of(cls).items() if reference.is_method(thing)}
        unknown += sorted(f"{name}.{m}" for m in set(told.get(name, {})) - set(methods))
        for member, thing in methods.items():
            found = reference.member_entry(name, member, thing)
            lacking += [f"{name}.{member}: what does it return?"] * (not found.returns)
            lacking += [f"{name}.{member}: errors?"] * (not found.raises and member not in told.get(name, {}))
    assert lacking == [] and unknown == []


def test_public_members_have_an_entry(entries: dict[str, Any]) -> None:
    import reference

    public = {name for name in dir(xt.Array) if not name.startswith("_")}
    assert public - set(reference.members_of(xt.Array)) == {"meta", "type"}  # of the package's own use


def test_each_error_that_is_named_has_a_program(entries: dict[str, Any]) -> None:
    named = {name: {kind for kind, _ in entry.raises} for name, entry in entries.items() if entry.raises}
    programs = {name: set(errors) for name, errors in raising.programs().items()}
    assert named == programs


def test_names_of_formulas_are_sources_of_their_own(entries: dict[str, Any]) -> None:
    assert entries["gelu"].sources == ['Hendrycks and Gimpel, "Gaussian error linear units" (2016).']
    assert not any("Source:" in text for entry in entries.values() for text in entry.prose)


def run(where: Path, *more: str) -> Any:
    """In a process of its own: a program may write a file, start MPI, or leave an option set."""
    command = [sys.executable, str(HELPERS / "raising.py"), str(ROOT / "scripts"), *more]
    done = subprocess.run(command, capture_output=True, text=True, cwd=where)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_each_error_that_is_named_is_raised(tmp_path: Path) -> None:
    found = run(tmp_path)
    print("not run, because a package is missing:", found["not run"])
    assert found["wrong"] == [], "\n".join(found["wrong"])
    assert found["programs"] > 600


def test_each_error_of_a_method_is_raised(tmp_path: Path) -> None:
    found = run(tmp_path, "--members")
    assert found["wrong"] == [], "\n".join(found["wrong"])
    assert found["programs"] > 35


@pytest.mark.full("importing PyTorch and JAX takes 9 s")
def test_errors_beside_other_libraries(tmp_path: Path) -> None:
    found = run(tmp_path, "--peers")
    print("not run, because a package is missing:", found["not run"])
    assert found["wrong"] == [], "\n".join(found["wrong"])
