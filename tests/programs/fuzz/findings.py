"""The findings of the fuzz: responses of 500 and above, cut connections, errors in the logs, stopped
loops."""

import re
from threading import Lock

SHOWN = 3
"""Repeat commands of one finding."""


class Finding:
    def __init__(self, text: str) -> None:
        self.text = text
        self.times = 0
        self.repeats: list[str] = []


class Findings:
    """The findings, one for each cause as far as the text shows it. All clients use this object."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.found: dict[str, Finding] = {}
        self._lock = Lock()

    def add(self, cause: str, text: str, *, only: int | None = None, numbers: range = range(0)) -> None:
        """``only``: the request that caused it; otherwise the ``numbers`` that were sent at that time."""
        which = f"--first {numbers.start} --requests {len(numbers)}" if only is None else f"--only {only}"
        with self._lock:
            finding = self.found.setdefault(cause, Finding(text))
            finding.times += 1
            if len(finding.repeats) < SHOWN:
                finding.repeats.append(f"python -m tests.programs.fuzz --seed {self.seed} {which}")
            if finding.times == 1:
                print(f"FOUND {cause}\n{text}\n{finding.repeats[0]}\n", flush=True)

    def __str__(self) -> str:
        lines = []
        for cause, finding in sorted(self.found.items()):
            lines += [f"{finding.times} x {cause}", *(f"    {repeat}" for repeat in finding.repeats)]
        return "\n".join(lines)


def cause_of(record: str) -> str:
    """The identity of an error in a log: the exception's type, and where it was raised."""
    frames = re.findall(r'File "[^"]*?((?:schedviz|simulator|site-packages)/[^"]+)", line (\d+)', record)
    raised = re.findall(
        r"^(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Gone|[A-Z]\w+))(?::|$)", record, re.MULTILINE
    )
    ours = [frame for frame in frames if not frame[0].startswith("site-packages")]
    place = ":".join((ours or frames or [("", "")])[-1])
    kind = raised[-1] if raised else record.partition("\n")[0][:100]
    return f"{kind} at {place}" if place != ":" else kind
