"""PodGroups and Workloads of scheduling.k8s.io/v1alpha2, which are served with the gate GenericWorkload.

Their validation is declarative: the +k8s markers in staging/src/k8s.io/api/scheduling/v1alpha2/types.go, with
the messages of apimachinery/pkg/api/validate. Upstream also: pkg/registry/scheduling/{podgroup,workload}/
strategy.go and pkg/apis/scheduling/validation/validation.go."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.condition_validation import validate_conditions
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.field_checks import too_many
from simulator.apiserver.go_structs import served_struct
from simulator.apiserver.printers.column import AGE, NAME, NONE, SHORT_PRINTER, Column, printer_of
from simulator.apiserver.repeated import repeats
from simulator.apiserver.resource import built_in
from simulator.apiserver.served_features import enabled
from simulator.apiserver.shapes import (
    PartRule,
    all_of,
    field,
    filled,
    in_range,
    items,
    named_by,
    needed,
    one_of,
    value_at,
    where,
)
from simulator.apiserver.status import Cause, duplicate, invalid, required
from simulator.apiserver.strategy import WHOLE_METADATA, Strategy, nothing, status_strategy
from simulator.apiserver.update_shapes import immutable
from simulator.objects.conditions import condition
from simulator.objects.pod_group import POD_GROUPS as POD_GROUPS_ID
from simulator.objects.pod_group import SCHEDULED
from simulator.versions.feature_gates import GENERIC_WORKLOAD, WORKLOAD_AWARE_PREEMPTION

API_VERSION: Final = "scheduling.k8s.io/v1alpha2"
POD_GROUPS: Final = built_in(API_VERSION, "PodGroup", has_status=True, gate=GENERIC_WORKLOAD)
WORKLOADS: Final = built_in(API_VERSION, "Workload", gate=GENERIC_WORKLOAD)
assert POD_GROUPS.id == POD_GROUPS_ID
DISRUPTION_MODES: Final = ("Pod", "PodGroup")
MAX_CLAIMS: Final = 4
"""MaxPodGroupResourceClaims."""
MAX_TEMPLATES: Final = 8
"""WorkloadMaxPodGroupTemplates."""
MAX_PRIORITY: Final = 1_000_000_000


def _only_one(*members: str) -> PartRule:
    """Exactly one of these fields is set (Union in union.go)."""
    choices = ", ".join(f"`{member}`" for member in members)

    def check(value: Any, path: str) -> Iterator[Cause]:
        given = [member for member in members if value.get(member) is not None]
        if not given:
            yield invalid(path, "", f"must specify one of: {choices}")
        elif len(given) > 1:
            yield invalid(path, f"{{{', '.join(given)}}}", f"must specify exactly one of: {choices}")

    return check


def _named_items(kind: str, most: int, rule: PartRule) -> PartRule:
    """The rule for a list whose items have names that are unique (Unique in each.go). Of one that is too long
    nothing else is said."""
    rules = items(rule)

    def check(found: Sequence[Manifest], path: str) -> Iterator[Cause]:
        if len(found) > most:
            yield too_many(path, len(found), most)
            return
        names_of = [each.get("name", "") for each in found]
        for index, (each, is_repeated) in enumerate(zip(found, repeats(names_of), strict=True)):
            if is_repeated:
                shown = served_struct(f"scheduling.v1alpha2.{kind}", each)
                yield duplicate(f"{path}[{index}]", shown, whole=True)
        yield from rules(found, path)

    return check


_LABEL: Final = named_by(names.dns_label)
_SUBDOMAIN: Final = named_by(names.dns_subdomain)
_PATH_SEGMENT: Final = named_by(names.path_segment)
_CLAIM_SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")
_REFERENCE: Final = all_of(
    _only_one("workload"),
    field("workload", needed("workloadName", _SUBDOMAIN), needed("podGroupTemplateName", _LABEL)),
)
_CLAIM: Final = all_of(
    _only_one(*_CLAIM_SOURCES),
    needed("name", _LABEL),
    *(field(source, _SUBDOMAIN) for source in _CLAIM_SOURCES),
)
_SCHEDULING: Final = all_of(
    field(
        "schedulingPolicy",
        _only_one("basic", "gang"),
        field("gang", needed("minCount", in_range(1, detail="must be greater than or equal to 1"))),
        default={},
    ),
    field(
        "schedulingConstraints",
        field("topology", items(needed("key", named_by(names.qualified_name)), most=1)),
    ),
    field("resourceClaims", _named_items("PodGroupResourceClaim", MAX_CLAIMS, _CLAIM)),
    field("disruptionMode", one_of(DISRUPTION_MODES)),
    filled("priorityClassName", _SUBDOMAIN),
    field(
        "priority",
        where(lambda found: found <= MAX_PRIORITY, f"must be less than or equal to {MAX_PRIORITY}"),
    ),
)
"""What PodGroups and the templates of Workloads have in common."""
_POD_GROUP: Final = field("spec", field("podGroupTemplateRef", _REFERENCE), _SCHEDULING, default={})
_WORKLOAD: Final = field(
    "spec",
    field(
        "controllerRef",
        filled("apiGroup", _SUBDOMAIN),
        needed("kind", _PATH_SEGMENT),
        needed("name", _PATH_SEGMENT),
    ),
    needed(
        "podGroupTemplates",
        _named_items("PodGroupTemplate", MAX_TEMPLATES, all_of(needed("name", _LABEL), _SCHEDULING)),
    ),
    default={},
)
_FIELDS: Final = (
    *("podGroupTemplateRef", "schedulingPolicy", "schedulingConstraints", "resourceClaims"),
    *("disruptionMode", "priorityClassName", "priority"),
)
_CLAIM_STATUSES: Final = _named_items(
    "PodGroupResourceClaimStatus", MAX_CLAIMS, field("resourceClaimName", _SUBDOMAIN)
)


def _gated(path: str) -> dict[str, list[str]]:
    """Return the fields that need a gate, below a path."""
    return {
        "TopologyAwareWorkloadScheduling": [f"{path}.schedulingConstraints"],
        "DRAWorkloadResourceClaims": [f"{path}.resourceClaims"],
        WORKLOAD_AWARE_PREEMPTION: [
            f"{path}.{name}" for name in ("disruptionMode", "priorityClassName", "priority")
        ],
    }


def _set_defaults(group: Manifest) -> None:
    if enabled(WORKLOAD_AWARE_PREEMPTION):
        group.setdefault("spec", {}).setdefault("disruptionMode", DISRUPTION_MODES[0])


def _validate_status(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidatePodGroupStatusUpdate reports, and those of the markers."""
    status = new.get("status") or {}
    yield from validate_conditions(status.get("conditions") or (), "status.conditions")
    statuses, path = status.get("resourceClaimStatuses") or [], "status.resourceClaimStatuses"
    claims = {claim["name"] for claim in value_at(new, "spec.resourceClaims") or ()}
    for index, each in enumerate(statuses):
        if each.get("name", "") not in claims:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            yield invalid(f"{path}[{index}].name", each.get("name", ""), detail)
    if statuses != value_at(old, path):
        yield from _CLAIM_STATUSES(statuses, path)


_WORKLOAD_FIELDS: Final = immutable("spec.controllerRef", "spec.podGroupTemplates", declared=True)


def _validate_workload_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of what changes. The number of templates is looked at, although none may change."""
    yield from _WORKLOAD_FIELDS(new, old)
    path = "spec.podGroupTemplates"
    templates = value_at(new, path) or []
    if not templates:
        yield required(path)
    elif len(templates) > MAX_TEMPLATES:
        yield too_many(path, len(templates), MAX_TEMPLATES)


def _policy_of(group: Manifest, _: object) -> str:
    policy = value_at(group, "spec.schedulingPolicy") or {}
    return next((name.title() for name in ("gang", "basic") if policy.get(name) is not None), NONE)


def _reason_of(group: Manifest, _: object) -> str:
    scheduled = condition(group, SCHEDULED)
    return scheduled.get("reason", NONE) if scheduled else NONE


POD_GROUP_STRATEGY: Final = Strategy(
    resource=POD_GROUPS,
    drop_disabled_fields=dropping(
        **_gated("spec")
        | {"DRAWorkloadResourceClaims": ["spec.resourceClaims", "status.resourceClaimStatuses"]}
    ),
    set_defaults=_set_defaults,
    validate=_POD_GROUP,
    validate_updated=nothing,
    validate_update=immutable(*(f"spec.{name}" for name in _FIELDS), declared=True),
    update_order="UC",
    subresources={"status": status_strategy(_validate_status, keeps_metadata=WHOLE_METADATA)},
    printer=printer_of(
        NAME,
        Column("Policy", "The scheduling policy of the PodGroup.", cell=_policy_of),
        Column(
            "Workload",
            "The Workload of the template from which the PodGroup was made.",
            cell="spec.podGroupTemplateRef.workload.workloadName",
            absent=NONE,
        ),
        Column("Status", "The reason of the condition PodGroupScheduled.", cell=_reason_of),
        AGE,
    ),
)
WORKLOAD_STRATEGY: Final = Strategy(
    resource=WORKLOADS,
    drop_disabled_fields=dropping(**_gated("spec.podGroupTemplates[]")),
    validate=_WORKLOAD,
    validate_updated=nothing,
    validate_update=_validate_workload_update,
    update_order="UC",
    printer=SHORT_PRINTER,
)
