#!/usr/bin/env python3
"""Make the description of a source distribution one that a package index shows: links lead to where the files are.

finish_sdist.py dist/xtensor_mlir-*.tar.gz
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

from finish_wheel import described


def main(archive: Path) -> None:
    finished = archive.with_suffix(".new")
    with tarfile.open(archive) as source, tarfile.open(finished, "w:gz") as target:
        for member in source:
            content = source.extractfile(member) if member.isfile() else None
            if content is not None and member.name.count("/") == 1 and member.name.endswith("/PKG-INFO"):
                text = described(content.read().decode()).encode()
                member.size, content = len(text), io.BytesIO(text)
            target.addfile(member, content)
    finished.replace(archive)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
