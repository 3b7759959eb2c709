"""Runs random programs against NumPy: `python test/fuzz/run.py --seconds 60`, `--seeds 0:300`, `--device vulkan`,
`--mode open`. Workers run many programs each; one that crashes or hangs costs one program. What fails is made small and
printed as a program to paste. Ends with 1 if something failed."""

from __future__ import annotations

import argparse
import collections
import os
import pickle
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
# Before the runtime is loaded: memory that nobody wrote is NaN, writes outside of results are errors.
os.environ.setdefault("XTENSOR_DEBUG_MEMORY", "1")
os.environ.setdefault("XTENSOR_VERIFY", "1")
os.environ["XTENSOR_CACHE_DIR"] = ""
PER_WORKER = 400  # programs of one process
LONGEST = 120.0  # seconds of one program
MOST_REDUCED = 10  # failures that are made small; of all others, the seeds are told


def metal() -> None:
    """What runs kernels for Metal where this is no Mac."""
    if sys.platform != "darwin":
        sys.path.insert(0, str(HERE.parents[1] / "python" / "helpers"))
        import metal_shim

        os.environ.setdefault("XTENSOR_METAL_LIBRARY", str(metal_shim.built()))


def prepare(device: str) -> None:
    if device != "cpu":
        import xtensor as xt

        xt._native.set_waiting(True)  # errors about indices come at the call


def verdict(case: Any) -> tuple[str, str]:
    """(kind, message): "done", "unknown", "refused", or a kind of failure."""
    import modes

    try:
        return modes.check(case), ""
    except modes.WrongError as error:
        text = str(error)
        found = re.search(r"\b(\w+Error)\b", text)
        return f"wrong: {found[1] if found else 'derivative' if 'derivative' in text else 'values'}", text
    except Exception as error:
        return f"wrong: {type(error).__name__}", str(error)[:500]


def work(seeds: Iterator[int], device: str, mode: str | None) -> None:
    """A worker: says each seed before it runs it."""
    import modes

    prepare(device)
    for seed in seeds:
        print(f"seed {seed}", flush=True)
        try:
            case = modes.case(seed, device, mode)
        except Exception as error:
            print(f"result {seed} maker wrong: maker {type(error).__name__} {str(error)[:200]!r}", flush=True)
            continue
        kind, message = verdict(case)
        print(f"result {seed} {case.mode} {kind} {message.splitlines()[0] if message else ''}", flush=True)


def serve(device: str) -> None:
    """Answers pickled cases with what they do."""
    prepare(device)
    sys.path.insert(0, str(HERE.parent))
    while True:
        size = sys.stdin.buffer.read(8)
        if len(size) < 8:
            return
        kind, _ = verdict(pickle.loads(sys.stdin.buffer.read(int.from_bytes(size, "little"))))
        print(f"answer {kind}", flush=True)


class Process:
    """Another process of this file, whose lines are read with a limit of time."""

    def __init__(self, arguments: list[str]) -> None:
        command = [sys.executable, "-X", "faulthandler", str(HERE), *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.rest = b""
        self.said: collections.deque[bytes] = collections.deque(maxlen=60)
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)

    def line(self) -> str | None:
        """None: it ended. Raises TimeoutError."""
        assert self.process.stdout
        end = time.monotonic() + LONGEST
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                self.process.wait()
                self.listener.join(5)
                return None
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


class Server:
    """Says what a case does, in a process that may crash."""

    def __init__(self, device: str) -> None:
        self.device, self.process = device, None

    def __call__(self, case: Any) -> str:
        if self.process is None:
            self.process = Process(["--serve", "--device", self.device])
        data = pickle.dumps(case)
        try:
            stdin = self.process.process.stdin
            assert stdin
            stdin.write(len(data).to_bytes(8, "little") + data)
            stdin.flush()
            while (line := self.process.line()) is not None:
                if line.startswith("answer "):
                    return line[7:].strip()
            kind = "crash"
        except BrokenPipeError:
            kind = "crash"
        except TimeoutError:
            kind = "hang"
        self.process.end()
        self.process = None
        return kind

    process: Process | None


class Run:
    """All workers and what they found."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.counts: collections.Counter[str] = collections.Counter()
        self.failures: list[tuple[int, str, str]] = []
        self.lock = threading.Lock()
        self.begin = time.monotonic()
        first, _, last = (options.seeds or f"{options.first}:").partition(":")
        self.next, self.last = int(first), int(last) if last else None

    def over(self) -> bool:
        late = self.options.seconds is not None and time.monotonic() - self.begin > self.options.seconds
        return late or (self.last is not None and self.next >= self.last)

    def chunk(self) -> range | None:
        with self.lock:
            if self.over():
                return None
            at, self.next = self.next, self.next + PER_WORKER
            if self.last is not None:
                share = -(-(self.last - at) // self.options.jobs)
                self.next = min(at + max(1, min(PER_WORKER, share)), self.last)
            return range(at, self.next)

    def failed(self, seed: int, mode: str, what: str) -> None:
        with self.lock:
            self.counts[f"{mode} failed"] += 1
            self.failures.append((seed, mode, what))
            print(f"seed {seed}: {mode}: {what}", flush=True)

    def watch(self) -> None:
        """Gives seeds to one worker after the other."""
        while (seeds := self.chunk()) is not None:
            at = seeds.start
            while at < seeds.stop:
                at = self.part(at, seeds.stop)

    def part(self, at: int, stop: int) -> int:
        """One process, up to its end: the seed to go on with."""
        o = self.options
        process = Process(["--work", f"{at}:{stop}", "--device", o.device, *(["--mode", o.mode] if o.mode else [])])
        seed = at
        try:
            while (line := process.line()) is not None:
                word, _, rest = line.partition(" ")
                if word == "seed":
                    seed = int(rest)
                elif word == "result":
                    _, mode, kind = rest.split(" ", 2)
                    if kind.startswith("wrong"):
                        self.failed(seed, mode, kind)
                    else:
                        with self.lock:
                            self.counts[f"{mode} {kind.strip()}"] += 1
                    at = seed + 1
                    if o.seconds is not None and time.monotonic() - self.begin > o.seconds:
                        process.end()
                        return stop
        except TimeoutError:
            process.end()
            self.failed(seed, o.mode or "any", f"hang: no end after {LONGEST:.0f} s")
            return seed + 1
        if process.process.returncode != 0 or at < stop:
            if seed < at:  # at the very end, after the last program
                seed = at - 1
            said = b"".join(process.said).decode(errors="replace")
            self.failed(seed, o.mode or "any", f"crash: exit {process.process.returncode}\n{said[-1500:]}")
            return max(seed + 1, at)
        return at

    def small(self) -> None:
        """Prints each failure as the smallest program that fails in its way."""
        import modes
        from program import pasted
        from reduce import reduced

        for seed, mode, what in self.failures[:MOST_REDUCED]:
            print(f"\n# seed {seed}, {mode}: {what}")
            if mode == "maker":
                continue
            case = modes.case(seed, self.options.device, None if mode == "any" else mode)
            server = Server(self.options.device)
            kind = server(case)
            if kind in ("done", "unknown", "refused"):
                print("# it does not fail alone: it hangs on what ran before it in its process")
            else:
                case = reduced(case, lambda c, server=server, kind=kind: server(c) == kind)  # type: ignore[misc]
                print(f"# {kind}; others: {[{n: a.sizes for n, a in o.items()} for o in case.others]}")
            if server.process:
                server.process.end()
            batch = case.others[0] if case.mode == "vectorize" and case.others else None
            print(pasted(case.program, case.how, batch), flush=True)

    def __call__(self) -> int:
        threads = [threading.Thread(target=self.watch) for _ in range(self.options.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        took = time.monotonic() - self.begin
        if self.failures:
            self.small()
        ran = sum(n for kind, n in self.counts.items())
        print(f"{ran} programs on {self.options.device} in {took:.0f} s, {len(self.failures)} failed")
        for kind, n in sorted(self.counts.items()):
            print(f"  {kind}: {n}")
        return 1 if self.failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seeds", help="FIRST:LAST")
    parser.add_argument("--first", type=int, default=int(time.time()) % 10**6 * 1000, help="the first seed")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--mode")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device == "metal":
        metal()
    if options.work:
        first, last = map(int, options.work.split(":"))
        work(iter(range(first, last)), options.device, options.mode)
        return 0
    if options.serve:
        serve(options.device)
        return 0
    if options.seconds is None and options.seeds is None:
        parser.error("say --seconds or --seeds")
    return Run(options)()


if __name__ == "__main__":
    sys.exit(main())
