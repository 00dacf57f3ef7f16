"""The program: `paretognn.cli.main.run` as a process that signals can stop at any moment."""

import signal
import sys


def main() -> None:
    """Run the command line and exit. SIGTERM counts as Ctrl-C; while modules are loaded both are heard too."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        from paretognn.cli.main import run

        code = run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    # What is left are the destructors of libraries, which a late signal would turn into a traceback.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


if __name__ == "__main__":
    main()
