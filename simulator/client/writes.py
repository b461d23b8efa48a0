"""The writes that a component can wait for. ``yield Write(change)`` in a process takes a
:class:`simulator.api.Change`, which is refused if the object has another version than expected (an update),
or a :class:`Patch`."""

from collections.abc import Callable
from typing import NamedTuple

from simulator.api import Manifest
from simulator.client.event_recorder import Note
from simulator.trace import Event

Mutate = Callable[[Manifest], Manifest | None]
"""Makes the new version of an object: None deletes it, the object itself leaves it unchanged. A StatusError
that it raises is the answer to a process that waits for the write."""


class Patch(NamedTuple):
    """Change an object at its newest version. If it was changed in between, the patch is made
    again upon that version, as soon as the informer shows it."""

    resource: str
    key: str
    uid: str
    mutate: Mutate
    event: Event | None = None
    """The trace event of the write, with its time; it is in the trace even if there is nothing to change."""
    note: Note | None = None
    """The Event object that is written with it."""
    removes: bool = False
    """Whether the object is removed in the same commit, after the change."""
