"""The network: its early stop, its scores in batches, and cancelling."""

from __future__ import annotations

import numpy as np

from audits.models.trained.mlp import MAX_EPOCHS, train_mlp


def test_scores_are_the_forward_pass_worked_by_hand(data):
    model = train_mlp(data)
    x = model.space.encode(data.frame)
    for layer in (model.layers[0], model.layers[2]):
        x = np.maximum(x @ layer.weight.numpy().T + layer.bias.numpy(), 0.0)
    last = model.layers[4]
    by_hand = 1 / (1 + np.exp(-(x @ last.weight.numpy().T + last.bias.numpy())[:, 0]))
    # the network works in float32, this in float64
    np.testing.assert_allclose(model.score(data.frame), by_hand, atol=1e-5)


def test_training_stops_early_and_tells_each_epoch(data):
    told = []
    train_mlp(data, progress=lambda fraction, doing: told.append((fraction, doing)))
    assert 0 < len(told) < MAX_EPOCHS
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert told[0] == (0.0, "training the network, epoch 1")


def test_counts_move_the_network_towards_the_many(make_data, people):
    """The same people, once with the hired counting ten times: scores must rise."""
    plain = train_mlp(make_data(people))
    counted = people.assign(count=np.where(people["hired"] == "yes", 10, 1))
    weighted = train_mlp(make_data(counted, weights="count"))
    assert (weighted.score(people) > plain.score(people)).mean() > 0.9
