"""The volumes of a pod, as kubectl describe prints them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schedviz.web.kubectl.describe.containers import go_bool, go_list
from schedviz.web.kubectl.describe.fields import MAX_ANNOTATION, NONE, annotations, labels, shorten
from schedviz.web.kubectl.describe.writer import Writer
from simulator.api import Manifest
from simulator.objects import quantity

Show = Callable[[Any], str]
"""A function that prints the value of a field; None = it is missing."""


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _number(value: Any) -> str:
    return str(value or 0)


def _or_none(value: Any) -> str:
    return NONE if value is None else str(value)


def _list(value: Any) -> str:
    return go_list(value or ())


def _joined(value: Any) -> str:
    return ", ".join(value or ())


def _map(value: Any) -> str:
    found: Mapping[str, str] = value or {}
    return f"map[{' '.join(f'{key}:{found[key]}' for key in sorted(found))}]"


def _reference(value: Any) -> str:
    """Return a reference to a Secret, as Go prints a pointer to it."""
    return "nil" if value is None else f"&LocalObjectReference{{Name:{value.get('name', '')},}}"


def _size(value: Any) -> str:
    return str(value) if value is not None and quantity.parse_quantity(value) > 0 else "<unset>"


_READ_ONLY: Final = ("ReadOnly:", "readOnly", go_bool)
_FS_TYPE: Final = ("FSType:", "fsType", _text)
_SECRET: Final = ("SecretRef:", "secretRef", _reference)

_ISCSI: Final = (
    "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)"
)
SOURCES: Final[dict[str, tuple[str, tuple[tuple[str, str, Show], ...]]]] = {
    "hostPath": (
        "HostPath (bare host directory volume)",
        (("Path:", "path", _text), ("HostPathType:", "type", _or_none)),
    ),
    "emptyDir": (
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        (("Medium:", "medium", _text), ("SizeLimit:", "sizeLimit", _size)),
    ),
    "gcePersistentDisk": (
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        (("PDName:", "pdName", _text), _FS_TYPE, ("Partition:", "partition", _number), _READ_ONLY),
    ),
    "awsElasticBlockStore": (
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        (("VolumeID:", "volumeID", _text), _FS_TYPE, ("Partition:", "partition", _number), _READ_ONLY),
    ),
    "gitRepo": (
        "GitRepo (a volume that is pulled from git when the pod is created)",
        (("Repository:", "repository", _text), ("Revision:", "revision", _text)),
    ),
    "secret": (
        "Secret (a volume populated by a Secret)",
        (("SecretName:", "secretName", _text), ("Optional:", "optional", go_bool)),
    ),
    "configMap": (
        "ConfigMap (a volume populated by a ConfigMap)",
        (("Name:", "name", _text), ("Optional:", "optional", go_bool)),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (("Server:", "server", _text), ("Path:", "path", _text), _READ_ONLY),
    ),
    "iscsi": (
        _ISCSI,
        (
            ("TargetPortal:", "targetPortal", _text),
            ("IQN:", "iqn", _text),
            ("Lun:", "lun", _number),
            ("ISCSIInterface", "iscsiInterface", _text),
            _FS_TYPE,
            _READ_ONLY,
            ("Portals:", "portals", _list),
            ("DiscoveryCHAPAuth:", "chapAuthDiscovery", go_bool),
            ("SessionCHAPAuth:", "chapAuthSession", go_bool),
            _SECRET,
            ("InitiatorName:", "initiatorName", _or_none),
        ),
    ),
    "glusterfs": (
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        (("EndpointsName:", "endpoints", _text), ("Path:", "path", _text), _READ_ONLY),
    ),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        (("ClaimName:", "claimName", _text), _READ_ONLY),
    ),
    "ephemeral": (
        "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        (),
    ),
    "rbd": (
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        (
            ("CephMonitors:", "monitors", _list),
            ("RBDImage:", "image", _text),
            _FS_TYPE,
            ("RBDPool:", "pool", _text),
            ("RadosUser:", "user", _text),
            ("Keyring:", "keyring", _text),
            _SECRET,
            _READ_ONLY,
        ),
    ),
    "quobyte": (
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        (("Registry:", "registry", _text), ("Volume:", "volume", _text), _READ_ONLY),
    ),
    "downwardAPI": ("DownwardAPI (a volume populated by information about the pod)", ()),
    "azureDisk": (
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        (
            ("DiskName:", "diskName", _text),
            ("DiskURI:", "diskURI", _text),
            ("Kind: ", "kind", _text),
            _FS_TYPE,
            ("CachingMode:", "cachingMode", _text),
            _READ_ONLY,
        ),
    ),
    "vsphereVolume": (
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        (("VolumePath:", "volumePath", _text), _FS_TYPE, ("StoragePolicyName:", "storagePolicyName", _text)),
    ),
    "cinder": (
        "Cinder (a Persistent Disk resource in OpenStack)",
        (("VolumeID:", "volumeID", _text), _FS_TYPE, _READ_ONLY, _SECRET),
    ),
    "photonPersistentDisk": (
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        (("PdID:", "pdID", _text), _FS_TYPE),
    ),
    "portworxVolume": ("PortworxVolume (a Portworx Volume resource)", (("VolumeID:", "volumeID", _text),)),
    "scaleIO": (
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        (
            ("Gateway:", "gateway", _text),
            ("System:", "system", _text),
            ("Protection Domain:", "protectionDomain", _text),
            ("Storage Pool:", "storagePool", _text),
            ("Storage Mode:", "storageMode", _text),
            ("VolumeName:", "volumeName", _text),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
    "cephfs": (
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        (
            ("Monitors:", "monitors", _list),
            ("Path:", "path", _text),
            ("User:", "user", _text),
            ("SecretFile:", "secretFile", _text),
            _SECRET,
            _READ_ONLY,
        ),
    ),
    "storageos": (
        "StorageOS (a StorageOS Persistent Disk resource)",
        (
            ("VolumeName:", "volumeName", _text),
            ("VolumeNamespace:", "volumeNamespace", _text),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
    "fc": (
        "FC (a Fibre Channel disk)",
        (("TargetWWNs:", "targetWWNs", _joined), ("LUN:", "lun", _or_none), _FS_TYPE, _READ_ONLY),
    ),
    "azureFile": (
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        (("SecretName:", "secretName", _text), ("ShareName:", "shareName", _text), _READ_ONLY),
    ),
    "flexVolume": (
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        (("Driver:", "driver", _text), _FS_TYPE, _SECRET, _READ_ONLY, ("Options:", "options", _map)),
    ),
    "flocker": (
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        (("DatasetName:", "datasetName", _text), ("DatasetUUID:", "datasetUUID", _text)),
    ),
    "projected": ("Projected (a volume that contains injected data from multiple sources)", ()),
    "csi": (
        "CSI (a Container Storage Interface (CSI) volume source)",
        (("Driver:", "driver", _text), _FS_TYPE, _READ_ONLY),
    ),
    "image": (
        "Image (a container image or OCI artifact)",
        (("Reference:", "reference", _text), ("PullPolicy:", "pullPolicy", _text)),
    ),
}
"""The sources of volumes: what kubectl calls them, and the fields that it prints, each with its title."""


def write_volumes(to: Writer, volumes: Sequence[Manifest]) -> None:
    """Write the volumes (describeVolumes)."""
    to.line(0, "Volumes:" if volumes else f"Volumes:\t{NONE}")
    for volume in volumes:
        to.line(1, f"{volume['name']}:")
        source = next((name for name in SOURCES if volume.get(name) is not None), None)
        if source is None:
            to.line(1, "<unknown>")
            continue
        title, fields = SOURCES[source]
        found = volume[source]
        to.line(2, f"Type:\t{title}")
        for name, field, show in fields:
            to.line(2, f"{name}\t{show(found.get(field))}")
        _write_more(to, source, found)


def _write_more(to: Writer, source: str, found: Manifest) -> None:
    """Write what is no single field of a source."""
    match source:
        case "projected":
            for each in found.get("sources") or ():
                _write_projection(to, each)
        case "downwardAPI":
            to.line(2, "Items:")
            for item in found.get("items") or ():
                for field, name in (("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")):
                    if item.get(field) is not None:
                        to.line(3, f"{item[field][name]} -> {item['path']}")
        case "csi":
            _write_attributes(to, found.get("volumeAttributes") or {})
        case "ephemeral" if found.get("volumeClaimTemplate") is not None:
            _write_claim(to.nested(2), found["volumeClaimTemplate"])


def _write_projection(to: Writer, source: Manifest) -> None:
    for field, name in (
        ("secret", "SecretName"),
        ("downwardAPI", "DownwardAPI"),
        ("configMap", "ConfigMapName"),
    ):
        if (found := source.get(field)) is None:
            continue
        if field == "downwardAPI":
            to.line(2, f"{name}:\ttrue")
        else:
            to.line(2, f"{name}:\t{found.get('name', '')}")
            to.line(2, f"Optional:\t{go_bool(found.get('optional'))}")
        return
    if (token := source.get("serviceAccountToken")) is not None:
        to.line(2, f"TokenExpirationSeconds:\t{token.get('expirationSeconds', 0)}")


def _write_attributes(to: Writer, attributes: Mapping[str, str]) -> None:
    """Write the attributes of a CSI volume. kubectl indents them twice."""
    to.part(2, "VolumeAttributes:\t")
    if not attributes:
        to.line(0, NONE)
    for number, key in enumerate(sorted(attributes)):
        if number:
            to.part(2, "")
            to.part(2, "\t")
        to.line(2, shorten(f"{key}={attributes[key]}", MAX_ANNOTATION))


def _write_claim(to: Writer, template: Manifest) -> None:
    """Write the claim of an ephemeral volume (printPersistentVolumeClaim)."""
    metadata, spec = template.get("metadata") or {}, template["spec"]
    given = metadata.get("annotations") or {}
    to.line(0, f"StorageClass:\t{given.get(CLASS_ANNOTATION, spec.get('storageClassName') or '')}")
    to.line(0, f"Volume:\t{spec.get('volumeName', '')}")
    labels(to, "Labels", metadata.get("labels") or {})
    annotations(to, given)
    # The claim has no status: with a volume its capacity is 0.
    to.line(0, f"Capacity:\t{'0' if spec.get('volumeName') else ''}")
    to.line(0, "Access Modes:\t")
    if spec.get("volumeMode") is not None:
        to.line(0, f"VolumeMode:\t{spec['volumeMode']}")
    if (source := spec.get("dataSource")) is not None:
        to.line(0, "DataSource:")
        for field, name in (("apiGroup", "APIGroup"), ("kind", "Kind"), ("name", "Name")):
            if source.get(field) is not None:
                to.line(1, f"{name}:\t{source[field]}")


CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""The annotation that named the class of a claim before there was a field."""
