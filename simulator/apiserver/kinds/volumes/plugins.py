"""Validation of the sources of volumes that pods and PersistentVolumes have in common: the fields that the
schema of a source requires, and more of the common ones.

Upstream: validateHostPathVolumeSource and its siblings in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import HOST_PATH_TYPES
from simulator.apiserver.paths import check_no_steps_back
from simulator.apiserver.shapes import Rule, all_of, field, must_have, named_by, needed, one_of
from simulator.apiserver.status import Cause, invalid, required, too_long
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import StructType

MAX_DRIVER_NAME: Final = 63
_SECRETS: Final = (
    *("controllerPublishSecretRef", "controllerExpandSecretRef"),
    *("nodePublishSecretRef", "nodeExpandSecretRef"),
)
_CONTENT_NAMES: Final = {"gcePersistentDisk": "persistentDisk"}
"""Sources whose fields are at another path than the source."""


@cache
def _schema_rule(name: str) -> Rule:
    """Return the rule of a source that has no other: none of the fields that its schema requires is empty. A
    number may be 0."""
    of = api_types().struct("io.k8s.api.core.v1.Volume").fields[name].type
    fields = of.fields.values() if isinstance(of, StructType) else ()
    return must_have(*(each.name for each in fields if each.is_required and each.type.go_name != "int32"))


def of_schema(name: str) -> Rule:
    """Return what applies :func:`_schema_rule`, for which the types are read when it is first needed."""

    def check(source: Manifest, path: str) -> Iterable[Cause]:
        return _schema_rule(name)(source, path)

    return field(name, check, shown=_CONTENT_NAMES.get(name))


def check_driver_name(driver: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateCSIDriverName reports."""
    if not driver:
        yield required(path)
    if len(driver) > MAX_DRIVER_NAME:
        yield too_long(path, MAX_DRIVER_NAME)
    yield from (invalid(path, driver, problem) for problem in names.dns_subdomain(driver.lower()))


def _host_path(source: Manifest, path: str) -> Iterable[Cause]:
    faults = [*_PATH(source, path)]
    return faults if not source.get("path") else [*faults, *_HOST_PATH_TYPE(source, path)]


def _absolute(source: Manifest, path: str) -> Iterable[Cause]:
    text = source.get("path", "")
    return () if text.startswith("/") else (invalid(f"{path}.path", text, "must be an absolute path"),)


def _needs_affinity(spec: Manifest, path: str) -> Iterable[Cause]:
    if "nodeAffinity" in spec:
        return ()
    return (required(f"{path}.nodeAffinity", "Local volume requires node affinity"),)


_PATH: Final = needed("path", check_no_steps_back)
_HOST_PATH_TYPE: Final = field("type", one_of(HOST_PATH_TYPES))
DRIVER: Final = field("driver", check_driver_name, default="")
_SECRET: Final = all_of(
    needed("name", named_by(names.dns_subdomain)), needed("namespace", named_by(names.dns_label))
)
PLUGINS: Final[dict[str, Rule]] = {
    "hostPath": field("hostPath", _host_path),
    "nfs": field("nfs", must_have("server", "path"), _absolute),
}
"""The rules of sources of pods and PersistentVolumes, by field, for what has the source."""
PERSISTENT: Final[dict[str, Rule]] = {
    **PLUGINS,
    "csi": field("csi", DRIVER, must_have("volumeHandle"), *(field(secret, _SECRET) for secret in _SECRETS)),
    "local": all_of(field("local", _PATH), _needs_affinity),
}
"""The rules of a PersistentVolume's sources (csi: validateCSIPersistentVolumeSource)."""
SEVERAL: Final = "may not specify more than 1 volume type"
NONE: Final = "must specify a volume type"
SECOND_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Sources with another name where they are the second one of a volume."""
