"""Many nodes: the dense grid's data, groups and their sums."""

import json
import re
from typing import Any

from msgspec.structs import replace

from schedviz.store import Clock
from schedviz.web.nodes import filter_query, filter_result, grid, groups, table
from schedviz.web.nodes.cards import summary
from schedviz.web.page.screen import DEFAULT, Look, Screen
from schedviz.web.picture.picture import NODES, PODS, Picture
from schedviz.web.picture.priority import Ranks
from simulator import trace
from simulator.api import WatchEvent

from .samples import NOTHING_FITS, SCHEDULED, START, candidate, node, pod, preempting

CLOCK = Clock(sim=START, wall=0.0)
COUNT = 101


def many() -> Picture:
    picture = Picture()
    for number in range(COUNT):
        picture.object(NODES, node(f"n{number}", zone=f"zone-{number % 2}"))
    return picture


def drawn(screen: Screen, picture: Picture, look: Look = DEFAULT) -> dict[str, str]:
    dirty, picture.dirty_nodes = picture.dirty_nodes, set()
    return {**screen.draw(picture, CLOCK, dirty, [look])[look]}


def data(html: str) -> list[Any]:
    return [json.loads(text) for text in re.findall(r'<pre[^>]*class="cells"[^>]*>(.*?)</pre>', html)]


def test_many_nodes_make_a_grid_and_a_bound_pod_sends_one_chunk_of_it() -> None:
    picture, screen = many(), Screen("/s/x/")
    drawn(screen, picture)
    chunks = data(screen.whole()["nodes"])
    assert sum(len(chunk) for chunk in chunks) == COUNT
    assert max(len(chunk) for chunk in chunks) <= grid.CELLS_PER_CHUNK
    picture.object(PODS, pod("a", node="n8", cpu="3"))
    changed = drawn(screen, picture)
    assert {name for name in changed if name.startswith("nodes")} == {"nodes/g0-0", "nodes/h0"}
    [[cell]] = [[cell for cell in chunk if cell[0] == "n8"] for chunk in data(changed["nodes/g0-0"])]
    assert cell[:7] == ["n8", "", 75, "", 75, 0, 1]
    assert len(changed["nodes/g0-0"]) < 2_500
    for number in range(50):
        picture.watch_event(WatchEvent("DELETED", NODES, f"n{number}", node(f"n{number}"), 9))
    assert drawn(screen, picture)["nodes"].count("<article") == 51


def test_a_cell_has_the_codes_that_a_card_has() -> None:
    picture = Picture()
    taint = {"key": "<gpu>", "value": "a", "effect": "NoSchedule"}
    picture.object(NODES, node("n1", taints=[taint], unschedulable=True))
    picture.object(PODS, pod("low", node="n1", priority=1))
    picture.object(PODS, pod("high", node="n1", priority=9, phase="Pending"))
    picture.object(PODS, pod("going", node="n1", deleted="2027-01-15T08:00:05Z"))
    picture.object(PODS, pod("next", nominated="n1", priority=9))
    cell = grid.cell(picture, Ranks([1, 9]), "n1")
    assert (cell.marks, cell.words, cell.rank, cell.pods) == ("xgtc", "<gpu>=a:NoSchedule", 5, 3)
    blocks = [cell.blocks[place : place + 3] for place in range(0, len(cell.blocks), 3)]
    states = [(grid.STATES[int(block[0], 36) // 7], int(block[0], 36) % 7) for block in blocks]
    assert states == [("starting", 5), ("running", 1), ("terminating", 0), ("nominated", 5)]
    assert {int(block[1:], 36) for block in blocks} == {250}
    assert "<" not in grid.json([cell])
    assert json.loads(grid.json([cell]))[0][9] == cell.words


def test_verdicts_of_all_nodes_are_one_line_of_codes() -> None:
    order = ["n1", "n2", "n3", "n4", "n5"]
    fits = grid.judged(SCHEDULED, order)
    assert fits.codes == "aB!2."
    assert (fits.words["a"], fits.words["!"]) == ("fits, score 40 to 80", "selected")
    assert fits.words["B"] == "untolerated taint {a: b}"
    assert grid.judged(NOTHING_FITS, order).codes == "AB3."
    chosen = grid.judged(preempting(1, "n1", candidate("n1", 1), candidate("n3", 1, pdb=1)), order)
    assert chosen.codes == "!B?2."
    assert grid.judged(replace(SCHEDULED, scores=[], totals=[]), order).words["i"] == "fits"
    assert grid.judged(None, order).codes == "5."


def test_nodes_are_shown_in_groups_with_their_sums() -> None:
    picture, screen = many(), Screen("/s/x/")
    for number in range(COUNT):
        changed = node(f"n{number}", 2, zone=f"zone-{number % 2}")
        changed["metadata"]["labels"] |= {"pool": "spot" if number % 5 == 0 else "fixed", "id": str(number)}
        picture.object(NODES, changed)
    picture.object(PODS, pod("a", node="n0", cpu="2"))
    look = Look("pool")
    html = drawn(screen, picture, look)["nodes"]
    headings = re.findall(r"<b>(.*?)</b> <span>(.*?)</span>", re.sub(r"</?i>", "", html))
    assert headings == [
        ("fixed", "cpu\u00a00\u00a0% ·\u00a0memory\u00a00\u00a0% · 0 pods · 80 nodes"),
        ("spot", "cpu\u00a02\u00a0% ·\u00a0memory\u00a00\u00a0% · 1 pod · 21 nodes"),
    ]
    picture.watch_event(WatchEvent("DELETED", PODS, "default/a", pod("a", node="n0"), 9))
    heading = drawn(screen, picture, look)["nodes/h1"]
    assert "memory\u00a00\u00a0% <i>· 0 pods</i> <i>· 21 nodes</i>" in heading
    offered = [key for key, _, _ in groups.choices(picture, "pool")]
    assert offered == ["", "pool", groups.UNGROUPED]  # not labels that differ on every node
    each = groups.overview(picture, "id").groups
    assert len(each) == groups.GROUPS_AT_MOST + 1
    assert sum(len(group.nodes) for group in each) == COUNT
    assert [group.name for group in groups.overview(picture, groups.UNGROUPED).groups] == ["all nodes"]


def test_the_requested_share_is_of_the_nodes_that_exist() -> None:
    picture = Picture()
    picture.object(PODS, pod("early", node="n1", cpu="1"))  # seen before its node
    for name in ("n1", "n2"):
        picture.object(NODES, node(name))
    picture.object(PODS, pod("late", node="n2", cpu="3"))
    assert summary(picture) == "2 nodes · cpu\u00a050\u00a0% · memory\u00a00\u00a0% requested"
    picture.watch_event(WatchEvent("DELETED", NODES, "n2", node("n2"), 9))  # its pod is still there
    assert summary(picture) == "1 node · cpu\u00a025\u00a0% · memory\u00a00\u00a0% requested"
    picture.watch_event(WatchEvent("DELETED", PODS, "default/late", pod("late", node="n2"), 10))
    picture.object(NODES, node("n1", 11, cpu="2"))
    assert summary(picture) == "1 node · cpu\u00a050\u00a0% · memory\u00a00\u00a0% requested"


def things() -> Picture:
    picture = Picture()
    picture.object(NODES, node("n1"))
    picture.object(NODES, node("n2", unschedulable=True))
    for name, more in {
        "web-1": {"node": "n1", "priority": 1000},
        "web-2": {"priority": 5},
        "old": {"node": "n2", "deleted": "2027-01-15T08:00:05Z"},
    }.items():
        manifest = pod(name, **more)
        manifest["metadata"]["labels"] = {"app": name.partition("-")[0]}
        picture.object(PODS, manifest)
    other = pod("web-3", node="n1")
    other["metadata"]["namespace"] = "team-a"
    picture.object(PODS, other)
    picture.trace_event(1, trace.Bound(START, 1, "default/web-1", "n1"))
    picture.trace_event(2, trace.Bound(START, 2, "default/old", "n2"))
    return picture


def names(picture: Picture, query: str) -> set[str]:
    holds = filter_query.parse_query(query)
    return {thing.name for thing in picture.nodes.values() if holds(picture, thing)} | {
        thing.key.removeprefix("default/") for thing in picture.pods.values() if holds(picture, thing)
    }


def test_the_query_language_of_the_filter() -> None:
    picture = things()
    for query, expected in {
        "WEB": {"web-1", "web-2", "team-a/web-3"},
        "team-a/": {"team-a/web-3"},
        "app=web": {"web-1", "web-2"},
        "app!=web kind:pod": {"old", "team-a/web-3"},
        "priority>=1000": {"web-1"},
        "priority<1000 -is:terminating": {"web-2", "team-a/web-3"},
        "node=n1": {"web-1", "team-a/web-3", "n1"},
        "is:pending": {"web-2"},
        "is:cordoned": {"n2"},
        "kind:node": {"n1", "n2"},
        "web is:running -team-a/": {"web-1"},
    }.items():
        assert names(picture, query) == expected, query


def test_nodes_that_match_the_filter_are_counted_linked_and_stay_bright() -> None:
    picture = things()
    view = filter_result.present_found(picture, "is:running", groups.overview(picture, ""), [])
    assert view.text == "2 pods, 0 nodes"
    assert [(item.path, item.words) for item in view.items] == [
        ("pods/default/web-1/", "running on n1"),
        ("pods/team-a/web-3/", "running on n1"),
    ]
    assert json.loads(view.bright) == {"lines": [1], "nodes": ["n1"], "pods": ["uid-web-1", "uid-web-3"]}
    wrong = filter_result.present_found(picture, "is:tired", groups.EMPTY, [])
    assert wrong.wrong
    assert "is: accepts pending, active" in wrong.text
    assert filter_result.present_found(picture, "", groups.EMPTY, []) == filter_result.NOTHING


def test_in_a_grid_a_node_stays_bright_if_one_of_its_pods_matches() -> None:
    picture = many()
    picture.object(PODS, pod("web", node="n3"))
    view = filter_result.present_found(picture, "web", groups.overview(picture, groups.UNGROUPED), [])
    assert json.loads(view.bright)["cells"] == "3.+97."


def test_the_table_has_every_node_in_the_order_of_a_column() -> None:
    picture = many()
    limited = pod("a", node="n7", cpu="2")
    limited["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "6"}
    picture.object(PODS, limited)
    picture.object(PODS, pod("b", node="n100", cpu="3"))
    most = table.present_table(picture, "-cpu", "", 1)
    assert ([row.name for row in most.rows[:3]], most.pages) == (["n100", "n7", "n0"], 2)
    assert [each.sorted for each in most.headings if each.key == "cpu"] == ["descending"]
    assert [each.link for each in most.headings if each.key in ("name", "cpu")] == ["name", "cpu"]
    last = table.present_table(picture, "name", "", 99)
    assert ([row.name for row in last.rows], last.page) == (["n100"], 2)
    [row] = table.present_table(picture, "nonsense", "node=n7", 1).rows
    assert (row.cpu.requested, row.cpu.limits, row.cpu.free, row.cpu.overcommitted) == ("2", "6", "2", True)
    assert [row.name for row in table.present_table(picture, "", "is:running cpu", 1).rows] == []
    assert [row.name for row in table.present_table(picture, "-name", "is:running", 1).rows] == ["n100", "n7"]
    assert "is: accepts" in table.present_table(picture, "", "is:tired", 1).wrong
