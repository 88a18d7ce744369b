"""Starts of runs: one file a start. `solve.strategy.choose` says which of them a fit tries."""

from .base import Beginning, Setting, Start
from .batch import Batch
from .euclidean import Euclidean
from .named import Given, Named
from .projective import Projective
from .rows import OnRows
from .search import Search
from .surrogate import OnSurrogate

__all__ = ["Batch", "Beginning", "Euclidean", "Given", "Named", "OnRows", "OnSurrogate", "Projective", "Search", "Setting", "Start"]
