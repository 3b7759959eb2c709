"""runtime/Device.h on Vulkan, without the compiler: kernels are written in SPIR-V assembly and every message of the
validation layers is a failure. test_cuda_runtime.py runs the same tests on CUDA, with kernels in PTX."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from device_abi import (
    BACKEND,
    CHECK,
    Device,
    N,
    Program,
    Status,
    bits,
    error,
    kernel,
    library,
    program,
    run_python,
    values,
    watched,
)


@pytest.fixture
def device() -> Iterator[Device]:
    yield from watched()


def vulkan_only(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(BACKEND != "vulkan", reason=reason)


class TestDevices:
    def test_it_says_what_it_has(self, device: Device) -> None:
        info = device.info
        assert info.backend.decode() == BACKEND
        assert info.name
        assert info.driver
        assert info.subgroup_size >= 1
        assert info.max_buffer_bytes >= 2**27
        assert 2**20 < info.memory_bytes < 2**50
        assert min(info.max_groups) >= 65535
        assert info.max_kernel_buffers >= 4
        assert info.max_kernel_numbers >= 32

    def test_a_device_is_opened_once(self, device: Device) -> None:
        assert Device(0).handle == device.handle
        assert library().xt_device_count(BACKEND.encode()) >= 1

    def test_there_is_no_such_device(self, device: Device) -> None:
        with pytest.raises(OSError, match=f"no {BACKEND} device 99"):
            Device(99)

    def test_there_is_no_such_backend(self) -> None:
        assert library().xt_device_count(b"abacus") == 0
        assert "abacus" in error()
        assert "vulkan" in error()

    def test_the_default_comes_from_the_environment(self) -> None:
        code = "try: Device()\nexcept OSError as e: print(e)"
        assert f"no {BACKEND} device 41" in run_python(code, XTENSOR_DEVICE="41")
        # What is set after xtensor was imported, which would refuse it.
        assert "not 'first'" in run_python("library(); os.environ['XTENSOR_DEVICE'] = 'first'\n" + code)
        assert run_python(code, XTENSOR_DEVICE="0") == ""


class TestMemory:
    @pytest.mark.parametrize("size", [1, 4, 255, 256, 257, 4000, 1 << 20, (1 << 20) + 4, (20 << 20) + 12])
    def test_what_is_written_is_read(self, device: Device, size: int) -> None:
        given = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
        address = device.array(given)
        assert address % 256 == 0
        assert (device.read(address, size, np.uint8) == given).all()
        part = size // 3
        assert (device.read(address + part, size - part, np.uint8) == given[part:]).all()
        device.free(address, size)

    def test_nothing_is_no_trouble(self, device: Device) -> None:
        address = device.alloc(0)
        device.write(address, np.zeros(0))
        assert device.read(address, 0).size == 0
        device.copy(address, address, 0)
        device.free(address, 0)

    def test_arrays_do_not_overlap(self, device: Device) -> None:
        sizes = [16, 300, 5000, 1 << 21] * 8
        arrays = [(device.array(np.full(size, i, np.uint8)), size) for i, size in enumerate(sizes)]
        for i, (address, size) in enumerate(arrays):
            assert (device.read(address, size, np.uint8) == i).all()
        for address, size in arrays:
            device.free(address, size)

    def test_freed_memory_is_used_again(self, device: Device) -> None:
        first = device.alloc(5000)
        device.free(first, 5000)
        assert device.alloc(5000) == first
        device.free(first, 5000)

    def test_copies_on_the_device(self, device: Device) -> None:
        source, to = device.array(values()), device.array(values(1))
        device.copy(to + 400, source, 400)
        expected = values(1)
        expected[100:200] = values()[:100]
        assert (device.read(to, N) == expected).all()
        with pytest.raises(OSError, match="overlaps itself"):
            device.copy(to, to + 4, 8)
        device.free(source, 4 * N)
        device.free(to, 4 * N)

    def test_trim_gives_memory_back(self, device: Device) -> None:
        device.trim()
        before = device.counters.driver_bytes
        address = device.alloc(8 << 20)
        assert device.counters.driver_bytes >= before + (8 << 20)
        device.free(address, 8 << 20)
        assert library().xt_device_cached_bytes(device.handle) >= 8 << 20
        device.trim()
        assert device.counters.driver_bytes == before
        assert library().xt_device_cached_bytes(device.handle) <= before

    def test_an_array_over_the_limit(self, device: Device) -> None:
        limit = device.info.max_buffer_bytes
        with pytest.raises(OSError, match=f"{limit + 1} bytes is over its limit of {limit}") as raised:
            device.alloc(limit + 1)
        assert device.info.name.decode() in str(raised.value)
        with pytest.raises(OSError, match="over its limit"):
            device.alloc(2**63)

    def test_out_of_memory_leaves_other_arrays_alone(self) -> None:
        print_out = """
d = Device()
kept = d.array(VALUES)
taken = []
try:
    while True: taken.append(d.alloc(1 << 20))
except OSError as e: print(e)
assert 8 <= len(taken) <= 15, len(taken)
assert (d.read(kept, N) == VALUES).all()
for a in taken: d.free(a, 1 << 20)
d.free(d.alloc(8 << 20), 8 << 20)  # blocks of another size had to go for this
print(d.counters.driver_bytes <= 16 << 20, d.messages)
"""
        said = run_python(print_out, XTENSOR_DEVICE_MEMORY=str(16 << 20))
        assert "no memory for 1048576 bytes; it has 16777216" in said
        assert said.endswith("True 0")

    def test_addresses_of_nothing(self, device: Device) -> None:
        address = device.alloc(1000)
        with pytest.raises(OSError, match="not memory of this device"):
            device.read(12345678, 4)
        with pytest.raises(OSError, match="reach beyond their array"):
            device.read(address, 100_000)
        device.free(address, 1000)


class TestCalls:
    def test_kernels_run_in_order(self, device: Device) -> None:
        add, run = kernel(), program()
        a, b, c = device.array(values()), device.alloc(4 * N), device.alloc(4 * N)
        recording, status = device.begin(run, [a, c])
        assert recording
        device.add(add, a, b, N, 1)
        device.add(add, b, c, N, 2)
        device.add(add, c, b, N, 3)
        device.add(add, b, c, N, 4)
        device.end()
        assert status.code == 0
        np.testing.assert_allclose(device.read(c, N), values() + 10, rtol=1e-5)
        for address in (a, b, c):
            device.free(address, 4 * N)

    def test_nothing_waits_but_who_reads(self, device: Device) -> None:
        add, run = kernel(), program()
        a, b = device.array(values()), device.alloc(4 * N)
        device.synchronize()
        before = device.counters
        device.begin(run, [a, b])
        device.add(add, a, b, N, 0, 20_000)
        device.end()
        after = device.counters
        assert after.submissions == before.submissions + 1
        assert after.waits == before.waits
        assert (device.read(b, N) == values()).all()
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    def test_memory_is_used_again_after_the_work_before(self, device: Device) -> None:
        """An array is freed, and overwritten by the CPU, while a kernel that was asked for before is yet to read it."""
        add = kernel()
        a, b, c = device.array(values()), device.alloc(4 * N), device.alloc(4 * N)
        for i in range(20):
            device.begin(program(), [a, b])
            device.add(add, a, c, N, 0, 20_000)
            device.add(add, a, b, N, 1)
            device.end()
            device.free(a, 4 * N)
            assert device.array(values(i + 1)) == a
            np.testing.assert_array_equal(device.read(b, N), values(i) + 1)
        for address in (a, b, c):
            device.free(address, 4 * N)

    @vulkan_only("commands of a CUDA stream need no barriers")
    def test_barriers_stand_only_where_they_are_needed(self, device: Device) -> None:
        add = kernel()
        a = device.array(values())
        outs = [device.alloc(4 * N) for _ in range(4)]

        def barriers(chained: bool) -> int:
            before = device.counters.barriers
            device.begin(program(), [a, outs[0]])
            for i, out in enumerate(outs):
                device.add(add, outs[i - 1] if chained and i else a, out, N)
            device.end()
            return device.counters.barriers - before

        assert barriers(chained=False) == 0
        assert barriers(chained=True) == 3
        np.testing.assert_allclose(device.read(outs[3], N), values() + 4, rtol=1e-5)
        for address in (a, *outs):
            device.free(address, 4 * N)

    def test_copies_and_the_arena(self, device: Device) -> None:
        lib, add, run = library(), kernel(), program()
        a, b = device.array(values()), device.alloc(4 * N)
        for _ in range(3):
            recording, status = device.begin(run, [a, b])
            if recording:
                first, second = lib.xt_call_arena(4 * N), lib.xt_call_arena(4 * N)
                assert first != second
                device.add(add, a, first, N)
                lib.xt_call_copy(second, first, 4 * N)
                device.add(add, second, b, N)
                device.end()
            assert status.code == 0
        np.testing.assert_allclose(device.read(b, N), values() + 2, rtol=1e-5)
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    @vulkan_only("commands of a CUDA stream need no barriers")
    def test_parts_of_the_arena_need_no_barriers(self, device: Device) -> None:
        lib, add = library(), kernel()
        a = device.array(values())
        sizes = (ctypes.c_int64 * 2)(4 * N, 4 * N)

        def barriers(known: bool) -> int:
            before = device.counters.barriers
            device.begin(program(), [a, a])
            for _ in range(4):
                part = lib.xt_call_arena(4 * N)
                if known:
                    lib.xt_call_extents(sizes)
                device.add(add, a, part, N)
            device.end()
            return device.counters.barriers - before

        assert barriers(known=True) == 0
        assert barriers(known=False) == 3
        device.free(a, 4 * N)

    def test_no_workgroups_are_no_launch(self, device: Device) -> None:
        a = device.array(values())
        _, status = device.begin(program(), [a, a])
        device.launch(kernel(), [a, a], [N, bits(1), 1], (0, 1, 1))
        device.end()
        assert status.code == 0
        assert (device.read(a, N) == values()).all()
        device.free(a, 4 * N)

    def test_the_cpu_takes_part(self, device: Device) -> None:
        """A call that reads an array midway, and writes one, between two kernels."""
        lib, add, run = library(), kernel(), program(replay=False)
        a, b, c = device.array(values()), device.alloc(4 * N), device.alloc(4 * N)
        for _ in range(3):
            _, status = device.begin(run, [a, c])
            device.add(add, a, b, N, 1)
            host = lib.xt_call_map(b, 4 * N, 3)
            seen = np.ctypeslib.as_array(ctypes.cast(host, ctypes.POINTER(ctypes.c_float)), (N,))
            np.testing.assert_array_equal(seen, values() + 1)
            seen *= 2
            lib.xt_call_unmap(b, 4 * N, 3, host)
            device.add(add, b, c, N, 1)
            device.end()
            assert status.code == 0
            np.testing.assert_array_equal(device.read(c, N), (values() + 1) * 2 + 1)
        for address in (a, b, c):
            device.free(address, 4 * N)

    def test_a_constant_of_the_program_is_copied_once(self, device: Device) -> None:
        """In the midst of its first call: what was recorded by then is done, and the next calls are replays."""
        add, run = kernel(), program()
        table = np.arange(1000, 1000 + N, dtype="f4")
        a, b, c = device.array(values()), device.alloc(4 * N), device.alloc(4 * N)
        recorded = []
        for _ in range(4):
            recording, status = device.begin(run, [a, b, c])
            recorded.append(recording)
            if recording:
                device.add(add, a, b, N, 1)
                device.add(add, library().xt_call_constant(table.ctypes.data, 4 * N), c, N, 2)
                device.end()
            assert status.code == 0
            np.testing.assert_array_equal(device.read(b, N), values() + 1)
            np.testing.assert_array_equal(device.read(c, N), table + 2)
        assert not recorded[-1]
        for address in (a, b, c):
            device.free(address, 4 * N)


class TestReplays:
    def call(self, device: Device, run: Program, add: object, a: int, b: int, *sizes: int) -> bool:
        recording, status = device.begin(run, [a, b], sizes)
        if recording:
            device.add(add, a, b, N)
            device.end()
        assert status.code == 0
        return not recording

    def test_the_same_call_is_sent_again(self, device: Device) -> None:
        add, run = kernel(), program()
        a, b, c = device.array(values()), device.alloc(4 * N), device.alloc(4 * N)
        before = device.counters
        assert [self.call(device, run, add, a, b) for _ in range(4)] == [False, True, True, True]
        assert [self.call(device, run, add, a, c) for _ in range(2)] == [False, True]
        assert self.call(device, run, add, a, b)
        after = device.counters
        assert after.records - before.records == 2
        assert after.replays - before.replays == 5
        assert after.submissions - before.submissions == 7
        device.write(a, values(5))  # while replays may be under way
        assert self.call(device, run, add, a, b)
        np.testing.assert_array_equal(device.read(b, N), values(5) + 1)
        np.testing.assert_array_equal(device.read(c, N), values() + 1)
        for address in (a, b, c):
            device.free(address, 4 * N)

    def test_sizes_are_part_of_a_call(self, device: Device) -> None:
        add, run = kernel(), program(sizes=1)
        a, b = device.array(values()), device.alloc(4 * N)
        assert not self.call(device, run, add, a, b, 3)
        assert not self.call(device, run, add, a, b, 4)
        assert self.call(device, run, add, a, b, 3)
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    def test_eight_calls_are_kept(self, device: Device) -> None:
        add, run = kernel(), program(sizes=1)
        a, b = device.array(values()), device.alloc(4 * N)
        for size in range(9):
            assert not self.call(device, run, add, a, b, size)
        assert self.call(device, run, add, a, b, 8)
        assert self.call(device, run, add, a, b, 1)
        assert not self.call(device, run, add, a, b, 0)
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    def test_who_may_not_be_replayed_is_not(self, device: Device) -> None:
        add, run = kernel(), program(replay=False)
        a, b = device.array(values()), device.alloc(4 * N)
        assert [self.call(device, run, add, a, b) for _ in range(3)] == [False] * 3
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    def test_an_arena_that_grew_makes_calls_anew(self, device: Device) -> None:
        lib, add, small, large = library(), kernel(), program(), program()
        device.trim()
        a, b = device.array(values()), device.alloc(4 * N)

        def call(run: Program, size: int) -> bool:
            recording, status = device.begin(run, [a, b])
            if recording:
                scratch = lib.xt_call_arena(size)
                device.add(add, a, scratch, N)
                device.add(add, scratch, b, N)
                device.end()
            assert status.code == 0
            np.testing.assert_allclose(device.read(b, N), values() + 2, rtol=1e-5)
            return not recording

        assert [call(small, 4 * N) for _ in range(2)] == [False, True]
        assert [call(large, 3 << 20) for _ in range(2)] == [False, True]
        assert [call(small, 4 * N) for _ in range(2)] == [False, True]
        assert call(large, 3 << 20)
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    @vulkan_only("a CUDA graph holds addresses alone")
    def test_memory_that_was_given_back_is_in_no_replay(self, device: Device) -> None:
        add, run = kernel(), program()
        a, b = device.array(np.zeros(1 << 20, np.float32)), device.alloc(4 << 20)
        assert [self.call(device, run, add, a, b) for _ in range(2)] == [False, True]
        device.free(b, 4 << 20)
        device.trim()
        kept = {}  # until the driver gives the same address again
        for _ in range(20):
            c = device.alloc(4 << 20)
            if c == b:
                assert not self.call(device, run, add, a, c)
                break
            kept[c] = 4 << 20
        for address, size in {**kept, a: 4 << 20, c: 4 << 20}.items():
            device.free(address, size)

    def test_programs_and_kernels_are_forgotten(self, device: Device) -> None:
        lib, add, run = library(), kernel(), program()
        a, b = device.array(values()), device.alloc(4 * N)
        assert [self.call(device, run, add, a, b) for _ in range(2)] == [False, True]
        lib.xt_program_forget(ctypes.byref(run))
        lib.xt_kernel_forget(ctypes.byref(add))
        assert run.handle is None
        assert add.handle is None
        assert [self.call(device, run, add, a, b) for _ in range(2)] == [False, True]
        np.testing.assert_array_equal(device.read(b, N), values() + 1)
        device.free(a, 4 * N)
        device.free(b, 4 * N)

    def test_many_calls_under_way(self, device: Device) -> None:
        add, run = kernel(), program()
        a, b = device.array(np.zeros(N, np.float32)), device.alloc(4 * N)
        for _ in range(500):
            self.call(device, run, add, a, b)
            self.call(device, run, add, b, a)
        assert (device.read(a, N) == 1000).all()
        device.free(a, 4 * N)
        device.free(b, 4 * N)


class TestReports:
    def call(self, device: Device, run: Program, check: object, a: int, limit: int) -> tuple[int, bool]:
        """The ticket, and whether it was a replay."""
        recording, status = device.begin(run, [a, a])
        if recording:
            report = library().xt_call_report()
            device.launch(check, [a, report], [4, limit, 7], (1, 1, 1))
            device.end()
        assert status.code == 0
        ticket = library().xt_call_ticket()
        assert ticket
        assert not library().xt_call_ticket()
        return ticket, not recording

    def answer(self, ticket: int) -> tuple[int, int, int, int]:
        status = Status()
        assert library().xt_ticket_wait(ticket, ctypes.byref(status)) == 0
        return status.code, status.site, status.index, status.size

    def test_a_report_is_read_when_it_is_asked_for(self, device: Device) -> None:
        run, check = program(reports=True), kernel(CHECK)
        a = device.array(np.array([1, 2, 30, 4], np.uint32))
        ticket, _ = self.call(device, run, check, a, 20)
        assert self.answer(ticket) == (1, 7, 30, 20)
        assert self.answer(ticket) == (1, 7, 30, 20)
        library().xt_ticket_retain(ticket)
        library().xt_ticket_release(ticket)
        library().xt_ticket_release(ticket)
        device.free(a, 16)

    def test_what_an_earlier_call_reported_is_not_told_again(self, device: Device) -> None:
        run, check = program(reports=True), kernel(CHECK)
        bad, good = np.array([1, 2, 30, 4], np.uint32), np.array([1, 2, 3, 4], np.uint32)
        a = device.array(bad)
        seen = []
        for i in range(6):
            device.write(a, bad if i % 2 == 0 else good)
            ticket, replay = self.call(device, run, check, a, 20)
            seen.append(replay)
            if i < 4:  # the last ones go unread
                assert self.answer(ticket)[0] == 1 - i % 2
            library().xt_ticket_release(ticket)
        assert seen == [False] + [True] * 5
        ticket, _ = self.call(device, run, check, a, 20)
        assert self.answer(ticket)[0] == 0
        library().xt_ticket_release(ticket)
        device.free(a, 16)

    def test_tickets_that_nobody_takes(self, device: Device) -> None:
        run, check = program(reports=True), kernel(CHECK)
        a = device.array(np.array([1, 2, 30, 4], np.uint32))
        replays = device.counters.replays
        for _ in range(300):
            recording, _ = device.begin(run, [a, a])
            if recording:
                device.launch(check, [a, library().xt_call_report()], [4, 20, 7], (1, 1, 1))
                device.end()
        assert device.counters.replays == replays + 299
        device.free(a, 16)

    def test_many_tickets_at_once(self, device: Device) -> None:
        run, check = program(reports=True), kernel(CHECK)
        arrays = [device.array(np.array([i, 0, 0, 0], np.uint32)) for i in range(100)]
        tickets = [self.call(device, run, check, a, 50)[0] for a in arrays]
        for i, ticket in reversed(list(enumerate(tickets))):
            assert self.answer(ticket) == ((1, 7, i, 50) if i >= 50 else (0, 0, 0, 0))
            library().xt_ticket_release(ticket)
        for a in arrays:
            device.free(a, 16)

    def test_who_checks_nothing_has_no_ticket(self, device: Device) -> None:
        a = device.array(values())
        device.begin(program(), [a, a])
        device.end()
        assert not library().xt_call_ticket()
        device.free(a, 4 * N)


class TestThreads:
    def test_calls_of_several_threads(self, device: Device) -> None:
        """A program of three kernels that share the arena, from four threads at once."""
        lib, add, run, wrong = library(), kernel(), program(), []

        def work(seed: int) -> None:
            mine = values(seed)
            for turn in range(40):
                a, b = device.array(mine), device.alloc(4 * N)
                recording, status = device.begin(run, [a, b])
                if recording:
                    scratch = lib.xt_call_arena(4 * N)
                    device.add(add, a, scratch, N, 1)
                    device.add(add, scratch, scratch, N, 2)
                    device.add(add, scratch, b, N, 3)
                    device.end()
                good = np.allclose(device.read(b, N), mine + 6, rtol=1e-5)
                if status.code or not good:
                    wrong.append((seed, turn))
                device.free(a, 4 * N)
                device.free(b, 4 * N)
                if turn % 16 == 5:
                    device.trim()

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong

    def test_errors_are_a_threads_own(self, device: Device) -> None:
        with pytest.raises(OSError, match="not memory of this device"):
            device.read(4096, 4)
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(error()))
        thread.start()
        thread.join()
        assert seen == [""]
        assert "not memory of this device" in error()
