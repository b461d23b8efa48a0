"""Transcripts: what a person types, and what kubectl prints.

A file in ``transcripts/`` has sections, each under ``## NAME``, the command of kubectl that it is about.
A line for the shell begins with ``$ ``; its output follows, standard error included. ``...`` in the output
stands for any text, as in doctest, and differences in white space do not count. ``[1]`` is the exit code, if
it is not 0.
"""

import doctest
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.tools import program

FOLDER: Final = Path(__file__).parent
COMMAND: Final = "$ "
HEADING: Final = "## "
EXIT_CODE: Final = re.compile(r"^\[(\d+)\]\n\Z", re.MULTILINE)
OPTIONS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PATIENCE: Final = 60
"""Seconds after which a command is stuck."""


class Step(NamedTuple):
    command: str
    output: str


class Section(NamedTuple):
    """Commands that are run one after the other."""

    name: str
    steps: list[Step]


def read_sections() -> list[Section]:
    return [
        section for path in sorted((FOLDER / "transcripts").iterdir()) for section in read_transcript(path)
    ]


def read_transcript(path: Path) -> Iterator[Section]:
    for text in f"\n{path.read_text()}".split(f"\n{HEADING}")[1:]:
        heading, *parts = text.split(f"\n{COMMAND}")
        steps = (part.partition("\n") for part in parts)
        yield Section(heading.strip(), [Step(command, output) for command, _, output in steps])


class Shell:
    """Runs commands with kubectl in the PATH. ``home``: an empty directory; ``config``: of the cluster;
    ``kubectl``: the program of this name."""

    def __init__(self, home: Path, config: str, kubectl: str = "kubectl") -> None:
        (home / "config").write_text(config)
        (home / "bin").mkdir()
        self._kubectl = home / "bin" / "kubectl"
        self._kubectl.symlink_to(program(kubectl))
        (home / "bin" / "helm").symlink_to(program("helm"))
        path = os.pathsep.join([str(home / "bin"), os.environ["PATH"]])
        self._environment = {"HOME": str(home), "KUBECONFIG": str(home / "config"), "PATH": path}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start kubectl, to read its output line by line."""
        return subprocess.Popen(
            [self._kubectl, *arguments], env=self._environment, stdout=subprocess.PIPE, text=True
        )

    def run(self, command: str) -> str:
        """Return the output, with the exit code in the last line if it is not 0."""
        ended = subprocess.run(
            command,
            shell=True,
            cwd=FOLDER / "manifests",
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        code = f"\n[{ended.returncode}]" if ended.returncode else ""
        return ended.stdout.rstrip("\n") + code


def difference(step: Step, printed: str) -> str:
    """What is wrong with an output; "" if it is as expected."""
    checker = doctest.OutputChecker()
    want, got = (f"{text.strip()}\n" if text.strip() else "" for text in (step.output, printed))
    if checker.check_output(want, got, OPTIONS) and _exit_code(want) == _exit_code(got):
        return ""
    example = doctest.Example(step.command, want)
    return f"$ {step.command}\n{checker.output_difference(example, got, OPTIONS | doctest.REPORT_NDIFF)}"


def _exit_code(output: str) -> str:
    found = EXIT_CODE.search(output)
    return found[1] if found else "0"
