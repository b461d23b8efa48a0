"""Tables of the kinds that configure the control plane."""

from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_built_in
from tests.apiserver.cluster import Cluster
from tests.apiserver.test_refusals import read
from tests.apiserver.test_table import rows

OBJECTS = read("kept_kinds")["objects"]
GROUP = "admissionregistration.k8s.io"


def found(plural: str, group: str) -> Resource:
    resource = find_built_in(group, plural)
    assert resource
    return resource


def with_spec(name: str, **spec: Any) -> Manifest:
    return {**OBJECTS[name], "spec": {**OBJECTS[name]["spec"], **spec}}


def row(plural: str, group: str, manifest: Manifest, **status: Any) -> dict[str, object]:
    (made,) = Cluster().create([manifest])
    (shown,) = rows(found(plural, group), {**made, "status": status})
    return shown


def conditions(*kinds: str) -> list[Manifest]:
    return [{"type": kind, "status": "True"} for kind in kinds]


def test_policies_and_webhooks() -> None:
    of_params = with_spec("policy", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    assert row("validatingadmissionpolicies", GROUP, of_params) == {
        "Name": "p",
        "Validations": 1,
        "ParamKind": "v1/ConfigMap",
        "Age": "90s",
    }
    bound = with_spec("binding", paramRef={"name": "c", "namespace": "n", "parameterNotFoundAction": "Deny"})
    shown = row("validatingadmissionpolicybindings", GROUP, bound)
    assert (shown["PolicyName"], shown["ParamRef"]) == ("p", "n/c")
    assert row("validatingadmissionpolicybindings", GROUP, OBJECTS["binding"])["ParamRef"] == "<unset>"
    anywhere = with_spec("binding", paramRef={"name": "c", "parameterNotFoundAction": "Deny"})
    assert row("validatingadmissionpolicybindings", GROUP, anywhere)["ParamRef"] == "*/c"
    several = {"matchExpressions": [{"key": "t", "operator": "In", "values": ["x", "y"]}]}
    chosen = with_spec(
        "binding",
        paramRef={"selector": {"matchLabels": {"a": "b"}, **several}, "parameterNotFoundAction": "Deny"},
    )
    assert row("validatingadmissionpolicybindings", GROUP, chosen)["ParamRef"] == (
        "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:t,Operator:In,Values:[x y],},},}"
    )
    assert row("mutatingwebhookconfigurations", GROUP, OBJECTS["mutating"])["Webhooks"] == 1
    assert row("validatingwebhookconfigurations", GROUP, OBJECTS["validating"])["Webhooks"] == 1


@pytest.mark.parametrize(
    ("kinds", "certificate", "state"),
    [
        ((), "", "Pending"),
        (("Approved",), "", "Approved"),
        (("Approved",), "YQ==", "Approved,Issued"),
        (("Denied",), "", "Denied"),
        (("Approved", "Failed"), "", "Approved,Failed"),
    ],
)
def test_requests_for_certificates(kinds: tuple[str, ...], certificate: str, state: str) -> None:
    status = {"conditions": conditions(*kinds), "certificate": certificate}
    request = with_spec("request", expirationSeconds=3600)
    assert row("certificatesigningrequests", "certificates.k8s.io", request, **status) == {
        "Name": "somebody:1",
        "Age": "90s",
        "SignerName": "example",
        "Requestor": "me",
        "RequestedDuration": "60m",
        "Condition": state,
    }


def test_flow_control_and_api_services() -> None:
    flow = "flowcontrol.apiserver.k8s.io"
    dangling = [{"type": "Dangling", "status": "False"}]
    assert row("flowschemas", flow, OBJECTS["flow"], conditions=dangling) == {
        "Name": "f",
        "PriorityLevel": "low",
        "MatchingPrecedence": 20000,
        "DistinguisherMethod": "<none>",
        "Age": "90s",
        "MissingPL": "False",
    }
    assert row("flowschemas", flow, OBJECTS["flow"])["MissingPL"] == "?"
    shown = row("prioritylevelconfigurations", flow, OBJECTS["level"])
    assert [*shown.values()] == ["low", "Limited", 30, 64, 8, 0, "90s"]
    of_services = "apiregistration.k8s.io"
    shown = row("apiservices", of_services, OBJECTS["service"])
    assert (shown["Service"], shown["Available"]) == ("n/s", "Unknown")
    missing = [{"type": "Available", "status": "False", "reason": "ServiceNotFound"}]
    shown = row("apiservices", of_services, OBJECTS["service"], conditions=missing)
    assert shown["Available"] == "False (ServiceNotFound)"
