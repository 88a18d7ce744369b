"""Wrong parameters and wrong data are explained before any work begins; odd data that are right give right answers."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from nonneg import NMFImputer, Observed
from nonneg.data import read_data
from nonneg.estimators import NMF, ONMF, OPNMF, PNMF, Factorization, KernelPNMF, SymmetricNMF, TruncatedNonnegativeSVD
from nonneg.exceptions import DataError, IncompatibleError, ShapeError

from .cases import (
    COCLUSTERERS,
    ITERATIVE,
    MAKERS,
    ORTHOGONAL,
    PAIRWISE,
    PREDICTING,
    TRIFACTOR,
    WITH_ARRAY_INIT,
    WITH_DIVERGENCE,
    WITH_N_CLUSTERS,
    array_start,
    count,
    given_start,
)

pytestmark = pytest.mark.wide(one_in=8)


WITH_N_COMPONENTS = [name for name in MAKERS if name not in WITH_N_CLUSTERS]
COUNTS = [0, -1, 2.5, "many", True, np.float64(3)]


def refused(estimator, X, match, error=ValueError):
    with pytest.raises(error, match=match):
        estimator.fit(X)
    assert not hasattr(estimator, "components_")


def quick(name):
    """Where it does not matter how good the fit is."""
    return MAKERS[name](max_iter=10) if name in ITERATIVE else MAKERS[name]()


# ---- parameters


@pytest.mark.parametrize("value", COUNTS, ids=repr)
@pytest.mark.parametrize("name", WITH_N_COMPONENTS)
def test_n_components(name, value, X, no_work):
    refused(MAKERS[name](n_components=value), X, rf"n_components must be .*{re.escape(repr(value))}")


@pytest.mark.parametrize("value", [*COUNTS, None, (3, 3)], ids=repr)
def test_n_clusters(value, X, no_work):
    refused(MAKERS["ProjectiveClustering"](n_clusters=value), X, rf"n_clusters must be .*{re.escape(repr(value))}")


@pytest.mark.parametrize(
    "value", [*COUNTS, None, (3,), (3, 3, 3), (0, 2), (2, -1), (2, 2.5), (True, 2), [2, None], "34", {2, 3}], ids=repr
)
@pytest.mark.parametrize("name", COCLUSTERERS)
def test_two_numbers_of_clusters(name, value, X, no_work):
    expected = rf"n_clusters must be an int, or a pair of ints .*{re.escape(repr(value))}"
    refused(MAKERS[name](n_clusters=value), X, expected, ShapeError)


@pytest.mark.parametrize(
    ("value", "what"), [(21, "21 .* of 20 samples"), ((21, 2), "21 .* of 20 samples"), ((2, 13), "13 .* of 12 f")]
)
@pytest.mark.parametrize("name", COCLUSTERERS)
def test_more_clusters_than_items(name, value, what, X, no_work):
    refused(MAKERS[name](n_clusters=value), X, rf"n_clusters={re.escape(str(value))}: {what}", ShapeError)


def test_more_clusters_than_samples(X, no_work):
    refused(MAKERS["ProjectiveClustering"](n_clusters=21), X, "n_clusters=21 .*n_samples=20")


@pytest.mark.parametrize("value", [(2,), (2, 2, 2), (0, 2), (2, -1), (2, 2.5), (2, "many"), (True, 2), [2, None]], ids=repr)
@pytest.mark.parametrize("name", TRIFACTOR)
def test_pairs_of_n_components(name, value, X, no_work):
    refused(MAKERS[name](n_components=value), X, "n_components must be an int, or a pair of ints")


@pytest.mark.parametrize("name", [n for n in WITH_N_COMPONENTS if n not in TRIFACTOR and not n.startswith("Factorization")])
def test_pairs_for_a_single_n_components(name, X, no_work):
    refused(MAKERS[name](n_components=(2, 2)), X, "n_components must be an int")


@pytest.mark.parametrize("name", ["OPNMF", "ONMF"])
def test_more_orthogonal_components_than_features(name, X, no_work):
    refused(MAKERS[name](n_components=13), X, "n_components=13 orthogonal components do not fit into 12 features")


@pytest.mark.parametrize(("name", "count", "what"), [("PNMF", 13, "12 features of X"), ("KernelPNMF", 21, "20 items")])
def test_more_components_than_there_is_room_for(name, count, what, X, no_work):
    """The identity would be returned, whatever the data."""
    refused(MAKERS[name](n_components=count), X, f"n_components={count} is more than the {what}: .* the identity")
    if name == "PNMF":
        refused(PNMF(init=np.ones((13, 12))), X, "n_components=13 is more than the 12 features")
        with pytest.raises(ShapeError, match="n_components=13 is more than the 12 features"):
            PNMF(13).partial_fit(X)


@pytest.mark.parametrize(("pair", "what"), [((21, 3), "21 orthogonal groups of samples"), ((3, 13), "13 .* of features")])
@pytest.mark.parametrize("name", ["ONMTF", "FONT", "FONT-ALS"])
def test_more_orthogonal_groups_than_items(name, pair, what, X, no_work):
    refused(MAKERS[name](n_components=pair), X, rf"n_components=.*{what}")


@pytest.mark.parametrize("value", [0, -1, 1.5, "x", True, None], ids=repr)
@pytest.mark.parametrize("name", ITERATIVE)
def test_n_init(name, value, X, no_work):
    refused(MAKERS[name](n_init=value), X, rf"n_init must be .*{value!r}")


@pytest.mark.parametrize("value", [-1, 1.5, "x", None, True], ids=repr)
@pytest.mark.parametrize("name", ITERATIVE)
def test_max_iter(name, value, X, no_work):
    refused(MAKERS[name](max_iter=value), X, rf"max_iter must be .*{value!r}")


@pytest.mark.parametrize("value", [-1, -1e-9, np.nan, "x", None], ids=repr)
@pytest.mark.parametrize("name", ITERATIVE)
def test_tol(name, value, X, no_work):
    refused(MAKERS[name](tol=value), X, rf"tol must be .*{value!r}")


@pytest.mark.parametrize("value", ["foo", None, 3], ids=repr)
@pytest.mark.parametrize("name", ITERATIVE)
def test_solver(name, value, X, no_work):
    refused(MAKERS[name](solver=value), X, rf"Unknown solver {value!r}")


@pytest.mark.parametrize("name", [name for name in ITERATIVE if "FONT" not in name])
def test_als_is_fonts_alone(name, X, no_work):
    refused(MAKERS[name](solver="als"), X, "Unknown solver 'als'")


@pytest.mark.parametrize("value", ["foo", None, True, np.nan], ids=repr)
@pytest.mark.parametrize("name", WITH_DIVERGENCE)
def test_divergence(name, value, X, no_work):
    refused(MAKERS[name](divergence=value), X, rf"(Unknown divergence {value!r}|Beta\(b\) needs a finite number; got nan)")


@pytest.mark.parametrize("name", [name for name in MAKERS if "divergence" not in MAKERS[name]().get_params()])
def test_divergence_of_models_with_a_fixed_one(name):
    with pytest.raises(TypeError, match="divergence"):
        MAKERS[name](divergence="kullback-leibler")


@pytest.mark.parametrize("value", ["foo", None, 3, -0.1, float("nan")], ids=repr)
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_orthogonality(name, value, X, no_work):
    expected = rf"orthogonality must be one of 'soft', 'rows', 'polar', 'exact', or a number .* got {value!r}"
    refused(MAKERS[name](orthogonality=value), X, expected)


@pytest.mark.parametrize("value", ["exact", 0.5], ids=repr)
@pytest.mark.parametrize("name", [name for name in ORTHOGONAL if name not in ("OPNMF", "ONMF")])
def test_exact_orthogonality_of_two_factors(name, value, X, no_work):
    refused(MAKERS[name](orthogonality=value), X, "orthogonality='exact', or a number, is for one orthogonal factor")


@pytest.mark.parametrize("name", ["OPNMF", "ONMF"])
def test_exact_orthogonality_with_other_divergences(name, X, no_work):
    refused(MAKERS[name](orthogonality="exact", divergence="kullback-leibler"), X, "and the Euclidean distance")


@pytest.mark.parametrize("value", ["x", 1.5], ids=repr)
@pytest.mark.parametrize("name", MAKERS)
def test_random_state(name, value, X, no_work):
    refused(MAKERS[name](random_state=value), X, rf"random_state must be .*{value!r}")


@pytest.mark.parametrize("name", ITERATIVE)
@pytest.mark.parametrize("value", [0, "x", 1.5, True], ids=repr)
def test_n_jobs(name, value, X, no_work):
    refused(MAKERS[name](n_jobs=value), X, rf"n_jobs must be .*{value!r}")


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, "x", None, True], ids=repr)
def test_alpha(value, X, no_work):
    refused(MAKERS["NonnegativeSparseCoding"](alpha=value), X, rf"alpha must be .*{value!r}")


@pytest.mark.parametrize("value", ["foo", None, 3], ids=repr)
@pytest.mark.parametrize(("cls", "parameter"), [(KernelPNMF, "kernel"), (SymmetricNMF, "kernel")])
def test_kernel(cls, parameter, value, X, no_work):
    refused(cls(3, **{parameter: value}), X, rf"(Unknown )?{parameter} .*{value!r}")


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"form": "W * H"}, "Cannot read"),
        ({"n_components": (2, 2, 2)}, "n_components gives 3 numbers, but the form 'W H' has 1"),
        ({"form": 3}, "A form is text .*got 3"),
        ({"form": "X"}, "nothing to learn in the form 'X'"),
        ({"constraints": {"W": "foo"}}, "Unknown constraint 'foo'"),
        ({"constraints": {"Q": "unit"}}, "no factor 'Q' to constrain"),
        ({"constraints": "unit"}, "Constraints are given for each factor"),
        ({"constraints": {"W": "fixed"}}, r"W is fixed but has no value: pass init=\{'W': array\}"),
        ({"form": "X W W.T", "divergence": "trace"}, "approximates nothing"),
    ],
)
def test_invalid_forms(params, match, X, no_work):
    refused(MAKERS["Factorization"](**params), X, match)


# ---- starts


@pytest.mark.parametrize("value", ["foo", 3, 2.5, True], ids=repr)
@pytest.mark.parametrize("name", ITERATIVE)
def test_init(name, value, X, no_work):
    refused(MAKERS[name](init=value), X, rf"(Unknown init|init must be) .*{value!r}|Unknown init {value!r}")


SPOILT = {
    "negative": (lambda array: -array, "negative entries"),
    "not finite": (lambda array: array * np.nan, "not finite"),
    "zero": (lambda array: 0 * array, "zero everywhere"),
    "complex": (lambda array: array * 1j, "complex"),
    "text": (lambda array: array.astype(str), "not numbers"),
    "a vector": (lambda array: array[0], "must be a matrix"),
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", ITERATIVE)
def test_spoilt_factors(name, how, X, no_work):
    spoil, match = SPOILT[how]
    for factor, array in (start := given_start(name, 20, 12, 3)).items():
        refused(MAKERS[name](init=start | {factor: spoil(array)}), X, rf"init\['{factor}'\] .*{match}")


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", WITH_ARRAY_INIT)
def test_spoilt_array(name, how, X, no_work):
    spoil, match = SPOILT[how]
    array = array_start(name, given_start(name, 20, 12, 3))
    refused(MAKERS[name](init=spoil(array)), X, rf"init.* {match}")


@pytest.mark.parametrize("name", [name for name in ITERATIVE if name not in WITH_ARRAY_INIT])
def test_init_as_a_bare_array(name, X, no_work):
    refused(MAKERS[name](init=X[:3]), X, "init must be a name or a dict of factors here")


@pytest.mark.parametrize("name", ITERATIVE)
def test_factors_that_do_not_fit(name, X, no_work):
    """The message says which factor, and what it would have to be."""
    for factor, array in (start := given_start(name, 20, 12, 3)).items():
        for wrong in (array[:-1], array[:, :-1]):
            refused(MAKERS[name](init=start | {factor: wrong}), X, rf"init\['{factor}'\] has shape .*is needed here")


@pytest.mark.parametrize("name", WITH_ARRAY_INIT)
def test_an_array_that_does_not_fit(name, X, no_work):
    array = array_start(name, given_start(name, 20, 12, 3))
    for wrong in (array[:-1], array[:, :-1], array.T):
        expected = rf"init has shape {re.escape(str(wrong.shape))}, but {re.escape(str(array.shape))} is needed here"
        refused(MAKERS[name](init=wrong), X, expected)


@pytest.mark.parametrize("name", ITERATIVE)
def test_a_factor_that_is_none(name, X, no_work):
    refused(MAKERS[name](init={"Q": X}), X, "init gives a value for 'Q', which is not a factor")


@pytest.mark.parametrize("name", ITERATIVE)
def test_several_starts_from_the_same_factors(name, X, no_work):
    refused(MAKERS[name](init=given_start(name, 20, 12, 3), n_init=2), X, "init gives the factors, so n_init=2")


BAD_FIXED = {
    "negative": (-np.ones((1, 12)), "fixed_components has 12 negative entries"),
    "not finite": (np.full((1, 12), np.nan), "fixed_components has 12 entries that are not finite"),
    "zero": (np.eye(12)[:2] * [[1], [0]], r"fixed_components has rows that are zero everywhere: \[1\]"),
    "a vector": (np.ones(12), "fixed_components must be a matrix"),
    "none": (np.ones((0, 12)), "fixed_components is empty"),
    "text": ("foo", "fixed_components must be a matrix"),
}


@pytest.mark.parametrize("how", BAD_FIXED)
@pytest.mark.parametrize("cls", [NMF, PNMF, OPNMF])
def test_fixed_components(cls, how, X, no_work):
    fixed, match = BAD_FIXED[how]
    refused(cls(3, fixed_components=fixed), X, match)


@pytest.mark.parametrize("cls", [NMF, PNMF, OPNMF])
def test_fixed_components_that_do_not_fit(cls, X, no_work):
    refused(cls(3, fixed_components=np.ones((1, 11))), X, r"fixed_components has shape \(1, 11\).*12 features of X")
    refused(cls(3, fixed_components=np.ones((4, 12))), X, "fixed_components gives 4 components, more than n_components=3")


@pytest.mark.parametrize("cls", [PNMF, OPNMF])
def test_fixed_components_that_leave_none_to_learn(cls, X, no_work):
    refused(cls(3, fixed_components=np.ones((3, 12))), X, "fixed_components gives all 3 components, which leaves none to learn")


# ---- data


def with_entry(X, value):
    X = X.copy()
    X[2, 3] = value
    return X


BAD_DATA = {
    "NaN": (lambda X: with_entry(X, np.nan), "NaN"),
    "inf": (lambda X: with_entry(X, np.inf), "infinity"),
    "no samples": (lambda X: X[:0], "0 sample"),
    "no features": (lambda X: X[:, :0], "0 feature"),
    "a vector": (lambda X: X[0], "Expected 2D array, got 1D"),
    "a number": (lambda X: 3.0, "Expected 2D array, got scalar"),
    "three axes": (lambda X: X[None], "dim 3"),
    "complex": (lambda X: X * 1j, "[Cc]omplex"),
    "text": (lambda X: np.full(X.shape, "a", dtype=object), "cannot be read as a matrix of numbers: it holds text"),
}


@pytest.mark.parametrize("how", BAD_DATA)
@pytest.mark.parametrize("name", MAKERS)
def test_bad_data(name, how, X, no_work):
    spoil, match = BAD_DATA[how]
    refused(MAKERS[name](), spoil(X), match)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_errors_about_missing_data_name_remedies(value, X, no_work):
    kind = "NaN" if np.isnan(value) else "infinity"
    expected = rf"Input X contains {kind}: X has 1 entry that is not finite, .* at \(2, 3\)\. .* missing='ignore' .* fill them in"
    refused(NMF(3), with_entry(X, value), expected, DataError)


def test_nan_and_infinity_are_counted_each(X, no_work):
    spoilt = with_entry(X, np.inf)
    spoilt[[0, 4], [1, 4]] = np.nan
    refused(
        NMF(3), spoilt, r"contains NaN: X has 3 entries that are not finite \(2 NaN, 1 infinite\), the first \(nan\) at \(0, 1\)"
    )
    refused(NMF(3, missing="ignore"), spoilt, r"contains infinity: X has 1 entry that is not finite, the first \(inf\) at \(2, 3\)")
    assert np.isnan(spoilt).sum() == 2


@pytest.mark.parametrize("cls", [KernelPNMF, SymmetricNMF, TruncatedNonnegativeSVD, NMFImputer])
def test_models_without_observed_entries_say_so(cls, X, no_work):
    refused(cls(2), Observed(sparse.csr_array(X)), f"{cls.__name__} takes no Observed", DataError)


def test_sparse_data_are_not_filled_in(X, no_work):
    for estimator in (NMFImputer(2), NMFImputer(estimator=NMF(2))):
        refused(estimator, sparse.csr_array(X), "X is sparse, and filled entries are dense")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_masked_data(name, X):
    """What is under the mask is not data; a mask that hides nothing does no harm."""
    masked = np.ma.masked_array(X, mask=np.median(X) < X)
    expected = "X is a masked array with missing entries, 120 of them. .* missing='ignore'"
    refused(MAKERS[name](), masked, expected, DataError)
    estimator = quick(name).fit(np.ma.masked_array(X, mask=False))
    for method in [*METHODS[name], *(["partial_fit"] if hasattr(estimator, "partial_fit") else [])]:
        if method != "inverse_transform":
            with pytest.raises(DataError, match=expected):
                getattr(estimator, method)(masked)
    if "inverse_transform" in METHODS[name]:
        codes = estimator.transform(X)
        with pytest.raises(DataError, match="masked"):
            estimator.inverse_transform(np.ma.masked_array(codes, mask=codes >= 0))


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in PAIRWISE])
def test_negative_data(name, store, X, no_work):
    refused(MAKERS[name](), store(with_entry(X, -0.5)), r"X has 1 negative entry, the first \(-0.5\) at \(2, 3\)")


@pytest.mark.parametrize("name", PAIRWISE)
def test_negative_similarities(name, X, no_work):
    refused(MAKERS[name](), X - 1, "kernel='linear' gives negative similarities for this X")


@pytest.mark.parametrize("divergence", ["itakura-saito", "dual-i", "neyman"])
@pytest.mark.parametrize("name", [name for name in WITH_DIVERGENCE if name != "SymmetricNMF"])
def test_zeros_are_refused_if_the_divergence_is_infinite_there(name, divergence, X, no_work):
    refused(MAKERS[name](divergence=divergence), with_entry(X, 0.0), "X has 1 zero entry")


@pytest.mark.parametrize("cls", [KernelPNMF, SymmetricNMF])
def test_precomputed_similarities_are_square(cls, X, no_work):
    refused(cls(3, kernel="precomputed"), X, r"X must be square with kernel='precomputed'.*\(20, 12\)")


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_symmetric_nmf_refuses_asymmetric_kernels(store, X, no_work):
    K = X @ X.T
    K[0, 1] *= 1.01
    refused(SymmetricNMF(3), store(K), "X must be symmetric.*mean of X and its transpose")


def test_kernel_pnmf_refuses_asymmetric_kernels(X, no_work):
    K = X @ X.T
    K[0, 1] *= 1.01
    refused(KernelPNMF(3, kernel="precomputed"), K, "must be symmetric")


METHODS = {
    name: [method for method in ("transform", "inverse_transform", "score", "predict") if hasattr(make(), method)]
    for name, make in MAKERS.items()
}


def test_methods_of_each_estimator():
    """All transform; those that predict make clusters, and what has no samples to give back has neither of the others."""
    assert all("transform" in methods for methods in METHODS.values())
    assert [name for name, methods in METHODS.items() if "predict" in methods] == PREDICTING
    assert [name for name, methods in METHODS.items() if "inverse_transform" not in methods] == [
        "KernelPNMF",
        "ProjectiveClustering",
    ]
    assert [name for name, methods in METHODS.items() if "score" not in methods] == ["KernelPNMF", "TruncatedNonnegativeSVD"]


@pytest.mark.parametrize(("name", "method"), [(name, method) for name, methods in METHODS.items() for method in methods])
def test_not_fitted(name, method, X):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(MAKERS[name](), method)(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_another_number_of_features(name, X):
    estimator = quick(name).fit(X)
    for method in METHODS[name]:
        for wrong in (X[:, :-1], np.hstack([X, X])) if method != "inverse_transform" else ():
            with pytest.raises(ValueError, match=rf"X has {wrong.shape[1]} features, but .* is expecting 12 features"):
                getattr(estimator, method)(wrong)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in PAIRWISE])
def test_transform_of_bad_data(name, X):
    estimator = quick(name).fit(X)
    for wrong, match in ((with_entry(X, np.nan), "NaN"), (with_entry(X, -1.0), "negative entry"), (X[0], "Expected 2D")):
        with pytest.raises(ValueError, match=match):
            estimator.transform(wrong)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("KernelPNMF", "ProjectiveClustering")])
def test_codes_of_another_number_of_components(name, X):
    estimator = quick(name).fit(X)
    codes = np.ones((2, estimator.transform(X).shape[1] + 1))
    for wrong in (codes, codes[0]):
        with pytest.raises(ValueError, match=r"(Codes|Coordinates) must have .*got shape"):
            estimator.inverse_transform(wrong)


# ---- odd, but right


def finite(estimator):
    return all(np.isfinite(factor).all() and (factor >= 0).all() for factor in getattr(estimator, "factors_", {}).values())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", MAKERS)
def test_rows_and_columns_of_zeros_are_approximated_by_zeros(name, store, X):
    X[[1, 4]] = 0
    X[:, [2, 7]] = 0
    estimator = MAKERS[name]().fit(store(X))
    assert finite(estimator)
    codes = estimator.transform(store(X))
    assert np.isfinite(codes).all()
    assert codes.shape == (20, 3) if name != "TruncatedNonnegativeSVD" else (20, estimator.n_singular_)
    if name not in (*PAIRWISE, "ProjectiveClustering"):
        approximation = estimator.inverse_transform(codes)
        np.testing.assert_allclose(approximation[[1, 4]], 0, atol=1e-4 * X.max())
        np.testing.assert_allclose(approximation[:, [2, 7]], 0, atol=1e-3 * X.max())


@pytest.mark.parametrize("name", ["PNMF", "OPNMF", "ONMF", "NMF", "NMTF", "ONMTF", *WITH_N_CLUSTERS])
def test_features_of_zeros_do_not_make_the_fit_worse(name, rng):
    """They carry nothing: the objective is that of the data without them, to the 2 % by which local optima may differ."""
    X = rng.random((12, 6)) + 0.05
    padded = np.hstack([X, np.zeros((12, 2))])
    plain, more = (MAKERS[name](**count(name, 2)).fit(data).objective_ for data in (X, padded))
    assert more <= 1.02 * plain


@pytest.mark.parametrize("shape", [(1, 12), (20, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("name", MAKERS)
def test_one_sample_or_one_feature(name, shape, X):
    """One component suffices, and the data are met exactly, except by what has a penalty on it."""
    data = X[: shape[0], : shape[1]]
    params = count(name, 1) | ({"tol": 1e-12} if name in ITERATIVE else {})
    estimator = MAKERS[name](**params).fit(data)
    assert finite(estimator)
    assert estimator.transform(data).shape == (shape[0], 1)
    if name != "NonnegativeSparseCoding":
        assert estimator.reconstruction_err_ <= 1e-5 * np.linalg.norm(data if name not in PAIRWISE else data @ data.T)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e30, 1e-30])
@pytest.mark.parametrize(
    "name", ["NMF", "PNMF", "OPNMF", "ONMF", "NMTF", "ONMTF", "Factorization", "Factorization projective", *COCLUSTERERS]
)
def test_data_of_extreme_scale(name, scale, X):
    """What comes out has the scale of the data and is otherwise the same, to what rounding does to the last iterations."""
    params = {"tol": 1e-8} if name == "BiQNMF" else {}  # whose objective is flat along the way
    plain, scaled = MAKERS[name](**params).fit(X), MAKERS[name](**params).fit(X * scale)
    expected = plain.inverse_transform(plain.transform(X))
    actual = scaled.inverse_transform(scaled.transform(X * scale)) / scale
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)
    if name in PREDICTING:
        assert adjusted_rand_score(scaled.row_labels_, plain.row_labels_) == 1  # they may be numbered otherwise
        assert adjusted_rand_score(scaled.column_labels_, plain.column_labels_) == 1
        assert (scaled.predict(X * scale) == scaled.row_labels_).mean() >= 0.9


@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e-300, np.float64), (1e300, np.float64), (1e37, np.float32), (1e-30, np.float32)], ids=str
)
@pytest.mark.parametrize("name", ["ONMTF", "BiQNMF", "BiORNM3F"])
def test_codes_of_extreme_scale_with_another_divergence(name, scale, dtype, X):
    """What the codes give back is as near to the data as at any other scale, to what other rounding does to the path."""
    params = {"divergence": "kullback-leibler", "max_iter": 30, "init": "kmeans"}
    errors = []
    for data in (X, (X * scale).astype(dtype)):
        estimator = MAKERS[name](**params, tol=0).fit(data)
        back = np.asarray(estimator.inverse_transform(estimator.transform(data)), dtype=np.float64)
        errors.append(np.linalg.norm(back / data.max() - data / data.max()))
        assert not np.isnan([estimator.score(data), estimator.reconstruction_err_]).any()
    assert errors[1] < 1.5 * errors[0]


@pytest.mark.parametrize(("scale", "dtype"), [(1e-310, np.float64), (1e-40, np.float32)], ids=str)
@pytest.mark.parametrize("name", MAKERS)
def test_data_too_small_for_their_digits(name, scale, dtype, X, no_work):
    refused(MAKERS[name](), (X * scale).astype(dtype), "The largest entry of X is .*Multiply X", DataError)


@pytest.mark.parametrize(("scale", "what"), [(1e-200, "small"), (1e200, "large")])
@pytest.mark.parametrize("name", PAIRWISE)
def test_similarities_that_no_float_can_hold(name, scale, what, X, no_work):
    refused(MAKERS[name](), X * scale, f"='linear' gives similarities for this X that are too {what} for float64", DataError)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_singular_vectors_of_extreme_scale(scale, X):
    plain, scaled = (MAKERS["TruncatedNonnegativeSVD"]().fit(data) for data in (X, X * scale))
    assert scaled.reconstruction_err_ / scale == pytest.approx(plain.reconstruction_err_)
    np.testing.assert_allclose(np.abs(scaled.components_), np.abs(plain.components_), atol=1e-9)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e30, 1e-30])
@pytest.mark.parametrize("cls", [KernelPNMF, SymmetricNMF])
def test_similarities_of_extreme_scale(cls, scale, X):
    K = X @ X.T
    plain, scaled = (cls(3, random_state=0, kernel="precomputed").fit(data) for data in (K, K * scale))
    np.testing.assert_allclose(scaled.memberships_, plain.memberships_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_clusters_of_extreme_scale(scale, X):
    plain, scaled = MAKERS["ProjectiveClustering"]().fit(X), MAKERS["ProjectiveClustering"]().fit(X * scale)
    np.testing.assert_allclose(scaled.memberships_, plain.memberships_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(scaled.cluster_centers_ / scale, plain.cluster_centers_, rtol=1e-4)


@pytest.mark.parametrize("scale", [1e30, 1e100, 1e200])
@pytest.mark.parametrize("name", ["FONT", "FONT-ALS", "NonnegativeSparseCoding"])
def test_penalties_vanish_beside_huge_data(name, scale, X):
    """Their weight is one, whatever the scale of X; the fit is then as good as one without them."""
    estimator = MAKERS[name]().fit(X * scale)
    error = np.linalg.norm(estimator.inverse_transform(estimator.transform(X * scale)) / scale - X)
    free = MAKERS["NMF"]().fit(X)
    assert error <= 1.1 * free.reconstruction_err_


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "TruncatedNonnegativeSVD"])
def test_data_of_zeros(name, X, no_work):
    with pytest.raises(DataError, match="X is zero everywhere"):
        MAKERS[name]().fit(0 * X)


@pytest.mark.parametrize(
    "name", ["NMF", "NonnegativeSparseCoding", "PNMF", "NMTF", "FONT", "Factorization", "SymmetricNMF", *COCLUSTERERS]
)
def test_codes_of_zeros_are_zero(name, X):
    np.testing.assert_array_equal(MAKERS[name]().fit(X).transform(0 * X), 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_the_data_are_not_changed(name, X):
    before = X.copy()
    quick(name).fit(X).transform(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ITERATIVE)
def test_the_start_is_not_changed(name, X):
    start = given_start(name, 20, 12, 3)
    before = {factor: array.copy() for factor, array in start.items()}
    quick(name).set_params(init=start).fit(X)
    for factor, array in start.items():
        np.testing.assert_array_equal(array, before[factor])


@pytest.mark.parametrize("name", MAKERS)
def test_an_empty_list_is_empty(name):
    with pytest.raises(DataError, match="X is empty"):
        MAKERS[name]().fit([])


class TestCodes:
    @pytest.mark.parametrize("name", ["NMF", "TruncatedNonnegativeSVD"])
    @pytest.mark.parametrize(
        ("codes", "message"),
        [
            ([["a", "b", "c"]], "X must be codes, finite numbers"),
            ([[np.nan, 1.0, 1.0]], "X must be codes, finite numbers"),
            ([[1.0], [1.0, 2.0]], "its rows are not all of the same length"),
            ([[1.0] * 17], "Codes must have one column for each"),
        ],
    )
    def test_invalid_parameters(self, name, codes, message, X):
        with pytest.raises(ValueError, match=message):
            MAKERS[name]().fit(X).inverse_transform(codes)

    def test_more_than_their_type_can_hold(self, X):
        model = MAKERS["NMF"]().fit(X.astype(np.float32))
        with pytest.raises(DataError, match=r"more than 3\.40282e\+38, the most that float32 can hold"):
            model.transform(np.full((1, X.shape[1]), 1e100))


@pytest.mark.parametrize("X", [{}, object(), [[1.0], [1.0, 2.0]]], ids=["dict", "object", "ragged"])
def test_input_without_two_dimensions_is_named(X):
    with pytest.raises((TypeError, ValueError), match="X cannot be read as a matrix of numbers"):
        MAKERS["NMF"]().fit(X)


def test_text_is_the_path_of_a_file():
    with pytest.raises(DataError, match="'X' is no file"):
        MAKERS["NMF"]().fit("X")
    with pytest.raises(DataError, match=r"X is a list of 2 texts, as 'the cat sat .* …'\. Their words are counted first"):
        MAKERS["NMF"]().fit(["the cat sat on the mat and saw another cat that sat on another mat", "a dog"])


def test_a_graph_is_no_matrix():
    networkx = pytest.importorskip("networkx")
    for name in ("NMF", "SymmetricNMF"):
        with pytest.raises(DataError, match=r"X is a graph of networkx, and a matrix is needed: networkx\.to_scipy_sparse_array"):
            MAKERS[name]().fit(networkx.karate_club_graph())


def test_a_start_for_a_factor_that_there_is_not(X):
    with pytest.raises(IncompatibleError, match="init gives a value for 'Q', which is not a factor of 'W H'"):
        MAKERS["NMF"](init={"Q": np.ones((2, 2))}).fit(X)


@pytest.mark.parametrize("estimator", ["NonnegativeLDA", "NonnegativeKernelFDA"])
def test_discriminants_refuse_missing_values(estimator, X):
    import nonneg

    y = np.arange(len(X)) % 2
    with pytest.raises(DataError, match="X is a masked array with missing entries"):
        getattr(nonneg, estimator)().fit(np.ma.masked_greater(X, 0.9 * X.max()), y)
    with pytest.raises(DataError, match="Input X contains NaN"):
        getattr(nonneg, estimator)().fit(np.where(0.9 * X.max() < X, np.nan, X), y)


def test_a_ratio_without_bound():
    from nonneg import NonnegativeKernelFDA

    with pytest.raises(DataError, match=r"so that the ratio has no bound\. Use alpha='auto'"):
        NonnegativeKernelFDA(alpha=0).fit(np.eye(4, 2), [0, 0, 1, 1])


class TestCombinations:
    """Parameters that are fine by themselves."""

    def test_given_components_are_not_made_orthogonal(self, X):
        fixed = np.eye(12)[:1]
        with pytest.raises(IncompatibleError, match="orthogonality='exact' would change components that are given"):
            OPNMF(3, fixed_components=fixed, orthogonality="exact").fit(X)
        assert OPNMF(3, fixed_components=fixed).fit(X).orthogonality_["W"].rho <= 1

    def test_a_warm_start_after_components_that_were_given(self, X):
        model = NMF(init=np.random.default_rng(0).random((3, 12)), warm_start=True).fit(X)
        first = model.objective_
        assert model.fit(X).objective_ <= first * (1 + 1e-9)

    @pytest.mark.parametrize("init", [{"W": np.ones((20, 3))}, {"H": np.ones((3, 12)), "Q": np.ones(1)}])
    def test_disjoint_components_start_from_components(self, X, init):
        with pytest.raises(IncompatibleError, match="it is to have 'H'"):
            ONMF(3, orthogonality="exact", init=init).fit(X)

    def test_orthogonality_of_later_batches(self, X):
        model = OPNMF(3, random_state=0).partial_fit(X)
        for how in ("bogus", -0.5, 7.0):
            with pytest.raises(IncompatibleError, match="orthogonality must be one of"):
                model.set_params(orthogonality=how).partial_fit(X)

    def test_data_of_ones_own_are_checked_before_they_are_transformed(self, X):
        model = PNMF(3, random_state=0).fit(X)
        with pytest.raises(ShapeError, match="X has 5 features"):
            model.transform(read_data(np.ones((4, 5))))
        with pytest.raises(DataError, match="negative entries"):
            model.transform(read_data(-np.ones((4, 12)), signed=True))

    def test_codes_of_either_sign(self, X):
        model = Factorization("W H", n_components=3, constraints={"W": "signed"}, random_state=0).fit(X)
        np.testing.assert_allclose(model.transform(X) @ model.components_, model.factors_["W"] @ model.factors_["H"], atol=1e-5)
