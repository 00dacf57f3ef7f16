"""The program: `paretognn.cli.main.run` as a process that signals can stop at any moment."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Run the command line and exit. SIGTERM counts as Ctrl-C."""
    _on_signals(_leave)
    from paretognn.cli.main import command_line, interrupt, run

    given = sys.argv[1:]
    app = command_line(given)
    try:
        _on_signals(interrupt)
        code = run(given, app)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    # What is left are the destructors of libraries, which a late signal would turn into a traceback.
    _on_signals(signal.SIG_IGN)
    sys.exit(code)


def _on_signals(handler: signal._HANDLER) -> None:
    for number in _SIGNALS:
        signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    """While modules are loaded nothing can be lost, and some libraries swallow an exception raised meanwhile."""
    os.write(2, b"interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
