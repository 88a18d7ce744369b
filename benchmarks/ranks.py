"""Which rank: how often each criterion finds a planted one, and how often it finds structure where there is none.

As a group of `python benchmarks`, a small part of it, with the default criterion. The whole study takes hours; it is kept
instance by instance in a file, and goes on where it ended:

    python benchmarks/ranks.py --full [--models NMF OPNMF] [--ranks 3 5 8] [--levels 0.05 0.15] [--instances 10] [--only-default]
    python benchmarks/ranks.py --show

Real data have no planted rank. What two criteria say of faces, digits, a text and brains is drawn by

    python benchmarks/ranks.py --real docs/images/ranks-real.png

and what a scan takes, beside one fit of the `opnmf` package, is told by

    python benchmarks/ranks.py --scans
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from nonneg import NMF, ONMTF, OPNMF, QNMFHMM, SymmetricNMF
from nonneg.selection import RankScan, rank_scan
from nonneg.selection.criteria import Error, Gabriel, Halves, Likelihood, Restarts, Speckled
from nonneg_papers import load_cbcl, load_ixi, load_text

TITLE = "Ranks: planted ones, and none"
FILE = Path(__file__).parents[1] / "bench" / "ranks.jsonl"
RANKS, LEVELS, KINDS = (3, 5, 8, 12, 20), (0.05, 0.15, 0.3), ("zero-mean", "poisson")
Draw = np.random.Generator


# ---- planted data


def noisy(signal: np.ndarray, level: float, kind: str, draw: Draw) -> np.ndarray:
    """Noise of a share of the signal's standard deviation: Poisson, or normal, cut on both sides where an entry would be < 0."""
    if kind == "poisson":
        return draw.poisson(signal * signal.mean() / (level**2 * signal.var())).astype(float)
    return signal + np.clip(level * signal.std() * draw.normal(size=signal.shape), -signal, signal)


def size(rank: int) -> tuple[int, int]:
    return (90, 60) if rank <= 8 else (160, 110)


def mixed(rank: int, level: float, kind: str, draw: Draw) -> np.ndarray:
    """W H with gamma entries, three of five of them zero."""
    n, m = size(rank)
    W, H = (draw.gamma(1.0, size=shape) * (draw.random(shape) < 0.4) for shape in ((n, rank), (rank, m)))
    return noisy(W @ H, level, kind, draw)


def groups(n: int, count: int, draw: Draw) -> np.ndarray:
    """The group of each item: two of each at least, the others at random."""
    return np.concatenate([np.arange(count), np.arange(count), draw.integers(count, size=n - 2 * count)])


def parts(rank: int, level: float, kind: str, draw: Draw) -> np.ndarray:
    """W H with rows of H that do not overlap."""
    n, m = size(rank)
    H = np.zeros((rank, m))
    H[groups(m, rank, draw), np.arange(m)] = draw.uniform(0.5, 1.5, m)
    return noisy(draw.gamma(2.0, size=(n, rank)) @ H, level, kind, draw)


def blocks(rank: int, level: float, kind: str, draw: Draw) -> np.ndarray:
    """Clusters of samples, one more of features, and a gamma entry for each block."""
    n, m = size(rank)
    S = draw.gamma(1.0, size=(rank, rank + 1))
    weights = draw.uniform(0.5, 1.5, (n, 1)) * draw.uniform(0.5, 1.5, m)
    return noisy(S[groups(n, rank, draw)][:, groups(m, rank + 1, draw)] * weights, level, kind, draw)


def similar(rank: int, level: float, kind: str, draw: Draw) -> np.ndarray:
    n = size(rank)[0]
    W = draw.gamma(1.0, size=(n, rank)) * (draw.random((n, rank)) < 0.4)
    K = np.triu(noisy(W @ W.T, level, kind, draw))
    return K + np.triu(K, 1).T


def counted(rank: int, level: float, kind: str, draw: Draw) -> np.ndarray:
    """Counts of pairs of a chain with four symbols a state, and one in ten of any; as many as make sampling the noise."""
    n = 4 * rank
    W = np.kron(np.eye(rank), np.ones(4)) * draw.gamma(2.0, size=(rank, n))
    W = 0.9 * W / W.sum(axis=1, keepdims=True) + 0.1 / n
    Y = draw.dirichlet(np.full(rank**2, 0.3)).reshape(rank, rank)
    return noisy(W.T @ Y @ W, level, "poisson", draw)


def independent(name: str, draw: Draw) -> np.ndarray:
    """Entries that have nothing to do with each other."""
    if name == "chain":
        p = draw.dirichlet(np.full(12, 3.0))
        return draw.poisson(20_000 * np.outer(p, p)).astype(float)
    X = draw.gamma(2.0, size=(90, 60)) if name != "NMF, I" else draw.poisson(5.0, size=(90, 60)).astype(float)
    if name != "symmetric":
        return X
    K = np.triu(X[:60, :60])
    return K + np.triu(K, 1).T


class Model(NamedTuple):
    estimator: Any
    make: Callable[[int, float, str, Draw], np.ndarray]
    kinds: tuple[str, ...]
    criteria: tuple[Any, ...]
    """The default one first."""


MATRIX = (Gabriel(), Halves(), Restarts(5), Error(2), Speckled())
MODELS = {
    "NMF": Model(NMF(), mixed, KINDS, MATRIX),
    "NMF, I": Model(NMF(divergence="kullback-leibler"), mixed, ("poisson",), MATRIX),
    "OPNMF": Model(OPNMF(), parts, KINDS, MATRIX),
    "ONMTF": Model(ONMTF(), blocks, KINDS, MATRIX[:2]),
    "symmetric": Model(SymmetricNMF(kernel="precomputed"), similar, KINDS, (Gabriel(), Halves(), Restarts(5))),
    "chain": Model(QNMFHMM(n_init=3, separate=False), counted, ("poisson",), (Likelihood(), Halves())),
}


def scanned(rank: int) -> list[int]:
    """All ranks up to four beyond the planted one; of large ones, those around it and some below."""
    return sorted({k for k in (1, 2, 3, 5, 8, 12, *range(rank - 3, rank + 5)) if 0 < k <= rank + 4})


def scanned_of_two(rank: int) -> list[int]:
    """For models with two ranks, where each is scanned with the other at its largest: 1, and those up to two away."""
    return sorted({1, *range(max(rank - 2, 1), rank + 3)})


# ---- one instance


def instance(name: str, rank: int, level: float, kind: str, seed: int, only_default: bool) -> dict[str, Any]:
    """What each criterion says about one planted matrix; rank 0 stands for independent entries."""
    model, draw = MODELS[name], np.random.default_rng([list(MODELS).index(name), rank, round(100 * level), KINDS.index(kind), seed])
    X = model.make(rank, level, kind, draw) if rank else independent(name, draw)
    ranks: Any = scanned(rank) if rank else range(1, 6)
    if name == "ONMTF" and rank:
        ranks = {"samples": scanned_of_two(rank), "features": scanned_of_two(rank + 1)}
    began = process_time()
    scan = rank_scan(model.estimator, X, ranks, criteria=model.criteria[: 1 if only_default else None], random_state=seed)
    found = {key: choice.rank for key, choice in scan.choices_.items()} | others(scan)
    if not only_default and name in ("NMF", "NMF, I", "OPNMF"):
        found["score in GridSearchCV"] = searched(model.estimator, X, list(ranks), seed)
    return {
        "model": name, "rank": rank, "level": level, "kind": kind, "seed": seed, "only default": only_default,
        "found": found, "seconds": round(process_time() - began, 1),
    }  # fmt: skip


def others(scan: RankScan) -> dict[str, int]:
    """What readers of papers do with the same curves."""
    found = {}
    if "halves mean cosine" in scan.columns_ and len(scan.axes) == 1:
        ranks, means = scan.columns_["rank"], scan.columns_["halves mean cosine"]
        order = np.argsort(ranks)
        above = ranks[order][means[order] > 0.95]
        found["halves, mean cosine > .95"] = int(above[-1]) if len(above) else int(ranks.min())
    if "error" in scan.columns_:
        order = np.argsort(scan.columns_["rank"])
        found["elbow of the error"] = elbow(scan.columns_["rank"][order], scan.columns_["error"][order])
    if "gabriel" in scan.columns_ and len(scan.axes) == 1:
        found["lowest of gabriel"] = int(scan.columns_["rank"][np.argmin(scan.columns_["gabriel"])])
    return found


def searched(estimator: Any, X: np.ndarray, ranks: list[int], seed: int) -> int:
    """The rank that a grid search takes, by the score of samples that were held out."""
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(clone(estimator).set_params(random_state=seed), {"n_components": ranks}, cv=folds)
    return int(search.fit(X).best_params_["n_components"])


def elbow(ranks: np.ndarray, errors: np.ndarray) -> int:
    """The rank farthest below the line from the first to the last point, axes scaled to one: what an eye takes for the elbow."""
    x, y = (ranks - ranks[0]) / np.ptp(ranks), (errors - errors[-1]) / (np.ptp(errors) or 1.0)
    return int(ranks[np.argmax(1 - x - y)])


def off(row: dict[str, Any], found: Any) -> int:
    """How far what was found is from what was planted; of two ranks, the farther."""
    truth = row["rank"] or 1
    if isinstance(found, int):
        return abs(found - truth)
    pair = (truth, truth + 1) if row["rank"] else (1, 1)
    return max(abs(a - b) for a, b in zip(found, pair, strict=True))


# ---- as a group of benchmarks


def run(bench: Any) -> None:
    names = ("NMF",) if bench.quick else tuple(MODELS)
    ranks, seeds = ((3,), range(1)) if bench.quick else ((3, 8), range(2))
    for name in names:
        with bench.attempt(name, TITLE):
            kind = MODELS[name].kinds[0]
            rows = [instance(name, rank, 0.15, kind, seed, True) for rank in ranks for seed in seeds]
            put(bench, name, f"noise of 15 %, {kind}, ranks {', '.join(map(str, ranks))}", rows)
            put(bench, name, "independent entries", [instance(name, 0, 0.0, kind, seed, True) for seed in seeds])


def put(bench: Any, name: str, what: str, rows: list[dict[str, Any]]) -> None:
    missed = [float(off(row, next(iter(row["found"].values()))) > 0) for row in rows]
    note = ", ".join(str(next(iter(row["found"].values()))) for row in rows)
    words = {"problem": name, "what": f"share of {len(rows)} instances whose rank is missed: {what}", "details": {"found": note}}
    bench.number([float(np.mean(missed))], at_most=0.1, **words)


# ---- the whole study


def study(given: argparse.Namespace) -> None:
    done = {key(row) for row in stored(given.file)}
    given.file.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(given.instances):
        for name in given.models:
            kinds = MODELS[name].kinds
            kind = kinds[seed % len(kinds)]  # of ten instances, five of each kind
            for rank, level in [(0, 0.0), *((r, level) for r in given.ranks for level in given.levels)]:
                if (name, rank, level, kind, seed, given.only_default) in done:
                    continue
                row = instance(name, rank, level, kind, seed, given.only_default)
                with open(given.file, "a", encoding="utf8") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), file=sys.stderr, flush=True)


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("model", "rank", "level", "kind", "seed", "only default"))


def stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()] if path.exists() else []


def report(rows: Iterable[dict[str, Any]]) -> str:
    """Hits, and hits within one, of each criterion, for each model and level of noise."""
    tally: dict[tuple[str, str, str], list[int]] = {}
    for row in rows:
        level = f"{100 * row['level']:.0f} %" if row["rank"] else "independent"
        for criterion, found in row["found"].items():
            tally.setdefault((row["model"], level, criterion), []).append(off(row, found))
    lines = ["| model | noise | criterion | instances | hit | within ± 1 | farthest |", "|---|---|---|---|---|---|---|"]
    for (model, level, criterion), values in sorted(tally.items(), key=lambda item: (list(MODELS).index(item[0][0]), item[0][1])):
        distance = np.array(values)
        cells = (
            model,
            level,
            criterion,
            len(values),
            f"{np.mean(distance == 0):.0%}",
            f"{np.mean(distance <= 1):.0%}",
            distance.max(),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


# ---- real data


def real(path: Path) -> None:
    """The curves of two criteria for four sets of data, drawn, and what each of them says, printed."""
    import matplotlib.pyplot as plt
    from sklearn.datasets import load_digits

    ixi = load_ixi().data
    texts = load_text("tr11", drop_empty=True).data
    cases = {
        "faces, CBCL 2429 × 361, OPNMF": (OPNMF(), load_cbcl().data, [1, 2, 3, 4, 6, 8, 10, 15, 20, 25, 30, 40]),
        "digits, 1797 × 64, OPNMF": (OPNMF(), load_digits().data, [1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28]),
        f"text, tr11 {texts.shape[0]} × {texts.shape[1]}, NMF": (NMF(), texts, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15]),
        "brains, IXI 10 × 145, OPNMF": (OPNMF(), ixi / ixi.mean(axis=0), [1, 2, 3, 4, 5]),
    }
    figure, axes = plt.subplots(len(cases), 2, figsize=(11, 3.2 * len(cases)), layout="constrained")
    for (title, (estimator, X, ranks)), row in zip(cases.items(), axes, strict=True):
        began = process_time()
        scan = rank_scan(estimator, X, ranks, criteria=[Gabriel(), Halves(10)], random_state=0, n_jobs=2)
        for ax, criterion in zip(row, ("gabriel", "halves"), strict=True):
            scan.plot(ax, criterion)
            ax.set_title(f"{title}: {criterion}", fontsize=9)
            print(f"{title}, {criterion}: {scan.choices_[criterion].rank}. {scan.choices_[criterion].why}", flush=True)
        print(f"{process_time() - began:.0f} s of processor time", flush=True)
    figure.savefig(path, dpi=80)


def scans() -> None:
    """Ten ranks of OPNMF on faces, ten times each: wall time on two cores, beside one fit of `opnmf` with as many components."""
    import logging

    from opnmf.opnmf import opnmf

    logging.disable(logging.CRITICAL)
    X = load_cbcl().data
    OPNMF(20, random_state=0).fit(X)  # kernels are compiled, or loaded
    for ranks in (range(2, 21, 2), range(5, 51, 5)):
        for criterion in (Restarts(10), Halves(10)):
            began = perf_counter()
            rank_scan(OPNMF(), X, ranks, criteria=[criterion], random_state=0, n_jobs=2)
            print(f"{type(criterion).__name__}, ranks {list(ranks)}: {perf_counter() - began:.1f} s", flush=True)
        began = perf_counter()
        opnmf(X.T.copy(), n_components=ranks[-1], init="nndsvd")
        print(f"opnmf, {ranks[-1]} components: {perf_counter() - began:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="run what the file does not have yet")
    parser.add_argument("--show", action="store_true", help="run nothing")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    parser.add_argument("--levels", nargs="+", type=float, default=LEVELS)
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--only-default", action="store_true")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--real", type=Path, metavar="PNG", help="draw the curves of real data, and nothing else")
    parser.add_argument("--scans", action="store_true", help="time scans beside a fit of opnmf, and nothing else")
    given = parser.parse_args()
    if given.real:
        real(given.real)
        return
    if given.scans:
        scans()
        return
    if given.full and not given.show:
        study(given)
    print(report(stored(given.file)))


if __name__ == "__main__":
    main()
