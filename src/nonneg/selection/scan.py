"""Fits with one rank after the other, judged by one criterion or several."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from ..estimators import ConsensusNMF
from ..exceptions import IncompatibleError, ShapeError, Stopped, find, users_line
from ..kernels.threads import blas_limited, in_threads_alone, limited
from ..plot.curves import Curve
from ..plot.curves import ranks as draw_ranks
from ..solve.initialization import make_generator
from ..solve.progress import Inner, current_listener, listening, readable_seconds, say
from .criteria import NAMES, Criterion
from .criteria.base import Found, Row
from .criteria.restarts import Restarts, clustered
from .rules import Choice
from .storing import Store
from .subjects import Chain, Rank, Subject, Vertices, can_be_scanned, digest, read_ranks, subject_of


def rank_scan(
    estimator: Any,
    X: Any,
    ranks: Any,
    *,
    y: Any = None,
    lengths: Any = None,
    criteria: Any = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    folder: str | Path | None = None,
) -> RankScan:
    """Which rank: fits of an estimator with each of several ranks, and their comparison.

    Parameters
    ----------
    estimator : estimator
        Any factorization of this library, `SymmetricNMF`, `KernelPNMF`, a chain, or `GraphClustering`, with its parameters; those
        for rank, random state and threads are set by the scan. Of a `ConsensusNMF` single runs are fitted, `n_runs` of each rank.
        Or a `Pipeline` that ends with one of these: its earlier steps are fitted once, to all of X.
    X : array, sparse array, Observed, graph or sequences
        Data of the fits, in memory. For chains also a square array of counts of pairs.
    ranks : iterable of int, dict, or "auto"
        The ranks to scan, such as ``range(1, 13)``. "auto" is 2 to 12, as far as the data and the criteria allow. For models with
        two ranks they are for both: each is scanned with the other at its largest; a dict with "samples" and "features" has
        ranks of its own for each.
    y : array of shape (n_samples,), optional
        Classes of samples, of which split halves are to have the same shares.
    lengths : array of int, optional
        How long sequences are, if they are end to end.
    criteria : "auto", str, Criterion, or list of these, default="auto"
        Criteria of ranks: "gabriel", "speckled", "halves", "restarts", "error", "likelihood", "eigengap", "subsamples", or
        objects of `nonneg.selection.criteria`. Of several, the first one decides. "auto" is "gabriel" for matrices, "speckled"
        for those with missing values, "restarts" for `ConsensusNMF`, "likelihood" for chains, and "subsamples" with "eigengap"
        for graphs; https://nonneg.github.io/nonneg/evidence/ranks.html compares them.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same result, whatever `n_jobs`.
    n_jobs : int, default=None
        How many measurements run at the same time, in threads, as in joblib.
    verbose : int, default=0
        1 prints a line for each measurement.
    folder : str or Path, optional
        Folder of measurements, as arrays and JSON. A scan that is started again with the same folder goes on from its end,
        and may have more ranks.

    Returns
    -------
    RankScan
        Ctrl-C ends the scan, and raises KeyboardInterrupt with the result of the ranks measured by then as its `solution`.

    See Also
    --------
    RankScan : What is returned.
    nonneg.plot.ranks : Draws it.
    nonneg.ConsensusNMF : Components that many runs agree on.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> draw = np.random.default_rng(0)
    >>> X = draw.gamma(1, size=(60, 3)) @ draw.gamma(0.5, size=(3, 40)) * draw.gamma(100, 0.01, size=(60, 40))
    >>> rank_scan(NMF(), X, range(1, 6), random_state=0).best_
    3
    """
    began = time.perf_counter()
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise IncompatibleError(f"n_jobs must be None, an int of at least 1, or -1 for as many as there are cores; got {n_jobs!r}.")
    estimator, X = _last_step(estimator, X)
    estimator, criteria = _runs_of(estimator, criteria)
    subject = subject_of(estimator, X, lengths)
    chosen, note = _criteria(criteria, subject)
    y = _read_classes(y, subject)
    each = {one.name: one.most(subject) for one in chosen}
    axes = read_ranks(ranks, subject, each)
    most = np.min(list(each.values()), axis=0)
    drawn = int(make_generator(random_state).uniform() * 2**31)
    identity = subject.identity() | {"classes": None if y is None else digest(y)}
    settings = {one.name: one.identity() for one in chosen}
    store = Store(folder, identity, settings, None if random_state is None else drawn, drawn)
    work, limits = Work(subject, chosen, axes, y, store.seed, store, began, bool(verbose)), (int(most[0]), int(most[1]))
    try:
        found = work.done(n_jobs)
    except KeyboardInterrupt:
        stopped = Stopped("The scan was interrupted; `solution` has the measurements of whole ranks.")
        part = work.so_far()
        if part is not None:
            stopped.solution = RankScan(*part, most=limits, note=f"{note} {work.how_far(part)}")
        raise stopped from None
    with store.altered_scans_refused():
        return RankScan(chosen, axes, found, most=limits, note=note)


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a pipeline with X as the steps before hand it on; other estimators as they are."""
    if not isinstance(estimator, Pipeline):
        return estimator, X
    last = estimator.steps[-1][1]
    return last, clone(estimator[:-1]).fit_transform(X) if len(estimator) > 1 and can_be_scanned(type(last)) else X


def _runs_of(estimator: Any, criteria: Any) -> tuple[Any, Any]:
    """A single run in place of a consensus of many, judged by default by how stable so many runs are."""
    if not isinstance(estimator, ConsensusNMF):
        return estimator, criteria
    if isinstance(criteria, str) and criteria in ("auto", Restarts.name):
        criteria = Restarts(estimator.n_runs)
    return estimator.single_run(), criteria


def _criteria(given: Any, subject: Subject) -> tuple[list[Criterion], str]:
    """The criteria that were asked for, none of which has an obstacle; and why they are not the usual ones, if so."""
    note = ""
    if isinstance(given, str) and given == "auto":
        given, note = _usual(subject)
    listed = [given] if isinstance(given, str | Criterion | type) or not isinstance(given, Iterable) else list(given)
    if not listed:
        raise IncompatibleError(f"criteria is empty; there are {', '.join(map(repr, NAMES))}.")
    if any(isinstance(one, str) and one == "auto" for one in listed):
        raise IncompatibleError(f"'auto' stands alone; of several criteria each is named: {', '.join(map(repr, NAMES))}.")
    found = [
        one if isinstance(one, Criterion) else find("criterion", one, NAMES, "an object of nonneg.selection.criteria")()
        for one in listed
    ]
    if len({one.name for one in found}) < len(found):
        raise IncompatibleError("criteria has one of them more than once.")
    for one in found:
        obstacle = one.obstacle(subject)
        if obstacle:
            able = ", ".join(repr(name) for name, criterion in NAMES.items() if criterion().obstacle(subject) is None)
            raise IncompatibleError(
                f"The criterion {one.name!r} cannot judge {subject.name} here: {obstacle}. "
                f"{f'These can: {able}.' if able else 'No other can.'}"
            )
    return found, note


_INSTEAD = {"speckled": "held-out entries", "halves": "split halves"}
"""Criteria of matrices of which no blocks can be held out, in words; the first only with missing entries."""


def _usual(subject: Subject) -> tuple[list[str], str]:
    """The default criteria; and, if they are not the usual ones, why."""
    if isinstance(subject, Chain):
        return ["likelihood"], ""
    if isinstance(subject, Vertices):
        return ["subsamples", "eigengap"], ""
    names = ["gabriel", *(name for name in _INSTEAD if name != "speckled" or subject.has_missing)]
    obstacles = {name: NAMES[name]().obstacle(subject) for name in names}
    name = next((name for name, obstacle in obstacles.items() if obstacle is None), None)
    if name is None:
        reasons = "; ".join(f"not by {name!r}, since {(why or '').partition(';')[0]}" for name, why in obstacles.items())
        able = ", ".join(repr(name) for name, criterion in NAMES.items() if criterion().obstacle(subject) is None)
        instead = f"These can judge it: {able}." if able else "Nor is there another criterion for it."
        raise IncompatibleError(f"The rank of {subject.name} cannot be judged by the usual criteria: {reasons}. {instead}")
    why = (obstacles["gabriel"] or "").partition(";")[0]
    return [name], f" Judged by {_INSTEAD[name]}, as no blocks can be held out: {why}." if why else ""


def _read_classes(y: Any, subject: Subject) -> np.ndarray | None:
    if y is None:
        return None
    classes = np.asarray(y)
    n = subject.data.shape[0]
    if isinstance(subject, Chain | Vertices) or classes.shape != (n,):
        raise ShapeError(f"y must have the class of each of {n} samples; its shape is {classes.shape}.")
    return np.unique(classes, return_inverse=True)[1]


@dataclass
class Work:
    """The measurements of a scan: every part of every criterion at every rank."""

    subject: Subject
    criteria: Sequence[Criterion]
    axes: Sequence[Sequence[Rank]]
    y: np.ndarray | None
    seed: int
    store: Store
    began: float
    verbose: bool
    results: dict[tuple[str, Rank, int], Found] = field(default_factory=dict)
    """Measurements by criterion, rank and part."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many parts each criterion looks at."""
    over: Event = field(default_factory=Event)

    @property
    def ranks(self) -> list[Rank]:
        return list(dict.fromkeys(rank for axis in self.axes for rank in axis))

    def done(self, n_jobs: int | None) -> dict[str, dict[Rank, list[Found]]]:
        ranks = self.ranks
        parts = {one.name: one.parts(self.subject, self._generator(one.name), self.y) for one in self.criteria}
        self.counts = {name: len(several) for name, several in parts.items()}
        tasks = [(one, part, rank) for one in self.criteria for rank in ranks for part in range(len(parts[one.name]))]
        workers = min(effective_n_jobs(n_jobs), len(tasks))
        limit = max(1, effective_n_jobs(-1) // workers) if workers > 1 else None
        count, listener = 0, current_listener()
        sizes = [_cost(rank) for _, _, rank in tasks]
        worked, to_work = 0.0, sum(sizes)
        timed_from, is_announced = None, False

        def measured(one: Criterion, number: int, rank: Rank) -> None:
            nonlocal count, worked, to_work, timed_from, is_announced
            if self.over.is_set():
                return
            seconds = (time.perf_counter() - timed_from) / worked * (to_work - worked) if timed_from and worked else 0.0
            if worked and not is_announced and count >= len(parts[one.name]):  # by the first rank, of the first criterion
                is_announced = True
                listener.announce(f"Scanning ranks {self._span()} takes about {readable_seconds(seconds)} more")
            left = f", about {readable_seconds(seconds)} left" if worked else ""
            place = f"part {number + 1} of {len(parts[one.name])}"
            listener.phase(f"{one.name}, rank {_told(rank)}, {place}: {count + 1} of {len(tasks)} measurements{left}")
            name = _name(one, rank, number)
            found, is_kept, size = self.store.read(name), True, _cost(rank)
            if found is None:
                is_kept = False
                with limited(limit), listening(Inner(listener)):
                    found = dict(one.measure(self.subject, parts[one.name][number], rank, self._seed(one.name, rank, number)))
                self.store.write(name, found)
            count += 1
            if is_kept or timed_from is None:
                to_work -= size
                timed_from = timed_from if is_kept else time.perf_counter()  # the first fit may compile, and tells nothing
            else:
                worked += size
            if self.verbose:
                numbers = ", ".join(f"{key} {value:.5g}" for key, value in found.items() if np.ndim(value) == 0)
                place = f"part {number + 1} of {len(parts[one.name])}"
                when = "measured before" if is_kept else f"{time.perf_counter() - self.began:.1f} s"
                say(f"{one.name}  rank {_told(rank)}, {place}: {numbers}; {count} of {len(tasks)}, {when}")
            self.results[one.name, rank, number] = found

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", ConvergenceWarning)
            try:
                for one in self.criteria:
                    mine = [(rank, part) for each, part, rank in tasks if each is one]
                    open_ = [(rank, part) for rank, part in mine if self.store.read(_name(one, rank, part)) is None]
                    one.prepare(self.subject, [(rank, self._seed(one.name, rank, part)) for rank, part in open_])
                with blas_limited(limit):
                    Parallel(workers, prefer="threads")(delayed(measured)(*task) for task in tasks)
            finally:
                self.over.set()
        _repeat_warnings(told)
        return self._whole(self.criteria, ranks)

    def _span(self) -> str:
        """The first and the last rank, in words."""
        return " and ".join(f"{_told(axis[0])} to {_told(axis[-1])}" for axis in self.axes)

    def so_far(self) -> tuple[list[Criterion], list[list[Rank]], dict[str, dict[Rank, list[Found]]]] | None:
        """The criteria that have come to their end, or else the first, and the ranks of which all parts were measured, if any."""
        known = {one.name: [rank for rank in self.ranks if self._is_whole(one, rank)] for one in self.criteria}
        kept = [one for one in self.criteria if len(known[one.name]) == len(self.ranks)] or [self.criteria[0]]
        ranks = known[kept[0].name]
        axes = [[rank for rank in axis if rank in ranks] for axis in self.axes]
        return (kept, axes, self._whole(kept, ranks)) if ranks and all(axes) else None

    def how_far(self, part: tuple[list[Criterion], list[list[Rank]], Any]) -> str:
        """The finished share of the scan, in a sentence."""
        kept, axes, _ = part
        measured = len({rank for axis in axes for rank in axis})
        if measured < len(self.ranks):
            return f"Stopped by the user when {measured} of {len(self.ranks)} ranks had been measured: this is the best of those."
        return f"Stopped by the user when {len(kept)} of {len(self.criteria)} criteria had come to their end."

    def _is_whole(self, one: Criterion, rank: Rank) -> bool:
        return all((one.name, rank, part) in self.results for part in range(self.counts.get(one.name, 1)))

    def _whole(self, criteria: Sequence[Criterion], ranks: Sequence[Rank]) -> dict[str, dict[Rank, list[Found]]]:
        """Measurements in the order of parts."""
        return {
            one.name: {rank: [self.results[one.name, rank, part] for part in range(self.counts[one.name])] for rank in ranks}
            for one in criteria
        }

    def _generator(self, *words: Any) -> np.random.Generator:
        return np.random.default_rng([self.seed, *(crc32(str(word).encode()) for word in words)])

    def _seed(self, *words: Any) -> int:
        """A seed of its own for each measurement, whatever else is measured and in which order."""
        return int(self._generator(*words).integers(2**31))


def _name(one: Criterion, rank: Rank, part: int) -> str:
    """The name of a measurement in the folder of a scan."""
    return "-".join([one.name, *map(str, np.atleast_1d(rank)), str(part)])


def _repeat_warnings(told: Sequence[warnings.WarningMessage]) -> None:
    """Give the warnings of all fits once each, and one of how many fits had not converged."""
    late = sum(issubclass(warning.category, ConvergenceWarning) for warning in told)
    others = {(warning.category, str(warning.message)): warning for warning in told}
    for (category, _), warning in others.items():
        if not issubclass(category, ConvergenceWarning):
            warnings.warn_explicit(warning.message, category, warning.filename, warning.lineno)
    if late:
        warnings.warn(
            f"{late} {'fit' if late == 1 else 'fits'} of the scan ended before having converged. Give the estimator a larger "
            "max_iter, or a larger tol.",
            ConvergenceWarning,
            stacklevel=users_line(),
        )


def _cost(rank: Rank) -> float:
    """Cost of a fit, up to a factor: of 2000 × 500 entries, at rank 12 about 1.8 times as much as at rank 2."""
    return 10.0 + float(np.sum(rank))


def _rows(one: Criterion, found: dict[Rank, list[Found]]) -> dict[Rank, Row]:
    """Summaries of ranks, several at the same time: clustering all components takes longer than some fits."""
    return dict(zip(found, in_threads_alone(one.row, [*found.values()]), strict=True))


def _possible(choice: Choice, largest: int, most: float) -> Choice:
    """A choice that advises no more ranks than there can be."""
    why = choice.why.removesuffix(": scan more.")
    return choice if largest < most or why == choice.why else choice._replace(why=f"{why}, and no larger one can be scanned here.")


class RankScan:
    """Result of a scan.

    Attributes
    ----------
    best_ : int or pair of int
        The rank that the first criterion speaks for.
    why_ : str
        Why, in a sentence or two.
    choices_ : dict
        For each criterion, the rank that it speaks for, and why.
    columns_ : dict of arrays
        The table: a summary of each criterion at each rank.
    table : DataFrame
        The same, with ranks for its index; it needs pandas.
    found_ : dict
        Every measurement: by criterion, by rank, a list with one measurement for each part of the data.

    Methods
    -------
    plot(ax=None, criterion=None)
        Draw a criterion over the ranks.
    curves(criterion=None), summary()
        The same as numbers; everything as numbers and text.
    consensus(rank=None)
        Consensus components, if "restarts" was among the criteria.

    See Also
    --------
    rank_scan : Returns one.
    nonneg.plot.ranks : Draws one.
    nonneg.report.write_rank_report : Writes a page about one.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.selection import rank_scan
    >>> draw = np.random.default_rng(0)
    >>> X = draw.random((24, 2)) @ draw.random((2, 16))
    >>> scan = rank_scan(NMF(), X, [1, 2], random_state=0)
    >>> scan.best_, sorted(scan.choices_)
    (2, ['gabriel'])
    """

    def __init__(
        self,
        criteria: list[Criterion],
        axes: list[list[Rank]],
        found: dict[str, dict[Rank, list[Found]]],
        *,
        most: tuple[float, float] = (np.inf, np.inf),
        note: str = "",
    ) -> None:
        self.criteria, self.axes, self.found_, self._most = criteria, axes, found, most
        self._rows = {one.name: _rows(one, found[one.name]) for one in criteria}
        self.choices_ = {one.name: self._choice(one) for one in criteria}
        first = self.choices_[criteria[0].name]
        self.best_, self.why_ = first.rank, first.why
        agree = [name for name, choice in self.choices_.items() if choice.rank == self.best_][1:]
        differ = [f"{name!r} says {choice.rank}" for name, choice in self.choices_.items() if choice.rank != self.best_]
        also = [f"{', '.join(map(repr, agree))} say{'s' if len(agree) == 1 else ''} the same"] if agree else []
        if also or differ:
            self.why_ += f" Of other criteria, {', '.join(also + differ)}."
        self.why_ += note
        ranks = list(found[criteria[0].name])
        self.columns_: dict[str, np.ndarray] = {"rank": _column(ranks)}
        for one in criteria:
            rows = [self._rows[one.name][rank] for rank in ranks]
            self.columns_ |= {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _choice(self, one: Criterion) -> Any:
        choices, has_two = [], len(self.axes) > 1
        for which, axis in enumerate(self.axes):
            ranks: Any = [rank[which] for rank in axis] if has_two else axis  # type: ignore[index]
            found, rows = [self.found_[one.name][rank] for rank in axis], [self._rows[one.name][rank] for rank in axis]
            choices.append(_possible(one.choose(ranks, found, rows, which), ranks[-1], self._most[which]))
        if not has_two:
            return choices[0]
        words = (f"{whose}: {choice.why}" for whose, choice in zip(("Samples", "Features"), choices, strict=True))
        return Choice((choices[0].rank, choices[1].rank), " ".join(words))

    @property
    def table(self) -> Any:
        """Summary of each criterion at each rank, as a DataFrame with ranks for its index."""
        import pandas

        columns = {name: list(values) if name == "rank" else values for name, values in self.columns_.items()}
        return pandas.DataFrame(columns).set_index("rank")

    def consensus(self, rank: Rank | None = None) -> np.ndarray:
        """Components that runs from random starts have in common, as cNMF makes them; by default of the best rank.

        Parameters
        ----------
        rank : int, or pair of int, optional
            Of models with two ranks a pair that was scanned: one of the two is the largest.
        """
        rank = self.best_ if rank is None else rank
        if "restarts" not in self.found_:
            raise IncompatibleError("Consensus components need restarts: rank_scan(..., criteria=[..., 'restarts']).")
        found = self.found_["restarts"].get(rank)
        if found is None:
            scanned = ", ".join(map(str, self.found_["restarts"]))
            raise ShapeError(f"There were no restarts with rank {rank}, from which consensus components are made; with {scanned}.")
        if "components" not in found[0]:
            raise IncompatibleError("Fits of this kind have no components that a consensus could be made of.")
        return clustered([one["components"] for one in found])

    def plot(self, ax: Any = None, criterion: str | None = None) -> Any:
        """Draw one criterion over the ranks, with standard errors; the chosen rank is marked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; new ones by default.
        criterion : str, optional
            Which one; the first by default.

        Returns
        -------
        Axes
        """
        return draw_ranks(self, criterion=criterion, ax=ax)

    def curves(self, criterion: str | None = None) -> list[Curve]:
        """A criterion over the ranks, as numbers to draw: one curve, or two for models with two ranks.

        Parameters
        ----------
        criterion : str, optional
            Which one; the first by default.
        """
        name = self.criteria[0].name if criterion is None else criterion
        one = next((one for one in self.criteria if one.name == name), None)
        if one is None:
            raise IncompatibleError(f"{criterion!r} was not scanned; there are {', '.join(map(repr, self.choices_))}.")
        found: list[Curve] = []
        for which, axis in enumerate(self.axes):
            rows: list[Any] = [self._rows[name][rank] for rank in axis]
            suffix = ("", " of samples", " of features")[which + 1 if len(self.axes) > 1 else 0]
            shown = f"{one.shown}{suffix}" if f"{one.shown}{suffix}" in rows[0] else one.shown
            best = self.choices_[name].rank
            found.append(
                {
                    "criterion": name,
                    "label": one.label,
                    "which": suffix.strip(),
                    "ranks": [rank if isinstance(rank, int) else rank[which] for rank in axis],
                    "values": [float(row[shown]) for row in rows],
                    "errors": [float(row.get(f"{shown} s.e.", np.nan)) for row in rows],
                    "beside": [float(row[one.beside]) for row in rows] if one.beside in rows[0] else [],
                    "permuted": [float(row[f"{shown} permuted"]) for row in rows] if f"{shown} permuted" in rows[0] else [],
                    "best": int(best if len(self.axes) == 1 else best[which]),
                    "threshold": getattr(one, "threshold", None),
                }
            )
        return found

    def summary(self) -> dict[str, Any]:
        """All that was found as numbers and text: `best`, `why`, the `curves` of all criteria, and the `columns` of the table."""
        best = list(self.best_) if isinstance(self.best_, tuple) else int(self.best_)
        columns = {name: [_listed(value) for value in values.tolist()] for name, values in self.columns_.items()}
        curves = [dict(curve) for one in self.criteria for curve in self.curves(one.name)]
        return {"best": best, "why": self.why_, "curves": curves, "columns": columns}

    def __repr__(self) -> str:
        return f"RankScan(best_={self.best_}; {self.why_})"


def _told(rank: Rank) -> str:
    return "×".join(map(str, np.atleast_1d(rank)))


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _column(ranks: list[Rank]) -> np.ndarray:
    column = np.empty(len(ranks), dtype=object if isinstance(ranks[0], tuple) else np.int64)
    column[:] = ranks
    return column
