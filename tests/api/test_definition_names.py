"""The names of CustomResourceDefinitions: accepted if no other definition of the group has them."""

import json
from typing import Any

import pytest

from .asking import request
from .widget_definition import DEFINITIONS, definition, version

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
IN_USE = '"{}" is already in use'


def post(url: str, path: str, body: Any) -> tuple[int, Any]:
    return request(url + path, "POST", json.dumps(body))


def named(plural: str, /, group: str = "example.com", **names: Any) -> dict[str, Any]:
    found = definition(version("v1", storage=True))
    found["metadata"] = {"name": f"{plural}.{group}"}
    found["spec"] |= {"group": group, "names": {"plural": plural, "kind": plural.title(), **names}}
    return found


def status_of(url: str, name: str) -> tuple[dict[str, Any], list[tuple[str, str, str, str]]]:
    status = request(f"{url}{DEFINITIONS}/{name}")[1]["status"]
    fields = ("type", "status", "reason", "message")
    return status["acceptedNames"], [tuple(each[field] for field in fields) for each in status["conditions"]]


ACCEPTED = [
    ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
    ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
]
NOT_ESTABLISHED = ("Established", "False", "NotAccepted", "not all names are accepted")


@pytest.mark.parametrize(
    ("names", "accepted", "reason", "message"),
    [
        ({"kind": "Widget"}, {"kind": ""}, "KindConflict", IN_USE.format("Widget")),
        ({"listKind": "Widget"}, {"listKind": None}, "ListKindConflict", IN_USE.format("Widget")),
        ({"singular": "wd"}, {"singular": None}, "SingularConflict", IN_USE.format("wd")),
        (
            {"shortNames": ["new", "wd", "widgets", "wd"]},
            {"shortNames": None},
            "ShortNamesConflict",
            f"[{IN_USE.format('wd')}, {IN_USE.format('widgets')}]",
        ),
    ],
)
def test_names_of_another_definition_are_not_accepted(
    url: str, names: dict[str, Any], accepted: dict[str, Any], reason: str, message: str
) -> None:
    assert post(url, DEFINITIONS, named("widgets", kind="Widget", shortNames=["wd"]))[0] == 201
    assert status_of(url, "widgets.example.com")[1] == ACCEPTED
    wanted = {"plural": "others", "kind": "Others", "singular": "others", "listKind": "OthersList"}
    wanted |= {"categories": ["all"], **names}
    assert post(url, DEFINITIONS, named("others", **wanted))[0] == 201
    shown = {field: value for field, value in {**wanted, **accepted}.items() if value is not None}
    refused = ("NamesAccepted", "False", reason, message)
    assert status_of(url, "others.example.com") == (shown, [refused, NOT_ESTABLISHED])
    assert request(f"{url}/apis/example.com/v1/namespaces/default/others")[0] == 404
    assert request(url + WIDGETS)[0] == 200
    # The names are free after the deletion.
    assert request(f"{url}{DEFINITIONS}/widgets.example.com", "DELETE")[0] == 200
    assert status_of(url, "others.example.com") == (wanted, ACCEPTED)
    assert request(f"{url}/apis/example.com/v1/namespaces/default/others")[0] == 200


def test_changed_names_are_accepted_and_an_established_definition_stays(url: str) -> None:
    post(url, DEFINITIONS, named("widgets", shortNames=["wd"]))
    post(url, DEFINITIONS, named("others", shortNames=["ot"]))
    merge = {"Content-Type": "application/merge-patch+json"}
    path = f"{url}{DEFINITIONS}/others.example.com"
    request(path, "PATCH", json.dumps({"spec": {"names": {"shortNames": ["oth"]}}}), merge)
    names, conditions = status_of(url, "others.example.com")
    assert (names["shortNames"], conditions) == (["oth"], ACCEPTED)
    request(path, "PATCH", json.dumps({"spec": {"names": {"shortNames": ["wd"]}}}), merge)
    names, conditions = status_of(url, "others.example.com")
    refused = ("NamesAccepted", "False", "ShortNamesConflict", IN_USE.format("wd"))
    assert (names["shortNames"], conditions) == (["oth"], [refused, ACCEPTED[1]])
    _, served = request(f"{url}/apis/example.com/v1")
    assert [each["shortNames"] for each in served["resources"]] == [["oth"], ["wd"]]


def test_the_approval_of_a_protected_group_is_a_condition(url: str) -> None:
    found = named("routes", "gateway.networking.k8s.io")
    found["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://example.com/1"}
    assert post(url, DEFINITIONS, found)[0] == 201
    message = "approved in https://example.com/1"
    approved = ("KubernetesAPIApprovalPolicyConformant", "True", "ApprovedAnnotation", message)
    assert status_of(url, found["metadata"]["name"])[1] == [approved, *ACCEPTED]


def test_nothing_is_created_of_a_definition_that_is_being_deleted(url: str) -> None:
    post(url, DEFINITIONS, named("widgets", kind="Widget"))
    widget = {"apiVersion": "example.com/v1", "kind": "Widget"}
    kept = {**widget, "metadata": {"name": "a", "finalizers": ["example.com/keep"]}}
    assert post(url, WIDGETS, kept)[0] == 201
    code, marked = request(f"{url}{DEFINITIONS}/widgets.example.com", "DELETE")
    assert (code, marked["status"]["conditions"][-1]["reason"]) == (200, "InstanceDeletionPending")
    message = "CustomResource deletion is in progress"
    progress = ("Terminating", "True", "InstanceDeletionInProgress", message)
    assert status_of(url, "widgets.example.com")[1] == [*ACCEPTED, progress]
    code, refused = post(url, WIDGETS, {**widget, "metadata": {"name": "b"}})
    assert (code, refused["reason"], refused["message"], refused["details"]) == (
        405,
        "MethodNotAllowed",
        "create not allowed while custom resource definition is terminating",
        {"group": "example.com", "kind": "widgets"},
    )
    merge = {"Content-Type": "application/merge-patch+json"}
    without = json.dumps({"metadata": {"finalizers": None}})
    assert request(f"{url}{WIDGETS}/a", "PATCH", without, merge)[0] == 200
    assert request(f"{url}{DEFINITIONS}/widgets.example.com")[0] == 404
