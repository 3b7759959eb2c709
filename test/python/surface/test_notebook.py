"""What notebooks show: HTML of arrays, jitted functions and bundles, in which every text is escaped."""

from __future__ import annotations

import functools
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt

BAD = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Fails for tags that do not match, and keeps the text, the tags and the links."""

    ALONE = frozenset({"br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href" and tag == "a"]
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def page(x: Any) -> Page:
    found = Page(x._repr_html_())
    assert "script" not in found.tags
    return found


def labelled() -> xt.Array:
    xr = pytest.importorskip("xarray")
    coords = {"t": [10, 20, 30], BAD: ("t", [BAD] * 3)}
    return xt.as_array(xr.DataArray(np.arange(3.0), dims="t", coords=coords, attrs={BAD: BAD}, name=BAD))


@pytest.mark.cpu_only("it says where arrays of devices are")
@pytest.mark.parametrize("has_xarray", [True, False])
def test_arrays(has_xarray: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x = labelled()
    if not has_xarray:
        monkeypatch.setitem(sys.modules, "xarray", None)
        monkeypatch.setattr("xtensor.labels.xarray.is_dataarray", lambda x: False)
    shown = page(x)
    assert "xtensor.Array (t: 3) float64" in shown.text and "xarray.DataArray" not in shown.text
    for part in ("20", BAD, "Coordinates", "Attributes"):
        assert part in shown.text, part
    assert ("details" in shown.tags) is not has_xarray
    for other in (xt.zeros(a=0), xt.array(2.0, ()), xt.ones({BAD: 2}, dtype="bfloat16"), xt.ones(a=200, b=300)):
        assert len(other._repr_html_()) < 60_000
        page(other)


def test_a_part_of_a_function_has_the_text_of_the_function() -> None:
    def add(a: Any, b: Any) -> Any:
        """Adds both."""
        return a + b

    f = xt.jit(functools.partial(add, 2.0))
    assert f.__doc__ == "Adds both." and "Adds both." in page(f).text and "partial application" not in page(f).text


def test_compilations_that_are_no_longer_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xtensor.surface.notebook.KEPT", 2)
    f = xt.jit(lambda x: x * 2)
    f(xt.ones(a=2))
    assert "Compilations (1)" in page(f).text
    f(xt.ones(a=3))
    assert "Compilations (the last 2)" in page(f).text


def test_jitted_functions(tmp_path: Path) -> None:
    @xt.jit(static="name")
    def f(x: Any, name: str = BAD) -> Any:
        """Doubles <it>."""
        return x * 2

    assert "Compilations (0)" in page(f).text
    f(xt.ones(a=2))
    f(xt.ones(a=3))
    shown = page(f)
    assert "xt.jit f(x: 'Any', name: 'str' = '<script>" in shown.text and "Doubles <it>." in shown.text
    assert "x: float64 (a: 3)" in shown.text and "dim a was 2, now 3" in shown.text
    assert shown.links and all(link == Path(__file__).as_uri() for link in shown.links)
    assert page(xt.grad(lambda x: xt.sum(x))).text.startswith("xt.jit grad(<lambda>)(x)")


def test_bundles() -> None:
    def scale(x: Any) -> Any:
        """Doubles <it>."""
        return x * 2

    bundle = xt.export(scale, args=(xt.spec(a=None, dtype="f4"),), c=False)
    shown = page(bundle)
    for part in ("scale(x: float32 (a: ?)) -> float32 (a: ?)", "Doubles <it>.", "Targets (1)", "cpu", "Contents"):
        assert part in shown.text, part
    loaded = xt.load(bundle)
    assert "float32 (a: ?)" in page(loaded).text
    several = {"f": (scale, (xt.spec(a=2),)), "g": (scale, (xt.spec(b=3),))}
    both = xt.load(xt.export(several, c=False))
    assert "loaded functions 2" in page(both).text and "(b: 3)" in page(both).text
