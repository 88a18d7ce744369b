"""Sparse matrices that are not valid are refused, wherever they come from: SciPy would read and write out of bounds."""

import numpy as np
import pytest
from scipy import io, sparse

import nonneg
from nonneg import NMF, OPNMF, Gram, Observed, coclusters, factorize, files, graph, metrics, plot, selection
from nonneg.exceptions import DataError
from nonneg.graph import GraphClustering
from nonneg.kernels.csr import check_sparse


def broken(form, index=2**30):
    """A matrix of 6 × 6 with an index out of range."""
    A = sparse.csr_array(np.eye(6) + 1).asformat(form)
    if form == "coo":
        A.coords[1][3] = index
    elif form == "lil":
        A.rows[2] = [0, 1, 2, 3, 4, index]
    else:
        A.indices[0] = index
    return A


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil"])
@pytest.mark.parametrize("index", [2**30, 6, -1])
def test_indices_out_of_range(form, index):
    A = broken(form, index)
    check_sparse(sparse.csr_array(np.eye(6)).asformat(form), "A")
    with pytest.raises(DataError, match=r"A is not a valid sparse matrix of 6 × 6: an index is -?\d+, outside 0 … \d"):
        check_sparse(A, "A")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda A: setattr(A, "indptr", A.indptr[:-1]), "indptr has 6 numbers where 7 are needed"),
        (lambda A: A.indptr.__setitem__(2, 30), "never fall"),
        (lambda A: A.indptr.__setitem__(-1, 99), "promises 99 entries"),
        (lambda A: setattr(A, "data", A.data[:-1]), "there are 35, with 36 indices"),
        (lambda A: setattr(A, "indices", A.indices.astype(float)), "whole numbers"),
    ],
)
def test_arrays_that_do_not_fit(change, match):
    A = sparse.csr_array(np.ones((6, 6)))
    change(A)
    with pytest.raises(DataError, match=match):
        check_sparse(A, "A")


def test_lists_and_dicts_that_are_right():
    """Diagonals outside of the matrix are none of its entries."""
    for form in ("lil", "dok"):
        np.testing.assert_array_equal(graph.cosine_graph(sparse.eye_array(4).asformat(form)).toarray(), np.eye(4))
    check_sparse(sparse.dia_array((np.ones((2, 3)), [0, 5]), shape=(3, 3)), "A")


def test_dia_and_dok():
    for form in ("dia", "dok"):
        check_sparse(sparse.eye_array(4, format=form), "A")
    A = sparse.eye_array(4, format="dia")
    A.offsets = np.array([0, 1])
    with pytest.raises(DataError, match="1 diagonals are stored, with 2 offsets"):
        check_sparse(A, "A")
    for offset, match in ((0.5, "offsets of float64"), (2**32 + 1, "an offset is 4294967297"), (-(2**63), "an offset is -")):
        A.offsets = np.array([offset])
        with pytest.raises(DataError, match=match):
            check_sparse(A, "A")
    for place in ((2, 2**30), (-9, 1), (1, 2**32 + 1), (1, 2**70), (1,)):
        A = sparse.eye_array(4, format="dok")
        A._dict[place] = 1.0
        with pytest.raises(DataError, match="not a valid sparse matrix"):
            check_sparse(A, "A")


@pytest.mark.parametrize(
    "change",
    [
        lambda A: A.rows.__setitem__(2, [0]),
        lambda A: A.data.__setitem__(2, [1.0, 2, 3]),
        lambda A: setattr(A, "rows", A.rows[:3]),
        lambda A: A.rows.__setitem__(2, [0, 1, 2, 3, 4, 2**40]),
        lambda A: A.rows.__setitem__(2, ["a", 1, 2, 3, 4, 5]),
    ],
)
def test_lists_that_do_not_fit(change):
    A = sparse.lil_array(np.ones((6, 6)))
    change(A)
    with pytest.raises(DataError, match="not a valid sparse matrix"):
        check_sparse(A, "A")


def test_places_that_are_no_whole_numbers():
    A = sparse.coo_array(np.ones((6, 6)))
    A.coords = (A.coords[0], A.coords[1].astype(float))
    with pytest.raises(DataError, match=r"with indices of shape .* of float64"):
        check_sparse(A, "A")


CALLS = {
    "OPNMF": lambda A: OPNMF(2).fit(A),
    "NMF, transform": lambda A: NMF(2).fit(np.ones((6, 6))).transform(A),
    "factorize": lambda A: factorize(A, "W H", 2),
    "Gram": lambda A: factorize(Gram(A), "W W.T X", 2),
    "Observed": lambda A: NMF(2, missing="ignore").fit(Observed(A)),
    "weights": lambda A: factorize(np.ones((6, 6)), "W H", 2, weights=A),
    "graph": lambda A: GraphClustering(2).fit(A),
    "maximize_rayleigh": lambda A: nonneg.maximize_rayleigh(A, np.eye(6)),
    "inverse_transform": lambda A: NMF(6).fit(np.ones((6, 6))).inverse_transform(A),
    "report": lambda A: NMF(2).fit(np.ones((6, 6))).report("none.html", A),
    "fit_pairs": lambda A: nonneg.QNMFHMM(2).fit_pairs(A),
    "chain, scan": lambda A: selection.rank_scan(nonneg.QNMFHMM(), A, [1, 2]),
    "cosine_graph": lambda A: graph.cosine_graph(A),
    "Similarity": lambda A: graph.Similarity(np.eye(6), entries=A),
    **{f"similarity {name}": similarity for name, similarity in graph.SIMILARITIES.items()},
    "match_components": lambda A: selection.match_components(np.eye(6), A),
    "top_features": lambda A: selection.top_features(A),
    "plot.partition": lambda A: plot.partition(GraphClustering(2).fit(np.ones((6, 6))), A),
    "plot.matching": lambda A: plot.matching(graph.match_graphs(np.eye(6), np.eye(6)), np.eye(6), A),
    "plot.reordered": lambda A: plot.reordered(nonneg.BiORNM3F((2, 2)).fit(np.eye(6)), A),
    "coclusters": lambda A: coclusters.block_means(A, nonneg.BiORNM3F((2, 2)).fit(np.eye(6))),
    "relative_error": lambda A: metrics.relative_error(np.ones((6, 6)), A),
    "Table": lambda A: files.Table(A),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil"])
def test_every_caller_is_refused(call, form):
    with pytest.raises(DataError, match="not a valid sparse matrix"):
        CALLS[call](broken(form))


@pytest.mark.parametrize("index", [2**30, 7])
def test_matlab(tmp_path, index):
    io.savemat(tmp_path / "e.mat", {"A": broken("csc", index)})
    with pytest.raises(DataError, match=r"e\.mat is not a valid sparse matrix"):
        files.read(tmp_path / "e.mat")


@pytest.mark.parametrize("rows", [[0, 2**30], [0, 2**32 + 1], [0, 2**64 - 1], [0, 5]])
def test_matlab_seven(tmp_path, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "e.mat", "w") as file:
        group = file.create_group("A")
        group.attrs["MATLAB_sparse"] = np.uint64(3)
        group["data"], group["ir"], group["jc"] = np.ones(2), np.array(rows, dtype=np.uint64), np.array([0, 1, 2], dtype=np.uint64)
    with pytest.raises(DataError, match=r"e\.mat (is not a|is damaged: it has indices that are no places)"):
        files.read(tmp_path / "e.mat")


@pytest.mark.parametrize("index", [2**32 + 1, 2**31, 9])
def test_files_in_blocks(tmp_path, index):
    """An index of 2³² + 1 is not 1."""
    h5py, anndata = pytest.importorskip("h5py"), pytest.importorskip("anndata")
    anndata.AnnData(sparse.csr_matrix(np.eye(6) + 1)).write_h5ad(tmp_path / "e.h5ad")
    with h5py.File(tmp_path / "e.h5ad", "r+") as file:
        indices = file["X/indices"][:].astype(np.int64)
        indices[3] = index
        del file["X/indices"]
        file["X/indices"] = indices
    for block_bytes in (None, 100):
        with pytest.raises(DataError, match="a column index is outside 0 … 5"):
            NMF(2, max_iter=3).fit(nonneg.open_data(tmp_path / "e.h5ad", block_bytes=block_bytes))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_npz(tmp_path, form):
    parts = {"format": form, "shape": (6, 6), "data": np.ones((3, 1, 1) if form == "bsr" else 3)}
    if form == "coo":
        parts |= {"row": [0, 1, 2**32 + 1], "col": [0, 1, 2]}
    else:
        parts |= {"indices": [0, 1, 2**32 + 1], "indptr": [0, 1, 2, 3, 3, 3, 3]}
    np.savez(tmp_path / "e.npz", **parts)
    with pytest.raises(DataError, match=r"e\.npz is not a"):
        files.read(tmp_path / "e.npz")


def test_a_dask_block():
    dask_array = pytest.importorskip("dask.array")
    whole = dask_array.from_array(np.ones((12, 6)), chunks=(6, 6))
    with pytest.raises(DataError, match="not a valid sparse matrix"):
        NMF(2, max_iter=3).fit(whole.map_blocks(lambda block: broken("csr"), meta=sparse.csr_array((0, 0))))
