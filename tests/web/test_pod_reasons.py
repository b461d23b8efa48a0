"""The page says why a pod is where it is, and what nodes lack, in the simulator's sentences."""

import pytest
from django.test import Client
from django.utils.translation import override
from msgspec.structs import replace

from schedviz.api import write
from schedviz.store import Commit, Sandbox
from schedviz.web.cycle import cycle
from schedviz.web.picture.priority import Ranks
from schedviz.web.reasons.pod_reasons import nearest_node, reason_sentence, time_left
from simulator.api import SECOND
from simulator.decision import Shortages
from simulator.decision_columns import IntColumn
from simulator.pod_reason import PodReason
from simulator.trace import QueuePlace

from .samples import NOTHING_FITS

LACKING = replace(
    NOTHING_FITS,
    verdicts=IntColumn([1, 2, 1]),
    shortages=[Shortages("cpu", 1500, [0, 2], [500, 1000], [4000, 2000])],
)
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
NODE["status"] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}  # type: ignore[assignment]  # a dict


def test_the_filter_matrix_has_the_amounts_that_nodes_lack() -> None:
    matrix = cycle.present_cycle(LACKING, Ranks([1000])).matrix
    assert matrix
    assert [row.amounts for row in matrix.rows] == ["needs 1.5, free 0.5 of 4", "", "needs 1.5, free 1 of 2"]


def test_equal_nodes_are_shown_with_the_one_that_lacks_least() -> None:
    names = [f"n{number}" for number in range(50)]
    shortages = [Shortages("cpu", 1500, [30], [1000], [4000])]
    many = replace(LACKING, nodes=names, verdicts=IntColumn([1] * 50), shortages=shortages)
    matrix = cycle.present_cycle(many, Ranks([1000])).matrix
    assert matrix
    [row] = matrix.rows
    assert (row.node, row.nodes, row.amounts) == ("n30", 50, "needs 1.5, free at most 1 of 4")


def test_the_nearest_node_is_the_one_whose_largest_shortage_is_the_smallest() -> None:
    assert nearest_node(LACKING) == "At the last attempt n3 lacked least (cpu: needs 1.5, free 1 of 2)."
    memory = Shortages("memory", 2**30, [2], [0], [2**30])
    both = replace(LACKING, shortages=[*LACKING.shortages, memory])
    assert nearest_node(both) == "At the last attempt n1 lacked least (cpu: needs 1.5, free 0.5 of 4)."
    assert nearest_node(NOTHING_FITS) == ""


def test_the_time_that_is_left_goes_on_in_the_browser_and_stands_at_a_past_moment() -> None:
    reason = PodReason("unschedulable", names=["<b>"], until=300 * SECOND)
    sentence = reason_sentence(reason, 48 * SECOND, ticks=True)
    assert '<span data-until="300000000" data-exact>4 min 12 s</span>' in sentence
    assert "&lt;b&gt;" in sentence
    assert "in 4 min 12 s: nothing" in reason_sentence(reason, 48 * SECOND, ticks=False)
    with override("zh-hans"):
        assert "4 分 12 秒" in reason_sentence(reason, 48 * SECOND, ticks=False)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (3.2, "4 s"), (60, "1 min 0 s"), (252, "4 min 12 s"), (7500, "2 h 5 min")],
)
def test_time_is_never_said_shorter_than_it_is(seconds: float, text: str) -> None:
    assert time_left(int(seconds * SECOND)) == text


def test_the_panel_of_a_bound_pod_says_which_claim_it_waits_for(sandbox: Sandbox, client: Client) -> None:
    volume = {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}
    container = {"name": "c", "image": "x"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    spec = {"nodeName": "n1", "containers": [container], "volumes": [volume]}
    write.create(sandbox, [NODE, {**pod, "spec": spec}])
    page = client.get(f"/s/{sandbox.name}/pods/default/web/").content.decode()
    assert "It is bound to n1, and is not started: its claim data does not exist." in page


def test_the_panel_of_an_unschedulable_pod_says_when_it_is_tried_again_and_what_nodes_lack(
    sandbox: Sandbox, client: Client
) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    write.create(sandbox, [NODE, {**pod, "spec": {"containers": [{"name": "c", "image": "x"}]}}])
    manifest = sandbox.get("pods", "default/web")
    assert manifest
    uid, until = manifest["metadata"]["uid"], sandbox.now() + 252 * SECOND
    entry = QueuePlace(
        "default/web", uid, "unschedulable", 0, 1, 1, 1, plugins=["NodeResourcesFit"], retry_at=until
    )
    sandbox.commit(Commit(queue_places={"default/web": entry}))
    page = client.get(f"/s/{sandbox.name}/pods/default/web/").content.decode()
    assert "It is tried again at the latest in <span data-until=" in page
    assert "the queueing hints of NodeResourcesFit wait for has happened." in page
