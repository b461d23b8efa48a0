"""The strategy of pods (pkg/registry/core/pod/strategy.go)."""

from typing import Final

from simulator.apiserver.kinds.pods.defaults import set_pod_defaults
from simulator.apiserver.kinds.pods.preparation import (
    drop_disabled_of_pod,
    keep_status_of_placed,
    pod_grace_seconds,
    prepare_ephemeral_containers,
    prepare_pod,
    prepare_resize,
    prepare_status,
)
from simulator.apiserver.kinds.pods.printer import POD_PRINTER
from simulator.apiserver.kinds.pods.subresource_validation import (
    validate_ephemeral_containers_update,
    validate_pod_status,
    validate_resize,
)
from simulator.apiserver.kinds.pods.update_validation import validate_pod_update
from simulator.apiserver.kinds.pods.validation import validate_new_pod, validate_pod
from simulator.apiserver.kinds.pods.warnings import pod_warnings
from simulator.apiserver.resource import built_in
from simulator.apiserver.strategy import Strategy, Subresource, spec_of, status_strategy

PODS: Final = built_in("v1", "Pod", "po", has_status=True)

POD_STRATEGY: Final = Strategy(
    resource=PODS,
    drop_disabled_fields=drop_disabled_of_pod,
    set_defaults=set_pod_defaults,
    first_phase=None,
    keeps_new_status=True,
    prepare_for_create=prepare_pod,
    complete_on_page=keep_status_of_placed,
    validate=validate_pod,
    validate_new=validate_new_pod,
    warnings=lambda pod, old: pod_warnings(pod, "") if old is None else iter(()),
    name_use="this is used in the Pod's hostname",
    validate_update=validate_pod_update,
    update_order="UMSC",
    desired_state=spec_of,
    subresources={
        "status": status_strategy(
            validate_pod_status,
            prepare=prepare_status,
            keeps_metadata=("ownerReferences",),
            resets_metadata=("deletionTimestamp", "ownerReferences"),
        ),
        "ephemeralcontainers": Subresource(
            prepare_for_update=prepare_ephemeral_containers,
            validate_update=validate_ephemeral_containers_update,
        ),
        "resize": Subresource(prepare_for_update=prepare_resize, validate_update=validate_resize),
    },
    is_shown_when_deleted=True,
    grace_seconds=pod_grace_seconds,
    printer=POD_PRINTER,
    fields=(
        *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
        *("spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"),
        "spec.host",
    ),
    field_values={
        "spec.host": lambda pod: pod["spec"].get("nodeName"),  # an old name
        "status.podIPs": lambda _: None,  # the conversion of pods has it, and their strategy does not
    },
)
