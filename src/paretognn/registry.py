"""Components by name: the house's own, and those of other packages, found by entry point.

A package offers a component in its ``pyproject.toml``, in the group of its kind::

    [project.entry-points."paretognn.tasks"]
    laplacian = "my_package.laplacian:Laplacian"

Nothing of a package is imported until one of its names is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from paretognn.errors import InputError, suggest

T = TypeVar("T")
PREFIX = "paretognn."
_NAME = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")


class Registry(MutableMapping[str, T], Generic[T]):
    """Components of one kind by name: a mapping over the house's own and those of other packages.

    kind : what a component is, in the words of an error ("pretext task"). group : its entry points are those of
        ``paretognn.GROUP``. base : what a component is an instance of, or, with ``classes``, a subclass.

    To look one up raises `InputError`, in one line that names package and entry point, where its package cannot be
    imported or offers something else, and where two claim the name.
    """

    def __init__(
        self, kind: str, group: str, base: type, own: Iterable[tuple[str, T]], *, classes: bool = True
    ) -> None:
        self.kind, self.group, self.base, self.classes = kind, PREFIX + group, base, classes
        self._own: dict[str, T] = dict(own)
        self._loaded: dict[EntryPoint, T] = {}

    def find(self, name: object) -> T:
        """The component of that name; `InputError` with the nearest name where there is none."""
        if not isinstance(name, str) or name not in self:
            raise InputError(self.unknown(name))
        return self[name]

    def unknown(self, name: object) -> str:
        """What there is to say of a name that is not known."""
        return f"unknown {self.kind} '{name}'{suggest(name, self)}; known: {', '.join(self)}"

    def package(self, name: str) -> tuple[str, str] | None:
        """Name and version of the package that offers the component; None for one of the house's own."""
        found = self._offers().get(name)
        return None if name in self._own or not found else _package(found[0])

    def __getitem__(self, name: str) -> T:
        offers = self._offers().get(name, ())
        claims = [*(["paretognn itself"] if name in self._own else []), *map(_described, offers)]
        if len(claims) > 1:
            raise InputError(
                f"the name '{name}' of a {self.kind} is claimed by {' and by '.join(claims)}; uninstall the package "
                "whose one you do not want, or have its entry point renamed"
            )
        if name in self._own:
            return self._own[name]
        if not offers:
            raise KeyError(name)
        return self._load(offers[0])

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._offers()

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (name for name in self._offers() if name not in self._own)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, name: str, component: T) -> None:
        self._own[name] = component

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def _offers(self) -> dict[str, tuple[EntryPoint, ...]]:
        return _entry_points().get(self.group, {})

    def _load(self, entry: EntryPoint) -> T:
        if entry not in self._loaded:
            try:
                found: Any = entry.load()
            except Exception as error:  # whatever a module raises that is imported
                raise InputError(
                    f"the {self.kind} '{entry.name}' of {_described(entry)} cannot be loaded "
                    f"({type(error).__name__}: {error}); repair or uninstall the package"
                ) from None
            problem = self._problem(entry, found)
            if problem:
                raise InputError(f"the {self.kind} '{entry.name}' of {_described(entry)} {problem}")
            self._loaded[entry] = found
        return self._loaded[entry]

    def _problem(self, entry: EntryPoint, found: Any) -> str | None:
        """What is wrong with what an entry point leads to."""
        if self.classes and not (isinstance(found, type) and issubclass(found, self.base)):
            return f"is no subclass of {self.base.__module__}.{self.base.__qualname__}"
        if not self.classes and not isinstance(found, self.base):
            return f"is no instance of {self.base.__module__}.{self.base.__qualname__}"
        if not _NAME.fullmatch(entry.name):
            return "needs a name of lower-case letters and digits, joined by single '-' or '_'"
        own = getattr(found, "name", entry.name)
        return None if own == entry.name else f"calls itself '{own}'; entry point and component need one name"


@cache
def _entry_points() -> dict[str, dict[str, tuple[EntryPoint, ...]]]:
    """By group and name, those of every installed package; read from disk once a process."""
    every = entry_points()
    found: dict[str, dict[str, tuple[EntryPoint, ...]]] = {}
    for group in sorted(group for group in every.groups if group.startswith(PREFIX)):
        named = found.setdefault(group, {})
        for entry in sorted(every.select(group=group), key=lambda entry: entry.name):
            named[entry.name] = (*named.get(entry.name, ()), entry)
    return found


def _package(entry: EntryPoint) -> tuple[str, str]:
    return ("?", "?") if entry.dist is None else (entry.dist.name, entry.dist.version)


def _described(entry: EntryPoint) -> str:
    name, version = _package(entry)
    return f"the package {name} {version} (entry point {entry.group}: {entry.name} = {entry.value})"
