"""The filter matrix of one cycle: which node passed which Filter plugin."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from schedviz.web.reasons import pod_reasons
from schedviz.web.reasons.plugin_reasons import meaning_of
from simulator import words
from simulator.decision import Decision, Failure, TwoPasses

ROWS_AT_MOST: Final = 40
"""Maximum number of rows of the filter matrix. For more nodes there is a row for each verdict, with the
number of nodes."""


MEANINGS_AT_MOST: Final = 8
"""Maximum number of reasons explained below the matrix. Each node may have another taint, so there may be
many."""


Mark = Literal["pass", "fail", "unseen"]


class FilterRow(msgspec.Struct, frozen=True):
    """One node; or several with the same verdict, then ``node`` is the first of them. ``marks`` are in the
    order of the matrix's plugins."""

    node: str
    nodes: int
    marks: list[Mark]
    reason: str
    passed: bool
    amounts: str = ""
    """What a node lacks for which NodeResourcesFit rejected it; of several, the one that lacks least."""
    looked: bool = True
    """Whether the node was examined. False: enough nodes were found, or a PreFilter plugin excluded it."""


class Matrix(msgspec.Struct, frozen=True):
    plugins: list[str]
    rows: list[FilterRow]
    skipped: list[str]
    """Plugins whose PreFilter returned Skip for this pod. Their Filter did not run."""
    feasible: int
    total: int
    two_passes: list[TwoPasses]
    meanings: list[tuple[str, str]]
    """Reasons and their explanations."""
    looked_at: int = 0
    """The number of nodes that were looked at, if enough others were found; 0 = all."""


def matrix(decision: Decision) -> Matrix:
    plugins = decision.filter_plugins
    sample = decision.sample
    rows = grouped(decision) if len(decision.nodes) > ROWS_AT_MOST else one_by_one(decision)
    return Matrix(
        plugins=plugins,
        rows=rows,
        skipped=decision.pre_filter.skipped if decision.pre_filter else [],
        feasible=len(decision.feasible),
        total=len(decision.nodes),
        two_passes=decision.two_passes,
        meanings=explained([failure.reasons for failure in decision.failures]),
        looked_at=sample.looked_at if sample else 0,
    )


def explained(reasons: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the distinct reasons of failures, with their explanations; without those that have none."""
    distinct = dict.fromkeys(reason for of_failure in reasons for reason in of_failure)
    pairs = ((reason, meaning_of(reason)) for reason in distinct)
    return [(reason, meaning) for reason, meaning in pairs if meaning][:MEANINGS_AT_MOST]


def one_by_one(decision: Decision) -> list[FilterRow]:
    return [filter_row(decision, index, 1, code) for index, code in enumerate(decision.verdicts)]


def grouped(decision: Decision) -> list[FilterRow]:
    """Return one row for each distinct verdict, sorted by the number of nodes. The node that is named is the
    one of which the amounts are recorded, if there is one."""
    recorded = {decision.verdicts[index]: index for each in decision.shortages for index in each.nodes}
    counts = Counter(decision.verdicts)
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:ROWS_AT_MOST]
    return [
        filter_row(decision, recorded.get(code, decision.verdicts.index(code)), count, code)
        for code, count in by_count
    ]


def filter_row(decision: Decision, index: int, nodes: int, code: int) -> FilterRow:
    """Return the row of a node, or of several. index: that of the first in the decision's nodes."""
    plugins, node = decision.filter_plugins, decision.nodes[index]
    if code < 0:
        return FilterRow(
            node, nodes, ["unseen"] * len(plugins), reason_unseen(decision), passed=False, looked=False
        )
    if code == 0:
        return FilterRow(node, nodes, ["pass"] * len(plugins), "", passed=True)
    failure = decision.failures[code - 1]
    amounts = pod_reasons.shortage_sentence(decision.shortages_of(index), several=nodes > 1)
    return FilterRow(
        node, nodes, marks(plugins, failure), ", ".join(failure.reasons), passed=False, amounts=amounts
    )


def reason_unseen(decision: Decision) -> str:
    return gettext(words.UNSEEN[words.unseen_kind(decision)]) % words.unseen_values(decision)


def marks(plugins: list[str], failure: Failure) -> list[Mark]:
    """Return the marks of a rejected node: plugins before the rejecting one passed, those after it did not
    run."""
    if failure.by_pre_filter or failure.plugin not in plugins:
        return ["unseen"] * len(plugins)
    place = plugins.index(failure.plugin)
    return [
        "pass" if index < place else "fail" if index == place else "unseen" for index in range(len(plugins))
    ]
