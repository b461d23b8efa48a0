"""The verdict on the eviction of a pod by the scheduler, in one state of the cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.decision import Candidate
from simulator.framework.runtime import Framework
from simulator.objects.events import PREEMPTED_BY
from simulator.objects.pod import Pod
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import message, preemption
from simulator.trace.verdicts import NODES_AT_MOST, JudgedCandidate, Verdict
from simulator.verdict_words import EQUAL_VICTIMS, UNTRIED
from simulator.verdicts.bindings import run_attempt
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.what_if.situation import Situation

LAST: Final = (1 << 63) - 1
"""The greatest Pod.lot."""
LATEST: Final = "~"
"""It is after each time: that of a victim which has not started."""


class PreemptionFinding(NamedTuple):
    """The fields of a :class:`simulator.trace.PreemptionJudged` that depend on the state alone."""

    verdict: Verdict
    candidates: tuple[JudgedCandidate, ...] = ()
    candidate_count: int = 0
    rule: int = 0
    best: str = ""
    reason: str = ""

    @property
    def fits(self) -> bool:
        return self.verdict not in ("differs", "impossible") and self.reason not in UNTRIED


def judge_preemption(
    scheduler: JudgedScheduler, situation: Situation, node: str, victim: str
) -> PreemptionFinding:
    """Return the verdict on the eviction of ``victim`` from ``node`` for the situation's pod."""
    framework = situation.framework
    if framework is None:
        return PreemptionFinding("not this scheduler", reason=situation.pod.scheduler_name)
    found = judge_evicting_attempt(scheduler, run_attempt(situation, framework), node, victim)
    known = situation.cluster.pods.get(victim)
    if found.verdict != "differs" or not found.reason or known is None:
        return found
    with _last_of_its_equals(situation.cluster, known):
        last = judge_evicting_attempt(scheduler, run_attempt(situation, framework), node, victim)
    return last._replace(verdict="tie", reason=EQUAL_VICTIMS) if last.fits else found


@contextmanager
def _last_of_its_equals(cluster: Cluster, pod: Pod) -> Iterator[None]:
    """Let a pod be the least important of those with its priority and start time. Upstream's order of them is
    that of its cache, which nothing shows; see importance_key."""
    order = cluster.pod_order(pod.node_name)
    last = pod.assumed(pod.node_name)
    last.lot = LAST
    cluster.add_pod(last)
    try:
        yield
    finally:
        cluster.add_pod(pod)
        cluster.restore_pod_order(pod.node_name, order)


def judge_evicting_attempt(
    scheduler: JudgedScheduler, made: Attempt, node: str, victim: str
) -> PreemptionFinding:
    """The same, of the model's attempt."""
    if made.selected is not None:
        return PreemptionFinding("impossible", best=made.cluster.node(made.selected).name)
    found = preemption(made)
    if found is None or not found.candidates:
        reason = (found.ineligible_reason or found.message) if found else message(made)
        if found and node in found.non_candidates:
            reason = "; ".join(found.non_candidates[node].reasons)
        return PreemptionFinding("impossible", reason=reason)
    theirs = next((each for each in found.candidates if each.node == node), None)
    shown = [*found.candidates[:NODES_AT_MOST]]
    if theirs is not None and theirs not in shown:
        shown[-1] = theirs
    listed = PreemptionFinding(
        "differs",
        tuple(map(_judged, shown)),
        len(found.candidates),
        found.rule,
        found.chosen if node not in found.tied else "",
    )
    if theirs is None:
        rejected = found.non_candidates.get(node)
        reason = "; ".join(rejected.reasons) if rejected else ""
        return listed._replace(verdict="impossible", reason=reason)
    if victim not in [each.pod for each in theirs.victims]:
        return listed._replace(reason=f"{victim} could stay on {node}")
    if node in found.tied:
        return listed._replace(verdict="tie" if len(found.tied) > 1 else "agrees")
    enough = candidates_to_find(scheduler.sampling[made.pod.scheduler_name], len(found.candidates))
    if _wins_in_a_sample(found.candidates, theirs, enough):
        return listed._replace(verdict="sampled")
    return listed


def candidates_to_find(framework: Framework, nodes: int) -> int:
    """Return the number of candidates after which a dry run of so many nodes ends."""
    plugin = next(
        (each for each in framework.post_filter_plugins if isinstance(each, DefaultPreemption)), None
    )
    return nodes if plugin is None else plugin.candidates_to_find(nodes)


def _wins_in_a_sample(candidates: Sequence[Candidate], theirs: Candidate, enough: int) -> bool:
    """Whether a dry run that begins at some node and ends after ``enough`` candidates finds none better."""
    count, at = len(candidates), candidates.index(theirs)
    if enough >= count:
        return False
    starts = ((at - back) % count for back in range(enough))
    return any(
        all(not _is_better(candidates[(start + i) % count], theirs) for i in range(enough))
        for start in starts
    )


def _is_better(one: Candidate, other: Candidate) -> bool:
    """Whether the tie-break rules prefer a candidate: the smallest figures, and of these the one whose most
    important victim started last."""
    *figures, start = one.figures
    *others, other_start = other.figures
    return (figures, other_start or LATEST) < (others, start or LATEST)


def _judged(candidate: Candidate) -> JudgedCandidate:
    return JudgedCandidate(
        candidate.node,
        [each.pod for each in candidate.victims],
        candidate.pdb_violations,
        candidate.highest_priority,
        candidate.priority_sum,
        candidate.earliest_start,
    )


def preemptor_named(event: Manifest) -> tuple[str, str]:
    """Return the key and the uid of the preemptor that an Event Preempted names; each may be ""."""
    related = event.get("related") or {}
    said = PREEMPTED_BY.match(event.get("message") or "")
    uid = related.get("uid") or (said["uid"] if said else "")
    name = related.get("name") or ""
    return f"{related.get('namespace') or 'default'}/{name}" if name else "", uid
