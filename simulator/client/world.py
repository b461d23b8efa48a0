"""The environment of all components: simulated time (:mod:`simulator.kernel`), what the informer shows, and
the writes to the API server."""

import logging
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from simulator.api import ApiError, ApiServerLost, Change, Manifest, Micros, Storage
from simulator.apiserver.component_writes import MakeServer
from simulator.apiserver.status import Conflict, NotFound, StatusError
from simulator.client.event_recorder import FAILED_CREATE, FAILED_SYNC, EventRecorder, Note
from simulator.client.informer import Informer
from simulator.kernel.containment import Actor, Refusal, Run, message_of
from simulator.kernel.environment import Environment
from simulator.kernel.requests import Outcome, Refused, Write, Written
from simulator.objects.events import EVENTS
from simulator.trace import ControllerFailed, ControllerPostponed, Event, ObjectUnreadable
from simulator.versions.features import Features

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


log = logging.getLogger(__name__)

RETRIES: Final = 16
"""The number of times that a patch is made again because others have changed the object in between."""

Finish = Callable[[Outcome], object]


class CreateFailed(Refusal):
    """The API server refused to create an object; the text is its answer."""


class World(Environment):
    """All that components share. ``storage`` takes the writes that the API server decides, on what the
    informer shows."""

    def __init__(self, storage: Storage, make_server: MakeServer, features: Features) -> None:
        super().__init__()
        self._storage = storage
        self.features = features
        self.informer = Informer()
        self.server = make_server(self.informer, self.clock, features)
        self.events = EventRecorder(self.clock, self.informer)
        self.trace: list[Event] = []
        self._own: dict[int, Run | None] = {}
        """Versions that components wrote and the watch has not shown yet, and the run that wrote them."""
        self._retries: dict[tuple[str, str], list[tuple[Patch, Finish, int]]] = {}
        """Patches that wait for the newer version of an object, with the number of retries left."""

    def emit(self, event: Event) -> None:
        """Add an event to the trace."""
        self.trace.append(event)

    def get(self, resource: str, key: str) -> Manifest | None:
        """Return an object as the informer shows it."""
        return self.informer.get(resource, key)

    # Failures

    def report(self, actor: Actor, fault: Exception) -> None:
        message = message_of(fault)
        expected = isinstance(fault, Refusal)
        log.warning("%s failed: %s", actor, message, exc_info=None if expected else fault)
        self.emit(ControllerFailed(t=self.now, controller=str(actor), message=message))
        manifest = self.informer.get(actor.resource, actor.key)
        if manifest is not None:
            created = isinstance(fault, CreateFailed)
            note = f"Error creating: {message}" if created else message
            occasion = FAILED_CREATE if created else FAILED_SYNC
            self._record(lambda: self.events.about(occasion, note, manifest, actor.component))

    def report_postponed(self, actor: Actor, runs: int, until: Micros) -> None:
        log.warning("%s acted %d times at one moment and is postponed", actor, runs)
        self.emit(ControllerPostponed(t=self.now, controller=str(actor), runs=runs, until=until))

    def report_unreadable(self, resource: str, key: str, manifest: Manifest, fault: Exception) -> None:
        """Report an object that does not fit its kind."""
        message = message_of(fault)
        log.warning("%s %s cannot be read: %s", resource, key, message)
        self.emit(ObjectUnreadable(t=self.now, resource=resource, key=key, message=message))
        note = f"The object does not fit its kind and is left out: {message}"
        self._record(lambda: self.events.about(FAILED_SYNC, note, manifest, "Informer"))

    def _record(self, changes: Callable[[], Sequence[Change]]) -> None:
        """Write an Event object. If that fails it is given up, as upstream does."""
        try:
            self.commit(changes())
        except Exception as fault:
            log.warning("an Event could not be recorded: %s", message_of(fault))

    # Writes

    def commit(self, changes: Sequence[Change], events: Sequence[Event] = ()) -> None:
        """Write all changes or none. Raises ApiError.

        ``events`` are the trace events of the write. They are in the trace before the write, so that a store
        that keeps both keeps both or neither; they are removed again if the write is refused."""
        self.trace += events
        try:
            self._own.update(dict.fromkeys(self._storage.commit(changes), self.current))
        except ApiError:
            for refused in events:
                self.trace.remove(refused)
            raise
        except Exception as error:  # after any error it is unknown what was stored
            raise ApiServerLost(error) from error

    def record(self, note: Note) -> None:
        """Write an Event object of its own. Nothing happens if it is refused."""
        self._commit_with_note((), (), self.events.event(note))

    def _commit_with_note(
        self, changes: Sequence[Change], events: Sequence[Event], recorded: Sequence[Change]
    ) -> None:
        """Write the changes together with Event objects; without those if they are refused."""
        try:
            if changes or recorded:
                self.commit([*changes, *recorded], events)
            else:
                self.trace += events
        except ApiError as error:
            if error.resource != EVENTS:
                raise
            self._commit_with_note(changes, events, ())

    def update(
        self,
        resource: str,
        key: str,
        uid: str,
        mutate: Mutate,
        *,
        event: Event | None = None,
        note: Note | None = None,
    ) -> None:
        """Update an object at its newest version, without waiting for the outcome."""

        def decide(current: Manifest) -> Sequence[Change]:
            return self.server.update_by_component(resource, current, mutate(current))

        self.make(Patch(resource, key, uid, decide, event, note))

    def make(self, patch: Patch) -> None:
        """Make a :class:`Patch`, without waiting for its outcome. What it raises is raised here."""
        self._patch(patch, _ignore, RETRIES)

    def write(self, write: Write, finish: Finish) -> Outcome | None:
        change: Change | Sequence[Change] | Patch = write.change
        try:
            if isinstance(change, Patch):
                return self._patch(change, finish, RETRIES)
            self.commit([change] if isinstance(change, Change) else change)
        except StatusError as refusal:
            return Refused(refusal.reason, str(refusal))
        except ApiError as error:
            return _refused(error)
        return Written()

    def _patch(self, patch: Patch, finish: Finish, retries: int) -> Outcome | None:
        resource, key, uid, decide, event, note = patch
        current = self.informer.get(resource, key)
        if current is None or current["metadata"].get("uid", "") != uid:
            return Refused("NotFound", f'{resource} "{key}" not found')
        changes = decide(current)
        if event is not None and event.t != self.now:
            event = msgspec.structs.replace(event, t=self.now)
        recorded = self.events.event(note) if note is not None else ()
        try:
            self._commit_with_note(changes, [event] if event is not None else [], recorded)
        except ApiError as error:
            if retries and error.reason in ("Conflict", "NotFound"):
                # The informer will show NotFound, too: as the object's deletion.
                self._retries.setdefault((resource, key), []).append((patch, finish, retries - 1))
                return None
            return _refused(error)
        return Written()

    # What the watch shows

    def observed(self, resource: str, key: str) -> None:
        """Make the patches again that wait for a newer version of an object, when the informer shows it."""
        for patch, finish, retries in self._retries.pop((resource, key), ()):
            try:
                outcome = self._patch(patch, finish, retries)
            except Exception as fault:  # the one who waits for the write handles it
                reason = fault.reason if isinstance(fault, StatusError) else "InternalError"
                outcome = Refused(reason, message_of(fault))
            if outcome is not None:
                finish(outcome)

    def is_own(self, version: int) -> bool:
        """Whether a component wrote this version; to be asked once, when it is observed. What follows from it
        is caused by the run that wrote it."""
        own = version in self._own
        self.current = self._own.pop(version, None)
        return own

    def listed(self, version: int) -> None:
        """Note that the informer has listed all objects: what was written up to this version will not be
        watched."""
        self._own = {own: run for own, run in self._own.items() if own > version}


def _ignore(outcome: Outcome) -> None:
    """Ignore the outcome of an update for which no process waits."""


def _refused(error: ApiError) -> Refused:
    """Return the answer in kube-apiserver's words."""
    status = {"NotFound": NotFound, "Conflict": Conflict}.get(error.reason)
    name = error.key.rpartition("/")[2]
    return Refused(error.reason, str(status(error.resource, name)) if status else str(error))
