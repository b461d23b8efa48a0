"""The version of Kubernetes of an imported cluster, taken from the kubelets of its nodes."""

import re
from collections.abc import Mapping
from typing import Any, Final

from simulator.api import Manifest
from simulator.recording import Entry
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import VERSIONS, KubernetesVersion

_VERSION: Final = re.compile(r"v(\d{1,3})\.(\d{1,3})(?!\d)")
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


def imported_features(began: Entry | None, kubelets: Mapping[str, int]) -> Features:
    """Return the version and gates of a sandbox that is made of a recording, whose last term begins with
    ``began``, or of a dump with these kubelets."""
    if began and began.began:
        return began.began.options.features()
    version = nearest_version(kubelets)
    return Features(version) if version else DEFAULT_FEATURES
