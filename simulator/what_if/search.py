"""The search for the smallest single change that lets a pending pod run.

The search goes through stages, from the smallest kind of change to the largest. A stage proposes changes that
are worth trying. Each is made on the situation's cluster, followed by a scheduling attempt, and undone; it
becomes a suggestion if the attempt succeeds. The search is a generator and can be stopped between any two
steps.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from simulator.what_if import (
    claim_changes,
    deletions,
    device_changes,
    node_changes,
    pod_changes,
    priorities,
    storage,
)
from simulator.what_if.answer import AttemptOutcome, Progress, Suggestion, WhatIfAnswer
from simulator.what_if.edit import Edit
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals, owner_text
from simulator.what_if.situation import Situation

GROUPS_AT_MOST: Final = 4
"""Maximum number of suggestions of one stage."""
ALIKE_AT_MOST: Final = 8
"""Maximum number of further targets that are tried and listed for one suggestion."""
TRIES_AT_MOST: Final = 128
"""Maximum number of changes that one stage tries: a quarter of a second with 5,000 nodes."""
PROGRESS_EVERY: Final = 8
"""Number of tries between two reports. A try takes a few milliseconds."""

ProposalFinder = Callable[[Situation, Obstacles], Proposals]


class SearchStage(NamedTuple):
    """One kind of change. ``nominates``: a change also helps if the pod is nominated to a node by
    preemption."""

    name: str
    find: ProposalFinder
    nominates: bool = False


NOT_QUEUED_STAGES: Final[Sequence[SearchStage]] = (
    SearchStage("scheduling gates", pod_changes.propose_gate_removal, nominates=True),
    SearchStage("profiles", pod_changes.propose_scheduler_names, nominates=True),
    SearchStage("missing claims", claim_changes.propose_missing_claims, nominates=True),
)
"""The stages for a pod that is not queued. No other change helps it."""
STAGES: Final[Sequence[SearchStage]] = (
    SearchStage("cordoned nodes", node_changes.propose_uncordon),
    SearchStage("tolerations", pod_changes.propose_tolerations),
    SearchStage("labels", node_changes.propose_labels),
    SearchStage("taints", node_changes.propose_taint_removals),
    SearchStage("device classes", claim_changes.propose_missing_classes),
    SearchStage("requests", pod_changes.propose_requests),
    SearchStage("numbers of devices", claim_changes.propose_counts),
    SearchStage("host ports", pod_changes.propose_host_ports),
    SearchStage("constraints", pod_changes.propose_constraint_removals),
    SearchStage("device selectors", claim_changes.propose_relaxed_claims),
    SearchStage("preemption policy", priorities.propose_preempting_class, nominates=True),
    SearchStage("priorities", priorities.propose_priorities, nominates=True),
    SearchStage("pods in the way", deletions.propose_deletions),
    SearchStage("devices in use", device_changes.propose_device_releases),
    SearchStage("volumes", pod_changes.propose_volume_removals),
    SearchStage("claims", claim_changes.propose_claim_removals),
    SearchStage("storage", storage.propose_storage),
    SearchStage("devices", device_changes.propose_devices),
    SearchStage("nodes", node_changes.propose_nodes),
)
"""The stages for a queued pod, sorted by cost (:data:`simulator.what_if.proposal.COSTS`)."""
PREEMPTION_STAGES: Final[Sequence[SearchStage]] = tuple(
    stage._replace(nominates=True)
    for stage in STAGES
    if stage.find
    in (
        pod_changes.propose_tolerations,
        pod_changes.propose_host_ports,
        pod_changes.propose_constraint_removals,
        pod_changes.propose_volume_removals,
    )
)
"""Stages that follow if no change lets the pod be bound: with one of these changes it may preempt."""

OUTCOME_RANKS: Final = {"bound": 2, "nominated": 1}


def search(situation: Situation) -> Generator[Progress | Suggestion | WhatIfAnswer, None, None]:
    """Search, and yield progress, suggestions when they are found, and at last the answer.

    The field ``alike`` of suggestions is only set in the answer. Whenever the generator yields or is closed,
    the situation has its original state."""
    yield Progress("as it is", 0, len(STAGES), 0)
    run = _Search(situation)
    now = situation.outcome()
    if now.kind in ("gated", "ignored"):
        yield from run.run_stages(NOT_QUEUED_STAGES, now)
    elif now.kind != "bound":
        yield from run.run_stages(STAGES, now)
        if not run.found and now.kind == "unschedulable":
            yield from run.run_stages(PREEMPTION_STAGES, now)
    suggestions = [
        msgspec.structs.replace(suggestion, alike=run.alike[group]) for group, suggestion in run.found.items()
    ]
    yield WhatIfAnswer(
        pod=situation.pod.key,
        owner=owner_text(situation.pod),
        now=now,
        suggestions=sorted(suggestions, key=lambda s: s.cost),
        lacks=[] if now.kind == "bound" else run.obstacles.lacks(),
        tried=run.tried,
    )


class _Search:
    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.obstacles = Obstacles(situation)
        self.found: dict[tuple[str, ...], Suggestion] = {}
        self.alike: dict[tuple[str, ...], list[str]] = {}
        self.tried = 0

    def run_stages(
        self, stages: Sequence[SearchStage], now: AttemptOutcome
    ) -> Iterator[Progress | Suggestion]:
        for done, stage in enumerate(stages):
            yield Progress(stage.name, done, len(stages), self.tried)
            for tries, suggestion in enumerate(
                self._try_proposals(stage, OUTCOME_RANKS.get(now.kind, 0)), start=1
            ):
                if suggestion is not None:
                    yield suggestion
                elif tries % PROGRESS_EVERY == 0:
                    yield Progress(stage.name, done, len(stages), self.tried)

    def _try_proposals(self, stage: SearchStage, rank: int) -> Iterator[Suggestion | None]:
        """Try the proposals of a stage. Yields once for each try: the suggestion if it is new, otherwise
        None."""
        groups = tries = 0
        proposals = stage.find(self.situation, self.obstacles)
        helped: bool | None = None
        # The generator is sent whether its last proposal helped. For the first one, send(None) is next().
        while (proposal := _next_proposal(proposals, helped)) is not None:
            helped = None
            group = proposal.group
            known = self.found.get(group)
            full = len(self.alike.get(group, ())) == ALIKE_AT_MOST
            if full or (known is None and groups == GROUPS_AT_MOST):
                continue
            if tries == TRIES_AT_MOST:
                return
            tries += 1
            self.tried += 1
            edits = proposal.make()
            if any(edits == said.edits for said in self.found.values()):
                continue  # another stage found the same change
            outcome = self._outcome(
                [*edits, *proposal.follows], stage.nominates and rank < OUTCOME_RANKS["nominated"]
            )
            helped = OUTCOME_RANKS.get(outcome.kind, 0) > rank
            if not helped:
                yield None
            elif known is not None:
                self.alike[group].append(proposal.target)
                yield None
            else:
                groups += 1
                self.alike[group] = []
                self.found[group] = suggestion = _to_suggestion(proposal, edits, outcome)
                yield suggestion

    def _outcome(self, edits: Sequence[Edit], nominates: bool) -> AttemptOutcome:
        """Return the result of an attempt with these edits. ``nominates``: False = preemption is not
        tried."""
        with self.situation.with_changes(edit.change for edit in edits):
            if not nominates and not self.situation.passing().any():
                return AttemptOutcome("unschedulable")
            return self.situation.outcome()


def _next_proposal(proposals: Proposals, helped: bool | None) -> Proposal | None:
    try:
        return proposals.send(helped)
    except StopIteration:
        return None


def _to_suggestion(proposal: Proposal, edits: list[Edit], outcome: AttemptOutcome) -> Suggestion:
    return Suggestion(
        kind=proposal.kind,
        target=proposal.target,
        what=proposal.what,
        before=proposal.before,
        after=proposal.after,
        cost=round(proposal.cost, 3),
        edits=edits,
        outcome=outcome,
        follows=[*proposal.follows],
        unit=proposal.unit,
    )
