"""Python's garbage collector while the package is imported."""

from __future__ import annotations

import gc


class Paused:
    """A block in which the collector does not run. An import makes tens of thousands of objects and no garbage, and the
    collector would look through them again and again: a tenth of the time of the import."""

    def __enter__(self) -> None:
        self.runs = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if not gc.get_freeze_count():
            # All objects count as old at once, as they would be by now, and the first collection leaves them out.
            gc.freeze()
            gc.unfreeze()
        if self.runs:
            gc.enable()
