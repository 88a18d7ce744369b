"""Every method of the five papers: where it is printed, and what to call here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from typing import overload

from nonneg.exceptions import IncompatibleError

READY, FORM, DERIVED = "ready", "by form", "derived"
"""A name of its own; a form to be given; a step of a derivation, of no use by itself."""


@dataclass(frozen=True)
class Method:
    """A method of the papers."""

    method: str
    what: str
    printed: str
    here: str
    status: str = READY


class Methods(Sequence[Method]):
    """A table of methods, which prints itself; in a notebook, or as Markdown, too."""

    def __init__(self, rows: Sequence[Method]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> Method: ...
    @overload
    def __getitem__(self, index: slice) -> Methods: ...
    def __getitem__(self, index: int | slice) -> Method | Methods:
        return Methods(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._rows)

    def _lines(self) -> list[tuple[str, ...]]:
        return [tuple(field.name for field in fields(Method)), *(astuple(row) for row in self)]

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        lines.insert(1, tuple("-" * width for width in widths))
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"Methods({len(self)} methods, {sum(row.status == READY for row in self)} ready)"

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = [tuple(cell.replace("|", "\\|") for cell in line) for line in self._lines()]
        lines.insert(1, ("---",) * len(lines[0]))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def methods(search: str = "", *, status: str | None = None) -> Methods:
    """List methods; see `nonneg.methods`."""
    known = (READY, FORM, DERIVED)
    if not isinstance(search, str):
        raise TypeError(f"search must be a text, part of a method's name; got {search!r}.")
    if status is not None and status not in known:
        raise IncompatibleError(f"status must be one of {', '.join(map(repr, known))}; got {status!r}.")
    return Methods([row for row in _TABLE if search.lower() in row.method.lower() and status in (None, row.status)])


_TABLE = (
    # Factorizations
    Method("NMF", "D(X‖W H)", "ONL 25; NNP 32–33; FONT 2–3; PNMF 5–7", '`nonneg.NMF`; as printed, `nonneg.NMF(solver="paper")`'),
    Method("NNSC", "½‖X − W H‖² + α ΣH, unit columns of W", "PNMF §6.2 (Hoyer 2002)", "`nonneg.NonnegativeSparseCoding`"),
    Method("PNMF", "D(X‖W WᵀX)", "PNMF 14, 20–22, 29–30; NNP 36; ONL 34; QNMF §5.1", "`nonneg.PNMF`"),
    Method(
        "PNMF, ONL's form",
        "its denominator may be negative; unsimplified with `Orthogonal(steps=1)`",
        "ONL 29, 30",
        '`nonneg.Objective(positive="W W.T K W + K W W.T W - K W", negative="K W", given={"K": [[1]]})`, K = X Xᵀ',
        DERIVED,
    ),
    Method(
        "OPNMF", "D(X‖W WᵀX), WᵀW = I; also NLHN", "ONL 31, 35; NNP 40", '`nonneg.OPNMF(solver="paper")`; `nonneg.OPNMF` runs PNMF'
    ),
    Method("online PNMF", "PNMF of a stream", "QNMF §3", "`nonneg.PNMF.partial_fit`"),
    Method(
        "online NLHN",
        "OPNMF of a stream, a sample or a batch at a time",
        "NNP 38",
        '`nonneg.OPNMF(solver="paper", forgetting=0).partial_fit`, as printed; by default averaged',
    ),
    Method("ONMF", "D(X‖W H), WᵀW = I", "ONL 28", "`nonneg.ONMF`"),
    Method(
        "ONMF, unsimplified",
        "the same, before WᵀW = I is used, or words are cancelled",
        "ONL 26, 27",
        '`nonneg.Factorization("W H", constraints={"H": nonneg.constraints.Orthogonal("rows", steps=1)})`, `steps=2`',
        FORM,
    ),
    Method(
        "Convex NMF",
        "D(X‖X W H); samples as rows, H W X",
        "QNMF §2, §3 (Ding, Li, Jordan 2010)",
        '`nonneg.ConvexNMF`, X of either sign; other divergences `nonneg.Factorization("H W X", divergence=1)`',
    ),
    Method("Semi-NMF", "½‖X − F Gᵀ‖², X and F of either sign", "QNMF §2 (Ding, Li, Jordan 2010)", "`nonneg.SemiNMF`"),
    Method(
        "signed matrices",
        "given matrices of either sign, in any form; ½‖X − X̂‖²",
        "QNMF §3",
        '`nonneg.Factorization("X W H", signed=["X"])`, `split="separate"` as Ding, Li and Jordan; fixed factors as they are',
        FORM,
    ),
    Method("orthogonal rows, polar", "truly orthogonal factors", "ONL §2.4", "`orthogonality=` of `nonneg.OPNMF` and others"),
    Method("symmetric NMF", "D(X‖W Wᵀ)", "QNMF §3.1", "`nonneg.SymmetricNMF`"),
    Method("W B Wᵀ", "D(X‖W B Wᵀ)", "QNMF §3.1, 9", '`nonneg.Factorization("W B W.T")`', FORM),
    Method(
        "W B Wᵀ, B diagonal",
        "components with weights of their own",
        "QNMF §2",
        '`nonneg.Factorization("W B W.T", constraints={"B": "diagonal"})`',
        FORM,
    ),
    Method(
        "L2 and L1 penalties",
        "on any factor, with any divergence",
        "QNMF §2",
        "`nonneg.NMF(alpha_W=1e-4, l1_ratio=0.5)`, `nonneg.constraints.Sparse(0.1, ridge=0.2)`",
    ),
    Method("A W B Wᵀ C", "the general quadratic form", "QNMF 2, 9, Table 1", '`nonneg.Factorization("A W B W.T C")`', FORM),
    Method("any form", "any divergence, any constraints", "QNMF Theorems 1–3", "`nonneg.Factorization`"),
    Method("NMTF", "D(X‖W S H)", "FONT §2", "`nonneg.NMTF`"),
    Method("ONMTF", "D(X‖W S H), WᵀW = I, H Hᵀ = I", "FONT 6–12", "`nonneg.ONMTF`"),
    Method("FONT", "the same, multipliers −I", "FONT 16–17, 7", "`nonneg.FONT`"),
    Method("FONT-ALS", "the same, by least squares", "FONT 21", '`nonneg.FONT(solver="als")`'),
    Method("kernel PNMF", "PNMF of a kernel", "QNMF §5.1", "`nonneg.KernelPNMF`"),
    Method("PNMF clustering", "PNMF of the transpose", "PNMF §5", "`nonneg.ProjectiveClustering`"),
    Method("tSVD", "max(U S Vᵀ, 0)", "PNMF 1–3", "`nonneg.TruncatedNonnegativeSVD`"),
    Method("adaptive exponents", "the papers' acceleration", "QNMF §3", "`nonneg.solvers.Adaptive`"),
    Method(
        "any J(W)",
        "free or orthogonal, from ∇⁺ and ∇⁻, or from a formula",
        "ONL 9, 12, 18, 20; QNMF 8, 11",
        '`nonneg.Objective("½‖X − W W.T X‖²", given={"X": [[1]]})`; `positive=`, `negative=` as functions',
    ),
    Method(
        "non-linear and stacked forms",
        "X ≈ W f(WᵀX), as objectives of one's own",
        "QNMF §6",
        '`nonneg.Objective`; the guide page "Your own objective" has both',
        FORM,
    ),
    # Constraints
    Method(
        "stochastic",
        "columns, rows or the whole matrix sum to one; rows and columns",
        "QNMF 10, Theorem 2",
        "`nonneg.constraints.Stochastic`, `nonneg.constraints.DoublyStochastic`",
    ),
    Method(
        "orthogonal",
        "WᵀW = I, simplified",
        "QNMF 11, Theorem 3, Corollary 4; ONL 12, 20, Fig. 4",
        "`nonneg.constraints.Orthogonal`",
    ),
    Method("orthogonal, unsimplified", "WᵀW = I, as the theorem has it", "QNMF 11", "`nonneg.constraints.Orthogonal(steps=1)`"),
    # Divergences
    Method("α-divergence", "α = 1 is the I-divergence, ½ Hellinger, 2 χ²", "QNMF Table 1", "`nonneg.divergences.Alpha`"),
    Method(
        "β-divergence", "QNMF's β = 1 is b = 2, Euclidean; 0, I; −1, Itakura–Saito", "QNMF Table 1", "`nonneg.divergences.Beta`"
    ),
    Method("γ-divergence", "does not depend on scale; γ → 0 is Kullback–Leibler", "QNMF Table 1", "`nonneg.divergences.Gamma`"),
    Method("Rényi divergence", "does not depend on scale; r → 1 is Kullback–Leibler", "QNMF Table 1", "`nonneg.divergences.Renyi`"),
    Method("dual I-divergence", "α → 0, an exponential rule", "QNMF Table 1", "`nonneg.divergences.DualI`"),
    Method(
        "sums of divergences",
        "weighted, of any number",
        "QNMF §3.2",
        "`nonneg.divergences.Beta(1) + 0.5 * nonneg.divergences.Beta(2)`, `nonneg.divergences.WeightedSum`",
    ),
    Method(
        "generalized polynomials", "a divergence of one's own, as Eq. 5 has it", "QNMF 5, §3.2", "`nonneg.divergences.Polynomial`"
    ),
    # Projections with a trace objective
    Method("NL, √NL", "max tr(WᵀSW)", "ONL 39, 40; NNP 17, 18", '`nonneg.graph.GraphClustering(method="nl")`, "sqrt-nl"'),
    Method(
        "ONL, √ONL",
        "max tr(WᵀSW), WᵀW = I",
        "ONL 41, 42; NNP 28",
        '`nonneg.graph.GraphClustering(method="onl")`, "sqrt-onl"',
    ),
    Method("any A and B", "max wᵀAw, wᵀBw = 1, w ≥ 0", "NNP 20, 21", '`nonneg.maximize_rayleigh`; as printed, `rule="oja"`'),
    Method(
        "the step ζ",
        "W + ζ W ∘ G/∇⁺, the natural gradient; ζ = 1 is the multiplicative rule",
        "NNP 2, 3, 7; PNMF 18, 19, 27, 28",
        "`nonneg.solvers.Additive(rate=0.5)`",
    ),
    Method(
        "Oja's rules",
        "additive, of the gradient and on the Stiefel manifold, negative entries made zero",
        "NNP 1, 14, 23, 27, 29, 39; ONL 3, 8",
        '`nonneg.solvers.Additive(0.01, "oja")`, "stiefel", "gradient"',
    ),
    Method(
        "Oja's rule with wᵀBw = 1",
        "additive, for any symmetric B, the normalisation being a part of the gradient",
        "NNP 14, 19",
        '`nonneg.Objective(positive="W W.T B A W", negative="A W", given={"A": [[1]], "B": [[1]]})` with '
        '`nonneg.solvers.Additive(0.01, "gradient")`',
        FORM,
    ),
    Method(
        "other F than the identity",
        "max E{F(‖Wᵀv‖²)}, WᵀW = I, as in ICA",
        "NNP 8",
        "`nonneg.Objective`; docs/guide/objectives.md has it",
        FORM,
    ),
    Method("NLDA", "non-negative Fisher discriminant", "NNP 55", '`nonneg.NonnegativeLDA`; as printed, `rule="oja"`'),
    Method("NLDA of S_T", "the same rule with the total scatter", "NNP 52–53", '`nonneg.NonnegativeLDA(rule="oja-total")`'),
    Method(
        "KFDA",
        "Fisher's discriminant with a kernel, weights of either sign",
        "NNP 58–62, Fig. 5",
        "`nonneg.NonnegativeKernelFDA(positive=False)`",
    ),
    Method("flipping", "of features", "NNP 57", "`flip=` of `nonneg.NonnegativeLDA`"),
    Method("definiteness", "of S_W S_B + S_B S_W", "NNP 56", "`definite_` of `nonneg.NonnegativeLDA`"),
    Method("NKFDA", "NLDA with a kernel; ranks samples", "NNP 63", '`nonneg.NonnegativeKernelFDA`; as printed, `rule="oja"`'),
    # Graphs
    Method("negative Laplacian", "a similarity of vertices", "ONL §4.1", '`nonneg.graph.SIMILARITIES["laplacian"]`'),
    Method(
        "modularity",
        "a similarity of vertices",
        "ONL §4.1",
        '`nonneg.graph.SIMILARITIES["modularity"]`; `nonneg.graph.Modularity` in parts (|S| ± S)/2',
    ),
    Method("vertex similarity", "of Leicht, Holme and Newman", "ONL §4.1", "`nonneg.graph.VertexSimilarity`"),
    Method("discriminative K-means", "I − (I + A/λ)⁻¹", "ONL 38", "`nonneg.graph.DiscriminativeKMeans`"),
    Method("normalised kernel", "D^−½ A D^−½", "QNMF §5.1", '`nonneg.graph.SIMILARITIES["normalized"]`'),
    Method("random-walk kernel", "(B + Bᵀ)/2, (2D − A)B = A", "QNMF §5.1", '`nonneg.graph.SIMILARITIES["random-walk"]`'),
    Method("kernel K-means", "partitions of a graph", "ONL 43", '`nonneg.graph.GraphClustering(method="kernel-kmeans")`'),
    Method("POD", "eigenvectors, then rotations", "ONL §4.3 (Yu and Shi 2003)", '`nonneg.graph.GraphClustering(method="pod")`'),
    Method("NSC", "non-negative spectral clustering", "QNMF §5.1 (Ding 2008)", '`nonneg.graph.GraphClustering(method="nsc")`'),
    Method(
        "EU-QNMF, I-QNMF",
        "graph matching, D(B‖W A Wᵀ), WᵀW = I",
        "QNMF §5.4",
        '`nonneg.graph.match_graphs`; as printed, `constraint="orthogonal", init="random", polish=False, solver="paper"`',
    ),
    Method(
        "Umeyama", "graph matching, |U_B||U_A|ᵀ", "QNMF §5.4", '`nonneg.graph.match_graphs` with `divergence=None, init="umeyama"`'
    ),
    # Co-clustering
    Method("Bi-QNMF", "D(X‖L LᵀX R Rᵀ)", "QNMF §5.2", "`nonneg.BiQNMF`"),
    Method(
        "BiOR-NM3F",
        "D(X‖L S Rᵀ), both orthogonal, exponent ½",
        "QNMF §5.2 (Ding 2006)",
        "`nonneg.BiORNM3F`",
    ),
    Method("BiOR-NM3F-I", "the same, I-divergence", "QNMF §5.2", '`nonneg.BiORNM3F(divergence="kullback-leibler")`'),
    # Hidden Markov chains
    Method(
        "QNMF-HMM",
        "D(X‖W Y Wᵀ), stochastic",
        "QNMF §5.3",
        "`nonneg.QNMFHMM`",
    ),
    Method("NNMF-HMM", "least squares and clipping", "QNMF §5.3", "`nonneg.NNMFHMM`"),
    # Measures
    Method("purity", "of clusters", "ONL 44; FONT 22", "`nonneg.metrics.purity`"),
    Method("entropy", "of clusters, two conventions", "FONT 23; PNMF 36", "`nonneg.metrics.clustering_entropy`"),
    Method("accuracy", "of clusters, matched one to one", "PNMF 35", "`nonneg.metrics.clustering_accuracy`"),
    Method("ρ, 1 is best", "orthogonality of a basis", "NNP 65", "`nonneg.metrics.orthogonality`"),
    Method("ρ, 0 is best", "orthogonality of a basis", "PNMF 38", "`nonneg.metrics.orthogonality_error`"),
    Method("basis entropy", "localisation of a basis", "PNMF 37", "`nonneg.metrics.basis_entropy`"),
    Method("equal error rate", "of a classifier", "NNP §6.3", "`nonneg.metrics.equal_error_rate`"),
    Method("edge error", "of a matching", "QNMF §5.4", "`nonneg.metrics.edge_error`"),
    Method("constraint errors", "of stochastic factors", "QNMF Table 2", "`nonneg.metrics.stochastic_error`"),
)
