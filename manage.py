#!/usr/bin/env python3
"""Django's command line, with schedviz's settings."""

import os
import sys


def main() -> None:
    if sys.version_info < (3, 11):  # noqa: UP036 (for whoever starts it with another Python)
        sys.exit("schedviz needs Python 3.11 or newer, this is " + sys.version.split()[0])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 (settings must be named first)

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
