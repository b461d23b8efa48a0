"""``python -m tests.programs.page_files``: bundles and compresses the files of pages into static/made/."""

import sys

from tests.node_packages import BUNDLER
from tests.programs.page_files.bundle import make


def main() -> int:
    if not BUNDLER.are_installed():
        BUNDLER.install()
    make()
    return 0


if __name__ == "__main__":
    sys.exit(main())
