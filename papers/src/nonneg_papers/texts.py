"""Documents as counts of terms, most of them with a class."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import vstack

from .cache import FetchError, describe, fetch
from .formats import make_sparse
from .text_formats import (
    count,
    read_indicators,
    read_labelled,
    read_matlab,
    read_pairs,
    read_relevant,
    read_smart,
    read_terms,
    read_words,
    strings,
    words,
)

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Fields = dict[str, Any]

PER_DOCUMENT = {"data", "target", "train"}


def text_names() -> list[str]:
    """The names of the sets of texts.

    Returns
    -------
    list of str
        Names for `load_text`.

    See Also
    --------
    load_text : One of them.

    Examples
    --------
    >>> from nonneg_papers import text_names
    >>> "med" in text_names()
    True
    """
    return list(_TEXTS)


def load_text(
    name: str,
    *,
    classes: Sequence[str] | None = None,
    largest: int | None = None,
    per_class: int | None = None,
    min_df: int = 0,
    drop_empty: bool = False,
    random_state: Any = None,
) -> Bunch:
    """A set of texts by its name.

    Parameters
    ----------
    name : str
        One of `text_names`; case, blanks, "-" and "_" do not matter, "MEDLINE" is "med" and "Reuters" is "reuters21578".
    classes : list of str, optional
        The classes to keep, of ``target_names``, which are then in this order.
    largest : int, optional
        Keep only this number of classes, those with the most documents.
    per_class : int, optional
        Keep only this number of documents of each class, drawn at random; all of them where there are fewer.
    min_df : int
        Drop the terms that fewer of the documents have that are kept.
    drop_empty : bool
        Drop the documents that have no term, after terms have been dropped.
    random_state : int, RandomState instance or None
        For the draw of documents.

    Returns
    -------
    Bunch
        ``data`` (n_documents, n_terms), a csr_array of float64: counts, but where ``DESCR`` says that they are weights or only 0
        and 1; ``DESCR``. Where the documents have classes, ``target`` (n_documents,) from 0, and ``target_names``, numbers from 1
        where none are known. Where the terms are known, ``feature_names`` (n_terms,): of webkb, r8, 20news_w100, classic3, med,
        cran, cisi and cacm, whose files have them, and of la1, la2 and la12, whose words are a file of their own. The other 21
        sets are matrices whose columns have numbers alone, ``DESCR`` says so; their words were not published, or no copy is
        known. Where the files divide the documents into those to learn from and those to test with, ``train`` (n_documents,),
        True for the former. Documents are in the order of the files. A whole set may have terms that no document has; if
        documents are left out, such terms are, too.

    See Also
    --------
    text_names : The names.

    Examples
    --------
    >>> from nonneg_papers import load_text
    >>> pages = load_text("webkb", classes=["course", "project"])  # doctest: +SKIP
    >>> pages.data.shape  # doctest: +SKIP
    (1434, 6542)
    """
    from sklearn.utils import Bunch

    text = _TEXTS[_find(name)]
    for option, value, least in (("largest", largest, 1), ("per_class", per_class, 1), ("min_df", min_df, 0)):
        if value is not None and value < least:
            raise ValueError(f"{option}={value!r} should be at least {least}.")
    fields = text.read(*(fetch(f"text/{path}") for path in text.files))
    if text.words:
        fields = _with_words(fields, text.words)
    if "target" not in fields and (classes, largest, per_class) != (None, None, None):
        raise ValueError(f"The documents of {name!r} have no classes, so that classes, largest and per_class must be None.")
    n_documents = fields["data"].shape[0]
    if classes is not None or largest is not None:
        fields = _with_classes(fields, _chosen(fields, classes, largest))
    if per_class is not None:
        fields = _drawn(fields, per_class, random_state)
    fields = _with_terms(fields, max(min_df, int(fields["data"].shape[0] < n_documents)))
    if drop_empty:
        fields = _with_documents(fields, np.diff(fields["data"].indptr) > 0)
    return Bunch(**fields, DESCR=_described(text, "feature_names" in fields))


def _with_words(fields: Fields, path: str) -> Fields:
    """The terms of a set by a file of words; without that file a warning, and no words."""
    try:
        file = fetch(f"text/{path}")
    except FetchError as error:
        warnings.warn(f"The words could not be had, so that there are no feature_names. {error}", UserWarning, stacklevel=3)
        return fields
    found, count = read_terms(file), fields["data"].shape[1]
    if len(found) != count:
        raise FetchError(f"{file} has {len(found)} words, expected the {count} of the terms.")
    return {**fields, "feature_names": found}


def _described(text: _Text, has_words: bool) -> str:
    """The title, the origins of the files, their licence, and notes."""
    files = [f"text/{path}" for path in (*text.files, *([text.words] if text.words and has_words else []))]
    return describe(text.title, files, text.licence, text.notes if has_words else f"{text.notes} {NO_WORDS}")


def _plain(name: Any) -> str:
    return re.sub(r"[\s_-]", "", str(name).casefold())


def _find(name: Any) -> str:
    known = {_plain(known): known for known in _TEXTS}
    plain = ALIASES.get(_plain(name), _plain(name))
    if plain in known:
        return known[plain]
    hint = _near(plain, known)
    raise ValueError(f"name={name!r} is not known.{hint} It can be {', '.join(map(repr, known.values()))}.")


def _near(word: str, known: dict[str, str]) -> str:
    near = [repr(known[match]) for match in difflib.get_close_matches(word, known, n=3)]
    return f" Did you mean {' or '.join(near)}?" if near else ""


ALIASES = {"medline": "med", "newsgroups": "20newsgroups", "20news": "20newsgroups", "reuters": "reuters21578"}


# ---------------------------------------------------------------- parts of sets


def _chosen(fields: Fields, classes: Sequence[str] | None, largest: int | None) -> list[int]:
    """The numbers of the classes to keep, in the order in which they are to be numbered anew."""
    names = [str(name) for name in fields["target_names"]]
    chosen = list(range(len(names)))
    if classes is not None:
        if isinstance(classes, str) or not len(classes) or len(set(classes)) != len(classes):
            raise ValueError(f"classes={classes!r} should be a list of names, each once.")
        for name in classes:
            if name not in names:
                hint = _near(str(name), {known: known for known in names})
                raise ValueError(f"classes has {name!r}, which is not known.{hint} It can have {', '.join(map(repr, names))}.")
        chosen = [names.index(name) for name in classes]
    if largest is not None:
        if largest > len(chosen):
            raise ValueError(f"largest={largest} is more than the {len(chosen)} classes that there are.")
        sizes = np.bincount(fields["target"], minlength=len(names))[chosen]
        chosen = [chosen[i] for i in np.sort(np.argsort(-sizes, kind="stable")[:largest])]
    return chosen


def _with_classes(fields: Fields, chosen: list[int]) -> Fields:
    place = np.full(len(fields["target_names"]), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    fields = {**fields, "target": place[fields["target"]], "target_names": fields["target_names"][chosen]}
    return _with_documents(fields, fields["target"] >= 0)


def _drawn(fields: Fields, per_class: int, random_state: Any) -> Fields:
    from sklearn.utils import check_random_state

    generator = check_random_state(random_state)
    kept = np.zeros(len(fields["target"]), dtype=bool)
    for number in range(len(fields["target_names"])):
        members = np.flatnonzero(fields["target"] == number)
        kept[generator.permutation(members)[:per_class]] = True
    return _with_documents(fields, kept)


def _with_documents(fields: Fields, kept: np.ndarray) -> Fields:
    fields = {key: value[kept] if key in PER_DOCUMENT else value for key, value in fields.items()}
    return {**fields, "data": make_sparse(fields["data"])}


def _with_terms(fields: Fields, min_df: int) -> Fields:
    data = fields["data"]
    kept = np.bincount(data.indices, minlength=data.shape[1]) >= min_df
    if "feature_names" in fields:
        fields = {**fields, "feature_names": fields["feature_names"][kept]}
    return {**fields, "data": make_sparse(data[:, kept])}


# ---------------------------------------------------------------- readers of one kind of set each


def _labelled(data: Any, target: np.ndarray, names: Iterable[str] | None = None, **more: Any) -> Fields:
    names = names or [str(number + 1) for number in range(target.max() + 1)]
    return {"data": data, "target": target.astype(np.int64), "target_names": np.array(list(names), dtype=str), **more}


def _counts(path: Path, *, names: tuple[str, ...] = ()) -> Fields:
    """A MATLAB file of Zhong and Ghosh."""
    data, target, _ = read_matlab(path, "dtm", "classid")
    return _labelled(data, target, names)


def _features(path: Path, *, names: tuple[str, ...] = ()) -> Fields:
    """A MATLAB file in the manner of Cai; the numbers of documents to learn from count from 1."""
    data, target, variables = read_matlab(path, "fea", "gnd")
    if "trainIdx" not in variables:
        return _labelled(data, target, names)
    train, test = (variables[key].ravel().astype(np.int64) - 1 for key in ("trainIdx", "testIdx"))
    if not np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(target))):
        raise FetchError(f"{path}: trainIdx and testIdx should have each of the {len(target)} documents once, and have not.")
    is_train = np.zeros(len(target), dtype=bool)
    is_train[train] = True
    return _labelled(data, target, names, train=is_train)


def _pairs(path: Path, classes: Path, *, names: tuple[str, ...] = ()) -> Fields:
    """A matrix and classes as text."""
    data, target = read_pairs(path), read_indicators(classes)
    if len(target) != data.shape[0]:
        raise FetchError(f"{classes} has {len(target)} documents, expected the {data.shape[0]} of {path}.")
    return _labelled(data, target, names)


def _stemmed(*paths: Path) -> Fields:
    """Documents as stemmed terms: those to learn from, and those to test with."""
    classes: list[str] = []
    documents: list[list[str]] = []
    n_documents = []
    for path in paths:
        labels, terms = read_labelled(path)
        classes += labels
        documents += terms
        n_documents.append(len(labels))
    data, feature_names = count(documents)
    names, target = np.unique(np.array(classes), return_inverse=True)
    return _labelled(data, target, names.tolist(), feature_names=feature_names, train=np.repeat([True, False], n_documents))


def _collection(path: Path, stop_words: Path, *, sections: str) -> Fields:
    """A SMART collection: words that at least two documents have."""
    stop = read_words(stop_words)
    data, terms = count(words(document.text(sections), stop) for document in read_smart(path))
    return _with_terms({"data": data, "feature_names": terms}, min_df=2)


# ---------------------------------------------------------------- readers of single sets


def _la12(first: Path, second: Path) -> Fields:
    parts = [_counts(path) for path in (first, second)]
    target = np.concatenate([part["target"] for part in parts])
    return _labelled(make_sparse(vstack([part["data"] for part in parts])), target, LA_SECTIONS)


def _newsgroups_by_100_words(path: Path) -> Fields:
    data, target, variables = read_matlab(path, "documents", "newsgroups", transposed=True)
    return _labelled(data, target, strings(variables["groupnames"]).tolist(), feature_names=strings(variables["wordlist"]))


def _classic3(path: Path) -> Fields:
    data, target, variables = read_matlab(path, "A", "labels", first=0)
    return _labelled(data, target, ("med", "cisi", "cran"), feature_names=strings(variables["ms"]))


def _medline(path: Path, relevant: Path, stop_words: Path) -> Fields:
    fields = _collection(path, stop_words, sections="W")
    queries = read_relevant(relevant, fields["data"].shape[0])
    names, target = np.unique(queries, return_inverse=True)
    fields = _labelled(fields["data"], target - 1, map(str, names[1:].tolist()), feature_names=fields["feature_names"])
    return _with_documents(fields, queries > 0)


NEWSGROUPS = (
    *("alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    *("comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey", "sci.crypt"),
    *("sci.electronics", "sci.med", "sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast"),
    *("talk.politics.misc", "talk.religion.misc"),
)


# ---------------------------------------------------------------- the sets

CLUTO = "none stated; the sets of the CLUTO toolkit (G. Karypis) were given out for research."
APACHE = "Apache 2.0, of the repository that has the copy; none stated for the data."
SMART = "none stated; a test collection of Cornell (SMART) and Glasgow, for research."
NO_NAMES = "The classes have no names in the files."
NO_WORDS = "The terms have no words here: the files have their numbers alone."
LA_WORDS = "la12/la12.mat.clabel"
LA_SECTIONS = ("Entertainment", "Financial", "Foreign", "Metro", "National", "Sports")


@dataclass(frozen=True)
class _Text:
    """A set of texts: what it is, what was assumed, and how it is made of its files."""

    title: str
    notes: str
    licence: str
    files: tuple[str, ...]
    read: Callable[..., Fields]
    words: str = ""


def _matlab(title: str, notes: str, names: tuple[str, ...] = (), words: str = "") -> _Text:
    name = title.partition(":")[0]
    notes = f"{notes} As Zhong and Ghosh packed it for MATLAB. {'' if names else NO_NAMES}"
    return _Text(title, notes, CLUTO, (f"{name}/{name}.mat",), partial(_counts, names=names), words)


def _cluto(title: str, notes: str, names: tuple[str, ...] = ()) -> _Text:
    name = title.partition(":")[0]
    files = (f"{name}/cluto_sparse_{name}.txt", f"{name}/cluto_{name}_correct.txt")
    return _Text(title, f"{notes} {'' if names else NO_NAMES}", CLUTO, files, partial(_pairs, names=names))


_TEXTS = {
    "classic": _matlab(
        "classic: 7094 abstracts of 4 collections, CACM, CISI, Cranfield and Medline; 41681 terms.",
        """Counts from 1 to 26, 223839 of them; each document and each term has one. The size is that of FONT, Table 1. Which class
        is which collection is told by their sizes: 1398, 1033, 3203, 1460. Of Cranfield it has 2 documents fewer than the
        collection (presumably those without text), of CACM 1. The same matrix as CLUTO's.""",
        ("cran", "med", "cacm", "cisi"),
    ),
    "reviews": _matlab(
        "reviews: 4069 articles of the San Jose Mercury News in 5 classes; 18483 terms.",
        """Counts from 1 to 131, 758635 of them; each document and each term has one. The size is that of FONT, Table 1; the set as
        CLUTO has it has 126354 terms.""",
    ),
    "k1b": _cluto(
        "k1b: 2340 web pages of the WebACE project in 6 classes; 21839 terms.",
        """Counts from 1 to 59, 349792 of them. The size is that of FONT, Table 1. 20 terms are in every document; without these,
        it is the k1b of Zhong and Ghosh, 2340 × 21819. By the sizes of its classes, webace has
        the same pages, in another order.""",
    ),
    "la12": _Text(
        "la12: 6279 articles of the Los Angeles Times in 6 classes; 31472 terms.",
        """Counts, 939407 of them. The size is that of FONT, Table 1. Made here: the documents of la1, then those of la2, which
        have the same terms; the numbers of terms of all documents, and the classes, are those of CLUTO's la12. 1347 terms are in
        no document (min_df=1 drops them). The words, and the sections that are the classes, are those of a copy of CLUTO's la12,
        whose classes are the same, document by document.""",
        CLUTO,
        ("la1/la1.mat", "la2/la2.mat"),
        _la12,
        LA_WORDS,
    ),
    "ohscal": _matlab(
        "ohscal: 11162 medical abstracts of OHSUMED-233445 in 10 classes; 11465 terms.",
        "Counts from 1 to 37, 674365 of them; each document and each term has one. The size is that of FONT, Table 1.",
    ),
    "la1": _matlab(
        "la1: 3204 articles of the Los Angeles Times in 6 classes; 31472 terms.",
        """Counts, 484024 of them. 1758 terms are in no document (min_df=1 drops them), as the terms are those of la12. The same
        matrix as CLUTO's.""",
        LA_SECTIONS,
        LA_WORDS,
    ),
    "la2": _matlab(
        "la2: 3075 articles of the Los Angeles Times in 6 classes; 31472 terms.",
        """Counts, 455383 of them. 11780 terms are in no document (min_df=1 drops them), as the terms are those of la12. The same
        matrix as CLUTO's.""",
        LA_SECTIONS,
        LA_WORDS,
    ),
    "hitech": _matlab(
        "hitech: 2301 articles of the San Jose Mercury News in 6 classes; 10080 terms.",
        "Counts, 331373 of them. The set as CLUTO has it has 126321 terms.",
    ),
    "tr11": _matlab(
        "tr11: 414 documents of TREC in 9 classes; 6424 terms.",
        "Counts up to 1134, 114543 of them. CLUTO has 5 terms more, which are in every document.",
    ),
    "tr23": _matlab(
        "tr23: 204 documents of TREC in 6 classes; 5831 terms.",
        "Counts up to 2651, 78405 of them. CLUTO has 1 term more, which is in every document.",
    ),
    "tr41": _matlab(
        "tr41: 878 documents of TREC in 10 classes; 7453 terms.",
        "Counts up to 587, 170631 of them. CLUTO has 1 term more, which is in every document.",
    ),
    "tr45": _matlab(
        "tr45: 690 documents of TREC in 10 classes; 8261 terms.",
        "Counts up to 2079, 193605 of them. The same matrix as CLUTO's.",
    ),
    "tr12": _cluto("tr12: 313 documents of TREC in 8 classes; 5804 terms.", "Counts, 85640 of them."),
    "tr31": _cluto(
        "tr31: 927 documents of TREC in 7 classes; 10128 terms.", "Counts, 248903 of them. The smallest class has 2 documents."
    ),
    "re0": _cluto("re0: 1504 articles of Reuters-21578 in 13 classes; 2886 terms.", "Counts, 77808 of them."),
    "wap": _cluto("wap: 1560 web pages of the WebACE project in 20 classes; 8460 terms.", "Counts, 220482 of them."),
    "fbis": _cluto(
        "fbis: 2463 documents of the Foreign Broadcast Information Service (TREC) in 17 classes; 2000 terms.",
        "Counts, 393386 of them.",
    ),
    "cranmed": _cluto(
        "cranmed: 2431 abstracts of 2 collections, Cranfield and Medline; 41681 terms.",
        """Counts, 140658 of them. The terms are those of classic, and 9961 of them are in no document (min_df=1 drops them). Which
        class is which collection is told by their sizes: 1398, 1033.""",
        ("cran", "med"),
    ),
    "webkb": _Text(
        "webkb: 4199 web pages of computer science departments in 4 classes; 7770 stemmed terms (A. Cardoso-Cachopo).",
        """Counts from 1 to 397, 324254 of them; each term is in at least 2 documents, and 31 documents have none (drop_empty).
        QNMF has "two classes of 1433 documents and 933 terms", and does not say which, nor how terms were chosen: course and
        project are 1434 documents, the only two classes with about as many, and min_df=29 leaves them 935 terms. 2803 documents
        are to learn from, and come first.""",
        "MIT, of the repository that has the copy; none stated for the data, of CMU World Wide Knowledge Base.",
        ("webkb/webkb-train-stemmed.txt", "webkb/webkb-test-stemmed.txt"),
        _stemmed,
    ),
    "webkb_linqs": _Text(
        "webkb_linqs: 877 web pages of computer science departments in 5 classes; 1703 terms (LINQS).",
        f"0 and 1 only, whether a document has a term: 79365 are 1. {NO_NAMES}",
        "none stated.",
        ("webkb_linqs/sparse_webkb.txt", "webkb_linqs/webkb_correct.txt"),
        _pairs,
    ),
    "20newsgroups": _Text(
        '20newsgroups: 18846 messages of 20 newsgroups; 26214 terms (version "bydate", as D. Cai packed it).',
        """Counts from 1 to 821, 1687590 of them. The names of the groups are not in the file: they are in alphabetical order, as
        is told by their sizes. 11314 documents are to learn from. PNMF draws 100 documents of each group (per_class=100), from
        another version of 20000; which ones is not known.""",
        APACHE,
        ("20newsgroups/20Newsgroups.mat",),
        partial(_features, names=NEWSGROUPS),
    ),
    "20news_w100": _Text(
        "20news_w100: 16242 messages of newsgroups in 4 classes; 100 words (S. Roweis).",
        """0 and 1 only, whether a document has a word: 65451 are 1. In the file, words are rows.""",
        "MIT, of the repository that has the copy; none stated for the data.",
        ("20news_w100/20news_w100.mat",),
        _newsgroups_by_100_words,
    ),
    "reuters21578": _Text(
        "reuters21578: 8293 articles of Reuters-21578 in 65 classes; 18933 terms (as D. Cai packed it).",
        f"""Counts from 1 to 47, 389455 of them. Only documents of a single class; classes are in the order of their sizes, from
        3713 down to 1, which eight have. 5946 documents are to learn from. PNMF has the 10 most frequent classes with "about 2900
        documents"; here these (largest=10) have 7285: how the others were left out is not known. {NO_NAMES}""",
        APACHE,
        ("reuters21578/Reuters21578.mat",),
        _features,
    ),
    "r8": _Text(
        "r8: 7674 articles of Reuters-21578 in 8 classes; 17387 stemmed terms (A. Cardoso-Cachopo).",
        """Counts, 307571 of them. 8953 terms are in at least 2 documents (min_df=2). 5485 documents are to learn from, and come
        first.""",
        "MIT, of the repository that has the copy; none stated for the data.",
        ("r8/r8-train-stemmed.txt", "r8/r8-test-stemmed.txt"),
        _stemmed,
    ),
    "tdt2": _Text(
        "tdt2: 9394 news stories in the 30 largest classes of TDT2; 36771 terms (as D. Cai packed it).",
        f"""Counts from 1 to 52, 1224135 of them. 678 terms are in no document (min_df=1 drops them). Classes are in the order of
        their sizes. {NO_NAMES}""",
        f"{APACHE[:-1]}, which are from the Linguistic Data Consortium.",
        ("tdt2/TDT2.mat",),
        _features,
    ),
    "webace": _Text(
        "webace: 2340 web pages of the WebACE project in 20 classes; 1000 terms.",
        f"""WEIGHTS, not counts: tf-idf up to 146.1, 142711 of them. {NO_NAMES}""",
        APACHE,
        ("webace/WebACE.mat",),
        _features,
    ),
    "cstr": _Text(
        "cstr: 475 abstracts of technical reports in computer science in 4 classes; 1000 terms.",
        f"""WEIGHTS, not counts: tf-idf from 0.91 to 61.5, 16157 of them. Ding and others (2006) have 476 documents. {NO_NAMES}""",
        APACHE,
        ("cstr/cstr.mat",),
        _features,
    ),
    "classic3": _Text(
        "classic3: 3891 abstracts of 3 collections, Medline, CISI and Cranfield; 4303 terms.",
        """Counts from 1 to 25, 176347 of them. Which class is which collection is told by their sizes: 1033, 1460, 1398.""",
        APACHE,
        ("classic3/classic3.mat",),
        _classic3,
    ),
    "med": _Text(
        "med: MEDLINE, 696 medical abstracts that answer one of 30 queries; 5730 terms.",
        """Counts. The collection has 1033 abstracts; as in PNMF, only those are here that a query asks for, and the target is the
        query; no abstract has two. Terms are runs of at least 3 letters that are no stop words (those that come with CACM) and
        that at least 2 of the 1033 abstracts have: 5730, where PNMF has 5735 and does not say how. 302 of them are in none of the
        696 (min_df=1 drops them).""",
        SMART,
        ("med/MED.ALL", "med/MED.REL", "cacm/common_words"),
        _medline,
    ),
    "cran": _Text(
        "cran: Cranfield, 1400 abstracts on aerodynamics.",
        """Counts of the words of the abstracts, which repeat the titles; terms are chosen as in med. There are no classes.
        Abstracts 471 and 995 are empty (drop_empty), and are not in classic.""",
        SMART,
        ("cran/cran.all.1400", "cacm/common_words"),
        partial(_collection, sections="W"),
    ),
    "cisi": _Text(
        "cisi: CISI, 1460 abstracts on information science.",
        "Counts of the words of titles and abstracts; terms are chosen as in med. There are no classes.",
        SMART,
        ("cisi/CISI.ALL", "cacm/common_words"),
        partial(_collection, sections="TW"),
    ),
    "cacm": _Text(
        "cacm: CACM, 3204 titles and abstracts of the Communications of the ACM.",
        """Counts of the words of titles and abstracts; 1617 have a title only. Terms are chosen as in med. There are no classes.
        classic has 3203 of them.""",
        SMART,
        ("cacm/cacm.all", "cacm/common_words"),
        partial(_collection, sections="TW"),
    ),
}
