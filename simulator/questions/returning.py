"""Where evicted pods land: the pods that their controllers create in their place."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from simulator.api import Manifest
from simulator.objects.metadata import is_terminating, key_of, uid_of
from simulator.objects.node import ZONE
from simulator.objects.owner_references import controller_of
from simulator.questions.running_copy import RunningCopy, controller_uid
from simulator.trace import VictimDeleted

After = Literal["runs", "pending", "not created", "ending"]
"""What becomes of an evicted pod: its replacement has a node, is pending, or does not exist. ``ending``: it
has not ended yet, so that its controller may still create one."""


class EvictedPod(msgspec.Struct, frozen=True):
    """A pod that is evicted, and the one in its place."""

    pod: str
    owner: str
    """Kind and name of its controller; "" = it has none, and is not created again."""
    priority: int
    node: str
    by: str
    """The pod for which it is evicted; "" = it is drained."""
    after: After
    replacement: str
    """The pod that its controller creates; "" = none."""
    to: str
    """The node of the replacement."""
    why: str
    """Why the replacement is pending."""


def preempted(copy: RunningCopy) -> dict[str, str]:
    """Return the pods that preemption has evicted, each with its preemptor."""
    events = (event for _, event in copy.sandbox.trace())
    return {event.pod: event.preemptor for event in events if isinstance(event, VictimDeleted)}


def follow(copy: RunningCopy, evicted: Mapping[str, str], lost_owners: Mapping[str, str]) -> list[EvictedPod]:
    """Return what becomes of pods that were there at the start. evicted: key -> for whom."""
    pods = copy.pods()
    created: dict[str, list[Manifest]] = {}
    for key, pod in pods.items():
        before = copy.original.get(key)
        is_new = before is not pod and (before is None or uid_of(before) != uid_of(pod))
        if is_new and not is_terminating(pod):
            created.setdefault(controller_uid(pod), []).append(pod)
    # Those with a node first: which of several replacements is whose is not defined.
    for found in created.values():
        found.sort(key=lambda pod: (not pod["spec"].get("nodeName"), key_of(pod)), reverse=True)
    return [
        _follow(copy, key, by, created, lost_owners) for key, by in evicted.items() if key in copy.original
    ]


def _follow(
    copy: RunningCopy,
    key: str,
    by: str,
    created: Mapping[str, list[Manifest]],
    lost_owners: Mapping[str, str],
) -> EvictedPod:
    pod = copy.original[key]
    reference = controller_of(pod)
    made = created.get(str(reference["uid"])) if reference else None
    replacement = made.pop() if made else None
    after: After = "not created"
    new = node = why = ""
    if replacement is not None:
        new, node = key_of(replacement), replacement["spec"].get("nodeName") or ""
        after = "runs" if node else "pending"
        why = "" if node else copy.why_pending(new)
    elif (there := copy.pods().get(key)) is not None and uid_of(there) == uid_of(pod):
        after = "ending"
    return EvictedPod(
        pod=key,
        owner=f"{reference['kind']} {reference['name']}" if reference else lost_owners.get(key, ""),
        priority=pod["spec"].get("priority") or 0,
        node=pod["spec"].get("nodeName") or "",
        by=by,
        after=after,
        replacement=new,
        to=node,
        why=why,
    )


def count_after(evicted: Iterable[EvictedPod]) -> dict[str, str]:
    """Return the values of the sentences about evicted pods."""
    found = [*evicted]
    return {
        "count": str(len(found)),
        **{
            name: str(sum(each.after == after for each in found))
            for name, after in (("again", "runs"), ("pending", "pending"), ("gone", "not created"))
        },
    }


def zone_of(copy: RunningCopy, node: str) -> str:
    found = copy.nodes().get(node)
    return "" if found is None else str((found["metadata"].get("labels") or {}).get(ZONE, ""))


def most_common(messages: Sequence[str]) -> str:
    """Return the message that most pods have."""
    return max(sorted({*messages}), key=messages.count, default="")
