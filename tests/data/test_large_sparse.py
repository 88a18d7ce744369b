"""Sparse data too large to be dense: 200 000 × 100 000 with a million non-zeros, which would be 160 GB."""

import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from nonneg import Model

pytestmark = pytest.mark.wide(one_in=8)


pytest.importorskip("resource", reason="there is no limit on the address space to set here")

SCRIPT = """
import json, pathlib, re, resource, sys, tracemalloc
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))  # what densifies fails, and does not take the machine along
import numpy as np
from scipy import sparse
from nonneg import factorize

form, divergence, solver = sys.argv[1:]
rng, (m, n), entries = np.random.default_rng(0), (200_000, 100_000), 10**6
X = sparse.csr_array((rng.random(entries), (rng.integers(m, size=entries), rng.integers(n, size=entries))), shape=(m, n))
tracemalloc.start()
solution = factorize(X, form, 10, divergence=divergence, solver=solver, max_iter=3, check_every=1, tol=0, random_state=0)
peak = tracemalloc.get_traced_memory()[1]
status = pathlib.Path("/proc/self/status")
if status.exists():  # ru_maxrss of a child begins at the peak of its parent
    resident = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
else:
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({
    "peak": peak,
    "resident": resident,
    "objective": solution.history.objective.tolist(),
    "shapes": {name: factor.shape for name, factor in solution.factors.items()},
}))
"""


@pytest.mark.parametrize("form", ["W H", "W W.T X"])
@pytest.mark.parametrize("divergence", ["euclidean", "i-divergence"])
def test_memory_stays_bounded(form, divergence, pick_solver):
    solver = pick_solver(Model(form, divergence), np.ones((12, 11)), 10)
    command = [sys.executable, "-W", "error", "-c", SCRIPT, form, divergence, solver]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["peak"] < 0.8e9
    assert result["resident"] < 1.5e9
    assert result["shapes"]["W"] == [200_000, 10]
    objective = result["objective"]
    assert objective[-1] < objective[0]
    assert all(after <= before for before, after in pairwise(objective))
