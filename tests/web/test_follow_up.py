"""The follow-up of an applied suggestion, and the other pods that wait for the same resources."""

from typing import Any, cast

import msgspec
import pytest

from schedviz.jobs.applied import PODS_AT_MOST, Applied, AppliedStore
from schedviz.store import Store
from schedviz.store.past import Readable
from schedviz.web.what_if.follow_up import FollowUp, present_follow_up
from schedviz.web.what_if.rivals import rivals_sentence
from simulator.trace import BindFailed, Bound, Event, Nominated, Unschedulable
from simulator.what_if.answer import AttemptOutcome, Suggestion
from simulator.what_if.edit import delete_object
from tests.web.samples import START, lane, pod

KEY = "default/web"
DELETION = Suggestion(
    kind="delete-pod",
    target="default/low",
    what="",
    before="0",
    after="",
    cost=6,
    edits=[delete_object("pods", "default/low")],
    outcome=AttemptOutcome("bound", "n1", feasible_count=1),
    rivals=["default/a"],
)
APPLIED = Applied(DELETION, t=START, seq=5)
QUEUE = {
    entry.pod: entry
    for entry in (
        lane("web", "unschedulable", queued=START + 5),
        lane("first", "backoffQ", priority=9, queued=START + 9),
        lane("early", "activeQ", queued=START + 1),
        lane("late", "unschedulable", queued=START + 7),
    )
}
LACKS_CPU = Unschedulable(
    t=START + 2_000_000,
    cycle=7,
    pod=KEY,
    message="0/1 nodes are available: 1 Insufficient cpu. x",
    plugins=[],
)


class Trace:
    def __init__(self, events: list[Event]) -> None:
        self._events = [*enumerate(events, 5)]

    def about_pod(self, key: str) -> list[tuple[int, Event]]:
        return [(seq, event) for seq, event in self._events if getattr(event, "pod", "") == key]

    def about_node(self, name: str) -> list[tuple[int, Event]]:
        return [(seq, event) for seq, event in self._events if getattr(event, "node", "") == name]


TOO = "other pods would fit there, too."


def follow_up(*events: Event, **state: Any) -> FollowUp:
    """The follow-up if the first of the events was before the change, and the others after it."""
    return present_follow_up(cast("Readable", Trace([*events])), APPLIED, pod("web", **state))


def bound(name: str, after: int) -> Bound:
    return Bound(t=START + after, cycle=6, pod=f"default/{name}", node="n1")


def test_a_pod_that_was_bound_after_the_change_is_reported_with_both_times() -> None:
    shown = follow_up(LACKS_CPU, bound("web", 1_000_000), node="n1")
    assert (shown.time, shown.change) == ("08:00:00.000", "Delete the pod low (priority 0).")
    assert (shown.state, shown.text) == ("helped", "web was bound to n1 at 08:00:01.000.")
    shown = follow_up(LACKS_CPU, node="n1")
    assert (shown.state, shown.text) == ("helped", "web was bound to n1."), "the trace has lost the event"


def test_an_attempt_before_the_change_does_not_count() -> None:
    shown = follow_up(LACKS_CPU)
    assert (shown.state, shown.text) == ("waits", "web has not been tried again since then.")


def test_a_change_that_did_not_help_is_reported_with_the_reason_and_the_pod_that_took_the_resources() -> None:
    before = bound("old", 0)
    shown = follow_up(before, LACKS_CPU)
    assert (shown.state, shown.text) == (
        "failed",
        "It did not help: 1 has too little cpu (attempt at 08:00:02.000).",
    )
    shown = follow_up(before, bound("a", 1_000_000), LACKS_CPU, bound("late", 3_000_000))
    assert shown.text.endswith("(attempt at 08:00:02.000). Bound to n1 since then: a.")
    refused = BindFailed(t=START + 3_000_000, cycle=8, pod=KEY, node="n1", message="no lease")
    assert (
        follow_up(before, LACKS_CPU, refused).text == "It did not help: no lease (attempt at 08:00:03.000)."
    )


def test_a_nominated_pod_waits_until_another_took_its_room() -> None:
    nominated = Nominated(t=START, cycle=6, pod=KEY, node="n1", victims=["default/b"], rule=0, candidates=1)
    shown = follow_up(bound("old", 0), LACKS_CPU, nominated, nominated="n1")
    assert (shown.state, shown.text) == (
        "nominated",
        "web is nominated to n1, and is not bound yet.",
    )
    shown = follow_up(bound("old", 0), nominated, LACKS_CPU)
    assert shown.state == "failed", "it is not nominated any more"


@pytest.mark.parametrize(
    ("rivals", "sentence"),
    [
        ([], ""),
        (["default/gone"], ""),
        (
            ["default/late"],
            "1 other pod would fit there, too. It is behind this one in the order of activeQ.",
        ),
        (
            ["default/first"],
            "1 other pod would fit there, too. It is before this one in the order of activeQ: first.",
        ),
        (
            ["default/early", "default/first"],
            f"2 {TOO} They are before this one in the order of activeQ: first, early.",
        ),
        (
            ["default/early", "default/first", "default/late"],
            f"3 {TOO} Before this one in the order of activeQ: 2 of them, first, early.",
        ),
    ],
)
def test_rivals_are_counted_in_the_order_in_which_they_are_popped(rivals: list[str], sentence: str) -> None:
    assert rivals_sentence(rivals, QUEUE, KEY) == sentence


@pytest.mark.parametrize(
    ("rivals", "sentence"),
    [
        (["default/gone"], ""),
        (["default/late"], "At least 1 other pod would fit there, too."),
        (
            ["default/early", "default/first", "default/late"],
            (
                "At least 3 other pods would fit there, too. "
                "Before this one in the order of activeQ: at least 2, among them first, early."
            ),
        ),
    ],
)
def test_rivals_are_a_lower_bound_if_not_all_pending_pods_were_tried(
    rivals: list[str], sentence: str
) -> None:
    assert rivals_sentence(rivals, QUEUE, KEY, partial=True) == sentence


def test_the_applied_suggestions_of_a_sandbox_are_kept_by_pod_and_bounded(store: Store) -> None:
    kept = AppliedStore(store, "x", 1.0)
    for seq in range(PODS_AT_MOST + 1):
        kept.save(f"uid-{seq}", msgspec.structs.replace(APPLIED, seq=seq))
    newest = kept.read(f"uid-{PODS_AT_MOST}")
    assert newest is not None
    assert (newest.seq, newest.suggestion.edits, newest.suggestion.target) == (
        PODS_AT_MOST,
        [],
        "default/low",
    )
    assert kept.read("uid-0") is None
    assert kept.read("uid-1") is not None
    assert AppliedStore(store, "x", 2.0).read("uid-1") is None, "a later sandbox of the same name"
