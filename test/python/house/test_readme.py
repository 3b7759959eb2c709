"""README.md says the same on the page of a package index, where its relative links would lead nowhere."""

from __future__ import annotations

import io
import re
import sys
import tarfile
from pathlib import Path

import pytest
from places import ROOT

sys.path.append(str(ROOT / "scripts"))
import finish_sdist
import finish_wheel

README = (ROOT / "README.md").read_text()
ADDRESSES = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "xtensor_mlir-1.0.dist-info"
    folder.mkdir()
    return folder


def test_without_an_address_texts_are_left(package: Path) -> None:
    (package / "METADATA").write_text(f"Metadata-Version: 2.4\nName: xtensor-mlir\n\n{README}")
    finish_wheel.describe(package.parent)
    head, _, text = (package / "METADATA").read_text().partition("\n\n")
    assert head == "Metadata-Version: 2.4\nName: xtensor-mlir"
    assert ADDRESSES.findall(README) and ADDRESSES.findall(text) == []
    assert "[" not in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
    assert len(re.findall(r"\(Picture: ", text)) == len(re.findall(r"!\[", README)) == 3


def test_links_lead_to_the_address_of_the_sources(package: Path) -> None:
    url = "https://example.org/xtensor"
    (package / "METADATA").write_text(f"Name: xtensor-mlir\nProject-URL: Source, {url}\n\n{README}")
    finish_wheel.describe(package.parent)
    addresses = ADDRESSES.findall((package / "METADATA").read_text())
    assert len(addresses) == len(ADDRESSES.findall(README))
    assert f"{url}/blob/docs/tour.md" in addresses and f"{url}/raw/docs/pictures/speed.png" in addresses
    for address in addresses:
        assert (ROOT / re.sub(rf"{url}/(blob|raw)/", "", address).partition("#")[0]).exists()


def test_a_source_distribution_has_them_too(tmp_path: Path) -> None:
    archive = tmp_path / "xtensor_mlir-1.0.tar.gz"
    metadata = f"Metadata-Version: 2.4\nName: xtensor-mlir\n\n{README}".encode()
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("xtensor_mlir-1.0/PKG-INFO", "xtensor_mlir-1.0/README.md"):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(metadata), 0o640
            tar.addfile(member, io.BytesIO(metadata))
    finish_sdist.main(archive)
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        info, readme = (part.read() for part in map(tar.extractfile, members) if part is not None)
    assert [member.mode for member in members] == [0o640, 0o640]
    assert ADDRESSES.findall(info.decode()) == [] and readme == metadata
    assert [path.name for path in tmp_path.iterdir()] == [archive.name]


def test_other_addresses_stay() -> None:
    text = "[a](https://example.org/a.md) [b](#b)"
    assert finish_wheel.outside(text, None) == text


def test_it_says_what_it_is_in_five_lines() -> None:
    _, what, following, *_ = re.split(r"\n\n(?=\S)", README)
    assert len(what.splitlines()) <= 5 and following == "## Install"
