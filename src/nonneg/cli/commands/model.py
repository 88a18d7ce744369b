"""nonneg model: the rules of any form."""

from __future__ import annotations

from typing import Any

import click

from ..options import shell_command
from ..running import Session

_CONSTRAINTS = {
    "orthogonal": "with WᵀW = I",
    "orthogonal-rows": "with W Wᵀ = I",
    "stochastic": "with columns that sum to one",
    "stochastic-rows": "with rows that sum to one",
    "doubly-stochastic": "with rows and columns that sum to one",
    "fixed": "that is given, not learned",
}


def _constraints(function: Any) -> Any:
    for name, meaning in reversed(_CONSTRAINTS.items()):
        option = click.option(f"--{name}", name.replace("-", "_"), multiple=True, metavar="FACTOR", help=f"A factor {meaning}.")
        function = option(function)
    return function


@shell_command("model")
@click.argument("form")
@click.option("--divergence", default="euclidean", show_default=True, help="euclidean, kl, itakura-saito, … or a number.")
@_constraints
@click.option("--data", default="X", show_default=True, help="Name of the data in the form.")
@click.pass_obj
def command(session: Session, /, form: str, divergence: str, data: str, **given: tuple[str, ...]) -> None:
    """Print the objective and the update rules that follow from FORM, a product of matrices.

    \b
    Example, as it stands:
        nonneg model "W W.T X" --orthogonal W --divergence kl
    """
    from ...model import Model
    from .. import fitting

    constraints = {factor: name.replace("_", "-") for name, factors in given.items() for factor in factors}
    model = Model(form, fitting.divergence_of(divergence), constraints, data=data)
    rules = {
        name: {"rule": str(rule), "exponent": rule.exponent, "published": rule.published} for name, rule in model.rules.items()
    }
    session.result |= {"form": form, "text": str(model), "rules": rules}
    session.say(str(model))
