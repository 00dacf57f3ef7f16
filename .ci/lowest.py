"""The lowest versions that pyproject.toml allows, one a line as pip reads them.

torch stays at the pinned version: of older ones there is no build without CUDA on PyPI.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = ("torch",)


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(line.split("==") for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line)
    for requirement in project["dependencies"]:
        found = re.fullmatch(r"([A-Za-z0-9_-]+)>=([0-9.]+)", requirement)
        if found is None:
            raise SystemExit(f"pyproject.toml: '{requirement}' has no lowest version (NAME>=VERSION)")
        name, lowest = found.groups()
        print(f"{name}=={pinned[name] if name in PINNED else lowest}")


if __name__ == "__main__":
    main()
