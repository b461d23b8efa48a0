"""The one write path: form, pasted YAML and REST all come through here. Admission, commit, wake, doorbell.

``resource`` is kubectl's group-resource form (``pods``), ``key`` the store's (``namespace/name``). Everything
raises a :class:`~simulator.apiserver.status.StatusError`, and nothing is stored then.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from django.conf import settings
from msgspec.structs import replace as replace_fields

from schedviz.loop import ring, wake
from schedviz.store import (
    Clock,
    CollectionChanged,
    LimitReached,
    Meta,
    NoSandbox,
    Sandbox,
    SandboxExists,
    Store,
)
from simulator.api import SECOND, ApiError, Change, Manifest, Micros
from simulator.apiserver import admission, subresources
from simulator.apiserver import patch as patches
from simulator.apiserver.admission import Admission
from simulator.apiserver.deletion import Propagation, admit_delete
from simulator.apiserver.lookup import find_resource
from simulator.apiserver.resources import NAMESPACES, PODS, Resource
from simulator.apiserver.status import (
    AlreadyExists,
    Cause,
    Conflict,
    Forbidden,
    Invalid,
    NoSuchPath,
    NotFound,
    ServiceUnavailable,
    StatusError,
    TooLarge,
    TooManyRequests,
)
from simulator.apiserver.update import admit_update
from simulator.config import ConfigError, load
from simulator.plugins.registry import profiles
from simulator.recording import Entry
from simulator.scheduler.extender_http import HttpTransport
from simulator.trace import SchedulerConfigured

ATTEMPTS = 20
"""How often a write is decided anew because others were faster. Each time somebody's write got through."""

TAKEN_AT_ONCE = 500
"""Objects of one commit of :func:`take_over`: Redis is busy with them for some 10 ms."""

Edit = Callable[[Resource, Manifest], Manifest]
"""From an object as it is to what it is to be."""


def create_sandbox(
    store: Store, meta: Meta, documents: Sequence[Manifest] = (), clock: Clock | None = None
) -> Sandbox:
    """A new sandbox with what every cluster has and the objects of these manifests, all in one commit. Time
    starts as :meth:`Store.create` says."""
    now = int(meta.created or time.time()) * SECOND
    try:
        sandbox = store.create(meta, admission.new_cluster(documents, now), clock)
    except SandboxExists:
        raise AlreadyExists("sandboxes", meta.name) from None
    except LimitReached as error:
        raise TooManyRequests(str(error)) from None
    _tell(sandbox)
    return sandbox


def take_over(store: Store, meta: Meta, changes: Iterator[Change], clock: Clock) -> Sandbox:
    """A new sandbox with objects that :mod:`simulator.apiserver.imported` has cleaned: another API server has
    admitted them, and they keep what it gave them. In many commits; what cannot be stored whole is deleted
    again. Raises a StatusError, ValueError for a name that is none."""
    try:
        sandbox = store.create(meta, [*islice(changes, TAKEN_AT_ONCE)], clock)
    except SandboxExists:
        raise AlreadyExists("sandboxes", meta.name) from None
    except LimitReached as error:
        raise TooManyRequests(str(error)) from None
    try:
        while batch := [*islice(changes, TAKEN_AT_ONCE)]:
            sandbox.commit(batch)
    except LimitReached as error:
        store.delete(meta.name)
        raise TooLarge(str(error)) from None
    except BaseException:
        store.delete(meta.name)
        raise
    _tell(sandbox)
    return sandbox


def configure(
    sandbox: Sandbox, configuration: Manifest, fields: Sequence[str], *, dry_run: bool = False
) -> None:
    """Give the sandbox's scheduler another KubeSchedulerConfiguration, with which it starts anew. ``fields``:
    what is different in it, for the trace.

    Raises Invalid, with the paths of what the scheduler would not start with."""
    try:
        profiles(load(configuration), transport=HttpTransport(settings.EXTENDER_HOSTS))
    except ConfigError as error:
        causes = [Cause(path, message) for path, message in error.causes]
        raise Invalid(
            "KubeSchedulerConfiguration", "kubescheduler.config.k8s.io", sandbox.name, causes
        ) from None
    if dry_run:
        return
    try:
        _, last, _ = sandbox.progress()
        now = max(last, simulated_time(sandbox))
        said = SchedulerConfigured(t=now, fields=[*fields])
        meta = replace_fields(sandbox.meta(), config=configuration)
        sandbox.commit([], meta=meta, trace=[said], journal=Entry(now=now, ended=said))
    except NoSandbox:
        raise NotFound("sandboxes", sandbox.name) from None
    _tell(sandbox)


def create(
    sandbox: Sandbox, documents: Sequence[Manifest], *, namespace: str = "default", dry_run: bool = False
) -> list[Manifest]:
    """Create the objects of these manifests, all or none; they as they were stored."""

    def decide() -> Admission:
        source = f"{sandbox.name}/{sandbox.version()}"
        return admission.admit(
            documents, sandbox, simulated_time(sandbox), source=source, namespace=namespace
        )

    given = [document.get("metadata") for document in documents]
    generated = any(isinstance(metadata, dict) and "generateName" in metadata for metadata in given)
    return _write(sandbox, decide, dry_run=dry_run, again=("AlreadyExists",) if generated else ())


def replace(
    sandbox: Sandbox,
    resource: str,
    key: str,
    manifest: Manifest,
    *,
    subresource: str = "",
    dry_run: bool = False,
) -> Manifest:
    """Put a manifest in the place of an object; where it names a resourceVersion, only of that version."""
    return edit(sandbox, resource, key, lambda _, __: manifest, subresource=subresource, dry_run=dry_run)


def patch(sandbox: Sandbox, resource: str, key: str, changes: Manifest, *, dry_run: bool = False) -> Manifest:
    """Apply a JSON merge patch (RFC 7386) to an object."""
    return edit(sandbox, resource, key, lambda _, old: patches.merge(old, changes), dry_run=dry_run)


def edit(
    sandbox: Sandbox,
    resource: str,
    key: str,
    change: Edit,
    *,
    subresource: str = "",
    whole: bool = False,
    dry_run: bool = False,
) -> Manifest:
    """Change an object by a function; it is called again with the newer object when somebody was faster.

    ``whole``: its status too, which otherwise is written through the subresource only."""
    kind = _resource(sandbox, resource)
    last: list[Manifest] = []

    def decide() -> Admission:
        old = _existing(sandbox, kind, key)
        last[:] = [old]
        new = change(kind, old)
        admitted = admit_update(kind, old, new, sandbox, subresource=subresource)
        return _with_status(kind, old, new, sandbox, admitted) if whole else admitted

    return (_write(sandbox, decide, dry_run=dry_run, again=("Conflict",)) or last)[0]


def _with_status(
    kind: Resource, old: Manifest, new: Manifest, sandbox: Sandbox, admitted: Admission
) -> Admission:
    """An update with that of the status on top of it, in one change."""
    halfway = admitted.changes[0].object if admitted.changes else old
    if halfway is None:
        return admitted  # its last finalizer went
    on_top = admit_update(kind, halfway, new, sandbox, subresource="status")
    if not on_top.changes:
        return admitted
    expected = (admitted.changes or on_top.changes)[0].expected
    return Admission(
        [replace_fields(on_top.changes[0], expected=expected)], {**on_top.unchanged, **admitted.unchanged}
    )


def delete(
    sandbox: Sandbox,
    resource: str,
    key: str,
    *,
    grace_seconds: int | None = None,
    propagation: Propagation | None = None,
    uid: str = "",
    version: str = "",
    dry_run: bool = False,
) -> Manifest:
    """Delete an object: a bound pod is marked and goes when its grace period is over, all else at once, or
    when its dependents have been seen to.

    ``uid``, ``version``: what the object must have, where given. The object as it is now, or was last."""
    kind = _resource(sandbox, resource)
    last: list[Manifest] = []

    def decide() -> Admission:
        old = _existing(sandbox, kind, key)
        last[:] = [old]
        _check_preconditions(kind, old["metadata"], uid, version)
        change = admit_delete(
            kind, old, simulated_time(sandbox), grace_seconds=grace_seconds, propagation=propagation
        )
        changes = [change] if change else []
        if kind == NAMESPACES and change and change.object is None:
            changes += _contents(sandbox, key)
        return Admission(changes, {})

    written = _write(sandbox, decide, dry_run=dry_run, again=("Conflict", "NotFound"))
    return (written or last)[0]


def bind(sandbox: Sandbox, key: str, binding: Manifest, *, dry_run: bool = False) -> None:
    """The ``binding`` subresource of a pod."""

    def decide() -> Admission:
        pod = _existing(sandbox, PODS, key)
        return Admission([subresources.admit_binding(pod, binding, simulated_time(sandbox))], {})

    _write(sandbox, decide, dry_run=dry_run, again=("Conflict",))


def evict(sandbox: Sandbox, key: str, *, grace_seconds: int | None = None, dry_run: bool = False) -> None:
    """The ``eviction`` subresource of a pod: a deletion that asks the disruption budgets first."""

    def decide() -> Admission:
        pod = _existing(sandbox, PODS, key)
        return subresources.admit_eviction(pod, sandbox, simulated_time(sandbox), grace_seconds=grace_seconds)

    _write(sandbox, decide, dry_run=dry_run, again=("Conflict",))


def _write(
    sandbox: Sandbox, decide: Callable[[], Admission], *, dry_run: bool, again: tuple[str, ...]
) -> list[Manifest]:
    """Commit what was decided; decide anew when a collection changed meanwhile, or for a reason in
    ``again``."""
    for attempt in range(ATTEMPTS):
        try:
            admitted = decide()
            if not admitted.changes:
                return []
            if dry_run:
                return [_rehearsed(sandbox, change) for change in admitted.changes]
            versions = sandbox.commit(admitted.changes, unchanged=admitted.unchanged)
        except CollectionChanged:
            continue
        except NoSandbox:
            raise NotFound("sandboxes", sandbox.name) from None
        except LimitReached as error:
            raise Forbidden("sandboxes", sandbox.name, str(error)) from None
        except ApiError as error:
            if error.reason not in again or attempt == ATTEMPTS - 1:
                raise _refused(error) from None
            continue
        _tell(sandbox)
        return [
            _versioned(change, version) for change, version in zip(admitted.changes, versions, strict=True)
        ]
    raise ServiceUnavailable("too many writes at the same time; please try again")


def _rehearsed(sandbox: Sandbox, change: Change) -> Manifest:
    """What a dry run answers."""
    if change.expected == 0 and sandbox.get(change.resource, change.key):
        raise AlreadyExists(change.resource, change.key.rpartition("/")[2])
    return change.object or {"metadata": {}}


def _versioned(change: Change, version: int) -> Manifest:
    written = change.object or {"metadata": {}}
    return {**written, "metadata": {**written["metadata"], "resourceVersion": str(version)}}


def _refused(error: ApiError) -> StatusError:
    name = error.key.rpartition("/")[2]
    match error.reason:
        case "NotFound":
            return NotFound(error.resource, name)
        case "AlreadyExists":
            return AlreadyExists(error.resource, name)
        case "Conflict":
            return Conflict(error.resource, name)
        case "TooManyRequests":
            raise AssertionError(
                "the store says LimitReached; only the loop tells its components so"
            ) from error


def _tell(sandbox: Sandbox) -> None:
    wake(sandbox.name)
    ring(sandbox.name)


def simulated_time(sandbox: Sandbox) -> Micros:
    """Now, in the sandbox."""
    return sandbox.clock().now(time.time())


def _resource(sandbox: Sandbox, resource: str) -> Resource:
    plural, _, group = resource.partition(".")
    found = find_resource(sandbox, group, plural)
    if found is None:
        raise NoSuchPath()
    return found


def _existing(sandbox: Sandbox, resource: Resource, key: str) -> Manifest:
    found = sandbox.get(resource.id, key)
    if found is None:
        raise NotFound(resource.id, key.rpartition("/")[2])
    return found


def _check_preconditions(resource: Resource, metadata: Manifest, uid: str, version: str) -> None:
    for field, known, wanted in (("UID", "uid", uid), ("ResourceVersion", "resourceVersion", version)):
        if wanted and wanted != metadata[known]:
            detail = f"the {field} in the precondition ({wanted}) does not match the {field} in record "
            raise Conflict(resource.id, metadata["name"], detail + f"({metadata[known]})")


def _contents(sandbox: Sandbox, namespace: str) -> list[Change]:
    """The end of everything in a namespace, which goes with it."""
    objects, _ = sandbox.list_all()
    return [
        Change(resource, key, None, int(manifest["metadata"]["resourceVersion"]))
        for resource, collection in objects.items()
        for key, manifest in collection.items()
        if key.startswith(f"{namespace}/")
    ]
