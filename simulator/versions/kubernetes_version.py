"""The versions of Kubernetes that are modelled, and what differs between them without a feature gate."""

from typing import Final

import msgspec


class KubernetesVersion(msgspec.Struct, frozen=True):
    """A minor version, as its latest recorded patch has it. The defaults of the other fields are the newest
    version's."""

    name: str
    """The minor version: ``v1.36``."""
    patch: str
    """``v1.36.2``."""
    reported: str = ""
    """What kube-apiserver and kubelets say of themselves, if it is not the patch."""
    affinity_hint_sees_both_sides: bool = True
    """InterPodAffinity's hint for changes of pods requeues a pod also when its own labels change, and when a
    pod is deleted whose required anti-affinity it matches (isSchedulableAfterPodChange, since v1.36)."""
    balanced_allocation_by_gain: bool = True
    """NodeResourcesBalancedAllocation scores how much more balanced the node is with the pod, not how
    balanced it is (balancedResourceScorer, since v1.36)."""
    class_configs_name_requests: bool = True
    """The configuration of a DeviceClass is once in an allocation, with the names of the requests that use
    the class, and not once for each request (Allocate of the allocator, since v1.34.2)."""
    default_allocator_knows_capacity: bool = True
    """The allocator that runs with the default gates knows capacity requests and distinctAttribute, if only
    to refuse them (allocator_incubating.go; not in v1.35)."""
    device_pools_are_whole: bool = True
    """A pool counts as complete by its slices for all nodes, and devices of incomplete and of invalid pools
    are not taken (GatherPools and allocateOne, since v1.35)."""
    devices_are_sorted: bool = True
    """Pools are tried in the order of their drivers and names, their slices in that of their names, and the
    devices of a request in this order only (GatherPools and allocateOne, since v1.36)."""
    deleted_pods_free_nodes: bool = True
    """A pod that is deleted while its binding is under way leaves its node at once, not when the binding has
    failed (handleAssumedPodDeletion, since v1.35)."""
    dynamic_resources_scores: bool = True
    """DynamicResources is a Score plugin (since v1.35)."""
    filter_timeout_is_error: bool = True
    """DynamicResources ends the attempt where the search for devices takes too long, instead of rejecting the
    node (Filter, since v1.36)."""
    hints_count_nominated_pods: bool = True
    """The hints of InterPodAffinity and PodTopologySpread count nominated pods as bound ones
    (isSchedulableAfterPodChange, since v1.36)."""
    image_locality_counts_volumes: bool = True
    """ImageLocality counts image volumes (since v1.36)."""
    mode_all_knows_subrequest: bool = True
    """The allocation mode All in a later subrequest of firstAvailable takes the devices of that subrequest
    (allocateOne and Allocate, since v1.36)."""
    nomination_ends_with_binding: bool = False
    """The binding of a nominated pod requeues the pods of lower or equal priority, as the end of another
    nomination does (deletePodFromSchedulingQueue, until v1.34)."""
    owner_reason_is_capitalized: bool = True
    """The reason for a claim that belongs to another pod says Pod, not pod (IsForPod in
    dynamic-resource-allocation/resourceclaim/resourceclaim.go, since v1.36)."""
    portworx_is_migrated: bool = True
    """In-tree Portworx volumes count against the CSI driver's limit on each node (isCSIMigrationOn, since
    v1.36)."""
    preempted_pods_are_retried: bool = True
    """A victim that waits on Permit or in PreBind is tried again after a backoff; until v1.35 the former is
    rejected, and the latter deleted (PreemptPod in preemption.go)."""
    results_have_tolerations: bool = True
    """The tolerations of a request are copied to the allocated devices (Allocate, since v1.35)."""
    stores_newest_versions: bool = True
    """kube-apiserver stores ResourceSlices, claims and VolumeAttributesClasses as v1, by the
    storageVersionHash of discovery (NewStorageFactoryConfig, since v1.35)."""
    tables_have_older_columns: bool = False
    """The columns of tables are described by types of groups that are not served any more, and that of
    ServiceAccounts has Secrets (pkg/printers/internalversion/printers.go, until v1.35)."""
    taint_message_names_taint: bool = False
    """The reason of TaintToleration names the first untolerated taint (until v1.34.1)."""
    unreadable_bodies_are_refused: bool = True
    """The body of a DELETE that cannot be decoded is a BadRequest, not an internal error; so is JSON that is
    nested too deeply; and a wrong character is shown by its number (since v1.36)."""
    validates_declaratively: bool = True
    """Rules that are declared at the types validate objects of resource.k8s.io: some messages and paths are
    others (DeclarativeValidation, since v1.36)."""
    warns_of_headless_affinity: bool = False
    """A headless Service with the default sessionAffinity has a warning (until v1.35)."""

    @property
    def git_version(self) -> str:
        """What kube-apiserver and kubelets say of themselves."""
        return self.reported or self.patch


V1_36: Final = KubernetesVersion("v1.36", "v1.36.2")
V1_35: Final = KubernetesVersion(
    "v1.35",
    "v1.35.6",
    affinity_hint_sees_both_sides=False,
    balanced_allocation_by_gain=False,
    default_allocator_knows_capacity=False,
    devices_are_sorted=False,
    filter_timeout_is_error=False,
    hints_count_nominated_pods=False,
    image_locality_counts_volumes=False,
    mode_all_knows_subrequest=False,
    owner_reason_is_capitalized=False,
    portworx_is_migrated=False,
    preempted_pods_are_retried=False,
    tables_have_older_columns=True,
    unreadable_bodies_are_refused=False,
    validates_declaratively=False,
    warns_of_headless_affinity=True,
)
V1_34: Final = msgspec.structs.replace(
    V1_35,
    name="v1.34",
    patch="v1.34.9",
    default_allocator_knows_capacity=True,
    device_pools_are_whole=False,
    deleted_pods_free_nodes=False,
    dynamic_resources_scores=False,
    nomination_ends_with_binding=True,
    results_have_tolerations=False,
    stores_newest_versions=False,
)
V1_34_1: Final = msgspec.structs.replace(
    V1_34,
    patch="v1.34.1",
    reported="v1.34.0",
    class_configs_name_requests=False,
    taint_message_names_taint=True,
)
"""What sandboxes and recordings have that name no version."""
VERSIONS: Final = (V1_36, V1_35, V1_34)
"""The newest first."""
MODELLED: Final = (*VERSIONS, V1_34_1)
_BY_NAME: Final = {
    **{version.patch: version for version in MODELLED},
    **{version.name: version for version in VERSIONS},
}


class UnknownVersion(ValueError):
    def __init__(self, name: str) -> None:
        known = ", ".join(version.name for version in VERSIONS)
        super().__init__(f'Kubernetes "{name[:32]}" is not modelled; choose {known}')


def find_version(name: str) -> KubernetesVersion:
    """Return the version of a name, such as v1.36 or v1.36.2. Raises UnknownVersion."""
    found = _BY_NAME.get(name)
    if found is None:
        raise UnknownVersion(name)
    return found
