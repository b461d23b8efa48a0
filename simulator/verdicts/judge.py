"""The judge: takes the watch events of a real cluster, and says of each decision of its scheduler what the
model would have decided.

What the scheduler did is read from its writes and Events as in a sandbox
(:class:`simulator.scheduler.outside.OutsideSchedulers`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from simulator.api import Manifest, Micros, WatchEvent
from simulator.apiserver.resources import PODS
from simulator.client.event_recorder import FAILED_SCHEDULING
from simulator.objects.conditions import condition
from simulator.objects.events import EVENTS
from simulator.objects.pod import Pod
from simulator.objects.volumes import PVCS, PVS
from simulator.scheduler.outside import OutsideSchedulers
from simulator.trace import (
    BindingJudged,
    Event,
    FailureJudged,
    OutsideBound,
    OutsideFailed,
    OutsidePreempted,
    PreemptionJudged,
    QueuePlace,
)
from simulator.trace.verdicts import JudgedState
from simulator.verdict_words import CUT_OFF
from simulator.verdicts.bindings import BindingFinding, judge_binding
from simulator.verdicts.failures import IN_BINDING, FailureFinding, judge_failure
from simulator.verdicts.followed_cluster import FollowedCluster, PastChange, selected_node
from simulator.verdicts.group_cycles import GroupCycles
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.verdicts.open_verdicts import PATIENCE, OpenVerdicts
from simulator.verdicts.preemptions import PreemptionFinding, judge_preemption
from simulator.verdicts.repeated_failures import EVENT_LATE, RepeatedFailures, message_of
from simulator.verdicts.states import (
    Effort,
    Search,
    TriedState,
    chosen_claim,
    group_writes,
    is_chosen,
    nominations,
    pre_bind_writes,
)
from simulator.verdicts.victims import NamedPod, Victims
from simulator.what_if.situation import Situation

FAILED: Final = FAILED_SCHEDULING.reason
DECIDED: Final = ("agrees", "tie", "sampled")


GROUP_CYCLES_AT_MOST: Final = 4
"""Maximum number of the last cycles of a group in whose states a decision is tried first."""


class _Reserved(NamedTuple):
    """A pod whose node another write of its binding cycle shows before it is bound."""

    uid: str
    node: str
    claim: str
    """The claim that shows it; "" = the pod's own nomination."""
    judged: BindingJudged


class Waited(NamedTuple):
    """A pod that had no node when the cluster was followed last."""

    uid: str
    message: str
    """What the scheduler had said of it."""


class _Deleted(NamedTuple):
    node: str
    time: Micros


class Judge:
    """Call :meth:`observe` for each watch event, those of the first list before :meth:`listed`, and
    :meth:`settle` after those that were received together, and about each second. What they return is the
    trace: what the scheduler did, and the verdicts. A verdict may come up to PATIENCE later than what it is
    about."""

    def __init__(self, scheduler: JudgedScheduler) -> None:
        self.scheduler = scheduler
        self.known = FollowedCluster(scheduler)
        self.now: Micros = 0
        self._trace: list[Event] = []
        self._acts = OutsideSchedulers(self, ())
        self._open = OpenVerdicts()
        self._effort = Effort()
        self._groups = GroupCycles(self.known, self._effort)
        self._reserved: dict[str, _Reserved] = {}
        self._deleted: dict[str, _Deleted] = {}
        """Pods that were deleted in their binding cycles: they are assumed until these end."""
        self._victims = Victims()
        self._repeated = RepeatedFailures()
        self._is_listing = False

    # A simulator.scheduler.outside.ObservedCluster

    def get(self, resource: str, key: str) -> Manifest | None:
        return self.known.find(resource, key)

    def emit(self, event: Event) -> None:
        self._trace.append(event)

    # Input

    @property
    def started(self) -> bool:
        return self._acts.started

    def listed(self) -> None:
        """Note that all objects were listed: what is observed from now on are changes."""
        self._acts.started = True
        self.known.forget(self.now)

    def decided_unseen(self, waiting: Mapping[str, Waited]) -> Iterator[BindingJudged | FailureJudged]:
        """Yield the verdicts on the pods, by key, that have got their nodes or other messages since the
        cluster was followed last."""
        for key, waited in waiting.items():
            pod = self.known.pods.get(key)
            if pod is None or pod.uid != waited.uid:
                continue
            if pod.node_name:
                yield self._bound_unseen(pod)
            elif (message := message_of(pod)) not in ("", waited.message):
                finding = FailureFinding("unknown", CUT_OFF)
                yield self._failure_judged(pod, pod.scheduler_name, message, finding, JudgedState(0, 0))

    def follows(self, now: Micros, *, is_behind: bool) -> None:
        """Note whether some of the watches are cut off, or are listed again: verdicts that are not good wait
        until they show the present state."""
        self._open.follows(now, is_behind=is_behind)

    def observe(self, event: WatchEvent, now: Micros, *, is_listed: bool = False) -> list[Event]:
        """Take in a watch event, with its real resourceVersion, that arrived at ``now``. ``is_listed``: it
        was found in a list, after a watch that could not go on: when it happened is not known."""
        self.now = max(self.now, now)
        self._is_listing = is_listed
        oldest = self._open.oldest()
        self.known.needed_since = self.now if oldest is None else oldest
        if event.resource == EVENTS:
            self._event_changed(event)
        elif event.resource == PODS.id:
            self._pod_changed(event)
        else:
            before = self.known.find(event.resource, event.key)
            self.known.apply(event, self.now, is_listed=is_listed)
            if event.resource == PVCS and self.started:
                self._claim_changed(event, before)
            elif event.resource == PVS and self.started:
                self._volume_changed(event, before)
        return self._take()

    def settle(self, now: Micros) -> list[Event]:
        """Give the verdicts that have waited long enough, and those that are certain by now."""
        self.now = max(self.now, now)
        self._trace.extend(self._open.settle(self.now))
        return self._take()

    def _take(self) -> list[Event]:
        found, self._trace = self._trace, []
        return found

    def end(self) -> list[Event]:
        """Give the verdicts that wait, as nothing more is observed: what may yet come is not known."""
        self.known.known_since = self.now
        return [*self._open.settle(self.now, is_end=True)]

    def take_queue_places(self) -> dict[str, QueuePlace | None]:
        """Return the places of the pods that wait, as far as they have changed; None = it waits no more."""
        return self._acts.take_queue_places()

    # What changes

    def _pod_changed(self, event: WatchEvent) -> None:
        old = self.known.pods.get(event.key)
        self.known.apply(event, self.now, is_listed=self._is_listing)
        new = self.known.pods.get(event.key)
        if old is None and new is None:
            return
        begin = len(self._trace)
        self._acts.pod_changed(old, new)
        if new is not None and (old is None or old.uid != new.uid):
            self._victims.created(new)
        elif new is not None and old is not None and message_of(old) != message_of(new):
            self._repeated.changed(new.uid, message_of(old), event.version)
        if self.started:
            for act in self._trace[begin:]:
                if isinstance(act, OutsideFailed) and new is not None:
                    self._repeated.shown(new.uid, self.now)
                self._judge(act, event.version, old)
            if new is not None and new.node_name:
                if old is None:
                    self.emit(self._created_with_node(new, event.version))
                elif not old.node_name:
                    replaced = self._victims.bound(new, self.now)
                    if replaced is not None:
                        self.emit(replaced)
            elif new is not None and old is not None:
                self._nomination_changed(old, new, event.version)
        if old is not None and (new is None or new.uid != old.uid):
            self._groups.gone(old)
        if new is None or new.node_name:
            reserved = self._reserved.pop(event.key, None)
            if reserved is not None and new is None:
                self._deleted[event.key] = _Deleted(reserved.node, self.now)

    def _nomination_changed(self, old: Pod, new: Pod, version: int) -> None:
        """Judge a pod that is nominated as its binding begins, since v1.35 (NominatedNodeNameForExpectation).
        One for which others are preempted also gets a message."""
        node = new.nominated_node_name
        if node == old.nominated_node_name:
            return
        known = self._reserved.get(new.key)
        if known is not None and not known.claim:
            del self._reserved[new.key]
        if node and condition(old.manifest, "PodScheduled") == condition(new.manifest, "PodScheduled"):
            judged = self._binding(old, node, version)(True)
            if judged is not None and judged.verdict in DECIDED:
                self._reserved[new.key] = _Reserved(new.uid, node, "", judged)

    def _event_changed(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            self._repeated.forget(event.key)
            return
        again = event.object.get("reason") == FAILED and self._repeated.occurs(
            event.key, event.object, self.now
        )
        if not self.started:
            return
        regarding = event.object.get("involvedObject") or {}
        if event.object.get("reason") == "Preempted" and regarding.get("kind") == PODS.kind:
            self._victims.preempted(regarding.get("uid", ""), event.object)
        begin = len(self._trace)
        self._acts.event_changed(event.object)
        for act in self._trace[begin:]:
            if isinstance(act, OutsideFailed | OutsidePreempted):
                self._judge(act, event.version, self.known.pods.get(act.pod))
                again = False
        if again:
            self._failed_again(regarding, event.version)

    def _failed_again(self, regarding: Manifest, version: int) -> None:
        """Judge an attempt of which only the Event says that it failed: its message is that of the condition
        before the Event."""
        pod = self.known.pods.get(f"{regarding.get('namespace') or 'default'}/{regarding.get('name')}")
        if pod is None or pod.node_name or regarding.get("uid") not in (None, "", pod.uid):
            return
        since = self.now
        if not self._acts.last_failure(pod.key) or self._repeated.is_shown(pod.uid, since - EVENT_LATE):
            return
        self._reserved.pop(pod.key, None)
        uid, attempt = pod.uid, self._repeated.expect(pod.uid)

        def message() -> str:
            known = self.known.pods.get(pod.key)
            now = message_of(known if known is not None and known.uid == uid else pod)
            return self._repeated.message_before(uid, version) or now or self._acts.last_failure(pod.key)

        judge = self._failure(pod, pod.scheduler_name, message, version)

        def unless_shown(last: bool) -> FailureJudged | None:
            """The condition that this attempt changes may come after its Event."""
            return None if not last or self._repeated.give_up(uid, attempt) else judge(last)

        self._open.add(since, unless_shown)

    def _claim_changed(self, event: WatchEvent, before: Manifest | None) -> None:
        """Judge the pod of a claim for which a volume is provisioned: its node is decided. Others that use
        the claim follow it to the node later (:meth:`FollowedCluster.followers`)."""
        node = selected_node(None if event.type == "DELETED" else event.object)
        if node == selected_node(before):
            return
        for key in [key for key, each in self._reserved.items() if each.claim == event.key]:
            del self._reserved[key]
        if not node:
            return
        self._reserve(event.key, node, event.version)

    def _volume_changed(self, event: WatchEvent, before: Manifest | None) -> None:
        """Judge the pod for whose claim the scheduler chose a volume. The node is supposed to be that of the
        model: it is not shown before the binding."""
        if event.type == "DELETED" or before is None or not is_chosen(before, event.object):
            return
        claim = chosen_claim(self.known.cluster, event.object)
        if claim:
            self._reserve(claim, "", event.version)

    def _reserve(self, claim: str, node: str, version: int) -> None:
        """Reserve the node of the pod whose binding cycle has begun: the first one that could be decided so,
        of those that use the claim. ``node``: "" = it is not known."""
        users = self.known.users(claim)
        if any(each.key in self._reserved and self._reserved[each.key].node == node for each in users):
            return
        reserved: _Reserved | None = None
        for pod in users:
            if pod.key in self._reserved:
                continue
            supposed = node or self._search(pod, version).chosen()
            if not supposed:
                continue
            judged = self._binding(pod, supposed, version)(True)
            assert judged is not None
            if judged.verdict in DECIDED or reserved is None:
                reserved = _Reserved(pod.uid, supposed, claim, judged)
                key = pod.key
            if judged.verdict in DECIDED:
                break
        if reserved is not None:
            self._reserved[key] = reserved

    # Verdicts

    def _judge(self, act: Event, version: int, old: Pod | None) -> None:
        """``old``: the pod before what showed the act."""
        if old is None:
            return
        if isinstance(act, OutsideBound | OutsideFailed):
            self._groups.acted(old)
        match act:
            case OutsideBound():
                known = self._reserved.pop(act.pod, None)
                if known is not None and (known.uid, known.node) == (old.uid, act.node):
                    self.emit(msgspec.structs.replace(known.judged, t=self.now))
                else:
                    self._open.add(self.now, self._binding(old, act.node, version))
            case OutsideFailed():
                self._reserved.pop(act.pod, None)
                self._open.add(self.now, self._failure(old, act.scheduler, lambda: act.message, version))
            case OutsidePreempted():
                self._victims.evicted(old, self.now)
                self._open.add(self.now, self._preemption(old, act, version))

    def _search(self, pod: Pod, version: int, own: Sequence[PastChange] = ()) -> Search:
        reserved = {key: each.node for key, each in self._reserved.items()}
        self._deleted = {key: each for key, each in self._deleted.items() if each.time >= self.now - PATIENCE}
        return Search(
            self.known,
            pod,
            version,
            self.now,
            reserved=reserved,
            deleted={key: each.node for key, each in self._deleted.items()},
            effort=self._effort,
            own=own,
            is_listed=self._is_listing,
        )

    def _binding(self, pod: Pod, node: str, version: int) -> Callable[[bool], BindingJudged | None]:
        search = self._search(pod, version, pre_bind_writes(self.known, pod))

        def attempt(situation: Situation) -> BindingFinding:
            if self._groups.tries(pod):
                placed = self._groups.judge_placed_binding(
                    situation, node, scheduler=self.scheduler, state=search.trying, now=self.now
                )
                if placed is not None:
                    return placed
            return judge_binding(self.scheduler, situation, node, samples=not search.has_begun)

        def judge(last: bool) -> BindingJudged | None:
            found = search.conclude(
                attempt, self.now, lambda why: BindingFinding("unknown", reason=why), last=last
            )
            return found and self._binding_judged(pod, node, *found, search.written)

        return judge

    def _binding_judged(
        self, pod: Pod, node: str, finding: BindingFinding, state: TriedState, written: Micros
    ) -> BindingJudged:
        return BindingJudged(
            t=self.now,
            pod=pod.key,
            node=node,
            scheduler=pod.scheduler_name,
            state=state.described(written),
            judged_as=self.scheduler.judged_as,
            **finding._asdict(),
        )

    def _created_with_node(self, pod: Pod, version: int) -> BindingJudged:
        """Judge a pod that is seen first with its node. One that a list shows may have been bound since the
        watch ended."""
        if self._is_listing:
            return self._bound_unseen(pod, version)
        finding = BindingFinding("not this scheduler", reason="the pod was created with its node")
        return self._binding_judged(pod, pod.node_name, finding, TriedState(version, self.now), self.now)

    def _bound_unseen(self, pod: Pod, version: int = 0) -> BindingJudged:
        finding = BindingFinding("unknown", reason=CUT_OFF)
        return self._binding_judged(pod, pod.node_name, finding, TriedState(version, self.now), self.now)

    def _failure(
        self, pod: Pod, scheduler: str, message: Callable[[], str], version: int
    ) -> Callable[[bool], FailureJudged | None]:
        """``message``: what is known of it by now."""
        in_group = self._groups.tries(pod)
        search = self._search(pod, version, self._group_writes(pod, version) if in_group else ())

        def attempt(situation: Situation) -> FailureFinding:
            said = message()
            if in_group and not IN_BINDING.match(said):
                return self._groups.judge_failure(situation, said, state=search.trying, now=self.now)
            return judge_failure(situation, said)

        def judge(last: bool) -> FailureJudged | None:
            found = search.conclude(
                attempt,
                self.now,
                lambda why: FailureFinding("unknown", why),
                last=last,
            )
            if found is None:
                return None
            finding, state = found
            return self._failure_judged(pod, scheduler, message(), finding, state.described(search.written))

        return judge

    def _failure_judged(
        self, pod: Pod, scheduler: str, message: str, finding: FailureFinding, state: JudgedState
    ) -> FailureJudged:
        return FailureJudged(
            t=self.now,
            pod=pod.key,
            scheduler=scheduler,
            message=message,
            state=state,
            judged_as=self.scheduler.judged_as,
            **finding._asdict(),
        )

    def _preemption(
        self, victim: Pod, act: OutsidePreempted, version: int
    ) -> Callable[[bool], PreemptionJudged | None]:
        searches: dict[str, Search] = {}
        began = self.now

        def judged(
            finding: PreemptionFinding, state: TriedState, named: NamedPod, uid: str
        ) -> PreemptionJudged:
            return PreemptionJudged(
                t=self.now,
                pod=victim.key,
                node=act.node,
                scheduler=act.scheduler,
                preemptor=named.key,
                preemptor_uid=uid,
                owner=named.owner,
                state=state.described(began),
                judged_as=self.scheduler.judged_as,
                **finding._asdict(),
            )

        def judge(last: bool) -> PreemptionJudged | None:
            key, uid = self._victims.preemptor(victim.uid) or (act.preemptor, "")
            if not uid and not last and act.scheduler in self.scheduler.frameworks:
                return None  # the Event, which names it for certain, comes after the deletion
            named = self._victims.name(uid) or NamedPod(key, "")
            pod = self.known.pod_before(version, named.key) if named.key else None
            if pod is None:
                unknown = PreemptionFinding("unknown", reason="it is not known for which pod")
                return judged(unknown, TriedState(version, began), named, uid) if last else None
            if not uid:
                named, uid = self._victims.name(pod.uid) or named, pod.uid
            search = searches.get(pod.key)
            if search is None:
                own = nominations(self.known, pod)
                if self._groups.tries(pod):
                    own = self._group_writes(pod, version)
                search = searches[pod.key] = self._search(pod, version, own)
            found = search.conclude(
                lambda situation: self._evicted(situation, act.node, victim.key),
                self.now,
                lambda why: PreemptionFinding("unknown", reason=why),
                last=last,
            )
            return found and judged(*found, named, uid)

        return judge

    def _evicted(self, situation: Situation, node: str, victim: str) -> PreemptionFinding:
        if self._groups.tries(situation.pod):
            return self._groups.judge_preemption(
                situation, node, victim, scheduler=self.scheduler, now=self.now
            )
        return judge_preemption(self.scheduler, situation, node, victim)

    def _group_writes(self, pod: Pod, version: int) -> list[PastChange]:
        return [*islice(group_writes(self.known, pod, version), GROUP_CYCLES_AT_MOST)]
