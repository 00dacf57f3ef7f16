"""The public data sets by name. To add one: a reader in its own file, and a row here."""

from __future__ import annotations

from functools import partial
from typing import Any

from paretognn.datasets import airports, digits, geom_gcn, gnn_benchmark, heterophilous, linkx, ogb, planetoid, wikics
from paretognn.datasets.entry import DataSet, RawFile
from paretognn.errors import InputError, suggest

_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
_GNN_BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
_GEOM_GCN = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master"
_HETEROPHILOUS = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"
_STRUC2VEC = "https://github.com/leoribeiro/struc2vec/raw/master/graph"
_LINKX = "https://github.com/CUAI/Non-Homophily-Large-Scale/raw/master/data/facebook100"
_WIKICS = "https://github.com/pmernyei/wiki-cs-dataset/raw/master/dataset"
_OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"

_COMPONENT = "the published edge count is that of the largest connected component; the whole graph is read"
_NO_LICENCE = "no licence file in the source repository"


def _planetoid(name: str, proper: str, *sizes: int, **more: Any) -> DataSet:
    prefix = proper.lower()
    paths = [f"ind.{prefix}.{part}" for part in planetoid.PARTS]
    files = tuple(RawFile(path, f"{_PLANETOID}/{path}") for path in paths)
    read = partial(planetoid.read_planetoid, prefix=prefix)
    return DataSet(name, read, *sizes, True, "MIT", _PLANETOID, (f"Planetoid/{proper}/raw",), files, **more)


def _gnn_benchmark(name: str, folder: str, file: str, *sizes: int, **more: Any) -> DataSet:
    files = (RawFile(file, f"{_GNN_BENCHMARK}/{file}"),)
    read = partial(gnn_benchmark.read_gnn_benchmark, file=file)
    return DataSet(
        name, read, *sizes, True, "MIT", _GNN_BENCHMARK, (folder,), files, options=("binary",), in_paper=True, **more
    )


def _extra(name: str, file: str, *sizes: int, licence: str, source: str, notes: tuple[str, ...]) -> DataSet:
    read = partial(gnn_benchmark.read_gnn_benchmark, file=file)
    return DataSet(
        name, read, *sizes, True, licence, source, ("extras_npz",), (RawFile(file),), notes, options=("binary",)
    )


def _geom_gcn(name: str, folder: str, *sizes: int, prefix: str = "", indexed: bool = False, **more: Any) -> DataSet:
    prefix = prefix or name
    tables = tuple(RawFile(f, f"{_GEOM_GCN}/new_data/{prefix}/{f}") for f in (geom_gcn.NODES, geom_gcn.EDGES))
    masks = [geom_gcn.split_file(prefix, i) for i in range(10)]
    files = (*tables, *(RawFile(f, f"{_GEOM_GCN}/splits/{f}") for f in masks))
    read = partial(geom_gcn.read_geom_gcn, prefix=prefix, indexed=indexed)
    return DataSet(name, read, *sizes, False, _NO_LICENCE, _GEOM_GCN, (folder,), files, **more)


def _heterophilous(name: str, folder: str, file: str, *sizes: int, **more: Any) -> DataSet:
    files = (RawFile(file, f"{_HETEROPHILOUS}/{file}"),)
    read = partial(heterophilous.read_heterophilous, file=file)
    return DataSet(name, read, *sizes, False, "MIT", _HETEROPHILOUS, (folder,), files, **more)


def _airports(region: str, *sizes: int) -> DataSet:
    paths = airports.file_names(region)
    files = tuple(RawFile(path, f"{_STRUC2VEC}/{path}") for path in paths)
    read = partial(airports.read_airports, region=region)
    folder = f"Airports/{region}/raw"
    return DataSet(f"airports-{region}", read, *sizes, False, "MIT", _STRUC2VEC, (folder,), files)


def _facebook100(name: str, source: str, *sizes: int) -> DataSet:
    files = (RawFile("data.mat", f"{_LINKX}/{source}"),)
    return DataSet(name, linkx.read_facebook100, *sizes, False, _NO_LICENCE, _LINKX, (f"LINKX/{name}/raw",), files)


def _ogbn(short: str, split: str, *sizes: int, **more: Any) -> DataSet:
    paths = ogb.file_names(split)
    files = tuple(RawFile(path, f"{_OGB}/{short}.zip", f"{short}/{path}") for path in paths)
    read = partial(ogb.read_ogb, split=split)
    folders = (f"ogbn_{short}", f"partial/ogbn_{short}")
    return DataSet(
        f"ogbn-{short}", read, *sizes, True, **more, source=_OGB, folders=folders, files=files,
        in_paper=True, public_split_only=True,
    )  # fmt: skip


_RAW = "the raw form, with duplicate nodes; '{}-filtered' is without them"
_ENTRIES = (
    DataSet(
        "wiki-cs", wikics.read_wikics, 11701, 216123, 300, 10, True, "MIT", _WIKICS, ("WikiCS/raw",),
        (RawFile("data.json", f"{_WIKICS}/data.json"),), in_paper=True,
        notes=("published edge counts: 297,110 directed, 216,123 undirected, both with self-loops",),
    ),
    _planetoid("pubmed", "PubMed", 19717, 88651, 500, 3, in_paper=True,
               notes=("the published 88,651 edges are both directions of 44,324 pairs, and 3 self-loops",)),
    _gnn_benchmark("amazon-photo", "Amazon/Photo/raw", "amazon_electronics_photo.npz",
                   7650, 119043, 745, 8, notes=(_COMPONENT,)),
    _gnn_benchmark("amazon-computers", "Amazon/Computers/raw", "amazon_electronics_computers.npz",
                   13752, 245778, 767, 10, notes=(_COMPONENT,)),
    _gnn_benchmark("coauthor-cs", "Coauthor/CS/raw", "ms_academic_cs.npz", 18333, 81894, 6805, 15),
    _gnn_benchmark("coauthor-physics", "Coauthor/Physics/raw", "ms_academic_phy.npz", 34493, 247962, 8415, 5),
    _ogbn("arxiv", "time", 169343, 1166243, 128, 40, licence="ODC-BY"),
    _ogbn("products", "sales_ranking", 2449029, 61859140, 100, 47, licence="Amazon licence"),
    _geom_gcn("chameleon", "WikipediaNetwork/chameleon/geom_gcn/raw", 2277, 36101, 2325, 5, in_paper=True,
              notes=("the published 36,101 edges are directed, with self-loops", _RAW.format("chameleon"))),
    _geom_gcn("squirrel", "WikipediaNetwork/squirrel/geom_gcn/raw", 5201, 217073, 2089, 5, in_paper=True,
              notes=("the published 217,073 edges are directed, with self-loops", _RAW.format("squirrel"))),
    _geom_gcn("actor", "Actor/raw", 7600, 33544, 931, 5, prefix="film", indexed=True, in_paper=True,
              notes=("the file has 33,391 edge rows with repeats and self-loops, where 33,544 are published; "
                     "932 feature columns where 931 are published: the largest index is 931",)),
    _planetoid("cora", "Cora", 2708, 5278, 1433, 7),
    _planetoid("citeseer", "CiteSeer", 3327, 4552, 3703, 6),
    DataSet("digits", lambda folder: digits.read_digits(), 1797, 12340, 64, 10, True, "BSD-3-Clause", "scikit-learn"),
    _geom_gcn("texas", "WebKB/texas/raw", 183, 325, 1703, 5),
    _geom_gcn("wisconsin", "WebKB/wisconsin/raw", 251, 515, 1703, 5),
    _geom_gcn("cornell", "WebKB/cornell/raw", 183, 298, 1703, 5,
              notes=("features and labels are the same file as those of texas upstream: prefer texas or wisconsin",)),
    _heterophilous("minesweeper", "HeterophilousGraphDataset/minesweeper/raw", "minesweeper.npz", 10000, 39402, 7, 2),
    _heterophilous("chameleon-filtered", "heterophilous_npz", "chameleon_filtered.npz", 890, 8854, 2325, 5,
                   notes=("the filtered form: duplicate nodes removed",)),
    _heterophilous("squirrel-filtered", "heterophilous_npz", "squirrel_filtered.npz", 2223, 46998, 2089, 5,
                   notes=("the filtered form: duplicate nodes removed",)),
    _airports("usa", 1190, 13599, 1190, 4),
    _airports("europe", 399, 5995, 399, 4),
    _airports("brazil", 131, 1074, 131, 4),
    _facebook100("reed98", "Reed98.mat", 962, 18812, 745, 2),
    _facebook100("amherst41", "Amherst41.mat", 2235, 90954, 1193, 2),
    _facebook100("johnshopkins55", "Johns%20Hopkins55.mat", 5180, 186586, 2406, 2),
    _facebook100("cornell5", "Cornell5.mat", 18660, 790777, 4735, 2),
    _extra("facebook", "facebook_page_page.npz", 22470, 171002, 4714, 4, licence="GPL-3.0",
           source="https://github.com/benedekrozemberczki/MUSAE",
           notes=("raw binary features, not the 128 reduced ones of other loaders",)),
    _extra("wordnet", "wordnet30_synsets.npz", 117659, 183789, 6855, 45, licence="WordNet licence",
           source="https://wordnet.princeton.edu",
           notes=("synsets of WordNet 3.0 joined by their pointers; not a benchmark of the field",)),
)  # fmt: skip

DATASETS: dict[str, DataSet] = {entry.name: entry for entry in _ENTRIES}


def dataset_names() -> list[str]:
    """Every name that `load_dataset` knows, the paper's eleven first."""
    return list(DATASETS)


def dataset_entry(name: str) -> DataSet:
    """The row of a data set; `InputError` with the nearest name for an unknown one. Case and ``_`` are forgiven."""
    key = name.strip().lower().replace("_", "-")
    if key not in DATASETS:
        raise InputError(f"unknown data set '{name}'{suggest(key, DATASETS)}; `paretognn datasets` lists them all")
    return DATASETS[key]
