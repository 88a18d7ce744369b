"""Docstrings of estimators, put together from one description of each parameter and attribute, so that none drifts."""

from __future__ import annotations

import inspect
import textwrap
from typing import TypeVar

PARAMETERS = {
    "n_components": """int or "auto", default="auto"
    How many components. "auto" takes as many as there are samples or features, whichever is less.""",
    "divergence": """str, float or Objective, default="euclidean"
    How X and its approximation are compared: a name such as "euclidean", "kullback-leibler" or "itakura-saito"; a number b for
    ``Beta(b)``, numbered as scikit-learn's ``beta_loss``; or an object of `nonneg.divergences`.""",
    "init": """{INITS} or array or dict, default="auto"
    How to start. "auto" is {DEFAULT_INIT}. An array is {INIT_ARRAY}; a dict gives factors by name, the
    others are drawn. Zeros in them become a thousandth of the mean, from which they can come back.""",
    "solver": """{SOLVERS} or Solver, default="auto"
    "auto" is {DEFAULT_SOLVER}. "paper" is the papers' own protocol: {PAPER}. "multiplicative" is the rule with the exponent
    that the theory proves; "adaptive" lets it grow while the objective falls; "coordinate" takes exact steps in one entry after
    the other; "quasi-newton" learns from its last steps (L-BFGS); or an object of `nonneg.solvers`.""",
    "orthogonality": """{ORTHOGONALITY}, default="soft"
    What is done about orthogonality in the end. "soft" returns what the objective gives: nearly orthogonal, never
    exactly, and neither is what other OPNMF codes return. {EXACT}"rows" keeps, of each feature, the largest entry only, and makes
    components unit length (ONL §2.4). "polar" takes W(WᵀW)^(−1/2), which is orthogonal, and makes its negative
    entries zero, after which it is nearly so. All raise the error; scale and other factors are fitted again.""",
    "fixed_components": """array of shape (n_fixed, n_features), default=None
    Components that are known and stay as they are; those that are learned come after them. In projective models they act as
    X w wᵀ, so they should have unit length.""",
    "n_init": """int, default=1
    How many starts to try; the one with the best objective is kept. `objectives_` tells how much they differ.""",
    "max_iter": """int, default=5000
    The most iterations of a start.""",
    "tol": """float, default=1e-5
    A run has converged when ten iterations change the objective by no more than `tol` times its
    value. {STEP_TOL}0 runs to `max_iter`.""",
    "random_state": """int, Generator, RandomState or None, default=None
    For the starts. The same seed gives the same result.""",
    "n_jobs": """int, default=None
    How many starts run at the same time, as in joblib.""",
    "warm_start": """bool, default=False
    Whether another `fit` goes on from where the last one ended, where sizes allow.""",
    "verbose": """int, default=0
    1 prints progress, a line a second at the most.""",
}

ATTRIBUTES = {
    "components_": "array of shape (n_components, n_features)",
    "factors_": """dict of arrays
    Every factor of the form, by name, as the fit left it.""",
    "n_components_": "int",
    "reconstruction_err_": """float
    √(2 D) with D the divergence between X and its approximation, as in scikit-learn: ‖X − X̂‖ for the Euclidean distance.""",
    "objective_": """float
    What was minimised, at the end: D and the penalties of constraints, if they have any.""",
    "objectives_": """array of shape (n_init,)
    The objective that each start ended at.""",
    "orthogonality_": """dict of Orthogonality
    For each orthogonal factor, how orthogonal it came out: ``rho`` (NNP Eq. 65, 1 is best) and ``error`` (PNMF Eq. 38, 0 is
    best).""",
    "n_iter_": """int
    Iterations of the start that was kept.""",
    "status_": """Status
    Why it ended; ``status_.sentence`` explains.""",
    "history_": """History
    Objective, violation and exponents at every check of the start that was kept.""",
    "n_features_in_": "int",
    "feature_names_in_": """array of shape (n_features_in_,)
    Only where X has feature names that are all strings.""",
}

COMMON = [name for name in ATTRIBUTES if name not in ("orthogonality_",)]

_WORDS = {
    "STEP_TOL": "",
    "DEFAULT_SOLVER": '"coordinate" for the Euclidean distance, "quasi-newton" for other divergences, "adaptive" with constraints',
    "ORTHOGONALITY": '{"soft", "rows", "polar"}',
    "EXACT": "",
    "SOLVERS": '{"auto", "paper", "coordinate", "quasi-newton", "adaptive", "multiplicative"}',
    "INITS": '{"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"}',
}

T = TypeVar("T", bound=type)


def documented(cls: T) -> T:
    """Put the sections "Parameters" and "Attributes" after the first paragraphs of a class's docstring.

    The class may describe more of both, or others than the common ones, in ``_described``, and fill the places in braces by
    ``_words``.
    """
    described = {**PARAMETERS, **ATTRIBUTES, **getattr(cls, "_described", {})}
    words = {**_WORDS, **getattr(cls, "_words", {})}
    parameters = list(inspect.signature(cls).parameters)
    attributes = [*getattr(cls, "_attributes", ()), *COMMON]
    attributes = [name for name in dict.fromkeys(attributes) if name not in getattr(cls, "_lacks", ())]

    def section(title: str, names: list[str]) -> str:
        entries = "\n".join(f"{name} : {_filled(described[name], words)}" for name in names)
        return f"{title}\n{'-' * len(title)}\n{entries}"

    text = inspect.getdoc(cls) or ""
    head, mark, tail = text.partition("\nNotes\n-----")
    pieces = [head.rstrip(), section("Parameters", parameters), section("Attributes", attributes), (mark + tail).strip()]
    cls.__doc__ = "\n\n".join(filter(None, pieces)) + "\n"
    return cls


def _filled(text: str, words: dict[str, str]) -> str:
    for name, word in words.items():
        text = text.replace("{" + name + "}", word)
    first, _, rest = text.partition("\n")
    wrapped = textwrap.wrap(" ".join(rest.split()), _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join([first, *wrapped])


_WIDTH = 110
