"""OPNMF of brain images in the conventions of nilearn."""

from __future__ import annotations

import warnings
from dataclasses import make_dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import InputTags
from sklearn.utils.validation import check_is_fitted

from .. import selection
from ..estimators import OPNMF, PNMF
from ..estimators.atomic import atomic_fit
from ..exceptions import DataError, IncompatibleError, ShapeError, is_count, is_one_of, needed, unknown
from ..io.large import new_matrix, release
from ..metrics.labels import hard_labels
from ..selection import RankScan
from .covariates import Covariates, read_covariates, regress, subtract
from .images import SurfaceImageReader, VolumeReader, label_of
from .ordering import explained_by_part, reorder
from .rows import blocks, to_fit
from .scans import Scans, read_scans
from .vertices import VertexReader, kind_of_surface


class ExplainedVariance(NamedTuple):
    """The share of the variance over subjects that components explain, 1 − Σ(x − x̂)²/Σx² of X with its mean taken away."""

    total: float
    by_part: np.ndarray
    """Of each component on its own."""
    by_subject: np.ndarray
    """Of each subject."""


_ImageTags = make_dataclass("_ImageTags", [("niimg_like", bool, True), ("surf_img", bool, False)], bases=(InputTags,))
"""The tags by which nilearn knows estimators of images."""
_STANDARDIZE = ("scale", "zscore_sample", "psc")
_REGRESS = ("images", "loadings")


class OPNMFParcellation(TransformerMixin, BaseEstimator):
    """Parcellation of the brain by `OPNMF`: components of subjects' images, a hard atlas, and loadings.

    Parts of the brain that vary together over subjects, found from grey matter maps, cortical thickness or any other non-negative
    images that lie in one space. Images are read one by one, masked, smoothed and resampled by nilearn.

    Parameters
    ----------
    n_components : int, default=20
        How many components.
    mask : image, path or masker, default=None
        Voxels of which it is not zero are read. A `NiftiMasker` or `SurfaceMasker` is taken with its own parameters. None: by
        `mask_strategy`.
    smoothing_fwhm : float, default=None
        Width of the Gaussian that volumes are smoothed with, in mm.
    target_affine : array of shape (3, 3) or (4, 4), default=None
        Space to which volumes and mask are resampled; needs a mask.
    target_shape : tuple of int, default=None
        Shape for `target_affine`.
    resample : bool, default=False
        Whether volumes that lie elsewhere than the mask are resampled to it, as nilearn does; by default they are refused.
    standardize : {None, "scale", "zscore_sample", "psc"}, default=None
        "scale" divides each voxel by its standard deviation over subjects. nilearn's "zscore_sample" and "psc" make half of the
        data negative, and need ``negative="clip"``. False is None.
    negative : {"raise", "clip"}, default="raise"
        Treatment of values below zero, as from interpolation: name the first one, or take them as 0. Residuals of
        `confounds` are always clipped. `clipped_share_` says how many.
    regress : {"images", "loadings"}, default="images"
        Target from which the `confounds` of `fit` are regressed.
    mask_strategy : str, default="nonzero"
        "nonzero": voxels that are neither zero nor NaN in one image at least. Others are nilearn's: "background", "epi",
        "whole-brain-template", "gm-template", "wm-template".
    mask_args : dict, default=None
        Parameters of nilearn's `mask_strategy`.
    estimator : OPNMF, default=None
        Whose other parameters to use, ``OPNMF(orthogonality="exact")``; another projective estimator can be given.
    scratch : path, default=None
        Folder for the matrix of large studies, which is removed in the end; by default the system's.
    random_state : int, Generator, RandomState or None, default=None
        For the starts. The same seed gives the same result.
    memory : joblib.Memory or path, default=None
        Cache of masked images, as in nilearn.
    memory_level : int, default=1
        How much is cached, as in nilearn.
    n_jobs : int, default=None
        How many starts run at the same time.
    verbose : int, default=0
        1 prints each step, 2 nilearn's too.

    Attributes
    ----------
    clipped_share_ : float
        Share of values below zero that were taken as 0.
    components_ : array of shape (n_components, n_voxels)
        Components, the one that explains most variance first.
    components_img_ : image
        Components as an image of four dimensions, with the header of the mask.
    confounds_ : Covariates or None
        The regressed covariates.
    estimator_ : OPNMF
        Fitted to the matrix of subjects × voxels, components in the same order.
    explained_variance_ratio_ : ExplainedVariance
        Share of the variance over subjects that is explained: total, by part, by subject.
    labels_ : array of shape (n_voxels,)
        Number of the component that has most of a voxel, from 1; 0 for none.
    labels_img_ : image
        Hard atlas: `labels_` as an image of whole numbers.
    loadings_ : DataFrame of shape (n_subjects, n_components)
        How much of each component is in each subject, by name.
    mask_img_ : image
        Mask of the images.
    masker_ : masker
        Of nilearn, fitted.
    n_elements_ : int
        Number of components, as nilearn calls it.

    See Also
    --------
    compare_atlases : Compares two parcellations.
    nonneg.OPNMF : The factorization.

    Examples
    --------
    >>> import nibabel, numpy as np
    >>> from nonneg.neuro import OPNMFParcellation
    >>> rng = np.random.default_rng(0)
    >>> halves = np.zeros((2, 4, 4, 4), dtype="float32")
    >>> halves[0, :2] = halves[1, 2:] = 1
    >>> images = [nibabel.Nifti1Image(np.tensordot(rng.random(2) + 0.1, halves, 1), np.eye(4)) for _ in range(10)]
    >>> model = OPNMFParcellation(2, random_state=0).fit(images)
    >>> sorted(model.labels_.tolist()) == [1] * 32 + [2] * 32
    True
    >>> model.components_img_.shape, model.loadings_.shape
    ((4, 4, 4, 2), (10, 2))
    """

    def __init__(
        self,
        n_components: int = 20,
        mask: Any = None,
        smoothing_fwhm: float | None = None,
        target_affine: Any = None,
        target_shape: Any = None,
        resample: bool = False,
        standardize: str | bool | None = None,
        negative: str = "raise",
        regress: str = "images",
        mask_strategy: str = "nonzero",
        mask_args: Any = None,
        estimator: Any = None,
        scratch: Any = None,
        random_state: Any = None,
        memory: Any = None,
        memory_level: int = 1,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.mask = mask
        self.smoothing_fwhm = smoothing_fwhm
        self.target_affine = target_affine
        self.target_shape = target_shape
        self.resample = resample
        self.standardize = standardize
        self.negative = negative
        self.regress = regress
        self.mask_strategy = mask_strategy
        self.mask_args = mask_args
        self.estimator = estimator
        self.scratch = scratch
        self.random_state = random_state
        self.memory = memory
        self.memory_level = memory_level
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- fitting

    @atomic_fit
    def fit(self, imgs: Any, y: Any = None, confounds: Any = None) -> OPNMFParcellation:
        """Learn components of images.

        Parameters
        ----------
        imgs : image, path, glob, folder, table, or list of images or paths
            One subject each; images of four dimensions hold several. A table is a .tsv or .csv file, or a DataFrame, with a column
            of paths and one of names, such as `participants.tsv` of BIDS.
        y : None
            Not used; there for pipelines.
        confounds : DataFrame, dict, array, path of a table, or list of columns of the table of scans, default=None
            Covariates, a row for each subject: numbers as they are, text by its levels. They are regressed out; the mean is kept.
        """
        X, design, names = self._read_study(read_scans(imgs), confounds)
        self._say(f"Fitting {self.n_components} components")
        self.estimator_ = self._make_estimator().fit(to_fit(X))
        self._keep(X, design, names)
        return self

    @classmethod
    def from_atlas(cls, atlas: Any, **parameters: Any) -> OPNMFParcellation:
        """Make a parcellation of a published atlas, for loadings of new images by `transform`.

        Parameters
        ----------
        atlas : image or path
            Components, of four dimensions, each taken at length one; or labels, whole numbers in three dimensions, 0 for no part,
            each a component that is the same at all of its voxels.
        **parameters
            Of the parcellation: ``resample=True`` for images that lie elsewhere than the atlas, ``smoothing_fwhm``, ``negative``.

        Returns
        -------
        OPNMFParcellation
            Without the attributes that come from subjects: `loadings_`, `explained_variance_ratio_`, `estimator_`.
        """
        scans = read_scans(atlas)
        reader = cls(mask=parameters.get("mask"))._make_reader(scans)
        mask = reader.fit(scans.images).mask_img_
        rows = np.concatenate([reader.rows(image, number) for number, image in enumerate(scans.images, 1)], dtype=np.float64)
        if len(rows) == 1 and (rows == np.rint(rows)).all():
            rows = (rows == np.unique(rows[rows > 0])[:, None]).astype(np.float64)
        if not len(rows) or (rows < 0).any() or not rows.any(axis=1).all():
            raise DataError(f"{label_of(atlas, 1)} is no atlas: components are not negative, and none is zero everywhere.")
        found = cls(**parameters | {"mask": mask, "n_components": len(rows)})
        found._check_parameters()
        found._reader = found._make_reader(scans)
        found.masker_ = found._reader.fit(scans.images)
        found.mask_img_ = found.masker_.mask_img_
        found.confounds_ = found._effects = found._scaling = found._code_effects = None
        found._mean = np.zeros(rows.shape[1])
        found._keep_parts(rows / np.linalg.norm(rows, axis=1, keepdims=True))
        return found

    def rank_scan(
        self,
        imgs: Any,
        ranks: Any = "auto",
        *,
        confounds: Any = None,
        strata: Any = None,
        criteria: Any = "halves",
        folder: Any = None,
    ) -> RankScan:
        """Find out how many components images have, by split halves of the subjects.

        Images are read as in `fit`; nothing of the parcellation changes.

        Parameters
        ----------
        imgs : as in `fit`
        ranks : iterable of int or "auto", default="auto"
            Which to scan, ``range(2, 17)``. "auto" is 2 to 12.
        confounds : as in `fit`, default=None
        strata : str or array of shape (n_subjects,), default=None
            Classes of subjects that both halves have equal shares of: an array, or columns of the table of scans, "sex,age/3" for
            sex and age in thirds.
        criteria, folder : as in `nonneg.selection.rank_scan`

        Returns
        -------
        RankScan
            `best_` is the rank, `plot()` draws the curve.
        """
        scans = read_scans(imgs)
        if isinstance(strata, str) and not scans.columns:
            raise DataError(
                f"strata={strata!r} names columns of a table of scans, and these come from none: give one class for each, such as "
                f"nonneg.selection.strata(people, {strata!r}) of a DataFrame."
            )
        reader = clone(self).set_params(n_components=1)
        X = reader._read_study(scans, confounds)[0]
        y = selection.strata(scans.columns, strata, "The table of scans") if isinstance(strata, str) else strata
        settings = {"random_state": self.random_state, "n_jobs": self.n_jobs, "verbose": self.verbose, "folder": folder}
        return selection.rank_scan(reader._make_estimator(), X, ranks, y=y, criteria=criteria, **settings)

    def _read_study(self, scans: Scans, confounds: Any) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
        """The matrix that is factorized, the design of its covariates, and names of subjects."""
        self._check_parameters()
        self._reader = self._make_reader(scans)
        names = self._subjects(scans)
        self._check_rank(len(names))
        self.confounds_, design = None, None
        if confounds is not None:
            self.confounds_, design = Covariates.fit(read_covariates(confounds, scans, names), names)
        self._say(f"Checking {len(scans.images)} images, {len(names)} subjects")
        self.masker_ = self._reader.fit(scans.images)
        self.mask_img_ = self.masker_.mask_img_
        width = int(self.masker_.n_elements_)
        X = new_matrix((len(names), width), np.dtype(np.float32), f"The matrix of {len(names)} subjects", folder=self.scratch)
        self._say(f"Reading {len(names)} subjects × {width} voxels")
        self._read(scans, X)
        self._prepare(X, design, names)
        return X, design, names

    def _check_parameters(self) -> None:
        if self.negative not in ("raise", "clip"):
            raise unknown("negative", self.negative, ("raise", "clip"))
        if self.regress not in _REGRESS:
            raise unknown("regress", self.regress, _REGRESS)
        if not (self.standardize is None or self.standardize is False or is_one_of(self.standardize, _STANDARDIZE)):
            raise unknown("standardize", self.standardize, _STANDARDIZE, "None")
        if self.smoothing_fwhm is not None and not (isinstance(self.smoothing_fwhm, Real) and 0 <= self.smoothing_fwhm < np.inf):
            raise IncompatibleError(f"smoothing_fwhm is a width in mm, such as 8, or None; got {self.smoothing_fwhm!r}.")
        if self.standardize in ("zscore_sample", "psc") and self.negative == "raise":
            raise IncompatibleError(
                f"standardize={self.standardize!r} centres each voxel, so that half of the values are below zero, which no "
                "non-negative factorization takes. standardize='scale' divides by the standard deviation alone."
            )
        if self.estimator is not None and not isinstance(self.estimator, PNMF):
            raise IncompatibleError(f"estimator is OPNMF(...) or PNMF(...), not fitted; got {self.estimator!r}.")

    def _check_rank(self, n_subjects: int) -> None:
        if not is_count(self.n_components, 1):
            raise ShapeError(f"n_components must be an int of at least 1; got {self.n_components!r}. rank_scan finds how many.")
        if self.n_components > n_subjects:
            raise ShapeError(
                f"n_components={self.n_components} is more than the {n_subjects} subject{'s' if n_subjects > 1 else ''}: each "
                f"would be a component of its own. Use at most {n_subjects}, or give more scans."
            )

    def _make_reader(self, scans: Scans) -> Any:
        names = ("smoothing_fwhm", "target_affine", "target_shape", "mask_strategy", "mask_args", "memory", "memory_level")
        settings = {name: getattr(self, name) for name in names} | {"verbose": max(int(self.verbose) - 1, 0)}
        are_surfaces = [hasattr(image, "mesh") for image in scans.images]
        if any(are_surfaces):
            if not all(are_surfaces):
                raise DataError(f"Image {are_surfaces.index(False) + 1} is no SurfaceImage, as others of the list are.")
            return SurfaceImageReader(self.mask, settings)
        kind = kind_of_surface(scans.images[0])
        if kind is not None:
            return VertexReader(self.mask, settings, kind)
        return VolumeReader(self.mask, settings, self.resample)

    def _subjects(self, scans: Scans) -> list[str]:
        """A name for each subject; of images in memory, numbers."""
        names = []
        for number, (image, given) in enumerate(zip(scans.images, scans.names, strict=True), 1):
            name = given or (f"subject {number}" if len(scans.images) > 1 else "subject")
            count = self._reader.count(image, number)
            names += [name] if count == 1 else [f"{name} {volume}" for volume in range(1, count + 1)]
        return names

    def _make_estimator(self) -> Any:
        found = OPNMF() if self.estimator is None else clone(self.estimator)
        given = {"n_components": self.n_components}
        given |= {name: getattr(self, name) for name in ("random_state", "n_jobs") if getattr(self, name) is not None}
        return found.set_params(**given)

    def _read(self, scans: Scans, X: np.ndarray) -> None:
        """Fill the matrix, one image after the other."""
        row = 0
        for number, image in enumerate(scans.images, 1):
            found = self._reader.rows(image, number)
            X[row : row + len(found)] = found
            release(X)
            row += len(found)
            if not found.any(axis=1).all():
                raise DataError(f"{label_of(image, number)} is zero everywhere in the mask. Do they lie in one space?")
            if self.negative == "raise":
                self._refuse_negative(found, label_of(image, number))

    def _refuse_negative(self, rows: np.ndarray, label: str) -> None:
        if rows.min() >= 0:
            return
        count, total = int((rows < 0).sum()), rows.size
        advice = (
            "This looks like z-scored data: give the values before." if count > 0.2 * total else "Such as interpolation leaves."
        )
        raise DataError(
            f"{label} is {rows.min():.3g} at its least, and below zero at {count} of {total} voxels of the mask. {advice} To take "
            "values below zero as 0: negative='clip'."
        )

    def _prepare(self, X: np.ndarray, design: np.ndarray | None, names: list[str]) -> None:
        """Regress, standardize and clip the matrix in place."""
        self._effects = None
        if design is not None and self.regress == "images":
            self._effects = regress(X, design)
        mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks(X)) / len(X)
        self._scaling = None
        if self.standardize:
            variance = sum(((block - mean) ** 2).sum(axis=0, dtype=np.float64) for block in blocks(X)) / len(X)
            self._scaling = _scaling(str(self.standardize), mean, np.sqrt(variance))
        self.clipped_share_ = self._finish(X, names)

    def _finish(self, X: np.ndarray, names: list[str]) -> float:
        """Standardize and clip, in place; return the share of clipped values."""
        clipped = 0
        for block in blocks(X):
            if self._scaling is not None:
                block -= self._scaling[0]
                block /= self._scaling[1]
            clipped += int((block < 0).sum())
            np.maximum(block, 0, out=block)
        return clipped / X.size

    def _keep(self, X: np.ndarray, design: np.ndarray | None, names: list[str]) -> None:
        """Order components by explained variance, and make images and tables of them."""
        components = np.asarray(self.estimator_.components_)
        self._mean = sum(block.sum(axis=0, dtype=np.float64) for block in blocks(X)) / len(X)
        codes, found = self._explained(X, components)
        order = np.argsort(-found.by_part, kind="stable")
        reorder(self.estimator_, order)
        self.components_, codes = np.asarray(self.estimator_.components_), codes[:, order]
        self.explained_variance_ratio_ = found._replace(by_part=found.by_part[order])
        self._code_effects = None
        if design is not None and self.regress == "loadings":
            self._code_effects = regress(codes, design)
        self.loadings_ = _table(codes, names)
        self._keep_parts(self.components_)

    def _keep_parts(self, components: np.ndarray) -> None:
        """Make images of components."""
        self.components_ = components
        self.labels_ = hard_labels(components) + 1
        self.components_img_ = self._reader.image(self.components_)
        self.labels_img_ = self._reader.image(self.labels_.astype(np.int16))
        self.n_elements_ = len(self.components_)

    def _explained(self, X: np.ndarray, components: np.ndarray) -> tuple[np.ndarray, ExplainedVariance]:
        """Codes, and the variance that they explain; it takes one pass over the matrix."""
        W = components.T.astype(np.float64)
        gram, offset = W.T @ W, self._mean @ W
        codes, energy = np.empty((len(X), len(components))), np.empty(len(X))
        start = 0
        for block in blocks(X):
            rows = slice(start, start + len(block))
            codes[rows] = block.astype(np.float64) @ W
            energy[rows] = ((block - self._mean.astype(block.dtype)) ** 2).sum(axis=1, dtype=np.float64)
            start += len(block)
        centred = codes - offset
        with np.errstate(invalid="ignore", divide="ignore"):
            by_subject = (2 * (centred**2).sum(axis=1) - np.einsum("ik,kl,il->i", centred, gram, centred)) / energy
            by_part = explained_by_part(centred, W.T) / energy.sum()
            total = 2 * (centred**2).sum() - float((gram * (centred.T @ centred)).sum())
            return codes, ExplainedVariance(float(np.divide(total, energy.sum())), by_part, by_subject)

    # ---- new images

    def _new(self, imgs: Any, confounds: Any) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
        """Rows of new images, treated as those of the fit were, and their design."""
        check_is_fitted(self)
        scans = read_scans(imgs)
        names = self._subjects(scans)
        design = None
        if self.confounds_ is not None:
            if confounds is None:
                raise DataError(
                    f"The fit had the covariates {', '.join(self.confounds_.names)}: give those of these images as confounds."
                )
            design = self.confounds_.centred(read_covariates(confounds, scans, names), names)
        elif confounds is not None:
            raise DataError("The fit had no confounds, so that there are no effects to take out of new images.")
        X = np.empty((len(names), int(self.masker_.n_elements_)), dtype=np.float32)
        self._read(scans, X)
        if design is not None and self._effects is not None:
            subtract(X, design, self._effects)
        self._finish(X, names)
        return X, design, names

    def transform(self, imgs: Any, confounds: Any = None) -> np.ndarray:
        """Loadings of new images.

        Parameters
        ----------
        imgs : as in `fit`
        confounds : as in `fit`, default=None
            Needed if, and only if, the fit had some. Their effects are those of the fit.
        """
        X, design, names = self._new(imgs, confounds)
        codes = _codes(X, self.components_)
        if design is not None and self._code_effects is not None:
            subtract(codes, design, self._code_effects)
        return self._in_container(codes, names)

    def fit_transform(self, imgs: Any, y: Any = None, confounds: Any = None) -> np.ndarray:
        """Learn components of images, and return their loadings.

        Parameters
        ----------
        imgs : as in `fit`
        y : None
            Not used.
        confounds : as in `fit`, default=None
        """
        loadings = self.fit(imgs, confounds=confounds).loadings_
        return self._in_container(loadings.to_numpy(), loadings.index)

    def _in_container(self, codes: np.ndarray, names: Any) -> Any:
        """Loadings as an array; with ``set_output(transform="pandas")`` as a table with the names of subjects."""
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
        return _table(codes, names) if wanted == "pandas" else codes

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of loadings: "part 1" and so on, as in `loadings_`.

        Parameters
        ----------
        input_features : None
            Not used.
        """
        check_is_fitted(self)
        return np.array(_part_names(self.n_elements_), dtype=object)

    def inverse_transform(self, loadings: Any) -> Any:
        """Image of four dimensions that loadings stand for, one volume a subject.

        Parameters
        ----------
        loadings : array or DataFrame of shape (n_subjects, n_components)
        """
        check_is_fitted(self)
        codes = np.asarray(loadings)
        if codes.ndim != 2 or codes.shape[1] != self.n_elements_:
            raise ShapeError(
                f"Input to 'inverse_transform' has wrong shape. Got {codes.shape}; (n_subjects, {self.n_elements_}) is needed."
            )
        if codes.dtype == bool:
            warnings.warn("Casting boolean input to float: loadings are numbers.", UserWarning, stacklevel=2)
        dtype = codes.dtype if codes.dtype.kind == "f" else np.float32
        return self._reader.image((codes @ self.components_).astype(dtype))

    def score(self, imgs: Any, y: Any = None, confounds: Any = None) -> float:
        """Share of the variance of images about the mean of the fit that components explain.

        Parameters
        ----------
        imgs : as in `fit`
        y : None
            Not used.
        confounds : as in `fit`, default=None
        """
        X, _, _ = self._new(imgs, confounds)
        return self._explained(X, self.components_)[1].total

    # ---- scikit-learn and nilearn

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_img_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_surface = hasattr(self.mask, "mesh") or type(self.mask).__name__ == "SurfaceMasker"
        tags.input_tags = _ImageTags(niimg_like=not is_surface, surf_img=is_surface)
        return tags

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}")


def _codes(X: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Loadings in double precision."""
    W = components.T.astype(np.float64)
    return np.concatenate([block.astype(np.float64) @ W for block in blocks(X)])


def _table(codes: np.ndarray, names: Any) -> Any:
    """Loadings with names."""
    pandas = needed("pandas", "neuro", "A table of loadings")
    return pandas.DataFrame(codes, index=pandas.Index(names, name="subject"), columns=_part_names(codes.shape[1]))


def _part_names(count: int) -> list[str]:
    return [f"part {number}" for number in range(1, count + 1)]


def _scaling(how: str, mean: np.ndarray, deviation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scale to standardize each voxel with."""
    deviation = np.where(deviation > 0, deviation, 1)
    zero = np.zeros_like(mean)
    found = {"scale": (zero, deviation), "zscore_sample": (mean, deviation), "psc": (mean, np.where(mean != 0, mean, 1) / 100)}[how]
    return found[0].astype(np.float32), found[1].astype(np.float32)
