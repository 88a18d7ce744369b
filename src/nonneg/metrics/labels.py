"""Hard labels: the one component that each feature, or sample, belongs to."""

from __future__ import annotations

import numpy as np

_NOTHING = 1e-12
"""Share of the largest entry below which entries count as zero, which multiplicative rules never reach."""


def hard_labels(components: np.ndarray) -> np.ndarray:
    """The component with the largest entry for each feature; −1 if all are zero, but for rounding."""
    largest = components.max(axis=0)
    return np.where(largest > _NOTHING * largest.max(), components.argmax(axis=0), -1)
