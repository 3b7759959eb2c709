"""xtensor._native: the types of arrays, and arrays from and to other libraries."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import io
import os
import pickle
import sys
import weakref
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xtensor import _native as native
from xtensor._native import ArrayType

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64",
]  # fmt: skip


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def array(values: object, dims: tuple[str, ...] = ("a",), dtype: str = "float32") -> native.Array:
    return native.from_buffer(np.asarray(values, numpy_dtype(dtype)), dims)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


# AddressSanitizer holds back what is freed (256 MB of it) to find late uses.
HELD_BACK = (512 << 20) if "libclang_rt.asan" in Path("/proc/self/maps").read_text() else 0


class TestType:
    def test_equal_types_are_one_object(self) -> None:
        t = ArrayType("float32", ["b", "t"], [2, 3])
        assert t is ArrayType(np.float32, ("b", "t"), (2, 3))
        assert t is not ArrayType("float32", ("t", "b"), (2, 3))
        assert t is not ArrayType("float32", ("b", "t"), (3, 2))
        assert t is not ArrayType("int32", ("b", "t"), (2, 3))
        assert (t.dtype, t.dims, t.shape, t.ndim, t.size, t.nbytes, t.itemsize) == (
            "float32", ("b", "t"), (2, 3), 2, 6, 24, 4,
        )  # fmt: skip
        assert repr(t) == "ArrayType('float32', ('b', 't'), (2, 3))"
        assert pickle.loads(pickle.dumps(t)) is t
        assert {t: 1}[ArrayType("float32", ("b", "t"), (2, 3))] == 1

    def test_names_built_at_run_time_are_the_same_names(self) -> None:
        assert ArrayType("bool", ("".join(["long", "name"]),), (1,)) is ArrayType("bool", ("longname",), (1,))

    def test_a_type_leaves_the_table_when_nobody_uses_it(self) -> None:
        before = resident_bytes()
        for i in range(200_000):
            ArrayType("float32", ("leak",), (i,))
        assert resident_bytes() - before < (24 << 20) + HELD_BACK

    @pytest.mark.parametrize(
        ("arguments", "error", "text"),
        [
            (("complex256", (), ()), TypeError, "cannot hold complex256"),
            (("nonsense", (), ()), TypeError, "nonsense"),
            ((None, (), ()), TypeError, "None"),
            (("float32", "ab", (1, 2)), TypeError, "not the string 'ab'"),
            (("float32", (1,), (2,)), TypeError, "not 1"),
            (("float32", ([],), (2,)), TypeError, "unhashable|not \\[\\]"),
            (("float32", ("a", "a"), (2, 2)), ValueError, "'a' appears twice"),
            (("float32", ("a",), (2, 2)), ValueError, "1 dims .* but 2 sizes"),
            (("float32", ("a",), (-1,)), ValueError, "'a' has size -1"),
            (("float32", ("a",), (1.5,)), TypeError, "float"),
            (("float32", ("a",), (2**70,)), OverflowError, "fit"),
            (("float32", ("a", "b"), (2**40, 2**40)), ValueError, "address space"),
            (("float32", tuple(map(str, range(65))), (1,) * 65), ValueError, "at most 64"),
        ],
    )
    def test_wrong_arguments(self, arguments: tuple, error: type[Exception], text: str) -> None:
        with pytest.raises(error, match=text):
            ArrayType(*arguments)

    def test_an_empty_array_may_have_other_huge_sizes(self) -> None:
        assert ArrayType("float32", ("a", "b"), (0, 2**50)).nbytes == 0


class TestFromBuffer:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_every_dtype_comes_in_and_goes_out_without_a_copy(self, dtype: str) -> None:
        source = np.arange(6).reshape(2, 3).astype(numpy_dtype(dtype))
        a = native.from_buffer(source, ("i", "j"))
        out = native.as_numpy(a)
        assert a.dtype == dtype and out.dtype == source.dtype
        assert a._pointer == source.ctypes.data == out.ctypes.data
        np.testing.assert_array_equal(out, source)
        np.testing.assert_array_equal(np.asarray(a), source)
        assert not out.flags.writeable and not np.asarray(a).flags.writeable

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_empty_and_zero_rank(self, dtype: str) -> None:
        a = native.from_buffer(np.zeros((3, 0), numpy_dtype(dtype)), ("i", "j"))
        assert a.shape == (3, 0) and np.asarray(a).shape == (3, 0)
        assert native.from_buffer(np.ones((), numpy_dtype(dtype)), ()).item() == 1

    def test_views_that_are_not_row_major_are_copied(self) -> None:
        base = np.arange(24, dtype="f4").reshape(2, 3, 4)
        for view in (
            base.T,
            base[:, ::2],
            base[::-1],
            base[..., ::-3],
            np.broadcast_to(np.float32(3), (2, 3, 4)),
            np.broadcast_to(base[0], (5, 3, 4)),
            np.asfortranarray(base),
        ):
            a = native.from_buffer(view, ("i", "j", "k"))
            assert a._base is None and a._pointer % 64 == 0
            np.testing.assert_array_equal(np.asarray(a), view)
            with pytest.raises(ValueError, match="copy=False"):
                native.from_buffer(view, ("i", "j", "k"), copy=False)

    def test_unaligned_and_swapped_memory_is_copied(self) -> None:
        raw = np.zeros(17, "u1")
        unaligned = raw[1:].view("f4")
        swapped = np.arange(4, dtype=">f4")
        assert native.from_buffer(unaligned, ("a",))._base is None
        a = native.from_buffer(swapped, ("a",))
        assert a._base is None and np.asarray(a).tolist() == [0, 1, 2, 3]

    def test_read_only_memory_is_shared(self) -> None:
        source = np.arange(4, dtype="f4")
        source.flags.writeable = False
        assert native.from_buffer(source, ("a",))._pointer == source.ctypes.data
        data = bytes(range(4))
        assert np.asarray(native.from_buffer(memoryview(data), ("a",))).tolist() == [0, 1, 2, 3]

    def test_lists_scalars_arrays_and_dtype(self) -> None:
        assert native.from_buffer([[1, 2], [3, 4]], ("i", "j")).dtype == "int64"
        assert native.from_buffer(2.5, ()).item() == 2.5
        assert native.from_buffer([1, 2], ("i",), "float16").dtype == "float16"
        assert np.asarray(native.from_buffer(np.float64([1.5, 2]), ("i",), dtype="int8")).tolist() == [1, 2]
        a = array([1, 2, 3])
        b = native.from_buffer(a, ("z",))
        assert b.dims == ("z",) and b._pointer == a._pointer
        c = native.from_buffer(a, ("z",), copy=True)
        assert c._pointer != a._pointer and np.asarray(c).tolist() == [1, 2, 3]

    @pytest.mark.parametrize(
        ("data", "dims", "error", "text"),
        [
            (
                np.zeros((2, 3)),
                ("a",),
                ValueError,
                r"1 dims \('a',\) for data with 2 axes of sizes \(2, 3\)",
            ),
            (np.zeros(2, "c32"), ("a",), TypeError, "cannot hold complex256"),
            (np.array(["x"]), ("a",), TypeError, "cannot hold"),
            (np.array([object()]), ("a",), TypeError, "cannot hold object"),
            ([[1], [2, 3]], ("a", "b"), ValueError, "inhomogeneous"),
            (np.zeros(2), "a", TypeError, "not the string"),
            (np.zeros(2), 3, TypeError, "int"),
        ],
    )
    def test_wrong_arguments(self, data: object, dims: object, error: type[Exception], text: str) -> None:
        with pytest.raises(error, match=text):
            native.from_buffer(data, dims)  # type: ignore[arg-type]

    def test_the_source_lives_as_long_as_the_array(self) -> None:
        source = np.arange(1000, dtype="f4")
        gone = weakref.ref(source)
        a = native.from_buffer(source, ("a",))
        del source
        assert gone() is not None and np.asarray(a)[-1] == 999
        view = native.as_numpy(a)
        del a
        assert view[-1] == 999
        del view
        assert gone() is None

    def test_a_view_outlives_its_array(self) -> None:
        a = native.from_buffer(np.arange(1000.0), ("a",), copy=True)
        views = [native.as_numpy(a), np.asarray(memoryview(a)), np.from_dlpack(a)]
        del a
        for _ in range(20):
            native.empty(ArrayType("float64", ("a",), (1000,)))
        assert all(v.sum() == 499500 for v in views)


class TestArray:
    def test_attributes(self) -> None:
        a = array(np.zeros((2, 3)), ("i", "j"))
        assert (a.dtype, a.dims, a.shape, a.sizes, a.ndim, a.size, a.nbytes) == (
            "float32", ("i", "j"), (2, 3), {"i": 2, "j": 3}, 2, 6, 24,
        )  # fmt: skip
        assert a.type is ArrayType("float32", ("i", "j"), (2, 3))
        with pytest.raises(AttributeError):
            a.dims = ()  # type: ignore[misc]

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_item(self, dtype: str) -> None:
        value = 1 if dtype == "bool" else 3
        a = array(value, (), dtype)
        item = a.item()
        assert item == value and type(item) is type(np.asarray(value, numpy_dtype(dtype)).astype(
            "f8" if dtype == "bfloat16" else numpy_dtype(dtype)).item())  # fmt: skip
        b = native.from_scalar(value, dtype)
        assert b.type is a.type and b.item() == value

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
    def test_float_scalars_round_as_numpys(self, dtype: str) -> None:
        rng = np.random.default_rng(0)
        values = [
            *rng.normal(size=200) * 10.0 ** rng.integers(-8, 8, 200),
            1e6,
            -1e6,
            0.0,
            -0.0,
            np.inf,
            -np.inf,
        ]
        for v in values:
            with np.errstate(over="ignore"):
                expected = np.float64(v).astype(numpy_dtype(dtype))
            assert native.from_scalar(float(v), dtype).item() == float(expected)
        assert np.isnan(native.from_scalar(float("nan"), dtype).item())

    def test_integer_scalars_must_fit(self) -> None:
        assert native.from_scalar(-128, "int8").item() == -128
        assert native.from_scalar(2**64 - 1, "uint64").item() == 2**64 - 1
        for value, dtype in [
            (128, "int8"),
            (-1, "uint8"),
            (2**64, "uint64"),
            (-1, "uint64"),
            (2**63, "int64"),
        ]:
            with pytest.raises(OverflowError):
                native.from_scalar(value, dtype)
        with pytest.raises(TypeError):
            native.from_scalar(1.5, "int32")
        with pytest.raises(TypeError):
            native.from_scalar("1", "float32")

    def test_item_of_many_is_an_error(self) -> None:
        with pytest.raises(ValueError, match=r"one element.*a.*2"):
            array([1, 2]).item()

    def test_not_made_by_calling_the_class(self) -> None:
        for cls in (native.Array, type(array([1]))):
            with pytest.raises(TypeError, match="made by calling its class"):
                cls()
            with pytest.raises(TypeError):
                object.__new__(cls)

    def test_view_is_the_same_memory_under_another_type(self) -> None:
        a = array([1, 2, 3, 4])
        b = a._view(ArrayType("float32", ("i", "j"), (2, 2)))
        assert b._pointer == a._pointer and b.dims == ("i", "j")
        assert b._view(ArrayType("int32", ("k",), (4,))).dtype == "int32"
        with pytest.raises(ValueError, match="differ in bytes"):
            a._view(ArrayType("float32", ("i",), (3,)))
        with pytest.raises(TypeError, match="ArrayType"):
            a._view("f4")  # type: ignore[arg-type]

    def test_meta(self) -> None:
        a, meta = array([1]), {"name": "x"}
        count = sys.getrefcount(meta)
        b = a._with_meta(meta)
        assert a.meta is None and b.meta is meta and b._pointer == a._pointer
        with pytest.raises(AttributeError, match="arrays do not change: 'meta' cannot be set"):
            b.meta = None  # type: ignore[misc]
        del b
        assert sys.getrefcount(meta) == count

    def test_array_protocol(self) -> None:
        a = array([1, 2])
        assert np.asarray(a, "f8").dtype == np.float64
        assert a.__array__().ctypes.data == a._pointer
        assert a.__array__(copy=True).ctypes.data != a._pointer
        assert a.__array__("f8").dtype == np.float64
        with pytest.raises(ValueError, match="copy=False"):
            a.__array__("f8", copy=False)
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(a)[0] = 1

    def test_buffer_protocol(self) -> None:
        m = memoryview(array(np.zeros((2, 3)), ("i", "j")))
        assert (m.readonly, m.shape, m.strides, m.format, m.itemsize) == (
            True,
            (2, 3),
            (12, 4),
            "f",
            4,
        )
        with pytest.raises(BufferError, match="bfloat16"):
            memoryview(array([1], dtype="bfloat16"))
        with pytest.raises((BufferError, TypeError)):
            (ctypes.c_char * 24).from_buffer(array(np.zeros((2, 3)), ("i", "j")))

    @pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "bool"])
    def test_bytes_without_their_dtype_are_not_given(self, dtype: str) -> None:
        a = array(np.zeros((2, 4)), ("i", "j"), dtype)
        for read in (np.frombuffer, hashlib.sha256, io.BytesIO().write):
            with pytest.raises(BufferError, match=r"bytes are .*: pass x.values, memoryview\(x\) or torch.from_dlpack"):
                read(a)  # type: ignore[operator]
        assert bytes(a) == a.__array__().tobytes()

    def test_set_array_class_wants_a_plain_subclass(self) -> None:
        with pytest.raises(TypeError, match="subclass"):
            native.set_array_class(int)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="__slots__"):
            native.set_array_class(type("WithBoth", (native.Array,), {}))
        for slot in ("__dict__", "__weakref__"):
            with pytest.raises(TypeError, match="__slots__"):
                native.set_array_class(type("WithOne", (native.Array,), {"__slots__": (slot,)}))


class TestDlpack:
    @pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
    def test_numpy_reads_ours(self, dtype: str) -> None:
        source = np.arange(6).reshape(2, 3).astype(dtype)
        a = native.from_buffer(source, ("i", "j"))
        out = np.from_dlpack(a)
        assert out.ctypes.data == a._pointer and out.dtype == source.dtype and not out.flags.writeable
        np.testing.assert_array_equal(out, source)
        assert np.from_dlpack(a, copy=True).flags.writeable

    @pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
    @pytest.mark.parametrize("writeable", [True, False])
    def test_ours_reads_numpy(self, dtype: str, writeable: bool) -> None:
        source = np.arange(6).reshape(2, 3).astype(dtype)
        source.flags.writeable = writeable
        a = native.from_dlpack(source, ("i", "j"))
        assert a._pointer == source.ctypes.data and a.dtype == dtype
        gone = weakref.ref(source)
        del source
        assert gone() is not None
        del a
        gc.collect()
        assert gone() is None

    def test_strided_memory_is_copied(self) -> None:
        source = np.arange(24, dtype="i4").reshape(2, 3, 4)
        for view in (source.T, source[:, ::2], source[::-1, :, 1:], source[:, :0]):
            a = native.from_dlpack(view, ("i", "j", "k"))
            np.testing.assert_array_equal(np.asarray(a), view)

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "bool", "float16"])
    def test_jax_both_ways(self, dtype: str) -> None:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        a = array([0, 1, 2], dtype=dtype)
        x = jax.dlpack.from_dlpack(a)
        assert x.dtype == numpy_dtype(dtype) and x.astype("float32").tolist()[1] == 1
        back = native.from_dlpack(x + x if dtype != "bool" else x, ("a",))
        assert back.dtype == dtype and np.asarray(back)[1] != 0

    def test_capsules_are_released_used_or_not(self) -> None:
        a = array(np.zeros(4))
        count = sys.getrefcount(a)
        for version in (None, (1, 0)):
            capsule = a.__dlpack__(max_version=version)
            assert sys.getrefcount(a) == count + 1
            again = native.from_dlpack(capsule, ("a",))
            del capsule
            assert sys.getrefcount(a) == count + 1
            del again
            assert sys.getrefcount(a) == count
            a.__dlpack__(max_version=version)
            assert sys.getrefcount(a) == count

    def test_a_capsule_is_used_once(self) -> None:
        capsule = array([1]).__dlpack__()
        native.from_dlpack(capsule, ("a",))
        with pytest.raises(TypeError, match="unused"):
            native.from_dlpack(capsule, ("a",))

    def test_wrong_arguments(self) -> None:
        a = array([1])
        assert a.__dlpack_device__() == (1, 0)
        with pytest.raises(ValueError, match="stream"):
            a.__dlpack__(stream=1)  # type: ignore[arg-type]
        with pytest.raises(BufferError, match="CPU"):
            a.__dlpack__(dl_device=(2, 0))
        with pytest.raises(ValueError, match="2 dims"):
            native.from_dlpack(np.zeros(3), ("a", "b"))
        with pytest.raises(AttributeError):
            native.from_dlpack(3, ("a",))
