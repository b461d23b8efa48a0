"""Amounts of resources by name, as pods and nodes have them."""

from simulator.objects import quantity

ResourceList = dict[str, str]


def round_up_to_milli(amounts: ResourceList) -> ResourceList:
    """Round each amount up to a multiple of 1/1000 (SetDefaults_ResourceList)."""
    return {name: _rounded(text) for name, text in amounts.items()}


def _rounded(text: str) -> str:
    nanos = quantity.parse_text(text)
    unit = quantity.NANO // 1000
    return text if nanos % unit == 0 else f"{-(-nanos // unit)}m"
