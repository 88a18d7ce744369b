"""The profile of data: size, storage and operations, as far as they are known without a pass out of core."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Need(Enum):
    """What a model may need of X; data say which of these they give."""

    ROW_GRAM = "X Xᵀ"
    COLUMN_GRAM = "Xᵀ X"
    PRODUCTS = "products with X"
    SIGNED_PRODUCTS = "products with X⁺ and X⁻"
    ENTRIES = "its entries"


@dataclass(frozen=True)
class Profile:
    """Size, storage and operations of data: the choice of a strategy depends on nothing else of them.

    Sides are given by a bool: False for the rows of X and X Xᵀ, True for the columns and Xᵀ X.
    """

    shape: tuple[int, int]
    dtype: Any
    storage: str = "dense"
    """How entries are stored, in a word."""
    gives: frozenset[Need] = frozenset(Need)
    non_zeros: int = 0
    """Non-zero entries; stored entries of data out of core, which are counted by a pass only."""
    has_negatives: bool = False
    """Whether entries are negative; of data out of core, whether they may be."""
    weighted: bool = False
    """Whether entries have weights, 0 where a value is missing."""
    out_of_core: bool = False
    """Whether X is in files or on a cluster, so that a pass takes long."""
    on_host: bool = True
    """Whether arrays are NumPy's, which compiled kernels take."""
    is_single: bool = False
    """Whether they are NumPy's, and float32."""
    gram_size: float = math.inf
    """Entries read by a product with X Xᵀ, for data given by it."""
    formed_grams: frozenset[bool] = frozenset()
    """Sides of Gram matrices that are there as arrays."""
    one_pass_grams: frozenset[bool] = frozenset((False, True))
    """Sides of Gram matrices that one pass forms."""
    swept_sides: frozenset[bool] = frozenset((False, True))
    """Sides whose items `sweep` visits one by one."""
    swept_weights: bool = False
    """Whether `sweep_rows` visits rows with the weights of their entries."""
    has_items: bool = True
    """Whether `take` gives single rows and columns."""
