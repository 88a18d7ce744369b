"""The observations that docs/equations.md and docs/graphs.md report. Takes about a minute."""

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from nonneg import Model, Solution, datasets, factorize, metrics
from nonneg.constraints import Orthogonal
from nonneg.graph import SIMILARITIES, GraphClustering
from nonneg.graph._partitions import Mover, trace_of
from nonneg.solvers import Multiplicative


def rises(solution: Solution) -> int:
    """How many steps raised the objective by more than rounding."""
    objective = solution.history.objective
    return int(np.sum(np.diff(objective) > 1e-12 * objective[0]))


def every_step(X: np.ndarray, model: Model, rank: int, exponent: float | None, sweeps: int, seed: int) -> Solution:
    settings = {"max_iter": sweeps, "tol": 0, "check_every": 1, "random_state": seed}
    return factorize(X, model, rank, solver=Multiplicative(exponent), **settings)


def orthogonal() -> Iterator[str]:
    X = load_digits().data.T
    for form in ("W W.T X", "W H"):
        for divergence in ("euclidean", "kullback-leibler"):
            model = Model(form, divergence, {"W": "orthogonal"})
            counts = {e: rises(every_step(X, model, 10, e, 300, 0)) for e in (1, 1 / 2, 1 / 3, 1 / 4)}
            yield f"{form}, {divergence}: rises in 300 steps, by exponent {counts}"


def steps() -> Iterator[str]:
    """Where the orthogonal rules end before they are simplified (QNMF Eq. 11, ONL Eq. 26 and 27), and after."""
    X = load_digits().data.T
    for form in ("W H", "W W.T X"):
        for count in (1, 2, 3):
            model = Model(form, constraints={"W": Orthogonal(steps=count)})
            runs = [factorize(X, model, 10, solver=Multiplicative(), max_iter=2000, tol=0, random_state=seed) for seed in (0, 1)]
            errors = [np.sqrt(2 * run.objective) / np.linalg.norm(X) for run in runs]
            overlap = [metrics.orthogonality_error(run.factors["W"]) for run in runs]
            yield (
                f"{form}, {count} of 3 steps, 2000 iterations, two seeds: relative error {errors[0]:.4f} and {errors[1]:.4f}, "
                f"‖WᵀW − I‖ {overlap[0]:.2f} and {overlap[1]:.2f}"
            )


def stochastic() -> Iterator[str]:
    rng = np.random.default_rng(1)
    emission, joint = rng.dirichlet(np.full(26, 0.2), size=4).T, rng.random((4, 4))
    pairs = emission @ joint @ emission.T
    X = rng.multinomial(20_000, (pairs / pairs.sum()).ravel()).reshape(26, 26) / 20_000
    for divergence in ("euclidean", "kullback-leibler"):
        model = Model("W Y W.T", divergence, {"W": "stochastic-columns", "Y": "stochastic-matrix"})
        for seed in (0, 1):
            solution = every_step(X, model, 4, None, 3000, seed)
            soft = {name: f"{error:.1e}" for name, error in solution.history[-1].violation.items()}
            yield f"{divergence}, seed {seed}: {rises(solution)} rises in 3000 steps, soft error at the end {soft}"


def dual_i() -> Iterator[str]:
    model = Model("W W.T", "dual-i")
    for spread in (1, 3):
        runs = []
        for seed in range(300):
            Z = np.random.default_rng(seed).standard_normal((4, 4))
            runs.append(rises(every_step(np.exp(spread * Z) + np.exp(spread * Z).T, model, 2, None, 30, seed)))
        yield f"entries exp({spread}z): {sum(count > 0 for count in runs)} of 300 runs rise at least once in 30 steps"


def plateau() -> Iterator[str]:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        means = rng.choice([1.0, 2, 4, 7], size=(4, 4))
        rows, columns = (rng.permutation(np.repeat(range(4), [20, 30, 60, 90])) for _ in range(2))
        X = rng.poisson(means[np.ix_(rows, columns)]).astype(float)
        for divergence in ("euclidean", "kullback-leibler"):
            for init in ("random", "kmeans"):
                s = factorize(X, "L L.T X R R.T", 4, divergence=divergence, init=init, random_state=0)
                found = [adjusted_rand_score(true, s.factors[name].argmax(axis=1)) for true, name in ((rows, "L"), (columns, "R"))]
                yield f"instance {seed}, {divergence}, {init}: {s.status} after {s.n_iter}, ARI {found[0]:.2f} and {found[1]:.2f}"


def faces() -> Iterator[str]:
    """NNP's orthogonality of the learned basis, 1024 pixels and rank 25, with the printed rules."""
    try:
        X = datasets.load_feret().data.T
    except (datasets.FetchError, ImportError) as error:
        yield f"left out: {error}"
        return
    for name, form, constraints, sweeps in (
        ("NMF", "W H", {}, 1000),
        ("PNMF", "W W.T X", {}, 5000),
        ("NLHN", "W W.T X", {"W": "orthogonal"}, 5000),
    ):
        solver = Multiplicative(exponent=1, rescale=name == "PNMF")
        settings = {"solver": solver, "max_iter": sweeps, "tol": 0, "check_every": sweeps, "constraints": constraints}
        rho = [metrics.orthogonality(factorize(X, form, 25, random_state=seed, **settings).factors["W"]) for seed in (0, 1)]
        yield f"{name}, {sweeps} iterations, two seeds: ρ = {rho[0]:.3f} and {rho[1]:.3f}"


def lonely_vertices() -> Iterator[str]:
    """What becomes of the classes of Journals where every vertex may move wherever the trace grows; beside the default."""
    try:
        journals = datasets.load_graph("Journals")
    except (datasets.FetchError, ImportError) as error:
        yield f"left out: {error}"
        return
    A, count = journals.adjacency.toarray() + np.diag(journals.readers), 28
    S = SIMILARITIES["discriminative-kmeans"](A)
    for seed in range(3):
        model = GraphClustering(count, similarity="discriminative-kmeans", random_state=seed).fit(A)
        anywhere = Mover(S)(
            model.labels_, np.ones((len(A), count), dtype=bool), np.random.default_rng(seed), may_be_empty=True
        ).labels
        for name, labels in (("default", model.labels_), ("moves of any vertex from there", anywhere)):
            sizes = np.sort(np.bincount(labels))[::-1]
            trace, purity = trace_of(S, labels, count), metrics.purity(journals.target, labels)
            yield f"seed {seed}, {name}: trace {trace:.2f}, purity {purity:.2f}, largest parts {sizes[:3]}"


if __name__ == "__main__":
    for study in (orthogonal, steps, stochastic, dual_i, plateau, faces, lonely_vertices):
        print(study.__name__.replace("_", "-"))
        for line in study():
            print("   ", line)
