"""What the cycle on show said of each node, short enough for a badge."""

from collections.abc import Iterable
from itertools import repeat
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, ngettext

from simulator.decision import Decision

from . import meanings


class Verdict(msgspec.Struct, frozen=True):
    """What the cycle on show said of this node."""

    kind: Literal["", "fail", "candidate", "feasible", "chosen"]
    text: str = ""
    meaning: str = ""
    """What a failure's text means: that is a plugin's own."""


NO_VERDICT: Final = Verdict("")


def verdicts(decision: Decision | None, outcome_only: bool = False) -> dict[str, Verdict]:
    """By node, for the cycle on show; nodes that it did not look at are left out.

    ``outcome_only``: the candidates and the chosen node alone. With thousands of nodes, nearly all would
    change with each cycle, and the filter matrix counts them anyway.
    """
    if decision is None:
        return {}
    found = {} if outcome_only else looked_at(decision)
    if decision.preemption is not None:
        for candidate in decision.preemption.candidates:
            text = victims_text(len(candidate.victims), candidate.pdb_violations)
            found[candidate.node] = Verdict("candidate", text)
        if decision.preemption.chosen:
            found[decision.preemption.chosen] = Verdict("chosen", gettext("nominated"))
    if decision.selected:
        found[decision.selected] = Verdict("chosen", gettext("selected"))
    return found


def looked_at(decision: Decision) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    for name, code in zip(decision.nodes, decision.verdicts, strict=True):
        if code > 0:
            failure = decision.failures[code - 1]
            reason = failure.reasons[0] if failure.reasons else ""
            text = short_reason(reason) or failure.plugin
            found[name] = Verdict("fail", text, meanings.reason_meaning(reason))
    if decision.totals:
        text = gettext("score %(total)s")
        texts: Iterable[str] = (text % {"total": total} for total in decision.totals)
    else:
        texts = repeat(gettext("fits"))
    for index, text in zip(decision.feasible, texts, strict=False):
        found[decision.nodes[index]] = Verdict("feasible", text)
    return found


def victims_text(victims: int, pdb_violations: int) -> str:
    text = ngettext("%(n)s victim", "%(n)s victims", victims) % {"n": victims}
    return gettext("%(victims)s, breaks a PDB") % {"victims": text} if pdb_violations else text


def short_reason(reason: str) -> str:
    """The scheduler's reason without the words that the badge's place says already."""
    return reason.removeprefix("node(s) ").removeprefix("had ").removeprefix("were ")
