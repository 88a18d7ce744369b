"""A page of a reproduction: what is said, tabulated and drawn, with a list of every fit that it rests on, in one HTML file.

A page is a file in this folder with a TITLE and a function ``build(page)``; ``python -m nonneg_papers`` finds it. In `build`,
estimators are fitted with ``page.fit`` or ``page.follow``, so that parameters, iterations and seconds are on record. What a paper
claims is put with ``page.claim``, which finds the verdict from the numbers; all claims of a page stand in a table at its top.
"""

from __future__ import annotations

import base64
import html
import io
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from matplotlib.figure import Figure
from sklearn.base import clone
from threadpoolctl import threadpool_info

import nonneg

FOLDER = Path("reproduction")
VERDICTS = ("holds", "holds in part", "does not hold here", "not tried here")
RULE = """The verdicts are computed from the numbers of the pages. Of several comparisons: where all are as the claim has them it
holds, where some are it holds in part, and where none is it does not hold here. Comparisons with standard errors may also be
clearly against a claim: where more are against it than for it, it does not hold here either. Where a claim has a size, it holds if
three quarters of it or more are found, and in part from a quarter on."""


@dataclass(frozen=True)
class Claim:
    """What a paper says, whether it holds here, and what shows it."""

    where: str
    says: str
    verdict: str
    evidence: str

    HEADER: ClassVar = ("where", "the claim", "verdict", "evidence")

    @property
    def row(self) -> tuple[str, str, str, str]:
        return self.where, self.says, self.verdict, self.evidence

    @property
    def of_a_paper(self) -> bool:
        """Or what we claim ourselves, or compare with another package."""
        return not self.where.startswith(("beyond the papers", "the package"))


@dataclass
class Page:
    """What has been added so far, in order."""

    title: str
    name: str = ""
    """What the page is called while it runs, beside others."""
    seconds: float = 0.0
    """What the last `fit` took."""
    claims: list[Claim] = field(default_factory=list)
    """What `claim` has been told, in order."""
    _parts: list[str] = field(default_factory=list)
    _fits: list[Sequence[Any]] = field(default_factory=list)
    _begin: float = field(default_factory=perf_counter)
    _cpu: float = field(default_factory=lambda: cpu_seconds())

    # ---- what a reader sees

    def heading(self, text: str) -> None:
        print(f"{self.name}: {text}", flush=True)
        self._parts.append(f"<h2>{marked(text)}</h2>")

    def say(self, text: str) -> None:
        self._parts.append(f"<p>{marked(text)}</p>")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> None:
        """A table; columns whose header begins with "paper" are set apart, as what is here is to be compared with them."""
        self._parts.append(table(header, rows, caption))

    def claim(self, where: str, says: str, checks: Iterable[bool] | float, evidence: str) -> None:
        """A claim of a paper, with the comparisons that it comes down to and the numbers that they compare.

        The verdict is not written but found: the claim holds if all the checks are true, holds in part if some are, and does not
        hold here if none is (`weighed` has comparisons that may be clearly against a claim, too); one without checks cannot be
        tried here, and `evidence` says why. Where a claim has a size, `checks` may be the share of it that is found: it holds with
        three quarters or more, in part with a quarter. So it cannot contradict the numbers:

        >>> page = Page("A page")
        >>> nmf, pnmf, nlhn = 0.63, 0.99, 0.98
        >>> page.claim("NNP Fig. 2", "PNMF and NLHN end more orthogonal than NMF.", [pnmf > nmf, nlhn > nmf],
        ...            f"ρ = {pnmf} and {nlhn}, against {nmf}.")
        >>> page.claims[0].verdict
        'holds'
        """
        self.claims.append(Claim(where, says, verdict(checks), " ".join(evidence.split())))

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
        get_reusable_executor().shutdown(wait=True)  # what its processes have computed counts once they have ended
        seconds, of_cpu = perf_counter() - self._begin, cpu_seconds() - self._cpu
        self.say(f"{seconds:.0f} seconds for this page, drawings included; {of_cpu:.0f} seconds of a core. {surroundings()}")
        path.parent.mkdir(exist_ok=True)
        path.write_text(document(self.title, claims_table(self.claims) + "".join(self._parts)), encoding="utf8")
        summary = {
            "title": self.title,
            "date": str(date.today()),
            "seconds": seconds,
            "cpu": of_cpu,
            "claims": [asdict(claim) for claim in self.claims],
        }
        path.with_suffix(".json").write_text(json.dumps(summary, ensure_ascii=False, indent=1), encoding="utf8")
        return path


def publish(name: str, title: str, build: Callable[[Page], None]) -> Path:
    """Build a page and write it."""
    begin = perf_counter()
    page = Page(title, name)
    build(page)
    path = page.write(FOLDER / f"{name}.html")
    print(f"{name}: {perf_counter() - begin:.0f} seconds, {path}", flush=True)
    return path


def publish_beside_others(name: str, title: str, build: Callable[[Page], None]) -> Path:
    """The same in one of several processes: what the page would run side by side, it runs one after the other."""
    with parallel_config(backend="sequential"):
        return publish(name, title, build)


def cpu_seconds() -> float:
    """What this process, and those it has started and seen end, have computed so far; it does not grow while they wait."""
    return sum(os.times()[:4])


def verdict(checks: Iterable[bool] | float) -> str:
    """What comparisons that are true or not make of a claim, or how much of it there is."""
    holds, in_part, not_here, not_tried = VERDICTS
    if isinstance(checks, float | int):
        return holds if checks >= 0.75 else in_part if checks >= 0.25 else not_here
    found = [bool(check) for check in checks]
    return not_tried if not found else holds if all(found) else in_part if any(found) else not_here


def weighed(clear: Iterable[bool], against: Iterable[bool]) -> list[bool]:
    """The checks of a claim whose comparisons are clearly for it, clearly against it, or neither.

    >>> verdict(weighed([True, False, False], [False, True, False]))
    'holds in part'
    >>> verdict(weighed([True, False, False], [False, True, True]))
    'does not hold here'
    """
    clear, against = [bool(one) for one in clear], [bool(one) for one in against]
    return [False] if sum(against) > sum(clear) else clear


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
    """Escaped, with `code` as code and [text](page) as a link."""
    linked = re.sub(r"\[([^]]*)\]\(([\w.]+\.html)\)", r'<a href="\2">\1</a>', html.escape(text))
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", linked)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    printed = [name.startswith("paper") for name in header]
    lines = [_row("th", header, printed), *(_row("td", row, printed) for row in rows)]
    return f"<table><caption>{marked(caption)}</caption>{''.join(lines)}</table>"


def claims_table(claims: Sequence[Claim]) -> str:
    """The claims of a page, if it has any, with what holds."""
    caption = f"""What the papers claim, and what holds here. {RULE}"""
    return table(Claim.HEADER, (claim.row for claim in claims), caption) if claims else ""


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
