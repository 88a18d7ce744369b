"""scikit-learn's own checks of estimators that take arrays of the array API: array-api-strict and PyTorch, in main memory."""

import unittest
import warnings

import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

import nonneg

from .test_device import LEARNED
from .test_estimators import names_of

torch = pytest.importorskip("torch")
if not hasattr(estimator_checks, "_yield_array_api_checks"):
    pytest.skip("this scikit-learn has one check of arrays, of other libraries than these", allow_module_level=True)

pytestmark = pytest.mark.wide(one_in=20)

MODELS = [clone(model).set_params(max_iter=30) for model in LEARNED if not isinstance(model, nonneg.SymmetricNMF)]
MODELS += [nonneg.SymmetricNMF(3, random_state=0)]


def checks():
    for name, model in zip(names_of(MODELS), MODELS, strict=True):
        for check in estimator_checks._yield_array_api_checks(model):
            where = "-".join(str(value) for value in check.keywords.values())
            is_there = not any(name in where for name in ("dpnp", "xpu", "mps", *([] if torch.cuda.is_available() else ["cu"])))
            # The check left out wants an error where samples of another library get codes of that library.
            if is_there and check.func.__name__ != "check_array_api_same_namespace":
                yield pytest.param(model, check, id=f"{name}-{check.func.__name__}-{where}")


@pytest.mark.parametrize(("model", "check"), [*checks()])
def test_arrays_of_other_libraries(model, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(type(model).__name__, clone(model))
        except unittest.SkipTest as reason:
            pytest.skip(str(reason))
