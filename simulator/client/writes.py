"""The writes that a component can wait for. ``yield Write(changes)`` in a process takes the changes of an
update, as the API server decides it (:class:`simulator.apiserver.component_writes.ComponentWrites`), or one
change, which are refused if the object has another version than expected, or a :class:`Patch`."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from simulator.api import Change, Manifest
from simulator.client.event_recorder import Note
from simulator.trace import Event

Decide = Callable[[Manifest], Sequence[Change]]
"""Asks the API server for the changes of an object at this version. A StatusError that it raises is the
answer to a process that waits for the write."""
Mutate = Callable[[Manifest], Manifest]
"""Makes the new version of an object; the object itself leaves it unchanged."""


class Patch(NamedTuple):
    """Change an object at its newest version. If it was changed in between, the patch is made
    again upon that version, as soon as the informer shows it."""

    resource: str
    key: str
    uid: str
    decide: Decide
    event: Event | None = None
    """The trace event of the write, with its time; it is in the trace even if there is nothing to change."""
    note: Note | None = None
    """The Event object that is written with it."""
