"""Commands that are stopped at random moments and called again end as ones that were never stopped.

By ``benchmarks/kills.py``: a few moments here; all methods and more of them where PARETOGNN_KILLS says how many.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOMENTS = int(os.environ.get("PARETOGNN_KILLS", "0"))
ALL = "paretognn,bgrl,autossl,autossl-es,paretomtl-mi-ng,mvgrl,random-weights"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which this system cannot")
@pytest.mark.parametrize(
    ("kinds", "methods", "signals"),
    [("train", "bgrl,autossl-es", "INT,TERM,KILL"), ("evaluate", "paretognn", "KILL")],
)
def test_what_was_stopped_and_called_again_ends_to_the_same_bytes(kinds, methods, signals):
    if "autossl-es" in methods:
        pytest.importorskip("cma")
    words = ["--kinds", kinds, "--methods", ALL if MOMENTS else methods, "--moments", str(MOMENTS or 2)]
    words += ["--signals", signals]
    command = [sys.executable, str(ROOT / "benchmarks" / "kills.py"), *words]
    own = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout + done.stderr
    assert {row["signal"] for row in found} == {f"SIG{name}" for name in signals.split(",")}
    assert all(row["hits"] == (MOMENTS or 2) and row["equal"] == row["ended"] > 0 for row in found)
