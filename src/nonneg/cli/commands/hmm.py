"""nonneg hmm: a hidden Markov chain from sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import PATH, assignments, file_option, model_file, report, seed, shell_command
from ..running import Session


@shell_command("hmm")
@click.argument("sequences", type=PATH)
@click.option("-k", "--states", type=click.IntRange(1), required=True, help="How many hidden states.")
@click.option("--method", type=click.Choice(["qnmf", "nnmf"]), default="qnmf", show_default=True, help="Which factorization.")
@click.option(
    "--symbols",
    type=click.Choice(["auto", "characters", "words"]),
    default="auto",
    show_default=True,
    help="Symbols of a line; auto takes words if a line has spaces in it.",
)
@click.option("--pairs", is_flag=True, help="The file is a square table: how often each symbol follows each.")
@seed
@assignments
@model_file(".hmm.nonneg")
@file_option("--decoded", help="Write the likeliest states, a line a sequence, counted from 1: .txt")
@report
@click.pass_obj
def command(session: Session, /, sequences: Path, states: int, method: str, **given: Any) -> None:
    """Learn a hidden Markov chain from SEQUENCES, text with one a line.

    Symbols are characters, or words between spaces or commas. Tables of measurements are refused: put these into classes first.

    \b
    Example, as it stands:
        nonneg datasets chain -o chain.txt
        nonneg hmm chain.txt --states 3 -o chain.nonneg

    Ctrl-C ends the fit at its next check: the best chain so far is written, and the exit code is 130.
    """
    from ... import hmm
    from ...estimators.storing import write_model
    from ...io import written_whole
    from .. import fitting, inputs

    out = given["out"]
    if given["pairs"] and given["decoded"]:
        raise click.UsageError("--decoded needs sequences, and --pairs are counts of pairs.")
    cls = hmm.QNMFHMM if method == "qnmf" else hmm.NNMFHMM
    estimator = fitting.made(cls, {"n_states": states, "random_state": given["seed"]}, given["assignments"])
    session.phase(f"Reading {sequences}")
    if given["pairs"]:
        table = inputs.read_table([sequences])
        fitting.fitted(session, estimator, table.values, table.features, method="fit_pairs")
    else:
        lines = inputs.read_sequences(sequences, given["symbols"], session)
        fitting.fitted(session, estimator, lines)
        session.result["log_likelihood"] = estimator.score(lines)
    session.result |= {"transitions": estimator.transmat_, "stationary": estimator.startprob_}
    fitting.describe(session, estimator)
    for number, row in enumerate(estimator.transmat_, start=1):
        top = sorted(zip(estimator.emissionprob_[number - 1], map(str, estimator.symbols_), strict=True), reverse=True)[:6]
        likely = " ".join(f"{symbol} {share:.2f}" for share, symbol in top if share > 0)
        session.say(f"{f'state {number}':<12} to {' '.join(f'{p:.2f}' for p in row)}; emits {likely}")
    about = fitting.about_of(session, [sequences], None)
    write_model(estimator, out, about)
    session.wrote("model file", out)
    if given["decoded"]:
        with written_whole(given["decoded"]) as unfinished:
            decoded = estimator.predict(lines)
            unfinished.write_text("".join(" ".join(str(state + 1) for state in one) + "\n" for one in decoded), encoding="utf8")
        session.wrote("decoded", given["decoded"])
    if given["report"]:
        from ...report import write_report

        write_report(estimator, given["report"], about=about)
        session.wrote("report", given["report"])
