"""Functions compiled ahead of time and loaded again: the same names, the same numbers, the same derivatives."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import xarray
import xtensor as xt
from places import ROOT

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

rng = np.random.default_rng(0)


def classify(image: Any, w: Any, b: Any) -> Any:
    """Probabilities: image(sample, pixel), w(pixel, digit), b(digit) -> (sample, digit)"""
    return xt.nn.softmax(xt.tanh(xt.dot(image, w, dim="pixel") + b), dim="digit")


SPECS = (
    xt.spec(sample=None, pixel=64, dtype="f4"),
    xt.spec(pixel=64, digit=10, dtype="f4"),
    xt.spec(digit=10, dtype="f4"),
)


def arrays(samples: int) -> tuple[Any, Any, Any]:
    return (
        xt.array(rng.normal(size=(samples, 64)).astype("f4"), ("sample", "pixel")),
        xt.array(rng.normal(size=(64, 10)).astype("f4"), ("pixel", "digit")),
        xt.array(rng.normal(size=10).astype("f4"), "digit"),
    )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aot") / "digits.xtb"
    xt.export(classify, args=SPECS, path=path)
    return path


def test_same_bits_as_jit_for_every_open_size(bundle: Path) -> None:
    g = xt.load(bundle)
    for samples in (1, 7, 100, 0):
        args = arrays(samples)
        found, expected = g(*args), xt.jit(classify)(*args)
        assert found.dims == expected.dims
        assert found.dtype == expected.dtype
        np.testing.assert_array_max_ulp(found.values, expected.values, 8)


def test_loaded_function_looks_like_the_exported_one(bundle: Path) -> None:
    g = xt.load(bundle)
    assert g.__name__ == "classify"
    assert g.__doc__ == classify.__doc__
    assert list(inspect.signature(g).parameters) == ["image", "w", "b"]
    image, w, b = arrays(3)
    np.testing.assert_array_equal(g(image, b=b, w=w).values, g(image, w, b).values)
    assert "image: float32 (sample: ?, pixel: 64)" in repr(g)


def test_stored_order_of_an_argument_does_not_matter(bundle: Path) -> None:
    g, (image, w, b) = xt.load(bundle), arrays(3)
    turned = xt.array(np.ascontiguousarray(w.values.T), ("digit", "pixel"))
    np.testing.assert_array_equal(g(image, turned, b).values, g(image, w, b).values)


def test_data_arrays_come_out_where_they_go_in(bundle: Path) -> None:
    g, (image, w, b) = xt.load(bundle), arrays(2)
    labelled = xarray.DataArray(image.values, dims=image.dims, coords={"sample": ["first", "second"]})
    found = g(labelled, w, b)
    assert isinstance(found, xarray.DataArray)
    assert found.coords["sample"].values.tolist() == ["first", "second"]


def test_first_call_compiles_nothing(bundle: Path) -> None:
    """In a process of its own: nobody asks for the compiler, or for a context to make programs in."""
    program = f"""
import numpy as np, xtensor as xt
g = xt.load({str(bundle)!r})
image = xt.array(np.ones((3, 64), "f4"), ("sample", "pixel"))
w, b = xt.array(np.ones((64, 10), "f4"), ("pixel", "digit")), xt.array(np.ones(10, "f4"), "digit")
print(g(image, w, b).values[0, 0])
from xtensor.ir.context import compiler, context
asked = [f.cache_info().misses for f in (compiler, context)]
assert asked == [0, 0], "the compiler was asked"
xt.jit(g)(image, w, b)
asked = [f.cache_info().misses for f in (compiler, context)]
assert asked == [1, 1], "the compiler is asked in another way"
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(0.1)


@pytest.mark.parametrize("transform", ["jit", "grad", "hessian", "vectorize", "vectorized grad", "jvp"])
def test_transforms_see_through_a_loaded_function(bundle: Path, transform: str) -> None:
    g, (image, w, b) = xt.load(bundle), arrays(5)

    def loss(f: Any) -> Any:
        return lambda w, image, b: xt.sum(xt.square(f(image, w, b)))

    def run(f: Any) -> Any:
        if transform == "jit":
            return xt.jit(lambda *a: f(*a) * 2.0)(image, w, b)
        if transform == "grad":
            return xt.grad(loss(f))(w, image, b)
        if transform == "hessian":
            return xt.hessian(lambda b: xt.sum(xt.square(f(image, w, b))))(b)
        if transform == "vectorize":
            several = xt.array(np.stack([w.values, 2 * w.values]), ("model", "pixel", "digit"))
            return xt.vectorize(f, "model")(image, several, b)
        if transform == "vectorized grad":
            several = xt.array(np.stack([w.values, 2 * w.values]), ("model", "pixel", "digit"))
            return xt.vectorize(xt.grad(loss(f)), "model")(several, image, b)
        return xt.jvp(lambda w: f(image, w, b), (w,), (w,))[1]

    found, expected = run(g), run(classify)
    assert found.dims == expected.dims
    np.testing.assert_allclose(found.values, expected.values, rtol=2e-5, atol=1e-7)


def test_open_sizes_are_found_inside_of_a_trace(bundle: Path) -> None:
    g, (image, w, b) = xt.load(bundle), arrays(5)
    seen = []

    @xt.jit
    def f(image: Any, w: Any, b: Any) -> Any:
        y = g(image, w, b)
        seen.append(y.sizes["sample"])
        return y

    f(image, w, b)
    assert seen == [5]


def test_open_sizes_stay_open_in_a_trace_with_dynamic_dims(bundle: Path) -> None:
    g = xt.load(bundle)
    f = xt.jit(lambda image, w, b: g(image, w, b) + 1.0, dynamic_dims="sample")
    for samples in (2, 5):
        args = arrays(samples)
        np.testing.assert_allclose(f(*args).values, classify(*args).values + 1, rtol=1e-5)


def test_captured_arrays_are_baked_in(tmp_path: Path) -> None:
    w, b = arrays(1)[1:]
    path = tmp_path / "model.xtb"
    xt.export(lambda image: classify(image, w, b), args=SPECS[:1], path=path, name="model")
    g, image = xt.load(path), arrays(4)[0]
    np.testing.assert_array_max_ulp(g(image).values, classify(image, w, b).values, 8)
    gradient = xt.grad(lambda image: xt.sum(xt.square(g(image))))(image)
    expected = xt.grad(lambda image: xt.sum(xt.square(classify(image, w, b))))(image)
    np.testing.assert_allclose(gradient.values, expected.values, rtol=1e-5, atol=1e-7)


def test_pytrees_numbers_and_defaults(tmp_path: Path) -> None:
    def f(params: dict[str, Any], x: Any, scale: float = 2.0, *, shift: Any = None) -> Any:
        y = params["w"] * x * scale
        return {"y": y, "both": (y + params["b"][0], xt.sum(x))}

    params = {"w": xt.array([1.0, 2.0, 3.0], "i"), "b": [xt.array(4.0, ())]}
    x = xt.array([1.0, 1.0, 2.0], "i")
    specs = ({"w": xt.spec(i=None), "b": [xt.spec()]}, xt.spec(i=None), 2.0)
    g = xt.load(xt.export(f, args=specs, path=tmp_path / "f.xtb", c=False))
    assert str(inspect.signature(g)) == "(params, x, scale=2.0, *, shift=None)"
    for args in ((params, x), (params, x, 3.0)):
        found, expected = g(*args), f(*args)
        assert found.keys() == expected.keys()
        np.testing.assert_array_equal(found["y"].values, expected["y"].values)
        np.testing.assert_array_equal(found["both"][0].values, expected["both"][0].values)
        assert found["both"][1].item() == expected["both"][1].item()
    with pytest.raises(xt.UnsupportedError, match="shift was exported at its default"):
        g(params, x, shift=x)
    second = xt.grad(lambda x: xt.sum(xt.square(g(params, x)["y"])))(x)
    np.testing.assert_allclose(second.values, [8.0, 32.0, 144.0])


def test_one_name_is_one_size_across_arguments(tmp_path: Path) -> None:
    a, b = xt.spec(i=None, j=3), xt.spec(i=None)
    g = xt.load(xt.export(lambda a, b: a * b, args=(a, b), path=tmp_path / "f.xtb"))
    with pytest.raises(
        xt.SizeError, match=r"argument b: dim 'i' has size 5; it must be 4, the size that argument a has"
    ):
        g(xt.zeros(i=4, j=3), xt.zeros(i=5))
    with pytest.raises(xt.SizeError, match=r"argument a: dim 'j' has size 2; it must be 3, as it was exported"):
        g(xt.zeros(i=4, j=2), xt.zeros(i=4))
    with pytest.raises(xt.DTypeError, match=r"argument a has dtype float32; float64 is needed"):
        g(xt.zeros(i=4, j=3, dtype="f4"), xt.zeros(i=4))
    with pytest.raises(xt.DimensionError, match=r"argument b is"):
        g(xt.zeros(i=4, j=3), xt.zeros(k=4))
    with pytest.raises(xt.SizeError, match=r"argument b: dim 'i' has size 5"):
        xt.jit(lambda a, b: g(a, b))(xt.zeros(i=4, j=3), xt.zeros(i=5))


def test_results_with_sizes_that_follow_from_the_arguments(tmp_path: Path) -> None:
    def f(x: Any, y: Any) -> Any:
        return x.stack(z=("a", "b")), xt.rename(y, {"c": "d"})

    g = xt.load(xt.export(f, args=(xt.spec(a=None, b=3), xt.spec(c=None)), path=tmp_path / "f.xtb"))
    flat, renamed = g(xt.zeros(a=4, b=3), xt.ones(c=5))
    assert flat.sizes == {"z": 12}
    assert renamed.sizes == {"d": 5}
    inside = xt.jit(lambda x, y: xt.sum(g(x, y)[0]))(xt.ones(a=4, b=3), xt.ones(c=5))
    assert inside.item() == 12


def test_index_out_of_range_is_told_with_its_line(tmp_path: Path) -> None:
    def f(x: Any, i: Any) -> Any:
        return x.isel(row=i)

    args = (xt.spec(row=4), xt.spec(k=2, dtype="i8"))
    g = xt.load(xt.export(f, args=args, path=tmp_path / "f.xtb"))
    x = xt.array([1.0, 2.0, 3.0, 4.0], "row")
    assert g(x, xt.array([0, -1], "k")).values.tolist() == [1.0, 4.0]
    with pytest.raises(IndexError, match=r"index 4 is out of range for size 4 of dim 'row'(.|\n)*test_aot\.py"):
        g(x, xt.array([0, 4], "k"))


def test_factorisations_need_a_blas(tmp_path: Path) -> None:
    def f(a: Any) -> Any:
        return xt.linalg.cholesky(a, dims=("i", "j"))

    message = r"a library for C without a BLAS has no factorisations, and this function calls 'cholesky': name a BLAS"
    with pytest.raises(xt.UnsupportedError, match=message):
        xt.export(f, args=(xt.spec(i=2, j=2),), path=tmp_path / "f.xtb", blas=None)
    g = xt.load(xt.export(f, args=(xt.spec(i=2, j=2),), path=tmp_path / "f.xtb", c=False))
    assert g(xt.array([[4.0, 2.0], [2.0, 5.0]], ("i", "j"))).values.tolist() == [[2.0, 0.0], [1.0, 2.0]]


def test_threads_and_temporaries_are_the_processs(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        y = xt.exp(x)
        return xt.sum(y / xt.sum(y, dim="j"), dim="i")

    g = xt.load(xt.export(f, args=(xt.spec(i=2000, j=500),), path=tmp_path / "f.xtb"))
    x = xt.array(rng.normal(size=(2000, 500)), ("i", "j"))
    np.testing.assert_allclose(g(x).values, f(x).values, rtol=1e-12)


def test_same_input_same_bytes(tmp_path: Path) -> None:
    first, second = (xt.export(classify, args=SPECS, targets=("cpu", "cpu:x86-64"), name="m").data for _ in range(2))
    assert first == second


def test_several_targets_and_the_first_that_runs(tmp_path: Path) -> None:
    targets = ("cpu:riscv64-linux-gnu", "cpu:aarch64-linux-gnu", "cpu:x86-64")
    path = tmp_path / "f.xtb"
    xt.export(classify, args=SPECS, targets=targets, path=path)
    g = xt.load(path)
    assert g.target == "cpu:x86-64"
    args = arrays(3)
    np.testing.assert_allclose(g(*args).values, classify(*args).values, rtol=1e-5)
    with pytest.raises(xt.BundleError, match="does not run on this machine"):
        xt.load(path, target="cpu:riscv64")
    with pytest.raises(xt.BundleError, match=r"has nothing for target 'cpu:x86-64-v3'; it has cpu:riscv64"):
        xt.load(path, target="cpu:x86-64-v3")


def test_unknown_targets_are_refused() -> None:
    with pytest.raises(xt.ArgumentError, match=r"no bundle can be made for target 'cpu:z80'"):
        xt.export(classify, args=SPECS, targets="cpu:z80")
    with pytest.raises(xt.ArgumentError, match=r"no bundle can be made for target 'opencl'"):
        xt.export(classify, args=SPECS, targets=("cpu", "opencl"))
    with pytest.raises(xt.ArgumentError, match=r"there is no BLAS called 'mkl'"):
        xt.export(classify, args=SPECS, blas="mkl")


def test_command_line(tmp_path: Path) -> None:
    program = tmp_path / "prog.py"
    program.write_text(
        "import xtensor as xt\n\ndef f(x, y):\n    '''x(i) + y(i)'''\n    return x + y\n\n"
        "example_args = (xt.spec(i=None, dtype='f4'), xt.spec(i=None, dtype='f4'))\n"
    )
    out = tmp_path / "model.xtb"

    def xtensor(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "xtensor.cli", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    xtensor("compile", f"{program}:f", "-o", str(out))
    assert xt.load(out)(xt.ones(i=3, dtype="f4"), xt.ones(i=3, dtype="f4")).values.tolist() == [2, 2, 2]
    shown = xtensor("inspect", str(out), "--extract", str(tmp_path / "members"))
    assert "argument  x: float32{i: ?i}, row-major" in shown
    assert (tmp_path / "members" / "model.h").read_text().count("model_f_x") >= 2
    assert json.loads(xtensor("inspect", str(out), "--json"))["schema"] == 4


def test_what_may_be_passed_by_position_may_be_passed_by_name() -> None:
    n, a = xt.spec(n=None, dtype="f4"), xt.ones(n=3, dtype="f4")

    def minus(x, y):
        return x - y

    g = xt.load(xt.export(minus, kwargs={"x": n, "y": n}))
    for got in (g(a, a + 1), g(a, y=a + 1), g(x=a, y=a + 1)):
        np.testing.assert_array_equal(got.values, [-1, -1, -1])

    def scaled(x, flag=True, k=2):
        return x * k if flag else x

    g = xt.load(xt.export(scaled, args=(n,), kwargs={"k": 3}))
    for got in (g(a, k=3), g(a, True, 3)):
        np.testing.assert_array_equal(got.values, [3, 3, 3])
    g = xt.load(xt.export(scaled, args=(n,)))
    np.testing.assert_array_equal(g(a, True, 2).values, [2, 2, 2])
    with pytest.raises(xt.UnsupportedError, match="k was exported at its default"):
        g(a, True, 5)


def test_defaults_are_told_without_addresses() -> None:
    def f(x, act=np.tanh, names=frozenset("abc"), sizes=(1, 2), k=2):
        return x * k

    text = xt.export(f, args=(xt.spec(n=3),)).manifest_text
    assert " at 0x" not in text
    assert str(inspect.signature(xt.load(xt.export(f, args=(xt.spec(n=3),))))) == (
        "(x, act=tanh, names=<frozenset>, sizes=(1, 2), k=2)"
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"args": xt.spec(n=3)}, r"args=\): a tuple.*Write args=\(xt.spec"),
        ({"targets": None}, r"targets=\): names of targets"),
        ({"name": 3}, r"name=\): a name"),
        ({"c": "yes"}, "c is True or False, not the string 'yes'"),
        ({"path": 3}, "the path of a file"),
        ({"path": "a\0b"}, "the path of a file"),
        ({"path": "/nowhere/at/all.xtb"}, "all.xtb cannot be written: No such file"),
        ({"path": "/"}, "cannot be written"),
    ],
)
def test_wrong_arguments_of_export(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(xt.Error, match=message):
        xt.export(lambda x: x * 2, **{"args": (xt.spec(n=3),), **wrong})


def test_wrong_trees_of_arguments() -> None:
    n, a = xt.spec(n=3, dtype="f4"), xt.ones(n=3, dtype="f4")
    g = xt.load(xt.export(lambda p, x: p["w"] * x + p["b"], ({"w": n, "b": n}, n)))
    for p in ({"w": a}, {"w": a, "c": a}, [a, a]):
        with pytest.raises(xt.ArgumentTypeError, match=r"argument p is .*; \{'w': \*, 'b': \*\} is needed"):
            g(p, a)
    with pytest.raises(xt.ArgumentTypeError, match=r"xt\.load: the path of a file"):
        xt.load(3)


def test_docstrings_keep_their_indentation() -> None:
    def f(x: Any) -> Any:
        """Twice.

        x
        """
        return x * 2.0

    bundle = xt.export(f, args=(xt.spec(n=3),), c=False)
    assert xt.load(bundle).__doc__ == f.__doc__


def test_texts_and_static_arguments_are_what_they_were_exported_as() -> None:
    a, n = xt.ones(n=3), xt.spec(n=3)

    def f(x: Any, mode: str = "twice", options: Any = None) -> Any:
        return x * (2.0 if mode == "twice" else 3.0) + (1.0 if options and options["shift"] == "up" else 0.0)

    g = xt.load(xt.export(f, args=(n, "thrice"), c=False))
    assert g(a, "thrice").values.tolist() == g(a, mode="thrice").values.tolist() == [3, 3, 3]
    for args in ((a,), (a, "twice"), (a, a)):
        with pytest.raises(xt.UnsupportedError, match="f: mode was exported as 'thrice'; export the function with"):
            g(*args)
    g = xt.load(xt.export(f, args=(n,), kwargs={"options": {"shift": "up"}}, c=False))
    assert g(a, options={"shift": "up"}).values.tolist() == [3, 3, 3]
    with pytest.raises(xt.UnsupportedError, match="options was exported as 'up'"):
        g(a, "twice", {"shift": "down"})
    with pytest.raises(xt.ArgumentTypeError, match=r"argument options is \{\}; \{'shift': 'up'\} is needed"):
        g(a, "twice", {})
    g = xt.load(xt.export(xt.jit(lambda x, k: x * k, static="k"), args=(n, 3), c=False))
    assert g(a, 3).values.tolist() == [3, 3, 3]
    assert xt.grad(lambda x: xt.sum(g(x, 3)))(a).values.tolist() == [3, 3, 3]
    with pytest.raises(xt.UnsupportedError, match="k was exported as 3"):
        g(a, 4)
    with pytest.raises(xt.UnsupportedError, match="arguments of f hold a ufunc that is not an array"):
        xt.export(xt.jit(f, static="mode"), args=(n, np.tanh))


def test_parameters_that_are_not_there() -> None:
    g, a = xt.load(xt.export(lambda image, scale=2.0: image * scale, args=(xt.spec(n=3),), c=False)), xt.ones(n=3)
    with pytest.raises(
        xt.ArgumentTypeError, match=r"no parameter 'imag'; its parameters are \(im.*; did you mean 'image'\?"
    ):
        g(imag=a)
    with pytest.raises(xt.ArgumentTypeError, match=r"no parameter 'q'; its parameters are \(image"):
        g(a, q=1)


def test_a_batch_that_has_the_name_of_a_dim() -> None:
    g = xt.load(xt.export(lambda x: x * 2.0, args=(xt.spec(i=None, j=2),), c=False))
    batch = xt.ones(b=4, i=3, j=2)
    assert xt.vectorize(g, "b")(batch).sizes == {"b": 4, "i": 3, "j": 2}
    with pytest.raises(
        xt.DimensionError, match=r"'i' is batched outside, by xt\.vectorize.*x\.rename\(\{'i': 'batch'\}"
    ):
        xt.vectorize(g, "i")(xt.ones(i=3, j=2))
    for f in (g, xt.jit(lambda x: g(x))):
        with pytest.raises(xt.DimensionError, match=r"Dims of a batch go through xt\.vectorize\(f, 'b'\)"):
            f(batch)


def test_the_best_of_several_processors_is_taken() -> None:
    found = {}
    for targets in (["cpu:x86-64", "cpu:x86-64-v3", "cpu:x86-64-v2"], ["cpu:x86-64-v3", "cpu:x86-64-v2", "cpu:x86-64"]):
        bundle = xt.export(
            lambda x: x * 2.0, args=(xt.spec(n=3),), targets=["cpu:aarch64-linux-gnu", *targets], c=False
        )
        g = xt.load(bundle)
        found[g.target] = g(xt.ones(n=3)).values.tolist()
        if xt._native.has_processor("x86-64"):
            assert xt.load(bundle, target="cpu:x86-64").target == "cpu:x86-64"
    best = next(t for t in ("x86-64-v3", "x86-64-v2", "x86-64", "aarch64") if xt._native.has_processor(t))
    assert found == {f"cpu:{best}": [2, 2, 2]}


def test_errors_of_an_export_are_exports() -> None:
    def f(x: Any, k: Any) -> Any:
        return x * k

    for args in ((), (xt.spec(n=3),), (1, 2, 3, 4), (xt.spec(n=3), np.ones(3))):
        with pytest.raises(xt.Error, match=r"^xt\.export: ") as caught:
            xt.export(f, args=args)
        assert "xt.jit" not in str(caught.value)


def test_the_shell_of_the_documentation_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "aot.md").read_text()
    one, several = (part.split("```")[0] for part in page.split("```python\n")[1:3])
    shell = page.split("```sh\n")[1].split("```")[0].replace("\\\n", "")
    (tmp_path / "digits.py").write_text(one.split("xt.export(")[0] + several.split("image, label =")[0])
    lines = [line for line in shell.splitlines() if line.startswith("xtensor ")]
    assert [line.split()[1] for line in lines] == ["compile", "compile", "inspect"]
    for line in lines:
        words = [sys.executable, "-m", "xtensor.cli", *shlex.split(line)[1:]]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "digits" / "digits.h").is_file()
    x = xt.ones(sample=2, pixel=64, dtype="f4")
    assert xt.load(tmp_path / "digits.xtb")(x).sizes == {"sample": 2, "digit": 10}
    assert list(xt.load(tmp_path / "both.xtb")) == ["classify", "loss"]


def test_the_command_line_tells_no_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("def f(x):\n    return x * 2\n")
    for words, message in (
        (["-o", "/nowhere/f.xtb"], "/nowhere/f.xtb cannot be written: No such file or directory"),
        (["-o", "."], ". cannot be written: Is a directory"),
        (["-o", "f.xtb", "--target", "gpu"], "xt.export: no bundle can be made for target 'gpu'"),
        (["-o", "f.xtb", "--blas", "mkl"], "xt.export: there is no BLAS called 'mkl'"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "xtensor.cli", "compile", "f.py:f", "--arg", "n=?", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert done.stderr.startswith(f"xtensor compile: {message}")


class Moments(NamedTuple):
    mean: Any
    spread: Any


@dataclasses.dataclass
class Model:
    w: Any
    parts: dict[int, Any]
    kind: str | None = "linear"


def test_named_tuples_dataclasses_and_numbers_as_keys() -> None:
    def f(model: Model, x: Any) -> Any:
        y = model.parts[0] * x * model.w + model.parts[7]
        return Moments(xt.mean(y, dim="i"), xt.max(y, dim="i") - xt.min(y, dim="i")), Model(y, {1: x}, None)

    n, x = xt.spec(i=None), xt.array([1.0, 2.0, 3.0], "i")
    model = Model(x, {0: x + 1.0, 7: x})
    g = xt.load(xt.export(f, args=(Model(n, {0: n, 7: n}), n), c=False))
    (moments, other), (expected, _) = g(model, x), f(model, x)
    assert moments._fields == Moments._fields
    assert (moments.mean.item(), moments.spread.item()) == (expected.mean.item(), expected.spread.item())
    assert type(other).__name__ == "Model"
    assert (other.kind, other.parts[1].values.tolist()) == (None, [1, 2, 3])
    gradient = xt.grad(lambda w: xt.sum(g(dataclasses.replace(model, w=w), x)[1].w))(x)
    np.testing.assert_allclose(gradient.values, ((x + 1.0) * x).values)
    with pytest.raises(xt.UnsupportedError, match="model was exported as 'linear'"):
        g(Model(x, {0: x, 7: x}, "cubic"), x)
    for wrong in (Moments(x, x), {"w": x}, Model(x, {0: x})):
        with pytest.raises(xt.ArgumentTypeError, match=r"argument model is .*Model\(w=\*"):
            g(wrong, x)
    with pytest.raises(xt.UnsupportedError, match="hold an OrderedDict; a bundle can hold dicts, lists, tuples, named"):
        xt.export(lambda p: p["a"], args=(collections.OrderedDict(a=n),))
