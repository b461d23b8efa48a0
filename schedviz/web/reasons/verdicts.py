"""The verdicts of the newest cycle on the nodes, in short words for their cards."""

from collections.abc import Iterable
from itertools import repeat
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext, gettext_noop, ngettext

from schedviz.web.reasons import meanings
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
            short = short_reason(reason) or failure.plugin
            text = translated_reason(short)
            lang = "en" if text == short else ""
            found[name] = Verdict("fail", text, meanings.reason_meaning(reason), lang)
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


def short_reason(reason: str) -> str:
    """Return the reason without its first words, such as "node(s) had"."""
    return reason.removeprefix("node(s) ").removeprefix("had ").removeprefix("were ")


INSUFFICIENT: Final = "Insufficient "
TAINT: Final = "untolerated taint "
REASONS: Final = frozenset(
    {
        gettext_noop("Too many pods"),
        gettext_noop("unschedulable"),
        gettext_noop("didn't match Pod's node affinity/selector"),
        gettext_noop("didn't have free ports for the requested pod ports"),
        gettext_noop("didn't match pod anti-affinity rules"),
        gettext_noop("didn't match pod affinity rules"),
        gettext_noop("didn't satisfy existing pods anti-affinity rules"),
        gettext_noop("didn't match pod topology spread constraints"),
        gettext_noop("didn't match pod topology spread constraints (missing required label)"),
        gettext_noop("didn't match the requested node name"),
        gettext_noop("didn't match scheduler-enforced node affinity"),
        gettext_noop("no available disk"),
        gettext_noop("didn't match PersistentVolume's node affinity"),
        gettext_noop("didn't find available persistent volumes to bind"),
        gettext_noop("did not have enough free storage"),
        gettext_noop("no available volume zone"),
        gettext_noop("exceed max volume count"),
        gettext_noop("cannot allocate all claims"),
        gettext_noop("resourceclaim not available on the node"),
    }
)
"""The short reasons of upstream's plugins. In English they are shown as they are."""


def translated_reason(short: str) -> str:
    """Return the short reason in the language of the page; a reason that is not known, unchanged."""
    if short.startswith(INSUFFICIENT):
        return gettext("Insufficient %(what)s") % {"what": short.removeprefix(INSUFFICIENT)}
    if short.startswith(TAINT):
        return gettext("untolerated taint %(what)s") % {"what": short.removeprefix(TAINT)}
    return gettext(short) if short in REASONS else short
