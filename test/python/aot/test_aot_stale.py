"""A program in C and a library of another header than its own: they do not come together. With other values of the
same arrays they do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from places import COMPILER

pytestmark = [
    pytest.mark.cpu_only("bundles hold code for CPUs"),
    pytest.mark.skipif(not COMPILER, reason="there is no C compiler"),
]

T = xt.spec(t=None, dtype="f4")
PROGRAM = """
#include "shop.h"
#include <stdio.h>
int main(void) {
  float x[2] = {1, 2}, y[2] = {10, 20}, r[2] = {0, 0};
  shop_f_x a = {x, 2};
  shop_f_y b = {y, 2};
  shop_f_result c = {r, 2};
  if (shop_f_workspace(2) < 0)
    return 3;
  int32_t code = shop_f(&a, &b, &c, 0);
  printf("%d %g %g %g %g", code, r[0], r[1], y[0], y[1]);
  return 0;
}
"""


def extracted(folder: Path, f: Callable[..., Any], *args: Any) -> tuple[Path, Path]:
    """The folder of the header, and that of the libraries."""
    bundle = xt.export({"f": (f, args)}, name="shop", blas=None)
    out = bundle.extract(folder)
    return out, (out / str(bundle.manifest.targets[0].shared)).parent


def both(x: Any, y: Any) -> Any:
    return x * 2.0 + y


OTHERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "fewer arguments": (lambda x: x * 2.0, (T,)),
    "another order": (lambda y, x: x * 2.0 + y, (T, T)),
    "another dtype": (both, (T, xt.spec(t=None, dtype="f8"))),
    "other dims": (lambda x, y: x * 2.0 + y.rename(s="t"), (T, xt.spec(s=None, dtype="f4"))),
    "a size that is fixed": (both, (xt.spec(t=2, dtype="f4"), xt.spec(t=2, dtype="f4"))),
    "another result": (lambda x, y: (x * 2.0 + y, x), (T, T)),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out, libraries = extracted(tmp_path_factory.mktemp("own"), both, T, T)
    (out / "main.c").write_text(PROGRAM)
    how = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{out}"]
    link = [f"-L{libraries}", "-lshop"]
    subprocess.run([COMPILER, *how, out / "main.c", *link, "-o", out / "main"], check=True)
    subprocess.run([COMPILER, *how, "-c", out / "main.c", "-o", out / "main.o"], check=True)
    assert ran(out / "main", libraries).stdout == "0 12 24 10 20"
    return out


def ran(main: Path, libraries: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LD_LIBRARY_PATH": str(libraries)}
    return subprocess.run([main], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("case", OTHERS)
def test_another_header(program: Path, tmp_path: Path, case: str) -> None:
    f, args = OTHERS[case]
    _, libraries = extracted(tmp_path, f, *args)
    done = ran(program / "main", libraries)
    assert done.returncode != 0
    assert not done.stdout
    assert "undefined symbol: shop_f" in done.stderr
    linked = subprocess.run(
        [COMPILER, program / "main.o", libraries / "libshop.a", "-lm", "-o", tmp_path / "main"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert linked.returncode != 0
    assert "shop_f__" in linked.stderr


def test_other_values(program: Path, tmp_path: Path) -> None:
    """What is computed is the library's business."""
    w = xt.array([3.0, 4.0], "t")
    _, libraries = extracted(tmp_path, lambda x, y: (x * xt.sum(w) + y).astype("f4"), T, T)
    assert ran(program / "main", libraries).stdout == "0 17 34 10 20"
