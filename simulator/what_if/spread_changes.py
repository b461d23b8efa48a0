"""Proposals to relax a topology spread constraint of the pending pod, without removing it."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.framework.node_batch import NodeBatch
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.pod_topology_spread.filtering import HardSpread, pre_filter_state
from simulator.what_if.answer import ChangeKind
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals, pod_proposal
from simulator.what_if.situation import Situation

POLICIES: Final = {"nodeTaintsPolicy": ("Ignore", "Honor"), "nodeAffinityPolicy": ("Honor", "Ignore")}
"""The policy that decides which nodes count -> its default, and the other value."""
SKEWS_AT_MOST: Final = 4
"""Maximum number of values of maxSkew that are tried for a constraint, the smallest first."""


class _OwnConstraint(NamedTuple):
    """A constraint of the pod with DoNotSchedule."""

    place: int
    """The index among all constraints of the pod."""
    manifest: Manifest
    spread: HardSpread
    """The numbers of pods in its domains."""

    @property
    def key(self) -> str:
        key: str = self.manifest["topologyKey"]
        return key


def propose_spread_relaxations(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose for each constraint, as far as it may help: the other value of a policy, a smaller minDomains,
    the smallest maxSkew that helps, and ScheduleAnyway."""
    constraints = [*_constraints(situation)]
    soft = {
        each["topologyKey"]
        for each in situation.pod.spec.get("topologySpreadConstraints") or ()
        if each["whenUnsatisfiable"] == "ScheduleAnyway"
    }
    for each in constraints:
        yield from _policies(situation, each)
        yield from _domains(situation, each)
    for each in constraints:
        for skew in _skews(situation, obstacles, each):
            now = each.manifest["maxSkew"]
            change = _setter("maxSkew", skew)
            made = _proposal(situation, "spread-skew", each, change, before=str(now), after=str(skew))
            if (yield made._replace(measure=0.3 * (1 - now / skew))):
                break
    for each in constraints:
        if each.key not in soft:  # the API server accepts one constraint of each kind for a key
            yield _proposal(
                situation,
                "spread-anyway",
                each,
                _schedule_anyway,
                before="DoNotSchedule",
                after="ScheduleAnyway",
            )


def _constraints(situation: Situation) -> Iterator[_OwnConstraint]:
    pod, framework = situation.pod, situation.framework
    plugin = framework.plugins.get("PodTopologySpread") if framework else None
    listed = [
        (index, each)
        for index, each in enumerate(pod.spec.get("topologySpreadConstraints") or ())
        if each["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    if not listed or not isinstance(plugin, PodTopologySpread):
        return
    constraints = plugin.constraints(pod, situation.cluster, "DoNotSchedule")
    state = pre_filter_state(situation.cluster, pod, constraints)
    for (index, manifest), spread in zip(listed, state.spreads, strict=True):
        yield _OwnConstraint(index, manifest, spread)


def _policies(situation: Situation, constraint: _OwnConstraint) -> Iterator[Proposal]:
    for field, (default, other) in POLICIES.items():
        now = constraint.manifest.get(field) or default
        new = other if now == default else default
        before, after = f"{field}: {now}", f"{field}: {new}"
        change = _setter(field, new)
        yield _proposal(situation, "spread-policy", constraint, change, before=before, after=after)


def _domains(situation: Situation, constraint: _OwnConstraint) -> Iterator[Proposal]:
    """Propose the number of domains that there are, if minDomains is larger."""
    wanted, there = constraint.spread.constraint.min_domains, constraint.spread.domain_count
    if 0 < there < wanted:
        change = _setter("minDomains", there)
        yield _proposal(situation, "spread-domains", constraint, change, before=str(wanted), after=str(there))


def _skews(situation: Situation, obstacles: Obstacles, constraint: _OwnConstraint) -> list[int]:
    """Return the skews that the pod would cause on nodes which only spread constraints reject."""
    rows = obstacles.only(PodTopologySpread.name)
    rows = rows[constraint.spread.numbers[rows] != 0]
    skews = constraint.spread.skews(NodeBatch(situation.cluster, rows))
    larger: list[int] = np.unique(skews[skews > constraint.manifest["maxSkew"]]).tolist()
    return larger[:SKEWS_AT_MOST]


def _setter(field: str, value: object) -> Callable[[Manifest], None]:
    def change(constraint: Manifest) -> None:
        constraint[field] = value

    return change


def _schedule_anyway(constraint: Manifest) -> None:
    constraint["whenUnsatisfiable"] = "ScheduleAnyway"
    constraint.pop("minDomains", None)  # which only DoNotSchedule may have


def _proposal(
    situation: Situation,
    kind: ChangeKind,
    constraint: _OwnConstraint,
    change: Callable[[Manifest], None],
    *,
    before: str,
    after: str,
) -> Proposal:
    def change_pod(new: Manifest) -> None:
        change(new["spec"]["topologySpreadConstraints"][constraint.place])

    return pod_proposal(situation, kind, constraint.key, change_pod, before=before, after=after)
