"""The result of a check."""

from typing import NamedTuple


class Finding(NamedTuple):
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.problem}: {self.remedy}"
