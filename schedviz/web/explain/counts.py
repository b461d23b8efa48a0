"""Formulas of raw scores that are sums of terms (taint_toleration.go, node_affinity.go,
interpodaffinity/scoring.go, podtopologyspread/scoring.go)."""

from math import log
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.explain.sums import Sum, fraction, signed
from simulator.decision import PluginScores
from simulator.framework.score_explanation import ScoreTerm, TermKind

NAMES: Final[dict[TermKind, str]] = {
    "taint": gettext_noop("untolerated: %(name)s"),
    "node": gettext_noop("preferred: %(name)s"),
    "affinity": gettext_noop("affinity to pods %(name)s: their number, times the weight"),
    "anti-affinity": gettext_noop("anti-affinity to pods %(name)s: their number, times the weight"),
    "existing": gettext_noop(
        "pods there with a preferred term %(name)s for it: their number, times the weight"
    ),
    "required": gettext_noop(
        "pods there with a required term %(name)s for it: their number, times hardPodAffinityWeight"
    ),
    "spread": gettext_noop("pods %(name)s: their number, times log(domains+2), plus maxSkew-1"),
    "rest": gettext_noop("all other terms"),
}


def of_terms(row: PluginScores, at: int) -> list[Sum]:
    """Return one formula for each term that is not 0 on the node, and one for the sum."""
    sums = [term(each, each.counts[at]) for each in row.terms if each.counts[at] or each.kind == "spread"]
    results = [each.result for each in sums]
    expression = "+".join(results).replace("+-", "-") or "0"
    if any(each.kind == "spread" for each in row.terms):
        total = sum(spread_score(each, each.counts[at]) for each in row.terms)
        return [*sums, Sum(gettext("sum, rounded"), f"round({expression})", str(int(total + 0.5)))]
    return [*sums, Sum(gettext("sum"), expression, str(sum(map(int, results))))]


def term(of: ScoreTerm, count: int) -> Sum:
    name = gettext(NAMES[of.kind]) % {"name": of.name}
    if of.kind != "spread":
        return Sum(name, f"{count}*{signed(of.weight)}", str(count * of.weight))
    if count < 0:
        return Sum(gettext("the node lacks %(key)s") % {"key": of.name.partition(" ")[0]}, "0", "0")
    expression = f"{count}*log({of.domains}+2)+({of.max_skew}-1)"
    return Sum(name, expression, fraction(spread_score(of, count)))


def spread_score(of: ScoreTerm, count: int) -> float:
    return count * log(of.domains + 2) + (of.max_skew - 1) if count >= 0 else 0.0
