"""Drawn faces: images that are sums of twelve known parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import IncompatibleError, is_count, is_number
from ..solve.initialization import RandomState, make_generator
from .bunches import make_pictures

if TYPE_CHECKING:
    from sklearn.utils import Bunch

HEIGHT, WIDTH = 48, 40
"""Pixels of a face."""


def make_faces(n_samples: int = 400, *, noise: float = 0.1, random_state: RandomState = 0) -> Bunch:
    """Draw faces of 48 × 40 pixels: hair, brows, eyes, glasses, nose, … in random amounts, and noise.

    Parameters
    ----------
    n_samples : int, default=400
        Number of faces.
    noise : float, default=0.1
        The standard deviation of the noise, as a share of that of the faces; negative entries become zero.
    random_state : int, Generator, RandomState or None, default=0
        Seed or generator of the amounts and the noise.

    Returns
    -------
    Bunch
        ``data`` (n_samples, 1920); ``images`` (n_samples, 48, 40), 0 is black; ``parts`` (12, 1920) and ``part_names``; ``codes``
        (n_samples, 12), with data ≈ codes @ parts; ``feature_shape``, ``DESCR``.

    See Also
    --------
    make_parts : Parts without pictures.
    load_digits : Images of handwriting.

    Examples
    --------
    >>> from nonneg.datasets import make_faces
    >>> faces = make_faces(100)
    >>> faces.images.shape, faces.part_names[:3]
    ((100, 48, 40), ['hair', 'ears', 'brows'])
    """
    if not is_count(n_samples, 1):
        raise IncompatibleError(f"n_samples must be an int of at least 1; got {n_samples!r}.")
    if not is_number(noise) or noise < 0:
        raise IncompatibleError(f"noise must be a number of at least 0; got {noise!r}.")
    generator = make_generator(random_state)
    drawn = _parts()
    parts = np.array([part.ravel() for part in drawn.values()])
    codes = generator.gamma(4.0, 0.25, (n_samples, len(parts)))
    codes *= generator.random(codes.shape) < [_OFTEN.get(name, 1.0) for name in drawn]
    sums = codes @ parts
    data = np.maximum(sums + noise * sums.std() * generator.normal(size=sums.shape), 0.0)
    images = data.reshape(-1, HEIGHT, WIDTH)
    return make_pictures(images, DESCR=FACES, parts=parts, part_names=list(drawn), codes=codes)


_OFTEN = {"glasses": 0.4, "moustache": 0.4, "beard": 0.4, "shirt": 0.8}
"""The share of faces that have a part, if not all have it."""


def _parts() -> dict[str, np.ndarray]:
    """One image for each part, between 0 and 1."""
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    x = np.abs(x - WIDTH / 2)  # faces are symmetric

    def ellipse(height: float, off: float, tall: float, wide: float) -> np.ndarray:
        distance = ((y - height) / tall) ** 2 + ((x - off) / wide) ** 2
        return 1 / (1 + np.exp(np.minimum(8 * (distance - 1), 50)))

    head = ellipse(23, 0, 19, 14)
    hair = ellipse(12, 0, 11.5, 17) * (1 - ellipse(25, 0, 15.5, 12.5))
    eyes, glasses = ellipse(21, 5.6, 1.7, 2.3), ellipse(21, 5.6, 4.2, 4.6)
    nose, mouth, moustache = ellipse(26.5, 0, 3.8, 1.9), ellipse(35.2, 0, 1.3, 5), ellipse(31.8, 0, 1.4, 5.5)
    beard = head * (y > 33) * (1 - ellipse(33.5, 0, 4.5, 8))
    bridge = np.exp(-(((y - 20.5) / 0.8) ** 2)) * (x < 1.4)
    return {
        "hair": hair,
        "ears": ellipse(23, 14.6, 4.4, 1.9),
        "brows": ellipse(15.6, 5.8, 1, 3.2),
        "eyes": eyes,
        "glasses": np.maximum(glasses - ellipse(21, 5.6, 3, 3.4), bridge),
        "nose": nose,
        "cheeks": ellipse(28.5, 7.6, 3, 2.7),
        "moustache": moustache,
        "mouth": mouth,
        "beard": beard,
        "neck": ellipse(43.5, 0, 2.6, 5.5) * (1 - head),
        "shirt": ellipse(49.5, 0, 7, 21) * (1 - ellipse(43, 0, 4.2, 7)),
    }


FACES = """Faces drawn from twelve parts in random amounts, and noise; parts and amounts are known.

Source: made here.
Licence: that of the library.
"""
