"""Kernels for CUDA, run by Triton's interpreter on the host, beside their definitions in NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton", reason="the kernels are written in Triton")

from nonneg import factorize  # noqa: E402
from nonneg.data import device  # noqa: E402
from nonneg.data.steps import Request  # noqa: E402
from nonneg.divergences import Alpha, Beta, Gamma  # noqa: E402
from nonneg.kernels import fused  # noqa: E402
from nonneg.kernels.host import bounded_ratio  # noqa: E402
from nonneg.kernels.projective import steps_of  # noqa: E402

torch_namespace = pytest.importorskip("array_api_compat.torch")


@pytest.fixture(autouse=True)
def plain_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fused.PRECISIONS, "highest", "ieee")  # the interpreter knows no products of bfloat16


class Powers(NamedTuple):
    exponents: tuple[float, float]


def draw(*shape: int, seed: int = 0) -> Any:
    return torch.as_tensor(np.random.default_rng(seed).random(shape) + 0.1, dtype=torch.float32)


@pytest.mark.parametrize("is_turned", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("exponents", [(1.0, -1.0), (0.0, 0.5), (2.0, -2.0), (1.0, -0.5), (-1.0, 1.0), (0.5, 0.3)])
def test_visit_equals_its_definition(exponents: tuple[float, float], is_turned: bool) -> None:
    m, n, r = 150, 85, 5
    X, U, V, M, N = draw(m, n), draw(m, r, seed=1), draw(r, n, seed=2), draw(n, 3, seed=3), draw(4, m, seed=4)
    requests = [
        Request(Powers(exponents), "right", V.T),
        Request(Powers((1.0, 1.0)), "right", V.T),
        Request(Powers((0.0, -2.0)), "right", V.T),
        Request(Powers(exponents), "right", M),
        Request(Powers(exponents), "left", N),
        Request(Powers(exponents), "left", U.T),
        Request(Powers((1.0, -2.0)), "left", U.T),
    ]
    given = X.T.contiguous().T if is_turned else X
    found, logarithm = fused.visit(given, 2.0, U, V, requests, 1e-19, 1.0)
    x, approximation = X.double() / 2, (U.double() @ V.double())
    for request, product in zip(requests, found, strict=True):
        p, e = request.operand.exponents
        E = x**p * approximation**e
        wanted = E @ request.matrix.double() if request.side == "right" else request.matrix.double() @ E
        assert product.shape == wanted.shape
        np.testing.assert_allclose(product, wanted, rtol=3e-6)
    np.testing.assert_allclose(float(logarithm), float((x * approximation.log()).sum()), rtol=1e-6)


def test_zeros_and_entries_outside_of_the_matrix_add_nothing() -> None:
    X, U, V = torch.zeros(70, 33), draw(70, 2), draw(2, 33)
    U[3] = 0  # X̂ is zero there, and counts as the floor
    requests = [Request(Powers((1.0, -1.0)), "right", V.T), Request(Powers((1.0, -2.0)), "left", U.T)]
    found, logarithm = fused.visit(X, 1.0, U, V, requests, 1e-19, 1.0)
    assert all(bool((product == 0).all()) for product in found)
    assert float(logarithm) == 0.0


def test_only_supported_visits_go_to_the_kernels() -> None:
    class OnCard(NamedTuple):
        dtype: Any = torch.float32
        strides: tuple[int, int] = (12, 1)
        is_cuda: bool = True

        def stride(self) -> tuple[int, int]:
            return self.strides

    assert fused.can_visit(OnCard(), 5, 128)
    assert not fused.can_visit(OnCard(), 5, 129)
    assert not fused.can_visit(OnCard(torch.float64), 5)
    assert not fused.can_visit(OnCard(strides=(24, 2)), 5)
    assert not fused.can_visit(draw(10, 12), 5)


@pytest.mark.parametrize("divergence", ["kullback-leibler", "itakura-saito", Beta(0.5), Alpha(0.5), Gamma(0.5)])
@pytest.mark.parametrize("form", ["W H", "W W.T X"])
def test_fits_by_the_kernels_equal_fits_without(divergence: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = draw(40, 23)
    plain = factorize(X, form, 3, divergence=divergence, max_iter=3, solver="multiplicative", random_state=0)
    monkeypatch.setattr(device, "has_kernels", lambda namespace: True)
    monkeypatch.setattr(fused, "can_visit", lambda X, *widths: True)
    visit, calls = fused.visit, []
    monkeypatch.setattr(fused, "visit", lambda *arguments: calls.append(1) or visit(*arguments))
    found = factorize(X, form, 3, divergence=divergence, max_iter=3, solver="multiplicative", random_state=0)
    assert calls
    np.testing.assert_allclose(found.factors["W"], plain.factors["W"], rtol=2e-5)
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-5)


@pytest.mark.parametrize("r", [1, 6, 70])
def test_coordinate_rows_moves_every_entry_to_its_minimum(r: int) -> None:
    F, C, H = draw(2, 40, r), 3 * draw(2, 40, r, seed=1), draw(2, r, 90, seed=2)
    Q = H @ H.mT
    found = fused.STEPS.rows(F, C, Q, 0.25, passes=2)
    wanted = F.double().clone()
    for _ in range(2):
        for k in range(r):
            slope = (wanted @ Q.double()[..., :, k : k + 1])[..., 0] - C[..., k].double() + 0.25
            wanted[..., k] = (wanted[..., k] - slope / Q[:, None, k, k].double()).clamp_min(0)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
    assert bool((draw(2, 40, r) == F).all())


def test_components_without_curvature_stay() -> None:
    F, C, Q = draw(7, 3), draw(7, 3), torch.diag(torch.tensor([1.0, 0.0, 2.0]))
    found = fused.STEPS.rows(F, C, Q)
    assert torch.equal(found[:, 1], F[:, 1])
    torch.testing.assert_close(found[:, 2], C[:, 2] / 2)


@pytest.mark.parametrize(("r", "has_linear"), [(1, False), (5, True), (40, False)])
def test_the_best_share_is_that_of_the_array_library(r: int, has_linear: bool) -> None:
    Y, moved = draw(2, 30, r) / 10, draw(2, 30, r, seed=1)
    F, step = draw(2, 50, r, seed=2) / (10 * r), draw(2, 50, r, seed=3) / r
    linear = torch.tensor([0.3, -2.0], dtype=torch.float64) if has_linear else None
    given = Y.mT @ Y, F.mT @ F, Y.mT @ moved, moved.mT @ moved, F.mT @ step, step.mT @ step, linear, 12
    wanted = steps_of(torch_namespace).share(*given)
    assert 0 < float(wanted[0].max()) <= 1
    for found, expected in zip(fused.STEPS.share(*given), wanted, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


def test_no_share_of_a_step_uphill_is_taken() -> None:
    Y, F = draw(20, 3), draw(30, 3)
    given = Y.T @ Y, F.T @ F, Y.T @ Y, Y.T @ Y, F.T @ F, F.T @ F, None, 12  # from the best scale and beyond, further on
    share, G, numbers = fused.STEPS.share(*given)
    assert float(share) == 0.0
    torch.testing.assert_close(G, F.T @ F)
    B = (Y.T @ Y).double()
    np.testing.assert_allclose(numbers[0], float((B * G.double()).sum() / 2 - B.trace()), rtol=1e-6)


@pytest.mark.parametrize("r", [1, 7, 50])
def test_rows_are_held_back_as_by_the_array_library(r: int) -> None:
    F, C, H = draw(2, 40, r), 3 * draw(2, 40, r, seed=1), draw(2, r, 90, seed=2)
    given = F, C, H @ H.mT, 0.25, 2, 0.1
    np.testing.assert_allclose(fused.STEPS.rows(*given), steps_of(torch_namespace).rows(*given), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("is_turned", [False, True])
def test_the_bounded_ratio_is_that_of_the_array_library(is_turned: bool) -> None:
    numerator, denominator = draw(50, 41) - 0.3, draw(50, 41, seed=1)
    denominator[0, :5], denominator[1, 0], numerator[2, :3] = 0.0, -1.0, torch.tensor([np.nan, np.inf, 1e30])
    denominator = denominator.T.contiguous().T if is_turned else denominator
    given = numerator, denominator, 0.2, 4.0
    np.testing.assert_allclose(fused.bounded_ratio(*given), bounded_ratio(torch_namespace, *given), rtol=1e-6)


@pytest.mark.parametrize("r", [1, 2, 16, 50])
@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_the_largest_eigenvalue_of_a_gram_matrix(r: int, scale: float) -> None:
    for F in (draw(80, r), torch.nn.functional.one_hot(torch.arange(80) % r, r).float(), 0 * draw(80, r)):
        gram = F.T @ F * scale
        wanted = float(torch.linalg.eigvalsh(gram.double())[-1])
        np.testing.assert_allclose(float(fused.largest_eigenvalue(gram)), wanted, rtol=1e-4)
