"""Options of the maps that are trained step by step: what fits them and what trains them read the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from audits.transport.costs import Cost

__all__ = ["GanOptions", "NeuralOptions"]


@dataclass(frozen=True, kw_only=True)
class GanOptions:
    """Options of the GAN map; the defaults are the paper's for the hiring data.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    transport_weight : float
        λ, the weight of that cost in the generator's loss. The paper: 1e-4 (hiring, control, equalised odds),
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

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    cost: Cost = "l1_squared"
    transport_weight: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1e-4
    batch: Annotated[int, Field(ge=1, le=65536)] = 64
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
class NeuralOptions:
    """Options of the neural map.

    Attributes
    ----------
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        What moving a person costs.
    regularisation : {"l2", "entropic"}
        L2 trains more steadily and pairs people with fewer others.
    epsilon : float, optional
        Regularisation, as a share of how much it matters who is paired with whom (`CostScales.contrast`); by
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

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

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
        """The regularisation in use."""
        if self.epsilon is not None:
            return self.epsilon
        return 0.002 if self.regularisation == "l2" else 0.2
