"""Bundles that are damaged, cut off, of another version, or made to do harm: refused with a message, always."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from xtensor import _native

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")


@pytest.fixture(scope="module")
def data() -> bytes:
    w = xt.array([1.0, 2.0, 3.0], "j")
    return xt.export(lambda x: x * w, args=(xt.spec(i=None, j=3),), name="m").data


def members(data: bytes) -> dict[str, bytes]:
    return {name: data[a:b] for name, (a, b) in _native.read_zip(data).items()}


def rewritten(data: bytes, change: Callable[[dict[str, Any]], Any], **replaced: bytes) -> bytes:
    """The bundle with another manifest, whose hashes are right."""
    parts = members(data) | {k.replace("__", "/"): v for k, v in replaced.items()}
    manifest = json.loads(parts["manifest.json"])
    for name, part in parts.items():
        if name != "manifest.json":
            manifest["members"][name] = {"bytes": len(part), "sha256": _native.sha256(part)}
    change(manifest)
    parts["manifest.json"] = json.dumps(manifest).encode()
    return _native.write_zip(list(parts.items()))


def test_any_unzip_reads_it(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"
    path.write_bytes(data)
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        assert z.namelist()[0] == "manifest.json"
        assert {n: z.read(n) for n in z.namelist()} == members(data)


def test_sha256_is_the_real_one() -> None:
    import hashlib

    for n in (0, 1, 55, 56, 63, 64, 65, 1000):
        part = bytes(range(256)) * 4
        assert _native.sha256(part[:n]) == hashlib.sha256(part[:n]).hexdigest()


def test_schemas_of_other_versions(data: bytes) -> None:
    with pytest.raises(xt.BundleError, match=r"made by xtensor 9\.9 with schema 2; this version reads schemas up to 1"):
        xt.load(rewritten(data, lambda m: m.update(schema=2, compiler="xtensor 9.9")))
    for schema in (0, -1, "1", None, True, 1.0):
        with pytest.raises(xt.BundleError, match=r"names no schema"):
            xt.load(rewritten(data, lambda m, s=schema: m.update(schema=s)))
    # The schema decides, not who wrote it.
    assert xt.load(rewritten(data, lambda m: m.update(compiler="xtensor 9.9")))(xt.ones(i=1, j=3)).shape == (1, 3)


def test_code_whose_hash_is_wrong_does_not_run(data: bytes) -> None:
    target = json.loads(members(data)["manifest.json"])["targets"][0]
    kernel = bytearray(members(data)[target["kernel"]])
    kernel[len(kernel) // 2] ^= 1
    parts = members(data) | {target["kernel"]: bytes(kernel)}
    with pytest.raises(xt.BundleError, match=r"kernel\.so is damaged: its SHA-256 is another one"):
        xt.load(_native.write_zip(list(parts.items())))


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f["arguments"][0]["sizes"].__setitem__(1, 4),
        lambda f: f["arguments"][0].update(dtype="float32"),
        lambda f: f["arguments"].append(f["arguments"][0]),
        lambda f: f["results"][0]["sizes"].__setitem__(0, 1),
        lambda f: f["results"].clear(),
        lambda f: f["weights"].clear(),
        lambda f: f["weights"][0]["sizes"].__setitem__(0, 2),
    ],
)
def test_manifests_that_lie_about_the_code_are_found_out(data: bytes, change: Callable[[Any], Any]) -> None:
    def both(manifest: dict[str, Any]) -> None:
        """The signature goes with the lie: only the code is left to contradict it."""
        f = manifest["functions"][0]
        change(f)
        from xtensor.aot.manifest import _function

        for _ in range(2):
            try:
                f["signature"] = _function(f | {"signature": f["signature"]}).signature
            except Exception:
                from xtensor.aot import manifest as m

                known = f["open"]
                said = m.Exported(
                    f["name"], "", "", tuple(m._parameter(p, known, True) for p in f["arguments"]),
                    tuple(m._parameter(p, known, True) for p in f["weights"]),
                    tuple(m._parameter(p, known, False) for p in f["results"]), (), (), (),
                ).said()  # fmt: skip
                f["signature"] = said

    with pytest.raises(xt.BundleError):
        xt.load(rewritten(data, both))


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "a//b", "c:\\evil", ".", "", "a\0b"])
def test_names_that_lead_out_of_a_folder(data: bytes, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be called|null character"):
        _native.write_zip([(name, b"")])
    # By another writer's hand, in both places.
    length = len(name.encode())
    if not length:
        return
    there = _native.write_zip([("manifest.json", b"{}"), ("x" * length, b"evil")])
    bad = there.replace(b"x" * length, name.encode())
    with pytest.raises(xt.BundleError, match="leads out of the bundle"):
        xt.load(bad)


def test_compressed_members_are_refused(data: bytes, tmp_path: Path) -> None:
    """A zip bomb, for one."""
    path = tmp_path / "bomb.xtb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("manifest.json", b"0" * 10_000_000)
    with pytest.raises(xt.BundleError, match="manifest.json is compressed"):
        xt.load(path)


def test_lying_sizes(data: bytes) -> None:
    for offset, value in ((22, 2**32 - 1), (18, 2**31), (22, 0)):
        bad = bytearray(data)
        struct.pack_into("<I", bad, offset, value)
        with pytest.raises(xt.BundleError):
            xt.load(bytes(bad))
    directory = struct.unpack_from("<I", data, len(data) - 6)[0]
    for offset, value in ((20, 2**32 - 1), (24, 5), (42, 2**32 - 1), (42, 7)):
        bad = bytearray(data)
        struct.pack_into("<I", bad, directory + offset, value)
        with pytest.raises(xt.BundleError):
            xt.load(bytes(bad))
    for offset, value in ((8, 65535), (10, 0), (12, 2**16 - 1)):
        bad = bytearray(data)
        struct.pack_into("<H", bad, len(data) - 22 + offset, value)
        with pytest.raises(xt.BundleError):
            xt.load(bytes(bad))


def test_every_prefix_is_refused(data: bytes) -> None:
    for n in {*range(0, 200), *range(0, len(data), 997), *range(len(data) - 200, len(data))}:
        with pytest.raises(xt.BundleError):
            xt.load(data[:n])


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(xt.BundleError, match="cannot be read: No such file"):
        xt.load(tmp_path / "nothing.xtb")
    with pytest.raises(xt.BundleError, match="cannot be read: Is a directory"):
        xt.load(tmp_path)


_MUTATIONS = r"""
import json, random, sys
import xtensor as xt
from xtensor import _native
data, seed = open(sys.argv[1], "rb").read(), int(sys.argv[2])
random.seed(seed)
parts = {n: data[a:b] for n, (a, b) in _native.read_zip(data).items()}
manifest = json.loads(parts["manifest.json"])
x = xt.ones(i=2, j=3)
loaded = 0

def places(tree, path=()):
    yield path
    if isinstance(tree, (dict, list)):
        for k, v in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(v, (*path, k))

VALUES = [None, True, 0, 1, -1, 3, 2**31, 2**62, 2**63, 1e300, "", "i", "x" * 300, [], {}, [[]], ["i", "i"], "../x", [2, "i"]]
found = list(places(manifest))

def of_manifest():
    new = json.loads(json.dumps(manifest))
    for _ in range(random.choice([1, 1, 2])):
        *path, last = random.choice(found[1:])
        at = new
        try:
            for k in path:
                at = at[k]
            kind = random.randrange(4)
            if kind == 0:
                del at[last]
            elif kind == 1 and isinstance(at, list):
                at.append(at[last])
            elif kind == 2:
                *other, end = random.choice(found[1:])
                source = manifest
                for k in (*other, end):
                    source = source[k]
                at[last] = json.loads(json.dumps(source))
            else:
                at[last] = random.choice(VALUES)
        except (KeyError, IndexError, TypeError):
            pass
    return _native.write_zip([*({"manifest.json": json.dumps(new).encode()} | {k: v for k, v in parts.items() if k != "manifest.json"}).items()])

def of_bytes():
    bad = bytearray(data)
    kind = random.randrange(5)
    for _ in range(random.choice([1, 1, 1, 8, 64])):
        at = random.randrange(len(bad))
        if kind == 0:
            bad[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            bad[at] = random.randrange(256)
        elif kind == 2:
            del bad[at : at + random.choice([1, 4, 100, 5000])]
        elif kind == 3:
            bad[at:at] = bad[random.randrange(len(bad)):][: random.choice([1, 4, 100])]
        else:
            bad = bad[:at]
            break
        if not bad:
            break
    return bytes(bad)

for n in range(int(sys.argv[3])):
    bad = of_manifest() if n % 2 else of_bytes()
    try:
        g = xt.load(bad)
    except xt.BundleError:
        continue
    loaded += 1
    try:
        y = g(x)
        assert y.dtype == "float64" and y.values.tolist() == [[1, 2, 3]] * 2, (seed, n, y)
    except xt.Error:
        pass
print(loaded)
"""


@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand_mutated_bundles(data: bytes, tmp_path: Path, seed: int) -> None:
    """In processes of their own, as a crash would end them. What loads all the same (a changed docstring) is right."""
    path = tmp_path / "m.xtb"
    path.write_bytes(data)
    before = set(tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", _MUTATIONS, str(path), str(seed), "2500"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert 0 < int(done.stdout) < 2000
    assert set(tmp_path.iterdir()) == before


def test_random_bytes_are_no_bundle() -> None:
    random.seed(0)
    for n in (0, 1, 21, 22, 23, 100, 10_000):
        with pytest.raises(xt.BundleError):
            xt.load(random.randbytes(n))
