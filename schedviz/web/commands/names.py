"""Kinds and objects by the names that kubectl knows them by."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from django.utils.translation import gettext

from schedviz.store import Sandbox
from schedviz.web.commands.line import Bad, Call
from simulator.apiserver.lookup import all_resources
from simulator.apiserver.resources import BUILT_IN, NAMESPACES, NODES, PODS, Resource

USUAL: Final = ("pods", "nodes", "priorityclasses", "poddisruptionbudgets", "deployments", "jobs")
"""Plurals proposed before all others."""


def resource(sandbox: Sandbox, word: str) -> Resource:
    """By plural, singular, short name or ``plural.group``. Raises Bad."""
    word = word.lower()
    for each in chain(BUILT_IN, all_resources(sandbox)):
        if word in (each.plural, each.singular, each.id, *each.short_names):
            return each
    raise Bad(gettext("There is no kind “%(kind)s”; pod, node and priorityclass are some.") % {"kind": word})


def objects(call: Call) -> tuple[Resource, list[str]]:
    """The objects that ``KIND NAME...`` or ``KIND/NAME...`` means, by their keys. Raises Bad."""
    kind, slash, name = call.arguments[0].partition("/")
    names = [*([name] if slash else []), *call.arguments[1:]]
    found = resource(call.sandbox, kind)
    if not names:
        raise Bad(gettext("Say which %(kind)s.") % {"kind": found.singular})
    return found, [key(found, each, call.namespace) for each in names]


def one(call: Call) -> tuple[Resource, str, list[str]]:
    """As :func:`objects`, of one object, with the arguments behind it."""
    kind, slash, name = call.arguments[0].partition("/")
    found, rest = resource(call.sandbox, kind), call.arguments[1:]
    if not slash and not rest:
        raise Bad(gettext("Say which %(kind)s.") % {"kind": found.singular})
    name, rest = (name, rest) if slash else (rest[0], rest[1:])
    return found, key(found, name, call.namespace), rest


def key(found: Resource, name: str, namespace: str) -> str:
    """A name may bring its namespace along, as the page writes it: ``shop/web``."""
    inside, slash, bare = name.rpartition("/")
    return found.key(inside if slash else namespace, bare)


def kinds(sandbox: Sandbox, _: list[str]) -> Iterator[tuple[str, str]]:
    """Those that there are objects of, the usual ones first."""
    stored = sandbox.resources()
    known = [each for each in chain(BUILT_IN, all_resources(sandbox)) if each.id in stored]
    for each in sorted(known, key=lambda each: (each.plural not in USUAL, each.plural)):
        yield each.singular, each.api_version


def names(sandbox: Sandbox, before: list[str]) -> Iterable[tuple[str, str]]:
    """Of the kind that stands before."""
    try:
        found = resource(sandbox, before[0])
    except Bad:
        return []
    return stored(sandbox, found)


def stored(sandbox: Sandbox, found: Resource) -> list[tuple[str, str]]:
    """The names of the kind's objects, as the page writes them."""
    return [(each.removeprefix("default/"), found.singular) for each in sorted(sandbox.names(found.id))]


def pods(sandbox: Sandbox, _: list[str]) -> list[tuple[str, str]]:
    return stored(sandbox, PODS)


def nodes(sandbox: Sandbox, _: list[str]) -> list[tuple[str, str]]:
    return stored(sandbox, NODES)


def namespaces(sandbox: Sandbox, _: list[str]) -> list[tuple[str, str]]:
    return stored(sandbox, NAMESPACES)
