"""The devices of a node on its card: each has a device slot, which is replaced alone."""

from schedviz.web.nodes.board import NodesPanel
from schedviz.web.nodes.device_slots import POOLS_AT_MOST, SLOTS_AT_MOST, DeviceSlot, FreeDevices, pool_rows
from schedviz.web.picture.picture import NODES, PODS, Picture
from schedviz.web.picture.priority import Ranks
from simulator.api import Manifest, WatchEvent
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from tests.simulator.devices import DRIVER, resource_claim, resource_slice

from .samples import node, pod

RANKS = Ranks((1000,))


def allocated(name: str, *devices: str, pods: tuple[str, ...] = ()) -> Manifest:
    """A claim that has devices of n1."""
    results = [{"request": "gpus", "driver": DRIVER, "pool": "n1", "device": each} for each in devices]
    reserved = [{"resource": "pods", "name": each, "uid": each} for each in pods]
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": reserved}
    claim = resource_claim(name)
    return {**claim, "metadata": {"name": name, "namespace": "default"}, "status": status}


def picture(devices: int = 3) -> Picture:
    made = Picture()
    made.object(NODES, node("n1"))
    made.object(NODES, node("n2"))
    made.object(RESOURCE_SLICES, resource_slice("n1", devices))
    return made


def slots(made: Picture) -> list[tuple[str, str, str]]:
    [row], more = pool_rows(made, RANKS, made.nodes["n1"])
    assert more is None
    found = [slot for slot in row.slots.values() if isinstance(slot, DeviceSlot)]
    [count] = [each for each in row.slots.values() if isinstance(each, FreeDevices)]
    assert count.free == sum(slot.state == "free" for slot in found)
    return [(slot.short, slot.state, slot.words) for slot in found]


def test_a_slot_says_who_has_the_device() -> None:
    made = picture()
    made.object(RESOURCE_CLAIMS, allocated("shared", "gpu-0", pods=("a", "b")))
    made.object(RESOURCE_CLAIMS, allocated("idle", "gpu-2"))
    assert slots(made) == [
        ("0", "used", "gpu-0: used by a, b (claim shared)"),
        ("1", "free", "gpu-1: free"),
        ("2", "kept", "gpu-2: allocated to claim idle, which no pod uses"),
    ]
    assert pool_rows(made, RANKS, made.nodes["n2"]) == ([], None)


def test_a_device_is_free_again_when_its_claim_is_deallocated_or_deleted() -> None:
    made = picture(2)
    claim = allocated("one", "gpu-0", pods=("a",))
    made.object(RESOURCE_CLAIMS, claim)
    made.object(RESOURCE_CLAIMS, allocated("two", "gpu-1", pods=("b",)))
    made.object(RESOURCE_CLAIMS, {**claim, "status": {}})
    made.watch_event(WatchEvent("DELETED", RESOURCE_CLAIMS, "default/two", claim, 3))
    assert [state for _, state, _ in slots(made)] == ["free", "free"]


def test_admin_access_does_not_take_a_device() -> None:
    made = picture(1)
    claim = allocated("monitor", "gpu-0", pods=("a",))
    claim["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    made.object(RESOURCE_CLAIMS, claim)
    assert [state for _, state, _ in slots(made)] == ["free"]


def test_a_pool_of_many_devices_has_a_meter() -> None:
    made = picture(SLOTS_AT_MOST + 1)
    made.object(RESOURCE_CLAIMS, allocated("one", "gpu-0", pods=("a",)))
    [row], _ = pool_rows(made, RANKS, made.nodes["n1"])
    assert row.meter
    assert (row.meter.requested, row.meter.allocatable, row.meter.free) == ("1", "17", "16")
    assert not row.slots


def test_further_pools_are_counted() -> None:
    made = picture()
    for number in range(POOLS_AT_MOST + 1):
        pool = {"name": f"pool-{number}", "generation": 1, "resourceSliceCount": 1}
        shared = resource_slice("n1", 1, pool=pool, nodeName="", allNodes=True)
        shared["metadata"]["name"] = f"shared-{number}"
        made.object(RESOURCE_SLICES, shared)
    rows, more = pool_rows(made, RANKS, made.nodes["n1"])
    assert (len(rows), more and more.more) == (POOLS_AT_MOST, 2)


def test_a_frame_has_only_the_slot_that_changed() -> None:
    made = picture(SLOTS_AT_MOST)
    made.object(PODS, pod("a", priority=1000))
    panel = NodesPanel("/s/x/")
    panel.draw(made, RANKS, set(made.nodes))
    made.object(RESOURCE_CLAIMS, allocated("mine", "gpu-7", pods=("a",)))
    parts = panel.draw(made, RANKS, set())
    [html] = parts.values()
    assert html.count('class="slot') == 1
    assert "gpu-7: used by a (claim mine)" in html
    assert f"used r{RANKS.rank(1000)}" in html
    assert panel.draw(made, RANKS, set()) == {}


def test_device_slots_are_removed_with_their_slice() -> None:
    made = picture()
    panel = NodesPanel("/s/x/")
    panel.draw(made, RANKS, set(made.nodes))
    made.watch_event(WatchEvent("DELETED", RESOURCE_SLICES, "n1-gpus", {}, 5))
    panel.draw(made, RANKS, set())
    assert "gpu-0" not in "".join(panel.whole().values())
