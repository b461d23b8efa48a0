"""Verdicts on the decisions of a mirrored scheduler, as sentences: one word, and why."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from schedviz.web.text import format as fmt
from schedviz.web.text.links import node_link, pod_link
from schedviz.web.text.tone import Tone
from simulator import trace
from simulator.trace.verdicts import Verdict
from simulator.verdict_words import CANDIDATE, COUNTED, FIGURE, VERDICTS, AnyVerdict, reasons_of

ACTS: Final[dict[type[trace.Event], type[trace.Event]]] = {
    trace.BindingJudged: trace.OutsideBound,
    trace.FailureJudged: trace.OutsideFailed,
    trace.PreemptionJudged: trace.OutsidePreempted,
}
"""What each kind of verdicts is about."""
TONES: Final[dict[Verdict, Tone]] = {"differs": "warn", "impossible": "bad", "unknown": "warn"}


def pair_verdicts(events: Iterable[tuple[int, trace.Event]]) -> dict[int, AnyVerdict]:
    """Return the verdicts by the numbers of the acts that they are about. events: oldest first. An attempt
    that fails again with the same message has a verdict only."""
    last: dict[tuple[type[trace.Event], str, str], int] = {}
    found: dict[int, AnyVerdict] = {}
    for number, event in events:
        key = (getattr(event, "pod", ""), getattr(event, "message", ""))
        if isinstance(event, AnyVerdict):
            act = last.get((ACTS[type(event)], *key))
            if act is not None:
                found.setdefault(act, event)
        elif is_judged(event):
            last[type(event), *key] = number
    return found


def is_judged(event: trace.Event) -> bool:
    """Whether there are verdicts on such acts."""
    return type(event) in ACTS.values()


def verdict_summary(events: Iterable[trace.Event]) -> str:
    """Return how many verdicts of each kind there are: "412 agree, 3 tie, 1 differs"; "" = there are none."""
    counts = Counter(event.verdict for event in events if isinstance(event, AnyVerdict))
    return fmt.listed(
        ngettext(*COUNTED[verdict], counts[verdict]) % {"n": fmt.number(counts[verdict])}
        for verdict in COUNTED
        if counts[verdict]
    )


def replaced_sentence(base: str, event: trace.VictimReplaced) -> SafeString:
    """Return the sentence. base: the path of the sandbox's page."""
    text = gettext("{} replaces {}, which was evicted from {}: it is bound to {}.")
    pod, by = pod_link(base, event.pod), pod_link(base, event.by)
    return format_html(text, by, pod, node_link(base, event.node), node_link(base, event.to))


def with_verdict(act: SafeString, verdict: AnyVerdict) -> SafeString:
    """Return the sentence of an act behind the verdict on it, in a word: a long line is cut at its end."""
    return format_html(
        gettext("Verdict {}: {}"), format_html("<b>{}</b>", gettext(VERDICTS[verdict.verdict])), act
    )


def verdict_reason(event: AnyVerdict) -> str:
    """Return why, in figures."""
    found = reasons_of(event, gettext(FIGURE), gettext(CANDIDATE))
    return " ".join(gettext(text) % values for text, values in found)
