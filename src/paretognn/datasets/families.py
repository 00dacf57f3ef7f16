"""Rows of the registry by the collection they come from: one function for each layout of raw files."""

from __future__ import annotations

from functools import partial
from typing import Any

from paretognn.datasets import airports, geom_gcn, gnn_benchmark, heterophilous, linkx, ogb, planetoid
from paretognn.datasets.entry import DataSet, Published, RawFile

_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
_GNN_BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
_GEOM_GCN = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master"
_HETEROPHILOUS = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"
_STRUC2VEC = "https://github.com/leoribeiro/struc2vec/raw/master/graph"
_LINKX = "https://github.com/CUAI/Non-Homophily-Large-Scale/raw/master/data/facebook100"
WIKICS = "https://github.com/pmernyei/wiki-cs-dataset/raw/master/dataset"
_OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"

NO_LICENCE = "no licence file in the source repository"


def planetoid_row(name: str, proper: str, *sizes: int, **more: Any) -> DataSet:
    prefix = proper.lower()
    paths = [f"ind.{prefix}.{part}" for part in planetoid.PARTS]
    return DataSet(
        name=name,
        read=partial(planetoid.read_planetoid, prefix=prefix),
        published=Published(*sizes),
        homophilous=True,
        licence="MIT",
        source=_PLANETOID,
        folders=(f"Planetoid/{proper}/raw",),
        files=tuple(RawFile(path, f"{_PLANETOID}/{path}") for path in paths),
        **more,
    )


def gnn_benchmark_row(
    name: str, folder: str, file: str, *sizes: int, licence: str = "MIT", source: str = "", **more: Any
) -> DataSet:
    return DataSet(
        name=name,
        read=partial(gnn_benchmark.read_gnn_benchmark, file=file),
        published=Published(*sizes),
        homophilous=True,
        licence=licence,
        source=source or _GNN_BENCHMARK,
        folders=(folder,),
        files=(RawFile(file, None if source else f"{_GNN_BENCHMARK}/{file}"),),
        options=("binary",),
        **more,
    )


def geom_gcn_row(name: str, folder: str, *sizes: int, prefix: str = "", indexed: bool = False, **more: Any) -> DataSet:
    prefix = prefix or name
    tables = [RawFile(f, f"{_GEOM_GCN}/new_data/{prefix}/{f}") for f in (geom_gcn.NODES, geom_gcn.EDGES)]
    splits = [geom_gcn.split_file(prefix, i) for i in range(10)]
    return DataSet(
        name=name,
        read=partial(geom_gcn.read_geom_gcn, prefix=prefix, indexed=indexed),
        published=Published(*sizes),
        homophilous=False,
        licence=NO_LICENCE,
        source=_GEOM_GCN,
        folders=(folder,),
        files=(*tables, *(RawFile(f, f"{_GEOM_GCN}/splits/{f}") for f in splits)),
        **more,
    )


def heterophilous_row(name: str, folder: str, *sizes: int, **more: Any) -> DataSet:
    file = name.replace("-", "_") + ".npz"
    return DataSet(
        name=name,
        read=partial(heterophilous.read_heterophilous, file=file),
        published=Published(*sizes),
        homophilous=False,
        licence="MIT",
        source=_HETEROPHILOUS,
        folders=(folder,),
        files=(RawFile(file, f"{_HETEROPHILOUS}/{file}"),),
        **more,
    )


def airports_row(region: str, *sizes: int) -> DataSet:
    return DataSet(
        name=f"airports-{region}",
        read=partial(airports.read_airports, region=region),
        published=Published(*sizes),
        homophilous=False,
        licence="MIT",
        source=_STRUC2VEC,
        folders=(f"Airports/{region}/raw",),
        files=tuple(RawFile(path, f"{_STRUC2VEC}/{path}") for path in airports.file_names(region)),
    )


def facebook100_row(name: str, source: str, *sizes: int) -> DataSet:
    return DataSet(
        name=name,
        read=linkx.read_facebook100,
        published=Published(*sizes),
        homophilous=False,
        licence=NO_LICENCE,
        source=_LINKX,
        folders=(f"LINKX/{name}/raw",),
        files=(RawFile("data.mat", f"{_LINKX}/{source}"),),
    )


def ogbn_row(short: str, split: str, *sizes: int, **more: Any) -> DataSet:
    paths = ogb.file_names(split)
    return DataSet(
        name=f"ogbn-{short}",
        read=partial(ogb.read_ogb, split=split),
        published=Published(*sizes),
        homophilous=True,
        source=_OGB,
        folders=(f"ogbn_{short}", f"partial/ogbn_{short}"),
        files=tuple(RawFile(path, f"{_OGB}/{short}.zip", f"{short}/{path}") for path in paths),
        in_paper=True,
        public_split_only=True,
        **more,
    )
