"""The other pods that wait for the room which a suggestion makes."""

from collections.abc import Mapping, Sequence

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.queue.order import sort_key
from schedviz.web.text import format as fmt
from simulator.trace import QueuePlace


def rivals_sentence(
    rivals: Sequence[str], queue_places: Mapping[str, QueuePlace], pod: str, *, partial: bool = False
) -> str:
    """Return a sentence about the number of other pods that wait for the same room, and those that are popped
    before the pod; "" if none waits.

    rivals: pods that fit the same node, as the search found them; partial: there may be more of them.
    """
    own = queue_places.get(pod)
    others = [queue_places[rival] for rival in rivals if rival in queue_places]
    if own is None or not others:
        return ""
    first = sorted((entry for entry in others if _order(entry) < _order(own)), key=_order)
    values = {"n": len(others), "m": len(first), "pods": fmt.first_pods([entry.pod for entry in first])}
    if partial:
        text = _partial_text(len(others), len(first))
    elif not first:
        text = ngettext(
            "%(n)s other pod would fit there, too. It is behind this one in the order of activeQ.",
            "%(n)s other pods would fit there, too. They are behind this one in the order of activeQ.",
            len(others),
        )
    elif len(first) == len(others):
        text = ngettext(
            "%(n)s other pod would fit there, too. It is before this one in the order of activeQ: %(pods)s.",
            "%(n)s other pods would fit there, too. They are before this one in the order of activeQ: "
            "%(pods)s.",
            len(others),
        )
    else:
        text = gettext(
            "%(n)s other pods would fit there, too. Before this one in the order of activeQ: %(m)s of "
            "them, %(pods)s."
        )
    return text % values


def _partial_text(others: int, first: int) -> str:
    if not first:
        return ngettext(
            "At least %(n)s other pod would fit there, too.",
            "At least %(n)s other pods would fit there, too.",
            others,
        )
    return ngettext(
        "At least %(n)s other pod would fit there, too. Before this one in the order of activeQ: at least "
        "%(m)s, among them %(pods)s.",
        "At least %(n)s other pods would fit there, too. Before this one in the order of activeQ: at least "
        "%(m)s, among them %(pods)s.",
        others,
    )


def _order(entry: QueuePlace) -> tuple[object, ...]:
    """Return the order in activeQ, for a pod in any lane."""
    return sort_key(msgspec.structs.replace(entry, lane="activeQ"))
