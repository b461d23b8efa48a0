"""A resource of the API: its names, and what is served of it.

A resource's ``id`` is kubectl's form ``plural.group``: ``pods``, ``priorityclasses.scheduling.k8s.io``.
"""

from typing import Final

import msgspec

CRDS: Final = "customresourcedefinitions.apiextensions.k8s.io"


class ScalePaths(msgspec.Struct, frozen=True):
    """Paths such as ``.spec.replicas``."""

    spec_replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    selector: str = ""
    """The path of a selector in the form of a query parameter; "" = the object has a LabelSelector in its
    spec."""
    has_label_set: bool = False
    """Whether the selector in the spec is a map of labels and no LabelSelector."""


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
    is_built_in: bool = False
    """Whether it is one of Kubernetes' own, or of schedviz'; else a custom one."""
    has_status: bool = False
    """Whether ``status`` is a subresource."""
    scale: ScalePaths | None = None
    """The paths of the values that the subresource ``scale`` shows; None if it has no such subresource."""
    stored_as: str = ""
    """The id under which the objects are stored, if it is another resource's."""
    gate: str = ""
    """The feature gate with which it is served; "" = it is always served."""
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


def plural_of(kind: str) -> str:
    """Guess the plural of a kind. Upstream: apimachinery/pkg/api/meta/restmapper.go,
    UnsafeGuessKindToResource."""
    singular = kind.lower()
    if singular == "endpoints":
        return singular
    if singular.endswith(("s", "ch", "x")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:] not in ("ay", "ey", "oy", "uy"):
        return singular[:-1] + "ies"
    return singular + "s"


_groups: Final[set[str]] = set()
"""The groups of the resources that :func:`built_in` returned."""


def is_built_in_group(group: str) -> bool:
    """Whether a kind of this group is built in, so that no definition may be of it."""
    return group in _groups


def built_in(
    api_version: str,
    kind: str,
    *short_names: str,
    in_cluster: bool = False,
    has_status: bool = False,
    scale: ScalePaths | None = None,
    stored_as: str = "",
    gate: str = "",
) -> Resource:
    """Return a resource of Kubernetes. ``in_cluster``: its objects are in no namespace. ``gate``: the feature
    gate with which it is served."""
    group, _, version = api_version.rpartition("/")
    _groups.add(group)
    return Resource(
        group=group,
        version=version,
        kind=kind,
        plural=plural_of(kind),
        namespaced=not in_cluster,
        singular=kind.lower(),
        short_names=short_names,
        is_built_in=True,
        has_status=has_status,
        scale=scale,
        stored_as=stored_as,
        gate=gate,
    )


BINDINGS: Final = built_in("v1", "Binding")
EVICTIONS: Final = built_in("policy/v1", "Eviction")
SCALES: Final = built_in("autoscaling/v1", "Scale")
"""Kinds that are not stored: they are the bodies of subresources."""
