"""A Chinese font for the pictures. A bare Debian has none, and a browser then draws boxes."""

import os
import shutil
import subprocess
from typing import Final

PACKAGE: Final = "fonts-wqy-microhei"
"""Two megabytes, with all characters of simplified Chinese."""


def is_there() -> bool:
    """Whether fontconfig finds a font for Chinese."""
    fc_list = shutil.which("fc-list")
    if fc_list is None:
        return False
    found = subprocess.run([fc_list, ":lang=zh-cn", "family"], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip())


def install() -> str:
    """Install Debian's package. Returns the reason for which this failed, "" if it succeeded."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return f"the Chinese pictures need a font: install {PACKAGE}, or another one for Chinese"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", PACKAGE]):
        ended = subprocess.run([apt, *command], env=environment, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            return f"apt-get {command[0]} failed: {' '.join(ended.stderr.split())}"
    return ""
