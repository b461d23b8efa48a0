"""Timetables: objects that are created at their time, by admission like everybody's.

A Timetable (``schedviz/v1``) holds entries of ``at``, ``every`` and ``until`` (durations from its own
creation on) and the ``object`` to create. How often each entry has come is kept in its status, written in the
same commit as the object, so that whoever takes over goes on exactly there."""

from typing import NamedTuple

from simulator.api import ApiError, Change, Manifest, Micros
from simulator.apiserver.admission import admit
from simulator.apiserver.status import StatusError
from simulator.apiserver.timestamps import micros
from simulator.objects import durations
from simulator.trace import CreateRefused
from simulator.world.agenda import Turn
from simulator.world.world import World

TIMETABLES = "timetables.schedviz"
SHORTEST_PERIOD: Micros = 100_000
"""Ten a second: a shorter ``every`` counts as this, so that a slip of the pen floods no sandbox."""


class Entry(NamedTuple):
    at: Micros
    every: Micros | None
    until: Micros | None
    object: Manifest

    def time(self, done: int) -> Micros | None:
        """When it comes next, having come ``done`` times; None = never again."""
        if done == 0:
            return self.at
        if self.every is None:
            return None
        time = self.at + done * self.every
        return time if self.until is None or time <= self.until else None


class TimetableController:
    def __init__(self, world: World) -> None:
        self._world = world
        self._planned: dict[str, int] = {}

    def timetable_changed(self, key: str, manifest: Manifest | None) -> None:
        """A new version is there, perhaps with what was created a moment ago; None = it is gone."""
        if key in self._planned:
            self._world.agenda.cancel(self._planned.pop(key))
        if manifest is None:
            return
        try:
            coming = next_entry(manifest)
        except ValueError as error:
            self._refused(key, 0, str(error))
            return
        if coming is not None:
            time, index = coming
            self._planned[key] = self._world.agenda.add(
                max(time, self._world.now), Turn.TIMETABLE, lambda: self._create(key, manifest, index)
            )

    def _create(self, key: str, timetable: Manifest, index: int) -> None:
        del self._planned[key]
        metadata = timetable["metadata"]
        done = created(timetable)
        source = f"{TIMETABLES}/{metadata.get('uid', key)}/{index}/{done[index]}"
        done[index] += 1
        moved_on = Change(
            TIMETABLES,
            key,
            {**timetable, "status": {"created": done}},
            int(metadata["resourceVersion"]),
        )
        try:
            admission = admit(
                [timetable["spec"]["entries"][index]["object"]],
                self._world.informer,
                self._world.now,
                source=source,
            )
            changes = [*admission.changes, moved_on]
        except StatusError as refusal:
            self._refused(key, index, str(refusal))
            changes = [moved_on]
        try:
            self._world.commit(changes)
        except ApiError as error:
            if error.resource == TIMETABLES:
                return  # Somebody changed the timetable: its newer version will say how it goes on.
            self._refused(key, index, str(error))
            self._world.update(TIMETABLES, key, metadata.get("uid", ""), lambda _: moved_on.object)

    def _refused(self, key: str, index: int, message: str) -> None:
        self._world.emit(CreateRefused(t=self._world.now, timetable=key, entry=index, message=message))


def created(timetable: Manifest) -> list[int]:
    """How often each entry has come."""
    done = list((timetable.get("status") or {}).get("created") or ())
    entries = len(timetable["spec"]["entries"])
    return [*done, *([0] * entries)][:entries]


def next_entry(timetable: Manifest) -> tuple[Micros, int] | None:
    """When the next object is to be created, and by which entry; None when all is done."""
    start = micros(timetable["metadata"]["creationTimestamp"])
    times = (
        (time, index)
        for index, (entry, done) in enumerate(zip(entries(timetable), created(timetable), strict=True))
        if (time := entry.time(done)) is not None
    )
    first = min(times, default=None)
    return None if first is None else (start + first[0], first[1])


def entries(timetable: Manifest) -> list[Entry]:
    """Raises ValueError for what is no duration."""
    return [
        Entry(
            durations.parse(entry["at"]),
            max(SHORTEST_PERIOD, durations.parse(entry["every"])) if entry.get("every") else None,
            durations.parse(entry["until"]) if entry.get("until") else None,
            entry["object"],
        )
        for entry in timetable["spec"]["entries"]
    ]
