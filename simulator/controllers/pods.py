"""The checks and the creation of pods that controllers share (pkg/controller/controller_utils.go and
pkg/api/v1/pod/util.go)."""

import copy
import hashlib
import json
import math
from collections.abc import Iterable

from simulator.api import Manifest, Micros
from simulator.objects.conditions import condition, holds_since, is_condition_true
from simulator.objects.container_status import restart_count
from simulator.objects.metadata import annotations_of, created_at, is_terminating, labels_of, name_of
from simulator.objects.status import FINISHED_PHASES, phase_of

HASH_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of hashes: no vowels and no characters that look alike
(apimachinery/pkg/util/rand/rand.go)."""
HASH_LENGTH = 10
REVISION_LABEL = "controller-revision-hash"

PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def is_finished(pod: Manifest) -> bool:
    """Whether all containers have terminated and are not restarted (IsPodTerminal)."""
    return phase_of(pod) in FINISHED_PHASES


def is_active(pod: Manifest) -> bool:
    """Whether the pod is neither finished nor terminating (IsPodActive)."""
    return not is_finished(pod) and not is_terminating(pod)


def is_ready(pod: Manifest) -> bool:
    return is_condition_true(pod, "Ready")


def ready_since(pod: Manifest) -> Micros | None:
    """Return the time since which the pod is ready; None = it is not."""
    ready = condition(pod, "Ready")
    if ready is None or ready["status"] != "True":
        return None
    return holds_since(ready, pod)


def pod_from_template(template: Manifest) -> Manifest:
    """Return a new pod without a name (GetPodFromTemplate)."""
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
    """Return the hash of a template, independent of the order of its fields (ComputeHash)."""
    text = json.dumps([template, collisions], sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=HASH_LENGTH).digest()
    return "".join(HASH_ALPHABET[byte % len(HASH_ALPHABET)] for byte in digest)


def revision_label(manifest: Manifest) -> str:
    """Return what the label of a pod, or of a DaemonSet's revision, says of the revision; "" without it."""
    return labels_of(manifest).get(REVISION_LABEL, "")


def pods_to_delete(pods: list[Manifest], count: int, related: Iterable[Manifest]) -> list[Manifest]:
    """Return the ``count`` pods that are deleted first when a workload is scaled down (ActivePodsWithRanks):
    pods without a node, not running or not ready come first, then those of the lowest deletion cost, those
    that share their node with most of ``related``, those that became ready or were created last."""
    on_node: dict[str, int] = {}
    for pod in related:
        node = pod["spec"].get("nodeName", "")
        on_node[node] = on_node.get(node, 0) + 1

    def rank(pod: Manifest) -> tuple[object, ...]:
        node = pod["spec"].get("nodeName", "")
        since = ready_since(pod)
        return (
            bool(node),
            PHASE_ORDER.get(phase_of(pod) or "Pending", 0),
            is_ready(pod),
            _deletion_cost(pod),
            -on_node.get(node, 0),
            -math.inf if since is None else -since,
            -restart_count(pod),
            -created_at(pod),
            name_of(pod),
        )

    return sorted(pods, key=rank)[:count]


def _deletion_cost(pod: Manifest) -> int:
    """Return the deletion cost; 0 without the annotation, or if it is not a number."""
    try:
        return int(annotations_of(pod).get(DELETION_COST, "0"))
    except ValueError:
        return 0
