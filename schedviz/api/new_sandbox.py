"""Creates sandboxes. If the creation fails, the sandbox is deleted again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from msgspec.structs import replace
from redis.exceptions import RedisError

from schedviz.loop import ring, wake
from schedviz.store import Clock, Commit, LimitReached, Meta, NoSandbox, Sandbox, SandboxExists, Store
from schedviz.store.archive import Mark
from schedviz.store.bounds import MAX_SANDBOXES
from schedviz.store.parts import CHANGES_AT_ONCE, parts_of
from simulator.api import Change
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.status import AlreadyExists, TooManyRequests
from simulator.trace import QueuePlace

OBJECTS_AT_ONCE: Final = CHANGES_AT_ONCE
"""Objects of one commit."""

VERSION_BEFORE_ALL: Final = 100
"""The version before the first write of a new sandbox. The first versions of a real cluster are those of
what kube-apiserver and its controllers store when they start, and no watch begins there: version 1 is too
old."""


@contextmanager
def new_sandbox(
    store: Store,
    names: Iterable[str],
    meta: Meta,
    changes: Iterable[Change],
    clock: Clock,
    *,
    queue_places: Mapping[str, QueuePlace] = {},
    after: Mark | None = None,
    access: str = "",
) -> Iterator[Sandbox]:
    """Create a sandbox with the first free name of ``names`` and with these objects, which are not admitted
    again. They are stored in several commits while the sandbox is paused; after the ``with`` block its clock
    is ``clock``. ``queue_places``, ``after``, ``access``: see :meth:`Store.create`.

    The sandbox is deleted again if ``changes`` or the block raises. Raises StatusError, ValueError for a name
    that is not a DNS label."""
    remaining = parts_of(changes, at_most=OBJECTS_AT_ONCE)
    paused = replace(clock, paused=True)
    try:
        first = next(remaining, [])
    except LimitReached as error:
        raise TooLarge(str(error)) from None
    sandbox = create_named(
        store,
        names,
        meta,
        first,
        paused,
        queue_places=queue_places,
        after=after,
        access=access,
    )
    try:
        for batch in remaining:
            sandbox.commit(Commit(batch))
        yield sandbox
        if not clock.paused:
            sandbox.set_clock(clock.starting(store.wall()))
    except BaseException as error:
        # If the deletion also fails, the first error is the one to report.
        with suppress(NoSandbox, RedisError):
            store.delete(sandbox.name)
        if isinstance(error, LimitReached):
            raise TooLarge(str(error)) from None
        raise
    wake(sandbox.name)
    ring(sandbox.name)


def numbered(store: Store, stem: str) -> Iterator[str]:
    """Yield free names: ``stem``, ``stem-2``, ``stem-3`` and so on, more than MAX_SANDBOXES in all."""
    taken = store.names()
    names = (stem, *(f"{stem}-{number}" for number in range(2, MAX_SANDBOXES + 2)))
    return (name for name in names if name not in taken)


def create_named(
    store: Store,
    names: Iterable[str],
    meta: Meta,
    changes: Sequence[Change],
    clock: Clock | None,
    *,
    queue_places: Mapping[str, QueuePlace] = {},
    after: Mark | None = None,
    access: str = "",
) -> Sandbox:
    """Create a sandbox with the first free name, in one commit. Raises as :func:`new_sandbox` does."""
    tried = ""
    for tried in names:
        try:
            return store.create(
                replace(meta, name=tried),
                changes,
                clock,
                queue_places=queue_places,
                after=after,
                access=access,
                version=VERSION_BEFORE_ALL,
            )
        except SandboxExists:
            continue
        except LimitReached as error:
            raise TooManyRequests(str(error)) from None
    raise AlreadyExists("sandboxes", tried)
