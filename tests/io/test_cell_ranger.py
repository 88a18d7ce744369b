"""Counts of Cell Ranger, as a folder and as HDF5, and matrices whose names lie beside them, read as scanpy reads them."""

import gzip

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import nonneg
from nonneg import files
from nonneg.exceptions import FileError
from nonneg.io.names import unique_names

h5py = pytest.importorskip("h5py")
X = sparse.csc_array(np.random.default_rng(0).poisson(0.8, (12, 30)))  # genes × cells
SYMBOLS = [*(f"g{j}" for j in range(11)), "g1"]
TYPES = ["Gene Expression"] * 10 + ["Antibody Capture", "Gene Expression"]
CELLS = [f"AAAC{i}-1" for i in range(30)]
GENES = [j for j, kind in enumerate(TYPES) if kind == "Gene Expression"]


def write_folder(folder, features="features.tsv.gz", prefix="", types=TYPES):
    folder.mkdir()
    lines = ["\t".join([f"ENSG{j}", SYMBOLS[j], *([types[j]] if types else [])]) for j in range(12)]
    mmwrite(folder.parent / "plain.mtx", X)
    ending = ".gz" if features.endswith(".gz") else ""
    contents = {"matrix.mtx" + ending: (folder.parent / "plain.mtx").read_text(), features: "\n".join(lines) + "\n"}
    contents["barcodes.tsv" + ending] = "\n".join(CELLS)
    for name, text in contents.items():
        with (gzip.open if ending else open)(folder / f"{prefix}{name}", "wt") as file:
            file.write(text)
    return folder


def write_hdf5(path, is_old=False):
    with h5py.File(path, "w") as file:
        group = file.create_group("GRCh38" if is_old else "matrix")
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(X, name)
        group["shape"], group["barcodes"] = np.array(X.shape, dtype="i4"), np.array(CELLS, "S")
        if is_old:
            group["gene_names"], group["genes"] = np.array(SYMBOLS, "S"), np.array(SYMBOLS, "S")
        else:
            group["features/name"], group["features/feature_type"] = np.array(SYMBOLS, "S"), np.array(TYPES, "S")
    return path


def check(table, genes):
    np.testing.assert_array_equal(table.values.toarray(), X.toarray()[genes].T)
    assert sparse.issparse(table.values)
    assert list(table.samples) == CELLS
    assert list(table.features) == unique_names([SYMBOLS[j] for j in genes])


def test_a_folder_of_version_3(tmp_path):
    check(files.read(write_folder(tmp_path / "filtered_feature_bc_matrix")), GENES)


def test_a_folder_of_version_2_with_a_prefix(tmp_path):
    check(files.read(write_folder(tmp_path / "hg19", "genes.tsv", "GSM1_", types=None)), range(12))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("is_old", [False, True])
def test_hdf5_in_memory_and_in_blocks(is_old, tmp_path):
    path, genes = write_hdf5(tmp_path / "filtered.h5", is_old), range(12) if is_old else GENES
    check(files.read(path), genes)
    model = nonneg.NMF(2, divergence="kl", random_state=0).fit(path)
    assert list(model.feature_names_in_) == unique_names([SYMBOLS[j] for j in genes])
    blocks = nonneg.open_data(path, block_bytes=400)
    np.testing.assert_allclose(model.transform(blocks), model.transform(X.toarray()[genes].T.astype(float)), rtol=1e-6, atol=1e-8)


def test_features_without_types(tmp_path):
    with h5py.File(write_hdf5(tmp_path / "filtered.h5"), "r+") as file:
        del file["matrix/features/feature_type"]
    check(files.read(tmp_path / "filtered.h5"), range(12))


def test_as_scanpy_reads_them(tmp_path):
    scanpy = pytest.importorskip("scanpy", reason="scanpy brings forty packages, too many for a development install")
    folder = write_folder(tmp_path / "filtered")
    with h5py.File(write_hdf5(tmp_path / "filtered.h5"), "r+") as file:
        file["matrix/features/id"] = file["matrix/features/genome"] = file["matrix/features/name"][()]
    with pytest.warns(UserWarning, match="not unique"):
        theirs = scanpy.read_10x_h5(tmp_path / "filtered.h5")
    theirs.var_names_make_unique()
    for found in (theirs, scanpy.read_10x_mtx(folder)):
        assert list(found.var_names) == list(files.read(folder).features)
        np.testing.assert_array_equal(found.X.toarray(), files.read(tmp_path / "filtered.h5").values.toarray())


@pytest.mark.filterwarnings("ignore:Suffix used")
def test_names_are_made_unique_as_anndata_does():
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    for names in (list("aabab"), ["a", "a", "a-1", "a"], ["a-1", "a", "a", "b"]):
        assert unique_names(names) == list(anndata.utils.make_index_unique(pandas.Index(names)))


def test_names_in_files_beside_a_matrix(tmp_path):
    """From the shell: --features and --samples; both stand in what is written."""
    pytest.importorskip("rich")
    from click.testing import CliRunner

    from nonneg.cli.app import app

    folder = write_folder(tmp_path / "filtered", "features.tsv")

    def run(*options):
        given = ["fit", str(folder / "matrix.mtx"), "-r", "2", "-m", "nmf", "-o", str(tmp_path / "m.nonneg"), *map(str, options)]
        return CliRunner().invoke(app, given)

    names = ["--features", folder / "features.tsv", "--samples", folder / "barcodes.tsv"]
    done = run("--transpose", *names, "--components", tmp_path / "parts.csv", "--loadings", tmp_path / "codes.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "parts.csv").read_text().splitlines()[0].split(",")[1:] == unique_names(SYMBOLS)
    assert [line.split(",")[0] for line in (tmp_path / "codes.csv").read_text().splitlines()[1:]] == CELLS
    again = CliRunner().invoke(app, ["export", str(tmp_path / "m.nonneg"), "--loadings", str(tmp_path / "again.csv")])
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "codes.csv").read_text()
    assert "has 30 names, and the data have 12 samples. It has as many as the other axis: use --transpose" in run(*names).output


def test_mistakes(tmp_path):
    folder = write_folder(tmp_path / "filtered")
    (folder / "barcodes.tsv.gz").write_bytes(gzip.compress(b"A\nB\n"))
    with pytest.raises(FileError, match=r"matrix.mtx.gz is of 12 × 30; .* 12 features and barcodes.tsv.gz 2 cells"):
        files.read(folder)
    (folder / "barcodes.tsv.gz").unlink()
    with pytest.raises(FileError, match="no barcodes"):
        files.read(folder)
    with h5py.File(write_hdf5(tmp_path / "cut.h5"), "r+") as file:
        del file["matrix/shape"]
        file["matrix/shape"] = np.arange(3)
    with pytest.raises(FileError, match="does not say what shape"):
        files.read(tmp_path / "cut.h5")
