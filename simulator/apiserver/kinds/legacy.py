"""The strategies of the kinds that have no file of their own yet: their rules are in tables by function."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.definition_validation import validate_definition
from simulator.apiserver.field_checks import NameRule
from simulator.apiserver.further_defaults import FURTHER_DEFAULTS
from simulator.apiserver.kinds.disabled_fields import drop_disabled_fields
from simulator.apiserver.more_update_validation import UPDATE_CHECKS
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.pod_warnings import pod_warnings
from simulator.apiserver.printers.column import PLAIN_PRINTER, SHORT_PRINTER
from simulator.apiserver.printers.workloads import WORKLOAD_PRINTERS
from simulator.apiserver.resource import CRDS, SCALES, Resource, ScalePaths, built_in
from simulator.apiserver.status import Cause
from simulator.apiserver.status_validation import validate_status_update
from simulator.apiserver.strategy import (
    WHOLE_METADATA,
    Strategy,
    Subresource,
    no_change,
    nothing,
    spec_of,
    status_strategy,
)
from simulator.apiserver.workload_defaults import (
    WORKLOAD_DEFAULTS,
    number_next_template,
    number_template,
    select_own_pods,
)
from simulator.apiserver.workload_validation import WORKLOAD_CHECKS, WORKLOAD_CHECKS_OF_UPDATED

_NAMES: Final = """
v1                              PodTemplate                    namespaced -       -
v1                              ReplicationController          namespaced status  rc
apiextensions.k8s.io/v1         CustomResourceDefinition       cluster    status  crd,crds
apps/v1                         ControllerRevision             namespaced -       -
apps/v1                         DaemonSet                      namespaced status  ds
apps/v1                         Deployment                     namespaced status  deploy
apps/v1                         ReplicaSet                     namespaced status  rs
apps/v1                         StatefulSet                    namespaced status  sts
batch/v1                        CronJob                        namespaced status  cj
batch/v1                        Job                            namespaced status  -
"""

_WITH_GENERATION = frozenset(
    (
        "cronjobs.batch",
        "customresourcedefinitions.apiextensions.k8s.io",
        "daemonsets.apps",
        "deployments.apps",
        "jobs.batch",
        "podtemplates",
        "replicasets.apps",
        "replicationcontrollers",
        "statefulsets.apps",
    )
)
_ORDERS: Final = {
    "cronjobs.batch": "US",
    CRDS: "UC",
    "daemonsets.apps": "USC",
    "deployments.apps": "USC",
    "jobs.batch": "MSUSC",
    "podtemplates": "US",
    "replicasets.apps": "USC",
    "replicationcontrollers": "MSUS",
    "statefulsets.apps": "USC",
}
_NEEDING_VERSION: Final = frozenset(("customresourcedefinitions.apiextensions.k8s.io",))
_CREATED_BY_UPDATE: Final = frozenset(("services",))
_ORPHANING: Final = ("jobs.batch", "replicationcontrollers")
_SHOWN_WHEN_DELETED: Final = frozenset(("podtemplates",))
_NAME_RULES: Final[dict[str, NameRule]] = {}
_NAME_RULES_OF_NEW: Final[dict[str, NameRule]] = {"statefulsets.apps": names.dns_label}
_FREE_FINALIZERS: Final = ("apiextensions.k8s.io",)
_STATUS_KEEPS: Final = {
    "deployments.apps": ("labels",),
}
_STATUS_RESETS_METADATA: Final = (CRDS,)
_FIELDS: dict[str, tuple[str, ...]] = {
    "replicationcontrollers": ("status.replicas",),
    "jobs.batch": ("status.successful",),
}
_PREFIXES: Final = {
    "replicationcontrollers": "controllers",
    CRDS: "apiextensions.k8s.io/customresourcedefinitions",
}
_OF_PODS: Final = "this is used in Pod names and hostnames"
_USES_OF_NAMES: Final = {
    "cronjobs.batch": _OF_PODS,
    "deployments.apps": _OF_PODS,
    "jobs.batch": _OF_PODS,
    "replicasets.apps": _OF_PODS,
    "replicationcontrollers": _OF_PODS,
}
_TEMPLATES = {
    "deployments.apps": ("spec", "template"),
    "replicasets.apps": ("spec", "template"),
    "statefulsets.apps": ("spec", "template"),
    "daemonsets.apps": ("spec", "template"),
    "jobs.batch": ("spec", "template"),
    "cronjobs.batch": ("spec", "jobTemplate", "spec", "template"),
    "replicationcontrollers": ("spec", "template"),
    "podtemplates": ("template",),
}
_SCALED: Final = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    CRDS: validate_definition,
    **WORKLOAD_CHECKS,
}
_CHECKS_OF_UPDATED: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    **WORKLOAD_CHECKS_OF_UPDATED,
}
_PRINTERS: Final = {
    **WORKLOAD_PRINTERS,
}
_PLAIN: Final = (CRDS,)
_DEFAULTS: Final[dict[str, Callable[[Manifest], None]]] = {
    **FURTHER_DEFAULTS,
    **WORKLOAD_DEFAULTS,
}


def _prepare_new(resource_id: str) -> Callable[[Manifest, str], object]:
    match resource_id:
        case "jobs.batch":
            return lambda manifest, _: select_own_pods(manifest)
        case "daemonsets.apps":
            return lambda manifest, _: number_template(manifest)
    return no_change


def _with_stored_versions(definition: Manifest, _: Manifest) -> Manifest:
    """Return the definition with the version in which objects are stored now among those in which they
    were."""
    status = definition.get("status") or {}
    known = status.get("storedVersions") or []
    added = [
        version["name"]
        for version in definition["spec"].get("versions") or ()
        if version.get("storage") and version["name"] not in known
    ]
    return {**definition, "status": {**status, "storedVersions": [*known, *added]}} if added else definition


def _prepare_daemon_set_status(prepared: Manifest, old: Manifest) -> Manifest:
    number_next_template(old, prepared)
    return prepared


_PREPARE_STATUS: Final = {
    "daemonsets.apps": _prepare_daemon_set_status,
}


def _begin_update(resource_id: str) -> Callable[[Manifest, Manifest, Overlay], object]:
    match resource_id:
        case "daemonsets.apps":
            return lambda new, old, _: number_next_template(old, new)
    return no_change


_PREPARE_UPDATE: Final = {CRDS: _with_stored_versions}


def _desired_state(resource_id: str) -> Callable[[Manifest], Any] | None:
    """Return the part of an object with whose changes the generation grows."""
    match resource_id:
        case "deployments.apps":
            return lambda manifest: (manifest.get("spec"), manifest["metadata"].get("annotations"))
        case "podtemplates":
            return lambda manifest: manifest.get("template")
    return spec_of if resource_id in _WITH_GENERATION else None


def _status(resource: Resource) -> Subresource:
    name = resource.id
    keeps = _STATUS_KEEPS.get(name, ())
    return status_strategy(
        lambda new, old: validate_status_update(resource, new, old),
        prepare=_PREPARE_STATUS.get(name),
        keeps_metadata=keeps,
        resets_metadata=WHOLE_METADATA if name in _STATUS_RESETS_METADATA else keeps,
    )


def _subresources(resource: Resource) -> dict[str, Subresource]:
    return {"status": _status(resource)} if resource.has_status else {}


def _warnings(resource: Resource, manifest: Manifest) -> Iterator[str]:
    if path := _TEMPLATES.get(resource.id):
        template = manifest
        for name in path:
            template = template.get(name) or {}
        yield from pod_warnings(template, f"{'.'.join(path)}.")


def _warnings_of_update(resource: Resource, new: Manifest, old: Manifest) -> Iterator[str]:
    """Yield the warnings about an update; about templates only if the update counts."""
    generations = {each["metadata"].get("generation") for each in (new, old)}
    is_same = resource.id in _TEMPLATES and len(generations) == 1
    return nothing() if is_same else _warnings(resource, new)


def _strategy(resource: Resource) -> Strategy:
    name = resource.id
    rules = _CHECKS.get(name, nothing)
    validate_update = UPDATE_CHECKS.get(name, nothing)
    return Strategy(
        resource=resource,
        drop_disabled_fields=lambda manifest: drop_disabled_fields(name, manifest),
        set_defaults=_DEFAULTS.get(name, no_change),
        prepare_for_create=_prepare_new(name),
        name_rule=_NAME_RULES.get(name, names.dns_subdomain),
        name_rule_of_new=_NAME_RULES_OF_NEW.get(name),
        name_use=_USES_OF_NAMES.get(name, ""),
        any_finalizer=resource.group in _FREE_FINALIZERS,
        validate=rules,
        validate_updated=_CHECKS_OF_UPDATED.get(name),
        validate_update=validate_update,
        warnings_on_create=lambda manifest: _warnings(resource, manifest),
        warnings_on_update=lambda new, old: _warnings_of_update(resource, new, old),
        needs_version=name in _NEEDING_VERSION,
        is_created_by_update=name in _CREATED_BY_UPDATE,
        prepare_for_update=_PREPARE_UPDATE.get(name),
        begin_update=_begin_update(name),
        update_order=_ORDERS.get(name, "MSUC"),
        desired_state=_desired_state(name),
        begins_with_generation=name in _WITH_GENERATION,
        subresources=_subresources(resource),
        is_shown_when_deleted=name in _SHOWN_WHEN_DELETED,
        garbage_collection="OrphanDependents" if name in _ORPHANING else "DeleteDependents",
        printer=PLAIN_PRINTER if name in _PLAIN else _PRINTERS.get(name, SHORT_PRINTER),
        fields=_FIELDS.get(name),
        storage_prefix=_PREFIXES.get(name, ""),
    )


def _named(line: str) -> Resource:
    api_version, kind, scope, status, short = line.split()
    return built_in(
        api_version,
        kind,
        *(() if short == "-" else short.split(",")),
        in_cluster=scope == "cluster",
        has_status=status == "status",
        scale=ScalePaths() if kind in _SCALED else None,
    )


LEGACY_STRATEGIES: Final = tuple(_strategy(_named(line)) for line in _NAMES.strip().splitlines())
SCALE_STRATEGY: Final = Strategy(resource=SCALES, printer=WORKLOAD_PRINTERS[SCALES.id])
"""That of Scales, which are not stored, but shown."""
