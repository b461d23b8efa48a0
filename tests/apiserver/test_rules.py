"""The causes of refused objects: field, message and order, as kube-apiserver v1.34 states them."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver import resources
from simulator.apiserver.status import Invalid
from tests.apiserver.cluster import Cluster

CONTAINER = {"name": "main", "image": "nginx"}
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SAME_PORT = '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}'
OUT_OF_RANGE = "provided port is not in the valid range. The range of valid ports is 30000-32767"
PORT_NAME = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
PORT = "must be between 1 and 65535, inclusive"
FIRST = "spec.containers[0]"


def causes_of(manifest: Manifest, cluster: Cluster | None = None) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refused:
        (cluster or Cluster()).admit([manifest])
    return [(cause.field, cause.message) for cause in refused.value.causes]


def pod(*volumes: Manifest, container: Manifest | None = None, **spec: Any) -> Manifest:
    given = {"volumes": [*volumes], **spec} if volumes else spec
    containers = [{**CONTAINER, **(container or {})}]
    return of("v1", "Pod", {"containers": containers, **given})


def of(api_version: str, kind: str, spec: Manifest | None = None, **fields: Any) -> Manifest:
    given = {"spec": spec} if spec is not None else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}, **given, **fields}


def service(*ports: Manifest, **spec: Any) -> Manifest:
    return of("v1", "Service", {"ports": [*ports], **spec})


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        pytest.param(
            pod(container={"name": ""}, restartPolicy="Sometimes"),
            [
                (f"{FIRST}.name", "Required value"),
                (
                    "spec.restartPolicy",
                    'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
                ),
            ],
            id="several-causes",
        ),
        pytest.param(
            pod(container={"ports": [{"name": "web"}]}),
            [(f"{FIRST}.ports[0].containerPort", "Required value")],
            id="missing-container-port",
        ),
        pytest.param(
            pod(container={"livenessProbe": {"tcpSocket": {}}}),
            [(f"{FIRST}.livenessProbe.tcpSocket.port", f"Invalid value: 0: {PORT}")],
            id="missing-probe-port",
        ),
        pytest.param(
            pod({"name": "a", "nfs": {"server": "s", "path": "up"}}),
            [("spec.volumes[0].nfs.path", 'Invalid value: "up": must be an absolute path')],
            id="nfs-path",
        ),
        pytest.param(
            pod({"name": "a", "emptyDir": {}, "hostPath": {"path": "/x"}}),
            [("spec.volumes[0].hostPath", "Forbidden: may not specify more than 1 volume type")],
            id="two-sources",
        ),
        pytest.param(
            pod({"name": "A", "emptyDir": {}}),
            [("spec.volumes[0].name", f'Invalid value: "A": {LABEL}')],
            id="volume-name",
        ),
        pytest.param(
            pod(
                {"name": "a", "emptyDir": {}},
                container={
                    "volumeMounts": [{"name": "a", "mountPath": "/x"}, {"name": "b", "mountPath": "/x"}]
                },
            ),
            [
                (f"{FIRST}.volumeMounts[1].name", 'Not found: "b"'),
                (f"{FIRST}.volumeMounts[1].mountPath", 'Invalid value: "/x": must be unique'),
            ],
            id="mounts",
        ),
        pytest.param(
            pod(topologySpreadConstraints=[{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]),
            [("spec.topologySpreadConstraints[0].maxSkew", "Invalid value: 0: must be greater than zero")],
            id="missing-skew",
        ),
        pytest.param(
            of("apps/v1", "Deployment", {"template": {"metadata": {"labels": {"a": "b"}}}}),
            [
                ("spec.selector", "Required value"),
                (
                    "spec.template.metadata.labels",
                    'Invalid value: {"a":"b"}: `selector` does not match template `labels`',
                ),
                ("spec.template.spec.containers", "Required value"),
            ],
            id="missing-selector",
        ),
        pytest.param(
            service({"name": "a", "port": 80}, {"name": "b", "port": 80}),
            [
                (
                    "spec.ports[1]",
                    f"Duplicate value: {SAME_PORT}",
                )
            ],
            id="service-duplicate-port",
        ),
        pytest.param(
            service({"port": 80, "nodePort": 80}, type="NodePort"),
            [
                (
                    "spec.ports[0].nodePort",
                    f"Invalid value: 80: {OUT_OF_RANGE}",
                )
            ],
            id="node-port-range",
        ),
        pytest.param(
            service({"port": 0, "targetPort": "Web!"}),
            [
                ("spec.ports[0].port", f"Invalid value: 0: {PORT}"),
                (
                    "spec.ports[0].targetPort",
                    f'Invalid value: "Web!": {PORT_NAME}',
                ),
            ],
            id="service-ports",
        ),
        pytest.param(
            of(
                "node.k8s.io/v1",
                "RuntimeClass",
                handler="runc",
                overhead={"podFixed": {"cpu": "-1"}},
            ),
            [("overhead.limits[cpu]", 'Invalid value: "-1": must be greater than or equal to 0')],
            id="runtime-class-overhead",
        ),
        pytest.param(
            of("storage.k8s.io/v1", "StorageClass", reclaimPolicy="Recycle", provisioner="x"),
            [("reclaimPolicy", 'Unsupported value: "Recycle": supported values: "Delete", "Retain"')],
            id="storage-class-policy",
        ),
        pytest.param(
            of("v1", "PersistentVolume", {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}),
            [("spec", "Required value: must specify a volume type")],
            id="volume-without-source",
        ),
    ],
)
def test_a_wrong_object_is_refused_with_the_causes_of_upstream(
    manifest: Manifest, expected: list[tuple[str, str]]
) -> None:
    assert causes_of(manifest) == expected


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        ("gcePersistentDisk", ["persistentDisk.pdName"]),
        ("awsElasticBlockStore", ["awsElasticBlockStore.volumeID"]),
        ("rbd", ["rbd.monitors", "rbd.image"]),
        ("iscsi", ["iscsi.targetPortal", "iscsi.iqn"]),
        ("cinder", ["cinder.volumeID"]),
        ("azureDisk", ["azureDisk.diskName", "azureDisk.diskURI"]),
        ("persistentVolumeClaim", ["persistentVolumeClaim.claimName"]),
        ("cephfs", ["cephfs.monitors"]),
        ("scaleIO", ["scaleIO.gateway", "scaleIO.system", "scaleIO.secretRef"]),
    ],
)
def test_a_source_has_the_fields_that_its_schema_requires(source: str, fields: list[str]) -> None:
    expected = [(f"spec.volumes[0].{field}", "Required value") for field in fields]
    assert causes_of(pod({"name": "a", source: {}})) == expected


def test_a_source_has_no_further_rules() -> None:
    (stored,) = Cluster().create([pod({"name": "a", "flocker": {}})])
    assert stored["spec"]["volumes"] == [{"name": "a", "flocker": {}}]
    assert causes_of(pod({"name": "a", "flocker": {}, "quobyte": {}})) == [
        ("spec.volumes[0].quobyte", "Forbidden: may not specify more than 1 volume type")
    ]


def test_a_node_port_that_another_service_has_is_refused() -> None:
    cluster = Cluster()
    cluster.create([service({"port": 80, "nodePort": 30080}, type="NodePort")])
    other = service({"port": 80, "nodePort": 30080}, type="NodePort")
    causes = causes_of({**other, "metadata": {"name": "other"}}, cluster)
    assert causes == [("spec.ports[0].nodePort", "Invalid value: 30080: provided port is already allocated")]


def test_a_service_that_becomes_one_with_node_ports_gets_them() -> None:
    cluster = Cluster()
    old = cluster.create([service({"port": 80})])[0]
    kind = resources.find_by_kind("v1", "Service")
    assert kind is not None
    new = cluster.update(kind, old, {**old, "spec": {**old["spec"], "type": "NodePort"}})
    assert 30_000 <= new["spec"]["ports"][0]["nodePort"] <= 32_767
    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]


def test_a_priority_class_without_a_value_has_the_value_zero() -> None:
    assert Cluster().create([of("scheduling.k8s.io/v1", "PriorityClass")])[0]["value"] == 0


def test_the_scopes_of_a_quota_may_not_change() -> None:
    cluster = Cluster()
    old = cluster.create([of("v1", "ResourceQuota", {"hard": {"pods": "1"}, "scopes": ["BestEffort"]})])[0]
    resource = resources.find_by_kind("v1", "ResourceQuota")
    assert resource is not None
    with pytest.raises(Invalid) as refused:
        cluster.update(resource, old, {**old, "spec": {**old["spec"], "scopes": ["NotBestEffort"]}})
    assert [(cause.field, cause.message) for cause in refused.value.causes] == [
        ("spec.scopes", 'Invalid value: ["NotBestEffort"]: field is immutable')
    ]


def test_the_spec_of_a_claim_may_not_change() -> None:
    cluster = Cluster()
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    claim = of("resource.k8s.io/v1", "ResourceClaim", {"devices": {"requests": [request]}})
    old = cluster.create([claim])[0]
    resource = resources.find_by_kind("resource.k8s.io/v1", "ResourceClaim")
    assert resource is not None
    with pytest.raises(Invalid) as refused:
        cluster.update(resource, old, {**old, "spec": {}})
    assert refused.value.causes[0].field == "spec"
    assert refused.value.causes[0].message.endswith(": field is immutable")


def test_an_update_of_a_pod_may_not_add_the_annotation_of_mirror_pods() -> None:
    cluster = Cluster()
    old = cluster.create([pod()])[0]
    metadata = {**old["metadata"], "annotations": {"kubernetes.io/config.mirror": "a"}}
    with pytest.raises(Invalid) as refused:
        cluster.update(resources.PODS, old, {**old, "metadata": metadata})
    message = "Forbidden: may not add mirror pod annotation"
    assert message in [cause.message for cause in refused.value.causes]
