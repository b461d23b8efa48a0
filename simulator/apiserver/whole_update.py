"""An update of an object together with its status, in one write, as a page makes it."""

from msgspec.structs import replace as with_fields

from simulator.api import Manifest
from simulator.apiserver.admission import Admission
from simulator.apiserver.managed_fields.field_writes import FieldWrite
from simulator.apiserver.overlay import Reader
from simulator.apiserver.resource import Resource
from simulator.apiserver.update import admit_update


def admit_whole_update(
    resource: Resource,
    old: Manifest,
    new: Manifest,
    reader: Reader,
    *,
    subresource: str = "",
    write: FieldWrite | None = None,
    served: Resource | None = None,
) -> Admission:
    """Return the update of an object, and after it that of its status, as one change; see
    :func:`admit_update`."""
    admitted = admit_update(resource, old, new, reader, subresource=subresource, write=write, served=served)
    updated = admitted.changes[0].object if admitted.changes else old
    if updated is None:
        return admitted  # the update removed the last finalizer and so deletes the object
    status = admit_update(resource, updated, new, reader, subresource="status")
    if not status.changes:
        return admitted
    expected = (admitted.changes or status.changes)[0].expected
    merged = with_fields(status.changes[0], expected=expected)
    charges = [*admitted.charges] or status.charges
    unchanged = {**status.unchanged, **admitted.unchanged}
    return Admission([merged, *charges], unchanged, charged=len(charges))
