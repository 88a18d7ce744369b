"""Sixty and more fits end as low as they did when they were recorded; ``python -m tests.recorded`` shows all of them."""

import json
import math

import pytest

import nonneg

from .fits import FITS, Outcome, run
from .record import FILE, difference, read

RECORDED = read()


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.name)
def test_a_fit_ends_no_worse_than_it_did(fit):
    found = difference(fit, run(fit), RECORDED[fit.name])
    assert found is None, found


def test_the_list_and_the_file_name_the_same_fits():
    names = [fit.name for fit in FITS]
    assert len(names) == len(set(names)) >= 60
    assert list(json.loads(FILE.read_text(encoding="utf8"))) == names


def test_every_estimator_is_in_the_list():
    fitted = {fit.what.partition(".")[0] for fit in FITS}
    classes = {name for name in nonneg.__all__ if isinstance(getattr(nonneg, name), type)}
    estimators = {name for name in classes if hasattr(getattr(nonneg, name), "fit")} - {"NMFImputer"}  # it fits another
    assert estimators | {"GraphClustering", "match_graphs", "maximize_rayleigh"} <= fitted


def test_the_list_is_wide():
    for name, values in {"dtype": {"float32", "float64"}, "storage": {"dense", "csr", "csc"}}.items():
        assert {getattr(fit, name) for fit in FITS} == values
    chosen = {fit.parameters.get("solver") for fit in FITS if isinstance(fit.parameters.get("solver"), str)}
    assert {"coordinate", "quasi-newton", "adaptive", "multiplicative", "least-squares", "als", "paper"} <= chosen


@pytest.mark.parametrize(("now", "is_worse"), [(1 + 2e-6, True), (1 + 5e-7, False), (0.5, False), (math.nan, True)])
def test_worse_results_are_noticed(now, is_worse):
    found = difference(FITS[0], Outcome(now, 1, "converged", None), Outcome(1.0, 1, "converged", None))
    assert (found is not None) == is_worse
    assert found is None or FITS[0].name in found
