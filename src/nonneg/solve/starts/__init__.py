"""Where runs begin: one file a start, and `choose`, which names the starts to try."""

from .base import Beginning, Setting, Start
from .choosing import choose
from .surrogate import make_surrogate

__all__ = ["Beginning", "Setting", "Start", "choose", "make_surrogate"]
