"""Cases that `make test` leaves out are spread over grids: every value of every parameter is left in, if there is room."""

from itertools import product

import pytest

from conftest import spread


@pytest.mark.parametrize("sizes", [(8, 4, 4), (2, 2, 2, 2, 2), (5, 16), (40,)])
@pytest.mark.parametrize("one_in", [2, 4, 8])
def test_spread(sizes, one_in):
    grid = list(product(*map(range, sizes)))
    kept = [grid[number] for number in spread(len(grid), one_in)]
    assert len(kept) == max(1, round(len(grid) / one_in))
    for axis, size in enumerate(sizes):
        assert len({case[axis] for case in kept}) >= min(size, len(kept) // 2)


@pytest.mark.parametrize("count", range(1, 60))
def test_each_number_is_one_of_the_grid(count):
    assert spread(count, 1) == set(range(count))
