"""`help` of each public name shows how to call it, and its docstring, as `?` in IPython does."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import pydoc
import re
from typing import Any

import xtensor as xt
from places import ROOT


def public() -> dict[str, Any]:
    """What scripts/list_functions.py lists."""
    spec = importlib.util.spec_from_file_location("list_functions", ROOT / "scripts" / "list_functions.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = [name for names in module.families().values() for name in names]
    return {name: functools.reduce(getattr, name.split("."), xt) for name in names}


def shown(thing: Any) -> list[str]:
    """The lines of `help(thing)` from the signature on."""
    return pydoc.render_doc(thing, renderer=pydoc.plaintext).splitlines()[2:]


def as_one_reads(lines: list[str]) -> str:
    return " ".join(" ".join(lines).replace("|", " ").split())


def test_help_of_each_public_name_shows_its_parameters_and_docstring() -> None:
    called = 0
    for name, thing in public().items():
        lines = shown(thing)
        assert as_one_reads(inspect.getdoc(thing).splitlines()[:3]) in as_one_reads(lines), name
        if callable(thing) and not inspect.isclass(thing):
            called += 1
            # From CPython 3.13 on, a long one has a line for each parameter, and a comma behind the last.
            signature = re.sub(r"[\s,]", "", f"{thing.__name__}{inspect.signature(thing)}")
            assert re.sub(r"[\s,]", "", "".join(lines)).startswith(signature), name
    assert called > 300


def test_help_of_methods_and_compiled_functions() -> None:
    assert shown(xt.Array.sum)[0].startswith("sum(self, dim: 'Dims' = None")

    @xt.jit
    def scale(x: Any, by: Any = 2.0) -> Any:
        """Returns x times `by`."""
        return x * by

    assert shown(scale)[:2] == ["scale(x: 'Any', by: 'Any' = 2.0) -> 'Any'", "    Returns x times `by`."]
    loaded = xt.load(xt.export(scale, (xt.spec(i=None),), c=False))
    assert shown(loaded)[0].startswith("scale(x")


def test_a_function_that_a_class_keeps_is_called_without_the_instance() -> None:
    class Layer:
        activation = xt.relu

    x = xt.array([-1.0, 2.0], "i")
    assert Layer().activation is xt.relu is Layer.activation
    assert Layer().activation(x).values.tolist() == [0.0, 2.0]
