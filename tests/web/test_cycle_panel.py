"""The cycle inspector: a node that is filtered twice for the pods nominated to it, and the wait on Permit."""

import re

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.store import Commit, Sandbox
from schedviz.web.cycle.cycle import present_cycle
from schedviz.web.picture.priority import Ranks
from schedviz.web.pods.history import pod_history
from simulator import trace
from simulator.objects.pod import Pod
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt

from .samples import SCHEDULED, START, lane

ANTI = {
    "requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "first"}}}
    ]
}
NEAR = {"podAffinity": ANTI}


@pytest.mark.parametrize(
    ("cpu", "spec", "said"),
    [
        ("1", {}, ["pass", "pass"]),
        ("3", {}, ["fail", ""]),
        ("1", {"affinity": NEAR}, ["pass", "fail"]),
    ],
)
def test_a_node_with_nominated_pods_is_shown_as_two_passes(
    sandbox: Sandbox, cpu: str, spec: dict[str, object], said: list[str]
) -> None:
    """With the nominated pods fewer resources are free. Without them the pod affinity matches no pod."""
    host = {"kubernetes.io/hostname": "n1"}
    cluster = a_cluster([a_node("n1", "4", labels=host)])
    first = Pod.parse(a_pod("first", "2", labels={"app": "first"}, priority=100))
    made = attempt(cluster, a_pod("web", cpu, priority=1, **spec), nominated={"n1": [first]})
    sandbox.commit(Commit(decisions=[replace(record(made), cycle=1)]))
    client = Client(headers={"host": "localhost"})
    html = client.get(f"/s/{sandbox.name}/cycles/1/", headers={"HX-Request": "true"}).content.decode()
    assert "is filtered twice, because nominated pods may or may not run there: default/first." in html
    passes = html.partition('<div class="passes">')[2].partition("</ol>")[0]
    assert re.findall(r'<li(?: class="(\w+)")?>', passes) == said
    assert ("is not run" in passes) == (said[1] == "")


def test_a_pod_that_waits_on_permit_is_not_shown_as_bound() -> None:
    decision = replace(SCHEDULED, attempt=1)
    entry = lane("web", "waiting", plugins=["Gang"])
    view = present_cycle(decision, Ranks(()), entry=entry)
    assert view.headline == "Resources on n3 are reserved for web, which waits on Permit for Gang."
    assert [(step.name, step.state) for step in view.steps[-2:]] == [("Permit", "current"), ("Bind", "todo")]
    allowed = present_cycle(decision, Ranks(()), entry=replace(entry, plugins=[]))
    assert allowed.headline == "n3 is selected for web: it has the best score."
    later = present_cycle(replace(decision, attempt=2), Ranks(()), entry=entry)
    assert later.steps[-1].state == "done"
    events = [
        trace.CycleStarted(START, 7, "default/web", 1, 0),
        trace.QueueMoved(START, "default/web", "inFlight", "waiting", "Permit", "Gang"),
    ]
    assert pod_history("default/web", events).attempts[0].outcome == "waits on Permit"
    bound = [*events, trace.Bound(START, 7, "default/web", "n3")]
    assert pod_history("default/web", bound).attempts[0].outcome == "bound to n3"


@pytest.mark.parametrize(
    ("plugins", "message", "steps", "said"),
    [
        (
            ["Gang"],
            "0/1 nodes are available: 1 rejected by hand.",
            ("failed", "skipped"),
            "1 rejected by hand",
        ),
        ([], "running PreBind plugin: no volume", ("done", "failed"), "running PreBind plugin: no volume"),
    ],
)
def test_a_pod_that_is_back_in_the_queue_after_its_node_was_selected_is_not_shown_as_bound(
    plugins: list[str], message: str, steps: tuple[str, str], said: str
) -> None:
    decision = replace(SCHEDULED, attempt=1)
    entry = lane("web", "unschedulable", plugins=plugins, message=message)
    view = present_cycle(decision, Ranks(()), entry=entry)
    assert view.headline == f"n3 was selected for web, but web was not bound: {said}."
    assert tuple(step.state for step in view.steps[-2:]) == steps
    # The entry of a later attempt, or of another pod of that name, says nothing about this cycle.
    for other in (replace(entry, attempts=2), replace(entry, uid="other"), replace(entry, lane="inFlight")):
        assert present_cycle(decision, Ranks(()), entry=other).steps[-1].state == "done"


def test_an_attempt_without_an_outcome_is_not_in_progress_for_ever() -> None:
    def begun(cycle: int) -> trace.CycleStarted:
        return trace.CycleStarted(START, cycle, "default/web", cycle, 0)

    def outcomes(*events: trace.Event) -> list[str]:
        return [each.outcome for each in pod_history("default/web", events).attempts]

    assert outcomes(begun(1)) == ["in progress"]
    assert [pod_history("default/web", [begun(each)]).untold for each in (1, 83)] == [False, True]
    assert outcomes(begun(1), trace.CycleCutOff(START, 1, "default/web", "Score")) == ["interrupted"]
    # A leader that failed between two commits leaves no event.
    assert outcomes(begun(1), begun(2)) == ["in progress", "interrupted"]
    assert outcomes(begun(1), begun(2), trace.PodRemoved(START, "default/web", "")) == [
        "the pod was removed",
        "interrupted",
    ]


@pytest.mark.parametrize(("place", "node"), [("0", "n3"), ("1", "n1"), ("2", ""), ("x", "")])
def test_a_score_of_the_last_cycle_has_an_address_by_its_column(
    sandbox: Sandbox, place: str, node: str
) -> None:
    sandbox.commit(Commit(decisions=[replace(SCHEDULED, cycle=7)]))
    client = Client(headers={"host": "localhost"})
    address = f"/s/{sandbox.name}/cycles/last/?plugin=NodeResourcesFit&place={place}"
    html = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert 'data-cycle="7"' in html
    found = re.search(r'id="arithmetic".*?on (\S+?)[ <]', html, re.DOTALL)
    assert (found[1] if found else "") == node
