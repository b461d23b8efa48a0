"""Creates a branch: a new sandbox with the state of another one, now or at a past moment."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from schedviz.api.edits import apply_edits
from schedviz.api.new_sandbox import new_sandbox, numbered
from schedviz.store import NoSandbox, Sandbox, Store
from schedviz.store.model import Origin
from schedviz.store.options_at import with_options_at
from schedviz.store.past import Past
from schedviz.store.store import NAME_AT_MOST
from simulator.api import Change, Manifest
from simulator.apiserver.status import NotFound
from simulator.dumps.imported import without_missing_owners
from simulator.what_if.edit import Edit

BRANCHES_AT_MOST: Final = 99
"""Maximum number of branches of one sandbox that :func:`branch_of_now` can number."""
STEM_AT_MOST: Final = 59
"""Maximum number of characters of the original name that a branch's name keeps: with "-b99" it has 63, the
maximum of a DNS label."""

NUMBER_CHARACTERS: Final = 4
"""The characters that :func:`numbered` may add to a name: ``-500``."""

BranchedObjects = dict[str, dict[str, Manifest]]
"""Resource -> key -> manifest."""


def branch_of_moment(store: Store, past: Past, name: str, access: str = "") -> Sandbox:
    """Create a paused sandbox with the state of a past moment: the objects with their uids and times, created
    in the order in which they were written; the queue places; the clock; the number of the last cycle; and
    the options of the leader of that moment. access: its access record, which has nothing of the original's.

    Raises StatusError, ValueError for a name that is not a DNS label.
    """
    mark = past.moment.mark
    wall = store.wall()
    original = past.sandbox.meta()
    meta = replace(
        with_options_at(original, past.history, mark.entry),
        stands_down=past.stands_down(),
        created=wall,
        origin=Origin(past.name, past.seq, mark.now),
    ).acting()
    clock = past.sandbox.clock().stopped(mark.now, wall)
    changes = creations(past.moment.objects, of_mirror=original.mirror is not None)
    with new_sandbox(
        store, [name], meta, changes, clock, queue_places=past.moment.queue_places, after=mark, access=access
    ) as made:
        return made


def branch_of_now(
    store: Store,
    sandbox: Sandbox,
    edits: Sequence[Edit],
    change: str = "",
    access: str = "",
    *,
    names: Iterable[str] | None = None,
) -> Sandbox:
    """Create a sandbox with the current objects and the edits, at the same simulated time; it is paused if
    this one is. change: what the edits change, in a sentence. Its name is the first free one of ``names``;
    None = of ``demo-b1``, ``demo-b2`` and so on. access: its access record.

    The queue places are not copied: its leader queues the pods again. Raises StatusError."""
    try:
        seq = sandbox.trace_head()
        objects, _ = sandbox.list_all()
        meta = sandbox.meta()
        clock, wall = sandbox.read_clock()
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    origin = Origin(meta.name, seq, clock.now(wall), change)
    changes = creations(objects, of_mirror=meta.mirror is not None)
    meta = replace(meta, created=wall, origin=origin).acting()
    clock = replace(clock.rebased(wall), steps=UNSET, until=UNSET)
    stem = meta.name[:STEM_AT_MOST].rstrip("-")
    proposed = (f"{stem}-b{number}" for number in range(1, BRANCHES_AT_MOST + 1))
    with new_sandbox(store, names or proposed, meta, changes, clock, access=access) as made:
        apply_edits(made, edits, ignore_versions=True)
        return made


def names_at(store: Store, name: str, seq: int) -> Iterator[str]:
    """Yield free names for a branch of a past moment: ``demo-at-120``, ``demo-at-120-2`` and so on."""
    suffix = f"-at-{seq}"
    return numbered(store, f"{name[: NAME_AT_MOST - len(suffix) - NUMBER_CHARACTERS]}{suffix}")


def creations(objects: BranchedObjects, *, of_mirror: bool = False) -> list[Change]:
    """Return changes that create the objects, in the order in which they were written. ``of_mirror``: without
    the references to owners that a mirror does not follow, as the garbage collector acts in the branch."""
    found = [
        (int(manifest["metadata"]["resourceVersion"]), Change(resource, key, manifest, expected=0))
        for resource, collection in objects.items()
        for key, manifest in collection.items()
    ]
    if of_mirror:
        uids = {change.object["metadata"]["uid"] for _, change in found if change.object}
        found = [
            (version, replace(change, object=without_missing_owners(change.object, uids)))
            for version, change in found
            if change.object
        ]
    return [change for _, change in sorted(found, key=lambda each: each[0])]
