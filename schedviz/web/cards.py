"""The list of sandboxes on the home page."""

import msgspec

from schedviz.lessons.start import is_own_sandbox
from schedviz.rooms.room import room_of
from schedviz.store import Meta, Store
from schedviz.store.model import Summary
from schedviz.web.examples import is_example
from schedviz.web.presenters.picture import NODES, PODS
from schedviz.web.scenarios import translated_meta


class SandboxCard(msgspec.Struct, frozen=True):
    """One sandbox of the list."""

    name: str
    title: str
    paused: bool
    running: bool
    """Whether a worker leads it."""
    nodes: int
    pods: int
    pending: int


def cards(store: Store) -> tuple[list[SandboxCard], list[str]]:
    """The cards of all sandboxes, newest first, and the names of the sandboxes that cannot be read. See
    :func:`is_listed`."""
    found, unreadable = store.summaries([NODES, PODS])
    return [sandbox_card(each) for each in reversed(found) if is_listed(each.meta)], unreadable


def is_listed(meta: Meta) -> bool:
    """Whether the sandbox is on the home page: examples and the sandboxes of lessons and rooms have their
    own pages."""
    return not (is_example(meta) or is_own_sandbox(meta) or room_of(meta.name))


def sandbox_card(found: Summary) -> SandboxCard:
    """The card of one sandbox."""
    return SandboxCard(
        name=found.meta.name,
        title=translated_meta(found.meta).title or found.meta.name,
        paused=found.clock.paused,
        running=found.led,
        nodes=found.counts[NODES],
        pods=found.counts[PODS],
        pending=found.pending,
    )
