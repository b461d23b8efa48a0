"""Warnings about objects that are accepted, in the words of kube-apiserver."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.annotations import APP_ARMOR
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.warnings import warnings_of, warnings_of_update
from tests.apiserver.cluster import Cluster, pod

NO_SELECTOR = "a null labelSelector results in matching no pod"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ZONE = "failure-domain.beta.kubernetes.io/zone"
TERMS = "spec.nodeAffinity.required.nodeSelectorTerms"
OLD_ZONE = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'


def object_of(kind: str, version: str = "v1", **fields: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **fields}


def volume(**spec: Any) -> Manifest:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec}
    return object_of("PersistentVolume", spec=spec)


def container(**fields: Any) -> Manifest:
    return {"name": "main", "image": "a", **fields}


def created(manifest: Manifest) -> Manifest:
    return Cluster().create([manifest])[0]


@pytest.mark.parametrize(
    ("manifest", "warnings"),
    [
        (
            pod(
                "x",
                affinity={
                    "podAffinity": {REQUIRED: [{"topologyKey": "z"}]},
                    "podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "z"}}]},
                },
            ),
            [
                f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: {NO_SELECTOR}",
                f"spec.affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {NO_SELECTOR}",
            ],
        ),
        (
            pod(
                "x",
                containers=[container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}])],
            ),
            [],
        ),
        (
            volume(
                hostPath={"path": "/d"},
                nodeAffinity={
                    "required": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "Exists"}]}]
                    }
                },
            ),
            [
                f"{TERMS}[0].matchExpressions[0].key: {ZONE} is {OLD_ZONE}",
            ],
        ),
        (
            object_of(
                "StorageClass",
                "storage.k8s.io/v1",
                provisioner="p.io",
                allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}],
            ),
            [f"allowedTopologies[0].matchLabelExpressions[0].key: {OLD_ZONE}"],
        ),
        (
            object_of(
                "Service",
                spec={
                    "clusterIP": "None",
                    "externalIPs": ["1.2.3.4"],
                    "ports": [{"port": 80}],
                },
            ),
            [
                "spec.externalIPs is ignored for headless services",
                "spec.SessionAffinity is ignored for headless services",
            ],
        ),
    ],
)
def test_an_accepted_object_has_its_warnings(manifest: Manifest, warnings: list[str]) -> None:
    resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
    assert resource
    assert warnings_of(resource, created(manifest)) == warnings


def test_profiles_that_only_annotations_name_are_copied() -> None:
    containers = [{**container(), "name": name} for name in ("a", "b", "c")]
    containers[2]["securityContext"] = {"appArmorProfile": {"type": "Unconfined"}}
    sent = pod("x", containers=containers, securityContext={"appArmorProfile": {"type": "RuntimeDefault"}})
    annotate(sent, a="runtime/default", b="runtime/default", c="unconfined")
    assert with_profiles(sent) == [None, None, {"type": "Unconfined"}]
    del sent["spec"]["securityContext"]
    annotate(sent, a="localhost/p", b="", c="unconfined")
    copied = {"type": "Localhost", "localhostProfile": "p"}
    assert with_profiles(sent) == [copied, None, {"type": "Unconfined"}]


def annotate(web: Manifest, **profiles: str) -> None:
    web["metadata"]["annotations"] = {f"{APP_ARMOR}{name}": profile for name, profile in profiles.items()}


def with_profiles(sent: Manifest) -> list[Manifest | None]:
    """The profiles of the containers of a new pod."""
    contexts = [each.get("securityContext") or {} for each in created(sent)["spec"]["containers"]]
    return [context.get("appArmorProfile") for context in contexts]


def test_an_update_warns_if_it_changes_what_the_warning_is_about() -> None:
    spread = [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [container()], "topologySpreadConstraints": spread},
    }
    deployment = created(
        object_of(
            "Deployment", "apps/v1", spec={"selector": {"matchLabels": {"a": "b"}}, "template": template}
        )
    )
    web = created(pod("x", topologySpreadConstraints=spread))
    deployments, pods = (find_by_kind(each["apiVersion"], each["kind"]) for each in (deployment, web))
    assert deployments
    assert pods
    changed = {**deployment, "metadata": {**deployment["metadata"], "generation": 2}}
    path = "spec.template.spec.topologySpreadConstraints[0].labelSelector"
    assert warnings_of_update(deployments, changed, deployment, "") == [f"{path}: {NO_SELECTOR}"]
    assert warnings_of_update(deployments, changed, deployment, "status") == []
    assert warnings_of_update(deployments, deployment, deployment, "") == []
    assert warnings_of_update(pods, web, web, "") == []
