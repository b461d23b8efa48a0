"""Takes the pictures of README and docs from the running product: ``make pictures``.

``python -m tests.programs.pictures live real``: only these pages."""

import sys
import tempfile
from base64 import b64decode
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from schedviz.up.embedded_redis import free_port
from tests import chromium
from tests.processes import ROOT, Process, answers
from tests.programs.pictures import fonts
from tests.programs.pictures.prepare import prepare
from tests.programs.pictures.shots import SHOTS, Places, Shot
from tests.programs.pictures.variants import VARIANTS, Variant
from tests.waiting import eventually

PICTURES: Final = ROOT / "docs" / "pictures"
START_SECONDS: Final = 60.0
TIMEOUT_MS: Final = 240_000
QUALITY: Final = 90


def main(names: list[str]) -> int:
    shots = [shot for shot in SHOTS if not names or shot.name in names]
    path = chromium.find()
    is_chinese = any(variant.name == "chinese" for shot in shots for variant in shot.variants)
    reason = chromium.missing() if path is None else ""
    if is_chinese and not fonts.is_there():
        reason = reason or fonts.install()
    if reason:
        print(reason, file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    expect.set_options(timeout=TIMEOUT_MS)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = {"PORT": str(port), "DATA_DIR": folder, "REDIS_URL": ""}
        process = Process(["manage.py", "up"], Path(folder) / "log", environment)
        try:
            eventually(lambda: process.alive() and answers(f"{url}/readyz"), "the start", START_SECONDS)
            browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
            page = open_page(browser, url, VARIANTS[0])
            places = prepare(page, Path(folder))
            page.close()
            for shot in shots:
                for variant in shot.variants:
                    take(browser, url, shot, variant, places)
            browser.close()
        finally:
            process.stop()
    return 0


def open_page(browser: Browser, url: str, variant: Variant) -> Page:
    options: dict[str, Any] = {"locale": "en-US", "reduced_motion": "reduce", **variant.options}
    page = browser.new_context(base_url=url, **options).new_page()
    page.set_default_timeout(TIMEOUT_MS)
    return page


def take(browser: Browser, url: str, shot: Shot, variant: Variant, places: Places) -> None:
    page = open_page(browser, url, variant)
    shot.show(page, places)
    page.wait_for_load_state("networkidle")
    (PICTURES / f"{shot.name}-{variant.name}.webp").write_bytes(photograph(page))
    page.context.close()


def photograph(page: Page) -> bytes:
    """The page as WebP, which Playwright itself does not write: half of the bytes of a PNG."""
    session = page.context.new_cdp_session(page)
    shown = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    return b64decode(shown["data"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
