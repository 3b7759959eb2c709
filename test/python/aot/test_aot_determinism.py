"""The same program, options and version give the same bytes: in every folder, process, time zone and year."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

PROGRAM = '''\
"""Every part of a bundle that could tell where it was made: sites, ranges, weights, constants, defaults, locations."""
import sys
import time

import numpy as np
import xtensor as xt

if "warm" in sys.argv:  # what was traced before leaves nothing
    xt.jit(lambda x: xt.cumsum(xt.exp(x), dim="i"))(xt.ones(i=5)).values
    xt.export(lambda x, i: x.isel(row=i) * 2.0, args=(xt.spec(row=4), xt.spec(k=2, dtype="i8")), c=False)
time.tzset()
w = xt.array(np.arange(12.0).reshape(4, 3), ("row", "col"))


@xt.custom_derivative
def clipped(x):
    return xt.minimum(x, 1.0)


clipped.defpushforward(lambda primals, tangents: (xt.minimum(*primals, 1.0), tangents[0]))


def step(carry, x):
    return carry * 0.5 + x, xt.tanh(carry)


def f(p, index, n=3, names=frozenset("abcdef"), act=np.tanh):
    """Looks rows up.

        Indented.
    """
    rows = w.isel(row=index) * p["a"]
    last, all_ = xt.scan(step, xt.zeros(col=3), rows, dim="k")
    both = xt.cond(xt.sum(last) > 0.0, lambda x: x * 2.0, lambda x: clipped(x), last)
    both = both + xt.max(p["b"], dim="z")
    return {"last": both, "all": all_, "at": w.at(row=index).add(1.0), "n": xt.dot(rows, w, dim="col") * n}


example_args = (
    {"a": xt.spec(col=3), "b": xt.spec(z=None)},
    xt.spec(k=None, dtype="i8"),
    2,
)
if __name__ == "__main__":
    xt.export(f, args=example_args, targets=sys.argv[1].split(), path=sys.argv[2], name="model")
'''


TARGETS = "cpu cpu:aarch64-linux-gnu cuda,f64,i64,i16,i8,subgroup=32,workgroup_bytes=16384,max_threads=256,sm=80"


def made(folder: Path, script: str, *words: str, umask: int = 0o022, **environment: str) -> bytes:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.py").write_text(PROGRAM)
    out = folder / "out.xtb"
    done = subprocess.run(
        [sys.executable, script, TARGETS, str(out), *words],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        umask=umask,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out.read_bytes()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return made(tmp_path_factory.mktemp("first"), "program.py", PYTHONHASHSEED="1", TZ="UTC")


def members(data: bytes) -> dict[str, str]:
    return {n: hashlib.sha256(data[a:b]).hexdigest() for n, (a, b) in xt._native.read_zip(data).items()}


CASES = ("folder", "spelling", "seed", "history", "time and rights")
ONE = pytest.mark.full("one difference, where another run has all of them")


@pytest.mark.parametrize("case", ["all", *(pytest.param(case, marks=ONE) for case in CASES)])
def test_same_bytes(first: bytes, tmp_path: Path, case: str) -> None:
    folder, script, words, umask = tmp_path / "a longer folder" / "größe", "program.py", [], 0o022
    environment = {"PYTHONHASHSEED": "1", "TZ": "UTC"}
    if case in ("all", "spelling"):
        script = str(folder / ".." / "größe" / "program.py")
    if case in ("all", "seed"):
        environment["PYTHONHASHSEED"] = "4711"
    if case in ("all", "history"):
        words = ["warm"]
    if case in ("all", "time and rights"):
        umask, environment["TZ"] = 0o077, "Asia/Kathmandu"
        environment |= {"LC_ALL": "C", "TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XTENSOR_CACHE_DIR": "off"}
    second = made(folder, script, *words, umask=umask, **environment)
    assert members(second) == members(first)
    assert second == first


def test_nothing_tells_a_folder(first: bytes, tmp_path: Path) -> None:
    data = made(tmp_path / "secret-place", "program.py")
    assert b"secret-place" not in data
    assert b"program.py" in data  # errors tell file and line
    assert data == first


def test_the_command_line_gives_what_the_function_gives(first: bytes, tmp_path: Path) -> None:
    found = []
    for folder, spelling in (("a", "program.py"), ("b", "./program.py"), ("c", str(tmp_path / "c" / "program.py"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "program.py").write_text(PROGRAM)
        done = subprocess.run(
            [sys.executable, "-m", "xtensor.cli", "compile", f"{spelling}:f", "-o", "model.xtb"],
            cwd=tmp_path / folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append((tmp_path / folder / "model.xtb").read_bytes())
    assert found[0] == found[1] == found[2]


def test_code_of_the_same_text_in_another_file() -> None:
    """What was traced of one file says nothing of another, of which every function has equal code."""

    def exported(name: str) -> bytes:
        there: dict[str, Any] = {"__name__": "program"}
        exec(compile("import xtensor as xt\n\n\ndef f(x, i):\n    return x.isel(row=i)\n", name, "exec"), there)
        bundle = xt.export(there["f"], args=(xt.spec(row=4), xt.spec(k=2, dtype="i8")), c=False, name="m")
        assert [where for _, where, _ in bundle.manifest.functions[0].sites] == [f"{name}:5"]
        with pytest.raises(IndexError, match=rf"at {name}:5$"):
            xt.jit(there["f"])(xt.ones(row=4), xt.array([1, 9], "k"))
        return bundle.data

    alone = exported("a.py")
    assert exported("b.py") != alone
    assert exported("a.py") == alone


def test_errors_of_an_export_tell_the_whole_path() -> None:
    """Only the file is without folders: what goes wrong on the way is told at the line as the user has it."""

    def rule(primals: Any, tangents: Any) -> Any:
        return primals[0], tangents[0] * tangents[0]

    f = xt.custom_derivative(lambda x: x * 1.0)
    f.defpushforward(rule)
    with pytest.raises(xt.GradientError, match="not linear in the tangents") as caught:
        xt.export(lambda x: xt.grad(lambda x: xt.sum(f(x)))(x), args=(xt.spec(i=3),), c=False)
    assert str(caught.value).endswith(f"\n  at {Path(__file__).resolve()}:{rule.__code__.co_firstlineno + 1}")
