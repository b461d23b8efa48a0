"""The panels of pods and nodes, and the table of kubectl get, show addresses."""

import re

from django.test import Client

from schedviz.store import Store
from schedviz.web.kubectl.tables import get_table
from simulator.apiserver.resources import PODS
from tests.loop.conftest import node, pod
from tests.loop.world import World


def test_addresses_are_in_the_panels_and_in_the_wide_table(store: Store, client: Client) -> None:
    world = World(store)
    world.create(node("n1"), pod("web"))
    world.slice()
    world.let_time_pass(5)
    world.slice()
    panels = {
        address: client.get(f"/s/{world.sandbox.name}/{address}/").content.decode()
        for address in ("pods/default/web", "nodes/n1")
    }
    assert '<span lang="en">IP</span> 10.128.0.2' in panels["pods/default/web"]
    assert re.search(r"^IP: +10\.128\.0\.2$", panels["pods/default/web"], re.MULTILINE), "kubectl describe"
    assert "<small>172.18.0.2</small>" in panels["nodes/n1"]
    assert re.search(r"InternalIP: +172\.18\.0\.2$", panels["nodes/n1"], re.MULTILINE), "kubectl describe"
    [_, row] = get_table(world.sandbox, PODS, wide=True).splitlines()
    assert "10.128.0.2" in row.split()
