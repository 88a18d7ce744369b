"""How a fit went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from ..exceptions import IncompatibleError, needed
from .axes import axes, light_frame


def convergence(model: Any, *, by: str = "seconds", ax: Any = None) -> Any:
    """The objective at every check of the fit, and how far constrained factors are from their constraints.

    Parameters
    ----------
    model : estimator or Solution
        With `history_`, or `history`.
    by : {"seconds", "iteration"}, default="seconds"
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    nonneg.reporting.print_progress : The same as text.
    nonneg.Solution : Has the history.

    Examples
    --------
    >>> from nonneg import NMF, plot
    >>> from nonneg.datasets import make_parts
    >>> model = NMF(3, random_state=0).fit(make_parts(60, 20, 3).data)
    >>> plot.convergence(model, by="iteration").get_xlabel()
    'iterations'
    """
    history = getattr(model, "history_", getattr(model, "history", None))
    if history is None or not len(history):
        raise IncompatibleError(f"{type(model).__name__} has no history to show.")
    if by not in ("seconds", "iteration"):
        raise IncompatibleError(f"by must be 'seconds' or 'iteration'; got {by!r}.")
    ax = axes(ax)
    x, objective = getattr(history, by), history.objective
    ax.plot(x, objective, color="#0072b2", marker="." if len(x) < 40 else None, linewidth=1.8, label="objective")
    if np.all(objective > 0) and objective.max() > 20 * objective.min():
        ax.set_yscale("log")
    ax.set_xlabel("seconds" if by == "seconds" else "iterations")
    ax.set_ylabel("objective", color="#0072b2")
    light_frame(ax)
    violations = {name: values for name, values in history.violation.items() if np.any(values > 0)}
    if violations:
        beside = ax.twinx()
        for number, (name, values) in enumerate(violations.items()):
            beside.plot(x, values, color="#d55e00", linewidth=1.2, linestyle=("--", ":", "-.")[number % 3], label=f"{name}")
        beside.set_ylabel(f"distance from the constraint of {', '.join(violations)}", color="#d55e00")
        beside.set_ylim(bottom=0)
        beside.spines[["top"]].set_visible(False)
    status = getattr(model, "status_", getattr(model, "status", None))
    ax.set_title("Convergence" if status is None else f"Convergence: {getattr(status, 'value', status)}")
    return ax


Curve = Mapping[str, Any]
"""A criterion over ranks, from `RankScan.curves`."""


def ranks(scan: Any, *, criterion: str | None = None, ax: Any = None) -> Any:
    """A criterion over ranks, with standard errors; the chosen rank is marked.

    Parameters
    ----------
    scan : RankScan
        As `nonneg.selection.rank_scan` returns it.
    criterion : str, optional
        Which one; the first by default.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes or array of Axes
        What was drawn into.

    See Also
    --------
    nonneg.selection.rank_scan : Measures ranks.
    nonneg.report.write_rank_report : Writes a page.

    Examples
    --------
    >>> from nonneg import NMF, plot
    >>> from nonneg.datasets import make_parts
    >>> from nonneg.selection import rank_scan
    >>> scan = rank_scan(NMF(), make_parts(30, 12, 2).data, [1, 2], random_state=0)
    >>> axes = plot.ranks(scan)
    """
    found = scan.curves(criterion)
    ax = draw_curves(found, axes(ax))
    best = ", ".join(f"{curve['best']} {curve['which']}".strip() for curve in found)
    ax.set_title(f"Best {'rank' if len(found) == 1 else 'ranks'}: {best}")
    return ax


def draw_curves(found: Sequence[Curve], ax: Any) -> Any:
    """Draw a criterion over ranks: one curve, or two for models with two ranks."""
    for number, curve in enumerate(found):
        colour = ("#0072b2", "#d55e00")[number % 2]
        name = f"ranks {curve['which']}" if curve["which"] else None
        ax.plot(curve["ranks"], curve["values"], "o-", color=colour, label=name)
        if curve.get("threshold") is not None and not number:
            ax.axhline(
                curve["threshold"], color="grey", linestyle="--", linewidth=1, label=f"counts as found from {curve['threshold']:g}"
            )
        if np.isfinite(curve["errors"]).all():
            ax.errorbar(curve["ranks"], curve["values"], curve["errors"], fmt="none", ecolor=colour)
        if curve["permuted"]:
            label = "permuted columns" + (f", ranks {curve['which']}" if curve["which"] else "")
            ax.plot(curve["ranks"], curve["permuted"], "--", color=colour, alpha=0.5, label=label)
        ax.axvline(curve["best"], color=colour, linestyle=":")
    ax.set_xlabel("rank")
    ax.xaxis.set_major_locator(needed("matplotlib.ticker", "plot", "Drawing").MaxNLocator(integer=True))
    ax.set_ylabel(fill(found[0]["label"], 32))
    light_frame(ax)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    if found[0].get("beside"):
        right = ax.twinx()
        right.plot(found[0]["ranks"], found[0]["beside"], "s--", color="#e69f00", label="lowest error")
        right.set_ylabel("lowest error", color="#e69f00")
        right.spines[["top"]].set_visible(False)
    return ax
