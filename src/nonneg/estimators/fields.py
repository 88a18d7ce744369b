"""Attributes of fitted estimators in model files: the type, the size and the range of each.

Axes have letters: m samples, n features, k components, c rows of a discriminant, v symbols. An axis of one letter has the same
length in all attributes of an estimator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import FileError
from ..io.annotations import fits, shown
from ..model import Model
from ..solve.signature import dimension_classes
from ..solve.solution import Explanation, History, Status

OUTPUT = "_sklearn_output_config"
"""scikit-learn's attribute for the choice of `set_output`; its other attributes, such as callbacks, are not stored."""


@dataclass
class Learned:
    """The attributes of one estimator while they are checked."""

    name: str
    attributes: Mapping[str, Any]
    sizes: dict[str, int] = field(default_factory=dict)

    def refuse(self, name: str, why: str) -> None:
        raise FileError(f"{self.name}.{name} {why}.")

    def measure(self, name: str, shape: tuple[int, ...], axes: str) -> None:
        """Check a shape against named axes, or alternatives of them, "k n|k m", and keep the lengths of new ones."""
        for letters in (each.split() for each in axes.split("|")):
            known = [int(letter) if letter.isdigit() else self.sizes.get(letter, -1) for letter in letters]
            if len(shape) == len(letters) and all(size in (-1, length) for size, length in zip(known, shape, strict=True)):
                found = dict(zip(letters, shape, strict=True))
                if tuple(found[letter] for letter in letters) == shape:
                    self.sizes |= {letter: length for letter, length in found.items() if not letter.isdigit()}
                    return
        lengths = ", ".join(f"{letter} = {length}" for letter, length in self.sizes.items())
        self.refuse(name, f"has shape {shape}, which does not fit {axes}{f' with {lengths}' if lengths else ''}")


Check = Callable[[Learned, str, Any], None]


def numbers(axes: str, lowest: float = -math.inf, highest: float = math.inf, *, kinds: str = "f", is_finite: bool = True) -> Check:
    """Make the check of an array of numbers, by default of finite floats."""

    def check(learned: Learned, name: str, value: Any) -> None:
        is_array = isinstance(value, np.ndarray) and value.dtype.kind in kinds
        if not is_array or (kinds == "f" and value.dtype.itemsize not in (4, 8)):
            learned.refuse(name, f"must be an array of numbers of kind {kinds!r}; got {shown(value)}")
        learned.measure(name, value.shape, axes)
        check_range(value, lowest, highest, is_finite, lambda why: learned.refuse(name, why))

    return check


def check_range(value: np.ndarray, lowest: float, highest: float, is_finite: bool, refuse: Callable[[str], None]) -> None:
    """Refuse an array with entries that are not finite, or out of range."""
    if not value.size:
        return
    least, most = value.min(), value.max()  # NaN, if there is any
    if is_finite and not (np.isfinite(least) and np.isfinite(most)):
        refuse("has entries that are not finite")
    if least < lowest or most > highest:
        refuse(f"has entries from {least:g} to {most:g}, and they must be from {lowest:g} to {highest:g}")


def value(hint: Any, lowest: float = -math.inf, highest: float = math.inf, axis: str = "") -> Check:
    """Make the check of a value that is no array. An int may be the length of an axis."""

    def check(learned: Learned, name: str, given: Any) -> None:
        if not fits(given, hint):
            learned.refuse(name, f"must be of type {getattr(hint, '__name__', hint)}; got {shown(given)}")
        if any(not lowest <= one <= highest for one in (given if isinstance(given, tuple) else (given,)) if fits(one, float)):
            learned.refuse(name, f"must be from {lowest:g} to {highest:g}; got {shown(given)}")
        if axis:
            learned.measure(name, (int(given),), axis)

    return check


def _check_factors(learned: Learned, name: str, given: Any) -> None:
    """Refuse factors that are not those of the model, with the shapes that its form needs."""
    model = learned.attributes.get("model_")
    if not isinstance(model, Model) or not fits(given, dict[str, np.ndarray]):
        raise FileError(f"{learned.name}.{name} must be arrays, the factors of model_.")
    factors = [factor for factor in model.form.names if factor != model.data]
    if not set(given) <= set(factors) or (name == "factors_" and len(given) < len(factors)):
        learned.refuse(name, f"must be {', '.join(factors)}; got {', '.join(given) or 'nothing'}")
    equal = dimension_classes(model)
    letters = {dimension: "-".join(map(str, dimension)) for dimension in equal.values()}
    letters |= {equal[model.data, 1]: "n", equal[model.data, 0]: "m"}
    for factor, array in given.items():
        axes = " ".join(letters[equal[factor, axis]] for axis in (0, 1))
        of_similarities = " ".join("m" if axis == "n" else axis for axis in axes.split())
        lowest = -math.inf if factor in model.signed else 0.0
        numbers(f"{axes}|{of_similarities}", lowest)(learned, f"{name}[{factor!r}]", array)


def _check_components(learned: Learned, name: str, given: Any) -> None:
    model = learned.attributes.get("model_")
    numbers("k n|k m", -math.inf if model is None or model.signed else 0.0)(learned, name, given)


def _check_samples(learned: Learned, name: str, given: Any) -> None:
    """Refuse samples that are no matrix of numbers."""
    if given is None:
        return
    if sparse.issparse(given):
        learned.measure(name, given.shape, "m n")
        numbers("entries")(learned, name, given.data)
    else:
        numbers("m n")(learned, name, given)


def _check_labels(axes: str) -> Check:
    def check(learned: Learned, name: str, given: Any) -> None:
        numbers(axes, -1, max(learned.sizes.values(), default=1), kinds="iu")(learned, name, given)

    return check


def _check_names(axes: str, kinds: str = "UOiufb") -> Check:
    """Make the check of names: text, or numbers."""

    def check(learned: Learned, name: str, given: Any) -> None:
        if not isinstance(given, np.ndarray) or given.dtype.kind not in kinds:
            learned.refuse(name, f"must be an array of names; got {shown(given)}")
        learned.measure(name, given.shape, axes)
        if given.dtype.kind == "O" and not all(fits(one, str | int | float | tuple) for one in given):
            learned.refuse(name, "must have text or numbers for names")

    return check


def _check_stream(learned: Learned, name: str, given: Any) -> None:
    """Refuse a stream whose arrays do not fit the components."""
    if type(given).__name__ != "Stream":
        learned.refuse(name, f"must be a Stream; got {shown(given)}")
    numbers("n k", 0.0)(learned, f"{name}.W", given.W)
    if given.sketch is not None:
        numbers("rows n")(learned, f"{name}.sketch", given.sketch)
    for side in ("numerator", "denominator"):
        part = getattr(given, side)
        (numbers("n k") if isinstance(part, np.ndarray) else value(float, 0.0, 0.0))(learned, f"{name}.{side}", part)
    value(float, np.finfo(np.float64).tiny, np.finfo(np.float64).max)(learned, f"{name}.unit", given.unit)
    for count in ("n_samples", "n_steps", "started_at", "energy"):
        value(float, 0.0)(learned, f"{name}.{count}", getattr(given, count))


_count = value(int, 0, 2**53)
_probabilities = (0.0, 1 + 1e-9)  # rounding in a sum that is one
ATTRIBUTES: dict[str, Check] = {
    "n_features_in_": value(int, 1, 2**53, "n"),
    "model_": value(Model),
    "factors_": _check_factors,
    "_soft_factors": _check_factors,
    "components_": _check_components,
    "_stream": _check_stream,
    "X_fit_": _check_samples,
    "cluster_centers_": numbers("k n", 0.0),
    "memberships_": numbers("m k", 0.0),
    "_row_weights": numbers("k"),
    "_shape": value(tuple[int, int], 1, 2**53),
    "_mean_code": numbers("k"),
    "n_components_": value(int | tuple[int, ...], 0, 2**53),
    "n_singular_": _count,
    "n_clusters_": _count,
    "rank_": _count,
    "n_iter_": _count,
    "history_": value(History),
    "status_": value(Status),
    "solver_": value(str),
    "method_": value(object),
    "strategy_": value(Explanation | None),
    "objective_": value(float),
    "objectives_": numbers("starts", is_finite=False),
    "reconstruction_err_": value(float),
    "orthogonality_": value(dict[str, tuple[float, float]]),
    "feature_names_in_": _check_names("n", "OU"),
    "vertices_": _check_names("m"),
    "classes_": _check_names("classes"),
    "_directions": numbers("k n|k m"),
    "_flips": numbers("k n|k m", kinds="b"),
    "stability_": numbers("k", -1.0, 1.0),
    "silhouette_": value(float, -1.0, 1.0),
    "run_components_": numbers("runs n", 0.0),
    "run_distances_": numbers("runs", 0.0),
    "run_labels_": numbers("runs", -1, kinds="iu"),
    "flipped_": numbers("k n", kinds="b"),
    "dual_coef_": numbers("k m"),
    "sample_importance_": numbers("m"),
    "_weights": numbers("c n|c m"),
    "coef_": numbers("c n"),
    "intercept_": numbers("c"),
    "_powers": numbers("n|m", -5000, 5000, kinds="i"),
    "_halves": value(int, -5000, 5000),
    "definite_": value(bool),
    "definiteness_": numbers("k 2"),
    "fisher_ratio_": numbers("k", is_finite=False),
    "alpha_": numbers("k", 0.0),
    "startprob_": numbers("k", *_probabilities),
    "transmat_": numbers("k k", *_probabilities),
    "joint_": numbers("k k", *_probabilities),
    "emissionprob_": numbers("k v", *_probabilities),
    "symbols_": _check_names("v"),
    "constraint_errors_": value(dict[str, float]),
    "separated_": value(bool),
    "log_likelihoods_": numbers("cycles"),
    "labels_": _check_labels("m"),
    "row_labels_": _check_labels("m"),
    "column_labels_": _check_labels("n"),
    "symbol_groups_": _check_labels("v"),
    OUTPUT: value(dict[str, str]),
}
"""The attributes that fits leave, in the order in which they are checked: lengths of axes first, labels last."""

TOGETHER = ("n_features_in_", "model_", "factors_", "components_")
"""Attributes of a factorization of which none is without the others."""


def check_attributes(cls: type, attributes: Mapping[str, Any]) -> None:
    """Refuse attributes that no fit of the class would leave.

    Others that are named as a fit names its own, "name_", are let through: no method reads them.
    """
    for name in attributes:
        is_own = name in ATTRIBUTES or (name.isidentifier() and name.endswith("_") and not name.startswith("_"))
        if not is_own or hasattr(cls, name):
            raise FileError(f"{name!r} is no attribute of a fitted {cls.__name__}.")
    learned = Learned(cls.__name__, attributes)
    missing = [name for name in TOGETHER if name not in attributes]
    if hasattr(cls, "_model") and "components_" in attributes and missing:
        learned.refuse("components_", f"is there without {' and '.join(missing)}")
    for name, check in ATTRIBUTES.items():
        if name in attributes:
            check(learned, name, attributes[name])


ABOUT: dict[str, Any] = {
    "command": str,
    "data": list[str],
    "reading": dict[str, Any],
    "began": str,
    "fit_seconds": float,
    "warnings": list[str],
    "stopped": str,
    "ranks": dict[str, Any],
    "shape": list[int],
    "features": np.ndarray | None,
    "samples": np.ndarray | None,
}
"""Fields that the command line stores beside an estimator, and their types."""


def check_about(about: Any) -> None:
    """Refuse fields that the command line does not store beside an estimator."""
    if not fits(about, dict[str, Any]):
        raise FileError(f"Fields stored beside the estimator must be a dict with text for keys; got {shown(about)}.")
    for name, hint in ABOUT.items():
        if name in about and not fits(about[name], hint):
            raise FileError(f"about[{name!r}] must be of type {getattr(hint, '__name__', hint)}; got {shown(about[name])}.")
    layout = about.get("layout")
    if layout is not None and type(layout).__name__ != "Layout":
        raise FileError(f"about['layout'] must be a Layout; got {shown(layout)}.")
