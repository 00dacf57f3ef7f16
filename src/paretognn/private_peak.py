"""What memory a piece of work has to itself, told from pages of files that it maps."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from pathlib import Path


class PrivatePeak:
    """The most memory that this process had to itself, and the most pages of mapped files beside it, while the context
    was open. Pages of files are the system's to drop: they are no need of the program's.

    Looked at ten times a second; nothing is known where the system is not Linux.
    """

    def __init__(self, every: float = 0.1) -> None:
        self.every = every
        self.private = self.mapped = 0

    def __enter__(self) -> PrivatePeak:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(self.every):
            self._look()

    def _look(self) -> None:
        with suppress(OSError):
            found = dict(re.findall(r"^(Rss\w+):\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE))
            self.private = max(self.private, int(found.get("RssAnon", 0)) * 1024)
            self.mapped = max(self.mapped, int(found.get("RssFile", 0)) * 1024)

    def to_json(self) -> dict[str, int]:
        return {"private_bytes": self.private, "mapped_bytes": self.mapped}

    def __str__(self) -> str:
        if not self.private:
            return "peak memory is not known on this system"
        return f"peak memory {self.private / 2**30:.2f} GiB, and {self.mapped / 2**30:.2f} GiB of mapped files"
