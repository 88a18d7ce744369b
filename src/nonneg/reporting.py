"""Progress on long work: the public names of `nonneg.solve.progress`."""

from .solve.progress import LinePrinter, Listener, Listeners, current_listener, listening, print_progress

__all__ = ["LinePrinter", "Listener", "Listeners", "current_listener", "listening", "print_progress"]
