"""The official Kubernetes client for Python, its host set to a sandbox's URL."""

from typing import Any

import pytest
from kubernetes import client, watch
from kubernetes.client.exceptions import ApiException

from schedviz.loop.clock import resume
from schedviz.store import Commit, Store
from schedviz.store.bounds import LOG_LENGTH
from simulator.api import Change
from tests.processes import Process
from tests.waiting import PATIENCE

POD: dict[str, Any] = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "0.5"}}}]},
}


def node(name: str, **labels: str) -> client.V1Node:
    return client.V1Node(
        metadata=client.V1ObjectMeta(name=name, labels=labels),
        status=client.V1NodeStatus(allocatable={"cpu": "4", "memory": "8Gi"}),
    )


def pod(name: str, **labels: str) -> client.V1Pod:
    container = client.V1Container(name="main", image="web:1")
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels), spec=client.V1PodSpec(containers=[container])
    )


def test_a_node_is_created_listed_patched_and_deleted(core: client.CoreV1Api) -> None:
    created = core.create_node(node("node-1", zone="a"))
    assert created.metadata.uid
    assert created.metadata.labels == {"zone": "a"}
    assert created.status.allocatable == {"cpu": "4", "memory": "8Gi"}
    assert created.status.capacity is created.status.conditions is None
    core.create_node(node("node-2", zone="b"))

    assert [item.metadata.name for item in core.list_node().items] == ["node-1", "node-2"]
    chosen = core.list_node(label_selector="zone in (b, c)").items
    assert [item.metadata.name for item in chosen] == ["node-2"]

    core.patch_node("node-1", {"spec": {"unschedulable": True}})
    cordoned = core.list_node(field_selector="spec.unschedulable=true").items
    assert [item.metadata.name for item in cordoned] == ["node-1"]

    taint = client.V1Taint(key="dedicated", value="gpu", effect="NoSchedule")
    tainted = core.patch_node("node-1", {"spec": {"taints": [taint]}})
    assert tainted.spec.taints == [taint]
    assert tainted.spec.unschedulable is True

    core.delete_node("node-1")
    assert [item.metadata.name for item in core.list_node().items] == ["node-2"]


def test_a_priority_class_becomes_the_priority_of_its_pods(
    core: client.CoreV1Api, scheduling: client.SchedulingV1Api
) -> None:
    built_in = {item.metadata.name: item.value for item in scheduling.list_priority_class().items}
    assert built_in == {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
    scheduling.create_priority_class(
        client.V1PriorityClass(metadata={"name": "urgent"}, value=1000, preemption_policy="Never")
    )
    manifest = pod("web")
    manifest.spec.priority_class_name = "urgent"
    created = core.create_namespaced_pod("default", manifest)
    assert (created.spec.priority, created.spec.preemption_policy) == (1000, "Never")

    with pytest.raises(ApiException) as refused:
        scheduling.patch_priority_class("urgent", {"value": 2000})
    assert refused.value.status == 422
    assert "may not be changed" in refused.value.body
    scheduling.delete_priority_class("urgent")
    assert core.read_namespaced_pod("web", "default").spec.priority == 1000


def test_each_kind_of_patch_and_a_replacement_change_a_pod(core: client.CoreV1Api) -> None:
    core.create_namespaced_pod("default", pod("web", app="web"))
    strategic = {"spec": {"containers": [{"name": "main", "image": "web:2"}]}}
    assert core.patch_namespaced_pod("web", "default", strategic).spec.containers[0].image == "web:2"
    operations = [{"op": "replace", "path": "/metadata/labels/app", "value": "shop"}]
    patched = core.patch_namespaced_pod("web", "default", operations)
    assert patched.metadata.labels == {"app": "shop"}
    merged = core.patch_namespaced_pod(
        "web",
        "default",
        {"metadata": {"labels": {"app": None, "tier": "1"}}},
        _content_type="application/merge-patch+json",
    )
    assert merged.metadata.labels == {"tier": "1"}

    merged.spec.containers[0].image = "web:3"
    replaced = core.replace_namespaced_pod("web", "default", merged)
    assert replaced.spec.containers[0].image == "web:3"
    assert replaced.metadata.uid == merged.metadata.uid
    with pytest.raises(ApiException) as refused:
        core.replace_namespaced_pod("web", "default", merged)
    assert refused.value.status == 409
    with pytest.raises(ApiException) as refused:
        core.patch_namespaced_pod("web", "default", {"spec": {"schedulerName": "other"}})
    assert refused.value.status == 422
    assert "pod updates may not change fields other than" in refused.value.body


def test_a_watch_shows_what_happens_after_the_version_that_was_listed(core: client.CoreV1Api) -> None:
    core.create_namespaced_pod("default", pod("before"))
    listed = core.list_namespaced_pod("default")
    core.create_namespaced_pod("default", pod("web", app="web"))
    core.create_node(node("node-1"))
    core.patch_namespaced_pod("web", "default", {"metadata": {"labels": {"app": "shop"}}})
    core.delete_namespaced_pod("web", "default")

    seen = []
    version = listed.metadata.resource_version
    for event in watch.Watch().stream(
        core.list_namespaced_pod, "default", resource_version=version, timeout_seconds=round(PATIENCE)
    ):
        seen.append((event["type"], event["object"].metadata.name, event["object"].metadata.labels))
        if event["type"] == "DELETED":
            break
    assert seen == [
        ("ADDED", "web", {"app": "web"}),
        ("MODIFIED", "web", {"app": "shop"}),
        ("MODIFIED", "web", {"app": "shop"}),  # marked for deletion
        ("DELETED", "web", {"app": "shop"}),
    ]


def test_a_watch_with_a_selector_shows_an_object_while_it_matches(core: client.CoreV1Api) -> None:
    core.create_namespaced_pod("default", pod("web", app="web"))
    core.create_namespaced_pod("default", pod("other"))
    stream = watch.Watch().stream(
        core.list_pod_for_all_namespaces, label_selector="app=web", timeout_seconds=round(PATIENCE)
    )
    seen = [next(stream)]
    for label in ("shop", "web", "web"):
        core.patch_namespaced_pod("web", "default", {"metadata": {"labels": {"app": label}}})
    core.patch_namespaced_pod("other", "default", {"metadata": {"labels": {"app": "web"}}})
    core.delete_namespaced_pod("other", "default")
    seen += [next(stream) for _ in range(5)]
    stream.close()
    assert [(event["type"], event["object"].metadata.name) for event in seen] == [
        ("ADDED", "web"),
        ("DELETED", "web"),
        ("ADDED", "web"),
        ("ADDED", "other"),
        ("MODIFIED", "other"),  # marked for deletion
        ("DELETED", "other"),
    ]


def test_a_watch_without_a_version_begins_with_the_existing_objects(core: client.CoreV1Api) -> None:
    core.create_namespaced_pod("default", pod("web"))
    stream = watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=1)
    assert [(event["type"], event["object"].metadata.name) for event in stream] == [("ADDED", "web")]


def test_a_watch_from_a_version_that_is_not_kept_gets_expired(
    store: Store, cluster: str, core: client.CoreV1Api
) -> None:
    filler = [
        Change("configmaps", f"default/c{n}", {"metadata": {"name": f"c{n}", "namespace": "default"}}, 0)
        for n in range(LOG_LENGTH + 1000)
    ]
    store.sandbox(cluster).commit(Commit(filler))
    with pytest.raises(ApiException) as refused:
        next(watch.Watch().stream(core.list_node, resource_version="1", timeout_seconds=1))
    assert refused.value.status == 410


def test_not_found_and_already_exists_are_reported(core: client.CoreV1Api) -> None:
    core.create_namespaced_pod("default", pod("web"))
    for status, message, call in (
        (409, 'pods \\"web\\" already exists', lambda: core.create_namespaced_pod("default", pod("web"))),
        (404, 'pods \\"gone\\" not found', lambda: core.read_namespaced_pod("gone", "default")),
        (404, 'pods \\"gone\\" not found', lambda: core.delete_namespaced_pod("gone", "default")),
        (
            404,
            'namespaces \\"nowhere\\" not found',
            lambda: core.create_namespaced_pod("nowhere", pod("web")),
        ),
        (422, "spec.containers[0].image", lambda: core.create_namespaced_pod("default", nameless_image())),
    ):
        with pytest.raises(ApiException) as refused:
            call()
        assert refused.value.status == status
        assert message in refused.value.body


def nameless_image() -> client.V1Pod:
    broken = pod("broken")
    broken.spec.containers[0].image = ""
    return broken


def test_a_bound_pod_has_its_grace_period_and_a_pending_one_is_deleted_at_once(
    core: client.CoreV1Api,
) -> None:
    core.create_node(node("node-1"))
    core.create_namespaced_pod("default", pod("pending"))
    core.create_namespaced_pod("default", pod("bound"))
    target = client.V1ObjectReference(kind="Node", name="node-1")
    binding = client.V1Binding(metadata={"name": "bound"}, target=target)
    core.create_namespaced_pod_binding("bound", "default", binding, _preload_content=False)
    on_node = core.list_pod_for_all_namespaces(field_selector="spec.nodeName=node-1").items
    assert [item.metadata.name for item in on_node] == ["bound"]

    core.delete_namespaced_pod("pending", "default")
    leaving = core.delete_namespaced_pod("bound", "default")
    assert leaving.metadata.deletion_grace_period_seconds == 30
    assert leaving.metadata.deletion_timestamp > leaving.metadata.creation_timestamp
    assert [item.metadata.name for item in core.list_namespaced_pod("default").items] == ["bound"]
    core.delete_namespaced_pod("bound", "default", grace_period_seconds=0)
    assert core.list_namespaced_pod("default").items == []


def test_a_deletion_has_the_propagation_policy_of_its_request(core: client.CoreV1Api) -> None:
    for name, policy, finalizers in (
        ("first", "Foreground", ["foregroundDeletion"]),
        ("second", "Orphan", ["orphan"]),
    ):
        core.create_node(node(name))
        core.delete_node(name, body=client.V1DeleteOptions(propagation_policy=policy))
        waiting = core.read_node(name)
        assert waiting.metadata.finalizers == finalizers
        assert waiting.metadata.deletion_timestamp
        core.delete_node(name, propagation_policy="Background")
    assert core.list_node().items == []


def test_events_are_served_in_two_api_groups(api_client: client.ApiClient, core: client.CoreV1Api) -> None:
    """A reporter writes by the newer one, kubectl describe reads by the older one."""
    events = client.EventsV1Api(api_client)
    reported = {
        "metadata": {"name": "web.1"},
        "eventTime": "2023-11-14T22:13:20.000000Z",
        "regarding": {"kind": "Pod", "name": "web", "namespace": "default"},
        "reason": "Scheduled",
        "note": "Successfully assigned default/web to node-1",
        "type": "Normal",
        "action": "Binding",
        "reportingController": "my-scheduler",
        "reportingInstance": "my-scheduler-1",
    }
    created = events.create_namespaced_event("default", reported)
    assert (created.api_version, created.note) == ("events.k8s.io/v1", reported["note"])
    [seen] = core.list_namespaced_event("default", field_selector="involvedObject.name=web").items
    assert (seen.message, seen.reporting_component) == (reported["note"], "my-scheduler")
    series = {"count": 2, "lastObservedTime": "2023-11-14T22:14:20.000000Z"}
    events.patch_namespaced_event("web.1", "default", {"series": series})
    [again] = events.list_event_for_all_namespaces(field_selector="regarding.name=web").items
    assert (again.note, again.series.count, again.regarding.name) == (reported["note"], 2, "web")
    assert core.read_namespaced_event("web.1", "default").series.count == 2
    events.delete_namespaced_event("web.1", "default")
    assert core.list_namespaced_event("default").items == []


def test_an_eviction_asks_the_disruption_budget(api_client: client.ApiClient, core: client.CoreV1Api) -> None:
    policy = client.PolicyV1Api(api_client)
    core.create_node(node("node-1"))
    for name in ("web-1", "web-2"):
        running = pod(name, app="web")
        running.spec.node_name = "node-1"
        core.create_namespaced_pod("default", running)
    policy.create_namespaced_pod_disruption_budget(
        "default",
        {
            "metadata": {"name": "web"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        },
    )
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    for name in ("web-1", "web-2"):
        core.patch_namespaced_pod_status(name, "default", ready)
    counted = {
        "disruptionsAllowed": 1,
        "currentHealthy": 2,
        "desiredHealthy": 1,
        "expectedPods": 2,
        "observedGeneration": 1,
    }
    policy.patch_namespaced_pod_disruption_budget_status("web", "default", {"status": counted})
    core.create_namespaced_pod_eviction("web-1", "default", client.V1Eviction(metadata={"name": "web-1"}))
    evicted = core.read_namespaced_pod("web-1", "default")
    assert evicted.metadata.deletion_timestamp
    assert evicted.status.conditions[-1].reason == "EvictionByEvictionAPI"
    with pytest.raises(ApiException) as refused:
        core.create_namespaced_pod_eviction("web-2", "default", client.V1Eviction(metadata={"name": "web-2"}))
    assert refused.value.status == 429
    assert "DisruptionBudget" in refused.value.body


def test_a_dry_run_stores_nothing(core: client.CoreV1Api) -> None:
    rehearsed = core.create_namespaced_pod("default", pod("web"), dry_run="All")
    assert rehearsed.status.phase == "Pending"
    assert core.list_namespaced_pod("default").items == []


def test_long_lists_are_returned_in_pages(core: client.CoreV1Api) -> None:
    for number in range(5):
        core.create_namespaced_pod("default", pod(f"web-{number}"))
    names, token = [], None
    while token != "":
        page = core.list_namespaced_pod("default", limit=2, _continue=token)
        assert len(page.items) <= 2
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert names == [f"web-{number}" for number in range(5)]


def test_a_collection_is_deleted_by_its_labels(core: client.CoreV1Api) -> None:
    for number in range(3):
        core.create_namespaced_pod("default", pod(f"web-{number}", app="web" if number else "other"))
    core.delete_collection_namespaced_pod("default", label_selector="app=web")
    assert [item.metadata.name for item in core.list_namespaced_pod("default").items] == ["web-0"]


def test_custom_resources_are_kept_under_the_names_of_their_definition(api_client: client.ApiClient) -> None:
    client.ApiextensionsV1Api(api_client).create_custom_resource_definition(
        {
            "metadata": {"name": "queues.batch.example"},
            "spec": {
                "group": "batch.example",
                "scope": "Cluster",
                "names": {"kind": "Queue", "plural": "queues", "singular": "queue"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {
                            "openAPIV3Schema": {
                                "type": "object",
                                "properties": {"weight": {"type": "integer"}},
                            }
                        },
                    }
                ],
            },
        }
    )
    custom = client.CustomObjectsApi(api_client)
    assert custom.list_cluster_custom_object("batch.example", "v1", "queues")["items"] == []
    body = {"apiVersion": "batch.example/v1", "kind": "Queue", "metadata": {"name": "gold"}, "weight": 3}
    custom.create_cluster_custom_object("batch.example", "v1", "queues", body)
    assert custom.get_cluster_custom_object("batch.example", "v1", "queues", "gold")["weight"] == 3
    patched = custom.patch_cluster_custom_object("batch.example", "v1", "queues", "gold", {"weight": 5})
    assert patched["weight"] == 5
    groups = [group.name for group in client.ApisApi(api_client).get_api_versions().groups]
    assert "batch.example" in groups
    assert client.VersionApi(api_client).get_code().git_version.startswith("v1.34.")


def test_a_pod_of_high_priority_preempts_a_pod_of_lower_priority(
    worker: Process,
    store: Store,
    cluster: str,
    core: client.CoreV1Api,
    scheduling: client.SchedulingV1Api,
) -> None:
    """All components: API, store, worker, scheduler, preemption, kubelet, watch."""
    resume(store.sandbox(cluster))
    for name, value in (("low", 1), ("high", 1000)):
        scheduling.create_priority_class(client.V1PriorityClass(metadata={"name": name}, value=value))
    core.create_node(node("node-1"))
    for name in ("low", "high"):
        wanted = pod(name)
        wanted.spec.priority_class_name = name
        wanted.spec.termination_grace_period_seconds = 1
        wanted.spec.containers[0].resources = client.V1ResourceRequirements(requests={"cpu": "3"})
        core.create_namespaced_pod("default", wanted)
        seen = []
        stream = watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=round(PATIENCE))
        for event in stream:
            seen.append((event["type"], event["object"].metadata.name))
            if event["object"].metadata.name == name and event["object"].status.phase == "Running":
                break
        assert event["object"].spec.node_name == "node-1", seen
    assert ("DELETED", "low") in seen
