"""The figures of docs/estimators.md, in about five minutes; `python benchmarks/estimators.py online` is one study of them."""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from nonneg import ONMF, OPNMF, PNMF, datasets


def collections() -> Iterator[tuple[str, np.ndarray, int]]:
    """Pictures, samples in rows, and how many components to look for; those that are at hand."""
    yield "digits", load_digits().data, 16
    for name, load, rank in (("CBCL", datasets.load_cbcl, 25), ("ORL", lambda: datasets.load_orl("32x32"), 25)):
        try:
            yield name, load().data, rank
        except (datasets.FetchError, ImportError) as error:
            print(f"without {name}: {error}")


def described(model: OPNMF | ONMF, X: np.ndarray) -> str:
    (measures,) = model.orthogonality_.values()
    error = np.linalg.norm(X - model.inverse_transform(model.transform(X))) / np.linalg.norm(X)
    return f"{error:.4f} | {measures.rho:.4f} | {measures.error:.2f}"


def orthogonality() -> Iterator[str]:
    """What the rule, the objective, and the two post-processings give."""
    yield "data | model | relative error | ρ (1 is best) | ‖WᵀW − I‖ (0 is best)"
    for name, X, rank in collections():
        for title, settings in (
            ("the printed rule", {"solver": "paper", "max_iter": 50_000}),
            ('default, "soft"', {}),
            ('"exact"', {"orthogonality": "exact"}),
            ('"rows"', {"orthogonality": "rows"}),
            ('"polar"', {"orthogonality": "polar"}),
        ):
            yield f"{name}, {rank} | OPNMF, {title} | {described(OPNMF(rank, random_state=0, **settings).fit(X), X)}"
        for how in ("soft", "rows"):
            yield f'{name}, {rank} | ONMF, "{how}" | {described(ONMF(rank, orthogonality=how, random_state=0).fit(X), X)}'


def online() -> Iterator[str]:
    """One pass over the samples in random order, beside a fit of all of them: ratios of objectives. OPNMF's default is the same."""
    for name, X, rank in collections():
        batch = PNMF(rank, random_state=0).fit(X)
        ratios = {}
        for size in (50, 200):
            for seed in range(2):
                order = np.random.default_rng(seed).permutation(len(X))
                stream = PNMF(rank, random_state=seed)
                for start in range(0, len(X), size):
                    stream.partial_fit(X[order[start : start + size]])
                ratios[size, seed] = round(float(stream.score(X) / batch.score(X)), 4)
        yield f"{name}, PNMF({rank}), by (batch size, seed): {ratios}"


def starts() -> Iterator[str]:
    """The relative error that each start leads to, two seeds."""
    for name, X, rank in list(collections())[:2]:
        for method in (PNMF, ONMF) if name == "digits" else (PNMF,):
            errors = {}
            for init in ("random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "auto"):
                runs = [method(rank, init=init, random_state=seed).fit(X) for seed in range(2)]
                errors[init] = " ".join(f"{run.reconstruction_err_ / np.linalg.norm(X):.4f}" for run in runs)
            yield f"{name}, {method.__name__}({rank}): {errors}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # those that end at max_iter are compared as they are
    studies = {study.__name__: study for study in (orthogonality, online, starts)}
    for study in sys.argv[1:] or studies:
        print(study)
        for line in studies[study]():
            print(f"    {line}", flush=True)
