"""The strategy of a kind: all rules by which its objects are created, updated and shown.

The write path (``admission.py``, ``update.py``, ``deletion.py``) asks the strategy and knows no kind by name.
Each kind gives what differs from the defaults here. Upstream: RESTCreateStrategy and RESTUpdateStrategy in
apiserver/pkg/registry/rest, which strategy.go of each folder in pkg/registry implements.

All functions get decoded manifests. Those named ``set`` and ``prepare_for_create`` change them in place; the
others change nothing.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver import names
from simulator.apiserver.field_checks import NameRule
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.printers.column import PLAIN_PRINTER, Printer
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_features import served_version
from simulator.apiserver.status import Cause

Faults = Callable[[Manifest], Iterable[Cause]]
UpdateFaults = Callable[[Manifest, Manifest], Iterable[Cause]]
"""The faults of a new object, compared with the stored one."""
WHOLE_METADATA: Final = ("metadata",)


def nothing(*_: object) -> Iterator[Any]:
    """Yield nothing: there is no fault, and no warning."""
    return iter(())


def no_change(*_: object) -> None:
    """Change nothing."""


def spec_of(manifest: Manifest) -> Any:
    return manifest.get("spec")


def with_field(new: Manifest, old: Manifest, field: str) -> Manifest:
    """Return ``new`` with this field as ``old`` has it."""
    return {**new, field: copy.deepcopy(old[field])} if field in old else without_field(new, field)


def without_field(manifest: Manifest, field: str) -> Manifest:
    return {key: value for key, value in manifest.items() if key != field}


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """How a kind that is stored as another one is converted."""

    stored: Resource
    to_stored: Callable[[Manifest], Manifest]
    to_served: Callable[[Manifest], Manifest]
    """Both rename fields; apiVersion and kind are set by the caller."""
    stored_field: Callable[[str], str]
    """Returns the stored name of a field in a field selector; "" for one that only the other kind has."""


class Subresource(msgspec.Struct, frozen=True, kw_only=True):
    """How an object is updated through one of its subresources."""

    prepare_for_update: Callable[[Manifest, Manifest], Manifest]
    """(new, old) -> the new object with what this path does not change as it was."""
    validate_update: UpdateFaults = nothing
    validate_in_cluster: Callable[[Manifest, Manifest, Overlay], Iterator[Cause]] = nothing
    """The faults of a change that depend on the objects around it (new, old, cluster)."""
    update_order: str = ""
    """See :attr:`Strategy.update_order`; "" = that of the kind."""
    set_times: Callable[[Manifest, Manifest, str], Manifest] | None = None
    """(new, old, now) -> the new object with the times that the server sets."""
    resets_metadata: tuple[str, ...] = ()
    """The fields of the metadata that no manager owns by this path (GetResetFields), or WHOLE_METADATA."""
    counts: bool = True
    """Whether the generation grows by what this path changes."""


def status_strategy(
    validate_update: UpdateFaults = nothing,
    *,
    prepare: Callable[[Manifest, Manifest], Manifest] | None = None,
    set_times: Callable[[Manifest, Manifest, str], Manifest] | None = None,
    keeps_metadata: tuple[str, ...] = (),
    resets_metadata: tuple[str, ...] | None = None,
    validate_in_cluster: Callable[[Manifest, Manifest, Overlay], Iterator[Cause]] = nothing,
    update_order: str = "UC",
) -> Subresource:
    """Return the strategy of a status: the new status, and the new metadata but for the fields named in
    ``keeps_metadata``, or WHOLE_METADATA.
    ``prepare``: what happens to the object with the new status beyond that (prepared, old)."""

    def prepare_for_update(new: Manifest, old: Manifest) -> Manifest:
        prepared = {**copy.deepcopy(old), "status": new.get("status", {})}
        if keeps_metadata != WHOLE_METADATA:
            metadata = new["metadata"]
            for field in keeps_metadata:
                metadata = with_field(metadata, old["metadata"], field)
            prepared["metadata"] = metadata
        return prepared if prepare is None else prepare(prepared, old)

    return Subresource(
        prepare_for_update=prepare_for_update,
        validate_update=validate_update,
        validate_in_cluster=validate_in_cluster,
        update_order=update_order,
        set_times=set_times,
        resets_metadata=keeps_metadata if resets_metadata is None else resets_metadata,
        counts=False,
    )


STATUS: Final = status_strategy()
"""The strategy of a status without rules."""


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one kind. The defaults are those of a kind without rules of its own."""

    resource: Resource

    first_objects: Sequence[Manifest] = ()
    """The objects of the kind that every cluster has."""
    conversion: Conversion | None = None
    """Of a kind that is stored as another one."""

    # What every write does
    drop_disabled_fields: Callable[[Manifest, Manifest | None], object] = no_change
    """Removes the fields whose feature gates are off (object, stored object that is updated)."""
    set_defaults: Callable[[Manifest], object] = no_change
    first_phase: str | None = ""
    """The phase of a new object; "" = it has none. None: a new object has no status before it is prepared."""

    # Creation
    refuse_create: Callable[[Reader], object] = no_change
    """Raises StatusError where no object of the kind is created at all."""
    keeps_new_status: bool = False
    """Whether a new object may come with a status."""
    begin_create: Callable[[Manifest, Overlay, bool], object] = no_change
    """Allocates what the object needs of the cluster, before it is prepared (object, cluster, whether to take
    any value that is asked for)."""
    prepare_for_create: Callable[[Manifest, str], object] = no_change
    """Sets what is set once (object, now as RFC 3339)."""
    complete_on_page: Callable[[Manifest, Manifest, str, Overlay], Manifest] | None = None
    """Returns a prepared object that comes by the page or a file with what it keeps or gets (object, the
    status with which it came, now as RFC 3339, cluster)."""
    name_rule: NameRule = names.dns_subdomain
    name_rule_of_new: NameRule | None = None
    """The rule of the names of new objects, if stored ones need not follow it."""
    any_finalizer: bool = False
    """Whether finalizers need not be names of Kubernetes or qualified."""
    validates_metadata: bool = True
    """Whether the kind validates the metadata; else only the rules for all objects apply, if nothing else is
    wrong."""
    validate: Faults = nothing
    validate_new: Faults = nothing
    """Rules that stored objects need not follow."""
    validate_in_cluster: Callable[[Manifest, Overlay], Iterator[Cause]] = nothing
    """The faults of a new object that depend on the objects around it. They stand before all others."""
    warnings: Callable[[Manifest, Manifest | None], Iterator[str]] = nothing
    """The warnings about a new object, or an update (new, old)."""
    name_use: str = ""
    """For what the name is used, if a new object should have one that is a DNS label."""

    # Update
    needs_version: bool = False
    """Whether an update must have a resourceVersion (AllowUnconditionalUpdate is false)."""
    is_created_by_update: bool = False
    """Whether an update creates a missing object (AllowCreateOnUpdate)."""
    prepare_for_update: Callable[[Manifest, Manifest], Manifest] | None = None
    """(new, old) -> the new object with the fields that an update does not change as they were. The status is
    kept anyway, where it is a subresource."""
    begin_update: Callable[[Manifest, Manifest, Overlay], object] = no_change
    """Completes the new object, which has its defaults, in place (new, old, cluster)."""
    validate_update: UpdateFaults = nothing
    validate_updated: UpdateFaults | None = None
    """What takes the place of ``validate`` in an update, if stored objects may keep faults."""
    update_order: str = "MSUC"
    """The order in which an update is validated: M the metadata, S the rest of the object (mostly its spec),
    U what the update changes of the metadata, C what it changes of the rest. A part that stands twice is
    validated twice, and each of its faults is a cause twice, as upstream."""
    desired_state: Callable[[Manifest], Any] | None = None
    """The part of the object with whose changes metadata.generation grows; None: it has none."""
    begins_with_generation: bool = True
    subresources: Mapping[str, Subresource] = {}

    # Deletion
    undeletable: Mapping[str, str] = {}
    """The names of objects that are never deleted, with the reason that a refusal says."""
    grace_seconds: Callable[[Manifest, int | None], int | None] | None = None
    """(object, asked) -> the grace period of a deletion; None if the request changes nothing
    (CheckGracefulDelete). Objects of other kinds have none."""
    has_finalizers_in_spec: bool = False
    """Whether an object that is deleted first gets the phase Terminating, and stays until the finalizers of
    its spec are gone, too (pkg/registry/core/namespace/storage/storage.go)."""
    is_shown_when_deleted: bool = False
    """Whether a DELETE answers with the object, and not with a Status (ReturnDeletedObject)."""
    garbage_collection: Literal["DeleteDependents", "OrphanDependents", "Unsupported"] = "DeleteDependents"
    """What happens to dependents unless the request says otherwise (DefaultGarbageCollectionPolicy).
    Unsupported: there are none."""
    orphaning_warning: str = ""
    """The warning to a deletion that does not say what becomes of the dependents."""
    mark_for_deletion: Callable[[Manifest, Micros], Manifest] | None = None
    """Marks an object that is not marked yet, for a kind whose objects a controller of kube-apiserver removes
    (:mod:`simulator.apiserver.definition_controllers`)."""

    # Reads
    printer: Printer = PLAIN_PRINTER
    older_printer: Printer | None = None
    """That of a version whose ``tables_have_older_columns``, if it has other columns."""
    fields: tuple[str, ...] | None = None
    """The fields that a field selector may name beside the name and the namespace; None: it is a kind without
    a conversion of its own."""
    field_values: Mapping[str, Callable[[Manifest], object]] = {}
    """The values of those fields that are not at their paths in the object."""
    field_error: str = "field label not supported: {}"
    """What is said of a field that cannot be selected."""
    storage_prefix: str = ""
    """The folder in etcd, if it is another one than the plural."""

    def table_printer(self) -> Printer:
        """Return what prints the rows of the version that is served."""
        older = self.older_printer if served_version().tables_have_older_columns else None
        return older or self.printer

    def subresource(self, name: str) -> Subresource | None:
        """Return the rules of an update through a subresource; None for those of the object itself."""
        found = self.subresources.get(name)
        return STATUS if found is None and name == "status" and self.resource.has_status else found
