"""Loads mutated copies of a bundle and calls what loads: mutate.py BUNDLE SEED COUNT [members] prints how many did. The
bundle's functions, one or several, multiply by [1, 2, 3], in one of two ways (`call`). Half of the copies have other
bytes, half another manifest; with `members` they have another program or other weights, and right hashes. Whatever
loads all the same gives right numbers, called, differentiated, vectorized and compiled, or an error."""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xtensor as xt
from xtensor import _native

VALUES: list[Any] = [None, True, 0, 1, -1, 3, 2**31, 2**62, 2**63, 1e300, "", "i", "x" * 300, [], {}, [[]], ["i", "i"]]
VALUES += ["../x", [2, "i"]]


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(tree, (dict, list)):
        for k, v in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(v, (*path, k))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for k in path:
        tree = tree[k]
    return tree


def of_manifest(parts: dict[str, bytes]) -> bytes:
    """Something is missing, doubled, moved or replaced."""
    table = json.loads(parts["manifest.json"])
    found = list(places(table))[1:]
    new = json.loads(parts["manifest.json"])
    for _ in range(random.choice([1, 1, 2])):
        *path, last = random.choice(found)
        kind = random.randrange(4)
        try:
            inner = at(new, tuple(path))
            if kind == 0:
                del inner[last]
            elif kind == 1 and isinstance(inner, list):
                inner.append(inner[last])
            elif kind == 2:
                inner[last] = json.loads(json.dumps(at(table, random.choice(found))))
            else:
                inner[last] = random.choice(VALUES)
        except (KeyError, IndexError, TypeError):
            pass  # what was to be changed went before
    return zipped(parts, new)


def zipped(parts: dict[str, bytes], table: Any) -> bytes:
    return _native.write_zip(list((parts | {"manifest.json": json.dumps(table).encode()}).items()))


def of_members(parts: dict[str, bytes]) -> bytes:
    """Another program, or other weights, and for some the manifest as well; the code stays as it is."""
    table = json.loads(parts["manifest.json"])
    programs = [n for n in parts if n.endswith(".mlirbc")]
    weight = random.choice([w for f in table["functions"] for w in f["weights"]])
    name = random.choice([*programs * 4, weight["member"]])
    begin, end = (0, len(parts[name])) if name in programs else (weight["offset"], weight["offset"] + 24)
    new = parts[name]
    while new == parts[name]:
        new = parts[name][:begin] + of_bytes(parts[name][begin:end]) + parts[name][end:]
    if name not in programs:
        weight["sha256"] = hashlib.sha256(new[begin:end]).hexdigest()
    table["members"][name] = {"bytes": len(new), "sha256": hashlib.sha256(new).hexdigest()}
    if random.randrange(8) == 0:  # code of another file that is no code
        random.choice(table["targets"][0]["code"])["kernel"] = random.choice(list(parts))
    return zipped(parts | {name: new}, table)


def of_bytes(data: bytes) -> bytes:
    """Bits flipped, bytes replaced, removed, repeated, or cut off."""
    bad = bytearray(data)
    kind = random.randrange(5)
    for _ in range(random.choice([1, 1, 1, 8, 64])):
        place = random.randrange(len(bad))
        if kind == 0:
            bad[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            bad[place] = random.randrange(256)
        elif kind == 2:
            del bad[place : place + random.choice([1, 4, 100, 5000])]
        elif kind == 3:
            bad[place:place] = bad[random.randrange(len(bad)) :][: random.choice([1, 4, 100])]
        else:
            return bytes(bad[:place])
        if not bad:
            break
    return bytes(bad)


def call(g: Any) -> Any:
    """Of test_aot_bundles.py: one array of an open size, or a dict of one of fixed sizes, and a number."""
    x = xt.ones(i=2, j=3)
    if "p" in g.__signature__.parameters:
        return g({"x": x}, 1)
    return g(x, 1) if "s" in g.__signature__.parameters else g(x)


def transformed(g: Any) -> None:
    """Its program is read, and goes through every pass."""
    x = xt.ones(i=2, j=3)
    xt.grad(lambda x: xt.sum(g(x, 1)))(x)
    xt.jit(lambda x: g(x, 1) * 2.0)(x)
    xt.vectorize(lambda x: g(x, 1), "b")(xt.ones(b=2, i=2, j=3))


def main(path: str, seed: str, count: str, what: str = "") -> None:
    random.seed(int(seed))
    data = Path(path).read_bytes()
    parts = {name: data[a:b] for name, (a, b) in _native.read_zip(data).items()}
    loaded = 0
    for n in range(int(count)):
        bad = of_members(parts) if what else of_manifest(parts) if n % 2 else of_bytes(data)
        try:
            g = xt.load(bad)
        except xt.BundleError:
            continue
        loaded += 1
        for f in g.values() if isinstance(g, xt.LoadedFunctions) else [g]:
            try:
                y = call(f)
                if what:
                    transformed(f)
            except xt.Error:
                continue
            right = type(y) is xt.Array and y.dims == ("i", "j") and y.dtype == "f8"
            if not right or y.values.tolist() != [[1, 2, 3]] * 2:
                raise RuntimeError(f"seed {seed}, bundle {n}: {y!r}")
    print(loaded)


if __name__ == "__main__":
    main(*sys.argv[1:])
