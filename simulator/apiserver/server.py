"""The API server: it decides each write of a cluster.

Upstream: Create, Update and Delete of Store in apiserver/pkg/registry/generic/registry/store.go, the handlers
in apiserver/pkg/endpoints/handlers, and the subresources of pods in pkg/registry/core/pod/storage.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace as with_fields

from simulator.api import Admission, Manifest, Micros, bare
from simulator.apiserver.admission import Entry, admit
from simulator.apiserver.admission_plugins.namespace_lifecycle import check_namespace
from simulator.apiserver.component_server import ComponentServer
from simulator.apiserver.deletion import admit_delete, deletion_changes, last_state
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.managed_fields.field_writes import FieldWrite
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.pod_subresources import admit_binding, admit_eviction
from simulator.apiserver.preconditions import (
    check_missing_identity,
    check_preconditions,
    check_stored_identity,
    version_of_update,
)
from simulator.apiserver.request_options import DeleteOptions, WriteOptions
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import PODS
from simulator.apiserver.served_features import in_version
from simulator.apiserver.served_versions import stored_resource, to_stored
from simulator.apiserver.status import Conflict, NotFound
from simulator.apiserver.update import admit_update, admit_whole_update
from simulator.apiserver.updated_objects import (
    Intent,
    Patcher,
    applied,
    applied_scale,
    decoded_scale,
    patched,
    patched_scale,
    replaced,
    replaced_scale,
    without_repeated_owners,
)
from simulator.apiserver.warnings import warnings_of, warnings_of_deletion, warnings_of_update
from simulator.objects.metadata import is_terminating
from simulator.objects.timestamps import timestamp
from simulator.versions.features import Features


class ApiServer(ComponentServer):
    """Decides writes on what a reader shows now. It stores nothing: each method returns the changes with the
    conditions for storing them (:class:`Admission`), and raises StatusError.

    :func:`simulator.apiserver.commit.write` stores them, and asks again if what was read has changed by then.
    The methods of :class:`ComponentServer` are those of components."""

    def __init__(
        self,
        reader: Reader,
        clock: Callable[[], Micros],
        features: Features,
        source: Callable[[], str] = str,
    ) -> None:
        """``features``: the version whose API is served, with its gates. ``source`` returns a text that
        identifies what is decided on this state of the cluster: UIDs and generated names are computed from
        it."""
        super().__init__(reader, clock, features)
        self._source = source

    # Create

    @in_version
    def create(self, place: RequestPlace, given: Manifest, options: WriteOptions) -> Admission:
        """Create an object, as a POST to its collection."""
        resource = place.resource
        strategy_of(resource).refuse_create(self.reader)
        manifest, repeated = without_repeated_owners(given)
        options.warnings.extend(repeated)
        if resource.namespaced:
            place.check_namespace(manifest.get("metadata"))
        return self._create_at(place, manifest, options)

    @in_version
    def create_all(
        self,
        documents: Sequence[Manifest],
        options: WriteOptions | None = None,
        *,
        namespace: str = "default",
        source: str = "",
    ) -> Admission:
        """Create the objects of these manifests, all or none, with the conveniences for people and files
        (:data:`Entry`). ``namespace``: that of objects that have none. ``source``: that of this call, if more
        than one is decided on this state."""
        options = options or WriteOptions()
        by = self._by("", options) if options.manager else None
        return self._admit(documents, by, options, namespace=namespace, entry="page", source=source)

    def _create_at(
        self,
        place: RequestPlace,
        manifest: Manifest,
        options: WriteOptions,
        *,
        by: FieldWrite | None = None,
    ) -> Admission:
        if by is None and options.manager:
            by = self._by("", options)
        namespace = place.namespace or "default"
        admitted = self._admit([manifest], by, options, namespace=namespace, entry="api")
        created = admitted.objects[0].object
        assert created is not None
        options.warnings.extend(warnings_of(place.resource, created))
        return admitted

    def _admit(
        self,
        documents: Sequence[Manifest],
        by: FieldWrite | None,
        options: WriteOptions,
        *,
        namespace: str,
        entry: Entry,
        source: str = "",
    ) -> Admission:
        admitted = admit(
            documents,
            self.reader,
            self.now(),
            source=source or self._source() + ("/dry-run" if options.dry_run else ""),
            namespace=namespace,
            entry=entry,
            write=by,
            dry_run=options.dry_run,
        )
        given = (document.get("metadata") for document in documents)
        generated = any(isinstance(metadata, dict) and "generateName" in metadata for metadata in given)
        return with_fields(admitted, may_exist=generated)

    # Update

    @in_version
    def update(
        self,
        place: RequestPlace,
        updated: Callable[[Manifest], Manifest],
        options: WriteOptions,
        *,
        whole: bool = False,
        uid: str = "",
    ) -> Admission:
        """Update an object, or one of its subresources, to what ``updated`` makes of the stored one.
        ``whole``: change the status, too; otherwise only the subresource ``status`` changes it. ``uid``: that
        which the object must have; "" = any."""
        old = self._existing(place)
        check_stored_identity(stored_resource(place.resource), old, uid)
        return self._update(place, old, updated(old), options, whole=whole)

    @in_version
    def replace(self, place: RequestPlace, given: Manifest, options: WriteOptions) -> Admission:
        """Replace an object, a subresource, or the Scale of an object, as a PUT. Objects of some kinds are
        created if they are missing (AllowCreateOnUpdate)."""
        if place.subresource == "scale":
            scale = decoded_scale(place, given)
            old = self._identified(place, place.resource, scale)
            return self._update(place, old, replaced_scale(place, old, scale), options)
        given, repeated = without_repeated_owners(given)
        options.warnings.extend(repeated)
        place.check(given.get("metadata") or {})
        kind, manifest = to_stored(place.resource, given)
        if (
            strategy_of(place.resource).is_created_by_update
            and not place.subresource
            and self.find(place) is None
        ):
            check_missing_identity(kind, place.namespace, place.name, manifest["metadata"].get("uid") or "")
            version_of_update(manifest["metadata"])
            return self._create_at(place, bare(manifest), options)
        old = self._identified(place, kind, manifest)
        return self._update(place, old, replaced(place, kind, old, manifest), options)

    @in_version
    def patch(self, place: RequestPlace, patcher: Patcher, options: WriteOptions) -> Admission:
        """Apply a patch to an object, a subresource, or the Scale of an object."""
        old = self._existing(place)
        make = patched_scale if place.subresource == "scale" else patched
        return self._update(place, old, make(place, old, patcher, options), options)

    @in_version
    def apply(self, place: RequestPlace, intent: Intent, options: WriteOptions) -> Admission:
        """Merge an applied object into the stored one, or create it, or merge a Scale (server-side apply)."""
        by = self._by(place.subresource, options, is_applied=True)
        if place.subresource == "scale":
            old = self._existing(place)
            return self._update(place, old, applied_scale(place, old, intent, by, options), options, by=by)
        stored = self._existing(place) if place.subresource else self.find(place)
        new = applied(place, stored, intent, by, options)
        if stored is None:
            created = self._create_at(place, new, options, by=by)
            return with_fields(created, may_exist=True)
        return self._update(place, stored, to_stored(place.resource, new)[1], options, by=by)

    def _update(
        self,
        place: RequestPlace,
        old: Manifest,
        new: Manifest,
        options: WriteOptions,
        *,
        whole: bool = False,
        by: FieldWrite | None = None,
    ) -> Admission:
        resource, subresource, kind = place.resource, place.subresource, stored_resource(place.resource)
        if by is None and options.manager is not None:
            by = self._by(subresource, options)
        decide = admit_whole_update if whole else admit_update
        admitted = decide(kind, old, new, self.reader, subresource=subresource, write=by, served=resource)
        result = admitted.last or (admitted.changes[0].object if admitted.changes else old)
        assert result is not None
        options.warnings.extend(warnings_of_update(resource, result, old, subresource))
        return with_fields(admitted, stored=old)

    # Delete

    @in_version
    def delete(self, place: RequestPlace, options: DeleteOptions) -> Admission:
        """Delete an object, or mark it for deletion: see :func:`admit_delete`."""
        kind, now = stored_resource(place.resource), self.now()
        options.warnings.extend(warnings_of_deletion(kind, options))
        old = self._existing(place)
        check_preconditions(kind, old, options.uid, options.version)
        if mark := strategy_of(kind).mark_for_deletion:
            marked = old if is_terminating(old) else mark(old, now)
            return Admission(self.update_by_component(kind.id, old, marked), {}, stored=old)
        change = admit_delete(
            kind, old, now, grace_seconds=options.grace_seconds, propagation=options.propagation
        )
        if change is None:
            return Admission([], {}, stored=old)
        if change.object is not None:
            return Admission([change], {}, stored=old)
        shown = last_state(kind, old, now)
        changes = deletion_changes(kind, old, change, now)
        return Admission(changes, {}, last=shown if options.dry_run else bare(shown), stored=old)

    @in_version
    def recreate(self, place: RequestPlace, manifest: Manifest) -> Admission:
        """Delete a pod that is not bound, or a resource claim, and create another one in its place, in one
        commit. Raises Conflict if the pod is bound by now, or the object is not removed at once."""
        kind, old, now = place.resource, self._existing(place), self.now()
        if old["spec"].get("nodeName"):
            detail = f"it is bound to node {old['spec']['nodeName']}"
            raise Conflict(kind.id, place.name, detail)
        deletion = admit_delete(kind, old, now)
        if deletion is None or deletion.object is not None:
            raise Conflict(kind.id, place.name, "it has finalizers, so it cannot be removed at once")
        created = self.create_all([manifest], namespace=place.namespace)
        changes = [*deletion_changes(kind, old, deletion, now), *created.changes]
        return with_fields(created, changes=changes)

    # Subresources of pods that are created

    @in_version
    def bind(self, place: RequestPlace, binding: Manifest) -> Admission:
        """Assign a pod to a node. ``binding`` is decoded; it has the pod's name where the path has none."""
        self._check_namespace(place, binding)
        pod = self._existing(place.named_in(binding, "Binding"))
        return Admission([admit_binding(pod, binding, self.reader, self.now())], {})

    @in_version
    def evict(
        self, place: RequestPlace, options: DeleteOptions, eviction: Manifest | None = None
    ) -> Admission:
        """Delete a pod if its disruption budgets allow it. ``eviction``: the body, decoded; None = the pod of
        the path."""
        if eviction is not None:
            self._check_namespace(place, eviction)
            place.named_in(eviction, "Eviction")
        pod = self._existing(place)
        check_preconditions(PODS, pod, options.uid, options.version)
        return admit_eviction(
            pod,
            self.reader,
            self.now(),
            grace_seconds=options.grace_seconds,
            propagation=options.propagation,
        )

    # Reading

    def _existing(self, place: RequestPlace) -> Manifest:
        found = self.find(place)
        if found is None:
            raise NotFound(place.resource.id, place.name)
        return found

    def _identified(self, place: RequestPlace, kind: Resource, given: Manifest) -> Manifest:
        """Return the object that a PUT replaces. Raises NotFound, or Conflict if there is none and the PUT
        has a UID."""
        found = self.find(place)
        if found is None:
            check_missing_identity(kind, place.namespace, place.name, given["metadata"].get("uid") or "")
            raise NotFound(place.resource.id, place.name)
        return found

    def _check_namespace(self, place: RequestPlace, body: Manifest) -> None:
        """Bindings and evictions are created, so their namespace must be there, and not end. Raises NotFound
        or NamespaceTerminating."""
        name = place.name or body.get("metadata", {}).get("name", "")
        check_namespace(PODS, place.namespace, name, Overlay(self.reader))

    def _by(self, subresource: str, options: WriteOptions, *, is_applied: bool = False) -> FieldWrite:
        """Return who comes to own fields, and when. The handler of the scale does not say when
        (scalehandler.go)."""
        time = "" if subresource == "scale" else timestamp(self.now())
        return FieldWrite(options.manager or "", time, subresource, is_applied=is_applied)
