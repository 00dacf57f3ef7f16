from paretognn import load_dataset


def test_the_club_is_as_published():
    club = load_dataset("karate-club")
    assert (club.num_nodes, club.num_edges, club.features) == (34, 78, None)
    assert [club.label_names[label] for label in club.labels[[0, 33]]] == ["Mr. Hi", "Officer"]
    assert club.weights.max() == 7
