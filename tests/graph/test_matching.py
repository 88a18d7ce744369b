"""Matching: exchanges beside brute force, hidden permutations found, seeds kept; the constraint beside its equation."""

import tracemalloc
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from at_hand import graph_at_hand
from nonneg import Model, factorize
from nonneg.constraints import Permutation, get_constraint
from nonneg.data.reading import read_data
from nonneg.exceptions import DataError, IncompatibleError, ShapeError
from nonneg.graph import Matching, match_graphs, matching
from nonneg.graph._permutations import Pair, polished, regrown, searched
from nonneg.graph._permutations import _gradient as matching_gradient
from nonneg.graph._symmetries import have_doubles
from nonneg.graph.correspondences import CORRESPONDENCES, all_eigenvectors, umeyama, walks
from nonneg.kernels.swaps import search_swaps, swap_pairs
from nonneg.solve.signature import infer_shapes
from nonneg.solve.solvers.multiplicative import moved
from nonneg.solvers import Multiplicative
from tests.problems import problem_of

pytestmark = pytest.mark.wide(one_in=3)


def random_graph(n, seed=0, density=0.4, *, directed=False, weighted=False, loops=False):
    g = np.random.default_rng(seed)
    A = (g.random((n, n)) < density) * (g.uniform(0.5, 2.0, (n, n)) if weighted else 1.0)
    if not directed:
        A = np.triu(A) + np.triu(A, 1).T
    return A if loops else A - np.diag(np.diagonal(A))


def hidden(A, seed=0):
    """A graph, and which vertex of A each of its vertices is."""
    p = np.random.default_rng(seed).permutation(len(A))
    return A[np.ix_(p, p)], p


def agreement(A, B, p):
    """tr(Bᵀ P A Pᵀ), with P spelled out."""
    P = np.eye(len(A))[p]
    return np.trace(B.T @ P @ A @ P.T)


KINDS = {
    "plain": {},
    "weighted": {"weighted": True},
    "directed": {"directed": True},
    "loops": {"loops": True},
    "everything": {"directed": True, "weighted": True, "loops": True},
}


class TestExchanges:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", range(5))
    def test_they_end_at_a_local_optimum_of_exchanges(self, kind, seed):
        A, B = (random_graph(8, 10 * seed + k, **KINDS[kind]) for k in (1, 2))
        g = np.random.default_rng(seed)
        p, movable = g.permutation(8), g.random(8) < 0.9
        before, start = agreement(A, B, p), p.copy()
        swaps = swap_pairs(A, B, p, movable, 1e-9, 100)
        after = agreement(A, B, p)
        assert sorted(p) == list(range(8))
        np.testing.assert_array_equal(p[~movable], start[~movable])
        assert after >= before - 1e-9
        assert (swaps > 0) == (p != start).any()
        for i, j in combinations(np.flatnonzero(movable), 2):
            exchanged = p.copy()
            exchanged[[i, j]] = p[[j, i]]
            assert agreement(A, B, exchanged) <= after + 1e-8

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_is_the_best_for_its_vertex(self, kind):
        """One visit is a sequence of exchanges, each the best that a vertex in turn can make, if its weights do not fit."""
        A, B = (random_graph(9, k, **KINDS[kind]) for k in (3, 4))
        p = np.random.default_rng(0).permutation(9)
        found = p.copy()
        swap_pairs(A, B, found, np.ones(9, dtype=bool), 1e-9, 1)
        for i in range(9):
            C = A[np.ix_(p, p)]
            if (C[i] == B[i]).all() and (C[:, i] == B[:, i]).all():
                continue
            options = [p] + [self.exchanged(p, i, j) for j in range(9) if j != i]
            values = [agreement(A, B, option) for option in options]
            p = options[int(np.argmax(values))] if max(values) > values[0] + 1e-9 else p
        assert agreement(A, B, found) == pytest.approx(agreement(A, B, p))
        np.testing.assert_array_equal(found, p)

    @staticmethod
    def exchanged(p, i, j):
        q = p.copy()
        q[[i, j]] = p[[j, i]]
        return q

    def test_more_visits_are_no_worse(self):
        A, B = random_graph(15, 1, weighted=True), random_graph(15, 2, weighted=True)
        values = []
        for visits in range(6):
            p = np.arange(15)
            swap_pairs(A, B, p, np.ones(15, dtype=bool), 1e-9, visits)
            values.append(agreement(A, B, p))
        assert np.all(np.diff(values) >= 0)
        assert values[1] > values[0] == agreement(A, B, np.arange(15))

    def test_a_perfect_match_stays(self):
        B, p = hidden(random_graph(10))
        found = p.copy()
        assert swap_pairs(random_graph(10), B, found, np.ones(10, dtype=bool), 1e-9, 100) == 0
        np.testing.assert_array_equal(found, p)


class TestSearch:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", range(5))
    def test_it_returns_the_best_it_met(self, kind, seed):
        """Gains are carried over from one exchange to the next; what they sum to is what the permutation has."""
        A, B = (random_graph(9, 10 * seed + k, **KINDS[kind]) for k in (1, 2))
        g = np.random.default_rng(seed)
        p, movable = g.permutation(9), g.random(9) < 0.8
        start, before = p.copy(), agreement(A, B, p)
        grown = search_swaps(A, B, p, movable, 1e-9, g.integers(6, 10, (300, 2)), np.inf)
        assert sorted(p) == list(range(9))
        np.testing.assert_array_equal(p[~movable], start[~movable])
        assert agreement(A, B, p) - before == pytest.approx(grown, abs=1e-9)
        swapped = start.copy()
        swap_pairs(A, B, swapped, movable, 1e-9, 100)
        assert agreement(A, B, p) >= agreement(A, B, swapped) - 1e-9

    def test_the_search_leaves_local_optima(self):
        """Of all 8! matchings the best, from each of twenty at random; exchanges that gain end elsewhere most of the time."""
        A, B = random_graph(7, 1, weighted=True, density=0.8), random_graph(7, 2, weighted=True, density=0.8)
        best = max(agreement(A, B, np.array(p)) for p in permutations(range(7)))
        ends = {"swaps": 0, "search": 0}
        for seed in range(20):
            g = np.random.default_rng(seed)
            swapped, searched = (g.permutation(7),) * 2
            swapped, searched = swapped.copy(), searched.copy()
            swap_pairs(A, B, swapped, np.ones(7, dtype=bool), 1e-9, 100)
            search_swaps(A, B, searched, np.ones(7, dtype=bool), 1e-9, g.integers(6, 8, (2000, 2), endpoint=True), np.inf)
            ends["swaps"] += agreement(A, B, swapped) > best - 1e-9
            ends["search"] += agreement(A, B, searched) > best - 1e-9
        assert ends["swaps"] < ends["search"] == 20

    def test_it_ends_when_that_is_enough(self):
        A, B = random_graph(9, 1, weighted=True), random_graph(9, 2, weighted=True)
        tenures = np.full((500, 2), 9)
        little, much = np.arange(9), np.arange(9)
        first = search_swaps(A, B, little, np.ones(9, dtype=bool), 1e-9, tenures, 1e-6)
        assert 0 < first < search_swaps(A, B, much, np.ones(9, dtype=bool), 1e-9, tenures, np.inf)

    @pytest.mark.parametrize("free", [[], [3]])
    def test_nothing_to_exchange(self, free):
        A, B, p = random_graph(5, 1), random_graph(5, 2), np.arange(5)
        assert search_swaps(A, B, p, np.isin(np.arange(5), free), 1e-9, np.full((50, 2), 5), np.inf) == 0
        np.testing.assert_array_equal(p, np.arange(5))


def small_world(n, seed):
    """A ring whose vertices know their next two on both sides, a tenth of its edges anywhere; and the same with a few others."""
    g = np.random.default_rng(seed)
    A, near = np.zeros((n, n)), np.arange(n)
    for step in (1, 2):
        A[near, np.where(g.random(n) < 0.1, g.integers(n, size=n), (near + step) % n)] = 1
    A = np.triu(np.maximum(A, A.T), 1)
    B = A.copy()
    edges = np.argwhere(A)
    B[tuple(edges[g.choice(len(edges), n // 20, replace=False)].T)] = 0
    return A + A.T, B + B.T


class TestRegrowth:
    def test_it_gets_further_than_searches(self):
        """From a ring part of which lies five steps aside: to the truth, or below."""
        reached = {"search": 0, "regrowth": 0}
        for seed in range(4):
            A, B = small_world(150, seed)
            pair = Pair.of(A, B, np.empty((0, 2), dtype=np.int64))
            aside = np.arange(150)
            aside[:60] = np.roll(aside[:60], 5)
            truth, g = pair.error(np.arange(150)), np.random.default_rng(seed)
            stuck = searched(pair, polished(pair, aside), g)
            found = regrown(pair, stuck, g)
            assert pair.error(found) <= pair.error(stuck)
            reached["search"] += pair.error(stuck) <= truth
            reached["regrowth"] += pair.error(found) <= truth
        assert reached["search"] < reached["regrowth"]

    def test_a_path_beside_a_clique(self):
        """Nothing is gained or lost by any step, so that none has a length of its own."""
        A, B = np.eye(5, k=1) + np.eye(5, k=-1), np.ones((9, 9)) - np.eye(9)
        found = match_graphs(A, B, init=["umeyama", "random"], random_state=0)
        assert sorted(vertex for vertex, _ in found.pairs) == list(range(5))

    @pytest.mark.parametrize("kind", KINDS)
    def test_seeds_stay_and_nothing_is_lost(self, kind):
        A, B = (random_graph(12, k, **KINDS[kind]) for k in (1, 2))
        g = np.random.default_rng(0)
        p = g.permutation(12)
        pair = Pair.of(A, B, np.column_stack([p[:4], np.arange(4)]))
        found = regrown(pair, p, g)
        assert sorted(found) == list(range(12))
        np.testing.assert_array_equal(found[:4], p[:4])
        assert pair.error(found) < pair.error(p)

    @pytest.mark.parametrize("kind", KINDS)
    def test_steps_know_the_slope(self, kind):
        A, B, W, V = *(random_graph(6, k, **KINDS[kind]) for k in (1, 2)), *np.random.default_rng(0).random((2, 6, 6))
        pair, small = Pair.of(A, B, np.empty((0, 2), dtype=np.int64)), 1e-6

        def value(W):
            return np.trace(pair.B.T @ W @ pair.A @ W.T)

        slope = np.vdot(matching_gradient(pair, W @ pair.A, W @ pair.A.T), V)
        assert slope == pytest.approx((value(W + small * V) - value(W - small * V)) / (2 * small), rel=1e-6)


class TestQuadraticAssignment:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("directed", [False, True])
    def test_the_least_of_all_costs(self, seed, directed):
        """min Σ F_ij D_p(i)p(j) is the matching of D.max() − D with F, diagonals and all."""
        F, D = (random_graph(7, 10 * seed + k, density=0.9, weighted=True, directed=directed, loops=True) for k in (1, 2))
        cost = lambda p: (F * D[np.ix_(p, p)]).sum()  # noqa: E731
        least = min(cost(np.array(p)) for p in permutations(range(7)))
        assert cost(match_graphs(D.max() - D, F, random_state=0).permutation) == pytest.approx(least, rel=1e-12)

    def test_a_tree_on_a_grid(self):
        """Nugent's distances: rectilinear on a grid; a path has a tour of the grid, at a cost of 2 (n − 1), and many traps."""
        places = np.array([(x, y) for x in range(3) for y in range(4)])
        D = np.abs(places[:, None] - places).sum(axis=2).astype(float)
        F = np.eye(12, k=1) + np.eye(12, k=-1)
        for seed in range(5):
            p = match_graphs(D.max() - D, F, n_init=2, random_state=seed).permutation
            assert (F * D[np.ix_(p, p)]).sum() == 2 * 11

    def test_restarts_are_searched(self):
        """`n_init` is how many more of the best are searched around; what each start led to is on record."""
        F, D = random_graph(16, 1, density=0.9, weighted=True), random_graph(16, 2, density=0.9, weighted=True)
        one, many = (match_graphs(D.max() - D, F, n_init=n_init, random_state=0) for n_init in (0, 4))
        assert list(many.errors) == [*one.errors, "random 0", "random 1", "random 2", "random 3"]
        assert many.squared_error <= one.squared_error
        assert many.squared_error == min(many.errors.values()) == many.errors[many.start]


class TestHiddenPermutations:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("divergence", ["kullback-leibler", "euclidean"])
    def test_found(self, kind, seed, divergence):
        A = random_graph(18, seed, **KINDS[kind])
        B, _ = hidden(A, seed)
        found = match_graphs(A, B, divergence=divergence, random_state=0)
        assert isinstance(found, Matching)
        assert found.edge_error == 0
        assert found.squared_error == 0
        q = found.permutation
        np.testing.assert_array_equal(A[np.ix_(q, q)], B)
        assert found.W.shape == (18, 18)
        assert found.start in found.errors
        assert found.errors[found.start] == found.squared_error
        assert (found.confidence >= 0).all()
        assert (found.confidence <= 1).all()

    def test_errors_are_counted(self):
        A = random_graph(18, 3)
        B, _ = hidden(A)
        B[0, 1] = B[1, 0] = 1 - B[0, 1]
        found = match_graphs(A, B, random_state=0)
        q = found.permutation
        assert found.edge_error == np.count_nonzero(A[np.ix_(q, q)] != B) == 2
        assert found.squared_error == ((A[np.ix_(q, q)] - B) ** 2).sum() == 2

    def test_squared_error_has_weights(self):
        A = random_graph(10, 5, weighted=True)
        B, _ = hidden(A)
        B[0, 1] = B[1, 0] = B[0, 1] + 0.25
        found = match_graphs(A, B, random_state=0)
        assert (found.edge_error, found.squared_error) == (2, pytest.approx(0.125))

    @pytest.mark.parametrize("init", [*CORRESPONDENCES, ["walks", "random"], walks])
    def test_every_first_guess(self, init):
        A = random_graph(14, 2)
        B, _ = hidden(A)
        found = match_graphs(A, B, init=init, n_init=5, random_state=0)
        names = init if isinstance(init, list) else [init if isinstance(init, str) else "init 0"]
        expected = [each for name in names for each in ([f"random {k}" for k in range(5)] if name == "random" else [name])]
        assert list(found.errors) == expected
        assert found.squared_error == min(found.errors.values()) == found.errors[found.start]
        assert found.edge_error == 0

    def test_auto_stops_at_a_perfect_fit(self):
        A = random_graph(14, 2)
        assert list(match_graphs(A, hidden(A)[0], random_state=0).errors) == ["umeyama"]
        other = match_graphs(A, random_graph(14, 9), n_init=2, random_state=0)
        assert list(other.errors) == ["umeyama", "eigenvectors", "walks", "random 0", "random 1"]

    def test_a_guess_that_is_given(self):
        A = random_graph(14, 2)
        B, p = hidden(A)
        for divergence in (None, "kullback-leibler"):
            found = match_graphs(A, B, init=np.eye(14)[p], divergence=divergence, polish=False)
            np.testing.assert_array_equal(found.permutation, p)
            assert found.start == "init 0"

    def test_polish(self):
        A, B = random_graph(14, 2), random_graph(14, 3)
        rough, polished = (match_graphs(A, B, divergence=None, init="walks", polish=choice) for choice in (False, True))
        assert polished.squared_error < rough.squared_error

    @pytest.mark.parametrize("container", [np.ndarray.tolist, sparse.csr_array])
    def test_containers(self, container):
        A = random_graph(12, 4)
        B, _ = hidden(A)
        assert match_graphs(container(A), container(B), random_state=0).edge_error == 0

    def test_same_seed_same_result(self):
        A, B = random_graph(12, 4), random_graph(12, 5)
        first, again = (match_graphs(A, B, init="random", n_init=3, random_state=7) for _ in range(2))
        np.testing.assert_array_equal(first.permutation, again.permutation)
        np.testing.assert_array_equal(first.W, again.W)
        generator = match_graphs(A, B, init="random", n_init=3, random_state=np.random.default_rng(7))
        np.testing.assert_array_equal(first.W, generator.W)
        other = match_graphs(A, B, init="random", n_init=3, random_state=8)
        assert (first.W != other.W).any()

    def test_the_best_of_all_permutations(self):
        """Of graphs that do not fit, too, nearly always."""
        missed = 0
        for seed in range(10):
            A, B = random_graph(6, seed), random_graph(6, seed + 50)
            least = min(((A[np.ix_(p, p)] - B) ** 2).sum() for p in permutations(range(6)))
            reached = match_graphs(A, B, random_state=0).squared_error
            assert reached >= least
            missed += reached > least
        assert missed <= 2


class TestSeeds:
    A = random_graph(16, 1, density=0.3)
    B, p = hidden(A, 1)
    PAIRS = np.array([[p[3], 3], [p[7], 7]])
    WRONG = np.array([[p[3], 7], [p[7], 3]])

    @pytest.mark.parametrize("pairs", [PAIRS, WRONG], ids=["right", "wrong"])
    @pytest.mark.parametrize("form", [np.asarray, lambda pairs: dict(pairs.tolist()), lambda pairs: list(map(tuple, pairs))])
    @pytest.mark.parametrize("init", ["auto", "random"])
    def test_they_are_kept(self, pairs, form, init):
        found = match_graphs(self.A, self.B, seeds=form(pairs), init=init, random_state=0)
        for a, b in pairs:
            assert found.permutation[b] == a
        assert sorted(found.permutation) == list(range(16))
        if pairs is self.PAIRS and init == "auto":
            assert found.edge_error == 0

    def test_they_help(self):
        """Who is tied to seeds in the same ways is matched, where nothing else is known."""
        A = random_graph(30, 2, density=0.2)
        B, p = hidden(A, 2)
        settings = {"init": lambda A, B, generator: np.ones(A.shape), "divergence": None, "polish": False}
        without = match_graphs(A, B, **settings).edge_error
        seeded = match_graphs(A, B, seeds=[(p[i], i) for i in range(12)], **settings).edge_error
        assert seeded == 0 < without

    def test_names(self):
        networkx = pytest.importorskip("networkx", reason="networkx is not installed")
        graph = networkx.Graph(["ab", "bc", "cd", "de", "ef", "ac"])
        other = networkx.relabel_nodes(graph, {name: name.upper() for name in graph})
        shuffled = networkx.Graph()
        shuffled.add_nodes_from("FCADBE")
        shuffled.add_edges_from(other.edges)
        found = match_graphs(graph, shuffled, seeds={"a": "B"}, random_state=0)
        pairs = dict(found.pairs)
        assert pairs == {"a": "B", "b": "A", "c": "C", "d": "D", "e": "E", "f": "F"}
        assert found.edge_error == 0
        assert [list(names) for names in found.names] == [list("abcdef"), list("FCADBE")]

    def test_all_vertices_given_as_seeds(self):
        seeds = np.column_stack([self.p, np.arange(16)])
        np.testing.assert_array_equal(match_graphs(self.A, self.B, seeds=seeds).permutation, self.p)

    @pytest.mark.parametrize("known", [14, 15, 16])
    @pytest.mark.parametrize("sizes", [(16, 16), (16, 18), (18, 16)])
    @pytest.mark.parametrize("options", [{}, {"polish": False}, {"divergence": None}, {"init": "random", "n_init": 3}], ids=str)
    def test_nearly_all_vertices_given_as_seeds(self, known, sizes, options):
        """Whether the rest can be matched without error or not; nothing, or next to nothing, is left to exchange."""
        A, B = random_graph(sizes[0], 1), random_graph(sizes[1], 2)
        g = np.random.default_rng(0)
        pairs = np.column_stack([g.permutation(sizes[0])[:known], g.permutation(sizes[1])[:known]])
        found = match_graphs(A, B, seeds=pairs, random_state=0, **options)
        np.testing.assert_array_equal(found.permutation[pairs[:, 1]], pairs[:, 0])
        assert len(set(found.permutation[found.permutation >= 0])) == min(sizes)
        assert found.edge_error == found.squared_error > 0

    def test_many_of_them_take_little_memory(self):
        """What seeds say is n × n numbers, however many seeds there are."""
        n = 400
        A = random_graph(n, 1, density=0.05)
        B, p = hidden(A, 1)
        tracemalloc.start()
        found = match_graphs(A, B, seeds=np.column_stack([p, np.arange(n)]), divergence=None, init="walks", polish=False)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.edge_error == 0
        assert peak < 40 * 8 * n**2  # n³ would be ten times as much

    def test_no_seeds(self):
        np.testing.assert_array_equal(match_graphs(self.A, self.B, seeds=[]).permutation, match_graphs(self.A, self.B).permutation)

    @pytest.mark.parametrize(("seeds", "error", "match"), [
        ([(0, 99)], DataError, r"seeds has the pair \(0, 99\), and 99 is no vertex of B"),
        ([(-1, 0)], DataError, r"seeds .* -1 is no vertex of A"),
        ({"a": 1}, DataError, r"seeds .* 'a' is no vertex of A"),
        ([(0, 1, 2)], ShapeError, "Each of the seeds must be a pair: a vertex of A, and the vertex of B"),
        ([(0, 1), (0, 2)], DataError, "Two of the seeds have the same vertex of A"),
        ({0: 1, 2: 1}, DataError, "Two of the seeds have the same vertex of B"),
    ])  # fmt: skip
    def test_bad_ones(self, seeds, error, match):
        with pytest.raises(error, match=match):
            match_graphs(self.A, self.B, seeds=seeds)

    @pytest.mark.parametrize("seeds", [3, [1, 2], [([1], 2)]])
    def test_seeds_that_are_no_pairs(self, seeds):
        with pytest.raises(ValueError, match="pair"):
            match_graphs(self.A, self.B, seeds=seeds)


class TestSizes:
    @pytest.mark.parametrize("seed", range(4))
    def test_a_part_of_a_graph(self, seed):
        """B is what remains of A without some vertices; and the other way round."""
        A = random_graph(14, seed)
        keep = np.random.default_rng(seed).permutation(14)[:12]
        B = A[np.ix_(keep, keep)]
        lost = np.count_nonzero(A) - np.count_nonzero(B)
        found = match_graphs(A, B, random_state=0)
        q = found.permutation
        assert len(set(q)) == 12
        assert (A[np.ix_(q, q)] >= B).all()  # every edge of B is one of A
        assert found.edge_error == found.squared_error == lost
        assert found.confidence.shape == (12,)
        assert found.W.shape == (14, 14)
        back = match_graphs(B, A, random_state=0)
        matched = np.flatnonzero(back.permutation >= 0)
        assert sorted(back.permutation) == 2 * [-1] + list(range(12))
        assert (A[np.ix_(matched, matched)] >= B[np.ix_(back.permutation[matched], back.permutation[matched])]).all()
        assert back.edge_error == lost
        assert back.confidence.shape == (14,)
        assert len(back.pairs) == len(found.pairs) == 12
        assert set(found.pairs) == {(a, b) for b, a in enumerate(q)}

    @pytest.mark.parametrize("A", [[[0]], [[2.5]]])
    def test_one_vertex(self, A):
        found = match_graphs(A, A)
        np.testing.assert_array_equal(found.permutation, [0])
        assert found.edge_error == 0
        assert found.confidence == pytest.approx([1])

    def test_no_edges(self):
        found = match_graphs(np.zeros((3, 3)), np.zeros((4, 4)))
        assert found.edge_error == 0
        assert sorted(found.permutation) == [-1, 0, 1, 2]
        other = match_graphs(np.zeros((4, 4)), random_graph(4, 1, density=0.9))
        assert sorted(other.permutation) == [0, 1, 2, 3]
        assert other.edge_error == np.count_nonzero(random_graph(4, 1, density=0.9))

    def test_too_large(self, monkeypatch):
        monkeypatch.setattr(matching, "_LARGEST", 5)
        with pytest.raises(DataError, match="The larger graph has 6 vertices; at most 5 can be matched"):
            match_graphs(np.eye(6), np.eye(2))


class TestBadInput:
    A = random_graph(6, 1)

    @pytest.mark.parametrize(("options", "error", "match"), [
        ({"n_init": -1}, IncompatibleError, r"n_init must be an int of at least \d; got -1"),
        ({"n_init": 1.5}, IncompatibleError, r"n_init must be an int of at least \d; got 1.5"),
        ({"n_init": True}, IncompatibleError, r"n_init must be an int of at least \d; got True"),
        ({"init": "eigen"}, IncompatibleError, "Unknown init 'eigen'.*'umeyama'.*'walks'.*a function of A and B, or an array"),
        ({"init": ["walks", "foo"]}, IncompatibleError, "Unknown init 'foo'"),
        ({"init": np.ones((7, 6))}, ShapeError, r"init must be an array of shape \(6, 6\).*got shape \(7, 6\)"),
        ({"init": -np.ones((6, 6))}, ShapeError, "without negative or missing entries"),
        ({"init": np.full((6, 6), np.nan)}, ShapeError, "init must be an array"),
        ({"init": np.ones(6)}, ShapeError, "init must be an array"),
        ({"init": None}, ShapeError, "init must be an array"),
        ({"divergence": "foo"}, IncompatibleError, "Unknown divergence 'foo'"),
        ({"constraint": "foo"}, IncompatibleError, "Unknown constraint 'foo'.*'permutation'"),
        ({"constraint": 3}, IncompatibleError, "Unknown constraint 3"),
        ({"solver": "foo"}, IncompatibleError, "Unknown solver 'foo'"),
        ({"solver": None}, IncompatibleError, "Unknown solver None"),
        ({"solver": ["auto"]}, IncompatibleError, r"Unknown solver \['auto'\]"),
        ({"max_iter": -1}, IncompatibleError, "max_iter must be an int of at least 0; got -1"),
        ({"max_iter": "a"}, IncompatibleError, "max_iter must be an int of at least 0; got 'a'"),
        ({"tol": -1}, IncompatibleError, "tol must be a number that is not negative; got -1"),
        ({"tol": None}, IncompatibleError, "tol must be a number that is not negative; got None"),
        ({"polish": "no"}, IncompatibleError, "polish must be True or False; got 'no'"),
        ({"polish": 1}, IncompatibleError, "polish must be True or False; got 1"),
        ({"random_state": -1}, IncompatibleError, "random_state must be an int ≥ 0.*got -1"),
        ({"random_state": "a"}, IncompatibleError, "random_state must be an int ≥ 0.*got 'a'"),
        ({"init": 1j * np.ones((6, 6))}, ShapeError, "init cannot be read as an array of numbers"),
        ({"init": {}}, ShapeError, "init cannot be read as an array of numbers"),
    ])  # fmt: skip
    @pytest.mark.parametrize("without", [None, "solution", "edges"])
    def test_options(self, options, error, match, without):
        """Whether anything is solved or not, and before the first guess is made."""

        def guess(A, B, generator):
            raise AssertionError("it had begun to work")

        first = {"init": guess} if "init" not in options else {}
        rest = {"divergence": None} if without == "solution" and "divergence" not in options else {}
        A = np.zeros((6, 6)) if without == "edges" else self.A
        with pytest.raises(error, match=match):
            match_graphs(A, A, **options, **first, **rest)

    def test_every_guess_is_read_before_the_first_is_tried(self):
        def guess(A, B, generator):
            raise AssertionError("it had begun to work")

        with pytest.raises(IncompatibleError, match="Unknown init 'foo'"):
            match_graphs(self.A, self.A, init=[guess, "foo"])

    def test_no_guesses(self):
        with pytest.raises(ValueError, match="init"):
            match_graphs(self.A, self.A, init=[])

    @pytest.mark.parametrize(("A", "match"), [
        (-np.ones((2, 2)), "B has 4 weights that are negative"),
        (np.ones((2, 3)), "B must be a networkx graph or a square adjacency matrix"),
        (np.full((2, 2), np.nan), "B has 4 weights that are not finite"),
        ([["a"]], "B holds entries of type"),
    ])  # fmt: skip
    def test_graphs(self, A, match):
        with pytest.raises(DataError, match=match):
            match_graphs(self.A, A)


class TestUmeyama:
    @pytest.mark.parametrize("kind", KINDS)
    def test_it_is_umeyamas(self, kind):
        """|U_B| |U_A|ᵀ and the Hungarian method (Umeyama 1988, Eq. 38); (A + Aᵀ)/2 + i (A − Aᵀ)/2 of directed graphs."""
        A, B = (
            random_graph(11, seed, weighted=True, **{k: v for k, v in KINDS[kind].items() if k != "weighted"}) for seed in (1, 2)
        )
        of_A, of_B = (np.linalg.eigh((M + M.T) / 2 + 1j * (M - M.T) / 2)[1] for M in (A, B))
        expected = linear_sum_assignment(np.abs(of_B) @ np.abs(of_A.conj().T), maximize=True)[1]
        found = match_graphs(A, B, divergence=None, init="umeyama", polish=False)
        guess = umeyama(A, B)
        np.testing.assert_allclose(guess, np.abs(of_B) @ np.abs(of_A).T, atol=1e-9)
        np.testing.assert_array_equal(linear_sum_assignment(guess, maximize=True)[1], expected)
        assert found.n_iter == 0
        assert found.squared_error == pytest.approx(((A[np.ix_(found.permutation, found.permutation)] - B) ** 2).sum())
        # The guess is balanced before it is rounded, so the assignment may be another where the graphs are nothing like each other.
        same = match_graphs(A, hidden(A)[0], divergence=None, init="umeyama", polish=False)
        np.testing.assert_array_equal(same.permutation, hidden(A)[1])

    def test_rounding_the_first_guess(self):
        """“None rounds the first guess as it is: with init="umeyama" this is Umeyama's method”."""
        for seed in range(20):
            A, B = random_graph(12, seed, weighted=True), random_graph(12, 100 + seed, weighted=True)
            expected = linear_sum_assignment(umeyama(A, B), maximize=True)[1]
            found = match_graphs(A, B, divergence=None, init="umeyama", polish=False).permutation
            np.testing.assert_array_equal(found, expected)

    def test_all_eigenvectors(self):
        """GRAMPA, with all sums spelled out (Fan, Mao, Wu and Xu 2020, Eq. 5)."""
        A, B = random_graph(7, 1), random_graph(7, 2)
        scale = np.sqrt((A**2).sum() / 7)
        (a, u), (b, v) = np.linalg.eigh(A / scale), np.linalg.eigh(B / scale)
        X = np.zeros((7, 7))
        for i in range(7):
            for j in range(7):
                X += np.outer(v[:, j], v[:, j]) @ np.ones((7, 7)) @ np.outer(u[:, i], u[:, i]) / ((a[i] - b[j]) ** 2 + 0.2**2)
        np.testing.assert_allclose(all_eigenvectors(A, B), np.maximum(X, 0), atol=1e-10 * np.abs(X).max())

    @pytest.mark.parametrize("guess", [umeyama, all_eigenvectors, walks])
    @pytest.mark.parametrize("kind", KINDS)
    def test_guesses_know_no_order(self, guess, kind):
        """The same vertices in another order have the same guesses, in that order; and guesses tell vertices apart."""
        A, B = random_graph(10, 1, **KINDS[kind]), random_graph(10, 2, **KINDS[kind])
        g = np.random.default_rng(0)
        if guess is umeyama:  # eigenvectors of an eigenvalue that comes twice are any
            A, B = A + np.diag(g.random(10)), B + np.diag(g.random(10))
        p, q = g.permutation(10), g.permutation(10)
        expected = guess(A, B)[np.ix_(q, p)]
        found = guess(A[np.ix_(p, p)], B[np.ix_(q, q)])
        np.testing.assert_allclose(found, expected, atol=1e-7 * expected.max())
        assert np.abs(found - guess(A, B)).max() > 0.1 * expected.max()  # where all are alike, any order is the same
        assert (found >= 0).all()


class TestScales:
    @pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
    def test_weights_however_large_or_small(self, exponent):
        """The same matching to the bit, as 2^k rounds nothing; an error too large for a float is infinite, one too small 0."""
        A, B = random_graph(9, 1, weighted=True), random_graph(9, 2, weighted=True)
        plain = match_graphs(A, B, random_state=0)
        scaled = match_graphs(np.ldexp(A, exponent), np.ldexp(B, exponent), random_state=0)
        np.testing.assert_array_equal(scaled.permutation, plain.permutation)
        np.testing.assert_array_equal(scaled.W, plain.W)
        assert scaled.edge_error == plain.edge_error
        with np.errstate(over="ignore"):
            assert scaled.squared_error == np.ldexp(plain.squared_error, 2 * exponent)

    def test_a_function_sees_the_weights_that_were_given(self):
        A, seen = 8 * random_graph(6, 1), []
        match_graphs(A, A, init=lambda A, B, generator: seen.append((A, B)) or np.eye(6))
        for graph in seen[0]:
            np.testing.assert_array_equal(graph, A)

    def test_a_random_state(self):
        A, B = random_graph(8, 1), random_graph(8, 2)
        first, again = (match_graphs(A, B, init="random", random_state=np.random.RandomState(3)) for _ in range(2))
        np.testing.assert_array_equal(first.W, again.W)


class TestPrint:
    def test_it_is_short(self):
        A = random_graph(300, 1, density=0.02)
        found = match_graphs(A, A[:298, :298], divergence=None, init="umeyama", polish=False)
        assert repr(found) == (
            f"Matching(298 of 300 and 298 vertices, edge_error={found.edge_error}, squared_error={found.edge_error}, "
            "start='umeyama')"
        )


class TestConfidence:
    def test_twins(self):
        """Two leaves of one vertex could be exchanged without any edge noticing."""
        A = random_graph(14, 3, density=0.35)
        A = np.pad(A, (0, 2))
        A[14, 0] = A[15, 0] = A[0, 14] = A[0, 15] = 1
        B, p = hidden(A)
        found = match_graphs(A, B, random_state=0)
        assert found.edge_error == 0
        assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
        twins = p >= 14
        np.testing.assert_allclose(found.confidence[twins], 0.5, atol=0.02)
        assert np.median(found.confidence[~twins]) > 0.9

    @pytest.mark.parametrize("init", ["auto", "random", "umeyama"])
    @pytest.mark.parametrize("divergence", ["kullback-leibler", "euclidean", None])
    def test_ties_are_never_certain(self, init, divergence):
        """Whatever W has come to: two twins, a square with corners that are alike, and two arms that trade places together."""
        A = np.zeros((13, 13))
        square = [(3, 4), (4, 5), (5, 6), (6, 3), *((hub, corner) for hub in (0, 12) for corner in (3, 4, 5, 6))]
        for i, j in [(0, 1), (0, 2), *square, (0, 7), (7, 8), (0, 9), (9, 10), (0, 11), (11, 12)]:
            A[i, j] = A[j, i] = 1
        B, p = hidden(A)
        found = match_graphs(A, B, divergence=divergence, init=init, n_init=3, random_state=0)
        is_tied = np.isin(p, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        assert (found.confidence[is_tied] <= 0.5).all()
        if divergence == "kullback-leibler" and init == "auto":
            assert (found.confidence[~is_tied] > 0.5).all()

    def test_seeds_settle_ties(self):
        path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
        assert (match_graphs(path, path, random_state=0).confidence[[0, 1, 3, 4]] <= 0.5).all()
        assert (match_graphs(path, path, seeds=[(0, 0)], random_state=0).confidence > 0.5).all()

    @pytest.mark.parametrize(
        ("graph", "tied"),
        [
            ("karate_club_graph", [4, 5, 6, 10, 14, 15, 17, 18, 20, 21, 22]),
            ("petersen_graph", list(range(10))),
            ("frucht_graph", []),  # regular, and without any symmetry
            ("truncated_tetrahedron_graph", list(range(12))),
        ],
    )
    def test_doubles(self, graph, tied):
        """Those of the karate club are what its automorphisms, 480 of them, exchange."""
        networkx = pytest.importorskip("networkx")
        A = networkx.to_numpy_array(getattr(networkx, graph)(), weight=None)
        assert np.flatnonzero(have_doubles(A, np.zeros(0, dtype=int))).tolist() == tied

    def test_definition(self):
        W = np.array([[0.6, 0.3, 0.1], [0.2, 0.0, 0.8], [0.1, 0.7, 0.15]])
        found = matching._confidence(W, np.array([0, 2, 1]))
        np.testing.assert_allclose(found, [0.6 / 0.9, 0.8 / 1.0, 0.7 / 1.0])
        np.testing.assert_array_equal(matching._confidence(np.zeros((2, 2)), np.arange(2)), 0)


# ---------------------------------------------------------------- the constraint


def ratio(W, plus, minus):
    """Both sides by half each: [(∇⁻ + ½(WWᵀ∇⁺ + ∇⁺WᵀW)) / (∇⁺ + ½(WWᵀ∇⁻ + ∇⁻WᵀW))]."""
    both = lambda part: (W @ W.T @ part + part @ W.T @ W) / 2  # noqa: E731
    return (minus + both(plus)) / (plus + both(minus))


def point(model, B, **factors):
    shapes = infer_shapes(model, B.shape, None, {name: factor.shape for name, factor in factors.items()})
    return problem_of(model, read_data(B, model.data), shapes, {name: factors[name] for name in model.fixed}).point(factors)


class TestPermutation:
    A, B = (np.random.default_rng(seed).random((6, 6)) for seed in (1, 2))
    W = np.random.default_rng(3).random((6, 6)) + 0.1

    @pytest.mark.parametrize("divergence", ["kullback-leibler", "euclidean"])
    @pytest.mark.parametrize("exponent", [1.0, 0.5, 0.25])
    def test_rule(self, divergence, exponent):
        free, both = (Model("W A W.T", divergence, {"W": kind, "A": "fixed"}, data="B") for kind in (None, "permutation"))
        plus, minus = point(free, self.B, W=self.W, A=self.A).gradient("W")
        derived = moved(point(both, self.B, W=self.W, A=self.A), "W", exponent)
        np.testing.assert_allclose(derived, self.W * ratio(self.W, plus, minus) ** exponent, rtol=1e-10)

    @pytest.mark.parametrize("divergence", ["kullback-leibler", "euclidean"])
    def test_gradients_are_those_of_the_objective(self, divergence):
        """∇⁺ and ∇⁻ spelled out, so that the rule above is about what it should be."""
        model = Model("W A W.T", divergence, {"A": "fixed"}, data="B")
        plus, minus = point(model, self.B, W=self.W, A=self.A).gradient("W")
        fitted, A, W, B = self.W @ self.A @ self.W.T, self.A, self.W, self.B
        Z, one = (fitted, B) if divergence == "euclidean" else (np.ones((6, 6)), B / fitted)
        expected = [M @ W @ A.T + M.T @ W @ A for M in (Z, one)]
        np.testing.assert_allclose(plus / minus, expected[0] / expected[1], rtol=1e-10)

    @pytest.mark.parametrize("divergence", ["kullback-leibler", "euclidean"])
    def test_engine(self, divergence):
        """One iteration: the rule with the proven exponent, then rows and columns balanced."""
        model = Model("W A W.T", divergence, {"W": "permutation", "A": "fixed"}, data="B")
        free = Model("W A W.T", divergence, {"A": "fixed"}, data="B")
        exponent = model.rules["W"].exponent
        assert 0 < exponent <= 0.5
        expected = self.W
        for steps in range(1, 4):
            plus, minus = point(free, self.B, W=expected, A=self.A).gradient("W")
            expected = Permutation().restore(np, expected * ratio(expected, plus, minus) ** exponent)
            start = {"W": self.W, "A": self.A}
            found = factorize(self.B, model, init=start, solver=Multiplicative(), max_iter=steps, tol=0).factors["W"]
            np.testing.assert_allclose(found, expected, rtol=1e-9)

    def test_restore_balances(self):
        restored = Permutation().restore(np, self.W)
        expected = self.W
        for _ in range(3):
            expected = expected / expected.sum(axis=0)
            expected = expected / expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(restored, expected)
        np.testing.assert_allclose(restored.sum(axis=1), 1)
        np.testing.assert_allclose(restored.sum(axis=0), 1, atol=0.01)

    def test_permutations_stay(self):
        P = np.eye(5)[[3, 1, 4, 0, 2]]
        np.testing.assert_array_equal(Permutation().restore(np, 7 * P), P)
        assert Permutation().violation(np, P) == 0
        assert Permutation().violation(np, 2 * P) == pytest.approx(3 * 5**0.5)
        assert Permutation().violation(np, np.full((5, 5), 0.2)) == pytest.approx(2)

    def test_zero(self):
        np.testing.assert_array_equal(Permutation().restore(np, np.zeros((3, 3))), 0)

    @pytest.mark.parametrize(("shape", "instead"), [((4, 3), "columns"), ((3, 4), "rows")])
    def test_rectangular(self, shape, instead):
        message = Permutation().problem_with("W", shape)
        assert message.startswith(f"W is {shape[0]} × {shape[1]}, and only a square matrix can have orthonormal rows and")
        assert message.endswith(f"Use 'orthogonal-{instead}'.")
        assert isinstance(get_constraint(f"orthogonal-{instead}"), type(get_constraint("orthogonal")))
        assert Permutation().problem_with("W", (3, 3)) is None

    def test_rectangular_in_a_model(self):
        with pytest.raises(ValueError, match="W is 6 × 3, and only a square matrix"):
            factorize(self.B, "W H", 3, constraints={"W": "permutation"}, max_iter=1)

    def test_name_and_print(self):
        assert get_constraint("permutation") == Permutation()
        model = Model("W A W.T", "euclidean", {"W": "permutation", "A": "fixed"}, data="B")
        assert "Wᵀ W = W Wᵀ = I" in str(model)
        one_sided = Model("W A W.T", "euclidean", {"W": "orthogonal", "A": "fixed"}, data="B")
        assert "W Wᵀ = I" not in str(one_sided)


# ---------------------------------------------------------------- the papers' graphs


@pytest.mark.parametrize("name", ["karate", "dolphins", "cage5", "PRISON"])
def test_graphs_of_qnmf_tables_3_and_4(name):
    A = graph_at_hand(name).adjacency.toarray()
    B, _ = hidden(A, 0)
    found = match_graphs(A, B, random_state=0)
    assert found.edge_error == 0
    np.testing.assert_array_equal(A[np.ix_(found.permutation, found.permutation)], B)


def divided_kl(A, B, W):
    """∇⁻ and ∇⁺ of D(B‖W A Wᵀ) for the I-divergence."""
    Q, P = B / (W @ A @ W.T), np.ones_like(B)
    return tuple(M @ W @ A.T + M.T @ W @ A for M in (Q, P))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
def test_the_paper_s_own_steps(divergence, directed):
    """Five steps of QNMF Eq. 11 from a given W: for EU-QNMF after WᵀW = I is used and words cancel, exponent 1/4."""
    A = random_graph(8, directed=directed)
    B, _ = hidden(A)
    W = start = np.random.default_rng(3).random((8, 8)) + 0.1
    for _ in range(5):
        if divergence == "euclidean":
            down = B @ W @ A.T + B.T @ W @ A
            ratio, exponent = down / (W @ W.T @ down), 1 / 4
        else:
            down, up = divided_kl(A, B, W)
            ratio, exponent = (down + W @ W.T @ up) / (up + W @ W.T @ down), 1 / 2
        W = W * ratio**exponent
        W /= np.linalg.norm(W, 2)
    as_printed = {"constraint": "orthogonal", "polish": False, "solver": "paper", "tol": 0, "max_iter": 5}
    found = match_graphs(A, B, divergence=divergence, init=start, **as_printed)
    np.testing.assert_allclose(found.W, W, rtol=1e-11)
    growing = match_graphs(A, B, divergence=divergence, init=start, **{**as_printed, "solver": "auto"})
    assert np.abs(growing.W - W).max() > 0.01
