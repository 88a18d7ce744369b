"""Pinned fits keep their bits, public signatures stay, and files of earlier versions load."""

import json
import shutil
import sys

import numpy as np
import pytest

import nonneg
from nonneg.exceptions import DataError

from .pins import FILE, GOLDEN, SIGNATURES, difference, golden_data, golden_fit, golden_models, machine, measure, signatures
from .plain import PINS

pytestmark = pytest.mark.wide(one_in=2)


RECORDED = json.loads(FILE.read_text(encoding="utf8"))
IS_HERE = RECORDED["machine"] == machine()


@pytest.mark.skipif(not IS_HERE, reason=f"bits were recorded on another machine: {RECORDED['machine']}")
@pytest.mark.parametrize("name", PINS)
def test_bits_stay(name):
    assert difference(measure(name), RECORDED["fits"][name]) is None


def test_the_list_and_the_file_name_the_same_fits():
    assert list(RECORDED["fits"]) == list(PINS)
    assert len(PINS) >= 150


def test_a_difference_is_seen():
    before = next(iter(RECORDED["fits"].values()))
    assert difference(before, before) is None
    assert "bits" in difference(before | {"bits": "other"}, before)
    assert "memory" in difference(before | {"peak": 2 * before["peak"] + 2**19}, before)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="methods of str and of exceptions have other signatures there")
def test_public_signatures_stay():
    assert signatures() == json.loads(SIGNATURES.read_text(encoding="utf8"))


@pytest.mark.parametrize("name", golden_models())
def test_models_of_earlier_versions_load(name):
    model, expected = nonneg.load(GOLDEN / f"{name}.nonneg"), np.load(GOLDEN / f"{name}.npy")
    found = model.transform(golden_data()) if hasattr(model, "transform") else model.factors_["L"]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_checkpoints_of_earlier_versions_are_resumed(tmp_path):
    shutil.copy(GOLDEN / "checkpoint-2.nonneg", tmp_path / "run.nonneg")
    whole, resumed = golden_fit(max_iter=60), golden_fit(max_iter=60, checkpoint=tmp_path / "run.nonneg")
    assert resumed.n_iter_ == 60
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-9)


def test_checkpoints_of_version_1_are_refused(tmp_path):
    shutil.copy(GOLDEN / "checkpoint.nonneg", tmp_path / "run.nonneg")
    with pytest.raises(DataError, match=r"run\.nonneg .*written by an older nonneg, .* Delete it"):
        golden_fit(max_iter=60, checkpoint=tmp_path / "run.nonneg")
    assert (tmp_path / "run.nonneg").read_bytes() == (GOLDEN / "checkpoint.nonneg").read_bytes()
