"""The scheduler whose decisions are judged: its profiles by the version that the model has of it."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from simulator.api import Manifest
from simulator.config.configuration import ALL_NODES_PERCENT, Profile
from simulator.framework.extender import Transport
from simulator.framework.runtime import Framework
from simulator.plugins.default_preemption import DefaultPreemption, DefaultPreemptionArgs
from simulator.plugins.registry import load, profiles
from simulator.versions.features import Features

ADAPTIVE: Final = 0
"""The default percentageOfNodesToScore of kube-scheduler: a share that shrinks as the cluster grows."""


class JudgedScheduler:
    """The profiles, once as they are and once so that all nodes are scored."""

    def __init__(
        self,
        features: Features,
        configuration: Manifest | None = None,
        *,
        said: str = "",
        percentage: int = ADAPTIVE,
        transport: Transport | None = None,
    ) -> None:
        """``said``: the version that the cluster says of itself, "" = that of ``features``; ``percentage``:
        of the nodes that are scored where the configuration does not say it. Raises ConfigError."""
        self.features = features
        loaded = load(configuration, default_percentage=percentage, features=features)
        self.sampling: Mapping[str, Framework] = profiles(loaded, transport=transport)
        """The profiles by schedulerName."""
        self.frameworks: Mapping[str, Framework] = profiles(
            replace(loaded, profiles=[*map(_everywhere, loaded.profiles)]), transport=transport
        )
        """The same, but all nodes are scored, and all are tried by preemption."""
        self.judged_as = differing_version(said, features)


def _everywhere(profile: Profile) -> Profile:
    preemption = DefaultPreemptionArgs(min_candidate_nodes_percentage=ALL_NODES_PERCENT)
    return replace(
        profile,
        percentage_of_nodes_to_score=ALL_NODES_PERCENT,
        args={**profile.args, DefaultPreemption.name: preemption},
    )


def minor_of(version: str) -> str:
    """Return the minor version: ``v1.35`` of ``v1.35.2-gke.100``."""
    return ".".join(version.split(".")[:2])


def differing_version(said: str, features: Features) -> str:
    """Return the version by which a cluster is judged that says ``said`` of itself; "" = it is its own."""
    patch = features.version.patch
    return patch if said and minor_of(said) != minor_of(patch) else ""
