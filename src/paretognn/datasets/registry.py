"""The public data sets by name. To add one: a reader in its own file, and a row here, or an entry point."""

from __future__ import annotations

from paretognn.datasets import digits, wikics
from paretognn.datasets.entry import DataSet, Published, RawFile
from paretognn.datasets.families import (
    WIKICS,
    airports_row,
    facebook100_row,
    geom_gcn_row,
    gnn_benchmark_row,
    heterophilous_row,
    ogbn_row,
    planetoid_row,
)
from paretognn.errors import InputError, suggest
from paretognn.registry import Registry

_COMPONENT = "the published edge count is that of the largest connected component; the whole graph is read"
_DIRECTED = "the published edge count is of directed edges, with self-loops"
_RAW = "the raw form, with duplicate nodes; '{}-filtered' is without them"
_FILTERED = "the filtered form: duplicate nodes removed"

_ENTRIES = (
    DataSet(
        "wiki-cs", wikics.read_wikics, Published(11701, 216123, 300, 10), True, "MIT", WIKICS,
        ("WikiCS/raw",), (RawFile("data.json", f"{WIKICS}/data.json"),), in_paper=True,
        notes=("published edge counts: 297,110 directed, 216,123 undirected, both with self-loops",),
    ),
    planetoid_row("pubmed", "PubMed", 19717, 88651, 500, 3, in_paper=True,
                  notes=("the published 88,651 edges are both directions of each pair, and 3 self-loops",)),
    gnn_benchmark_row("amazon-photo", "Amazon/Photo/raw", "amazon_electronics_photo.npz",
                      7650, 119043, 745, 8, in_paper=True, notes=(_COMPONENT,)),
    gnn_benchmark_row("amazon-computers", "Amazon/Computers/raw", "amazon_electronics_computers.npz",
                      13752, 245778, 767, 10, in_paper=True, notes=(_COMPONENT,)),
    gnn_benchmark_row("coauthor-cs", "Coauthor/CS/raw", "ms_academic_cs.npz",
                      18333, 81894, 6805, 15, in_paper=True),
    gnn_benchmark_row("coauthor-physics", "Coauthor/Physics/raw", "ms_academic_phy.npz",
                      34493, 247962, 8415, 5, in_paper=True),
    ogbn_row("arxiv", "time", 169343, 1166243, 128, 40, licence="ODC-BY"),
    ogbn_row("products", "sales_ranking", 2449029, 61859140, 100, 47, licence="Amazon licence"),
    geom_gcn_row("chameleon", "WikipediaNetwork/chameleon/geom_gcn/raw", 2277, 36101, 2325, 5,
                 in_paper=True, notes=(_DIRECTED, _RAW.format("chameleon"))),
    geom_gcn_row("squirrel", "WikipediaNetwork/squirrel/geom_gcn/raw", 5201, 217073, 2089, 5,
                 in_paper=True, notes=(_DIRECTED, _RAW.format("squirrel"))),
    geom_gcn_row("actor", "Actor/raw", 7600, 33544, 931, 5, prefix="film", indexed=True, in_paper=True,
                 notes=("33,544 edges are published; the file has 33,391 rows with repeats and self-loops",
                        "932 feature columns where 931 are published: the largest index is 931")),
    planetoid_row("cora", "Cora", 2708, 5278, 1433, 7),
    planetoid_row("citeseer", "CiteSeer", 3327, 4552, 3703, 6),
    DataSet("digits", digits.read_digits, Published(1797, 12340, 64, 10), True, "BSD-3-Clause",
            "scikit-learn (bundled), symmetric 10-nearest-neighbour graph"),
    geom_gcn_row("texas", "WebKB/texas/raw", 183, 325, 1703, 5, notes=(_DIRECTED,)),
    geom_gcn_row("wisconsin", "WebKB/wisconsin/raw", 251, 515, 1703, 5, notes=(_DIRECTED,)),
    geom_gcn_row("cornell", "WebKB/cornell/raw", 183, 298, 1703, 5,
                 notes=(_DIRECTED, "features and labels are the file of texas upstream: prefer texas")),
    heterophilous_row("minesweeper", "HeterophilousGraphDataset/minesweeper/raw", 10000, 39402, 7, 2),
    heterophilous_row("chameleon-filtered", "heterophilous_npz", 890, 8854, 2325, 5, notes=(_FILTERED,)),
    heterophilous_row("squirrel-filtered", "heterophilous_npz", 2223, 46998, 2089, 5, notes=(_FILTERED,)),
    airports_row("usa", 1190, 13599, 1190, 4),
    airports_row("europe", 399, 5995, 399, 4),
    airports_row("brazil", 131, 1074, 131, 4),
    facebook100_row("reed98", "Reed98.mat", 962, 18812, 745, 2),
    facebook100_row("amherst41", "Amherst41.mat", 2235, 90954, 1193, 2),
    facebook100_row("johnshopkins55", "Johns%20Hopkins55.mat", 5180, 186586, 2406, 2),
    facebook100_row("cornell5", "Cornell5.mat", 18660, 790777, 4735, 2),
    gnn_benchmark_row("facebook", "extras_npz", "facebook_page_page.npz", 22470, 171002, 4714, 4,
                      licence="GPL-3.0", source="https://github.com/benedekrozemberczki/MUSAE",
                      notes=("published edges count 179 self-loops; raw features, not the 128 reduced",)),
    gnn_benchmark_row("wordnet", "extras_npz", "wordnet30_synsets.npz", 117659, 183789, 6855, 45,
                      licence="WordNet licence", source="https://wordnet.princeton.edu",
                      notes=("WordNet 3.0, synsets joined by their pointers; no benchmark of the field",)),
)  # fmt: skip

DATASETS: Registry[DataSet] = Registry(
    "data set", "datasets", DataSet, ((entry.name, entry) for entry in _ENTRIES), classes=False
)


def dataset_names() -> list[str]:
    """Every name that `load_dataset` knows, the paper's eleven first."""
    return list(DATASETS)


def dataset_entry(name: str) -> DataSet:
    """The row of a data set; `InputError` for an unknown one. Case and ``_`` are forgiven."""
    if not isinstance(name, str):
        raise InputError(f"a data set is named by text, not {name!r}; `paretognn datasets` lists them all")
    key = name.strip().lower()
    key = key if key in DATASETS else key.replace("_", "-")
    if key not in DATASETS:
        raise InputError(f"unknown data set '{name}'{suggest(key, DATASETS)}; `paretognn datasets` lists them all")
    return DATASETS[key]
