"""The command line: ``paretognn COMMAND``, one file a command.

Exit codes: 0 done; 2 the input or a setting is at fault (one line on standard error); 130 interrupted; 1 processes that
shared the work were lost, or no cell of a benchmark could be made.
"""

# No `from __future__ import annotations` here: typer reads the annotations at run time.
import ast
import errno
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from keyword import iskeyword
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from paretognn._version import __version__
from paretognn.allocator import keep_freed_memory
from paretognn.errors import InputError, NonFiniteError, WorkLostError

COMMANDS = (
    "train", "embed", "evaluate", "report", "similar", "predict-links", "classify", "cluster", "inspect", "benchmark",
    "tables", "datasets", "import",
)  # fmt: skip


def _version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


def command_line(given: list[str]) -> typer.Typer:
    """The commands. Only the module of the one that is called is imported: their libraries take seconds to load."""
    app = typer.Typer(
        name="paretognn",
        help="Node embeddings for attributed graphs: self-supervised, several pretext tasks, Pareto-reconciled.",
        epilog="Exit codes: 0 done; 2 input, a setting or a full disk at fault (one line on standard error); "
        "130 interrupted, and saved where there was something to save; 1 another process of the run was lost, "
        "or no cell of a benchmark could be made.",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_program)
    called = _completed() if COMPLETE in os.environ else given
    for name in COMMANDS:
        module = f"paretognn.cli.{name.replace('-', '_')}{'_' if iskeyword(name) else ''}"
        if name in called[:1]:
            loaded = import_module(module)
            app.command(name=loaded.NAME, help=loaded.HELP)(loaded.command)
        else:
            app.command(name=name, help=_help(module))(_not_called)
    return app


COMPLETE = "_PARETOGNN_COMPLETE"
"""Set where a shell asks for completions; the words so far are in one of the others, by the shell."""


def _completed() -> list[str]:
    text = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return text.split()[1:]


def _help(module: str) -> str:
    """The literal HELP of a command's module, without importing it."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    for line in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name) and line.targets[0].id == "HELP":
            return str(ast.literal_eval(line.value))
    raise AssertionError(f"{module} has no HELP")


def _not_called() -> None:
    """In the place of a command that is listed alone."""


def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the program itself."""


def run(given: list[str], app: typer.Typer | None = None) -> int:
    """Run the command line and return its exit code. ``app``: the `command_line` of ``given``, where it is there."""
    keep_freed_memory()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that has no ± still gets its table
    try:
        command = typer.main.get_command(app or command_line(given))
        code = command.main(given or ["--help"], prog_name="paretognn", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a reader that went away is no error
        return code if isinstance(code, int) else 0
    except (InputError, NonFiniteError) as error:
        return _fail(str(error))
    except WorkLostError as error:
        return _fail(str(error), 1)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        where = f" (see: {context.command_path} --help)" if context is not None else ""
        return _fail(error.format_message() + where)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except typer.Abort:
        # typer takes every EOFError for a prompt that was left; there are none here, but there are files.
        return _fail("a file ends before it should")
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # The reader of a pipe went away, which typer makes an exit with 1; keep the interpreter from writing to it once
        # more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory; use smaller sub-graphs (--set tasks.<task>.sampler) or --preset quick")
    except OSError as error:
        # Files are written by `paretognn.atomic`, which names them.
        unnamed = "standard output" if error.errno == errno.ENOSPC else "file"
        return _fail(f"{error.filename or unnamed}: {error.strerror or error}")


_signals: list[int] = []
_LINES = re.compile(r"\s*[\r\n]\s*")


def interrupt(number: int, frame: FrameType | None) -> None:
    """A signal's handler: KeyboardInterrupt, remembered because some libraries turn it into an error of theirs."""
    _signals.append(number)
    raise KeyboardInterrupt


def _fail(message: str, code: int = 2) -> int:
    if _signals:
        print("interrupted", file=sys.stderr)
        return 130
    with suppress(OSError):  # the code says it too
        print("error: " + _LINES.sub(" ", message.strip()), file=sys.stderr)
    return code
