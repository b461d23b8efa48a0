"""The hint that says what to do next, from an empty sandbox to the visitor's first preemption."""

from schedviz.web.guide.hint import hint, urgent_pod_fields
from schedviz.web.picture.picture import NODES, PODS, PRIORITY_CLASSES, Picture
from simulator import trace

from . import samples


def test_the_hint_leads_from_nothing_to_a_preemption_of_ones_own() -> None:
    picture = Picture()
    assert hint(picture).path == "new/node/?copies=3"
    picture.object(NODES, samples.node("n1"))
    assert hint(picture).path.startswith("new/pod/")
    picture.object(PODS, samples.pod("small", node="n1", cpu="500m"))
    assert hint(picture).path == "new/priorityclass/"
    polite = {"metadata": {"name": "polite", "resourceVersion": "1"}, "value": 9000}
    picture.object(PRIORITY_CLASSES, {**polite, "preemptionPolicy": "Never"})
    assert "do not preempt" in hint(picture).text
    picture.object(PRIORITY_CLASSES, {"metadata": {"name": "high", "resourceVersion": "1"}, "value": 1000})
    assert urgent_pod_fields(picture)["priority_class"] == "high"
    assert "until the nodes are full" in hint(picture).text
    picture.object(PODS, samples.pod("large", node="n1", cpu="3"))
    assert hint(picture).path == "propose/"
    # The box of the visitor who caused a preemption describes it (guide_box), not the hint of all viewers.
    picture.trace_event(1, trace.Nominated(2, 8, "default/urgent-x", "n1", ["default/large"], 0, 1))
    assert hint(picture).path == "propose/"


def test_without_a_scheduler_of_its_own_the_hint_leads_to_an_outside_one() -> None:
    picture = Picture()
    picture.stands_down = True
    assert hint(picture).path == "new/node/?copies=3"
    picture.object(NODES, samples.node("n1"))
    assert "for an outside scheduler to bind" in hint(picture).text
    picture.object(PODS, samples.pod("small", cpu="500m"))
    found = hint(picture)
    assert (found.path, found.opens) == ("outside/", "panel")
    bound = trace.OutsideBound(
        t=1, pod="default/small", node="n1", scheduler="other", waited=1, waited_wall=None
    )
    picture.trace_event(1, bound)
    found = hint(picture, "shop")
    assert found.opens == "page"
    assert found.path == "/compare/?workload=sandbox%3Ashop&a=recorded&b=own&until="


def test_the_urgent_pod_fits_nowhere_unless_others_go() -> None:
    picture = Picture()
    assert urgent_pod_fields(picture) == {"name": "urgent-"}
    picture.object(PRIORITY_CLASSES, {"metadata": {"name": "high", "resourceVersion": "1"}, "value": 1000})
    for name in ("n1", "n2", "n3"):
        picture.object(NODES, samples.node(name, unschedulable=name == "n3"))
    picture.object(PODS, samples.pod("low", node="n1", cpu="3"))
    picture.object(PODS, samples.pod("equal", node="n2", cpu="3500m", priority=1000))
    # 1000m are free on n1, and 4000m without the pod low. The pod on n2 has a higher priority. n3 is
    # cordoned.
    assert urgent_pod_fields(picture) == {"name": "urgent-", "priority_class": "high", "cpu": "2500m"}
