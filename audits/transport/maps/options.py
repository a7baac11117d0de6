"""Options of the maps: what checks, shows and fits by them reads the same, without SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from audits.checks import Strict
from audits.options import option
from audits.transport.costs import Cost

Projection = Literal["drawn", "barycentre", "likeliest"]


@dataclass(frozen=True, kw_only=True)
class GanOptions(Strict):
    """Options of the GAN map; the defaults are the paper's for the hiring data.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    transport_weight : float
        λ, the weight of that cost in the generator's loss. The paper: 1e-4 (hiring, control, equalized odds),
        5e-4 (parity on the strategic subject list), 5e-5 (law school).
    batch : int
        People in a batch; the paper: 64 (hiring), 4 (strategic subject list), 2 (law school).
    iterations : int
        Passes of the loop, each with `critic_steps` critic steps and one generator step.
    width : int
        Units in each of the two hidden layers.
    learning_rate, clip : float
        RMSProp's step; bound on the critic's weights and biases.
    residual : bool
        Let the generator learn the move instead of the counterpart.
    early_stopping : bool
        Hold people out, watch mean KS distance + `cost_share` × (mean cost / cost of pairing at random) on
        them, keep the generator that was best, stop after `patience` passes without a better one.
    held_out : float
        Share of each group held out.
    """

    cost: Cost = "l1_squared"
    transport_weight: Annotated[
        float,
        option(
            "Larger keeps counterparts nearer and fits the target group less well.", ge=0, allow_inf_nan=False
        ),
    ] = 1e-4
    batch: Annotated[
        int,
        option("FlipTest: 64 for hiring, 4 for its list of arrests, 2 for the law school.", ge=1, le=65536),
    ] = 64
    iterations: Annotated[int, Field(ge=1, le=10_000_000)] = 20_001
    critic_steps: Annotated[int, Field(ge=1, le=1000)] = 5
    width: Annotated[int, Field(ge=1, le=4096)] = 128
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 5e-5
    clip: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 0.01
    residual: bool = False
    early_stopping: bool = False
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.2
    cost_share: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.1
    patience: Annotated[int, Field(ge=1)] = 4000


@dataclass(frozen=True, kw_only=True)
class NeuralOptions(Strict):
    """Options of the neural map.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    regularization : {"l2", "entropic"}
        L2 trains more steadily and pairs people with fewer others.
    epsilon : float, optional
        Regularization, as a share of how much it matters who is paired with whom (`CostScales.contrast`); by
        default 0.002 (L2) or 0.2 (entropic), which blur the pairs about alike.
    dual_steps, map_steps : int
        Optimisation steps for the potentials, then for the map.
    batch : int
        People of each group in a step for the potentials.
    width : int
        Units in each of the two hidden layers of the three networks.
    learning_rate : float
        Adam's, falling to 0 along a cosine.
    restore_marginals : bool
        Give every feature with more than two values the target group's distribution.
    device : str
        "cpu", or a torch device such as "cuda"; falls back to the CPU where that is absent.
    """

    cost: Cost = "l1_squared"
    regularisation: Literal["l2", "entropic"] = "l2"
    epsilon: Annotated[float, Field(ge=1e-6, le=1e3)] | None = None
    dual_steps: Annotated[int, Field(ge=1, le=10_000_000)] = 2000
    map_steps: Annotated[int, Field(ge=1, le=10_000_000)] = 800
    batch: Annotated[int, Field(ge=1, le=65536)] = 512
    width: Annotated[int, Field(ge=1, le=4096)] = 128
    learning_rate: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1e-3
    restore_marginals: bool = True
    device: str = "cpu"

    @property
    def share(self) -> float:
        """The regularization in use."""
        if self.epsilon is not None:
            return self.epsilon
        return 0.002 if self.regularisation == "l2" else 0.2


@dataclass(frozen=True, kw_only=True)
class LinearOptions(Strict):
    """Options of the linear map.

    Attributes
    ----------
    shrinkage : float, optional
        How far correlations are shrunk towards 0, in [0, 1], in both groups; by default as far as each
        group's data suggest.
    """

    shrinkage: Annotated[float, Field(ge=0, le=1)] | None = None


@dataclass(frozen=True, kw_only=True)
class CoupledOptions(Strict):
    """Options of every map read off an entropic coupling.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    epsilon : float
        Regularization, as a share of how much it matters who is paired with whom (`CostScales.contrast`).
        Towards 0 the coupling becomes the exact one and takes longer; large values pair everyone with
        everyone. 0.02 blurs little: at 0.03 and above COMPAS shows flips, two or three people in a hundred,
        that the exact coupling does not have.
    projection : {"drawn", "barycenter", "likeliest"}
        Counterpart of a person: one of those they are paired with, drawn by the coupling's shares (the same
        one for the same person); the mean of them; or the likeliest. Drawn counterparts are real people of
        the target group and are distributed as it is. Means lie nearer the middle than anyone they are means
        of, likeliest ones leave people out: with either, the two directions need not agree.
    tolerance : float
        Share of people who may still be misplaced in the target group when iterations stop. Beyond 4 million
        pairs single precision is used, and shares below 1e-5 are out of reach.
    iterations : int
        Iterations at most.
    max_people : int
        People of each group the coupling is fitted on; of larger groups that many are drawn. Memory is
        4 bytes a pair: 1.6 GB at 20,000.
    """

    cost: Cost = "l1_squared"
    epsilon: Annotated[
        float, option("Smaller is nearer to exact matching and takes longer.", ge=1e-5, le=1e3)
    ] = 0.02
    projection: Projection = "drawn"
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-3
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    max_people: Annotated[int, Field(ge=1, le=30_000)] = 20_000


@dataclass(frozen=True, kw_only=True)
class EntropicOptions(CoupledOptions):
    """Options of the entropic map: those of `CoupledOptions`."""


@dataclass(frozen=True, kw_only=True)
class UnbalancedOptions(CoupledOptions):
    """Options of the unbalanced map; those of `CoupledOptions`, and:

    Attributes
    ----------
    relaxation : {"relaxed", "partial"}
        Miss the groups' shares at a price, or match a given share of people.
    price : float
        ρ of the relaxed form, as a multiple of the mean cost of pairing the groups at random. Large values
        match everyone.
    share : float
        Share of people that the partial form matches, in (0, 1].
    """

    relaxation: Literal["relaxed", "partial"] = "relaxed"
    price: Annotated[
        float,
        option("As a multiple of the cost of random pairing. A high price matches everyone.", gt=0, le=1e6),
    ] = 1.0
    share: Annotated[float, Field(gt=0, le=1)] = 0.9


OPTIONS: dict[str, type[Any]] = {
    "gan": GanOptions,
    "entropic": EntropicOptions,
    "neural": NeuralOptions,
    "linear": LinearOptions,
    "unbalanced": UnbalancedOptions,
}
"""Name of a method, as specs name it, to the class of its options."""
