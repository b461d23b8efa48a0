"""The verdicts of the newest cycle on the nodes, in short words for their cards."""

from collections.abc import Iterable
from itertools import repeat
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.web.reasons.plugin_reasons import card_text, meaning_of, short_reason
from simulator.decision import Decision


class Verdict(msgspec.Struct, frozen=True):
    """The verdict of a cycle on a node."""

    kind: Literal["", "fail", "candidate", "feasible", "chosen", "unseen"]
    text: str = ""
    meaning: str = ""
    """The explanation of ``text`` if that is the reason of a plugin."""
    lang: str = "en"
    """The language of a reason; "" = that of the page."""


NO_VERDICT: Final = Verdict("")


def verdicts(decision: Decision | None, outcome_only: bool = False) -> dict[str, Verdict]:
    """Return the verdicts by node, without nodes that PreFilter or a nomination left out.

    outcome_only: only the candidates and the chosen node. With thousands of nodes nearly all verdicts would
    change with each cycle; the filter matrix has their numbers.
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
    """Return the verdicts of the Filter plugins, and the scores."""
    found: dict[str, Verdict] = {}
    left_out = Verdict("unseen", gettext("not looked at")) if decision.sample else None
    for name, code in zip(decision.nodes, decision.verdicts, strict=True):
        if code < 0 and left_out:
            found[name] = left_out
        if code > 0:
            failure = decision.failures[code - 1]
            reason = failure.reasons[0] if failure.reasons else ""
            text = card_text(reason)
            lang = "en" if text == short_reason(reason) else ""
            found[name] = Verdict("fail", text or failure.plugin, meaning_of(reason), lang)
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
    return gettext("%(victims)s, violates a PDB") % {"victims": text} if pdb_violations else text
