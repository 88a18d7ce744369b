"""Hidden Markov chains: QNMF Figs. 4–6 and Table 2."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from nonneg import NNMFHMM, QNMFHMM, Model, datasets, factorize
from nonneg.constraints import Stochastic
from nonneg.hmm._starts import uniform

from .. import load_codon_pairs, load_letter_pairs
from ._page import Page

TITLE = "Hidden Markov chains: QNMF Figs. 4–6 and Table 2"
REPEATS = range(30)
ITERATIONS = 10_000
SOFT = range(10)
STATES = {"synthetic": 4, "English words": 6, "genetic codes": 6}
LETTERS = range(50)
LOOKS = (10, 100, 1000, 10_000)
"""Iterations after which the objectives of Fig. 4 are compared."""

PAPER = {
    "synthetic": ("8.9e-06 ± 3.8e-05", "1.7e-08 ± 1.2e-07"),
    "English words": ("3.3e-05 ± 3.5e-05", "2.2e-07 ± 5.6e-07"),
    "genetic codes": ("6.1e-06 ± 6.1e-06", "2.7e-07 ± 2.2e-07"),
}
PRINTED = {  # the means as numbers
    name: tuple(float(text.split(" ")[0]) for text in pair) for name, pair in PAPER.items()
}
PAPER_GROUPS = ("dqrsx", "cg", "bfhjklmptvwz", "n", "aiou", "ey")
VOWELS = set("aeiou")


@dataclass(frozen=True)
class Soft(Stochastic):
    """The rule of Eq. 10 alone: nothing restores the sums after a step."""

    restores_fully: ClassVar[bool] = False

    def restore(self, xp: Any, factor: Any) -> Any:
        return factor


def pairs() -> dict[str, np.ndarray]:
    """Probabilities of pairs, of the symbols that occur."""
    counts = {
        "synthetic": datasets.make_hidden_chain(4, 22, 100_000, overlap=0.1).data,
        "English words": load_letter_pairs().data,
        "genetic codes": load_codon_pairs().data,
    }
    found = {}
    for name, C in counts.items():
        occurs = (C.sum(axis=0) + C.sum(axis=1)) > 0
        found[name] = C[np.ix_(occurs, occurs)] / C.sum()
    return found


def build(page: Page) -> None:
    data = pairs()
    page.say(f"""
        X ≈ W Y Wᵀ, the joint probabilities of two symbols in a row. Three data sets, as far as the paper says which: a synthetic
        chain of 22 symbols (`make_hidden_chain`, 4 states, a tenth of the emissions overlapping; the paper's is by "the procedure
        by Lakshminarayanan and Raich", without numbers), letters of 58 109 English words (26), and human codons (64, of which the
        three stop codons do not occur in the counts that can be had). The paper sets the number of states "empirically" and does
        not say to what; here it is {", ".join(f"{k} ({name})" for name, k in STATES.items())}, six being the number of groups
        that it prints. Objectives are ½‖X − W Y Wᵀ‖². All methods begin at random; "paper" is the rule of Eq. 10 with the proven
        exponents, its sums restored after each step.
    """)
    curves(page, data)
    restored = finals(page, data)
    soft(page, data, restored)
    letters(page)


def curves(page: Page, data: dict[str, np.ndarray]) -> None:
    page.heading("Fig. 4: objectives as they fall")
    figure, panels = plt.subplots(1, len(data), figsize=(12, 3.8), layout="constrained")
    for axes, (name, X) in zip(panels, data.items(), strict=True):
        models = {
            "QNMF-HMM, paper's rule": estimator("paper", name, 0),
            "QNMF-HMM, default solver": estimator("default", name, 0),
            "NNMF-HMM": estimator("rival", name, 0),
        }
        for label, model in models.items():
            history = fitted(page, model, X).history_
            axes.plot(np.maximum(history.iteration, 1), history.objective, label=label, linewidth=1)
        axes.set(title=f"{name}, {len(X)} × {len(X)}", xlabel="iterations", xscale="log", yscale="log")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("½‖X − W Y Wᵀ‖²")
    panels[0].legend(fontsize=8, frameon=False)
    page.figure(
        figure,
        "One start each. The paper's Fig. 4: QNMF-HMM falls fast and steadily; NNMF-HMM goes up and down on the two smaller sets, "
        "and on the largest barely falls.",
    )


def fitted(page: Page, model: Any, X: np.ndarray) -> Any:
    """The chain, fitted to pairs and put on record."""
    begin = perf_counter()
    model.fit_pairs(X)
    page._record(model, X, model.n_iter_, model.status_, perf_counter() - begin)
    return model


def estimator(method: str, name: str, seed: int) -> Any:
    k = STATES[name]
    if method == "rival":
        return NNMFHMM(k, max_iter=ITERATIONS, random_state=seed)
    if method == "paper":
        return QNMFHMM(k, divergence="euclidean", solver="paper", n_init=1, max_iter=ITERATIONS, tol=0, random_state=seed)
    return QNMFHMM(k, divergence="euclidean", init="random", n_init=1, max_iter=ITERATIONS, random_state=seed)


def finals(page: Page, data: dict[str, np.ndarray]) -> dict[str, float]:
    """Fig. 5; what is returned are the constraint errors of W and Y where sums are restored, the largest mean of a data set."""
    page.heading(f"Fig. 5 and Table 2: {len(REPEATS)} starts")
    methods = ("paper", "default", "rival")
    found = {
        (name, method): Parallel(2)(delayed(final)(method, name, X, seed) for seed in REPEATS)
        for name, X in data.items()
        for method in methods
    }
    rows = []
    for name in data:
        for method, label in zip(methods, ("QNMF-HMM, paper's rule", "QNMF-HMM, default solver", "NNMF-HMM"), strict=True):
            objective, seconds, rises = (
                np.array([run[key] for run in found[name, method]]) for key in ("objective", "seconds", "rises")
            )
            rows.append(
                (
                    name,
                    label,
                    f"{objective.mean():.3e} ± {objective.std():.1e}",
                    f"{objective.min():.3e}",
                    f"{np.median(seconds):.2f}",
                    f"{int(rises.sum())} of {len(rises)}",
                )
            )
    page.table(
        ("data", "method", "final objective", "lowest", "seconds, median", "runs in which it rose"),
        rows,
        "Fig. 5, final objectives after normalising; of NNMF-HMM the lowest on the way. Rises: between checks, beyond rounding.",
    )
    say_who_is_lower(page, found, list(data))
    page.figure(
        bars(found, data),
        "Fig. 5: mean and standard deviation of final objectives; a bar that reaches zero runs out of the logarithmic axis.",
    )
    page.table(
        ("data", "factor", "paper's rule", "default solver", "paper"),
        [
            (name, factor, *(spread([run[factor] for run in found[name, m]]) for m in methods[:2]), PAPER[name][factor == "Y"])
            for name in data
            for factor in ("W", "Y")
        ],
        "Table 2: Σₖ|1 − Σᵢ W_ik| and |1 − ΣY| of the last step, before it is normalised.",
    )
    return {factor: max(float(np.mean([run[factor] for run in found[name, "paper"]])) for name in data) for factor in ("W", "Y")}


def say_who_is_lower(page: Page, found: dict[Any, Any], names: list[str]) -> None:
    """What the paper says of Fig. 4 and 5, beside how often it is so here."""

    def ends(name: str, method: str) -> np.ndarray:
        return np.array([run["objective"] for run in found[name, method]])

    def counted(method: str) -> str:
        return ", ".join(f"{int(np.sum(ends(name, method) < ends(name, 'rival')))} ({name})" for name in names)

    overlaps = [name for name in names if ends(name, "paper").max() > ends(name, "rival").min()]
    above = "; ".join(
        f"""on {name} the worst start of the paper's rule ends at {ends(name, "paper").max():.2e}, and the best of NNMF-HMM at
        {ends(name, "rival").min():.2e}"""
        for name in overlaps
    )
    means = [bool(ends(name, "paper").mean() < ends(name, "rival").mean()) for name in names]
    spreads = [bool(ends(name, "paper").std() < ends(name, "rival").std()) for name in names]
    rises = {method: sum(run["rises"] for name in names for run in found[name, method]) for method in ("paper", "default", "rival")}
    total = len(names) * len(REPEATS)
    page.claim(
        "QNMF Fig. 5",
        "QNMF-HMM ends far below NNMF-HMM, with little spread.",
        [*means, *spreads, not overlaps],
        f"""The mean of the paper's rule is lower on {sum(means)} of {len(names)} data sets, its deviation on {sum(spreads)}.
        Seed by seed, of {len(REPEATS)}, it ends below NNMF-HMM on {counted("paper")}, the default solver on {counted("default")}.
        {f"But not from each start: {above}." if overlaps else "None of its starts ends above one of NNMF-HMM."} The paper has no
        numbers to read off.""",
    )
    page.claim(
        "QNMF Fig. 4",
        "QNMF-HMM decreases stably, and NNMF-HMM fluctuates a lot on the two smaller data sets.",
        [not rises["paper"], *(jumps(found, name, "rival") > 0.5 for name in names[:2])],
        f"""The objective rose, beyond rounding, in {rises["paper"]} of {total} runs of the paper's rule, in {rises["default"]} of
        the
        default and in {rises["rival"]} of NNMF-HMM. By a tenth or more of what it was, from one check to the next, it rose in
        {", ".join(f"{jumps(found, name, 'rival'):.0%} ({name})" for name in names)} of the runs of NNMF-HMM; half of them counts as
        a
        lot.""",
    )
    medians = {key: [float(np.median([run["looks"][k] for run in runs])) for k in LOOKS] for key, runs in found.items()}
    lower = {name: [a < b for a, b in zip(medians[name, "paper"], medians[name, "rival"], strict=True)] for name in names}
    page.claim(
        "QNMF Fig. 4",
        "QNMF-HMM is significantly more efficient than NNMF-HMM for all data sets: its objective falls much faster.",
        [check for checks in lower.values() for check in checks],
        f"After {', '.join(map(str, LOOKS))} iterations the paper's rule has, in the median, "
        + "; ".join(
            f"{', '.join(f'{value:.1e}' for value in medians[name, 'paper'])}, NNMF-HMM "
            f"{', '.join(f'{value:.1e}' for value in medians[name, 'rival'])}, the default "
            f"{', '.join(f'{value:.1e}' for value in medians[name, 'default'])} ({name})"
            for name in names
        )
        + """. Of NNMF-HMM that is the lowest so far. Its pseudo-inverses go a long way in the first iterations; the paper's rule,
        with
        its small exponents, goes on falling.""",
    )
    drops = [run["looks"][10_000] / run["looks"][10] for run in found[names[-1], "rival"]]
    page.claim(
        "QNMF Fig. 4",
        "On the largest data set NNMF-HMM barely drops in thousands of iterations.",
        [float(np.median(drops)) > 0.5],
        f"""On {names[-1]}, from the 10th to the 10 000th iteration, the lowest objective so far falls to {np.median(drops):.2f} of
        what it was in the median, where above .5 counts as barely, and to {min(drops):.2f} in the run that falls the most,
        {sum(drop < 0.5 for drop in drops)} of {len(drops)} below .5; that of the paper's rule to
        {np.median([run["looks"][10_000] / run["looks"][10] for run in found[names[-1], "paper"]]):.3f}.""",
    )


def jumps(found: dict[Any, Any], name: str, method: str) -> float:
    """The share of the runs in which the objective rose by a tenth or more from one check to the next."""
    return float(np.mean([run["jumps"] for run in found[name, method]]))


def final(method: str, name: str, X: np.ndarray, seed: int) -> dict[str, Any]:
    model = estimator(method, name, seed).fit_pairs(X)
    objective = model.history_.objective
    return {
        "objective": model.objective_,
        "seconds": model.history_.seconds[-1],
        "rises": bool(np.any(np.diff(objective) > 1e-9 * objective[0])),
        "jumps": bool(np.any(np.diff(objective) > 0.1 * np.array(objective)[:-1])),
        "looks": {k: float(min(v for i, v in zip(model.history_.iteration, objective, strict=True) if i <= k)) for k in LOOKS},
        **model.constraint_errors_,
    }


def soft(page: Page, data: dict[str, np.ndarray], restored: dict[str, float]) -> None:
    page.heading("Table 2: sums left to themselves")
    page.say(f"""
        The paper says that it normalises W once, in the end, and that the rule keeps the sums near one until then. Starting from
        sums of one, and with nothing restored for {ITERATIONS} iterations, they do not stay there: where ∇⁺ = ∇⁻ the rule of Eq. 10
        stands still whatever the sums are, because W and Y can make up for each other. From sums that are not one it can overflow.
    """)
    drifts = {
        name: list(zip(*Parallel(2)(delayed(drift)(X, STATES[name], seed) for seed in SOFT), strict=True))
        for name, X in data.items()
    }
    page.table(
        ("data", "W, nothing restored", "Y, nothing restored", "objective, normalised / as it was", "paper: W", "paper: Y"),
        [(name, *map(spread, columns[:2]), f"{np.median(columns[2]):.3g}", *PAPER[name]) for name, columns in drifts.items()],
        f"Constraint errors after {ITERATIONS} iterations, {len(SOFT)} starts, and what it costs to normalise W and Y (median).",
    )
    errors = {name: [float(np.mean(column)) for column in columns[:2]] for name, columns in drifts.items()}
    page.claim(
        "QNMF Table 2",
        "With soft constraints, the constraint errors are in the mean at most 3.3e-05 of W and 2.7e-07 of Y, and negligible.",
        [ours <= 10 * theirs for name, pair in errors.items() for ours, theirs in zip(pair, PRINTED[name], strict=True)],
        f"""With nothing restored, the mean errors of W and of Y on the three data sets are
        {", ".join(f"{W:.1e} and {Y:.1e}" for W, Y in errors.values())} after {ITERATIONS} iterations, where ten times what is
        printed
        would count. Errors of that size are those of steps whose sums are restored each time: at most {restored["W"]:.1e} of W and
        {restored["Y"]:.1e} of Y in the mean of a data set.""",
    )
    losses = {name: float(np.median(columns[2])) for name, columns in drifts.items()}
    page.claim(
        "QNMF §5.3",
        "To normalise in the end causes little loss, as the errors are negligible (here: up to 1 % of the objective).",
        [loss < 1.01 for loss in losses.values()],
        f"""Normalised after {ITERATIONS} such iterations, the objective is {", ".join(f"{v:.2f} ({n})" for n, v in losses.items())}
        times what it was, in the median.""",
    )


def drift(X: np.ndarray, n_states: int, seed: int) -> tuple[float, float, float]:
    """The errors of W and Y of the last step with nothing restored, and by what dividing both by their sums multiplies the
    objective."""
    model = Model("W Y W.T", "euclidean", {"W": Soft("columns"), "Y": Soft("matrix")})
    start = uniform(X, n_states, np.random.default_rng(seed))
    run = factorize(X, model, init=start, solver="multiplicative", max_iter=ITERATIONS, tol=0, check_every=1000)
    W, Y = run.factors["W"], run.factors["Y"]
    before, after = (np.linalg.norm(X - V @ Z @ V.T) ** 2 for V, Z in ((W, Y), (W / W.sum(axis=0), Y / Y.sum())))
    return run.history[-1].violation["W"], run.history[-1].violation["Y"], float(after / before)


def letters(page: Page) -> None:
    page.heading("Fig. 6: letters in groups")
    bunch = load_letter_pairs()
    X = bunch.data / bunch.data.sum()
    place = {str(letter): i for i, letter in enumerate(bunch.symbols)}
    runs = sorted(Parallel(2)(delayed(grouped)(bunch.data, bunch.symbols, seed) for seed in LETTERS))
    apart = [run for run in runs if not mixed(run[1])]
    lowest, groups = runs[0]
    printed = nearby(X, place)
    page.say(f"""
        Kullback–Leibler divergence, six states, {len(LETTERS)} random starts, which end between {lowest:.4f} and {runs[-1][0]:.4f}.
        Each letter belongs to the state in which its emission is largest, as in the paper.
    """)
    lowest_apart = f"; the lowest of these ends at {apart[0][0]:.4f}" if apart else ""
    page.claim(
        "QNMF Fig. 6",
        "The groups of letters separate vowels from consonants (y aside).",
        [bool(apart), not mixed(groups)],
        f"""In {len(apart)} of {len(LETTERS)} runs no group has both{lowest_apart}. In the run with the lowest divergence,
        {lowest:.4f}, {f"these have: {', '.join(mixed(groups))}" if mixed(groups) else "none has"}. From the groups that the
        paper prints the fit goes to {printed:.4f}, which {sum(run[0] < printed for run in runs)} of the runs here are below.""",
    )
    alone = sum("n" in run[1] for run in runs)
    beside = next(group for group in groups if "n" in group)
    page.claim(
        "QNMF Fig. 6",
        "N forms a group by itself.",
        [beside == "n"],
        f"""In the run with the lowest divergence the group of n is {beside}; n is by itself in {alone} of {len(runs)} runs.""",
    )
    page.table(
        ("here, lowest", "here, lowest with vowels apart", "paper"),
        list(zip(groups, apart[0][1] if apart else [""] * 6, PAPER_GROUPS, strict=True)),
        "Groups of letters.",
    )
    figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    for axes, order in zip(panels, (groups, PAPER_GROUPS), strict=True):
        places = [place[letter] for group in order for letter in group]
        axes.imshow(np.sqrt(X[np.ix_(places, places)]), cmap="gray")
        names = [letter for group in order for letter in group]
        axes.set_xticks(range(26), names)
        axes.set_yticks(range(26), names)
        for edge in np.cumsum([len(group) for group in order])[:-1]:
            axes.axhline(edge - 0.5, color="C1", linewidth=0.8)
            axes.axvline(edge - 0.5, color="C1", linewidth=0.8)
    panels[0].set_title("groups found here")
    panels[1].set_title("groups of the paper")
    page.figure(figure, "Fig. 6: X with its rows and columns in the order of the groups; lighter is larger (square roots).")


def grouped(C: np.ndarray, symbols: np.ndarray, seed: int) -> tuple[float, list[str]]:
    """Where one random start ends, and its groups, those of consonants first."""
    model = QNMFHMM(6, init="random", n_init=1, separate=False, random_state=seed).fit_pairs(C, symbols)
    groups = ["".join(model.symbols_[model.symbol_groups_ == k]) for k in range(6)]
    return model.objective_, sorted(groups, key=lambda group: (bool(set(group) & VOWELS), -len(group), group))


def mixed(groups: list[str]) -> list[str]:
    """Groups that have both vowels and consonants."""
    return [group for group in groups if set(group) & VOWELS and set(group) - VOWELS - {"y"}]


def nearby(X: np.ndarray, place: dict[str, int]) -> float:
    """Where a fit ends that begins with the groups of the paper."""
    W = np.full((26, 6), 0.01)
    for k, group in enumerate(PAPER_GROUPS):
        W[[place[letter] for letter in group], k] = 1
    W *= (X.sum(axis=0) + X.sum(axis=1))[:, None]
    model = Model("W Y W.T", "kullback-leibler", {"W": "stochastic", "Y": "stochastic-matrix"})
    return factorize(X, model, init={"W": W / W.sum(axis=0), "Y": W.T @ X @ W}, max_iter=5000, tol=1e-7).objective


def spread(values: Any) -> str:
    return f"{np.mean(values):.1e} ± {np.std(values):.1e}"


def bars(found: dict[Any, Any], data: dict[str, np.ndarray]) -> Figure:
    figure, panels = plt.subplots(1, len(data), figsize=(10, 3.2), layout="constrained")
    for axes, name in zip(panels, data, strict=True):
        for place, method in enumerate(("paper", "default", "rival")):
            values = [run["objective"] for run in found[name, method]]
            axes.errorbar(place, np.mean(values), yerr=np.std(values), fmt="o", capsize=4)
        axes.set_xticks(range(3), ["QNMF-HMM,\npaper's rule", "QNMF-HMM,\ndefault", "NNMF-HMM"], fontsize=8)
        axes.set(title=name, yscale="log")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("final ½‖X − W Y Wᵀ‖²")
    return figure
