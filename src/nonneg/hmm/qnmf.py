"""QNMF-HMM: the chain by quadratic non-negative matrix factorization."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..constraints import Stochastic
from ..estimators.annotations import Divergence, RandomState, SolverName
from ..estimators.docstrings import documented
from ..exceptions import IncompatibleError, ShapeError, users_line
from ..factorization import factorize
from ..kernels.tuned import tuned
from ..model import Model
from ..solve.context import Context
from ..solve.initialization import make_generator
from ..solve.problem import bind
from ..solve.progress import inner_runs, is_interrupted
from ..solve.restarts import solve_restarts
from ..solve.solution import Status
from ..solve.solvers import NAMES, Multiplicative, Solver
from ..solve.solving import objective_of
from ..solve.stopping import Stopping
from ..solve.strategy import Options
from ._chain import HiddenChain, LearnedChain, normalised
from ._refinement import refined
from ._sequences import Encoded
from ._starts import STARTS, separate

_ATTEMPTS = tuned(2, by="chains", on="2026-11-15")
"""At a chain with separate emissions."""
_ENOUGH = tuned(5, by="chains", on="2026-11-15")
"""Pairs for each two symbols; with fewer, their information is not known."""


@documented
@dataclass(eq=False, repr=False)
class QNMFHMM(HiddenChain):
    r"""A hidden Markov chain, from how often symbols follow each other: X ≈ W Y Wᵀ.

    .. math:: \min_{W, Y \ge 0} D(X \| W Y W^T) \quad \text{with } \sum_i W_{ik} = 1, \sum_{kl} Y_{kl} = 1

    X_ij is the share of pairs in which symbol j follows symbol i, W_ik the probability of symbol i in state k, and Y_kl that of
    state k being followed by state l. A fit to pairs takes no longer for 10⁹ symbols than for 10³; from sequences, Baum–Welch then
    chooses among the chains with these pairs.

    Parameters
    ----------
    divergence : str, float or Objective, default="kullback-leibler"
        Any of `nonneg.divergences`. With "kullback-leibler" the chain is the one under which the pairs are likeliest.
    init : {"auto", "clusters", "random"} or dict, default="auto"
        "clusters": symbols with like neighbours on both sides are in one state; "random" as in the paper; "auto": clusters, and
        random emissions in which frequent symbols are frequent, by turns. Or starting values for the symbols that occur,
        ``{"W": array of shape (n_symbols, n_states), "Y": array of shape (n_states, n_states)}``.
    solver : {"auto", "paper", "quasi-newton", "adaptive", "multiplicative"} or Solver, default="auto"
        "auto" is "quasi-newton"; "paper" the rule of QNMF Eq. 10 with the proven exponent, from a random start.
    separate : bool, default=True
        Of the chains between which so many pairs cannot tell, take one whose emissions hardly overlap, rather than the one that
        fits best by chance. For counts and the Kullback–Leibler divergence; see the notes.
    refine_iter : int, default=100
        Passes of Baum–Welch over the sequences, at most, from the likeliest of the chains that pairs cannot tell apart; 0 is the
        chain of pairs. For `fit` and the Kullback–Leibler divergence; "paper" has none.
    n_init : int, default=8
        Starts, of which the best is kept.
    max_iter : int, default=3000
        Most iterations of a start.
    tol : float, default=1e-6
        Stop when the objective changes by at most `tol` times its value in ten iterations; of counts, times what the
        Kullback–Leibler divergence is by chance alone, if that is more (see the notes). 0 runs to `max_iter`.
    n_jobs : int or None, default=None
        Starts side by side, in threads.

    Attributes
    ----------
    emissionprob_ : array of shape (n_states, n_symbols)
        P(symbol | state), Wᵀ; rows sum to one. Symbols that do not occur have zeros.
    joint_ : array of shape (n_states, n_states)
        P(state, next state), Y; sums to one.
    transmat_ : array of shape (n_states, n_states)
        P(next state | state): Y with its rows divided by their sums.
    startprob_ : array of shape (n_states,)
        The stationary distribution of `transmat_`. States are numbered from the most frequent to the least.
    symbols_ : array of shape (n_symbols,)
        Symbols of the columns of `emissionprob_`: those that have a neighbour in some sequence, in order.
    symbol_groups_ : array of shape (n_symbols,)
        The state in which each symbol is likeliest, as QNMF groups letters; −1 for symbols that do not occur.
    objective_ : float
        D(X‖W Y Wᵀ) of the result. The Euclidean one is ½‖X − W Y Wᵀ‖².
    objectives_ : array of shape (n_init,)
        Objective of each start at its end.
    history_ : History
        Of the best start.
    constraint_errors_ : dict of float
        Σₖ|1 − Σᵢ W_ik| and |1 − ΣY| of the last step before normalising, as in QNMF Table 2; the result has none.
    separated_ : bool
        Whether this chain has separate emissions, and is as good as the best start, which `history_`, `n_iter_` and
        `constraint_errors_` are about, and as Baum–Welch's.
    log_likelihoods_ : array
        Of the sequences, at the start of Baum–Welch and after each cycle of two or three passes; empty without it.

    See Also
    --------
    NNMFHMM : Fitted to the conditional probability of pairs.
    hmm.pair_counts : Pairs of a sequence.
    plot.transitions : Draws the states.

    Notes
    -----
    QNMF §5.3. Its ∇⁺ of W is printed as W Y Wᵀ W Yᵀ + W Yᵀ W Y, in which the sizes do not fit: the last term is W Yᵀ Wᵀ W Y. Sums
    are restored after each step. Left alone, as the paper says, they need not come to one: wherever ∇⁺ = ∇⁻ the rule stands still,
    whatever the sums are, since W and Y can make up for each other.

    By chance alone, N counted pairs diverge by about c/2N from the chain that they come from, c the number of different pairs that
    occur (Wilks). A chain with more states than there are goes on to fit that chance for thousands of iterations, each of which
    gains next to nothing; they are told from those that do by comparing their gain with c/2N.

    Pairs do not tell the chain: W and Y can be exchanged for W R and R⁻¹ Y R⁻ᵀ as long as nothing becomes negative, and X stays the
    same. With `separate`, a fit goes on from clusters of symbols without overlap until its divergence is within p/2N of the lowest
    that was found, p parameters and N pairs: the true chain is to be expected so far above it. Where that is not reached, or where
    there are fewer than five pairs for each two symbols, it is the best start.

    Longer runs of symbols tell more. Of all chains within p/2N of the lowest divergence, the one under which the sequences are
    likeliest is refined by Baum–Welch, extrapolated as in SQUAREM (Varadhan and Roland 2008), until a cycle gains less than a
    thousandth of p/2. A separate chain is kept if its log-likelihood is less than p/2 below.

    Examples
    --------
    >>> from nonneg import QNMFHMM
    >>> model = QNMFHMM(2, random_state=0).fit(["banana", "panorama", "salami", "tomato", "potato", "radio"])
    >>> vowels = model.symbol_groups_[model.symbols_ == "a"]
    >>> "".join(model.symbols_[model.symbol_groups_ == vowels])
    'aio'
    """

    _: KW_ONLY
    divergence: Divergence = "kullback-leibler"
    init: str | Mapping[str, ArrayLike] = "auto"
    solver: SolverName = "auto"
    separate: bool = True
    refine_iter: int = 100
    n_init: int = 8
    max_iter: int = 3000
    tol: float = 1e-6
    random_state: RandomState = None
    n_jobs: int | None = None

    @property
    def _is_papers(self) -> bool:
        return isinstance(self.solver, str) and self.solver == "paper"

    def _model(self) -> Model:
        model = Model("W Y W.T", self.divergence, {"W": Stochastic("columns"), "Y": Stochastic("matrix")})
        if not model.divergence.approximates:
            raise IncompatibleError(f"divergence={self.divergence!r} approximates nothing; use nonneg.factorize for it.")
        return model

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._model()
        if not isinstance(self.separate, bool | np.bool_):
            raise IncompatibleError(f"separate must be True or False; got {self.separate!r}.")
        if not isinstance(self.refine_iter, Integral) or isinstance(self.refine_iter, bool) or self.refine_iter < 0:
            raise IncompatibleError(f"refine_iter must be an int of at least 0; got {self.refine_iter!r}.")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or isinstance(self.n_jobs, bool) or not self.n_jobs):
            raise IncompatibleError(f"n_jobs must be None or an int other than 0, as in joblib; got {self.n_jobs!r}.")
        if not isinstance(self.solver, Solver) and (
            not isinstance(self.solver, str) or self.solver not in ("auto", "paper", *NAMES)
        ):
            known = ", ".join(map(repr, ("auto", "paper", *NAMES)))
            raise IncompatibleError(f"Unknown solver {self.solver!r}. Known names: {known}; or an object of nonneg.solvers.")
        init = self.init
        if isinstance(init, Mapping):
            if set(init) != {"W", "Y"}:
                raise ShapeError(f"init must have W and Y; it has {', '.join(map(repr, init)) or 'nothing'}.")
        elif not isinstance(init, str) or init not in STARTS:
            raise IncompatibleError(f"Unknown init {init!r}. Known names: {', '.join(map(repr, STARTS))}; or a dict with W and Y.")

    def _starts(self, X: Any, generator: Any) -> list[Any]:
        init = self.init
        if isinstance(init, Mapping):
            return [{name: np.asarray(value, dtype=np.float64) for name, value in init.items()}]
        turns = STARTS["random" if self._is_papers and init == "auto" else init]
        own = np.random.default_rng(int(generator.uniform() * 2**31))
        return [turns[number % len(turns)](X, self.n_states, own) for number in range(self.n_init)]

    def _factorize(self, X: Any, n_pairs: float, context: Context) -> LearnedChain:
        model, generator = self._model(), make_generator(self.random_state)
        solver: str | Solver = Multiplicative() if self._is_papers else self.solver
        starts = self._starts(X, generator)
        noise = _noise(X, n_pairs) if model.divergence.is_poisson else 0.0
        given = starts[0] if isinstance(starts[0], Mapping) else None
        problem = bind(model, X, self.n_states, given, horizon=self.max_iter * len(starts))
        stopping = Stopping(max_iter=self.max_iter, tol=self.tol, noise=noise)
        options = [Options(start, solver, stopping, number) for number, start in enumerate(starts)]
        runs = solve_restarts(problem, options, generator, context, self.n_jobs)
        best = min(runs, key=lambda run: run.scaled_objective if np.isfinite(run.scaled_objective) else np.inf)
        self.objectives_ = np.array([run.objective for run in runs])
        if best.status is Status.NON_FINITE or (best.status is Status.MAX_ITER and self.tol):
            warnings.warn(f"{type(self).__name__}: {best.status.sentence}", ConvergenceWarning, stacklevel=users_line())
        is_poisson = model.divergence.is_poisson and not self._is_papers
        # By Wilks, 2N times the true chain's gap above the lowest divergence is χ², of mean the number of parameters.
        parameters = self.n_states * (X.shape[0] - 1) + self.n_states**2 - 1
        enough = best.objective + parameters / (2 * n_pairs)
        factors = best.factors
        alike = [normalised(run.factors["W"], run.factors["Y"]) for run in runs if is_poisson and run.objective <= enough]
        is_known = _ENOUGH * X.shape[0] ** 2 <= n_pairs < math.inf
        if self.separate and is_poisson and is_known and not context.interrupt.is_set():
            with inner_runs("emissions that do not overlap"):
                factors = self._separated(X, model, enough, generator) or factors
        self.separated_ = factors is not best.factors
        return LearnedChain(factors["W"], factors["Y"], best.history, best.n_iter, best.status, best.history[-1].violation, alike)

    def _refined(self, found: LearnedChain, sequences: Encoded) -> LearnedChain:
        self.log_likelihoods_ = np.zeros(0)
        if not self.refine_iter or not found.alike or is_interrupted():
            return found
        own = normalised(found.W, found.Y)
        chain = refined(sequences, [own, *found.alike], self.refine_iter, own if self.separated_ else None)
        if chain is None:
            return found
        self.separated_ &= chain.W is own[0]
        self.log_likelihoods_ = chain.log_likelihoods
        return found._replace(W=chain.W, Y=chain.Y)

    def _separated(self, X: Any, model: Model, enough: float, generator: Any) -> dict[str, np.ndarray] | None:
        """From disjoint clusters of symbols, until pairs cannot tell the chain from the best."""
        own = np.random.default_rng(int(generator.uniform() * 2**31))
        for _ in range(_ATTEMPTS):
            run = factorize(
                X,
                model,
                init=separate(X, self.n_states, own),
                solver=self.solver,
                max_iter=self.max_iter,
                tol=self.tol,
                check_every=1,
                callback=lambda progress: progress.objective <= enough or is_interrupted(),
            )
            if run.objective <= enough:
                return run.factors
            if is_interrupted():
                break
        return None

    def _objective(self, X: Any, W: np.ndarray, Y: np.ndarray) -> float:
        return objective_of(X, Model("W Y W.T", self.divergence), {"W": W, "Y": Y})


def _noise(X: Any, n_pairs: float) -> float:
    """Expected Kullback–Leibler divergence of so many counts from their own chain; 0 without counts.

    By Wilks, 2N times that is χ², whose mean is the number of the pairs of symbols that occur, but for one.
    """
    occurring = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return float(occurring) / (2 * n_pairs)
