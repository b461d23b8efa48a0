"""What admission reads of a cluster, and that it sees what the same request has changed."""

from simulator.api import Manifest
from simulator.apiserver.overlay import ObjectList
from tests.apiserver.cluster import Cluster, pod


class Counting(Cluster):
    """It notes what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def list(self, resource: str, namespace: str = "") -> ObjectList:
        self.read.append(f"{resource} of {namespace or 'all'}")
        return super().list(resource, namespace)

    def find(self, resource: str, key: str) -> ObjectList:
        self.read.append(f"{resource} {key}")
        return super().find(resource, key)


def test_admission_reads_one_namespace_and_what_is_in_it() -> None:
    cluster = Counting()
    cluster.read.clear()
    cluster.admit([pod("a"), pod("b")])
    assert cluster.read == [
        "limitranges of default",
        "priorityclasses.scheduling.k8s.io of all",
        "namespaces default",
        "resourcequotas of default",
    ]


def test_a_request_sees_what_it_created_before_it_read_it() -> None:
    cluster, namespace = Cluster(), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    inside = {**pod(), "metadata": {"name": "web", "namespace": "new"}}
    limits = {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}
    limit_range = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "new"}}
    *_, first = cluster.create([namespace, inside])
    assert not first["spec"]["containers"][0]["resources"]
    other = {**inside, "metadata": {**inside["metadata"], "name": "other"}}
    third = {**inside, "metadata": {**inside["metadata"], "name": "third"}}
    *_, last = cluster.create([other, {**limit_range, "spec": limits}, third])
    assert last["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1"}


def definition(plural: str, kind: str, group: str = "example.com") -> Manifest:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def test_the_definition_of_a_custom_resource_is_read_by_the_usual_plural_of_its_kind() -> None:
    cluster = Counting()
    definitions = "customresourcedefinitions.apiextensions.k8s.io"
    cluster.create([definition("widgets", "Widget"), definition("oxen", "Ox"), definition("oxes", "Oxe")])
    read = {}
    for kind in ("Widget", "Ox", "Oxe"):
        cluster.read.clear()
        manifest = {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "w"}}
        (change,) = cluster.admit([manifest]).changes
        read[change.resource] = [each for each in cluster.read if each.startswith(definitions)]
    by_name = f"{definitions} "
    assert read == {
        "widgets.example.com": [by_name + "widgets.example.com"],
        "oxen.example.com": [by_name + "oxes.example.com", by_name + "of all"],
        "oxes.example.com": [by_name + "oxes.example.com"],
    }
