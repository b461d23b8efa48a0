"""The timetable controller: creates, changes and deletes objects at given times, through admission.

A Timetable (``schedviz/v1``) has entries of ``at``, ``every`` and ``until`` (durations since its own
creation) and the ``object`` to create; with ``change`` the identity of one to change, and a merge patch; with
``delete`` the identity of one to delete. Its status counts the writes of each entry. The count and the object
are stored in one commit, so that a new leader continues with the next one."""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.api import ApiError, Change, Manifest, Micros
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import StatusError
from simulator.controllers.controller import Controller
from simulator.controllers.work_queue import ObjectKey
from simulator.kernel.environment import Turn
from simulator.objects import durations
from simulator.objects.metadata import created_at, name_of, object_key
from simulator.objects.status import status_of
from simulator.trace import CreateRefused

TIMETABLES = "timetables.schedviz"
SHORTEST_PERIOD: Micros = 100_000
"""The shortest period, ten creations a second: a shorter ``every`` counts as this, so that a typing error
does not flood the cluster."""

MOST_MISSED = 10_000
"""Maximum number of missed creations of one entry that are made up for: with the shortest period, a quarter
of an hour."""


class TimetableEntry(NamedTuple):
    at: Micros
    every: Micros | None
    until: Micros | None
    object: Manifest

    def next_time(self, created: int) -> Micros | None:
        """Return the time at which the next object is created after this number of creations; None =
        never."""
        if created == 0:
            return self.at
        if self.every is None:
            return None
        time = self.at + created * self.every
        return time if self.until is None or time <= self.until else None

    def count_after(self, created: int, elapsed: Micros) -> int:
        """Return the number of creations to store after one more. If more than MOST_MISSED are due, all but
        the last are skipped and counted."""
        if self.every is None or elapsed < self.at:
            return created + 1
        passed = (elapsed - self.at) // self.every + 1
        return passed if passed - created > MOST_MISSED else created + 1


class TimetableController(Controller):
    component = "Timetable"
    resource = TIMETABLES
    watches = (TIMETABLES,)
    turn = Turn.TIMETABLE

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        self._queue.remove(ObjectKey(TIMETABLES, key))
        if new is not None:
            self._plan(key, new)

    def _plan(self, key: str, timetable: Manifest) -> None:
        """Add the timetable to the work queue for the time of its next creation."""
        try:
            coming = next_creation(timetable)
        except ValueError as error:
            self._refused(key, 0, str(error))
            return
        if coming is not None:
            # After a pause many creations are due at one moment: each is counted by itself, for the limit.
            counted_as = f"{key} {sum(created_counts(timetable))}"
            self._queue.add(ObjectKey(TIMETABLES, key), coming[0], counted_as=counted_as)

    def sync(self, key: str, manifest: Manifest) -> None:
        coming = next_creation(manifest)
        if coming is not None and coming[0] <= self._world.now:
            self._create_next(key, manifest, coming[1])
        else:
            self._plan(key, manifest)

    def _create_next(self, key: str, timetable: Manifest, index: int) -> None:
        metadata = timetable["metadata"]
        counts = created_counts(timetable)
        source = f"{TIMETABLES}/{metadata.get('uid', key)}/{index}/{counts[index]}"
        elapsed = self._world.now - created_at(timetable)
        counts[index] = entries(timetable)[index].count_after(counts[index], elapsed)
        counted = {**timetable, "status": {"created": counts}}
        server = self._world.server
        count = server.update_by_component(TIMETABLES, timetable, counted)
        changes = count
        try:
            entry = timetable["spec"]["entries"][index]
            if entry.get("delete"):
                changes = [*self._deletion(entry["object"]), *count]
            elif entry.get("change"):
                changes = [*self._change(entry["object"]), *count]
            else:
                changes = [*server.create_all([entry["object"]], source=source).changes, *count]
        except StatusError as refusal:
            self._refused(key, index, str(refusal))
        try:
            self._world.commit(changes)
        except ApiError as error:
            if error.resource == TIMETABLES:
                return  # The timetable was changed: its newer version will be observed and planned.
            self._refused(key, index, str(error))
            self.patch(TIMETABLES, timetable, lambda _: counted)

    def _deletion(self, named: Manifest) -> Sequence[Change]:
        """Return the changes that delete the object that an entry names; none if it is gone."""
        _, found = self._find(named)
        return self._world.server.delete_by_component(found) if found is not None else []

    def _change(self, patch: Manifest) -> Sequence[Change]:
        """Return the changes that a merge patch makes, to spec, metadata and status; none if the object is
        gone. Raises StatusError."""
        resource, found = self._find(patch)
        if resource is None or found is None:
            return []
        fields = {field: value for field, value in patch.items() if field not in ("apiVersion", "kind")}
        return self._world.server.update_whole(resource, found, apply_merge_patch(found, fields))

    def _find(self, named: Manifest) -> tuple[Resource | None, Manifest | None]:
        """Return the resource and the object that an entry names."""
        resource = self._world.server.find_kind(named["apiVersion"], named["kind"])
        if resource is None:
            return None, None
        namespace = named["metadata"].get("namespace") or "default" if resource.namespaced else ""
        return resource, self._world.get(resource.id, object_key(namespace, name_of(named)))

    def _refused(self, key: str, index: int, message: str) -> None:
        self._world.emit(CreateRefused(t=self._world.now, timetable=key, entry=index, message=message))


def created_counts(timetable: Manifest) -> list[int]:
    """Return the number of creations of each entry."""
    counts: Sequence[int] = status_of(timetable).get("created") or ()
    entries = len(timetable["spec"]["entries"])
    return [*counts, *([0] * entries)][:entries]


def next_creation(timetable: Manifest) -> tuple[Micros, int] | None:
    """Return the time of the next creation and the index of its entry; None = there are no more. Raises
    ValueError for text that is no duration."""
    start = created_at(timetable)
    times = (
        (time, index)
        for index, (entry, created) in enumerate(
            zip(entries(timetable), created_counts(timetable), strict=True)
        )
        if (time := entry.next_time(created)) is not None
    )
    first = min(times, default=None)
    return None if first is None else (start + first[0], first[1])


def entries(timetable: Manifest) -> list[TimetableEntry]:
    """Parse the entries of a Timetable. Raises ValueError for text that is no duration."""
    return [
        TimetableEntry(
            durations.parse_duration(entry["at"]),
            max(SHORTEST_PERIOD, durations.parse_duration(entry["every"])) if entry.get("every") else None,
            durations.parse_duration(entry["until"]) if entry.get("until") else None,
            entry["object"],
        )
        for entry in timetable["spec"]["entries"]
    ]
