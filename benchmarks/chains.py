"""Hidden Markov chains: the default to where the plain rule ends; a known chain beside hmmlearn's Baum–Welch. One thread.

The plain rule is QNMF Eq. 10 with the proven exponent, 10 000 iterations from a random start. The default solver begins there too,
and where it ends in a higher minimum goes on with starts of its own, until it is within 0.1 % of where the plain rule ended.
Baum–Welch has ten random starts with hmmlearn's defaults, ten iterations each, of which the likeliest is kept; more would take it
longer.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from itertools import permutations
from time import perf_counter
from typing import Any

import numpy as np

from _bench import Bench, Timed, threads, timed
from nonneg import NNMFHMM, QNMFHMM, Model, datasets, factorize
from nonneg.hmm._starts import STARTS, uniform
from nonneg_papers import load_codon_pairs, load_letter_pairs

TITLE = "Hidden Markov chains: default and plain rule, Baum–Welch"
WITHIN = 1e-3
CONSTRAINTS = {"W": "stochastic", "Y": "stochastic-matrix"}


def run(bench: Bench) -> None:
    factorize(np.eye(3) + 1, Model("W Y W.T", "euclidean", CONSTRAINTS), 2)  # so that no time is the compiler's
    data: dict[str, tuple[Callable[[], Any], int]] = {
        "synthetic 22 × 22": (lambda: datasets.make_hidden_chain(4, 22, overlap=0.1), 4),
        "letters 26 × 26": (load_letter_pairs, 6),
        "codons 61 × 61": (load_codon_pairs, 6),
    }
    for name, (load, n_states) in data.items():
        with bench.attempt(name, TITLE), threads(1):
            X = occurring(load().data)
            for divergence in ("euclidean", "kullback-leibler"):
                for seed in range(1 if bench.quick else 10):
                    plain(bench, name, X, n_states, divergence, seed)
                    if divergence == "euclidean":
                        rival(bench, name, X, n_states, seed)
    with bench.attempt("known chain", TITLE), threads(1):
        known(bench)


def occurring(counts: np.ndarray) -> np.ndarray:
    occurs = (counts.sum(axis=0) + counts.sum(axis=1)) > 0
    return counts[np.ix_(occurs, occurs)] / counts.sum()


def plain(bench: Bench, name: str, X: np.ndarray, n_states: int, divergence: str, seed: int) -> None:
    """The time of the default, beside that of 10 000 iterations."""
    model, n_iter = Model("W Y W.T", divergence, CONSTRAINTS), 50 if bench.quick else 10_000
    start = uniform(X, n_states, np.random.default_rng(seed))
    theirs = timed(
        lambda: factorize(X, model, init=start, solver="multiplicative", tol=0, max_iter=n_iter, check_every=n_iter).objective
    )
    ours = reach(X, model, n_states, theirs.result * (1 + WITHIN), start, seed)
    words = {"problem": f"{name}, {divergence}", "start": f"seed {seed}", "peer": f"the plain rule, {n_iter} iterations"}
    bench.faster([ours.seconds], [theirs.seconds], 10, what="to within 0.1 % of its objective", details=ours.result, **words)


def reach(X: np.ndarray, model: Model, n_states: int, goal: float, start: Any, seed: int) -> Timed:
    """The seconds of the default, from the same start, and from its own if that ends higher, until the goal is reached."""
    begin, generator, turns = perf_counter(), np.random.default_rng(seed), STARTS["auto"]
    for number in range(QNMFHMM.n_init):
        start = turns[number % len(turns)](X, n_states, generator) if number else start
        found = factorize(
            X, model, init=start, tol=QNMFHMM.tol, max_iter=QNMFHMM.max_iter, callback=lambda progress: progress.objective <= goal
        )
        if found.objective <= goal:
            return Timed(perf_counter() - begin, {"starts": number + 1, "iterations": found.n_iter})
    return Timed(math.inf, {"starts": QNMFHMM.n_init})


def rival(bench: Bench, name: str, X: np.ndarray, n_states: int, seed: int) -> None:
    n_iter, starts = (50, 1) if bench.quick else (10_000, QNMFHMM.n_init)
    ours = QNMFHMM(n_states, divergence="euclidean", n_init=starts, random_state=seed).fit_pairs(X)
    theirs = NNMFHMM(n_states, max_iter=n_iter, random_state=seed).fit_pairs(X)
    words = {"problem": f"{name}, euclidean", "start": f"seed {seed}", "peer": "NNMF-HMM"}
    bench.cost([ours.objective_], [theirs.objective_], 1, what="objective of the default fit", unit="", **words)


def known(bench: Bench) -> None:
    """A million symbols from four states with (nearly) symbols of their own."""
    n_samples, starts, own = (20_000, 1, 1) if bench.quick else (1_000_000, 10, QNMFHMM.n_init)
    for overlap in (0.0,) if bench.quick else (0.0, 0.01):
        chain = datasets.make_hidden_chain(4, 40, n_samples, overlap=overlap, random_state=0)
        words = {"problem": f"{n_samples} symbols, 4 states, 40 symbols, overlap {overlap:g}"}
        QNMFHMM(4, n_init=1, random_state=0).fit(chain.sequence[:1000])  # so that no time is the compiler's
        ours = timed(lambda chain=chain: QNMFHMM(4, n_init=own, random_state=0).fit(chain.sequence))
        for what, error in zip(("transitions", "emissions"), variation(chain, ours.result), strict=True):
            bench.number([error], 0.02, what=f"total variation of {what}, worst state", **words)
        bench.number([ours.seconds], what="seconds, all starts", **words)
        if overlap:
            continue  # a million symbols take hmmlearn a second an iteration: once is enough
        with bench.attempt(words["problem"], "time, all starts", "hmmlearn, Baum–Welch"):
            n_iter = 2 if bench.quick else 10
            theirs = baum_welch(chain.sequence, starts, n_iter)
            peer = f"hmmlearn, Baum–Welch, best of {starts}, {n_iter} iterations each at most"
            bench.faster([ours.seconds], [theirs.seconds], 10, what="time, all starts", peer=peer, **words)
            for what, error in zip(("transitions", "emissions"), variation(chain, theirs.result), strict=True):
                bench.number([error], what=f"total variation of {what}, worst state, theirs", peer=peer, **words)


def baum_welch(sequence: np.ndarray, starts: int, n_iter: int) -> Timed:
    from hmmlearn.hmm import CategoricalHMM

    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    column = sequence[:, None]

    def best() -> Any:
        models = [CategoricalHMM(4, n_iter=n_iter, random_state=seed).fit(column) for seed in range(starts)]
        return max(models, key=lambda model: model.monitor_.history[-1])

    return timed(best)


def variation(chain: Any, model: Any) -> tuple[float, float]:
    """½Σ|p − q| between estimated and true rows, the largest of them, with the states in the order that suits best."""
    found = []
    for order in map(list, permutations(range(len(chain.transmat)))):
        errors = [
            0.5 * np.abs(estimated - true).sum(axis=1).max()
            for estimated, true in (
                (model.transmat_[np.ix_(order, order)], chain.transmat),
                (model.emissionprob_[order], chain.emissionprob),
            )
        ]
        found.append((max(errors), *errors))
    return min(found)[1:]
