"""Learning X ≈ W H from samples that come a few at a time and are not kept, as scikit-learn's MiniBatchNMF does.

Each batch is encoded by the components so far, and these take one step of their rule along its two sides, averaged over all batches
(`averaged_step`). With the I-divergence this is online EM: the averages are expected counts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..data import Data, read_data
from ..data.weighted import count_rows
from ..exceptions import ShapeError
from ..kernels.namespace import to_host
from ..kernels.tuned import tuned
from ..solve.problem import Units, choose_units, point_at
from ..solve.solution import Solution
from ._base import Factorizer, in_scale
from ._libraries import fit_with_library
from ._online import Stream, averaged_step, in_larger_units
from .encoding import encode

_ROWS = tuned(512, by="dense", on="2026-11-19")
"""Samples of a fit, at most, by whose codes its end is summarised when a stream goes on from there."""


def _can_stream(estimator: Any) -> bool:
    if estimator._streams:
        return True
    raise AttributeError(f"{type(estimator).__name__} has no partial_fit: it takes all samples at once.")


class MiniBatches(Factorizer):
    """`partial_fit` of W H, in memory that does not depend on how many samples there are."""

    _made_of: ClassVar[tuple[type, ...]] = (Stream,)
    _streams: ClassVar[bool] = True

    @available_if(_can_stream)
    @fit_with_library
    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Go on learning from a batch of samples, which is then forgotten, as scikit-learn's MiniBatchNMF does.

        The first batch is fitted as a whole, to start from; it should have several times as many samples as there are components.
        After `fit`, learning goes on from its components, weighted by its number of samples. Codes
        in `factors_`, `objective_` and `row_labels_` are about the last batch. Features that the first batch lacks are learned
        slowly.

        Parameters
        ----------
        X : array, sparse array, path or open file of shape (n_samples, n_features)
            The next batch.
        y : None
            Not used.
        """
        if not hasattr(self, "factors_"):
            fitted = self.fit(X)
            self._stream = self._summary()
            return fitted
        self._check_numbers()
        data = self._read(X, reset=False)
        if self.n_components not in (None, "auto", self.components_.shape[0]):
            raise ShapeError(
                f"n_components={self.n_components}, but {self.components_.shape[0]} components have been learned so far; a stream "
                "keeps their number. Use fit to begin anew."
            )
        model, solver = self._model(), self._get_solver()[0]
        stream = self.__dict__.get("_stream") or self._summary()
        stream = in_larger_units(stream, choose_units(model, data).data, model.divergence.degree)
        stream = replace(stream, n_samples=stream.n_samples + count_rows(data))
        batch = data.in_units(stream.unit)
        codes = encode(batch, stream.W.T, model.divergence)
        stream, objective = averaged_step(batch, model, solver, stream, codes)
        factors = {"W": codes * stream.unit, "H": np.ascontiguousarray(stream.W.T)}
        _, doublings = model.divergence.in_units(math.log2(stream.unit))
        objective = Units(doublings=doublings).objective_to_user(objective)
        solution = Solution(factors, objective, self.history_, self.n_iter_ + 1, self.status_, model, solver=self.solver_)
        solution = in_scale(solution, self._norm)
        self._soft_factors = solution.factors
        self._keep(data, solution)
        self._stream = replace(stream, W=np.ascontiguousarray(solution.factors["H"].T), n_steps=stream.n_steps + 1)
        return self

    def _keep(self, X: Data, solution: Solution) -> None:
        super()._keep(X, solution)
        self.__dict__.pop("_stream", None)

    def _summary(self) -> Stream:
        """The stream after a fit, of which codes are kept and samples are not: both sides of the rule are alike at its end."""
        model, W, H = self._model(), to_host(self.factors_["W"]), to_host(self.factors_["H"])
        some = W[np.linspace(0, len(W) - 1, min(len(W), _ROWS)).astype(int)]
        data = read_data(some @ H)
        unit = choose_units(model, data).data
        _, denominator = point_at(model, data.in_units(unit), {"W": some / unit, "H": H}).sides("H")
        side = (H * np.asarray(denominator)).T / len(some)
        return Stream(H.T, unit, n_samples=len(W), n_steps=1, numerator=side, denominator=side)
