"""The fuzzer: ``python fuzz [AREA...] [--seconds S] [--calls N] [--seed S] [--case S:I] [--peer] [--table FILE]``."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from fuzz.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
