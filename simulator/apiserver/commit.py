"""Stores what the API server decides, and decides again where others wrote meanwhile.

Upstream: GuaranteedUpdate in apiserver/pkg/storage/etcd3/store.go.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, Protocol

import msgspec

from simulator.api import Admission, ApiError, Change, Manifest, versioned
from simulator.apiserver.definition_controllers import Decide, definitions_left, run_controllers
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_options import DeleteOptions, RequestOptions
from simulator.apiserver.resource import Resource
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import (
    AlreadyExists,
    Conflict,
    NotFound,
    ServiceUnavailable,
    StatusError,
    TooManyRequests,
)
from simulator.apiserver.warnings import warnings_of_deletion
from simulator.kernel.work import check_waiting
from simulator.objects.metadata import is_terminating

ATTEMPTS: Final = 20
"""Maximum number of attempts of a write, which is decided again when others wrote meanwhile."""


class ReadAgain(Exception):
    """A collection that the decision depends on has changed since it was read."""


class ServedStorage(Protocol):
    """A storage with the API server before it, which checks all that a decision depends on."""

    def serve(self) -> ApiServer:
        """Return the API server on the objects as they are now."""
        ...

    def store(self, admitted: Admission) -> Sequence[int]:
        """Store the changes, all or none, and return their versions. Raises ReadAgain, ApiError,
        StatusError."""
        ...

    def hold(self) -> AbstractContextManager[object]:
        """Let other writes wait, as far as that is possible."""
        ...


class Written(msgspec.Struct, frozen=True):
    """The result of a write."""

    objects: list[Manifest]
    """The objects as they are stored; of one that was removed, its last state."""
    changes: Sequence[Change] = ()
    """What was stored, or would have been, by a dry run."""
    is_gone: bool = False
    """Whether the object was removed."""

    @property
    def object(self) -> Manifest:
        return self.objects[0]

    @property
    def is_created(self) -> bool:
        return bool(self.changes) and self.changes[0].expected == 0


def write(storage: ServedStorage, decide: Decide, options: RequestOptions) -> Written:
    """Decide and store a write, then do what controllers in kube-apiserver do about it. Raises StatusError,
    which has the warnings of the request as well."""
    try:
        written = _write(storage, decide, options)
    except StatusError as error:
        error.warnings += options.warnings
        raise
    if not options.dry_run:
        further, changes = RequestOptions(), written.changes or definitions_left(written.objects)
        run_controllers(changes, lambda decide: _write(storage, decide, further).changes)
    return written


def delete_collection(
    storage: ServedStorage, resource: Resource, selected: Iterable[RequestPlace], options: DeleteOptions
) -> list[RequestPlace]:
    """Delete objects of a resource one by one, and return those that were not deleted by others meanwhile
    (DeleteCollection in store.go). The first error ends it. Raises StatusError, Abandoned."""
    options.warnings.extend(warnings_of_deletion(resource, options))
    deleted = []
    for place in selected:
        check_waiting()
        try:
            write(storage, partial(ApiServer.delete, place=place, options=options), options)
        except NotFound:
            continue
        deleted.append(place)
    return deleted


def _write(storage: ServedStorage, decide: Decide, options: RequestOptions) -> Written:
    """Decide and store a write. ``options.warnings``: those of the request so far, to which ``decide`` adds.
    Those of a decision that is repeated are removed."""
    given = len(options.warnings)
    with storage.hold():
        for attempt in range(1, ATTEMPTS + 1):
            del options.warnings[given:]
            server = storage.serve()
            admitted = decide(server)
            if not admitted.changes:
                return Written([] if admitted.stored is None else [admitted.stored])
            if options.dry_run:
                return _dry_run_result(server, admitted)
            try:
                versions = storage.store(admitted)
            except ReadAgain:
                continue
            except ApiError as error:
                if attempt == ATTEMPTS or not _is_repeated(admitted, error):
                    raise _status_error(storage, error) from None
                continue
            return _written(admitted, versions)
    raise ServiceUnavailable("too many writes at the same time; please try again")


def _is_repeated(admitted: Admission, error: ApiError) -> bool:
    return error.reason in ("Conflict", "NotFound") or (
        error.reason == "AlreadyExists" and admitted.may_exist
    )


def _dry_run_result(server: ApiServer, admitted: Admission) -> Written:
    """Return what a dry run returns. Raises AlreadyExists."""
    for change in admitted.objects:
        if change.expected == 0 and server.reader.find(change.resource, change.key).items:
            raise _already_exists(server, change.resource, change.key)
    found = [change.object for change in admitted.objects if change.object is not None]
    is_gone = admitted.last is not None
    return Written([admitted.last] if admitted.last is not None else found, admitted.objects, is_gone)


def _written(admitted: Admission, versions: Sequence[int]) -> Written:
    if admitted.last is not None:
        metadata = {"resourceVersion": str(versions[-1])} | admitted.last["metadata"]
        return Written([{**admitted.last, "metadata": metadata}], admitted.objects, is_gone=True)
    found = [
        versioned(change.object, version)
        for change, version in zip(admitted.objects, versions, strict=False)
        if change.object is not None
    ]
    return Written(found, admitted.objects)


def _status_error(storage: ServedStorage, error: ApiError) -> StatusError:
    """Return the StatusError for a precondition that failed in the storage."""
    name = error.key.rpartition("/")[2]
    match error.reason:
        case "NotFound":
            return NotFound(error.resource, name)
        case "AlreadyExists":
            return _already_exists(storage.serve(), error.resource, error.key)
        case "Conflict":
            return Conflict(error.resource, name)
        case "TooManyRequests":
            return TooManyRequests(str(error))


def _already_exists(server: ApiServer, resource: str, key: str) -> AlreadyExists:
    """Return the error; its message says if the existing object is being deleted."""
    is_ending = any(map(is_terminating, server.reader.find(resource, key).items))
    prefix = "object is being deleted: " if is_ending else ""
    return AlreadyExists(resource, key.rpartition("/")[2], prefix)
