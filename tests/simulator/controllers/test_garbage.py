"""The dependents of a deleted object, by the three ways of deletion."""

import pytest

from simulator import trace
from simulator.api import Change, Manifest
from simulator.apiserver.component_writes import Propagation
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.resources import find_by_kind
from simulator.objects.owner_references import owner_references
from tests.simulator.controllers.workloads import names, new_leader, pods, workload
from tests.simulator.lab import Lab, node

DEPLOYMENTS, SETS = "deployments.apps", "replicasets.apps"


def running() -> Lab:
    lab = Lab()
    lab.create(node("n1"), workload("Deployment", replicas=2, pod={"terminationGracePeriodSeconds": 5}))
    return lab.run(10)


def delete(lab: Lab, resource: str, key: str, propagation: Propagation | None) -> None:
    manifest = lab.api.objects[resource][key]
    kind = find_by_kind(manifest["apiVersion"], manifest["kind"])
    assert kind is not None
    change = admit_delete(kind, manifest, lab.now, propagation=propagation)
    assert change is not None
    lab.api.commit([Change(change.resource, change.key, change.object)])
    lab.simulation.observe(lab.api.take_events())


@pytest.mark.parametrize("propagation", [None, "Background"])
def test_background_deletion_deletes_the_owner_first(propagation: Propagation | None) -> None:
    lab = running()
    delete(lab, DEPLOYMENTS, "default/web", propagation)
    lab.run(0)
    assert not lab.api.objects[DEPLOYMENTS]
    assert not lab.api.objects[SETS]
    assert len(names(lab, alive=False)) == 2, "they have their grace period"
    lab.run(10)
    assert names(lab, alive=False) == []


def test_foreground_deletion_deletes_the_owner_after_its_dependents() -> None:
    lab = running()
    delete(lab, DEPLOYMENTS, "default/web", "Foreground")
    lab.run(1)
    assert [*lab.api.objects[DEPLOYMENTS]] == ["default/web"]
    [replica_set] = lab.api.objects[SETS].values()
    assert replica_set["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert names(lab) == [], "no new ones are created"
    lab = new_leader(lab)
    lab.run(10)
    assert not lab.api.objects[DEPLOYMENTS]
    assert not lab.api.objects[SETS]
    assert names(lab, alive=False) == []


def test_orphaned_dependents_stay_and_are_adopted_by_the_next_owner() -> None:
    lab = running()
    before = names(lab)
    [replica_set] = lab.api.objects[SETS]
    delete(lab, DEPLOYMENTS, "default/web", "Orphan")
    lab.run(10)
    assert not lab.api.objects[DEPLOYMENTS]
    assert not owner_references(lab.api.objects[SETS][replica_set])
    assert names(lab) == before
    lab.create(workload("Deployment", replicas=2, pod={"terminationGracePeriodSeconds": 5}))
    lab.run(10)
    assert [*lab.api.objects[SETS]] == [replica_set]
    assert names(lab) == before
    assert owner_references(lab.api.objects[SETS][replica_set])


def test_a_dependent_with_another_owner_loses_only_the_deleted_one() -> None:
    lab = running()
    lab.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}})
    other = lab.api.objects["configmaps"]["default/other"]["metadata"]["uid"]
    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other}

    def shared(manifest: Manifest) -> Manifest:
        metadata = manifest["metadata"]
        return {
            **manifest,
            "metadata": {**metadata, "ownerReferences": [*metadata["ownerReferences"], second]},
        }

    [replica_set] = lab.api.objects[SETS]
    lab.update(SETS, replica_set, shared)
    delete(lab, DEPLOYMENTS, "default/web", "Foreground")
    lab.run(5)
    assert not lab.api.objects[DEPLOYMENTS]
    assert owner_references(lab.api.objects[SETS][replica_set]) == [second]
    assert len(pods(lab)) == 2
    lab.delete("configmaps", "default/other")
    lab.run(20)
    assert not lab.api.objects[SETS]
    assert lab.of(trace.ObjectsDeleted)[0].reason == "ConfigMap other is gone"
