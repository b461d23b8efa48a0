"""The version of Kubernetes by which a real cluster is judged: of a dump that of its kubelets, of a running
one that of its API server."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from simulator.api import Manifest
from simulator.recording import Entry
from simulator.versions.feature_gates import (
    GANG_GATES,
    POD_GROUP_GATES,
    TOPOLOGY_AWARE_SCHEDULING,
    WORKLOAD_AWARE_PREEMPTION,
    can_be_on,
)
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import MODELLED, VERSIONS, KubernetesVersion, find_version

_VERSION: Final = re.compile(r"v(\d{1,3})\.(\d{1,3})(?!\d)")
_PATCH: Final = re.compile(r"v\d{1,3}\.\d{1,3}\.(\d{1,4})(?!\d)")
READ_FEATURES: Final = Features(
    DEFAULT_FEATURES.version,
    dict.fromkeys(POD_GROUP_GATES, True),
)
"""Those by which a dump is read before anything is known of its cluster: with the kinds of all gates."""
_GATES_OF_FIELDS: Final = {
    "schedulingConstraints": TOPOLOGY_AWARE_SCHEDULING,
    "disruptionMode": WORKLOAD_AWARE_PREEMPTION,
}
_MODELLED: Final = {tuple(map(int, version.name[1:].split("."))): version for version in VERSIONS}


def kubelet_version(node: Manifest) -> str:
    """Return the minor version of the kubelet of a node in a dump: ``v1.35`` of ``v1.35.2-gke.100``; "" = the
    node has none."""
    given: Any = node
    for field in ("status", "nodeInfo", "kubeletVersion"):
        given = given.get(field) if isinstance(given, dict) else None
    found = _VERSION.match(given) if isinstance(given, str) else None
    return found[0] if found else ""


def nearest_version(kubelets: Mapping[str, int]) -> KubernetesVersion | None:
    """Return the version that most kubelets have, of equally frequent ones the newest; the oldest or the
    newest one that is modelled in place of an older or a newer one. None = no kubelet has a version.
    ``kubelets``: the number of nodes of each version."""
    counted = [(count, tuple(map(int, version[1:].split(".")))) for version, count in kubelets.items()]
    if not counted:
        return None
    _, most = max(counted)
    return _MODELLED[min(max(most, min(_MODELLED)), max(_MODELLED))]


def nearest_patch(git_version: str) -> KubernetesVersion | None:
    """Return the version that is modelled in place of a server's ``gitVersion``, ``v1.35.2-gke.100``: of its
    minor version, or the nearest one, the first patch that is not older. None = it is no version."""
    minor = _VERSION.match(git_version)
    nearest = nearest_version({minor[0]: 1}) if minor else None
    patch = _PATCH.match(git_version)
    if minor is None or nearest is None or patch is None or nearest.name != minor[0]:
        return nearest
    alike = sorted((_patch_of(each), each) for each in MODELLED if each.name == nearest.name)
    return next((each for number, each in alike if number >= int(patch[1])), nearest)


def _patch_of(version: KubernetesVersion) -> int:
    return int(version.patch.rpartition(".")[2])


def gates_of(manifest: Manifest) -> Iterator[str]:
    """Yield the feature gates that are on in the cluster from which a PodGroup or a Workload comes: the API
    server drops the fields of those that are off. GangScheduling, which no object shows, counts as on."""
    yield from GANG_GATES
    spec = manifest.get("spec")
    templates = spec.get("podGroupTemplates") if isinstance(spec, dict) else None
    specs = [spec, *templates] if isinstance(templates, list) else [spec]
    for field, gate in _GATES_OF_FIELDS.items():
        if any(isinstance(each, dict) and each.get(field) is not None for each in specs):
            yield gate


def imported_features(
    began: Entry | None, kubelets: Mapping[str, int], gates: Collection[str] = (), kubernetes: str = ""
) -> Features:
    """Return the version and gates of a sandbox that is made of a recording, whose last term begins with
    ``began``, or of a dump with these kubelets, in whose cluster these gates are on. ``kubernetes``: the
    version of a dump, "" = that of most kubelets. Raises UnknownVersion."""
    if began and began.began:
        return began.began.options.features()
    version = find_version(kubernetes) if kubernetes else nearest_version(kubelets)
    version = version or DEFAULT_FEATURES.version
    return Features(version, dict.fromkeys((gate for gate in gates if can_be_on(version.name, gate)), True))
