"""Reports of every estimator: pages that are well formed, hold no markup of the data, and print the true relative error."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np

from . import data, dense
from .trial import Trial

_FORMS = {
    "NMF": "W H",
    "PNMF": "X W W.T",
    "OPNMF": "X W W.T",
    "ONMF": "W H",
    "NonnegativeSparseCoding": "W H",
    "NMTF": "W S H",
    "ONMTF": "W S H",
    "FONT": "W S H",
    "BiQNMF": "L L.T X R R.T",
    "BiORNM3F": "L S R.T",
    "ProjectiveClustering": "W W.T X",
    "SymmetricNMF": "W W.T",
    "KernelPNMF": "",
    "TruncatedNonnegativeSVD": "",
}
_OTHERS = ("QNMFHMM", "NonnegativeLDA", "NonnegativeKernelFDA", "graph.GraphClustering")
_MARKUP = ("plain", "<script>alert(1)</script>", 'a"b', "x' onload='y", "<i>&amp;", "é – 名", "]]>", "", "<!--")

_CLUSTERS = ("BiQNMF", "BiORNM3F", "ProjectiveClustering")


class _Tags(HTMLParser):
    """Which tags are there, and whether each that is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.trouble = ""
        self.tags: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        if tag not in ("meta", "img", "br", "hr", "link", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.trouble = self.trouble or f"</{tag}> closes nothing"


def case(t: Trial) -> None:
    import pandas

    t.offer("pd", pandas)
    t.folder()
    name = t.pick((*_FORMS, *_OTHERS))
    t.subject = name
    m, n = t.integer(1, 8), t.integer(1, 7)
    options, fit, names = {"max_iter": "15", "random_state": "0"}, "X", None
    if name == "QNMFHMM":
        t.let("X", t.pick(('["banana", "salami"]', '["<b>", "a&b", "<b>", "a&b"]', '["aaaa"]')))
        made = "nonneg.QNMFHMM(1, max_iter=15, random_state=0)"
    elif name in ("NonnegativeLDA", "NonnegativeKernelFDA"):
        m = max(m, 4)
        t.let("X", f"({data.entries(t, m, n)}) * 1.0")
        t.let("y", f"np.array([{t.pick(_MARKUP)!r}, 'other'])[np.arange({m}) % 2]")
        made, fit = f"nonneg.{name}()", "X, y"
    elif name == "graph.GraphClustering":
        t.let("X", f"(lambda A: A + A.T)({data.entries(t, m, m)} * 1.0)")
        made = f"nonneg.graph.GraphClustering({t.integer(1, 2)}, random_state=0)"
    else:
        if name == "SymmetricNMF":
            n = m
        t.let("X", f"({data.entries(t, m, n)}) * 1.0")
        if name == "SymmetricNMF":
            t.let("X", "X + X.T")
        if name == "TruncatedNonnegativeSVD":
            options = {"random_state": "0"}
        options["n_clusters" if name in _CLUSTERS else "n_components"] = str(t.integer(1, 2))
        kind = t.pick(("array", "frame", "frame", "missing", "sparse", "list", "kl"))
        if kind == "frame":
            names = [t.pick(_MARKUP) + str(j) for j in range(n)]
            t.let("X", f"pd.DataFrame(X, columns={names!r})")
        elif kind == "missing" and _FORMS.get(name) and name != "SymmetricNMF":
            t.let("X", f"np.where(np.random.default_rng(3).random(({m}, {n})) < 0.85, X, np.nan)")
            options["missing"] = '"ignore"'
        elif kind == "sparse":
            t.let("X", "sparse.csr_array(X)")
        elif kind == "list":
            t.let("X", "X.tolist()")
        elif kind == "kl" and name in ("NMF", "PNMF", "OPNMF", "BiQNMF"):
            options["divergence"] = '"kullback-leibler"'
        if name == "BiQNMF" and "divergence" not in options:
            options["divergence"] = '"euclidean"'
        made = f"nonneg.{name}({', '.join(f'{key}={text}' for key, text in options.items())})"
    words = (*data.WORDS, "classes", "class", "y", "vertices", "symbols", "sequences", "graph", "Found", "minimum")
    t.call(f"{made}.fit({fit})", "model", refusal=words)
    given = t.pick(("X", "X", "", "Z", "names"))
    call = {"X": ", X", "": "", "Z": ", Z", "names": ", X"}[given]
    if given == "Z":
        if name in _OTHERS or name in ("SymmetricNMF", "KernelPNMF"):
            return
        t.let("Z", f"np.random.default_rng(9).random(({t.pick((3, 1, 0, 20))}, {n}))")
        if names is not None:
            t.let("Z", f"pd.DataFrame(Z, columns={names!r})")
    if given == "names" and name not in ("graph.GraphClustering", "QNMFHMM"):
        names = [t.pick(_MARKUP) for _ in range(n)]
        call += f", feature_names={names!r}"
    is_empty = given == "Z" and len(t["Z"]) == 0
    t.call(f'model.report(folder / "page.html"{call})', "done", refusal=(*words, "feature_names", "empty", "samples"))
    t.check("refuses", not is_empty or (t["folder"] / "page.html").exists(), "no page, and no refusal")
    text = (t["folder"] / "page.html").read_text(encoding="utf8")
    _check_page(t, text)
    if not is_empty and options.get("divergence", '"euclidean"') == '"euclidean"':
        _check_error(t, text, name, given)


def _check_page(t: Trial, text: str) -> None:
    tags = _Tags()
    tags.feed(text)
    tags.close()
    trouble = tags.trouble or (f"{tags.open} stay open" if tags.open else "")
    t.check("well-formed", not trouble, trouble)
    t.check("well-formed", "script" not in tags.tags, "a name of the data is markup")
    t.check("well-formed", not any(name.startswith("on") for name in tags.names), "a name of the data is an attribute")
    t.check("well-formed", "<i>&amp;" not in text and "<script>" not in text, "a name of the data is markup")
    shown = re.sub(r"<style>.*?</style>|<pre.*?</pre>|<details>.*?</details>", "", text, flags=re.S)
    t.check("finite", not re.search(r">\s*(nan|inf)\s*<|from (nan|inf)|to (nan|inf)", shown), "prints nan or inf")


def _check_error(t: Trial, text: str, name: str, given: str) -> None:
    found = re.search(r"<dt>Relative error[^<]*</dt><dd>([^<]*)</dd>", text)
    if found is None or not _FORMS.get(name):
        return
    given_X = t["Z" if given == "Z" else "X"]
    model, Z = t["model"], dense.wide(given_X)
    if not hasattr(model, "inverse_transform"):
        return
    approximation = dense.wide(model.inverse_transform(model.transform(given_X)))
    is_seen = ~np.isnan(Z)
    true = float(np.sqrt(np.sum((Z - approximation)[is_seen] ** 2) / np.sum(Z[is_seen] ** 2)))
    printed = float(found[1])
    t.check("printed", abs(printed - true) <= 6e-5 + 1e-4 * true, f"prints {printed}, and it is {true:.6f}", f"{name} {given}")
