"""The part of a pod's panel about the outside scheduler that has to schedule it."""

from collections.abc import Sequence

import msgspec
from django.utils.translation import gettext, pgettext

from schedviz.web.outside.sentences import OutsideEvent
from schedviz.web.outside.verdicts import TONES, pair_verdicts, verdict_reason
from schedviz.web.picture.outside_latency import duration
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from schedviz.web.text.tone import Tone
from simulator import trace
from simulator.trace import QueuePlace
from simulator.verdict_words import VERDICTS, AnyVerdict


class OutsideAct(msgspec.Struct, frozen=True):
    """One act of an outside scheduler for a pod."""

    seq: int
    time: str
    tone: Tone
    text: str
    verdict: str = ""
    """The verdict on it, in a word; "" = there is none."""
    why: str = ""


class OutsidePod(msgspec.Struct, frozen=True):
    """The values of a pod's panel about its outside scheduler."""

    scheduler: str
    message: str
    """The last message of the scheduler, in its own words; "" = none."""
    meaning: str
    waiting: bool
    acts: list[OutsideAct]
    """The acts, newest first."""


def outside_pod(
    pod: str, entry: QueuePlace | None, about: Sequence[trace.Event], *, mirrors: bool = False
) -> OutsidePod | None:
    """Return the part of the panel of a pod; None for a pod of this scheduler. about: the trace events that
    are about it, oldest first; mirrors: whether the sandbox mirrors a real cluster."""
    numbered = [*enumerate(about)]
    verdicts = pair_verdicts(numbered)
    events = [event for event in about if isinstance(event, OutsideEvent)]
    waits_for = (entry.scheduler or "") if entry is not None else ""
    if not events and not waits_for:
        return None
    failures = [event.message for event in events if isinstance(event, trace.OutsideFailed)]
    message = (failures[-1] if failures else entry.message) if entry is not None and waits_for else ""
    return OutsidePod(
        scheduler=waits_for or events[-1].scheduler,
        message=message,
        meaning=reasons.unplaced(message),
        waiting=bool(waits_for),
        acts=[
            act(seq, event, verdicts.get(seq), mirrors=mirrors)
            for seq, event in reversed(numbered)
            if isinstance(event, OutsideEvent)
        ],
    )


def act(seq: int, event: OutsideEvent, judged: AnyVerdict | None, *, mirrors: bool) -> OutsideAct:
    tone, text = act_in_words(event, mirrors=mirrors)
    if judged is None:
        return OutsideAct(seq, fmt.clock(event.t), tone, text)
    word = gettext(VERDICTS[judged.verdict])
    return OutsideAct(
        seq, fmt.clock(event.t), TONES.get(judged.verdict, tone), text, word, verdict_reason(judged)
    )


def act_in_words(event: OutsideEvent, *, mirrors: bool) -> tuple[Tone, str]:
    """Return the act without the name of its pod. A mirror sees when it stored a pod and its binding, not
    how long the pod waited in the cluster, so it says nothing of that."""
    match event:
        case trace.OutsideBound() if mirrors:
            return "good", gettext("bound to %(node)s") % {"node": node_name(event.node)}
        case trace.OutsideBound():
            text = gettext("bound to %(node)s after %(waits)s")
            simulated = duration(event.waited)
            real = simulated if event.waited_wall is None else duration(event.waited_wall)
            waits = [simulated]
            if real != simulated:
                waits = [
                    pgettext("real time", "%(n)s real") % {"n": real},
                    gettext("%(n)s simulated") % {"n": simulated},
                ]
            return "good", text % {"node": node_name(event.node), "waits": fmt.listed(waits)}
        case trace.OutsideNominated():
            return "warn", gettext("nominated to %(node)s") % {"node": node_name(event.node)}
        case trace.OutsidePreempted():
            return "warn", gettext("preempted on %(node)s") % {"node": node_name(event.node)}
        case trace.OutsideFailed():
            return "bad", reasons.short(event.message)
