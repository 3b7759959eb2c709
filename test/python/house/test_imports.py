"""Imports of the package: its rooms, as scripts/check_imports.py holds them, and what an import leaves behind."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path

import pytest
from places import ROOT
from xtensor.base.collector import Paused

_SPEC = importlib.util.spec_from_file_location("check_imports", ROOT / "scripts" / "check_imports.py")
assert _SPEC is not None and _SPEC.loader is not None
check_imports = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_imports)

pytestmark = pytest.mark.cpu_only("source files do not depend on a device")


def problems(folder: Path, **modules: str) -> list[str]:
    for name, text in modules.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check_imports.problems(folder)


def test_imports_of_the_package_point_down() -> None:
    assert check_imports.problems() == []


def test_an_import_that_points_up_is_told(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, base__a="from ..ops import b", ops__b="from ..base import c", base__c="")
    assert "xtensor.base.a imports xtensor.ops.b, which is above" in found


def test_modules_of_a_room_that_need_each_other_are_told(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, base__a="from .b import x", base__b="from . import a")
    assert "need each other" in found


def test_an_import_inside_of_a_function_needs_a_reason(tmp_path: Path) -> None:
    text = "def f():\n    import xarray\n    from .b import x\n"
    (found,) = problems(tmp_path, base__a=text, base__b="")
    assert "base/a.py:3" in found and "inside of a function" in found


def test_what_only_type_checkers_read_may_point_up(tmp_path: Path) -> None:
    text = "if TYPE_CHECKING:\n    from ..ops import b\n"
    assert problems(tmp_path, base__a=text, ops__b="") == []


@pytest.mark.parametrize("runs", [True, False])
def test_the_collector_is_paused_and_then_as_it_was(runs: bool) -> None:
    """Also where an import fails."""
    assert gc.isenabled()  # after the import of xtensor
    try:
        if not runs:
            gc.disable()
        with pytest.raises(ImportError), Paused():
            assert not gc.isenabled()
            raise ImportError
        assert gc.isenabled() == runs
    finally:
        gc.enable()
