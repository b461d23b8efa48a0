"""The version of Kubernetes by which a real cluster is judged: of a dump that of its kubelets, of a running
one that of its API server."""

import re
from collections.abc import Mapping
from typing import Any, Final

from simulator.api import Manifest
from simulator.recording import Entry
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import MODELLED, VERSIONS, KubernetesVersion

_VERSION: Final = re.compile(r"v(\d{1,3})\.(\d{1,3})(?!\d)")
_PATCH: Final = re.compile(r"v\d{1,3}\.\d{1,3}\.(\d{1,4})(?!\d)")
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


def imported_features(began: Entry | None, kubelets: Mapping[str, int]) -> Features:
    """Return the version and gates of a sandbox that is made of a recording, whose last term begins with
    ``began``, or of a dump with these kubelets."""
    if began and began.began:
        return began.began.options.features()
    version = nearest_version(kubelets)
    return Features(version) if version else DEFAULT_FEATURES
