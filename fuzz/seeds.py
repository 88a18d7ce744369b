"""Small valid files of every kind that is read, each as a dict of names and bytes: of one file, or of those in a folder."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from nonneg import files

X = np.array([[255, 0, 51, 17], [0, 85, 102, 1], [153, 3, 0, 204], [5, 15, 250, 0], [30, 60, 90, 120], [1, 2, 4, 8]]) / 255.0
A = np.array([[0, 1, 2, 0, 0], [1, 0, 1, 0, 0], [2, 1, 0, 3, 0], [0, 0, 3, 0, 1], [0, 0, 0, 1, 0]], dtype=float)
SAMPLES, FEATURES, VERTICES = list("abcdef"), ["p", "q", "r s", "ä"], list("uvwxy")
Files = dict[str, bytes]


class Seed(NamedTuple):
    """A valid file, and the matrix that it holds."""

    kind: str
    path: str
    """What is read, in the folder."""
    files: Files
    values: np.ndarray | None
    """None where the form keeps them roughly."""


_MAKERS: dict[str, tuple[str, Callable[[Path], Any]]] = {}
"""Of each seed: the kind that it counts for, and what writes it to a path."""


def _seed(kind: str, *names: str) -> Callable[[Any], Any]:
    def keep(make: Callable[[Path], Any]) -> Any:
        for name in names:
            _MAKERS[name] = kind, make
        return make

    return keep


@cache
def seed(name: str) -> Seed:
    """A seed by the name of its file."""
    kind, make = _MAKERS[name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / name
        make(path)
        found = {str(each.relative_to(folder)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()}
        return Seed(kind, name, found or {name: path.read_bytes()}, _values(kind, name))


def _values(kind: str, name: str) -> np.ndarray | None:
    return None if name == "jpeg" else A if kind in _GRAPHS else X


_GRAPHS = ("edges", "GraphML", "GML", "Pajek")
_table = files.Table(X, SAMPLES, FEATURES)


@_seed("csv, tsv", "n.csv", "n.tsv", "n.csv.gz", "n.tsv.gz")
@_seed("npz", "n.npz")
@_seed("mat 5", "n.mat")
@_seed("h5ad", "n.h5ad")
@_seed("Parquet", "n.parquet")
def _named(path: Path) -> None:
    files.write(_table, path)


@_seed("csv, tsv", "p.csv", "p.tsv")
@_seed("npy", "p.npy")
@_seed("npz", "p.npz")
@_seed("mtx", "p.mtx", "p.mtx.gz")
def _plain(path: Path) -> None:
    files.write(X, path)


@_seed("npz sparse", "w.npz")
@_seed("mat 5 sparse", "w.mat")
@_seed("mtx", "s.mtx")
@_seed("h5ad sparse", "w.h5ad")
def _sparse_written(path: Path) -> None:
    files.write(files.Table(sparse.csr_array(X)), path)


@_seed("csv, tsv", "p.txt", "c.csv")
def _text(path: Path) -> None:
    cells = [[f"{value!r}" for value in row] for row in X.tolist()]
    if path.suffix == ".txt":
        rows = [" ".join(row) for row in cells]
    else:
        rows = [
            f";{';'.join(FEATURES)}",
            *(";".join([name, *row]).replace(".", ",") for name, row in zip(SAMPLES, cells, strict=True)),
        ]
    path.write_text("\n".join(rows) + "\n")


@_seed("npy", "f.npy", "s.npy", "b.npy", "two.npy")
def _npy(path: Path) -> None:
    array = {"f": np.asfortranarray(X), "s": X.astype(np.float32), "b": X.astype(">f8"), "two": X}[path.stem]
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=(2, 0) if path.stem == "two" else (1, 0))


@_seed("npz sparse", "csr.npz", "csc.npz", "coo.npz", "bsr.npz")
def _npz_sparse(path: Path) -> None:
    matrix = sparse.csr_array(X)
    matrix = matrix.tobsr((2, 2)) if path.stem == "bsr" else matrix.asformat(path.stem)
    sparse.save_npz(path, matrix, compressed=False)


@_seed("mat 5", "u.mat", "i.mat")
def _mat(path: Path) -> None:
    from scipy.io import savemat

    named = {"samples": np.array(SAMPLES), "features": np.array(FEATURES, dtype=object), "y": "text", "c": np.array([[{"a": 1}]])}
    savemat(path, {"X": X, **(named if path.stem == "u" else {})})


@_seed("mat 5 sparse", "s.mat")
def _mat_sparse(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {"X": sparse.csc_array(X)})


@_seed("mat 7.3", "seven.mat", "sevenchunks.mat")
@_seed("mat 7.3 sparse", "sevensparse.mat")
def _mat_seven(path: Path) -> None:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        if "sparse" in path.stem:
            held, group = sparse.csc_array(X), file.create_group("X")
            group.attrs["MATLAB_sparse"], group.attrs["MATLAB_class"] = np.uint64(6), np.bytes_(b"double")
            group["data"], group["ir"] = held.data, held.indices.astype(np.uint64)
            group["jc"] = held.indptr.astype(np.uint64)
        else:
            stored = file.create_dataset("X", data=X.T, chunks=(2, 3) if "chunks" in path.stem else None)
            stored.attrs["MATLAB_class"] = np.bytes_(b"double")
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    with open(path, "r+b") as file:
        file.write(head)


@_seed("HDF5", "p.h5", "chunks.h5", "f.hdf5", "late.h5", "group.h5")
def _hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w", libver="latest" if path.stem == "late" else None) as file:
        options = {"chunks": (2, 4), "compression": "gzip", "shuffle": True, "fletcher32": True} if path.stem == "chunks" else {}
        place = file.create_group("a/b") if path.stem == "group" else file
        place.create_dataset("values", data=X, **options)
        if path.stem == "group":
            file["a/c"] = h5py.SoftLink("/a/b/values")
            file["a/d"] = np.arange(3)


@_seed("h5ad sparse", "csr.h5ad", "csc.h5ad")
@_seed("h5ad", "p.h5ad", "layers.h5ad")
def _h5ad(path: Path) -> None:
    import anndata

    values = {"csr": sparse.csr_array, "csc": sparse.csc_array}.get(path.stem, np.asarray)(X)
    found = anndata.AnnData(values)
    found.obs_names, found.var_names = SAMPLES, FEATURES
    if path.stem == "layers":
        found.obs["n"], found.layers["counts"] = np.arange(6), sparse.csr_array(X)
    found.write_h5ad(path)


@_seed("zarr", "two.zarr", "three.zarr", "group.zarr")
@_seed("zarr sparse", "sparse.zarr")
def _zarr(path: Path) -> None:
    import zarr

    version = 2 if path.stem == "two" else 3
    if path.stem in ("two", "three"):
        zarr.create_array(str(path), shape=X.shape, chunks=(3, 4), dtype="f8", zarr_format=version, compressors=None)[:] = X
        return
    group = zarr.open_group(str(path), mode="w", zarr_format=3)
    if path.stem == "group":
        group.create_array("X", shape=X.shape, chunks=(4, 3), dtype="f8")[:] = X
        return
    held, inside = sparse.csr_array(X), group.create_group("X")
    inside.attrs.update({"encoding-type": "csr_matrix", "shape": [6, 4]})
    for name in ("data", "indices", "indptr"):
        inside.create_array(name, data=getattr(held, name))


@_seed("Parquet", "p.parquet", "groups.pq", "index.parquet", "folder")
def _parquet(path: Path) -> None:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    frame = pd.DataFrame(X, columns=FEATURES)
    if path.name == "folder":
        path.mkdir()
        for part in range(2):
            table = pa.table(dict(zip(FEATURES, X[3 * part : 3 * part + 3].T, strict=True)))
            parquet.write_table(table, path / f"part.{part}.parquet")
    elif path.stem == "index":
        frame.set_index(pd.Index(SAMPLES, name="id")).to_parquet(path)
    else:
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        options = {"use_dictionary": False, "compression": "none"} if path.stem == "p" else {"row_group_size": 2}
        parquet.write_table(table, path, **options)


@_seed("NIfTI", "v.nii", "v.nii.gz", "two.nii")
def _nifti(path: Path) -> None:
    import nibabel

    volume = np.ascontiguousarray(X.T.reshape(2, 2, 1, 6)).astype(np.float64)
    image = (nibabel.Nifti2Image if path.stem == "two" else nibabel.Nifti1Image)(volume, np.eye(4))
    path.write_bytes(gzip.compress(image.to_bytes(), mtime=0) if path.suffix == ".gz" else image.to_bytes())


def _picture(row: np.ndarray, form: str) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.rint(row * 255).astype(np.uint8).reshape(2, 2)).save(stream, form)
    return stream.getvalue()


@_seed("images", "png", "bmp", "tiff", "pgm", "gif", "jpeg", "pngs.zip", "mixed")
def _images(path: Path) -> None:
    forms = {"pgm": "PPM", "pngs.zip": "png"}
    kinds = ["png", "bmp", "tiff", "pgm", "gif", "png"] if path.name == "mixed" else [path.name] * 6
    names = [f"{SAMPLES[i]}.{'png' if kind == 'pngs.zip' else kind}" for i, kind in enumerate(kinds)]
    contents = [_picture(row, forms.get(kind, kind)) for row, kind in zip(X, kinds, strict=True)]
    if path.suffix == ".zip":
        path.write_bytes(zipped(list(zip(names, contents, strict=True))))
        return
    path.mkdir()
    for name, content in zip(names, contents, strict=True):
        (path / name).write_bytes(content)


def zipped(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive, with names as they are, repeated ones too."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


@_seed("edges", "g.edges")
@_seed("GraphML", "g.graphml")
@_seed("GML", "g.gml")
@_seed("Pajek", "g.net")
def _graph(path: Path) -> None:
    names = list("01234") if path.suffix == ".edges" else VERTICES
    files.write(files.Table(sparse.csr_array(A), names, names, is_graph=True), path)


def names() -> list[str]:
    """Names of all seeds."""
    return list(_MAKERS)


def in_json(content: bytes) -> Any:
    """What JSON says; None where it is none."""
    try:
        return json.loads(content)
    except ValueError:
        return None
