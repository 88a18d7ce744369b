import inspect
import subprocess
import sys
from itertools import permutations
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import roc_curve
from sklearn.metrics.cluster import contingency_matrix

from nonneg import metrics
from nonneg.constraints import Orthogonal
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.metrics import (
    basis_entropy,
    clustering_accuracy,
    clustering_entropy,
    edge_error,
    equal_error_rate,
    normalized_entropy,
    orthogonality,
    orthogonality_error,
    purity,
    relative_error,
    sparseness,
    stochastic_error,
)

OF_CLUSTERS = [purity, clustering_entropy, normalized_entropy, clustering_accuracy]
OF_BASES = [orthogonality, orthogonality_error, basis_entropy, sparseness]
ROUNDING = 1e-12  # a few thousand operations in double precision on numbers of order one

quick = settings(deadline=None, derandomize=True, database=None, max_examples=100)
two_labellings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40).map(lambda z: np.array(z).T)
bases = st.tuples(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.7, 1.0])).map(
    lambda z: random_basis(*z)
)


def random_basis(m, r, seed, density):
    """With zeros, with columns of different scale, and with at least one entry."""
    rng = np.random.default_rng(seed)
    W = rng.random((m, r)) * (rng.random((m, r)) < density) * 10.0 ** rng.integers(-3, 4, size=r)
    W[0, 0] += 1
    return W


@pytest.fixture
def labels(rng):
    """Five classes and seven clusters that know something of each other."""
    classes = rng.integers(5, size=200)
    return classes, np.where(rng.random(200) < 0.5, classes, rng.integers(7, size=200))


# Clusters


def test_measures_of_clusters_by_hand():
    """Cluster 0 has classes a a b, cluster 1 has b b b c, cluster 2 has c."""
    true, pred = list("aabbbbcc"), [0, 0, 0, 1, 1, 1, 1, 2]
    assert purity(true, pred) == (2 + 3 + 1) / 8
    assert clustering_accuracy(true, pred) == (2 + 3 + 1) / 8
    entropies = -2 / 3 * log(2 / 3) - 1 / 3 * log(1 / 3), -3 / 4 * log(3 / 4) - 1 / 4 * log(1 / 4)
    expected = 3 / 8 * entropies[0] + 4 / 8 * entropies[1]
    assert clustering_entropy(true, pred) == pytest.approx(expected)
    assert normalized_entropy(true, pred) == pytest.approx(expected / log(3))


def test_purity_and_entropies_as_loops_over_the_contingency_table(labels):
    table = contingency_matrix(*labels).T  # clusters × classes
    n, total, largest = table.sum(), 0.0, 0
    for row in table:
        largest += max(row)
        total -= sum(count * np.log2(count / row.sum()) for count in row if count)
    assert purity(*labels) == largest / n
    assert normalized_entropy(*labels) == pytest.approx(total / (n * np.log2(5)))  # PNMF Eq. 36
    assert clustering_entropy(*labels) == pytest.approx(total * log(2) / n)


@pytest.mark.parametrize(("classes", "clusters"), [(4, 4), (3, 5), (5, 3), (1, 4), (4, 1)])
def test_accuracy_is_the_best_of_all_matchings(classes, clusters, rng):
    true, pred = rng.integers(classes, size=40), rng.integers(clusters, size=40)
    size = max(classes, clusters)
    best = max(sum(matching[k] == c for k, c in zip(pred, true, strict=True)) for matching in permutations(range(size)))
    assert clustering_accuracy(true, pred) == best / 40


def test_accuracy_gives_no_class_to_two_clusters():
    assert clustering_accuracy([0, 0, 0, 0, 1], [0, 0, 1, 1, 1]) == 0.6
    assert purity([0, 0, 0, 0, 1], [0, 0, 1, 1, 1]) == 0.8


@pytest.mark.parametrize("measure", OF_CLUSTERS)
def test_names_of_classes_and_clusters_do_not_matter(measure, labels):
    true, pred = labels
    value = measure(true, pred)
    assert measure(np.array([3, 0, 4, 1, 2])[true], np.array([9, 5, 7, -1, 0, 2, 40])[pred]) == pytest.approx(value)
    names = np.array(["pear", "fig", "yew", "oak", "ash"])
    assert measure(names[true].tolist(), pred.astype(float)) == pytest.approx(value)
    assert measure(names.astype(object)[true], [str(k) for k in pred]) == pytest.approx(value)
    order = np.random.default_rng(1).permutation(len(true))
    assert measure(true[order], pred[order]) == pytest.approx(value)


@pytest.mark.parametrize(("measure", "best"), list(zip(OF_CLUSTERS, [1, 0, 0, 1], strict=True)))
def test_the_classes_themselves_are_the_best_clusters(measure, best, labels):
    assert measure(labels[0], (labels[0] + 2) % 5) == best
    assert measure(["only"], [7]) == best
    assert measure(*labels) != pytest.approx(best, abs=0.1)


@quick
@given(two_labellings)
def test_ranges_of_the_measures_of_clusters(labels):
    true, pred = labels
    c, k = len(set(true)), len(set(pred))
    largest_class = np.bincount(true).max() / len(true)
    assert largest_class <= purity(true, pred) <= 1
    assert 1 / max(c, k) - ROUNDING <= clustering_accuracy(true, pred) <= purity(true, pred)
    assert clustering_accuracy(true, pred) == clustering_accuracy(pred, true)
    assert 0 <= clustering_entropy(true, pred) <= log(c) + ROUNDING
    assert 0 <= normalized_entropy(true, pred) <= 1
    assert (clustering_entropy(true, pred) == 0) == (purity(true, pred) == 1)
    # Jensen, for −ln of the largest share in each cluster
    assert clustering_entropy(true, pred) >= -log(purity(true, pred)) - ROUNDING


def test_the_normalized_entropy_of_one_class_is_zero():
    assert normalized_entropy([3, 3, 3], [0, 1, 1]) == 0.0


@pytest.mark.parametrize("classes", [2, 3, 5, 7, 11])
def test_the_normalized_entropy_does_not_leave_its_range(classes):
    assert normalized_entropy(np.tile(np.arange(classes), 3), np.repeat(np.arange(3), classes)) == pytest.approx(1)
    assert normalized_entropy(np.tile(np.arange(classes), 3), np.repeat(np.arange(3), classes)) <= 1


@pytest.mark.parametrize("measure", [purity, clustering_entropy, normalized_entropy])
def test_as_many_clusters_as_samples_need_no_square_table(measure):
    labels = np.arange(200_000)
    assert measure(labels, labels) == (1 if measure is purity else 0)


@pytest.mark.parametrize("measure", OF_CLUSTERS)
@pytest.mark.parametrize(
    ("true", "pred", "error", "match"),
    [
        ([0, 1, 1], [0, 1], ShapeError, "labels_true has 3 labels and labels_pred 2; every sample needs"),
        ([], [], DataError, "labels_true is empty. At least one sample"),
        ([0], [], DataError, "labels_pred is empty"),
        ([0, 1], [[0, 1], [1, 0]], DataError, r"labels_pred must have one label per sample; got 2 .*W.argmax\(axis=1\)"),
        (3, [0], DataError, "labels_true must have one label per sample; got 0 dimensions"),
        ([0, np.nan], [0, 1], DataError, "labels_true has labels that are NaN or None. Drop"),
        ([0, 1], ["a", np.nan], DataError, "labels_pred has labels that are NaN or None"),
        (np.array(["a", np.nan], dtype=object), [0, 1], DataError, "labels_true has labels that are NaN or None"),
        ([0, 1], ["a", None], DataError, "labels_pred has labels that are NaN or None"),
        ([None, 1], [0, 1], DataError, "labels_true has labels that are NaN or None"),
        ([0, 1], ["a", 1], DataError, "labels_pred has labels that cannot be put in order.*numbers or strings, not both"),
        ([0, [1, 2]], [0, 1], DataError, "labels_true cannot be read as one label per sample"),
        (np.ma.array([0, 1], mask=[False, True]), [0, 1], DataError, "labels_true is a masked array"),
    ],
)
def test_labels_that_are_none(measure, true, pred, error, match):
    with pytest.raises(error, match=match):
        measure(true, pred)


# Bases


def test_measures_of_bases_by_hand():
    W = np.array([[3.0, 1.0], [4.0, 0.0], [0.0, 0.0], [0.0, 0.0]])  # their cosine is 3/5
    assert orthogonality(W) == pytest.approx(1 - 0.6)
    assert orthogonality_error(W) == pytest.approx(0.6 * sqrt(2))
    assert basis_entropy(W) == pytest.approx((-3 / 7 * log(3 / 7) - 4 / 7 * log(4 / 7)) / 2)
    assert sparseness(W) == pytest.approx(((2 - 7 / 5) / (2 - 1) + 1) / 2)


def test_measures_of_bases_as_loops(rng):
    W = rng.random((6, 4)) * (rng.random((6, 4)) < 0.7) + np.eye(6, 4)
    m, r = W.shape
    overlap = squares = entropy = hoyer = 0.0
    for j in range(r):
        for k in range(r):
            if j != k:
                R = sum(W[:, j] * W[:, k]) / sqrt(sum(W[:, j] ** 2)) / sqrt(sum(W[:, k] ** 2))  # NNP Eq. 64
                overlap, squares = overlap + R, squares + R**2
        entropy -= sum(w / sum(W[:, j]) * log(w / sum(W[:, j])) for w in W[:, j] if w)
        hoyer += (sqrt(m) - sum(W[:, j]) / sqrt(sum(W[:, j] ** 2))) / (sqrt(m) - 1)
    assert orthogonality(W) == pytest.approx(1 - overlap / (r * (r - 1)))
    assert orthogonality_error(W) == pytest.approx(sqrt(squares))
    assert orthogonality_error(W) == pytest.approx(Orthogonal().violation(np, W / np.linalg.norm(W, axis=0)))
    assert basis_entropy(W) == pytest.approx(entropy / r)
    assert sparseness(W) == pytest.approx(hoyer / r)


@pytest.mark.parametrize(
    ("W", "values"),
    [
        (np.eye(4, 3), (1, 0, 0, 1)),
        (np.ones((4, 3)), (0, sqrt(6), log(4), 0)),
        (np.full((4, 1), 0.3), (1, 0, log(4), 0)),
        (np.kron(np.eye(2), np.ones((2, 1))), (1, 0, log(2), (2 - sqrt(2)) / 1)),
    ],
    ids=["identity", "constant", "one column", "blocks"],
)
def test_both_ends_of_the_measures_of_bases(W, values):
    assert [measure(W) for measure in OF_BASES] == pytest.approx(values, abs=ROUNDING)


@quick
@given(bases)
def test_ranges_of_the_measures_of_bases(W):
    m, r = W.shape
    assert 0 <= orthogonality(W) <= 1
    assert 0 <= orthogonality_error(W) <= sqrt(r * (r - 1)) + ROUNDING
    assert 0 <= basis_entropy(W) <= log(m) + ROUNDING
    assert 0 <= sparseness(W) <= 1
    assert (orthogonality(W) == 1) == (orthogonality_error(W) == 0)


def test_rounding_does_not_leave_the_range():
    """Where all columns are parallel, or constant, or have one entry, the formulas alone give −2e−16 and 1 + 2e−16."""
    rng = np.random.default_rng(0)
    for m in range(2, 60):
        parallel = np.tile(rng.random((m, 1)), 3)
        assert 0 <= orthogonality(parallel) <= ROUNDING
        assert orthogonality_error(parallel) <= sqrt(6)
        assert 0 <= sparseness(np.ones((m, 1))) <= ROUNDING
        assert 0 <= basis_entropy(np.eye(m)) <= ROUNDING
        assert 1 - ROUNDING <= sparseness(np.eye(m)) <= 1


@pytest.mark.parametrize("measure", OF_BASES)
@quick
@given(bases)
def test_order_and_scale_of_columns_and_order_of_rows_do_not_matter(measure, W):
    expected = pytest.approx(measure(W), abs=ROUNDING)
    assert measure(W[:, ::-1]) == expected
    assert measure(W[::-1]) == expected
    assert measure(W * np.logspace(-2, 3, W.shape[1])) == expected
    assert measure(sparse.csc_array(W)) == expected
    assert measure(W.tolist()) == expected


@pytest.mark.parametrize("measure", OF_BASES)
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_scales_whose_squares_are_no_numbers(measure, scale, rng):
    W = rng.random((5, 3))
    assert measure(W * scale) == pytest.approx(measure(W))


@pytest.mark.parametrize(
    ("measure", "sign"), list(zip(OF_BASES, [1, -1, -1, 1], strict=True)), ids=lambda value: getattr(value, "__name__", None)
)
@quick
@given(bases)
def test_a_dead_column_never_makes_a_basis_look_better(measure, sign, W):
    dead = W.copy()
    dead[:, -1] = 0
    if dead.any():
        assert sign * measure(dead) <= sign * measure(W) + ROUNDING


def test_a_dead_column_counts_as_the_worst():
    W = np.eye(4, 3)
    W[:, 2] = 0  # of the three pairs of columns, two are with it
    assert [measure(W) for measure in OF_BASES] == pytest.approx([1 / 3, 2, log(4) / 3, 2 / 3])


def test_the_printed_entropies_of_pnmf_are_above_the_largest():
    assert basis_entropy(np.ones((361, 49))) == pytest.approx(5.9, abs=0.05)


@pytest.mark.parametrize("measure", [*OF_BASES, stochastic_error])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("W", "match"),
    [
        (np.array([[1, -2.0], [-1, 0]]), "W has negative entries, the lowest -2; this measure is one of non-negative"),
        (np.array([[1, np.nan], [1, 0]]), "W has entries that are not finite"),
        (np.array([[1, np.inf], [1, 0]]), "W has entries that are not finite"),
        (np.ones((3, 0)), r"W is empty: its shape is \(3, 0\)"),
        (np.ones((2, 2)) * 1j, "complex"),
    ],
    ids=["negative", "nan", "infinite", "empty", "complex"],
)
def test_matrices_that_are_no_factor(measure, kind, W, match):
    with pytest.raises(DataError, match=match):
        measure(kind(W))


@pytest.mark.parametrize("measure", [*OF_BASES, stochastic_error])
@pytest.mark.parametrize("W", [[1.0, 2.0], sparse.coo_array(np.ones(3)), [["a", "b"]]], ids=["vector", "sparse vector", "strings"])
def test_matrices_without_numbers_are_refused(measure, W):
    with pytest.raises(DataError, match=r"W (must be a matrix|holds entries of type)"):
        measure(W)


@pytest.mark.parametrize("measure", OF_BASES)
def test_zero_is_no_basis(measure):
    with pytest.raises(DataError, match="W is zero everywhere, so it is no basis"):
        measure(np.zeros((3, 2)))


def test_a_single_row_has_no_sparseness():
    with pytest.raises(ShapeError, match=r"W has one row.*At least two rows"):
        sparseness([[1, 2, 3]])
    assert basis_entropy([[1, 2, 3]]) == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_stochastic_errors_by_hand(kind):
    W = kind(np.array([[0.5, 0.5, 0.0], [1.0, 0.25, 0.0]]))  # columns 1.5, 0.75, 0; rows 1, 1.25; all 2.25
    assert stochastic_error(W) == stochastic_error(W, "columns") == 0.5 + 0.25 + 1
    assert stochastic_error(W, "rows") == 0.25
    assert stochastic_error(W, axis="matrix") == 1.25


def test_axes_that_there_are_not():
    with pytest.raises(IncompatibleError, match="takes 'columns', 'rows' or 'matrix'; got 0"):
        stochastic_error(np.ones((2, 2)), 0)


# Equal error rate


def by_scikit_learn(y, score):
    """Where 1 − TPR − FPR changes sign along the polygon of roc_curve."""
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    positions = np.linspace(0, len(fpr) - 1, 20_000 * (len(fpr) - 1) + 1)
    fine_fpr, fine_tpr = (np.interp(positions, np.arange(len(fpr)), rate) for rate in (fpr, tpr))
    return fine_fpr[np.argmin(np.abs(1 - fine_tpr - fine_fpr))]


@pytest.mark.parametrize("decimals", [1, 0, 8], ids=["ties", "many ties", "no ties"])
@pytest.mark.parametrize("positive", [3, 10, 27])
def test_the_equal_error_rate_is_that_of_roc_curve(decimals, positive, rng):
    y = np.arange(30) < positive
    score = np.round(rng.normal(size=30) + 0.8 * y, decimals)
    assert equal_error_rate(y, score) == pytest.approx(by_scikit_learn(y, score), abs=1e-4)  # the grid of by_scikit_learn


@pytest.mark.parametrize(
    ("y", "score", "expected"),
    [
        ([0, 0, 1, 1], [1, 2, 3, 4], 0),
        ([1, 1, 0, 0], [1, 2, 3, 4], 1),
        ([0, 1, 0, 1, 1], [2, 2, 2, 2, 2], 0.5),
        ([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8], 0.25),
        (["no", "yes", "no", "yes"], [0.1, 0.2, 0.3, 0.4], 0.5),
        ([0, 0, 1], [1, 3, 2], 0.5),
        # between the thresholds (FPR, FNR) = (0, 1/2) and (1, 1/2) they are equal halfway
        ([0, 1, 1], [2, 3, 1], 0.5),
        # (FPR, FNR) goes from (1/3, 1/2) to (1/3, 0), and is equal at 1/3
        ([0, 0, 0, 1, 1], [1, 2, 4, 3, 5], 1 / 3),
        # and from (0, 1/3) to (1/2, 0) at once, as two scores are tied: x = ½t = ⅓(1 − t)
        ([0, 0, 1, 1, 1], [1, 2, 2, 3, 4], 0.2),
        (np.array([0, 1], dtype=np.uint8), np.array([0, 255], dtype=np.uint8), 0),
    ],
)
def test_equal_error_rates_by_hand(y, score, expected):
    assert equal_error_rate(y, score) == pytest.approx(expected, abs=ROUNDING)


@quick
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2, max_size=40).filter(lambda z: len({y for y, _ in z}) == 2)
)
def test_range_and_symmetries_of_the_equal_error_rate(samples):
    y, score = np.array(samples).T
    rate = equal_error_rate(y, score)
    assert 0 <= rate <= 1
    assert equal_error_rate(y, np.exp(score)) == pytest.approx(rate, abs=ROUNDING)
    assert equal_error_rate(y, -score) == pytest.approx(1 - rate, abs=ROUNDING)
    assert equal_error_rate(1 - y, -score) == pytest.approx(rate, abs=ROUNDING)
    assert equal_error_rate(np.tile(y, 3), np.tile(score, 3)) == pytest.approx(rate, abs=ROUNDING)


@pytest.mark.parametrize(
    ("y", "score", "error", "match"),
    [
        ([1, 1], [0.1, 0.2], DataError, "y_true has 1 class; an equal error rate is between exactly two"),
        ([0, 1, 2], [0.1, 0.2, 0.3], DataError, "y_true has 3 classes; an equal error rate"),
        ([0, 1], [0.1, 0.2, 0.3], ShapeError, "y_true has 2 labels and score 3 values"),
        ([0, 1], [0.1, np.nan], DataError, "score has entries that are not finite, the first at 1"),
        ([0, 1], [-np.inf, 1], DataError, "score has entries that are not finite, the first at 0"),
        ([0, 1], ["a", "b"], DataError, "score holds entries of type <U1; only real numbers"),
        ([0, 1], [1j, 2], DataError, "score holds entries of type complex128; only real numbers"),
        ([0, 1], [[0.1, 0.9], [0.8, 0.2]], DataError, "score must have one number per sample.*column of the positive class"),
        ([], [], DataError, "y_true is empty"),
        ([0, np.nan], [1, 2], DataError, "y_true has labels that are NaN"),
    ],
)
def test_scores_that_have_no_equal_error_rate(y, score, error, match):
    with pytest.raises(error, match=match):
        equal_error_rate(y, score)


# Matched graphs

KINDS = {
    "dense": (np.asarray, np.asarray),
    "lists": (np.ndarray.tolist, np.ndarray.tolist),
    "sparse": (sparse.csr_array, sparse.coo_array),
    "sparse matrices": (sparse.csc_matrix, sparse.lil_matrix),
    "sparse and dense": (sparse.csr_array, np.asarray),
    "dense and sparse": (np.asarray, sparse.csr_array),
}


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("dtype", [bool, int, float])
def test_the_edge_error_is_the_number_of_entries_that_differ(kinds, dtype, rng):
    """Directed, with weights, and a permutation that is not its own inverse."""
    A, B = ((rng.random((2, 7, 7)) < 0.4) * rng.integers(1, 4, size=(2, 7, 7))).astype(dtype)
    p = rng.permutation(7)
    assert not np.array_equal(p, np.argsort(p))
    P = np.eye(7)[p]
    permuted = P @ A @ P.T
    expected = sum(permuted[i, j] != B[i, j] for i in range(7) for j in range(7))
    error = edge_error(kinds[0](A), kinds[1](B), p)
    assert error == expected
    assert isinstance(error, int)
    assert edge_error(kinds[0](A), kinds[1](permuted.astype(dtype)), p.tolist()) == 0


def test_an_undirected_edge_counts_twice_and_weights_count():
    A = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    assert edge_error(A, np.minimum(A, 1), range(3)) == 2
    assert edge_error(A, 0 * A, np.arange(3, dtype=np.uint8)) == 4
    assert edge_error(-A, A, [0, 1, 2]) == 4


def in_pieces():
    """[[3, 0], [0, 4]], its first entry in two pieces that CSR allows and no other format keeps."""
    return sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))


def test_zeros_that_are_stored_and_entries_in_pieces_are_no_edges():
    stored = sparse.coo_array(([0.0, 1.0, 2.0, -3.0, 3.0], ([0, 1, 1, 2, 2], [1, 2, 2, 0, 0])), shape=(3, 3))
    plain = np.zeros((3, 3))
    plain[1, 2] = 3
    assert edge_error(stored, plain, [0, 1, 2]) == edge_error(sparse.csr_array(plain), stored, [0, 1, 2]) == 0
    given = in_pieces()
    assert edge_error(given, np.diag([3, 4]), [0, 1]) == edge_error(given, sparse.diags_array([4.0, 3.0]), [1, 0]) == 0
    assert (stored.nnz, given.nnz) == (5, 3)  # what was given is not changed


def test_large_sparse_graphs_are_not_made_dense():
    n = 200_000
    cycle = sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)))
    assert edge_error(cycle, cycle, (np.arange(n) + 5) % n) == 0
    assert edge_error(cycle, cycle, np.arange(n)[::-1]) == 2 * n


@pytest.mark.parametrize(
    ("A", "B", "permutation", "error", "match"),
    [
        (np.eye(3), np.eye(2), [0, 1, 2], ShapeError, "A is 3 × 3 and B is 2 × 2; two graphs"),
        (np.ones((3, 2)), np.ones((3, 2)), [0, 1, 2], ShapeError, "A is 3 × 2 and B is 3 × 2.*square"),
        (np.eye(3), np.eye(3), [0, 1, 1], DataError, r"each of the integers 0 to 2 once; got 3 entries, \[0 1 1\]"),
        (np.eye(3), np.eye(3), [0, 1], DataError, "got 2 entries"),
        (np.eye(3), np.eye(3), [1, 2, 3], DataError, "each of the integers 0 to 2 once"),
        (np.eye(3), np.eye(3), [0, 1, -1], DataError, "each of the integers 0 to 2 once"),
        (np.eye(3), np.eye(3), [0.0, 1.0, 2.0], DataError, "each of the integers 0 to 2 once"),
        (np.eye(2), np.eye(2), [False, True], DataError, "each of the integers 0 to 1 once"),
        (np.eye(3), np.eye(3), np.eye(3), DataError, r"permutation must have one vertex per.*P.argmax\(axis=1\)"),
        (np.eye(3), np.eye(3), [], DataError, "permutation is empty"),
        (np.diag([1, np.nan]), np.eye(2), [0, 1], DataError, "A has entries that are not finite"),
        (np.eye(2), sparse.csr_array(np.diag([1, np.nan])), [0, 1], DataError, "B has entries that are not finite"),
        (np.ones((0, 0)), np.ones((0, 0)), [], DataError, "A is empty"),
        ([1, 2], np.eye(2), [0, 1], DataError, "A must be a matrix"),
    ],
)
def test_graphs_and_permutations_that_do_not_fit(A, B, permutation, error, match):
    with pytest.raises(error, match=match):
        edge_error(A, B, permutation)


# Relative error


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_the_relative_error_is_a_quotient_of_norms(kinds, rng):
    X, Y = rng.normal(size=(2, 5, 4)) * (rng.random((2, 5, 4)) < 0.6)
    expected = sqrt(sum((x - y) ** 2 for x, y in zip(X.flat, Y.flat, strict=True)) / sum(x**2 for x in X.flat))
    assert relative_error(kinds[0](X), kinds[1](Y)) == pytest.approx(expected)
    assert relative_error(kinds[0](X), kinds[1](X)) == 0
    assert relative_error(kinds[0](X), kinds[1](0 * X)) == pytest.approx(1)
    assert relative_error(kinds[0](X), kinds[1](-2 * X)) == pytest.approx(3)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_the_relative_error_has_no_unit(scale, rng):
    X, Y = rng.random((2, 5, 4))
    assert relative_error(scale * X, scale * Y) == pytest.approx(relative_error(X, Y))


def test_the_relative_error_of_entries_in_pieces():
    given = in_pieces()
    assert relative_error(given, sparse.csr_array((2, 2))) == pytest.approx(1)
    assert relative_error(given, np.diag([3.0, 0.0])) == pytest.approx(0.8)
    assert relative_error(np.diag([3.0, 4.0]), given) == 0
    assert given.nnz == 3  # what was given is not changed


def test_the_relative_error_of_negative_numbers():
    assert relative_error([[-3, -4]], [[-3, 0]]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("X", "approximation", "error", "match"),
    [
        (np.ones((2, 3)), np.ones((3, 2)), ShapeError, "X is 2 × 3 and approximation is 3 × 2"),
        (np.ones((2, 3)), np.ones((1, 3)), ShapeError, "X is 2 × 3 and approximation is 1 × 3"),
        (np.zeros((2, 3)), np.ones((2, 3)), DataError, "X is zero everywhere.*norm of the difference"),
        (sparse.csr_array((2, 3)), np.ones((2, 3)), DataError, "X is zero everywhere"),
        (np.ones((2, 3)), np.full((2, 3), np.nan), DataError, "approximation has entries that are not finite"),
        (np.full((2, 3), np.inf), np.ones((2, 3)), DataError, "X has entries that are not finite"),
        (np.ones((0, 3)), np.ones((0, 3)), DataError, "X is empty"),
        (np.ones(3), np.ones(3), DataError, "X must be a matrix"),
    ],
)
def test_incomparable_bases_are_refused(X, approximation, error, match):
    with pytest.raises(error, match=match):
        relative_error(X, approximation)


# The module


def test_inputs_are_not_changed_and_results_are_plain_numbers(rng):
    W, labels = rng.random((4, 4)).astype(np.float32), np.array([2, 0, 1, 2])
    kept = W.copy(), labels.copy()
    values = [measure(W) for measure in [*OF_BASES, stochastic_error]] + [measure(labels, labels) for measure in OF_CLUSTERS]
    values += [relative_error(W, W), equal_error_rate(labels > 0, labels)]
    assert {type(value) for value in values} == {float}
    np.testing.assert_array_equal(W, kept[0])
    np.testing.assert_array_equal(labels, kept[1])


def test_single_precision_is_measured_in_double():
    W = np.full((3, 2), 0.1, dtype=np.float32)
    assert stochastic_error(W, "matrix") == pytest.approx(1 - 6 * float(np.float32(0.1)), abs=1e-15)


def test_every_measure_is_public_and_tells_its_range_its_source_and_an_example():
    written = {
        name
        for module in (metrics.bases, metrics.clusters, metrics.comparison)
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    }
    public = {name for name in written if name in vars(metrics)}
    assert metrics.__all__ == sorted(public)
    assert written - public <= {"directions", "entropy", "measure_overlap"}  # used by estimators
    for name in metrics.__all__:
        text = inspect.getdoc(getattr(metrics, name))
        assert "\nFrom " in text, name
        assert "best" in text or "sparsest" in text, name
        assert ">>>" in text, name
        if name != "relative_error":
            assert any(source in text for source in ("Eq. ", "Table ", "§", "References")), name


def test_importing_the_module_imports_neither_scikit_learn_nor_scipy_optimize():
    code = "import sys, nonneg.metrics; print([name for name in ('sklearn', 'scipy.optimize') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
