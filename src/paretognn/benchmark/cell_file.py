"""What the file of a cell must hold for the tables and plans to be made from it; more may be there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from paretognn.nn.gcn import Width

Share = Annotated[float, Field(ge=-0.01, le=1.01)]
"""A score in [0, 1], up to rounding."""
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0, lt=2**53)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Encoder(_Part):
    hidden_dims: Annotated[list[Width], Field(min_length=1)] | None = None


class _Settings(_Part):
    encoder: _Encoder = _Encoder()


class _Config(_Settings):
    tasks: dict[str, dict[str, Any]] = {}


class _Key(_Part):
    dataset: str
    method: str
    kind: str
    preset: str
    steps: Count
    seed: Count
    settings: _Settings


class _Score(_Part):
    mean: Share | None = None
    per_seed: list[Share] = []


class _Labels(_Part):
    classes: list[str] = []


class _Partition(_Part):
    digest: str | None = None


class _Evaluation(_Part):
    tasks: dict[str, _Score]
    average: Share | None
    evaluation_seeds: Annotated[list[Count], Field(min_length=1)]
    split: str | None = None
    split_digests: list[str] | None = None
    link_split_digest: str | None = None
    partition: _Partition | None = None
    labels: _Labels | None = None


class _Hardware(_Part):
    device: str | None = None
    threads: Count = 1
    cells_at_once: Count = 1
    peak_device_memory: Amount | None = None


class CellFile(_Part):
    """A finished cell as JSON; its fields are told of in `paretognn.benchmark.cells.Cell`."""

    key: _Key
    status: Literal["done", "failed", "out-of-memory"]
    evaluation: _Evaluation | None
    error: str | None
    config: _Config | None
    width: Width | None
    seconds: dict[str, Amount]
    step_seconds: Amount | None
    peak_memory: Amount | None
    hardware: _Hardware
    versions: dict[str, str]
    command: str
