"""scripts/setup.sh: what it says while it builds, and which version it builds."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

SCRIPTS = ROOT / "scripts"


def progress(lines: str) -> list[str]:
    parts = f". {SCRIPTS}/packages.sh; eval \"$(sed -n '/^progress()/,/^}}/p' {SCRIPTS}/setup.sh)\"; "
    parts += "set -euo pipefail; progress"
    done = subprocess.run(["bash", "-c", parts], input=lines, capture_output=True, text=True, check=True)
    return [line.split("s", 1)[1].strip() for line in done.stdout.splitlines()]


def test_a_build_tells_each_tenth_of_its_steps():
    steps = "".join(f"  [{i}/442] Building CXX object passes/a.cpp.o\n" for i in range(1, 443))
    told = progress("  Running command Building wheel\n" + steps)
    assert len(told) == 10
    assert told[0] == "45/442"
    assert told[-1] == "442/442"
    assert progress("[1/2] of something else\n[0/1] Re-running CMake...\n") == []


@pytest.mark.skipif(not shutil.which("git"), reason="git, which tells the version, is not installed")
def test_the_version_stays_while_a_build_runs(tmp_path: Path) -> None:
    pytest.importorskip("setuptools_scm")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / "pyproject.toml").write_text("[tool.setuptools_scm]\n")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    for command in (["init", "-q"], ["add", "pyproject.toml"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    version = ".venv/bin/python -m setuptools_scm"
    commit = f"git -C {tmp_path} -c user.name=a -c user.email=a@b commit -q --allow-empty -m two"
    script = f". {SCRIPTS}/packages.sh; {version}; keep_version; {commit}; {version}; "
    script += f"unset SETUPTOOLS_SCM_PRETEND_VERSION; {version}"
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    before, kept, after = done.stdout.split()
    assert before == kept != after
