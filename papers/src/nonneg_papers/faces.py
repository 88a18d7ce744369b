"""Faces and swimmers: pictures whose parts are to be found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from nonneg.datasets.bunches import make_bunch, make_pictures

from .cache import fetch, locate
from .formats import read_mat, read_npz, read_picture, read_rdata

if TYPE_CHECKING:
    from sklearn.utils import Bunch

CBCLVersion = Literal["raw", "lee-seung", "equalized", "negative"]


def load_cbcl(version: CBCLVersion = "raw", *, subset: Literal["train", "test"] = "train") -> Bunch:
    """The faces of the MIT-CBCL database: 2429 of 19 × 19 pixels.

    Parameters
    ----------
    version : {"raw", "lee-seung", "equalized", "negative"}
        The greys: as photographed; standardized, face by face, to mean and standard deviation 0.25 and clipped, as Lee and Seung
        did; with equalized histograms; or turned to the negative, as several NMF toolboxes ship them.
    subset : {"train", "test"}
        The 2429 faces for training, or the 472 for testing, which exist with equalized histograms only.

    Returns
    -------
    Bunch
        ``data`` (n_samples, 361) in [0, 1], ``images`` (n_samples, 19, 19), ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_orl : Faces of known people.
    nonneg.datasets.make_faces : Drawn faces, without a download.

    Examples
    --------
    >>> from nonneg_papers import load_cbcl
    >>> load_cbcl().data.shape  # doctest: +SKIP
    (2429, 361)
    """
    _check_choice("version", version, get_args(CBCLVersion))
    _check_choice("subset", subset, ("train", "test"))
    if subset == "test" and version != "equalized":
        raise ValueError(f"subset='test' has no version {version!r}: its faces are known with version='equalized' only.")
    if version == "equalized":
        greys = _cbcl_equalized(subset) / 255
    elif version == "lee-seung":
        greys = read_mat(fetch("faces/cbcl/CBCL.mat"))["X"] / 255
    elif version == "raw":
        greys = _cbcl_raw() / 255
    else:
        greys = read_mat(fetch("faces/cbcl/CBCL_Face.mat"))["M"]
    return make_pictures(_by_columns(greys.T, (19, 19)), DESCR=CBCL)


def _cbcl_raw() -> np.ndarray:
    """Recover the greys from the negative, which has (256 − grey) / 256: exact."""
    return 256 - 256 * read_mat(fetch("faces/cbcl/CBCL_Face.mat"))["M"]


def _cbcl_equalized(subset: str) -> np.ndarray:
    """Pixels by columns, as in the other files; R's file has them by rows."""
    arrays = read_rdata(fetch("faces/cbcl/cbcl_train_test_faces.RData"))
    return np.rint(255 * arrays[f"faces_{subset}"]).reshape(19, 19, -1).transpose(1, 0, 2).reshape(361, -1)


def load_feret() -> Bunch:
    """The FERET faces of the PNMF papers: 2409 of 32 × 32 pixels.

    Returns
    -------
    Bunch
        ``data`` (2409, 1024) in [0, 1], ``images`` (2409, 32, 32), ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_cbcl : Smaller faces.

    Examples
    --------
    >>> from nonneg_papers import load_feret
    >>> load_feret().data.shape  # doctest: +SKIP
    (2409, 1024)
    """
    greys = read_rdata(fetch("faces/feret/faces.rda"))["faces"]
    return make_pictures(_by_columns(greys / 255, (32, 32)), DESCR=FERET)


def load_olivetti() -> Bunch:
    """The Olivetti faces: 40 people, 10 pictures of 64 × 64 pixels each.

    Returns
    -------
    Bunch
        ``data`` (400, 4096) in [0, 1], ``images`` (400, 64, 64), ``target`` (400,) from 0 to 39, ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_orl : The same people, at another size.
    nonneg.datasets.make_faces : Drawn faces, without a download.

    Examples
    --------
    >>> from nonneg_papers import load_olivetti
    >>> load_olivetti().data.shape  # doctest: +SKIP
    (400, 4096)
    """
    greys = read_mat(fetch("faces/olivetti/olivettifaces.mat"))["faces"].T
    return make_pictures(_by_columns(greys / 255, (64, 64)), DESCR=OLIVETTI, target=np.repeat(np.arange(40), 10))


def load_orl(size: Literal["112x92", "32x32"] = "112x92") -> Bunch:
    """The ORL faces: 40 people, 10 pictures each.

    Parameters
    ----------
    size : {"112x92", "32x32"}
        The pictures as they were taken, or aligned, cropped and made small.

    Returns
    -------
    Bunch
        ``data`` (400, 10304 or 1024) in [0, 1], ``images`` (400, height, width), ``target`` (400,) from 0 to 39, ``feature_shape``,
        ``DESCR``.

    See Also
    --------
    load_olivetti : The same people, at another size.

    Examples
    --------
    >>> from nonneg_papers import load_orl
    >>> load_orl().data.shape  # doctest: +SKIP
    (400, 10304)
    """
    _check_choice("size", size, ("112x92", "32x32"))
    if size == "32x32":
        return _labelled("faces/orl_32x32/ORL_32x32.mat", "X", ORL)
    packed = locate("faces/orl_112x92/orl_112x92.npz")  # all pictures in one file, if it is there
    images = read_npz(packed)["images"] if packed is not None else _orl_pictures()
    return make_pictures(images / 255, DESCR=ORL, target=np.repeat(np.arange(40), 10))


def _orl_pictures() -> np.ndarray:
    paths = [f"faces/orl_112x92/att_faces/s{person}/{number}.pgm" for person in range(1, 41) for number in range(1, 11)]
    return np.stack([read_picture(fetch(path)) for path in paths])


def load_yale() -> Bunch:
    """The Yale faces: 15 people, 11 pictures of 32 × 32 pixels each.

    Returns
    -------
    Bunch
        ``data`` (165, 1024) in [0, 1], ``images`` (165, 32, 32), ``target`` (165,) from 0 to 14, ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_pie : More people.

    Examples
    --------
    >>> from nonneg_papers import load_yale
    >>> load_yale().data.shape  # doctest: +SKIP
    (165, 1024)
    """
    return _labelled("faces/yale_32x32/Yale_32x32.mat", "fea", YALE)


def load_pie() -> Bunch:
    """The frontal faces (pose 27) of CMU PIE: 68 people, 42 pictures of 32 × 32 pixels each.

    Returns
    -------
    Bunch
        ``data`` (2856, 1024) in [0, 1], ``images`` (2856, 32, 32), ``target`` (2856,) from 0 to 67, ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_yale : Fewer people.

    Examples
    --------
    >>> from nonneg_papers import load_pie
    >>> load_pie().data.shape  # doctest: +SKIP
    (2856, 1024)
    """
    return _labelled("faces/pie_pose27/PIE_pose27.mat", "fea", PIE)


def load_swimmer(size: Literal["32x32", "9x14"] = "32x32") -> Bunch:
    """The swimmer: a torso with four limbs, each in four positions, in all 256 ways.

    Parameters
    ----------
    size : {"32x32", "9x14"}
        The swimmer of Donoho and Stodden, upright; or a small one, lying.

    Returns
    -------
    Bunch
        ``data`` (256, 1024 or 126) of zeros and ones, ``images`` (256, height, width), ``feature_shape``, ``DESCR``.

    See Also
    --------
    nonneg.datasets.make_parts : Drawn parts, without a download.

    Examples
    --------
    >>> from nonneg_papers import load_swimmer
    >>> load_swimmer().data.shape  # doctest: +SKIP
    (256, 1024)
    """
    _check_choice("size", size, ("32x32", "9x14"))
    if size == "32x32":
        marked = read_mat(fetch("faces/swimmer/swimmer.mat"))["Y"]
        images = np.moveaxis(marked, 2, 0) == 39  # 1 is the water, 39 the body
    else:
        images = np.stack(list(read_mat(fetch("faces/swimmer_9x14/swimmer.mat"))["A"][0]))
    return make_pictures(images, DESCR=SWIMMER)


def load_opnmf_reference() -> Bunch:
    """Input, start and results of OPNMF as computed by its MATLAB and R codes, with rank 6.

    Returns
    -------
    Bunch
        ``data`` (400, 4096) in [0, 1] and ``images`` (400, 64, 64); ``init_W`` (400, 6), from which ``W_matlab``, ``H_matlab``,
        ``W_R`` and ``H_R`` were reached: data ≈ W H with H = Wᵀ data. Another run of the R code, on ``data.T``: from
        ``init_W_pixels`` (4096, 6) to ``W_pixels`` and ``H_pixels`` in ``n_iter_pixels`` iterations. ``feature_shape``, ``DESCR``.

    See Also
    --------
    load_olivetti : The same pictures.
    nonneg.OPNMF : The estimator.

    Examples
    --------
    >>> from nonneg_papers import load_opnmf_reference
    >>> load_opnmf_reference().data.shape  # doctest: +SKIP
    (400, 4096)
    """
    given, matlab, r, pixels = (
        read_mat(fetch(f"faces/opnmf_ref/{name}.mat")) for name in ("faces_data", "opnmf6_matlab", "opnmf6_R", "faces_op6")
    )
    run = pixels["op6"][0, 0]
    factors = {
        "init_W": given["init_W"],
        "W_matlab": matlab["W"],
        "H_matlab": matlab["H"],
        "W_R": r["W"],
        "H_R": r["H"],
        "init_W_pixels": run["W0"],
        "W_pixels": run["W"],
        "H_pixels": run["H"],
    }
    return make_bunch(
        given["data"],
        feature_shape=(64, 64),
        DESCR=OPNMF,
        images=given["data"].astype(np.float64).reshape(-1, 64, 64),
        n_iter_pixels=int(run["iter"].item()),
        **{name: np.ascontiguousarray(factor, dtype=np.float64) for name, factor in factors.items()},
    )


def _labelled(path: str, name: str, description: str) -> Bunch:
    """Pictures of 32 × 32 pixels in D. Cai's form: a row each, pixels by columns, people counted from 1."""
    variables = read_mat(fetch(path))
    images = _by_columns(variables[name] / 255, (32, 32))
    return make_pictures(images, DESCR=description, target=variables["gnd"].ravel().astype(np.int64) - 1)


def _by_columns(rows: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Upright pictures from rows of pixels that run down the columns, as MATLAB and R store them."""
    height, width = shape
    return rows.reshape(-1, width, height).transpose(0, 2, 1)


def _check_choice(name: str, given: Any, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise ValueError(f"{name}={given!r} is not known; it can be {', '.join(map(repr, choices))}.")


CBCL = """MIT-CBCL faces: 2429 for training, 472 for testing, 19 × 19 pixels.

Source: CBCL_Face.mat of github.com/hiroyuki-kasai/NMFLibrary ("raw", "negative"), CBCL.mat of github.com/amjadseyedi/NMFcUDA
("lee-seung"), faces.RData of github.com/willwerscheid/ebnmf-paper ("equalized").
Licence: MIT-CBCL, research use; repositories: NMFLibrary MIT, others none stated.

Values are in [0, 1], 0 is black, pixels run along rows; all versions have the same faces in the same order.
"raw" is grey / 255, recovered exactly from the negative. "negative" is (256 − grey) / 256, from 1/256 to 1, dark where the face is
bright. "lee-seung" is floor(255 clip(0.25 + 0.25 (grey − mean) / std, 0, 1)) / 255 for each face, std with n − 1. "equalized" was
stored by rows, the others by columns. 2426 of the 2429 faces are distinct; all are kept.
"""
FERET = """FERET faces: 2409 of 32 × 32 pixels, as used in the papers on PNMF.

Source: faces.rda of github.com/richardbeare/pNMF, the matrix shipped with the MATLAB package pnmf.
Licence: FERET (NIST) terms; repository states none.

Values are grey / 255, 0 is black, pixels run along rows (down columns in the file). There are no labels of people. The package's
documentation says 2049 faces; there are 2409.
"""
OLIVETTI = """Olivetti faces: 40 people, 10 pictures of 64 × 64 pixels each.

Source: olivettifaces.mat of github.com/sjgershm/DBM.
Licence: AT&T Laboratories Cambridge; repository none stated.

Values are grey / 255, the largest 242 / 255; scikit-learn's fetch_olivetti_faces divides by 242. Pixels run along rows (down
columns in the file). The target is the person, from 0 to 39, ten consecutive pictures each.
"""
ORL = """ORL (AT&T) faces: 40 people, 10 pictures each, 112 × 92 pixels, or aligned and cropped to 32 × 32.

Source: att_faces of github.com/ChiTatZhang/server_graduate (112 × 92); ORL_32x32.mat of github.com/DeyuTsang/SGSSC (32 × 32).
Licence: AT&T Laboratories Cambridge, free for research with acknowledgement; repositories none stated.

Values are grey / 255, 0 is black, pixels run along rows. The target is the person, from 0 to 39, ten consecutive pictures each. Of
the public copies of the large pictures some are damaged or have people replaced; this one agrees with every undamaged one. The
noisy variants in the file of the small pictures are left out.
"""
YALE = """Yale faces: 15 people, 11 pictures of 32 × 32 pixels each.

Source: Yale_32x32.mat of github.com/ma-xu/ORL3.
Licence: none stated.

Values are grey / 255, 0 is black, pixels run along rows (down columns in the file). The target is the person, from 0 to 14.
"""
PIE = """CMU PIE faces, pose 27: 68 people, 42 pictures of 32 × 32 pixels each, in different light.

Source: PIE_pose27.mat of github.com/hiroyuki-kasai/NMFLibrary.
Licence: repository MIT; CMU PIE research use.

Values are grey / 255, 0 is black, pixels run along rows (down columns in the file). The target is the person, from 0 to 67.
"""
SWIMMER = """The swimmer: a torso and four limbs in four positions each, 256 pictures.

Source: swimmer.mat of github.com/willwerscheid/ebnmf-paper (32 × 32), swimmer.mat of
github.com/msh04/Tensor-Decompositions-Spring-2024 (9 × 14).
Licence: none stated.

Values are 0 (water) and 1 (body); the 32 × 32 file has 1 and 39. Every picture has 37 pixels of body (24 in the small one). The
rank is 13, the parts are 17: the torso and 16 limbs.
"""
OPNMF = """Reference input and results of OPNMF, rank 6.

Source: the test data of the package opnmf 0.0.2 (github.com/juaml/opnmf).
Licence: opnmf AGPL-3.0; the faces AT&T Laboratories Cambridge.

The data are the Olivetti faces / 242, in shuffled order, pixels along rows, rounded to float32. W has a row for each picture. Both
codes ran up to 50000 iterations with tolerance 1e-5 from init_W, and reach ‖X − W H‖ / ‖X‖ = 0.18099. The diagonal of WᵀW is
0.605 … 0.725, not 1. The run on the transposed data took 24812 iterations and reaches 0.17806.
"""
