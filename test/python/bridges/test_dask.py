"""DataArrays in chunks: xt.blocks, map_blocks, apply_ufunc, other processes, and what would be computed silently."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xtensor as xt

dask = pytest.importorskip("dask", reason="Dask is not installed")
xr = pytest.importorskip("xarray", reason="xarray is not installed")
pytestmark = pytest.mark.cpu_only("workers of Dask run on the CPU")

RNG = np.random.default_rng(0)
X = xr.DataArray(RNG.normal(size=(10, 4)), dims=("t", "i"), coords={"t": np.arange(10) * 2}, name="x")
Y = xr.DataArray(RNG.normal(size=10), dims="t")
W = xt.array(RNG.normal(size=4), "i")


def loss(w: Any, x: Any, y: Any) -> Any:
    return xt.sum(xt.square(xt.dot(x, w, dim="i") - y))


def numbers(tree: Any) -> list[Any]:
    return [np.asarray(x.values) for x in xt.tree.leaves(tree)]


def same(got: Any, want: Any) -> None:
    for a, b in zip(numbers(got), numbers(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_errors_reach_the_client() -> None:
    """Dask's processes teach pickle about exceptions (tblib)."""
    pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    for error in (xt.MemoryError("none left"), xt.IndexError("outside")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.args == error.args


@pytest.mark.parametrize("chunks", [{"t": 3}, {"t": 5}, {"t": 10}, {"t": 1}, {"t": 3, "i": 3}, {"i": 2}])
def test_a_loss_and_its_gradient_are_those_of_the_whole(chunks: dict[str, int]) -> None:
    def f(w: Any, x: Any, y: Any) -> Any:  # a sum over i, too
        return xt.sum(xt.square(x * w - y))

    lazy = xt.blocks(xt.value_and_grad(f, wrt="x"))
    if chunks == {"t": 10}:  # one chunk, the whole
        same(lazy(W, X.chunk(chunks), Y).compute(), xt.value_and_grad(f, wrt="x")(W, X, Y))
    else:
        with pytest.raises(xt.DimensionError, match=r"the result \(.*has dim '[ti]', along which .* Reduce it in"):
            lazy(W, X.chunk(chunks), Y)
    if "i" not in chunks:
        same(xt.blocks(xt.value_and_grad(f))(W, X.chunk(chunks), Y).compute(), xt.value_and_grad(f)(W, X, Y))
    same(xt.blocks(f)(W, X.chunk(chunks), Y).compute(), f(W, X, Y))


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min"])
def test_reductions(reduce: str) -> None:
    def f(x: Any) -> Any:
        return {"i": getattr(xt, reduce)(x, "t"), "count": getattr(xt, reduce)(x > 0, "t")}

    got = xt.blocks(f, reduce)(X.chunk(t=4)).compute()
    np.testing.assert_allclose(got["i"].values, getattr(X, reduce)("t").values, rtol=1e-12)
    np.testing.assert_allclose(got["count"].values, getattr(X > 0, reduce)("t").values)


def test_an_array_in_one_chunk_is_whole_and_lazy() -> None:
    w = xr.DataArray(W.values, dims="i").chunk()
    step = xt.value_and_grad(loss)
    for x in (X.chunk(t=3), X.chunk()):
        same(xt.blocks(step)(w, x, Y).compute(), step(W, X, Y))
    same(xt.blocks(lambda w, x: xt.sum(w * x))(w, X.chunk(i=3)).compute(), (W * xt.as_array(X)).sum())
    met: list[int] = []
    late = w.copy(data=w.data.map_blocks(lambda v: (met.append(1), v)[1], dtype="f8", meta=np.zeros(0)))
    lazy = xt.blocks(loss)(late, X.chunk(t=3), Y)
    assert met == []
    same(lazy.compute(), loss(W, X, Y))


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min"])
def test_chunks_without_elements_are_left_out(reduce: str) -> None:
    f = getattr(xt, reduce)
    same(xt.blocks(f, reduce)(X.chunk(t=(4, 0, 6))).compute(), f(X))
    if reduce in ("sum", "mean"):
        same(xt.blocks(f, reduce)(X[:0].chunk(t=3)).compute(), f(X[:0]))


def test_a_sum_of_small_integers_has_the_dtype_of_a_sum() -> None:
    for kind, dtype in (("bool", "int64"), ("int8", "int64"), ("uint8", "uint64")):
        found = xt.blocks(lambda x, kind=kind: xt.max(x > -9.0).astype(kind))(X.chunk(t=4)).compute()
        assert (found.dtype, found.item()) == (dtype, 3)


def test_many_chunks_are_combined_by_a_tree() -> None:
    x = X.chunk(t=1)
    lazy = xt.blocks(lambda x: xt.sum(x))(x)
    levels = {str(k[0]).rsplit("-", 1)[1] for k in dict(lazy.dask) if isinstance(k, tuple) and "sum-" in str(k[0])}
    assert levels == {"0", "1"}
    same(lazy.compute(), X.sum())


def test_datasets_numbers_choices_and_jitted_functions() -> None:
    @xt.jit(static="kind")
    def f(scale: Any, data: Any, kind: str) -> Any:
        assert kind == "square"
        return {"loss": scale * xt.sum(data["x"] ** 2) + xt.sum(data["y"])}

    got = xt.blocks(f)(2.0, xr.Dataset({"x": X, "y": Y}).chunk(t=4), "square").compute()
    same(got["loss"], 2 * (X**2).sum() + Y.sum())


def test_chunks_of_several_sizes_make_one_program() -> None:
    met: list[Any] = []

    def f(x: Any) -> Any:
        met.append(x.shape)
        return xt.sum(x)

    g = xt.blocks(f)
    same(g(X.chunk(t=4)).compute(), X.sum())
    same(g(2 * X.chunk(t=4)).compute(), 2 * X.sum())
    assert len(met) == 1
    met.clear()

    def by_size(x: Any) -> Any:
        met.append(x.shape[0])
        return xt.sum(x) * float(x.shape[0])

    want = sum(float(X[a : a + 4].sum()) * len(X[a : a + 4]) for a in (0, 4, 8))
    same(xt.blocks(by_size)(X.chunk(t=4)).compute(), xr.DataArray(want))


def test_map_blocks_and_apply_ufunc_are_lazy() -> None:
    f = xt.jit(lambda x: xt.tanh(x).sum("i"), dynamic_dims="t")
    mapped = xr.map_blocks(f, X.chunk(t=4))
    assert mapped.chunks == ((4, 4, 2),)
    xr.testing.assert_allclose(mapped.compute(), np.tanh(X).sum("i"))
    named = xt.named(f, [("t", "i")])
    applied = xr.apply_ufunc(
        named, X.chunk(t=4), input_core_dims=[["i"]], dask="parallelized", output_dtypes=[np.float64]
    )
    assert applied.chunks == ((4, 4, 2),)
    xr.testing.assert_allclose(applied.compute(), np.tanh(X).sum("i"))


def test_a_task_that_gets_chunks_without_names_says_what_to_write() -> None:
    for f in (xt.exp, xt.jit(lambda x: xt.exp(x))):
        lazy = xr.apply_ufunc(f, X.chunk(t=4), dask="parallelized", output_dtypes=[np.float64])
        with pytest.raises(xt.DimensionError, match=r"Dask passes arrays without names, so pass it xt.named\(f, dims="):
            lazy.compute(scheduler="threads")
    mine = dask.delayed(lambda: xt.exp(X.values))()
    with pytest.raises(xt.DimensionError, match=r"Name its axes: xt.array\(x"):
        mine.compute(scheduler="threads")


def test_an_array_in_chunks_that_is_computed_says_so() -> None:
    for f in (xt.exp, xt.jit(lambda x: x + 1), xt.as_array):
        with pytest.warns(UserWarning, match=r"in chunks, float64 \(t: 10, i: 4\), is computed here") as found:
            f(X.chunk(t=4))
        assert found[0].filename == __file__


def test_arguments_by_keyword() -> None:
    same(xt.blocks(loss)(W, y=Y.chunk(t=4), x=X).compute(), loss(W, X, Y))
    with pytest.raises(xt.ArgumentTypeError, match="v"):
        xt.blocks(loss)(W, X.chunk(t=4), v=Y)


def test_what_dask_has_not_computed_yet_is_no_array() -> None:
    later = dask.delayed(lambda: 1.0)()
    for f in (xt.exp, xt.array, lambda x: xt.ones(a=2) + x, xt.jit(lambda x: x)):
        with pytest.raises(xt.ArgumentTypeError, match=r"a dask.delayed has no values yet. Write x.compute\(\)"):
            f(later)
    for f in (xt.exp, lambda x: xt.array(x, ("t", "i"))):
        with pytest.raises(xt.ArgumentTypeError, match=r"a dask.array has no values yet.*xr.DataArray\(x, dims=..\)"):
            f(X.chunk(t=4).data)


def test_errors() -> None:
    f = xt.blocks(loss)
    with pytest.raises(xt.ArgumentTypeError, match=r"blocks\(loss\): no argument is in chunks. .*x.chunk\(time=1000\)"):
        f(W, X, Y)
    with pytest.raises(xt.SizeError, match=r"argument \[2\] has chunks of other sizes along 't'.*x.chunk\(t=3\)"):
        f(W, X.chunk(t=3), Y.chunk(t=4))
    with pytest.raises(xt.SizeError, match=r"Write x, y = xr.unify_chunks\(x, y\)"):
        f(W, X.chunk(t=(1, 4, 5)), Y.chunk(t=4))
    for other, kind in (
        (np.array(list("abcdefghij")), "<U1"),
        (np.arange("2020-01", 10, dtype="M8[ns]"), "datetime64"),
    ):
        labels = xr.DataArray(other, dims="t")
        for given in (labels, labels.chunk(t=3)):
            with pytest.raises(xt.DTypeError, match=rf"argument \['y'\] is {kind}.*leave it out, or convert it"):
                f(W, X.chunk(t=3), y=given)
    with pytest.raises(xt.SizeError, match=r"argument \[2\] has size 9 along 't', and the arrays in chunks have 10"):
        f(W, X.chunk(t=3), Y[1:])
    with pytest.raises(xt.ArgumentTypeError, match=r"argument \[1\] is a dask.array.*Write xr.DataArray\(x, dims=..\)"):
        f(W, X.chunk(t=3).data, Y)
    with pytest.raises(xt.ArgumentTypeError, match=r"argument \[2\] is an ndarray.*Write xt.array\(x, dims=..\)"):
        f(W, X.chunk(t=3), Y.values)
    for chunks in (3, 4):
        with pytest.raises(
            xt.SizeError, match=r"\[2\] has size 9 along 't', .* before has 10. Slice .*\(t=slice\(9\)\)"
        ):
            f(W, X.chunk(t=3), Y[1:].chunk(t=chunks))
    for transformed in (xt.grad(f), xt.jit(f), xt.vectorize(f, "i")):
        with (
            pytest.warns(UserWarning, match="is computed here"),
            pytest.raises(
                xt.ArgumentTypeError, match=r"\[0\] is traced.*Write .*xt.blocks\(xt.value_and_grad\(loss\)\)"
            ),
        ):
            transformed(W, X.chunk(t=3), Y.chunk(t=3))
    with pytest.raises(xt.ArgumentError, match=r"reduce='prod'\): write one of 'sum', 'mean', 'max', 'min'"):
        xt.blocks(loss, "prod")


def test_workers_compile_nothing_that_the_client_compiled(tmp_path: Path) -> None:
    """Also with chunks of other sizes at the edges, no cache on disk, and a worker that is killed and started again.
    Each process traces the function once."""
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    f = xt.jit(lambda x: xt.sum(xt.tanh(x) * W, "i"), dynamic_dims="t")
    f(X[:3])
    compiled = xt.jit(lambda x: xt.exp(x), dynamic_dims="t")
    compiled.lower(xt.spec(t=None, i=4)).compile()
    log, marker = tmp_path / "log", tmp_path / "killed"

    class Log(distributed.WorkerPlugin):  # type: ignore[name-defined,misc]  # each new worker gets it, too
        def setup(self, worker: Any) -> None:
            from xtensor.call.compilations import listeners

            os.environ["XTENSOR_CACHE_DIR"] = ""

            def tell(made: Any) -> None:
                with open(log, "a") as file:
                    file.write(f"{os.getpid()} {made.function} {made.source}\n")

            listeners.append(tell)

    def deadly(x: Any) -> Any:
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return f(x)

    x = X.chunk(t=2).isel(t=slice(0, 9))
    core = {"input_core_dims": [["i"]], "dask": "parallelized", "output_dtypes": ["f8"]}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.register_plugin(Log())
        want = (np.tanh(X[:9]) * W.to_xarray()).sum("i")
        like = x.isel(i=0, drop=True)  # else xarray calls f with sizes of 0
        xr.testing.assert_allclose(xr.map_blocks(f, x, template=like).compute(), want)
        xr.testing.assert_allclose(xr.apply_ufunc(xt.named(f, [("t", "i")]), x, **core).compute(), want)
        xr.testing.assert_allclose(xr.map_blocks(compiled, x).compute(), np.exp(X[:9]))
        lines = [line.split() for line in log.read_text().splitlines()]
        assert {source for _, _, source in lines} == {"carried", "memory"}, lines
        for pid in {pid for pid, _, _ in lines}:  # with labels, and without: two traces of `f`
            assert len([line for line in lines if line[0] == pid]) <= 3, lines
        mapped = xr.map_blocks(deadly, x, template=like)
        xr.testing.assert_allclose(mapped.compute(), want)
        assert marker.exists()
        assert not [line for line in log.read_text().splitlines() if line.endswith("compiled")]


def test_a_token_does_not_depend_on_what_was_compiled() -> None:
    from dask.base import tokenize

    f = xt.jit(lambda x: xt.sum(x * W, "i"))
    before = tokenize(f)
    f(X)
    assert tokenize(f) == before != tokenize(xt.jit(lambda x: xt.sum(x + W, "i")))


def test_workers_compile_nothing_and_a_killed_one_loses_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    marker = tmp_path / "killed"

    def forbid() -> None:
        from xtensor.ir.context import compiler

        def refuse(*args: Any) -> None:
            raise AssertionError("a worker compiled a program")

        compiler().compile = refuse

    def deadly(values: Any) -> Any:
        if values[0, 0] == X.values[4, 0] and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return values

    chunked = X.chunk(t=4)
    data = chunked.data.map_blocks(deadly, dtype=X.dtype, meta=np.empty((0, 0)))
    step = xt.blocks(xt.value_and_grad(loss))
    want = xt.value_and_grad(loss)(W, X, Y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(forbid)
        same(step(W, chunked, Y).compute(), want)
        assert not marker.exists()
        same(step(W, chunked.copy(data=data), Y).compute(), want)
        assert marker.exists()
