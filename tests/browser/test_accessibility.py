"""The rules of WCAG 2.2 AA that a program can check: axe-core on every state of the pages, the keyboard, live
regions, narrow windows, and both languages."""

from datetime import datetime, timedelta
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store
from tests.amounts import WHOLE, long_but_first
from tests.browser.language import choose_language

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCHEMES: Final[list[tuple[Literal["light", "dark"], Any]]] = [
    ("light", {"type": "tag", "values": RULES}),
    ("dark", ["color-contrast"]),
]
"""The themes, and the rules that are checked in each."""
AXE = Axe()
URGENT = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "urgent"},
    "value": 1000,
}


def story() -> list[dict[str, Any]]:
    """Manifests whose last state has a victim that is terminating, a nominated pod, a bound pod, an
    unschedulable pod, and nodes that are cordoned and tainted."""
    cordoned, tainted = node("node-3"), node("node-4")
    cordoned["spec"] = {"unschedulable": True}
    tainted["spec"] = {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}
    return [
        URGENT,
        node("node-1", "2"),
        node("node-2", "2"),
        cordoned,
        tainted,
        pod("batch-1", "2", nodeName="node-1", terminationGracePeriodSeconds=3000),
        pod("batch-2", "2", nodeName="node-2", terminationGracePeriodSeconds=3000),
        pod("small", "1", tolerations=[{"key": "team", "operator": "Exists"}]),
        pod("checkout", "2", priorityClassName="urgent"),
        pod("big", "8"),
    ]


def wait_for_story(screen: Page) -> None:
    """Wait until the page shows the last state of the story."""
    expect(screen.locator(".node .pod.victim")).to_have_count(1)
    expect(screen.locator(".node .pod.running", has_text="small")).to_be_visible()
    expect(screen.locator("#lane-unschedulable .chip", has_text="big")).to_be_visible()


@pytest.fixture
def grid(store: Store, sandbox_name: str) -> Sandbox:
    """More nodes than the page shows as cards."""
    nodes = [node(f"n-{number}", "2") for number in range(70)]
    return write.create_sandbox(store, Meta(f"{sandbox_name[:50]}-g", pace=100_000), [*nodes, pod("web")])


class Violations:
    """The violations that axe-core finds in each state of the page in the light theme; in the whole run in
    the dark one, too, whose contrast ``tests/web/test_contrast.py`` computes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: list[str] = []

    def look(self, state: str, within: str | None = None) -> None:
        """``within``: the part that is new. The rest of the page was checked before."""
        for scheme, rules in SCHEMES if WHOLE else SCHEMES[:1]:
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for broken in self._broken(within, {"resultTypes": ["violations"], "runOnly": rules}):
                where = [each["html"][:120] for each in broken["nodes"][:3]]
                self.found.append(f"{state}, {scheme}: {broken['id']} {where}")
        self.found += [f"{state}: small {control}" for control in self.page.evaluate(SMALL, within)]

    def _broken(self, within: str | None, options: dict[str, Any]) -> list[dict[str, Any]]:
        """The violations that axe-core finds. The script is added to a document once, as a browser compiles
        each added script again."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.axe_script)
        found: list[dict[str, Any]] = self.page.evaluate(FIND, [within, options])
        return found


FIND = "async ([within, options]) => (await axe.run(within ?? document, options)).violations"


# The controls that are smaller than 24 px with a font of one pixel, as the size of a target must not depend
# on the fonts. A control within a sentence is exempt (WCAG 2.2, 2.5.8).
SMALL = """
(within) => {
  const tiny = new CSSStyleSheet();
  tiny.replaceSync("* { font-size: 1px !important; line-height: 1 !important; }");
  document.adoptedStyleSheets.push(tiny);
  const root = within ? document.querySelector(within) : document;
  const found = [];
  for (const control of root.querySelectorAll("button, select, summary, .btn, [role=button]")) {
    const box = control.getBoundingClientRect();
    if (!control.checkVisibility() || getComputedStyle(control).display === "inline") continue;
    if (box.width < 24 || box.height < 24) {
      found.push(`${box.width} by ${box.height} px: ${control.outerHTML.slice(0, 120)}`);
    }
  }
  document.adoptedStyleSheets.pop();
  return found;
}
"""


# The buttons that are narrower than their text.
CUT = """
() => [...document.querySelectorAll("button, summary, .btn, [role=button]")]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth && each.clientWidth)
  .map((each) => each.outerHTML.slice(0, 120))
"""


@pytest.mark.sampled
@pytest.mark.long
def test_axe_finds_nothing_in_any_state_of_the_page(screen: Page, live: Open, grid: Sandbox) -> None:
    violations = Violations(screen)
    sandbox = live(*story())
    wait_for_story(screen)
    violations.look("live")
    for state, opener, shown in (
        ("play", ".mark.preempting", "#play"),
        ("scores", ".mark.bound", "#detail .matrix"),
        ("predict", "#t-predict", "#predict"),
        ("pod", ".node .pod.victim", "#pod-panel"),
        ("waiting pod", "#lane-unschedulable .chip a", "#pod-panel"),
        ("node", ".node.cordoned header a", "#node-panel"),
        ("leader", "#t-more a[href$='/leader/']", "#leader-panel"),
    ):
        if state == "leader":
            screen.locator("[popovertarget=t-more]").click()
        screen.locator(opener).first.click()
        expect(screen.locator(shown)).to_be_visible()
        violations.look(state, "#detail")
        screen.keyboard.press("Escape")
        expect(screen.locator("#detail")).to_be_empty()
    screen.locator("[popovertarget=keys]").click()
    violations.look("keys", "#keys")
    screen.locator("[popovertarget=keys]").click()
    more = screen.locator("[popovertarget=t-more]")
    for opener in screen.locator(".create > a:not(.roomy), #t-more a[data-dialog]").all():
        if not opener.is_visible():
            more.click()
        opener.click()
        expect(screen.locator("dialog[open] form").first).to_be_visible()
        for fold in screen.locator("dialog[open] summary").all():
            fold.click()
        violations.look(str(opener.get_attribute("href")), "dialog[open]")
        screen.keyboard.press("Escape")
        expect(screen.locator("dialog[open]")).to_have_count(0)
    more.click()
    screen.get_by_role("link", name="All objects").click()
    expect(screen.locator("#kinds-panel")).to_be_visible()
    violations.look("kinds", "#detail")
    screen.locator("#kinds-panel").get_by_role("link", name="PriorityClass").click()
    expect(screen.locator("#objects-panel")).to_be_visible()
    violations.look("objects", "#detail")
    screen.keyboard.press("Escape")
    moment = f"/s/{sandbox.name}/at/{sandbox.trace_head() - 3}/"
    for path in (
        f"/s/{sandbox.name}/new/pod/",
        "/",
        "/compare/",
        f"/s/{grid.name}/",
        moment,
        f"{moment}branch/",
    ):
        screen.goto(path)
        violations.look(path)
    assert violations.found == []


def test_tab_reaches_every_control_in_order_with_visible_focus(screen: Page, live: Open) -> None:
    sandbox = live(*story())
    wait_for_story(screen)
    rooms: list[str] = []
    for _ in range(400):
        screen.keyboard.press("Tab")
        here = screen.evaluate(WALK)
        if here is None:
            break
        assert here["seen"], f"the focus is not visible on {here['html']}"
        if not rooms or rooms[-1] != here["room"]:
            rooms.append(here["room"])
    else:
        pytest.fail("the focus is trapped")
    assert rooms == ["", "bar", "next", "queue", "nodes", "inspector", "past"]

    screen.keyboard.press("Tab")
    expect(screen.locator(".skip")).to_be_focused()
    screen.keyboard.press("Enter")
    expect(screen.locator("#main")).to_be_focused()

    # A panel that is replaced while one of its elements has the focus keeps the focus.
    screen.locator(".node .pod.running").first.press("Enter")
    link = screen.locator("#pod-panel .headline a")
    link.focus()
    write.create(sandbox, [pod("late", "8")])
    expect(screen.locator("#lane-unschedulable .chip", has_text="late")).to_be_visible()
    expect(link).to_be_focused()
    screen.keyboard.press("Escape")

    # Single-character keys can be turned off, and stay off.
    screen.locator("[popovertarget=keys]").click()
    screen.get_by_label("Enable single-key shortcuts").uncheck()
    screen.locator("[popovertarget=keys]").click()
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    screen.keyboard.press("n")
    screen.keyboard.press("Space")
    expect(screen.get_by_role("button", name="Pause")).to_be_visible()
    expect(screen.locator("#dialog")).not_to_be_visible()


WALK = """
() => {
  const here = document.activeElement;
  if (!here || here === document.body) return null;
  const style = getComputedStyle(here);
  const box = here.getBoundingClientRect();
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return {
    room: here.closest("main > section, header.bar, aside")?.className.split(" ")[0] ?? "",
    seen: outlined && box.width > 0 && box.bottom > 0 && box.top < innerHeight,
    html: here.outerHTML.slice(0, 120),
  };
}
"""


@pytest.mark.long
def test_the_live_region_announces_at_most_one_cycle_in_five_seconds(screen: Page, live: Open) -> None:
    """The test sets the browser's clock, so the time that the pods take does not matter."""
    screen.clock.install()
    sandbox = live(node("node-1", "100"))
    screen.clock.pause_at(datetime.now() + timedelta(hours=1))
    screen.evaluate(
        "window.announced = []; const spoken = document.getElementById('spoken');"
        "new MutationObserver(() => window.announced.push(spoken.textContent))"
        ".observe(spoken, { childList: true, characterData: true, subtree: true })"
    )
    sentence = screen.locator("#cycle .headline")

    def bind(name: str) -> str:
        write.create(sandbox, [pod(name, "1")])
        expect(screen.locator(".node .pod.running", has_text=name)).to_be_visible()
        expect(sentence).to_contain_text(name)
        return sentence.inner_text()

    first = bind("first")
    assert screen.evaluate("window.announced") == [first]
    then = [bind(f"pod-{number}") for number in range(6)]
    screen.clock.run_for(4_900)
    assert screen.evaluate("window.announced") == [first], "one message in five seconds"
    screen.clock.run_for(100)
    assert screen.evaluate("window.announced") == [first, then[-1]]
    live_regions = screen.locator(
        "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert], output"
    )
    assert live_regions.locator("#log, .lane, .node, .mark, #cycle").count() == 0


@pytest.mark.parametrize("width", long_but_first([320, 640]))
def test_narrow_windows_show_everything_and_reduced_motion_stops_animations(
    screen: Page, live: Open, width: int
) -> None:
    """320 px are 1280 at 400 %, 640 px at 200 % (1.4.10, 1.4.4)."""
    sandbox = live(*story())
    expect(screen.locator(".mark.preempting")).to_have_count(1)
    base = f"/s/{sandbox.name}/"
    cycle = screen.locator(".mark.preempting").get_attribute("href")
    screen.emulate_media(reduced_motion="reduce")
    screen.set_viewport_size({"width": width, "height": 640})
    for path in (
        "/",
        base,
        f"{cycle}?play=1",
        f"{base}pods/default/big/",
        f"{base}nodes/node-1/",
        f"{base}new/pod/",
    ):
        screen.goto(path)
        wide = screen.evaluate("document.scrollingElement.scrollWidth")
        assert wide <= width, f"{path} is {wide} px wide in a window of {width}"
        assert screen.evaluate(CUT) == []
    screen.goto(base)
    expect(screen.locator("#connection")).to_have_text("live")
    write.create(sandbox, [pod("late", "1", tolerations=[{"key": "team", "operator": "Exists"}])])
    expect(screen.locator(".node .pod", has_text="late")).to_be_visible()
    assert screen.evaluate("document.getAnimations().length") == 0


@pytest.mark.long
def test_german_pages_with_real_names_are_accessible_and_nothing_of_them_is_cut(
    screen: Page, live: Open
) -> None:
    """German words are long. Names are those of a cloud: the suffix of a pod is drawn lighter."""
    real = node("ip-10-0-12-34.eu-west-1.compute.internal", "1")
    made = pod("checkout-7d9f8b6c5-x2x7q", "1", priorityClassName="urgent", nodeName=real["metadata"]["name"])
    made["metadata"]["generateName"] = "checkout-7d9f8b6c5-"
    sandbox = live(*story(), real, made)
    wait_for_story(screen)
    choose_language(screen, "de")
    base = f"/s/{sandbox.name}/"
    violations = Violations(screen)
    for path in (
        base,
        f"{base}pods/default/big/",
        f"{base}pods/default/checkout-7d9f8b6c5-x2x7q/",
        f"{base}nodes/ip-10-0-12-34.eu-west-1.compute.internal/",
        f"{base}nodes/",
        f"{base}pending/",
        f"{base}new/pod/",
        f"{base}scheduler/",
        f"{base}ask/",
        "/",
        "/lessons/",
        "/compare/",
        "/bring/",
        "/workload/",
        "/rooms/new/",
    ):
        for width, height in ((1280, 720), (390, 844)):
            screen.set_viewport_size({"width": width, "height": height})
            screen.goto(path)
            violations.look(f"{path} {width}")
            wide = screen.evaluate("document.scrollingElement.scrollWidth")
            assert wide <= width, f"{path} is {wide} px wide in a window of {width}"
            assert screen.evaluate(CUT) == [], f"{path} {width}"
    assert violations.found == []


@pytest.mark.sampled
def test_the_language_is_chosen_on_the_page_and_frames_have_it(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"))
    choose_language(screen, "zh-hans")
    expect(screen.locator("#connection")).to_have_text("实时")
    assert screen.evaluate("document.documentElement.lang") == "zh-hans"
    write.create(sandbox, [pod("web"), pod("big", "8")])
    expect(screen.locator("#log")).to_contain_text("web 已绑定到 node-1。")
    expect(screen.locator("#lane-unschedulable .chip")).to_contain_text("1 个节点 cpu 不足")
    violations = Violations(screen)
    violations.look("Chinese")
    screen.get_by_text("更多", exact=True).first.click()
    screen.get_by_role("link", name="+ 节点").click()
    expect(screen.locator("#dialog-title")).to_have_text("新建节点")
    violations.look("Chinese form")
    assert violations.found == []
    screen.keyboard.press("Escape")
    choose_language(screen, "en")
    expect(screen.locator("#connection")).to_have_text("live")
