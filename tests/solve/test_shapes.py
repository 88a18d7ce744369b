import numpy as np
import pytest

from nonneg import Model
from nonneg.exceptions import ShapeError
from nonneg.solve.signature import infer_shapes


@pytest.mark.parametrize(
    ("form", "shape", "rank", "given", "shapes"),
    [
        ("W H", (6, 5), 2, {}, {"W": (6, 2), "H": (2, 5)}),
        ("W H", (6, 5), np.int64(9), {}, {"W": (6, 9), "H": (9, 5)}),
        ("W H", (6, 5), np.array([2]), {}, {"W": (6, 2), "H": (2, 5)}),
        ("W H", (6, 5), None, {"H": (3, 5)}, {"W": (6, 3), "H": (3, 5)}),
        ("W W.T X", (6, 5), 2, {}, {"W": (6, 2)}),
        ("X W W.T", (6, 5), 2, {}, {"W": (5, 2)}),
        ("W S H", (6, 5), (2, 3), {}, {"W": (6, 2), "S": (2, 3), "H": (3, 5)}),
        ("W S H", (6, 5), 2, {}, {"W": (6, 2), "S": (2, 2), "H": (2, 5)}),
        ("W S H", (6, 5), 3, {"S": (3, 3)}, {"W": (6, 3), "S": (3, 3), "H": (3, 5)}),
        ("H.T W.T", (6, 5), 2, {}, {"H": (2, 6), "W": (5, 2)}),
        ("W W.T", (6, 6), 2, {}, {"W": (6, 2)}),
        ("W X", (6, 5), None, {}, {"W": (6, 6)}),
        ("W", (6, 5), None, {}, {"W": (6, 5)}),
        ("W H H", (6, 5), None, {}, {"W": (6, 5), "H": (5, 5)}),
    ],
)
def test_inferred(form, shape, rank, given, shapes):
    assert infer_shapes(Model(form), shape, rank, given) == shapes


def test_trace_is_square_on_the_outside():
    assert infer_shapes(Model("W.T X W", "trace"), (6, 6), 2, {}) == {"W": (6, 2)}


def test_fixed_factors_leave_fewer_dimensions_open():
    model = Model("A S H", constraints={"A": "fixed"})
    assert infer_shapes(model, (6, 5), 2, {"A": (6, 3)}) == {"A": (6, 3), "S": (3, 2), "H": (2, 5)}


@pytest.mark.parametrize(
    ("form", "shape", "rank", "given", "match"),
    [
        (
            "W W.T",
            (6, 5),
            2,
            {},
            r"'W W.T' cannot approximate X of shape \(6, 5\).*6 \(W comes first.*5 \(Wᵀ comes last.*'W W.T X'",
        ),
        ("W X.T", (6, 5), 2, {}, r"6 \(X has 6 rows\) and 5 \(Xᵀ comes last, and X has 5 columns\)"),
        ("W H", (6, 5), 2, {"W": (4, 2)}, r"6 \(W comes first.*4 \(the W that is given has 4 rows\)"),
        ("W H", (6, 5), 3, {"W": (6, 2)}, r"3 \(rank = 3\) and 2 \(the W that is given has 2 columns\)"),
        ("W H", (6, 5), None, {"W": (6, 2), "H": (3, 5)}, r"2 \(the W .*3 \(the H that is given has 3 rows\)"),
        ("W H", (6, 5), None, {}, r"leaves 1 inner dimension open \(columns of W\): give rank="),
        ("W S H", (6, 5), None, {}, r"leaves 2 inner dimensions open \(columns of W, columns of S\)"),
        ("W S H", (6, 5), [2, 3, 4], {}, r"rank gives 3 numbers, but .* has 2 inner dimensions"),
        ("W H", (6, 5), [], {}, "rank gives 0 numbers"),
        ("W H", (6, 5), 0, {}, "rank must be at least 1; got 0"),
        ("W H", (6, 5), -3, {}, "rank must be at least 1; got -3"),
        ("W H", (6, 5), 2.0, {}, r"rank must be an int.*got 2\.0"),
        ("W H", (6, 5), True, {}, "rank must be an int.*got True"),
        ("W H", (6, 5), "2", {}, "rank must be an int.*got '2'"),
        ("W H", (6, 5), [2.5], {}, "rank must be an int.*2.5"),
    ],
)
def test_contradictions_are_explained(form, shape, rank, given, match):
    with pytest.raises(ShapeError, match=match):
        infer_shapes(Model(form), shape, rank, given)


@pytest.mark.parametrize(
    ("constraint", "factor", "match"),
    [
        ("orthogonal", "W", "W is 6 × 7, and 7 orthonormal columns do not fit into 6 rows"),
        ("orthogonal-rows", "H", "H is 7 × 5, and 7 orthonormal rows do not fit into 5 columns"),
        ("doubly-stochastic", "W", "W is 6 × 7, and only a square matrix"),
    ],
)
def test_constraints_have_a_say(constraint, factor, match):
    with pytest.raises(ShapeError, match=match):
        infer_shapes(Model("W H", constraints={factor: constraint}), (6, 5), 7, {})


@pytest.mark.parametrize(
    ("form", "fixed", "rank", "match"),
    [
        ("W", {}, 7, "rank = 7 has nothing to say here.*Leave rank out"),
        ("W", {}, -7, "rank must be at least 1"),
        ("W X", {}, 2, "every inner dimension is fixed already, at 6"),
        ("W H", {"W": (6, 3)}, 5, "rank = 5 has nothing to say here.*at 3"),
        ("W H", {"W": (6, 3)}, [5], "rank gives 1 numbers"),
    ],
)
def test_a_rank_that_nothing_asks_for(form, fixed, rank, match):
    with pytest.raises(ShapeError, match=match):
        infer_shapes(Model(form, constraints=dict.fromkeys(fixed, "fixed")), (6, 5), rank, fixed)


def test_rank_as_an_array_without_dimensions():
    with pytest.raises(ShapeError, match="rank must be an int"):
        infer_shapes(Model("W H"), (6, 5), np.array(2), {})
