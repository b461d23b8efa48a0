"""Who belongs to whom, by the uids in ownerReferences."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from simulator.api import Manifest

Key = TypeVar("Key")


class Place(NamedTuple):
    resource: str
    key: str


class Ownership:
    """All objects by uid, and each owner's dependents, as the watch shows them."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._dependents: dict[str, dict[Place, None]] = {}
        self._controlled: dict[tuple[str, str], dict[Place, None]] = {}
        """By the controller's uid and the resource."""
        self._orphans: dict[tuple[str, str], dict[Place, None]] = {}
        """By resource and namespace: what nobody controls."""

    def changed(self, place: Place, old: Manifest | None, new: Manifest | None) -> None:
        namespace = ((new or old or {}).get("metadata") or {}).get("namespace", "")
        orphans = self._orphans.setdefault((place.resource, namespace), {})
        if old is not None:
            self._places.pop(uid(old), None)
            orphans.pop(place, None)
            controller = controller_of(old)
            if controller is not None:
                _discard(self._controlled, (controller["uid"], place.resource), place)
            for owner in owners(old):
                _discard(self._dependents, owner, place)
        if new is not None:
            self._places[uid(new)] = place
            controller = controller_of(new)
            if controller is None:
                orphans[place] = None
            else:
                self._controlled.setdefault((controller["uid"], place.resource), {})[place] = None
            for owner in owners(new):
                self._dependents.setdefault(owner, {})[place] = None

    def find(self, uid: str) -> Place | None:
        return self._places.get(uid)

    def dependents(self, owner: str) -> list[Place]:
        """In the order in which they came to be its own."""
        return [*self._dependents.get(owner, ())]

    def controlled(self, owner: str, resource: str) -> list[Place]:
        """Of one kind, those whose controller it is."""
        return [*self._controlled.get((owner, resource), ())]

    def orphans(self, resource: str, namespace: str) -> list[Place]:
        return [*self._orphans.get((resource, namespace), ())]


def _discard(index: dict[Key, dict[Place, None]], key: Key, place: Place) -> None:
    left = index[key]
    del left[place]
    if not left:
        del index[key]


def uid(manifest: Manifest) -> str:
    found: str = manifest["metadata"].get("uid", "")
    return found


def references(manifest: Manifest) -> Sequence[Manifest]:
    found: Sequence[Manifest] = manifest["metadata"].get("ownerReferences") or ()
    return found


def owners(manifest: Manifest) -> Iterable[str]:
    """The uids of all owners, each once."""
    return dict.fromkeys(reference["uid"] for reference in references(manifest))


def controller_of(manifest: Manifest) -> Manifest | None:
    """The reference to the controller (metav1.GetControllerOf)."""
    return next((reference for reference in references(manifest) if reference.get("controller")), None)


def controller_reference(owner: Manifest) -> Manifest:
    """metav1.NewControllerRef."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }
