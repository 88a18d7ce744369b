"""Stability over restarts: whether runs from random starts end in the same place (Brunet et al. 2004; Kotliar et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.cluster.hierarchy import average, cophenet
from scipy.spatial.distance import squareform

from ...estimators.consensus import cluster_runs, k_means, silhouettes
from ...exceptions import IncompatibleError, is_count, is_number
from ...metrics.labels import hard_labels
from ...solve.starts import Named
from ..components import read_components, unit_rows
from ..rules import Choice, last_above
from ..subjects import Matrix, Rank, Subject
from .base import Criterion, Found, Row, column


@dataclass(frozen=True)
class Restarts(Criterion):
    """Stability over random starts, as cNMF measures it: the silhouette of the clustered components of all runs.

    Components are scaled to length one and clustered by k-means into as many clusters as the rank, none left out; the silhouette is
    Euclidean. cNMF draws it beside the error; the reader chooses; here the largest rank whose silhouette is at least
    `threshold` is chosen. For models with two ranks, and for fits without components, the
    stability is the dispersion of the consensus matrix. The table also has the dispersion and the cophenetic correlation of the
    consensus, and the lowest error over the runs.

    Stability is about local minima, not about the data: a wrong rank can be stable (rank 1 always is).

    Parameters
    ----------
    n_repeats : int, default=10
        Number of random starts.
    threshold : float, default=0.9
        Stability from which a rank counts as stable.
    n_items : int, default=1000
        Items in the consensus matrix; of more, a random subset. Items are features in projective models, samples in others.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Halves : Other data, not other starts.
    nonneg.ConsensusNMF : Components that many runs agree on.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Restarts
    >>> draw = np.random.default_rng(0)
    >>> X = draw.random((24, 2)) @ draw.random((2, 16))
    >>> rank_scan(NMF(), X, [1, 2, 3], criteria=Restarts(n_repeats=3), random_state=0).best_
    2
    """

    n_repeats: int = 10
    threshold: float = 0.9
    n_items: int = 1000

    name: ClassVar[str] = "restarts"
    shown: ClassVar[str] = "restarts stability"
    label: ClassVar[str] = "stability over restarts"
    beside: ClassVar[str | None] = "restarts error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_repeats < 2:
            raise IncompatibleError("n_repeats must be at least 2 for restarts: one run agrees with itself.")
        if not is_number(self.threshold) or not 0 <= self.threshold <= 1:
            raise IncompatibleError(f"threshold must be a number from 0 to 1; got {self.threshold!r}.")
        if not is_count(self.n_items, 2):
            raise IncompatibleError(f"n_items must be an int of at least 2; got {self.n_items!r}.")

    def identity(self) -> dict[str, Any]:
        return {"n_repeats": self.n_repeats, "n_items": self.n_items}

    def obstacle(self, subject: Subject) -> str | None:
        return None

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        chosen = [np.sort(generator.permutation(n)[: self.n_items]) for n in _count_items(subject)]
        return [chosen] * self.n_repeats

    def prepare(self, subject: Subject, wanted: Sequence[tuple[Rank, int]]) -> None:
        subject.fit_ahead(wanted, **_random(subject))

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        model = subject.fit(subject.data, rank, seed, **_random(subject))
        error = getattr(model, "reconstruction_err_", getattr(model, "objective_", np.nan))
        found: dict[str, Any] = {"error": float(error)}
        for which, (labels, chosen) in enumerate(zip(_labels(subject, model), part, strict=True)):
            found[f"labels {which}"] = labels[chosen]
        if hasattr(model, "components_") or hasattr(model, "emissionprob_"):
            found["components"] = read_components(model)
        return found

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        row: dict[str, float] = {}
        for which, ending in enumerate(_endings(found)):
            consensus = consensus_matrix([one[f"labels {which}"] for one in found])
            row |= {
                f"{self.shown}{ending}": _stability(found, consensus),
                f"{self.name} dispersion{ending}": dispersion(consensus),
                f"{self.name} cophenetic{ending}": cophenetic(consensus),
            }
        return row | {f"{self.name} error": float(column(found, "error").min())}

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        ending = _endings(found[0])[axis]
        return last_above(ranks, np.array([row[f"{self.shown}{ending}"] for row in rows]), self.threshold, self.label)


def _endings(found: Sequence[Found]) -> list[str]:
    """Endings of columns: of models with two ranks there are as many for samples as for features."""
    return [" of samples", " of features"] if "labels 1" in found[0] else [""]


def _stability(found: Sequence[Found], consensus: np.ndarray) -> float:
    """Silhouette of the components; dispersion of the consensus of a model with two ranks, or without components."""
    if "labels 1" in found[0] or not all("components" in one for one in found):
        return dispersion(consensus)
    return silhouette([one["components"] for one in found])


def _count_items(subject: Subject) -> list[int]:
    """How many items are clustered: samples, features, or both."""
    if subject.has_two_ranks:
        return list(subject.data.shape)
    return [int(subject.data.shape[1 if _groups_features(subject) else 0])]


def _groups_features(subject: Subject) -> bool:
    """Whether components group features: the form begins with X, so that codes are sums over them."""
    if not isinstance(subject, Matrix):
        return False
    model = subject.estimator._model()
    return bool(model.form[0].name == model.data)


def _labels(subject: Subject, model: Any) -> list[np.ndarray]:
    """The cluster of each item."""
    if subject.has_two_ranks:
        return [model.row_labels_, model.column_labels_]
    if _groups_features(subject):
        return [hard_labels(read_components(model))]
    for held in ("labels_", "row_labels_", "symbol_groups_"):
        if hasattr(model, held):
            return [np.asarray(getattr(model, held))]
    codes = model.factors_[model.model_.form[0].name] * np.linalg.norm(model.components_, axis=1)
    return [hard_labels(codes.T)]


def _random(subject: Subject) -> dict[str, Any]:
    """A random start in place of one that is the same each time."""
    own = subject.parameters.get("init")
    if not isinstance(own, str):
        return {}
    starts: Any = getattr(type(subject.estimator), "_auto_init", "auto") if own == "auto" else (Named(own),)
    return {} if starts == "auto" or any(start.varies for start in starts) else {"init": "random"}


def consensus_matrix(labels: Sequence[np.ndarray]) -> np.ndarray:
    """The share of runs in which two items are in one cluster."""
    counts = np.zeros((len(labels[0]),) * 2, dtype=np.uint32)
    for row in labels:
        own = np.unique(row, return_inverse=True)[1].astype(np.int32)
        counts += (own[:, None] == own).view(np.uint8)
    return np.asarray(counts / len(labels))


def dispersion(consensus: np.ndarray) -> float:
    """4 Σ (C_ij − ½)²/n²: one if every two items are together always or never (Kim and Park 2007)."""
    return float(np.mean(4 * (consensus - 0.5) ** 2))


def cophenetic(consensus: np.ndarray) -> float:
    """The correlation of 1 − C with the distances at which average linkage joins items (Brunet et al. 2004); 1 of equal ones."""
    distances = squareform(1 - consensus, checks=False)
    if len(distances) < 2 or np.ptp(distances) == 0:
        return 1.0
    joined = cophenet(average(distances))
    return float(np.corrcoef(distances, joined)[0, 1]) if np.ptp(joined) else 1.0


def silhouette(components: Sequence[np.ndarray]) -> float:
    """Silhouette of the components of all runs, of length one, clustered by k-means: cNMF's stability. 1 for a single cluster."""
    points = unit_rows(np.vstack(components))
    return float(silhouettes(points, k_means(points, len(components[0]))).mean())


def clustered(components: Sequence[np.ndarray]) -> np.ndarray:
    """Consensus components, as cNMF has them: medians of the clusters of all runs' components, with sum one.

    Components without near neighbours in other runs are left out before clustering.
    """
    medians = cluster_runs(unit_rows(np.vstack(components)), len(components), len(components[0])).medians
    sums = medians.sum(axis=1, keepdims=True)
    return np.asarray(medians / np.where(sums > 0, sums, 1.0))
