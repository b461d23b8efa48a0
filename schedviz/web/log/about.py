"""The trace events that are about a pod, and the lines of the log that link to an object."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from schedviz.store.past import Readable
from schedviz.web.log.sentences import EventSentences, LogLine, linked_names
from schedviz.web.outside.verdicts import pair_verdicts
from schedviz.web.picture.picture import PODS
from simulator import trace

LINES_AT_MOST: Final = 20
"""Maximum number of lines of the log that a panel shows."""

Numbered = tuple[int, trace.Event]
"""A trace event with its number."""


def events_of_pod(sandbox: Readable, key: str) -> list[trace.Event]:
    """Return the latest trace events that are about a pod, oldest first."""
    return events_about(sandbox.about_pod(key), key)


def events_about(named: Sequence[Numbered], key: str) -> list[trace.Event]:
    """Return the events that are about a pod, among those that name it."""
    return [event for _, event in named if is_about_pod(event, key)]


def is_about_pod(event: trace.Event, pod: str) -> bool:
    """Whether the event happened to the pod. An event may name it in another role, as the preemptor or as one
    of the victims."""
    if isinstance(event, trace.ObjectsDeleted):
        return event.resource == PODS and pod in event.keys
    return getattr(event, "pod", "") == pod


def removal_line(sentences: EventSentences, about: Sequence[trace.Event]) -> LogLine | None:
    """Return the line that says why the pod was removed; None if a client of the API deleted it."""
    for event in reversed(about):
        if isinstance(event, trace.CycleStarted):
            break  # earlier events did not remove the pod
        if isinstance(
            event,
            trace.VictimDeleted
            | trace.OutsidePreempted
            | trace.PodEvicted
            | trace.PodFinished
            | trace.ObjectsDeleted,
        ):
            return sentences.line(0, event)
    return None


def lines_linking_to_pod(base: str, key: str, named: Sequence[Numbered]) -> list[LogLine]:
    """Return the newest lines of the log that link to a pod, of the events that name it."""
    return newest_lines(base, [each for each in named if key in linked_names(each[1]).pods])


def lines_linking_to_node(base: str, name: str, named: Sequence[Numbered]) -> list[LogLine]:
    """Return the newest lines of the log that link to a node, of the events that name it."""
    return newest_lines(base, [each for each in named if name in linked_names(each[1]).nodes])


def newest_lines(base: str, numbered: Sequence[Numbered]) -> list[LogLine]:
    """Return the newest lines of the log, the newest first. Older events are not rendered."""
    sentences, verdicts = EventSentences(base), pair_verdicts(numbered)
    lines = (sentences.line(seq, event, verdicts.get(seq)) for seq, event in reversed(numbered))
    return list(islice((line for line in lines if line is not None), LINES_AT_MOST))
