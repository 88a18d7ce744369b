"""The figures of evidence/estimators.md, in about five minutes; `python benchmarks/estimators.py online` is one study of them."""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import minmax_scale, scale

from nonneg import ONMF, OPNMF, PNMF, KernelPNMF, SymmetricNMF
from nonneg_papers import FetchError, load_cbcl, load_olivetti, load_orl


def collections() -> Iterator[tuple[str, np.ndarray, int]]:
    """Pictures, samples in rows, and how many components to look for; those that are at hand."""
    yield "digits", load_digits().data, 16
    for name, load, rank in (("CBCL", load_cbcl, 25), ("ORL", lambda: load_orl("32x32"), 25)):
        try:
            yield name, load().data, rank
        except (FetchError, ImportError) as error:
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


def labelled() -> Iterator[tuple[str, np.ndarray, np.ndarray, tuple[float | None, ...]]]:
    """Samples in classes, and widths γ of a Gaussian kernel, of which None is the default."""
    cancer, wine, iris, digits = load_breast_cancer(), load_wine(), load_iris(), load_digits()
    yield "breast cancer from 0 to 1", minmax_scale(cancer.data), cancer.target, (None,)
    yield "breast cancer standardized", scale(cancer.data), cancer.target, (0.001, 0.01, None, 0.1)
    try:
        olivetti = load_olivetti()
        yield "Olivetti, 40 people", olivetti.data, olivetti.target, (None, 0.01)
    except (FetchError, ImportError) as error:
        print(f"without Olivetti: {error}")
    yield "digits, first 600", digits.data[:600] / 16, digits.target[:600], (None,)
    yield "wine standardized", scale(wine.data), wine.target, (0.01,)
    yield "iris standardized", scale(iris.data), iris.target, (0.05,)


def similarities() -> Iterator[str]:
    """Adjusted Rand indices of clusters read off similarities, one seed, and how many of them are empty."""
    yield "data, γ (mean similarity) | largest entry of W | SymmetricNMF | KernelPNMF"
    for name, X, target, widths in labelled():
        count = len(np.unique(target))
        for gamma in widths:
            K = rbf_kernel(X, gamma=gamma)
            W = SymmetricNMF(count, random_state=0).fit(K)
            readings = (
                W.factors_["W"].argmax(axis=1),
                W.labels_,
                KernelPNMF(count, kernel="precomputed", random_state=0).fit(K).labels_,
            )
            cells = []
            for labels in readings:
                empty = count - len(np.unique(labels))
                cells.append(f"{adjusted_rand_score(target, labels):.2f}{f', {empty} empty' if empty else ''}")
            width = "default γ" if gamma is None else f"γ = {gamma:g}"
            yield f"{name}, {width} ({K.mean():.2f}) | {' | '.join(cells)}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # those that end at max_iter are compared as they are
    studies = {study.__name__: study for study in (orthogonality, online, starts, similarities)}
    for study in sys.argv[1:] or studies:
        print(study)
        for line in studies[study]():
            print(f"    {line}", flush=True)
