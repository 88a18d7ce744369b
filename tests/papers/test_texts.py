"""The texts: on the real files where they are at hand, against the manifest's numbers; their formats on small made-up ones."""

import hashlib
import json
import re
import warnings
from collections import Counter

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.sparse import csr_array, load_npz

from at_hand import at_hand
from nonneg_papers import FetchError, load_text, text_names, texts
from nonneg_papers import text_formats as formats
from nonneg_papers.cache import FILES, File

pytestmark = pytest.mark.wide(one_in=2)


def folder(*paths):
    """The folder of the texts; skip unless these files are in it."""
    return at_hand(*(f"text/{path}" for path in paths)) / "text"


def load(name, **options):
    text = texts._TEXTS[texts._find(name)]
    folder(*text.files)
    with warnings.catch_warnings():
        if text.words and not (folder() / text.words).exists():
            warnings.filterwarnings("ignore", message="The words could not be had")
        return load_text(name, **options)


def manifest():
    path = folder().parent / "MANIFEST-matrices.json"
    if not path.exists():
        pytest.skip("there is no MANIFEST-matrices.json in NONNEG_DATA")
    return {
        entry["name"]: entry
        for entry in json.loads(path.read_text(encoding="utf8"))
        if entry["files"][0]["path"].startswith("text/")
    }


def same(a, b):
    return a.shape == b.shape and abs(a - b).nnz == 0


def empty_terms(data):
    return int(np.count_nonzero(np.bincount(data.indices, minlength=data.shape[1]) == 0))


def empty_documents(data):
    return np.flatnonzero(np.diff(data.indptr) == 0)


# ---------------------------------------------------------------- every set

SIZES = {  # documents, terms, entries that are not 0
    "classic": (7094, 41681, 223839),
    "reviews": (4069, 18483, 758635),
    "k1b": (2340, 21839, 349792),
    "la12": (6279, 31472, 939407),
    "ohscal": (11162, 11465, 674365),
    "la1": (3204, 31472, 484024),
    "la2": (3075, 31472, 455383),
    "hitech": (2301, 10080, 331373),
    "tr11": (414, 6424, 114543),
    "tr23": (204, 5831, 78405),
    "tr41": (878, 7453, 170631),
    "tr45": (690, 8261, 193605),
    "tr12": (313, 5804, 85640),
    "tr31": (927, 10128, 248903),
    "re0": (1504, 2886, 77808),
    "wap": (1560, 8460, 220482),
    "fbis": (2463, 2000, 393386),
    "cranmed": (2431, 41681, 140658),
    "webkb": (4199, 7770, 324254),
    "webkb_linqs": (877, 1703, 79365),
    "20newsgroups": (18846, 26214, 1687590),
    "20news_w100": (16242, 100, 65451),
    "reuters21578": (8293, 18933, 389455),
    "r8": (7674, 17387, 307571),
    "tdt2": (9394, 36771, 1224135),
    "webace": (2340, 1000, 142711),
    "cstr": (475, 1000, 16157),
    "classic3": (3891, 4303, 176347),
    "med": (696, 5730, 34819),
    "cran": (1400, 4017, 78177),
    "cisi": (1460, 5085, 66974),
    "cacm": (3204, 4769, 66110),
}
LARGEST = {  # as in the manifest; of the others, DESCR says nothing
    "classic": 26,
    "reviews": 131,
    "k1b": 59,
    "ohscal": 37,
    "tr11": 1134,
    "webkb": 397,
    "webkb_linqs": 1,
    "20newsgroups": 821,
    "20news_w100": 1,
    "reuters21578": 47,
    "tdt2": 52,
    "classic3": 25,
}
EMPTY_TERMS = {"la12": 1347, "la1": 1758, "la2": 11780, "cranmed": 9961, "tdt2": 678, "med": 302}
EMPTY_DOCUMENTS = {"webkb": 31, "cran": 2, "cacm": 1}
WEIGHTS = {"webace", "cstr"}
UNLABELLED = {"cran", "cisi", "cacm"}
NAMED_TERMS = {"webkb", "r8", "20news_w100", "classic3", "med", "cran", "cisi", "cacm"}
SPLIT = {"webkb": 2803, "r8": 5485, "20newsgroups": 11314, "reuters21578": 5946}
FONT = {  # Table 1: documents, words, classes
    "classic": (7094, 41681, 4),
    "reviews": (4069, 18483, 5),
    "k1b": (2340, 21839, 6),
    "la12": (6279, 31472, 6),
    "ohscal": (11162, 11465, 10),
}


@pytest.mark.parametrize("name", SIZES)
def test_text(name):
    bunch = load(name)
    data, (n_documents, n_terms, n_entries) = bunch.data, SIZES[name]
    assert isinstance(data, csr_array)
    assert (data.shape, data.nnz) == ((n_documents, n_terms), n_entries)
    assert (data.dtype, data.indices.dtype, data.indptr.dtype) == (np.float64, np.int32, np.int32)
    assert data.has_canonical_format
    assert np.isfinite(data.data).all()
    assert data.data.min() > 0
    assert bool((data.data % 1).any()) is (name in WEIGHTS)
    assert data.data.max() == LARGEST.get(name, data.data.max())
    assert (empty_terms(data), len(empty_documents(data))) == (EMPTY_TERMS.get(name, 0), EMPTY_DOCUMENTS.get(name, 0))
    assert ("target" in bunch) is ("target_names" in bunch) is (name not in UNLABELLED)
    if "target" in bunch:
        assert (bunch.target.dtype, bunch.target.shape) == (np.int64, (n_documents,))
        np.testing.assert_array_equal(np.unique(bunch.target), np.arange(len(bunch.target_names)))
        assert len(set(bunch.target_names)) == len(bunch.target_names)
    words = texts._TEXTS[name].words
    assert ("feature_names" in bunch) is (name in NAMED_TERMS or (bool(words) and (folder() / words).exists()))
    assert (texts.NO_WORDS.split()[0] in bunch.DESCR and "have no words" in bunch.DESCR) is ("feature_names" not in bunch)
    if "feature_names" in bunch:
        assert (bunch.feature_names.shape, bunch.feature_names.dtype.kind) == ((n_terms,), "U")
        assert len(set(bunch.feature_names)) == n_terms
        assert all(bunch.feature_names)
    assert ("train" in bunch) is (name in SPLIT)
    if "train" in bunch:
        assert (bunch.train.dtype, bunch.train.shape, bunch.train.sum()) == (np.bool_, (n_documents,), SPLIT[name])
    first, _, source, licence, _, *notes = bunch.DESCR.split("\n")
    assert first.startswith(f"{name}: ")
    assert re.match(r"Source: \S+ (in \S+ )?of github\.com/\w", source)
    assert re.match(r"Licence: \w", licence)
    assert ("WEIGHTS, not counts" in " ".join(notes)) is (name in WEIGHTS)
    assert max(map(len, bunch.DESCR.split("\n"))) <= 200


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_classes_are_those_of_the_manifest(name):
    entry = manifest()[name]
    bunch = load(name)
    sizes = np.bincount(bunch.target) if "target" in bunch else None
    if entry["nnz"] is not None:
        shape = entry["shape"][::-1] if name == "20news_w100" else entry["shape"]
        assert (list(bunch.data.shape), bunch.data.nnz) == (shape, entry["nnz"])
        assert len(bunch.target_names) == entry["n_classes"]
    elif name != "med":
        assert bunch.data.shape[0] == entry["shape"][0]
    if isinstance(entry["class_sizes"], list):
        assert sizes.tolist() == entry["class_sizes"]
    elif isinstance(entry["class_sizes"], dict):
        assert dict(zip(bunch.target_names, sizes.tolist(), strict=True)) == entry["class_sizes"]
    elif name == "reuters21578":
        assert sizes[:10].tolist() == [3713, 2055, 321, 298, 245, 197, 142, 114, 110, 90]
        assert (np.diff(sizes) <= 0).all()
    else:
        assert name in {"med", "cran", "cisi", "cacm"}


@pytest.mark.parametrize("name", FONT)
def test_sizes_are_those_of_font(name):
    bunch = load(name)
    assert (*bunch.data.shape, len(bunch.target_names)) == FONT[name]
    assert "The size is that of FONT, Table 1" in " ".join(bunch.DESCR.split())


def test_eight_classes_of_reuters_have_one_document():
    assert np.count_nonzero(np.bincount(load("reuters21578").target) == 1) == 8


def test_names():
    assert text_names() == list(SIZES)
    for name in text_names():
        assert texts._find(name) == texts._find(name.upper()) == name
    for alias, name in (
        ("20 Newsgroups", "20newsgroups"),
        ("MEDLINE", "med"),
        ("Reuters", "reuters21578"),
        ("Reuters-21578", "reuters21578"),
        ("WebKB", "webkb"),
        ("webkb linqs", "webkb_linqs"),
    ):
        assert texts._find(alias) == name


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("klb", r"name='klb' is not known\. Did you mean 'k1b'\? It can be 'classic', .*'cacm'\."),
        ("sports", r"name='sports' is not known\. It can be 'classic'"),
        (None, r"name=None is not known"),
    ],
)
def test_unknown_names(name, match):
    with pytest.raises(ValueError, match=match):
        load_text(name)


# ---------------------------------------------------------------- traps of single sets


def test_k1b_is_not_that_of_zhong_and_ghosh():
    path = folder("k1b/k1b.mat") / "k1b/k1b.mat"
    k1b, other = load("k1b"), loadmat(path, spmatrix=False)
    everywhere = np.bincount(k1b.data.indices) == 2340
    assert np.flatnonzero(everywhere).tolist() == [
        *(1926, 3762, 5809, 6150, 8542, 8628, 9386, 9472, 11075, 13153),
        *(14772, 15427, 16162, 17011, 17091, 18217, 19198, 21531, 21588, 21642),
    ]
    assert same(k1b.data[:, ~everywhere], csr_array(other["dtm"]))
    np.testing.assert_array_equal(k1b.target, other["classid"].ravel() - 1)
    assert "20 terms are in every document" in " ".join(k1b.DESCR.split())


def test_la12_is_made_of_la1_and_la2():
    whole, first, second = load("la12"), load("la1"), load("la2")
    assert same(whole.data[:3204], first.data)
    assert same(whole.data[3204:], second.data)
    np.testing.assert_array_equal(whole.target, np.concatenate([first.target, second.target]))


def test_words_in_a_file_of_their_own(tmp_path, monkeypatch):
    home = folder("la1/la1.mat", "la2/la2.mat")
    (tmp_path / "text" / "la12").mkdir(parents=True)
    for name in ("la1", "la2"):
        (tmp_path / "text" / name).symlink_to(home / name)
    file, terms = tmp_path / "text" / texts.LA_WORDS, [f"term{number}" for number in range(31472)]
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path))
    registered = FILES[f"text/{texts.LA_WORDS}"]
    assert registered.url.endswith("/spec/data/la12.mat.clabel")
    for count in (31472, 31471):
        file.write_text("\n".join(terms[:count]) + "\n")
        monkeypatch.setitem(FILES, f"text/{texts.LA_WORDS}", File(hashlib.sha256(file.read_bytes()).hexdigest(), registered.source))
        if count < len(terms):
            with pytest.raises(FetchError, match="has 31471 words, expected the 31472"):
                load_text("la12")
            continue
        bunch = load_text("la1", min_df=1)
        assert bunch.target_names.tolist() == ["Entertainment", "Financial", "Foreign", "Metro", "National", "Sports"]
        assert len(bunch.feature_names) == bunch.data.shape[1] == 31472 - 1758
        assert "la12.mat.clabel" in bunch.DESCR
    file.unlink()
    monkeypatch.setitem(FILES, f"text/{texts.LA_WORDS}", File(registered.sha256))  # no download
    with pytest.warns(UserWarning, match="The words could not be had, so that there are no feature_names"):
        assert "feature_names" not in load_text("la2")


def test_la12_equals_its_files():
    files = ("la12.npz", "la12_labels.txt", "cluto_la12_rowsize.txt", "cluto_la12_correct.txt")
    here, whole = folder(*(f"la12/{file}" for file in files)) / "la12", load("la12")
    assert same(whole.data, csr_array(load_npz(here / "la12.npz")))
    np.testing.assert_array_equal(whole.target, np.loadtxt(here / "la12_labels.txt", dtype=int) - 1)
    np.testing.assert_array_equal(np.diff(whole.data.indptr), np.loadtxt(here / "cluto_la12_rowsize.txt", dtype=int))
    theirs = formats.read_indicators(here / "cluto_la12_correct.txt")
    assert len(set(zip(whole.target, theirs, strict=True))) == 6  # one partition, in another order


def test_cranmed_is_a_part_of_classic():
    classic, cranmed = load("classic"), load("cranmed")
    kept = np.isin(classic.target, (0, 1))
    assert same(classic.data[kept], cranmed.data)
    np.testing.assert_array_equal(classic.target[kept], cranmed.target)
    assert cranmed.target_names.tolist() == ["cran", "med"]
    part = load("classic", classes=["cran", "med"])
    assert same(part.data, load("cranmed", min_df=1).data)
    assert part.data.shape == (2431, 41681 - 9961)


@pytest.mark.parametrize(("name", "words"), [("med", {"patients"}), ("cisi", {"library"}), ("cran", {"boundary", "supersonic"})])
def test_classes_of_classic3_are_named_rightly(name, words):
    bunch = load("classic3")
    for word in words:
        column = bunch.data[:, np.flatnonzero(bunch.feature_names == word)].toarray().ravel()
        assert bunch.target_names[np.bincount(bunch.target, column).argmax()] == name


@pytest.mark.parametrize(
    ("name", "words"), [("rec.*", {"hockey", "baseball"}), ("sci.*", {"nasa"}), ("comp.*", {"windows", "dos"})]
)
def test_20news_w100_has_words_in_columns(name, words):
    bunch = load("20news_w100")
    assert bunch.target_names.tolist() == ["comp.*", "rec.*", "sci.*", "talk.*"]
    for word in words:
        column = bunch.data[:, np.flatnonzero(bunch.feature_names == word)].toarray().ravel()
        assert bunch.target_names[np.bincount(bunch.target, column).argmax()] == name


def test_20newsgroups_has_as_many_as_scikit_learn_says():
    bunch = load("20newsgroups")
    assert bunch.target_names[[0, 8, 19]].tolist() == ["alt.atheism", "rec.motorcycles", "talk.religion.misc"]
    assert bunch.target_names.tolist() == sorted(bunch.target_names)
    train = np.bincount(bunch.target[bunch.train])
    assert train[[0, 8, 19]].tolist() == [480, 598, 377]
    assert bunch.train[:480].all()  # numbers from 1 in the file: the 481st is the first to test with
    assert not bunch.train[480]


def test_webkb_has_empty_documents_and_keeps_them():
    whole, some = load("webkb"), load("webkb", drop_empty=True)
    empty = empty_documents(whole.data)
    assert len(empty) == 31
    assert np.count_nonzero(whole.train[empty]) == 18
    assert some.data.shape == (4168, 7770)
    np.testing.assert_array_equal(some.target, np.delete(whole.target, empty))
    np.testing.assert_array_equal(some.train, np.delete(whole.train, empty))
    assert not len(empty_documents(some.data))
    assert whole.data.sum() == 559984


def test_webkb_counts_are_those_of_its_text():
    path = folder("webkb/webkb-train-stemmed.txt") / "webkb/webkb-train-stemmed.txt"
    bunch = load("webkb")
    with path.open(encoding="utf8") as lines:
        for number, line in zip(range(50), lines, strict=False):
            label, _, terms = line.rstrip("\n").partition("\t")
            row = bunch.data[[number]]
            assert dict(zip(bunch.feature_names[row.indices], row.data, strict=True)) == Counter(terms.split())
            assert bunch.target_names[bunch.target[number]] == label


@pytest.mark.parametrize(
    ("name", "min_df", "n_terms"), [("webkb", 5, 5388), ("webkb", 10, 3728), ("webkb", 2, 7770), ("r8", 2, 8953)]
)
def test_terms_by_the_documents_that_have_them(name, min_df, n_terms):
    bunch = load(name, min_df=min_df)
    assert bunch.data.shape == (SIZES[name][0], n_terms) == (len(bunch.target), len(bunch.feature_names))
    assert np.bincount(bunch.data.indices).min() >= min_df


def test_min_df_drops_empty_terms():
    assert load("la2", min_df=1).data.shape == (3075, 31472 - 11780)
    assert load("la2", min_df=0).data.shape == (3075, 31472)


def test_medline_is_that_of_pnmf():
    bunch = load("med")
    assert bunch.data.shape == (696, 5730)  # in the paper 696 × 5735
    assert bunch.target_names.tolist() == [str(query) for query in range(1, 31)]
    here = folder("med/MED.REL", "med/MED.ALL") / "med"
    documents = formats.read_smart(here / "MED.ALL")
    queries = formats.read_relevant(here / "MED.REL", len(documents))
    assert (len(documents), np.count_nonzero(queries)) == (1033, 696)
    np.testing.assert_array_equal(bunch.target, queries[queries > 0] - 1)
    assert not any("\r" in document.text("W") for document in documents)
    assert queries[12] == 1  # the first line: query 1, document 13
    first = documents[int(np.flatnonzero(queries)[0])].text("W").lower()
    assert all(re.search(rf"\b{word}\b", first.replace("-", " ")) for word in bunch.feature_names[bunch.data[[0]].indices])


def test_cran_has_empty_and_repeated_sections():
    assert empty_documents(load("cran").data).tolist() == [470, 994]
    documents = formats.read_smart(folder("cran/cran.all.1400") / "cran/cran.all.1400")
    text = documents[575].text("W")  # has .W twice
    assert len(documents) == 1400
    assert ".W" not in text
    assert len(text) > 400


def test_cacm_has_documents_without_abstract():
    documents = formats.read_smart(folder("cacm/cacm.all") / "cacm/cacm.all")
    assert sum("W" not in document.sections for document in documents) == 1617
    assert np.diff(load("cacm").data.indptr)[0] > 0  # the first has a title only


def test_train_and_test_come_in_this_order():
    for name in ("webkb", "r8"):
        train = load(name).train
        assert train[: train.sum()].all()


def test_weights_of_cstr_and_webace():
    cstr, webace = load("cstr").data.data, load("webace").data.data
    assert (round(cstr.min(), 2), round(cstr.max(), 1), round(webace.max(), 1)) == (0.91, 61.5, 146.1)


# ---------------------------------------------------------------- parts of sets


def test_qnmf_has_two_classes_of_webkb():
    bunch = load("webkb", classes=["project", "course"], min_df=29)
    assert bunch.data.shape == (1434, 935)  # in the paper 1433 × 933
    assert bunch.target_names.tolist() == ["project", "course"]
    assert np.bincount(bunch.target).tolist() == [504, 930]
    whole = load("webkb")
    kept = np.isin(whole.target_names[whole.target], ["project", "course"])
    terms = np.isin(whole.feature_names, bunch.feature_names)
    assert same(whole.data[kept][:, terms], bunch.data)
    np.testing.assert_array_equal(whole.target_names[whole.target[kept]], bunch.target_names[bunch.target])
    np.testing.assert_array_equal(whole.train[kept], bunch.train)


def test_pnmf_has_the_largest_classes_of_reuters():
    bunch = load("Reuters", largest=10)
    assert bunch.data.shape[0] == 7285  # in the paper about 2900
    assert np.bincount(bunch.target).tolist() == [3713, 2055, 321, 298, 245, 197, 142, 114, 110, 90]
    assert empty_terms(bunch.data) == 0


def test_pnmf_draws_100_documents_of_each_newsgroup():
    bunch = load("20newsgroups", per_class=100, random_state=0)
    assert bunch.data.shape[0] == 2000
    assert np.bincount(bunch.target).tolist() == [100] * 20
    assert bunch.data.indices.dtype == np.int32
    again, other = (load("20newsgroups", per_class=100, random_state=seed) for seed in (0, 1))
    assert same(again.data, bunch.data)
    assert not same(other.data, bunch.data)


def test_classes_and_largest_and_per_class_together():
    bunch = load("webkb", classes=["project", "student", "course"], largest=2, per_class=5, random_state=0)
    assert bunch.target_names.tolist() == ["student", "course"]
    assert np.bincount(bunch.target).tolist() == [5, 5]
    few = load("tr31", per_class=10, random_state=0)
    assert np.bincount(few.target).tolist() == [10] * 6 + [2]


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        (
            "webkb",
            {"classes": ["courses"]},
            r"classes has 'courses', which is not known\. Did you mean 'course'\? It can have 'course'",
        ),
        ("webkb", {"classes": "course"}, r"classes='course' should be a list of names, each once"),
        ("webkb", {"classes": []}, r"classes=\[\] should be a list"),
        ("webkb", {"classes": ["course", "course"]}, "each once"),
        ("webkb", {"largest": 5}, "largest=5 is more than the 4 classes"),
        ("webkb", {"largest": 0}, "largest=0 should be at least 1"),
        ("webkb", {"per_class": 0}, "per_class=0 should be at least 1"),
        ("webkb", {"min_df": -1}, "min_df=-1 should be at least 0"),
        ("cran", {"largest": 1}, "documents of 'cran' have no classes"),
    ],
)
def test_wrong_options(name, options, match):
    with pytest.raises(ValueError, match=match):
        load(name, **options)


# ---------------------------------------------------------------- files


UNUSED = {  # of the manifest: made here, other versions, or about queries
    *("k1b/k1b.mat", "la12/cluto_la12_correct.txt", "la12/cluto_la12_rowsize.txt", "la12/la12.npz", "la12/la12_labels.txt"),
    *("med/MED.QRY", "cran/cran.qry", "cran/cranqrel", "cran/cranqrel.readme", "cisi/CISI.BLN", "cisi/CISI.QRY", "cisi/CISI.REL"),
    *("cacm/README", "cacm/cite.info", "cacm/qrels.text", "cacm/query.text"),
}


def test_registry():
    assert {path for path in FILES if path.startswith("text/")} == {
        f"text/{path}" for text in texts._TEXTS.values() for path in (*text.files, *filter(None, [text.words]))
    }


def test_registry_agrees_with_the_manifest():
    listed = {file["path"]: file for entry in manifest().values() for file in entry["files"]}
    registered = {path for path in FILES if path.startswith("text/")}
    registered -= {f"text/{texts.LA_WORDS}"} - listed.keys()
    assert listed.keys() == registered | {f"text/{path}" for path in UNUSED}
    assert manifest().keys() == set(text_names())
    for path in registered:
        there, file = listed[path], FILES[path]
        source = f"{there['source'].removeprefix('github ')}/{there['commit']}/{there['source_path']}"
        member = file.source.partition("#")[2]
        assert file.sha256 == there["sha256"]
        assert f"{file.url}!{member}".rstrip("!") == f"https://raw.githubusercontent.com/{source}"


def test_an_altered_file(tmp_path, monkeypatch):
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path))
    path = tmp_path / "text/cstr/cstr.mat"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"MATLAB 5.0 MAT-file")
    with pytest.raises(FetchError, match=r"cstr\.mat is not the file it should be.*8e0876ddef.*found .*Delete"):
        load_text("cstr")


@pytest.fixture
def placed(tmp_path, monkeypatch):
    """Puts other files in the place of registered ones, with the hashes that they have."""
    monkeypatch.setenv("NONNEG_DATA", str(tmp_path))

    def place(**contents):
        for path, content in contents.items():
            name = f"text/{path}"
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
            monkeypatch.setitem(FILES, name, File(hashlib.sha256(content).hexdigest(), FILES[name].source))

    return place


def test_a_made_up_webkb(placed):
    train, test = b"b\tone two two\na\t\n", b"b\tthree one \n"
    placed(**{"webkb/webkb-train-stemmed.txt": train, "webkb/webkb-test-stemmed.txt": test})
    bunch = load_text("webkb")
    assert bunch.feature_names.tolist() == ["one", "three", "two"]
    np.testing.assert_array_equal(bunch.data.toarray(), [[1, 0, 2], [0, 0, 0], [1, 1, 0]])
    assert (bunch.target.tolist(), bunch.target_names.tolist(), bunch.train.tolist()) == (
        [1, 0, 1],
        ["a", "b"],
        [True, True, False],
    )
    some = load_text("webkb", min_df=2, drop_empty=True)
    np.testing.assert_array_equal(some.data.toarray(), [[1], [1]])
    assert (some.feature_names.tolist(), some.target.tolist(), some.train.tolist()) == (["one"], [1, 1], [True, False])
    only = load_text("webkb", classes=["a"])
    assert (only.data.shape, only.target.tolist(), only.feature_names.tolist()) == ((1, 0), [0], [])


def test_a_made_up_medline(placed):
    documents = b".I 1\n.W\nThe cells, the CELLS\n.I 2\n.W\nan of\n.I 3\n.W\ncells-in lens; once lens\n.I 4\n.W\nlens\n"
    documents = documents.replace(b"\n", b"\r\n")
    placed(**{"med/MED.ALL": documents, "med/MED.REL": b"2 0 3 1\n7 0 1 1\n", "cacm/common_words": b"the\nof\n"})
    bunch = load_text("MEDLINE")
    assert bunch.feature_names.tolist() == ["cells", "lens"]
    np.testing.assert_array_equal(bunch.data.toarray(), [[2, 0], [1, 2]])
    assert (bunch.target.tolist(), bunch.target_names.tolist()) == ([1, 0], ["2", "7"])


def test_matrix_and_classes_of_different_sizes(placed):
    placed(**{"tr12/cluto_sparse_tr12.txt": b"2 2\n0\n0\n", "tr12/cluto_tr12_correct.txt": b"1 0 0\n0 1 1\n"})
    with pytest.raises(FetchError, match=r"cluto_tr12_correct\.txt has 3 documents, expected the 2 of .*cluto_sparse_tr12\.txt"):
        load_text("tr12")


def test_train_and_test_that_do_not_add_up(tmp_path):
    path = tmp_path / "some.mat"
    savemat(path, {"fea": np.eye(3), "gnd": [1, 2, 2], "trainIdx": [1, 2], "testIdx": [2]})
    with pytest.raises(FetchError, match=r"some\.mat: trainIdx and testIdx should have each of the 3 documents once"):
        texts._features(path)
    savemat(path, {"fea": np.eye(3), "gnd": [1, 2, 2], "trainIdx": [3, 1], "testIdx": [2]})
    assert texts._features(path)["train"].tolist() == [True, False, True]


# ---------------------------------------------------------------- formats


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "some.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_pairs(written):
    matrix = formats.read_pairs(written("3 4\n2 3 1 0 2.5 \n0\n1 1 0\n"))
    np.testing.assert_array_equal(matrix.toarray(), [[2.5, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]])
    assert matrix.nnz == 2
    assert matrix.has_canonical_format
    assert same(formats.read_pairs(written("3 4\r\n2 3 1 0 2.5\r\n0\r\n1 1 0")), matrix)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", r"some\.txt, line 1: found '', expected the numbers of rows and columns"),
        ("3\n", r"line 1: found '3', expected the numbers"),
        ("1 2.5\n0\n", r"line 1: found '1 2\.5'"),
        ("a b\n", r"line 1: found 'a b'"),
        ("2 2\n1 0 1\n", r"line 2: found 1 rows, expected the 2 of the first line"),
        ("1 2\n1 0 1\n0\n", r"line 3: found 2 rows, expected the 1 "),
        ("2 2\n1 0 1\n2 0 1 1\n", r"line 3: found 4 numbers, expected a number of entries, and twice"),
        ("1 2\n\n", r"line 2: found 0 numbers"),
        ("1 2\n1 0 x\n", r"line 2: found '1 0 x', expected numbers"),
        ("1 2\n1 0 nan\n", r"line 2: found '1 0 nan', expected numbers"),
        ("1 2\n1 2 1\n", r"line 2: found columns from 2 to 2, expected whole ones from 0 to 1"),  # as if they counted from 1
        ("1 2\n1 -1 1\n", r"line 2: found columns from -1"),
        ("1 2\n1 0.5 1\n", r"line 2: found columns from 0\.5"),
        ("1 2\n2 1 1 1 1\n", r"line 2: found a column twice, expected each once"),
        ("1 2\n1 0 -3\n", r"line 2: found -3, expected values of at least 0"),
        (b"1 2\n1 0 \xff\n", r"some\.txt is not text in ascii"),
    ],
)
def test_malformed_pairs(written, text, match):
    with pytest.raises(FetchError, match=match):
        formats.read_pairs(written(text))


def test_indicators(written):
    assert formats.read_indicators(written("0 1 0 \n1 0 0 \n0 0 1 \n")).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "line 1: found nothing, expected a line for each class"),
        ("1 0\n0\n", r"line 2: found 1 numbers, expected 2, as on line 1"),
        ("1 0\n0 2\n", r"line 2: found 2, expected 0 or 1"),
        ("1 0\n0 x\n", r"line 2: found '0 x', expected numbers 0 and 1"),
        ("1 0 0\n0 0 1\n", r"line 2: found 0 classes for member 2, expected one for each"),
        ("1 0 0\n1 1 1\n", r"line 2: found 2 classes for member 1, expected one for each"),
    ],
)
def test_malformed_indicators(written, text, match):
    with pytest.raises(FetchError, match=match):
        formats.read_indicators(written(text))


def test_matlab(tmp_path):
    path = tmp_path / "some.mat"
    names = np.array(["lens", "cell"], dtype=object)
    savemat(path, {"dtm": np.array([[0, 2], [1, 0], [0, 200]], dtype=np.uint8), "classid": [[1], [3], [2]], "terms": names})
    data, target, variables = formats.read_matlab(path, "dtm", "classid")
    np.testing.assert_array_equal(data.toarray(), [[0, 2], [1, 0], [0, 200]])
    assert (data.nnz, data.dtype, target.tolist()) == (3, np.float64, [0, 2, 1])
    assert formats.strings(variables["terms"]).tolist() == ["lens", "cell"]
    savemat(path, {"dtm": csr_array([[0, 2, 1]]), "classid": [0, 1, 0]})
    data, target, _ = formats.read_matlab(path, "dtm", "classid", first=0, transposed=True)
    assert (data.shape, target.tolist()) == ((3, 1), [0, 1, 0])


@pytest.mark.parametrize(
    ("variables", "match"),
    [
        ({"dtm": np.eye(2)}, r"some\.mat has no variable classid; it has dtm"),
        ({"dtm": np.eye(2), "classid": [1]}, r"classid has 1 classes, expected one for each of 2 documents"),
        ({"dtm": np.eye(2), "classid": [0, 1]}, r"classid has classes \[0 1\], expected all from 1 on"),
        ({"dtm": np.eye(2), "classid": [1, 3]}, r"classid has classes \[1 3\]"),
        ({"dtm": -np.eye(2), "classid": [1, 2]}, r"dtm has values that are negative or not finite"),
        ({"dtm": np.array([[1, np.inf], [0, 1]]), "classid": [1, 2]}, r"dtm has values that are negative or not finite"),
        ({"dtm": "text", "classid": [1]}, r"dtm is not a matrix of numbers"),
    ],
)
def test_malformed_matlab(tmp_path, variables, match):
    path = tmp_path / "some.mat"
    savemat(path, variables)
    with pytest.raises(FetchError, match=match):
        formats.read_matlab(path, "dtm", "classid")


@pytest.mark.parametrize("length", [0, 60, 128, 190, -1])
def test_truncated_matlab(tmp_path, length):
    path = tmp_path / "some.mat"
    savemat(path, {"classid": [1, 2], "dtm": csr_array(np.eye(2))})
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(FetchError, match=r"some\.mat"):
        formats.read_matlab(path, "dtm", "classid")


def test_labelled(written):
    assert formats.read_labelled(written("a\tx y  x \nb\t\n")) == (["a", "b"], [["x", "y", "x"], []])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a\tx\nb x\n", r"line 2: found 'b x', expected a class, a tab, and terms"),
        ("\tx\n", "line 1: found"),
        ("a\tx\ty\n", "line 1: found"),
        ("a\tx\n\nb\ty\n", "line 2: found ''"),
    ],
)
def test_malformed_labelled(written, text, match):
    with pytest.raises(FetchError, match=match):
        formats.read_labelled(written(text))


def test_smart(written):
    documents = formats.read_smart(
        written(".I 1\r\n.T \r\nA title\r\n.W\r\n.5 of it\r\n.W\r\nagain\r\n.I 2\r\n.T\r\nonly\r\n.I 3\r\n")
    )
    assert [document.number for document in documents] == [1, 2, 3]
    assert documents[0].sections == {"T": "A title\n", "W": ".5 of it\nagain\n"}
    assert documents[1].text("TW") == "only\n\n"
    assert documents[2].text("W") == ""


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (".W\nx\n", r"line 1: found '\.W', expected '\.I 1'"),
        (".I 1\n.W\nx\n.I 3\n", r"line 4: found '\.I 3', expected '\.I 2'"),
        (".I 1\n.W\n.I\n", r"line 3: found '\.I', expected '\.I 2'"),
        (".I 1\nx\n", r"line 2: found 'x', expected a section"),
    ],
)
def test_malformed_smart(written, text, match):
    with pytest.raises(FetchError, match=match):
        formats.read_smart(written(text))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1 0 2 1\n1 2 1\n", r"line 2: found '1 2 1', expected query, 0, document from 1 to 3, 1"),  # as in the edited copy
        ("1 0 4 1\n", r"line 1: found '1 0 4 1'"),
        ("1 0 0 1\n", r"line 1: found"),
        ("1 0 2 1\n2 0 2 1\n", r"line 2: found document 2 again, expected each with one query at most"),
    ],
)
def test_malformed_relevant(written, text, match):
    with pytest.raises(FetchError, match=match):
        formats.read_relevant(written(text), 3)


def test_relevant(written):
    assert formats.read_relevant(written("1 0 2 1\n2 0 3 1\n"), 3).tolist() == [0, 1, 2]


def test_words_and_counts(written):
    stop = formats.read_words(written("the\r\nand of\n"))
    assert stop == {"the", "and", "of"}
    found = formats.words("The Free-energy of 3 states, and t1 sTATES", stop)
    assert found == ["free", "energy", "states", "states"]
    data, terms = formats.count([found, [], ["energy"]])
    assert terms.tolist() == ["energy", "free", "states"]
    np.testing.assert_array_equal(data.toarray(), [[1, 1, 2], [0, 0, 0], [1, 0, 0]])
    assert data.has_canonical_format
