"""The data sets that need no download."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import nonneg_papers
from nonneg import OPNMF, datasets
from nonneg.exceptions import IncompatibleError, ShapeError
from nonneg.metrics import clustering_accuracy
from nonneg.selection import match_components


def test_digits():
    digits = datasets.load_digits()
    assert (digits.data.shape, digits.images.shape, digits.feature_shape) == ((1797, 64), (1797, 8, 8), (8, 8))
    assert (digits.data.min(), digits.data.max()) == (0, 16)
    np.testing.assert_array_equal(np.unique(digits.target), np.arange(10))


def test_karate_is_that_of_networkx():
    networkx = pytest.importorskip("networkx")
    club, theirs = datasets.load_karate(), networkx.karate_club_graph()
    np.testing.assert_array_equal(club.adjacency.toarray(), networkx.to_numpy_array(theirs, weight=None))
    sides = [club.target_names[side] for side in club.target]
    assert sides == [theirs.nodes[member]["club"] for member in theirs]
    assert club.names.tolist() == [str(number) for number in range(1, 35)]


def test_planted_parts_are_found():
    planted = datasets.make_parts(300, 40, 5, noise=0.1, random_state=3)
    np.testing.assert_allclose(planted.parts @ planted.parts.T, np.eye(5), atol=1e-12)
    assert planted.data.min() >= 0
    found = OPNMF(5, random_state=0).fit(planted.data).components_
    assert clustering_accuracy(planted.labels, found.argmax(axis=0)) == 1.0


def test_planted_parts_without_noise_are_the_product():
    planted = datasets.make_parts(20, 12, 3, noise=0)
    np.testing.assert_allclose(planted.data, planted.codes @ planted.parts)
    np.testing.assert_array_equal(planted.target, planted.codes.argmax(axis=1))
    np.testing.assert_array_equal(planted.data, datasets.make_parts(20, 12, 3, noise=0).data)


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"n_samples": 0}, IncompatibleError, "n_samples must be an int of at least 1; got 0"),
        ({"n_parts": 2.5}, IncompatibleError, r"n_parts must be an int of at least 1; got 2\.5"),
        ({"noise": -1}, IncompatibleError, "noise must be a number of at least 0; got -1"),
        ({"n_features": 3, "n_parts": 4}, ShapeError, "n_parts=4: 3 features are too few"),
    ],
)
def test_planted_parts_that_cannot_be(parameters, error, match):
    with pytest.raises(error, match=match):
        datasets.make_parts(**parameters)


@pytest.mark.parametrize("name", nonneg_papers.__all__)
def test_the_data_of_the_papers_are_elsewhere(name):
    with pytest.raises(ImportError, match=f"{name} is in the package nonneg-papers: from nonneg_papers import {name}"):
        getattr(datasets, name)


def test_an_unknown_name():
    assert not hasattr(importlib.import_module("nonneg.datasets"), "load_nothing")


def test_importing_imports_nothing_heavy():
    heavy = ("pooch", "nonneg_papers", "sklearn", "scipy.io", "networkx")
    code = f"import sys, nonneg; old = set(sys.modules); import nonneg.datasets; print(({set(heavy)} & set(sys.modules)) - old)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"


def test_the_parts_of_drawn_faces_are_found():
    faces = datasets.make_faces(200, random_state=1)
    assert faces.images.shape == (200, 48, 40)
    assert faces.data.min() >= 0
    found = OPNMF(12, random_state=0).fit(faces.data)
    assert match_components(faces.parts, found).similarity.mean() > 0.9
    with pytest.raises(IncompatibleError, match="noise must be a number of at least 0; got -1"):
        datasets.make_faces(noise=-1)
