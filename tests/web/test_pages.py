"""The pages as plain HTTP serves them: without scripts, and what is missing."""

import gzip
import re

import pytest
from django.test import Client

from schedviz.api import write
from schedviz.store import Commit, Meta, Sandbox, Steps, Store
from schedviz.web.parts.parts import digests
from schedviz.web.templatetags.schedviz import breakable, words

from .asking import HTMX, text
from .samples import SCHEDULED


def test_every_page_has_a_strict_content_security_policy(client: Client, cluster: str) -> None:
    for path in ("/", cluster, "/s/none-such/"):
        answer = client.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert not re.search(rb"<script(?![^>]*\ssrc=)|\son[a-z]+=|<style|\sstyle=", answer.content)


def test_the_home_page_makes_an_empty_sandbox_and_deletes_it(
    client: Client, store: Store, sandbox_name: str
) -> None:
    answer = client.post("/sandboxes/", {"name": sandbox_name})
    assert answer.headers["Location"] == f"/s/{sandbox_name}/"
    page = client.get(answer.headers["Location"])
    assert "There are no nodes" in text(page.content)
    assert "No scheduling cycle yet" in text(page.content)
    assert client.post("/sandboxes/", {"name": sandbox_name}).status_code == 422
    client.post(f"/s/{sandbox_name}/delete/")
    assert sandbox_name not in {meta.name for meta in store.sandboxes()}
    assert client.post(f"/s/{sandbox_name}/delete/").status_code == 302


def test_the_page_has_what_its_first_frame_leaves_out(client: Client, cluster: str) -> None:
    answer = client.get(cluster)
    page, parts = answer.content.decode(), answer.context["parts"]
    assert f'data-held="{digests(parts)}"' in page
    assert [name for name, html in parts.items() if html not in page] == []


@pytest.mark.parametrize(
    "path", ["nodes/default/a", "pods/a", "pods//a", "pods/a//", "pods/a/b/c", "leases.coordination.k8s.io/a"]
)
def test_an_object_with_an_impossible_key_is_not_found(client: Client, cluster: str, path: str) -> None:
    assert client.get(f"{cluster}objects/{path}/").status_code == 404


def test_a_sandbox_may_have_an_older_queue_and_says_so(
    client: Client, store: Store, sandbox_name: str
) -> None:
    assert 'value="fifo" selected' in text(client.get("/").content), "a scenario's own queue is proposed"
    scenario = {"scenario": "queue-starvation", "name": sandbox_name}
    path = client.post("/sandboxes/", scenario).headers["Location"]
    assert "FIFO queue" in text(client.get(path).content)
    store.delete(sandbox_name)
    client.post("/sandboxes/", {**scenario, "queue": "kubernetes"})
    assert store.sandbox(sandbox_name).meta().queue == "kubernetes"
    assert "This sandbox has the scheduling queue" not in text(client.get(path).content)
    store.delete(sandbox_name)


def test_a_sandbox_has_the_version_of_kubernetes_that_was_chosen_with_it(
    client: Client, store: Store, sandbox_name: str
) -> None:
    home = text(client.get("/").content)
    assert home.index("Kubernetes v1.36") < home.index("Kubernetes v1.35") < home.index("Kubernetes v1.34")
    asked = {"scenario": "gang", "name": sandbox_name, "kubernetes": "v1.36.2", "clock": "paused"}
    path = client.post("/sandboxes/", asked).headers["Location"]
    assert "<h3>Kubernetes v1.36.2</h3>" in text(client.get(path).content)
    assert '<span class="tag" title="Kubernetes v1.36.2">v1.36.2</span>' in text(client.get("/").content)
    store.delete(sandbox_name)
    refused = client.post("/sandboxes/", {**asked, "kubernetes": "v1.2"})
    assert refused.status_code == 422
    said = "There is no version “v1.2” here. Choose one of these: v1.36, v1.35, v1.34."
    assert said in text(refused.content)


@pytest.mark.parametrize("name", ["Has Space", "-x", "x" * 64, "../x"])
def test_the_name_of_a_sandbox_must_be_valid_in_a_path(client: Client, name: str) -> None:
    answer = client.post("/sandboxes/", {"name": name})
    assert answer.status_code == 422
    assert 'role="alert"' in text(answer.content)


def test_shared_parts_of_pages_have_the_language_and_the_sandbox_of_the_page(
    client: Client, store: Store
) -> None:
    """These parts of the page are cached."""
    names = ("alike-one", "alike-two")
    for name in names:
        store.create(Meta(name))
    try:
        for language, title in [("en", "Command bar"), ("zh-hans", "命令栏"), ("en", "Command bar")]:
            client.cookies["django_language"] = language
            for name in names:
                html = client.get(f"/s/{name}/").content.decode()
                assert f'href="/s/{name}/command/"' in html
                assert title in html
                assert not [other for other in names if other != name and other in html]
    finally:
        for name in names:
            store.delete(name)


@pytest.mark.parametrize(
    "scenario", ["online-vs-offline", "priority-starvation", "taints-and-affinity", "disruption-budgets"]
)
def test_a_scenario_becomes_a_sandbox(client: Client, store: Store, sandbox_name: str, scenario: str) -> None:
    client.post("/sandboxes/", {"scenario": scenario, "name": sandbox_name})
    sandbox = store.sandbox(sandbox_name)
    assert sandbox.meta().scenario == scenario
    assert sandbox.meta().pace > 0
    assert sandbox.count("nodes") >= 2
    assert sandbox.count("timetables.schedviz") == 1
    page = text(client.get(f"/s/{sandbox_name}/").content)
    assert page.count("<article") == sandbox.count("nodes")
    store.delete(sandbox_name)


def test_a_node_is_cordoned_tainted_and_deleted(client: Client, cluster: str, sandbox: Sandbox) -> None:
    path = f"{cluster}nodes/node-1/"
    assert "Cordon" in text(client.get(path, headers=HTMX).content)
    assert "Uncordon" in text(client.post(f"{path}cordon/", headers=HTMX).content)
    client.post(f"{path}taint/", {"taint": "a=b:NoSchedule"})
    node = sandbox.get("nodes", "node-1")
    assert node is not None
    assert node["spec"]["unschedulable"] is True
    assert node["spec"]["taints"] == [{"key": "a", "value": "b", "effect": "NoSchedule"}]
    for wrong in ("", "a=b", "a=b:Sometimes", "-bad-/:NoSchedule"):
        answer = client.post(f"{path}taint/", {"taint": wrong}, headers=HTMX)
        assert answer.headers["HX-Retarget"] == "#refused"
    client.post(f"{path}uncordon/")
    client.post(f"{path}taint/", {"taint": "a=b:NoSchedule-"})
    node = sandbox.get("nodes", "node-1")
    assert node is not None
    assert not node["spec"].get("unschedulable")
    assert not node["spec"].get("taints")
    gone = client.post(f"{path}delete/", headers=HTMX)
    assert gone.headers["HX-Trigger-After-Swap"] == "schedviz:gone"
    assert sandbox.get("nodes", "node-1") is None
    assert "There is no" in text(client.post(f"{path}delete/", headers=HTMX).content)


def test_a_pod_is_shown_and_deleted(client: Client, cluster: str, sandbox: Sandbox) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    write.create(sandbox, [{**pod, "spec": {"containers": [{"name": "a", "image": "b"}]}}])
    page = client.get(f"{cluster}pods/default/web/")
    assert "kind: Pod" in text(page.content)
    answer = client.post(f"{cluster}pods/default/web/delete/", headers=HTMX)
    assert "There is no" in text(answer.content)
    assert sandbox.get("pods", "default/web") is None
    assert client.get(f"{cluster}pods/default/web/").status_code == 404


def test_a_cycle_has_a_permalink(client: Client, cluster: str, sandbox: Sandbox) -> None:
    sandbox.commit(Commit(decisions=[SCHEDULED]))
    page = text(client.get(f"{cluster}cycles/7/").content)
    assert "n3 wins with 361, 321 ahead of n1." in page
    assert client.get(f"{cluster}cycles/8/").status_code == 404
    assert "no longer stored" in text(client.get(f"{cluster}cycles/8/", headers=HTMX).content)


def test_steps_and_runs_are_asked_for_without_scripts(client: Client, cluster: str, sandbox: Sandbox) -> None:
    client.post(f"{cluster}clock/", {"do": "point", "speed": "1.0"})
    client.post(f"{cluster}clock/", {"do": "point", "speed": "1.0"})
    assert (sandbox.clock().paused, sandbox.clock().steps) == (True, Steps("point", 2))
    client.post(f"{cluster}clock/", {"do": "cycle", "speed": "1.0"})
    assert sandbox.clock().steps == Steps("cycle", 1)
    for posted, until in [
        ({"until": "bound", "pod": "web"}, "bound default/web"),
        ({"until": "bound", "pod": "shop/web"}, "bound shop/web"),
        ({"until": "preemption"}, "preemption"),
    ]:
        answer = client.post(f"{cluster}clock/", {"do": "until", **posted})
        assert answer.status_code == 302
        assert (sandbox.clock().paused, sandbox.clock().until) == (False, until)
        assert not sandbox.clock().steps
    for wrong in ({"until": "never"}, {"until": "bound", "pod": "a/b/c"}, {}):
        assert client.post(f"{cluster}clock/", {"do": "until", **wrong}).status_code == 400
    client.post(f"{cluster}clock/", {"do": "resume"})
    assert not sandbox.clock().until


def test_the_clock_is_paused_and_set(client: Client, cluster: str, sandbox: Sandbox) -> None:
    client.post(f"{cluster}clock/", {"do": "pause", "speed": "1.0"})
    assert sandbox.clock().paused
    client.post(f"{cluster}clock/", {"speed": "10.0"})
    client.post(f"{cluster}clock/", {"do": "resume", "speed": "1.0"})
    assert (sandbox.clock().paused, sandbox.clock().speed) == (False, 10.0)
    for speed in ("1e9", "0", "nan", "inf", "fast", "MAX", ""):
        assert client.post(f"{cluster}clock/", {"speed": speed}).status_code == 400
    assert sandbox.clock().speed == 10.0
    assert '<option value="10.0" selected' in client.get(cluster).content.decode()
    client.post(f"{cluster}clock/", {"speed": "max"})
    assert (sandbox.clock().speed, sandbox.clock().unpaced) == (100.0, True)
    assert '<option value="max" selected' in client.get(cluster).content.decode()
    client.post(f"{cluster}clock/", {"speed": "100.0"})
    assert not sandbox.clock().unpaced
    assert '<option value="100.0" selected' in client.get(cluster).content.decode()


def test_unknown_addresses_get_a_page_with_a_message(client: Client, cluster: str) -> None:
    for path in ("/s/none-such/", f"{cluster}new/spaceship/", "/nowhere/"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "Not found" in text(answer.content)
    assert "none-such" in text(client.get("/s/none-such/").content)


def test_a_post_without_token_is_refused(cluster: str, sandbox: Sandbox) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    answer = strict.post(f"{cluster}nodes/node-1/delete/")
    assert answer.status_code == 403
    assert "out of date" in text(answer.content)
    assert sandbox.get("nodes", "node-1")


FRONT_PAGES = ("/ideas/", "/lessons/", "/docs/")


def test_the_front_pages_link_to_each_other(client: Client) -> None:
    for path, current in (
        ("/", ""),
        ("/ideas/", "/ideas/"),
        ("/lessons/", "/lessons/"),
        ("/docs/", "/docs/"),
    ):
        html = client.get(path).content.decode()
        links = re.findall(r'<a (aria-current="true" )?\s*href="(/(?:ideas|lessons|docs)/)"', html)
        assert [(address, bool(mark)) for mark, address in links[:3]] == [
            (each, each == current) for each in FRONT_PAGES
        ]


def test_long_names_are_wrapped_between_their_words() -> None:
    assert words("NodeResourcesFit") == "Node<wbr>Resources<wbr>Fit"
    assert words("<my-HTTPThing>") == "&lt;my-<wbr>HTTPThing&gt;"
    assert words("") == ""
    assert breakable("a.b/c=d:NoSchedule") == "a.b/<wbr>c=<wbr>d:<wbr>NoSchedule"


def test_the_notices_above_the_page_are_empty_at_first(client: Client, cluster: str) -> None:
    """White space in one would show an empty frame: it is not ``:empty``."""
    page = client.get(cluster).content.decode()
    for name in ("away", "trouble", "undone"):
        assert re.search(rf'<div id="{name}" role="alert"[^>]*></div>', page), name


def test_html_is_compressed_with_a_random_length(client: Client, cluster: str) -> None:
    """Of two equal pages nobody can tell by the length that they are equal (BREACH)."""
    plain = client.get(cluster)
    packed = [client.get(cluster, headers={"Accept-Encoding": "gzip, br"}) for _ in range(12)]
    assert "Content-Encoding" not in plain.headers
    for each in packed:
        assert each.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in each.headers["Vary"]
        assert len(each.content) < len(plain.content) / 3
    tokens = {re.search(rb'"X-CSRFToken": "(\w+)"', gzip.decompress(each.content)) for each in packed}
    assert len({found[1] for found in tokens if found}) == len(packed)
    assert len({len(each.content) for each in packed}) > 1


def test_answers_to_programs_are_not_compressed(client: Client, cluster: str) -> None:
    headers = {"Accept-Encoding": "gzip"}
    for path in (f"{cluster}api/v1/pods", f"{cluster}download/nodes.svg", f"{cluster}download/objects/"):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer.headers
