"""The forms of DeviceClasses, ResourceClaims and their templates, and the fields of claims and devices."""

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.forms.base import ManifestForm
from schedviz.web.forms.device_class import DeviceClassForm
from schedviz.web.forms.device_fields import CONSTRAINTS, REQUESTS
from schedviz.web.forms.form_and_yaml import FormAndYaml
from schedviz.web.forms.node import NodeForm
from schedviz.web.forms.notation import shown
from schedviz.web.forms.pod import PodForm
from schedviz.web.forms.resource_claim import ResourceClaimForm, ResourceClaimTemplateForm
from simulator.api import Manifest
from simulator.objects.device_notation import DEVICES
from tests.simulator.devices import claim_template, device_class, resource_claim

from .test_form_and_yaml import posted

LARGE = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'


def changed(kind: type[ManifestForm], sandbox: Sandbox, **fields: str) -> Manifest:
    """The manifest of a new object after these fields were changed."""
    start = kind.start(sandbox)
    both = FormAndYaml(kind, sandbox, start, posted(FormAndYaml(kind, sandbox, start), **fields))
    assert both.valid, [*both.form.errors.items(), *both.problems]
    assert both.manifest
    return both.manifest


def said(sandbox: Sandbox, kind: str, **fields: str) -> str:
    """The page after a form was sent with these fields; "" if the object was created."""
    client = Client(headers={"host": "localhost", "HX-Request": "true"})
    html = client.post(f"/s/{sandbox.name}/new/{kind}/", fields).content.decode()
    return "" if 'id="acted"' in html else html


def test_requests_are_lines() -> None:
    text = f"large: 2 x gpu where {LARGE}\neach/own: all x gpu\neach/any: 1 x gpu adminAccess where a where b"
    found = REQUESTS.read(text)
    assert found == [
        {
            "name": "large",
            "exactly": {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": LARGE}}]},
        },
        {
            "name": "each",
            "firstAvailable": [
                {"name": "own", "deviceClassName": "gpu", "allocationMode": "All"},
                {
                    "name": "any",
                    "deviceClassName": "gpu",
                    "count": 1,
                    "adminAccess": True,
                    "selectors": [{"cel": {"expression": "a"}}, {"cel": {"expression": "b"}}],
                },
            ],
        },
    ]
    assert shown(REQUESTS, found) == text
    # Also with the defaults of the API server.
    found[0]["exactly"] |= {"allocationMode": "ExactCount", "adminAccess": False}
    assert shown(REQUESTS, found) == text
    found[0]["exactly"]["tolerations"] = []
    assert shown(REQUESTS, found) is None


@given(
    st.text(st.sampled_from("abx/:=, \n"), max_size=40),
    st.sampled_from([REQUESTS, CONSTRAINTS]),
)
def test_a_notation_shows_what_it_reads(text: str, notation: object) -> None:
    from django.core.exceptions import ValidationError

    try:
        value = notation.read(text)  # type: ignore[attr-defined]
    except ValidationError:
        return
    if value:
        again = shown(notation, value)  # type: ignore[arg-type]
        assert again is not None
        assert notation.read(again) == value  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpu", "does not have the form NAME: NUMBER x CLASS"),
        ("gpus: two x gpu", "does not have the form NAME: NUMBER x CLASS"),
        ("gpus: 1 x gpu\ngpus: 2 x gpu", "There are two requests with the name gpus."),
    ],
)
def test_a_wrong_request_has_an_error_that_names_it(sandbox: Sandbox, text: str, message: str) -> None:
    assert message in said(sandbox, "resourceclaim", name="a", requests=text)


def test_forms_make_a_class_a_claim_and_a_template(sandbox: Sandbox) -> None:
    assert said(sandbox, "deviceclass", name="gpu") == ""
    claim = changed(ResourceClaimForm, sandbox, constraints="matchAttribute gpu.example.com/numa: gpus")
    assert claim["spec"]["devices"]["constraints"] == [
        {"requests": ["gpus"], "matchAttribute": "gpu.example.com/numa"}
    ]
    assert said(sandbox, "resourceclaim", name="mine", requests="gpus: 2 x gpu") == ""
    assert said(sandbox, "resourceclaimtemplate", name="two", requests="gpus: 2 x gpu") == ""
    template = changed(ResourceClaimTemplateForm, sandbox, requests="gpus: all x gpu")
    [request] = template["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"] == {"deviceClassName": "gpu", "allocationMode": "All"}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("device.driver ==", "compilation failed: ERROR: &lt;input&gt;:1:17: Syntax error"),
        ("device.drivers", "undefined field &#x27;drivers&#x27;"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
    ],
)
def test_a_wrong_expression_is_an_error_of_its_field(sandbox: Sandbox, expression: str, message: str) -> None:
    for kind, field, text in (
        ("deviceclass", "selectors", expression),
        ("resourceclaim", "requests", f"gpus: 1 x gpu where {expression}"),
        ("resourceclaimtemplate", "requests", f"gpus: 1 x gpu where {expression}"),
    ):
        html = said(sandbox, kind, name="a", **{field: text})
        assert message in html, kind
        assert 'class="field wrong' in html
    assert sandbox.names("deviceclasses.resource.k8s.io") == []


def test_a_pod_names_claims_and_templates(sandbox: Sandbox) -> None:
    write.create(sandbox, [device_class(), resource_claim("model"), claim_template("two")])
    made = changed(PodForm, sandbox, claims="gpus=template/two\nclaim/model for main")
    assert made["spec"]["resourceClaims"] == [
        {"name": "gpus", "resourceClaimTemplateName": "two"},
        {"name": "model", "resourceClaimName": "model"},
    ]
    [container] = made["spec"]["containers"]
    assert container["resources"]["claims"] == [{"name": "gpus"}, {"name": "model"}]
    form = PodForm(sandbox, made)
    assert form.show(made)["claims"] == "gpus=template/two\nclaim/model"
    assert "There are: claim/model, template/two." in str(form.fields["claims"].help_text)
    container["resources"]["claims"] = [{"name": "gpus", "request": "one"}, {"name": "model"}]
    assert form.show(made)["claims"] == ""
    assert form.only_yaml == {"claims"}


def test_a_claim_may_be_for_some_containers(sandbox: Sandbox) -> None:
    start = PodForm.start(sandbox)
    start["spec"]["containers"].append({"name": "side", "image": "app:1"})
    both = FormAndYaml(
        PodForm, sandbox, start, posted(FormAndYaml(PodForm, sandbox, start), claims="claim/model for side")
    )
    assert both.manifest
    assert [each.get("resources", {}).get("claims") for each in both.manifest["spec"]["containers"]] == [
        None,
        [{"name": "model"}],
    ]
    assert both.form.show(both.manifest)["claims"] == "claim/model for side"
    assert both.only_in_yaml == 2, "the name and the image of the other container"
    wrong = said(sandbox, "pod", name="a", claims="claim/model for other")
    assert "There is no container other. The containers are main." in wrong
    workload = changed(PodForm, sandbox, workload="Deployment", name="web", claims="claim/model")
    assert workload["spec"]["template"]["spec"]["resourceClaims"] == [
        {"name": "model", "resourceClaimName": "model"}
    ]


def test_a_node_has_devices(sandbox: Sandbox) -> None:
    text = "gpu.example.com: 4 x a100 memory=40Gi"
    made = changed(NodeForm, sandbox, devices=text)
    assert made["metadata"]["annotations"] == {DEVICES: text}
    html = said(sandbox, "node", name="n1", devices="4 x a100")
    assert "must begin with the name of a driver and a colon" in html
    assert 'id="f-devices"' in html


def test_an_existing_class_is_edited_by_its_form(sandbox: Sandbox) -> None:
    write.create(sandbox, [device_class("gpu", "device.driver == 'a'", "true")])
    path = f"/s/{sandbox.name}/edit/deviceclasses.resource.k8s.io/gpu/"
    html = Client(headers={"host": "localhost", "HX-Request": "true"}).get(path).content.decode()
    assert "device.driver == &#x27;a&#x27;\ntrue</textarea>" in html
    manifest = sandbox.get("deviceclasses.resource.k8s.io", "gpu")
    assert manifest
    assert DeviceClassForm(sandbox, manifest, exists=True).fields["name"].widget.attrs["readonly"]
