"""The comparison that the page's form asks for, and the lines of its plots."""

from collections.abc import Mapping

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.api import write
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob
from schedviz.jobs.comparison_work import comparison_turns
from schedviz.jobs.job_store import JobStore
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.exceeded import LimitExceeded
from schedviz.store.places import Share
from schedviz.web.compare import form as comparison_form
from schedviz.web.compare.plot import BOTTOM, LEFT, RIGHT, TOP, plot, round_up
from schedviz.web.compare.result import compared_nodes, present_comparison
from schedviz.web.compare.scores import compare_scores
from schedviz.web.examples import start_example
from schedviz.web.ideas import texts as ideas
from schedviz.web.text import node_names
from simulator.api import SECOND
from simulator.apiserver.new_cluster import new_cluster
from simulator.compare.answer import Curve
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.workload import ComparedWorkload

from .samples import node

ASKED = {"workload": "scenario:queue-starvation", "a": "own", "b": "default", "until": "2m"}
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: main, image: web}]}\n"


def test_every_preset_is_a_scheduler_that_starts() -> None:
    for preset in comparison_form.PRESETS:
        ComparisonRun(ComparedWorkload([], 0, 0), Side(preset.config, preset.queue), Side(), 1)


def test_a_side_has_the_workloads_own_scheduler_where_it_asks_for_no_other(store: Store) -> None:
    wish = comparison_form.parse_comparison(store, {**ASKED, "b_seed": "7"})
    assert (wish.a.queue, wish.a.seed) == ("fifo", 1)
    assert (wish.b.queue, wish.b.seed, wish.seconds) == ("kubernetes", 7, 120)
    pasted = comparison_form.parse_comparison(
        store, {**ASKED, "workload": "manifests:", "text": f"at: 5s\n{POD}"}
    )
    assert "kind: Scenario" in pasted.text


@pytest.mark.parametrize(
    ("field", "posted"),
    [
        ("workload", {"workload": "scenario:../../etc"}),
        ("workload", {"workload": "sandbox:nobody-has-this"}),
        ("text", {"workload": "manifests:", "text": " "}),
        ("text", {"workload": "manifests:", "text": "- 1"}),
        ("text", {"workload": "manifests:", "text": f"at: soon\n{POD}"}),
        ("text", {"workload": "manifests:", "text": POD.replace("web", "Web")}),
        ("a", {"a": "best"}),
        ("b_yaml", {"b": "yaml", "b_yaml": POD}),
        ("b_kubernetes", {"b_kubernetes": "v1.20"}),
        ("b_gates", {"b_gates": "No=true"}),
        ("a_gates", {"a_gates": "StorageCapacityScoring=maybe"}),
        ("a_seed", {"a_seed": "-1"}),
        ("until", {"until": "2h"}),
        ("until", {"until": "0"}),
    ],
)
def test_an_error_is_shown_at_its_field(store: Store, field: str, posted: Mapping[str, str]) -> None:
    with pytest.raises(comparison_form.InvalidField) as unclear:
        comparison_form.parse_comparison(store, ASKED | dict(posted))
    assert unclear.value.field == field


def test_the_number_of_waiting_comparisons_is_bounded(store: Store) -> None:
    jobs = JobStore(store, COMPARISONS)
    request = comparison_form.parse_comparison(store, ASKED)
    pool = [Share("MAX_COMPARISONS_PER_OWNER", 2, "owner ada")]
    submitted = [jobs.submit(ComparisonJob(request=request), pool) for _ in range(2)]
    with pytest.raises(LimitExceeded):
        jobs.submit(ComparisonJob(request=request), pool)
    for job in submitted:
        jobs.request_stop(job)
        jobs.save(replace(job, state="stopped"))
    assert jobs.is_stop_requested(submitted[0])
    read = jobs.read(submitted[0].key)
    assert read is not None
    assert read.finished


def test_lines_stay_within_the_plot_and_their_names_do_not_overlap() -> None:
    a = Curve("pending", "pods", [(0, 0.0), (50, 7.0), (100, 7.0)], mean=3.5, peak=7, last=7)
    b = Curve("pending", "pods", [(0, 3.0), (100, 7.0)], mean=3.0, peak=7, last=7)
    drawn = plot([("A", a), ("B", b)], 100)
    assert [tick.label for tick in drawn.y] == ["0", "5", "10"]
    assert drawn.lines[0].path == f"M{LEFT} {BOTTOM}H{(LEFT + RIGHT) / 2:g}V50.8H{RIGHT}V50.8"
    heights = [line.label_at for line in drawn.lines if line.label_at is not None]
    assert abs(heights[0] - heights[1]) >= 12
    assert all(TOP <= height <= BOTTOM for height in heights)
    assert [line.label_at for line in plot([("A", a)], 100).lines] == [None]
    assert [round_up(value) for value in (0, 0.3, 1, 7, 100, 101)] == [1, 0.5, 1, 10, 100, 200]


def test_examples_of_visitors_are_not_offered(store: Store, sandbox_name: str) -> None:
    write.create_sandbox(store, Meta(sandbox_name))
    example = start_example(store, ideas.example_of("queue"), "0123456789ab").name
    page = Client(headers={"host": "localhost"}).get("/compare/").content.decode()
    assert f'value="sandbox:{sandbox_name}"' in page
    assert f'value="sandbox:{example}"' not in page
    store.delete(sandbox_name)
    store.delete(example)


def test_both_sides_have_the_same_nodes_in_the_same_order() -> None:
    """The default scheduler chooses an empty node, and the one that packs chooses the half-full node."""
    packing = next(each.config for each in comparison_form.PRESETS if each.name == "packing")
    requests = {"resources": {"requests": {"cpu": "1", "memory": "4Gi"}}}
    spec = {"containers": [{"name": "main", "image": "web", **requests}]}
    cluster = [
        node("half"),
        node("empty"),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {**spec, "nodeName": "half"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": spec},
    ]
    run = ComparisonRun(ComparedWorkload(new_cluster(cluster, 0), 0, 0), Side(), Side(packing), 5 * SECOND)
    assert [*run.run()]
    found = run.result().difference
    assert found
    a, b = compare_scores([found.a, found.b])
    assert a
    assert b
    assert [row.node for row in a.rows] == [row.node for row in b.rows] == ["empty", "half"]
    assert [row.selected for row in a.rows] == [True, False]
    assert [row.selected for row in b.rows] == [False, True]
    assert all(len(row.cells) == len(side.plugins) for side in (a, b) for row in side.rows)
    assert int(b.rows[0].total) < int(b.rows[1].total)
    assert compare_scores([None, found.b])[0] is None


def test_nodes_have_the_short_names_of_their_cluster() -> None:
    packing = next(each.config for each in comparison_form.PRESETS if each.name == "packing")
    names = [f"ip-10-0-10-{end}.eu-west-1.compute.internal" for end in (111, 115)]
    spec = {"containers": [{"name": "main", "image": "web", "resources": {"requests": {"cpu": "1"}}}]}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {**spec, **on}}
        for name, on in (("a", {"nodeName": names[0]}), ("b", {}))
    ]
    cluster = new_cluster([*map(node, names), *pods], 0)
    run = ComparisonRun(ComparedWorkload(cluster, 0, 0), Side(), Side(packing), 5 * SECOND)
    assert [*run.run()]
    compared = compared_nodes(run.result())
    assert [*compared] == names
    with node_names.using(node_names.names_of(compared)):
        found = present_comparison(run.result()).difference
    assert found
    assert [each.brief for each in found.decided] == ["b → 10-115", "b → 10-111"]


RUNNING = """apiVersion: schedviz/v1
kind: Scenario
metadata: {name: running}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: one}
spec: {nodeName: n1, containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: two}
spec: {nodeName: n1, containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}
"""


def compared_page(client: Client, store: Store, **posted: str) -> str:
    """The result of a comparison that is asked for on the page, with white space made single."""
    asked = {"workload": "manifests:", "text": RUNNING, "a": "default", "b": "packing", "until": "5s"}
    answer = client.post("/compare/", {**asked, **posted})
    turns = comparison_turns(store)
    key = answer.headers["Location"].strip("/").rpartition("/")[2]
    while turns.run_turn(key) is not None:
        pass
    return " ".join(client.get(answer.headers["Location"]).content.decode().split())


def test_pods_that_have_nodes_are_placed_again_where_the_form_says_so(store: Store) -> None:
    client = Client(headers={"host": "localhost"})
    page = compared_page(client, store)
    assert "There was no scheduling cycle." in page
    assert "2 pods had nodes at the start. A scheduler moves no pod." in page
    assert "place_again=1" in page
    page = compared_page(client, store, place_again="1")
    assert "2 pods placed again" in page
    assert "A</b> moves 1 of 2 to another node; without a node at the end: 0" in page
    assert "B</b> moves" in page
    assert "had nodes at the start" not in page
    form = client.get("/compare/?place_again=1").content.decode()
    assert "checked" in form.partition('name="place_again"')[2].partition(">")[0]
    answer = client.post("/compare/", {**ASKED, "place_again": "1", "workload": "manifests:", "text": " "})
    assert "checked" in answer.content.decode().partition('name="place_again"')[2].partition(">")[0]


def test_the_sides_may_have_different_versions_of_kubernetes(client: Client, store: Store) -> None:
    node = "status: {allocatable: {cpu: %s, memory: 16Gi, pods: 110}}\n"
    text = "".join(
        f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n{node % cpu}"
        for name, cpu in (("n1", 8), ("n2", 4))
    )
    for name, cpu, memory, place in (
        ("a", 1, "8Gi", "n1"),
        ("b", 1, "4Gi", "n2"),
        ("checkout", 1, "2Gi", ""),
    ):
        where = f"nodeName: {place}, " if place else ""
        requests = f"resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}"
        text += f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n"
        text += f"spec: {{{where}containers: [{{name: c, image: x, {requests}}}]}}\n"
    same = compared_page(client, store, text=text, b="default", b_kubernetes="v1.36.2")
    assert "Kubernetes v1." not in same
    page = compared_page(
        client, store, text=text, b="default", b_kubernetes="v1.34.9", b_gates="StorageCapacityScoring=true"
    )
    assert "<small>Kubernetes v1.36.2</small>" in page
    assert "<small>Kubernetes v1.34.9, StorageCapacityScoring=true</small>" in page
    assert 'id="difference"' in page
    assert 'id="difference"' not in same
    assert "b_kubernetes=v1.34.9" in page
    assert "in the cluster as it was: 1 of 1 would end otherwise." in page
    assert '<small lang="en">balanced_allocation_by_gain</small>' in page
    assert "would end otherwise" not in same
    assert "b_gates=StorageCapacityScoring%3Dtrue" in page
    weight = "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nprofiles:\n"
    weight += "- plugins: {multiPoint: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n"
    page = compared_page(client, store, text=text, b="yaml", b_yaml=weight)
    assert "1 of 1 would end otherwise." in page
    assert "NodeResourcesBalancedAllocation is disabled." in page


def test_a_recording_is_not_placed_again(store: Store, sandbox: Sandbox) -> None:
    asked = {"workload": f"sandbox:{sandbox.name}", "a": "recorded", "b": "default", "place_again": "1"}
    with pytest.raises(comparison_form.InvalidField) as unclear:
        comparison_form.parse_comparison(store, asked)
    assert unclear.value.field == "place_again"


def test_wrong_yaml_is_explained_beside_its_field(store: Store) -> None:
    with pytest.raises(comparison_form.InvalidField) as wrong:
        comparison_form.parse_comparison(store, ASKED | {"b": "yaml", "b_yaml": "kind: [1"})
    (explained,) = wrong.value.explained
    assert explained.text == "Line 2, column 1: A “,” or a closing “]” is missing here or before."
    assert explained.upstream.startswith("line 2, column 1: not YAML")
