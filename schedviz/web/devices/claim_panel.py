"""The panel of a ResourceClaim, and of a ResourceClaimTemplate: what is requested, what is allocated, and
who uses it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from django.utils.translation import gettext, ngettext

from schedviz.store.past import Readable
from schedviz.web.devices.devices import amounts_text, awaited_conditions
from schedviz.web.manifests import terms
from schedviz.web.manifests.paths import get
from schedviz.web.picture.device_use import pods_of_claim
from schedviz.web.picture.picture import PODS
from simulator.api import Manifest
from simulator.apiserver.kinds.devices.claims import claim_state
from simulator.controllers.resource_claim import POD_CLAIM_NAME, TEMPLATES
from simulator.objects.metadata import (
    annotations_of,
    is_terminating,
    key_of,
    name_of,
    namespace_of,
    object_key,
    uid_of,
)
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.status import FINISHED_PHASES, status_of
from simulator.plugins.dynamic_resources.amounts import parse_amounts
from simulator.plugins.dynamic_resources.binding_conditions import conditions_of_device
from simulator.plugins.dynamic_resources.device_selectors import ClaimError
from simulator.plugins.dynamic_resources.pod_claims import claim_name
from simulator.plugins.dynamic_resources.resource_claim import (
    RESOURCE_CLAIMS,
    ClaimRequest,
    DeviceConstraint,
    DeviceRequest,
    parse_claim,
)

PODS_AT_MOST: Final = 50
"""Maximum number of pods of each kind that the panel lists. A claim can be reserved for 256."""


class AlternativeView(msgspec.Struct, frozen=True):
    """A requested set of devices: ``exactly``, or one entry of ``firstAvailable``."""

    name: str
    """The name of the entry; "" for ``exactly``."""
    amount: str
    device_class: str
    admin_access: bool
    selectors: list[str]
    """The CEL expressions."""
    tolerations: list[str]
    capacity: str
    """The requested capacity of each device."""


class RequestView(msgspec.Struct, frozen=True):
    name: str
    alternatives: list[AlternativeView]


class DeviceCondition(msgspec.Struct, frozen=True):
    type: str
    status: str
    reason: str
    message: str


class AllocatedView(msgspec.Struct, frozen=True):
    request: str
    device: str
    pool: str
    driver: str
    admin_access: bool
    consumed: str
    """The consumed capacity of a shared device."""
    tolerations: list[str]
    """The taints that the claim tolerates on the device."""
    conditions: list[DeviceCondition]
    """The conditions that the driver has reported."""
    awaited: list[str]
    """The binding conditions that are not true yet."""
    failed: list[str]
    """The binding failure conditions that are true."""


class ClaimPanel(msgspec.Struct, frozen=True):
    state: str
    """The state as kubectl prints it; "" for a template."""
    words: str
    """The meaning of the state."""
    template: str
    """The key of the template from which the claim was made; "" if it was not."""
    owner: str
    """The key of the pod for which it was made."""
    requests: list[RequestView]
    constraints: list[str]
    node: str
    """The node on which the claim can be used; "" if there is no such one node."""
    nodes: str
    """The node selector of the allocation, where it does not name one node."""
    devices: list[AllocatedView]
    users: list[str]
    """The keys of the first pods for which it is reserved."""
    more_users: int
    waiting: list[str]
    """The keys of further pods that name the claim."""


def claim_panel(sandbox: Readable, resource: str, manifest: Manifest) -> ClaimPanel | None:
    """Return the panel of a claim; None for another kind."""
    if resource == TEMPLATES:
        inner = {**manifest, "spec": manifest["spec"].get("spec") or {}}
        return _panel(inner, uses=template_users(sandbox, manifest))
    if resource != RESOURCE_CLAIMS:
        return None
    owner, template = _origin(sandbox, manifest)
    users = pods_of_claim(manifest)
    waiting = [pod for pod in _naming(sandbox, manifest) if pod not in users]
    return msgspec.structs.replace(
        _panel(manifest, uses=users),
        state=claim_state(manifest),
        words=_state_words(manifest, len(users)),
        owner=owner,
        template=template,
        waiting=waiting[:PODS_AT_MOST],
    )


def _panel(manifest: Manifest, uses: tuple[str, ...]) -> ClaimPanel:
    claim = parse_claim(manifest)
    node, nodes = _where(claim.allocation or {})
    return ClaimPanel(
        state="",
        words="",
        template="",
        owner="",
        requests=[RequestView(each.name, [*_alternatives(each)]) for each in claim.requests],
        constraints=[_constraint(each) for each in claim.constraints],
        node=node,
        nodes=nodes,
        devices=[_device(manifest, each) for each in get(claim.allocation, ("devices", "results")) or ()],
        users=[*uses[:PODS_AT_MOST]],
        more_users=max(0, len(uses) - PODS_AT_MOST),
        waiting=[],
    )


def _state_words(manifest: Manifest, users: int) -> str:
    if is_terminating(manifest):
        return gettext("It is being deleted. Its devices are released when no pod uses it any more.")
    if status_of(manifest).get("allocation") is None:
        return gettext(
            "No devices are allocated. The scheduler allocates them when it schedules a pod with this claim."
        )
    if not users:
        return gettext("It keeps its devices, and no pod uses it.")
    return ngettext("%(n)s pod uses it.", "%(n)s pods use it.", users) % {"n": users}


def _alternatives(request: ClaimRequest) -> Iterator[AlternativeView]:
    for each in request.alternatives:
        yield AlternativeView(
            name=each.name if request.first_available else "",
            amount=_amount(each),
            device_class=each.device_class,
            admin_access=each.admin_access,
            selectors=[expression or "" for expression in each.selectors],
            tolerations=[_toleration(*found) for found in each.tolerations],
            capacity=amounts_text(each.capacity or ()),
        )


def _amount(request: DeviceRequest) -> str:
    if request.mode == "All":
        return gettext("all devices")
    return ngettext("%(n)s device", "%(n)s devices", request.number) % {"n": request.number}


def _constraint(constraint: DeviceConstraint) -> str:
    requests = ", ".join(sorted(constraint.requests)) or gettext("all requests")
    if constraint.match_attribute:
        text = gettext("matchAttribute: the devices of %(requests)s have the same %(attribute)s")
        return text % {"requests": requests, "attribute": constraint.match_attribute}
    text = gettext("distinctAttribute: each device of %(requests)s has another %(attribute)s")
    return text % {"requests": requests, "attribute": constraint.distinct_attribute}


def _where(allocation: Mapping[str, Any]) -> tuple[str, str]:
    """Return the node on which an allocation can be used, and the selector in words if there are several."""
    found = get(allocation, ("nodeSelector", "nodeSelectorTerms")) or ()
    try:
        words = " | ".join(map(terms.node_term, found))
    except (KeyError, ValueError):
        return "", ""
    name = words.removeprefix("metadata.name=")
    return (name, "") if name != words and len(found) == 1 else ("", words)


def _device(claim: Manifest, result: Manifest) -> AllocatedView:
    conditions = conditions_of_device(claim, result) or {}
    failures = result.get("bindingFailureConditions") or ()
    return AllocatedView(
        request=result["request"],
        device=result["device"],
        pool=result["pool"],
        driver=result["driver"],
        admin_access=bool(result.get("adminAccess")),
        consumed=amounts_text(parse_amounts(result.get("consumedCapacity") or {})),
        tolerations=[
            _toleration(*(each.get(field) or "" for field in ("key", "operator", "value", "effect")))
            for each in result.get("tolerations") or ()
        ],
        conditions=[
            DeviceCondition(name, each["status"], each.get("reason") or "", each.get("message") or "")
            for name, each in conditions.items()
        ],
        awaited=awaited_conditions(claim, result),
        failed=[name for name in failures if (conditions.get(name) or {}).get("status") == "True"],
    )


def _toleration(key: str, operator: str, value: str, effect: str) -> str:
    """Return a toleration as ``kubectl describe`` writes those of pods: ``broken=yes:NoExecute``."""
    text = f"{key}={value}" if operator != "Exists" else key
    return f"{text or '*'}{':' if effect else ''}{effect}"


def _origin(sandbox: Readable, claim: Manifest) -> tuple[str, str]:
    """Return the keys of the pod and of the template for which the claim was made, as far as the pod is
    there."""
    owner = controller_of(claim)
    if owner is None or owner["kind"] != "Pod":
        return "", ""
    key = object_key(namespace_of(claim), owner["name"])
    pod = sandbox.get(PODS, key)
    if pod is None or uid_of(pod) != owner["uid"]:
        return "", ""
    entry = annotations_of(claim).get(POD_CLAIM_NAME)
    template = next(
        (
            each.get("resourceClaimTemplateName") or ""
            for each in pod["spec"].get("resourceClaims") or ()
            if each["name"] == entry
        ),
        "",
    )
    return key, object_key(namespace_of(claim), template) if template else ""


def _naming(sandbox: Readable, claim: Manifest) -> Iterator[str]:
    """Yield the keys of the unfinished pods that name the claim, sorted."""
    for manifest in sorted(sandbox.speaking_of(PODS, name_of(claim)), key=key_of):
        pod = Pod.parse(manifest)
        if pod.namespace != namespace_of(claim) or pod.phase in FINISHED_PHASES:
            continue
        if name_of(claim) in _claim_names(pod, manifest):
            yield pod.key


def _claim_names(pod: Pod, manifest: Manifest) -> Iterator[str]:
    for reference in manifest["spec"].get("resourceClaims") or ():
        try:
            yield claim_name(pod, reference)
        except ClaimError:
            continue


def template_users(sandbox: Readable, template: Manifest) -> tuple[str, ...]:
    """Return the keys of the pods that name the template, sorted."""
    return tuple(
        key_of(pod)
        for pod in sorted(sandbox.speaking_of(PODS, name_of(template)), key=key_of)
        if namespace_of(pod) == namespace_of(template)
        and any(
            each.get("resourceClaimTemplateName") == name_of(template)
            for each in pod["spec"].get("resourceClaims") or ()
        )
    )
