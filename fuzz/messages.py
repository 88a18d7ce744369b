"""What cannot be, given to everything: each has to be refused, in a sentence that names it."""

from __future__ import annotations

import inspect
from typing import Any

import nonneg

from . import parts
from .data import ILLEGAL
from .errors import data_words
from .trial import Trial

_COUNT = ("0", "-1", "1.5", '"three"', "True", "np.nan", "{}")
_NUMBER = ("-1", "np.nan", "np.inf", '"small"', "None", "[]", "1j")
_SWITCH = ('"yes"', '"no"', "3", "None", "[]")
_NAME = ('"nothing"', "3.5", "[]", '["cosine"]', "object()")
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "n_components": _COUNT,
    "n_clusters": (*_COUNT, "None"),
    "n_states": (*_COUNT, "None", "[2]"),
    "init": (
        '"nothing"',
        "3",
        "{'Q': np.ones((2, 2))}",
        "-np.ones((2, 4))",
        "[['a', 'b']]",
        "np.full((2, 4), np.nan)",
        "object()",
    ),
    "solver": ('"nothing"', "3", "None", "[]"),
    "n_init": ("-1", "1.5", '"two"', "None", "True"),
    "refine_iter": ("-1", "1.5", '"many"', "None", "True"),
    "max_iter": ("-1", "1.5", '"many"', "None", "True", "np.inf"),
    "tol": _NUMBER,
    "step_tol": _NUMBER,
    "check_every": ("0", "-1", "1.5", '"often"', "None"),
    "random_state": ("-1", '"seed"', "1.5"),
    "n_jobs": ("0", "1.5", '"all"'),
    "warm_start": _SWITCH,
    "polish": _SWITCH,
    "separate": _SWITCH,
    "verbose": ('"loud"', "[]", "1.5"),
    "divergence": ('"nothing"', "[]", "np.nan", "np.inf", "object()", "True", '"trace"', "1e308", "-1e308"),
    "orthogonality": ('"hard"', "-1", "2", "None", "[]", "np.nan"),
    "alpha": _NUMBER,
    "fixed_components": ("np.ones(3)", "np.ones((1, 99))", "-np.ones((1, 4))", '"x"', "np.full((1, 4), np.nan)", "object()"),
    "constraints": ('"orthogonal"', "{'Q': 'orthogonal'}", "{'W': 'nothing'}", "3", "{'W': 3}", "[]", "{'X': 'unit'}"),
    "constraint": ('"nothing"', "3", "[]", "object()"),
    "form": ('""', '"W +"', "3", "None", '"X"', '"W..T H"', '"W H Q.t"', "[]"),
    "rank": ("0", "-1", "1.5", '"two"', "None", "(2, 2, 2)", "True", "()"),
    "callback": ("3", '"stop"', "[]"),
    "kernel": (*_NAME, "None"),
    "gamma": ('"x"', "np.nan", "[]", "1j"),
    "degree": ('"x"', "np.nan", "[]"),
    "coef0": ('"x"', "np.nan", "[]"),
    "method": (*_NAME, "None"),
    "similarity": (*_NAME, "None"),
    "symmetrize": ('"both"', "3", "[]"),
    "seeds": ("3", "[(0, 99)]", "[(0, 1), (0, 2)]", "[(1,)]", '"ab"', "[[]]"),
    "rule": (*_NAME, "None"),
    "flip": ('"yes"', "3", "None", "[]"),
}
"""Values that cannot be, whatever else is given."""
_SYNONYMS = {
    "divergence": ("divergence", "Beta", "Alpha"),
    "constraints": ("constraint", "constraints", "Constraints", "constrain", "constrained"),
    "constraint": ("constraint",),
    "form": ("form", "factor", "product", "Name"),
    "rank": ("rank", "ranks"),
    "seeds": ("seeds", "seed"),
    "kernel": ("kernel", "metric"),
    "init": ("init",),
}
_OBJECTS = (
    "nonneg.Model('W H', data=3)", "nonneg.Model('W H', 3j)", "nonneg.Model(None)", "nonneg.Model('W H', constraints={'W': 7})",
    "nonneg.divergences.Alpha('x')", "nonneg.divergences.Beta(np.nan)", "nonneg.divergences.Gamma(-1)",
    "nonneg.divergences.Renyi(0)", "nonneg.divergences.Renyi(np.inf)",
    "nonneg.constraints.Stochastic('x')", "nonneg.constraints.Orthogonal(3)",
    "nonneg.constraints.Unit('matrix')", "nonneg.constraints.Sparse(-1)", "nonneg.constraints.Sparse('x')",
    "nonneg.constraints.Disjoint(np.nan)", "nonneg.constraints.Disjoint(1, 'x')", "nonneg.constraints.NearOrthogonal('x')",
    "nonneg.constraints.FixedMultiplier('rows', -1)", "nonneg.constraints.PartlyFixed(np.ones(3))",
    "nonneg.constraints.PartlyFixed([['a']])", "nonneg.constraints.PartlyFixed(np.ones((1, 2)), 'x')",
    "nonneg.solvers.Coordinate(enough='a')", "nonneg.solvers.Coordinate(enough=-1)", "nonneg.solvers.Coordinate(momentum=2)",
    "nonneg.solvers.Coordinate(momentum='a')", "nonneg.solvers.Coordinate(passes=0)", "nonneg.solvers.Coordinate(refresh=1.5)",
    "nonneg.solvers.QuasiNewton(memory=0)", "nonneg.solvers.QuasiNewton(warmup='a')", "nonneg.solvers.Adaptive(growth=1)",
    "nonneg.solvers.Adaptive(growth='a')", "nonneg.solvers.Adaptive(largest=-1)", "nonneg.solvers.Multiplicative(exponent=0)",
    "nonneg.solvers.Multiplicative(exponent='a')", "nonneg.solvers.Multiplicative(floor=-1)", "nonneg.solvers.Stopping(tol=-1)",
    "nonneg.solvers.Stopping(patience=0)", "nonneg.methods(status='x')", "nonneg.methods(3)",
    "nonneg.graph.DiscriminativeKMeans(-1)", "nonneg.graph.VertexSimilarity(2)", "nonneg.graph.read_graph(3)",
    "nonneg.graph.Modularity('a')",
    "nonneg.graph.cosine_graph('x')", "nonneg.coclusters.order(3)", "nonneg.coclusters.sizes(None)",
    "nonneg.metrics.purity([0, 1], [0])", "nonneg.metrics.purity([], [])", "nonneg.metrics.purity([[0]], [[0]])",
    "nonneg.metrics.clustering_accuracy([0, None], [0, 1])", "nonneg.metrics.equal_error_rate([0, 1], ['a', 'b'])",
    "nonneg.metrics.equal_error_rate([0, 1, 2], [1, 2, 3])", "nonneg.metrics.equal_error_rate([0, 1], [np.nan, 1])",
    "nonneg.metrics.edge_error(np.eye(2), np.eye(3), [0, 1])", "nonneg.metrics.edge_error(np.eye(2), np.eye(2), [0, 0])",
    "nonneg.metrics.relative_error(np.eye(2), np.eye(3))", "nonneg.metrics.stochastic_error(np.eye(2), 'x')",
    "nonneg.metrics.sparseness([[1.0]])", "nonneg.KernelPNMF(2).fit(np.ones((10**6, 1)))",
    "nonneg.NonnegativeKernelFDA().fit(np.ones((10**6, 1)), np.arange(10**6) % 2)",
)  # fmt: skip


def case(t: Trial) -> None:
    t.pick((_parameter, _data, _object, _of_factorize, _late))(t)


def _parameter(t: Trial) -> None:
    """One parameter of an estimator that cannot be, all others being what they should."""
    name = t.pick(
        (
            *parts.ESTIMATORS,
            "NonnegativeLDA",
            "NonnegativeKernelFDA",
            "QNMFHMM",
            "NNMFHMM",
            "graph.GraphClustering",
            "graph.match_graphs",
        )
    )
    known = _parameters_of(name)
    wrong = t.pick([parameter for parameter in _PARAMETERS if parameter in known])
    value = t.pick(_PARAMETERS[wrong])
    if _may_be(name, wrong, value):
        return
    options = {"random_state": "0", "max_iter": "5"}
    options = {key: text for key, text in options.items() if key in known} | _besides(name, wrong) | {wrong: value}
    given = ", ".join(f"{key}={text}" for key, text in options.items())
    t.subject = f"{name} {wrong}"
    call = (
        f"nonneg.{name}({given}).fit({_legal(name)})"
        if name != "graph.match_graphs"
        else f"nonneg.{name}(np.ones((4, 4)), np.eye(4), {given})"
    )
    t.call(call, refusal=_SYNONYMS.get(wrong, (wrong,)), must_refuse=True)


def _parameters_of(name: str) -> list[str]:
    found: Any = nonneg
    for part in name.split("."):
        found = getattr(found, part)
    return list(inspect.signature(found).parameters)


def _may_be(name: str, parameter: str, value: str) -> bool:
    """Where a value that cannot be elsewhere can be."""
    return (
        (name == "graph.match_graphs" and (parameter, value) in {("n_init", "0"), ("init", "3")})
        or (parameter == "n_components" and name == "TruncatedNonnegativeSVD" and value in ("{}",))
        or (parameter == "divergence" and name == "graph.match_graphs" and value == "None")
        or (parameter == "gamma" and "Kernel" not in name)  # of kernels that have it
        or (name == "FONT" and (parameter, value) == ("solver", '"als"'))
    )


def _besides(name: str, wrong: str) -> dict[str, str]:
    """What else must be said for a parameter to matter."""
    if wrong in ("gamma", "degree", "coef0"):
        return {"kernel": '"polynomial"'}
    if wrong == "form":
        return {"n_components": "2"}
    if wrong in ("constraints", "fixed_components"):
        return {"n_components": "2"}
    return {}


def _legal(name: str) -> str:
    if name in ("SymmetricNMF", "graph.GraphClustering"):
        return "np.ones((9, 9))"
    if name.endswith("HMM"):
        return '["banana", "panorama", "salami"]'
    rectangle = "np.random.default_rng(0).random((9, 4))"
    return f"{rectangle}, np.arange(9) % 2" if name in ("NonnegativeLDA", "NonnegativeKernelFDA") else rectangle


def _data(t: Trial) -> None:
    """Data that cannot be."""
    wrong = t.pick(ILLEGAL)
    name = t.pick(
        (*parts.ESTIMATORS, "factorize", "fit_pairs", "graph.GraphClustering", "match_graphs", "NonnegativeLDA", "sequences")
    )
    if "-1.0" in wrong and name in ("NonnegativeLDA", "KernelPNMF"):
        return
    if '"a", "b"' in wrong and "graph" in name.lower():  # two edges between names
        return
    if name == "sequences" and wrong in ("'X'", "np.ones(4)", "[[1.0, 2.0], [3.0]]"):
        return
    t.subject = f"{name} data"
    call = {
        "factorize": f'nonneg.factorize({wrong}, "W H", 1)',
        "fit_pairs": f"nonneg.QNMFHMM(1).fit_pairs({wrong})",
        "match_graphs": f"nonneg.graph.match_graphs({wrong}, np.eye(2))",
        "NonnegativeLDA": f"nonneg.NonnegativeLDA().fit({wrong}, [0, 1])",
        "sequences": f"nonneg.QNMFHMM(1).fit({wrong})",
    }.get(name, f"nonneg.{name}({'2' if 'Graph' in name else ''}).fit({wrong})")
    t.call(call, refusal=data_words("C", "A", "matrix", "symbols", "sequences"), must_refuse=True)


def _object(t: Trial) -> None:
    """Objects of the model, measures and small functions."""
    source = t.pick(_OBJECTS)
    t.subject = source.split("(")[0]
    t.call(source, must_refuse=True)


def _of_factorize(t: Trial) -> None:
    wrong = t.pick([name for name in inspect.signature(nonneg.factorize).parameters if name in _PARAMETERS])
    value = t.pick(_PARAMETERS[wrong])
    if wrong == "divergence" and value == '"trace"':
        return
    positional = {"X": "np.random.default_rng(0).random((9, 4))", "form": '"W H"', "rank": "2"}
    options = {**positional, "max_iter": "5", wrong: value}
    t.subject = f"factorize {wrong}"
    given = ", ".join(text if key in positional else f"{key}={text}" for key, text in options.items())
    t.call(f"nonneg.factorize({given})", refusal=_SYNONYMS.get(wrong, (wrong,)), must_refuse=True)


def _late(t: Trial) -> None:
    """What a fitted, or an unfitted, estimator cannot do."""
    name = t.pick(("NMF", "PNMF", "OPNMF", "ONMF", "NMTF", "BiQNMF", "ProjectiveClustering", "TruncatedNonnegativeSVD"))
    t.subject = f"{name} late"
    made = getattr(nonneg, name)()
    methods = [method for method in ("transform", "score", "predict", "inverse_transform") if hasattr(made, method)]
    method = t.pick(methods)
    if t.one_in(3):
        t.call(f"nonneg.{name}().{method}(np.ones((2, 2)))", must_refuse=True)
        return
    count = "n_clusters" if name in ("BiQNMF", "ProjectiveClustering") else "n_components"
    made = f"nonneg.{name}(max_iter=5, random_state=0, {count}=2)" if name[0] != "T" else f"nonneg.{name}({count}=2)"
    t.let("model", f"{made}.fit(np.random.default_rng(0).random((9, 4)))")
    wrong = t.pick(("np.ones((2, 7))", *ILLEGAL))
    if method == "inverse_transform" and wrong in ILLEGAL[:5]:
        return  # codes of either sign can be multiplied
    t.call(f"model.{method}({wrong})", refusal=data_words("Codes", "codes"), must_refuse=True)
