"""A sandbox made of a past moment of another one."""

import time
from collections.abc import Iterator

from msgspec.structs import replace

from schedviz.loop import ring, wake
from schedviz.store import Clock, LimitReached, Meta, Sandbox, SandboxExists, Store
from schedviz.store.history import History
from schedviz.store.model import Origin
from schedviz.store.past import Past
from simulator.api import Change
from simulator.apiserver.status import AlreadyExists, TooManyRequests
from simulator.recording import Entry


def branch(store: Store, past: Past, name: str) -> Sandbox:
    """A sandbox that begins as that moment was, paused: its objects, with their uids and times, in the order
    in which they were written; the queue's places, the clock, the number of the last cycle; what the leader
    of that moment was configured with.

    Raises AlreadyExists, TooManyRequests (also for more than MAX_CHANGES objects), ValueError for a name that
    is none.
    """
    mark = past.moment.mark
    objects = [
        (int(manifest["metadata"]["resourceVersion"]), Change(resource, key, manifest, expected=0))
        for resource, collection in past.moment.objects.items()
        for key, manifest in collection.items()
    ]
    objects.sort(key=lambda each: each[0])
    wall = time.time()
    meta = replace(
        configured(past.sandbox.meta(), past.history, mark.entry),
        name=name,
        created=wall,
        origin=Origin(past.name, past.seq, mark.now),
    )
    clock = Clock(mark.now, wall, past.sandbox.clock().speed, paused=True)
    try:
        made = store.create(
            meta, [change for _, change in objects], clock, lanes=past.moment.lanes, after=mark
        )
    except SandboxExists:
        raise AlreadyExists("sandboxes", name) from None
    except LimitReached as error:
        raise TooManyRequests(str(error)) from None
    wake(name)
    ring(name)
    return made


def configured(meta: Meta, history: History, entry: int) -> Meta:
    """The description with what the leader that wrote that journal entry was elected with; as it is now where
    that is not kept."""
    began = next(elections(history, entry), None)
    if began is None or began.began is None:
        return meta
    options = began.began.options
    return replace(meta, seed=options.seed, pace=options.pace, config=options.config, queue=options.queue)


def elections(history: History, entry: int) -> Iterator[Entry]:
    """The journal's entries with which leaders began, the last one before a number first."""
    for place in reversed(range(len(history.chapters))):
        if history.chapters[place].began.entry < entry:
            yield from reversed(history.elections(place, entry))
