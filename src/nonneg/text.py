"""Texts: topics with their words, coherence, and clusters of documents and of words.

Documents are samples and words are features: counts by a vectorizer of scikit-learn, or any matrix with words for its columns.

>>> from sklearn.feature_extraction.text import CountVectorizer
>>> from sklearn.pipeline import make_pipeline
>>> from nonneg import NMF
>>> from nonneg.text import topics
>>> texts = ["the cat saw the dog", "a dog bit the cat", "stars and planets", "planets circle stars"] * 3
>>> pipeline = make_pipeline(CountVectorizer(stop_words="english"), NMF(2, divergence="kl", random_state=0)).fit(texts)
>>> print(topics(pipeline, X=texts, count=2))
topic  share  coherence  words
1        55%       1.00  cat dog
2        45%       1.00  planets stars
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from scipy import sparse

from .coclusters import block_sums
from .data.annotated import matrix_of
from .exceptions import DataError, IncompatibleError, ShapeError
from .kernels.csr import checked
from .selection.components import codes_of_fit, read_components, read_names, top_features, with_names

__all__ = ["Topic", "Topics", "block_table", "coherence", "topics"]


class Topic(NamedTuple):
    """A component as a list of words.

    See Also
    --------
    topics : Returns them.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.text import topics
    >>> X = np.kron(np.eye(2), [[3.0, 2, 1], [1, 1, 2]])
    >>> found = topics(NMF(2, random_state=0).fit(X), ["cat", "dog", "cow", "sun", "moon", "star"], X=X, count=2)
    >>> found[0].words
    ['cat', 'dog']
    """

    words: list[str]
    """The foremost words, the first one first."""
    share: float
    """The part of all that the components explain; nan if the model does not keep codes."""
    coherence: float
    """NPMI of its words; nan without X."""


class Topics(Sequence[Topic]):
    """Topics in the order of the components, which print as a table.

    Parameters
    ----------
    topics : sequence of Topic
        One for each component.

    See Also
    --------
    topics : Returns one.
    coherence : Their coherence in another corpus.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.text import topics
    >>> X = np.kron(np.eye(2), [[3.0, 2, 1], [1, 1, 2]])
    >>> found = topics(NMF(2, random_state=0).fit(X), ["cat", "dog", "cow", "sun", "moon", "star"], X=X, count=2)
    >>> len(found)
    2
    >>> print(found)
    topic  share  coherence  words
    1        50%       1.00  cat dog
    2        50%       1.00  sun moon
    """

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._topics = list(topics)

    @overload
    def __getitem__(self, index: int) -> Topic: ...
    @overload
    def __getitem__(self, index: slice) -> Topics: ...
    def __getitem__(self, index: int | slice) -> Topic | Topics:
        return Topics(self._topics[index]) if isinstance(index, slice) else self._topics[index]

    def __len__(self) -> int:
        return len(self._topics)

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._topics)

    def __str__(self) -> str:
        lines = [("topic", "share", "coherence", "words")]
        for number, topic in enumerate(self, 1):
            share, npmi = (f"{topic.share:.0%}", f"{topic.coherence:.2f}")
            lines.append(
                (
                    str(number),
                    "" if np.isnan(topic.share) else share,
                    "" if np.isnan(topic.coherence) else npmi,
                    " ".join(topic.words),
                )
            )
        return "\n".join(f"{number:<5}  {share:>5}  {npmi:>9}  {words}".rstrip() for number, share, npmi, words in lines)

    def __repr__(self) -> str:
        return f"Topics({len(self)} topics)"


def topics(model: Any, names: Any = None, *, X: Any = None, count: int = 10, by: str = "weight") -> Topics:
    """The topics of a fitted factorization of documents by words.

    Parameters
    ----------
    model : estimator, Pipeline or array of shape (n_components, n_features)
        Fitted; or its components.
    names : vectorizer, or sequence of words, optional
        By default those of a pipeline's vectorizer, or of the table that was fitted.
    X : array, sparse array or texts, optional
        The corpus, for coherence and for ``by="lift"``; texts if the model is a pipeline.
    count : int, default=10
        Words of a topic.
    by : {"weight", "lift", "zscore"}, default="weight"
        Criterion of the ranking, as in `nonneg.selection.top_features`.

    Returns
    -------
    Topics
        ``print`` shows a table.

    See Also
    --------
    coherence : The same measure in another corpus.
    nonneg.selection.top_features : The foremost features of any estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import NMF
    >>> from nonneg.text import topics
    >>> X = np.kron(np.eye(2), [[3.0, 2, 1], [1, 1, 2]])
    >>> found = topics(NMF(2, random_state=0).fit(X), ["cat", "dog", "cow", "sun", "moon", "star"], X=X, count=2)
    >>> print(found)
    topic  share  coherence  words
    1        50%       1.00  cat dog
    2        50%       1.00  sun moon
    """
    X = _counted(model, X)
    tops = top_features(model, names, count, by=by, X=X)
    words = [[str(feature.name) for feature in top] for top in tops]
    model, names = with_names(model, names)
    shares = _shares(model, len(words))
    npmi = np.full(len(words), np.nan)
    if X is not None:
        npmi = coherence(words, X, read_names(model, names, X.shape[1]))
    return Topics([Topic(*one) for one in zip(words, shares.tolist(), npmi.tolist(), strict=True)])


def coherence(words: Any, X: Any, names: Any = None) -> np.ndarray:
    """The coherence of topics in a corpus: the mean NPMI of pairs of their words, by documents that have both.

    From −1 (never together) through 0 (as if independent) to 1 (always together). It agrees with readers better than likelihood
    does (Lau, Newman, Baldwin 2014).

    Parameters
    ----------
    words : list of lists of words, or Topics
        Two words at least in each.
    X : array or sparse array of shape (n_documents, n_words)
        Counts, of which only zeros matter; also of other documents than the fitted ones.
    names : vectorizer, or sequence of words, optional
        Names of the columns of X; by default numbers.

    Returns
    -------
    array of shape (n_topics,)
        One number for each topic.

    See Also
    --------
    topics : Has it of the fitted corpus.

    Examples
    --------
    >>> from nonneg.text import coherence
    >>> coherence([["cat", "dog"], ["cat", "star"]], [[1, 2, 0], [1, 1, 0], [0, 0, 1], [0, 0, 3]], ["cat", "dog", "star"])
    array([ 1., -1.])
    """
    X = _matrix(X)
    _, names = with_names(None, names)
    place = {str(name): number for number, name in enumerate(read_names(None, names, X.shape[1]))}
    found = []
    for topic in words:
        own = [str(word) for word in (topic.words if isinstance(topic, Topic) else topic)]
        unknown = [word for word in own if word not in place]
        if unknown or len(own) < 2:
            raise DataError(
                f"{unknown[0]!r} is not among the names of X."
                if unknown
                else f"A topic needs two words for coherence; got {own!r}."
            )
        found.append(_npmi(X[:, [place[word] for word in own]]))
    return np.array(found)


def _npmi(X: Any) -> float:
    """The mean NPMI of all pairs of columns."""
    has = (X > 0).astype(np.float64)
    together = np.asarray((has.T @ has).toarray() if sparse.issparse(has) else has.T @ has) / X.shape[0]
    alone = np.diag(together)
    upper = np.triu_indices(len(alone), 1)
    both, expected = together[upper], np.multiply.outer(alone, alone)[upper]
    pairs = np.full(len(both), -1.0)
    some = (both > 0) & (both < 1)
    pairs[some] = np.log(both[some] / expected[some]) / -np.log(both[some])
    pairs[both == 1] = 0.0  # words of all documents say nothing of each other
    return float(pairs.mean())


def block_table(model: Any, X: Any, names: Any = None, *, count: int = 3) -> Any:
    """Tabulate clusters of documents by clusters of words: how many times as often as by chance they meet.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted, with ``row_labels_`` and ``column_labels_``: `nonneg.BiQNMF`, `nonneg.NMF`, or a pipeline that ends with one.
    X : array, sparse array or texts
        As it was fitted.
    names : vectorizer, or sequence of words, optional
        As in `topics`.
    count : int, default=3
        Words by which a cluster of words is called: those that are most frequent.

    Returns
    -------
    DataFrame
        A row for each cluster of documents, a column for each cluster of words.

    See Also
    --------
    topics : Words of one factorization.
    nonneg.coclusters.top_terms : The foremost words of each block.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import BiQNMF
    >>> from nonneg.text import block_table
    >>> X = np.kron([[5.0, 1.0], [1.0, 3.0]], np.ones((4, 3)))
    >>> block_table(BiQNMF(2, random_state=0).fit(X), X, ["cat", "dog", "cow", "sun", "moon", "star"]).shape
    (2, 2)
    """
    import pandas

    X = _counted(model, X)
    model, names = with_names(model, names)
    sums = block_sums(X, model)
    rows, columns = sums.sum(axis=1, keepdims=True), sums.sum(axis=0, keepdims=True)
    expected = rows @ columns / (sums.sum() or 1.0)
    lift = np.where(expected > 0, sums / np.where(expected > 0, expected, 1.0), np.nan)
    words = read_names(model, names, X.shape[1])
    frequent = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    called = []
    for part in range(sums.shape[1]):
        inside = np.flatnonzero(np.asarray(model.column_labels_) == part)
        called.append(" ".join(str(words[j]) for j in inside[np.argsort(-frequent[inside], kind="stable")[:count]]))
    sizes = np.bincount(np.asarray(model.row_labels_), minlength=len(sums))
    index = pandas.Index([f"{part + 1} ({size} documents)" for part, size in enumerate(sizes)], name="cluster")
    return pandas.DataFrame(lift, index=index, columns=called)


def _counted(model: Any, X: Any) -> Any:
    """The corpus as a matrix: texts by the steps of a pipeline before the last."""
    if X is None:
        return None
    is_texts = np.ndim(X) == 1 and len(X) > 0 and not sparse.issparse(X)
    if is_texts and not hasattr(model, "steps"):
        raise IncompatibleError(
            "X is a list of texts, and the model is no pipeline with a vectorizer. Give vectorizer.transform(texts)."
        )
    return _matrix(model[:-1].transform(X) if is_texts or (hasattr(model, "steps") and not _fits(model, X)) else X)


def _fits(pipeline: Any, X: Any) -> bool:
    """Whether something has the columns of the last step of a pipeline, rather than those of the input of its first step."""
    return getattr(X, "ndim", 0) == 2 and X.shape[1] == read_components(pipeline[-1]).shape[1]


def _matrix(X: Any) -> Any:
    """A matrix in memory, sparse by rows or dense."""
    X = matrix_of(X)
    X = sparse.csr_array(checked(X, "X")) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or not X.shape[0]:
        raise ShapeError(f"X must be documents by words; its shape is {X.shape}.")
    return X


def _shares(model: Any, count: int) -> np.ndarray:
    """The share of each component in the explained variance."""
    codes = codes_of_fit(model, count)
    if codes is None:
        return np.full(count, np.nan)
    mass = codes.sum(axis=0, dtype=np.float64) * read_components(model).sum(axis=1)
    return np.asarray(mass / (mass.sum() or 1.0))
