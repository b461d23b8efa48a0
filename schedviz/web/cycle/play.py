"""A preemption in steps, which the page plays on the card of the nominated node, or on its tile.

All pods of lower priority are taken away, then put back one by one. Then the rules leave the node over among
the candidates. Upstream: SelectVictimsOnNode and pickOneNodeForPreemption."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.cycle import preemption
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from simulator.decision import Candidate, Decision, Preemption

PODS_AT_MOST: Final = 5
"""Maximum number of pods that have a step each, so that a play has about eight steps. The other pods share
one."""

PodFate = Literal["removed", "stays", "victim"]


class PlayedPod(msgspec.Struct, frozen=True):
    """A pod of lower priority on the nominated node, and its state in this step."""

    pod: str
    label: str
    priority: str
    protected: bool
    place: PodFate
    words: str
    now: bool
    """Whether the step is about the pod."""


class TileFigures(msgspec.Struct, frozen=True):
    """The figures on the node's tile in a step: the percentages that the pods on the node request. ``full``:
    of the resource with the least left."""

    full: int
    cpu: int
    memory: int


class PlayStep(msgspec.Struct, frozen=True):
    title: str
    text: str
    node: str
    """The node on whose card the step is shown."""
    fits: bool
    """Whether the preemptor fits on it with the pods that are there in this step."""
    badge: str
    """The value of ``fits`` in words, for the card."""
    tally: str
    """The number of pods that are removed, for the tile."""
    pods: list[PlayedPod]
    tile: TileFigures | None = None
    """The figures of the node's tile; None where the nodes are cards."""


def play_steps(decision: Decision) -> list[PlayStep]:
    """Return the steps of a preemption; empty if the cycle did not preempt."""
    found = decision.preemption
    chosen = decision.chosen_candidate
    if found is None or chosen is None:
        return []
    return [*victim_steps(fmt.pod_name(decision.pod), chosen), *rule_steps(decision, found, chosen)]


def victim_steps(preemptor: str, candidate: Candidate) -> Iterator[PlayStep]:
    """Yield the steps in which the victims on the node are found; none if the order of the reprieve is not
    recorded."""
    count = len(candidate.tried)
    if not count:
        return
    title = gettext("%(node)s: which pods are victims?") % {"node": node_name(candidate.node)}
    stage = Stage(candidate, title)
    places: dict[str, PodFate] = dict.fromkeys(candidate.tried, "removed")
    victims = {each.pod for each in candidate.victims}
    protected = {each.pod for each in (*candidate.victims, *candidate.spared) if each.violates_pdb}
    yield step(
        stage,
        ngettext(
            "The one pod with lower priority is removed. %(pod)s fits now.",
            "All %(n)s pods with lower priority are removed. %(pod)s fits now.",
            count,
        )
        % {"n": count, "pod": preemptor},
        places,
    )
    alone = candidate.tried if count <= PODS_AT_MOST else candidate.tried[: PODS_AT_MOST - 1]
    for key in alone:
        places[key] = "victim" if key in victims else "stays"
        who = {"who": fmt.pod_name(key), "pod": preemptor}
        if key in protected:
            text = gettext("%(who)s is put back first: a PodDisruptionBudget protects it.") % who
        else:
            text = gettext("%(who)s is put back: does %(pod)s still fit?") % who
        if key in victims:
            text += " " + gettext("No: %(who)s is a victim.") % who
        else:
            text += " " + gettext("Yes: %(who)s stays.") % who
        yield step(stage, text, places, key)
    if rest := candidate.tried[len(alone) :]:
        places |= {key: "victim" if key in victims else "stays" for key in rest}
        went = sum(key in victims for key in rest)
        text = gettext("The other %(n)s pods are put back the same way: %(stay)s stay, %(go)s are victims.")
        yield step(stage, text % {"n": len(rest), "stay": len(rest) - went, "go": went}, places)


class Stage(NamedTuple):
    """The values that several steps share."""

    candidate: Candidate
    title: str


def step(stage: Stage, text: str, places: dict[str, PodFate], now: str = "") -> PlayStep:
    candidate = stage.candidate
    fits = places.get(now) != "victim"
    pods = {each.pod: each for each in (*candidate.victims, *candidate.spared)}
    badge = gettext("it fits") if fits else gettext("it does not fit")
    return PlayStep(
        title=stage.title,
        text=text,
        node=candidate.node,
        fits=fits,
        badge=badge,
        tally=tally(Counter(places.values())),
        pods=[
            PlayedPod(
                key,
                fmt.pod_name(key),
                fmt.compact(pods[key].priority),
                pods[key].violates_pdb,
                place,
                words(place),
                key == now,
            )
            for key, place in places.items()
            if key in pods
        ],
    )


def tally(counts: Counter[PodFate]) -> str:
    texts: dict[PodFate, str] = {"removed": gettext("removed: %(n)s"), "victim": gettext("victims: %(n)s")}
    return " · ".join(text % {"n": counts[place]} for place, text in texts.items() if counts[place])


def words(place: PodFate) -> str:
    return {
        "removed": gettext("removed"),
        "stays": gettext("stays"),
        "victim": gettext("victim"),
    }[place]


def rule_steps(decision: Decision, found: Preemption, chosen: Candidate) -> Iterator[PlayStep]:
    """Yield the steps that say why this candidate was chosen, with the numbers of the others, and what
    follows."""
    preemptor = fmt.pod_name(decision.pod)
    places: dict[str, PodFate] = {each.pod: "stays" for each in chosen.spared}
    places |= {each.pod: "victim" for each in chosen.victims}
    title = gettext("Why %(node)s?") % {"node": node_name(found.chosen)}
    others = other_candidates(found)
    sentence = preemption.preemption_sentence(decision)
    yield step(Stage(chosen, title), f"{sentence} {others}".strip(), places)
    text = ngettext(
        "%(pod)s is nominated to %(node)s and waits until the victim has terminated: %(victims)s.",
        "%(pod)s is nominated to %(node)s and waits until the %(n)s victims have terminated: %(victims)s.",
        len(chosen.victims),
    )
    values = {
        "pod": preemptor,
        "node": node_name(found.chosen),
        "n": len(chosen.victims),
        "victims": fmt.first_pods([each.pod for each in chosen.victims], PODS_AT_MOST),
    }
    yield step(Stage(chosen, gettext("What happens next")), text % values, places)


def other_candidates(found: Preemption) -> str:
    """Return one sentence that says why the other candidates were not chosen, counted by the rule that
    removed them."""
    removed = preemption.eliminating_rules(found.candidates)
    last = len(preemption.GREATEST_WINS) + 1
    counts = Counter(removed.get(each.node, last) for each in found.candidates if each.node != found.chosen)
    if not counts:
        return ""
    text = ngettext("%(n)s other candidate: %(why)s.", "%(n)s other candidates: %(why)s.", counts.total())
    why = "; ".join(reason(rule, counts[rule]) for rule in sorted(counts))
    return text % {"n": counts.total(), "why": why}


def reason(rule: int, n: int) -> str:
    """Return the property that the candidates that a rule removed share."""
    texts = {
        1: ngettext("%(n)s violates budgets more often", "%(n)s violate budgets more often", n),
        2: ngettext("%(n)s has a more important victim", "%(n)s have a more important victim", n),
        3: ngettext(
            "%(n)s has a larger sum of victim priorities", "%(n)s have a larger sum of victim priorities", n
        ),
        4: ngettext("%(n)s has more victims", "%(n)s have more victims", n),
        5: ngettext("%(n)s has a victim that started earlier", "%(n)s have a victim that started earlier", n),
        6: ngettext(
            "%(n)s is equal and was not chosen at random", "%(n)s are equal and were not chosen at random", n
        ),
    }
    return texts[rule] % {"n": n}
