"""Features that stand for components, panels of them, and estimators restricted to a panel."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import nonneg
from nonneg import NMF, OPNMF, PNMF, ConsensusNMF, Factorization
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.selection import select_features, top_features

RNG = np.random.default_rng(0)
NAMES = np.array(["everywhere", *(f"own{k}{j}" for k in range(3) for j in range(5))], dtype=object)
PARTS = np.hstack([np.full((3, 1), 6.0), np.kron(np.eye(3), np.linspace(3, 1, 5))])
CODES = RNG.gamma(0.5, 3.0, (120, 3))
X = RNG.poisson(CODES @ PARTS).astype(float)


def first(tops):
    return [part[0].name for part in tops]


def test_by_weight_a_frequent_feature_leads_all_components():
    assert first(top_features(PARTS, NAMES)) == ["everywhere"] * 3


@pytest.mark.parametrize("data", [X, sparse.csr_array(X), sparse.csc_array(X.astype(np.float32))], ids=["dense", "CSR", "CSC"])
@pytest.mark.parametrize("by", ["lift", "zscore"])
def test_by_lift_or_slope_own_features_do(by, data):
    model = NMF(3, divergence="kl", random_state=0).fit(X)
    tops = top_features(model, NAMES, 5, by=by, X=data)
    assert all(len({feature.name[:4] for feature in part} - {"ever"}) == 1 for part in tops)
    assert {part[0].name[:4] for part in tops} == {"own0", "own1", "own2"}


def test_lift_is_a_ratio_of_shares():
    (top, _, _) = top_features(PARTS, NAMES, 1, by="lift", X=X)
    share = PARTS[0] / PARTS[0].sum() / (X.sum(axis=0) / X.sum())
    eligible = PARTS[0] / PARTS[0].sum() > 1 / 16
    assert top[0].weight == pytest.approx(share[eligible].max())
    assert first(top_features(PARTS, NAMES, by="lift"))[0].startswith("own0")


def test_slopes_are_those_of_least_squares():
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    design = np.column_stack([np.ones(120), CODES])
    slopes = np.linalg.lstsq(design, standard, rcond=None)[0][1:]
    tops = top_features(PARTS, NAMES, 16, by="zscore", X=sparse.csr_array(X), codes=CODES)
    for part, row in zip(tops, slopes, strict=True):
        assert {feature.name: round(feature.weight, 9) for feature in part} == {
            name: round(value, 9) for name, value in zip(NAMES, row, strict=True) if value > 0
        }


def test_names_come_from_vectorizers_and_pipelines():
    texts = ["cats and dogs", "dogs and cats", "stars and planets", "planets and stars"]
    pipeline = make_pipeline(CountVectorizer(), NMF(2, divergence="kl", random_state=0)).fit(texts)
    found = {frozenset(word for word, _ in part) for part in top_features(pipeline)}
    assert found == {frozenset({"cats", "dogs", "and"}), frozenset({"planets", "stars", "and"})}
    assert top_features(pipeline[-1], pipeline[0]) == top_features(pipeline)


def test_mistakes_of_top_features():
    for given, match in (
        ({"by": "specificity"}, "Unknown by 'specificity'"),
        ({"by": "zscore"}, "by='zscore' compares features with codes over samples, so it needs X"),
        ({"by": "zscore", "X": X}, "by='zscore' needs codes"),
    ):
        with pytest.raises(IncompatibleError, match=match):
            top_features(PARTS, NAMES, **given)
    with pytest.raises(ShapeError, match="it must have a column for each of 16 features"):
        top_features(PARTS, NAMES, by="lift", X=X[:, :5])
    with pytest.raises(ShapeError, match=r"codes has shape \(3, 3\)"):
        top_features(PARTS, NAMES, by="zscore", X=X, codes=np.ones((3, 3)))


def test_a_panel_covers_all_components():
    weak = PARTS * [[1.0], [1.0], [0.01]]
    panel = select_features(weak, 7, NAMES)
    assert list(panel) == [name for name in NAMES if name in set(panel)]
    assert {name[:4] for name in panel} == {"ever", "own0", "own1", "own2"}
    np.testing.assert_array_equal(select_features(weak, 16), np.arange(16))
    with pytest.raises(IncompatibleError, match="count must be an int from 1 to 16"):
        select_features(weak, 17)
    with pytest.raises(IncompatibleError, match="Only 1 features are not zero"):
        select_features(np.eye(1, 4), 2)


MODELS = {
    "NMF": NMF(3, random_state=0),
    "NMF, KL": NMF(3, divergence="kl", random_state=0),
    "PNMF": PNMF(3, random_state=0),
    "OPNMF": OPNMF(3, random_state=0),
    "ConsensusNMF": ConsensusNMF(3, n_runs=2, random_state=0),
    "NMTF": nonneg.NMTF((3, 3), random_state=0),
    "fixed": NMF(3, fixed_components=PARTS[:1] / np.linalg.norm(PARTS[:1]), random_state=0),
    "W W.T X": Factorization("W W.T X", 3, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_restricted_estimator_codes_by_the_panel(name, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=NAMES)
    model = MODELS[name].fit(table)
    own = select_features(model, 9)
    panel = model.restrict(own[::-1])
    assert list(panel.feature_names_in_) == list(own[::-1])
    codes, whole = panel.transform(table[own[::-1]]), model.transform(table)
    assert min(np.corrcoef(codes[:, k], whole[:, k])[0, 1] for k in range(3)) > 0.9
    np.testing.assert_array_equal(model.components_.shape, (3, 16))
    assert panel.inverse_transform(codes).shape == (120, 9)
    panel.save(tmp_path / "panel.nonneg")
    np.testing.assert_allclose(nonneg.load(tmp_path / "panel.nonneg").transform(table[own[::-1]]), codes)
    with pytest.raises(ValueError, match="feature names should match"):
        panel.transform(table)


def test_codes_of_a_projection_keep_their_scale():
    model = PNMF(3, random_state=0).fit(X)
    panel = model.restrict(np.arange(1, 16))
    np.testing.assert_allclose(np.linalg.norm(panel.components_, axis=1), np.linalg.norm(model.components_, axis=1))
    np.testing.assert_allclose(panel.transform(X[:, 1:]), X[:, 1:] @ panel.components_.T)


@pytest.mark.parametrize(
    ("features", "match"),
    [
        (["own00", "nowhere", "everywhere"], "features has 1 that NMF was not fitted with: 'nowhere'"),
        (["own00", "own00"], "features has some more than once"),
        ([0, 16], "features has 1 that NMF was not fitted with: 16"),
        ([], "features must be a list of names or numbers, or a mask"),
        (np.zeros(16, bool), "features as a mask must be True for some of 16 features"),
    ],
)
def test_mistakes_of_restrict(features, match):
    model = NMF(3, random_state=0).fit(X)
    model.feature_names_in_ = NAMES
    with pytest.raises((DataError, IncompatibleError), match=match):
        model.restrict(features)


def test_without_names_there_are_numbers():
    model = NMF(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.restrict([4, 2]).components_, model.components_[:, [4, 2]])
    mask = np.arange(16) % 2 == 0
    np.testing.assert_array_equal(model.restrict(mask).components_, model.components_[:, mask])
    with pytest.raises(IncompatibleError, match=r"NMF was fitted without feature names\. Give numbers from 0 to 15"):
        model.restrict(["everywhere"])
