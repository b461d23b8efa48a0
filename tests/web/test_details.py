"""The lines of the log in the panels of a pod and of a node."""

import pytest

from schedviz.web.log.about import LINES_AT_MOST, lines_linking_to_node, lines_linking_to_pod
from schedviz.web.log.sentences import EventSentences, LogLine
from simulator.trace import Bound, Event, Filtered
from simulator.verdict_words import AnyVerdict

KEY = "default/web"


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the events that were rendered."""
    numbers: list[int] = []
    line = EventSentences.line

    def recorded(
        self: EventSentences, seq: int, event: Event, verdict: AnyVerdict | None = None
    ) -> LogLine | None:
        numbers.append(seq)
        return line(self, seq, event, verdict)

    monkeypatch.setattr(EventSentences, "line", recorded)
    return numbers


def test_a_panel_renders_only_the_events_that_its_log_shows(rendered: list[int]) -> None:
    linked: list[Event] = [Bound(1, number, KEY, "n1") for number in range(LINES_AT_MOST + 5)]
    named: list[Event] = [Filtered(2, 100, KEY, 1, 1, {}) for _ in range(30)]
    numbered = [*enumerate([*linked, *named], 1)]
    newest = [*range(len(linked), 5, -1)]
    assert [line.seq for line in lines_linking_to_pod("/s/x/", KEY, numbered)] == newest
    assert rendered == newest
    assert [line.seq for line in lines_linking_to_node("/s/x/", "n1", numbered)] == newest
    assert rendered == newest * 2
