"""The faults of configurations, scenarios and imported files are explained in the language of the page."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from django.conf import settings
from django.utils.translation import override

from schedviz.api.schedulers import check_configuration
from schedviz.web.ask.form import InvalidField, explain_question, read_form
from schedviz.web.reasons.faults import Explanation, explain_cause
from schedviz.web.reasons.file_rules import FILES
from schedviz.web.reasons.yaml_faults import explain_file
from simulator.api import Manifest
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.status import Cause, Invalid, StatusError
from simulator.apiserver.value_causes import with_value
from simulator.arrivals.read import read_file
from simulator.commands.play import refuse_more
from simulator.dumps.dump import Dump
from simulator.scenario import ScenarioError, load_scenario
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import DEFAULT_FEATURES, Features, read_features
from simulator.versions.kubernetes_version import V1_35, UnknownVersion
from tests.ambiguous_patterns import is_ambiguous

HEAD: Final = "apiVersion: schedviz/v1\nkind: Scenario\n"
CONFIGURATIONS: Final = """\
{apiVersion: v1, kind: Pod, parallelism: 0, podInitialBackoffSeconds: 0, percentageOfNodesToScore: 101}
{podMaxBackoffSeconds: -1}
{podMaxBackoffSeconds: abc}
{colour: red}
{profiles: abc}
{profiles: [1]}
{profiles: [{schedulerName: ''}, {schedulerName: a}, {schedulerName: a}]}
{profiles: [{plugins: {score: {enabled: [{name: NodeName}, {name: NodeAffinity}, {name: NodeAffinity}]}}}]}
{profiles: [{plugins: {multiPoint: {enabled: [{name: Blinking}]}}}]}
{profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: -1}]}}}]}
{profiles: [{plugins: {score: {enabled: [{weight: 1}]}}}]}
{profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]}
{profiles: [{plugins: {queueSort: {disabled: [{name: '*'}]}}}]}
{profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]}
{profiles: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]}
{extenders: [{urlPrefix: 'ftp://x', prioritizeVerb: p, httpTimeout: 1d, tlsConfig: {}}]}
{extenders: [{urlPrefix: 'http://x', managedResources: [{name: cpu}]}]}
{extenders: [{urlPrefix: 'http://x', bindVerb: b, httpTimeout: 1h}, {urlPrefix: 'http://x', bindVerb: b}]}
{extenders: [{urlPrefix: 'http://x'}]}
InterPodAffinity: {hardPodAffinityWeight: 101}
NodeResourcesFit: {kind: X, ignoredResourceGroups: [a/b], ignoredResources: ['']}
NodeResourcesFit: {scoringStrategy: {type: X}}
NodeResourcesFit: {scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 999}]}}
VolumeBinding: {bindTimeoutSeconds: -1, shape: [{utilization: 1, score: 1}]}
NodeResourcesBalancedAllocation: {resources: [{name: cpu, weight: 2}, {name: cpu}]}
PodTopologySpread: {defaultConstraints: [{}, {maxSkew: 1, labelSelector: {}}, {}]}
NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}
NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [3]}}}
NodeAffinity: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: 5}}
NodeAffinity: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}
NodeAffinity: {addedAffinity: {other: 1}}
DefaultPreemption: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}
DefaultPreemption: {minCandidateNodesPercentage: 200, minCandidateNodesAbsolute: -1}
DynamicResources: {filterTimeout: abc, bindingTimeout: x}
DynamicResources: {bindingTimeout: 1ms}
"""
"""Configurations, and arguments of plugins. Each has at least one fault."""
SCENARIOS: Final = (
    "a: b",
    f"{HEAD}metadata: [1]",
    f"{HEAD}spec: 3",
    f"{HEAD}metadata: {{}}",
    *(
        f"{HEAD}metadata: {{name: a}}\nspec: {{{field}}}"
        for field in (
            "seed: x",
            "queue: x",
            "pace: x",
            "config: 3",
            "kubernetes: v1.2",
            "featureGates: {A: 1}",
        )
    ),
    f"{HEAD}metadata: {{name: a}}\nspec: {{featureGates: {{Nothing: true}}}}",
    *(
        f"{HEAD}metadata: {{name: a}}\n---\n{fields}\nmetadata: {{name: a}}"
        for fields in ("at: soon", "copies: 0", "copies: 2")
    ),
)
DUMPS: Final = (
    b"",
    b"\x1f\x8bx",
    b"PK\x03\x04x",
    b'{"a":',
    b"- a",
    b"NAME   READY\nweb    1/1\n",
    b"\xff\xfe\x80",
    b"a: [1\n",
)
ARRIVALS: Final = (
    "",
    "colour\n1\n",
    "time,name,colour\n1,a,b\n",
    "time,name,name\n1,a,b\n",
    "time,name\n1\n",
    '{"time": 1, "colour": 2}\n',
    '{"time": \n',
    "time,name\n,a\n",
    "time;name\n1;a\n",
    "time,name\n",
    '{"time": 1}\n[1]\n',
    '{"time": 1, "apiVersion": "v1", "kind": "Pod"}\n',
    '{"time": 1, "delete": "x", "object": {"metadata": {}}}\n',
    '{"time": 1, "delete": true, "change": true, "object": {"metadata": {}}}\n',
    '{"event": "Sometimes", "time": "2026-01-01T00:00:00Z", "resource": {}}\n',
    "PK\x03\x04",
    'time,name\n0,"a\n',
    f'{{"time": {10**400}}}',
    "kind: a\nmetadata: {}\n",
    "pods: [{metadata: {name: 5}}]\n",
    "{apiVersion: action.kwok.x-k8s.io/v1alpha1, kind: ResourcePatch}",
    *(f"time,{column}\n0,{value}\n" for column, value in (
        ("duration", "x"), ("duration", "-1"), ("count", "0"), ("count", "x"), ("priority", "9999999999"),
        ("cpu", "-1"), ("labels", "a"), ("owner", "Nothing"), ("deletion_time", "-5"),
        ("deletion_time", "99999999"), ("cpu", "12x"),
        ("name", "Web_1"), ("namespace", "X_"), ("labels", "a b=c"), ("labels", "a=b c"), ("priority", "W_"),
    )),
)  # fmt: skip


def is_explained(explain: Any) -> None:
    """Whether something is explained by a sentence that each language has."""
    english: Explanation = explain()
    assert not english.is_general, english
    assert "%(" not in english.text
    assert "“”" not in re.sub("“” cannot be a key", "", english.text), english
    for language, _ in settings.LANGUAGES:
        with override(language):
            assert language == "en" or explain().text != english.text, (language, english)


@pytest.mark.parametrize("text", CONFIGURATIONS.splitlines())
def test_each_fault_of_a_configuration_is_explained(text: str) -> None:
    manifest = yaml.safe_load(text)
    plugin = next(iter(manifest))
    if plugin[0].isupper():
        manifest = {"profiles": [{"pluginConfig": [{"name": plugin, "args": manifest[plugin]}]}]}
    with pytest.raises(Invalid) as caught:
        check_configuration(manifest, "a", DEFAULT_FEATURES)
    for cause in caught.value.causes:
        is_explained(lambda cause=cause: explain_cause(cause))


@pytest.mark.parametrize("text", SCENARIOS)
def test_each_fault_of_a_scenario_is_explained(text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(text)
    error = caught.value
    document = [*yaml.safe_load_all(text)][error.document]
    is_explained(lambda: explain_cause(with_value(document, error.field, error.problem)))


def test_each_fault_of_versions_and_gates_is_explained() -> None:
    with pytest.raises(UnknownVersion) as unknown:
        read_features("v1.2", {})
    found = [str(unknown.value)]
    for version, gate in ((DEFAULT_FEATURES.version, "GangScheduling"), (V1_35, "GangScheduling")):
        with pytest.raises(FeatureGateError) as wrong:
            Features(version, {gate: True})
        found.append(str(wrong.value))
    group = parse_manifests("{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: a}}")
    for features in (DEFAULT_FEATURES, Features(V1_35)):
        with pytest.raises(StatusError) as refused:
            new_cluster(group, 0, features)
        found.append(refused.value.message)
    for problem in found:
        is_explained(lambda problem=problem: explain_cause(Cause("", problem)))


def explained_file(message: str) -> Explanation:
    text = explain_file(message, {})
    return Explanation(text, is_general=message in text)


@pytest.mark.parametrize("data", DUMPS)
def test_each_fault_of_a_dump_is_explained(data: bytes) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is what is looked at)
        [*Dump(data).manifests()]
    is_explained(lambda: explained_file(str(caught.value)))


@pytest.mark.parametrize("text", ARRIVALS)
def test_each_fault_of_arrivals_is_explained(text: str, tmp_path: Path) -> None:
    path = tmp_path / "arrivals"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the message is what is looked at)
        read_file(path)
    is_explained(lambda: explained_file(str(caught.value)))


def test_the_place_of_a_fault_is_said_and_no_path_of_the_server() -> None:
    problem = "line 3, column 'a b': unknown; the columns are x, y"
    names = {"/tmp/a": "Arrivals", "/tmp/b": ""}
    said = "Line 3, column a b: There is no such column. The columns are x, y."
    assert explain_file(f"/tmp/a: {problem}", names) == f"Arrivals: {said}"
    assert explain_file(f"/tmp/b: {problem}", names) == said
    assert explain_file("/tmp/b: t/a.yaml: line 2: not UTF-8", names) == (
        "t/a.yaml: Line 2: The text is not UTF-8."
    )
    assert explain_file("something new", names) == "The file cannot be used: something new"
    with pytest.raises(Exception, match="the workload") as large:
        refuse_more(3, 2, "pods")
    assert explain_file(str(large.value), names).startswith(
        "The workload has 3 pods, and a sandbox at most 2."
    )


def test_each_pattern_of_a_file_takes_linear_time() -> None:
    assert [pattern for pattern, _ in FILES if is_ambiguous(pattern, re.DOTALL, "fullmatch")] == []


def test_what_the_api_server_refuses_of_a_workload_is_explained() -> None:
    for problem in (
        'line 2, column object: web: Job.batch "web" is invalid: spec.parallelism: Required value',
        'Node "a" is invalid: spec.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule"',
        'line 2: a: pods "a" is forbidden: no PriorityClass with name none-such was found',
        'namespaces "shop" not found',
    ):
        is_explained(lambda problem=problem: explained_file(problem))


WRONG_QUESTIONS: Final = (
    {"question": "fits", "manifests": "{kind: Deployment"},
    *({"question": "add", "shapes": shapes} for shapes in (
        "cpu=1", "cpu=1,memory=x", "cpu=1,memory=-1", "cpu=1,cpu=2", "cpu", "disk=1", "like=x", "price=x",
        f"cpu={'1' * 2000}",
    )),
    {"question": "drain"},
    {"question": "drain", "nodes": "x"},
)  # fmt: skip


@pytest.mark.parametrize("posted", WRONG_QUESTIONS)
def test_the_form_of_a_question_says_what_is_wrong_with_its_fields(posted: dict[str, str]) -> None:
    nodes: dict[str, Manifest] = {"n1": {"metadata": {"name": "n1"}}}

    def explain() -> Explanation:
        with pytest.raises(InvalidField) as caught:
            read_form(posted, nodes)
        assert caught.value.field
        return Explanation(str(caught.value))

    is_explained(explain)


@pytest.mark.parametrize("message", [
    "shapes: from 1 to 20",
    "nodes: no node is chosen",
    "nodes: there is no node",
    "manifests: there is no pod",
    "manifests[1]: Service has no pod template",
    "manifests[0]: spec.nodeName is set, so that no scheduler places the pod",
    'manifests[0]: Pod "a" is invalid: spec.containers: Required value',
    "sizes: there must be a number from 1 for each pod",
])  # fmt: skip
def test_why_a_question_was_not_answered_is_explained(message: str) -> None:
    def explain() -> Explanation:
        _, text = explain_question(message)
        return Explanation(text, is_general=message.endswith(text))

    is_explained(explain)


def test_the_line_of_a_wrong_shape_is_said() -> None:
    message = "shapes[1]: memory is missing"
    assert explain_question(message) == ("shapes", "Line 2: “memory” is missing.")
