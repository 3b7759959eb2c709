"""scripts/setup.sh: what it says while it builds."""

import subprocess

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
