"""The short names of nodes, and the parts of generated pod names."""

from django.template.loader import render_to_string

from schedviz.store.model import Clock
from schedviz.web.nodes import cards as nodes
from schedviz.web.page.screen import Screen
from schedviz.web.picture.picture import Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import NO_NAMES, ShortNodeNames, using
from simulator.api import Manifest
from tests.real_cluster import real_cluster

from .watched import Watched

DOMAIN = "eu-west-1.compute.internal"
AWS = [f"ip-10-0-{subnet}-{host}.{DOMAIN}" for subnet in (10, 42) for host in (108, 17)]


def short_names(names: list[str]) -> dict[str, str]:
    found = ShortNodeNames(names)
    return {name: found.short(name) for name in names}


def test_short_names_of_cloud_nodes_are_the_parts_that_differ() -> None:
    assert [*short_names(AWS).values()] == ["10-108", "10-17", "42-108", "42-17"]
    assert ShortNodeNames(AWS).patterns(AWS) == [f"ip-10-0-….{DOMAIN}"]
    names = [each["metadata"]["name"] for each in real_cluster() if each["kind"] == "Node"]
    short = short_names(names)
    assert len({*short.values()}) == 30
    assert max(map(len, short.values())) == 6
    pools = [f"gke-prod-{end}" for end in ("default-pool-3f2a-x7k2", "gpu-pool-9d8e-p3q4")]
    assert [*short_names(pools).values()] == ["default-pool-3f2a-x7k2", "gpu-pool-9d8e-p3q4"]


def test_a_short_name_is_not_cut_and_others_keep_two_parts() -> None:
    plain = ["node-1", "node-2", "node-10", "k8s-worker-00001"]
    assert short_names(plain) == {name: name for name in plain}
    hosts = ["worker-1.example.com", "worker-2.example.com"]
    assert [*short_names(hosts).values()] == ["worker-1", "worker-2"], "a number alone is no name"
    one_subnet = AWS[:2]
    assert [*short_names(one_subnet).values()] == ["10-108", "10-17"]
    assert short_names(["mine-production-bastion-host"]) == {
        "mine-production-bastion-host": "mine-production-bastion-host"
    }, "nothing is shared"
    two = ["a-production-host-one", "a-production-host-two"]
    assert [*short_names(two).values()] == ["host-one", "host-two"]
    little = ["ab-long-name-of-a-node", "ab-other-name-of-a-node"]
    assert [*short_names(little).values()] == little, "three letters are not left out"


def test_added_and_deleted_nodes_do_not_change_the_other_names() -> None:
    before = short_names(AWS)
    others = [
        "cp-1",
        "gke-main-pool-1-with-a-long-name",
        f"ip-10-0-74-9.{DOMAIN}",
        "i-0a1b2c3d4e5f67890.internal",
    ]
    assert before.items() <= short_names([*AWS, *others]).items()
    assert short_names(AWS[:3]).items() <= before.items()
    assert ShortNodeNames(AWS).short(f"ip-10-0-10-200.{DOMAIN}") == "10-200", "a node that was deleted"


def test_two_nodes_never_have_the_same_short_name() -> None:
    regions = [
        "ip-10-0-10-108.eu-west-1.compute.internal",
        "ip-10-0-10-108.us-east-1.compute.internal",
        *AWS[1:],
    ]
    short = short_names(regions)
    assert len({*short.values()}) == len(regions)
    assert short[regions[0]] == regions[0]
    assert short_names([*AWS, "10-108"])[AWS[0]] == AWS[0], "the short name is that of another node"


def test_names_in_use_are_those_of_one_sandbox() -> None:
    def link() -> str:
        return render_to_string("text/node_link.html", {"node": AWS[0], "base": "/s/x/"})

    with using(ShortNodeNames(AWS)):
        assert f'href="/s/x/nodes/{AWS[0]}/"' in link()
        assert f'title="{AWS[0]}"' in link()
        assert ">10-108</a>" in link()
    with using(NO_NAMES):
        assert ">ip-10-0-10-108</a>" in link()


def test_a_page_is_rendered_again_when_the_short_names_change() -> None:
    watched, screen, clock = Watched(0), Screen("/s/x/"), Clock(0, 0.0)

    def html(*names: str) -> str:
        for name in names:
            node = {
                "metadata": {"name": name, "resourceVersion": "1"},
                "status": {"allocatable": {"cpu": "4"}},
            }
            watched.picture.object("nodes", node)
        dirty, watched.picture.dirty_nodes = watched.picture.dirty_nodes, set()
        screen.draw(watched.picture, clock, dirty)
        return "".join(screen.whole().values())

    assert ">ip-10-0-10-108</a>" in html(AWS[0])
    both = html(AWS[1])
    assert ">10-108</a>" in both
    assert ">10-17</a>" in both
    assert f"ip-10-0-….{DOMAIN}" in both


def test_generated_parts_of_a_pods_name_are_recognised() -> None:
    assert fmt.split_pod_name("shop/checkout-7d9f8b6c5-x2x7q") == (
        "shop/",
        "checkout",
        "-7d9f8b6c5",
        "-x2x7q",
    )
    assert fmt.split_pod_name("aws-node-b4d7z") == ("", "aws-node", "", "-b4d7z")
    assert fmt.split_pod_name("report-daily-29391040-k2xw9") == ("", "report-daily", "-29391040", "-k2xw9")
    for whole in ("kafka-3", "web", "node-exporter", "cache-green", "batch-1a", "-x2x7q"):
        assert fmt.split_pod_name(whole).owner == whole, "nothing of it was generated"
    assert [(fmt.stem(name), fmt.tail(name)) for name in ("web-12", "web", "a/checkout-7d9f8b6c5-x2x7q")] == [
        ("web", "-12"),
        ("web", ""),
        ("checkout", "-x2x7q"),
    ]
    html = render_to_string("text/pod_name.html", {"label": "shop/checkout-7d9f8b6c5-x2x7q"})
    assert 'checkout<span class="gen">-7d9f8b6c5-x2x7q</span>' in html
    assert "gen" not in render_to_string("text/pod_name.html", {"label": "<b>-1"})
    assert "&lt;b&gt;" in render_to_string("text/pod_name.html", {"label": "<b>-1"})


def test_cards_show_what_some_pod_requests() -> None:
    def shown(picture: Picture, name: str) -> list[str]:
        return [meter.resource for meter in nodes.card(picture, Ranks(()), name).meters]

    picture = Picture()
    for name, more in (("plain", {}), ("with-gpu", {"nvidia.com/gpu": "1", "hugepages-2Mi": "4Mi"})):
        amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", **more}
        metadata = {"name": name, "resourceVersion": "1"}
        picture.object("nodes", {"metadata": metadata, "status": {"allocatable": amounts}})
    assert shown(picture, "with-gpu") == ["cpu", "memory"], "what the nodes have, while nothing is requested"
    requests = {"cpu": "1", "nvidia.com/gpu": "1"}
    waits = pod("trainer", requests=requests)
    picture.dirty_nodes.clear()
    picture.object("pods", waits)
    assert (shown(picture, "plain"), shown(picture, "with-gpu")) == (["cpu"], ["cpu", "nvidia.com/gpu"])
    assert picture.dirty_nodes == {"plain", "with-gpu"}
    picture.dirty_nodes.clear()
    picture.object("pods", {**waits, "metadata": {**waits["metadata"], "resourceVersion": "2"}})
    assert not picture.dirty_nodes, "the only pod that requests it has not ended"
    picture.object("pods", {**waits, "status": {"phase": "Succeeded"}})
    assert shown(picture, "with-gpu") == ["cpu", "memory"]
    for number in range(9):
        picture.object("pods", pod(f"p{number}", on="plain", requests={"cpu": "100m"}))
    assert shown(picture, "plain") == ["cpu", "pods"], "the node can take one more pod only"


def pod(name: str, on: str = "", requests: dict[str, str] | None = None) -> Manifest:
    container = {"name": "c", "image": "i", "resources": {"requests": requests or {}}}
    spec = {"containers": [container], **({"nodeName": on} if on else {})}
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running" if on else "Pending"}}
