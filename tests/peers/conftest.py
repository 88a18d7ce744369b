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


def pytest_collection_modifyitems(config, items):
    """Tests of a peer that fail by design are expected to, with the exception that is named: one that passes fails.

    A pattern that no test has, where whole modules were collected, is an error: what it excused is gone, or never was.
    """
    for module in {item.module for item in items if hasattr(getattr(item, "module", None), "BY_DESIGN")}:
        own = [item for item in items if getattr(item, "module", None) is module]
        unused = set(module.BY_DESIGN)
        for item in own:
            matching = [pattern for pattern in module.BY_DESIGN if _matches(item.name, pattern)]
            unused -= set(matching)
            if matching:
                raises, reason = module.BY_DESIGN[matching[0]]
                item.add_marker(pytest.mark.xfail(reason=reason, raises=raises, strict=True))
        if unused and _is_whole(config):
            raise pytest.UsageError(
                f"{module.__name__}: no test is called like {', '.join(map(repr, sorted(unused)))}, in BY_DESIGN"
            )


def _is_whole(config):
    """Whether all tests of these modules were collected, and not some by their names."""
    return not any("::" in str(argument) for argument in config.args)


def _matches(name, pattern):
    return fnmatchcase(name.translate(_PLAIN), pattern.translate(_PLAIN))


_PLAIN = str.maketrans("[]", "()")
"""Brackets mean something else in patterns."""
