"""What a Service has by its type, and what an update of the type keeps and releases."""

from typing import Any

from simulator.api import Manifest
from simulator.apiserver.resources import find_built_in
from simulator.apiserver.status import StatusError
from tests.apiserver.cluster import Cluster, refusal

SERVICES = find_built_in("", "services")
ADDRESSES = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
PORTS = range(30_000, 32_768)


def service(name: str = "s", **spec: Any) -> Manifest:
    spec = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def created(cluster: Cluster, **spec: Any) -> Manifest:
    return cluster.create([service(**spec)])[0]


def updated(cluster: Cluster, old: Manifest, **spec: Any) -> Manifest:
    """The spec after an update that says only these fields and those that it was read with."""
    assert SERVICES
    new: Manifest = cluster.update(SERVICES, old, {**old, "spec": {**old["spec"], **spec}})["spec"]
    return new


def test_a_port_keeps_its_node_port_by_its_name() -> None:
    cluster = Cluster()
    old = created(cluster, type="NodePort")
    (port,) = updated(cluster, old, ports=[{"port": 81}])["ports"]
    assert (port["port"], port["nodePort"]) == (81, old["spec"]["ports"][0]["nodePort"])


def test_ports_of_one_number_share_a_node_port() -> None:
    ports = [{"name": "a", "port": 53, "protocol": "UDP"}, {"name": "b", "port": 53, "protocol": "TCP"}]
    first, second = created(Cluster(), type="NodePort", ports=ports)["spec"]["ports"]
    assert first["nodePort"] == second["nodePort"]


def test_a_balancer_with_local_traffic_has_a_port_for_health_checks() -> None:
    cluster = Cluster()
    old = created(cluster, type="LoadBalancer", externalTrafficPolicy="Local")
    spec = old["spec"]
    assert spec["healthCheckNodePort"] in {*PORTS} - {spec["ports"][0]["nodePort"]}
    assert "healthCheckNodePort" not in updated(cluster, old, externalTrafficPolicy="Cluster")


def test_a_service_releases_what_its_new_type_does_not_need() -> None:
    cluster = Cluster()
    old = created(cluster, type="LoadBalancer", externalTrafficPolicy="Local", loadBalancerClass="a.io/b")
    spec = updated(cluster, old, type="ClusterIP")
    assert (
        not {
            "healthCheckNodePort",
            "externalTrafficPolicy",
            "loadBalancerClass",
            "allocateLoadBalancerNodePorts",
        }
        & spec.keys()
    )
    assert "nodePort" not in spec["ports"][0]
    assert spec["clusterIP"] == old["spec"]["clusterIP"]


def test_a_name_of_elsewhere_has_no_address_and_gets_one_with_another_type() -> None:
    cluster = Cluster()
    old = created(cluster)
    assert SERVICES
    named = cluster.update(
        SERVICES, old, {**old, "spec": {**old["spec"], "type": "ExternalName", "externalName": "a.example"}}
    )
    assert not {*ADDRESSES, "internalTrafficPolicy"} & named["spec"].keys()
    again = updated(cluster, named, type="ClusterIP")
    assert again["clusterIPs"] == [again["clusterIP"]]
    assert (again["ipFamilies"], again["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


def test_outside_addresses_have_a_traffic_policy() -> None:
    assert created(Cluster(), externalIPs=["1.2.3.4"])["spec"]["externalTrafficPolicy"] == "Cluster"


def test_a_taken_port_is_not_allocated_again() -> None:
    cluster = Cluster()
    created(cluster, type="NodePort", ports=[{"port": 80, "nodePort": 30_001}])
    other = [{"port": 53, "protocol": "UDP", "nodePort": 30_001}]
    message = "spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated"
    refused = refusal_of(cluster, service("t", type="NodePort", ports=other))
    assert refused.message == f'Service "t" is invalid: {message}'
    checked = service("t", type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=30_001)
    assert refusal_of(cluster, checked).status()["details"] == {
        "causes": [
            {
                "message": "failed to allocate requested HealthCheck NodePort 30001: provided port is "
                "already allocated"
            }
        ]
    }


def refusal_of(cluster: Cluster, manifest: Manifest) -> StatusError:
    refused = refusal(lambda: cluster.admit([manifest], entry="api"))
    assert refused
    return refused
