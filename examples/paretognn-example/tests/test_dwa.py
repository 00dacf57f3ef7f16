import numpy as np
from paretognn_example.dwa import DWASettings, DynamicWeightAverage

from paretognn.reconcile import StepContext


def context(losses, step):
    return StepContext(("a", "b"), np.eye(2), np.array(losses), step, 0, alignment=None)


def test_weights_follow_the_rates_of_the_losses_and_survive_a_checkpoint():
    rule = DynamicWeightAverage(DWASettings(temperature=1.0))
    np.testing.assert_allclose(rule.weights(context([2.0, 4.0], 0)), [0.5, 0.5])
    rule.weights(context([1.0, 4.0], 1))
    resumed = DynamicWeightAverage(DWASettings(temperature=1.0))
    resumed.restore(rule.state())
    want = np.exp([0.5, 1.0]) / np.exp([0.5, 1.0]).sum()
    np.testing.assert_allclose(rule.weights(context([1.0, 1.0], 2)), want)
    np.testing.assert_allclose(resumed.weights(context([1.0, 1.0], 2)), want)
