"""The free memory, and refusals if it does not suffice."""

import numpy as np
import pytest

from nonneg import KernelPNMF, SymmetricNMF
from nonneg.exceptions import ShapeError
from nonneg.kernels import memory


def test_there_is_some():
    found = memory.available_bytes()
    assert found is None or found > 2**20, "a test that runs has some"


def test_the_least_of_all_limits_counts(monkeypatch):
    monkeypatch.setattr(memory, "_of_machine", lambda: 500)
    monkeypatch.setattr(memory, "_of_container", lambda: 300)
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    assert memory.available_bytes() == 300
    with pytest.raises(ShapeError, match=r"This would take 301 bytes of memory, and 300 bytes are free\. Do that\."):
        memory.check_memory(301, "This", "Do that.")
    memory.check_memory(300, "This", "Do that.")
    monkeypatch.setattr(memory, "_of_container", lambda: -10)
    assert memory.available_bytes() == 0


def test_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "_lines", lambda path: [])
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.available_bytes() is None
    memory.check_memory(10**30, "This", "Do that.")


def test_a_container_has_a_limit(monkeypatch, tmp_path):
    names = [tmp_path / name for name in ("limit", "used", "statistics")]
    for path, text in zip(names, ("1000\n", "700\n", "anon 600\ninactive_file 50\n"), strict=True):
        path.write_text(text, encoding="utf8")
    monkeypatch.setattr(memory, "_CONTROL_GROUPS", (("nowhere",) * 3, tuple(map(str, names))))
    assert memory._of_container() == 350
    names[0].write_text("max\n", encoding="utf8")
    assert memory._of_container() is None


def test_readable():
    given = [999, 1000, 80 * 10**9, 3.2e12]
    assert [memory.readable(int(value)) for value in given] == ["999 bytes", "1 kB", "80 GB", "3.2 TB"]


@pytest.mark.parametrize(
    ("model", "says", "size"),
    [(KernelPNMF(2), "KernelPNMF .* kernel='local'", "480 GB"), (SymmetricNMF(2, kernel="rbf"), "kernel='rbf'", "160 GB")],
)
def test_kernels_that_do_not_fit(monkeypatch, model, says, size):
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**10)
    with pytest.raises(ShapeError, match=rf"{says} has 100000 × 100000 entries, which would take {size} of memory, and 10 GB"):
        model.fit(np.ones((100_000, 1)))
