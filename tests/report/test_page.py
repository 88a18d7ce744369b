"""A page is whole, fetches nothing, describes its contents, and is of use to those who do not see it."""

import base64
import html
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from nonneg import (
    NMF,
    NMTF,
    OPNMF,
    QNMFHMM,
    BiORNM3F,
    BiQNMF,
    NonnegativeKernelFDA,
    NonnegativeLDA,
    Observed,
    SymmetricNMF,
    open_data,
)
from nonneg.exceptions import DataError, EmptySamplesWarning, IncompatibleError, ShapeError
from nonneg.files import Table
from nonneg.graph import GraphClustering
from nonneg.plot.curves import draw_curves
from nonneg.report import write_rank_report, write_report
from nonneg.report.pictures import chart, image
from nonneg.report.wording import short, told_apart
from nonneg.selection import rank_scan
from nonneg.selection.criteria import NAMES
from nonneg.solve.solution import History, Record

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, 1.0, (40, 3)) @ np.kron(np.eye(3), np.ones(4)) + 0.01 * RNG.random((40, 12))
VOID = {"meta", "img", "line", "polyline", "circle", "link", "br"}


class Reader(HTMLParser):
    """Checks that what is opened is closed, and gathers what has to be said of pictures."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.without_words, self.headings = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        if (tag == "img" and not attributes.get("alt")) or (attributes.get("role") == "img" and not attributes.get("aria-label")):
            self.without_words.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2"):
            self.headings.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page_of(model, tmp_path, *arguments, **settings):
    model.report(tmp_path / "page.html", *arguments, **settings)
    return checked((tmp_path / "page.html").read_text(encoding="utf8"))


def test_data_in_each_storage(tmp_path):
    """A path is opened as `fit` opens it, and shown as the array."""
    da = pytest.importorskip("dask.array", reason="collections of Dask need dask")
    X = np.random.default_rng(0).random((30, 8))
    np.save(tmp_path / "X.npy", X)
    model = NMF(2, random_state=0).fit(X)
    for where in (str(tmp_path / "X.npy"), tmp_path / "X.npy", open_data(tmp_path / "X.npy"), da.from_array(X), X.tolist()):
        page = page_of(model, tmp_path, where)
        assert "30 samples × 8 features" in page
        assert "The data, reordered" in page
    with pytest.raises(DataError, match="'X' is no file"):
        model.report(tmp_path / "page.html", "X")


def checked(text):
    """The text of a page that is whole."""
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    assert len(reader.ids) == len(set(reader.ids))
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)
    assert not reader.without_words
    assert reader.headings[0] == "h1"
    assert reader.headings.count("h1") == 1
    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)="(?!data:|#)|url\(|@import|<script', text)
    return text


def test_images(tmp_path):
    text = page_of(OPNMF(3, random_state=0).fit(X), tmp_path, X, shape=(3, 4))
    assert text.count("<img") == 4
    assert "Relative error" in text
    assert "Mean cosine of two parts" in text


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ([3.0, 2.0], "falls from 3 to 2 in 1 seconds"),
        ([2.0, 3.0], "rises from 2 to 3"),
        ([1.23400001, 1.234], "is 1.234 from the first check on, and falls by no more than 1e−8 in"),
        ([1.5, 1.5], "stays at 1.5 in"),
    ],
)
def test_how_the_objective_went(objective, said, tmp_path):
    """In words that hold for the numbers as they are printed."""
    model = NMF(3, random_state=0).fit(X)
    model.history_ = History([Record(i, float(i), value, {}, {}) for i, value in enumerate(objective)])
    assert f"The objective {said}" in page_of(model, tmp_path)


def test_names(tmp_path):
    text = page_of(NMF(3, random_state=0).fit(X), tmp_path, sparse.csr_array(X), feature_names=[f"<gene {j}>" for j in range(12)])
    assert "&lt;gene 3&gt;" in text
    assert "<gene" not in text


@pytest.mark.parametrize("model", [NMF(3, random_state=0), OPNMF(3, random_state=0)], ids=repr)
@pytest.mark.parametrize("count", [1, 30, 40])
def test_the_relative_error_is_of_the_shown_data(model, count, tmp_path):
    model = model.fit(X)
    shown = X[:count]
    error = np.linalg.norm(shown - model.inverse_transform(model.transform(shown))) / np.linalg.norm(shown)
    text = page_of(model, tmp_path, shown)
    assert float(re.search(r"Relative error</dt><dd>([\d.]+)", text)[1]) == pytest.approx(error, abs=1e-4)  # of printing
    write_report(model, tmp_path / "page.html", shown, about={"shape": [40, 12]})
    text = (tmp_path / "page.html").read_text(encoding="utf8")
    assert (f"Relative error of the {count} samples shown" in text) == (count < 40)


@pytest.mark.parametrize("model", [NMF(3, random_state=0), BiORNM3F((2, 3), random_state=0)], ids=repr)
def test_the_page_of_observed_entries_equals_that_of_gaps(model, tmp_path):
    """A stored NaN is not known, a stored zero is."""
    known = np.random.default_rng(1).random(X.shape) > 0.2
    known[0], known[1, :3] = False, True
    gaps = np.where(known, X, np.nan)
    gaps[1, 0], stored = 0.0, known.copy()
    stored[2] = True
    model = clone(model).set_params(missing="ignore")
    with pytest.warns(EmptySamplesWarning):
        model.fit(gaps)
    pages = (
        page_of(model, tmp_path, gaps),
        page_of(model, tmp_path, Observed(sparse.csr_array((gaps[stored], np.nonzero(stored)), X.shape))),
    )
    facts = [re.findall(r"<dt>(Relative error)</dt><dd>(.*?)</dd>|<td>([^<]*)</td>", page) for page in pages]
    assert facts[0] == facts[1]
    assert all("The data, reordered" in page for page in pages)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_squares_that_are_no_numbers_give_no_relative_error(scale, tmp_path):
    assert "Relative error" not in page_of(NMF(3, random_state=0).fit(X), tmp_path, X * scale)


def test_the_relative_error_of_similarities_is_not_one_of_x(tmp_path):
    assert "Relative error" not in page_of(SymmetricNMF(2, kernel="rbf", random_state=0).fit(X), tmp_path, X)


@pytest.mark.parametrize("given", [X[0], X[:, :5], X[None], 3, [[]], X[:0]], ids=lambda given: str(np.shape(given)))
def test_x_of_another_shape_is_refused(given, tmp_path):
    with pytest.raises(ShapeError, match=r"X has shape \(.*fitted to samples with 12 features"):
        NMF(3, random_state=0).fit(X).report(tmp_path / "page.html", given)


def test_tables_of_files(tmp_path):
    model = NMF(3, random_state=0).fit(X)
    assert page_of(model, tmp_path, Table(X)) == page_of(model, tmp_path, X)


def test_blocks_of_co_clusters(tmp_path):
    """The title has both numbers of clusters, and the table the mean of each block, of entries that are known."""
    means = np.array([[5.0, 1.0, 2.0], [1.0, 3.0, 9.0]])
    blocks = np.kron(means, np.ones((4, 6)))
    model = BiQNMF((2, 3), random_state=0).fit(blocks)
    text = page_of(model, tmp_path, blocks)
    assert "<h1>BiQNMF, 2 × 3 blocks</h1>" in text
    with_gap = blocks.copy()
    with_gap[0, 0] = np.nan
    for page in (text, page_of(model, tmp_path, with_gap)):
        section = re.search(r'<section id="blocks".*?</section>', page, re.DOTALL)[0]
        assert sorted(map(float, re.findall(r"<td>([\d.]+)</td>", section))) == sorted(means.ravel())
        assert section.count("(6)") == 3
        assert section.count("(4)") == 2
    assert "The number of entries in each block" in page_of(model, tmp_path)
    assert "3 parts" in page_of(NMF(3, random_state=0).fit(X), tmp_path)


def test_without_data(tmp_path):
    assert "The data, reordered" not in page_of(NMF(3, random_state=0).fit(X), tmp_path)


def test_stages_of_the_fit(tmp_path):
    model = OPNMF(3, random_state=0).fit(X)
    text = html.unescape(page_of(model, tmp_path))
    assert all(str(step.took) in text and step.why in text for step in model.strategy_.steps)
    assert model.strategy_.note in text


def test_section_of_cautions(tmp_path):
    with pytest.warns(match="max_iter"):
        model = NMF(3, init="random", max_iter=2, random_state=0).fit(X)
    assert "Stopped at max_iter" in page_of(model, tmp_path)
    assert "one start only" in page_of(NMF(3, random_state=0).fit(X), tmp_path)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: NMTF((3, 2), random_state=0).fit(X), "The parts"),
        (lambda: NonnegativeLDA().fit(X, np.array(list("abc"))[np.arange(40) % 3]), "The directions"),
        (lambda: NonnegativeKernelFDA(kernel="rbf").fit(X, np.arange(40) % 2), "The directions"),
        (lambda: QNMFHMM(2, random_state=0).fit("abcabcabbabac" * 9), "Probability of the next state"),
        (lambda: GraphClustering(2, random_state=0).fit(np.kron(np.eye(2), np.ones((3, 3)))), "How many vertices"),
    ],
)
def test_any_estimator(model, said, tmp_path):
    fitted = model()
    data = (X,) if getattr(fitted, "n_features_in_", 0) == 12 and not hasattr(fitted, "dual_coef_") else ()
    assert said in page_of(fitted, tmp_path, *data)


def test_unfitted_estimators_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        NMF(2).report(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def opened_picture(source):
    pillow = pytest.importorskip("PIL.Image")
    return pillow.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).convert("RGB")


def test_an_image_has_a_pixel_for_each_entry():
    """White for zero, black for the largest, red and blue for the two signs, at any scale."""
    for scale in (1.0, 1e200, 1e-200):
        ink = opened_picture(image(scale * np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.0]])))
        assert ink.size == (3, 2)
        assert [ink.getpixel(at) for at in ((0, 0), (1, 0), (0, 1))] == [(255,) * 3, (0,) * 3, (0,) * 3]
        red, blue = (opened_picture(image(scale * np.array([[1.0, -1.0]]))).getpixel((at, 0)) for at in (0, 1))
        assert red[0] > 2 * red[2]
        assert blue[2] > 2 * blue[0]


def one_curve(y, up="objective", x=(2, 7, 12)):
    found = {"ranks": list(x), "values": y, "errors": [np.nan] * 3, "permuted": [], "which": "", "label": up, "best": x[-1]}
    return chart(lambda ax: draw_curves([found], ax), "a curve").svg


@pytest.mark.parametrize(
    "y", [[3.0, 2, 1], [1e6, 1, 1e-6], [1.0, 1, 1], [-1.0, -2, -3], [0.0, 0, 0], [1e300, 1e299, 1e298], [1e-300] * 3], ids=str
)
def test_curves_of_all_kinds(y):
    drawn = one_curve(y)
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_a_chart_takes_the_colours_of_the_page():
    """No colour of its own, so that it can be read on dark pages too."""
    assert not re.search("#[0-9a-f]{6}[^0-9a-z]", one_curve([3.0, 2.0, 1.0]))


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (1234.5678, "1235"), (1.5e-7, "1.5e−7"), (-2e9, "−2e9"), (293550.0, "293600")]
)
def test_short_numbers(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([3.0, 2.0], ["3", "2"]),
        ([10_801_300.0, 10_801_200.0, 10_801_200.0], ["1.08013e7", "1.08012e7", "1.08012e7"]),
        ([123456.78, 123456.77], ["123456.78", "123456.77"]),
        ([1 + 1e-15, 1.0], ["1", "1"]),
        ([], []),
    ],
)
def test_numbers_are_told_apart(values, texts):
    assert told_apart(values) == texts


def test_a_slow_fall_is_seen(tmp_path):
    """In the table and on the axis of large objectives, which differ late."""
    model = NMF(3, random_state=0).fit(X)
    model.history_ = History([Record(i, float(i), 1.0801e7 - 100 * i, {}, {}) for i in range(6)])
    text = page_of(model, tmp_path)
    section = re.search(r'<section id="convergence".*?</section>', text, re.DOTALL)[0]
    ticks = re.findall(r'text-anchor: end"[^>]*>([^<]+)', section)
    for found in (re.findall(r"<td>(\S*e7)</td>", section), ticks):
        assert len(set(found)) == len(found) >= 3
    assert "falls from 1.0801e7 to 1.08" in section


LETTER = 5.3
"""Width of a letter of 10 units, which few exceed."""
LABELS = sorted({criterion.label for criterion in NAMES.values()})


@pytest.mark.parametrize("up", ["objective", *LABELS])
def test_titles_of_axes_are_whole(up):
    """Every word of a title stands inside the drawing."""
    drawn = one_curve([0.3, 0.2, 0.1], up)
    height = float(re.search(r'viewBox="0 0 \S+ (\S+)"', drawn)[1])
    centred = re.findall(r"<text[^>]*rotate\(-90 [\d.]+ ([\d.]+)\)[^>]*>([^<]+)<", drawn)
    from_below = re.findall(r"translate\([\d.]+ ([\d.]+)\) rotate\(-90\)[^>]*>([^<]+)<", drawn)
    lines = [(float(y) + LETTER * len(text) / 2, html.unescape(text)) for y, text in centred]
    lines += [(float(y), html.unescape(text)) for y, text in from_below]
    assert " ".join(text.strip() for _, text in lines) == up
    for end, text in lines:
        assert end - LETTER * len(text) >= 0
        assert end <= height


@pytest.mark.wide
def test_ranks(tmp_path):
    """A scan has a page of its own, and a section on that of a fit."""
    scan = rank_scan(NMF(), X, (1, 3, 5), criteria=["gabriel", "error"], random_state=0)
    write_rank_report(NMF(), scan.summary(), tmp_path / "ranks.html", about={"data": ["X.csv"], "command": "nonneg rank X.csv"})
    text = checked((tmp_path / "ranks.html").read_text(encoding="utf8"))
    assert text.count("<svg") == 2
    assert "it speaks for 3." in text
    write_report(NMF(3, random_state=0).fit(X), tmp_path / "page.html", X, about={"ranks": scan.summary()})
    assert 'id="ranks"' in checked((tmp_path / "page.html").read_text(encoding="utf8"))


def test_data_in_files(tmp_path):
    """What is shown of data that are not in memory is a sample, and the same but for that."""
    np.save(tmp_path / "X.npy", X)
    model = OPNMF(3, random_state=0).fit(X)
    near, far = (page_of(model, tmp_path, data) for data in (X, open_data(tmp_path / "X.npy")))
    assert far.replace(", 40 of the samples", "") == near


def test_a_path_in_place_of_the_model_is_named(tmp_path, rng):
    with pytest.raises(IncompatibleError, match="The model is str: expected a fitted estimator, then the path"):
        write_report(str(tmp_path / "page.html"), OPNMF(2), rng.random((9, 4)))
