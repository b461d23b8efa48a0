"""The trace as sentences, and the attempts in it as marks on a timeline.

Sentences are HTML with links: built by format_html, so that every name in them is escaped.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from simulator import trace
from simulator.trace import Event

from . import format as fmt
from . import meanings, queue, reasons, receipts
from .picture import Picture

LINES_AT_MOST: Final = 40
MARKS_AT_MOST: Final = 140
MARKS_AHEAD: Final = 40
"""Of these, after a past moment."""
NAMES_AT_MOST: Final = 3
"""Objects that one sentence names."""

MarkKind = Literal["bound", "unschedulable", "preempting", "error"]
Tone = Literal["", "good", "bad", "warn", "quiet"]


class LogLine(msgspec.Struct, frozen=True):
    seq: int
    time: str
    tone: Tone
    html: str
    verbatim: str = ""
    """The scheduler's own words, where the sentence is shorter than they are."""
    cycle: int = 0
    """Whose receipt tells more; 0 for none."""


class Log:
    """The newest lines, kept up to date from the trace of one picture. Queue moves that only repeat what the
    line beside them says are left out."""

    def __init__(self, base: str) -> None:
        self._words = EventSentences(base)
        self._seq = -1
        """The newest event that was read."""
        self._lines: list[LogLine] = []

    def lines(self, picture: Picture) -> list[LogLine]:
        """Newest first; the same list as long as they are the same."""
        found: list[LogLine] = []
        for seq, event in reversed(picture.trace):
            if seq <= self._seq or len(found) == LINES_AT_MOST:
                break
            line = self._words.line(seq, event)
            if line is not None:
                found.append(line)
        self._seq = picture.trace[-1][0] if picture.trace else self._seq
        if found:
            self._lines = [*found, *self._lines][:LINES_AT_MOST]
        return self._lines


class EventSentences:
    """Sentences of one sandbox, whose pages lie under ``base``: "/s/<name>/"."""

    def __init__(self, base: str) -> None:
        self.base = base

    def pod(self, key: str) -> SafeString:
        return format_html('<a data-panel href="{}pods/{}/">{}</a>', self.base, key, fmt.pod_name(key))

    def node(self, name: str) -> SafeString:
        return format_html('<a data-panel href="{}nodes/{}/">{}</a>', self.base, name, name)

    def cycle(self, number: int) -> SafeString:
        return format_html('<a data-panel href="{}cycles/{}/">{}</a>', self.base, number, number)

    def pods(self, keys: Iterable[str]) -> SafeString:
        return format_html_join(fmt.listed(["", ""]), "{}", ((self.pod(key),) for key in keys))

    def line(self, seq: int, event: Event) -> LogLine | None:
        told = self.tell(event)
        if told is None:
            return None
        tone, html = told
        return LogLine(
            seq, fmt.clock(event.t), tone, html, scheduler_message(event), receipts.cycle_of(event)
        )

    def tell(self, event: Event) -> tuple[Tone, SafeString] | None:
        """The tone and the sentence; None for what needs no line."""
        match event:
            case trace.LeaderElected():
                return "quiet", format_html(gettext("{} leads (epoch {})."), event.holder, event.epoch)
            case trace.SchedulerConfigured():
                text = gettext("The scheduler starts anew with another configuration: {}.")
                return "warn", format_html(text, ", ".join(event.fields))
            case trace.NodeChanged(change="updated", events=[]):
                return None  # nothing that the scheduler looks at
            case trace.NodeChanged():
                return self.node_changed(event)
            case trace.QueueMoved():
                return self.queue_moved(event)
            case trace.CycleStarted():
                text = gettext("Cycle {}: {} popped from activeQ, priority {}, attempt {}.")
                return "", format_html(
                    text,
                    self.cycle(event.cycle),
                    self.pod(event.pod),
                    fmt.number(event.priority),
                    event.attempt,
                )
            case trace.Filtered(feasible=0):
                return None  # what comes of it says why
            case trace.WatchRelisted():
                text = gettext("The watch broke; {} objects were listed anew, {} known ones are gone.")
                return "quiet", format_html(text, event.objects, event.gone)
            case trace.CycleCutOff():
                text = gettext("Cycle {} of {} was cut off before {}; the pod is tried again.")
                return "warn", format_html(text, event.cycle, self.pod(event.pod), event.point)
            case trace.Filtered():
                text = ngettext("Filter: {} of {} node fits.", "Filter: {} of {} nodes fit.", event.nodes)
                return "", format_html(text, fmt.number(event.feasible), fmt.number(event.nodes))
            case trace.Scored(total=0):
                return None  # one node fits, and scores are not asked for
            case trace.Scored():
                text = gettext("Score: {} has the best total, {}.")
                if event.tied > 1:
                    text = gettext("Score: {} drawn among {} nodes with the best total, {}.")
                    return "", format_html(text, self.node(event.node), event.tied, event.total)
                return "", format_html(text, self.node(event.node), event.total)
            case trace.Bound():
                return "good", format_html(
                    gettext("{} bound to {}."), self.pod(event.pod), self.node(event.node)
                )
            case trace.VolumesAwaited():
                text = gettext("{} waits in PreBind for its claims before it is bound to {}: {}.")
                return "quiet", format_html(
                    text, self.pod(event.pod), self.node(event.node), ", ".join(event.claims)
                )
            case trace.BindFailed():
                text = gettext("Binding {} to {} failed: {}")
                return "bad", format_html(
                    text, self.pod(event.pod), self.node(event.node), in_english(event.message)
                )
            case trace.Unschedulable():
                text = gettext("{} fits no node: {}.")
                return "bad", format_html(
                    text, self.pod(event.pod), reasons.short_without_stop(event.message)
                )
            case trace.SchedulerError():
                return "bad", format_html(
                    gettext("Scheduling {} failed: {}"), self.pod(event.pod), in_english(event.message)
                )
            case trace.Nominated():
                return self.nominated(event)
            case trace.VictimDeleted():
                text = gettext("{} evicted from {} for {}, {} s to end.")
                return "warn", format_html(
                    text,
                    self.pod(event.pod),
                    self.node(event.node),
                    self.pod(event.preemptor),
                    event.grace_seconds,
                )
            case trace.PodStarted():
                return "quiet", format_html(
                    gettext("{} runs on {}."), self.pod(event.pod), self.node(event.node)
                )
            case trace.PodReady():
                return "quiet", format_html(
                    gettext("{} is ready on {}."), self.pod(event.pod), self.node(event.node)
                )
            case trace.ContainersFailed():
                text = gettext("{} fails on {}; it is started again at {}.")
                time = fmt.clock(event.restart_at)
                return "bad", format_html(text, self.pod(event.pod), self.node(event.node), time)
            case trace.ContainersRestarted():
                text = gettext("{} runs on {} again (restart {}).")
                return "quiet", format_html(text, self.pod(event.pod), self.node(event.node), event.restarts)
            case trace.PodFinished():
                text = gettext("{} finished on {}: {}.")
                return "quiet", format_html(
                    text, self.pod(event.pod), self.node(event.node), in_english(event.phase)
                )
            case trace.PodEvicted():
                text = gettext("{} has to leave {}: {}.")
                reason = meanings.cause_text(event.reason)
                return "warn", format_html(text, self.pod(event.pod), self.node(event.node), reason)
            case trace.PodRemoved() if event.node:
                return "quiet", format_html(
                    gettext("{} is gone from {}."), self.pod(event.pod), self.node(event.node)
                )
            case trace.PodRemoved():
                return "quiet", format_html(gettext("{} is gone."), self.pod(event.pod))
            case trace.ObjectsCreated():
                return "quiet", format_html(
                    gettext("{} creates {}."),
                    in_english(event.controller),
                    self.objects(event.resource, event.keys),
                )
            case trace.ObjectsDeleted():
                text = gettext("{} deletes {}: {}.")
                objects, reason = self.objects(event.resource, event.keys), meanings.cause_text(event.reason)
                return "quiet", format_html(text, in_english(event.controller), objects, reason)
            case trace.ReplicaSetScaled():
                text = gettext("{} scales {} from {} to {}.")
                name = fmt.pod_name(event.replica_set)
                return "quiet", format_html(
                    text, in_english(event.controller), in_english(name), event.before, event.after
                )
            case trace.JobFinished():
                text = gettext("Job {} is complete.") if event.succeeded else gettext("Job {} failed: {}.")
                return "good" if event.succeeded else "bad", format_html(
                    text, in_english(event.job), in_english(event.reason)
                )
            case trace.VolumeBound():
                return "quiet", format_html(
                    gettext("Claim {} got {}."), in_english(event.claim), in_english(event.volume)
                )
            case trace.ControllerFailed():
                return "bad", format_html(
                    gettext("{} gets no further: {}"), in_english(event.controller), in_english(event.message)
                )
            case trace.ControllerPostponed():
                text = gettext("{} acted {} times at one moment; it goes on at {}.")
                return "bad", format_html(
                    text, in_english(event.controller), event.runs, fmt.clock(event.until)
                )
            case trace.ObjectUnreadable():
                text = gettext("{} does not fit its kind and is left out: {}")
                name = fmt.listed([f"{event.resource.partition('.')[0]} {event.key}"])
                return "bad", format_html(text, in_english(name), in_english(event.message))
            case _:
                return None

    def objects(self, resource: str, keys: Sequence[str]) -> SafeString:
        """A few of them by name, pods with a link; of many others how many."""
        named = keys[:NAMES_AT_MOST]
        if resource == "pods":
            html = self.pods(named)
        else:
            html = in_english(fmt.listed(f"{resource.partition('.')[0]} {key}" for key in named))
        if len(keys) > len(named):
            return format_html(gettext("{} and {} more"), html, len(keys) - len(named))
        return html

    def node_changed(self, event: trace.NodeChanged) -> tuple[Tone, SafeString]:
        text = {
            "added": gettext("Node {} added."),
            "updated": gettext("Node {} changed: {}."),
            "deleted": gettext("Node {} deleted."),
        }[event.change]
        return "", format_html(text, self.node(event.node), in_english(fmt.listed(event.events)))

    def queue_moved(self, event: trace.QueueMoved) -> tuple[Tone, SafeString] | None:
        if event.target in ("", "inFlight") or (event.source == "inFlight" and event.target != "backoffQ"):
            return None
        pod, target, why = self.pod(event.pod), queue.title(event.target), in_english(event.event)
        if event.source == "":
            return "", format_html(gettext("{} enters {} ({})."), pod, target, why)
        source = queue.title(event.source)
        if event.plugin:
            text = gettext("{} moves from {} to {}: {}, {} says it may fit now.")
            return "", format_html(text, pod, source, target, why, in_english(event.plugin))
        return "", format_html(gettext("{} moves from {} to {} ({})."), pod, source, target, why)

    def nominated(self, event: trace.Nominated) -> tuple[Tone, SafeString]:
        text = ngettext(
            "Preemption: {0} nominated to {1}, the only candidate; victims: {3}.",
            "Preemption: {0} nominated to {1} among {2} candidates; victims: {3}.",
            event.candidates,
        )
        pod, node, victims = self.pod(event.pod), self.node(event.node), self.pods(event.victims)
        return "warn", format_html(text, pod, node, event.candidates, victims)


def in_english(text: str) -> SafeString:
    """Words that are Kubernetes' and not ours: they are not translated, and are read out as English."""
    return format_html('<span lang="en">{}</span>', text)


def scheduler_message(event: Event) -> str:
    return event.message if isinstance(event, trace.Unschedulable) else ""
