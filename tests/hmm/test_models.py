"""Hidden Markov chains: the rule as printed, forwards, backwards and Viterbi by brute force, results and refusals."""

import inspect
import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import estimator_checks

import nonneg
from at_hand import at_hand
from nonneg import NNMFHMM, QNMFHMM, Model, datasets, factorize, hmm
from nonneg.exceptions import DataError, ExpressionError, IncompatibleError, ShapeError
from nonneg.hmm import pair_counts
from nonneg.hmm._chain import normalised, stationary, transitions
from nonneg.kernels.chains import expected_counts
from nonneg_papers import load_codon_pairs, load_letter_pairs

WORDS = ["banana", "panorama", "salami", "tomato", "potato", "radio", "avocado"]
BOTH = {"qnmf": QNMFHMM(2, random_state=0), "nnmf": NNMFHMM(2, max_iter=50, random_state=0)}


@pytest.fixture(scope="module")
def chain():
    return datasets.make_hidden_chain(3, 9, 20_000, overlap=0.05, random_state=1)


@pytest.fixture(scope="module")
def model(chain):
    return QNMFHMM(3, random_state=0, n_init=2).fit(chain.sequence)


def some_chain(n_states=3, n_symbols=4, seed=0):
    """A chain that was not fitted to anything."""
    rng = np.random.default_rng(seed)
    made = QNMFHMM(n_states)
    made.transmat_ = rng.dirichlet(np.ones(n_states), size=n_states)
    made.startprob_ = stationary(made.transmat_, np.ones(n_states))
    made.emissionprob_ = rng.dirichlet(np.ones(n_symbols), size=n_states)
    made.symbols_ = np.arange(n_symbols)
    return made


def probability(made, sequence, states):
    """Of a sequence and its states together, one factor after the other."""
    found = made.startprob_[states[0]]
    for t, (symbol, state) in enumerate(zip(sequence, states, strict=True)):
        found *= made.emissionprob_[state, symbol] * (made.transmat_[states[t - 1], state] if t else 1)
    return found


# ---------------------------------------------------------------- the rule


@pytest.mark.parametrize("factor", ["W", "Y"])
def test_the_papers_rule(factor):
    """QNMF Eq. 10 with the gradients of §5.3, its misprint corrected, step by step."""
    rng = np.random.default_rng(0)
    X, W, Y = rng.random((7, 7)), rng.random((7, 3)), rng.random((3, 3))
    X, W, Y = X / X.sum(), W / W.sum(axis=0), Y / Y.sum()
    if factor == "W":
        negative = X @ W @ Y.T + X.T @ W @ Y
        positive = W @ Y @ W.T @ W @ Y.T + W @ Y.T @ W.T @ W @ Y  # printed without the second Wᵀ
        up, down = (W * positive).sum(axis=0), (W * negative).sum(axis=0)
        expected, held = W * ((negative + up) / (positive + down)) ** (1 / 4), "Y"  # σ = 1/(4 − 0)
    else:
        negative, positive = W.T @ X @ W, W.T @ W @ Y @ W.T @ W
        up, down = (Y * positive).sum(), (Y * negative).sum()
        expected, held = Y * ((negative + up) / (positive + down)) ** (1 / 1), "W"  # σ = 1/(2 − 1)
    sums = expected.sum(axis=0 if factor == "W" else None)
    model = Model("W Y W.T", "euclidean", {"W": "stochastic", "Y": "stochastic-matrix"} | {held: "fixed"})
    found = factorize(X, model, init={"W": W, "Y": Y}, solver="multiplicative", max_iter=1, tol=0)
    np.testing.assert_allclose(found.factors[factor], expected / sums, rtol=1e-12)
    assert found.history[-1].violation[factor] == pytest.approx(np.abs(1 - sums).sum()), "Table 2 has that of the step"


def test_nnmf_is_alternating_least_squares_with_clipping():
    rng = np.random.default_rng(3)
    X = rng.random((6, 6)) / 18
    draws = np.random.default_rng(5)
    W, Y = 1 - draws.uniform(size=(6, 2)), 1 - draws.uniform(size=(2, 2))
    W, Y = W / W.sum(axis=0), Y / Y.sum()
    values = [0.5 * np.sum((X / X.sum() - W @ Y @ W.T) ** 2)]
    for _ in range(10):
        right = Y @ W.T
        W = np.maximum(np.linalg.solve(right @ right.T, right @ X.T / X.sum()).T, 0)
        W /= W.sum(axis=0)
        inverse = np.linalg.solve(W.T @ W, W.T)
        Y = np.maximum(inverse @ X @ inverse.T / X.sum(), 0)
        Y /= Y.sum()
        values.append(0.5 * np.sum((X / X.sum() - W @ Y @ W.T) ** 2))
    fitted = NNMFHMM(2, max_iter=10, random_state=5).fit_pairs(X)
    assert fitted.history_.objective[0] == pytest.approx(values[0])
    assert fitted.history_.objective[-1] == pytest.approx(values[-1])
    assert fitted.objective_ == pytest.approx(min(values)), "the lowest on the way"


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", "hellinger", "dual-i", nonneg.divergences.Gamma(0.5)])
def test_the_objective_never_rises(chain, divergence):
    fitted = QNMFHMM(3, divergence=divergence, n_init=1, random_state=0, max_iter=300, tol=0).fit_pairs(chain.data + 1)
    objective = fitted.history_.objective
    assert objective[-1] < objective[0]
    assert np.all(np.diff(objective) <= 1e-12 * objective[0])  # rounding of sums


def test_the_papers_protocol(chain):
    fitted = QNMFHMM(3, divergence="euclidean", solver="paper", n_init=1, max_iter=2000, tol=0, random_state=0).fit_pairs(
        chain.data
    )
    assert fitted.n_iter_ == 2000
    assert set(fitted.history_[-1].exponent.values()) == {1 / 4, 1}
    assert 0 < fitted.constraint_errors_["W"] < 1e-4


def test_it_is_the_engines_fit(chain):
    """With one start that is given, the chain is the factorization, normalised."""
    rng = np.random.default_rng(0)
    W, Y = rng.random((9, 3)), rng.random((3, 3))
    init = {"W": W / W.sum(axis=0), "Y": Y / Y.sum()}
    X = chain.data / chain.data.sum()
    expected = factorize(
        X, Model("W Y W.T", "euclidean", {"W": "stochastic", "Y": "stochastic-matrix"}), init=init, max_iter=500, tol=1e-6
    )
    fitted = QNMFHMM(3, divergence="euclidean", init=init, max_iter=500).fit_pairs(chain.data)
    # Rounding decides at which iteration each of them stops: the ends of ten rounded starts were up to 4e-6 apart.
    assert fitted.objective_ == pytest.approx(expected.objective, rel=2e-5)
    np.testing.assert_allclose(fitted.emissionprob_.T @ fitted.joint_ @ fitted.emissionprob_, expected.reconstruct(), atol=1e-5)


# ---------------------------------------------------------------- what comes out


@pytest.mark.parametrize("name", BOTH)
def test_constraints_hold_exactly(chain, name):
    fitted = clone(BOTH[name]).set_params(n_states=3).fit(chain.sequence)
    rounding = {"rtol": 0, "atol": 9 * np.finfo(float).eps}  # of nine summands
    np.testing.assert_allclose(fitted.emissionprob_.sum(axis=1), 1, **rounding)
    np.testing.assert_allclose(fitted.transmat_.sum(axis=1), 1, **rounding)
    np.testing.assert_allclose(fitted.joint_.sum(), 1, **rounding)
    np.testing.assert_allclose(fitted.startprob_.sum(), 1, **rounding)
    for array in (fitted.emissionprob_, fitted.transmat_, fitted.joint_, fitted.startprob_):
        assert array.min() >= 0
    np.testing.assert_allclose(fitted.startprob_ @ fitted.transmat_, fitted.startprob_, atol=1e-12)
    assert np.all(np.diff(fitted.startprob_) <= 0), "from the most frequent to the least"
    X = chain.data / chain.data.sum()
    if name == "nnmf":
        W, Y = fitted.emissionprob_.T, fitted.joint_
        assert fitted.objective_ == pytest.approx(0.5 * np.sum((X - W @ Y @ W.T) ** 2))


def test_the_chain_is_found(chain, model):
    """Emissions that hardly overlap: found within what 20 000 symbols allow (0.005 to 0.02 by seeds)."""
    order = [int(np.argmin(np.abs(model.emissionprob_ - row).sum(axis=1))) for row in chain.emissionprob]
    assert sorted(order) == [0, 1, 2]
    assert 0.5 * np.abs(model.emissionprob_[order] - chain.emissionprob).sum(axis=1).max() < 0.06
    assert 0.5 * np.abs(model.transmat_[np.ix_(order, order)] - chain.transmat).sum(axis=1).max() < 0.06
    owner = np.arange(9) * 3 // 9
    np.testing.assert_array_equal(np.array(order)[owner], model.symbol_groups_)


def test_separate_emissions_are_as_good_as_the_best(chain):
    apart = QNMFHMM(3, random_state=0, refine_iter=0).fit(chain.sequence)
    best = QNMFHMM(3, random_state=0, separate=False, refine_iter=0).fit(chain.sequence)
    assert apart.separated_
    assert not best.separated_
    parameters, n_pairs = 3 * 8 + 8, 19_999
    assert best.objective_ <= apart.objective_ <= best.objective_ + parameters / 2 / n_pairs

    def overlap(fitted):
        unit = fitted.emissionprob_ / np.linalg.norm(fitted.emissionprob_, axis=1, keepdims=True)
        return (unit @ unit.T).sum() - 3

    assert overlap(apart) < overlap(best)
    probabilities = QNMFHMM(3, random_state=0).fit_pairs(chain.data / chain.data.sum())
    assert not probabilities.separated_, "of how many pairs, nobody knows"
    assert not QNMFHMM(3, random_state=0).fit(chain.sequence[:400]).separated_, "too few pairs"


def test_separate_emissions_are_kept_if_sequences_tell_no_other_chain(chain):
    """By chance alone Baum–Welch gains half the number of parameters, 15."""
    disjoint = datasets.make_hidden_chain(3, 9, 20_000, random_state=1)
    kept = QNMFHMM(3, random_state=0).fit(disjoint.sequence)
    assert kept.separated_
    assert kept.score(disjoint.sequence) >= kept.log_likelihoods_[-1] - 16
    overlapping = QNMFHMM(3, random_state=0).fit(chain.sequence)
    assert not overlapping.separated_
    by_pairs = QNMFHMM(3, random_state=0, refine_iter=0).fit(chain.sequence)
    assert overlapping.score(chain.sequence) > by_pairs.score(chain.sequence) + 16


def test_overlapping_states_by_baum_welch():
    """All cycles gain, to above the likelihood of the chain that the symbols came from."""
    made = some_chain(3, 8)
    made.transmat_ = (made.transmat_ + np.eye(3)) / 2
    made.startprob_ = stationary(made.transmat_, np.ones(3))
    sequence, _ = made.sample(20_000, random_state=0)
    fitted = QNMFHMM(3, random_state=0).fit(sequence)
    assert np.all(np.diff(fitted.log_likelihoods_) >= 0)
    assert fitted.score(sequence) == pytest.approx(fitted.log_likelihoods_[-1], abs=1e-6)
    assert fitted.score(sequence) > made.score(sequence)
    assert len(QNMFHMM(3, random_state=0, refine_iter=0).fit(sequence).log_likelihoods_) == 0
    assert len(QNMFHMM(3, random_state=0, divergence="euclidean", n_init=1).fit(sequence).log_likelihoods_) == 0
    assert len(QNMFHMM(3, random_state=0, refine_iter=14).fit(sequence).log_likelihoods_) <= 3, "nine starts and two cycles at most"


def test_expected_counts_are_sums_of_posteriors():
    """Across the ends of blocks of 1024 symbols and of sequences; pairs of states by brute force on short sequences."""
    made = some_chain()
    lengths = [2, 1024, 1025, 3000, 6]
    sequence, _ = made.sample(sum(lengths), random_state=0)
    offsets = np.append(0, np.cumsum(lengths))
    first, pairs, emitted = np.empty(3), np.empty((3, 3)), np.empty((4, 3))
    chances = made.startprob_, made.transmat_, made._emissions()
    assert expected_counts(sequence, offsets, *chances, first, pairs, emitted) == pytest.approx(made.score(sequence, lengths))
    posterior = made.predict_proba(sequence, lengths)
    np.testing.assert_allclose(first, posterior[offsets[:-1]].sum(axis=0))
    np.testing.assert_allclose(emitted, np.eye(4)[sequence].T @ posterior)
    np.testing.assert_allclose(pairs.sum(axis=1), posterior.sum(axis=0) - posterior[offsets[1:] - 1].sum(axis=0))
    np.testing.assert_allclose(pairs.sum(axis=0), posterior.sum(axis=0) - posterior[offsets[:-1]].sum(axis=0))

    short, expected = sequence[:5], np.zeros((3, 3))
    for states in product(range(3), repeat=5):
        np.add.at(expected, (states[:-1], states[1:]), probability(made, short, states))
    expected_counts(short, np.array([0, 5]), *chances, first, pairs, emitted)
    np.testing.assert_allclose(pairs, expected / np.exp(made.score(short)))
    made.emissionprob_[:, 0] = 0
    assert expected_counts(np.array([1, 0]), np.array([0, 2]), *chances[:2], made._emissions(), first, pairs, emitted) == -np.inf


def test_fits_of_counts_end_at_gains_below_chance(chain):
    settings = {"n_init": 1, "separate": False, "random_state": 0, "tol": 1e-3}
    counts = QNMFHMM(6, **settings).fit_pairs(chain.data)
    shares = QNMFHMM(6, **settings).fit_pairs(chain.data / chain.data.sum())
    assert counts.n_iter_ < shares.n_iter_, "of shares, nobody knows what is chance"
    by_chance = np.count_nonzero(chain.data) / 2 / chain.data.sum()
    assert counts.objective_ < by_chance, "three states too many"
    assert counts.objective_ - shares.objective_ < 0.1 * by_chance


def test_vowels_and_consonants():
    fitted = QNMFHMM(2, random_state=0).fit(WORDS)
    groups = [{str(s) for s in fitted.symbols_[fitted.symbol_groups_ == k]} for k in range(2)]
    assert set("aio") in groups


def test_same_seed_same_result(chain):
    for given in (QNMFHMM(3, random_state=3, n_init=2), NNMFHMM(3, random_state=3, max_iter=20)):
        one, two = clone(given).fit(chain.sequence), clone(given).fit(chain.sequence)
        np.testing.assert_array_equal(one.emissionprob_, two.emissionprob_)
        np.testing.assert_array_equal(one.sample(20)[0], two.sample(20)[0])
    parallel = QNMFHMM(3, random_state=3, n_init=2, n_jobs=2).fit(chain.sequence)
    np.testing.assert_array_equal(parallel.objectives_, QNMFHMM(3, random_state=3, n_init=2).fit(chain.sequence).objectives_)


def test_the_best_start_is_kept(chain):
    fitted = QNMFHMM(3, random_state=0, n_init=4, separate=False, init="random", max_iter=40, tol=0).fit_pairs(chain.data)
    assert len(fitted.objectives_) == 4
    assert np.ptp(fitted.objectives_) > 0
    assert fitted.objective_ == pytest.approx(fitted.objectives_.min(), rel=1e-9)


def test_symbols_that_do_not_occur():
    C = np.zeros((4, 4))
    C[np.ix_([0, 2, 3], [0, 2, 3])] = [[5, 1, 2], [1, 6, 1], [2, 2, 9]]
    fitted = QNMFHMM(2, random_state=0).fit_pairs(C, symbols="abcd")
    assert fitted.symbols_.tolist() == list("abcd")
    np.testing.assert_array_equal(fitted.emissionprob_[:, 1], 0)
    assert fitted.symbol_groups_[1] == -1
    assert fitted.score("aab") == -np.inf
    assert np.isfinite(fitted.score("aad"))
    with pytest.raises(DataError, match="Sequence 1 has probability zero"):
        fitted.predict(["aa", "ab", "ad"])
    with pytest.raises(DataError, match="Sequence 1 has probability zero"):
        fitted.predict_proba(["aa", "ab", "ad"])


def test_one_state_is_the_frequencies():
    fitted = QNMFHMM(1, random_state=0).fit("abab" * 10)
    np.testing.assert_allclose(fitted.emissionprob_, [[0.5, 0.5]], atol=0.02)  # the first and last symbols have one neighbour
    np.testing.assert_array_equal(fitted.transmat_, [[1.0]])


def test_many_symbols_stay_sparse():
    """Beyond 2048 symbols counts are sparse: pairs of neighbours on a ring of 3000."""
    rng = np.random.default_rng(0)
    sequence = np.cumsum(rng.integers(1, 3, 20_000)) % 3000
    counts, symbols = pair_counts(sequence)
    assert sparse.issparse(counts)
    assert counts.sum() == 19_999
    assert len(symbols) == 3000
    fitted = QNMFHMM(3, n_init=2, max_iter=20, tol=0, separate=False, random_state=0, refine_iter=0).fit(sequence)
    np.testing.assert_allclose(fitted.emissionprob_.sum(axis=1), 1)
    again = QNMFHMM(3, n_init=2, max_iter=20, tol=0, separate=False, random_state=0).fit_pairs(counts, symbols)
    np.testing.assert_array_equal(fitted.emissionprob_, again.emissionprob_)


# ---------------------------------------------------------------- the stationary distribution


def test_stationary_is_the_left_eigenvector():
    P = np.random.default_rng(0).dirichlet(np.ones(5), size=5)
    values, vectors = np.linalg.eig(P.T)
    expected = vectors[:, np.argmin(np.abs(values - 1))].real
    np.testing.assert_allclose(stationary(P, np.ones(5)), expected / expected.sum(), rtol=1e-12)


def test_stationary_of_chains_that_are_not_ergodic():
    np.testing.assert_allclose(stationary(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.9, 0.1])), 0.5)  # periodic
    apart = np.kron(np.eye(2), np.full((2, 2), 0.5))
    np.testing.assert_allclose(stationary(apart, np.array([0.3, 0.1, 0.4, 0.2])), [0.2, 0.2, 0.3, 0.3])  # in two parts
    sink = np.array([[1 - 1e-9, 1e-9], [0.0, 1.0]])
    np.testing.assert_allclose(stationary(sink, np.array([1.0, 0.0])), [0, 1], atol=1e-6)


def test_normalising_leaves_the_product():
    rng = np.random.default_rng(0)
    W, Y = rng.random((5, 2)), rng.random((2, 2))
    V, Z = normalised(W, Y)
    before, after = W @ Y @ W.T, V @ Z @ V.T
    np.testing.assert_allclose(after, before / before.sum())
    np.testing.assert_allclose(transitions(np.array([[0.2, 0.6], [0.0, 0.0]])), [[0.25, 0.75], [0.5, 0.5]])


# ---------------------------------------------------------------- likelihoods and paths


@pytest.mark.parametrize("seed", range(3))
def test_forward_and_viterbi_by_brute_force(seed):
    made = some_chain(seed=seed)
    sequence = np.random.default_rng(seed).integers(0, 4, 6)
    paths = {states: probability(made, sequence, states) for states in product(range(3), repeat=6)}
    assert made.score(sequence) == pytest.approx(np.log(sum(paths.values())))
    best = max(paths, key=paths.get)
    log_prob, states = made.decode(sequence)
    assert log_prob == pytest.approx(np.log(paths[best]))
    assert tuple(states) == best
    np.testing.assert_array_equal(made.predict(sequence), states)
    posterior = np.zeros((6, 3))
    for states, chance in paths.items():
        posterior[np.arange(6), states] += chance
    np.testing.assert_allclose(made.predict_proba(sequence), posterior / sum(paths.values()), rtol=1e-10)


def test_zeros_by_brute_force():
    """Impossible transitions and emissions are −∞ in Viterbi, 0 forwards, and neither NaN."""
    made = some_chain()
    made.transmat_ = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    made.startprob_ = np.full(3, 1 / 3)
    made.emissionprob_ = np.array([[1.0, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]])
    sequence = [0, 2, 2, 0, 1, 3]
    assert made.score(sequence) == pytest.approx(np.log(1 / 3 * 0.5**4))
    assert made.predict(sequence).tolist() == [0, 1, 2, 0, 1, 2]
    np.testing.assert_allclose(made.predict_proba(sequence), np.eye(3)[[0, 1, 2, 0, 1, 2]])
    assert made.score([0, 0]) == -np.inf


def test_nothing_underflows():
    """A long sequence has a probability of 10^−30000 or so; entropy says what its logarithm is about."""
    made = some_chain()
    sequence, states = made.sample(50_000, random_state=0)
    per_symbol = made.score(sequence) / 50_000
    assert -np.log(4) < per_symbol < -0.5
    assert made.decode(sequence)[0] < made.score(sequence)
    assert made.decode(sequence)[0] >= np.log([probability(made, sequence[:5], states[:5])]).item() * 50_000
    np.testing.assert_allclose(made.predict_proba(sequence).sum(axis=1), 1)


def test_sequences_are_independent(model, chain):
    parts = [chain.sequence[:7], chain.sequence[7:8], chain.sequence[8:40]]
    lengths = [7, 1, 32]
    column = chain.sequence[:40, None]
    assert model.score(parts) == pytest.approx(sum(model.score(part) for part in parts))
    assert model.score(column, lengths) == pytest.approx(model.score(parts))
    np.testing.assert_allclose(model.score_sequences(parts), [model.score(part) for part in parts])
    together, one_by_one = model.predict(parts), [model.predict(part) for part in parts]
    assert isinstance(together, list)
    for a, b in zip(together, one_by_one, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(model.predict(column, lengths), np.concatenate(one_by_one))
    assert [p.shape for p in model.predict_proba(parts)] == [(7, 3), (1, 3), (32, 3)]


def test_a_sequence_of_one_symbol_has_a_likelihood(model):
    symbol = model.symbols_[2]
    assert model.score([symbol]) == pytest.approx(np.log(model.startprob_ @ model.emissionprob_[:, 2]))
    assert model.predict([symbol]).tolist() == [np.argmax(model.startprob_ * model.emissionprob_[:, 2])]


# ---------------------------------------------------------------- samples


def test_samples_have_the_statistics_of_the_chain():
    made = some_chain(seed=4)
    n = 200_000
    sequence, states = made.sample(n, random_state=0)
    assert sequence.shape == states.shape == (n,)
    noise = 5 / np.sqrt(n / 10)  # five standard deviations of a share, of states that make up a tenth or more
    np.testing.assert_allclose(np.bincount(states) / n, made.startprob_, atol=noise)
    for k in range(3):
        assert np.mean(states == k) > 0.1
        np.testing.assert_allclose(
            np.bincount(sequence[states == k], minlength=4) / np.sum(states == k), made.emissionprob_[k], atol=noise
        )
        following = states[1:][states[:-1] == k]
        np.testing.assert_allclose(np.bincount(following, minlength=3) / len(following), made.transmat_[k], atol=noise)
    np.testing.assert_array_equal(sequence, made.sample(n, random_state=0)[0])


def test_samples_are_of_the_symbols():
    fitted = QNMFHMM(2, random_state=0).fit(WORDS)
    sequence, _ = fitted.sample(30, random_state=np.random.default_rng(0))
    assert set(sequence) <= set("".join(WORDS))
    with pytest.raises(IncompatibleError, match="n_samples must be an int of at least 1; got 0"):
        fitted.sample(0)


# ---------------------------------------------------------------- what goes in

SAME = {
    "one array": lambda s: np.array(s),
    "a column": lambda s: np.array(s)[:, None],
    "a list": list,
    "a tuple": tuple,
    "integral floats": lambda s: np.array(s, dtype=float),
    "a list of one array": lambda s: [np.array(s)],
    "a list of one list": lambda s: [list(s)],
    "small ints": lambda s: np.array(s, dtype=np.int8),
    "objects": lambda s: np.array(s, dtype=object),
    "an array of lists": lambda s: _objects([list(s)]),
    "a nested column": lambda s: [[x] for x in s],
    "a column of tuples": lambda s: tuple((x,) for x in s),
    "a column of arrays": lambda s: [np.array([x]) for x in s],
    "a generator": iter,
}


def _objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@pytest.mark.parametrize("way", SAME)
def test_ways_to_give_a_sequence(way):
    sequence = [3, 1, 1, 7, 3, 3, 1, 7]
    counts, symbols = pair_counts(SAME[way](sequence))
    assert symbols.tolist() == [1, 3, 7]
    np.testing.assert_array_equal(counts, [[1, 0, 2], [2, 1, 0], [0, 1, 0]])


def test_ways_to_give_several():
    expected = pair_counts(["abc", "ba"])[0]
    for X, lengths in (
        ([list("abc"), list("ba")], None),
        ([np.array(list("abc")), np.array(list("ba"))], None),
        (["a", "b", "c", "b", "a"], [3, 2]),
        (np.array(list("abcba"))[:, None], [3, 2]),
        ([["a"], ["b"], ["c"], ["b"], ["a"]], [3, 2]),
        ("abcba", [3, 2]),
        (iter(["abc", "ba"]), None),
    ):
        counts, symbols = pair_counts(X, lengths)
        np.testing.assert_array_equal(counts, expected)
        assert symbols.tolist() == ["a", "b", "c"]
    assert expected.tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]


LISTS = {"list": list, "tuple": tuple, "generator": iter}


def arrays():
    """Strings in all kinds of arrays that can hold them."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    return {
        "array": np.array,
        "variable-width array": lambda words: np.array(words, dtype=np.dtypes.StringDType()),
        "objects": _objects,
        "Series": pandas.Series,
        "Series of objects": lambda words: pandas.Series(words, dtype=object),
        "Series of categories": lambda words: pandas.Series(words, dtype="category"),
        "Index": pandas.Index,
        "polars": polars.Series,
        "polars categories": lambda words: polars.Series(words, dtype=polars.Categorical),
    }


def test_strings_in_a_list_are_sequences():
    expected = pair_counts(WORDS)
    assert set(expected[1]) <= set("".join(WORDS))
    fitted = QNMFHMM(2, random_state=0, n_init=1).fit(WORDS)
    for name, to in LISTS.items():
        counts, symbols = pair_counts(to(WORDS))
        np.testing.assert_array_equal(symbols, expected[1], err_msg=name)
        np.testing.assert_array_equal(counts, expected[0], err_msg=name)
        assert fitted.score(to(WORDS)) == fitted.score(WORDS), name
        assert isinstance(fitted.predict(to(WORDS)), list), name


@pytest.mark.parametrize("words", [WORDS, list("banana"), ["a", "is", "b"]], ids=["words", "letters", "short words"])
def test_an_array_is_one_sequence_whoever_made_it(words):
    expected = pair_counts([words])
    assert set(expected[1]) <= set(words)
    for name, to in arrays().items():
        counts, symbols = pair_counts(to(words))
        np.testing.assert_array_equal(symbols, expected[1], err_msg=name)
        np.testing.assert_array_equal(counts, expected[0], err_msg=name)


def test_names_of_files_are_no_sequences(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.zeros((3, 2)))
    for name in ("words.txt", "abba", "a", "b"):
        (tmp_path / name).write_text("abba")
    data = nonneg.open_data("X.npy")
    for where in ("X.npy", tmp_path / "X.npy", ["X.npy", "words.txt"], "words.txt", "abba", "Y.npy", data):
        with pytest.raises(DataError, match=r"in a file|the name of a file, .*Read them first"):
            QNMFHMM(2).fit(where)
    for symbols in (
        list("abba" * 5),
        "abba" * 5,
        ["abba" * 5, "abab" * 5],
    ):  # "a" and "b" are symbols, though files have these names
        QNMFHMM(2, random_state=0).fit(symbols)


def test_one_sequence_of_longer_strings():
    """In a list, as a column, or with lengths; and once they are known to be the symbols, side by side too."""
    pandas = pytest.importorskip("pandas")
    codons = ["ATG", "CCC", "ATG", "GGG", "CCC", "ATG"]
    expected, symbols = pair_counts([codons])
    assert symbols.tolist() == ["ATG", "CCC", "GGG"]
    ways = [[x] for x in codons], np.array(codons)[:, None], pandas.DataFrame({"codon": codons}), [np.array(codons)]
    for X, lengths in [*((way, None) for way in ways), (codons, [6]), (pandas.Series(codons), [6])]:
        counts, found = pair_counts(X, lengths)
        np.testing.assert_array_equal(counts, expected)
        assert found.tolist() == symbols.tolist()
    fitted = QNMFHMM(2, random_state=0, n_init=1).fit([codons])
    drawn, _ = fitted.sample(30, random_state=0)
    assert fitted.score(drawn) == fitted.score([drawn]) == fitted.score(drawn.tolist()) == fitted.score(pandas.Series(drawn))
    assert fitted.predict(drawn).shape == (30,)


def test_symbols_are_any_ints_or_strings():
    assert pair_counts([-5, 10**12, -5])[1].tolist() == [-5, 10**12]
    assert pair_counts([["ATG", "CCC", "ATG"]])[1].tolist() == ["ATG", "CCC"]
    assert pair_counts("αβα𝄞")[1].tolist() == ["α", "β", "𝄞"]
    assert pair_counts([True, False, True])[1].tolist() == [0, 1]
    assert pair_counts(["ab", "c"])[1].tolist() == ["a", "b"], "c has no neighbour"


def test_a_data_frame_names_the_symbols():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[3, 1], [1, 2]], index=list("xy"), columns=list("xy"))
    assert QNMFHMM(2, random_state=0, n_init=1).fit_pairs(frame).symbols_.tolist() == ["x", "y"]
    assert pair_counts(pandas.Series([1, 2, 1]))[1].tolist() == [1, 2]


BAD_SEQUENCES = {
    "an empty list": ([], DataError, "X is empty"),
    "an empty array": (np.array([], dtype=int), DataError, "X is empty"),
    "an empty string": ("", DataError, "Sequence 0 of X is empty"),
    "an empty sequence": ([[0, 1], []], DataError, "Sequence 1 of X is empty"),
    "length 1": ((np.array([0]),), DataError, "No symbol in X has a neighbour: the sequence has length 1"),
    "a missing word": (_objects(["ab", None]), DataError, "X has None in it; symbols are ints or strings"),
    "one symbol": (np.array([4]), DataError, "the sequence has length 1"),
    "ints and strings": ([0, 1, "a"], DataError, "mixes types: .* Symbols are all ints or all strings"),
    "ints and strings, nested": ([[0, 1], ["a", "b"]], DataError, "mixes types"),
    "arrays of both": (
        [np.array([0, 1]), np.array(["a", "b"])],
        DataError,
        "sequence 0 has ints for symbols, and sequence 1 strings",
    ),
    "strings and lists": (["ab", [0, 1]], DataError, "mixes strings and other sequences"),
    "symbols and lists": ([0, [0, 1]], DataError, "mixes symbols and sequences"),
    "NaN": (np.array([0.0, np.nan, 1.0]), DataError, "NaN or infinity in it, at position 1"),
    "NaN in a list": ([0, float("nan"), 1], DataError, "NaN or infinity"),
    "measurements": (np.array([0.5, 1.0]), DataError, "has 0.5 in it; symbols are ints or strings"),
    "None": ([0, None, 1], DataError, "has None in it; symbols are ints or strings"),
    "complex": (np.array([1j, 2]), DataError, "symbols of type complex"),
    "features": (np.ones((5, 2)), ShapeError, r"its shape is \(5, 2\).* fit_pairs"),
    "sparse": (sparse.eye_array(3), DataError, "For counts of pairs use fit_pairs"),
    "a number": (5, DataError, "X must be sequences of symbols; got 5"),
}


@pytest.mark.parametrize("case", BAD_SEQUENCES)
@pytest.mark.parametrize("name", BOTH)
def test_bad_sequences(case, name):
    X, error, message = BAD_SEQUENCES[case]
    with pytest.raises(error, match=message):
        clone(BOTH[name]).fit(X)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [([2, 2], "add up to 4, and X has 5"), ([5, 0], "at least 1"), ([2.5, 2.5], "must be ints"), ([], "must be ints")],
)
def test_bad_lengths(lengths, message):
    with pytest.raises(ShapeError, match=message):
        QNMFHMM(2).fit([0, 1, 0, 1, 1], lengths)


BAD_PAIRS = {
    "negative": ([[1, -2], [3, 4]], DataError, "negative entries, the least of them -2"),
    "negative, sparse": (sparse.csr_array([[1.0, -2], [3, 4]]), DataError, "negative entries"),
    "NaN": ([[1, np.nan], [3, 4]], DataError, "NaN or infinity"),
    "not square": (np.ones((2, 3)), ShapeError, r"must be square.*\(2, 3\)"),
    "zero": (np.zeros((3, 3)), DataError, "zero everywhere"),
    "empty": (np.zeros((0, 0)), ShapeError, "must be square"),
    "words": (["ab", "ba"], DataError, "For sequences use fit"),
    "too few symbols": ([[2.0]], ShapeError, "n_states=2: 1 symbols occur in pairs"),
    "too few that occur": (np.diag([2.0, 0, 0]), ShapeError, "Use at most 1"),
}


@pytest.mark.parametrize("case", BAD_PAIRS)
@pytest.mark.parametrize("name", BOTH)
def test_bad_pairs(case, name):
    C, error, message = BAD_PAIRS[case]
    with pytest.raises(error, match=message):
        clone(BOTH[name]).fit_pairs(C)


@pytest.mark.parametrize("symbols", ["a", "aa", [1, 2, 3], [1, "b"], 5])
def test_bad_symbols(symbols):
    with pytest.raises((ShapeError, DataError)):
        QNMFHMM(2).fit_pairs([[1, 2], [3, 4]], symbols=symbols)


def test_symbols_never_seen(model):
    with pytest.raises(DataError, match=r"a symbol that the chain was not fitted to: 77. It knows 9 symbols"):
        model.score([0, 77])
    with pytest.raises(DataError, match="X has strings for symbols, and the chain was fitted to ints"):
        model.predict("abc")
    for method in (model.decode, model.predict_proba, model.score_sequences):
        with pytest.raises(DataError, match="not fitted to: 20, 21, 22, 23, 24, …"):
            method(np.arange(20, 30))


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_states": 0}, IncompatibleError),
        ({"n_states": 2.0}, IncompatibleError),
        ({"n_states": True}, IncompatibleError),
        ({"n_init": 0}, IncompatibleError),
        ({"max_iter": 0}, IncompatibleError),
        ({"tol": -1}, IncompatibleError),
        ({"tol": None}, IncompatibleError),
        ({"divergence": "trace"}, ExpressionError),
        ({"divergence": "euclid"}, IncompatibleError),
        ({"solver": "sgd"}, IncompatibleError),
        ({"init": "kmeans++"}, IncompatibleError),
        ({"init": {"W": np.ones((3, 2))}}, ShapeError),
        ({"random_state": -1}, IncompatibleError),
        ({"separate": "x"}, IncompatibleError),
        ({"separate": None}, IncompatibleError),
        ({"refine_iter": -1}, IncompatibleError),
        ({"refine_iter": True}, IncompatibleError),
        ({"n_jobs": "two"}, IncompatibleError),
        ({"n_jobs": 0}, IncompatibleError),
        ({"solver": 5}, IncompatibleError),
        ({"init": 5}, IncompatibleError),
        ({"init": {"W": np.ones((3, 2)), "H": 1}}, ShapeError),
        ({"divergence": None}, IncompatibleError),
        ({"max_iter": "x"}, IncompatibleError),
        ({"random_state": "x"}, IncompatibleError),
        ({"n_states": 100}, ShapeError),
    ],
)
def test_bad_parameters(parameters, error):
    with pytest.raises(error, match="trace" if "trace" in parameters.values() else next(iter(parameters))):
        QNMFHMM(**({"n_states": 2} | parameters)).fit(WORDS)


@pytest.mark.parametrize("parameters", [{"separate": "x"}, {"init": 5}, {"solver": 5}, {"n_jobs": 0}, {"random_state": "x"}])
def test_parameters_are_read_before_the_data(parameters):
    (name,) = parameters
    with pytest.raises(IncompatibleError, match=name):
        QNMFHMM(**parameters).fit(object())


def test_a_fit_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="QNMFHMM: Stopped at max_iter"):
        QNMFHMM(2, max_iter=3, random_state=0).fit(WORDS)


# ---------------------------------------------------------------- scikit-learn

CHECKS = [
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_mixin_order",
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", BOTH)
def test_estimator_checks_that_apply(name, check):
    """Those about parameters and tags; all others give matrices of samples and features."""
    getattr(estimator_checks, check)(type(BOTH[name]).__name__, clone(BOTH[name]))


@pytest.mark.parametrize("name", BOTH)
def test_as_an_estimator(name):
    unfitted = clone(BOTH[name])
    for method in ("predict", "score", "decode", "predict_proba", "score_sequences"):
        with pytest.raises(NotFittedError):
            getattr(unfitted, method)(WORDS)
    with pytest.raises(NotFittedError):
        unfitted.sample()
    parameters = unfitted.get_params()
    fitted = unfitted.fit(WORDS)
    assert fitted is unfitted
    assert fitted.get_params() == parameters, "fitting leaves parameters alone"
    again = pickle.loads(pickle.dumps(fitted))
    assert again.score(WORDS) == fitted.score(WORDS)
    words = list(WORDS)
    fitted.fit(words)
    assert words == WORDS
    C = np.array([[3.0, 1], [1, 2]])
    kept = C.copy()
    fitted.fit_pairs(C)
    np.testing.assert_array_equal(C, kept)
    listed = inspect.getdoc(type(fitted)).split("Attributes\n")[1].split("Notes\n")[0]
    for attribute in (a for a in vars(fitted) if a.endswith("_")):
        assert attribute in listed


def test_names():
    assert nonneg.QNMFHMM is hmm.QNMFHMM
    assert set(hmm.__all__) == {"NNMFHMM", "QNMFHMM", "pair_counts"}


# ---------------------------------------------------------------- data


def test_made_chains():
    made = datasets.make_hidden_chain(3, 10, 5000, overlap=0.2, stay=0.5, random_state=2)
    for rows in (made.emissionprob, made.transmat, made.startprob):
        np.testing.assert_allclose(rows.sum(axis=-1), 1)
        assert rows.min() >= 0
    assert made.emissionprob.min() >= 0.2 / 10
    assert np.diag(made.transmat).min() >= 0.5
    np.testing.assert_allclose(made.startprob @ made.transmat, made.startprob)
    np.testing.assert_allclose(made.pairs.sum(), 1)
    np.testing.assert_array_equal(made.data, pair_counts(made.sequence)[0])
    assert 0.5 * np.abs(made.data / 4999 - made.pairs).sum() < 0.1
    np.testing.assert_array_equal(
        made.sequence, datasets.make_hidden_chain(3, 10, 5000, overlap=0.2, stay=0.5, random_state=2).sequence
    )
    disjoint = datasets.make_hidden_chain(4, 10, 100)
    assert ((disjoint.emissionprob > 0).sum(axis=0) == 1).all()


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"n_states": 0}, IncompatibleError),
        ({"n_samples": 1}, IncompatibleError),
        ({"overlap": 1.5}, IncompatibleError),
        ({"stay": float("nan")}, IncompatibleError),
        ({"n_states": 5, "n_symbols": 4}, ShapeError),
    ],
)
def test_made_chains_that_cannot_be(parameters, error):
    with pytest.raises(error):
        datasets.make_hidden_chain(**parameters)


def letter_pairs():
    at_hand("words/corncob/corncob_lowercase.txt")
    return load_letter_pairs()


def test_letter_pairs():
    bunch = letter_pairs()
    assert bunch.data.shape == (26, 26)
    assert len(bunch.sequences) == len(set(bunch.sequences)) == 58_109
    assert bunch.data.sum() == sum(map(len, bunch.sequences)) - 58_109 == 426_468
    counts, symbols = pair_counts(bunch.sequences)
    np.testing.assert_array_equal(counts, bunch.data)
    assert symbols.tolist() == bunch.symbols.tolist()
    assert bunch.data[symbols == "q"].argmax() == np.flatnonzero(symbols == "u")
    assert "Licence: " in bunch.DESCR


def test_codon_pairs():
    at_hand("genes/human_codon_pairs/Coleman_CPS.csv")
    bunch = load_codon_pairs()
    stops = np.isin(bunch.symbols, ["TAA", "TAG", "TGA"])
    assert bunch.data.shape == (64, 64)
    assert stops.sum() == 3
    assert not bunch.data[stops].any()
    assert not bunch.data[:, stops].any()
    assert (bunch.data[np.ix_(~stops, ~stops)] > 0).all()
    assert (bunch.data.sum(), bunch.data.max()) == (7_506_037, 21_731)
    place = {str(codon): i for i, codon in enumerate(bunch.symbols)}
    assert bunch.data[place["GCG"], place["GCG"]] == 2870  # the first line of the file
    assert "Licence: " in bunch.DESCR


@pytest.mark.parametrize("seed", range(2))
def test_letters_better_than_the_rival(seed):
    """QNMF Fig. 5, in short: lower than NNMF-HMM, with constraint errors below 1e-4 before they are normalised away."""
    X = letter_pairs().data
    ours = QNMFHMM(6, divergence="euclidean", n_init=1, random_state=seed).fit_pairs(X)
    theirs = NNMFHMM(6, max_iter=300, random_state=seed).fit_pairs(X)
    assert ours.objective_ < 0.6 * theirs.objective_
    assert max(ours.constraint_errors_.values()) < 1e-4
