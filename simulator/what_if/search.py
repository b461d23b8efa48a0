"""The search for the smallest single change that lets a pending pod run.

Kinds of changes are gone through from the smallest to the largest. Each proposes what is promising, by
columns; every proposal is then made on the situation's own cluster, and it is a suggestion only if the model
then does what is wanted. Whoever drives the search may stop between any two steps.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from simulator.what_if import deletions, node_changes, pod_changes, priorities, storage
from simulator.what_if.answer import Answer, Outcome, Progress, Suggestion
from simulator.what_if.edit import Edit
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals, owner
from simulator.what_if.situation import Situation

GROUPS_AT_MOST: Final = 4
"""Suggestions of one kind: the smallest; more would hide the other kinds."""
ALIKE_AT_MOST: Final = 8
"""Further targets of one suggestion that are tried and named."""
TRIES_AT_MOST: Final = 128
"""Changes of one kind that are tried: at 5,000 nodes a quarter of a second."""
PROGRESS_EVERY: Final = 8
"""Tries between two reports, a few milliseconds each."""

Find = Callable[[Situation, Obstacles], Proposals]


class Stage(NamedTuple):
    """``nominates``: it is a success, too, if the pod is nominated to a node and its victims evicted."""

    name: str
    find: Find
    nominates: bool = False


NOT_QUEUED: Final[Sequence[Stage]] = (
    Stage("scheduling gates", pod_changes.gates, nominates=True),
    Stage("profiles", pod_changes.schedulers, nominates=True),
)
"""For a pod that the scheduler does not even try: nothing else helps it."""
STAGES: Final[Sequence[Stage]] = (
    Stage("cordoned nodes", node_changes.uncordon),
    Stage("tolerations", pod_changes.tolerations),
    Stage("labels", node_changes.labels),
    Stage("taints", node_changes.taints),
    Stage("requests", pod_changes.requests),
    Stage("host ports", pod_changes.host_ports),
    Stage("constraints", pod_changes.constraints),
    Stage("preemption policy", priorities.policy, nominates=True),
    Stage("priorities", priorities.priorities, nominates=True),
    Stage("pods in the way", deletions.pods),
    Stage("volumes", pod_changes.volumes),
    Stage("storage", storage.storage),
    Stage("nodes", node_changes.more),
)
"""By their costs, see :data:`simulator.what_if.proposal.COSTS`."""
LAST_RESORT: Final[Sequence[Stage]] = tuple(
    stage._replace(nominates=True)
    for stage in STAGES
    if stage.find
    in (pod_changes.tolerations, pod_changes.host_ports, pod_changes.constraints, pod_changes.volumes)
)
"""Gone through only where no single change gets the pod bound: with one of these it may preempt."""

RANKS: Final = {"bound": 2, "nominated": 1}


def search(situation: Situation) -> Generator[Progress | Suggestion | Answer, None, None]:
    """Reports, and suggestions as they are found; the answer is the last. (A suggestion's ``alike`` are in
    the answer only.) The situation is as it was whenever this yields, and after it is closed."""
    yield Progress("as it is", 0, len(STAGES), 0)
    run = _Search(situation)
    now = situation.outcome()
    if now.kind in ("gated", "ignored"):
        yield from run.through(NOT_QUEUED, now)
    elif now.kind != "bound":
        yield from run.through(STAGES, now)
        if not run.found and now.kind == "unschedulable":
            yield from run.through(LAST_RESORT, now)
    suggestions = [
        msgspec.structs.replace(suggestion, alike=run.alike[group]) for group, suggestion in run.found.items()
    ]
    yield Answer(
        pod=situation.pod.key,
        owner=owner(situation.pod),
        now=now,
        suggestions=sorted(suggestions, key=lambda s: s.cost),
        lacks=[] if now.kind == "bound" else run.obstacles.lacks(),
        tried=run.tried,
    )


def answer(situation: Situation) -> Answer:
    """The same, gone through to the end."""
    *_, last = search(situation)
    assert isinstance(last, Answer)
    return last


class _Search:
    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.obstacles = Obstacles(situation)
        self.found: dict[tuple[str, ...], Suggestion] = {}
        self.alike: dict[tuple[str, ...], list[str]] = {}
        self.tried = 0

    def through(self, stages: Sequence[Stage], now: Outcome) -> Iterator[Progress | Suggestion]:
        for done, stage in enumerate(stages):
            yield Progress(stage.name, done, len(stages), self.tried)
            for tries, suggestion in enumerate(self._tried(stage, RANKS.get(now.kind, 0)), start=1):
                if suggestion is not None:
                    yield suggestion
                elif tries % PROGRESS_EVERY == 0:
                    yield Progress(stage.name, done, len(stages), self.tried)

    def _tried(self, stage: Stage, rank: int) -> Iterator[Suggestion | None]:
        """One for each try: None where it came to nothing, or to more of the same."""
        groups = tries = 0
        proposals = stage.find(self.situation, self.obstacles)
        helped: bool | None = None
        # send(None) is next(): who proposes hears whether the last one helped.
        while (proposal := _next(proposals, helped)) is not None:
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
            outcome = self._outcome(edits, stage.nominates and rank < RANKS["nominated"])
            helped = RANKS.get(outcome.kind, 0) > rank
            if not helped:
                yield None
            elif known is not None:
                self.alike[group].append(proposal.target)
                yield None
            else:
                groups += 1
                self.alike[group] = []
                self.found[group] = suggestion = _suggestion(proposal, edits, outcome)
                yield suggestion

    def _outcome(self, edits: Sequence[Edit], nominates: bool) -> Outcome:
        """Where only a bound pod counts, preemption is not gone into."""
        with self.situation.supposing(edit.change for edit in edits):
            if not nominates and not self.situation.passing().any():
                return Outcome("unschedulable")
            return self.situation.outcome()


def _next(proposals: Proposals, helped: bool | None) -> Proposal | None:
    try:
        return proposals.send(helped)
    except StopIteration:
        return None


def _suggestion(proposal: Proposal, edits: list[Edit], outcome: Outcome) -> Suggestion:
    return Suggestion(
        kind=proposal.kind,
        target=proposal.target,
        what=proposal.what,
        before=proposal.before,
        after=proposal.after,
        cost=round(proposal.cost, 3),
        edits=edits,
        outcome=outcome,
        unit=proposal.unit,
    )
