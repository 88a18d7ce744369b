"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from .outputs import FOLDER, PATH, Output
from .running import Command

__all__ = ["FOLDER", "PATH", "Registered", "file_option", "model_file", "shell_command", "together"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def shell_command(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command; its docstring is the help."""
    return click.command(name, cls=Command, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})


class Registered(click.ParamType):
    """Name in a registry of another module, imported for the help or when the command runs: the first line must not wait for it."""

    name = "name"

    def __init__(self, option: str, load: Callable[[], Mapping[str, Any]]) -> None:
        self._option, self._load = option, load

    def __getitem__(self, name: str) -> Any:
        from ..exceptions import unknown

        registry = self._load()
        if name not in registry:
            raise click.BadParameter(str(unknown(self._option.lstrip("-"), name, registry)), param_hint=self._option)
        return registry[name]

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self._load())}]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self._load() if name.startswith(incomplete)]


def models(registry: str) -> Registered:
    """Names of models in a registry of `nonneg.estimators`."""

    def load() -> Mapping[str, type]:
        from .. import estimators

        found: Mapping[str, type] = getattr(estimators, registry)
        return found

    return Registered("--model", load)


def together(*given: Decorator) -> Decorator:
    """Several options as one decorator, in their order."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(given):
            function = option(function)
        return function

    return add


def file_option(*names: str, help: str, kind: str = "file", **settings: Any) -> Decorator:  # noqa: A002
    """Option for a file to write, of a kind of `Output`."""
    return click.option(*names, type=Output(kind), help=help, **settings)


def model_file(ending: str) -> Decorator:
    """Path of the model; each command has a suffix of its own, so that none takes the file of another."""
    described = f"The model file; by default the name of the data with {ending}."
    return click.option("-o", "--out", type=Output(ending=ending), help=described)


reading = together(
    click.option("--variable", metavar="NAME", help="Which array, where a file has several (.npz, .mat, .h5ad, .h5, .zarr)."),
    click.option(
        "--mask",
        type=PATH,
        help="Which voxels to read: one NIfTI volume that is neither zero nor NaN there. By default, those of any volume.",
    ),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="A column to leave out; may be given several times."),
    click.option("--transpose", is_flag=True, help="The file has features in rows and samples in columns."),
    click.option("--features", type=PATH, help="Names of features, one a line, or in a second column: features.tsv of a .mtx."),
    click.option("--samples", type=PATH, help="Names of samples, one a line: barcodes.tsv of a .mtx."),
)
"""Options of reading a file."""
seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed gives the same result.")
assignments = click.option("--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Any other parameter, as in Python.")
missing = click.option(
    "--missing",
    type=click.Choice(["raise", "ignore"]),
    default="raise",
    show_default=True,
    help="Treatment of cells that are empty, or NaN: name the first one, or fit the others.",
)
device = click.option(
    "--device",
    metavar="NAME",
    help="Where to work: cuda, or cuda:1, is a card (PyTorch with CUDA, or CuPy); auto takes one where that is quicker.",
)
strata = click.option(
    "--strata",
    metavar="[FILE:]COLUMNS",
    help="Split halves within strata: participants.csv:sex,age/3, age in thirds; by default columns of DATA.",
)
negative = click.option(
    "--negative",
    type=click.Choice(["raise", "clip"]),
    default="raise",
    show_default=True,
    help="Treatment of cells below zero: name the first one, or take them as 0 and say how many there are.",
)
checkpoint = file_option(
    "--checkpoint", help="Write down here how far the fit is, once a minute; the same command goes on from there."
)
report = file_option("--report", kind="page", help="Write a page to look at: .html.")
