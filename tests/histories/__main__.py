"""``python -m tests.histories check|record [NAME...]``; see the package."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pool, cpu_count
from typing import NamedTuple

from tests.histories import files
from tests.histories.catalogue import histories
from tests.histories.differences import report


class Run(NamedTuple):
    name: str
    lines: list[bytes]
    report: str
    """The difference from the recorded history; "" = there is none."""


def run(name: str) -> Run:
    lines = histories()[name]()
    recorded = files.read(name)
    said = f"{name}: not recorded before" if recorded is None else report(name, recorded, lines)
    return Run(name, lines, said)


def record(name: str) -> str:
    """Write the file if it differs. Returns the difference."""
    found = run(name)
    if found.report:
        files.write(name, found.lines)
    return found.report


def check(name: str) -> str:
    return run(name).report


def main(arguments: list[str]) -> int:
    """The exit status: 1 where ``check`` found differences."""
    parser = argparse.ArgumentParser(prog="python -m tests.histories", description=__doc__)
    parser.add_argument("command", choices=("check", "record"))
    parser.add_argument("name", nargs="*", help="names, or beginnings of names; all without it")
    options = parser.parse_args(arguments)
    known = [*histories()]
    names = [name for name in known if not options.name or name.startswith(tuple(options.name))]
    if not names:
        print(f"no history is called {' or '.join(options.name)}", file=sys.stderr)
        return 2
    differing = 0
    for said in _each(record if options.command == "record" else check, names):
        differing += bool(said)
        if said:
            print(said)
    if options.command == "record" and not options.name:
        for name in files.remove_others(known):
            print(f"{name}: removed, there is no such history any more")
    print(f"{differing} of {len(names)} histories differ")
    return int(options.command == "check" and differing > 0)


def _each(work: Callable[[str], str], names: Sequence[str]) -> Iterator[str]:
    """The results in the order of the names, computed by one process for each core."""
    if len(names) == 1:
        yield work(names[0])
        return
    with Pool(min(cpu_count(), len(names))) as pool:
        yield from pool.imap(work, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
