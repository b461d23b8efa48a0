"""Nodes as cells of a grid, where there are many: compact data that static/js/grid.js draws on a canvas.

5,000 elements with their styles would be a megabyte to send and seconds to lay out; this is a tenth of it.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final

import msgspec
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from simulator.decision import Decision

from . import verdicts
from .groups import Overview
from .nodes import (
    BASE_RESOURCES,
    BLOCKS_AT_MOST,
    dominant_share,
    importance,
    percent,
    place_on_shelf,
    pod_state,
)
from .picture import Picture
from .priority import Ranks
from .records import NO_LOAD, NodeRecord, PodRecord

CELLS_PER_CHUNK: Final = 10
"""Cells that are sent together: some 500 bytes. Fewer would be more elements to look through a frame."""
STATES: Final = ("running", "starting", "victim", "terminating", "ghost")
DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
SHADES: Final = "abcdefghi"
"""Feasible nodes by score, lowest first: nine steps, as many as are told apart."""
FAILURES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Filtered out, one letter for each distinct reason; the last stands for all further ones."""
UNSEEN, CANDIDATE, CHOSEN = ".", "?", "!"

UNSAFE: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
"""Signs that would mean something in HTML, as JSON may write them."""


class Cell(msgspec.Struct, frozen=True, array_like=True):
    """A node. ``full`` is the percentage requested of the fullest resource, ``fullest``; ``marks`` holds
    x (a pod terminates), g (a pod is nominated), t (tainted), c (cordoned), n (a condition is wrong);
    ``blocks`` are its pods (:func:`block`)."""

    name: str
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
    """What the cycle on show said of all nodes, one code each in the page's order, run-length encoded:
    "12.3A" is "............AAA". ``words`` says what each code means."""

    codes: str
    words: dict[str, str]


def chunks(overview: Overview, prefix: str) -> dict[str, list[str]]:
    """The grid's chunks by part name, in order: "<prefix>/g<group>-<number>"."""
    return {
        f"{prefix}/g{place}-{start // CELLS_PER_CHUNK}": group.nodes[start : start + CELLS_PER_CHUNK]
        for place, group in enumerate(overview.groups)
        for start in range(0, len(group.nodes), CELLS_PER_CHUNK)
    }


def cell(picture: Picture, ranks: Ranks, name: str) -> Cell:
    node, load = picture.nodes[name], picture.loads.get(name, NO_LOAD)
    pods = sorted(picture.by_node.get(name, {}).values(), key=place_on_shelf)
    ghosts = sorted(picture.nominated.get(name, {}).values(), key=importance)
    shares = {
        res: percent(load.requests.get(res, 0), whole) for res, whole in node.allocatable.items() if whole
    }
    fullest = max(shares, key=lambda resource: shares[resource], default="")
    return Cell(
        name=name,
        full=shares.get(fullest, 0),
        fullest="" if fullest in BASE_RESOURCES else fullest,
        cpu=shares.get("cpu", 0),
        memory=shares.get("memory", 0),
        pods=len(pods),
        rank=ranks.rank(max((pod.priority for pod in pods), default=0)),
        marks=cell_marks(node, pods, ghosts),
        words=", ".join((*node.taints, *node.conditions)),
        blocks="".join(pod_code(picture, ranks, node, pod) for pod in (*pods, *ghosts)[:BLOCKS_AT_MOST]),
    )


def cell_marks(node: NodeRecord, pods: list[PodRecord], ghosts: list[PodRecord]) -> str:
    found = (
        ("x", any(pod.terminating for pod in pods)),
        ("g", bool(ghosts)),
        ("t", bool(node.taints)),
        ("c", node.unschedulable),
        ("n", bool(node.conditions)),
    )
    return "".join(mark for mark, holds in found if holds)


def pod_code(picture: Picture, ranks: Ranks, node: NodeRecord, pod: PodRecord) -> str:
    """Three digits in base 36: rank + 7 * state, then the dominant request as per mille of the node."""
    share = dominant_share(node, pod)
    look = ranks.rank(pod.priority) + 7 * STATES.index(pod_state(picture, pod))
    return DIGITS[look] + DIGITS[share // 36] + DIGITS[share % 36]


def judged(decision: Decision | None, order: Iterable[str]) -> Judged:
    """``order``: the nodes as they stand on the page."""
    if decision is None:
        return Judged(run_lengths(UNSEEN for _ in order), {})
    codes, words = filtered(decision)
    for name, verdict in verdicts.verdicts(decision, outcome_only=True).items():
        code = CHOSEN if verdict.kind == "chosen" else CANDIDATE
        codes[name] = code
        words[code] = verdict.text if code == CHOSEN else gettext("candidate for preemption")
    return Judged(run_lengths(codes.get(name, UNSEEN) for name in order), words)


def filtered(decision: Decision) -> tuple[dict[str, str], dict[str, str]]:
    """Codes by node, and what they mean."""
    codes: dict[str, str] = {}
    words: dict[str, str] = {}
    for place, failure in enumerate(decision.failures):
        code = FAILURES[min(place, len(FAILURES) - 1)]
        said = verdicts.short_reason(failure.reasons[0]) if failure.reasons else failure.plugin
        words[code] = gettext("other reasons") if code in words else said
    for name, verdict in zip(decision.nodes, decision.verdicts, strict=True):
        if verdict > 0:
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
    """ "..AAA!" -> "2.3A!"."""
    runs = ((code, sum(1 for _ in run)) for code, run in groupby(codes))
    return "".join(f"{length}{code}" if length > 1 else code for code, length in runs)


def json(value: Any) -> SafeString:
    """For the text of an element."""
    return mark_safe(msgspec.json.encode(value).decode().translate(UNSAFE))  # noqa: S308 - made harmless above
