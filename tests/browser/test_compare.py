"""The page of comparisons: the form, a running comparison and the result; also for a sandbox."""

import pytest
from playwright.sync_api import Page, expect

from tests.processes import Process

from .conftest import Open, node, pod
from .test_accessibility import Violations

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("job_runner")]


@pytest.fixture
def form(page: Page) -> Page:
    """Errors in its console are allowed: the browser logs each response 422."""
    page.goto("/compare/")
    return page


def test_a_comparison_of_two_queues_says_which_pods_starve_and_where_the_two_differ(form: Page) -> None:
    form.get_by_label("Objects to run").select_option(label="Starvation in a FIFO queue")
    form.get_by_label("Simulated time").fill("2 minutes")
    form.get_by_role("button", name="Compare").click()
    expect(form.locator(".wrong .error")).to_contain_text("is not a duration")
    form.get_by_label("Simulated time").fill("2m")
    form.locator("#b").select_option("yaml")
    form.get_by_text("KubeSchedulerConfiguration", exact=True).last.click()
    form.locator("#b_yaml").fill("kind: Pod\napiVersion: v1")
    form.get_by_role("button", name="Compare").click()
    expect(form.locator(".wrong .error")).to_have_text("It must be one KubeSchedulerConfiguration.")
    form.locator("#b").select_option("default")
    form.get_by_role("button", name="Compare").click()
    expect(form.locator(".verdict-line")).to_contain_text(
        "First difference: cycle 2, another pod was popped: A"
    )
    address = form.url

    waits = form.get_by_role("region", name="Time to bind, by priority")
    urgent = waits.get_by_role("row").filter(has_text="100 000").get_by_role("cell")
    # A: median, p90, bound, pending; and B.
    assert urgent.all_inner_texts()[:4] == [NONE, NONE, "0", "1"]
    assert urgent.all_inner_texts()[6:] == ["1", "0"]
    pending = form.locator("figure", has=form.get_by_role("heading", name="Pods pending", exact=True))
    plot = pending.get_by_role("img")
    expect(plot.locator("path.line")).to_have_count(2)
    assert [text.strip() for text in plot.locator("text.end").all_text_contents()] == ["A", "B"]
    dashes = [
        line.evaluate("e => getComputedStyle(e).strokeDasharray") for line in plot.locator("path").all()
    ]
    assert dashes[0] == "none" != dashes[1]
    pending.get_by_text("As a table").click()
    expect(pending.get_by_role("row", name="2m0s")).to_be_visible()
    violations = Violations(form)
    violations.look("comparison")
    assert violations.found == []
    form.get_by_role("link", name="Both decisions").click()
    for side in ("A", "B"):
        expect(
            form.locator("#difference article", has=form.locator("b.side", has_text=side))
        ).to_be_in_viewport()
    for width in (320, 390):
        form.set_viewport_size({"width": width, "height": 740})
        assert form.evaluate("document.scrollingElement.scrollWidth") <= width
    form.reload()
    assert form.url.partition("#")[0] == address  # the result has an address, at which it is kept
    expect(form.locator(".verdict-line")).to_be_visible()


@pytest.mark.long
def test_a_sandbox_is_compared_as_it_is_now_and_one_that_runs_long_may_be_stopped(
    screen: Page, live: Open, job_runner: Process
) -> None:
    sandbox = live(node("node-1"), node("node-2"), pod("waits", "8"))
    expect(screen.locator("#lane-unschedulable .chip", has_text="waits")).to_be_visible()
    screen.locator("[popovertarget=t-more]").click()
    screen.get_by_role("link", name="Compare with another configuration").click()
    expect(screen.locator("#workload")).to_have_value(f"sandbox:{sandbox.name}")
    screen.locator("#b").select_option("own")
    screen.get_by_role("button", name="Compare").click()
    expect(screen.locator(".verdict-line")).to_have_text("Every scheduling cycle was the same.")

    screen.get_by_role("link", name="New comparison").click()
    screen.locator("#workload").select_option("manifests:")
    screen.get_by_text("Manifests", exact=True).click()
    screen.locator("#text").fill(ENDLESS)
    screen.get_by_label("Simulated time").fill("1h")
    screen.get_by_role("button", name="Compare").click()
    expect(screen.get_by_role("heading", name="Comparing")).to_be_visible()
    screen.get_by_role("button", name="Stop").click()
    expect(screen.locator("main")).to_contain_text(
        "Stopped by a user: the figures cover the time until then."
    )


NONE = "\N{EN DASH}"

ENDLESS = """
every: 100ms
apiVersion: v1
kind: Pod
metadata: {generateName: wave-}
spec: {containers: [{name: main, image: app, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
