"""``paretognn report``: runs as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from paretognn.cli.as_json import AsJson, print_json
from paretognn.cli.console import say, warnings_said
from paretognn.cli.out_file import check_out
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
    as_json: AsJson = False,
) -> None:
    from paretognn.report import read_run, write_report

    path = out or runs[0] / "report.html"
    for folder in runs:
        check_out(path, folder, suffixes=None)
    with warnings_said():
        read = [read_run(RunFolder(run)) for run in runs]
        for folder, run in zip(runs, read, strict=True):
            if run.judgement is None:
                say(f"{run.name}: not judged yet; the page has no scores of it until: paretognn evaluate {folder}")
        write_report(read, path)
    size = path.stat().st_size
    say(f"wrote {path}: {size / 2**20:.1f} MiB")
    if as_json:
        print_json({"page": str(path), "bytes": size, "runs": {run.name: run.judgement is not None for run in read}})
