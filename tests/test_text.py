"""Topics with their words, coherence, and clusters of documents by clusters of words."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from nonneg import NMF, OPNMF, BiQNMF, ConsensusNMF
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.text import block_table, coherence, topics

FIELDS = ("cat dog mouse horse", "star planet moon comet", "bread butter cheese milk")


def corpus(count=60, seed=0):
    """Documents of one field each, with words that all share."""
    draw = np.random.default_rng(seed)
    return [" ".join([*draw.choice(FIELDS[i % 3].split(), 6), *draw.choice(["the", "and", "of"], 4)]) for i in range(count)]


TEXTS = corpus()


@pytest.mark.parametrize(
    "steps",
    [(CountVectorizer(),), (TfidfVectorizer(),), (CountVectorizer(), TfidfTransformer())],
    ids=["counts", "tf-idf", "two steps"],
)
@pytest.mark.parametrize(
    "model", [NMF(3, random_state=0), OPNMF(3, random_state=0), ConsensusNMF(3, n_runs=3, random_state=0)], ids=str
)
def test_topics_of_a_pipeline(steps, model):
    pipeline = make_pipeline(*steps, model).fit(TEXTS)
    found = topics(pipeline, X=TEXTS, count=4, by="lift")
    assert {frozenset(topic.words) for topic in found} <= {frozenset(field.split()) for field in FIELDS}
    assert len(found) == 3
    assert min(topic.coherence for topic in found) > 0.2
    assert str(found).splitlines()[0].split() == ["topic", "share", "coherence", "words"]
    assert all(word in str(found) for topic in found for word in topic.words)
    new = pipeline.transform(["cat dog horse", "moon star"])
    best = [topics(pipeline)[int(row.argmax())].words for row in new]
    assert {"cat", "dog"} & set(best[0])
    assert {"moon", "star"} & set(best[1])


def test_shares_are_of_the_explained_part():
    X = np.kron(np.diag([3.0, 1.0]), np.ones((4, 5)))
    found = topics(NMF(2, divergence="kl", random_state=0).fit(X))
    assert sorted(round(topic.share, 3) for topic in found) == [0.25, 0.75]
    assert np.isnan(topics(np.eye(2))[0].share)
    assert "nan" not in str(topics(np.eye(2)))
    assert repr(found) == "Topics(2 topics)"
    assert found[:1][0] == found[0]


def test_names_from_a_vectorizer_a_list_or_a_table():
    pandas = pytest.importorskip("pandas")
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    model = NMF(3, divergence="kl", random_state=0).fit(X)
    expected = [topic.words for topic in topics(model, vectorizer)]
    assert [topic.words for topic in topics(model, vectorizer.get_feature_names_out())] == expected
    table = pandas.DataFrame(X.toarray(), columns=vectorizer.get_feature_names_out())
    of_table = topics(NMF(3, divergence="kl", random_state=0).fit(table))
    assert [set(topic.words) for topic in of_table] == [set(words) for words in expected]
    assert topics(model)[0].words[0].isdigit()


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "CSR", "CSC"])
def test_coherence_by_hand(store):
    """NPMI of every pair from counts of documents, one after the other."""
    draw = np.random.default_rng(0)
    X = draw.poisson(0.7, (40, 6))
    words = list("abcdef")
    expected = []
    for topic in (["a", "c", "f"], ["b", "e"]):
        values = []
        for one, other in itertools.combinations(topic, 2):
            i, j = words.index(one), words.index(other)
            p, q, both = np.mean(X[:, i] > 0), np.mean(X[:, j] > 0), np.mean((X[:, i] > 0) & (X[:, j] > 0))
            values.append(np.log(both / (p * q)) / -np.log(both) if both else -1.0)
        expected.append(np.mean(values))
    np.testing.assert_allclose(coherence([["a", "c", "f"], ["b", "e"]], store(X), words), expected)


def test_blocks_of_documents_and_words():
    pytest.importorskip("pandas")
    texts = [" ".join(word for word in text.split() if word not in ("the", "and", "of")) for text in TEXTS]
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    model = BiQNMF(3, random_state=0).fit(X)
    table = block_table(model, X, vectorizer)
    assert sorted(table.max(axis=1).round(3)) == [3.0, 3.0, 3.0]  # all words of a field are in a third of the documents
    assert [name.endswith("(20 documents)") for name in table.index] == [True] * 3
    for field, column in itertools.product(FIELDS, table.columns):
        assert set(column.split()) <= set(field.split()) or not set(column.split()) & set(field.split())
    counts = X.toarray()
    mine = counts[model.row_labels_ == 1][:, model.column_labels_ == 2].sum() * counts.sum()
    mine /= counts[model.row_labels_ == 1].sum() * counts[:, model.column_labels_ == 2].sum()
    assert table.iloc[1, 2] == pytest.approx(mine)
    pipeline = make_pipeline(CountVectorizer(), BiQNMF(3, random_state=0)).fit(texts)
    assert block_table(pipeline, texts).equals(block_table(pipeline[-1], X, vectorizer))


def test_unnamed_columns_are_shown_by_number():
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    model = NMF(3, random_state=0).fit(X)
    called = topics(model, vectorizer, X=X)
    for corpus in (X, X.toarray()):
        numbered = topics(model, X=corpus)
        words = [[vectorizer.get_feature_names_out()[int(word)] for word in topic.words] for topic in numbered]
        assert words == [topic.words for topic in called]
        assert [topic.coherence for topic in numbered] == [topic.coherence for topic in called]


def test_mistakes():
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    model = NMF(3, random_state=0).fit(X)
    with pytest.raises(IncompatibleError, match="the model is no pipeline with a vectorizer"):
        topics(model, vectorizer, X=TEXTS)
    with pytest.raises(DataError, match="'unicorn' is not among the names of X"):
        coherence([["cat", "unicorn"]], X, vectorizer)
    with pytest.raises(DataError, match="A topic needs two words"):
        coherence([["cat"]], X, vectorizer)
    with pytest.raises(ShapeError, match="names has 2 names for 15 features"):
        topics(model, ["a", "b"])
    with pytest.raises(DataError, match="OPNMF has no row_labels_ and column_labels_"):
        block_table(OPNMF(3, random_state=0).fit(X), X, vectorizer)
