"""The claim for extended resources, which PreBind creates and Unreserve deletes
(createExtendedResourceClaimInAPI and unreserveExtendedResourceClaim in extendeddynamicresources.go)."""

from typing import Final

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.status import StatusError
from simulator.framework.handle import Client
from simulator.framework.status import Status, error
from simulator.kernel.requests import Refused, Steps, Wait, Write
from simulator.objects.pod import Pod
from simulator.objects.status import with_status
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, ResourceClaim, parse_claim

ATTEMPTS: Final = 5
"""The number of generated names that are tried."""
POLL_PERIOD: Final[Micros] = SECOND
LONGEST_POLL: Final[Micros] = 120 * SECOND
"""The time for which it is waited until the informer shows the claim."""


def create_claim(client: Client, claim: ResourceClaim) -> Steps[ResourceClaim | Status]:
    """Create a claim that exists in memory only, and wait until the informer shows it."""
    metadata = {
        field: value for field, value in claim.manifest["metadata"].items() if field not in ("name", "uid")
    }
    manifest: Manifest = {**claim.manifest, "metadata": metadata}
    refused = ""
    for attempt in range(ATTEMPTS):
        source = f"{claim.uid}/{client.clock()}/{attempt}"
        try:
            admission = client.server.create_all([manifest], namespace=claim.namespace, source=source)
        except StatusError as refusal:
            refused = str(refusal)
            break
        outcome = yield Write(admission.changes)
        if not isinstance(outcome, Refused):
            return (yield from _shown(client, admission.objects[0].key))
        refused = outcome.message
        if outcome.reason != "AlreadyExists":
            break
    return error(f"create claim for extended resources {claim.namespace}/: {refused}")


def _shown(client: Client, key: str) -> Steps[ResourceClaim | Status]:
    deadline = client.clock() + LONGEST_POLL
    yield Wait(client.clock())
    while True:
        shown = client.get(RESOURCE_CLAIMS, key)
        if shown is not None:
            return parse_claim(shown)
        if client.clock() >= deadline:
            return error(f'resourceclaims.resource.k8s.io "{key.partition("/")[2]}" not found')
        yield Wait(client.clock() + POLL_PERIOD)


def name_in_status(client: Client, pod: Pod, claim: str, mappings: list[Manifest]) -> None:
    """Write the name of the claim, and its requests for each container, into the pod's status
    (patchPodExtendedResourceClaimStatus)."""
    status = {"requestMappings": mappings, "resourceClaimName": claim}

    def named(manifest: Manifest) -> Manifest:
        return with_status(manifest, extendedResourceClaimStatus=status)

    client.update("pods", pod.key, pod.uid, named)
