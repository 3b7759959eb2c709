"""python -m xtensor.cli: the command `xtensor`."""

import sys

from . import main

sys.exit(main())
