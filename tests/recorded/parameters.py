"""Every parameter of every estimator, as a page: `python -m tests.recorded.parameters --write` writes it."""

import inspect
import re
import sys
from pathlib import Path

import nonneg
from nonneg import estimators, graph

PAGE = Path(__file__).parents[2] / "docs/reference/parameters.md"
INTRODUCTION = """# Parameters of estimators

One word for one thing; [contributing](../develop/contributing.md) has the convention. Parameters with a position can be
given by it, others by keyword only. A test computes this page anew and compares.
"""
CONVENTION = {"n_init": 1, "max_iter": 5000, "tol": 1e-5, "random_state": None, "n_jobs": None, "divergence": "euclidean"}
"""Defaults that are the same everywhere."""
DISCRIMINANT = ("NonnegativeLDA", "NonnegativeKernelFDA")
REASONS = {
    ("GraphClustering", "n_init"): "starts of each kind, at most",
    ("GraphClustering", "max_iter"): "of rules whose result is refined by moves of single vertices",
    **{(name, "n_init"): 'random starts of rule="oja", the only rule that has them' for name in DISCRIMINANT},
    **{(name, "max_iter"): "steps of one direction" for name in DISCRIMINANT},
    **{(name, "tol"): "growth of Fisher's ratio, or change of the direction" for name in DISCRIMINANT},
    ("NonnegativeSparseCoding", "tol"): "its objective has plateaus",
    ("NNMFHMM", "max_iter"): "pseudo-inverse steps descend on no objective",
    ("NNMFHMM", "tol"): "pseudo-inverse steps descend on no objective: a steady one is no sign of the end",
    ("QNMFHMM", "n_init"): "starts of different kinds in turn",
    ("QNMFHMM", "max_iter"): "no measurement is on record",
    ("QNMFHMM", "tol"): "of counts, a share of the divergence by chance",
    ("QNMFHMM", "divergence"): "X is counts of pairs of symbols",
    ("BiQNMF", "divergence"): "for counts, such as words in documents",
}
"""Other defaults, and why."""


def classes():
    found = [getattr(estimators, name) for name in estimators.__all__ if name != "Orthogonality"]
    found += [nonneg.NMFImputer, graph.GraphClustering, nonneg.NNMFHMM, nonneg.QNMFHMM]
    return sorted({*found}, key=lambda cls: cls.__name__)


def parameters():
    """The signature of each estimator."""
    return {cls: inspect.signature(cls).parameters for cls in classes()}


def choices(cls, name):
    """The first line of what a docstring says about a parameter, without its default."""
    found = re.search(rf"^{name} : (.*?)(?:, default=.*)?$", inspect.getdoc(cls), re.MULTILINE)
    return found[1]


def rows():
    """A row for each parameter, choice of values and default: who takes it, and why the default is another one."""
    grouped: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for cls, own in parameters().items():
        for name, parameter in own.items():
            place = "" if parameter.kind is parameter.KEYWORD_ONLY else f" ({list(own).index(name) + 1})"
            reason = REASONS.get((cls.__name__, name), "") if is_other(name, parameter.default) else ""
            key = (choices(cls, name), f"{parameter.default!r}{place}", reason)
            grouped.setdefault(name, {}).setdefault(key, []).append(cls.__name__)
    return grouped


def is_other(name, default):
    return name in CONVENTION and default != CONVENTION[name]


def page():
    """The page, computed."""
    lines = [INTRODUCTION]
    for name, kinds in sorted(rows().items()):
        lines += [f"## `{name}`\n", "| values | default (position) | estimators |", "|---|---|---|"]
        for (values, default, reason), names in kinds.items():
            values = values.replace("|", "\\|")
            lines.append(f"| {values} | `{default}`{f': {reason}' if reason else ''} | {', '.join(names)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf8")
    else:
        print(page())
