"""The ownerReferences of an object (apimachinery/pkg/apis/meta/v1/controller_ref.go)."""

from collections.abc import Collection, Sequence

from simulator.api import Manifest
from simulator.objects.metadata import name_of, uid_of, with_metadata


def owner_references(manifest: Manifest) -> Sequence[Manifest]:
    found: Sequence[Manifest] = manifest["metadata"].get("ownerReferences") or ()
    return found


def owner_uids(manifest: Manifest) -> Collection[str]:
    """Return the uids of all owners, each once, in order."""
    return dict.fromkeys(reference["uid"] for reference in owner_references(manifest))


def controller_of(manifest: Manifest) -> Manifest | None:
    """Return the reference to the object's controller; None if it has none (metav1.GetControllerOf)."""
    for reference in owner_references(manifest):
        if reference.get("controller"):
            return reference
    return None


def controller_reference(owner: Manifest) -> Manifest:
    """Return a reference by which ``owner`` controls another object (metav1.NewControllerRef)."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def with_controller(manifest: Manifest, owner: Manifest) -> Manifest:
    """Return a copy of the object with ``owner`` added as its controller."""
    references = [*owner_references(manifest), controller_reference(owner)]
    return with_metadata(manifest, ownerReferences=references)


def without_owners(manifest: Manifest, uids: Collection[str]) -> Manifest:
    """Return a copy of the object without its references to the owners with these uids."""
    kept = [reference for reference in owner_references(manifest) if reference["uid"] not in uids]
    return with_metadata(manifest, ownerReferences=kept)
