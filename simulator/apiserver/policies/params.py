"""The parameters of policies: objects of a kind that a policy names, chosen by a binding.

Upstream: CollectParams in apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go, v1.34.
"""

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resources import BUILT_IN_GROUPS, CRDS, Resource, find_by_kind
from simulator.objects.labels import label_selector
from simulator.objects.metadata import labels_of, name_of


class ConfigurationError(Exception):
    """A policy or a binding cannot be used. The message gives the reason."""


def find_param_resource(kind: Manifest, overlay: Overlay) -> Resource:
    """Return the resource of the parameters. Raises ConfigurationError for a kind that does not exist."""
    api_version = kind.get("apiVersion", "")
    group, _, version = api_version.rpartition("/")
    known = find_by_kind(api_version, kind.get("kind", ""), overlay.peek(CRDS))
    if known is None or (group not in BUILT_IN_GROUPS and not known.schema_text):
        shown = f"{group}/{version}, Kind={kind.get('kind', '')}"
        raise ConfigurationError(f"failed to find resource referenced by paramKind: '{shown}'")
    return known


def collect_params(
    resource: Resource | None, reference: Manifest | None, namespace: str, overlay: Overlay
) -> list[Manifest | None]:
    """Return the parameters with which a policy is evaluated, once for each; [None] = once without.
    ``resource``: that of the policy's paramKind. Raises ConfigurationError."""
    if resource is None or reference is None:
        return [None]
    place = ""
    if resource.namespaced:
        place = reference.get("namespace") or namespace
        if not place:
            raise ConfigurationError(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
            )
    elif reference.get("namespace"):
        raise ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
    if reference.get("name"):
        named = overlay.peek_at(resource.id, resource.key(place, reference["name"]))
        found = [named] if named else []
    else:
        selector = label_selector(reference.get("selector") or {})
        items = overlay.peek(resource.id, place)
        found = [item for item in items if selector is not None and selector.matches(labels_of(item))]
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return [{**item, "apiVersion": resource.api_version} for item in sorted(found, key=name_of)]
