"""Speed beside peers, growth and memory: ``python benchmarks [GROUP...] [--json PATH] [--plot PATH] [--quick] [--show]``."""

import sys

from _command import main

sys.exit(main(sys.argv[1:]))
