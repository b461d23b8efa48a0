"""The tile of the nominated node in each step of a preemption, where the nodes are tiles."""

from collections.abc import Sequence

from msgspec.structs import replace

from schedviz.store.past import Readable
from schedviz.web.cycle.play import PlayStep, TileFigures
from schedviz.web.nodes.cards import percent
from schedviz.web.nodes.groups import size
from schedviz.web.picture.picture import NODES, PODS
from schedviz.web.picture.records import Load, NodeRecord, PodRecord, node_record, pod_record
from simulator.objects.status import FINISHED_PHASES


def with_tiles(steps: Sequence[PlayStep], source: Readable) -> Sequence[PlayStep]:
    """Return the steps with the figures of the tile; as they are where the nodes are cards."""
    if not steps or size(source.count(NODES)) != "dense":
        return steps
    manifest = source.get(NODES, steps[0].node)
    if manifest is None:
        return steps
    node = node_record(manifest)
    pods = [
        pod_record(each)
        for each in source.list(PODS).items
        if each["spec"].get("nodeName") == node.name
        and (each.get("status") or {}).get("phase") not in FINISHED_PHASES
    ]
    return [replace(step, tile=_figures(step, node, pods)) for step in steps]


def _figures(step: PlayStep, node: NodeRecord, pods: Sequence[PodRecord]) -> TileFigures:
    away = {each.pod for each in step.pods if each.place != "stays"}
    load = Load()
    for pod in pods:
        if pod.key not in away:
            load.add(pod)
    shares = {
        resource: percent(load.requests[resource], whole)
        for resource, whole in node.allocatable.items()
        if whole
    }
    return TileFigures(max(shares.values(), default=0), shares.get("cpu", 0), shares.get("memory", 0))
