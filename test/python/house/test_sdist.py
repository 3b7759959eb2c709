"""scripts/sdist.sh: what a source distribution has of other libraries."""

import subprocess
from pathlib import Path

import metal_shim
import pytest
from places import ROOT

SYSTEM = Path("/usr/include")


def test_it_has_all_headers_of_highway_that_are_compiled(tmp_path: Path) -> None:
    clang = metal_shim.compiler()
    if clang is None or not (SYSTEM / "hwy").exists():
        pytest.skip("needs Clang and the headers of Highway (Debian: clang-22, libhwy-dev)")
    copy = f"eval \"$(sed -n '/^copy_highway()/,/^}}/p' {ROOT}/scripts/sdist.sh)\"; copy_highway {SYSTEM} copied"
    subprocess.run(["bash", "-euc", copy], cwd=tmp_path, check=True)
    source = ROOT / "runtime" / "VectorSort.cpp"
    command = [clang, "-std=c++20", "-fsyntax-only", "-H", "-DXTENSOR_HAS_HIGHWAY", f"-I{source.parent}", "-Icopied"]
    done = subprocess.run([*command, source], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # -H lists the headers that were read. Those of the system come after the copied ones.
    read = [line.strip(". ") for line in done.stderr.splitlines() if line.startswith(".") and "/hwy/" in line]
    assert len(read) > 10
    assert [path for path in read if not path.startswith("copied/")] == []
