"""The edits of a what-if suggestion, made through the one write path; and a copy of a sandbox to make them
in."""

import time
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace as replace_fields

from schedviz.api import write
from schedviz.loop import wake
from schedviz.store import Clock, LimitReached, Meta, NoSandbox, Sandbox, SandboxExists, Store
from schedviz.store.bounds import MAX_CHANGES
from simulator.api import Change, Manifest, bare
from simulator.apiserver.admission import SERVER_FIELDS
from simulator.apiserver.status import AlreadyExists, Conflict, NotFound, StatusError, TooManyRequests
from simulator.what_if.edit import Edit

BRANCHES_AT_MOST: Final = 99
"""Of one sandbox, by number."""
LONGEST: Final = 59
"""Of a name, so that "-b99" fits behind it: a sandbox's is a DNS label of 63."""


def apply(sandbox: Sandbox, edits: Sequence[Edit], *, anyway: bool = False) -> None:
    """Make the edits, in order. Raises StatusError: Conflict for an object that somebody changed since the
    edits were worked out, unless ``anyway``."""
    for edit in edits:
        if edit.manifest is None:
            write.delete(sandbox, edit.resource, edit.key)
        elif edit.verb == "update":
            manifest = bare(edit.manifest) if anyway else edit.manifest
            write.replace(sandbox, edit.resource, edit.key, manifest)
        elif edit.verb == "recreate":
            _recreate(sandbox, edit.resource, edit.key, edit.manifest)
        else:
            write.create(sandbox, [edit.manifest], namespace=edit.key.rpartition("/")[0] or "default")


def _recreate(sandbox: Sandbox, resource: str, key: str, manifest: Manifest) -> None:
    """Delete and make anew; where the new one is not admitted, the old one is made again."""
    old = sandbox.get(resource, key)
    if old is None:
        raise NotFound(resource, key.rpartition("/")[2])
    if old["spec"].get("nodeName"):
        raise Conflict(resource, old["metadata"]["name"], f"it is on {old['spec']['nodeName']} by now")
    write.delete(sandbox, resource, key, uid=old["metadata"]["uid"])
    try:
        write.create(sandbox, [manifest])
    except StatusError:
        kept = {field: value for field, value in old.items() if field != "status"}
        metadata = {field: value for field, value in old["metadata"].items() if field not in SERVER_FIELDS}
        write.create(sandbox, [{**kept, "metadata": metadata}])
        raise


def branch(store: Store, sandbox: Sandbox, edits: Sequence[Edit], title: str) -> Sandbox:
    """A new sandbox with the objects of now and the edits, at the same simulated time; paused if this one is.

    What was in the queue is queued anew. Raises StatusError."""
    try:
        objects, _ = sandbox.list_all()
        meta, clock = sandbox.meta(), sandbox.clock()
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    wall = time.time()
    still = Clock(sim=clock.now(wall), wall=wall, speed=clock.speed, paused=True)
    changes = [
        Change(resource, key, manifest, expected=0)
        for resource, collection in objects.items()
        for key, manifest in collection.items()
    ]
    made = _numbered(store, replace_fields(meta, title=title, created=wall), changes[:MAX_CHANGES], still)
    try:
        for first in range(MAX_CHANGES, len(changes), MAX_CHANGES):
            made.commit(changes[first : first + MAX_CHANGES])
        apply(made, edits, anyway=True)
    except StatusError:
        store.delete(made.name)
        raise
    if not clock.paused:
        made.set_clock(still.rebased(time.time(), paused=False))
    wake(made.name)
    return made


def _numbered(store: Store, meta: Meta, changes: Sequence[Change], clock: Clock) -> Sandbox:
    """A sandbox under the first name that is free: ``demo-b1``."""
    stem = meta.name[:LONGEST].rstrip("-")
    for number in range(1, BRANCHES_AT_MOST + 1):
        try:
            return store.create(replace_fields(meta, name=f"{stem}-b{number}"), changes, clock)
        except SandboxExists:
            continue
        except LimitReached as error:
            raise TooManyRequests(str(error)) from None
    raise AlreadyExists("sandboxes", f"{stem}-b{BRANCHES_AT_MOST}")
