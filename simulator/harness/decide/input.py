"""The input of ``decide``: one line."""

from collections.abc import Iterator, Mapping

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from simulator.config.configuration import ADAPTIVE_PERCENT
from simulator.framework.extender import Transport
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.versions.features import UNSTATED_FEATURES, read_features

_LISTS = {
    "nodes": "nodes",
    "pods": "pods",
    "namespaces": "namespaces",
    "priorityClasses": "priorityclasses.scheduling.k8s.io",
    "podDisruptionBudgets": "poddisruptionbudgets.policy",
    "persistentVolumes": "persistentvolumes",
    "persistentVolumeClaims": "persistentvolumeclaims",
    "storageClasses": "storageclasses.storage.k8s.io",
    "csiNodes": "csinodes.storage.k8s.io",
    "csiDrivers": "csidrivers.storage.k8s.io",
    "csiStorageCapacities": "csistoragecapacities.storage.k8s.io",
    "volumeAttachments": "volumeattachments.storage.k8s.io",
    "services": "services",
    "replicaSets": "replicasets.apps",
    "replicationControllers": "replicationcontrollers",
    "statefulSets": "statefulsets.apps",
    "deviceClasses": "deviceclasses.resource.k8s.io",
    "resourceSlices": "resourceslices.resource.k8s.io",
    "resourceClaims": "resourceclaims.resource.k8s.io",
}


def _resource(identity: str) -> Resource:
    plural, _, group = identity.partition(".")
    found = find_built_in(group, plural)
    assert found is not None, identity
    return found


LISTS = {name: _resource(identity) for name, identity in _LISTS.items()}
"""The fields of ``objects``, and the resource of each."""


class DecideInput(msgspec.Struct, rename="camel"):
    """One line of the input."""

    name: str
    objects: dict[str, list[Manifest]]
    pod: Manifest | None = None
    """The pending pod."""
    config: Manifest | None = None
    kubernetes: str = UNSTATED_FEATURES.version.patch
    """The version of Kubernetes."""
    feature_gates: dict[str, bool] = {}
    """The feature gates that are set."""
    pods: list[Manifest] | None = None
    """Pending pods that are scheduled one after another."""
    batching: bool = False
    """Whether ``pods`` may use the ranking of the pod before."""

    def frameworks(self, transport: Transport | None) -> dict[str, Framework]:
        """Return the profiles of the configuration, by schedulerName. Raises ConfigError, UnknownVersion,
        FeatureGateError."""
        features = read_features(self.kubernetes, self.feature_gates)
        config = load(self.config, default_percentage=ADAPTIVE_PERCENT, features=features)
        return profiles(config, transport=transport)


def read_objects(lists: dict[str, list[Manifest]]) -> Iterator[tuple[Resource, Manifest]]:
    for name, resource in LISTS.items():
        for manifest in lists.get(name, ()):
            yield resource, manifest


def framework_of(pod: Pod, frameworks: Mapping[str, Framework]) -> Framework:
    """Return the profile of a pod. Raises ValueError."""
    framework = frameworks.get(pod.scheduler_name)
    if framework is None:
        raise ValueError(f"no profile has the schedulerName {pod.scheduler_name!r}")
    return framework
