"""The job of a comparison: the same workload under two schedulers."""

from typing import Final, Literal

import msgspec

from schedviz.jobs.job import LongJob, long_job_kind
from simulator.api import Manifest
from simulator.compare.answer import Comparison
from simulator.compare.comparison_run import Side
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

    def side(self) -> Side:
        """Return the side of a run. Raises as :meth:`features`."""
        return Side(self.config, self.queue, self.seed, self.features())


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


class ComparisonJob(LongJob, frozen=True, kw_only=True):
    request: ComparisonRequest
    owner: str = ""
    """The digest of the identity of the visitor who asked; "" = sandboxes have no owners."""
    result: Comparison | None = None


COMPARISONS: Final = long_job_kind(
    "comparison", ComparisonJob, "schedviz.jobs.run_comparison_turn", "the result is too large"
)
