"""Results in an AnnData, where scanpy looks for them: names, order, layers, raw, views and files survive."""

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import cells
from nonneg.exceptions import DataError, IncompatibleError
from nonneg.selection import match_components, select_features, top_features

from .cases import MAKERS, PAIRWISE

anndata = pytest.importorskip("anndata")
RNG = np.random.default_rng(0)
PROGRAMS = RNG.gamma(0.3, 1.0, (3, 40)) + 0.05
COUNTS = RNG.poisson(RNG.gamma(0.5, 8.0, (90, 3)) @ PROGRAMS).astype(np.float32)
FITTED = {"divergence": "kl", "random_state": 0}


@pytest.fixture
def adata():
    """Scaled X, counts in a layer, all genes in raw, every fourth gene not highly variable."""
    made = anndata.AnnData(sparse.csr_matrix(COUNTS))
    made.obs_names, made.var_names = [f"cell{i}" for i in range(90)], [f"gene{j}" for j in range(40)]
    made.raw = made.copy()
    made.layers["counts"] = made.X.copy()
    made.X = (COUNTS - COUNTS.mean(axis=0)) / COUNTS.std(axis=0)
    made.obs["batch"] = np.arange(90) % 2
    return made


def by_hand(X, **others):
    return nonneg.NMF(3, **FITTED | others).fit(X)


def test_results_have_scanpy_s_keys(adata):
    assert cells.nmf(adata, 3, layer="counts", divergence="kl") is None
    model = by_hand(COUNTS)
    np.testing.assert_allclose(adata.varm["nmf"], model.components_.T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(adata.obsm["X_nmf"], model.transform(COUNTS), rtol=1e-3, atol=1e-4)
    found = adata.uns["nmf"]
    assert (found["status"], found["n_iter"]) == ("converged", model.n_iter_)
    assert found["objective"] == pytest.approx(model.objective_, rel=1e-5)
    assert found["params"]["divergence"] == "kl"
    assert (found["params"]["layer"], found["params"]["estimator"]) == ("counts", "NMF")


def test_highly_variable_genes_are_used_and_others_have_zeros(adata):
    chosen = np.arange(40) % 4 > 0
    adata.var["highly_variable"], adata.var["panel"] = chosen, ~chosen
    cells.nmf(adata, 3, layer="counts", **FITTED)
    assert not adata.varm["nmf"][~chosen].any()
    np.testing.assert_allclose(adata.varm["nmf"][chosen], by_hand(COUNTS[:, chosen]).components_.T, rtol=1e-4, atol=1e-6)
    assert adata.uns["nmf"]["params"]["mask_var"] == "highly_variable"
    cells.nmf(adata, 3, layer="counts", mask_var="panel", key_added="small", **FITTED)
    assert not adata.varm["small"][chosen].any()
    cells.nmf(adata, 3, layer="counts", mask_var=None, key_added="all", **FITTED)
    assert adata.varm["all"].any(axis=1).all()


def test_copy_leaves_the_original(adata):
    found = cells.pnmf(adata, 3, layer="counts", copy=True)
    assert "pnmf" not in adata.uns
    assert found.obsm["X_pnmf"].shape == (90, 3)
    assert list(found.obs_names) == list(adata.obs_names)


def test_raw_may_have_other_genes(adata):
    part = adata[:, 10:].copy()
    cells.nmf(part, 3, use_raw=True, **FITTED)
    whole = by_hand(COUNTS).components_
    np.testing.assert_allclose(part.varm["nmf"], whole[:, 10:].T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(part.uns["nmf"]["components"], whole, rtol=1e-4, atol=1e-6)
    assert list(part.uns["nmf"]["genes"]) == list(adata.var_names)
    assert set(cells.markers(part, use_raw=True, count=40).stack()) - set(part.var_names)


@pytest.mark.parametrize("name", ["nmf", "pnmf", "opnmf", "consensus_nmf"])
def test_every_function_survives_a_file(adata, name, tmp_path):
    few = {"n_runs": 2} if name == "consensus_nmf" else {}
    assert getattr(cells, name)(adata, 3, layer="counts", divergence="kl", **few) is None
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(read.varm[name], adata.varm[name])
    np.testing.assert_array_equal(read.obsm[f"X_{name}"], adata.obsm[f"X_{name}"])
    assert read.uns[name]["params"]["n_components"] == 3
    assert ("stability" in read.uns[name]) == (name == "consensus_nmf")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_backed_files_and_their_views(kind, tmp_path):
    made = anndata.AnnData(kind(COUNTS))
    made.obs_names, made.var_names = [f"c{i}" for i in range(90)], [f"g{j}" for j in range(40)]
    made.var["highly_variable"] = np.arange(40) % 4 > 0
    made.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    cells.nmf(backed, 3, **FITTED)
    np.testing.assert_allclose(backed.varm["nmf"][1], by_hand(COUNTS[:, np.arange(40) % 4 > 0]).components_.T[0], rtol=1e-4)
    view = backed[5:80:3, [7, 3, 20, 21, 11]]
    model, expected = by_hand(view), by_hand(COUNTS[5:80:3][:, [7, 3, 20, 21, 11]])
    np.testing.assert_allclose(model.components_, expected.components_, rtol=1e-4, atol=1e-6)
    assert list(model.feature_names_in_) == ["g7", "g3", "g20", "g21", "g11"]
    np.testing.assert_allclose(
        model.transform(view), expected.transform(COUNTS[5:80:3][:, [7, 3, 20, 21, 11]]), rtol=1e-3, atol=1e-4
    )
    with pytest.raises(IncompatibleError, match="adata is a view of a backed AnnData"):
        cells.nmf(view, 2)
    with pytest.raises(IncompatibleError, match="copy=True needs adata in memory"):
        cells.nmf(backed, 2, copy=True)
    backed.file.close()


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_a_view_with_repeated_names_is_refused(tmp_path):
    made = anndata.AnnData(COUNTS[:6])
    made.obs_names, made.var_names = ["a", "a", "b", "c", "d", "e"], [f"g{j}" for j in range(40)]
    made.write_h5ad(tmp_path / "cells.h5ad")
    with pytest.raises(DataError, match="names of observations do not say which it has"):
        nonneg.NMF(2).fit(anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")[:3])


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in PAIRWISE])
def test_every_estimator_takes_an_anndata(name, adata):
    made = adata[:30, :12].copy()
    made.X = made.layers["counts"]
    one, other = MAKERS[name](max_iter=3, tol=0) if "SVD" not in name else MAKERS[name](), None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        other = type(one)(**one.get_params()).fit(COUNTS[:30, :12])
        one.fit(made)
        np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6)
        assert list(one.feature_names_in_) == list(made.var_names)
        assert one.transform(made).shape[0] == 30


@pytest.mark.parametrize("which", [{"layer": "counts"}, {"use_raw": True}])
def test_markers_are_of_the_matrix_that_was_factorized(adata, which):
    cells.nmf(adata, 3, **which, **FITTED)
    assert cells.markers(adata, count=5).equals(cells.markers(adata, count=5, **which))
    assert not cells.markers(adata, count=5).equals(cells.markers(adata, count=5, use_raw=False))


def test_markers(adata):
    cells.nmf(adata, 3, layer="counts", **FITTED)
    model = by_hand(COUNTS)
    for by in ("weight", "lift", "zscore"):
        table = cells.markers(adata, by=by, count=5, layer="counts")
        tops = top_features(model, adata.var_names, 5, by=by, X=COUNTS)
        assert [list(table[f"{k + 1}"].dropna()) for k in range(3)] == [[feature.name for feature in top] for top in tops]


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_genes_of_one_name_are_told_apart_by_their_place(adata):
    cells.nmf(adata, 3, layer="counts", **FITTED)
    once, first = adata.varm["nmf"], cells.markers(adata, count=40)
    adata.var_names = ["gene0" if j < 3 else f"gene{j}" for j in range(40)]
    adata.var["panel"] = np.arange(40) != 1
    assert cells.markers(adata, count=40).equals(first.replace({"gene1": "gene0", "gene2": "gene0"}))
    cells.nmf(adata, 3, layer="counts", **FITTED)
    np.testing.assert_array_equal(adata.varm["nmf"], once)
    cells.nmf(adata, 3, layer="counts", mask_var="panel", **FITTED)
    assert not adata.varm["nmf"][1].any()
    assert adata.varm["nmf"][[0, 2]].any(axis=1).all()
    adata.raw = anndata.AnnData(COUNTS, var=adata.var)
    few = adata[:, 3:].copy()
    with pytest.raises(DataError, match=r"raw are found by name, and 'gene0' names several: call \S+make_unique"):
        cells.nmf(few, 3, use_raw=True, **FITTED)


def test_an_estimator_of_my_own_and_its_panel(adata):
    model = cells.fit(adata, nonneg.PNMF(3, random_state=0), layer="counts", key_added="mine")
    assert {"X_mine", "mine"} <= {*adata.obsm, *adata.varm}
    genes = select_features(model, 12)
    panel = model.restrict(genes)
    new = adata[:, list(genes)].copy()
    new.X = new.layers["counts"]
    codes, whole = panel.transform(new), adata.obsm["X_mine"]
    assert min(np.corrcoef(codes[:, k], whole[:, k])[0, 1] for k in range(3)) > 0.9


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"layer": "count"}, "adata has no layer 'count'; it has 'counts'"),
        ({"layer": "counts", "use_raw": True}, "layer and use_raw are two different matrices"),
        ({"mask_var": "panel"}, "mask_var is 'panel', which is no column of adata.var"),
        ({"mask_var": [True, False]}, "mask_var must be True or False for each of 40 genes"),
        ({"mask_var": np.zeros(40, bool)}, "mask_var leaves no gene"),
        ({"key_added": ""}, "key_added must be a name"),
        ({}, r"(?s)[Nn]egative.*layer='counts', or use_raw=True"),
    ],
)
def test_mistakes(adata, given, match):
    with pytest.raises((IncompatibleError, DataError), match=match):
        cells.nmf(adata, 3, **given)
    assert "nmf" not in adata.uns


def test_other_mistakes(adata):
    with pytest.raises(IncompatibleError, match="adata must be an AnnData; got ndarray"):
        cells.nmf(COUNTS, 3)
    with pytest.raises(IncompatibleError, match="adata has no results named 'nmf'"):
        cells.markers(adata)
    with pytest.raises(TypeError, match="NMF has no parameter 'n_runs'"):
        cells.nmf(adata, 3, layer="counts", n_runs=3)
    del adata.raw
    with pytest.raises(IncompatibleError, match=r"adata\.raw is None"):
        cells.nmf(adata, 3, use_raw=True)
    adata.X = None
    with pytest.raises(IncompatibleError, match=r"adata has no X\. Give one of its layers: 'counts'"):
        cells.nmf(adata, 3)


def test_scanpy_goes_on_from_codes():
    scanpy = pytest.importorskip("scanpy", reason="scanpy brings forty packages, too many for a development install")
    adata = scanpy.datasets.pbmc68k_reduced()
    cells.nmf(adata, 8, use_raw=True, divergence="kl")
    scanpy.pp.neighbors(adata, use_rep="X_nmf")
    assert adata.uns["neighbors"]["params"]["use_rep"] == "X_nmf"
    assert match_components(adata.varm["nmf"].T, cells.fit(adata, nonneg.NMF(8, **FITTED), use_raw=True)).similarity.min() > 0.999


def test_batches_and_separate_samples(adata, tmp_path):
    adata.obs["batch"] = np.where(adata.obs["batch"] == 0, "left", "right")
    cells.integrative_nmf(adata, 2, "batch", n_own=1, layer="counts", **FITTED)
    found = adata.uns["integrative_nmf"]
    assert list(found["component_groups"]) == ["shared", "shared", "left", "right"]
    assert not adata.obsm["X_integrative_nmf"][(adata.obs["batch"] == "left").to_numpy(), 3].any()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").uns["integrative_nmf"]["params"]["batch_key"] == "batch"
    with pytest.raises(IncompatibleError, match=r"batch_key is 'donor', which is no column of adata\.obs; it has 'batch'"):
        cells.integrative_nmf(adata, 2, "donor", layer="counts")
    samples = {name: adata[adata.obs["batch"] == name, 3 * number :].copy() for number, name in enumerate(["left", "right"])}
    for sample in samples.values():
        cells.nmf(sample, 3, layer="counts", **FITTED)
    shared = cells.meta_programs(samples, n_clusters=3)
    assert shared.features == list(adata.var_names[3:])
    assert match_components(PROGRAMS[:, 3:], shared.components).similarity.min() > 0.9
