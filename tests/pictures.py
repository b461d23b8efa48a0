"""The pictures of README and docs, taken from the running product: ``make pictures``."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from schedviz.up.embedded_redis import free_port
from tests import chromium
from tests.conftest import answers
from tests.processes import ROOT, Process
from tests.waiting import eventually

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1440, "height": 900}
START_SECONDS = 30.0


def main() -> int:
    path = chromium.find()
    if path is None:
        print(chromium.missing(), file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = {"PORT": str(port), "DATA_DIR": folder, "REDIS_URL": ""}
        process = Process(["manage.py", "up"], Path(folder) / "log", environment)
        try:
            eventually(lambda: process.alive() and answers(f"{url}/readyz"), "the start", START_SECONDS)
            browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
            page = browser.new_page(base_url=url, viewport=SIZE, device_scale_factor=1.5)
            take(page)
            browser.close()
        finally:
            process.stop()
    return 0


def take(page: Page) -> None:
    """The demo, stopped while victims terminate and the preemptor waits for its room, by day and by night."""
    page.goto("/s/demo/")
    page.locator(".node .shelf:has(.pod.victim):has(.pod.ghost)").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.screenshot(path=PICTURES / f"live-{scheme}.png")


if __name__ == "__main__":
    sys.exit(main())
