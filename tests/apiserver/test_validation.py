"""What schemas do not say: the field and the words of each fault."""

from typing import Any

import pytest

from simulator.apiserver.bounds import MAX_SHOWN_KEY
from simulator.apiserver.faults import MAX_CAUSES
from simulator.apiserver.kinds.pods.validation import _is_valid
from simulator.apiserver.status import Invalid
from simulator.objects import quantity
from tests.apiserver.cluster import Cluster, pod

MAIN = {"name": "main", "image": "web:1"}


def container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{**MAIN, **fields}]}


def requests(**amounts: Any) -> dict[str, Any]:
    return container(resources={"requests": amounts})


def required_node_terms(*terms: Any) -> dict[str, Any]:
    selector = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"affinity": {"nodeAffinity": selector}}


def storage(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **fields}


def claim(**fields: Any) -> dict[str, Any]:
    requests = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": requests, **fields}
    return storage("v1", "PersistentVolumeClaim", spec=spec)


DRIVER = {"name": "d", "nodeID": "n"}
NODE_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"containers": []}, "spec.containers", "Required value"),
        (container(image=""), "spec.containers[0].image", "Required value"),
        ({"containers": [{"image": "x"}]}, "spec.containers[0].name", "Required value"),
        (container(name="Main"), "spec.containers[0].name", "a lowercase RFC 1123 label must consist of"),
        ({"containers": [MAIN, MAIN]}, "spec.containers[1].name", 'Duplicate value: "main"'),
        ({"containers": [MAIN], "initContainers": [MAIN]}, "spec.initContainers[0].name", "Duplicate value"),
        (
            requests(cpu="-1"),
            "spec.containers[0].resources.requests[cpu]",
            "must be greater than or equal to 0",
        ),
        (
            requests(cpu="lots"),
            "spec.containers[0].resources.requests[cpu]",
            "quantities must match the regular",
        ),
        (requests(memory="99Ei"), "spec.containers[0].resources.requests[memory]", "must be less than 2^63"),
        (requests(cpu=True), "spec.containers[0].resources.requests[cpu]", "must be of type quantity"),
        (requests(gpu="1"), "spec.containers[0].resources.requests[gpu]", "must be a standard resource"),
        (requests(**{"x.io/gpu": "1"}), "spec.containers[0].resources.limits", "Limit must be set"),
        (
            container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            "spec.containers[0].resources.requests",
            'Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            container(resources={"limits": {"x.io/gpu": "0.5"}}),
            "spec.containers[0].resources.limits[x.io/gpu]",
            "must be an integer",
        ),
        (
            container(ports=[{"containerPort": 0}]),
            "spec.containers[0].ports[0].containerPort",
            "Required value",
        ),
        (
            container(ports=[{"containerPort": 80, "protocol": "HTTP"}]),
            "spec.containers[0].ports[0].protocol",
            'Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"',
        ),
        (
            container(ports=[{"containerPort": 1, "hostPort": 5}, {"containerPort": 2, "hostPort": 5}]),
            "spec.containers[0].ports[1].hostPort",
            "Duplicate value",
        ),
        (
            container(volumeMounts=[{"name": "v", "mountPath": "/v"}]),
            "spec.containers[0].volumeMounts[0].name",
            "Not found",
        ),
        ({"restartPolicy": "Sometimes"}, "spec.restartPolicy", 'Unsupported value: "Sometimes"'),
        ({"priority": "high"}, "spec.priority", 'Invalid value: "high": must be of type integer'),
        ({"priority": 1 << 31}, "spec.priority", "must be in the range of int32"),
        ({"nodeName": "No de"}, "spec.nodeName", "a lowercase RFC 1123 subdomain"),
        (
            {"nodeSelector": {"a b": "c"}},
            "spec.nodeSelector",
            'Invalid value: "a b": name part must consist of',
        ),
        ({"nodeSelector": {"a": "c d"}}, "spec.nodeSelector", 'Invalid value: "c d": a valid label must be'),
        ({"nodeSelector": {"a": True}}, "spec.nodeSelector[a]", "must be of type string; put it in quotes"),
        (
            {"tolerations": [{"effect": "Never", "operator": "Exists"}]},
            "spec.tolerations[0].effect",
            "Unsupported value",
        ),
        (
            {"tolerations": [{"value": "a"}]},
            "spec.tolerations[0].operator",
            "operator must be Exists when `key` is empty",
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
            "spec.tolerations[0].operator",
            "value must be empty when `operator` is 'Exists'",
        ),
        (
            {"dnsPolicy": "None", "dnsConfig": {}},
            "spec.dnsConfig.nameservers",
            "Required value: must provide at least one DNS nameserver when `dnsPolicy` is None",
        ),
        (
            {"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 1}]},
            "spec.tolerations[0].effect",
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
        (required_node_terms(), NODE_TERMS, "must have at least one node selector term"),
        (
            required_node_terms({"matchExpressions": [{"key": "a", "operator": "Is", "values": ["b"]}]}),
            f"{NODE_TERMS}[0].matchExpressions[0].operator",
            "not a valid selector operator",
        ),
        (
            required_node_terms({"matchExpressions": [{"key": "a", "operator": "In"}]}),
            f"{NODE_TERMS}[0].matchExpressions[0].values",
            "must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (
            required_node_terms({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1", "2"]}]}),
            f"{NODE_TERMS}[0].matchExpressions[0].values",
            "must be specified single value",
        ),
        (
            {"topologySpreadConstraints": [{**SPREAD, "maxSkew": 0}]},
            "spec.topologySpreadConstraints[0].maxSkew",
            "greater than zero",
        ),
        (
            {"topologySpreadConstraints": [SPREAD, SPREAD]},
            "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
            'Duplicate value: "{zone, DoNotSchedule}"',
        ),
        (
            {"topologySpreadConstraints": [{**SPREAD, "matchLabelKeys": ["a"]}]},
            "spec.topologySpreadConstraints[0].matchLabelKeys",
            "must not be specified when labelSelector is not set",
        ),
        (
            {"nodeName": "n", "schedulingGates": [{"name": "a"}]},
            "spec.nodeName",
            "cannot be set until all schedulingGates have been cleared",
        ),
        ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, "spec.schedulingGates[1]", "Duplicate value"),
    ],
)
def test_an_error_of_a_pod_names_its_field(spec: dict[str, Any], field: str, message: str) -> None:
    _refused(pod(**spec), field, message)


def test_metadata_is_held_to_its_rules() -> None:
    for metadata, field, message in (
        ({}, "metadata.name", "name or generateName is required"),
        (
            {"name": "Web"},
            "metadata.name",
            'Invalid value: "Web": a lowercase RFC 1123 subdomain must consist',
        ),
        ({"name": "x" * 254}, "metadata.name", "must be no more than 253 characters"),
        ({"generateName": "We"}, "metadata.generateName", "a lowercase RFC 1123 subdomain"),
        ({"name": "x", "labels": {"-a": "b"}}, "metadata.labels", "name part must consist of"),
        ({"name": "x", "labels": {"/a": "b"}}, "metadata.labels", "prefix part must be non-empty"),
        (
            {"name": "x", "annotations": {"a": "b" * 262_144}},
            "metadata.annotations",
            "Too long: may not be more than",
        ),
        (
            {"name": "x", "annotations": {"schedviz/run-seconds": "-3"}},
            "metadata.annotations[schedviz/run-seconds]",
            "must be a whole number of seconds",
        ),
        (
            {"name": "x", "annotations": {"schedviz/fail-at": "PostBind"}},
            "metadata.annotations[schedviz/fail-at]",
            'Unsupported value: "PostBind": supported values: "Bind", "Filter", ',
        ),
        ({"name": "x", "creationTimestamp": "today"}, "metadata.creationTimestamp", "RFC 3339"),
    ):
        _refused({**pod(), "metadata": metadata}, field, message)
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "namespace": "default"}}
    _refused(node, "metadata.namespace", "not allowed on this type")


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"spec": {"taints": [{"key": "a", "effect": "No"}]}}, "metadata.taints[0].effect", "Unsupported"),
        (
            {"spec": {"taints": [{"key": "a", "effect": "NoExecute"}] * 2}},
            "metadata.taints[1]",
            "Duplicate value",
        ),
        ({"status": {"allocatable": {"cpu": "-1"}}}, "status.allocatable.cpu", "greater than or equal to 0"),
        ({"status": {"capacity": {"pods": "1.5"}}}, "status.capacity.pods", "must be an integer"),
        ({"status": {"allocatable": ["cpu"]}}, "status.allocatable", "must be of type object"),
    ],
)
def test_an_error_of_a_node_names_its_field(body: dict[str, Any], field: str, message: str) -> None:
    _refused({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, **body}, field, message)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"minAvailable": 1, "maxUnavailable": 1}, "spec", "cannot be both set"),
        ({"minAvailable": -1}, "spec.minAvailable", "greater than or equal to 0"),
        ({"maxUnavailable": "101%"}, "spec.maxUnavailable", "must not be greater than 100%"),
        ({"maxUnavailable": "half"}, "spec.maxUnavailable", "a valid percent string must be"),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}},
            "spec.selector.matchExpressions[0].operator",
            "not a valid selector operator",
        ),
    ],
)
def test_an_error_of_a_disruption_budget_names_its_field(
    spec: dict[str, Any], field: str, message: str
) -> None:
    manifest = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": spec,
    }
    _refused(manifest, field, message)


VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}


@pytest.mark.parametrize(
    ("manifest", "field", "message"),
    [
        (claim(accessModes=["X"]), "spec.accessModes", 'Unsupported value: "X"'),
        (
            claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]),
            "spec.accessModes",
            "may not use ReadWriteOncePod with other access modes",
        ),
        (claim(volumeMode="X"), "spec.volumeMode", 'Unsupported value: "X"'),
        (claim(storageClassName="A b"), "spec.storageClassName", "a lowercase RFC 1123 subdomain"),
        (
            storage("v1", "PersistentVolume", spec={**VOLUME, "persistentVolumeReclaimPolicy": "X"}),
            "spec.persistentVolumeReclaimPolicy",
            'Unsupported value: "X"',
        ),
        (storage("storage.k8s.io/v1", "StorageClass", provisioner=""), "provisioner", "Required value"),
        (
            storage("storage.k8s.io/v1", "CSINode", spec={"drivers": [DRIVER, DRIVER]}),
            "spec.drivers[1].name",
            'Duplicate value: "d"',
        ),
        (
            storage(
                "storage.k8s.io/v1", "CSINode", spec={"drivers": [{**DRIVER, "allocatable": {"count": -1}}]}
            ),
            "spec.drivers[0].allocatable.count",
            "must be greater than or equal to 0",
        ),
        (
            pod(volumes=[{"name": "v", "ephemeral": {}}]),
            "spec.volumes[0].ephemeral.volumeClaimTemplate",
            "Required value",
        ),
    ],
)
def test_an_error_of_storage_names_its_field(manifest: dict[str, Any], field: str, message: str) -> None:
    _refused(manifest, field, message)


def test_an_object_has_one_controller() -> None:
    owners = [
        {"apiVersion": "v1", "kind": kind, "name": kind.lower(), "uid": kind, "controller": True}
        for kind in "AB"
    ]
    owned = pod()
    owned["metadata"]["ownerReferences"] = owners
    _refused(owned, "metadata.ownerReferences", 'Found "true" in references for A/a and B/b')
    owned["metadata"]["ownerReferences"] = [{**owners[0], "kind": ""}]
    _refused(owned, "metadata.ownerReferences.kind", "must not be empty")


def test_a_negative_grace_period_is_stored_as_one_second() -> None:
    (created,) = Cluster().create([pod(terminationGracePeriodSeconds=-3)])
    assert created["spec"]["terminationGracePeriodSeconds"] == 1


def test_a_time_that_no_calendar_has_is_refused() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    taint = {"key": "a", "effect": "NoExecute", "timeAdded": "2025-02-30T00:00:00Z"}
    _refused({**node, "spec": {"taints": [taint]}}, "spec.taints[0].timeAdded", "must be a time as RFC 3339")
    failed = {"name": "n", "annotations": {"schedviz/failed-since": "yesterday"}}
    field = "metadata.annotations[schedviz/failed-since]"
    _refused({**node, "metadata": failed}, field, "must be a time as RFC 3339")


def test_the_status_of_a_new_object_is_not_its_makers_to_say() -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    said = {"disruptionsAllowed": 5, "currentHealthy": 5, "desiredHealthy": 0, "expectedPods": 5}
    (created,) = Cluster().create([{**budget, "status": said}])
    assert created["spec"] == {}
    assert created["status"] == dict.fromkeys(said, 0)


def test_a_timetables_durations_are_read_before_it_is_stored() -> None:
    entry = {"at": "5s", "every": "soon", "object": pod()}
    timetable = {"apiVersion": "schedviz/v1", "kind": "Timetable", "metadata": {"name": "t"}}
    _refused({**timetable, "spec": {"entries": [entry]}}, "spec.entries[0].every", "'soon' is not a duration")


def test_the_number_of_reported_errors_is_bounded() -> None:
    spec = {f"field{number}": None for number in range(10_000)}
    with pytest.raises(Invalid) as refused:
        Cluster().create([pod(**spec)])
    assert len(refused.value.causes) == MAX_CAUSES
    _refused(
        pod(nodeSelector={"k" * 10_000: 1}), f"spec.nodeSelector[{'k' * MAX_SHOWN_KEY}]", "of type string"
    )


def test_a_null_is_not_set_but_in_a_list() -> None:
    (created,) = Cluster().create([pod(nodeSelector={"a": None}, priorityClassName=None)])
    assert "nodeSelector" not in created["spec"]
    assert "priorityClassName" not in created["spec"]
    _refused(pod(nodeName=None, containers=None), "spec.containers", "Required value")
    _refused(
        pod(containers=[{**MAIN, "args": [None]}]), "spec.containers[0].args[0]", "must be of type string"
    )


def test_quantities_are_kept_in_canonical_form() -> None:
    pairs = {
        "0.5": "500m", "1024Mi": "1Gi", "1.5Gi": "1536Mi", "1000m": "1", "0.1m": "100u", "1000": "1k",
        "1023": "1023", "1024": "1024", "0Mi": "0", "100Ki": "100Ki", "1e3": "1e3", "+5": "5", "-1": "-1",
        "0.3Ki": "307200m", "12345678": "12345678",
    }  # fmt: skip
    assert {text: quantity.canonical(text) for text in pairs} == pairs
    assert all(quantity.parse_text(text) == quantity.parse_text(kept) for text, kept in pairs.items())


def _refused(manifest: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        Cluster().create([manifest])
    found = {cause.field: cause.message for cause in refused.value.causes}
    assert field in found
    assert message in found[field]


def test_equal_specs_are_validated_once_where_the_name_of_the_pod_does_not_count() -> None:
    cluster, before = Cluster(), _is_valid.cache_info().misses
    cluster.create([pod(name, terminationGracePeriodSeconds=4321) for name in ("a", "b", "c")])
    assert _is_valid.cache_info().misses == before + 1
    template = {"spec": claim()["spec"]}
    volumes = [{"name": "v" * 40, "ephemeral": {"volumeClaimTemplate": template}}]
    cluster.create([pod("d", volumes=volumes)])
    _refused(pod("e" * 240, volumes=volumes), "spec.volumes[0].name", "PVC name")
