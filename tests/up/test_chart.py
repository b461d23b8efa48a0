"""The Helm chart and the plain manifests install what ``manage.py up`` starts."""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from gotpl.errors import TemplateError

from schedviz import environment
from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.real_cluster.read_resources import FOLLOWED
from schedviz.up.embedded_redis import loopback_address, redis_conf
from simulator.api import SECOND
from simulator.apiserver.new_cluster import new_cluster
from simulator.commands.run import START, finish_scenario
from simulator.scenario import load_scenario
from simulator.trace import PodReady, PodStarted, VolumeBound
from tests.chart import CHART, PLAIN, RELEASE, default_values, manifests, merged, plain_manifests
from tests.processes import ROOT
from tests.tools import program
from tests.waiting import PATIENCE

OUTSIDE_REDIS = {"redis": {"enabled": False}}
INGRESS = {
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "host": "class.example.com",
        "tlsSecret": "class-tls",
        "annotations": {"nginx.ingress.kubernetes.io/proxy-read-timeout": "3600"},
    }
}
MIRROR = {"mirror": {"enabled": True, "name": "prod", "options": ["--config-map=kube-system/scheduler"]}}
VARIANTS: list[dict[str, Any]] = [
    {},
    OUTSIDE_REDIS,
    INGRESS,
    {"settings": {"ACCOUNTS": 1}},
    MIRROR,
    {"settings": {"WORKERS": 3, "ALLOWED_HOSTS": "a, b"}, "redis": {"storageClassName": "fast"}},
]


def by_name(changes: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["kind"], each["metadata"]["name"]): each for each in manifests(changes)}


def containers(changes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The containers of all workloads by name."""
    return {
        container["name"]: container
        for each in manifests(changes)
        if "template" in each.get("spec", {})
        for container in each["spec"]["template"]["spec"]["containers"]
    }


@pytest.mark.parametrize("changes", VARIANTS)
def test_the_api_server_accepts_all_objects(changes: dict[str, Any]) -> None:
    """The schemas and the validation of v1.34, where an unknown field is an error."""
    documents = manifests(changes)
    assert len(new_cluster(documents, START)) > len(documents)


@pytest.mark.parametrize("changes", VARIANTS)
def test_helm_renders_the_same_manifests(changes: dict[str, Any], tmp_path: Path) -> None:
    """gotpl is another program than Helm."""
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump(changes))
    printed = helm("template", RELEASE, str(CHART), f"--values={values}")
    rendered = [each for each in yaml.safe_load_all(printed) if each]
    assert sorted(rendered, key=str) == sorted(manifests(changes), key=str)


def test_helm_finds_nothing_wrong_with_the_chart() -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in helm("lint", "--strict", str(CHART))


def helm(*arguments: str) -> str:
    ended = subprocess.run(
        [program("helm"), *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("changes", VARIANTS)
def test_the_values_match_their_schema(changes: dict[str, Any]) -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(merged(default_values(), changes), schema)


@pytest.mark.parametrize(
    "changes",
    [
        {"replicas": 3},
        {"web": {"replicas": 0}},
        {"redis": {"memoryMegabytes": 10}},
        {"settings": {"SECRET_KEY": "in plain sight"}},
        {"settings": {"REDIS_CLUSTER_URLS": "redis://:in-plain-sight@a"}},
        {"settings": {"allowed hosts": "a"}},
        {"image": {"pullPolicy": "Sometimes"}},
    ],
)
def test_wrong_values_are_refused(changes: dict[str, Any]) -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(merged(default_values(), changes), schema)


def test_a_value_that_is_used_and_not_declared_is_an_error() -> None:
    with pytest.raises(TemplateError):
        manifests({"redis": None})


def test_the_processes_are_those_that_up_starts() -> None:
    found = containers({})
    assert found.keys() == {"web", "worker", "job-runner", "redis"}
    assert found["web"]["command"] == ["python", "manage.py", "web", "--host=0.0.0.0", "--port=8000"]
    celery = ["python", "-m", "celery", "--app=schedviz", "--quiet"]
    assert found["worker"]["command"] == [*celery, *WORKER_ARGUMENTS]
    assert found["job-runner"]["command"] == [*celery, *JOB_RUNNER_ARGUMENTS]
    for name in ("worker", "job-runner"):
        heartbeat = ["python", "-m", "schedviz.up.health", name]
        assert found[name]["readinessProbe"]["exec"]["command"] == heartbeat


def test_no_pod_is_restarted_because_redis_is_away() -> None:
    """The heartbeat of a Celery process is in Redis; /healthz asks for nothing."""
    found = containers({})
    for name in ("worker", "job-runner"):
        assert not {"livenessProbe", "startupProbe"} & found[name].keys()
    for probe in ("livenessProbe", "startupProbe", "readinessProbe"):
        assert found["web"][probe]["exec"]["command"][-1] == "http://127.0.0.1:8000/healthz"


def test_the_server_goes_on_until_no_proxy_sends_it_requests() -> None:
    assert containers({})["web"]["lifecycle"] == {"preStop": {"exec": {"command": ["sleep", "5"]}}}


def test_an_image_may_be_named_by_its_digest() -> None:
    digest = "sha256:" + "0" * 64
    assert containers({"image": {"digest": digest}})["worker"]["image"] == f"schedviz@{digest}"
    redis = containers({"redis": {"image": f"redis@{digest}"}})["redis"]
    assert redis["image"] == f"redis@{digest}"


def test_the_database_of_accounts_is_migrated_before_the_server_starts() -> None:
    def pod(changes: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = by_name(changes)["Deployment", "schedviz-web"]["spec"]["template"]["spec"]
        return found

    assert "initContainers" not in pod({})
    [init] = pod({"settings": {"ACCOUNTS": 1}})["initContainers"]
    [web] = pod({"settings": {"ACCOUNTS": 1}})["containers"]
    assert init["command"] == ["python", "manage.py", "migrate_accounts"]
    for field in ("image", "env", "envFrom", "securityContext"):
        assert init[field] == web[field]


def test_redis_has_the_options_of_the_embedded_one(tmp_path: Any) -> None:
    _, *arguments = containers({"redis": {"memoryMegabytes": 100}})["redis"]["command"]
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    lines = redis_conf(tmp_path, loopback_address(1, "x"), 100).splitlines()
    embedded = dict(line.split(" ", 1) for line in lines)
    assert options.pop("--dir") == "/data"
    assert options.pop("--requirepass") == "$(REDIS_PASSWORD)"
    names = ("appendonly", "maxmemory", "maxmemory-policy")
    assert options == {f"--{name}": embedded[name] for name in names}


@pytest.mark.parametrize("changes", VARIANTS)
def test_every_process_reads_the_settings_and_the_secret(changes: dict[str, Any]) -> None:
    config = by_name(changes)["ConfigMap", "schedviz-settings"]["data"]
    assert config.keys() <= environment.KNOWN.keys()
    assert all(isinstance(value, str) for value in config.values())
    for name, container in containers(changes).items():
        if name == "redis":
            continue
        assert container["envFrom"] == [
            {"configMapRef": {"name": "schedviz-settings"}},
            {"secretRef": {"name": "schedviz"}},
        ]
        variables = [each["name"] for each in container.get("env", [])]
        own_redis = merged(default_values(), changes)["redis"]["enabled"]
        assert variables == (["REDIS_PASSWORD", "REDIS_URL"] if own_redis else [])


@pytest.mark.parametrize("changes", VARIANTS)
def test_selectors_and_references_match(changes: dict[str, Any]) -> None:
    found = by_name(changes)
    templates = {
        name: each["spec"]["template"]["metadata"]["labels"]
        for (kind, name), each in found.items()
        if kind in ("Deployment", "StatefulSet")
    }
    for (kind, name), each in found.items():
        match kind:
            case "Deployment" | "StatefulSet":
                selectors = [each["spec"]["selector"]["matchLabels"]]
            case "Service":
                selectors = [each["spec"]["selector"]]
            case "PodDisruptionBudget":
                selectors = [each["spec"]["selector"]["matchLabels"]]
            case "NetworkPolicy":
                selectors = [each["spec"]["podSelector"]["matchLabels"]]
            case _:
                selectors = []
        for selector in selectors:
            selected = [other for other, labels in templates.items() if selector.items() <= labels.items()]
            assert len(selected) == 1, f"{kind} {name} selects {selected}"
            assert selected[0].removesuffix("-web").startswith(name.removesuffix("-web"))
    if ingress := found.get(("Ingress", "schedviz")):
        backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        ports = found["Service", backend["name"]]["spec"]["ports"]
        assert backend["port"]["name"] in [port["name"] for port in ports]
        assert ingress["spec"]["tls"] == [{"hosts": ["class.example.com"], "secretName": "class-tls"}]


def test_containers_have_few_rights() -> None:
    for each in manifests():
        if "template" not in each.get("spec", {}):
            continue
        spec = each["spec"]["template"]["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["automountServiceAccountToken"] is False
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_a_mirror_may_read_what_it_follows_and_nothing_else() -> None:
    found = by_name(MIRROR)
    rules = found["ClusterRole", "default-schedviz-mirror"]["rules"]
    assert all(rule.keys() == {"apiGroups", "resources", "verbs"} for rule in rules)
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}
    allowed = [(group, each) for rule in rules for group in rule["apiGroups"] for each in rule["resources"]]
    assert sorted(allowed) == sorted((resource.group, resource.plural) for resource in FOLLOWED)
    [subject] = found["ClusterRoleBinding", "default-schedviz-mirror"]["subjects"]
    assert found["ServiceAccount", subject["name"]]
    spec = found["Deployment", "schedviz-mirror"]["spec"]["template"]["spec"]
    assert spec["serviceAccountName"] == subject["name"]
    assert not any(each["kind"] == "ClusterRole" for each in manifests())


def test_two_releases_share_no_object() -> None:
    first = {(each["kind"], each["metadata"]["name"]) for each in manifests(release="first")}
    second = {(each["kind"], each["metadata"]["name"]) for each in manifests(release="second")}
    assert not first & second


def test_the_plain_manifests_are_those_of_the_chart() -> None:
    assert PLAIN.read_text() == plain_manifests(), "run: make manifests"


CLUSTER = """
apiVersion: schedviz/v1
kind: Scenario
metadata: {name: chart}
spec: {title: chart, summary: chart}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/disks
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-2}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}}
---
"""


def test_the_plain_manifests_run_on_two_small_nodes() -> None:
    """In the simulator: controllers create the pods, the claim is bound, and each pod is scheduled."""
    trace = finish_scenario(load_scenario(CLUSTER + PLAIN.read_text()), 60 * SECOND).trace
    started = [event for event in trace if isinstance(event, PodStarted | PodReady)]
    assert {event.pod.split("/")[1].rsplit("-", 2)[0] for event in started if "redis" not in event.pod} == {
        "schedviz-web",
        "schedviz-worker",
        "schedviz-job-runner",
    }
    assert "default/schedviz-redis-0" in {event.pod for event in started}
    nodes = {event.pod: event.node for event in started}
    assert {node for pod, node in nodes.items() if "web" in pod} == {"node-1", "node-2"}
    claims = [event.claim for event in trace if isinstance(event, VolumeBound)]
    assert claims == ["default/data-schedviz-redis-0"]


def test_the_document_names_each_value() -> None:
    text = (ROOT / "docs" / "KUBERNETES.md").read_text()
    for name, value in yaml.safe_load((CHART / "values.yaml").read_text()).items():
        inner = value if isinstance(value, dict) and name != "settings" else {}
        for path in [f"{name}.{key}" for key in inner] or [name]:
            assert f"`{path}`" in text
