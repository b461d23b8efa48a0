"""The resources of the API: the built-in ones of Kubernetes v1.34, those that CustomResourceDefinitions
define, and further kinds, by their names.

A resource's ``id`` is kubectl's form ``plural.group``: ``pods``, ``priorityclasses.scheduling.k8s.io``.
"""

import difflib
from collections.abc import Iterable

import msgspec

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.definition_conditions import has_condition
from simulator.apiserver.deprecated_versions import deprecation_warning

CRDS = "customresourcedefinitions.apiextensions.k8s.io"


class ScalePaths(msgspec.Struct, frozen=True):
    """Paths such as ``.spec.replicas``."""

    spec_replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""
    """The path of a selector in the form of a query parameter; "" = the object has a LabelSelector in its
    spec."""


class Resource(msgspec.Struct, frozen=True):
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    singular: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    """The categories of a custom resource."""
    has_status: bool = False
    """Whether ``status`` is a subresource."""
    scale: ScalePaths | None = None
    """The paths of the values that the subresource ``scale`` shows; None if it has no such subresource."""
    stored_as: str = ""
    """The id under which the objects are stored, if it is another resource's."""
    schema_text: str = ""
    """The openAPIV3Schema of a CustomResourceDefinition's version, in JSON."""
    columns_text: str = ""
    """The additionalPrinterColumns of the resource, in JSON."""
    selectable_fields: tuple[str, ...] = ()
    """The paths of its selectableFields, without the first dot."""
    deprecation: str = ""
    """The warning that each request to this version of a custom resource gets."""

    @property
    def id(self) -> str:
        return self.stored_as or (f"{self.plural}.{self.group}" if self.group else self.plural)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def key(self, namespace: str, name: str) -> str:
        """Return the key of an object in the store."""
        return f"{namespace}/{name}" if self.namespaced else name


_TABLE = """
v1                              Binding                        namespaced -       -
v1                              ConfigMap                      namespaced -       cm
v1                              Endpoints                      namespaced -       ep
v1                              Event                          namespaced -       ev
v1                              LimitRange                     namespaced -       limits
v1                              Namespace                      cluster    status  ns
v1                              Node                           cluster    status  no
v1                              PersistentVolume               cluster    status  pv
v1                              PersistentVolumeClaim          namespaced status  pvc
v1                              Pod                            namespaced status  po
v1                              PodTemplate                    namespaced -       -
v1                              ReplicationController          namespaced status  rc
v1                              ResourceQuota                  namespaced status  quota
v1                              Secret                         namespaced -       -
v1                              Service                        namespaced status  svc
v1                              ServiceAccount                 namespaced -       sa
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration   cluster    -       -
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy      cluster    status  -
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding cluster  -       -
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration cluster    -       -
apiextensions.k8s.io/v1         CustomResourceDefinition       cluster    status  crd,crds
apiregistration.k8s.io/v1       APIService                     cluster    status  -
apps/v1                         ControllerRevision             namespaced -       -
apps/v1                         DaemonSet                      namespaced status  ds
apps/v1                         Deployment                     namespaced status  deploy
apps/v1                         ReplicaSet                     namespaced status  rs
apps/v1                         StatefulSet                    namespaced status  sts
autoscaling/v2                  HorizontalPodAutoscaler        namespaced status  hpa
batch/v1                        CronJob                        namespaced status  cj
batch/v1                        Job                            namespaced status  -
certificates.k8s.io/v1          CertificateSigningRequest      cluster    status  csr
coordination.k8s.io/v1          Lease                          namespaced -       -
discovery.k8s.io/v1             EndpointSlice                  namespaced -       -
events.k8s.io/v1                Event                          namespaced -       ev
flowcontrol.apiserver.k8s.io/v1 FlowSchema                     cluster    status  -
flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration     cluster    status  -
networking.k8s.io/v1            Ingress                        namespaced status  ing
networking.k8s.io/v1            IngressClass                   cluster    -       -
networking.k8s.io/v1            IPAddress                      cluster    -       ip
networking.k8s.io/v1            NetworkPolicy                  namespaced -       netpol
networking.k8s.io/v1            ServiceCIDR                    cluster    status  -
node.k8s.io/v1                  RuntimeClass                   cluster    -       -
policy/v1                       PodDisruptionBudget            namespaced status  pdb
rbac.authorization.k8s.io/v1    ClusterRole                    cluster    -       -
rbac.authorization.k8s.io/v1    ClusterRoleBinding             cluster    -       -
rbac.authorization.k8s.io/v1    Role                           namespaced -       -
rbac.authorization.k8s.io/v1    RoleBinding                    namespaced -       -
resource.k8s.io/v1              DeviceClass                    cluster    -       -
resource.k8s.io/v1              ResourceClaim                  namespaced status  -
resource.k8s.io/v1              ResourceClaimTemplate          namespaced -       -
resource.k8s.io/v1              ResourceSlice                  cluster    -       -
scheduling.k8s.io/v1            PriorityClass                  cluster    -       pc
schedviz/v1                     Timetable                      cluster    -       -
storage.k8s.io/v1               CSIDriver                      cluster    -       -
storage.k8s.io/v1               CSINode                        cluster    -       -
storage.k8s.io/v1               CSIStorageCapacity             namespaced -       -
storage.k8s.io/v1               StorageClass                   cluster    -       sc
storage.k8s.io/v1               VolumeAttachment               cluster    status  -
storage.k8s.io/v1               VolumeAttributesClass          cluster    -       vac
"""


def plural_of(kind: str) -> str:
    """Guess the plural of a kind. Upstream: apimachinery/pkg/api/meta/restmapper.go,
    UnsafeGuessKindToResource, v1.34."""
    singular = kind.lower()
    if singular == "endpoints":
        return singular
    if singular.endswith(("s", "ch", "x")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:] not in ("ay", "ey", "oy", "uy"):
        return singular[:-1] + "ies"
    return singular + "s"


def _parse_table() -> Iterable[Resource]:
    for line in _TABLE.strip().splitlines():
        api_version, kind, scope, status, short = line.split()
        group, _, version = api_version.rpartition("/")
        yield Resource(
            group=group,
            version=version,
            kind=kind,
            plural=plural_of(kind),
            namespaced=scope == "namespaced",
            singular=kind.lower(),
            short_names=() if short == "-" else tuple(short.split(",")),
            has_status=status == "status",
            scale=ScalePaths() if kind in _SCALED else None,
            stored_as=_STORED_AS.get((api_version, kind), ""),
        )


_STORED_AS = {
    ("events.k8s.io/v1", "Event"): "events",
}
"""The kinds that are stored in another version."""
_SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
BUILT_IN = tuple(resource for resource in _parse_table() if resource.kind != "Binding")
_BY_KIND = {(resource.api_version, resource.kind): resource for resource in BUILT_IN}
_BY_PLURAL = {(resource.group, resource.plural): resource for resource in BUILT_IN}
BUILT_IN_GROUPS = frozenset(resource.group for resource in BUILT_IN)

PODS = _BY_PLURAL["", "pods"]
NODES = _BY_PLURAL["", "nodes"]
NAMESPACES = _BY_PLURAL["", "namespaces"]
EVENTS = _BY_PLURAL["", "events"]
EVENTS_V1 = _BY_PLURAL["events.k8s.io", "events"]
PRIORITY_CLASSES = _BY_PLURAL["scheduling.k8s.io", "priorityclasses"]
DISRUPTION_BUDGETS = _BY_PLURAL["policy", "poddisruptionbudgets"]
BINDINGS = Resource("", "v1", "Binding", "bindings", namespaced=True, singular="binding")
EVICTIONS = Resource("policy", "v1", "Eviction", "evictions", namespaced=True, singular="eviction")
SCALES = Resource("autoscaling", "v1", "Scale", "scales", namespaced=True, singular="scale")
"""Kinds that are not stored: they are the bodies of subresources."""


def find_built_in(group: str, plural: str) -> Resource | None:
    return _BY_PLURAL.get((group, plural))


def find_by_kind(api_version: str, kind: str, definitions: Iterable[Manifest] = ()) -> Resource | None:
    """Return the resource of an apiVersion and kind. ``definitions`` are the stored
    CustomResourceDefinitions.

    A kind without a definition is taken as namespaced, with the usual plural. None for a kind that cannot
    exist, because its group is one of Kubernetes' or is not a domain: the manifest is refused."""
    known = _BY_KIND.get((api_version, kind))
    if known:
        return known
    group, _, version = api_version.rpartition("/")
    for custom in defined_resources(definitions):
        if (custom.group, custom.version, custom.kind) == (group, version, kind):
            return custom
    if group in BUILT_IN_GROUPS or group.endswith(".k8s.io") or "." not in group:
        return None
    if names.dns_subdomain(group) or names.dns_label(version) or names.dns_label(kind.lower()):
        return None
    return Resource(group, version, kind, plural_of(kind), namespaced=True, singular=kind.lower())


def suggest_kind(api_version: str, kind: str) -> str:
    """Return the most similar built-in kind for an unknown one, as ``Pod of v1``; "" if none is similar."""
    for known in BUILT_IN:
        if known.kind.lower() == kind.lower() or known.plural == kind.lower():
            return f"{known.kind} of {known.api_version}"
    kinds = [known.kind for known in BUILT_IN if known.api_version == api_version]
    close = difflib.get_close_matches(kind, kinds, n=1)
    return f"{close[0]} of {api_version}" if close else ""


def defined_resources(definitions: Iterable[Manifest]) -> Iterable[Resource]:
    """Yield the resources that CustomResourceDefinitions define, one for each served version; none of a
    definition whose names other ones have."""
    for definition in definitions:
        spec = definition["spec"]
        accepted = (definition.get("status") or {}).get("acceptedNames") or {}
        names = accepted if accepted.get("plural") and accepted.get("kind") else spec["names"]
        is_established = has_condition(definition, "Established", "True")
        if not is_established and has_condition(definition, "NamesAccepted", "False"):
            continue
        for version in spec["versions"]:
            if version.get("served", True):
                subresources = version.get("subresources") or {}
                yield Resource(
                    group=spec["group"],
                    version=version["name"],
                    kind=names["kind"],
                    plural=names["plural"],
                    namespaced=spec["scope"] == "Namespaced",
                    singular=names.get("singular", names["kind"].lower()),
                    short_names=tuple(names.get("shortNames", ())),
                    categories=tuple(names.get("categories", ())),
                    has_status="status" in subresources,
                    scale=_scale_paths(subresources.get("scale")),
                    schema_text=_schema_text(version),
                    selectable_fields=tuple(
                        str(field.get("jsonPath", "")).removeprefix(".")
                        for field in version.get("selectableFields") or ()
                    ),
                    columns_text=msgspec.json.encode(version.get("additionalPrinterColumns") or []).decode(),
                    deprecation=deprecation_warning(spec, version),
                )


def _schema_text(version: Manifest) -> str:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return msgspec.json.encode(schema).decode() if schema else ""


def _scale_paths(manifest: Manifest | None) -> ScalePaths | None:
    if manifest is None:
        return None
    spec, status = manifest.get("specReplicasPath", ""), manifest.get("statusReplicasPath", "")
    return ScalePaths(spec, status, manifest.get("labelSelectorPath", ".")) if spec and status else None
