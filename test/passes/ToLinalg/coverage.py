"""Checks that every op of the dialect that is no derivative occurs in a test of this folder, all of which run through
xtensor-verify-linalg: an op without a lowering fails there, an op without a test here. Used by coverage.mlir."""

import re
import sys
from pathlib import Path

# Gone before this phase (not-lowered.mlir holds what happens otherwise), or made after it.
ELSEWHERE = {
    "apply", "bits", "checkpoint", "custom_derivative", "linear", "pullback", "pushforward", "transposed", "vectorize",
    "yield",
}  # fmt: skip


def main(dialect: Path, tests: Path) -> int:
    ops = set()
    for file in dialect.glob("*Ops.td"):
        ops |= set(re.findall(r'def XTensor_\w+Op\s*:\s*XTensor_\w*Op<\s*"(\w+)"', file.read_text()))
    text = "\n".join(f.read_text() for f in tests.glob("*.mlir") if "--xtensor-to-linalg" in f.read_text())
    tested = set(re.findall(r"\bxtensor\.(\w+)", text))
    missing = sorted(ops - ELSEWHERE - tested)
    for op in missing:
        print(f"xtensor.{op} has no test of its lowering")
    print(f"{len(ops)} ops, {len(missing)} without a test")
    return bool(missing) or len(ops) < 60


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
