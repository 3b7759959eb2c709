#!/usr/bin/env python3
"""Fetch the headers of DUCC's Fourier transforms, which the runtime is built with.

They come from the source distribution of the Python package ducc0, checked against a known SHA-256, and are kept in a
cache folder outside of the tree. These files are under the 3-clause BSD licence. A source distribution of ours has them
inside (scripts/sdist.sh), and fetches nothing. Prints the folder to include.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "0.40.0"
SHA256 = "345a6141a2a5843e141cedb8c4fec80037020515a2c73d3abe487baca37c6048"
INSIDE = Path(__file__).resolve().parent.parent / "fetched" / "ducc"
WANTED = ("ducc0/fft/", "ducc0/infra/", "ducc0/math/")


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "xtensor" / "ducc"


def download(into: Path) -> Path:
    """The source distribution, by pip. It is not built: pip asks its build system for its name only."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
               "--no-build-isolation", "--no-binary=ducc0", f"ducc0=={VERSION}", "-d", str(into)]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    found = sorted(into.glob("ducc0-*.tar.gz"))
    if done.returncode != 0 or not found:
        said = "\n".join(done.stderr.strip().splitlines()[-2:])
        sys.exit(f"DUCC {VERSION}, for Fourier transforms, cannot be downloaded. Is there a network?\n{said}")
    digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{found[0].name} has SHA-256 {digest}, expected {SHA256}")
    return found[0]


def extract(archive: Path, into: Path) -> None:
    """The wanted files that are under the BSD licence, too; others are under the GPL alone."""
    with tarfile.open(archive) as files:
        for member in files:
            _, _, name = member.name.partition("/src/")
            if not member.isfile() or not name.startswith(WANTED):
                continue
            text = files.extractfile(member).read()  # type: ignore[union-attr]
            if b"SPDX-License-Identifier: BSD-3-Clause" not in text:
                continue
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)


def main() -> None:
    name = f"{VERSION}-{SHA256[:12]}"
    home = (INSIDE if (INSIDE / name).is_dir() else cache_root()) / name
    if not (home / "ducc0" / "fft" / "fft.h").exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            work, ready = Path(scratch) / "download", Path(scratch) / "ready"
            work.mkdir(), ready.mkdir()
            print(f"fetching the sources of DUCC {VERSION}", file=sys.stderr)
            extract(download(work), ready)
            shutil.rmtree(home, ignore_errors=True)
            ready.rename(home)
    print(home)


if __name__ == "__main__":
    main()
