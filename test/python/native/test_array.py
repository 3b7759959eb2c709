"""Arrays: made from what people have, read by what people use, scalars where that is unambiguous."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
import xtensor as xt

ALL_DTYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@pytest.mark.cpu_only("memory is shared with NumPy")
@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_array_shares_memory_with_numpy_both_ways(dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    x = xt.array(values, dims=("a", "b"))
    assert x.dtype == values.dtype
    assert np.shares_memory(x.values, values)
    assert np.shares_memory(np.asarray(x), values)
    np.testing.assert_array_equal(x.values, values)
    assert not x.values.flags.writeable


def test_bfloat16_goes_in_and_out():
    values = np.array([1.0, 2.5, -3.0], ml_dtypes.bfloat16)
    x = xt.array(values, dims="a")
    assert x.dtype == xt.bfloat16
    np.testing.assert_array_equal(x.values, values)
    assert "2.5" in repr(x)


@pytest.mark.cpu_only("it says that it is on the CPU")
def test_the_properties_of_an_array():
    x = xt.array(np.zeros((2, 3), "f4"), dims=("a", "b"))
    assert x.dims == ("a", "b")
    assert x.sizes == {"a": 2, "b": 3}
    assert x.shape == (2, 3)
    assert (x.ndim, x.size, x.nbytes, x.device) == (2, 6, 24, "cpu")
    assert x.dtype == np.dtype("f4")
    assert len(x) == 2


@pytest.mark.parametrize("data", [[[1, 2], [3, 4]], ((1, 2), (3, 4)), np.array([[1, 2], [3, 4]]).T.copy().T])
def test_lists_tuples_and_any_strides(data):
    x = xt.array(data, dims=("a", "b"))
    np.testing.assert_array_equal(x.values, np.asarray(data))


def test_strided_reversed_broadcast_and_read_only_views_come_in():
    base = np.arange(12.0).reshape(3, 4)
    for view in (base[::2], base[:, ::-1], base.T, np.broadcast_to(base[0], (5, 4))):
        np.testing.assert_array_equal(xt.array(view, dims=("a", "b")).values, view)
    base.setflags(write=False)
    np.testing.assert_array_equal(xt.array(base, dims=("a", "b")).values, base)


def test_scalars_have_no_dims():
    assert xt.array(2.5).dims == ()
    assert xt.array(2.5).dtype == np.float64
    assert xt.array(2).dtype == np.int64
    assert xt.array(True).dtype == np.bool_
    assert xt.array(np.float32(1)).dtype == np.float32
    assert xt.array(7, dims=()).item() == 7


def test_dtype_converts_and_copy_copies():
    values = np.arange(3)
    assert xt.array(values, "a", dtype="f4").dtype == np.float32
    assert xt.array(values, "a", dtype="bfloat16").dtype == xt.bfloat16
    assert not np.shares_memory(xt.array(values, "a", copy=True).values, values)


def test_numbers_that_an_integer_dtype_does_not_hold_are_refused():
    for data in (300, [300], [[1, -1]], [float("nan")]):
        dims = ("a", "b")[: np.ndim(data)]
        with pytest.raises(xt.ArgumentError, match="does not fit uint8"):
            xt.array(data, dims=dims, dtype="u1")
    # An array of another dtype is cast, as by NumPy.
    assert xt.array(np.array([300]), dims="a", dtype="u1").values.tolist() == [44]


def test_an_array_with_names_is_transposed_by_name():
    x = xt.array([[1, 2, 3], [4, 5, 6]], dims=("a", "b"))
    for data in (x, x.to_xarray()):
        y = xt.array(data, dims=("b", "a"), dtype="f4")
        assert y.dims == ("b", "a")
        assert y.dtype == np.float32
        assert y.values.tolist() == [[1, 4], [2, 5], [3, 6]]
        with pytest.raises(xt.DimensionError, match="as_dims"):
            xt.array(data, dims=("a", "c"))


def test_masks_are_not_dropped():
    with pytest.raises(xt.ArgumentTypeError, match="filled"):
        xt.array(np.ma.masked_array([1.0, 2.0], [False, True]), dims="a")
    assert xt.array(np.ma.masked_array([1.0, 2.0]), dims="a").values.tolist() == [1.0, 2.0]


def test_big_endian_data_is_converted():
    values = np.array([1, 2, 3], ">i4")
    assert xt.array(values, "a").values.tolist() == [1, 2, 3]


def test_python_scalars_only_where_they_are_unambiguous():
    assert float(xt.array(2.5)) == 2.5
    assert int(xt.array(2)) == 2
    assert bool(xt.array(True))
    assert [10, 20, 30][xt.array(1)] == 20
    assert xt.array([5], "a").item() == 5
    assert f"{xt.array(2.5):.2f}" == "2.50"
    for convert in (bool, float, int):
        with pytest.raises(xt.DimensionError):
            convert(xt.array([1, 2], "a"))
    with pytest.raises(xt.ArgumentError):
        xt.array([1, 2], "a").item()
    with pytest.raises(TypeError):
        [1, 2][xt.array(1.0)]
    with pytest.raises(TypeError):
        len(xt.array(1.0))


def test_iteration_is_along_the_first_dim():
    rows = list(xt.array([[1, 2], [3, 4]], ("a", "b")))
    assert [r.dims for r in rows] == [("b",), ("b",)]
    assert [r.values.tolist() for r in rows] == [[1, 2], [3, 4]]


def test_arrays_without_elements_are_printed_whatever_their_sizes():
    for sizes, dtype in (({"a": 0, "b": 2**59}, "f4"), ({"a": 2**61, "b": 0}, "bool")):
        text = repr(xt.zeros(sizes, dtype=dtype))
        assert f"b: {sizes['b']})" in text
        assert text.endswith("\n[]")
    assert repr(xt.ones({f"d{i}": 1 for i in range(64)}, dtype="f4")).endswith("1." + "]" * 64)


@pytest.mark.cpu_only("it says where arrays of devices are")
def test_the_repr_shows_dims_sizes_dtype_and_values():
    x = xt.array(np.arange(3, dtype="f4"), dims="time")
    assert repr(x) == "<xtensor.Array (time: 3) float32>\n[0. 1. 2.]"
    assert "(time: 3) float32" in x._repr_html_()
    assert "&lt;" in xt.array([1.0], dims="a<b")._repr_html_()


def test_pickle_and_copy():
    x = xt.array(np.arange(3), dims="a")
    y = pickle.loads(pickle.dumps(x))
    assert (y.dims, y.dtype, y.values.tolist()) == (x.dims, x.dtype, x.values.tolist())
    assert copy.copy(x) is x
    assert copy.deepcopy({"x": x})["x"] is x


def test_arrays_are_hashable_by_identity():
    x, y = xt.array(1.0), xt.array(1.0)
    assert len({x, y, x}) == 2


def test_arrays_cannot_be_assigned_to():
    x = xt.array([1, 2], "a")
    with pytest.raises(TypeError, match=r"x\.at\(a=0\)\.set"):
        x[0] = 3


@pytest.mark.parametrize("shape", [(0,), (2, 0), (1,), (1, 1), ()])
def test_empty_and_size_one_arrays(shape):
    values = np.ones(shape, "f4")
    x = xt.array(values, dims=tuple("abc"[: len(shape)]))
    assert x.shape == shape
    np.testing.assert_array_equal(x.values, values)


def test_another_device_says_what_there_is():
    x = xt.array(1.0)
    assert x.to(x.device) is x
    with pytest.raises(xt.DeviceError, match=r"there is no device 'abacus'.*'cpu'"):
        x.to("abacus")


def test_equal_names_intern_equal_types():
    x, y = xt.array([1.0], "a"), xt.array([2.0], "a")
    assert x.type is y.type
    assert x.type is not xt.array([1.0], "b").type


def test_only_what_is_public_is_listed():
    assert {"softmax", "attention"} <= set(dir(xt.nn))
    assert {"np", "math", "build", "Tracer"}.isdisjoint(dir(xt.nn))
    assert {"array", "nn", "jit"} <= set(dir(xt))
    assert {"trace", "core", "interop"}.isdisjoint(dir(xt))
    assert {"view", "with_meta"}.isdisjoint(dir(xt.Array))


def test_round_of_an_array():
    x = xt.array([1.26, 2.5], dims="a")
    assert round(x).values.tolist() == [1.0, 2.0]
    assert round(x, 1).values.tolist() == [1.3, 2.5]
