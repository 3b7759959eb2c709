"""What xt.load would refuse is refused at the export, in words about what the user wrote; and of several functions the
error says which."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

X, ONE = xt.spec(i=3), xt.ones(i=3)
HALF = "a\ud800b"


def exported(f: Callable[..., Any], *args: Any, **options: Any) -> xt.Bundle:
    return xt.export(f, args=args or (X,), c=False, **options)


def described(doc: str) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        return x + 1.0

    f.__doc__ = doc
    return f


def called(name: str) -> Callable[[Any], Any]:
    f = described("")
    f.__name__ = name
    return f


Renamed = collections.namedtuple("Renamed", ["a", "def"], rename=True)  # type: ignore[misc]
Private = dataclasses.make_dataclass("Private", ["__a"])
Keyword = dataclasses.make_dataclass("Keyword", ["a"])
Keyword.__name__ = "class"


def nested(x: Any) -> Any:
    for _ in range(70):
        x = [x]
    return x


@pytest.mark.parametrize(
    ("f", "args", "kind", "message"),
    [
        (lambda x: {HALF: x}, (X,), xt.UnsupportedError, r"results of .* hold a dict with the key 'a\\ud800b'"),
        (lambda p: p[HALF], ({HALF: X},), xt.UnsupportedError, r"arguments of .* hold a dict with the key"),
        (lambda x: {"a\0b": x}, (X,), xt.UnsupportedError, r"hold a dict with the key 'a\\x00b'; .* Use another key"),
        (lambda x: {2**70: x}, (X,), xt.UnsupportedError, r"the key 1180591620717411303424; a bundle needs a text of"),
        (lambda x: {10**5000: x}, (X,), xt.UnsupportedError, "the key of 16610 bits"),
        (lambda x: {"k" * 1025: x}, (X,), xt.UnsupportedError, "a text of 1024 characters in UTF-8"),
        (lambda x: Renamed(x, x), (X,), xt.UnsupportedError, "namedtuple 'Renamed', and its name or .* is '_1'"),
        (lambda x: Private(x), (X,), xt.UnsupportedError, "dataclass 'Private', and its name or .* is '__a'"),
        (lambda x: Keyword(x), (X,), xt.UnsupportedError, "dataclass 'class', and its name .* Use another name"),
        (nested, (X,), xt.UnsupportedError, "results of nested are nested deeper than 64"),
        (lambda x, s: x, (X, HALF), xt.UnsupportedError, r"hold a str that is not an array; .* short texts in UTF-8"),
        (lambda x, s: x, (X, 10**5000), xt.ArgumentError, "the int of 16610 bits does not fit into 64 bits"),
        (described("a" * (2**20 + 1)), (X,), xt.ArgumentError, "the docstring of f has 1048577 characters"),
        (called(HALF), (X,), xt.ArgumentError, r"a function must be valid UTF-8, not 'a\\ud800b'"),
        (called(""), (X,), xt.ArgumentError, "a function with such a name: it is empty, has more than 1024 char"),
        (called("x" * 1025), (X,), xt.ArgumentError, "a function with such a name: it is empty, has more than 1024"),
        (lambda a: a, (xt.spec({"d" * 1025: 3}),), xt.ArgumentError, "1024 characters.*: rename the dims of 'a'"),
    ],
    ids=range(17),
)
def test_what_no_bundle_holds(f: Any, args: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^xt.export: .*{message}"):
        exported(f, *args)


def test_what_the_reader_alone_finds_is_told_of_the_function() -> None:
    module: dict[str, Any] = {"__name__": "program"}
    exec(compile("def f(x, at):\n    return x.isel(i=at)\n", "a" * 9000, "exec"), module)
    with pytest.raises(xt.ArgumentError, match=r"cannot be read: 'f': in its manifest sites\[0\]\.location is 'aaa"):
        exported(module["f"], X, xt.spec(k=2, dtype="i8"))


def test_more_than_a_bundle_has() -> None:
    f = (lambda x: x, (X,))
    with pytest.raises(xt.ArgumentError, match="no bundle can be made of 1025 functions: 1024 at most"):
        xt.export({f"f{i}": f for i in range(1025)}, c=False)
    with pytest.raises(ValueError, match="no bundle can be made of 4097 members: 4096 at most"):
        xt._native.write_zip([(str(i), b"") for i in range(4097)])


@pytest.mark.parametrize("name", ["x" * 300, "ö" * 300, "x" * 1024])
def test_long_names_of_functions_are_no_names_of_bundles(name: str) -> None:
    bundle = xt.export(called(name), args=(X,), blas=None)
    assert len(bundle.manifest.name) == 120
    assert xt.load(bundle.data).__name__ == name
    with pytest.raises(xt.ArgumentError, match="a name of 300 characters: 128 at most"):
        exported(called("f"), name="x" * 300)


def test_dims_with_long_names_may_have_to_be_square() -> None:
    d, e = "a" * 1000, "b" * 1000
    g = xt.load(exported(lambda a: xt.linalg.cholesky(a, dims=(d, e)), xt.spec({d: None, e: None})).data)
    np.testing.assert_allclose(g(xt.array(np.eye(3), (d, e))).values, np.eye(3))
    with pytest.raises(xt.SizeError, match="the matrix must be square"):
        g(xt.ones({d: 2, e: 3}))


@pytest.mark.parametrize(
    "default", [10**5000, -(10**5000), HALF, float("nan"), (10**5000,)], ids=["large", "small", "half", "nan", "inside"]
)
def test_defaults_that_no_file_holds_are_shown(default: Any) -> None:
    def f(x: Any, s: Any = default) -> Any:
        return x + 1.0

    g = xt.load(exported(f).data)
    assert g(ONE).values.tolist() == [2.0] * 3
    assert str(g.__signature__).startswith("(x, s=")
    assert json.loads(exported(f).manifest_text)["functions"][0]["python"]["parameters"][1]["default"]


def test_files_whose_names_are_no_text() -> None:
    """Names of files are any bytes, which Python tells by half characters."""
    module: dict[str, Any] = {"__name__": "program"}
    exec(compile("def f(x, at):\n    return x.isel(i=at)\n", "a\udcffb.py", "exec"), module)
    at = xt.array([0, 9], "k")
    for f in (xt.jit(module["f"]), xt.load(exported(module["f"], X, xt.spec(k=2, dtype="i8")).data)):
        with pytest.raises(IndexError, match=r"at a\?b\.py:2$"):
            f(ONE, at)


def test_results_that_no_memory_can_hold() -> None:
    """Of arguments that are small; the loaded function says it as the jitted one does."""

    def f(x: Any, y: Any, z: Any) -> Any:
        return x * y * z

    n = 2**21
    args = xt.ones(i=n), xt.ones(j=n), xt.ones(k=n)
    g = xt.load(exported(f, *(xt.spec({d: None}) for d in "ijk")))
    for call in (g, xt.jit(f, dynamic_dims=("i", "j", "k"))):
        with pytest.raises(xt.SizeError, match=r"result 0, float64 \(i: 2097152, j: 2097152, k: 2097152\), is larger"):
            call(*args)


# -- one of several ---------------------------------------------------------------------------------------------------


def test_which_of_several_functions() -> None:
    good = (lambda x: x + 1.0, (X,))

    def wrong(x: Any) -> Any:
        return x.foo

    with pytest.raises(xt.Error, match=r"^xt\.export: 'bad': <traced .*> has no attribute 'foo'"):
        xt.export({"good": good, "bad": (wrong, (X,))}, c=False)
    matrix = (lambda a: xt.linalg.cholesky(a, dims=("r", "k")), (xt.spec(r=3, k=3),))
    with pytest.raises(xt.UnsupportedError, match=r"calls 'cholesky'.*\(in function 'factor'\)"):
        xt.export({"good": good, "factor": matrix}, blas=None)
    with pytest.raises(xt.ArgumentError, match=r"such a name.*\(in function '\.\.'\)"):
        xt.export({"good": good, "a\nb": good}, c=False)
    with pytest.raises(xt.UnsupportedError, match=r"calls 'cholesky'") as caught:
        xt.export(matrix[0], args=matrix[1], blas=None)
    assert "in function" not in str(caught.value)


@pytest.mark.parametrize("name", ["get", "items", "keys", "values", "__len__", "_functions"])
def test_names_that_a_mapping_has_itself(name: str) -> None:
    f = (lambda x: x + 1.0, (X,))
    with pytest.raises(xt.ArgumentError, match=f"a function cannot be called '{name}': .* Use another name"):
        xt.export({name: f, "f": f}, c=False)
    assert xt.load(xt.export({name: f}, c=False))(ONE).values.tolist() == [2.0] * 3
