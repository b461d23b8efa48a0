"""Objects that kube-apiserver stores for other servers, which read them when they start."""

from collections.abc import Sequence
from typing import Final

from simulator.api import Manifest

AUTHENTICATION: Final[Manifest] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
}
"""The ConfigMap of the certificates by which kube-scheduler and aggregated API servers authenticate their
clients. It is empty: an API server without --client-ca-file writes it so
(pkg/controlplane/controller/clusterauthenticationtrust, v1.34)."""


def missing_server_objects(documents: Sequence[Manifest]) -> list[Manifest]:
    """Return those objects that the manifests of a new cluster do not have."""
    return [] if _place(AUTHENTICATION) in map(_place, documents) else [AUTHENTICATION]


def _place(document: Manifest) -> tuple[object, ...]:
    metadata = document.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return document.get("kind"), named.get("namespace"), named.get("name")
