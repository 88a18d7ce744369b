"""Factorizations of matrices of either sign, with codes that are not negative: Semi-NMF and Convex NMF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..model import Model
from ..solve.solvers import Multiplicative
from ..solve.starts import Named, Start
from ._base import Factorizer
from ._parameters import Procedure
from .docstrings import documented


class _Signed(Factorizer):
    """X of either sign, with the Euclidean distance, and codes that begin as clusters of samples.

    Parameters
    ----------
    missing : {"raise", "ignore"}, default="raise"
        Treatment of NaN in X. "ignore" is refused: missing values are for matrices without negative entries.
    """

    _takes_signs: ClassVar[bool] = True
    _paper: ClassVar[Procedure] = Procedure(Multiplicative())
    _auto_init: ClassVar[str | tuple[Start, ...]] = (Named("kmeans"),)
    _clustered: ClassVar[tuple[int, ...]] = (0,)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the factors of X, of either sign.

        Parameters
        ----------
        X : array, sparse array, table, AnnData, path or open file of shape (n_samples, n_features)
        y : None
            Not used; there for pipelines.
        """
        return super().fit(X)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SemiNMF(_Signed):
    r"""Semi-NMF, X ≈ W H with W ≥ 0, X and H of either sign: soft clusters of samples.

    K-means with codes in place of assignments. Choose it if X has negative entries: centred, or z-scored, or differences.

    .. math:: \min_{W \ge 0, H} \tfrac12 \|X - W H\|^2

    Parameters
    ----------
    init
        How to start. "auto" is "kmeans", clusters of samples. An array is
        the components to start from, (n_components, n_features); a dict gives factors by name, the others are drawn
        at random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate".
        "paper" is the rule of Ding, Li and Jordan from a random start; "multiplicative" is the same, with a given
        start; "adaptive" increases it while the objective falls; "coordinate" takes exact steps in one entry after
        the other; or an object of `nonneg.solvers`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Components, one in each row, of either sign.

    See Also
    --------
    ConvexNMF : Components that are means of samples.
    NMF : Data without negative entries.

    Notes
    -----
    H solves WᵀW H = WᵀX, and W ← W ∘ √[((XHᵀ)⁺ + W(HHᵀ)⁻) / ((XHᵀ)⁻ + W(HHᵀ)⁺)] (Ding, Li and Jordan 2010, the Semi-NMF of QNMF §2;
    in print X is transposed, F is Hᵀ here, and G is W). Codes are known up to the scale of each component.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.
    C. Ding, T. Li, M. Jordan. Convex and semi-nonnegative matrix factorizations. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32, 2010. doi:10.1109/TPAMI.2008.277

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import SemiNMF
    >>> X = np.random.default_rng(0).standard_normal((3, 5)).repeat(10, axis=0)
    >>> model = SemiNMF(3, random_state=0).fit(X)
    >>> bool(model.reconstruction_err_ < 0.01 * np.linalg.norm(X)), bool(model.transform(X).min() >= 0)
    (True, True)
    """

    def _model(self) -> Model:
        return Model("W H", constraints={"H": "signed"})

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"H": array}


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class ConvexNMF(_Signed):
    r"""Convex NMF, X ≈ H W X with H, W ≥ 0 and X of either sign: components are sums of samples.

    Components as weighted samples, which can be looked up. Choose it for soft clusters whose centres stay among the data.

    .. math:: \min_{H, W \ge 0} \tfrac12 \|X - H W X\|^2

    Parameters
    ----------
    init
        How to start. "auto" is "kmeans", clusters of samples. An array is
        the weights of samples to start from, (n_components, n_samples); a dict gives factors by name, the others
        are drawn at random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" if the products of samples are formed, else "quasi-newton".
        "paper" is the rule of Ding, Li and Jordan from a random start; "multiplicative" is the same, with a given
        start; "adaptive" increases it while the objective falls; "coordinate" takes exact steps in one entry after
        the other; or an object of `nonneg.solvers`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        W X, the components, one in each row, of the sign of X.

    See Also
    --------
    SemiNMF : Components of either sign that need not be means of samples.
    ProjectiveClustering : Clusters of samples by a projection.

    Notes
    -----
    With K = X Xᵀ of either sign, K = K⁺ − K⁻ by its entries, W ← W ∘ √[(HᵀK⁺ + HᵀH W K⁻) / (HᵀK⁻ + HᵀH W K⁺)] and the like for H
    (Ding, Li and Jordan 2010, the Convex NMF of QNMF §2; in print X is transposed). For X without negative entries these are the
    rules of QNMF Theorem 1.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.
    C. Ding, T. Li, M. Jordan. Convex and semi-nonnegative matrix factorizations. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32, 2010. doi:10.1109/TPAMI.2008.277

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import ConvexNMF
    >>> X = np.random.default_rng(0).standard_normal((3, 5)).repeat(10, axis=0)
    >>> model = ConvexNMF(3, random_state=0).fit(X)
    >>> bool(model.reconstruction_err_ < 0.05 * np.linalg.norm(X)), model.factors_["W"].shape
    (True, (3, 30))
    """

    def _model(self) -> Model:
        return Model("H W X", signed=["X"], split="separate")

    def _start(self, array: np.ndarray) -> dict[str, np.ndarray]:
        return {"W": array}
