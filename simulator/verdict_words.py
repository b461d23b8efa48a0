"""The words for verdicts on the decisions of a real scheduler: the one table for reports and the page, which
translates them. Values are inserted by their names, as by ``%``."""

from collections.abc import Iterator, Mapping
from typing import Final

from simulator.trace import BindingJudged, FailureJudged, PreemptionJudged
from simulator.trace.verdicts import JudgedCandidate, JudgedState, Verdict
from simulator.words import NO_START_TIME, PREEMPTION_RULES, gettext_noop, plural_noop, spoken_duration

AnyVerdict = BindingJudged | FailureJudged | PreemptionJudged
Sentence = tuple[str, Mapping[str, str]]
"""A text with its values."""

VERDICTS: Final[dict[Verdict, str]] = {
    "agrees": gettext_noop("agrees"),
    "tie": gettext_noop("tie"),
    "sampled": gettext_noop("sampled"),
    "differs": gettext_noop("differs"),
    "impossible": gettext_noop("impossible"),
    "not this scheduler": gettext_noop("not this scheduler"),
    "unknown": gettext_noop("unknown"),
}

COUNTED: Final[dict[Verdict, tuple[str, str]]] = {
    "agrees": plural_noop("%(n)s agrees", "%(n)s agree"),
    "tie": plural_noop("%(n)s tie", "%(n)s tie"),
    "sampled": plural_noop("%(n)s sampled", "%(n)s sampled"),
    "differs": plural_noop("%(n)s differs", "%(n)s differ"),
    "impossible": plural_noop("%(n)s impossible", "%(n)s impossible"),
    "not this scheduler": plural_noop("%(n)s not this scheduler", "%(n)s not this scheduler"),
    "unknown": plural_noop("%(n)s unknown", "%(n)s unknown"),
}

ONLY_NODE: Final = gettext_noop("%(node)s is the only node that passes the filters.")
BEST: Final = gettext_noop("%(node)s has the highest total, %(total)s.")
ONE_OF_THE_BEST: Final = gettext_noop("%(node)s is one of %(equal)s nodes with the highest total, %(total)s.")
FIGURES: Final = gettext_noop("%(node)s had %(total)s, %(best)s %(best_total)s: %(figures)s.")
FIGURE: Final = gettext_noop("%(plugin)s %(theirs)s, not %(ours)s")
SAMPLED: Final = gettext_noop(
    "%(node)s is the best of the %(looked_at)s feasible nodes from %(first)s on, if only these are scored "
    "(percentageOfNodesToScore)."
)
NOMINATED: Final = gettext_noop("The pod is nominated to %(best)s, which passes the filters.")
OTHER_PLACEMENT: Final = "the model chooses another placement for the group"
IN_OTHER_PLACEMENT: Final = gettext_noop(
    "The model chooses another placement for the pod group, in which the pod gets %(best)s."
)
NO_PLACEMENT: Final = "the node is in no placement of the group"
REJECTED: Final = gettext_noop("%(plugin)s rejects %(node)s: %(reason)s.")
CANNOT_BE: Final = gettext_noop("The model cannot choose %(node)s: %(reason)s.")
CHOOSES: Final = gettext_noop("The model chooses %(best)s.")
FITS_NOWHERE: Final = gettext_noop("For the model it fits nowhere.")
NO_PROFILE: Final = gettext_noop("No profile has its schedulerName, %(scheduler)s.")
CREATED_BOUND: Final = gettext_noop("It was created with its node.")

SAME_MESSAGE: Final = gettext_noop("The model's message is the same.")
OTHER_MESSAGE: Final = gettext_noop("The model's message: %(model)s")
BINDS: Final = gettext_noop("The model binds it to %(best)s.")
SAME_WITH_OTHER_NODES: Final = gettext_noop(
    "The model's message is the same if it chooses other nodes with the highest total for pods of the group."
)
OTHER_PLACEMENT_FIRST: Final = "another placement is tried first"
SAME_WITH_OTHER_PLACEMENT: Final = gettext_noop(
    "The model's message is the same if another placement is tried first."
)
FAILED_LATER: Final = gettext_noop("The scheduler had found a node, and failed after that.")

UNKNOWN_PREEMPTOR: Final = gettext_noop("It is not known for which pod.")
FOR_GROUP: Final = "for the whole pod group"
EVICTS_FOR_GROUP: Final = gettext_noop("The model evicts it for the whole pod group, too.")
EQUAL_VICTIMS: Final = "one of several equally important pods"
ONE_OF_EQUAL_VICTIMS: Final = gettext_noop(
    "Other pods on %(node)s have the same priority and start time: which of them is evicted depends on the "
    "order of the scheduler's cache."
)
EVICTS_OTHERS_FOR_GROUP: Final = gettext_noop(
    "The model evicts other pods for the whole pod group, and not this one."
)
NO_CANDIDATE: Final = gettext_noop("%(node)s is no candidate for %(preemptor)s: %(reason)s.")
NEEDS_NO_VICTIM: Final = gettext_noop("%(preemptor)s fits on %(best)s without evictions.")
CAN_STAY: Final = gettext_noop("The model evicts other pods from %(node)s, and not this one.")
FREES: Final = gettext_noop("The model frees %(best)s.")
CANDIDATES: Final = gettext_noop("Candidates: %(count)s (%(candidates)s).")
CANDIDATE: Final = gettext_noop("%(node)s without %(victims)s")
SAMPLED_CANDIDATES: Final = gettext_noop(
    "%(node)s is the best where only a part of the nodes is tried (minCandidateNodesPercentage)."
)

CUT_OFF: Final = "it was decided while the watch was cut off"
"""The reason of such a verdict."""
WAS_CUT_OFF: Final = gettext_noop(
    "Not all states before it are known: the watch was cut off, or had just begun."
)
STATES_LEFT: Final = "not all states were tried"
NOT_TRIED: Final = "the cycle of its pod group would take too long"
NO_POD_GROUP: Final = "its PodGroup is not known"
"""The reasons of such verdicts."""
UNTRIED: Final = (NOT_TRIED, NO_POD_GROUP)
"""Those that may not hold in another state, or later."""
NOT_ALL_TRIED: Final = gettext_noop(
    "Not all states were tried in which it may have been decided: too many decisions differ at once."
)
GROUP_NOT_TRIED: Final = gettext_noop(
    "The cycle of its pod group was not tried: it would take the mirror too long."
)
UNKNOWN_POD_GROUP: Final = gettext_noop("Its PodGroup is not known, so the cycle of its group was not tried.")
OLDER: Final = gettext_noop("In the state of %(time)s before (resourceVersion below %(version)s).")
ASSUMED: Final = gettext_noop("Pods count that were bound later: %(pods)s.")
UNDONE: Final = gettext_noop("Pods do not count that were bound shortly before: %(pods)s.")
UNKNOWN_REASONS: Final = {
    CUT_OFF: WAS_CUT_OFF,
    STATES_LEFT: NOT_ALL_TRIED,
    NOT_TRIED: GROUP_NOT_TRIED,
    NO_POD_GROUP: UNKNOWN_POD_GROUP,
}
"""The sentences for decisions that are not judged, by their reasons."""
JUDGED_AS: Final = gettext_noop("Judged by the rules of %(version)s, the nearest version that is modelled.")


def reasons_of(event: AnyVerdict, figure: str = FIGURE, candidate: str = CANDIDATE) -> Iterator[Sentence]:
    """Yield the sentences that say why. ``figure``, ``candidate``: the translations of FIGURE and
    CANDIDATE."""
    match event:
        case BindingJudged():
            yield from _of_binding(event, figure)
        case FailureJudged():
            yield from _of_failure(event)
        case PreemptionJudged():
            yield from _of_preemption(event, candidate)
    if event.verdict not in ("not this scheduler", "unknown"):
        yield from _of_state(event.state)
    if event.judged_as:
        yield JUDGED_AS, {"version": event.judged_as}


def summary_text(counts: Mapping[str, int]) -> str:
    """Return "412 agree, 3 tie, 1 differs"; "" = there are none."""
    return ", ".join(
        COUNTED[verdict][counts[verdict] != 1] % {"n": f"{counts[verdict]:,}"}
        for verdict in COUNTED
        if counts.get(verdict)
    )


def in_english(event: AnyVerdict) -> str:
    return " ".join(text % values for text, values in reasons_of(event))


def _of_binding(event: BindingJudged, figure: str) -> Iterator[Sentence]:
    values = {
        "node": event.node,
        "best": event.best,
        "total": f"{event.total:,}",
        "best_total": f"{event.best_total:,}",
        "equal": f"{event.equal:,}",
        "plugin": event.plugin,
        "reason": event.reason,
        "scheduler": event.scheduler,
        "first": event.first,
        "looked_at": f"{event.looked_at:,}",
        "figures": "; ".join(
            figure % {"plugin": each.plugin, "theirs": each.theirs, "ours": each.best}
            for each in event.scores
        ),
    }
    match event.verdict:
        case "agrees":
            yield BEST if event.equal else ONLY_NODE, values
        case "tie":
            yield ONE_OF_THE_BEST, values
        case "differs" if event.reason == OTHER_PLACEMENT:
            yield IN_OTHER_PLACEMENT, values
        case "differs" | "sampled":
            yield FIGURES if event.scores else NOMINATED, values
            if event.verdict == "sampled":
                yield SAMPLED, values
        case "impossible":
            yield REJECTED if event.plugin else CANNOT_BE, values
            yield CHOOSES if event.best else FITS_NOWHERE, values
        case "unknown":
            yield UNKNOWN_REASONS.get(event.reason, WAS_CUT_OFF), values
        case _:
            yield NO_PROFILE if event.reason == event.scheduler else CREATED_BOUND, values


def _of_failure(event: FailureJudged) -> Iterator[Sentence]:
    values = {"model": event.model, "best": event.best, "scheduler": event.scheduler}
    match event.verdict:
        case "agrees":
            yield SAME_MESSAGE, values
        case "tie" if event.model == OTHER_PLACEMENT_FIRST:
            yield SAME_WITH_OTHER_PLACEMENT, values
        case "tie":
            yield SAME_WITH_OTHER_NODES, values
        case "unknown":
            yield UNKNOWN_REASONS.get(event.model, FAILED_LATER), values
        case "not this scheduler":
            yield NO_PROFILE, values
        case _:
            yield BINDS if event.best else OTHER_MESSAGE, values


def _of_preemption(event: PreemptionJudged, candidate: str) -> Iterator[Sentence]:
    freed = event.best or event.node
    chosen = next((each for each in event.candidates if each.node == freed), None)
    values = {
        "node": event.node,
        "preemptor": event.preemptor,
        "best": event.best,
        "reason": event.reason,
        "scheduler": event.scheduler,
        "count": f"{event.candidate_count:,}",
        "candidates": "; ".join(
            candidate % {"node": each.node, "victims": ", ".join(each.victims)} for each in event.candidates
        ),
    }
    match event.verdict:
        case "unknown":
            yield UNKNOWN_REASONS.get(event.reason, UNKNOWN_PREEMPTOR), values
            return
        case "agrees" if event.reason == FOR_GROUP:
            yield EVICTS_FOR_GROUP, values
        case "tie" if event.reason == FOR_GROUP:
            yield SAME_WITH_OTHER_NODES, values
        case "tie" if event.reason == EQUAL_VICTIMS:
            yield ONE_OF_EQUAL_VICTIMS, values
        case "differs" if event.reason == FOR_GROUP:
            yield EVICTS_OTHERS_FOR_GROUP, values
        case "not this scheduler":
            yield NO_PROFILE, values
            return
        case "impossible" if event.best and not event.candidates:
            yield NEEDS_NO_VICTIM, values
            return
        case "impossible":
            yield NO_CANDIDATE, values
        case "sampled":
            yield SAMPLED_CANDIDATES, values
        case "differs" if event.reason:
            yield CAN_STAY, values
    if event.best:
        yield FREES, values
    if chosen is not None:
        yield _rule_of(event.rule, chosen)
    if event.candidate_count > 1:
        yield CANDIDATES, values


def _rule_of(rule: int, chosen: JudgedCandidate) -> Sentence:
    if rule == 5 and not chosen.earliest_start:
        return NO_START_TIME, {"node": chosen.node}
    figures = (
        chosen.pdb_violations,
        chosen.highest_priority,
        chosen.priority_sum,
        len(chosen.victims),
        chosen.earliest_start,
    )
    figure = figures[rule - 1] if 1 <= rule <= len(figures) else ""
    return PREEMPTION_RULES[rule], {"node": chosen.node, "figure": str(figure)}


def _of_state(state: JudgedState) -> Iterator[Sentence]:
    if state.age:
        yield OLDER, {"time": spoken_duration(state.age), "version": str(state.version)}
    if state.assumed:
        yield ASSUMED, {"pods": ", ".join(state.assumed)}
    if state.undone:
        yield UNDONE, {"pods": ", ".join(state.undone)}
