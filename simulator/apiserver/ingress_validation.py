"""Validation of Ingresses and IngressClasses, beyond their schemas.

Upstream: pkg/apis/networking/validation/validation.go, v1.34."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import PATH_TYPES
from simulator.apiserver.field_checks import (
    check_address,
    check_domain_prefixed,
    check_name,
    check_port_number,
    parse_address,
)
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required, too_long

_BAD_SEQUENCES: Final = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES: Final = ("/..", "/.")
INGRESSES: Final = "ingresses.networking.k8s.io"
CLASS_ANNOTATION: Final = "kubernetes.io/ingress.class"
_MAX_CONTROLLER: Final = 250
_NO_RULES: Final = "either `defaultBackend` or `rules` must be specified"


def validate_ingress(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateIngressCreate reports."""
    yield from validate_updated_ingress(manifest, manifest)
    annotation = manifest["metadata"].get("annotations", {}).get(CLASS_ANNOTATION)
    if (
        annotation is not None
        and (manifest.get("spec") or {}).get("ingressClassName", annotation) != annotation
    ):
        detail = "must match `ingressClassName` when both are specified"
        yield invalid(f"annotations.{CLASS_ANNOTATION}", annotation, detail)


def validate_updated_ingress(manifest: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateIngressSpec reports."""
    spec = manifest.get("spec") or {}
    rules, default = spec.get("rules") or [], spec.get("defaultBackend")
    if not rules and default is None:
        yield invalid("spec", rules or None, _NO_RULES)
    if default is not None:
        yield from _backend(default, "spec.defaultBackend")
    for index, each in enumerate(rules):
        yield from _rule(each, f"spec.rules[{index}]")
    for index, entry in enumerate(spec.get("tls") or ()):
        for number, host in enumerate(entry.get("hosts") or ()):
            rule = names.wildcard_subdomain if "*" in host else names.dns_subdomain
            yield from check_name(rule, host, f"spec.tls[{index}].hosts[{number}]")
        if entry.get("secretName"):
            yield from check_name(names.dns_subdomain, entry["secretName"], f"spec.tls[{index}].secretName")
    if "ingressClassName" in spec:
        yield from check_name(names.dns_subdomain, spec["ingressClassName"], "spec.ingressClassName")


def validate_ingress_status(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateIngressLoadBalancerStatus reports."""
    balancer = (new.get("status") or {}).get("loadBalancer") or {}
    for index, entry in enumerate(balancer.get("ingress") or ()):
        path, host = f"status.loadBalancer.ingress[{index}]", entry.get("hostname", "")
        if entry.get("ip"):
            yield from check_address(entry["ip"], f"{path}.ip")
        if host:
            yield from check_name(names.dns_subdomain, host, f"{path}.hostname")
            if parse_address(host) is not None:
                yield invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address")


def _rule(rule: Manifest, path: str) -> Iterator[Cause]:
    host, http = rule.get("host", ""), rule.get("http")
    if host:
        if parse_address(host) is not None:
            yield invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        syntax = names.wildcard_subdomain if "*" in host else names.dns_subdomain
        yield from check_name(syntax, host, f"{path}.host")
    if http is None:
        return
    paths = http.get("paths") or ()
    if not paths:
        yield required(f"{path}.http.paths")
    for index, each in enumerate(paths):
        yield from _path(each, f"{path}.http.paths[{index}]")


def _path(entry: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateHTTPIngressPath reports."""
    kind, text = entry.get("pathType"), entry.get("path", "")
    if kind is None:
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    if kind in ("Exact", "Prefix"):
        if not text.startswith("/"):
            yield invalid(f"{path}.path", text, "must be an absolute path")
        for sequence in _BAD_SEQUENCES:
            if sequence in text:
                yield invalid(f"{path}.path", text, f"must not contain '{sequence}'")
        for suffix in _BAD_SUFFIXES:
            if text.endswith(suffix):
                yield invalid(f"{path}.path", text, f"cannot end with '{suffix}'")
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            yield invalid(f"{path}.path", text, "must be an absolute path")
    else:
        yield not_supported(f"{path}.pathType", kind, PATH_TYPES)
    yield from _backend(entry.get("backend") or {}, f"{path}.backend")


def _backend(backend: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateIngressBackend reports."""
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(resource, f"{path}.resource")
    elif service is None:
        yield invalid(path, "", "resource or service backend is required")
    else:
        yield from _service(service, path)


def _service(service: Manifest, path: str) -> Iterator[Cause]:
    name, port = service.get("name", ""), service.get("port") or {}
    if not name:
        yield required(f"{path}.service.name")
    else:
        yield from check_name(names.service_name, name, f"{path}.service.name")
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        yield invalid(path, "", "cannot set both port name & port number")
    elif port_name:
        yield from check_name(names.port_name, port_name, f"{path}.service.port.name")
    elif number:
        yield from check_port_number(number, f"{path}.service.port.number")
    else:
        yield required(path, "port name or number is required")


def _reference(reference: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateIngressTypedLocalObjectReference reports."""
    group = reference.get("apiGroup")
    if group is not None:
        yield from check_name(names.dns_subdomain, group, f"{path}.apiGroup")
    for field in ("kind", "name"):
        if not reference.get(field):
            yield required(f"{path}.{field}")
        else:
            yield from check_name(names.path_segment, reference[field], f"{path}.{field}")


def validate_ingress_class(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateIngressClassSpec reports."""
    spec = manifest.get("spec") or {}
    controller = spec.get("controller", "")
    if len(controller.encode()) > _MAX_CONTROLLER:
        yield too_long("spec.controller", _MAX_CONTROLLER)
    yield from check_domain_prefixed(controller, "spec.controller")
    parameters = spec.get("parameters")
    if parameters is None:
        return
    path, scope = "spec.parameters", parameters.get("scope")
    yield from _reference(parameters, path)
    if scope is None:
        yield required(f"{path}.scope")
    elif scope not in ("Cluster", "Namespace"):
        yield not_supported(f"{path}.scope", scope, ("Cluster", "Namespace"))
    elif scope == "Namespace":
        if "namespace" not in parameters:
            yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
        else:
            yield from check_name(names.dns_label, parameters["namespace"], f"{path}.namespace")
    elif "namespace" in parameters:
        yield forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")
