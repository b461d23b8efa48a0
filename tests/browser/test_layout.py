"""What must be visible with real names at a projector's size and on a phone."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, expect

from schedviz.api import write
from tests.amounts import long_but_first
from tests.browser.language import choose_language, wait_until_live
from tests.dumps import as_list
from tests.real_cluster import real_cluster

from .conftest import Open, node, pod
from .test_accessibility import URGENT
from .test_first_visit import PRIMARY

pytestmark = pytest.mark.browser

PROJECTOR = {"width": 1280, "height": 720}
LARGE = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}
OVERFLOW = """() => [...document.querySelectorAll("h1, h2, h3, h4, p, label, .chip .name, .meters > div")]
  .filter((each) => each.checkVisibility() && !each.closest(".visually-hidden, .wide, .listing"))
  .map((each) => [each, each.closest("section, main, header")])
  .filter(([each, around]) => each.getBoundingClientRect().right > around.getBoundingClientRect().right + 1)
  .map(([each]) => each)
  .map((each) => each.outerHTML.slice(0, 120))"""
"""Texts that overflow their section on the right."""
TABLE = """() => [...document.querySelectorAll("#detail .ladder tbody tr")].map((row) => {
  const frame = row.closest(".wide").getBoundingClientRect();
  return [...row.querySelectorAll("td")].filter((cell) => {
    const { left, right, top, bottom } = cell.getBoundingClientRect();
    return left >= frame.left && right <= frame.right + 1 && top >= frame.top && bottom <= frame.bottom + 1;
  }).length;
})"""
"""The number of cells of each candidate within the table of the rules."""
STATES = """(words) => {
  const tag = document.getElementById("connection");
  const bar = () => JSON.stringify([...document.querySelectorAll(".bar > *, .page")]
    .map((each) => each.getBoundingClientRect()));
  return words.map((word) => {
    tag.className = `tag status ${word === "behind" ? "ok behind" : word}`;
    tag.lastElementChild.textContent = tag.dataset[word === "ok" ? "live" : word];
    return bar();
  });
}"""
"""The places of the parts of the bar in each state of the connection."""


def in_sight(control: Locator) -> None:
    expect(control).to_be_in_viewport(ratio=1)


def test_the_submit_button_is_visible_with_any_number_of_answers(screen: Page, live: Open) -> None:
    screen.set_viewport_size(PROJECTOR)
    nodes = [node(f"ip-10-0-{each}-108.eu-west-1.compute.internal") for each in range(14)]
    sandbox = live(*nodes)
    screen.keyboard.press("g")
    screen.get_by_role("button", name="Pause and begin").click()
    expect(screen.locator("#predict")).to_contain_text("No pod waits in activeQ")
    names = ("recommendations-7d9f8b6c5-x2x7q", "recommendations-7d9f8b6c5-gh2vc")
    write.create(sandbox, [pod(each, "1", nodeSelector={"kubernetes.io/arch": "arm64"}) for each in names])
    screen.locator("#predict input[name=pick]").first.check()
    submit = screen.locator("#predict-guess")
    in_sight(submit)
    submit.click()
    expect(screen.locator("#predict legend")).to_contain_text("Which nodes pass the filters")
    expect(screen.locator("#predict input[name=pick]")).to_have_count(len(nodes))
    in_sight(submit)
    screen.locator("#predict .choices summary").first.click()
    expect(screen.locator("#predict .choice .given").first).to_be_visible()
    in_sight(submit)


def test_the_table_of_preemption_has_all_rules_of_each_candidate(screen: Page, live: Open) -> None:
    screen.set_viewport_size(PROJECTOR)
    first, second = (f"ip-10-0-12-{each}.eu-west-1.compute.internal" for each in (34, 35))
    names = [f"recommendation-engine-7d9f8b6c5-{each}" for each in ("2xdzb", "x2x7q", "gh2vc")]
    pods = [pod(names[0], "4", nodeName=first), *(pod(each, "2", nodeName=second) for each in names[1:])]
    live(URGENT, node(first), node(second), *pods, pod("checkout", "4", priorityClassName="urgent"))
    screen.locator(".mark.preempting").first.click()
    expect(screen.locator("#detail .ladder td.idle").first).to_be_visible()
    assert screen.evaluate(TABLE) == [5, 5]


def test_pods_of_equal_size_have_their_names(screen: Page, live: Open) -> None:
    """Four pods on each of six nodes in three zones: the blocks are 38 px wide."""
    screen.set_viewport_size(PROJECTOR)
    nodes = [node(f"node-{each}") for each in range(6)]
    for place, each in enumerate(nodes):
        each["metadata"]["labels"] = {"topology.kubernetes.io/zone": f"zone-{place % 3}"}
    pods = [pod(f"batch-{each}{letter}", nodeName=f"node-{each}") for each in range(6) for letter in "abcd"]
    live(*nodes, *pods)
    # A name has no height while its block moves to its width.
    names = screen.locator(".node .pod .name > span:first-child")
    expect(names.filter(visible=True)).to_have_count(len(pods))
    # On a large screen the blocks fill the remaining height.
    area = screen.locator(".pod-area").first
    before = area.evaluate("(each) => each.clientHeight")
    screen.set_viewport_size(LARGE)
    assert area.evaluate("(each) => each.clientHeight") > before


@pytest.mark.parametrize("sandbox_name", ["six-nodes"])
def test_scores_and_filter_matrix_of_six_nodes_are_in_sight(
    screen: Page, live: Open, sandbox_name: str
) -> None:
    screen.set_viewport_size(PROJECTOR)
    names = [f"node-{each}" for each in range(6)]
    used = [pod(f"web-{each}", str(each / 2 + 1), nodeName=each_node) for each, each_node in enumerate(names)]
    live(*map(node, names), *used, pod("checkout", "0.5"))
    for table in (".scores", ".matrix"):
        expect(screen.locator(f"#cycle {table} tbody tr")).to_have_count(len(names))
        in_sight(screen.locator(f"#cycle {table}"))


def test_a_verdict_does_not_cut_off_the_name_of_its_node(screen: Page, live: Open) -> None:
    screen.set_viewport_size(PROJECTOR)
    nodes = [node(f"node-{each}") for each in range(6)]
    for place, each in enumerate(nodes):
        each["metadata"]["labels"] = {"topology.kubernetes.io/zone": f"zone-{place % 3}"}
    live(*nodes, pod("large", "5"))
    expect(screen.locator(".node .verdict.fail")).to_have_count(len(nodes))
    names = screen.locator(".node header > a")
    assert names.evaluate_all("(all) => all.every((each) => each.scrollWidth <= each.clientWidth)")


@pytest.mark.parametrize(
    "size", long_but_first([PROJECTOR, LARGE, PHONE]), ids=["projector", "large", "phone"]
)
def test_no_state_of_the_connection_moves_the_bar(screen: Page, live: Open, size: dict[str, int]) -> None:
    screen.set_viewport_size({"width": size["width"], "height": size["height"]})
    live(node("node-1"))
    for language, _ in settings.LANGUAGES:
        choose_language(screen, language)
        wait_until_live(screen)
        found = screen.evaluate(STATES, ["ok", "behind", "lost", "gone"])
        assert len({*found}) == 1, (language, found)


def test_the_hint_has_the_one_primary_action(screen: Page, live: Open) -> None:
    live(node("node-1"))
    screen.get_by_role("button", name="Pause").click()
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()
    hint = screen.locator("#hint-do")
    assert screen.evaluate(PRIMARY) == [hint.inner_text()]
    screen.locator("#hint-close").click()
    expect(hint).to_be_hidden()
    assert [" ".join(each.split()) for each in screen.evaluate(PRIMARY)] == ["▶ Resume"]


def test_nothing_of_a_real_cluster_is_cut_on_a_phone(screen: Page, sandbox_name: str, tmp_path: Path) -> None:
    screen.set_viewport_size(PHONE)
    dump = tmp_path / "cluster.json"
    dump.write_text(as_list(real_cluster()))
    screen.goto("/bring/")
    screen.locator("input[type=file]").set_input_files(dump)
    screen.locator("input[name=name]").fill(sandbox_name)
    screen.locator("button[name=do][value=create]").click()
    expect(screen.locator("#connection")).to_have_text("live")
    cut: dict[str, list[str]] = {}

    def look(place: str) -> None:
        cut[place] = screen.evaluate(OVERFLOW)
        assert screen.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"], place

    for tab in ("Queue", "Nodes", "Cycle", "Log"):
        screen.get_by_role("tab", name=tab).click()
        look(tab)
    screen.get_by_role("tab", name="Nodes").click()
    expect(screen.locator("#summary")).to_contain_text(re.compile("ip-10-0-.*30 nodes"))
    for address in ("/", "/bring/", "/compare/", "/ideas/", "/ideas/preemption/"):
        screen.goto(address)
        look(address)
    assert not any(cut.values()), cut
    # Queue and names at a projector's size: each name is whole, on one line or on two.
    screen.set_viewport_size(PROJECTOR)
    screen.goto(f"/s/{sandbox_name}/")
    expect(screen.locator("#connection")).to_have_text("live")
    names = screen.locator(".chip .name")
    expect(names.filter(has_text="load-generator").first).to_be_visible()
    wide = names.evaluate_all("(all) => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length")
    assert wide == 0
