"""A hook of mkdocs: ``<!-- include: FILE#heading -->`` becomes that section of a file of the repository, and
``<!-- include: FILE -->`` the whole file. A text stands once, where a reader of the repository looks for it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {"README.md": "index.md", "ARCHITECTURE.md": "how-it-works.md", "CONTRIBUTING.md": "extend.md"}
_INCLUDE = re.compile(r"^<!-- include: ([^#\s]+)(?:#([\w-]+))? -->$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
_LISTED = re.compile(r"- |\d+\. |\|")
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, **_: object) -> str:
    return spaced(_INCLUDE.sub(lambda found: included(found[1], found[2]), markdown))


def spaced(markdown: str) -> str:
    """With a blank line above every list and table, which mkdocs needs and a code host does not."""
    lines: list[str] = []
    fenced = False
    for line in markdown.splitlines():
        before = lines[-1] if lines else ""
        starts = _LISTED.match(line)
        if not fenced and starts and before.strip() and not before.startswith(" ") and not _LISTED.match(before):
            lines.append("")
        fenced ^= line.startswith("```")
        lines.append(line)
    return "\n".join(lines) + "\n"


def included(file: str, heading: str | None = None) -> str:
    """The text of a section without its heading, with links that hold in `docs/`. KeyError for one that is missing."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return text if file.endswith(".svg") else _LINK.sub(_link, sections(text)[heading] if heading else text)


def sections(text: str) -> dict[str, str]:
    """By the anchor of their heading, up to the next heading of the same level or above."""
    plain = _FENCE.sub(lambda found: " " * len(found[0]), text)
    headings = [(each.start(), each.end(), len(each[1]), each[2]) for each in _HEADING.finditer(plain)]
    found = {}
    for place, (_, start, level, title) in enumerate(headings):
        end = next((other[0] for other in headings[place + 1 :] if other[2] <= level), len(text))
        anchor = re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-")
        found[anchor] = text[start:end].strip() + "\n"
    return found


def _link(found: re.Match[str]) -> str:
    image, text, target, anchor = found[1], found[2], found[3], found[4] or ""
    if "://" in target:
        return found[0]
    if target.startswith("docs/"):
        return f"{image}[{text.removeprefix('docs/').removesuffix('.md')}]({target.removeprefix('docs/')}{anchor})"
    if target in PAGES:
        return f"[{text}]({PAGES[target]}{anchor})"
    return f"`{target}`" if text == target else f"{text} (`{target}` in the repository)"
