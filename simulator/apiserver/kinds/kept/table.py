"""The kept kinds, with what their strategies in pkg/registry say of names, generations and fields."""

from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.kinds.kept.autoscalers import AUTOSCALER_PRINTER
from simulator.apiserver.kinds.kept.control_plane import CONTROL_PLANE_PRINTERS, ROLE_BINDING_PRINTERS
from simulator.apiserver.kinds.kept.networking import NETWORK_PRINTERS
from simulator.apiserver.printers.column import (
    AGE,
    NAME,
    PLAIN_PRINTER,
    SHORT_PRINTER,
    Column,
    count,
    printer_of,
)
from simulator.apiserver.resource import built_in
from simulator.apiserver.strategy import STATUS, Strategy, spec_of

_ADMISSION: Final = "admissionregistration.k8s.io/v1"
_FLOWS: Final = "flowcontrol.apiserver.k8s.io/v1"
_NETWORKING: Final = "networking.k8s.io/v1"
_PRINTERS: Final = {**CONTROL_PLANE_PRINTERS, **NETWORK_PRINTERS, **ROLE_BINDING_PRINTERS}
_ROLES: Final = "rbac.authorization.k8s.io/v1"


def _webhooks(manifest: Manifest) -> Any:
    return manifest.get("webhooks")


def _content_and_labels(manifest: Manifest) -> Any:
    content = {field: value for field, value in manifest.items() if field != "metadata"}
    return content, manifest["metadata"].get("labels")


def _drop_topology(endpoint_slice: Manifest, _: object) -> None:
    for endpoint in endpoint_slice.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)  # of v1beta1 (dropTopologyOnV1)


def _kept(
    api_version: str,
    kind: str,
    *short_names: str,
    in_cluster: bool = False,
    has_status: bool = False,
    **rules: Any,
) -> Strategy:
    """Return the strategy of a kept kind. ``rules``: those attributes of the strategy that differ from the
    defaults."""
    resource = built_in(api_version, kind, *short_names, in_cluster=in_cluster, has_status=has_status)
    configures = resource.group in ("admissionregistration.k8s.io", "apiregistration.k8s.io")
    return Strategy(
        resource=resource,
        any_finalizer=configures,
        needs_version=configures,
        **{"printer": _PRINTERS.get(kind, SHORT_PRINTER), **rules},
    )


KEPT_STRATEGIES: Final = (
    _kept(
        "v1",
        "ConfigMap",
        "cm",
        printer=printer_of(
            NAME,
            Column(
                "Data",
                "ConfigMap.data",
                cell=lambda item, _: len(item.get("data") or ()) + len(item.get("binaryData") or ()),
            ),
            AGE,
        ),
    ),
    _kept("v1", "Endpoints", "ep", is_created_by_update=True, storage_prefix="services/endpoints"),
    _kept(
        "v1",
        "Secret",
        fields=("type",),
        printer=printer_of(
            NAME,
            Column("Type", "Secret.type"),
            Column("Data", "Secret.data", show=count),
            AGE,
        ),
    ),
    _kept(_ADMISSION, "MutatingWebhookConfiguration", in_cluster=True, desired_state=_webhooks),
    _kept(_ADMISSION, "ValidatingAdmissionPolicy", in_cluster=True, has_status=True, desired_state=spec_of),
    _kept(_ADMISSION, "ValidatingAdmissionPolicyBinding", in_cluster=True, desired_state=spec_of),
    _kept(_ADMISSION, "ValidatingWebhookConfiguration", in_cluster=True, desired_state=_webhooks),
    _kept(
        "apiregistration.k8s.io/v1",
        "APIService",
        in_cluster=True,
        has_status=True,
        name_rule=names.path_segment,
    ),
    _kept("autoscaling/v2", "HorizontalPodAutoscaler", "hpa", has_status=True, printer=AUTOSCALER_PRINTER),
    _kept(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "csr",
        in_cluster=True,
        has_status=True,
        name_rule=lambda _: [],
        subresources={"approval": STATUS},
        fields=("spec.signerName",),
    ),
    _kept(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        drop_disabled_fields=_drop_topology,
        desired_state=_content_and_labels,
    ),
    _kept(_FLOWS, "FlowSchema", in_cluster=True, has_status=True, desired_state=spec_of),
    _kept(_FLOWS, "PriorityLevelConfiguration", in_cluster=True, has_status=True, desired_state=spec_of),
    _kept(_NETWORKING, "Ingress", "ing", has_status=True, desired_state=spec_of, storage_prefix="ingress"),
    _kept(_NETWORKING, "IngressClass", in_cluster=True, desired_state=spec_of),
    _kept(_NETWORKING, "IPAddress", "ip", in_cluster=True, name_rule=names.path_segment),
    _kept(_NETWORKING, "NetworkPolicy", "netpol", desired_state=spec_of),
    _kept(_NETWORKING, "ServiceCIDR", in_cluster=True, has_status=True),
    *(
        _kept(
            _ROLES,
            kind,
            in_cluster=kind.startswith("Cluster"),
            name_rule=names.path_segment,
            is_created_by_update=True,
            printer=PLAIN_PRINTER if kind.endswith("Role") else _PRINTERS[kind],
        )
        for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    ),
)
