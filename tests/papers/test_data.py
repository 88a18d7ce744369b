"""The loaders: on the real files where they are at hand, and on small made-up ones for everything that can go wrong."""

import ast
import bz2
import gzip
import hashlib
import io
import os
import re
import struct
import subprocess
import sys
import tarfile
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pooch
import pytest

import nonneg_papers as papers
from at_hand import at_hand
from nonneg.graph import match_graphs
from nonneg_papers import FetchError, assignment_names, cache, faces, formats, load_assignment
from nonneg_papers.cache import FILES, File

SOURCE = Path(papers.__file__).parent
LOADERS = [name for name in papers.__all__ if name.startswith("load_")]
REAL = os.environ.get("NONNEG_DATA")


def paths(prefix):
    """The files of a data set."""
    return [path for path in FILES if path.startswith(prefix) and not path.endswith(".pgm")]


# ---------------------------------------------------------------- the real data

PICTURES = {
    "cbcl": ("faces/cbcl/", lambda: papers.load_cbcl(), (2429, 19, 19), 0, 1, None),
    "cbcl lee-seung": ("faces/cbcl/", lambda: papers.load_cbcl("lee-seung"), (2429, 19, 19), 0, 1, None),
    "cbcl equalized": ("faces/cbcl/", lambda: papers.load_cbcl("equalized"), (2429, 19, 19), 0, 254 / 255, None),
    "cbcl test": ("faces/cbcl/", lambda: papers.load_cbcl("equalized", subset="test"), (472, 19, 19), 0, 254 / 255, None),
    "cbcl negative": ("faces/cbcl/", lambda: papers.load_cbcl("negative"), (2429, 19, 19), 1 / 256, 1, None),
    "feret": ("faces/feret/", lambda: papers.load_feret(), (2409, 32, 32), 0, 1, None),
    "olivetti": ("faces/olivetti/", lambda: papers.load_olivetti(), (400, 64, 64), 0, 242 / 255, (40, 10)),
    "orl": ("faces/orl_112x92/", lambda: papers.load_orl(), (400, 112, 92), 0, 251 / 255, (40, 10)),
    "orl small": ("faces/orl_32x32/", lambda: papers.load_orl("32x32"), (400, 32, 32), 2 / 255, 235 / 255, (40, 10)),
    "yale": ("faces/yale_32x32/", lambda: papers.load_yale(), (165, 32, 32), 0, 1, (15, 11)),
    "pie": ("faces/pie_pose27/", lambda: papers.load_pie(), (2856, 32, 32), 0, 1, (68, 42)),
    "swimmer": ("faces/swimmer/", lambda: papers.load_swimmer(), (256, 32, 32), 0, 1, None),
    "swimmer small": ("faces/swimmer_9x14/", lambda: papers.load_swimmer("9x14"), (256, 9, 14), 0, 1, None),
    "opnmf": ("faces/opnmf_ref/", lambda: papers.load_opnmf_reference(), (400, 64, 64), 0, 1, None),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures(name):
    prefix, load, shape, least, largest, classes = PICTURES[name]
    at_hand(*paths(prefix))
    bunch = load()
    assert (bunch.images.shape, bunch.feature_shape) == (shape, shape[1:])
    assert (bunch.data.shape, bunch.data.dtype) == ((shape[0], shape[1] * shape[2]), np.float64)
    np.testing.assert_array_equal(bunch.data.reshape(shape), bunch.images)
    assert np.isfinite(bunch.data).all()
    assert (bunch.data.min(), bunch.data.max()) == (least, largest)
    assert "Licence: " in bunch.DESCR
    assert "Source: " in bunch.DESCR
    assert ("target" in bunch) == (classes is not None)
    if classes:
        np.testing.assert_array_equal(np.bincount(bunch.target), np.full(*classes))


UPRIGHT = ["cbcl", "cbcl equalized", "feret", "olivetti", "orl small", "yale", "pie", "opnmf"]


@pytest.mark.parametrize("name", UPRIGHT)
def test_faces_are_upright_and_no_negatives(name):
    """The mean face: closer to its mirror image than to itself turned over, a dark eye high on the left, beside a bright nose."""
    prefix, load, (_, height, width), *_ = PICTURES[name]
    at_hand(*paths(prefix))
    mean = load().images.mean(axis=0)
    assert np.abs(mean - mean[:, ::-1]).mean() < np.abs(mean - mean[::-1]).mean()  # fails for a transposed face
    top, left = height // 6, width // 6
    within = mean[top:-top, left : width // 2]
    row, column = np.add(np.unravel_index(within.argmin(), within.shape), (top, left))
    assert row < height / 3  # 0.21 … 0.25 of the height; from 0.72 if turned over
    assert mean[row, width // 2] - mean[row, column] > 0.2  # 0.32 … 0.57; at most 0.09 in a negative


def test_cbcl_versions_are_of_the_same_faces():
    at_hand(*paths("faces/cbcl/"))
    raw, negative = papers.load_cbcl(), papers.load_cbcl("negative")
    greys = np.rint(255 * raw.data)
    np.testing.assert_array_equal(256 - 256 * negative.data, greys)
    assert len(np.unique(greys, axis=0)) == 2426
    standardized = (greys - greys.mean(axis=1, keepdims=True)) / greys.std(axis=1, ddof=1, keepdims=True)
    expected = np.floor(255 * np.clip(0.25 + 0.25 * standardized, 0, 1))
    np.testing.assert_array_equal(np.rint(255 * papers.load_cbcl("lee-seung").data), expected)
    equalized = papers.load_cbcl("equalized").data
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in zip(greys[::100], equalized[::100], strict=True)]
    assert min(correlation) > 0.75  # 0.85, since equalizing changes the greys; at most 0.64 with transposed faces


def test_orl_from_its_400_pictures(tmp_path, monkeypatch):
    packed = "faces/orl_112x92/orl_112x92.npz"
    images = formats.read_npz(at_hand(packed) / packed)["images"]
    expected = papers.load_orl().data
    paths = [path for path in FILES if path.endswith(".pgm")]
    assert len(paths) == 400
    for path, image in zip(paths, images, strict=True):
        local = tmp_path / path
        local.parent.mkdir(parents=True, exist_ok=True)
        local.write_bytes(b"P5\n# Generated by OpenCV 3.3.1-dev\n92 112\n255\n" + image.tobytes())
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path))
    np.testing.assert_array_equal(papers.load_orl().data, expected)
    local.write_bytes(local.read_bytes()[:-1] + b"\0")
    with pytest.raises(FetchError, match=r"s40/10\.pgm is not the file it should be\..*Delete"):
        papers.load_orl()


def test_large_and_small_orl_and_olivetti_show_the_same_people():
    at_hand(*paths("faces/orl_112x92/"), *paths("faces/orl_32x32/"), *paths("faces/olivetti/"))
    small, olivetti = papers.load_orl("32x32").images, papers.load_olivetti().images
    halved = olivetti.reshape(400, 32, 2, 32, 2).mean(axis=(2, 4))
    for i in (0, 137, 399):
        distances = ((small - halved[i]) ** 2).sum(axis=(1, 2))
        assert distances.argmin() == i


@pytest.mark.parametrize(("size", "body", "ever"), [("32x32", 37, 97), ("9x14", 24, None)])
def test_swimmer(size, body, ever):
    at_hand(*paths("faces/swimmer"))
    data = papers.load_swimmer(size).data
    assert set(np.unique(data)) == {0, 1}
    assert set(data.sum(axis=1)) == {body}
    assert np.linalg.matrix_rank(data) == 13
    assert len(np.unique(data, axis=0)) == 256
    assert ever in (None, int(data.any(axis=0).sum()))


def test_opnmf_reference():
    at_hand(*paths("faces/opnmf_ref/"), *paths("faces/olivetti/"))
    bunch = papers.load_opnmf_reference()
    X = bunch.data
    assert bunch.init_W.shape == (400, 6)
    for code, rounding in (("matlab", 1e-5), ("R", 1e-12)):  # MATLAB's H is float32
        W, H = bunch[f"W_{code}"], bunch[f"H_{code}"]
        np.testing.assert_allclose(H, W.T @ X, rtol=0, atol=rounding)
        assert np.linalg.norm(X - W @ H) / np.linalg.norm(X) == pytest.approx(0.180991, abs=2e-6)
        assert np.diag(W.T @ W).min() == pytest.approx(0.605, abs=1e-3)
    np.testing.assert_allclose(bunch.H_pixels, bunch.W_pixels.T @ X.T, rtol=0, atol=1e-10)
    error = np.linalg.norm(X.T - bunch.W_pixels @ bunch.H_pixels) / np.linalg.norm(X)
    assert error == pytest.approx(0.178065, abs=2e-6)
    assert bunch.n_iter_pixels == 24812
    known = {np.float32(row).tobytes() for row in papers.load_olivetti().data * 255 / 242}
    assert sum(np.float32(row).tobytes() in known for row in X) == 400


def test_mni152():
    at_hand(*paths("mri/mni152/"))
    bunch = papers.load_mni152()
    assert bunch.feature_shape == bunch.mask.shape == (197, 233, 189)
    assert bunch.sample_names == ["t1", "gm", "wm"]
    assert list(np.count_nonzero(bunch.data, axis=1)) == [1886539, 1961850, 1679097]
    assert (bunch.data.dtype, bunch.data.min(), bunch.data.max()) == (np.float64, 0, 1)
    np.testing.assert_array_equal(bunch.images[1][bunch.mask] / 255, bunch.data[1])
    np.testing.assert_array_equal(bunch.affine, [[1, 0, 0, -98], [0, 1, 0, -134], [0, 0, 1, -72], [0, 0, 0, 1]])


@pytest.mark.parametrize(("regions", "count"), [("single", 145), ("all", 260)])
def test_ixi(regions, count):
    at_hand(*paths("mri/ixi_n10/"))
    bunch = papers.load_ixi(regions)
    assert bunch.data.shape == (10, count)
    assert bunch.feature_shape == (count,) == (len(bunch.feature_names),)
    assert bunch.data.min() > 0
    assert sorted(bunch.sex) == ["F"] * 3 + ["M"] * 7
    assert (bunch.target[0], bunch.sample_names[0]) == (38.78, "IXI012-HH-1211")
    assert bunch.images.shape == bunch.labels.shape == (10, 90, 120, 120)
    assert bunch.images.max() > 255  # the stored scale has been applied
    np.testing.assert_array_equal(np.abs(bunch.affines[:, :3, :3]), np.broadcast_to(2 * np.eye(3), (10, 3, 3)))
    counted = [[8 * np.count_nonzero(labels == int(name)) for name in bunch.feature_names[-3:]] for labels in bunch.labels]
    np.testing.assert_array_equal(bunch.data[:, -3:], counted)  # voxels of 2 × 2 × 2 mm
    if regions == "all":
        single = papers.load_ixi().data
        np.testing.assert_array_equal(single.sum(axis=1), bunch.data[:, bunch.feature_names.index("701")])


# ---------------------------------------------------------------- the registry


def test_registry():
    kinds = {kind: sum(path.startswith(f"{kind}/") for path in FILES) for kind in ("faces", "mri", "graphs", "text", "archives")}
    assert kinds == {"faces": 415, "mri": 25, "graphs": 35, "text": 44, "archives": 13}
    for path, file in FILES.items():
        assert re.fullmatch(r"(faces|mri|graphs|text|words|genes|qaplib|archives)(/[\w-][\w.+-]*)+", path)
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        if path.endswith("orl_112x92.npz"):
            assert not file.source
            continue
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/[\w./-]+", file.url)
        archive, _, member = file.source.partition("#")
        assert not member or (archive in FILES and path.endswith(f"/{member}"))
    sources = [file.source for file in FILES.values()]
    assert len(set(sources)) == len(sources)
    archives = {path for path in FILES if path.startswith("archives/")}
    assert archives == {source.partition("#")[0] for source in sources if "#" in source}


def test_registry_agrees_with_the_manifest():
    manifest = Path(REAL or ".") / "MANIFEST-matrices.json"
    if not manifest.exists():
        pytest.skip("there is no MANIFEST-matrices.json in NONNEG_DATA")
    import json

    listed = {file["path"]: file for entry in json.loads(manifest.read_text(encoding="utf8")) for file in entry["files"]}
    common = listed.keys() & FILES.keys()
    assert len(common) > 80
    for path in common:
        file, entry = FILES[path], listed[path]
        assert file.sha256 == entry["sha256"]
        if entry["source"].startswith("github") and file.source and "#" not in file.source:
            repository = entry["source"].removeprefix("github ")
            assert file.url.endswith(f".com/{repository}/{entry['commit']}/{entry['source_path']}")


def test_every_file_that_a_loader_names_is_registered():
    """Read from the source: plain names in full, those with a part to fill in by their pattern."""
    named = 0
    for module in ("faces", "mri"):
        for node in ast.walk(ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"(faces|mri)/\S+\.\w+", node.value):
                assert node.value in FILES
                named += 1
    assert named > 10


# ---------------------------------------------------------------- quadratic assignment


def test_assignment(tmp_path, monkeypatch):
    """Numbers in any layout, as in QAPLIB: the size, the flows, the distances."""
    content = b"2\n\n 0 3\n 4 0\n\n0 5 6\n0"
    monkeypatch.setitem(FILES, "qaplib/nug12.dat", File(hashlib.sha256(content).hexdigest()))
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path))
    (tmp_path / "qaplib").mkdir()
    (tmp_path / "qaplib" / "nug12.dat").write_bytes(content)
    bunch = load_assignment("nug12")
    np.testing.assert_array_equal(bunch.flows, [[0, 3], [4, 0]])
    np.testing.assert_array_equal(bunch.distances, [[0, 5], [6, 0]])
    assert bunch.optimum == 578
    assert bunch.DESCR.startswith("nug12: ")


def test_assignment_that_is_not_known():
    with pytest.raises(ValueError, match=r"Unknown name 'nug13'\. Did you mean 'nug30'\? Known names: 'chr12a'"):
        load_assignment("nug13")


@pytest.mark.parametrize("name", assignment_names())
def test_assignment_as_registered(name):
    """For twelve places the optimum is reached, so flows and distances are what they should be; for more it takes long."""
    at_hand(f"qaplib/{name}.dat")
    problem = load_assignment(name)
    F, D, size = problem.flows, problem.distances, int(re.sub(r"\D", "", name))
    assert F.shape == D.shape == (size, size)
    if size == 12:
        p = match_graphs(D.max() - D, F, random_state=0).permutation
        assert (F * D[np.ix_(p, p)]).sum() == problem.optimum


# ---------------------------------------------------------------- fetching

CONTENT = b"some greys, " * 50
NAME = "faces/small/small.bin"
URL = "https://example.invalid/owner/repository/commit/small.bin"


def hash_of(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A registered file, and an empty folder that NONNEG_DATA names."""
    monkeypatch.setitem(FILES, NAME, File(hash_of(CONTENT), URL))
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("NONNEG_DATA", str(folder))
    return folder / NAME


@pytest.fixture
def network(monkeypatch):
    """Serve this content at any URL, or raise this exception; the URLs are listed."""

    def serving(content):
        urls = []

        def download(url, output, _):
            urls.append(url)
            if isinstance(content, Exception):
                raise content
            Path(output).write_bytes(content)

        monkeypatch.setattr(pooch, "HTTPDownloader", lambda: download)
        return urls

    return serving


def test_a_file_that_is_there_is_not_downloaded(small, network):
    urls = network(ConnectionError("no network"))
    small.parent.mkdir(parents=True)
    small.write_bytes(CONTENT)
    assert cache.fetch(NAME) == cache.locate(NAME) == small
    assert urls == []


def test_a_download_lands_in_its_place_and_happens_once(small, network):
    urls = network(CONTENT)
    assert cache.locate(NAME) is None
    assert cache.fetch(NAME) == cache.fetch(NAME) == small
    assert small.read_bytes() == CONTENT
    assert urls == [URL]
    assert [path.name for path in small.parent.iterdir()] == ["small.bin"]


def test_a_real_download(small, tmp_path, monkeypatch):
    served = tmp_path / "served"
    served.mkdir()
    (served / "small.bin").write_bytes(CONTENT)

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(served))

        def log_message(self, *args):
            pass

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            here = f"http://127.0.0.1:{server.server_port}"
            monkeypatch.setitem(FILES, NAME, File(hash_of(CONTENT), f"{here}/small.bin"))
            assert cache.fetch(NAME).read_bytes() == CONTENT
            small.unlink()
            monkeypatch.setitem(FILES, NAME, File("0" * 64, f"{here}/gone.bin"))
            with pytest.raises(FetchError, match=rf"{NAME} could not be downloaded from {here}/gone.bin: 404.*NONNEG_DATA"):
                cache.fetch(NAME)
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    "content", [CONTENT[:-1], b"", CONTENT.replace(b"greys", b"grays", 1)], ids=["cut off", "empty", "altered"]
)
def test_a_wrong_file_in_the_folder(small, content):
    small.parent.mkdir(parents=True)
    small.write_bytes(content)
    with pytest.raises(FetchError, match=rf"small\.bin is not.*{hash_of(CONTENT)}, found {hash_of(content)}.*Delete"):
        cache.fetch(NAME)
    assert small.read_bytes() == content  # it may be the user's: only they delete it


def test_a_wrong_download_is_not_kept(small, network):
    network(CONTENT[:100])
    with pytest.raises(FetchError, match=rf"(?s)from {URL}: SHA256 hash.*does not match.*NONNEG_DATA"):
        cache.fetch(NAME)
    assert list(small.parent.iterdir()) == []


def test_a_folder_in_the_place_of_the_file(small):
    small.mkdir(parents=True)
    with pytest.raises(FetchError, match=r"small\.bin is not a file"):
        cache.fetch(NAME)


def test_no_network(small, network):
    network(ConnectionError("Name or service not known"))
    with pytest.raises(FetchError, match=rf"{NAME} could not be downloaded from {URL}: Name or.*NONNEG_DATA to a folder"):
        cache.fetch(NAME)
    assert not small.exists()


def test_the_cache_is_the_default(monkeypatch):
    monkeypatch.delenv("NONNEG_DATA", raising=False)
    assert cache.folder() == Path(pooch.os_cache("nonneg"))


def test_a_folder_that_does_not_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FetchError, match=r"NONNEG_DATA is '.*nowhere', which does not exist. Make it"):
        papers.load_yale()


def test_a_folder_that_is_a_file(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path / "file"))
    with pytest.raises(FetchError, match=r"NONNEG_DATA is '.*file', which is a file. Make it"):
        papers.load_yale()


def test_a_read_only_folder_that_has_the_file(small, network):
    network(ConnectionError("no network"))
    small.parent.mkdir(parents=True)
    small.write_bytes(CONTENT)
    for path in (small, small.parent, small.parent.parent):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert cache.fetch(NAME) == small
    finally:
        small.parent.chmod(0o755)
        small.parent.parent.chmod(0o755)


def test_a_read_only_folder_that_has_it_not(small, network, monkeypatch):
    """The refusal is feigned, since nothing is refused to root."""
    network(CONTENT)

    def refuse(*args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "makedirs", refuse)
    with pytest.raises(FetchError, match=rf"Read-only file system.*to a folder that can be written.*has {NAME}"):
        cache.fetch(NAME)


def test_a_file_in_place_of_a_folder(small, network):
    network(CONTENT)
    small.parent.parent.write_text("not a folder")
    with pytest.raises(FetchError, match=r"could not be downloaded.*a folder that can be written"):
        cache.fetch(NAME)


def test_a_file_without_a_source(small, monkeypatch):
    monkeypatch.setitem(FILES, NAME, File(hash_of(CONTENT)))
    with pytest.raises(FetchError, match=f"{NAME} cannot be downloaded"):
        cache.fetch(NAME)


# ---------------------------------------------------------------- archives

OTHER = b"something else"


def zipped(name="small.bin", content=CONTENT):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
        archive.writestr("other.bin", OTHER)
    return stream.getvalue()


def tarred(name="small.bin", content=CONTENT):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for member, bytes_ in (("other.bin", OTHER), (name, content)):
            entry = tarfile.TarInfo(member)
            entry.size = len(bytes_)
            archive.addfile(entry, io.BytesIO(bytes_))
    return stream.getvalue()


@pytest.fixture
def packed(small, monkeypatch):
    """Register a member of an archive, and the archive."""

    def register(archive, content):
        monkeypatch.setitem(FILES, f"archives/{archive}", File(hash_of(content), f"https://example.invalid/{archive}"))
        monkeypatch.setitem(FILES, NAME, File(hash_of(CONTENT), f"archives/{archive}#small.bin"))
        return small

    return register


@pytest.mark.parametrize(("archive", "pack"), [("small.zip", zipped), ("small.tar.gz", tarred)])
def test_a_member_of_an_archive_lands_in_its_place_alone(packed, network, archive, pack):
    urls, small = network(pack()), packed(archive, pack())
    assert cache.fetch(NAME) == cache.fetch(NAME) == small
    assert small.read_bytes() == CONTENT
    assert urls == [f"https://example.invalid/{archive}"]
    assert [path.name for path in small.parent.iterdir()] == ["small.bin"]


@pytest.mark.parametrize(("archive", "pack"), [("small.zip", zipped), ("small.tar.gz", tarred)])
@pytest.mark.parametrize(
    ("served", "registered", "match"),
    [
        (lambda pack: pack()[:-9], lambda pack: pack(), "does not match"),
        (lambda pack: pack(content=OTHER), lambda pack: pack(content=OTHER), "does not match"),
        (lambda pack: pack("large.bin"), lambda pack: pack("large.bin"), "is not an archive that has small.bin"),
        (lambda pack: b"no archive", lambda pack: b"no archive", "is not an archive that has small.bin"),
    ],
    ids=["altered archive", "altered member", "no member", "no archive"],
)
def test_a_wrong_archive_leaves_nothing(packed, network, archive, pack, served, registered, match):
    network(served(pack))
    small = packed(archive, registered(pack))
    with pytest.raises(FetchError, match=f"(?s){match}"):
        cache.fetch(NAME)
    assert not small.exists()


# ---------------------------------------------------------------- loaders and formats, without data


@pytest.mark.parametrize(
    ("load", "match"),
    [
        (lambda: papers.load_cbcl("foo"), r"version='foo' is not known; it can be 'raw', 'lee-seung', 'equalized', 'negative'"),
        (lambda: papers.load_cbcl(subset="foo"), r"subset='foo' is not known; it can be 'train', 'test'"),
        (lambda: papers.load_cbcl(subset="test"), r"no version 'raw'.*version='equalized' only"),
        (lambda: papers.load_orl(32), r"size=32 is not known; it can be '112x92', '32x32'"),
        (lambda: papers.load_swimmer("big"), r"size='big' is not known; it can be '32x32', '9x14'"),
        (lambda: papers.load_ixi("some"), r"regions='some' is not known; it can be 'single', 'all'"),
    ],
)
def test_unknown_choices(load, match):
    with pytest.raises(ValueError, match=match):
        load()


def test_pixels_by_columns():
    images = np.arange(12).reshape(2, 3, 2)
    rows = np.stack([image.ravel(order="F") for image in images])
    np.testing.assert_array_equal(faces._by_columns(rows, (3, 2)), images)


def test_cbcl_is_turned_from_the_negative(monkeypatch, tmp_path):
    """White, 255, is stored as 1/256, and black as 1; as unsigned bytes 256 would be 0."""
    monkeypatch.setattr(faces, "fetch", lambda path: tmp_path)
    monkeypatch.setattr(faces, "read_mat", lambda path: {"M": np.linspace(1 / 256, 1, 256)[:, None]})
    np.testing.assert_array_equal(faces._cbcl_raw().ravel(), np.arange(256)[::-1])


def test_pickles_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        formats.read_npz(tmp_path / "a.npz")


def test_pgm(tmp_path):
    path = tmp_path / "a.pgm"
    path.write_bytes(b"P5\n# a comment\n3 2\n255\n\n \x00\x01\x02\xff")
    np.testing.assert_array_equal(formats.read_picture(path), [[10, 32, 0], [1, 2, 255]])  # pixels may look like white space
    path.write_bytes(b"P5\n3 2\n255\n\n \x00\x01\x02")
    with pytest.raises(FetchError, match=r"a\.pgm is not a PGM picture: "):
        formats.read_picture(path)
    path.write_bytes(b"P6\n1 1\n255\nabc")
    with pytest.raises(FetchError, match=r"a\.pgm is not a PGM picture of 8 bits"):
        formats.read_picture(path)
    path.write_bytes(b"<html>404</html>")
    with pytest.raises(FetchError, match=r"a\.pgm is not a PGM picture: "):
        formats.read_picture(path)


def nifti(volume, affine, scale, kind=2):
    header = bytearray(360)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *volume.shape, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, kind, 8)
    struct.pack_into("<3f", header, 108, 360, scale, 0)
    struct.pack_into("<h", header, 254, 1)
    struct.pack_into("<12f", header, 280, *np.ravel(affine[:3]))
    header[344:348] = b"n+1\0"
    return gzip.compress(bytes(header) + volume.tobytes(order="F"))


def test_nifti_is_turned_to_right_anterior_superior(tmp_path):
    """Each voxel keeps its place in millimetres, and the axes run along x, y, z."""
    path = tmp_path / "a.nii.gz"
    stored = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    affine = np.array([[0, 0, 2, -8], [-2, 0, 0, 11], [0, 3, 0, -13], [0, 0, 0, 1.0]])
    path.write_bytes(nifti(stored, affine, scale=0.5))
    volume, scale, turned = formats.read_nifti(path)
    assert (volume.shape, scale) == ((4, 2, 3), 0.5)
    np.testing.assert_array_equal(turned[:3, :3], np.diag([2, 2, 3]))
    for voxel in np.ndindex(2, 3, 4):
        place = np.linalg.solve(turned, affine @ [*voxel, 1])[:3]
        assert volume[tuple(np.rint(place).astype(int))] == stored[voxel]
    path.write_bytes(nifti(stored.astype("<f4"), affine, scale=1, kind=16))
    with pytest.raises(FetchError, match=r"a\.nii\.gz is not a NIfTI volume of 8 bits"):
        formats.read_nifti(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FetchError, match=r"a\.nii\.gz is not a NIfTI volume: "):
        formats.read_nifti(path)


def r_text(text):
    return struct.pack(">iii", 1, 9, len(text)) + text


def test_r_files(tmp_path):
    """Two arrays; the second refers to the name "dim" that the first one wrote."""
    path = tmp_path / "a.rda"
    first = struct.pack(">ii6d", 0x20E, 6, *range(6)) + struct.pack(">i", 0x402) + r_text(b"dim") + struct.pack(">4i", 13, 2, 2, 3)
    second = struct.pack(">ii2i", 0x20D, 2, 7, 8) + struct.pack(">2i", 0x402, 0x2FF) + struct.pack(">4i", 13, 2, 2, 1)
    end = struct.pack(">i", 254)
    body = struct.pack(">i", 0x402) + r_text(b"a") + first + end + struct.pack(">i", 0x402) + r_text(b"b") + second + end + end
    head = b"RDX3\nX\n" + struct.pack(">4i", 3, 0, 0, 5) + b"UTF-8"
    path.write_bytes(bz2.compress(head + body))
    read = formats.read_rdata(path)
    assert list(read) == ["a", "b"]
    np.testing.assert_array_equal(read["a"], [[0, 2, 4], [1, 3, 5]])
    np.testing.assert_array_equal(read["b"], [[7], [8]])
    path.write_bytes(bz2.compress(head + struct.pack(">i", 6)))  # a call, that is, code
    with pytest.raises(FetchError, match="object of type 6"):
        formats.read_rdata(path)
    path.write_bytes(bz2.compress(b"hello"))
    with pytest.raises(FetchError, match=r"a\.rda is not a file of R"):
        formats.read_rdata(path)


def test_importing_imports_nothing_heavy():
    heavy = ("requests", "sklearn", "scipy.io", "nibabel", "networkx", "matplotlib")
    code = f"import sys, nonneg; old = set(sys.modules); import nonneg_papers; print(({set(heavy)} & set(sys.modules)) - old)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"


def test_every_loader_is_documented():
    assert len(LOADERS) == 15
    for name in LOADERS:
        text = getattr(papers, name).__doc__
        assert "Returns" in text
        assert "``DESCR``" in text
