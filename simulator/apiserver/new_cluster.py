"""The objects of a new cluster, also those that kube-apiserver stores for other servers, which read them when
they start."""

from collections.abc import Sequence
from typing import Final

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.admission import MAX_COPIES, admit
from simulator.apiserver.kinds.registry import STRATEGIES
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.served_features import serving
from simulator.versions.features import UNSTATED_FEATURES, Features

AUTHENTICATION: Final[Manifest] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
}
"""The ConfigMap of the certificates by which kube-scheduler and aggregated API servers authenticate their
clients. It is empty: an API server without --client-ca-file writes it so
(pkg/controlplane/controller/clusterauthenticationtrust)."""


def new_cluster(
    documents: Sequence[Manifest],
    now: Micros,
    features: Features = UNSTATED_FEATURES,
    *,
    for_servers: bool = False,
    in_parts: bool = False,
) -> list[Change]:
    """Return the changes that create a new cluster of a version with the objects of these manifests.
    ``for_servers``: with those that kube-apiserver stores for other servers, too. ``in_parts``: as by several
    requests, where there are more than one may have.

    The result depends on the arguments only: the same scenario gives the same names and UIDs everywhere."""
    with serving(features):
        changes = bootstrap(now)
        at_once = MAX_COPIES if in_parts else max(1, len(documents))
        for first in range(0, max(1, len(documents)), at_once):
            part, source = documents[first : first + at_once], f"new/{first}" if first else "new"
            changes += admit(part, CreatedObjects(changes), now, source=source).changes
        further = _missing_server_objects(documents) if for_servers else ()
        return changes + admit(further, CreatedObjects(changes), now, source="server").changes


def bootstrap(now: Micros) -> list[Change]:
    """Return the changes that create the objects of every cluster: the built-in namespaces and the system
    priority classes."""
    first = [each for strategy in STRATEGIES for each in strategy.first_objects]
    return admit(first, CreatedObjects(), now, source="bootstrap").changes


def _missing_server_objects(documents: Sequence[Manifest]) -> list[Manifest]:
    """Return those objects that the manifests of a new cluster do not have."""
    return [] if _place(AUTHENTICATION) in map(_place, documents) else [AUTHENTICATION]


def _place(document: Manifest) -> tuple[object, ...]:
    metadata = document.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return document.get("kind"), named.get("namespace"), named.get("name")
