"""Devices: published by a node, allocated to a claim, and shown as device slots; and why a claim gets
none."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import write
from simulator.objects.device_notation import DEVICES
from tests.simulator.devices import claim_template, device_class

from .conftest import Open, node, pod
from .test_accessibility import Violations

pytestmark = pytest.mark.browser


def test_devices_are_taken_by_the_claims_of_pods(screen: Page, live: Open) -> None:
    violations = Violations(screen)
    with_gpus = node("gpu-1")
    with_gpus["metadata"]["annotations"] = {DEVICES: "gpu.example.com: 3 x a100 memory=40Gi"}
    sandbox = live(with_gpus, node("plain-1"), device_class(), claim_template("pair", 2))
    slots = screen.locator("#nodes .slot")
    expect(slots).to_have_count(3)
    expect(screen.locator("#nodes .slot.free")).to_have_count(3)

    # The form of a pod offers the template, and says which field is wrong.
    screen.keyboard.press("p")
    dialog = screen.locator("dialog[open]")
    dialog.get_by_text("More fields of the pod").click()
    field = dialog.locator("#f-claims")
    expect(field).to_contain_text("There are: template/pair.")
    field.locator("textarea").fill("pair")
    expect(field).to_contain_text("“pair” does not have the form claim/NAME or template/NAME.")
    field.locator("textarea").fill("gpus=template/pair")
    expect(dialog.get_by_label("YAML")).to_have_value(re.compile("resourceClaimTemplateName: pair"))
    dialog.get_by_label("Name", exact=True).fill("train")
    dialog.get_by_role("button", name="Create").click()

    # A device slot says which pod has the device, and links to the claim.
    taken = screen.locator("#nodes .slot.used")
    expect(taken).to_have_count(2)
    expect(taken.first).to_have_accessible_name(
        re.compile(r"^gpu-0: used by train \(claim train-gpus-\w+\)$")
    )
    violations.look("slots", "#nodes")
    taken.first.focus()
    screen.keyboard.press("Enter")
    claim = screen.locator("#object-panel")
    expect(claim).to_contain_text("allocated,reserved")
    expect(claim.get_by_role("link", name="default/train", exact=True).first).to_be_visible()
    violations.look("claim", "#detail")

    # For the next pair there is one device only. The pinned cycle says why this is not enough.
    late = pod("late", resourceClaims=[{"name": "gpus", "resourceClaimTemplateName": "pair"}])
    write.create(sandbox, [late])
    screen.get_by_role("link", name="← back to live").click()
    expect(screen.locator("#cycle")).to_contain_text("late fits no node")
    screen.get_by_role("link", name="Why were the devices not taken?").click()
    reasons = screen.locator(".device-reasons")
    expect(reasons).to_contain_text("needs 2 devices of class gpu, 1 can be taken")
    expect(reasons).to_contain_text("gpu-0, gpu-1: used by train")
    assert violations.found == []
