"""Proposals to create storage: a missing PersistentVolumeClaim, or a PersistentVolume for an unbound
claim."""

from collections.abc import Iterator
from functools import partial

from simulator.api import Manifest
from simulator.cluster.volume_objects import find_claim
from simulator.objects.volumes import (
    PVCS,
    PVS,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_references,
    is_fully_bound,
    storage_class_name,
)
from simulator.what_if.edit import create_object
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals
from simulator.what_if.situation import Situation

CLAIM_SIZE = "1Gi"
"""The size of a proposed claim, as the pod only contains its name."""


def propose_storage(situation: Situation, obstacles: Obstacles) -> Proposals:
    for reference in claim_references(situation.pod):
        claim = find_claim(situation.cluster, situation.pod, reference.name)
        if claim is None and not reference.ephemeral:
            yield from _claim_proposals(situation, reference.name)
        elif (
            claim is not None
            and not is_fully_bound(claim)
            and _waits_for_consumer(situation, storage_class_name(claim))
        ):
            yield _volume_proposal(situation, claim)


def _waits_for_consumer(situation: Situation, storage_class: str) -> bool:
    found = situation.cluster.objects(STORAGE_CLASSES).get(storage_class)
    return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def _claim_proposals(situation: Situation, name: str) -> Iterator[Proposal]:
    """Propose a claim of each storage class with WaitForFirstConsumer. A claim of another class would have to
    be bound by the volume controller before the pod can be scheduled."""
    namespace = situation.pod.namespace
    for storage_class in sorted(situation.cluster.objects(STORAGE_CLASSES)):
        if _waits_for_consumer(situation, storage_class):
            manifest = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": storage_class,
                    "resources": {"requests": {"storage": CLAIM_SIZE}},
                },
            }
            key = f"{namespace}/{name}"
            made = create_object(PVCS, key, manifest)
            yield Proposal("volume", key, storage_class, "", CLAIM_SIZE, partial(list, [made]))


def _volume_proposal(situation: Situation, claim: Manifest) -> Proposal:
    """Propose a volume that the claim can be bound to and that all nodes can access."""
    spec, number = claim["spec"], 1
    name = claim["metadata"]["name"]
    while f"{name}-{number}" in situation.cluster.objects(PVS):
        number += 1
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", CLAIM_SIZE)
    manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{name}-{number}", "labels": _selector_labels(spec.get("selector") or {})},
        "spec": {
            "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "hostPath": {"path": f"/volumes/{name}-{number}"},
            "storageClassName": storage_class_name(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
        "status": {"phase": "Available"},
    }
    edits = [create_object(PVS, f"{name}-{number}", manifest)]
    return Proposal("volume", f"{name}-{number}", storage_class_name(claim), "", str(size), lambda: edits)


def _selector_labels(selector: Manifest) -> dict[str, str]:
    return dict(selector.get("matchLabels") or {})
