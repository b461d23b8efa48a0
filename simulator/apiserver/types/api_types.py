"""The types of Kubernetes' API, as one version has them.

The data are written by :mod:`tests.programs.write_api_types`: the file of the newest version has all, those
of the others have what differs from it. Types are made when they are asked for.
"""

import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast, get_args

import msgspec

from simulator.apiserver.served_features import served_version
from simulator.apiserver.types.model import (
    ANYTHING,
    Field,
    ListType,
    MapType,
    OwnType,
    Relation,
    Scalar,
    ScalarKind,
    StructType,
    Type,
)
from simulator.kernel.prepared_types import prepared
from simulator.versions.kubernetes_version import VERSIONS

NEWEST: Final = VERSIONS[0].name
META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
BINDING: Final = "io.k8s.api.core.v1.Binding"
DELETE_OPTIONS: Final = f"{META}DeleteOptions"
EVICTION: Final = "io.k8s.api.policy.v1.Eviction"
OBJECT_META: Final = f"{META}ObjectMeta"
SCALE: Final = "io.k8s.api.autoscaling.v1.Scale"
OWN_TYPES: Final = frozenset(
    [
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        "io.k8s.apimachinery.pkg.runtime.RawExtension",
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        *(f"{META}{name}" for name in ("Duration", "FieldsV1", "MicroTime", "Time")),
    ]
)
_SCALARS: Final = {kind: Scalar(kind) for kind in get_args(ScalarKind)}
_ALSO_ACCEPTED: Final = {"policy/v1beta1/Eviction": "io.k8s.api.policy.v1.Eviction"}
"""The kinds that a type is accepted as, although the version serves none of them (pods/eviction in
pkg/apis/policy/v1beta1/register.go)."""


class _Record(msgspec.Struct, array_like=True):
    """A field in the data. ``flags``: * pointer, e omitempty, z omitzero, i inline, r required."""

    name: str
    go_name: str
    type: str
    flags: str
    number: int
    merging: dict[str, Any]


class _TypeRecord(msgspec.Struct):
    kind: str
    elem: str = ""
    key: str = ""
    atomic: bool = False
    fields: list[_Record] = []


class _Data(msgspec.Struct):
    """The data of a version. Of one that is not the newest, a null says that it lacks what the newest has."""

    kinds: Mapping[str, str | None]
    types: Mapping[str, _TypeRecord | None]


class ApiTypes:
    """The types of one version."""

    def __init__(self, kinds: dict[str, str], types: dict[str, _TypeRecord]) -> None:
        self.kinds = kinds
        """The names of the types by apiVersion and kind: ``apps/v1/Deployment``."""
        self._kinds_of: dict[str, list[tuple[str, str]]] = {}
        for kind, name in [*self.kinds.items(), *_ALSO_ACCEPTED.items()]:
            api_version, _, short = kind.rpartition("/")
            self._kinds_of.setdefault(name, []).append((api_version, short))
        self._records = types
        self._named: dict[str, Type] = {}

    @property
    def names(self) -> list[str]:
        return [*self._records]

    def find(self, name: str) -> Type | None:
        """Return the type of a full name, such as ``io.k8s.api.core.v1.PodSpec``."""
        return self._of_name(name) if name in self._records else None

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether Kubernetes has a type of this apiVersion and kind, also one whose fields are not here."""
        return f"{api_version}/{kind}" in self.kinds

    def of_kind(self, api_version: str, kind: str) -> StructType | None:
        """Return the type of an apiVersion and kind; None if Kubernetes has none."""
        found = self.find(self.kinds.get(f"{api_version}/{kind}", ""))
        return found if isinstance(found, StructType) else None

    def struct(self, name: str) -> StructType:
        """Return the struct of a full name."""
        found = self._of_name(name)
        assert isinstance(found, StructType), name
        return found

    def _of_name(self, name: str) -> Type:
        found = self._named.get(name)
        if found is None:
            found = self._named[name] = self._make(name, self._records[name])
        return found

    def _make(self, name: str, record: _TypeRecord) -> Type:
        if name in OWN_TYPES:
            return OwnType(name)
        match record.kind:
            case "struct":
                return StructType(
                    name,
                    lambda: [self._field(field) for field in record.fields],
                    is_atomic=record.atomic,
                    kinds=tuple(self._kinds_of.get(name, ())),
                )
            case "slice":
                return ListType(self._of(record.elem), name=name)
            case "map":
                return MapType(self._of(record.elem), self._of(record.key), name=name)
        return Scalar(cast("ScalarKind", record.kind), name)

    def _field(self, record: _Record) -> Field:
        merging = record.merging
        strategy = tuple(filter(None, merging.get("strategy", "").split(",")))
        of = self._of(record.type)
        if isinstance(of, ListType):
            keys = tuple(merging.get("keys") or filter(None, [merging.get("key")]))
            merged = ("map" if keys else "set") if "merge" in strategy else "atomic"
            of = ListType(of.items, merging.get("list") or cast("Relation", merged), keys, of.name)
        elif isinstance(of, MapType) and merging.get("map") == "atomic":
            of = MapType(of.values, of.key_type, "atomic", of.name)
        return Field(
            name="" if "i" in record.flags else record.name,
            go_name=record.go_name,
            type=of,
            is_pointer="*" in record.flags,
            omits_empty="e" in record.flags,
            omits_zero="z" in record.flags,
            is_required="r" in record.flags,
            number=record.number,
            patch_strategy=strategy,
            merge_key=merging.get("key", ""),
        )

    def _of(self, text: str) -> Type:
        """Return the type of a Go expression."""
        if text.startswith("[]"):
            return ListType(self._of(text[2:]))
        if text.startswith("map["):
            key, _, values = text[4:].partition("]")
            return MapType(self._of(values), self._of(key))
        if text in self._records:
            return self._of_name(text)
        return _SCALARS.get(text, ANYTHING)


def api_types() -> ApiTypes:
    """Return the types of the version that is served."""
    return types_of(served_version().name)


@cache
def types_of(version: str) -> ApiTypes:
    """Return the types of a version of Kubernetes."""
    newest = _read(NEWEST)
    older = newest if version == NEWEST else _read(version)
    kinds, types = {**newest.kinds, **older.kinds}, {**newest.types, **older.types}
    return ApiTypes(
        {kind: name for kind, name in kinds.items() if name is not None},
        {name: record for name, record in types.items() if record is not None},
    )


@cache
def _read(version: str) -> _Data:
    content = Path(__file__).with_name(f"{version}.json.gz").read_bytes()
    return msgspec.json.decode(gzip.decompress(content), type=prepared(_Data))
