"""Whether a policy or a binding is about a request.

Upstream: apiserver/pkg/admission/plugin/policy/matching/matching.go and
apiserver/pkg/admission/plugin/webhook/predicates, v1.34.
"""

from collections.abc import Callable, Iterable

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.policies.request import AdmissionRequest
from simulator.apiserver.resources import (
    CRDS,
    EVENTS,
    EVENTS_V1,
    NAMESPACES,
    Resource,
    defined_resources,
)
from simulator.objects.labels import Labels, label_selector
from simulator.objects.metadata import labels_of


def matched_resource(request: AdmissionRequest, criteria: Manifest, overlay: Overlay) -> Resource | None:
    """Return the version of the resource in which the request matches; None if it does not. ``criteria``: a
    MatchResources."""
    if not _in_namespace(request, criteria, overlay) or not _selected(request, criteria):
        return None
    versions = (lambda: equivalents(request.resource, overlay)) if _is_fuzzy(criteria) else tuple
    if _find(request, criteria.get("excludeResourceRules") or (), versions):
        return None
    rules = criteria.get("resourceRules") or ()
    return _find(request, rules, versions) if rules else request.resource


def _is_fuzzy(criteria: Manifest) -> bool:
    return bool(criteria.get("matchPolicy") == "Equivalent")


def equivalents(resource: Resource, overlay: Overlay) -> Iterable[Resource]:
    """Return the other versions in which the same objects are served."""
    if resource in (EVENTS, EVENTS_V1):
        return (EVENTS_V1 if resource == EVENTS else EVENTS,)
    if not resource.schema_text:
        return ()
    definition = overlay.peek_at(CRDS, resource.id)
    found = defined_resources([definition] if definition else ())
    return [each for each in found if each.version != resource.version]


def _find(
    request: AdmissionRequest, rules: Iterable[Manifest], others: Callable[[], Iterable[Resource]]
) -> Resource | None:
    """Return the first version of the resource that a rule matches (matchesResourceRules)."""
    for resource in (request.resource, *others()):
        for rule in rules:
            names = rule.get("resourceNames") or ()
            if _applies(rule, request, resource) and (not names or request.name in names):
                return resource
    return None


def _applies(rule: Manifest, request: AdmissionRequest, resource: Resource) -> bool:
    """Return whether a rule matches (Matcher.Matches of predicates/rules)."""
    scope, is_cluster = rule.get("scope", "*"), resource == NAMESPACES or not request.namespace_seen()
    return (
        scope in ("*", "Cluster" if is_cluster else "Namespaced")
        and _has(rule.get("operations"), request.operation)
        and _has(rule.get("apiGroups"), resource.group)
        and _has(rule.get("apiVersions"), resource.version)
        and any(_is_about(each, request, resource) for each in rule.get("resources") or ())
    )


def _has(items: Iterable[str] | None, wanted: str) -> bool:
    return any(item in ("*", wanted) for item in items or ())


def _is_about(text: str, request: AdmissionRequest, resource: Resource) -> bool:
    name, _, subresource = text.partition("/")
    return name in ("*", resource.plural) and subresource in ("*", request.subresource)


def _in_namespace(request: AdmissionRequest, criteria: Manifest, overlay: Overlay) -> bool:
    """Return whether the namespace selector matches (MatchNamespaceSelector). A cluster-scoped object that is
    no Namespace is never left out."""
    if not request.namespace_seen():
        return True
    selector = label_selector(criteria.get("namespaceSelector") or {})
    return selector is None or selector.empty or selector.matches(_namespace_labels(request, overlay))


def _namespace_labels(request: AdmissionRequest, overlay: Overlay) -> Labels:
    if request.resource == NAMESPACES and not request.subresource and request.object is not None:
        return labels_of(request.object)
    namespace = find_namespace(request.namespace_seen(), overlay)
    return labels_of(namespace) if namespace is not None else {}


def find_namespace(name: str, overlay: Overlay) -> Manifest | None:
    return overlay.peek_at(NAMESPACES.id, name)


def _selected(request: AdmissionRequest, criteria: Manifest) -> bool:
    """Return whether the object before or after the change is selected (MatchObjectSelector)."""
    selector = label_selector(criteria.get("objectSelector") or {})
    if selector is None or selector.empty:
        return True
    both = (request.object, request.old)
    return any(
        selector.matches(each.get("metadata", {}).get("labels") or {}) for each in both if each is not None
    )
