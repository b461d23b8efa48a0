"""Verdicts on the decisions of a mirrored scheduler: in the log, in its acts and in the panel of a pod."""

from django.utils.html import strip_tags
from msgspec.structs import replace

from schedviz.web.log.log import LINES_AT_MOST, Log
from schedviz.web.outside.panel import outside_acts
from schedviz.web.outside.present import outside_pod
from schedviz.web.outside.verdicts import verdict_reason, verdict_summary
from schedviz.web.picture.picture import Picture
from simulator import trace
from simulator.trace.verdicts import JudgedScore, JudgedState
from tests.web.samples import START

POD = "default/web"
BOUND = trace.OutsideBound(START, POD, "n1", "default-scheduler", 1_000_000, None)
FAILED = trace.OutsideFailed(
    START, POD, "default-scheduler", "", "0/3 nodes are available: 3 Insufficient cpu."
)
STATE = JudgedState(7, 0)
DIFFERS = trace.BindingJudged(
    START,
    POD,
    "n1",
    "default-scheduler",
    "differs",
    STATE,
    "n2",
    312,
    340,
    [JudgedScore("ImageLocality", 0, 28)],
)
SAME = trace.FailureJudged(START, POD, "default-scheduler", "agrees", STATE, FAILED.message)
WHY = "n1 had 312, n2 340: ImageLocality 0, not 28."


def numbered(*events: trace.Event) -> list[tuple[int, trace.Event]]:
    return [*enumerate(events, start=1)]


def test_the_log_has_the_verdict_in_the_line_of_its_act_and_says_why_when_it_is_opened() -> None:
    picture, log = Picture(), Log("/s/a/")

    def shown() -> list[tuple[str, str]]:
        found = [(strip_tags(line.html), line.why) for line in log.lines(picture)]
        afresh = [(strip_tags(line.html), line.why) for line in Log("/s/a/").lines(picture)]
        assert found == afresh
        return found

    picture.trace_event(1, BOUND)
    [(act, why)] = shown()
    assert not why
    picture.trace_event(2, DIFFERS)
    assert shown() == [(f"Verdict differs: {act}", WHY)]
    [line] = log.lines(picture)
    assert line.tone == "warn"
    assert log.lines(picture) is log.lines(picture)
    other = replace(BOUND, pod="default/other")
    for seq in range(3, 50):
        picture.trace_event(seq, other)
    assert len(shown()) == LINES_AT_MOST
    picture.trace_event(50, DIFFERS)
    assert len(shown()) == LINES_AT_MOST, "its act is shown no more"


def test_why_names_the_state_in_which_it_was_decided() -> None:
    old = replace(DIFFERS, verdict="agrees", equal=1, state=JudgedState(7, 200_000, ["default/db"]))
    assert verdict_reason(old) == (
        "n1 has the highest total, 312. In the state of 200 ms before (resourceVersion below 7). "
        "Pods count that were bound later: default/db."
    )


def test_each_act_has_the_verdict_on_it_and_the_page_sums_them_up() -> None:
    picture = Picture()
    other = replace(BOUND, pod="default/other")
    picture.trace.extend(numbered(FAILED, SAME, other, BOUND, DIFFERS))
    acts = {act.seq: (act.verdict, act.why, act.tone) for act in outside_acts(picture)}
    assert acts == {
        1: ("agrees", "The model's message is the same.", "bad"),
        3: ("", "", "good"),
        4: ("differs", WHY, "warn"),
    }
    events = [SAME, *[replace(DIFFERS, verdict="agrees")] * 3, DIFFERS, BOUND]
    assert verdict_summary(events) == "4 agree, 1 differs"
    assert not verdict_summary([BOUND])


def test_the_panel_of_a_pod_has_them() -> None:
    found = outside_pod(POD, None, [FAILED, SAME, BOUND, DIFFERS])
    assert found
    assert [(act.verdict, act.why) for act in found.acts] == [
        ("differs", WHY),
        ("agrees", "The model's message is the same."),
    ]


def test_a_mirror_does_not_say_how_long_a_pod_waited() -> None:
    picture = Picture()
    picture.mirrors = picture.stands_down = True
    picture.trace_event(1, BOUND)
    [act] = outside_acts(picture)
    found = outside_pod(POD, None, [BOUND], mirrors=True)
    assert found
    assert [act.text, found.acts[0].text] == ["bound to n1"] * 2
