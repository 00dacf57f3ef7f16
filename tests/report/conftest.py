import pyarrow as pa
import pytest

from made import SMALL, make_graph
from paretognn.graph import Graph, summarise
from paretognn.methods.judge import judge_run
from paretognn.training import RunFolder, make_config, train, write_embeddings

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a&b", '"quoted"', "{{ 7 * 7 }}"]


def finish(graph: Graph, folder: RunFolder, judged: bool = True) -> RunFolder:
    """A run as the command line leaves it."""
    config = make_config(SMALL)
    folder.path.mkdir(parents=True)
    folder.save_graph(graph, {"summary": summarise(graph)}, True)
    folder.write_config(config)
    _, embeddings = train(graph, config, folder=folder)
    write_embeddings(folder.embeddings_file, graph.id_array(), embeddings)
    if judged:
        folder.write_json(folder.evaluation_file, judge_run(folder, graph, seeds=2))
    return folder


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory):
    """A run whose ids, labels and name would be markup where they are not escaped."""
    graph = make_graph(80)
    ids = pa.array(HOSTILE + [f"n{i}" for i in range(len(HOSTILE), 80)])
    graph = graph.replace(ids=ids, label_names=("<b>bold</b>", "b", "c"), name="<i>graph</i>")
    return finish(graph, RunFolder(tmp_path_factory.mktemp("runs") / "<u>run"))


@pytest.fixture(scope="session")
def plain_run(tmp_path_factory):
    """Without labels, and not judged."""
    graph = make_graph(40).replace(labels=None, label_names=())
    return finish(graph, RunFolder(tmp_path_factory.mktemp("runs") / "plain"), judged=False)
