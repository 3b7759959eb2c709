"""Several functions in one bundle: by name in Python, one header and one library in C, weights that are there once."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt
from places import COMPILER, CPP_COMPILER
from test_aot_names import NASTY
from xtensor.cli import main

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

rng = np.random.default_rng(0)
W = xt.array(rng.normal(size=(64, 10)), ("pixel", "digit"))


def predict(image: Any) -> Any:
    """Scores: image(sample, pixel) -> (sample, digit)"""
    return xt.tanh(xt.dot(image, W, dim="pixel"))


def loss(image: Any, label: Any, *, scale: float = 1.0) -> Any:
    """The mean of squares."""
    return xt.mean(xt.square(predict(image) - label)) * scale


IMAGE, LABEL = xt.spec(sample=None, pixel=64), xt.spec(sample=None, digit=10)
FUNCTIONS = {"predict": (predict, (IMAGE,)), "loss": (loss, (IMAGE, LABEL), {"scale": 2.0})}


def arrays(samples: int) -> tuple[Any, Any]:
    image, label = rng.normal(size=(samples, 64)), rng.normal(size=(samples, 10))
    return xt.array(image, ("sample", "pixel")), xt.array(label, ("sample", "digit"))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aot") / "digits.xtb"
    xt.export(FUNCTIONS, path=path, blas=None)
    return path


# -- in Python --------------------------------------------------------------------------------------------------------


def test_functions_by_name(bundle: Path) -> None:
    g = xt.load(bundle)
    assert isinstance(g, xt.LoadedFunctions)
    assert list(g) == ["predict", "loss"]
    assert len(g) == 2
    assert "loss" in g
    assert "less" not in g
    assert g["loss"] is g.loss
    assert set(g.values()) == {g.predict, g.loss}
    assert {"predict", "loss"} <= set(dir(g))
    assert g.predict.__name__ == "predict"
    assert g.predict.__doc__ == predict.__doc__
    assert repr(g).splitlines()[0] == "<2 loaded functions:"
    assert "  predict(image: float64 (sample: ?, pixel: 64)) -> float64 (sample: ?, digit: 10)" in repr(g)
    for samples in (1, 5):
        image, label = arrays(samples)
        np.testing.assert_allclose(g.predict(image).values, predict(image).values, rtol=1e-12)
        np.testing.assert_allclose(g.loss(image, label, scale=3.0).values, loss(image, label, scale=3.0).values)


def test_functions_that_are_not_there(bundle: Path) -> None:
    g = xt.load(bundle)
    message = r"digits\.xtb has no function 'less'; it has predict, loss; did you mean 'loss'\?"
    for kind in (KeyError, xt.FunctionNameError):
        with pytest.raises(kind, match=message):
            g["less"]
    with pytest.raises(AttributeError, match=message):
        _ = g.less
    with pytest.raises(xt.FunctionNameError, match=message):
        xt.load(bundle, function="less")
    with pytest.raises(KeyError, match="has no function 0"):
        g[0]
    assert g.get("less") is None
    assert not hasattr(g, "less")


def test_one_of_several(bundle: Path) -> None:
    image, label = arrays(3)
    g = xt.load(bundle, function="loss")
    assert type(g) is xt.Loaded
    np.testing.assert_allclose(g(image, label, scale=1.0).values, loss(image, label).values)
    only = xt.export({"only": (predict, (IMAGE,))}, c=False)
    assert type(xt.load(only)) is xt.Loaded
    assert xt.load(only, function="only").__name__ == "only"


def test_transforms_see_through_each(bundle: Path) -> None:
    g, (image, label) = xt.load(bundle), arrays(4)
    found = xt.jit(xt.grad(lambda x: g.loss(x, label, scale=1.0) + xt.sum(g.predict(x))))(image)
    expected = xt.grad(lambda x: loss(x, label) + xt.sum(predict(x)))(image)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-10, atol=1e-12)


def test_equal_weights_are_there_once(bundle: Path) -> None:
    """In the file, in memory, and in each library for C; equal bytes are equal, whatever they are the values of."""
    data = xt.Bundle(bundle.read_bytes(), "digits")
    bits = xt.array(W.values.view("i8"), ("a", "b"))
    more = {**FUNCTIONS, "bits": (lambda: bits, ())}
    for exported in (data, xt.export(more, blas=None)):
        assert not [n for n in exported.manifest.members if n.startswith("weights/")]
        assert exported.data.count(W.values.tobytes()) == 2  # in the .so, and in the .a, where xt.load finds it
    found = xt.load(exported)
    np.testing.assert_array_equal(found.bits().values, bits.values)
    assert found.predict._core.weights[0] is found.loss._core.weights[0]
    alone = xt.export(more, c=False)
    assert alone.data.count(W.values.tobytes()) == 1
    assert [n for n in alone.manifest.members if n.startswith("weights/")] == ["weights/0.bin"]
    np.testing.assert_array_equal(xt.load(alone).bits().values, bits.values)


def test_weights_that_begin_alike_are_found_at_once() -> None:
    """Of zeros nearly all of one weight is in the other, wherever one looks."""
    count = 400_000
    values = {k: np.zeros(count + more, "f4") for k, more in (("a", 0), ("b", count // 2), ("c", 0))}
    values["c"][-1] = 1
    weights = {k: xt.array(v, k) for k, v in values.items()}
    start = time.process_time()
    bundle = xt.export(lambda x: x + sum(xt.sum(w) for w in weights.values()), args=(xt.spec(i=3),), blas=None)
    assert time.process_time() - start < 10
    places = json.loads(bundle.manifest_text)["functions"][0]["weights"]
    assert [Path(p["member"]).suffix for p in places] == [".a"] * 3
    np.testing.assert_array_equal(xt.load(bundle)(xt.zeros(i=3)).values, np.ones(3))


def test_same_input_same_bytes() -> None:
    targets = ("cpu", "cpu:x86-64", "cpu:aarch64-linux-gnu")
    first, second = (xt.export(FUNCTIONS, targets=targets, name="m").data for _ in range(2))
    assert first == second
    turned = xt.export(dict(reversed(FUNCTIONS.items())), targets=targets, name="m")
    assert [f.name for f in turned.manifest.functions] == ["loss", "predict"]


def test_each_function_fails_for_itself() -> None:
    """Indices, sizes and what must not be empty are told of the function that was called."""
    x, i = xt.spec(row=4), xt.spec(k=None, dtype="i8")
    g = xt.load(
        xt.export(
            {
                "rows": (lambda x, i: x.isel(row=i), (x, i)),
                "most": (lambda i: xt.max(i, dim="k"), (i,)),
                "columns": (lambda x, i: x.rename({"row": "col"}).isel(col=i), (x, i)),
            }
        )
    )
    x = xt.array([1.0, 2.0, 3.0, 4.0], "row")
    for name, dim in (("rows", "row"), ("columns", "col")):
        assert g[name](x, xt.array([0, -1], "k")).values.tolist() == [1.0, 4.0]
        with pytest.raises(IndexError, match=rf"index 9 is out of range for size 4 of dim '{dim}'"):
            g[name](x, xt.array([9], "k"))
    with pytest.raises(xt.Error, match="k"):
        g.most(xt.zeros(k=0, dtype="i8"))


def test_what_only_some_of_them_need() -> None:
    """One multiplies matrices, one sorts, one does neither: the library has what each needs."""
    m = xt.spec(i=64, j=64)
    functions = {
        "plain": (lambda x: x + 1.0, (m,)),
        "product": (lambda x: xt.dot(x, x.rename({"i": "j", "j": "k"}), dim="j"), (m,)),
        "sorted": (lambda x: xt.sort(x, dim="j"), (m,)),
        "factor": (lambda x: xt.linalg.cholesky(x, dims=("i", "j")), (m,)),
    }
    bundle = xt.export(functions)
    assert bundle.manifest.blas == "openblas"
    g, x = xt.load(bundle), xt.array(rng.normal(size=(64, 64)), ("i", "j"))
    np.testing.assert_allclose(g.product(x).values, x.values @ x.values)
    np.testing.assert_array_equal(g.sorted(x).values, np.sort(x.values))
    del functions["product"], functions["factor"]
    assert xt.export(functions).manifest.blas is None
    with pytest.raises(xt.UnsupportedError, match="this function calls 'cholesky'"):
        xt.export({"a": (lambda x: x, (m,)), "f": (lambda x: xt.linalg.cholesky(x, dims=("i", "j")), (m,))}, blas=None)


@pytest.mark.parametrize(
    ("functions", "more", "message"),
    [
        ({}, {}, r"the arguments of each function beside it"),
        ({"f": (abs, ())}, {"args": (IMAGE,)}, r"the arguments of each function beside it"),
        ({"f": abs}, {}, r"'f' needs \(function, args\) or \(function, args, kwargs\)"),
        ({"f": (abs,)}, {}, r"'f' needs \(function, args\)"),
        ({3: (abs, ())}, {}, r"names of functions are strings"),
        ({"f": (3, ())}, {}, r"'f' needs a function, got 3"),
        ({"f": (abs, IMAGE)}, {}, r"'f'\(args=\): a tuple"),
        ({"a\nb": (lambda x: x, (IMAGE,))}, {}, r"a function with such a name"),
        ({"f": (lambda x: x, (IMAGE,)), "": (lambda x: x, (IMAGE,))}, {}, r"a function with such a name"),
    ],
)
def test_wrong_arguments_of_export(functions: Any, more: Any, message: str) -> None:
    with pytest.raises(xt.Error, match=message) as caught:
        xt.export(functions, **more)
    assert str(caught.value).startswith("xt.export")


# -- devices ----------------------------------------------------------------------------------------------------------


def test_devices_have_a_list_for_each_function(tmp_path: Path) -> None:
    profile = "vulkan,i64,subgroup=1,workgroup_bytes=16384,max_threads=256"
    w = xt.array(rng.normal(size=(64, 10)).astype("f4"), ("pixel", "digit"))
    x = xt.spec(sample=300, pixel=64, dtype="f4")
    functions = {
        "scores": (lambda x: xt.dot(x, w, dim="pixel"), (x,)),
        "sorted": (lambda x: xt.sort(x, dim="pixel"), (x,)),
        "same": (lambda image: xt.dot(image, w, dim="pixel"), (x,)),
        "other": (lambda x: xt.exp(x) * 2.0, (x,)),
    }
    bundle = xt.export(functions, targets=profile)
    out = bundle.extract(tmp_path)
    code = bundle.manifest.targets[0].code
    lists = [c.launches and json.loads((out / c.launches).read_text()) for c in code]
    assert [c.launches for c in code] == [f"vulkan/launches{i}.json" if i != 1 else None for i in range(4)]
    assert code[1].why == "the CPU reads values or computes in its midst"
    assert [w["file"] for w in lists[0]["weights"]] == [w["file"] for w in lists[2]["weights"]] == ["weights/0.bin"]
    kernels = [{k["file"] for k in found["kernels"]} if found else set() for found in lists]
    assert kernels[0] == kernels[2]  # the same code is one member
    assert not kernels[0] & kernels[3]
    there = {n for n in bundle.manifest.members if n.endswith(".spv")}
    assert kernels[0] | kernels[3] == there


# -- in C -------------------------------------------------------------------------------------------------------------

_PROGRAM = r"""
#include "digits.h"
#include <stdio.h>
#include <string.h>
static double image[3 * 64], label[3 * 10], scores[3 * 10], value;
int main(void) {
  double scale = 1;
  if (fread(image, 8, 3 * 64, stdin) != 3 * 64 || fread(label, 8, 3 * 10, stdin) != 3 * 10)
    return 1;
  xt_context context;
  memset(&context, 0, sizeof context);
  digits_predict_image x = {image, 3, 64};
  digits_predict_result y = {scores, 3, 10};
  digits_loss_image lx = {image, 3, 64};
  digits_loss_label t = {label, 3, 10};
  digits_loss_scale s = {&scale};
  digits_loss_result v = {&value};
  if (digits_predict(&x, &y, &context) || digits_loss(&lx, &t, &s, &v, &context)) {
    puts(context.message);
    return 2;
  }
  t.sample_size = 2;
  if (digits_loss(&lx, &t, &s, &v, &context) != XT_SIZE || strncmp(context.message, "digits_loss: ", 13))
    return 3;
  fwrite(scores, 8, 3 * 10, stdout);
  fwrite(&value, 8, 1, stdout);
  return 0;
}
"""


@pytest.mark.parametrize("machine", ["native", "shared", "aarch64", "riscv64"])
def test_a_program_that_calls_both(tmp_path: Path, machine: str) -> None:
    is_cross = machine in ("aarch64", "riscv64")
    compiler, emulator = (f"{machine}-linux-gnu-gcc", f"qemu-{machine}") if is_cross else (COMPILER, "")
    for tool in (compiler, emulator) if is_cross else (compiler,):
        if not tool or not shutil.which(tool):
            pytest.skip(f"{tool or 'a C compiler'} is not installed")
    bundle = xt.export(FUNCTIONS, name="digits", targets=f"cpu:{machine}" if is_cross else "cpu", blas=None)
    out, target = bundle.extract(tmp_path), bundle.manifest.targets[0]
    (tmp_path / "main.c").write_text(_PROGRAM)
    library = out / str(target.shared if machine == "shared" else target.archive)
    words = [compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{out}", tmp_path / "main.c", library]
    words += [f"-Wl,-rpath,{library.parent}", "-lm", *(["-lmvec"] if machine == "native" else [])]
    subprocess.run([*words, "-o", tmp_path / "main"], check=True)
    image, label = arrays(3)
    run = [emulator, "-L", f"/usr/{machine}-linux-gnu"] if is_cross else []
    given = image.values.tobytes() + label.values.tobytes()
    done = subprocess.run([*run, tmp_path / "main"], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    found = np.frombuffer(done.stdout)
    np.testing.assert_allclose(found[:-1].reshape(3, 10), predict(image).values, rtol=1e-12)
    np.testing.assert_allclose(found[-1], loss(image, label).item(), rtol=1e-12)


def test_names_of_functions_that_would_be_equal(tmp_path: Path) -> None:
    """Functions, what comes with each, and structures of arrays share one space of names."""
    names = ("f", "f any", "f_any", "f workspace", "message", "f x", "F", "f entry", "f__entry", "größe", "", "-")
    functions = {n or "*": (lambda x, n=i: x + float(n), (xt.spec(i=2),)) for i, n in enumerate(names)}
    bundle = xt.export(functions, name="one", blas=None)
    symbols = [str(f.symbol) for f in bundle.manifest.functions]
    assert symbols[:6] == ["one_f", "one_f_any_2", "one_f_any_3", "one_f_workspace_2", "one_message_2", "one_f_x"]
    text = (bundle.extract(tmp_path) / "one.h").read_text()
    declared = re.findall(r"^(?:int32_t|int64_t|const char \*)\s?(\w+)\(", text, re.MULTILINE)
    structures = re.findall(r"^typedef struct (\w+)", text, re.MULTILINE)
    own = [n for n in declared + structures if n.startswith("one_")]
    assert len(own) == len(set(own)) == 3 * len(functions) + 1 + 2 * len(functions)
    assert "typedef struct one_f_x_2 {" in text
    g, x = xt.load(bundle), xt.zeros(i=2)
    assert [f(x).values.tolist() for f in g.values()] == [[float(i)] * 2 for i in range(len(functions))]
    assert g["*"](x).values.tolist() == [10, 10]


@pytest.mark.parametrize("language", ["c", "c++"])
def test_headers_take_any_names_of_functions(tmp_path: Path, language: str) -> None:
    if not COMPILER:
        pytest.skip("there is no C compiler")
    functions = {n: (lambda x: x["x"] * 2.0, ({"x": xt.spec(i=2)},)) for n in NASTY}
    bundle = xt.export(functions, name="nasty", blas=None)
    out = bundle.extract(tmp_path)
    calls = "".join(f"  n += {f.symbol}_workspace();\n" for f in bundle.manifest.functions)
    source = tmp_path / "main.c"
    source.write_text(
        '#include "nasty.h"\n#include <stdio.h>\n#include "nasty.h"\n'
        f"int main(void) {{\n  int64_t n = 0;\n{calls}  return n < 0;\n}}\n"
    )
    compiler = COMPILER if language == "c" else CPP_COMPILER
    library = str(out / str(bundle.manifest.targets[0].archive))
    command = [compiler, "-x", language, "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{out}", source]
    subprocess.run([*command, "-x", "none", library, "-lm", "-o", tmp_path / "main"], check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


# -- the command line -------------------------------------------------------------------------------------------------

_FILE = """
import numpy as np
import xtensor as xt
print("ran")
w = xt.array(np.arange(3.0), "j")
def double(x): return x * w * 2.0
def add(x, y): return x * w + y
class nested:
    def inner(x): return x
"""


def xtensor(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xtensor.cli", *words], capture_output=True, text=True, check=False, cwd=folder
    )


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(_FILE)
    example = '\nexample_args = {"double": (xt.spec(j=3),), "add": (xt.spec(j=3), xt.spec())}\n'
    (tmp_path / "told.py").write_text(_FILE + example)
    specs = ["--arg", "double:j=3", "--arg", "add:j=3:f8", "--arg", "add::f8"]
    found = []
    for i, words in enumerate(
        (
            ["prog.py:double,add", *specs],
            [*specs, "prog.py:double", "./prog.py:add"],
            ["told.py:double,add"],
        )
    ):
        (tmp_path / f"{i}").mkdir()
        done = xtensor(tmp_path, "compile", *words, "-o", f"{i}/model.xtb")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("ran") == len({w.split(":")[0] for w in words if ".py:" in w})
        g = xt.load(tmp_path / f"{i}" / "model.xtb")
        assert list(g) == ["double", "add"]
        assert g.add(xt.ones(j=3), 1.0).values.tolist() == [1, 2, 3]
        found.append((tmp_path / f"{i}" / "model.xtb").read_bytes())
    assert found[0] == found[1]
    shown = xtensor(tmp_path, "inspect", "0/model.xtb").stdout
    assert "\ndouble\n  argument  x: float64{j: 3}, row-major\n  weight    weight0: float64{j: 3}" in shown
    assert "\nadd\n" in shown
    assert "in C      model_add" in shown
    done = xtensor(tmp_path, "compile", "prog.py:nested.inner", "--arg", "j=3", "-o", "n.xtb")
    assert done.returncode == 0, done.stderr
    assert xt.load(tmp_path / "n.xtb").__name__ == "inner"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["prog.py:double,add", "--arg", "j=3"],
            "which function is meant? Write --arg 'double:j=3' (there are double,",
        ),
        (["prog.py:double,double"], "two functions are called double"),
        (["prog.py:double,"], "name a function as FILE.py:FUNCTION"),
        (["prog.py:double,ad"], "prog.py has no function 'ad'; it has add, double"),
        (["prog.py:double,add", "--arg", "double:j=3"], "the type of add's argument 'x' is not known"),
        (["prog.py:double,add", "--arg", "double:j"], "--arg 'j': write \"batch=64"),
    ],
)
def test_command_lines_that_are_wrong(
    tmp_path: Path,
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "prog.py").write_text(_FILE)
    monkeypatch.chdir(tmp_path)
    assert main(["compile", *words, "-o", "model.xtb"]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


# -- copies -----------------------------------------------------------------------------------------------------------


def test_loaded_functions_can_be_copied_and_pickled(bundle: Path, tmp_path: Path) -> None:
    image, label = arrays(3)
    path = tmp_path / "there.xtb"
    path.write_bytes(bundle.read_bytes())
    g = xt.load(path)
    one = xt.load(path, function="loss", target="cpu")
    assert copy.copy(g) is copy.deepcopy(g) is g
    assert copy.deepcopy({"f": one})["f"] is one
    pickled = pickle.dumps((g, one, g.predict))
    path.unlink()  # it is the bytes that travel
    again, other, predicting = pickle.loads(pickled)
    assert list(again) == ["predict", "loss"]
    assert other.__name__ == "loss"
    np.testing.assert_array_equal(again.predict(image).values, g.predict(image).values)
    np.testing.assert_array_equal(predicting(image).values, g.predict(image).values)
    np.testing.assert_array_equal(other(image, label, scale=1.0).values, one(image, label, scale=1.0).values)
    assert pickle.loads(pickle.dumps(other)).__name__ == "loss"


def test_several_functions_are_no_function(bundle: Path) -> None:
    g = xt.load(bundle)
    with pytest.raises(xt.ArgumentTypeError, match=r"has 2 functions, predict, loss; call one of them, as g\.predict"):
        g(arrays(1)[0])


def test_many_functions_take_few_open_files() -> None:
    """Programs may have 1024 of them, and a bundle as many functions."""
    count = 100
    data = xt.export({f"f{i}": (lambda x, n=i: x + float(n), (xt.spec(i=2),)) for i in range(count)}, c=False).data
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 40, hard))
        first, second = xt.load(data), xt.load(data)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    x = xt.zeros(i=2)
    for g in (first, second):
        assert [f(x).values[0] for f in g.values()] == list(range(count))
