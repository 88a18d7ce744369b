"""Glasses: filters, equal error rates and ranked faces, NNP Fig. 4, Table 1 and Fig. 5."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.svm import SVC

from nonneg import NonnegativeKernelFDA, NonnegativeLDA, maximize_rayleigh, metrics

from .. import load_orl, load_yale
from ._drawing import tiled
from ._page import Page

TITLE = "Discriminants: filters, error rates, ranked faces (NNP Fig. 4, Table 1, Fig. 5)"
ALL = range(11)
ORL_GLASSES: Mapping[int, Sequence[int]] = {
    **dict.fromkeys((1, 5, 13, 26, 27, 30, 33, 36), range(10)),
    3: (0, 1, 2, 7, 8),
    6: (3, 4, 9),
    12: (0, 1, 4, 5, 6, 7, 8, 9),
    16: (0, 1, 4, 5, 6, 7, 8, 9),
    18: (0, 1, 2, 5, 9),
    19: (0, 1, 2, 4, 6, 7, 8, 9),
    35: (8, 9),
}
"""The pictures, by person, of somebody who wears glasses: by eye, as ORL has no such labels."""
YALE_GLASSES: Mapping[int, Sequence[int]] = {
    **dict.fromkeys(range(15), (1,)),
    7: [i for i in ALL if i != 4],
    12: [i for i in ALL if i != 4],
    13: (0, 1, 3, 6),
}
"""The same of Yale. Each person's second picture is the one with, the fifth the one without glasses by the database's own plan;
the rest, three people who wear their own in others, by eye."""
PRICES = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
"""NNP's C of the support vector machine."""
PAPER = {"LDA": (0.98, 32.35), "linear SVM": (11.69, 25.23), "NLDA, NNP Eq. 55": (17.54, 23.88)}
PRINTED = "NLDA, NNP Eq. 55"
"""The paper's NLDA; the others are ours."""
EYES = slice(4, 14)
"""The rows of pixels, of 32, that have the eyes and glasses in them."""


def build(page: Page) -> None:
    orl, yale = load_orl("32x32"), load_yale()
    orl_glasses, yale_glasses = marked_pictures(ORL_GLASSES, 40, 10), marked_pictures(YALE_GLASSES, 15, 11)
    page.say(f"""
        The paper learns from FERET, whose attribute labels are not public, and tests on UND, which is not public at all.
        Here the two collections are ORL (400 faces of 40 people, {orl_glasses.sum()} with glasses) and Yale (165 of 15
        people, {yale_glasses.sum()} with), both aligned by the eyes, 32 × 32 pixels, as in the paper. Neither comes with
        labels of glasses. Those of ORL were set by eye, picture by picture, for this page; so were those of Yale but for
        the pictures with and without glasses that its plan has of everyone. They are in `nonneg_papers/pages/discriminants.py`, for
        all to check. No labels of moustaches were made.
    """)
    ratios(page)
    without_constraint(page)
    fits = filters(page, orl.data, orl_glasses, orl.target, orl.feature_shape)
    error_rates(page, fits, (orl.data, orl_glasses, orl.target), (yale.data, yale_glasses, yale.target))
    ranked(page, orl.data, orl_glasses, orl.feature_shape)


def marked_pictures(by_person: Mapping[int, Sequence[int]], people: int, pictures: int) -> np.ndarray:
    labels = np.zeros((people, pictures), dtype=int)
    for person, those in by_person.items():
        labels[person, list(those)] = 1
    return labels.ravel()


# ---- the two rules


def ratios(page: Page) -> None:
    page.heading("Fisher's ratio: the paper's rule, and ours")
    digits = load_digits()
    some = np.isin(digits.target, (3, 8))
    rows, lost, negative = [], [], []
    for name, X, y in (
        ("breast cancer", *load_breast_cancer(return_X_y=True)),
        ("digits 3 and 8", digits.data[some], digits.target[some]),
    ):
        width = np.ptp(X, axis=0)
        scaled = (X - X.min(axis=0)) / np.where(width > 0, width, 1)
        for units, Z in (("as given", X), ("from 0 to 1", scaled)):
            printed = page.fit(NonnegativeLDA(rule="oja", random_state=0), Z, y)
            slow = page.fit(NonnegativeLDA(alpha=0, solver="multiplicative", tol=0, max_iter=3000), Z, y)
            best = page.fit(NonnegativeLDA(alpha=0), Z, y)
            plain = page.fit(NonnegativeLDA(alpha=0, flip=False), Z, y)
            low, _ = best.definiteness_[0]
            lost.append(1 - printed.fisher_ratio_[0] / best.fisher_ratio_[0])
            negative.append(low < 0)
            found = (f"{model.fisher_ratio_[0]:.3f}" for model in (printed, slow, best, plain))
            rows.append((name, units, *found, f"{low:.2g}"))
    page.table(
        (
            "data",
            "features",
            "NNP Eq. 55, flipped",
            "Rayleigh's rule, flipped, 3000 iterations",
            "the most with these flips",
            "the most without flips",
            "least eigenvalue, Eq. 56",
        ),
        rows,
        """wᵀS_B w / wᵀS_W w, w ≥ 0. The most is over w ≥ 0 for given signs of the features; which signs are best is another matter,
        and Eq. 57 is a guess at it. Eigenvalues of S_W S_B + S_B S_W are relative to the largest.""",
    )
    page.claim(
        "NNP Eq. 55",
        "The rule maximizes Fisher's ratio.",
        [share < 0.01 for share in lost],
        f"""It finds the leading eigenvector of S_B, whatever S_W is, and falls short by {100 * min(lost):.0f} to
        {100 * max(lost):.0f} % here. It depends on the units of the features, which the ratio does not.""",
    )
    page.claim(
        "NNP Eq. 56",
        "S_W S_B + S_B S_W is positive definite, which can be checked.",
        [not is_negative for is_negative in negative],
        f"""It is not in {sum(negative)} of {len(negative)} cases: with two classes and two features or more it never can be, so
        that the paper's check must be a weaker one.""",
    )


def without_constraint(page: Page) -> None:
    """The two rules that NNP sets aside, for max wᵀAw with ‖w‖ = 1, beside Eq. 21 with B = I, and the best that is found."""
    found = {}
    for name, X in (("breast cancer", load_breast_cancer().data), ("digits", load_digits().data)):
        width = np.ptp(X, axis=0)
        A = np.cov((X / np.where(width > 0, width, 1)).T)
        plus, minus = np.maximum(A, 0), np.maximum(-A, 0)
        best = maximize_rayleigh(A, np.eye(len(A)), random_state=0).value
        found[name] = [value / best for value in (projected(A, plus, minus, 1.0), projected(A, plus, minus, 0.5))]
        found[name].append(maximize_rayleigh(A, np.eye(len(A)), rule="oja", random_state=0).value / best)
    page.claim(
        "NNP Eq. 17–18",
        "The simple rules w ∘ A⁺w/A⁻w, and its square root, usually yield poor results for non-negative projections.",
        [share < 0.9 for shares in found.values() for share in shares[:2]],
        "Of the largest wᵀAw with w ≥ 0 and ‖w‖ = 1 that is known, Eq. 17, Eq. 18 and Eq. 21 reach "
        + "; ".join(f"{', '.join(f'{share:.0%}' for share in shares)} ({name})" for name, shares in found.items())
        + """. A is the covariance of features scaled from 0 to 1, 1000 iterations from all ones, w brought to unit length after
        each;
        below 90 % counts as poor. Where A has no negative entry in a row, both divide by zero, here by 1e-12.""",
    )


def projected(A: np.ndarray, plus: np.ndarray, minus: np.ndarray, exponent: float) -> float:
    """wᵀAw after 1000 iterations of NNP Eq. 17, or of Eq. 18 with exponent ½; 1e-12 stands for a denominator of 0."""
    w = np.ones(len(A)) / np.sqrt(len(A))
    for _ in range(1000):
        w = w * (plus @ w / np.maximum(minus @ w, 1e-12)) ** exponent
        w = np.maximum(w / np.linalg.norm(w), 1e-100)
    return float(w @ A @ w)


# ---- NNP Fig. 4


def filters(page: Page, X: np.ndarray, y: np.ndarray, people: np.ndarray, shape: tuple[int, int]) -> dict[str, Any]:
    page.heading("NNP Fig. 4: filters for glasses")
    fits = models(page, X, y, people)
    page.figure(
        filter_images({name: fit.coef_[0].reshape(shape) for name, fit in fits.items()}),
        """What pixels are multiplied with to find glasses, learned from ORL. Red speaks for glasses, blue against, white is
        zero; each picture has its own scale.""",
    )
    images = {name: fit.coef_[0].reshape(shape) for name, fit in fits.items()}
    coherent = {name: coherence(image) for name, image in images.items()}
    at_eyes = {name: float(np.sum(image[EYES] ** 2) / np.sum(image**2)) for name, image in images.items()}
    used = {name: int(np.sum(np.abs(fits[name].coef_[0]) > 0)) for name in ("NLDA", "NLDA, next to no ridge")}
    page.claim(
        "NNP Fig. 4",
        "From LDA's filter it is hard to tell which pixels matter, the SVM's is slightly better, NLDA's clearly extracts them.",
        [
            coherent["LDA"] < coherent["linear SVM"] < coherent[PRINTED],
            at_eyes["LDA"] < at_eyes["linear SVM"] < at_eyes[PRINTED],
        ],
        f"""The pictures are for the eye to judge. In numbers, the correlation between weights of neighbouring pixels is
        {", ".join(f"{value:.2f} ({name})" for name, value in coherent.items())}, and the share of the squared weights in the
        {EYES.stop - EYES.start} of {shape[0]} rows where the eyes are, {(EYES.stop - EYES.start) / shape[0]:.2f} of all pixels, is
        {", ".join(f"{value:.2f} ({name})" for name, value in at_eyes.items())}. Judged are LDA, the SVM and the paper's rule, which
        gives the difference of the two mean faces: glasses, and mouths, hair and cheeks besides. Of 1024 pixels, our NLDA uses
        {used["NLDA"]} with the ridge that it chooses ({fits["NLDA"].alpha_[0]:g}), and {used["NLDA, next to no ridge"]} with next
        to none, where 400 faces are few for 1024 pixels.""",
    )
    page.claim(
        "NNP Fig. 4",
        "The same with moustaches.",
        [],
        "Neither ORL nor Yale has labels of moustaches, and none were made.",
    )
    return fits


def coherence(image: np.ndarray) -> float:
    """The correlation between neighbouring pixels: next to none where a filter looks like noise."""
    pairs = np.hstack([(image[:, 1:].ravel(), image[:, :-1].ravel()), (image[1:].ravel(), image[:-1].ravel())])
    return float(np.corrcoef(pairs)[0, 1])


def models(page: Page, X: np.ndarray, y: np.ndarray, people: np.ndarray) -> dict[str, Any]:
    C = chosen(SVC(kernel="linear"), "C", X, y, people)
    estimators = {
        "LDA": LinearDiscriminantAnalysis(),
        "linear SVM": SVC(kernel="linear", C=C),
        "NLDA": NonnegativeLDA(),
        "NLDA, next to no ridge": NonnegativeLDA(alpha=1e-3),
        "NLDA, NNP Eq. 55": NonnegativeLDA(rule="oja", random_state=0),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pixels follow from each other, says LDA
        return {name: page.fit(estimator, X, y) for name, estimator in estimators.items()}


def chosen(estimator: Any, parameter: str, X: np.ndarray, y: np.ndarray, people: np.ndarray) -> float:
    """The value with the least equal error rate in five-fold cross-validation, no person in two folds."""
    folds = list(StratifiedGroupKFold(5, shuffle=True, random_state=0).split(X, y, people))
    errors = {}
    for value in PRICES:
        scores = np.zeros(len(y))
        for train, test in folds:
            scores[test] = clone(estimator).set_params(**{parameter: value}).fit(X[train], y[train]).decision_function(X[test])
        errors[value] = metrics.equal_error_rate(y, scores)
    return min(errors, key=lambda value: errors[value])


def filter_images(images: Mapping[str, np.ndarray]) -> Figure:
    figure, panels = plt.subplots(1, len(images), figsize=(2.4 * len(images), 2.8), layout="constrained")
    for axes, (name, image) in zip(panels, images.items(), strict=True):
        largest = np.quantile(np.abs(image), 0.995)
        axes.imshow(image, cmap="RdBu_r", vmin=-largest, vmax=largest)
        axes.set_title(name, fontsize=9)
        axes.set_axis_off()
    return figure


# ---- NNP Table 1

Faces = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Pixels, whether with glasses, who."""


def error_rates(page: Page, fits: Mapping[str, Any], orl: Faces, yale: Faces) -> None:
    page.heading("NNP Table 1: equal error rates")
    back = models(page, *yale)

    def error(fit: Any, faces: Faces) -> float:
        return 100 * float(metrics.equal_error_rate(faces[1], fit.decision_function(faces[0])))

    rates = {
        name: (error(fits[name], orl), error(fits[name], yale), error(back[name], yale), error(back[name], orl)) for name in fits
    }
    page.table(
        ("%", "paper: FERET, trained", "paper: UND, tested", "ORL, trained", "Yale, tested", "Yale, trained", "ORL, tested"),
        [
            (
                described(name, fit),
                *(f"{value:.2f}" if value else "" for value in PAPER.get(name, (None, None))),
                *(f"{rate:.2f}" for rate in rates[name]),
            )
            for name, fit in fits.items()
        ],
        """Equal error rates in per cent: glasses or not. C of the SVM, from the paper's list, is chosen by five-fold
        cross-validation within the collection that is learned from, with no person in two folds; NLDA chooses its ridge by itself,
        from what it is given. C and ridge shown are those of ORL.""",
    )
    one = {name: 100 / int(faces[1].sum()) for name, faces in (("Yale", yale), ("ORL", orl))}
    for column, way in ((1, "from ORL to Yale"), (3, "from Yale to ORL")):
        tested = {name: rate[column] for name, rate in rates.items()}
        others = [tested["LDA"], tested["linear SVM"]]
        order = ", ".join(f"{name} {rate:.1f}" for name, rate in sorted(tested.items(), key=lambda item: item[1]))
        smallest = f"""Of pictures with glasses, one is {one["Yale"]:.1f} per cent of Yale's and {one["ORL"]:.1f} of ORL's:
            differences of less are those of a picture."""
        page.claim(
            "NNP Table 1",
            f"NLDA makes fewer errors on faces of another collection than LDA and the SVM (here: {way}).",
            [tested[PRINTED] < other for other in others],
            f"""From the fewest errors to the most, in per cent: {order}. Judged is the paper's rule, Eq. 55. {smallest}""",
        )
        page.claim(
            "beyond the papers",
            f"Our NLDA, which maximizes Fisher's ratio with a ridge that it chooses, makes fewer errors than both ({way}).",
            [tested["NLDA"] < other for other in others],
            f"""{tested["NLDA"]:.1f} %, against {others[0]:.1f} (LDA), {others[1]:.1f} (SVM) and {tested[PRINTED]:.1f} (Eq. 55).""",
        )
    seen, there, seen_back, back_there = ({name: rate[column] for name, rate in rates.items()} for column in range(4))
    page.claim(
        "NNP Table 1",
        "LDA fits the faces that it has seen best, the SVM less so, and NLDA the least.",
        [
            check
            for column in (seen, seen_back)
            for check in (column["LDA"] < column["linear SVM"], max(column["LDA"], column["linear SVM"]) < column[PRINTED])
        ],
        f"""On ORL itself LDA has {seen["LDA"]:.1f} %, the SVM {seen["linear SVM"]:.1f}, and NLDA by the paper's rule
        {seen[PRINTED]:.1f} (paper: {", ".join(f"{values[0]:.1f}" for values in PAPER.values())}); on Yale itself the SVM has
        {seen_back["linear SVM"]:.1f}, LDA {seen_back["LDA"]:.1f} (of pictures with glasses, one is {one["Yale"]:.1f}), and the
        paper's rule {seen_back[PRINTED]:.1f}. Our NLDA has {seen["NLDA"]:.1f} on ORL, with next to no ridge
        {seen["NLDA, next to no ridge"]:.1f}: there are fewer faces than pixels here, unlike in the paper.""",
    )
    page.claim(
        "NNP §6.3",
        "The SVM generalizes better than LDA, but its error on other faces is still much higher than on those it has seen.",
        [
            there["linear SVM"] < there["LDA"],
            back_there["linear SVM"] < back_there["LDA"],
            there["linear SVM"] > seen["linear SVM"] + 5,
            back_there["linear SVM"] > seen_back["linear SVM"] + 5,
        ],
        f"""On the other collection the SVM has {there["linear SVM"]:.1f} % against LDA's {there["LDA"]:.1f} (from ORL to Yale), and
        {back_there["linear SVM"]:.1f} against {back_there["LDA"]:.1f} (from Yale to ORL); on ORL itself
        {seen["linear SVM"]:.1f}, on Yale itself {seen_back["linear SVM"]:.1f}, where 5 more count as much higher.""",
    )
    page.claim(
        "NNP Table 1",
        "The error rates themselves: from FERET to UND, 32.35 (LDA), 25.23 (SVM) and 23.88 (NLDA).",
        [],
        "FERET's attribute labels are not public, nor is UND.",
    )


def described(name: str, fit: Any) -> str:
    if isinstance(fit, SVC):
        return f"{name}, C = {fit.C:g}"
    return f"{name}, ridge {fit.alpha_[0]:g}, chosen" if name == "NLDA" else name


# ---- NNP Fig. 5


def ranked(page: Page, X: np.ndarray, y: np.ndarray, shape: tuple[int, int]) -> None:
    page.heading("NNP Fig. 5: faces by what they contribute")
    K = X @ X.T
    printed = page.fit(NonnegativeKernelFDA(rule="oja", random_state=0), X, y).sample_importance_
    plain = page.fit(NonnegativeKernelFDA(), X, y)
    best = page.fit(NonnegativeKernelFDA(flip=True), X, y)
    signed = NonnegativeKernelFDA(kernel="precomputed", positive=False, alpha=best.alpha_[0]).fit(K, y)
    machine = page.fit(SVC(kernel="linear", C=0.01), X, y)
    support = np.zeros(len(X))
    support[machine.support_] = np.abs(machine.dual_coef_[0])
    rankings = {
        "NKFDA, as printed": printed,
        "NKFDA, flipped": best.sample_importance_,
        "KFDA, absolute values": np.abs(signed.dual_coef_[0]),
        "linear SVM": support,
    }
    figure, panels = plt.subplots(2, 4, figsize=(11, 6), layout="constrained")
    for column, (name, alpha) in zip(panels.T, rankings.items(), strict=True):
        order = np.argsort(-alpha, kind="stable")
        for axes, those, which in zip(column, (order[:25], order[-25:]), ("largest", "smallest"), strict=True):
            axes.imshow(tiled(X[those].reshape(-1, *shape), 5), cmap="gray", vmin=0, vmax=1)
            axes.set_title(f"{name}: {which}", fontsize=9)
            axes.set_axis_off()
    page.figure(figure, "The 25 faces of ORL with the largest and with the smallest weights α. Linear kernel, glasses or not.")
    light, contrast = X.mean(axis=1), X.std(axis=1)
    page.table(
        ("", "faces with a weight", "with glasses among the first 25", "light: correlation with α", "contrast: correlation with α"),
        [
            (
                name,
                f"{int(np.sum(alpha > 1e-12 * alpha.max()))} of {len(alpha)}",
                int(y[np.argsort(-alpha, kind="stable")[:25]].sum()),
                float(np.corrcoef(alpha, light)[0, 1]),
                float(np.corrcoef(alpha, contrast)[0, 1]),
            )
            for name, alpha in rankings.items()
        ],
        "Light and contrast: mean and standard deviation of a face's pixels.",
    )
    order = {name: np.argsort(-alpha, kind="stable") for name, alpha in rankings.items()}
    ends = {name: [float(light[those].mean()) for those in (line[:25], line[-25:])] for name, line in order.items()}
    by_light = {name: float(np.corrcoef(alpha, light)[0, 1]) for name, alpha in rankings.items()}
    page.claim(
        "NNP Fig. 5",
        "Light decides which faces NKFDA ranks first: bright ones come first, dark ones last.",
        [by_light["NKFDA, as printed"] > 0.5],
        f"""The correlation of a face's mean with its weight is {by_light["NKFDA, as printed"]:.2f}; the first 25 have a mean of
        {ends["NKFDA, as printed"][0]:.2f}, the last 25 of {ends["NKFDA, as printed"][1]:.2f}, all {light.mean():.2f}. It must be:
        in
        NNP Eq. 63, with the factor restored that it lacks, α cancels, and the power method for KUK is left: α becomes its leading
        eigenvector, close to the products of the faces with the mean face, whatever the labels are. The paper ranks by
        moustaches.""",
    )
    kfda, machine_ends = ends["KFDA, absolute values"], ends["linear SVM"]
    page.claim(
        "NNP Fig. 5",
        "KFDA's last faces are dark, as NKFDA's; its first have no condition in common.",
        [kfda[1] < light.mean() - 0.5 * light.std(), abs(kfda[0] - light.mean()) < 0.5 * light.std()],
        f"""Mean light of KFDA's first 25 faces is {kfda[0]:.2f} and of its last {kfda[1]:.2f}; of all {light.mean():.2f} ±
        {light.std():.2f},
        where half a deviation counts as dark. Light and its weights have a correlation of
        {by_light["KFDA, absolute values"]:.2f}.""",
    )
    unused = support <= 1e-12 * support.max()
    page.claim(
        "NNP Fig. 5",
        "Faces that the SVM gives no weight are typical ones without the attribute.",
        [(1 - y[unused].mean()) > (1 - y.mean()) + 0.1],
        f"""{int(unused.sum())} of {len(y)} faces have no weight; {1 - y[unused].mean():.0%} of these have no glasses, of all
        {1 - y.mean():.0%}; a tenth more counts. Mean light of the first 25 is {machine_ends[0]:.2f}, of the last
        {machine_ends[1]:.2f}.""",
    )
    first = int(y[order["NKFDA, flipped"][:25]].sum())
    with_glasses = int(y[order["NKFDA, as printed"][:25]].sum())
    line = order["NKFDA, as printed"]
    left_out = {name: without(X, printed, some) for name, some in (("first", line[:25]), ("last", line[-25:]))}
    page.claim(
        "NNP §5.2",
        "The entries of α indicate what each sample contributes to the discriminative projection.",
        [left_out["first"] > left_out["last"]],
        f"""By Eq. 60, w is the sum of αᵢxᵢ: without its first 25 faces it changes by {left_out["first"]:.1%} of its length, without
        its last 25 by {left_out["last"]:.1%}, where 25 of {len(X)} faces are {25 / len(X):.1%}. That is no measure of how well they
        tell classes apart: of the first 25 faces {with_glasses} have glasses, of all {y.mean():.0%}. Nor would
        the best α ≥ 0 tell glasses: a sum of faces with positive weights is a face. Fisher's ratio is then
        {plain.fisher_ratio_[0]:.3f} at most, with weights above zero for {int(np.sum(plain.sample_importance_ > 0))} of the faces.
        “Flipped” has faces without glasses count negatively, as they do in the SVM, and a ratio of {best.fisher_ratio_[0]:.2f};
        {first} of its first 25 faces have glasses. Faces of equal weight are in the order of the collection.""",
    )


def without(X: np.ndarray, alpha: np.ndarray, some: np.ndarray) -> float:
    """‖Σ αᵢxᵢ‖ over some samples, as a share of that over all."""
    return float(np.linalg.norm(alpha[some] @ X[some]) / np.linalg.norm(alpha @ X))
