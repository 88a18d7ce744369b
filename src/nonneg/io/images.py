"""Folders of images of one size, and archives of them: one sample each, in grey levels."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..exceptions import FileError, needed
from ..kernels.memory import refuse_too_large
from .base import Kind, Source, Wanted, is_sidecar, refuse_link
from .table import Layout, Table
from .zipped import opened

_BEGINNINGS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"P5\n", b"P5 ", b"P2\n", b"P6\n")
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM")
"""Formats that Pillow may recognise; others start other programs, as EPS starts Ghostscript."""
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".pgm", ".ppm")


class Images(Kind):
    """Pictures, 0 for black and 1 for white."""

    name: ClassVar[str] = "images"
    suffixes: ClassVar[tuple[str, ...]] = (*_ENDINGS, ".zip")
    begins: ClassVar[tuple[bytes, ...]] = _BEGINNINGS
    several: ClassVar[bool] = True
    writes: ClassVar[bool] = False

    def recognises(self, source: Source) -> bool:
        return super().recognises(source) or (source.head.startswith(b"PK") and source.name.endswith(".zip"))

    def holds(self, folder: Path) -> bool:
        return True

    def is_part(self, file: Path, folder: Path) -> bool:
        return file.parent == folder and _is_image(file.name)

    def read(self, sources: Sequence[Source], wanted: Wanted) -> Table:
        pillow = needed("PIL.Image", "files", "Reading images")
        pictures: list[np.ndarray] = []
        names: list[str] = []
        for label, name, content in _contents(sources):
            picture = _grey(pillow, content, label, len(pictures))
            if pictures and picture.shape != pictures[0].shape:
                raise FileError(
                    f"{label} has {picture.shape[0]} × {picture.shape[1]} pixels, and the images before it "
                    f"{pictures[0].shape[0]} × {pictures[0].shape[1]}: images have to be of one size."
                )
            pictures.append(picture)
            names.append(name)
        if not pictures:
            raise FileError(f"{sources[0].label} has no images in it ({', '.join(_ENDINGS)}){_other_files(sources[0].path)}.")
        return Table(np.stack([picture.ravel() for picture in pictures]), samples=names, layout=Layout(pictures[0].shape))


def _is_image(name: str) -> bool:
    """Whether a name is that of an image; names that begin with a dot are of systems and unfinished writers."""
    return name.lower().endswith(_ENDINGS) and not name.startswith(".")


def _images_among(names: Iterable[str], label: str) -> list[str]:
    """The names of images, in order; hidden files and sidecars aside, those of other kinds beside images are refused."""
    names = sorted(names)
    images = [name for name in names if _is_image(Path(name).name)]
    others = [name for name in names if not (_is_image(Path(name).name) or is_sidecar(Path(name).name))]
    if images and others:
        more = f" and {len(others) - 1} more that are none" if len(others) > 1 else ""
        raise FileError(
            f"{label} holds {others[0]}, which is no image ({', '.join(_ENDINGS)}){more}. Move the others, or list the images."
        )
    return images


def _other_files(folder: Path) -> str:
    """The content of a folder without images, in words."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return f"; it has {', '.join(names[:3])}{', …' if len(names) > 3 else ''}" if names else ""


def _contents(sources: Sequence[Source]) -> Any:
    """Of each image: its name in errors, its name, and its bytes."""
    for source in sources:
        if source.path.is_dir():
            inside = {path.name: path for path in source.path.iterdir()}
            for name in _images_among(inside, f"The folder {source.label}"):
                if inside[name].is_file():
                    refuse_link(inside[name])
                    yield str(inside[name]), inside[name].stem, inside[name].read_bytes()
        elif source.head.startswith(b"PK"):
            with opened(source.path, source.label) as archive:
                files = [name for name in archive.namelist() if not name.endswith("/")]
                for name in _images_among(files, source.label):
                    yield f"{source.label}, {name}", Path(name).stem, archive.read(name)
        else:
            yield source.label, source.path.stem, source.path.read_bytes()


def _grey(pillow: Any, content: bytes, label: str, others: int) -> np.ndarray:
    """Grey levels of an image, if there is room for it and for the table of it and others of its size."""
    try:
        with pillow.open(io.BytesIO(content), formats=_FORMATS) as picture:
            if picture.width * picture.height > (pillow.MAX_IMAGE_PIXELS or 1 << 62):
                raise FileError(f"{label} has {picture.width} × {picture.height} pixels, more than are read here.")
            refuse_too_large(8 * picture.width * picture.height * (others + 2), label)
            largest = 65535.0 if picture.mode.startswith("I;16") or picture.mode == "I" else 255.0
            grey = picture if picture.mode in ("L", "F") or largest > 255 else picture.convert("L")
            values = np.asarray(grey, dtype=np.float64)
    except (FileError, MemoryError):
        raise
    except pillow.UnidentifiedImageError as error:
        raise FileError(f"{label} is no image of {', '.join(_FORMATS)}, although it is called one.") from error
    except Exception as error:  # Pillow raises many
        raise FileError(f"{label} is not a whole image: {error}. It was cut off or altered.") from error
    return values / largest
