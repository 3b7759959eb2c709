"""Fail when a link of a Markdown page points to a file that does not exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)  # f[i](x) in it is no link


def main() -> None:
    pages = subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    broken = [
        f"{page}: {target}"
        for page in pages
        for target in LINK.findall(CODE.sub("", Path(page).read_text()))
        if "://" not in target and not (Path(page).parent / target).exists()
    ]
    if broken:
        sys.exit("links that lead nowhere:\n  " + "\n  ".join(broken))
    print(f"links of {len(pages)} pages resolve")


if __name__ == "__main__":
    main()
