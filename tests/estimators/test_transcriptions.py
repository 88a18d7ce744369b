"""Every estimator against its printed rule, written out with dense matrices from METHODS §2 in the orientation of the estimator.

A transcription is a function of X and the factors, which it moves by one iteration, in order of appearance in the form.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition
from sklearn.base import clone

from nonneg.estimators import (
    FONT,
    NMF,
    NMTF,
    ONMF,
    ONMTF,
    OPNMF,
    PNMF,
    BiORNM3F,
    BiQNMF,
    Factorization,
    KernelPNMF,
    NonnegativeSparseCoding,
    ProjectiveClustering,
    SymmetricNMF,
    TruncatedNonnegativeSVD,
)

from .cases import parts

N, M, R, L = 12, 9, 3, 2
ALPHA = 0.3


def positive(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).uniform(0.1, 1.0, shape)


X = positive(N, M) * (np.add.outer(np.arange(N), 2 * np.arange(M)) % 4 > 0)  # a quarter of the entries are zero
POSITIVE = positive(N, M, seed=1)
AFFINITY = X @ X.T / 10
KERNEL = np.exp(-((X[:, None] - X[None, :]) ** 2).sum(axis=-1))
CODES, BASIS, CENTRE = positive(N, R), positive(R, M), positive(R, L)
FEATURES, SAMPLES = positive(M, R), positive(N, R)


def spectral(W):
    return W / np.linalg.norm(W, 2)


def unit_rows(H):
    return H / np.linalg.norm(H, axis=1, keepdims=True)


def unit_columns(W):
    return W / np.linalg.norm(W, axis=0)


def nmf_euclidean(X, W, H):
    W = W * (X @ H.T) / (W @ H @ H.T)
    return {"W": W, "H": H * (W.T @ X) / (W.T @ W @ H)}


def nmf_divergence(X, W, H):
    """PNMF 6 and 7: the basis first, its sums one."""
    H = H * (W.T @ (X / (W @ H)))
    H = H / H.sum(axis=1, keepdims=True)
    return {"W": W * ((X / (W @ H)) @ H.T), "H": H}


def nmf_itakura_saito(X, W, H):
    """β = −1 of QNMF, q = 1: the exponent is 1/2."""
    W = W * (((X / (W @ H) ** 2) @ H.T) / ((1 / (W @ H)) @ H.T)) ** 0.5
    return {"W": W, "H": H * ((W.T @ (X / (W @ H) ** 2)) / (W.T @ (1 / (W @ H)))) ** 0.5}


def nnsc(X, W, H):
    """Hoyer's rule for the codes; for the basis, that of Eggert and Körner, which respects its lengths."""
    W = W * (X @ H.T) / (W @ H @ H.T + ALPHA)
    up, down = W.T @ W @ H, W.T @ X
    lengths_up, lengths_down = (np.diag(np.diag(part @ H.T)) for part in (up, down))
    return {"W": W, "H": unit_rows(H * (down + lengths_up @ H) / (up + lengths_down @ H))}


def projective_ratio(K, W):
    return 2 * (K @ W) / (W @ W.T @ K @ W + K @ W @ W.T @ W)


def projective_scale(K, W):
    return W * np.sqrt(np.trace(W.T @ K @ W) / np.trace(W.T @ W @ W.T @ K @ W))


def pnmf_euclidean(X, W):
    """PNMF 20 and 21."""
    K = X.T @ X
    return {"W": projective_scale(K, W * projective_ratio(K, W))}


def pnmf_monotone(X, W):
    """QNMF §5.1."""
    return {"W": W * projective_ratio(X.T @ X, W) ** (1 / 3)}


def pnmf_parts(V, W):
    """B and C of ONL 34 and 35, V = Xᵀ."""
    Z = V / (W @ W.T @ V)
    B = Z @ V.T @ W + V @ Z.T @ W
    C = np.outer(np.ones(len(W)), (W.T @ V).sum(axis=1)) + np.outer(V.sum(axis=1), W.sum(axis=0))
    return B, C


def pnmf_divergence(X, W):
    """PNMF 29 and 30."""
    B, C = pnmf_parts(X.T, W)
    W = W * B / C
    return {"W": W * np.sqrt(X.sum() / (X @ W @ W.T).sum())}


def pnmf_divergence_monotone(X, W):
    """QNMF Eq. 9 with the exponent of β = 0, q = 2."""
    B, C = pnmf_parts(X.T, W)
    return {"W": W * (B / C) ** 0.5}


def opnmf_euclidean(X, W):
    """ONL 31, as the codes run it."""
    K = X.T @ X
    return {"W": spectral(np.maximum(W * (K @ W) / (W @ W.T @ K @ W), 1e-16))}


def opnmf_divergence(X, W):
    """ONL 35."""
    B, C = pnmf_parts(X.T, W)
    return {"W": spectral(np.maximum(W * (B + W @ W.T @ C) / (C + W @ W.T @ B), 1e-16))}


def onmf(X, W, H):
    """ONL 28, transposed."""
    W = W * (X @ H.T) / (W @ H @ H.T)
    return {"W": W, "H": spectral(H * (W.T @ X) / (W.T @ X @ H.T @ H))}


def symmetric_nmf(X, W):
    return {"W": W * ((X @ W) / (W @ W.T @ W)) ** 0.25}


def nmtf_euclidean(X, W, S, H):
    W = W * (X @ H.T @ S.T) / (W @ S @ H @ H.T @ S.T)
    S = S * (W.T @ X @ H.T) / (W.T @ W @ S @ H @ H.T)
    return {"W": W, "S": S, "H": H * (S.T @ W.T @ X) / (S.T @ W.T @ W @ S @ H)}


def nmtf_divergence(X, W, S, H):
    ones = np.ones_like(X)
    W = W * ((X / (W @ S @ H)) @ H.T @ S.T) / (ones @ H.T @ S.T)
    S = S * (W.T @ (X / (W @ S @ H)) @ H.T) / (W.T @ ones @ H.T)
    return {"W": W, "S": S, "H": H * (S.T @ W.T @ (X / (W @ S @ H))) / (S.T @ W.T @ ones)}


def onmtf(X, W, S, H):
    """FONT 11, 7 and 12."""
    W = spectral(W * (X @ H.T @ S.T) / (W @ W.T @ X @ H.T @ S.T))
    S = S * (W.T @ X @ H.T) / (W.T @ W @ S @ H @ H.T)
    return {"W": W, "S": S, "H": spectral(H * (S.T @ W.T @ X) / (S.T @ W.T @ X @ H.T @ H))}


def font(X, W, S, H):
    """FONT 16, 7 and 17."""
    W = unit_columns(W * (X @ H.T @ S.T + W) / (W @ S @ H @ H.T @ S.T))
    S = S * (W.T @ X @ H.T) / (W.T @ W @ S @ H @ H.T)
    return {"W": W, "S": S, "H": unit_rows(H * (S.T @ W.T @ X + H) / (S.T @ W.T @ W @ S @ H))}


def font_als(X, W, S, H):
    """FONT 16, 7 and 21, the latter for the factor of the features, which is the paper's Wᵀ."""
    W = unit_columns(W * (X @ H.T @ S.T + W) / (W @ S @ H @ H.T @ S.T))
    S = S * (W.T @ X @ H.T) / (W.T @ W @ S @ H @ H.T)
    H = np.linalg.solve(H @ H.T + S.T @ W.T @ W @ S, H + S.T @ W.T @ X)
    return {"W": W, "S": S, "H": unit_rows(np.maximum(H, 0))}


def biornm3f(X, L, S, R):
    """Ding et al. 2006, with ½ as the exponent of all three."""
    L = spectral(L * ((X @ R @ S.T) / (L @ L.T @ X @ R @ S.T)) ** 0.5)
    S = S * ((L.T @ X @ R) / (L.T @ L @ S @ R.T @ R)) ** 0.5
    return {"L": L, "S": S, "R": spectral(R * ((X.T @ L @ S) / (R @ R.T @ X.T @ L @ S)) ** 0.5)}


def biornm3f_divergence(X, L, S, R):
    """QNMF Theorem 3 with ½: (∇⁻ + L Lᵀ∇⁺)/(∇⁺ + L Lᵀ∇⁻)."""

    def moved(F, down, up):
        return spectral(F * ((down + F @ F.T @ up) / (up + F @ F.T @ down)) ** 0.5)

    ones = np.ones_like(X)
    L = moved(L, (X / (L @ S @ R.T)) @ R @ S.T, ones @ R @ S.T)
    S = S * ((L.T @ (X / (L @ S @ R.T)) @ R) / (L.T @ ones @ R)) ** 0.5
    return {"L": L, "S": S, "R": moved(R, (X / (L @ S @ R.T)).T @ L @ S, ones.T @ L @ S)}


def biqnmf(exponent, up, down):
    """QNMF Eq. 9 for L Lᵀ X R Rᵀ, P and Q being up and down of X and X̂.

    The exponent is ⅓ where kernel PNMF's is, §5.1: X R RᵀXᵀ and XᵀL LᵀX are positive semi-definite.
    """

    def half(X, Xhat, F, A):
        parts = [G(X, Xhat) @ A.T @ F + A @ G(X, Xhat).T @ F for G in (down, up)]
        return F * (parts[0] / parts[1]) ** exponent

    def rule(X, L, R):
        A = X @ R @ R.T
        L = half(X, L @ L.T @ A, L, A)
        A = X.T @ L @ L.T
        return {"L": L, "R": half(X.T, R @ R.T @ A, R, A)}

    return rule


def kernel_pnmf(X, W):
    """QNMF §5.1, X being the kernel."""
    return {"W": W * projective_ratio(X, W) ** (1 / 3)}


def clustering_euclidean(X, W):
    """PNMF 20 and 21 for the samples."""
    K = X @ X.T
    return {"W": projective_scale(K, W * projective_ratio(K, W))}


def clustering_divergence(X, W):
    """PNMF 29 and 30 for the samples."""
    B, C = pnmf_parts(X, W)
    W = W * B / C
    return {"W": W * np.sqrt(X.sum() / (W @ W.T @ X).sum())}


def w_s_w(X, W, S):
    """QNMF Eq. 9 for W S Wᵀ, Euclidean: exponent 1/4 for W, which occurs twice, and 1 for S."""

    def part(G):
        return G @ W @ S.T + G.T @ W @ S

    W = W * (part(X) / part(W @ S @ W.T)) ** 0.25
    return {"W": W, "S": S * (W.T @ X @ W) / (W.T @ W @ S @ W.T @ W)}


def stochastic(X, W, H):
    """QNMF Eq. 10 for the columns of W in W H, I-divergence: σ = 1, and then sums of one."""
    up, down = np.ones_like(X) @ H.T, (X / (W @ H)) @ H.T
    W = W * (down + (up * W).sum(axis=0)) / (up + (down * W).sum(axis=0))
    W = W / W.sum(axis=0)
    return {"W": W, "H": H * (W.T @ (X / (W @ H))) / W.sum(axis=0)[:, None]}


PAPER = {"solver": "paper"}
MULTIPLICATIVE = {"solver": "multiplicative"}
KL = {"divergence": "kullback-leibler"}
W_H = {"W": CODES, "H": BASIS}
W_S_H = {"W": CODES, "S": CENTRE, "H": positive(L, M)}
L_S_R = {"L": SAMPLES, "S": CENTRE, "R": positive(M, L)}
L_R = {"L": SAMPLES / 5, "R": positive(M, L) / 5}
PROJECTION = {"W": FEATURES}

RULES = {
    "NMF": (NMF(R, **PAPER), X, W_H, nmf_euclidean),
    "NMF multiplicative": (NMF(R, **MULTIPLICATIVE), X, W_H, nmf_euclidean),
    "NMF I-divergence": (NMF(R, **KL, **PAPER), X, W_H, nmf_divergence),
    "NMF Itakura-Saito": (NMF(R, divergence="itakura-saito", **PAPER), POSITIVE, W_H, nmf_itakura_saito),
    "NNSC": (NonnegativeSparseCoding(R, alpha=ALPHA, **PAPER), X, {"W": CODES, "H": unit_rows(BASIS)}, nnsc),
    "PNMF": (PNMF(R, **PAPER), X, PROJECTION, pnmf_euclidean),
    "PNMF multiplicative": (PNMF(R, **MULTIPLICATIVE), X, PROJECTION, pnmf_monotone),
    "PNMF I-divergence": (PNMF(R, **KL, **PAPER), X, PROJECTION, pnmf_divergence),
    "PNMF I-divergence multiplicative": (PNMF(R, **KL, **MULTIPLICATIVE), X, PROJECTION, pnmf_divergence_monotone),
    "OPNMF": (OPNMF(R, **PAPER), X, PROJECTION, opnmf_euclidean),
    "OPNMF I-divergence": (OPNMF(R, **KL, **PAPER), X, PROJECTION, opnmf_divergence),
    "ONMF": (ONMF(R, **PAPER), X, W_H, onmf),
    "SymmetricNMF": (SymmetricNMF(R, **PAPER), AFFINITY, {"W": SAMPLES}, symmetric_nmf),
    "NMTF": (NMTF((R, L), **PAPER), X, W_S_H, nmtf_euclidean),
    "NMTF I-divergence": (NMTF((R, L), **KL, **PAPER), X, W_S_H, nmtf_divergence),
    "ONMTF": (ONMTF((R, L), **PAPER), X, W_S_H, onmtf),
    "FONT": (FONT((R, L), **PAPER), X, W_S_H | {"W": unit_columns(CODES), "H": unit_rows(W_S_H["H"])}, font),
    "FONT-ALS": (FONT((R, L), solver="als"), X, W_S_H | {"W": unit_columns(CODES), "H": unit_rows(W_S_H["H"])}, font_als),
    "BiORNM3F": (BiORNM3F((R, L), **PAPER), X, L_S_R, biornm3f),
    "BiORNM3F I-divergence": (BiORNM3F((R, L), **KL, **PAPER), X, L_S_R, biornm3f_divergence),
    "BiQNMF": (BiQNMF((R, L), **PAPER), X, L_R, biqnmf(0.5, lambda X, Y: np.ones_like(X), lambda X, Y: X / Y)),
    "BiQNMF Euclidean": (BiQNMF((R, L), divergence="euclidean", **PAPER), X, L_R, biqnmf(1 / 3, lambda X, Y: Y, lambda X, Y: X)),
    "KernelPNMF": (KernelPNMF(R, kernel="precomputed", **PAPER), KERNEL, {"W": SAMPLES}, kernel_pnmf),
    "ProjectiveClustering": (ProjectiveClustering(R, **PAPER), X, {"W": SAMPLES}, clustering_euclidean),
    "ProjectiveClustering I-divergence": (ProjectiveClustering(R, **KL, **PAPER), X, {"W": SAMPLES}, clustering_divergence),
    "Factorization W S W.T": (Factorization("W S W.T", R, **PAPER), AFFINITY, {"W": SAMPLES, "S": positive(R, R)}, w_s_w),
    "Factorization stochastic": (
        Factorization("W H", R, **KL, constraints={"W": "stochastic-columns"}, **PAPER),
        X,
        {"W": CODES / CODES.sum(axis=0), "H": BASIS},
        stochastic,
    ),
}


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("sweeps", [1, 5, 50])
@pytest.mark.parametrize("name", RULES)
def test_printed_rule(name, sweeps, store):
    estimator, data, expected, rule = RULES[name]
    estimator = clone(estimator).set_params(init=expected, tol=0, max_iter=sweeps).fit(store(data))
    for _ in range(sweeps):
        expected = rule(data, **expected)
    assert estimator.n_iter_ == sweeps
    assert set(estimator.factors_) == set(expected)
    model = estimator.model_
    if set(expected) == {"W", "H"} and all(name in model.learned and model.constraints[name].is_free for name in "WH"):
        lengths = np.linalg.norm(expected["H"], axis=1)  # what a product W H leaves open: components have length one
        expected = {"W": expected["W"] * lengths, "H": expected["H"] / lengths[:, None]}
    for factor, value in expected.items():
        # Entries far below the others are the difference of numbers that cancel: they are compared on the scale of all.
        np.testing.assert_allclose(estimator.factors_[factor], value, rtol=1e-8, atol=1e-13 * value.max(), err_msg=factor)


@pytest.mark.parametrize("sweeps", [1, 5, 50])
@pytest.mark.parametrize("name", ["PNMF", "OPNMF"])
def test_an_array_of_components_is_the_transpose_of_the_factor(name, sweeps):
    estimator, data, start, _ = RULES[name]
    estimator = clone(estimator).set_params(tol=0, max_iter=sweeps)
    by_name = estimator.set_params(init=start).fit(data).components_
    np.testing.assert_array_equal(estimator.set_params(init=start["W"].T).fit(data).components_, by_name)


@pytest.mark.parametrize("sweeps", [1, 5, 50])
@pytest.mark.parametrize("loss", [2, 1, 1.5, 0.5, 0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nmf_has_the_objective_of_scikit_learn(loss, sweeps):
    peer = decomposition.NMF(R, init="custom", solver="mu", beta_loss=loss, max_iter=sweeps, tol=0)
    peer.fit_transform(POSITIVE, W=CODES.copy(), H=BASIS.copy())
    ours = NMF(R, divergence=loss, init=W_H, tol=0, max_iter=sweeps, solver="multiplicative").fit(POSITIVE)
    assert ours.reconstruction_err_ == pytest.approx(peer.reconstruction_err_, rel=1e-8)
    lengths = np.linalg.norm(peer.components_, axis=1, keepdims=True)
    np.testing.assert_allclose(ours.components_, peer.components_ / lengths, rtol=1e-8)


def clipped(X, k):
    U, S, VT = np.linalg.svd(X, full_matrices=False)
    return np.maximum((U[:, :k] * S[:k]) @ VT[:k], 0)


def blocks(sizes, seed):
    """Blocks of rank one along the diagonal: nothing is cut off, whatever the rank."""
    rng = np.random.default_rng(seed)
    X = np.zeros((sum(sizes) + 2, sum(sizes)))
    start = 0
    for size in sizes:
        X[start : start + size, start : start + size] = rng.uniform(1, 2) * np.outer(rng.random(size) + 0.5, rng.random(size) + 0.5)
        start += size
    return X


TSVD_DATA = {
    "dense": X,
    "positive": POSITIVE,
    "rank two": positive(N, 2) @ positive(2, M),
    "blocks": blocks((4, 3, 2), 0),
    "blocks and noise": blocks((4, 3, 2), 0) + 1e-3 * positive(11, 9),
}


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("most", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("name", TSVD_DATA)
def test_truncated_svd_by_trying_every_rank(name, most, store):
    """PNMF §2, Eq. 3: the largest number of singular vectors whose approximation has, cut off, no more than the rank allowed."""
    data = TSVD_DATA[name]
    approximations = {k: clipped(data, k) for k in range(1, most + 1) if k <= np.linalg.matrix_rank(data)}
    allowed = [k for k, A in approximations.items() if np.linalg.matrix_rank(A) <= most]
    model = TruncatedNonnegativeSVD(most, random_state=0).fit(store(data))
    best = approximations[max(allowed)]
    assert model.rank_ == np.linalg.matrix_rank(best) <= most
    np.testing.assert_allclose(model.inverse_transform(model.transform(store(data))), best, atol=1e-10)
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(data - best), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("most", [1, 3])
def test_truncated_svd_of_a_product_too_large_to_form(most, monkeypatch):
    """Ranks from some of the rows, and the error from three sums, are those of the whole approximation."""
    data = sparse.random_array((400, 30), density=0.2, rng=0, format="csr") + sparse.csr_array(blocks((170, 128, 100), 0)[:, :30])
    whole = TruncatedNonnegativeSVD(most, random_state=0).fit(data)
    monkeypatch.setattr("nonneg.estimators.svd._ALL", 10)
    large = TruncatedNonnegativeSVD(most, random_state=0).fit(data)
    assert (large.rank_, large.n_singular_) == (whole.rank_, whole.n_singular_)
    assert large.reconstruction_err_ == pytest.approx(whole.reconstruction_err_, rel=1e-10)


def test_the_exponents_are_those_of_the_theory():
    """QNMF Table 1: what `multiplicative` and `paper` above leave unsaid."""
    assert Factorization("W S W.T").model.rules["W"].exponent == Fraction(1, 4)
    assert Factorization("X W W.T").model.rules["W"].exponent == pytest.approx(1 / 3)


@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("seed", range(3))
def test_opnmf_from_a_start_with_zeros_is_the_printed_rule(seed, dtype, bound):
    """The codes raise zeros to 1e-16 in either precision, and what comes back from there depends on it.

    The bounds are some hundred iterations of rounding, 1e3 times the precision.
    """
    X = parts(30, 24, 4, noise=0.3, seed=seed)
    start = np.random.default_rng(seed).random((24, 4))
    start[start < 0.3] = 0
    W = np.maximum(start, 1e-16)
    K = X.T @ X
    for _ in range(200):
        W = W * (K @ W) / (W @ (W.T @ K @ W))
        W = np.maximum(W, 1e-16)
        W = W / np.linalg.norm(W, 2)
    estimator = OPNMF(4, solver="paper", init=start.T.astype(dtype), max_iter=200, tol=0).fit(X.astype(dtype))
    np.testing.assert_allclose(estimator.factors_["W"], W, atol=bound * W.max())
