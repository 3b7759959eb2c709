"""How long compiled code stays: it goes with its function, and many programs share few mappings."""

import gc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import xtensor as xt

# What a process prints of its mappings, and of the bytes that are executable and come from no file.
MAPPINGS = """
import gc
import numpy as np
import xtensor as xt

def mappings():
    lines = [line.split() for line in open("/proc/self/maps")]
    code = [line[0].split("-") for line in lines if line[1] == "r-xp" and len(line) < 6]
    return len(lines), sum(int(end, 16) - int(start, 16) for start, end in code)

def program(n):
    return xt.jit(lambda x: x * n + (x * float(n)).sum())

x = xt.array(np.arange(3.0), dims="i")
program(-1)(x)
"""


def printed(program: str) -> list[int]:
    done = subprocess.run([sys.executable, "-c", MAPPINGS + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the system's list of mappings is read")


@linux_only
@pytest.mark.cpu_only("programs of devices compile many times slower, and their drivers map memory, too")
def test_programs_share_few_mappings():
    before, after = printed("""
print(mappings()[0])
kept = [program(n) for n in range(150)]
for n, f in enumerate(kept):
    assert np.array_equal(f(x).values, np.arange(3) * n + 3 * n), n
print(mappings()[0])
""")
    assert after - before < 30  # one, and what the allocator of the C library maps


@linux_only
@pytest.mark.cpu_only("programs of devices compile many times slower")
def test_code_goes_with_its_function():
    before, after = printed("""
gc.disable()
print(mappings()[1])
for n in range(540):  # a page each at least: more than a slab
    f = program(n)
    f(x)
    del f
assert np.array_equal(program(2)(x).values, [6, 8, 10])
print(mappings()[1])
""")
    assert after == before


def test_a_program_outlives_the_functions_that_share_it():
    x = xt.array(np.arange(4, dtype="f4"), dims="i")

    def twice(x):
        return x * 2 + 1

    first, second = xt.jit(twice), xt.jit(twice)
    first(x), second(x)
    del first
    gc.collect()
    others = [xt.jit(lambda x, n=n: x * n - n) for n in range(20)]
    for n, f in enumerate(others):
        np.testing.assert_array_equal(f(x).values, np.arange(4) * n - n)
    np.testing.assert_array_equal(second(x).values, [1, 3, 5, 7])


def test_code_stays_while_a_call_runs_in_it():
    n = 200_000
    f = xt.jit(lambda x: xt.fori_loop(0, 400, lambda i, c: xt.sqrt(c * c + 1), x))
    x = xt.zeros(i=n, dtype="f4")
    f(x)
    found = []
    thread = threading.Thread(target=lambda: found.append(f(x).values))
    thread.start()
    while not found:
        f.clear()
        f._compiler.entries.clear()
        gc.collect()
        xt.jit(lambda x: x + len(found) + 0.5)(xt.ones(i=3, dtype="f4"))
    thread.join()
    np.testing.assert_allclose(found[0], np.full(n, 20.0), rtol=1e-4)


def test_code_stays_while_another_function_enters_it_for_the_first_time():
    def body(x):  # on a device: many launches, so that its first call takes long
        return xt.fori_loop(0, 300, lambda i, c: xt.where(xt.sum(c) > 1e9, c, xt.sqrt(c * c + 1)), x)

    x = xt.zeros(i=500, dtype="f4")
    for pause in (0.0, 0.0005, 0.002):
        first, second = xt.jit(body), xt.jit(body)
        first(x)
        found = []
        thread = threading.Thread(target=lambda f=second, found=found: found.append(f(x).values))
        thread.start()
        time.sleep(pause)
        first.clear()
        first._compiler.entries.clear()  # the last that is known to call the program
        gc.collect()
        thread.join()
        np.testing.assert_allclose(found[0], np.full(500, 300**0.5), rtol=1e-4)
        np.testing.assert_allclose(second(x).values, found[0])


def test_a_function_in_a_cycle_goes_with_it():
    class Holder:
        pass

    holder = Holder()
    holder.f = xt.jit(lambda x: x + 1.25)
    holder.self = holder
    np.testing.assert_array_equal(holder.f(xt.ones(i=2, dtype="f4")).values, [2.25, 2.25])
    del holder
    gc.collect()
    np.testing.assert_array_equal(xt.jit(lambda x: x + 1.25)(xt.ones(i=2, dtype="f4")).values, [2.25, 2.25])


@linux_only
@pytest.mark.cpu_only("a process that forks leaves its devices")
def test_a_fork_has_code_of_its_own():
    assert printed("""
import os, sys
f = program(5)
f(x)
child = os.fork()
if child == 0:
    expected = f(x).values.copy()
    kept = [program(n) for n in range(6, 26)]
    fine = all(np.array_equal(g(x).values, np.arange(3) * n + 3 * n) for n, g in enumerate(kept, 6))
    os._exit(0 if fine and np.array_equal(f(x).values, expected) else 1)
del f
for n in range(26, 46):
    assert np.array_equal(program(n)(x).values, np.arange(3) * n + 3 * n)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""") == [0]
