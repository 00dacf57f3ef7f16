"""A table as Markdown, LaTeX (booktabs) and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MISSING = "-"


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table, unescaped.

    place : 1 is set bold, 2 underlined. marks : of the table's notes.
    """

    text: str = MISSING
    deviation: str | None = None
    place: int = 0
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Rows of entries under column names.

    name : of its files. notes : text by mark. names : how many columns at the left hold text, not numbers.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    caption: str
    notes: dict[str, str]
    names: int = 1


_WIDEST = 60
"""Columns of Markdown are aligned up to this width."""
_LONGEST = 40
"""Rows of LaTeX that are sure to fit on a page."""


def markdown(table: Table) -> str:
    """A heading, a pipe table, the caption, the notes."""
    lines = [[_md(name) for name in table.columns], *([_md_entry(e) for e in row] for row in table.rows)]
    widths = [min(_WIDEST, max(3, *(len(line[i]) for line in lines))) for i in range(len(table.columns))]
    aligned = [
        " | ".join(
            text.ljust(width) if i < table.names else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    rule = " | ".join(
        "-" * width if i < table.names else "-" * (width - 1) + ":" for i, width in enumerate(widths)
    )  # fmt: skip
    body = [f"| {line} |" for line in (aligned[0], rule, *aligned[1:])]
    notes = [f"- <sup>{mark}</sup> {_md(text)}" for mark, text in table.notes.items()]
    return "\n".join(
        [f"## {_md(table.title)}", "", *body, "", _md(table.caption), *([""] if notes else []), *notes, ""]
    )


def latex(table: Table) -> str:
    """A floating table, for the packages booktabs and graphicx; one wider than the text is made as wide. One that is
    longer than a page is a `longtable`, which does not float and keeps its width."""
    lines = [[_tex(name) for name in table.columns], *([_tex_entry(e) for e in row] for row in table.rows)]
    head, *body = (_tex_line(line) for line in lines)
    alignment = "l" * table.names + "r" * (len(table.columns) - table.names)
    notes = [rf"\par\footnotesize\textsuperscript{{{_tex(m)}}} {_tex(text)}" for m, text in table.notes.items()]
    caption = rf"\caption{{{_tex(table.title)}. {_tex(table.caption)}}}"
    label = rf"\label{{tab:{table.name}}}"
    if len(body) > _LONGEST:
        return "\n".join(
            [
                "% needs the packages booktabs and longtable",
                r"\begingroup\footnotesize\setlength{\tabcolsep}{4pt}\setlength{\LTcapwidth}{\linewidth}",
                rf"\begin{{longtable}}{{{alignment}}}",
                *(caption, label + r" \\", r"\toprule", head, r"\midrule", r"\endfirsthead"),
                *(r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"),
                *body,
                r"\end{longtable}",
                *notes,
                r"\par\endgroup",
                "",
            ]
        )
    return "\n".join(
        [
            "% needs the packages booktabs and graphicx",
            r"\begin{table}[t]",
            r"\centering",
            caption,
            label,
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{alignment}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}}",
            *notes,
            r"\end{table}",
            "",
        ]
    )


def comma_separated(table: Table) -> str:
    """Plain numbers, empty where missing; deviations in columns of their own, notes written out in the last."""
    deviates = [any(row[i].deviation is not None for row in table.rows) for i in range(len(table.columns))]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")

    def line(cells: list[tuple[str, str]], notes: str) -> None:
        flat = [text for pair, both in zip(cells, deviates, strict=True) for text in (pair if both else pair[:1])]
        writer.writerow(flat + ([notes] if table.notes else []))

    line([(name, f"{name} deviation") for name in table.columns], "notes")
    for row in table.rows:
        cells = [("" if e.text == MISSING else e.text, e.deviation or "") for e in row]
        marks = [f"{name}: {table.notes[m]}" for name, e in zip(table.columns, row, strict=True) for m in e.marks]
        line(cells, "; ".join(marks))
    return file.getvalue()


FORMATS: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "csv": comma_separated}
"""How a table is written, by the suffix of its file."""


_MD_SPECIAL = re.compile(r"[\\`*<|~$]|(?<!\w)_|_(?!\w)|\[(?=[^\]]*\][(\[])|&(?=#?\w+;)")
"""What Markdown would not print as it stands; an underscore inside a word and a lone bracket are printed."""


def _md(text: str) -> str:
    return _MD_SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def _md_entry(entry: Entry) -> str:
    text = _md(entry.text)
    text = {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(entry.place, text)
    if entry.deviation is not None:
        text += f"<sub>±{entry.deviation}</sub>"
    return text + (f"<sup>{' '.join(entry.marks)}</sup>" if entry.marks else "")


_TEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "±": r"$\pm$", "×": r"$\times$", "†": r"\dag{}", "‡": r"\ddag{}", "§": r"\S{}", "¶": r"\P{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, char) for char in " ".join(text.split()))


def _tex_line(cells: Sequence[str]) -> str:
    line = " & ".join(cells) + r" \\"
    # The end of the line before would take a bracket for its option, and a star for its own.
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _tex_entry(entry: Entry) -> str:
    text = _tex(entry.text)
    text = {1: rf"\textbf{{{text}}}", 2: rf"\underline{{{text}}}"}.get(entry.place, text)
    if entry.deviation is not None:
        text += rf"$_{{\pm {entry.deviation}}}$"
    return text + (rf"\textsuperscript{{{_tex(' '.join(entry.marks))}}}" if entry.marks else "")
