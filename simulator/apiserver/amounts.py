"""Amounts of resources by name: those of pods and nodes, and as LimitRanges and ResourceQuotas compare and
print them.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from simulator.api import Manifest
from simulator.objects import quantity
from simulator.objects.pod_requests import Requests, parse_resource_list
from simulator.objects.quantity import NANO

ResourceList = dict[str, str]
Texts = dict[str, str]


def round_up_to_milli(amounts: ResourceList) -> ResourceList:
    """Round each amount up to a multiple of 1/1000 (SetDefaults_ResourceList)."""
    return {name: _rounded(text) for name, text in amounts.items()}


def _rounded(text: str) -> str:
    nanos = quantity.parse_text(text)
    unit = quantity.NANO // 1000
    return text if nanos % unit == 0 else f"{-(-nanos // unit)}m"


class Amounts(NamedTuple):
    """Amounts of resources, by name, with texts that have the format in which they are to be written."""

    amounts: Requests
    formats: Texts

    @classmethod
    def of(cls, stated: Manifest | None) -> "Amounts":
        return cls(parse_resource_list(stated), {name: str(text) for name, text in (stated or {}).items()})

    @classmethod
    def sum_of(cls, total: Requests, stated: list[Manifest]) -> "Amounts":
        """Return the sum of what several containers state. It has the format of the first one."""
        like = {name: str(text) for each in reversed(stated) for name, text in each.items()}
        return cls(total, {name: like.get(name, "") for name in total})

    @classmethod
    def counted(cls, names: Iterable[str], number: int = 1) -> "Amounts":
        """Return the same whole number of each name."""
        every = [*names]
        return cls(dict.fromkeys(every, number * NANO), dict.fromkeys(every, str(number)))

    def add(self, more: "Amounts") -> None:
        """Add to these amounts (Add in apiserver/pkg/quota/v1/resources.go). A sum has the format of its
        first summand that is not zero."""
        amounts = self.amounts
        for name, nanos in more.amounts.items():
            if amounts.get(name):
                amounts[name] += nanos
            else:
                amounts[name], self.formats[name] = nanos, more.formats[name]

    def plus(self, more: "Amounts") -> "Amounts":
        total = Amounts({**self.amounts}, {**self.formats})
        total.add(more)
        return total

    def increase_since(self, before: "Amounts") -> "Amounts":
        """Return the amounts by which these are more (SubtractWithNonNegativeResult)."""
        return Amounts(
            {name: max(0, nanos - before.amounts.get(name, 0)) for name, nanos in self.amounts.items()},
            self.formats,
        )

    def only(self, names: Collection[str]) -> "Amounts":
        """Return the amounts with these names (Mask)."""
        return Amounts({name: nanos for name, nanos in self.amounts.items() if name in names}, self.formats)

    def not_zero(self) -> "Amounts":
        """Return the amounts that are not zero (RemoveZeros)."""
        return Amounts({name: nanos for name, nanos in self.amounts.items() if nanos}, self.formats)

    def text(self, name: str) -> str:
        """Return one of the amounts, as it is written."""
        nanos, like = self.amounts[name], self.formats[name]
        if like and quantity.parse_quantity(like) == nanos:
            return like
        return quantity.text_in_format_of(nanos, like)

    def texts(self) -> Texts:
        return {name: self.text(name) for name in sorted(self.amounts)}

    def __str__(self) -> str:
        """Return the amounts as messages show them (prettyPrint in
        apiserver/pkg/admission/plugin/resourcequota/controller.go)."""
        return ",".join(f"{name}={text}" for name, text in self.texts().items())
