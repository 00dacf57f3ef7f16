"""What another device than the CPU trains, and nothing of it is left on the wrong one."""

import numpy as np
import pytest
import torch

from far_device import FAR, FarTensor, far_device, read
from paretognn import ParetoGNN
from paretognn.methods import method_config
from paretognn.methods.controls import control_embeddings
from paretognn.methods.rows import METHODS
from paretognn.nn.off_device import HostStore
from paretognn.training import EachStep, RunFolder, TrainedEncoder, train
from paretognn.training.frozen import build_encoder
from paretognn.training.inference import Near, near_rows
from paretognn.training.multitask import MultiTaskModel, MultiTaskStepper
from paretognn.training.prepare import prepare

SMALL = {"steps": 2, "encoder": {"hidden_dims": [16, 8]}}


def test_tensors_of_two_devices_are_an_error(monkeypatch):
    with far_device(monkeypatch) as device:
        here, there = torch.ones(3), torch.ones(3, device=device)
        assert isinstance(there, FarTensor)
        assert there.device == FAR
        assert there.cpu().equal(here)
        with pytest.raises(AssertionError, match="not on the device of the others"):
            here + there
        with pytest.raises(AssertionError, match="not on the device of the others"):
            there[torch.tensor([0, 2])]
        with pytest.raises(AssertionError, match="a generator of elsewhere"):
            torch.rand(3, generator=torch.Generator(), device=device)
        there[:2].zero_()
        assert there.cpu().tolist() == [0, 0, 1]


def followed(graph, config, device="cpu"):
    """What `train` returns, and each step's losses and norms of gradients."""
    records = []
    trackers = [EachStep(lambda record: records.append([*record.losses.values(), *record.gradient_norms.values()]))]
    trained, embeddings = train(graph, config, device, trackers=trackers)
    return trained, embeddings, records


@pytest.mark.parametrize("fits", [True, False], ids=["all-fits", "features-stay"])
@pytest.mark.parametrize("method", METHODS)
def test_a_device_trains_and_embeds_as_the_cpu_does(method, graph, fits, monkeypatch):
    config, _ = method_config(graph, method, overrides=SMALL)
    _, expected, steps = followed(graph, config)
    with far_device(monkeypatch, fits) as device:
        assert isinstance(prepare(graph, config.features, device)[0].features, HostStore) != fits
        trained, found, there = followed(graph, config, device)
        again = trained.embed(graph)
    np.testing.assert_allclose(there[0], steps[0], rtol=1e-4, atol=1e-6)
    # Adam divides by a gradient's own size: what is rounding in the first step is as long as any other.
    np.testing.assert_allclose(there[1], steps[1], rtol=2e-2, atol=1e-4)
    np.testing.assert_allclose(found, expected, atol=2e-2)
    np.testing.assert_allclose(again, found, atol=1e-5)


@pytest.mark.filterwarnings("ignore:for .* is a no-op")  # it is none for the made device
@pytest.mark.parametrize("fits", [True, False], ids=["all-fits", "features-stay"])
def test_a_device_resumes_and_loads_a_run(graph, fits, tmp_path, monkeypatch):
    config, _ = method_config(graph, "paretognn", overrides={**SMALL, "steps": 4})
    folder = RunFolder(tmp_path / "R")
    folder.path.mkdir()
    folder.write_config(config)
    with far_device(monkeypatch, fits) as device:
        _, expected = train(graph, config, device)
        train(graph, config.model_copy(update={"steps": 2}), device, folder)
        _, found = train(graph, config, device, folder, resume=True)
        loaded = TrainedEncoder.load(folder, device).embed(graph)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(loaded, found, atol=1e-6)
    np.testing.assert_allclose(TrainedEncoder.load(folder).embed(graph), found, atol=1e-4)


@pytest.mark.parametrize("fits", [True, False], ids=["all-fits", "features-stay"])
def test_rows_of_a_layer_are_those_of_the_whole(graph, fits, monkeypatch):
    config, _ = method_config(graph, "paretognn", overrides=SMALL)
    with far_device(monkeypatch, fits) as device:
        trained, expected = train(graph, config, device)
        near = Near.of(prepare(graph, config.features, device, trained.scaling)[0])
        layers = [None]
        for layer in range(2):
            rows = [near_rows(trained.encoder, layer, near, layers[-1], start, start + 20) for start in (0, 20, 40)]
            layers.append(torch.cat(rows).__getitem__)
        found = torch.cat(rows).cpu().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_an_estimator_on_a_device_predicts_saves_and_loads(graph, tmp_path, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((60, 5)).astype(np.float32)
    with far_device(monkeypatch) as device:
        model = ParetoGNN(steps=2, settings={"encoder": SMALL["encoder"]}, device=device).fit(rows)
        model.save(tmp_path / "R")
        loaded = ParetoGNN.load(tmp_path / "R", device)
        new = np.vstack([rows[:3], rows[:2] + 0.1])
        np.testing.assert_allclose(loaded.transform(new), model.transform(new), atol=1e-5)
        config = method_config(graph, "paretognn", overrides=SMALL)[0]
        made = control_embeddings("untrained", graph, config, device)
    np.testing.assert_allclose(made, control_embeddings("untrained", graph, config), atol=1e-4)


def test_a_step_asks_the_device_for_its_losses_alone(graph, monkeypatch):
    config, _ = method_config(graph, "paretognn", overrides={**SMALL, "steps": 3})
    with far_device(monkeypatch) as device:
        prepared, _ = prepare(graph, config.features, device)
        model = MultiTaskModel(config, prepared.features.width, build_encoder(config, prepared.features.width))
        stepper = MultiTaskStepper(model.to(device), prepared, config)
        stepper.step()  # what is kept from then on
        with read() as reads:
            stepper.step()
    assert reads == [(5 + 5 + 5 * 5,)]  # losses, gradient norms, Gram matrix
