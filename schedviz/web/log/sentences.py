"""Trace events as sentences, in HTML with links. format_html escapes every name in them."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from schedviz.store.mentions import Mentions, mentions
from schedviz.web.log import permalinks
from schedviz.web.log.group_sentences import group_sentence, linked_pods
from schedviz.web.outside.sentences import outside_sentence
from schedviz.web.outside.verdicts import TONES, replaced_sentence, verdict_reason, with_verdict
from schedviz.web.queue import lanes as queue
from schedviz.web.reasons import meanings
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.links import group_link, in_english, node_link, pod_link
from schedviz.web.text.tone import Tone
from simulator import trace
from simulator.framework.cluster_event import POP_FROM_BACKOFF_Q
from simulator.trace import Event
from simulator.verdict_words import AnyVerdict

NAMES_AT_MOST: Final = 3
"""Maximum number of objects that one sentence names."""


class LogLine(msgspec.Struct, frozen=True):
    seq: int
    time: str
    tone: Tone
    html: str
    verbatim: str = ""
    """The scheduler's message; empty where the sentence says all of it."""
    why: str = ""
    """Why the verdict on the event is as it is; empty without one."""
    cycle: int = 0
    """The cycle whose permalink has the details; 0 for none."""


class EventSentences:
    """Makes the sentences for the events of one sandbox, with links to its pages."""

    def __init__(self, base: str) -> None:
        """base: the path of the sandbox's page, "/s/<name>/"."""
        self.base = base

    def pod(self, key: str) -> SafeString:
        return pod_link(self.base, key)

    def node(self, name: str) -> SafeString:
        return node_link(self.base, name)

    def cycle(self, number: int) -> SafeString:
        return format_html('<a data-panel href="{}cycles/{}/">{}</a>', self.base, number, number)

    def pods(self, keys: Iterable[str]) -> SafeString:
        return format_html_join(fmt.listed(["", ""]), "{}", ((self.pod(key),) for key in keys))

    def line(self, seq: int, event: Event, verdict: AnyVerdict | None = None) -> LogLine | None:
        """verdict: on the event, in a mirror."""
        sentence = self.sentence(event)
        if sentence is None:
            return None
        tone, html = sentence
        if verdict is not None:
            tone, html = TONES.get(verdict.verdict, tone), with_verdict(html, verdict)
        return LogLine(
            seq,
            fmt.clock(event.t),
            tone,
            html,
            scheduler_message(event),
            verdict_reason(verdict) if verdict else "",
            permalinks.cycle_of(event),
        )

    def sentence(self, event: Event) -> tuple[Tone, SafeString] | None:
        """Return the tone and the sentence; None for an event without a line in the log. A queue move that
        repeats the line beside it has none."""
        match event:
            case trace.LeaderElected():
                return "quiet", format_html(
                    gettext("{} became leader (epoch {})."), event.holder, event.epoch
                )
            case trace.SchedulerConfigured(stands_down=True):
                return "warn", format_html(
                    "{}", gettext("The scheduler stands down: pods wait for an outside scheduler.")
                )
            case trace.SchedulerConfigured(stands_down=False):
                return "warn", format_html(
                    "{}", gettext("The scheduler schedules the pods of its profiles again.")
                )
            case trace.SchedulerConfigured():
                text = gettext("The scheduler restarts with another configuration: {}.")
                return "warn", format_html(text, ", ".join(event.fields))
            case trace.NodeChanged(change="updated", events=[]):
                return None  # nothing changed that the scheduler reads
            case trace.NodeChanged():
                return self.node_changed(event)
            case trace.QueueMoved():
                return self.queue_moved(event)
            case trace.CycleStarted():
                # Not "from activeQ": PopFromBackoffQ takes pods from backoffQ.
                text = gettext("Cycle {}: {} popped from the queue, priority {}, attempt {}.")
                return "", format_html(
                    text,
                    self.cycle(event.cycle),
                    self.pod(event.pod),
                    fmt.number(event.priority),
                    event.attempt,
                )
            case trace.Filtered(feasible=0):
                return None  # the next event has the reasons
            case trace.WatchRelisted():
                text = gettext(
                    "The watch was interrupted; {} objects were listed again, {} were deleted meanwhile."
                )
                return "quiet", format_html(text, event.objects, event.gone)
            case trace.CycleCutOff():
                text = gettext("Cycle {} of {} was interrupted before {}; the pod is tried again.")
                return "warn", format_html(text, event.cycle, self.pod(event.pod), event.point)
            case trace.Filtered() if event.feasible + sum(event.reasons.values()) < event.nodes:
                # Each node that was rejected has a reason at least, so some were not looked at.
                text = ngettext(
                    "Filter: {} feasible node is enough; not all {} were looked at.",
                    "Filter: {} feasible nodes are enough; not all {} were looked at.",
                    event.feasible,
                )
                return "", format_html(text, fmt.number(event.feasible), fmt.number(event.nodes))
            case trace.Filtered():
                text = ngettext("Filter: {} of {} node fits.", "Filter: {} of {} nodes fit.", event.nodes)
                return "", format_html(text, fmt.number(event.feasible), fmt.number(event.nodes))
            case trace.Scored(total=0):
                return None  # one node fits: no score was computed
            case trace.Scored():
                text = gettext("Score: {} has the best total, {}.")
                if event.tied > 1:
                    text = gettext("Score: {} selected at random among {} nodes with the best total, {}.")
                    return "", format_html(text, self.node(event.node), event.tied, event.total)
                return "", format_html(text, self.node(event.node), event.total)
            case trace.Bound():
                return "good", format_html(
                    gettext("{} bound to {}."), self.pod(event.pod), self.node(event.node)
                )
            case trace.DevicesAwaited():
                text = gettext("{} waits in PreBind until the devices of its claims are ready on {}: {}.")
                return "quiet", format_html(
                    text, self.pod(event.pod), self.node(event.node), ", ".join(event.claims)
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
                # Not "fits no node": a plugin may also reject the pod on Permit, when it has a node.
                text = gettext("{} is unschedulable: {}.")
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
                text = gettext("{} evicted from {} for {}; its grace period is {} s.")
                cause = self.pod(event.preemptor)
                if event.group:
                    text = gettext("{} evicted from {} for the group {}; its grace period is {} s.")
                    cause = group_link(self.base, event.group)
                pod, node = self.pod(event.pod), self.node(event.node)
                return "warn", format_html(text, pod, node, cause, event.grace_seconds)
            case (
                trace.PodGroupCycleStarted()
                | trace.PodGroupTried()
                | trace.PlacementsScored()
                | trace.PodGroupPreempted()
                | trace.PodGroupCycleEnded()
                | trace.PodGroupRetried()
            ):
                return group_sentence(self.base, event)
            case trace.OutsideBound() | trace.OutsideNominated():
                return outside_sentence(self.base, event)
            case trace.OutsideFailed() | trace.OutsidePreempted():
                return outside_sentence(self.base, event)
            case trace.BindingJudged() | trace.FailureJudged() | trace.PreemptionJudged():
                return None  # it stands beside the act
            case trace.VictimReplaced():
                return "quiet", replaced_sentence(self.base, event)
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
                text = gettext("{} evicted from {}: {}.")
                reason = meanings.cause_text(event.reason)
                return "warn", format_html(text, self.pod(event.pod), self.node(event.node), reason)
            case trace.PodRemoved() if event.node:
                return "quiet", format_html(
                    gettext("{} was removed from {}."), self.pod(event.pod), self.node(event.node)
                )
            case trace.PodRemoved():
                return "quiet", format_html(gettext("{} was removed."), self.pod(event.pod))
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
                    gettext("Claim {} is bound to {}."), in_english(event.claim), in_english(event.volume)
                )
            case trace.ControllerFailed():
                return "bad", format_html(
                    gettext("{} cannot continue: {}"), in_english(event.controller), in_english(event.message)
                )
            case trace.ControllerPostponed():
                text = gettext("{} ran {} times at the same moment; it continues at {}.")
                return "bad", format_html(
                    text, in_english(event.controller), event.runs, fmt.clock(event.until)
                )
            case trace.ObjectUnreadable():
                text = gettext("{} does not match the schema of its kind and is ignored: {}")
                name = fmt.listed([f"{event.resource.partition('.')[0]} {event.key}"])
                return "bad", format_html(text, in_english(name), in_english(event.message))
            case _:
                return None

    def objects(self, resource: str, keys: Sequence[str]) -> SafeString:
        """Return the first objects by name, pods with a link, and the number of the others."""
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
        if event.event == POP_FROM_BACKOFF_Q:
            # Pop takes a pod from there only while activeQ is empty (pop in active_queue.go).
            text = gettext("{} is popped from backoffQ, because activeQ is empty.")
            return "", format_html(text, self.pod(event.pod))
        if event.target in ("", "inFlight") or (event.source == "inFlight" and event.target != "backoffQ"):
            return None
        pod, target, why = self.pod(event.pod), queue.title(event.target), in_english(event.event)
        if event.source == "":
            return "", format_html(gettext("{} enters {} ({})."), pod, target, why)
        source = queue.title(event.source)
        if event.plugin:
            text = gettext("{} moves from {} to {} after {}: according to {}, it may fit now.")
            return "", format_html(text, pod, source, target, why, in_english(event.plugin))
        return "", format_html(gettext("{} moves from {} to {} ({})."), pod, source, target, why)

    def nominated(self, event: trace.Nominated) -> tuple[Tone, SafeString]:
        text = ngettext(
            "Preemption: {0} nominated to {1}, the only candidate; victims: {3}.",
            "Preemption: {0} nominated to {1} among {2} candidates; victims: {3}.",
            event.candidates,
        )
        pod, node, victims = self.pod(event.pod), self.node(event.node), self.pods(event.victims)
        if not event.victims:  # a PostFilter plugin other than DefaultPreemption may nominate without them
            return "warn", format_html(gettext("{} nominated to {}."), pod, node)
        return "warn", format_html(text, pod, node, event.candidates, victims)


def scheduler_message(event: Event) -> str:
    """Return the scheduler's message, if the sentence has a shorter form of it."""
    return event.message if isinstance(event, trace.Unschedulable | trace.OutsideFailed) else ""


def linked_names(event: Event) -> Mentions:
    """Return the pods and nodes that the sentence links to. An event may name others, which the sentence
    leaves out."""
    match event:
        case trace.Filtered() | trace.ObjectUnreadable():
            return Mentions(set(), set())
        case trace.VictimDeleted(group=str()):
            return Mentions({event.pod}, {event.node})
        case trace.Scored():
            return Mentions(set(), {event.node})
        case trace.ObjectsCreated() | trace.ObjectsDeleted():
            return Mentions({*event.keys[:NAMES_AT_MOST]} if event.resource == "pods" else set(), set())
        case _ if hasattr(event, "group") and not hasattr(event, "pod"):
            return Mentions(linked_pods(event), set())
        case _:
            return mentions(event)
