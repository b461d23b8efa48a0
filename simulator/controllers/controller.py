"""The base of all controllers: watched changes, a work queue, and the ways to create, patch and delete.

A controller is informed of each change of the resources that it watches and adds the objects concerned to its
work queue. :meth:`Controller.sync` then compares one object with what its spec asks for and writes what is
missing, independent of the change. What sync reads is never older than what it wrote: its writes are observed
before the next step. So it needs no expectations, which upstream keeps for stale caches
(pkg/controller/controller_utils.go)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import ClassVar, Final, NamedTuple, TypeVar

import msgspec

from simulator.api import ApiError, Manifest, Micros
from simulator.apiserver.component_writes import Propagation
from simulator.apiserver.status import Conflict, NamespaceTerminating, StatusError
from simulator.client.world import CreateFailed, Decide, Mutate, Patch, World
from simulator.controllers.ownership import OwnershipIndex
from simulator.controllers.status_types import written_fields
from simulator.controllers.work_queue import ObjectKey, WorkQueue
from simulator.kernel.environment import Turn
from simulator.kernel.parts import in_parts, size_of
from simulator.objects.metadata import GENERATION, key_of, name_of, uid_of
from simulator.objects.node import Node
from simulator.objects.owner_references import controller_reference
from simulator.objects.pod import Pod
from simulator.objects.status import status_of, with_status
from simulator.trace import Event, ObjectsCreated, ObjectsDeleted

BURST_BYTES: Final = 600_000
"""The size of the objects that one run creates, as JSON: to admit them takes up to half a second. 500 plain
pods have less."""
OBJECTS_OF_A_RUN: Final = 200
"""Objects that one run writes one by one, each in a commit of its own: some tenths of a second."""
CREATE_ATTEMPTS = 8
"""Names tried for objects with generateName, as the API server does."""


T = TypeVar("T")


class ControllerContext(NamedTuple):
    """The values that all controllers share (ControllerContext,
    cmd/kube-controller-manager/app/controllermanager.go)."""

    world: World
    ownership: OwnershipIndex
    pods: Mapping[str, Pod]
    """All pods by key, parsed, as last observed."""
    nodes: Mapping[str, Node]
    """All nodes by name, parsed, as last observed."""


class Controller:
    component: ClassVar[str]
    """The controller's name in the trace and in Events."""
    resource: ClassVar[str]
    """The resource of the objects in its work queue."""
    watches: ClassVar[tuple[str, ...]]
    """The resources whose changes it is informed of; () = all."""
    turn: ClassVar[Turn] = Turn.CONTROLLER

    def __init__(self, context: ControllerContext) -> None:
        self._world = context.world
        self._ownership = context.ownership
        self._pods = context.pods
        self._nodes = context.nodes
        self._queue = WorkQueue(context.world, self.component, self.turn, self.sync_object)
        self._drawn = 0, 0
        """The time of the last creation, and the number of earlier ones at that time."""

    # What is synced, and when

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        """Add to the work queue what this change concerns. ``old`` is None for an object that was created,
        ``new`` for one that was deleted."""
        if resource == self.resource:
            self.enqueue(key)

    def enqueue(self, key: str, time: Micros = 0) -> None:
        """Sync the object of this key at ``time``, at once if that is past."""
        self._queue.add(ObjectKey(self.resource, key), time)

    def sync_object(self, item: ObjectKey) -> None:
        """Sync one object of the work queue. An exception is reported, and the sync repeated later."""
        manifest = self._get(item)
        if manifest is not None:
            self.sync(item.key, manifest)
        else:
            self.sync_deleted(item.key)

    def sync(self, key: str, manifest: Manifest) -> None:
        """Write what the object's spec asks for."""
        raise NotImplementedError

    def sync_deleted(self, key: str) -> None:
        """Do what is left to do for an object that was deleted."""

    def _get(self, item: ObjectKey | None) -> Manifest | None:
        return self._world.informer.get(*item) if item is not None else None

    # Writes

    def part_of(self, item: ObjectKey, objects: Sequence[T]) -> Sequence[T]:
        """Return the first of the objects that a run for ``item`` writes one by one, and leave the others to
        another run at this moment, as a slice ends only between two runs."""
        if len(objects) > OBJECTS_OF_A_RUN:
            self.go_on(item, len(objects))
        return objects[:OBJECTS_OF_A_RUN]

    def go_on(self, item: ObjectKey, left: int) -> None:
        """Have another run for the item at this moment, as ``left`` objects are left to it and to this one.
        It is counted for itself, because such runs come to an end."""
        self._queue.add(item, counted_as=f"{item.key} {left}")

    def create(self, owner: Manifest, manifests: Iterable[Manifest]) -> None:
        """Create objects of one kind in their order, up to the first one that is refused: a quota may have
        room for some of them. ``owner`` becomes the controller of those that have no ownerReferences
        yet. In a namespace that is being deleted nothing is created, and nothing needs to be (the
        controllers look for NamespaceTerminatingCause). Of a burst of large objects only the first part is
        created, and what remains is left to the next sync, too. Raises CreateFailed."""
        part = next(in_parts(manifests, size_of, BURST_BYTES), [])
        try:
            try:
                self._create_all(owner, part)
            except StatusError as refusal:
                if refusal.document:
                    self._create_all(owner, part[: refusal.document])
                raise
        except NamespaceTerminating:
            return
        except (StatusError, ApiError) as refusal:
            raise CreateFailed(text_of(refusal)) from refusal

    def _create_all(self, owner: Manifest, manifests: Sequence[Manifest]) -> None:
        reference = controller_reference(owner)
        for manifest in manifests:
            manifest["metadata"].setdefault("ownerReferences", [reference])
        namespace = owner["metadata"].get("namespace", "default")
        for attempt in range(1, CREATE_ATTEMPTS + 1):
            source = f"{uid_of(owner)}/{self._draw()}"
            admission = self._world.server.create_all(manifests, namespace=namespace, source=source)
            created = ObjectsCreated(
                t=self._world.now,
                controller=self.describe(owner),
                resource=admission.objects[0].resource,
                keys=[change.key for change in admission.objects],
            )
            try:
                self._world.commit(admission.changes, [created])
            except ApiError as error:
                generated = "generateName" in manifests[0]["metadata"]
                if error.reason != "AlreadyExists" or not generated or attempt == CREATE_ATTEMPTS:
                    raise
            else:
                return

    def _draw(self) -> str:
        """Return a text of its own for each creation, the same in each run: generated names are drawn from
        it."""
        time, count = self._drawn
        self._drawn = (time, count + 1) if time == self._world.now else (self._world.now, 0)
        return f"{self._drawn[0]}/{self._drawn[1]}"

    def delete(
        self,
        owner: Manifest,
        manifests: Sequence[Manifest],
        reason: str,
        propagation: Propagation | None = None,
    ) -> None:
        """Delete objects of one kind as a DELETE request does: pods with their grace period. The trace names
        ``owner`` as the object for which they are deleted. Raises ApiError."""
        server = self._world.server
        admitted = (server.delete_by_component(m, propagation) for m in manifests)
        sizes = {key_of(m): size_of(m) for m in manifests} if len(manifests) > 1 else {}
        for changes in in_parts(chain.from_iterable(admitted), lambda change: sizes.get(change.key, 0)):
            deleted = ObjectsDeleted(
                t=self._world.now,
                controller=self.describe(owner),
                resource=changes[0].resource,
                keys=[change.key for change in changes],
                reason=reason,
            )
            self._world.commit(changes, [deleted])

    def patch(
        self,
        resource: str,
        manifest: Manifest,
        mutate: Mutate,
        event: Event | None = None,
    ) -> None:
        """Patch an object: ``mutate`` is called with its newest version and returns the new one. ``event`` is
        added to the trace with the write."""

        place = resource, key_of(manifest), uid_of(manifest)
        self._world.update(*place, mutate, event=event)

    def write(self, resource: str, manifest: Manifest, decide: Decide, event: Event | None = None) -> None:
        """Make the write that the API server decides on the newest version of an object."""
        self._world.make(Patch(resource, key_of(manifest), uid_of(manifest), decide, event))

    def set_status(self, manifest: Manifest, status: msgspec.Struct) -> None:
        """Patch the object's status with the fields of ``status``: None removes one, UNSET leaves it."""
        fields = written_fields(manifest, status)
        if "observed_generation" in status.__struct_fields__ and GENERATION in manifest["metadata"]:
            fields["observedGeneration"] = manifest["metadata"][GENERATION]

        def with_fields(current: Manifest) -> Manifest:
            new = with_status(current, **fields)
            return current if new["status"] == status_of(current) else new

        self.patch(self.resource, manifest, with_fields)

    def describe(self, manifest: Manifest) -> str:
        """Return the controller's name with an object's key, as the trace shows it: ``ReplicaSet
        default/web``."""
        return f"{self.component} {manifest['metadata'].get('namespace')}/{name_of(manifest)}"


def text_of(refusal: StatusError | ApiError) -> str:
    """Return the message of the API server's refusal. A write that charged a quota may conflict with another
    one."""
    if isinstance(refusal, ApiError) and refusal.reason == "Conflict":
        return str(Conflict(refusal.resource, refusal.key.rpartition("/")[2]))
    return str(refusal)
