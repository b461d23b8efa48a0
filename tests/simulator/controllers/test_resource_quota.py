"""The resource quota controller keeps the status of quotas, and workloads create the pods that their quotas
allow."""

from typing import Any

from simulator.api import Manifest
from simulator.objects.conditions import condition
from tests.apiserver.test_resource_quota import config_map, quota, service
from tests.simulator.controllers.workloads import names, new_leader, pods, scaled, status, workload
from tests.simulator.lab import Lab, node, pod

QUOTAS, SETS, JOBS = "resourcequotas", "replicasets.apps", "jobs.batch"


def cluster(hard: dict[str, str], **spec: Any) -> Lab:
    lab = Lab()
    lab.create(node("n1"), node("n2"), quota("q", hard, **spec))
    return lab


def usage(lab: Lab) -> Manifest:
    found: Manifest = status(lab, QUOTAS, "q")
    return found


def job(parallelism: int) -> Manifest:
    made = workload("Job", "work", annotations={"schedviz/run-seconds": "30"}, parallelism=parallelism)
    del made["spec"]["selector"]
    made["apiVersion"] = "batch/v1"
    made["spec"] |= {"completions": parallelism}
    made["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    return made


def test_a_new_quota_gets_a_status_with_what_is_there() -> None:
    lab = cluster(
        {"pods": "5", "requests.cpu": "4", "count/deployments.apps": "1", "count/gone.example.com": "1"}
    )
    lab.create(pod("a"), pod("b", "500m"), config_map("c"))
    lab.run(1)
    assert usage(lab) == {
        "hard": {
            "pods": "5",
            "requests.cpu": "4",
            "count/deployments.apps": "1",
            "count/gone.example.com": "1",
        },
        "used": {"pods": "2", "requests.cpu": "1500m", "count/deployments.apps": "0"},
    }


def test_the_status_follows_the_spec() -> None:
    lab = cluster({"pods": "5"})
    lab.create(pod("a"))
    lab.run(1)
    lab.update(QUOTAS, "default/q", lambda old: {**old, "spec": {"hard": {"requests.cpu": "1"}}})
    lab.run(1)
    assert usage(lab) == {"hard": {"requests.cpu": "1"}, "used": {"requests.cpu": "1"}}


def test_deleted_and_finished_objects_free_their_quota() -> None:
    lab = cluster({"pods": "5", "count/pods": "5", "count/configmaps": "5"})
    lab.run(1)
    lab.create(pod("a", annotations={"schedviz/run-seconds": "10"}), pod("b"), config_map("c"))
    lab.run(5)
    assert usage(lab)["used"] == {"pods": "2", "count/pods": "2", "count/configmaps": "1"}
    lab.run(15)
    assert usage(lab)["used"]["pods"] == "1", "one has succeeded"
    assert usage(lab)["used"]["count/pods"] == "2"
    lab.delete("configmaps", "default/c")
    lab.delete_pod("b")
    lab.run(60)
    assert usage(lab)["used"] == {"pods": "0", "count/pods": "1", "count/configmaps": "0"}


def test_a_stuck_terminating_pod_frees_its_quota_after_two_grace_periods() -> None:
    lab = cluster({"pods": "5"})
    lab.create(pod("a"))
    lab.run(5)
    held = {"finalizers": ["example.com/held"]}
    lab.update("pods", "default/a", lambda old: {**old, "metadata": {**old["metadata"], **held}})
    lab.delete_pod("a")
    lab.run(0)
    pod_status = lab.pod("a")["status"]
    lab.update("pods", "default/a", lambda old: {**old, "status": {**pod_status, "phase": "Running"}})
    lab.run(1)
    assert usage(lab)["used"] == {"pods": "1"}
    lab.run(120)
    assert usage(lab)["used"] == {"pods": "0"}
    assert lab.exists("a")


def test_a_service_of_another_type_frees_its_node_ports() -> None:
    lab = cluster({"services.nodeports": "5"})
    lab.create(service("NodePort", 3))
    lab.run(1)
    assert usage(lab)["used"] == {"services.nodeports": "3"}
    lab.update("services", "default/s", lambda old: {**old, "spec": {**old["spec"], "type": "ClusterIP"}})
    lab.run(1)
    assert usage(lab)["used"] == {"services.nodeports": "0"}


def test_a_definition_makes_its_objects_countable() -> None:
    lab = cluster({"count/widgets.example.com": "5"})
    lab.run(1)
    assert usage(lab)["used"] == {}
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names_of = {"plural": "widgets", "kind": "Widget"}
    lab.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names_of, "versions": [version]},
        }
    )
    lab.run(1)
    assert usage(lab)["used"] == {"count/widgets.example.com": "0"}


def test_a_replica_set_makes_the_pods_that_the_quota_allows() -> None:
    lab = cluster({"pods": "3"})
    lab.run(1)
    lab.create(workload("ReplicaSet", replicas=5))
    lab.run(5)
    assert len(names(lab)) == 3
    assert usage(lab)["used"] == {"pods": "3"}
    shown = status(lab, SETS)
    assert (shown["replicas"], shown["readyReplicas"]) == (3, 3)
    failure = condition(lab.api.objects[SETS]["default/web"], "ReplicaFailure")
    assert failure is not None
    assert (failure["status"], failure["reason"]) == ("True", "FailedCreate")
    text = "is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"
    assert failure["message"].endswith(text)
    [event] = [each for each in lab.api.objects["events"].values() if each["reason"] == "FailedCreate"]
    assert event["message"].startswith('Error creating: pods "web-')
    assert event["message"].endswith(text)
    lab.update(QUOTAS, "default/q", lambda old: {**old, "spec": {"hard": {"pods": "9"}}})
    lab.run(60)
    assert len(names(lab)) == 5, "it tries again"
    assert condition(lab.api.objects[SETS]["default/web"], "ReplicaFailure") is None


def test_a_deployment_shows_the_failure_of_its_replica_set() -> None:
    lab = cluster({"pods": "1"})
    lab.run(1)
    lab.create(workload("Deployment", replicas=2))
    lab.run(5)
    failure = condition(lab.api.objects["deployments.apps"]["default/web"], "ReplicaFailure")
    assert failure is not None
    assert failure["reason"] == "FailedCreate"
    lab.update("deployments.apps", "default/web", scaled(1))
    lab.run(2000)
    assert condition(lab.api.objects["deployments.apps"]["default/web"], "ReplicaFailure") is None


def test_jobs_daemon_sets_and_stateful_sets_show_what_they_could_make() -> None:
    lab = cluster({"pods": "1"})
    lab.run(1)
    lab.create(job(3))
    lab.run(5)
    assert status(lab, JOBS, "work")["active"] == 1
    lab.run(2000)
    assert status(lab, JOBS, "work")["succeeded"] == 3, "one after the other"

    lab = cluster({"pods": "1"})
    lab.run(1)
    lab.create(workload("DaemonSet"))
    lab.run(5)
    shown = status(lab, "daemonsets.apps")
    assert (shown["desiredNumberScheduled"], shown["currentNumberScheduled"]) == (2, 1)

    lab = cluster({"pods": "1"})
    lab.run(1)
    lab.create(workload("StatefulSet", replicas=2, serviceName=""))
    lab.run(5)
    assert status(lab, "statefulsets.apps")["replicas"] == 1


def test_a_new_leader_writes_no_status_that_is_right() -> None:
    lab = cluster({"pods": "3"})
    lab.create(pod("a"))
    lab.run(5)
    version = lab.api.objects[QUOTAS]["default/q"]["metadata"]["resourceVersion"]
    successor = new_leader(lab)
    successor.run(5)
    assert successor.api.objects[QUOTAS]["default/q"]["metadata"]["resourceVersion"] == version
    assert len(pods(successor)) == 1
