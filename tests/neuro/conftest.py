"""A study of sixty planted brains, in memory and on disk."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import planted_brains


def pytest_configure(config):
    """Marks of nilearn's own tests, which its estimator checks import."""
    for mark in ("ai_generated", "flaky", "single_process", "slow", "thread_unsafe"):
        config.addinivalue_line("markers", f"{mark}: of nilearn")


@pytest.fixture(scope="session")
def study():
    return planted_brains.planted(resolution=12)


@pytest.fixture(scope="session")
def table(study, tmp_path_factory):
    """`participants.tsv` of the study on disk."""
    return planted_brains.write(study, tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="session")
def model(study, table):
    from nonneg.neuro import OPNMFParcellation

    return OPNMFParcellation(12, mask=study.mask, random_state=0).fit(table)
