"""The widest grids are run by ``make test-all``; ``make test`` runs a part of them, the same each time."""

from zlib import crc32

ONE_IN = {
    "backends/test_backends.py": 2,
    "equations/test_qnmf.py": 2,
    "estimators/test_bad_input.py": 2,
    "estimators/test_checks.py": 2,
    "estimators/test_coclusters.py": 3,
    "estimators/test_discriminants.py": 2,
    "estimators/test_fits.py": 2,
    "properties/test_engine.py": 2,
    "properties/test_monotone.py": 3,
    "properties/test_penalties.py": 3,
    "unit/test_coordinate.py": 3,
    "unit/test_door.py": 2,
    "unit/test_encoding.py": 3,
    "unit/test_factorize.py": 2,
    "unit/test_large_sparse.py": 3,
    "unit/test_matching.py": 2,
    "unit/test_partitions.py": 2,
    "unit/test_quasi_newton.py": 3,
    "unit/test_runs.py": 2,
    "unit/test_starts.py": 2,
}
"""Of the cases of each parametrized test in these files."""
WIDE = ("test_benchmarks.py::test_every_group_measures_something",)
"""What takes minutes."""


def pytest_addoption(parser):
    parser.addoption("--wide", action="store_true", help="run all cases of the widest grids, not a part of them")


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
