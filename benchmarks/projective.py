"""Projective NMF of the CBCL faces beside the opnmf package and the papers' rules, from the same starts, on one thread.

opnmf runs once to its own stop, since that takes long; ours before and after it. Its objective is taken with its W at the best
length, which is the harder target. torchnmf and scikit-learn have no projective model.
"""

from __future__ import annotations

from functools import cache

from _bench import Bench, Mark, Target, Timed, follow, in_turns, seconds_of, threads, timed
from _data import described, faces, starts
from _peers import opnmf, printed_pnmf, projection, run_rule
from nonneg import factorize

TITLE = "Projective NMF: faces"
FORM = "W W.T X"
DRAWN = 25
"""The rank whose curves are drawn."""


@cache
def package(rank: int, start: str, quick: bool) -> tuple[Timed, list[Mark]]:
    """One run of opnmf, which several groups look at."""
    X = faces(quick)
    with threads(1):
        return opnmf(X, starts(X, rank)[start])


def run(bench: Bench) -> None:
    with bench.attempt("CBCL", TITLE), threads(1):
        X = faces(bench.quick)
        for rank in (4,) if bench.quick else (DRAWN, 49):
            factorize(X, FORM, rank, max_iter=20, random_state=0)  # whatever is compiled is compiled here
            for name in starts(X, rank):
                words = {"problem": f"CBCL {described(X)}, r = {rank}", "start": name}
                with bench.attempt(what="to its objective and ρ", peer="opnmf", **words):
                    compare(bench, rank, name, words)
                if rank == DRAWN or bench.quick:
                    draw(bench, rank, name, words)


def compare(bench: Bench, rank: int, name: str, words: dict[str, str]) -> None:
    X = faces(bench.quick)
    W = starts(X, rank)[name]

    def to_our_stop() -> Timed:
        return timed(lambda: factorize(X, FORM, init={"W": W}))

    before = to_our_stop()
    theirs, marks = package(rank, name, bench.quick)
    target = Target(*projection(X, theirs.result))
    bench.race(
        X,
        FORM,
        {"W": W},
        lambda: theirs,
        lambda _: target,
        at_least=150,
        what="to its objective and ρ",
        peer="opnmf",
        details={"their iterations": marks[-1].iteration},
        **words,
    )
    stops = [before, *in_turns({"ours": to_our_stop}, rounds=1 if bench.quick else 3)["ours"]]
    objective, rho = projection(X, stops[-1].result.factors["W"])
    bench.faster(
        seconds_of(stops),
        [theirs.seconds],
        at_least=15,
        holds=objective < target.objective and rho < target.rho,
        what="to our own stop, objective and ρ lower",
        peer="opnmf",
        details={
            "our objective": objective,
            "our rho": rho,
            "iterations": stops[-1].result.n_iter,
            "ended": str(stops[-1].result.status),
        },
        **words,
    )
    bench.race(
        X,
        FORM,
        {"W": W},
        lambda: run_rule(printed_pnmf, X, W, target=target, limit=theirs.seconds)[0],
        lambda _: target,
        what="to opnmf's objective and ρ",
        peer="PNMF Eq. 20 in NumPy",
        **words,
    )


def draw(bench: Bench, rank: int, name: str, words: dict[str, str]) -> None:
    """The objective against time, for the picture of the README."""
    X = faces(bench.quick)
    W, limit = starts(X, rank)[name], 0.1 if bench.quick else 3.0
    bench.curve("nonneg", follow(X, FORM, {"W": W}, limit=limit), **words)
    bench.curve("PNMF Eq. 20 in NumPy", run_rule(printed_pnmf, X, W, limit=3 * limit)[1], **words)
    with bench.attempt(what="objective against time", peer="opnmf", **words):
        bench.curve("opnmf", package(rank, name, bench.quick)[1], **words)
