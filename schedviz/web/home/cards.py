"""The list of sandboxes on the home page."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from schedviz.access.asker import asker_by
from schedviz.access.identity import sandboxes_have_owners
from schedviz.access.record import read_record
from schedviz.access.rights import Right
from schedviz.access.visitor import Visitor
from schedviz.lessons.start import is_own_sandbox
from schedviz.rooms.room import room_of
from schedviz.store import Meta, Store
from schedviz.store.model import Summary
from schedviz.web.examples import is_example
from schedviz.web.picture.picture import NODES, PODS
from schedviz.web.scenarios import translated_meta


class SandboxCard(msgspec.Struct, frozen=True):
    name: str
    title: str
    paused: bool
    running: bool
    """Whether a worker leads it."""
    nodes: int
    pods: int
    pending: int
    kubernetes: str
    """The version, with its patch."""
    stands_down: bool
    mirrors: bool
    """Whether its scheduler leaves all pods to outside schedulers."""


class Cards(NamedTuple):
    """The sandboxes of the home page, newest first."""

    own: list[SandboxCard]
    """The sandboxes of the visitor; where sandboxes have no owners, all."""
    shared: list[SandboxCard]
    """The sandboxes whose links the visitor has opened."""
    public: list[SandboxCard]
    """The sandboxes without an owner, which all visitors may view."""
    others: list[SandboxCard]
    """The other sandboxes, for an administrator."""
    unreadable: list[str]
    """The names of the visitor's sandboxes that cannot be read."""


def cards(store: Store, visitor: Visitor) -> Cards:
    """Return the cards of the sandboxes that the visitor may see. See :func:`is_listed`."""
    found, unreadable = store.summaries([NODES, PODS])
    lists = Cards([], [], [], [], [])
    for each in reversed(found):
        if not is_listed(each.meta) and not visitor.is_administrator:
            continue
        card, right = sandbox_card(each), _right(visitor, each.meta.name, each.access)
        if visitor.is_administrator and not _is_own(visitor, each):
            lists.others.append(card)
        elif right == Right.OWN:
            lists.own.append(card)
        elif right:
            (lists.shared if read_record(each.access).owner else lists.public).append(card)
    lists.unreadable.extend(
        name for name, access in unreadable.items() if _right(visitor, name, access) == Right.OWN
    )
    return lists


def _is_own(visitor: Visitor, found: Summary) -> bool:
    return is_listed(found.meta) and read_record(found.access).owner == visitor.owner


def _right(visitor: Visitor, name: str, access: str) -> Right:
    return asker_by(name, visitor, read_record(access)).right if sandboxes_have_owners() else Right.OWN


def visible_names(store: Store, visitor: Visitor, also: str) -> list[str]:
    """Return the names of the sandboxes that the visitor may see, sorted. also: of an example to list,
    too."""
    found, _ = store.summaries([])
    return sorted(
        each.meta.name
        for each in found
        if (is_listed(each.meta) or (each.meta.name == also and is_example(each.meta)))
        and _right(visitor, each.meta.name, each.access)
    )


def visible_summaries(store: Store, visitor: Visitor, counted: Sequence[str]) -> list[tuple[Summary, Right]]:
    """Return the sandboxes of the home page that the visitor may see, each with the right on it, the newest
    first. counted: see :meth:`Store.summaries`."""
    found, _ = store.summaries(counted)
    listed = [each for each in reversed(found) if visitor.is_administrator or is_listed(each.meta)]
    rights = [(each, _right(visitor, each.meta.name, each.access)) for each in listed]
    return [(each, right) for each, right in rights if right]


def is_listed(meta: Meta) -> bool:
    """Whether the sandbox is on the home page: examples and the sandboxes of lessons and rooms have their
    own pages."""
    return not (is_example(meta) or is_own_sandbox(meta) or room_of(meta.name))


def sandbox_card(found: Summary) -> SandboxCard:
    return SandboxCard(
        name=found.meta.name,
        title=translated_meta(found.meta).title or found.meta.name,
        paused=found.clock.paused,
        running=found.led,
        nodes=found.counts[NODES],
        pods=found.counts[PODS],
        pending=found.pending,
        kubernetes=found.meta.features().version.patch,
        stands_down=found.meta.stands_down,
        mirrors=found.meta.mirror is not None,
    )
