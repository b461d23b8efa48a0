"""Proposals to create storage: a missing PersistentVolumeClaim, or a PersistentVolume for an unbound
claim."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast

from simulator.api import Manifest
from simulator.cluster.volume_objects import find_claim
from simulator.controllers.stateful_set import STATEFUL_SETS
from simulator.objects.metadata import name_of, namespace_of
from simulator.objects.owner_references import controller_reference
from simulator.objects.volumes import (
    PVCS,
    PVS,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_reference,
    is_fully_bound,
    pod_volumes,
    storage_class_name,
)
from simulator.what_if.edit import create_object, mutable_copy
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals
from simulator.what_if.situation import Situation

CLAIM_SIZE = "1Gi"
"""The size of a proposed claim that has no template, as the pod only contains its name."""


def propose_storage(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose a missing claim, or a volume for a claim. The claim of an ephemeral volume is only proposed for
    a pod that is not stored, as a controller creates it for a stored one."""
    for volume in pod_volumes(situation.pod):
        reference = claim_reference(situation.pod, volume)
        if reference is None:
            continue
        claim = find_claim(situation.cluster, situation.pod, reference.name)
        if claim is None and (not reference.ephemeral or not situation.pod.uid):
            yield from _claim_proposals(situation, reference.name, volume)
        elif (
            claim is not None
            and not is_fully_bound(claim)
            and _waits_for_consumer(situation, storage_class_name(claim))
        ):
            yield _volume_proposal(situation, claim)


def _waits_for_consumer(situation: Situation, storage_class: str) -> bool:
    found = situation.cluster.objects(STORAGE_CLASSES).get(storage_class)
    return found is not None and found.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def _claim_proposals(situation: Situation, name: str, volume: Mapping[str, Any]) -> Iterator[Proposal]:
    """Propose a claim of the template's storage class, or of each one, with WaitForFirstConsumer. A claim of
    another class would have to be bound by the volume controller before the pod can be scheduled."""
    pod = situation.pod
    spec = _claim_spec(situation, name, volume)
    wanted = spec.get("storageClassName")
    size = str(((spec.get("resources") or {}).get("requests") or {}).get("storage", CLAIM_SIZE))
    metadata: Manifest = {"name": name, "namespace": pod.namespace}
    if volume.get("ephemeral") is not None:
        metadata["ownerReferences"] = [controller_reference(pod.manifest)]
    for storage_class in sorted(situation.cluster.objects(STORAGE_CLASSES)):
        if wanted in (None, storage_class) and _waits_for_consumer(situation, storage_class):
            manifest = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": metadata,
                "spec": {**spec, "storageClassName": storage_class},
            }
            key = f"{pod.namespace}/{name}"
            made = create_object(PVCS, key, manifest)
            yield Proposal("volume", key, storage_class, "", size, partial(list, [made]))


def _claim_spec(situation: Situation, name: str, volume: Mapping[str, Any]) -> Manifest:
    """Return the spec for a missing claim: that of the template of the ephemeral volume or of the
    StatefulSet, otherwise that of the claim of another ordinal, otherwise a usual one."""
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is None:
        template = _template_of_set(situation, name)
    if template is not None:
        return {field: mutable_copy(value) for field, value in template["spec"].items() if value is not None}
    stem, _, ordinal = name.rpartition("-")
    if stem and ordinal.isdigit():
        claims = situation.cluster.objects(PVCS)
        start = f"{situation.pod.namespace}/{stem}-"
        alike = (
            claims[key]["spec"]
            for key in sorted(claims)
            if key.startswith(start) and key[len(start) :].isdigit()
        )
        found = next(alike, None)
        if found is not None:
            kept = ("accessModes", "resources", "storageClassName", "volumeMode")
            return {field: mutable_copy(found[field]) for field in kept if field in found}
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": CLAIM_SIZE}}}


def _template_of_set(situation: Situation, name: str) -> Manifest | None:
    """Return the template of the StatefulSet whose pods have claims of this name:
    ``<template>-<set>-<ordinal>`` (getPersistentVolumeClaimName in
    pkg/controller/statefulset/stateful_set_utils.go)."""
    stem, _, ordinal = name.rpartition("-")
    if not ordinal.isdigit():
        return None
    for manifest in situation.cluster.objects(STATEFUL_SETS).values():
        if namespace_of(manifest) == situation.pod.namespace:
            for template in manifest["spec"].get("volumeClaimTemplates") or ():
                if f"{name_of(template)}-{name_of(manifest)}" == stem:
                    return cast("Manifest", template)
    return None


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
