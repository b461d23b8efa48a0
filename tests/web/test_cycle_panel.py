"""The cycle inspector on real attempts: a node that is filtered twice for the pods nominated to it."""

import re

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.store import Sandbox
from simulator.objects.pod import Pod
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt

ANTI = {
    "requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "first"}}}
    ]
}
NEAR = {"podAffinity": ANTI}


@pytest.mark.parametrize(
    ("cpu", "spec", "said"),
    [
        ("1", {}, ["pass", "pass"]),
        ("3", {}, ["fail", ""]),
        ("1", {"affinity": NEAR}, ["pass", "fail"]),
    ],
)
def test_a_node_with_nominated_pods_is_shown_as_two_passes(
    sandbox: Sandbox, cpu: str, spec: dict[str, object], said: list[str]
) -> None:
    """With them there is less room; without them nobody is there to be near to."""
    host = {"kubernetes.io/hostname": "n1"}
    cluster = a_cluster([a_node("n1", "4", labels=host)])
    first = Pod.parse(a_pod("first", "2", labels={"app": "first"}, priority=100))
    made = attempt(cluster, a_pod("web", cpu, priority=1, **spec), nominated={"n1": [first]})
    sandbox.commit([], decisions=[replace(record(made), cycle=1)])
    client = Client(headers={"host": "localhost"})
    html = client.get(f"/s/{sandbox.name}/cycles/1/", headers={"HX-Request": "true"}).content.decode()
    assert "is filtered twice: default/first may get there first, or not." in html
    passes = html.partition('<div class="passes">')[2].partition("</ol>")[0]
    assert re.findall(r'<li(?: class="(\w+)")?>', passes) == said
    assert ("is not run any more" in passes) == (said[1] == "")
