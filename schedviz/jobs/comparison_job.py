"""The job of a comparison: the same workload under two schedulers."""

from typing import Final, Literal

import msgspec

from schedviz.jobs.job import Job, JobKind
from simulator.api import Manifest
from simulator.compare.answer import Comparison
from simulator.queueing.queue_version import QueueVersion
from simulator.versions.features import UNSTATED_FEATURES, Features, read_features

WorkloadSource = Literal["scenario", "sandbox", "manifests"]


RECORDED: Final = "recorded"
"""The preset of side A that is no scheduler of the simulator: what the sandbox's recording has, with the
bindings of its outside scheduler."""


class RequestedSide(msgspec.Struct, frozen=True):
    """The scheduler of one side."""

    preset: str
    """The name of the preset that was chosen on the page."""
    config: Manifest | None
    queue: QueueVersion
    seed: int
    kubernetes: str = UNSTATED_FEATURES.version.patch
    """The version of Kubernetes."""
    feature_gates: dict[str, bool] = {}
    """The feature gates that are set."""

    def features(self) -> Features:
        """Raises UnknownVersion, FeatureGateError."""
        return read_features(self.kubernetes, self.feature_gates)


class ComparisonRequest(msgspec.Struct, frozen=True):
    """The schedulers and the workload of a comparison."""

    source: WorkloadSource
    name: str
    """The name of the scenario or the sandbox; "" for manifests."""
    text: str
    """The scenario, YAML; "" for a sandbox, whose objects are read when the comparison begins."""
    a: RequestedSide
    b: RequestedSide
    seconds: int
    """Simulated seconds to compare; 0 = to the end of the recording that is side A."""
    place_again: bool = False
    """Whether the bound pods are placed again; see :mod:`simulator.compare.place_again`."""


class ComparisonJob(Job, frozen=True, kw_only=True):
    request: ComparisonRequest
    owner: str = ""
    """The digest of the identity of the visitor who asked; "" = sandboxes have no owners."""
    done: float = 0.0
    """The part of the simulated time that both sides have reached, 1.0 = all."""
    result: Comparison | None = None


COMPARISONS: Final = JobKind(
    name="comparison",
    job_type=ComparisonJob,
    task="schedviz.jobs.run_comparison_turn",
    # Each holds two clusters in the memory of one process.
    counted_states={"waiting", "running"},
    # Five others of a minute each may run before it.
    waiting_seconds=420,
    # To read 50,000 pods twice takes some ten.
    silent_seconds=60,
    # Its clusters were in the memory of the job runner: it begins again.
    tries_at_most=1,
    # A result has an address that people share for a day; it is computed again in seconds.
    kept_seconds=24 * 3600,
    # A large one is a megabyte.
    kept_at_most=100,
    # Two decisions on 5,000 nodes are a tenth of it.
    bytes_at_most=4_000_000,
    without_result=lambda job: msgspec.structs.replace(job, result=None),
    too_large="the result is too large",
)
