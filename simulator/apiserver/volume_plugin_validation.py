"""Validation of the sources of volumes that pods and PersistentVolumes have in common.

Upstream: validateISCSIVolumeSource and its siblings in pkg/apis/core/validation/validation.go, v1.34. Where a
PersistentVolume has stricter rules, they are in ``PERSISTENT``.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import DISK_CACHING_MODES, DISK_KINDS, HOST_PATH_TYPES
from simulator.apiserver.field_checks import check_name, check_present, check_required_name
from simulator.apiserver.paths import check_no_steps_back
from simulator.apiserver.status import Cause, invalid, not_supported, required, too_long

Check = Callable[[Manifest, str], Iterator[Cause]]

MAX_DRIVER_NAME: Final = 63
MAX_TENANT: Final = 64
MAX_TARGET: Final = 64
"""Maximum length of ``<volume name>:<iscsi.targetPortal>`` if there is an initiator name."""
TARGET_TOO_LONG: Final = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName "
    "is specified."
)
_LUN_RANGE: Final = "must be between 0 and 255, inclusive"
_PARTITION_RANGE: Final = "must be between 1 and 255, inclusive"
_MAX_BYTE: Final = 255
_HOST_PORT: Final = "must be a host:port pair or multiple pairs separated by commas"
_QUALIFIED_NAMES: Final = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\s]+)\Z"),
    "eui": re.compile(r"eui.[0-9A-Za-z]{16}\Z"),
    "naa": re.compile(r"naa.[0-9A-Za-z]{32}\Z"),
}
_MANAGED_DISK: Final = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
)
_BLOB_DISK: Final = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"


def requires(*fields: str) -> Check:
    """Return a check that these fields are not empty."""
    return lambda source, path: check_present(source, fields, path)


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


def _disk(field: str) -> Check:
    def check(source: Manifest, path: str) -> Iterator[Cause]:
        yield from check_present(source, (field,), path)
        if not 0 <= source.get("partition", 0) <= _MAX_BYTE:
            yield invalid(f"{path}.partition", source["partition"], _PARTITION_RANGE)

    return check


def _nfs(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("server", "path"), path)
    if not source.get("path", "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path", ""), "must be an absolute path")


def _quobyte(source: Manifest, path: str) -> Iterator[Cause]:
    registry = source.get("registry", "")
    if not registry:
        yield required(f"{path}.registry", _HOST_PORT)
    elif len(source.get("tenant", "")) > MAX_TENANT:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if not _is_host_port(pair):
                yield invalid(f"{path}.registry", registry, _HOST_PORT)
    yield from check_present(source, ("volume",), path)


def _is_host_port(text: str) -> bool:
    """Whether net.SplitHostPort accepts the text."""
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        return bool(bracket) and port.startswith(":") and ":" not in port[1:] and "[" not in host + port
    return text.count(":") == 1 and "[" not in text and "]" not in text


def _flocker(source: Manifest, path: str) -> Iterator[Cause]:
    name, uid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and uid:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def _iscsi_of(is_persistent: bool) -> Check:
    def check(source: Manifest, path: str) -> Iterator[Cause]:
        yield from check_present(source, ("targetPortal", "iqn"), path)
        if source.get("iqn"):
            yield from _qualified_name(source["iqn"], f"{path}.iqn", is_persistent)
        if not 0 <= source.get("lun", 0) <= _MAX_BYTE:
            yield invalid(f"{path}.lun", source["lun"], _LUN_RANGE)
        secret = source.get("secretRef")
        if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and secret is None:
            yield required(f"{path}.secretRef")
        if is_persistent and secret is not None:
            yield from check_present(secret, ("name",), f"{path}.secretRef")
        if "initiatorName" in source:
            yield from _qualified_name(source["initiatorName"], f"{path}.initiatorname", is_persistent)

    return check


def _qualified_name(name: str, path: str, is_persistent: bool) -> Iterator[Cause]:
    pattern = _QUALIFIED_NAMES.get(name[:3])
    if pattern is None:
        detail = "must be valid format" + ("" if is_persistent else " starting with iqn, eui, or naa")
        yield invalid(path, name, detail)
    elif not pattern.match(name):
        yield invalid(path, name, "must be valid format")


def _fc(source: Manifest, path: str) -> Iterator[Cause]:
    targets, ids = source.get("targetWWNs") or [], source.get("wwids") or []
    at = f"{path}.targetWWNs"
    if not targets and not ids:
        yield required(at, "must specify either targetWWNs or wwids, but not both")
    if targets and ids:
        yield invalid(at, targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets and "lun" not in source:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif targets and not 0 <= source["lun"] <= _MAX_BYTE:
        yield invalid(f"{path}.lun", source["lun"], _LUN_RANGE)


def _flex(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("driver",), path)
    for key in source.get("options") or ():
        namespace = "." + key.partition("/")[0].lower()
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            yield invalid(f"{path}.options[{key}]", key, detail)


def _azure_file_of_volume(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("secretName", "shareName"), path)
    if source.get("secretNamespace") == "":
        yield required(f"{path}.secretNamespace")


def _azure_disk(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("diskName", "diskURI"), path)
    uri, kind = source.get("diskURI", ""), source.get("kind")
    for field, choices in (
        ("cachingMode", DISK_CACHING_MODES),
        ("kind", DISK_KINDS),
    ):
        if field in source and source[field] not in choices:
            yield not_supported(f"{path}.{field}", source[field], choices)
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        yield not_supported(f"{path}.diskURI", uri, (_MANAGED_DISK,))
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        yield not_supported(f"{path}.diskURI", uri, (_BLOB_DISK,))


def _storage_os(*secret: str) -> Check:
    def check(source: Manifest, path: str) -> Iterator[Cause]:
        yield from check_required_name(names.dns_label, source.get("volumeName", ""), f"{path}.volumeName")
        if source.get("volumeNamespace"):
            yield from check_name(names.dns_label, source["volumeNamespace"], f"{path}.volumeNamespace")
        if source.get("secretRef") is not None:
            yield from check_present(source["secretRef"], secret, f"{path}.secretRef")

    return check


def _cinder(*secret: str) -> Check:
    def check(source: Manifest, path: str) -> Iterator[Cause]:
        yield from check_present(source, ("volumeID",), path)
        if source.get("secretRef") is not None:
            yield from check_present(source["secretRef"], secret, f"{path}.secretRef")

    return check


def _glusterfs_of_volume(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("endpoints", "path"), path)
    namespace, at = source.get("endpointsNamespace"), f"{path}.endpointsNamespace"
    if namespace == "":
        yield invalid(at, "", "if the endpointnamespace is set, it must be a valid namespace name")
    elif namespace:
        yield from check_name(names.dns_label, namespace, at)


def _csi_of_volume(source: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateCSIPersistentVolumeSource reports."""
    yield from check_driver_name(source.get("driver", ""), f"{path}.driver")
    yield from check_present(source, ("volumeHandle",), path)
    for field in (
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ):
        if source.get(field) is not None:
            secret, at = source[field], f"{path}.{field}"
            yield from check_required_name(names.dns_subdomain, secret.get("name", ""), f"{at}.name")
            yield from check_required_name(names.dns_label, secret.get("namespace", ""), f"{at}.namespace")


PLUGINS: Final[dict[str, Check]] = {
    "hostPath": _host_path,
    "gcePersistentDisk": _disk("pdName"),
    "awsElasticBlockStore": _disk("volumeID"),
    "glusterfs": requires("endpoints", "path"),
    "flocker": _flocker,
    "nfs": _nfs,
    "rbd": requires("monitors", "image"),
    "quobyte": _quobyte,
    "cephfs": requires("monitors"),
    "iscsi": _iscsi_of(is_persistent=False),
    "cinder": _cinder("name"),
    "fc": _fc,
    "flexVolume": _flex,
    "azureFile": requires("secretName", "shareName"),
    "vsphereVolume": requires("volumePath"),
    "photonPersistentDisk": requires("pdID"),
    "portworxVolume": requires("volumeID"),
    "azureDisk": _azure_disk,
    "scaleIO": requires("gateway", "system", "volumeName"),
    "storageos": _storage_os("name"),
}
"""The checks of a pod's sources, by field."""
PERSISTENT: Final[dict[str, Check]] = {
    **PLUGINS,
    "azureFile": _azure_file_of_volume,
    "cinder": _cinder("name", "namespace"),
    "csi": _csi_of_volume,
    "glusterfs": _glusterfs_of_volume,
    "iscsi": _iscsi_of(is_persistent=True),
    "local": _local,
    "storageos": _storage_os("name", "namespace"),
}
"""The checks of a PersistentVolume's sources."""
CONTENT_NAMES: Final = {"gcePersistentDisk": "persistentDisk"}
"""Sources whose fields are at another path than the source."""
SECOND_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Sources with another name where they are the second one of a volume."""
