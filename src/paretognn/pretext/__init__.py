"""The pretext tasks, one file each, named by a string or a class."""

from torch import nn

from paretognn.errors import InputError
from paretognn.pretext.base import PretextTask, TaskSettings
from paretognn.pretext.bgrl import BGRL
from paretognn.pretext.feat_rec import FeatRec
from paretognn.pretext.info_nce import info_nce
from paretognn.pretext.mi_ng import MING
from paretognn.pretext.mi_nsg import MINSG
from paretognn.pretext.mvgrl import MVGRL
from paretognn.pretext.node_pairs import PairDistance, PairSimilarity
from paretognn.pretext.pseudo_labels import FeatureClusters, GraphParts
from paretognn.pretext.rep_decor import RepDecor
from paretognn.pretext.topo_rec import TopoRec
from paretognn.registry import Registry

PAPER: tuple[type[PretextTask], ...] = (FeatRec, TopoRec, RepDecor, MING, MINSG)
"""The five of ParetoGNN; the others belong to the methods it is compared with."""
_OTHERS: tuple[type[PretextTask], ...] = (BGRL, MVGRL, FeatureClusters, GraphParts, PairSimilarity, PairDistance)
TASKS: Registry[type[PretextTask]] = Registry(
    "pretext task", "tasks", PretextTask, ((task.name, task) for task in (*PAPER, *_OTHERS))
)


def task_class(name: str) -> type[PretextTask]:
    """The task of that name; `InputError` with the nearest name where there is none."""
    found = TASKS.find(name)
    if hasattr(nn.ModuleDict, name):
        raise InputError(f"a pretext task cannot be called '{name}': torch's ModuleDict has a method of that name")
    return found


__all__ = [
    "BGRL",
    "MING",
    "MINSG",
    "MVGRL",
    "PAPER",
    "TASKS",
    "FeatRec",
    "FeatureClusters",
    "GraphParts",
    "PairDistance",
    "PairSimilarity",
    "PretextTask",
    "RepDecor",
    "TaskSettings",
    "TopoRec",
    "info_nce",
    "task_class",
]
