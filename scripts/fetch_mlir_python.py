#!/usr/bin/env python3
"""Fetch the sources of MLIR's own Python bindings for the MLIR that is installed, or for another release.

    fetch_mlir_python.py [22.1.8]

Debian ships libMLIR without its Python bindings. This script takes their sources (mlir/python and
mlir/lib/Bindings/Python) from the Debian source package of the same release. It compares the
package with a known SHA-256, keeps the sources in a cache folder outside of the tree, and prints
that folder. A source distribution of ours has them inside (scripts/sdist.sh), and fetches nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

# Upstream release -> SHA-256 of Debian's orig tarball.
KNOWN = {"22.1.8": "b49b9277aef97616320b2da259e1f8174c65b0ce2fbe2e8629644a97693402fe"}
PACKAGE = "llvm-toolchain-22"
INSIDE = Path(__file__).resolve().parent.parent / "fetched" / "mlir-python"
WANTED = ("mlir/python/", "mlir/lib/Bindings/Python/")
# Raise when `trim` changes, so that caches made before are not taken.
REVISION = 1


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "xtensor" / "mlir-python"


def wanted_release() -> str:
    """Of the MLIR that is installed, or else of the one that would be."""
    there = _output("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "libmlir-22-dev")
    coming = re.search(r"Candidate: (\S+)", _output("apt-cache", "policy", "libmlir-22-dev"))
    version = there.split()[1] if there.startswith("installed ") else coming[1] if coming else "(none)"
    if version == "(none)":
        sys.exit("libmlir-22-dev is not installed: apt-get install libmlir-22-dev")
    match = re.match(r"(?:\d+:)?(\d+\.\d+\.\d+)", version)
    if not match:
        sys.exit(f"cannot read a release from the version {version!r}")
    return match.group(1)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def run(*command: str, cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def archive_sites(cwd: Path) -> list[str]:
    out = run("apt-get", "indextargets", "--format", "$(SITE)", cwd=cwd)
    return list(dict.fromkeys(line for line in out.split() if line))


def download(release: str, into: Path) -> Path:
    """The orig tarball, through a private apt configuration: the machine's own is not touched."""
    lists = into / "lists"
    (lists / "partial").mkdir(parents=True)
    sources = into / "sources.list"
    codename = "bookworm"
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            codename = line.partition("=")[2].strip('"')
    suites = [codename, f"{codename}-updates", "trixie", "sid"]
    lines = []
    for site in archive_sites(into):
        if site.rstrip("/").endswith("security") or "security" in site:
            lines.append(f"deb-src {site} {codename}-security main")
        else:
            lines += [f"deb-src {site} {suite} main" for suite in suites]
    sources.write_text("\n".join(lines) + "\n")
    options = [
        "-o", f"Dir::Etc::sourcelist={sources}",
        "-o", "Dir::Etc::sourceparts=-",
        "-o", f"Dir::State::Lists={lists}",
        "-o", f"Dir::Cache={into}",
        "-o", "APT::Sandbox::User=",
        # A stale mirror of another suite does not matter: the checksum is checked.
        "-o", "Acquire::Check-Valid-Until=false",
    ]  # fmt: skip
    update = subprocess.run(
        ["apt-get", *options, "-qq", "update"], cwd=into, check=False, capture_output=True, text=True
    )
    shown = subprocess.run(
        ["apt-cache", *options, "showsrc", PACKAGE], cwd=into, check=False, capture_output=True, text=True
    ).stdout  # nothing, without lists
    versions = re.findall(r"^Version: (\S+)", shown, re.M)
    candidates = [v for v in dict.fromkeys(versions) if re.match(rf"(?:\d+:)?{release}-", v)]
    said = [update.stderr]
    for version in candidates:
        done = subprocess.run(
            ["apt-get", *options, "-qq", "source", "--download-only", "--tar-only", f"{PACKAGE}={version}"],
            cwd=into, check=False, capture_output=True, text=True,
        )  # fmt: skip
        found = sorted(into.glob(f"{PACKAGE}_*{release}*.orig.tar.*"))
        if done.returncode == 0 and found:
            return found[0]
        said.append(done.stderr)
    found_instead = f", only of {', '.join(versions)}" if versions else ""
    sys.exit(
        f"The sources of MLIR {release} cannot be fetched: the archives of this system have no source package "
        f"{PACKAGE} of it{found_instead}. Is there a network, or a proxy (Acquire::http::Proxy)?\n" + "".join(said)
    )


def check(tarball: Path, release: str) -> None:
    digest = hashlib.sha256()
    with tarball.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    expected = KNOWN.get(release)
    if expected is None:
        sys.exit(
            f"MLIR {release} is not known: its source has SHA-256 {digest.hexdigest()}; "
            f"if you trust it, add it to KNOWN in {__file__}"
        )
    if digest.hexdigest() != expected:
        sys.exit(f"{tarball.name} has SHA-256 {digest.hexdigest()}, expected {expected}")


def extract(tarball: Path, into: Path) -> None:
    """The two wanted folders, without the tarball's own top folder."""
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        with tarfile.open(tarball) as probe:
            top = probe.next().name.split("/")[0]
        subprocess.run(
            ["tar", "-xf", str(tarball), "-C", scratch, "--strip-components=1",
             *(f"{top}/{folder.rstrip('/')}" for folder in WANTED)],
            check=True,
        )  # fmt: skip
        for folder in ("python", "lib"):
            shutil.move(Path(scratch) / "mlir" / folder, into / folder)


def trim(cmakelists: Path) -> None:
    """Reduce mlir/python/CMakeLists.txt to its declarations, for use outside of LLVM's tree."""
    text = cmakelists.read_text()

    def cut(start: str, end: str | None) -> None:
        nonlocal text
        first = text.index(start)
        text = text[:first] + (text[text.index(end, first) :] if end else "")

    # What is instantiated at the end is instantiated by our own CMakeLists.txt instead.
    cut("#" * 80 + "\n# Common CAPI dependency DSO.", None)
    # The test dialect is not part of a release.
    cut(
        "# TODO: Figure out how to put this in the test tree.",
        "declare_mlir_python_extension(MLIRPythonExtension.MLIRPythonSupport",
    )
    # One copy of LLVM in the process: the shared one.
    text = re.sub(r"\bLLVMSupport\b", "LLVM", text)
    # Headers are not shipped, and ODS files are the installed ones.
    text = re.sub(r"declare_mlir_python_sources\(MLIRPythonCAPI\.HeaderSources.*?\n\)\n", "", text, flags=re.S)
    text = text.replace('"../../include/mlir/', '"${XTENSOR_MLIR_TD}/mlir/')
    text = re.sub(r"set\(MLIRPythonModules_ROOT_PREFIX[^\n]*\n", "", text)
    text = text.replace(
        'set(PYTHON_SOURCE_DIR "${MLIR_SOURCE_DIR}/lib/Bindings/Python")',
        'set(PYTHON_SOURCE_DIR "${CMAKE_CURRENT_SOURCE_DIR}/../lib/Bindings/Python")',
    )
    cmakelists.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "release", metavar="RELEASE", nargs="?", help="for example 22.1.8; by default the installed one"
    )
    release = parser.parse_args().release or wanted_release()
    name = f"{release}-{KNOWN.get(release, 'unknown')[:12]}-{REVISION}"
    home = (INSIDE if (INSIDE / name).is_dir() else cache_root()) / name
    if not (home / "python" / "CMakeLists.txt").exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            work, ready = Path(scratch) / "download", Path(scratch) / "ready"
            work.mkdir(), ready.mkdir()
            print(f"fetching the sources of MLIR {release}'s Python bindings", file=sys.stderr)
            tarball = download(release, work)
            check(tarball, release)
            extract(tarball, ready)
            trim(ready / "python" / "CMakeLists.txt")
            shutil.rmtree(home, ignore_errors=True)
            ready.rename(home)
    print(home)


if __name__ == "__main__":
    main()
