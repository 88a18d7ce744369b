"""Starts, resumption and ends of fits; orthogonality, fixed components and divergences."""

import re
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from nonneg import factorize
from nonneg.divergences import Alpha, Beta, DualI, Gamma, Renyi
from nonneg.estimators import NMF, ONMF, OPNMF, PNMF, Orthogonality
from nonneg.metrics import orthogonality, orthogonality_error
from nonneg.solve.initialization import NAMES as INITIALIZATIONS

from .cases import (
    ITERATIVE,
    MAKERS,
    ORTHOGONAL,
    PAIRWISE,
    WITH_ARRAY_INIT,
    array_start,
    data_of,
    given_start,
    half_squares,
    unconverged,
)

pytestmark = pytest.mark.wide(one_in=8)


STARTS = ["auto", *INITIALIZATIONS]


@pytest.mark.parametrize("scales", [(1, 1, 1, 1), (1, 10, 100, 1000), (1e-3, 1, 1, 1)], ids=str)
def test_orthogonal_components_of_unequal_blocks_are_found(scales):
    """Clusters of features lose those that are small beside others; where `OPNMF` ends they are not lost."""
    generator, labels = np.random.default_rng(1), np.repeat(np.arange(4), [3, 7, 11, 19])
    H = np.zeros((4, 40))
    H[labels, np.arange(40)] = generator.random(40) + 0.1
    X = generator.gamma(1, size=(50, 4)) * scales @ H
    model = ONMF(4, random_state=0).fit(X)
    assert model.status_ == "converged"
    assert adjusted_rand_score(labels, model.components_.argmax(axis=0)) == 1
    turned = factorize(X.T, "W H", 4, constraints={"W": "orthogonal"}, max_iter=3000, random_state=0)
    assert adjusted_rand_score(labels, turned.factors["W"].argmax(axis=1)) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_of_codes_that_are_orthogonal_are_no_groups():
    """W Wᵀ = I of X ≈ W H says nothing about groups of samples; nor is a start to leave its constraint (found by the fuzzer)."""
    X = np.random.default_rng(45).gamma(0.3, size=(2, 2)) + 1e-9
    for form, name, constraint in (("W H", "W", "orthogonal-rows"), ("W R.T", "R", "orthogonal")):
        solution = factorize(X, form, 2, constraints={name: constraint}, max_iter=30, random_state=0)
        assert np.linalg.norm(solution.factors[name], 2) == pytest.approx(1, rel=1e-12)


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_seeds(name, X):
    def components(seed):
        return MAKERS[name](init="random", max_iter=3, random_state=seed).fit(X).components_

    np.testing.assert_array_equal(components(0), components(0))
    assert not np.allclose(components(0), components(1))
    np.testing.assert_array_equal(components(np.random.default_rng(7)), components(np.random.default_rng(7)))
    np.testing.assert_array_equal(components(np.random.RandomState(7)), components(np.random.RandomState(7)))


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_the_best_of_several_starts(name, X):
    params = {"init": "random", "max_iter": 5}
    one, many = MAKERS[name](**params).fit(X), MAKERS[name](n_init=4, **params).fit(X)
    assert many.objectives_.shape == (4,)
    assert many.objective_ == many.objectives_.min()
    assert many.objectives_[0] == one.objective_
    assert len(set(many.objectives_)) == 4
    side_by_side = MAKERS[name](n_init=4, n_jobs=2, **params).fit(X)
    np.testing.assert_allclose(side_by_side.objectives_, many.objectives_, rtol=1e-9)
    np.testing.assert_allclose(side_by_side.components_, many.components_, rtol=1e-7)


@unconverged
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", ITERATIVE)
def test_every_start(name, start, X):
    """From wherever, a fit explains most of the data, except what clusters of samples cannot: mixtures."""
    estimator = MAKERS[name](init=start).fit(X)
    data = data_of(estimator, X)
    whole = np.trace(data) / 2 if name == "KernelPNMF" else half_squares(data)
    assert estimator.objective_ < 0.25 * whole
    assert all(np.isfinite(factor).all() for factor in estimator.factors_.values())


@pytest.mark.parametrize("name", WITH_ARRAY_INIT)
def test_an_array_starts_a_factor(name, X):
    start = given_start(name, 20, 12, 3)
    estimator = MAKERS[name](init=array_start(name, start), max_iter=0, tol=0).fit(X)
    factor = WITH_ARRAY_INIT[name].removesuffix(".T")
    expected = start[factor]
    if name == "NonnegativeSparseCoding":
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(estimator.factors_[factor], expected, rtol=1e-12)


@pytest.mark.parametrize("which", [[0], [0, 1], [0, 1, 2, 3]], ids=["an entry", "two", "a part"])
@pytest.mark.parametrize("name", ["NMF", "PNMF", "OPNMF", "ONMF"])
def test_zeros_in_a_start_come_back(name, which, X):
    """The first part is four features; a start that lacks some of them ends where one that has them does."""
    complete = np.kron(np.eye(3), np.ones(4)) + 0.1
    lacking = complete.copy()
    lacking[0, which] = 0
    factor = WITH_ARRAY_INIT[name].removesuffix(".T")

    def fitted(components):
        start = given_start(name, 20, 12, 3) | {factor: components if factor == "H" else components.T}
        return MAKERS[name](init=start).fit(X)

    plain, back = fitted(complete), fitted(lacking)
    # Both are fits to a relative error of two in a thousand, which is where `tol` lets them stop.
    assert back.objective_ < 1.1 * plain.objective_
    shares, wanted = (fit.components_ / fit.components_.max(axis=1, keepdims=True) for fit in (back, plain))
    assert shares[:, which].max(axis=0) == pytest.approx(wanted[:, which].max(axis=0), rel=0.5)


@pytest.mark.parametrize("name", ["NMF", "PNMF", "OPNMF", "ONMF"])
def test_zeros_of_nndsvd_come_back(name, X):
    from_zeros = MAKERS[name](init="nndsvd").fit(X)
    assert from_zeros.objective_ < 1.05 * MAKERS[name](init="random", n_init=3).fit(X).objective_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["OPNMF", "ONMF", "ONMTF"])
def test_the_default_is_no_worse_than_the_printed_rule(name, seed):
    """From the same start, and not at the penalty of orthogonality: worse in both respects is no optimum of anything."""
    X = np.random.default_rng(seed).random((12, 8)) + 0.05
    start = given_start(name, 12, 8, 2)
    default, printed = (MAKERS[name](n_components=2, init=start, solver=solver).fit(X) for solver in ("auto", "paper"))
    worse = default.objective_ > 1.01 * printed.objective_
    less = all(default.orthogonality_[f].rho < printed.orthogonality_[f].rho - 0.01 for f in default.orthogonality_)
    assert not (worse and less)


@unconverged
@pytest.mark.parametrize("name", ITERATIVE)
def test_warm_start_goes_on(name, X):
    estimator = MAKERS[name](max_iter=10, warm_start=True, tol=1e-9).fit(X)
    first = estimator.objective_
    estimator.fit(X)
    assert estimator.history_.objective[0] == pytest.approx(first, rel=1e-9)
    # The printed rule of ONMF is no descent: ten steps more may end a little above where W was fitted to H.
    assert estimator.objective_ <= first * (1.01 if name == "ONMF" else 1)  # the search may have left nothing to be gained
    cold = clone(estimator).set_params(warm_start=False).fit(X)
    assert cold.objective_ == pytest.approx(first, rel=1e-9)


@unconverged
@pytest.mark.parametrize("name", [name for name in ITERATIVE if name not in PAIRWISE])
def test_warm_start_with_other_samples(name, X):
    """What does not depend on the number of samples is kept; what does starts anew."""
    estimator = MAKERS[name](max_iter=10, warm_start=True, tol=1e-9).fit(X)
    kept = {factor: value for factor, value in estimator.factors_.items() if 20 not in value.shape}
    estimator.set_params(max_iter=0).fit(X[:9])
    for factor, value in kept.items():
        np.testing.assert_allclose(estimator.factors_[factor], value, rtol=1e-9, atol=1e-2 * value.mean())  # but for zeros
    assert estimator.transform(X).shape == (20, 3)


@unconverged
@pytest.mark.parametrize("name", ["NMF", "PNMF"])
@pytest.mark.parametrize("change", ["n_components", "features"])
def test_warm_start_starts_anew_with_other_sizes(name, change, X):
    estimator = MAKERS[name](max_iter=10, warm_start=True).fit(X)
    estimator.set_params(n_components=2) if change == "n_components" else None
    data = X if change == "n_components" else X[:, :8]
    expected = MAKERS[name](max_iter=10, n_components=estimator.n_components).fit(data)
    np.testing.assert_allclose(estimator.fit(data).components_, expected.components_)


@pytest.mark.parametrize("name", ITERATIVE)
def test_progress_is_printed_if_asked_for(name, X, capsys):
    MAKERS[name](tol=0, max_iter=2).fit(X)
    assert capsys.readouterr().out == ""
    MAKERS[name](tol=0, max_iter=2, verbose=1, n_init=2, init="random").fit(X)
    printed = capsys.readouterr().out
    assert "start 1 of 2" in printed
    assert "start 2 of 2" in printed
    assert "objective" in printed


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ITERATIVE)
def test_every_line_says_which_start_it_is_about_and_the_last_how_it_ended(name, n_jobs, X, capsys):
    estimator = MAKERS[name](tol=0, max_iter=3, verbose=1, n_init=3, n_jobs=n_jobs).fit(X)
    *lines, last = capsys.readouterr().out.splitlines()
    assert last.startswith(f"{type(estimator).__name__}  {estimator.status_.sentence} Objective")
    starts = [re.match(r"start ([123]) of 3  ", line) for line in lines]
    assert all(starts)
    assert {start[1] for start in starts} == {"1", "2", "3"}
    assert sum("max_iter after 3 iterations, objective" in line for line in lines) == 3


@unconverged
@pytest.mark.parametrize("name", ["PNMF", "NMTF", "BiQNMF", "KernelPNMF"])
def test_seconds_and_lines_count_from_the_beginning_of_the_fit(name, X, capsys, monkeypatch):
    """Every start is made to take a tenth of a second: all of them count, also those that are not gone on from."""
    from nonneg.solve.starts.base import Start
    from nonneg.solve.strategy import SEARCH

    made = []

    def slow(make):
        def start(*args):
            made.append(time.sleep(0.1))
            return make(*args)

        return start

    for kind in Start.__subclasses__():
        monkeypatch.setattr(kind, "make", slow(kind.make))
    before = time.perf_counter()
    estimator = MAKERS[name](max_iter=300, verbose=1).fit(X)
    whole = time.perf_counter() - before
    seconds = estimator.history_.seconds
    assert made
    assert 0.1 * len(made) <= seconds[0] <= seconds[-1] <= whole
    assert np.all(np.diff(seconds) >= 0)
    printed = capsys.readouterr().out
    searches = re.findall(r"searched for a start, (\S+) s", printed)
    assert len(searches) == (estimator._auto_init == SEARCH)
    assert float(re.search(r"^ +0 +(\S+)", printed, re.MULTILINE)[1]) == pytest.approx(
        seconds[0], abs=0.01
    )  # printed to two places
    assert seconds[-1] - 0.01 <= float(re.search(r", (\S+) s$", printed.strip())[1]) <= whole + 0.01


@pytest.mark.parametrize("name", ITERATIVE)
def test_convergence_warning(name, X):
    estimator = MAKERS[name](max_iter=2)
    with pytest.warns(ConvergenceWarning, match=f"{type(estimator).__name__}: Stopped at max_iter"):
        estimator.fit(X)
    assert estimator.status_ == "max_iter"
    assert estimator.set_params(tol=0).fit(X).n_iter_ == 2  # and no warning, which would be an error here


def largest_of_rows(W):
    kept = np.zeros_like(W)
    rows = np.arange(len(W))
    kept[rows, W.argmax(axis=1)] = W[rows, W.argmax(axis=1)]
    return kept / np.linalg.norm(kept, axis=0)


def closest_orthogonal(W):
    values, vectors = np.linalg.eigh(W.T @ W)
    return np.maximum(W @ vectors @ np.diag(values**-0.5) @ vectors.T, 0)


PROCESSES = {"rows": largest_of_rows, "polar": closest_orthogonal}
AXES = {"OPNMF": {"W": 0}, "ONMF": {"H": 1}, **{name: {"W": 0, "H": 1} for name in ("ONMTF", "FONT", "FONT-ALS")}}
"""The orthogonal factors, and whether their columns (0) or rows (1) are."""


@pytest.mark.parametrize("how", ["soft", "rows", "polar"])
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_orthogonality_is_measured(name, how, X):
    estimator = MAKERS[name](orthogonality=how).fit(X)
    assert set(estimator.orthogonality_) == set(AXES[name])
    for factor, axis in AXES[name].items():
        W = estimator.factors_[factor] if axis == 0 else estimator.factors_[factor].T
        assert estimator.orthogonality_[factor] == Orthogonality(orthogonality(W), orthogonality_error(W))


@pytest.mark.parametrize("name", ORTHOGONAL)
def test_orthogonal_rows_do_not_overlap(name, X):
    estimator = MAKERS[name](orthogonality="rows").fit(X)
    for factor, axis in AXES[name].items():
        W = estimator.factors_[factor] if axis == 0 else estimator.factors_[factor].T
        assert np.all(np.count_nonzero(W, axis=1) == 1)
        np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1, rtol=1e-12)
        assert estimator.orthogonality_[factor] == pytest.approx((1, 0), abs=1e-12)


@pytest.mark.parametrize("how", PROCESSES)
@pytest.mark.parametrize("name", ORTHOGONAL)
def test_hardening_is_that_of_the_paper_and_the_rest_is_fitted_again(name, how, X):
    """ONL §2.4. Where there is no other factor, "polar" leaves the scale to be fitted: PNMF Eq. 21."""
    soft, hard = (MAKERS[name](orthogonality=orthogonality).fit(X) for orthogonality in ("soft", how))
    factors = dict(soft.factors_)
    for factor, axis in AXES[name].items():
        W = factors[factor] if axis == 0 else factors[factor].T
        W = PROCESSES[how](W)
        if name == "OPNMF" and how == "polar":
            W = W * np.sqrt(np.trace(W.T @ X.T @ X @ W) / np.trace(W.T @ W @ W.T @ X.T @ X @ W))
        factors[factor] = W if axis == 0 else W.T
        np.testing.assert_allclose(hard.factors_[factor], factors[factor], rtol=1e-6, atol=1e-9)
    if name == "OPNMF":
        assert hard.objective_ == pytest.approx(half_squares(X - X @ factors["W"] @ factors["W"].T), rel=1e-6)
    else:
        before, after = (f["W"] @ f.get("S", np.eye(3)) @ f["H"] for f in (factors, hard.factors_))
        assert half_squares(X - after) <= half_squares(X - before) * (1 + 1e-9)
        assert hard.reconstruction_err_ == pytest.approx(np.linalg.norm(X - after), rel=1e-5)


def test_components_that_vanish_are_warned_of():
    """Three components for one part: two of them are nowhere the largest."""
    X = np.outer(np.arange(1, 9), np.ones(6))
    start = {"W": np.array([1.0, 0.6, 0.3]) * np.ones((6, 3))}
    with pytest.warns(UserWarning, match="orthogonality='rows' leaves 2 of the 3 components of W empty"):
        OPNMF(3, init=start, orthogonality="rows", max_iter=1, tol=0).fit(X)


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
@pytest.mark.parametrize("cls", [NMF, PNMF, OPNMF])
def test_fixed_components_stay(cls, divergence, X, rng):
    fixed = rng.uniform(0, 0.3, (2, 12))
    estimator = cls(4, divergence=divergence, fixed_components=fixed, init="random", random_state=0).fit(X)
    np.testing.assert_array_equal(estimator.components_[:2], fixed)
    assert estimator.components_.shape == (4, 12)
    steps = np.diff(estimator.history_.objective)
    if cls is not OPNMF:
        assert steps.max() <= 1e-10 * estimator.history_.objective[0]
    assert estimator.objective_ < 0.9 * estimator.history_.objective[0]


@pytest.mark.parametrize("name", ["NMF", "PNMF"])
def test_components_fixed_at_the_solution_change_nothing(name, X):
    free = MAKERS[name]().fit(X)
    again = MAKERS[name](fixed_components=free.components_[:2]).fit(X)
    assert again.objective_ < 1.05 * free.objective_


@pytest.mark.parametrize(
    "divergence",
    [Alpha(0.5), Alpha(2), Alpha(-1), Beta(0), Beta(0.5), Beta(1), Beta(2), Beta(3), Gamma(0.5), Renyi(2), DualI()],
    ids=str,
)
@pytest.mark.parametrize("cls", [PNMF, OPNMF])
@unconverged
def test_every_divergence_falls(cls, divergence, X):
    estimator = cls(3, divergence=divergence, init="random", random_state=0, max_iter=200).fit(X)
    objective = estimator.history_.objective
    assert np.isfinite(objective).all()
    assert objective[-1] < 0.5 * objective[0]
    if cls is PNMF:
        assert np.diff(objective).max() <= 1e-10 * objective[0]
    assert all(np.isfinite(factor).all() for factor in estimator.factors_.values())
    assert np.isfinite(estimator.score(X))
    assert estimator.score(X) <= 1e-12


def test_fewer_components_than_asked_for_is_never_the_answer(X):
    for name in ("PNMF", "OPNMF", "ONMF"):
        assert (MAKERS[name]().fit(X).components_.max(axis=1) > 1e-3).all(), name


def test_onmf_error_is_below_that_of_opnmf(X):
    """Codes are free in the one and projections in the other."""
    assert ONMF(3, random_state=0).fit(X).objective_ <= OPNMF(3, random_state=0).fit(X).objective_ * (1 + 1e-2)


def test_of_several_starts_the_one_that_is_best_early_is_gone_on_from(X):
    """The default of PNMF takes short runs from several starts: it begins lower than any of them alone."""
    several = PNMF(3, random_state=0).fit(X)
    alone = [PNMF(3, init=init, random_state=0).fit(X).history_.objective[0] for init in ("angular", "kmeans", "random")]
    assert several.history_.objective[0] < min(alone)


@pytest.mark.parametrize("cls", [NMF, OPNMF])
def test_the_reported_objective_is_right_beside_a_dominating_entry(cls, X):
    """A difference of sums would have no digit left: the error is added up entry by entry."""
    X = X.copy()
    X[3, 5] = 1e12
    estimator = cls(3, random_state=0).fit(X)
    product = (
        estimator.factors_["W"] @ estimator.factors_["H"] if cls is NMF else X @ estimator.factors_["W"] @ estimator.factors_["W"].T
    )
    assert estimator.reconstruction_err_ == pytest.approx(np.linalg.norm(X - product), rel=1e-4)
    rebuilt = estimator.inverse_transform(estimator.transform(X))
    assert estimator.score(X) == pytest.approx(-half_squares(X - rebuilt) / len(X), rel=1e-4)


@pytest.mark.parametrize("name", ["OPNMF", "ONMF"])
class TestExactlyOrthogonal:
    def factor(self, estimator):
        return estimator.factors_["W"] if "H" not in estimator.factors_ else estimator.factors_["H"].T

    def test_each_feature_is_in_one_component(self, name, X):
        estimator = MAKERS[name](orthogonality="exact").fit(X)
        W = self.factor(estimator)
        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-12)
        assert np.all(np.count_nonzero(W, axis=1) == 1)
        np.testing.assert_allclose(estimator.transform(X), X @ W, rtol=1e-5, atol=1e-8)
        assert estimator.reconstruction_err_ == pytest.approx(np.linalg.norm(X - X @ W @ W.T), rel=1e-6)
        assert estimator.objective_ == pytest.approx(half_squares(X - X @ W @ W.T), rel=1e-6)

    def test_it_costs_less_than_rows(self, name, X):
        exact, rows = (MAKERS[name](orthogonality=how).fit(X).reconstruction_err_ for how in ("exact", "rows"))
        assert exact <= rows

    def test_numbers_lie_between(self, name):
        X = np.random.default_rng(0).random((60, 3)) @ (
            np.kron(np.eye(3), np.ones(4)) + 0.4 * np.random.default_rng(1).random((3, 12))
        )
        X = X + 0.1 * np.random.default_rng(2).random((60, 12))
        fits = [MAKERS[name](orthogonality=degree).fit(X) for degree in (0.1, 0.3, 0.5, 0.8, 1.0)]
        rho = [next(iter(fit.orthogonality_.values())).error for fit in fits]
        assert np.all(np.diff(rho) <= 1e-6)
        assert rho[-1] < 1e-12 < rho[0]
        assert fits[-1].reconstruction_err_ >= fits[0].reconstruction_err_
        zero, soft = (OPNMF(3, orthogonality=degree, random_state=0).fit(X).components_ for degree in (0, "soft"))
        np.testing.assert_array_equal(zero, soft)

    @pytest.mark.parametrize("scale", [1e-170, 1e170])
    def test_extreme_scales(self, name, scale, X):
        plain, extreme = (self.factor(MAKERS[name](orthogonality="exact").fit(data)) for data in (X, X * scale))
        np.testing.assert_allclose(plain @ plain.T, extreme @ extreme.T, atol=1e-6)

    @unconverged
    def test_other_solvers_and_starts(self, name, X):
        start = np.random.default_rng(0).random((3, X.shape[1]))
        for settings in (
            {"solver": "multiplicative"},
            {"init": start},
            {"n_init": 3},
            {"init": {"H": start}} if name == "ONMF" else {},
        ):
            W = self.factor(MAKERS[name](orthogonality="exact", **settings).fit(X))
            np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-12)

    def test_sparse_and_single(self, name, X):
        estimator = MAKERS[name](orthogonality="exact").fit(sparse.csr_array(X.astype(np.float32)))
        W = self.factor(estimator)
        assert W.dtype == np.float32
        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-6)


@pytest.mark.parametrize(
    "sizes", [[(4, 4, 1.0), (4, 4, 10.0)], [(1, 1, 1.0), (2, 30, 1.0), (20, 3, 1.0)], [(7, 8, 11.0), (9, 11, 55.6)]]
)
def test_orthogonal_factors_of_exact_blocks_fit_them(sizes):
    """With exponent 1 the lengths of H may go round in a cycle; W is fitted to what is returned."""
    from scipy.linalg import block_diag

    X = block_diag(*[np.full((rows, columns), value) for rows, columns, value in sizes])
    model = MAKERS["ONMF"](n_components=len(sizes)).fit(X)
    assert model.reconstruction_err_ <= 1e-3 * np.linalg.norm(X)


@pytest.mark.parametrize("init", ["auto", "random"])
@pytest.mark.parametrize("divergence", ["kullback-leibler", "itakura-saito", Alpha(0.5)])
def test_orthogonal_components_of_any_divergence(divergence, init):
    """The rule of other divergences than the Euclidean one does not lead to orthogonal components, nor to blocks with zeros."""
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 6)
    parts = np.eye(4)[labels].T * generator.uniform(0.5, 1.5, 24)
    apart = np.kron(np.eye(4), generator.random((10, 1)) + 0.2) @ parts
    mixed = generator.gamma(1.0, 1.0, (40, 4)) @ parts
    for X in (mixed,) if divergence == "itakura-saito" else (apart, mixed):
        model = ONMF(4, divergence=divergence, init=init, random_state=0).fit(X)
        assert model.orthogonality_["H"].error < 0.02
        assert model.objective_ < 2e-3 * X.sum()
        assert np.linalg.norm(X - model.inverse_transform(model.transform(X))) < 0.05 * np.linalg.norm(X)
        assert adjusted_rand_score(labels, model.components_.argmax(axis=0)) == 1


def test_components_of_other_divergences_are_about_as_orthogonal_as_euclidean_ones():
    generator = np.random.default_rng(0)
    parts = np.eye(5)[np.repeat(np.arange(5), 8)].T + 0.5 * (generator.random((5, 40)) < 0.2)
    X = generator.gamma(1.0, 1.0, (100, 5)) @ parts + 0.2 * generator.random((100, 40))
    error = ONMF(5, random_state=0).fit(X).orthogonality_["H"].error
    for divergence in ("kullback-leibler", "itakura-saito"):
        model = ONMF(5, divergence=divergence, n_init=2, random_state=0).fit(X)
        assert model.orthogonality_["H"].error < 1.5 * error + 0.06
        assert model.objectives_.shape == (2,)
        assert model.objective_ == pytest.approx(model.objectives_.min())
        assert model.objective_ == pytest.approx(-100 * model.score(X), rel=1e-3)
