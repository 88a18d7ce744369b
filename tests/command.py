"""The command `nonneg` in this process."""

import inspect
import sys

import pytest


def invoke(*arguments):
    """Run a command; its result, with standard output and standard error apart: click 8.1 mixes them unless told not to."""
    from click.testing import CliRunner

    from nonneg.cli.app import app

    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    given = [str(argument) for argument in arguments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["nonneg", *given])
        done = CliRunner(**apart).invoke(app, given, prog_name="nonneg")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done
