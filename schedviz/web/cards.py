"""The sandboxes as the home page shows them."""

import msgspec

from schedviz.store import Meta, NoSandbox, Store
from schedviz.web.ideas import is_example
from schedviz.web.scenarios import told
from schedviz.web.view.picture import NODES, PODS


class Card(msgspec.Struct, frozen=True):
    name: str
    title: str
    paused: bool
    running: bool
    """Some worker leads it."""
    nodes: int
    pods: int
    pending: int


def cards(store: Store) -> list[Card]:
    """Newest first; without the ideas' examples, which have their own pages."""
    shown = [meta for meta in reversed(store.sandboxes()) if not is_example(meta)]
    return [card for meta in shown if (card := read(store, meta)) is not None]


def read(store: Store, meta: Meta) -> Card | None:
    """None where it was deleted meanwhile."""
    try:
        sandbox = store.sandbox(meta.name)
        return Card(
            name=meta.name,
            title=told(meta).title or meta.name,
            paused=sandbox.clock().paused,
            running=sandbox.lease() is not None,
            nodes=sandbox.count(NODES),
            pods=sandbox.count(PODS),
            pending=sandbox.pending(),
        )
    except NoSandbox:
        return None
