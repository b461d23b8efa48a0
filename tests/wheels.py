"""Asks the registry for wheels of all packages of the runtime: ``python -m tests.wheels``, run by ``make
lock``. A package without one would be compiled on a user's machine.

It writes ``requirements/wheels.txt``, which a test compares with the lock.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements" / "runtime.txt"
RECORD: Final = ROOT / "requirements" / "wheels.txt"
UV: Final = Path(sys.executable).parent / "uv"

PLATFORMS: Final = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "aarch64-apple-darwin")
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")

HEADER: Final = """\
# Each of these has a wheel for each platform and each Python named here. `make lock` writes this file.
"""


def locked_pins() -> list[str]:
    """Return the pins of the lock with their markers, sorted: ``six==1.17.0 ; os_name == 'nt'``."""
    return sorted(re.findall(r"^([a-z][^\n\\]*==[^\n\\]*?) \\$", LOCK.read_text(), re.MULTILINE))


def record(pins: list[str]) -> str:
    """Return the text of the record for these pins."""
    targets = [f"# platform {platform}" for platform in PLATFORMS] + [f"# Python {v}" for v in PYTHONS]
    return HEADER + "\n".join([*targets, *pins]) + "\n"


def refuse_packages_without_wheels() -> None:
    """Resolve the lock with wheels only, for each platform and Python. Ends with uv's message where one
    lacks."""
    for platform in PLATFORMS:
        for python in PYTHONS:
            command = [
                str(UV),
                "pip",
                "compile",
                "--quiet",
                "--only-binary",
                ":all:",
                "--no-deps",
                "--no-header",
            ]
            command += ["--python-platform", platform, "--python-version", python, str(LOCK)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"No wheels for {platform} with Python {python}:\n{done.stderr}")


def main() -> None:
    refuse_packages_without_wheels()
    RECORD.write_text(record(locked_pins()))


if __name__ == "__main__":
    main()
