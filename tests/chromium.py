"""Chromium for the browser tests: ``python -m tests.chromium`` finds one, or installs Debian's."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

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
]

MISSING = "no Chromium found: install the package chromium (Debian: apt-get install chromium)"


def find() -> str | None:
    """The path of an installed Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def required() -> bool:
    """Whether browser tests may not be skipped."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def install() -> str | None:
    """Install Debian's package, where this user may; the path."""
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        return None
    print("Installing Debian's chromium for the browser tests")
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    for command in (["update", "-qq"], ["install", "-qq", "--no-install-recommends", "chromium"]):
        if subprocess.run([apt, *command, "-y"], check=False, **quiet).returncode != 0:
            return None
    return find()


def main() -> int:
    if find() or install():
        return 0
    print(MISSING if required() else f"{MISSING}; the browser tests are skipped", file=sys.stderr)
    return 1 if required() else 0


if __name__ == "__main__":
    sys.exit(main())
