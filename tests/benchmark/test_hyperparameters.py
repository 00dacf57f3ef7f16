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
