"""An index of all objects by uid, owner and controller (the graph of
pkg/controller/garbagecollector/graph_builder.go and the controllerUID indexes of the informers)."""

from itertools import count
from typing import NamedTuple, TypeVar

from simulator.api import Manifest
from simulator.controllers.pod_tally import PodFacts, PodTally
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.metadata import namespace_of, uid_of
from simulator.objects.owner_references import controller_of, owner_uids

PODS = "pods"
Key = TypeVar("Key")
TallyKey = str | tuple[str, str]
"""The uid of a controller; of pods without one, their resource and namespace."""


class OwnershipEntry(NamedTuple):
    """The entry of one object in the index."""

    uid: str
    kinds: tuple[str, str]
    """Resource and namespace."""
    controller: str | None
    owners: tuple[str, ...]
    facts: PodFacts | None = None
    """Those of a pod."""

    @property
    def tallied_under(self) -> TallyKey:
        return self.controller or self.kinds

    @classmethod
    def of(cls, item: ObjectKey, manifest: Manifest) -> "OwnershipEntry":
        controller = controller_of(manifest)
        return cls(
            uid_of(manifest),
            (item.resource, namespace_of(manifest)),
            controller["uid"] if controller is not None else None,
            tuple(owner_uids(manifest)),
        )


class OwnershipIndex:
    """The index of owners and dependents. It is kept up to date by :meth:`changed`; each answer is in the
    order in which the objects were indexed."""

    def __init__(self) -> None:
        self._entries: dict[ObjectKey, OwnershipEntry] = {}
        self._by_uid: dict[str, ObjectKey] = {}
        self._dependents: dict[str, dict[ObjectKey, None]] = {}
        """Uid of the owner -> its dependents."""
        self._controlled: dict[tuple[str, str], dict[ObjectKey, None]] = {}
        """Uid of the controller and resource -> the objects that it controls."""
        self._orphans: dict[tuple[str, str], dict[ObjectKey, None]] = {}
        """Resource and namespace -> the objects without a controller."""
        self._tallies: dict[TallyKey, PodTally] = {}
        self._numbers = count()
        """Of the changes of pods."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        """Index the new version of an object; None = the object was deleted."""
        item = ObjectKey(resource, key)
        entry = OwnershipEntry.of(item, new) if new is not None else None
        known = self._entries.pop(item, None)
        if known is not None:
            self._by_uid.pop(known.uid, None)
            if known.facts is not None:
                tally = self._tallies[known.tallied_under]
                tally.remove(key, known.facts)
                if not tally:
                    del self._tallies[known.tallied_under]
            self._orphans[known.kinds].pop(item, None)
            if known.controller is not None:
                _discard(self._controlled, (known.controller, resource), item)
            for owner in known.owners:
                _discard(self._dependents, owner, item)
        if entry is not None:
            if resource == PODS and new is not None:
                tally = self._tallies.setdefault(entry.tallied_under, PodTally())
                facts = PodFacts.of(new, next(self._numbers))
                tally.add(key, facts)
                entry = entry._replace(facts=facts)
            self._entries[item] = entry
            self._by_uid[entry.uid] = item
            orphans = self._orphans.setdefault(entry.kinds, {})
            if entry.controller is None:
                orphans[item] = None
            else:
                self._controlled.setdefault((entry.controller, resource), {})[item] = None
            for owner in entry.owners:
                self._dependents.setdefault(owner, {})[item] = None

    def pods_of(self, owner: str) -> PodTally:
        """Return the counts of the pods whose controller is ``owner`` (a uid)."""
        return self._tallies.get(owner) or PodTally()

    def pods_without_controller(self, namespace: str) -> PodTally:
        """Return the counts of the pods of a namespace without a controller."""
        return self._tallies.get((PODS, namespace)) or PodTally()

    def find(self, uid: str) -> ObjectKey | None:
        """Return the object with this uid."""
        return self._by_uid.get(uid)

    def dependents(self, owner: str) -> list[ObjectKey]:
        """Return the objects that have ``owner`` (a uid) among their owners."""
        return [*self._dependents.get(owner, ())]

    def controlled(self, owner: str, resource: str) -> list[ObjectKey]:
        """Return the objects of one resource whose controller is ``owner`` (a uid)."""
        return [*self._controlled.get((owner, resource), ())]

    def orphans(self, resource: str, namespace: str) -> list[ObjectKey]:
        """Return the objects of one resource and namespace without a controller."""
        return [*self._orphans.get((resource, namespace), ())]


def _discard(index: dict[Key, dict[ObjectKey, None]], key: Key, item: ObjectKey) -> None:
    left = index[key]
    del left[item]
    if not left:
        del index[key]
