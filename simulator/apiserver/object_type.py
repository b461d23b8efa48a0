"""Check of the ``apiVersion`` and ``kind`` in a request's body.

Upstream: apimachinery/pkg/runtime (errors.go, scheme.go), and transformDecodeError in apiserver.
"""

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.status import BadRequest, Invalid, invalid
from simulator.apiserver.types.api_types import api_types

_SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
_SHOWN_LENGTH = 100
_KINDS = {(resource.api_version, resource.kind) for resource in BUILT_IN}
_KINDS |= {(api_version, f"{kind}List") for api_version, kind in _KINDS} | {("v1", "List")}
_INTERNAL_PACKAGES = {"": "core", "events.k8s.io": "core"}
"""The packages of the internal types whose name is not the first part of their group."""


def with_type(resource: Resource, manifest: Manifest, *, also: str = "") -> Manifest:
    """Return the manifest with the resource's apiVersion and kind, which the body may leave out. Raises
    BadRequest if the body has another type. ``also``: a further version that is accepted. A custom resource
    must say its apiVersion."""
    if resource.schema_text and not manifest.get("apiVersion"):
        raise _custom_type_error(resource, manifest, "", str(manifest.get("kind")))
    manifest = {"apiVersion": resource.api_version, "kind": resource.kind} | {
        field: value for field, value in manifest.items() if value or field not in ("apiVersion", "kind")
    }
    given = (manifest["apiVersion"], manifest["kind"])
    if given in ((resource.api_version, resource.kind), (also, resource.kind)):
        return manifest
    api_version, kind = (str(part)[:_SHOWN_LENGTH] for part in given)
    if resource.schema_text:
        raise _custom_type_error(resource, manifest, api_version, kind)
    _, _, version = api_version.rpartition("/")
    detail = type_error(resource, api_version, kind)
    raise BadRequest(f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {detail}')


def missing_kind(text: str) -> str:
    """Return the error of the decoder of custom resources for an object without a kind, in this text."""
    return f"Object 'Kind' is missing in '{text}'"


def custom_type_faults(resource: Resource, manifest: Manifest) -> Invalid | None:
    """Return the error for a patched custom resource of another type; None if it has the right one: its
    decoder takes all, and the strategy compares the type (customresource/validator.go)."""
    kind, api_version = str(manifest.get("kind")), str(manifest.get("apiVersion") or "")
    causes = []
    if kind != resource.kind:
        causes.append(invalid("kind", kind, f"must be {resource.kind}"))
    if api_version != resource.api_version:
        causes.append(invalid("apiVersion", api_version, f"must be {resource.api_version}"))
    name = (manifest.get("metadata") or {}).get("name") or ""
    return Invalid(kind, api_version.rpartition("/")[0], name, causes) if causes else None


def _custom_type_error(
    resource: Resource, manifest: Manifest, api_version: str, kind: str
) -> BadRequest | Invalid:
    """Return the error for a custom resource of another type: its decoder takes all, so the handler of a
    create compares the version, and the strategy the kind (customresource/validator.go)."""
    if api_version != resource.api_version:
        return BadRequest(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    named = name[:_SHOWN_LENGTH] if isinstance(name, str) else ""
    return Invalid(kind, resource.group, named, [invalid("kind", kind, f"must be {resource.kind}")])


def type_error(resource: Resource, api_version: str, kind: str) -> str:
    """Return why an object of another type is none of the resource."""
    _, _, version = api_version.rpartition("/")
    if (api_version, kind) in _KINDS or api_types().knows(api_version, kind):
        package = _INTERNAL_PACKAGES.get(resource.group, resource.group.partition(".")[0])
        wanted = f"{package}.{resource.kind}"
        return f"converting ({version}.{kind}) to ({wanted}): unknown conversion"
    return f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
