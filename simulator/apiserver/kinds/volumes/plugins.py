"""Validation of the sources of volumes that pods and PersistentVolumes have in common: the fields that the
schema of a source requires, and more of the common ones.

Upstream: validateHostPathVolumeSource and its siblings in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import HOST_PATH_TYPES
from simulator.apiserver.field_checks import check_present, check_required_name
from simulator.apiserver.paths import check_no_steps_back
from simulator.apiserver.status import Cause, invalid, not_supported, required, too_long
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import StructType

Check = Callable[[Manifest, str], Iterator[Cause]]

MAX_DRIVER_NAME: Final = 63
_SECRETS: Final = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)


@cache
def check_of_schema(name: str) -> Check:
    """Return the check of a source that no check of its own has: none of the fields that its schema requires
    is empty. A number may be 0."""
    of = api_types().struct("io.k8s.api.core.v1.Volume").fields[name].type
    fields = of.fields.values() if isinstance(of, StructType) else ()
    needed = [each.name for each in fields if each.is_required and each.type.go_name != "int32"]
    return lambda source, path: check_present(source, needed, path)


def check_driver_name(driver: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateCSIDriverName reports."""
    if not driver:
        yield required(path)
    if len(driver) > MAX_DRIVER_NAME:
        yield too_long(path, MAX_DRIVER_NAME)
    yield from (invalid(path, driver, problem) for problem in names.dns_subdomain(driver.lower()))


def _host_path(source: Manifest, path: str) -> Iterator[Cause]:
    if not source.get("path"):
        yield required(f"{path}.path")
        return
    yield from check_no_steps_back(source["path"], f"{path}.path")
    if source.get("type", "") not in HOST_PATH_TYPES:
        yield not_supported(f"{path}.type", source["type"], HOST_PATH_TYPES)


def _local(source: Manifest, path: str) -> Iterator[Cause]:
    if not source.get("path"):
        yield required(f"{path}.path")
    else:
        yield from check_no_steps_back(source["path"], f"{path}.path")


def _nfs(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("server", "path"), path)
    if not source.get("path", "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")


def _csi_of_volume(source: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateCSIPersistentVolumeSource reports."""
    yield from check_driver_name(source.get("driver", ""), f"{path}.driver")
    yield from check_present(source, ("volumeHandle",), path)
    for field in _SECRETS:
        if source.get(field) is not None:
            secret, at = source[field], f"{path}.{field}"
            yield from check_required_name(names.dns_subdomain, secret.get("name", ""), f"{at}.name")
            yield from check_required_name(names.dns_label, secret.get("namespace", ""), f"{at}.namespace")


PLUGINS: Final[dict[str, Check]] = {"hostPath": _host_path, "nfs": _nfs}
"""The checks of sources of pods and PersistentVolumes, by field."""
PERSISTENT: Final[dict[str, Check]] = {**PLUGINS, "csi": _csi_of_volume, "local": _local}
"""The checks of a PersistentVolume's sources."""
CONTENT_NAMES: Final = {"gcePersistentDisk": "persistentDisk"}
"""Sources whose fields are at another path than the source."""
SECOND_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Sources with another name where they are the second one of a volume."""
