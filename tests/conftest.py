"""``make test`` runs all but tests marked `wide`; ``make test-all`` runs these, too (`tests/README.md`)."""

import math
import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from nonneg.divergences import Alpha, Beta
from nonneg.solve.problem import bind
from nonneg.solvers import get_solver
from properties.strategies import DIVERGENCES

os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported: its kernels are run on the host


def pytest_addoption(parser):
    parser.addoption("--wide", action="store_true", help="run tests and cases that are marked as wide, too")


def pytest_configure(config):
    """Make hypothesis draw the same examples in every run, without a deadline, since the first example compiles and imports; and
    restore SIGINT, which ``nohup make test &`` makes this process and its children ignore.
    """
    config.addinivalue_line("markers", "wide(one_in): left to make test-all, but for one case in so many, if that is given")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    drawn = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("nonneg", max_examples=40 if config.getoption("--wide") else 10, **drawn)
    settings.load_profile("nonneg")


def pytest_collection_modifyitems(config, items):
    """Leave out what is marked as wide, unless ``--wide`` is given, or single cases are asked for."""
    if config.getoption("--wide") or any("::" in argument for argument in config.args):
        return
    cases = {}
    for item in items:
        mark = item.get_closest_marker("wide")
        if mark is not None:
            cases.setdefault((item.nodeid.partition("[")[0], mark.kwargs.get("one_in")), []).append(item)
    left_out = set()
    for (_, one_in), alike in cases.items():
        kept = spread(len(alike), one_in) if one_in else ()
        left_out.update(item for number, item in enumerate(alike) if number not in kept)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def spread(count, one_in):
    """Numbers of one case in so many, all over a grid: steps of the golden section, which no period of the grid divides."""
    step = next(step for step in range(round(count * 0.618), count + 2) if math.gcd(step, count) == 1)
    return {number * step % count for number in range(max(1, round(count / one_in)))}


OTHERS = ("coordinate", "quasi-newton", "adaptive", "multiplicative")


@pytest.fixture(params=["auto", "drawn"])
def pick_solver(request):
    """Which solver a model is tried with: "auto", or another without an obstacle, by the number of the case."""

    def pick(model, X, rank):
        if request.param == "auto":
            return "auto"
        problem = bind(model, X, rank)
        possible = [name for name in OTHERS if get_solver(name).obstacle(problem.signature) is None]
        return possible[sum(request.node.callspec.indices.values()) % len(possible)]

    return pick


@pytest.fixture(params=[*DIVERGENCES, 0.3 * Beta(0) + Alpha(2) + Beta(3)], ids=str)
def divergence(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    """A small matrix without zeros."""
    return rng.random((6, 5)) + 0.1
