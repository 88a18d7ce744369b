"""Exactly orthogonal parts of the CBCL faces: how much they cost in error and in time, beside opnmf made exact by K-lines."""

from __future__ import annotations

import math

import numpy as np

from _bench import Bench, in_turns, seconds_of, threads, timed
from _data import described, faces, starts
from _peers import k_lines, projection, squares
from nonneg import OPNMF
from projective import package

TITLE = "Exactly orthogonal: faces"


def run(bench: Bench) -> None:
    with bench.attempt("CBCL", TITLE), threads(1):
        X, rank = faces(bench.quick), 4 if bench.quick else 25
        samples, problem = np.ascontiguousarray(X.T), f"CBCL {described(X)}, r = {rank}"
        OPNMF(rank, orthogonality="exact", max_iter=20, tol=0, random_state=0).fit(samples)
        for name, W in starts(X, rank).items():
            with bench.attempt(problem, "relative error", start=name):
                models = {how: OPNMF(rank, init=W.T, orthogonality=how) for how in ("soft", "exact")}
                taken = in_turns(
                    {how: lambda model=model: timed(lambda: model.fit(samples)) for how, model in models.items()},
                    rounds=2 if bench.quick else 5,
                )
                error = float(models["exact"].reconstruction_err_) / math.sqrt(squares(X))
                rho = models["exact"].orthogonality_["W"].error
                bench.number(
                    [error],
                    0.1560,
                    holds=rho < 1e-12,
                    problem=problem,
                    what="relative error, exact",
                    start=name,
                    details={"rho": rho},
                )
                bench.cost(
                    seconds_of(taken["exact"]),
                    seconds_of(taken["soft"]),
                    at_most=1.1,
                    problem=problem,
                    what="time, exact",
                    peer="ours, soft",
                    start=name,
                )
            with bench.attempt(problem, "relative error, exact", "opnmf + K-lines", name):
                objective, _ = projection(X, k_lines(X @ X.T, package(rank, name, bench.quick)[0].result))
                bench.number(
                    [math.sqrt(2 * objective / squares(X))],
                    problem=problem,
                    what="relative error, exact",
                    peer="opnmf + K-lines",
                    start=name,
                )
