"""The panel of a node."""

import msgspec

from schedviz.store.past import Readable
from schedviz.web.devices.devices import PoolView, pools_of_node
from schedviz.web.kubectl import lines
from schedviz.web.kubectl.describe.nodes import describe_node
from schedviz.web.kubectl.folded import IsUnfolded, folded_output, folded_yaml
from schedviz.web.log.about import lines_linking_to_node
from schedviz.web.log.sentences import LogLine
from schedviz.web.nodes import cards as nodes
from schedviz.web.nodes.cards import Card, Meter
from schedviz.web.picture import load
from schedviz.web.picture.picture import NODES, PODS, Picture
from schedviz.web.picture.records import NO_LOAD
from schedviz.web.reasons.conditions import ConditionView, conditions
from simulator.apiserver import resources as kinds
from simulator.objects.addresses import internal_addresses
from simulator.objects.metadata import labels_of
from simulator.objects.node_status import is_broken, pressures
from simulator.objects.status import status_of


class NodeDetail(msgspec.Struct, frozen=True):
    card: Card
    meters: list[Meter]
    """The meters of all resources. The card has those of requested resources."""
    pools: list[PoolView]
    """The pools of devices."""
    zone: str
    addresses: str
    labels: dict[str, str]
    conditions: list[ConditionView]
    taints: tuple[str, ...]
    broken: bool
    short_of_memory: bool
    """Whether the node is short of memory. ``broken`` and this are read from the node's annotations. The
    conditions follow from these."""
    log: list[LogLine]
    yaml: str | None
    shell: list[lines.Shell]
    printed: list[lines.Output]
    """``kubectl describe``."""


def node_detail(
    sandbox: Readable, name: str, base: str, is_unfolded: IsUnfolded = lambda _: True
) -> NodeDetail | None:
    """Return the panel of a node; None if it does not exist."""
    manifest = sandbox.get(NODES, name)
    if manifest is None:
        return None
    picture = Picture()
    picture.object(NODES, manifest)
    for pod in sandbox.speaking_of(PODS, name):
        if name in (pod["spec"].get("nodeName"), status_of(pod).get("nominatedNodeName")):
            picture.object(PODS, pod)
    node = picture.nodes[name]
    return NodeDetail(
        card=nodes.card(picture, load.ranks(sandbox), name),
        meters=nodes.meters(node, picture.loads.get(name, NO_LOAD)),
        pools=pools_of_node(sandbox, manifest),
        zone=node.zone,
        addresses=", ".join(internal_addresses(manifest)),
        labels=labels_of(manifest),
        conditions=conditions(manifest),
        taints=node.taints,
        broken=is_broken(manifest),
        short_of_memory="memory" in pressures(manifest),
        log=lines_linking_to_node(base, name, sandbox.about_node(name)),
        yaml=folded_yaml(manifest, is_unfolded),
        shell=lines.of_node(
            name,
            cordoned=node.unschedulable,
            failed=is_broken(manifest),
            taints=node.taints,
        ),
        printed=[
            folded_output(
                "node-printed-1",
                lines.object_command("describe", kinds.NODES, name),
                lambda: describe_node(sandbox, manifest, sandbox.now()),
                is_unfolded,
            )
        ],
    )
