"""The pretext tasks, one file each, named by a string or a class."""

from paretognn.errors import InputError, suggest
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.feat_rec import FeatRec
from paretognn.pretext.info_nce import info_nce
from paretognn.pretext.mi_ng import MING
from paretognn.pretext.mi_nsg import MINSG
from paretognn.pretext.rep_decor import RepDecor
from paretognn.pretext.topo_rec import TopoRec

TASKS: dict[str, type[PretextTask]] = {t.name: t for t in (FeatRec, TopoRec, RepDecor, MING, MINSG)}


def task_class(name: str) -> type[PretextTask]:
    """The task of that name; `InputError` with the nearest name where there is none."""
    if name not in TASKS:
        raise InputError(f"unknown pretext task '{name}'{suggest(name, TASKS)}; known: {', '.join(TASKS)}")
    return TASKS[name]


__all__ = [
    "MING",
    "MINSG",
    "TASKS",
    "FeatRec",
    "PretextTask",
    "RepDecor",
    "TaskSettings",
    "TopoRec",
    "info_nce",
    "task_class",
]
