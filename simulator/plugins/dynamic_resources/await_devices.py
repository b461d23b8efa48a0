"""The wait of PreBind for the binding conditions of allocated devices (PreBind and isPodReadyForBinding in
dynamicresources.go)."""

from collections.abc import Iterable
from typing import Final

from simulator.api import SECOND, Manifest, Micros
from simulator.framework.handle import Client
from simulator.framework.status import PluginError, Status, error
from simulator.kernel.requests import Steps, Wait
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.binding_conditions import (
    BindingFailed,
    has_binding_conditions,
    is_overdue,
    is_ready,
)
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from simulator.trace import DevicesAwaited

CHECK_PERIOD: Final[Micros] = 5 * SECOND


def await_devices(
    client: Client, pod: Pod, node_name: str, keys: Iterable[str], *, timeout: Micros, cycle: int
) -> Steps[Status | None]:
    """Wait until the devices of these claims, which are allocated, are ready. Returns an Error if one of them
    fails, or takes longer than ``timeout``."""
    claims = {key: client.get(RESOURCE_CLAIMS, key) for key in keys}
    awaited = [key for key, claim in claims.items() if claim is not None and has_binding_conditions(claim)]
    if not awaited:
        return None
    client.emit(DevicesAwaited(t=client.clock(), cycle=cycle, pod=pod.key, node=node_name, claims=awaited))
    deadline = client.clock() + timeout
    while True:
        try:
            if all(_is_ready(client, key, timeout) for key in awaited):
                return None
        except (BindingFailed, PluginError) as fault:
            return error(str(fault))
        if client.clock() >= deadline:
            return error("device binding timeout")
        yield Wait(min(client.clock() + CHECK_PERIOD, deadline))


def _is_ready(client: Client, key: str, timeout: Micros) -> bool:
    """Return whether the devices of a claim are ready. Raises BindingFailed, or PluginError if it is too late
    for them."""
    claim: Manifest | None = client.get(RESOURCE_CLAIMS, key)
    name = key.partition("/")[2]
    if claim is None:
        raise PluginError(f'could not find ResourceClaim "{key}"')
    if (claim.get("status") or {}).get("allocation") is None:
        return False
    if is_ready(claim):
        return True
    if is_overdue(claim, timeout, client.clock()):
        raise PluginError(f"claim {name} binding timeout")
    return False
