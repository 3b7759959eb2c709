"""Bundles that are damaged, cut off, of another version, or made to do harm: refused with a message, always."""

from __future__ import annotations

import json
import os
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from changed_bundle import mutated
from tiers import count
from xtensor import _native
from xtensor.aot import manifest

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")


@pytest.fixture(scope="module")
def data() -> bytes:
    w = xt.array([1.0, 2.0, 3.0], "j")
    return xt.export(lambda x: x * w, args=(xt.spec(i=None, j=3),), name="m").data


@pytest.fixture(scope="module")
def fixed() -> bytes:
    w = xt.array([1.0, 2.0, 3.0], "j")

    def f(p: Any, s: int = 1) -> Any:
        return p["x"] * w * s

    return xt.export(f, args=({"x": xt.spec(i=2, j=3)}, 1), targets=("cpu", "cpu:x86-64"), name="m").data


@pytest.fixture(scope="module")
def several() -> bytes:
    """Two functions that share a weight."""
    w = xt.array([1.0, 2.0, 3.0], "j")
    one = lambda x: x * w  # noqa: E731
    other = lambda p, s=1: p["x"] * w * s  # noqa: E731
    args = (xt.spec(i=None, j=3),), ({"x": xt.spec(i=2, j=3)}, 1)
    return xt.export({"one": (one, args[0]), "other": (other, args[1])}, name="m").data


def members(data: bytes) -> dict[str, bytes]:
    return {name: data[a:b] for name, (a, b) in _native.read_zip(data).items()}


def rewritten(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The bundle with another manifest; what it says of members is right."""
    parts = members(data)
    table = json.loads(parts["manifest.json"])
    change(table)
    parts["manifest.json"] = json.dumps(table).encode()
    return _native.write_zip(list(parts.items()))


def test_any_unzip_reads_it(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"
    path.write_bytes(data)
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        assert z.namelist()[0] == "manifest.json"
        assert {n: z.read(n) for n in z.namelist()} == members(data)


def test_schemas_of_other_versions(data: bytes) -> None:
    for schema, how in ((5, "Update xtensor, or export"), (3, "Export"), (2, "Export"), (1, "Export")):
        with pytest.raises(
            xt.BundleError, match=rf"made by xtensor 9\.9 with schema {schema}; this version reads schema 4. {how} the"
        ):
            xt.load(rewritten(data, lambda m, s=schema: m.update(schema=s, compiler="xtensor 9.9")))
    for by in ("\x1b]0;title\x07", "\ud800", "x" * 10_000, None, []):
        with pytest.raises(xt.BundleError, match="made by a newer compiler with schema 5"):
            xt.load(rewritten(data, lambda m, b=by: m.update(schema=5, compiler=b)))
    for schema in (0, -1, "1", None, True, 1.0, 2**200):
        with pytest.raises(xt.BundleError, match=r"names no schema"):
            xt.load(rewritten(data, lambda m, s=schema: m.update(schema=s)))
    # The schema decides, not who wrote it.
    assert xt.load(rewritten(data, lambda m: m.update(compiler="xtensor 9.9")))(xt.ones(i=1, j=3)).shape == (1, 3)


def test_code_whose_hash_is_wrong_does_not_run(data: bytes) -> None:
    target = json.loads(members(data)["manifest.json"])["targets"][0]["code"][0]
    kernel = bytearray(members(data)[target["kernel"]])
    kernel[len(kernel) // 2] ^= 1
    parts = members(data) | {target["kernel"]: bytes(kernel)}
    with pytest.raises(xt.BundleError, match=r"kernel0\.so is damaged: its SHA-256 is another one"):
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
    def lie(table: dict[str, Any]) -> None:
        """The signature goes with it: only the code is left to contradict it."""
        f = table["functions"][0]
        change(f)
        inputs, weights, results = (
            tuple(manifest._ARRAY(p, key) for p in f[key]) for key in ("arguments", "weights", "results")
        )
        f["signature"] = manifest.Exported(f["name"], "", "", inputs, weights, results, (), (), (), "").said()

    with pytest.raises(xt.BundleError):
        xt.load(rewritten(data, lie))


@pytest.mark.parametrize(
    "entry", ["system", "abort", "m__signature", "m_lambda__signature", "malloc__entry", "__entry"]
)
def test_entries_that_are_something_else(data: bytes, entry: str) -> None:
    with pytest.raises(
        xt.BundleError, match=r"NAME__entry and NAME__signature|not text like|lacks what its manifest names"
    ):
        xt.load(rewritten(data, lambda m: m["targets"][0]["code"][0].update(entry=entry)))
    both = {"entry": entry, "signature": entry.replace("entry", "signature")}
    with pytest.raises(
        xt.BundleError, match=r"NAME__entry and NAME__signature|not text like|lacks what its manifest names"
    ):
        xt.load(rewritten(data, lambda m: m["targets"][0]["code"][0].update(both)))


def test_equalities_cannot_be_left_out() -> None:
    specs = (xt.spec(i=None), xt.spec(k=None))
    data = xt.export(lambda x, y: x + y.rename({"k": "i"}), args=specs, name="m").data
    with pytest.raises(xt.SizeError, match="'k' has size 3; it must be 2, the size of dim 'i' of argument x"):
        xt.load(data)(xt.zeros(i=2), xt.zeros(k=3))

    def leave_out(table: dict[str, Any]) -> None:
        f = table["functions"][0]
        f["equal"].clear()
        f["signature"] = f["signature"].partition(" where ")[0]

    with pytest.raises(xt.BundleError, match=r"the manifest says"):
        xt.load(rewritten(data, leave_out))


def test_code_for_something_else(fixed: bytes) -> None:
    """Code of one processor in the place of another's."""

    def swap(table: dict[str, Any]) -> None:
        a, b = (t["code"][0] for t in table["targets"])
        a["kernel"], b["kernel"] = b["kernel"], a["kernel"]

    with pytest.raises(xt.BundleError, match=r"the manifest says cpu:x86-64-v\d (.|\n)*, and the code cpu:x86-64 f"):
        xt.load(rewritten(fixed, swap))


def test_names_cannot_be_taken_for_what_is_around_them() -> None:
    """Signatures of different arrays differ, whatever dims are called."""

    def text(*dims: str, sizes: tuple[Any, ...]) -> str:
        return str(manifest.Parameter("x", "float32", dims, sizes))

    assert text("i: ?i, j", sizes=(3,)) != text("i", "j", sizes=("i", 3))
    assert text("3", sizes=("3",)) != text("3", sizes=(3,))
    name = "a, b: {c}*(d)?\\"
    bundle = xt.export(lambda x: x + 1.0, args=(xt.spec({name: None}),), name="m")
    assert bundle.manifest.functions[0].arguments[0].dims == (name,)
    assert xt.load(bundle)(xt.zeros({name: 2})).values.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "a//b", "c:\\evil", ".", "", "a\0b"])
def test_names_that_lead_out_of_a_folder(data: bytes, name: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be called|null character"):
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
    with pytest.raises(xt.BundleError, match=r"manifest\.json is compressed"):
        xt.load(path)


@pytest.mark.parametrize(("offset", "value"), [(4, 3 << 8 | 20), (34, 7), (36, 1), (38, 0o120777 << 16), (38, 16)])
def test_members_that_are_no_plain_files(data: bytes, offset: int, value: int) -> None:
    """Links and folders, for one: unzip would make them."""
    bad = bytearray(data)
    directory = struct.unpack_from("<I", data, len(data) - 6)[0]
    struct.pack_into("<I" if offset == 38 else "<H", bad, directory + offset, value)
    with pytest.raises(xt.BundleError, match=r"manifest\.json is not a plain file"):
        xt.load(bytes(bad))


@pytest.mark.parametrize(("offset", "value"), [(6, 63), (8, 1), (8, 8), (12, 0x5555), (14, 0x5555)])
def test_members_that_are_not_as_they_are_written(data: bytes, offset: int, value: int) -> None:
    """Another version, a password, a time: in the directory and in front of the member alike."""
    bad = bytearray(data)
    directory = struct.unpack_from("<I", data, len(data) - 6)[0]
    for at in (directory + offset, offset - 2):
        struct.pack_into("<H", bad, at, value)
    with pytest.raises(xt.BundleError, match=r"manifest\.json is not a plain file: its version, flags, time"):
        xt.load(bytes(bad))


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
    for n in {*range(200), *range(0, len(data), 997), *range(len(data) - 200, len(data))}:
        with pytest.raises(xt.BundleError):
            xt.load(data[:n])


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(xt.BundleError, match="cannot be read: No such file"):
        xt.load(tmp_path / "nothing.xtb")
    with pytest.raises(xt.BundleError, match="cannot be read: Is a directory"):
        xt.load(tmp_path)
    with pytest.raises(xt.BundleError, match="cannot be read: it is not a regular file"):
        xt.load("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(xt.BundleError, match="cannot be read: it is not a regular file"):
        xt.load(tmp_path / "pipe")


@pytest.mark.parametrize("seed", range(4))
def test_mutated_bundles(data: bytes, fixed: bytes, several: bytes, tmp_path: Path, seed: int) -> None:
    """In processes of their own, as a crash would end them. What loads all the same (a changed docstring) is right."""
    path = tmp_path / "m.xtb"
    path.write_bytes([data, fixed, several, several][seed])
    changes = count(1000, 2500)
    before = set(tmp_path.iterdir())
    done = mutated(path, seed, changes)
    assert done.returncode == 0, done.stderr[-2000:]
    assert 0 < int(done.stdout) < 0.8 * changes
    assert set(tmp_path.iterdir()) == before


def test_random_bytes_are_no_bundle() -> None:
    random.seed(0)
    for n in (0, 1, 21, 22, 23, 100, 10_000):
        with pytest.raises(xt.BundleError):
            xt.load(random.randbytes(n))
