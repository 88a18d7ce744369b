"""Components of fits to separate samples, matched: shared ones in all, own ones where they are, features by name."""

import numpy as np
import pytest

from nonneg.exceptions import IncompatibleError, ShapeError
from nonneg.selection import match_components, meta_components

RNG = np.random.default_rng(0)
PROGRAMS = RNG.gamma(0.3, 1.0, (6, 60)) + 0.2 * RNG.gamma(1.0, 1.0, 60)


def fits(count=4):
    """Four shared programs in every fit, in another order and with noise; the fifth and the sixth in one each."""
    made = {}
    for number in range(count):
        parts = PROGRAMS[[*range(4), *([4 + number] if number < 2 else [])]]
        parts = parts * RNG.uniform(0.9, 1.1, parts.shape) * RNG.uniform(1, 5, (len(parts), 1))
        made[f"sample {number}"] = parts[RNG.permutation(len(parts))]
    return made


@pytest.mark.parametrize("n_clusters", ["auto", 6])
def test_shared_components_are_found(n_clusters):
    given = fits()
    found = meta_components(given, n_clusters)
    assert match_components(PROGRAMS[:4], found.components).similarity.min() > 0.99
    np.testing.assert_array_equal(found.shares, np.ones(4))
    assert found.silhouettes.min() > 0.6
    for part, members in enumerate(found.members):
        assert [label for label, _ in members] == list(given)
        for label, number in members:
            assert match_components(found.components[[part]], given[label][[number]]).similarity[0] > 0.99


def test_features_by_name():
    pandas = pytest.importorskip("pandas")
    names = np.array([f"g{j}" for j in range(60)])
    tables = {}
    for label, parts in fits().items():
        columns = RNG.permutation(60)[:55]
        tables[label] = pandas.DataFrame(parts[:, columns], columns=names[columns])
    found = meta_components(tables)
    assert set(found.features) == set.intersection(*(set(table.columns) for table in tables.values()))
    places = [int(name[1:]) for name in found.features]
    assert match_components(PROGRAMS[:4, places], found.components).similarity.min() > 0.99


def test_a_cluster_of_few_fits_is_left_out():
    given = fits()
    given["sample 3"] = given["sample 3"][1:]
    assert sorted(meta_components(given, 6).shares) == [0.75, 1, 1, 1]
    assert sorted(meta_components(given, 6, min_share=0.8).shares) == [1, 1, 1]


def test_mistakes():
    with pytest.raises(IncompatibleError, match="models must be two fits or more; got 1"):
        meta_components([PROGRAMS])
    with pytest.raises(IncompatibleError, match="models must be a list or a dict of fits"):
        meta_components(PROGRAMS)
    with pytest.raises(ShapeError, match="features without names, and not equally many: 0 60, 1 59"):
        meta_components([PROGRAMS, PROGRAMS[:, 1:]])
    with pytest.raises(IncompatibleError, match="n_clusters must be an int of at least 1, or 'auto'"):
        meta_components([PROGRAMS, PROGRAMS], 0)
    with pytest.raises(IncompatibleError, match="min_share must be a number from 0 to 1"):
        meta_components([PROGRAMS, PROGRAMS], min_share=2)
