"""A pod group on the live page: its members are lit together, and its panel is three clicks away."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import write
from schedviz.store import Meta, Store
from simulator.versions.kubernetes_version import V1_36
from tests.simulator.test_pod_groups import GANGS, group

from .conftest import node, pod

pytestmark = pytest.mark.browser


def test_the_members_of_a_group_are_lit_together(screen: Page, store: Store, sandbox_name: str) -> None:
    members = [pod(f"train-{number}", schedulingGroup={"podGroupName": "train"}) for number in range(3)]
    meta = Meta(sandbox_name, kubernetes=V1_36.patch, feature_gates=GANGS)
    sandbox = write.create_sandbox(store, meta, [node("n1", "2"), group("train", 3), *members])
    screen.goto(f"/s/{sandbox_name}/")
    chips = screen.locator("#lane-backoffQ .pod-group")
    expect(chips.locator(".chip")).to_have_count(3)

    chips.locator(".chip a").first.click()
    detail = screen.locator("#detail")
    detail.get_by_role("link", name="PodGroup default/train").click()
    expect(detail).to_contain_text("2 of 3 fit; the group needs 3.")
    expect(detail).to_contain_text(re.compile(r"train-\d lacks 1 cpu on every node\."))

    write.create(sandbox, [node("n2", "2")])
    blocks = screen.locator(".node .pod[data-pod-group='default/train']")
    expect(blocks).to_have_count(3)
    blocks.first.focus()
    expect(screen.locator(".node .pod.lit")).to_have_count(3)
    screen.get_by_role("link", name="+ Pod").focus()
    expect(screen.locator(".lit")).to_have_count(0)
    blocks.last.hover()
    expect(screen.locator(".node .pod.lit")).to_have_count(3)
    store.delete(sandbox_name)
