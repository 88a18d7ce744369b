"""Split halves: whether two halves of the samples lead to the same components, as papers on OPNMF report it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ...exceptions import IncompatibleError, is_number
from ...metrics.labels import hard_labels
from ..components import atlas, match_components, unit_rows
from ..rules import Choice, last_above
from ..subjects import Chain, Items, Matrix, Rank, Subject
from .base import Criterion, Found, Row, column, mean_and_error


@dataclass(frozen=True)
class Halves(Criterion):
    """How alike components of split halves are: the cosines of matched components, and the adjusted Rand index of hard labels.

    It tells which components would be found again in other data, which is more than that they are no noise: components that are
    not unique, or two of which are told apart by few samples, are not found again. If samples have classes `y`, each class is
    split. Halves of models with two ranks are of the samples for clusters of features, and of the features for those of samples.

    Parameters
    ----------
    n_repeats : int, default=5
        How many times to split.
    threshold : float, default=0.9
        The cosine above which a component counts as found again. A rank is reproduced if its least similar component is, in
        the median over splits.

    See Also
    --------
    nonneg.selection.rank_scan : Judges ranks by it.
    Restarts : The same data, other random starts.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> from nonneg.selection.criteria import Halves
    >>> draw = np.random.default_rng(0)
    >>> X = draw.random((24, 2)) @ draw.random((2, 16))
    >>> rank_scan(NMF(), X, [1, 2, 3], criteria=Halves(n_repeats=2), random_state=0).best_
    2
    """

    n_repeats: int = 5
    threshold: float = 0.9

    name: ClassVar[str] = "halves"
    shown: ClassVar[str] = "halves least cosine"
    label: ClassVar[str] = "least cosine between components of split halves"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.threshold) or not 0 <= self.threshold <= 1:
            raise IncompatibleError(f"threshold must be a number from 0 to 1; got {self.threshold!r}.")

    def obstacle(self, subject: Subject) -> str | None:
        if not isinstance(subject, Matrix | Items | Chain):
            return f"it splits samples, and this is about {subject.kind}"
        if isinstance(subject, Chain):
            return None
        count = subject.data.shape[0]
        return None if count >= 4 else f"X has {count} sample{'' if count == 1 else 's'}, and two halves need 4 at least"

    def most(self, subject: Subject) -> tuple[int, int]:
        if isinstance(subject, Chain):
            return subject.sizes
        n, m = subject.data.shape
        if isinstance(subject, Items):
            return n // 2, n // 2
        return (n // 2, m // 2) if subject.has_two_ranks else (min(n // 2, m),) * 2

    def parts(self, subject: Subject, generator: np.random.Generator, y: np.ndarray | None) -> list[Any]:
        if isinstance(subject, Chain):
            return [subject.dealt_out(2, generator) for _ in range(self.n_repeats)]
        n, m = subject.data.shape
        found = [(split(n, generator, y), split(m, generator, None)) for _ in range(self.n_repeats)]
        return [(*of_samples, *of_features) if subject.has_two_ranks else of_samples for of_samples, of_features in found]

    def measure(self, subject: Subject, part: Any, rank: Rank, seed: int) -> Found:
        if isinstance(subject, Chain):
            a, b = (subject.fit(half, rank, seed + i).emissionprob_ for i, half in enumerate(part))
            return _compared(a, b) | _none_where(_depend(a) or _depend(b))
        if isinstance(subject, Items):
            everything = np.arange(subject.data.shape[0])
            a, b = (_codes_of_all(subject, half, everything, rank, seed + i) for i, half in enumerate(part))
            return _compared(a, b)
        assert isinstance(subject, Matrix)
        if not subject.has_two_ranks:
            a, b = (subject.fit(subject.block(half), rank, seed + i) for i, half in enumerate(part))
            found = _compared(a.components_, b.components_, atlas(a).labels, atlas(b).labels)
            return found | _none_where(any(map(_depend, (a.components_, b.components_, *_codes_of(a), *_codes_of(b)))))
        everything = np.arange(subject.data.shape[0])
        models = [subject.fit(subject.block(half), rank, seed + i) for i, half in enumerate(part[:2])]
        turned = [subject.fit(subject.block(everything, half), rank, seed + i) for i, half in enumerate(part[2:])]
        of_features = _compared(*map(_of_features, models), *(model.column_labels_ for model in models))
        of_samples = _compared(*map(_of_samples, turned), *(model.row_labels_ for model in turned))
        return {
            f"{name} {whose}": value for whose, found in (("0", of_samples), ("1", of_features)) for name, value in found.items()
        }

    def row(self, found: Sequence[Found]) -> dict[str, float]:
        row: dict[str, float] = {}
        for ending, whose in (("", ""), (" 0", " of samples"), (" 1", " of features")):
            if f"least{ending}" in found[0]:
                row |= {f"{self.name} least cosine{whose}": float(np.median(column(found, f"least{ending}")))}
                row |= mean_and_error(column(found, f"mean{ending}"), f"{self.name} mean cosine{whose}")
                row |= mean_and_error(column(found, f"rand{ending}"), f"{self.name} Rand index{whose}")
        return row

    def choose(self, ranks: Sequence[int], found: Sequence[Sequence[Found]], rows: Sequence[Row], axis: int = 0) -> Choice:
        name = "least" if "least" in found[0][0] else f"least {axis}"
        least = np.array([np.median(column(parts, name)) for parts in found])
        return last_above(ranks, least, self.threshold, self.label)


def split(n: int, generator: np.random.Generator, y: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Two halves at random; of each class, half goes into each, and odd samples alternate."""
    order = generator.permutation(n)
    if y is not None:
        order = order[np.argsort(y[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


_ALIKE = 1e-6
"""The least eigenvalue of cosines between components below which one of them is made of the others."""


def _depend(components: np.ndarray) -> bool:
    """Whether a component is made of others: then there are fewer than it seems, and the same ones come back in any half."""
    unit = unit_rows(np.asarray(components, dtype=np.float64))
    return bool(np.linalg.eigvalsh(unit @ unit.T)[0] < _ALIKE)


def _codes_of(model: Any) -> list[np.ndarray]:
    """The factor of the samples, components in rows, of forms that begin with one."""
    first = model.model_.form[0]
    factor = model.factors_.get(first.name)
    return [] if factor is None or factor.shape[1] != len(model.components_) else [factor.T]


def _none_where(depend: bool) -> dict[str, float]:
    """A least similarity of 0 if components depend on each other; else nothing."""
    return {"least": 0.0} if depend else {}


def _compared(A: np.ndarray, B: np.ndarray, a: np.ndarray | None = None, b: np.ndarray | None = None) -> dict[str, float]:
    """How alike two fits are: least and mean similarity of matched components, and Rand index of labels."""
    similarity = match_components(A, B).similarity
    a, b = hard_labels(A) if a is None else a, hard_labels(B) if b is None else b
    return {"least": float(similarity.min()), "mean": float(similarity.mean()), "rand": float(adjusted_rand_score(a, b))}


def _codes_of_all(subject: Items, half: np.ndarray, everything: np.ndarray, rank: Rank, seed: int) -> np.ndarray:
    """Codes of all items by components of half of them: components × items."""
    codes = subject.fit(subject.block(half, half), rank, seed).transform(subject.block(everything, half))
    return np.ascontiguousarray(codes.T)


def _of_features(model: Any) -> np.ndarray:
    """The factor of features of a model with two ranks, components in rows."""
    last = model.model_.form[-1]
    factor = model.factors_[last.name]
    return factor.T if last.transposed else factor


def _of_samples(model: Any) -> np.ndarray:
    """The factor of the samples, one component a row."""
    return model.factors_[model.model_.form[0].name].T
