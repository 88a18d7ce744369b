"""Hard labels: the one component that each feature, or sample, belongs to."""

from __future__ import annotations

import numpy as np

_NOTHING = 1e-12
"""What an entry is at most, beside the largest of all, that stands for none: multiplicative rules never come to zero."""


def hard_labels(components: np.ndarray) -> np.ndarray:
    """The component with the largest entry for each feature; −1 where all are zero, but for rounding."""
    largest = components.max(axis=0)
    return np.where(largest > _NOTHING * largest.max(), components.argmax(axis=0), -1)
