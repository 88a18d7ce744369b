"""A page of a reproduction: what is said, tabulated and drawn, with a list of every fit that it rests on, in one HTML file.

A page is a file in this folder with a TITLE and a function ``build(page)``; ``python reproduce`` finds it by itself. In `build`,
estimators are fitted with ``page.fit`` or ``page.follow``, so that parameters, iterations and seconds are on record.
"""

from __future__ import annotations

import base64
import html
import io
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from threadpoolctl import threadpool_info

import nonneg

FOLDER = Path(__file__).parent.parent / "reproduction"


@dataclass
class Page:
    """What has been added so far, in order."""

    title: str
    seconds: float = 0.0
    """What the last `fit` took."""
    _parts: list[str] = field(default_factory=list)
    _fits: list[Sequence[Any]] = field(default_factory=list)
    _begin: float = field(default_factory=perf_counter)

    # ---- what a reader sees

    def heading(self, text: str) -> None:
        print(f"  {text}", flush=True)
        self._parts.append(f"<h2>{marked(text)}</h2>")

    def say(self, text: str) -> None:
        self._parts.append(f"<p>{marked(text)}</p>")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> None:
        """A table; columns whose header begins with "paper" are set apart, as what is here is to be compared with them."""
        printed = [name.startswith("paper") for name in header]
        lines = [_row("th", header, printed), *(_row("td", row, printed) for row in rows)]
        self._parts.append(f"<table><caption>{marked(caption)}</caption>{''.join(lines)}</table>")

    def figure(self, figure: Figure, caption: str) -> None:
        stream = io.BytesIO()
        figure.savefig(stream, dpi=130)
        plt.close(figure)
        picture = base64.b64encode(stream.getvalue()).decode()
        self._parts.append(
            f'<figure><img src="data:image/png;base64,{picture}" alt="{html.escape(caption)}">'
            f"<figcaption>{marked(caption)}</figcaption></figure>"
        )

    # ---- what ran

    def fit(self, estimator: Any, X: np.ndarray, y: np.ndarray | None = None) -> Any:
        """The estimator, fitted and put on record; one that is not iterative has 0 iterations."""
        begin = perf_counter()
        estimator.fit(X, y)
        self.seconds = perf_counter() - begin
        n_iter = int(np.max(getattr(estimator, "n_iter_", 0)))
        self._record(estimator, X, n_iter, getattr(estimator, "status_", ""), self.seconds)
        return estimator

    def follow(self, estimator: Any, X: np.ndarray, checks: Sequence[int]) -> dict[int, np.ndarray]:
        """The basis (features × components) after each of these numbers of iterations.

        It is one run, gone on from with a warm start after each check, which gives the same as one that is not interrupted.
        """
        fitted, bases, begin = clone(estimator).set_params(tol=0, warm_start=True), {}, perf_counter()
        for before, check in pairwise((0, *checks)):
            bases[check] = fitted.set_params(max_iter=check - before).fit(X).components_.T.copy()
        self._record(estimator, X, checks[-1], f"followed, {len(checks)} checks", perf_counter() - begin)
        return bases

    def _record(self, estimator: Any, X: np.ndarray, n_iter: int, status: str, seconds: float) -> None:
        self.ran(described(estimator), f"{X.shape[0]} × {X.shape[1]}", n_iter, str(status), seconds)

    def ran(self, call: str, size: str, n_iter: int, ended: str, seconds: float) -> None:
        """Put on record what is no estimator, or was not fitted by `fit` or `follow`."""
        self._fits.append((f"`{call}`", size, n_iter, ended, f"{seconds:.1f}"))

    # ---- the file

    def write(self, path: Path) -> Path:
        self.heading("What ran")
        self.table(
            ("estimator", "samples × features", "iterations", "ended", "seconds"),
            self._fits,
            "Followed: with tol=0, and gone on from with a warm start after each check; two such runs may have shared the cores.",
        )
        self.say(f"{perf_counter() - self._begin:.0f} seconds for this page, drawings included. {surroundings()}")
        path.parent.mkdir(exist_ok=True)
        path.write_text(document(self.title, "".join(self._parts)), encoding="utf8")
        return path


def publish(name: str, title: str, build: Callable[[Page], None]) -> Path:
    """Build a page and write it."""
    print(title, flush=True)
    page = Page(title)
    build(page)
    path = page.write(FOLDER / f"{name}.html")
    print(f"  {path}", flush=True)
    return path


def described(estimator: Any) -> str:
    """An estimator as one would write it, arrays by their shapes."""
    words = {
        key: value for key, value in estimator.get_params().items() if repr(value) != repr(getattr(type(estimator), key, None))
    }
    shown = (f"{key}={f'array {value.shape}' if isinstance(value, np.ndarray) else repr(value)}" for key, value in words.items())
    return f"{type(estimator).__name__}({', '.join(shown)})"


def surroundings() -> str:
    """On what all this ran."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "matplotlib"))
    blas = {f"{lib['internal_api']} with {lib['num_threads']} thread(s)" for lib in threadpool_info() if lib["user_api"] == "blas"}
    return f"""Run on {date.today()} with nonneg {nonneg.__version__}, Python {platform.python_version()}, {versions};
        {", ".join(sorted(blas))}, {os.cpu_count()} cores, {sys.platform} {platform.machine()}."""


# ---- HTML


def marked(text: str) -> str:
    """Escaped, with `code` as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def document(title: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style></head>
<body><h1>{html.escape(title)}</h1>{body}</body></html>
"""


def _row(tag: str, cells: Sequence[Any], printed: Sequence[bool]) -> str:
    classes = (' class="paper"' if is_printed else "" for is_printed in printed)
    return "<tr>" + "".join(f"<{tag}{kind}>{_cell(c)}</{tag}>" for c, kind in zip(cells, classes, strict=True)) + "</tr>"


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else marked(str(value))


STYLE = """
body { font: 16px/1.5 Georgia, serif; color: #222; max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.5rem; border-top: 1px solid #ccc; padding-top: 1rem }
p, figcaption, caption { max-width: 50rem } figure { margin: 1.5rem 0 } img { max-width: 100% }
figcaption, caption { font-size: .9rem; color: #555; text-align: left }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem }
th, td { padding: .2rem .8rem; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top }
th { border-bottom: 2px solid #888 } .paper { background: #f3efe4 } code { font-size: .85em }
"""
