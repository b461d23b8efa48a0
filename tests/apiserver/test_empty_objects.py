"""Parts of an object that its creator does not own, as every object of its kind has them."""

from typing import Any

import pytest

from simulator.apiserver.admission import admit
from simulator.apiserver.managed_fields.field_writes import FieldWrite
from tests.apiserver.cluster import NOW, Cluster

STORAGE = {"resources": {"requests": {"storage": "1Gi"}}}
REQUESTS = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "c"}}]}}


@pytest.mark.parametrize(
    ("manifest", "owned"),
    [
        ({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}, None),
        (
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"},
            {"f:addressType": {}},
        ),
        (
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "spec": {"accessModes": ["ReadWriteOnce"], **STORAGE},
            },
            {
                "f:spec": {
                    "f:accessModes": {},
                    "f:resources": {"f:requests": {".": {}, "f:storage": {}}},
                    "f:volumeMode": {},
                }
            },
        ),
        (
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": REQUESTS},
            {"f:spec": {"f:devices": {"f:requests": {}}}},
        ),
    ],
)
def test_the_parts_of_every_object_are_not_owned(
    manifest: dict[str, Any], owned: dict[str, Any] | None
) -> None:
    write = FieldWrite("me", "2020-01-01T00:00:00Z")
    named = {**manifest, "metadata": {"name": "a"}}
    created = admit([named], Cluster(), NOW, source="test", entry="api", write=write).changes[0].object
    assert created is not None
    entries = created["metadata"].get("managedFields", [])
    assert [each["fieldsV1"] for each in entries] == ([] if owned is None else [owned])
