"""Mistakes with the tools for a look inside: the message has what to write, and the user's line."""

import dataclasses
import os
import re
import traceback

import numpy as np
import pytest
import xtensor as xt

X = xt.array([1.0, 2.0, 3.0], "t")


@xt.jit
def double(x):
    return x * 2.0


def ours(error):
    """The frames of the package in a traceback, but for the one that raises."""
    folder = os.path.dirname(xt.__file__)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(folder)]
    return [f for f in frames if f.name != "call"]


@pytest.mark.cpu_only("memory is shared with NumPy")
def test_check_shared_shows_the_users_frames_alone():
    memory = np.zeros(3)
    check = xt.debug.check_shared()
    x = xt.array(memory, "t")
    memory[0] = 1.0
    with pytest.raises(xt.ArgumentError, match="was written to afterwards") as found:
        check()
    assert not ours(found.value)
    with pytest.raises(xt.ArgumentError) as found, xt.debug.check_shared():
        y = xt.array(memory, "t")
        memory[0] = 2.0
    assert not ours(found.value)
    assert x.dims == y.dims


def test_rows_of_a_profile_without_a_block():
    with pytest.raises(xt.ArgumentError, match=f"can be read after the block.*\n.*at {re.escape(__file__)}:") as found:
        xt.profile().rows  # noqa: B018
    assert not ours(found.value)


def test_a_profile_of_other_calls_says_which_it_has():
    with xt.profile() as p:
        double(xt.ones(t=4))
    message = r"no call of double\(Spec\(t: 3, float64\)\) on \w+ ended in the block. Calls of these programs did: "
    with pytest.raises(xt.ArgumentError, match=message + r".*double\(Spec\(t: 4, float64\)\) on"):
        double.explore(X, profile=p)


def test_places_are_checked_before_the_work(tmp_path):
    calls = []
    f = xt.jit(lambda x: calls.append(1) or x + 1.0)
    with pytest.raises(FileNotFoundError, match=r"a.html cannot be written: there is no folder .*nowhere"):
        f.explore(X, path=tmp_path / "nowhere" / "a.html")
    with pytest.raises(xt.ArgumentError, match="cannot be written: it is a folder"):
        f.explore(X, path=tmp_path)
    assert not calls
    (tmp_path / "file").write_text("")
    with pytest.raises(xt.ArgumentError, match="file is a file, and a folder is needed"):
        xt.debug.dump_phases(tmp_path / "file")
    f(X)  # the refused folder holds for nothing


@pytest.mark.parametrize(
    ("ask", "advice"),
    [
        (lambda: double.explain(X), r"write xt.option\(log=\"compile\"\), or look at f.compilations"),
        (lambda: double.cost_analysis(X), r"write f.cost\(x\)"),
        (lambda: double.compile(X), r"write f.lower\(x\).compile\(\)"),
        (lambda: double.explor(X), "did you mean 'explore'"),
        (lambda: double.lower(X).compile().memory_analysis(), r"write f.memory\(x\)"),
        (lambda: double.trace(X).jaxpr, r'write f.as_text\("traced", x\)'),
        (lambda: xt.print("{}", X), "write xt.debug.print"),
        (lambda: xt.breakpoint(), "write xt.debug.breakpoint"),
        (lambda: xt.testing.assert_allclose(X, X), r"write np.testing.assert_allclose\(x.values, y.values\)"),
        (lambda: xt.testing.check_gradient, "did you mean 'check_gradients'"),
        (lambda: xt.debug.set_trace(), r"write xt.debug.breakpoint\(\)"),
        (lambda: xt.io_callback(print, X), r"xt.callback\(f, x, result=.., ordered=True\)"),
    ],
)
def test_names_of_other_libraries(ask, advice):
    with pytest.raises(xt.AttributeError, match=advice):
        ask()


@pytest.mark.parametrize(
    ("name", "advice"),
    [("debug_nans", 'nan="raise"'), ("jax_disable_jit", "jit=False"), ("log_compiles", 'log="compile"')],
)
def test_options_of_jax(name, advice):
    with pytest.raises(xt.ArgumentError, match=rf"no option '{name}'.*\. Write xt.option\({advice}\)"):
        xt.option(**{name: True})


@dataclasses.dataclass(frozen=True)
class Model:
    weight: xt.Array

    @xt.jit
    def apply(self, x):
        return self.weight * x


def test_methods_of_instances():
    apply = Model(X).apply
    assert apply(X).values.tolist() == [1.0, 4.0, 9.0]
    assert apply.cost(X) == Model.apply.cost(Model(X), X)
    assert apply.lower(X).inputs == (xt.spec(t=3),) * 2
    assert "xtensor.mul" in apply.as_text("traced", X)
    assert apply.explore(X).data["name"] == "apply"
    assert apply.memory(X).arena == 0
    assert len(apply.compilations) == 1
    with pytest.raises(xt.AttributeError, match=r"write f.cost\(x\)"):
        _ = apply.cost_analysis


def test_a_look_from_inside_of_a_traced_function():
    def inside(x):
        with pytest.raises(
            xt.ArgumentTypeError, match=r"\[0\] of double is a traced array, float64 \(t: 3\), .*xt.Spec"
        ):
            double.cost(x)
        assert double.cost(xt.Spec(x.dims, x.shape, x.dtype))["flops"] == 3
        return x

    xt.jit(inside)(X)


def test_a_look_into_a_loaded_function():
    loaded = xt.load(xt.export(lambda x: x * 2.0, (X,), c=False))
    for name in ("cost", "explore", "lower", "memory"):
        with pytest.raises(xt.AttributeError, match=rf"write xt.jit\(f\).{name}\(..\)"):
            getattr(loaded, name)
    assert xt.jit(loaded).cost(X)["flops"] == 3


def test_a_dataarray_is_printed_as_an_array(capsys):
    d = X.to_xarray()
    xt.debug.print("{:.1f} {}", d, {"d": d})
    xt.jit(lambda x: xt.debug.print("{:.1f}", d) or x)(X)
    line = "[1.0 2.0 3.0] (t: 3)"
    assert capsys.readouterr().out == f"{line} {{'d': [1. 2. 3.] (t: 3)}}\n{line}\n"


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", [lambda x: xt.sum(xt.sqrt(x - 2.0)), lambda x: xt.log(x - 1.0)])
def test_gradients_are_not_compared_with_nan(f, mode):
    with pytest.raises(xt.ArgumentError, match=r"f is not finite near the arguments, .*nothing to compare with"):
        xt.testing.check_gradients(f, (X,), modes=(mode,))
