"""``python -m nonneg`` is the command line."""

from .cli import main

main()
