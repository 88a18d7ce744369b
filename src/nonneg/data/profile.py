"""The costs that a kind of data declares, and the profile of data: all that the choice of a strategy depends on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from ..exceptions import IncompatibleError

BOTH = frozenset((False, True))


class Need(Enum):
    """A model's need of X; data declare which needs they serve."""

    ROW_GRAM = "X Xᵀ"
    COLUMN_GRAM = "Xᵀ X"
    PRODUCTS = "products with X"
    SIGNED_PRODUCTS = "products with X⁺ and X⁻"
    ENTRIES = "its entries"


_OTHER = {Need.ROW_GRAM: Need.COLUMN_GRAM, Need.COLUMN_GRAM: Need.ROW_GRAM}


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Declaration of a kind of data: how entries are stored, what they serve, and which passes are cheap.

    Sides are given by a bool: False for the rows of X and X Xᵀ, True for the columns and Xᵀ X.
    """

    storage: str = "dense"
    """How entries are stored, in a word."""
    gives: frozenset[Need] = frozenset(Need)
    refusal: str = ""
    """The sentence for a need that is not served."""
    weighted: bool = False
    """Whether entries have weights, 0 for missing values."""
    out_of_core: bool = False
    """Whether X is in files or on a cluster, so that a pass takes long."""
    is_array: bool = False
    """Whether X is one dense array, in memory or on a device."""
    bounded: bool = True
    """Whether divergences are at least zero; not so from a similarity that is no kernel."""
    has_items: bool = True
    """Whether `take` gives single rows and columns."""
    mixed_precision: bool = True
    """Whether Newton's method may have factors in single precision beside X in double precision."""
    gram_size: float = math.inf
    """Entries read by a product with X Xᵀ, for data given by it."""
    formed_grams: frozenset[bool] = frozenset()
    """Sides of Gram matrices that are there as arrays."""
    one_pass_grams: frozenset[bool] = BOTH
    """Sides of Gram matrices that one pass forms."""
    swept_sides: frozenset[bool] = BOTH
    """Sides whose items `sweep` visits one by one."""
    swept_weights: bool = False
    """Whether `sweep_rows` visits rows with the weights of their entries."""

    @property
    def T(self) -> Costs:
        """The costs of Xᵀ."""
        return Costs(
            storage=self.storage,
            gives=frozenset(_OTHER.get(need, need) for need in self.gives),
            refusal=self.refusal,
            weighted=self.weighted,
            out_of_core=self.out_of_core,
            one_pass_grams=frozenset(not side for side in self.one_pass_grams),
            swept_sides=frozenset(not side for side in self.swept_sides),
            swept_weights=self.swept_weights,
        )

    def refuse(self, missing: Iterable[Need]) -> IncompatibleError:
        """The error for a model with needs that are not served."""
        needs = " and ".join(sorted(need.value for need in missing))
        return IncompatibleError(self.refusal or f"The data do not give {needs}, which this needs.")


@dataclass(frozen=True, kw_only=True)
class Profile(Costs):
    """Costs, size and extremes of data, without entries."""

    shape: tuple[int, int]
    dtype: Any
    non_zeros: int = 0
    """Non-zero entries; stored entries of data out of core, which are counted by a pass only."""
    has_negatives: bool = False
    """Whether entries are negative; False of data out of core, since it takes a pass."""
    on_host: bool = True
    """Whether arrays are NumPy's, which compiled kernels take."""
    is_single: bool = False
    """Whether they are NumPy's, and float32."""
    device: str = ""
    """The device, the precision there, and what a pass over X takes, in words; empty for main memory."""

    @classmethod
    def of(cls, data: Any) -> Profile:
        """The profile of data, without a pass out of core."""
        from .device import describe

        costs, namespace = data.costs, data.namespace
        card = getattr(data, "card", namespace)
        declared = {field.name: getattr(costs, field.name) for field in fields(Costs)}
        return cls(
            **declared | {"swept_sides": costs.swept_sides if namespace.is_host else frozenset()},
            shape=data.shape,
            dtype=namespace.dtype,
            non_zeros=data.size if costs.out_of_core else data.facts.non_zeros,
            has_negatives=not costs.out_of_core and data.facts.lowest < 0,
            on_host=namespace.is_host,
            is_single=namespace.is_single,
            device="" if card.is_host else describe(data, card),
        )
