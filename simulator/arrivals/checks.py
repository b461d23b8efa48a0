"""Checks of arrivals before they are played: their names, and what admission says to their objects."""

from collections.abc import Mapping, Sequence

import msgspec

from simulator.api import Change, Manifest
from simulator.apiserver.admission import admit
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.patches.json_patch import apply_merge_patch
from simulator.apiserver.status import StatusError
from simulator.arrivals.arrival import WORKLOADS, Arrival, ArrivalError, identity
from simulator.memory_sandbox import START


def check_names(arrivals: Sequence[Arrival]) -> None:
    """Raise ArrivalError for an object that is created while another one of its name is there. Pods that end
    by themselves may be there no more; a name is free again when an arrival deletes it."""
    lines: dict[tuple[str, str], int] = {}
    entries = (
        (time, each.line, what, identity(manifest))
        for each in arrivals
        for time, what, manifest in each.entries()
        if "name" in manifest["metadata"]
    )
    for _, line, what, place in sorted(entries, key=lambda entry: entry[0]):
        if what == "delete":
            lines.pop(place, None)
        elif what == "create" and place in lines:
            other = f", as in line {lines[place]}" if lines[place] else ""
            raise ArrivalError(f"there are two of kind {place[0]} named {place[1]}{other}", line, "name")
        elif what == "create":
            lines[place] = line


def check_admission(arrivals: Sequence[Arrival], cluster: list[Change]) -> None:
    """Raise ArrivalError for an object that admission refuses, also for one that it refuses after a change.
    Of arrivals that differ only in their times, names and counts, the first one is asked about."""
    reader, seen = CreatedObjects(cluster), set[bytes]()
    changing = {identity(each.object) for each in arrivals if each.change and each.object is not None}
    changed: dict[tuple[str, str], Manifest] = {}
    if changing:
        there = (change.object for change in cluster if change.object is not None)
        changed = {place: each for each in there if (place := identity(each)) in changing}
    for arrival in arrivals:
        each = arrival
        if each.delete or (is_there(each) and not changing):
            continue
        if each.change:
            each = msgspec.structs.replace(each, object=_after(each, changed))
        _, _, manifest = next(each.entries())
        if changing and identity(manifest) in changing:
            changed[identity(manifest)] = manifest
        shape = _shape(each)
        if shape in seen or is_there(arrival):
            continue
        seen.add(shape)
        try:
            admit([manifest], reader, START, source="arrivals")
        except StatusError as refused:
            column = "object" if each.object is not None else ""
            raise ArrivalError(
                f"{each.name or identity(manifest)[1]}: {refused}", each.line, column
            ) from None


def _after(arrival: Arrival, there: Mapping[tuple[str, str], Manifest]) -> Manifest:
    """Return the object after a change. Raises ArrivalError."""
    assert arrival.object is not None
    place = identity(arrival.object)
    if place not in there:
        raise ArrivalError(f"there is no {place[0]} {place[1]} to change", arrival.line, "object")
    found: Manifest = apply_merge_patch(there[place], arrival.object)
    return found


def _shape(arrival: Arrival) -> bytes:
    """Return what is the same of arrivals whose objects admission takes or refuses alike."""
    manifest, duration = arrival.object, None if arrival.duration is None else 1
    if manifest is not None:
        metadata = {field: value for field, value in manifest["metadata"].items() if field != "name"}
        manifest = {**manifest, "metadata": metadata}
    named = "a" if arrival.name else ""
    same = msgspec.structs.replace(
        arrival, time=0, line=0, count=1, name=named, duration=duration, object=manifest
    )
    return msgspec.json.encode(same)


def is_there(arrival: Arrival) -> bool:
    """Whether an arrival is an object of the cluster at its beginning."""
    manifest = arrival.object
    creates = not (arrival.time or arrival.delete or arrival.change)
    return manifest is not None and creates and manifest.get("kind") not in ("Pod", *WORKLOADS)
