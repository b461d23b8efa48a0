"""The pages of forms, as plain HTTP serves them: errors beside the fields, and the YAML beside the form."""

import re
from html import unescape

import pytest
from django.test import Client

from schedviz.store import Meta, Sandbox, Store
from simulator.apiserver.manifest import parse_manifests

from .asking import HTMX, text


def field_error(html: bytes, field: str) -> str:
    """What is said beside a field: explanations, and the texts of the API server."""
    found = re.search(rf'id="f-{field}-said".*?</div>', html.decode(), re.DOTALL)
    assert found, f"no field {field}"
    assert '<p class="error"' in found[0], f"no error beside {field}"
    return unescape(found[0])


def test_the_pod_form_creates_copies_that_the_api_server_names(
    client: Client, cluster: str, sandbox: Sandbox
) -> None:
    fields = {
        "name": "web-",
        "copies": "3",
        "cpu": "250m",
        "memory": "1Gi",
        "namespace": "default",
        "node_selector": "disk=ssd, zone=a",
        "tolerations": "dedicated=gpu:NoSchedule, spot",
        "run_seconds": "30",
    }
    answer = client.post(f"{cluster}new/pod/", fields)
    assert answer.headers["Location"] == cluster
    pods = sandbox.list("pods").items
    assert len(pods) == 3
    spec = pods[0]["spec"]
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "250m", "memory": "1Gi"}
    assert spec["nodeSelector"] == {"disk": "ssd", "zone": "a"}
    assert {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"} in spec[
        "tolerations"
    ]
    assert {"key": "spot", "operator": "Exists"} in spec["tolerations"]
    assert pods[0]["metadata"]["annotations"]["schedviz/run-seconds"] == "30"
    page = text(client.get(cluster).content)
    assert f"pods/default/{pods[0]['metadata']['name']}/" in page


@pytest.mark.parametrize(
    ("field", "value", "part"),
    [
        ("pod.name", "Bad Name", "RFC 1123"),
        ("pod.cpu", "-1", "must be greater than or equal to 0"),
        ("pod.cpu", "12 potatoes", "quantit"),
        ("pod.copies", "0", "greater than or equal to 1"),
        ("pod.copies", "100000", "less than or equal to 1000"),
        ("pod.node_selector", "disk", "key=value"),
        ("priorityclass.value", "1000000001", "1000000000"),
        ("priorityclass.name", "system-mine", "system-"),
        ("node.cpu", "much", "quantit"),
        ("node.taints", "a=b", "NoExecute"),
    ],
)
def test_a_form_error_is_shown_beside_its_field(
    client: Client, cluster: str, field: str, value: str, part: str
) -> None:
    kind, _, field = field.partition(".")
    proposed = client.get(f"{cluster}new/{kind}/").content.decode()
    initial = dict(re.findall(r'<input type="(?:text|number)" name="(\w+)" value="([^"]*)"', proposed))
    usual = {"namespace": "default", "preemption_policy": "PreemptLowerPriority"}
    answer = client.post(f"{cluster}new/{kind}/", {**usual, **initial, field: value})
    assert answer.status_code == 422
    assert part in field_error(answer.content, field)


SECOND_DOCUMENT = """\
---
apiVersion: v1
kind: Namespace
metadata: {name: x}
---
---
apiVersion: v1
kind: Pod
metadata: {name: x}
spec: {containers: [{name: x, image: y, resources: {requests: {memory: 1gb}}}]}
"""


def test_a_form_and_the_yaml_beside_it_create_the_same_object(
    client: Client, cluster: str, sandbox: Sandbox
) -> None:
    answer = client.post(f"{cluster}new/pod/", {"do": "step", "name": "web"}, headers=HTMX)
    yaml = text(re.findall(rb'<textarea name="yaml"[^>]*>(.*?)</textarea>', answer.content, re.DOTALL)[0])
    assert client.post(f"{cluster}new/yaml/", {"yaml": yaml}).status_code == 302
    assert sandbox.get("pods", "default/web")


@pytest.mark.parametrize(
    ("yaml", "part"),
    [
        ("", "no document"),
        ("a: [", "Line 2, column 1: A value is missing here"),
        ("[" * 30_000, ""),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containerz: []}",
            "Did you mean “containers”?",
        ),
        (
            SECOND_DOCUMENT,
            "Line 10, column 64: spec.containers[0].resources.requests[memory]: “1gb” is not an amount.",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: <script>}\nspec: {containers: []}",
            "“<script>” cannot be a name here",
        ),
        ("apiVersion: v1\nkind: Nothing\nmetadata: {name: x}", "Nothing"),
    ],
)
def test_yaml_that_is_wrong_stores_nothing_and_stays_in_the_form(
    client: Client, cluster: str, sandbox: Sandbox, yaml: str, part: str
) -> None:
    before = sandbox.version()
    answer = client.post(f"{cluster}new/yaml/", {"yaml": yaml})
    assert answer.status_code == 422
    error = re.findall(r'role="alert">(.*?)</p>', answer.content.decode(), re.DOTALL)[0]
    assert part in unescape(error)
    assert "<script>" not in answer.content.decode()
    assert yaml[:20] in text(answer.content)
    assert sandbox.version() == before


def test_yaml_with_a_unit_that_is_not_meant_is_stored_when_it_is_sent_again(
    client: Client, cluster: str, sandbox: Sandbox
) -> None:
    container = "{name: x, image: y, resources: {requests: {memory: 512m}}}"
    yaml = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec: {{containers: [{container}]}}"
    answer = client.post(f"{cluster}new/yaml/", {"yaml": yaml})
    assert answer.status_code == 422
    assert "Line 4, column 64: spec.containers[0].resources.requests[memory]: 512m is 0.512 bytes." in text(
        answer.content
    )
    assert sandbox.get("pods", "default/x") is None
    assert client.post(f"{cluster}new/yaml/", {"yaml": yaml, "do": "anyway"}).status_code == 302
    assert sandbox.get("pods", "default/x")


def test_htmx_gets_only_the_form_and_an_empty_response_after_success(client: Client, cluster: str) -> None:
    form = client.get(f"{cluster}new/priorityclass/", headers=HTMX).content
    assert b"<html" not in form
    fields = {"name": "high", "value": "5", "preemption_policy": "Never", "global_default": "on"}
    answer = client.post(f"{cluster}new/priorityclass/", fields, headers=HTMX)
    assert (answer.headers["HX-Trigger-After-Swap"], answer.headers["HX-Reswap"]) == ("schedviz:done", "none")
    answer = client.post(f"{cluster}new/priorityclass/", fields, headers=HTMX)
    assert answer.status_code == 200
    assert "already exists" in text(answer.content)


def test_the_example_of_the_field_for_yaml_is_a_manifest(client: Client, sandbox: Sandbox) -> None:
    html = client.get(f"/s/{sandbox.name}/new/yaml/").content.decode()
    found = re.search(r'placeholder="([^"]+)"', html)
    assert found
    (manifest,) = parse_manifests(unescape(found[1]))
    assert manifest["spec"]["containers"][0]["name"] == "main"


def test_the_gates_of_a_sandbox_are_set_beside_the_configuration_of_its_scheduler(
    client: Client, store: Store, sandbox_name: str
) -> None:
    sandbox = store.create(
        Meta(sandbox_name, kubernetes="v1.36.2", feature_gates={"RelaxedDNSSearchValidation": True})
    )
    path = f"/s/{sandbox_name}/scheduler/"
    assert "<code>RelaxedDNSSearchValidation=true</code>" in text(client.get(path).content), "an unlisted one"
    kept = {"do": "gates", "gate:RelaxedDNSSearchValidation": "true"}
    refused = client.post(path, {**kept, "gate:NodeDeclaredFeatures": "false"}, headers=HTMX)
    assert refused.status_code == 422
    said = text(refused.content)
    assert "needs these, too: NodeDeclaredFeatures." in said
    assert "<code>NodeDeclaredFeatures=false</code>" in said, "what was chosen stays"
    assert client.post(path, {**kept, "gate:StorageCapacityScoring": "true"}, headers=HTMX).status_code == 204
    assert sandbox.meta().feature_gates == {
        "RelaxedDNSSearchValidation": True,
        "StorageCapacityScoring": True,
    }
    store.delete(sandbox_name)


def test_pod_groups_are_switched_on_and_off_where_the_version_has_them(
    client: Client, store: Store, sandbox_name: str
) -> None:
    other = {"StorageCapacityScoring": True}
    sandbox = store.create(Meta(sandbox_name, kubernetes="v1.36.2", feature_gates=other))
    path = f"/s/{sandbox_name}/scheduler/"
    assert "new/podgroup/" not in client.get(f"/s/{sandbox_name}/").content.decode()
    assert 'value="pod-groups-on"' in client.get(path).content.decode()
    assert client.post(path, {"do": "pod-groups-on"}, headers=HTMX).status_code == 204
    features = sandbox.meta().features()
    assert features.enabled("GangScheduling")
    assert features.enabled("StorageCapacityScoring")
    assert 'value="pod-groups-off"' in client.get(path).content.decode()
    page = client.get(f"/s/{sandbox_name}/").content.decode()
    assert f'href="/s/{sandbox_name}/new/podgroup/"' in page
    fields = {
        "name": "train",
        "namespace": "default",
        "policy": "2",
        "topology": "rack",
        "disruption_mode": "PodGroup",
    }
    client.post(f"/s/{sandbox_name}/new/podgroup/", fields, headers=HTMX)
    made = sandbox.get("podgroups.scheduling.k8s.io", "default/train")
    assert made
    assert made["spec"] | {"priority": 0} == {
        "schedulingPolicy": {"gang": {"minCount": 2}},
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
        "disruptionMode": "PodGroup",
        "priority": 0,
    }
    workload = fields | {"name": "job", "template": "workers"}
    client.post(f"/s/{sandbox_name}/new/workload/", workload, headers=HTMX)
    made = sandbox.get("workloads.scheduling.k8s.io", "default/job")
    assert made
    [template] = made["spec"]["podGroupTemplates"]
    assert (template["name"], template["schedulingPolicy"]) == ("workers", {"gang": {"minCount": 2}})
    of_template = {**fields, "name": "of-job", "template": "job/workers"}
    client.post(f"/s/{sandbox_name}/new/podgroup/", of_template, headers=HTMX)
    made = sandbox.get("podgroups.scheduling.k8s.io", "default/of-job")
    assert made
    reference = {"workloadName": "job", "podGroupTemplateName": "workers"}
    assert made["spec"]["podGroupTemplateRef"] == {"workload": reference}
    pod = {"name": "train-1", "namespace": "default", "workload": "Pod", "copies": "1", "pod_group": "train"}
    client.post(f"/s/{sandbox_name}/new/pod/", pod, headers=HTMX)
    member = sandbox.get("pods", "default/train-1")
    assert member
    assert member["spec"]["schedulingGroup"] == {"podGroupName": "train"}
    assert client.post(path, {"do": "pod-groups-off"}, headers=HTMX).status_code == 204
    assert sandbox.meta().feature_gates == other
    store.delete(sandbox_name)
    older = store.create(Meta(sandbox_name, kubernetes="v1.35.6"))
    assert "PodGroups need Kubernetes v1.36." in text(client.get(path).content)
    refused = client.post(path, {"do": "pod-groups-on"}, headers=HTMX)
    assert refused.status_code == 422
    assert "no feature gate “TopologyAwareWorkloadScheduling”" in text(refused.content)
    assert not older.meta().feature_gates
    store.delete(sandbox_name)
