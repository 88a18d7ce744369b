"""Every picture is drawn, into axes that are given as well as into its own, for estimators of every kind."""

import numpy as np
import pytest
from scipy import sparse

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from nonneg import NMF, NMTF, OPNMF, QNMFHMM, NonnegativeLDA, ProjectiveClustering, TruncatedNonnegativeSVD, factorize, plot  # noqa: E402
from nonneg.files import Layout  # noqa: E402
from nonneg.graph import GraphClustering, match_graphs  # noqa: E402
from nonneg.plot.views import coarse, column_labels, row_labels  # noqa: E402
from nonneg.selection import rank_scan  # noqa: E402

pytestmark = pytest.mark.wide(one_in=2)


RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, 1.0, (40, 3)) @ np.kron(np.eye(3), np.ones(4)) + 0.01 * RNG.random((40, 12))
TRIANGLES = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
TRIANGLES[2, 3] = TRIANGLES[3, 2] = 1.0


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def check_drawn(ax):
    """It can be rendered, and something was drawn."""
    ax.figure.canvas.draw()
    assert ax.has_data()
    assert ax.get_title()


MODELS = {
    "NMF": lambda: NMF(3, random_state=0).fit(X),
    "OPNMF": lambda: OPNMF(3, random_state=0).fit(X),
    "NMTF": lambda: NMTF((3, 2), random_state=0).fit(X),
    "ProjectiveClustering": lambda: ProjectiveClustering(3, random_state=0).fit(X),
    "TruncatedNonnegativeSVD": lambda: TruncatedNonnegativeSVD(3, random_state=0).fit(X),
    "NonnegativeLDA": lambda: NonnegativeLDA().fit(X, np.arange(40) % 3),
}


@pytest.mark.parametrize("name", MODELS)
def test_any_estimator(name):
    model = MODELS[name]()
    for draw in (
        lambda ax: plot.components(model, (3, 4), ax=ax),
        lambda ax: plot.top_features(model, [f"feature {j}" for j in range(12)], ax=ax),
        lambda ax: plot.reordered(model, X, ax=ax),
        lambda ax: plot.reordered(model, sparse.csr_array(X), ax=ax),
        lambda ax: plot.memberships(model, X, ax=ax),
    ):
        ax = plt.figure().add_subplot()
        assert draw(ax) is ax
        check_drawn(ax)
        check_drawn(draw(None))


@pytest.mark.parametrize("by", ["seconds", "iteration"])
def test_convergence(by):
    check_drawn(plot.convergence(OPNMF(3, solver="paper", max_iter=30, tol=0, random_state=0).fit(X), by=by))
    check_drawn(plot.convergence(factorize(X, "W H", 2, random_state=0), by=by))
    with pytest.raises(ValueError, match="has no history"):
        plot.convergence(MODELS["NonnegativeLDA"]())


def test_graphs():
    networkx = pytest.importorskip("networkx")
    model = GraphClustering(2, random_state=0).fit(TRIANGLES)
    for graph in (TRIANGLES, sparse.csr_array(TRIANGLES), networkx.from_numpy_array(TRIANGLES)):
        check_drawn(plot.partition(model, graph))
    check_drawn(plot.partition(model, TRIANGLES, names=list("abcdef"), positions=RNG.random((6, 2))))
    check_drawn(plot.reordered(model, TRIANGLES))
    check_drawn(plot.memberships(model))
    found = match_graphs(TRIANGLES, TRIANGLES[::-1, ::-1], random_state=0)
    check_drawn(plot.matching(found, TRIANGLES, TRIANGLES[::-1, ::-1]))
    smaller = match_graphs(TRIANGLES[:5, :5], TRIANGLES, random_state=0)
    check_drawn(plot.matching(smaller, TRIANGLES[:5, :5], TRIANGLES))
    with pytest.raises(ValueError, match="labels for 6 vertices, and the graph has 3"):
        plot.partition(model, TRIANGLES[:3, :3])


@pytest.mark.parametrize("n_states", [1, 2, 5])
def test_chains(n_states):
    model = QNMFHMM(n_states, random_state=0).fit("the cat sat on the mat and the dog sat on the log " * 4)
    check_drawn(plot.transitions(model))
    check_drawn(plot.top_features(model))


def test_components_without_a_shape():
    """Bars of the largest weights, where it is not known how features lie."""
    model = MODELS["NMF"]()
    ax = plot.components(model, count=2)
    check_drawn(ax)
    assert len(ax.patches) > 2
    assert ax.get_title() == "Top features of each component"
    for shape in (12, (12,), (3.0, 4.0), "3x4", (-3, -4)):
        with pytest.raises(ValueError, match="shape must be the height and width of an image"):
            plot.components(model, shape)


def test_volumes_and_masks():
    mask = np.zeros((4, 3, 2), dtype=bool)
    mask[1:, 1:, :] = True
    check_drawn(plot.components(MODELS["NMF"](), Layout((4, 3, 2), mask)))
    with pytest.raises(ValueError, match="5 × 5 cannot be made of 12 features"):
        plot.components(MODELS["NMF"](), (5, 5))


def test_labels_are_those_of_the_parts():
    """Components that do not overlap: each feature belongs to the only one that has it, each sample to that with most of it."""
    model = MODELS["OPNMF"]()
    groups = column_labels(model).reshape(3, 4)
    assert (groups == groups[:, :1]).all()
    largest = X.reshape(40, 3, 4).sum(axis=2).argmax(axis=1)
    assert (row_labels(model, X) == groups[largest, 0]).all()


@pytest.mark.parametrize("most", [5, 100])
def test_coarse_matrices_are_means(most):
    rows, columns = RNG.permutation(40), RNG.permutation(12)
    dense = coarse(X, rows, columns, most)
    np.testing.assert_allclose(coarse(sparse.csr_array(X), rows, columns, most), dense)
    if most == 100:
        np.testing.assert_allclose(dense, X[rows][:, columns])
    else:
        np.testing.assert_allclose(dense[0, 0], X[rows[:8]][:, columns[:3]].mean())
        assert dense.shape == (5, 5)


def test_missing_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'nonneg\[plot\]'"):
        plot.convergence(MODELS["NMF"]())


@pytest.mark.parametrize(("model", "ranks"), [(NMF(), (1, 2, 3)), (NMTF(), (1, 2))], ids=["one", "two"])
def test_ranks(model, ranks):
    scan = rank_scan(model, X, ranks, criteria="error", random_state=0)
    ax = plot.ranks(scan)
    check_drawn(ax)
    assert plot.ranks(scan, ax=ax) is ax
    assert len(scan.curves()) == (1 if isinstance(scan.best_, int) else 2)
    assert all(tick == round(tick) for tick in ax.get_xticks())
    assert ax.get_title().startswith("Best rank")


def test_long_names_are_in_the_figure():
    model = MODELS["NMF"]()
    _, ax = plt.subplots(figsize=(4, 3))
    plot.top_features(model, [f"a rather long name of a feature {j}" for j in range(model.components_.shape[1])], ax=ax)
    ax.figure.canvas.draw()
    assert all(label.get_window_extent().x0 >= 0 for label in ax.get_yticklabels())
