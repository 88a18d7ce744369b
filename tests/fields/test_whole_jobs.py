"""The whole job of each field, in Python and from the shell: names, order, storage and layers are kept."""

import csv
import json
import time

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import nonneg
from nonneg import cells, text
from nonneg.selection import match_components, rank_scan, select_features, top_features
from tests.command import invoke

pytest.importorskip("rich")


def shell(monkeypatch, folder, *arguments):
    """What a command says, as JSON."""
    monkeypatch.chdir(folder)
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(path):
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.reader(file))


def counts(n_cells=300, n_genes=200, n_programs=4, seed=0):
    """Poisson counts: each program has a twelfth of the genes as markers over a shared background."""
    rng = np.random.default_rng(seed)
    programs = np.zeros((n_programs, n_genes))
    for row in programs:
        row[rng.choice(n_genes, n_genes // 12, replace=False)] = rng.gamma(0.8, 1.0, n_genes // 12)
    background = rng.gamma(0.5, 1.0, n_genes)
    programs = 0.5 * programs / programs.sum(axis=1, keepdims=True) + 0.5 * background / background.sum()
    usages = rng.gamma(0.4, 1.0, (n_cells, n_programs)) * 800 + 5
    return sparse.csr_matrix(rng.poisson(usages @ programs).astype(np.float32)), programs


# ---- cells


@pytest.fixture
def adata():
    """Counts in a layer and raw, scaled values in X, some genes highly variable."""
    anndata = pytest.importorskip("anndata")
    X, _ = counts()
    made = anndata.AnnData(X.copy())
    made.obs_names, made.var_names = [f"cell {i}" for i in range(300)], [f"gene {j}" for j in range(200)]
    made.layers["counts"], made.raw = X.copy(), made.copy()
    made.X = np.asarray(X.toarray() - X.toarray().mean(axis=0))
    made.var["highly_variable"] = np.arange(200) % 10 > 0
    return made


def test_cells_in_python(adata, tmp_path):
    _, programs = counts()
    used = adata.var["highly_variable"].to_numpy()
    before = adata.copy()
    scan = rank_scan(nonneg.ConsensusNMF(n_runs=5, divergence="kl"), adata.layers["counts"], (3, 4, 5), random_state=0)
    assert scan.best_ == 4
    cells.consensus_nmf(adata, scan.best_, layer="counts", n_runs=6, divergence="kl", norm="l1")
    found = adata.varm["consensus_nmf"].T
    assert match_components(programs[:, used], found[:, used]).similarity.min() > 0.95
    np.testing.assert_allclose(adata.obsm["X_consensus_nmf"].sum(axis=1), adata.layers["counts"][:, used].sum(axis=1).A1, rtol=1e-3)
    assert adata.uns["consensus_nmf"]["stability"].min() > 0.9
    table = cells.markers(adata, key="consensus_nmf", count=5, layer="counts")
    markers = [set(np.argsort(-programs[k] / programs.mean(axis=0))[:12]) for k in range(4)]
    order = match_components(found, programs).order
    for part in range(4):
        names = {int(name.split()[1]) for name in table.iloc[:, part]}
        assert len(names & markers[order[part]]) >= 3
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = pytest.importorskip("anndata").read_h5ad(tmp_path / "cells.h5ad")
    assert list(again.obs_names) == list(before.obs_names)
    assert sparse.issparse(again.layers["counts"])
    assert (again.layers["counts"] != before.layers["counts"]).nnz == 0
    np.testing.assert_array_equal(again.X, before.X)
    np.testing.assert_array_equal(again.varm["consensus_nmf"], adata.varm["consensus_nmf"])


def test_a_panel_of_genes_codes_cells_on_its_own():
    X, _ = counts(800, 600, 12, seed=1)
    names = np.array([f"gene {j}" for j in range(600)])
    pandas = pytest.importorskip("pandas")
    model = nonneg.PNMF(12, random_state=0).fit(pandas.DataFrame(X[:500].toarray(), columns=names))
    panel = select_features(model, 120)
    small, new = model.restrict(panel), pandas.DataFrame(X[300:].toarray(), columns=names)
    began = time.perf_counter()
    codes = small.transform(new[list(panel)])
    assert time.perf_counter() - began < 1.0  # a hundredth of it, alone on a machine
    whole = model.transform(new)
    correlations = [np.corrcoef(codes[:, k], whole[:, k])[0, 1] for k in range(12)]
    assert sum(correlation >= 0.9 for correlation in correlations) >= 11


def test_cells_from_the_shell(adata, tmp_path, monkeypatch):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    options = ["--variable", "counts", "--model", "nmf", "--divergence", "kl", "-r", "4", "-o", "cells.nonneg"]
    said = shell(monkeypatch, tmp_path, "fit", "cells.h5ad", *options, "--components", "programs.csv", "--loadings", "usages.h5ad")
    model = nonneg.NMF(4, divergence="kl", random_state=0).fit(adata.layers["counts"])
    parts = rows_of(tmp_path / "programs.csv")
    assert parts[0][1:] == list(adata.var_names)
    np.testing.assert_allclose(np.array(parts)[1:, 1:].astype(float), model.components_, rtol=1e-3, atol=1e-6)
    expected = top_features(model, adata.var_names, 6)
    assert said["top_features"] == [[feature.name for feature in top] for top in expected]
    usages = pytest.importorskip("anndata").read_h5ad(tmp_path / "usages.h5ad")
    assert list(usages.obs_names) == list(adata.obs_names)
    shell(monkeypatch, tmp_path, "transform", "cells.nonneg", "cells.h5ad", "--variable", "counts", "-o", "again.csv")
    np.testing.assert_allclose(np.array(rows_of("again.csv"))[1:, 1:].astype(float), usages.X, rtol=1e-3, atol=1e-4)


# ---- texts

FIELDS = ("cat dog mouse horse", "star planet moon comet", "bread butter cheese milk")


def documents(count=60, seed=0):
    draw = np.random.default_rng(seed)
    return [" ".join([*draw.choice(FIELDS[i % 3].split(), 6), *draw.choice(["the", "and", "of"], 4)]) for i in range(count)]


def test_texts_in_python():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    counted = CountVectorizer(stop_words="english")
    scan = rank_scan(nonneg.NMF(divergence="kl"), counted.fit_transform(documents()), range(2, 5), random_state=0)
    assert scan.best_ == 3
    pipeline = make_pipeline(counted, nonneg.NMF(3, divergence="kl", norm="l1", random_state=0)).fit(documents())
    found = text.topics(pipeline, X=documents(), count=4)
    assert {frozenset(topic.words) for topic in found} == {frozenset(field.split()) for field in FIELDS}
    new = pipeline.transform(["a horse and a moon", "milk"])
    np.testing.assert_allclose(new.sum(axis=1), [2, 1], rtol=1e-3)  # words of a document
    assert [topic.words for topic in found][int(new[1].argmax())].count("milk") == 1


def test_texts_from_the_shell(tmp_path, monkeypatch):
    from sklearn.feature_extraction.text import CountVectorizer

    counted = CountVectorizer(stop_words="english")
    mmwrite(tmp_path / "counts.mtx", counted.fit_transform(documents()))
    (tmp_path / "words.txt").write_text("\n".join(counted.get_feature_names_out()))
    options = ["--features", "words.txt", "--model", "nmf", "--divergence", "kl", "-r", "3", "--report", "topics.html"]
    said = shell(monkeypatch, tmp_path, "fit", "counts.mtx", *options)
    assert {frozenset(words[:4]) for words in said["top_features"]} == {frozenset(field.split()) for field in FIELDS}
    assert "butter" in (tmp_path / "topics.html").read_text(encoding="utf8")


# ---- networks


def clubs():
    networkx = pytest.importorskip("networkx")
    graph = networkx.relabel_nodes(networkx.planted_partition_graph(3, 12, 0.8, 0.05, seed=0), lambda i: f"person {i:02d}")
    graph.graph.clear()
    return graph, [{f"person {i:02d}" for i in range(12 * k, 12 * k + 12)} for k in range(3)]


def test_networks_in_python():
    graph, planted = clubs()
    model = nonneg.graph.GraphClustering(3, random_state=0).fit(graph)
    assert sorted(map(sorted, model.communities_)) == sorted(map(sorted, planted))
    model.annotate(graph, "club")
    assert all(len({graph.nodes[name]["club"] for name in club}) == 1 for club in planted)
    pytest.importorskip("pandas")
    assert list(model.to_frame().index) == list(graph)


def test_networks_from_the_shell(tmp_path, monkeypatch):
    graph, planted = clubs()
    pytest.importorskip("networkx").write_gml(graph, tmp_path / "clubs.gml")
    shell(monkeypatch, tmp_path, "partition", "clubs.gml", "--parts", 3, "--labels", "parts.csv")
    found = {}
    for name, part in rows_of(tmp_path / "parts.csv")[1:]:
        found.setdefault(part, set()).add(name)
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, planted))
