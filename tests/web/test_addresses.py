"""Panels and the table of kubectl get: addresses, and the columns of the version."""

import re

import pytest
from django.test import Client

from schedviz.store import Store
from schedviz.web.kubectl.tables import get_table
from simulator.apiserver.lookup import find_resource
from simulator.apiserver.resources import PODS
from simulator.versions.kubernetes_version import V1_34, V1_36, KubernetesVersion
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


@pytest.mark.parametrize(("version", "has_secrets"), [(V1_34, True), (V1_36, False)])
def test_tables_have_the_columns_of_the_version(
    store: Store, client: Client, version: KubernetesVersion, has_secrets: bool
) -> None:
    world = World(store, kubernetes=version.patch)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    world.create(account)
    page = client.get(f"/s/{world.sandbox.name}/objects/serviceaccounts/").content.decode()
    assert ('<th scope="col" lang="en">Secrets</th>' in page) == has_secrets
    accounts = find_resource(world.sandbox, "", "serviceaccounts")
    assert accounts is not None
    assert ("SECRETS" in get_table(world.sandbox, accounts)) == has_secrets
