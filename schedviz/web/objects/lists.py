"""All that is stored, in lists: the kinds with their counts, and one kind's objects as kubectl get prints
them."""

from itertools import islice
from typing import Any, Final

import msgspec

from schedviz.api.stored_resource import find_stored
from schedviz.limit_settings import LIMITS
from schedviz.store import Sandbox
from schedviz.store.past import Readable
from schedviz.web.kubectl.tables import table_of
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resource import Resource

OBJECTS_AT_ONCE: Final = 50
"""A screen or two; the next page is one click away."""
PART_AT_MOST: Final = 253
"""Maximum number of letters of a name."""


NAMED_AT_ONCE: Final = 5
"""Number of objects of each kind that are listed when all kinds are searched; the kind's own list has the
others."""


class StoredKind(msgspec.Struct, frozen=True):
    """A kind in the list of stored objects. ``count`` of its objects have the searched text in their names,
    or all; ``first`` are the first of them by key."""

    resource: Resource
    count: int
    first: list[str] = []


class Size(msgspec.Struct, frozen=True):
    """What a sandbox holds, in megabytes with one decimal."""

    held: float
    objects: float
    log: float
    archive: float
    limit: int
    """MAX_MEGABYTES_PER_SANDBOX; 0 = there is none."""


class ObjectRow(msgspec.Struct, frozen=True):
    key: str
    label: str
    cells: list[Any]


class ObjectRows(msgspec.Struct, frozen=True):
    """A page of the objects of a kind. ``found`` of ``count`` have the text in their names; ``after``: where
    the next page begins, "" = there is none."""

    resource: Resource
    part: str
    count: int
    found: int
    columns: list[str]
    rows: list[ObjectRow]
    after: str
    later: bool


def present_size(sandbox: Sandbox) -> Size:
    """Return what the sandbox holds. Raises NoSandbox."""
    stored = sandbox.stored_bytes()
    return Size(
        held=_megabytes(stored.all),
        objects=_megabytes(stored.objects),
        log=_megabytes(stored.log),
        archive=_megabytes(stored.archive),
        limit=LIMITS["MAX_MEGABYTES_PER_SANDBOX"],
    )


def _megabytes(size: int) -> float:
    return round(size / 1_000_000, 1)


def kinds(sandbox: Readable, part: str = "") -> list[StoredKind]:
    """Return the kinds that have objects with this text in their names, by name."""
    found = []
    for name in sandbox.resources():
        keys = sorted(key for key in sandbox.names(name) if part in key) if part else []
        count = len(keys) if part else sandbox.count(name)
        resource = find_stored(sandbox, name) if count else None
        if resource is not None:
            found.append(StoredKind(resource, count, keys[:NAMED_AT_ONCE]))
    return sorted(found, key=lambda kind: (kind.resource.kind, kind.resource.group))


def objects(sandbox: Readable, resource: Resource, part: str, after: str) -> ObjectRows:
    keys = sorted(sandbox.names(resource.id))
    matching = [key for key in keys if part in key]
    rest = (key for key in matching if key > after)
    shown = [*islice(rest, OBJECTS_AT_ONCE)]
    items = [item for item in (sandbox.get(resource.id, key) for key in shown) if item is not None]
    try:
        printed = table_of(sandbox, resource, items)
    except TooLarge:  # the columns of a definition; the names are listed without them
        printed = table_of(sandbox, msgspec.structs.replace(resource, columns_text=""), items)
    always = [at for at, column in enumerate(printed["columnDefinitions"]) if not column["priority"]]
    names = [printed["columnDefinitions"][at]["name"] for at in always]
    rows = []
    for row in printed["rows"]:
        metadata = row["object"]["metadata"]
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        cells = [row["cells"][at] for at in always[1:]]
        rows.append(ObjectRow(key, key.removeprefix("default/"), cells))
    return ObjectRows(
        resource=resource,
        part=part,
        count=len(keys),
        found=len(matching),
        columns=names[1:],
        rows=rows,
        after=shown[-1] if shown and next(rest, None) is not None else "",
        later=bool(after),
    )
