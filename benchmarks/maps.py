"""Speed and quality of the transport maps, against a peer in the same process, printed as ratios.

python -m benchmarks.maps gan          WGAN passes against the same loop in plain autograd torch
python -m benchmarks.maps transform    people a second that a fitted map carries
python -m benchmarks.maps adult        entropic and neural map on Adult, women to men (needs the shared data)
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from audits.data import FeatureSpace, data_spec, load_data, public_section
from audits.models.networks.dense import Dense
from audits.transport.maps import (
    MAPS,
    EntropicMap,
    GanOptions,
    NeuralMap,
    NeuralOptions,
    exact_cost,
    ks_distances,
    mean_cost,
    regression_gaps,
)
from audits.transport.maps.wgan import Wgan
from benchmarks.samples import hiring


class TorchTwin:
    """The same WGAN in plain autograd torch: modules, ``backward()``, ``torch.optim.RMSprop``, l1_squared."""

    def __init__(self, gan: Wgan, *, rate: float, clip: float, transport_weight: float) -> None:
        import torch

        self.torch, self.clip, self.transport_weight = torch, clip, transport_weight
        self.generator, self.critic = self._module(gan.generator), self._module(gan.critic)
        settings = {"lr": rate, "alpha": 0.9, "eps": 1e-7}
        self.descend_generator = torch.optim.RMSprop(self.generator.parameters(), **settings)
        self.descend_critic = torch.optim.RMSprop(self.critic.parameters(), **settings)

    def _module(self, net: Dense):
        nn = self.torch.nn
        linear = [nn.Linear(*weights.shape) for weights in net.weights]
        with self.torch.no_grad():
            for layer, weights, bias in zip(linear, net.weights, net.biases, strict=True):
                layer.weight.copy_(self.torch.from_numpy(weights.T.copy()))
                layer.bias.copy_(self.torch.from_numpy(bias.copy()))
        return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])

    def critic_step(self, real: np.ndarray, source: np.ndarray) -> float:
        """One critic step: two updates, then clipping."""
        with self.torch.no_grad():
            generated = self.generator(self.torch.from_numpy(source))
        scores = []
        for people, sign in ((self.torch.from_numpy(real), 1), (generated, -1)):
            self.descend_critic.zero_grad()
            score = self.critic(people).mean()
            (sign * score).backward()
            self.descend_critic.step()
            scores.append(score.item())
        with self.torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.clamp_(-self.clip, self.clip)
        return scores[0] - scores[1]

    def generator_step(self, x: np.ndarray) -> float:
        """One generator step."""
        people = self.torch.from_numpy(x)
        self.descend_generator.zero_grad()
        moved = self.generator(people)
        cost = ((people - moved).abs().sum(dim=1) ** 2).mean()
        loss = self.critic(moved).mean() + self.transport_weight * cost
        loss.backward()
        self.descend_generator.step()
        return loss.item()


def one_pass(
    player: Wgan | TorchTwin, source: np.ndarray, target: np.ndarray, last: np.ndarray
) -> list[float]:
    """Five critic steps on `source`, `target` (5, batch, d), one generator step on `last`; the six losses."""
    if isinstance(player, TorchTwin):
        losses = [player.critic_step(real, people) for real, people in zip(target, source, strict=True)]
        return [*losses, player.generator_step(last)]
    size = len(last)
    generated, _ = player.generate(source.reshape(-1, source.shape[2]))
    losses = [player.critic_step(real, generated[k * size : (k + 1) * size]) for k, real in enumerate(target)]
    return [*losses, player.generator_step(last)]


def players(d: int, seed: int = 0) -> tuple[Wgan, TorchTwin]:
    """A WGAN with the paper's settings, and its twin with the same parameters."""
    gan, settings = Wgan(np.ones(d), GanOptions(), np.random.default_rng(seed)), GanOptions()
    return gan, TorchTwin(
        gan, rate=settings.learning_rate, clip=settings.clip, transport_weight=settings.transport_weight
    )


def gan_speed(passes: int) -> None:
    import torch

    torch.set_num_threads(1)
    women, men = hiring_people()
    rng = np.random.default_rng(0)
    gan, twin = players(2)
    seconds = {gan: [], twin: []}
    worst = 0.0
    with threadpool_limits(1):
        for _ in range(10):  # in turns, so that both see the same load of the machine
            batches = [batch(women, men, rng) for _ in range(passes // 10)]
            losses = {}
            for player in (gan, twin):
                start = time.perf_counter()
                losses[player] = [one_pass(player, *drawn) for drawn in batches]
                seconds[player].append(time.perf_counter() - start)
            if not worst:
                worst = float(np.abs(np.array(losses[gan]) - losses[twin])[:50].max())
    ours, theirs = (np.median(seconds[player]) / (passes // 10) for player in (gan, twin))
    print(f"WGAN, 2-D, batch 64, one thread: {ours * 1e3:.2f} ms a pass ({ours * 20001:.0f} s for 20,001)")
    print(f"the same in autograd torch:      {theirs * 1e3:.2f} ms a pass ({theirs * 20001:.0f} s)")
    print(f"ratio {theirs / ours:.1f} (wanted 2.5); first 50 passes: losses differ by {worst:.1e} at most")


def batch(women: np.ndarray, men: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    def draw(people: np.ndarray, *shape: int) -> np.ndarray:
        return people[rng.integers(0, len(people), shape)].astype(np.float32)

    return draw(women, 5, 64), draw(men, 5, 64), draw(women, 64)


def hiring_people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    """Women and men (n, 2), standardized over both together."""
    people = hiring.standardise(hiring.generate(n))
    z = people[["work_years", "hair_length"]].to_numpy()
    return z[(people["gender"] == "female").to_numpy()], z[(people["gender"] == "male").to_numpy()]


def transform_speed(n: int = 1_000_000, d: int = 8) -> None:
    rng = np.random.default_rng(0)
    source, target, crowd = (
        rng.normal(size=(2000, d)),
        rng.normal(size=(2000, d)) + 1,
        rng.normal(size=(n, d)),
    )
    options = {
        "gan": {"options": GanOptions(iterations=100)},
        "neural": {"options": NeuralOptions(dual_steps=20, map_steps=20)},
    }
    for name, kind in MAPS.items():
        fitted = kind.fit(source, target, rng=0, **options.get(name, {}))
        people = crowd if name in {"gan", "neural", "linear"} else crowd[:20_000]
        fitted.transform(people[:10_000])
        start, worked = time.perf_counter(), time.process_time()
        fitted.transform(people)
        rate, busy = (
            len(people) / spent for spent in (time.perf_counter() - start, time.process_time() - worked)
        )
        print(f"{name:11s}{rate:>12,.0f} people a second, {busy:>12,.0f} a second of processor time (8-D)")


def adult(n: int) -> None:
    data = load_data(
        data_spec(public_section("adult", Path(__file__).resolve().parents[2] / "shared" / "data"))
    )
    space = FeatureSpace.fit(data, [name for name in data.features if name != "sex"])
    z = space.encode(data.frame)
    rng = np.random.default_rng(0)
    sides = (rng.permutation(np.flatnonzero(data.members({"sex": sex})))[:n] for sex in ("Female", "Male"))
    women, men = (z[rows] for rows in sides)
    print(f"Adult: {len(women):,} women to {len(men):,} men, {z.shape[1]} encoded features")
    few = exact_cost(women, men, rng=rng)
    for kind in (EntropicMap, NeuralMap):
        start, worked = time.perf_counter(), time.process_time()
        fitted = kind.fit(women, men, rng=0)
        raw = fitted.transform(women)
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
        z_men = space.encode(space.decode(raw))
        ks = ks_distances(z_men, men)
        print(f"{kind.kind}: {seconds:.0f} s (wanted 60), {worked:.0f} s of processor time. {fitted.finding}")
        print(f"  KS mean {ks.mean():.4f}, largest " + _largest(ks, space.names))
        print("  regression gaps: " + _largest(np.abs(regression_gaps(men, z_men)), space.names, 3))
        moved = mean_cost(women[:2000], z_men[:2000])
        print(f"  mean cost on 2,000 women {moved:.2f}, exact coupling of 2,000 with 2,000 {few:.2f}")


def _largest(values: np.ndarray, names: tuple[str, ...], count: int = 5) -> str:
    return ", ".join(f"{names[k]} {values[k]:.3f}" for k in np.argsort(-values)[:count])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["gan", "transform", "adult"])
    parser.add_argument("--passes", type=int, default=1000, help="of the WGAN's loop")
    parser.add_argument("--people", type=int, default=20_000, help="of each group of Adult at most")
    given = parser.parse_args()
    if given.what == "gan":
        gan_speed(given.passes)
    elif given.what == "transform":
        transform_speed()
    else:
        adult(given.people)


if __name__ == "__main__":
    main()
