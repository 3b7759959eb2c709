"""Runs the examples of docstrings, in one process, and prints what it found as one line of JSON.

examples.py SCRIPTS     the public functions that SCRIPTS/list_functions.py lists
examples.py SCRIPTS --members   the members of classes, and the errors, of docs/site/members.txt
examples.py --self      one example with a wrong output
"""

from __future__ import annotations

import doctest
import functools
import importlib.util
import json
import sys
from typing import Any

import numpy as np
import xarray as xr
import xtensor as xt
from xtensor import _native

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# What an example needs besides xarray.
NEEDS = {
    "blocks": "dask", "from_jax": "jax", "from_stablehlo": "jax", "to_jax": "jax", "to_pytensor": "pytensor",
    "pytensor_mode": "pytensor", "to_torch": "torch",
    "named": "scipy", "Mesh": "mpi4py", "gather": "mpi4py", "local": "mpi4py", "save": "safetensors",
    "load_arrays": "safetensors",
}  # fmt: skip
PEERS = ("from_jax", "from_stablehlo", "pytensor_mode", "to_jax", "to_pytensor", "to_torch")


def lacking(name: str) -> bool:
    has_code = name != "to_jax" or hasattr(_native, "jax_handlers")
    return name in NEEDS and not (has_code and importlib.util.find_spec(NEEDS[name]))


def complaint(name: str, example: str) -> str:
    """What is wrong with an example: nothing, or the lines that differ."""
    lines: list[str] = []
    names = {"xt": xt, "np": np, "xr": xr}
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    test = doctest.DocTestParser().get_doctest(example, names, f"xt.{name}", None, 0)
    runner.run(test, out=lines.append)
    return "".join(lines)


def of_members() -> dict[str, Any]:
    """The example of each member as the reference shows it: alone."""
    import reference

    listed = reference.all_classes()
    shown = reference.member_examples()
    found: dict[str, Any] = {"examples": 0, "without": [], "wrong": []}
    for name, cls in {**listed, **reference.errors(), "bfloat16": None}.items():
        members = reference.members_of(cls) if name in listed else {}
        has_own = name in listed and "Example:\n" in (cls.__doc__ or "")
        wanted = set(members) or ({"."} if not has_own else set())
        found["without"] += sorted(f"{name}.{member}" for member in wanted - set(shown.get(name, {})))
        found["without"] += sorted(
            f"{name}.{member} is none" for member in set(shown.get(name, {})) - {*members, "", "."}
        )
        for member, example in shown.get(name, {}).items():
            text = reference.alone(name, member) if member else example
            found["examples"] += 1
            found["wrong"] += filter(None, [complaint(f"{name}.{member}", text)])
    return found


def of_all(peers: bool) -> dict[str, Any]:
    import list_functions

    found: dict[str, Any] = {"examples": 0, "without": [], "wrong": [], "not run": []}
    for name in dict.fromkeys(name for names in list_functions.families().values() for name in names):
        thing = functools.reduce(getattr, name.split("."), xt)
        if "Example:\n" not in (thing.__doc__ or "") or ">>> " not in thing.__doc__:
            found["without"].append(name)
        elif (name in PEERS) != peers:
            continue
        elif lacking(name):
            found["not run"].append(f"{name}: {NEEDS[name]}")
        else:
            found["examples"] += 1
            found["wrong"] += filter(None, [complaint(name, thing.__doc__)])
    return found


def twice(x: Any) -> Any:
    """
    >>> 2.0 + 1.0
    4.0
    """


if __name__ == "__main__":
    if sys.argv[1] == "--self":
        print(json.dumps([complaint("twice", twice.__doc__ or "")]))
    else:
        sys.path.insert(0, sys.argv[1])
        print(json.dumps(of_members() if "--members" in sys.argv else of_all(peers="--peers" in sys.argv)))
