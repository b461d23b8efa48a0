"""What controllers ask of pods, and how they make them (pkg/controller/controller_utils.go and
pkg/api/v1/pod/util.go, v1.34)."""

import copy
import hashlib
import json
import math
from collections.abc import Iterable

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros
from simulator.controllers.controller import is_finished
from simulator.objects.pod_status import condition

HASH_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels, no look-alikes: what names may be made of (apimachinery/pkg/util/rand)."""
HASH_LENGTH = 10

PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def is_active(pod: Manifest) -> bool:
    """It counts for its controller: neither over, nor on its way out."""
    return not is_finished(pod) and "deletionTimestamp" not in pod["metadata"]


def is_ready(pod: Manifest) -> bool:
    ready = condition(pod, "Ready")
    return ready is not None and ready["status"] == "True"


def available_at(pod: Manifest, min_ready_seconds: int) -> Micros | None:
    """Since when, or from when on, it has been ready long enough; None = it is not ready."""
    ready = condition(pod, "Ready")
    if ready is None or ready["status"] != "True":
        return None
    since = ready.get("lastTransitionTime") or pod["metadata"]["creationTimestamp"]
    return micros(since) + min_ready_seconds * SECOND


def available(pods: Iterable[Manifest], min_ready_seconds: int, now: Micros) -> tuple[int, Micros | None]:
    """How many are available now, and when the next one will be."""
    times = [time for pod in pods if (time := available_at(pod, min_ready_seconds)) is not None]
    return sum(time <= now for time in times), min((time for time in times if time > now), default=None)


def from_template(template: Manifest) -> Manifest:
    """A pod of its own, without a name yet (GetPodFromTemplate)."""
    metadata = {
        field: dict(template["metadata"][field])
        for field in ("labels", "annotations")
        if (template.get("metadata") or {}).get(field)
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copy.deepcopy(template["spec"]),
    }


def template_hash(template: Manifest, collisions: int = 0) -> str:
    """A name for this template: the same for the same, whatever the order of its fields."""
    text = json.dumps([template, collisions], sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=HASH_LENGTH).digest()
    return "".join(HASH_ALPHABET[byte % len(HASH_ALPHABET)] for byte in digest)


def to_delete(pods: list[Manifest], count: int, related: Iterable[Manifest]) -> list[Manifest]:
    """The ones that a smaller number of replicas can best do without (ActivePodsWithRanks): those not placed,
    not running or not ready first, then by deletion cost, those that share their node with more of
    ``related``, those ready or created the most recently."""
    crowd: dict[str, int] = {}
    for pod in related:
        node = pod["spec"].get("nodeName", "")
        crowd[node] = crowd.get(node, 0) + 1

    def rank(pod: Manifest) -> tuple[object, ...]:
        node = pod["spec"].get("nodeName", "")
        status = pod.get("status") or {}
        ready = condition(pod, "Ready") or {}
        since = available_at(pod, 0)
        restarts = max((c.get("restartCount", 0) for c in status.get("containerStatuses") or ()), default=0)
        return (
            bool(node),
            PHASES.get(status.get("phase", "Pending"), 0),
            ready.get("status") == "True",
            deletion_cost(pod),
            -crowd.get(node, 0),
            -math.inf if since is None else -since,
            -restarts,
            -micros(pod["metadata"]["creationTimestamp"]),
            pod["metadata"]["name"],
        )

    return sorted(pods, key=rank)[:count]


def deletion_cost(pod: Manifest) -> int:
    """0 where there is none, or none that is a number."""
    text = (pod["metadata"].get("annotations") or {}).get("controller.kubernetes.io/pod-deletion-cost", "0")
    try:
        return int(text)
    except ValueError:
        return 0
