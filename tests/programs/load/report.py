"""Figures, printed as tables and kept as JSON, so that two runs can be compared."""

import platform
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec
import psutil


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """``median`` is the value itself where ``n`` is 1."""

    name: str
    unit: str
    median: float
    p5: float
    p95: float
    longest: float
    n: int = 1


class Table(msgspec.Struct):
    """``clock``: what is inside the clock. ``faults``: what must not be, in words; the first of many."""

    title: str
    clock: str
    figures: list[Figure] = []
    faults: list[str] = []


class Report(msgspec.Struct):
    """``machine``: the cores, and the load average at the start."""

    machine: str
    tables: list[Table] = []

    @classmethod
    def new(cls) -> "Report":
        load, *_ = psutil.getloadavg()
        return cls(f"{psutil.cpu_count()} cores, Python {platform.python_version()}, load average {load:.1f}")

    def write(self, path: Path) -> None:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self)))


FAULTS_SHOWN = 10


def read(path: Path) -> Report:
    return msgspec.json.decode(path.read_bytes(), type=Report)


def spread(name: str, unit: str, values: Sequence[float]) -> Figure:
    """The figure of these measurements; of none, a count of 0."""
    if not values:
        return Figure(name, unit, 0.0, 0.0, 0.0, 0.0, 0)
    ordered = sorted(values)

    def share(part: float) -> float:
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    return Figure(name, unit, median(ordered), share(0.05), share(0.95), ordered[-1], len(ordered))


def one(name: str, unit: str, value: float) -> Figure:
    return spread(name, unit, [value])


def text(table: Table, before: Table | None = None) -> str:
    """``before``: of another run; the last two columns are then the ratios to it."""
    known = {figure.name: figure for figure in before.figures} if before else {}
    wide = max((len(figure.name) for figure in table.figures), default=0)
    units = max((len(figure.unit) for figure in table.figures), default=0)
    head = f"{'':{wide}}  {'':{units}} {'median':>9}{'p5':>9}{'p95':>9}{'longest':>9}{'n':>7}"
    if before:
        head += f"{'/before':>10}{'p95/before':>12}"
    lines = [f"\n{table.title}", f"  {table.clock}", head]
    for each in table.figures:
        line = f"{each.name:{wide}}  {each.unit:{units}} {number(each.median):>9}"
        if each.n == 1:
            line += " " * 34
        else:
            line += f"{number(each.p5):>9}{number(each.p95):>9}{number(each.longest):>9}{each.n:>7}"
        if before:
            old = known.get(each.name)
            line += f"{ratio(each.median, old and old.median):>10}"
            line += f"{ratio(each.p95, old and old.p95) if each.n > 1 else '':>12}"
        lines.append(line.rstrip())
    lines += [f"  FAULT: {fault}" for fault in table.faults[:FAULTS_SHOWN]]
    if len(table.faults) > FAULTS_SHOWN:
        lines.append(f"  and {len(table.faults) - FAULTS_SHOWN} faults more")
    return "\n".join(lines)


def number(value: float) -> str:
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}"


def ratio(now: float, before: float | None) -> str:
    return f"{now / before:.2f}" if before else "-"
