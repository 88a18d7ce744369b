"""`factorize`: any form, divergence, constraints, solver and start."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data, dense, invariants, parts
from .trial import Trial

_FORMS = (
    "W H", "W W.T X", "X W W.T", "W S H", "W W.T", "W B W.T", "L L.T X R R.T", "L S R.T", "W", "A W", "W A W.T", "A W B W.T C",
    "W.T H", "H.T W.T", "W.T W", "X W H", "W X H", "W H X", "W W", "W X W.T", "W S W.T", "W W.T W",
    "W W.T H", "H W W.T", "W W.T H S", "W.T W H", "W W.T X H", "W W.T H H.T",
)  # fmt: skip
_CONSTRAINTS = (*parts.CONSTRAINTS, "Sparse(0.1)", "Disjoint(0.1)", "NearOrthogonal()")
_SOLVERS = (
    *parts.SOLVERS,
    "nonneg.solvers.Multiplicative(exponent=1)", "nonneg.solvers.Multiplicative(rescale=True)",
    "nonneg.solvers.Coordinate(momentum=0)", "nonneg.solvers.Coordinate(warmup=0, passes=2)",
    "nonneg.solvers.QuasiNewton(memory=2, warmup=0)", "nonneg.solvers.Adaptive(growth=2)",
)  # fmt: skip
_SOFT = ("orthogonal", "permutation", "doubly", "Near", "PartlyFixed")
"""Constraints of which no K.K.T. conditions are checked: most of their rules do not aim at the objective alone."""


def case(t: Trial) -> None:
    if t.one_in(15):
        t.pick((_kernel, _trace, _signed))(t)
        return
    form = t.pick(_FORMS) if not t.one_in(5) else _any_form(t)
    names = dict.fromkeys(name for name, _ in dense.letters(form))
    factors = [name for name in names if name != "X"]
    groups = dense.axes(form)
    m, n = data.sides(t)
    if form in ("W W.T X", "X W W.T") and t.one_in(40):
        m, n = t.pick(((300, 700), (700, 300)))  # large enough for a sketch to be worth its while
    n = m if groups["X", 0] == groups["X", 1] else n
    sizes = {groups["X", 0]: m, groups["X", 1]: n}
    open_ = dict.fromkeys(groups[name, side ^ flipped] for name, flipped in dense.letters(form) for side in (0, 1))
    ranks = [t.integer(1, t.pick((3, 3, min(max(m, n) + 1, 31)))) for group in open_ if group not in sizes]
    if t.one_in(4):
        ranks = [min(m, n)] * len(ranks)  # as many as are needed for an exact fit: rows of factors become zero
    elif not t.one_in(4):
        ranks = ranks[:1] * len(ranks)
    sizes |= dict(zip([group for group in open_ if group not in sizes], ranks, strict=True))
    shapes = {name: (sizes[groups[name, 0]], sizes[groups[name, 1]]) for name in factors}

    divergence = t.pick(dense.DIVERGENCES) if t.one_in(2) else dense.EUCLIDEAN
    constraints = {name: t.pick(_CONSTRAINTS) for name in factors if t.one_in(4)}
    constraints |= {name: "fixed" for name in factors if name in "ABC" and name != "B" and t.one_in(2)}
    if t.one_in(12):
        constraints[factors[-1]] = f"PartlyFixed(np.ones((1, {shapes[factors[-1]][1]})))"
    learned = [name for name in factors if constraints.get(name) != "fixed"]
    X = data.matrix(t, m, n, positive=divergence.needs_positive and not t.one_in(20))

    init = t.pick(parts.STARTS)
    if "fixed" in constraints.values() or t.one_in(4):
        given = [name for name in factors if name not in learned or t.one_in(2)]
        if given:
            t.let("init", "{" + ", ".join(f"{name!r}: {_start(t, shapes[name])}" for name in given) + "}")
            init = "init"
    solver = t.pick(_SOLVERS) if t.one_in(2) else '"auto"'
    rank = None if not ranks else ranks[0] if len(set(ranks)) == 1 else tuple(ranks)
    options = {
        "divergence": divergence.source,
        "constraints": _constraints_source(constraints),
        "init": init,
        "solver": solver,
        "max_iter": t.pick(("30", "100", "300", "1000", "0", "1")),
        "tol": t.pick(("1e-05", "1e-05", "0", "1e-9", "1e-3")),
        "check_every": t.pick(("10", "10", "1", "3")),
        "step_tol": t.pick(("0.0", "0.0", "0.0", "1e-6")),
        "random_state": t.pick(("0", "1", "np.random.RandomState(0)")),
    }
    defaults = {"divergence": '"euclidean"', "constraints": "None", "init": '"auto"', "solver": '"auto"', "max_iter": "1000"}
    defaults |= {"tol": "1e-05", "check_every": "10", "step_tol": "0.0", "random_state": "None"}
    given_options = "".join(f", {key}={text}" for key, text in options.items() if text != defaults[key])
    source = f'nonneg.factorize(X, "{form}", {rank}{given_options})'
    t.subject = f"factorize {solver.strip(chr(34)).split('(')[0]}{' sparse' if hasattr(X, 'nnz') else ''}"
    solution = t.call(source, "solution")
    t.note(f"status {solution.status.value}")
    _check(t, solution, form, divergence, constraints, learned, X, options)
    if t.one_in(4):
        again = t.call(source, "again")
        for name in factors:
            t.check(
                "same bits",
                again.factors[name].tobytes() == solution.factors[name].tobytes(),
                f"{name} differs when it is run again",
            )
    if t.one_in(3):
        _related(t, form, divergence, constraints, learned, solution, X, options)


def _kernel(t: Trial) -> None:
    """Data known by their products alone."""
    m, n = data.sides(t)
    data.matrix(t, m, n, scales=("", " * 1e-3", " * 1e6"), containers=("{}",))
    source = t.pick(("X.astype(float) @ X.T", "(lambda K: K - np.diag(np.diag(K)))(X.astype(float) @ X.T)"))
    K = dense.wide(t.let("K", source))
    t.subject = "factorize Gram"
    solver = t.pick(('"auto"', '"adaptive"', '"multiplicative"'))
    options = f"solver={solver}, max_iter=100, random_state=0"
    solution = t.call(f'nonneg.factorize(nonneg.Gram(K, checked=False), "W W.T X", {t.integer(1, m + 1)}, {options})')
    t.note(f"status {solution.status.value}")
    invariants.finite(t, "W", solution.factors["W"])
    W = dense.wide(solution.factors["W"])
    KW = K @ W
    terms = np.trace(K) / 2, -np.sum(W * KW), np.sum(KW * (W @ (W.T @ W))) / 2
    size = float(sum(map(abs, terms)))
    invariants.equal(t, "objective", "objective", solution.objective, sum(terms), invariants.ROUNDINGS * 2.3e-16, size)
    invariants.never_rising(t, solution.history.objective, size, 2.3e-16)


def _trace(t: Trial) -> None:
    """The one objective that is maximised, of a symmetric matrix of either sign."""
    n = t.integer(1, 8)
    S = t.let(
        "S", f"(lambda A: A + A.T)(np.random.default_rng({t.integer(0, 99)}).{t.pick(('random', 'standard_normal'))}(({n}, {n})))"
    )
    t.subject = "factorize trace"
    constraint = t.pick(("{'W': 'orthogonal'}", "None"))
    t.let("model", f'nonneg.Model("W.T S W", "trace", {constraint}, data="S")')
    solution = t.call(f"nonneg.factorize(S, model, {t.integer(1, n)}, max_iter={t.pick((30, 300))}, random_state=0)", "solution")
    t.note(f"status {solution.status.value}")
    invariants.finite(t, "W", solution.factors["W"])
    W = dense.wide(solution.factors["W"])
    expected = np.trace(W.T @ dense.wide(S) @ W)
    size = np.sum(abs(dense.wide(S)))
    invariants.equal(t, "objective", "objective", solution.objective, expected, invariants.ROUNDINGS * 2.3e-16, size)


def _signed(t: Trial) -> None:
    """Semi-NMF and its kin: data and one factor of either sign."""
    m, n, r = *data.sides(t), t.integer(1, 4)
    drawn = f"np.random.default_rng({t.integer(0, 99)}).standard_normal(({m}, {n}))"
    X = t.let("X", t.pick(("{}", "1e6 * {}", "1e-6 * {}", "sparse.csr_array({})", "np.round({})")).format(drawn))
    form, name = t.pick((("F G.T", "F"), ("W H", "H"), ("L S R.T", "S")))
    solver = t.pick(('"auto"', '"coordinate"', '"multiplicative"', '"adaptive"', '"quasi-newton"'))
    t.subject = f"factorize signed {solver.strip(chr(34))}"
    options = f"solver={solver}, max_iter={t.pick((30, 300))}, random_state=0"
    solution = t.call(f'nonneg.factorize(X, "{form}", {r}, constraints={{{name!r}: "signed"}}, {options})', "solution")
    t.note(f"status {solution.status.value}")
    matrices = {key: dense.wide(factor) for key, factor in solution.factors.items()} | {"X": dense.wide(X)}
    for key in solution.factors:
        invariants.finite(t, key, solution.factors[key], signed=key == name)
    approximation = dense.product(dense.letters(form), matrices)
    expected = np.sum((matrices["X"] - approximation) ** 2) / 2
    terms = dense.product(dense.letters(form), {key: abs(matrix) for key, matrix in matrices.items()})  # which may cancel
    size = float(np.sum(matrices["X"] ** 2 + terms**2))
    invariants.equal(t, "objective", "objective", solution.objective, expected, invariants.ROUNDINGS * 2.3e-16, size)
    invariants.never_rising(t, solution.history.objective, size, 2.3e-16)


def _any_form(t: Trial) -> str:
    words = [t.pick(("W", "H", "X", "S")) + t.pick(("", ".T")) for _ in range(t.integer(1, 4))]
    return " ".join(words) if any(word[0] != "X" for word in words) else "W H"


def _start(t: Trial, shape: tuple[int, int]) -> str:
    return f"np.random.default_rng({t.integer(0, 9)}).random({shape})" + t.pick((" + 0.1", "", "* 1e6"))


def _constraints_source(constraints: dict[str, str]) -> str:
    def source(text: str) -> str:
        return f"nonneg.constraints.{text}" if text.endswith(")") else repr(text)

    return "{" + ", ".join(f"{name!r}: {source(text)}" for name, text in constraints.items()) + "}" if constraints else "None"


def _check(
    t: Trial,
    solution: Any,
    form: str,
    divergence: dense.Divergence,
    constraints: dict[str, str],
    learned: list[str],
    X: Any,
    options: dict[str, str],
) -> None:
    factors, history = solution.factors, solution.history
    dtype = np.result_type(*(factor.dtype for factor in factors.values()))
    for name in learned:
        invariants.finite(t, name, factors[name])
        if solution.n_iter and name in constraints:
            invariants.constrained(t, name, factors[name], constraints[name])
    t.check(
        "shapes", np.all(np.diff(history.iteration) > 0) and history[-1].iteration == solution.n_iter, "history is out of order"
    )
    is_float32 = (X.dtype if hasattr(X, "dtype") else np.asarray(X).dtype) == np.float32
    t.check("shapes", dtype == (np.float32 if is_float32 else np.float64), f"factors are {dtype}")
    matrices = {name: dense.wide(factor) for name, factor in factors.items()} | {"X": dense.wide(X)}
    approximation = dense.product(dense.letters(form), matrices)
    eps = float(np.finfo(dtype).eps)
    if t.one_in(4):
        back = t.call("solution.reconstruct()", "back")
        with np.errstate(over="ignore"):
            sizes = float(max(abs(matrix).max() for matrix in matrices.values()))
        if 1e-30 < sizes < 1e30:
            invariants.equal(t, "formula", "reconstruct", back, approximation, invariants.ROUNDINGS * eps)
        t.call("str(solution) + repr(solution) + str(solution.model) + repr(solution.history)", "text")
    has_penalty = any(text.endswith(")") for text in constraints.values())
    is_extreme = not 1e-50 < float(abs(matrices["X"]).max()) < 1e50
    if solution.status != "non_finite" and "FixedMultiplier" not in constraints.values() and not (has_penalty and is_extreme):
        penalty = invariants.penalties(constraints, factors)
        size = invariants.objective(t, solution.objective, divergence, X, approximation, penalty, dtype)
        if _promises_descent(form, divergence, constraints, learned, options["solver"]):
            invariants.never_rising(t, history.objective, size, eps)
        _returns_lowest(t, solution, constraints, learned, size, eps)
    is_soft = any(text.startswith(_SOFT) for text in constraints.values())
    is_strict = float(options["tol"]) <= 1e-5 and int(options["check_every"]) >= 10 and options["step_tol"] == "0.0"
    if solution.status == "converged" and is_strict and not is_soft:
        _stationary(t, solution, form, divergence, constraints, learned, matrices)


def _returns_lowest(t: Trial, solution: Any, constraints: dict[str, str], learned: list[str], size: float, eps: float) -> None:
    """Check that no check of a run was below what it returns, whether or not its solver promises descent."""
    if any(constraints.get(name, "free").startswith(("orthogonal", "permutation", "PartlyFixed")) for name in learned):
        return  # constraints that are only approached
    values = solution.history.objective
    values = values[np.isfinite(values)]
    if len(values):
        allowed = invariants.ROUNDINGS * eps * (np.abs(values).max() + size)
        t.check(
            "never rises",
            not solution.objective > values.min() + allowed,
            f"returned {solution.objective:.6g}, and {values.min():.6g} was seen; rounding is {allowed:.3g}",
        )


def _promises_descent(
    form: str, divergence: dense.Divergence, constraints: dict[str, str], learned: list[str], solver: str
) -> bool:
    if any(constraints.get(name, "free").startswith(("orthogonal", "permutation", "Near")) for name in learned):
        return False
    if "Multiplicative(" in solver or "least" in solver:
        return False
    if "multiplicative" not in solver:
        return True
    repeats = any(form.replace(".T", "").split().count(name) > 1 for name in learned)
    return all(constraints.get(name, "free") == "free" for name in learned) and not (divergence.family == "dual" and repeats)


def _stationary(
    t: Trial,
    solution: Any,
    form: str,
    divergence: dense.Divergence,
    constraints: dict[str, str],
    learned: list[str],
    matrices: dict[str, np.ndarray],
) -> None:
    found = invariants.residual(form, divergence, matrices, constraints, learned)
    start = abs(solution.history[0].objective)
    is_exact = abs(solution.objective) <= 1e4 * invariants.eps_of(t["X"]) * start  # what is left of the gradient is rounding
    if found is not None and not is_exact:
        t.check("stationary", found <= invariants.STATIONARY, f"converged, with a K.K.T. residual of {found:.3g}")
        if t.one_in(4):
            more = t.call("nonneg.factorize(X, solution.model, init=solution.factors, max_iter=300, tol=0)", "more")
            if more.objective < (1 - invariants.GAIN) * solution.objective - 1e-5 * abs(more.history[0].objective):
                t.note("converged, small residual, gains")


def _related(
    t: Trial,
    form: str,
    divergence: dense.Divergence,
    constraints: dict[str, str],
    learned: list[str],
    solution: Any,
    X: Any,
    options: dict[str, str],
) -> None:
    """Runs of a few iterations from the same start, for data that are stored, ordered or scaled otherwise."""
    if np.asarray(solution.factors[learned[0]]).dtype == np.float32:
        return
    peak = float(np.max(np.abs(invariants.entries_of(X)), initial=0.0))
    if not 1e-20 < peak < 1e20:
        return
    t.let("dense", "X.toarray() if sparse.issparse(X) else np.array(X, dtype=float)")
    starts = {}
    for name, factor in solution.factors.items():
        starts[name] = (
            f"solution.factors[{name!r}]"
            if name not in learned
            else f"np.random.default_rng({len(starts)}).uniform(0.5, 1.5, {factor.shape})"
        )
    t.let("start", "{" + ", ".join(f"{name!r}: {text}" for name, text in starts.items()) + "}")
    relation, steps = t.pick(("sparse", "scaled", "permuted")), t.integer(1, 4)
    if relation == "sparse" and "least-squares" in options["solver"]:
        return  # a system with many solutions is solved as rounding has it
    if relation == "permuted" and any(text.startswith("PartlyFixed") for text in constraints.values()):
        return  # what is given comes first
    visits_rows = "oordinate" in options["solver"] or "auto" in options["solver"]
    if relation == "sparse" and visits_rows:
        if len(learned) > 1 or form.replace(".T", "").split().count(learned[0]) > 1:
            return  # a sweep of coordinate descent goes otherwise about sparse data; where it ends is one only if it is convex
        steps = 1000
    rest = f"solution.model, solver={options['solver']}, max_iter={steps}, tol=0, check_every=1"
    base = t.call(f"nonneg.factorize(dense, {rest}, init=start)", "base")
    matrices = {name: dense.wide(factor) for name, factor in base.factors.items()} | {"X": dense.wide(t["dense"])}
    _, size = dense.value(divergence, matrices["X"], dense.product(dense.letters(form), matrices))
    size = float(size) + abs(base.objective)
    if relation == "sparse":
        other = t.call(f"nonneg.factorize(sparse.csr_array(dense), {rest}, init=start)", "other")
        invariants.equal(t, "sparse = dense", "objective", other.objective, base.objective, invariants.SAME, size)
    elif relation == "scaled":
        _scaled(t, form, divergence, constraints, learned, rest, base, size)
    else:
        _permuted(t, form, learned, rest, base, size)


def _scaled(
    t: Trial,
    form: str,
    divergence: dense.Divergence,
    constraints: dict[str, str],
    learned: list[str],
    rest: str,
    base: Any,
    size: float,
) -> None:
    words = [name for name, _ in dense.letters(form)]
    missing = 1 - words.count("X")
    if any(text.endswith(")") for text in constraints.values()):
        return  # a penalty has a scale of its own
    free = [name for name in learned if constraints.get(name, "free") == "free"]
    if (missing and not free) or divergence.degree is None:
        return
    scale = dict.fromkeys(words, 1.0)
    if missing:
        scale[free[0]] = 2.0 ** (12 * missing / words.count(free[0]))
    t.let("scale", repr(scale))
    other = t.call(f"nonneg.factorize(dense * 2.0**12, {rest}, init={{k: v * scale[k] for k, v in start.items()}})", "other")
    factor = 2.0 ** (12 * divergence.degree)
    invariants.equal(t, "scaled", "objective", other.objective / factor, base.objective, invariants.SAME, size)


def _permuted(t: Trial, form: str, learned: list[str], rest: str, base: Any, size: float) -> None:
    """Rows of X in another order, with the same order on whichever axes of factors go with them."""
    groups = dense.axes(form)
    side = t.integer(0, 1)
    count = t["dense"].shape[side]
    t.let("order", f"np.random.default_rng(0).permutation({count})")
    moved = {name: [axis for axis in (0, 1) if groups[name, axis] == groups["X", side]] for name in ["X", *t["start"]]}

    def reordered(source: str, axes: list[int]) -> str:
        return source + {(): "", (0,): "[order]", (1,): "[:, order]", (0, 1): "[order][:, order]"}[tuple(axes)]

    init = ", ".join(f"{name!r}: {reordered(f'start[{name!r}]', axes)}" for name, axes in moved.items() if name != "X")
    other = t.call(f"nonneg.factorize({reordered('dense', moved['X'])}, {rest}, init={{{init}}})", "other")
    if "oordinate" in rest or "auto" in rest:
        return  # rows are visited in an order of their own; that the call works is all there is to see
    invariants.equal(t, "permuted", "objective", other.objective, base.objective, invariants.SAME, size)
