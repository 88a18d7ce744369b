"""NMF of text by the I-divergence (Kullback–Leibler), r = 20, beside scikit-learn's `mu` and MiniBatchNMF. Two threads."""

from __future__ import annotations

from scipy import sparse

from _bench import Bench, Target, Timed, in_turns, seconds_of, threads, timed
from _data import described, documents, pair
from _peers import KL, i_divergence, scikit_learn
from nonneg import factorize

TITLE = "Sparse text, I-divergence"
CHECK = 5
"""Iterations between two looks at the objective, which is a pass over the data here."""


def run(bench: Bench) -> None:
    rank = 4 if bench.quick else 20
    for name in ("reviews", "20 Newsgroups"):
        with bench.attempt(name, TITLE), threads(2):
            X = documents(name, bench.quick)
            factorize(X, "W H", rank, divergence=KL, max_iter=5, random_state=0)
            problem = f"{name} {described(X)}, r = {rank}"
            one_iteration(bench, problem, X, rank)
            to_the_end(bench, problem, X, rank)


def one_iteration(bench: Bench, problem: str, X: sparse.csr_array, rank: int) -> None:
    """The same rule from the same start, so the same iterates; the setting up of both is counted."""
    W, H = pair(X, rank)
    count = 3 if bench.quick else 20

    def ours() -> Timed:
        settings = {"divergence": KL, "solver": "multiplicative", "tol": 0, "max_iter": count, "check_every": count}
        seconds, solution = timed(lambda: factorize(X, "W H", init={"W": W, "H": H}, **settings))
        return Timed(seconds / count, solution.objective)

    def theirs() -> Timed:
        seconds, found = scikit_learn(X, W, H, "mu", KL, max_iter=count, tol=0)
        return Timed(seconds / count, i_divergence(X, *found[:2]))

    taken = in_turns({"ours": ours, "theirs": theirs}, rounds=1 if bench.quick else 2)
    objectives = {"our objective": taken["ours"][0].result, "objective": taken["theirs"][0].result}
    bench.faster(
        seconds_of(taken["ours"]),
        seconds_of(taken["theirs"]),
        at_least=8,
        problem=problem,
        what="an iteration of the same rule",
        peer="scikit-learn mu",
        details=objectives,
    )


def to_the_end(bench: Bench, problem: str, X: sparse.csr_array, rank: int) -> None:
    W, H = pair(X, rank)
    for solver, peer, wanted in (("mu", "scikit-learn mu", 10), ("minibatch", "scikit-learn MiniBatchNMF", None)):
        words = {"problem": problem, "what": "to its objective", "peer": peer}
        with bench.attempt(**words):
            bench.race(
                X,
                "W H",
                {"W": W, "H": H},
                lambda solver=solver: scikit_learn(X, W, H, solver, KL, **({"max_iter": 20} if bench.quick else {})),
                lambda found: Target(i_divergence(X, *found[:2])),
                at_least=wanted,
                rounds=2,
                settings={"divergence": KL, "check_every": CHECK},
                **words,
            )
