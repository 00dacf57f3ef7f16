"""The command line: ``paretognn COMMAND``, one file a command.

Exit codes: 0 done; 2 the input or a setting is at fault (one line on standard error); 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import FrameType

import typer

from paretognn.allocator import keep_freed_memory
from paretognn.errors import InputError, NonFiniteError

COMMANDS = (
    "train", "embed", "evaluate", "report", "similar", "predict-links", "classify", "cluster", "inspect", "benchmark",
    "tables", "datasets",
)  # fmt: skip


def command_line(given: list[str]) -> typer.Typer:
    """All commands, or the one that is called: the others' libraries would take seconds to load."""
    app = typer.Typer(
        name="paretognn",
        help="Node embeddings for attributed graphs: self-supervised, several pretext tasks, Pareto-reconciled.",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(lambda: None)  # keeps a single command a sub-command
    for name in given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS:
        module = import_module(f"paretognn.cli.{name.replace('-', '_')}")
        app.command(name=module.NAME, help=module.HELP)(module.command)
    return app


def run(given: list[str], app: typer.Typer | None = None) -> int:
    """Run the command line and return its exit code. ``app``: the `command_line` of ``given``, where it is there."""
    keep_freed_memory()
    try:
        command = typer.main.get_command(app or command_line(given))
        code = command.main(given or ["--help"], prog_name="paretognn", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (InputError, NonFiniteError) as error:
        return _fail(str(error))
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
    except BrokenPipeError:
        # The reader of a pipe went away; keep the interpreter from writing to it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _fail("out of memory; use smaller sub-graphs (--set tasks.<task>.sampler) or --preset quick")
    except OSError as error:
        return _fail(f"{error.filename or 'file'}: {error.strerror or error}")


_signals: list[int] = []


def interrupt(number: int, frame: FrameType | None) -> None:
    """A signal's handler: KeyboardInterrupt, remembered because some libraries turn it into an error of theirs."""
    _signals.append(number)
    raise KeyboardInterrupt


def _fail(message: str) -> int:
    if _signals:
        print("interrupted", file=sys.stderr)
        return 130
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return 2
