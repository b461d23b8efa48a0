"""The acts of outside schedulers as sentences, in HTML with links."""

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.web.reasons import messages as reasons
from schedviz.web.text.links import in_english, node_link, pod_link
from schedviz.web.text.tone import Tone
from simulator import trace

OutsideEvent = trace.OutsideBound | trace.OutsideNominated | trace.OutsideFailed | trace.OutsidePreempted


def outside_sentence(base: str, event: OutsideEvent) -> tuple[Tone, SafeString]:
    """Return the tone and the sentence. base: the path of the sandbox's page."""
    scheduler, pod = in_english(event.scheduler), pod_link(base, event.pod)
    match event:
        case trace.OutsideBound():
            text = gettext("Outside scheduler {} bound {} to {}.")
            return "good", format_html(text, scheduler, pod, node_link(base, event.node))
        case trace.OutsideNominated():
            text = gettext("Outside scheduler {} nominated {} to {}.")
            return "warn", format_html(text, scheduler, pod, node_link(base, event.node))
        case trace.OutsideFailed():
            text = gettext("Outside scheduler {} did not schedule {}: {}.")
            return "bad", format_html(text, scheduler, pod, reasons.short_without_stop(event.message))
        case trace.OutsidePreempted():
            node, seconds = node_link(base, event.node), event.grace_seconds
            if not event.preemptor:
                text = gettext("Outside scheduler {} preempted {} on {}; its grace period is {} s.")
                return "warn", format_html(text, scheduler, pod, node, seconds)
            text = gettext("Outside scheduler {} preempted {} on {} for {}; its grace period is {} s.")
            return "warn", format_html(text, scheduler, pod, node, pod_link(base, event.preemptor), seconds)
