"""`factorize`: data and a model in, a solution out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from .constraints import Constraint
from .data import Data, opened, opened_to_fit, read_weighted
from .data.device import memory_explained
from .divergences import Objective as Comparison
from .exceptions import IncompatibleError, Stopped, unknown
from .model import Model
from .objective import Objective
from .solve.checkpoints import Checkpoint, read_checkpoint
from .solve.context import Context
from .solve.initialization import NAMES as INITIALIZATIONS
from .solve.initialization import RandomState
from .solve.problem import bind, signature_of
from .solve.restarts import make_first_pass, solve_once
from .solve.run import Callback
from .solve.solution import Explanation, Solution, Status
from .solve.solvers import Solver, get_solver
from .solve.stopping import Stopping
from .solve.strategy import Options, choose, choose_directly, explain_strategy


def factorize(
    X: Any,
    form: str | Model,
    rank: int | Sequence[int] | None = None,
    *,
    divergence: str | float | Comparison | None = None,
    constraints: Mapping[str, str | Constraint | None] | None = None,
    init: str | Mapping[str, Any] = "auto",
    solver: str | Solver = "auto",
    max_iter: int = 1000,
    tol: float = 1e-5,
    step_tol: float = 0.0,
    check_every: int = 10,
    random_state: RandomState = None,
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | Checkpoint | None = None,
    weights: Any = None,
    missing: str = "raise",
) -> Solution:
    """Approximate X by a product of non-negative factors.

    Parameters
    ----------
    X : array, sparse array, Gram, Observed, path or open file
        The data, m × n, in the papers' orientation if the form is: for ``"W W.T X"`` the rows of X are features and its columns are
        samples. NumPy, SciPy sparse, or any array of the array API (PyTorch, CuPy); or where it lies, see
        `nonneg.open_data`. float32 stays float32; X is not changed.
    form : str or Model
        A product such as ``"W H"``, ``"W W.T X"`` or ``"A W B W.T C"``; or a `Model`, which has the next two already.
    rank : int or sequence of int
        For the inner dimensions that nothing else fixes; one int for all, or one for each in order of appearance.
    divergence : str, float or Objective, default="euclidean"
        See `nonneg.divergences`.
    constraints : dict, optional
        A name or an object of `nonneg.constraints` for each factor that has one. A ``"fixed"`` one takes its value from `init`.
    init : {"auto", "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "angular", "coclusters"} or dict of arrays, default="auto"
        How to start, or starting values by name; factors that are not named start at random. "auto"
        suits the form: a search among components, clusters, co-clusters or singular vectors. "kmeans"
        starts from clusters of the rows and columns of X: it leaves the plateau that quadratic forms such as ``L L.T X R R.T`` have
        around random starts. Zeros become tiny, so that they can grow again.
    solver : {"auto", "coordinate", "block-coordinate", "newton", "quasi-newton", "adaptive", "multiplicative", "least-squares"}
        Or an object of `nonneg.solvers`. "auto" (default) is "coordinate" if that can be used, with the Euclidean distance, and
        "block-coordinate" on a device; "newton" for I-, α- and β-divergences up to β = 1, if factors occur once;
        "adaptive" if a constraint ties entries together; else "quasi-newton".
    max_iter : int, default=1000
        Most iterations of a run.
    tol : float, default=1e-5
        Stop when the objective changes by at most `tol` times its value between two checks, or when its extrapolated
        remaining decrease is at most 600 · `tol` of it (and at most 0.6 %); 0 runs to `max_iter`. See `nonneg.solvers.Stopping`.
    step_tol : float, default=0
        Stop also when one iteration changes no factor by more than `step_tol` times its norm, as the codes of OPNMF do.
    check_every : int, default=10
        Iterations between two checks.
    random_state : int, Generator, RandomState or None
        For the start; the same seed gives the same result.
    callback : callable, optional
        Called at every check with a `Progress`; returning True stops the run. Ctrl-C does so, too, and then raises
        KeyboardInterrupt with the result as its `solution`.
    checkpoint : str, path or Checkpoint, optional
        A file in which the run is written down every minute, to be gone on with by the same call; see `nonneg.Checkpoint`.
    weights : array of the shape of X, or pair of arrays (rows, columns), default=None
        Non-negative factors of the loss of each entry; of a pair, both. An integer weight of a row, or of a column,
        stands for as many copies of it. An entry of weight 0 is missing, whatever stands there. Entries
        that a sparse array of weights does not store are 0. None in place of one of a pair stands for ones. A path, an open file
        or a memory map, too, which is read as X is; for X in files or on Dask also a Dask array.
    missing : {"raise", "ignore"}, default="raise"
        Treatment of NaN, masked entries of a masked array, and NA in a table. With "ignore" they have no part in the
        objective. See `Observed` for sparse data.

    Returns
    -------
    Solution
        Factors, objective, history, and why the run ended.

    See Also
    --------
    explain : How a fit will be done, without doing it.
    Factorization : The same as an estimator.
    Solution : What is returned.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.kron(np.eye(3), np.ones((4, 5)))
    >>> solution = nonneg.factorize(X, "W W.T X", rank=3, constraints={"W": "orthogonal"}, random_state=0)
    >>> np.allclose(solution.reconstruct(), X, atol=1e-2)
    True
    """
    X = opened_to_fit(X)
    if isinstance(X, str | Model):
        raise IncompatibleError(f"X must be the data; got {X!r}, which is a form. The data come first: factorize(X, 'W H', rank).")
    model = _model(form, divergence, constraints)
    options = _read_options(init, solver, Stopping(tol=tol, max_iter=max_iter, check_every=check_every, step_tol=step_tol))
    if callback is not None and not callable(callback):
        raise IncompatibleError(f"callback must be a function of one argument, or None; got {callback!r}.")
    context = Context(callback, checkpoint=read_checkpoint(checkpoint))
    X = read_weighted(X, model.data, missing=missing, weights=weights)
    given = init if isinstance(init, Mapping) else None
    if isinstance(X, Data) and X.costs.out_of_core:
        make_first_pass(X, model, rank, options, given, resumes=context.resumes)
    with memory_explained():
        problem = bind(model, X, rank, given, horizon=max_iter)
        with context.watching(X):
            found = solve_once(problem, options, random_state, context)
    if context.interrupt.is_set():
        is_over = found.status is not Status.STOPPED_BY_USER
        stopped = Stopped(
            f"The factorization was interrupted when it was over; `solution` is all of it. {found.status.sentence}"
            if is_over
            else "The factorization was interrupted; `solution` is the best so far."
        )
        stopped.solution = found
        raise stopped
    return found


def _model(
    form: str | Model,
    divergence: str | float | Comparison | None,
    constraints: Mapping[str, str | Constraint | None] | None,
) -> Model:
    if not isinstance(form, Model):
        return Model(form, "euclidean" if divergence is None else divergence, constraints)
    if divergence is not None or constraints is not None:
        raise IncompatibleError(
            "A Model has its divergence and constraints already; give them to the Model, or give a form as text."
        )
    return form


def _read_options(init: str | Mapping[str, Any], solver: str | Solver, stopping: Stopping) -> Options:
    """The options of a run, names checked."""
    if solver != "auto":
        get_solver(solver)
    if not isinstance(init, Mapping) and (not isinstance(init, str) or init not in ("auto", *INITIALIZATIONS)):
        raise unknown("init", init, ("auto", *INITIALIZATIONS), "a dict of factors")
    return Options(init, solver, stopping)


def explain(estimator: Any, X: Any, rank: int | Sequence[int] | None = None, *, weights: Any = None, **options: Any) -> Explanation:
    """Explain how a fit would be done, without doing it.

    Parameters
    ----------
    estimator : estimator, Model, Objective or str
        A factorization such as ``OPNMF(16)``, a `Model`, or a form such as ``"W H"``; or an `Objective`, with the shapes of its
        factors in place of X.
    X : array, sparse array, table, AnnData, Observed, path or open file
        As in `fit` or `factorize`. Data in files are not read, unless they have weights or missing entries.
    rank : int or sequence of int, optional
        Of a model, as in `factorize`.
    weights : array of the shape of X, or pair of arrays, default=None
        As in `fit` or `factorize`.
    **options
        For an estimator ``sample_weight``; for a model ``init``, ``solver``, ``max_iter``, ``tol`` and ``missing``, as in
        `factorize`.

    Returns
    -------
    Explanation
        The model, the first pass over X, each stage with its reason, memory and passes; ``print`` shows them in lines. After a fit
        the same is in ``strategy_``, or in ``Solution.strategy``, with the time of each stage.

    See Also
    --------
    nonneg.factorize : Does it.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.random.default_rng(0).random((2000, 300))
    >>> print(nonneg.explain(nonneg.OPNMF(16), X))
    X           2000 × 300, dense float64, all entries known, in memory
    solved      min ½‖X − X W Wᵀ‖², W ≥ 0  (its minima are nearly orthogonal; WᵀW = I is not imposed)
    first pass  extremes, ΣX²; then XᵀX (300 × 300)
    1 start     swap search on XᵀX  (local minima differ by the groups of features, which swaps of components exchange)
    2 descend   coordinate descent on XᵀX, until steady within 1e-05, at most 5000 iterations
    memory      about 5 MB beyond X
    passes      the first; none in an iteration
    """
    if isinstance(estimator, str | Model):
        model = _model(estimator, None, None)
        data = read_weighted(opened(X), model.data, missing=options.pop("missing", "raise"), weights=weights)
        return _explain_model(model, data, rank, **options)
    if isinstance(estimator, Objective):
        return estimator.explain(X, **options)
    if isinstance(estimator, type) or not hasattr(estimator, "_explain"):
        raise IncompatibleError(
            f"explain takes a factorization of nonneg, such as OPNMF(16), a Model, or a form such as 'W H'; got {estimator!r:.80}."
        )
    if rank is not None:
        raise IncompatibleError(f"rank={rank!r} is for a model; {type(estimator).__name__} has n_components.")
    return estimator._explain(opened(X), weights=weights, **options)


def _explain_model(
    model: Model,
    data: Any,
    rank: Any,
    *,
    init: str | Mapping[str, Any] = "auto",
    solver: str | Solver = "auto",
    max_iter: int = 1000,
    tol: float = 1e-5,
) -> Explanation:
    options = _read_options(init, solver, Stopping(tol=tol, max_iter=max_iter))
    signature = signature_of(model, data, rank, init if isinstance(init, Mapping) else None, max_iter)
    strategy = (choose if init == "auto" else choose_directly)(signature, options)
    return explain_strategy(signature, strategy, model.line)
