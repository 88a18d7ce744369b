"""One word for one thing: every parameter has a type, the default that others have or a reason, and a row on the page."""

import pytest

from .parameters import CONVENTION, PAGE, REASONS, is_other, page, parameters

ALL = [(cls.__name__, name, parameter) for cls, own in parameters().items() for name, parameter in own.items()]
COUNTS = {"n_components", "n_clusters", "n_states"}
INSTEAD = {"affinity": "kernel", "metric": "kernel", "penalty": "alpha", "ridge": "alpha", "lam": "alpha", "n_iter": "max_iter"}


def test_the_page_is_that_of_these_estimators():
    assert PAGE.read_text(encoding="utf8") == page(), "python -m tests.recorded.parameters --write"


@pytest.mark.parametrize("cls", parameters(), ids=lambda cls: cls.__name__)
def test_the_number_is_the_only_positional_parameter(cls):
    positional = [name for name, parameter in parameters()[cls].items() if parameter.kind is not parameter.KEYWORD_ONLY]
    assert set(positional) <= COUNTS | {"form"}
    assert len(COUNTS & parameters()[cls].keys()) == 1


def test_every_parameter_has_a_type():
    assert not [f"{cls}.{name}" for cls, name, parameter in ALL if parameter.annotation in ("Any", parameter.empty)]


def test_another_default_has_a_reason():
    others = {(cls, name) for cls, name, parameter in ALL if is_other(name, parameter.default)}
    assert others == set(REASONS), CONVENTION


def test_one_word_for_one_thing():
    assert not [f"{cls}.{name}: {INSTEAD[name]}" for cls, name, _ in ALL if name in INSTEAD]
