"""What exported and loaded functions say of themselves, and of what is wrong."""

import platform
from pathlib import Path

import numpy as np
import pytest
import xtensor as xt

pytestmark = pytest.mark.cpu_only("bundles hold code for CPUs")

W = xt.array(np.ones((3, 2), "f4"), ("j", "k"))
X = xt.spec(i=None, j=3, dtype="f4")


def dense(x, scale=2.0, how=xt.mean):
    return xt.dot(x, W, dim="j") * scale


def pick(x, at):
    return xt.take(x, at, dim="j")


@pytest.fixture(scope="module")
def bundle():
    return xt.export(dense, args=(X,), targets="cpu:x86-64", name="shop")


def test_weights_are_no_arguments(bundle, tmp_path):
    g = xt.load(bundle)
    shown = "dense(x: float32 (i: ?, j: 3)) -> float32 (i: ?, k: 2) with a weight inside"
    assert repr(g) == f"<loaded {shown}>"
    assert repr(bundle) == f"<bundle of {shown}, for cpu:x86-64: {len(bundle.data)} bytes>"
    assert str(g.__signature__) == "(x, scale=2.0, how=xt.mean)"
    header = (bundle.extract(tmp_path) / "shop.h").read_text()
    assert header.startswith(
        "/* shop_dense(x: float32 (i: any, j: 3)) -> (result: float32 (i: i, k: 2)), with a weight inside\n"
    )
    assert "weight0" not in header


@pytest.mark.parametrize(
    ("blas", "flags"),
    [(None, ""), ("openblas", " -lopenblas"), ("blas", " -lblas"), ("scipy-openblas", " -lscipy_openblas")],
)
def test_headers_say_how_to_link(tmp_path, blas, flags):
    big = xt.spec(i=256, j=256), xt.spec(j=256, k=256)
    for f, args, more in ((lambda x, y: xt.dot(x, y, dim="j"), big, flags), (lambda x: x + 1.0, big[:1], "")):
        header = (xt.export(f, args=args, blas=blas, name="shop").extract(tmp_path) / "shop.h").read_text()
        assert f"Link with libshop.a -lm{more}, or with -lshop alone: libshop.so\n * names the rest itself." in header


def test_another_dim_is_perhaps_the_same_by_another_name(bundle):
    g, x = xt.load(bundle), xt.ones(i=2, q=3, dtype="f4")
    for f in (g, xt.jit(lambda x: g(x))):
        with pytest.raises(xt.DimensionError, match=r"\(i: 2, q: 3\); \(i: \?, j: 3\) is needed.*\{'q': 'j'\}") as e:
            f(x)
        assert "argument x" in str(e.value)
    assert g(x.rename({"q": "j"})).sizes == {"i": 2, "k": 2}
    with pytest.raises(xt.DimensionError, match=r"xt\.vectorize\(f, 'b'\)"):
        g(xt.ones(b=1, i=2, j=3, dtype="f4"))


@pytest.mark.parametrize(
    ("target", "near"),
    [("vulcan", "vulkan"), ("cpu:x86-64-v9", "cpu:x86-64"), ("x86-64", "cpu:x86-64"), ("mettal", "metal")],
)
def test_targets_that_are_none(bundle, target, near):
    with pytest.raises(xt.BundleError, match=rf"has nothing for target '{target}'; it has .*did you mean '{near}"):
        xt.load(bundle, target=target)
    with pytest.raises(xt.ArgumentError, match=rf"for target '{target}': the targets are .*did you mean '{near}"):
        xt.export(dense, args=(X,), targets=target)
    with pytest.raises(
        xt.BundleError, match=r"nothing for target 'vulkan'; it has cpu:x86-64\. Export it for 'vulkan'"
    ):
        xt.load(bundle, target="vulkan")


def test_index_errors_tell_the_op_and_its_operands():
    g = xt.load(xt.export(pick, args=(X, xt.spec(n=None, dtype="i8"))))
    operands = r"\(operands: float32 \(i: \?, j: 3\), int64 \(n: \?\)\)"
    with pytest.raises(IndexError, match=rf"^xt\.take: index 7 is out of range for size 3 of dim 'j' {operands}") as e:
        g(xt.ones(i=2, j=3, dtype="f4"), xt.array([1, 7], "n"))
    assert f"{Path(__file__).name}:" in str(e.value)


def test_damaged_bundles_say_what_to_do(bundle):
    data = bundle.data
    for bad in (b"", b"zip", data[:-1], data[:100] + bytes([data[100] ^ 1]) + data[101:]):
        with pytest.raises(xt.BundleError, match="Export it again, or copy it again"):
            xt.load(bad)


@pytest.mark.parametrize(("dim", "other"), [("batch", "outer"), ("sample", "batch")])
def test_a_batch_that_has_the_name_of_a_dim_is_not_renamed_to_itself(dim, other):
    g = xt.load(xt.export(lambda x: x * 2, args=(xt.spec({dim: None}, feature=8),), name="shop"))
    x = xt.ones({dim: 3, "feature": 8})
    with pytest.raises(xt.DimensionError, match=rf"without xt\.vectorize.*x\.rename\({{'{dim}': '{other}'}}\)"):
        xt.vectorize(g, dim)(x)
    assert g(x).sizes == x.sizes
    both = xt.ones({other: 2, dim: 3, "feature": 8})
    assert xt.vectorize(g, other)(both).sizes == both.sizes


def test_sizes_that_must_agree_are_told_by_the_arguments_that_have_them():
    def f(m, p):
        return xt.dot(m, p.rename(s="o", s2="s"), dim="s")

    g = xt.load(xt.export(f, args=(xt.spec(s=None), xt.spec(s=None, s2=None)), name="shop"))
    with pytest.raises(
        xt.SizeError, match=r"^f: argument p: dim 's2' has size 4; it must be 3, the size of dim 's' of argument m"
    ):
        g(xt.ones(s=3), xt.ones(s=3, s2=4))


def test_what_a_machine_cannot_run_can_be_exported_for_it():
    other = "riscv64" if platform.machine() != "riscv64" else "aarch64"
    bundle = xt.export(dense, args=(X,), targets=f"cpu:{other}")
    with pytest.raises(xt.BundleError, match=rf"Export it for 'cpu:{platform.machine()}', too"):
        xt.load(bundle)
