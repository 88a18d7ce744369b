"""Every kind of file that is read or written."""

from __future__ import annotations

from . import (
    cell_ranger,
    delimited,
    edges,
    graphs,
    hdf5,
    images,
    matlab,
    matrix_market,
    numpy_archives,
    numpy_arrays,
    parquet,
    scan_tables,
    zarr,
)
from .base import Kind

KINDS: tuple[Kind, ...] = (
    numpy_arrays.NumPyArray(),
    numpy_archives.NumPyArchive(),
    parquet.Parquet(),
    matrix_market.MatrixMarket(),
    matlab.Matlab(),
    hdf5.HDF5(),
    *scan_tables.KINDS,
    scan_tables.ScanTable(),
    zarr.Zarr(),
    cell_ranger.CellRanger(),
    images.Images(),
    graphs.GraphML(),
    graphs.GML(),
    graphs.Pajek(),
    edges.Edges(),
    delimited.Delimited(),
)
"""Every kind of file, in the order in which they are asked whether a file is theirs: those that begin in their own way first."""
