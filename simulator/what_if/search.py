"""The search for the smallest changes that let a pending pod run: one change, or two if no single one helps.

The search goes through stages, from the smallest kind of change to the largest. A stage proposes changes that
are worth trying. Each is made on the situation's cluster, followed by a scheduling attempt, and undone; it
becomes a suggestion if the attempt succeeds. If there is none, each first change that may be one of two is
made, and the stages are searched again on the result, the cheapest pairs first. The search is a generator and
can be stopped between any two steps."""

from collections.abc import Generator, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.objects.pod import Pod
from simulator.what_if.answer import AttemptOutcome, NodeObstacles, Progress, Suggestion, WhatIfAnswer
from simulator.what_if.edit import Edit, combine_edits
from simulator.what_if.gang import GangSituation, find_gang
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import COSTS, Proposal, Proposals, owner_text
from simulator.what_if.replacements import outcome_with_replacements
from simulator.what_if.search_stages import (
    FIRST_STAGES,
    GANG_STAGES,
    MIN_COUNT_STAGE,
    NOT_QUEUED_STAGES,
    PREEMPTION_STAGES,
    STAGES,
    SearchStage,
)
from simulator.what_if.situation import Situation

GROUPS_AT_MOST: Final = 4
"""Maximum number of suggestions of one stage."""
ALIKE_AT_MOST: Final = 8
"""Maximum number of further targets that are tried and listed for one suggestion."""
TRIES_AT_MOST: Final = 128
"""Maximum number of changes that one stage tries: a quarter of a second with 5,000 nodes."""
PROGRESS_EVERY: Final = 8
"""Number of tries between two reports. A try takes a few milliseconds."""

FIRST_TARGETS_AT_MOST: Final = 2
"""Maximum number of targets of the same change that are tried as the first one of two."""
FIRSTS_AT_MOST: Final = 8
"""Maximum number of first changes of one stage."""
PAIR_WORK_AT_MOST: Final = 512
"""Maximum number of tries and of stages in the search for pairs."""
PAIR_TRIES_AT_MOST: Final = 16
"""Maximum number of tries of one stage after one first change."""

OUTCOME_RANKS: Final = {"bound": 2, "nominated": 1}


def search(
    situation: Situation, turns: Sequence[str] = ()
) -> Generator[Progress | Suggestion | WhatIfAnswer, None, None]:
    """Search, and yield progress, suggestions when they are found, and at last the answer. A pod of a gang is
    asked about with all of it; ``turns`` are the gang's pods in the order of their turns, if it is known.

    The fields ``alike`` and ``alike_more`` of suggestions are only set in the answer. Whenever the generator
    yields or is closed, the situation has its original state."""
    asked = situation
    gang = find_gang(asked)
    if gang is not None:
        situation = GangSituation(asked, gang, turns)
    yield Progress("as it is", 0, len(STAGES), 0)
    run = _Search(situation)
    now = situation.outcome()
    run.rank = OUTCOME_RANKS.get(now.kind, 0)
    if gang is not None:
        if now.kind != "bound":
            yield from run.run_stages([MIN_COUNT_STAGE] if now.kind == "gated" else GANG_STAGES)
    elif now.kind in ("gated", "ignored"):
        yield from run.run_stages(NOT_QUEUED_STAGES)
        if not run.found:
            yield from run.run_pairs(NOT_QUEUED_STAGES, (*NOT_QUEUED_STAGES, *STAGES))
    elif now.kind != "bound":
        yield from run.run_stages(STAGES)
        if not run.found and now.kind == "unschedulable":
            yield from run.run_stages(PREEMPTION_STAGES)
        if not run.found and now.kind == "unschedulable":
            yield from run.run_pairs(FIRST_STAGES, STAGES)
    suggestions = [
        msgspec.structs.replace(suggestion, alike=run.targets[group][1:], alike_more=run.untried[group])
        for group, suggestion in run.found.items()
    ]
    unqueued = not run.found and gang is None and now.kind in ("gated", "ignored")
    yield WhatIfAnswer(
        pod=asked.pod.key,
        owner=owner_text(asked.pod),
        now=now,
        suggestions=sorted(suggestions, key=lambda s: s.cost),
        lacks=[] if now.kind == "bound" or (gang and now.kind == "gated") else run.lacks(),
        tried=run.tried,
        when_queued=run.outcome_when_queued() if unqueued else None,
        group=gang.key if gang else "",
    )


Group = tuple[object, ...]
"""Equal for suggestions that differ only in their targets."""


class _FirstChange(NamedTuple):
    """The first one of two changes. ``deleted`` are the pods that it deletes."""

    proposal: Proposal
    edits: list[Edit]
    stored: dict[tuple[str, str], Manifest | None]
    """The objects that it changes, as they were before."""
    deleted: list[Pod]
    stage: int
    """The number of its stage among the first stages."""

    @property
    def key(self) -> tuple[str, ...]:
        return (*self.proposal.group, self.proposal.target)

    def combined_with(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return the edits of both changes; ``edits`` were made on the result of the first one."""
        return combine_edits(self.edits, edits, lambda resource, key: self.stored[resource, key])


class _Search:
    """A running search. ``rank``: of the outcome without a change; a change must give a higher one."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        with situation.as_for_the_pod():
            self.obstacles = Obstacles(situation)
        self.rank = 0
        self.found: dict[Group, Suggestion] = {}
        self.targets: dict[Group, list[str]] = {}
        """The targets for which each suggestion was tried and helps, first its own."""
        self.untried: dict[Group, int] = {}
        """Numbers of further targets, which were not tried."""
        self.further_targets: dict[Group, list[Proposal]] = {}
        """The changes of other targets that are equal to a first change."""
        self.tried = 0

    def lacks(self) -> list[NodeObstacles]:
        with self.situation.as_for_the_pod():
            return self.obstacles.lacks()

    def run_stages(self, stages: Sequence[SearchStage]) -> Iterator[Progress | Suggestion]:
        for done, stage in enumerate(stages):
            yield Progress(stage.name, done, len(stages), self.tried)
            tries = self._try_proposals(stage, self.obstacles, TRIES_AT_MOST)
            for number, suggestion in enumerate(tries, start=1):
                if suggestion is not None:
                    yield suggestion
                elif number % PROGRESS_EVERY == 0:
                    yield Progress(stage.name, done, len(stages), self.tried)

    def run_pairs(
        self, first_stages: Sequence[SearchStage], stages: Sequence[SearchStage]
    ) -> Iterator[Progress | Suggestion]:
        """Try pairs of changes, in the order of the least cost that they can have, until a bound is reached.

        The bound is in work, so that the answer does not depend on the speed of the machine."""
        yield Progress("pairs of changes", 0, PAIR_WORK_AT_MOST, self.tried)
        firsts = self._first_changes(first_stages)
        ways = sorted(
            (first.proposal.cost + COSTS[stage.cheapest], number, place)
            for number, first in enumerate(firsts)
            for place, stage in enumerate(stages)
        )
        obstacles: dict[tuple[str, ...], Obstacles] = {}
        tried: set[frozenset[object]] = set()
        work = 0
        for _, number, place in ways:
            if work >= PAIR_WORK_AT_MOST or len(self.found) >= GROUPS_AT_MOST:
                return
            first, stage, before, known = firsts[number], stages[place], self.tried, {*self.found}
            yield from self._try_seconds(first, stage, tried, obstacles)
            for group in [each for each in self.found if each not in known]:
                if self.targets[group] == [first.proposal.target]:
                    yield from self._try_other_nodes(group, first, stage, tried)
            work += 1 + self.tried - before
            yield Progress("pairs of changes", work, PAIR_WORK_AT_MOST, self.tried)

    def _try_seconds(
        self,
        first: _FirstChange,
        stage: SearchStage,
        pairs: set[frozenset[object]],
        obstacles: dict[tuple[str, ...], Obstacles],
    ) -> Iterator[Suggestion]:
        """Make the first change, and try those of a stage as the second one. ``obstacles``: those after each
        first change, as far as they are known."""
        made = (*first.edits, *first.proposal.follows)
        with self.situation.with_changes(edit.change for edit in made):
            if first.key not in obstacles:
                obstacles[first.key] = Obstacles(self.situation)
            steps = [*self._try_proposals(stage, obstacles[first.key], PAIR_TRIES_AT_MOST, first, pairs)]
        yield from filter(None, steps)

    def _try_other_nodes(
        self, group: Group, first: _FirstChange, stage: SearchStage, pairs: set[frozenset[object]]
    ) -> Iterator[Suggestion]:
        """Try a pair that changes one node on the other nodes, too."""
        others = self.further_targets.get(first.proposal.group, [])
        for number, proposal in enumerate(others):
            if len(self.targets[group]) > ALIKE_AT_MOST or number == PAIR_TRIES_AT_MOST:
                self.untried[group] += len(others) - number
                return
            yield from self._try_seconds(self._first_change(proposal, first.stage), stage, pairs, {})

    def outcome_when_queued(self) -> AttemptOutcome | None:
        """Return the result with the first change that puts the pod into the queue; None if there is none."""
        for stage in NOT_QUEUED_STAGES:
            for proposal in stage.find(self.situation, self.obstacles):
                with self.situation.with_changes(edit.change for edit in proposal.make()):
                    outcome = self.situation.outcome()
                if outcome.kind not in ("gated", "ignored"):
                    return outcome
        return None

    def _first_changes(self, stages: Sequence[SearchStage]) -> list[_FirstChange]:
        """Return the changes that may be the first one of two, the cheapest first, and changes of the pod
        before those of one node of many."""
        self.obstacles.others = 1
        found: list[_FirstChange] = []
        for number, stage in enumerate(stages):
            targets: dict[Group, int] = {}
            chosen = 0
            for proposal in stage.find(self.situation, self.obstacles):
                group = proposal.group
                targets[group] = targets.get(group, 0) + 1
                if targets[group] > 1:
                    self.further_targets.setdefault(group, []).append(proposal)
                if chosen < FIRSTS_AT_MOST and targets[group] <= FIRST_TARGETS_AT_MOST:
                    chosen += 1
                    found.append(self._first_change(proposal, number))
        self.obstacles.others = 0
        own = self.situation.pod.key
        return sorted(found, key=lambda each: (each.proposal.cost, each.proposal.target != own, each.stage))

    def _first_change(self, proposal: Proposal, stage: int) -> _FirstChange:
        edits = proposal.make()
        places = {(edit.resource, edit.key) for edit in edits}
        stored = {place: self.situation.manifest_of(*place) for place in places}
        return _FirstChange(proposal, edits, stored, self._deleted(edits), stage)

    def _try_proposals(
        self,
        stage: SearchStage,
        obstacles: Obstacles,
        tries_at_most: int,
        first: _FirstChange | None = None,
        pairs: set[frozenset[object]] | None = None,
    ) -> Iterator[Suggestion | None]:
        """Try the proposals of a stage. Yields once for each try: the suggestion if it is new, otherwise
        None. With ``first``, which has been made, each is tried as the second one of two changes, unless
        it is in ``pairs``."""
        groups = tries = 0
        proposals = stage.find(self.situation, obstacles)
        helped: bool | None = None
        # The generator is sent whether its last proposal helped. For the first one, send(None) is next().
        while (proposal := _next_proposal(proposals, helped)) is not None:
            helped = None
            group, target = self._group_and_target(proposal, first)
            known = self.found.get(group)
            if known is not None and target in self.targets[group]:
                continue  # the same change
            full = known is not None and len(self.targets[group]) > ALIKE_AT_MOST
            if full or tries == tries_at_most or (known is None and groups == GROUPS_AT_MOST):
                if known is not None:
                    self.untried[group] += 1
                continue
            if first is not None and pairs is not None:
                pair = frozenset({first.key, (*proposal.group, proposal.target)})
                if pair in pairs or len(pair) == 1:
                    continue
                pairs.add(pair)
            tries += 1
            self.tried += 1
            made = proposal.make()
            if any(made == said.edits for said in self.found.values()):
                continue  # another stage found the same change
            outcome = self._outcome([*made, *proposal.follows], first, nominates=stage.nominates)
            helped = OUTCOME_RANKS.get(outcome.kind, 0) > self.rank
            if not helped:
                yield None
            elif known is not None:
                self.targets[group].append(target)
                yield None
            else:
                groups += 1
                self.targets[group], self.untried[group] = [target], 0
                self.found[group] = suggestion = self._to_suggestion(proposal, made, outcome, first)
                yield suggestion

    def _group_and_target(self, proposal: Proposal, first: _FirstChange | None) -> tuple[Group, str]:
        """Return the group of a suggestion, and what it changes. A pair has the same ones in either order;
        its targets other than the pending pod are named."""
        if first is None:
            return proposal.group, proposal.target
        one = first.proposal
        targets = sorted({one.target, proposal.target} - {self.situation.pod.key})
        group = (*sorted((one.group, proposal.group)),)
        return group, " and ".join(targets) or self.situation.pod.key

    def _outcome(
        self, edits: Sequence[Edit], first: _FirstChange | None, *, nominates: bool
    ) -> AttemptOutcome:
        """Return the result of an attempt with these edits. ``nominates``: False = preemption is not
        tried."""
        nominates = nominates and self.rank < OUTCOME_RANKS["nominated"]
        deleted = [*(first.deleted if first else ()), *self._deleted(edits)]
        with self.situation.with_changes(edit.change for edit in edits):
            if not nominates and not self.situation.can_be_bound():
                return AttemptOutcome("unschedulable")
            outcome = self.situation.outcome()
            evicts = [pod for key in outcome.victims if (pod := self.situation.pod_of(key)) is not None]
            if OUTCOME_RANKS.get(outcome.kind, 0) <= self.rank or outcome.gang or not (deleted or evicts):
                return outcome
            return outcome_with_replacements(self.situation, outcome, deleted, evicts=evicts)

    def _deleted(self, edits: Sequence[Edit]) -> list[Pod]:
        keys = (edit.key for edit in edits if edit.resource == PODS.id and edit.manifest is None)
        return [pod for key in keys if (pod := self.situation.pod_of(key)) is not None]

    def _to_suggestion(
        self, proposal: Proposal, edits: list[Edit], outcome: AttemptOutcome, first: _FirstChange | None
    ) -> Suggestion:
        parts, follows, cost = [proposal.part], [*proposal.follows], proposal.cost
        if first is not None:
            parts.insert(0, first.proposal.part)
            edits = first.combined_with(edits)
            follows[:0] = first.proposal.follows
            cost += first.proposal.cost
        return Suggestion(
            **msgspec.structs.asdict(parts[0]),
            further=parts[1:],
            cost=round(cost, 3),
            edits=edits,
            outcome=outcome,
            follows=follows,
        )


def _next_proposal(proposals: Proposals, helped: bool | None) -> Proposal | None:
    try:
        return proposals.send(helped)
    except StopIteration:
        return None
