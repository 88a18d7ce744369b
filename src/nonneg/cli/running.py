"""Base of all commands: errors in one sentence, exit codes, JSON for machines, and Ctrl-C that keeps results."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import click

from .outputs import check_outputs

FAILED, INTERRUPTED = 1, 130
"""Exit codes."""


class Command(click.Command):
    """A command with ``--json`` and ``--quiet``, whose errors are sentences."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params += [
            click.Option(["--json", "as_json"], is_flag=True, help="Print the result as one JSON object, for machines."),
            click.Option(["-q", "--quiet"], is_flag=True, help="Print nothing but errors."),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, of which click would take the last in silence."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(order).items():
            if isinstance(option, click.Option) and count > 1 and not (option.multiple or option.is_flag or option.count):
                name = max(option.opts, key=len)
                raise click.UsageError(f"{name} was given {count} times, and takes one value: give it once.", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        as_json = bool(ctx.params.pop("as_json", False))
        ctx.obj = Session(as_json, bool(ctx.params.pop("quiet", False)))
        if ctx.obj.quiet:
            from ..kernels.compiler import compiling_silently

            ctx.with_resource(compiling_silently())
        try:
            try:
                ctx.obj.check_outputs(ctx)
                super().invoke(ctx)
            finally:
                ctx.obj.show()
            ctx.obj.finish()
        except KeyboardInterrupt as error:
            self._fail(ctx, str(error) or ctx.obj.left(), INTERRUPTED, as_json)
        except MemoryError as error:
            self._fail(ctx, f"There is not enough memory. {error}", FAILED, as_json)
        except OSError as error:
            text = str(error) if error.strerror is None else f"{error.filename or ''}: {error.strerror}".lstrip(": ")
            self._fail(ctx, text, FAILED, as_json)
        except (ValueError, ImportError) as error:
            if not _is_ours(error):
                raise
            self._fail(ctx, _in_words_of_the_shell(error), FAILED, as_json)

    def _fail(self, ctx: click.Context, text: str, code: int, as_json: bool) -> None:
        if as_json:
            echo(json.dumps({"error": text, "exit_code": code}, ensure_ascii=False))
        echo(f"nonneg {ctx.info_name}: {text}", err=True)
        ctx.exit(code)


def _in_words_of_the_shell(error: BaseException) -> str:
    """An error, with options as the shell has them."""
    import shlex

    from ..exceptions import ReadingError

    if not isinstance(error, ReadingError):
        return str(error)
    values = [error.value] if isinstance(error.value, str) else error.value
    return f"{error.text}: {' '.join(f'--{error.option} {shlex.quote(value)}' for value in values)}"


def _is_ours(error: BaseException) -> bool:
    """Whether an error is about the input, rather than a fault of the library."""
    from ..exceptions import DataError, ExpressionError, FileError, IncompatibleError, ShapeError

    is_named = isinstance(error, DataError | ExpressionError | FileError | IncompatibleError | ShapeError | ImportError)
    return is_named or type(error) is ValueError


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """Print a line.

    A log that cannot be written, and a result whose reader has closed the pipe, are no errors; a result that is lost otherwise is.
    """
    try:
        click.echo(legible(text), nl=nl, err=err)
    except OSError as error:
        silence(sys.stderr if err else sys.stdout)
        if not err and not isinstance(error, BrokenPipeError):
            raise OSError(f"Standard output cannot be written: {error.strerror or error}.") from error


_ILLEGIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, by which names could steer a terminal; marks of direction; bytes of names that are not UTF-8."""


def legible(text: str) -> str:
    """Escape characters that would steer the terminal, or cannot be encoded, as JSON does."""
    return _ILLEGIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def silence(stream: Any) -> None:
    """Let a stream go nowhere from now on."""
    with suppress(OSError, AttributeError):  # streams that are no files have no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Session:
    """One run of a command: its output and its progress."""

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet
        self.began = time.perf_counter()
        self.result: dict[str, Any] = {}
        self.lines: list[str] = []
        self.written: dict[str, str] = {}
        self.replaced: set[Path] = set()
        self.interrupted = False
        self.unfinished: set[int] = set()

    def say(self, line: str) -> None:
        """A line of the result, for people; it is printed once the files are written, whoever reads it."""
        if not self.as_json and not self.quiet:
            self.lines.append(line)

    def show(self) -> None:
        """Print the lines of the result."""
        lines, self.lines = self.lines, []
        for line in lines:
            echo(line)

    def warn(self, line: str) -> None:
        """A line about something to know, on standard error."""
        if not self.quiet:
            echo(line, err=True)

    def note(self, text: str) -> None:
        """Warn, on standard error, in the result for machines, and on the page."""
        self.warn(f"Warning: {text}")
        self.result["warnings"] = [*self.result.get("warnings", ()), text]

    def phase(self, text: str) -> None:
        """Print the current step on standard error, for people."""
        if not self.as_json and not self.quiet:
            echo(text, err=True)

    def check_outputs(self, ctx: click.Context) -> None:
        """Refuse, before any work, outputs that cannot be written after it, or that would replace an input or each other."""
        try:
            os.getcwd()
        except FileNotFoundError:
            raise OSError("The working directory was deleted, so that no file can be named in it: go to another.") from None
        checkpoint = parsed(ctx.params.get("assignments", ())).get("checkpoint")
        others = [("--set checkpoint", Path(checkpoint))] if isinstance(checkpoint, str) else []
        table = (ctx.params.get("strata") or "").rpartition(":")[0]
        also_read = [("--strata", Path(table))] if table else []
        self.replaced = {path.resolve() for path in check_outputs(ctx, others, also_read) if path.exists()}

    def wrote(self, what: str, path: Any) -> None:
        """Note a file that is there now."""
        self.written[what] = str(path)
        replaced = ", in place of the one that was there" if Path(path).resolve() in self.replaced else ""
        self.say(f"{what:<12} {path}{replaced}")

    def left(self) -> str:
        """Results of an interrupted command."""
        if self.written:
            return f"stopped; the files written so far are whole: {', '.join(self.written.values())}."
        return "stopped before there was anything to save."

    def finish(self) -> None:
        """Print the output for machines, and exit as interrupted if it was."""
        if self.as_json:
            seconds = round(time.perf_counter() - self.began, 3)
            found = {**self.result, "files": self.written, "seconds": seconds, "interrupted": self.interrupted}
            echo(json.dumps(plain(found), ensure_ascii=False))
        if self.interrupted:
            click.get_current_context().exit(INTERRUPTED)

    @contextmanager
    def fitting(self) -> Iterator[Any]:
        """Progress on standard error. The first Ctrl-C ends a factorization at its next check, the second one the command."""
        from ..exceptions import Stopped
        from ..solve.progress import Listener, Listeners, listening
        from .progress import showing_progress

        class Unfinished(Listener):
            """Numbers of the starts that Ctrl-C has ended."""

            def ended(_, solution: Any, start: int) -> None:  # noqa: N805
                if solution.status == "stopped_by_user":
                    self.unfinished.add(start)

        try:
            with (
                nullcontext(Listener()) if self.quiet or self.as_json else showing_progress() as listener,
                listening(Listeners(listener, Unfinished())),
            ):
                yield listener
        except Stopped:
            self.interrupted = True


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not (value == value and abs(value) != float("inf")):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return getattr(value, "value", value)
    return str(value)


def parsed(assignments: tuple[str, ...]) -> dict[str, Any]:
    """Parameters given as NAME=VALUE: numbers, true, false, null, lists; anything else is text."""
    found = {}
    for assignment in assignments:
        name, mark, text = assignment.partition("=")
        if not mark or not name.isidentifier():
            raise click.BadParameter(f"{assignment!r} is not of the form NAME=VALUE.", param_hint="--set")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def shell() -> str:
    """The command as it was given."""
    import shlex

    return legible(shlex.join(["nonneg", *sys.argv[1:]]))
