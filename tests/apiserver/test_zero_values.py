"""Empty values of fields that Go does not write where they are empty: a Go client sends them all in Protocol
Buffers, and they mean what a missing field means."""

import copy
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.decoding import decode
from simulator.apiserver.defaults import set_defaults
from simulator.apiserver.resources import find_by_kind

PORT = {"containerPort": 80}
PORT_ZEROS = {"name": "", "hostPort": 0, "protocol": "", "hostIP": ""}
PROBE = {"httpGet": {"port": 80}}
PROBE_ZEROS = dict.fromkeys(
    ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"), 0
)
FIELD = {"resource": "limits.cpu"}


def pod(container: Manifest, **spec: Any) -> Manifest:
    containers = [{"name": "main", "image": "app:1", **container}]
    return {"metadata": {"name": "a"}, "spec": {"containers": containers, **spec}}


def pod_with_volume(source: str, volume: Manifest) -> Manifest:
    return pod({}, volumes=[{"name": "v", source: volume}])


def variable(field: Manifest) -> Manifest:
    return pod({"env": [{"name": "A", "valueFrom": {"resourceFieldRef": field}}]})


def object_of(**fields: Any) -> Manifest:
    return {"metadata": {"name": "a"}, **fields}


@pytest.mark.parametrize(
    ("api_version", "kind", "without", "with_zeros"),
    [
        ("v1", "Pod", pod({"ports": [PORT]}), pod({"ports": [PORT | PORT_ZEROS]})),
        ("v1", "Pod", pod({"livenessProbe": PROBE}), pod({"livenessProbe": PROBE | PROBE_ZEROS})),
        ("v1", "Pod", pod({}), pod({"imagePullPolicy": "", "tty": False}, restartPolicy="", hostPID=False)),
        ("v1", "Pod", variable(FIELD), variable(FIELD | {"containerName": ""})),
        (
            "v1",
            "Pod",
            pod_with_volume("gcePersistentDisk", {"pdName": "d"}),
            pod_with_volume("gcePersistentDisk", {"pdName": "d", "fsType": "", "partition": 0}),
        ),
        (
            "v1",
            "Service",
            object_of(spec={"ports": [{"port": 80}]}),
            object_of(spec={"ports": [{"port": 80, "protocol": "", "targetPort": 0, "nodePort": 0}]}),
        ),
        (
            "v1",
            "PersistentVolume",
            object_of(spec={"capacity": {"storage": "1Gi"}}),
            object_of(spec={"capacity": {"storage": "1Gi"}, "storageClassName": ""}),
        ),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            object_of(subjects=[{"kind": "User", "name": "u"}]),
            object_of(subjects=[{"kind": "User", "name": "u", "apiGroup": "", "namespace": ""}]),
        ),
        ("apps/v1", "Deployment", object_of(status={}), object_of(status={"replicas": 0})),
    ],
)
def test_a_zero_value_is_a_missing_field(
    api_version: str, kind: str, without: Manifest, with_zeros: Manifest
) -> None:
    assert completed(api_version, kind, with_zeros) == completed(api_version, kind, without)


@pytest.mark.parametrize(
    ("api_version", "kind", "manifest", "path"),
    [
        (
            "v1",
            "PersistentVolumeClaim",
            object_of(spec={"storageClassName": ""}),
            ("spec", "storageClassName"),
        ),
        ("v1", "Pod", pod({}, runtimeClassName=""), ("spec", "runtimeClassName")),
        ("apps/v1", "Deployment", object_of(spec={"replicas": 0}), ("spec", "replicas")),
        (
            "discovery.k8s.io/v1",
            "EndpointSlice",
            object_of(ports=[{"protocol": ""}]),
            ("ports", 0, "protocol"),
        ),
    ],
)
def test_a_pointer_keeps_the_zero_that_it_points_to(
    api_version: str, kind: str, manifest: Manifest, path: tuple[str | int, ...]
) -> None:
    resource = find_by_kind(api_version, kind)
    assert resource
    value: Any = decode(resource, manifest)[0]
    for step in path:
        value = value[step]
    assert value in ("", 0)


def completed(api_version: str, kind: str, manifest: Manifest) -> tuple[Manifest, list[str]]:
    """Return the decoded object with its defaults, and its faults."""
    resource = find_by_kind(api_version, kind)
    assert resource
    decoded, causes = decode(resource, manifest)
    decoded = copy.deepcopy(decoded)
    set_defaults(resource, decoded)
    return decoded, [str(cause) for cause in causes]
