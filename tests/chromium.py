"""Chromium for the browser tests: ``python -m tests.chromium`` finds one, or installs Debian's."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Chromium obeys the last list of features to turn off only, so this one repeats Playwright's (its
# chromiumSwitches.ts).
FEATURES_OFF = [
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    # The popup of the address bar: Chromium loads it into a process of its own for each new window,
    # which takes as long as a page of ours. Nobody sees an address bar.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
]

FLAGS = [
    "--headless",
    # Its sandbox needs rights that containers do not give; it opens pages of our own only.
    "--no-sandbox",
    "--disable-gpu",
    # Nothing may be fetched but what a test asks for.
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(FEATURES_OFF)}",
]


def missing(reason: str = "make test would install one") -> str:
    """The message where there is none."""
    return (
        f"The tests of the pages need a Chromium ({', '.join(NAMES)}), and there is none: {reason}. "
        "Install one (Debian: apt-get install chromium), or run the other tests: make test-without-browser"
    )


def find() -> str | None:
    """The path of an installed Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install() -> str:
    """Install Debian's package. Returns the reason for which this failed, "" if it succeeded. No fonts are
    installed with it: a bare Debian has only those that Chromium depends on, and the pages must work with
    them."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "apt-get, which would install it, is not found"
    if os.geteuid() != 0:
        return "only root may install it with apt-get"
    print("Installing Debian's chromium for the tests of the pages", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", "chromium"]):
        ended = subprocess.run(
            [apt, *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            return f"apt-get {command[0]} failed: {' '.join(ended.stderr.split())}"
    return "" if find() else "apt-get installed the package chromium, which has no program of these names"


def main() -> int:
    reason = "" if find() else install()
    if reason:
        print(missing(reason), file=sys.stderr)
    return 1 if reason else 0


if __name__ == "__main__":
    sys.exit(main())
