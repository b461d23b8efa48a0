"""The base of controllers whose objects own others: workloads with their pods, ReplicaSets, Jobs or
ControllerRevisions (pkg/controller/controller_ref_manager.go)."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.controllers.pod_tally import PodTally
from simulator.controllers.pods import is_finished
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.conditions import condition
from simulator.objects.labels import label_selector
from simulator.objects.metadata import is_terminating, key_of, labels_of, namespace_of, object_key, uid_of
from simulator.objects.owner_references import controller_of, with_controller, without_owners
from simulator.objects.status import phase_of, status_of

POD_METADATA = ("uid", "labels", "ownerReferences", "finalizers", "deletionTimestamp")
"""The metadata of a pod that its controller depends on."""


class WorkloadController(Controller):
    """A controller of a workload. ``component`` is also the kind of its objects, as ownerReferences have
    it."""

    dependents: ClassVar[tuple[str, ...]] = ("pods",)
    """The resources of the objects that it creates."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource in self.dependents:
            before, after = self._may_concern(old), self._may_concern(new)
            if (before or after) and is_relevant(old, new):
                for manifest, concerned in ((old, before), (new, after)):
                    if manifest is not None and concerned:
                        self.enqueue_owner(manifest)

    def _may_concern(self, manifest: Manifest | None) -> bool:
        """Whether :meth:`enqueue_owner` may find anything. For most pods it finds nothing in four of five
        controllers."""
        if manifest is None:
            return False
        controller = controller_of(manifest)
        if controller is None:
            return bool(self._world.informer.of(self.resource))
        return bool(controller["kind"] == self.component)

    def enqueue_owner(self, manifest: Manifest) -> None:
        """Sync the controller of this object; of an object without one, all that may adopt it."""
        controller = controller_of(manifest)
        if controller is None:
            for key in self._adopters(namespace_of(manifest), labels_of(manifest)):
                self.enqueue(key)
        elif controller["kind"] == self.component:
            self.enqueue(object_key(namespace_of(manifest), controller["name"]))

    def _adopters(self, namespace: str, labels: Mapping[str, str]) -> Iterator[str]:
        for key, manifest in self._world.informer.of(self.resource).items():
            if namespace_of(manifest) == namespace:
                selector = label_selector(manifest["spec"].get("selector"))
                if selector is not None and selector.matches(labels):
                    yield key

    def owned(self, owner: Manifest, resource: str = "pods") -> list[Manifest]:
        """Return the objects of one resource that ``owner`` controls, in the order in which they were
        observed."""
        found = map(self._get, self._ownership.controlled(uid_of(owner), resource))
        return [manifest for manifest in found if manifest is not None]

    def claim_pods(self, owner: Manifest) -> PodTally | None:
        """Return the pods that it controls, after those to adopt or release were looked for; None if there
        were any, which makes another sync."""
        tally = self._ownership.pods_of(uid_of(owner))
        orphans = self._ownership.pods_without_controller(namespace_of(owner))
        selector = label_selector(owner["spec"].get("selector"))
        settled = (
            selector is not None
            and tally.all_match(selector)
            and self.may_own_all(owner, tally)
            and not any(active and selector.matches(dict(labels)) for labels, active in orphans.labels)
        )
        return tally if settled or self.claim(owner) is not None else None

    def claim(self, owner: Manifest, resource: str = "pods") -> list[Manifest] | None:
        """Adopt the objects that match the selector and have no controller, release those that it controls
        and that do not match any more. Returns the objects that it controls; None if some were adopted or
        released, which makes another sync."""
        owned = self.owned(owner, resource)
        selector = label_selector(owner["spec"].get("selector"))
        if selector is None:
            return owned
        orphans = map(self._get, self._ownership.orphans(resource, namespace_of(owner)))
        released = [
            manifest
            for manifest in owned
            if not (selector.matches(labels_of(manifest)) and self.may_own(owner, manifest))
        ]
        adopted = [
            orphan
            for orphan in orphans
            if orphan is not None
            and not is_terminating(orphan)
            and not is_finished(orphan)
            and selector.matches(labels_of(orphan))
            and self.may_own(owner, orphan)
        ]
        taken = {key_of(manifest) for manifest in adopted}
        for manifest in self.part_of(ObjectKey(self.resource, key_of(owner)), [*adopted, *released]):
            if key_of(manifest) in taken:
                self.patch(resource, manifest, lambda m: with_controller(m, owner))
            else:
                self.patch(resource, manifest, lambda m: without_owners(m, {uid_of(owner)}))
        return None if adopted or released else owned

    def may_own(self, owner: Manifest, manifest: Manifest) -> bool:
        """Whether ``owner`` may control an object whose labels match its selector."""
        return True

    def may_own_all(self, owner: Manifest, pods: PodTally) -> bool:
        """Whether it may control all of these pods."""
        return True


def is_relevant(old: Manifest | None, new: Manifest | None) -> bool:
    """Whether a change of a dependent makes a sync of its controller. Of a pod, its node and what the
    scheduler writes to its status do not. Four controllers call it for each change of a pod."""
    if old is None or new is None or new["kind"] != "Pod":
        return old != new
    before, after = old["metadata"], new["metadata"]
    return (
        any(before.get(field) != after.get(field) for field in POD_METADATA)
        or phase_of(old) != phase_of(new)
        or condition(old, "Ready") != condition(new, "Ready")
        or _restart_counts(old) != _restart_counts(new)
    )


def _restart_counts(pod: Manifest) -> list[int | None]:
    return [each.get("restartCount") for each in status_of(pod).get("containerStatuses") or ()]
