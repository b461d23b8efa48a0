"""Panels by HTTP: each has an address, of now and of past moments; what is refused; and what is gone."""

import re
from html import unescape

from django.test import Client
from django.urls import resolve

from schedviz.api import write
from schedviz.store import Sandbox, Store
from tests.loop.conftest import node, pod
from tests.loop.world import World

from .asking import HTMX, text

PANELS = {
    "pod", "node", "nodes", "kinds", "objects", "object", "cycle", "leader", "outside", "predict", "share",
    "download", "imported", "pending",
}  # fmt: skip
"""The names of the URLs of all panels that the live page opens."""
STATIC = {"cycle", "share", "download", "imported"}
"""Those that show nothing that changes by itself. A cycle does not change any more; the links of a sandbox
change only in the panel; the others are the same at all times."""


def panels_on(html: str) -> set[str]:
    links = re.findall(r"<a\b[^>]*>", html)
    opening = [each for each in links if re.search(r'\sdata-panel(?=[\s>="])', each)]
    return {unescape(each.partition('href="')[2].partition('"')[0]) for each in opening}


def name_of(path: str) -> str:
    return str(resolve(path.partition("?")[0]).url_name)


def test_every_panel_has_an_address_now_and_at_a_past_moment(client: Client, store: Store) -> None:
    world = World(store)
    try:
        world.create(node("n0", cpu="2"), pod("web", cpu="1"), pod("big", cpu="8"))
        for _ in range(2):
            world.let_time_pass(5)
            world.slice()
        base = f"/s/{world.sandbox.name}/"
        seq = world.sandbox.trace_head()
        # Predict is opened by the clock's buttons and by the command bar. Without scripts a page at a past
        # moment leads to the present lists.
        open_to = {base, f"{base}at/{seq}/", f"{base}predict/", f"{base}at/{seq}/objects/"}
        names = set[str]()
        while open_to:
            path = open_to.pop()
            answer = client.get(path, follow=True)
            assert answer.status_code == 200, path
            html = answer.content.decode()
            if path not in (base, f"{base}at/{seq}/"):
                detail = html.partition('<div id="detail"')[2]
                assert re.match(r'[^>]*>\s*<div[^>]*class="panel', detail), path
                names.add(name_of(path))
            # One of each.
            known = {*names, *map(name_of, open_to), "last-cycle", "moment-last-cycle"}
            of_names = {name_of(each): each for each in panels_on(html)}
            open_to |= {each for name, each in of_names.items() if name not in known}
        assert {name.removeprefix("moment-") for name in names} >= PANELS - {"imported"}
        assert {"moment-kinds", "moment-objects", "moment-object", "moment-pod", "moment-nodes"} <= names
    finally:
        store.delete(world.sandbox.name)


def test_the_list_of_all_objects_says_how_much_the_sandbox_holds(
    client: Client, cluster: str, sandbox: Sandbox
) -> None:
    large = pod("large")
    large["metadata"]["annotations"] = {"a": "x" * 200_000}
    write.create(sandbox, [large])
    shown = text(client.get(f"{cluster}objects/", headers=HTMX).content)
    figures = " ".join(shown.partition('id="stored-size">')[2].partition("</p>")[0].split())
    assert figures == "This sandbox holds 0.4 of 128 MB: objects 0.2, watch log 0.2, archive 0.0."


def test_a_panel_without_a_past_is_that_of_now(client: Client, cluster: str) -> None:
    assert client.get(f"{cluster}at/1/share/", headers=HTMX).headers["Location"] == f"{cluster}share/"
    assert client.get(f"{cluster}at/1/clock/", headers=HTMX).status_code == 404


def test_a_refused_act_answers_only_why_and_a_page_without_scripts_keeps_what_was_typed(
    client: Client, cluster: str
) -> None:
    answer = client.post(f"{cluster}nodes/node-1/taint/", {"taint": "a=<b>"}, headers=HTMX)
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (200, "#refused")
    assert "panel" not in text(answer.content)
    assert b"<b>" not in answer.content
    whole = client.post(f"{cluster}nodes/node-1/taint/", {"taint": "a=<b>"})
    assert whole.status_code == 422
    assert re.search(r'name="taint"[^>]*value="a=<b>"', text(whole.content))
    assert 'role="alert"' in text(whole.content).partition('id="node-panel"')[2].partition("<form")[0]


def test_the_panel_of_what_is_gone_says_so_until_it_is_there_again(
    client: Client, cluster: str, sandbox: Sandbox
) -> None:
    for path in ("nodes/later/", "objects/configmaps/default/later/", "pods/default/later/", "cycles/9/"):
        whole = client.get(f"{cluster}{path}")
        assert whole.status_code == 404
        assert re.search("There is no|no longer stored", text(whole.content))
        assert 'id="s-queue"' in text(whole.content)
    assert "There is no" in text(client.get(f"{cluster}nodes/later/", headers=HTMX).content)
    write.create(sandbox, [node("later", cpu="1")])
    assert "There is no" not in text(client.get(f"{cluster}nodes/later/", headers=HTMX).content)


def test_the_report_of_a_drain_is_a_part_of_its_own(client: Client, cluster: str) -> None:
    """The panel is loaded again when something changes; the report stays."""
    path = f"{cluster}nodes/node-1/"
    drained = text(client.post(f"{path}drain/", headers=HTMX).content)
    assert "The node is drained." in drained
    assert '<div id="outcome" data-kept="new">' in drained
    followed = text(client.get(path, headers=HTMX).content)
    assert "The node is drained." not in followed
    assert '<div id="outcome" data-kept="">' in followed
    # The next act takes its place.
    assert '<div id="outcome" data-kept="new">' in text(client.post(f"{path}uncordon/", headers=HTMX).content)


def test_a_panel_has_the_output_of_kubectl_where_it_is_unfolded(client: Client, cluster: str) -> None:
    path = f"{cluster}nodes/node-1/"
    output, command = "System Info:", "kubectl describe node node-1"
    folded = text(client.get(path, headers=HTMX).content)
    assert command in folded
    assert output not in folded
    assert "creationTimestamp" not in folded
    assert "creationTimestamp" in text(client.get(f"{path}?unfolded=panel-yaml", headers=HTMX).content)
    assert output in text(client.get(f"{path}?unfolded=node-printed-1", headers=HTMX).content)
    unfolded = {"unfolded": "node-printed-1"}
    assert output in text(client.post(f"{path}cordon/", unfolded, headers=HTMX).content)
    assert output in text(client.get(path).content)  # without scripts nothing more is asked for
