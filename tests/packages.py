"""Packages that offer components, laid out as pip installs them, without pip."""

import sys
import tomllib
from pathlib import Path

from paretognn import registry

EXAMPLE = Path(__file__).parents[1] / "examples" / "paretognn-example"


def lay_out(folder, name, entry_points, version="0.1.0", modules=None):
    """``entry_points``: by group, lines "name = value"; ``modules``: source by file name."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    text = "".join(f"[{group}]\n" + "\n".join(lines) + "\n" for group, lines in entry_points.items())
    (info / "entry_points.txt").write_text(text)
    for file, source in (modules or {}).items():
        (folder / file).write_text(source)


def lay_out_example(folder):
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    offered = {group: [f"{k} = {v}" for k, v in lines.items()] for group, lines in project["entry-points"].items()}
    lay_out(folder, project["name"], offered, project["version"])
    (folder / "paretognn_example").symlink_to(EXAMPLE / "src" / "paretognn_example")


class Installed:
    """Folders of packages on the path, as long as a test runs."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch
        self.folders = ()

    def __call__(self, *folders):
        self.folders = folders
        for folder in folders:
            self.monkeypatch.syspath_prepend(str(folder))
        registry._entry_points.cache_clear()

    def removed(self):
        self.monkeypatch.undo()
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(tuple(map(str, self.folders))):
                del sys.modules[name]
        registry._entry_points.cache_clear()
