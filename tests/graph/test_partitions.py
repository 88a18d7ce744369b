"""Partitions: the trace and moves that raise it, beside sums over all pairs; each method beside its equation."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from nonneg import Model, factorize
from nonneg.data.given import Gram, Signed
from nonneg.data.signed import Operator
from nonneg.graph import SIMILARITIES, similarities
from nonneg.graph._partitions import Mover, compact, indicators, trace_of
from nonneg.graph.methods import METHODS, NSC, POD, Effort, KernelKMeans, KernelProjection, NonnegativeLearning, Refined, refined
from nonneg.graph.methods.kernel_kmeans import balanced, nearest_centroids, seeds
from nonneg.graph.methods.nonnegative import learned, projected
from nonneg.graph.methods.pod import discretised
from nonneg.graph.methods.refined import _allowed
from nonneg.graph.similarities import Outer, Similarity
from nonneg.kernels import eigenvectors
from nonneg.kernels.eigenvectors import leading
from nonneg.kernels.moves import move_vertices
from nonneg.solvers import Multiplicative

pytestmark = pytest.mark.wide(one_in=3)


SMALL = Effort(n_init=3, max_iter=200, tol=1e-5)


def random_graph(n, density=0.4, seed=0, *, weighted=True):
    g = np.random.default_rng(seed)
    A = np.triu(g.random((n, n)) < density, 1) * (g.uniform(0.5, 2.0, (n, n)) if weighted else 1.0)
    A[np.arange(n - 1), np.arange(1, n)] += 0.5  # nobody is alone
    return A + A.T


def signed(n, seed=0):
    """Entries and diagonal of either sign, with weights, and a part of rank one besides."""
    g = np.random.default_rng(seed)
    M = g.normal(size=(n, n)) * (g.random((n, n)) < 0.5)
    M, u = M + M.T, g.random(n)
    P, N = np.maximum(M, 0), np.maximum(-M, 0) + 0.3 * np.outer(u, u)
    return Similarity(P, N, weights=g.uniform(0.5, 2.0, n), entries=M, outer=Outer(0.3, u))


def as_sparse(S):
    return replace(S, entries=sparse.csr_array(S.entries), _kept={})


def as_dense(S):
    return replace(S, entries=S.entries.toarray() if sparse.issparse(S.entries) else S.entries, _kept={})


def whole(S):
    return S @ np.eye(S.n)


def objective(S, labels):
    """tr(WᵀSW) with sums over all pairs: Σₖ (Σ √vᵢ S_ij √vⱼ within k) / (Σ vᵢ within k), or the total in place of Σ vᵢ."""
    matrix, weights = whole(S), np.ones(S.n) if S.weights is None else S.weights
    total = 0.0
    for k in set(labels):
        members = [i for i in range(S.n) if labels[i] == k]
        volume = sum(weights[i] for i in members) if S.total is None else S.total
        total += sum(np.sqrt(weights[i] * weights[j]) * matrix[i, j] for i in members for j in members) / volume
    return total


SIMILAR = {name: (lambda n, seed, name=name: SIMILARITIES[name](random_graph(n, seed=seed))) for name in SIMILARITIES}
SIMILAR["signed"] = signed


@pytest.fixture(params=SIMILAR)
def S(request):
    return SIMILAR[request.param](20, 0)


class TestIndicators:
    def test_trace_is_that_of_the_definition(self, S):
        labels = np.random.default_rng(1).integers(4, size=S.n)
        assert trace_of(S, labels, 4) == pytest.approx(objective(S, labels), abs=1e-10)
        assert trace_of(S, labels, 7) == pytest.approx(objective(S, labels), abs=1e-10)  # empty parts count nothing

    def test_they_are_orthonormal(self, S):
        labels = np.arange(S.n) % 3
        W = indicators(labels, 3, S.weights)
        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-12)
        np.testing.assert_array_equal(W.argmax(axis=1), labels)

    def test_a_part_without_weight(self):
        W = indicators(np.array([0, 1, 1]), 3, np.array([0.0, 1, 3]))
        np.testing.assert_allclose(W, [[0, 0, 0], [0, 0.5, 0], [0, 0.75**0.5, 0]])

    def test_compact(self):
        np.testing.assert_array_equal(compact(np.array([5, 2, 5, 9, 2, 0])), [0, 1, 0, 2, 1, 3])


class State:
    """What the kernels keep up to date, recomputed from the definition."""

    def __init__(self, S, labels, count):
        self.S, self.labels, self.count = S, labels.astype(np.int64), count
        self.weights = np.ones(S.n) if S.weights is None else S.weights
        root = np.sqrt(self.weights)
        self.u = np.zeros(S.n) if S.outer is None else root * S.outer.u
        self.factor = 0.0 if S.outer is None else S.outer.factor
        M = root[:, None] * whole(S) * root
        members = labels[:, None] == np.arange(count)
        self.M = M
        self.inside = np.array([M[np.ix_(m, m)].sum() for m in members.T])
        self.movable = self.weights > 0
        if S.total is not None:
            self.weights = np.zeros(S.n)
        self.empty = S.total or 0.0
        self.volumes = np.array([self.weights[m].sum() for m in members.T]) + self.empty
        self.shares = np.array([self.u[m].sum() for m in members.T])
        self.sizes = members[self.movable].sum(axis=0)
        self.rest = M + self.factor * np.outer(self.u, self.u)
        self.towards = self.rest @ members

    def visit(self, order, allowed, *, may_be_empty=False):
        rest = sparse.csr_array(self.rest)
        rows = (rest.indptr, rest.indices, rest.data, rest.diagonal())
        parts = (self.towards, self.inside, self.volumes, self.shares, self.sizes)
        given = (self.factor, self.u, self.weights, self.movable, allowed, self.labels)
        return move_vertices.py_func(order, *rows, *given, *parts, self.empty, 1e-12, may_be_empty)

    def assert_current(self):
        again = State(self.S, self.labels, self.count)
        for name in ("towards", "inside", "volumes", "sizes", "shares"):
            np.testing.assert_allclose(getattr(self, name), getattr(again, name), rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("may_be_empty", [False, True])
class TestKernels:
    def test_sums_are_right_after_each_vertex(self, S, may_be_empty):
        g = np.random.default_rng(0)
        state = State(S, np.arange(S.n) % 4, 4)
        allowed = np.ones((S.n, 4), dtype=bool)
        moved, trace = 0, objective(S, state.labels)
        for i in np.concatenate([g.permutation(S.n) for _ in range(3)]):
            before = state.labels.copy()
            count = state.visit(np.array([i]), allowed, may_be_empty=may_be_empty)
            assert count == (before != state.labels).sum()
            np.testing.assert_array_equal(np.delete(before, i), np.delete(state.labels, i))
            state.assert_current()
            after = objective(S, state.labels)
            options = self.choices(S, before, i, may_be_empty)
            assert after == pytest.approx(max(options), abs=1e-9)  # the best place there is
            assert after >= trace - 1e-10
            moved, trace = moved + count, after
        assert moved > 0

    @staticmethod
    def choices(S, labels, i, may_be_empty):
        if not may_be_empty and (labels == labels[i]).sum() == 1:
            return [objective(S, labels)]
        return [objective(S, np.where(np.arange(S.n) == i, k, labels)) for k in range(4)]

    def test_vertices_stay_in_allowed_parts(self, S, may_be_empty):
        g = np.random.default_rng(3)
        labels = np.arange(S.n) % 4
        allowed = g.random((S.n, 4)) < 0.4
        state = State(S, labels, 4)
        assert state.visit(g.permutation(S.n), allowed, may_be_empty=may_be_empty) > 0
        elsewhere = state.labels != labels
        assert allowed[elsewhere, state.labels[elsewhere]].all()

    def test_vertices_without_weight_stay(self, S, may_be_empty):
        weights = (np.ones(S.n) if S.weights is None else S.weights).copy()
        weights[:4] = 0
        state = State(replace(S, weights=weights), np.arange(S.n) % 4, 4)
        state.visit(np.arange(S.n), np.ones((S.n, 4), dtype=bool), may_be_empty=may_be_empty)
        np.testing.assert_array_equal(state.labels[:4], [0, 1, 2, 3])


def test_a_part_of_vertices_without_weight_is_empty():
    """Vertex 0 shares its part with one without weight: what would be left of the part weighs nothing."""
    A = np.zeros((5, 5))
    A[0, 1] = A[1, 0] = A[1, 2] = A[2, 1] = A[0, 2] = A[2, 0] = 1
    for S in (SIMILARITIES["normalized"](A), SIMILARITIES["normalized"](sparse.csr_array(A))):
        for start in ([0, 1, 1, 0, 0], [0, 1, 1, 0, 2], [0, 1, 1, 2, 2]):
            for may_be_empty in (False, True):
                found = Mover(S)(
                    np.array(start), np.ones((5, 3), dtype=bool), np.random.default_rng(0), may_be_empty=may_be_empty
                ).labels
                if may_be_empty:
                    assert trace_of(S, found, 3) >= trace_of(S, np.array(start), 3) - 1e-12
                else:
                    assert (np.bincount(found, S.weights, minlength=3) > 0).all()


class TestMover:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("name", SIMILAR)
    @pytest.mark.parametrize("may_be_empty", [False, True])
    def test_it_ends_at_a_local_maximum(self, name, seed, may_be_empty):
        S = SIMILAR[name](14, seed)
        g = np.random.default_rng(seed)
        labels = seeds(14, 3, g)
        found = Mover(S)(labels, np.ones((14, 3), dtype=bool), g, may_be_empty=may_be_empty)
        assert found.trace == pytest.approx(trace_of(S, found.labels, 3), abs=1e-9)
        found = found.labels
        reached = objective(S, found)
        assert reached >= objective(S, labels) - 1e-10
        for i, k in product(range(14), range(3)):
            if may_be_empty or (found == found[i]).sum() > 1:
                assert objective(S, np.where(np.arange(14) == i, k, found)) <= reached + 1e-8
        assert may_be_empty or len(set(found)) == 3

    @pytest.mark.parametrize("name", ["adjacency", "laplacian", "modularity", "normalized", "signed"])
    @pytest.mark.parametrize("seed", range(5))
    def test_sparse_and_dense_move_alike(self, name, seed):
        S = SIMILAR[name](25, seed)
        labels, allowed = seeds(25, 4, np.random.default_rng(seed)), np.random.default_rng(seed).random((25, 4)) < 0.8
        dense, few = (Mover(kind(S)) for kind in (as_dense, as_sparse))
        found = [mover(labels, allowed, np.random.default_rng(1)).labels for mover in (dense, few)]
        np.testing.assert_array_equal(*found)
        np.testing.assert_array_equal(dense.free, few.free)

    def test_free_are_those_with_nothing_to_gain_alone(self, S):
        diagonal = np.diagonal(whole(S))
        np.testing.assert_array_equal(Mover(S).free, diagonal <= 0)

    def test_parts_stay_in_number_unless_they_need_not(self):
        S = SIMILARITIES["laplacian"](random_graph(12))  # one part for all has the largest trace, 0
        start, allowed = np.arange(12) % 4, np.ones((12, 4), dtype=bool)
        g = np.random.default_rng(0)
        kept, fewer = (Mover(S)(start, allowed, g, may_be_empty=choice).labels for choice in (False, True))
        assert len(set(kept)) == 4
        assert len(set(fewer)) < 4
        assert trace_of(S, fewer, 4) > trace_of(S, kept, 4)

    def test_labels_given_are_not_changed(self, S):
        labels = np.zeros(S.n, dtype=np.int64)
        Mover(S)(labels, np.ones((S.n, 3), dtype=bool), np.random.default_rng(0))
        assert not labels.any()

    def test_each_empty_part_gets_a_vertex_of_the_largest(self):
        """Nothing is moved after that: no vertex is allowed to go anywhere."""
        S = SIMILARITIES["adjacency"](random_graph(8))
        nowhere = np.zeros((8, 5), dtype=bool)
        for seed in range(5):
            filled = Mover(S)(np.array([0, 0, 0, 0, 0, 1, 1, 3]), nowhere, np.random.default_rng(seed)).labels
            np.testing.assert_array_equal(np.bincount(filled), [3, 2, 1, 1, 1])
            np.testing.assert_array_equal(filled[5:], [1, 1, 3])

    def test_vertices_without_weight_fill_nothing(self):
        S = replace(SIMILARITIES["adjacency"](random_graph(5)), weights=np.array([1.0, 1, 1, 0, 0]))
        filled = Mover(S)(np.array([0, 0, 0, 1, 2]), np.zeros((5, 3), dtype=bool), np.random.default_rng(0)).labels
        assert sorted(filled[:3]) == [0, 1, 2]
        np.testing.assert_array_equal(filled[3:], [1, 2])

    def test_too_few_vertices_for_all_parts(self):
        S = replace(SIMILARITIES["adjacency"](random_graph(4)), weights=np.array([1.0, 1, 0, 0]))
        filled = Mover(S)(np.zeros(4, dtype=int), np.zeros((4, 4), dtype=bool), np.random.default_rng(0)).labels
        assert len(set(filled[:2])) == 2


class TestShakes:
    """Four cliques of six in a row: from a partition that no move improves, shakes find the cliques."""

    @staticmethod
    def trapped():
        A = np.kron(np.eye(4), np.ones((6, 6)) - np.eye(6))
        A[[5, 11, 17], [6, 12, 18]] = A[[6, 12, 18], [5, 11, 17]] = 1
        S = SIMILARITIES["regularized"](A)
        for seed in range(100):
            found = Mover(S)(seeds(24, 4, np.random.default_rng(seed)), np.ones((24, 4), dtype=bool), np.random.default_rng(seed))
            if len({tuple(found.labels[k : k + 6]) for k in range(0, 24, 6)} & {(k,) * 6 for k in range(4)}) < 4:
                return S, found
        raise AssertionError("every start ends in the cliques")

    def test_shakes_leave_a_local_maximum(self):
        S, found = self.trapped()
        allowed = np.ones((24, 4), dtype=bool)
        again = Mover(S)(found.labels, allowed, np.random.default_rng(0))
        np.testing.assert_array_equal(again.labels, found.labels)
        shaken = Mover(S)(found.labels, allowed, np.random.default_rng(0), shakes=200)
        assert shaken.trace > found.trace + 1e-3
        assert shaken.trace == pytest.approx(trace_of(S, shaken.labels, 4))
        np.testing.assert_array_equal(compact(shaken.labels), np.repeat(np.arange(4), 6))
        assert shaken.returns > 0

    def test_they_end_once_enough_have_come_back(self):
        S, allowed = self.trapped()[0], np.ones((24, 4), dtype=bool)
        cliques = np.repeat(np.arange(4), 6)
        assert Mover(S)(cliques, allowed, np.random.default_rng(0), shakes=1000, returns=5).returns == 5
        assert Mover(S)(cliques, allowed, np.random.default_rng(0), shakes=3).returns <= 3
        assert Mover(S)(cliques, allowed, np.random.default_rng(0), shakes=1000, in_vain=4).returns <= 4

    def test_batches_are_all_made(self, monkeypatch):
        """As many shakes of a large graph as of a small one, a few at a time."""
        S, allowed = self.trapped()[0], np.ones((24, 4), dtype=bool)
        monkeypatch.setattr("nonneg.graph._partitions._AT_ONCE", 1.0)
        assert Mover(S)(np.repeat(np.arange(4), 6), allowed, np.random.default_rng(0), shakes=1000, returns=20).returns == 20

    def test_vertices_that_are_not_free_stay(self):
        A = self.trapped()[0].entries.copy()
        A[0, 0] = A[7, 7] = 1e-6
        S = SIMILARITIES["adjacency"](A)
        start = np.arange(24) % 4
        allowed = np.repeat(Mover(S).free[:, None], 4, axis=1)
        found = Mover(S)(start, allowed, np.random.default_rng(0), shakes=50).labels
        assert found[0] == 0
        assert found[7] == 3
        assert (found != start).any()

    def test_all_parts_remain(self):
        S, allowed = SIMILARITIES["laplacian"](random_graph(12)), np.ones((12, 5), dtype=bool)
        for seed in range(10):
            found = Mover(S)(np.arange(12) % 5, allowed, np.random.default_rng(seed), shakes=30)
            assert len(set(found.labels)) == 5
            assert found.trace == pytest.approx(trace_of(S, found.labels, 5), abs=1e-9)


def partitions(n, most):
    """All ways to put n vertices into at most so many parts, each once."""
    labels = [()]
    for _ in range(n):
        labels = [(*one, k) for one in labels for k in range(min(max(one, default=-1) + 2, most))]
    return np.array(labels)


@pytest.mark.parametrize("name", ["modularity", "normalized", "discriminative-kmeans", "adjacency", "laplacian"])
def test_the_default_finds_the_best_of_all_partitions(name):
    every = partitions(7, 3)
    assert len(every) == 1 + 63 + 301  # Stirling's numbers
    missed = 0
    for seed in range(20):
        S = SIMILARITIES[name](random_graph(7, 0.4, seed, weighted=bool(seed % 2)))
        traces = np.array([trace_of(S, labels, 3) for labels in every])
        if traces.argmax() == 0:  # one part for all: that many are asked for
            traces[[len(set(labels)) < 3 for labels in every]] = -np.inf
        found = Refined().partition(S, 3, np.random.default_rng(seed), Effort(1, 100, 1e-5))
        reached = trace_of(S, found.labels, 3)
        assert reached <= traces.max() + 1e-9
        missed += reached < traces.max() - 1e-9
    assert missed <= 1


# ---------------------------------------------------------------- the papers' equations


def eq_39(P, N, W):
    return (P @ W) / (N @ W)


def eq_41(P, N, W):
    return (P @ W + W @ W.T @ N @ W) / (N @ W + W @ W.T @ P @ W)


def parts_of(n, seed=0):
    g = np.random.default_rng(seed)
    P, N = g.random((2, n, n))
    return P + P.T, (N + N.T) / 2


@pytest.mark.parametrize("exponent", [1.0, 0.5], ids=["onl", "sqrt-onl"])
@pytest.mark.parametrize("orthogonal", [True, False], ids=["orthogonal", "free"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, "operator"], ids=["dense", "sparse", "operator"])
def test_onl_39_to_42(exponent, orthogonal, container):
    """Two parts that overlap are used as they are given; after each step the largest singular value is one, or the norm."""
    P, N = parts_of(9)
    W = np.random.default_rng(1).random((9, 3)) + 0.1
    model = Model("W.T S W", "trace", {"W": "orthogonal"} if orthogonal else None, data="S")
    given = [Operator(9, lambda V, M=M: M @ V, M.max()) if container == "operator" else container(M) for M in (P, N)]
    expected = W
    for sweeps in range(1, 4):
        moved = expected * (eq_41 if orthogonal else eq_39)(P, N, expected) ** exponent
        expected = moved / (np.linalg.norm(moved, 2) if orthogonal else np.linalg.norm(moved))
        solution = factorize(Signed(*given), model, init={"W": W}, solver=Multiplicative(exponent), max_iter=sweeps, tol=0)
        np.testing.assert_allclose(solution.factors["W"], expected, rtol=1e-9)
        assert solution.n_iter == sweeps


@pytest.mark.parametrize(("name", "exponent", "orthogonal"), [
    ("onl", 1.0, True), ("sqrt-onl", 0.5, True), ("nl", 1.0, False), ("sqrt-nl", 0.5, False),
])  # fmt: skip
def test_names_are_of_the_rules(name, exponent, orthogonal):
    assert METHODS[name] == NonnegativeLearning(exponent, orthogonal=orthogonal)
    S = SIMILARITIES["discriminative-kmeans"](random_graph(15))
    found = METHODS[name].partition(S, 3, np.random.default_rng(0), SMALL)
    np.testing.assert_array_equal(found.labels, found.memberships.argmax(axis=1))
    assert found.n_iter <= SMALL.max_iter


def test_learning_starts_from_the_best_partition_lifted():
    S = SIMILARITIES["discriminative-kmeans"](random_graph(15))
    found = [
        method.partition(S, 3, g, SMALL._replace(max_iter=100))
        for g in [np.random.default_rng(0)]
        for method in (KernelKMeans(), POD())
    ]
    best = max(found, key=lambda one: trace_of(S, one.labels, 3))
    start = indicators(best.labels, 3) + 0.2
    once = METHODS["onl"].partition(S, 3, np.random.default_rng(0), SMALL._replace(max_iter=1, tol=0))
    moved = start * eq_41(np.maximum(whole(S), 0), np.maximum(-whole(S), 0), start)
    np.testing.assert_allclose(once.memberships, moved / np.linalg.norm(moved, 2), rtol=1e-9)


def test_nsc():
    """U ∘ √[(AU)/(DU UᵀAU)] (Ding et al. 2008), with W = D^½ U of unit spectral norm."""
    A = random_graph(12, seed=3)
    D = np.diag(A.sum(axis=1))
    root = np.sqrt(np.diagonal(D))[:, None]
    start = np.random.default_rng(0).random((12, 3)) + 1e-3
    U = start / root
    S = SIMILARITIES["normalized"](A)
    for steps in range(1, 4):
        U = U * np.sqrt((A @ U) / (D @ U @ U.T @ A @ U))
        U = U / np.linalg.norm(root * U, 2)
        W = learned(S, start, Multiplicative(exponent=0.5), Effort(1, steps, 0)).factors["W"]
        np.testing.assert_allclose(W, root * U, rtol=1e-9)
    found = NSC(start="random").partition(S, 3, np.random.default_rng(0), Effort(1, 3, 0))
    np.testing.assert_allclose(found.memberships, root * U, rtol=1e-9)
    assert METHODS["nsc"] == NSC()
    assert METHODS["nsc"].similarity == "normalized"


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, "operator"], ids=["dense", "sparse", "operator"])
def test_kernel_pnmf(container):
    """W ∘ [2SW/(WWᵀSW + SWWᵀW)]^(1/3) (QNMF §5.1), for a matrix that is no kernel."""
    A = random_graph(10, seed=4)
    W = start = np.random.default_rng(0).random((10, 3)) + 0.1
    kernel = Operator(10, lambda V: A @ V, A.max()) if container == "operator" else container(A)
    for steps in range(1, 4):
        W = W * (2 * A @ W / (W @ W.T @ A @ W + A @ W @ W.T @ W)) ** (1 / 3)
        given = Gram(kernel, checked=False)
        solution = factorize(given, "W W.T X", init={"W": start}, solver=Multiplicative(1 / 3), max_iter=steps, tol=0)
        np.testing.assert_allclose(solution.factors["W"], W, rtol=1e-9)


def test_kernel_pnmf_descends():
    S = SIMILARITIES["random-walk"](random_graph(15, seed=5))
    K = whole(S)

    def value(W):
        return np.trace(K) - 2 * np.trace(W.T @ K @ W) + np.trace(W.T @ K @ W @ W.T @ W)

    start = np.random.default_rng(0).random((15, 3)) + 0.1
    values = [value(start)]
    for steps in (1, 3, 10, 50):
        W, n_iter = projected(S, start, Effort(1, steps, 0))
        assert n_iter == steps
        values.append(value(W))
    assert np.all(np.diff(values) < 0)
    assert KernelProjection().similarity == "random-walk"
    found = KernelProjection(start="random").partition(S, 3, np.random.default_rng(0), SMALL)
    np.testing.assert_array_equal(found.labels, found.memberships.argmax(axis=1))


def eq_43(S, labels, count):
    """ONL Eq. 43: the nearest centroid, S_ii − 2/|k| Σ S_ij + 1/|k|² ΣΣ S_jl; with weights v, in the space of S_ij/√(vᵢvⱼ)."""
    v = np.ones(S.n) if S.weights is None else S.weights
    K = whole(S) / np.sqrt(np.outer(v, v))
    distance = np.full((S.n, count), np.inf)
    for i, k in product(range(S.n), range(count)):
        members = np.flatnonzero(labels == k)
        if len(members):
            volume = v[members].sum()
            across = sum(v[j] * K[i, j] for j in members) / volume
            within = sum(v[j] * v[m] * K[j, m] for j in members for m in members) / volume**2
            distance[i, k] = K[i, i] - 2 * across + within
    return distance.argmin(axis=1)


def definite(n, seed, *, weighted):
    g = np.random.default_rng(seed)
    X = g.random((n, 4))
    K = X @ X.T
    return Similarity(K, entries=K, weights=g.uniform(0.5, 2, n) if weighted else None)


class TestKernelKMeans:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("seed", range(5))
    def test_onl_43(self, seed, weighted):
        S = definite(16, seed, weighted=weighted)
        labels = seeds(16, 3, np.random.default_rng(seed))
        expected = eq_43(S, labels, 3)
        assert (expected != labels).any()
        found, trace, steps = nearest_centroids(S, labels, 3, 1)
        np.testing.assert_array_equal(found, expected)
        assert trace == pytest.approx(trace_of(S, expected, 3))
        assert steps == 1

    @pytest.mark.parametrize("weighted", [False, True])
    def test_it_ends_at_the_nearest_centroids(self, weighted):
        S = definite(30, 0, weighted=weighted)
        labels = seeds(30, 3, np.random.default_rng(0))
        traces = [trace_of(S, labels, 3)] + [nearest_centroids(S, labels, 3, steps)[1] for steps in range(1, 15)]
        assert np.all(np.diff(traces) >= -1e-12)
        found, _, steps = nearest_centroids(S, labels, 3, 100)
        np.testing.assert_array_equal(found, eq_43(S, found, 3))
        assert steps < 100

    def test_an_empty_part_stays_empty(self):
        S = definite(10, 0, weighted=True)
        found, _, _ = nearest_centroids(S, np.arange(10) % 2, 3, 10)
        assert set(found) <= {0, 1}

    @pytest.mark.parametrize("seed", range(3))
    def test_the_best_on_the_way_is_kept(self, seed):
        S = SIMILARITIES["modularity"](random_graph(20, seed=seed))
        labels = seeds(20, 4, np.random.default_rng(seed))
        found, trace, _ = nearest_centroids(S, labels, 4, 50)
        assert trace == pytest.approx(trace_of(S, found, 4))
        assert trace >= trace_of(S, labels, 4)

    @pytest.mark.parametrize("seed", range(3))
    def test_it_passes_falls_of_the_trace_and_ends_at_a_cycle(self, seed):
        """A kernel that is not definite leads down and up again, and then round and round."""
        S = SIMILARITIES["discriminative-kmeans"](random_graph(40, seed=seed))
        labels, path = balanced(40, 6, np.random.default_rng(seed)), []
        while not any((labels == before).all() for before in path):
            path.append(labels)
            labels = eq_43(S, labels, 6)
        traces = [trace_of(S, labels, 6) for labels in path]
        assert (labels != path[-1]).any()  # a cycle
        found, trace, steps = nearest_centroids(S, path[0], 6, 10_000)
        assert steps == len(path)
        assert trace == pytest.approx(max(traces))
        np.testing.assert_array_equal(found, path[int(np.argmax(traces))])
        assert nearest_centroids(S, path[0], 6, 10_000, fall=0.1)[2] < steps

    def test_the_best_may_come_after_a_fall(self):
        gains = []
        for seed in range(10):
            S = SIMILARITIES["adjacency"](random_graph(40, seed=seed))
            labels = balanced(40, 6, np.random.default_rng(seed))
            gains.append(nearest_centroids(S, labels, 6, 100)[1] - nearest_centroids(S, labels, 6, 100, fall=0.1)[1])
        assert min(gains) >= 0
        assert max(gains) > 0.1

    def test_parts_are_balanced_at_the_start(self):
        sizes = np.bincount(balanced(38, 5, np.random.default_rng(0)), minlength=5)
        assert sizes.max() - sizes.min() == 1
        weights = np.repeat([1.0, 0.0], [12, 26])  # those without edges are left out of account
        np.testing.assert_array_equal(np.bincount(balanced(38, 4, np.random.default_rng(0), weights)[:12]), [3, 3, 3, 3])

    def test_the_best_of_several_starts_is_kept(self):
        S = definite(30, 1, weighted=False)
        g = np.random.default_rng(0)
        each = [nearest_centroids(S, balanced(30, 4, g), 4, 200)[1] for _ in range(3)]
        found = KernelKMeans().partition(S, 4, np.random.default_rng(0), SMALL)
        assert trace_of(S, found.labels, 4) == pytest.approx(max(each))
        assert max(each) > min(each)

    def test_seeds_leave_no_part_empty(self):
        for seed in range(20):
            assert set(seeds(5, 5, np.random.default_rng(seed))) == set(range(5))


class TestPOD:
    @staticmethod
    def yu_shi(rows, count, generator):
        """Yu and Shi 2003, §4: initialise R, then X* = nearest indicator of X̃R, XᵀX̃ = UΩŨᵀ, R = ŨUᵀ, until tr Ω stays."""
        n = len(rows)
        R = [rows[generator.integers(n)]]
        c = np.zeros(n)
        for k in range(1, count):
            c = c + abs(rows @ R[k - 1])
            R.append(rows[c.argmin()])
        R, last = np.array(R).T, -np.inf
        while True:
            labels = (rows @ R).argmax(axis=1)
            indicator = np.eye(count)[labels]
            U, omega, V = np.linalg.svd(indicator.T @ rows)
            if omega.sum() <= last * (1 + 1e-9):
                return labels
            last, R = omega.sum(), V.T @ U.T

    @pytest.mark.parametrize("n", [12, 60, 1100])
    @pytest.mark.parametrize("seed", range(4))
    def test_discretisation(self, n, seed):
        rows = np.abs(np.random.default_rng(seed).normal(size=(n, 3)))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        expected = self.yu_shi(rows, 3, np.random.default_rng(seed))
        np.testing.assert_array_equal(discretised(rows, 3, np.random.default_rng(seed)), expected)

    def test_a_rotated_partition_is_found(self):
        labels = np.arange(30) % 3
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
        for seed in range(5):
            found = discretised(np.eye(3)[labels] @ rotation, 3, np.random.default_rng(seed))
            np.testing.assert_array_equal(compact(found), labels)

    @pytest.mark.parametrize("name", ["modularity", "normalized", "laplacian", "random-walk"])
    @pytest.mark.parametrize("many", [False, True])
    def test_eigenvectors_of_the_largest_eigenvalues(self, name, many, monkeypatch):
        """Of the algebraically largest ones: those of a negative Laplacian are the smallest in magnitude."""
        A = random_graph(40, 0.2, seed=6)
        expected = np.linalg.eigh(whole(SIMILARITIES[name](A)))[1][:, :-4:-1]
        if many:
            monkeypatch.setattr(eigenvectors, "SMALL", 10)
            monkeypatch.setattr(similarities, "LARGEST", 10)
        found = leading(SIMILARITIES[name](sparse.csr_array(A)), 3, np.random.default_rng(0))[1]
        np.testing.assert_allclose(np.abs(np.sum(expected * found, axis=0)), 1, atol=1e-3 if many else 1e-9)

    def test_planted_parts(self):
        A = np.kron(np.eye(3), np.ones((6, 6))) + 0.05
        found = POD().partition(SIMILARITIES["normalized"](A), 3, np.random.default_rng(0), SMALL)
        np.testing.assert_array_equal(compact(found.labels), np.repeat([0, 1, 2], 6))


class TestRefined:
    def test_without_entries(self, monkeypatch):
        """Only products with S can be had of large graphs."""
        monkeypatch.setattr(similarities, "LARGEST", 10)
        monkeypatch.setattr(eigenvectors, "SMALL", 10)
        A = np.kron(np.eye(3), np.ones((8, 8)) - np.eye(8)) + 0.01
        np.fill_diagonal(A, 0)
        S = SIMILARITIES["random-walk"](sparse.csr_array(A))
        assert S.entries is None
        found = Refined().partition(S, 3, np.random.default_rng(0), SMALL)
        np.testing.assert_array_equal(compact(found.labels), np.repeat([0, 1, 2], 8))

    def test_it_is_at_least_as_good_as_the_others(self):
        for seed, name in enumerate(["modularity", "normalized", "discriminative-kmeans"]):
            S = SIMILARITIES[name](random_graph(30, 0.2, seed))
            reached = trace_of(S, Refined().partition(S, 4, np.random.default_rng(0), SMALL).labels, 4)
            for other in ("onl", "sqrt-onl", "kernel-kmeans", "pod"):
                assert reached >= trace_of(S, METHODS[other].partition(S, 4, np.random.default_rng(0), SMALL).labels, 4) - 1e-9

    @pytest.mark.parametrize("may_be_empty", [True, False])
    def test_parts_may_be_empty_or_not(self, may_be_empty):
        S = SIMILARITIES["laplacian"](random_graph(12))
        found = Refined(may_be_empty).partition(S, 4, np.random.default_rng(0), SMALL)
        assert (len(set(found.labels)) == 4) != may_be_empty

    def test_vertices_that_gain_alone_are_not_singled_out(self):
        """With cosines the trace is largest for singletons and one large part; that is not what is looked for."""
        g = np.random.default_rng(0)
        X = np.repeat(np.eye(3), 10, axis=0) + 0.3 * g.random((30, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        S = SIMILARITIES["adjacency"](X @ X.T)
        assert not Mover(S).free.any()
        found = Refined().partition(S, 3, g, SMALL)
        np.testing.assert_array_equal(compact(found.labels), np.repeat([0, 1, 2], 10))

    @pytest.mark.parametrize(("returns", "many"), [(5, False), (0, True)])
    def test_soft_parts_from_all_kinds_of_starts(self, returns, many, monkeypatch):
        """One run of √ONL, for memberships, where shakes come back to the best; one of each kind besides where none does."""
        runs, move = [], Mover.__call__
        soft = refined._soft
        monkeypatch.setattr(refined, "_soft", lambda *given: runs.append(given) or soft(*given))
        monkeypatch.setattr(Mover, "__call__", lambda *given, **more: move(*given, **more)._replace(returns=returns))
        A = np.kron(np.eye(3), np.ones((8, 8)) - np.eye(8))
        A[[7, 15], [8, 16]] = A[[8, 16], [7, 15]] = 1
        found = Refined().partition(SIMILARITIES["regularized"](A), 3, np.random.default_rng(0), SMALL)
        np.testing.assert_array_equal(compact(found.labels), np.repeat([0, 1, 2], 8))
        np.testing.assert_array_equal(found.memberships.argmax(axis=1), found.labels)
        assert len(runs) == (4 if many else 1)

    def test_allowed_parts_of_each_vertex(self):
        W = np.array([[1.0, 0.2, 0.05], [0.1, 3.0, 0.2], [0.0, 0.0, 1.0]])
        expected = [[True, True, False], [True, True, True], [False, False, True]]
        np.testing.assert_array_equal(_allowed(W, np.array([False, True, False])), expected)

    @pytest.mark.parametrize("name", ["vertex", "random-walk"])
    def test_undecided_vertices_stay(self, name):
        for seed in range(4):
            S = SIMILARITIES[name](random_graph(40, 0.15, seed))
            assert not Mover(S).free.any()
            found = Refined().partition(S, 4, np.random.default_rng(seed), SMALL)
            assert _allowed(found.memberships, np.zeros(40, dtype=bool))[np.arange(40), found.labels].all()
