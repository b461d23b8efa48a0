"""The follow-up of a suggestion that was applied to let a gang run."""

from django.utils.translation import gettext, ngettext

from schedviz.cache import Current
from schedviz.jobs.applied import Applied, AppliedStore
from schedviz.store.default import default_store
from schedviz.web.pod_groups.panel import GroupView
from schedviz.web.text import format as fmt
from schedviz.web.what_if.follow_up import FollowUp, FollowUpState
from schedviz.web.what_if.what_if import suggestion_sentence


def group_follow_up(source: Current, view: GroupView) -> FollowUp | None:
    """Return the follow-up of the suggestion that was last applied for a gang; None if there is none."""
    if not view.needs:
        return None
    kept = AppliedStore(default_store(), source.name, source.meta().created)
    applied = kept.read(view.key)
    if applied is None:
        return None
    state, text = _outcome(view, applied)
    return FollowUp(fmt.clock(applied.t), suggestion_sentence(applied.suggestion), state, text)


def _outcome(view: GroupView, applied: Applied) -> tuple[FollowUpState, str]:
    values = {"n": view.bound, "group": view.name, "pod": view.name}
    if view.bound >= view.needs:
        text = ngettext(
            "%(n)s pod of %(group)s has a node.", "%(n)s pods of %(group)s have a node.", view.bound
        )
        return "helped", text % values
    last = view.last
    if last is None or last.t <= applied.t or not last.ended:
        return "waits", gettext("%(pod)s has not been tried again since then.") % values
    if last.tone == "warn":
        return "nominated", last.headline
    reason = next(iter(view.diagnosis), last.headline).rstrip(".。")
    text = gettext("It did not help: %(reasons)s (attempt at %(time)s).")
    return "failed", text % {"reasons": reason, "time": last.time}
