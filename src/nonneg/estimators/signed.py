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


class _Signed(Factorizer):
    """X of either sign, with the Euclidean distance, and codes that begin as clusters of samples."""

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


@dataclass(eq=False, repr=False, kw_only=True)
class SemiNMF(_Signed):
    r"""Semi-NMF, X ≈ W H with W ≥ 0, X and H of either sign: soft clusters of samples.

    K-means with codes in place of assignments. Choose it where X has negative entries: centred, or z-scored, or differences.

    .. math:: \min_{W \ge 0, H} \tfrac12 \|X - W H\|^2

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components. "auto" takes as many as there are samples or features, whichever is less; more than
        100 are warned of, since that may take long.
    init : {"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"} or array or dict, default="auto"
        How to start. "auto" is "kmeans", clusters of samples. An array is
        the components to start from, (n_components, n_features); a dict gives factors by name, the others are drawn
        at random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate".
        "paper" is the rule of Ding, Li and Jordan from a random start; "multiplicative" is the same, with a given
        start; "adaptive" increases it while the objective falls; "coordinate" takes exact steps in one entry after
        the other; or an object of `nonneg.solvers`.
    n_init : int, default=1
        How many restarts; the one with the lowest objective is kept. `objectives_` tells how much they differ.
    max_iter : int, default=5000
        The most iterations of a start.
    tol : float, default=1e-5
        A run has converged when ten iterations change the objective by no more than `tol` times its value, or when
        what is left to gain, as its curve tells, is at most 600 · `tol` of it (and at most 0.6 %); more iterations
        confirm it, and the point is nearly stationary. 0 runs to `max_iter`.
    random_state : int, Generator, RandomState or None, default=None
        For the starts. The same seed gives the same result.
    n_jobs : int, default=None
        How many starts run at the same time, as in joblib.
    warm_start : bool, default=False
        Whether another `fit` goes on from where the last one ended, where sizes allow.
    verbose : int, default=0
        1 prints progress, a line a second at the most.
    callback : callable, default=None
        Called at every check with a `Progress`; returning True ends the run. With several starts, it sees them all.
    checkpoint : str, path or Checkpoint, default=None
        A file in which the fit is written down every minute. Fitting again with it goes on from there, to the same
        bits; for other data or parameters it is refused. Clones, as those of a grid search, need a folder; see
        `nonneg.Checkpoint`.
    missing : {"raise", "ignore"}, default="raise"
        What to do about NaN in X. "ignore" is refused: missing values are for matrices without negative entries.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        What samples are made of, one in each row, of either sign.
    factors_ : dict of arrays
        Every factor of the form, by name, as the fit left it.
    model_ : Model
        What was minimised; ``print(model_)`` shows the objective, and the multiplicative rules that follow from it.
    solver_ : str
        What minimised it, where `solver` is "auto" too: "coordinate", "newton", "multiplicative", …
    n_components_ : int
        How many components there are.
    reconstruction_err_ : float
        √(2 D) with D the divergence between X and its approximation, as in scikit-learn: ‖X − X̂‖ for the
        Euclidean distance.
    objective_ : float
        What was minimised, at the end: D and the penalties of constraints, if they have any.
    objectives_ : array of shape (n_init,)
        The objective that each start ended at.
    n_iter_ : int
        Iterations of the start that was kept.
    status_ : Status
        Why it ended; ``status_.sentence`` explains.
    history_ : History
        Objective, violation and exponents at every check of the start that was kept.
    strategy_ : Explanation
        Stages that ran, each with its reason and cost; ``print`` shows them.
    n_features_in_ : int
        How many features X had.
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X has feature names that are all strings.

    Notes
    -----
    H solves WᵀW H = WᵀX, and W ← W ∘ √[((XHᵀ)⁺ + W(HHᵀ)⁻) / ((XHᵀ)⁻ + W(HHᵀ)⁺)] (Ding, Li and Jordan 2010, the Semi-NMF of QNMF §2;
    in print X is transposed, F is Hᵀ here, and G is W). Codes are known up to the scale of each component.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.
    C. Ding, T. Li, M. Jordan. Convex and semi-nonnegative matrix factorizations. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32, 2010.

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


@dataclass(eq=False, repr=False, kw_only=True)
class ConvexNMF(_Signed):
    r"""Convex NMF, X ≈ H W X with H, W ≥ 0 and X of either sign: components are sums of samples.

    Components as weighted samples, which can be looked up. Choose it for soft clusters whose centres stay among the data.

    .. math:: \min_{H, W \ge 0} \tfrac12 \|X - H W X\|^2

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components. "auto" takes as many as there are samples or features, whichever is less; more than
        100 are warned of, since that may take long.
    init : {"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"} or array or dict, default="auto"
        How to start. "auto" is "kmeans", clusters of samples. An array is
        the weights of samples to start from, (n_components, n_samples); a dict gives factors by name, the others
        are drawn at random. Zeros in them become a thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" where the products of samples are formed, "quasi-newton" else.
        "paper" is the rule of Ding, Li and Jordan from a random start; "multiplicative" is the same, with a given
        start; "adaptive" increases it while the objective falls; "coordinate" takes exact steps in one entry after
        the other; or an object of `nonneg.solvers`.
    n_init : int, default=1
        How many restarts; the one with the lowest objective is kept. `objectives_` tells how much they differ.
    max_iter : int, default=5000
        The most iterations of a start.
    tol : float, default=1e-5
        A run has converged when ten iterations change the objective by no more than `tol` times its value, or when
        what is left to gain, as its curve tells, is at most 600 · `tol` of it (and at most 0.6 %); more iterations
        confirm it, and the point is nearly stationary. 0 runs to `max_iter`.
    random_state : int, Generator, RandomState or None, default=None
        For the starts. The same seed gives the same result.
    n_jobs : int, default=None
        How many starts run at the same time, as in joblib.
    warm_start : bool, default=False
        Whether another `fit` goes on from where the last one ended, where sizes allow.
    verbose : int, default=0
        1 prints progress, a line a second at the most.
    callback : callable, default=None
        Called at every check with a `Progress`; returning True ends the run. With several starts, it sees them all.
    checkpoint : str, path or Checkpoint, default=None
        A file in which the fit is written down every minute. Fitting again with it goes on from there, to the same
        bits; for other data or parameters it is refused. Clones, as those of a grid search, need a folder; see
        `nonneg.Checkpoint`.
    missing : {"raise", "ignore"}, default="raise"
        What to do about NaN in X. "ignore" is refused: missing values are for matrices without negative entries.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        W X, what samples are made of, one in each row, of the sign of X.
    factors_ : dict of arrays
        Every factor of the form, by name, as the fit left it.
    model_ : Model
        What was minimised; ``print(model_)`` shows the objective, and the multiplicative rules that follow from it.
    solver_ : str
        What minimised it, where `solver` is "auto" too: "coordinate", "newton", "multiplicative", …
    n_components_ : int
        How many components there are.
    reconstruction_err_ : float
        √(2 D) with D the divergence between X and its approximation, as in scikit-learn: ‖X − X̂‖ for the
        Euclidean distance.
    objective_ : float
        What was minimised, at the end: D and the penalties of constraints, if they have any.
    objectives_ : array of shape (n_init,)
        The objective that each start ended at.
    n_iter_ : int
        Iterations of the start that was kept.
    status_ : Status
        Why it ended; ``status_.sentence`` explains.
    history_ : History
        Objective, violation and exponents at every check of the start that was kept.
    strategy_ : Explanation
        Stages that ran, each with its reason and cost; ``print`` shows them.
    n_features_in_ : int
        How many features X had.
    feature_names_in_ : array of shape (n_features_in_,)
        Only where X has feature names that are all strings.

    Notes
    -----
    With K = X Xᵀ of either sign, K = K⁺ − K⁻ by its entries, W ← W ∘ √[(HᵀK⁺ + HᵀH W K⁻) / (HᵀK⁻ + HᵀH W K⁺)] and the like for H
    (Ding, Li and Jordan 2010, the Convex NMF of QNMF §2; in print X is transposed). For X without negative entries these are the
    rules of QNMF Theorem 1.

    References
    ----------
    QNMF: Z. Yang, E. Oja. Quadratic nonnegative matrix factorization. Pattern Recognition, 2011.
    C. Ding, T. Li, M. Jordan. Convex and semi-nonnegative matrix factorizations. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32, 2010.

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
