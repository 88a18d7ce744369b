"""Files read past the system's caches: the same bytes, in the same places, and ordinary readings where that cannot be."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path

import numpy as np
import pytest

from nonneg import OPNMF, open_data
from nonneg.exceptions import DataError
from nonneg.io.direct import PAGE, Ranges


@pytest.fixture
def path(tmp_path):
    """A file that ends within a page."""
    np.random.default_rng(0).integers(0, 256, 10 * PAGE + 77, np.uint8).tofile(tmp_path / "bytes")
    return str(tmp_path / "bytes")


@pytest.fixture
def opened(monkeypatch):
    """What files were opened for, of those that were read past the caches."""
    found, really = [], os.open

    def note(name, flags, *more, **others):
        found.extend([str(name)] if flags & os.O_DIRECT else [])
        return really(name, flags, *more, **others)

    monkeypatch.setattr(os, "open", note)
    return found


def is_possible(folder):
    """Whether files there can be read past the caches."""
    (folder / "page").write_bytes(bytes(PAGE))
    ranges = Ranges(str(folder / "page"), is_direct=True)
    ranges.read(0, PAGE)
    return ranges.is_direct


RANGES = [(0, PAGE), (128, 3 * PAGE), (PAGE - 1, 2), (PAGE + 5, 4 * PAGE - 10), (7, 0), (9 * PAGE + 3, PAGE + 74), (10 * PAGE, 77)]


@pytest.mark.parametrize(("start", "count"), RANGES)
@pytest.mark.parametrize("most", [2**30, 2 * PAGE])
def test_both_ways_give_the_same_bytes_in_the_same_places(start, count, most, path, monkeypatch):
    monkeypatch.setattr("nonneg.io.direct._MOST", most)
    wanted = Path(path).read_bytes()[start : start + count]
    for is_direct in (False, True):
        found = Ranges(path, is_direct=is_direct).read(start, count)
        assert found.tobytes() == wanted
        assert not count or found.ctypes.data % PAGE == start % PAGE


@pytest.mark.parametrize("is_direct", [False, True])
def test_a_file_that_ends_before(is_direct, path):
    ranges = Ranges(path, is_direct=is_direct)
    assert len(ranges.read(9 * PAGE, 3 * PAGE)) == PAGE + 77
    assert len(ranges.read(20 * PAGE, 8)) == len(ranges.read(10 * PAGE + 90, 8)) == 0
    os.truncate(path, 4 * PAGE)
    assert len(ranges.read(3 * PAGE, 2 * PAGE)) == PAGE
    os.unlink(path)
    with pytest.raises(FileNotFoundError):
        ranges.read(0, 8)


@pytest.mark.parametrize("is_direct", [False, True])
def test_released_memory_is_reused(is_direct, path):
    ranges, wanted = Ranges(path, is_direct=is_direct), Path(path).read_bytes()
    first = ranges.read(5, 2 * PAGE)
    where, view = first.ctypes.data, first.view(np.uint16).reshape(2, -1)[1:]
    del first
    gc.collect()
    second = ranges.read(5, 2 * PAGE)  # a view of the first is there still
    assert second.ctypes.data != where
    assert view.tobytes() == wanted[5 + PAGE : 5 + 2 * PAGE]
    del view
    gc.collect()
    third = ranges.read(PAGE + 5, 2 * PAGE)
    assert third.ctypes.data == where
    assert (second.tobytes(), third.tobytes()) == (wanted[5 : 5 + 2 * PAGE], wanted[PAGE + 5 : 5 + 3 * PAGE])


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="the system has no such thing")
@pytest.mark.parametrize("refused", ["open", "preadv", "pieces"])
def test_file_systems_that_do_not_do_it_are_read_ordinarily(refused, path, monkeypatch):
    wanted, really = Path(path).read_bytes(), {name: getattr(os, name) for name in ("open", "preadv")}

    def refuse(name, flags, *more, **others):
        if refused == "preadv" or flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return really["open"](name, flags, *more, **others)

    def in_pieces(file, into, place):
        if place % PAGE:
            raise OSError(errno.EINVAL, "Invalid argument")
        return really["preadv"](file, [into[0][:PAGE]], place) // 3

    if refused == "pieces":
        monkeypatch.setattr(os, "preadv", in_pieces)
    else:
        monkeypatch.setattr(os, refused, refuse)
    ranges = Ranges(path, is_direct=True)
    assert ranges.read(100, 5 * PAGE).tobytes() == wanted[100 : 100 + 5 * PAGE]
    assert not ranges.is_direct
    assert ranges.read(100, 10 * PAGE).tobytes() == wanted[100:][: 10 * PAGE]


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no file system in memory")
def test_a_file_in_memory(rng):
    path = Path(f"/dev/shm/nonneg-{os.getpid()}.npy")
    try:
        X = rng.random((50, 40))
        np.save(path, X)
        read = open_data(path).source.reader(passes_by=True)
        np.testing.assert_array_equal(read(10, 50), X[10:])
    finally:
        path.unlink()


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="the system has no such thing")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f8", np.uint8])
def test_fits_are_the_same_whichever_way_a_file_is_read(order, dtype, tmp_path, monkeypatch, opened, rng):
    X = np.asarray(10 * rng.gamma(0.5, size=(400, 4)) @ rng.gamma(0.5, size=(4, 90)) % 200, dtype=dtype, order=order)
    np.save(tmp_path / "X.npy", X)
    found = []
    for available in (2**40, 1):
        with monkeypatch.context() as patched:
            patched.setattr("nonneg.data.files.available_bytes", lambda available=available: available)
            data = open_data(tmp_path / "X.npy", block_bytes=30_001)
            found.append(OPNMF(4, random_state=0).fit(data).components_)
        assert bool(opened) == (available == 1 and is_possible(tmp_path))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("kind", ["path", "map", "list"])
def test_rows_of_files_that_pass_by(kind, tmp_path, monkeypatch, rng):
    """Blocks that are held on to keep what they are, though memory is used again."""
    X = rng.random((301, 70), np.float32)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", X[:100])
    given = {
        "path": tmp_path / "X.npy",
        "map": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "list": [tmp_path / "X.npy", tmp_path / "Y.npy"],
    }
    monkeypatch.setattr("nonneg.data.files.available_bytes", lambda: 1)
    data = open_data(given[kind], block_bytes=9_000)
    found = np.concatenate([block.itself() for _, block in data.pieces()])
    np.testing.assert_array_equal(found, np.concatenate([X, X[:100]]) if kind == "list" else X)


def test_a_file_that_is_cut_off_while_it_passes_by(tmp_path, monkeypatch, rng):
    np.save(tmp_path / "X.npy", rng.random((400, 100)))
    monkeypatch.setattr("nonneg.data.files.available_bytes", lambda: 1)
    pieces = open_data(tmp_path / "X.npy", block_bytes=40_000).pieces()
    next(pieces)
    os.truncate(tmp_path / "X.npy", 200_000)
    with pytest.raises(DataError, match="has become shorter since it was opened"):
        list(pieces)
