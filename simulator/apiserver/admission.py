"""The API server's write path for new objects: decode, set defaults, admit, validate.

Nothing is written here. The caller commits the changes on the condition that the collections which admission
read (``Admission.unchanged``) have not changed since. If one has changed, the caller runs admission again.
"""

import hashlib
import uuid
from collections.abc import Sequence
from typing import Any, Literal

from simulator.api import Admission, Change, Manifest, Micros, copied
from simulator.apiserver import decoding, resources
from simulator.apiserver.admission_plugins.order import admit_request, validate_request
from simulator.apiserver.admission_plugins.plugin import Attributes
from simulator.apiserver.custom_resources.resource_schema import prune_custom
from simulator.apiserver.defaults import set_defaults
from simulator.apiserver.generation import set_first_generation
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.managed_fields.field_writes import FieldWrite, managed_fields_of_new
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.query import version_fault
from simulator.apiserver.quota.charges import QuotaCharges
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resource import CRDS, Resource, plural_of
from simulator.apiserver.served_versions import to_stored
from simulator.apiserver.status import AlreadyExists, BadRequest, Cause, Invalid, PlainError, StatusError
from simulator.apiserver.validation import validate
from simulator.objects.timestamps import timestamp

MAX_COPIES = 1_000
"""Maximum number of objects in one request. They are stored in one commit, which delays all other commits."""
NAME_ATTEMPTS = 8
"""Number of random suffixes that are tried for a generateName, as upstream."""
NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of generated names: no vowels and no characters that look alike
(apimachinery/pkg/util/rand/rand.go)."""
GENERATED_SUFFIX = 5
"""Number of random characters that are appended to generateName."""
MAX_GENERATED_PREFIX = 63 - GENERATED_SUFFIX

_UIDS = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
"""The namespace of the generated version 5 UUIDs: ISO OID of RFC 4122. Any constant UUID would do."""
Entry = Literal["api", "page"]
"""The way by which a manifest comes in. ``api``: as a request to kube-apiserver, stored as it is there.
``page``: from people and files, with conveniences: a node is completed as its kubelet would, and a pod that
has a node already keeps its status and is not limited (``complete_on_page`` of the strategies), and what
``Attributes.is_strict`` says: an unknown runtime class is let through, a Service gets any address that it
asks for, an object may have a resourceVersion."""
SERVER_FIELDS = ("resourceVersion", "uid", "creationTimestamp", "managedFields", "selfLink")
"""Fields of metadata that only the API server sets."""
DELETION_FIELDS = ("deletionTimestamp", "deletionGracePeriodSeconds")
"""Fields of metadata that only a delete request sets."""


def admit(
    documents: Sequence[Manifest],
    reader: Reader,
    now: Micros,
    *,
    source: str,
    namespace: str = "default",
    entry: Entry = "page",
    write: FieldWrite | None = None,
    dry_run: bool = False,
) -> Admission:
    """Create the objects of these manifests: all of them, or none. A manifest may refer to earlier ones.

    ``source`` identifies the request within the sandbox. UIDs and generated names are computed from it, so
    that the same request always gives the same objects. ``namespace`` is used for objects that have none.
    ``write``: who comes to own the fields of the objects; None: nobody. ``dry_run``: nothing is
    stored. Raises StatusError.
    """
    if len(documents) > MAX_COPIES:
        raise TooLarge(f"{len(documents)} objects in one request; at most {MAX_COPIES} are allowed")
    overlay = Overlay(reader)
    creation = _Creation(overlay, now, namespace=namespace, entry=entry, write=write, dry_run=dry_run)
    for index, document in enumerate(documents):
        try:
            # A form that asks for many copies passes the same document many times: decode it once.
            if index == 0 or document is not documents[index - 1]:
                resource, decoded = creation.decode(document)
            creation.create(resource, copied(decoded), f"{source}/{index}")
        except StatusError as error:
            error.document = index
            raise
    charges = creation.quotas.changes()
    return Admission([*overlay.changes, *charges], overlay.versions, charged=len(charges))


def resource_of(manifest: Manifest, reader: Reader | Overlay) -> Resource:
    """Return the resource of a manifest. Raises BadRequest for an unknown kind."""
    api_version, kind = manifest.get("apiVersion", ""), manifest.get("kind", "")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind or not api_version:
        raise BadRequest("the manifest must have an apiVersion and a kind")
    known = resources.find_by_kind(api_version, kind)
    if known and known.is_built_in:
        return known
    overlay = reader if isinstance(reader, Overlay) else Overlay(reader)
    known = _resource_with_usual_plural(api_version, kind, overlay)
    known = known or resources.find_by_kind(api_version, kind, overlay.list(CRDS))
    if known is None:
        unserved = resources.find_unserved(api_version, kind)
        similar = resources.suggest_kind(api_version[:100], kind[:100])
        hint = f"; did you mean {similar}?" if similar else ""
        if unserved is not None:
            hint = f"; {resources.how_to_serve(unserved)}"
        raise BadRequest(f'no matches for kind "{kind[:100]}" in version "{api_version[:100]}"{hint}')
    return known


def _resource_with_usual_plural(api_version: str, kind: str, overlay: Overlay) -> Resource | None:
    """Return the resource of a kind whose definition has the usual plural in its name: one definition is read
    then instead of all."""
    group, _, version = api_version.rpartition("/")
    definition = overlay.get(CRDS, f"{plural_of(kind)}.{group}")
    defined = resources.defined_resources([definition] if definition else ())
    return next((each for each in defined if (each.version, each.kind) == (version, kind)), None)


def unknown_fields(paths: Sequence[str]) -> list[Cause]:
    """Return the faults of fields that a definition does not have."""
    return [Cause(path, f'unknown field "{path}"') for path in paths]


class _Creation:
    """The creation of the objects of one request."""

    def __init__(
        self,
        overlay: Overlay,
        now: Micros,
        *,
        namespace: str,
        entry: Entry,
        write: FieldWrite | None,
        dry_run: bool,
    ) -> None:
        self._overlay = overlay
        self._now = timestamp(now)
        self._namespace = namespace
        self._is_on_page = entry == "page"
        self._write = write
        self._is_applied = write is not None and write.is_applied
        self._may_have_version = self._is_on_page or self._is_applied or dry_run
        self.quotas = QuotaCharges(overlay, now)

    def decode(self, document: Manifest) -> tuple[Resource, Manifest]:
        """Return the resource in the version of the document, and its content."""
        resource = resource_of(document, self._overlay)
        manifest, causes = decoding.decode(resource, document)
        if not causes:
            manifest, unknown = prune_custom(resource, manifest, is_applied=self._is_applied)
            causes = unknown_fields(unknown)  # the API has dropped them before
        if causes:
            raise Invalid(resource.kind, resource.group, _name_or_empty(manifest), causes)
        return resource, manifest

    def create(self, served: Resource, given: Manifest, source: str) -> None:
        """Complete and validate an object, and add its creation to the overlay. ``served``: its resource in
        the version in which it was sent.

        Upstream: createHandler in apiserver/pkg/endpoints/handlers/create.go, Store.Create in
        apiserver/pkg/registry/generic/registry/store.go and BeforeCreate in
        apiserver/pkg/registry/rest/create.go."""
        resource, manifest = to_stored(served, given)
        strategy = strategy_of(resource)
        metadata = manifest.setdefault("metadata", {})
        owners = metadata.get("managedFields") if self._is_applied else None
        given_version = metadata.get("resourceVersion", "")
        key = self._identify(resource, metadata, source)
        if resource.has_status and not strategy.keeps_new_status:
            # Only controllers write the status, through the subresource.
            manifest.pop("status", None)
        set_defaults(resource, manifest)
        if self._write and not self._is_applied:
            owners = managed_fields_of_new(resource, manifest, self._write)
        request = Attributes(
            operation="CREATE",
            resource=resource,
            object=manifest,
            overlay=self._overlay,
            quotas=self.quotas,
            is_strict=not self._is_on_page,
        )
        admit_request(request)
        strategy.begin_create(manifest, self._overlay, self._is_on_page)
        given_status = manifest.get("status", {})
        strategy.prepare_for_create(manifest, self._now)
        if self._is_on_page and strategy.complete_on_page:
            manifest = strategy.complete_on_page(manifest, given_status, self._now, self._overlay)
            request.object = manifest
            metadata = manifest["metadata"]
        causes = validate(served, manifest, is_new=True)
        if not self._is_on_page:
            causes = [*strategy.validate_in_cluster(manifest, self._overlay), *causes]
        if causes:
            raise Invalid(resource.kind, resource.group, metadata.get("name", ""), causes)
        validate_request(request)
        if (resource.id, key) in self._overlay.changed:
            raise AlreadyExists(resource.id, metadata["name"])
        metadata["creationTimestamp"] = self._now
        if owners:
            metadata["managedFields"] = owners
        set_first_generation(strategy, manifest)
        if not self._may_have_version:
            _check_no_resource_version(given_version)
        self._overlay.put(Change(resource.id, key, manifest, expected=0))

    def _identify(self, resource: Resource, metadata: dict[str, Any], source: str) -> str:
        """Set what the server sets in the metadata of a new object: namespace, name, UID. Return its key."""
        for field in (*SERVER_FIELDS, *DELETION_FIELDS):
            metadata.pop(field, None)
        if resource.namespaced:
            metadata["namespace"] = metadata.get("namespace") or self._namespace
        elif not self._is_on_page:
            metadata.pop("namespace", None)
        _set_generated_name(resource, metadata, self._overlay, source)
        key = resource.key(metadata.get("namespace", ""), metadata.get("name", ""))
        metadata["uid"] = str(uuid.uuid5(_UIDS, f"{source}/{resource.id}/{key}"))
        return key


def _check_no_resource_version(text: str) -> None:
    """Raise PlainError for the creation of an object with a resourceVersion. What is no number, and 0, are
    passed over (Create in apiserver/pkg/storage/etcd3/store.go)."""
    if not version_fault(text) and int(text or "0"):
        raise PlainError("resourceVersion should not be set on objects to be created")


def _name_or_empty(manifest: Manifest) -> str:
    """Return metadata.name of a manifest that may be invalid; "" if it has no valid name."""
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _set_generated_name(resource: Resource, metadata: dict[str, Any], overlay: Overlay, source: str) -> None:
    prefix = metadata.get("generateName", "")
    if metadata.get("name") or not prefix:
        return
    for attempt in range(NAME_ATTEMPTS):
        digest = hashlib.sha256(f"{source}/{attempt}".encode()).digest()
        suffix = "".join(NAME_ALPHABET[byte % len(NAME_ALPHABET)] for byte in digest[:GENERATED_SUFFIX])
        metadata["name"] = prefix[:MAX_GENERATED_PREFIX] + suffix
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        if (resource.id, key) not in overlay.changed:
            break
