"""``paretognn report``: runs as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from paretognn.cli.console import say
from paretognn.errors import InputError
from paretognn.training import RunFolder

NAME = "report"
HELP = """Write one self-contained HTML page on a run, or on several side by side: scores beside the controls, training
curves, which tasks conflict, a map of the nodes, nearest neighbours, time and memory.

\b
Examples:
  paretognn report runs/people
  paretognn report runs/a runs/b --out compared.html
"""


def command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, of finished runs.")],
    out: Annotated[Path | None, typer.Option(help="The page; default report.html in the first run's folder.")] = None,
) -> None:
    from paretognn.report import read_run, write_report

    path = out or runs[0] / "report.html"
    if path.is_dir():
        raise InputError(f"{path}: is a folder; --out names a file")
    read = [read_run(RunFolder(run)) for run in runs]
    for run in read:
        if run.judgement is None:
            say(f"{run.name}: not judged yet; the page has no scores of it until: paretognn evaluate")
    write_report(read, path)
    say(f"wrote {path}: {path.stat().st_size / 2**20:.1f} MiB")
