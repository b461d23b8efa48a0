"""The panel of a pod group: its members, why it is pending, and its last cycle."""

from typing import Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.store.changes import TRACE_READ
from schedviz.store.past import Readable
from schedviz.web.kubectl.folded import IsUnfolded, folded_yaml
from schedviz.web.log.about import LINES_AT_MOST
from schedviz.web.log.sentences import EventSentences, LogLine
from schedviz.web.picture import load
from schedviz.web.picture.picture import PODS
from schedviz.web.picture.records import PodRecord, pod_record
from schedviz.web.pod_groups import words
from schedviz.web.pod_groups.cycle import GroupCycleView, headline, policy_words, present_group_cycle
from schedviz.web.pod_groups.cycles import GroupCycle, group_cycles
from schedviz.web.queue import lanes as queue
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.conditions import ConditionView, conditions
from schedviz.web.text import format as fmt
from simulator import trace
from simulator.api import Manifest, Micros
from simulator.objects.pod_group import POD_GROUPS, PodGroup
from simulator.objects.status import FINISHED_PHASES
from simulator.trace import QueuePlace

MEMBERS_AT_MOST: Final = 200
"""Maximum number of members that the panel lists."""


class MemberView(msgspec.Struct, frozen=True):
    pod: str
    label: str
    rank: int
    node: str
    place: str
    """Its lane in the queue; "" with a node, or in no lane."""
    outcome: str
    """What became of its turn in the last cycle."""
    cycle: int
    """The number of its last attempt; 0 = none is stored."""
    message: str


class GroupView(msgspec.Struct, frozen=True):
    key: str
    name: str
    exists: bool
    policy: str
    facts: list[str]
    bound: int
    present: int
    needs: int
    """minCount; 0 for the policy basic."""
    counted: str
    diagnosis: list[str]
    tries: str
    conditions: list[ConditionView]
    members: list[MemberView]
    more: int
    asked: PodRecord | None
    """A pending pod of a gang, about which it can be asked what would let the gang run."""
    last: GroupCycleView | None
    log: list[LogLine]
    yaml: str | None


def group_detail(
    sandbox: Readable, key: str, base: str, is_unfolded: IsUnfolded = lambda _: True
) -> GroupView | None:
    """Return the panel of a group; None if there is neither a PodGroup with this key nor a pod of it."""
    manifest = sandbox.get(POD_GROUPS, key)
    pods = members_of(sandbox, key)
    if manifest is None and not pods:
        return None
    group = PodGroup(manifest) if manifest else None
    named = [(seq, event) for seq, event in sandbox.trace_tail(TRACE_READ)]
    cycles = [each for each in group_cycles(event for _, event in named) if each.started.group == key]
    last = cycles[-1] if cycles else None
    entries = {pod.key: sandbox.queue_place(pod.key) for pod in pods if not pod.node}
    ranks = load.ranks(sandbox)
    sentences = EventSentences(base)
    lines = (
        sentences.line(seq, event) for seq, event in reversed(named) if getattr(event, "group", "") == key
    )
    return GroupView(
        key=key,
        name=fmt.pod_name(key),
        exists=group is not None,
        policy=policy_words(group.min_count) if group else gettext("There is no PodGroup with this name."),
        facts=_facts(group) if group else [],
        bound=sum(bool(pod.node) for pod in pods),
        present=len(pods),
        needs=(group.min_count or 0) if group else 0,
        counted=_counted(group, pods),
        diagnosis=_diagnosis(sandbox, group, pods, last),
        tries=_tries(entries, last, sandbox.now()),
        conditions=conditions(manifest) if manifest else [],
        members=[
            _member(pod, entries.get(pod.key), ranks.rank(pod.priority), last)
            for pod in pods[:MEMBERS_AT_MOST]
        ],
        more=max(0, len(pods) - MEMBERS_AT_MOST),
        asked=next((pod for pod in pods if not pod.node), None) if group and group.min_count else None,
        last=present_group_cycle(last) if last else None,
        log=[line for line in lines if line is not None][:LINES_AT_MOST],
        yaml=folded_yaml(manifest, is_unfolded) if manifest else None,
    )


def members_of(sandbox: Readable, key: str) -> list[PodRecord]:
    """Return the pods of a group that have not ended, by name."""
    namespace, _, name = key.partition("/")
    found = (
        pod_record(each)
        for each in sandbox.speaking_of(PODS, name)
        if each["metadata"].get("namespace", "default") == namespace and group_name(each) == name
    )
    return sorted((pod for pod in found if pod.phase not in FINISHED_PHASES), key=lambda pod: pod.key)


def group_name(pod: Manifest) -> str:
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName", ""))


def _facts(group: PodGroup) -> list[str]:
    found = [gettext("priority %(priority)s") % {"priority": fmt.number(group.priority)}]
    if group.topology_key:
        found.append(gettext("all on nodes with the same %(key)s") % {"key": group.topology_key})
    if group.disrupted_as_one:
        found.append(gettext("preempted as a whole"))
    return found


def _counted(group: PodGroup | None, pods: list[PodRecord]) -> str:
    """Return how many members there are, and how many have a node."""
    if not pods:
        return gettext("no pods")
    bound = sum(bool(pod.node) for pod in pods)
    values = {"n": len(pods), "bound": bound, "min": group.min_count if group else None}
    text = ngettext("%(n)s pod, %(bound)s with a node", "%(n)s pods, %(bound)s with a node", len(pods))
    return text % values


def _diagnosis(
    sandbox: Readable, group: PodGroup | None, pods: list[PodRecord], last: GroupCycle | None
) -> list[str]:
    """Return why the group is pending, in sentences; [] if no pod of it is."""
    pending = [pod for pod in pods if not pod.node]
    if not pending:
        return []
    if group is None:
        return [gettext("Its pods are gated until the PodGroup is created.")]
    min_count = group.min_count
    if min_count is not None and len(pods) < min_count:
        missing = min_count - len(pods)
        text = ngettext(
            "%(there)s of the %(min)s pods that it needs are there: they are gated until %(n)s more is "
            "created.",
            "%(there)s of the %(min)s pods that it needs are there: they are gated until %(n)s more are "
            "created.",
            missing,
        )
        return [text % {"there": len(pods), "min": min_count, "n": missing}]
    tried = last.counting if last else None
    if last is None or tried is None:
        return []
    members = {each.pod for each in tried.members}
    before = sum(bool(pod.node) and pod.key not in members for pod in pods)
    found = words.diagnosis(tried, before, len(pods), min_count, sandbox.decision)
    waits = last.ended is not None and last.ended.verdict == "waiting"
    return [headline(last), *found] if waits else found


def _tries(entries: dict[str, QueuePlace | None], last: GroupCycle | None, now: Micros) -> str:
    """Return how often a failed group was tried, with the tries that are not counted yet."""
    tries = max((entry.attempts + _uncounted(entry, now) for entry in entries.values() if entry), default=0)
    if last is None or last.ended is None or last.ended.verdict == "scheduled" or not tries:
        return ""
    text = ngettext(
        "Tried %(n)s time: v1.36 tries a group again without pause.",
        "Tried %(n)s times: v1.36 tries a group again without pause.",
        tries,
    )
    return text % {"n": fmt.number(tries)}


def _uncounted(entry: QueuePlace, now: Micros) -> int:
    """Return the number of the tries since nothing changes."""
    if not entry.retried_since or not entry.retry_time:
        return 0
    return (now - entry.retried_since) // entry.retry_time


def _member(pod: PodRecord, entry: QueuePlace | None, rank: int, last: GroupCycle | None) -> MemberView:
    tried: trace.MemberTried | None = None
    if last is not None and last.counting is not None:
        tried = next((each for each in last.counting.members if each.pod == pod.key), None)
    message = ""
    if not pod.node and (tried is None or tried.outcome != "fits"):
        message = reasons.short((entry.message if entry else "") or pod.message)
    return MemberView(
        pod=pod.key,
        label=fmt.pod_name(pod.key),
        rank=rank,
        node=pod.node,
        place=queue.title(entry.lane) if entry and not pod.node else "",
        outcome=words.outcome_words(tried.outcome, tried.node) if tried and not pod.node else "",
        cycle=tried.cycle if tried else 0,
        message=message,
    )
