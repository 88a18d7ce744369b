"""Hidden Markov chains, from sequences and from counts of pairs, against brute force over all paths."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from . import data, invariants, parts
from .trial import Trial

_OPTIONS = {
    "QNMFHMM": {
        "divergence": (
            '"kullback-leibler"',
            '"euclidean"',
            '"hellinger"',
            "1.5",
            '"itakura-saito"',
            "nonneg.divergences.Gamma(0.5)",
        ),
        "init": ('"auto"', '"random"'),
        "solver": ('"auto"', '"paper"', *parts.SOLVERS),
        "separate": ("True", "False"),
        "refine_iter": ("100", "0", "15"),
        "tol": ("1e-06", "0", "1e-3"),
    },
    "NNMFHMM": {"tol": ("0.0", "1e-3")},
}
_PATHS = 300
"""As many paths as brute force goes through."""


def case(t: Trial) -> None:
    name = t.pick(tuple(_OPTIONS))
    options = {key: t.pick(values) for key, values in _OPTIONS[name].items() if t.one_in(3)}
    options |= {"n_init": t.pick(("1", "2", "3")), "max_iter": t.pick(("20", "100", "1")), "random_state": "0"}
    made = f"nonneg.{name}({t.integer(1, 3)}, {', '.join(f'{key}={text}' for key, text in options.items())})"
    t.subject = f"{name} {options.get('divergence', '')}"
    if t.one_in(3):
        n = t.integer(1, 6)
        data.matrix(t, n, n, "C")
        call = f"{made}.fit_pairs(C)"
        sequence = f"model.sample({t.integer(1, 6)}, random_state=0)[0]"
    else:
        sequence = _sequence(t)
        call = f"{made}.fit({sequence})"
    model = t.call(call, "model")
    t.note(f"status {model.status_.value}")
    states = len(model.startprob_)
    for attribute in ("emissionprob_", "joint_", "transmat_", "startprob_"):
        found = getattr(model, attribute)
        invariants.finite(t, attribute, found)
        sums = found.sum() if attribute == "joint_" else found.sum(axis=-1)
        invariants.equal(t, "constraint", f"sums of {attribute}", sums, np.ones_like(sums), 1e-9)
    invariants.equal(t, "formula", "stationary distribution", model.startprob_ @ model.transmat_, model.startprob_, 1e-6, 1)
    t.check("shapes", model.emissionprob_.shape == (states, len(model.symbols_)), "emissionprob_ has another shape")
    t.check("shapes", (np.diff(model.startprob_) <= 1e-12).all(), "states are not in the order of how frequent they are")
    if t.one_in(4):
        again = t.call(call, "again")
        t.check(
            "same bits",
            again.emissionprob_.tobytes() == model.emissionprob_.tobytes(),
            "emissionprob_ differs when it is fitted again",
        )
    _check_answers(t, model, sequence)


def _sequence(t: Trial) -> str:
    seed, length, symbols = t.integer(0, 99), t.integer(2, 30), t.integer(1, 5)
    ints = f"np.random.default_rng({seed}).integers({symbols}, size={length})"
    return t.pick(
        (
            f"'{'ab' * length}'",
            f"{ints}",
            f"{ints}.tolist()",
            f"''.join(np.array(list('abcde'))[{ints}])",
            f"[''.join(np.array(list('abcde'))[{ints}]), 'abcde']",
            f"[{ints}, {ints}[::-1]]",
            f"{ints}.reshape(-1, 1)",
            f"{ints}, [{length - 1}, 1]",
            f"np.array(list('vwxyz'))[{ints}]",
            f"[{ints}.tolist(), [0]]",
        )
    )


def _check_answers(t: Trial, model: Any, sequence: str) -> None:
    invariants.finite(t, "sample", np.arange(len(t.call("model.sample(5, random_state=0)", "drawn")[0])))
    logs = t.call(f"model.score_sequences({sequence})", "logs")
    t.check("finite", not np.isnan(logs).any() and (logs <= 1e-9).all(), f"logarithms of probabilities {logs}")
    score = t.call(f"model.score({sequence})", "score")
    invariants.equal(t, "formula", "score", score, logs.sum(), 1e-9)
    if not np.isfinite(score):
        return
    best, states = t.call(f"model.decode({sequence})", "best")
    t.check("formula", best <= score + 1e-9 * (1 + abs(score)), f"the best path has {best}, all paths have {score}")
    shares = t.call(f"model.predict_proba({sequence})", "shares")
    shares = np.concatenate(shares) if isinstance(shares, list) else shares
    invariants.finite(t, "probabilities of states", shares)
    invariants.equal(t, "formula", "sums of probabilities", shares.sum(axis=1), np.ones(len(shares)), 1e-9)
    t.check(
        "shapes", len(np.concatenate(states) if isinstance(states, list) else states) == len(shares), "decode has another length"
    )
    short = t.call("model.sample(4, random_state=1)", "short")[0]
    codes = [int(np.flatnonzero(model.symbols_ == symbol)[0]) for symbol in short]
    if len(model.startprob_) ** len(codes) > _PATHS:
        return
    paths = []
    for path in product(range(len(model.startprob_)), repeat=len(codes)):
        chance = model.startprob_[path[0]] * model.emissionprob_[path[0], codes[0]]
        for before, after, code in zip(path[:-1], path[1:], codes[1:], strict=True):
            chance *= model.transmat_[before, after] * model.emissionprob_[after, code]
        paths.append(chance)
    logarithm = t.call("model.score(short[0])", "logarithm")
    invariants.equal(t, "formula", "probability of a sequence", np.exp(logarithm), sum(paths), 1e-9)
    best, _ = t.call("model.decode(short[0])", "best")
    invariants.equal(t, "formula", "probability of the best path", np.exp(best), max(paths), 1e-9)
