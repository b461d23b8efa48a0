"""The owners that a dump lacks. A dump for the scheduler has pods without their ReplicaSets; these are made
up of the pods, so that an evicted pod is created again, and the garbage collector leaves the others."""

from collections.abc import Iterable, Mapping

from simulator import question_words as words
from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.objects.metadata import is_terminating, key_of, labels_of, namespace_of, uid_of
from simulator.objects.owner_references import controller_of, owner_references
from simulator.objects.status import FINISHED_PHASES, phase_of
from simulator.questions.answer import AskedCluster, Sentence

REPLICA_SETS = "replicasets.apps"


def with_owners(cluster: AskedCluster) -> AskedCluster:
    """Return the cluster with a stand-in for each missing ReplicaSet, and without references to other owners
    that are missing."""
    uids = {uid_of(manifest) for each in cluster.objects.values() for manifest in each.values()}
    orphans: dict[str, list[Manifest]] = {}
    for pod in cluster.objects.get(PODS.id, {}).values():
        owner = controller_of(pod)
        if owner is not None and owner["uid"] not in uids:
            orphans.setdefault(owner["uid"], []).append(pod)
    pods = {**cluster.objects.get(PODS.id, {})}
    sets = {**cluster.objects.get(REPLICA_SETS, {})}
    lost: dict[str, str] = {}
    made = 0
    for found in orphans.values():
        owner = controller_of(found[0])
        assert owner is not None, "these pods have one"
        stand_in = _stand_in(owner, found) if owner["kind"] == "ReplicaSet" else None
        if stand_in is not None:
            sets.setdefault(key_of(stand_in), stand_in)
            made += 1
            continue
        lost.update({key_of(pod): f"{owner['kind']} {owner['name']}" for pod in found})
        pods.update({key_of(pod): _without_missing(pod, uids) for pod in found})
    return AskedCluster(
        {**cluster.objects, PODS.id: pods, REPLICA_SETS: sets},
        cluster.configuration,
        cluster.features,
        cluster.seed,
        cluster.now,
        lost,
        made,
    )


def _stand_in(owner: Manifest, pods: Iterable[Manifest]) -> Manifest | None:
    """Return a ReplicaSet that has these pods; None if they have no label in common."""
    first, *others = pods
    labels = dict(labels_of(first))
    for pod in others:
        has = labels_of(pod)
        labels = {key: value for key, value in labels.items() if has.get(key) == value}
    if not labels:
        return None
    alive = [
        pod for pod in (first, *others) if phase_of(pod) not in FINISHED_PHASES and not is_terminating(pod)
    ]
    metadata: Mapping[str, str] = {
        "name": owner["name"],
        "namespace": namespace_of(first),
        "uid": owner["uid"],
        "creationTimestamp": first["metadata"].get("creationTimestamp", ""),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {**metadata, "generation": 1},
        "spec": {
            "replicas": len(alive),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _template_spec(first["spec"])},
        },
        "status": {"replicas": len(alive), "observedGeneration": 1},
    }


def _template_spec(spec: Manifest) -> Manifest:
    return {
        field: value
        for field, value in spec.items()
        if field not in ("nodeName", "priority", "preemptionPolicy", "ephemeralContainers", "hostname")
    }


def _without_missing(pod: Manifest, uids: Iterable[str]) -> Manifest:
    kept = [each for each in owner_references(pod) if each["uid"] in uids]
    metadata = {field: value for field, value in pod["metadata"].items() if field != "ownerReferences"}
    return {**pod, "metadata": {**metadata, "ownerReferences": kept} if kept else metadata}


def owner_notes(cluster: AskedCluster) -> list[Sentence]:
    """Return what is to be said of pods whose owners are not among the objects."""
    notes = []
    if cluster.stand_ins:
        notes.append(Sentence(words.OWNERS_MADE_UP, {"count": str(cluster.stand_ins)}))
    if cluster.lost_owners:
        notes.append(Sentence(words.OWNERS_MISSING, {"count": str(len(cluster.lost_owners))}))
    return notes
