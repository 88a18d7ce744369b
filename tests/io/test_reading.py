"""Every kind of file: written files are read again with their names; faults of files are named."""

import gzip
import io
import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from nonneg import files, open_data
from nonneg.exceptions import DataError
from nonneg.files import FileError, Layout, Table, read, write

ROWS, COLUMNS = ["first", "second, with a comma", "drittes ä"], ["a", "b b", "c"]
VALUES = np.array([[1.0, 0.1, 2e-300], [0.0, 3.0, 1 / 3], [4.0, 0.0, 5.0]])


def table(**changed):
    return Table(**{"values": VALUES, "samples": ROWS, "features": COLUMNS, **changed})


def needs(suffix):
    for end, module in (
        (".parquet", "pyarrow"),
        (".h5ad", "h5py"),
        (".nii", "nibabel"),
        (".gml", "networkx"),
        (".graphml", "networkx"),
    ):
        if end in suffix:
            pytest.importorskip(module)


class TestRoundTrips:
    @pytest.mark.parametrize("suffix", [".npz", ".csv", ".csv.gz", ".tsv", ".parquet", ".mat", ".h5ad"])
    def test_names_and_numbers(self, suffix, tmp_path):
        needs(suffix)
        path = tmp_path / f"table{suffix}"
        write(table(), path)
        found = read(path)
        np.testing.assert_array_equal(found.values, VALUES)
        assert found.samples.tolist() == ROWS
        assert found.features.tolist() == COLUMNS

    @pytest.mark.parametrize("suffix", [".npy", ".mtx", ".mtx.gz"])
    def test_numbers_without_names(self, suffix, tmp_path):
        write(table(), tmp_path / f"table{suffix}")
        np.testing.assert_array_equal(read(tmp_path / f"table{suffix}").values, VALUES)

    @pytest.mark.parametrize("suffix", [".npz", ".mtx", ".mat", ".h5ad"])
    def test_sparse_stays_sparse(self, suffix, tmp_path):
        needs(suffix)
        write(table(values=sparse.csr_array(VALUES)), tmp_path / f"table{suffix}")
        found = read(tmp_path / f"table{suffix}")
        assert sparse.issparse(found.values)
        np.testing.assert_array_equal(found.values.toarray(), VALUES)

    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
    def test_names_that_are_numbers(self, suffix, tmp_path):
        """They are read as names, and not as one more column or row."""
        rows, columns = [str(i + 1) for i in range(VALUES.shape[0])], [str(400 + 10 * j) for j in range(VALUES.shape[1])]
        write(Table(VALUES, rows), tmp_path / f"rows{suffix}")
        found = read(tmp_path / f"rows{suffix}")
        np.testing.assert_array_equal(found.values, VALUES)
        assert found.samples.tolist() == rows
        write(Table(VALUES, [f"s{i}" for i in rows], columns), tmp_path / f"columns{suffix}")
        found = read(tmp_path / f"columns{suffix}")
        np.testing.assert_array_equal(found.values, VALUES)
        assert found.features.tolist() == columns

    @pytest.mark.parametrize("suffix", [".gml", ".graphml", ".net", ".edges"])
    def test_graphs(self, suffix, tmp_path):
        pytest.importorskip("networkx")
        A = np.array([[0.0, 2.5, 0.0], [2.5, 0.0, 1.0], [0.0, 1.0, 0.0]])
        names = ["ann", "bob", "eve"]
        write(Table(sparse.csr_array(A), names, names, is_graph=True), tmp_path / f"graph{suffix}")
        found = read(tmp_path / f"graph{suffix}")
        assert found.is_graph
        order = [found.samples.tolist().index(name) for name in names]
        np.testing.assert_allclose(found.values.toarray()[np.ix_(order, order)], A)

    def test_layouts(self, tmp_path):
        mask = np.array([[True, False], [True, True]])
        write(table(layout=Layout((2, 2), mask)), tmp_path / "table.npz")
        np.testing.assert_array_equal(read(tmp_path / "table.npz").layout.picture(np.array([1, 2, 3])), [[1, 0], [2, 3]])


class TestWhatOthersWrite:
    @pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
    def test_sparse_archives_of_scipy(self, form, tmp_path):
        sparse.save_npz(tmp_path / "X.npz", form(VALUES))
        np.testing.assert_array_equal(read(tmp_path / "X.npz").values.toarray(), VALUES)

    def test_one_of_several_arrays(self, tmp_path):
        np.savez(tmp_path / "X.npz", X=VALUES, y=np.arange(3))
        np.testing.assert_array_equal(read(tmp_path / "X.npz", variable="X").values, VALUES)
        with pytest.raises(FileError, match="several arrays, 'X', 'y'; say which variable"):
            read(tmp_path / "X.npz")
        with pytest.raises(FileError, match="no array 'Z'; it has 'X', 'y'"):
            read(tmp_path / "X.npz", variable="Z")

    def test_arrays_in_columns_are_mapped(self, tmp_path):
        np.save(tmp_path / "X.npy", np.asfortranarray(VALUES))
        found = read(tmp_path / "X.npy").values
        assert isinstance(found, np.memmap)
        np.testing.assert_array_equal(found, VALUES)

    def test_matlab_sparse_and_several(self, tmp_path):
        scipy_io.savemat(tmp_path / "X.mat", {"X": sparse.csc_array(VALUES), "text": "no numbers"})
        np.testing.assert_array_equal(read(tmp_path / "X.mat").values.toarray(), VALUES)

    def test_matlab_of_version_7_3(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "X.mat", "w", userblock_size=512) as file:
            file["X"] = VALUES.T
            file["X"].attrs["MATLAB_class"] = np.bytes_("double")
        with open(tmp_path / "X.mat", "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
        np.testing.assert_array_equal(read(tmp_path / "X.mat").values, VALUES)

    def test_matlab_of_version_7_3_sparse(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        S = sparse.csc_array(VALUES)
        with h5py.File(tmp_path / "X.mat", "w", userblock_size=512) as file:
            group = file.create_group("X")
            group.attrs["MATLAB_sparse"] = np.uint64(3)
            group["data"], group["ir"], group["jc"] = S.data, S.indices, S.indptr
        with open(tmp_path / "X.mat", "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
        np.testing.assert_array_equal(read(tmp_path / "X.mat").values.toarray(), VALUES)

    def test_anndata(self, tmp_path):
        anndata = pytest.importorskip("anndata")
        write(table(values=sparse.csr_array(VALUES)), tmp_path / "X.h5ad")
        theirs = anndata.read_h5ad(tmp_path / "X.h5ad")
        assert (theirs.obs_names.tolist(), theirs.var_names.tolist()) == (ROWS, COLUMNS)
        theirs.write_h5ad(tmp_path / "theirs.h5ad")
        found = read(tmp_path / "theirs.h5ad")
        assert (found.samples.tolist(), found.features.tolist()) == (ROWS, COLUMNS)
        np.testing.assert_array_equal(found.values.toarray(), VALUES)

    def test_a_layer_that_is_not_there_beside_a_none(self, tmp_path):
        anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
        anndata.AnnData(VALUES, layers={"counts": VALUES}).write_h5ad(tmp_path / "X.h5ad")
        with h5py.File(tmp_path / "X.h5ad", "r+") as file:
            file["uns"]["base"] = h5py.Empty("f4")  # as scanpy's log1p leaves one
        with pytest.raises(DataError, match=r"has no matrix 'count'; it has .*'layers/counts'"):
            read(tmp_path / "X.h5ad", variable="count")

    def test_pandas(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame = pandas.DataFrame(VALUES, index=ROWS, columns=COLUMNS)
        frame.to_csv(tmp_path / "X.csv")
        frame.to_parquet(tmp_path / "X.parquet")
        pandas.DataFrame(VALUES).to_csv(tmp_path / "numbered.csv")
        for name in ("X.csv", "X.parquet"):
            found = read(tmp_path / name)
            assert (found.samples.tolist(), found.features.tolist()) == (ROWS, COLUMNS)
            np.testing.assert_array_equal(found.values, VALUES)
        np.testing.assert_array_equal(read(tmp_path / "numbered.csv").values, VALUES)


class TestText:
    @pytest.mark.parametrize(
        ("text", "shape", "samples", "features"),
        [
            ("1,2\n3,4\n", (2, 2), None, None),
            ("a,b\n1,2\n", (1, 2), None, ["a", "b"]),
            ("id,a,b\nx,1,2\ny,3,4\n", (2, 2), ["x", "y"], ["a", "b"]),
            (",a,b\n1,1,2\n2,3,4\n", (2, 2), ["1", "2"], ["a", "b"]),
            ("a\tb\n1\t2\n", (1, 2), None, ["a", "b"]),
            ("a;b\n1,5;2,5\n", (1, 2), None, ["a", "b"]),
            ("1 2 3\n4 5 6\n", (2, 3), None, None),
            ("a b\nx 1 2\ny 3 4\n", (2, 2), ["x", "y"], ["a", "b"]),
            ('"a, b",c\n1,2\n\n', (1, 2), None, ["a, b", "c"]),
            ("\ufeffa,b\r\n1,2\r\n", (1, 2), None, ["a", "b"]),
            ("7\n8\n", (2, 1), None, None),
        ],
    )
    def test_tables(self, text, shape, samples, features, tmp_path):
        (tmp_path / "X.csv").write_text(text, encoding="utf8", newline="")
        found = read(tmp_path / "X.csv")
        assert found.shape == shape
        assert (None if found.samples is None else found.samples.tolist()) == samples
        assert (None if found.features is None else found.features.tolist()) == features

    def test_decimal_commas(self, tmp_path):
        (tmp_path / "X.csv").write_text("a;b\n1,5;2,25\n3;4\n")
        np.testing.assert_array_equal(read(tmp_path / "X.csv").values, [[1.5, 2.25], [3, 4]])

    def test_missing_cells_are_nan(self, tmp_path):
        (tmp_path / "X.csv").write_text("a,b\n1,NA\n,4\n")
        np.testing.assert_array_equal(read(tmp_path / "X.csv").values, [[1, np.nan], [np.nan, 4]])

    def test_text_in_a_cell_is_named(self, tmp_path):
        (tmp_path / "X.csv").write_text("id,height,width\nann,1,2\nbob,3,wide\n")
        with pytest.raises(FileError, match=r"row 2 \('bob'\), column 'width' is 'wide', which is not a number"):
            read(tmp_path / "X.csv")

    def test_a_negative_cell_is_named(self, tmp_path):
        (tmp_path / "X.csv").write_text("id,height,width\nann,1,2\nbob,3,-4\n")
        with pytest.raises(ValueError, match=r"row 2 \('bob'\), column 'width' is -4, which is below zero"):
            read(tmp_path / "X.csv").refuse_negative("X.csv")

    def test_columns_of_text(self, tmp_path):
        (tmp_path / "X.csv").write_text("height,kind\n1,dog\n2,cat\n")
        with pytest.raises(FileError, match="column holds text in place of numbers: 'kind'"):
            read(tmp_path / "X.csv")
        found = read(tmp_path / "X.csv", ignore=["kind"])
        assert found.features.tolist() == ["height"]
        assert found.aside["kind"].tolist() == ["dog", "cat"]
        with pytest.raises(FileError, match="no column 'sort'; it has 'height', 'kind'"):
            read(tmp_path / "X.csv", ignore=["sort"])

    def test_rows_of_other_lengths(self, tmp_path):
        (tmp_path / "X.csv").write_text("a,b\n1,2\n3\n")
        with pytest.raises(FileError, match="row 2 has 1 cells, and 2 were expected"):
            read(tmp_path / "X.csv")

    def test_compressed(self, tmp_path):
        with gzip.open(tmp_path / "X.csv.gz", "wt") as file:
            file.write("a,b\n1,2\n")
        np.testing.assert_array_equal(read(tmp_path / "X.csv.gz").values, [[1, 2]])

    def test_edges(self, tmp_path):
        (tmp_path / "E.csv").write_text("source,target,weight\nann,bob,2\nbob,eve,0.5\n")
        found = read(tmp_path / "E.csv", graph=True)
        assert found.samples.tolist() == ["ann", "bob", "eve"]
        np.testing.assert_array_equal(found.values.toarray(), [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])
        (tmp_path / "E.edges").write_text("# numbers\n1 2\n2 10\n")
        assert read(tmp_path / "E.edges").samples.tolist() == ["1", "2", "10"]
        (tmp_path / "E.edges").write_text("1 2\n2 10 heavy\n")
        with pytest.raises(FileError, match="line 2: the weight 'heavy' is not a number"):
            read(tmp_path / "E.edges")


class TestContentBeforeName:
    def test_an_array_called_a_table(self, tmp_path):
        np.save(tmp_path / "X.npy", VALUES)
        os.rename(tmp_path / "X.npy", tmp_path / "X.csv")
        np.testing.assert_array_equal(read(tmp_path / "X.csv").values, VALUES)

    def test_no_name_at_all(self, tmp_path):
        (tmp_path / "data").write_text("1,2\n3,4\n")
        assert read(tmp_path / "data").shape == (2, 2)

    def test_noise(self, tmp_path):
        (tmp_path / "X.npy").write_bytes(b"\0\1\2 this is no array")
        with pytest.raises(FileError, match="named as a file of a NumPy array, but does not begin as one"):
            read(tmp_path / "X.npy")
        (tmp_path / "X.what").write_bytes(b"\0\1\2 this is no array")
        with pytest.raises(FileError, match="of no kind that is known"):
            read(tmp_path / "X.what")


class TestWhatIsRefused:
    @pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "mtx", "mat", "h5ad", "parquet", "nii", "gml", "png"])
    def test_empty_files(self, suffix, tmp_path):
        (tmp_path / f"X.{suffix}").touch()
        with pytest.raises(FileError, match="is empty"):
            read(tmp_path / f"X.{suffix}")

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            read(tmp_path / "X.csv")

    @pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat", ".h5ad", ".parquet", ".mtx"])
    @pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
    def test_truncated(self, suffix, share, tmp_path):
        needs(suffix)
        path = tmp_path / f"X{suffix}"
        write(Table(np.random.default_rng(0).random((40, 30))), path)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(FileError, match=r"cut off|altered"):
            read(path)

    @pytest.mark.parametrize("protocol", [2, 3, 4, 5])
    def test_a_pickle_in_disguise(self, protocol, tmp_path):
        (tmp_path / "X.npy").write_bytes(pickle.dumps(VALUES, protocol=protocol))
        with pytest.raises(FileError, match="is a pickle"):
            read(tmp_path / "X.npy")

    def test_objects_in_arrays(self, tmp_path):
        np.save(tmp_path / "X.npy", np.array([{"any": "thing"}], dtype=object), allow_pickle=True)
        np.savez(tmp_path / "X.npz", X=np.array([{"any": "thing"}], dtype=object))
        for name in ("X.npy", "X.npz"):
            with pytest.raises(FileError, match="Python objects"):
                read(tmp_path / name)

    def test_a_bomb_that_says_so(self, tmp_path, monkeypatch):
        np.savez_compressed(tmp_path / "X.npz", X=np.zeros((2000, 1000)))
        monkeypatch.setattr("nonneg.kernels.memory.available_bytes", lambda: 10_000_000)
        with pytest.raises(FileError, match="holds 16 MB, and 10 MB of memory are free"):
            read(tmp_path / "X.npz")

    def test_a_bomb_that_does_not(self, tmp_path):
        """The header of the array says more than the archive has."""
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)})
        with zipfile.ZipFile(tmp_path / "X.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", header.getvalue() + bytes(800))
        with pytest.raises(FileError, match="1000000000 × 1000000"):
            read(tmp_path / "X.npz")

    def test_a_bomb_of_gzip(self, tmp_path, monkeypatch):
        with gzip.open(tmp_path / "X.csv.gz", "wb") as file:
            file.write(b"1,2\n" * 1_000_000)
        monkeypatch.setattr("nonneg.io.base.available_bytes", lambda: 1_000_000)
        with pytest.raises(FileError, match="of memory that are free"):
            read(tmp_path / "X.csv.gz")

    @pytest.mark.parametrize("name", ["../X.npy", "/X.npy", "a/../../X.npy", "..\\X.npy", "C:/X.npy"])
    def test_a_path_outside_of_an_archive(self, name, tmp_path):
        with zipfile.ZipFile(tmp_path / "X.npz", "w") as archive:
            archive.writestr(name, b"anything")
        with pytest.raises(FileError, match="outside of it"):
            read(tmp_path / "X.npz")

    def test_entities_in_graphml(self, tmp_path):
        pytest.importorskip("networkx")
        (tmp_path / "G.graphml").write_text('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><graphml></graphml>')
        with pytest.raises(FileError, match="entities"):
            read(tmp_path / "G.graphml")

    def test_meaningless_options_are_refused(self, tmp_path):
        np.save(tmp_path / "X.npy", VALUES)
        with pytest.raises(FileError, match="read as a NumPy array; its columns cannot be left out by name"):
            read(tmp_path / "X.npy", ignore=["a"])
        with pytest.raises(FileError, match="one array, so that there is no variable to choose"):
            read(tmp_path / "X.npy", variable="a")
        with pytest.raises(FileError, match="a mask is for volumes"):
            read(tmp_path / "X.npy", mask=tmp_path / "X.npy")

    @pytest.mark.parametrize("array", [np.array(["text"]), np.ones((2, 2, 2)), np.ones(3, dtype=complex), np.empty((0, 3))])
    def test_arrays_that_are_no_tables(self, array, tmp_path):
        np.save(tmp_path / "X.npy", array)
        with pytest.raises(FileError):
            read(tmp_path / "X.npy")


class TestImages:
    @pytest.fixture
    def folder(self, tmp_path):
        pillow = pytest.importorskip("PIL.Image")
        rng = np.random.default_rng(0)
        self.pictures = rng.integers(0, 256, (3, 5, 4), dtype=np.uint8)
        for number, picture in enumerate(self.pictures):
            pillow.fromarray(picture).save(tmp_path / f"face{number}.png")
        return tmp_path

    def test_folder(self, folder):
        found = read(folder)
        np.testing.assert_allclose(found.values.reshape(3, 5, 4), self.pictures / 255)
        assert found.samples.tolist() == ["face0", "face1", "face2"]
        assert found.layout.shape == (5, 4)

    def test_list_and_archive(self, folder):
        paths = sorted(folder.glob("*.png"))
        np.testing.assert_array_equal(read(paths).values, read(folder).values)
        (folder / "archives").mkdir()
        with zipfile.ZipFile(folder / "archives" / "faces.zip", "w") as archive:
            for path in paths:
                archive.write(path, path.name)
        np.testing.assert_array_equal(read(folder / "archives" / "faces.zip").values, read(paths).values)

    def test_other_sizes_and_other_files(self, folder):
        from PIL import Image

        Image.fromarray(np.zeros((2, 2), dtype=np.uint8)).save(folder / "tiny.png")
        with pytest.raises(FileError, match=r"tiny.png has 2 × 2 pixels, and the images before it 5 × 4"):
            read(folder)
        (folder / "tiny.png").write_bytes((folder / "face0.png").read_bytes()[:60])
        with pytest.raises(FileError, match="not a whole image"):
            read(folder)
        (folder / "tiny.png").write_text("1 2 3")
        with pytest.raises(FileError, match=r"tiny\.png is no image of PNG, JPEG, .*, although it is called one\."):
            read(folder)

    def test_a_stray_file_is_named(self, folder):
        (folder / "notes.txt").write_text("1 2 3")
        with pytest.raises(FileError, match=r"notes.txt \(a table of text\); of images there are 3"):
            read(sorted(folder.iterdir()))
        (folder / "more.txt").write_text("1 2 3")
        with pytest.raises(FileError, match=r"There are 2 files of a table of text, .*more.txt first"):
            read(sorted(folder.glob("*.txt")))

    def test_files_beside_images_are_named(self, folder, tmp_path_factory):
        for name in (".DS_Store", "Thumbs.db", "license.txt", "labels.csv"):  # nobody takes these for images
            (folder / name).write_bytes(b"1 2 3")
        assert read(folder).shape == (3, 20)
        (folder / "face3.webp").write_bytes(b"RIFF")
        (folder / "more").mkdir()
        archive = tmp_path_factory.mktemp("archives") / "faces.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for path in folder.iterdir():
                if path.is_file():
                    packed.write(path, f"faces/{path.name}")
        with pytest.raises(
            FileError, match=r"The folder .* holds face3\.webp, which is no image \(.*\) and 1 more that are none\."
        ):
            read(folder)
        with pytest.raises(FileError, match=r"faces\.zip holds faces/face3\.webp, which is no image \(.*\)\. Move the others"):
            read(archive)

    @pytest.mark.parametrize("opened", [read, open_data])
    def test_a_stray_part_of_a_table_is_named(self, opened, tmp_path):
        for number in range(2):
            write(Table(np.eye(3)), tmp_path / f"{number}.parquet")
        (tmp_path / "2.parquet").write_text("1 2 3")
        with pytest.raises(FileError, match=r"2\.parquet is not a whole file of Parquet"):
            opened(tmp_path)

    def test_names_in_zarr(self, tmp_path):
        anndata = pytest.importorskip("anndata")
        pandas = pytest.importorskip("pandas")
        made = anndata.AnnData(np.eye(3), obs=pandas.DataFrame(index=list("uvw")), var=pandas.DataFrame(index=list("abc")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # anndata 0.12 warns of its format of zarr, 0.13 does not
            made.write_zarr(tmp_path / "X.zarr")
        table = read(tmp_path / "X.zarr")
        assert (table.samples.tolist(), table.features.tolist()) == (list("uvw"), list("abc"))

    def test_no_images(self, tmp_path):
        pytest.importorskip("PIL")
        with pytest.raises(FileError, match="no images"):
            read(tmp_path)
        (tmp_path / "a.doc").write_bytes(b"a letter")
        with pytest.raises(FileError, match=r"no images in it \(.*; it has a.doc"):
            read(tmp_path)


class TestVolumes:
    @pytest.fixture
    def brain(self):
        """A block of voxels in a volume, of four subjects."""
        pytest.importorskip("nibabel")
        rng = np.random.default_rng(0)
        volume = np.zeros((6, 5, 4))
        volume[1:5, 1:4, 1:3] = rng.uniform(1, 2, (4, 3, 2))
        affine = np.array([[-2.0, 0, 0, 90], [0, 2, 0, -126], [0, 0, 2, -72], [0, 0, 0, 1]])
        subjects = np.stack([volume * (1 + 0.1 * number) for number in range(4)], axis=3)
        return subjects, affine, volume > 0

    def test_four_dimensions_and_a_mask(self, brain, tmp_path):
        import nibabel

        subjects, affine, mask = brain
        nibabel.save(nibabel.Nifti1Image(subjects, affine), tmp_path / "all.nii.gz")
        nibabel.save(nibabel.Nifti1Image(mask.astype(np.int16), affine), tmp_path / "mask.nii.gz")
        found = read(tmp_path / "all.nii.gz", mask=tmp_path / "mask.nii.gz")
        np.testing.assert_allclose(found.values, subjects[mask].T)
        np.testing.assert_array_equal(found.layout.mask, mask)
        np.testing.assert_array_equal(read(tmp_path / "all.nii.gz").values, found.values)
        write(Table(found.values[:2], layout=found.layout), tmp_path / "maps.nii.gz")
        maps = nibabel.load(tmp_path / "maps.nii.gz")
        np.testing.assert_allclose(maps.affine, affine)
        np.testing.assert_allclose(maps.get_fdata(), subjects[..., :2], rtol=1e-6)
        write(Table(np.arange(1, mask.sum() + 1)[None], layout=found.layout), tmp_path / "atlas.nii.gz")
        atlas = nibabel.load(tmp_path / "atlas.nii.gz")
        assert atlas.get_data_dtype() == np.int16
        assert not np.asarray(atlas.dataobj)[~mask].any()

    @pytest.mark.parametrize("background", [0.0, np.nan])
    def test_background(self, brain, background, tmp_path):
        """Zeros and NaN are outside of a mask, and of data without one."""
        import nibabel

        subjects, affine, mask = brain
        nibabel.save(nibabel.Nifti1Image(np.where(subjects > 0, subjects, background), affine), tmp_path / "all.nii.gz")
        nibabel.save(nibabel.Nifti1Image(np.where(mask, 1.0, background), affine), tmp_path / "mask.nii.gz")
        for given in (None, tmp_path / "mask.nii.gz"):
            found = read(tmp_path / "all.nii.gz", mask=given)
            np.testing.assert_array_equal(found.layout.mask, mask)
            np.testing.assert_allclose(found.values, subjects[mask].T)

    def test_a_mask_is_one_volume(self, brain, tmp_path):
        import nibabel

        subjects, affine, mask = brain
        nibabel.save(nibabel.Nifti1Image(subjects, affine), tmp_path / "all.nii.gz")
        nibabel.save(nibabel.Nifti1Image(mask[..., None].astype(np.int16), affine), tmp_path / "mask.nii.gz")
        assert read(tmp_path / "all.nii.gz", mask=tmp_path / "mask.nii.gz").shape == (4, mask.sum())
        with pytest.raises(FileError, match=r"all.nii.gz has 4 volumes; a mask is one"):
            read(tmp_path / "all.nii.gz", mask=tmp_path / "all.nii.gz")

    def test_several_of_three_dimensions(self, brain, tmp_path):
        import nibabel

        subjects, affine, mask = brain
        paths = [tmp_path / f"subject{number}.nii" for number in range(4)]
        for number, path in enumerate(paths):
            nibabel.save(nibabel.Nifti1Image(subjects[..., number], affine), path)
        found = read(paths)
        np.testing.assert_allclose(found.values, subjects[mask].T)
        assert found.samples.tolist() == ["subject0", "subject1", "subject2", "subject3"]
        moved = affine.copy()
        moved[0, 3] += 1
        for other, said in ((moved, "lie elsewhere in space"), (np.eye(4), "is stored RAS, and .* LAS: their axes are flipped")):
            nibabel.save(nibabel.Nifti1Image(subjects[..., 0], other), paths[3])
            with pytest.raises(FileError, match=said):
                read(paths)
        nibabel.save(nibabel.Nifti1Image(subjects[:3, ..., 0], affine), paths[3])
        with pytest.raises(FileError, match="resample"):
            read(paths)

    def test_a_negative_voxel(self, brain, tmp_path):
        """The message names the volume, and the voxel in it."""
        import nibabel

        subjects, affine, _ = brain
        subjects = subjects.copy()
        subjects[3, 2, 1, 2] = -1.0
        nibabel.save(nibabel.Nifti1Image(subjects, affine), tmp_path / "all.nii")
        with pytest.raises(DataError, match=r"all.nii: volume 3 \('all 3'\), voxel 3, 2, 1 is -1, which is below zero"):
            read(tmp_path / "all.nii").refuse_negative(str(tmp_path / "all.nii"))

    def test_truncated(self, brain, tmp_path):
        import nibabel

        subjects, affine, _ = brain
        nibabel.save(nibabel.Nifti1Image(subjects, affine), tmp_path / "all.nii")
        (tmp_path / "all.nii").write_bytes((tmp_path / "all.nii").read_bytes()[:1000])
        with pytest.raises(FileError, match="cut off"):
            read(tmp_path / "all.nii")


class TestWriting:
    def test_failed_writing_leaves_no_file(self, tmp_path):
        (tmp_path / "X.csv").write_text("what was there before")
        with pytest.raises(UnicodeEncodeError), files.written_whole(tmp_path / "X.csv") as unfinished:
            unfinished.write_text("half of it \udc00", encoding="utf8")
        assert [path.name for path in tmp_path.iterdir()] == ["X.csv"]
        assert (tmp_path / "X.csv").read_text() == "what was there before"

    def test_modes_are_as_usual(self, tmp_path):
        (tmp_path / "plain").touch()
        write(table(), tmp_path / "X.csv")
        assert (tmp_path / "X.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode

    def test_a_link_stays_one(self, tmp_path):
        (tmp_path / "target.csv").touch()
        (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
        write(table(), tmp_path / "link.csv")
        assert (tmp_path / "link.csv").is_symlink()
        assert read(tmp_path / "target.csv").shape == (3, 3)

    def test_unwritable_folders(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="is not a folder"):
            files.check_writable(tmp_path / "no" / "X.csv")
        with pytest.raises(IsADirectoryError):
            files.check_writable(tmp_path)
        with pytest.raises(FileError, match="end of the name tells the kind"):
            write(table(), tmp_path / "X.docx")

    def test_missing_libraries_are_named(self, tmp_path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "h5py", None)
        with pytest.raises(ImportError, match=r"pip install 'nonneg\[files\]'"):
            write(table(), tmp_path / "X.h5ad")


class TestMatricesOfOtherLibraries:
    def test_hdf5_and_zarr(self, tmp_path):
        h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
        with h5py.File(tmp_path / "X.h5", "w") as file:
            file["one"], file["two"] = VALUES, 2 * VALUES
        np.testing.assert_array_equal(read(tmp_path / "X.h5", variable="two").values, 2 * VALUES)
        with pytest.raises(DataError, match="2 matrices: 'one', 'two'; say which: variable='one'"):
            read(tmp_path / "X.h5")
        zarr.save(tmp_path / "X.zarr", VALUES)
        np.testing.assert_array_equal(read(tmp_path / "X.zarr").values, VALUES)

    @pytest.mark.parametrize("suffix", [".npy", ".h5ad", ".parquet"])
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_in_blocks(self, suffix, convert, tmp_path, monkeypatch):
        """The same numbers and names, whether a file is read or left where it lies."""
        needs(suffix)
        samples, features = [f"s{i}" for i in range(VALUES.shape[0])], [f"f{j}" for j in range(VALUES.shape[1])]
        write(Table(convert(VALUES), samples, features), tmp_path / f"X{suffix}")
        monkeypatch.setattr("nonneg.io.large.LARGE", 8)
        near, far = (read(tmp_path / f"X{suffix}", in_blocks=in_blocks) for in_blocks in (False, True))
        assert (near.is_far, far.is_far) == (False, True)
        assert far.shape == near.shape == VALUES.shape
        np.testing.assert_array_equal(far.values.itself(), VALUES)
        np.testing.assert_array_equal(far.T.values.itself(), VALUES.T)
        for name in ("samples", "features"):
            np.testing.assert_array_equal(getattr(far, name), getattr(near, name))


@pytest.mark.parametrize(
    ("text", "features", "shape"),
    [
        ("sample,400,410.5,420\na,1,2,3\nb,4,5,6\n", ["400", "410.5", "420"], (2, 3)),
        ("id,400,410\n1,0.1,0.2\n2,0.3,0.4\n", ["id", "400", "410"], (2, 3)),
        ("a,400,410\nb,1,2\nc,3,4\n", None, (3, 2)),  # three samples called a, b, c
        ("sample,5,3\nb,1,2\nc,3,4\n", None, (3, 2)),  # numbers that do not increase are no wavelengths
    ],
    ids=["wavelengths", "numbered samples", "names alone", "no order"],
)
def test_names_of_columns_that_are_numbers(text, features, shape, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    table = read(tmp_path / "table.csv")
    assert table.values.shape == shape
    assert (table.features is None) if features is None else list(table.features) == features
