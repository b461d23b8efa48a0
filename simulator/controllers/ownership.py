"""Who belongs to whom, by the uids in ownerReferences."""

from collections.abc import Iterable
from typing import NamedTuple

from simulator.api import Manifest


class Place(NamedTuple):
    resource: str
    key: str


class Ownership:
    """All objects by uid, and each owner's dependents, as the watch shows them."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._dependents: dict[str, dict[Place, None]] = {}
        self._orphans: dict[tuple[str, str], dict[Place, None]] = {}
        """By resource and namespace: what nobody controls."""

    def changed(self, place: Place, old: Manifest | None, new: Manifest | None) -> None:
        namespace = ((new or old or {}).get("metadata") or {}).get("namespace", "")
        orphans = self._orphans.setdefault((place.resource, namespace), {})
        if old is not None:
            self._places.pop(uid(old), None)
            orphans.pop(place, None)
            for owner in owners(old):
                left = self._dependents[owner]
                del left[place]
                if not left:
                    del self._dependents[owner]
        if new is not None:
            self._places[uid(new)] = place
            if controller_of(new) is None:
                orphans[place] = None
            for owner in owners(new):
                self._dependents.setdefault(owner, {})[place] = None

    def find(self, uid: str) -> Place | None:
        return self._places.get(uid)

    def dependents(self, owner: str, resource: str = "") -> list[Place]:
        """In the order in which they came to be its own; of one kind, or of all."""
        places = self._dependents.get(owner, ())
        return [place for place in places if not resource or place.resource == resource]

    def orphans(self, resource: str, namespace: str) -> list[Place]:
        return [*self._orphans.get((resource, namespace), ())]


def uid(manifest: Manifest) -> str:
    found: str = manifest["metadata"].get("uid", "")
    return found


def owners(manifest: Manifest) -> Iterable[str]:
    """The uids of all owners, each once."""
    return dict.fromkeys(reference["uid"] for reference in manifest["metadata"].get("ownerReferences") or ())


def controller_of(manifest: Manifest) -> Manifest | None:
    """The reference to the controller (metav1.GetControllerOf)."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


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
