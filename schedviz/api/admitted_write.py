"""Commits what admission decided, and turns refusals of the store into a Status."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final
from weakref import WeakValueDictionary

from schedviz.cache import Current, read_current
from schedviz.loop import ring, wake
from schedviz.store import CollectionChanged, Commit, LimitReached, NoSandbox, Sandbox
from simulator.api import ApiError, Manifest
from simulator.apiserver.admission import Admission
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.status import (
    AlreadyExists,
    Conflict,
    Forbidden,
    NotFound,
    ServiceUnavailable,
    StatusError,
)

ATTEMPTS: Final = 20
"""Maximum number of attempts of a write, which is decided again when a worker or another server wrote
meanwhile."""
_LOCKS: Final[WeakValueDictionary[str, Lock]] = WeakValueDictionary()
"""Name of a sandbox that is written to now -> its lock."""
_LOCKS_LOCK: Final = Lock()


def write_admitted(
    sandbox: Sandbox,
    decide: Callable[[Current], Admission],
    *,
    dry_run: bool,
    again: tuple[str, ...],
    warnings: list[str] | None = None,
) -> list[Manifest]:
    """Call ``decide``, which does admission on the sandbox as it is now, and commit its result. Return the
    objects as they were stored.

    Both are repeated if a collection changed meanwhile, or if the commit was refused for a reason in
    ``again``. The writes of one process to one sandbox wait for each other: otherwise they would make each
    other repeat.

    ``warnings``: those of the request so far, to which ``decide`` adds. Those of a decision that is repeated
    are removed. Raises StatusError, which has them, too."""
    with _lock_of(sandbox):
        found = [] if warnings is None else warnings
        try:
            return _write(sandbox, decide, dry_run, again, found)
        except StatusError as error:
            error.warnings += found
            raise


def write_until_done(sandbox: Sandbox, decide: Callable[[Current], Admission], *, most: int) -> None:
    """Repeat :func:`write_admitted` until ``decide`` has no change any more; at most so many times."""
    for _ in range(most):
        if not write_admitted(sandbox, decide, dry_run=False, again=("Conflict", "NotFound")):
            return


def _lock_of(sandbox: Sandbox) -> Lock:
    with _LOCKS_LOCK:
        return _LOCKS.setdefault(sandbox.name, Lock())


def _write(
    sandbox: Sandbox,
    decide: Callable[[Current], Admission],
    dry_run: bool,
    again: tuple[str, ...],
    warnings: list[str],
) -> list[Manifest]:
    given = len(warnings)
    for attempt in range(ATTEMPTS):
        del warnings[given:]
        try:
            admitted = decide(read_current(sandbox))
            if not admitted.changes:
                return []
            if dry_run:
                return _dry_run_result(sandbox, admitted)
            versions = sandbox.commit(Commit(admitted.changes, unchanged=admitted.unchanged))
        except CollectionChanged:
            continue
        except NoSandbox:
            raise NotFound("sandboxes", sandbox.name) from None
        except LimitReached as error:
            if error.limit == "MAX_OBJECT_BYTES":
                raise TooLarge(f"Request entity too large: {error}") from None
            raise Forbidden("sandboxes", sandbox.name, str(error)) from None
        except ApiError as error:
            if error.reason not in again or attempt == ATTEMPTS - 1:
                raise _status_error(sandbox, error) from None
            continue
        notify(sandbox)
        return _written(admitted, versions)
    raise ServiceUnavailable("too many writes at the same time; please try again")


def _dry_run_result(sandbox: Sandbox, admitted: Admission) -> list[Manifest]:
    """Return the objects that a dry run returns. Raises AlreadyExists."""
    for change in admitted.objects:
        if change.expected == 0 and sandbox.get(change.resource, change.key):
            raise _already_exists(sandbox, change.resource, change.key)
    return [admitted.last] if admitted.last else [c.object for c in admitted.objects if c.object]


def _written(admitted: Admission, versions: Sequence[int]) -> list[Manifest]:
    """Return the objects as they were stored; for a removed object its last state."""
    if admitted.last:
        metadata = {"resourceVersion": str(versions[-1])} | admitted.last["metadata"]
        return [{**admitted.last, "metadata": metadata}]
    return [
        {**change.object, "metadata": {**change.object["metadata"], "resourceVersion": str(version)}}
        for change, version in zip(admitted.objects, versions, strict=False)
        if change.object
    ]


def _status_error(sandbox: Sandbox, error: ApiError) -> StatusError:
    """Return the StatusError for a precondition that failed in the store."""
    name = error.key.rpartition("/")[2]
    match error.reason:
        case "NotFound":
            return NotFound(error.resource, name)
        case "AlreadyExists":
            return _already_exists(sandbox, error.resource, error.key)
        case "Conflict":
            return Conflict(error.resource, name)
        case "TooManyRequests":
            raise AssertionError("the store raises LimitReached; only the loop raises this") from error


def _already_exists(sandbox: Sandbox, resource: str, key: str) -> AlreadyExists:
    """Return the error; its message says if the existing object is being deleted."""
    found = sandbox.get(resource, key) or {"metadata": {}}
    prefix = "object is being deleted: " if "deletionTimestamp" in found["metadata"] else ""
    return AlreadyExists(resource, key.rpartition("/")[2], prefix)


def notify(sandbox: Sandbox) -> None:
    """Wake the sandbox and ring the doorbell: something was written."""
    wake(sandbox.name)
    ring(sandbox.name)
