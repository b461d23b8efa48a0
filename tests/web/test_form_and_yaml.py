"""Forms and the YAML beside them, which the server keeps equal; and the merge of two edits, draining and
configuring, without a page."""

from collections import Counter
from typing import Any

import pytest
from django import forms

from schedviz.api import schedulers, write
from schedviz.store import Sandbox
from schedviz.web.forms.all_faults import faults_of, find_all_faults
from schedviz.web.forms.base import ManifestForm
from schedviz.web.forms.conflict import differences, merged
from schedviz.web.forms.disruption_budget import DisruptionBudgetForm
from schedviz.web.forms.form_and_yaml import FormAndYaml, parse_document
from schedviz.web.forms.node import ZONE, NodeForm
from schedviz.web.forms.pod import PodForm
from schedviz.web.forms.scheduler import SchedulerForm, with_profile
from schedviz.web.forms.views import dry_run_of
from schedviz.web.kubectl import lines
from schedviz.web.manifests.yaml import to_yaml
from schedviz.web.objects.drain import drain_node
from schedviz.web.objects.views import ChangedMeanwhile, editable, save_unless_changed
from simulator.api import Manifest
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.status import Invalid, StatusError
from simulator.plugins.registry import load, profiles


def posted(both: FormAndYaml, **edited: str) -> dict[str, str]:
    """The fields that a browser posts for a form after these fields (or its ``yaml``) were edited."""
    fields = {
        name: str(both.form.data[name])
        for name, field in both.form.fields.items()
        if not isinstance(field, forms.BooleanField) or both.form.data[name]
    }
    return {**fields, "yaml": both.text, "drawn": both.drawn} | edited


def after(
    kind: type[ManifestForm], sandbox: Sandbox, start: Manifest | None = None, **edited: str
) -> FormAndYaml:
    start = kind.start(sandbox) if start is None else start
    both = FormAndYaml(kind, sandbox, start)
    assert not both.form.errors
    return FormAndYaml(kind, sandbox, start, posted(both, **edited))


def test_a_field_changes_its_place_in_the_yaml_and_nothing_else(sandbox: Sandbox) -> None:
    start = PodForm.start(sandbox)
    start["spec"]["hostNetwork"] = True
    start["spec"]["tolerations"] = [{"operator": "Exists"}]
    both = after(PodForm, sandbox, start, cpu="2", labels="app=web", grace="0")
    assert both.manifest is not None
    wanted = {**start, "metadata": {**start["metadata"], "labels": {"app": "web"}}}
    wanted["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    wanted["spec"]["terminationGracePeriodSeconds"] = 0
    assert both.manifest == wanted
    assert parse_document(both.text) == wanted
    assert both.rewritten
    assert both.stale == []
    assert both.only_in_yaml == 2
    assert both.form.only_yaml == {"tolerations"}
    again = FormAndYaml(PodForm, sandbox, start, posted(both, cpu=""))
    assert again.manifest is not None
    assert again.manifest["spec"]["containers"][0]["resources"]["requests"] == {"memory": "512Mi"}


def test_edited_yaml_changes_the_fields_of_which_it_has_other_values(sandbox: Sandbox) -> None:
    first = FormAndYaml(PodForm, sandbox, PodForm.start(sandbox))
    text = (
        first.text.replace("500m", "'3'").replace("generateName: pod-", "name: web")
        + "  nodeSelector: {a: b}\n"
    )
    both = FormAndYaml(PodForm, sandbox, PodForm.start(sandbox), posted(first, yaml=text))
    assert both.text == text, "YAML is not rewritten when it is only read"
    assert sorted(both.stale) == ["cpu", "name", "node_selector"]
    assert [both.form.data[name] for name in ("name", "cpu", "node_selector")] == ["web", "3", "a=b"]


def test_a_field_and_the_yaml_edited_at_once_both_count(sandbox: Sandbox) -> None:
    text = to_yaml([PodForm.start(sandbox)]).replace("512Mi", "1Gi")
    both = after(PodForm, sandbox, yaml=text, cpu="7")
    assert both.manifest is not None
    assert both.manifest["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "7", "memory": "1Gi"}


@pytest.mark.parametrize("text", ["a: [", "", "a: 1\n---\nb: 2", "x", "[" * 30_000])
def test_yaml_that_cannot_be_parsed_changes_neither_the_fields_nor_itself(
    sandbox: Sandbox, text: str
) -> None:
    both = after(PodForm, sandbox, yaml=text, cpu="7")
    assert both.manifest is None
    assert both.text == text
    assert len(both.problems) == 1
    assert both.form.data["cpu"] == "7"
    mended = FormAndYaml(PodForm, sandbox, PodForm.start(sandbox), posted(both, yaml=both.drawn))
    assert mended.manifest is not None
    assert mended.manifest["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "7"


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Pod\nmetadata: 3",
        "apiVersion: v1\nkind: Pod\nspec: {containers: {}, tolerations: 3}",
        "apiVersion: apps/v1\nkind: Deployment\nspec: {template: []}",
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: 1",
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: []}}}",
    ],
)
def test_a_form_reads_manifests_of_any_shape_without_an_exception(sandbox: Sandbox, text: str) -> None:
    for edited in ({}, {"cpu": "7"}, {"workload": "Job"}, {"copies": "3"}):
        both = after(PodForm, sandbox, yaml=text, **edited)
        assert both.manifest is not None
        made = both.form.manifests(both.manifest)
        assert lines.create(made)
        with pytest.raises(StatusError):
            write.create(sandbox, made, dry_run=True)


def test_a_pod_becomes_a_deployment_and_a_job_and_a_pod_again(sandbox: Sandbox) -> None:
    start = PodForm.start(sandbox)
    deployment = after(PodForm, sandbox, start, workload="Deployment", copies="3", name="web")
    made = deployment.manifest
    assert made is not None
    assert (made["kind"], made["metadata"]["name"], made["spec"]["replicas"]) == ("Deployment", "web", 3)
    assert (
        made["spec"]["selector"]["matchLabels"]
        == made["spec"]["template"]["metadata"]["labels"]
        == {"app": "web"}
    )
    job = FormAndYaml(PodForm, sandbox, start, posted(deployment, workload="Job", cpu="2"))
    assert job.manifest is not None
    write.create(sandbox, job.form.manifests(job.manifest))
    spec = sandbox.list("jobs.batch").items[0]["spec"]
    assert (spec["completions"], spec["template"]["spec"]["restartPolicy"]) == (3, "Never")
    pod = FormAndYaml(PodForm, sandbox, start, posted(job, workload="Pod", copies="2"))
    assert pod.manifest is not None
    assert pod.manifest["metadata"] == {"generateName": "web-", "namespace": "default"}
    assert len(pod.form.manifests(pod.manifest)) == 2
    write.create(sandbox, deployment.form.manifests(made))


def test_hundreds_of_nodes_are_spread_over_the_zones_of_the_form(sandbox: Sandbox) -> None:
    both = after(NodeForm, sandbox, copies="300", zone="zone-a", zones="zone-b,, zone-c, zone-a")
    assert both.manifest is not None
    assert both.manifest["metadata"]["labels"] == {ZONE: "zone-a"}
    made = both.form.manifests(both.manifest)
    assert "\n" not in lines.create(made)
    write.create(sandbox, made)
    zones = Counter(node["metadata"]["labels"][ZONE] for node in sandbox.list("nodes").items)
    assert zones == {"zone-a": 100, "zone-b": 100, "zone-c": 100}
    assert not after(NodeForm, sandbox, copies="1001").valid
    # The fields of copies are kept while the YAML is edited, and have no effect for one node.
    again = FormAndYaml(NodeForm, sandbox, NodeForm.start(sandbox), posted(both, copies="1", cpu="7"))
    assert again.form.data["zones"] == "zone-b,, zone-c, zone-a"
    assert again.manifest is not None
    assert again.form.manifests(again.manifest) == [again.manifest]


def test_nodes_are_numbered_on_and_machines_set_what_they_have(sandbox: Sandbox) -> None:
    both = after(NodeForm, sandbox, copies="2", machine="gpu", zone="zone-c")
    assert both.manifest is not None
    assert sorted(both.stale) == ["cpu", "extended", "memory"]
    write.create(sandbox, both.form.manifests(both.manifest))
    nodes = sandbox.list("nodes").items
    assert [node["metadata"]["name"] for node in nodes] == ["node-1", "node-2"]
    assert nodes[0]["status"]["allocatable"]["nvidia.com/gpu"] == "4"
    assert nodes[0]["metadata"]["labels"]["topology.kubernetes.io/zone"] == "zone-c"
    again = after(NodeForm, sandbox, cpu="5", labels="disk=ssd")
    assert again.manifest is not None
    assert again.stale == ["machine"]
    assert again.manifest["metadata"]["name"] == "node-3"
    assert again.manifest["metadata"]["labels"] == {"topology.kubernetes.io/zone": "zone-c", "disk": "ssd"}


def test_errors_are_shown_beside_their_fields_or_with_their_lines(sandbox: Sandbox) -> None:
    text = to_yaml([DisruptionBudgetForm.start(sandbox)]) + "  maxUnavailable: 10%\n  colour: red\n"
    both = after(DisruptionBudgetForm, sandbox, yaml=text, name="not/a/name")
    assert both.manifest is not None
    both.add_faults(find_all_faults([both.manifest], dry_run_of(sandbox)))
    unknown, together = both.problems
    assert unknown.text.startswith("Line 12, column 3: spec.colour: There is no field “colour” here.")
    assert unknown.upstream == 'unknown field "spec.colour"'
    assert together.text.endswith("spec: These cannot be set together: minAvailable and maxUnavailable.")
    # The API server looks at the name only when the field is gone.
    assert both.form.errors["name"] == ["“not/a/name” is not allowed here: it must not contain “/”."]


def test_two_edits_of_one_object_are_merged_and_their_differences_listed() -> None:
    base = {"a": 1, "b": {"c": 1, "d": [1]}, "gone": 1}
    mine = {"a": 2, "b": {"c": 1, "d": [2]}, "gone": 1, "new": 1}
    theirs = {"a": 1, "b": {"c": 5, "d": [3]}}
    assert merged(base, mine, theirs) == {"a": 2, "b": {"c": 5, "d": [2]}, "new": 1}
    listed = {each.field: (each.before, each.after, each.kept) for each in differences(base, mine, theirs)}
    assert listed == {"b.c": ("1", "5", False), "b.d": ("[1]", "[3]", True), "gone": ("1", "", False)}


def node(name: str) -> Manifest:
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod(name: str, on: str, **metadata: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}, **metadata},
        "spec": {"nodeName": on, "containers": [{"name": "main", "image": "app:1"}]},
    }


def test_an_edit_overwrites_changes_of_components_but_not_of_users(sandbox: Sandbox) -> None:
    write.create(sandbox, [node("n")])
    start = editable(NODES, sandbox.get("nodes", "n") or {})
    assert set(start["status"]) == {"capacity", "allocatable"}
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None}
    write.edit(
        sandbox,
        "nodes",
        "n",
        lambda old: {**old, "status": {**old["status"], "conditions": [ready]}},
        subresource="status",
    )
    larger = {**start, "status": {**start["status"], "allocatable": {"cpu": "8"}}}
    save_unless_changed(sandbox, NODES, "n", start, larger)
    stored = sandbox.get("nodes", "n")
    assert stored is not None
    assert (stored["status"]["allocatable"]["cpu"], stored["status"]["conditions"]) == ("8", [ready])
    write.patch(sandbox, "nodes", "n", {"spec": {"unschedulable": True}})
    with pytest.raises(ChangedMeanwhile):
        save_unless_changed(sandbox, NODES, "n", editable(NODES, stored), larger)


def test_a_drain_evicts_what_the_budgets_allow_and_leaves_daemons(sandbox: Sandbox) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "1", "controller": True}
    budget = {
        **DisruptionBudgetForm.start(sandbox),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    pods = [pod("a", "n"), pod("b", "n"), pod("agent", "n", ownerReferences=[owner], labels={})]
    write.create(sandbox, [node("n"), budget, *pods])
    for name in ("a", "b"):
        write.edit(sandbox, PODS.id, f"default/{name}", running, subresource="status")
    write.edit(sandbox, "poddisruptionbudgets.policy", "default/web", allow_one, subresource="status")
    outcome = drain_node(sandbox, "n")
    ends = {each.pod: each.end for each in outcome.outcomes}
    assert ends == {"default/a": "evicted", "default/agent": "daemon", "default/b": "refused"}
    (refused,) = outcome.refused
    assert refused.pod == "default/b"
    assert refused.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert refused.why == "The disruption budget web needs 1 healthy pods and has 2 currently"
    assert [each.pod for each in drain_node(sandbox, "n").leaving] == ["default/a"]
    assert (sandbox.get("nodes", "n") or {})["spec"]["unschedulable"] is True


def running(pod: Manifest) -> Manifest:
    ready = {"type": "Ready", "status": "True"}
    return {**pod, "status": {"phase": "Running", "conditions": [ready]}}


def allow_one(budget: Manifest) -> Manifest:
    counts = {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}
    return {**budget, "status": {**counts, "observedGeneration": 1}}


def test_switches_and_weights_make_the_configuration_that_the_scheduler_reads(sandbox: Sandbox) -> None:
    off = {"p0-on-ImageLocality": ""}
    edited = {"p0-NodeAffinity": "7", "p0-on-Gang": "on", "p0-strategy": "MostAllocated", "p0-hard": "50"}
    first = FormAndYaml(SchedulerForm, sandbox, SchedulerForm.start(sandbox))
    page = {name: text for name, text in posted(first, **edited).items() if name not in off}
    both = FormAndYaml(SchedulerForm, sandbox, SchedulerForm.start(sandbox), page)
    assert both.manifest is not None
    assert both.only_in_yaml == 0
    framework = profiles(load(both.manifest))["default-scheduler"]
    assert framework.weights["NodeAffinity"] == 7
    assert "ImageLocality" not in framework.plugins
    assert "Gang" in framework.plugins
    assert framework.profile.args["NodeResourcesFit"].scoring_strategy.type == "MostAllocated"
    undone = posted(
        both, **{"p0-NodeAffinity": "2", "p0-on-ImageLocality": "on", "p0-strategy": "", "p0-hard": ""}
    )
    del undone["p0-on-Gang"]
    back = FormAndYaml(SchedulerForm, sandbox, SchedulerForm.start(sandbox), undone)
    assert back.manifest == SchedulerForm.start(sandbox)


def test_a_wrong_configuration_is_refused_with_the_paths_of_the_errors(sandbox: Sandbox) -> None:
    start = with_profile(SchedulerForm.start(sandbox))
    both = after(
        SchedulerForm, sandbox, start, **{"p1-hard": "101", "percentage": "-1", "p0-NodeAffinity": "-3"}
    )
    assert both.manifest is not None
    with pytest.raises(Invalid) as refused:
        schedulers.configure(sandbox, both.manifest, [], dry_run=True)
    both.add_faults(faults_of(refused.value))
    assert both.problems == []
    assert set(both.form.errors) == {"p1-hard", "percentage", "p0-NodeAffinity"}
    text = both.text.replace("hardPodAffinityWeight", "hardPod")
    wrong = FormAndYaml(SchedulerForm, sandbox, start, posted(both, yaml=text, percentage=""))
    assert wrong.manifest is not None
    with pytest.raises(Invalid) as refused:
        schedulers.configure(sandbox, wrong.manifest, [], dry_run=True)
    wrong.add_faults(faults_of(refused.value))
    assert any("profiles[1].pluginConfig[0].args" in problem.text for problem in wrong.problems)
