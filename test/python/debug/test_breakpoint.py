"""xt.debug.breakpoint: pdb in the midst of compiled code, with the values of the user's names."""

from __future__ import annotations

import bdb
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array([1.0, 2.0, 3.0], "i", dtype="f4")


@xt.jit
def total(x: Any) -> Any:
    scale = 2

    def step(carry: Any, e: Any) -> Any:
        both = {"sum": carry + e * scale}
        xt.debug.breakpoint()
        return both["sum"], None

    return xt.scan(step, xt.sum(x) * 0, x, dim="i")[0]


def test_names_have_the_values_of_each_step(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("p float(both['sum']), float(e), scale\nc\n" * 3))
    assert total(X).item() == 12.0
    out = capsys.readouterr().out
    assert [out.index(f"({s}, {e}, 2)") for s, e in ((2.0, 1.0), (6.0, 2.0), (12.0, 3.0))]
    assert "test_breakpoint.py(" in out
    assert "-> xt.debug.breakpoint()" in out


def test_frames_are_those_of_the_user(capsys: Any, monkeypatch: Any) -> None:
    """The function of the line is the innermost frame, the line of the call is above it, and nothing is between."""
    step = total.__wrapped__.__code__.co_firstlineno + 4  # below the decorator
    told = []
    for commands in ("w\nll\nu\n", "s\ns\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(commands + "c\n" * 3))
        line = sys._getframe().f_lineno + 1
        total(X)
        told.append(capsys.readouterr().out)
    looked, stepped = told
    assert looked.startswith(f"> {__file__}({step + 2})step()\n-> xt.debug.breakpoint()\n")
    assert "def step(carry: Any, e: Any) -> Any:" in looked and "return both" in looked
    assert f"{__file__}({line})test_frames_are_those_of_the_user()\n" in looked
    for text in told:
        assert f"{Path(xt.__file__).parent}/" not in text
    assert "--Return--" not in stepped


def test_next_and_step_go_on_in_the_users_code(capsys: Any, monkeypatch: Any) -> None:
    """Compiled code has no lines: they stop at its next breakpoint, and then after the call."""

    def main() -> Any:
        y = total(X[{"i": slice(0, 2)}])
        z = y + 1.0
        return repr(z)

    second = main.__code__.co_firstlineno + 2
    for command in ("n", "s", "r", "unt"):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{command}\n{command}\np y.item()\nn\np z.item()\nc\n"))
        assert main() == repr(xt.array(7.0, (), dtype="f4"))
        out = capsys.readouterr().out
        assert out.count("-> xt.debug.breakpoint()") == 2 and "--Return--" not in out
        assert out.count("(compiled code runs on to its next breakpoint, or to the line after the call)") == 2
        assert f"({second})main()\n-> z = y + 1.0\n(Pdb) 6.0\n" in out
        assert f"({second + 1})main()\n-> return repr(z)\n(Pdb) 7.0\n" in out
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nn\nn\nn\nn\nc\n"))
    main()
    places = [line for line in capsys.readouterr().out.splitlines() if line.startswith("> ")]
    assert places and all(line.startswith(f"> {__file__}(") for line in places)


def test_quitting_ends_a_program_without_a_traceback(tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import xtensor as xt\n\n\n@xt.jit\ndef f(x):\n    xt.debug.breakpoint()\n    return x\n\n\n"
        "f(1.0)\nf(2.0)\nwith xt.option(jit=False):\n    f(3.0)\nprint('finished')\n"
    )
    for commands, stops in (("q\n", 1), ("c\nq\n", 2), ("n\nq\n", 1), ("c\nc\nq\n", 3), ("c\n", 2)):
        done = subprocess.run([sys.executable, program], input=commands, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stderr == "" and "finished" not in done.stdout, done
        assert done.stdout.count("-> xt.debug.breakpoint()") + done.stdout.count("-> return x") == stops, done


def test_quitting_ends_the_call(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("c\nq\n"))
    with pytest.raises(bdb.BdbQuit):
        total(X)
    assert capsys.readouterr().out.count("-> xt.debug.breakpoint()") == 2


def test_it_stops_for_each_instance_and_each_gradient_once(capsys: Any, monkeypatch: Any) -> None:
    def f(x: Any) -> Any:
        y = x * x
        xt.debug.breakpoint()
        return y

    monkeypatch.setattr("sys.stdin", io.StringIO("p instance, float(y)\nc\n" * 3))
    gradient = xt.jit(xt.vectorize(xt.grad(f), dims="i"))(X)
    np.testing.assert_array_equal(gradient.values, [2.0, 4.0, 6.0])
    out = capsys.readouterr().out
    for i, y in enumerate((1.0, 4.0, 9.0)):
        assert out.count(f"({{'i': {i}}}, {y})") == 1


@pytest.mark.cpu_only("the bundle is for this processor")
def test_a_bundle_leaves_breakpoints_out_with_a_warning() -> None:
    why = r"xt.debug.breakpoint is left out of the bundle, .*test_breakpoint.py:\d+"
    with pytest.warns(UserWarning, match=why) as told:
        found = xt.load(xt.export(total, (X,)))
    assert {warning.filename for warning in told} == {__file__}
    assert found(X).item() == 12.0
