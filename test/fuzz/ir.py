"""Changed programs of the IR tests, for as long as one likes: `python test/fuzz/ir.py --seconds 60`. The changes and
what counts as a crash are those of test_malformed_ir.py, which runs some in every test session. Profiles of devices
are changed, too."""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path

sys.path.extend(str(Path(__file__).resolve().parents[1] / "python" / room) for room in ("", "helpers", "compiler"))

import test_malformed_ir as ir

AT_ONCE = 40  # programs of one process
WORDS = (ir.ROOT / "passes" / "GPU" / "library" / "profile.def").read_text()
FEATURES = (*re.findall(r"^FEATURE\((\w+)\)", WORDS, re.M), "nvidia", "amd", "intel", "apple", "software")
NUMBERS = re.findall(r"^NUMBER\((\w+)\)", WORDS, re.M)
VALUES = (-1, 0, 1, 2, 7, 8, 16, 32, 64, 90, 1024, 32768, 1 << 40)


def profile(rng: random.Random) -> str:
    """A device, mostly of words that there are."""
    words = rng.sample(FEATURES, rng.randint(0, len(FEATURES)))
    words += [f"{rng.choice(NUMBERS)}={rng.choice(VALUES)}" for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.05:
        words.append(rng.choice(("zz", "f64=1", "subgroup", "")))
    rng.shuffle(words)
    return ",".join([rng.choice(("vulkan", "vulkan", "metal", "cuda")), *words])


def options(rng: random.Random, own: list[list[str]]) -> list[str]:
    """How a program is run: as its test does, by any other pass, or for a device of any profile."""
    how = rng.random()
    if own and how < 0.5:
        return rng.choice(own)
    if how < 0.75:
        return [rng.choice(ir.FOREIGN)]
    phase = rng.choice(("gpu", "spirv", "msl", "ptx"))
    return [f"--xtensor-to-{phase}=target={profile(rng)}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    begin, ran, failed = time.monotonic(), 0, 0
    texts = {path: (ir.options_of(path.read_text()), ir.programs_of(path)) for path in ir.FILES}
    files = [path for path, (_, programs) in texts.items() if programs]
    while time.monotonic() - begin < arguments.seconds:
        own, programs = texts[rng.choice(files)]
        chosen = options(rng, own)
        some = [ir.changed(rng.choice(programs), rng) for _ in range(AT_ONCE)]
        if any(o.startswith(("--compile-to", "--xtensor-to")) for o in chosen):
            some = [ir.with_main(p) for p in some]
        ran += len(some)
        found = ir.crashes(chosen, some)
        if found is not None:
            failed += 1
            print(found, flush=True)
    print(f"{ran} programs in {time.monotonic() - begin:.0f} s from seed {arguments.seed}, {failed} crashes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
