"""Trains the model of examples/digits.py, compiles it into a bundle, and writes some pictures of the test set.

    python export.py digits.xtb pictures [TARGET ..]

The trained weights are baked in; the number of pictures is left open.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import xtensor as xt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import digits


def write_picture(path: Path, pixels: np.ndarray) -> None:
    """64 numbers from 0 to 1 as a PGM file of 16 shades, as the scans have."""
    values = np.rint(pixels * 16).astype("u1")
    path.write_bytes(b"P5\n8 8\n16\n" + values.tobytes())


def main(bundle: str, pictures: str, *targets: str) -> None:
    data = digits.load()
    params, _ = digits.train(data, epochs=5)

    def logits(image: xt.Array) -> xt.Array:
        """Scores of the ten digits: image(sample, pixel) -> (sample, digit)"""
        return digits.logits(params, image)

    image = xt.spec(sample=None, pixel=64, dtype="f4")
    exported = xt.export(logits, args=(image,), targets=targets or ("cpu",), path=bundle, blas=None)
    print(f"{bundle}: {exported!r}")
    out = Path(pictures)
    out.mkdir(parents=True, exist_ok=True)
    for i, row in enumerate(data.test[:20]):
        write_picture(out / f"{i}.pgm", data.pixels[row])


if __name__ == "__main__":
    main(*sys.argv[1:])
