"""The columns and rows of the kinds that have few of them (pkg/printers/internalversion/printers.go)."""

from typing import Any

import pytest

from simulator.api import SECOND
from simulator.apiserver.resource import SCALES
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.table import build_table
from tests.apiserver.cluster import NOW

CREATED = "2023-11-14T22:13:20Z"
SUBJECTS = [
    {"kind": "User", "name": "ann"},
    {"kind": "User", "name": "bob"},
    {"kind": "Group", "name": "staff"},
    {"kind": "ServiceAccount", "name": "robot", "namespace": "default"},
]
OWNER = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
PORTS = [{"port": 80}, {"port": 443}]
TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]},
}
TOKENS = [{"audience": "v"}]
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}


def row(kind: str, **fields: Any) -> dict[str, Any]:
    """The cells of an object, 90 seconds old, by column."""
    resource = next(each for each in BUILT_IN if each.kind == kind)
    item = {"kind": kind, **fields}
    item["metadata"] = {"name": "x", "creationTimestamp": CREATED, **fields.get("metadata", {})}
    table = build_table(resource, [item], {}, NOW + 90 * SECOND)
    names = [column["name"] for column in table["columnDefinitions"]]
    return dict(zip(names, table["rows"][0]["cells"], strict=True))


@pytest.mark.parametrize("kind", ["LimitRange", "Role", "ClusterRole", "CustomResourceDefinition"])
def test_a_kind_without_a_printer_has_the_time_of_its_creation(kind: str) -> None:
    assert row(kind) == {"Name": "x", "Created At": CREATED}


@pytest.mark.parametrize(
    ("kind", "fields", "cells"),
    [
        ("ServiceAccount", {"secrets": [{"name": "a"}]}, {"Secrets": 1, "Age": "90s"}),
        (
            "RoleBinding",
            {"roleRef": ROLE, "subjects": SUBJECTS},
            {
                "Role": "ClusterRole/view",
                "Age": "90s",
                "Users": "ann, bob",
                "Groups": "staff",
                "ServiceAccounts": "default/robot",
            },
        ),
        (
            "ServiceCIDR",
            {"spec": {"cidrs": ["10.0.0.0/8", "fd00::/64"]}},
            {"CIDRs": "10.0.0.0/8,fd00::/64", "Age": "90s"},
        ),
        ("RuntimeClass", {"handler": "runc"}, {"Handler": "runc", "Age": "90s"}),
        (
            "IngressClass",
            {"spec": {"controller": "a.com/b", "parameters": {"apiGroup": "k.io", "kind": "P", "name": "p"}}},
            {"Controller": "a.com/b", "Parameters": "P.k.io/p", "Age": "90s"},
        ),
        (
            "Endpoints",
            {"subsets": [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "ports": PORTS}]},
            {"Endpoints": "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...", "Age": "90s"},
        ),
        (
            "Endpoints",
            {"subsets": [{"addresses": [{"ip": "10.0.0.1"}]}]},
            {"Endpoints": "10.0.0.1", "Age": "90s"},
        ),
        ("Endpoints", {}, {"Endpoints": "<none>", "Age": "90s"}),
        (
            "EndpointSlice",
            {"addressType": "IPv4", "ports": [{"port": 80, "name": "web"}, {"name": "any"}, {}]},
            {"AddressType": "IPv4", "Ports": "80,any,*", "Endpoints": "<unset>", "Age": "90s"},
        ),
        (
            "PodTemplate",
            {"template": TEMPLATE},
            {"Containers": "a,b", "Images": "a:1,b:1", "Pod Labels": "app=web"},
        ),
        (
            "ControllerRevision",
            {"metadata": {"ownerReferences": [OWNER]}, "revision": 2},
            {"Controller": "statefulset.apps/web", "Revision": 2, "Age": "90s"},
        ),
        ("ControllerRevision", {"revision": 1}, {"Controller": "<none>", "Revision": 1, "Age": "90s"}),
        (
            "CSIDriver",
            {"spec": {"volumeLifecycleModes": ["Persistent", "Ephemeral"], "tokenRequests": TOKENS}},
            {
                "AttachRequired": True,
                "PodInfoOnMount": False,
                "StorageCapacity": False,
                "TokenRequests": "v",
                "RequiresRepublish": False,
                "Modes": "Persistent,Ephemeral",
                "Age": "90s",
            },
        ),
        (
            "CSIStorageCapacity",
            {"storageClassName": "fast"},
            {"StorageClassName": "fast", "Capacity": "<unset>"},
        ),
        (
            "VolumeAttachment",
            {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
            {"Attacher": "a", "PV": "v", "Node": "n", "Attached": False, "Age": "90s"},
        ),
        ("VolumeAttributesClass", {"driverName": "d"}, {"DriverName": "d", "Age": "90s"}),
        (
            "PriorityLevelConfiguration",
            {"spec": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 5}}},
            {
                "Type": "Exempt",
                "NominalConcurrencyShares": "<none>",
                "Queues": "<none>",
                "HandSize": "<none>",
                "QueueLengthLimit": "<none>",
                "Age": "90s",
            },
        ),
    ],
)
def test_the_cells_of_a_kind(kind: str, fields: dict[str, Any], cells: dict[str, Any]) -> None:
    assert row(kind, **fields) == {"Name": "x", **cells}


@pytest.mark.parametrize(
    ("parent", "shown"),
    [
        ({"resource": "services", "namespace": "default", "name": "web"}, "services/default/web"),
        ({"group": "a.io", "resource": "Xs", "name": "x"}, "xs.a.io/x"),
    ],
)
def test_an_address_has_a_cell_more_than_columns(parent: dict[str, str], shown: str) -> None:
    item = {"metadata": {"name": "x", "creationTimestamp": CREATED}, "spec": {"parentRef": parent}}
    resource = next(each for each in BUILT_IN if each.kind == "IPAddress")
    table = build_table(resource, [item], {}, NOW + 90 * SECOND)
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "ParentRef"]
    assert table["rows"][0]["cells"] == ["x", shown, "90s"]


def test_the_revision_of_a_controller_is_described_as_in_its_first_version() -> None:
    resource = next(each for each in BUILT_IN if each.kind == "ControllerRevision")
    revision = build_table(resource, [], {}, NOW)["columnDefinitions"][2]
    assert revision["description"].startswith("revision indicates")


def test_hosts_of_an_ingress_that_are_not_shown_are_counted_in_rules() -> None:
    rules = [{"host": "a"}, {}, {"host": "b"}, {"host": "c"}]
    assert row("Ingress", spec={"rules": rules})["Hosts"] == "a,b,c"
    assert row("Ingress", spec={"rules": [*rules, {}]})["Hosts"] == "a,b,c + 2 more..."
    assert row("Ingress", spec={"rules": [{}]})["Hosts"] == "*"


def test_a_scale_has_the_wanted_replicas_and_those_there_are() -> None:
    item = {
        "metadata": {"name": "x", "creationTimestamp": CREATED},
        "spec": {"replicas": 3},
        "status": {"replicas": 2},
    }
    table = build_table(SCALES, [item], {}, NOW + 90 * SECOND)
    assert [column["name"] for column in table["columnDefinitions"]] == [
        *("Name", "Desired", "Available", "Age")
    ]
    assert table["rows"][0]["cells"] == ["x", 3, 2, "90s"]


def test_a_class_of_storage_may_be_an_annotation() -> None:
    annotations = {"volume.beta.kubernetes.io/storage-class": "slow"}
    claim = row(
        "PersistentVolumeClaim", metadata={"annotations": annotations}, spec={"storageClassName": "x"}
    )
    assert claim["StorageClass"] == "slow"
    default = {"storageclass.beta.kubernetes.io/is-default-class": "true"}
    shown = row("StorageClass", metadata={"annotations": default}, provisioner="p")
    assert shown["Name"] == "x (default)"
    default = {"volumeattributesclass.alpha.kubernetes.io/is-default-class": "true"}
    shown = row("VolumeAttributesClass", metadata={"annotations": default}, driverName="d")
    assert shown["Name"] == "x (default)"


def test_the_addresses_of_a_load_balancer_are_sorted_and_each_once() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "10.0.0.2"}, {"hostname": "a"}, {"ip": "10.0.0.2"}]}}
    assert row("Ingress", spec={}, status=status)["Address"] == "10.0.0.2,a"
    service = row("Service", spec={"type": "LoadBalancer", "externalIPs": ["10.1.0.1"]}, status=status)
    assert service["External-IP"] == "10.0.0.2,a,10.1.0.1"


def container(name: str, restarts: int, ended: str, **state: Any) -> dict[str, Any]:
    last = {"terminated": {"exitCode": 1, "finishedAt": ended}}
    return {"name": name, "restartCount": restarts, "lastState": last, **state}


def test_the_restarts_of_init_containers_count_while_they_run_and_those_of_sidecars_always() -> None:
    spec = {
        "initContainers": [{"name": "init"}, {"name": "side", "restartPolicy": "Always"}],
        "containers": [{"name": "main"}],
    }
    done = {"state": {"terminated": {"exitCode": 0}}}
    runs = {"started": True, "ready": True, "state": {"running": {}}}
    init = container("init", 5, "2023-11-14T22:14:40Z", **done)
    side = container("side", 2, "2023-11-14T22:14:10Z", **runs)
    main = container("main", 1, "2023-11-14T22:13:30Z", **runs)
    status = {"phase": "Running", "initContainerStatuses": [init, side], "containerStatuses": [main]}
    pod = row("Pod", spec=spec, status=status)
    assert (pod["Ready"], pod["Status"], pod["Restarts"]) == ("2/2", "Running", "3 (40s ago)")
    waiting = {**init, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    pod = row("Pod", spec=spec, status={**status, "initContainerStatuses": [waiting, side]})
    assert (pod["Status"], pod["Restarts"]) == ("Init:CrashLoopBackOff", "5 (10s ago)")
