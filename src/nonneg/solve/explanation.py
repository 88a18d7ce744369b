"""Explanations of fits: lines of text, and the cost of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Took:
    """What a stage of a fit took.

    Attributes
    ----------
    seconds : float
    iterations : int, optional
        None for a stage that only looked for a start.
    passes : int, optional
        Passes over data out of core.
    """

    seconds: float
    iterations: int | None = None
    passes: int | None = None

    def __str__(self) -> str:
        counts = ((self.iterations, "iteration"), (self.passes, "pass"))
        parts = [f"{count} {_plural(name, count)}" for count, name in counts if count is not None]
        return ", ".join([*parts, f"{self.seconds:.2g} s"])


@dataclass(frozen=True)
class Step:
    """One line of an explanation: the start, or the descent.

    Attributes
    ----------
    name : str
    text : str
    why : str
        The reason.
    took : Took, optional
        After a fit.
    """

    name: str
    text: str
    why: str = ""
    took: Took | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Explanation:
    """How a fit is done, in lines for people; `str` gives them all.

    Attributes
    ----------
    data : str
        Shape, storage and place of X.
    solved : str
        The model.
    first_pass : str
        What the first pass over X collects.
    steps : tuple of Step
        The stages.
    memory : str
        Peak memory beyond X.
    passes : str
        Passes over X.
    note : str
        A remark on the model.
    """

    data: str
    solved: str
    first_pass: str
    steps: tuple[Step, ...]
    memory: str
    passes: str
    note: str = ""

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """Name, text and reason of each line; after a fit the text ends with what the stage took."""
        stages = [
            (f"{number} {step.name}", step.text if step.took is None else f"{step.text}: {step.took}", step.why)
            for number, step in enumerate(self.steps, 1)
        ]
        head = [("X", self.data, ""), ("solved", self.solved, self.note), ("first pass", self.first_pass, "")]
        return [*head, *stages, ("memory", self.memory, ""), ("passes", self.passes, "")]

    def __str__(self) -> str:
        width = max(len(name) for name, *_ in self.lines) + 2
        return "\n".join(f"{name:{width}}{text}{f'  ({why})' if why else ''}" for name, text, why in self.lines)

    def with_took(self, took: Sequence[Took]) -> Explanation:
        """The explanation after a fit."""
        steps = [replace(step, took=one) for step, one in zip(self.steps, took, strict=True)]
        return replace(self, steps=tuple(steps))


def _plural(name: str, count: int) -> str:
    return name if count == 1 else f"{name}es" if name.endswith("s") else f"{name}s"
