"""X ≈ W H: the factorization of Lee and Seung, with any divergence, and with a penalty on the codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..constraints import Constraint, Free, PartlyFixed, Sparse, Unit
from ..engine.model import Model
from ..exceptions import IncompatibleError
from ..naming import is_number
from ..solvers import Multiplicative
from ._base import Factorizer
from ._coclusters import DESCRIBED, Coclusters
from ._documentation import documented
from ._fixed import read_fixed_components
from ._parameters import Protocol


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NMF(Coclusters, Factorizer):
    r"""Non-negative matrix factorization, X ≈ W H.

    .. math:: \min_{W, H \ge 0} D(X \| W H)

    Each sample (row of X) is a sum of components (rows of H), as much of each as its code (row of W) says. `fit_transform` equals
    `fit` and then `transform`: codes are always those that fit the final components best. As a co-clusterer, it has samples and
    features in pairs of clusters, one for each component: `row_labels_`, `column_labels_`, and `predict` for new samples.

    Notes
    -----
    With the Euclidean distance and ``solver="multiplicative"`` or ``"paper"`` the rule is that of Lee and Seung, W ∘ XHᵀ/(WHHᵀ) and
    H ∘ WᵀX/(WᵀWH): ONL Eq. 25, NNP Eq. 32–33, FONT Eq. 2–3; with the I-divergence PNMF Eq. 5–7; both are scikit-learn's
    ``solver="mu"``. In the papers X is transposed, their W is Hᵀ here. Other divergences: QNMF Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> X = np.random.default_rng(0).random((20, 3)) @ np.random.default_rng(1).random((3, 8))
    >>> model = NMF(3, random_state=0).fit(X)
    >>> bool(model.reconstruction_err_ < 0.02 * np.linalg.norm(X))
    True
    """

    divergence: Any = "euclidean"
    fixed_components: Any = None

    _paper: ClassVar[Protocol] = Protocol(Multiplicative())
    _auto_init: ClassVar[str | tuple[str, ...]] = "nndsvda"
    _is_paired: ClassVar[bool] = True
    _attributes: ClassVar[tuple[str, ...]] = ("components_", "row_labels_", "column_labels_")
    _described: ClassVar[dict[str, str]] = DESCRIBED
    _words: ClassVar[dict[str, str]] = {
        "DEFAULT_INIT": '"nndsvda"',
        "INIT_ARRAY": "the components to start from, (n_components, n_features)",
        "PAPER": "the multiplicative rule from a random start",
    }

    def _model(self) -> Model:
        H: Constraint = Free()
        if self.fixed_components is not None:
            H = PartlyFixed(read_fixed_components(self.fixed_components), "rows")
        return Model("W H", self.divergence, {"H": H})

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NonnegativeSparseCoding(Factorizer):
    r"""Non-negative sparse coding (NNSC), X ≈ W H with few entries of W that matter.

    .. math:: \min_{W, H \ge 0} \tfrac12 \|X - W H\|^2 + \alpha \sum_{ik} W_{ik} \quad \text{with rows of } H \text{ of length } 1

    Notes
    -----
    P. Hoyer, Non-negative sparse coding, 2002; the rival of PNMF in PNMF §6.2. The rules are W ∘ XHᵀ/(WHHᵀ + α), Hoyer's, and for
    H the multiplicative one that respects the lengths (`nonneg.constraints.Unit`) in place of Hoyer's projected gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NonnegativeSparseCoding
    >>> X = np.random.default_rng(0).random((30, 12))
    >>> cheap, dear = (NonnegativeSparseCoding(4, alpha=a, random_state=0).fit_transform(X) for a in (0.01, 1.0))
    >>> bool(dear.sum() < cheap.sum())
    True
    """

    alpha: float = 0.1

    _paper: ClassVar[Protocol] = Protocol(Multiplicative())
    _auto_init: ClassVar[str | tuple[str, ...]] = "nndsvda"
    _words: ClassVar[dict[str, str]] = {**NMF._words, "PAPER": "the multiplicative rules from a random start"}
    _described: ClassVar[dict[str, str]] = {
        "alpha": """float, default=0.1
    The penalty on a unit of code. It has the scale of X: one that makes codes sparse for pixels from 0 to 255 empties them for
    pixels from 0 to 1.""",
    }

    def _model(self) -> Model:
        if not is_number(self.alpha) or self.alpha < 0:
            raise IncompatibleError(f"alpha must be a number that is not negative; got {self.alpha!r}.")
        return Model("W H", "euclidean", {"W": Sparse(self.alpha), "H": Unit("rows")})

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}
