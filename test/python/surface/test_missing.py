"""docs/missing.md lists each method and attribute that a DataArray has and an Array lacks, and no other."""

from __future__ import annotations

import re

import pytest
import xarray as xr
import xtensor as xt
from places import ROOT

X = xt.ones(time=2)
SECTION = (ROOT / "docs" / "missing.md").read_text().partition("## Methods of xarray\n")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in SECTION.splitlines() if line[:3] == "| `"]
LACKING = sorted(n for n in dir(xr.DataArray) if not n.startswith("_") and not hasattr(xt.Array, n))


def named(cell: str) -> list[str]:
    """The names of methods in the first column: those of `x.count` and `where(drop=True)` are count and where."""
    return re.findall(r"`(?:x\.)?(\w+)[^`]*`", cell)


def test_each_method_that_is_not_there_is_listed() -> None:
    listed = [name for first, *_ in ROWS for name in named(first)]
    assert [name for name in LACKING if name not in listed] == []


def test_what_is_listed_as_a_whole_is_not_there() -> None:
    whole = [name for first, what, _ in ROWS if what != "`keep_attrs=`" for name in re.findall(r"`(\w+)`", first)]
    partly = {"isel", "squeeze", "expand_dims", "roll", "rename", "groupby", "coarsen"}
    assert sorted(set(whole) - partly - set(LACKING)) == []


@pytest.mark.parametrize("name", LACKING)
def test_the_error_says_what_to_write(name: str) -> None:
    with pytest.raises(xt.AttributeError) as caught:
        getattr(X, name)
    said, _, instead = str(caught.value).partition("\n")[0].partition(f"has no attribute {name!r}: ")
    assert said and len(instead) > 5, caught.value
