"""The cells of a grid of many nodes, as compact JSON that static/js/grid.js draws on a canvas.

5,000 nodes as HTML elements would be one megabyte and take seconds to lay out; this is a tenth of that.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final

import msgspec
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from schedviz.web.nodes.cards import (
    BASE_RESOURCES,
    BLOCKS_AT_MOST,
    dominant_share,
    importance,
    percent,
    place_on_card,
    pod_state,
)
from schedviz.web.nodes.groups import NodeOverview
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.picture.records import NO_LOAD, NodeRecord, PodRecord
from schedviz.web.reasons import verdicts
from schedviz.web.reasons.plugin_reasons import card_text
from schedviz.web.text.node_names import node_name
from simulator.decision import Decision

CELLS_PER_CHUNK: Final = 10
"""Number of cells of one part, about 500 bytes. Smaller parts would be more elements for the browser to
search."""
STATES: Final = ("running", "starting", "victim", "terminating", "nominated")
DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
SHADES: Final = "abcdefghi"
"""The codes of feasible nodes, from the lowest score to the highest: people distinguish nine shades."""
FAILURES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The codes of rejected nodes: a letter for each distinct reason; the last letter for all further reasons."""
UNSEEN, LEFT_OUT, CANDIDATE, CHOSEN = ".", "-", "?", "!"
"""LEFT_OUT: the scheduler did not look at the node, as it had found enough others."""

UNSAFE: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
"""The special characters of HTML, escaped as JSON allows."""


class Cell(msgspec.Struct, frozen=True, array_like=True):
    """A node. ``full``: the requested percentage of ``fullest``, the resource with the least left. ``marks``:
    x (a pod terminates), g (a pod is nominated), t (tainted), c (cordoned), n (a bad condition). ``blocks``:
    its pods (:func:`pod_code`)."""

    name: str
    short: str
    """The short name; empty if it is the whole one."""
    full: int
    fullest: str
    cpu: int
    memory: int
    pods: int
    rank: int
    marks: str
    words: str
    blocks: str


class Judged(msgspec.Struct, frozen=True):
    """The verdicts of a cycle on all nodes. ``codes``: a code for each node in the order of the page,
    run-length encoded: "12.3A" is "............AAA". ``words``: the meaning of each code."""

    codes: str
    words: dict[str, str]


def chunks(overview: NodeOverview, prefix: str) -> dict[str, list[str]]:
    """Return the nodes of each part of the grid, by the part's name: "<prefix>/g<group>-<number>"."""
    return {
        f"{prefix}/g{place}-{start // CELLS_PER_CHUNK}": group.nodes[start : start + CELLS_PER_CHUNK]
        for place, group in enumerate(overview.groups)
        for start in range(0, len(group.nodes), CELLS_PER_CHUNK)
    }


def cell(picture: Picture, ranks: Ranks, name: str) -> Cell:
    node, load = picture.nodes[name], picture.loads.get(name, NO_LOAD)
    pods = sorted(picture.by_node.get(name, {}).values(), key=place_on_card)
    nominated = sorted(picture.nominated.get(name, {}).values(), key=importance)
    shares = {
        res: percent(load.requests.get(res, 0), whole) for res, whole in node.allocatable.items() if whole
    }
    fullest = max(shares, key=lambda resource: shares[resource], default="")
    return Cell(
        name=name,
        short="" if (short := node_name(name)) == name else short,
        full=shares.get(fullest, 0),
        fullest="" if fullest in BASE_RESOURCES else fullest,
        cpu=shares.get("cpu", 0),
        memory=shares.get("memory", 0),
        pods=len(pods),
        rank=ranks.rank(max((pod.priority for pod in pods), default=0)),
        marks=cell_marks(node, pods, nominated),
        words=", ".join((*node.taints, *node.conditions)),
        blocks="".join(pod_code(picture, ranks, node, pod) for pod in (*pods, *nominated)[:BLOCKS_AT_MOST]),
    )


def cell_marks(node: NodeRecord, pods: list[PodRecord], nominated: list[PodRecord]) -> str:
    found = (
        ("x", any(pod.terminating for pod in pods)),
        ("g", bool(nominated)),
        ("t", bool(node.taints)),
        ("c", node.unschedulable),
        ("n", bool(node.conditions)),
    )
    return "".join(mark for mark, holds in found if holds)


def pod_code(picture: Picture, ranks: Ranks, node: NodeRecord, pod: PodRecord) -> str:
    """Return a pod in three digits of base 36: rank + 7 * state, then two for its share
    (:func:`dominant_share`)."""
    share = dominant_share(node, pod)
    look = ranks.rank(pod.priority) + 7 * STATES.index(pod_state(picture, pod))
    return DIGITS[look] + DIGITS[share // 36] + DIGITS[share % 36]


def judged(decision: Decision | None, order: Iterable[str]) -> Judged:
    """Return the verdicts of a cycle. order: the nodes in the order of the page."""
    if decision is None:
        return Judged(run_lengths(UNSEEN for _ in order), {})
    codes, words = filtered(decision)
    for name, verdict in verdicts.verdicts(decision, outcome_only=True).items():
        code = CHOSEN if verdict.kind == "chosen" else CANDIDATE
        codes[name] = code
        words[code] = verdict.text if code == CHOSEN else gettext("candidate for preemption")
    return Judged(run_lengths(codes.get(name, UNSEEN) for name in order), words)


def filtered(decision: Decision) -> tuple[dict[str, str], dict[str, str]]:
    """Return the code of each node, and the meaning of each code."""
    codes: dict[str, str] = {}
    words: dict[str, str] = {}
    for place, failure in enumerate(decision.failures):
        code = FAILURES[min(place, len(FAILURES) - 1)]
        reason = card_text(failure.reasons[0]) if failure.reasons else failure.plugin
        words[code] = gettext("other reasons") if code in words else reason
    left_out = decision.sample is not None
    if left_out:
        words[LEFT_OUT] = gettext("not looked at")
    for name, verdict in zip(decision.nodes, decision.verdicts, strict=True):
        if verdict < 0 and left_out:
            codes[name] = LEFT_OUT
        elif verdict > 0:
            codes[name] = FAILURES[min(verdict, len(FAILURES)) - 1]
    totals = decision.totals or [0] * len(decision.feasible)
    least, most = min(totals, default=0), max(totals, default=0)
    for index, total in zip(decision.feasible, totals, strict=True):
        shade = len(SHADES) - 1 if most == least else (total - least) * (len(SHADES) - 1) // (most - least)
        codes[decision.nodes[index]] = SHADES[shade]
    for shade, code in enumerate(SHADES):
        words[code] = shade_words(decision, least, most, shade)
    return codes, words


def shade_words(decision: Decision, least: int, most: int, shade: int) -> str:
    if not decision.totals:
        return gettext("fits")
    if most == least:
        return gettext("fits, score %(score)s") % {"score": most}
    steps = len(SHADES) - 1
    low = least + -(-shade * (most - least) // steps)
    high = most if shade == steps else least + -(-(shade + 1) * (most - least) // steps) - 1
    if low >= high:
        return gettext("fits, score %(score)s") % {"score": low}
    return gettext("fits, score %(low)s to %(high)s") % {"low": low, "high": high}


def run_lengths(codes: Iterable[str]) -> str:
    """Run-length encode: "..AAA!" -> "2.3A!"."""
    runs = ((code, sum(1 for _ in run)) for code, run in groupby(codes))
    return "".join(f"{length}{code}" if length > 1 else code for code, length in runs)


def json(value: Any) -> SafeString:
    """Return JSON that is safe as the text of an HTML element."""
    return mark_safe(msgspec.json.encode(value).decode().translate(UNSAFE))  # noqa: S308 (UNSAFE is escaped)
