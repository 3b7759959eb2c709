#!/usr/bin/env python3
"""Make a wheel that any Linux of its age can install from the one that pip has built.

    finish_wheel.py build/wheels/raw/xtensor_mlir-*.whl dist [FOLDER OF OPENBLAS]

Symbols for debuggers go into an archive beside the wheel, which is unpacked over an installed package. OpenBLAS comes
into the wheel, and is no dependency of it any more. So do the licences of all that is linked. The
description loses links that work only in the repository. auditwheel checks what the wheel still needs of the system,
and names the wheel after it. XTENSOR_DRAFT=1 skips the slow compression, which
makes the wheel 3% smaller.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

# Debian's packages whose files are in a wheel, and Python's.
LINKED = ("libhwy-dev", "libmlir-22-dev", "libzstd-dev", "libspirv-cross-c-shared0")
LARGEST = 50e6  # bytes
# A picture or a link whose address is a path.
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")
# The interface of JAX's foreign functions is compiled in where JAX is installed.
BUNDLED = ("scipy-openblas32", "nanobind", *(["jaxlib"] if find_spec("jaxlib") else []))


def run(*command: str | Path, **options: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def split_symbols(package: Path, into: Path) -> None:
    """From each library and program into FILE.debug, which debuggers find beside it."""
    with tarfile.open(into, "w:xz", preset=1) as archive:
        for file in sorted(p for p in package.rglob("*") if p.is_file() and not p.is_symlink()):
            with file.open("rb") as head:
                if head.read(4) != b"\x7fELF":
                    continue
            symbols = Path(f"{file}.debug")
            run("llvm-objcopy-22", "--only-keep-debug", file, symbols)
            run("llvm-objcopy-22", "--strip-unneeded", f"--add-gnu-debuglink={symbols}", file)
            archive.add(symbols, symbols.relative_to(package))
            symbols.unlink()


def notice_of_ducc() -> str:
    """The holders of the rights in DUCC's headers, and the licence that all of them begin with (scripts/fetch_ducc.py
    takes no others)."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("fetch_ducc.py"))], capture_output=True, text=True, check=True
    )
    texts = [file.read_text() for file in sorted(Path(done.stdout.strip()).rglob("*.h"))]
    holders = {line.strip() for text in texts for line in re.findall(r"^ *\*? *(Copyright \(C\).*)$", text, re.M)}
    (licence,) = {found[0] for text in texts if (found := re.search(r"All rights reserved\..*?DAMAGE\.", text, re.S))}
    return "\n".join(["DUCC, Fourier transforms", *sorted(holders), "", licence, ""])


def add_licences(package: Path) -> None:
    (licences,) = package.glob("*.dist-info/licenses")
    (licences / "LICENSE.ducc").write_text(notice_of_ducc())
    for name in LINKED:
        source = Path("/usr/share/doc") / name / "copyright"
        if source.exists():
            shutil.copy(source, licences / f"LICENSE.{name}")
    for name in BUNDLED:
        for number, file in enumerate(f for f in distribution(name).files or () if "LICENSE" in f.name):
            shutil.copy(str(file.locate()), licences / f"LICENSE.{name}{number or ''}")


def forget_openblas(package: Path) -> None:
    (metadata,) = package.glob("*.dist-info/METADATA")
    text = re.sub(r"^Requires-Dist: scipy-openblas32\b.*\n", "", metadata.read_text(), flags=re.M)
    metadata.write_text(text)


def outside(text: str, source: str | None) -> str:
    """A page of the repository as a package index shows it. Links to files lead to `source`, where the files are. If it
    is not known, only the texts of links and pictures are left."""

    def rewritten(link: re.Match[str]) -> str:
        is_picture, words, path = link.groups()
        if source:
            return f"{is_picture}[{words}]({source}/{'raw' if is_picture else 'blob'}/{path})"
        return f"(Picture: {words}.)" if is_picture else words

    return LINK.sub(rewritten, text)


def described(metadata: str) -> str:
    """Metadata whose description is README.md, which has relative links, with links for a package index."""
    head, _, text = metadata.partition("\n\n")
    url = re.search(r"^Project-URL: Source, (\S+)$", head, re.M)
    return f"{head}\n\n{outside(text, url and url[1])}"


def describe(package: Path) -> None:
    (metadata,) = package.glob("*.dist-info/METADATA")
    metadata.write_text(described(metadata.read_text()))


def main(raw: Path, dist: Path, openblas: Path | None = None) -> None:
    dist.mkdir(exist_ok=True)
    python = sys.executable
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        run(python, "-m", "wheel", "unpack", "-d", work, raw)
        (package,) = work.iterdir()
        split_symbols(package, dist / f"{raw.stem}-symbols.tar.xz")
        add_licences(package)
        forget_openblas(package)
        describe(package)
        run(python, "-m", "wheel", "pack", "-d", work, package)
        (packed,) = work.glob("*.whl")
        if openblas is None:
            openblas = Path(str(distribution("scipy-openblas32").locate_file("scipy_openblas32/lib")))
        repaired = work / "repaired"
        run(python, "-m", "auditwheel", "repair", "-z", "9", "-w", repaired, "--ldpaths", openblas, packed)
        (wheel,) = repaired.glob("*.whl")
        if "manylinux" not in wheel.name:
            sys.exit(f"auditwheel does not call {wheel.name} a manylinux wheel")
        if os.environ.get("XTENSOR_DRAFT") != "1":
            run("advzip", "--recompress", "-3", wheel)
            if wheel.stat().st_size > LARGEST:
                sys.exit(f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB, {LARGEST / 1e6:.0f} at most")
        shutil.move(wheel, dist / wheel.name)
        print(f"dist/{wheel.name}: {(dist / wheel.name).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
