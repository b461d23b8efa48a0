"""The panel of all pending pods: one row for each cause, its remedy, and what it says at its bounds."""

import re
from typing import Any

from django.test import Client
from django.utils import translation
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.store import Sandbox, Store
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.records import pod_record
from schedviz.web.queue import pending
from schedviz.web.queue.pending import PendingView, present_pending
from schedviz.web.reasons import remedies
from schedviz.web.reasons.plugin_reasons import REASONS
from simulator.api import SECOND
from simulator.trace import QueuePlace
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.web.asking import HTMX, text
from tests.web.samples import START, lane

CPU = "0/60 nodes are available: 1 node(s) had untolerated taint {a: b}, 59 Insufficient cpu. preemption: x"


def shown(
    *entries: QueuePlace, owners: dict[str, str] | None = None, chosen: str = "", **more: Any
) -> PendingView:
    picture = Picture()
    picture.queue_places = {entry.pod: entry for entry in entries}
    for entry in entries:
        manifest = pod(entry.pod.partition("/")[2], **more)
        manifest["metadata"] |= {"uid": entry.uid, "namespace": "default"}
        if owner := (owners or {}).get(entry.pod):
            manifest["metadata"]["ownerReferences"] = [{"uid": owner, "controller": True}]
        picture.pods[entry.pod] = replace(pod_record(manifest), created=entry.since)
    return present_pending(picture, START + 90 * SECOND, chosen)


def waiting(name: str, message: str, **more: Any) -> QueuePlace:
    return lane(name, "unschedulable", message=message, plugins=["NodeResourcesFit"], **more)


def test_pods_with_the_same_deciding_reason_are_one_row() -> None:
    entries = [waiting(f"web-{number}", CPU, retry_at=START + 150 * SECOND) for number in range(14)]
    claims = "0/60 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    view = shown(
        *entries,
        waiting("db-0", claims),
        waiting("db-1", claims),
        lane("next", "activeQ", priority=5),
        lane("later", "activeQ"),
        owners={entry.pod: f"owner-{number % 3}" for number, entry in enumerate(entries)},
    )
    assert view.count == 18
    web, db, turn = view.causes
    assert (web.deciding, web.pods) == ("59 have too little cpu", "14 pods of 3 owners")
    assert (web.nodes, web.also, web.lanes) == (60, "1 is tainted {a: b}", "unschedulable")
    assert "requests cpu ends" in web.remedy
    assert web.age == "1 min 30 s"
    assert web.retry == f'<span data-until="{START + 150 * SECOND}" data-exact>1 min 0 s</span>'
    assert (db.pods, db.remedy) == ("2 pods", "Its claim is bound to a volume.")
    assert turn.deciding == "wait for their turn in activeQ"
    assert [each.label for each in turn.listed] == ["next", "later"]
    assert view.first
    assert view.first.label == "next"
    assert view.tries == 18


def test_pods_that_ask_for_a_zone_are_a_row_of_their_own_which_names_it() -> None:
    zone = "topology.kubernetes.io/zone"
    terms = [{"matchExpressions": [{"key": zone, "operator": "In", "values": ["c", "b"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    entries = [waiting("a", CPU), waiting("b", CPU)]
    (row,) = shown(*entries, nodeSelector={zone: "b"}).causes
    assert (row.deciding, row.count) == ("59 have too little cpu in b", 2)
    (either,) = shown(*entries, affinity={"nodeAffinity": required}).causes
    assert either.deciding == "59 have too little cpu in b, c"
    anywhere = {"nodeSelectorTerms": [*terms, {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": anywhere}}
    assert shown(*entries, affinity=affinity).causes[0].deciding == "59 have too little cpu"
    assert len({row.id, either.id}) == 2
    elsewhere = "4 node(s) didn't match Pod's node affinity/selector"
    message = f"0/6 nodes are available: 2 Insufficient cpu, {elsewhere}."
    (row,) = shown(waiting("a", message), nodeSelector={zone: "b"}).causes
    assert row.deciding == "2 have too little cpu in b"
    assert row.also == "4 do not match its affinity or selector"


def test_pods_of_an_outside_scheduler_are_grouped_by_what_it_says() -> None:
    """So it is in a mirror, where all pods wait for the scheduler of the cluster."""
    view = shown(
        lane("a", "outside", scheduler="theirs", message=CPU),
        lane("b", "outside", scheduler="theirs", message=CPU),
        lane("later", "outside", scheduler="theirs"),
        lane("next", "outside", scheduler="theirs", priority=7),
        lane("preempts", "outside", scheduler="theirs", message=CPU, nominated_node="n1"),
        lane("gate", "gated", gate="SchedulingGates"),
    )
    rows = {row.deciding: [each.label for each in row.listed] for row in view.causes}
    assert rows["59 have too little cpu"] == ["a", "b"]
    assert rows["wait for the scheduler theirs"] == ["next", "later"]
    assert rows["nominated to n1"] == ["preempts"]
    assert view.first
    assert view.first.label == "next"
    assert view.outside


def test_a_number_that_is_not_that_of_all_pods_says_so() -> None:
    fewer = "0/58 nodes are available: 1 node(s) had untolerated taint {a: b}, 57 Insufficient cpu."
    row = shown(waiting("a", CPU), waiting("b", fewer)).causes[0]
    assert (row.deciding, row.nodes, row.count) == ("at most 59 have too little cpu", 0, 2)


def test_claims_of_one_kind_are_one_row_that_names_the_first() -> None:
    missing = '0/3 nodes are available: persistentvolumeclaim "data-{}" not found. preemption: x'
    (row,) = shown(*(waiting(f"db-{number}", missing.format(number)) for number in range(5))).causes
    assert row.count == 5
    assert "data-0, data-1, data-2 and 2 more" in row.deciding
    assert row.remedy == "The object that is named is created."


def test_each_lane_and_gate_has_its_cause_and_its_remedy() -> None:
    view = shown(
        lane("gate", "gated", gate="SchedulingGates"),
        lane("plugin", "gated", gate="Gang"),
        lane("victims", "gated", gate="DefaultPreemption", nominated_node="n1"),
        lane("failed", "backoffQ", message="running Filter plugin: x", backoff_until=START + SECOND),
        lane("again", "backoffQ", message=CPU, plugins=["NodeResourcesFit"], backoff_until=START + SECOND),
        lane("permit", "waiting", plugins=["Gang"]),
        lane("guest", "outside", scheduler="mine"),
        lane("flying", "inFlight"),
        schedulingGates=[{"name": "example.com/quota"}],
    )
    assert {row.deciding: row.remedy for row in view.causes} == {
        "scheduling gates: example.com/quota": "The scheduling gates are removed.",
        "gated by Gang": "The plugin lets it into activeQ.",
        "nominated to n1": "It is tried again after its victims there have ended.",
        "The last attempt ended with an error.": "It is tried again after its backoff.",
        "59 have too little cpu": (
            "A pod there that requests cpu ends, a node with enough is added, or less is requested."
        ),
        "wait on Permit: Gang": "The plugin approves it, before its time is over.",
        "wait for the scheduler mine": "That scheduler binds it.",
        "being scheduled": "Its scheduling cycle ends.",
    }
    assert view.causes[-1].deciding == "being scheduled"
    assert view.tries == 2


def test_rows_and_their_pods_are_bounded_and_the_rest_is_counted() -> None:
    many = pending.CAUSES_AT_MOST + 3
    view = shown(
        *(waiting(f"p{number}", f"0/1 nodes are available: 1 of ours {number}.") for number in range(many))
    )
    assert (len(view.causes), view.more_causes, view.more_pods) == (pending.CAUSES_AT_MOST, 3, 3)
    entries = [waiting(f"web-{number:04}", CPU) for number in range(pending.PODS_OF_ONE_AT_MOST + 7)]
    (row,) = shown(*entries).causes
    assert (len(row.listed), row.more) == (pending.PODS_AT_MOST, len(entries) - pending.PODS_AT_MOST)
    (alone,) = shown(*entries, waiting("other", "0/1 nodes are available: 1 x."), chosen=row.id).causes
    assert (len(alone.listed), alone.more) == (pending.PODS_OF_ONE_AT_MOST, 7)
    assert shown(*entries, chosen="c0").causes == []


def test_each_reason_of_the_plugins_has_a_remedy_in_both_languages() -> None:
    counted = [each for each in REASONS if each.counted]
    assert len(counted) > 20
    assert [each.pattern for each in counted if not each.remedy] == []
    texts = {each.remedy for each in REASONS} - {""}
    with translation.override("zh-hans"):
        assert {text for text in texts if gettext(text) == text} == set()
    found = remedies.remedy("unschedulable", "node(s) had untolerated taint {a: b}", ["X"])
    assert found == "The taint {a: b} is removed, the pod tolerates it, or a node without it is added."
    assert (
        remedies.remedy("unschedulable", "of our own", ["X"])
        == "A change for which the queueing hints of X wait."
    )


def test_the_page_lists_them_now_and_at_a_past_moment_and_tries_each(client: Client, store: Store) -> None:
    world = World(store)
    try:
        world.create(node("n0", cpu="2"), pod("big", cpu="8"), pod("large", cpu="9"))
        world.slice()
        world.create(node("n1", cpu="2"))
        world.slice()
        base, seq = f"/s/{world.sandbox.name}/", world.sandbox.trace_head()
        page = text(client.get(f"{base}pending/").content)
        assert 'id="s-queue"' in page
        panel = text(client.get(f"{base}pending/", headers=HTMX).content)
        assert 'id="pending-panel"' in page
        assert "1 has too little cpu" in panel
        assert "2 pods" in panel
        assert 'id="try-each"' in panel
        world.delete("pods", "default/big")
        world.slice()
        after = text(client.get(f"{base}pending/", headers=HTMX).content)
        assert "1 pod" in after
        assert "big" not in after
        past = text(client.get(f"{base}at/{seq}/pending/", headers=HTMX).content)
        assert "2 pods" in past
        assert 'id="try-each"' not in past
        home = text(client.get("/").content)
        assert re.search(rf'href="{base}pending/"[^>]*>\s*1 pending', home)
        client.post(f"{base}clock/", {"do": "until", "until": "tried"}, headers=HTMX)
        assert world.sandbox.clock().until == "tried"
    finally:
        store.delete(world.sandbox.name)


def test_a_cluster_without_pending_pods_says_so(client: Client, sandbox: Sandbox, cluster: str) -> None:
    assert "No pod is pending." in text(client.get(f"{cluster}pending/", headers=HTMX).content)
    assert f'href="{cluster}pending/"' in text(client.get(cluster).content)
    pause(sandbox)
    write.create(sandbox, [pod("new")])
    found = text(client.get(f"{cluster}pending/", headers=HTMX).content)
    assert "not queued yet" in found
