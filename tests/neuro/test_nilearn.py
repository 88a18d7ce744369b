"""nilearn's own checks of estimators, and those of scikit-learn that it expects to pass."""

import sys
import warnings
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest
from nibabel import Nifti1Image

from nonneg.neuro import OPNMFParcellation

HAS_POLARS = find_spec("polars") is not None
with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
    warnings.simplefilter("ignore")
    if not HAS_POLARS:  # 180 MB, for one check
        patch.setitem(sys.modules, "polars", ModuleType("polars"))
    from nilearn._utils import estimator_checks
    from sklearn.utils.estimator_checks import check_estimator

ELSEWHERE = {
    "check_tags": "of scikit-learn before 1.6",
    "check_doc_link": "links to the pages of nilearn",
    "check_img_estimator_dtypes_inverse_transform": "casts images of whole-number loadings to whole numbers",
}


def estimator():
    return OPNMFParcellation(2, random_state=0, negative="clip")


def images():
    return Nifti1Image(np.random.default_rng(0).random((5, 6, 7, 6)) + 0.5, np.eye(4))


CHECKS = {name: check for _, check, name in estimator_checks.nilearn_check_estimator([estimator()])}


def test_there_are_checks():
    assert len(CHECKS) > 20
    assert set(ELSEWHERE) <= set(CHECKS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CHECKS if name not in ELSEWHERE])
def test_nilearn(name, monkeypatch):
    if name == "check_set_output" and not HAS_POLARS:
        pytest.skip("needs polars")
    monkeypatch.setattr(estimator_checks, "generate_data_to_fit", lambda _: (images(), None))
    CHECKS[name](estimator())


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn():
    expected = estimator_checks.return_expected_failed_checks(estimator())
    found = check_estimator(estimator(), expected_failed_checks=expected, on_skip=None)
    assert sum(result["status"] == "passed" for result in found) > 10


def test_loadings_as_a_table():
    table = estimator().set_output(transform="pandas").fit_transform(images())
    assert table.shape == (6, 2)
    assert table.columns.tolist() == ["part 1", "part 2"]
