"""The observations that equations.md, graphs.md and coclusters.md report. Takes about a minute."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import block_diag
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from communities import BLOCKS, planted
from nonneg import FONT, ONMTF, BiORNM3F, Model, Solution, factorize, metrics
from nonneg.constraints import Orthogonal
from nonneg.graph import SIMILARITIES, GraphClustering
from nonneg.graph._partitions import Mover, trace_of
from nonneg.solvers import Multiplicative
from nonneg_papers import FetchError, load_feret, load_graph


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
        X = load_feret().data.T
    except (FetchError, ImportError) as error:
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
        journals = load_graph("Journals")
    except (FetchError, ImportError) as error:
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


def unequal_blocks() -> Iterator[str]:
    """Where the default cuts the largest of four blocks: the trace that it finds there, beside that of the blocks themselves."""
    sizes, inside, across = BLOCKS["blocks of 300, 150, 80, 40, edges .1 inside, .02 across"]
    for seed in range(3):
        A, target = planted(sizes, inside, across, seed)
        model = GraphClustering(4, method="refined", random_state=seed).fit(A)
        S = SIMILARITIES["regularized"](A)
        traces = [trace_of(S, labels, 4) for labels in (model.labels_, target)]
        yield (
            f"graph {seed}: adjusted Rand index {adjusted_rand_score(target, model.labels_):.2f}, trace {traces[0]:.5f}, "
            f"of the blocks {traces[1]:.5f}, {traces[0] - traces[1]:+.1e}"
        )


def exact_blocks() -> Iterator[str]:
    """Objectives on three blocks, exactly of rank three."""
    X = block_diag(np.full((7, 8), 11.0), np.full((9, 11), 55.6), np.full((14, 11), 55.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, model in {
            'ONMTF(3, init="nndsvd", solver="paper")': ONMTF(3, init="nndsvd", solver="paper", random_state=0),
            'ONMTF(3, init="nndsvd")': ONMTF(3, init="nndsvd", random_state=0),
            "ONMTF(3)": ONMTF(3, random_state=0),
            "FONT(3)": FONT(3, random_state=0),
            'BiORNM3F(3, divergence="kullback-leibler")': BiORNM3F(3, divergence="kullback-leibler", random_state=0),
        }.items():
            yield f"{name}: objective {model.fit(X).objective_:.8g}"


def slopes(function: Callable[[np.ndarray], float], W: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """The gradient by differences."""
    gradient = np.empty_like(W)
    for place in np.ndindex(W.shape):
        moved = [W.copy(), W.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        high, low = (function(U) for U in moved)
        gradient[place] = (high - low) / (2 * step)
    return gradient


def misprints() -> Iterator[str]:
    """Equations as printed, and as equations.md has them, at random points: how far each is from what it stands for."""
    rng = np.random.default_rng(0)

    def apart(truth: object, printed: object, right: object) -> str:
        off = [np.abs(np.subtract(truth, value)).max() for value in (printed, right)]
        return f"printed off by {off[0]:.1e}, corrected by {off[1]:.1e}"

    W, S, H = rng.random((6, 3)), rng.random((3, 3)), rng.random((3, 7))
    V = W @ S @ H  # exact, so that the factors are fixed points, and all ratios one
    up, across = V @ H.T @ S.T, S.T @ W.T @ V
    yield f"FONT 6, multiplier 0: {apart(1, up / (W @ H @ H.T), up / (W @ S @ H @ H.T @ S.T))}"
    yield f"FONT 8, multiplier 0: {apart(1, across / (W.T @ W @ H), across / (S.T @ W.T @ W @ S @ H))}"
    least = np.linalg.lstsq(W, V, rcond=None)[0], np.linalg.lstsq(H.T, V.T, rcond=None)[0].T
    off = np.abs(W.T @ W @ least[0] - W.T @ V).max(), np.abs(H @ H.T @ least[1].T - H @ V.T).max()
    yield f"FONT §3.2: WᵀWH = WᵀV has the best H, off by {off[0]:.1e}, HHᵀWᵀ = HVᵀ the best W, off by {off[1]:.1e}"
    other = rng.random((6, 7))
    slope = slopes(lambda U: float(np.sum((other - U @ S @ H) ** 2) + 0.5 * np.sum((U.T @ U - np.eye(3)) ** 2)), W)
    rest = 2 * ((W.T @ W + S @ H @ H.T @ S.T) @ W.T - W.T - S @ H @ other.T).T
    yield f"FONT 21, twice its left less its right side: off the gradient it stands for by {np.abs(slope - rest).max():.1e}"
    right = (W.T @ V @ H.T) / (W.T @ W @ S @ H @ H.T)
    yield f"FONT 7: sizes do not fit as printed, corrected off by {np.abs(1 - right).max():.1e}"

    X, labels = rng.random((5, 12)), rng.integers(0, 3, 12)
    binary = np.eye(3)[labels]
    cost = sum(float(np.sum((X[:, labels == k] - X[:, labels == k].mean(axis=1, keepdims=True)) ** 2)) for k in range(3))
    indicators = (binary, binary / np.sqrt(binary.sum(axis=0)))
    yield f"PNMF 32, QNMF §1, K-means: {apart(cost, *(np.sum(X**2) - np.sum((X @ U) ** 2) for U in indicators))}"

    root, W = rng.random((6, 6)), rng.random((6, 2))
    K = root @ root.T
    traces = np.trace(W.T @ K @ W), np.trace(W @ W.T @ K @ W @ W.T), np.trace(K)
    truth = -0.5 * np.sum((root - W @ W.T @ root) ** 2)
    yield f"ONL §4.2: {apart(truth, (traces[0] - traces[1]) / 2 - traces[2], traces[0] - traces[1] / 2 - traces[2] / 2)}"

    X, W, Y = rng.random((5, 5)), rng.random((5, 5)), rng.random((5, 5))
    gradient = slopes(lambda U: float(0.5 * np.sum((X - U @ Y @ U.T) ** 2)), W)
    rest = W @ Y @ W.T @ W @ Y.T - X @ W @ Y.T - X.T @ W @ Y
    printed, right = rest + W @ Y.T @ W @ Y, rest + W @ Y.T @ W.T @ W @ Y
    yield f"QNMF §5.3, gradient of W (as many states as symbols): {apart(gradient, printed, right)}"

    root, alpha = rng.random((6, 6)), rng.random(6)
    K, U = root @ root.T, np.kron(np.eye(2), np.full((3, 3), 1 / 3))
    A, B = K @ U @ K, K @ K
    alpha /= np.sqrt(alpha @ B @ alpha)  # the constraint of NNP 62
    general = A @ alpha / (alpha @ B @ A @ alpha)  # NNP 21 over alpha
    lengths = alpha @ B @ alpha, alpha @ K @ K @ K @ U @ K @ alpha
    yield f"NNP 63 beside NNP 21: {apart(general, *(A @ alpha / length for length in lengths))}"

    Q = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    rest = np.eye(6) - Q @ Q.T
    yield f"NNP 44, m − r = 4: the 2-norm is {np.linalg.norm(rest, 2):.3f}, the squared Frobenius norm {np.sum(rest**2):.3f}"


if __name__ == "__main__":
    for study in (orthogonal, steps, stochastic, dual_i, plateau, faces, lonely_vertices, unequal_blocks, exact_blocks, misprints):
        print(study.__name__.replace("_", "-"))
        for line in study():
            print("   ", line)
