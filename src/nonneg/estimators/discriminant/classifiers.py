"""Discriminants with weights of one sign: Fisher's, of features (NLDA) and of samples known by a kernel (NKFDA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.sparsefuncs import csc_median_axis_0

from ...data import as_dense
from ...data.reading import refuse_masked
from ...exceptions import DataError, IncompatibleError
from ...kernels.memory import check_memory
from .._kernels import check_kernel, kernel_options
from ..annotations import Kernel, KernelParams
from ..atomic import atomic_fit
from ..docstrings import documented
from ..shareable import renamed
from ..validation import validated
from .base import Discriminant, is_auto
from .fisher import Scatter, Summed
from .groups import Groups, powers_of, scaled, unscaled

_COPIES = 4
"""How many matrices of the size of K are there at a time, at least: K, K in units of its columns, and its scatter within."""


@renamed(ridge="alpha")
@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NonnegativeLDA(Discriminant):
    r"""Fisher's linear discriminant with non-negative weights (NLDA), after features were flipped to help.

    A classifier with readable weights. Choose it to see which features tell classes apart.

    .. math:: \max_{w \ge 0} \frac{w^T S_B w}{w^T S_W w}

    S_B is the scatter of the means of the classes, S_W that within classes. A feature that does not raise
    the ratio has the weight zero. X may have entries of either sign: a shift of a feature changes nothing.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Ridge on the diagonal of S_W, as a share of it: the units of features do not matter. A feature constant within
        classes gets that share of its scatter between them. "auto" chooses, for each direction, among 0
        and eight values from 0.01 to 30: the least one with which Fisher's ratio is largest, to 1 %, on samples held out, in five
        folds of consecutive samples. Nothing in this is random. If S_W is singular, as with more features than samples, 0.001
        takes the place of 0. Of more than 2000 samples 2000 are used; with more than 2000 features, 1000, and values from 0.3 on.
    solver : {"auto", "exact", "multiplicative"}, default="auto"
        How the ratio is made large. "exact" takes exact steps: for a class and the others, they lead to the best weights there are.
        "multiplicative" is the rule of the notes, under which the ratio never falls either, but slow if features are
        much alike. "auto" is "exact" for "rayleigh".
    init : "auto" or array of shape (n_features,), default="auto"
        Start. "auto" is from all ones and from the means of the classes, the best being kept; with "oja" from random
        weights in (0, 1).
    flip : bool or "auto", default="auto"
        Whether features count negatively if the class has the smaller median (NNP Eq. 57). If medians are equal, the paper
        takes the smaller for granted; "rayleigh" tries smaller, larger and the order of the means, for all of them at once; with
        more than 2000 features, the best of these at the means.
        "auto" flips if a direction is that of a class; `n_components` with more than two classes has none such.

    Attributes
    ----------
    components_ : array of shape (n_directions, n_features)
        The directions, with wᵀS_W w = 1 and with the signs of `flipped_` undone: they work on X as it is given.
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two
        Factor of X in `decision_function`: for two classes, a multiple of the direction.
    flipped_ : array of bool of shape (n_directions, n_features)
        Features that were turned round, for the direction to be non-negative: those in which the class has the smaller median. The
        paper turns the others, which gives the same direction backwards.

    See Also
    --------
    NonnegativeKernelFDA : With a kernel.
    nonneg.maximize_rayleigh : Finds each direction.

    Notes
    -----
    The multiplicative rule is w ∘ √[(S_B⁺w + λS_W⁻w)/(S_B⁻w + λS_W⁺w)], λ the ratio at w. ``rule="oja"`` is NNP Eq. 55, whose fixed
    points are eigenvectors of S_B: S_W sets their length only, and not even that, as it goes on to change between two values.

    NNP Eq. 56 cannot hold with as many features as classes: S_B has no full rank, so that S_W S_B + S_B S_W is zero
    somewhere, and for two classes its least eigenvalue is below zero unless S_W d is a multiple of d. The rule needs less: that
    wᵀS_W S_B w is positive at each w it meets. If not, it stops, with a warning.

    S_B is never formed, S_W not with more than 2000 features. Sparse X stays sparse.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from nonneg import NonnegativeLDA
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NonnegativeLDA().fit(X, y)
    >>> model.fisher_ratio_.round(3), int((model.coef_ != 0).sum())
    (array([2.684]), 10)
    """

    flip: bool | str = "auto"

    _items: ClassVar[str] = "features"

    @atomic_fit
    def fit(self, X: Any, y: Any) -> NonnegativeLDA:
        """Learn the directions.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            The classes, two or more.
        """
        self._check_parameters()
        if not is_auto(self.flip) and not isinstance(self.flip, bool | np.bool_):
            raise IncompatibleError(f"flip must be True, False or 'auto'; got {self.flip!r}.")
        refuse_masked(X, "X")
        X, y = validated(self, X, y, ensure_min_samples=2)
        codes = self._read_labels(y)
        self._learn(X, codes)
        self.components_, self.coef_ = (unscaled(W, self._powers) for W in (self._directions, self._weights))
        self.flipped_ = self._flips
        return self

    def _signs(self, groups: Groups, c: int | None) -> list[np.ndarray]:
        """1 if the class has the larger median, −1 if it has the smaller one: NNP Eq. 57, which turns the former round.

        A direction and its opposite have the same ratio, so that it is one to turn these or those; here the class scores high.
        """
        n_features = groups.X.shape[1]
        if c is None:
            if not is_auto(self.flip) and self.flip:
                raise IncompatibleError(
                    f"flip=True with n_components={self.n_components} and {len(self.classes_)} classes: features are flipped for "
                    "one class against the others. Use flip='auto' or False, or n_components='auto' for one direction a class."
                )
            return [np.ones(n_features)]
        if not is_auto(self.flip) and not self.flip:
            return [np.ones(n_features)]
        own = groups.codes == c
        inside, outside = (_medians(groups.X[rows]) for rows in (own, ~own))
        signs = np.where(inside > outside, 1.0, -1.0)
        if self._is_printed or not (inside == outside).any():
            return [signs]
        by_means = np.where((inside > outside) | ((inside == outside) & (groups.means[c] > 0)), 1.0, -1.0)
        return [signs, np.where(inside >= outside, 1.0, -1.0), by_means]

    def _features(self, X: Any) -> tuple[Any, Any]:
        refuse_masked(X, "X")
        X = validated(self, X, reset=False)
        return X, X.dtype


@renamed(ridge="alpha")
@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NonnegativeKernelFDA(Discriminant):
    r"""Fisher's discriminant with a kernel and non-negative weights of the samples (NKFDA), which rank them.

    A classifier by a kernel. Choose it to see which samples tell classes apart.

    .. math:: \max_{\alpha \ge 0} \frac{\alpha^T K (U - \tfrac1n 1 1^T) K \alpha}{\alpha^T K (I - U) K \alpha}

    U takes the means of the classes. The direction is Σ αᵢ Φ(xᵢ): α says how much each sample contributes to it.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Ridge on the diagonal of S_W, as a share of it: the units of samples do not matter. A sample constant within
        classes gets that share of its scatter between them. "auto" chooses, for each direction, among 0
        and eight values from 0.01 to 30: the least one with which Fisher's ratio is largest, to 1 %, on samples held out, in five
        folds of consecutive samples. Nothing in this is random. If S_W is singular, as by most kernels, 0.001
        takes the place of 0. Of more than 2000 samples 2000 are used; with more than 2000 samples, 1000, and values from 0.3 on.
    solver : {"auto", "exact", "multiplicative"}, default="auto"
        How the ratio is made large. "exact" takes exact steps: for a class and the others, they lead to the best weights there are.
        "multiplicative" is the rule of the notes, under which the ratio never falls either, but slow if samples are
        much alike. "auto" is "exact" for "rayleigh".
    init : "auto" or array of shape (n_samples,), default="auto"
        Start. "auto" is from all ones and from the means of the classes, the best being kept; with "oja" from random
        weights in (0, 1).
    flip : bool, default=False
        Whether samples of the other classes count negatively, as they do in a support vector machine: the direction is then
        Σ ±αᵢ Φ(xᵢ). The paper has no such thing. It tells classes apart better, and ranks samples of all of them.
    kernel : str or callable, default="linear"
        "precomputed", for X that is the kernel itself; the name of a kernel of `sklearn.metrics.pairwise`; or a function of two
        samples.

    Attributes
    ----------
    sample_importance_ : array of shape (n_samples,)
        The share of each sample in the directions: α divided by its sum, the mean of all directions. It ranks the samples;
        "rayleigh" gives most of them none at all, a larger `alpha` fewer, "oja" each its own.
    dual_coef_ : array of shape (n_directions, n_samples)
        α, with projections of unit scatter within classes; with `flip`, −α for samples of the other classes.

    See Also
    --------
    NonnegativeLDA : Without a kernel.
    nonneg.maximize_rayleigh : Finds each direction.

    Notes
    -----
    It is `NonnegativeLDA` of the columns of K, not flipped. ``rule="oja"`` is NNP Eq. 21 with A = KUK and B = KK, of which Eq. 63
    is a misprint; K must not have negative entries then. α cancels in it, and the power method for KUK is left: the result is
    its leading eigenvector, whatever the start. A and B are those of centred samples, but K ≥ 0 is not centred, and there their
    ratio is best if all projections are the same. "rayleigh" has the scatters about the means instead.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from nonneg import NonnegativeKernelFDA
    >>> X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    >>> model = NonnegativeKernelFDA(kernel="rbf", gamma=1).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    flip: bool = False
    kernel: Kernel = "linear"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: KernelParams = None

    _items: ClassVar[str] = "samples"

    @atomic_fit
    def fit(self, X: Any, y: Any) -> NonnegativeKernelFDA:
        """Learn the weights of the samples.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features), or (n_samples, n_samples) if it is precomputed
        y : array of shape (n_samples,)
            The classes, two or more.
        """
        self._check_parameters()
        self._check_kernel()
        if not isinstance(self.flip, bool | np.bool_):
            raise IncompatibleError(f"flip must be True or False; got {self.flip!r}.")
        if self.rule == "oja-total":
            raise IncompatibleError(
                "rule='oja-total' is for features (NNP Eq. 52), and the paper has no such A of a kernel. Use 'oja'."
            )
        if self.flip and self._is_printed:
            raise IncompatibleError("flip=True with rule='oja': the paper's KUK has no negative entries. Use rule='rayleigh'.")
        refuse_masked(X, "X")
        X, y = validated(self, X, y, ensure_min_samples=2)
        codes = self._read_labels(y)
        if self._is_precomputed and X.shape[0] != X.shape[1]:
            raise DataError(
                f"X must be square with kernel='precomputed': the kernel between all pairs of samples; its shape is {X.shape}. For "
                "samples with features use kernel='linear' or 'rbf'."
            )
        n = X.shape[0]
        check_memory(
            8 * _COPIES * n**2,
            f"NonnegativeKernelFDA of {n} samples: the kernel has {n} × {n} entries, and fit with its scatters",
            "Use fewer samples, or NonnegativeLDA on features, such as those of sklearn.kernel_approximation.Nystroem.",
        )
        self.X_fit_ = None if self._is_precomputed else X
        self._halves = int(powers_of(np.atleast_1d(abs(X).max()))[0]) if self._is_linear else 0
        K = self._similarities(X, None)
        difference = float(np.abs(K - K.T).max())
        if difference > 1e-5 * float(np.abs(K).max()):
            raise DataError(f"The kernel must be symmetric, but entries differ from their mirror image by up to {difference:g}.")
        if self._is_printed and K.min() < 0:
            raise DataError(
                f"The kernel has negative entries, down to {K.min():g}, and rule='oja' is for kernels that have none (NNP Eq. 63). "
                "Use rule='rayleigh', a kernel such as 'rbf', or data without negative entries."
            )
        self._learn(K, codes)
        self.dual_coef_ = unscaled(self._directions, self._powers + 2 * self._halves)
        weights = np.abs(unscaled(self._directions, self._powers - self._powers.max()))
        sums = weights.sum(axis=1, keepdims=True)
        self.sample_importance_ = (weights / np.where(sums > 0, sums, 1.0)).mean(axis=0)
        return self

    def _signs(self, groups: Groups, c: int | None) -> list[np.ndarray]:
        if not self.flip:
            return [np.ones(groups.X.shape[1])]
        if c is None:
            raise IncompatibleError(
                f"flip=True with n_components={self.n_components} and {len(self.classes_)} classes: samples are flipped for one "
                "class against the others. Use flip=False, or n_components='auto' for one direction a class."
            )
        return [np.where(groups.codes == c, 1.0, -1.0)]

    def _printed(self, groups: Groups, c: int | None) -> tuple[Scatter, np.ndarray]:
        """KK and the F of KUK = F Fᵀ, NNP Eq. 61 and 62."""
        K = groups.X + groups.centre / groups.sizes
        codes = groups.codes if c is None else (groups.codes == c).astype(int)
        indicators = np.eye(codes.max() + 1)[codes]
        return Summed([(1.0, K)]), K.T @ (indicators / np.sqrt(indicators.sum(axis=0)))

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _check_kernel(self) -> None:
        check_kernel(self.kernel, self)

    def _similarities(self, X: Any, Y: Any) -> np.ndarray:
        """K, of the linear kernel divided by a power of two for X that is very large or very small."""
        if self._is_precomputed:
            return np.asarray(as_dense(X), dtype=np.float64)
        samples = (None if part is None else part.astype(np.float64) for part in (X, Y))
        if self._halves:
            samples = (None if part is None else scaled(part, np.full(part.shape[1], self._halves)) for part in samples)
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.asarray(as_dense(pairwise_kernels(*samples, metric=self.kernel, **kernel_options(self.kernel, self))))
        if not np.isfinite(K).all():
            raise DataError(
                f"kernel={self.kernel!r} is infinite or not a number between some samples. Entries of X are up to "
                f"{abs(X).max():g}. Scale X."
            )
        return K

    def _part(self, X: Any, rows: np.ndarray, known: np.ndarray) -> Any:
        return X[np.ix_(rows, known)]

    def _features(self, X: Any) -> tuple[Any, Any]:
        refuse_masked(X, "X")
        X = validated(self, X, reset=False)
        return self._similarities(X, self.X_fit_), X.dtype

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags


def _medians(X: Any) -> np.ndarray:
    """Of features; of sparse ones of which more than half are zero, that is zero."""
    if not sparse.issparse(X):
        return np.asarray(np.median(X, axis=0))
    X = sparse.csc_matrix(X)
    medians = np.zeros(X.shape[1])
    often = np.flatnonzero(2 * np.diff(X.indptr) >= X.shape[0])
    if len(often):
        medians[often] = csc_median_axis_0(X[:, often])
    return medians
