"""The query language of the filter.

A query consists of terms, separated by spaces; an object is found if all terms match. "-" negates a term.

    web            the name contains this               is:pending     a state, see IS
    team-a/        the namespace is this                kind:node      only pods, or only nodes
    team-a/web     both                                 priority>1000  also >= < <= =
    app=web        has this label; app!=web: has not    node=node-1    the node, and the pods on it
"""

import operator
import re
from collections.abc import Callable
from typing import Final

from django.utils.translation import gettext, gettext_noop

from schedviz.web.nodes.cards import pod_state
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.records import NodeRecord, PodRecord
from simulator.objects.status import FINISHED_PHASES

QUERY_AT_MOST: Final = 200
"""Maximum number of characters of a query."""
TERMS_AT_MOST: Final = 10

Record = PodRecord | NodeRecord
Term = Callable[[Picture, Record], bool]

NAME: Final = re.compile(r"[a-z0-9][a-z0-9./-]*")
"""A term that can only be a part of a name."""
COMPARED: Final = re.compile(r"priority(>=|<=|>|<|=)(-?\d{1,10})")
COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip


class BadQuery(ValueError):
    """A query that cannot be parsed. The message is translated, for the page."""


def in_lane(*lanes: str) -> Term:
    def holds(picture: Picture, record: Record) -> bool:
        if not isinstance(record, PodRecord) or record.node:
            return False
        entry = picture.queue_places.get(record.key)
        return entry is not None and entry.lane in lanes

    return holds


def in_state(*states: str) -> Term:
    return lambda picture, record: (
        isinstance(record, PodRecord)
        and bool(record.node)
        and record.phase not in FINISHED_PHASES
        and pod_state(picture, record) in states
    )


IS: Final[dict[str, Term]] = {
    "pending": lambda _, record: (
        isinstance(record, PodRecord) and not record.node and record.phase not in FINISHED_PHASES
    ),
    "active": in_lane("activeQ", "inFlight"),
    "backoff": in_lane("backoffQ"),
    "unschedulable": in_lane("unschedulable"),
    "gated": in_lane("gated"),
    "waiting": in_lane("waiting"),
    "outside": in_lane("outside"),
    "nominated": lambda _, record: (
        isinstance(record, PodRecord) and bool(record.nominated) and not record.node
    ),
    "running": in_state("running"),
    "starting": in_state("starting"),
    "terminating": in_state("terminating", "victim"),
    "victim": in_state("victim"),
    "finished": lambda _, record: isinstance(record, PodRecord) and record.phase in FINISHED_PHASES,
    "tainted": lambda _, record: isinstance(record, NodeRecord) and bool(record.taints),
    "cordoned": lambda _, record: isinstance(record, NodeRecord) and record.unschedulable,
    "notready": lambda _, record: isinstance(record, NodeRecord) and "NotReady" in record.conditions,
    "empty": lambda picture, record: isinstance(record, NodeRecord) and record.name not in picture.by_node,
}
"""The states after ``is:``, first those of pods, then those of nodes."""

UNKNOWN: Final = gettext_noop("%(term)s is not known: %(field)s accepts %(known)s.")


def cut_query(text: str) -> str:
    """Return the query that a browser requested, with one space between its words, cut to its bound."""
    return " ".join(text.split())[:QUERY_AT_MOST]


def parse_query(text: str) -> Term:
    """Parse a query into a predicate. Raises BadQuery."""
    terms = [term(word) for word in text.lower().split()[:TERMS_AT_MOST]]
    return lambda picture, record: all(holds(picture, record) for holds in terms)


def term(word: str) -> Term:
    """Parse one term. Raises BadQuery."""
    if word.startswith("-") and len(word) > 1:
        opposite = term(word[1:])
        return lambda picture, record: not opposite(picture, record)
    if word.startswith("is:"):
        return known(word, IS)
    if word.startswith("kind:"):
        return known(word, {"pod": is_a(PodRecord), "node": is_a(NodeRecord)})
    if compared := COMPARED.fullmatch(word):
        return has_priority(COMPARE[compared[1]], int(compared[2]))
    if word.startswith("node="):
        return is_on_node(word.removeprefix("node="))
    if "=" in word:
        return has_label(word)
    return has_name(word)


def known(word: str, terms: dict[str, Term]) -> Term:
    """Return the predicate of a value of a fixed set, as ``is:pending``. Raises BadQuery."""
    field, _, value = word.partition(":")
    if value not in terms:
        values = {"term": word, "field": f"{field}:", "known": ", ".join(terms)}
        raise BadQuery(gettext(UNKNOWN) % values)
    return terms[value]


def is_a(kind: type[Record]) -> Term:
    return lambda _, record: isinstance(record, kind)


def has_priority(compare: Callable[[int, int], bool], value: int) -> Term:
    return lambda _, record: isinstance(record, PodRecord) and compare(record.priority, value)


def is_on_node(name: str) -> Term:
    return lambda _, record: (
        name in (record.node, record.nominated) if isinstance(record, PodRecord) else record.name == name
    )


def has_label(word: str) -> Term:
    key, _, value = word.partition("=")
    if key.endswith("!"):
        return lambda _, record: lowered(record.labels).get(key[:-1]) != value
    return lambda _, record: lowered(record.labels).get(key) == value


def lowered(labels: dict[str, str]) -> dict[str, str]:
    return {key.lower(): value.lower() for key, value in labels.items()}


def has_name(word: str) -> Term:
    """Match a part of the name; with a slash, also the namespace before it."""
    namespace, slash, part = word.rpartition("/")

    def holds(_: Picture, record: Record) -> bool:
        if isinstance(record, NodeRecord):
            return not slash and part in record.name
        inside, name = record.key.split("/", 1)
        return part in name and (not slash or inside == namespace)

    return holds
