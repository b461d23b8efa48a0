"""What all controllers have in common: a queue of keys, and the way to create, change and delete.

A controller looks at one object at a time and does what is still to be done for it, whatever the change was
that called it. What it reads is never older than what it wrote: its writes come back before the next thing is
done, so that no expectations need be kept as upstream keeps them (pkg/controller/controller_utils.go)."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from simulator.api import SECOND, ApiError, Change, Manifest, Micros
from simulator.apiserver import resources
from simulator.apiserver.admission import admit
from simulator.apiserver.deletion import Propagation, admit_delete
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import StatusError
from simulator.controllers.ownership import Ownership, controller_of, controller_reference, uid
from simulator.objects.labels import label_selector
from simulator.trace import ControllerFailed, ObjectsCreated, ObjectsDeleted
from simulator.world.agenda import Turn
from simulator.world.world import World

FIRST_DELAY: Micros = SECOND // 200
LONGEST_DELAY: Micros = 1000 * SECOND
"""client-go's DefaultControllerRateLimiter: what failed is tried again after 5 ms, and twice as long each
time up to a quarter of an hour."""
CREATE_ATTEMPTS = 8
"""Names tried for objects with generateName, as the API server does."""

DATA_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of a status or an annotation that somebody wrote nonsense into: no reason for the others to
stop."""

COUNTED = ("uid", "labels", "ownerReferences", "finalizers", "deletionTimestamp")


class Controller:
    """``resource`` is what it keeps, ``kind`` its name in ownerReferences, ``dependents`` what it makes."""

    resource: ClassVar[str]
    kind: ClassVar[str]
    dependents: ClassVar[tuple[str, ...]] = ("pods",)

    def __init__(self, world: World, ownership: Ownership) -> None:
        self._world = world
        self._ownership = ownership
        self._planned: dict[str, tuple[Micros, int]] = {}
        self._failures: dict[str, int] = {}
        """Key -> how often in turn it failed."""
        self._drawn = 0, 0
        """The time of the last creation, and how many there were at that time."""

    # What is to be looked at, and when

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        """Something that this controller may care about is new, different, or gone (``new`` None)."""
        if resource == self.resource:
            self.enqueue(key)
        elif resource in self.dependents and _what_counts(old) != _what_counts(new):
            for manifest in (old, new):
                if manifest is not None:
                    self._owner_of(manifest)

    def _owner_of(self, manifest: Manifest) -> None:
        namespace = manifest["metadata"].get("namespace", "")
        controller = controller_of(manifest)
        if controller is None:
            for key in self.adopters(namespace, manifest["metadata"].get("labels") or {}):
                self.enqueue(key)
        elif controller["kind"] == self.kind:
            self.enqueue(f"{namespace}/{controller['name']}")

    def adopters(self, namespace: str, labels: dict[str, str]) -> Iterator[str]:
        """Those that would take in an object with these labels that nobody controls."""
        for key, manifest in self._world.informer.of(self.resource).items():
            selector = label_selector(manifest["spec"].get("selector"))
            same = manifest["metadata"]["namespace"] == namespace
            if same and selector is not None and selector.matches(labels):
                yield key

    def enqueue(self, key: str, time: Micros = 0) -> None:
        """Look at it at this time; at once where that is past. The earliest asked for counts."""
        time = max(time, self._world.now)
        if key in self._planned:
            planned, number = self._planned[key]
            if planned <= time:
                return
            self._world.agenda.cancel(number)
        number = self._world.agenda.add(time, Turn.CONTROLLER, lambda: self._process(key))
        self._planned[key] = time, number

    def _process(self, key: str) -> None:
        del self._planned[key]
        try:
            manifest = self._world.informer.get(self.resource, key)
            if manifest is not None:
                self.sync(key, manifest)
            else:
                self.gone(key)
        except (StatusError, ApiError) as refusal:
            self._failed(key, str(refusal))
        except DATA_FAULTS as fault:
            self._failed(key, f"{type(fault).__name__}: {fault}")
        else:
            self._failures.pop(key, None)

    def _failed(self, key: str, message: str) -> None:
        count = self._failures.get(key, 0)
        if count == 0:
            who = f"{self.kind} {key}"
            self._world.emit(ControllerFailed(t=self._world.now, controller=who, message=message))
        self._failures[key] = count + 1
        self.enqueue(key, self._world.now + min(FIRST_DELAY << min(count, 30), LONGEST_DELAY))

    def sync(self, key: str, manifest: Manifest) -> None:
        """Do what is to be done for this object. May raise StatusError or ApiError: it is tried again."""
        raise NotImplementedError

    def gone(self, key: str) -> None:
        """The object is not there any more."""

    # What it sees

    def owned(self, owner: Manifest, resource: str = "pods") -> list[Manifest]:
        """The objects that this one controls, in the order of their arrival."""
        places = self._ownership.controlled(uid(owner), resource)
        found = (self._world.informer.get(place.resource, place.key) for place in places)
        return [manifest for manifest in found if manifest is not None]

    # What it does

    def create(self, owner: Manifest, manifests: Sequence[Manifest]) -> None:
        """Create objects of one kind, all or none, controlled by ``owner``. Raises StatusError or
        ApiError."""
        reference = controller_reference(owner)
        for manifest in manifests:
            manifest["metadata"].setdefault("ownerReferences", [reference])
        for attempt in range(1, CREATE_ATTEMPTS + 1):
            source = f"{uid(owner)}/{self._draw()}"
            reader, namespace = self._world.informer, owner["metadata"].get("namespace", "default")
            admission = admit(manifests, reader, self._world.now, source=source, namespace=namespace)
            try:
                self._world.commit(admission.changes, [self._created(owner, admission.changes)])
            except ApiError as error:
                generated = "generateName" in manifests[0]["metadata"]
                if error.reason != "AlreadyExists" or not generated or attempt == CREATE_ATTEMPTS:
                    raise
            else:
                return

    def _draw(self) -> str:
        """Tells apart whatever is created, by time and turn, so that a run draws the same names again."""
        time, count = self._drawn
        self._drawn = (time, count + 1) if time == self._world.now else (self._world.now, 0)
        return f"{self._drawn[0]}/{self._drawn[1]}"

    def _created(self, owner: Manifest, changes: Sequence[Change]) -> ObjectsCreated:
        return ObjectsCreated(
            t=self._world.now,
            controller=self.name(owner),
            resource=changes[0].resource,
            keys=[change.key for change in changes],
        )

    def delete(
        self,
        owner: Manifest,
        manifests: Sequence[Manifest],
        reason: str,
        propagation: Propagation | None = None,
    ) -> None:
        """Delete objects of one kind, as a request does: pods gracefully. Raises ApiError."""
        changes = []
        for manifest in manifests:
            resource = resource_of(manifest)
            change = admit_delete(resource, manifest, self._world.now, propagation=propagation)
            if change is not None:
                changes.append(change)
        if changes:
            told = ObjectsDeleted(
                t=self._world.now,
                controller=self.name(owner),
                resource=changes[0].resource,
                keys=[change.key for change in changes],
                reason=reason,
            )
            self._world.commit(changes, [told])

    def claim(self, owner: Manifest, resource: str = "pods") -> list[Manifest] | None:
        """Take in what matches the selector and nobody controls, let go what does not match any more
        (pkg/controller/controller_ref_manager.go); what it controls. None: there was some of either, which
        causes another look."""
        owned = self.owned(owner, resource)
        selector = label_selector(owner["spec"].get("selector"))
        if selector is None:
            return owned
        places = self._ownership.orphans(resource, owner["metadata"]["namespace"])
        orphans = (self._world.informer.get(place.resource, place.key) for place in places)
        own = [o for o in owned if selector.matches(_labels(o)) and self.may_own(owner, o)]
        left = [manifest for manifest in owned if manifest not in own]
        taken = [
            orphan
            for orphan in orphans
            if orphan is not None
            and _is_free(orphan)
            and selector.matches(_labels(orphan))
            and self.may_own(owner, orphan)
        ]
        for manifest in taken:
            self.patch(resource, manifest, lambda m: _owned(m, owner))
        for manifest in left:
            self.patch(resource, manifest, lambda m: _disowned(m, owner))
        return None if taken or left else owned

    def may_own(self, owner: Manifest, manifest: Manifest) -> bool:
        """Whether an object whose labels match can be one of the owner's at all."""
        return True

    def patch(self, resource: str, manifest: Manifest, mutate: Callable[[Manifest], Manifest | None]) -> None:
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace")
        key = f"{namespace}/{metadata['name']}" if namespace else metadata["name"]
        self._world.update(resource, key, uid(manifest), mutate)

    def set_status(self, manifest: Manifest, **fields: object) -> None:
        """Set these fields of its status; None removes one."""
        if "generation" in manifest["metadata"]:
            fields["observedGeneration"] = manifest["metadata"]["generation"]

        def with_fields(current: Manifest) -> Manifest:
            old = current.get("status") or {}
            new = {name: value for name, value in {**old, **fields}.items() if value is not None}
            return current if new == old else {**current, "status": new}

        self.patch(self.resource, manifest, with_fields)

    def name(self, manifest: Manifest) -> str:
        """As the trace has it: ``ReplicaSet default/web``."""
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace")
        return f"{self.kind} {namespace}/{metadata['name']}"


def resource_of(manifest: Manifest) -> Resource:
    """The resource of an object that is stored: its kind is known, or was taken as it came."""
    known = resources.of_kind(manifest["apiVersion"], manifest["kind"])
    assert known is not None, "it could not have been created"
    return known


def _what_counts(manifest: Manifest | None) -> object:
    """What a controller looks at in its dependents. Of pods that leaves out where they are, and what the
    scheduler says of them."""
    if manifest is None or manifest["kind"] != "Pod":
        return manifest
    metadata, status = manifest["metadata"], manifest.get("status") or {}
    return (
        {field: metadata.get(field) for field in COUNTED},
        status.get("phase"),
        [c for c in status.get("conditions") or () if c["type"] == "Ready"],
        [c.get("restartCount") for c in status.get("containerStatuses") or ()],
    )


def is_finished(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _labels(manifest: Manifest) -> dict[str, str]:
    return manifest["metadata"].get("labels") or {}


def _is_free(manifest: Manifest) -> bool:
    """Whether there is any use in taking it in."""
    return "deletionTimestamp" not in manifest["metadata"] and not is_finished(manifest)


def _owned(manifest: Manifest, owner: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    references = [*(metadata.get("ownerReferences") or ()), controller_reference(owner)]
    return {**manifest, "metadata": {**metadata, "ownerReferences": references}}


def _disowned(manifest: Manifest, owner: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    kept = [r for r in metadata.get("ownerReferences") or () if r["uid"] != uid(owner)]
    return {**manifest, "metadata": {**metadata, "ownerReferences": kept}}
