"""Drain a node, as kubectl drain --ignore-daemonsets --force does: cordon it, then evict its pods one by one
through the API, which asks the disruption budgets.

Upstream: kubectl/pkg/drain/{drain,filters}.go, v1.34, which asks again every 5 seconds; here somebody does.
"""

from typing import Final, Literal

import msgspec

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.acts import cordon
from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import NotFound, StatusError

EVICTIONS_AT_ONCE: Final = 250
"""More than a node usually holds (110); the rest go with the next try."""
MIRROR: Final = "kubernetes.io/config.mirror"
"""The annotation of a static pod's mirror, which no drain can move."""
FINISHED: Final = ("Succeeded", "Failed")

End = Literal["evicted", "leaving", "refused", "daemon", "static"]


class Outcome(msgspec.Struct, frozen=True):
    """What came of one pod. ``leaving``: it was on its way out already; ``daemon``, ``static``: it stays.
    ``message`` and ``why``, the budget and its numbers, are the API server's words of a refusal."""

    pod: str
    end: End
    message: str = ""
    why: str = ""


class Drained(msgspec.Struct, frozen=True):
    outcomes: list[Outcome]

    @property
    def refused(self) -> list[Outcome]:
        return [each for each in self.outcomes if each.end == "refused"]

    @property
    def going(self) -> list[Outcome]:
        return [each for each in self.outcomes if each.end in ("evicted", "leaving")]


def drain(sandbox: Sandbox, node: str) -> Drained:
    """Raises StatusError where the node cannot be cordoned."""
    cordon(sandbox, node)
    here = [pod for pod in sandbox.list(PODS.id).items if pod["spec"].get("nodeName") == node]
    return Drained([evict(sandbox, pod) for pod in here[:EVICTIONS_AT_ONCE]])


def evict(sandbox: Sandbox, pod: Manifest) -> Outcome:
    metadata = pod["metadata"]
    key = f"{metadata['namespace']}/{metadata['name']}"
    finished = (pod.get("status") or {}).get("phase") in FINISHED
    owners = metadata.get("ownerReferences") or ()
    if any(each.get("kind") == "DaemonSet" and each.get("controller") for each in owners) and not finished:
        return Outcome(key, "daemon")
    if MIRROR in (metadata.get("annotations") or {}):
        return Outcome(key, "static")
    if "deletionTimestamp" in metadata:
        return Outcome(key, "leaving")
    try:
        write.evict(sandbox, key)
    except NotFound:
        pass  # it went meanwhile, which is what was wanted
    except StatusError as error:
        return Outcome(key, "refused", error.message, "; ".join(cause.message for cause in error.causes))
    return Outcome(key, "evicted")
