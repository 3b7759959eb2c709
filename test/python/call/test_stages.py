"""Stages: trace, lower, compile; the program after every phase; dumps; the cache on disk."""

import os
import subprocess
import sys

import numpy as np
import pytest
import xtensor as xt
from places import tool
from xtensor.compiler.options import PHASES

x = xt.array(np.arange(6, dtype="f4").reshape(2, 3), dims=("a", "b"))
f = xt.jit(lambda v, s: xt.tanh(v * s).sum("b"))


def test_tracing_shows_the_program_with_its_names():
    traced = f.trace(x, 2.0)
    text = traced.as_text()
    assert "!xtensor.array<a: 2, b: 3, f32>" in text
    assert "xtensor.reduce sum" in text
    assert traced.outputs[0].dims == ("a",)
    assert "Traced" in repr(traced)


def test_locations_are_the_users_lines():
    line = f.__wrapped__.__code__.co_firstlineno
    for phase in ("traced", "linalg", "llvm"):
        text = f.lower(x, 2.0).as_text(phase, locations=True)
        assert f'{os.path.basename(__file__)}":{line}:' in text
        done = subprocess.run([tool("xtensor-opt"), "-"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.cpu_only("the phases are those of the CPU")
@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_has_text(phase):
    assert f.lower(x, 2.0).as_text(phase).strip()
    assert f.as_text(phase, x, 2.0).strip()


def test_phases_are_what_their_names_say():
    lowered = xt.jit(xt.grad(lambda v: (v * v).sum())).lower(x)
    assert "xtensor.pullback" in lowered.as_text("simplified")
    assert "xtensor.pullback" not in lowered.as_text("differentiated")
    assert "linalg.generic" in lowered.as_text("linalg")
    assert "!xtensor.array" not in lowered.as_text("linalg").replace("xtensor.type = !xtensor.array", "")
    assert "memref" in lowered.as_text("buffers")
    assert "llvm" in lowered.as_text("llvm")


@pytest.mark.cpu_only("it reads the loops of the CPU")
def test_equal_layers_are_compiled_once():
    def network(layers: int) -> str:
        def loss(w):
            y = x
            for _ in range(layers):
                y = y * 0.5 + xt.tanh(xt.dot(y, w, dim="b").rename(c="b"))
            return xt.sum(y * y)

        return str(xt.jit(xt.value_and_grad(loss)).lower(xt.spec(b=3, c=3, dtype="f4")).as_text("cpu"))

    small, large = network(50), network(100)
    nests = "func.func private @nest"
    assert 0 < large.count(nests) == small.count(nests) < 20
    # No function grows with the program but the one that calls the parts of it.
    loops = [body.count("scf.for") for body in large.split("func.func")]
    assert sum(loops) < 200
    assert max(body.count("call @nest") for body in large.split("func.func")) <= 32


def test_lower_from_specs():
    lowered = f.lower(xt.spec(a=2, b=3, dtype="f4"), xt.spec(dtype="f8"))
    assert "a: 2, b: 3, f32" in lowered.as_text("traced")
    dynamic = xt.jit(lambda v: v * 2.0).lower(xt.spec(a=None, dtype="f4"))
    assert "a: ?" in dynamic.as_text("traced")


def test_compiled_is_called_by_position_with_arrays_or_numpy():
    compiled = f.lower(x, 2.0).compile()
    want = np.tanh(x.values * 2).sum(1)
    np.testing.assert_allclose(compiled(x, 2.0).values, want, rtol=1e-6)
    np.testing.assert_allclose(compiled(x.values, 2.0).values, want, rtol=1e-6)
    with pytest.raises(xt.ArgumentTypeError, match="takes 2 arrays, got 1"):
        compiled(x)
    with pytest.raises(xt.DTypeError, match=r"float64 .*compiled for float32"):
        compiled(x.astype("f8"), 2.0)
    with pytest.raises(xt.DimensionError, match=r"\(b: 3, a: 2\).*compiled for.*\(a: 2, b: 3\)"):
        compiled(x.T, 2.0)
    with pytest.raises(xt.SizeError, match=r"argument 0 of compiled .*a: 1"):
        compiled(x.isel(a=[0]), 2.0)


def test_ints_that_do_not_fit_are_refused_by_compiled_code_too():
    add = xt.jit(lambda u, n: u + n)
    u = xt.array([1, 2], "i", dtype="u1")
    compiled = add.lower(u, 7).compile()
    assert compiled(u, 250).values.tolist() == [251, 252]
    with pytest.raises(xt.ArgumentError, match="256 does not fit uint8"):
        compiled(u, 256)
    with pytest.raises(xt.ArgumentError, match="-1 does not fit uint8"):
        xt.vjp(lambda x, u, n: x * (u + n), xt.array(2.0), u, -1)


def test_captured_arrays_come_along_to_compiled():
    y = xt.array(np.ones(3, "f4"), "b")
    compiled = xt.jit(lambda v: v + y).lower(x).compile()
    np.testing.assert_allclose(compiled(x).values, x.values + 1)


def test_cost_counts_bytes_and_flops():
    cost = xt.jit(lambda v, w: v * w + 1.0).cost(x, x)
    assert cost["bytes"] == 3 * 24
    assert cost["flops"] == 2 * 6


@pytest.mark.cpu_only("a device combines the results of its workgroups, too")
def test_cost_counts_extrema_but_no_choices():
    a = xt.spec(i=100, j=1000, dtype="f4")
    cost = lambda f: xt.jit(f).cost(a)["flops"]  # noqa: E731
    assert cost(lambda a: xt.max(a, dim="j")) == 100 * 1000
    assert cost(lambda a: xt.where((a > 0) & ~xt.isnan(a), a, -1.0)) == 0
    value = cost(lambda a: xt.sum(xt.max(a, dim="j")))
    assert cost(xt.value_and_grad(lambda a: xt.sum(xt.max(a, dim="j")))) < 2.1 * value


def test_cost_counts_updates_by_position():
    i, v = xt.array([0, 2, 0, 1], "p"), xt.zeros(p=4, b=50)
    cost = lambda kind: xt.jit(lambda t, v: getattr(t.at(a=i), kind)(v, mode="clip")).cost(xt.zeros(a=3, b=50), v)  # noqa: E731
    assert cost("add")["flops"] - cost("set")["flops"] == 4 * 50


@pytest.mark.cpu_only("the phases are those of the CPU")
def test_dump_phases_writes_numbered_files(tmp_path):
    with xt.debug.dump_phases(tmp_path):
        xt.jit(lambda v: v * 3.25)(x)
    (folder,) = tmp_path.iterdir()
    names = sorted(p.name for p in folder.iterdir())
    assert names[0] == "00-traced.mlir"
    assert len(names) == len(PHASES)
    xt.jit(lambda v: v * 3.5)(x)
    assert len(list(tmp_path.iterdir())) == 1


def test_the_environment_asks_for_dumps_and_a_cache(tmp_path):
    program = (
        "import numpy as np, xtensor as xt\n"
        "x = xt.array(np.ones(3, 'f4'), 'i')\n"
        "print(xt.jit(lambda v: v * 2.0 + 0.125)(x).values.tolist())\n"
    )
    env = os.environ | {"XTENSOR_DUMP": str(tmp_path / "dump"), "XTENSOR_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        assert out.stdout.strip() == "[2.125, 2.125, 2.125]"
    assert any((tmp_path / "dump").iterdir())
    assert any(p.is_file() for p in (tmp_path / "cache").rglob("*"))


def test_the_cache_keeps_to_its_size(tmp_path):
    program = (
        "import numpy as np, xtensor as xt\n"
        "x = xt.array(np.ones(3, 'f4'), 'i')\n"
        "for i in range(12):\n"
        "    xt.jit(lambda v: v * 2.0 + np.float32(i))(x)\n"
    )
    old = tmp_path / "old.o"
    old.write_bytes(b"x" * 15_000)
    os.utime(old, (1, 1))
    left = tmp_path / "write-dead.tmp"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    env = os.environ | {"XTENSOR_CACHE_DIR": str(tmp_path), "XTENSOR_CACHE_MB": "0.02"}
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    kept = list(tmp_path.glob("*.o"))
    assert 0 < sum(p.stat().st_size for p in kept) <= 0.02 * 2**20
    assert old not in kept
    assert not left.exists()
    env["XTENSOR_CACHE_MB"] = "lots"
    out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert "XTENSOR_CACHE_MB is a number of megabytes, not 'lots'" in out.stderr


def test_the_cache_is_listed_once_for_a_sixteenth_of_its_size(tmp_path):
    """What a dead process left is removed by whoever lists the folder: so it tells how often one does."""
    program = """
import os, pathlib, sys
import xtensor as xt
x, listed = xt.ones(i=3), 0
for i in range(40):
    left = pathlib.Path(sys.argv[1], "write-dead.tmp")
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    xt.jit(lambda v: v * 2.0 + float(sys.argv[2]) + i)(x)
    listed += not left.exists()
print(listed)
"""
    env = os.environ | {"XTENSOR_CACHE_DIR": str(tmp_path), "XTENSOR_CACHE_MB": "0.125"}
    listed = 0
    for process in range(2):
        words = [sys.executable, "-c", program, str(tmp_path), f"{process}.5"]
        listed += int(subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout)
    written = sum(p.stat().st_size for p in tmp_path.glob("*.o"))
    assert written < 2**17, "none was removed"
    due = written / 2**13
    assert due > 4
    assert due / 2 <= listed <= due + 2, (due, listed)


def test_the_first_call_imports_none_of_mlir_and_the_import_not_xarray():
    program = (
        "import sys, xtensor as xt; print('xarray' in sys.modules); before = set(sys.modules); "
        "xt.jit(xt.grad(lambda x: (x * 2).sum()))(xt.ones(a=3)); "
        "print([m for m in set(sys.modules) - before if not m.startswith('xtensor.') or 'mlir' in m])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == ["False", "[]"]


def test_cached_vector_functions_are_found_by_another_process(tmp_path):
    program = "import numpy as np, xtensor as xt; print(xt.cos(xt.array(np.zeros(64), 'a')).values.sum())"
    env = os.environ | {"XTENSOR_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
        assert out.stdout.strip() == "64.0", out.stderr


# Several functions in one program: loops over rows, over columns, and what is between.
SEVERAL = """
import hashlib, numpy as np, xtensor as xt
rng = np.random.default_rng(0)
x, w = (rng.standard_normal(s, dtype="f4") for s in ((300, 70), (70, 90)))
def loss(w):
    z = xt.tanh(xt.dot(xt.array(x, ("a", "b")), w, dim="b"))
    return xt.mean(xt.logsumexp(z - xt.mean(z, dim="a"), dim="c"))
value, gradient = xt.jit(xt.value_and_grad(loss))(xt.array(w, ("b", "c")))
z = np.tanh(x.astype("f8") @ w)
np.testing.assert_allclose(value.values, np.log(np.exp(z - z.mean(0)).sum(1)).mean(), rtol=1e-5)
print(hashlib.sha256(value.values.tobytes() + gradient.values.tobytes()).hexdigest())
"""


@pytest.mark.cpu_only("code of the CPU")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_code_is_made_by_several_threads_and_kept_together(tmp_path, threads):
    env = os.environ | {"XTENSOR_CACHE_DIR": str(tmp_path), "XTENSOR_NUM_THREADS": str(threads)}
    bits = []
    for _ in range(2):
        out = subprocess.run([sys.executable, "-c", SEVERAL], env=env, capture_output=True, text=True, check=False)
        assert out.returncode == 0, out.stderr
        bits.append(out.stdout)
    assert bits[0] == bits[1]
    (kept,) = tmp_path.glob("*.o")
    assert (kept.read_bytes().count(b"\x7fELF") > 1) == (threads > 1)


@pytest.mark.cpu_only("code of the CPU")
def test_code_of_another_program_is_not_taken_for_its_own(tmp_path):
    """Whole files in each other's places: programs are compiled again, and the files are right afterwards."""
    env = os.environ | {"XTENSOR_CACHE_DIR": str(tmp_path)}
    program = "import xtensor as xt; print(*(float(xt.jit(f)(3.0)) for f in (lambda x: x * 5, lambda x: x - 5)))"

    def numbers() -> str:
        out = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
        assert out.returncode == 0, out.stderr
        return out.stdout

    assert numbers() == "15.0 -2.0\n"
    files = sorted(tmp_path.glob("*.o"))
    whole = [p.read_bytes() for p in files]
    for path, bytes_ in zip(files, [*whole[1:], whole[0]], strict=True):
        path.write_bytes(bytes_)
    assert numbers() == "15.0 -2.0\n"
    assert [p.read_bytes() for p in files] == whole


# Programs lie in slabs of 2 MiB, a page or more each. The one that is begun takes no more than 512; there is room for
# what compiling them needs, and not for another slab.
NO_ROOM = """
import resource, sys
import xtensor as xt
x = xt.ones(a=3)
kept = [xt.jit(lambda x, i=i: xt.cumsum(x * i + xt.exp(x), dim="a")) for i in range(600)]
for f in kept[:490]:
    f(x)
there = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (there + 2**20,) * 2)
for f in kept[490:]:
    try:
        f(x)
    except xt.MemoryError as error:
        assert "no memory for the code of this program" in str(error), error
        break
else:
    sys.exit("there was room for all of them")
"""


@pytest.mark.cpu_only("code of the CPU")
def test_no_room_for_code_is_no_memory():
    env = os.environ | {"XTENSOR_CACHE_DIR": ""}
    words = [sys.executable, "-c", NO_ROOM]
    out = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert (out.returncode, out.stderr) == (0, "")


@pytest.mark.cpu_only("code of the CPU")
def test_what_is_no_file_is_not_taken_for_code(tmp_path):
    """A pipe would wait for whoever writes it."""
    env = os.environ | {"XTENSOR_CACHE_DIR": str(tmp_path)}
    program = "import xtensor as xt; assert float(xt.jit(lambda x: x * 5)(3.0)) == 15.0"
    for make in (None, os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir):
        for kept in (*tmp_path.glob("*.o"), *tmp_path.glob("grown")) if make else ():
            kept.rmdir() if kept.is_dir() else kept.unlink()
            make(kept)
        out = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False, timeout=60
        )
        assert out.returncode == 0, out.stderr
        assert any(tmp_path.glob("*.o"))


@pytest.mark.cpu_only("the compiler is the same")
@pytest.mark.parametrize("then", ["", "os._exit(os.waitpid(os.fork() or os._exit(0), 0)[1])"])
def test_a_process_may_end_or_fork_while_the_compiler_warms_up(then):
    for wait in (0, 0.01, 0.03, 0.06):
        program = f"import os, time, xtensor; time.sleep({wait}); {then}"
        out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
        assert out.returncode == 0, out.stderr


FIRST = """
import sys, time
import numpy as np, xtensor as xt
from xtensor.mlir._mlir_libs import _xtensor
{before}
f = xt.jit(lambda x, i: (xt.tanh(x) * 2.5).isel(a=i))
x = xt.array(np.arange(8.0), dims="a")
for _ in range(2):
    np.testing.assert_array_equal(f(x, 3).values, np.tanh(3.0) * 2.5)
print(*(name for name in sys.modules if name.startswith("xtensor.mlir.dialects.")))
"""

TAKEN = """
deadline = time.monotonic() + 30
while (taken := _xtensor.take_warm_context()) is None and time.monotonic() < deadline:
    time.sleep(0.01)
assert taken is not None
"""


@pytest.mark.cpu_only("the compiler is the same")
@pytest.mark.parametrize("before", ["", "time.sleep(1)", TAKEN], ids=["soon", "later", "taken"])
def test_first_trace_in_the_context_of_the_warm_up_or_its_own_imports_no_other_dialects(before):
    program = FIRST.format(before=before)
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert out.returncode == 0, out.stderr
    assert out.stdout.split() == ["xtensor.mlir.dialects.xtensor"]
