"""Fits in other processes and threads, and with indices of 64 bits, are the fits of this one: the page of policy promises it."""

import multiprocessing
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy import sparse

from nonneg import NMF, OPNMF, BiQNMF

MAKERS = {
    "NMF": lambda seed: NMF(3, random_state=seed),
    "NMF, I-divergence": lambda seed: NMF(3, divergence="kl", random_state=seed),
    "OPNMF": lambda seed: OPNMF(3, random_state=seed),
    "BiQNMF": lambda seed: BiQNMF(3, random_state=seed),
}


@pytest.fixture
def X():
    draw = np.random.default_rng(0)
    return draw.random((60, 3)) @ draw.random((3, 40)) + 0.1 * draw.random((60, 40))


def factors(model):
    return list(model.factors_.values())


def same(one, other):
    return all(map(np.array_equal, one, other))


def fitted(name, seed, X):
    return factors(MAKERS[name](seed).fit(X))


def _into(pipe, name, X):
    pipe.send(fitted(name, 1, X))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork, or should not")
@pytest.mark.parametrize("name", MAKERS)
def test_a_forked_child_fits(name, X):
    """After a fit of the parent, whose compiled loops and threads the child finds as they were."""
    expected, context = fitted(name, 1, X), multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_into, args=(sending, name, X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside threads
        child.start()
    try:
        assert receiving.poll(120), "the child does not hang"
        assert same(receiving.recv(), expected)
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_fits_side_by_side(backend, X):
    tasks = [(name, seed) for name in MAKERS for seed in range(2)]
    found = Parallel(n_jobs=2, backend=backend)(delayed(fitted)(name, seed, X) for name, seed in tasks)
    assert all(same(one, fitted(name, seed, X)) for one, (name, seed) in zip(found, tasks, strict=True))


@pytest.mark.parametrize("name", ["NMF", "NMF, I-divergence", "OPNMF"])
def test_one_estimator_transforms_in_several_threads(name, X):
    model = MAKERS[name](0).fit(X)
    blocks = [X[start : start + 15] for start in range(0, 60, 15)] * 4
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(model.transform, blocks))
    assert all(np.array_equal(one, model.transform(block)) for one, block in zip(found, blocks, strict=True))


@pytest.mark.parametrize("name", MAKERS)
def test_indices_may_have_64_bits(name, X):
    narrow = sparse.csr_array(np.where(np.median(X) < X, X, 0))
    wide = sparse.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)), narrow.shape)
    assert wide.indices.dtype == np.int64
    assert same(fitted(name, 0, wide), fitted(name, 0, narrow))
    assert wide.indices.dtype == np.int64
