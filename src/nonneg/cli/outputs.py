"""Files that a command writes, checked before its work: they can be written, are none of its inputs, and differ from each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import click

PATH = click.Path(path_type=Path)
"""A file to read."""
FOLDER = click.Path(path_type=Path, file_okay=False)
"""A folder for files of the command's own, which are gone on with."""
_ENDINGS = {"page": (".html", ".htm"), "plot": (".png", ".svg", ".pdf")}


class Output(click.Path):
    """A file to write.

    Parameters
    ----------
    kind : {"file", "table", "page", "plot"}
        Kind of output, with the suffixes of its names.
    ending : str
        Ending of the default name, which begins as the name of the first input; no default name if it is empty.
    """

    def __init__(self, kind: str = "file", ending: str = "") -> None:
        super().__init__(path_type=Path)
        self.kind, self.ending = kind, ending

    def check(self, path: Path) -> None:
        """Refuse a file that could not be written after the work."""
        from ..exceptions import FileError
        from ..io import check_writable, kind_to_write

        check_writable(path)
        endings = _ENDINGS.get(self.kind)
        if endings is not None and path.suffix.lower() not in endings:
            raise FileError(f"{path}: A {self.kind} to write is called {' or '.join(f'*{ending}' for ending in endings)}.")
        if self.kind == "table":
            kind_to_write(path)


def check_outputs(
    ctx: click.Context, others: Iterable[tuple[str, Path]] = (), also_read: Iterable[tuple[str, Path]] = ()
) -> list[Path]:
    """Fill in default names of outputs, and refuse outputs that are inputs, or each other.

    Parameters
    ----------
    ctx : click.Context
    others : iterable of (label, path)
        Outputs that are no option of their own.
    also_read : iterable of (label, path)
        Inputs that are no option of their own.

    Returns
    -------
    list of Path
        All outputs.
    """
    from ..exceptions import FileError

    inputs = [found for param in ctx.command.params if param.type is PATH for found in _given(ctx, param)]
    inputs += also_read
    for param in ctx.command.params:
        if isinstance(param.type, Output) and param.type.ending and ctx.params[str(param.name)] is None:
            ctx.params[str(param.name)] = Path(f"{stem_of(inputs[0][1])}{param.type.ending}")
    outputs = []
    for param in ctx.command.params:
        if isinstance(param.type, Output):
            for label, path in _given(ctx, param):
                param.type.check(path)
                outputs.append((label, path))
    outputs += others
    refuse_inputs(outputs, inputs)
    outputs += [found for param in ctx.command.params if param.type is FOLDER for found in _given(ctx, param)]
    for (label, path), (other, second) in combinations(outputs, 2):
        if _is_same(path, second):
            raise FileError(
                f"{label} {path} and {other} {second} are one file: the second would replace the first. Give two names."
            )
    return [path for _, path in outputs]


def refuse_inputs(outputs: Iterable[tuple[str, Path]], inputs: Iterable[tuple[str, Path]]) -> None:
    """Refuse outputs that are inputs; both are labels with paths."""
    from ..exceptions import FileError

    for (label, path), (name, given) in product(outputs, inputs):
        if _replaces(path, given):
            does = "replace" if path.exists() else "become a part of"
            raise FileError(f"{label} {path} would {does} {given}, which {name} names, an input. Give another name.")


def stem_of(path: Path) -> str:
    """The name of a file or folder without its suffixes."""
    return path.resolve().name.partition(".")[0] or "model"


def _given(ctx: click.Context, param: click.Parameter) -> Iterator[tuple[str, Path]]:
    """Paths of an option or argument, with its name."""
    label = max(param.opts, key=len) if isinstance(param, click.Option) else str(param.name).upper()
    value: Any = ctx.params.get(str(param.name))
    for path in value if isinstance(value, tuple) else (value,):
        if path is not None:
            yield label, path


def _replaces(path: Path, given: Path) -> bool:
    """Whether writing a file replaces an input, or makes, or replaces, a file of a folder that is an input."""
    from ..io import kind_of

    if _is_same(path, given):
        return True
    file, folder = Path(os.path.realpath(path)), Path(os.path.realpath(given))
    return folder in file.parents and kind_of(folder).is_part(file, folder)


def _is_same(path: Path, other: Path) -> bool:
    """Whether two names are of one file, also by links, or will be."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)
