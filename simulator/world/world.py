"""What all simulated components share: the time, the agenda, what the informers saw, and the way to the API
server."""

from collections.abc import Callable, Sequence

from simulator.api import ApiError, ApiServer, Change, Manifest, Micros
from simulator.scheduler.event_recorder import EVENTS, EventRecorder
from simulator.trace import Event
from simulator.world.agenda import Agenda
from simulator.world.informer import Informer

Mutate = Callable[[Manifest], Manifest | None]
"""Makes the new version of an object; None deletes it, the object itself leaves it as it is. May raise
:class:`Refused`."""
Done = Callable[[str], None]
"""Told how a write ended: "" = well, else why not."""

RETRIES = 16
"""How often one write waits for the object's newer version before it is given up: as many others were
quicker."""


class Refused(Exception):
    """The API server would refuse this write; the text is what it would say."""


def nobody(problem: str) -> None:
    """For writes whose end nobody waits for."""


class World:
    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self.now: Micros = 0
        self.agenda = Agenda()
        self.informer = Informer()
        self.events = EventRecorder(self.clock, self.informer)
        self.trace: list[Event] = []
        self._own: set[int] = set()
        self._waiting: dict[tuple[str, str], list[Callable[[], None]]] = {}

    def clock(self) -> Micros:
        return self.now

    def emit(self, event: Event) -> None:
        self.trace.append(event)

    def commit(self, changes: Sequence[Change], told: Sequence[Event] = ()) -> None:
        """Write. Raises ApiError.

        ``told`` says what the write means. It is in the trace before the write, so that a store which keeps
        both keeps both or neither, and out of it again where the write is refused."""
        self.trace += told
        try:
            self._own.update(self._api.commit(changes))
        except ApiError:
            for refused in told:
                self.trace.remove(refused)
            raise

    def write(self, changes: Sequence[Change], told: Sequence[Event], recorded: Sequence[Change]) -> None:
        """Write, together with Event objects that speak of it; without those where they are refused."""
        try:
            if changes or recorded:
                self.commit([*changes, *recorded], told)
            else:
                self.trace += told
        except ApiError as error:
            if error.resource != EVENTS:
                raise
            self.write(changes, told, ())

    def is_own(self, version: int) -> bool:
        """Whether one of the components wrote this version; asked once, when it is observed."""
        if version not in self._own:
            return False
        self._own.discard(version)
        return True

    def listed(self, version: int) -> None:
        """What was written up to this version will not be observed one by one."""
        self._own = {own for own in self._own if own > version}

    def update(
        self,
        resource: str,
        key: str,
        uid: str,
        mutate: Mutate,
        done: Done = nobody,
        *,
        event: Callable[[], Event] | None = None,
        record: Callable[[], Sequence[Change]] = lambda: (),
        retries: int = RETRIES,
    ) -> None:
        """Change an object as a patch does: what others change meanwhile stands.

        Where somebody else was quicker, it is done again upon the newer version as soon as that is observed.
        ``event`` says what the write means; it is in the trace even where there was nothing to change.
        ``record`` makes the Event objects that speak of it (:mod:`simulator.scheduler.event_recorder`).
        """
        current = self.informer.get(resource, key)
        if current is None or current["metadata"].get("uid", "") != uid:
            done(f'{resource} "{key}" not found')
            return
        try:
            new = mutate(current)
            version = int(current["metadata"]["resourceVersion"])
            changes = [] if new is current else [Change(resource, key, new, version)]
            told = [event()] if event else []
            self.write(changes, told, record())
        except Refused as refusal:
            done(str(refusal))
        except ApiError as error:
            if retries and error.reason in ("Conflict", "NotFound"):
                # NotFound, too, will be observed: as the object's deletion.
                again = self._waiting.setdefault((resource, key), [])
                again.append(
                    lambda: self.update(
                        resource, key, uid, mutate, done, event=event, record=record, retries=retries - 1
                    )
                )
            else:
                done(str(error))
        else:
            done("")

    def observed(self, resource: str, key: str) -> None:
        """A newer version of this object is there: do what waited for it."""
        for again in self._waiting.pop((resource, key), ()):
            again()
