"""Fisher's discriminants with non-negative weights, and the Rayleigh quotient over w ≥ 0 that they are made of."""

from .classifiers import NonnegativeKernelFDA, NonnegativeLDA

__all__ = ["NonnegativeKernelFDA", "NonnegativeLDA"]
