"""The command ``schedviz``, and ``python -m schedviz``: Django's command line, with schedviz's settings and
its own list of commands. Without arguments it runs ``up``."""

import os
import sys
from typing import Final

import django
from django.core.management import execute_from_command_line, get_commands, load_command_class

from schedviz import __version__

HELP: Final = ("help", "--help", "-h")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    match sys.argv[1:]:
        case []:
            execute_from_command_line([sys.argv[0], "up"])
        case ["version" | "--version"]:
            print(f"schedviz {__version__}")
        case [word] if word in HELP:
            print(describe_commands())
        case _:
            execute_from_command_line(sys.argv)


def describe_commands() -> str:
    """Return the commands of schedviz, each with what it does. Django's own are left out, but work."""
    django.setup()
    own = sorted((name, app) for name, app in get_commands().items() if app.startswith("schedviz."))
    width = max(len(name) for name, _ in own)
    lines = [f"  {name:<{width}}  {load_command_class(app, name).help}" for name, app in own]
    return "\n".join(
        [
            f"schedviz {__version__}: watch a Kubernetes scheduler work in a simulated cluster.",
            "",
            "usage: schedviz [COMMAND [OPTIONS]]; without a command: up",
            "",
            *lines,
            "",
            "schedviz COMMAND --help shows its options; docs/SETTINGS.md has the settings.",
        ]
    )


if __name__ == "__main__":
    main()
