import warnings
from fnmatch import fnmatchcase

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def their_warnings():
    """A peer may say that it did not converge in the few iterations it was given."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.fixture(params=[42])
def global_random_seed(request):
    """scikit-learn's own fixture."""
    return request.param


def pytest_collection_modifyitems(items):
    """Tests of a peer that fail by design are expected to: one that passes fails."""
    for module in {item.module for item in items if hasattr(getattr(item, "module", None), "BY_DESIGN")}:
        own = [item for item in items if getattr(item, "module", None) is module]
        for item in own:
            reasons = [reason for pattern, reason in module.BY_DESIGN.items() if _matches(item.name, pattern)]
            if reasons:
                item.add_marker(pytest.mark.xfail(reason=reasons[0], strict=True))


def _matches(name, pattern):
    return fnmatchcase(name.translate(_PLAIN), pattern.translate(_PLAIN))


_PLAIN = str.maketrans("[]", "()")
"""Brackets mean something else in patterns."""
