from paretognn.cli.completion import dataset_lists, method_lists


def test_the_last_of_a_list_is_completed():
    assert dataset_lists("cora,acto") == ["cora,actor"]
    assert "cora" in dataset_lists("")
    assert "cora,cora" not in dataset_lists("cora,co")


def test_methods_and_controls_are_offered():
    assert {"paretognn", "spectral", "concat-pca", "all"} <= set(method_lists(""))
    assert method_lists("dgi,raw") == ["dgi,raw-features"]
