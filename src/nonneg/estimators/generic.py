"""Any form, divergence and constraints, as an estimator."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import ShapeError
from ..model import Model
from ..solve.signature import infer_shapes
from ..solve.solvers import Multiplicative
from ..solve.starts import Start
from ._base import Factorizer
from ._parameters import Procedure
from .annotations import Callback, Constraints, Device, Divergence, Init, RandomState, Rank, SolverName, Store
from .docstrings import documented


@documented
@dataclass(eq=False, repr=False, init=False)
class Factorization(Factorizer):
    """Any factorization: a product form, a divergence, and constraints, as an estimator.

    For models that have no estimator of their own. Choose it to try a form, a divergence or a constraint of yours.

    The form is a product of named matrices in which X is the data, (n_samples, n_features): "W H", "X W W.T", "W S H", "L L.T X R
    R.T". If it begins with X, codes of samples are the product up to the narrowest place (``X W``), for old and new samples
    alike. If it begins with a factor, the rows of that factor are the codes, and `transform` solves for those of new samples,
    all that stands after it being known.

    Parameters
    ----------
    form : str, default="W H"
        The product that approximates X.
    n_components : int, sequence of int, or "auto", default="auto"
        The inner dimensions of the form that nothing else fixes, one int for all of them or one for each, in
        order of appearance. "auto" takes as many as there are samples or features, whichever is less, for all of
        them.
    constraints : dict, default=None
        A name or an object of `nonneg.constraints` for each factor that has one. The value of a "fixed" one comes
        with `init`.
    signed : sequence of str, default=None
        Which of X and the fixed factors may have negative entries, with the Euclidean distance: ["X"]. By default X, where
        a factor is constrained to be "signed", and fixed factors that have negative entries.
    split : {"joint", "separate"}, default="joint"
        How matrices of either sign enter a rule; see `nonneg.Model`. "separate" is the rule of Ding, Li and Jordan.
    init
        Start. "auto" suits the form, as in `factorize`: a search among components, clusters,
        co-clusters or singular vectors, since near a random start quadratic forms have a plateau that looks like
        an end. An array is not possible here; a dict gives factors by name, the others are drawn at random. Zeros in them become a
        thousandth of the mean, from which they can come back.
    solver : {"auto", "paper", "coordinate", "newton", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "coordinate" for the Euclidean distance, "newton" for I-, α- and β-divergences up to
        β = 1 and factors that occur once, "quasi-newton" for the others, "adaptive" with constraints that tie
        entries together. "paper" is the papers' own protocol: the multiplicative rules with their proven
        exponents, from a random start. "multiplicative" is the rule with the exponent that the theory proves;
        "adaptive" increases it while the objective falls; "coordinate" takes exact steps in one entry after the
        other, "newton" the next best; "quasi-newton" learns from its last steps (L-BFGS); or an object of
        `nonneg.solvers`.

    Attributes
    ----------
    components_ : array of shape (n_codes, n_features)
        The factor after the codes in the form: the product of a code with it is a sample. Those of a product of two factors
        without constraints, as ``W H``, have length one.

    See Also
    --------
    nonneg.factorize : The same as a function.
    nonneg.Model : Form, divergence and constraints.

    Notes
    -----
    The rules are derived from the form: ``print(Factorization(...).model)`` shows them, with their equation numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from nonneg import Factorization
    >>> X = np.random.default_rng(0).random((20, 6))
    >>> model = Factorization("X W W.T", 2, divergence="kullback-leibler", constraints={"W": "orthogonal"}, random_state=0)
    >>> model.fit_transform(X).shape
    (20, 2)
    >>> print(model.model.rules["W"].published[0])
    OPNMF: ONL Eq. 35, transposed (printed with exponent 1)
    """

    form: str = "W H"
    divergence: Divergence = "euclidean"
    constraints: Constraints = None
    signed: Collection[str] | None = None
    split: str = "joint"

    _paper: ClassVar[Procedure] = Procedure(Multiplicative())
    _auto_init: ClassVar[str | tuple[Start, ...]] = "auto"

    def __init__(
        self,
        form: str = "W H",
        n_components: Rank = "auto",
        *,
        divergence: Divergence = "euclidean",
        constraints: Constraints = None,
        signed: Collection[str] | None = None,
        split: str = "joint",
        init: Init = "auto",
        solver: SolverName = "auto",
        n_init: int = 1,
        max_iter: int = 5000,
        tol: float = 1e-5,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        callback: Callback = None,
        checkpoint: Store = None,
        missing: str = "raise",
        device: Device = None,
    ) -> None:
        self.form = form
        self.n_components = n_components
        self.divergence = divergence
        self.constraints = constraints
        self.signed = signed
        self.split = split
        self.init = init
        self.solver = solver
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint
        self.missing = missing
        self.device = device

    @property
    def model(self) -> Model:
        """The model, which prints the rules that follow from it."""
        return self._model()

    @property
    def _takes_signs(self) -> bool:  # type: ignore[override]
        model = self._model()
        return model.data in model.signed

    def _model(self) -> Model:
        return Model(self.form, self.divergence, self.constraints, signed=self.signed, split=self.split)

    def _rank(self, shape: tuple[int, int]) -> Any:
        if isinstance(self.n_components, Sequence | np.ndarray) and not isinstance(self.n_components, str):
            return tuple(self.n_components)
        rank = super()._rank(shape)
        if rank == self.n_components:
            return rank
        try:  # fixed factors, or X itself, leave no dimension to "auto"
            infer_shapes(self._model(), shape, None, self._fixed_shapes())
        except ShapeError:
            return rank
        return None

    def _fixed_shapes(self) -> dict[str, tuple[int, int]]:
        given = self._init if isinstance(self._init, Mapping) else {}
        return {name: np.shape(given[name]) for name in self._model().fixed if name in given}

    def _can_cluster(self, shape: tuple[int, int], rank: Any) -> bool:
        return rank is not None and bool(np.all(np.asarray(rank) <= min(shape)))
