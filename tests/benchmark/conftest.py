import pytest

from benchmark.printed import parsed
from benchmark.stores import store_of
from paretognn.cli.tables import command


@pytest.fixture
def tables(tmp_path, capsys):
    """Store cells, run the command, and give its tables: title -> (header, rows by first cells, text below)."""

    def run(*cells, **options):
        store_of(tmp_path / "store", *cells)
        command(tmp_path / "store", **{"out": None, "preset": None, "steps": None} | options)
        return parsed(capsys.readouterr().out)

    return run
