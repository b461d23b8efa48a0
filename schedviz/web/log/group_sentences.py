"""What happens to pod groups as sentences, in HTML with links."""

from collections.abc import Iterable
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from schedviz.web.text import format as fmt
from schedviz.web.text.links import group_link, in_english, pod_link
from schedviz.web.text.tone import Tone
from simulator import trace

PODS_AT_MOST: Final = 3
"""Maximum number of pods that one sentence names."""

GroupEvent = (
    trace.PodGroupCycleStarted
    | trace.PodGroupTried
    | trace.PlacementsScored
    | trace.PodGroupPreempted
    | trace.PodGroupCycleEnded
    | trace.PodGroupRetried
)


def group_sentence(base: str, event: GroupEvent) -> tuple[Tone, SafeString]:
    """Return the tone and the sentence. base: the path of the sandbox's page."""
    group = group_link(base, event.group)
    match event:
        case trace.PodGroupCycleStarted():
            cycle = format_html('<a data-panel href="{}cycles/{}/">{}</a>', base, event.cycle, event.cycle)
            text = ngettext(
                "Cycle {}: the group {} is tried with {} pod: {}.",
                "Cycle {}: the group {} is tried with {} pods: {}.",
                event.size,
            )
            return "", format_html(text, cycle, group, event.size, _pods(base, event.pods, event.size))
        case trace.PodGroupTried():
            return _tried(event, group)
        case trace.PlacementsScored():
            total = max((each.total for each in event.scores), default=0)
            text = gettext("Placements of {}: {} has the best total, {}.")
            if event.tied > 1:
                text = gettext("Placements of {}: {} is selected at random of those with the best total, {}.")
            return "", format_html(text, group, in_english(event.chosen), total)
        case trace.PodGroupPreempted(victims=[]):
            text = gettext("No eviction makes the group {} fit: {}")
            return "bad", format_html(text, group, in_english(event.message))
        case trace.PodGroupPreempted():
            text = gettext("Preemption for the group {}; victims: {}.")
            return "warn", format_html(text, group, _pods(base, event.victims, event.victim_count))
        case trace.PodGroupCycleEnded():
            return _ended(event, group)
        case trace.PodGroupRetried():
            text = ngettext(
                "The group {} was tried once more without pause, while nothing changed.",
                "The group {} was tried {} more times without pause, while nothing changed.",
                event.count,
            )
            return "quiet", format_html(text, group, fmt.number(event.count))


def linked_pods(event: trace.Event) -> set[str]:
    """Return the pods that the sentence links to."""
    match event:
        case trace.PodGroupCycleStarted(pods=pods) | trace.PodGroupPreempted(victims=pods):
            return {*pods[:PODS_AT_MOST]}
        case _:
            return set()


def _tried(event: trace.PodGroupTried, group: SafeString) -> tuple[Tone, SafeString]:
    fit = sum(each.outcome in ("fits", "preempts") for each in event.members)
    if event.placement:
        text = gettext("Pass in {}: {} of {} pods of {} fit.")
        return "", format_html(text, in_english(event.placement), fit, len(event.members), group)
    return "", format_html(gettext("Pass: {} of {} pods of {} fit."), fit, len(event.members), group)


def _ended(event: trace.PodGroupCycleEnded, group: SafeString) -> tuple[Tone, SafeString]:
    match event.verdict:
        case "scheduled":
            text = ngettext(
                "The group {} can be scheduled: {} pod goes on to binding.",
                "The group {} can be scheduled: {} pods go on to binding.",
                event.bound_count,
            )
            return "good", format_html(text, group, event.bound_count)
        case "waiting":
            text = gettext("The group {} waits for evictions; nothing of it is bound.")
            return "warn", format_html(text, group)
        case "unschedulable" if event.taken_back_count:
            text = ngettext(
                "The group {} is unschedulable; the place of {} pod is taken back.",
                "The group {} is unschedulable; the places of {} pods are taken back.",
                event.taken_back_count,
            )
            return "bad", format_html(text, group, event.taken_back_count)
        case "unschedulable":
            return "bad", format_html(gettext("The group {} is unschedulable."), group)
        case "error":
            text = gettext("Scheduling the group {} failed: {}")
            return "bad", format_html(text, group, in_english(event.message))


def _pods(base: str, keys: Iterable[str], count: int) -> SafeString:
    named = [*keys][:PODS_AT_MOST]
    html = format_html_join(fmt.listed(["", ""]), "{}", ((pod_link(base, key),) for key in named))
    if count > len(named):
        return format_html(gettext("{} and {} more"), html, count - len(named))
    return html
