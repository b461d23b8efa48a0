"""Drains a node, as kubectl drain --ignore-daemonsets --force does: cordons it, then evicts its pods one by
one through the API, which checks the disruption budgets.

Upstream: kubectl/pkg/drain/{drain,filters}.go. Upstream tries refused evictions again every 5 seconds;
here the user must drain again.
"""

from typing import Final, Literal

import msgspec

from schedviz.api import removal
from schedviz.store import Sandbox
from schedviz.web.objects.actions import cordon
from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import NotFound, StatusError
from simulator.objects.metadata import annotations_of, is_terminating, key_of
from simulator.objects.owner_references import controller_of
from simulator.objects.status import FINISHED_PHASES, phase_of

EVICTIONS_AT_ONCE: Final = 250
"""Pods that one drain evicts: more than a node usually has (110). The next drain evicts the others."""
MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod (of a static pod), which cannot be evicted."""

End = Literal["evicted", "leaving", "refused", "daemon", "static"]


class DrainOutcome(msgspec.Struct, frozen=True):
    """The result for one pod. end: ``leaving`` = it was terminating before; ``daemon``, ``static`` = it is
    not evicted. message, why: the error of the API server, with the disruption budget and its numbers."""

    pod: str
    end: End
    message: str = ""
    why: str = ""


class Drained(msgspec.Struct, frozen=True):
    outcomes: list[DrainOutcome]

    @property
    def refused(self) -> list[DrainOutcome]:
        return [each for each in self.outcomes if each.end == "refused"]

    @property
    def leaving(self) -> list[DrainOutcome]:
        return [each for each in self.outcomes if each.end in ("evicted", "leaving")]


def drain_node(sandbox: Sandbox, node: str) -> Drained:
    """Cordon the node and evict its pods. Raises StatusError if the node cannot be cordoned."""
    cordon(sandbox, node)
    here = [pod for pod in sandbox.list(PODS.id).items if pod["spec"].get("nodeName") == node]
    return Drained([evict_pod(sandbox, pod) for pod in here[:EVICTIONS_AT_ONCE]])


def evict_pod(sandbox: Sandbox, pod: Manifest) -> DrainOutcome:
    key, controller = key_of(pod), controller_of(pod)
    if controller is not None and controller["kind"] == "DaemonSet" and phase_of(pod) not in FINISHED_PHASES:
        return DrainOutcome(key, "daemon")
    if MIRROR in annotations_of(pod):
        return DrainOutcome(key, "static")
    if is_terminating(pod):
        return DrainOutcome(key, "leaving")
    try:
        removal.evict(sandbox, key)
    except NotFound:
        pass  # it was deleted meanwhile
    except StatusError as error:
        return DrainOutcome(key, "refused", error.message, "; ".join(cause.message for cause in error.causes))
    return DrainOutcome(key, "evicted")
