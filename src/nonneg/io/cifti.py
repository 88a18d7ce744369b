"""CIFTI-2: values at grayordinates, vertices of the cortex and voxels below it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..exceptions import FileError, needed
from .base import Source
from .gifti import colour
from .stored import check_numbers
from .table import Layout
from .vertices import Vertices

_INTENT = 504
"""Offset of the intent code in a NIfTI-2 header; those of CIFTI are from 3000 to 3099."""


class CIFTI(Vertices):
    """One map for each scalar or point of time, .dscalar.nii and .dtseries.nii; an atlas is written as .dlabel.nii."""

    name: ClassVar[str] = "CIFTI-2"
    suffixes: ClassVar[tuple[str, ...]] = (".dscalar.nii", ".dtseries.nii", ".dlabel.nii")

    def recognises(self, source: Source) -> bool:
        head = source.head
        if head[4:7] not in (b"n+2", b"ni2") or len(head) < _INTENT + 4:
            return False
        return any(3000 <= struct.unpack_from(f"{order}i", head, _INTENT)[0] < 3100 for order in "<>")

    def is_image(self, image: Any) -> bool:
        return isinstance(image, needed("nibabel", "neuro", "Reading CIFTI").Cifti2Image)

    def open(self, source: Source) -> Any:
        return needed("nibabel", "neuro", "Reading CIFTI").Cifti2Image.from_filename(source.path)

    def rows_of(self, image: Any, label: str) -> np.ndarray:
        self._brain(image, label)
        check_numbers(image.get_data_dtype(), label)
        return np.asarray(image.dataobj)

    def header_of(self, image: Any) -> np.ndarray:
        cifti2 = needed("nibabel.cifti2", "neuro", "Reading CIFTI")
        header = cifti2.Cifti2Header.from_axes((cifti2.ScalarAxis(["part"]), self._brain(image, "The image")))
        return np.frombuffer(header.to_xml(), dtype=np.uint8)

    def _brain(self, image: Any, label: str) -> Any:
        cifti2 = needed("nibabel.cifti2", "neuro", "Reading CIFTI")
        axes = [image.header.get_axis(number) for number in range(image.ndim)]
        if len(axes) != 2 or not isinstance(axes[1], cifti2.BrainModelAxis) or isinstance(axes[0], cifti2.BrainModelAxis):
            kinds = " × ".join(type(axis).__name__.removesuffix("Axis") for axis in axes)
            raise FileError(f"{label} is {kinds}; maps × brain models are needed: .dscalar.nii or .dtseries.nii.")
        return axes[1]

    def check_layout(self, layout: Layout | None) -> None:
        """Refuse tables whose features are no grayordinates."""
        super().check_layout(layout)
        assert layout is not None
        if layout.header is None or not layout.header.tobytes().lstrip().startswith((b"<?xml", b"<CIFTI")):
            raise FileError("CIFTI-2 can be written if features are grayordinates: of fits to CIFTI-2.")

    def image_of(self, layout: Layout, maps: np.ndarray, path: Path | None = None) -> Any:
        cifti2 = needed("nibabel.cifti2", "neuro", "Writing CIFTI")
        self.check_layout(layout)
        assert layout.header is not None
        parser = needed("nibabel.cifti2.parse_cifti2", "neuro", "Writing CIFTI").Cifti2Parser()
        parser.parse(string=layout.header.tobytes())
        brain = parser.header.get_axis(1)
        names = [f"part {number}" for number in range(1, len(maps) + 1)]
        name = "" if path is None else path.name.lower()
        if maps.dtype.kind in "iu" and not name.endswith((".dscalar.nii", ".dtseries.nii")):
            table = {key: (f"part {key}" if key else "none", colour(key)) for key in range(int(maps.max()) + 1)}
            rows = cifti2.LabelAxis(["atlas"], table)
        elif name.endswith(".dtseries.nii"):
            rows = cifti2.SeriesAxis(0, 1, len(maps))
        else:
            rows = cifti2.ScalarAxis(names)
        image = cifti2.Cifti2Image(maps, (rows, brain), dtype=maps.dtype)
        kinds = {cifti2.LabelAxis: "DENSE_LABELS", cifti2.SeriesAxis: "DENSE_SERIES", cifti2.ScalarAxis: "DENSE_SCALARS"}
        image.nifti_header.set_intent(f"NIFTI_INTENT_CONNECTIVITY_{kinds[type(rows)]}")
        return image
