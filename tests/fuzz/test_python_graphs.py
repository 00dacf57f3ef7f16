"""Any small graph through the Python interface: embeddings and scores, or one of the documented errors."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from fuzz.outcomes import DOCUMENTED, check_error, finite_tree
from fuzz.strategies import CONTENT, SAMPLERS, SPARSE, RawGraph, fuzzed, narrow, raw_graphs
from paretognn import ParetoGNN, evaluate
from paretognn.graph import Graph, as_graph

DTYPES = [np.float64, np.float32, np.float16, np.int64, np.int8, np.bool_]


def as_pair(raw: RawGraph, draw: Any) -> tuple[Any, ...]:
    """scipy adjacency or edge_index, with features dense or in any sparse form."""
    n = len(raw.ids)
    ends = np.array(raw.edges, dtype=np.int64).reshape(-1, 2)
    features: Any = raw.features
    if features is not None:
        dtype = draw(st.sampled_from(DTYPES))
        with np.errstate(all="ignore"):
            features = features.astype(dtype)
        if draw(st.booleans()) and dtype is not np.float16:
            features = SPARSE[draw(st.sampled_from(sorted(SPARSE)))](features)
    structure: Any = ends.T
    if raw.weights is not None or draw(st.booleans()):
        values = np.ones(len(ends)) if raw.weights is None else np.array(raw.weights)
        made = sp.coo_array((values, (ends[:, 0], ends[:, 1])), shape=(n, n))
        structure = SPARSE[draw(st.sampled_from(sorted(SPARSE)))](made)
    labels = () if raw.labels is None else (np.array(raw.labels, dtype=object),)
    return structure, features, *labels


def as_data(raw: RawGraph, draw: Any) -> Data:
    x = raw.features
    codes = {label: k for k, label in enumerate(sorted({label for label in raw.labels or [] if label}))}
    return Data(
        x=None if x is None else torch.tensor(x, dtype=draw(st.sampled_from([torch.float64, torch.float32]))),
        edge_index=torch.tensor(raw.edges, dtype=torch.int64).reshape(-1, 2).T,
        edge_weight=None if raw.weights is None else torch.tensor(raw.weights, dtype=torch.float64),
        y=None if raw.labels is None else torch.tensor([codes.get(label or "", -1) for label in raw.labels]),
        num_nodes=len(raw.ids),
    )


def as_networkx(raw: RawGraph, draw: Any) -> Any:
    made = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph]))()
    for k, name in enumerate(raw.ids):
        attributes = {} if raw.features is None else {"x": raw.features[k]}
        if raw.labels is not None and raw.labels[k] is not None:
            attributes["y"] = raw.labels[k]
        made.add_node(name, **attributes)
    for k, (a, b) in enumerate(raw.edges):
        made.add_edge(raw.ids[a], raw.ids[b], **({} if raw.weights is None else {"weight": raw.weights[k]}))
    return made


FORMS = {"pair": as_pair, "PyG": as_data, "networkx": as_networkx}


def bytes_of(value: Any) -> Any:
    """Everything in a source, comparable."""
    if isinstance(value, tuple | list):
        return [bytes_of(part) for part in value]
    if sp.issparse(value):
        whole = value.tocoo(copy=True)
        return [type(value), value.dtype, value.shape, whole.row.tobytes(), whole.col.tobytes(), whole.data.tobytes()]
    if isinstance(value, Data):
        return {key: bytes_of(part) for key, part in value.to_dict().items()}
    if isinstance(value, torch.Tensor):
        return bytes_of(value.numpy())
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind == "O" else (value.dtype, value.shape, value.tobytes())
    if isinstance(value, nx.Graph):
        nodes = [(node, {k: bytes_of(v) for k, v in sorted(a.items())}) for node, a in value.nodes(data=True)]
        return [nodes, repr(list(value.edges(data=True)))]
    return value


@pytest.mark.parametrize("form", FORMS)
@fuzzed(25)
@given(data=st.data())
def test_any_graph_trains_embeds_and_is_judged_or_has_a_documented_error(form: str, data: st.DataObject) -> None:
    raw = data.draw(raw_graphs())
    source = FORMS[form](raw, data.draw)
    before = bytes_of(source)
    sampler = data.draw(st.sampled_from([None, *SAMPLERS]))
    model = ParetoGNN(preset="quick", steps=2, settings=narrow(sampler))
    try:
        embeddings = model.fit(source).transform(source)
    except DOCUMENTED as error:
        check_error(error)
        if raw.moderate and as_graph_or_none(source):
            raise AssertionError from error
    else:
        nodes = as_graph(source).num_nodes
        assert embeddings.shape == (nodes, 4)
        assert np.isfinite(embeddings).all()
        assert all(np.isfinite(list(step.losses.values())).all() for step in model.history_)
        scores = evaluate(model, source, seeds=1, controls=data.draw(st.booleans()), link=data.draw(st.booleans()))
        assert finite_tree(scores)
    assert bytes_of(source) == before


def as_graph_or_none(source: Any) -> Graph | None:
    try:
        return as_graph(source)
    except DOCUMENTED:
        return None


@fuzzed(40)
@given(raw=raw_graphs(smallest=1), form=st.sampled_from(sorted(SPARSE)), structure=st.sampled_from(sorted(SPARSE)))
def test_every_sparse_form_is_the_graph_of_the_dense_one(raw: RawGraph, form: str, structure: str) -> None:
    n = len(raw.ids)
    features = CONTENT["words"](np.random.default_rng(len(raw.edges)), n, 7)
    ends = np.array(raw.edges, dtype=np.int64).reshape(-1, 2)
    made = sp.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    made.sum_duplicates()
    made.data[:] = 1
    one = as_graph((SPARSE[structure](made), SPARSE[form](features)))
    other = as_graph((np.stack([made.row, made.col]).astype(np.int64), sp.csr_array(features)))
    assert one.digest() == other.digest()
