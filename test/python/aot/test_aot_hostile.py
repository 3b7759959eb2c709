"""Bundles whose hashes are right and whose parts lie: programs that are not the code's, manifests that describe
nothing, names that would steer a terminal, folders full of links."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xtensor as xt
from changed_bundle import changed, mutated
from tiers import count
from xtensor import _native
from xtensor.aot.manifest import File
from xtensor.cli import main

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")


@pytest.fixture(scope="module")
def data() -> bytes:
    w = xt.array([1.0, 2.0, 3.0], "j")
    return xt.export(lambda x, s=1: x * w * s, args=(xt.spec(i=None, j=3), 1), name="model").data


@pytest.fixture(scope="module")
def several() -> bytes:
    """Two functions of the same arrays, which share a weight."""
    w, args = xt.array([1.0, 2.0, 3.0], "j"), (xt.spec(i=None, j=3), 1)
    functions = {"times": (lambda x, s=1: x * w * s, args), "over": (lambda x, s=2: x * w / s, args)}
    return xt.export(functions, name="model").data


def member(data: bytes, name: str) -> bytes:
    a, b = _native.read_zip(data)[name]
    return data[a:b]


LIES: list[Any] = [
    None, 1, [], {}, {"results": []}, {"results": [{}], "meetings": 1},
    *({"results": [{"i": [x]}], "meetings": []} for x in (
        1, [], [0, "i"], [9, "i", []], [-1, "i", []], [0, 1, []], [0, "i", [["slice", 0, 1]]],
        [0, "i", [["take", 9, None]]],
        [0, "i", [["take", [1.5], None]]], [0, "i", [["take", [], ""]]], [0, "i", [["pad", 0, 2**62, "edge"]]],
        [0, "i", [["pad", 0, 1, "other"]]], [0, "i", [["concat", []]]], [0, "i", [["unknown"]]], [0, "i", [[[]]]],
    )),
    {"results": [{"k": [[0, "i", []]]}], "meetings": []},
    {"results": [{}, {}], "meetings": []},
    {"results": [{}], "meetings": [{"op": "add", "line": None, "operands": [
        {"dtype": "text", "dims": [], "sizes": [], "origins": {}}]}]},
    {"results": [{}], "meetings": [{"op": "add", "line": None, "operands": [
        {"dtype": "float64", "dims": ["i"], "sizes": [], "origins": {}}]}]},
]  # fmt: skip


@pytest.mark.parametrize("lie", range(len(LIES)))
def test_labels_that_cannot_be(data: bytes, lie: int) -> None:
    with pytest.raises(xt.BundleError, match=r"manifest\.json cannot be used: .*labels"):
        xt.load(changed(data, lambda m: m["functions"][0]["python"].update(labels=LIES[lie])))


def test_what_python_is_told_belongs_to_the_code(data: bytes) -> None:
    """Labels, places of results, weak numbers: nothing of it can be another one than at the export."""
    deep: Any = [0, "i", []]
    for _ in range(100):
        deep = [0, "i", [["concat", [deep]]]]
    with pytest.raises(xt.BundleError, match="a step of a coordinate"):
        xt.load(changed(data, lambda m: m["functions"][0]["python"]["labels"]["results"][0].update(i=[deep])))
    for change in (
        lambda p: p["labels"]["results"][0].update(i=[[0, "i", [["take", [3], None]]]]),
        lambda p: p["labels"]["results"][0].clear(),
        lambda p: p.update(weak=[False, False]),
        lambda p: p.pop("weak"),
        lambda p: p.update(result=["tuple", ["*"]]),
        lambda p: p["parameters"][1].update(default="2"),
        lambda p: p.update(more=1),
    ):
        with pytest.raises(xt.BundleError, match="or for other weights or arguments in Python, than this bundle holds"):
            xt.load(changed(data, lambda m, change=change: change(m["functions"][0]["python"])))
    with pytest.raises(xt.BundleError, match="arguments in Python"):
        xt.load(changed(data, lambda m: m["functions"][0].pop("python")))


def test_what_nobody_knows_is_nested_deep(data: bytes) -> None:
    """As deep as JSON is read, it may not be written again: the stack is the caller's."""
    parts = {name: data[a:b] for name, (a, b) in _native.read_zip(data).items()}
    for depth in range(900, 1000):
        new = b'"python": {"zzz": ' + b"[" * depth + b"]" * depth + b","
        there = parts | {"manifest.json": parts["manifest.json"].replace(b'"python": {', new, 1)}
        with pytest.raises(xt.BundleError, match=r"is nested too deep|recursion|in Python, than this bundle holds"):
            xt.load(_native.write_zip(list(there.items())))


# -- what is not used is not read -------------------------------------------------------------------------------------


def test_members_that_are_not_used_are_not_looked_at_until_inspect_is(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"
    for name, (begin, end) in _native.read_zip(data).items():
        bad = bytearray(data)
        bad[(begin + end) // 2] ^= 1
        path.write_bytes(bad)
        is_used = name == "manifest.json" or name.endswith("kernel0.so") or name.startswith("weights/")
        for source in (path, bytes(bad)):
            if is_used:
                with pytest.raises(xt.BundleError, match=r"is damaged.* Export it again, or copy it again"):
                    xt.load(source)
                continue
            g = xt.load(source)
            assert g(xt.ones(i=1, j=3), 2).values.tolist() == [[2, 4, 6]]
            if name == "module0.mlirbc":
                with pytest.raises(xt.BundleError, match=r"module0\.mlirbc is damaged"):
                    xt.jit(g)(xt.ones(i=1, j=3), 2)
        with pytest.raises(xt.BundleError, match="is damaged"):
            File(bytes(bad), "m").check()


def test_a_file_that_changes_after_it_was_loaded(data: bytes, tmp_path: Path) -> None:
    """What is read later is checked then; what was read before stays."""
    x = xt.ones(i=1, j=3)
    for change in (lambda f: f.truncate(1000), lambda f: f.write(bytes(len(data))), lambda f: f.truncate(0)):
        path = tmp_path / "m.xtb"
        path.write_bytes(data)
        g = xt.load(path)
        with path.open("r+b") as file:
            change(file)
        assert g(x, 2).values.tolist() == [[2, 4, 6]]
        with pytest.raises(xt.BundleError, match=r"is damaged|was cut off"):
            xt.jit(g)(x, 2)
        with pytest.raises(xt.BundleError):
            xt.load(path)
    path.write_bytes(data)
    g = xt.load(path)
    path.unlink()
    assert xt.jit(g)(x, 2).values.tolist() == [[2, 4, 6]]


def test_loading_leaves_no_file_open(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"

    def count() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    before = count()
    for bad in (data[:-1], b"", data[:1000] + data[1001:]):
        path.write_bytes(bad)
        for _ in range(3):
            with pytest.raises(xt.BundleError):
                xt.load(path)
    path.write_bytes(data)
    for _ in range(3):
        xt.load(path)(xt.ones(i=1, j=3), 1)
    assert count() == before


# -- the program and the weights belong to the code -------------------------------------------------------------------


def test_a_program_that_is_not_the_codes(data: bytes) -> None:
    module = bytearray(member(data, "module0.mlirbc"))
    module[len(module) // 2] ^= 1
    with pytest.raises(xt.BundleError, match="compiled from another program, or for other weights"):
        xt.load(changed(data, **{"module0.mlirbc": bytes(module)}))


def test_a_program_of_the_same_signature(data: bytes) -> None:
    """It would be read without complaint, and its derivatives would be of something else."""
    other = xt.export(
        lambda x, s=1: x + xt.array([1.0, 2.0, 3.0], "j") * s, args=(xt.spec(i=None, j=3), 1), name="model"
    )
    assert other.manifest.functions[0].signature == xt.load(data)._core.function.signature
    with pytest.raises(xt.BundleError, match="compiled from another program"):
        xt.load(changed(data, **{"module0.mlirbc": member(other.data, "module0.mlirbc")}))


_MAIN = """func.func @main(%x: !xtensor.array<i: 3, f32>) -> !xtensor.array<i: 3, f32> {
  %y = xtensor.add %x, %x : !xtensor.array<i: 3, f32>, !xtensor.array<i: 3, f32>
  return %y : !xtensor.array<i: 3, f32>
}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_MAIN.replace("main", "other").replace(".add", ".mul") + _MAIN, "more, or less, than a function @main"),
        ("llvm.mlir.global_ctors ctors = [], priorities = [], data = []\n" + _MAIN, "more, or less"),
        ("", "more, or less, than a function @main"),
        (_MAIN.replace("main", "other"), "more, or less, than a function @main"),
        ("func.func private @main(!xtensor.array<i: 3, f32>)", "is a declaration"),
        (_MAIN.replace("> {", '> attributes {xtensor.nonempty = [["q", 0]]} {'), "xtensor.nonempty of @main is not"),
        (_MAIN.replace("> {", "> attributes {xtensor.nonempty = 1 : i64} {"), "xtensor.nonempty of @main is not"),
    ],
)
def test_programs_that_are_not_one_function(monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    """The code would be of @main, and derivatives and traces of what comes first."""
    g = xt.load(xt.export(lambda x: x + x, args=(xt.spec(i=3, dtype="f4"),), name="model", c=False))
    x = xt.ones(i=3, dtype="f4")
    monkeypatch.setattr(g._core.file, "member", lambda name: text.encode())
    with pytest.raises(xt.BundleError, match=message):
        xt.jit(g)(x)
    with pytest.raises(xt.BundleError, match=message):
        xt.grad(lambda x: xt.sum(g(x)))(x)
    monkeypatch.setattr(g._core.file, "member", lambda name: _MAIN.encode())
    assert (xt.jit(g)(x).values == 2).all()


@pytest.mark.parametrize("c", [True, False])
def test_weights_that_are_not_the_codes(c: bool) -> None:
    """In a library for C, and in a file of their own."""
    w = xt.array([1.0, 2.0, 3.0], "j")
    data = xt.export(lambda x: x * w, args=(xt.spec(i=None, j=3),), name="model", c=c).data
    place = json.loads(member(data, "manifest.json"))["functions"][0]["weights"][0]
    offset, whole = place["offset"], member(data, place["member"])
    assert place["member"].endswith(".a" if c else "weights/0.bin")
    assert whole[offset : offset + 24] == w.values.tobytes()
    other = {place["member"]: whole[:offset] + bytes(24) + whole[offset + 24 :]}

    def weight(**what: Any) -> Callable[[Any], None]:
        return lambda m: m["functions"][0]["weights"][0].update(what)

    with pytest.raises(xt.BundleError, match="for other weights"):
        xt.load(changed(data, weight(sha256=hashlib.sha256(bytes(24)).hexdigest()), **other))
    for bad in (changed(data, **other), changed(data, weight(offset=1, member="model.h" if c else "module0.mlirbc"))):
        with pytest.raises(xt.BundleError, match="is damaged: its SHA-256 is another one"):
            xt.load(bad)
    for wrong in (len(whole) - 23, 2**32 - 1):
        with pytest.raises(xt.BundleError, match="ends before what the manifest says is in it"):
            xt.load(changed(data, weight(offset=wrong)))
    with pytest.raises(xt.BundleError, match="offset is -1, not a number from 0"):
        xt.load(changed(data, weight(offset=-1)))
    with pytest.raises(xt.BundleError, match=r"weights\[0\]\.sha256 is 'x', not text"):
        xt.load(changed(data, weight(sha256="x")))
    with pytest.raises(xt.BundleError, match="open sizes are those of the arguments"):
        xt.load(changed(data, lambda m: m["functions"][0]["weights"][0].pop("sha256")))


@pytest.mark.parametrize("text", [b"module {}", b"", b"ML", b"\x7fELF", b"func.func @main() { return }"])
def test_programs_that_are_no_bytecode(data: bytes, text: bytes) -> None:
    with pytest.raises(xt.BundleError, match=r"'module0\.mlirbc' is not MLIR bytecode"):
        xt.load(changed(data, **{"module0.mlirbc": text}))
    with pytest.raises(xt.BundleError, match=r"'model\.h' is not MLIR bytecode"):
        xt.load(changed(data, put(*F, "module", to="model.h")))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_programs_and_weights_with_right_hashes(data: bytes, several: bytes, tmp_path: Path, seed: int) -> None:
    """In processes of their own; what loads all the same is called, differentiated, vectorized and compiled."""
    path = tmp_path / "m.xtb"
    path.write_bytes(several if seed % 2 else data)
    done = mutated(path, seed, count(300, 1000), "members")
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(tmp_path.iterdir()) == [path]


# -- several functions ------------------------------------------------------------------------------------------------


def test_one_function_cannot_be_another(several: bytes) -> None:
    """Programs, code and what Python is told of two functions, the one in the place of the other."""

    def swapped(*keys: str) -> Callable[[Any], None]:
        def change(m: Any) -> None:
            pairs = [m["functions"], m["targets"][0]["code"]]
            for a, b in pairs:
                for key in keys:
                    if key in a:
                        a[key], b[key] = b[key], a[key]

        return change

    for keys, message in (
        (("module",), "compiled from another program"),
        (("python",), "arguments in Python"),
        (("module", "python"), "compiled from another program"),
        (("name",), "the signature says something else"),
        (("kernel",), "lacks what its manifest names"),
        (("kernel", "entry"), "NAME__entry and NAME__signature"),
        (("entry",), "NAME__entry and NAME__signature"),
    ):
        with pytest.raises(xt.BundleError, match=message):
            xt.load(changed(several, swapped(*keys)))
    with pytest.raises(xt.BundleError, match=r"the manifest says .* times.*, and the code .* over"):
        xt.load(changed(several, lambda m: m["targets"][0]["code"].reverse()))
    with pytest.raises(xt.BundleError, match=r"the manifest says .* over.*, and the code .* times"):
        xt.load(changed(several, lambda m: m["functions"].reverse()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["functions"].pop(), "code of other functions than there are"),
        (lambda m: m["targets"][0]["code"].pop(), "code of other functions than there are"),
        (lambda m: m["targets"][0]["code"].append(m["targets"][0]["code"][0]), "of other functions than there are"),
        (lambda m: m["functions"].__setitem__(1, m["functions"][0]), "two functions have one name"),
        (lambda m: m.update(functions=m["functions"] * 600), "a list of 1200, not a list of 1 to 1024"),
        (lambda m: m["functions"][1]["weights"][0].update(member="weights/1.bin"), "is named and not listed"),
        (lambda m: m["functions"][1]["weights"][0].update(sha256="0" * 64), "for other weights"),
        (lambda m: m["functions"][1].update(module="model.h"), r"'model\.h' is not MLIR bytecode"),
        (lambda m: m["functions"][1].pop("module"), r"functions\[1\]\.module is missing"),
    ],
)
def test_manifests_of_several_functions_that_describe_nothing(
    several: bytes, change: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(xt.BundleError, match=message):
        xt.load(changed(several, change))


def test_of_several_functions_only_what_is_asked_for_is_read(several: bytes) -> None:
    a, b = next(place for name, place in _native.read_zip(several).items() if name.endswith("kernel1.so"))
    bad = bytearray(several)
    bad[(a + b) // 2] ^= 1
    assert xt.load(bytes(bad), function="times")(xt.ones(i=1, j=3), 2).values.tolist() == [[2, 4, 6]]
    for function in (None, "over"):
        with pytest.raises(xt.BundleError, match=r"kernel1\.so is damaged"):
            xt.load(bytes(bad), function=function)


# -- manifests --------------------------------------------------------------------------------------------------------


def put(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(table: Any) -> None:
        for key in path[:-1]:
            table = table[key]
        table[path[-1]] = to

    return change


F = ("functions", 0)
PYTHON = (*F, "python")
DEEP: Any = "*"
for _ in range(200):
    DEEP = ["tuple", [DEEP]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *((put(*PYTHON, "ranges", to=[[0, d, "w", "isel"]]), r"ranges\[0\]\[1\] is") for d in (",", "(1,i4", "O", 1)),
        (put(*PYTHON, "ranges", to=[[2, "int8", None, "isel"]]), "ranges of arguments that are not there"),
        (put(*PYTHON, "ranges", to=[[0, "int8", [1], "isel"]]), r"ranges\[0\]\[2\] is a list of 1"),
        (put(*PYTHON, "ranges", to=[[True, "int8", "w", "isel"]]), "is True, not a number"),
        (put(*PYTHON, "arguments", 1, 0, 1, 1, to=["static", "[]"]), "is '..', not a number or a text"),
        *(
            (put(*PYTHON, "result", to=["namedtuple", "A", f, ["*"]]), message)
            for f, message in (
                (["a b"], "the name of a field"),
                (["_a"], "not a namedtuple"),
                (["class"], "of a field"),
            )
        ),
        (put(*PYTHON, "result", to=["dataclass", "A", ["a", "a"], ["*", "*"]]), "fields with one part each"),
        (put(*PYTHON, "result", to=["dataclass", "__import__('os')", ["a"], ["*"]]), "name of a field"),
        (put(*PYTHON, "result", to=["dict", [1.5], ["*"]]), "1.5, not a number from"),
        (put(*PYTHON, "result", to=DEEP), "a tree of arrays, 64 deep at most"),
        (put(*PYTHON, "arguments", to=["tuple", ["*", "*"]]), "a tuple and a dict"),
        (put(*PYTHON, "places", to=[1]), "places of results that are not there"),
        (put(*PYTHON, "weak", to=[1, 0]), r"weak\[0\] is 1, not true or false"),
        (put(*PYTHON, "parameters", 0, "name", to="x y"), "the name of a parameter"),
        (put(*PYTHON, "parameters", 0, "name", to="s"), "duplicate parameter name"),
        (put(*PYTHON, "parameters", 0, "kind", to="VAR"), "not one of POSITIONAL_ONLY"),
        *(
            (
                put(*PYTHON, "parameters", 1, "default", to=d),
                "is neither a number nor a text|is not a text in UTF-8|not text of 0 to 1024",
            )
            for d in ("(" * 400, "-" * 999 + "1", "{[]:1}", "'\\ud800'", "9" * 2000, "lambda: 0", "'a' 'b'", "1 if 1")
        ),
        *((put(*F, "name", to=n), "name is") for n in ("\ud800", "a\0b", "\x1b]0;title\x07", "", "x" * 2000, "a\nb")),
        (put(*F, "doc", to="\ud800"), "doc is '.ud800', not text in UTF-8"),
        (put(*F, "arguments", 0, "sizes", to=[2**63, 3]), r"sizes\[0\] is 9223372036854775808, not a number from 0"),
        (put(*F, "arguments", 0, "sizes", to=["k", 3]), "is open, and not among the open ones"),
        (put(*F, "arguments", 0, "dims", to=["i"] * 65), "not a list of 0 to 64"),
        (put(*F, "arguments", 0, "layout", to="column-major"), "not one of row-major"),
        (put(*F, "equal", to=[{"dim": "i", "sizes": ["i"]}]), r"equal\[0\]\.sizes is a list of 1, not a list of 2"),
        (put(*F, "equal", to=[{"dim": "i", "sizes": ["i", "q"]}]), "sizes that a call must see to are open ones"),
        (put(*F, "nonempty", to=[{"size": "q", "message": ""}]), "sizes that a call must see to are open ones"),
        (put(*F, "nonempty", to=[{"size": "i", "message": ""}]), "the signature says something else"),
        (put(*F, "sites", to={}), "sites is an object of 0, not a list"),
        (put(*F, "arguments", to=None), "arguments is None, not a list"),
        (put("functions", to=[]), "functions is a list of 0, not a list of 1 to 1024"),
        (put("targets", to=[]), "targets is a list of 0"),
        (put("targets", 0, "target", to="cpu:\ud800"), "target is"),
        (put("targets", 0, "target", to="cpu:x\x1b[2J"), r"target is 'cpu:x.x1b\[2J'"),
        (put("targets", 0, "code", 0, "kernel", to="../x"), "is named and not listed|not text like"),
        (put("targets", 0, "profile", to="vulkan,max_threads=²"), "not text like"),
        (put("targets", 0, "code", 0, "entry", to="printf__entry"), "NAME__entry and NAME__signature"),
        (lambda m: m.update(targets=m["targets"] * 1000), "targets is a list of 1000, not a list of 1 to 64"),
        (lambda m: m["members"].update({"a/../b": {"bytes": 1, "sha256": ""}}), "sha256 is|lists other members"),
        (lambda m: m["members"]["model.h"].update(sha256="x"), "sha256 is 'x'"),
        (lambda m: m.pop("compiler"), "compiler is missing"),
    ],
)
def test_manifests_that_describe_nothing(data: bytes, change: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(xt.BundleError, match=message) as caught:
        xt.load(changed(data, change))
    text = str(caught.value).partition("\n  at ")[0]
    assert text.isprintable()
    assert len(text) < 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000, "is not JSON"),
        (b'{"a":' * 100_000, "is not JSON"),
        (b'{"schema":' + b"1" * 5000 + b"}", "is not JSON"),
        (b'{"schema": NaN}', "NaN is not a number in JSON"),
        (b'{"schema": 1e400}', "names no schema"),
        (b'{"schema": 9, "schema": 4}', "a key twice"),
        (b'{"\xff": 1}', "is not JSON"),
        (b'\xef\xbb\xbf{"schema": 4}', "is not JSON"),
        ('{"schema": 4}'.encode("utf-16"), "is not JSON"),
        (b"[]", "names no schema"),
        (b"null", "names no schema"),
        (b'{"schema": 4}', "compiler is missing"),
    ],
)
def test_manifests_that_are_none(text: bytes, message: str) -> None:
    with pytest.raises(xt.BundleError, match=message):
        xt.load(_native.write_zip([("manifest.json", text)]))


def test_a_manifest_without_end() -> None:
    huge = b'{"schema": 4, "x": "' + b" " * (1 << 26) + b'"}'
    with pytest.raises(xt.BundleError, match="more than 67108864 bytes"):
        xt.load(_native.write_zip([("manifest.json", huge)]))


def test_defaults_that_are_plain_come_back() -> None:
    def f(x: Any, a=-1.5e-30, b='it\'s "so"\n', c=None, d=True, e=-7, g=float("inf"), h="x" * 5000, i=1e300) -> Any:
        return x

    g = xt.load(xt.export(f, args=(xt.spec(i=3),), c=False))
    found = {n: p.default for n, p in g.__signature__.parameters.items()}
    expected = {"a": -1.5e-30, "b": 'it\'s "so"\n', "c": None, "d": True, "e": -7, "g": float("inf"), "i": 1e300}
    assert {n: found[n] for n in expected} == expected
    assert len(repr(found["h"])) == 1000


# -- the command line -------------------------------------------------------------------------------------------------


def xtensor(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "xtensor.cli", *words], capture_output=True, text=True, check=False)


def test_inspect_prints_nothing_that_steers_a_terminal(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return x * 2.0

    f.__doc__ = "\x1b]0;title\x07 \u202e\x9b2J größe"
    path = tmp_path / "m.xtb"
    xt.export(f, args=(xt.spec(größe=3),), path=path, c=False)
    for words in ((), ("--json",)):
        done = xtensor("inspect", str(path), *words)
        assert done.returncode == 0, done.stderr
        assert all(c.isprintable() or c == "\n" for c in done.stdout)
        assert "größe" in done.stdout
        if words:
            assert json.loads(done.stdout)["functions"][0]["doc"] == f.__doc__
    assert xt.load(path).__doc__ == f.__doc__


@pytest.mark.parametrize("kind", ["missing", "folder", "garbage", "hostile", "damaged"])
def test_inspect_says_what_is_wrong(data: bytes, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.xtb"
    if kind == "folder":
        path.mkdir()
    elif kind == "garbage":
        path.write_bytes(random.Random(0).randbytes(1000))
    elif kind == "hostile":
        path.write_bytes(changed(data, put(*F, "doc", to="\ud800")))
    elif kind == "damaged":
        path.write_bytes(changed(data, put("members", "model.h", "sha256", to="0" * 64)))
    assert main(["inspect", str(path)]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said.startswith("xtensor inspect: ")
    assert len(said.splitlines()) == 1


def test_extract_writes_nothing_through_links(data: bytes, tmp_path: Path) -> None:
    bundle, outside, folder = xt.Bundle(data, "m"), tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    folder.mkdir()
    (outside / "precious").write_text("mine")
    (folder / "model.h").symlink_to(outside / "precious")
    bundle.extract(folder)
    assert (outside / "precious").read_text() == "mine"
    assert (folder / "model.h").read_bytes() == member(data, "model.h")
    assert not (folder / "model.h").is_symlink()
    assert (folder / "manifest.json").read_bytes() == member(data, "manifest.json")
    assert {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} == set(_native.read_zip(data))

    other = tmp_path / "other"
    other.mkdir()
    (other / "cpu").symlink_to(outside)
    with pytest.raises(xt.ArgumentError, match=r"cpu is a link to somewhere else"):
        bundle.extract(other)
    assert list(outside.iterdir()) == [outside / "precious"]


def test_extract_where_a_file_is_in_the_way(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.xtb"
    path.write_bytes(data)
    for folder in (path, tmp_path / "m.xtb" / "deeper"):
        done = xtensor("inspect", str(path), "--extract", str(folder))
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "cannot be written" in done.stderr
    (tmp_path / "out" / "model.h").mkdir(parents=True)
    with pytest.raises(xt.ArgumentError, match=r"model\.h cannot be written: Is a directory"):
        xt.Bundle(data, "m").extract(tmp_path / "out")
