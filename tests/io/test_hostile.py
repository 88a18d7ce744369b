"""Files as an attacker or bad luck makes them: errors name the file; no other file is read, no number made up, memory bounded."""

import gc
import gzip
import io
import json
import os
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import nonneg
from nonneg import files
from nonneg.exceptions import DataError
from nonneg.files import FileError, Table, read, write
from nonneg.kernels.namespace import to_host

X = np.random.default_rng(0).random((6, 4))
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(nonneg.__file__).parents[1]), "OMP_NUM_THREADS": "1"}


def npz(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in members.items():
            stream = io.BytesIO()
            np.save(stream, array)
            archive.writestr(f"{name}.npy", stream.getvalue())


def npy(header, content):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


_REFUSED = "link to another file|made of parts of other files|nothing of it is stored"


class TestOtherFiles:
    """What a file names outside of itself is not read."""

    @pytest.fixture
    def h5py(self):
        return pytest.importorskip("h5py")

    @pytest.fixture
    def secret(self, h5py, tmp_path):
        (tmp_path / "secret.bin").write_bytes(np.full((6, 4), 7.0).tobytes())
        with h5py.File(tmp_path / "secret.h5", "w") as file:
            file["X"] = np.full((6, 4), 7.0)
        return tmp_path

    def make(self, h5py, folder, how, suffix):
        path = folder / f"X{suffix}"
        with h5py.File(path, "w") as file:
            if how == "external":
                file.create_dataset("X", (6, 4), "f8", external=[(str(folder / "secret.bin"), 0, 192)])
            elif how == "missing external":
                file.create_dataset("X", (6, 4), "f8", external=[(str(folder / "nothing.bin"), 0, 192)])
            elif how == "virtual":
                layout = h5py.VirtualLayout((6, 4), "f8")
                layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "X", (6, 4))
                file.create_virtual_dataset("X", layout, fillvalue=3)
            elif how == "link":
                file["X"] = h5py.ExternalLink(str(folder / "secret.h5"), "X")
            elif how == "link to a link":
                file["there"] = h5py.ExternalLink(str(folder / "secret.h5"), "/")
                file["X"] = h5py.SoftLink("/there/X")
            elif how == "sparse":
                group = file.create_group("X")
                group.attrs["shape"], group.attrs["encoding-type"] = (6, 4), "csr_matrix"
                group["indices"], group["indptr"] = np.zeros(1, "i4"), np.array([0, 1, 1, 1, 1, 1, 1])
                group.attrs["MATLAB_sparse"], group["jc"], group["ir"] = 6, [0, 1, 1, 1, 1], [0]
                group["data"] = h5py.ExternalLink(str(folder / "secret.h5"), "X")
            elif how == "nothing stored":
                file.create_dataset("X", (6, 4), "f8", chunks=(2, 4))
            file.create_group("obs")
        return path

    @pytest.mark.parametrize("suffix", [".h5", ".h5ad", ".mat"])
    @pytest.mark.parametrize(
        "how", ["external", "missing external", "virtual", "link", "link to a link", "sparse", "nothing stored"]
    )
    def test_hdf5(self, how, suffix, h5py, secret):
        path = self.make(h5py, secret, how, suffix)
        with pytest.raises(FileError, match=_REFUSED):
            read(path)
        if suffix != ".mat":
            with pytest.raises(FileError, match=_REFUSED):
                nonneg.NMF(2).fit(path)

    def test_a_virtual_dataset_that_the_user_opened(self, h5py, secret):
        with h5py.File(self.make(h5py, secret, "virtual", ".h5")) as file:
            assert to_host(nonneg.open_data(file["X"]).itself())[0, 0] == 7

    def test_zarr(self, tmp_path):
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(str(tmp_path / "X.zarr"), shape=(6, 4), chunks=(3, 4), dtype="f8", fill_value=0)
        array[:] = X
        chunks = sorted(path for path in (tmp_path / "X.zarr").rglob("*") if path.is_file() and path.name != "zarr.json")
        _, second = chunks
        second.unlink()
        with pytest.warns(UserWarning, match="1 of 2 chunks are not stored; they are read as 0"):
            read(tmp_path / "X.zarr")
        second.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(FileError, match="a link, a pipe or a device"):
            read(tmp_path / "X.zarr")
        second.unlink()
        os.mkfifo(second)
        with pytest.raises(FileError, match="a link, a pipe or a device"):
            nonneg.NMF(2).fit(tmp_path / "X.zarr")

    def test_a_zarr_chunk_without_a_fill_value(self, tmp_path):
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(str(tmp_path / "X.zarr"), shape=(6, 4), chunks=(3, 4), dtype="f8", zarr_format=2, fill_value=None)
        array[:] = X
        (tmp_path / "X.zarr" / "1.0").unlink()
        with pytest.raises(FileError, match="1 of 2 chunks are missing"):
            read(tmp_path / "X.zarr")

    @pytest.mark.parametrize("where", ["filters", "compressor", "consolidated"])
    def test_zarr_chunks_that_are_pickles(self, where, tmp_path):
        """Of names, which are read as text; numcodecs may be told, or old enough, to unpickle them."""
        zarr = pytest.importorskip("zarr")
        group = zarr.create_group(tmp_path / "X.zarr", zarr_format=2)
        group.create_array("X", shape=(6, 4), chunks=(6, 4), dtype="f8")[:] = X
        var = group.create_group("var")
        var.create_array("_index", shape=(4,), chunks=(4,), dtype=str)[:] = np.array(list("abcd"), dtype=object)
        path = tmp_path / "X.zarr" / "var" / "_index" / ".zarray"
        described = json.loads(path.read_text())
        described |= (
            {"compressor": {"id": "pickle"}} if where == "compressor" else {"filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]}
        )
        if where == "consolidated":
            path = tmp_path / "X.zarr" / ".zmetadata"
            described = {"zarr_consolidated_format": 1, "metadata": {"var/_index/.zarray": described}}
        path.write_text(json.dumps(described).replace("pickle", "p\\u0069ckle"))
        for reading in (read, lambda path: nonneg.NMF(2).fit(path)):
            with pytest.raises(FileError, match="chunks are pickles"):
                reading(tmp_path / "X.zarr")

    @pytest.mark.parametrize("encoding", ["utf8", "utf-16", "utf-16-be"])
    def test_entities(self, encoding, tmp_path):
        pytest.importorskip("networkx")
        text = (
            '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa">]><graphml><graph edgedefault="undirected">&a;</graph></graphml>'
        )
        content = text.replace("?>", ' encoding="utf-16"?>' if "16" in encoding else "?>").encode(encoding)
        (tmp_path / "g.graphml").write_bytes(content)
        with pytest.raises(FileError, match="entities of its own"):
            nonneg.io.graphs.GraphML().read([files.Source(tmp_path / "g.graphml")], nonneg.io.base.Wanted())

    def test_images_of_other_formats(self, tmp_path, monkeypatch):
        """Pillow would hand EPS to Ghostscript."""
        pillow = pytest.importorskip("PIL.Image")
        stream = io.BytesIO()
        pillow.fromarray(np.zeros((3, 3), np.uint8)).save(stream, "EPS")
        (tmp_path / "a.png").write_bytes(stream.getvalue())
        started = []
        monkeypatch.setattr("subprocess.Popen", lambda *given, **_: started.append(given))
        with pytest.raises(FileError, match=r"a\.png is no image of PNG"):
            read(tmp_path)
        assert not started

    @pytest.mark.parametrize("name", ["fifo.npy", "fifo.h5", "fifo.parquet"])
    def test_a_pipe(self, name, tmp_path):
        os.mkfifo(tmp_path / name)
        code = f"import nonneg; nonneg.NMF(2).fit({str(tmp_path / name)!r})"
        done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
        assert "neither a file nor a folder" in done.stderr

    @pytest.mark.parametrize("suffix", [".png", ".parquet"])
    def test_links_out_of_a_folder(self, suffix, tmp_path):
        """A link within the folder is a file of it."""
        library = pytest.importorskip({".png": "PIL.Image", ".parquet": "pyarrow"}[suffix])
        (tmp_path / "X").mkdir()
        if suffix == ".png":
            library.fromarray(np.full((3, 3), 9, np.uint8)).save(tmp_path / "secret.png")
        else:
            write(Table(X), tmp_path / "secret.parquet")
        (tmp_path / "X" / f"a{suffix}").write_bytes((tmp_path / f"secret{suffix}").read_bytes())
        (tmp_path / "X" / f"b{suffix}").symlink_to(f"a{suffix}")
        assert len(read(tmp_path / "X").values) == (2 if suffix == ".png" else 12)
        (tmp_path / "X" / f"c{suffix}").symlink_to(tmp_path / f"secret{suffix}")
        with pytest.raises(FileError, match=rf"c\{suffix} is a link to .*secret\{suffix}, out of its folder"):
            read(tmp_path / "X")
        if suffix == ".parquet":
            with pytest.raises(FileError, match="out of its folder"):
                nonneg.NMF(2).fit(tmp_path / "X")

    def test_a_pipe_among_images(self, tmp_path):
        pillow = pytest.importorskip("PIL.Image")
        pillow.fromarray(np.full((3, 3), 9, np.uint8)).save(tmp_path / "a.png")
        os.mkfifo(tmp_path / "b.png")
        assert read(tmp_path).shape == (1, 9)

    def test_files_that_systems_leave_among_images(self, tmp_path):
        """macOS puts ._a.png beside a.png in archives; a writer that was killed may leave what is unfinished."""
        pillow = pytest.importorskip("PIL.Image")
        (tmp_path / "images").mkdir()
        pillow.fromarray(np.full((3, 3), 9, np.uint8)).save(tmp_path / "images" / "a.png")
        for name in ("._a.png", ".nonneg-1-2.tmp.png"):
            (tmp_path / "images" / name).write_bytes(b"\0\5\x16\7")
        with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
            archive.write(tmp_path / "images" / "a.png", "a.png")
            archive.write(tmp_path / "images" / "._a.png", "__MACOSX/._a.png")
        assert read(tmp_path / "images").shape == read(tmp_path / "images.zip").shape == (1, 9)


class TestSizes:
    """Declared sizes are held against what is there, and against memory, before room is made."""

    @pytest.mark.parametrize(
        ("name", "make"),
        [
            ("a.npz", {"format": b"coo", "shape": [10**13, 3], "data": [1.0], "row": [0], "col": [0]}),
            ("a.npz", {"format": b"csr", "shape": [10**13, 3], "data": [1.0], "indices": [0], "indptr": [0, 1]}),
            ("a.npz", {"format": b"bsr", "shape": [2, 3], "data": np.ones((1, 0, 0)), "indices": [0], "indptr": [0, 1]}),
            ("a.npz", {"format": [b"csr", b"x"], "shape": [2, 3], "data": [1.0]}),
            ("a.npz", {"X": X, "samples": np.zeros((2, 2))}),
            ("a.npz", {"X": X, "features": np.array(5)}),
            ("a.npz", {"X": X, "layout_shape": [2.5, np.nan]}),
            ("a.npz", {"X": X, "layout_shape": [2, 2], "layout_mask": np.ones(3, bool)}),
            ("a.npz", {"X": X, "layout_shape": [2, 7]}),
            ("a.npz", {"X": X, "layout_shape": [2, 2], "layout_affine": np.ones(3)}),
            ("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2), }", bytes(16))),
            ("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -2), }", bytes(16))),
            ("a.npy", npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**62}, 4), }}", bytes(16))),
            ("a.npy", npy("(" * 9000, bytes(16))),
            ("a.mtx", b"%%MatrixMarket matrix coordinate real general\n10000000000000 10000000000000 1\n1 1 1\n"),
            ("a.net", b"*vertices 1000000000000\n1 a\n"),
            ("a.gml", b"graph [\n" + b"a [\n" * 20000),
        ],
    )
    def test_sizes_that_lie(self, name, make, tmp_path):
        path = tmp_path / name
        npz(path, **make) if isinstance(make, dict) else path.write_bytes(make)
        with pytest.raises(DataError, match=r"a\.|names|layout|[Ll]ayout"):
            read(path)
        if name == "a.npy":
            with pytest.raises(DataError, match=r"a\.npy"):
                nonneg.NMF(2).fit(path)

    def test_a_gzip_bomb_under_a_limit(self, tmp_path):
        """A gigabyte of text in a megabyte, with half a gigabyte of memory beyond what the library takes."""
        with gzip.open(tmp_path / "a.csv.gz", "wb", compresslevel=1) as file:
            for _ in range(2**10):
                file.write(b"1,2\n" * 2**18)
        code = (
            "import resource, nonneg.io as files, nonneg.io.delimited\n"
            "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
            "resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))\n"
            f"files.read({str(tmp_path / 'a.csv.gz')!r})"
        )
        done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
        assert "FileError" in done.stderr.splitlines()[-1]
        assert "a.csv.gz unpacks to more than" in done.stderr

    def test_many_large_images(self, tmp_path, monkeypatch):
        pillow = pytest.importorskip("PIL.Image")
        for name in "ab":
            pillow.fromarray(np.zeros((1000, 1000), np.uint8)).save(tmp_path / f"{name}.png")
        monkeypatch.setattr("nonneg.kernels.memory.available_bytes", lambda: 20_000_000)
        with pytest.raises(FileError, match=r"b\.png holds 24 MB, and 20 MB of memory are free"):
            read(tmp_path)

    def test_a_volume_larger_than_its_file(self, tmp_path):
        nibabel = pytest.importorskip("nibabel")
        for suffix in (".nii", ".nii.gz"):
            nibabel.save(nibabel.Nifti1Image(np.ones((3, 3, 3), np.float32), np.eye(4)), tmp_path / f"v{suffix}")
            content = bytearray((gzip.decompress if suffix[-1] == "z" else bytes)((tmp_path / f"v{suffix}").read_bytes()))
            content[42:48] = struct.pack("<3h", 1000, 1000, 100)
            (tmp_path / f"v{suffix}").write_bytes(gzip.compress(content) if suffix[-1] == "z" else content)
            with pytest.raises(FileError, match="says that it has 400000000 bytes"):
                read(tmp_path / f"v{suffix}")

    def test_a_zarr_chunk_larger_than_memory(self, tmp_path):
        pytest.importorskip("zarr").create_array(str(tmp_path / "X.zarr"), shape=(6, 4), chunks=(10**9, 10**6), dtype="f8")
        with pytest.raises(FileError, match=r"A chunk of .*X\.zarr"):
            read(tmp_path / "X.zarr")


class TestCompiledReaders:
    """Libraries that would take the process down, or pass over what they do not understand, get nothing altered to read."""

    @pytest.mark.parametrize(
        "line",
        [
            b"2 1 3\0",
            b"2 1 3\0\0\0",
            b"2 1 3;5",
            b"2 1 3,5",
            b"2 1 3x",
            b"2 1 3.5.6",
            b"2 1",
            b"2 1 3 4",
            b"2 -1 3",
            b"a b c",
            b"2 1 0x3",
            b"2 1 +3",
        ],
    )
    @pytest.mark.parametrize("at", [1, 2])
    def test_lines_of_matrix_market(self, line, at, tmp_path):
        lines = [b"1 1 1.0", b"1 2 2.0"]
        lines.insert(at, line)
        (tmp_path / "a.mtx").write_bytes(b"%%MatrixMarket matrix coordinate real general\n%\n2 2 3\n" + b"\n".join(lines))
        with pytest.raises(FileError, match=rf"a\.mtx, line {at + 4}: "):
            read(tmp_path / "a.mtx")

    @pytest.mark.parametrize("end", [b"", b" ", b"\t ", b"\r\n", b"\n\n  \n", b"\n% a remark"])
    def test_ends_of_matrix_market(self, end, tmp_path):
        text = b"%%matrixMARKET matrix coordinate REAL general\n% a remark\n\n2 2 2\n 1 1 nan\n2\t1 3.5e+0" + end
        (tmp_path / "a.mtx").write_bytes(text)
        np.testing.assert_array_equal(read(tmp_path / "a.mtx").values.toarray(), [[np.nan, 0], [3.5, 0]])

    def test_matlab(self, tmp_path):
        """Every third byte of two files is made 255, and they are cut off there: SciPy's reader ends the process at some."""
        from scipy.io import savemat

        savemat(tmp_path / "dense.mat", {"X": X, "samples": np.array(list("abcdef"))})
        savemat(tmp_path / "sparse.mat", {"X": sparse.csc_array(X), "features": np.array(list("abcd"), dtype=object)})
        count = 0
        for name in ("dense.mat", "sparse.mat"):
            content = (tmp_path / name).read_bytes()
            for at in range(124, len(content), 3):
                for altered in (content[:at] + b"\xff" + content[at + 1 :], content[:at]):
                    (tmp_path / name).write_bytes(altered)
                    try:
                        assert read(tmp_path / name).values.dtype.kind in "fiu"
                    except DataError as error:
                        count += 1
                        assert name in str(error)  # noqa: PT017
        assert count > 300

    @pytest.mark.parametrize("compressed", [False, True])
    @pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
    def test_matlab_as_scipy_reads_it(self, dtype, compressed, tmp_path):
        from scipy.io import loadmat, savemat

        found = {
            "X": (10 * X).astype(dtype),
            "samples": np.array(["a", "bc ", "", "é", "x", "y"]),
            "other": {"a": 1},
            "cell": [X, "a"],
        }
        found["features"] = np.array(["p", " q ", "", "ü"], dtype=object)
        savemat(tmp_path / "a.mat", found, do_compression=compressed)
        table, theirs = read(tmp_path / "a.mat"), loadmat(tmp_path / "a.mat", spmatrix=False)["X"]
        np.testing.assert_array_equal(table.values, theirs)
        assert table.values.dtype == theirs.dtype
        assert (table.samples.tolist(), table.features.tolist()) == (["a", "bc", "", "é", "x", "y"], ["p", " q ", "", "ü"])

    def test_a_matrix_of_matlab_that_is_larger_than_it_says(self, tmp_path):
        from scipy.io import savemat

        savemat(tmp_path / "a.mat", {"X": np.zeros((1000, 1000))})
        content = (tmp_path / "a.mat").read_bytes()
        bomb = zlib.compress(content[128:132] + struct.pack("<I", 64) + content[136:])
        (tmp_path / "a.mat").write_bytes(content[:128] + struct.pack("<2I", 15, len(bomb)) + bomb)
        with pytest.raises(FileError, match=r"a\.mat"):
            read(tmp_path / "a.mat")

    @pytest.mark.parametrize("part", ["indices", "indptr"])
    @pytest.mark.parametrize("first", [0.5, 1j, [0, 0], b"0", -1, 2**63 + 1])
    def test_indices_of_other_types(self, first, part, tmp_path):
        h5py = pytest.importorskip("h5py")
        parts = {"data": [1.0], "indices": [0], "indptr": [0, 1]}
        parts[part] = np.array([first, first][: len(parts[part])])
        with h5py.File(tmp_path / "a.h5ad", "w") as file:
            group = file.create_group("X")
            group.attrs["shape"], group.attrs["encoding-type"] = (1, 4), "csr_matrix"
            for name, values in parts.items():
                group[name] = values
        for reading in (read, lambda path: nonneg.NMF(1).fit(path)):
            with pytest.raises(DataError, match=r"a\.h5ad"):
                reading(tmp_path / "a.h5ad")

    @pytest.mark.parametrize("suffix", [".h5", ".h5ad", ".mat"])
    def test_heaps_of_hdf5(self, suffix, tmp_path):
        """HDF5 2.0 reads an object of no size again and again."""
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / f"a{suffix}", "w") as file:
            file["X"], file["obs/_index"], file["var/_index"] = X, list("abcdef"), list("abcd")
            file["X"].attrs["MATLAB_class"] = "double"
        content = bytearray((tmp_path / f"a{suffix}").read_bytes())
        assert read(tmp_path / f"a{suffix}").shape in ((6, 4), (4, 6))
        first = content.index(b"GCOL") + 16
        for altered in (
            struct.pack("<2HIQ", 0, 0, 0, 0),
            struct.pack("<2HIQ", 1, 1, 0, 2**64 - 24),
            struct.pack("<2HIQ", 1, 1, 0, 520),
        ):
            content[first : first + 16] = altered
            (tmp_path / f"a{suffix}").write_bytes(content)
            with pytest.raises(FileError, match=rf"a\{suffix} has a heap with an object of \d+ bytes"):
                read(tmp_path / f"a{suffix}")

    def test_a_fill_value_of_hdf5_that_is_none(self, tmp_path):
        """Asked for it, HDF5 ends the process."""
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file.create_dataset("X", data=X, chunks=(2, 4))
        content = (tmp_path / "a.h5").read_bytes()
        if content.count(b"\2\3\2\1\0\0\0\0") != 1:  # how it is stored, that it is there, and its size
            pytest.skip("this version of HDF5 stores the fill value in other bytes")
        (tmp_path / "a.h5").write_bytes(content.replace(b"\2\3\2\1\0\0\0\0", b"\2\3\2\1\0\0\0\x80"))
        for reading in (read, nonneg.open_data):
            with pytest.raises(FileError, match=r"a\.h5 is not a whole file"):
                reading(tmp_path / "a.h5")

    def test_chunks_of_hdf5_that_are_too_short(self, tmp_path):
        """HDF5 fills them up with what there is in memory."""
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "a.h5", "w") as file:
            stored = file.create_dataset("X", (6, 4), "f8", chunks=(2, 4))
            for start in (0, 2, 4):
                stored.id.write_direct_chunk((start, 0), np.ones(8 if start else 1).tobytes())
        for reading in (read, nonneg.open_data):
            with pytest.raises(FileError, match=r"a\.h5:/X has 136 bytes in 3 chunks of 64"):
                reading(tmp_path / "a.h5")

    def test_an_index_of_zarr_that_cannot_be_unpacked(self, tmp_path):
        zarr = pytest.importorskip("zarr")
        group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w").create_group("X")
        group.attrs.update({"shape": [1, 4], "encoding-type": "csr_matrix"})
        for name, values in {"data": np.ones(1), "indices": np.zeros(1, int), "indptr": np.array([0, 1])}.items():
            group.create_array(name, data=values)
        (chunk,) = (tmp_path / "a.zarr" / "X" / "indptr" / "c").iterdir()
        chunk.write_bytes(b"nothing that was packed")
        for reading in (read, nonneg.open_data):
            with pytest.raises(FileError, match=r"a\.zarr"):
                reading(tmp_path / "a.zarr")

    def test_complex_entries_of_a_sparse_matrix(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "a.mat", "w") as file:
            group = file.create_group("X")
            group.attrs["MATLAB_sparse"], group["jc"], group["ir"], group["data"] = 2, [0, 1], [0], [1j]
        with pytest.raises(FileError, match=r"a\.mat holds entries of type complex128"):
            read(tmp_path / "a.mat")

    def test_volumes_whose_scale_is_too_large(self, tmp_path):
        nibabel = pytest.importorskip("nibabel")
        image = nibabel.Nifti1Image(np.full((2, 2, 2), 1e300), np.eye(4))
        content = bytearray(image.to_bytes())
        content[112:116] = struct.pack("<f", 1e30)
        (tmp_path / "a.nii").write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            assert np.isinf(read(tmp_path / "a.nii").values).all()

    def test_complex_volumes(self, tmp_path):
        nibabel = pytest.importorskip("nibabel")
        nibabel.save(nibabel.Nifti1Image(np.ones((2, 2, 2), np.complex64), np.eye(4)), tmp_path / "a.nii")
        with pytest.raises(FileError, match=r"a\.nii holds entries of type .*complex64"):
            read(tmp_path / "a.nii")


class TestNames:
    def test_of_other_numbers_than_there_are_rows(self, tmp_path):
        np.savez(tmp_path / "a.npz", X=X, samples=["a"])
        with pytest.raises(FileError, match=r"a\.npz: There are 1 names for 6 rows"):
            read(tmp_path / "a.npz")

    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".mat", ".npz", ".parquet", ".h5ad"])
    def test_spaces_around_names_are_kept(self, suffix, tmp_path):
        rows, columns = [" a", "b ", "c", "d", "e", "f "], ["x ", " y", "z", "  "]
        write(Table(X, rows, columns), tmp_path / f"X{suffix}")
        found = read(tmp_path / f"X{suffix}")
        assert (found.samples.tolist(), found.features.tolist()) == (rows, columns)

    def test_a_space_after_each_comma_is_no_name(self, tmp_path):
        (tmp_path / "a.csv").write_text("id, x, y\na, 1, 2\nb, 3, 4\n")
        found = read(tmp_path / "a.csv")
        assert (found.samples.tolist(), found.features.tolist()) == (["a", "b"], ["x", "y"])

    def test_names_with_underscores_are_no_numbers(self, tmp_path):
        """Python reads 1_2 as 12."""
        (tmp_path / "a.csv").write_text("1_1,1_2\n1,2\n3,4\n")
        assert (read(tmp_path / "a.csv").features.tolist(), read(tmp_path / "a.csv").values.tolist()) == (
            ["1_1", "1_2"],
            [[1, 2], [3, 4]],
        )
        (tmp_path / "b.csv").write_text("1_1,1\n1_2,2\n")
        assert (read(tmp_path / "b.csv").samples.tolist(), read(tmp_path / "b.csv").values.tolist()) == (["1_1", "1_2"], [[1], [2]])
        (tmp_path / "c.csv").write_text("a,b\n1,2\n3,4_5\n")
        with pytest.raises(FileError, match="row 2, column 'b' is '4_5', which is not a number"):
            read(tmp_path / "c.csv")

    def test_repeated_columns_of_parquet(self, tmp_path):
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"]), tmp_path / "X.parquet")
        for reading in (read, lambda path: nonneg.NMF(1).fit(path)):
            with pytest.raises(FileError, match="several columns called 'a'"):
                reading(tmp_path / "X.parquet")
        with pytest.raises(FileError, match="several columns called 'a'"):
            write(Table(X, None, list("aabc")), tmp_path / "Y.parquet")

    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".mat", ".npz", ".npy", ".parquet", ".h5ad", ".nii.gz"])
    @pytest.mark.parametrize("name", [b"n" * 246, b"\xff\xfe"], ids=["255 bytes", "not UTF-8"])
    def test_names_of_files_that_are_written(self, name, suffix, tmp_path):
        path = tmp_path / os.fsdecode(name[: 255 - len(suffix)] + suffix.encode())
        if suffix == ".nii.gz":
            pytest.importorskip("nibabel")
            write(Table(np.ones((2, 8)), layout=files.Layout((2, 2, 2), affine=np.eye(4))), path)
        else:
            write(Table(X), path)
        assert [each.name for each in tmp_path.iterdir()] == [path.name]


class TestOtherCallers:
    def test_sums_of_huge_entries_overflow_quietly(self, tmp_path):
        np.save(tmp_path / "X.npy", np.full((8, 3), 1.2e154))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            facts, sums = nonneg.open_data(tmp_path / "X.npy", block_bytes=24).survey([("power", 2)])
        assert (facts.highest, sums) == (1.2e154, [np.inf])

    def test_tensors_with_gradients(self):
        torch = pytest.importorskip("torch")
        tensor = torch.tensor(X, requires_grad=True)
        expected = nonneg.factorize(X, "W H", 2, weights=X, random_state=0).objective
        assert nonneg.factorize(X, "W H", 2, weights=tensor, random_state=0).objective == pytest.approx(expected)
        square = torch.tensor(X[:4] + X[:4].T, requires_grad=True)
        assert nonneg.graph.GraphClustering(2, random_state=0).fit(square).labels_.shape == (4,)

    def test_no_threads_for_numba(self, tmp_path):
        code = "import numpy as np, nonneg; nonneg.NMF(2).fit(np.random.default_rng(0).random((6, 4)))"
        environment = {**ENVIRONMENT, "NUMBA_NUM_THREADS": "0"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
        assert "NUMBA_NUM_THREADS=0" in done.stderr.splitlines()[-1]

    def test_a_working_directory_that_was_deleted(self, tmp_path):
        np.save(tmp_path / "X.npy", X)
        (tmp_path / "gone").mkdir()
        command = f"cd {tmp_path / 'gone'} && rmdir {tmp_path / 'gone'} && {sys.executable} -m nonneg fit {tmp_path / 'X.npy'} -r 2"
        done = subprocess.run(command, shell=True, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
        assert (done.returncode, "The working directory was deleted" in done.stderr) == (1, True)

    @pytest.mark.parametrize("name", ["NMF", "OPNMF"])
    def test_a_file_is_closed_when_the_fit_ends(self, name, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "X.h5", "w") as file:
            file["X"] = np.random.default_rng(0).random((40, 6))
        gc.collect()
        gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = getattr(nonneg, name)(2, random_state=0).fit(nonneg.open_data(tmp_path / "X.h5", block_bytes=500))
                model.fit(str(tmp_path / "X.h5")).transform(str(tmp_path / "X.h5"))
            open_ones = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
            assert str(tmp_path / "X.h5") not in open_ones
        finally:
            gc.enable()
