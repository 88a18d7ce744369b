"""The widest grids are run by ``make test-all``; ``make test`` runs a part of them, the same each time."""

import os
import signal
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from nonneg.solve.problem import bind
from nonneg.solvers import get_solver

os.environ.setdefault("TRITON_INTERPRET", "1")  # before Triton is imported: its kernels are run on the host

ONE_IN = {
    "backends/test_backends.py": 3,
    "equations/test_qnmf.py": 3,
    "estimators/test_bad_input.py": 8,
    "estimators/test_checks.py": 8,
    "estimators/test_codes.py": 8,
    "estimators/test_coclusters.py": 12,
    "estimators/test_discriminants.py": 8,
    "estimators/test_fits.py": 8,
    "estimators/test_missing.py": 2,
    "estimators/test_storage.py": 4,
    "estimators/test_streams.py": 2,
    "peers/test_their_chains.py": 2,
    "peers/test_their_nmf.py": 2,
    "properties/test_engine.py": 4,
    "properties/test_gradient.py": 3,
    "properties/test_kkt.py": 3,
    "properties/test_monotone.py": 16,
    "properties/test_penalties.py": 5,
    "properties/test_signs.py": 6,
    "properties/test_weights.py": 2,
    "recorded/test_pins.py": 2,
    "unit/test_convergence.py": 2,
    "unit/test_coordinate.py": 12,
    "unit/test_checkpoints.py": 6,
    "unit/test_dask.py": 2,
    "unit/test_door.py": 16,
    "unit/test_eigenvectors.py": 3,
    "unit/test_encoding.py": 8,
    "unit/test_factorize.py": 10,
    "unit/test_feature_names.py": 2,
    "unit/test_files.py": 4,
    "unit/test_graph_clustering.py": 2,
    "unit/test_host.py": 2,
    "unit/test_large_sparse.py": 4,
    "unit/test_matching.py": 3,
    "unit/test_newton.py": 2,
    "unit/test_partitions.py": 3,
    "unit/test_plot.py": 2,
    "unit/test_quasi_newton.py": 8,
    "unit/test_runs.py": 6,
    "unit/test_same_bits.py": 2,
    "unit/test_similarities.py": 6,
    "unit/test_single.py": 4,
    "unit/test_starts.py": 6,
    "unit/test_storages.py": 40,
    "unit/test_selection.py": 4,
    "papers/test_texts.py": 2,
    "unit/test_units.py": 2,
    "unit/test_weighted.py": 3,
    "unit/test_weighted_blocks.py": 6,
}
"""Of the cases of each parametrized test in these files."""
WIDE = (
    "test_benchmarks.py::test_every_group_measures_something",
    "test_benchmarks.py::test_nothing_fails_and_what_is_left_out_says_why",
    "test_benchmarks.py::test_small_data_are_not_judged",
    "cli/test_shell.py::TestRank::test_two_ranks_graphs_and_chains",
    "cli/test_shell.py::TestRank::test_fit_with_several",
    "cli/test_shell.py::TestInterrupted::test_a_rank_that_is_looked_for_first",
    "cli/test_shell.py::TestInterrupted::test_coclusters",
    "cli/test_shell.py::TestInterrupted::test_partitions",
    "cli/test_shell.py::TestInterrupted::test_matchings",
    "cli/test_shell.py::test_examples_of_the_help_work[cocluster]",
    "estimators/test_similarities.py::test_olivetti",
    "peers/test_opnmf.py::test_printed_rule[R]",
    "peers/test_opnmf.py::test_estimator_under_the_papers_protocol[R]",
    "peers/test_opnmf.py::test_estimator_under_the_papers_protocol[matlab]",
    "peers/test_opnmf.py::test_single_precision",
    "estimators/test_missing.py::test_weights_leave_factors_orthogonal[ONMF(n_components=5, random_state=0)]",
    "properties/test_engine.py::test_the_models_differ",
    "properties/test_monotone.py::test_the_cases_differ",
    "unit/test_large_sparse.py::test_memory_stays_bounded[auto-euclidean-W W.T X]",
    "unit/test_pages.py::test_ranks",
    "unit/test_selection.py::test_both_ranks_of_a_co_clustering_are_found",
    "unit/test_selection.py::test_held_out_items_of_a_quadratic_co_clustering_have_one_cluster",
    "unit/test_selection.py::test_the_same_seed_gives_the_same_whatever_the_threads",
)
"""What takes minutes."""


def pytest_addoption(parser):
    parser.addoption("--wide", action="store_true", help="run all cases of the widest grids, not a part of them")


def pytest_configure(config):
    """Make hypothesis draw the same examples in every run, without a deadline, since the first example compiles and imports; and
    restore SIGINT, which ``nohup make test &`` makes this process and its children ignore.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    drawn = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
    settings.register_profile("nonneg", max_examples=40 if config.getoption("--wide") else 10, **drawn)
    settings.load_profile("nonneg")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--wide"):
        return
    kept, left_out = [], []
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        share = ONE_IN.get(name.partition("::")[0], 1) if "[" in name else 1
        is_kept = crc32(name.encode()) % share == 0 and not name.startswith(WIDE)
        (kept if is_kept else left_out).append(item)
    # A run that asks for single cases gets them.
    if any("::" in argument for argument in config.args):
        return
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


OTHERS = ("coordinate", "quasi-newton", "adaptive", "multiplicative")


@pytest.fixture(params=["auto", "drawn"])
def pick_solver(request):
    """Which solver a model is tried with: "auto", or, drawn by the name of the test, another that has no obstacle."""

    def pick(model, X, rank):
        if request.param == "auto":
            return "auto"
        problem = bind(model, X, rank)
        possible = [name for name in OTHERS if get_solver(name).obstacle(problem.signature) is None]
        return possible[crc32(request.node.nodeid.encode()) % len(possible)]

    return pick
