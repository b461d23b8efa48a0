"""Finds the kinds and objects that a command names, as kubectl does, and proposes names."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.utils.translation import gettext

from schedviz.api.served import find_served
from schedviz.store.past import Readable
from schedviz.web.commands.line import Call, CommandError
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NAMESPACES, NODES, PODS

USUAL: Final = ("pods", "nodes", "priorityclasses", "poddisruptionbudgets", "deployments", "jobs")
"""The kinds that are proposed first."""


def resource(source: Readable, word: str) -> Resource:
    """Return the resource with this plural, singular, short name or ``plural.group``. Raises CommandError."""
    word = word.lower()
    for each in find_served(source).resources:
        if word in (each.plural, each.singular, each.id, *each.short_names):
            return each
    raise CommandError(
        gettext("There is no kind “%(kind)s”. Examples of kinds: pod, node, priorityclass.") % {"kind": word}
    )


def objects(call: Call) -> tuple[Resource, list[str]]:
    """Return the resource and the keys that ``KIND NAME...`` or ``KIND/NAME...`` names. Raises
    CommandError."""
    kind, slash, name = call.arguments[0].partition("/")
    names = [*([name] if slash else []), *call.arguments[1:]]
    found = resource(call.source, kind)
    if not names:
        raise CommandError(gettext("The name of the %(kind)s is missing.") % {"kind": found.singular})
    return found, [key(found, each, call.namespace) for each in names]


def single_object(call: Call) -> tuple[Resource, str, list[str]]:
    """Return the resource and the key of one object, and the arguments after it. Raises CommandError."""
    kind, slash, name = call.arguments[0].partition("/")
    found, rest = resource(call.source, kind), call.arguments[1:]
    if not slash and not rest:
        raise CommandError(gettext("The name of the %(kind)s is missing.") % {"kind": found.singular})
    name, rest = (name, rest) if slash else (rest[0], rest[1:])
    return found, key(found, name, call.namespace), rest


def key(found: Resource, name: str, namespace: str) -> str:
    """Return the key of an object. A name with a namespace, such as ``shop/web``, overrides ``namespace``."""
    inside, slash, bare = name.rpartition("/")
    return found.key(inside if slash else namespace, bare)


def kinds(source: Readable, _: list[str]) -> Iterator[tuple[str, str]]:
    """Propose the kinds that have objects, the usual ones first."""
    stored = source.resources()
    known = [each for each in find_served(source).resources if each.id in stored]
    for each in sorted(known, key=lambda each: (each.plural not in USUAL, each.plural)):
        yield each.singular, each.api_version


def names(source: Readable, before: list[str]) -> Iterable[tuple[str, str]]:
    """Propose the objects of the kind that is the first argument."""
    try:
        found = resource(source, before[0])
    except CommandError:
        return []
    return stored(source, found)


def stored(source: Readable, found: Resource) -> list[tuple[str, str]]:
    """Propose the objects of a resource, by name or ``namespace/name``."""
    return [(each.removeprefix("default/"), found.singular) for each in sorted(source.names(found.id))]


def pods(source: Readable, _: list[str]) -> list[tuple[str, str]]:
    return stored(source, PODS)


def nodes(source: Readable, _: list[str]) -> list[tuple[str, str]]:
    return stored(source, NODES)


def namespaces(source: Readable, _: list[str]) -> list[tuple[str, str]]:
    return stored(source, NAMESPACES)
