"""A Decision as text, for ``explain``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from simulator import words
from simulator.command_line.tables import align_columns
from simulator.decision import Decision

ROWS_AT_MOST: Final = 20
"""Number of nodes up to which each has a row; of more nodes, those that are alike share one. Also the maximum
number of rows of nodes that fit, and of nodes that do not."""


class NodeGroup(NamedTuple):
    """The nodes of one row: ``size`` nodes like the one with the index ``node``."""

    node: int
    size: int
    verdict: int


def table_lines(decision: Decision, requests: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of the nodes: the weighted scores of the plugins for a feasible node, otherwise the
    reasons for which the first plugin rejected it. requests: the pod's requests as they are written."""
    plugins = [scores.plugin for scores in decision.scores]
    scored = len(plugins) + bool(plugins)
    rows = [["NODE", *plugins, *(["TOTAL"] if plugins else []), "VERDICT"]]
    if len(decision.nodes) <= ROWS_AT_MOST:
        groups = [NodeGroup(node, 1, verdict) for node, verdict in enumerate(decision.verdicts)]
        rows += group_rows(decision, groups, requests)
    else:
        fitting, others = fitting_groups(decision), rejected_groups(decision)
        rows += group_rows(decision, fitting[:ROWS_AT_MOST], requests)
        rows += more_row(fitting[ROWS_AT_MOST:], scored, "fits")
        rows += group_rows(decision, others[:ROWS_AT_MOST], requests)
        rows += more_row(others[ROWS_AT_MOST:], scored, "do not fit, for other reasons")
    yield from align_columns(rows)


def group_rows(
    decision: Decision, groups: Sequence[NodeGroup], requests: Mapping[str, str]
) -> Iterator[list[str]]:
    places = {node: place for place, node in enumerate(decision.feasible)}
    for group in groups:
        columns = [""] * (len(decision.scores) + bool(decision.scores))
        place = places.get(group.node)
        if place is not None and decision.scores:
            columns = [str(scores.weighted[place]) for scores in decision.scores]
            columns.append(str(decision.totals[place]))
        yield [row_name(decision, group), *columns, verdict_text(decision, group, requests)]


def more_row(groups: Sequence[NodeGroup], scored: int, verdict: str) -> Iterator[list[str]]:
    if groups:
        yield [f"{sum(group.size for group in groups):,} more nodes", *[""] * scored, verdict]


def row_name(decision: Decision, group: NodeGroup) -> str:
    name = decision.nodes[group.node]
    return name if group.size == 1 else f"{group.size:,} nodes like {name}"


def fitting_groups(decision: Decision) -> list[NodeGroup]:
    """Return the nodes that passed the filters, those with equal scores together: the chosen one, then by
    their totals."""
    if not len(decision.feasible):  # of an attempt that failed after the filters
        passed = [node for node, verdict in enumerate(decision.verdicts) if not verdict]
        return [NodeGroup(passed[0], len(passed), 0)] if passed else []
    nodes: dict[tuple[int, ...], list[int]] = {}
    scores = [scores.weighted.tolist() for scores in decision.scores]
    for place, node in enumerate(decision.feasible):
        chosen = decision.nodes[node] == decision.selected
        total = -decision.totals[place] if scores else 0
        nodes.setdefault((not chosen, total, *(column[place] for column in scores)), []).append(node)
    return [NodeGroup(alike[0], len(alike), 0) for _, alike in sorted(nodes.items())]


def rejected_groups(decision: Decision) -> list[NodeGroup]:
    """Return the nodes that did not pass, those with the same reasons together: the largest group first. Its
    name is that of the node which lacks least."""
    recorded = {node for each in decision.shortages for node in each.nodes}
    nodes: dict[int, list[int]] = {}
    for node, verdict in enumerate(decision.verdicts):
        if verdict:
            nodes.setdefault(verdict, []).append(node)
    groups = [
        NodeGroup(next((node for node in alike if node in recorded), alike[0]), len(alike), verdict)
        for verdict, alike in nodes.items()
    ]
    return sorted(groups, key=lambda group: -group.size)


def verdict_text(decision: Decision, group: NodeGroup, requests: Mapping[str, str]) -> str:
    if group.verdict < 0:
        return words.UNSEEN[words.unseen_kind(decision)] % words.unseen_values(decision)
    if group.verdict == 0:
        return "fits, chosen" if decision.nodes[group.node] == decision.selected else "fits"
    failure = decision.failures[group.verdict - 1]
    plugin = f"{failure.plugin}: " if failure.plugin else ""
    text = words.SHORTAGE if group.size == 1 else words.LARGEST_SHORTAGE
    shortages = decision.shortages_of(group.node)
    return plugin + "; ".join(words.with_amounts(failure.reasons, shortages, text, requests))
