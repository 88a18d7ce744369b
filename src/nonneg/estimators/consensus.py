"""Consensus NMF: components that runs from many random starts have in common (Kotliar et al. 2019)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data import Data
from ..exceptions import IncompatibleError, is_count, is_number, users_line
from ..plot.runs import clustergram
from ..solve.solution import Solution
from ..solve.solving import objective_of
from ..solve.starts import Start
from ..solve.strategy import RANDOM
from .docstrings import documented
from .encoding import encode
from .nmf import NMF
from .shareable import understands

_NEIGHBOURS = 0.3
"""Neighbours of a component, as a share of the runs: cNMF's `local_neighborhood_size`."""
DENSITY = 0.5
"""cNMF's density threshold: the mean distance to the neighbours from which a component is left out."""


class RunClusters(NamedTuple):
    """Components of all runs, clustered."""

    medians: np.ndarray
    """The median of each cluster, of length one, (n_clusters, n_features); zeros if there are fewer clusters."""
    labels: np.ndarray
    """The cluster of each component, -1 of those left out."""
    distances: np.ndarray
    """The mean distance of each component to its nearest neighbours."""
    silhouettes: np.ndarray
    """The silhouette of each component, those left out taken with the nearest median."""
    is_filtered: bool
    """False if the filter would have left fewer components than clusters, and was not applied."""


def cluster_runs(points: np.ndarray, n_runs: int, count: int, threshold: float = DENSITY) -> RunClusters:
    """Cluster the components of all runs as cNMF does: a density filter, k-means, medians.

    Parameters
    ----------
    points : array of shape (n_runs * count, n_features)
        Of length one.
    n_runs, count : int
    threshold : float
        Components whose mean distance to their nearest neighbours, 0.3 n_runs of them, reaches it are left out.
    """
    near = max(1, int(_NEIGHBOURS * n_runs))
    distances = np.sort(np.sqrt(np.maximum(2 - 2 * points @ points.T, 0.0)), axis=1)[:, 1 : near + 1].mean(axis=1)
    kept = distances < threshold
    is_filtered = bool(kept.sum() >= max(count, 2))
    kept = kept if is_filtered else np.ones(len(points), dtype=bool)
    labels = np.full(len(points), -1)
    labels[kept] = k_means(points[kept], count)
    medians = np.zeros((count, points.shape[1]), dtype=points.dtype)
    for one in range(labels.max() + 1):
        medians[one] = np.median(points[labels == one], axis=0)
    lengths = np.linalg.norm(medians, axis=1, keepdims=True)
    medians /= np.where(lengths > 0, lengths, 1.0)
    nearest = np.where(kept, labels, (points @ medians.T).argmax(axis=1))
    return RunClusters(medians, labels, distances, silhouettes(points, nearest), is_filtered)


def silhouettes(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Euclidean silhouette of each point; 1 if there is a single cluster, or one for each point."""
    from sklearn.metrics import silhouette_samples

    is_defined = 1 < len(np.unique(labels)) < len(points)
    return np.asarray(silhouette_samples(points, labels)) if is_defined else np.ones(len(points))


def k_means(points: np.ndarray, count: int) -> np.ndarray:
    """Labels of so many clusters, or fewer if fewer points are distinct."""
    from sklearn.cluster import KMeans

    distinct = len(np.unique(points.round(12), axis=0))
    init: Any = _spread_seeds(points) if len(points) ** 2 <= _ALL_PAIRS else "k-means++"
    return np.asarray(KMeans(min(count, distinct), init=init, n_init=10, random_state=1).fit_predict(points))


_ALL_PAIRS = 2**23
"""Pairs of points up to which all their distances are kept, for the beginnings of k-means."""


def _spread_seeds(points: np.ndarray) -> Callable[..., np.ndarray]:
    """k-means++ as scikit-learn draws it, with all distances at hand: it computes some for each seed, anew in each beginning."""
    squares = np.einsum("ij,ij->i", points, points)
    distances = np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0)

    def draw(X: np.ndarray, n_clusters: int, random_state: np.random.RandomState) -> np.ndarray:
        n, tries = len(X), 2 + int(np.log(n_clusters))
        chosen = [random_state.choice(n, p=np.full(n, 1 / n))]
        nearest = distances[chosen[0]]
        while len(chosen) < n_clusters:
            sums = nearest.cumsum()
            drawn = np.minimum(np.searchsorted(sums, random_state.uniform(size=tries) * sums[-1]), n - 1)
            near = np.minimum(nearest, distances[drawn])
            best = near.sum(axis=1).argmin()
            chosen.append(drawn[best])
            nearest = near[best]
        return np.asarray(X[chosen])

    return draw


@documented
@understands(beta_loss="divergence")
@dataclass(eq=False, repr=False, kw_only=True)
class ConsensusNMF(NMF):
    r"""Consensus NMF (cNMF): the components X ≈ W H that runs from many random starts have in common.

    Choose it over `NMF` for components that are to be found again: gene programs, topics. `stability_` says of each how far the
    runs agree on it.

    .. math:: \min_{W \ge 0} D(X \| W H) \quad \text{with rows of } H \text{ the medians of clusters of components of all runs}

    Components of all runs, of length one, are clustered by k-means. Those without near neighbours in other runs are left out
    before. H has the medians of the clusters in its rows, the component that makes up most of X first, and W the codes that fit
    them best. Runs share the products of X that do not change, and of each only its components stay in memory.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        How many components. "auto" takes as many as there are samples or features, whichever is less; more than
        100 are warned of, since that may take long. `nonneg.selection.rank_scan` finds a number by stability.
    init : {"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"}, default="auto"
        How each run starts. "auto" is "random". Given factors are refused: all runs would be the same.
    solver : {"auto", "paper", "coordinate", "newton", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        As in `NMF`.
    n_init : int, default=1
        How many starts a run has, of which the one with the lowest objective counts.
    tol : float, default=1e-5
        When a start has converged, as in `NMF`.
    warm_start : bool, default=False
        Has to be False: runs begin at random.
    callback : callable, default=None
        Called at every check with a `Progress`; returning True ends the run. It sees all runs.
    divergence : str, float or Objective, default="euclidean"
        How X and its approximation are compared: a name such as "euclidean", "kullback-leibler" or
        "itakura-saito"; a number b for ``Beta(b)``, numbered as scikit-learn's ``beta_loss``; or an object of
        `nonneg.divergences`. Counts want "kullback-leibler".
    fixed_components : array of shape (n_fixed, n_features), default=None
        Components that are known and stay as they are, before those that are learned. n_components counts both.
    alpha_W : float, default=0.0
        The penalty on codes, as in scikit-learn: the objective gains `alpha_W` · n_features · (`l1_ratio` ΣW +
        ½ (1 − `l1_ratio`) ‖W‖²). `transform` has it too, and so have the codes of the consensus.
    n_runs : int, default=100
        How many runs.
    density_threshold : float, default=0.5
        The mean Euclidean distance, from 0 to √2, of a component to its nearest neighbours (0.3 n_runs of them) from
        which it is left out; 2 leaves none out.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Consensus components, one in each row, of norm one, that which makes up most of X first.
    stability_ : array of shape (n_components,)
        For each component, the mean silhouette of the components of all runs that are like it, those left out
        included: 1 if all runs agree, about 0 if they do not; 1 of fixed components.
    silhouette_ : float
        The same over all components: the stability that cNMF draws for each number of components.
    run_components_ : array of shape (n_runs * n_learned, n_features)
        Components of all runs, of length one.
    run_labels_ : array of shape (n_runs * n_learned,)
        The learned component that each of them belongs to; -1 of those left out.
    run_distances_ : array of shape (n_runs * n_learned,)
        Their mean distances to their nearest neighbours, which are compared with `density_threshold`.
    factors_ : dict of arrays
        W and H.
    reconstruction_err_ : float
        √(2 D) with D the divergence between X and its approximation by consensus components.
    objective_ : float
        D.
    objectives_ : array of shape (n_runs * n_init,)
        The objective that each start ended at.
    n_iter_ : int
        Iterations of the best run.
    status_ : Status
        Why the best run ended; ``status_.sentence`` explains.
    history_ : History
        Objective, violation and exponents at every check of the best run.
    strategy_ : Explanation
        Stages of the best run, each with its reason and cost; ``print`` shows them.

    See Also
    --------
    nonneg.selection.rank_scan : Stability and error of several numbers of components, as cNMF draws them.
    nonneg.plot.clustergram : Distances between the components of all runs.

    References
    ----------
    D. Kotliar et al. Identifying gene expression programs of cell-type identity and cellular activity with single-cell RNA-Seq.
    eLife 8, 2019. doi:10.7554/eLife.43803

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import ConsensusNMF
    >>> draw = np.random.default_rng(0)
    >>> X = draw.poisson(draw.gamma(0.3, 20, (60, 3)) @ draw.gamma(0.3, 1, (3, 20)))
    >>> model = ConsensusNMF(3, n_runs=10, divergence="kullback-leibler", random_state=0).fit(X)
    >>> model.transform(X).shape, bool(model.stability_.min() > 0.9)
    ((60, 3), True)
    """

    n_runs: int = 100
    density_threshold: float = DENSITY

    _auto_init: ClassVar[str | tuple[Start, ...]] = (RANDOM,)
    _streams: ClassVar[bool] = False

    def _check_numbers(self) -> None:
        super()._check_numbers()
        if not is_count(self.n_runs, 2):
            raise IncompatibleError(f"n_runs must be an int of at least 2, since one run agrees with itself; got {self.n_runs!r}.")
        if not is_number(self.density_threshold) or self.density_threshold <= 0:
            raise IncompatibleError(f"density_threshold must be a number above 0; got {self.density_threshold!r}.")
        if not isinstance(self._init, str):
            raise IncompatibleError("init gives the factors, and all runs would be the same. Give the name of a start, or use NMF.")
        if self.warm_start:
            raise IncompatibleError("warm_start=True is not for ConsensusNMF, whose runs begin at random. Use NMF.")

    def single_run(self) -> NMF:
        """A run as an estimator of its own."""
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in ("n_runs", "density_threshold")}
        return NMF(**own | {"init": "random" if self._init == "auto" else self._init})

    @property
    def _n_starts(self) -> int:
        return self.n_runs * self.n_init

    def _kept_of_start(self, solution: Solution) -> Solution:
        """Without codes, which the consensus gets anew."""
        return replace(solution, factors={"H": solution.factors["H"]})

    def _chosen(self, X: Data, solutions: list[Solution]) -> Solution:
        """The best run with the consensus of all in place of its own components."""
        best_of = super()._chosen
        runs = [best_of(X, solutions[at : at + self.n_init]) for at in range(0, len(solutions), self.n_init)]
        best = best_of(X, runs)
        H = best.factors["H"]
        fixed = H[: 0 if self.fixed_components is None else np.shape(self.fixed_components)[0]]
        learned, count = [run.factors["H"][len(fixed) :] for run in runs], len(H) - len(fixed)
        points = _unit_rows(np.vstack(learned))
        found = cluster_runs(points, len(runs), count, self.density_threshold) if count else _no_clusters(points)
        if not found.is_filtered:
            warnings.warn(
                f"ConsensusNMF: fewer than {count} of the {len(points)} components of {len(runs)} runs have near neighbours, as "
                f"density_threshold={self.density_threshold} has it, so none was left out. Runs do not agree: give fewer "
                "components, or more runs.",
                UserWarning,
                stacklevel=users_line(),
            )
        W = encode(X, np.vstack([fixed, found.medians]), best.model.divergence, best.model.constraints["W"].on_new_rows)
        mass = W.sum(axis=0, dtype=np.float64)[len(fixed) :] * found.medians.sum(axis=1, dtype=np.float64)
        order = np.argsort(-mass, kind="stable")
        H = np.ascontiguousarray(np.vstack([fixed, found.medians[order]]))
        W = np.ascontiguousarray(np.hstack([W[:, : len(fixed)], W[:, len(fixed) :][:, order]]))
        self._keep_runs(points, found, order, len(fixed))
        factors: Mapping[str, Any] = {"W": W, "H": H}
        return replace(best, factors=dict(factors), objective=objective_of(X, best.model, factors))

    def _keep_runs(self, points: np.ndarray, found: RunClusters, order: np.ndarray, n_fixed: int) -> None:
        """Store the clusters of runs, components in a new order."""
        place = np.append(np.argsort(order), -1)
        self.run_components_, self.run_labels_, self.run_distances_ = points, place[found.labels], found.distances
        self.silhouette_ = float(found.silhouettes.mean()) if len(points) else 1.0
        of_each = [found.silhouettes[self.run_labels_ == one] for one in range(len(order))]
        learned = [float(some.mean()) if len(some) else 0.0 for some in of_each]
        self.stability_ = np.array([*[1.0] * n_fixed, *learned])

    def plot(self, ax: Any = None) -> Any:
        """Draw the clustergram: distances between the components of all runs, by component; see `nonneg.plot.clustergram`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; new ones by default.
        """
        return clustergram(self, ax=ax)


def _unit_rows(components: np.ndarray) -> np.ndarray:
    """Rows of length one; rows of zeros stay so."""
    peaks = components.max(axis=1, keepdims=True)
    components = components / np.where(peaks > 0, peaks, 1.0)
    lengths = np.linalg.norm(components, axis=1, keepdims=True)
    return np.asarray(components / np.where(lengths > 0, lengths, 1.0))


def _no_clusters(points: np.ndarray) -> RunClusters:
    """Empty clusters, if all components are fixed."""
    none = np.zeros(0)
    return RunClusters(points, np.zeros(0, dtype=int), none, none, True)
