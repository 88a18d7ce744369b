"""The door to X is all there is: a kind of data of a few lines runs every fit of dense data.

`RowBlocks` is written here as anyone might write it: a list of row blocks, as they would lie in files. It answers what `Data` asks
of every kind and nothing else, never has all rows at once, and counts how often it is read.
"""

import inspect
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import nonneg
from nonneg import Model, factorize
from nonneg.constraints import NAMES as CONSTRAINTS
from nonneg.constraints import Disjoint, NearOrthogonal, PartlyFixed, Sparse
from nonneg.data import Data, base
from nonneg.data.blocks import Blocks, together
from nonneg.data.dense import DenseData
from nonneg.data.reading import read_data
from nonneg.data.visiting import put_together, visit_rows
from nonneg.data.weighted import Weighing, WeightedDense
from nonneg.divergences import Beta
from nonneg.exceptions import DataError
from nonneg.kernels.namespace import Namespace, namespace_of
from nonneg.solve.initialization import NAMES as INITIALIZATIONS
from nonneg.solve.problem import bind
from nonneg.solve.solvers import best_solver
from nonneg.solvers import NAMES as SOLVERS
from properties.strategies import DIVERGENCES, MODELS, OUTER, Case, cases, fitting

pytestmark = pytest.mark.wide(one_in=16)


class RowBlocks(Data):
    """X as a list of row blocks."""

    def __init__(self, parts, counts=None):
        self.parts = parts
        self.counts = Counter() if counts is None else counts
        self.stops = np.cumsum([part.shape[0] for part in parts])
        self.namespace, self.shape = parts[0].namespace, (int(self.stops[-1]), parts[0].shape[1])

    def each(self, what):
        """The row blocks, one after the other, with the rows that they are."""
        self.counts[what] += 1
        for part, stop in zip(self.parts, self.stops.tolist(), strict=True):
            yield slice(stop - part.shape[0], stop), part

    def apply(self, M, *, transposed=False, sign=""):
        if transposed:
            return sum(part.apply(M[rows], transposed=True, sign=sign) for rows, part in self.each("apply"))
        return self.namespace.xp.concat([part.apply(M, sign=sign) for _, part in self.each("apply")])

    def visit(self, U, V, requests, log_power=None):
        visits = [
            visit_rows(lambda _, own, wanted, part=part: part.visit(own, V, wanted, log_power), rows, U, requests)
            for rows, part in self.each("visit")
        ]
        return put_together(self.namespace, requests, visits)

    def survey(self, totals):
        return together(part.survey(totals) for _, part in self.each("survey"))

    def take(self, items, axis):
        if axis == 1:
            return np.concatenate([part.take(items, 1) for _, part in self.each("take")], axis=1)
        taken = np.empty((len(items), self.shape[1]), self.namespace.dtype)
        for rows, part in self.each("take"):
            mine = (items >= rows.start) & (items < rows.stop)
            taken[mine] = part.take(items[mine] - rows.start, 0)
        return taken

    def in_units(self, unit):
        return type(self)([part.in_units(unit) for part in self.parts], self.counts)

    def itself(self):
        raise AssertionError("All of X was asked for at once.")


class AlsoWhole(RowBlocks):
    """For forms with a factor as large as X, which need all of X at once."""

    itself = Data.itself


def row_blocks(X, rows=3, kind=RowBlocks):
    """X in blocks of a few rows, the last of them smaller."""
    return kind([DenseData(X[i : i + rows], namespace_of(X)) for i in range(0, len(X), rows)])


def test_it_is_short():
    assert len(inspect.getsource(RowBlocks).splitlines()) < 60


class MaskedFolder(Blocks):
    """A folder of .npy files, the row blocks of one matrix, each with a mask beside it: True where an entry is missing."""

    def __init__(self, folder):
        self.files = sorted(path for path in folder.glob("*.npy") if not path.stem.endswith("-mask"))
        self.masks = [path.with_name(f"{path.stem}-mask.npy") for path in self.files]
        shapes = [np.load(path, mmap_mode="r").shape for path in self.files]
        self.stops, self.shape = np.cumsum([rows for rows, _ in shapes]), (sum(rows for rows, _ in shapes), shapes[0][1])
        self.namespace = Namespace(np, np.dtype(np.float64), "cpu")

    def pieces(self):
        for path, mask, stop in zip(self.files, self.masks, self.stops.tolist(), strict=True):
            values = np.where(np.load(mask), np.nan, np.load(path))
            yield slice(stop - len(values), stop), WeightedDense(values, self.namespace)


@pytest.mark.parametrize("scale", [1.0, 1e-100])
@pytest.mark.parametrize("name", ["OPNMF", "NMF", "ONMF"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_kind_with_missing_entries(name, scale, tmp_path):
    generator = np.random.default_rng(0)
    X = scale * np.kron(np.eye(3), np.ones((10, 5))) * generator.uniform(0.5, 1.5, (30, 15)) + 0.1 * scale * generator.random(
        (30, 15)
    )
    mask = generator.random(X.shape) < 0.1
    for number, rows in enumerate(np.split(np.arange(30), 3)):
        np.save(tmp_path / f"{number}.npy", X[rows])
        np.save(tmp_path / f"{number}-mask.npy", mask[rows])
    folder, known = MaskedFolder(tmp_path), np.where(mask, np.nan, X)
    found, expected = (getattr(nonneg, name)(3, missing="ignore", random_state=0).fit(own) for own in (folder, known))
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-3)
    order = np.array([29, 0, 11, 10])
    np.testing.assert_array_equal(folder.some(order).values, known[order])
    codes = found.transform(folder)
    np.testing.assert_allclose(codes, found.transform(known), atol=1e-6 * codes.max())


def test_missing_entries_are_left_out_only_if_asked(tmp_path):
    X = np.kron(np.eye(2), np.ones((6, 4))) + 0.1
    mask = np.zeros(X.shape, dtype=bool)
    mask[3, 1] = mask[7, 2] = True
    np.save(tmp_path / "0.npy", X)
    np.save(tmp_path / "0-mask.npy", mask)
    folder, model = MaskedFolder(tmp_path), nonneg.NMF(2, random_state=0)
    with pytest.raises(DataError, match=r"X has 2 missing entries\. missing='ignore'"):
        model.fit(folder)
    with pytest.raises(DataError, match=r"X has 2 missing entries"):
        factorize(folder, "W H", 2)
    with pytest.raises(DataError, match="Blocks of the kind MaskedFolder take no weights"):
        factorize(folder, "W H", 2, weights=X, missing="ignore")
    model.set_params(missing="ignore")
    with_weights = type("WithWeights", (MaskedFolder,), {"weighing": Weighing()})(tmp_path)
    found, expected = model.fit(folder).components_, model.fit(with_weights).components_
    np.testing.assert_array_equal(found, expected)


# ---- what follows from it


@pytest.fixture
def few(monkeypatch):
    """Sixteen rows, or columns, at a time are enough for everyone."""
    monkeypatch.setattr(base, "_CHUNK", 1)
    generator = np.random.default_rng(0)
    return generator.random((40, 20)) * (generator.random((40, 20)) < 0.7)


def test_blocks_of_rows_equal_dense_data(few, rng):
    data, dense = row_blocks(few), read_data(few)
    assert data.facts == dense.facts
    assert (data.size, data.shape) == (few.size, few.shape)
    for exponent in (0, 0.5, 1, 2):
        assert data.power_sum(exponent) == pytest.approx(dense.power_sum(exponent))
        assert data.power_sum(exponent + 1, logarithm=True) == pytest.approx(dense.power_sum(exponent + 1, logarithm=True))
    for transposed in (False, True):
        own = few.T if transposed else few
        M = rng.random((own.shape[1], 2))
        np.testing.assert_allclose(data.apply(M, transposed=transposed), own @ M)
        np.testing.assert_allclose(data.apply_after(M.T, transposed=not transposed), M.T @ own.T)
        np.testing.assert_allclose(data.apply_gram(own[:, :3], transposed=transposed), own @ own.T @ own[:, :3])
        np.testing.assert_allclose(data.with_itself(transposed, not transposed), own @ own.T)
        np.testing.assert_allclose(data.lengths(int(transposed)), np.linalg.norm(own, axis=1))
        blocks = list(data.blocks(transposed=transposed))
        assert len(blocks) == -(-len(own) // 16)
        np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), own)
    np.testing.assert_allclose(np.concatenate([block for _, block in data.in_units(4.0).blocks()]), few / 4)


def test_signed_parts(rng):
    S = rng.standard_normal((7, 7))
    data, M = row_blocks(S), rng.random((7, 2))
    np.testing.assert_allclose(data.apply(M, sign="⁺") - data.apply(M, sign="⁻"), S @ M)
    np.testing.assert_allclose(data.apply(M, sign="⁺", transposed=True), np.maximum(S, 0).T @ M)


# ---- every model with every solver

NAMED = ("auto", *SOLVERS)
ITERATIONS = 12
"""Past the warm-up of coordinate descent, and few enough for rounding not to lead two runs apart."""


def run(X, case, solver):
    return factorize(X, case.model, init=case.start, solver=solver, max_iter=ITERATIONS, tol=0, check_every=4)


def outcome(X, case, solver):
    """The solution, or the words of a refusal."""
    try:
        return run(X, case, solver)
    except ValueError as refusal:
        return type(refusal), str(refusal)


def assert_as_dense(case):
    """Each solver goes the same way, or refuses with the same words."""
    shapes = case.shapes.values()  # X̂ has no narrow place, or a factor is as large as X
    is_large = all({*shape} <= {*case.shape} for shape in shapes) or any(sorted(shape) == sorted(case.shape) for shape in shapes)
    data = row_blocks(case.X, kind=AlsoWhole if is_large else RowBlocks)
    for solver in NAMED:
        if solver == "block-coordinate":  # takes one array, and says so
            continue
        found, expected = outcome(data, case, solver), outcome(case.X, case, solver)
        if isinstance(expected, tuple):
            assert found == expected
            continue
        # Whether, and at which iteration, the last digit stands still is a matter of rounding, and so of the order of sums.
        if "no_progress" not in (found.status, expected.status):
            assert (found.status, found.n_iter) == (expected.status, expected.n_iter), solver
        size = abs(expected.history[0].objective)
        assert found.objective == pytest.approx(expected.objective, rel=1e-8, abs=1e-11 * size), solver


def case_of(form, divergence, constraints, seed=0):
    return Case(Model(form, divergence, constraints), *fitting(Model(form, divergence, constraints), (2, 3, 4, 8)), seed)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=str)
@pytest.mark.parametrize(("form", "constraints"), MODELS, ids=str)
def test_forms_and_divergences(form, constraints, divergence):
    assert_as_dense(case_of(form, divergence, constraints))


PENALTIES = {"sparse": Sparse(0.1), "disjoint": Disjoint(0.1), "near": NearOrthogonal("columns", 0.1)}


@pytest.mark.parametrize("constraint", [*CONSTRAINTS, *PENALTIES])
@pytest.mark.parametrize("form", ["W H", "W W.T X", "X W W.T", "W S H", "A W B W.T C"])
@pytest.mark.parametrize("divergence", [Beta(2), Beta(1)], ids=str)
def test_constraints(form, constraint, divergence):
    try:
        case = case_of(form, divergence, {**(OUTER if "A" in form else {}), "W": PENALTIES.get(constraint, constraint)})
    except (AssertionError, ValueError):
        pytest.skip("a constraint that this form, or this divergence, does not allow")
    assert_as_dense(case)


def test_given_columns():
    given = np.random.default_rng(0).random((7, 1)) + 0.1
    assert_as_dense(case_of("W H", 2, {"W": PartlyFixed(given, "columns")}))


@given(cases())
@settings(suppress_health_check=list(HealthCheck))
def test_any_model(case):
    assert_as_dense(case)


@pytest.mark.parametrize("solver", ["auto", "multiplicative", "adaptive"])
def test_traces_of_either_sign(solver, rng):
    S, start = rng.standard_normal((9, 9)), {"W": rng.random((9, 2))}
    S, model = S + S.T, Model("W.T S W", "trace", {"W": "orthogonal"}, data="S")
    found, expected = (factorize(X, model, init=start, solver=solver, max_iter=5, tol=0) for X in (row_blocks(S), S))
    np.testing.assert_allclose(found.history.objective, expected.history.objective, rtol=1e-10)
    np.testing.assert_allclose(found.factors["W"], expected.factors["W"], rtol=1e-8)


@pytest.mark.parametrize("form", ["W W.T X", "X W W.T"])
def test_whether_a_gram_matrix_is_formed_or_not(form, few):
    """Coordinate descent goes over rows, or columns, of X itself where it is not."""
    for X in (few, few.T):
        data = row_blocks(np.ascontiguousarray(X))
        W = np.random.default_rng(1).random((X.shape[form == "X W W.T"], 3))
        found, expected = (
            factorize(own, form, init={"W": W}, solver="coordinate", max_iter=15, tol=0) for own in (data, np.ascontiguousarray(X))
        )
        assert found.objective == pytest.approx(expected.objective, rel=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_extreme_units(dtype, scale, rng):
    X = (scale * (rng.random((8, 7)) + 0.1)).astype(dtype)
    data = row_blocks(X)
    for divergence in (2, 1):
        found, expected = (factorize(own, "W H", 2, divergence=divergence, random_state=0, max_iter=10) for own in (data, X))
        assert found.factors["W"].dtype == dtype
        assert found.objective == pytest.approx(expected.objective, rel=1e-3 if dtype == np.float32 else 1e-8)


# ---- starts

SHAPES = {"W H": 3, "W W.T X": 3, "X W W.T": 3, "W S H": (3, 4), "W W.T": 3, "W B W.T": 3, "L L.T X R R.T": (3, 2)}


@pytest.mark.parametrize("init", INITIALIZATIONS)
@pytest.mark.parametrize("form", SHAPES)
def test_every_start(init, form):
    X = np.random.default_rng(0).random((8, 7)) + 0.1
    X = X @ X.T if form in ("W W.T", "W B W.T") else X
    found, expected = (
        factorize(own, form, SHAPES[form], init=init, random_state=0, max_iter=0).factors for own in (row_blocks(X), X)
    )
    for name, factor in expected.items():
        np.testing.assert_allclose(found[name], factor, rtol=1e-6, atol=1e-9 * factor.max())


# ---- how often it is read


def readings(form, divergence, solver, iterations, shape=(40, 20)):
    data = row_blocks(np.random.default_rng(0).random(shape) + 0.1)
    factorize(
        data,
        form,
        3,
        divergence=divergence,
        solver=solver,
        init="random",
        random_state=0,
        max_iter=iterations,
        tol=0,
        check_every=10**6,
    )
    return data.counts


@pytest.mark.parametrize(
    ("form", "divergence", "solver", "shape", "expected"),
    [
        ("W H", 2, "multiplicative", (40, 20), 2),  # X Hᵀ and Wᵀ X
        ("W W.T X", 2, "multiplicative", (40, 20), 2),  # Xᵀ W and X (Xᵀ W)
        ("W W.T X", 2, "multiplicative", (20, 40), 0),  # X Xᵀ is formed
        ("X W W.T", 2, "multiplicative", (40, 20), 0),
        ("W W.T X", 2, "coordinate", (20, 40), 0),
        ("W H", 1, "multiplicative", (40, 20), 2),  # one visit for each factor
        ("W W.T X", 1, "multiplicative", (40, 20), 3),  # Xᵀ W, a visit, and X (Qᵀ W) with Q = X/X̂
    ],
)
def test_readings_of_one_iteration(form, divergence, solver, shape, expected):
    few, more = (readings(form, divergence, solver, iterations, shape).total() for iterations in (100, 101))
    assert more - few <= expected


@pytest.mark.parametrize("divergence", [2, 1, 0, 1.5], ids=str)
def test_facts_sums_and_checks_take_one_reading(divergence):
    data = row_blocks(np.random.default_rng(0).random((40, 20)) + 0.1)
    bind(Model("W H", divergence), data, 3)
    assert data.counts == {"survey": 1}


def test_the_default_solver_is_the_same():
    X = np.random.default_rng(0).random((40, 20)) + 0.1
    for form, divergence, constraints in (("W H", 2, {}), ("W W.T X", 2, {}), ("W H", 1, {}), ("W H", 2, {"W": "orthogonal"})):
        model = Model(form, divergence, constraints)
        assert best_solver(bind(model, row_blocks(X), 3).signature) == best_solver(bind(model, X, 3).signature)


# ---- estimators

RANKS = {"NMTF": (3, 3), "ONMTF": (3, 3), "BiQNMF": (3, 3), "BiORNM3F": (3, 3)}
ESTIMATORS = ["NMF", "PNMF", "OPNMF", "ONMF", "ProjectiveClustering", "NMTF", "BiQNMF", "BiORNM3F", "NonnegativeSparseCoding"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(name):
    generator = np.random.default_rng(0)
    X = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((10, 5))) * generator.uniform(0.5, 1.5, (30, 15)) + 0.1 * generator.random(
        (30, 15)
    )
    found, expected = (getattr(nonneg, name)(RANKS.get(name, 3), random_state=0).fit(own) for own in (row_blocks(X), X))
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-5 * expected.components_.max())
