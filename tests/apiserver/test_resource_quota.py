"""ResourceQuotas bound what is created in a namespace, by their status."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from simulator.apiserver.status import Forbidden
from tests.apiserver.cluster import NOW, Cluster, pod
from tests.apiserver.test_limit_ranger import claim, container


def quota(name: str, hard: dict[str, str], **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"hard": hard, **spec},
    }


def service(kind: str = "ClusterIP", ports: int = 1, name: str = "s", **spec: Any) -> Manifest:
    listed = [{"name": f"p{number}", "port": 80 + number} for number in range(ports)]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": kind, "ports": listed, **spec},
    }


def device_claim(*requests: Manifest) -> Manifest:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "d"},
        "spec": {"devices": {"requests": [*requests]}},
    }


def config_map(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def sized(name: str = "web", cpu: str = "1", **spec: Any) -> Manifest:
    return pod(name, containers=[container({"cpu": cpu}, {})], **spec)


def limited(
    hard: dict[str, str], used: dict[str, str] | None = None, name: str = "q", **spec: Any
) -> Cluster:
    """A cluster with a quota whose status is set: nothing is used of what ``used`` does not say."""
    cluster = Cluster()
    add(cluster, hard, used, name, **spec)
    return cluster


def add(
    cluster: Cluster, hard: dict[str, str], used: dict[str, str] | None = None, name: str = "q", **spec: Any
) -> None:
    [made] = cluster.create([quota(name, hard, **spec)])
    status = {"hard": hard, "used": dict.fromkeys(hard, "0") | (used or {})}
    cluster.update(resource("resourcequotas"), made, {**made, "status": status}, "status")


def resource(plural: str, group: str = "") -> Resource:
    found = find_built_in(group, plural)
    assert found is not None
    return found


def used(cluster: Cluster, name: str = "q") -> Manifest:
    found: Manifest = cluster.objects["resourcequotas"][f"default/{name}"]["status"]["used"]
    return found


def refused(cluster: Cluster, *manifests: Manifest) -> str:
    with pytest.raises(Forbidden) as error:
        cluster.create([*manifests])
    return str(error.value)


def test_a_pod_is_charged_until_the_quota_is_exceeded() -> None:
    cluster = limited({"pods": "2", "requests.cpu": "1500m", "count/pods": "5"})
    cluster.create([sized("a")])
    assert used(cluster) == {"pods": "1", "requests.cpu": "1", "count/pods": "1"}
    assert refused(cluster, sized("b")) == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, '
        "limited: requests.cpu=1500m"
    )
    assert used(cluster)["pods"] == "1", "nothing is charged for what is refused"
    cluster.create([sized("b", "500m")])
    assert refused(cluster, sized("c", "1m")) == (
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=1m, '
        "used: pods=2,requests.cpu=1500m, limited: pods=2,requests.cpu=1500m"
    )


def test_a_quota_without_a_status_limits_nothing() -> None:
    cluster = Cluster()
    cluster.create([quota("q", {"pods": "0"})])
    cluster.create([pod()])


def test_a_quota_whose_use_is_not_known_refuses() -> None:
    cluster = Cluster()
    [made] = cluster.create([quota("q", {"pods": "1", "count/pods": "1"})])
    status = {"hard": {"pods": "1", "count/pods": "1", "secrets": "1"}, "used": {"pods": "0"}}
    cluster.update(resource("resourcequotas"), made, {**made, "status": status}, "status")
    assert refused(cluster, pod()) == (
        'pods "web" is forbidden: status unknown for quota: q, resources: count/pods,pods'
    )


def test_each_container_must_say_what_a_quota_of_cpu_or_memory_counts() -> None:
    cluster = limited({"requests.cpu": "9", "limits.memory": "9Gi", "requests.ephemeral-storage": "1Gi"})
    containers = [container({"cpu": "1"}, {}, "b"), container({}, {"memory": "1Gi"}, "a")]
    init = container({"cpu": "1"}, {}, "init")
    assert refused(cluster, pod(containers=containers, initContainers=[init])) == (
        'pods "web" is forbidden: failed quota: q: must specify limits.memory for: b,init; '
        "requests.cpu for: a"
    )
    cluster.create([pod(containers=[container({}, {})], resources={"requests": {"cpu": "2"}})])
    assert used(cluster)["requests.cpu"] == "2", "pod-level resources stand for those of the containers"


def test_quotas_are_of_their_namespace_and_all_of_them_count() -> None:
    cluster = limited({"pods": "5"}, name="b")
    add(cluster, {"pods": "1"}, {"pods": "1"}, name="a")
    assert "exceeded quota: a, requested: pods=1, used: pods=1, limited: pods=1" in refused(cluster, pod())
    cluster.create([{**pod(), "metadata": {"name": "web", "namespace": "kube-system"}}])
    assert used(cluster, "b") == {"pods": "0"}


def test_the_pods_of_one_request_are_charged_together() -> None:
    cluster = limited({"pods": "2"})
    with pytest.raises(Forbidden) as error:
        cluster.create([pod("a"), pod("b"), pod("c")])
    assert error.value.document == 2
    assert used(cluster) == {"pods": "0"}
    admitted = cluster.admit([pod("a"), pod("b")])
    assert [change.key for change in admitted.objects] == ["default/a", "default/b"]
    [charge] = admitted.charges
    assert charge.expected == int(
        cluster.objects["resourcequotas"]["default/q"]["metadata"]["resourceVersion"]
    )
    assert "resourcequotas" in admitted.unchanged, "the commit requires that no other write has charged it"


def affinity(**term: Any) -> Manifest:
    selected = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}, **term}
    weighted = {"weight": 1, "podAffinityTerm": selected}
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}


def by_class(operator: str, *values: str) -> Manifest:
    expression = {"scopeName": "PriorityClass", "operator": operator}
    return {"scopeSelector": {"matchExpressions": [expression | ({"values": [*values]} if values else {})]}}


SYSTEM = {"priorityClassName": "system-node-critical"}


@pytest.mark.parametrize(
    ("scope", "made", "counts"),
    [
        ({"scopes": ["Terminating"]}, sized(activeDeadlineSeconds=5), True),
        ({"scopes": ["Terminating"]}, sized(), False),
        ({"scopes": ["NotTerminating"]}, sized(activeDeadlineSeconds=5), False),
        ({"scopes": ["BestEffort"]}, pod(), True),
        ({"scopes": ["BestEffort"]}, sized(), False),
        ({"scopes": ["NotBestEffort", "NotTerminating"]}, sized(), True),
        ({"scopes": ["NotBestEffort", "NotTerminating"]}, sized(activeDeadlineSeconds=5), False),
        ({"scopes": ["CrossNamespacePodAffinity"]}, sized(affinity=affinity(namespaces=["x"])), True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, sized(affinity=affinity(namespaceSelector={})), True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, sized(affinity=affinity()), False),
        (by_class("In", "system-node-critical"), sized(**SYSTEM), True),
        (by_class("In", "other"), sized(**SYSTEM), False),
        (by_class("NotIn", "system-node-critical"), sized(), True),
        (by_class("NotIn", "system-node-critical"), sized(**SYSTEM), False),
        (by_class("Exists"), sized(**SYSTEM), True),
        (by_class("Exists"), sized(), False),
        (by_class("DoesNotExist"), sized(), True),
    ],
)
def test_scopes_choose_the_pods_that_count(scope: Any, made: Manifest, counts: bool) -> None:
    cluster = limited({"pods": "9"}, **scope)
    cluster.create([made])
    assert used(cluster) == {"pods": str(int(counts))}


def test_the_format_of_the_first_amount_stays() -> None:
    cluster = limited({"requests.memory": "10Gi", "memory": "10Gi"})
    for name, memory in (("a", "512Mi"), ("b", "1536Mi"), ("c", "1000")):
        cluster.create([pod(name, containers=[container({"memory": memory}, {})])])
    assert used(cluster)["memory"] == "2147484648", "2Gi and 1000 bytes"


def test_extended_resources_and_huge_pages_count_as_requests() -> None:
    hard = {"requests.example.com/gpu": "3", "hugepages-2Mi": "1Gi", "requests.hugepages-2Mi": "1Gi"}
    cluster = limited(hard)
    amounts = {"example.com/gpu": "2", "hugepages-2Mi": "4Mi", "cpu": "1"}
    cluster.create([pod("a", containers=[container(amounts, amounts)])])
    assert used(cluster) == {
        "requests.example.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
    }
    assert "requested: requests.example.com/gpu=2, used: requests.example.com/gpu=2" in refused(
        cluster, pod("b", containers=[container(amounts, amounts)])
    )


def test_services_count_their_node_ports_and_an_update_is_charged_with_what_it_adds() -> None:
    hard = {"services": "5", "services.nodeports": "3", "services.loadbalancers": "0", "count/services": "5"}
    cluster = limited(hard)
    made, _ = cluster.create([service()])
    assert used(cluster) == {
        "services": "1",
        "services.nodeports": "0",
        "services.loadbalancers": "0",
        "count/services": "1",
    }
    ports = service("NodePort", 2)["spec"]["ports"]
    services = resource("services")
    made = cluster.update(
        services, made, {**made, "spec": {**made["spec"], "type": "NodePort", "ports": ports}}
    )
    assert used(cluster)["services.nodeports"] == "2"
    assert used(cluster)["services"] == "1"
    with pytest.raises(Forbidden) as error:
        cluster.update(services, made, {**made, "spec": {**made["spec"], "type": "LoadBalancer"}})
    assert str(error.value) == (
        'services "s" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, '
        "used: services.loadbalancers=0, limited: services.loadbalancers=0"
    )
    fewer = {**made["spec"], "ports": made["spec"]["ports"][:1]}
    cluster.update(services, made, {**made, "spec": fewer})
    assert used(cluster)["services.nodeports"] == "2", "the controller finds out what is free"


def test_a_load_balancer_without_node_ports_counts_those_that_it_names() -> None:
    cluster = limited({"services.nodeports": "9", "services.loadbalancers": "9"})
    cluster.create([service("LoadBalancer", 2, allocateLoadBalancerNodePorts=False)])
    assert used(cluster) == {"services.nodeports": "0", "services.loadbalancers": "1"}


def test_claims_count_their_storage_also_by_class() -> None:
    gold = "gold.storageclass.storage.k8s.io"
    hard = {
        "persistentvolumeclaims": "2",
        "requests.storage": "5Gi",
        f"{gold}/requests.storage": "2Gi",
        f"{gold}/persistentvolumeclaims": "2",
    }
    cluster = limited(hard)
    made = claim("1500Mi")
    made["spec"]["storageClassName"] = "gold"
    cluster.create([made])
    assert used(cluster) == {
        "persistentvolumeclaims": "1",
        "requests.storage": "1500Mi",
        f"{gold}/requests.storage": "1500Mi",
        f"{gold}/persistentvolumeclaims": "1",
    }
    made["metadata"]["name"] = "c2"
    assert refused(cluster, made) == (
        'persistentvolumeclaims "c2" is forbidden: exceeded quota: q, '
        f"requested: {gold}/requests.storage=1500Mi, used: {gold}/requests.storage=1500Mi, "
        f"limited: {gold}/requests.storage=2Gi"
    )


def test_claims_are_in_the_scope_of_their_attributes_class() -> None:
    expression = {"scopeName": "VolumeAttributesClass", "operator": "In", "values": ["fast"]}
    cluster = limited({"persistentvolumeclaims": "9"}, scopeSelector={"matchExpressions": [expression]})
    fast, plain = claim("1Gi"), claim("1Gi")
    fast["metadata"], fast["spec"]["volumeAttributesClassName"] = {"name": "fast"}, "fast"
    cluster.create([fast, plain])
    assert used(cluster) == {"persistentvolumeclaims": "1"}


def test_device_claims_count_the_worst_case_of_each_class() -> None:
    name = "gpu.deviceclass.resource.k8s.io/devices"
    other = "tpu.deviceclass.resource.k8s.io/devices"
    cluster = limited({name: "100", other: "100", "count/resourceclaims.resource.k8s.io": "3"})
    exact = {"name": "a", "exactly": {"deviceClassName": "gpu", "count": 2}}
    first = [
        {"name": "x", "deviceClassName": "gpu", "count": 3},
        {"name": "y", "deviceClassName": "gpu", "count": 1},
        {"name": "z", "deviceClassName": "tpu", "allocationMode": "All"},
    ]
    cluster.create([device_claim(exact, {"name": "b", "firstAvailable": first})])
    assert used(cluster) == {name: "5", other: "32", "count/resourceclaims.resource.k8s.io": "1"}


def test_objects_of_any_namespaced_kind_are_counted() -> None:
    cluster = limited({"count/configmaps": "2", "configmaps": "1", "count/widgets.example.com": "1"})
    cluster.create([config_map("a")])
    assert used(cluster)["count/configmaps"] == used(cluster)["configmaps"] == "1"
    assert refused(cluster, config_map("b")) == (
        'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, '
        "limited: configmaps=1"
    )
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    cluster.create([widget])
    assert 'widgets.example.com "w2" is forbidden: exceeded quota: q' in refused(
        cluster, {**widget, "metadata": {"name": "w2"}}
    )


def test_a_quota_of_quotas() -> None:
    cluster = limited({"resourcequotas": "1"}, {"resourcequotas": "1"})
    assert "requested: resourcequotas=1, used: resourcequotas=1" in refused(
        cluster, quota("r", {"pods": "1"})
    )


def test_a_resize_is_charged_with_what_it_adds() -> None:
    cluster = limited({"requests.cpu": "2", "limits.cpu": "9"})
    made, _ = cluster.create([pod(containers=[container({"cpu": "1"}, {"cpu": "4"})])])
    made["status"]["conditions"] = []
    spec = {**made["spec"], "containers": [{**made["spec"]["containers"][0]}]}
    spec["containers"][0]["resources"] = {"requests": {"cpu": "3"}, "limits": {"cpu": "4"}}
    with pytest.raises(Forbidden) as error:
        cluster.update(resource("pods"), made, {**made, "spec": spec}, "resize")
    assert "requested: requests.cpu=2, used: requests.cpu=1, limited: requests.cpu=2" in str(error.value)
    spec["containers"][0]["resources"] = {"requests": {"cpu": "1500m"}, "limits": {"cpu": "4"}}
    cluster.update(resource("pods"), made, {**made, "spec": spec}, "resize")
    assert used(cluster) == {"requests.cpu": "1500m", "limits.cpu": "4"}


def test_quotas_do_not_limit_the_objects_of_a_new_cluster() -> None:
    changes = new_cluster([quota("q", {"pods": "0"}), pod()], NOW)
    assert {"default/q", "default/web"} <= {change.key for change in changes}
