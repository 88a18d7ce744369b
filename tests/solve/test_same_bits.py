"""Same seed, same machine, same number of threads: the same bits. And up to four threads, whatever their number."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from nonneg import TruncatedNonnegativeSVD, factorize
from nonneg.kernels.threads import limited, over_pieces

pytestmark = pytest.mark.wide(one_in=2)


def fitted(X, form, **settings):
    solution = factorize(X, form, 5, random_state=0, tol=0, max_iter=14, **settings)
    return b"".join(np.ascontiguousarray(factor).tobytes() for factor in solution.factors.values()), solution.history.objective


CASES = [
    pytest.param("W W.T X", (9000, 40), {}, id="rows in lanes"),
    pytest.param("W W.T X", (150, 400), {}, id="Gram matrix"),
    pytest.param("W H", (3000, 90), {}, id="factors that occur once"),
    pytest.param("W H", (3000, 200), {"divergence": 1}, id="entries in pieces"),
    pytest.param("W W.T X", (3000, 200), {"divergence": 1}, id="quadratic, entries in pieces"),
]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("form", "shape", "settings"), CASES)
def test_again(form, shape, settings, store, rng):
    """Where arrays lie in memory must not matter: kernels whose sums depended on it differed in two runs of one process."""
    X = rng.random(shape) * (rng.random(shape) < 0.3)
    first, objectives = fitted(store(X), form, **settings)
    kept = []  # what lies elsewhere each time
    for i in range(3):
        kept.append(np.empty(1000 + 37 * i))
        again, others = fitted(store(X), form, **settings)
        np.testing.assert_array_equal(others, objectives)
        assert again == first


@pytest.mark.parametrize(("form", "shape", "settings"), CASES)
def test_with_another_number_of_threads(form, shape, settings, rng):
    X = rng.random(shape)
    runs = []
    for count in (1, 2, 3):
        with limited(count), threadpool_limits(1, user_api="blas"):
            runs.append(fitted(X, form, **settings)[0])
    assert runs[0] == runs[1] == runs[2]


KERNELS = """
import sys
from hashlib import sha256
import numpy as np
from scipy import sparse
from nonneg import NMF, OPNMF

rng = np.random.default_rng(0)
X = rng.gamma(0.5, 1, (60, 5)) @ rng.gamma(0.5, 1, (5, 40)) + 0.01 * rng.random((60, 40))
S = sparse.csr_array(X * (rng.random(X.shape) < 0.3))
fits = {
    "Euclidean": lambda: NMF(4, random_state=0, max_iter=40).fit_transform(X),
    "Kullback-Leibler": lambda: NMF(4, divergence="kl", random_state=0, max_iter=40).fit_transform(X),
    "Kullback-Leibler, sparse": lambda: NMF(4, divergence="kl", random_state=0, max_iter=40).fit(X).transform(S),
    "Gram": lambda: OPNMF(4, random_state=0, max_iter=40).fit(X).components_,
    "sparse": lambda: OPNMF(4, random_state=0, max_iter=40).fit(S).components_,
}
for name in sorted(fits, reverse="reverse" in sys.argv):
    print(name, sha256(np.ascontiguousarray(fits[name]()).tobytes()).hexdigest())
"""


def test_in_the_process_that_compiles(tmp_path):
    """Kernels just compiled, loaded from disk, and loaded in another order give the same bits.

    Pieces of kernels that were not inlined were shared between kernels, by whichever was compiled or loaded first.
    """
    runs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", KERNELS, *order],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for order in ([], [], ["reverse"])
    ]
    assert len(runs[0]) == 5
    assert runs[0] == runs[1] == runs[2][::-1]


def test_pieces_are_all_rows_in_order():
    for rows, least in ((1, 1.0), (7, 1.0), (1000, 10.0), (1000, 1e9)):
        pieces = over_pieces(lambda start, stop: (start, stop), rows, 2.0, least)
        assert [row for start, stop in pieces for row in range(start, stop)] == list(range(rows))


UNSEEDED = pytest.mark.skipif(
    "rng" not in inspect.signature(eigsh).parameters, reason="before SciPy 1.17 ARPACK draws without a seed"
)


@pytest.mark.parametrize("shape", [(4, 4), (30, 2000), pytest.param((1700, 1600), marks=UNSEEDED)])
def test_singular_vectors_of_equal_values(shape):
    """If the leading vectors are exhausted others are drawn: from the seed, too."""
    X = sparse.csr_array(([1.0], ([2], [0])), shape=shape)
    first, again = (TruncatedNonnegativeSVD(2, random_state=0).fit(X) for _ in range(2))
    np.testing.assert_array_equal(first.components_, again.components_)
    np.testing.assert_allclose(first.components_ @ first.components_.T, np.eye(2), atol=1e-12)
