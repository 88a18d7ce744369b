"""Reading components that are given and stay."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import read_array
from ..exceptions import DataError


def read_fixed_components(given: Any) -> np.ndarray:
    """`fixed_components`, checked: (n_fixed, n_features), non-negative, none of them zero everywhere."""
    values = read_array(given, "fixed_components")
    if not values.any(axis=1).all():
        raise DataError(f"fixed_components has rows that are zero everywhere: {np.flatnonzero(~values.any(axis=1)).tolist()}.")
    return values
