"""xt.debug.print and xt.debug.backward: what stands where Python's print cannot see values."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

X = xt.array([0.5, 1.5, 2.5], "i", dtype="f4")
say = xt.debug.print


def lines_of(capsys: Any, f: Callable[[], Any]) -> list[str]:
    capsys.readouterr()
    f()
    return str(capsys.readouterr().out).splitlines()


def shown(text: str, x: Any, *more: Any) -> Any:
    """`x`, after a print."""
    say(text, x, *more)
    return x


def test_fields_are_those_of_str_format(capsys: Any) -> None:
    def f(x: Any) -> Any:
        s = xt.sum(x)
        say("{0:.2f} {name:>6} {x:.1f} {{}}", s, name="loss", x=x)
        say("{}|{!r}|{}", s > 1, "text", {"tree": s})
        return s

    wanted = ["4.50   loss [0.5 1.5 2.5] (i: 3) {}", "True|'text'|{'tree': 4.5}"]
    for g in (f, xt.jit(f)):
        for _ in range(2):
            assert lines_of(capsys, lambda g=g: g(X)) == wanted


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "bfloat16", "float16", "complex64"])
def test_every_dtype_is_printed_as_numpy_does(capsys: Any, dtype: str) -> None:
    x = xt.array([0.0, 1.0, 100.0], "i", dtype="f4").astype(dtype)
    plain = x.values.astype("float32") if dtype == "bfloat16" else x.values
    found = lines_of(capsys, lambda: xt.jit(lambda x: say("{}", x))(x))
    assert found == [f"{np.array2string(plain)} (i: 3)"]


def test_keys_are_printed_as_pytrees(capsys: Any) -> None:
    def f(key: xt.random.Key) -> Any:
        say("{} {k.dims} {k.sizes} {k.words}", key, k=key)
        return 0.0

    key = xt.random.key(3)
    for g in (f, xt.jit(f)):
        assert lines_of(capsys, lambda g=g: g(key)) == ["Key(3) () {} 3"]
    a, b = xt.random.split(key, sample=2).words.values
    wanted = [f"[sample: {i}] Key({word}) () {{}} {word}" for i, word in enumerate((a, b))]
    assert lines_of(capsys, lambda: xt.vectorize(f, "sample")(xt.random.split(key, sample=2))) == wanted


def test_loops_and_branches_print_each_time_in_order(capsys: Any) -> None:
    def f(x: Any) -> Any:
        total, _ = xt.scan(lambda c, e: (shown("c {}", c) + e, None), xt.sum(x) * 0, x, dim="i")
        n = xt.while_loop(lambda c: shown("? {}", c) < 6.0, lambda c: shown("! {}", c) + 1, total)
        n = xt.fori_loop(0, 2, lambda i, c: c + shown("i {}", i), n)
        return xt.cond(n > 5, lambda: shown("yes {}", n), lambda: shown("no {}", n))

    wanted = ["c 0.0", "c 0.5", "c 2.0", "? 4.5", "! 4.5", "? 5.5", "! 5.5", "? 6.5", "i 0", "i 1", "yes 7.5"]
    assert lines_of(capsys, lambda: xt.jit(f)(X)) == wanted
    assert lines_of(capsys, lambda: f(X)) == wanted
    # The derivative needs hardly any of the numbers.
    for g in (xt.grad(f), lambda x: xt.jvp(f, (x,), (x,))):
        assert lines_of(capsys, lambda g=g: xt.jit(g)(X)) == wanted


CUBES: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "checkpoint": (xt.checkpoint(lambda x: shown("x {}", x) * x * x), ["x 2.0"]),
    "while": (
        lambda x: xt.while_loop(lambda c: shown("? {}", c) < 20.0, lambda c: shown("! {}", c) * c, x),
        ["? 2.0", "! 2.0", "? 4.0", "! 4.0", "? 16.0", "! 16.0", "? 256.0"],
    ),
    "bounded while": (
        lambda x: xt.while_loop(lambda c: shown("? {}", c) < 5.0, lambda c: shown("! {}", c) * c, x, max_steps=4),
        ["? 2.0", "! 2.0", "? 4.0", "! 4.0", "? 16.0"],
    ),
    "scan": (
        lambda x: xt.scan(lambda c, _: (shown("c {}", c) * c, None), x, dim="t", length=2)[0],
        ["c 2.0", "c 4.0"],
    ),
    "jit": (xt.jit(lambda x: shown("x {}", x) ** 3), ["x 2.0"]),
}


@pytest.mark.parametrize("name", CUBES)
def test_derivatives_compute_again_without_printing_again(capsys: Any, name: str) -> None:
    f, wanted = CUBES[name]
    x = xt.array(2.0, dtype="f4")
    for g in (xt.grad(f), xt.value_and_grad(f), xt.grad(xt.grad(f)), lambda x: xt.jvp(f, (x,), (x,))):
        found = lines_of(capsys, lambda g=g: xt.jit(g)(x))
        # A loop that is bounded may evaluate its condition in steps after the end.
        assert list(dict.fromkeys(found)) == wanted
        assert len(found) == len(wanted) or name == "bounded while"


def test_a_line_that_is_the_same_for_all_instances_is_printed_once(capsys: Any) -> None:
    f = xt.vectorize(lambda v: xt.cond(v > 1, lambda: (say("large"), v)[1], lambda: (say("{}", 1.0), v)[1]), "i")
    assert sorted(lines_of(capsys, lambda: f(X))) == ["[i: 0] 1.0", "[i: 1] large", "[i: 2] large"]
    g = xt.vectorize(lambda v: (say("all"), v)[1], "i")
    assert lines_of(capsys, lambda: g(X)) == ["all"]


def test_instances_of_a_vectorize_say_which_they_are(capsys: Any) -> None:
    def f(x: Any) -> Any:
        say("shared")
        y = xt.cond(x > 1, lambda: shown("big {}", x), lambda: x * 2)
        return xt.while_loop(lambda c: c < 2, lambda c: shown("step {}", c) + 1, y)

    wanted = ["shared", "[i: 1] big 1.5", "[i: 2] big 2.5", "[i: 0] step 1.0", "[i: 1] step 1.5"]
    assert lines_of(capsys, lambda: xt.jit(xt.vectorize(f, dims="i"))(X)) == wanted
    both = xt.vectorize(xt.vectorize(lambda x: shown("{}", x), dims="i"), dims="j")
    found = lines_of(capsys, lambda: both(xt.array([[1.0], [2.0]], ("j", "i"), dtype="f4")))
    assert found == ["[j: 0, i: 0] 1.0", "[j: 1, i: 0] 2.0"]
    found = lines_of(capsys, lambda: both(xt.array([[1.0, 2.0], [3.0, 4.0]], ("j", "i"), dtype="f4")))
    assert found == ["[j: 0, i: 0] 1.0", "[j: 1, i: 0] 3.0", "[j: 0, i: 1] 2.0", "[j: 1, i: 1] 4.0"]


def test_sizes_may_be_open(capsys: Any) -> None:
    f = xt.jit(xt.vectorize(lambda x: shown("{}", x), dims="i"), dynamic_dims=("i",))
    for n in (1, 3, 0):
        found = lines_of(capsys, lambda n=n: f(xt.zeros(i=n, dtype="f4")))
        assert found == [f"[i: {k}] 0.0" for k in range(n)]


def test_backward_prints_cotangents(capsys: Any) -> None:
    def loss(x: Any) -> Any:
        def step(c: Any, e: Any) -> Any:
            return xt.debug.backward(c, "ct {:.1f}") * e, None

        return xt.scan(step, x, xt.array([1.0, 2.0, 3.0], "t", dtype="f4"), dim="t")[0]

    x = xt.array(2.0, dtype="f4")
    assert lines_of(capsys, lambda: xt.jit(loss)(x)) == []
    assert lines_of(capsys, lambda: xt.jit(xt.grad(loss))(x)) == ["ct 3.0", "ct 6.0", "ct 6.0"]
    assert lines_of(capsys, lambda: xt.jvp(loss, (x,), (x,))) == []
    pair = xt.grad(lambda x: xt.debug.backward({"a": x, "n": 3}, "{}")["a"] * 2)
    assert lines_of(capsys, lambda: pair(x)) == ["{'a': 2.0, 'n': None}"]
    assert xt.debug.backward(3.0, "not traced") == 3.0
    second = xt.jit(xt.grad(xt.grad(lambda x: xt.debug.backward(x * x, "{}") * x)))
    assert second(x).item() == 12.0


@pytest.mark.parametrize("loop", [lambda f: f, lambda f: lambda w: xt.while_loop(lambda s: s < 9.0, f, w)])
def test_what_is_computed_again_prints_cotangents(capsys: Any, loop: Callable[..., Any]) -> None:
    """Values print where the function runs first, cotangents where its gradient runs."""
    f = loop(xt.checkpoint(lambda s: xt.debug.backward(shown("value {:.0f}", s) * 2.0, "ct {:.0f}")))
    lines = lines_of(capsys, lambda: xt.grad(f)(xt.array(5.0, dtype="f4")))
    assert lines == ["value 5", "ct 1"]


def test_rules_print_primals_and_cotangents(capsys: Any) -> None:
    """A rule may be transposed, and then has no tangents to print."""
    pushed, pulled = (xt.custom_derivative(lambda x: x * x) for _ in range(2))

    def push(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return x * x, shown("primal {}", x) * 2 * t

    pushed.defpushforward(push)
    pulled.defpullback(lambda x: (x * x, shown("kept {}", x)), lambda x, ct: (2 * x * shown("ct {}", ct),))
    x = xt.array(3.0, dtype="f4")
    assert lines_of(capsys, lambda: xt.grad(pushed)(x)) == ["primal 3.0"]
    told = lines_of(capsys, lambda: xt.grad(lambda x: xt.debug.backward(pushed(x), "ct {}"))(x))
    assert told == ["primal 3.0", "ct 1.0"]
    assert lines_of(capsys, lambda: xt.jvp(pushed, (x,), (x,))) == ["primal 3.0"]
    assert lines_of(capsys, lambda: xt.grad(pulled)(x)) == ["kept 3.0", "ct 1.0"]
    why = "xt.debug.print and xt.callback take primals in both modes, cotangents in reverse mode only, and no tangents"
    with pytest.raises(xt.GradientError, match=why):
        xt.jvp(pulled, (x,), (x,))
    wrong = xt.custom_derivative(lambda x: x * 1)
    wrong.defpushforward(lambda primals, tangents: (wrong(*primals), shown("{}", tangents[0])))
    for g in (xt.grad(wrong), lambda x: xt.jvp(wrong, (x,), (x,))):
        with pytest.raises(xt.GradientError, match=why):
            g(x)


@pytest.mark.cpu_only("the bundle is for this processor")
def test_a_bundle_leaves_prints_out_with_a_warning(capsys: Any) -> None:
    inner = xt.jit(lambda x: shown("x {}", x) * 2)
    with pytest.warns(UserWarning, match=r"xt.debug.print is left out of the bundle, which prints .*test_print.py:\d+"):
        found = xt.load(xt.export(lambda x: inner(x) + 1, (X,)))
    assert lines_of(capsys, lambda: np.testing.assert_array_equal(found(X).values, X.values * 2 + 1)) == []
    assert lines_of(capsys, lambda: inner(X)) == ["x [0.5 1.5 2.5] (i: 3)"]


@pytest.mark.cpu_only("the bundle is for this processor")
def test_a_bundle_warns_at_the_line_of_the_user() -> None:
    def f(x: Any) -> Any:
        say("{}", x)
        return xt.sum(xt.debug.backward(x * x))

    first = f.__code__.co_firstlineno
    with pytest.warns(UserWarning, match="left out of the bundle") as told:
        xt.export(xt.grad(f), (X,))
    lines = {(str(w.message).split()[0], w.filename, w.lineno) for w in told}
    assert lines == {("xt.debug.print", __file__, first + 1), ("xt.debug.backward", __file__, first + 2)}
    assert all(str(w.message).endswith(f"(at {w.filename}:{w.lineno})") for w in told)


def test_a_program_without_prints_has_none(capsys: Any) -> None:
    def text(debug: bool) -> str:
        def f(x: Any) -> Any:
            if debug:
                say("{}", x)
            return x + 1

        return str(xt.jit(f).lower(X).as_text("llvm"))

    assert "xt_callback" in text(True)
    assert "xt_callback" not in text(False)


FORMATS: dict[str, tuple[str, Any, str]] = {
    "number": ("{:q}", xt.array(2.0), "Unknown format code 'q' for object of type 'float'"),
    "integer": ("{:.2d}", xt.array(2), "Precision not allowed in integer format specifier"),
    "elements": ("{:q}", X, "[fF]ormat"),
    "complex": ("{:d}", xt.array(2.0 + 1j), "Unknown format code 'd' for object of type 'complex'"),
    "conversion": ("{!r:.2f}", X, "Unknown format code 'f' for object of type 'str'"),
    "attribute": ("{0.colour}", X, "an array has no attribute 'colour'"),
    "attribute of the next": ("{.colour}", X, "an array has no attribute 'colour'"),
    "key": ("{0[b]}", {"a": X}, "'b'"),
    "key of the next": ("{[b]}", {"a": X}, "'b'"),
    "tree": ("{:.2f}", {"a": X}, "unsupported format string passed to dict.__format__"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_that_does_not_fit_is_an_error_of_tracing(name: str) -> None:
    text, x, message = FORMATS[name]
    line = sys._getframe().f_lineno + 3

    def f(x: Any) -> Any:
        say(text, x)
        return x

    for call in (lambda: xt.jit(f).trace(x), lambda: f(x)):
        with pytest.raises(xt.ArgumentError, match=message) as told:
            call()
        assert re.search(rf"xt.debug.print: .* cannot be filled in: .*test_print.py:{line}", str(told.value), re.S)


def test_a_position_that_is_not_there_is_an_error_of_the_line_that_prints() -> None:
    """Eager it is met by a formatter, and in compiled code while the function runs: neither is the user's line."""
    line = sys._getframe().f_lineno + 3

    def f(x: Any) -> Any:
        say("{0[5]}", x)
        return x

    for call in (lambda: f(X), lambda: xt.jit(f)(X)):
        with pytest.raises(xt.ArgumentError, match=r"cannot be filled in: xt\.isel: index 5") as told:
            call()
        assert re.findall(r"\n  at (.*)", str(told.value)) == [f"{__file__}:{line}"]


def test_formats_of_parts_and_of_values(capsys: Any) -> None:
    """What depends on the elements is formatted when they are there."""

    def f(x: Any, n: Any) -> Any:
        say("{0.dims} {0.sizes[i]} {1:{width}} {0[2]} {2:.{n}f}|", x, 2.5, n, width=5, n=2)
        return x

    assert lines_of(capsys, lambda: xt.jit(f)(X, 1.25)) == ["('i',) 3   2.5 2.5 1.25|"]
    g = xt.jit(lambda x, n: shown("{:.{}f}", x, n))
    with pytest.raises(xt.ArgumentError, match=re.escape("'{:.{}f}' cannot be filled in: ")):
        g(xt.array(1.0), xt.array(-3))
    assert g(xt.array(1.5), xt.array(3)).item() == 1.5
    for x in (xt.array(-1), xt.array([65, -1], "i")):
        for h in (lambda x: shown("{:c}", x), xt.jit(lambda x: shown("{:c}", x))):
            with pytest.raises(xt.ArgumentError, match=r"'{:c}' cannot be filled in: %c arg not in range"):
                h(x)


def test_parts_of_the_next_argument(capsys: Any) -> None:
    """As str.format numbers them, with fields in formats among them."""
    text = "{} {.dims} {[k]:{}.{}f} {.shape[0]}"
    args = 1, X, {"k": 0.5}, 6, 2, X
    for f in (
        lambda x: shown(text, 1, x, {"k": 0.5}, 6, 2, x),
        xt.jit(lambda x: shown(text, 1, x, {"k": 0.5}, 6, 2, x)),
    ):
        assert lines_of(capsys, lambda f=f: f(X)) == [text.format(*args)]


def test_threads_print_their_own(capsys: Any) -> None:
    f = xt.jit(lambda x: shown("{}", xt.sum(x)))
    capsys.readouterr()
    threads = [threading.Thread(target=lambda k=k: f(X * 0 + k)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(capsys.readouterr().out.splitlines()) == ["0.0", "3.0", "6.0", "9.0"]


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "missing": (lambda: say("{} {}", X), xt.ArgumentError, r"'{} {}' has a field for argument 1, which is not given"),
    "name": (lambda: say("{x}", y=X), xt.ArgumentError, r"has a field for argument 'x', which is not given"),
    "left over": (lambda: say("loss", X), xt.ArgumentError, r"'loss' has no field for argument 0. Write {} where"),
    "mixed": (lambda: say("{0} {}", X), xt.ArgumentError, r"has fields with and without numbers"),
    "brace": (lambda: say("{", X), xt.ArgumentError, r"Write {{ for a brace"),
    "no text": (lambda: say(X), xt.ArgumentTypeError, r"the text is a string, not Array. Write xt.debug.print"),  # type: ignore[arg-type]
    "backward": (
        lambda: xt.grad(lambda x: xt.debug.backward(x, "{} {}"))(1.0),
        xt.ArgumentError,
        r"xt.debug.backward: '{} {}' has a field for argument 1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_texts_are_errors(name: str) -> None:
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()
