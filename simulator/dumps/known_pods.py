"""The parts of pods that were found to be without fault: the specs of the pods of one template are the same
but for the node, and the metadata of those of one owner but for the names and times. So each is fitted to its
type, completed and validated once."""

from typing import Final, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.apiserver.names import dns_subdomain

KEPT_AT_MOST: Final = 10_000
"""Maximum number of specs, and of metadata, that are kept. Pods with other ones are read as if none were
known."""
OWN_METADATA: Final = (
    *("name", "uid", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)
"""The metadata in which the pods of one owner differ."""


class KnownParts(NamedTuple):
    """What is known of a pod, as it is stored. It must not be changed."""

    spec: Manifest | None
    metadata: Manifest | None
    """That of another pod, from which this one differs in the fields OWN_METADATA only."""


class KnownPods:
    def __init__(self) -> None:
        self._specs: dict[bytes, Manifest] = {}
        self._metadata: dict[bytes, Manifest] = {}

    def find(self, pod: Manifest) -> KnownParts:
        """Return what is known of a redacted pod."""
        return KnownParts(self._spec(pod), self._metadata.get(_metadata_key(pod)))

    def _spec(self, pod: Manifest) -> Manifest | None:
        known = self._specs.get(_spec_key(pod))
        if known is None:
            return None
        node = pod["spec"].get("nodeName")
        if node is None:
            return known
        return {**known, "nodeName": node} if isinstance(node, str) and not dns_subdomain(node) else None

    def keep(self, pod: Manifest, stored: Manifest) -> None:
        """Keep the parts of a pod without fault. pod: as it is redacted; stored: as it is stored."""
        if len(self._specs) < KEPT_AT_MOST:
            spec = {field: value for field, value in stored["spec"].items() if field != "nodeName"}
            self._specs.setdefault(_spec_key(pod), spec)
        if len(self._metadata) < KEPT_AT_MOST:
            self._metadata.setdefault(_metadata_key(pod), stored["metadata"])


def own_metadata(pod: Manifest) -> Manifest:
    metadata = pod["metadata"]
    return {field: metadata[field] for field in OWN_METADATA if field in metadata}


def with_own_metadata(known: Manifest, own: Manifest) -> Manifest:
    """Return the known metadata of another pod with the fields OWN_METADATA of this one."""
    return {field: value for field, value in known.items() if field not in OWN_METADATA or field in own} | own


def _metadata_key(pod: Manifest) -> bytes:
    """Return the metadata but for the values of OWN_METADATA."""
    metadata = pod["metadata"]
    return msgspec.json.encode({**metadata, **{field: 0 for field in OWN_METADATA if field in metadata}})


def _spec_key(pod: Manifest) -> bytes:
    """Return what decides how the spec is stored and whether it has faults, but for the name of the node: its
    own fields, and the annotations, which may say the same. The name, too, where claims are named after the
    pod."""
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return b""
    own = {**spec, "nodeName": 0} if spec.get("nodeName") else spec
    metadata = pod["metadata"]
    text = msgspec.json.encode((own, metadata.get("annotations")))
    return text + metadata["name"].encode() if b'"ephemeral"' in text else text
