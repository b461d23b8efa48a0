"""What storage could be added for the pod: a claim that is not there, or a volume for one that waits."""

from collections.abc import Iterator
from functools import partial

from simulator.api import Manifest
from simulator.objects.volumes import (
    PVCS,
    PVS,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_references,
    class_name,
    find_claim,
    fully_bound,
)
from simulator.what_if.edit import create
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals
from simulator.what_if.situation import Situation

CLAIM_SIZE = "1Gi"
"""Of a claim of which nothing is known but its name."""


def storage(situation: Situation, obstacles: Obstacles) -> Proposals:
    for reference in claim_references(situation.pod):
        claim = find_claim(situation.cluster, situation.pod, reference.name)
        if claim is None and not reference.ephemeral:
            yield from _claims(situation, reference.name)
        elif claim is not None and not fully_bound(claim) and _waits(situation, class_name(claim)):
            yield _volume(situation, claim)


def _waits(situation: Situation, storage_class: str) -> bool:
    found = situation.cluster.objects(STORAGE_CLASSES).get(storage_class)
    return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def _claims(situation: Situation, name: str) -> Iterator[Proposal]:
    """Of a class that waits for its first consumer: any other is bound by the volume controller in its own
    time."""
    namespace = situation.pod.namespace
    for storage_class in sorted(situation.cluster.objects(STORAGE_CLASSES)):
        if _waits(situation, storage_class):
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
            made = create(PVCS, key, manifest)
            yield Proposal("volume", key, storage_class, "", CLAIM_SIZE, partial(list, [made]))


def _volume(situation: Situation, claim: Manifest) -> Proposal:
    """A volume that the claim can have, to be reached from everywhere."""
    spec, number = claim["spec"], 1
    name = claim["metadata"]["name"]
    while f"{name}-{number}" in situation.cluster.objects(PVS):
        number += 1
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", CLAIM_SIZE)
    manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{name}-{number}", "labels": _labels(spec.get("selector") or {})},
        "spec": {
            "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
            "capacity": {"storage": size},
            "hostPath": {"path": f"/volumes/{name}-{number}"},
            "storageClassName": class_name(claim),
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
        "status": {"phase": "Available"},
    }
    edits = [create(PVS, f"{name}-{number}", manifest)]
    return Proposal("volume", f"{name}-{number}", class_name(claim), "", str(size), lambda: edits)


def _labels(selector: Manifest) -> dict[str, str]:
    return dict(selector.get("matchLabels") or {})
