"""Parts of faces: NNP Fig. 1–3 on FERET; ONL Fig. 2–3 and PNMF §6.2 on MIT-CBCL."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from nonneg import NMF, OPNMF, PNMF, NonnegativeSparseCoding, TruncatedNonnegativeSVD, metrics
from nonneg.estimators._hardening import largest_of_rows, polar

from .. import load_cbcl, load_feret
from ._bases import held_by_largest, largest_cosine, likeness, matched, unit_length_entropy
from ._drawing import curves, grids, pictures
from ._page import Page

TITLE = "Faces: parts, orthogonality, sparseness (NNP Fig. 1–3, ONL Fig. 2–3, PNMF §6.2)"
FERET_CHECKS = (1, 2, 5, 10, 20, 50, *range(100, 1000, 100), *range(1000, 5001, 250))
CBCL_CHECKS = (1, 2, 5, 10, 20, 50, *range(100, 1000, 100), *range(1000, 2001, 250))
PENALTIES = (0.001, 0.01, 0.1)
FACE = 15
"""Which face of CBCL is shown with its reconstructions."""

Bases = dict[int, np.ndarray]
"""A basis for each number of iterations."""


def build(page: Page) -> None:
    page.say("""
        X has a face in each row; the components are the basis images, the papers' W. `solver="paper"` is the rule as printed, with
        its exponent, from a random start. NLHN is OPNMF: NNP Eq. 40 is ONL Eq. 31. Basis images are drawn with length one, and with
        one scale of greys for a grid, none for a picture of its own; white is zero, dark is large.
    """)
    feret, cbcl = load_feret(), load_cbcl("equalized")
    bases = parts_of_feret(page, feret.data, feret.feature_shape)
    orthogonality_of_feret(page, bases)
    parts_of_cbcl(page, cbcl.data, cbcl.feature_shape)
    bases = followed_on_cbcl(page, cbcl.data)
    entropy_of_cbcl(page, cbcl.data, bases)
    orthogonality_of_cbcl(page, bases)
    defaults(page, feret.data, cbcl.data)
    quicker(page, feret.data, cbcl.data)


def followed(page: Page, estimators: Mapping[str, Any], X: np.ndarray, checks: Sequence[int]) -> dict[str, Bases]:
    return {label: page.follow(estimator, X, checks) for label, estimator in estimators.items()}


# ---- NNP Fig. 1–3


def parts_of_feret(page: Page, X: np.ndarray, shape: tuple[int, int]) -> dict[str, Bases]:
    page.heading("NNP Fig. 1: 25 basis images of the FERET faces")
    estimators = {
        f"{name}, seed {seed}": Estimator(25, solver="paper", random_state=seed)
        for name, Estimator, seeds in (("NMF", NMF, 2), ("PNMF", PNMF, 3), ("NLHN", OPNMF, 3))
        for seed in range(seeds)
    }
    bases = followed(page, estimators, X, FERET_CHECKS)
    final = {label: path[5000] for label, path in bases.items()}
    pca, pnmf = PCA(25).fit(X).components_.T, final["PNMF, seed 0"]
    page.figure(
        grids(
            {
                "PCA": pca,
                "NMF": final["NMF, seed 0"],
                "PNMF": pnmf,
                "NLHN": matched(final["NLHN, seed 0"], pnmf),
            },
            shape,
            columns=5,
        ),
        """25 components of 2409 faces of 32 × 32 pixels: PCA, where grey is zero; NMF, PNMF, NLHN after 5000 iterations of the
        printed rules, seed 0. Those of NLHN are in the order in which they fit those of PNMF best.""",
    )
    claims_of_fig_1(page, X, pca, final)
    return bases


def claims_of_fig_1(page: Page, X: np.ndarray, pca: np.ndarray, final: Mapping[str, np.ndarray]) -> None:
    nmf, pnmf, nlhn = (final[f"{name}, seed 0"] for name in ("NMF", "PNMF", "NLHN"))
    sparseness = [metrics.sparseness(np.abs(W)) for W in (pca, nmf, pnmf, nlhn)]
    cosines = [largest_cosine(W) for W in (nmf, pnmf, nlhn)]
    page.claim(
        "NNP Fig. 1",
        "PCA is holistic; NMF is partly localised, but some parts overlap heavily; PNMF and NLHN find sparse parts that do not.",
        [
            sparseness[0] < sparseness[1] < min(sparseness[2:]),
            cosines[0] > 0.5,
            max(cosines[1:]) < 0.5 * cosines[0],
        ],
        f"""Hoyer's sparseness (1 is best) is {listed(sparseness)} for PCA, NMF, PNMF, NLHN; the largest cosine between two basis
        images {listed(cosines)} for NMF, PNMF, NLHN.""",
    )
    same, others = likeness(nlhn, pnmf), [likeness(final[f"NLHN, seed {seed}"], pnmf) for seed in (1, 2)]
    starts = [likeness(final[f"PNMF, seed {seed}"], pnmf) for seed in (1, 2)]
    page.claim(
        "NNP Fig. 1",
        "“The major difference between P-NMF and NLHN is only the order of the basis vectors.”",
        [same > 0.95, min(others) > 0.95],
        f"""Matched at best, the mean cosine between basis images of PNMF and NLHN is {same:.2f} from the same start and
        {listed(others)} from others, where .95 counts as the same but for the order; between PNMF from one start and from two
        others it is {listed(starts)}. The start matters {"more" if same > max(starts) else "no more"} than the method.""",
    )
    ends = [float(np.linalg.norm(X - X @ W @ W.T) ** 2) for W in (final[f"PNMF, seed {seed}"] for seed in range(3))]
    page.claim(
        "QNMF §6",
        "Many QNMF algorithms converge to similar local minima up to a certain component order (here: PNMF, of the FERET faces).",
        [cosine > 0.95 for cosine in starts],
        f"""One algorithm and one data set, 5000 iterations of the printed rule: matched at best, the mean cosine between basis
        images from one start and from two others is {listed(starts)}, where .95 counts as similar. Their objectives ‖X − X W Wᵀ‖²
        are {listed(ends, 0)}, {max(ends) / min(ends) - 1:.1%} apart at most: they end about as low, with other parts.""",
    )
    held = [held_by_largest(W) for W in (nmf, pnmf, nlhn)]
    page.claim(
        "NNP §5.1",
        "With PNMF and NLHN only one entry of each row of W finally remains, the others are squeezed to zero.",
        [share > 0.95 for share in held[1:]],
        f"""After 5000 iterations the largest of a pixel's 25 entries (columns of length one) holds {listed(held)} of their sum, for
        NMF, PNMF, NLHN: mean over pixels.""",
    )


def listed(values: Sequence[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def orthogonality_of_feret(page: Page, bases: Mapping[str, Bases]) -> None:
    page.heading("NNP Fig. 2 and 3: orthogonality while learning")
    rho = {label: {k: metrics.orthogonality(W) for k, W in path.items()} for label, path in bases.items()}
    page.figure(
        curves(
            {
                "Fig. 2": {label: rho[label] for label in ("PNMF, seed 0", "NLHN, seed 0", "NMF, seed 0", "NMF, seed 1")},
                "Fig. 3": {label: rho[label] for label in rho if not label.startswith("NMF")},
            },
            "ρ (NNP Eq. 65)",
            marks={"paper: PNMF .98": 0.98, "paper: NMF .63": 0.63},
        ),
        "ρ = 1 − the mean cosine between two basis images; 1 is best. Printed rules, random starts.",
    )
    page.table(
        ("ρ", "paper", "iterations", "seed 0", "seed 1", "seed 2"),
        [
            (name, paper, n, *(rho[f"{name}, seed {seed}"][n] if f"{name}, seed {seed}" in rho else "" for seed in range(3)))
            for name, paper, n in (("NMF", ".63", 1000), ("NMF", ".63", 5000), ("PNMF", ".98", 5000), ("NLHN", ".97", 5000))
        ],
        "The paper says that NMF “converges to a local minimum” with its ρ, but not after how many iterations.",
    )
    nmf = {n: [rho[f"NMF, seed {seed}"][n] for seed in range(2)] for n in (1000, 5000)}
    pnmf, nlhn = ([rho[f"{name}, seed {seed}"][5000] for seed in range(3)] for name in ("PNMF", "NLHN"))
    page.claim(
        "NNP Fig. 2",
        "PNMF and NLHN learn W with ρ = .98 and .97 after 5000 iterations.",
        [abs(value - paper) < 0.015 for values, paper in ((pnmf, 0.98), (nlhn, 0.97)) for value in values],
        f"ρ = {listed(pnmf, 3)} for PNMF and {listed(nlhn, 3)} for NLHN, from three starts.",
    )
    page.claim(
        "NNP Fig. 2",
        "NMF converges to a local minimum with ρ = .63.",
        [*(abs(value - 0.63) < 0.015 for value in nmf[1000]), *(abs(b - a) < 0.01 for a, b in zip(*nmf.values(), strict=True))],
        f"ρ = {listed(nmf[1000], 3)} after 1000 iterations, from two starts, and {listed(nmf[5000], 3)} after 5000.",
    )
    late = [k for k in FERET_CHECKS if k >= 100]
    apart = {k: abs(np.mean([rho[f"PNMF, seed {s}"][k] - rho[f"NLHN, seed {s}"][k] for s in range(3)])) for k in late}
    spread = [max(values) - min(values) for values in (pnmf, nlhn)]
    page.claim(
        "NNP Fig. 3",
        "PNMF and NLHN converge with very similar curves of ρ, and are not sensitive to the start.",
        [max(apart.values()) < 0.05, *(width < 0.01 for width in spread)],
        f"""From 100 iterations on, their mean curves are at most {max(apart.values()):.3f} apart, {apart[5000]:.3f} at the end;
        there the three starts of PNMF are within {spread[0]:.3f}, those of NLHN within {spread[1]:.3f}.""",
    )


# ---- ONL Fig. 2–3


def parts_of_cbcl(page: Page, X: np.ndarray, shape: tuple[int, int]) -> None:
    page.heading("ONL Fig. 2: 49 basis images of the CBCL faces")
    page.say("""
        2429 faces of 19 × 19 pixels, with equalized histograms and values from 0 to 1, as in PNMF §6.2; ONL does not say
        which version it has. 1000 iterations of NMF's printed rule and 5000 of PNMF's, of which one costs a tenth.
    """)
    ranks, methods = (25, 49, 81), {"NMF": (NMF, 1000), "PNMF": (PNMF, 5000)}
    fits = {
        (name, r): page.fit(Estimator(r, solver="paper", tol=0, max_iter=n, random_state=0), X)
        for name, (Estimator, n) in methods.items()
        for r in ranks
    }
    bases = {name: fits[name, 49].components_.T for name in methods}
    page.figure(
        grids(bases, shape, columns=7),
        "NMF and PNMF, rank 49, seed 0.",
    )
    rho, sparseness = ([measure(W) for W in bases.values()] for measure in (metrics.orthogonality, metrics.sparseness))
    page.claim(
        "ONL Fig. 2",
        "“PNMF is able to construct a much sparser and more orthogonal basis than NMF.”",
        [rho[1] > rho[0], sparseness[1] > sparseness[0]],
        f"ρ (NNP Eq. 65) is {listed(rho, 3)} for NMF and PNMF of rank 49, Hoyer's sparseness {listed(sparseness)}; 1 is best.",
    )
    longer = page.fit(NMF(49, solver="paper", tol=0, max_iter=5000, random_state=0), X)
    histories = {"NMF": longer.history_, "PNMF": fits["PNMF", 49].history_}
    reached = {share: {name: settled(history, share) for name, history in histories.items()} for share in (0.1, 0.05, 0.01)}
    page.claim(
        "PNMF §7",
        "The convergence of PNMF, counted in iterations, is slower than that of NMF.",
        [slower["PNMF"] > slower["NMF"] for slower in reached.values()],
        "Iterations after which the objective stays within a share of what it is after 5000, NMF and PNMF: "
        + ", ".join(f"{counts['NMF']} and {counts['PNMF']} ({share:.0%})" for share, counts in reached.items())
        + "; rank 49, random start, printed rules.",
    )

    postprocessed(page, X, bases["PNMF"])

    page.heading("ONL Fig. 3: a face and its reconstructions")
    rebuilt = {key: fit.inverse_transform(fit.transform(X)) for key, fit in fits.items()}
    errors = {key: metrics.relative_error(X, X_hat) for key, X_hat in rebuilt.items()}
    original = X[FACE].reshape(shape)
    page.figure(
        pictures(
            [[original if name == "NMF" else None, *(rebuilt[name, r][FACE].reshape(shape) for r in ranks)] for name in methods],
            [["original", *(f"{name}, rank {r}" for r in ranks)] for name in methods],
        ),
        "The original, and its reconstructions with 25, 49 and 81 components by NMF (top) and PNMF (bottom).",
    )
    page.table(
        ("‖X − X̂‖ / ‖X‖, all faces", *(f"rank {r}" for r in ranks)),
        [(name, *(errors[name, r] for r in ranks)) for name in methods],
    )
    ratios = [errors["PNMF", r] / errors["NMF", r] for r in ranks]
    page.claim(
        "ONL Fig. 3, in numbers",
        "“The quality of the PNMF reconstruction is visually not any worse than that of NMF” (here: up to 1.1 of its error).",
        [ratio < 1.1 for ratio in ratios],
        f"""What is visually worse is for the eye to judge, from the pictures below. In numbers, PNMF's error is {listed(ratios)}
        times NMF's, with 25, 49 and 81
        components: for each basis, NMF is free to choose the codes that fit best, and PNMF
        takes X W.""",
    )


def settled(history: Any, share: float) -> int:
    """The iteration after which the objective stays within a share of what it is in the end."""
    values = {record.iteration: record.objective for record in history}
    last = values[max(values)]
    return min(k for k in values if all(v <= (1 + share) * last for j, v in values.items() if j >= k))


def postprocessed(page: Page, X: np.ndarray, W: np.ndarray) -> None:
    """The two ways of ONL §2.4 to a truly orthogonal W, and what they cost."""
    errors = {
        name: metrics.relative_error(X, np.vdot(X, X @ V @ V.T) / np.sum((X @ V @ V.T) ** 2) * (X @ V @ V.T))
        for name, V in (("as it is", W), ("one entry a row", largest_of_rows(W)), ("polar, clipped", polar(W)))
    }
    before = errors.pop("as it is")
    page.claim(
        "ONL §2.4",
        "Post-processing W to be truly orthogonal and non-negative increases the cost function, somewhat (here: by up to 10 %).",
        [before < error < 1.1 * before for error in errors.values()],
        f"""‖X − λ X W Wᵀ‖ / ‖X‖ of PNMF, rank 49, with the best λ, is {before:.4f}; with one entry of each row of W kept
        {errors["one entry a row"]:.4f}, with W(WᵀW)^(−1/2) and negative entries made zero {errors["polar, clipped"]:.4f}.""",
    )


# ---- PNMF §6.2


def followed_on_cbcl(page: Page, X: np.ndarray) -> dict[str, Bases]:
    page.heading("PNMF §6.2: entropy of 49 basis images of the CBCL faces")
    estimators = {
        "NMF": NMF(49, solver="paper", random_state=0),
        **{f"NNSC, α = {a:g}": NonnegativeSparseCoding(49, alpha=a, solver="paper", random_state=0) for a in PENALTIES},
        **{f"PNMF, seed {seed}": PNMF(49, solver="paper", random_state=seed) for seed in range(4)},
    }
    bases = followed(page, estimators, X, CBCL_CHECKS)
    divergence = PNMF(49, divergence="kullback-leibler", solver="paper", random_state=0)
    return bases | {"PNMF-KL": page.follow(divergence, X, [k for k in CBCL_CHECKS if k <= 1000])}


def entropy_of_cbcl(page: Page, X: np.ndarray, bases: Mapping[str, Bases]) -> None:
    svd = TruncatedNonnegativeSVD(49, random_state=0).fit(X).components_.T
    clipped = np.maximum(svd * np.sign(svd.sum(axis=0)), 0)  # the sign of a singular vector is chance: the one that leaves most
    rows = [("tSVD", 54.528, metrics.basis_entropy(clipped), "", "", unit_length_entropy(clipped), "")]
    for name, label, printed in (
        ("NNSC, α = 0.01", "NNSC, α = 0.01", 22.671),
        ("NMF", "NMF", 22.329),
        ("PNMF, Euclidean", "PNMF, seed 0", 8.5179),
        ("PNMF, I-divergence", "PNMF-KL", 7.3534),
    ):
        entropies = {k: unit_length_entropy(W) for k, W in bases[label].items()}
        rows.append(
            (
                name,
                printed,
                metrics.basis_entropy(bases[label][1000]),
                entropies[300],
                entropies[500],
                entropies[1000],
                passed(entropies, printed),
            )
        )
    page.table(
        ("", "paper", "Eq. 37", "length one: 300 iterations", "500", "1000", "passes the paper's value after"),
        rows,
        """Average entropy of the basis images; less is more local. Eq. 37: as printed, columns summing to one, in nats, after 1000
        iterations. Length one: the same formula, but columns of length one. tSVD has no iterations.""",
    )
    ours = {row[0]: row[2] for row in rows}
    page.claim(
        "PNMF §6.2",
        "The two versions of PNMF have clearly the smallest entropy of basis images.",
        [max(list(ours.values())[3:]) < min(list(ours.values())[:3])],
        f"By Eq. 37, after 1000 iterations, {', '.join(f'{name}: {value:.2f}' for name, value in ours.items())}.",
    )
    page.claim(
        "PNMF §6.2",
        "The average entropies (Eq. 37) are 54.5 for tSVD, 22.7 for NNSC, 22.3 for NMF, 8.5 and 7.4 for the two PNMF.",
        [row[1] <= math.log(361) for row in rows],
        f"""Eq. 37 is at most ln 361 = {math.log(361):.2f}, whatever the basis. With columns of length one, as Eq. 38 has them, it
        is at most 19 ln 19 = {19 * math.log(19):.1f}, for a constant picture; when each run passes the paper's value is in the last
        column of the table. That is a guess, not a match: they pass at different iterations.""",
    )
    penalised = [metrics.basis_entropy(bases[f"NNSC, α = {a:g}"][1000]) for a in PENALTIES]
    page.claim(
        "PNMF §6.2",
        "The order of the entropies: tSVD > NNSC > NMF > PNMF, Euclidean > PNMF, I-divergence.",
        [*(a > b for a, b in pairwise(ours.values())), all(value > ours["NMF"] for value in penalised)],
        f"""By Eq. 37, {" > ".join(sorted(ours, key=lambda name: -ours[name]))}. The paper does not give NNSC's penalty. With each
        of the {len(PENALTIES)} that were tried, {listed(PENALTIES, 3)}, NNSC is above NMF: {listed(penalised)}.""",
    )
    page.say(f"""
        tSVD has no basis by its definition (PNMF §2). The estimator takes {clipped.shape[1]} singular vectors, the most whose
        clipped approximation has a rank of no more than 49; here these are the basis, each with the sign that makes its sum
        positive, negative entries cut off. The first of them alone has {unit_length_entropy(clipped[:, :1]):.1f} with length
        one, which is closer to the paper's value.
    """)
    page.table(
        ("NNSC's α", "Eq. 37", "length one", "‖WᵀW − I‖ (Eq. 38)"),
        [
            (f"{a:g}", metrics.basis_entropy(W), unit_length_entropy(W), metrics.orthogonality_error(W))
            for a, W in ((a, bases[f"NNSC, α = {a:g}"][1000]) for a in PENALTIES)
        ],
        """The paper does not give the penalty α of codes. A higher one makes the codes sparser, and the basis images more alike.
        Above is 0.01, one of three; that NNSC comes above NMF needs no choice. After 1000 iterations.""",
    )


def passed(values: Mapping[int, float], target: float) -> str:
    """The iteration after which a falling measure is below a value, linear between checks."""
    iterations, heights = np.array(list(values)), np.array(list(values.values()))
    if heights.min() > target:
        return f"more than {iterations[-1]}"
    after = int(np.argmax(heights <= target))
    return f"{np.interp(target, heights[[after, after - 1]], iterations[[after, after - 1]]):.0f}"


def orthogonality_of_cbcl(page: Page, bases: Mapping[str, Bases]) -> None:
    page.heading("PNMF Fig. 3: orthogonality while learning")
    shown = ["NMF", "NNSC, α = 0.01", *(f"PNMF, seed {seed}" for seed in range(4))]
    rho = {label: {k: metrics.orthogonality_error(W) for k, W in bases[label].items()} for label in shown}
    page.figure(
        curves(
            {
                "Fig. 3, top": {label: rho[label] for label in shown[2::-1]},
                "Fig. 3, bottom": {label: rho[label] for label in shown[2:]},
            },
            "‖WᵀW − I‖ (PNMF Eq. 38)",
        ),
        "Distance from orthogonality, columns of unit length; 0 is best. Rank 49, printed rules.",
    )
    page.table(
        ("‖WᵀW − I‖", *shown),
        [(f"{k} iterations", *(rho[label][k] for label in shown)) for k in (100, 500, 1000, 2000)],
        "The paper gives no numbers, only that PNMF ends much lower, and is not sensitive to the start.",
    )
    last = {label: values[2000] for label, values in rho.items()}
    halfway = [values[1000] for label, values in rho.items() if label.startswith("PNMF")]
    pnmf, rivals = list(last.values())[2:], list(last.values())[:2]
    page.claim(
        "PNMF Fig. 3, top",
        "PNMF converges to a local minimum with a much lower ‖WᵀW − I‖ than NMF and NNSC.",
        [pnmf[0] < rival / 2 for rival in rivals],
        f"After 2000 iterations {pnmf[0]:.2f}, against {listed(rivals)} for NMF and NNSC. Half counts as much lower.",
    )
    page.claim(
        "PNMF Fig. 3, bottom",
        "PNMF is not sensitive to the initial values.",
        [max(pnmf) - min(pnmf) < 0.1 * float(np.mean(pnmf))],
        f"""In the end, after 2000 iterations, {listed(pnmf)} from four starts, where a spread of a tenth counts as not sensitive.
        On
        the way they differ more: {listed(halfway)} after 1000.""",
    )


# ---- the defaults


def defaults(page: Page, feret: np.ndarray, cbcl: np.ndarray) -> None:
    page.heading("The defaults beside the papers' protocol")
    rows, fits = [], {}
    for name, X, rank in (("FERET", feret, 25), ("CBCL", cbcl, 49)):
        for Estimator in (PNMF, OPNMF):
            for how, settings in (("paper", {"solver": "paper", "tol": 0}), ("default", {})):
                if how == "default":
                    Estimator(rank, random_state=0).fit(X)  # so that no time is the compiler's
                fit = fits[name, Estimator, how] = page.fit(Estimator(rank, random_state=0, **settings), X)
                W, error = fit.components_.T, metrics.relative_error(X, fit.inverse_transform(fit.transform(X)))
                measures = (f"{error:.4f}", metrics.orthogonality(W), f"{metrics.orthogonality_error(W):.2f}")
                rows.append((f"{name}, rank {rank}", Estimator.__name__, how, *measures, fit.n_iter_, f"{page.seconds:.1f}"))
    page.table(
        ("", "estimator", "solver", "‖X − X̂‖ / ‖X‖", "ρ, 1 is best", "‖WᵀW − I‖, 0 is best", "iterations", "seconds"),
        rows,
        """Seed 0, one after the other, kernels compiled beforehand. Paper: the printed rule, 5000 iterations from a random start.
        Default: coordinate descent from a searched start, until the objective settles.""",
    )
    subspace(page, feret, fits["FERET", PNMF, "default"].components_.T)


def subspace(page: Page, X: np.ndarray, W: np.ndarray) -> None:
    """How near PNMF's W comes to the leading eigenvectors of XᵀX."""
    basis, eigenvectors = np.linalg.qr(W)[0], np.linalg.svd(X, full_matrices=False)[2][: W.shape[1]].T
    total = float(np.sum(X**2))
    ours, best, first = (float(np.sum((X @ Q) ** 2)) / total for Q in (basis, eigenvectors, eigenvectors[:, :1]))
    cosines = np.linalg.svd(basis.T @ eigenvectors, compute_uv=False)
    page.claim(
        "ONL §2.4",
        "The minimal solution of PNMF spans a subspace close to the dominant eigenvector subspace.",
        [ours > 0.99 * best, cosines.min() > 0.9],
        f"""FERET, rank {W.shape[1]}, the default: the subspace has {ours:.3f} of ‖X‖², that of the eigenvectors {best:.3f}, where
        .99 of it counts as close; but the first eigenvector alone has {first:.3f}. The cosines of the principal angles between the
        two go from {cosines.max():.2f} down to {cosines.min():.2f}, {int(np.sum(cosines > 0.9))} of {len(cosines)} of them above
        .9, as all would be in subspaces close to each other.""",
    )


def quicker(page: Page, feret: np.ndarray, cbcl: np.ndarray) -> None:
    """What QNMF §3 says of its two accelerations."""
    page.heading("QNMF §3: adaptive exponents, and PNMF of a stream")
    steps = {
        solver: page.fit(PNMF(49, solver=solver, init="random", tol=0, max_iter=1000, random_state=0), cbcl)
        for solver in ("multiplicative", "adaptive")
    }
    plain, adaptive = (
        {record.iteration: record.objective for record in steps[name].history_} for name in ("multiplicative", "adaptive")
    )
    goal = plain[max(plain)]
    page.table(
        ("exponent", *(f"after {k}" for k in (100, 200, 500, 1000))),
        [(name, *(f"{path[k]:.1f}" for k in (100, 200, 500, 1000))) for name, path in (("safe", plain), ("adaptive", adaptive))],
        "½‖X − X W Wᵀ‖² of CBCL, rank 49, the same random start, after so many iterations.",
    )
    sooner = min((k for k, value in adaptive.items() if value <= goal), default=None)
    values = list(adaptive.values())
    rose = sum(b > a * (1 + 1e-12) for a, b in pairwise(values))
    page.claim(
        "QNMF §3",
        "Exponents that adaptively grow significantly speed up the convergence, and the objective never rises.",
        [sooner is not None and 2 * sooner <= max(plain), rose == 0],
        f"""PNMF of CBCL, rank 49, random start: where the safe exponent is after {max(plain)} iterations the adaptive one is after
        {sooner if sooner is not None else f"more than {max(adaptive)}"}; half as many count as significant. Its objective rose
        between
        {rose} of {len(values) - 1} pairs of checks.""",
    )
    whole = page.fit(PNMF(25, random_state=0), feret)
    seconds, begin, stream = page.seconds, perf_counter(), PNMF(25, random_state=0)
    order = np.random.default_rng(0).permutation(len(feret))
    fit_in_batches(stream, feret, order, 200)
    online = perf_counter() - begin
    errors = [metrics.relative_error(feret, fit.inverse_transform(fit.transform(feret))) for fit in (whole, stream)]
    held = feret.nbytes, feret[:200].nbytes
    peaks = [
        (data + peak_memory(partial(fit_in_batches, PNMF(25, random_state=0), feret, order, size))) / 1e6
        for data, size in zip(held, (None, 200), strict=True)
    ]
    page.table(
        ("PNMF of FERET, rank 25", "seconds", "peak memory, MB", "‖X − X̂‖ / ‖X‖"),
        [
            (name, f"{taken:.1f}", f"{peak:.1f}", f"{error:.4f}")
            for name, taken, peak, error in zip(
                ("all faces at once, the default", "one pass, batches of 200"), (seconds, online), peaks, errors, strict=True
            )
        ],
        f"""Peak memory: the faces that are held at once ({held[0] / 1e6:.1f} and {held[1] / 1e6:.1f} MB) and the most that was
        allocated beyond them, by `tracemalloc`, in runs of their own.""",
    )
    page.ran("PNMF(n_components=25, random_state=0).partial_fit", "batches of 200 of 2409 × 1024", 1, "one pass", online)
    page.claim(
        "QNMF §3",
        "Online PNMF has a low memory cost, and runs faster than the batch version for large data sets.",
        [online < seconds, peaks[1] < peaks[0] / 2],
        f"""One pass over the FERET faces in batches of 200 takes {online:.1f} s and {peaks[1]:.1f} MB, data included, the default
        of all faces at once {seconds:.1f} s and {peaks[0]:.1f} MB, where half counts as low; the relative errors are
        {errors[1]:.4f} and {errors[0]:.4f}. What is kept is a sketch of four rows for each component, however many faces there
        are. 2409 faces are no large data set.""",
    )


def fit_in_batches(model: Any, X: np.ndarray, order: np.ndarray, size: int | None) -> None:
    """All at once where no size is given."""
    if size is None:
        model.fit(X)
        return
    for first in range(0, len(X), size):
        model.partial_fit(X[order[first : first + size]])


def peak_memory(call: Callable[[], None]) -> int:
    """The most bytes that were allocated at once while it ran."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
