"""Factors of either sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import Constraint, Entrywise


@dataclass(frozen=True)
class EitherSign(Constraint):
    """Any real matrix: the F of Semi-NMF, X ≈ F Gᵀ with G ≥ 0 and X of either sign (Ding, Li and Jordan 2010; QNMF §2).

    For the Euclidean distance and a factor with one occurrence. It has no multiplicative rule: for A F B, every solver takes the
    least-squares F, AᵀA F B Bᵀ = AᵀX Bᵀ. The rules of other factors split matrices of either sign into positive and negative parts.

    See Also
    --------
    Free : Non-negative, nothing more.
    nonneg.SemiNMF : An estimator with a factor of either sign.

    Examples
    --------
    >>> from nonneg import Model
    >>> print(Model("F G.T", constraints={"F": "signed"}))
    minimise  ½‖X − F Gᵀ‖²
    over      F of either sign; G ≥ 0
    <BLANKLINE>
    F solves F Gᵀ G = X G
        Semi-NMF: QNMF §2 (Ding, Li, Jordan 2010)
    <BLANKLINE>
    G ← G ∘ [((Xᵀ F)⁺ + G (Fᵀ F)⁻) / ((Xᵀ F)⁻ + G (Fᵀ F)⁺)]^(1/2)
        Semi-NMF: QNMF §2 (Ding, Li, Jordan 2010)
    """

    theorem: ClassVar[str] = "least squares (Ding, Li, Jordan 2010)"
    is_signed: ClassVar[bool] = True
    any_scale: ClassVar[bool] = True
    restores_fully: ClassVar[bool] = True

    @property
    def on_new_rows(self) -> EitherSign:
        return self

    @property
    def entrywise(self) -> Entrywise:
        return Entrywise()

    def text(self, factor: str) -> str:
        return f"{factor} of either sign"
