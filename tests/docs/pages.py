"""The fenced blocks and inline commands of the documentation, and the small tables that they are run on."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from made import make_graph

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "examples").glob("*/README.md"),
    ]
)
RUN = ("python", "sh")
SHOWN = ("text", "toml", "yaml", "json")
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<language>.*)\n(?P<text>(?s:.*?))^```$", re.MULTILINE
)
_INLINE = re.compile(r"`(paretognn (?!-)[a-z-]+ [^`]+)`")


@dataclass(frozen=True)
class Block:
    """``reason``: why it is not run, said in the source in a comment above it; None where it is run."""

    line: int
    language: str
    text: str
    reason: str | None


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(text[: found.start("language")].count("\n") + 1, found["language"], found["text"], found["reason"])
        for found in _BLOCK.finditer(text)
    ]


def inline_commands(page):
    return [shlex.split(found[1].replace("\n", " ")) for found in _INLINE.finditer(page.read_text(encoding="utf-8"))]


def commands(block):
    """Words of every line of a shell block, lines that are continued put together, comments left out."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def write_tables(folder):
    """The files that the pages speak of: people who call each other, of yesterday and of today."""
    graph = make_graph(200)
    ids = np.array([str(1000 + k) for k in range(200)])
    people = pd.DataFrame(graph.features, columns=[f"x{k}" for k in range(graph.num_features)])
    people.insert(0, "id", ids)
    people["label"] = np.array(["a", "b", "c"])[graph.labels]
    calls = pd.DataFrame(ids[graph.pairs()], columns=["source", "target"])
    people.to_csv(folder / "people.csv", index=False)
    calls.to_csv(folder / "calls.csv", index=False)
    people[["id", "label"]][:60].to_csv(folder / "known.csv", index=False)
    new = people[:3].assign(id=["2000", "2001", "2002"])
    new_calls = pd.DataFrame({"source": new["id"], "target": ids[:3]})
    new.to_csv(folder / "new.csv", index=False)
    new_calls.to_csv(folder / "new_calls.csv", index=False)
    pd.concat([people, new]).to_csv(folder / "people_today.csv", index=False)
    pd.concat([calls, new_calls]).to_csv(folder / "calls_today.csv", index=False)
