"""Validation of Roles, ClusterRoles and their bindings, beyond their schemas.

Upstream: pkg/apis/rbac/validation/validation.go, v1.34."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import Cause, invalid, not_supported, required

GROUP: Final = "rbac.authorization.k8s.io"
_NO_SELECTOR: Final = "at least one clusterRoleSelector required if aggregationRule is non-nil"
_FOR_NAMESPACE: Final = "namespaced rules cannot apply to non-resource URLs"
_BOTH: Final = "rules cannot apply to both regular resources and non-resource URLs"


def _validate_role(manifest: Manifest) -> Iterator[Cause]:
    for index, rule in enumerate(manifest.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", is_namespaced=True)


def _validate_cluster_role(manifest: Manifest) -> Iterator[Cause]:
    for index, rule in enumerate(manifest.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", is_namespaced=False)
    aggregation, path = manifest.get("aggregationRule"), "aggregationRule.clusterRoleSelectors"
    if aggregation is None:
        return
    selectors = aggregation.get("clusterRoleSelectors") or ()
    if not selectors:
        yield required(path, _NO_SELECTOR)
    for index, selector in enumerate(selectors):
        yield from validate_label_selector(selector, f"{path}[{index}]")


def _rule(rule: Manifest, path: str, *, is_namespaced: bool) -> Iterator[Cause]:
    """Yield the faults that ValidatePolicyRule reports."""
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if is_namespaced:
            yield invalid(f"{path}.nonResourceURLs", urls, _FOR_NAMESPACE)
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            yield invalid(f"{path}.nonResourceURLs", urls, _BOTH)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _binding(is_namespaced: bool) -> Callable[[Manifest], Iterator[Cause]]:
    kinds = ("Role", "ClusterRole") if is_namespaced else ("ClusterRole",)

    def check(manifest: Manifest) -> Iterator[Cause]:
        role = manifest["roleRef"]
        for field, choices in (("apiGroup", (GROUP,)), ("kind", kinds)):
            if role[field] not in choices:
                yield not_supported(f"roleRef.{field}", role[field], choices, as_given=True)
        if not role["name"]:
            yield required("roleRef.name")
        else:
            yield from check_name(names.path_segment, role["name"], "roleRef.name")
        for index, subject in enumerate(manifest.get("subjects") or ()):
            yield from _subject(subject, f"subjects[{index}]", is_namespaced=is_namespaced)

    return check


def _subject(subject: Manifest, path: str, *, is_namespaced: bool) -> Iterator[Cause]:
    """Yield the faults that ValidateRoleBindingSubject reports."""
    name, kind, group = subject["name"], subject["kind"], subject.get("apiGroup") or ""
    if not name:
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            yield from check_name(names.dns_subdomain, name, f"{path}.name")
        if group:
            yield not_supported(f"{path}.apiGroup", group, ("",))
        if not is_namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if not name:
            yield invalid(f"{path}.name", name, f"{kind.lower()} name cannot be empty")
        if group != GROUP:
            yield not_supported(f"{path}.apiGroup", group, (GROUP,))
    else:
        choices = ("ServiceAccount", "User", "Group")
        yield not_supported(f"{path}.kind", kind, choices, as_given=True)


RBAC_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "clusterrolebindings.rbac.authorization.k8s.io": _binding(is_namespaced=False),
    "clusterroles.rbac.authorization.k8s.io": _validate_cluster_role,
    "rolebindings.rbac.authorization.k8s.io": _binding(is_namespaced=True),
    "roles.rbac.authorization.k8s.io": _validate_role,
}
BINDINGS: Final = ("clusterrolebindings.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io")


def validate_binding_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if new["roleRef"] != old["roleRef"]:
        role = new["roleRef"]
        shown = {"APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"]}
        yield invalid("roleRef", shown, "cannot change roleRef", whole=True)
