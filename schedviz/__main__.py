"""The command ``schedviz``, and ``python -m schedviz``: Django's command line, with schedviz's settings.
Without arguments it runs ``up``."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    execute_from_command_line(sys.argv if len(sys.argv) > 1 else [sys.argv[0], "up"])


if __name__ == "__main__":
    main()
