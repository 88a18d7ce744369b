from collections import Counter
from itertools import pairwise

import array_api_strict
import numpy as np
import pytest

from nonneg import Gram, Model, factorize
from nonneg.algebra.expression import parse
from nonneg.divergences import Alpha, Beta, Gamma
from nonneg.exceptions import IncompatibleError
from nonneg.planning import Apply, ApplyGram, Costs, Multiply, SelfProduct, Visit, canonical
from nonneg.planning.plans import multiply, plan
from nonneg.solvers import Multiplicative


def costs(shapes, *, constant=(), operands=(), data=(), grams=None, sizes=None, form="A", horizon=1, largest=np.inf):
    return Costs(
        shapes, sizes or {}, frozenset(constant), parse(form), frozenset(operands), frozenset(data), grams or {}, horizon, largest
    )


def parenthesisations(shapes):
    """(flops, rows, columns) of every way to multiply matrices of these shapes together."""
    if len(shapes) == 1:
        yield 0, *shapes[0]
    for cut in range(1, len(shapes)):
        for left, rows, inner in parenthesisations(shapes[:cut]):
            for right, _, columns in parenthesisations(shapes[cut:]):
                yield left + right + rows * inner * columns, rows, columns


@pytest.mark.parametrize("length", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(5))
def test_the_order_is_the_cheapest_of_all(length, seed):
    sizes = [int(size) for size in np.random.default_rng(seed).integers(1, 30, size=length + 1)]
    names, shapes = "ABCDEF"[:length], list(pairwise(sizes))
    known = costs(dict(zip(names, shapes, strict=True)))
    steps = plan([parse(" ".join(names))], frozenset(), known)
    spent = sum(known.shape(s.left)[0] * known.shape(s.left)[1] * known.shape(s.right)[1] for s in steps)
    assert spent == min(flops for flops, *_ in parenthesisations(shapes))
    assert len(steps) == length - 1


@pytest.mark.parametrize("text", ["A B", "A B C", "B.T A.T", "A B C D.T", "C.T C", "A B C C.T B.T A.T"])
def test_multiply(text, rng):
    matrices = {"A": rng.random((2, 7)), "B": rng.random((7, 3)), "C": rng.random((3, 9)), "D": rng.random((4, 9))}
    word = parse(text)
    expected = np.linalg.multi_dot([matrices[name].T if flipped else matrices[name] for name, flipped in word])
    np.testing.assert_allclose(multiply(word, matrices), expected)


def test_a_word_and_its_transpose_are_one():
    word = parse("A B.T")
    kept, flipped = canonical(word)
    assert canonical(word.T) == (kept, not flipped)
    assert canonical(parse("A A.T")) == (parse("A A.T"), False)


def test_known_products_are_not_recomputed():
    shapes = {"W": (50, 3), "H": (3, 40), "X": (50, 40)}
    targets = [parse("W H H.T"), parse("X H.T"), parse("H H.T"), parse("H X.T"), parse("H H.T W.T")]
    steps = plan(targets, frozenset(), costs(shapes))
    assert Counter(canonical(step.result)[0] for step in steps) == Counter(canonical(target)[0] for target in targets[:3])
    have = frozenset([canonical(parse("H X.T"))[0], parse("H H.T")])
    assert plan(targets, have, costs(shapes)) == [Multiply(parse("W H H.T"), parse("W"), parse("H H.T"))]


def test_one_visit_serves_all_operands_and_the_logarithm():
    known = costs({"W": (50, 3), "H": (3, 40), "E": (50, 40)}, operands="E", form="W H")
    steps = plan([parse("E H.T"), parse("W.T E"), parse("W.T E H.T")], frozenset(), known, logarithm=True)
    visits = [step for step in steps if isinstance(step, Visit)]
    assert visits == [Visit(parse("W"), parse("H"), (parse("E H.T"), parse("W.T E")), True)]


def test_the_product_is_cut_at_its_narrowest_place():
    known = costs({"W": (50, 9), "S": (9, 2), "H": (2, 40), "E": (50, 40)}, operands="E", form="W S H")
    visit = next(step for step in plan([parse("E H.T")], frozenset(), known) if isinstance(step, Visit))
    assert (visit.left, visit.right) == (parse("W S"), parse("H"))


def test_data_known_by_its_gram_matrix_alone():
    """X Xᵀ is multiplied with as a whole, and never taken apart."""
    known = costs({"W": (5, 2), "X": (5, 5)}, data="X", sizes={"X": np.inf}, grams={parse("X X.T"): 25})
    steps = plan([parse("X X.T W"), parse("W.T X X.T W")], frozenset(), known)
    assert steps[0] == ApplyGram(parse("X X.T W"), parse("X X.T"), parse("W"), True)
    assert [type(step) for step in steps[1:]] == [Multiply]
    formed = plan([parse("X X.T W")], frozenset([parse("X X.T")]), known)
    assert formed == [Multiply(parse("X X.T W"), parse("X X.T"), parse("W"))]


def test_the_data_are_applied_from_either_side():
    known = costs({"W": (50, 3), "H": (3, 40), "X": (50, 40)}, data="X")
    steps = plan([parse("X H.T"), parse("W.T X"), parse("H X.T W")], frozenset(), known)
    assert steps == [
        Apply(parse("X H.T"), parse("X"), parse("H.T"), True),
        Apply(parse("W.T X"), parse("W.T"), parse("X"), False),
        Multiply(parse("H X.T W"), parse("H"), parse("X.T W")),
    ]


@pytest.mark.parametrize(
    ("horizon", "shape", "is_formed"), [(100, (20, 300), True), (1, (20, 300), False), (100, (300, 20), False)]
)
def test_the_gram_matrix_is_a_step_of_its_own_if_it_pays(horizon, shape, is_formed):
    known = costs({"W": (shape[0], 3), "X": shape}, data="X", constant="X", horizon=horizon, largest=shape[0] * shape[1])
    steps = plan([parse("X X.T W")], frozenset(), known)
    assert (SelfProduct(parse("X X.T")) in steps) == is_formed
    assert {type(step) for step in steps} == ({SelfProduct, Multiply} if is_formed else {Apply})


@pytest.mark.parametrize(("form", "divergence"), [("W H", 2), ("X W W.T", 2), ("W W.T X", 1), ("W W.T X", Gamma(1))])
def test_forms_that_need_more_than_a_gram_matrix(form, divergence, X):
    with pytest.raises(IncompatibleError, match=r"Only X Xᵀ is known .* such as 'W W\.T X'"):
        factorize(Gram(X @ X.T), form, 2, divergence=divergence)


@pytest.fixture
def products(monkeypatch):
    """The shapes of all products of two matrices, (rows, inner, columns), counted as they are computed."""
    counter = Counter()
    array = type(array_api_strict.asarray(1))
    original = array.__matmul__

    def matmul(left, right):
        counter[(*left.shape, right.shape[1])] += 1
        return original(left, right)

    monkeypatch.setattr(array, "__matmul__", matmul)
    return counter


def run(shape, form, max_iter, divergence="euclidean", solver="multiplicative", **kwargs):
    X = array_api_strict.asarray(np.random.default_rng(0).random(shape) + 0.1)
    return factorize(
        X,
        form,
        None if form == "W X" else 3,
        init="random",
        divergence=divergence,
        max_iter=max_iter,
        tol=0,
        check_every=10**6,
        random_state=0,
        solver=solver,
        **kwargs,
    )


@pytest.mark.parametrize(
    ("form", "shape", "constraints", "expected"),
    [
        ("W H", (30, 20), {}, 6),  # X Hᵀ, H Hᵀ, W(H Hᵀ), and the same for H
        ("W W.T X", (20, 300), {}, 5),  # K W, Wᵀ(K W), W(…), Wᵀ W, (K W)(Wᵀ W)
        ("W W.T X", (20, 300), {"W": "orthogonal"}, 5),  # K W, Wᵀ(K W), W(…), two more in `restore` and its measure
        ("W W.T X", (300, 20), {}, 6),  # Xᵀ W and X(Xᵀ W) in place of K W
    ],
)
def test_products_of_one_iteration(form, shape, constraints, expected, products):
    counts = []
    for max_iter in (100, 101):
        products.clear()
        run(shape, form, max_iter, constraints=constraints)
        counts.append(products.total())
    assert counts[1] - counts[0] <= expected


def test_adaptive_steps_use_the_products_of_the_objective(products):
    """An accepted step costs no more products than a step of a fixed exponent."""
    counts = []
    for max_iter in (0, 1):
        products.clear()
        run((30, 20), "W H", max_iter, solver="adaptive")
        counts.append(products.total())
    assert counts[1] - counts[0] <= 8


@pytest.mark.parametrize("form", ["W H", "W W.T X", "W S H", "W X", "W V.T X", "W S H X"])
@pytest.mark.parametrize("solver", ["multiplicative", "adaptive", Multiplicative(rescale=True)], ids=str)
def test_euclidean_models_never_form_the_approximation(form, solver, products):
    run((40, 31), form, 5, solver=solver)
    assert products
    assert not [shape for shape in products if (shape[0], shape[2]) in ((40, 31), (31, 40))]


@pytest.mark.parametrize("divergence", [Beta(1), Beta(0), Alpha(2)], ids=str)
def test_others_form_it_in_blocks_only(divergence, products, monkeypatch):
    monkeypatch.setattr("nonneg.data.visiting._BLOCK_ENTRIES", {"cpu": 620, "accelerator": 620})
    run((40, 31), "W H", 5, divergence)
    assert max(rows for rows, inner, columns in products if columns == 31 and inner == 3) == 16


@pytest.mark.parametrize(
    ("shape", "max_iter", "expected"),
    [
        pytest.param((20, 300), 100, 1, id="pays"),
        pytest.param((20, 20), 1000, 1, id="square"),
        pytest.param((20, 300), 1, 0, id="too few iterations"),
        pytest.param((300, 20), 1000, 0, id="larger than X"),
        pytest.param((21, 20), 10**4, 0, id="one row too many"),
    ],
)
def test_the_gram_matrix_is_formed_once_if_it_pays_and_fits(shape, max_iter, expected, products):
    m, n = shape
    run(shape, "W W.T X", max_iter, **({"callback": lambda _: True} if max_iter > 100 else {}))
    assert products[m, n, m] == expected
    assert max(rows * columns for rows, _, columns in products) <= max(m * n, m * 3)


def test_both_plans_give_the_same_factors():
    """Whether X Xᵀ is formed is a matter of cost, not of the result."""
    model, W = Model("W W.T X"), np.random.default_rng(1).random((20, 3))
    X = np.random.default_rng(0).random((20, 300))
    short = factorize(X, model, 3, init={"W": W}, max_iter=1, tol=0)
    long = factorize(
        X, model, 3, init={"W": W}, max_iter=1000, tol=0, check_every=1, callback=lambda progress: progress.iteration == 1
    )
    assert short.n_iter == long.n_iter == 1
    np.testing.assert_allclose(short.factors["W"], long.factors["W"], rtol=1e-10)
