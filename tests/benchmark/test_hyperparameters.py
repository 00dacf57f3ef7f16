"""Cells of different ages side by side."""

from benchmark.stores import cell, config
from paretognn.benchmark.hyperparameters import hyperparameter_table
from paretognn.benchmark.selection import results_of, select


def table(*cells):
    return list(hyperparameter_table(select(results_of(cells))))


def test_the_encoder_s_name_is_told_where_it_is_not_the_house_s():
    older = cell("mi-ng", 50)
    named = config("mi-ng")
    named["encoder"] = {"name": "gcn", **named["encoder"], "settings": {}}
    assert table(cell("mi-ng", 50, config=named)) == table(older)
    foreign = {**named, "encoder": {**named["encoder"], "name": "appnp", "settings": {"hops": 3}}}
    (made,) = table(cell("mi-ng", 50, config=foreign))
    assert "appnp" in made.caption


def lines(*cells):
    (made,) = table(*cells)
    assert len(set(made.columns)) == len(made.columns)
    return made, [dict(zip(made.columns, (entry.text for entry in row), strict=True)) for row in made.rows]


def later(**optimizer):
    """As `config`, by a version that names optimisers and puts embeddings together."""
    made = config("mi-ng")
    return {
        **made,
        "optimizer": {"name": "adamw", **made["optimizer"], **optimizer},
        "assembly": {"smoothing": 0, "components": None, "blocks": {}},
        "alternatives": [],
    }


def test_an_optimiser_is_told_by_its_parts_whatever_the_cell_s_age():
    older = cell("mi-ng", 50)
    assert table(older, cell("mi-ng", 50, "actor", config=later())) == table(older, cell("mi-ng", 50, "actor"))
    _, told = lines(older, cell("mi-ng", 50, "actor", config=later(name="adam", learning_rate=0.1)))
    assert [(line["data sets"], line["optimizer"], line["learning rate"]) for line in told] == [
        ("actor", "adam", "0.1"),
        ("cora", "-", "0.003"),
    ]


def test_what_an_embedding_is_put_together_of_is_one_column_in_words():
    position, degree = ({"source": name, "hops": 0, "width": 8, "weight": 0.5} for name in ("positions", "degree"))
    blocks = {"position": position, "degree": degree}
    best = {**later(), "assembly": {"smoothing": 0, "components": 240, "blocks": blocks}}
    choice = [{"smoothing": k, "components": None, "blocks": {}} for k in (2, 8)]
    auto = {**later(), "alternatives": [*choice, best["assembly"]]}
    made, told = lines(cell("mi-ng", 50), cell("best", 50, config=best), cell("auto", 50, config=auto))
    whole = "240 components of the encoder's output; beside it 8 of position (0.5), 8 of degree (0.5)"
    assert [line["assembly"] for line in told] == ["-", "-", whole]
    assert told[1]["alternatives"] == f"the encoder's output; smoothed 2/8 times; or {whole}"
    assert not {"source", "hops", "width", "weight"} & set(made.columns)


def test_columns_of_one_last_word_have_the_words_before_it():
    settings = {**config("bgrl"), "one": {"rate": 1}, "two": {"rate": 1}}
    other = {**config("dgi"), "one": {"rate": 2}, "two": {"rate": 3}}
    made, _ = lines(cell("bgrl", 50, config=settings), cell("dgi", 50, config=other))
    assert {"one rate", "two rate"} <= set(made.columns)
