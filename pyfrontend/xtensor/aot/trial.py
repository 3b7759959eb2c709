"""The process that tries a bundle from an author that is not trusted (foreign.py): its limits and its answers."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

from ..base import errors
from ..base.errors import Error
from ..ir.context import compiler
from .load import loaded
from .manifest import File

# Half of what a thread has here.
_STACK = 4 << 20


def main() -> None:
    """In the process that tries: the kind and the text of an error, or two empty texts."""
    seconds, most, target, function, where = sys.argv[1:]
    data = sys.stdin.buffer.read()
    found = ["", ""]

    def run() -> None:
        try:
            loaded(File(data, where), target or None, function or None, native=False, tried=True)
        except Error as error:
            found[:] = [next(c.__name__ for c in type(error).__mro__ if hasattr(errors, c.__name__)), error.parts[0]]

    compiler()
    _limit(int(seconds), int(most))
    threading.stack_size(_STACK)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    print(json.dumps(found), flush=True)
    os._exit(0)


def _limit(seconds: int, most: int) -> None:
    import resource  # systems without it do not start such processes

    there = 0
    if sys.platform == "linux":
        there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: seconds, resource.RLIMIT_AS: there + most}
    for what, limit in limits.items():
        _, hard = resource.getrlimit(what)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(what, (least, least))
