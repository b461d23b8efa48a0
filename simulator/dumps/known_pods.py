"""The specs of pods that were found to be without fault: those of one template are the same but for the node,
so each is fitted to its type, completed and validated once."""

from typing import Final

import msgspec

from simulator.api import Manifest

KEPT_AT_MOST: Final = 10_000
"""Maximum number of specs that are kept. Pods with other ones are read as if none were known."""


class KnownSpecs:
    def __init__(self) -> None:
        self._specs: dict[bytes, Manifest] = {}
        self._nodes: set[str] = set()
        """Names of nodes that pods without fault have."""

    def find(self, pod: Manifest) -> Manifest | None:
        """Return the spec of a redacted pod as it is stored; None = it is not known. It must not be
        changed."""
        known = self._specs.get(_key(pod))
        if known is None:
            return None
        node = pod["spec"].get("nodeName")
        if node is None:
            return known
        return {**known, "nodeName": node} if node in self._nodes else None

    def keep(self, pod: Manifest, stored: Manifest) -> None:
        """Keep the spec of a pod without fault. pod: as it is redacted; stored: its spec as it is stored."""
        node = stored.get("nodeName")
        if node is not None:
            self._nodes.add(node)
        if len(self._specs) < KEPT_AT_MOST:
            self._specs[_key(pod)] = {field: value for field, value in stored.items() if field != "nodeName"}


def _key(pod: Manifest) -> bytes:
    """Return what decides how the spec is stored and whether it has faults, but for the node: its own fields,
    and the annotations, which may say the same. The name, too, where claims are named after the pod."""
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return b""
    own = {field: value for field, value in spec.items() if field != "nodeName"}
    metadata = pod["metadata"]
    text = msgspec.json.encode((own, metadata.get("annotations")))
    return text + metadata["name"].encode() if b'"ephemeral"' in text else text
